"""How terms are made of the cells of a row.

What a cell holds becomes text, or an encoded part of an IRI, and never syntax.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any
from urllib.parse import quote

import pyoxigraph as ox

from mrag.rdf.namespaces import XSD

_LEXICAL = {
    XSD + name: re.compile(rf"\A(?:{form})")
    for name, form in (
        ("integer", r"[+-]?[0-9]+"),
        ("decimal", r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)"),
        ("double", r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?INF|NaN"),
        ("boolean", r"true|false|0|1"),
        ("date", r"-?[0-9]{4,}-[0-9]{2}-[0-9]{2}(Z|[+-][0-9]{2}:[0-9]{2})?"),
        (
            "dateTime",
            r"-?[0-9]{4,}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})?",
        ),
        ("gYear", r"-?[0-9]{4,}"),
    )
}
"""Lexical forms of the datatypes that are checked (XML Schema 1.1, part 2); values of others pass."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_UNREADABLE = "its bytes are not in the encoding of the table (--encoding), which is UTF-8 by default"
_LISTED = 12
_SHOWN = 80

Cells = Mapping[str, Any]


class Typed(str):
    """A cell of a source that knows the datatypes of its values.

    Attributes:
        datatype: IRI of the datatype.
    """

    __slots__ = ("datatype",)
    datatype: str

    @classmethod
    def of(cls, text: str, name: str) -> Typed:
        """Return a value of a datatype of XML Schema."""
        found = cls(text)
        found.datatype = XSD + name
        return found


class BadCell(ValueError):
    """A cell of which no term can be made.

    Attributes:
        reason: What is wrong, without the value, so that such cells can be counted.
        column: Where it stands.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.column = ""


@dataclass(frozen=True)
class TermMap:
    """How terms are made of a row.

    Attributes:
        constant: The term itself, or None.
        pieces: A template: texts and names of columns in turn.
        column: A column whose values are taken as they are.
        iri: Whether the terms are IRIs.
        datatype: Of literals.
        language: Of literals.
        separator: Splits a cell.
        null: Texts that stand for no value, beside the empty one.
    """

    constant: ox.NamedNode | ox.Literal | None = None
    pieces: tuple[str, ...] = ()
    column: str = ""
    iri: bool = False
    datatype: str = ""
    language: str = ""
    separator: str = ""
    null: frozenset[str] = frozenset()

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of the columns it needs."""
        return self.pieces[1::2] if self.pieces else ((self.column,) if self.column else ())

    def terms(self, row: Cells) -> list[str]:
        """Return the terms for a row, as N-Triples; none where a value is missing.

        Raises:
            BadCell: If a cell is no well-formed IRI, or a number or date that its datatype does not know.
        """
        if self.constant is not None:
            return [str(self.constant)]
        column = self.column or ", ".join(self.columns)
        try:
            if not self.pieces:
                return [self._term(value) for value in self._values(row.get(self.column))]
            made = [self.pieces[0]]
            for column, rest in zip(self.pieces[1::2], self.pieces[2::2], strict=True):
                values = self._values(row.get(column))
                made = [m + self._spelt(v) + rest for v in values for m in made]
            return [self._term(value) for value in made]
        except BadCell as error:
            error.column = column
            raise

    def _values(self, cell: Any) -> list[str]:
        cells = cell if isinstance(cell, list) else [cell]
        values = [written(c) for c in cells if c is not None]
        if self.separator:
            values = [v for value in values for v in value.split(self.separator)]
        for value in values:
            if not value.isascii() and _SURROGATE.search(value):
                raise BadCell("wrong encoding", _UNREADABLE)
        stripped = (value if type(value) is Typed else value.strip() for value in values)
        return [value for value in stripped if value and value not in self.null]

    def _spelt(self, value: str) -> str:
        return quote(value, safe="") if self.iri else value

    def _term(self, value: str) -> str:
        if self.iri:
            try:
                return str(ox.NamedNode(value))
            except ValueError as error:
                raise BadCell("no IRI", f"{value[:_SHOWN]!r} is no IRI") from error
        if self.language:
            return str(ox.Literal(value, language=self.language))
        datatype = self.datatype or (value.datatype if isinstance(value, Typed) else "")
        if not datatype:
            return str(ox.Literal(value))
        if not is_lexical(value, datatype):
            name = datatype.removeprefix(XSD)
            raise BadCell(f"no xsd:{name}", f"{value[:_SHOWN]!r} is no xsd:{name}")
        return str(ox.Literal(value, datatype=ox.NamedNode(datatype)))


@dataclass(frozen=True)
class TriplesMap:
    """How triples are made of a row: subjects, their classes, and predicates with objects.

    Attributes:
        subject: The subjects.
        classes: Their classes, as N-Triples.
        rest: Predicates, as N-Triples, with what makes their objects.
        source: Name of the file or table whose rows it is for; empty for any.
        query: A query to a database in place of a table.
    """

    subject: TermMap
    classes: tuple[str, ...]
    rest: tuple[tuple[str, TermMap], ...]
    source: str = ""
    query: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of the columns it needs, each once."""
        terms = (self.subject, *(o for _, o in self.rest))
        return tuple(dict.fromkeys(c for t in terms for c in t.columns))


def is_lexical(value: str, datatype: str) -> bool:
    """Return whether a text is of a datatype, as far as it is checked; dates must be in the calendar.

    Example:
        >>> [is_lexical(v, XSD + "date") for v in ("2024-02-29", "2023-02-29", "29.2.2024")]
        [True, False, False]
    """
    known = _LEXICAL.get(datatype)
    if known is None:
        return True
    if not known.fullmatch(value):
        return False
    if datatype not in (XSD + "date", XSD + "dateTime") or value[4] != "-" or value.startswith("0000"):
        return True  # Python's calendar has not all years
    try:
        datetime.date.fromisoformat(value[:10])
        if datatype == XSD + "dateTime" and value[11:19] != "24:00:00":
            datetime.time.fromisoformat(value[11:19])
    except ValueError:
        return False
    return True


def written(value: Any) -> str:
    """Return the lexical form of a cell; JSON has numbers and truth values too.

    Raises:
        BadCell: If it is an object, or a list of lists.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, dict | list):
        raise BadCell("nested value", "the value is an object or a list of lists")
    return json.dumps(value)


def nearest(name: str, columns: Sequence[str]) -> str:
    """Return what columns there are in words, those most like a name first.

    Example:
        >>> nearest("Nmae", ["city", "name"])
        "Its columns, nearest first: 'name', 'city'."
    """
    if not columns:
        return "It has no columns."

    def unlike(column: str) -> tuple[float, str]:
        return -SequenceMatcher(None, name.casefold(), column.casefold()).ratio(), column

    found = sorted(columns, key=unlike)
    more = f" and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
    return f"Its columns, nearest first: {', '.join(repr(c[:_SHOWN]) for c in found[:_LISTED])}{more}."
