"""Questions over a graph as encyclopaedias have them: several kinds for a thing, terms without labels."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import mrag
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import compute

TURTLE = """
@prefix o: <http://lives.example/ontology/> . @prefix r: <http://lives.example/resource/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
r:Norland a o:Country, o:Place ; rdfs:label "Norland"@en ; o:populationTotal 9000000 ;
  o:officialLanguage r:Norse ;
  o:capital r:Harn .
r:Sudland a o:Country, o:Place ; rdfs:label "Sudland"@en ; o:populationTotal 4000000 ;
  o:officialLanguage r:Norse ;
  o:capital r:Vell .
r:Ostland a o:Country, o:Place ; rdfs:label "Ostland"@en ; o:populationTotal 500000 ;
  o:officialLanguage r:Ostric ;
  o:capital r:Merk .
r:Norse a o:Language ; rdfs:label "Norse language"@en . r:Ostric a o:Language ;
  rdfs:label "Ostric language"@en .
r:Harn a o:City, o:Place ; rdfs:label "Harn"@en ; o:country r:Norland ; o:populationTotal 1200000 .
r:Vell a o:City, o:Place ; rdfs:label "Vell"@en ; o:country r:Sudland ; o:populationTotal 300000 .
r:Merk a o:City, o:Place ; rdfs:label "Merk"@en ; o:country r:Ostland ; o:populationTotal 90000 .
r:Ada a o:Person, o:Director, o:Actor ; rdfs:label "Ada Holm"@en ; o:birthPlace r:Harn ; o:deathPlace r:Vell ;
  o:birthDate "1920-03-01"^^xsd:date ; o:deathDate "1990-03-01"^^xsd:date ; o:spouse r:Ben .
r:Ben a o:Person, o:Director ; rdfs:label "Ben Rask"@en ; o:birthPlace r:Vell ;
  o:birthDate "1930-06-05"^^xsd:date .
r:Cid a o:Person, o:Actor ; rdfs:label "Cid Vorn"@en ; o:birthPlace r:Harn ; o:deathPlace r:Harn ;
  o:birthDate "1950-01-09"^^xsd:date ; o:deathDate "2001-02-03"^^xsd:date .
r:Dora a o:Person, o:Actor ; rdfs:label "Dora Kell"@en ; o:birthPlace r:Harn ;
  o:birthDate "1970-01-09"^^xsd:date .
r:Edda a o:Person, o:Writer ; rdfs:label "Edda Lund"@en ; o:birthPlace r:Merk ;
  o:birthDate "1901-05-05"^^xsd:date ;
  o:deathDate "1970-05-05"^^xsd:date ; o:deathPlace r:Merk .
r:Fine a o:Publisher ; rdfs:label "Fine Books"@en ; o:foundedBy r:Gert .
r:Old a o:Publisher ; rdfs:label "Old Press"@en ; o:foundedBy r:Hans .
r:Gert a o:Person ; rdfs:label "Gert Moor"@en . r:Hans a o:Person ; rdfs:label "Hans Brink"@en .
r:Tide a o:Film, o:Work ; rdfs:label "Tide"@en ; o:director r:Ben ; o:starring r:Ada, r:Cid .
r:Ebb a o:Film, o:Work ; rdfs:label "Ebb"@en ; o:director r:Ada ; o:starring r:Cid, r:Dora .
r:Surf a o:Film, o:Work ; rdfs:label "Surf"@en ; o:director r:Ben ; o:starring r:Dora .
r:Dunes a o:Book, o:Work ; rdfs:label "Dunes"@en ; o:author r:Edda ; o:publisher r:Fine ;
  o:publicationYear "1931"^^xsd:gYear .
r:Reel a o:Award ; rdfs:label "Golden Reel"@en . r:Tide o:award r:Reel .
r:Shoot a o:Production ; rdfs:label "Shooting of Tide"@en ; o:tookPlaceAt r:Merk .
r:Tide o:wasProducedBy r:Shoot .
r:Ada o:gender "F" . r:Dora o:gender "F" . r:Edda o:gender "F" . r:Ben o:gender "M" . r:Cid o:gender "M" .
r:Tide o:writtenBy r:Edda . r:Surf o:writtenBy r:Edda . r:Ebb o:writtenBy r:Ben .
r:Uni a o:University ; rdfs:label "Harn University"@en . r:Edda o:almaMater r:Uni .
r:Mill a o:Building ; rdfs:label "Red Mill"@en ; o:architect r:Gert ; o:location r:Vell .
r:Reeds a o:Book, o:Work ; rdfs:label "Reeds"@en ; o:author r:Edda ; o:publisher r:Old ;
  o:publicationYear "1940"^^xsd:gYear .
"""


@pytest.fixture(scope="module")
def kg(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    path: Path = tmp_path_factory.mktemp("lives") / "lives.ttl"
    path.write_text(TURTLE, encoding="utf-8")
    with mrag.connect("oxigraph:") as graph:
        graph.load([path])
        yield graph


def told(kg: KnowledgeGraph, question: str) -> set[str] | None:
    """Return what a given answer shows in its first column; None where none is given."""
    attempt = compute(kg, question)
    if not attempt.sure or attempt.answer is None or attempt.answer.computed is None:
        return None
    return {row[0].label for row in attempt.answer.computed.rows}


def text(kg: KnowledgeGraph, question: str) -> str:
    answer = compute(kg, question).answer
    assert answer is not None
    return answer.text


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("When did Ada Holm die?", {"1990-03-01"}),
        ("When was Ada Holm born?", {"1920-03-01"}),
        ("Where did Ada Holm die?", {"Vell"}),
        ("Where was Ada Holm born?", {"Harn"}),
        ("Where was Tide produced?", {"Merk"}),
        ("Which actors died before 1995?", {"Ada Holm"}),
        ("Who was born before 1925?", {"Ada Holm", "Edda Lund"}),
        ("Who died in Harn?", {"Cid Vorn"}),
        ("Which people died in 2001?", {"Cid Vorn"}),
        ("Who was born in Harn and died in Vell?", {"Ada Holm"}),
        ("Who is the youngest living person?", {"Dora Kell"}),
        ("women born before 1930", {"Ada Holm", "Edda Lund"}),
        ("actors born after 1940", {"Cid Vorn", "Dora Kell"}),
        ("Who is the oldest living actor?", {"Dora Kell"}),
        ("When was Dunes written?", {"1931"}),
        ("When was Reeds published?", {"1940"}),
    ],
)
def test_births_and_deaths_are_told_apart(kg: KnowledgeGraph, question: str, answer: set[str]) -> None:
    assert told(kg, question) == answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who was born in Norland?", {"Ada Holm", "Cid Vorn", "Dora Kell"}),
        ("Which actors were born in Norland?", {"Ada Holm", "Cid Vorn", "Dora Kell"}),
        ("Which directors were born in Sudland?", {"Ben Rask"}),
        ("Who died in Sudland?", {"Ada Holm"}),
        ("How many people were born in Norland?", {"3"}),
        ("Which buildings are in Sudland?", {"Red Mill"}),
        ("Who was born in Harn?", {"Ada Holm", "Cid Vorn", "Dora Kell"}),
    ],
)
def test_a_country_has_what_its_cities_have(kg: KnowledgeGraph, question: str, answer: set[str]) -> None:
    """Countries are places, too, but nobody is said to be born in one."""
    assert told(kg, question) == answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who designed the Red Mill?", {"Gert Moor"}),
        ("Which writers studied at Harn University?", {"Edda Lund"}),
        ("Who wrote Reeds?", {"Edda Lund"}),
        ("Which films won a Golden Reel?", {"Tide"}),
        ("Who directed the film that won the Golden Reel?", {"Ben Rask"}),
    ],
)
def test_what_people_do_is_called_otherwise(kg: KnowledgeGraph, question: str, answer: set[str]) -> None:
    assert told(kg, question) == answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is the population of Harn?", {"1200000"}),
        ("How many people live in Vell?", {"300000"}),
        ("How many inhabitants does Norland have?", {"9000000"}),
        ("Which country has the most inhabitants?", {"Norland"}),
        ("Which cities have more than a million inhabitants?", {"Harn"}),
        ("cities with a population over 1 million", {"Harn"}),
        ("Which countries have a population of less than a million?", {"Ostland"}),
    ],
)
def test_a_total_is_called_by_what_it_is_the_total_of(
    kg: KnowledgeGraph, question: str, answer: set[str]
) -> None:
    assert told(kg, question) == answer


def test_a_number_of_inhabitants_is_called_a_population(kg: KnowledgeGraph) -> None:
    assert "The population is 300000" in text(kg, "How many people live in Vell?")


def test_an_age_is_told_in_years(kg: KnowledgeGraph) -> None:
    for question in ("How old was Ada Holm when she died?", "At what age did Ada Holm die?"):
        assert "70 years" in text(kg, question), question


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which directors are also actors?", {"Ada Holm"}),
        ("Which actors are directors?", {"Ada Holm"}),
        ("People who are both directors and actors", {"Ada Holm"}),
        ("Which people are writers?", {"Edda Lund"}),
        ("How many actors are also directors?", {"1"}),
        ("Which films are by directors who are also actors?", {"Ebb"}),
        ("In which city is the director of Tide born?", {"Vell"}),
    ],
)
def test_things_of_several_kinds(kg: KnowledgeGraph, question: str, answer: set[str]) -> None:
    assert told(kg, question) == answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Films directed by Ben Rask and starring Cid Vorn", {"Tide"}),
        ("Films starring Cid Vorn directed by Ada Holm", {"Ebb"}),
        ("Films with Dora Kell directed by Ada Holm", {"Ebb"}),
        ("Which films directed by Ben Rask star Dora Kell?", {"Surf"}),
        ("Which films star Ada Holm?", {"Tide"}),
        ("Books written by Edda Lund and published by Old Press", {"Reeds"}),
        ("Which books published by Fine Books were written by Edda Lund?", {"Dunes"}),
        ("Books by Edda Lund published by Fine Books", {"Dunes"}),
        ("Films written by Edda Lund and directed by Ben Rask", {"Tide", "Surf"}),
        ("Films written by Ben Rask and directed by Ada Holm", {"Ebb"}),
    ],
)
def test_each_name_is_related_by_the_words_before_it(
    kg: KnowledgeGraph, question: str, answer: set[str]
) -> None:
    assert told(kg, question) == answer


@pytest.mark.parametrize("question", ["In which countries is Norse spoken?", "Which countries speak Norse?"])
def test_languages_are_spoken(kg: KnowledgeGraph, question: str) -> None:
    assert told(kg, question) == {"Norland", "Sudland"}


@pytest.mark.parametrize(
    "question",
    [
        "Where did Ben Rask die?",
        "Where is Norse spoken?",
        "When did Dora Kell die?",
        "Who is the tallest actor?",
    ],
)
def test_what_is_not_told_is_not_made_up(kg: KnowledgeGraph, question: str) -> None:
    assert not told(kg, question)
