"""Classes that are one table: a class with those below it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from mrag.planning.schema import Schema

_MOST = 16
"""Classes of a family at most: what has more below it is hardly what a question is about."""


def families(schema: Schema) -> Mapping[str, frozenset[str]]:
    """Return the classes that tables are made of, each with itself and all classes below it.

    Args:
        schema: The schema of a graph.

    Example:
        >>> from mrag.planning.schema import ClassInfo
        >>> dog = ClassInfo("urn:Dog", ("dog",), parents=("urn:Animal",))
        >>> animal = ClassInfo("urn:Animal", ("animal",))
        >>> found = families(Schema({"urn:Animal": animal, "urn:Dog": dog}, {}, ()))
        >>> {top: sorted(family) for top, family in found.items()}
        {'urn:Animal': ['urn:Animal', 'urn:Dog']}
    """
    above = {c: schema.above(c) - {c} for c in schema.classes}
    below: defaultdict[str, set[str]] = defaultdict(set)
    for c, parents in above.items():
        for parent in parents:
            if c not in above.get(parent, ()):
                below[parent].add(c)
    small = {c for c in schema.classes if len(below[c]) < _MOST}
    found: defaultdict[str, set[str]] = defaultdict(set)
    for c in schema.classes:
        tops = [p for p in above[c] if p in small and c in below[p]]
        # The highest of them; of several the one with the most members.
        top = min(tops, key=lambda p: (len(above[p] & small), -schema.classes[p].count, p), default=c)
        found[top if c in small else c].add(c)
    return {c: frozenset(found[c] | {c}) for c in sorted(found)}
