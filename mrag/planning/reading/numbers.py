"""Words for numbers and ranks."""

from __future__ import annotations

import re

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
NUMBERS = {word: n for n, word in enumerate(_SMALL)} | {word: 10 * n for n, word in enumerate(_TENS, 2)}
_ORDINAL = "zeroth first second third fourth fifth sixth seventh eighth ninth tenth".split()
SCALE = {"hundred": 100, "thousand": 1_000, "k": 1_000, "million": 10**6, "mio": 10**6, "billion": 10**9}


def rank_of(word: str) -> int:
    """Return the rank that an ordinal names, 0 if it is none."""
    if word in _ORDINAL:
        return _ORDINAL.index(word)
    match = re.fullmatch(r"(\d{1,3})(?:st|nd|rd|th)", word)
    return int(match[1]) if match else 0


def number_of(key: str) -> float | None:
    """Return the number that a folded word is; None if it is none."""
    if re.fullmatch(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?", key):
        return float(key)
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(k|m|bn)", key)
    return float(match[1]) * {"k": 1e3, "m": 1e6, "bn": 1e9}[match[2]] if match else None
