"""What is checked in the text of an RDF document before a parser gets it, and what a load notes.

The parser's time, its memory or its stack grow with these, in places worse than linearly, and a few hundred
bytes of entities can stand for gigabytes. The text is read once, in the pieces in which it comes.
"""

from __future__ import annotations

import codecs
import gzip
import io
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, AnyStr, Final

import pyoxigraph as ox

from mrag._patterns import compile_pattern
from mrag.errors import LoadError

DEEPEST: Final = 1_000  # Most brackets, braces and quoted triples inside of each other
LONGEST: Final = 15 << 20
"""Most bytes of a line of N-Triples or N-Quads, and of a tag of RDF/XML; the parser holds 16 MiB."""

_WINDOW = 8_192  # Lines of N-Triples up to this many bytes hold no more quoted triples than allowed


class TooMuch(Exception):
    """A bound that a document passes."""

    def __init__(self, what: str, line: int | None = None) -> None:
        super().__init__(what)
        self.line = line


class Lines:
    """Bounds the lines of N-Triples and N-Quads."""

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
    """Bounds how deep brackets stand inside of each other, strings, IRIs and comments left out."""

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


def end_of(pattern: re.Pattern[AnyStr], data: AnyStr, at: int) -> int:
    """Return where a match that begins at a place ends; the place itself if there is none."""
    match = pattern.match(data, at)
    return at if match is None else match.end()


# Each eats, without going back, what needs no counting: the loops are the regular expression engine's.
_TURTLE = compile_pattern(
    rb"""(?: [^\[\](){}<>"'#\\]++ | <[^<>"{}\s]*+> | \\.
    | "{3}(?:[^"\\]++|\\.|"{1,2}+(?=[^"]))*+"{3} | '{3}(?:[^'\\]++|\\.|'{1,2}+(?=[^']))*+'{3}
    | "(?!"")[^"\\\r\n]*+(?:\\.[^"\\\r\n]*+)*+"(?=[^"]) | '(?!'')[^'\\\r\n]*+(?:\\.[^'\\\r\n]*+)*+'(?=[^'])
    | \#[^\r\n]*+[\r\n] )*+""",
    re.VERBOSE | re.DOTALL,
)
_JSON = compile_pattern(rb'(?:[^\[\]{}()"]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+', re.DOTALL)
_BODIES: dict[bytes, re.Pattern[bytes]] = {
    b'"': compile_pattern(rb'(?:[^"\\]++|\\.)*+', re.DOTALL),
    b"'": compile_pattern(rb"(?:[^'\\]++|\\.)*+", re.DOTALL),
    b'"""': compile_pattern(rb'(?:[^"\\]++|\\.|"{1,2}+(?=[^"]))*+', re.DOTALL),
    b"'''": compile_pattern(rb"(?:[^'\\]++|\\.|'{1,2}+(?=[^']))*+", re.DOTALL),
    b"\n": compile_pattern(rb"[^\n\r]*+"),
}


_CHUNK = 1 << 20
_HEAD: Final = 4096  # Bytes in which the declaration of XML ends, at four to a character
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Marks before a text, those of UTF-32 first, because they begin with one of UTF-16."""
_BARE: Final = ((b"<\0", "utf-16-le"), (b"\0<", "utf-16-be"))  # How XML in UTF-16 begins without a mark
_DECLARED: Final = re.compile(
    rb"""(<\?xml\s[^>]{0,200}?\bencoding\s*=\s*["'])([A-Za-z][\w.\-]{0,40})(?=["'])"""
)
_CHARSETS: Final = re.compile(
    r"ascii|iso8859-\d+|cp\d+|koi8-[rtu]|mac-\w+|gb2312|gbk|gb18030|big5\w*|shift_\w+|euc_\w+|tis-620|hz|johab"
)
"""Codecs of Python that are character sets of texts; the others do more than that."""


def recode(stream: IO[bytes], format: ox.RdfFormat, file: str | None = None) -> Iterator[bytes]:
    """Yield what a stream holds as UTF-8, without a mark in front.

    A mark wins over what XML declares. White space alone is an empty array of JSON, as empty files are
    empty in every format.
    """
    head = b""
    while len(head) < _HEAD and (more := stream.read(_CHUNK)):
        head += more
    encoding = _encoding(head, format, file)
    decoder = None if encoding is None else codecs.getincrementaldecoder(encoding)()
    blank = format == ox.RdfFormat.JSON_LD

    def utf8(data: bytes) -> bytes:
        if decoder is None:
            return data
        try:
            return decoder.decode(data, not data).encode()
        except UnicodeError as error:
            what = f"Not valid {format.name}: its bytes are not {encoding}, which it says they are."
            raise LoadError(what, file=file, hint="Nothing of it was stored. Convert it to UTF-8.") from error

    data = utf8(head)
    if format == ox.RdfFormat.RDF_XML:
        data = _DECLARED.sub(rb"\1UTF-8", data, count=1)
    while head:
        blank = blank and not data.strip()
        if data:
            yield data
        head = stream.read(_CHUNK)
        data = utf8(head)
    if data:
        yield data
    if blank:
        yield b"[]"


def encoding_mark(head: bytes) -> str | None:
    """Return the codec that a byte order mark says, None without one."""
    return next((encoding for mark, encoding in _MARKS if head.startswith(mark)), None)


def _encoding(head: bytes, format: ox.RdfFormat, file: str | None) -> str | None:
    """Return the codec of a text by its first bytes, None for plain UTF-8."""
    if (mark := encoding_mark(head)) is not None:
        return mark
    if format != ox.RdfFormat.RDF_XML:
        return None
    bare = next((encoding for begin, encoding in _BARE if head.startswith(begin)), None)
    match = _DECLARED.match(head.lstrip())
    if bare is not None or match is None:
        return bare
    name = match[2].decode()
    try:
        codec = codecs.lookup(name).name
    except LookupError:
        codec = ""
    # Where the declaration can be read as it stands, the text is not in UTF-16, whatever it says.
    if codec.startswith("utf-8") or re.match(r"utf[-_]?(?:16|32)|ucs|iso-10646-ucs", name, re.IGNORECASE):
        return None
    if _CHARSETS.fullmatch(codec) is None:
        hint = "Nothing of it was stored. Convert it to UTF-8 and change its first line."
        raise LoadError(f"It declares the encoding {name}, which is not known.", file=file, hint=hint)
    return codec


DEEPEST_XML: Final = 10_000
"""Most elements inside of each other; writers of RDF/XML nest the rest of a list in each of its members."""
LONGEST_ENTITY: Final = 10_000  # Most bytes of an entity, with what the entities in it stand for
MOST_ENTITIES: Final = 10_000

_EXPANSION = 64  # What references stand for may be this many times as long as the document, or `_FREE` bytes
_FREE = 64 << 20
_DECLARED_ENTITY = 100_000  # More bytes than the declaration of an entity may have
_NAME = 300  # More bytes than a reference has


class Xml:
    """Bounds depth, tags and entities of RDF/XML.

    Entities may name others, as ontologies do with namespaces, while what they add stays small.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._until = b""
        self._depth = self._added = self._read = 0
        self._line = 1
        self._entities: dict[bytes, int] = {}
        self._entity_rest = b""

    def feed(self, data: bytes) -> None:
        """Read the next piece."""
        self._read += len(data)
        self._declared(data)
        data, at = self._rest + data, 0
        while at < len(data):
            start = at
            at = self._close(data, at) if self._until else end_of(_XML, data, at)
            self._line += data.count(b"\n", start, at)
            if self._until or at >= len(data):
                break
            if (after := self._tag(data, at)) < 0:
                break
            at = after
        self._rest = data[at:]
        if len(self._rest) > LONGEST:
            raise TooMuch(f"a tag has more than {LONGEST:,} bytes", self._line)

    def _close(self, data: bytes, at: int) -> int:
        """Read on in a comment, a section or an instruction."""
        end = data.find(self._until, at)
        if end < 0:
            # Its end may be cut in two.
            return max(at, len(data) - len(self._until) + 1)
        self._until = b""
        return end + 3 if data.startswith((b"-->", b"]]>"), end) else end + 2

    def _tag(self, data: bytes, at: int) -> int:
        """Read a tag that is no leaf; -1 if it does not end in this piece."""
        if not data.startswith(b"<", at):
            return at
        for begin, end in _SECTIONS.items():
            if data.startswith(begin, at):
                self._until = end
                return at + len(begin)
        if data.startswith(b"<!", at):
            return at + 2 if len(data) - at > 9 else -1
        if (match := _CLOSING.match(data, at)) is not None:
            self._depth -= self._depth > 0
            return match.end()
        if (match := _OPENING.match(data, at)) is None:
            return -1
        self._depth += data[match.end() - 2] != ord("/")
        if self._depth > DEEPEST_XML:
            raise TooMuch(f"more than {DEEPEST_XML} elements are open inside of each other", self._line)
        return match.end()

    def _declared(self, data: bytes) -> None:
        """Read the entities that a piece declares, wherever that is, and count what references add."""
        data = self._entity_rest + data
        at, end = 0, max(0, len(data) - _NAME)
        while (start := data.find(b"<!ENTITY", at)) >= 0:
            match = _ENTITY.match(data, start)
            if match is None and len(data) - start > _DECLARED_ENTITY:
                raise TooMuch("the declaration of an entity is too long, or cannot be read", self._line)
            if match is None:
                end = start
                break
            self._entity(match)
            at, end = match.end(), max(match.end(), end)
        if self._entities:
            cut = data.rfind(b"&", at, end)
            if cut >= 0 and b";" not in data[cut:end]:
                end = cut
            for name, times in Counter(_REFERENCE.findall(data, at, end)).items():
                self._added += times * self._entities.get(name, 0)
            if self._added > max(_FREE, _EXPANSION * self._read):
                raise TooMuch(f"its entities stand for more than {_EXPANSION} times its length")
        self._entity_rest = data[end:]

    def _entity(self, match: re.Match[bytes]) -> None:
        parameter, name = match[1], match[2]
        value = match[4] if match[3] is None else match[3]
        shown = name.decode("utf-8", "replace")[:80]
        if parameter or value is None:
            kind = "parameter" if parameter else "external"
            raise TooMuch(f"the entity {shown} is {kind}; only plain ones are read")
        size = len(value) + sum(self._entities.get(each, 0) for each in _REFERENCE.findall(value))
        if size > LONGEST_ENTITY:
            raise TooMuch(f"the entity {shown} stands for more than {LONGEST_ENTITY:,} bytes")
        self._entities[name] = size
        if len(self._entities) > MOST_ENTITIES:
            raise TooMuch(f"more than {MOST_ENTITIES:,} entities are declared")


_START = rb"""<[^/!?<>"'][^<>"'/]*+(?:(?:"[^"]*+"|'[^']*+'|/(?!>))[^<>"'/]*+)*+"""
_XML = compile_pattern(rb"(?:[^<]++|%s(?:/>|>[^<]*+</[^<>]*+>))*+" % _START)
_OPENING = compile_pattern(_START + rb"(?:/>|>)")
_CLOSING = re.compile(rb"</[^<>]*+>")
_SECTIONS = {b"<!--": b"-->", b"<![CDATA[": b"]]>", b"<?": b"?>"}
_ENTITY = re.compile(
    rb"""<!ENTITY\s+(%\s*)?+([^\s"'%&;<>]{1,200})\s+(?:"([^"]{0,65536})"|'([^']{0,65536})'|(?:SYSTEM|PUBLIC)\s[^>]*)\s*>"""
)
_REFERENCE = re.compile(rb"&([^\s&;<>#\"']{1,200});")


MORE_TIME: Final = "Nothing of it was stored. Allow more with the environment variable MRAG_PARSE_SECONDS."

_INFLATED = 256
"""RDF shrinks to a thirtieth or so under gzip; what grows by more than this, past `_PLAIN`, is no RDF."""
_PLAIN = 1 << 30
_FAR_BELOW = "Nothing of it was stored. Documents that people or programs write stay far below this."


@dataclass(frozen=True)
class RejectedLine:
    """A line that was left out of a load, and why."""

    file: str
    line: int
    reason: str


@dataclass
class LoadNotes:
    """What a load let pass or left out."""

    rejected: list[RejectedLine] = field(default_factory=list)
    tags: set[str] = field(default_factory=set)
    empty: list[str] = field(default_factory=list)


class Joined(io.RawIOBase):
    """A stream of pieces, none of them empty, that come one after the other; `below` is closed with it."""

    def __init__(self, pieces: Iterator[bytes], below: IO[bytes] | None = None) -> None:
        self._pieces, self._below = pieces, below
        self._piece = memoryview(b"")

    def readable(self) -> bool:
        """Return True."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Read some bytes; all of them for a negative size."""
        if size < 0:
            return b"".join(iter(lambda: self.read(_CHUNK), b""))
        self._piece = self._piece or memoryview(next(self._pieces, b""))
        some, self._piece = bytes(self._piece[:size]), self._piece[size:]
        return some

    def readinto(self, buffer: object) -> int:
        """Read some bytes into a buffer."""
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        data = self.read(len(view))
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close the stream below."""
        if self._below is not None:
            self._below.close()
        super().close()


def checked(
    stream: IO[bytes],
    format: ox.RdfFormat,
    file: str | None = None,
    *,
    packed: int | None = None,
    until: float | None = None,
) -> Joined:
    """Return the content of a stream as UTF-8, which is checked before it is passed on."""

    def pieces() -> Iterator[bytes]:
        check, read = check_of(format), 0
        for data in recode(stream, format, file):
            read += len(data)
            if until is not None and time.monotonic() > until:
                raise LoadError("The file took too long to read.", file=file, hint=MORE_TIME)
            try:
                if packed is not None and read > max(_PLAIN, _INFLATED * packed):
                    raise TooMuch(f"it unpacks to more than {_INFLATED} times its size")
                check.feed(data)
            except TooMuch as error:
                what = f"Refused as {format.name}: {error}."
                raise LoadError(what, file=file, line=error.line, hint=_FAR_BELOW) from None
            yield data

    return Joined(pieces(), stream)


def too_long(format: ox.RdfFormat, file: str | None = None) -> LoadError:
    """Return the error for what does not fit into the parser's buffer."""
    what = f"Refused as {format.name}: a text, an IRI or a tag is longer than 15 megabytes."
    return LoadError(what, file=file, hint="Nothing of it was stored.")


def check_of(format: ox.RdfFormat) -> Lines | Xml | Brackets:
    """Return a new check for documents of a format."""
    if format in (ox.RdfFormat.N_TRIPLES, ox.RdfFormat.N_QUADS):
        return Lines()
    return Xml() if format == ox.RdfFormat.RDF_XML else Brackets(json=format == ox.RdfFormat.JSON_LD)


class Counting(io.FileIO):
    """A raw file that says how far it has been read."""

    def __init__(self, path: Path, on_read: Callable[[int], None] | None) -> None:
        super().__init__(path, "rb")
        self._on_read = on_read

    def read(self, size: int | None = -1) -> bytes:
        """Read some bytes."""
        data = super().read(size) or b""
        self._note()
        return data

    def readinto(self, buffer: Any) -> int:
        """Read some bytes into a buffer."""
        count = int(super().readinto(buffer) or 0)
        self._note()
        return count

    def _note(self) -> None:
        if self._on_read is not None:
            self._on_read(self.tell())


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
    """Raise ValueError for an ill-formed IRI that a lenient parser let through; note odd language tags."""
    for term in (quad.subject, quad.predicate, quad.object):
        if isinstance(term, ox.NamedNode):
            ox.NamedNode(term.value)
        elif isinstance(term, ox.Literal) and term.language and term.language not in tags:
            try:
                ox.Literal("", language=term.language)
            except ValueError:
                tags.add(term.language)
