"""The conditions of a statement."""

from __future__ import annotations

from datetime import date
from typing import cast

from rdflib import RDF, XSD, Literal, URIRef

from mrag.errors import ConfigError
from mrag.planning.algebra.rewriting import renamed, substituted, without_ties
from mrag.planning.neural.card import CardColumn, SchemaCard
from mrag.planning.neural.computing import ValueReader
from mrag.planning.neural.solutions import Path, Solutions
from mrag.planning.plan import (
    Arithmetic,
    Block,
    Column,
    Comparison,
    Contains,
    DatePart,
    Expression,
    Number,
    Operation,
    Order,
    Part,
    Pattern,
    Plan,
    Position,
    Relation,
    Scalar,
    Unknown,
)  # fmt: skip


class ConditionReader(ValueReader):
    """Reads conditions into what holds of the things of a statement."""

    def _all(self) -> None:
        if not self._taken("("):
            self._condition()
            return
        branches = self._several(self._branch, "OR")
        self._skip(")")
        if not any(branch.empty for branch in branches):
            self._found.either.append(tuple(branches))

    def _branch(self) -> Block:
        outer = self._found
        self._found = outer.within()
        self._condition()
        branch, self._found = self._found.block(), outer
        return branch

    def _condition(self) -> None:
        where = self._found
        if self._is("DATEDIFF"):
            days = self._days()[0]
            where.conditions.append(Comparison(days, self._relation(), self._number()))
            return
        if self._is("YEAR"):
            year = self._grouped()
            where.conditions.append(Comparison(year, self._relation(), self._number()))
            return
        path, column = self._path()
        if self._taken("IS"):
            if self._taken("NOT"):
                self._walk(where, path)
            else:
                inner = where.within(known=False)
                self._walk(inner, path)
                where.without.append(inner.block())
            self._skip("NULL")
        elif self._taken("LIKE"):
            text = self._text()
            position: Position = "anywhere" if text[:1] == "%" else "start"
            where.conditions.append(Contains(self._walk(where, path), text.strip("%"), position))
        elif self._taken("BETWEEN"):
            self._compared(where, path, column, ">=")
            self._skip("AND")
            self._compared(where, path, column, "<=")
        elif self._is("IN") or self._is("NOT"):
            denied = self._taken("NOT")
            self._skip("IN")
            self._among(where, path, column, denied=denied)
        else:
            self._compared(where, path, column, self._relation())

    # -- one of several ----------------------------------------------------------------------------

    def _among(self, where: Solutions, path: Path, column: CardColumn, *, denied: bool) -> None:
        """Read what a value is one of, or none of."""
        self._skip("(")
        if not self._is("SELECT"):
            branches = self._several(lambda: self._named(where.within(), path, column))
            if denied:
                where.without += branches
            else:
                self._walk(where, path[:-1] if column.is_class or column.is_label else path)
                where.either.append(tuple(branches))
            self._skip(")")
            return
        value = self._walk(where, path)
        inner, plan, kind = self._chosen()
        self._skip(")")
        self._check_alike(column, kind)
        if plan is not None:
            if denied:
                raise self._wrong("not to be denied")
            where.plans.append(_with_column(plan, value))
            return
        if denied:
            where.without.append(substituted(inner[1], {inner[0]: value}))
        else:
            own = substituted(inner[1], {inner[0]: value})
            where.patterns += own.patterns
            where.conditions += own.conditions
            where.without += own.without
            where.either += own.either

    def _named(self, where: Solutions, path: Path, column: CardColumn) -> Block:
        """Return what says that a value is the text that is read."""
        text = self._text()
        if column.is_class:
            where.patterns.append(self._of_class(where, path, column, text))
        elif entity := dict(column.values).get(text):
            where.conditions.append(Comparison(self._walk(where, path[:-1]), "=", URIRef(entity)))
        else:
            where.conditions.append(Comparison(self._walk(where, path), "=", Literal(text)))
        return where.block()

    def _chosen(self) -> tuple[tuple[Unknown, Block], Plan | None, CardColumn]:
        """Read a statement for the values of one column; as a plan where it has conditions on groups."""
        after = self._begin()
        path, column = self._path()
        outer_value = self._walk(self._found, path)
        self._end(after)
        plan = None
        if self._taken("GROUP"):
            self._skip("BY")
            plan = self._groups(outer_value)
        block = self._found.block()
        self._leave()
        return (outer_value, block), plan, column

    def _groups(self, value: Unknown) -> Plan:
        """Read what holds of groups, or which of them come first, and return the plan for a value of each."""
        group = self._grouped()
        keys = (group,) if isinstance(group, Unknown) else ()
        columns = [Column(value, value.name)]
        if self._taken("HAVING"):
            having = Comparison(self._item(), self._relation(), self._number())
            return Plan(self._found.block(), tuple(columns), keys, (having,))
        self._skip("ORDER")
        self._skip("BY")
        key = self._item()
        columns.append(Column(key, self._name(key)))
        order = Order(columns[1].name, self._taken("DESC"))
        self._taken("ASC")
        self._skip("LIMIT")
        limit = int(str(self._number()))
        found = self._found.block()
        return without_ties(Plan(found, tuple(columns), keys, (), (order,), limit, ties=limit == 1))

    def _check_alike(self, one: CardColumn, other: CardColumn) -> None:
        things = [c.is_label or c.target is not None for c in (one, other)]
        if things[0] != things[1] or (not things[0] and one.kind != other.kind):
            raise self._wrong("of another kind")

    # -- statements in statements ------------------------------------------------------------------

    def __init__(self, card: SchemaCard, text: str) -> None:
        super().__init__(card, text)
        self._outer: list[Solutions | None] = []

    def _begin(self) -> int:
        """Begin to read a statement in another: find its table. What is selected is read next."""
        self._outer.append(getattr(self, "_found", None))
        self._skip("SELECT")
        self._taken("DISTINCT")
        start, after = self._at, self._to_table()
        self._at = start
        return after

    def _to_table(self) -> int:
        """Go to the table that things are selected from, and return where it goes on behind it."""
        depth = 0
        while depth or not self._is("FROM"):
            depth += {"(": 1, ")": -1}.get(self._next(), 0)
        self._skip("FROM")
        table = self._card.table(self._next())
        if table is None:
            raise self._wrong("no table")
        root = self._unknown(table.name)
        self._found = Solutions(table, places={(): root})
        if table.iri:
            self._found.patterns.append(_member(root, table.iri))
        return self._at

    def _leave(self) -> None:
        """Go back to the statement around the one that has been read."""
        if (outer := self._outer.pop()) is not None:
            self._found = outer

    def _end(self, after: int) -> None:
        """Read the conditions of a statement, behind its table."""
        self._skip("FROM")
        self._at = after
        if self._taken("WHERE"):
            self._several(self._all, "AND")

    def _scalar(self) -> tuple[Scalar, CardColumn | None]:
        """Read a statement for one value, within brackets; with its column where it is no fold."""
        self._skip("(")
        after = self._begin()
        column = None
        if self._peek().upper() in ("COUNT", "AVG", "SUM", "MIN", "MAX"):
            value: Expression = self._item()
        else:
            path, column = self._path()
            value = self._walk(self._found, path)
        self._end(after)
        self._skip(")")
        one = Column(value, self._name(value))
        plan = Plan(self._found.block(), (one,), limit=None if column is None else 1)
        self._leave()
        return Scalar(plan), column

    # -- comparisons -------------------------------------------------------------------------------

    def _compared(self, where: Solutions, path: Path, column: CardColumn, relation: Relation) -> None:
        if self._is("true") or self._is("false"):
            value = Literal(self._next() == "true")
            where.conditions.append(Comparison(self._walk(where, path), relation, value))
        elif self._is("("):
            self._with_statement(where, path, column, relation)
        elif self._peek()[:1] == "'":
            self._with_text(where, path, column, relation)
        elif self._peek() == where.table.name:
            self._with_column(where, path, column, relation)
        else:
            value = self._number()
            where.conditions.append(Comparison(Number(self._walk(where, path)), relation, value))

    def _with_statement(self, where: Solutions, path: Path, column: CardColumn, relation: Relation) -> None:
        """Read a comparison with what another statement finds."""
        if column.kind not in ("number", "date"):
            # What is the same as that of another thing: there may be several, and one is enough.
            if relation not in ("=", "!="):
                raise self._wrong("no comparison of texts")
            self._among(where, path, column, denied=relation == "!=")
            return
        value = self._walk(where, path)
        found, other = self._scalar()
        if other is not None and other.kind != column.kind:
            raise self._wrong("of another kind")
        left: Expression = Number(value) if column.kind == "number" else value
        where.conditions.append(Comparison(left, relation, found))

    def _with_column(self, where: Solutions, path: Path, column: CardColumn, relation: Relation) -> None:
        """Read a comparison of two columns, or of one with what is computed with others."""
        value = self._walk(where, path)
        other, theirs = self._path()
        self._check_alike(column, theirs)
        right: Expression = self._walk(where, other)
        if column.kind != "number":
            where.conditions.append(Comparison(value, relation, right))
            return
        right = Number(right)
        if self._peek() in ("+", "-", "*", "/"):
            sign = cast(Operation, self._next())
            number = self._peek()[:1].isdigit() or self._is("-")
            factor = self._number() if number else self._measured()[0]
            right = Arithmetic(right, sign, factor)
        where.conditions.append(Comparison(Number(value), relation, right))

    def _with_text(self, where: Solutions, path: Path, column: CardColumn, relation: Relation) -> None:
        text = self._text()
        if relation == "=":
            # What has two names at once, or is of two kinds, are two things that it leads to.
            other = where.named.setdefault(path, text) != text and len(path) > 1
            where = where.afresh() if other else where
        if column.is_class:
            pattern = self._of_class(where, path, column, text)
            if relation == "=":
                where.patterns.append(pattern)
            else:
                where.without.append(Block((pattern,)))
            return
        if entity := dict(column.values).get(text):
            where.conditions.append(Comparison(self._walk(where, path[:-1]), relation, URIRef(entity)))
            return
        value = self._walk(where, path)
        dated = column.kind == "date"
        where.conditions.append(
            _dated(value, relation, text) if dated else Comparison(value, relation, Literal(text))
        )


def _dated(value: Unknown, relation: Relation, text: str) -> Comparison:
    """Return the comparison of a date with a day, a month or a year."""
    parts: dict[int, Part] = {4: "year", 7: "year-month"}
    part = parts.get(len(text), "date")
    if part == "date":
        try:
            date.fromisoformat(text)
        except ValueError as error:
            raise ConfigError(f"There is no such day: {text[:20]!r}.") from error
        return Comparison(DatePart(part, value), relation, Literal(text, datatype=XSD.date))
    return Comparison(
        DatePart(part, value), relation, Literal(int(text)) if part == "year" else Literal(text)
    )


def _member(thing: Unknown, iri: str) -> Pattern:
    return Pattern(thing, RDF.type, URIRef(iri))


def _with_column(plan: Plan, name: Unknown) -> Plan:
    """Return a plan of one column under the name of the unknown that its rows bind."""
    return renamed(plan, {plan.columns[0].name: name.name})
