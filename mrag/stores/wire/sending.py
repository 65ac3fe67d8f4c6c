"""Sending files to a server as N-Triples, in one stream or in parts."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

import pyoxigraph as ox

from mrag.loaders.rdf import Progress, Source
from mrag.stores.wire.http import upload
from mrag.text.possessive import compiled

_SENDERS = 2


def send_stream(parts: Iterator[bytes], post: Callable[[object], None]) -> None:
    """Send parts as one request.

    Raises:
        LoadError: What the parser raised, as any other error of the parts.
    """
    failed: list[BaseException] = []

    def watched() -> Iterator[bytes]:
        # What the parser raises would come out of the HTTP client as a broken connection.
        try:
            yield from parts
        except Exception as error:
            failed.append(error)
            raise

    try:
        post(upload(watched()))
    except Exception:
        if failed:
            raise failed[0] from None
        raise


def send_parts(parts: Iterator[bytes], post: Callable[[bytes], None]) -> None:
    """Send parts as requests of their own, two at a time, while the next is being read."""
    with ThreadPoolExecutor(_SENDERS) as pool:
        sent: deque[Future[None]] = deque()
        try:
            for part in parts:
                sent.append(pool.submit(post, part))
                if len(sent) > _SENDERS:
                    sent.popleft().result()
            while sent:
                sent.popleft().result()
        except BaseException:
            for waiting in sent:
                waiting.cancel()
            raise


_FILE_CHUNK: Final = 1 << 20
_IN_IRI: Final = rb"(?:[!$&-;=?@A-Z_a-z~]++|%[0-9A-Fa-f]{2})*+"
_IRI: Final = rb"<(?:https?://[A-Za-z0-9.\-]++(?=[/?#>])|urn:[A-Za-z0-9\-]++:)%b(?:#%b)?+>" % (
    _IN_IRI,
    _IN_IRI,
)
_SHOWN: Final = rb'[^"\\\0-\x1f\x7f]*+'
_KIND: Final = rb"(?:@[a-z]{2}(?:-[a-z]{2})?+|\^\^%b)?+" % _IRI
_TEXT: Final = rb'"%b(?:\\[nr"\\]%b)*+"%b' % (_SHOWN, _SHOWN, _KIND)
_LINES: Final = compiled(rb"(?:%b %b (?:%b|%b) \.\n)*+" % (_IRI, _IRI, _IRI, _TEXT))
_TYPED: Final = (b"XMLSchema#string>", b"rdf-syntax-ns#langString>", b"rdf-syntax-ns#dirLangString>")
"""Datatypes that stores of RDF 1.0 tell from none."""


class NotVerbatim(Exception):
    """A file holds what has to be read by the parser."""


def may_be_verbatim(sources: Sequence[Source]) -> bool:
    """Return whether files are such that their lines are worth looking at."""
    return all(source.format == ox.RdfFormat.N_TRIPLES and not source.syntax for source in sources)


def verbatim(
    sources: Sequence[Source], on_progress: Progress | None = None, *, part: int, strict: bool = False
) -> Iterator[bytes]:
    r"""Yield whole lines of N-Triples files as they stand.

    Args:
        sources: The files.
        on_progress: Called with bytes read and bytes in all.
        part: Bytes of a part, about.
        strict: Whether the server refuses what is not well formed, so that only blank nodes are looked for.

    Raises:
        NotVerbatim: If a line is not of the plainest form; parts before it have been given.
        LoadError: If a file cannot be read, or passes a bound.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "a.nt"
        ...     _ = file.write_text('<urn:a:1> <urn:a:2> "c" .\n')
        ...     list(verbatim([Source.of(file)], part=1000))
        [b'<urn:a:1> <urn:a:2> "c" .\n']
    """
    total = sum(source.size() for source in sources)
    before = 0
    for source in sources:
        done = 0

        def note(count: int, before: int = before) -> None:
            nonlocal done
            done = count
            if on_progress is not None:
                on_progress(before + count, total)

        with source.checked(note) as stream:
            kept, empty = bytearray(), True
            while data := stream.read(_FILE_CHUNK):
                kept += data
                if len(kept) >= part and (end := kept.rfind(b"\n") + 1):
                    yield _looked_at(bytes(memoryview(kept)[:end]), strict)
                    kept, empty = kept[end:], False
            if kept:
                yield _looked_at(bytes(kept) if kept.endswith(b"\n") else bytes(kept) + b"\n", strict)
            elif empty:
                raise NotVerbatim
        before += source.size()


def _looked_at(lines: bytes, strict: bool) -> bytes:
    if strict:
        # What begins otherwise may be a comment, or nothing.
        if not lines.startswith(b"<") or b"_:" in lines:
            raise NotVerbatim
        return lines
    if not (lines.isascii() or _is_text(lines)) or _LINES.fullmatch(lines) is None:
        raise NotVerbatim
    if any(datatype in lines for datatype in _TYPED):
        raise NotVerbatim
    return lines


def _is_text(lines: bytes) -> bool:
    try:
        lines.decode()
    except UnicodeDecodeError:
        return False
    return True
