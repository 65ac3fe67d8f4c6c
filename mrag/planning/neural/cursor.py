"""The words of a statement, read one after the other."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TypeVar, cast

from rdflib import Literal

from mrag.errors import ConfigError
from mrag.planning.plan import Relation

_TOKEN = re.compile(r"\s*(?:('(?:[^']|'')*')|(\d+(?:\.\d+)?)|([A-Za-z]\w*)|(<=|>=|!=|<>|[-=<>(),.*/+]))")
T = TypeVar("T")


class Cursor:
    """A place in a text; what is read there is looked at, taken, or refused.

    Args:
        text: The text.

    Raises:
        ConfigError: If a part of it is no token.
    """

    def __init__(self, text: str) -> None:
        self._tokens = list(_tokens(text))
        self._at = 0

    def _several(self, read: Callable[[], T], between: str = ",") -> list[T]:
        found = [read()]
        while self._taken(between):
            found.append(read())
        return found

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _is(self, word: str) -> bool:
        return self._peek().upper() == word.upper()

    def _next(self) -> str:
        if self._at >= len(self._tokens):
            raise ConfigError("The statement breaks off.")
        self._at += 1
        return self._tokens[self._at - 1]

    def _taken(self, word: str) -> bool:
        found = self._is(word)
        self._at += found
        return found

    def _skip(self, word: str) -> None:
        if not self._taken(word):
            raise self._wrong(f"not {word}")

    def _relation(self) -> Relation:
        found = self._next().replace("<>", "!=")
        if found not in ("=", "!=", "<", "<=", ">", ">="):
            raise self._wrong("no comparison")
        return cast(Relation, found)

    def _number(self) -> Literal:
        sign = "-" if self._taken("-") else ""
        token = self._next()
        if token[:1] == "'":
            return Literal(token[1:-1])
        if not token[:1].isdigit():
            raise self._wrong("no number")
        return Literal(int(sign + token)) if "." not in token else Literal(float(sign + token))

    def _text(self) -> str:
        if self._peek()[:1] != "'":
            raise self._wrong("no text")
        return self._next()[1:-1].replace("''", "'")

    def _wrong(self, what: str) -> ConfigError:
        return ConfigError(
            f"Not a statement: {' '.join(self._tokens[max(0, self._at - 1) :])[:40]!r} is {what}."
        )


def _tokens(text: str) -> Iterator[str]:
    at, text = 0, text.strip().rstrip(";").rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise ConfigError(f"Not a statement: it goes on with {text[at : at + 20]!r}.")
        yield match[0].strip()
        at = match.end()
