"""Questions over records that join things: both of two, one or the other, orders, roles in records."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import mrag
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import compute

_SCHEMA = """
@prefix : <http://studio.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
:Trainer a owl:Class ; rdfs:label "trainer" .
:Member a owl:Class ; rdfs:label "member" .
:Course a owl:Class ; rdfs:label "course" .
:Enrolment a owl:Class ; rdfs:label "enrolment" ; rdfs:comment "A member booked a course." .
:CourseTrainer a owl:Class ; rdfs:label "course trainer" .
:first a owl:DatatypeProperty ; rdfs:label "first name" ; rdfs:domain :Trainer .
:last a owl:DatatypeProperty ; rdfs:label "last name" ; rdfs:domain :Trainer .
:salary a owl:DatatypeProperty ; rdfs:label "salary" ; rdfs:domain :Trainer ; rdfs:range xsd:integer .
:hired a owl:DatatypeProperty ; rdfs:label "hire date" ; rdfs:domain :Trainer ; rdfs:range xsd:date .
:born a owl:DatatypeProperty ; rdfs:label "date of birth" ; rdfs:domain :Member ; rdfs:range xsd:date .
:joined a owl:DatatypeProperty ; rdfs:label "registration date" ; rdfs:domain :Member ; rdfs:range xsd:date .
:title a owl:DatatypeProperty ; rdfs:label "title" ; rdfs:domain :Course .
:style a owl:DatatypeProperty ; rdfs:label "style" ; rdfs:domain :Course .
:price a owl:DatatypeProperty ; rdfs:label "price" ; rdfs:domain :Course ; rdfs:range xsd:integer .
:places a owl:DatatypeProperty ; rdfs:label "capacity" ; rdfs:domain :Course ; rdfs:range xsd:integer .
:bookedBy a owl:ObjectProperty ; rdfs:label "member" ; rdfs:domain :Enrolment ; rdfs:range :Member .
:booked a owl:ObjectProperty ; rdfs:label "course" ; rdfs:domain :Enrolment ; rdfs:range :Course .
:ctCourse a owl:ObjectProperty ; rdfs:label "course" ; rdfs:domain :CourseTrainer ; rdfs:range :Course .
:ctTrainer a owl:ObjectProperty ; rdfs:label "trainer" ; rdfs:domain :CourseTrainer ; rdfs:range :Trainer .
:lead a owl:DatatypeProperty ; rdfs:label "is lead" ; rdfs:domain :CourseTrainer ; rdfs:range xsd:boolean ;
  rdfs:comment "true for the leading trainer" .
"""
TRAINERS = {
    "Ida Brandt": (2100, "2009-05-01"), "Paul Krone": (2900, "2019-02-01"), "Mara Lutz": (2400, "2015-08-15"),
    "Sven Ohm": (2300, "2020-01-10"),
}  # fmt: skip
MEMBERS = {
    "Anna Weiss": ("1984-03-01", "2021-06-01"), "Bert Holm": ("1971-10-12", "2019-01-20"),
    "Clara Vogt": ("1999-07-30", "2022-04-11"), "Dora Senn": ("1990-12-24", "2020-09-09"),
}  # fmt: skip
COURSES = {
    "Morning Flow": ("yoga", 12, 20), "Deep Stretch": ("yoga", 15, 12), "Iron Hour": ("strength", 18, 10),
    "Laps": ("swimming", 9, 30),
}  # fmt: skip
BOOKED = [
    ("Anna Weiss", "Morning Flow"), ("Anna Weiss", "Iron Hour"), ("Bert Holm", "Laps"),
    ("Bert Holm", "Deep Stretch"), ("Clara Vogt", "Morning Flow"), ("Clara Vogt", "Laps"),
    ("Clara Vogt", "Iron Hour"), ("Dora Senn", "Iron Hour"), ("Anna Weiss", "Deep Stretch"),
]  # fmt: skip
TAUGHT = [
    ("Morning Flow", "Ida Brandt", True), ("Morning Flow", "Sven Ohm", False),
    ("Iron Hour", "Paul Krone", True), ("Iron Hour", "Mara Lutz", False), ("Laps", "Mara Lutz", True),
]  # fmt: skip


def _iri(name: str) -> str:
    return ":" + name.replace(" ", "_")


def _turtle() -> str:
    lines = [_SCHEMA]
    for name, (salary, hired) in TRAINERS.items():
        first, last = name.split()
        lines.append(
            f'{_iri(name)} a :Trainer ; rdfs:label "{name}" ; :first "{first}" ; :last "{last}" ; '
            f':salary {salary} ; :hired "{hired}"^^xsd:date .'
        )
    lines += [
        f'{_iri(n)} a :Member ; rdfs:label "{n}" ; :born "{born}"^^xsd:date ; :joined "{joined}"^^xsd:date .'
        for n, (born, joined) in MEMBERS.items()
    ]
    lines += [
        f'{_iri(n)} a :Course ; rdfs:label "{n}" ; :title "{n}" ; :style "{style}" ; '
        f":price {price} ; :places {places} ."
        for n, (style, price, places) in COURSES.items()
    ]
    lines += [
        f":e{i} a :Enrolment ; :bookedBy {_iri(m)} ; :booked {_iri(c)} ." for i, (m, c) in enumerate(BOOKED)
    ]
    lines += [
        f":t{i} a :CourseTrainer ; :ctCourse {_iri(c)} ; :ctTrainer {_iri(t)} ; :lead {str(lead).lower()} ."
        for i, (c, t, lead) in enumerate(TAUGHT)
    ]
    return "\n".join(lines)


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    path = tmp_path_factory.mktemp("studio") / "studio.ttl"
    path.write_text(_turtle())
    with mrag.connect() as kg:
        kg.load([path])
        yield kg


def _rows(kg: KnowledgeGraph, question: str) -> list[tuple[str, ...]]:
    attempt = compute(kg, question)
    assert attempt.sure, attempt.why
    assert attempt.answer is not None and attempt.answer.computed is not None
    assert mrag.verify(kg, attempt.answer).ok
    return [tuple(cell.label for cell in row) for row in attempt.answer.computed.rows]


def _booked(*styles: str) -> list[tuple[str]]:
    had = {m: {COURSES[c][0] for n, c in BOOKED if n == m} for m in MEMBERS}
    return [(m,) for m in sorted(MEMBERS) if {*styles} <= had[m]]


@pytest.mark.parametrize(
    "question",
    [
        "Which members booked both a yoga and a strength course?",
        "Which members have booked both yoga and strength courses?",
        "members who booked both a yoga course and a strength course",
    ],
)
def test_both_of_two_are_of_records_of_their_own(studio: KnowledgeGraph, question: str) -> None:
    assert sorted(_rows(studio, question)) == _booked("yoga", "strength")


def test_both_named_things(studio: KnowledgeGraph) -> None:
    rows = _rows(studio, "Which members booked both Laps and Iron Hour?")
    assert rows == [("Clara Vogt",)]
    assert {r[-1] for r in _rows(studio, "What is the capacity of both Laps and Iron Hour?")} == {"10", "30"}


@pytest.mark.parametrize(
    "question",
    [
        "Which trainers were hired before 2010 or earn more than 2350?",
        "trainers hired before 2010 or earning over 2350",
        "Trainers who were hired before 2010 or who earn more than 2350",
    ],
)
def test_either_of_two_comparisons(studio: KnowledgeGraph, question: str) -> None:
    expected = [(n,) for n, (s, d) in TRAINERS.items() if s > 2350 or d < "2010"]
    assert sorted(_rows(studio, question)) == sorted(expected)


def test_either_of_two_properties_with_articles(studio: KnowledgeGraph) -> None:
    rows = _rows(studio, "courses with a price above 16 or a capacity below 13")
    assert sorted(rows) == [(n,) for n, (_, p, c) in sorted(COURSES.items()) if p > 16 or c < 13]


_BY_DATE = sorted(TRAINERS, key=lambda n: TRAINERS[n][1])
_JOINED = sorted(MEMBERS, key=lambda n: MEMBERS[n][1], reverse=True)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("members, most recent registration first", _JOINED),
        ("members, latest registration first", _JOINED),
        ("members sorted by registration date, newest first", _JOINED),
        ("trainers, highest salary first", sorted(TRAINERS, key=lambda n: -TRAINERS[n][0])),
        ("Show the two priciest courses, most expensive first", ["Iron Hour", "Deep Stretch"]),
        ("members, oldest first", sorted(MEMBERS, key=lambda n: MEMBERS[n][0])),
    ],
)  # fmt: skip
def test_what_is_first_orders(studio: KnowledgeGraph, question: str, expected: list[str]) -> None:
    assert [row[0] for row in _rows(studio, question)] == expected


def test_properties_of_what_is_ordered(studio: KnowledgeGraph) -> None:
    rows = _rows(studio, "List the first name and the hire date of all trainers, oldest hire date first")
    assert [row[:2] for row in rows] == [(n.split()[0], TRAINERS[n][1]) for n in _BY_DATE]


def test_orders_against_what_is_extreme_are_not_read(studio: KnowledgeGraph) -> None:
    assert not compute(studio, "Which two courses are the most expensive, cheapest first?").sure


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who is the lead trainer of Iron Hour?", ["Paul Krone"]),
        ("In which courses does Mara Lutz have the lead?", ["Laps"]),
    ],
)
def test_who_is_somebody_that_a_record_leads_to(
    studio: KnowledgeGraph, question: str, expected: list[str]
) -> None:
    assert [row[0] for row in _rows(studio, question)] == expected


@pytest.mark.parametrize(
    "question",
    [
        "Name the styles that more than one course has.",
        "Which styles do at least two courses have?",
        "List all styles that more than one course have",
    ],
)
def test_what_more_than_one_thing_has_is_not_the_things(studio: KnowledgeGraph, question: str) -> None:
    assert _rows(studio, question) == [("yoga",)]


def test_a_relation_that_is_walked_twice_is_not_walked_once(studio: KnowledgeGraph) -> None:
    assert not compute(studio, "Who is the trainer of Ida Brandt's trainer?").sure
