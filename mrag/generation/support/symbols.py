"""A sentence as symbols: its words and the marks that mean something, with what each may name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from mrag.generation.support.mentions import TermMention
from mrag.generation.support.roots import root
from mrag.rdf.terms import Term
from mrag.text.tokens import TextToken, plain

_DECORATION: Final = frozenset("\"'“”‘’„«»*_`#…´.?!")
"""Marks that mean nothing in a sentence: quotation marks and those of Markdown, and the stop at its end."""
_OWNS: Final = re.compile(r"['’´`ʼ]s?\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Symbol:
    """A word or a mark.

    Attributes:
        low: As written, in small letters and without a possessive ending.
        key: Folded.
        stem: Its root.
        start: Where it begins in the text.
        end: Where it ends.
        names: What a name that begins here may stand for, each with how many symbols the name has.
        is_mark: Whether it is no word.
    """

    low: str
    key: str
    stem: str
    start: int
    end: int
    names: tuple[tuple[int, frozenset[Term]], ...] = ()
    is_mark: bool = False


def symbols_of(text: str, words: Sequence[TextToken], mentions: Sequence[TermMention]) -> list[Symbol]:
    """Return a sentence as symbols.

    Args:
        text: The sentence.
        words: Its words.
        mentions: Where it names something.

    Example:
        >>> from mrag.text.tokens import tokens
        >>> text = "GraphDB's price (in $) is 5."
        >>> [s.low for s in symbols_of(text, tokens(text), [])]
        ['graphdb', "'s", 'price', '(', 'in', '$', ')', 'is', '5']
    """
    made: list[Symbol] = []
    at_word: list[int] = []
    inside = [0] * (len(words) + 1)
    for mention in mentions:
        for i in range(max(mention.first, 0), mention.last - 1):
            inside[i + 1] = 1
    last = 0
    for i, word in enumerate(words):
        gap = text[last : word.start]
        if not inside[i]:
            made.extend(_marks(gap, last))
        at_word.append(len(made))
        low = plain(word.raw).casefold()
        made.append(Symbol(low, word.key, root(low), word.start, word.end))
        owner = _OWNS.search(word.raw)
        if owner and len(owner.group()) < len(word.raw):
            made.append(Symbol("'s", "'s", "'s", word.end, word.end, is_mark=True))
        last = word.end
        if (
            text[last : last + 2] in ("' ", "’ ")
            and word.raw[-1:].casefold() == "s"
            and not _quoted(text, word)
        ):
            made.append(Symbol("'s", "'s", "'s", word.end, word.end, is_mark=True))
        elif re.match(r"['’´]s\b", text[last:]):
            made.append(Symbol("'s", "'s", "'s", word.end, word.end, is_mark=True))
            last += 2
    made.extend(_marks(text[last:], last))
    at_word.append(len(made))
    names: dict[int, list[tuple[int, frozenset[Term]]]] = {}
    for mention in mentions:
        if mention.first < 0 or mention.last <= mention.first:
            continue
        start = at_word[mention.first]
        names.setdefault(start, []).append((at_word[mention.last - 1] + 1 - start, mention.terms))
    return [replace(symbol, names=tuple(names.get(i, ()))) for i, symbol in enumerate(made)]


def _marks(gap: str, start: int) -> list[Symbol]:
    found = []
    for i, c in enumerate(gap):
        if c.isspace() or c in _DECORATION:
            continue
        low = "–" if c in "–—-" else c
        if low == "–" and 0 < i < len(gap) - 1 and not (gap[i - 1].isspace() and gap[i + 1].isspace()):
            continue
        if low == "–" and len(gap) == 1:
            continue  # a hyphen within a word
        found.append(Symbol(low, low, low, start + i, start + i + 1, is_mark=True))
    return found


def _quoted(text: str, word: TextToken) -> bool:
    return word.start > 0 and text[: word.start].count("'") % 2 == 1
