"""What `mrag learn` does with a chat model and with the hits of its question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mrag.cel.problem import Hypothesis
from mrag.cel.rerank import Order, Reranking, RerankSettings, rerank_by_concept
from mrag.cel.summary import order_by_summary
from mrag.cel.syntax.expressions import Expression
from mrag.cel.syntax.polish import PolishedSentence, polish_sentence
from mrag.cel.syntax.verbalise import Language
from mrag.cli.common import say, show
from mrag.context.display import Display
from mrag.errors import ModelError
from mrag.graph.kg import KnowledgeGraph
from mrag.index.similarity import SimilarityIndex, SimilarityIndexes
from mrag.retrieval.rankers import Question, SimilarityRanker


@dataclass(frozen=True)
class WithModel:
    """A sentence that a model polished, and hits that the concept re-ranked; None where not asked for."""

    polished: PolishedSentence | None
    reranked: Reranking | None
    labels: dict[str, str]

    def to_json(self) -> dict[str, Any]:
        """Return both as values of JSON."""
        found: dict[str, Any] = {}
        if self.polished:
            p = self.polished
            found["polished"] = {"text": p.text, "accepted": p.accepted, "reason": p.reason}
        if self.reranked:
            found["hits"] = [
                {
                    "rank": h.rank, "iri": h.iri, "label": self.labels[h.iri], "score": h.score,
                    "in_concept": h.iri in self.reranked.covered,
                }
                for h in self.reranked.hits
            ]  # fmt: skip
        return found

    def show(self) -> None:
        """Print the hits; whether a sentence was polished is a note."""
        if self.polished and not self.polished.accepted:
            say(f"The sentence was not polished. {self.polished.reason}", style="yellow")
        if self.reranked:
            show("")
            for h in self.reranked.hits:
                sign = "✓" if h.iri in self.reranked.covered else "✗"
                show(f"{h.rank:>3}  {sign}  {self.labels[h.iri]}  <{h.iri}>")


def with_model(
    graph: KnowledgeGraph,
    concept: Hypothesis | Expression,
    positives: Sequence[str],
    question: str | None,
    index: str,
    hits: int,
    model: str | None,
    language: Language,
) -> WithModel:
    """Polish the sentence of a concept, and re-rank the hits of a question by it.

    Args:
        graph: The knowledge graph.
        concept: The concept.
        positives: IRIs of the positive examples; of a concept that was not learnt, the first hits.
        question: Whose hits are re-ranked.
        index: Name of the similarity index.
        hits: How many of them are returned; 0 for none.
        model: Name of a chat model; None for none: nothing is polished, and the hits that the concept holds
            keep their order.
        language: Of the sentence.

    Raises:
        ModelError: If there is no such model, or it fails to write a summary.
        MissingIndex: If there is no index of that name.
    """
    chat = None
    if model is not None:
        from mrag.generation.models.resolve import resolve

        chat = resolve(model)
        if chat is None and model != "none":
            raise ModelError("There is no such model.", hint="Run `mrag doctor` to see which there are.")
    polished = None
    if chat is not None and isinstance(concept, Hypothesis):
        polished = polish_sentence(graph, concept, chat, language)
    if not hits or question is None:
        return WithModel(polished, None, {})
    found = SimilarityRanker(graph, index).rank(Question(question), max(100, hits))
    display = Display(graph)
    order: Order | None = None
    if chat is not None:
        known = SimilarityIndexes.of(graph).get(index)
        # A server keeps its documents to itself.
        texts = known.files if isinstance(known, SimilarityIndex) else display.entity
        order = order_by_summary(chat, texts)
    first = [h.iri for h in found[:10]]
    settings = RerankSettings(language=language)
    result = rerank_by_concept(graph, found, concept, settings, order=order, positives=positives or first)
    kept = result.hits[:hits]
    return WithModel(
        polished,
        Reranking(kept, result.hypothesis, None, result.covered, result.note),
        {h.iri: display.entity(h.iri) for h in kept},
    )
