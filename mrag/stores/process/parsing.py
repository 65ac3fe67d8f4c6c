"""RDF that others sent, read in child processes with limits, and handed on as N-Triples and N-Quads.

These two have nothing in them that a parser could stumble over, so the store reads them itself. The functions
whose names begin with `read` run in the child.
"""

from __future__ import annotations

import io
import os
import pickle
import re
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from email import message_from_bytes
from itertools import chain, islice
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from typing import IO, Any, Final, cast

import pyoxigraph as ox

from mrag import errors
from mrag.errors import ConfigError, LoadError, MragError, QueryRefused, QueryTimeout, StoreError
from mrag.loaders._records import RecordReport
from mrag.loaders.checks import MORE_TIME, Lines, LoadNotes, TooMuch, checked, too_long
from mrag.loaders.importing import ImportSettings
from mrag.loaders.rdf import Progress, Source
from mrag.loaders.tables import TableDialect
from mrag.stores.changes import Operation, Refused, skolemise
from mrag.stores.process.channel import Child, Reply, Reserve
from mrag.stores.process.sandbox import Defences

_LIGHT = 4 << 20
"""Children that were given or gave more bytes are not used again, so that they give their memory back."""


@dataclass(frozen=True)
class Bounds:
    """How much a piece of work may use."""

    seconds: float = 300.0
    memory: int = 2 << 30
    bytes: int = 0

    def __post_init__(self) -> None:
        if self.seconds <= 0 or self.memory < 0 or self.bytes < 0:
            raise ConfigError("A limit of reading is out of range.", hint="Seconds must be more than 0.")

    @classmethod
    def from_env(cls) -> Bounds:
        """Read `MRAG_PARSE_SECONDS` and `MRAG_PARSE_MEMORY` (in megabytes, 0 for no cap)."""
        try:
            seconds = float(os.environ.get("MRAG_PARSE_SECONDS") or cls.seconds)
            megabytes = int(os.environ.get("MRAG_PARSE_MEMORY") or cls.memory >> 20)
        except ValueError as error:
            raise ConfigError("MRAG_PARSE_SECONDS and MRAG_PARSE_MEMORY are numbers.") from error
        return cls(seconds, megabytes << 20)


_CHILDREN: Reserve[Child] = Reserve()
close_all = _CHILDREN.close  # End all children; the next piece of work starts new ones


def defences() -> list[Defences]:
    """Return what each child that waits has given up."""
    return [child.defences for child in _CHILDREN.waiting()]


def perform(work: str, *arguments: Any, bounds: Bounds | None = None) -> Any:
    """Do a piece of work, and return what it returns."""
    return _end_with(stream(work, *arguments, bounds=bounds))


def _end_with(pieces: Generator[Any, None, Any]) -> Any:
    """Go through a generator, and return what it returns."""
    while True:
        try:
            next(pieces)
        except StopIteration as end:
            return end.value


def _report(
    pieces: Generator[Any, None, Any], on_progress: Progress | None, total: int | None
) -> Generator[bytes, None, Any]:
    """Pass pieces on, and report the counts of bytes or rows that come between them."""
    while True:
        try:
            piece = next(pieces)
        except StopIteration as end:
            return end.value
        if isinstance(piece, bytes):
            yield piece
        elif on_progress is not None:
            on_progress(piece, total)


def stream(work: str, *arguments: Any, bounds: Bounds | None = None) -> Generator[Any, None, Any]:
    """Do a piece of work that yields values, pass them on as they come, and return what it returns.

    Only waiting for the child counts against its seconds, not what is done with its values meanwhile.
    """
    bounds = bounds or Bounds.from_env()
    memory, given = bounds.memory, 0
    reply: Reply = ()
    with _CHILDREN.lend(memory, lambda: Child("mrag.stores.process.task_child", str(memory))) as child:
        child.spent = True
        for kind, content in _frames(child, (work, arguments, _here()), bounds):
            given += len(content)
            if bounds.bytes and given > bounds.bytes:
                what = f"Written out in full it has more than {bounds.bytes >> 20} megabytes."
                raise LoadError(what, hint="Nothing of it was stored. Send it in several parts.")
            if kind != b"P":
                yield content if kind == b"D" else pickle.loads(content)  # noqa: S301 # our own child wrote it
                continue
            reply = pickle.loads(content)  # noqa: S301 # our own child wrote it
        child.spent = given > _LIGHT or reply[0] == "large"
    if reply[0] == "done":
        return reply[1]
    raise _error(reply, bounds)


def _frames(child: Child, request: object, bounds: Bounds) -> Iterator[tuple[bytes, bytes]]:
    """Send a request and yield the frames of its answer, while the child keeps us waiting for so long."""
    left = bounds.seconds
    # A large request does not fit into the pipe, and the child may end before it has read it.
    sender = threading.Thread(target=_send, args=(child, pickle.dumps(request)), daemon=True)
    sender.start()
    with DefaultSelector() as selector:
        selector.register(child.fileno(), EVENT_READ)
        while True:
            began = time.monotonic()
            if left <= 0 or not selector.select(left):
                raise QueryTimeout(f"It took more than {bounds.seconds:g} s to read.", hint=_MORE)
            left -= time.monotonic() - began
            data = os.read(child.fileno(), 1 << 18)
            if not data:
                if child.was_killed():
                    why = "The process that read it was ended from outside; nothing was stored."
                    raise StoreError(why, hint="Send it again.")
                raise _end(bounds)
            for kind, content in child.take(data):
                yield kind, content
                if kind == b"P":
                    sender.join()
                    return


def _here() -> str | None:
    """Return the folder that relative paths are relative to; a child may be older than it."""
    try:
        return str(Path.cwd())
    except OSError:
        return None  # it is gone


def _send(child: Child, data: bytes) -> None:
    try:
        child.write(data)
    except StoreError:
        return  # who waits for the answer sees that the child has ended


_MORE = "Nothing of it was stored. Allow more with MRAG_PARSE_SECONDS and MRAG_PARSE_MEMORY."


def _end(bounds: Bounds) -> LoadError:
    most = f"more than {bounds.memory >> 20} megabytes of memory" if bounds.memory else "too much memory"
    return LoadError(f"Reading it takes {most}, or it is nested too deep.", hint=_MORE)


def _error(reply: tuple[Any, ...], bounds: Bounds) -> MragError:
    """Return the error that a reply stands for, of the class that it had in the child."""
    if reply[0] == "failed":
        kind = cast("type[MragError]", getattr(errors, reply[1], StoreError))
        error = kind(reply[2]["message"])
        vars(error).update(reply[2])
        return error
    return _end(bounds) if reply[0] == "large" else LoadError(f"It cannot be read: {reply[1]}.")


_MOST = 8  # Letters and digits of a subtag


def well_formed_tag(tag: str) -> str:
    """Return a language tag in a form that BCP 47 allows; what has no place in it becomes private use.

    Source:
        BCP 47 (RFC 5646), sections 2.1 and 2.2.7.

    Args:
        tag: A tag as it stands in data.

    Example:
        >>> [well_formed_tag(tag) for tag in ("zh-classical", "pt_BR", "en-GB", "klingonian")]
        ['zh-x-classica-l', 'pt-BR', 'en-GB', 'x-klingoni-an']
    """
    parts = re.findall("[A-Za-z0-9]+", tag)
    kept = len(parts)
    while kept:
        try:
            ox.Literal("", language="-".join(parts[:kept]))
            break
        except ValueError:
            kept -= 1
    rest = [part[at : at + _MOST] for part in parts[kept:] for at in range(0, len(part), _MOST)]
    head = parts[:kept]
    if rest and "x" not in map(str.lower, head):
        head.append("x")
    return "-".join((*head, *rest)) or "und"


def with_allowed_tags(quads: Iterable[ox.Quad], odd: Set[str]) -> Iterator[ox.Quad]:
    """Yield statements with their odd language tags in a form that BCP 47 allows."""
    for quad in quads:
        text = quad.object
        if odd and isinstance(text, ox.Literal) and (tag := text.language) in odd:
            mended = ox.Literal(text.value, language=well_formed_tag(str(tag)))
            quad = ox.Quad(quad.subject, quad.predicate, mended, quad.graph_name)
        yield quad


PART = 10_000  # Statements that are handed on at a time
_SLOWEST = 100_000  # Bytes of a file that are read in a second at least; what takes longer is ended
_OWN = ("urn:mrag:kg:", "urn:mrag:system", "urn:mrag:scratch:")
_NOTED = 1 << 22  # Bytes after which progress is reported anew


def serialise(
    sources: Sequence[Source],
    notes: LoadNotes,
    on_progress: Progress | None = None,
    *,
    into: tuple[str, str | None] | None = None,
    skip_bad_lines: bool = False,
    part: int = PART,
    any_tag: bool = True,
) -> Iterator[bytes]:
    """Yield the statements of files as N-Triples or N-Quads, so many at a time, blank nodes as IRIs.

    N-Triples writes plain strings untyped, which stores of RDF 1.0 tell from typed ones.
    """
    total = sum(source.size() for source in sources)
    work = f"{__name__}:read_files"
    pieces = stream(work, tuple(sources), skip_bad_lines, part, into, any_tag, bounds=bounds_of(sources))
    with naming(*(source.path for source in sources)):
        read = yield from _report(pieces, on_progress, total)
    notes.rejected += read.rejected
    notes.tags |= read.tags
    notes.empty += read.empty


def by_graph(nquads: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the graphs of N-Quads in order of name, each with its triples as N-Triples."""
    triples_of: defaultdict[str, list[ox.Triple]] = defaultdict(list)
    for quad in ox.parse(nquads, ox.RdfFormat.N_QUADS, lenient=True):
        triples_of[cast(ox.NamedNode, quad.graph_name).value].append(quad.triple)
    for graph in sorted(triples_of):
        yield graph, ox.serialize(triples_of[graph], format=ox.RdfFormat.N_TRIPLES) or b""


def prefixes(sources: Sequence[Source]) -> dict[str, str]:
    """Return the prefixes that files declare before their first statements."""
    declaring = [source for source in sources if source.declares]
    if not declaring:
        return {}
    with naming(*(source.path for source in declaring)):
        work = f"{__name__}:read_prefixes"
        return cast(dict[str, str], perform(work, tuple(declaring), bounds=bounds_of(declaring)))


def bounds_of(sources: Sequence[Source]) -> Bounds:
    """Return how much reading some files may take."""
    return bounds_for(sum(source.size() for source in sources))


def bounds_for(size: int) -> Bounds:
    """Return how much reading so many bytes may take: more time for more of them."""
    bounds = Bounds.from_env()
    return replace(bounds, seconds=bounds.seconds + size / _SLOWEST)


def import_records(
    file: str | Path, out: Path, how: ImportSettings, on_progress: Progress | None = None
) -> RecordReport:
    """Write a file of records as N-Triples into `out`, as `mrag.loaders.importing.write` does."""
    size = Path(file).stat().st_size
    pieces = stream("mrag.loaders.importing:write", file, how, out, bounds=bounds_for(size))
    with naming(Path(file)):
        return cast(RecordReport, _end_with(_report(pieces, on_progress, size)))


def sketch(files: Sequence[str], dialect: TableDialect) -> str:
    """Return a mapping to begin with, as `mrag.loaders.sketch.sketched` does, read like `imported`."""
    size = sum(Path(file).stat().st_size for file in files if Path(file).is_file())
    return cast(str, perform("mrag.loaders.sketch:sketch", list(files), dialect, bounds=bounds_for(size)))


def read_files(
    sources: Sequence[Source],
    skip_bad_lines: bool,
    part: int,
    into: tuple[str, str | None] | None,
    any_tag: bool = True,
) -> Generator[Any, None, LoadNotes]:
    """Yield the statements of files as N-Triples, or N-Quads, and between them the bytes read so far."""
    notes = LoadNotes()
    done = [0] * len(sources)
    last = 0

    def noted(at: int) -> Any:
        def note(count: int) -> None:
            done[at] = count

        return note

    quads: Iterator[ox.Quad] = chain.from_iterable(
        statements(source, notes, noted(at), skip_bad_lines=skip_bad_lines)
        for at, source in enumerate(sources)
    )
    if not any_tag:
        quads = with_allowed_tags(quads, notes.tags)
    lines: Any = (quad.triple for quad in quads)
    format = ox.RdfFormat.N_TRIPLES
    if into is not None:
        lines, format = _place(quads, *into), ox.RdfFormat.N_QUADS
    while piece := ox.serialize(islice(lines, part), format=format):
        yield piece
        if sum(done) - last >= _NOTED:
            last = sum(done)
            yield last
    yield sum(done)
    return notes


def statements(
    source: Source, notes: LoadNotes, on_read: Callable[[int], None], *, skip_bad_lines: bool
) -> Iterator[ox.Quad]:
    """Yield the statements of a file, noting one that has none."""
    quads = source.quads_skipping(notes, on_read) if skip_bad_lines else source.quads(on_read, notes)
    first = next(quads, None)
    if first is None:
        notes.empty.append(str(source.path))
        return
    yield first
    yield from quads


def _place(quads: Iterable[ox.Quad], graph: str, merged: str | None) -> Iterator[ox.Quad]:
    """Yield statements in the graphs where they go: as `nquads` says."""
    own, union = ox.NamedNode(graph), None if merged is None else ox.NamedNode(merged)
    for quad in quads:
        if not is_named(quad):
            yield ox.Quad(quad.subject, quad.predicate, quad.object, own)
            continue
        yield quad
        if union is not None:
            yield ox.Quad(quad.subject, quad.predicate, quad.object, union)


def is_named(quad: ox.Quad) -> bool:
    """Return whether a statement is in a named graph, those that mrag names for itself left out."""
    graph = quad.graph_name
    return isinstance(graph, ox.NamedNode) and not graph.value.startswith(_OWN)


def read_prefixes(sources: Sequence[Source]) -> dict[str, str]:
    """Return the prefixes that files declare; those of later files win.

    The empty prefix stands for nothing, an empty name, where files disagree on it.
    """
    declared = [source.prefixes() for source in sources]
    names = {prefix: name for one in declared for prefix, name in one.items()}
    if len({one[""] for one in declared if "" in one}) > 1:
        names[""] = ""
    return names


@contextmanager
def naming(*files: Path) -> Iterator[None]:
    """Name the file in errors about limits, which know nothing of it."""
    file = str(files[0]) if len(files) == 1 else None
    try:
        yield
    except QueryTimeout as error:
        raise LoadError(error.message, file=file, hint=MORE_TIME) from None
    except LoadError as error:
        error.file = error.file or file
        raise


MOST_GRAPHS: Final = 10_000  # Most named graphs of a knowledge graph; every query is given their names


def graph_names(sources: Sequence[Source], *, skip_bad_lines: bool = False) -> list[str]:
    """Return the IRIs of the graphs that files name, in order; they are read to their ends for it."""
    those = tuple(source for source in sources if source.names_graphs)
    if not those:
        return []
    with naming(*(source.path for source in those)):
        work = f"{__name__}:read_graph_names"
        return cast(list[str], perform(work, those, skip_bad_lines, bounds=bounds_of(those)))


def read_graph_names(sources: Sequence[Source], skip_bad_lines: bool) -> list[str]:
    """Return the graphs that files name, in order."""
    names: set[str] = set()
    for source in sources:
        for quad in statements(source, LoadNotes(), lambda _: None, skip_bad_lines=skip_bad_lines):
            if is_named(quad):
                names.add(cast(ox.NamedNode, quad.graph_name).value)
                if len(names) > MOST_GRAPHS:
                    what = f"More than {MOST_GRAPHS:,} named graphs cannot be kept."
                    hint = "Nothing of it was stored. Merge graphs, or write the triples as N-Triples."
                    raise LoadError(what, file=str(source.path), hint=hint)
    return sorted(names)


_MAX_PARTS = 1_000


def parsed(operations: Iterable[Operation], bounds: Bounds) -> list[Operation]:
    """Read the documents and the data in the operations of an update."""
    until = time.monotonic() + bounds.seconds
    left = bounds.bytes
    result: list[Operation] = []
    for operation in operations:
        if operation[0] not in _READ:
            result.append(operation)
            continue
        rest = replace(bounds, seconds=max(until - time.monotonic(), 0.001), bytes=left)
        try:
            pieces = tuple(stream(_READ[operation[0]], *operation[2:], bounds=rest))
        except LoadError as error:
            where = f" It is in line {error.line}." if error.line else ""
            raise QueryRefused(f"{error.message.rstrip('.')}.{where}", hint=error.hint) from error
        if bounds.bytes:
            left = max(1, left - sum(map(len, pieces)))
        result.append(("quads", operation[1], pieces))
    return result


_READ = {"rdf": f"{__name__}:read_document", "data": f"{__name__}:read_data"}


def parts_of(body: bytes, header: str, bounds: Bounds) -> list[tuple[str, bytes]]:
    """Return the parts of a form, each with its media type."""
    return cast(list[tuple[str, bytes]], perform(f"{__name__}:read_parts", body, header, bounds=bounds))


def read_parts(body: bytes, header: str) -> list[tuple[str, bytes]]:
    """Return the parts of a form."""
    form = b"Content-Type: " + header.encode("latin-1") + b"\r\n\r\n" + body
    parts = (part for part in message_from_bytes(form).walk() if not part.is_multipart())
    pieces = [
        (part.get_content_type(), cast(bytes, part.get_payload(decode=True)))
        for part in islice(parts, _MAX_PARTS + 1)
    ]
    if len(pieces) > _MAX_PARTS:
        raise LoadError(f"The form has more than {_MAX_PARTS} parts.")
    return pieces


def read_document(data: bytes, media: str, base: str | None, graphs: Sequence[str | None]) -> Iterator[bytes]:
    """Yield the statements of an RDF document as N-Quads; `graphs` replaces the graphs that it names."""
    format = ox.RdfFormat.from_media_type(media)
    if format is None:
        raise LoadError(f"{media} is no RDF format that can be read.")
    names: dict[str, ox.NamedNode] = {}
    targets = [ox.NamedNode(g) if g else ox.DefaultGraph() for g in graphs]

    def quads() -> Iterator[ox.Quad]:
        text = cast(IO[bytes], checked(io.BytesIO(data), format))
        for q in ox.parse(text, format, base_iri=base):
            s, o = _store(q.subject, names), _store(q.object, names)
            for graph in targets or (_store(q.graph_name, names),):
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
        ox.Quad(_store(q.subject, names), q.predicate, _store(q.object, names), _store(q.graph_name, names))
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


def _store(term: Any, names: dict[str, ox.NamedNode]) -> Any:
    try:
        return skolemise(term, names)
    except Refused as error:
        raise LoadError(str(error)) from None
