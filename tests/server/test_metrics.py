"""What a server can be watched by: metrics, readiness, identifiers and a log of its requests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from rdflib import URIRef

import mrag
from mrag.rdf.terms import Triple
from tests.server.conftest import SETTINGS, Running
from tests.server.serving import command


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with mrag.demo(model="none") as kg:
        running = Running(kg, replace(SETTINGS, seconds=4.0, token="a-secret-of-this-test"))
        yield running
        running.close()


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
