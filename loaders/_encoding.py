"""Text of any encoding as UTF-8, which alone the parsers read: by its mark, or as XML declares it."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import IO, Final

import pyoxigraph as ox

from mrag.errors import LoadError

_CHUNK = 1 << 20
_HEAD: Final = 4096
"""Bytes in which the declaration of XML ends, at four to a character."""
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Marks before a text, those of UTF-32 first, because they begin with one of UTF-16."""
_BARE: Final = ((b"<\0", "utf-16-le"), (b"\0<", "utf-16-be"))
"""How XML in UTF-16 begins without a mark."""
_DECLARED: Final = re.compile(
    rb"""(<\?xml\s[^>]{0,200}?\bencoding\s*=\s*["'])([A-Za-z][\w.\-]{0,40})(?=["'])"""
)
_CHARSETS: Final = re.compile(
    r"ascii|iso8859-\d+|cp\d+|koi8-[rtu]|mac-\w+|gb2312|gbk|gb18030|big5\w*|shift_\w+|euc_\w+|tis-620|hz|johab"
)
"""Codecs of Python that are character sets of texts; the others do more than that."""


def recoded(stream: IO[bytes], format: ox.RdfFormat, file: str | None = None) -> Iterator[bytes]:
    """Yield what a stream holds as UTF-8, without a mark in front.

    A mark says the encoding, whatever is declared; without one, XML declares it, and other formats are UTF-8.
    JSON of nothing but white space becomes an empty array, so that empty files are alike in every format.

    Args:
        stream: The content.
        format: What it is written in.
        file: Its name, for errors.

    Raises:
        LoadError: If the encoding is not known, or the bytes are not of it.

    Example:
        >>> import io
        >>> b"".join(recoded(io.BytesIO('"é"'.encode("utf-16")), ox.RdfFormat.TURTLE)).decode()
        '"é"'
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
            raise LoadError(
                f"Not valid {format.name}: its bytes are not {encoding}, which it says they are.",
                file=file,
                hint="Nothing of it was stored. Convert it to UTF-8.",
            ) from error

    first = utf8(head)
    if format == ox.RdfFormat.RDF_XML:
        first = _DECLARED.sub(rb"\1UTF-8", first, count=1)
    data: bytes = first
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


def marked(head: bytes) -> str | None:
    """Return the codec that a byte order mark says, None without one.

    Example:
        >>> marked("é".encode("utf-16")), marked(b"abcd")
        ('utf-16', None)
    """
    return next((encoding for mark, encoding in _MARKS if head.startswith(mark)), None)


def _encoding(head: bytes, format: ox.RdfFormat, file: str | None) -> str | None:
    """Return the codec of a text by its first bytes, None for plain UTF-8."""
    if (mark := marked(head)) is not None:
        return mark
    if format != ox.RdfFormat.RDF_XML:
        return None
    for begin, encoding in _BARE:
        if head.startswith(begin):
            return encoding
    found = _DECLARED.match(head.lstrip())
    if found is None:
        return None
    name = found[2].decode()
    try:
        codec = codecs.lookup(name).name
    except LookupError:
        codec = ""
    # Where the declaration can be read as it stands, the text is not in UTF-16, whatever it says.
    if codec.startswith("utf-8") or re.match(r"utf[-_]?(?:16|32)|ucs|iso-10646-ucs", name, re.IGNORECASE):
        return None
    if _CHARSETS.fullmatch(codec) is None:
        raise LoadError(
            f"It declares the encoding {name}, which is not known.",
            file=file,
            hint="Nothing of it was stored. Convert it to UTF-8 and change its first line.",
        )
    return codec
