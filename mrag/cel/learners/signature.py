"""The words that learners make hypotheses of: classes, properties and limits of values that a graph holds.

Example:
    >>> from rdflib import URIRef
    >>> a, b, c = (URIRef(f"urn:{x}") for x in "abc")
    >>> world = World([(a, "urn:Cat"), (b, "urn:Dog")], [(a, "urn:likes", b), (b, "urn:likes", c)])
    >>> atoms = Signature(world, inverse=True)
    >>> atoms.classes
    ('urn:Cat', 'urn:Dog')
    >>> [p.inverse for p in atoms.links]
    [False, True]
    >>> atoms.classes_of(world.index[a]), len(atoms.values_of(atoms.links[0], world.index[a]))
    (('urn:Cat',), 1)
"""

from __future__ import annotations

import math
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt
from rdflib import Literal

from mrag.cel.semantics.instances import World
from mrag.cel.semantics.sparql import VOCABULARY
from mrag.cel.semantics.values import INTEGERS, comparable
from mrag.cel.syntax.expressions import DataRange, DataSome, Expression, Facet, Property, Value
from mrag.rdf.terms import OWL, XSD

_TRIVIAL = frozenset(v.value for v in VOCABULARY) | {OWL + "Thing", OWL + "NamedIndividual"}
_ORDERED = tuple(XSD + n for n in ("decimal", "double", "float", "date", "dateTime"))
_COMMON = 30
"""Most texts of a property that are looked for as such."""
_FEWEST = 3
"""So many terms have a text that is looked for: captions and names of files are of one or two."""
_FACETS: tuple[Facet, ...] = ("minInclusive", "maxInclusive")


class Signature:
    """The classes and properties of a world, and what each of its terms has of them.

    Args:
        world: The statements.
        inverse: Whether properties are taken backwards too, where the world can.

    Attributes:
        classes: IRIs of the classes that hold something and are not of the vocabularies of RDF and OWL.
        links: Properties that lead to individuals.
        data: Properties that lead to literals.
    """

    def __init__(self, world: World, *, inverse: bool = False) -> None:
        self.world = world
        self.classes = tuple(c for c, held in world.classes.items() if not trivial(c) and held.any())
        literal = np.zeros(world.size, dtype=bool)
        literal[world.literals] = True
        links: list[Property] = []
        data: list[Property] = []
        for iri, (_, values) in world.roles.items():
            to_literal = literal[values]
            if not to_literal.all():
                links.append(Property(iri))
                if inverse and world.inverse:
                    links.append(Property(iri, True))
            if to_literal.any():
                data.append(Property(iri))
        self.links, self.data = tuple(links), tuple(data)
        self._literal = literal
        self._reach: dict[Property, tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]] = {}
        self._classes_of: dict[int, tuple[str, ...]] = {}

    def classes_of(self, at: int) -> tuple[str, ...]:
        """Return the classes of the term at a place."""
        found = self._classes_of.get(at)
        if found is None:
            found = tuple(c for c in self.classes if self.world.classes[c][at])
            self._classes_of[at] = found
        return found

    def values_of(self, p: Property, at: int) -> npt.NDArray[np.intp]:
        """Return where the values of a property of the term at a place stand."""
        reach = self._reach.get(p)
        if reach is None:
            sources, values = self.world.pairs(p)
            order = np.argsort(sources, kind="stable")
            reach = self._reach[p] = (sources[order], values[order])
        sources, values = reach
        start, end = np.searchsorted(sources, [at, at + 1])
        return values[start:end]

    def is_literal(self, at: int) -> bool:
        """Return whether a literal stands at a place."""
        return bool(self._literal[at])

    def alike(self, p: Property) -> bool:
        """Return whether all values of a property are of the same classes."""
        _, values = self.world.pairs(p)
        return len({self.classes_of(at) for at in np.unique(values).tolist()}) < 2

    def max_values(self, p: Property) -> int:
        """Return how many values of a property one term has at most."""
        sources, _ = self.world.pairs(p)
        return int(np.bincount(sources).max()) if len(sources) else 0

    def conditions(
        self,
        p: Property,
        splits: int,
        labels: npt.NDArray[np.int8] | None = None,
    ) -> list[Expression]:
        """Return conditions on the literals of a property: limits, and values that several terms have.

        Args:
            p: A property with literals.
            splits: Most places where numbers and dates are split, for each datatype.
            labels: 1 for positive examples, -1 for negative ones, 0 for all other terms of the world;
                where it is given, splits are those that tell most of them apart (the largest gain of
                information), else they have the same number of values between them.
        """
        sources, values = self.world.pairs(p)
        kinds: dict[str, list[tuple[Any, Literal, int]]] = {}
        texts: dict[int, set[int]] = {}
        for source, value in zip(sources.tolist(), values.tolist(), strict=True):
            term = self.world.terms[value]
            if not isinstance(term, Literal):
                continue
            kind, plain = _kind(term), comparable(term)
            if kind is None:
                texts.setdefault(value, set()).add(source)
            elif plain is not None and plain == plain:
                kinds.setdefault(kind, []).append((plain, term, source))
        found: list[Expression] = []
        for kind, rows in sorted(kinds.items()):
            rows.sort(key=lambda row: (row[0], row[1].n3(), row[2]))
            for limit in _splits(rows, splits, labels):
                found.extend(DataSome(p, DataRange(kind, ((facet, limit),))) for facet in _FACETS)
        common = [at for at, having in texts.items() if len(having) >= _FEWEST]
        for at in sorted(common, key=lambda at: (-len(texts[at]), at))[:_COMMON]:
            term = self.world.terms[at]
            assert isinstance(term, Literal)
            found.append(Value(p, term))
        return found


def trivial(name: str) -> bool:
    """Return whether a class says nothing of what it holds: it is of a vocabulary, or holds everything.

    Example:
        >>> trivial(OWL + "NamedIndividual"), trivial("urn:Cat")
        (True, False)
    """
    return name in _TRIVIAL


def _kind(term: Literal) -> str | None:
    """Return the datatype in which a literal is compared, None where it has no order to use."""
    datatype = str(term.datatype or "")
    if datatype in INTEGERS:
        return XSD + "integer"
    value = comparable(term)
    if isinstance(value, datetime) and value.tzinfo is not None and datatype == XSD + "date":
        return None
    # Times with and without a zone have no common order, so only those with one are split.
    if datatype == XSD + "dateTime" and isinstance(value, datetime) and value.tzinfo is None:
        return None
    return datatype if datatype in _ORDERED else None


def _splits(
    rows: list[tuple[Any, Literal, int]], max_splits: int, labels: npt.NDArray[np.int8] | None
) -> list[Literal]:
    """Return values to split ordered rows at; each begins the upper part."""
    starts = [at for at in range(1, len(rows)) if rows[at][0] != rows[at - 1][0]]
    if not starts or max_splits < 1:
        return [rows[0][1]] if rows else []
    if labels is None:
        step = max(1, math.ceil(len(starts) / max_splits))
        return [rows[at][1] for at in starts[step // 2 :: step]]
    marks = [int(labels[row[2]]) for row in rows]
    parts, chosen = [(0, len(rows))], list[int]()
    while parts and len(chosen) < max_splits:
        gains = [(_gain(marks, start, end, starts), start, end) for start, end in parts]
        (gain, at), start, end = max(gains, key=lambda g: (g[0][0], -g[1]))
        if gain <= 1e-9:
            break
        chosen.append(at)
        parts = [part for part in parts if part != (start, end)] + [(start, at), (at, end)]
    return [rows[at][1] for at in sorted(chosen)]


def _gain(marks: list[int], start: int, end: int, starts: list[int]) -> tuple[float, int]:
    """Return the best gain of information of a split between two places, and where it is."""
    p, n = marks[start:end].count(1), marks[start:end].count(-1)
    before, best, where = _entropy(p, n) * (p + n), 0.0, start
    left_p = left_n = 0
    last = start
    for at in starts:
        if not start < at < end:
            continue
        part = marks[last:at]
        left_p, left_n, last = left_p + part.count(1), left_n + part.count(-1), at
        after = _entropy(left_p, left_n) * (left_p + left_n)
        after += _entropy(p - left_p, n - left_n) * (p + n - left_p - left_n)
        if before - after > best:
            best, where = before - after, at
    return best, where


def _entropy(p: int, n: int) -> float:
    if p == 0 or n == 0:
        return 0.0
    share = p / (p + n)
    return -share * math.log2(share) - (1 - share) * math.log2(1 - share)
