"""Where the paragraphs and sentences of a text begin and end."""

from __future__ import annotations

import re
from collections.abc import Iterator

_BREAK = re.compile(r"(?:\r\n|\r|\n)[ \t]*(?:(?:\r\n|\r|\n)[ \t]*)+")
_END = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|(?<=[。！？])")
_NOT_AN_END = re.compile(r"(?:\b(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|No|Inc|Co|Ltd|e\.g|i\.e|etc))\.\s+\Z")


def paragraph_spans(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """Yield where the paragraphs of a part of a text begin and end, which blank lines part."""
    whole = len(text) if end is None else end
    for match in [*_BREAK.finditer(text, start, whole), None]:
        first, last = trim(text, start, match.start() if match else whole)
        if first < last:
            yield first, last
        start = match.end() if match else whole


def sentence_spans(text: str, start: int = 0, end: int | None = None) -> list[tuple[int, int]]:
    """Return where the sentences of a part of a text begin and end; a blank line ends one.

    Example:
        >>> text = "Dr. Who met J. R. Smith. They talked."
        >>> [text[a:b] for a, b in sentence_spans(text)]
        ['Dr. Who met J. R. Smith.', 'They talked.']
    """
    spans: list[tuple[int, int]] = []
    for first, last in paragraph_spans(text, start, end):
        for mark in [*_END.finditer(text, first, last), None]:
            stop = mark.end() if mark else last
            if mark and _NOT_AN_END.search(text, first, stop):
                continue
            span = trim(text, first, stop)
            if span[0] < span[1]:
                spans.append(span)
            first = stop
    return spans


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a part of a text without the white space at its ends."""
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), end - len(part) + len(part.rstrip())
