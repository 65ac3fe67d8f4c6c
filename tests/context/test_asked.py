"""A second hop where the words of a question ask for it, and nowhere else."""

from __future__ import annotations

import pytest
from rdflib import RDFS, Literal, URIRef

from mrag.context import ContextSettings, expand
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import Triple
from mrag.stores.oxigraph import OxigraphStore

E = "http://example.org/"
STATED = """
mill | built by | Ada Hill
bridge | built by | Ada Hill
tower | built by | Ben Ott
Ada Hill | born in | Elmton
Ben Ott | born in | Oakham
Ada Hill | has trade | mason
Elmton | mayor | Cleo Pym
mill | stands in | Oakham
Oakham | mayor | Dan Roe
tower | year of opening | 1901
"""
NAMES = sorted({part.strip() for row in STATED.split("\n") if row for part in row.split("|")})


def thing(name: str) -> URIRef:
    return URIRef(E + name.strip().replace(" ", "_"))


def built() -> KnowledgeGraph:
    kg = KnowledgeGraph(OxigraphStore())
    stated = [Triple(*map(thing, row.split("|"))) for row in STATED.split("\n") if row]
    kg.insert([*stated, *(Triple(thing(name), RDFS.label, Literal(name)) for name in NAMES)])
    return kg


@pytest.fixture
def kg() -> KnowledgeGraph:
    return built()


def far(kg: KnowledgeGraph, question: str, *names: str, **knobs: int | bool) -> set[str]:
    seeds = [(str(thing(name)), 1.0) for name in names]
    found = expand(kg, seeds, ContextSettings(**knobs), question=question)  # type: ignore[arg-type]
    return {line.text for line in found.lines if line.hop == 2}


@pytest.mark.parametrize(
    ("question", "hits", "expected"),
    [
        ("Where was the man born who built the mill?", ["mill"], {"(Ada Hill, born in, Elmton)"}),
        ("Who is the mayor of the town that the mill stands in?", ["mill"], {"(Oakham, mayor, Dan Roe)"}),
        ("Who built the mill?", ["mill"], set()),
        ("What was built by the same man as the mill?", ["mill"], {"(bridge, built by, Ada Hill)"}),
        ("Which trade has the builder of the mill?", ["tower", "mill"], {"(Ada Hill, has trade, mason)"}),
        ("What is said of the mill?", ["mill"], set()),
        ("", ["mill"], set()),
    ],
)  # fmt: skip
def test_the_words_of_the_question_say_where_to_go_on(
    kg: KnowledgeGraph, question: str, hits: list[str], expected: set[str]
) -> None:
    assert far(kg, question, *hits) == expected


def test_the_second_hop_can_be_left_out(kg: KnowledgeGraph) -> None:
    assert far(kg, "Where was the man born who built the mill?", "mill", asked_hop=False) == set()


def test_it_keeps_to_the_budget_and_loses_nothing_of_one_hop(kg: KnowledgeGraph) -> None:
    asked = "Where was the man born who built the mill?"
    seeds = [(str(thing("mill")), 1.0)]
    near = expand(kg, seeds, ContextSettings(asked_hop=False), question=asked)
    whole = expand(kg, seeds, ContextSettings(), question=asked)
    assert {x.triple for x in near.lines} < {x.triple for x in whole.lines}
    for budget in range(10, whole.tokens + 20, 10):
        assert expand(kg, seeds, ContextSettings(token_budget=budget), question=asked).tokens <= budget


def test_a_name_within_a_name_is_not_asked_about(kg: KnowledgeGraph) -> None:
    long, short = thing("old mill"), thing("mill")
    kg.insert([
        Triple(long, RDFS.label, Literal("Old Mill of Elmton")),
        Triple(long, thing("built by"), thing("Ben Ott")),
    ])  # fmt: skip
    asked = "Where was the man born who built the Old Mill of Elmton?"
    found = expand(kg, [(str(short), 1.0), (str(long), 0.9)], question=asked)
    assert {line.entity for line in found.lines if line.hop == 2} == {str(long)}
