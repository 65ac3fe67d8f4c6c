"""Statements that a model writes, read as plans.

A statement is SQL over the tables of a card, which models that write code know well. Tables are joined by
links; what is said of a table that is not joined is joined by the shortest links there are. A dot follows
a link, too, and two paths that begin alike speak of the same things. The grammar is that of
`mrag.planning.neural.card`; whatever else is written is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date
from typing import Any, TypeAlias, TypeVar, cast

from rdflib import RDF, XSD, Literal, URIRef

from mrag.errors import ConfigError
from mrag.language.possessive import compile_late
from mrag.planning.neural.card import CardColumn, CardTable, SchemaCard
from mrag.planning.plan import (
    Aggregate,
    Arithmetic,
    Block,
    Column,
    Comparison,
    Condition,
    Contains,
    DatePart,
    Days,
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
    Scalar,
    Unknown,
)
from mrag.planning.scopes import aggregates, check, renamed, substituted, without_ties

__all__ = [
    "CardColumn",
    "CardTable",
    "SchemaCard",
    "read_statement",
]

_TOKEN = compile_late(r"\s*(?:('(?:[^']|'')*')|(\d+(?:\.\d+)?)|([A-Za-z]\w*)|(<=|>=|!=|<>|[-=<>(),.*/+]))")
T = TypeVar("T")


def _tokens(text: str) -> Iterator[str]:
    at, text = 0, text.strip().rstrip(";").rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise ConfigError(f"Not a statement: it goes on with {text[at : at + 20]!r}.")
        yield match[0].strip()
        at = match.end()


Path: TypeAlias = tuple[str, ...]
"""A table, and columns that lead from its things to others."""
Join: TypeAlias = tuple[CardTable, CardColumn, CardTable]
"""A table, a link of it, and the table that the link leads to."""


@dataclass
class Solutions:
    """What holds of the things of a statement: their unknowns, by the path that leads to each.

    Attributes:
        tables: The tables whose combined rows are counted.
        joins: How tables are joined, as the statement says.
        kept: The tables of which something is selected.
    """

    tables: list[str] = field(default_factory=list)
    joins: list[Join] = field(default_factory=list)
    kept: set[str] = field(default_factory=set)
    patterns: list[Pattern] = field(default_factory=list)
    places: dict[Path, Unknown] = field(default_factory=dict)
    conditions: list[Condition] = field(default_factory=list)
    without: list[Block] = field(default_factory=list)
    either: list[tuple[Block, ...]] = field(default_factory=list)
    named: dict[Path, str] = field(default_factory=dict)
    plans: list[Plan] = field(default_factory=list)

    @property
    def counted(self) -> tuple[Unknown, ...]:
        """Return the things whose combinations are the rows of the statement."""
        return tuple(self.places[(name,)] for name in self.tables)

    def is_selected(self, path: Path) -> bool:
        """Return whether a path is a column of what is selected, and does not lead on to other things."""
        return len(path) < 3 and path[0] in (self.kept or self.tables[:1])

    def afresh(self) -> Solutions:
        """Return these solutions for paths that lead from what is selected to other things than before."""
        kept = self.kept or set(self.tables[:1])
        places: dict[Path, Unknown] = {
            (name,): self.places[(name,)] for name in kept if (name,) in self.places
        }
        return Solutions(
            self.tables, self.joins, self.kept, self.patterns, places, self.conditions, self.without,
            self.either, self.named, self.plans,
        )  # fmt: skip

    def within(self, *, known: bool = True) -> Solutions:
        """Return solutions of a part of these; where they do not know their paths, only of their things."""
        places = {path: place for path, place in self.places.items() if known or len(path) == 1}
        return Solutions(self.tables, self.joins, self.kept, places=places)

    def block(self) -> Block:
        """Return what holds."""
        return Block(
            tuple(self.patterns), tuple(self.conditions), tuple(self.without), tuple(self.either),
            plans=tuple(self.plans),
        )  # fmt: skip


_FOLDS: dict[str, Fold] = {"AVG": "average", "SUM": "sum", "MIN": "minimum", "MAX": "maximum"}
_SIGNS = ("+", "-", "*", "/")
_PARTS: dict[str, Part] = {"YEAR": "year", "MONTH": "year-month"}
"""Parts of dates; months are those of a year, since it is over them that things are counted."""
_TERMS = 4


_BEHIND = ("GROUP", "HAVING", "THEN")
"""Words behind conditions."""


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


_LONGEST = 2_000


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
    if len(text) > _LONGEST:
        raise ConfigError(f"The statement has more than {_LONGEST:,} characters.")
    return _Statement(card, text).read()


class _Statement:
    """A statement that is read from left to right; what comes next is looked at, taken, or refused.

    Args:
        card: The tables.
        text: The statement.

    Raises:
        ConfigError: If a part of the text is no token.
    """

    def __init__(self, card: SchemaCard, text: str) -> None:
        self._tokens = list(_tokens(text))
        self._at = 0
        self._card = card
        self._names: set[str] = set()
        self._said: list[str] = []
        self._outer: list[Solutions | None] = []
        self._found: Solutions

    def _several(self, read: Callable[[], T], between: str = ",") -> list[T]:
        found = [read()]
        while self._taken(between):
            found.append(read())
        return found

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _is(self, word: str) -> bool:
        return self._peek().upper() == word.upper()

    def _next(self) -> str:
        if self._at >= len(self._tokens):
            raise ConfigError("The statement breaks off.")
        self._at += 1
        return self._tokens[self._at - 1]

    def _taken(self, word: str) -> bool:
        found = self._is(word)
        self._at += found
        return found

    def _skip(self, word: str) -> None:
        if not self._taken(word):
            raise self._wrong(f"not {word}")

    def _relation(self) -> Relation:
        found = self._next().replace("<>", "!=")
        if found not in ("=", "!=", "<", "<=", ">", ">="):
            raise self._wrong("no comparison")
        return cast(Relation, found)

    def _number(self) -> Literal:
        sign = "-" if self._taken("-") else ""
        token = self._next()
        if token[:1] == "'":
            return Literal(token[1:-1])
        if not token[:1].isdigit():
            raise self._wrong("no number")
        return Literal(int(sign + token)) if "." not in token else Literal(float(sign + token))

    def _text(self) -> str:
        if self._peek()[:1] != "'":
            raise self._wrong("no text")
        return self._next()[1:-1].replace("''", "'")

    def _wrong(self, what: str) -> ConfigError:
        return ConfigError(
            f"Not a statement: {' '.join(self._tokens[max(0, self._at - 1) :])[:40]!r} is {what}."
        )

    def _path(self) -> tuple[Path, CardColumn]:
        table = self._table()
        path: list[str] = [table.name]
        self._said.append(table.name)
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

    def _table(self) -> CardTable:
        table = self._card.table(self._next())
        if table is None:
            raise self._wrong("no table")
        return table

    def _walk(self, where: Solutions, path: Path) -> Unknown:
        """Return what a path leads to, with the patterns that lead there."""
        place = self._thing(where, path[0])
        table = self._named_table(path[0])
        for size, name in enumerate(path[1:], 2):
            column = table.column(name)
            assert column is not None
            if column.is_label:
                return place  # the label of a thing stands for it
            known = where.places.get(path[:size])
            if known is None:
                known = where.places[path[:size]] = self._unknown(name)
                where.patterns.append(Pattern(place, URIRef(column.property), known))
                if column.is_class:
                    # Of all that it is, only what is below the table's class tells something.
                    where.either.append(
                        tuple(
                            Block(conditions=(Comparison(known, "=", URIRef(iri)),))
                            for _, iri in column.values
                        )
                    )
            place = known
            if column.target is not None:
                table = self._card.of(column.target)
        return place

    # -- tables ------------------------------------------------------------------------------------

    def _thing(self, where: Solutions, name: str) -> Unknown:
        """Return the thing of a table, joined with the others in the way that is said, or else the shortest.

        Raises:
            ConfigError: If no links lead from one to the other.
        """
        if (name,) not in where.places:
            for join in self._between(where, name):
                self._join(where, join)
        return where.places[(name,)]

    def _first(self, where: Solutions, table: CardTable) -> Unknown:
        thing = where.places[(table.name,)] = self._unknown(table.name)
        if table.iri:
            where.patterns.append(Pattern(thing, RDF.type, URIRef(table.iri)))
        return thing

    def _join(self, where: Solutions, join: Join) -> None:
        """Join two tables of which one is there already."""
        one, column, other = join
        if (one.name,) in where.places:
            thing = where.places[(other.name,)] = self._walk(where, (one.name, column.name))
            if other.iri:
                where.patterns.append(Pattern(thing, RDF.type, URIRef(other.iri)))
        else:
            there = where.places[(other.name,)]
            thing = self._first(where, one)
            where.patterns.append(Pattern(thing, URIRef(column.property), there))
            where.places[one.name, column.name] = there

    def _between(self, where: Solutions, name: str) -> list[Join]:
        """Return how to come from the tables that are there to another."""
        there = [path[0] for path in where.places if len(path) == 1]
        for joins in (where.joins, [*where.joins, *self._links()]):
            ways: dict[str, list[Join]] = {known: [] for known in there}
            ahead = list(there)
            for known in ahead:
                for join in joins:
                    ends = join[0].name, join[2].name
                    if known in ends and (other := ends[known == ends[0]]) not in ways:
                        ways[other] = [*ways[known], join]
                        ahead.append(other)
            if name in ways:
                return ways[name]
        raise ConfigError(f"No links lead to the table {name}.")

    def _links(self) -> Iterator[Join]:
        """Yield the links of the card between different tables."""
        for table in self._card.tables:
            for column in table.columns:
                if column.target is not None and column.target != table.iri:
                    yield table, column, self._card.of(column.target)

    def _named_table(self, name: str) -> CardTable:
        table = self._card.table(name)
        assert table is not None
        return table

    # -- what is selected from ---------------------------------------------------------------------

    def _begin(self) -> int:
        """Begin to read a statement in another: find its tables. What is selected is read next."""
        self._outer.append(getattr(self, "_found", None))
        self._skip("SELECT")
        self._taken("DISTINCT")
        return self._tables()

    def _tables(self) -> int:
        """Read the tables that a statement selects from, and return where it goes on behind them."""
        start, depth = self._at, 0
        while depth or not self._is("FROM") or self._tokens[self._at - 1] == ".":
            depth += {"(": 1, ")": -1}.get(self._next(), 0)
        self._skip("FROM")
        first = self._table()
        self._found = Solutions([first.name])
        self._first(self._found, first)
        names = {first.name: True}
        while self._is("JOIN") or self._is("LEFT"):
            outer = self._taken("LEFT")
            name = self._joined()
            if name in names:
                raise ConfigError(f"The table {name} is joined twice.")
            names[name] = not outer
        for name in (name for name, always in names.items() if always and name != first.name):
            self._thing(self._found, name)
            self._found.tables.append(name)
        self._at, after = start, self._at
        return after

    def _joined(self) -> str:
        """Read how a table is joined, and return its name."""
        self._skip("JOIN")
        table = self._table()
        self._skip("ON")
        path, column = self._path()
        self._skip("=")
        other, key = self._path()
        if column.target is None:
            path, column, other, key = other, key, path, column
        ends = path[0], other[0]
        if len(path) > 2 or len(other) > 2 or not key.is_label or table.name not in ends:
            raise self._wrong("no link of two tables")
        if column.target != self._named_table(other[0]).iri or ends[0] == ends[1]:
            raise self._wrong("no link of two tables")
        self._found.joins.append((self._named_table(path[0]), column, self._named_table(other[0])))
        return table.name

    def _leave(self) -> None:
        """Go back to the statement around the one that has been read."""
        if (outer := self._outer.pop()) is not None:
            self._found = outer

    # -- names -------------------------------------------------------------------------------------

    def _of_class(self, where: Solutions, path: Path, column: CardColumn, text: str) -> Pattern:
        """Return the pattern that says of which kind a thing is."""
        cls = dict(column.values).get(text)
        if cls is None:
            raise self._wrong("no kind of these things")
        return Pattern(self._walk(where, path[:-1]), RDF.type, URIRef(cls))

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

    def read(self) -> tuple[Plan, tuple[str, ...]]:
        self._skip("SELECT")
        if self._is("EXISTS"):
            return self._whether()
        if self._is("("):
            return self._difference()
        self._taken("DISTINCT")
        after, said = self._tables(), len(self._said)
        values = self._several(self._item)
        self._found.kept = set(self._said[said:])
        self._end(after)
        return self._plan(values)

    def _whether(self) -> tuple[Plan, tuple[str, ...]]:
        """Read a question whether there is something."""
        self._skip("EXISTS")
        self._skip("(")
        after = self._begin()
        self._skip("*")
        self._end(after)
        self._skip(")")
        return self._checked(Plan(self._found.block())), ()

    def _difference(self) -> tuple[Plan, tuple[str, ...]]:
        """Read a calculation with what two statements find."""
        first = self._scalar()[0]
        sign = self._next()
        if sign not in ("+", "-", "*", "/"):
            raise self._wrong("no calculation")
        value = Arithmetic(first, cast(Operation, sign), self._scalar()[0])
        return self._checked(Plan(columns=(Column(value, "value"),))), ("value",)

    def _plan(self, values: list[Expression]) -> tuple[Plan, tuple[str, ...]]:
        group: list[Expression] = []
        having: list[Condition] = []
        if self._taken("GROUP"):
            self._skip("BY")
            group = self._several(self._grouped)
        if self._taken("HAVING"):
            left = self._item()
            relation = self._relation()
            right = self._number() if self._peek()[:1] in "-0123456789'" else self._item()
            having.append(Comparison(left, relation, right))
        columns = [Column(value, self._name(value)) for value in dict.fromkeys(values)]
        shown = tuple(c.name for c in columns if c.value not in self._given())
        if not shown:
            raise ConfigError("The statement selects only what its conditions name.")
        parts = [e for e in group if not isinstance(e, Unknown) and e not in values]
        columns += [Column(part, self._name(part)) for part in parts]
        order: list[Order] = []
        if self._taken("ORDER"):
            self._skip("BY")
            order = self._several(lambda: self._order(columns))
        limit = int(cast(Any, self._number())) if self._taken("LIMIT") else None
        folded = any(aggregates(c.value) for c in columns) or having
        keys = tuple(dict.fromkeys(e for e in group if isinstance(e, Unknown))) if folded else ()
        plan = Plan(
            self._found.block(), tuple(columns), keys, tuple(having), tuple(order), limit, 0, limit == 1
        )
        return self._checked(plan), shown

    def _given(self) -> list[Expression]:
        """Return the values that the conditions fix: whoever names one in a question does not ask for it."""
        return [
            c.left
            for c in self._found.conditions
            if isinstance(c, Comparison) and c.relation == "=" and isinstance(c.right, Literal | URIRef)
        ]

    def _order(self, columns: list[Column]) -> Order:
        """Read a key of the order; what is not shown becomes a column that is not."""
        value = self._item()
        column = next((c for c in columns if c.value == value), None)
        if column is None:
            columns.append(column := Column(value, self._name(value)))
        descending = self._taken("DESC")
        self._taken("ASC")
        return Order(column.name, descending)

    def _checked(self, plan: Plan) -> Plan:
        if self._at < len(self._tokens):
            raise self._wrong("not expected")
        check(plan)
        return plan
