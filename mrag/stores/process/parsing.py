"""RDF that others sent, read in child processes with limits, and handed on as N-Triples and N-Quads.

These two have nothing in them that a parser could stumble over, so the store reads them itself. The functions
whose names begin with `read` run in the child.
"""

from __future__ import annotations

import io
import re
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence, Set
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final, cast

import pyoxigraph as ox

from mrag.errors import LoadError, QueryTimeout
from mrag.loaders._records import RecordReport
from mrag.loaders.checks import MORE_TIME, LeftOutFile, LoadNotes
from mrag.loaders.importing import ImportSettings, write
from mrag.loaders.rdf import Progress, Source
from mrag.loaders.sketch import sketched
from mrag.loaders.tables import TableDialect, is_database
from mrag.stores.process.limited import Bounds, perform, stream

_MOST = 8
"""Letters and digits of a subtag."""


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
    kept = next((n for n in range(len(parts), 0, -1) if _is_allowed("-".join(parts[:n]))), 0)
    rest = [part[at : at + _MOST] for part in parts[kept:] for at in range(0, len(part), _MOST)]
    head = parts[:kept]
    if rest and "x" not in map(str.lower, head):
        head.append("x")
    return "-".join((*head, *rest)) or "und"


def with_allowed_tags(quads: Iterable[ox.Quad], odd: Set[str]) -> Iterator[ox.Quad]:
    """Yield statements with their odd language tags in a form that BCP 47 allows.

    Args:
        quads: The statements.
        odd: The tags that it does not allow; it may grow while statements are read.
    """
    for quad in quads:
        text = quad.object
        if odd and isinstance(text, ox.Literal) and (tag := text.language) in odd:
            mended = ox.Literal(text.value, language=well_formed_tag(str(tag)))
            quad = ox.Quad(quad.subject, quad.predicate, mended, quad.graph_name)
        yield quad


def _is_allowed(tag: str) -> bool:
    try:
        ox.Literal("", language=tag)
    except ValueError:
        return False
    return True


PART = 10_000
"""Statements that are handed on at a time."""
_SLOWEST = 100_000
"""Bytes of a file that are read in a second at least; what takes longer is ended."""
_OWN = ("urn:mrag:kg:", "urn:mrag:system", "urn:mrag:scratch:")
_NOTED = 1 << 22
"""Bytes after which progress is reported anew."""


# -- files -----------------------------------------------------------------------------------------


def serialised(
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

    Args:
        sources: The files.
        notes: Receives what was left out or let pass.
        on_progress: Called with bytes read and bytes in all.
        into: None for N-Triples, in which named graphs are merged. For N-Quads the graph of what the files
            state in their default graphs, and one for what they state in named graphs, which is then there
            twice; None to have it in its named graph alone.
        skip_bad_lines: Leave out the bad lines of N-Triples and N-Quads instead of refusing.
        part: Statements of a part.
        any_tag: Whether language tags that BCP 47 does not allow are kept as they stand, or mended.

    Raises:
        LoadError: If a file is not well formed, or takes more than it may.
    """
    total = sum(source.size() for source in sources)
    work = f"{__name__}:read_files"
    pieces = stream(work, tuple(sources), skip_bad_lines, part, into, any_tag, bounds=bounds_of(sources))
    with naming(*(source.path for source in sources)):
        while True:
            try:
                piece = next(pieces)
            except StopIteration as end:
                notes.rejected += end.value.rejected
                notes.tags |= end.value.tags
                notes.empty += end.value.empty
                return
            if isinstance(piece, bytes):
                yield piece
            elif on_progress is not None:
                on_progress(piece, total)


def by_graph(nquads: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the graphs of N-Quads in order of name, each with its triples as N-Triples.

    Example:
        >>> dict(by_graph(b"<urn:a> <urn:b> <urn:c> <urn:g> .\\n"))
        {'urn:g': b'<urn:a> <urn:b> <urn:c> .\\n'}
    """
    found: defaultdict[str, list[ox.Triple]] = defaultdict(list)
    for quad in ox.parse(nquads, ox.RdfFormat.N_QUADS, lenient=True):
        found[cast(ox.NamedNode, quad.graph_name).value].append(quad.triple)
    for graph in sorted(found):
        yield graph, ox.serialize(found[graph], format=ox.RdfFormat.N_TRIPLES) or b""


def prefixes(sources: Sequence[Source]) -> dict[str, str]:
    """Return the prefixes that files declare before their first statements.

    Raises:
        LoadError: If a file takes more than it may.
    """
    declaring = [source for source in sources if source.declares]
    if not declaring:
        return {}
    with naming(*(source.path for source in declaring)):
        return cast(
            dict[str, str],
            perform(f"{__name__}:read_prefixes", tuple(declaring), bounds=bounds_of(declaring)),
        )


def bounds_of(sources: Sequence[Source]) -> Bounds:
    """Return how much reading some files may take."""
    return bounds_for(sum(source.size() for source in sources))


def bounds_for(size: int) -> Bounds:
    """Return how much reading so many bytes may take: more time for more of them."""
    bounds = Bounds.from_env()
    return replace(bounds, seconds=bounds.seconds + size / _SLOWEST)


def imported(
    file: str | Path, out: Path, how: ImportSettings, on_progress: Progress | None = None
) -> RecordReport:
    """Write a file of records as N-Triples, as `mrag.loaders.importing.write` does.

    Args:
        file: The records, or the URL of a database. Those of a server are read in this process, as a child
            has no network.
        out: Where the triples go.
        how: How they are read.
        on_progress: Called with bytes read and bytes in all; with rows read and None for a database.

    Raises:
        ConfigError: If the kind is not known, or a table has no mapping.
        LoadError: If the file is not well formed, or takes more than it may.
    """
    served = is_database(file)
    size = None if served else Path(file).stat().st_size
    if served and not str(file).startswith("sqlite"):
        pieces: Generator[Any, None, Any] = write(file, how, out)
    else:
        pieces = stream("mrag.loaders.importing:write", file, how, out, bounds=bounds_for(size or 0))
    with naming(*(() if served else (Path(file),))):
        while True:
            try:
                done = next(pieces)
            except StopIteration as end:
                return cast(RecordReport, end.value)
            if on_progress is not None:
                on_progress(done, size)


def sketch(files: Sequence[str], dialect: TableDialect) -> str:
    """Return a mapping to begin with, as `mrag.loaders.sketch.sketched` does, read like `imported`.

    Raises:
        LoadError: If a file is missing, or cannot be read as a table.
    """
    if any(is_database(file) and not file.startswith("sqlite") for file in files):
        return sketched(files, dialect)
    size = sum(Path(file).stat().st_size for file in files if Path(file).is_file())
    return cast(str, perform("mrag.loaders.sketch:sketched", list(files), dialect, bounds=bounds_for(size)))


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
    told = 0

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
    found: Any = (quad.triple for quad in quads)
    format = ox.RdfFormat.N_TRIPLES
    if into is not None:
        found, format = _placed(quads, *into), ox.RdfFormat.N_QUADS
    while piece := ox.serialize(islice(found, part), format=format):
        yield piece
        if sum(done) - told >= _NOTED:
            told = sum(done)
            yield told
    yield sum(done)
    return notes


def statements(
    source: Source, notes: LoadNotes, on_read: Callable[[int], None], *, skip_bad_lines: bool
) -> Iterator[ox.Quad]:
    """Yield the statements of a file, noting one that has none."""
    found = source.quads_skipping(notes, on_read) if skip_bad_lines else source.quads(on_read, notes)
    first = next(found, None)
    if first is None:
        notes.empty.append(str(source.path))
        return
    yield first
    yield from found


def _placed(quads: Iterable[ox.Quad], graph: str, merged: str | None) -> Iterator[ox.Quad]:
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
    found = {prefix: name for one in declared for prefix, name in one.items()}
    if len({one[""] for one in declared if "" in one}) > 1:
        found[""] = ""
    return found


class Joined(io.RawIOBase):
    """A stream of pieces that come one after the other."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._piece = memoryview(b"")

    def readable(self) -> bool:
        """Return True."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Read some bytes."""
        while not self._piece:
            piece = next(self._pieces, None)
            if piece is None:
                return b""
            self._piece = memoryview(piece)
        size = len(self._piece) if size < 0 else size
        found, self._piece = bytes(self._piece[:size]), self._piece[size:]
        return found


class naming:
    """Name the file in errors about limits, which know nothing of it."""

    def __init__(self, *files: Path) -> None:
        self._file = str(files[0]) if len(files) == 1 else None

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, QueryTimeout):
            raise LoadError(error.message, file=self._file, hint=MORE_TIME) from None
        if isinstance(error, LoadError) and error.file is None:
            error.file = self._file


# -- what clients send -----------------------------------------------------------------------------


MOST_GRAPHS: Final = 10_000
"""Most named graphs of a knowledge graph; every query is given their names."""


def flawless(
    sources: Sequence[Source], left_out: list[LeftOutFile], *, skip_bad_lines: bool = False
) -> list[Source]:
    """Return the files that can be read to their ends.

    Args:
        sources: The files.
        left_out: Receives the others.
        skip_bad_lines: Whether bad lines of N-Triples and N-Quads are no flaw.
    """
    found: list[Source] = []
    for source in sources:
        past = skip_bad_lines and source.line_based
        try:
            with naming(source.path):
                perform(f"{__name__}:read_through", source, past, bounds=bounds_of([source]))
        except LoadError as error:
            line = f"line {error.line}: " if error.line else ""
            left_out.append(LeftOutFile(str(source.path), line + error.message))
        else:
            found.append(source)
    return found


def graph_names(sources: Sequence[Source], *, skip_bad_lines: bool = False) -> list[str]:
    """Return the IRIs of the graphs that files name, in order; they are read to their ends for it.

    Raises:
        LoadError: If a file is not well formed, takes more than it may, or names too many graphs.
    """
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
                    raise LoadError(
                        f"More than {MOST_GRAPHS:,} named graphs cannot be kept.",
                        file=str(source.path),
                        hint="Nothing of it was stored. Merge graphs, or write the triples as N-Triples.",
                    )
    return sorted(names)


def read_through(source: Source, skip_bad_lines: bool) -> None:
    """Read a file to its end, to see whether it is well formed."""
    notes = LoadNotes()
    for _ in statements(source, notes, lambda _: None, skip_bad_lines=skip_bad_lines):
        pass
