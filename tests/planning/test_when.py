"""Questions of when something was, over a library whose loans have two dates."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import mrag
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import compute

TURTLE = """
@prefix : <http://library.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:Book a owl:Class ; rdfs:label "book" . :Author a owl:Class ; rdfs:label "author" .
:Loan a owl:Class ; rdfs:label "loan" . :Member a owl:Class ; rdfs:label "member" .
:writtenBy rdfs:label "written by" . :pages rdfs:label "number of pages" .
:published rdfs:label "publication date" . :born rdfs:label "date of birth" .
:book rdfs:label "borrowed book" . :member rdfs:label "borrower" .
:out rdfs:label "loan date" . :back rdfs:label "return date" .
:b1 a :Book ; rdfs:label "Quiet Harbour" ; :writtenBy :a1 ; :pages 320 ; :published "2001-04-05"^^xsd:date .
:b2 a :Book ; rdfs:label "Salt and Iron" ; :writtenBy :a2 ; :pages 510 ; :published "2010-09-01"^^xsd:date .
:b3 a :Book ; rdfs:label "Night Ferry" ; :writtenBy :a2 ; :pages 275 ; :published "1998-01-15"^^xsd:date .
:a1 a :Author ; rdfs:label "Mara Olsen" ; :born "1970-02-02"^^xsd:date .
:a2 a :Author ; rdfs:label "Ivo Petrov" ; :born "1965-07-12"^^xsd:date .
:m1 a :Member ; rdfs:label "Tom Hale" . :m2 a :Member ; rdfs:label "Ana Ruiz" .
:l1 a :Loan ; :book :b1 ; :member :m1 ; :out "2024-01-03"^^xsd:date ; :back "2024-01-20"^^xsd:date .
:l2 a :Loan ; :book :b2 ; :member :m1 ; :out "2024-02-03"^^xsd:date .
:l3 a :Loan ; :book :b1 ; :member :m2 ; :out "2024-03-01"^^xsd:date ; :back "2024-04-05"^^xsd:date .
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    path: Path = tmp_path_factory.mktemp("library") / "library.ttl"
    path.write_text(TURTLE, encoding="utf-8")
    with mrag.connect("oxigraph:") as kg:
        kg.load([path])
        yield kg


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        # The date of the deed, not of its end, and not the day on which an author was born.
        ("When did Tom Hale borrow Salt and Iron?", "2024-02-03"),
        ("When was Quiet Harbour borrowed by Ana Ruiz?", "2024-03-01"),
        ("When did Tom Hale return Quiet Harbour?", "2024-01-20"),
        # The date of what is the first or the most, not that thing.
        ("When was the oldest book published?", "1998-01-15"),
        ("When was the longest book published?", "2010-09-01"),
        ("When was the first book published?", "1998-01-15"),
        ("When was the oldest author born?", "1965-07-12"),
        ("When was Night Ferry published?", "1998-01-15"),
    ],
)
def test_when_something_was(library: KnowledgeGraph, question: str, expected: str) -> None:
    attempt = compute(library, question, seconds=300)
    assert attempt.answer is not None and attempt.answer.computed is not None, attempt.why
    assert [cell.label for row in attempt.answer.computed.rows for cell in row] == [expected]
    assert mrag.verify(library, attempt.answer).ok


def test_what_happened_in_a_year_began_in_it(library: KnowledgeGraph) -> None:
    attempt = compute(library, "How many loans were there in March 2024?", seconds=300)
    assert attempt.answer is not None and attempt.answer.computed is not None
    assert "loan date" in attempt.answer.computed.reading and attempt.answer.text.startswith("1 loan")


STAYS = """
@prefix : <http://inn.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:Stay a owl:Class ; rdfs:label "stay" . :code rdfs:label "code" . :booked rdfs:label "booked at" .
:arrivalDate rdfs:label "arrival date" . :departureDate rdfs:label "departure date" .
:s1 a :Stay ; rdfs:label "Rook" ; :code "+49-1" ; :booked "2023-01-02T11:59:00"^^xsd:dateTime ;
  :arrivalDate "2023-03-06"^^xsd:date ; :departureDate "2023-03-09"^^xsd:date .
:s2 a :Stay ; rdfs:label "Jay" ; :code "149-2" ; :booked "2023-01-03T18:30:00"^^xsd:dateTime ;
  :arrivalDate "2023-05-02"^^xsd:date ; :departureDate "2023-05-12"^^xsd:date .
"""


@pytest.fixture(scope="module")
def inn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    path: Path = tmp_path_factory.mktemp("inn") / "inn.ttl"
    path.write_text(STAYS, encoding="utf-8")
    with mrag.connect("oxigraph:") as kg:
        kg.load([path])
        yield kg


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which stays were booked before noon?", ["Rook"]),
        ("Which stays were booked between 6 pm and 7 pm?", ["Jay"]),
        ("Which stays began on a Monday?", ["Rook"]),
        # Guests arrive before they depart, whatever flights do.
        ("Which stay was the longest?", ["Jay"]),
        ("How many days did Rook last?", ["3"]),
        ("Which stays have a code that starts with +49?", ["Rook"]),
    ],
)
def test_times_of_day_and_which_date_comes_first(
    inn: KnowledgeGraph, question: str, expected: list[str]
) -> None:
    attempt = compute(inn, question, seconds=300)
    assert attempt.sure, attempt.why
    assert attempt.answer is not None and attempt.answer.computed is not None
    assert [row[0].label for row in attempt.answer.computed.rows] == expected
