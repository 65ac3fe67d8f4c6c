"""Times in a text: days, months, quarters, seasons, years, decades, weekdays, hours, and spans of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, TypeAlias

Field: TypeAlias = "int | None"
Stamp: TypeAlias = tuple[Field, Field, Field, Field, Field]
"""Year, month, day, weekday and minute of the day; None for what is not said."""
_NOTHING: Final[Stamp] = (None,) * 5


@dataclass(frozen=True)
class TimeSpan:
    """A time that a text states."""

    start: int  # Where it begins in the text
    end: int  # Where it ends
    low: Stamp  # When it begins
    high: Stamp  # When it ends; the same of one day, month or year
    range: bool = False  # Whether both ends are said

    @property
    def part(self) -> str:
        """Return what is given of it, as a part of dates; "" where no part is like that."""
        return _PARTS.get(tuple(at for at, field in enumerate(self.low) if field is not None), "")

    @property
    def values(self) -> tuple[str, ...]:
        """Return it as it is compared with a part of dates: one value, or two."""
        ends = dict.fromkeys((_written(self.low), _written(self.high)))
        return tuple(ends)


_PARTS: Final[Mapping[tuple[int, ...], str]] = {
    (0,): "year", (0, 1): "year-month", (0, 1, 2): "date", (1,): "month", (1, 2): "month-day", (2,): "day",
    (3,): "weekday", (4,): "clock", (0, 1, 2, 4): "moment",
}  # fmt: skip


def _written(stamp: Stamp) -> str:
    year, month, day, weekday, minute = stamp
    clock = "" if minute is None else f"{minute // 60:02}:{minute % 60:02}:00"
    if year is not None:
        date = "-".join([f"{year:04}", *(f"{n:02}" for n in (month, day) if n is not None)])
        return f"{date}T{clock}" if clock else date
    if month is not None and day is not None:
        return str(100 * month + day)
    return clock or str(next(n for n in (month, day, weekday) if n is not None))


@cache
def _names() -> Mapping[str, Mapping[str, int]]:
    """Return what words of the calendar stand for, by their sort."""
    found: dict[str, dict[str, int]] = {}
    text = Path(__file__).with_name("times.tsv").read_text(encoding="utf-8")
    for line in (line for line in text.splitlines() if line and line[0] != "#"):
        sort, number, names = line.split("\t")
        found.setdefault(sort, {}).update(dict.fromkeys(names.split("|"), int(number)))
    return found


_CUT: Final = r"(?<![\w.:/])(?<![A-Za-z]-)"  # What stands before no time
_YEAR: Final = r"(?P<y>(?:1[0-9]|20|21)\d\d)(?![\w%]|[.,]\d)"
_BARE: Final = r"(?:the )?(?P<d>\d\d?)(?:st|nd|rd|th|[:.](?P<min>\d\d))?(?![\w%]|[.,:]\d)"
"""What may open a span whose end says the rest: from "3" to 9 June, between "8" and 10 am."""
_JOINED: Final = r"(?: ?[-\u2013] ?|,? (?P<and>and|to|until|till|through|up to) )(?:the )?"
_OPENED: Final = re.compile(r"\b(?:between|from)(?: the)?(?: years?| months?)? $", re.IGNORECASE)


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], ...], re.Pattern[str]]:
    """Return the forms of a time, and what joins two of them."""
    names = {sort: "|".join(sorted(some, key=len, reverse=True)) for sort, some in _names().items()}
    pieces = {
        "year": _YEAR,
        "day": rf"(?:the )?(?:(?P<d>\d\d?)(?:st|nd|rd|th)?|(?P<dname>{names['day']}))",
        "half": r"(?P<half>[ap])\.? ?m\b\.?",
        "century_name": rf"(?P<century_name>{names['century']})",
        **{sort: rf"(?P<{sort}>{names[sort]})" for sort in ("month", "span", "weekday", "nineties", "clock")},
    }

    def made(form: str) -> re.Pattern[str]:
        for name, piece in pieces.items():
            form = form.replace("{" + name + "}", piece)
        return re.compile(_CUT + form, re.IGNORECASE)

    forms = Path(__file__).with_name("forms.tsv").read_text(encoding="utf-8").splitlines()
    return tuple(made(form) for form in forms if form[0] != "#"), re.compile(_JOINED, re.IGNORECASE)


def times_in(text: str) -> Iterator[TimeSpan]:
    """Yield the times that a text states: all that may be meant, the longest first at each place.

    Example:
        >>> [(t.part, t.values) for t in times_in("from 3 to 9 June 2021")][0]
        ('date', ('2021-06-03', '2021-06-09'))
        >>> [(t.part, t.values) for t in times_in("in summer 2022")][0]
        ('year-month', ('2022-06', '2022-08'))
    """
    found = _single(text)
    by_start = {t.start: t for t in reversed(found)}
    joined = [t for one in found for t in (*_joined(text, one, by_start), *_at(text, one, by_start))]
    bare = re.compile(_CUT + _BARE, re.IGNORECASE)
    for m in bare.finditer(text):
        for sort in ("day", "hour"):
            low = _stamp(m, sort)
            if low is not None:
                joined += _joined(text, TimeSpan(m.start(), m.end(), low, low), by_start)
    yield from sorted({*joined, *found}, key=lambda t: (t.start, -t.end, not t.range, t.values))


def _single(text: str) -> list[TimeSpan]:
    found: list[TimeSpan] = []
    for pattern in _patterns()[0]:
        for m in pattern.finditer(text):
            if any(t.start <= m.start() and m.end() <= t.end for t in found):
                continue
            ends = _ends(m)
            if ends is not None:
                found.append(TimeSpan(m.start(), m.end(), *ends, range=ends[0] != ends[1]))
    return found


def _joined(text: str, one: TimeSpan, by_start: Mapping[int, TimeSpan]) -> Iterator[TimeSpan]:
    """Yield the span from one time to the one behind it; what one of them leaves unsaid the other says."""
    m = _patterns()[1].match(text, one.end)
    if m is None or (one.range and one.low[0] is not None):
        return
    if m["and"] == "and" and not _OPENED.search(text, 0, one.start):
        return
    other = by_start.get(m.end())
    high = other.high if other is not None else None
    end = other.end if other is not None else 0
    if high is None:  # from June 3 to 9
        bare = re.compile(_BARE + rf"(?:,? {_YEAR})?", re.IGNORECASE).match(text, m.end())
        high = _stamp(bare, "day") if bare is not None and one.low[2] is not None else None
        if bare is None or high is None:
            return
        high, end = (int(bare["y"]) if bare["y"] else None, *high[1:]), bare.end()
    low, top = _filled(one.low, high), _filled(high, one.low)
    span = TimeSpan(one.start, end, low, top, range=True)
    numbers = span.part == "day" and text[one.end - 1].isdigit()
    if span.part and not numbers and [f is None for f in low] == [f is None for f in top] and low <= top:
        yield span


def _at(text: str, one: TimeSpan, by_start: Mapping[int, TimeSpan]) -> Iterator[TimeSpan]:
    """Yield a moment, where a time of day comes behind a day: "on 14 March 2025 at 12:00"."""
    m = re.compile(r",? (?:at )?", re.IGNORECASE).match(text, one.end)
    other = by_start.get(m.end()) if m is not None else None
    if other is not None and (one.part, other.part) == ("date", "clock") and one.low == one.high:
        low, high = ((*one.low[:4], end[4]) for end in (other.low, other.high))
        yield TimeSpan(one.start, other.end, low, high, range=other.range)


def _filled(one: Stamp, other: Stamp) -> Stamp:
    minute = one[4]
    if minute is not None and other[4] is not None and minute < 720 <= other[4] and minute + 720 <= other[4]:
        minute += 720  # "between 2 and 4 pm"
    year, month, day, weekday, _ = (a if a is not None else b for a, b in zip(one, other, strict=True))
    return year, month, day, weekday, minute


def _stamp(m: re.Match[str], sort: str) -> Stamp | None:
    number, minutes = int(m["d"]), m["min"]
    if sort == "day":
        return (None, None, number, None, None) if 0 < number < 32 and not minutes else None
    return (None, None, None, None, 60 * number + int(minutes or 0)) if number < 25 else None


def _ends(m: re.Match[str]) -> tuple[Stamp, Stamp] | None:
    """Return when what a form matches begins and ends; None where there is no such time."""
    said = {name: value.lower() for name, value in m.groupdict().items() if value is not None}
    known = _names()
    year = int(said["y"]) if "y" in said else None
    if "span" in said:
        number = known["span"][said["span"]]
        first, months = divmod(number, 100)
        last = first + months - 1
        if year is None:
            return ((None, first, None, None, None), (None, last, None, None, None)) if last < 13 else None
        wraps = last > 12
        return (year, first, None, None, None), (year + wraps, last - 12 * wraps, None, None, None)
    for name, years in (("century", 100), ("century_name", 100), ("decade", 10), ("nineties", 10)):
        if name in said:
            return _years(name, said[name], years)
    if "weekday" in said and "date" not in said:
        first, days = divmod(known["weekday"][said["weekday"]], 10)
        return (None, None, None, first, None), (None, None, None, first + days - 1, None)
    if "clock" in said:
        begin, end = divmod(known["clock"][said["clock"]], 10_000)
        return (None,) * 4 + (begin,), (None,) * 4 + (end,)
    month = known["month"][said["month"]] if "month" in said else int(said.get("m", 0)) or None
    day = known["day"][said["dname"]] if "dname" in said else int(said.get("d", 0)) or None
    if month is not None and month > 12 and day is not None and day <= 12:
        month, day = day, month
    if not 0 < (month or 1) < 13 or not 0 < (day or 1) < 32:
        return None
    stamp: Stamp = (year, month, day, None, _minute(said))
    return None if stamp == _NOTHING or not 0 <= (stamp[4] or 0) <= 1440 else (stamp, stamp)


def _minute(said: Mapping[str, str]) -> int | None:
    if "h" not in said:
        return None
    hour = int(said["h"])
    if "half" in said:
        hour = hour % 12 + (12 if said["half"] == "p" else 0)
    return 60 * hour + int(said.get("min", 0))


def _years(name: str, said: str, years: int) -> tuple[Stamp, Stamp]:
    if name == "nineties":
        first = 1900 + _names()["nineties"][said]
    elif years == 10:
        first = int(said)
        years = 100 if first % 100 == 0 and first < 2000 else 10
    else:
        number = int(said) if said.isdigit() else _names()["century"][said]
        first = 100 * (number - 1) + 1
    return (first, None, None, None, None), (first + years - 1, None, None, None, None)
