"""What kind of values texts hold: numbers, perhaps with a unit, dates, truth values, or words."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from mrag.planning.reading.numbers import UNITS, unit_of
from mrag.planning.schema import Kind
from mrag.planning.values import DURATION_UNIT, measured
from mrag.rdf.terms import XSD

DATES: Final = frozenset(XSD + name for name in ("date", "dateTime", "dateTimeStamp", "gYear", "gYearMonth"))
"""Datatypes of dates."""

INTEGERS: Final = frozenset(
    XSD + name for name in ("integer", "int", "long", "short", "byte", "nonNegativeInteger", "unsignedByte")
)
"""Datatypes of whole numbers, in which flags are written."""

_TRUTHS: Final = (("yes", "no"), ("y", "n"), ("true", "false"), ("t", "f"), ("1", "0"), ("on", "off"))
_SYMBOLS: Final = ("$", "€", "£", "¥", "₹")
_NEARLY_ALL: Final = 0.95
_UNIT = re.compile(r"(?:[^\W\d_][^\d]{0,20}|%|°[CF]?)?|[A-Z]{0,2}[$€£¥₹]", re.ASCII)
_CURRENCIES: Final = frozenset(
    "usd eur gbp jpy cny chf inr cad aud nzd sek nok dkk pln brl mxn zar krw".split()
)
_DATE = re.compile(
    r"\d{4}-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01])"
    r"(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)?)?"
)


def kind_of_texts(texts: Sequence[str]) -> tuple[Kind, bool]:
    """Return what texts are, and whether they are numbers as text.

    Numbers in several units are text: they can be neither compared nor added.

    Args:
        texts: Distinct values of a property.

    Example:
        >>> kind_of_texts(["12 kg", "7 kg"]), kind_of_texts(["2024-01-31"]), kind_of_texts(["a", "12"])
        (('number', True), ('date', False), ('text', False))
        >>> kind_of_texts(["0171", "0172"]), kind_of_texts(["yes", "no"])
        (('text', False), ('text', False))
        >>> kind_of_texts(["2 kg", "500 g"])
        ('text', False)
    """
    filled = [text for text in texts if text.strip()]
    if not filled:
        return "text", False
    if _share(filled, lambda text: _DATE.fullmatch(text.strip()) is not None) >= _NEARLY_ALL:
        return "date", False
    if _share(filled, lambda text: number_in(text) is not None) >= _NEARLY_ALL and not _codes(filled):
        return ("text", False) if len(units_of_texts(filled)) > 1 else ("number", True)
    return "text", False


def truth_of_texts(texts: Sequence[str]) -> tuple[str, ...]:
    """Return how texts write yes and no, as they most often do; nothing if they say anything else.

    Args:
        texts: Distinct values of a property.

    Example:
        >>> truth_of_texts(["no", "Yes"]), truth_of_texts(["Y"]), truth_of_texts(["yes", "maybe"])
        (('Yes', 'no'), (), ())
    """
    filled = {text.strip().casefold(): text for text in reversed(texts) if text.strip()}
    for pair in _TRUTHS:
        # A letter alone may be any code.
        if filled and set(filled) <= set(pair) and (len(filled) == 2 or len(pair[0]) > 2):
            return tuple(filled.get(said, said) for said in pair)
    return ()


def number_in(text: str) -> float | None:
    """Return the number that a text is, without its unit; None where it is none.

    Example:
        >>> number_in("1,024.5 kg"), number_in("$9.99"), number_in("-3"), number_in("3rd floor, left 2")
        (1024.5, 9.99, -3.0, None)
    """
    found = measured(text)
    return float(found[0]) if found and _UNIT.fullmatch(found[1]) else None


def units_of_texts(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the units and currencies that numbers in texts are told in, one for each size.

    Args:
        texts: Distinct values of a property. What stands behind a number and is no unit does not count.

    Example:
        >>> units_of_texts(["12 kg", "900 g", "5"]), units_of_texts(["$3", "7 EUR"])
        (('g', 'kg'), ('$', 'EUR'))
        >>> units_of_texts(["12 rooms", "1 room"])
        ()
    """
    found: dict[object, str] = {}
    for text in sorted(texts):
        number = measured(text)
        unit = number[1] if number else ""
        if size := _size(unit):
            found.setdefault(size, unit)
    return tuple(sorted(found.values()))


def _size(unit: str) -> object:
    """Return what makes two units one, None for what is no unit."""
    if unit.casefold() in _CURRENCIES or unit.endswith(_SYMBOLS):
        return unit.casefold()
    if unit.startswith("°") or unit in ("%", DURATION_UNIT):
        return unit
    return UNITS.get(unit_of([unit]))


def _share(texts: Sequence[str], holds: Callable[[str], bool]) -> float:
    return sum(1 for text in texts if holds(text)) / len(texts)


def _codes(texts: Sequence[str]) -> bool:
    """Return whether digits are codes: with zeros in front, or with many different words behind them."""
    if any(re.match(r"\s*0\d", text) for text in texts):
        return True
    units = {found[1].casefold() for text in texts if (found := measured(text)) and found[1]}
    return len(units) > max(3, len(texts) // 10)
