"""Pages of queries together are the whole; and values that are none of their datatype."""

import logging
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import XSD, Literal

import mrag
from mrag.rdf import patterns
from mrag.rdf.patterns import Filter, Group, TriplePattern
from mrag.rdf.slicing import paged, pushable, short_keys, unsized
from mrag.rdf.terms import term_from_json, to_ox
from mrag.reasoning.rounds import ordered
from mrag.stores.base import Dataset
from mrag.stores.oxigraph import OxigraphStore
from tests.cases import beside, cases

X, Y, Z, P = map(patterns.var, "xyzp")
SAME, ROLE = patterns.iri("urn:same"), patterns.iri("urn:role")
TERMS = st.sampled_from(["urn:a", "urn:b", "urn:c", "urn:d", "urn:role"])
NAMES = st.sampled_from(["urn:same", "urn:role", "urn:other"])
GRAPHS = st.lists(st.tuples(TERMS, NAMES, TERMS), max_size=25)
FIRST = patterns.SubSelect(patterns.Select((X, Y), TriplePattern(X, SAME, Y), limit=1000, sized=True))
BODIES = [
    Group((FIRST, TriplePattern(X, P, Z), Filter(patterns.Compare(X, "!=", Y)))),
    Group(
        (
            patterns.SubSelect(
                patterns.Select((X, Y, P, Z), Group((FIRST, TriplePattern(X, P, Z))), distinct=True)
            ),
        )
    ),
    Group(
        (
            TriplePattern(X, SAME, Y),
            TriplePattern(Y, P, Z),
            Filter(patterns.Negation(patterns.Holds(TriplePattern(Z, P, Y)))),
        )
    ),
]


def filled(store: OxigraphStore, graph: list[tuple[str, str, str]]) -> Dataset:
    store.insert("".join(f"<{s}> <{p}> <{o}> .\n" for s, p, o in graph).encode(), "urn:g")
    return Dataset(("urn:g",))


@given(GRAPHS, st.sampled_from(BODIES))
@settings(max_examples=40, deadline=None)
def test_a_query_without_sizes_means_the_same(graph: list[tuple[str, str, str]], body: Group) -> None:
    query = patterns.Construct((TriplePattern(Y, P, Z),), body)
    with OxigraphStore() as store:
        seen = filled(store, graph)
        whole = set(store.construct(patterns.to_sparql(query), seen))
        assert set(store.construct(patterns.to_sparql(unsized(query)), seen)) == whole


def test_what_an_atom_decides_stands_in_it() -> None:
    """Virtuoso joins first and filters then, which took it minutes where few triples are left."""
    conditions = (patterns.Compare(X, "!=", Y), patterns.In(P, (ROLE,)))
    delta = TriplePattern(X, P, Z)
    same = TriplePattern(X, SAME, Y)
    sizes = [(5, 0, patterns.Graph(patterns.iri("urn:new"), delta), delta), (50, 1, same, same)]
    first, *rest = ordered(sizes, hint=True, filters=conditions)  # type: ignore[arg-type]
    assert isinstance(first, patterns.SubSelect) and Filter(conditions[1]) in first.select.where.parts  # type: ignore[union-attr]
    assert rest == [same, Filter(conditions[0])]
    assert not pushable(patterns.Negation(patterns.Holds(delta)), frozenset({X, P, Z}))


@given(GRAPHS)
@settings(max_examples=40, deadline=None)
def test_a_page_has_the_columns_of_the_whole(graph: list[tuple[str, str, str]]) -> None:
    """Whether pages keep an inner order is up to the engine; Virtuoso does, where they are used."""
    text = "PREFIX x: <urn:> SELECT ?o ?s { ?s ?p ?o FILTER(?p != x:other) }"
    with OxigraphStore() as store:
        seen = filled(store, graph)
        for query in (text, f"{text} ORDER BY ?s ?o"):
            page = store.select(str(paged(query, ("o", "s"), 100, 0)), seen)
            assert page.variables == ("o", "s")
            assert Counter(page) == Counter(store.select(query, seen))


def test_a_query_that_names_its_graphs_has_no_pages() -> None:
    assert paged("SELECT ?s FROM <urn:g> { ?s ?p ?o }", ("s",), 1, 0) is None
    assert paged("ASK { ?s ?p ?o }", (), 1, 0) is None


def test_keys_of_inner_and_outer_orders_are_cut() -> None:
    inner = "SELECT ?s { { SELECT ?s ?o { ?s ?p ?o } ORDER BY STR(?o) } FILTER(STR(?s) > 'a') }"
    short = short_keys(f"{inner} ORDER BY DESC(STR(?s)) LANG(?o)")
    assert short.count("SUBSTR(STR(?o), 1, 200)") == short.count("SUBSTR(STR(?s), 1, 200)") == 1
    assert short.count("STR(?s)") == 2


DATA = beside(__file__, "gauges.ttl")


def test_nothing_is_logged_about_ill_typed_values(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "odd.ttl").write_text(DATA, encoding="utf-8")
    with caplog.at_level(logging.WARNING), mrag.connect("oxigraph:") as kg:
        kg.load([tmp_path / "odd.ttl"])
        kg.index(model="none")
        for question in cases(__file__, "nothing_is_logged_about_ill_typed_values"):
            mrag.ask(kg, question, model="none")
        rows = kg.select("SELECT ?v { <http://odd.example/a> <http://odd.example/installed> ?v }")
        assert [str(value) for (value,) in rows] == ["2022-02-29"]
        assert str(term_from_json({"type": "literal", "value": "x", "datatype": str(XSD.date)})) == "x"
    assert not caplog.records
    with caplog.at_level(logging.WARNING):
        Literal("2022-02-29", datatype=XSD.date)
    assert caplog.records, "what rdflib says to others is theirs"


TURTLE = beside(__file__, "mottos.ttl")


def test_a_term_keeps_an_odd_tag() -> None:
    term = to_ox(Literal('say "so"\n', lang="zh-classical"))
    assert str(term) == '"say \\"so\\"\\n"@zh-classical'


@pytest.mark.parametrize(("question", "cited"), cases(__file__, "what_has_an_odd_tag_is_cited_and_verified"))
def test_what_has_an_odd_tag_is_cited_and_verified(tmp_path: Path, question: str, cited: int) -> None:
    (tmp_path / "mottos.ttl").write_text(TURTLE, encoding="utf-8")
    with mrag.connect() as kg:
        kg.load([tmp_path / "mottos.ttl"])
        kg.index(model="none")
        answer = mrag.ask(kg, question, model="none")
        report = mrag.verify(kg, answer.to_json())
        assert ("glory" in str(answer)) and report.complete and report.checked == cited
