"""From a question to a cited answer, and from an answer back to the graph."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast

from mrag import context, generation, retrieval
from mrag.context.display import Display
from mrag.errors import ConfigError, MissingIndex
from mrag.generation.result import Answer
from mrag.graph.kg import KnowledgeGraph
from mrag.index.similarity import freshen
from mrag.planning.results import Planner
from mrag.retrieval.rankers import Hits, Question, Ranker
from mrag.retrieval.registry import NAMES_ALONE, without_index
from mrag.retrieval.registry import ranker as named
from mrag.retrieval.routing import (
    ASKED_FOR,
    MAX_TRIPLES,
    AskOptions,
    How,
    Texts,
    find_uncomputed,
    route,
    rules_notice,
    state_notice,
)
from mrag.tracing import spanning

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from mrag.context import ContextSettings
    from mrag.generation.verification import VerifyReport
    from mrag.retrieval.retriever import Retrieval, TripleStoreRetriever

logger = logging.getLogger(__name__)


@spanning("mrag.ask", lambda given: {"mrag.way": given.way})
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
    reading: int | None = None,
    texts: Texts | None = None,
    media: str | Path | None = None,
    ranker: str | Ranker | None = None,
    follows: Answer | Mapping[str, Any] | None = None,
    planner: Planner = "parser",
) -> Answer:
    """Answer a question from a knowledge graph, with citations.

    What can be computed is computed: counts, superlatives, averages, comparisons, groups, yes and no, lists.
    The question becomes a query plan, and the answer says how it was read. Where a word that matters is not
    understood, or the reading is not certain, the answer is read in the context of the best hits instead.
    A question for images is answered with images, and what the graph lacks is looked for in texts, where they
    are given. `Answer.way` says which way was taken, and `Answer.why` why.

    Args:
        kg: The knowledge graph, with a similarity index if answers are to be read.
        question: Words, a question with an image, or what `retrieve` returned.
        model: `ollama:NAME`, `openai:NAME`, `local:PATH.gguf`, `none`, or any LangChain chat model.
            By default Ollama if it runs, else no model: the best facts, verbalised.
        k: Maximum number of hits; the retriever's own by default, which is 10.
        index: Name of the similarity index.
        settings: The knobs of the context.
        retriever: A retriever of your own, in place of `index` and `settings`.
        how: `plan` computes the answer or says why it cannot; `read` reads it in the context; `complete`
            completes it from texts; `images` answers with images; `auto` chooses among them.
        reading: Which reading of the question to compute, of those that the answer offers. By default the
            likeliest, if it is certain enough.
        texts: Texts that may have what the graph lacks: files or folders, or a `Completer` of your own.
            Files and folders are only read: nothing enters the graph.
        media: Folder of the files of the graph's images. If it is given, images are the answer.
        ranker: What ranks: entities where an answer is read, images where these are the answer. A name of
            `mrag.known_rankers()`, such as `bm25` or `hybrid+mmr`, or a ranker of your own.
        follows: The answer before, or its JSON form, that the question may go on from: "and in Italy?".
            `KnowledgeGraph.conversation` keeps it.
        planner: How a model helps to compute where the parser is not certain: `writer` puts the
            question in the words of the graph, `parser` does without.

    Raises:
        MissingIndex: If the answer has to be read and the knowledge graph has no such index, and the question
            names nothing of the graph; it says why nothing could be computed.
        ModelError: If a model that was named is not available or returns no text.
        ConfigError: If there is no such way or no such reading, or the plan to go on from is malformed.

    Example:
        >>> import mrag
        >>> kg = mrag.demo(model="none")
        >>> print(ask(kg, "Which vendor develops GraphDB?", model="none").sentences[0].text)
        Ontotext
        >>> print(ask(kg, "How many triple stores are there?", model="none").computed.rows[0][0].label)
        11
        >>> kg.close()
    """
    options: AskOptions = {
        "model": model, "k": k, "index": index, "settings": settings, "retriever": retriever, "how": how,
        "reading": reading, "texts": texts, "media": media, "ranker": ranker, "follows": follows,
        "planner": planner,
    }  # fmt: skip
    way = route(kg, question, **options)
    if way.given is not None:
        return _note(kg, way.given)
    hits, old = _read(kg, question, way.said, options)
    computing = find_uncomputed(hits.question.text)
    facts, resolved = retrieval.verifying.StoreFacts(kg), generation.resolve(model)
    read = generation.answer(hits.question.text, hits.context, resolved, computing=computing, graph=facts)
    return _note(kg, replace(read, why=way.why, offered=way.offered), old)


def stream(
    kg: KnowledgeGraph, question: str | Question | Retrieval, **options: Unpack[AskOptions]
) -> Iterator[str | Answer]:
    """Answer as `ask` does, yielding the text as it is written and the whole answer last."""
    way = route(kg, question, **options)
    if way.given is not None:
        yield from way.given.pieces()
        yield _note(kg, way.given)
        return
    read, old = _read(kg, question, way.said, options)
    model, computing = generation.resolve(options.get("model")), find_uncomputed(read.question.text)
    facts, said = retrieval.verifying.StoreFacts(kg), read.question.text
    for part in generation.stream_answer(said, read.context, model, computing=computing, graph=facts):
        if isinstance(part, Answer):
            part = _note(kg, replace(part, why=way.why, offered=way.offered), old)
        yield part


async def aask(
    kg: KnowledgeGraph, question: str | Question | Retrieval, **options: Unpack[AskOptions]
) -> Answer:
    """Answer as `ask` does, without holding up the event loop."""
    import asyncio

    return await asyncio.to_thread(ask, kg, question, **options)


def search(
    kg: KnowledgeGraph,
    question: str | Question,
    k: int = 10,
    *,
    index: str = "main",
    ranker: str | Ranker = "hybrid",
) -> Hits:
    """Return the entities that a question is about, best first, with their labels.

    Args:
        kg: The knowledge graph, with a similarity index.
        question: Words, or a question with an image.
        k: Maximum number of hits.
        index: Name of the similarity index.
        ranker: A name of `mrag.known_rankers()`, such as `bm25` or `hybrid+mmr`, or a ranker of your own;
            where there is no index `hybrid` finds by names alone.

    Raises:
        MissingIndex: If the ranker needs an index that is not there.
        ConfigError: If there is no such ranker.

    Example:
        >>> import mrag
        >>> with mrag.demo(model="none") as kg:
        ...     print(search(kg, "graph database with RDF reasoning", 1).names)
        ('Stardog',)
    """
    asked = question if isinstance(question, Question) else Question(question)
    ranker = without_index(ranker, kg, index) if isinstance(ranker, str) else ranker
    if isinstance(ranker, str) and (old := freshen(kg, index, write=kg.keeps_counts)) is not None:
        logger.warning("%s", old)
    hits = named(ranker, kg, index=index).rank(asked, k)
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
    ranker: str | Ranker | None = None,
    why: str = "",
) -> Retrieval:
    """Return the hits and the context that `ask` answers from, with the same options.

    `why` tells why nothing was computed, for the error.

    Raises:
        MissingIndex: If the knowledge graph has no such index.
    """
    if isinstance(question, retrieval.Retrieval):
        return question
    if retriever is None:
        if ranker in (None, "hybrid"):
            ranker = _names_alone(kg, question, index) or ranker
        ranks = None if ranker is None else named(ranker, kg, index=index)
        retriever = retrieval.TripleStoreRetriever(
            kg=kg, index=index, ranker=ranks, settings=settings or context.ContextSettings()
        )
    try:
        return retriever.retrieve(question, k)
    except MissingIndex as error:
        if not why or why == ASKED_FOR:
            raise
        raise MissingIndex(
            f"Nothing was computed: {why}. Reading needs a similarity index. {error.message}", hint=error.hint
        ) from error


def _names_alone(kg: KnowledgeGraph, question: str | Question, index: str) -> Ranker | None:
    """Return what ranks by names where there is no index, if the question names something."""
    if without_index("hybrid", kg, index) == "hybrid" or kg.profile().triples > MAX_TRIPLES:
        return None
    names = named("names", kg, index=index)
    asked = question if isinstance(question, Question) else Question(question)
    return names if names.rank(asked, 1) else None


def _read(
    kg: KnowledgeGraph, question: str | Question | Retrieval, why: str, options: AskOptions
) -> tuple[Retrieval, str | None]:
    """Return what is to be read, and what is to be said of an index that is older than the graph."""
    index, retriever = options.get("index", "main"), options.get("retriever")
    old = None if retriever is not None else freshen(kg, index, write=kg.keeps_counts)
    ranker = options.get("ranker")
    retrieved = retrieve(
        kg, question, k=options.get("k"), index=index, settings=options.get("settings"),
        retriever=retriever, ranker=ranker, why=why,
    )  # fmt: skip
    by_names = ranker in (None, "hybrid") and without_index("hybrid", kg, index) == "names"
    own = retriever is None and not isinstance(question, retrieval.Retrieval)
    return retrieved, NAMES_ALONE if own and by_names else old


def _note(kg: KnowledgeGraph, given: Answer, old: str | None = None) -> Answer:
    """Return an answer that says where it may rest on what no longer holds."""
    parts = (given.notice, state_notice(kg), rules_notice(kg, given), old)
    return replace(given, notice=" ".join(part for part in parts if part) or None)


def verify(kg: KnowledgeGraph, given: Answer | Mapping[str, Any]) -> VerifyReport:
    """Replay an answer, its JSON form or its receipt against the graph as it is now.

    Returns:
        Which cited triples are gone, what was altered, which sentences have no support, and for each part
        whether it was recomputed, is signed by somebody who is trusted, or was not checked.

    Example:
        >>> import mrag
        >>> kg = mrag.demo(model="none")
        >>> verify(kg, ask(kg, "Which vendor develops GraphDB?", model="none")).ok
        True
        >>> kg.close()
    """
    return retrieval.verifying.verify_answer(kg, given, lambda question: retrieve(kg, question))


class Conversation:
    """A conversation about a knowledge graph.

    The options are those of `mrag.ask`, for all its questions. `last` is the computed answer that the next
    question may go on from; None before there is one, and behind an answer that was read.

    Example:
        >>> import mrag
        >>> with mrag.demo(model="none") as kg:
        ...     talk = Conversation(kg, model="none")
        ...     first = talk.ask("How many triple stores are there?")
        ...     second = talk.ask("And vector databases?")
        >>> first.computed.rows[0][0].label, second.computed.rows[0][0].label, second.why
        ('11', '5', 'read as a follow-up, with “vector database” in place of “triple store”')
    """

    def __init__(self, kg: KnowledgeGraph, **options: Any) -> None:
        self.kg = kg
        self.last: Answer | None = None
        self._before: Answer | None = None
        self._options = options

    def ask(self, question: str | Question, **options: Any) -> Answer:
        """Answer a question; one that goes on from the last answer, as "only the cheap ones", edits its plan.

        The options are those of `mrag.ask`, for this question.
        """
        *_, given = self.stream(question, **options)
        return cast(Answer, given)

    def stream(self, question: str | Question, **options: Any) -> Iterator[str | Answer]:
        """Answer as `ask` does, yielding the text as it is written and the whole answer last."""
        self._before = self.last
        return self._ask(question, options)

    def again(self, reading: int) -> Answer:
        """Answer the last question in another of the readings that its answer offered.

        Raises:
            ConfigError: If there is no such reading, or nothing has been computed yet.
        """
        if self.last is None:
            raise ConfigError("There is no answer that has other readings.", hint="Ask a question first.")
        *_, given = self._ask(self.last.question, {"reading": reading})
        return cast(Answer, given)

    def _ask(self, question: str | Question, options: Mapping[str, Any]) -> Iterator[str | Answer]:
        for part in stream(self.kg, question, **{**self._options, "follows": self._before, **options}):
            # What could not be computed can be asked again in other words.
            if isinstance(part, Answer) and (part.computed is not None or part.way != "plan"):
                self.last = part if part.computed is not None else None
            yield part
