"""What a statement says of the things of a table: patterns, conditions, and the unknowns they speak of."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import cast

from rdflib import RDF, URIRef

from mrag.planning.neural.card import CardColumn, CardTable, SchemaCard
from mrag.planning.neural.cursor import Cursor
from mrag.planning.plan import Aggregate, Block, Comparison, Condition, Expression, Pattern, Plan, Unknown

Path = tuple[str, ...]


@dataclass
class Solutions:
    """What holds of the things of a statement: their unknowns, by the path that leads to each."""

    table: CardTable
    patterns: list[Pattern] = field(default_factory=list)
    places: dict[Path, Unknown] = field(default_factory=dict)
    conditions: list[Condition] = field(default_factory=list)
    without: list[Block] = field(default_factory=list)
    either: list[tuple[Block, ...]] = field(default_factory=list)
    named: dict[Path, str] = field(default_factory=dict)
    plans: list[Plan] = field(default_factory=list)

    def afresh(self) -> Solutions:
        """Return these solutions for paths that lead to other things than before."""
        return replace(self, places={(): self.places[()]})

    def within(self, *, known: bool = True) -> Solutions:
        """Return solutions of a part of these; where they do not know their paths, only of their things."""
        places: dict[Path, Unknown] = dict(self.places) if known else {(): self.places[()]}
        return Solutions(self.table, places=places)

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
        self._found: Solutions

    def _path(self) -> tuple[Path, CardColumn]:
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

    def _walk(self, where: Solutions, path: Path) -> Unknown:
        """Return what a path leads to, with the patterns that lead there."""
        table = where.table
        place = where.places[()]
        for size, name in enumerate(path, 1):
            column = cast(CardColumn, table.column(name))
            if column.is_label:
                return place  # the label of a thing stands for it
            known = where.places.get(path[:size])
            if known is None:
                known = where.places[path[:size]] = self._unknown(name)
                ends = (place, known) if column.forward else (known, place)
                where.patterns.append(Pattern(ends[0], URIRef(column.property), ends[1]))
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
