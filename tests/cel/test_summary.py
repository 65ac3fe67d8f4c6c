"""The hits that a concept holds, ordered by a model's summary, through the real Ollama client."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pytest
from rdflib import Literal, URIRef
from rdflib.namespace import RDF, RDFS

from mrag.cel.learners.base import learner
from mrag.cel.rerank import ClassExpressionReranker, RerankSettings
from mrag.cel.summary import SummarySettings, order_by_summary, summarise
from mrag.errors import ConfigError, ModelError
from mrag.generation.models import resolve
from mrag.graph.kg import KnowledgeGraph
from mrag.index.document_index import DocumentIndex
from mrag.index.embedding import embedder
from mrag.rdf.terms import Triple
from mrag.retrieval.rankers import Hit, Question
from tests.evaluation.conftest import Scripted
from tests.generation.ollama_server import OllamaServer, Served

E = "http://example.org/"
Say = Callable[[Sequence[dict[str, str]]], str | None]
DOCUMENTS = {
    E + "i1": "a red leather jacket", E + "i2": "a red jacket of leather", E + "i3": "a blue raincoat",
    E + "i4": "a boat on a lake", E + "i5": "a jacket in red, made of leather", E + "i6": "a bowl of soup",
}  # fmt: skip
JACKETS = ("i1", "i2", "i3", "i5")


class Server:
    """Ollama's protocol in front of a scripted model, and what it was asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[Sequence[dict[str, str]]] = []
        self.say: Say = lambda messages: "They show red leather jackets."
        self.behind = Scripted(self._said)
        self.front = OllamaServer([Served("asker:latest")], chat=self.behind)  # type: ignore[arg-type]
        monkeypatch.setenv("OLLAMA_HOST", self.front.url)
        model = resolve("ollama:asker")
        assert model is not None
        self.model = model

    def _said(self, messages: Sequence[dict[str, str]]) -> str | None:
        self.asked.append(messages)
        return self.say(messages)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    pytest.importorskip("langchain_ollama")
    running = Server(monkeypatch)
    yield running
    running.front.close()
    running.behind.close()


@pytest.fixture
def images(kg: KnowledgeGraph) -> KnowledgeGraph:
    facts = [Triple(URIRef(E + "shows"), RDFS.label, Literal("shows"))]
    for iri in DOCUMENTS:
        kind = "jacket" if iri.removeprefix(E) in JACKETS else "other"
        facts.append(Triple(URIRef(iri), RDF.type, URIRef(E + "Image")))
        facts.append(Triple(URIRef(iri), URIRef(E + "shows"), URIRef(E + kind)))
    kg.insert(facts)
    return kg


class Listed:
    def rank(self, question: Question, k: int) -> list[Hit]:
        order = ["i3", "i1", "i2", "i5", "i4", "i6"]
        return [Hit(E + name, 1 / rank, rank) for rank, name in enumerate(order, start=1)][:k]


def test_covered_hits_come_in_order_of_the_summary(server: Server, images: KnowledgeGraph) -> None:
    order = order_by_summary(server.model, DOCUMENTS, "wordllama")
    work = learner("search", images, seconds=5)
    ranker = ClassExpressionReranker(Listed(), images, work, RerankSettings(examples=2), order=order)
    found = ranker.reranked(Question("jackets"), 10)
    assert {h.iri.removeprefix(E) for h in found.hits[:4]} == set(JACKETS)
    # The raincoat was first, and is furthest from red leather jackets.
    assert found.hits[3].iri == E + "i3"
    assert [h.iri.removeprefix(E) for h in found.hits[4:]] == ["i4", "i6"]
    assert len(server.asked) == 1
    system, human = server.asked[0]
    assert system["role"] == "system" and "in common" in system["content"]
    # The positive examples and nothing else was read.
    assert human["content"] == "1. a red leather jacket\n2. a blue raincoat"
    assert ranker.rank(Question("jackets"), 10) == list(found.hits)
    assert len(server.asked) == 2


@pytest.mark.parametrize("source", ["function", "mapping", "index"])
def test_texts_from_anywhere(server: Server, source: str) -> None:
    index = DocumentIndex.create(None, embedder=None)
    index.sync(DOCUMENTS.items(), extra={})
    order = order_by_summary(
        server.model,
        {"function": DOCUMENTS.get, "mapping": DOCUMENTS, "index": index}[source],  # type: ignore[arg-type]
        embedder("wordllama"),
    )
    scores = order([E + "i1", E + "gone"], [E + "i4", E + "i5", E + "nowhere"])
    assert set(scores) == {E + "i4", E + "i5"} and scores[E + "i5"] > scores[E + "i4"]
    assert all(-1.001 <= score <= 1.001 for score in scores.values())


def test_without_texts_nothing_is_asked_and_the_order_stays(server: Server) -> None:
    order = order_by_summary(server.model, {}, "wordllama")
    scores = order(["urn:p"], ["urn:b", "urn:a"])
    assert sorted(scores, key=lambda iri: -scores[iri]) == ["urn:b", "urn:a"]
    assert server.asked == []


def test_what_is_read_and_written_is_bounded(server: Server) -> None:
    server.say = lambda messages: "jacket " * 5_000
    settings = SummarySettings(characters=500, longest=70)
    summary = summarise(server.model, ["word " * 1_000] * 7, settings)
    assert len(summary) <= 70 and summary.startswith("jacket jacket")
    [(_, human)] = server.asked
    assert len(human["content"]) <= 500 and "\n7. word" in human["content"]


def test_thoughts_are_no_summary(server: Server) -> None:
    server.say = lambda messages: "<think>Boats?</think>\nRed jackets."
    assert summarise(server.model, ["a"]) == "Red jackets."


@pytest.mark.parametrize("said", ["", "   ", "<think>Well", None])
def test_no_summary_is_an_error(server: Server, said: str | None) -> None:
    server.say = lambda messages: said
    with pytest.raises(ModelError, match="answer"):
        order_by_summary(server.model, DOCUMENTS, "wordllama")([E + "i1"], [E + "i2"])


def test_without_a_model_or_vectors(server: Server) -> None:
    with pytest.raises(ModelError, match=r"no language model.*Leave `order` out"):
        order_by_summary(None, DOCUMENTS)
    with pytest.raises(ConfigError, match=r"is a name, not a chat model\. Resolve it"):
        order_by_summary("ollama:asker", DOCUMENTS)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="Without vectors"):
        order_by_summary(server.model, DOCUMENTS, "none")
    with pytest.raises(ConfigError, match="nothing to summarise"):
        summarise(server.model, [])
    with pytest.raises(ConfigError, match="1 or more"):
        SummarySettings(characters=0)
    assert server.asked == []
