"""Graphs modelled natively: numbers with units, hierarchies, relations between things of one kind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import mrag
from mrag.graph.kg import KnowledgeGraph
from mrag.planning import plan_from_json, plan_to_json
from mrag.planning.answering import compute

HEAD = """
@prefix : <http://pots.example/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix schema: <https://schema.org/> .
:Piece rdfs:label "piece of pottery" ; rdfs:subClassOf schema:CreativeWork .
:Vase rdfs:label "vase" ; rdfs:subClassOf :Piece .
:Bowl rdfs:label "bowl" ; rdfs:subClassOf :Piece .
:Potter rdfs:label "potter" ; rdfs:subClassOf foaf:Person .
:Place rdfs:label "place" .
:County rdfs:label "county" ; rdfs:subClassOf :Place .
:Town rdfs:label "town" ; rdfs:subClassOf :Place .
:MarketTown rdfs:label "market town" ; rdfs:subClassOf :Town .
:Stream rdfs:label "stream" ; rdfs:subClassOf :Place .
:Shelf rdfs:label "shelf" .
:apprenticeOf rdfs:label "apprentice of" .
:insured rdfs:label "insured value" .
:shownOn rdfs:label "displayed on" .
:madeBy rdfs:label "made by" .
:county rdfs:label "located in" .
:flowsThrough rdfs:label "flows through" .
:borders rdfs:label "borders" .
:bornOn rdfs:label "birth date" .
:diedOn rdfs:label "death date" .
:pop rdfs:label "population" .
:area rdfs:label "area" .
:depth rdfs:label "depth" .
:length rdfs:label "length" .
"""
POTTERS = {  # born, died, whose apprentice
    "Ada Brook": ("1850-03-01", "1911-05-05", ""),
    "Carl Dunn": ("1875-07-09", "1940-01-02", "Ada Brook"),
    "Eva Frost": ("1902-11-11", "", "Carl Dunn"),
    "Gil Hart": ("1898-02-03", "1970-06-06", "Carl Dunn"),
    "Ida Jones": ("1960-12-24", "", "Eva Frost"),
}
PIECES = {  # class, potter, insured value, shelf
    "Blue Moon": ("Vase", "Ada Brook", 900, "Shelf A"),
    "Red Dawn": ("Bowl", "Carl Dunn", 300, "Shelf A"),
    "Still Pond": ("Bowl", "Carl Dunn", 1200, ""),
    "Grey Sky": ("Vase", "Eva Frost", 500, "Shelf B"),
    "Night Owl": ("Bowl", "Gil Hart", 700, "Shelf B"),
    "Sun Dial": ("Vase", "Gil Hart", 250, ""),
}
TOWNS = {  # class, county, population
    "Ashby": ("MarketTown", "Northam", 9000),
    "Birk": ("Town", "Northam", 4000),
    "Colne": ("Town", "Southam", 2500),
    "New Colne": ("MarketTown", "Westam", 1500),
}
COUNTIES = {"Northam": (20000, 400.0), "Southam": (30000, 250.0), "Westam": (5000, 500.0)}
STREAMS = {"Lark": (40, 3, ["Northam", "Southam"]), "Wren": (25, 7, ["Northam"]), "Rook": (90, 2, ["Westam"])}
STREAMS |= {"Swift": (60, 5, ["Southam", "Westam"])}

ANSWERED = [
    # Numbers that stand in a thing of their own.
    ("What is the insured value of Blue Moon?", ["900"]),
    ("Which piece has the highest insured value?", ["Still Pond"]),
    ("What is the total insured value of the bowls?", ["2200"]),
    ("Which vases have an insured value above 400?", ["Blue Moon", "Grey Sky"]),
    ("How much is Red Dawn worth?", ["300"]),
    # The head of the name of a kind.
    ("How many pieces are there?", ["6"]),
    ("Which pieces are by Gil Hart?", ["Night Owl", "Sun Dial"]),
    ("Potters with two or more pieces", ["Carl Dunn", "Gil Hart"]),
    # What is left out of its own kind.
    ("Other than Ashby, which towns are in Northam?", ["Birk"]),
    ("Besides Red Dawn, which bowls are there?", ["Night Owl", "Still Pond"]),
    ("Which towns in Northam are there apart from Ashby?", ["Birk"]),
    # A named thing has only what things of its own kind have.
    ("Which streams flow through both Northam and Southam?", ["Lark"]),
    # Ends of a relation between things of one kind.
    ("Who are the apprentices of Carl Dunn?", ["Eva Frost", "Gil Hart"]),
    ("Who was the master of Eva Frost?", ["Carl Dunn"]),
    ("Who was the master of the master of Eva Frost?", ["Ada Brook"]),
    ("Which bowls are by apprentices of Carl Dunn?", ["Night Owl"]),
    ("Which potters were apprentices of Carl Dunn?", ["Eva Frost", "Gil Hart"]),
    ("Was Gil Hart an apprentice of Carl Dunn?", ["yes"]),
    ("Was Carl Dunn an apprentice of Gil Hart?", ["no"]),
    # Two denials.
    ("Which streams flow through neither Northam nor Southam?", ["Rook"]),
    ("Which streams do not flow through Northam or Southam?", ["Rook"]),
    ("Which potters made neither vases nor bowls?", ["Ida Jones"]),
    ("Which towns lie neither in Northam nor in Westam?", ["Colne"]),
    # Who is alive.
    ("Which potters are still alive?", ["Eva Frost", "Ida Jones"]),
    ("Which potters are no longer alive?", ["Ada Brook", "Carl Dunn", "Gil Hart"]),
    ("living potters", ["Eva Frost", "Ida Jones"]),
    # Averages and densities.
    ("Which counties have a larger area than the average county?", ["Northam", "Westam"]),
    ("streams longer than the average stream", ["Rook", "Swift"]),
    ("Which is the most densely populated county?", ["Southam"]),
    ("How many streams flow through the most thinly populated county?", ["2"]),
    # Values beside names.
    ("List all towns in Northam with their population.", ["Ashby", "Birk"]),
    ("Towns in Northam or Westam and their population", ["Ashby", "Birk", "New Colne"]),
    ("potters with their birth dates, oldest first", [*POTTERS]),
    # Ranks and two that are compared.
    ("Name the second to third longest streams", ["Lark", "Swift"]),
    ("Which of the two is deeper, the Lark or the Wren?", ["Wren"]),
    ("Which is longer, the Lark or the Wren?", ["Lark"]),
    ("Who is older, Gil Hart or Eva Frost?", ["Gil Hart"]),
    # What is done by whomever, shares of places, quotations.
    ("Which pieces are on display?", ["Blue Moon", "Grey Sky", "Night Owl", "Red Dawn"]),
    ("What share of the population of Northam lives in Ashby?", ["0.45"]),
    ('Which towns have "Colne" in their name?', ["Colne", "New Colne"]),
    ("How many bowls are there in the collection?", ["3"]),
    ("What are the towns in Northam, and what is their population?", ["Ashby", "Birk"]),
]  # fmt: skip
REFUSED = [
    "Which potters have not been praised?",
    "Which streams over 30 km have not been navigated?",
    "What is the weight of Blue Moon?",
    "Who was the master of Otto Kern?",
    "Which pieces are by apprentices of Otto Kern?",
    "Besides Otto, which bowls are the heaviest?",
    "Which potters are neither tall nor rich?",
    "Which streams does Ashby flow through?",
    "Where is Eva Frost living?",
    "living",
]


def turtle() -> str:
    """Return the graph."""

    def iri(name: str) -> str:
        return ":" + name.replace(" ", "_")

    lines = [f"{iri(n)} a :Shelf ; schema:name '{n}'@en ." for n in ("Shelf A", "Shelf B", "Shelf C")]
    for n, (born, died, master) in POTTERS.items():
        more = f" ; :diedOn '{died}'^^xsd:date" * bool(died)
        more += f" ; :apprenticeOf {iri(master)}" * bool(master)
        lines.append(f"{iri(n)} a :Potter ; foaf:name '{n}' ; :bornOn '{born}'^^xsd:date{more} .")
    for n, (kind, who, value, shelf) in PIECES.items():
        held = f"[ a schema:MonetaryAmount ; schema:value {value} ; schema:currency 'EUR' ]"
        more = f" ; :shownOn {iri(shelf)}" * bool(shelf)
        lines.append(
            f"{iri(n)} a :{kind} ; schema:name '{n}'@en ; :madeBy {iri(who)} ; :insured {held}{more} ."
        )
    for n, (people, area) in COUNTIES.items():
        lines.append(f"{iri(n)} a :County ; rdfs:label '{n}'@en ; :pop {people} ; :area {area} .")
    for n, (kind, county, people) in TOWNS.items():
        lines.append(f"{iri(n)} a :{kind} ; rdfs:label '{n}'@en ; :county {iri(county)} ; :pop {people} .")
    for n, (length, depth, through) in STREAMS.items():
        ends = " , ".join(map(iri, through))
        said = f":length {length} ; :depth {depth} ; :flowsThrough {ends}"
        lines.append(f"{iri(n)} a :Stream ; rdfs:label '{n}'@en ; {said} .")
    return HEAD + "\n".join(lines)


@pytest.fixture(scope="module")
def kg(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    path = tmp_path_factory.mktemp("native") / "pots.ttl"
    path.write_text(turtle(), encoding="utf-8")
    with mrag.connect("oxigraph:") as found:
        found.load([path])
        yield found


@pytest.mark.parametrize(("question", "rows"), ANSWERED)
def test_questions_are_answered(kg: KnowledgeGraph, question: str, rows: list[str]) -> None:
    attempt = compute(kg, question)
    assert attempt.answer is not None and attempt.answer.computed is not None, attempt.why
    computed = attempt.answer.computed
    assert sorted(row[0].label for row in computed.rows) == sorted(rows), computed.reading
    assert attempt.sure, attempt.why
    assert mrag.verify(kg, attempt.answer).ok
    assert plan_to_json(plan_from_json(computed.plan)) == computed.plan


@pytest.mark.parametrize("question", REFUSED)
def test_what_is_not_understood_is_refused(kg: KnowledgeGraph, question: str) -> None:
    attempt = compute(kg, question)
    assert not attempt.sure, attempt.answer


def test_rows_are_in_the_order_that_is_asked_for(kg: KnowledgeGraph) -> None:
    answer = compute(kg, "potters with their birth dates, oldest first").answer
    assert answer is not None and answer.computed is not None
    born = sorted(POTTERS, key=lambda n: POTTERS[n][0])
    assert [row[0].label for row in answer.computed.rows] == born
