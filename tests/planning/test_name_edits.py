"""Names that come and go leave the tables that are made of all names anew."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mrag.planning.lexical.names import NamedThings, changed_things, counts_of, made_of, values_of

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
    return made_of(pairs, ("urn:p", "urn:q", "urn:r"), {t: Counter(c) for t, c in graph[1].items()})


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(graphs, graphs)
def test_changed_names_are_those_read_anew(before: Graph, after: Graph) -> None:
    old, new = made(before), made(after)
    touched = {thing: after[0].get(thing, set()) for thing in {*before[0], *after[0]}}
    values = {text: after[1].get(text, {}) for text in {*before[1], *after[1]}}
    found = changed_things(old, touched, values)
    ours, theirs = found.arrays(), new.arrays()
    assert [
        n for n in theirs if not np.array_equal(ours[n], theirs[n]) or ours[n].dtype != theirs[n].dtype
    ] == []
    assert all(counts_of(found, text) == counts for text, counts in after[1].items())
    for p in range(3):
        assert values_of(found, p) == {t: counts[p] for t, counts in after[1].items() if p in counts}


@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(graphs, st.dictionaries(entities, st.sets(names, max_size=2), max_size=2))
def test_what_is_not_touched_stays(before: Graph, some: dict[str, set[str]]) -> None:
    after = {thing: texts for thing, texts in {**before[0], **some}.items() if texts}
    found, new = changed_things(made(before), some, {}), made((after, before[1]))
    assert [n for n, array in new.arrays().items() if not np.array_equal(found.arrays()[n], array)] == []
