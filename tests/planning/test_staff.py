"""Questions about the people of a firm: who does, has and earns what, and with whom they are compared."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import mrag
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import compute

HEAD = (
    "@prefix : <http://firm.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . "
    "@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n"
)
DEPARTMENTS = {"Sales": "Berlin", "Research": "Munich"}
STAFF = {
    # name: department, title, salary, hired, boss, skills, left
    "Anna Weber": ("Sales", "Manager", 50_000, "2010-01-15", None, {"Excel"}, None),
    "Bernd Koch": ("Research", "Manager", 70_000, "2012-03-01", None, {"Python"}, None),
    "Carla Jung": ("Sales", "Analyst", 62_000, "2014-05-01", "Anna Weber", {"Python", "Excel"}, None),
    "David Maier": ("Research", "Engineer", 58_000, "2011-06-01", "Bernd Koch", set(), None),
    "Elena Roth": ("Research", "Engineer", 71_000, "2019-09-01", "Bernd Koch", {"Python"}, "2023-03-30"),
}
PROJECTS = {
    # name: led by, sponsored by, start, end
    "Apollo": ("Anna Weber", "Sales", "2021-03-01", "2022-09-30"),
    "Borealis": ("Bernd Koch", "Research", "2022-01-15", None),
}
WORK = [("Carla Jung", "Apollo", 20), ("David Maier", "Borealis", 30), ("Carla Jung", "Borealis", 10)]


def turtle() -> str:
    """Return the firm."""

    def iri(name: str) -> str:
        return ":" + name.replace(" ", "_")

    def date(day: str) -> str:
        return f"'{day}'^^xsd:date"

    lines = [
        f"{iri(n)} a :Department ; rdfs:label '{n}' ; :location '{at}' ." for n, at in DEPARTMENTS.items()
    ]
    lines += [f"{iri(s)} a :Skill ; rdfs:label '{s}' ." for s in ("Excel", "Python", "Harp")]
    for name, (where, title, salary, hired, boss, skills, left) in STAFF.items():
        said = [
            f":worksIn {iri(where)}",
            f":jobTitle '{title}'",
            f":salary {salary}",
            f":hireDate {date(hired)}",
        ]
        said += [f":reportsTo {iri(boss)}"] if boss else []
        said += [f":hasSkill {iri(s)}" for s in sorted(skills)] + ([f":leftOn {date(left)}"] if left else [])
        lines.append(f"{iri(name)} a :Employee ; rdfs:label '{name}' ; {' ; '.join(said)} .")
    for name, (lead, sponsor, start, end) in PROJECTS.items():
        ended = f" ; :endDate {date(end)}" if end else ""
        said_ = f":ledBy {iri(lead)} ; :sponsoredBy {iri(sponsor)} ; :startDate {date(start)}{ended}"
        lines.append(f"{iri(name)} a :Project ; rdfs:label '{name}' ; {said_} .")
    for n, (who, what, hours) in enumerate(WORK):
        lines.append(
            f":a{n} a :Assignment ; :employee {iri(who)} ; :project {iri(what)} ; :hoursPerWeek {hours} ."
        )
    return HEAD + "\n".join(lines)


@pytest.fixture(scope="module")
def firm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    path: Path = tmp_path_factory.mktemp("firm") / "firm.ttl"
    path.write_text(turtle(), encoding="utf-8")
    with mrag.connect("oxigraph:") as kg:
        kg.load([path])
        yield kg


def given(kg: KnowledgeGraph, question: str) -> list[str]:
    attempt = compute(kg, question)
    assert attempt.sure, attempt.why
    assert attempt.answer is not None and attempt.answer.computed is not None
    assert attempt.answer.citations and mrag.verify(kg, attempt.answer).ok
    return sorted(row[0].label for row in attempt.answer.computed.rows)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who is the highest paid engineer?", ["Elena Roth"]),
        ("Which engineers earn less than 60000?", ["David Maier"]),
        ("How many engineers earn more than 50000?", ["2"]),
        ("Who has the same job title as David Maier?", ["Elena Roth"]),
        ("Who works in the same department as Anna Weber?", ["Carla Jung"]),
        ("Who earns more than their manager?", ["Carla Jung", "Elena Roth"]),
        ("Which employees have a lower salary than their boss?", ["David Maier"]),
        ("Which employees were hired before their manager?", ["David Maier"]),
        ("Who was hired last?", ["Elena Roth"]),
        ("Who was hired most recently?", ["Elena Roth"]),
        ("Which projects have not ended yet?", ["Borealis"]),
        ("Who works on Apollo?", ["Carla Jung"]),
        ("Who leads Apollo?", ["Anna Weber"]),
        ("Who has the most hours per week?", ["David Maier"]),
        ("Who left in 2023?", ["Elena Roth"]),
    ],
)
def test_who_is_somebody(firm: KnowledgeGraph, question: str, expected: list[str]) -> None:
    assert given(firm, question) == expected


@pytest.mark.parametrize(
    ("question", "holds"),
    [
        ("Is anyone in Sales working on Borealis?", True),
        ("Is anyone in Research working on Apollo?", False),
        ("Does anybody know Python?", True),
        ("Does anyone know Harp?", False),
        ("Was anyone hired in 2019?", True),
        ("Did anyone leave in 2021?", False),
    ],
)
def test_anybody_is_one_of_the_people(firm: KnowledgeGraph, question: str, holds: bool) -> None:
    attempt = compute(firm, question)
    assert attempt.sure and attempt.answer is not None
    assert attempt.answer.text.startswith("Yes" if holds else "No")


@pytest.mark.parametrize("question", ["Who manages the most people?", "Who has the most reports?"])
def test_what_is_not_understood_is_not_computed(firm: KnowledgeGraph, question: str) -> None:
    assert not compute(firm, question).sure


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who left the company?", ["Elena Roth"]),
        ("Top 2 earners in Research", ["Bernd Koch", "Elena Roth"]),
        ("Which departments are in Berlin?", ["Sales"]),
        (
            "Which employees were hired before Carla Jung was hired?",
            ["Anna Weber", "Bernd Koch", "David Maier"],
        ),
    ],
)
def test_of_the_whole_firm(firm: KnowledgeGraph, question: str, expected: list[str]) -> None:
    assert given(firm, question) == expected


def test_when_is_no_thing_and_both_of_a_kind_are_not_read(firm: KnowledgeGraph) -> None:
    for question in ("When did Carla Jung work on Borealis?", "Who works on projects of both departments?"):
        assert not compute(firm, question).sure


def test_a_text_that_is_no_question_is_not_read(firm: KnowledgeGraph) -> None:
    attempt = compute(firm, "Who knows Python " + "and Excel " * 100 + "?")
    assert not attempt.sure and attempt.answer is None and "more than 200 words" in attempt.why


def test_both_times_may_be_values_of_one_thing() -> None:
    with mrag.connect("oxigraph:") as kg:
        kg.update(
            "PREFIX : <urn:x-cup:> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> INSERT DATA { "
            ":a a :Player ; rdfs:label 'Ada' ; :winningYear 2012, 2016 . "
            ":b a :Player ; rdfs:label 'Ben' ; :winningYear 2012 . "
            ":c a :Player ; rdfs:label 'Cleo' ; :winningYear 2016, 2020 }"
        )
        assert given(kg, "Which players won in both 2012 and 2016?") == ["Ada"]
