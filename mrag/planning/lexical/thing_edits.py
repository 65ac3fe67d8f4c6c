"""The names of a graph's things after a few have other names, and a few values come or go."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from mrag.planning.lexical.gathering import NamedThings
from mrag.planning.lexical.name_table import NameKeys
from mrag.planning.lexical.table_edits import Places, edited, moved, place_in, spliced

_Named = Mapping[str, set[str]]
_Counts = Mapping[int, int]


def counts_of(things: NamedThings, text: str) -> dict[int, int]:
    """Return how often properties, as numbers, have a value."""
    at, there = place_in(things.terms, text, things.entities)
    if not there:
        return {}
    here = slice(*things.starts[at - things.entities : at - things.entities + 2].tolist())
    return dict(zip(things.properties[here].tolist(), things.counts[here].tolist(), strict=True))


def values_of(things: NamedThings, p: int) -> dict[str, int]:
    """Return the values of a property, by its number, with how often it has each."""
    having = np.flatnonzero(things.properties == p)
    places = np.searchsorted(things.starts, having, "right") - 1 + things.entities
    counts = things.counts[having].tolist()
    return {things.terms[at]: n for at, n in zip(places.tolist(), counts, strict=True)}


def changed_things(things: NamedThings, names: _Named, values: Mapping[str, _Counts]) -> NamedThings:
    """Return the names of things after a change, as if all of them had been read anew.

    Args:
        things: The names before.
        names: Entities, each with all the names that it has now; none for those that are named no more.
        values: Texts, each with how often properties, as numbers, have it now.
    """
    names = {entity: texts for entity, texts in names.items() if not _is_named(things, entity, texts)}
    if not names and not values:
        return things
    rows = _Rows(things)
    of_values = {text: {text} if counts else set[str]() for text, counts in values.items()}
    lost, found = rows.terms(names, 0, things.entities)
    lost_values, found_values = rows.terms(of_values, things.entities, len(things.terms))
    gone = [*lost, *lost_values]
    come = [(at - bisect_left(gone, at), term) for at, term in (*found, *found_values)]
    owners = moved(len(things.terms), gone, [at for at, _ in come])
    new = [at + number for number, (at, _) in enumerate(come)]
    rows.change(names, 0, things.entities, owners, new[: len(found)], found)
    rows.change(of_values, things.entities, len(things.terms), owners, new[len(found) :], found_values)
    starts, properties, counts = _values(things, values, lost_values, found_values)
    return replace(
        things,
        table=edited(things.table, *rows.changes(), owners),
        terms=spliced(things.terms, gone, come),
        entities=things.entities + len(found) - len(lost),
        starts=starts,
        properties=properties,
        counts=counts,
    )


def _is_named(things: NamedThings, entity: str, texts: set[str]) -> bool:
    """Return whether an entity has some names already, and no other."""
    at, there = place_in(things.terms, entity, 0, things.entities)
    had = {things.table.texts[row] for row in _rows(things, at)} if there else set()
    return there == bool(texts) and had == {text for text in texts if NameKeys.of(text) is not None}


class _Rows:
    """Which rows of a table go and which come."""

    def __init__(self, things: NamedThings) -> None:
        self._things = things
        self._gone: list[int] = []
        self._come: list[tuple[int, int, str]] = []

    def terms(self, named: _Named, start: int, end: int) -> tuple[list[int], list[tuple[int, str]]]:
        """Return the terms that go, and those that come with their places before the change."""
        gone, come = list[int](), list[tuple[int, str]]()
        for term in sorted(named):
            at, there = place_in(self._things.terms, term, start, end)
            if there and not named[term]:
                gone.append(at)
            elif named[term] and not there:
                come.append((at, term))
        return gone, come

    def change(
        self,
        named: _Named,
        start: int,
        end: int,
        owners: Places,
        new: Sequence[int],
        come: Iterable[tuple[int, str]],
    ) -> None:
        """Note the rows of terms that have other names than before."""
        fresh = {term: owner for owner, (_, term) in zip(new, come, strict=True)}
        things = self._things
        for term, texts in named.items():
            at, there = place_in(things.terms, term, start, end)
            rows = _rows(things, at)
            old = [things.table.texts[row] for row in rows] if there else []
            self._gone += [row for row, text in zip(rows, old, strict=False) if text not in texts]
            owner = int(owners[at]) if there else fresh.get(term, -1)
            self._come += [
                (rows.start + bisect_left(old, text), owner, text)
                for text in texts.difference(old)
                if NameKeys.of(text) is not None
            ]

    def changes(self) -> tuple[list[int], list[tuple[int, int, str]]]:
        """Return the rows that go, and those that come before which of those that stay."""
        gone = sorted(self._gone)
        return gone, sorted((row - bisect_left(gone, row), owner, text) for row, owner, text in self._come)


def _rows(things: NamedThings, at: int) -> range:
    """Return the rows of a term, or where they would stand."""
    start, end = np.searchsorted(things.table.owners, [at, at + 1]).tolist()
    return range(start, end)


def _values(
    things: NamedThings, values: Mapping[str, _Counts], lost: Sequence[int], found: Sequence[tuple[int, str]]
) -> tuple[Places, npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """Return where the properties of each value begin, these properties, and how often they have it."""
    first = things.entities
    sizes = np.diff(things.starts)
    which = np.repeat(np.arange(len(sizes)), sizes)
    known = {text: place_in(things.terms, text, first) for text in values}
    changed = [at - first for at, there in known.values() if there]
    kept = ~np.isin(which, changed)
    gone = [at - first for at in lost]
    come = [at - first - bisect_left(gone, at - first) for at, _ in found]
    places = moved(len(sizes), gone, come)
    fresh = {text: at + number for number, (at, (_, text)) in enumerate(zip(come, found, strict=True))}
    which, properties, counts = places[which[kept]], things.properties[kept], things.counts[kept]
    added = sorted(
        (fresh[text] if text in fresh else int(places[known[text][0] - first]), -n, p)
        for text, having in values.items()
        for p, n in having.items()
    )
    at = np.searchsorted(which, [place for place, _, _ in added])
    starts = np.zeros(len(sizes) - len(gone) + len(come) + 1, np.int64)
    which = np.insert(which, at, [place for place, _, _ in added])
    np.cumsum(np.bincount(which, minlength=len(starts) - 1), out=starts[1:])
    return (
        starts,
        np.insert(properties, at, [p for _, _, p in added]),
        np.insert(counts, at, [-n for _, n, _ in added]),
    )
