"""Names that differ in a sign, in case or in diacritics are told apart, in questions and in search."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import RDFS, Literal, URIRef

import mrag
from mrag.index.similarity import SimilarityIndexes
from mrag.language.names import Likeness, likeness
from mrag.language.tokens import tokens
from mrag.planning.answering import compute
from mrag.planning.lexicon import lexicon_of
from mrag.rdf.terms import RDF, Triple

NAMES = """
@prefix ex: <http://ex.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
ex:Lang a rdfs:Class ; rdfs:label "language" . ex:Part a rdfs:Class ; rdfs:label "part" .
ex:Bl a rdfs:Class ; rdfs:label "blood group" . ex:Town a rdfs:Class ; rdfs:label "town" .
ex:c1 a ex:Lang ; rdfs:label "C++" ; ex:founder "Stroustrup" .
ex:c2 a ex:Lang ; rdfs:label "C#" ; ex:founder "Hejlsberg" .
ex:c3 a ex:Lang ; rdfs:label "C" ; ex:founder "Ritchie" .
ex:b1 a ex:Bl ; rdfs:label "A+" ; ex:share 34 . ex:b2 a ex:Bl ; rdfs:label "A-" ; ex:share 6 .
ex:p1 a ex:Part ; rdfs:label "X-100" ; ex:price 5 . ex:p2 a ex:Part ; rdfs:label "X100" ; ex:price 6 .
ex:p3 a ex:Part ; rdfs:label "X-100/2" ; ex:price 7 . ex:p4 a ex:Part ; rdfs:label "X 100+" ; ex:price 8 .
ex:z1 a ex:Part ; rdfs:label "a{b}" ; ex:price 21 . ex:z2 a ex:Part ; rdfs:label "a[b]" ; ex:price 22 .
ex:y1 a ex:Part ; rdfs:label "Zap!" ; ex:price 31 . ex:y2 a ex:Part ; rdfs:label "Zap" ; ex:price 32 .
ex:t1 a ex:Town ; rdfs:label "Müle" ; ex:area 41 . ex:t2 a ex:Town ; rdfs:label "Mule" ; ex:area 42 .
ex:t3 a ex:Town ; rdfs:label "GÖR" ; ex:area 43 . ex:t4 a ex:Town ; rdfs:label "Gör" ; ex:area 44 .
"""
ASKED = {
    "What is the share of A-?": ["6"],
    "What is the share of A+?": ["34"],
    "What is the share of a-": ["6"],
    "Who is the founder of C#?": ["Hejlsberg"],
    "Who is the founder of C++?": ["Stroustrup"],
    "Who is the founder of C?": ["Ritchie"],
    "Who is the founder of “C#”?": ["Hejlsberg"],
    "price of X100": ["6"],
    "price of X-100": ["5"],
    "price of x 100+": ["8"],
    "price of X-100/2": ["7"],
    "price of a[b]": ["22"],
    "price of a{b}": ["21"],
    "price of Zap!": ["31"],
    "What is the price of Zap?": ["32"],
    "What is the area of Müle?": ["41"],
    "What is the area of mule?": ["42"],
    "What is the area of Gör?": ["44"],
    "What is the area of GÖR?": ["43"],
    # Where several are as like as each other, all are shown.
    "What is the share of A?": ["34", "6"],
    "Who is the founder of C-?": ["Hejlsberg", "Ritchie", "Stroustrup"],
    "What is the area of gor?": ["43", "44"],
}


@pytest.fixture(scope="module")
def kg(tmp_path_factory: pytest.TempPathFactory) -> Iterator[mrag.KnowledgeGraph]:
    path: Path = tmp_path_factory.mktemp("names") / "names.ttl"
    path.write_text(NAMES)
    with mrag.connect() as kg:
        kg.load([path])
        SimilarityIndexes.of(kg).build("main")
        yield kg


@pytest.mark.parametrize("question", ASKED)
def test_the_name_that_was_said_is_asked_for(kg: mrag.KnowledgeGraph, question: str) -> None:
    answer = compute(kg, question).answer
    assert answer is not None and answer.computed is not None
    assert sorted(row[-1].label for row in answer.computed.rows) == sorted(ASKED[question])


@pytest.mark.parametrize("ranker", ["bm25", "dense", "hybrid"])
def test_what_is_called_so_is_found_first(kg: mrag.KnowledgeGraph, ranker: str) -> None:
    for name in (
        "C",
        "C#",
        "C++",
        "A-",
        "A+",
        "X100",
        "X-100",
        "X 100+",
        "a[b]",
        "a{b}",
        "Zap!",
        "Mule",
        "GÖR",
    ):
        hits = mrag.ranker(ranker, kg).rank(mrag.Question(name), 3)
        assert kg.labels([hits[0].iri])[hits[0].iri] == name
        assert [hit.rank for hit in hits] == [1, 2, 3][: len(hits)]
        assert sorted(hits, key=lambda hit: (-hit.score, hit.iri)) == hits


signs = st.sampled_from(["", "+", "-", "#", "*", "++", "/", "_", "&", "°", "'", "!", "[x]", "{x}", "~"])
words = st.sampled_from(["q", "Q", "kx", "Kx", "zör", "zor", "nå", "n7", "7n", "vv w"])


@given(st.sets(st.tuples(words, signs).map("".join), min_size=2, max_size=8))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_each_of_many_names_finds_itself(names: set[str]) -> None:
    kind = URIRef("urn:x:Gadget")
    with mrag.connect() as kg:
        kg.insert(
            triple
            for at, name in enumerate(sorted(names))
            for triple in (
                Triple(URIRef(f"urn:x:{at}"), URIRef(RDF + "type"), kind),
                Triple(URIRef(f"urn:x:{at}"), RDFS.label, Literal(name)),
            )
        )
        lexicon = lexicon_of(kg, None)
        for at, name in enumerate(sorted(names)):
            for asked in (f"the weight of {name}?", f"Is {name}, as told, heavy?"):
                matched = [m for m in lexicon.match(tokens(asked)) if m.candidates[0].kind == "entity"]
                longest = max((m.end - m.start for m in matched), default=0)
                found = [c for m in matched if m.end - m.start == longest for c in m.candidates]
                best = max((c.score for c in found), default=0.0)
                first = [c.term for c in found if c.score == best]
                assert first == [f"urn:x:{at}"], (asked, found)


@pytest.mark.parametrize(
    "said,name,by",
    [
        ("C#", "C#", 0),
        ("c#", "C#", 1),
        ("Zür", "zur", 2),
        ("C", "C#", 3),
        ("X 1", "x-1", 3),
        ("C", "D", 4),
        ("", "C", 4),
    ],
)
def test_likeness_is_told_by_its_worst_difference(said: str, name: str, by: int) -> None:
    assert likeness(said, name) == Likeness(by)
