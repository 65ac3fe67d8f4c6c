"""Words of a text that carry meaning."""

from __future__ import annotations

import re
import unicodedata

STOP_WORDS = frozenset(
    (
        "a about all also an and any are as at be been but by can could did do does for from had has have "
        "he her his how i in into is it its me my of on or our she so some than that the their them there "
        "these they this those to us was we were what when where which while who whom whose why will with "
        "would you your "
    ).split()
)
"""English function words, which say nothing of what a question is about."""

_WORD = re.compile(r"\w+")


def words(text: str) -> frozenset[str]:
    """Return the words of a text that carry meaning, folded, cut to what their forms share.

    Example:
        >>> sorted(words("What are the Products?"))
        ['produc']
    """
    folded = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(c for c in folded if not unicodedata.combining(c))
    return frozenset(_stem(w) for w in _WORD.findall(plain) if w not in STOP_WORDS)


def _stem(word: str) -> str:
    word = word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
    # Six letters bring directed and director together, and seldom anything else.
    return word[:6]
