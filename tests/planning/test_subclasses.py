"""Things of subclasses count as things of the class, whether or not a triple says so."""

from collections.abc import Iterator

import pytest
from rdflib import RDF, URIRef

from mrag.graph.kg import KnowledgeGraph
from mrag.planning import plan_from_json
from mrag.planning.answering import compute
from mrag.planning.profiling import schema_of
from mrag.planning.saved import save_question
from mrag.rdf.terms import Triple
from tests.planning.interpreter import evaluate
from tests.planning.questions import ExpectedRows, check, loaded, questions_of

NS = "http://example.org/harbour/"


@pytest.fixture(scope="module")
def stated() -> Iterator[KnowledgeGraph]:
    with loaded("harbour") as found:
        yield found


@pytest.fixture(scope="module")
def inferred() -> Iterator[KnowledgeGraph]:
    with loaded("harbour") as found:
        further = {
            "Gull": ["Vessel"], "Petrel": ["Vessel"], "Puffin": ["Vessel", "Sailboat"], "Mammut": ["Vessel"],
        }  # fmt: skip
        further |= {"Ilse": ["Sailor"], "Jonte": ["Sailor"]}
        found.insert(
            Triple(URIRef(NS + thing), RDF.type, URIRef(NS + c))
            for thing, over in further.items()
            for c in over
        )
        yield found


@pytest.mark.parametrize("kind", ["stated", "inferred"])
@pytest.mark.parametrize("asked", questions_of("harbour"), ids=lambda asked: asked.question)
def test_members_of_subclasses_are_members(
    kind: str, asked: ExpectedRows, request: pytest.FixtureRequest
) -> None:
    kg = request.getfixturevalue(kind)
    check(kg, asked)
    answer = compute(kg, asked.question).answer
    if answer is not None and answer.computed is not None and asked.read:
        plan = plan_from_json(answer.computed.plan)
        triples = [Triple(*row) for row in kg.select("SELECT ?s ?p ?o WHERE { ?s ?p ?o }")]
        expected = evaluate(plan, triples)
        assert (
            bool(expected) == (asked.rows == ("yes",)) if plan.yes_or_no else len(expected) == len(asked.rows)
        )
        # A no rests on what the thing is instead.
        assert answer.citations


def test_the_schema_counts_members_of_subclasses(stated: KnowledgeGraph, inferred: KnowledgeGraph) -> None:
    schema = schema_of(stated)
    counts = {c.removeprefix(NS): info.count for c, info in schema.classes.items()}
    assert counts == {
        "Harbour": 2, "Sailboat": 3, "Sailor": 3, "Skipper": 2, "Tug": 1, "Vessel": 4, "Yawl": 2,
    }  # fmt: skip
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
    found = compute(stated, "Which vessels have a berth in Aarhus?").answer
    assert found is not None
    assert found.computed is not None and [r[0].label for r in found.computed.rows] == ["Petrel"]
