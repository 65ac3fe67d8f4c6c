"""From a question to a cited answer, and from an answer back to the graph."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, get_args
from typing import Literal as OneOf

from rdflib import Literal, URIRef

from mrag.context import ContextSettings
from mrag.context.display import Display
from mrag.errors import ConfigError, MragError, StoreError
from mrag.generation.answering import answer, stream_answer
from mrag.generation.models.resolve import resolve
from mrag.generation.result import Answer
from mrag.generation.verification import VerifyReport
from mrag.generation.verification import verify as _verify
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import LABELS, status_of
from mrag.index.document_index import Mode
from mrag.planning.answering import Attempt, abstained, compute, replay
from mrag.planning.neural.choosing import Planner
from mrag.rdf import queries
from mrag.rdf.terms import Term, Triple
from mrag.retrieval.rankers import Hits, Question, Ranker, SimilarityRanker
from mrag.retrieval.retriever import Retrieval, TripleStoreRetriever
from mrag.stores.base import Dataset

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

logger = logging.getLogger(__name__)
How: TypeAlias = OneOf["auto", "plan", "read"]

MAX_TRIPLES = 20_000_000
"""Triples up to which a graph's names are indexed for a question without being asked to."""

# Answers with pictures call an image by its file.
_NAMES = (*LABELS, "http://www.w3.org/2004/02/skos/core#altLabel", "http://example.org/hasFileName")


def ask(
    kg: KnowledgeGraph,
    question: str | Question | Retrieval,
    *,
    model: str | BaseChatModel | None = None,
    k: int | None = None,
    index: str = "main",
    settings: ContextSettings | None = None,
    retriever: TripleStoreRetriever | None = None,
    how: How = "auto",
    reading: int = 1,
    planner: Planner = "judge",
) -> Answer:
    """Answer a question from a knowledge graph, with citations.

    What can be computed is computed: counts, superlatives, averages, comparisons, groups, yes and no, lists.
    The question becomes a query plan, and the answer says how it was read. Where a word that matters is not
    understood, or the reading is not certain, the answer is read in the context of the best hits instead.

    Args:
        kg: The knowledge graph, with a similarity index.
        question: Words, a question with an image, or what `retrieve` returned.
        model: `ollama:NAME`, `openai:NAME`, `local:PATH.gguf`, `none`, or any LangChain chat model.
            By default Ollama if it runs, else no model: the best facts, verbalised.
        k: Maximum number of hits; the retriever's own by default, which is 10.
        index: Name of the similarity index.
        settings: The knobs of the context.
        retriever: A retriever of your own, in place of `index` and `settings`.
        how: `plan` computes the answer or says why it cannot; `read` reads it in the context; `auto` takes
            the first where it is sure.
        reading: Which reading of the question to compute, of those that the answer offers.
        planner: How the model helps to compute where the parser is not certain: `judge` chooses among its
            readings, `writer` writes a reading, `tools` explores the graph for one, `parser` does without.

    Raises:
        MissingIndex: If the answer has to be read and the knowledge graph has no such index.
        ModelError: If a model that was named is not available or returns no text.
        ConfigError: If there is no such way or no such reading.

    Example:
        >>> import mrag
        >>> kg = mrag.demo(model="none")
        >>> print(ask(kg, "Which vendor develops GraphDB?", model="none").citations[0].inferred)
        False
        >>> print(ask(kg, "How many triple stores are there?", model="none").computed.rows[0][0].label)
        11
        >>> kg.close()
    """
    given, why = computed(kg, question, how, reading, model, planner)
    if given is not None:
        return given
    found = retrieve(kg, question, k=k, index=index, settings=settings, retriever=retriever)
    return replace(answer(found.question.text, found.context, resolve(model)), why=why)


def computed(
    kg: KnowledgeGraph,
    question: str | Question | Retrieval,
    how: How = "auto",
    reading: int = 1,
    model: str | BaseChatModel | None = "none",
    planner: Planner = "judge",
) -> tuple[Answer | None, str]:
    """Return the answer that `ask` computes, or None where it reads one, and why it does which.

    Args:
        kg: The knowledge graph; it needs no index.
        question: As for `ask`.
        how: As for `ask`.
        reading: As for `ask`.
        model: As for `ask`, but none by default.
        planner: As for `ask`.

    Raises:
        ConfigError: If there is no such way, no such planner or no such reading.
        ModelError: If a model that was named is not available, or fails to plan.

    Example:
        >>> import mrag
        >>> with mrag.demo(model="none") as kg:
        ...     print(computed(kg, "Tell me something nice."))
        (None, 'no part of the question names anything in this graph')
    """
    if how not in ("auto", "plan", "read"):
        raise ConfigError(f"There is no way called {how!r}.", hint="Choose auto, plan or read.")
    if planner not in get_args(Planner):
        raise ConfigError(f"There is no planner {planner!r}.", hint=f"Known: {', '.join(get_args(Planner))}.")
    text = question.text if isinstance(question, Question) else question
    if how == "read" or not isinstance(text, str) or not text.strip():
        return None, ""
    if isinstance(question, Question) and question.image is not None:
        return None, "the question has a picture"
    if how == "auto" and kg.profile().triples > MAX_TRIPLES:
        return None, "the graph is large, and its names are indexed only when asked: choose the way plan"
    try:
        attempt = compute(kg, text, reading=reading, model=model, planner=planner)
    except StoreError as error:
        if how == "plan":
            raise
        return None, error.message
    except MragError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        # A question that trips the planner up can still be read.
        logger.exception("The question could not be planned: %r", text)
        attempt = Attempt(None, False, "the question could not be made into a plan")
    if attempt.answer is not None and reading > 1:
        return replace(attempt.answer, why=f"reading {reading} was asked for"), ""
    if attempt.answer is not None and attempt.sure:
        return replace(attempt.answer, why=attempt.why), attempt.why
    if how == "auto":
        return None, attempt.why
    return abstained(text, attempt.why), attempt.why


def stream(
    kg: KnowledgeGraph,
    question: str | Question | Retrieval,
    *,
    model: str | BaseChatModel | None = None,
    k: int | None = None,
    index: str = "main",
    settings: ContextSettings | None = None,
    retriever: TripleStoreRetriever | None = None,
    how: How = "auto",
    reading: int = 1,
    planner: Planner = "judge",
) -> Iterator[str | Answer]:
    """Answer as `ask` does, yielding the text as it is written and the whole answer last."""
    given, why = computed(kg, question, how, reading, model, planner)
    if given is not None:
        yield from (sentence.before + str(sentence) for sentence in given.sentences)
        yield given
        return
    found = retrieve(kg, question, k=k, index=index, settings=settings, retriever=retriever)
    for part in stream_answer(found.question.text, found.context, resolve(model)):
        yield replace(part, why=why) if isinstance(part, Answer) else part


async def aask(
    kg: KnowledgeGraph,
    question: str | Question | Retrieval,
    *,
    model: str | BaseChatModel | None = None,
    k: int | None = None,
    index: str = "main",
    settings: ContextSettings | None = None,
    retriever: TripleStoreRetriever | None = None,
    how: How = "auto",
    reading: int = 1,
    planner: Planner = "judge",
) -> Answer:
    """Answer as `ask` does, without holding up the event loop."""
    return await asyncio.to_thread(
        ask, kg, question, model=model, k=k, index=index, settings=settings, retriever=retriever, how=how,
        reading=reading, planner=planner,
    )  # fmt: skip


def search(
    kg: KnowledgeGraph,
    question: str | Question,
    k: int = 10,
    *,
    index: str = "main",
    mode: Mode = "hybrid",
    ranker: Ranker | None = None,
) -> Hits:
    """Return the entities that a question is about, best first, with their labels.

    Args:
        kg: The knowledge graph, with a similarity index.
        question: Words, or a question with an image.
        k: Maximum number of hits.
        index: Name of the similarity index.
        mode: `hybrid` fuses BM25 and dense vectors; `bm25` and `dense` are one of them.
        ranker: A ranker of your own, in place of `index` and `mode`.

    Raises:
        MissingIndex: If the knowledge graph has no such index.

    Example:
        >>> import mrag
        >>> with mrag.demo(model="none") as kg:
        ...     print(search(kg, "graph database with RDF reasoning", 1).names)
        ('Stardog',)
    """
    asked = question if isinstance(question, Question) else Question(question)
    hits = (ranker or SimilarityRanker(kg, index, mode)).rank(asked, k)
    display = Display(kg)
    return Hits(hits, [display.entity(hit.iri) for hit in hits])


def retrieve(
    kg: KnowledgeGraph,
    question: str | Question | Retrieval,
    *,
    k: int | None = None,
    index: str = "main",
    settings: ContextSettings | None = None,
    retriever: TripleStoreRetriever | None = None,
) -> Retrieval:
    """Return the hits and the context that `ask` answers from."""
    if isinstance(question, Retrieval):
        return question
    if retriever is None:
        retriever = TripleStoreRetriever(kg=kg, index=index, settings=settings or ContextSettings())
    return retriever.retrieve(question, k)


def verify(kg: KnowledgeGraph, given: Answer | Mapping[str, Any]) -> VerifyReport:
    """Replay an answer against the graph as it is now.

    Args:
        kg: The knowledge graph.
        given: An answer, or its JSON form.

    Returns:
        Which cited triples are gone, which ids and labels were altered, which sentences have no
        support.

    Example:
        >>> import mrag
        >>> kg = mrag.demo(model="none")
        >>> verify(kg, ask(kg, "Which vendor develops GraphDB?", model="none")).ok
        True
        >>> kg.close()
    """

    def holds(triple: Triple, graph: str) -> bool:
        return kg.holds(queries.get("context/holds").bind(s_p_o=[tuple(triple)]))

    display = Display(kg)

    def names(term: Term) -> Collection[str]:
        if not isinstance(term, URIRef):
            return [str(term)]
        rows = kg.select(queries.get("label/labels").bind(entity_property=[(term, p) for p in _NAMES]))
        shown = {display.entity(term), display.predicate(term)}
        return shown | {str(label) for label in rows.column("label") if isinstance(label, Literal)}

    def statuses(triple: Triple) -> Collection[str]:
        asks = queries.get("context/holds").bind(s_p_o=[tuple(triple)])
        if kg.store.capabilities.reasoning or kg.as_found:
            return ()  # such a server says itself what it inferred, and has no graphs of ours
        record = kg.record
        graphs = [(g, False) for g in record.asserted] + [(g, True) for g in record.inferred]
        there = ((g, inferred) for g, inferred in graphs if kg.store.ask(asks, Dataset((g,))))
        return {status_of(graph, inferred=inferred) for graph, inferred in there}

    def recompute(value: Mapping[str, Any]) -> Answer:
        return replay(kg, value)

    return _verify(given, holds, names, statuses, recompute)
