"""What a statement says of the things of its tables: patterns, conditions, and the unknowns they speak of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from rdflib import RDF, URIRef

from mrag.errors import ConfigError
from mrag.planning.neural.card import CardColumn, CardTable, SchemaCard
from mrag.planning.neural.cursor import Cursor
from mrag.planning.plan import Aggregate, Block, Comparison, Condition, Expression, Pattern, Plan, Unknown

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


class PathReader(Cursor):
    """Reads paths: a table and columns, with a dot behind each link.

    Args:
        card: The tables.
        text: The statement.
    """

    def __init__(self, card: SchemaCard, text: str) -> None:
        super().__init__(text)
        self._card = card
        self._names: set[str] = set()
        self._said: list[str] = []
        self._outer: list[Solutions | None] = []
        self._found: Solutions

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
