"""Questions in English as they are read: without words that only ask politely, and spelt as they are meant.

What is a word of English is never taken for a slip, nor is what names something in the graph. What it is
mended to is a word that the graph or this package reads, begins alike, and is the only one that is so near.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from functools import cache, cached_property
from typing import Final

from mrag.index.embedding import word_pieces
from mrag.language.english import (
    SpellingIndex,
    distance,
    edits_allowed,
    is_empty,
    is_everyday,
    positive,
    root,
)
from mrag.language.grammar import plural
from mrag.language.tokens import TextToken, tokens
from mrag.language.tokens import words as words_of
from mrag.planning.lexicon import Lexicon
from mrag.planning.reader.units import meanings

_ENDINGS: Final = ("s", "es", "d", "ed", "ing", "er", "r", "est", "ly", "ship", "'s")
"""Endings of forms of words."""
_NAMED: Final = ("exact", "inflected", "tokens", "synonym")
_PLAIN: Final = words_of("me us please a an of out up in for about it is are been that there")
"""Words beside one that asks to be told that are not polite by themselves: "give me a list of"."""
_KNOWING: Final = words_of("know learn see understand")  # Words behind which stands what is asked for
_MOST: Final = 0.8  # How like a name of a thing a word is at least that is rather a slip in that name


@cache
def _english() -> Mapping[str, tuple[str, ...]]:
    """Return the commonest words of English by their roots."""
    found: dict[str, list[str]] = {}
    for word in (w for w in word_pieces() if w in _words()):
        found.setdefault(root(word), []).append(word)
    return {own: tuple(some) for own, some in found.items()}


@cache
def _words() -> frozenset[str]:
    return frozenset(re.findall("(?m)^[a-z]{4,}$", "\n".join(word_pieces())))


@cache
def _read() -> frozenset[str]:
    """Return the words that are read whatever the graph is about."""
    cues = {word for phrase in meanings("cues.tsv") for word in phrase}
    return frozenset(w for w in _words() if is_everyday(w) or positive(w) is not None) | cues


def _is_word(word: str) -> bool:
    """Return whether a word is one of English, or a form of one."""
    if not word.isalpha() or len(word) < 4 or is_empty(word) or word in _words() or word in _read():
        return True
    bases = [word.removesuffix(end) for end in _ENDINGS if word.endswith(end) and len(word) > len(end) + 2]
    return any(b in _words() or (b[:-1] in _words() and b[-1:] == b[-2:-1]) for b in bases)


class PlainEnglish:
    """Reads over one graph what is meant by a question in English.

    Args:
        lexicon: The names of the graph.

    Example:
        >>> import mrag
        >>> from mrag.planning.lexicon import lexicon_of
        >>> kg = mrag.demo(model="none")
        >>> plain = PlainEnglish(lexicon_of(kg, None))
        >>> plain.of("Could you please tell me how many tripel stores there are?")[0]
        'how many triple stores there are?'
        >>> kg.close()
    """

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon

    def of(self, question: str) -> tuple[str, tuple[tuple[int, int], ...]]:
        """Return a question as it is read, and which of its words each word of that stands for.

        There are no places where nothing changes.
        """
        words = tokens(question)
        low = [t.raw.lower().replace("\u2019", "'") for t in words]
        first = _introduction(low)
        if first and self._is_named(words, question, first):
            first = 0
        instead = self._mended(words, low, question, first)
        if first and low[first - 1] == "you":
            instead.setdefault(first, root(low[first]))
        if not first and not instead:
            return question, ()
        kept = range(first, len(words))
        said = [instead.get(at, words[at].raw) for at in kept]
        text = "".join(f"{word}{words[at].after}" for at, word in zip(kept, said, strict=True))
        whole = len(tokens(text)) == len(said)
        return (text, tuple((at, at + 1) for at in kept)) if whole else (question, ())

    def _is_named(self, words: Sequence[TextToken], question: str, first: int) -> bool:
        """Return whether words at the beginning are part of a name of several words."""
        names = (m for m in self.lexicon.match(words, question) if m.end - m.start > 1 and m.start < first)
        return any(c.way == "exact" for m in names for c in m.candidates)

    # Spelling

    def _mended(
        self, words: Sequence[TextToken], low: Sequence[str], question: str, first: int
    ) -> dict[int, str]:
        """Return what stands in the place of words that are misspelt."""
        found = dict[int, str]()
        for at in range(first, len(low)):
            small = words[at].raw.islower() or (at == first and words[at].raw[1:].islower())
            if small and not _is_word(low[at]) and (other := self._spelt(low[at])):
                found[at] = other
        if not found:
            return found
        for m in self.lexicon.match(words, question):
            named = any(
                c.way in _NAMED or (c.way == "spelling" and c.score >= _MOST and m.end - m.start > 1)
                for c in m.candidates
            )
            for at in range(m.start, m.end) if named else ():
                found.pop(at, None)
        return found

    def _spelt(self, word: str) -> str:
        """Return the one word that is read and that another one may be a slip of; "" if there is none."""
        index, known = self._index
        some: list[str] = [known[at] for at in index.near(word, 1).tolist()]
        near = [w for w in some if w[0] == word[0] and distance(word, w, 1) == 1]
        turned = [w for w in near if sorted(w) == sorted(word)]
        best = turned or [w for w in near if w in self._own] or near
        best.sort(key=lambda w: (abs(len(w) - len(word)), w))
        return best[0] if len({root(w) for w in best}) == 1 else ""

    @cached_property
    def _own(self) -> Set[str]:
        """Return the words of the names of classes and properties, in all their forms."""
        names = {w.lower() for name in self.lexicon.words.names for w in name.name.split() if w.isalpha()}
        roots = {own for name in self.lexicon.words.names for own in name.roots}
        forms = (word for own in sorted(roots) for word in _english().get(own, ()))
        return {w for w in (*names, *map(plural, names), *forms) if edits_allowed(w)}

    @cached_property
    def _index(self) -> tuple[SpellingIndex, Sequence[str]]:
        known = sorted(self._own | {w for w in _read() if edits_allowed(w)})
        return SpellingIndex.of(known), known


# Politeness


def _introduction(low: Sequence[str]) -> int:
    """Return how many words at the beginning only ask politely: "could you tell me", "I wonder"."""
    table = meanings("words.tsv")

    def does(at: int, what: str) -> bool:
        return what in table.get((low[at],), ())

    def denies(at: int) -> bool:
        return low[at] == "not" and low[at + 1 : at + 2] not in (["too"], ["mind"])

    end = asks = 0
    while end < len(low) and (does(end, "courtesy") or does(end, "telling")) and not denies(end):
        asks = end if does(end, "telling") else asks
        end += 1
    if end == len(low):
        return 0
    asks = end if does(end, "asking") else asks
    if not any(does(at, "courtesy") and low[at] not in _PLAIN for at in range(asks or end)):
        return 0
    if asks == end:
        return end
    if low[end - 1] == "you" and (root(low[end]),) in table and "telling" in table[root(low[end]),]:
        return end  # "I would be glad if you listed"
    return asks or (end if low[end - 1] in _KNOWING else 0)
