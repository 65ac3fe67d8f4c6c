"""Edges of an entity as they were read, and which of them a hub gives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
import typing
from typing import TypeAlias

import pyoxigraph as ox

from mrag.rdf.terms import OxTerm

Direction = typing.Literal["out", "in"]
Statement: TypeAlias = tuple[str, str, OxTerm, str]
"""Subject IRI, predicate IRI, object, graph IRI."""

TEXTS = 256
"""Texts of one property that are read at most, because they may come in dozens of languages."""


@dataclass(frozen=True)
class Edges:
    """The edges of one entity in one direction.

    Attributes:
        statements: Those read.
        cut: Predicates of which there are more than were read.
    """

    statements: tuple[Statement, ...]
    cut: frozenset[str] = frozenset()


def order(statement: Statement) -> tuple[str, str, str, str]:
    """Return what the edges of one predicate are sorted by, which is what `ORDER BY` sorts them by."""
    s, _, o, _ = statement
    if isinstance(o, ox.Literal):
        return s, o.value, o.language or "", str(o)
    return s, o.value if isinstance(o, ox.NamedNode) else str(o), "", str(o)


def share_of(part: Iterable[Statement], share: int, *, ordered: bool = False) -> tuple[list[Statement], bool]:
    """Return what a hub gives of the edges of one predicate in one graph, and whether there are more.

    Args:
        part: The edges.
        share: Most of them, texts of a language aside, of which the caller wants one.
        ordered: Whether they stand in an order that can be relied on; else they are sorted before a cut.
    """
    texts: list[Statement] = []
    rest: list[Statement] = []
    for statement in part:
        o = statement[2]
        (texts if isinstance(o, ox.Literal) and o.language else rest).append(statement)
    many = len(texts) > TEXTS
    if many and not ordered:
        texts.sort(key=order)
    if cut := len(rest) > share:
        if not ordered:
            rest.sort(key=order)
        rest = rest[:share]
    return texts[:TEXTS] + rest, cut or many


@dataclass(frozen=True)
class ReadEdges:
    """What a server has given of the edges of one entity in one direction.

    Attributes:
        statements: The edges.
        graphs: The graphs that they may be in, in order.
        longer: Predicates and graphs of which the server gave the first edges only.
        bounds: The `scan` that it has more edges than, and the `share` that was asked for of a predicate.
    """

    statements: Sequence[Statement]
    graphs: Sequence[str]
    longer: frozenset[tuple[str, str]] = frozenset()
    bounds: tuple[int, int] = (0, 0)

    def serves(self, scan: int, share: int) -> bool:
        """Return whether it is enough for these bounds."""
        return not self.longer or (scan <= self.bounds[0] and share <= self.bounds[1])

    def bounded(self, scan: int, share: int, only: frozenset[str] | None = None) -> Edges:
        """Return the edges: all of them up to `scan`, of a hub a share of each predicate.

        Args:
            scan: Edges up to which an entity gives all.
            share: Most edges of one predicate when it is a hub.
            only: IRIs of the only predicates; their share is given, hub or not.
        """
        if only is None and not self.longer and len(self.statements) <= scan:
            return Edges(tuple(self.statements))
        groups: dict[tuple[str, str], list[Statement]] = {}
        for statement in self.statements:
            if only is None or statement[1] in only:
                groups.setdefault((statement[1], statement[3]), []).append(statement)
        found: list[Statement] = []
        cut: set[str] = set()
        for predicate in sorted({p for p, _ in groups}):
            for graph in self.graphs:
                part, more = share_of(groups.get((predicate, graph), ()), share)
                found.extend(part)
                if more or (predicate, graph) in self.longer:
                    cut.add(predicate)
        return Edges(tuple(found), frozenset(cut))
