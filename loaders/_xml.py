"""Bounds on the text of RDF/XML: depth, the length of tags, and what entities stand for."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from mrag.loaders._bounds import LONGEST, TooMuch, end_of
from mrag.text.possessive import compiled

DEEPEST_XML: Final = 10_000
"""Most elements inside of each other; writers of RDF/XML nest the rest of a list in each of its members."""
LONGEST_ENTITY: Final = 10_000
"""Most bytes of an entity, with what the entities in it stand for."""
MOST_ENTITIES: Final = 10_000

_EXPANSION = 64
"""What references stand for may be this many times as long as the document, or `_FREE` bytes."""
_FREE = 64 << 20
_DECLARED_ENTITY = 100_000
"""More bytes than the declaration of an entity may have."""
_NAME = 300
"""More bytes than a reference has."""


class Xml:
    """Bounds depth, tags and entities of RDF/XML.

    Entities may name other entities that were declared before, as ontologies do with namespaces, but what
    they stand for stays small, and so does what all references to them add to the document.

    Example:
        >>> lol = b'<!ENTITY a "ha"><!ENTITY b "' + b"&a;" * 9000 + b'">'
        >>> Xml().feed(b"<!DOCTYPE r [" + lol + b"]><r>&b;</r>")
        Traceback (most recent call last):
        mrag.loaders._bounds.TooMuch: the entity b stands for more than 10,000 bytes
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
            at = self._closed(data, at) if self._until else end_of(_XML, data, at)
            self._line += data.count(b"\n", start, at)
            if self._until or at >= len(data):
                break
            if (after := self._tag(data, at)) < 0:
                break
            at = after
        self._rest = data[at:]
        if len(self._rest) > LONGEST:
            raise TooMuch(f"a tag has more than {LONGEST:,} bytes", self._line)

    def _closed(self, data: bytes, at: int) -> int:
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
        if (found := _CLOSING.match(data, at)) is not None:
            self._depth -= self._depth > 0
            return found.end()
        if (found := _OPENING.match(data, at)) is None:
            return -1
        self._depth += data[found.end() - 2] != ord("/")
        if self._depth > DEEPEST_XML:
            raise TooMuch(f"more than {DEEPEST_XML} elements are open inside of each other", self._line)
        return found.end()

    def _declared(self, data: bytes) -> None:
        """Read the entities that a piece declares, wherever that is, and count what references add."""
        data = self._entity_rest + data
        at, end = 0, max(0, len(data) - _NAME)
        while (start := data.find(b"<!ENTITY", at)) >= 0:
            found = _ENTITY.match(data, start)
            if found is None and len(data) - start > _DECLARED_ENTITY:
                raise TooMuch("the declaration of an entity is too long, or cannot be read", self._line)
            if found is None:
                end = start
                break
            self._entity(found)
            at, end = found.end(), max(found.end(), end)
        if self._entities:
            cut = data.rfind(b"&", at, end)
            if cut >= 0 and b";" not in data[cut:end]:
                end = cut
            for name, times in Counter(_REFERENCE.findall(data, at, end)).items():
                self._added += times * self._entities.get(name, 0)
            if self._added > max(_FREE, _EXPANSION * self._read):
                raise TooMuch(f"its entities stand for more than {_EXPANSION} times its length")
        self._entity_rest = data[end:]

    def _entity(self, found: re.Match[bytes]) -> None:
        parameter, name = found[1], found[2]
        value = found[4] if found[3] is None else found[3]
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
_XML = compiled(rb"(?:[^<]++|%s(?:/>|>[^<]*+</[^<>]*+>))*+" % _START)
_OPENING = compiled(_START + rb"(?:/>|>)")
_CLOSING = re.compile(rb"</[^<>]*+>")
_SECTIONS = {b"<!--": b"-->", b"<![CDATA[": b"]]>", b"<?": b"?>"}
_ENTITY = re.compile(
    rb"""<!ENTITY\s+(%\s*)?+([^\s"'%&;<>]{1,200})\s+(?:"([^"]{0,65536})"|'([^']{0,65536})'|(?:SYSTEM|PUBLIC)\s[^>]*)\s*>"""
)
_REFERENCE = re.compile(rb"&([^\s&;<>#\"']{1,200});")
