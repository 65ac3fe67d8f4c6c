"""Tokens, and the patterns that cut them, which match the same whether possessive or greedy."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrag.errors import QueryRefused, QueryTimeout
from mrag.language.possessive import compiled
from mrag.loaders import checks
from mrag.rdf import parser
from mrag.rdf.parser import FUNCTIONS, READING, Tokens
from mrag.stores import http


def keys(text: str) -> list[str]:
    return [token.key for token in Tokens(text).tokens[:-1]]


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n"])
def test_a_comment_ends_where_the_line_ends(end: str) -> None:
    assert keys(f"ASK # x{end}{{ }} # y") == ["ASK", "{", "}"]
    with pytest.raises(QueryRefused, match="SERVICE is not allowed"):
        Tokens(f"SELECT * {{ # x{end}SERVICE <http://a.example/> {{ ?s ?p ?o }} #\n }}")


@pytest.mark.parametrize("space", ["\u2028", "\u0085", "\u00a0", "\v", "\f", "\ufeff", "\x00"])
def test_only_four_characters_are_white_space(space: str) -> None:
    assert keys(f"ASK # x{space}SERVICE") == ["ASK"]
    with pytest.raises(QueryRefused, match="Not a SPARQL query"):
        Tokens(f"ASK{space}{{ }}")


def test_strings_in_four_forms_are_printed_in_one() -> None:
    texts = ["'a\"b'", '"a\\"b"', "'''a\"b'''", '"""a"b"""']
    assert {Tokens(text).printed() for text in texts} == {'"a\\"b"'}
    assert Tokens('"""a\nb"""').printed() == '"a\\nb"'
    assert Tokens("'''it''s''' ''").tokens[0].value == "it''s"


@given(st.text())
def test_a_string_keeps_its_value(value: str) -> None:
    printed = '"' + value.translate({34: '\\"', 92: "\\\\", 10: "\\n", 13: "\\r"}) + '"'
    if "\\u" in printed.replace("\\\\", "") or any("\ud800" <= c <= "\udfff" for c in value):
        return
    once = Tokens(printed)
    assert once.tokens[0].value == value
    assert Tokens(once.printed()).tokens[0].value == value


@given(st.text(alphabet="?ab<>=!&|^*/+-.,;:()[]{}'\"#@1e \t\r\nSERVICE_\\u0053", max_size=40))
def test_what_is_printed_reads_the_same(text: str) -> None:
    try:
        once = Tokens(text)
    except QueryRefused:
        return
    again = Tokens(once.printed())
    assert [t.key for t in again.tokens] == [t.key for t in once.tokens]
    assert [t.value for t in again.tokens] == [t.value for t in once.tokens]
    assert again.printed() == once.printed()


def test_every_word_is_known_or_refused() -> None:
    assert keys("select Distinct ?x wHeRe { }")[:2] == ["SELECT", "DISTINCT"]
    for word in ("LATERAL", "VERSION", "DEFINE", "A", "serviceSILENT", "x", "INSERT", "load"):
        with pytest.raises(QueryRefused):
            Tokens(f"ASK {{ {word} }}")
    for word in sorted(READING | FUNCTIONS):
        assert keys(word if word != "A" else "a") == [word if word != "A" else "a"]


def test_names_are_cut_as_the_standard_cuts_them() -> None:
    assert keys("ex:a.b.") == ["pname", "."]
    assert keys("_:b.c. :x") == ["blank", ".", "pname"]
    assert keys("ex:a\\#b ex:%41 ex:a:b ?x.") == ["pname", "pname", "pname", "var", "."]
    numbers = "decimal decimal integer . double double - integer".split()
    assert keys("1.5 .5 1. 1e3 1.e3 -1") == numbers


def test_reading_stops_at_the_deadline() -> None:
    with pytest.raises(QueryTimeout, match="could not be read"):
        Tokens("ASK {" + " ?s ?p ?o ." * 10_000 + "}", deadline=0.0)


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
