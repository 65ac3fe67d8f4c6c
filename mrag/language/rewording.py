"""Rules that put words in the place of others."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeAlias

Rule: TypeAlias = tuple[re.Pattern[str], str]
"""What is looked for, and what is put in its place, as in `re.sub`."""


def rules(*pairs: tuple[str, str], end: str = "") -> tuple[Rule, ...]:
    """Return rules of patterns that are found whatever the case, with what is put in their place.

    Args:
        pairs: The patterns and the replacements.
        end: A pattern that stands behind each of them.
    """
    return tuple((re.compile(pattern + end, re.IGNORECASE), words) for pattern, words in pairs)


def reworded(text: str, by: Iterable[Rule]) -> str:
    """Return a text in which each rule is followed in turn, wherever it applies.

    Example:
        >>> reworded("Half an hour of half a year", rules((r"half an? (hour|year)", r"one \\1")))
        'one hour of one year'
    """
    for pattern, words in by:
        text = pattern.sub(words, text)
    return text
