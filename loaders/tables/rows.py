"""Tables in files of text as rows: CSV and its like, a JSON array of objects, and JSON Lines."""

from __future__ import annotations

import codecs
import csv
import io
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, TextIO, cast

import pyoxigraph as ox

from mrag.errors import ConfigError, LoadError
from mrag.loaders._records import JsonText
from mrag.loaders.checks import marked
from mrag.loaders.rdf import Progress, Source

_LONGEST = 16 << 20
"""Characters of a cell after which a table is taken for broken."""
_SAMPLE = 1 << 16
_SAMPLED_ROWS = 20
_DELIMITERS = ",;\t|"


@dataclass(frozen=True)
class TableDialect:
    r"""How a table is written in a text.

    Attributes:
        delimiter: What stands between two cells; told from the name and the first rows by default.
        encoding: Of the text, unless a byte order mark says another.
        quote: What stands around a cell that holds delimiters.
        header: Whether the first row names the columns; else they are `_col.1`, `_col.2` and so on.
        skipped: Lines before the table that are no part of it.
        comment: What a line that is no row begins with; empty for none.
        doubled: Whether a quote within a cell is written twice; else a backslash stands before it.

    Raises:
        ConfigError: If the delimiter is no single character, or the encoding not known.

    Example:
        >>> TableDialect(delimiter="tab").delimiter
        '\t'
    """

    delimiter: str = ""
    encoding: str = "utf-8"
    quote: str = '"'
    header: bool = True
    skipped: int = 0
    comment: str = ""
    doubled: bool = True

    def __post_init__(self) -> None:
        if self.delimiter in ("tab", "\\t"):
            object.__setattr__(self, "delimiter", "\t")
        if len(self.delimiter) > 1 or self.delimiter in ("\n", "\r", '"'):
            raise ConfigError(
                f"{self.delimiter!r} cannot stand between cells.", hint="Use one character, or tab."
            )
        try:
            text = codecs.lookup(self.encoding)._is_text_encoding
        except LookupError:
            text = False
        if not text:
            raise ConfigError(
                f"There is no encoding {self.encoding!r}.",
                hint="Use utf-8, utf-16, iso-8859-1, windows-1252 or another that Python knows.",
            )


class Row(NamedTuple):
    """A row of a table.

    Attributes:
        number: Of the row, from 1.
        line: Where it begins in the text, if that is known.
        cells: What it holds.
        flaw: What is wrong with it as a whole, and makes it no row; else empty.
    """

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


class TableRows(ABC):
    """The rows of a table.

    Attributes:
        columns: The names of the columns; None while they are not known, and for JSON.
        first: The line on which they stand, if that is known.
    """

    columns: tuple[str, ...] | None = None
    first: int | None = None

    @abstractmethod
    def __iter__(self) -> Iterator[Row]:
        """Yield the rows.

        Raises:
            LoadError: If what follows cannot be read as rows.
        """

    def require(self, columns: Sequence[str]) -> None:  # noqa: B027 # only some need not read the others
        """Say which columns will be asked for; the others need not be read."""


class JsonRows(TableRows):
    """The objects of a JSON array, or of JSON Lines.

    Args:
        path: The file.
        on_progress: Called with the bytes read and the bytes in all.
    """

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


class DelimitedRows(TableRows):
    """The rows of CSV and its like.

    Bytes that are not of the encoding reach the cell in which they stand, as half surrogate pairs, of which
    no term can be made: so they cost that cell alone, and it can be named.

    Args:
        path: The file.
        dialect: How it is written.
        on_progress: Called with the bytes read and the bytes in all.
    """

    def __init__(self, path: Path, dialect: TableDialect, on_progress: Progress | None = None) -> None:
        self._path, self._dialect, self._note = path, dialect, on_progress
        name = path.name.lower().removesuffix(".gz")
        self._usual = "\t" if name.endswith((".tsv", ".tab")) else ","

    def __iter__(self) -> Iterator[Row]:
        """Yield the rows."""
        with self._opened() as stream:
            lines = self._lines(stream)
            rows = self._reader(lines)
            at = 0
            first: list[list[str]] = []
            try:
                header: list[str] = next((row for row in rows if row), [])
                if self._dialect.header:
                    self.columns = self._names(header)
                    at = rows.line_num
                else:
                    self.columns = tuple(f"_col.{n}" for n in range(1, len(header) + 1))
                    first = [header]
                number = 0
                for row in chain(first, rows):
                    # A line feed within a cell is part of the row that began before it.
                    line, at = self._dialect.skipped + at + 1, rows.line_num
                    if not row:
                        continue
                    number += 1
                    yield self._row(number, line, row)
            except (csv.Error, UnicodeError, EOFError, OSError) as error:
                raise self._broken(error, self._dialect.skipped + at + 1) from error

    @property
    def first(self) -> int | None:  # type: ignore[override]
        """Return the line of the header."""
        return self._dialect.skipped + 1 if self._dialect.header else None

    @contextmanager
    def _opened(self) -> Iterator[TextIO]:
        source = Source(self._path, ox.RdfFormat.JSON_LD, self._path.suffix.lower() == ".gz", "")
        total, note = source.size(), self._note
        csv.field_size_limit(_LONGEST)
        with source.open((lambda done: note(done, total)) if note else None) as raw:
            buffered = io.BufferedReader(cast(io.RawIOBase, raw), 1 << 20)
            encoding = marked(buffered.peek(4)[:4]) or self._dialect.encoding
            with io.TextIOWrapper(buffered, encoding, "surrogateescape", newline="") as stream:
                for _ in range(self._dialect.skipped):
                    stream.readline()
                yield stream

    def _lines(self, stream: TextIO) -> Iterator[str]:
        comment = self._dialect.comment
        for line in stream:
            # A line that is empty keeps the count of lines right, and is no row.
            yield "\n" if comment and line.startswith(comment) else line

    def _reader(self, lines: Iterator[str]) -> Any:
        dialect = self._dialect
        head: list[str] = []
        size = 0
        for line in lines:
            head.append(line)
            size += len(line)
            if size >= _SAMPLE:
                break
        delimiter = dialect.delimiter or told(head, self._usual)
        return csv.reader(
            chain(head, lines),
            delimiter=delimiter,
            quotechar=dialect.quote or None,
            quoting=csv.QUOTE_MINIMAL if dialect.quote else csv.QUOTE_NONE,
            doublequote=dialect.doubled,
            escapechar=None if dialect.doubled else "\\",
            strict=True,
        )

    def _names(self, header: list[str]) -> tuple[str, ...]:
        names = tuple(name.strip() for name in header)
        for name in names:
            if any("\ud800" <= sign <= "\udfff" for sign in name):
                raise UnicodeError
            if name and names.count(name) > 1:
                raise LoadError(
                    f"Two columns are called {name!r}.",
                    file=str(self._path),
                    line=self.first,
                    hint="Nothing of this load was stored. Rename one of them.",
                )
        return names

    def _row(self, number: int, line: int, row: list[str]) -> Row:
        names = self.columns or ()
        if len(row) > len(names) and any(map(str.strip, row[len(names) :])):
            flaw = f"it has {len(row)} cells, and the table {len(names)} columns"
            return Row(number, line, {}, flaw)
        return Row(number, line, dict(zip(names, row, strict=False)))

    def _broken(self, error: Exception, line: int) -> BrokenTable:
        if isinstance(error, UnicodeError):
            encoding = self._dialect.encoding
            return BrokenTable(
                f"Not a valid table: the text is not {encoding.upper()}.",
                file=str(self._path),
                line=line,
                hint="Name its encoding with --encoding, such as iso-8859-1, windows-1252 or utf-16.",
            )
        return BrokenTable(f"Not a valid table: {error}.", file=str(self._path), line=line)


def told(lines: Sequence[str], usual: str) -> str:
    """Return what stands between the cells of a table, by its first lines.

    What is usual by the name of the file wins if there are two columns of it; else what gives each row the
    same number of columns, and then what gives most.

    Example:
        >>> told(["name;price\\n", "coat;1,50\\n"], ",")
        ';'
    """
    best, chosen = (False, 1), usual
    for delimiter in dict.fromkeys(usual + _DELIMITERS):
        try:
            some = islice(csv.reader(lines, delimiter=delimiter), _SAMPLED_ROWS)
            rows = [len(row) for row in some if row]
        except csv.Error:
            continue
        alike = bool(rows) and max(rows) <= rows[0]
        found = (alike and rows[0] > 1, rows[0] if rows else 0)
        if found > best and (found[1] > 1):
            best, chosen = found, delimiter
            if delimiter == usual and alike:
                break
    return chosen


def is_json(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is JSON, by its name."""
    return Path(path).name.lower().removesuffix(".gz").endswith((".json", ".jsonl", ".ndjson"))
