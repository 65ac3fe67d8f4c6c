"""Tables to RDF by a mapping in Turtle: CSV, TSV, JSON or JSON Lines.

The mapping is in the vocabularies of R2RML and RML (the W3C recommendation of 2012 and its extension to
other sources), of which this much is read: `rr:TriplesMap` with `rr:subjectMap` (`rr:template`,
`rml:reference`, `rr:column` or `rr:constant`, `rr:class`, `rr:termType`) and any number of
`rr:predicateObjectMap` (`rr:predicate`, and `rr:objectMap` or `rr:object`, with `rr:template`,
`rml:reference`, `rr:column`, `rr:constant`, `rr:datatype`, `rr:language` and `rr:termType`). Joins, functions
and graphs are refused. A logical source says which rows a map is for, where a mapping has several.
Two properties of our own say what CSV cannot: `tab:separator` splits a cell into several values, and
`tab:null` names a text that stands for no value.

What is empty gives no triple, as in R2RML: a column that a row lacks, the null of JSON, a cell of nothing but
white space, and what `tab:null` names.
"""

from __future__ import annotations

import codecs
import csv
import datetime
import io
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, TextIO, TypeAlias, cast
from urllib.parse import quote

import pyoxigraph as ox

from mrag.errors import ConfigError, LoadError
from mrag.loaders._records import SURROGATE, BrokenJson, JsonText, OnBad, Problem, Records
from mrag.loaders.checks import encoding_mark
from mrag.loaders.rdf import Progress, Source
from mrag.rdf.namespaces import RDF, XSD

_LONGEST = 16 << 20  # Characters of a cell after which a table is taken for broken
_SAMPLE = 1 << 16
_SAMPLED_ROWS = 20
_DELIMITERS = ",;\t|"


@dataclass(frozen=True)
class TableDialect:
    """How a table is written in a text."""

    delimiter: str = ""
    encoding: str = "utf-8"

    def __post_init__(self) -> None:
        if self.delimiter in ("tab", "\\t"):
            object.__setattr__(self, "delimiter", "\t")
        if len(self.delimiter) > 1 or self.delimiter in ("\n", "\r", '"'):
            what = f"{self.delimiter!r} cannot stand between cells."
            raise ConfigError(what, hint="Use one character, or tab.")
        try:
            text = codecs.lookup(self.encoding)._is_text_encoding
        except LookupError:
            text = False
        if not text:
            hint = "Use utf-8, utf-16, iso-8859-1, windows-1252 or another that Python knows."
            raise ConfigError(f"There is no encoding {self.encoding!r}.", hint=hint)


class Row(NamedTuple):
    """A row of a table."""

    number: int
    line: int | None
    cells: dict[str, Any]
    flaw: str = ""

    @property
    def where(self) -> str:
        """Return the place in words."""
        return f"row {self.number}" if self.line is None else f"line {self.line}"


class BrokenTable(LoadError):
    """A table whose rows cannot be told from here on."""


class JsonRows:
    """The objects of a JSON array, or of JSON Lines."""

    columns: tuple[str, ...] | None = None
    first: int | None = None

    def __init__(self, path: Path, on_progress: Progress | None = None) -> None:
        self._path, self._note = path, on_progress

    def __iter__(self) -> Iterator[Row]:
        """Yield the rows."""
        with JsonText(self._path, self._note) as source:
            for number, row in enumerate(source.records(), start=1):
                if isinstance(row, dict):
                    yield Row(number, None, row)
                else:
                    yield Row(number, None, {}, "it is not an object")


class DelimitedRows:
    """The rows of CSV and its like.

    Bytes that are not of the encoding reach their cell as half surrogate pairs, of which no term can be
    made: they cost that cell alone, and it can be named.
    """

    columns: tuple[str, ...] | None = None
    first: int | None = 1
    """Line of the header."""

    def __init__(self, path: Path, dialect: TableDialect, on_progress: Progress | None = None) -> None:
        self._path, self._dialect, self._note = path, dialect, on_progress
        name = path.name.lower().removesuffix(".gz")
        self._usual = "\t" if name.endswith((".tsv", ".tab")) else ","

    def __iter__(self) -> Iterator[Row]:
        """Yield the rows."""
        with self._open() as stream:
            rows, at, number = self._reader(stream), 0, 0
            try:
                self.columns = self._names(next((row for row in rows if row), []))
                at = rows.line_num
                for row in rows:
                    # A line feed within a cell is part of the row that began before it.
                    line, at = at + 1, rows.line_num
                    if row:
                        number += 1
                        yield self._row(number, line, row)
            except (csv.Error, UnicodeError, EOFError, OSError) as error:
                what, hint = str(error), None
                if isinstance(error, UnicodeError):
                    what = f"the text is not {self._dialect.encoding.upper()}"
                    hint = "Name its encoding with --encoding, such as iso-8859-1, windows-1252 or utf-16."
                raise BrokenTable(
                    f"Not a valid table: {what}.", file=str(self._path), line=at + 1, hint=hint
                ) from error

    @contextmanager
    def _open(self) -> Iterator[TextIO]:
        source = Source(self._path, ox.RdfFormat.JSON_LD, self._path.suffix.lower() == ".gz", "")
        total, note = source.size(), self._note
        csv.field_size_limit(_LONGEST)
        with source.open((lambda done: note(done, total)) if note else None) as raw:
            buffered = io.BufferedReader(cast(io.RawIOBase, raw), 1 << 20)
            encoding = encoding_mark(buffered.peek(4)[:4]) or self._dialect.encoding
            with io.TextIOWrapper(buffered, encoding, "surrogateescape", newline="") as stream:
                yield stream

    def _reader(self, stream: TextIO) -> Any:
        head: list[str] = []
        size = 0
        for line in stream:
            head.append(line)
            size += len(line)
            if size >= _SAMPLE:
                break
        delimiter = self._dialect.delimiter or guess_delimiter(head, self._usual)
        return csv.reader(chain(head, stream), delimiter=delimiter, strict=True)

    def _names(self, header: list[str]) -> tuple[str, ...]:
        names = tuple(name.strip() for name in header)
        for name in names:
            if SURROGATE.search(name):
                raise UnicodeError
            if name and names.count(name) > 1:
                what = f"Two columns are called {name!r}."
                hint = "Nothing of this load was stored. Rename one of them."
                raise LoadError(what, file=str(self._path), line=1, hint=hint)
        return names

    def _row(self, number: int, line: int, row: list[str]) -> Row:
        names = self.columns or ()
        if any(map(str.strip, row[len(names) :])):
            return Row(number, line, {}, f"it has {len(row)} cells, and the table {len(names)} columns")
        return Row(number, line, dict(zip(names, row, strict=False)))


TableRows: TypeAlias = JsonRows | DelimitedRows


def guess_delimiter(lines: Sequence[str], usual: str) -> str:
    """Return what stands between the cells of a table, by its first lines."""
    best, chosen = (False, 1), usual
    for delimiter in dict.fromkeys(usual + _DELIMITERS):
        try:
            some = islice(csv.reader(lines, delimiter=delimiter), _SAMPLED_ROWS)
            rows = [len(row) for row in some if row]
        except csv.Error:
            continue
        alike = bool(rows) and max(rows) <= rows[0]
        likeness = (alike and rows[0] > 1, rows[0] if rows else 0)
        if likeness > best and (likeness[1] > 1):
            best, chosen = likeness, delimiter
            if delimiter == usual and alike:
                break
    return chosen


def is_json(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is JSON, by its name."""
    return Path(path).name.lower().removesuffix(".gz").endswith((".json", ".jsonl", ".ndjson"))


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
_UNREADABLE = "its bytes are not in the encoding of the table (--encoding), which is UTF-8 by default"
_LISTED = 12
_SHOWN = 80

Cells = Mapping[str, Any]


class BadCell(ValueError):
    """A cell of which no term can be made."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.column = ""


@dataclass(frozen=True)
class TermMap:
    """How terms are made of a row."""

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
        """Return the terms for a row, as N-Triples; none where a value is missing."""
        if self.constant is not None:
            return [str(self.constant)]
        column = self.column or ", ".join(self.columns)
        try:
            if not self.pieces:
                return [self._term(value) for value in self._values(row.get(self.column))]
            made = [self.pieces[0]]
            for column, rest in zip(self.pieces[1::2], self.pieces[2::2], strict=True):
                values = self._values(row.get(column))
                spelt = [quote(value, safe="") if self.iri else value for value in values]
                made = [m + s + rest for s in spelt for m in made]
            return [self._term(value) for value in made]
        except BadCell as error:
            error.column = column
            raise

    def _values(self, cell: Any) -> list[str]:
        cells = cell if isinstance(cell, list) else [cell]
        values = [write_term(c) for c in cells if c is not None]
        if self.separator:
            values = [v for value in values for v in value.split(self.separator)]
        for value in values:
            if not value.isascii() and SURROGATE.search(value):
                raise BadCell("wrong encoding", _UNREADABLE)
        return [value for value in map(str.strip, values) if value and value not in self.null]

    def _term(self, value: str) -> str:
        if self.iri:
            try:
                return str(ox.NamedNode(value))
            except ValueError as error:
                raise BadCell("no IRI", f"{value[:_SHOWN]!r} is no IRI") from error
        if self.language:
            return str(ox.Literal(value, language=self.language))
        if not self.datatype:
            return str(ox.Literal(value))
        if not is_lexical(value, self.datatype):
            name = self.datatype.removeprefix(XSD)
            raise BadCell(f"no xsd:{name}", f"{value[:_SHOWN]!r} is no xsd:{name}")
        return str(ox.Literal(value, datatype=ox.NamedNode(self.datatype)))


@dataclass(frozen=True)
class TriplesMap:
    """How triples are made of the rows of a source: subjects, their classes, and the rest."""

    subject: TermMap
    classes: tuple[str, ...]
    rest: tuple[tuple[str, TermMap], ...]
    source: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of the columns it needs, each once."""
        terms = (self.subject, *(o for _, o in self.rest))
        return tuple(dict.fromkeys(c for t in terms for c in t.columns))


def is_lexical(value: str, datatype: str) -> bool:
    """Return whether a text is of a datatype, as far as it is checked; dates must be in the calendar."""
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


def write_term(value: Any) -> str:
    """Return the lexical form of a cell; JSON has numbers and truth values too."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict | list):
        raise BadCell("nested value", "the value is an object or a list of lists")
    return json.dumps(value)


def nearest(name: str, columns: Sequence[str]) -> str:
    """Return what columns there are in words, those most like a name first."""
    if not columns:
        return "It has no columns."
    like = {c: SequenceMatcher(None, name.casefold(), c.casefold()).ratio() for c in columns}
    order = sorted(columns, key=lambda column: (-like[column], column))
    more = f" and {len(order) - _LISTED} more" if len(order) > _LISTED else ""
    return f"Its columns, nearest first: {', '.join(repr(c[:_SHOWN]) for c in order[:_LISTED])}{more}."


RR = "http://www.w3.org/ns/r2rml#"
RML = "http://semweb.mmlab.be/ns/rml#"
TAB = "https://w3id.org/mrag/table#"
"""Namespace of `tab:separator` and `tab:null`."""

_KNOWN_TERMS = {
    RDF + "type",
    *(TAB + n for n in ("separator", "null")),
    *(RML + n for n in "logicalSource referenceFormulation iterator source reference".split()),
    *(
        RR + n
        for n in "subjectMap subject predicateObjectMap predicate objectMap object template constant class "
        "termType datatype language column".split()
    ),
}
_COLUMN = re.compile(r"\\([\\{}])|\{((?:[^\\{}]|\\.)+)\}|([{}\\])")


def read_mapping(path: str | os.PathLike[str]) -> tuple[TriplesMap, ...]:
    """Read a mapping."""
    graph: dict[str, list[tuple[str, Any]]] = {}
    for quad in Source.of(path, format="ttl").quads():
        graph.setdefault(str(quad.subject), []).append((quad.predicate.value, quad.object))
    return _Reader(Path(path), graph).maps()


class _Reader:
    def __init__(self, path: Path, graph: Mapping[str, list[tuple[str, Any]]]) -> None:
        self.path, self.graph = path, graph

    def maps(self) -> tuple[TriplesMap, ...]:
        subject = (RR + "subjectMap", RR + "subject")
        heads = [node for node, rows in self.graph.items() if any(p in subject for p, _ in rows)]
        if not heads:
            raise self.error("The mapping has no rr:subjectMap.")
        return tuple(self._map(head) for head in heads)

    def _map(self, head: str) -> TriplesMap:
        self._check(head)
        given = self._all(head, "subjectMap")
        if given:
            subject = self._term_map(str(given[0]), subject=True)
        else:
            subject = TermMap(constant=self._all(head, "subject")[0], iri=True)
        if len(given) > 1 or not subject.iri:
            raise self.error("A triples map has one subject, and it is an IRI.")
        classes = [str(c) for node in given for c in self._all(str(node), "class")]
        rest: list[tuple[str, TermMap]] = []
        for node in self._all(head, "predicateObjectMap"):
            self._check(str(node))
            objects = [TermMap(constant=o) for o in self._all(str(node), "object")]
            objects += [self._term_map(str(o)) for o in self._all(str(node), "objectMap")]
            predicates = self._all(str(node), "predicate")
            if not predicates or not objects:
                raise self.error("A predicate-object map needs rr:predicate, and rr:objectMap or rr:object.")
            rest += [(str(p), o) for p in predicates for o in objects]
        source = ""
        for node in [str(o) for p, o in self.graph[head] if p == RML + "logicalSource"][:1]:
            self._check(node)
            source = self._text(node, RML + "source")
        return TriplesMap(subject, tuple(classes), tuple(rest), source)

    def _term_map(self, node: str, *, subject: bool = False) -> TermMap:
        self._check(node)
        constant, template = self._one(node, RR + "constant"), self._text(node, RR + "template")
        column = self._text(node, RML + "reference") or self._text(node, RR + "column")
        language = self._text(node, RR + "language")
        datatype = self._one(node, RR + "datatype")
        if sum((constant is not None, bool(template), bool(column))) != 1:
            raise self.error("A term map has one of rr:template, rml:reference, rr:column and rr:constant.")
        kind = getattr(self._one(node, RR + "termType"), "value", "")
        if kind not in ("", RR + "IRI", RR + "Literal"):
            raise self.error(f"The term type {kind} is not supported; use rr:IRI or rr:Literal.")
        plain = not language and datatype is None
        is_iri = kind == RR + "IRI" or (not kind and plain and (subject or bool(template)))
        null = (o.value for p, o in self.graph.get(node, ()) if p == TAB + "null")
        if language:
            try:
                ox.Literal("", language=language)
            except ValueError as error:
                raise self.error(f"{language!r} is no language tag.") from error
        return TermMap(
            constant=constant,
            pieces=self._pieces(template) if template else (),
            column=column,
            iri=is_iri or isinstance(constant, ox.NamedNode),
            datatype=getattr(datatype, "value", ""),
            language=language,
            separator=self._text(node, TAB + "separator"),
            null=frozenset(null),
        )

    def _pieces(self, template: str) -> tuple[str, ...]:
        """Split a template into texts and columns in turn (R2RML, section 7.3)."""
        pieces, end = [""], 0
        for match in _COLUMN.finditer(template):
            pieces[-1] += template[end : match.start()]
            end = match.end()
            if match[3]:
                raise self.error(f"The template {template!r} has a brace or backslash that stands alone.")
            if match[1]:
                pieces[-1] += match[1]
            else:
                pieces += [re.sub(r"\\(.)", r"\1", match[2]), ""]
        pieces[-1] += template[end:]
        return tuple(pieces)

    def _check(self, node: str) -> None:
        for predicate, _ in self.graph.get(node, ()):
            if predicate not in _KNOWN_TERMS:
                raise self.error(f"The mapping says {predicate}, which is not supported here.")

    def _all(self, node: str, name: str) -> list[Any]:
        return [o for p, o in self.graph.get(node, ()) if p == RR + name]

    def _one(self, node: str, predicate: str) -> Any:
        objects = [o for p, o in self.graph.get(node, ()) if p == predicate]
        if len(objects) > 1:
            raise self.error(f"A term map has {predicate} twice.")
        return objects[0] if objects else None

    def _text(self, node: str, predicate: str) -> str:
        term = self._one(node, predicate)
        if term is None:
            return ""
        if not isinstance(term, ox.Literal):
            raise self.error(f"{predicate} takes a text.")
        return term.value

    def error(self, message: str) -> LoadError:
        return LoadError(message, file=str(self.path), hint="docs/tables.md shows a mapping.")


def maps_for(
    maps: Sequence[TriplesMap], name: str, mapping: str | os.PathLike[str]
) -> tuple[TriplesMap, ...]:
    """Return the maps for the rows of a file; a map without a source, or the only one, is for any."""
    sources = {m.source for m in maps}
    if len(sources) == 1:
        return tuple(maps)
    plain = name.removesuffix(".gz")
    fitting = tuple(m for m in maps if not m.source or Path(m.source).name.removesuffix(".gz") == plain)
    if not fitting:
        hint = f"It is for: {', '.join(sorted(map(repr, sources)))}."
        raise LoadError(f"The mapping has nothing for {name!r}.", file=str(mapping), hint=hint)
    return fitting


ROW = "_row"  # What a mapping may name in place of a column: the number of the row
_KNOWN = 1000  # Columns of JSON that are remembered, to name them in an error


class Table(Records):
    """A table with a mapping, gzipped or not.

    Kinds of problems: `broken JSON`, `broken table`, `wrong row`, `wrong encoding`, `nested value`, `no
    IRI`, `no xsd:integer` and so for each datatype, `missing column`, `empty file`, and `no subject`, which
    is counted and never an error. When bad records are skipped, a bad value costs its triple alone.

    Raises:
        LoadError: If a file is missing, or the mapping is not one that can be read here.

    Example:
        >>> import tempfile
        >>> mapping = '''
        ... @prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix rml: <http://semweb.mmlab.be/ns/rml#> .
        ... [] rr:subjectMap [ rr:template "http://example.org/shop/{name}" ] ;
        ...    rr:predicateObjectMap [ rr:predicate <http://example.org/sells> ;
        ...                            rr:objectMap [ rml:reference "goods" ; rr:language "en" ] ] .'''
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = (Path(folder) / "m.ttl").write_text(mapping)
        ...     _ = (Path(folder) / "t.csv").write_text('name,goods\\n"A & B",coats\\nC,\\n')
        ...     print(*Table(Path(folder) / "t.csv", Path(folder) / "m.ttl").triples())
        <http://example.org/shop/A%20%26%20B> <http://example.org/sells> "coats"@en
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        mapping: str | os.PathLike[str],
        *,
        on_bad: OnBad = "stop",
        on_progress: Progress | None = None,
        dialect: TableDialect | None = None,
    ) -> None:
        super().__init__(path, on_bad=on_bad, on_progress=on_progress)
        self.dialect = dialect or TableDialect()
        self.maps = maps_for(read_mapping(mapping), self.path.name, mapping)

    def statements(self) -> Iterator[str]:
        """Yield the data as lines of N-Triples."""
        rows = rows_of(self.path, self.dialect, self.on_progress)
        wanted = {column for each in self.maps for column in each.columns}
        absent, seen = set(wanted), dict[str, None]()
        for row in self._good_rows(rows):
            absent -= row.cells.keys()
            if rows.columns is None and len(seen) < _KNOWN:
                seen.update(dict.fromkeys(row.cells))
            if ROW in absent:
                row.cells[ROW] = str(row.number)
            for each in self.maps:
                yield from self._row(row, each)
        absent.discard(ROW)
        for column in sorted(absent) if self.report.counts.get("rows") and rows.columns is None else ():
            self.bad(
                "missing column", "the mapping", f"no row has a column {column!r}", nearest(column, [*seen])
            )

    def _check(self, rows: TableRows) -> None:
        """Check that the columns that the mapping names are there; without its subject a map is no use."""
        if rows.columns is None:
            return
        vital = {column for each in self.maps for column in each.subject.columns}
        for column in dict.fromkeys(c for each in self.maps for c in each.columns):
            if column in rows.columns or column == ROW:
                continue
            what = f"the table has no column {column!r}"
            hint = nearest(column, [c for c in rows.columns if c])
            if column in vital:
                message = f"Missing column, the mapping: {what}."
                raise LoadError(message, file=self.name, line=rows.first, hint=hint)
            self.bad("missing column", "the mapping", what, hint, line=rows.first)

    def _row(self, row: Row, each: TriplesMap) -> Iterator[str]:
        try:
            subjects = list(each.subject.terms(row.cells))
        except BadCell as error:
            self._bad_cell(row, error)
            return
        if not subjects:
            names = " or ".join(map(repr, each.subject.columns))
            self.report.note(Problem("no subject", row.where, f"the column {names} is empty"))
        for s in subjects:
            for kind in each.classes:
                yield f"{s} <{RDF}type> {kind} .\n"
            for p, objects in each.rest:
                try:
                    for o in objects.terms(row.cells):
                        yield f"{s} {p} {o} .\n"
                except BadCell as error:
                    self._bad_cell(row, error)

    def _bad_cell(self, row: Row, error: BadCell) -> None:
        self.bad(error.reason, f"{row.where}, column {error.column!r}", str(error), line=row.line)

    def _good_rows(self, rows: TableRows) -> Iterator[Row]:
        """Yield the rows that are such, once the columns are checked; say of the others what is wrong."""
        count = 0
        try:
            for count, row in enumerate(rows, start=1):
                if count == 1:
                    self._check(rows)
                self.report.count("rows")
                if row.flaw:
                    self.bad("wrong row", row.where, row.flaw, line=row.line)
                else:
                    yield row
        except (BrokenTable, BrokenJson) as error:
            if self.on_bad == "stop":
                raise LoadError(error.message, file=error.file, line=error.line, hint=error.hint) from error
            kind = "broken JSON" if isinstance(error, BrokenJson) else "broken table"
            self.report.note(Problem(kind, "the file", error.message.rstrip(".")))
        if not count:
            self.bad("empty file", "the table", "there is no row in it")


def rows_of(path: Path, dialect: TableDialect, on_progress: Progress | None = None) -> TableRows:
    """Return the rows of a file, by its name."""
    if is_json(path):
        return JsonRows(path, on_progress)
    return DelimitedRows(path, dialect, on_progress)
