"""What stands in texts by its form: whether one asks, and words that stand for others."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, TypeAlias

__all__ = [
    "asks",
]

_MARKS: Final = ("?", "？", "؟", "⁇")
_FIRST: Final = re.compile(
    r"\W*(?:(?:in|on|at|to|from|by|of|for|with|about|since|until|von|zu|mit|bei|seit|aus|an|auf)\s+)?"
    # English, then German.
    r"(?:which|what|who|whom|whose|where|when|why|how"
    r"|is|are|was|were|does|do|did|has|have|had|can|could|will|would|should"
    r"|welche[rsmn]?|wer|wem|wen|wessen|wo|wohin|woher|wann|warum|wieso|wie|wieviele?"
    r"|ist|sind|war|waren|hat|haben|hatte|hatten|gibt)\b",
    re.IGNORECASE,
)


def asks(text: str) -> bool:
    """Return whether a text is a question: by the mark at its end, or by its first word in English or German.

    Example:
        >>> [asks(text) for text in ("who wrote Dune", "a man in a red hat", "Pourquoi pas ?")]
        [True, False, True]
    """
    return text.rstrip().endswith(_MARKS) or _FIRST.match(text) is not None


Rule: TypeAlias = tuple[re.Pattern[str], str]
"""What is looked for, and what is put in its place, as in `re.sub`."""


def rules(*pairs: tuple[str, str], end: str = "") -> tuple[Rule, ...]:
    """Return rules of patterns that are found whatever the case, with what is put in their place."""
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
