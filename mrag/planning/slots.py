"""The names and values of a plan, and what else may stand in their places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias, TypeGuard
from typing import Literal as OneOf

from rdflib import RDF, XSD, Literal, URIRef

from mrag.graph.kg import KnowledgeGraph
from mrag.planning import plan as pl
from mrag.planning.lexical import Candidate
from mrag.planning.profiling import classes_of
from mrag.planning.reader.frames import Unreadable, bounded, bounds_of, decimal, fitness
from mrag.planning.reader.units import Unit
from mrag.planning.reader.world import SchemaWays
from mrag.planning.schema import PropertyInfo, Schema
from mrag.planning.scopes import plain, rewritten, walk
from mrag.rdf.terms import Term

SlotRole: TypeAlias = OneOf["entity", "text", "number", "time", "class", "property"]
Filling: TypeAlias = "tuple[Term] | tuple[pl.Condition, ...]"
"""A term in the place of a name or a text, or conditions in the place of those on a value."""

_DATES: Final = (XSD.date, XSD.dateTime)


@dataclass(frozen=True)
class Slot:
    """A name or a value of a plan, in whose place another one may stand."""

    role: SlotRole  # What it is
    terms: tuple[Term, ...]  # The term, or of a value all that it is compared with
    subject_of: tuple[str, ...] = ()  # Properties that the plan says of it; of a class, those of its members
    # Properties that the plan has it as a value of; of a class, those that lead to members
    object_of: tuple[str, ...] = ()
    bounds: tuple[pl.Comparison, ...] = ()  # Of a value, how it is compared

    @property
    def term(self) -> Term:
        """Return the term, or the first."""
        return self.terms[0]


@dataclass(frozen=True)
class SlotOption:
    """What may stand in a slot: its name, and how like the words that is."""

    slot: Slot
    filling: Filling
    name: str
    score: float

    @property
    def changes(self) -> bool:
        """Return whether the slot would hold something else than before."""
        return self.filling != (self.slot.bounds or self.slot.terms)


def slots_of(plan: pl.Plan) -> list[Slot]:
    """Return what a plan names, in the order in which it stands there.

    Example:
        >>> from mrag.planning import Block, Pattern, Plan, Unknown
        >>> x = Unknown("x")
        >>> [s.role for s in slots_of(Plan(Block((Pattern(x, URIRef("urn:in"), URIRef("urn:Rome")),))))]
        ['property', 'entity']
    """
    slots: dict[tuple[SlotRole, tuple[Term, ...]], Slot] = {}
    patterns = [p for p in walk(plan) if isinstance(p, pl.Pattern)]
    for role, terms, at, bounds in _places(plan):
        of = {terms[0], at} if role == "entity" else {at}
        slot = Slot(
            role,
            terms,
            tuple(dict.fromkeys(str(p.predicate) for p in patterns if p.subject in of and _is_said(p))),
            tuple(dict.fromkeys(str(p.predicate) for p in patterns if p.object in of and _is_said(p))),
            bounds,
        )
        slots.setdefault((role, terms), slot)
    return list(slots.values())


def _is_said(pattern: pl.Pattern) -> bool:
    return isinstance(pattern.predicate, URIRef) and pattern.predicate != RDF.type


_Place: TypeAlias = tuple[SlotRole, tuple[Term, ...], object, tuple[pl.Comparison, ...]]


def _places(plan: pl.Plan) -> Iterator[_Place]:
    """Yield roles and terms, each with the unknown that says what it is, and how that is compared."""
    compared = [c for c in walk(plan) if _is_bound(c)]
    for part in walk(plan):
        if isinstance(part, pl.Pattern) and part.predicate == RDF.type:
            if isinstance(part.object, URIRef):
                yield "class", (part.object,), part.subject, ()
        elif isinstance(part, pl.Pattern):
            if isinstance(part.subject, URIRef):
                yield "entity", (part.subject,), None, ()
            if isinstance(part.predicate, URIRef):
                yield "property", (part.predicate,), None, ()
            if isinstance(part.object, URIRef):
                yield "entity", (part.object,), None, ()
        elif isinstance(part, pl.Contains) and part.position == "whole":
            yield "text", (Literal(part.text),), plain(part.value), ()
        elif isinstance(part, pl.Comparison):
            for side, other in ((part.left, part.right), (part.right, part.left)):
                if isinstance(side, URIRef):
                    yield "entity", (side,), other, ()
            if _is_bound(part):
                bounds = tuple(dict.fromkeys(c for c in compared if c.left == part.left))
                terms = tuple(dict.fromkeys(c.right for c in bounds if isinstance(c.right, Literal)))
                dated = isinstance(part.left, pl.DatePart | pl.Arithmetic) or terms[0].datatype in _DATES
                yield "time" if dated else "number", terms, plain(part.left), bounds


def _is_bound(part: object) -> TypeGuard[pl.Comparison]:
    value = part.right if isinstance(part, pl.Comparison) else None
    return isinstance(value, Literal) and value.datatype != XSD.boolean


def fill(plan: pl.Plan, changes: Sequence[tuple[Slot, Filling]]) -> pl.Plan:
    """Return a plan with something else in the places of some of its slots, all at once."""
    for slot, new in changes:
        plan = _compared(plan, slot, new) if slot.bounds else plan
    # All names at once: what one slot gets may be what another one held.
    terms: dict[tuple[SlotRole, object], Any] = {(s.role, s.term): n[0] for s, n in changes if not s.bounds}

    def put(role: SlotRole, old: Any) -> Any:
        return terms.get((role, old), old)

    def change(value: Any) -> Any:
        match value:
            case pl.Pattern(subject, predicate, named):
                end = put("class" if predicate == RDF.type else "entity", named)
                subject, predicate = put("entity", subject), put("property", predicate)
                return replace(value, subject=subject, predicate=predicate, object=end)
            case pl.Comparison(left, relation, right):
                return pl.Comparison(put("entity", left), relation, put("entity", right))
            case pl.Contains(text=text):
                return replace(value, text=str(put("text", Literal(text))))
        return value

    return rewritten(plan, change)


def _compared(plan: pl.Plan, slot: Slot, new: Any) -> pl.Plan:
    """Return a plan with other conditions in the place of those on a value."""

    def change(value: Any) -> Any:
        name = {pl.Block: "conditions", pl.Plan: "having"}.get(type(value), "")
        conditions: tuple[pl.Condition, ...] = getattr(value, name) if name else ()
        first = next((n for n, c in enumerate(conditions) if c in slot.bounds), None)
        if first is None:
            return value
        kept = (c for c in conditions[first:] if c not in slot.bounds)
        return replace(value, **{name: (*conditions[:first], *new, *kept)})

    return rewritten(plan, change)


class SlotFitter:
    """Tells what may stand in a slot."""

    def __init__(self, kg: KnowledgeGraph, schema: Schema) -> None:
        self._kg = kg
        self._schema = schema
        self._classes: dict[Term, set[str]] = {}

    def options(self, unit: Unit, said: str, slots: Sequence[Slot]) -> Iterator[SlotOption]:
        """Yield the slots that a unit fits, and with what."""
        for slot in slots:
            if slot.bounds and (bounds := self._bounds(unit, slot)):
                yield SlotOption(slot, bounds, said, 1.0)
            for candidate in unit.options if unit.kind != "adjective" and not slot.bounds else ():
                if term_of(candidate) == slot.term or self.fits(candidate, slot):
                    # Of all things with that word in their names only few are of the kind.
                    more = (1 - candidate.score) / 2 if candidate.way == "tokens" else 0.0
                    yield SlotOption(slot, (term_of(candidate),), candidate.name, candidate.score + more)

    def _bounds(self, unit: Unit, slot: Slot) -> tuple[pl.Condition, ...]:
        """Return how a value is compared with a quantity or a time; nothing where it cannot be."""
        if unit.kind not in ("quantity", "time") or unit.part == "rank":
            return ()
        first, value = slot.bounds[0], plain(slot.bounds[0].left)
        if unit.op == "=" and len(unit.values) == 1 and len(slot.bounds) == 1:
            unit = replace(unit, op=first.relation)
        if unit.part == "month" and isinstance(first.left, pl.DatePart) and first.left.part == "year-month":
            # A month without a year is one of the year that was spoken of.
            year = str(slot.term).split("-")[0]
            unit = replace(unit, part="year-month", values=tuple(f"{year}-{int(m):02}" for m in unit.values))
        infos = (self._schema.properties.get(p) for p in slot.object_of)
        info = next((i for i in infos if i is not None), None)
        try:
            if info is not None and isinstance(value, pl.Unknown):
                # "In 2023" is no number that is far from all others.
                like = 0.0 if info.kind == "text" else fitness(SchemaWays(self._schema), info, unit)
                year = unit.values[0] if unit.kind == "quantity" and not unit.unit else ""
                fits = like is not None and (like >= 0 or not (year.isdigit() and 1000 <= int(year) < 2200))
                return tuple(bounds_of(value, info, unit)) if fits else ()
            if isinstance(value, pl.Aggregate) and unit.kind == "quantity":
                return tuple(bounded(first.left, unit.op, [decimal(v) for v in unit.values]))
        except Unreadable:
            pass
        return ()

    def fits(self, candidate: Candidate, slot: Slot) -> bool:
        """Return whether a name is of the slot's class, or in the range of its property."""
        if candidate.kind == "entity" and slot.role == "entity":
            return bool(self._entities(slot) & set(candidate.classes))
        if candidate.kind == "value" and slot.role == "text":
            return bool(set(slot.object_of) & set(candidate.properties))
        if candidate.kind == "class" and slot.role == "class":
            ends = [*((p, True) for p in slot.subject_of), *((p, False) for p in slot.object_of)]
            return all(candidate.term in self._ends(p, domain) for p, domain in ends)
        if candidate.kind == "property" and slot.role == "property":
            one, other = (self._schema.properties.get(str(t)) for t in (candidate.term, slot.term))
            return one is not None and other is not None and _alike(one, other)
        return False

    def _entities(self, slot: Slot) -> set[str]:
        """Return the classes of what a slot names, and of all that its place may name."""
        classes = {c for p in slot.object_of for c in self._ends(p, False)}
        classes |= {c for p in slot.subject_of for c in self._ends(p, True)}
        if slot.term not in self._classes:
            named = classes_of(self._kg, [slot.term])[str(slot.term)]
            self._classes[slot.term] = set(self._schema.with_superclasses(named))
        return (classes | self._classes[slot.term]) - {""}

    def _ends(self, iri: str, domain: bool) -> set[str]:
        info = self._schema.properties.get(iri)
        return set() if info is None else set(info.domains if domain else info.ranges)


def _alike(one: PropertyInfo, other: PropertyInfo) -> bool:
    """Return whether two properties are said of the same things and have values of one kind."""
    same = one.kind == other.kind and bool(set(one.domains) & set(other.domains))
    return same and (one.kind != "entity" or bool(set(one.ranges) & set(other.ranges)))


def term_of(candidate: Candidate) -> Term:
    """Return the term that a name stands for."""
    return Literal(candidate.term) if candidate.kind == "value" else URIRef(candidate.term)
