"""Documents of requests, read in a process of their own: RDF, multipart bodies, and the data of updates."""

from __future__ import annotations

import io
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from email import message_from_bytes
from itertools import islice
from typing import IO, Any, cast
from uuid import uuid4

import pyoxigraph as ox

from mrag.errors import LoadError, QueryRefused
from mrag.loaders.checks import Checked, Lines, TooMuch, too_long
from mrag.rdf.namespaces import SKOLEM
from mrag.stores.changes import Operation
from mrag.stores.process.limited import Bounds, perform, stream
from mrag.stores.process.parsing import PART

_MAX_PARTS = 1_000


def parsed(operations: Iterable[Operation], bounds: Bounds) -> list[Operation]:
    """Read the documents and the data in the operations of an update.

    Args:
        operations: As `mrag.graph.updates` and the server write them.
        bounds: How much reading all of them may take.

    Returns:
        The same, with `quads` in the place of `rdf` and `data`; others stay as they are.

    Raises:
        QueryRefused: If something is not well formed, or takes too much.
        QueryTimeout: At the deadline.
    """
    until = time.monotonic() + bounds.seconds
    left = bounds.bytes
    found: list[Operation] = []
    for operation in operations:
        if operation[0] not in _READ:
            found.append(operation)
            continue
        rest = replace(bounds, seconds=max(until - time.monotonic(), 0.001), bytes=left)
        try:
            pieces = tuple(stream(_READ[operation[0]], *operation[2:], bounds=rest))
        except LoadError as error:
            where = f" It is in line {error.line}." if error.line else ""
            raise QueryRefused(f"{error.message.rstrip('.')}.{where}", hint=error.hint) from error
        if bounds.bytes:
            left = max(1, left - sum(map(len, pieces)))
        found.append(("quads", operation[1], pieces))
    return found


_READ = {"rdf": f"{__name__}:read_document", "data": f"{__name__}:read_data"}


def parts_of(body: bytes, header: str, bounds: Bounds) -> list[tuple[str, bytes]]:
    """Return the parts of a form, each with its media type.

    Args:
        body: The body of a request.
        header: Its Content-Type.
        bounds: How much reading it may take.

    Raises:
        LoadError: If it has too many parts, or takes too much.
        QueryTimeout: At the deadline.
    """
    return cast(
        list[tuple[str, bytes]],
        perform(f"{__name__}:read_parts", body, header, bounds=bounds),
    )


def read_parts(body: bytes, header: str) -> list[tuple[str, bytes]]:
    """Return the parts of a form."""
    form = b"Content-Type: " + header.encode("latin-1") + b"\r\n\r\n" + body
    parts = (part for part in message_from_bytes(form).walk() if not part.is_multipart())
    found = [
        (part.get_content_type(), cast(bytes, part.get_payload(decode=True)))
        for part in islice(parts, _MAX_PARTS + 1)
    ]
    if len(found) > _MAX_PARTS:
        raise LoadError(f"The form has more than {_MAX_PARTS} parts.")
    return found


def read_document(data: bytes, media: str, base: str | None, graphs: Sequence[str | None]) -> Iterator[bytes]:
    """Yield the statements of an RDF document as N-Quads; `graphs` replaces the graphs that it names."""
    format = ox.RdfFormat.from_media_type(media)
    if format is None:
        raise LoadError(f"{media} is no RDF format that can be read.")
    names: dict[str, ox.NamedNode] = {}
    targets = [ox.NamedNode(g) if g else ox.DefaultGraph() for g in graphs]

    def quads() -> Iterator[ox.Quad]:
        text = cast(IO[bytes], Checked(io.BytesIO(data), format))
        for q in ox.parse(text, format, base_iri=base):
            s, o = _stored(q.subject, names), _stored(q.object, names)
            for graph in targets or (_stored(q.graph_name, names),):
                yield ox.Quad(s, q.predicate, o, graph)

    try:
        yield from _pieces(quads())
    except MemoryError as error:
        raise too_long(format) from error
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        where = f", line {line}" if line else ""
        raise LoadError(f"Not valid {format.name}{where}: {error.args[0]}") from error


def read_data(text: str) -> Iterator[bytes]:
    """Yield the statements of an INSERT DATA operation as N-Quads."""
    store = ox.Store()
    try:
        store.update(text)
    except SyntaxError as error:
        raise LoadError(f"Not valid SPARQL: {error.args[0]}") from error
    names: dict[str, ox.NamedNode] = {}
    yield from _pieces(
        ox.Quad(
            _stored(q.subject, names), q.predicate, _stored(q.object, names), _stored(q.graph_name, names)
        )
        for q in store
    )


def _pieces(quads: Iterator[ox.Quad]) -> Iterator[bytes]:
    lines = Lines()
    while piece := ox.serialize(islice(quads, PART), format=ox.RdfFormat.N_QUADS):
        try:
            # Some parsers let longer texts pass than that of N-Quads.
            lines.feed(piece)
        except TooMuch as error:
            raise LoadError(f"Written out in full, {error}.", hint="Nothing of it was stored.") from None
        yield piece


def _stored(term: Any, names: dict[str, ox.NamedNode]) -> Any:
    """Replace a blank node by an IRI of its own, so that later requests can speak of it."""
    if isinstance(term, ox.Triple):
        raise LoadError("Triple terms (RDF 1.2) cannot be stored.")
    if not isinstance(term, ox.BlankNode):
        return term
    if term.value not in names:
        names[term.value] = ox.NamedNode(SKOLEM + uuid4().hex)
    return names[term.value]
