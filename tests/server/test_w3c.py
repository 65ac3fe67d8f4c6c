"""The W3C's SPARQL 1.1 suite over HTTP. A known failure that no longer fails is a failure too."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from rdflib import RDF, Graph, URIRef

import mrag
from tests.cases import beside
from tests.server.conftest import Running, running
from tests.server.w3c import ARCHIVE, Case, Failed, Suite, cases, unpack

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not ARCHIVE.is_file(), reason="the W3C test suite is not in the shared data (MRAG_SHARED_DATA)"
    ),
]
QUERIES = (
    "aggregates", "bind", "bindings", "cast", "construct", "csv-tsv-res", "exists", "functions", "grouping",
    "json-res", "negation", "project-expression", "property-path", "subquery", "syntax-query",
)  # fmt: skip
UPDATES = (
    "add", "basic-update", "clear", "copy", "delete", "delete-data", "delete-insert", "delete-where", "drop",
    "move", "syntax-update-1", "syntax-update-2", "update-silent",
)  # fmt: skip
PROTOCOLS = (
    "protocol", "graph-store-protocol/manifest-direct.ttl", "graph-store-protocol/manifest-indirect.ttl",
)  # fmt: skip
KNOWN = dict(line.split("\t") for line in beside(__file__, "w3c_known.tsv").splitlines())
"""Cases that fail, and why. Those of entailment regimes and of SERVICE are not run at all."""
COUNTS = {"query": (338, 324), "update": (157, 152), "protocol": (47, 47)}
"""Cases run and cases passed; `docs/endpoint.md` says the same."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack(tmp_path_factory.mktemp("w3c"))


@pytest.fixture(scope="module")
def separate() -> Iterator[Running]:
    """A server whose default graph is apart from the named graphs, as the cases expect."""
    # One case is an update of many operations, whose reading takes long on a busy machine.
    with mrag.connect() as kg, running(kg, update=True, union=False, workers=1, seconds=120.0) as found:
        yield found


@pytest.mark.parametrize("part", ["query", "update", "protocol"])
def test_the_suite_passes_over_http(part: str, folder: Path, separate: Running) -> None:
    groups = {"query": QUERIES, "update": UPDATES, "protocol": PROTOCOLS}[part]
    suite = Suite(separate.client)
    failed: dict[str, str] = {}
    found: list[Case] = []
    for group in groups:
        name, _, manifest = group.partition("/")
        found += cases(folder / name, manifest or "manifest.ttl")
    for case in found:
        try:
            suite.run(case)
        except Failed as error:
            failed[case.key] = str(error)
    keys = {case.key for case in found}
    known = {key for key in KNOWN if key in keys}
    unexpected = {key: why for key, why in failed.items() if key not in known}
    assert not unexpected, unexpected
    assert not known - failed.keys(), "These pass now; take them out of KNOWN."
    assert (len(found), len(found) - len(failed)) == COUNTS[part]


def test_the_service_description_is_one(server: Running) -> None:
    reply = server.client.get("/sparql", headers={"Accept": "text/turtle"})
    found = Graph().parse(reply.content, format="turtle")
    sd = "http://www.w3.org/ns/sparql-service-description#"
    service = found.value(predicate=RDF.type, object=URIRef(sd + "Service"))
    assert found.value(service, URIRef(sd + "endpoint")) == URIRef(f"{server.url}/sparql")
    default = found.value(service, URIRef(sd + "defaultDataset"))
    assert found.value(default, URIRef(sd + "defaultGraph")) is not None
