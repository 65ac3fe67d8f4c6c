"""A schema card: the part of a graph that a question may be about, as tables that fit a prompt."""

from __future__ import annotations

import builtins
from dataclasses import dataclass

from rdflib import RDF

from mrag.planning.schema import Kind

VALUES = 8
"""Values that are told of one column, and of all together, beside those that are listed."""


@dataclass(frozen=True)
class CardColumn:
    """What may be said of the things of a table.

    Attributes:
        name: How it is written.
        property: Its IRI; "" for the label of the thing itself.
        kind: What its values are.
        target: The class of the things it leads to, "" for those without a class; None for other values.
        values: Texts among its values, with the entity of each; "" for a literal.
        listed: Whether these are all of its values, which the card shows; else the question names them.
    """

    name: str
    property: str
    kind: Kind
    target: str | None = None
    values: tuple[tuple[str, str], ...] = ()
    listed: bool = False

    def __str__(self) -> str:
        if self.target is not None:
            return f"{self.name}."
        if self.listed:
            return f"{self.name} {{{', '.join(quoted(text) for text, _ in self.values)}}}"
        return self.name if self.kind == "text" else f"{self.name} {self.kind}"

    @builtins.property
    def is_class(self) -> bool:
        """Return whether its values are the kinds of things that the table has."""
        return self.property == str(RDF.type)

    @builtins.property
    def is_label(self) -> bool:
        """Return whether it stands for the things of the table themselves."""
        return not self.property


@dataclass(frozen=True)
class CardTable:
    """A class with what is said of its members."""

    name: str
    iri: str
    columns: tuple[CardColumn, ...]

    @builtins.property
    def key(self) -> str | None:
        """Return the name of the column that stands for the things themselves, by which they are joined."""
        return next((c.name for c in self.columns if c.is_label), None)

    def column(self, name: str) -> CardColumn | None:
        """Return a column by its name."""
        return next((c for c in self.columns if c.name == name), None)


@dataclass(frozen=True)
class SchemaCard:
    """Tables, in order of their names.

    Attributes:
        tables: The tables.
        words: Words of the question by which texts may be looked for.
    """

    tables: tuple[CardTable, ...]
    words: tuple[str, ...] = ()

    def table(self, name: str) -> CardTable | None:
        """Return a table by its name."""
        return next((t for t in self.tables if t.name == name), None)

    def of(self, iri: str) -> CardTable:
        """Return the table of a class."""
        return next(t for t in self.tables if t.iri == iri)

    def text(self) -> str:
        """Return the tables, one a line; a link shows the table it leads to."""
        return "\n".join(f"{t.name}({', '.join(self._shown(c) for c in t.columns)})" for t in self.tables)

    def _shown(self, column: CardColumn) -> str:
        if column.target is not None:
            other = self.of(column.target)
            return f"{column.name} -> {other.name}{'' if other.key is None else '.' + other.key}"
        return str(column)

    def named(self) -> str:
        """Return the values that the question names, one a line."""
        rows = [
            f"{t.name}.{c.name} = {quoted(value)}"
            for t in self.tables
            for c in t.columns
            if not c.listed
            for value, _ in c.values
        ]
        return "\n".join(rows[:VALUES])


def quoted(text: str) -> str:
    """Return a text as statements write it."""
    return "'" + text.replace("'", "''") + "'"
