"""What a model writes as SQL, as the parts of a statement."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias, TypeVar, Union

from rdflib import Literal

from mrag.errors import ConfigError
from mrag.language.possessive import compile_late

T = TypeVar("T")
SqlPath: TypeAlias = tuple[str, ...]
"""A table, and columns that lead from its things to others."""
SqlPart: TypeAlias = Union["SqlPair", "SqlCall", "SqlSelect", SqlPath, Literal, None]
"""A part of a statement; a literal without a datatype is a text."""


@dataclass(frozen=True)
class SqlPair:
    """Two parts with a sign or a word between them, in capitals."""

    sign: str
    left: SqlPart
    right: SqlPart


@dataclass(frozen=True)
class SqlCall:
    """A function, in capitals, of some parts; the condition and the value of a case, or the values of a list.

    Attributes:
        name: The function, "CASE" or "LIST".
        parts: What it is called with; nothing for `COUNT(*)`.
        different: Whether it says `DISTINCT`.
        only: What has to hold of what it folds.
    """

    name: str
    parts: tuple[SqlPart, ...]
    different: bool = False
    only: SqlPart = None


@dataclass(frozen=True)
class SqlSelect:
    """A statement, or one in another; `items` is empty for `*`, and `table` where there is no `FROM`."""

    items: tuple[SqlPart, ...]
    table: str = ""
    joins: tuple[tuple[str, SqlPart, bool], ...] = ()  # A table, on what, and whether it has to be there
    where: SqlPart = None
    group: tuple[SqlPart, ...] = ()
    having: SqlPart = None
    order: tuple[tuple[SqlPart, bool], ...] = ()  # A key, and whether what is most comes first
    limit: SqlPart = None


def conjuncts(part: SqlPart, sign: str = "AND") -> Iterator[SqlPart]:
    """Yield the parts that a word joins."""
    if isinstance(part, SqlPair) and part.sign == sign:
        yield from conjuncts(part.left, sign)
        yield from conjuncts(part.right, sign)
    elif part is not None:
        yield part


def paths_in(part: SqlPart) -> Iterator[SqlPath]:
    """Yield the paths of a part, without those of statements in it."""
    if isinstance(part, tuple):
        yield part
    elif isinstance(part, SqlPair | SqlCall):
        parts = (part.left, part.right) if isinstance(part, SqlPair) else (*part.parts, part.only)
        for one in parts:
            yield from paths_in(one)


def parsed(text: str) -> SqlSelect:
    """Return the parts of a statement.

    Args:
        text: The statement.

    Raises:
        ConfigError: If it is none, or is longer than a question needs.

    Example:
        >>> parsed("SELECT MAX(film.year) FROM film").items
        (SqlCall(name='MAX', parts=(('film', 'year'),), different=False, only=None),)
    """
    if len(text) > _LONGEST:
        raise ConfigError(f"The statement has more than {_LONGEST:,} characters.")
    return _Parser(list(_tokens(text))).whole()


_LONGEST: Final = 2_000
_DEEPEST: Final = 12
"""Brackets in brackets."""
_MOST: Final = 12
"""Parts between which one kind of signs stands."""
_TOKEN = compile_late(r"\s*(?:('(?:[^']|'')*')|(\d+(?:\.\d+)?)|([A-Za-z]\w*)|(<=|>=|!=|<>|[-=<>(),.*/+]))")
_LEVELS: Final = (("OR",), ("AND",), ("=", "!=", "<>", "<", "<=", ">", ">="), ("+", "-"), ("*", "/"))
"""What joins parts, what binds least first."""
_COMPARED: Final = 2


def _tokens(text: str) -> Iterator[str]:
    at, text, depth = 0, text.strip().rstrip(";").rstrip(), 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise ConfigError(f"Not a statement: it goes on with {text[at : at + 20]!r}.")
        yield match[0].strip()
        depth += {"(": 1, ")": -1}.get(match[0].strip(), 0)
        if depth > _DEEPEST:
            raise ConfigError(f"Not a statement: it has more than {_DEEPEST} brackets in each other.")
        at = match.end()


class _Parser:
    """Reads a statement from left to right; what comes next is looked at, taken, or refused."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens, self._at = tokens, 0
        self._called: dict[str, SqlPart] = {}  # what is selected under another name

    def select(self) -> SqlSelect:
        self._skip("SELECT")
        self._taken("DISTINCT")
        items = () if self._taken("*") else tuple(self._several(self._item))
        if not self._taken("FROM"):
            return SqlSelect(items)
        table, joins = self._next(), []
        while self._is("JOIN") or self._is("LEFT"):
            outer = self._taken("LEFT")
            self._skip("JOIN")
            name = self._next()
            self._skip("ON")
            joins.append((name, self._part(_COMPARED), not outer))
        where = self._part() if self._taken("WHERE") else None
        group = self._several(self._part) if self._taken("GROUP", "BY") else []
        having = self._part() if self._taken("HAVING") else None
        order = self._several(self._key) if self._taken("ORDER", "BY") else []
        limit = self._number() if self._taken("LIMIT") else None
        return SqlSelect(items, table, tuple(joins), where, tuple(group), having, tuple(order), limit)

    def whole(self) -> SqlSelect:
        found = self.select()
        if self._at < len(self._tokens):
            raise self._wrong("not expected")
        return found

    def _within(self, read: Callable[[], T]) -> T | SqlSelect:
        """Read what ends with a bracket: another statement, or something else."""
        found = self.select() if self._is("SELECT") else read()
        self._skip(")")
        return found

    def _item(self) -> SqlPart:
        found = self._part()
        if self._taken("AS"):
            self._called[self._next()] = found
        return found

    def _key(self) -> tuple[SqlPart, bool]:
        key, descending = self._part(), self._taken("DESC")
        self._taken("ASC")
        return key, descending

    def _part(self, level: int = 0) -> SqlPart:
        """Read what signs of a level join, and of those that bind more."""
        if level == len(_LEVELS):
            return self._atom()
        found, several = self._part(level + 1), 1
        if level == _COMPARED and not self._is(*_LEVELS[level]):
            return self._held(found)
        while self._is(*_LEVELS[level]) and (several := several + 1) <= _MOST:
            sign = self._next().upper().replace("<>", "!=")
            found = SqlPair(sign, found, self._part(level + 1))
        return found

    def _held(self, left: SqlPart) -> SqlPart:
        """Read what words say of a part."""
        if self._taken("IS"):
            sign = "IS NOT" if self._taken("NOT") else "IS"
            self._skip("NULL")
            return SqlPair(sign, left, None)
        if self._taken("LIKE"):
            return SqlPair("LIKE", left, self._text())
        if self._taken("BETWEEN"):
            least = self._part(_COMPARED + 1)
            self._skip("AND")
            return SqlPair("AND", SqlPair(">=", left, least), SqlPair("<=", left, self._part(_COMPARED + 1)))
        sign = "NOT IN" if self._taken("NOT") else "IN"
        if self._taken("IN"):
            self._skip("(")
            listed = self._within(lambda: SqlCall("LIST", tuple(self._several(self._atom))))
            return SqlPair(sign, left, listed)
        if sign == "NOT IN":
            raise self._wrong("not IN")
        return left

    def _atom(self) -> SqlPart:
        if self._taken("("):
            return self._within(self._part)
        if self._peek()[:1] == "'":
            return self._text()
        if self._is("-") or self._peek()[:1].isdigit():
            return self._number()
        name = self._next()
        if self._is("."):
            path = [name]
            while self._taken("."):
                path.append(self._next())
            return tuple(path)
        if name.lower() in ("true", "false"):
            return Literal(name.lower() == "true")
        if name.upper() == "CASE":
            return self._case()
        if name in self._called:
            return self._called[name]
        if not self._taken("("):
            raise self._wrong("not (")
        return self._call(name.upper())

    def _call(self, name: str) -> SqlCall:
        different = self._taken("DISTINCT")
        found = self._within(lambda: [] if self._taken("*") else self._several(self._part))
        parts, only = ((found,) if isinstance(found, SqlSelect) else tuple(found)), None
        if self._taken("FILTER"):
            self._skip("(")
            self._skip("WHERE")
            only = self._within(self._part)
        return SqlCall(name, parts, different, only)

    def _case(self) -> SqlCall:
        self._skip("WHEN")
        condition = self._part()
        self._skip("THEN")
        value = self._part()
        if self._taken("ELSE") and not self._taken("NULL"):
            self._skip("0")
        self._skip("END")
        return SqlCall("CASE", (condition, value))

    def _number(self) -> Literal:
        sign = "-" if self._taken("-") else ""
        token = self._next()
        if not token[:1].isdigit():
            raise self._wrong("no number")
        return Literal(int(sign + token)) if "." not in token else Literal(float(sign + token))

    def _text(self) -> Literal:
        if self._peek()[:1] != "'":
            raise self._wrong("no text")
        return Literal(self._next()[1:-1].replace("''", "'"))

    # -- tokens ------------------------------------------------------------------------------------

    def _several(self, read: Callable[[], T]) -> list[T]:
        found = [read()]
        while self._taken(","):
            found.append(read())
        return found

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _is(self, *words: str) -> bool:
        return self._peek().upper() in words

    def _next(self) -> str:
        if self._at >= len(self._tokens):
            raise ConfigError("The statement breaks off.")
        self._at += 1
        return self._tokens[self._at - 1]

    def _taken(self, word: str, *more: str) -> bool:
        if not self._is(word):
            return False
        self._at += 1
        for other in more:
            self._skip(other)
        return True

    def _skip(self, word: str) -> None:
        if not self._taken(word):
            raise self._wrong(f"not {word}")

    def _wrong(self, what: str) -> ConfigError:
        return ConfigError(
            f"Not a statement: {' '.join(self._tokens[max(0, self._at - 1) :])[:40]!r} is {what}."
        )
