"""What a statement selects, groups and orders by: values, folds, and calculations with them."""

from __future__ import annotations

from typing import cast

from mrag.errors import ConfigError
from mrag.planning.neural.card import CardColumn
from mrag.planning.neural.solutions import PathReader, Solutions
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
    Scalar,
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
        if self._is("("):
            return self._scalar()[0]
        if self._taken("COUNT"):
            self._skip("(")
            return self._count()
        for name, fold in _FOLDS.items():
            if self._taken(name):
                self._skip("(")
                return self._fold(fold)
        return self._grouped()

    def _scalar(self) -> tuple[Scalar, CardColumn | None]:
        raise NotImplementedError

    def _count(self) -> Aggregate:
        """Read what is counted: rows, different things or values, or those things that have a value."""
        case: Block | None = None
        of = self._found.counted
        if self._taken("*"):
            pass
        elif self._is_case():
            case = self._case()
            self._skip("1")
            self._end_case()
        else:
            different = self._taken("DISTINCT")
            if self._is_case():
                case = self._case()
            path, column = self._path()
            value = self._walk(self._found, path)
            thing = column.is_label or column.target is not None
            of = (value,) if different or thing else (self._found.places[path[:-1]], value)
            if case is not None:
                self._end_case()
        self._skip(")")
        return Aggregate("count", of=of, where=self._only(case))

    def _is_case(self) -> bool:
        return [token.upper() for token in self._tokens[self._at : self._at + 2]] == ["CASE", "WHEN"]

    def _case(self) -> Block:
        """Read the condition of a case, up to what it stands for."""
        self._skip("CASE")
        self._skip("WHEN")
        where = self._found.within()
        self._within(where)
        self._skip("THEN")
        return where.block()

    def _end_case(self) -> None:
        if self._taken("ELSE") and not self._taken("NULL"):
            self._skip("0")
        self._skip("END")

    def _within(self, where: Solutions) -> None:
        """Read conditions into some solutions."""
        outer, self._found = self._found, where
        self._conditions()
        self._found = outer

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
        if ends[0] == ends[1]:
            raise ConfigError("There are no days between a date and itself.")
        end, start = (self._walk(self._found, path) for path, _ in ends)
        return Days(start, end), [self._found.places[path[:-1]] for path, _ in ends]

    def _only(self, case: Block | None) -> Block:
        """Return what has to hold of the things that are folded, beside what holds of all."""
        if not self._taken("FILTER"):
            return Block() if case is None else case
        where = self._found.within()
        self._skip("(")
        self._skip("WHERE")
        self._within(where)
        self._skip(")")
        return where.block()

    def _conditions(self) -> None:
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
        case = self._case() if self._is_case() else None
        if case is not None and fold == "sum" and self._taken("1"):
            self._end_case()
            self._skip(")")
            return Aggregate("count", of=self._found.counted, where=case)
        value, owners = self._measured()
        while self._peek() in _SIGNS:
            sign = cast(Operation, self._next())
            number = self._peek()[:1].isdigit() or self._is("-")
            other, more = (self._number(), []) if number else self._measured()
            value, owners = Arithmetic(value, sign, other), [*owners, *more]
        if case is not None:
            self._end_case()
        self._skip(")")
        return Aggregate(fold, value, tuple(dict.fromkeys(owners)), self._only(case))
