"""Patterns match the same where the interpreter has possessive groups right and where they are greedy."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrag.language.possessive import compiled
from mrag.loaders import checks
from mrag.rdf import parser
from mrag.stores import http

PATTERNS: dict[str, tuple[re.Pattern[Any], list[str]]] = {
    "token": (
        parser._TOKEN,
        ["'", '"', "\\", "a", "\n", ":", ".", "@en", "-", "<urn:a>", "?x", "1", "e", "%20", "_"],
    ),
    "space": (parser._SPACE, [" ", "#", "\n", "a"]),
    "codepoint": (parser._CODEPOINT, ["\\", "u0041", "U00000041", "a"]),
    "turtle": (checks._TURTLE, ["'", '"', "\\", "a", "\n", "<urn:a>", "<", "#", "[", "é"]),
    "json": (checks._JSON, ['"', "\\", "a", "{", "]", "\n"]),
    "xml": (checks._XML, ["<a", ">", "</a>", "/>", "<b c=", '"', "'", "x", " ", "/"]),
    "opening": (checks._OPENING, ["<a", ">", "</a>", "/>", "<b c=", '"', "'", "x", " ", "/"]),
    "lines": (http._LINES, ["<http://a/b>", "<urn:a:b>", " ", ".\n", '"', "\\n", "@en", "^^", "a", "#"]),
}


@pytest.mark.parametrize("name", [*PATTERNS])
@given(data=st.data())
def test_greedy_groups_match_the_same(name: str, data: st.DataObject) -> None:
    pattern, words = PATTERNS[name]
    text = "".join(data.draw(st.lists(st.sampled_from(words), max_size=30)))
    subject = text.encode() if isinstance(pattern.pattern, bytes) else text
    flags = pattern.flags & (re.DOTALL | re.VERBOSE)
    greedy = compiled(pattern.pattern, flags, possessive=False)
    assert spans(greedy, subject) == spans(pattern, subject)


def spans(pattern: re.Pattern[Any], subject: str | bytes) -> list[tuple[tuple[int, int], str | None]]:
    return [(m.span(), m.lastgroup) for m in pattern.finditer(subject)]
