"""What a plan uses: its properties and classes, its constants and numbers, and what it computes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from rdflib import RDF, Literal, URIRef

from mrag.planning.following.editing import walk
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
from mrag.planning.schema import Schema, most_of

_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")


@dataclass
class PlanUse:
    """What a plan uses, wherever in it that stands.

    Attributes:
        plan: The plan.
        shown: Values of the columns that are told.
        properties: IRIs of the properties.
        classes: IRIs of the classes.
        things: IRIs of the things that are named.
        texts: Texts of the values that are named, and sought in others.
        numbers: Numbers and parts of dates that are named, and how many rows there are to be.
        folds: What is folded, and "order" where rows are ordered.
        relations: How values are compared with each other.
        operations: What is calculated, "days" for spans of time.
        patterns: All triples.
    """

    plan: Plan
    shown: tuple[Expression, ...]
    properties: set[str] = field(default_factory=set)
    classes: set[str] = field(default_factory=set)
    things: set[str] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)
    numbers: set[float] = field(default_factory=set)
    folds: set[str] = field(default_factory=set)
    relations: set[str] = field(default_factory=set)
    operations: set[str] = field(default_factory=set)
    patterns: list[Pattern] = field(default_factory=list)
    plans: list[Plan] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)

    @classmethod
    def of(cls, plan: Plan, shown: Sequence[str]) -> PlanUse:
        """Return what a plan uses.

        Args:
            plan: The plan.
            shown: Names of the columns that are told.
        """
        told = tuple(c.value for c in plan.columns if c.name in shown)
        use = cls(plan, told or tuple(c.value for c in plan.columns))
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
                self.relations.add(relation)
                self._constant(left)
                self._constant(right)
            case Contains(text=text):
                self.texts.add(text)
                self._constant(Literal(text))
            case Aggregate(function=function):
                self.folds.add(function)
            case Arithmetic(left, operation, right):
                self.operations.add(operation)
                self._constant(left)
                self._constant(right)
            case Days():
                self.operations.add("days")
            case DatePart(part=name):
                self.operations.add(name)
            case Block():
                self.blocks.append(part)
            case Plan():
                self.plans.append(part)
                self.folds |= {"order"} if part.order else set()
                if part.limit is not None:
                    self.numbers |= {
                        float(part.limit),
                        float(part.offset + 1),
                        float(part.offset + part.limit),
                    }

    def _constant(self, value: object) -> None:
        if isinstance(value, URIRef):
            self.things.add(str(value))
        elif isinstance(value, Literal):
            text = str(value)
            self.numbers |= {float(n) for n in _NUMBER.findall(text.replace(",", ""))[:12]}
            if not isinstance(value.value, int | float):
                self.texts.add(text)

    def kinds(self, unknown: object, schema: Schema) -> set[str]:
        """Return the classes that the values of an unknown are in, as far as the plan tells."""
        said = {str(p.object) for p in self.patterns if p.subject == unknown and p.predicate == RDF.type}
        if said:
            return said
        found: list[set[str]] = []
        for p in self.patterns:
            info = schema.properties.get(str(p.predicate))
            if info is not None and unknown in (p.subject, p.object):
                some = info.domains if p.subject == unknown else info.ranges
                found.append({cls for cls in some if cls})
        both = set.intersection(*found) if found else set()
        return both or set().union(*found)

    @property
    def denies(self) -> bool:
        """Return whether something must not hold."""
        return any(block.without for block in self.blocks)

    def unknowns(self, value: Expression) -> set[Unknown]:
        """Return the unknowns that a value is made of, without what only is counted by."""
        return {part for part in walk(value) if isinstance(part, Unknown)}

    def told_by(self, unknown: object) -> set[str]:
        """Return the properties whose values an unknown stands for."""
        return {str(p.predicate) for p in self.patterns if p.object == unknown and p.predicate != RDF.type}

    def inner(self, unknown: Unknown) -> list[Expression]:
        """Return what the columns of plans within are that an unknown is called like."""
        found = [c.value for plan in self.plans for c in plan.columns if c.name == unknown.name]
        return [value for value in found if unknown not in self.unknowns(value)]

    def is_number(self, value: Expression, schema: Schema) -> bool:
        """Return whether a value is a number, as far as the plan tells."""
        match value:
            case Aggregate(function="minimum" | "maximum", value=inner) if inner is not None:
                return self.is_number(inner, schema)
            case Aggregate() | Arithmetic() | Days() | Number():
                return True
            case Scalar(plan):
                return self.is_number(plan.columns[0].value, schema)
            case DatePart(part=part):
                return part in ("year", "quarter", "month", "day", "hour")
            case Literal():
                return isinstance(value.value, int | float)
            case Unknown():
                told = [schema.properties[p] for p in self.told_by(value) if p in schema.properties]
                return any(i.kind == "number" or i.text_numbers for i in told) or any(
                    self.is_number(v, schema) for v in self.inner(value)
                )
        return False


def class_of(use: PlanUse, value: Expression, schema: Schema) -> str:
    """Return the class of the things that a value is, "" where it is a literal or nothing tells."""
    if not isinstance(value, Unknown):
        return ""
    kinds = use.kinds(value, schema)
    return most_of({c: schema.classes[c].count for c in kinds if c in schema.classes})


def folds(value: Expression) -> bool:
    """Return whether a value is folded of several."""
    return any(isinstance(part, Aggregate) for part in walk(value))
