"""The English of names and questions: stems, synonyms, and how alike spellings are."""

from __future__ import annotations

import gzip
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Final
from typing import Literal as OneOf

import numpy as np
import numpy.typing as npt

from mrag._tables import rows
from mrag.language.tokens import IRREGULAR, PERSON_WORDS, STOP_WORDS, VERBS, fold, keys, stem, words

_EMPTY: Final = frozenset(
    fold(w)
    for w in STOP_WORDS
    | words(
        "am being both each every if him hers itself many more most much only other per please same such "
        "then too"
    )
    | {"very"}
)
_TITLES: Final = words("mr mrs ms miss dr prof professor sir madam mister")

TABLES: Final = defaultdict[str, list[list[str]]](list)
"""The rows of the tables of `english.tsv`."""
for _table, *_row in rows("language/english.tsv"):
    TABLES[_table].append(_row)

BEING: Final = words("is are was were")
AUXILIARIES: Final = BEING | words("has have had do does did")
"""Verbs that ask whether something is so, or that stand before another verb."""

_PAST: Final = {past: verb for verb, forms in TABLES["past"] for past in forms.split()}
"""Past forms of verbs that no ending gives away, beside those of `mrag.language.tokens`."""
_EVENTS: Final = {form: noun for noun, forms in (("death", "die dies died dying"),) for form in forms.split()}
"""Forms of verbs whose noun no ending gives away, to that noun."""

_OTHERS: Final = frozenset("layer liver lier user".split())
"""What is no doer, or, as a user, in too many questions that say "used" of something else."""
_DOERS: Final = {
    doer: verb
    for verb in sorted({*VERBS, *_PAST.values()})
    if len(verb) < 5 and (doer := verb.removesuffix("e") + "er") not in _OTHERS
}
"""Those who do what short verbs say, "owner": `stem` cuts no "er" off words as short as that."""


def is_past(word: str) -> bool:
    """Return whether a word is the past form of a verb.

    Example:
        >>> [w for w in ("drove", "sailed", "river") if is_past(w)]
        ['drove', 'sailed']
    """
    return word in _PAST or word == "died" or (word.endswith("ed") and len(word) > 4)


def is_done(word: str) -> bool:
    """Return whether a word is a verb in the past, or a participle.

    Example:
        >>> [w for w in ("written", "sailed", "people", "river") if is_done(w)]
        ['written', 'sailed']
    """
    return is_past(word) or IRREGULAR.get(word) in VERBS


def is_whoever(noun: str, done: str) -> bool:
    """Return whether a noun is for whoever does what a participle says.

    Example:
        >>> is_whoever("director", "directed"), is_whoever("order", "ordered")
        (True, False)
    """
    return is_role(noun) and noun not in (done.removesuffix("ed"), done.removesuffix("d"))


def is_empty(key: str) -> bool:
    """Return whether a folded word names nothing by itself."""
    return key in _EMPTY


def is_title(key: str) -> bool:
    """Return whether a folded word stands before the names of people."""
    return key in _TITLES


def is_role(word: str) -> bool:
    """Return whether a noun may name somebody by what they do.

    Example:
        >>> [w for w in ("publisher", "editors", "artist", "published", "book") if is_role(w)]
        ['publisher', 'editors', 'artist']
    """
    key = fold(word)
    return key in PERSON_WORDS or (len(key) > 4 and key.endswith(("er", "or", "ist", "ian", "ee", "eur")))


@lru_cache(maxsize=65536)
def root(word: str) -> str:
    """Return what forms of a word share.

    Example:
        >>> {root(w) for w in ("supplies", "supplied", "supplier", "supply")}
        {'supply'}
        >>> root("located") == root("locations"), root("rivers"), root("owners"), root("died")
        (True, 'river', 'own', 'death')
    """
    low = word.lower()
    plain = _EVENTS.get(low, _PAST.get(low, word))
    text = stem(_DOERS.get(low, _DOERS.get(low.removesuffix("s"), plain)))
    return text[:-1] + "y" if len(text) > 3 and text.endswith("i") and text.isascii() else text


Direction = OneOf["greatest", "least"]

GROUPS: Final = tuple(words(alike) for (alike,) in TABLES["alike"])
"""Words that a question may have in the place of each other."""

ALSO: Final = {word: tuple(others.split()) for word, others in TABLES["also"]}
"""What words may mean besides, though not the other way round: a user may not be called a customer."""

CONVERSES: Final[dict[str, tuple[str, ...]]] = {}
for _one, _other in TABLES["converse"]:
    CONVERSES[_one] = (*CONVERSES.get(_one, ()), _other)
    CONVERSES[_other] = (*CONVERSES.get(_other, ()), _one)
"""What a word for one end of a relation is called at the other end: whose student I am is my teacher."""

SPENT: Final = dict.fromkeys(("spend", "pay"), ("amount", "payment", "total", "fee", "price", "cost", "fare"))
"""What verbs of paying may be called as a whole, the likeliest first."""

DIMENSIONS: Final[dict[str, tuple[Direction, str]]] = {
    adjective: ("greatest" if direction == "greatest" else "least", nouns)
    for adjective, direction, nouns in TABLES["measure"]
}
"""The adjectives of a measure, with the nouns it may go by, the likeliest first."""

_IRREGULAR: Final = dict(TABLES["irregular"])


@lru_cache(maxsize=1)
def _everyday() -> frozenset[str]:
    asked = {word for (line,) in TABLES["everyday"] for word in line.split()}
    forms = {
        fold(form) for w in DIMENSIONS for form in (w, w + "er", w + "est", w[:-1] + "ier", w[:-1] + "iest")
    }
    return frozenset(fold(w) for w in asked | VERBS | frozenset().union(*GROUPS)) | forms | set(_IRREGULAR)


def is_everyday(key: str) -> bool:
    """Return whether a folded word is a common one of questions, which is not taken for a misspelt name."""
    return key in _everyday() or root(key) in synonym_roots()


_FREQUENT: Final = 5000


@lru_cache(maxsize=1)
def _frequent() -> frozenset[str]:
    packed = files("mrag").joinpath("index/data/bert-uncased-vocab.txt.gz").read_bytes()
    known = gzip.decompress(packed).decode("utf-8").splitlines()
    # The vocabulary begins with signs and letters; its words come by how often they are written.
    return frozenset(known[known.index("the") :][:_FREQUENT])


def is_frequent(word: str) -> bool:
    """Return whether a word is written often, so that it is hardly another one misspelt.

    Example:
        >>> [word for word in ("still", "place", "supliers") if is_frequent(word)]
        ['still', 'place']
    """
    return word in _frequent()


@lru_cache(maxsize=1)
def synonym_roots() -> dict[str, tuple[str, ...]]:
    """Return the roots that may stand for each root."""
    synonyms: dict[str, dict[str, None]] = {}
    for group in GROUPS:
        stems = sorted({root(w) for w in group})
        for one in stems:
            synonyms.setdefault(one, {}).update(dict.fromkeys(s for s in stems if s != one))
    for one, also in ALSO.items():
        synonyms.setdefault(root(one), {}).update(dict.fromkeys(map(root, also)))
    return {one: tuple(others) for one, others in synonyms.items()}


def positive(adjective: str) -> str | None:
    """Return the plain form of an adjective of a measure, None for other words.

    Example:
        >>> [positive(word) for word in ("heaviest", "larger", "best", "cheap", "river")]
        ['heavy', 'large', 'good', 'cheap', None]
    """
    word = adjective.casefold()
    if word in DIMENSIONS:
        return word
    if word in _IRREGULAR:
        return _IRREGULAR[word] if _IRREGULAR[word] in DIMENSIONS else None
    for ending in ("est", "er"):
        if word.endswith(ending):
            cut = word[: -len(ending)]
            for form in (cut, cut + "e", cut[:-1] + "y" if cut.endswith("i") else cut, cut[:-1]):
                if form in DIMENSIONS:
                    return form
    return None


_SHORTEST: Final = 4
_LONG: Final = 8


def edits_allowed(word: str) -> int:
    """Return how many edits a word may be away: none below 4 letters, one to 7, two from 8 on."""
    return 0 if len(word) < _SHORTEST or not word.isalpha() else 1 if len(word) < _LONG else 2


@dataclass(frozen=True)
class SpellingIndex:
    """Words by the letters that they have.

    Attributes:
        letters: In each word a bit for each letter that is in it, and one for each that is in it again.

    Example:
        >>> index = SpellingIndex.of(["kurosawa", "lopez", "rome"])
        >>> [index.near(word, 1).tolist() for word in ("kurosvaw", "lpez", "roma")]
        [[0], [1], [2]]
    """

    letters: npt.NDArray[np.uint64]

    @classmethod
    def of(cls, words: Iterable[str]) -> SpellingIndex:
        """Return the index of words, which go by their place; those that are never misspelt are near none."""
        return cls(np.array([_letters(w) if edits_allowed(w) else 2**64 - 1 for w in words], np.uint64))

    def near(self, word: str, edits: int) -> npt.NDArray[np.int64]:
        """Return the places of words that may be within some edits of a word; some are further away."""
        # An edit puts in a letter, takes one out, or both.
        other = np.bitwise_count(self.letters ^ np.uint64(_letters(word)))
        return np.flatnonzero(other <= 2 * edits).astype(np.int64)


def _letters(word: str) -> int:
    once = again = 0
    for letter in word:
        bit = 1 << ord(letter) % 32
        again |= once & bit
        once |= bit
    return once | again << 32


def distance(a: str, b: str, most: int) -> int:
    """Return how many letters are put in, left out, changed or swapped with the next between two words.

    Above most the answer is `most + 1`.

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


@lru_cache(maxsize=1)
def _places() -> dict[str, tuple[tuple[str, ...], ...]]:
    """Return all that each place is called, by each folded form of it."""
    places: dict[str, dict[tuple[str, ...], None]] = {}
    for row in rows("language/places.tsv"):
        name, two, three, people, others = (*row, "", "", "", "")[:5]
        forms = tuple(filter(None, (name, *others.split(","), *people.split(","), three, two)))
        for form in forms:
            places.setdefault(_folded(form), {})[forms] = None
    return {key: tuple(forms) for key, forms in places.items()}


def other_names(words: str, *, capital: bool) -> list[str]:
    """Return what else a country or a state is called, likeliest first.

    Codes of two letters must be written in capitals.

    Example:
        >>> other_names("Spanish", capital=False)
        ['Spain', 'Espana', 'Spaniard', 'ESP', 'ES']
        >>> other_names("TX", capital=True), other_names("in", capital=False)
        (['Texas'], [])
    """
    key = "".join(keys(words))
    if len(key) == 2 and not capital and key != "uk":
        return []
    return list(dict.fromkeys(f for forms in _places().get(key, ()) for f in forms if _folded(f) != key))


def _folded(text: str) -> str:
    return "".join(keys(text))
