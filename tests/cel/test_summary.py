"""The hits that a concept holds, ordered by a model's summary, through the real Ollama client."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from mrag.cel.learners.base import learner
from mrag.cel.rerank import ClassExpressionReranker, RerankSettings
from mrag.cel.summary import order_by_summary, summarise
from mrag.errors import ConfigError, ModelError
from mrag.generation.models import resolve
from mrag.graph.kg import KnowledgeGraph
from mrag.index.document_index import DocumentIndex
from mrag.index.embedding import embedder
from mrag.retrieval.rankers import Question
from tests.cel.facts import E, Listed, showing
from tests.generation.ollama_server import OllamaServer

Start = Callable[[Callable[[Sequence[dict[str, str]]], str | None]], OllamaServer]

DOCUMENTS = {
    E + "i1": "a red leather jacket", E + "i2": "a red jacket of leather", E + "i3": "a blue raincoat",
    E + "i4": "a boat on a lake", E + "i5": "a jacket in red, made of leather", E + "i6": "a bowl of soup",
}  # fmt: skip
JACKETS = ("i1", "i2", "i3", "i5")


@pytest.fixture
def model(ollama: Start) -> Asked:
    return Asked(ollama)


class Asked:
    """A model of Ollama's protocol, what it says, and what it was asked."""

    def __init__(self, start: Start) -> None:
        self.said: str | None = "They show red leather jackets."
        self.server = start(lambda messages: self.said)
        found = resolve("ollama:asker")
        assert found is not None
        self.chat = found

    @property
    def asked(self) -> list[list[dict[str, str]]]:
        return [body["messages"] for path, body in self.server.requests if path == "/api/chat"]


def test_covered_hits_come_in_order_of_the_summary(model: Asked, kg: KnowledgeGraph) -> None:
    names = [iri.removeprefix(E) for iri in DOCUMENTS]
    showing(kg, {name: ["jacket" if name in JACKETS else "other"] for name in names})
    order = order_by_summary(model.chat, DOCUMENTS, "wordllama")
    work, listed = learner("search", kg, seconds=5), Listed([E + f"i{n}" for n in (3, 1, 2, 5, 4, 6)])
    ranker = ClassExpressionReranker(listed, kg, work, RerankSettings(examples=2), order=order)
    found = ranker.reranked(Question("jackets"), 10)
    assert {h.iri.removeprefix(E) for h in found.hits[:4]} == set(JACKETS)
    # The raincoat was first, and is furthest from red leather jackets.
    assert found.hits[3].iri == E + "i3"
    assert [h.iri.removeprefix(E) for h in found.hits[4:]] == ["i4", "i6"]
    assert len(model.asked) == 1
    system, human = model.asked[0]
    assert system["role"] == "system" and "in common" in system["content"]
    # The positive examples and nothing else was read.
    assert human["content"] == "1. a red leather jacket\n2. a blue raincoat"
    assert ranker.rank(Question("jackets"), 10) == list(found.hits)
    assert len(model.asked) == 2


@pytest.mark.parametrize("source", ["function", "mapping", "index"])
def test_texts_from_anywhere(model: Asked, source: str) -> None:
    index = DocumentIndex.create(None, embedder=None)
    index.sync(DOCUMENTS.items(), extra={})
    order = order_by_summary(
        model.chat,
        {"function": DOCUMENTS.get, "mapping": DOCUMENTS, "index": index}[source],  # type: ignore[arg-type]
        embedder("wordllama"),
    )
    scores = order([E + "i1", E + "gone"], [E + "i4", E + "i5", E + "nowhere"])
    assert set(scores) == {E + "i4", E + "i5"} and scores[E + "i5"] > scores[E + "i4"]
    assert all(-1.001 <= score <= 1.001 for score in scores.values())


def test_without_texts_nothing_is_asked_and_the_order_stays(model: Asked) -> None:
    order = order_by_summary(model.chat, {}, "wordllama")
    scores = order(["urn:p"], ["urn:b", "urn:a"])
    assert sorted(scores, key=lambda iri: -scores[iri]) == ["urn:b", "urn:a"]
    assert model.asked == []


def test_what_is_read_and_written_is_bounded(model: Asked) -> None:
    model.said = "jacket " * 5_000
    summary = summarise(model.chat, ["word " * 1_000] * 7)
    assert len(summary) <= 1_000 and summary.startswith("jacket jacket")
    [(_, human)] = model.asked
    assert len(human["content"]) <= 8_000 and "\n7. word" in human["content"]


def test_thoughts_are_no_summary(model: Asked) -> None:
    model.said = "<think>Boats?</think>\nRed jackets."
    assert summarise(model.chat, ["a"]) == "Red jackets."


@pytest.mark.parametrize("said", ["", "   ", "<think>Well", None])
def test_no_summary_is_an_error(model: Asked, said: str | None) -> None:
    model.said = said
    with pytest.raises(ModelError, match="answer"):
        order_by_summary(model.chat, DOCUMENTS, "wordllama")([E + "i1"], [E + "i2"])


def test_without_a_model_or_vectors(model: Asked) -> None:
    with pytest.raises(ModelError, match=r"no language model.*Leave `order` out"):
        order_by_summary(None, DOCUMENTS)
    with pytest.raises(ConfigError, match=r"is a name, not a chat model\. Resolve it"):
        order_by_summary("ollama:asker", DOCUMENTS)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="Without vectors"):
        order_by_summary(model.chat, DOCUMENTS, "none")
    with pytest.raises(ConfigError, match="nothing to summarise"):
        summarise(model.chat, [])
    assert model.asked == []
