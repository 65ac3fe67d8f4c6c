"""Questions that take long to be read hold up nobody, and end at their deadline."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from statistics import median

import httpx
import pytest

import mrag
from mrag.errors import QuestionTooLong
from mrag.retrieval import reading
from mrag.retrieval.routing import MAX_COMPUTED, computed
from mrag.server.settings import ServerSettings
from tests.server.serving import serving

_SECONDS = 3.0


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(reading, "CHILD", "tests.server.endless_child")
    with mrag.demo(model="none") as kg, serving(kg, ServerSettings(model="none", seconds=_SECONDS)) as url:
        yield url


def ask(url: str, question: str) -> tuple[int, str, float]:
    began = time.monotonic()
    found = httpx.post(f"{url}/api/ask", json={"question": question, "how": "plan"}, timeout=60)
    return found.status_code, found.text, time.monotonic() - began


def others(url: str, ended: threading.Event) -> list[float]:
    """Return how long another client waits for its queries, until it is told to stop."""
    took = []
    with httpx.Client() as client:
        while not ended.is_set():
            began = time.monotonic()
            assert client.get(f"{url}/sparql", params={"query": "ASK {}"}).status_code == 200
            took.append(time.monotonic() - began)
            time.sleep(0.02)
    return took


@pytest.mark.parametrize("question", ["How long is forever?", "x" + " " * 1_990 + "y"])
def test_a_hostile_question_holds_up_nobody(server: str, question: str) -> None:
    status, text, _ = ask(server, "How many triple stores are there?")
    assert status == 200 and "11 triple stores" in text
    ended = threading.Event()
    with ThreadPoolExecutor(8) as pool:
        waiting = pool.submit(others, server, ended)
        answers = list(pool.map(lambda _: ask(server, question), range(4)))
        ended.set()
        took = waiting.result()
    assert len(took) > 3 and median(took) < 0.5 and max(took) < 1.5
    for status, text, seconds in answers:
        assert seconds < 4 * _SECONDS + 10
        assert status == (503 if "forever" in question else 200), text
        assert "forever" not in question or "QueryTimeout" in text
    status, text, _ = ask(server, "How many triple stores are there?")
    assert status == 200 and "11 triple stores" in text


def test_a_question_is_read_by_a_process_that_follows_the_graph() -> None:
    from rdflib import RDF, Literal, URIRef

    ex = "http://example.org/"
    with mrag.demo(model="none") as kg:
        reader = reading.QuestionReader(kg)
        try:
            for question in ("How many triple stores are there?", "Tell me something nice."):
                ours, theirs = computed(kg, question), reader.computed(question)
                assert ours[1] == theirs[1]
                assert (ours[0] and ours[0].to_json()) == (theirs[0] and theirs[0].to_json())
            (process,) = reader.processes()
            before = kg.query("SELECT ?c { ex:GraphDB a ?c }")
            cls = next(str(c) for (c,) in before if "TripleStore" in str(c))  # type: ignore[union-attr]
            new = URIRef(ex + "NewStore")
            label = URIRef("http://www.w3.org/2000/01/rdf-schema#label")
            kg.insert([mrag.Triple(new, RDF.type, URIRef(cls)), mrag.Triple(new, label, Literal("NewStore"))])
            given, *_ = reader.computed("How many triple stores are there?")
            assert given is not None and given.computed is not None
            assert given.computed.rows[0][0].label == "12"
            assert reader.processes() == [process]
        finally:
            reader.close()
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


def test_white_space_is_folded_and_length_is_bounded() -> None:
    with mrag.demo(model="none") as kg:
        spaced = mrag.ask(kg, "  How many   triple\t\nstores are there? ", model="none")
        assert spaced.computed is not None and spaced.computed.rows[0][0].label == "11"
        for question in ("x" * 2_001, mrag.Question("x" * 2_001)):
            with pytest.raises(QuestionTooLong, match="2,001 characters; the maximum is 2,000"):
                mrag.ask(kg, question, model="none")
        began = time.monotonic()
        mrag.ask(kg, "x" + " " * 100_000 + "y", model="none")
        given, why, _ = computed(kg, "and " * 200, "plan")
        assert given is not None and f"more than {MAX_COMPUTED} characters" in why
        assert time.monotonic() - began < 10
