"""Reads what lies some properties away from individuals, as far as time allows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rdflib import URIRef

from mrag.cel.semantics.statements import Edges, OutOfTime, Types, statements
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import OxTerm, Term

_PORTION = 100
"""Entities of which it is read before it is asked whether to go on."""


@dataclass(frozen=True)
class Reached:
    """What was read.

    Attributes:
        types: Pairs of a term and a class.
        edges: Triples that are not of the schema.
        steps: How many properties deep they are.
        read: The individuals from which it starts, of which there was time to read.
    """

    types: Types
    edges: Edges
    steps: int
    read: frozenset[str]


def reached_from(
    kg: KnowledgeGraph,
    individuals: Sequence[str],
    steps: int,
    most: int,
    check: Callable[[], None] | None = None,
    begun: Callable[[], None] | None = None,
) -> Reached:
    """Read what lies so many properties away from individuals, forwards; see `World.around`.

    Args:
        kg: The knowledge graph.
        individuals: Their IRIs.
        steps: How many properties deep.
        most: Stop before more individuals than these would have to be followed.
        check: Called now and then; if it raises `OutOfTime`, fewer steps are read.
        begun: Called while the individuals themselves are read; if it raises `OutOfTime`, fewer are.
    """
    edges: Edges = []
    types: Types = []
    made: dict[OxTerm, Term] = {}
    at = list(dict.fromkeys(individuals))
    number, first = _in_portions(kg, at, made, begun)
    at = given = at[:number]
    seen = set(at)
    reached = 0
    while True:
        try:
            kinds, found = statements(kg, at, made, check) if reached else first
        except OutOfTime:
            # Without the classes of what was reached last, that step is not there.
            known = {x for x, _ in types} | {URIRef(i) for i in given}
            reached -= 1
            edges = [e for e in edges if e[0] in known] if reached else []
            break
        types.extend(kinds)
        new = {str(o) for _, _, o in found if isinstance(o, URIRef)} - seen
        if reached == steps or (reached and len(new) > most):
            break
        reached += 1
        edges.extend(found)
        at = sorted(new)
        seen.update(at)
    return Reached(types, edges, reached, frozenset(given))


def _in_portions(
    kg: KnowledgeGraph,
    subjects: Sequence[str],
    made: dict[OxTerm, Term],
    check: Callable[[], None] | None,
) -> tuple[int, tuple[Types, Edges]]:
    """Read statements about as many entities as there is time for, and at least of some.

    Args:
        kg: The knowledge graph.
        subjects: IRIs, the first ones first.
        made: As in `statements`.
        check: Called before each further portion; `OutOfTime` ends the reading.

    Returns:
        Of how many it was read, and what.
    """
    types: Types = []
    edges: Edges = []
    for start in range(0, max(len(subjects), 1), _PORTION):
        try:
            if start and check is not None:
                check()
        except OutOfTime:
            return start, (types, edges)
        kinds, found = statements(kg, subjects[start : start + _PORTION], made)
        types += kinds
        edges += found
    return len(subjects), (types, edges)
