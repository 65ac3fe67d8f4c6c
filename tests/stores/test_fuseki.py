"""A real Fuseki as it is configured: services by other names, at the dataset itself, or for reading alone."""

from collections.abc import Iterator

import pytest

from mrag.errors import EndpointError
from mrag.graph.connection import open_store
from mrag.stores.base import Dataset
from mrag.stores.sparql import DEFAULT
from tests.java_servers import fuseki_server

pytestmark = pytest.mark.slow
D = Dataset((DEFAULT,))
SERVICES = {
    "usual": "query:query update:update gsp-rw:data", "plain": "query: update: gsp-rw:", "root": "query:",
    "sparqlonly": "query:sparql", "reading": "query:query gsp-r:get", "other": "query:q update:u gsp-rw:gsp",
}  # fmt: skip


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
    (folder / "config.ttl").write_text(said)
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
