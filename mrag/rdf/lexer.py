r"""The terminals of SPARQL 1.1 (SPARQL 1.1 Query, section 19.8), and nothing else.

A text becomes tokens, and what an engine gets is printed from tokens: without comments, with one kind of
white space and one form of string. So no engine can see a keyword where this module saw a comment, a
string or a name. Words that are no keyword and no built-in function are refused.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping
from typing import NamedTuple

from mrag.errors import QueryRefused, QueryTimeout
from mrag.text.possessive import compiled

AGGREGATES = frozenset("COUNT SUM MIN MAX AVG SAMPLE GROUP_CONCAT".split())
FUNCTIONS = frozenset(
    "STR LANG LANGMATCHES DATATYPE BOUND IRI URI BNODE RAND ABS CEIL FLOOR ROUND CONCAT STRLEN UCASE LCASE "
    "ENCODE_FOR_URI CONTAINS STRSTARTS STRENDS STRBEFORE STRAFTER YEAR MONTH DAY HOURS MINUTES SECONDS "
    "TIMEZONE TZ NOW UUID STRUUID MD5 SHA1 SHA256 SHA384 SHA512 COALESCE IF STRLANG STRDT SAMETERM ISIRI "
    "ISURI ISBLANK ISLITERAL ISNUMERIC REGEX SUBSTR REPLACE".split()
)
READING = frozenset(
    "BASE PREFIX SELECT CONSTRUCT DESCRIBE ASK DISTINCT REDUCED AS FROM NAMED WHERE GROUP BY HAVING ORDER "
    "ASC DESC LIMIT OFFSET VALUES UNDEF GRAPH OPTIONAL UNION MINUS FILTER BIND NOT EXISTS IN SEPARATOR "
    "TRUE FALSE A".split()
)
WRITING = frozenset(
    "INSERT DELETE DATA WITH USING LOAD CLEAR DROP CREATE ADD MOVE COPY TO INTO SILENT DEFAULT ALL".split()
)
NUMBERS = frozenset(("integer", "decimal", "double"))
CALLING = frozenset(("SERVICE",))
EXPECTED = {
    "query": "Only SELECT, ASK, CONSTRUCT and DESCRIBE are read; updates go through the update call.",
    "update": "An update begins with INSERT, DELETE, WITH, CLEAR, DROP, CREATE, ADD, MOVE or COPY.",
}
CHECKED = 4096
"""After so many tokens a look at the clock."""
_WORDS = {"query": READING | FUNCTIONS | AGGREGATES, "update": READING | FUNCTIONS | AGGREGATES | WRITING}

_BASE = (
    "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d\u2070-\u218f"
    "\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_MARKS = "\u00b7\u0300-\u036f\u203f-\u2040"
_CHARS = f"{_BASE}_0-9{_MARKS}\\-"
_PLX = r"%[0-9A-Fa-f]{2}|\\[_~.\-!$&'(*)+,;=/?#@%]"
_SHORT = r"{0}[^{0}\\\n\r]*+(?:\\.[^{0}\\\n\r]*+)*+{0}"
_LONG = r"{0}{0}{0}[^{0}\\]*+(?:(?:\\.|{0}{{1,2}}(?!{0}))[^{0}\\]*+)*+{0}{0}{0}"
_TERMINALS = {
    "var": rf"[?$][{_BASE}_0-9][{_BASE}_0-9{_MARKS}]*+",
    "pname": rf"(?:[{_BASE}](?:\.*+[{_CHARS}])*+)?+:"
    rf"(?:(?:[{_BASE}_:0-9]|{_PLX})(?:\.*+(?:[{_CHARS}:]|{_PLX}))*+)?+",
    "word": r"[A-Za-z][A-Za-z0-9_]*+",
    "iri": r"<[^<>\"{}|^`\\\x00-\x20]*+>",
    "string": "|".join(form.format(quote) for quote in "\"'" for form in (_LONG, _SHORT)),
    "double": r"(?:[0-9]++\.[0-9]*+|\.[0-9]++|[0-9]++)[eE][+-]?[0-9]++",
    "decimal": r"[0-9]*+\.[0-9]++",
    "integer": r"[0-9]++",
    "lang": r"@[A-Za-z]++(?:-[A-Za-z0-9]++)*+",
    "blank": rf"_:[{_BASE}_0-9](?:\.*+[{_CHARS}])*+",
    "sign": r"\^\^|\|\||&&|!=|<=|>=|[{}()\[\],;.=<>!+\-*/|^?]",
}
_TOKEN = compiled("|".join(f"(?P<{name}>{form})" for name, form in _TERMINALS.items()), re.DOTALL)
_SPACE = compiled(r"(?:[ \t\r\n]++|#[^\r\n]*+)*+")
_LINES = re.compile(r"\r\n?|\n")
_COMMENT = re.compile(r"#[^\r\n]*+")
# An even run of backslashes before it makes the `u` ordinary text.
_CODEPOINT = compiled(r"(?<!\\)((?:\\\\)*+)(?:\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8}))")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}
_PRINTED = str.maketrans({character: f"\\{name}" for name, character in _ESCAPES.items() if name != "'"})


class SparqlToken(NamedTuple):
    """One terminal.

    Attributes:
        key: What it is: a word in upper case, a sign, or the kind of terminal in lower case.
        text: How it is printed.
        value: What it stands for: an IRI without brackets, a string's content, a variable's name.
        start: Where it begins in the text that was read.
        end: Where it ends there.
    """

    key: str
    text: str
    value: str
    start: int
    end: int


class Tokens:
    r"""A text as tokens; the last of them is the end.

    Args:
        text: A query or an update.
        kind: `query` or `update`, which says what words may stand in it.
        deadline: When reading must have come to its end, on the monotonic clock.

    Raises:
        QueryTimeout: At the deadline.
        QueryRefused: At a character that begins no terminal, or a word that is not allowed.

    Example:
        >>> Tokens("SELECT * { # all\r  ?s ?p '''a\nb''' }").printed()
        'SELECT * {\n  ?s ?p "a\\nb" }'
        >>> Tokens("ASK { SERVICE <http://a.example/> {} }")
        Traceback (most recent call last):
        mrag.errors.QueryRefused: SERVICE is not allowed: a query may not call other servers...
    """

    def __init__(self, text: str, kind: str = "query", deadline: float = math.inf) -> None:
        self.given = text
        self.kind = kind
        self._deadline = deadline
        self.source = text = resolve_codepoints(text.removeprefix("\ufeff"))
        self._words = _WORDS[kind]
        self.tokens: list[SparqlToken] = []
        note, match, skip = self.tokens.append, _TOKEN.match, _SPACE.match
        at = skip(text).end()  # type: ignore[union-attr]
        end = len(text)
        while at < end:
            found = match(text, at)
            if found is None:
                raise self._unknown(at)
            note(self._token(found))
            at = skip(text, found.end()).end()  # type: ignore[union-attr]
            if not len(self.tokens) % CHECKED:
                self.check_time()
        note(SparqlToken("end", "", "", end, end))

    def check_time(self) -> None:
        """Stop at the deadline."""
        if time.monotonic() > self._deadline:
            raise QueryTimeout(
                f"The {self.kind} could not be read before its deadline.",
                query=self.given,
                hint="Make it shorter, or allow more seconds.",
            )

    def printed(
        self, first: int = 0, last: int | None = None, instead: Mapping[int, str] | None = None
    ) -> str:
        """Print tokens as SPARQL, on the lines on which they stood.

        Args:
            first: Number of the first.
            last: Number behind the last; all by default.
            instead: What is printed in place of some, by number.
        """
        parts: list[str] = []
        before = None
        for number in range(first, len(self.tokens) - 1 if last is None else last):
            token = self.tokens[number]
            if before is not None:
                parts.append(self._gap(before, token))
            parts.append(instead[number] if instead and number in instead else token.text)
            before = token
        return "".join(parts)

    def place(self, token: SparqlToken) -> str:
        """Return where a token stands, for messages."""
        lines = _LINES.split(self.source[: token.start])
        return f"line {len(lines)}, column {len(lines[-1]) + 1}"

    def replace(self, number: int, iri: str) -> None:
        """Print a token as this IRI from now on."""
        self.tokens[number] = self.tokens[number]._replace(key="iri", text=f"<{iri}>", value=iri)

    def spell(self, number: int, text: str) -> None:
        """Print a token as other text from now on."""
        self.tokens[number] = self.tokens[number]._replace(text=text)

    def forbidden(self, what: str, token: SparqlToken) -> QueryRefused:
        """Return the error that names what is not allowed, and where it stands."""
        return QueryRefused(f"{what}, at {self.place(token)}.", query=self.given)

    def as_less_than(self, number: int) -> None:
        """Read a token that looks like an IRI as the sign `<` and what follows.

        `?a<?b&&?c>?d` holds no IRI, though the longest match (section 19.8) says so; engines read it as
        two comparisons, and so do people.
        """
        start = self.tokens[number].start
        inside = self.tokens[number].end
        parts = [SparqlToken("<", "<", "", start, start + 1)]
        at = start + 1
        while at < inside:
            found = _TOKEN.match(self.source, at)
            if found is None:
                raise self._unknown(at)
            parts.append(self._token(found))
            at = _SPACE.match(self.source, found.end()).end()  # type: ignore[union-attr]
        rest = number + 1
        while self.tokens[rest].start < at and self.tokens[rest].key != "end":
            rest += 1
        self.tokens[number:rest] = parts

    def _token(self, found: re.Match[str]) -> SparqlToken:
        kind, text = found.lastgroup, found[0]
        start, end = found.span()
        match kind:
            case "word":
                return self._word(text, start, end)
            case "sign":
                return SparqlToken(text, text, "", start, end)
            case "var" | "lang":
                return SparqlToken(kind, f"?{text[1:]}" if kind == "var" else text, text[1:], start, end)
            case "iri":
                return SparqlToken("iri", text, text[1:-1], start, end)
            case "string":
                return self._string(text, start, end)
            case _:
                return SparqlToken(str(kind), text, text, start, end)

    def _word(self, text: str, start: int, end: int) -> SparqlToken:
        key = text.upper()
        if key == "A" and text == "a":
            return SparqlToken("a", "a", "a", start, end)
        if key in self._words and key != "A":
            return SparqlToken(key, text, text, start, end)
        raise self._not_allowed(key, text, SparqlToken(key, text, text, start, end))

    def _string(self, text: str, start: int, end: int) -> SparqlToken:
        quotes = 3 if text[:3] in ('"""', "'''") and len(text) >= 6 else 1
        value = text[quotes:-quotes]
        if "\\" in value:
            value = _ESCAPE.sub(self._unescaped, value)
        return SparqlToken("string", f'"{value.translate(_PRINTED)}"', value, start, end)

    def _unescaped(self, found: re.Match[str]) -> str:
        if found[1] not in _ESCAPES:
            raise QueryRefused(f"No such escape in a string: {found[0]!r}.", query=self.given)
        return _ESCAPES[found[1]]

    def _not_allowed(self, key: str, text: str, token: SparqlToken) -> QueryRefused:
        if key in CALLING:
            return QueryRefused(
                "SERVICE is not allowed: a query may not call other servers.",
                query=self.given,
                hint="Load that data here and query it.",
            )
        if key in WRITING:
            return QueryRefused(
                f"Not a SPARQL query: {key} belongs to an update.",
                query=self.given,
                hint=EXPECTED["query"],
            )
        return QueryRefused(
            f"Not a SPARQL {self.kind}: unknown word {text!r} at {self.place(token)}.",
            query=self.given,
            hint=EXPECTED[self.kind],
        )

    def _unknown(self, at: int) -> QueryRefused:
        token = SparqlToken("", "", "", at, at)
        what = "a string that does not end" if self.source[at] in "\"'" else repr(self.source[at])
        return QueryRefused(f"Not a SPARQL {self.kind}: {what} at {self.place(token)}.", query=self.given)

    def _gap(self, before: SparqlToken, after: SparqlToken) -> str:
        if before.end == after.start and (
            before.key in _CLOSED_BEHIND
            or (after.key in _CLOSED_BEFORE and before.key != "<")
            or (before.key in "+-" and after.key in NUMBERS)
        ):
            return ""
        gap = self.source[before.end : after.start]
        if "\n" not in gap and "\r" not in gap:
            return " "
        # A comment goes, the line that it stood on stays.
        return "\n" + " " * len(_LINES.split(_COMMENT.sub("", gap))[-1].expandtabs(4))


# Beside these signs no white space is needed: they neither begin nor continue another terminal.
_CLOSED_BEHIND = frozenset("({[,;")
_CLOSED_BEFORE = frozenset("(){}[],;")


def resolve_codepoints(text: str) -> str:
    r"""Resolve codepoint escapes (SPARQL 1.1 Query, section 19.2).

    Raises:
        QueryRefused: If one names no character, or stands for syntax.

    Example:
        >>> resolve_codepoints("ASK { ?s ?p 'caf\\u00E9' }")
        "ASK { ?s ?p 'café' }"
    """

    def replace(match: re.Match[str]) -> str:
        code = int(match[2] or match[3], 16)
        if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            raise QueryRefused("A codepoint escape names no character.", query=text, term=match[0])
        character = chr(code)
        if character in "\"'\\\r\n<>{}#":
            # As a character it would be syntax; spelled out it is only what the grammar makes of it.
            raise QueryRefused("A codepoint escape may not stand for syntax.", query=text, term=match[0])
        return match[1] + character

    if "\\u" not in text and "\\U" not in text:
        return text
    return _CODEPOINT.sub(replace, text)
