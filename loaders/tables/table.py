"""Tables to RDF by a mapping in Turtle: CSV, TSV, JSON, JSON Lines, Parquet, or an SQL database.

The mapping is in the vocabularies of R2RML and RML (the W3C recommendation of 2012 and its extension to
other sources), of which this much is read: `rr:TriplesMap` with `rr:subjectMap` (`rr:template`,
`rml:reference`, `rr:column` or `rr:constant`, `rr:class`, `rr:termType`) and any number of
`rr:predicateObjectMap` (`rr:predicate`, and `rr:objectMap` or `rr:object`, with `rr:template`,
`rml:reference`, `rr:column`, `rr:constant`, `rr:datatype`, `rr:language` and `rr:termType`). Joins, functions
and graphs are refused. A logical source or table says which rows a map is for, where a mapping has several.
Two properties of our own say what CSV cannot: `tab:separator` splits a cell into several values, and
`tab:null` names a text that stands for no value.

What is empty gives no triple, as in R2RML: a column that a row lacks, the null of JSON, Parquet and SQL, a
cell of nothing but white space, and what `tab:null` names.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from mrag.errors import LoadError
from mrag.loaders._records import BrokenJson, OnBad, Problem, Records
from mrag.loaders.rdf import Progress
from mrag.loaders.tables.engines import ParquetRows, SqlRows, is_database
from mrag.loaders.tables.mapping import maps_for, read_mapping
from mrag.loaders.tables.rows import (
    BrokenTable,
    DelimitedRows,
    JsonRows,
    Row,
    TableDialect,
    TableRows,
    is_json,
)
from mrag.loaders.tables.terms import BadCell, TriplesMap, nearest
from mrag.rdf.namespaces import RDF
from mrag.redaction import redact_url

ROW = "_row"
"""What a mapping may name in place of a column: the number of the row."""
_KNOWN = 1000
"""Columns of JSON that are remembered, to name them in an error."""


class Table(Records):
    """A table with a mapping.

    Kinds of problems: `broken JSON`, `broken table`, `wrong row`, `wrong encoding`, `nested value`, `no
    IRI`, `no xsd:integer` and so for each datatype, `missing column`, `empty file`, and `no subject`, which
    is counted and never an error. When bad records are skipped, a bad value costs its triple alone.

    Args:
        path: The table: `.csv`, `.tsv`, `.json` or `.jsonl`, gzipped or not, `.parquet`, or the URL of a
            database as SQLAlchemy writes it.
        mapping: A file of Turtle.
        on_bad: `stop` at the first problem, or `skip` it and count it.
        on_progress: Called with the bytes read and the bytes in all.
        dialect: How a table is written that is text.

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
        self.database = os.fspath(path) if is_database(path) else ""
        super().__init__(path, on_bad=on_bad, on_progress=on_progress)
        self.dialect = dialect or TableDialect()
        maps = read_mapping(mapping)
        self.maps = maps if self.database else maps_for(maps, self.path.name, mapping)
        if self.database and not all(m.source or m.query for m in maps):
            raise LoadError(
                "A map for a database needs rr:logicalTable.",
                file=str(mapping),
                hint='It has rr:tableName or rr:sqlQuery: rr:logicalTable [ rr:tableName "shops" ].',
            )

    def find(self) -> None:
        """Check that the file is there; a database is asked when it is read."""
        if self.database:
            self.name = redact_url(self.database)
        else:
            super().find()

    def statements(self) -> Iterator[str]:
        """Yield the data as lines of N-Triples."""
        for source in dict.fromkeys((m.source, m.query) for m in self.maps) if self.database else [None]:
            maps = tuple(m for m in self.maps if source in (None, (m.source, m.query)))
            yield from self._table(self._rows(*(source or ("", ""))), maps)

    def _rows(self, table: str, query: str) -> TableRows:
        if self.database:
            return SqlRows(self.database, table, query, self.on_progress)
        return rows_of(self.path, self.dialect, self.on_progress)

    def _table(self, rows: TableRows, maps: Sequence[TriplesMap]) -> Iterator[str]:
        wanted = {column for each in maps for column in each.columns}
        rows.require(sorted(wanted))
        absent, seen, count = set(wanted), dict[str, None](), 0
        try:
            for row in rows:
                if not count:
                    self._check(rows, maps)
                count += 1
                self.report.count("rows")
                if row.flaw:
                    self.bad("wrong row", row.where, row.flaw, line=row.line)
                    continue
                absent -= row.cells.keys()
                if rows.columns is None and len(seen) < _KNOWN:
                    seen.update(dict.fromkeys(row.cells))
                if ROW in absent:
                    row.cells[ROW] = str(row.number)
                for each in maps:
                    yield from self._row(row, each)
        except (BrokenTable, BrokenJson) as error:
            if self.on_bad == "stop":
                raise LoadError(error.message, file=error.file, line=error.line, hint=error.hint) from error
            kind = "broken JSON" if isinstance(error, BrokenJson) else "broken table"
            self.report.note(Problem(kind, "the file", error.message.rstrip(".")))
        if not count:
            self.bad("empty file", "the table", "there is no row in it")
        absent.discard(ROW)
        for column in sorted(absent) if count and rows.columns is None else ():
            self.bad(
                "missing column", "the mapping", f"no row has a column {column!r}", nearest(column, [*seen])
            )

    def _check(self, rows: TableRows, maps: Sequence[TriplesMap]) -> None:
        """Check that the columns that the mapping names are there; without its subject a map is no use."""
        if rows.columns is None:
            return
        vital = {column for each in maps for column in each.subject.columns}
        for column in dict.fromkeys(c for each in maps for c in each.columns):
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
            self._flawed(row, error)
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
                    self._flawed(row, error)

    def _flawed(self, row: Row, error: BadCell) -> None:
        self.bad(error.reason, f"{row.where}, column {error.column!r}", str(error), line=row.line)


def rows_of(path: Path, dialect: TableDialect, on_progress: Progress | None = None) -> TableRows:
    """Return the rows of a file, by its name.

    Raises:
        ConfigError: If what is needed to read it is not installed.
    """
    if path.name.lower().endswith((".parquet", ".pq")):
        return ParquetRows(path, on_progress)
    if is_json(path):
        return JsonRows(path, on_progress)
    return DelimitedRows(path, dialect, on_progress)
