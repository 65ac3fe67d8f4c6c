"""How like a name is to what was said, sign by sign: `C#` is no `C++`, though their words are the same."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from enum import IntEnum
from typing import Final

from mrag.text.tokens import TextToken, bare, plain, tokens

_ENDS: Final = r".,;:!?…)\]}>\"'’”»"
_BEGINNINGS: Final = r"¿¡(\[{<\"'‘’“„«"
_BEHIND: Final = re.compile(rf"(?:['’]s?)?[{_ENDS}]*")
_BEFORE: Final = re.compile(rf"(?<![{_BEGINNINGS}])[{_BEGINNINGS}]*+\Z")
_SIGN: Final = re.compile(rf"[^\w\s{_ENDS}]+(?![^\W_])")


class Likeness(IntEnum):
    """By what a name differs from what was said, the least first."""

    NOTHING = 0
    CASE = 1
    DIACRITICS = 2
    SIGNS = 3
    LETTERS = 4


def likeness(said: str, name: str) -> Likeness:
    """Return by what a name differs from a text.

    Example:
        >>> [likeness("C#", name).name for name in ("C#", "c#", "C++", "D")]
        ['NOTHING', 'CASE', 'SIGNS', 'LETTERS']
        >>> likeness("Prote\u0301ge\u0301", "Protégé").name, likeness("protege", "Protégé").name
        ('NOTHING', 'DIACRITICS')
    """
    one, other = (" ".join(unicodedata.normalize("NFC", text).split()) for text in (said, name))
    if one == other:
        return Likeness.NOTHING
    if one.casefold() == other.casefold():
        return Likeness.CASE
    one, other = bare(one), bare(other)
    if one == other:
        return Likeness.DIACRITICS
    one, other = ("".join(c for c in text if c.isalnum()) for text in (one, other))
    return Likeness.SIGNS if one == other else Likeness.LETTERS


def likeness_at(words: Sequence[TextToken], start: int, end: int, name: str) -> tuple[Likeness, int]:
    """Return by what a name differs from words of a text, and how many signs it has around them, negated.

    Signs that stand at the words and are not in the name are a difference, unless they end a sentence or
    a quotation.

    Args:
        words: The words of the text.
        start: Index of the first of those that may be the name.
        end: Index behind the last.
        name: The name.

    Example:
        >>> words = tokens("Is the share of A- lower?")
        >>> [likeness_at(words, 4, 5, name)[0].name for name in ("A-", "A", "A+", "a-")]
        ['NOTHING', 'SIGNS', 'SIGNS', 'CASE']
    """
    own = tokens(name)
    if not own:
        return Likeness.LETTERS, 0
    ahead, behind = name[: own[0].start], name[own[-1].end :]
    left = words[start - 1].after if start else words[start].before
    right = words[end - 1].after
    inside = "".join(w.raw + w.after for w in words[start : end - 1]) + words[end - 1].raw
    if not left.endswith(ahead):
        ahead = ""
    if not right.startswith(behind):
        behind = ""
    found = likeness(ahead + inside + behind, name)
    if found == Likeness.LETTERS:
        cut = inside.removesuffix(words[end - 1].raw) + plain(words[end - 1].raw)
        found = likeness(ahead + cut + behind, name)
    left, right = left[: len(left) - len(ahead)], right[len(behind) :]
    if _stands_at(left, right):
        found = max(found, Likeness.SIGNS)
    return found, -len(ahead + behind)


def is_signed(words: Sequence[TextToken], at: int) -> bool:
    """Return whether a sign that ends no sentence stands right behind a word, as in `A-`.

    Example:
        >>> words = tokens("A-, a well-known A+ or A?")
        >>> [is_signed(words, at) for at in range(len(words))]
        [True, False, False, False, True, False, False]
    """
    behind = words[at].after
    open_ended = at == len(words) - 1 or any(c.isspace() for c in behind)
    return open_ended and bool(_SIGN.match(behind))


def _stands_at(left: str, right: str) -> bool:
    """Return whether signs stand at a name that belong to it, not to a sentence or to a quotation."""
    behind = _BEHIND.match(right)
    rest = right[behind.end() :] if behind else right
    before = _BEFORE.search(left)
    rest_left = left[: before.start()] if before else left
    return bool((rest and not rest[0].isspace()) or (rest_left and not rest_left[-1].isspace()))
