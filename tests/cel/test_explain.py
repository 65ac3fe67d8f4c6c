"""Why an individual satisfies an expression, by triples that are there; and what would have to change.

The smallest change is held against trying all of them.
"""

from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import OWL, RDF, RDFS, XSD, Literal, URIRef

from mrag.cel import explain
from mrag.cel import expressions as ce
from mrag.cel.explain import why_not, why_satisfied
from mrag.cel.expressions import Expression, Facet, Property, normal, walk
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import Triple
from mrag.reasoning.run import reason
from mrag.stores.oxigraph import OxigraphStore
from tests.cases import cases
from tests.cel.graphs import dl, fact, put
from tests.cel.plain import INDIVIDUALS, UNWATCHED, E, Plain, expressions, graphs, grown, triple

X, Y = E + "x", E + "y"
NEW = ("urn:mrag:new:1", "urn:mrag:new:2")
CLASSES = (E + "A", E + "B")
R, D = E + "r", E + "d"
TYPE = str(RDF.type)
NUMBERS = [Literal(n) for n in range(5)]
_FACETS: tuple[Facet, ...] = ("minInclusive", "maxInclusive", "minExclusive", "maxExclusive")
_roles = st.builds(Property, st.just(R), st.booleans())
_ranges = st.builds(
    lambda facet, n: ce.DataRange(str(XSD.integer), ((facet, Literal(n)),)),
    st.sampled_from(_FACETS),
    st.sampled_from((1, 3)),
)
_leaves: st.SearchStrategy[Expression] = st.one_of(
    st.sampled_from((ce.Top(), ce.Bottom(), ce.OneOf((Y,)), *map(ce.Named, CLASSES))),
    st.builds(ce.Value, _roles, st.sampled_from((X, Y))),
    st.builds(ce.DataSome, st.just(Property(D)), _ranges),
    st.builds(ce.DataOnly, st.just(Property(D)), _ranges),
)


_expressions = st.recursive(_leaves, grown(_roles, 2, 2), max_leaves=4)


@st.composite
def _graphs(draw: st.DrawFn) -> frozenset[Triple]:
    types = draw(st.sets(st.tuples(st.sampled_from((X, Y)), st.sampled_from(CLASSES)), max_size=3))
    edges = draw(st.sets(st.tuples(st.sampled_from((X, Y)), st.sampled_from((X, Y))), max_size=3))
    data = draw(st.sets(st.tuples(st.sampled_from((X, Y)), st.sampled_from(NUMBERS[1:4])), max_size=2))
    return frozenset(
        [
            *(triple(s, TYPE, c) for s, c in types),
            *(triple(s, R, o) for s, o in edges),
            *(triple(s, D, v) for s, v in data),
        ]
    )


def _universe() -> list[Triple]:
    nodes = (X, Y, *NEW)
    return [
        triple(X, TYPE, str(OWL.NamedIndividual)), *(triple(s, TYPE, c) for s in nodes for c in CLASSES),
        *(triple(s, R, o) for s in nodes for o in nodes), *(triple(s, D, v) for s in nodes for v in NUMBERS),
    ]  # fmt: skip


UNIVERSE = _universe()


def smallest(triples: frozenset[Triple], e: Expression, most: int) -> int | None:
    """Try all changes, up to so many at once."""
    edits = [t for t in UNIVERSE if t not in triples] + sorted(triples)
    for size in range(most + 1):
        for chosen in combinations(edits, size):
            plain = Plain(triples ^ frozenset(chosen))
            if plain.holds(e, URIRef(X)) and URIRef(X) in plain.individuals:
                return size
    return None


@settings(UNWATCHED, max_examples=30)
@given(_graphs(), _expressions)
def test_nothing_smaller_is_found_by_trying_all(triples: frozenset[Triple], e: Expression) -> None:
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.insert(triples)
        revision = kg.revision
        found = why_not(kg, e, X, max_changes=4, seconds=20)
        assert why_not(kg, e, X, max_changes=4, seconds=20).changes == found.changes
        assert kg.revision == revision and kg.count() == len(triples)
    best = smallest(triples, e, 2)
    assert found.complete and found.gave_up != "time"
    if found.changes is None:
        assert best is None
        return
    assert len(found.changes) == best or (best is None and len(found.changes) > 2)
    changed = triples ^ frozenset(c.triple for c in found.changes)
    assert all((c.triple in triples) != c.add for c in found.changes)
    assert Plain(changed).holds(e, URIRef(X)) and URIRef(X) in Plain(changed).individuals
    assert list(found.changes) == sorted(found.changes, key=lambda c: c.order)


@pytest.fixture
def photos(kg: KnowledgeGraph) -> KnowledgeGraph:
    put(kg, ("Blazer", str(RDFS.subClassOf), "Jacket"), ("p1", "a", "Image"), ("p2", "a", "Image"))
    put(kg, ("p1", "shows", "g1"), ("p2", "shows", "g2"), ("p2", "shows", "g3"))
    put(kg, ("g1", "a", "Blazer"), ("g2", "a", "Skirt"))
    reason(kg)
    return kg


@pytest.mark.parametrize(("who", "wanted", "changes", "said"), cases(__file__, "why_not"))
def test_the_fewest_changes_are_told(
    photos: KnowledgeGraph, who: str, wanted: str, changes: list[Any] | None, said: str
) -> None:
    """Of equally small ones it is the first in order; a row without changes tells how many there are."""
    found = why_not(photos, dl(wanted), E + who)
    assert said.replace("E:", E) in found.render()
    if changes is None:
        assert found.changes is None and found.gave_up is None
        return
    assert found.changes is not None
    made = [[*(str(t).removeprefix(E) for t in c.triple), c.add, c.inferred] for c in found.changes]
    assert made == [[s, TYPE, kind, *how] for s, kind, *how in changes]
    assert found.complete and found.at_least == len(changes)
    assert [c["inferred"] for c in found.to_json()["changes"]] == [inferred for *_, inferred in changes]


def test_additions_and_removals_together(photos: KnowledgeGraph) -> None:
    found = why_not(photos, dl("(∀ :shows.:Skirt) ⊓ :Winter"), E + "p2")
    assert found.changes is not None
    assert [c.add for c in found.changes] == [True, True] or not all(c.add for c in found.changes)
    assert len(found.changes) == 2


def test_limits_are_told(photos: KnowledgeGraph) -> None:
    many = dl("≥ 9 :shows.:Hat")
    small = why_not(photos, many, E + "p2", max_changes=3)
    assert small.changes is None and small.gave_up == "size" and small.at_least == 4
    late = why_not(photos, many, E + "p2", max_changes=30, seconds=0.2)
    assert late.changes is None and late.gave_up == "time"
    assert "the time was up" in late.render()
    with pytest.raises(ConfigError):
        why_not(photos, many, E + "p2", max_changes=0)


def test_a_new_individual_stands_for_what_is_nowhere(photos: KnowledgeGraph) -> None:
    put(photos, ("p4", "a", "Image"))
    found = why_not(photos, dl('∃ :shows.(:Hat ⊓ (∃ :colour.{"red"}))'), E + "p4")
    assert found.changes is not None and len(found.changes) == 3


def test_a_graph_with_more_terms_than_are_tried_says_so(tmp_path: Path) -> None:
    with KnowledgeGraph(OxigraphStore(tmp_path / "store")) as kg:
        for n in range(60):
            p, g = f"p{n:02}", f"g{n:02}"
            put(kg, (p, "a", "Image"), (p, "shows", g), (g, "a", "Jacket" if n % 20 == 7 else "Skirt"))
            put(kg, (g, "colour", Literal("red" if n % 9 == 0 else "blue")))
        found = why_not(kg, dl('(∃ :shows.:Jacket) ⊓ (∃ :shows.(∃ :colour.{"red"}))'), E + "p03")
        # g27 is a red jacket: one triple does for both.
        assert found.changes == (explain.Change(fact("p03", "shows", "g27"), True),)
        assert not found.complete
        assert "not every term" in found.render()


def test_what_is_missing_is_named_not_what_is_there(kg: KnowledgeGraph) -> None:
    put(kg, ("photo", "a", "Image"), ("photo", "shows", "thing"))
    put(kg, ("thing", "a", "Shirt"), ("thing", "pattern", "plain"))
    wanted = dl(":Image ⊓ (∃ :shows.(:Shirt ⊓ (∃ :pattern.{:striped})))")
    lines = why_not(kg, wanted, E + "photo").render(lambda iri: iri.rpartition("/")[2]).splitlines()
    assert lines[0] == "photo shows no Shirt that has the pattern “striped”."
    assert lines[1:] == ["photo would be in the result", "  if it were stated: thing pattern striped"]


MONOTONE = (ce.Top, ce.Named, ce.And, ce.Or, ce.Some, ce.Value, ce.OneOf, ce.AtLeast, ce.DataSome)


def every(found: explain.Reason) -> list[explain.Reason]:
    return [found, *(r for part in found.parts for r in every(part))]


@settings(UNWATCHED, max_examples=40)
@given(graphs(), expressions)
def test_reasons_agree_with_the_semantics_and_what_is_there(
    triples: frozenset[Triple], e: Expression
) -> None:
    shape = normal(e)
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.insert(triples)
        # Stores write numbers their own way.
        triples = frozenset(Triple(*row) for row in kg.select("SELECT ?s ?p ?o { ?s ?p ?o }"))  # type: ignore[arg-type]
        plain = Plain(triples)
        facts = explain.GraphFacts(kg)
        for name in INDIVIDUALS:
            x = URIRef(name)
            assert facts.is_individual(x) == (x in plain.individuals)
            assert facts.holds(shape, x) == plain.holds(shape, x)
            if x not in plain.individuals:
                continue
            found = why_satisfied(kg, e, name, max_values=100, facts=facts)
            assert found.holds == plain.holds(e, x)
            for r in every(found):
                assert r.holds == plain.holds(r.expression, r.subject)
                assert all(a.s is None or a.o is None or (a.s, a.p, a.o) not in triples for a in r.absent)
                assert found.render() and found.to_json()["holds"] == found.holds
            rest = {e.triple for e in found.triples()}
            assert rest <= triples
            if found.holds and all(isinstance(p, MONOTONE) for p in walk(shape)):
                # What is shown is enough: nothing else of the graph is needed.
                assert Plain(frozenset(rest)).holds(shape, x)


@pytest.fixture
def family(kg: KnowledgeGraph) -> KnowledgeGraph:
    put(kg, ("Father", str(RDFS.subClassOf), "A"), ("a", "a", "Father"), ("a", "r", "b"), ("a", "r", "c"))
    put(kg, ("b", "a", "B"), ("c", "a", "B"), ("d", "a", "B"), ("b", "data", Literal(7)))
    reason(kg)
    return kg


def test_inferred_triples_are_marked(family: KnowledgeGraph) -> None:
    found = why_satisfied(family, dl(":A ⊓ (∃ :r.:B)"), E + "a")
    assert found.holds
    member = next(r for r in found.parts if r.expression == dl(":A"))
    assert member.evidence == (explain.SupportingTriple(fact("a", "a", "A"), inferred=True),)
    shown = found.render(lambda iri: iri.rpartition("/")[2])
    assert shown.splitlines() == [
        "✓ a: A ⊓ (∃ r.B)", "  ✓ A", "    a is an A [inferred]", "  ✓ ∃ r.B", "    ✓ a r b [asserted]: B",
        "      b is a B [asserted]", "    ✓ a r c [asserted]: B", "      c is a B [asserted]",
    ]  # fmt: skip


def test_negations_rest_on_what_was_looked_for(family: KnowledgeGraph) -> None:
    found = why_satisfied(family, dl("(¬:A) ⊓ (∀ :r.:B)"), E + "d")
    absent = [a for r in every(found) for a in r.absent]
    assert explain.Absence(URIRef(E + "d"), RDF.type, URIRef(E + "A")) in absent
    assert explain.Absence(URIRef(E + "d"), URIRef(E + "r"), None) in absent


def test_values_beyond_the_first_are_counted(family: KnowledgeGraph) -> None:
    found = why_satisfied(family, dl("∃ :r.⊤"), E + "a", max_values=1)
    assert len(found.parts) == 1 and found.more == 1
    assert "and 1 more" in found.render()
    assert len(why_satisfied(family, dl("≥ 2 :r.⊤"), E + "a", max_values=1).parts) == 2


def test_what_fails_shows_where(family: KnowledgeGraph) -> None:
    found = why_satisfied(family, dl("∃ :r.(∃ :data.xsd:integer[≥ 8])"), E + "a")
    assert not found.holds
    assert [t.triple for r in every(found) for t in r.evidence] == [fact("b", "data", Literal(7))]
    count = why_satisfied(family, dl("(≤ 1 :r.:B) ⊔ (= 3 :r.:B)"), E + "a")
    assert not count.holds and len(count.parts) == 2
    assert "✗" in count.render()


def test_others_than_individuals_are_refused(family: KnowledgeGraph) -> None:
    with pytest.raises(ConfigError, match="no named individual"):
        why_satisfied(family, dl(":A"), E + "nowhere")
