"""Plans, evaluated in plain Python over a set of triples.

It says what a plan means, word by word, and takes no care to be quick: the compiler is held to it.
"""

import math
import operator
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import product
from typing import Any, TypeAlias

from rdflib import Literal, URIRef

from mrag.planning import plan as pl
from mrag.planning.scopes import aggregates, check, keys, merged
from mrag.planning.values import (
    Cells,
    Kind,
    Value,
    date_part,
    in_order,
    kind_of,
    measured,
    moment,
    show_as,
    stamp,
    tied,
)  # fmt: skip
from mrag.rdf.terms import Term, Triple

Binding: TypeAlias = Mapping[pl.Unknown, Term]


def evaluate(plan: pl.Plan, triples: Iterable[Triple]) -> list[Cells]:
    """Return the rows of a plan; for yes or no, one empty row means yes."""
    check(plan)
    graph = _Evaluation(frozenset(triples))
    rows = [shown for row in graph.rows(plan) if (shown := _shown(plan, row)) is not None]
    if plan.yes_or_no:
        return rows[:1]
    ordered = in_order(set(rows), plan)
    if plan.limit is None:
        return ordered[plan.offset :]
    at = [next(i for i, c in enumerate(plan.columns) if c.name == o.column) for o in plan.order]
    ordered = [row for row in ordered if all(row[i] is not None for i in at)]
    end = min(plan.offset + plan.limit, len(ordered))
    if plan.ties and plan.limit:
        while plan.offset < end < len(ordered) and tied(ordered[end], ordered[end - 1], at):
            end += 1
    return ordered[plan.offset : end]


def _shown(plan: pl.Plan, row: tuple[Value, ...]) -> Cells | None:
    """Return a row as it is shown; None if there are columns and none has a value."""
    literals = (Literal(v) if isinstance(v, float | int) or type(v) is str else v for v in row)
    cells = tuple(show_as(v, kind_of(c.value)) for v, c in zip(literals, plan.columns, strict=True))  # type: ignore[arg-type]
    return cells if not cells or any(c is not None for c in cells) else None


class _Evaluation:
    """One plan over one graph."""

    def __init__(self, triples: Collection[Triple]) -> None:
        self._triples = triples
        self._with: defaultdict[URIRef, list[Triple]] = defaultdict(list)
        for triple in triples:
            self._with[triple.p].append(triple)
        self._kept: dict[pl.Block, list[Binding]] = {}

    def rows(self, plan: pl.Plan) -> Iterator[tuple[Value, ...]]:
        """Yield the rows of a plan, in no order, some of them more than once."""
        for group, binding in self._groups(plan):
            folds = {a: self._fold(a, plan, group) for a in _folds(plan)}
            row = tuple(self._value(c.value, binding, folds) for c in plan.columns)
            named: dict[pl.Unknown, Value] = {**binding}
            named.update((pl.Unknown(c.name), v) for c, v in zip(plan.columns, row, strict=True))
            kinds = {c.name: kind_of(c.value) for c in plan.columns}
            if all(self._holds(h, named, folds, kinds) for h in plan.having):
                yield row

    def _groups(self, plan: pl.Plan) -> Iterator[tuple[tuple[Value, ...], Binding]]:
        """Yield each group with one of its solutions; a solution is its own group where nothing is folded."""
        solutions = self._all(plan.where)
        if not plan.grouped:
            yield from (((), s) for s in solutions)
        elif not keys(plan):
            yield (), {}
        else:
            groups: dict[tuple[Value, ...], Binding] = {}
            for solution in solutions:
                groups.setdefault(self._group(plan, solution), solution)
            yield from ((g, s) for g, s in groups.items() if None not in g)

    def _group(self, plan: pl.Plan, solution: Binding) -> tuple[Value, ...]:
        return tuple(self._value(key.value, solution, {}) for key in keys(plan))

    def _fold(self, aggregate: pl.Aggregate, plan: pl.Plan, group: tuple[Value, ...]) -> Value:
        members: set[tuple[Value, ...]] = set()
        for solution in self._all(merged(plan.where, aggregate.where)):
            of = tuple(solution.get(u) for u in aggregate.of)
            value = self._folded(aggregate, solution)
            if self._group(plan, solution) == group and None not in (*of, value):
                members.add((*of, value))
        if aggregate.function == "count":
            return float(len(members))
        values = [m[-1] for m in members]
        if not values:
            return None
        if aggregate.function in ("sum", "average"):
            total = math.fsum(float(v) for v in values)  # type: ignore[arg-type]  # they are numbers
            return total if aggregate.function == "sum" else total / len(values)
        return (min if aggregate.function == "minimum" else max)(values)  # type: ignore[type-var]

    def _folded(self, aggregate: pl.Aggregate, solution: Binding) -> Value:
        """Return what is folded: numbers are summed, and the least and the greatest are numbers or text."""
        if aggregate.value is None:
            return ""
        value = self._value(aggregate.value, solution, {})
        if aggregate.function in ("sum", "average"):
            return number_in(value)
        if aggregate.function != "count" and kind_of(aggregate.value) == "any":
            return str(value) if isinstance(value, Literal) else None
        return value

    def _all(self, block: pl.Block) -> list[Binding]:
        if block not in self._kept:
            self._kept[block] = self._solutions(block, {})
        return self._kept[block]

    def _solutions(self, block: pl.Block, outer: Binding) -> list[Binding]:
        """Return the distinct solutions of a block that agree with a binding."""
        found: dict[frozenset[tuple[pl.Unknown, Term]], Binding] = {}
        for chosen, joined in product(_choices(block), self._joins(block.plans)):
            for solution in self._matches(chosen.patterns, {**outer, **joined}):
                if any(self._solutions(w, solution) for w in chosen.without):
                    continue
                for extended in self._extended(block.optional, solution):
                    if all(self._holds(c, extended, {}, {}) for c in chosen.conditions):
                        found[frozenset(extended.items())] = extended
        return list(found.values())

    def _joins(self, plans: tuple[pl.Plan, ...]) -> list[Binding]:
        """Return what the rows of plans bind together."""
        found: list[Binding] = [{}]
        for plan in plans:
            names = [pl.Unknown(c.name) for c in plan.columns]
            rows = [dict(zip(names, row, strict=True)) for row in evaluate(plan, self._triples)]
            full = [r for r in rows if None not in r.values()]
            found = [
                {**f, **r}  # type: ignore[dict-item]  # none is None
                for f, r in product(found, full)
                if all(f[u] == r[u] for u in f.keys() & r.keys())
            ]
        return found

    def _extended(self, optional: tuple[pl.Block, ...], solution: Binding) -> list[Binding]:
        found = [solution]
        for block in optional:
            found = [e for s in found for e in (self._solutions(block, s) or [s])]
        return found

    def _matches(self, patterns: tuple[pl.Pattern, ...], binding: Binding) -> Iterator[Binding]:
        if not patterns:
            yield binding
            return
        pattern = patterns[0]
        fixed = pattern.predicate if isinstance(pattern.predicate, URIRef) else None
        triples = self._triples if fixed is None else self._with[fixed]
        for triple in _closure(triples) if pattern.repeated else triples:
            found = dict(binding)
            places = zip((pattern.subject, pattern.predicate, pattern.object), triple, strict=True)
            if all(
                (found.setdefault(place, term) if isinstance(place, pl.Unknown) else place) == term
                or (place == pattern.object and term in pattern.narrower)
                for place, term in places
            ):
                yield from self._matches(patterns[1:], found)

    def _holds(
        self,
        condition: pl.Condition,
        binding: Mapping[pl.Unknown, Value],
        folds: Mapping[pl.Aggregate, Value],
        kinds: Mapping[str, Kind],
    ) -> bool:
        if isinstance(condition, pl.Contains):
            value = self._value(condition.value, binding, folds)
            if condition.position == "language":
                tag = (value.language or "") if isinstance(value, Literal) else ""
                return f"{tag}-".lower().startswith(f"{condition.text}-".lower())
            text = lower(value)
            return text is not None and has_text(text, condition.text.lower(), condition.position)
        sides = (condition.left, condition.right)
        left, right = (self._value(s, binding, folds) for s in sides)
        if left is None or right is None:
            return False
        a, b = kind_of(sides[0], kinds), kind_of(sides[1], kinds)
        return compared(left, right, (a, b), sides, condition)

    def _value(
        self,
        expression: pl.Expression,
        binding: Mapping[pl.Unknown, Value],
        folds: Mapping[pl.Aggregate, Value],
    ) -> Value:
        def value(inner: pl.Expression) -> Value:
            return self._value(inner, binding, folds)

        match expression:
            case pl.Unknown():
                return binding.get(expression)
            case URIRef() | Literal():
                return expression
            case pl.Number(inner):
                return number_in(value(inner))
            case pl.DatePart(part, inner):
                return date_part(part, value(inner))
            case pl.Days(start, end):
                return days_between(value(start), value(end))
            case pl.Arithmetic(left, operation, right):
                return calculated(number_in(value(left)), operation, number_in(value(right)))
            case pl.Aggregate():
                return folds[expression]
            case pl.Scalar(plan):
                rows = evaluate(plan, self._triples) if plan.limit else list(self.rows(plan))
                return rows[0][0] if rows else None


def _closure(triples: Iterable[Triple]) -> list[Triple]:
    """Return triples of one property with those by which it is followed several times."""
    ahead: defaultdict[Term, list[Triple]] = defaultdict(list)
    for triple in triples:
        ahead[triple.s].append(triple)
    found = dict.fromkeys(triples)
    left = list(found)
    for triple in left:
        for further in ahead[triple.o]:
            new = triple._replace(o=further.o)
            if new not in found:
                found[new] = None
                left.append(new)
    return left


def _choices(block: pl.Block) -> list[pl.Block]:
    """Return the blocks without alternatives of which one holds when a block holds."""
    found = []
    for branches in product(*block.either):
        for parts in product(*(_choices(b) for b in branches)):
            one = merged(*parts) if parts else pl.Block()
            found.append(
                pl.Block(
                    (*block.patterns, *one.patterns),
                    (*block.conditions, *one.conditions),
                    (*block.without, *one.without),
                )
            )
    return found


def _folds(plan: pl.Plan) -> set[pl.Aggregate]:
    found = {a for c in plan.columns for a in aggregates(c.value)}
    for h in plan.having:
        for side in (h.left, h.right) if isinstance(h, pl.Comparison) else (h.value,):
            found.update(aggregates(side))
    return found


def number_in(value: Value) -> float | None:
    """Return the number that a value is, with a unit or without.

    Example:
        >>> number_in("1,200 kg"), number_in("kg"), number_in("12,5")
        (1200.0, None, None)
    """
    if value is None or (isinstance(value, float | int) and not isinstance(value, Literal)):
        return value
    found = measured(str(value))
    return float(found[0]) if found else None


def calculated(left: float | None, operation: str, right: float | None) -> float | None:
    """Return the result of a calculation; None where it has none."""
    if left is None or right is None or (operation == "/" and right == 0):
        return None
    if operation == "/":
        return left / right
    return {"+": left + right, "-": left - right, "*": left * right}[operation]


def days_between(start: Value, end: Value) -> float | None:
    """Return the days from one date to another, with the fraction of the last."""
    first, last = moment(start), moment(end)
    if first is None or last is None:
        return None
    return last[0] - first[0] + (last[1] - first[1]) / 86400


def lower(value: Value) -> str | None:
    """Return the text of a literal in lower case; a thing has none."""
    return None if value is None or isinstance(value, URIRef) else str(value).lower()


def has_text(text: str, sought: str, position: str) -> bool:
    """Return whether a text has another at a position."""
    match position:
        case "start":
            return text.startswith(sought)
        case "end":
            return text.endswith(sought)
        case "whole":
            return text == sought
        case _:
            return sought in text


def compared(
    left: Value, right: Value, kinds: tuple[Kind, Kind], sides: tuple[pl.Expression, ...], how: pl.Comparison
) -> bool:
    """Compare two values by what they are known to be."""
    relation = how.relation
    a: Value
    b: Value
    if "year" in kinds:
        years = zip((left, right), kinds, strict=True)
        a, b = (number_in(v) if k == "number" else date_part("year", v) for v, k in years)
    elif "number" in kinds:
        a, b = number_in(left), number_in(right)
    elif {"date", "year-month", "time"} & set(kinds):
        finest = next(k for k in ("year-month", "date", "time") if k in kinds)
        a, b = (
            v if isinstance(s, pl.DatePart) else stamp(v) if finest == "time" else date_part(finest, v)
            for v, s in zip((left, right), sides, strict=True)
        )
    elif "boolean" in kinds:
        if relation not in ("=", "!="):
            return False
        a, b = (_TRUTH_NUMBERS.get(str(v).lower()) for v in (left, right))
    elif "entity" in kinds:
        return relation in ("=", "!=") and (left == right) == (relation == "=")
    elif kinds == ("any", "any"):
        return _any(left, right, relation)
    else:
        a, b = lower(left), lower(right)
    return a is not None and b is not None and _RELATED[relation](a, b)


_TRUTH_NUMBERS = {"true": 1.0, "1": 1.0, "false": 0.0, "0": 0.0}


_WHOLE = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d{1,2})?\Z", re.A)


def _any(left: Value, right: Value, relation: str) -> bool:
    if isinstance(left, URIRef) or isinstance(right, URIRef):
        return relation in ("=", "!=") and (str(left) == str(right)) == (relation == "=")
    first, second = str(left), str(right)
    if _WHOLE.match(first) and _WHOLE.match(second):
        return _RELATED[relation](float(first), float(second))
    return _RELATED[relation](first.lower(), second.lower())


_RELATED: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge,
}  # fmt: skip
