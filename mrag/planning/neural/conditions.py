"""The conditions of a statement."""

from __future__ import annotations

from datetime import date
from typing import cast

from rdflib import XSD, Literal, URIRef

from mrag.errors import ConfigError
from mrag.planning.neural.card import CardColumn
from mrag.planning.neural.computing import ValueReader
from mrag.planning.neural.solutions import Path, Solutions
from mrag.planning.plan import (
    Aggregate,
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
    Plan,
    Position,
    Relation,
    Scalar,
    Unknown,
)  # fmt: skip
from mrag.planning.scopes import renamed, substituted, without_ties

_SIGNS = ("+", "-", "*", "/")
_BEHIND = ("GROUP", "HAVING", "THEN")
"""Words behind conditions."""


class ConditionReader(ValueReader):
    """Reads conditions into what holds of the things of a statement."""

    def _conditions(self) -> None:
        """Read conditions: those that AND joins hold together, and of those that OR joins one at least."""
        if not self._has_or():
            self._several(self._one, "AND")
            return
        branches = self._several(self._branch, "OR")
        if not any(branch.empty for branch in branches):
            self._found.either.append(tuple(branches))

    def _has_or(self) -> bool:
        """Return whether OR joins the conditions that come next, outside of brackets."""
        depth = 0
        for at in range(self._at, len(self._tokens)):
            word = self._tokens[at].upper()
            depth += {"(": 1, ")": -1}.get(word, 0)
            if depth < 0 or (not depth and word in _BEHIND and self._tokens[at - 1] != "."):
                return False
            if word == "OR" and not depth and self._tokens[at - 1] != ".":
                return True
        return False

    def _one(self) -> None:
        if self._taken("("):
            self._conditions()
            self._skip(")")
        else:
            self._condition()

    def _branch(self) -> Block:
        where = self._found.within()
        outer, self._found = self._found, where
        self._several(self._one, "AND")
        self._found = outer
        return where.block()

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
        if column.kind == "number" and self._peek() in _SIGNS:
            self._calculated(where, path)
        elif self._taken("IS"):
            if self._taken("NOT"):
                self._walk(where, path)
            else:
                inner = where.within(known=False)
                self._walk(inner, path)
                if inner.block().empty:
                    raise ConfigError(f"A thing of the table {path[0]} is not missing.")
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

    def _calculated(self, where: Solutions, path: Path) -> None:
        """Read a comparison of what is computed with a column."""
        value = self._computed(Number(self._walk(where, path)))
        relation = self._relation()
        right = self._scalar()[0] if self._is("(") else self._computed(self._factor())
        where.conditions.append(Comparison(value, relation, right))

    def _computed(self, value: Expression) -> Expression:
        """Return a value, or what is computed with it."""
        while self._peek() in _SIGNS:
            sign = cast(Operation, self._next())
            value = Arithmetic(value, sign, self._factor())
        return value

    def _factor(self) -> Expression:
        number = self._peek()[:1].isdigit() or self._is("-")
        return self._number() if number else self._measured()[0]

    # -- one of several ----------------------------------------------------------------------------

    def _among(self, where: Solutions, path: Path, column: CardColumn, *, denied: bool) -> None:
        """Read what a value is one of, or none of."""
        self._skip("(")
        if not self._is("SELECT"):
            branches = self._several(lambda: self._named(where.within(), path, column))
            if denied:
                where.without += branches
            else:
                self._owner(where, path, column)
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
        elif entity := self._entity(column, text):
            where.conditions.append(Comparison(self._owner(where, path, column), "=", URIRef(entity)))
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

    def _end(self, after: int) -> None:
        """Read the conditions of a statement, behind its tables."""
        self._skip("FROM")
        self._at = after
        if self._taken("WHERE"):
            self._conditions()

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
        if self._is("true") or self._is("false") or (column.kind == "boolean" and self._peek() in "01"):
            value = Literal(self._next().lower() in ("true", "1"))
            where.conditions.append(Comparison(self._walk(where, path), relation, value))
        elif self._is("("):
            self._with_statement(where, path, column, relation)
        elif self._peek()[:1] == "'":
            self._with_text(where, path, column, relation)
        elif self._card.table(self._peek()) is not None:
            self._with_column(where, path, column, relation)
        elif column.kind == "date":
            where.conditions.append(_dated(self._walk(where, path), relation, str(self._number())))
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
        fold = found.plan.columns[0].value
        dated = isinstance(fold, Aggregate) and isinstance(fold.value, Unknown)
        kind = other.kind if other is not None else "date" if dated else "number"
        if kind != column.kind:
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
        right = self._computed(Number(right))
        where.conditions.append(Comparison(Number(value), relation, right))

    def _with_text(self, where: Solutions, path: Path, column: CardColumn, relation: Relation) -> None:
        text = self._text()
        if relation == "=":
            # What has two names at once, or is of two kinds, are two things that it leads to.
            other = where.named.setdefault(path, text) != text and not where.is_selected(path)
            where = where.afresh() if other else where
        if column.is_class:
            pattern = self._of_class(where, path, column, text)
            if relation == "=":
                where.patterns.append(pattern)
            else:
                where.without.append(Block((pattern,)))
            return
        if entity := self._entity(column, text):
            where.conditions.append(Comparison(self._owner(where, path, column), relation, URIRef(entity)))
            return
        value = self._walk(where, path)
        dated = column.kind == "date"
        where.conditions.append(
            _dated(value, relation, text) if dated else Comparison(value, relation, Literal(text))
        )

    def _entity(self, column: CardColumn, text: str) -> str:
        """Return the thing that a text names in a column; "" where it is a text of its own.

        Raises:
            ConfigError: If a link leads to no thing of this name.
        """
        if column.target is None:
            return dict(column.values).get(text, "")
        for one in self._card.of(column.target).columns:
            if entity := dict(one.values).get(text, ""):
                return entity
        raise self._wrong("no name of what it leads to")

    def _owner(self, where: Solutions, path: Path, column: CardColumn) -> Unknown:
        """Return what a text names: the thing that a link leads to, or the one that a column belongs to."""
        return self._walk(where, path if column.target is not None else path[:-1])


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


def _with_column(plan: Plan, name: Unknown) -> Plan:
    """Return a plan of one column under the name of the unknown that its rows bind."""
    return renamed(plan, {plan.columns[0].name: name.name})
