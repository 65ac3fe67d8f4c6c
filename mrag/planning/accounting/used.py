"""What a plan uses: its properties and classes, its constants and numbers, and what it computes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from rdflib import RDF, Literal, URIRef

from mrag.planning.plan import (
    Aggregate,
    Arithmetic,
    Block,
    Comparison,
    Contains,
    DatePart,
    Days,
    Expression,
    Number,
    Pattern,
    Plan,
    Scalar,
    Unknown,
)
from mrag.planning.schema import PropertyInfo, Schema, most_of
from mrag.planning.scopes import walk

_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")


@dataclass
class PlanUse:
    """What a plan uses, wherever in it that stands.

    Attributes:
        plan: The plan.
        schema: The schema of the graph.
        shown: Values of the columns that are told.
        properties: IRIs of the properties.
        classes: IRIs of the classes.
        things: IRIs of the things that are named.
        texts: Texts of the values that are named, and sought in others.
        numbers: Numbers and parts of dates that are named, and how many rows there are to be.
        done: What is computed: folds, "order", operations of arithmetic, parts of dates, "days", relations
            of comparisons, "without" and "either".
        patterns: All triples; `plans`, `comparisons` are all plans and comparisons.
    """

    plan: Plan
    schema: Schema
    shown: tuple[Expression, ...]
    properties: set[str] = field(default_factory=set)
    classes: set[str] = field(default_factory=set)
    things: set[str] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)
    numbers: set[float] = field(default_factory=set)
    done: set[str] = field(default_factory=set)
    patterns: list[Pattern] = field(default_factory=list)
    plans: list[Plan] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)

    @classmethod
    def of(cls, plan: Plan, shown: Sequence[str], schema: Schema) -> PlanUse:
        """Return what a plan uses of a graph of which some columns are told."""
        told = tuple(c.value for c in plan.columns if c.name in shown)
        use = cls(plan, schema, told or tuple(c.value for c in plan.columns))
        for part in walk(plan):
            use._take(part)
        return use

    def _take(self, part: object) -> None:
        match part:
            case Pattern(subject, predicate, value):
                self.patterns.append(part)
                self._constant(subject)
                if predicate == RDF.type:
                    self.classes.add(str(value))
                else:
                    self.properties.add(str(predicate))
                    self._constant(value)
            case Comparison(left, relation, right):
                self.comparisons.append(part)
                self.done.add(relation)
                self._constant(left)
                self._constant(right)
            case Contains(text=text):
                self._constant(Literal(text))
            case Aggregate(function=function):
                self.done.add(function)
            case Arithmetic(left, operation, right):
                # To scale a unit is no quotient.
                scaled = operation == "/" and isinstance(right, Literal)
                self.done.add("scaled" if scaled else operation)
                self._constant(left)
                self._constant(right)
            case Days():
                self.done.add("days")
            case DatePart(part=name):
                self.done.add(name)
            case Block(without=without, either=either):
                self.done |= {"without"} if without else set()
                self.done |= {"either"} if either else set()
            case Plan(order=order, limit=limit, offset=offset):
                self.plans.append(part)
                self.done |= {"order"} if order else set()
                if limit is not None:
                    self.numbers |= {float(limit), float(offset + 1), float(offset + limit)}

    def _constant(self, value: object) -> None:
        if isinstance(value, URIRef):
            self.things.add(str(value))
        elif isinstance(value, Literal):
            text = str(value)
            self.numbers |= {float(n) for n in _NUMBER.findall(text.replace(",", ""))[:12]}
            if not isinstance(value.value, int | float):
                self.texts.add(text)

    def infos(self, iris: Iterable[str]) -> Iterator[PropertyInfo]:
        """Yield what is known of those of some IRIs that are properties."""
        return (self.schema.properties[p] for p in sorted(iris) if p in self.schema.properties)

    def kinds(self, place: object) -> set[str]:
        """Return the classes that the values of an unknown are in, as far as the plan tells."""
        said = {str(p.object) for p in self.patterns if p.subject == place and p.predicate == RDF.type}
        if said:
            return said
        found: list[set[str]] = []
        for p in self.patterns:
            info = self.schema.properties.get(str(p.predicate))
            if info is not None and place in (p.subject, p.object):
                some = info.domains if p.subject == place else info.ranges
                found.append({cls for cls in some if cls})
        both = set.intersection(*found) if found else set()
        return both or set().union(*found)

    def unknowns(self, value: Expression) -> set[Unknown]:
        """Return the unknowns that a value is made of."""
        return {part for part in walk(value) if isinstance(part, Unknown)}

    def told_by(self, *unknowns: object) -> set[str]:
        """Return the properties whose values unknowns stand for."""
        return {str(p.predicate) for p in self.patterns if p.object in unknowns and p.predicate != RDF.type}

    def inner(self, unknown: Unknown) -> list[Expression]:
        """Return what the columns of plans within are that an unknown is called like."""
        found = [c.value for plan in self.plans for c in plan.columns if c.name == unknown.name]
        return [value for value in found if unknown not in self.unknowns(value)]

    def is_number(self, value: Expression) -> bool:
        """Return whether a value is a number, as far as the plan tells."""
        match value:
            case Aggregate(function="minimum" | "maximum", value=inner) if inner is not None:
                return self.is_number(inner)
            case Aggregate() | Arithmetic() | Days() | Number():
                return True
            case Scalar(plan):
                return self.is_number(plan.columns[0].value)
            case DatePart(part=part):
                return part in ("year", "quarter", "month", "day", "hour")
            case Literal():
                return isinstance(value.value, int | float)
            case Unknown():
                told = self.infos(self.told_by(value))
                return any(i.kind == "number" or i.text_numbers for i in told) or any(
                    self.is_number(v) for v in self.inner(value)
                )
        return False

    def class_of(self, value: Expression) -> str:
        """Return the class of the things that a value is, "" where it is a literal or nothing tells."""
        kinds = self.kinds(value) if isinstance(value, Unknown) else set()
        classes = self.schema.classes
        return most_of({c: classes[c].count for c in kinds if c in classes})


def folds(value: Expression) -> bool:
    """Return whether a value is folded of several."""
    return any(isinstance(part, Aggregate) for part in walk(value))
