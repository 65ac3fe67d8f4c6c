"""What a plan names, and what else may be named in its place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal as OneOf
from typing import TypeAlias

from rdflib import RDF, XSD, Literal, URIRef

from mrag.graph.kg import KnowledgeGraph
from mrag.planning.following.editing import (
    walk,
    with_class,
    with_entity,
    with_literals,
    with_property,
    with_text,
)
from mrag.planning.lexical.candidates import Candidate
from mrag.planning.plan import Comparison, Contains, Pattern, Plan
from mrag.planning.reading.periods import Period
from mrag.planning.schema import PropertyInfo, Schema
from mrag.planning.scopes import plain
from mrag.rdf import queries
from mrag.rdf.terms import Term

SlotRole: TypeAlias = OneOf["entity", "text", "number", "time", "class", "property"]

_DATES = (XSD.date, XSD.dateTime)


@dataclass(frozen=True)
class Slot:
    """A name or a value of a plan, in whose place another one may stand.

    Attributes:
        role: What it is.
        terms: The term; of a time its first day and the day after its last, where the plan has both.
        subject_of: Properties that the plan says of it; of a class, those of its members.
        object_of: Properties that the plan has it as a value of; of a class, those that lead to members.
    """

    role: SlotRole
    terms: tuple[Term, ...]
    subject_of: tuple[str, ...] = ()
    object_of: tuple[str, ...] = ()

    @property
    def term(self) -> Term:
        """Return the term, or the first."""
        return self.terms[0]


def slots_of(plan: Plan) -> list[Slot]:
    """Return what a plan names, in the order in which it stands there.

    Example:
        >>> from mrag.planning.plan import Unknown
        >>> x = Unknown("x")
        >>> from mrag.planning.plan import Block
        >>> [s.role for s in slots_of(Plan(Block((Pattern(x, URIRef("urn:in"), URIRef("urn:Rome")),))))]
        ['property', 'entity']
    """
    found: dict[tuple[SlotRole, tuple[Term, ...]], Slot] = {}
    patterns = [p for p in walk(plan) if isinstance(p, Pattern)]
    for role, terms, at in _places(plan):
        if (role, terms) not in found:
            of = {terms[0], at} if role == "entity" else {at}
            found[role, terms] = Slot(
                role,
                terms,
                tuple(dict.fromkeys(str(p.predicate) for p in patterns if p.subject in of and _said(p))),
                tuple(dict.fromkeys(str(p.predicate) for p in patterns if p.object in of and _said(p))),
            )
    return list(found.values())


def _said(pattern: Pattern) -> bool:
    return isinstance(pattern.predicate, URIRef) and pattern.predicate != RDF.type


def _places(plan: Plan) -> Iterator[tuple[SlotRole, tuple[Term, ...], object]]:
    """Yield roles and terms, each with the unknown that says what it is."""
    compared = [c for c in walk(plan) if isinstance(c, Comparison)]
    for part in walk(plan):
        if isinstance(part, Pattern) and part.predicate == RDF.type:
            if isinstance(part.object, URIRef):
                yield "class", (part.object,), part.subject
        elif isinstance(part, Pattern):
            if isinstance(part.subject, URIRef):
                yield "entity", (part.subject,), None
            if isinstance(part.predicate, URIRef):
                yield "property", (part.predicate,), None
            if isinstance(part.object, URIRef):
                yield "entity", (part.object,), None
        elif isinstance(part, Contains) and part.position == "whole":
            yield "text", (Literal(part.text),), plain(part.value)
        elif isinstance(part, Comparison):
            for side, other in ((part.left, part.right), (part.right, part.left)):
                if isinstance(side, URIRef):
                    yield "entity", (side,), other
            if isinstance(part.right, Literal) and part.right.datatype != XSD.boolean:
                bounds = tuple(
                    c.right for c in compared if c.left == part.left and isinstance(c.right, Literal)
                )
                dated = part.right.datatype in _DATES
                yield ("time", bounds, None) if dated else ("number", (part.right,), plain(part.left))


def filled(plan: Plan, changes: Sequence[tuple[Slot, Sequence[Term]]]) -> Plan:
    """Return a plan with other terms in the places of some of its slots, all at once.

    Args:
        plan: The plan.
        changes: Slots with as many terms of the same kind as they have.
    """
    held = []
    for number, (slot, new) in enumerate(changes):
        # What one slot gets may be what another one held.
        marks = tuple(_mark(term, f"urn:mrag:slot:{number}:{at}") for at, term in enumerate(slot.terms))
        plan = _put(plan, slot, marks)
        held.append((replace(slot, terms=marks), new))
    for slot, new in held:
        plan = _put(plan, slot, new)
    return plan


def _mark(term: Term, name: str) -> Term:
    return URIRef(name) if isinstance(term, URIRef) else Literal(name)


def _put(plan: Plan, slot: Slot, new: Sequence[Term]) -> Plan:
    old, (first, *_) = slot.term, new
    if slot.role in ("number", "time"):
        pairs = zip(slot.terms, new, strict=True)
        return with_literals(
            plan, {a: b for a, b in pairs if isinstance(a, Literal) and isinstance(b, Literal)}
        )
    if slot.role == "text":
        return with_text(plan, str(old), str(first))
    change = {"entity": with_entity, "class": with_class, "property": with_property}[slot.role]
    return change(plan, URIRef(old), URIRef(first))


def in_period(slot: Slot, period: Period) -> tuple[Literal, ...] | None:
    """Return what stands in a slot for another time; None where the slot holds no such time."""
    if period.low is None or period.high is None:
        return None
    if slot.role == "number":
        return (Literal(period.low.year),) if is_year(slot.term) and period.unit == "year" else None
    if slot.role != "time" or len(slot.terms) != 2:
        return None  # of one bound nothing tells whether it was the first day of a time or the last
    low, high = sorted(map(str, slot.terms))
    ends = {low: period.low, high: period.high}
    return tuple(Literal(ends[str(t)].isoformat(), datatype=XSD.date) for t in slot.terms)


def is_year(term: Term) -> bool:
    """Return whether a literal may be the number of a year."""
    value = term.toPython() if isinstance(term, Literal) else None
    return isinstance(value, int) and not isinstance(value, bool) and 1000 <= value < 2200


class SlotFitter:
    """Tells which names may stand in a slot.

    Args:
        kg: The graph.
        schema: Its schema.
    """

    def __init__(self, kg: KnowledgeGraph, schema: Schema) -> None:
        self._kg = kg
        self._schema = schema
        self._classes: dict[Term, set[str]] = {}

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
        found = {c for p in slot.object_of for c in self._ends(p, False)}
        found |= {c for p in slot.subject_of for c in self._ends(p, True)}
        if slot.term not in self._classes:
            text = queries.get("planning/classes-of").bind(thing=[slot.term])
            named = (str(c) for _, c in self._kg.select(text))
            self._classes[slot.term] = set(self._schema.with_superclasses(named))
        return (found | self._classes[slot.term]) - {""}

    def _ends(self, iri: str, domain: bool) -> set[str]:
        info = self._schema.properties.get(iri)
        return set() if info is None else set(info.domains if domain else info.ranges)


def _alike(one: PropertyInfo, other: PropertyInfo) -> bool:
    """Return whether two properties are said of the same things and have values of one kind."""
    same = one.kind == other.kind and bool(set(one.domains) & set(other.domains))
    return same and (one.kind != "entity" or bool(set(one.ranges) & set(other.ranges)))
