"""Groups that must reach a number are found by a number that is quicker to count, and are the same."""

from collections.abc import Iterator
from itertools import product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rdflib import RDF, Literal, URIRef

from mrag.graph.kg import KnowledgeGraph
from mrag.planning import compiler
from mrag.planning.compiler import to_sparql
from mrag.planning.plan import Aggregate, Block, Column, Comparison, Order, Pattern, Plan, Unknown
from mrag.planning.profiling import schema_of
from mrag.planning.run import run
from mrag.rdf.terms import Triple
from mrag.stores.oxigraph import OxigraphStore

ORDER, WHO, WHAT, N = (Unknown(n) for n in ("order", "who", "what", "n"))
BY, OF, COST, KIND = (URIRef(f"urn:{n}") for n in ("by", "of", "cost", "Order"))


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count first however few things there are, and however many groups reach the number."""
    monkeypatch.setattr(compiler, "MANY", 0)
    monkeypatch.setattr(compiler, "_RARE", 0)


@pytest.fixture(scope="module")
def shop() -> Iterator[KnowledgeGraph]:
    """Orders by customers of products, some without either; one in eleven is of two products in one shop."""
    with KnowledgeGraph(OxigraphStore()) as kg:
        triples = []
        for n in range(160):
            order = URIRef(f"urn:order{n}")
            triples.append(Triple(order, RDF.type, KIND))
            if n % 13:
                triples.append(Triple(order, BY, URIRef(f"urn:who{n * n % 17}")))
            if n % 7:
                triples.append(Triple(order, OF, URIRef(f"urn:what{n * n * n % 23}")))
            triples.append(Triple(order, COST, Literal(n % 9)))
        kg.insert(triples)
        yield kg


def asked(relation: str, number: int, cost: int, *, typed: bool, swapped: bool, shown: bool) -> Plan:
    key, of = (WHAT, WHO) if swapped else (WHO, WHAT)
    kind = (Pattern(ORDER, RDF.type, KIND),) if typed else ()
    where = Block(
        (Pattern(ORDER, BY, WHO), Pattern(ORDER, OF, WHAT), Pattern(ORDER, COST, N), *kind),
        (Comparison(N, ">=", Literal(cost)),) if cost else (),
    )
    count = Aggregate("count", of=(of,))
    columns = (Column(key, "key"), *((Column(count, "times"),) if shown else ()))
    order = (Order("times", True),) if shown else ()
    return Plan(where, columns, (key,), (Comparison(count, relation, Literal(number)),), order)  # type: ignore[arg-type]


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(("=", "!=", "<", "<=", ">", ">=")), st.integers(0, 12), st.sampled_from((0, 0, 4)),
    st.booleans(), st.booleans(), st.booleans(),
)  # fmt: skip
def test_counting_first_changes_nothing(
    shop: KnowledgeGraph, relation: str, number: int, cost: int, typed: bool, swapped: bool, shown: bool
) -> None:
    plan = asked(relation, number, cost, typed=typed, swapped=swapped, shown=shown)
    assert run(shop, plan, schema=schema_of(shop)).rows == run(shop, plan).rows


def test_what_has_to_be_reached_is_counted_before_things_are_told_apart(shop: KnowledgeGraph) -> None:
    def counts(plan: Plan) -> int:
        return to_sparql(plan, schema_of(shop), loops=True).count("COUNT(")

    many = {"typed": False, "swapped": False, "shown": False}
    for relation, number in product((">", ">=", "="), (3, 9)):
        assert counts(asked(relation, number, 0, **many)) == 2
    for relation, number in (("<", 9), ("!=", 9), (">", 0), (">=", 1)):
        assert counts(asked(relation, number, 0, **many)) == 1


def test_what_may_be_several_is_not_bounded_by_what_leads_to_it(shop: KnowledgeGraph) -> None:
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.insert(Triple(URIRef("urn:o"), OF, URIRef(f"urn:what{n}")) for n in range(4))
        kg.insert([Triple(URIRef("urn:o"), BY, URIRef("urn:me"))])
        where = Block((Pattern(ORDER, BY, WHO), Pattern(ORDER, OF, WHAT)))
        having = Comparison(Aggregate("count", of=(WHAT,)), ">", Literal(3))
        plan = Plan(where, (Column(WHO, "who"),), (WHO,), (having,))
        assert [str(who) for (who,) in run(kg, plan, schema=schema_of(kg)).rows] == ["urn:me"]
