"""Verbs of two words that names write as one: "signed up" of a signup date, "checked in" of a check-in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from mrag.planning.lexical.words import is_past, root

_PARTICLES: Final = ("up", "in", "out", "off", "on", "down", "over", "back", "away")
_PAIR: Final = re.compile(rf"(?i)\b([a-z]{{3,}})[ -]({'|'.join(_PARTICLES)})\b")
_WORD: Final = re.compile(rf"(?i)\b([a-z]{{3,}})[ -]?({'|'.join(_PARTICLES)})\b")
_OTHER_VERBS: Final = frozenset(
    "begin within again bargain certain captain domain main margin origin remain season person "
    "cabin admin login latin salmon apron baron wagon carton cousin join region station".split()
)
"""Words that only look like a verb with a particle."""


def phrasal_verbs(names: Iterable[str]) -> dict[tuple[str, str], str]:
    """Return the verbs of two words that names have, by root and particle, with how they are written.

    Example:
        >>> phrasal_verbs(["signup date", "check-in", "station"])
        {('sign', 'up'): 'signup', ('check', 'in'): 'check-in'}
    """
    found = {}
    for name in names:
        for match in _WORD.finditer(name):
            if match[0].lower() not in _OTHER_VERBS and " " not in match[0]:
                found[root(match[1]), match[2].lower()] = match[0].lower()
    return found


def as_one_word(text: str, verbs: Mapping[tuple[str, str], str]) -> str:
    """Return a question with verbs of two words as the names of the graph write them.

    Example:
        >>> as_one_word("Who signed up in May?", {("sign", "up"): "signup"})
        'Who signuped in May?'
    """

    def one(match: re.Match[str]) -> str:
        word = verbs.get((root(match[1]), match[2].lower()))
        return match[0] if word is None else word + "ed" * is_past(match[1].lower())

    return _PAIR.sub(one, text) if verbs else text
