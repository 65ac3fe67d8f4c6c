"""Spans of OpenTelemetry, from a request to the queries of the store."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

import mrag
from mrag.errors import QueryRefused
from mrag.tracing import export_spans, span
from tests.server.conftest import SETTINGS, Running

pytest.importorskip("opentelemetry.sdk.trace", reason="needs the extra otel")

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture(scope="module")
def exporter() -> Any:
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    return exporter


@pytest.fixture
def spans(exporter: Any) -> Iterator[Any]:
    exporter.clear()
    yield lambda: exporter.get_finished_spans()
    exporter.clear()


def named(spans: Any, name: str) -> list[Any]:
    return [one for one in spans() if one.name == name]


def test_a_read_answer_from_the_question_to_the_queries(spans: Any) -> None:
    with mrag.demo(model="none") as kg:
        answer = mrag.ask(kg, "Which company stands behind GraphDB and Ontop?", how="read", model="none")
    (asked,) = named(spans, "mrag.ask")
    (ranked,) = named(spans, "mrag.rank")
    (context,) = named(spans, "mrag.context")
    assert asked.attributes["mrag.way"] == answer.way == "read"
    assert ranked.attributes["mrag.hits"] == 10 == ranked.attributes["mrag.k"]
    assert context.attributes["mrag.lines"] > 0
    assert {one.parent.span_id for one in (ranked, context)} == {asked.context.span_id}
    queries = named(spans, "mrag.query")
    assert "context/superclasses" in {one.attributes["mrag.query.name"] for one in queries}
    assert all(one.attributes["mrag.rows"] >= 0 for one in queries if "mrag.rows" in one.attributes)


def test_a_computed_answer(spans: Any) -> None:
    with mrag.demo(model="none") as kg:
        mrag.ask(kg, "How many triple stores are there?", model="none")
    (asked,), (planned,) = named(spans, "mrag.ask"), named(spans, "mrag.plan")
    assert planned.parent.span_id == asked.context.span_id
    assert planned.attributes == {"mrag.computed": True, "mrag.sure": True}
    assert asked.attributes["mrag.way"] == "plan"
    told = " ".join(str(value) for one in spans() for value in one.attributes.values())
    assert "SELECT" not in told and "triple stores" not in told


def test_a_request_continues_the_trace_of_its_client(spans: Any) -> None:
    with mrag.demo(model="none") as kg:
        running = Running(kg, SETTINGS)
        try:
            running.client.post(
                "/api/ask",
                json={"question": "How many triple stores are there?"},
                headers={"traceparent": PARENT},
            ).raise_for_status()
        finally:
            running.close()
    (request,) = [one for one in spans() if one.name == "POST request"]
    assert f"{request.context.trace_id:032x}" == PARENT.split("-")[1]
    assert f"{request.parent.span_id:016x}" == PARENT.split("-")[2]
    assert request.attributes["http.route"] == "/api/ask"
    assert request.attributes["http.response.status_code"] == 200
    assert {one.context.trace_id for one in named(spans, "mrag.plan")} == {request.context.trace_id}


def test_an_error_is_told_by_its_kind(spans: Any) -> None:
    with pytest.raises(QueryRefused), span("mrag.query"):
        raise QueryRefused("The secret of this test.")
    (failed,) = spans()
    assert failed.attributes["error.type"] == "QueryRefused"
    assert not failed.status.is_ok and not failed.events
    assert "secret" not in failed.to_json()


def test_nothing_is_imported_and_nothing_sent_unless_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)
    export_spans()
    program = "import sys, mrag\nwith mrag.demo(model='none') as kg: kg.count()\n"
    program += "print('opentelemetry' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
