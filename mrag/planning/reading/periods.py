"""Dates and times in the words of a question."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from mrag.language.tokens import TextToken
from mrag.planning.reading.numbers import rank_of

_MONTHS = "january february march april may june july august september october november december".split()
_YEAR = range(1000, 2200)
_BEFORE_YEARS = frozenset(
    "in since before after from until till to between and by of during through year years for fy or "
    "early late".split()
) | set(_MONTHS)


@dataclass(frozen=True)
class Word:
    """A word of a question.

    Attributes:
        token: The word with its folded form and its place in the text.
        low: In lower case.
        stem: Its stem.
        before: The punctuation between it and the word before.
        quote: Number of the quotation that it stands in; -1 if none.
    """

    token: TextToken
    low: str
    stem: str
    before: str
    quote: int = -1

    @property
    def plural(self) -> bool:
        """Return whether it is the plural of another word."""
        return self.low.endswith("s") and self.low != self.token.key


@dataclass(frozen=True)
class Period:
    """A time of a question, as a half-open interval of dates.

    Attributes:
        start: Index of its first word.
        end: Index behind its last word.
        low: Its first day; None where only a month is named.
        high: The day after its last.
        unit: What was named; `clock` is a time of day, kept in `text`.
        text: The time of day as 13:00:00, the number of a month or a quarter without a year, or the first
            and the last number of weekdays.
    """

    start: int
    end: int
    low: date | None
    high: date | None
    unit: str
    text: str = ""


def iso_period(at: int, match: re.Match[str]) -> Period | None:
    """Return the time of an ISO date or month; None if there is no such day."""
    year, month, day = match.groups()
    try:
        if day:
            low = date(int(year), int(month), int(day))
            return Period(at, at + 1, low, low + timedelta(1), "day")
        return _month(at, at + 1, int(year), int(month))
    except (ValueError, OverflowError):
        return None


def _month(start: int, end: int, year: int, month: int) -> Period:
    high = date(year + month // 12, month % 12 + 1, 1)
    return Period(start, end, date(year, month, 1), high, "month")


def month_of(year: int, month: int, said: Period) -> Period:
    """Return a month of a year in the place of one that was said without a year."""
    return _month(said.start, said.end, year, month)


_WEEKDAYS = {
    **{day: f"{n}-{n}" for n, day in enumerate(
        ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"), 1)},
    "weekend": "6-7",
    "weekday": "1-5",
}  # fmt: skip
_BEFORE_WEEKDAYS = frozenset("on a the every at during over in or and any between to through".split())
_BEFORE_CLOCKS = frozenset("before after at by until till since than from to between and".split())


def dated_words(words: Sequence[Word], taken: set[int]) -> list[Period]:
    """Return the times that words say, but for those that are taken."""
    found = []
    at = 0
    while at < len(words):
        period = None if at in taken else _date(words, at)
        if period is not None:
            found.append(period)
        at = period.end if period is not None else at + 1
    return found


def _date(words: Sequence[Word], at: int) -> Period | None:
    low = [w.low for w in words[at : at + 6]]
    quarter = _quarter(low)
    if quarter is not None:
        number, used, year = quarter
        if not year:
            return Period(at, at + used, None, None, "quarter", str(number))
        return Period(
            at, at + used, date(year, number * 3 - 2, 1), _month(0, 0, year, number * 3).high, "quarter"
        )
    day = _day(low[0])
    if day and len(low) > 1:  # 1 April 2023, 1st of April 2023
        skip = 1 + (low[1] == "of")
        month = _month_of(low[skip]) if len(low) > skip else 0
        year = _year(low[skip + 1]) if len(low) > skip + 1 else 0
        if month and year:
            return _one_day(at, at + skip + 2, year, month, day)
    if many := _years(low):
        (first, last), used = many
        return Period(at, at + used, date(first, 1, 1), date(last + 1, 1, 1), "years")
    month = _month_of(low[0])
    if month and len(low) > 1:
        day, year = _day(low[1]), _year(low[2]) if len(low) > 2 else 0
        if day and year:
            return _one_day(at, at + 3, year, month, day)
        of = 1 + (low[1] == "of" and len(low) > 2)
        if year := _year(low[of]):
            return _month(at, at + of + 1, year, month)
    if month and low[0] in _MONTHS and (low[0] not in ("may", "march") or _is_month(words, at)):
        return Period(at, at + 1, None, None, "month", str(month))
    weekdays = _WEEKDAYS.get(low[0].removesuffix("s"))
    if weekdays and at and words[at - 1].low in _BEFORE_WEEKDAYS:
        return Period(at, at + 1, None, None, "weekday", weekdays)
    if low[0] in ("noon", "midday", "midnight") and at and words[at - 1].low in _BEFORE_CLOCKS:
        return Period(at, at + 1, None, None, "clock", f"{0 if low[0] == 'midnight' else 12:02}:00:00")
    year = _year(low[0]) if _timely([w.low for w in words[max(0, at - 2) : at]]) else 0
    if year and low[0] == words[at].token.raw.lower():
        return Period(at, at + 1, date(year, 1, 1), date(year + 1, 1, 1), "year")
    return None


def _is_month(words: Sequence[Word], at: int) -> bool:
    """Return whether a word that may be a verb is a month: "in May", "between March and June"."""
    before = words[at - 1].low if at else ""
    spelt = words[at].token.raw[0].isupper() or before in ("in", "during")
    return spelt and before in _BEFORE_YEARS


def _years(low: Sequence[str]) -> tuple[tuple[int, int], int] | None:
    """Return first and last year of a decade or a century, and the words used: "1970s", "19th century"."""
    if re.fullmatch(r"\d{3}0'?s", low[0]) and int(low[0][:4]) in _YEAR:
        first = int(low[0][:4])
        return (first, first + (99 if first % 100 == 0 and first % 1000 else 9)), 1
    if re.fullmatch(r"[2-9]0'?s", low[0]):
        return (1900 + int(low[0][:2]), 1909 + int(low[0][:2])), 1
    if len(low) > 1 and low[1] == "century" and 1 <= (number := rank_of(low[0])) <= 30:
        return (number * 100 - 99, number * 100), 2
    return None


def _timely(before: Sequence[str]) -> bool:
    """Return whether a number of four digits behind some words is a year."""
    if not before or before[-1] in _BEFORE_YEARS:
        return True
    return before[-1] == "than" and before[0] in ("later", "earlier", "newer", "older")


def _one_day(start: int, end: int, year: int, month: int, day: int) -> Period | None:
    try:
        low = date(year, month, day)
    except ValueError:
        return None
    return Period(start, end, low, low + timedelta(1), "day")


def _quarter(low: Sequence[str]) -> tuple[int, int, int] | None:
    """Return number, words used and year of `q1 2023`, `first quarter of 2023`; 0 for no year."""
    number = {"q1": 1, "q2": 2, "q3": 3, "q4": 4}.get(low[0], 0)
    used = 1
    if not number and len(low) > 1 and low[1] == "quarter":
        number, used = rank_of(low[0]), 2
    if not 1 <= number <= 4:
        return None
    behind = used + (len(low) > used and low[used] in ("of", "in"))
    year = _year(low[behind]) if len(low) > behind else 0
    if not year and list(low[behind : behind + 2]) in (["any", "year"], ["every", "year"], ["each", "year"]):
        return number, behind + 2, 0
    return (number, behind + 1, year) if year else (number, used, 0)


def _day(word: str) -> int:
    number = int(word) if re.fullmatch(r"\d{1,2}", word) else rank_of(word)
    return number if 1 <= number <= 31 else 0


def _year(word: str) -> int:
    return int(word) if re.fullmatch(r"\d{4}", word) and int(word) in _YEAR else 0


def _month_of(word: str) -> int:
    word = word.rstrip(".")
    for number, name in enumerate(_MONTHS, 1):
        if word == name or (len(word) >= 3 and word in (name[:3], name[:4])):
            return number
    return 0
