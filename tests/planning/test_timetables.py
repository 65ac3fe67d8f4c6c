"""Questions about journeys: idioms, codes, abbreviations, ranges of days, how long something takes, "
"averages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import mrag
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import compute
from mrag.planning.profiling import spelt_out

HEAD = """
@prefix : <http://ferries.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:origin rdfs:label "origin" . :destination rdfs:label "destination" . :operatedBy rdfs:label "operated by" .
:dep rdfs:label "dep_ts" ; rdfs:comment "Scheduled departure." .
:arr rdfs:label "arr_ts" ; rdfs:comment "Scheduled arrival." .
:status rdfs:label "status" ; rdfs:comment "S = on time, D = delayed." .
:delay rdfs:label "delay" ; rdfs:comment "Delay in minutes." .
:att rdfs:label "pax" ; rdfs:comment "Passengers: number of people on board." .
:quay rdfs:label "quay" ; rdfs:comment "Length of the quay in feet." .
:cabin rdfs:label "cabin" ; rdfs:comment "E economy, B business, F family (group)." .
:founded rdfs:label "founded" . :seat rdfs:label "seat" .
:owned rdfs:label "state" ; rdfs:comment "true for lines of the state, false for private lines" .
"""
PORTS = {"Bergen": 900, "Malmo": 1400, "Turku": 700}
LINES = {"Nordferry": (1949, "Oslo"), "Seawolf": (2011, "Kiel"), "Idle Line": (2015, "Ystad")}
SAILINGS = {
    # name: line, from, to, departure, arrival, status, delay, people
    "N1": ("Nordferry", "Bergen", "Malmo", "2024-05-08T10:00:00", "2024-05-08T12:30:00", "S", None, 900),
    "N2": ("Nordferry", "Malmo", "Bergen", "2024-05-12T10:00:00", "2024-05-12T12:00:00", "D", 20, 12000),
    "N3": ("Nordferry", "Bergen", "Turku", "2024-06-20T08:00:00", "2024-06-20T11:20:00", "D", 50, 300),
    "S1": ("Seawolf", "Turku", "Malmo", "2024-05-19T09:00:00", "2024-05-19T10:00:00", "S", None, 150),
}
TICKETS = [("N1", "B", 2), ("N1", "E", 1), ("N2", "E", 0), ("N3", "F", 3)]


def turtle() -> str:
    """Return the ferries."""

    def iri(name: str) -> str:
        return ":" + name.replace(" ", "_")

    lines = [f"{iri(p)} a :Port ; rdfs:label '{p}' ; :quay {feet} ." for p, feet in PORTS.items()]
    for name, (year, seat) in LINES.items():
        state = "true" if year < 2000 else "false"
        lines.append(
            f"{iri(name)} a :Line ; rdfs:label '{name}' ; :founded {year} ; :seat '{seat}' ; :owned {state} ."
        )
    for name, (line, start, end, dep, arr, status, delay, people) in SAILINGS.items():
        late = f" ; :delay {delay}" if delay else ""
        lines.append(
            f":{name} a :Sailing ; rdfs:label '{name}' ; :operatedBy {iri(line)} ; :origin {iri(start)} ; "
            f":destination {iri(end)} ; :dep '{dep}'^^xsd:dateTime ; :arr '{arr}'^^xsd:dateTime ; "
            f":status '{status}' ; :att {people}{late} ."
        )
    for number, (sailing, cabin, bags) in enumerate(TICKETS):
        lines.append(
            f":t{number} a :Ticket ; rdfs:label 'T{number}' ; :sailing :{sailing} ; :cabin '{cabin}' ; "
            f":bags {bags} ."
        )
    return HEAD + "\n".join(lines)


@pytest.fixture(scope="module")
def ferries(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    path: Path = tmp_path_factory.mktemp("ferries") / "ferries.ttl"
    path.write_text(turtle(), encoding="utf-8")
    with mrag.connect("oxigraph:") as kg:
        kg.load([path])
        yield kg


def given(kg: KnowledgeGraph, question: str) -> list[str]:
    attempt = compute(kg, question)
    assert attempt.sure, attempt.why
    assert attempt.answer is not None and attempt.answer.computed is not None
    assert mrag.verify(kg, attempt.answer).ok
    return sorted(" | ".join(cell.label for cell in row) for row in attempt.answer.computed.rows)


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("Which sailings took off from Bergen?", ["N1", "N3"]),
        ("How many sailings set out from Bergen?", ["2"]),
        ("Which lines were set up after 2000?", ["Idle Line", "Seawolf"]),
        ("Which lines do not operate a single sailing?", ["Idle Line"]),
        ("Which port has the most arrivals?", ["Malmo"]),
        ("When was Seawolf founded, and what is its seat?", ["2011 | Kiel"]),
        ("Where is Nordferry's seat?", ["Oslo"]),
    ],
)
def test_verbs_of_two_words_and_plain_idioms(ferries: KnowledgeGraph, question: str, rows: list[str]) -> None:
    assert given(ferries, question) == rows


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("Sailings between 10 and 20 May 2024", ["N2", "S1"]),
        ("Sailings departing between May 10 and 20, 2024", ["N2", "S1"]),
        ("Which sailings departed from May to June 2024?", ["N1", "N2", "N3", "S1"]),
        ("How many sailings were there between 1 and 12 May 2024?", ["2"]),
    ],
)
def test_ends_of_a_range_share_their_month(ferries: KnowledgeGraph, question: str, rows: list[str]) -> None:
    assert given(ferries, question) == rows


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("How many delayed sailings were there?", ["2"]),
        ("Which tickets are business tickets?", ["T0"]),
        ("How many group tickets are there?", ["1"]),
        ("Which sailings had more than 1000 passengers?", ["N2"]),
        ("Which sailing had the most passengers?", ["N2"]),
        ("Which sailings drew more than 500 passengers?", ["N1", "N2"]),
        ("Ports above 800 feet", ["Bergen", "Malmo"]),
        ("Which sailings have a delay over half an hour?", ["N3"]),
    ],
)
def test_comments_tell_what_codes_and_short_names_mean(
    ferries: KnowledgeGraph, question: str, rows: list[str]
) -> None:
    assert given(ferries, question) == rows


@pytest.mark.parametrize(
    ("question", "rows", "told"),
    [
        ("How long does N1 take?", ["150"], "150 minutes"),
        ("How long does N1 take in hours?", ["2.5"], "2.5 hours"),
        ("Which sailing takes the longest?", ["N3"], "N3"),
        ("How long is the longest sailing, in minutes?", ["200"], "200"),
        ("Which sailings take longer than 2.2 hours?", ["N1", "N3"], "N1"),
        ("What is the average duration of the sailings in minutes?", ["132.5"], "132.5 minutes"),
    ],
)
def test_spans_are_told_in_their_unit(
    ferries: KnowledgeGraph, question: str, rows: list[str], told: str
) -> None:
    attempt = compute(ferries, question)
    assert attempt.answer is not None and told in attempt.answer.text
    found = given(ferries, question)
    assert [row.split(" | ")[0] for row in found] == rows


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("How late are the sailings on average?", ["35"]),
        ("How late was N3?", ["50"]),
        ("What is the average number of sailings per line?", ["2"]),
        ("How many sailings does a line operate on average?", ["2"]),
        ("On average, how many tickets does a sailing have?", ["1.3333"]),
        ("What is the average number of bags per ticket?", ["1.5"]),
        ("By how many minutes is the longest delay longer than the shortest one?", ["30"]),
        ("How many days passed between the first and the last sailing?", ["42.9167"]),
    ],
)
def test_averages_and_ranges(ferries: KnowledgeGraph, question: str, rows: list[str]) -> None:
    assert given(ferries, question) == rows


@pytest.mark.parametrize(
    "question",
    [
        "Which sailings have between 10 and May passengers?",
        "How old is the status of N1?",
        "How many sailings does a lighthouse operate on average?",
        "Ports above 800 litres",
        "How many private lines are there?",
        "How many more sailings does Nordferry operate than all other lines together?",
    ],
)
def test_what_cannot_be_is_refused(ferries: KnowledgeGraph, question: str) -> None:
    assert not compute(ferries, question).sure


def test_short_names_are_spelt_out_by_their_comments() -> None:
    told = ("distance nm", "nautical miles sailed")
    assert spelt_out("dist_nm", "Nautical miles sailed on the charter.") == told
    assert spelt_out("lvl", "U = undergraduate") == ("level",)
    assert spelt_out("genre", "Genre") == spelt_out("length", "in minutes") == ()
    assert spelt_out("cap", "Maximum number of participants") == ("maximum number of participants",)
