"""Plans as SPARQL, composed of typed patterns, the same on every engine."""

from __future__ import annotations

from dataclasses import replace

import pyoxigraph as ox

from mrag.graph.twins import Twins
from mrag.planning.algebra.blocks import BlockCompiler, Joining, Spelt
from mrag.planning.algebra.folds import FoldCompiler
from mrag.planning.algebra.knowledge import forms
from mrag.planning.algebra.terms import DECIMAL, Given, text
from mrag.planning.algebra.values import Kind, ValueCompiler, bind, kind_of
from mrag.planning.plan import Aggregate, Expression, Plan, Scalar, Unknown
from mrag.planning.schema import Schema
from mrag.planning.scopes import aggregates, bound, check, merged, unsure
from mrag.rdf import patterns as sparql
from mrag.rdf.patterns import to_sparql as printed

SPARE = 100
"""Rows that are asked for behind the limit of a plan, to find ties and what comes next."""


def to_sparql(
    plan: Plan,
    schema: Schema | None = None,
    *,
    spare: int | None = None,
    most: int | None = None,
    decimals: bool = False,
    total: bool = True,
    loops: bool = False,
    spelt: Spelt | None = None,
    twins: Twins | None = None,
) -> str:
    """Print a plan as a query.

    Args:
        plan: The plan.
        schema: What is known of the graph; numbers and dates of one datatype are read without looking at
            their text, and a class that follows from a property is not asked for.
        spare: Ask for so many rows more than the limit and for those that the offset leaves out, for
            `mrag.planning.run` to cut. By default the query has the limit and the offset of the plan,
            unless ties are wanted, which no SPARQL query can cut.
        most: Most rows that are wanted of a plan without a limit; one more is asked for.
        decimals: Show computed numbers as xsd:decimal, for servers that print few digits of others; columns
            of the result then have the order of the plan's, but not all their names.
        total: Break ties by the terms of the rows, which takes some engines long.
        loops: Whether the engine looks up each solution of a pattern in the next, so that of large patterns
            the order and the way to join them have to be said.
        spelt: How texts are written that are looked up, not compared, see `mrag.planning.profile.spelling`.
        twins: Where things have several names, which of them stands for the others; things then are told
            once. By default every name is a thing of its own.

    Returns:
        An ASK query for a plan without columns, a SELECT query for others.

    Raises:
        ConfigError: If the plan says nothing sensible.

    Example:
        >>> from rdflib import URIRef
        >>> from mrag.planning.plan import Block, Column, Pattern
        >>> film, who = Unknown("film"), Unknown("who")
        >>> made = Block((Pattern(film, URIRef("urn:director"), who),))
        >>> print(to_sparql(Plan(made, (Column(who, "who"),), limit=3)))
        SELECT DISTINCT ?who WHERE { ?film <urn:director> ?who . } ORDER BY ASC(str(?who)) LIMIT 3
    """
    check(plan)
    if plan.ties and spare is None:
        spare = SPARE
    unordered = plan.limit is not None and not (plan.order or total or plan.grouped)
    few: Joining = "few" if plan.yes_or_no or unordered else "all"
    compiler = _Compiler(plan, schema, joining=few if loops else "any", spelt=spelt, twins=twins)
    if plan.yes_or_no:
        return printed(compiler.ask())
    return printed(compiler.select(spare, most, decimals=decimals, total=total))


class _Compiler:
    """Compiles one plan; those of its scalars have compilers of their own."""

    def __init__(
        self,
        plan: Plan,
        schema: Schema | None,
        taken: set[str] | None = None,
        *,
        joining: Joining = "any",
        spelt: Spelt | None = None,
        twins: Twins | None = None,
    ) -> None:
        self._plan = plan
        self._schema = schema
        self._taken = taken if taken is not None else set()
        self._taken |= {c.name for c in plan.columns}
        self._names: dict[Unknown, ox.Variable] = {}
        for column in plan.columns:
            if isinstance(column.value, Unknown) and column.value not in self._names:
                self._names[column.value] = sparql.var(column.name)
        self._scalars: dict[Scalar, ox.Variable] = {}
        self._pending: list[sparql.Pattern] = []
        folded = [a for c in plan.columns for a in aggregates(c.value)]
        blocks = (plan.where, *(merged(plan.where, a.where) for a in folded))
        partly = {u for block in blocks for u in unsure(block)}
        known = forms(blocks, schema) if schema is not None else {}
        values = ValueCompiler(self._variable, self._no_fold, self._scalar, unsure=partly, forms=known)
        self._blocks = BlockCompiler(
            values, self._fresh, self._take_scalars, self._joined, schema, joining, spelt or {}, twins
        )
        self._within: Joining = "any" if joining == "any" else "all"

    def ask(self) -> sparql.Ask:
        """Return the query of a yes or no plan."""
        return sparql.Ask(sparql.Group(tuple(self._solutions())))

    def select(
        self, spare: int | None = None, most: int | None = None, *, decimals: bool = False, total: bool = True
    ) -> sparql.Select:
        """Return the query of a plan with columns."""
        plan = self._plan
        kinds = {c.name: kind_of(c.value) for c in plan.columns}
        where = self._solutions()
        columns = tuple(sparql.var(c.name) for c in plan.columns)
        shown = tuple(
            (sparql.Cast(DECIMAL, v), self._fresh(c.name)) if decimals and _is_fraction(c.value) else v
            for c, v in zip(plan.columns, columns, strict=True)
        )
        written = {
            c.name: v[1] if isinstance(v, tuple) else v for c, v in zip(plan.columns, shown, strict=True)
        }
        if plan.limit is not None:
            # A superlative is not won by what has no value.
            where += [
                sparql.Filter(sparql.Call("bound", (sparql.var(o.column),)))
                for o in plan.order
                if not self._always_bound(o.column)
            ]
        order: list[sparql.Expression | sparql.Descending] = []
        for key in plan.order:
            value = next(c.value for c in plan.columns if c.name == key.column)
            dated = self._blocks.values.form(value) in ("date", "time")
            kind = "date" if dated else kinds[key.column]
            order += self._blocks.values.order_keys(sparql.var(key.column), kind, key.descending)
        limit, offset = plan.limit, plan.offset
        if most is not None:
            limit = most if limit is None else min(limit, most)
        if most is not None and plan.limit is None:
            limit, offset = offset + most + 1, 0
        elif spare is not None and limit is not None:
            limit, offset = offset + limit + spare, 0
        if total and (plan.order or limit is not None or offset):
            # What has been ordered by as a whole needs no second key.
            done = {o.column for o in plan.order if kinds[o.column] != "any"}
            order += [text(v) for name, v in written.items() if name not in done]
        group = sparql.Group(tuple(where))
        return sparql.Select(shown, group, distinct=True, order_by=tuple(order), limit=limit, offset=offset)

    def _solutions(self) -> list[sparql.Pattern]:
        """Return the patterns whose solutions bind the columns."""
        plan, values = self._plan, self._blocks.values
        if plan.grouped:
            folds = FoldCompiler(self._blocks, self._fresh, plan)
            where = folds.patterns()
            values = ValueCompiler(self._column_variable, folds.value, self._scalar, self._column_kinds())
            shown = [c for c in plan.columns if aggregates(c.value)]
        else:
            where = self._blocks.block(plan.where)
            values = ValueCompiler(self._column_variable, self._no_fold, self._scalar, self._column_kinds())
            shown = list(plan.columns)
        outer = replace(self._blocks, values=values)
        for column in shown:
            maker = values if plan.grouped else self._blocks.values
            given = maker.raw(column.value)
            where += self._take_scalars()
            where += bind(given, sparql.var(column.name), lambda: self._fresh("none"))
        return where + outer.filters(plan.having)

    def _column_variable(self, unknown: Unknown) -> ox.Variable:
        if any(c.name == unknown.name for c in self._plan.columns):
            return sparql.var(unknown.name)
        return self._variable(unknown)

    def _column_kinds(self) -> dict[str, Kind]:
        return {c.name: kind_of(c.value) for c in self._plan.columns}

    def _always_bound(self, name: str) -> bool:
        value = next(c.value for c in self._plan.columns if c.name == name)
        if self._plan.grouped and not aggregates(value):
            return True
        if isinstance(value, Unknown):
            return value in bound(self._plan.where)
        return isinstance(value, Aggregate) and value.function == "count"

    def _variable(self, unknown: Unknown) -> ox.Variable:
        if unknown not in self._names:
            self._names[unknown] = self._fresh(unknown.name)
        return self._names[unknown]

    def _fresh(self, name: str) -> ox.Variable:
        found, number = name, 1
        while found in self._taken:
            number += 1
            found = f"{name}_{number}"
        self._taken.add(found)
        return sparql.var(found)

    def _no_fold(self, aggregate: Aggregate) -> Given:
        raise AssertionError(f"{aggregate} is not folded here")

    def _scalar(self, scalar: Scalar) -> Given:
        if scalar not in self._scalars:
            inner = self._inner(scalar.plan)
            select = inner.select()
            found = self._scalars[scalar] = self._fresh("value")
            # Folded, so that there is a row even where there is no value.
            sample = sparql.Folded("SAMPLE", sparql.var(scalar.plan.columns[0].name))
            self._pending.append(
                sparql.SubSelect(sparql.Select(((sample, found),), sparql.SubSelect(select)))
            )
        variable = self._scalars[scalar]
        return Given(variable, (sparql.Call("bound", (variable,)),))

    def _inner(self, plan: Plan) -> _Compiler:
        blocks = self._blocks
        return _Compiler(
            plan, self._schema, self._taken, joining=self._within, spelt=blocks.spelt, twins=blocks.twins
        )

    def _joined(self, plan: Plan) -> sparql.Pattern:
        """Return the rows of another plan, under the variables of the unknowns that they bind."""
        outside = [self._variable(Unknown(c.name)) for c in plan.columns]
        inner = self._inner(plan)
        rows = sparql.SubSelect(inner.select())
        names = [sparql.var(c.name) for c in plan.columns]
        present = tuple(
            sparql.Filter(sparql.Call("bound", (sparql.var(c.name),)))
            for c in plan.columns
            if not inner._always_bound(c.name)
        )
        if names == outside and not present:
            return rows
        shown = tuple(
            name if name == seen else (name, seen) for name, seen in zip(names, outside, strict=True)
        )
        return sparql.SubSelect(sparql.Select(shown, sparql.Group((rows, *present))))

    def _take_scalars(self) -> list[sparql.Pattern]:
        found, self._pending = self._pending, []
        self._scalars.clear()
        return found


def _is_fraction(value: Expression) -> bool:
    """Return whether an expression is computed as an xsd:double."""
    counts = isinstance(value, Aggregate) and value.function == "count"
    return not isinstance(value, Unknown) and kind_of(value) == "number" and not counts
