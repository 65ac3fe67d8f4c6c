"""Aggregates as sub-selects, one for each thing that is folded, joined on the keys of the groups."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pyoxigraph as ox

from mrag.planning.algebra.blocks import BlockCompiler
from mrag.planning.algebra.joins import is_told_once
from mrag.planning.algebra.terms import Given
from mrag.planning.algebra.thresholds import counted_first, least_of
from mrag.planning.algebra.values import FoldedAs, folded_as
from mrag.planning.plan import Aggregate, Block, Expression, Fold, Number, Plan, Unknown
from mrag.planning.scopes import aggregates, bound, keys, merged, sides, unknowns
from mrag.rdf import patterns as sparql

_FOLDS: dict[Fold, sparql.FoldName] = {
    "sum": "SUM",
    "average": "AVG",
    "minimum": "MIN",
    "maximum": "MAX",
}
_Key = tuple[tuple[Unknown, ...], Expression | None, Block, FoldedAs]


@dataclass
class _Folding:
    """One sub-select: what is folded, and the variables of the results by function."""

    aggregate: Aggregate
    results: dict[Fold, ox.Variable] = field(default_factory=dict)


class FoldCompiler:
    """Compiles the aggregates of a plan.

    Args:
        blocks: Compiles blocks.
        fresh: Makes a variable that nothing else is called.
        plan: The plan.
    """

    def __init__(self, blocks: BlockCompiler, fresh: Callable[[str], ox.Variable], plan: Plan) -> None:
        self._blocks, self._fresh, self._plan = blocks, fresh, plan
        self._keys: dict[ox.Variable, Expression] = {}
        for key in keys(plan):
            value = key.value
            variable = blocks.values.variable(value) if isinstance(value, Unknown) else None
            fits = variable is not None and variable not in self._keys
            self._keys[variable if fits and variable is not None else sparql.var(key.name)] = value
        self._foldings: dict[_Key, _Folding] = {}
        columns = {c.value: c.name for c in plan.columns}
        values = [*columns, *(s for h in plan.having for s in sides(h))]
        for aggregate in (a for v in values for a in aggregates(v)):
            found = self._foldings.setdefault(_key(aggregate), _Folding(aggregate))
            if aggregate.function not in found.results:
                direct = aggregate in columns and self._is_direct(aggregate)
                found.results[aggregate.function] = (
                    sparql.var(columns[aggregate]) if direct else fresh(aggregate.function)
                )
        for found in self._foldings.values():
            if not self._keys and "count" not in found.results:
                found.results["count"] = fresh("count")

    def patterns(self) -> list[sparql.Pattern]:
        """Return the sub-selects, joined so that each group has a solution."""
        complete = [f for f in self._foldings.values() if not self._keys or self._is_complete(f.aggregate)]
        found: list[sparql.Pattern] = [self._select(f) for f in complete]
        if not found:
            where = _group(self._solutions(self._plan.where))
            found.append(sparql.SubSelect(sparql.Select((*self._keys,), where, distinct=True)))
        others = [f for f in self._foldings.values() if f not in complete]
        return found + [sparql.Optional(self._select(f)) for f in others]

    def value(self, aggregate: Aggregate) -> Given:
        """Return the value of an aggregate, where `patterns` stand."""
        results = self._foldings[_key(aggregate)].results
        variable = results[aggregate.function]
        if aggregate.function == "count":
            if self._is_direct(aggregate):
                return Given(variable)
            return Given(sparql.Call("coalesce", (variable, ox.Literal(0))))
        if self._keys:
            return Given(variable, (sparql.Call("bound", (variable,)),))
        # Engines have zeros for the sum and the average of nothing.
        return Given(variable, (sparql.Compare(results["count"], ">", ox.Literal(0)),))

    def _is_direct(self, aggregate: Aggregate) -> bool:
        """Return whether the result of the sub-select is the value as it stands."""
        if aggregate.function != "count":
            return bool(self._keys)
        return not self._keys or self._is_complete(aggregate)

    def _is_complete(self, aggregate: Aggregate) -> bool:
        """Return whether every group has a value."""
        value = aggregate.value
        if isinstance(value, Number) and self._blocks.values.form(value.value) == "number":
            value = None  # each of its values is a number
        named = {*aggregate.of, *(unknowns(aggregate.value) if aggregate.value is not None else ())}
        return value is None and aggregate.where.empty and named <= bound(self._plan.where)

    def _select(self, folding: _Folding) -> sparql.SubSelect:
        aggregate, results = folding.aggregate, folding.results
        of = tuple(self._blocks.values.variable(u) for u in aggregate.of)
        block = merged(self._plan.where, aggregate.where)
        # To tell solutions apart takes as long as to find them.
        told = {k for k in self._keys.values() if isinstance(k, Unknown)}
        once = is_told_once(block, {*aggregate.of, *told}, self._blocks.schema)
        if aggregate.value is None and len(of) == 1:
            # Engines look at each value that they count, but not at solutions.
            all_ = once and aggregate.of[0] in bound(block)
            counted = sparql.Count() if all_ else sparql.Count(of[0], distinct=not once)
            return self._grouped(
                ((counted, results["count"]),), self._reaching(aggregate, block) or self._solutions(block)
            )
        names, rows = [*self._keys, *of], self._solutions(block)
        certain, value = bound(block), self._fresh("folded")
        for unknown in aggregate.of:
            rows += _present(unknown, self._blocks.values.variable(unknown), certain)
        if aggregate.value is not None:
            given = self._blocks.values.folded(aggregate.value, folded_as(aggregate))
            rows += [*self._blocks.scalars(), *(sparql.Filter(g) for g in given.guards)]
            rows += [sparql.Bind(given.value, value), *_present(aggregate.value, value, certain)]
            names.append(value)
        distinct = sparql.Select(tuple(dict.fromkeys(names)), _group(rows), distinct=not once)
        folds = tuple(
            (sparql.Count() if name == "count" else sparql.Folded(_FOLDS[name], value), variable)
            for name, variable in results.items()
        )
        return self._grouped(folds, [sparql.SubSelect(distinct)])

    def _grouped(
        self, folds: tuple[tuple[sparql.Expression, ox.Variable], ...], rows: list[sparql.Pattern]
    ) -> sparql.SubSelect:
        return sparql.SubSelect(sparql.Select((*self._keys, *folds), _group(rows), group_by=(*self._keys,)))

    def _reaching(self, aggregate: Aggregate, block: Block) -> list[sparql.Pattern]:
        """Return the solutions of the few groups that may have enough members; none where all are."""
        least = least_of(self._plan.having, aggregate)
        if self._blocks.joining != "all" or len(self._keys) != 1 or not least:
            return []
        ((variable, key),) = self._keys.items()
        (of,) = aggregate.of
        found = (
            counted_first(block, key, of, least, self._blocks.schema) if isinstance(key, Unknown) else None
        )
        if found is None:
            return []
        pattern, end = found
        member, number = self._fresh(end.name), self._fresh("number")
        s, p, o = (self._blocks.node(t) for t in pattern.places)
        triple = sparql.TriplePattern(
            member if pattern.subject == end else s, p, member if pattern.object == end else o
        )
        counted = sparql.Select((variable, (sparql.Count(), number)), _group([triple]), group_by=(variable,))
        enough = sparql.Filter(sparql.Compare(number, ">=", ox.Literal(least)))
        few = sparql.Select((variable,), _group([sparql.SubSelect(counted), enough]))
        # What so few groups have is looked up.
        return [sparql.SubSelect(few), *self._solutions(block, replace(self._blocks, joining="few"))]

    def _solutions(self, block: Block, blocks: BlockCompiler | None = None) -> list[sparql.Pattern]:
        """Return the solutions of a block, with the keys of their groups."""
        values, found, certain = self._blocks.values, (blocks or self._blocks).block(block), bound(block)
        for variable, key in self._keys.items():
            given = values.raw(key)
            if given.value != variable:
                found += [*self._blocks.scalars(), *(sparql.Filter(g) for g in given.guards)]
                found.append(sparql.Bind(given.value, variable))
            found += _present(key, variable, certain)
        return found


def _key(aggregate: Aggregate) -> _Key:
    """Return what tells sub-selects apart."""
    return (aggregate.of, aggregate.value, aggregate.where, folded_as(aggregate))


def _group(found: list[sparql.Pattern]) -> sparql.Group:
    return sparql.Group(tuple(found))


def _present(value: Expression, variable: ox.Variable, certain: set[Unknown]) -> list[sparql.Pattern]:
    """Return the condition that an unknown has a value, where that is not sure."""
    if not isinstance(value, Unknown) or value in certain:
        return []
    return [sparql.Filter(sparql.Call("bound", (variable,)))]
