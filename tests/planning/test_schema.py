"""The schema of a graph as its data use it, and of graphs whose things are classes or concepts."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import RDF, RDFS, XSD, Literal, URIRef

import mrag.planning.compiler
import mrag.planning.profiling
import mrag.planning.run
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.updates import update
from mrag.planning import (
    Aggregate,
    Block,
    Column,
    Comparison,
    Contains,
    DatePart,
    Order,
    Pattern,
    Plan,
    Unknown,
    profiling,
)
from mrag.planning.compiler import to_sparql
from mrag.planning.interchange import plan_from_json, plan_to_json
from mrag.planning.lexicon import lexicon_of
from mrag.planning.profiling import kind_of_texts, number_in, schema_of, spelt_out
from mrag.planning.proof import prove
from mrag.planning.run import run
from mrag.planning.schema import ClassEdge, TermTree
from mrag.planning.scopes import check
from mrag.rdf.terms import OWL, Triple
from mrag.stores.oxigraph import OxigraphStore
from tests.cases import beside, cases
from tests.conftest import opened, shared_data
from tests.planning.interpreter import evaluate
from tests.planning.questions import loaded

PREFIXES = beside(__file__, "prefixes.ttl")


def graph(tmp_path: Path, turtle: str, at: str | None = None) -> KnowledgeGraph:
    file = tmp_path / "graph.ttl"
    file.write_text(PREFIXES + turtle, encoding="utf-8")
    kg = KnowledgeGraph(OxigraphStore(tmp_path / at if at else None))
    kg.load([file])
    return kg


def e(name: str) -> str:
    return f"http://example.org/{name}"


def test_classes_are_those_with_members() -> None:
    with loaded("tools_sold") as kg:
        schema = schema_of(kg)
    assert {c: info.count for c, info in schema.classes.items()} == {
        e("Product"): 2, e("Pump"): 1, e("Tool"): 2, e("Vendor"): 2,
    }  # fmt: skip
    product, pump = schema.classes[e("Product")], schema.classes[e("Pump")]
    assert product.names == ("product", "Produkt")
    assert product.comment == "What is sold." and pump.names == ("pump",)
    assert pump.parents == (e("Tool"),), "a parent that is reached by another is not direct"


def test_properties_are_as_the_data_use_them() -> None:
    with loaded("tools_sold") as kg:
        schema = schema_of(kg)
    kinds = {p.removeprefix("http://example.org/"): info.kind for p, info in schema.properties.items()}
    assert kinds == {
        "code": "text", "launched": "date", "on_sale": "boolean", "price": "number", "since": "date",
        "suppliedBy": "entity", "weight": "text",
    }  # fmt: skip
    supplied, weight = schema.properties[e("suppliedBy")], schema.properties[e("weight")]
    assert (supplied.triples, supplied.subjects, supplied.objects, supplied.functional) == (3, 2, 2, False)
    assert supplied.domains == {e("Product"): 2, e("Tool"): 2, e("Pump"): 1}
    assert supplied.ranges == {e("Vendor"): 2}, "what is declared does not hold against the data"
    assert supplied.inverse_names == ("supplies",)
    assert not weight.text_numbers and weight.units == ("g", "kg"), "they are not compared"
    price = schema.properties[e("price")]
    assert (float(price.minimum), float(price.maximum), price.functional) == (7, 12.5, True)
    assert schema.properties[e("since")].minimum == "1999-05-05"
    assert schema.properties[e("on_sale")].names == ("on sale",)
    assert ClassEdge(e("Pump"), e("suppliedBy"), e("Vendor"), 1) in schema.edges
    assert ClassEdge(e("Product"), e("suppliedBy"), e("Vendor"), 3) in schema.edges
    assert {p.rpartition("#")[2].rpartition("/")[2] for p in schema.label_properties} == {
        "altLabel", "label", "name", "prefLabel",
    }  # fmt: skip


def test_a_graph_without_any_schema_has_one(tmp_path: Path) -> None:
    with graph(tmp_path, ":a :knows :b . :b :knows :c ; :age 3 .") as kg:
        schema = schema_of(kg)
    knows = schema.properties[e("knows")]
    assert knows.domains == {"": 2} and knows.ranges == {"": 2} and knows.names == ("knows",)
    assert list(schema.classes) == [""] and schema.classes[""].count >= 2
    assert schema.edges == (ClassEdge("", e("knows"), "", 2),)


def test_an_empty_graph_has_an_empty_schema(kg: KnowledgeGraph) -> None:
    schema = schema_of(kg)
    assert (dict(schema.classes), dict(schema.properties), schema.edges, schema.triples) == ({}, {}, (), 0)


def test_a_schema_is_of_the_present_state(tmp_path: Path) -> None:
    with graph(tmp_path, ":a :knows :b .") as kg:
        before = schema_of(kg)
        more = tmp_path / "more.ttl"
        more.write_text(PREFIXES + ":c :likes :a .", encoding="utf-8")
        kg.load([more])
        assert set(before.properties) == {e("knows")}
        assert set(schema_of(kg).properties) == {e("knows"), e("likes")}


def test_samples_of_large_graphs_show_what_counts_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(7)
    lines = []
    for at in range(600):
        kind = random.choice(["Person", "Firm"])
        lines.append(f':{kind}{at} a :{kind} ; :size {at} ; :note "{random.choice("abc")} {at}" .')
        if kind == "Person":
            lines.append(f':{kind}{at} :worksFor :f{at % 7} ; :year "{1900 + at % 90}" .')
    lines += [f":f{at} a :Firm ." for at in range(7)]
    with graph(tmp_path, "\n".join(lines)) as kg:
        exact = schema_of(kg)
    for name, value in (("_EXACT", 100), ("_TRIPLES", 60), ("_MEMBERS", 60), ("_TEXTS", 60)):
        monkeypatch.setattr(profiling, name, value)
    with graph(tmp_path, "\n".join(lines)) as kg:
        sampled = schema_of(kg)
    assert sampled.classes == exact.classes
    for p, mine in sampled.properties.items():
        other = exact.properties[p]
        assert (mine.kind, mine.text_numbers, mine.triples, mine.subjects, mine.objects) == (
            other.kind, other.text_numbers, other.triples, other.subjects, other.objects,
        )  # fmt: skip
        assert set(mine.domains) == set(other.domains) and set(mine.ranges) == set(other.ranges)
        for c, n in other.domains.items():
            assert n / 2 <= mine.domains[c] <= 2 * n
    assert {(x.source, x.property, x.target) for x in sampled.edges} == {
        (x.source, x.property, x.target) for x in exact.edges
    }


@pytest.mark.parametrize(("texts", "kind", "as_text"), cases(__file__, "kinds_of_texts"))
def test_kinds_of_texts(texts: Sequence[str], kind: str, as_text: bool) -> None:
    assert kind_of_texts(texts) == (kind, as_text)


@given(st.text(max_size=40))
@settings(max_examples=300)
def test_any_text_is_a_number_or_none(text: str) -> None:
    found = number_in(text)
    assert found is None or isinstance(found, float)


@given(st.floats(allow_nan=False, allow_infinity=False, width=32), st.sampled_from(["", " kg", "%", " km/h"]))
@settings(max_examples=200)
def test_numbers_are_read_with_their_units(value: float, unit: str) -> None:
    assert number_in(f"{value}{unit}") == value


def test_real_graphs_have_a_schema() -> None:
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.load([shared_data("structured_qa/broker/graph.ttl")])
        schema = schema_of(kg)
        assert len(schema.classes) == 4 and len(schema.edges) == 3
        assert all(info.domains for info in schema.properties.values())


INSECTS = "http://insects.example/"
ABOVE = URIRef(RDFS.subClassOf)
X, Y = Unknown("x"), Unknown("y")


insects = opened(lambda _: loaded("insects"), "function")


def triples_of(kg: KnowledgeGraph) -> list[Triple]:
    return [Triple(*row) for row in kg.select("SELECT ?s ?p ?o WHERE { ?s ?p ?o }")]  # type: ignore[arg-type]


def test_classes_are_the_things_of_an_ontology_without_others(insects: KnowledgeGraph) -> None:
    schema = schema_of(insects)
    assert schema.tree == TermTree(OWL + "Class", str(ABOVE))
    assert schema.classes[OWL + "Class"].names[0] == "term"
    synonym = next(p for p in schema.properties.values() if "synonym" in p.names)
    assert (synonym.kind, synonym.subjects, synonym.triples) == ("text", 2, 3)
    lives = schema.properties[INSECTS + "P1"]
    assert lives.through == OWL + "someValuesFrom"
    assert (lives.subjects, lives.objects, list(lives.domains)) == (3, 2, [OWL + "Class"])
    assert "subclass" in schema.properties[str(ABOVE)].inverse_names


def test_where_other_things_outnumber_them_classes_are_none(insects: KnowledgeGraph) -> None:
    bees = [Triple(URIRef(f"urn:bee:{n}"), RDF.type, URIRef(INSECTS + "T6")) for n in range(20)]
    insects.insert(bees)
    schema = schema_of(insects)
    assert schema.tree is None
    assert INSECTS + "T6" in schema.classes
    assert not {str(ABOVE), INSECTS + "P1"} & {*schema.properties}


def test_a_schema_of_terms_follows_changes(insects: KnowledgeGraph) -> None:
    lexicon_of(insects, None)
    new = URIRef(INSECTS + "T7")
    more = [
        Triple(new, RDF.type, URIRef(OWL + "Class")),
        Triple(new, ABOVE, URIRef(INSECTS + "T3")),
        Triple(new, URIRef(RDFS.label), Literal("mason bee")),
    ]
    insects.insert(more)
    with loaded("insects") as fresh:
        fresh.insert(more)
        assert schema_of(insects).properties == schema_of(fresh).properties
        assert schema_of(insects).classes == schema_of(fresh).classes
        assert INSECTS + "T3" in lexicon_of(insects, None).broad


@pytest.mark.parametrize(
    "plan",
    [
        Plan(Block((Pattern(X, ABOVE, URIRef(INSECTS + "T1"), repeated=True),)), (Column(X, "x"),)),
        Plan(Block((Pattern(URIRef(INSECTS + "T4"), ABOVE, X, repeated=True),)), (Column(X, "x"),)),
        Plan(Block((Pattern(X, ABOVE, Y, repeated=True),)), (Column(X, "x"), Column(Y, "y"))),
        Plan(Block((Pattern(URIRef(INSECTS + "T4"), ABOVE, URIRef(INSECTS + "T1"), repeated=True),))),
    ],
)
def test_what_is_above_at_any_depth_is_found_and_told(insects: KnowledgeGraph, plan: Plan) -> None:
    triples = triples_of(insects)
    found = run(insects, plan, schema=schema_of(insects))
    wanted = set(evaluate(plan, triples))
    assert wanted and found.holds
    assert plan.yes_or_no or set(found.rows) == wanted
    assert plan_from_json(plan_to_json(plan)) == plan


def test_texts_are_chosen_by_their_language() -> None:
    label = URIRef("http://www.w3.org/2004/02/skos/core#prefLabel")
    spoken = Block((Pattern(X, label, Y),), (Contains(Y, "de", "language"),))
    plan = Plan(spoken, (Column(Y, "y"),))
    with loaded("rocks") as kg:
        rows = set(run(kg, plan, schema=schema_of(kg)).rows)
        assert rows == set(evaluate(plan, triples_of(kg)))
        assert {str(text) for (text,) in rows} >= {"Kreide", "Jura"}
        assert len(rows) == 7
    assert plan_from_json(plan_to_json(plan)) == plan


def test_only_a_named_relation_is_followed_several_times() -> None:
    for predicate in (Y, RDF.type):
        with pytest.raises(ConfigError, match="Only a named relation"):
            check(Plan(Block((Pattern(X, predicate, Unknown("z"), repeated=True),)), (Column(X, "x"),)))


def test_short_names_are_spelt_out_by_their_comments() -> None:
    told = ("distance nm", "nautical miles sailed")
    assert spelt_out("dist_nm", "Nautical miles sailed on the charter.") == told
    assert spelt_out("lvl", "U = undergraduate") == ("level",)
    assert spelt_out("genre", "Genre") == spelt_out("length", "in minutes") == ()
    assert spelt_out("cap", "Maximum number of participants") == ("maximum number of participants",)


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
