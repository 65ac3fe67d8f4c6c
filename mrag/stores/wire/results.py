"""Answers of SPARQL servers as terms, read while they arrive and never taken for whole when they are not.

Results are asked for as JSON, whose end shows, and triples as N-Triples, where every line must be one
(SPARQL 1.1 Query Results JSON Format; RDF 1.1 N-Triples).
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

import pyoxigraph as ox
from rdflib import BNode, Literal, URIRef

from mrag.rdf.terms import XSD, Term, Triple, from_ox, typed_literal

NT = "application/n-triples"
Row = tuple[Term | None, ...]
_BLANK = re.compile(r"[ \t\n\r]*")
_DECODE = json.JSONDecoder(strict=False).raw_decode


class Incomplete(Exception):
    """The text ended, or broke, before the answer did."""


class JsonResult:
    """A SPARQL JSON result, read piece by piece.

    Args:
        chunks: The bytes of the answer.
        term: Turns a cell into a term.

    Attributes:
        boolean: The answer of an ASK query; None for rows.
        variables: The columns.

    Example:
        >>> head = b'{"head": {"vars": ["x"]}, "results": {"bindings": '
        >>> result = JsonResult([head, b'[{"x": {"type": "uri", "val', b'ue": "urn:a"}}]}}'])
        >>> list(result)
        [(rdflib.term.URIRef('urn:a'),)]
    """

    def __init__(self, chunks: Iterable[bytes], term: Callable[[dict[str, Any]], Term] | None = None) -> None:
        self._term = term or cell_term
        self._text = _Text(chunks)
        self.boolean: bool | None = None
        self.variables: tuple[str, ...] = ()
        self._bindings = self._head()
        if "__ASK_RETVAL" in self.variables:
            # Virtuoso answers ASK with a row for true and none for false.
            self.boolean = any(row[0] is not None and int(str(row[0])) for row in self)

    def __iter__(self) -> Iterator[Row]:
        if self._bindings is None:
            return
        late = isinstance(self._bindings, list)
        source = iter(self._bindings) if isinstance(self._bindings, list) else self._stream()
        for binding in source:
            cells = (binding.get(name) for name in self.variables)
            yield tuple(None if cell is None else self._term(cell) for cell in cells)
        if not late:
            self._rest("results")

    def _head(self) -> list[dict[str, Any]] | bool | None:
        """Read up to the first row; rows that stand before their columns are read whole."""
        text = self._text
        text.expect("{")
        early: list[dict[str, Any]] | None = None
        while True:
            key = text.value()
            text.expect(":")
            if key == "head":
                head = text.value()
                self.variables = tuple(head.get("vars", ()))
            elif key == "boolean":
                self.boolean = bool(text.value())
            elif key == "results" and self.variables:
                text.expect("{")
                while text.value() != "bindings":
                    text.expect(":")
                    text.value()
                    text.expect(",")
                text.expect(":")
                text.expect("[")
                return True
            elif key == "results":
                early = text.value().get("bindings", [])
            else:
                text.value()
            if text.peek() == "}":
                text.expect("}")
                text.end()
                if self.boolean is None and early is None and not self.variables:
                    raise Incomplete("it is not a SPARQL result")
                return early
            text.expect(",")

    def _stream(self) -> Iterator[dict[str, Any]]:
        text = self._text
        if text.peek() == "]":
            text.expect("]")
            return
        while True:
            yield text.value()
            if text.peek() == "]":
                text.expect("]")
                return
            text.expect(",")

    def _rest(self, inside: str) -> None:
        """Read to the end, so that a missing brace shows."""
        text = self._text
        for _ in (inside, "the answer"):
            while text.peek() == ",":
                text.expect(",")
                text.value()
                text.expect(":")
                text.value()
            text.expect("}")
        text.end()


class _Text:
    """JSON text that arrives in chunks."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._buffer = ""
        self._at = 0
        self._ended = False

    def _skip(self) -> int:
        found = _BLANK.match(self._buffer, self._at)
        return self._at if found is None else found.end()

    def peek(self) -> str:
        while True:
            self._at = self._skip()
            if self._at < len(self._buffer):
                return self._buffer[self._at]
            self._more()

    def expect(self, mark: str) -> None:
        if (found := self.peek()) != mark:
            raise Incomplete(f"{mark!r} was expected where {found!r} stands")
        self._at += 1

    def value(self) -> Any:
        self.peek()
        while True:
            try:
                found, end = _DECODE(self._buffer, self._at)
            except json.JSONDecodeError:
                self._more()
                continue
            # A number may go on in the next chunk.
            if end < len(self._buffer) or self._buffer[end - 1] in '"}]el':
                self._at = end
                return found
            self._more()

    def end(self) -> None:
        while True:
            self._at = self._skip()
            if self._at < len(self._buffer):
                raise Incomplete(f"{self._buffer[self._at : self._at + 60]!r} follows it")
            try:
                self._more()
            except Incomplete:
                return

    def _more(self) -> None:
        if self._ended:
            raise Incomplete("it ends early" + (f" with {self._buffer[-60:]!r}" if self._buffer else ""))
        # Twice as much each time, so that one very long literal is not scanned over and over.
        parts, wanted, got = [self._buffer[self._at :]], max(1 << 16, len(self._buffer) - self._at), 0
        for chunk in self._chunks:
            parts.append(self._decoder.decode(chunk))
            got += len(parts[-1])
            if got >= wanted:
                break
        else:
            self._ended = True
            parts.append(self._decoder.decode(b"", final=True))
        self._buffer, self._at = "".join(parts), 0


def cell_term(cell: dict[str, Any]) -> Term:
    """Turn a cell of a SPARQL JSON result into a term.

    Example:
        >>> cell_term({"type": "literal", "value": "hallo", "xml:lang": "de"})
        rdflib.term.Literal('hallo', lang='de')
    """
    kind, value = cell["type"], cell["value"]
    if kind == "uri":
        return URIRef(value)
    if kind == "bnode":
        # Virtuoso's name for a blank node can be used in later queries as an IRI.
        return URIRef(value) if value.startswith("nodeID://") else BNode(value)
    if kind not in ("literal", "typed-literal"):
        raise Incomplete(f"a term of type {kind!r} is not supported")
    if tag := cell.get("xml:lang"):
        return Literal(value, lang=tag)
    datatype = cell.get("datatype")
    if datatype is None or datatype == XSD + "string":
        return Literal(value)
    if datatype == XSD + "boolean" and value in ("0", "1"):
        value = "true" if value == "1" else "false"
    return typed_literal(value, datatype)


def lines_of(chunks: Iterable[bytes], media: str = NT) -> Iterator[bytes]:
    """Yield the lines of N-Triples, each a whole triple; empty ones are left out.

    Args:
        chunks: The bytes of the answer.
        media: Its media type; Turtle with one triple a line is printed as N-Triples.

    Raises:
        Incomplete: At a line that is no triple, such as a server's note that it gave up.
    """
    if media == NT:
        yield from _lines(chunks)
        return
    for quad in _quads(chunks, media):
        yield f"{quad.triple} .".encode()


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for chunk in chunks:
        rest += chunk
        lines = rest.split(b"\n")
        rest = lines.pop()
        yield from _whole(lines)
    if rest.strip():
        yield from _whole([rest])


def _whole(lines: Iterable[bytes]) -> Iterator[bytes]:
    for line in lines:
        line = line.strip()
        if not line or line == b"# Empty TURTLE" or line == b"# Empty NT":
            continue
        if not (line.endswith(b".") and line[:1] in (b"<", b"_")):
            raise Incomplete(f"{line[:80].decode('utf-8', 'replace')!r} is not a triple")
        yield line


def triples_of(chunks: Iterable[bytes], media: str = NT) -> Iterator[Triple]:
    """Yield the triples of N-Triples, or of Turtle with one triple a line.

    Raises:
        Incomplete: At a line that is no triple.

    Example:
        >>> [triple.o.n3() for triple in triples_of([b"<urn:s> <urn:p> 8 .\\n"], "text/turtle")]
        ['"8"^^<http://www.w3.org/2001/XMLSchema#integer>']
    """
    for quad in _quads(chunks, media):
        yield Triple(from_ox(quad.subject), URIRef(quad.predicate.value), from_ox(quad.object))  # type: ignore[arg-type]


def _quads(chunks: Iterable[bytes], media: str) -> Iterator[ox.Quad]:
    kind, lines = ox.RdfFormat.N_TRIPLES if media == NT else ox.RdfFormat.TURTLE, _lines(chunks)
    while part := list(islice(lines, 1000)):
        try:
            yield from ox.parse(b"\n".join(part), kind, lenient=True)
        except SyntaxError as error:
            raise Incomplete(f"it holds what is not {media}: {error.args[0]}") from error
