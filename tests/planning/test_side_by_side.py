"""Questions that set two things side by side: which has more, whether one has, by how much, and of each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import mrag
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import compute

STAFF = {
    # name: team, trade, gender, salary
    "Anna Weber": ("Sales", "Clerk", "f", 50),
    "Bernd Koch": ("Sales", "Welder", "m", 40),
    "Carla Jung": ("Sales", "Clerk", "f", 45),
    "David Maier": ("Support", "Welder", "m", 70),
    "Elena Roth": ("Support", "Driver", "f", 61),
    "Felix Braun": ("Storage", "Driver", "m", 55),
}
LOANS = {"Sales": 3, "Support": 1, "Storage": 1}


def turtle() -> str:
    """Return the firm."""

    def iri(name: str) -> str:
        return ":" + name.replace(" ", "_")

    lines = ["@prefix : <http://firm.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."]
    lines += [f"{iri(t)} a :Team ; rdfs:label '{t}' ." for t in LOANS]
    for name, (team, trade, gender, salary) in STAFF.items():
        lines.append(
            f"{iri(name)} a :Employee ; rdfs:label '{name}' ; :worksIn {iri(team)} ; :trade '{trade}' ; "
            f":gender '{gender}' ; :salary {salary} ."
        )
    for team, number in LOANS.items():
        lines += [
            f":van{team}{n} a :Van ; rdfs:label 'Van {n} {team}' ; :lentTo :{team} ." for n in range(number)
        ]
    return "\n".join(lines)


@pytest.fixture(scope="module")
def firm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    path: Path = tmp_path_factory.mktemp("firm") / "firm.ttl"
    path.write_text(turtle(), encoding="utf-8")
    with mrag.connect("oxigraph:") as kg:
        kg.load([path])
        yield kg


def given(kg: KnowledgeGraph, question: str) -> list[tuple[str, ...]]:
    attempt = compute(kg, question)
    assert attempt.sure, attempt.why
    assert attempt.answer is not None and attempt.answer.computed is not None
    assert attempt.answer.citations and mrag.verify(kg, attempt.answer).ok
    return sorted(tuple(cell.label for cell in row) for row in attempt.answer.computed.rows)


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("Compare the average salary of Sales and Support", [("Sales", "45"), ("Support", "65.5")]),
        ("Compare the number of employees in Sales and Storage", [("Sales", "3"), ("Storage", "1")]),
        ("How many employees work in Sales and how many in Support?", [("Sales", "3"), ("Support", "2")]),
        ("What is the average salary in Sales and in Storage?", [("Sales", "45"), ("Storage", "55")]),
        ("How many vans are lent to Sales and Storage respectively?", [("Sales", "3"), ("Storage", "1")]),
        ("How many men and how many women are there?", [("f", "3"), ("m", "3")]),
        ("How many male and female employees are there?", [("f", "3"), ("m", "3")]),
        ("Average salary of men vs women", [("f", "52"), ("m", "55")]),
        ("Which has more employees, Sales or Storage?", [("Sales",)]),
        ("Which team has fewer vans, Sales or Support?", [("Support",)]),
        ("Which team has the lower average salary: Sales or Storage?", [("Sales",)]),
        ("Between Sales and Storage, which team has more vans?", [("Sales",)]),
        ("Who earns more, Anna Weber or Bernd Koch?", [("Anna Weber",)]),
        ("Who earns more on average, welders or clerks?", [("Welder",)]),
    ],
)
def test_two_sides_are_rows(firm: KnowledgeGraph, question: str, rows: list[tuple[str, ...]]) -> None:
    assert given(firm, question) == rows


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Do men earn more than women on average?", "yes"),
        ("Do welders earn more than drivers?", "no"),
        ("Is the average salary of clerks lower than that of drivers?", "yes"),
        ("Is the average salary of Sales higher than the average salary of Support?", "no"),
        ("Are there more clerks than drivers?", "no"),
        ("Do more employees work in Sales than in Storage?", "yes"),
        ("Do Support and Storage have the same number of vans?", "yes"),
        ("How much more do welders earn than drivers on average?", "-3"),
        ("How many more employees work in Sales than in Support?", "1"),
        ("How many more women than welders are there?", "1"),
    ],
)
def test_two_sides_are_compared(firm: KnowledgeGraph, question: str, answer: str) -> None:
    assert given(firm, question) == [(answer,)]


def test_a_yes_tells_both_numbers(firm: KnowledgeGraph) -> None:
    attempt = compute(firm, "Do men earn more than women on average?")
    assert attempt.answer is not None
    assert "is 55" in attempt.answer.text and "is 52" in attempt.answer.text


def test_things_have_one_of_two_values_where_none_can_have_both(firm: KnowledgeGraph) -> None:
    assert given(firm, "How many employees work in Sales and Storage?") == [("4",)]
    assert given(firm, "How many clerks and drivers are there?") == [("4",)]  # there are welders, too


@pytest.mark.parametrize(
    "question",
    [
        "Compare the average bonus of Sales and Support",
        "Which has more ships, Sales or Storage?",
        "Who earns more on average, welders or pilots?",
        "Do men sleep more than women on average?",
    ],
)
def test_what_neither_side_has_is_refused(firm: KnowledgeGraph, question: str) -> None:
    assert not compute(firm, question).sure


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("How much do welders earn on average?", [("55",)]),
        ("On average, how much do clerks earn?", [("47.5",)]),
        ("Which employees have a salary above the average and work in Storage?", [("Felix Braun",)]),
        ("Which drivers have a salary above the average?", [("Elena Roth",), ("Felix Braun",)]),
        ("Which team has the most employees?", [("Sales",)]),
    ],
)
def test_averages_need_no_name(firm: KnowledgeGraph, question: str, rows: list[tuple[str, ...]]) -> None:
    assert given(firm, question) == rows
