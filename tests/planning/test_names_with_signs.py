"""Names that differ in a sign, in case or in diacritics are told apart, in questions and in search."""

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import RDFS, Literal, URIRef

import mrag
from mrag.index.similarity import SimilarityIndexes
from mrag.language.names import Likeness, likeness
from mrag.language.tokens import tokens
from mrag.planning.lexicon import lexicon_of
from mrag.rdf.terms import RDF, Triple
from tests.cases import cases
from tests.planning.questions import loaded


@pytest.fixture(scope="module")
def kg() -> Iterator[mrag.KnowledgeGraph]:
    with loaded("signs") as kg:
        SimilarityIndexes.of(kg).build("main")
        yield kg


@pytest.mark.parametrize("ranker", ["bm25", "dense", "hybrid"])
def test_what_is_called_so_is_found_first(kg: mrag.KnowledgeGraph, ranker: str) -> None:
    for name in cases(__file__, "what_is_called_so_is_found_first"):
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


@pytest.mark.parametrize("said,name,by", cases(__file__, "likeness_is_told_by_its_worst_difference"))
def test_likeness_is_told_by_its_worst_difference(said: str, name: str, by: int) -> None:
    assert likeness(said, name) == Likeness(by)
