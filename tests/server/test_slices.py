"""`limit`, `offset` and repeated parameters, as clients of RDF4J and GraphDB send them."""

from __future__ import annotations

import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrag.rdf.guard import read_gate
from mrag.rdf.slicing import sliced
from tests.server.conftest import Running

STORE = ox.Store()
STORE.extend(
    ox.Quad(ox.NamedNode(f"urn:s{n:02}"), ox.NamedNode("urn:p"), ox.Literal(f"LIMIT {n}  {{"))
    for n in range(30)
)
SHAPES = (
    "SELECT ?s {{ ?s ?p ?o }} ORDER BY ?s {0}",
    "SELECT ?s {{ {{ SELECT ?s {{ ?s ?p ?o }} ORDER BY ?s LIMIT 20 }} }} ORDER BY ?s {0}",
    'SELECT ?s {{ ?s ?p ?o FILTER(?o != "LIMIT 3  {{") }} ORDER BY ?s {0} VALUES ?p {{ <urn:p> }}',
    "SELECT (MIN(?s) AS ?first) {{ ?s ?p ?limit }} GROUP BY ?limit HAVING (COUNT(*) > 0) ORDER BY ?first {0}",
)
NUMBERS = st.none() | st.integers(0, 35)


def rows(query: str) -> list[str]:
    return [str(solution[0]) for solution in STORE.query(query)]  # type: ignore[union-attr]


@given(st.sampled_from(SHAPES), NUMBERS, NUMBERS, NUMBERS, st.integers(0, 35), st.booleans())
def test_a_slice_is_the_slice_of_all_rows(
    shape: str, own_limit: int | None, own_offset: int | None, limit: int | None, offset: int, swapped: bool
) -> None:
    own = [f"LIMIT {own_limit}"] if own_limit is not None else []
    own += [f"OFFSET {own_offset}"] if own_offset is not None else []
    query = shape.format(" ".join(reversed(own) if swapped else own))
    every = rows(query)
    wanted = every[offset:] if limit is None else every[offset : offset + limit]
    assert rows(sliced(read_gate(query).text, limit, offset)) == wanted


@given(
    st.sampled_from(SHAPES[::3]), NUMBERS, st.integers(0, 35), st.sampled_from(["", "DISTINCT", "REDUCED"])
)
def test_a_distinct_slice_is_one_of_a_distinct_query(
    shape: str, limit: int | None, offset: int, said: str
) -> None:
    query = shape.format("").replace("?s {", "?p {").replace("ORDER BY ?s", "ORDER BY ?p")
    wanted = rows(sliced(read_gate(query.replace("SELECT", "SELECT DISTINCT", 1)).text, limit, offset))
    asked = query.replace("SELECT", f"SELECT {said}", 1)
    assert rows(sliced(read_gate(asked).text, limit, offset, distinct=True)) == wanted


def test_solutions_that_are_the_same_count_once_on_demand(server: Running) -> None:
    params = {"query": "SELECT ?c { ?s a ?c } ORDER BY STR(?c)"}
    path = "/repositories/main"
    every = server.client.get(path, params=params).json()["results"]["bindings"]
    once = server.client.get(path, params={**params, "distinct": "true"}).json()["results"]["bindings"]
    assert len(once) < len(every) and [row for n, row in enumerate(every) if row not in every[:n]] == once
    page = {**params, "distinct": "true", "offset": "1", "limit": "2"}
    assert server.client.get(path, params=page).json()["results"]["bindings"] == once[1:3]
    assert server.client.get(path, params={**params, "queryLn": "serql"}).status_code == 400


def test_clients_page_through_a_result(server: Running) -> None:
    path, query = "/repositories/main", "SELECT DISTINCT ?c { ?s a ?c } ORDER BY STR(?c)"

    def page(**params: str) -> list[str]:
        reply = server.client.get(path, params={"query": query, **params})
        assert reply.status_code == 200, reply.text
        return [row["c"]["value"] for row in reply.json()["results"]["bindings"]]

    every = page()
    assert len(every) > 3
    assert page(limit="2") + page(limit="2", offset="2") == every[:4]
    assert page(offset="1", limit="-1") == every[1:] and page(limit="0") == []
    assert server.client.get(path, params={"query": query, "limit": "many"}).status_code == 400
    asked = server.client.get(path, params={"query": "ASK { ?s ?p ?o }", "limit": "0"})
    assert asked.json()["boolean"] is True


@pytest.fixture
def server(either: Running) -> Running:
    return either


@pytest.mark.parametrize("path", ["/sparql", "/repositories/main"])
def test_the_same_query_twice_is_one(server: Running, path: str) -> None:
    once = ("query", "ASK { ?s ?p ?o }")
    assert server.client.get(path, params=[once, once]).json()["boolean"] is True
    twice = server.client.get(path, params=[once, ("query", "ASK {}")])
    assert twice.status_code == 400 and "2 times" in twice.text
    headers = {"Content-Type": "application/sparql-query"}
    body = server.client.post(path, params={"query": "ASK {}"}, content="ASK {}", headers=headers)
    assert body.json()["boolean"] is True
