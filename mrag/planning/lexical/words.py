"""Words of questions and of names as the lexicon compares them."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from mrag.text.english import PERSON_WORDS, words
from mrag.text.stopwords import STOP_WORDS
from mrag.text.tokens import fold, stem

_EMPTY: Final = frozenset(
    fold(w)
    for w in STOP_WORDS
    | words(
        "am being both each every if him hers itself many more most much only other please same such then"
    )
    | words("too very")
)
_TITLES: Final = words("mr mrs ms miss dr prof professor sir madam mister")


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
        >>> root("located") == root("locations"), root("rivers")
        (True, 'river')
    """
    text = stem(word)
    return text[:-1] + "y" if len(text) > 3 and text.endswith("i") and text.isascii() else text
