"""What can be said of the things of a graph: properties of classes, and ways from one class to another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from typing import Final, TypeAlias, get_args

from rdflib import Literal, URIRef

from mrag.language.english import root
from mrag.planning.plan import Arithmetic, DatePart, Days, Expression, Number, Operation, Part
from mrag.planning.reader.quantities import unit_called, unit_of
from mrag.planning.schema import PropertyInfo, Schema
from mrag.rdf.terms import XSD

_NAMING: Final = frozenset(("name", "title", "label"))
_MOST_WAYS: Final = 5
_MOST_HOPS: Final = 4
_COMMON: Final = 0.6  # How much longer a way is that leads over something in common
_YEAR: Final = Literal(Decimal("365.25"))
_WIDE: Final = 40  # Classes whose ways are followed at each step at most


@dataclass(frozen=True, order=True)
class WayStep:
    """A property that is followed, from object to subject if it is inverse."""

    property: str
    inverse: bool = False


Way: TypeAlias = tuple[WayStep, ...]  # How one thing is related to another


@dataclass(frozen=True)
class ComputedProperty:
    """A property that no triple states, but that follows from dates or numbers of a thing."""

    info: PropertyInfo  # What is known of it
    bases: tuple[str, ...]  # The properties that it follows from
    # A part of dates, "age", the unit of the time from the first to the second, or what is done with the
    # numbers: "+", "*" or "/"
    sort: str

    def of(self, values: Sequence[Expression]) -> Expression:
        """Return its value for values of the properties that it follows from."""
        if self.sort in get_args(Part):
            return DatePart(self.sort, values[0])  # type: ignore[arg-type]
        if self.sort in get_args(Operation):
            found: Expression = Number(values[0])
            for value in values[1:]:
                found = Arithmetic(found, self.sort, Number(value))  # type: ignore[arg-type]
            return found
        if self.sort == "age":
            today = Literal(datetime.now(UTC).date().isoformat(), datatype=URIRef(XSD + "date"))
            return Arithmetic(Days(values[0], values[1] if values[1:] else today), "/", _YEAR)
        days, unit = Days(values[0], values[1]), unit_called(self.sort)
        if unit is None or unit.factor == 1:
            return days
        if unit.factor < 1:
            return Arithmetic(days, "*", Literal(round(1 / unit.factor)))
        return Arithmetic(days, "/", Literal(unit.factor))


@dataclass(frozen=True)
class SchemaWays:
    """The classes of a graph and how their things are related."""

    schema: Schema  # The schema of the graph
    # Tells of a class whether things of it have no name
    lacks_names: Callable[[str], bool] = lambda cls: True
    # Tells of a thing whether a property leads to it, or, if asked for, from it
    is_linked: Callable[[str, str, bool], bool] = lambda thing, iri, ahead: True

    @cached_property
    def computed(self) -> dict[str, ComputedProperty]:
        """Return what follows from properties of the schema and was spoken of."""
        return {}

    def register(self, one: ComputedProperty) -> ComputedProperty:
        """Make a computed property known."""
        if one.info.iri not in self.computed:
            self.computed[one.info.iri] = one
            self.owners[one.info.iri] = self.owners_of(one.info)
        return self.computed[one.info.iri]

    @cached_property
    def sums(self) -> tuple[ComputedProperty, ...]:
        """Return the sums of the numbers of a thing that are called alike, such as two times."""
        found: dict[tuple[str, ...], ComputedProperty] = {}
        numbers = [p for p in self.schema.properties.values() if p.kind == "number" and not p.flag]
        for cls in sorted(self.schema.classes):
            alike: dict[tuple[str, object], list[PropertyInfo]] = {}
            for p in numbers:
                words = p.names[-1].split()
                if cls in p.domains and len(words) > 1 and (head := root(words[-1])):
                    alike.setdefault((head, unit_of(p.names, p.comment)), []).append(p)
            for some in alike.values():
                if 1 < len(some) < 5:
                    made = self.calculated("+", some, some[0].names[-1].split()[-1])
                    found.setdefault(made.bases, made)
        return tuple(found.values())

    def calculated(self, sort: str, some: Sequence[PropertyInfo], name: str) -> ComputedProperty:
        """Return what is computed of numbers of the same thing."""
        domains = {c: n for c, n in some[0].domains.items() if all(c in p.domains for p in some)}
        bases = tuple(p.iri for p in some)
        info = replace(
            some[0], iri=sort + " ".join(bases), names=(name,), domains=domains, minimum="", maximum=""
        )
        return self.register(ComputedProperty(info, bases, sort))

    def owners_of(self, info: PropertyInfo) -> tuple[str, ...]:
        """Return the classes of the things that have a property, those with most of them first."""
        return tuple(sorted(info.domains, key=lambda c: (-info.domains[c], self._size(c), c)))

    @cached_property
    def owners(self) -> dict[str, tuple[str, ...]]:
        """Return the classes of the things that have a property, those with most of them first."""
        return {iri: self.owners_of(p) for iri, p in self.schema.properties.items()}

    @cached_property
    def _steps(self) -> dict[str, tuple[tuple[WayStep, tuple[str, ...]], ...]]:
        found: dict[str, dict[WayStep, dict[str, int]]] = {}
        for e in self.schema.edges:
            if e.source in self.schema.classes and e.target in self.schema.classes:
                found.setdefault(e.source, {}).setdefault(WayStep(e.property), {})[e.target] = e.count
                found.setdefault(e.target, {}).setdefault(WayStep(e.property, True), {})[e.source] = e.count
        return {
            c: tuple((step, self._narrowest(ends)) for step, ends in sorted(steps.items()))
            for c, steps in found.items()
        }

    def _size(self, cls: str) -> int:
        info = self.schema.classes.get(cls)
        return info.count if info else 0

    def _narrowest(self, ends: dict[str, int]) -> tuple[str, ...]:
        most = max(ends.values())
        common = [c for c in ends if ends[c] == most]
        first = min(common, key=lambda c: (self._size(c), -len(self.schema.above(c)), c))
        rest = sorted((c for c in ends if c != first), key=lambda c: (-ends[c], c))
        return (first, *rest)

    def kind(self, cls: str) -> str:
        """Return the class that tells what things of a class have: of those below a term, that of terms."""
        tree, info = self.schema.tree, self.schema.classes.get(cls)
        return info.kind or cls if info is not None else cls if tree is None else tree.kind

    def info(self, iri: str) -> PropertyInfo:
        """Return what is known of a property."""
        known = self.schema.properties.get(iri)
        return self.computed[iri].info if known is None else known

    def has(self, cls: str, iri: str) -> bool:
        """Return whether things of a class have a property."""
        return self.kind(cls) in self.info(iri).domains

    def leads_to(self, cls: str, iri: str) -> bool:
        """Return whether a property leads to things of a class."""
        return self.kind(cls) in self.info(iri).ranges

    def ends(self, cls: str, step: WayStep) -> tuple[str, ...]:
        """Return the classes that a step leads to from things of a class, the likeliest first."""
        return next((ends for s, ends in self.steps(cls) if s == step), ())

    def steps(self, cls: str) -> tuple[tuple[WayStep, tuple[str, ...]], ...]:
        """Return the steps that things of a class allow, each with the classes that it leads to."""
        return self._steps.get(self.kind(cls), ())

    def single(self, step: WayStep) -> bool:
        """Return whether a step leads from each thing to one thing at most."""
        p = self.info(step.property)
        return p.triples == (p.objects if step.inverse else p.subjects)

    def related(self, one: str, other: str) -> bool:
        """Return whether one of two classes is the other, or above or below it."""
        one, other = self.kind(one), self.kind(other)
        return one == other or one in self.schema.above(other) or other in self.schema.above(one)

    def akin(self, one: str, other: str) -> bool:
        """Return whether something may be of both of two classes, as far as is known."""
        above = [{self.kind(c), *self.schema.above(self.kind(c))} for c in (one, other)]
        if above[0] & above[1]:
            return True
        return any(one in p.domains and other in p.domains for p in self.schema.properties.values())

    @cached_property
    def _named(self) -> frozenset[str]:
        """Return the classes whose things have a name of their own, as far as properties tell."""
        found = set[str]()
        for p in self.schema.properties.values():
            if p.kind == "text" and {*p.names[-1].lower().split()} & _NAMING:
                found.update(p.domains)
        return frozenset(found)

    def leads_with(self, way: Way, thing: str, *, ahead: bool) -> bool:
        """Return whether a way can end at a thing, or, if asked for, begin there."""
        step = way[0] if ahead else way[-1]
        over, inverse = self.info(step.property).way or (step.property,), step.inverse
        steps = [s for s in over if "\t" not in s]
        one = steps[0 if ahead != inverse else -1]
        back = one[0] == "^"
        return self.is_linked(thing, one.removeprefix("^"), ahead != inverse != back)

    def naming(self, cls: str) -> WayStep | None:
        """Return the step from records of a class that have no name to the one thing that each stands for."""
        if cls not in self._namings:
            self._namings[cls] = self._find_naming(cls)
        return self._namings[cls]

    @cached_property
    def _namings(self) -> dict[str, WayStep | None]:
        return {}

    def _find_naming(self, cls: str) -> WayStep | None:
        if cls in self._named or cls not in self.schema.classes:
            return None
        found = []
        for p in self.schema.properties.values():
            once = p.kind == "entity" and p.triples == p.subjects == p.objects
            ends = {*p.ranges} & self._named
            if once and ends and set(p.domains) == {cls} and p.subjects == self._size(cls):
                found.append(WayStep(p.iri))
        return found[0] if len(found) == 1 and self.lacks_names(cls) else None

    @cached_property
    def _ways(self) -> dict[tuple[str, str], tuple[Way, ...]]:
        return {}

    def ways(self, one: str, other: str) -> tuple[Way, ...]:
        """Return the shortest ways from things of one class to things of another, shortest first."""
        one, other = self.kind(one), self.kind(other)
        if (one, other) not in self._ways:
            self._ways[one, other] = self._find(one, other)
        return self._ways[one, other]

    def _find(self, one: str, other: str) -> tuple[Way, ...]:
        found: dict[Way, None] = {}
        ahead: list[tuple[str, Way]] = [(one, ())]
        seen, most = {one}, _MOST_HOPS
        for hops in range(1, _MOST_HOPS + 1):
            further: dict[tuple[str, Way], None] = {}
            reached: set[str] = set()
            for cls, way in ahead:
                for step, ends in self.steps(cls):
                    back = bool(way) and step == WayStep(way[-1].property, not way[-1].inverse)
                    if back and (one != other or (way[-1].inverse and self.single(step))):
                        continue
                    if other in ends:
                        found[*way, step] = None
                    elif ends[0] not in seen:
                        further[ends[0], (*way, step)] = None
                        reached.add(ends[0])
            if len(found) > 1:
                most = min(most, hops + 1)
            if hops >= most:
                break
            seen |= reached
            ahead = list(further)[:_WIDE]

        def rank(way: Way) -> tuple[float, int, int, Way]:
            # Unless words tell, what is meant is what most things are related by.
            often = -min(self.info(s.property).triples for s in way)
            return length(way), often, sum(s.inverse for s in way), way

        ways = sorted(found, key=rank)
        # Of single steps a word may name any.
        return (*(w for w in ways if len(w) == 1), *[w for w in ways if len(w) > 1][:_MOST_WAYS])


def length(way: Way) -> float:
    """Return how far a way leads; things that only have something in common are farther from each other."""
    common = sum(not one.inverse and other.inverse for one, other in pairwise(way))
    return len(way) + _COMMON * common
