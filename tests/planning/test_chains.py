"""Questions over things without classes, as chains of relations."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from rdflib import RDFS, Literal, URIRef

import mrag
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import compute, reader_of
from mrag.planning.reader.chains import has_no_classes
from mrag.rdf.terms import Triple
from mrag.stores.oxigraph import OxigraphStore

SONGS = {
    "Low Tide": ("Ida Rask", "Per Hult", "folk"),
    "High Noon": ("Ida Rask", "Mia Sand", "blues"),
    "Red Sea": ("Jon Berg", "Mia Sand", "folk"),
    "Grey Sky": ("Jon Berg", "Per Hult", "jazz"),
    "Old Mill": ("Liv Dahl", "Ida Rask", "jazz"),
}
RELATIONS = ("composed_by", "performed_by", "has_genre")

ANSWERS = [
    ("who composed Low Tide", ["Ida Rask"]),
    ("what is the genre of Grey Sky", ["jazz"]),
    ("which songs did Ida Rask compose", ["High Noon", "Low Tide"]),
    ("Jon Berg composed which songs", ["Grey Sky", "Red Sea"]),
    ("who performed the songs composed by Jon Berg", ["Mia Sand", "Per Hult"]),
    ("what genres are the songs composed by Ida Rask in", ["blues", "folk"]),
    ("which songs share composers with Low Tide", ["High Noon"]),
    ("what are the genres of the songs composed by the composer of Red Sea", ["jazz"]),
    ("who performed songs that share genres with Grey Sky", ["Ida Rask"]),
    ("how many songs did Mia Sand perform", ["2"]),
]


@pytest.fixture(scope="module")
def kg() -> Iterator[KnowledgeGraph]:
    def thing(name: str) -> URIRef:
        return URIRef(f"http://example.org/{name.replace(' ', '_')}")

    triples = []
    for song, values in SONGS.items():
        for name, value in zip(RELATIONS, values, strict=True):
            triples.append(Triple(thing(song), thing(name), thing(value)))
    for name in {*SONGS, *(v for values in SONGS.values() for v in values)}:
        triples.append(Triple(thing(name), RDFS.label, Literal(name)))
    for name in RELATIONS:
        triples.append(Triple(thing(name), RDFS.label, Literal(name.replace("_", " "))))
    with KnowledgeGraph(OxigraphStore()) as found:
        found.insert(triples)
        yield found


@pytest.mark.parametrize(("question", "rows"), ANSWERS, ids=[question for question, _ in ANSWERS])
def test_a_chain_is_walked_from_the_name(kg: KnowledgeGraph, question: str, rows: list[str]) -> None:
    attempt = compute(kg, question)
    assert attempt.answer is not None and attempt.answer.computed is not None, attempt.why
    assert sorted(row[0].label for row in attempt.answer.computed.rows) == rows, (
        attempt.answer.computed.reading
    )
    assert attempt.sure, attempt.why
    assert mrag.verify(kg, attempt.answer).ok


def test_a_relation_that_the_graph_lacks_is_not_guessed(kg: KnowledgeGraph) -> None:
    assert not compute(kg, "who produced Low Tide").sure


def test_classes_make_chains_needless() -> None:
    with mrag.demo(model="none") as demo:
        assert not has_no_classes(reader_of(demo).schema)
