"""What a server can be watched by: metrics, readiness, identifiers, a log of its requests, and spans."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from rdflib import URIRef

import mrag
from mrag.errors import QueryRefused
from mrag.rdf.terms import Triple
from mrag.tracing import export_spans, span
from tests.commands import python
from tests.server.conftest import Running, running
from tests.server.serving import command


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with mrag.demo(model="none") as kg, running(kg, seconds=4.0, token="a-secret-of-this-test") as found:
        yield found


def values(text: str, name: str) -> dict[tuple[str, ...], float]:
    """Return the values of a metric by the values of its labels."""
    found = (s for family in text_string_to_metric_families(text) for s in family.samples if s.name == name)
    return {tuple(s.labels[key] for key in sorted(s.labels)): s.value for s in found}


def test_requests_errors_and_ways_are_counted(server: Running) -> None:
    client = server.client
    assert client.get("/sparql", params={"query": "ASK {}"}).status_code == 200
    assert client.get("/sparql", params={"query": "SELECT * { SERVICE <http://x/> {} }"}).status_code == 400
    endless = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }"
    assert client.get("/sparql", params={"query": endless}).status_code == 503
    for path in ("/nowhere", "/nowhere/else"):
        assert client.get(path).status_code == 404
    asked = client.post("/api/ask", json={"question": "How many triple stores are there?"})
    assert '"way": "plan"' in asked.text or '"way":"plan"' in asked.text
    text = client.get("/metrics").text
    requests = values(text, "mrag_request_seconds_count")
    assert requests["GET", "/sparql", "200"] == requests["GET", "/sparql", "400"] == 1
    assert requests["GET", "other", "404"] == 2
    assert values(text, "mrag_errors_total") == {("QueryRefused",): 1, ("QueryTimeout",): 1}
    assert values(text, "mrag_answer_seconds_count") == {("plan",): 1}
    assert values(text, "mrag_workers_killed_total")[()] >= 1
    assert values(text, "mrag_graph_triples")[()] == server.kg.record.triples
    assert values(text, "mrag_index_stale")[()] == 0
    assert "SERVICE" not in text and "triple stores" not in text


def test_a_request_has_an_identifier(server: Running) -> None:
    given = server.client.get("/health", headers={"X-Request-ID": "trace-17"})
    assert given.headers["X-Request-ID"] == "trace-17"
    other = server.client.get("/health", headers={"X-Request-ID": "two words"})
    assert len(other.headers["X-Request-ID"]) == 32


def test_metrics_need_the_token_and_readiness_does_not(server: Running) -> None:
    assert httpx.get(f"{server.url}/metrics").status_code == 401
    before = httpx.get(f"{server.url}/ready").json()
    assert before == {"status": "ok", "revision": server.kg.revision, "index": "current"}
    kg = server.kg
    kg.insert([Triple(*(URIRef(f"urn:{x}") for x in "abc"))])
    assert httpx.get(f"{server.url}/ready").json()["index"] == "stale"
    text = server.client.get("/metrics").text
    assert values(text, "mrag_index_stale")[()] == values(text, "mrag_index_revisions_behind")[()] == 1


def test_requests_are_logged_without_their_texts(tmp_path: Path) -> None:
    said_in = tmp_path / "said"
    with command("--store", "oxigraph:", "--log-requests", said=said_in) as (process, url):
        asks = {"query": "ASK {}"}
        codes = [httpx.get(f"{url}/sparql", params=asks).status_code for _ in range(3)]
        process.terminate()
        process.wait(30)
    said = said_in.read_text()
    logged = [json.loads(row) for row in said.splitlines() if row.startswith("{")]
    assert codes == [one["status"] for one in logged] == [200] * 3 and "ASK" not in said
    assert {one["path"] for one in logged} == {"/sparql"} and len({one["id"] for one in logged}) == 3


PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture(scope="module")
def exporter() -> Any:
    pytest.importorskip("opentelemetry.sdk.trace", reason="needs the extra otel")
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
    asked = {"question": "How many triple stores are there?"}
    with mrag.demo(model="none") as kg, running(kg) as server:
        server.client.post("/api/ask", json=asked, headers={"traceparent": PARENT}).raise_for_status()
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
    assert python(program).stdout.strip() == "False"
