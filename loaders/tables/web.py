"""Tables to RDF by metadata of CSV on the Web.

Source:
    Generating RDF from Tabular Data on the Web (W3C recommendation, 2015), minimal and standard mode.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyoxigraph as ox

from mrag.errors import LoadError
from mrag.loaders._records import BrokenJson, OnBad, Problem, Records
from mrag.loaders.rdf import Progress
from mrag.loaders.tables.metadata import WebColumn, WebTable, named_columns, quoted, read_metadata
from mrag.loaders.tables.rows import BrokenTable, DelimitedRows, Row, TableDialect
from mrag.loaders.tables.terms import BadCell
from mrag.loaders.tables.webcells import CSVW, expanded, resolved
from mrag.rdf.namespaces import RDF, XSD

_TYPE, _NIL = f"<{RDF}type>", f"<{RDF}nil>"
_SURROGATES = ("\ud800", "\udfff")


@dataclass(frozen=True)
class _Cell:
    """A cell with its values; a list where the column has a separator."""

    column: WebColumn
    values: list[str] | str | None


class WebTables(Records):
    """The tables of metadata of CSV on the Web, or one of them.

    Kinds of problems: as of `Table`, and `missing value` where one is required. No triple is made where a
    column that `aboutUrl` or `valueUrl` names has no value, as in mappings.

    Args:
        path: The table, or the metadata for all of their tables.
        metadata: The metadata of the table.
        standard: Whether the tables and their rows are described too, as in standard mode.
        on_bad: `stop` at the first problem, or `skip` it and count it.
        on_progress: Called with the bytes read and the bytes in all.

    Raises:
        LoadError: If a file is missing, or the metadata are not such that they can be followed here.

    Example:
        >>> import json, tempfile
        >>> from pathlib import Path
        >>> about = {"@context": "http://www.w3.org/ns/csvw", "url": "http://example.org/shops.csv",
        ...          "tableSchema": {"aboutUrl": "#{name}", "columns": [
        ...              {"name": "name", "propertyUrl": "schema:name"},
        ...              {"name": "opened", "datatype": {"base": "date", "format": "d.M.yyyy"}}]}}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = (Path(folder) / "shops.csv-metadata.json").write_text(json.dumps(about))
        ...     _ = (Path(folder) / "shops.csv").write_text("name,opened\\nHats,3.12.1999\\n")
        ...     for triple in WebTables(Path(folder) / "shops.csv-metadata.json").triples():
        ...         print(triple)
        <http://example.org/shops.csv#Hats> <http://schema.org/name> "Hats"
        <http://example.org/shops.csv#Hats> <http://example.org/shops.csv#opened>
        "1999-12-03"^^<http://www.w3.org/2001/XMLSchema#date>
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        metadata: str | os.PathLike[str] | None = None,
        *,
        standard: bool = False,
        on_bad: OnBad = "stop",
        on_progress: Progress | None = None,
        dialect: TableDialect | None = None,
    ) -> None:
        super().__init__(path, on_bad=on_bad, on_progress=on_progress)
        self.standard, self.dialect = standard, dialect or TableDialect()
        self.tables = read_metadata(metadata or path, strict=metadata is None)
        if metadata is not None:
            named = [table for table in self.tables if table.file.name == self.path.name]
            if not named:
                names = ", ".join(repr(table.file.name) for table in self.tables) or "no table that is here"
                message = f"The metadata have nothing for {self.path.name!r}."
                raise LoadError(message, file=str(metadata), hint=f"They describe: {names}.")
            self.tables = named

    def statements(self) -> Iterator[str]:
        """Yield the data as lines of N-Triples."""
        group = "_:group"
        if self.standard:
            yield f"{group} {_TYPE} <{CSVW}TableGroup> .\n"
        for number, table in enumerate(self.tables):
            self.name = str(table.file)
            node = f"<{table.id}>" if table.id else f"_:table{number}"
            if self.standard:
                yield f"{group} <{CSVW}table> {node} .\n"
                yield f"{node} {_TYPE} <{CSVW}Table> .\n"
                yield f"{node} <{CSVW}url> <{table.iri}> .\n"
                yield from self._said(node, table.about or {}, table)
            yield from self._table(number, node, table)

    def _table(self, number: int, node: str, table: WebTable) -> Iterator[str]:
        dialect = table.dialect or self.dialect
        rows = DelimitedRows(table.file, dialect, self.on_progress)
        columns: tuple[WebColumn, ...] = ()
        count = 0
        try:
            for row in rows:
                header = rows.columns or ()
                if not count:
                    columns = named_columns(table, header, titled=dialect.header)
                count += 1
                self.report.count("rows")
                if row.flaw:
                    self.bad("wrong row", row.where, row.flaw, line=row.line)
                    continue
                blank = f"_:row{number}.{row.number}"
                about: dict[str, None] = {}
                yield from self._row(row, header, columns, table, dialect, blank, about)
                if self.standard:
                    yield from self._described(f"_:r{number}.{row.number}", node, row, table, dialect, about)
        except (BrokenTable, BrokenJson) as error:
            if self.on_bad == "stop":
                raise LoadError(error.message, file=error.file, line=error.line, hint=error.hint) from error
            self.report.note(Problem("broken table", "the file", error.message.rstrip(".")))
        if not count:
            self.bad("empty file", "the table", "there is no row in it")

    def _row(
        self,
        row: Row,
        header: Sequence[str],
        columns: Sequence[WebColumn],
        table: WebTable,
        dialect: TableDialect,
        blank: str,
        about: dict[str, None],
    ) -> Iterator[str]:
        """Yield what a row states, and note what it is about."""
        cells: list[_Cell] = []
        for place, column in enumerate(columns):
            text = "" if column.virtual else row.cells.get(header[place], "")
            try:
                cells.append(_Cell(column, _values(column, text)))
            except BadCell as error:
                self.bad(error.reason, f"{row.where}, column {column.name!r}", str(error), line=row.line)
                cells.append(_Cell(column, None))
        source = row.number + dialect.skipped + dialect.header
        values: dict[str, str | list[str] | None] = {cell.column.name: cell.values for cell in cells}
        values |= {"_row": str(row.number), "_sourceRow": str(source)}
        for place, cell in enumerate(cells, start=1):
            values |= {"_column": str(place), "_sourceColumn": str(place), "_name": cell.column.name}
            if cell.column.suppressed:
                continue
            try:
                yield from _stated(cell, values, table, blank, about, place)
            except BadCell as error:
                self.bad(error.reason, f"{row.where}, column {cell.column.name!r}", str(error), line=row.line)

    def _described(
        self, node: str, table: str, row: Row, of: WebTable, dialect: TableDialect, about: Mapping[str, None]
    ) -> Iterator[str]:
        """Yield what standard mode says of a row."""
        source = row.number + dialect.skipped + dialect.header
        yield f"{table} <{CSVW}row> {node} .\n"
        yield f"{node} {_TYPE} <{CSVW}Row> .\n"
        yield f'{node} <{CSVW}rownum> "{row.number}"^^<{XSD}integer> .\n'
        yield f"{node} <{CSVW}url> <{of.iri}#row={source}> .\n"
        for name in of.titles:
            if title := row.cells.get(name, ""):
                yield f"{node} <{CSVW}title> {ox.Literal(title)} .\n"
        for subject in about:
            yield f"{node} <{CSVW}describes> {subject} .\n"

    def _said(self, node: str, about: Mapping[str, Any], table: WebTable) -> Iterator[str]:
        """Yield what metadata say of a table beside its columns; nested objects are blank nodes."""
        for term, value in about.items():
            try:
                name = CSVW + term if term == "notes" else resolved(term, table.iri)
                if ":" not in term and term != "notes":
                    continue
                for place, each in enumerate(value if isinstance(value, list) else [value]):
                    yield from self._value(node, f"<{name}>", each, f"{node}n{place}", table)
            except (BadCell, ValueError) as error:
                self.bad("wrong metadata", f"`{term}`", str(error).rstrip("."))

    def _value(self, node: str, name: str, value: Any, inner: str, table: WebTable) -> Iterator[str]:
        if not isinstance(value, dict):
            kind = {bool: "boolean", int: "integer", float: "double"}.get(type(value))
            made = _text(str(value), table.language)
            if kind:
                made = ox.Literal(json.dumps(value), datatype=ox.NamedNode(XSD + kind))
            yield f"{node} {name} {made} .\n"
        elif "@value" in value:
            datatype, language = value.get("@type"), value.get("@language", "")
            made = _text(str(value["@value"]), language)
            if datatype:
                made = ox.Literal(str(value["@value"]), datatype=ox.NamedNode(resolved(datatype, table.iri)))
            yield f"{node} {name} {made} .\n"
        elif [*value] == ["@id"]:
            yield f"{node} {name} <{resolved(str(value['@id']), table.iri)}> .\n"
        else:
            there = f"_:n{quoted(name + inner).replace('%', '').replace('.', '').replace('~', '')}"
            yield f"{node} {name} {there} .\n"
            if kind := value.get("@type"):
                yield f"{there} {_TYPE} <{resolved(str(kind), table.iri)}> .\n"
            yield from self._said(there, {k: v for k, v in value.items() if not k.startswith("@")}, table)


def _values(column: WebColumn, text: str) -> list[str] | str | None:
    """Return the values of a cell; None for no value.

    Raises:
        BadCell: If a value is not of the datatype, or there is none and one is required.
    """
    if any(_SURROGATES[0] <= sign <= _SURROGATES[1] for sign in text) if not text.isascii() else False:
        raise BadCell("wrong encoding", "its bytes are not in the encoding of the table")
    datatype = column.datatype
    text = text.strip() if datatype.verbatim else " ".join(text.split())
    text = text or column.default
    if column.separator:
        parts = [] if not text or text in column.null else text.split(column.separator)
        parts = [part.strip() for part in parts]
        if column.required and not parts:
            raise BadCell("missing value", "it is empty, and a value is required")
        return [datatype.lexical(part) for part in parts if part and part not in column.null]
    if text in column.null or not text:
        if column.required and not column.virtual:
            raise BadCell("missing value", "it is empty, and a value is required")
        return None
    return datatype.lexical(text)


def _stated(
    cell: _Cell,
    values: Mapping[str, str | list[str] | None],
    table: WebTable,
    blank: str,
    about: dict[str, None],
    place: int,
) -> Iterator[str]:
    """Yield what a cell states.

    Raises:
        BadCell: If a template makes no IRI.
    """
    column = cell.column
    empty = cell.values is None or cell.values == []
    if empty and not (column.virtual and column.value):
        return
    subject = blank
    if column.about:
        made = expanded(column.about, values)
        if made is None:
            return
        subject = f"<{resolved(made, table.iri)}>"
    name = expanded(column.property, values) if column.property else f"#{column.name}"
    if name is None:
        return
    predicate = f"<{resolved(name, table.iri)}>"
    if column.value:
        made = expanded(column.value, values)
        objects = [] if made is None else [f"<{resolved(made, table.iri)}>"]
    else:
        each = cell.values if isinstance(cell.values, list) else [cell.values or ""]
        objects = [str(_literal(column, value)) for value in each]
    if objects:
        about.setdefault(subject)
    if column.separator and column.ordered and not column.value:
        yield from _list(subject, predicate, objects, f"{blank}.{place}")
        return
    for made in objects:
        yield f"{subject} {predicate} {made} .\n"


def _literal(column: WebColumn, value: str) -> ox.Literal:
    if column.datatype.base == "string" and not column.datatype.id:
        return _text(value, column.language)
    return ox.Literal(value, datatype=ox.NamedNode(column.datatype.iri))


def _text(text: str, language: str) -> ox.Literal:
    return ox.Literal(text, language=language) if language else ox.Literal(text)


def _list(subject: str, predicate: str, objects: Sequence[str], node: str) -> Iterator[str]:
    heads = [f"{node}.{number}" for number in range(len(objects))] + [_NIL]
    yield f"{subject} {predicate} {heads[0]} .\n"
    for head, made, rest in zip(heads, objects, heads[1:], strict=False):
        yield f"{head} <{RDF}first> {made} .\n"
        yield f"{head} <{RDF}rest> {rest} .\n"
