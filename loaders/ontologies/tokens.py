"""Tokens of DL-Learner's files: knowledge bases and configurations have the same words and comments."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final, NamedTuple

from mrag.errors import LoadError

_LEXER: Final = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|\#[^\n]*|/\*.*?\*/)
    |(?P<string>"[^"\\]*")
    |(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
    |(?P<name>[^\W\d]\w*)
    |(?P<sign>>=|<=|[-=+(){}\[\],.;])""",
    re.VERBOSE | re.DOTALL,
)
_END: Final = "the end of the file"


class Token(NamedTuple):
    """A word, string, number or sign, and the line it begins in.

    Attributes:
        kind: `name`, `string`, `number`, `sign` or `end`.
        text: Its text, that of a string without quotation marks.
        line: Counted from 1.
    """

    kind: str
    text: str
    line: int

    def __str__(self) -> str:
        return _END if self.kind == "end" else f'"{self.text}"'


class SourceTokens:
    """The tokens of a file, and how far they have been read.

    Args:
        text: Content of the file.
        file: Its name, for errors.

    Raises:
        LoadError: If a character belongs to no token.

    Example:
        >>> tokens = SourceTokens('male(stefan). // a person', "father.kb")
        >>> [tokens.take().text for _ in range(5)]
        ['male', '(', 'stefan', ')', '.']
        >>> tokens.peek().kind
        'end'
    """

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self.at = 0
        self._found: list[Token] = []
        line, at = 1, 0
        while at < len(text):
            match = _LEXER.match(text, at)
            if match is None:
                raise LoadError(f"{text[at]!r} cannot stand here.", file=file, line=line)
            kind = str(match.lastgroup)
            if kind != "skip":
                self._found.append(Token(kind, match[0].strip('"') if kind == "string" else match[0], line))
            line += match[0].count("\n")
            at = match.end()
        self._found.append(Token("end", "", line))

    def peek(self, ahead: int = 0) -> Token:
        """Return a token without reading it, the last one past the end."""
        return self._found[min(self.at + ahead, len(self._found) - 1)]

    def take(self) -> Token:
        """Read a token."""
        token = self.peek()
        self.at += 1
        return token

    def sees(self, *texts: str, ahead: int = 0) -> bool:
        """Return whether a token is one of some words or signs; a string in quotation marks never is."""
        token = self.peek(ahead)
        return token.kind in ("name", "sign") and token.text in texts

    def accepts(self, *texts: str) -> bool:
        """Read a token if it is one of some words or signs, and return whether it was."""
        found = self.sees(*texts)
        self.at += found
        return found

    def expect(self, text: str) -> Token:
        """Read a sign.

        Raises:
            LoadError: If another token stands there.
        """
        if not self.sees(text):
            raise self.error(f'"{text}"')
        return self.take()

    def expect_kind(self, *kinds: str, words: str, reserved: Collection[str] = ()) -> Token:
        """Read a token of some kinds that is no reserved word.

        Args:
            kinds: The kinds.
            words: What they are called in an error.
            reserved: Names that are none here.

        Raises:
            LoadError: If another token stands there.
        """
        token = self.peek()
        if token.kind not in kinds or (token.kind == "name" and token.text in reserved):
            raise self.error(words)
        return self.take()

    def error(self, wanted: str) -> LoadError:
        """Return the error that another token was wanted than the next one."""
        token = self.peek()
        return LoadError(f"Expected {wanted}, found {token}.", file=self.file, line=token.line)
