"""What a statement selects, groups and orders by: values, folds, and calculations with them."""

from __future__ import annotations

from typing import cast

from mrag.planning.neural.solutions import PathReader
from mrag.planning.plan import (
    Aggregate,
    Arithmetic,
    Block,
    DatePart,
    Days,
    Expression,
    Fold,
    Number,
    Operation,
    Part,
    Unknown,
)  # fmt: skip

_FOLDS: dict[str, Fold] = {"AVG": "average", "SUM": "sum", "MIN": "minimum", "MAX": "maximum"}
_SIGNS = ("+", "-", "*", "/")
_PARTS: dict[str, Part] = {"YEAR": "year", "MONTH": "year-month"}
"""Parts of dates; months are those of a year, since it is over them that things are counted."""
_TERMS = 4


class ValueReader(PathReader):
    """Reads values; see `mrag.planning.neural.statement`."""

    def _item(self) -> Expression:
        """Read a value or up to four with signs between them, from left to right."""
        found = self._value()
        for _ in range(_TERMS - 1):
            if self._peek() in _SIGNS:
                found = Arithmetic(found, cast(Operation, self._next()), self._value())
        return found

    def _value(self) -> Expression:
        if self._peek()[:1].isdigit() or self._is("-"):
            return self._number()
        if self._taken("COUNT"):
            self._skip("(")
            if self._taken("*"):
                counted = self._found.places[()]
            else:
                self._taken("DISTINCT")
                counted = self._walk(self._found, self._path()[0])
            self._skip(")")
            return Aggregate("count", of=(counted,), where=self._only())
        for name, fold in _FOLDS.items():
            if self._taken(name):
                self._skip("(")
                return self._fold(fold)
        return self._grouped()

    def _grouped(self) -> Expression:
        """Return what solutions may be grouped by: a value, a part of a date, or days between two."""
        if self._is("DATEDIFF"):
            return self._days()[0]
        for name, part in _PARTS.items():
            if self._taken(name):
                self._skip("(")
                path, column = self._path()
                self._skip(")")
                if column.kind != "date":
                    raise self._wrong("no date")
                return DatePart(part, self._walk(self._found, path))
        return self._walk(self._found, self._path()[0])

    def _days(self) -> tuple[Days, list[Unknown]]:
        """Read the days between two dates, as `DATEDIFF(end, start)`, with what they are said of."""
        self._skip("DATEDIFF")
        self._skip("(")
        ends = [self._path()]
        self._skip(",")
        ends.append(self._path())
        self._skip(")")
        if any(column.kind != "date" for _, column in ends):
            raise self._wrong("no date")
        end, start = (self._walk(self._found, path) for path, _ in ends)
        return Days(start, end), [self._found.places[path[:-1]] for path, _ in ends]

    def _only(self) -> Block:
        """Return what has to hold of the things that are folded, beside what holds of all."""
        where = self._found.within()
        if self._taken("FILTER"):
            self._skip("(")
            self._skip("WHERE")
            outer, self._found = self._found, where
            self._several(lambda: self._condition(), "AND")
            self._found = outer
            self._skip(")")
        return where.block()

    def _condition(self) -> None:
        raise NotImplementedError

    def _measured(self) -> tuple[Expression, list[Unknown]]:
        """Read what may be computed with: a number, a date, or days; and what it is said of."""
        if self._is("DATEDIFF"):
            return self._days()
        path, column = self._path()
        value = self._walk(self._found, path)
        owner = [self._found.places[path[:-1]]]
        return (value if column.kind == "date" else Number(value)), owner

    def _fold(self, fold: Fold) -> Aggregate:
        value, owners = self._measured()
        while self._peek() in _SIGNS:
            sign = cast(Operation, self._next())
            number = self._peek()[:1].isdigit() or self._is("-")
            other, more = (self._number(), []) if number else self._measured()
            value, owners = Arithmetic(value, sign, other), [*owners, *more]
        self._skip(")")
        return Aggregate(fold, value, tuple(dict.fromkeys(owners)), self._only())
