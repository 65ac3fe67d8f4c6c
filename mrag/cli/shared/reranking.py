"""Hits of a question re-ranked by a concept, and a chat model that polishes and orders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mrag import generation
from mrag.cel.polish import PolishedSentence, order_by_summary, polish_sentence
from mrag.cel.problem import Hypothesis
from mrag.cel.rerank import Order, RerankSettings, rerank_by_concept
from mrag.cel.syntax.expressions import Expression
from mrag.cli.shared.concepts import language_of
from mrag.cli.shared.output import show
from mrag.context.display import Display
from mrag.errors import ModelError
from mrag.graph.kg import KnowledgeGraph
from mrag.index.similarity import SimilarityIndex, SimilarityIndexes
from mrag.retrieval.rankers import Hit, Question, SimilarityRanker

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


@dataclass(frozen=True)
class RerankedHits:
    """The first hits of a question, those in the concept in front."""

    hits: Sequence[Hit]
    covered: frozenset[str]
    labels: dict[str, str]

    def to_json(self) -> dict[str, Any]:
        """Return the hits as values of JSON."""
        return {
            "hits": [
                {
                    "rank": h.rank,
                    "iri": h.iri,
                    "label": self.labels[h.iri],
                    "score": h.score,
                    "in_concept": h.iri in self.covered,
                }
                for h in self.hits
            ]
        }

    def show(self) -> None:
        """Print the hits."""
        show("")
        for h in self.hits:
            show(f"{h.rank:>3}  {'✓' if h.iri in self.covered else '✗'}  {self.labels[h.iri]}  <{h.iri}>")


def chat_model(name: str | None) -> BaseChatModel | None:
    """Return the chat model of a name; None for no name or "none".

    Raises:
        ModelError: If there is no such model.
    """
    chat = generation.resolve(name or "none")
    if chat is None and name not in (None, "none"):
        raise ModelError("There is no such model.", hint="Run `mrag doctor` to see which there are.")
    return chat


def polished(graph: KnowledgeGraph, best: Hypothesis, chat: BaseChatModel | None) -> PolishedSentence | None:
    """Return the sentence of a hypothesis as a chat model puts it; None without one."""
    return None if chat is None else polish_sentence(graph, best, chat, language_of(graph))


def reranked(
    graph: KnowledgeGraph,
    concept: Hypothesis | Expression,
    positives: Sequence[str],
    question: str,
    index: str,
    k: int,
    chat: BaseChatModel | None,
) -> RerankedHits:
    """Re-rank the hits of a question by a concept.

    Args:
        graph: The knowledge graph.
        concept: The concept.
        positives: IRIs of the positive examples; for a concept that was not learnt, the first hits.
        question: The search whose hits are re-ranked.
        index: Name of the similarity index.
        k: Maximum number of hits.
        chat: Model that orders the hits in the concept; without one they keep their order.

    Raises:
        ModelError: If the model fails to write a summary.
        MissingIndex: If there is no index of that name.
    """
    found = SimilarityRanker(graph, index).rank(Question(question), max(100, k))
    display = Display(graph)
    order: Order | None = None
    if chat is not None:
        known = SimilarityIndexes.of(graph).get(index)
        # A server keeps its documents to itself.
        texts = known.files if isinstance(known, SimilarityIndex) else display.entity
        order = order_by_summary(chat, texts)
    examples = positives or [h.iri for h in found[:10]]
    settings = RerankSettings(language=language_of(graph))
    result = rerank_by_concept(graph, found, concept, settings, order=order, positives=examples)
    hits = result.hits[:k]
    return RerankedHits(hits, result.covered, {h.iri: display.entity(h.iri) for h in hits})
