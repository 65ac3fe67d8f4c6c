"""Names that come and go are found as if all names were read anew."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mrag.language.tokens import tokens
from mrag.planning.lexical import Candidate
from mrag.planning.lexical.names import NamedThings, NameMatcher, ReadNames
from mrag.planning.lexicon import best

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


def found(things: NamedThings, asked: str) -> dict[tuple[int, int], tuple[Candidate, ...]]:
    words, matcher = tokens(asked), NameMatcher(things)
    spans = [(i, j) for i in range(len(words)) for j in range(i + 1, len(words) + 1)]
    every: dict[tuple[int, int], list[Candidate]] = {}
    for span, candidate in matcher.candidates(words, spans):
        every.setdefault(span, []).append(candidate)
    return {span: best(sorted(some, key=lambda c: (c.name, c.way))) for span, some in every.items()}


def assert_same(ours: NamedThings, theirs: NamedThings, graph: Graph, asked: str) -> None:
    assert found(ours, asked) == found(theirs, asked)
    assert all(ours.names_of(thing) == theirs.names_of(thing) for thing in "urn:a urn:b urn:é".split())
    assert all(ours.counts_of(text) == counts for text, counts in graph[1].items())
    for p in range(3):
        assert ours.values_of(p) == {t: counts[p] for t, counts in graph[1].items() if p in counts}


questions = st.lists(
    st.sampled_from([*_WORDS, "riverss", "Annna", "walkin", "rivir", "tals", "w"]), min_size=1, max_size=6
).map(" ".join)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(graphs, graphs, questions)
def test_changed_names_are_those_read_anew(before: Graph, after: Graph, asked: str) -> None:
    touched = {thing: after[0].get(thing, set()) for thing in {*before[0], *after[0]}}
    values = {text: after[1].get(text, {}) for text in {*before[1], *after[1]}}
    changed = made(before).changed(touched, values)
    assert_same(changed, made(after), after, asked)
    read, rest = changed.arrays()
    assert_same(NamedThings.of({**read, **rest}), made(after), after, asked)


@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(graphs, st.dictionaries(entities, st.sets(names, max_size=2), max_size=2), questions)
def test_what_is_not_touched_stays(before: Graph, some: dict[str, set[str]], asked: str) -> None:
    after = {thing: texts for thing, texts in {**before[0], **some}.items() if texts}, before[1]
    assert_same(made(before).changed(some, {}), made(after), after, asked)
