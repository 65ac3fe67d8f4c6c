"""Real servers as they are configured: Fuseki with services by other names, indexes of texts of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import mrag
from mrag.cli.doctor import _server
from mrag.errors import ConfigError, EndpointError
from mrag.graph.connection import open_store
from mrag.stores.base import Dataset
from mrag.stores.sparql import DEFAULT
from tests.conftest import PRODUCTS
from tests.java_servers import fuseki_server, rdf4j_repository

pytestmark = pytest.mark.slow
D = Dataset((DEFAULT,))
SERVICES = {
    "usual": "query:query update:update gsp-rw:data", "plain": "query: update: gsp-rw:", "root": "query:",
    "sparqlonly": "query:sparql", "reading": "query:query gsp-r:get", "other": "query:q update:u gsp-rw:gsp",
}  # fmt: skip
TEXT = """@prefix text: <http://jena.apache.org/text#> . @prefix : <http://x.test/> .
:text a f:Service ; f:name "text" ; f:dataset :indexed ; f:endpoint [ f:operation f:query ; f:name "query" ],
    [ f:operation f:update ; f:name "update" ], [ f:operation f:gsp-rw ; f:name "data" ] .
:indexed a text:TextDataset ; text:dataset :memory ; text:index :index . :memory a ja:MemoryDataset .
:index a text:TextIndexLucene ; text:directory "mem" ; text:entityMap :map .
:map a text:EntityMap ; text:defaultField "label" ; text:entityField "uri" ; text:graphField "graph" ;
    text:map ( [ text:field "label" ; text:predicate <http://www.w3.org/2000/01/rdf-schema#label> ] ) ."""


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("services")
    (folder / "data.nt").write_text("<urn:a> <urn:p> <urn:b> .\n")
    said = "@prefix f: <http://jena.apache.org/fuseki#> .\n"
    said += "@prefix ja: <http://jena.hpl.hp.com/2005/11/Assembler#> .\n"
    for dataset, services in SERVICES.items():
        ends = []
        for service in services.split():
            operation, _, name = service.partition(":")
            ends.append(f"[ f:operation f:{operation} " + (f'; f:name "{name}" ]' if name else "]"))
        data = f'ja:data "{folder / "data.nt"}"'
        said += f'[] a f:Service ; f:name "{dataset}" ; f:endpoint {", ".join(ends)} ; '
        said += f"f:dataset [ a ja:MemoryDataset ; {data} ] .\n"
    (folder / "config.ttl").write_text(said + TEXT)
    with fuseki_server(folder, "--config", str(folder / "config.ttl")) as found:
        yield found


@pytest.mark.parametrize("end", ["usual", "plain", "other?query=q&update=u&graphs=gsp"])
def test_services_are_found_or_named(base: str, end: str) -> None:
    store, _ = open_store(f"fuseki:{base}/{end}")
    with store:
        assert len(store.select("SELECT * { ?s ?p ?o }", D)) == 1
        store.insert(b"<urn:c> <urn:p> <urn:d> .\n", "urn:g")
        store.update("INSERT DATA { GRAPH <urn:g> { <urn:e> <urn:p> <urn:f> } }")
        assert store.count("urn:g") == 2
        store.clear("urn:g")
        assert store.graphs() == []


@pytest.mark.parametrize("dataset", ["root", "sparqlonly", "reading"])
def test_a_dataset_for_reading_alone_says_so(base: str, dataset: str) -> None:
    store, _ = open_store(f"fuseki:{base}/{dataset}")
    with store:
        assert len(store.select("SELECT * { ?s ?p ?o }", D)) == 1
        with pytest.raises(EndpointError, match="read-only"):
            store.insert(b"<urn:c> <urn:p> <urn:d> .\n", "urn:g")
        with pytest.raises(EndpointError, match="read-only"):
            store.update("INSERT DATA { GRAPH <urn:g> { <urn:e> <urn:p> <urn:f> } }")


@pytest.mark.parametrize("dataset", ["other", "nosuch"])
def test_what_cannot_be_found_is_to_be_named(base: str, dataset: str) -> None:
    store, _ = open_store(f"fuseki:{base}/{dataset}")
    with store, pytest.raises(EndpointError, match="No service for queries") as caught:
        store.ask("ASK { ?s ?p ?o }", D)
    assert "?query=NAME" in str(caught.value)


def check_text_index(url: str, name: str) -> None:
    """Load the demo graph, and have the server's own index of texts rank it."""
    with mrag.connect(url) as kg:
        with pytest.raises(ConfigError, match="no index of texts"):
            kg.search("graph", ranker="server-text")
        kg.load([PRODUCTS])
        kg.store.insert(b'<urn:other> <http://www.w3.org/2000/01/rdf-schema#label> "GraphDB" .\n', "urn:g")
        hits = kg.search('GraphDB AND "Ontotext (x:*', 3, ranker="server-text")
        assert hits[0].reasons == (f"{name}: rank 1",) and "urn:other" not in {hit.iri for hit in hits}
        assert {"GraphDB", "Ontotext"} <= {*hits.names}
        assert len(kg.search("GraphDB", 1, ranker="server-text+names")[0].reasons) > 1
    told = [check.found for check in _server(url, write=False)]
    assert told[-1].endswith(f"; texts are indexed by {name} (--ranker server-text)")


def test_jena_text_ranks(base: str) -> None:
    check_text_index(f"fuseki:{base}/text", "jena-text")


def test_the_lucene_sail_ranks(rdf4j: str, tmp_path: Path) -> None:
    inside = 'c:delegate [ c:sail.type "openrdf:MemoryStore" ]'
    sail = f'"openrdf:LuceneSail" ; c:lucene.indexDir "{tmp_path / "index"}" ; {inside}'
    with rdf4j_repository(rdf4j, "texts", sail) as url:
        check_text_index(url, "the Lucene sail")
