"""Tables to RDF by a mapping in Turtle: CSV, TSV, a JSON array of objects, or JSON Lines.

The mapping is in the vocabularies of R2RML and RML (the W3C recommendation of 2012 and its extension to
other sources), of which this much is read: `rr:TriplesMap` with `rr:subjectMap` (`rr:template`,
`rml:reference` or `rr:constant`, `rr:class`, `rr:termType`) and any number of `rr:predicateObjectMap`
(`rr:predicate`, and `rr:objectMap` or `rr:object`, with `rr:template`, `rml:reference`, `rr:constant`,
`rr:datatype`, `rr:language` and `rr:termType`). Joins, functions and graphs are refused, and logical
sources ignored, as the file is named when loading. Two properties of our own say what CSV cannot:
`tab:separator` splits a cell into several values, and `tab:null` names a text that stands for no value.

What a cell holds becomes text, or an encoded part of an IRI, and never syntax.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator

import pyoxigraph as ox

from mrag.errors import LoadError
from mrag.loaders._json import BrokenJson, JsonText
from mrag.loaders._mapping import Cells, TermMap, TriplesMap, read_mapping
from mrag.loaders._records import OnBad, Problem, Records
from mrag.loaders.rdf import Progress, Source
from mrag.rdf.terms import RDF

_LONGEST = 16 << 20
"""Characters of a cell after which a table is taken for broken."""


class Table(Records):
    """A table with a mapping.

    Kinds of problems: `broken JSON`, `broken table`, `wrong value`, `missing subject`, `missing column`,
    `empty file`. When bad records are skipped, a bad value costs its triple alone, and a row without a
    subject that row.

    Args:
        path: The table: `.csv`, `.tsv`, `.json` or `.jsonl`, gzipped or not.
        mapping: A file of Turtle.
        on_bad: `stop` at the first problem, or `skip` it and count it.
        on_progress: Called with the bytes read and the bytes in all.

    Raises:
        LoadError: If a file is missing, or the mapping is not one that can be read here.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> mapping = '''
        ... @prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix rml: <http://semweb.mmlab.be/ns/rml#> .
        ... [] rr:subjectMap [ rr:template "http://example.org/shop/{name}" ] ;
        ...    rr:predicateObjectMap [ rr:predicate <http://example.org/sells> ;
        ...                            rr:objectMap [ rml:reference "goods" ; rr:language "en" ] ] .'''
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = (Path(folder) / "m.ttl").write_text(mapping)
        ...     _ = (Path(folder) / "t.csv").write_text('name,goods\\n"A & B",coats\\n')
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
    ) -> None:
        super().__init__(path, on_bad=on_bad, on_progress=on_progress)
        self.maps = read_mapping(mapping)

    def statements(self) -> Iterator[str]:
        """Yield the data as lines of N-Triples."""
        name = self.path.name.lower().removesuffix(".gz")
        read = self._json if name.endswith((".json", ".jsonl", ".ndjson")) else self._delimited
        columns = {c for m in self.maps for t in (m.subject, *(o for _, o in m.rest)) for c in t.columns}
        missing = set(columns)
        number = 0
        for number, row in enumerate(read("\t" if name.endswith((".tsv", ".tab")) else ","), start=1):
            missing -= row.keys()
            self.report.count("rows")
            for each in self.maps:
                yield from self._row(number, row, each)
        if not number:
            self.bad("empty file", "the table", "there is no row in it")
        for column in sorted(missing) if number else ():
            self.bad("missing column", "the mapping", f"no row has a column {column!r}")

    def _row(self, number: int, row: Cells, each: TriplesMap) -> Iterator[str]:
        where = f"row {number}"
        subjects = list(self._terms(where, each.subject, row))
        if not subjects:
            self.bad("missing subject", where, "a column of the subject is empty")
        for s in subjects:
            for kind in each.classes:
                yield f"{s} <{RDF}type> {kind} .\n"
            for p, objects in each.rest:
                for o in self._terms(where, objects, row):
                    yield f"{s} {p} {o} .\n"

    def _terms(self, where: str, terms: TermMap, row: Cells) -> Iterator[str]:
        try:
            yield from list(terms.terms(row))
        except ValueError as error:
            self.bad("wrong value", where, str(error).rstrip("."))

    def _json(self, _: str) -> Iterator[Cells]:
        try:
            with JsonText(self.path, self.on_progress) as source:
                for number, row in enumerate(source.records(), start=1):
                    if isinstance(row, dict):
                        yield row
                    else:
                        self.bad("wrong value", f"row {number}", "it is not an object")
        except BrokenJson as error:
            self._broken("broken JSON", error)

    def _delimited(self, delimiter: str) -> Iterator[Cells]:
        source = Source(self.path, ox.RdfFormat.JSON_LD, self.path.suffix.lower() == ".gz", "")
        total, note = source.size(), self.on_progress
        csv.field_size_limit(_LONGEST)
        with source.open((lambda done: note(done, total)) if note else None) as raw:
            stream = io.TextIOWrapper(io.BufferedReader(raw, 1 << 20), "utf-8-sig", newline="")  # type: ignore[type-var]
            rows = csv.DictReader(stream, delimiter=delimiter, restkey="", restval=None, strict=True)
            try:
                yield from rows
            except (csv.Error, UnicodeDecodeError, EOFError, OSError) as error:
                reason = "the text is not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
                line = LoadError(f"Not a valid table: {reason}.", file=str(self.path), line=rows.line_num + 1)
                self._broken("broken table", line)

    def _broken(self, kind: str, error: LoadError) -> None:
        if self.on_bad == "stop":
            raise error
        self.report.note(Problem(kind, "the file", error.message.rstrip(".")))
