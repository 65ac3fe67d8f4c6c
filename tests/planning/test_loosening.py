"""What an answer says where nothing was found, and what comes behind a superlative."""

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rdflib import RDF, Literal, URIRef

import mrag
from mrag.generation.result import Answer
from mrag.graph.kg import KnowledgeGraph
from mrag.planning import Aggregate, Block, Column, Comparison, Number, Pattern, Plan, Scalar, Unknown
from mrag.planning.answering import answered as replayed
from mrag.planning.answering import compute
from mrag.planning.following import LastAnswer
from mrag.planning.loosening import why_nothing
from mrag.planning.plan import Relation
from mrag.planning.profiling import schema_of
from mrag.planning.run import run
from mrag.rdf.terms import Triple
from mrag.stores.oxigraph import OxigraphStore
from tests.cases import cases

X, SIZE = Unknown("x"), Unknown("size")
HAS_SIZE, RED = Pattern(X, URIRef("urn:size"), SIZE), Pattern(X, URIRef("urn:colour"), Literal("red"))


@pytest.fixture(scope="module")
def demo() -> KnowledgeGraph:
    return mrag.demo(model="none")


def answered(kg: KnowledgeGraph, question: str) -> Answer:
    attempt = compute(kg, question, seconds=300)
    assert attempt.sure and attempt.answer is not None, attempt.why
    given_ = attempt.answer
    assert mrag.verify(kg, given_).ok and Answer.from_json(given_.to_json()).to_json() == given_.to_json()
    return given_


def said(given_: Answer) -> str:
    return "".join(sentence.before + sentence.text for sentence in given_.sentences)


@settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    st.dictionaries(st.integers(0, 8), st.tuples(st.integers(-20, 20), st.booleans()), min_size=1),
    st.integers(-25, 25), st.sampled_from(("<", "<=", ">", ">=")), st.booleans(),
)  # fmt: skip
def test_what_comes_nearest_to_a_bound_is_found(
    things: dict[int, tuple[int, bool]], bound: int, relation: str, listed: bool
) -> None:
    with KnowledgeGraph(OxigraphStore()) as kg:
        for name, (size, red) in things.items():
            thing = URIRef(f"urn:x{name}")
            kg.insert([Triple(thing, URIRef("urn:size"), Literal(size))])
            kg.insert([Triple(thing, URIRef("urn:colour"), Literal("red" if red else "blue"))])
        bounded = Comparison(Number(SIZE), relation, Literal(bound))  # type: ignore[arg-type]
        plan = Plan(Block((HAS_SIZE, RED), (bounded,)), (Column(X, "x"),) if listed else ())
        if run(kg, plan).holds:
            return
        nothing = why_nothing(kg, plan, schema_of(kg), time.monotonic() + 20)
        reds = {name: size for name, (size, red) in things.items() if red}
        if not reds:
            # Without the colour something may keep the bound, and then that is what is said.
            kept = [s for s, _ in things.values() if run(kg, Plan(Block((HAS_SIZE,), (bounded,)))).holds]
            assert nothing.part == (RED if kept else None) and nothing.nearest is None
            return
        assert nothing.part == bounded and nothing.nearest is not None
        best = max(reds.values()) if relation.startswith(">") else min(reds.values())
        thing, value = nothing.nearest.result.rows[0]
        assert int(str(value)) == best and reds[int(str(thing).removeprefix("urn:x"))] == best


def test_a_no_says_what_was_looked_for_and_what_there_is_instead(demo: KnowledgeGraph) -> None:
    before = answered(demo, "Is there a database released before 1990?")
    assert said(before) == (
        "No: there is no database whose year of first release is before 1990. "
        "The earliest year of first release is 1995 (MySQL)."
    )
    assert before.citations
    other = answered(demo, "Does Ontotext develop Stardog?")
    assert said(other) == (
        "No: nothing in the graph says that Ontotext develops Stardog. "
        "It says that Ontotext develops GraphDB."
    )
    assert [c.triple.o.rsplit("#")[-1] for c in other.citations] == ["GraphDB"]
    assert said(answered(demo, "Is there a triple store from Norway?")).startswith("No: there is no triple")


def test_values_that_compare_otherwise_are_told(demo: KnowledgeGraph) -> None:
    later = answered(demo, "Is SQLite older than MySQL?")
    assert said(later) == "No: the year of first release of SQLite is 2000, and that of MySQL is 1995."
    assert sorted(str(c.triple.o) for c in later.citations) == ["1995", "2000"]
    assert later.computed is not None
    assert later.computed.reading == (
        "whether the year of first release of SQLite is before the year of first release of MySQL"
    )


def test_numbers_that_compare_otherwise_are_told(demo: KnowledgeGraph) -> None:
    asked = "Are there {} triple stores than graph databases?"
    fewer = answered(demo, asked.format("fewer"))
    more = answered(demo, asked.format("more"))
    told = "the number of triple stores is 11, and the number of graph databases is 17."
    assert (said(more), said(fewer)) == (f"No: {told}", f"Yes: {told}")
    assert more.citations and fewer.citations
    has = compute(demo, "Does Stardog Union have more products than Ontotext?", seconds=300).answer
    assert has is not None
    assert said(has).startswith("No: the number of products developed by Stardog Union is")


def test_two_numbers_that_are_found_apart_are_told_like_those_of_one_block(demo: KnowledgeGraph) -> None:
    made, kinds = Unknown("made"), {c.split("#")[-1]: URIRef(c) for c in schema_of(demo).classes}
    stores, graphs = (
        Scalar(
            Plan(Block((Pattern(made, RDF.type, kinds[k]),)), (Column(Aggregate("count", of=(made,)), "n"),))
        )
        for k in ("TripleStore", "GraphDatabase")
    )
    told = "the number of triple stores is 11, and the number of graph databases is 17."
    relations: tuple[tuple[str, Relation], ...] = (("Yes", "<"), ("No", ">"))
    for answer, relation in relations:
        plan = Plan(Block(conditions=(Comparison(stores, relation, graphs),)))
        found = replayed(demo, "Are there fewer?", LastAnswer(plan, ()))
        assert said(found) == f"{answer}: {told}"
        assert {c.triple.o for c in found.citations} == {kinds["TripleStore"], kinds["GraphDatabase"]}


@pytest.mark.parametrize(("question", "why"), cases(__file__, "no_value_is_known"))
def test_what_no_value_is_known_of_is_neither_yes_nor_no(
    demo: KnowledgeGraph, question: str, why: str
) -> None:
    attempt = compute(demo, question, seconds=300)
    assert (attempt.answer, attempt.why) == (None, why)


def test_numbers_that_are_computed_are_shown_short(demo: KnowledgeGraph) -> None:
    given_ = answered(demo, "What percentage of vendors are in Germany?")
    assert said(given_) == "The percentage is 13.2075%."
    assert given_.computed is not None
    ((cell,),) = given_.computed.rows
    assert str(cell.term) == "13.2075471698"


def test_an_empty_list_is_an_answer_where_a_bound_excludes_all(demo: KnowledgeGraph) -> None:
    late = answered(demo, "Which databases were released after 2030?")
    assert late.computed is not None and late.computed.rows == () and late.citations
    assert said(late).endswith("The latest year of first release is 2019 (DuckDB).")
    many = answered(demo, "Which vendors have more than fifty products?")
    assert said(many) == (
        "None: there is no vendor which develops the product, where the number of products is more than 50. "
        "The greatest number of products is 7 (Apache Software Foundation)."
    )


def test_runners_up_are_told_with_what_they_are_ordered_by(demo: KnowledgeGraph) -> None:
    oldest = answered(demo, "What is the oldest database?")
    assert oldest.computed is not None
    assert oldest.computed.next == "MySQL: 1995, then SQLite: 2000; Apache Cassandra: 2008"
    assert f"Next: {oldest.computed.next}" in str(oldest) and "Next: MySQL" in oldest._repr_html_()
    value = oldest.to_json()
    assert [[cell["label"] for cell in row] for row in value["runners_up"]] == [
        ["SQLite", "2000"], ["Apache Cassandra", "2008"],
    ]  # fmt: skip
    assert [cell["label"] for cell in value["last"]] == ["MySQL", "1995"]
    three = answered(demo, "What are the three oldest databases?")
    assert three.computed is not None
    assert three.computed.next == "Apache Cassandra: 2008, then MariaDB: 2009; MongoDB: 2009"
    every = answered(demo, "How many vendors are there per country?")
    assert every.computed is not None and every.computed.next == ""
    assert every.computed.columns == ("country", "number_of_vendors")
