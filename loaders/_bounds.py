"""Bounds on the text of RDF documents: how deep brackets stand inside of each other, how long a line is."""

from __future__ import annotations

import re
from typing import Final

from mrag.text.possessive import compiled

DEEPEST: Final = 1_000
"""Most brackets, braces and quoted triples inside of each other."""
LONGEST: Final = 15 << 20
"""Most bytes of a line of N-Triples or N-Quads, and of a tag of RDF/XML; the parser holds 16 MiB."""

_WINDOW = 8_192
"""Lines of N-Triples up to this many bytes hold no more quoted triples than allowed."""


class TooMuch(Exception):
    """A bound that a document passes.

    Args:
        what: What passes it, and the bound.
        line: Where.
    """

    def __init__(self, what: str, line: int | None = None) -> None:
        super().__init__(what)
        self.line = line


class Lines:
    r"""Bounds the lines of N-Triples and N-Quads.

    Example:
        >>> Lines().feed(b"<urn:a> <urn:b> " + b"<<( <urn:a> <urn:b> " * 2000)
        Traceback (most recent call last):
        mrag.loaders._bounds.TooMuch: more than 1000 triples are quoted inside of each other
    """

    def __init__(self) -> None:
        self._length = self._quoted = self._lines = 0

    def feed(self, data: bytes) -> None:
        """Read the next piece."""
        at = 0
        while at < len(data):
            end = data.rfind(b"\n", at, at + _WINDOW)
            if end >= 0:
                # What goes on from the piece before ends at the first line feed, not at the last.
                first = data.find(b"\n", at, end + 1) if self._length else at
                self._long(data, at, first)
                self._lines += 1
                self._length = self._quoted = 0
                at = end + 1
                continue
            self._long(data, at, at + _WINDOW)
            at += _WINDOW

    def _long(self, data: bytes, start: int, end: int) -> None:
        end = min(end, len(data))
        self._length += end - start
        self._quoted += data.count(b"<<", start, end)
        if self._quoted > DEEPEST:
            raise TooMuch(f"more than {DEEPEST} triples are quoted inside of each other")
        if self._length > LONGEST:
            raise TooMuch(f"a line has more than {LONGEST:,} bytes")


class Brackets:
    r"""Bounds how deep brackets stand inside of each other, strings, IRIs and comments left out.

    Args:
        json: Whether the text is JSON, else it is of Turtle's family.

    Example:
        >>> Brackets().feed(b"<urn:a> <urn:b> " + b"[ <urn:p> " * 2000)
        Traceback (most recent call last):
        mrag.loaders._bounds.TooMuch: more than 1000 brackets are open inside of each other
        >>> Brackets(json=True).feed(b'["' + b"[" * 2000 + b'"]')
    """

    def __init__(self, *, json: bool = False) -> None:
        self._skip = _JSON if json else _TURTLE
        self._rest = b""
        self._inside: bytes | None = None
        self._ended = False
        self._depth = 0
        self._line = 1
        self._json = json

    def feed(self, data: bytes) -> None:
        """Read the next piece."""
        data, at = self._rest + data, 0
        while at < len(data):
            start = at
            at = self._within(data, at) if self._inside else end_of(self._skip, data, at)
            self._line += data.count(b"\n", start, at)
            if self._ended:
                self._ended = False
            elif self._inside or at >= len(data) or self._cut(data, at):
                break
            else:
                at = self._mark(data, at)
        self._rest = data[at:]

    def _within(self, data: bytes, at: int) -> int:
        """Read on in a string or comment that another piece began."""
        mark = self._inside or b""
        at = end_of(_BODIES[mark], data, at)
        if data.startswith((b"\n", b"\r") if mark == b"\n" else mark, at):
            self._inside, self._ended = None, True
            return at + len(mark)
        return at

    @staticmethod
    def _cut(data: bytes, at: int) -> bool:
        """Return whether more must be read to say what begins here."""
        left, mark = len(data) - at, data[at : at + 1]
        if mark == b"<" and left < LONGEST:
            # An IRI that goes on in the next piece.
            return left < 3 or (data[at + 1 : at + 2] != b"<" and data.find(b">", at) < 0)
        # Three quotes begin a long string, so two at the end say nothing yet.
        return left < 3 and mark in b"\"'>\\"

    def _mark(self, data: bytes, at: int) -> int:
        mark = data[at : at + 1]
        if mark in b"[({":
            return at + self._open()
        if mark in b"])}":
            self._depth -= self._depth > 0
        elif data.startswith(b"<<", at) and not self._json:
            return at + 2 * self._open()
        elif data.startswith(b">>", at):
            self._depth -= self._depth > 0
            return at + 2
        elif mark == b"#":
            self._inside = b"\n"
        elif mark in b"\"'":
            self._inside = mark * 3 if data.startswith(mark * 3, at) and not self._json else mark
            return at + len(self._inside)
        return at + 1

    def _open(self) -> int:
        self._depth += 1
        if self._depth > DEEPEST:
            raise TooMuch(f"more than {DEEPEST} brackets are open inside of each other", self._line)
        return 1


def end_of(pattern: re.Pattern[bytes], data: bytes, at: int) -> int:
    """Return where a match that begins at a place ends; the place itself if there is none."""
    found = pattern.match(data, at)
    return at if found is None else found.end()


# Each eats, without going back, what needs no counting: the loops are the regular expression engine's.
_TURTLE = compiled(
    rb"""(?: [^\[\](){}<>"'#\\]++ | <[^<>"{}\s]*+> | \\.
    | "{3}(?:[^"\\]++|\\.|"{1,2}+(?=[^"]))*+"{3} | '{3}(?:[^'\\]++|\\.|'{1,2}+(?=[^']))*+'{3}
    | "(?!"")[^"\\\r\n]*+(?:\\.[^"\\\r\n]*+)*+"(?=[^"]) | '(?!'')[^'\\\r\n]*+(?:\\.[^'\\\r\n]*+)*+'(?=[^'])
    | \#[^\r\n]*+[\r\n] )*+""",
    re.VERBOSE | re.DOTALL,
)
_JSON = compiled(rb'(?:[^\[\]{}()"]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+', re.DOTALL)
_BODIES: dict[bytes, re.Pattern[bytes]] = {
    b'"': compiled(rb'(?:[^"\\]++|\\.)*+', re.DOTALL),
    b"'": compiled(rb"(?:[^'\\]++|\\.)*+", re.DOTALL),
    b'"""': compiled(rb'(?:[^"\\]++|\\.|"{1,2}+(?=[^"]))*+', re.DOTALL),
    b"'''": compiled(rb"(?:[^'\\]++|\\.|'{1,2}+(?=[^']))*+", re.DOTALL),
    b"\n": compiled(rb"[^\n\r]*+"),
}
