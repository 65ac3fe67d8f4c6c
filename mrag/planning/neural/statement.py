"""Statements that a model writes, read as plans.

A statement looks like SQL over the tables of a card, which models that write code know well. There are no
joins: a dot follows a link, and two paths that begin alike speak of the same things. The grammar is that of
`mrag.planning.neural.grammar`; whatever else is written is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, cast

from rdflib import RDF, XSD, Literal, URIRef

from mrag.planning.algebra.scopes import aggregates, check
from mrag.planning.neural.card import CardColumn, CardTable, SchemaCard
from mrag.planning.neural.cursor import Cursor
from mrag.planning.plan import (
    Aggregate,
    Arithmetic,
    Block,
    Column,
    Comparison,
    Condition,
    Contains,
    DatePart,
    Expression,
    Fold,
    Number,
    Operation,
    Order,
    Part,
    Pattern,
    Plan,
    Position,
    Relation,
    Unknown,
)  # fmt: skip

_LONGEST = 2_000
_FOLDS: dict[str, Fold] = {"AVG": "average", "SUM": "sum", "MIN": "minimum", "MAX": "maximum"}
_SIGNS = ("+", "-", "*", "/")
_PARTS: dict[str, Part] = {"YEAR": "year", "MONTH": "year-month"}
"""Parts of dates; months are those of a year, since it is over them that things are counted."""
_TERMS = 3


def read_statement(card: SchemaCard, text: str) -> tuple[Plan, tuple[str, ...]]:
    """Read a statement over a card.

    Args:
        card: Its tables.
        text: The statement.

    Returns:
        The plan, and the names of the columns that are asked for.

    Raises:
        ConfigError: If it is no such statement, or says nothing sensible.

    Example:
        >>> year = CardColumn("year", "urn:year", "number")
        >>> film = CardTable("film", "urn:Film", (CardColumn("name", "", "text"), year))
        >>> plan, shown = read_statement(SchemaCard((film,)), "SELECT MAX(film.year) FROM film")
        >>> shown, plan.columns[0].value.function
        (('maximum',), 'maximum')
    """
    return _Statement(card, text[:_LONGEST]).read()


@dataclass
class _Solutions:
    """What holds of the things of a statement: their unknowns, by the path that leads to each."""

    table: CardTable
    patterns: list[Pattern] = field(default_factory=list)
    places: dict[tuple[str, ...], Unknown] = field(default_factory=dict)
    conditions: list[Condition] = field(default_factory=list)
    without: list[Block] = field(default_factory=list)
    either: list[tuple[Block, ...]] = field(default_factory=list)
    named: dict[tuple[str, ...], str] = field(default_factory=dict)

    def afresh(self) -> _Solutions:
        """Return these solutions for paths that lead to other things than before."""
        return replace(self, places={(): self.places[()]})

    def block(self) -> Block:
        return Block(tuple(self.patterns), tuple(self.conditions), tuple(self.without), tuple(self.either))


class _Statement(Cursor):
    def __init__(self, card: SchemaCard, text: str) -> None:
        super().__init__(text)
        self._card = card
        self._names: set[str] = set()

    def read(self) -> tuple[Plan, tuple[str, ...]]:
        self._skip("SELECT")
        # What is selected can be read only once the table is known.
        start, depth = self._at, 0
        while depth or not self._is("FROM"):
            depth += {"(": 1, ")": -1}.get(self._next(), 0)
        self._skip("FROM")
        table = self._card.table(self._next())
        if table is None:
            raise self._wrong("no table")
        after, self._at = self._at, start
        root = self._unknown(table.name)
        self._found = _Solutions(table, places={(): root})
        if table.iri:
            self._found.patterns.append(Pattern(root, RDF.type, URIRef(table.iri)))
        values = self._several(self._item)
        self._skip("FROM")
        self._at = after
        if self._taken("WHERE"):
            self._several(self._all, "AND")
        return self._plan(values)

    def _plan(self, values: list[Expression]) -> tuple[Plan, tuple[str, ...]]:
        group: list[Expression] = []
        having: list[Condition] = []
        if self._taken("GROUP"):
            self._skip("BY")
            group = self._several(self._grouped)
        if self._taken("HAVING"):
            left = self._item()
            having.append(Comparison(left, self._relation(), self._number()))
        columns = [Column(value, self._name(value)) for value in dict.fromkeys(values)]
        shown = tuple(c.name for c in columns)
        parts = [e for e in group if not isinstance(e, Unknown) and e not in values]
        columns += [Column(part, self._name(part)) for part in parts]
        order: list[Order] = []
        if self._taken("ORDER"):
            self._skip("BY")
            value = self._item()
            column = next((c for c in columns if c.value == value), None)
            if column is None:
                columns.append(column := Column(value, self._name(value)))
            order.append(Order(column.name, self._taken("DESC")))
            self._taken("ASC")
        limit = int(cast(Any, self._number())) if self._taken("LIMIT") else None
        if self._at < len(self._tokens):
            raise self._wrong("not expected")
        folded = any(aggregates(c.value) for c in columns) or having
        keys = tuple(dict.fromkeys(e for e in group if isinstance(e, Unknown))) if folded else ()
        plan = Plan(
            self._found.block(), tuple(columns), keys, tuple(having), tuple(order), limit, 0, limit == 1
        )
        check(plan)
        return plan, shown

    # -- conditions --------------------------------------------------------------------------------

    def _all(self) -> None:
        if not self._taken("("):
            self._condition(self._found)
            return
        branches = self._several(self._branch, "OR")
        self._skip(")")
        if not any(branch.empty for branch in branches):
            self._found.either.append(tuple(branches))

    def _branch(self) -> Block:
        branch = _Solutions(self._found.table, places=dict(self._found.places))
        self._condition(branch)
        return branch.block()

    def _condition(self, where: _Solutions) -> None:
        path, column = self._path()
        if self._taken("IS"):
            if self._taken("NOT"):
                self._walk(where, path)
            else:
                inner = _Solutions(where.table, places={(): where.places[()]})
                self._walk(inner, path)
                where.without.append(inner.block())
            self._skip("NULL")
        elif self._taken("LIKE"):
            text = self._text()
            position: Position = "anywhere" if text[:1] == "%" else "start"
            where.conditions.append(Contains(self._walk(where, path), text.strip("%"), position))
        else:
            where.conditions.append(self._compared(where, path, column))

    def _compared(self, where: _Solutions, path: tuple[str, ...], column: CardColumn) -> Comparison:
        relation = self._relation()
        if self._is("true") or self._is("false"):
            return Comparison(self._walk(where, path), relation, Literal(self._next() == "true"))
        if self._peek()[:1] != "'":
            return Comparison(Number(self._walk(where, path)), relation, self._number())
        text = self._text()
        if relation == "=":
            # What has two names at once are two things that it leads to.
            other = where.named.setdefault(path, text) != text and len(path) > 1
            where = where.afresh() if other else where
        if entity := dict(column.values).get(text):
            return Comparison(self._walk(where, path[:-1]), relation, URIRef(entity))
        value = self._walk(where, path)
        return (
            _dated(value, relation, text)
            if column.kind == "date"
            else Comparison(value, relation, Literal(text))
        )

    # -- values ------------------------------------------------------------------------------------

    def _item(self) -> Expression:
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
        """Return what solutions may be grouped by: a value, or a part of a date."""
        for name, part in _PARTS.items():
            if self._taken(name):
                self._skip("(")
                path, column = self._path()
                self._skip(")")
                if column.kind != "date":
                    raise self._wrong("no date")
                return DatePart(part, self._walk(self._found, path))
        return self._walk(self._found, self._path()[0])

    def _only(self) -> Block:
        """Return what has to hold of the things that are folded, beside what holds of all."""
        where = _Solutions(self._found.table, places=dict(self._found.places))
        if self._taken("FILTER"):
            self._skip("(")
            self._skip("WHERE")
            self._several(lambda: self._condition(where), "AND")
            self._skip(")")
        return where.block()

    def _fold(self, fold: Fold) -> Aggregate:
        path, column = self._path()
        self._skip(")")
        value = self._walk(self._found, path)
        owner = self._found.places[path[:-1]]
        return Aggregate(fold, value if column.kind == "date" else Number(value), (owner,), self._only())

    # -- paths -------------------------------------------------------------------------------------

    def _path(self) -> tuple[tuple[str, ...], CardColumn]:
        table = self._found.table
        if self._next() != table.name:
            raise self._wrong("not the table")
        path: list[str] = []
        while True:
            self._skip(".")
            name = self._next()
            column = table.column(name)
            if column is None:
                raise self._wrong(f"no column of {table.name}")
            path.append(name)
            if self._peek() != ".":
                return tuple(path), column
            if column.target is None:
                raise self._wrong("no link")
            table = self._card.of(column.target)

    def _walk(self, where: _Solutions, path: tuple[str, ...]) -> Unknown:
        """Return what a path leads to, with the patterns that lead there."""
        table = where.table
        place = where.places[()]
        for size, name in enumerate(path, 1):
            column = cast(CardColumn, table.column(name))
            if not column.property:
                return place  # the label of a thing stands for it
            known = where.places.get(path[:size])
            if known is None:
                known = where.places[path[:size]] = self._unknown(name)
                ends = (place, known) if column.forward else (known, place)
                where.patterns.append(Pattern(ends[0], URIRef(column.property), ends[1]))
            place = known
            if column.target is not None:
                table = self._card.of(column.target)
        return place

    def _unknown(self, name: str) -> Unknown:
        number, found = 2, name
        while found in self._names:
            found, number = f"{name}_{number}", number + 1
        self._names.add(found)
        return Unknown(found)

    def _name(self, value: Expression) -> str:
        """Return a name for a column; that of an unknown is its own."""
        if isinstance(value, Unknown):
            return value.name
        return self._unknown(value.function if isinstance(value, Aggregate) else "value").name


def _dated(value: Unknown, relation: Relation, text: str) -> Comparison:
    """Return the comparison of a date with a day, a month or a year."""
    parts: dict[int, Part] = {4: "year", 7: "year-month"}
    part = parts.get(len(text), "date")
    if part == "date":
        return Comparison(DatePart(part, value), relation, Literal(text, datatype=XSD.date))
    return Comparison(
        DatePart(part, value), relation, Literal(int(text)) if part == "year" else Literal(text)
    )
