"""Things of subclasses as things of the class, in graphs where no triple says that they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from mrag.graph.kg import KnowledgeGraph
from mrag.graph.naming import is_asked
from mrag.planning.profile.usage import Edges, PropertyUsage
from mrag.rdf import queries

Ancestors = Mapping[str, frozenset[str]]
"""Superclasses of classes, direct and indirect."""

_BATCH: Final = 250_000
_SAMPLE: Final = 20_000
"""Members of a large class that are looked at; where something inferred their classes, it did so for all."""


def unstated(kg: KnowledgeGraph, counts: Mapping[str, int], above: Ancestors) -> dict[str, frozenset[str]]:
    """Return for each class the superclasses that some of its members are not said to be in.

    Where the inferences of subclasses are in the store, these are none.

    Args:
        kg: The knowledge graph.
        counts: How many members classes have.
        above: The superclasses of each of them.
    """
    known = {c: {a for a in above.get(c, ()) if a != c and is_asked(a)} for c in counts}
    stated = {c: {a for a in known[c] if 0 < counts[c] <= counts.get(a, 0)} for c in known}
    looked_at = _direct(stated)
    lacking = set[tuple[str, str]]()
    for batch in _batches(looked_at, counts):
        if counts[batch[0][0]] > _BATCH:
            ((c, parent),) = batch
            one = queries.get("planning/unstated-sample")
            text = one.bind(**{"class": [c]}, parent=[parent], sample=_SAMPLE)
        else:
            text = queries.get("planning/unstated").bind(class_parent=batch)
        lacking |= {(str(c), str(parent)) for c, parent in kg.select(text)}
    said: dict[str, set[str]] = {}
    for c, parent in looked_at:
        if (c, parent) not in lacking:
            said.setdefault(c, set()).add(parent)
    return {c: frozenset(known[c] - ancestors(c, said)) for c in sorted(known) if known[c]}


def ancestors(c: str, above: Mapping[str, Iterable[str]]) -> set[str]:
    """Return all that is above a class, by what is just above each.

    Example:
        >>> sorted(ancestors("van", {"van": ["car"], "car": ["vehicle"], "ship": ["vehicle"]}))
        ['car', 'vehicle']
    """
    found = set[str]()
    ahead = [c]
    while ahead:
        for parent in above.get(ahead.pop(), ()):
            if parent not in found:
                found.add(parent)
                ahead.append(parent)
    return found


def members(kg: KnowledgeGraph, above: Ancestors) -> dict[str, int]:
    """Return how many things are in classes or in those that count as narrower.

    Args:
        kg: The knowledge graph.
        above: The superclasses that members of a class are not said to be in.
    """
    pairs = sorted({(a, c) for c, over in above.items() for a in over})
    pairs += [(a, a) for a in sorted({a for a, _ in pairs})]
    found: dict[str, int] = {}
    for batch in _of_parents(pairs):
        text = queries.get("planning/members").bind(parent_class=batch)
        found.update((str(parent), int(str(n))) for parent, n in kg.select(text))
    return found


def raised(uses: Mapping[str, PropertyUsage], edges: Edges, above: Ancestors) -> Edges:
    """Let superclasses have the properties of their subclasses, in place, and return the edges with theirs.

    Args:
        uses: How properties are used.
        edges: How many triples lead from class to class.
        above: The superclasses that members of a class are not said to be in.
    """
    for use in uses.values():
        for shares, most in ((use.domains, use.subjects), (use.ranges, use.objects)):
            for c, n in sorted(shares.items()):
                for a in above.get(c, ()):
                    shares[a] = min(most, shares.get(a, 0) + n)
    found = dict(edges)
    for (source, p, target), n in edges.items():
        for s in (source, *above.get(source, ())):
            for t in (target, *above.get(target, ())):
                if (s, t) != (source, target):
                    found[s, p, t] = min(uses[p].triples, found.get((s, p, t), 0) + n)
    return found


def _direct(stated: Mapping[str, set[str]]) -> list[tuple[str, str]]:
    """Return the pairs of a class and a superclass that no third class is between."""
    return [
        (c, a)
        for c in sorted(stated)
        for a in sorted(stated[c])
        if not any(a in stated.get(b, ()) and b not in stated.get(a, ()) for b in stated[c] if b != a)
    ]


def _batches(pairs: Iterable[tuple[str, str]], counts: Mapping[str, int]) -> Iterator[list[tuple[str, str]]]:
    """Yield pairs in batches of so many members; a class of more has a batch of its own."""
    batch: list[tuple[str, str]] = []
    size = 0
    for pair in pairs:
        if batch and (size + counts[pair[0]] > _BATCH or len(batch) == 500):
            yield batch
            batch, size = [], 0
        batch.append(pair)
        size += counts[pair[0]]
    if batch:
        yield batch


def _of_parents(pairs: Iterable[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    """Yield the pairs of one superclass together."""
    by: dict[str, list[tuple[str, str]]] = {}
    for pair in pairs:
        by.setdefault(pair[0], []).append(pair)
    batch: list[tuple[str, str]] = []
    for own in by.values():
        if batch and len(batch) + len(own) > 500:
            yield batch
            batch = []
        batch += own
    if batch:
        yield batch
