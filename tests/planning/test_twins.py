"""Things of several names are one: in counts, lists, groups and names, reasoned over or not."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import OWL, RDF, RDFS, Literal, URIRef

import mrag
from mrag.index.similarity import SimilarityIndexes
from mrag.language.names import Likeness, likeness
from mrag.language.tokens import tokens
from mrag.planning.answering import compute
from mrag.planning.lexicon import lexicon_of
from mrag.planning.profiling import schema_of
from mrag.planning.run import run
from mrag.rdf.terms import Triple
from mrag.reasoning.sameness import same_groups
from tests.cases import cases
from tests.planning.interpreter import evaluate
from tests.planning.questions import GRAPHS, loaded, plan_of
from tests.servers import oxigraph_server

KIND, OTHER, LINK, SIZE = (URIRef(f"urn:x:{name}") for name in ("Kind", "Other", "link", "size"))
PLANS = [plan_of(written, "urn:x:") for written in cases(__file__, "plans")]
names = st.sampled_from([f"urn:{home}:{letter}" for home in "mz" for letter in "abcdef"]).map(URIRef)
facts = st.one_of(
    st.builds(lambda s, c: Triple(s, RDF.type, c), names, st.sampled_from([KIND, OTHER])),
    st.builds(lambda s, o: Triple(s, LINK, o), names, names),
    st.builds(lambda s, v: Triple(s, SIZE, Literal(v)), names, st.integers(1, 4)),
)
sames = st.builds(lambda s, o: Triple(s, OWL.sameAs, o), names, names)


def sets_of(triples: Sequence[Triple]) -> list[list[str]]:
    pairs = [(str(s), str(o)) for s, p, o in triples if p == OWL.sameAs and s != o]
    return same_groups(pairs)


def shown(rows: Sequence[Sequence[object]], sets: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Rows with a set for each name; sorted, and not made one: what is told twice shows."""
    places = {name: f"set {at}" for at, group in enumerate(sets) for name in group}
    return sorted(tuple(places.get(str(cell), str(cell)) for cell in row) for row in rows)


@given(
    st.lists(facts, min_size=1, max_size=14),
    st.lists(sames, min_size=1, max_size=7),
    st.sampled_from([2, 32]),
)
@settings(max_examples=60, derandomize=True)
def test_what_is_found_is_what_a_graph_of_sets_has(said: list[Triple], same: list[Triple], most: int) -> None:
    sets = sets_of(same)
    first = {name: group[0] for group in sets for name in group}
    quotient = [Triple(*(URIRef(first[str(t)]) if str(t) in first else t for t in fact)) for fact in said]  # type: ignore[arg-type]
    with mrag.connect() as kg, pytest.MonkeyPatch.context() as patch:
        patch.setattr("mrag.reasoning.sameness.MOST", most)
        kg.insert([*said, *same])
        mrag.reason(kg)
        for plan in PLANS:
            found = run(kg, plan, schema=schema_of(kg)).rows
            assert shown(found, sets) == shown(evaluate(plan, quotient), sets), plan


@given(st.lists(facts, min_size=1, max_size=14), st.lists(sames, min_size=1, max_size=7))
@settings(max_examples=30, derandomize=True)
def test_members_are_counted_once_without_reasoning_too(said: list[Triple], same: list[Triple]) -> None:
    sets = sets_of(same)
    first = {name: group[0] for group in sets for name in group}
    with mrag.connect() as kg:
        kg.insert([*said, *same])
        members = {first.get(str(s), str(s)) for s, p, o in said if p == RDF.type and o == KIND}
        (row,) = run(kg, PLANS[0], schema=schema_of(kg)).rows
        assert int(str(row[0])) == len(members)


@pytest.mark.parametrize("reasoned", [True, False])
def test_concepts_with_twins_elsewhere_are_counted_once(reasoned: bool) -> None:
    with loaded("concepts") as kg:
        if reasoned:
            mrag.reason(kg)
        told = [s.text for s in compute(kg, "How many concepts are there?").answer.sentences]  # type: ignore[union-attr]
        assert told == ["4 concepts"]
        answer = compute(kg, "Which concepts have the broader Food?").answer
        assert [str(row[0].term) for row in answer.computed.rows] == [
            f"http://example.org/{name}" for name in ("bread", "oil", "wine")
        ]
        (mention,) = lexicon_of(kg, None).match(tokens("Food"))
        assert [c.term for c in mention.candidates] == ["http://example.org/food"]


def test_concepts_are_counted_once_on_a_server(tmp_path: Path) -> None:
    with oxigraph_server(tmp_path, memory=True) as url, mrag.connect(url) as kg:
        kg.load([GRAPHS / "concepts.ttl"])
        for _ in range(2):
            answer = compute(kg, "How many concepts are there?").answer
            assert answer is not None and answer.sentences[0].text == "4 concepts"
            mrag.reason(kg)


def test_twins_are_one_in_search_and_contexts() -> None:
    with loaded("concepts") as kg:
        mrag.reason(kg)
        SimilarityIndexes.of(kg).build("main")
        found = mrag.TripleStoreRetriever(kg=kg, k=4).retrieve("Food or bread")
        assert sorted(hit.iri for hit in found.hits) == [
            f"http://example.org/{name}" for name in ("bread", "food", "oil", "wine")
        ]
        assert [hit.rank for hit in found.hits] == [1, 2, 3, 4]
        said = [line.triple for line in found.context.lines]
        assert not [t for t in said if str(t.s).startswith("http://its.")]
        assert len([t for t in said if t.p.endswith("broader")]) == 3


def test_a_thing_of_a_large_set_is_counted_and_named_once() -> None:
    ring = [Triple(URIRef(f"urn:m:{at}"), OWL.sameAs, URIRef(f"urn:m:{(at + 1) % 60}")) for at in range(60)]
    said = [Triple(URIRef(f"urn:m:{at}"), RDF.type, KIND) for at in range(60)]
    more = [
        Triple(URIRef("urn:m:other"), RDF.type, KIND),
        Triple(URIRef("urn:m:7"), LINK, URIRef("urn:m:other")),
    ]
    with mrag.connect() as kg:
        kg.insert([*ring, *said, *more, Triple(URIRef("urn:m:9"), RDFS.label, Literal("Nine"))])
        mrag.reason(kg)
        assert [int(str(n)) for (n,) in run(kg, PLANS[0]).rows] == [2]
        (mention,) = lexicon_of(kg, None).match(tokens("Nine"))
        assert [c.term for c in mention.candidates] == ["urn:m:0"]
        assert [tuple(map(str, row)) for row in run(kg, PLANS[2]).rows] == [("urn:m:0", "urn:m:other")]
        # What comes and goes is followed, sameness too.
        kg.insert([Triple(URIRef("urn:m:new"), OWL.sameAs, URIRef("urn:m:11"))])
        kg.insert([Triple(URIRef("urn:m:new"), SIZE, Literal(3))])
        mrag.reason(kg)
        assert kg.query("ASK { <urn:m:0> <urn:x:size> 3 }") is True
        kg.update("DELETE DATA { <urn:m:new> <http://www.w3.org/2002/07/owl#sameAs> <urn:m:11> }")
        mrag.reason(kg)
        assert kg.query("ASK { <urn:m:0> <urn:x:size> 3 }") is False


@pytest.fixture(scope="module")
def signed() -> Iterator[mrag.KnowledgeGraph]:
    with loaded("signs") as kg:
        SimilarityIndexes.of(kg).build("main")
        yield kg


@pytest.mark.parametrize("ranker", ["bm25", "dense", "hybrid"])
def test_what_is_called_so_is_found_first(signed: mrag.KnowledgeGraph, ranker: str) -> None:
    for name in cases(__file__, "what_is_called_so_is_found_first"):
        hits = mrag.ranker(ranker, signed).rank(mrag.Question(name), 3)
        assert signed.labels([hits[0].iri])[hits[0].iri] == name
        assert [hit.rank for hit in hits] == [1, 2, 3][: len(hits)]
        assert sorted(hits, key=lambda hit: (-hit.score, hit.iri)) == hits


signs = st.sampled_from(["", "+", "-", "#", "*", "++", "/", "_", "&", "°", "'", "!", "[x]", "{x}", "~"])
words = st.sampled_from(["q", "Q", "kx", "Kx", "zör", "zor", "nå", "n7", "7n", "vv w"])


@given(st.sets(st.tuples(words, signs).map("".join), min_size=2, max_size=8))
@settings(max_examples=40, derandomize=True)
def test_each_of_many_names_finds_itself(called: set[str]) -> None:
    kind = URIRef("urn:x:Gadget")
    with mrag.connect() as kg:
        kg.insert(
            triple
            for at, name in enumerate(sorted(called))
            for triple in (
                Triple(URIRef(f"urn:x:{at}"), RDF.type, kind),
                Triple(URIRef(f"urn:x:{at}"), RDFS.label, Literal(name)),
            )
        )
        lexicon = lexicon_of(kg, None)
        for at, name in enumerate(sorted(called)):
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
