"""Tokenisers: from text to the numbers that clues are made of, and back."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Final, Protocol, runtime_checkable


@runtime_checkable
class Tokeniser(Protocol):
    """Turns text into token ids and back.

    Attributes:
        name: What it is called, for people.
        fingerprint: Differs between tokenisers that give other ids; kept with an index.
        vocabulary: Number of ids; each is below it.
        end: Id of the token that ends a text.
    """

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def fingerprint(self) -> str: ...  # noqa: D102
    @property
    def vocabulary(self) -> int: ...  # noqa: D102
    @property
    def end(self) -> int: ...  # noqa: D102

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text, with no beginning or end added and no control tokens read from it."""

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of ids; control tokens give none."""


class ByteTokeniser:
    """Takes each byte of UTF-8 as a token: exact for every text, needs no model.

    Example:
        >>> tokens = ByteTokeniser()
        >>> tokens.encode(" é"), tokens.decode([32, 195, 169, tokens.end])
        ([32, 195, 169], ' é')
    """

    name: Final = "bytes"
    fingerprint: Final = hashlib.blake2b(b"bytes", digest_size=16).hexdigest()
    vocabulary: Final = 257
    end: Final = 256

    def encode(self, text: str) -> list[int]:
        """Return the bytes of a text."""
        return list(text.encode("utf-8", "surrogatepass"))

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of bytes; what is no UTF-8, as in half a letter, shows as a replacement sign."""
        return bytes(i for i in ids if i < 256).decode("utf-8", "replace")


def spaced(text: str) -> str:
    """Return a text as it is indexed: white space joined, and one space before it.

    A word at the beginning of a text and the same word after a space are different tokens for most
    tokenisers. With the space a document's first words are the tokens that a model writes after a prompt
    that ends without one.

    Example:
        >>> spaced("GraphDB is a\\n triple store")
        ' GraphDB is a triple store'
    """
    return " " + " ".join(text.split())


def document_tokens(tokeniser: Tokeniser, text: str) -> list[int]:
    """Return the tokens of a document's text, with the space that `spaced` puts before it."""
    return tokeniser.encode(spaced(text))


def clue_text(tokeniser: Tokeniser, tokens: Sequence[int]) -> str:
    """Return a clue as people read it."""
    return tokeniser.decode(t for t in tokens if t != tokeniser.end).strip()
