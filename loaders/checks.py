"""What is checked in the text of an RDF document before a parser gets it, and what a load notes.

The parser's time, its memory or its stack grow with these, in places worse than linearly, and a few hundred
bytes of entities can stand for gigabytes. The text is read once, in the pieces in which it comes.
"""

from __future__ import annotations

import gzip
import io
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO, Final, Protocol

import pyoxigraph as ox

from mrag.errors import LoadError
from mrag.loaders._bounds import Brackets, Lines, TooMuch
from mrag.loaders._encoding import recoded
from mrag.loaders._xml import Xml

MORE_TIME: Final = "Nothing of it was stored. Allow more with the environment variable MRAG_PARSE_SECONDS."

_CHUNK = 1 << 20
_INFLATED = 256
"""RDF shrinks to a thirtieth or so under gzip; what grows by more than this, past `_PLAIN`, is no RDF."""
_PLAIN = 1 << 30


@dataclass(frozen=True)
class RejectedLine:
    """A line that was left out of a load, and why."""

    file: str
    line: int
    reason: str


@dataclass(frozen=True)
class LeftOutFile:
    """A file that was left out of a load, and why."""

    file: str
    reason: str


@dataclass
class LoadNotes:
    """What a load let pass or left out.

    Attributes:
        rejected: Lines left out, when that was asked for.
        tags: Language tags that BCP 47 does not allow, kept as they stand.
        empty: Files without a statement.
    """

    rejected: list[RejectedLine] = field(default_factory=list)
    tags: set[str] = field(default_factory=set)
    empty: list[str] = field(default_factory=list)


class Check(Protocol):
    """Reads a text piece by piece and raises `TooMuch` where it passes a bound."""

    def feed(self, data: bytes) -> None:
        """Read the next piece."""


class Checked(io.RawIOBase):
    """A stream whose content is turned into UTF-8 and checked before it is passed on.

    Args:
        stream: The content.
        format: What it is written in.
        file: Its name, for errors.
        packed: Bytes that it takes packed; None where it is not packed.
        until: Time of the monotonic clock at which reading ends.

    Raises:
        LoadError: From `read`, where the content passes a bound.
    """

    def __init__(
        self,
        stream: IO[bytes],
        format: ox.RdfFormat,
        file: str | None = None,
        *,
        packed: int | None = None,
        until: float | None = None,
    ) -> None:
        self._stream, self._format, self._file = stream, format, file
        self._pieces = recoded(stream, format, file)
        self._packed, self._until = packed, until
        self._check = check_of(format)
        self._piece = memoryview(b"")
        self._read = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Read some bytes; all of them for a negative size."""
        if size < 0:
            return b"".join(iter(lambda: self.read(_CHUNK), b""))
        if not self._piece:
            self._piece = memoryview(self._next())
        found, self._piece = bytes(self._piece[:size]), self._piece[size:]
        return found

    def readinto(self, buffer: object) -> int:
        """Read some bytes into a buffer."""
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        data = self.read(len(view))
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close the stream below."""
        self._stream.close()
        super().close()

    def _next(self) -> bytes:
        data = next(self._pieces, b"")
        self._read += len(data)
        if self._until is not None and time.monotonic() > self._until:
            raise LoadError("The file took too long to read.", file=self._file, hint=MORE_TIME)
        try:
            if self._packed is not None and self._read > max(_PLAIN, _INFLATED * self._packed):
                raise TooMuch(f"it unpacks to more than {_INFLATED} times its size")
            self._check.feed(data)
        except TooMuch as error:
            what = str(error)
            raise LoadError(
                f"Refused as {self._format.name}: {what}.",
                file=self._file,
                line=error.line,
                hint="Nothing of it was stored. Documents that people or programs write stay far below this.",
            ) from None
        return data


def too_long(format: ox.RdfFormat, file: str | None = None) -> LoadError:
    """Return the error for what does not fit into the parser's buffer."""
    return LoadError(
        f"Refused as {format.name}: a text, an IRI or a tag is longer than 15 megabytes.",
        file=file,
        hint="Nothing of it was stored.",
    )


def check_of(format: ox.RdfFormat) -> Check:
    """Return a new check for documents of a format."""
    if format in (ox.RdfFormat.N_TRIPLES, ox.RdfFormat.N_QUADS):
        return Lines()
    return Xml() if format == ox.RdfFormat.RDF_XML else Brackets(json=format == ox.RdfFormat.JSON_LD)


class Counting(io.RawIOBase):
    """A raw file that says how far it has been read."""

    def __init__(self, raw: IO[bytes] | io.FileIO, on_read: Callable[[int], None] | None) -> None:
        self._raw = raw
        self._on_read = on_read
        self._done = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Read some bytes."""
        data = self._raw.read(size) or b""
        self._note(len(data))
        return data

    def readinto(self, buffer: object) -> int:
        """Read some bytes into a buffer."""
        count = int(self._raw.readinto(buffer) or 0)  # type: ignore[union-attr, arg-type]
        self._note(count)
        return count

    def _note(self, count: int) -> None:
        self._done += count
        if self._on_read is not None:
            self._on_read(self._done)

    def close(self) -> None:
        """Close the file."""
        self._raw.close()
        super().close()


class Gunzipped(gzip.GzipFile):
    """A gzip stream that closes the file below it, which the library's own does not."""

    def __init__(self, raw: Counting) -> None:
        super().__init__(fileobj=raw)
        self._below = raw

    def close(self) -> None:
        """Close the file below, too."""
        super().close()
        self._below.close()


def check_terms(quad: ox.Quad, tags: set[str]) -> None:
    """Raise ValueError for an ill-formed IRI that a lenient parser let through; note odd language tags.

    Args:
        quad: The statement.
        tags: Receives language tags that RDF does not allow.
    """
    for term in (quad.subject, quad.predicate, quad.object):
        if isinstance(term, ox.NamedNode):
            ox.NamedNode(term.value)
        elif isinstance(term, ox.Literal) and term.language and term.language not in tags:
            try:
                ox.Literal("", language=term.language)
            except ValueError:
                tags.add(term.language)
