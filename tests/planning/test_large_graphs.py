"""What is known of all triples of a property makes queries shorter, and is known for certain."""

from collections.abc import Iterator

import pytest
from rdflib import RDF, RDFS, XSD, Literal, URIRef

import mrag.planning.compiler
import mrag.planning.profiling
import mrag.planning.run
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.updates import update
from mrag.planning import Aggregate, Block, Column, Comparison, DatePart, Order, Pattern, Plan, Unknown
from mrag.planning.compiler import to_sparql
from mrag.planning.profiling import schema_of
from mrag.planning.proof import prove
from mrag.planning.run import run
from mrag.rdf.terms import Triple
from mrag.stores.oxigraph import OxigraphStore
from tests.cases import cases

SPACE = "http://example.org/shop/"
ORDER, WHO, DAY, N = (Unknown(name) for name in ("order", "who", "day", "n"))


def x(name: str) -> URIRef:
    return URIRef(SPACE + name)


def stated() -> list[Triple]:
    found = [Triple(x("Rush"), RDFS.subClassOf, x("Order")), Triple(x("Plain"), RDFS.subClassOf, x("Order"))]
    for n in range(8):
        order = x(f"order{n}")
        found += [
            Triple(order, RDF.type, x("Rush" if n % 3 else "Plain")),
            Triple(order, x("placed"), Literal(f"2021-0{n + 1}-15", datatype=XSD.date)),
            Triple(order, x("packed"), Literal(f"2021-0{n + 1}-15T10:30:00", datatype=XSD.dateTime)),
            Triple(order, x("sent"), Literal(f"2021-0{n + 1}-16Z", datatype=XSD.date, normalize=False)),
            Triple(order, x("weight"), Literal(n)),
            Triple(order, x("by"), x(f"customer{n % 3}")),
        ]
    return found + [Triple(x(f"customer{n}"), RDF.type, x("Customer")) for n in range(3)]


@pytest.fixture
def shop(monkeypatch: pytest.MonkeyPatch) -> Iterator[KnowledgeGraph]:
    monkeypatch.setattr(mrag.planning.profiling, "_WORTH", 0)
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.insert(stated())
        yield kg


def orders(*more: Pattern) -> tuple[Pattern, ...]:
    return (Pattern(ORDER, RDF.type, x("Order"), (x("Plain"), x("Rush"))), *more)


def test_classes_and_datatypes_that_hold_of_all_are_known(shop: KnowledgeGraph) -> None:
    known = schema_of(shop).properties
    kinds = ((str(x("Plain")), str(x("Rush"))),)
    assert {p.rsplit("/")[-1]: i.subjects_in for p, i in known.items()} == dict.fromkeys(
        ("placed", "packed", "sent", "weight", "by"), kinds
    )
    assert known[str(x("by"))].objects_in == ((str(x("Customer")),),)
    assert [p.rsplit("/")[-1] for p, i in known.items() if i.plain_dates] == ["packed", "placed"]
    assert known[str(x("weight"))].datatypes == (str(XSD.integer),)
    assert schema_of(shop).exact


@pytest.mark.parametrize("change", cases(__file__, "after_a_change_only_what_still_holds_is_known"))
def test_after_a_change_only_what_still_holds_is_known(shop: KnowledgeGraph, change: str) -> None:
    where = Block(
        orders(Pattern(ORDER, x("placed"), DAY), Pattern(ORDER, x("by"), WHO)),
        (Comparison(DAY, ">=", Literal("2021-02-01", datatype=XSD.date)),),
    )
    plan = Plan(where, (Column(Aggregate("count", of=(ORDER,)), "n"),))
    assert run(shop, plan, schema=schema_of(shop)).rows == run(shop, plan).rows
    prologue = f"BASE <{SPACE}> PREFIX xsd: <{XSD}> "
    update(shop, prologue + change)
    assert run(shop, plan, schema=schema_of(shop)).rows == run(shop, plan).rows


def test_what_is_known_is_not_asked_for(shop: KnowledgeGraph) -> None:
    spring = Block(
        orders(Pattern(ORDER, x("placed"), DAY)),
        (Comparison(DatePart("year", DAY), "=", Literal(2021)),
         Comparison(DAY, "<", Literal("2021-06-01", datatype=XSD.date))),
    )  # fmt: skip
    query = to_sparql(Plan(spring, (Column(Aggregate("count", of=(ORDER,)), "n"),)), schema_of(shop))
    assert query == (
        f"SELECT DISTINCT ?n WHERE {{ {{ SELECT (COUNT(*) AS ?n) WHERE {{ ?order <{x('placed')}> ?day . "
        f'FILTER(year(?day) = "2021"^^<{XSD.double}>) FILTER(?day < "2021-06-01"^^<{XSD.date}>) }} }} }}'
    )


def test_latest_is_by_date_and_rows_are_proved_with_their_classes(shop: KnowledgeGraph) -> None:
    where = Block(orders(Pattern(ORDER, x("placed"), DAY)))
    plan = Plan(where, (Column(ORDER, "order"), Column(DAY, "day")), order=(Order("day", True),), limit=1)
    (row,) = run(shop, plan, schema=schema_of(shop)).rows
    assert row[0] == x("order7")
    proof = prove(shop, plan, row)
    assert Triple(x("order7"), RDF.type, x("Rush")) in proof.triples
    assert Triple(x("order7"), x("placed"), Literal("2021-08-15", datatype=XSD.date)) in proof.triples


@pytest.mark.parametrize("day", ["2021-01-15", "2021-12-31", "2020-02-29", "9999-12-31"])
@pytest.mark.parametrize("relation", ["=", "!=", "<", "<=", ">", ">="])
def test_times_compare_by_their_days(shop: KnowledgeGraph, day: str, relation: str) -> None:
    bound = Literal(day, datatype=XSD.date)
    where = Block((Pattern(ORDER, x("packed"), DAY),), (Comparison(DAY, relation, bound),))  # type: ignore[arg-type]
    plan = Plan(where, (Column(ORDER, "order"),))
    assert run(shop, plan, schema=schema_of(shop)).rows == run(shop, plan).rows
