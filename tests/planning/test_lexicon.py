"""The names of a graph: found however they are written, and followed when they change."""

import shutil
import string
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from rdflib import RDFS, Literal, URIRef

import mrag.planning.lexicon
from mrag.graph.connection import open_store
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.updates import update
from mrag.language.english import SpellingIndex, distance, edits_allowed, other_names, positive
from mrag.language.tokens import tokens
from mrag.planning.lexical.names import NamedThings, NameMatcher, NameTable, ReadNames
from mrag.planning.lexical.schema_words import voice_of
from mrag.planning.lexicon import Candidate, Lexicon, lexicon_of, names_of
from mrag.planning.lexicon import best as best_of
from mrag.planning.profiling import schema_of
from mrag.rdf.terms import Triple
from mrag.storage.fields import of_arrays
from mrag.stores.http import Access
from mrag.stores.oxigraph import OxigraphStore
from tests.cases import cases
from tests.conftest import slow
from tests.planning.questions import GRAPHS
from tests.planning.test_schema import PREFIXES, e, graph
from tests.servers import oxigraph_server, virtuoso_server

COMPANY = (GRAPHS / "warehouse.ttl").read_text("utf-8")


@pytest.fixture(scope="module")
def lexicon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lexicon]:
    with graph(tmp_path_factory.mktemp("company"), COMPANY) as kg:
        yield lexicon_of(kg, None)


def found(lexicon: Lexicon, question: str) -> dict[str, list[Candidate]]:
    words = tokens(question)
    return {
        question[words[m.start].start : words[m.end - 1].end]: list(m.candidates)
        for m in lexicon.match(words, question)
    }


def best(lexicon: Lexicon, question: str, words: str) -> Candidate:
    return found(lexicon, question)[words][0]


@pytest.mark.parametrize(
    ("question", "words", "term", "way"),
    [
        ("who made Hammer drill?", "Hammer drill", e("p3"), "exact"),
        ("who made hammer drill?", "hammer drill", e("p3"), "exact"),
        ("who made HammerDrill?", "HammerDrill", e("p3"), "exact"),
        ("weight of hammer drills", "hammer drills", e("p3"), "exact"),
        ("what does Ms. Lopez do?", "Ms. Lopez", e("e1"), "tokens"),
        ("what does Maria Lopez do?", "Maria Lopez", e("e1"), "tokens"),
        ("how heavy is the X20 pump?", "X20 pump", e("p1"), "tokens"),
        ("how heavy is the blue pump?", "blue pump", e("p1"), "tokens"),
        ("that samurai film", "samurai", e("f2"), "tokens"),
        ("seven samurei", "seven samurei", e("f2"), "spelling"),
        ("hamer drill", "hamer drill", e("p3"), "spelling"), ("products of WTO", "WTO", e("s2"), "tokens"),
        ("spanish vendors", "spanish", "Spain", "synonym"),
        ("vendors in the UK", "UK", "United Kingdom", "synonym"),
        ("vendors in California", "California", "CA", "synonym"),
        ("the vendors", "vendors", e("Supplier"), "exact"), ("all staff", "staff", e("Employee"), "synonym"),
        ("who is managing e2", "managing", e("manages"), "inflected"),
        ("a dark red one", "dark red", "dark red", "exact"),
        ("which warehouse", "warehouse", e("Supplier"), "synonym"),
    ],
)  # fmt: skip
def test_names_are_found_however_they_are_written(
    lexicon: Lexicon, question: str, words: str, term: str, way: str
) -> None:
    candidate = best(lexicon, question, words)
    assert (candidate.term, candidate.way) == (term, way), found(lexicon, question)


def test_what_is_equal_is_before_what_is_like(lexicon: Lexicon) -> None:
    scores = {
        "exact": best(lexicon, "the hammer drill", "hammer drill").score,
        "inflected": best(lexicon, "managed", "managed").score,
        "tokens": best(lexicon, "Ms. Lopez", "Ms. Lopez").score,
        "spelling": best(lexicon, "hammer dril", "hammer dril").score,
    }
    assert scores["exact"] == 1.0 > scores["inflected"] > max(scores["tokens"], scores["spelling"]) > 0.5


def test_an_initial_tells_people_of_one_name_apart(lexicon: Lexicon) -> None:
    assert best(lexicon, "where does J. Smith work?", "J. Smith").term == e("e2")
    assert best(lexicon, "where does A. Smith work?", "A. Smith").term in (e("e2"), e("e3"))
    both = {c.term for c in found(lexicon, "where does Smith work?")["Smith"] if c.kind == "entity"}
    assert both == {e("e2"), e("e3")}


def test_a_value_tells_its_properties_and_an_entity_its_classes(lexicon: Lexicon) -> None:
    value = next(c for c in found(lexicon, "red things")["red"] if c.kind == "value")
    assert (value.term, value.score, value.properties) == ("red", 1.0, (e("colour"),))
    assert best(lexicon, "Hammer drill", "Hammer drill").classes == (e("Product"),)


@pytest.mark.parametrize(
    "question", ["who is it?", "what did they do with the", "how many are there", "", "?"]
)
def test_function_words_name_nothing(lexicon: Lexicon, question: str) -> None:
    assert not [m for m in lexicon.match(tokens(question), question) if m.candidates[0].score > 0.75]
    assert "who" not in found(lexicon, question) and "the" not in found(lexicon, question)


def test_titles_of_function_words_need_capitals_or_quotes(lexicon: Lexicon) -> None:
    assert best(lexicon, "who sang with The Who?", "The Who").term == e("f1")
    assert best(lexicon, 'who sang with "the who"?', "the who").term == e("f1")
    assert "the who" not in found(lexicon, "who sang with the who?")


def test_a_quoted_name_is_one_mention(lexicon: Lexicon) -> None:
    mentions = found(lexicon, 'who stars in "Seven Samurai"?')
    assert "Seven Samurai" in mentions and "Samurai" not in mentions and "Seven" not in mentions
    assert "Samurai" in found(lexicon, "who stars in Seven Samurai?")


def test_verbs_and_agents_tell_the_direction(lexicon: Lexicon) -> None:
    supplies = next(c for c in found(lexicon, "what does Blum supply")["supply"] if c.term == e("supplier"))
    supplied = next(c for c in found(lexicon, "supplied by Blum")["supplied by"] if c.term == e("supplier"))
    manager = next(c for c in found(lexicon, "manager of e2")["manager"] if c.term == e("manages"))
    assert (supplies.inverse, supplied.inverse, manager.inverse) == (True, False, True)
    assert [voice_of([w]) for w in ("price", "supplier", "supplies")] == ["", "doer", "done"]


@pytest.mark.parametrize(("adjective", "term", "direction"), cases(__file__, "adjectives_go_by_a_measure"))
def test_adjectives_go_by_a_measure(lexicon: Lexicon, adjective: str, term: str, direction: str) -> None:
    first = lexicon.dimension(adjective)[0]
    assert (first.property, first.direction) == (e(term), direction)


def test_other_words_are_no_measure(lexicon: Lexicon) -> None:
    assert lexicon.dimension("blue") == [] and positive("") is None
    assert [d.property for d in lexicon.dimension("loudest")] == []


def test_candidates_are_bounded(tmp_path: Path) -> None:
    turtle = "\n".join(
        f':r{i} a :Place ; rdfs:label "The restaurant {chr(65 + i % 26)}{i}" .' for i in range(300)
    )
    with graph(tmp_path, turtle + ':x a :Place ; rdfs:label "restaurant" .') as kg:
        lexicon = lexicon_of(kg, None)
        candidates = found(lexicon, "a restaurant")["restaurant"]
        assert [c.term for c in candidates if c.score > 0.5] == [e("x")] and len(candidates) <= 12
        assert best(lexicon, "the restaurant c2", "restaurant c2").term == e("r2")


HOSTILE = [
    'say "hi" \\ there', "'; DROP ALL #", "} UNION { ?s ?p ?o", "<script>alert(1)</script>", "a" * 150,
    "\u202eright to left", "東京 タワー", "مرحبا بالعالم", "Ünïcödé ß ı İ", "🚀 rocket", "%s %d {0}",
    "x" * 199, "1", "e\u0301te\u0301",
]  # fmt: skip


def test_hostile_names_are_names(tmp_path: Path) -> None:
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.insert(Triple(URIRef(f"urn:x:{i}"), RDFS.label, Literal(name)) for i, name in enumerate(HOSTILE))
        lexicon = lexicon_of(kg, None)
        for i, name in enumerate(HOSTILE):
            words = tokens(name)
            wanted = [m for m in lexicon.match(words) if m.end - m.start == len(words)]
            if words and len(words) <= 8:
                assert f"urn:x:{i}" in {c.term for m in wanted for c in m.candidates}, name


WORD = st.text(string.ascii_lowercase, min_size=2, max_size=10)
NAME = st.lists(WORD, min_size=1, max_size=4).map(" ".join)


@given(st.lists(NAME, min_size=1, max_size=30, unique=True), st.integers(0, 29), st.booleans())
@settings(max_examples=60)
def test_every_exact_name_is_found(names: list[str], at: int, upper: bool) -> None:
    name = names[at % len(names)]
    table = NameTable.of(enumerate(names))
    words = tokens(name.upper() if upper else name)
    rows = table.whole.find(["".join(w.key for w in words)])[0]
    assert name in {table.texts[row] for row in rows.tolist()}


def typos(word: str, random: Random) -> str:
    at = random.randrange(len(word))
    letter = random.choice(string.ascii_lowercase)
    return random.choice(
        [
            word[:at] + letter + word[at:], word[:at] + word[at + 1 :], word[:at] + letter + word[at + 1 :],
            word[:at] + word[at : at + 2][::-1] + word[at + 2 :],
        ]
    )  # fmt: skip


@given(
    st.lists(st.text(string.ascii_lowercase, min_size=5, max_size=14), min_size=1, max_size=40, unique=True),
    st.randoms(use_true_random=False),
)
@settings(max_examples=150)
def test_every_typo_of_a_word_is_found(words: list[str], random: Random) -> None:
    index = SpellingIndex.of(words)
    at = random.randrange(len(words))
    typo = typos(words[at], random)
    assume(edits_allowed(typo))
    assert distance(typo, words[at], 1) <= 1
    assert at in index.near(typo, 1).tolist()
    twice = typos(typo, random)
    if min(edits_allowed(twice), edits_allowed(words[at])) == 2:
        assert at in index.near(twice, 2).tolist()


def plain_distance(a: str, b: str) -> int:
    d = np.zeros((len(a) + 1, len(b) + 1), int)
    d[:, 0], d[0, :] = np.arange(len(a) + 1), np.arange(len(b) + 1)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + (a[i - 1] != b[j - 1]))
            if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
                d[i, j] = min(d[i, j], d[i - 2, j - 2] + 1)
    return int(d[-1, -1])


@given(st.text("abc", max_size=7), st.text("abc", max_size=7), st.integers(1, 2))
@settings(max_examples=500)
def test_the_distance_is_that_of_its_definition(a: str, b: str, most: int) -> None:
    assert distance(a, b, most) == min(plain_distance(a, b), most + 1)


@given(st.sampled_from(["Kurosawa", "Mississippi", "Constantinople"]), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_a_misspelt_entity_is_found(name: str, random: Random) -> None:
    typo = typos(name.lower(), random)
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.insert([Triple(URIRef("urn:it"), RDFS.label, Literal(name))])
        candidates = found(lexicon_of(kg, None), f"films of {typo}")
    assert "urn:it" in {c.term for some in candidates.values() for c in some}, typo


def test_the_order_of_loading_changes_nothing(tmp_path: Path) -> None:
    lines = [line for line in COMPANY.splitlines() if line]
    questions = ["the X20 pump of Ms. Lopez", "smith and hamer dril in spain", "vendors of the red pumps"]
    answers = []
    for seed in range(3):
        Random(seed).shuffle(lines)
        with graph(tmp_path, "\n".join(lines)) as kg:
            lexicon = lexicon_of(kg, None)
            answers.append([lexicon.match(tokens(question), question) for question in questions])
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.parametrize("server", [oxigraph_server, *slow(virtuoso_server)])
def test_servers_give_the_same(
    tmp_path: Path, lexicon: Lexicon, server: Callable[[Path], AbstractContextManager[str]]
) -> None:
    file = tmp_path / "company.ttl"
    file.write_text(PREFIXES + COMPANY + ":s1 :near :unlabelled .", encoding="utf-8")
    questions = [
        "the X20 pump of Ms. Lopez in spain", "where is the unlabelled thing", "dark red hamer drills",
    ]  # fmt: skip
    answers = []
    place = tmp_path / "server"
    place.mkdir()
    with server(place) as url:
        for address in ("oxigraph:", url):
            store, _ = open_store(address, Access(user="dba", password="dba"))
            with KnowledgeGraph(store, "lexicon") as kg:
                kg.load([file])
                lexicon = lexicon_of(kg, None)
                answers.append((lexicon.schema, [lexicon.match(tokens(q), q) for q in questions]))
    (mine, ours), (theirs, others) = answers
    assert ours == others
    assert mine.classes == theirs.classes
    assert mine.edges == theirs.edges
    assert {p: (i.kind, i.domains, i.ranges, i.text_numbers) for p, i in mine.properties.items()} == {
        p: (i.kind, i.domains, i.ranges, i.text_numbers) for p, i in theirs.properties.items()
    }


def segment(tmp_path: Path) -> Path:
    """Return the file of the names that were read as a whole; that of the schema is behind it."""
    names, _ = sorted(tmp_path.glob("store.mrag/*/lexicon/segment-*.seg"))
    return names


def reopened(tmp_path: Path) -> KnowledgeGraph:
    return KnowledgeGraph(OxigraphStore(tmp_path / "store"))


def test_what_is_kept_is_what_was_made(tmp_path: Path) -> None:
    question = "the X20 pump of Ms. Lopez in the uk"
    with graph(tmp_path, COMPANY, "store") as kg:
        lexicon = lexicon_of(kg, None)
        before = lexicon.schema, lexicon.match(tokens(question))
    kept = segment(tmp_path)
    made = kept.stat().st_mtime_ns
    with reopened(tmp_path) as kg:
        lexicon = lexicon_of(kg, None)
        assert (lexicon.schema, lexicon.match(tokens(question))) == before
    assert segment(tmp_path) == kept and kept.stat().st_mtime_ns == made


@pytest.mark.parametrize("place", ["head", "middle", "end", "gone", "manifest"])
def test_what_is_damaged_is_made_anew(tmp_path: Path, place: str) -> None:
    with graph(tmp_path, COMPANY, "store") as kg:
        before = lexicon_of(kg, None).match(tokens("the X20 pump"))
    file = segment(tmp_path)
    if place == "manifest":
        file = file.with_name("manifest.json")
    if place == "gone":
        file.unlink()
    else:
        data = bytearray(file.read_bytes())
        at = {"head": 3, "middle": len(data) // 2, "end": len(data) - 70, "manifest": len(data) // 2}[place]
        data[at] ^= 0xFF
        file.write_bytes(bytes(data))
    with reopened(tmp_path) as kg:
        assert lexicon_of(kg, None).match(tokens("the X20 pump")) == before


def test_what_is_stale_is_made_anew(tmp_path: Path) -> None:
    with graph(tmp_path, COMPANY, "store") as kg:
        assert "gizmo" not in found(lexicon_of(kg, None), "the gizmo")
        more = tmp_path / "more.ttl"
        more.write_text('<urn:new> <http://www.w3.org/2000/01/rdf-schema#label> "Gizmo" .')
        kg.load([more])
        assert best(lexicon_of(kg, None), "the gizmo", "gizmo").term == "urn:new"
    with reopened(tmp_path) as kg:
        assert best(lexicon_of(kg, None), "the gizmo", "gizmo").term == "urn:new"


def test_after_a_change_only_what_changed_is_written(tmp_path: Path) -> None:
    with graph(tmp_path, COMPANY, "store") as kg:
        lexicon_of(kg, None)
    names = segment(tmp_path)
    made = names.stat().st_mtime_ns
    for text, words in (("Gizmo", "the gizmo"), ("Doohickey", "the doohickey")):
        with reopened(tmp_path) as kg:
            update(kg, f'INSERT DATA {{ <urn:{text}> rdfs:label "{text}" }}')
            assert best(lexicon_of(kg, None), words, words.split()[-1]).term == f"urn:{text}"
        assert segment(tmp_path) == names and names.stat().st_mtime_ns == made
    with reopened(tmp_path) as kg, pytest.MonkeyPatch.context() as patch:
        # Nothing is read of the store again.
        patch.setattr(kg, "select", None)
        assert list(names_of(kg).names_of("urn:Gizmo")) == ["Gizmo"]


def test_a_schema_is_kept_though_the_names_are_not_read_to_an_end(tmp_path: Path) -> None:
    with graph(tmp_path, COMPANY, "store") as kg, pytest.MonkeyPatch.context() as patch:

        def stopped(*_: object) -> None:
            raise KeyboardInterrupt

        patch.setattr(mrag.planning.lexicon, "named_things", stopped)
        with pytest.raises(KeyboardInterrupt):
            lexicon_of(kg, None)
    with reopened(tmp_path) as kg:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(kg, "select", None)
            schema = schema_of(kg)
        assert best(lexicon_of(kg, None), "the X20 pump", "X20 pump").kind == "entity"
        assert schema_of(kg) == schema


def test_another_store_in_the_same_place_has_names_of_its_own(tmp_path: Path) -> None:
    with graph(tmp_path, COMPANY, "store") as kg:
        lexicon_of(kg, None)
    shutil.rmtree(tmp_path / "store")
    other = '<urn:new> <http://www.w3.org/2000/01/rdf-schema#label> "Gizmo" .'
    with graph(tmp_path, other, "store") as kg:
        assert best(lexicon_of(kg, None), "the gizmo", "gizmo").term == "urn:new"
        assert "Hammer drill" not in found(lexicon_of(kg, None), "hammer drill")


def test_a_reader_that_must_not_write_does_not(tmp_path: Path) -> None:
    with graph(tmp_path, COMPANY, "store") as kg:
        kg.keeps_counts = False
        assert found(lexicon_of(kg, None), "Hammer drill")
    assert not list(tmp_path.glob("store.mrag/*/lexicon/manifest.json"))


def test_meaning_is_the_last_resort(tmp_path: Path) -> None:
    with graph(tmp_path, COMPANY) as kg:
        lexicon = lexicon_of(kg)
        near = lexicon.similar("birthplace", "property", 3)
        assert len(near) == 3 and near[0].score >= near[1].score >= near[2].score
        assert {c.way for c in near} == {"meaning"}
        assert lexicon_of(kg, None).similar("birthplace", "property") == ()


def test_places_have_other_names() -> None:
    assert other_names("us", capital=False) == [] and "United States" in other_names("US", capital=True)
    assert "Georgia" in other_names("Georgian", capital=True) and other_names("Atlantis", capital=True) == []
    assert {"ES", "ESP"} <= set(other_names("spaniards", capital=False))


def test_an_empty_graph_has_a_lexicon(kg: KnowledgeGraph) -> None:
    assert lexicon_of(kg).match(tokens("who made the X20 pump?")) == []


_WORDS = """ann Anna ANN annas the of rivers river Rivière résumé resume résumés tale tales 7 007 ... ⟨⟩ U.S.
    walking walked""".split()
names = st.lists(st.sampled_from(_WORDS), min_size=1, max_size=4).map(" ".join)
entities = st.sampled_from([f"urn:{n}" for n in "abcdé"])
graphs = st.tuples(
    st.dictionaries(entities, st.sets(names, min_size=1, max_size=3)),
    st.dictionaries(names, st.dictionaries(st.integers(0, 2), st.integers(1, 3), min_size=1)),
)
Graph = tuple[dict[str, set[str]], dict[str, dict[int, int]]]


def made(graph: Graph) -> NamedThings:
    pairs = sorted((thing, name) for thing, texts in graph[0].items() for name in texts)
    return NamedThings(ReadNames.of(pairs, graph[1]), ("urn:p", "urn:q", "urn:r"))


def read_anew(things: NamedThings, asked: str) -> dict[tuple[int, int], tuple[Candidate, ...]]:
    words, matcher = tokens(asked), NameMatcher(things)
    spans = [(i, j) for i in range(len(words)) for j in range(i + 1, len(words) + 1)]
    every: dict[tuple[int, int], list[Candidate]] = {}
    for span, candidate in matcher.candidates(words, spans):
        every.setdefault(span, []).append(candidate)
    return {span: best_of(sorted(some, key=lambda c: (c.name, c.way))) for span, some in every.items()}


def assert_same(ours: NamedThings, theirs: NamedThings, graph: Graph, asked: str) -> None:
    assert read_anew(ours, asked) == read_anew(theirs, asked)
    assert all(ours.names_of(thing) == theirs.names_of(thing) for thing in "urn:a urn:b urn:é".split())
    assert all(ours.counts_of(text) == counts for text, counts in graph[1].items())
    for p in range(3):
        assert ours.values_of(p) == {t: counts[p] for t, counts in graph[1].items() if p in counts}


questions = st.lists(
    st.sampled_from([*_WORDS, "riverss", "Annna", "walkin", "rivir", "tals", "w"]), min_size=1, max_size=6
).map(" ".join)


@settings(max_examples=100, suppress_health_check=list(HealthCheck))
@given(graphs, graphs, questions)
def test_changed_names_are_those_read_anew(before: Graph, after: Graph, asked: str) -> None:
    touched = {thing: after[0].get(thing, set()) for thing in {*before[0], *after[0]}}
    values = {text: after[1].get(text, {}) for text in {*before[1], *after[1]}}
    changed = made(before).changed(touched, values)
    assert_same(changed, made(after), after, asked)
    read, rest = changed.arrays()
    assert_same(of_arrays(NamedThings, {**read, **rest}), made(after), after, asked)


@settings(max_examples=50, suppress_health_check=list(HealthCheck))
@given(graphs, st.dictionaries(entities, st.sets(names, max_size=2), max_size=2), questions)
def test_what_is_not_touched_stays(before: Graph, some: dict[str, set[str]], asked: str) -> None:
    after = {thing: texts for thing, texts in {**before[0], **some}.items() if texts}, before[1]
    assert_same(made(before).changed(some, {}), made(after), after, asked)
