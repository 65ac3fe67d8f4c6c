"""Extracts of Wikidata, whose types and labels of properties follow from `ontology/wikidata.ttl`."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import as_file, files
from pathlib import Path

import pytest

import mrag
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import compute

PROPERTIES = {
    "P31": "instance of", "P57": "director", "P161": "cast member", "P577": "publication date",
    "P136": "genre", "P19": "place of birth", "P569": "date of birth", "P17": "country",
    "P1082": "population", "P2047": "duration", "P279": "subclass of",
}  # fmt: skip
KINDS = {
    "film": "Q11424",
    "human": "Q5",
    "country": "Q6256",
    "city": "Q515",
    "genre": "Q483394",
    "horror film": "Q7",
}
THINGS = """
Q1 Harvest|film|P57 wd:Q10|P161 wd:Q12|P577 "2010-07-16T00:00:00Z"^^xsd:dateTime|P136 wd:Q40|P2047 148
Q2 Undertow|film|P57 wd:Q10|P161 wd:Q14|P577 "2017-07-21T00:00:00Z"^^xsd:dateTime|P136 wd:Q41|P2047 106
Q3 Cellar|horror film|P57 wd:Q11|P161 wd:Q12|P577 "2020-08-26T00:00:00Z"^^xsd:dateTime|P136 wd:Q41|P2047 90
Q10 Ines Brandt|human|P19 wd:Q30|P569 "1970-07-30T00:00:00Z"^^xsd:dateTime
Q11 Omar Salas|human|P19 wd:Q31|P569 "1967-10-03T00:00:00Z"^^xsd:dateTime
Q12 Lia Fenn|human|P19 wd:Q30|P569 "1974-11-11T00:00:00Z"^^xsd:dateTime
Q14 Tom Ruhl|human|P19 wd:Q31|P569 "1977-09-15T00:00:00Z"^^xsd:dateTime
Q20 Brava|country
Q30 Arden|city|P17 wd:Q20|P1082 8900000
Q31 Lund|city|P17 wd:Q20|P1082 90000
Q40 drama|genre
Q41 thriller|genre
"""


def extract() -> str:
    """Return an extract as the query service constructs it."""
    lines = [
        "@prefix wd: <http://www.wikidata.org/entity/> .",
        "@prefix wdt: <http://www.wikidata.org/prop/direct/> .",
        "@prefix wikibase: <http://wikiba.se/ontology#> .",
        "@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .",
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .",
        "wd:Q7 wdt:P279 wd:Q11424 .",
    ]
    for number, label in PROPERTIES.items():
        lines.append(f'wd:{number} wikibase:directClaim wdt:{number} ; rdfs:label "{label}"@en .')
    lines += [f'wd:{number} rdfs:label "{label}"@en .' for label, number in KINDS.items()]
    for line in THINGS.strip().splitlines():
        named, kind, *said = line.split("|")
        number, _, label = named.partition(" ")
        lines.append(f'wd:{number} rdfs:label "{label}"@en ; wdt:P31 wd:{KINDS[kind]} .')
        lines += [f"wd:{number} wdt:{one} ." for one in said]
    return "\n".join(lines)


@pytest.fixture(scope="module")
def kg(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    path: Path = tmp_path_factory.mktemp("wikidata") / "extract.ttl"
    path.write_text(extract(), encoding="utf-8")
    with as_file(files("mrag") / "ontology" / "wikidata.ttl") as axioms, mrag.connect("oxigraph:") as graph:
        graph.load([path, axioms])
        graph.reason()
        yield graph


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who directed Harvest?", {"Ines Brandt"}),
        ("Which films did Ines Brandt direct?", {"Harvest", "Undertow"}),
        ("How many films are there?", {"3"}),
        ("Which film is the longest?", {"Harvest"}),
        ("Which films were released after 2015?", {"Undertow", "Cellar"}),
        ("Who was born in Arden?", {"Ines Brandt", "Lia Fenn"}),
        ("Where was Tom Ruhl born?", {"Lund"}),
        ("Which horror films are there?", {"Cellar"}),
        ("Which thriller films are there?", {"Undertow", "Cellar"}),
        ("What is the population of Arden?", {"8900000"}),
        ("Which city has the largest population?", {"Arden"}),
        ("Who is the youngest person?", {"Tom Ruhl"}),
        ("Who was born in Brava?", {"Ines Brandt", "Lia Fenn", "Omar Salas", "Tom Ruhl"}),
    ],
)
def test_an_extract_of_wikidata_is_asked(kg: KnowledgeGraph, question: str, answer: set[str]) -> None:
    attempt = compute(kg, question)
    assert attempt.sure, attempt.why
    assert attempt.answer is not None and attempt.answer.computed is not None
    assert {row[0].label for row in attempt.answer.computed.rows} == answer
    assert mrag.verify(kg, attempt.answer).ok


def test_that_something_is_a_film_is_marked_as_inferred(kg: KnowledgeGraph) -> None:
    answer = compute(kg, "How many horror films are there?").answer
    assert answer is not None
    assert any(citation.inferred for citation in answer.citations)
