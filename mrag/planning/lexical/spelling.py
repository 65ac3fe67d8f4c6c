"""Words that are spelt nearly alike, found by what is left when letters are taken out.

Two words within some edits of each other have a form in common that each of them becomes by as many deletions
(W. Garbe's symmetric deletion). Only the first letters of a word are indexed so, and the words found are then
compared in full.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import combinations
from typing import Final

import numpy as np
import numpy.typing as npt

Hashes = npt.NDArray[np.uint64]
Places = npt.NDArray[np.int64]

_PREFIX: Final = 7
_SHORTEST: Final = 4
_LONG: Final = 8
_PRIME: Final = np.uint64(1099511628211)
_LOW: Final = np.uint64(0xFFFFFFFF)
_HIGH: Final = np.uint64(0xFFFFFFFF00000000)
_BASIS: Final = np.uint64(14695981039346656037)


def edits_allowed(word: str) -> int:
    """Return how many edits a word may be away: none below 4 letters, one to 7, two from 8 on."""
    return 0 if len(word) < _SHORTEST or not word.isalpha() else 1 if len(word) < _LONG else 2


class SpellingIndex:
    """Words by their deletions.

    Args:
        forms: In each the hash of a deletion and, in its lower half, the word that it comes from, ascending.

    Example:
        >>> index = SpellingIndex.of(["kurosawa", "lopez", "rome"])
        >>> [index.near(word, 1).tolist() for word in ("kurosvaw", "lpez", "roma")]
        [[0], [1], [2]]
    """

    def __init__(self, forms: Hashes) -> None:
        self.forms = forms

    @classmethod
    def of(cls, words: Sequence[str]) -> SpellingIndex:
        """Return the index of words, which go by their place."""
        forms: list[Hashes] = []
        by_size: dict[tuple[int, int], list[int]] = {}
        for at, word in enumerate(words):
            if edits := edits_allowed(word):
                by_size.setdefault((min(len(word), _PREFIX), edits), []).append(at)
        for (size, edits), group in sorted(by_size.items()):
            letters = np.array([list(map(ord, words[at][:size])) for at in group], dtype=np.uint64)
            places = np.array(group, dtype=np.uint64)
            forms.extend(_hashed(letters[:, kept]) | places for kept in _kept(size, edits))
        every = np.concatenate(forms) if forms else np.empty(0, np.uint64)
        forms.clear()
        every.sort()
        return cls(every)

    def with_words(self, places: Places, fresh: Sequence[tuple[int, str]]) -> SpellingIndex:
        """Return the index after some words have moved, gone or come.

        Args:
            places: The new place of each word; -1 for those that have gone.
            fresh: The words that have come, with their places.
        """
        now = places[(self.forms & _LOW).astype(np.int64)]
        kept = now >= 0
        forms = (self.forms[kept] & _HIGH) | now[kept].astype(np.uint64)
        new = SpellingIndex.of([word for _, word in fresh]).forms
        at = np.array([place for place, _ in fresh], np.uint64)
        come = np.sort((new & _HIGH) | at[(new & _LOW).astype(np.int64)]) if len(new) else new
        return SpellingIndex(np.insert(forms, np.searchsorted(forms, come), come))

    def near(self, word: str, edits: int) -> Places:
        """Return the places of words that may be within some edits of a word; some are further away."""
        if not len(self.forms):
            return np.empty(0, np.int64)
        kept = _kept(min(len(word), _PREFIX), edits)
        wanted = np.array(sorted({_hash([ord(word[at]) for at in one]) for one in kept}), dtype=np.uint64)
        starts = np.searchsorted(self.forms, wanted, "left")
        ends = np.searchsorted(self.forms, wanted | _LOW, "right")
        found = [self.forms[a:b] & _LOW for a, b in zip(starts, ends, strict=True) if b > a]
        every = np.concatenate(found) if found else np.empty(0, np.uint64)
        return np.unique(every).astype(np.int64)


def distance(a: str, b: str, most: int) -> int:
    """Return how many letters are put in, left out, changed or swapped with the next between two words.

    Args:
        a: A word.
        b: Another.
        most: Above this the answer is `most + 1`.

    Example:
        >>> distance("lopez", "lpoez", 2), distance("rome", "roma", 2), distance("rome", "paris", 2)
        (1, 1, 3)
    """
    start, end = 0, min(len(a), len(b))
    while start < end and a[start] == b[start]:
        start += 1
    # Of a swap across the border one letter is the same on both sides, so one is left standing.
    start = max(0, start - 1)
    stop = 0
    while stop < end - start - 1 and a[-1 - stop] == b[-1 - stop]:
        stop += 1
    a, b = a[start : len(a) - stop], b[start : len(b) - stop]
    if abs(len(a) - len(b)) > most:
        return most + 1
    far = most + 1
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        now = [far] * (len(b) + 1)
        now[0] = i
        for j in range(max(1, i - most), min(len(b), i + most) + 1):
            y = b[j - 1]
            cost = min(row[j] + 1, now[j - 1] + 1, row[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, before[j - 2] + 1)
            now[j] = cost
        if min(now) > most:
            return far
        before, row = row, now
    return min(row[-1], far)


def _hash(letters: Iterable[int]) -> int:
    found = int(_BASIS)
    for letter in letters:
        found = (found ^ letter) * int(_PRIME) & 0xFFFFFFFFFFFFFFFF
    return found & int(_HIGH)


@lru_cache(maxsize=32)
def _kept(size: int, edits: int) -> list[list[int]]:
    return [
        list(kept)
        for gone in range(edits + 1)
        if size - gone > 1
        for kept in combinations(range(size), size - gone)
    ]


def _hashed(letters: Hashes) -> Hashes:
    found = np.full(len(letters), _BASIS, dtype=np.uint64)
    with np.errstate(over="ignore"):
        for column in range(letters.shape[1]):
            found = (found ^ letters[:, column]) * _PRIME
    return found & _HIGH
