"""Quantities in a text, what they are measured in, and which properties they may be values of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Final

from mrag.language.english import root
from mrag.language.tokens import TextToken, tokens
from mrag.planning.schema import PropertyInfo

_ONES: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
).split()
_TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety".split()
NUMBERS: Final[Mapping[str, int]] = {
    **{word: n for n, word in enumerate(_ONES)},
    **{word: 10 * n for n, word in enumerate(_TENS, 2)},
}
"""Numbers that are written as one word."""
_SCALES: Final[Mapping[str, int]] = {
    "dozen": 12, "hundred": 100, "thousand": 1000, "k": 1000, "million": 10**6, "mio": 10**6,
    "billion": 10**9, "bn": 10**9, "couple": 2,
}  # fmt: skip
_DIGITS: Final = re.compile(r"(\d+(?:\.\d+)?)([a-z]{0,3})")
_THOUSANDS: Final = re.compile(r"\d{1,3}(,\d{3})+(\.\d+)?")
_BOUNDING: Final = frozenset("than least most over under above below within exactly".split())
"""Words before "a" that make it a number: "less than a week"."""
_SIGNS: Final = "$€£%"
_SINGULAR: Final = frozenset("year day month hour minute second week point star time g h m l".split())
"""Units that are one only where "in" stands before them in what is said of a property."""


@dataclass(frozen=True)
class MeasureUnit:
    """A unit: of which sort of quantity, and how many of the first unit of that sort it is."""

    sort: str
    factor: Decimal

    @property
    def counts(self) -> bool:
        """Return whether it is a name of what is counted: people, points, times."""
        return self.sort in ("people", "rank", "count")


@dataclass(frozen=True)
class Amount:
    """A number in a text, with its unit if one is said."""

    start: int  # Index of the first token
    end: int  # Index behind the number
    behind: int  # Index behind its unit
    value: Decimal  # The number
    unit: str = ""  # The word for the unit; "" if none is said


@cache
def _table() -> tuple[Mapping[tuple[str, ...], MeasureUnit], Mapping[str, tuple[str, ...]]]:
    """Return the units, and for each sort of quantity the roots of what properties of it are called."""
    units, nouns = dict[tuple[str, ...], MeasureUnit](), dict[str, tuple[str, ...]]()
    text = Path(__file__).with_name("units.tsv").read_text(encoding="utf-8")
    for line in (line for line in text.splitlines() if line and line[0] != "#"):
        sort, factor, names = line.split("\t")
        if factor == "~":
            nouns[sort] = tuple(map(root, names.split("|")))
            continue
        for name in names.split("|"):
            key = (name,) if name in _SIGNS else tuple(t.raw.lower() for t in tokens(name))
            units[key] = MeasureUnit(sort, Decimal(factor))
    return units, nouns


def unit_called(word: str) -> MeasureUnit | None:
    """Return the unit that a word or two stand for; None if none.

    Example:
        >>> unit_called("km")
        MeasureUnit(sort='length', factor=Decimal('1000'))
    """
    return _table()[0].get((word,) if word in _SIGNS else tuple(word.split()))


def amounts_in(words: Sequence[TextToken], low: Sequence[str]) -> Iterator[Amount]:
    """Yield the numbers of a text with their units: "2 kg", "half a million", "two dozen", "1.5k", "30 %"."""
    at = 0
    while at < len(low):
        found = _number(words, low, at)
        if found is None:
            at += 1
            continue
        value, end, unit = found
        behind = end
        if not unit:
            sign = words[at - 1].after[-1:] if at else ""
            unit = sign if sign and sign in _SIGNS else words[end - 1].after.strip()[:1]
            unit = unit if unit and unit in _SIGNS else ""
        if not unit:
            first = end + (low[end : end + 1] == ["of"])
            for size in (2, 1):
                if first + size <= len(low) and tuple(low[first : first + size]) in _table()[0]:
                    unit, behind = " ".join(low[first : first + size]), first + size
                    break
        yield Amount(at, end, behind, value, unit)
        at = end


def _number(words: Sequence[TextToken], low: Sequence[str], at: int) -> tuple[Decimal, int, str] | None:
    """Return the number that begins at a token, where it ends, and the unit that is written with it."""
    found = _with_article(low, at) or _in_words(low, at) or _in_digits(words, low, at)
    if found is None:
        return None
    value, end, unit = found
    while end < len(low) and low[end] in _SCALES and not unit:
        value, end = value * _SCALES[low[end]], end + 1
        first = end + (low[end : end + 1] == ["and"])
        rest = _in_words(low, first) if value >= 100 and first < len(low) else None
        if rest is not None and rest[0] < value:
            value, end = value + rest[0], rest[1]
    if low[end : end + 3] == ["and", "a", "half"]:
        value, end = value + Decimal("0.5"), end + 3
    return value, end, unit


def _with_article(low: Sequence[str], at: int) -> tuple[Decimal, int, str] | None:
    """Return "half a million", "half an hour", "a thousand", "a couple of", "over a week"."""
    word, rest = low[at], low[at + 1 : at + 3]
    if word == "half" and len(rest) == 2 and rest[0] in ("a", "an"):
        if rest[1] in _SCALES:
            return Decimal(_SCALES[rest[1]]) / 2, at + 3, ""
        return (Decimal("0.5"), at + 2, "") if (rest[1],) in _table()[0] else None
    if word in ("a", "an") and rest and rest[0] in _SCALES:
        return Decimal(_SCALES[rest[0]]), at + 2 + (rest == ["couple", "of"]), ""
    bounded = word in ("a", "an") and low[at - 1 : at] and low[at - 1] in _BOUNDING
    return (Decimal(1), at + 1, "") if bounded and rest and (rest[0],) in _table()[0] else None


def _in_words(low: Sequence[str], at: int) -> tuple[Decimal, int, str] | None:
    word = low[at]
    if word in ("hundred", "thousand", "million", "dozen"):
        return Decimal(_SCALES[word]), at + 1, ""
    if word not in NUMBERS:
        return None
    ones = low[at + 1] if word in _TENS and at + 1 < len(low) and low[at + 1] in _ONES[1:10] else ""
    return Decimal(NUMBERS[word] + NUMBERS.get(ones, 0)), at + 1 + bool(ones), ""


def _in_digits(words: Sequence[TextToken], low: Sequence[str], at: int) -> tuple[Decimal, int, str] | None:
    text, end = low[at].replace(",", "") if _THOUSANDS.fullmatch(low[at]) else low[at], at + 1
    if words[at].after == "." and end < len(low) and low[end][:1].isdigit() and text.isdigit():
        text, end = f"{text}.{low[end]}", end + 1  # "1.5k" is two tokens
    m = _DIGITS.fullmatch(text)
    if m is None or not (not m[2] or m[2] in _SCALES or (m[2],) in _table()[0]):
        return None
    scale = _SCALES.get(m[2], 1)
    return Decimal(m[1]) * scale, end, "" if m[2] in _SCALES else m[2]


@cache
def unit_of(names: tuple[str, ...], comment: str) -> MeasureUnit | None:
    """Return what the values of a property are measured in, by its names and by what is said of it.

    Example:
        >>> unit_of(("height",), "Height in cm"), unit_of(("founded",), "Year of foundation")
        (MeasureUnit(sort='length', factor=Decimal('0.01')), None)
    """
    units = _table()[0]
    for text in (*names, comment):
        low = [t.raw.lower() for t in tokens(text)]
        for at, word in enumerate(low):
            stated = at and (low[at - 1] == "in" or f"({word}" in text.lower())
            for size in (2, 1):
                unit = units.get(tuple(low[at : at + size]))
                last = text is not comment and at + size == len(low) > 1
                if unit is not None and (
                    stated or (word not in _SINGULAR and (last or unit.sort in ("people", "share")))
                ):
                    return unit
    return None


def likeness(info: PropertyInfo, value: Decimal, unit: str) -> float:
    """Return how likely a number is a value of a property: by its unit, its name and its other values."""
    said, score = unit_called(unit) if unit else None, 0.0
    own = unit_of(info.names, info.comment)
    if said is not None:
        ranks = _ranks(info, said.sort)
        if own is not None and own.sort == said.sort:
            score += 2.0
        elif ranks:
            score += 1.5 - 0.05 * min(ranks)
        else:
            score -= 1.0 if own is None else 2.0
    try:
        least, most = Decimal(info.minimum), Decimal(info.maximum)
    except ArithmeticError:
        return score
    value = converted(info, value, unit)
    if info.kind == "number":
        score += 0.7 if least <= value <= most else -1.0 if value > 3 * most or 3 * value < least else 0.0
    return score


def _ranks(info: PropertyInfo, sort: str) -> list[int]:
    """Return the places of the words of a property among what a sort of quantity is called."""
    nouns = _table()[1].get(sort, ())
    roots = [root(w.raw.lower()) for name in info.names for w in tokens(name)]
    return [nouns.index(r) for r in roots if r in nouns]


def is_measured_in(info: PropertyInfo, unit: MeasureUnit) -> bool:
    """Return whether numbers of a property may be told in a unit: by their own unit, or by their name."""
    own = unit_of(info.names, info.comment)
    mine = {found.sort for word in info.units if (found := unit_called(word.lower())) is not None}
    mine |= set() if own is None else {own.sort}
    # A "total fat" is a fat, whatever else totals are of.
    headed = replace(info, names=tuple(name.split()[-1] for name in info.names if name))
    mine |= {sort for sort in _table()[1] if _ranks(headed, sort)}
    return unit.sort in mine or not mine


def converted(info: PropertyInfo, value: Decimal, unit: str) -> Decimal:
    """Return a number in the unit of a property: 1.85 m are 185 where heights are in centimetres."""
    said, own = unit_called(unit) if unit else None, unit_of(info.names, info.comment)
    words = {w.rstrip("s") for w in re.split(r"[\W_]+", f"{info.names[-1]} {info.names[0]}".lower())}
    scale = max((by for w, by in _SCALES.items() if by >= 1000 and w in words - {"k"}), default=1)
    if value >= scale > 1:
        return value / scale  # a "budget (million)" of 5 million is 5
    if said is None:
        return value
    if said.sort == "share" and own is None and info.kind == "number" and info.maximum:
        small = not info.text_numbers and Decimal(info.maximum) <= 1
        return value / 100 if small and said.factor < 1 else value
    if own is None or own.sort != said.sort or own.factor == said.factor or said.sort == "money":
        return value
    return (value * said.factor / own.factor).normalize()
