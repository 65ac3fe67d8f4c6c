"""Names that are abbreviations, spelt out by what is said of them: "att" is the attendance."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import Final

from mrag.text.names import name_parts

_SHORT_WORDS: Final = frozenset(
    "age day sex tax fee pay job art law zip map tag key row end sum max min id name of in on by at to for "
    "no and or the set bid bed bar sea air gas oil ore cat dog car bus war way aid ad url".split()
)
"""Words of three letters or fewer that are no abbreviations."""
_OF_WHAT: Final = frozenset("on in during for by at from when that which".split())
"""Words behind which a comment says what a number is of, which is no part of its name."""
_LONGEST: Final = 7
"""Words of the longest phrase that is taken for a name."""
_VOWELS: Final = frozenset("aeiouy")


def spelt_out(name: str, comment: str) -> tuple[str, ...]:
    """Return the name that a comment begins with, of something whose own name is an abbreviation.

    Args:
        name: How it is called.
        comment: What is said of it.

    Example:
        >>> spelt_out("att", "Attendance: number of spectators.")
        ('attendance',)
        >>> spelt_out("dep_ts", "Scheduled departure (local time).")
        ('scheduled departure',)
        >>> spelt_out("height", "Height in cm.")
        ()
    """
    head = re.split(r"[.,;:(=\n]", comment, maxsplit=1)[0].strip()
    said = [w for w in head.lower().split() if w not in ("the", "a", "an")]
    said = list(takewhile(lambda w: w not in _OF_WHAT, said))
    if (
        not 0 < len(said) <= _LONGEST
        or len("".join(said)) < 4
        or said[0] in ("whether", "true", "if", "is", "are")
    ):
        return ()
    words = [part.lower() for word in re.split(r"[\W_]+", name) for part in name_parts(word)]
    if not any(_abbreviates(word, said) for word in words):
        return ()
    return (" ".join(said),)


def _abbreviates(word: str, said: list[str]) -> bool:
    if not word.isascii() or not word.isalpha() or word in _SHORT_WORDS or word in said:
        return False
    if not _VOWELS & {*word} or len(word) <= 3:
        return True
    return len(word) <= 5 and any(len(w) > len(word) + 1 and w.startswith(word) for w in said)
