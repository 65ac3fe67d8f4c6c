"""What is measured of a derivation as a whole: what it asks for and tells, and whether its plan is sound."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final

from rdflib import RDF, URIRef

from mrag.planning.plan import Aggregate, Comparison, Contains, Expression, Pattern, Plan, Unknown, parts
from mrag.planning.reader.frames import RoleItem
from mrag.planning.schema import Schema
from mrag.planning.scopes import walk

_ASKING: Final = frozenset("when where which what list show give find".split())
_AUXILIARIES: Final = frozenset("is are was were do does did has have can".split())
_PASSED: Final = ("skip", "hint")
_MOST: Final = 3.0  # How often is as often as any more
_RARE, _FEW = 0.05, 0.4
"""Shares of the things of a class below which few, and not most, have a property."""


def opening(low: Sequence[str]) -> str:
    """Return how a question begins, of a few ways.

    Example:
        >>> opening("how many rivers are there".split()), opening("rivers of Spain".split())
        ('how many', 'other')
    """
    first = low[0] if low else ""
    if first in ("who", "whom"):
        return "who"
    if first == "how" and low[1:2] in (["many"], ["much"]):
        return f"how {low[1]}"
    return first if first in _ASKING else "is" if first in _AUXILIARIES else "other"


def of_items(items: Sequence[RoleItem], asks: str) -> Iterator[tuple[str, float]]:
    """Yield what is measured of units and their roles: the first, the last, and which stand together.

    Args:
        items: The units.
        asks: How the question begins, as `opening` returns it.
    """
    kept = sorted((i for i in items if i.role not in _PASSED), key=lambda i: i.at)
    if not kept:
        return
    for name, item in ((f"opens {asks}", kept[0]), ("ends", kept[-1])):
        yield f"{name}: {item.role} {_sort(item)}", 1.0
    counts = Counter(item.role for item in kept)
    yield from ((f"both: {one}+{other}", 1.0) for one, other in combinations(sorted(counts), 2))
    yield from ((f"twice: {role}", 1.0) for role, count in counts.items() if count > 1)
    yield "items", float(len(kept))


def _sort(item: RoleItem) -> str:
    return item.unit.cue if item.unit.cue and item.unit.kind != "adjective" else item.unit.kind


def of_plan(
    plan: Plan, shown: Collection[str], schema: Schema, people: Collection[str], asks: str
) -> Iterator[tuple[str, float]]:
    """Yield what is measured of a plan: what it tells, and what no sensible plan has.

    Args:
        plan: The plan.
        shown: Names of the columns that are asked for.
        schema: The schema of the graph.
        people: The classes of people.
        asks: How the question begins, as `opening` returns it.
    """
    patterns, uses, conditions = set[Pattern](), Counter[object](), Counter[object]()
    for part in walk(plan):
        if isinstance(part, Pattern):
            patterns.add(part)
        elif isinstance(part, Unknown):
            uses[part] += 1
        elif isinstance(part, Comparison | Contains):
            conditions[part] += 1
    said = [p for p in patterns if p.predicate != RDF.type]
    typed = {p.subject: str(p.object) for p in patterns if p.predicate == RDF.type}
    values = [c.value for c in plan.columns if c.name in shown]
    if len(set(values)) < len(values):
        yield "shown twice", 1.0
    if any(count > 1 for count in conditions.values()):
        yield "said twice", 1.0
    open_ = [p for p in said if isinstance(p.object, Unknown)]
    if _twice((p.predicate, p.object) for p in open_):
        yield "meeting", 1.0
    if _twice((p.predicate, p.subject) for p in open_):
        yield "forking", 1.0
    counts = {
        "dangling": sum(uses[p.object] <= 1 for p in open_),
        "named": len({end for p in said for end in (p.subject, p.object) if isinstance(end, URIRef)}),
        "apart": _pieces(plan.where.patterns) - 1,
        **_fit(said, typed, schema),
    }
    yield from ((name, min(float(count), _MOST)) for name, count in counts.items() if count > 0)
    kinds = {_told(v, said, typed, schema, people) for v in values}
    yield from ((f"{asks} tells {kind}", 1.0) for kind in kinds)
    if len(values) == 1:
        yield f"{asks} tells only {min(kinds)}", 1.0


def _twice(some: Iterator[object]) -> bool:
    return any(count > 1 for count in Counter(some).values())


def _pieces(patterns: Sequence[Pattern]) -> int:
    """Return into how many pieces triples fall that have nothing in common."""
    pieces = list[set[object]]()
    for p in patterns:
        own: set[object] = {p.subject} if p.predicate == RDF.type else {p.subject, p.object}
        touched = [piece for piece in pieces if piece & own]
        pieces = [piece for piece in pieces if not piece & own] + [own.union(*touched)]
    return len(pieces)


def _fit(said: Sequence[Pattern], typed: Mapping[Unknown | URIRef, str], schema: Schema) -> dict[str, int]:
    """Return how many properties few things of a class have, and how many are said of no class."""
    found = Counter[str]()
    for p in said:
        info, cls = schema.properties.get(str(p.predicate)), typed.get(p.subject)
        if cls is None:
            found["of no class"] += info is not None and isinstance(p.subject, Unknown)
        elif info is not None and cls in schema.classes and schema.classes[cls].count:
            share = info.domains.get(cls, 0) / schema.classes[cls].count
            found["rare"] += share < _RARE
            found["of few"] += _RARE <= share < _FEW
    return dict(found)


def _told(
    value: Expression, said: Sequence[Pattern], typed: Mapping[Unknown | URIRef, str], schema: Schema,
    people: Collection[str],
) -> str:  # fmt: skip
    """Return of which kind a column is: people, things, a kind of literal, or how it is computed."""
    if not isinstance(value, Unknown):
        folds = sorted({e.function for e in parts(value) if isinstance(e, Aggregate)})
        return "+".join(folds) or type(value).__name__
    infos = [(p, info) for p in said if (info := schema.properties.get(str(p.predicate))) is not None]
    if value in typed:
        kinds = {typed[value]}
    else:
        ends = [
            set(i.domains if p.subject == value else i.ranges)
            for p, i in infos
            if value in (p.subject, p.object)
        ]
        kinds = (set.intersection(*ends) if ends else set()) - {""}
    if kinds:
        return "people" if kinds & set(people) else "things"
    return min((i.kind for p, i in infos if p.object == value), default="anything")
