"""Clients that others wrote for GraphDB and RDF4J, on the embedded store, unchanged."""

import json
import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rdflib import DCTERMS, RDFS, XSD, BNode, Dataset, Graph, Literal, URIRef
from rdflib.compare import isomorphic
from rdflib.contrib.graphdb import GraphDBClient
from rdflib.contrib.graphdb.exceptions import UnauthorisedError
from rdflib.contrib.rdf4j import RDF4JClient
from rdflib.contrib.rdf4j.exceptions import RepositoryNotFoundError
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID

import mrag
from tests.server.conftest import Running, running
from tests.server.serving import command

# Of rdflib's own, about how it calls itself.
pytestmark = pytest.mark.filterwarnings("ignore:Dataset:DeprecationWarning")
A, B, G = URIRef("http://example.org/a"), URIRef("http://example.org/b"), URIRef("http://example.org/g")


@pytest.fixture(params=[RDF4JClient, GraphDBClient])
def client(request: pytest.FixtureRequest, anywhere: Running) -> Iterator[RDF4JClient]:
    with request.param(anywhere.url) as found:
        yield found


def test_rdflib_lists_and_checks_the_repository(client: RDF4JClient) -> None:
    assert client.protocol >= 12
    (found,) = client.repositories.list()
    assert (found.identifier, found.writable) == ("main", "true")
    assert client.repositories.get("main").health() is True
    with pytest.raises(RepositoryNotFoundError):
        client.repositories.get("other")


def test_rdflib_uploads_reads_and_deletes_statements(client: RDF4JClient) -> None:
    repository = client.repositories.get("main")
    data = Dataset(default_union=False)
    data.add((A, RDFS.label, Literal("A", lang="en")))
    data.graph(G).add((B, DCTERMS.date, Literal("2026-01-01", datatype=XSD.date)))
    repository.upload(data)
    assert repository.size() == 2
    assert (repository.size(G), repository.size(DATASET_DEFAULT_GRAPH_ID)) == (1, 1)
    assert repository.graph_names() == [G]
    assert {tuple(q) for q in repository.get().quads()} == {
        (A, RDFS.label, Literal("A", lang="en"), DATASET_DEFAULT_GRAPH_ID),
        (B, DCTERMS.date, Literal("2026-01-01", datatype=XSD.date), G),
    }
    only = repository.get(subj=B, content_type="text/turtle")
    assert len(only) == 1
    repository.delete(pred=RDFS.label, obj=Literal("A", lang="en"))
    assert repository.size() == 1
    repository.overwrite("<urn:x> <urn:y> <urn:z> .\n", graph_name=G)
    assert [o for _, _, o in repository.graphs.get(G)] == [URIRef("urn:z")]
    repository.graphs.add(DATASET_DEFAULT_GRAPH_ID, "<urn:x> <urn:y> <urn:w> .\n")
    assert len(repository.graphs.get(DATASET_DEFAULT_GRAPH_ID)) == 1
    repository.graphs.clear(G)
    assert repository.graph_names() == []


def test_rdflib_queries_with_values_for_variables(client: RDF4JClient) -> None:
    repository = client.repositories.get("main")
    repository.update("INSERT DATA { <urn:a> <urn:p> 1, 2 . <urn:b> <urn:p> 3 }")
    rows = repository.query("SELECT ?o { ?s <urn:p> ?o } ORDER BY ?o", **{"$s": "<urn:a>"})
    assert [int(row.o) for row in rows] == [1, 2]
    both = repository.query("SELECT ?s ?o { ?s <urn:p> ?o }", **{"$s": "<urn:b>", "infer": "false"})
    assert [(row.s, int(row.o)) for row in both] == [(URIRef("urn:b"), 3)]
    assert repository.query("ASK { ?s <urn:p> 3 }", **{"$s": "<urn:a>"}).askAnswer is False
    assert len(repository.query("CONSTRUCT { ?s <urn:q> ?o } { ?s <urn:p> ?o }").graph) == 3


def test_rdflib_transactions_land_together_or_not_at_all(client: RDF4JClient) -> None:
    repository = client.repositories.get("main")
    with repository.transaction() as transaction:
        assert transaction.size() == 0
        transaction.upload("<urn:a> <urn:b> <urn:c> .\n")
        transaction.update("INSERT { ?s <urn:n> 1 } WHERE { ?s <urn:b> ?o }")
        transaction.ping()
        assert repository.size() == 0
    assert repository.size() == 2
    with pytest.raises(ValueError, match="stop"), repository.transaction() as transaction:
        transaction.delete("<urn:a> <urn:b> <urn:c> .\n")
        raise ValueError("stop")
    assert repository.size() == 2


def test_rdflib_keeps_namespaces(client: RDF4JClient) -> None:
    repository = client.repositories.get("main")
    repository.namespaces.set("zoo", "http://example.org/zoo#")
    assert repository.namespaces.get("zoo") == "http://example.org/zoo#"
    asked = {"query": "ASK { FILTER (STR(zoo:a) = 'http://example.org/zoo#a') }"}
    assert client.http_client.get("/sparql", params=asked).json()["boolean"] is True
    assert "rdfs" in {n.prefix for n in repository.namespaces.list()}
    repository.namespaces.remove("zoo")
    assert repository.namespaces.get("zoo") is None


def test_blank_nodes_come_back_under_names_that_can_be_asked_for(client: RDF4JClient) -> None:
    repository = client.repositories.get("main")
    data = Graph()
    node = BNode()
    data.add((A, RDFS.seeAlso, node))
    data.add((node, RDFS.label, Literal("nameless")))
    repository.upload(data.serialize(format="nt"))
    (row,) = repository.query("SELECT ?x { ?a rdfs:seeAlso ?x }")
    assert str(row.x).startswith("urn:mrag:genid:")
    (label,) = repository.query(f"SELECT ?l {{ {row.x.n3()} rdfs:label ?l }}")
    assert str(label.l) == "nameless"
    found = repository.get(content_type="application/n-triples")
    back = Graph()
    for s, p, o in found:
        back.add(tuple(BNode(t) if str(t).startswith("urn:mrag:genid:") else t for t in (s, p, o)))
    assert isomorphic(back, data)


def test_graphdb_calls_of_rdflib(anywhere: Running) -> None:
    with GraphDBClient(anywhere.url) as client:
        (found,) = client.graphdb_repositories.list()
        assert (found.id, found.writable) == ("main", True)
        assert client.graphdb_repositories.get("main").params["enableFtsIndex"]["value"] == "false"
        assert len(client.graphdb_repositories.get("main", "text/turtle")) == 3
        assert client.graphdb_repositories.size("main").total == 0
        assert client.security.enabled is False
        assert client.security.get_free_access_details().enabled is False


def test_clients_of_graphdb_log_in_with_the_token() -> None:
    token = "a-long-random-token"
    with mrag.connect() as kg, running(kg, token=token) as server:
        with GraphDBClient(server.url, auth=("anyone", token)) as client:
            assert client.security.enabled is True
            with pytest.raises(UnauthorisedError):
                client.login("anyone", "wrong-password")
            user = client.login("anyone", token)
        with GraphDBClient(server.url, auth=user.token) as client:
            assert client.repositories.get("main").query("ASK {}").askAnswer is True


def ontotext(server: Running, ontology: str) -> Any:
    """Return LangChain's graph of a GraphDB, which is this server."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = pytest.importorskip("langchain_community.graphs.ontotext_graphdb_graph")
        return module.OntotextGraphDBGraph(
            query_endpoint=f"{server.url}/repositories/main", query_ontology=ontology
        )


def test_langchain_reads_the_schema_and_queries(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GRAPHDB_USERNAME", raising=False)
    owl = "http://www.w3.org/2002/07/owl#"
    graph = ontotext(server, f"CONSTRUCT {{ ?s ?p ?o }} WHERE {{ ?s a <{owl}Class> ; ?p ?o }}")
    rows = graph.query(f"SELECT ?s WHERE {{ ?s a <{owl}Class> }} ORDER BY ?s LIMIT 3")
    assert "owl:Class" in graph.get_schema
    assert len(rows) == 3


def test_langchain_authenticates_as_to_graphdb(monkeypatch: pytest.MonkeyPatch) -> None:
    token = "a-long-random-token"
    monkeypatch.setenv("GRAPHDB_USERNAME", "anyone")
    monkeypatch.setenv("GRAPHDB_PASSWORD", token)
    with mrag.demo(model="none") as kg, running(kg, token=token) as server:
        assert "a " in ontotext(server, "CONSTRUCT { ?s a ?c } WHERE { ?s a ?c } LIMIT 5").get_schema


def test_sparqlwrapper_queries_and_updates(anywhere: Running) -> None:
    wrapper = pytest.importorskip("SPARQLWrapper")
    update = wrapper.SPARQLWrapper(f"{anywhere.url}/update")
    update.setMethod("POST")
    update.setQuery("INSERT DATA { <urn:a> <urn:b> 'c' }")
    update.query()
    query = wrapper.SPARQLWrapper(f"{anywhere.url}/sparql", returnFormat="json")
    query.setQuery("SELECT ?o { ?s ?p ?o }")
    rows = query.queryAndConvert()["results"]["bindings"]
    assert [row["o"]["value"] for row in rows] == ["c"]


def test_mrag_itself_can_use_the_endpoint(server: Running) -> None:
    with mrag.connect(f"sparql:{server.url}/sparql") as kg:
        ask = "PREFIX ex: <https://w3id.org/mrag/demo/products#> ASK { ex:GraphDB a ex:SemanticProduct }"
        assert kg.query(ask) is True


PYTHON = os.environ.get("MRAG_TTYG_PYTHON")


@pytest.mark.skipif(not PYTHON, reason="MRAG_TTYG_PYTHON names no Python with ttyg (docs/endpoint.md)")
def test_the_tools_of_ttyg_work_unchanged(server: Running) -> None:
    ended = subprocess.run(
        [str(PYTHON), str(Path(__file__).with_name("ttyg_tools.py")), server.url], capture_output=True,
        text=True, timeout=120,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout.splitlines()[-1])
    assert (found["health"], found["index"]) == (200, True)
    assert "https://w3id.org/mrag/demo/products#GraphDB" in found["products"]
    assert "owl:Class" in found["schema"]
    assert "products#" in found["similar"]


DATA = """@prefix : <urn:x:> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Boat a rdfs:Class ; rdfs:label "boat" . :crew rdfs:label "crew" .
:a a :Boat ; rdfs:label "Anna" ; :crew 4 . :b a :Boat ; rdfs:label "Bella" ; :crew 9 .
"""


def called(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    run = [sys.executable, "-m", "mrag", *arguments]
    return subprocess.run(run, capture_output=True, text=True, env={**os.environ, **environment}, check=False)


@pytest.fixture
def store(tmp_path: Path) -> str:
    (tmp_path / "boats.ttl").write_text(DATA)
    assert called("load", str(tmp_path / "boats.ttl"), "--store", str(tmp_path / "store")).returncode == 0
    return str(tmp_path / "store")


def test_its_answers_are_those_of_the_command_itself(store: str) -> None:
    asked = [
        ("How many boats are there?", "--sparql"),
        ("boats with a crew of more than 5", "--explain-reading"),
    ]
    asked += [("Which boat is the best?", "--context"), ("How many boats are there?", "--json")]
    alone = [called("ask", *words, "--store", store) for words in asked]
    with command("--store", store) as (process, url):
        note = json.loads(Path(f"{store}.mrag/main/server.json").read_text())
        assert (note["url"], note["process"]) == (url, process.pid)
        for words, before in zip(asked, alone, strict=True):
            served = called("ask", *words, "--store", store)
            assert (served.returncode, served.stdout) == (before.returncode, before.stdout)
        refused = called("ask", "How many?", "--store", store, "-k", "1000")
        assert refused.returncode == 1 and "whole number from 1 to 50" in refused.stderr
        process.send_signal(signal.SIGINT)
        process.wait(30)
    assert not Path(f"{store}.mrag/main/server.json").exists()


def test_a_token_is_needed_where_the_server_asks_for_one(store: str) -> None:
    with command("--store", store, MRAG_TOKEN="a-long-secret"):
        refused = called("ask", "How many boats are there?", "--store", store, MRAG_TOKEN="")
        assert refused.returncode == 1 and "Set MRAG_TOKEN" in refused.stderr
        given = called("ask", "How many boats are there?", "--store", store, MRAG_TOKEN="a-long-secret")
        assert given.stdout.startswith("2 boats")


def test_what_a_killed_server_left_misleads_nobody(store: str) -> None:
    with command("--store", store) as (process, _):
        process.kill()
        process.wait(30)
    assert Path(f"{store}.mrag/main/server.json").exists()
    assert called("ask", "How many boats are there?", "--store", store).stdout.startswith("2 boats")
