"""A question cut into words, with what stands in quotes, its numbers and its dates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from mrag.planning.lexical.synonyms import positive
from mrag.planning.reading.numbers import NUMBERS, SCALE, number_of, rank_of
from mrag.planning.reading.units import unit_of
from mrag.text.tokens import TextToken, stem, tokens

_QUOTED = re.compile(r"\"([^\"]{1,200})\"|“([^”]{1,200})”|(?<!\w)'([^']{1,200})'(?!\w)|`([^`]{1,200})`")
_SYMBOLS = (
    (re.compile(r">=|≥"), " at least "), (re.compile(r"<=|≤"), " at most "),
    (re.compile(r">"), " more than "),
    (re.compile(r"<"), " less than "), (re.compile(r"\s=\s"), " equal to "), (re.compile(r"%"), " percent "),
    (re.compile(r"\b(\d{4}) ?- ?(\d{4})\b"), r"\1 to \2"),
    (re.compile(r"(?i)\b(than|least|most|exactly|only) once\b"), r"\1 1 times"),
    (re.compile(r"(?i)\b(than|least|most|exactly|only) twice\b"), r"\1 2 times"),
)  # fmt: skip
_COMPARED = re.compile(
    r"(?i)\b(more|fewer|less|higher|greater|larger|bigger|lower|smaller)"
    r" ((?!than\b|or\b)[a-z]+(?: (?!than\b)[a-z]+)?) than\b"
)
_ISO = re.compile(r"(?<!\d)(\d{4})-(\d{2})(?:-(\d{2}))?(?!\d)")
_CLOCK = re.compile(r"(?i)\b(\d{1,2})(?::(\d{2}))? ?([ap])\.?m\b\.?|\b(\d{1,2}):(\d{2})(?::\d{2})?\b")
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


@dataclass(frozen=True)
class Quantity:
    """A number of a question, or the rank that an ordinal names."""

    start: int
    end: int
    value: float
    ordinal: bool = False


@dataclass(frozen=True)
class Period:
    """A time of a question, as a half-open interval of dates.

    Attributes:
        start: Index of its first word.
        end: Index behind its last word.
        low: Its first day; None where only a month is named.
        high: The day after its last.
        unit: What was named; `clock` is a time of day, kept in `text`.
        text: The time of day as 13:00:00, the number of a month without a year, or the first and the last
            number of weekdays.
    """

    start: int
    end: int
    low: date | None
    high: date | None
    unit: str
    text: str = ""


@dataclass(frozen=True)
class QuestionText:
    """A question cut into words.

    Attributes:
        text: Its text, symbols of comparison put in words.
        words: Its words in order.
        quantities: Its numbers.
        periods: Its dates and times.
        quotations: What stands in quotes: first word, last word + 1, the text.
    """

    text: str
    words: tuple[Word, ...]
    quantities: tuple[Quantity, ...]
    periods: tuple[Period, ...]
    quotations: tuple[tuple[int, int, str], ...]

    @property
    def low(self) -> list[str]:
        """Return the words in lower case."""
        return [word.low for word in self.words]


def _noun_first(match: re.Match[str]) -> str:
    """Return "people more than" for "more people than"; adjectives stay where they are."""
    more, noun = match.groups()
    return match.group() if positive(noun) else f"{noun} {more} than"


def cut(text: str) -> QuestionText:
    """Cut a question into words.

    Example:
        >>> q = cut("Which rivers are >= 500 km, as of the 1st quarter of 2023?")
        >>> [w.low for w in q.words][:6], q.quantities[0].value, q.periods[0].high
        (['which', 'rivers', 'are', 'at', 'least', '500'], 500.0, datetime.date(2023, 4, 1))
    """
    for pattern, words in _SYMBOLS:
        text = pattern.sub(words, text)
    text = _COMPARED.sub(_noun_first, text)
    text = " ".join(text.split())
    clocks = [(m.start(), m.end(), _clock(m)) for m in _CLOCK.finditer(text)]
    isos = [(m.start(), m.end(), m) for m in _ISO.finditer(text)]
    quotes = [
        (m.start(), m.end(), next(g for g in m.groups() if g is not None)) for m in _QUOTED.finditer(text)
    ]
    found: list[Word] = []
    last = 0
    fixed = [(a, b) for a, b, _ in (*clocks, *isos)]
    for token in _whole(tokens(text), fixed, text):
        quote = next((n for n, (a, b, _) in enumerate(quotes) if a <= token.start and token.end <= b), -1)
        before = text[last : token.start].strip()
        if token.raw.lower() in ("ids", "id's", "id’s"):
            token = TextToken(token.raw, "id", token.start, token.end)
        found.append(Word(token, token.raw.lower().replace("’", "'"), stem(token.key), before, quote))
        last = token.end
    spans = []
    for n, (_, _, inner) in enumerate(quotes):
        inside = [i for i, w in enumerate(found) if w.quote == n]
        if inside:
            spans.append((inside[0], inside[-1] + 1, inner))
    at = {w.token.start: i for i, w in enumerate(found)}
    periods = [
        Period(at[a], at[a] + 1, None, None, "clock", value) for a, _, value in clocks if a in at and value
    ]
    periods += [p for a, _, m in isos if a in at and (p := _iso(at[a], m)) is not None]
    periods += _dates(found, {p.start for p in periods})
    taken = {i for p in periods for i in range(p.start, p.end)}
    return QuestionText(text, tuple(found), tuple(_quantities(found, taken)), tuple(periods), tuple(spans))


def _whole(words: Sequence[TextToken], fixed: Sequence[tuple[int, int]], text: str) -> list[TextToken]:
    """Join the tokens that make one date or time."""
    found: list[TextToken] = []
    for token in words:
        span = next(((a, b) for a, b in fixed if a <= token.start < b), None)
        if span is None:
            found.append(token)
        elif not found or found[-1].start != span[0]:
            raw = text[span[0] : span[1]]
            found.append(TextToken(raw, raw.lower(), span[0], span[1]))
    return found


def _clock(match: re.Match[str]) -> str:
    hour, minute, half, hour24, minute24 = match.groups()
    h, m = int(hour or hour24), int(minute or minute24 or 0)
    if half:
        h = h % 12 + (12 if half.lower() == "p" else 0)
    return f"{h:02}:{m:02}:00" if h < 24 and m < 60 else ""


def _iso(at: int, match: re.Match[str]) -> Period | None:
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


_WEEKDAYS = {
    **{day: f"{n}-{n}" for n, day in enumerate(
        ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"), 1)},
    "weekend": "6-7",
    "weekday": "1-5",
}  # fmt: skip
_BEFORE_WEEKDAYS = frozenset("on a the every at during over in".split())


def _dates(words: Sequence[Word], taken: set[int]) -> list[Period]:
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
    """Return number, words used and year of `q1 2023`, `first quarter of 2023`."""
    number = {"q1": 1, "q2": 2, "q3": 3, "q4": 4}.get(low[0], 0)
    used = 1
    if not number and len(low) > 1 and low[1] == "quarter":
        number, used = rank_of(low[0]), 2
    if not 1 <= number <= 4:
        return None
    used += len(low) > used and low[used] in ("of", "in")
    year = _year(low[used]) if len(low) > used else 0
    return (number, used + 1, year) if year else None


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


def _quantities(words: Sequence[Word], taken: set[int]) -> list[Quantity]:
    found = []
    for at, word in enumerate(words):
        if at in taken:
            continue
        value = number_of(word.token.key)
        ordinal = rank_of(word.low)
        if value is None and ordinal:
            found.append(Quantity(at, at + 1, ordinal, ordinal=True))
            continue
        if value is None and word.low in NUMBERS:
            value = float(NUMBERS[word.low])
        if value is None and word.low in ("a", "an") and _one(words, at):
            value = 1.0
        if value is None:
            continue
        end = at + 1
        while end < len(words) and words[end].low in SCALE and not words[end].before:
            value *= SCALE[words[end].low]
            end += 1
        found.append(Quantity(at, end, value))
    return found


def _one(words: Sequence[Word], at: int) -> bool:
    """Return whether an article is a number: "more than a year"."""
    before, behind = (words[at - 1].low if at else ""), [w.low for w in words[at + 1 : at + 2]]
    return before in ("than", "least", "most", "exceeding", "exceeds") and bool(unit_of(behind))
