"""The adapter of GraphDB: the whole way over RDF4J's and GraphDB's protocols, and what it asks of a server.

The server is `mrag serve`, which speaks those protocols; no GraphDB runs here. What it does not speak is held
to GraphDB's documentation by a server that records requests.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from rdflib import Graph, Literal, URIRef

import mrag
from mrag.errors import ConfigError, EndpointError, IndexError_, MissingIndex
from mrag.index.similarity import SimilarityIndexes
from mrag.rdf import queries
from mrag.rdf.terms import RDF, Triple
from mrag.reasoning.run import proof_of, reason
from mrag.stores.graphdb import GraphDBSimilarity, GraphDBStore
from tests.conftest import PRODUCTS, opened
from tests.servers import Quiet, answering, graphdb_protocol

EX = "https://w3id.org/mrag/demo/products#"
QUESTION = "What database products are linked to RDF?"


url = opened(lambda folder: graphdb_protocol(folder, "--reason"))


@pytest.fixture(scope="module")
def served(url: str) -> Iterator[mrag.KnowledgeGraph]:
    with mrag.connect(url) as kg:
        kg.load([PRODUCTS])
        yield kg


def test_a_repository_is_one_knowledge_graph(served: mrag.KnowledgeGraph) -> None:
    assert served.as_found and served.record.triples == served.count() > 2000
    assert served.reasoned and served.count("inferred") > 1000
    assert reason(served).triples == served.count("inferred")
    semantic = f"ASK {{ <{EX}GraphDB> a <{EX}SemanticProduct> }}"
    assert served.query(semantic) is True
    assert served.query(semantic, layer="asserted") is False
    assert served.query(semantic, layer="inferred") is True
    assert served.query("ASK FROM onto:explicit { ex:GraphDB a ex:SemanticProduct }") is False


@pytest.mark.slow
def test_the_whole_way_with_the_servers_index(served: mrag.KnowledgeGraph) -> None:
    indexes = SimilarityIndexes.of(served)
    indexes.build("main", model="server")
    assert indexes.names() == ["main"] and indexes.info("main").embedder == "server"
    found = indexes.get("main").search("RDF database", 5)
    assert len(found) == 5 and found[0].score >= found[-1].score
    near = indexes.get("main").search_document(EX + "GraphDB", 3)
    assert len(near) == 3 and EX + "GraphDB" not in {m.doc_id for m in near}
    only = indexes.get("main").search("RDF database", 5, allowed=[EX + "Virtuoso"])
    assert [m.doc_id for m in only] == [EX + "Virtuoso"]
    computed = mrag.ask(served, "How many triple stores are there?", model="none").computed
    assert computed is not None and computed.rows[0][0].label == "11"
    answer = mrag.ask(served, QUESTION, model="none", how="read")
    assert any(c.inferred for c in answer.citations) and not all(c.inferred for c in answer.citations)
    rows = served.query(queries.get("similarity/text").text)
    assert len(rows.rows) == 10  # type: ignore[union-attr]
    assert proof_of(served, Triple(*map(URIRef, (EX + "GraphDB", RDF + "type", EX + "SemanticProduct"))))
    indexes.delete("main")
    assert indexes.names() == []
    with pytest.raises(MissingIndex):
        indexes.delete("main")


def test_what_is_loaded_can_be_forgotten(url: str, served: mrag.KnowledgeGraph, tmp_path: Path) -> None:
    before = served.count()
    (tmp_path / "more.ttl").write_text("<urn:a> <urn:p> <urn:b> .")
    with mrag.connect(url, "other") as kg:
        assert kg.load([tmp_path / "more.ttl"]).triples == 1
        assert kg.count() == before + 1
        kg.clear()
        assert kg.count() == before


def test_a_wrong_repository_is_told(url: str) -> None:
    with pytest.raises(EndpointError, match="no such repository"):
        mrag.connect(url.replace("/main", "/nowhere"))
    with pytest.raises(ConfigError, match="/repositories/NAME"):
        mrag.connect(url.partition("/repositories")[0])


class Recorder(Quiet):
    """Records requests, and answers as GraphDB's documentation says."""

    protocol_version = "HTTP/1.1"
    seen: list[tuple[str, str, dict[str, str], bytes]]
    status: list[str]
    told: Any = MappingProxyType({"name": "idx"})

    def respond(self) -> None:
        body = self.body()
        self.seen.append((self.command, self.path, dict(self.headers), body))
        answer: Any = None
        if self.path == "/repositories":
            answer = {"head": {"vars": ["id"]}, "results": {"bindings": []}}
        elif b"www.ontotext.com/explain" in body.replace(b"%2F", b"/"):
            plan = {"plan": {"type": "literal", "value": "#5 Select, 12 results"}}
            answer = {"head": {"vars": ["plan"]}, "results": {"bindings": [plan]}}
        elif self.path.startswith("/rest/similarity") and self.command == "GET":
            status = self.status.pop(0) if len(self.status) > 1 else self.status[0]
            answer = [{"type": "text", "status": status, "selectQuery": "SELECT", **self.told}]
        self.answer(200, b"" if answer is None else json.dumps(answer).encode(), "application/json")

    do_GET = do_POST = do_PUT = do_DELETE = respond


@pytest.fixture
def recorder() -> Iterator[tuple[GraphDBStore, type[Recorder]]]:
    handler = type("Handler", (Recorder,), {"seen": [], "status": ["BUILT"]})
    with answering(handler) as at:
        base = f"http://{at}"
        store = GraphDBStore(f"graphdb:{base}/repositories/products", f"{base}/repositories/products")
        yield store, handler
        store.close()


def test_making_a_repository(recorder: tuple[GraphDBStore, type[Recorder]]) -> None:
    store, handler = recorder
    store.create("rdfs-optimized", title="My products")
    method, path, headers, body = handler.seen[-1]
    assert (method, path) == ("POST", "/rest/repositories")
    assert headers["Content-Type"].startswith("multipart/form-data") and b'name="config"' in body
    config = Graph().parse(data=body.split(b"\r\n\r\n", 1)[1].rsplit(b"\r\n--", 1)[0], format="turtle")
    said = {str(p).rsplit("#", 1)[-1]: o for _, p, o in config}
    assert said["repositoryID"] == Literal("products") and said["ruleset"] == Literal("rdfs-optimized")
    assert said["disable-sameAs"] == Literal("true")
    assert said["throw-QueryEvaluationException-on-timeout"] == Literal("true")
    with pytest.raises(ConfigError, match="owl2-rl"):
        store.create("no-such-rules")


def test_making_an_index_waits_until_it_is_built(recorder: tuple[GraphDBStore, type[Recorder]]) -> None:
    store, handler = recorder
    handler.status = ["BUILDING", "BUILDING", "BUILT"]
    told: list[str] = []
    query = "SELECT ?documentID ?documentText { ?documentID ?p ?documentText }"
    made = GraphDBSimilarity(store).create("idx", query, on_status=told.append)
    assert told == ["BUILDING", "BUILDING", "BUILT"] and made.kind == "text"
    method, path, headers, body = next(seen for seen in handler.seen if seen[0] == "POST")
    sent = json.loads(body)
    assert (method, path, headers["X-GraphDB-Repository"]) == ("POST", "/rest/similarity", "products")
    assert sent["type"] == "text" and sent["selectQuery"] == query and "?searchType" in sent["searchQuery"]
    handler.status = ["FAILED"]
    with pytest.raises(IndexError_, match="FAILED"):
        GraphDBSimilarity(store).create("idx", query)


def test_updates_of_what_a_server_of_ours_has_in_no_named_graph(served: mrag.KnowledgeGraph) -> None:
    served.store.update("INSERT DATA { <urn:a> <urn:p> 1 GRAPH <urn:g> { <urn:a> <urn:p> 2 } }")
    served.recount()
    assert served.update("DELETE DATA { <urn:a> <urn:p> 1 }").removed == 1
    assert [int(o) for _, o in served.query("SELECT * { <urn:a> ?p ?o }")] == [2]  # type: ignore[arg-type,union-attr]
    assert (
        served.update("DELETE { ?s ?p ?o } INSERT { ?s ?p 3 } WHERE { ?s ?p ?o FILTER (?o = 2) }").removed
        == 1
    )
    assert [int(o) for _, o in served.query("SELECT * { <urn:a> ?p ?o }")] == [3]  # type: ignore[arg-type,union-attr]
