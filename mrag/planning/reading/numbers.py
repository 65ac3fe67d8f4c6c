"""Words for numbers and ranks, and units: what is said is put in the unit that a property counts in."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
NUMBERS = {word: n for n, word in enumerate(_SMALL)} | {word: 10 * n for n, word in enumerate(_TENS, 2)}
_ORDINAL = "zeroth first second third fourth fifth sixth seventh eighth ninth tenth".split()
SCALE = {"hundred": 100, "thousand": 1_000, "k": 1_000, "million": 10**6, "mio": 10**6, "billion": 10**9}
UNITS: Final[dict[str, tuple[str, float]]] = {
    word: (dimension, size)
    for dimension, size, words in (
        ("time", 0.001, "ms millisecond"),
        ("time", 1.0, "s sec second"),
        ("time", 60.0, "min minute"),
        ("time", 3600.0, "h hr hour"),
        ("time", 86400.0, "day"),
        ("time", 604800.0, "week"),
        ("time", 2629800.0, "month"),
        ("time", 31557600.0, "yr year"),
        ("length", 0.001, "mm millimetre millimeter"),
        ("length", 0.01, "cm centimetre centimeter"),
        ("length", 1.0, "m metre meter"),
        ("length", 1000.0, "km kilometre kilometer"),
        ("length", 0.0254, "inch"),
        ("length", 0.3048, "ft foot feet"),
        ("length", 1609.344, "mi mile"),
        ("mass", 0.001, "mg milligram"),
        ("mass", 1.0, "g gram gramme"),
        ("mass", 1000.0, "kg kilo kilogram kilogramme"),
        ("mass", 453.59237, "lb lbs pound"),
        ("mass", 28.349523125, "oz ounce"),
        ("mass", 1_000_000.0, "t ton tonne"),
    )
    for word in words.split()
}
"""What a unit measures, and its size in seconds, metres or grams."""

_SQUARE: Final = frozenset("square squared sq cubic cube per".split())


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


def unit_of(words: Iterable[str]) -> str:
    """Return the first unit among the words of a name, "" if there is none.

    Units of areas, volumes and rates are not read.

    Example:
        >>> unit_of(["duration", "Seconds"]), unit_of(["area", "in", "square", "km"]), unit_of(["price"])
        ('second', '', '')
    """
    said = [word.casefold().strip("().,") for word in words]
    if not _SQUARE.isdisjoint(said):
        return ""
    for word in said:
        for form in (word, word.removesuffix("s"), word.removesuffix("es")):
            if form in UNITS:
                return form
    return ""


def converted(value: float, said: str, own: str) -> float | None:
    """Return a value in another unit, None if the two measure different things.

    Args:
        value: The value.
        said: Its unit.
        own: The unit to put it in.

    Example:
        >>> converted(5, "minute", "second"), converted(1, "km", "kg")
        (300.0, None)
    """
    (one, size), (other, base) = UNITS[said], UNITS[own]
    return round(value * size / base, 12) if one == other else None
