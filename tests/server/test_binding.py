"""Values for variables, as RDF4J binds them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import mrag
from tests.cases import cases
from tests.server.conftest import Running, running

DATA = """INSERT DATA {
  <urn:a> <urn:p> 1 . <urn:b> <urn:p> 2 . <urn:a> <urn:q> <urn:b> . <urn:b> <urn:q> <urn:a> .
  <urn:c> <urn:p> 1
}"""

CASES = cases(__file__, "CASES")


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with mrag.connect() as kg, running(kg, update=True, workers=1) as found:
        found.update(DATA)
        yield found


@pytest.mark.parametrize(("query", "expected"), CASES)
def test_a_value_is_there_from_the_start(server: Running, query: str, expected: list[str]) -> None:
    reply = server.client.get("/repositories/main", params={"query": query, "$x": "<urn:a>"})
    assert reply.status_code == 200, reply.text
    found = [row["o"]["value"] for row in reply.json()["results"]["bindings"]]
    assert sorted(found) == sorted(expected)


def test_values_are_terms_and_nothing_else(server: Running) -> None:
    for value in ("<urn:a> . ?s ?p ?o", "?y", "<urn:a", "<a b>", "_:b", '"x" } DROP ALL #', ""):
        params = {"query": "SELECT ?x { ?x ?p ?o }", "$x": value}
        assert server.client.get("/repositories/main", params=params).status_code == 400, value
    text = '"} UNION { ?x ?p ?o"@en'
    params = {"query": "SELECT (?x AS ?y) {}", "$x": text}
    reply = server.client.get("/repositories/main", params=params)
    assert reply.json()["results"]["bindings"][0]["y"]["value"] == "} UNION { ?x ?p ?o"
