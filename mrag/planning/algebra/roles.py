"""What the unknowns of a plan are: what it is about, of which class, and the value of which property."""

from __future__ import annotations

from rdflib import Literal, URIRef
from rdflib.namespace import RDF

from mrag.planning import plan as pl
from mrag.planning.algebra.scopes import aggregates, sides


class PlanRoles:
    """What is known of the unknowns of a plan.

    Args:
        plan: The plan.

    Attributes:
        subject: What the plan is about: what is counted or shown, else the first thing.
    """

    def __init__(self, plan: pl.Plan) -> None:
        self._plan = plan
        values = [*(c.value for c in plan.columns), *(s for h in plan.having for s in sides(h))]
        self._blocks = [plan.where, *(a.where for v in values for a in aggregates(v))]
        self._patterns = [p for b in self._blocks for p in b.patterns]
        self._optional = [p for b in plan.where.optional for p in b.patterns]
        self.subject = self._main()

    def _main(self) -> pl.Unknown | None:
        """Return what the plan is about: what is counted or shown, else the first thing."""
        folds = [u for c in self._plan.columns for a in aggregates(c.value) for u in a.of]
        shown = [c.value for c in self._plan.columns if isinstance(c.value, pl.Unknown)]
        subjects = [p.subject for p in self._patterns if isinstance(p.subject, pl.Unknown)]
        for unknown in (*folds, *shown, *subjects):
            if unknown in subjects:
                return unknown
        return next(iter(folds or shown), None)

    def type(self, unknown: pl.Unknown) -> URIRef | None:
        """Return the class of an unknown."""
        for p in self._patterns:
            if p.subject == unknown and p.predicate == RDF.type and isinstance(p.object, URIRef):
                return p.object
        for column, inner in self._joined():
            if column.name == unknown.name and isinstance(column.value, pl.Unknown):
                return PlanRoles(inner).type(column.value)
        return None

    def said_of(self, unknown: pl.Unknown) -> list[str]:
        """Return the properties that an unknown has, wherever the plan says so."""
        blocks = [*self._blocks, *(w for b in self._blocks for w in b.without)]
        return [str(p.predicate) for b in blocks for p in b.patterns if p.subject == unknown]

    def is_joined(self, unknown: pl.Unknown) -> bool:
        """Return whether an unknown is a column of a plan that is joined with this one."""
        return any(column.name == unknown.name for column, _ in self._joined())

    def _joined(self) -> list[tuple[pl.Column, pl.Plan]]:
        return [(c, plan) for plan in self._plan.where.plans for c in plan.columns]

    def is_kind(self, pattern: pl.Pattern) -> bool:
        """Return whether a pattern says the class that an unknown is called by."""
        return isinstance(pattern.subject, pl.Unknown) and self.type(pattern.subject) == pattern.object

    def binding(self, unknown: pl.Unknown) -> pl.Pattern | None:
        """Return the pattern that an unknown is the value of."""
        every = (*self._patterns, *self._optional)
        return next((p for p in every if p.object == unknown and p.predicate != RDF.type), None)

    def is_optional(self, value: pl.Expression) -> bool:
        """Return whether a value is one of an unknown that only an optional block binds."""
        optional = {p.object for p in self._optional} - {p.object for p in self._patterns}
        return any(part in optional for part in pl.parts(value))

    def number(self, unknown: pl.Unknown) -> int:
        """Return how many others that are called like an unknown the plan speaks of before it."""

        def called(u: pl.Unknown) -> object:
            bound = self.binding(u)
            if bound is not None:
                return self.type(u) or (bound.subject, bound.predicate)
            return self.type(u) or (u if self.is_joined(u) else frozenset(self.said_of(u)))

        every = (place for p in (*self._patterns, *self._optional) for place in (p.subject, p.object))
        first = (self.subject,) if self.subject is not None else ()
        ordered = dict.fromkeys((*first, *(place for place in every if isinstance(place, pl.Unknown))))
        alike = [u for u in ordered if called(u) == called(unknown)]
        return alike.index(unknown) if unknown in alike else 0

    def is_free(self, place: pl.Place) -> bool:
        """Return whether nothing else is said of a value."""
        spoken = [c for b in self._blocks for c in b.conditions]
        return self.mentions(place) == 1 and not any(place in pl.parts(s) for c in spoken for s in sides(c))

    def mentions(self, place: pl.Place) -> int:
        """Return in how many patterns something stands."""
        return sum(place in (p.subject, p.object) for p in self._patterns)

    def is_shown(self, unknown: pl.Unknown) -> bool:
        """Return whether a column shows an unknown."""
        return any(unknown in pl.parts(c.value) for c in self._plan.columns)

    def compared(self) -> set[pl.Pattern]:
        """Return what named things have, where a comparison of their values says that they have it."""
        where = self._plan.where
        ends = {u for c in where.conditions for s in sides(c) for u in pl.parts(s)}
        found = {p for p in where.patterns if isinstance(p.subject, URIRef) and p.object in ends}
        return found if len(found) > 1 else set()

    def only(self, condition: pl.Condition, unknown: pl.Unknown) -> bool:
        """Return whether a condition bounds the value of an unknown by something fixed."""
        if isinstance(condition, pl.Contains):
            return plain(condition.value) == unknown
        fixed = isinstance(condition.right, URIRef | Literal | pl.Scalar)
        return plain(condition.left) == unknown and fixed


def plain(value: pl.Expression) -> pl.Expression:
    """Return an expression without its reading as a number or a date."""
    return plain(value.value) if isinstance(value, pl.Number | pl.DatePart) else value
