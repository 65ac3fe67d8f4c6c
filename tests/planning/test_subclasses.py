"""Things of subclasses count as things of the class, whether or not a triple says so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from rdflib import RDF, URIRef

import mrag
from mrag.graph.kg import KnowledgeGraph
from mrag.planning import plan_from_json, plan_to_json
from mrag.planning.answering import compute
from mrag.planning.profiling import schema_of
from mrag.planning.saved import run_question, save_question
from mrag.rdf.terms import Triple
from tests.planning.interpreter import evaluate

DATA = Path(__file__).parent / "data" / "harbour.ttl"
NS = "http://example.org/harbour/"

QUESTIONS = [
    ("How many vessels are there?", ["4"]),
    ("How many sailboats are there?", ["3"]),
    ("How many yawls are there?", ["2"]),
    ("Which vessels have a berth in Wismar?", ["Gull", "Mammut", "Puffin"]),
    ("Which sailboats are longer than 8.5?", ["Gull", "Petrel"]),
    ("What is the longest vessel?", ["Mammut"]),
    ("What is the average length of all vessels?", ["15.125"]),
    ("Which sailors steered Mammut?", ["Ilse"]),
    ("Which vessels are not sailboats?", ["Mammut"]),
    ("How many vessels does each harbour have?", ["Aarhus", "Wismar"]),
    ("Which harbour has the most sailboats?", ["Wismar"]),
    ("Is Puffin a vessel?", ["yes"]),
    ("Is Mammut a sailboat?", ["no"]),
]


@pytest.fixture(scope="module")
def stated() -> Iterator[KnowledgeGraph]:
    with mrag.connect("oxigraph:") as found:
        found.load([DATA])
        yield found


@pytest.fixture(scope="module")
def inferred() -> Iterator[KnowledgeGraph]:
    with mrag.connect("oxigraph:") as found:
        found.load([DATA])
        further = {
            "Gull": ["Vessel"],
            "Petrel": ["Vessel"],
            "Puffin": ["Vessel", "Sailboat"],
            "Mammut": ["Vessel"],
        }
        further |= {"Ilse": ["Sailor"], "Jonte": ["Sailor"]}
        found.insert(
            Triple(URIRef(NS + thing), RDF.type, URIRef(NS + c))
            for thing, over in further.items()
            for c in over
        )
        yield found


@pytest.mark.parametrize("kind", ["stated", "inferred"])
@pytest.mark.parametrize(("question", "rows"), QUESTIONS)
def test_members_of_subclasses_are_members(
    kind: str, question: str, rows: list[str], request: pytest.FixtureRequest
) -> None:
    kg = request.getfixturevalue(kind)
    attempt = compute(kg, question)
    assert attempt.answer is not None and attempt.answer.computed is not None, attempt.why
    computed = attempt.answer.computed
    assert sorted(row[0].label for row in computed.rows) == rows, computed.reading
    assert attempt.sure, attempt.why
    assert mrag.verify(kg, attempt.answer).ok
    plan = plan_from_json(computed.plan)
    assert plan_to_json(plan) == computed.plan
    triples = [Triple(*row) for row in kg.select("SELECT ?s ?p ?o WHERE { ?s ?p ?o }")]
    expected = evaluate(plan, triples)
    assert bool(expected) == (rows == ["yes"]) if plan.yes_or_no else len(expected) == len(rows)
    # A no rests on what the thing is instead.
    assert attempt.answer.citations


def test_the_schema_counts_members_of_subclasses(stated: KnowledgeGraph, inferred: KnowledgeGraph) -> None:
    schema = schema_of(stated)
    counts = {c.removeprefix(NS): info.count for c, info in schema.classes.items()}
    assert counts == {
        "Harbour": 2,
        "Sailboat": 3,
        "Sailor": 3,
        "Skipper": 2,
        "Tug": 1,
        "Vessel": 4,
        "Yawl": 2,
    }
    narrower = {
        c.removeprefix(NS): {n.removeprefix(NS) for n in i.narrower} for c, i in schema.classes.items()
    }
    assert {c: n for c, n in narrower.items() if n} == {
        "Sailboat": {"Yawl"}, "Sailor": {"Skipper"}, "Vessel": {"Sailboat", "Tug", "Yawl"},
    }  # fmt: skip
    assert schema.properties[NS + "berth"].domains[NS + "Vessel"] == 4
    assert not any(info.narrower for info in schema_of(inferred).classes.values())
    assert schema_of(inferred).classes[NS + "Vessel"].count == 4


def test_where_it_is_inferred_the_query_asks_for_the_class_alone(inferred: KnowledgeGraph) -> None:
    answer = compute(inferred, "How many vessels are there?").answer
    assert answer is not None and answer.computed is not None
    assert "VALUES" not in answer.computed.query


def test_a_proof_says_what_a_thing_is_and_why_it_counts(stated: KnowledgeGraph) -> None:
    answer = compute(stated, "Is Puffin a vessel?").answer
    assert answer is not None
    cited = {(c.triple.s, c.triple.o) for c in answer.citations}
    assert cited == {
        (URIRef(NS + a), URIRef(NS + b))
        for a, b in (("Puffin", "Yawl"), ("Yawl", "Sailboat"), ("Sailboat", "Vessel"))
    }


def test_a_saved_question_and_a_follow_up_count_them(stated: KnowledgeGraph) -> None:
    talk = stated.conversation(model="none")
    assert talk.ask("How many sailors are there?").text.startswith("3 ")
    assert talk.ask("And vessels?").text.startswith("4 ")
    answer = compute(stated, "Which vessels have a berth in Wismar?").answer
    assert answer is not None
    save_question(stated, answer, "moored")
    found = run_question(stated, "moored", {"harbour": "Aarhus"})
    assert found.computed is not None and [r[0].label for r in found.computed.rows] == ["Petrel"]
