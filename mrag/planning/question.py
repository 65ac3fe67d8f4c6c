"""The words of a question: its cues, numbers and periods, and the pieces that it falls into."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from typing import Final, TypeAlias
from typing import Literal as OneOf

from mrag.language.possessive import compile_late
from mrag.language.tokens import TextToken, is_stopword, stem, tokens
from mrag.planning.lexical.english import DIMENSIONS, positive

CueKind: TypeAlias = OneOf[
    "count", "fold", "most", "top", "compare", "between", "group", "order", "direction", "not", "or", "and",
    "show", "who", "where", "when", "text", "ratio", "percentage", "difference", "same", "out of",
    "unsupported",
    "exists",
]  # fmt: skip


@dataclass(frozen=True)
class Cue:
    """Words that say how to compute.

    Attributes:
        start: Index of its first token.
        end: Index behind its last token.
        kind: What they say.
        value: A relation, a function, a direction: whatever belongs to the kind.
    """

    start: int
    end: int
    kind: CueKind
    value: str = ""


_TABLE: dict[CueKind, dict[str, str]] = {
    "count": {
        "": "how many|number of|the number of|total number of|count of|total count of|count|counts|"
        "numbers of|amount of times|no of|total no of|how often|quantity of",
    },
    "fold": {
        "average": "average|mean|avg|average of|on average|the mean of",
        "sum": "total|sum|sum of|total of|sum total of|combined|altogether|in total|total sum of|how much|"
        "cumulative",
        "maximum": "maximum|max|maximum of",
        "minimum": "minimum|min|minimum of",
    },
    "most": {
        "greatest": "most|highest|greatest|the most|max|maximum|the highest|largest number of|"
        "greatest number of|"
        "most number of|highest number of|the most number of|maximum number of",
        "least": "least|lowest|fewest|the fewest|the least|the lowest|smallest number of|lowest number of|"
        "least number of|fewest number of|minimum number of",
    },
    "top": {"greatest": "top|the top|best|leading", "least": "bottom|the bottom|worst"},
    "compare": {
        ">": "more than|greater than|higher than|larger than|over|above|exceeding|exceeds|exceed|after|"
        "later than|bigger than|longer than|heavier than|older than|better than|in excess of|newer than|"
        "taller than",
        "<": "less than|fewer than|lower than|smaller than|under|below|before|earlier than|shorter than|"
        "lighter than|cheaper than|younger than|worse than",
        ">=": "at least|no less than|not less than|or more|minimum of|since|on or after|starting from|"
        "from at least|greater than or equal to|more than or equal to|or higher|or above|or later|"
        "no fewer than|not fewer than|as of",
        "<=": "at most|no more than|not more than|or less|up to|on or before|until|maximum of|"
        "less than or equal to|or fewer|or lower|or below|or earlier|not exceeding|by the end of",
        "=": "exactly|equal to|equals|equal|precisely|exact",
    },
    "between": {"": "between|in between|ranging from"},
    "group": {
        "each": "for each|per|in each|of each|by each|each|for every|in every|of every|every|at each|"
        "from each|"
        "on each|to each|with each|within each|across|across all|across different|by different|"
        "across each|grouped by|group by|broken down by|for each of the|across various|split by|"
        "each of the|for the different|among different|for all the different|differ by|vary by|"
        "varies by|differ across|vary across|vary across different|for each distinct|for each unique|"
        "by each of the|for each individual|for each different",
        "by": "by|according to|based on|depending on",
    },
    "order": {
        "": "ordered by|sorted by|order by|sort by|ranked by|order the results by|sort the results by|"
        "arranged by|rank by|in order of|order results by|sort results by|order them by|sort them by|"
        "sort the|order the|rank the|arrange the|sort|"
        "ordered on|ranked according to|order the result by|sort the result by|ordered in terms of",
    },
    "direction": {
        "descending": "in descending order|descending|descending order|from highest to lowest|"
        "highest to lowest|"
        "desc|"
        "in decreasing order|from most to least|highest first|most first|best first|biggest first|"
        "greatest first|from largest to smallest|from the top|from the top down|"
        "starting from the best|in reverse order|largest first|"
        "from best to worst|starting from the top|from the highest to the lowest|"
        "from the best to the worst|from newest to oldest|in descending order of|"
        "sort in descending order|sorted in descending order|starting from the highest|from high to low",
        "ascending": "in ascending order|ascending|ascending order|from lowest to highest|lowest to highest|"
        "asc|"
        "in increasing order|alphabetically|in alphabetical order|lowest first|worst first|least first|"
        "fewest first|from least to most|"
        "smallest first|from smallest to largest|starting from the lowest|chronologically|"
        "in chronological order|from the lowest to the highest|from oldest to newest|"
        "in ascending order of|by alphabetical order|sort in ascending order|sorted in ascending order|"
        "sorted alphabetically|ordered alphabetically|from low to high",
    },
    "not": {
        "": "not|no|without|never|do not|does not|did not|don't|doesn't|didn't|haven't|hasn't|have not|"
        "has not|isn't|aren't|excluding|except|other than|none|have no|has no|having no|with no|"
        "do not have|does not have|do not have any|does not have any|don't have|don't have any|"
        "doesn't have|doesn't have any|haven't made any|have not made any|without any|is not|are not|"
        "were not|was not|weren't|wasn't|apart from|besides|have never|has never|lack|lacks|lacking|"
        "neither|non|are missing|is missing|have not yet|exclude|but not|not any|not part of any|"
        "no longer|did not have|did not have any|had no|nobody|nothing|no one",
    },
    "or": {"": "or|either"},
    "and": {"": "and|as well as|along with|together with|&|both|plus|also|but also|including|in addition to"},
    "show": {
        "": "return|show|give|list|display|find|get|provide|tell|which|what|name|output|identify|retrieve|"
        "report|select|show me|give me|tell me|can you list|can you show|can you give|can you tell|"
        "i want|i'd like|list all|what is|what are|what was|what were|what's|whats|please list|"
        "please show|i want to know|could you list|include|enumerate|print|return me|find me|get me|"
        "what kind of|which kind of|show all|determine|calculate|compute|i need",
    },
    "who": {"": "who|whom|who is|who are|who was|who were|who's|by whom|to whom"},
    "where": {
        "": "where|where is|where are|where was|where can|where can i|where can we|where do|where does|"
        "where did",
    },
    "when": {"": "when|when is|when was|when did|when does|when were|when are|on which date|on what date"},
    "text": {
        "start": "starting with|starts with|start with|begins with|begin with|beginning with|"
        "starting with the letter|starts with the letter|start with the letter|begin with the letter|"
        "begins with the letter|starting with letter|beginning with the letter",
        "end": "ending with|ends with|end with|ending in|ends in|end in|ending with the letter|"
        "ends with the letter|end with the letter",
        "anywhere": "containing|contains|contain|containing the word|contains the word|contain the word|"
        "includes the word|including the word|with the word|containing the letter|contain the letters|"
        "containing the string|contains the string|contain the string|containing the substring|"
        "contains the substring|contain the substring|has the substring|have the substring|"
        "with the substring|includes the substring|include the substring|contains the letter|"
        "contain the letter|contains the text|contain the text|contains the phrase|contain the phrase|"
        "mentioning|mentions|mention|"
        "containing the phrase|include the word|has the word|have the word|that includes the text",
    },
    "ratio": {"": "ratio of|the ratio of|ratio between|ratio|ratios of|quotient of"},
    "percentage": {
        "100": "percentage of|percent of|what percentage of|what percent of|percentage|percent|"
        "what percentage",
        "1": "proportion of|share of|fraction of|what proportion of|what share of|what fraction of|"
        "proportion|rate of",
    },
    "difference": {
        "": "difference between|difference in|the difference between|the difference in|gap between",
    },
    "same": {"": "the same|same|share the same|shares the same|in common with|at the same"},
    "out of": {"": "out of|out of all|out of the total number of|over all|to the total number of|among all"},
    "unsupported": {
        "": "how many more|how many fewer|how much more|how much less|"
        "median|standard deviation|variance|percentile|cumulative sum|running total|moving average|"
        "month over month|year over year|correlation|growth rate|forecast|predict|why|how do|how does|"
        "how can|how should|how did|how to|previous month|rolling",
    },
    "exists": {
        "": "there are|are there|is there|there is|exist|exists|do we have|were there|was there|there were",
    },
}


def _trie() -> dict[tuple[str, ...], tuple[tuple[CueKind, str], ...]]:
    found: dict[tuple[str, ...], list[tuple[CueKind, str]]] = {}
    for kind, values in _TABLE.items():
        for value, forms in values.items():
            for form in forms.split("|"):
                found.setdefault(tuple(form.split()), []).append((kind, value))
    return {form: tuple(meanings) for form, meanings in found.items()}


_FORMS = _trie()
_LONGEST = max(map(len, _FORMS))


def cues(words: Sequence[str]) -> Iterator[Cue]:
    """Yield every cue of a question; spans may overlap, and one may have several meanings.

    Args:
        words: The question's words as written, in lower case.

    Example:
        >>> [(c.kind, c.value) for c in cues("how many rivers are longer than 500".split())]
        [('count', ''), ('compare', '>')]
    """
    for start in range(len(words)):
        for end in range(min(len(words), start + _LONGEST), start, -1):
            for kind, value in _FORMS.get(tuple(words[start:end]), ()):
                if words[start] == "report" and (start and list(words[end : end + 1]) == ["to"]):
                    continue  # who reports to somebody is not shown
                if words[start] in ("display", "show") and start and words[start - 1] == "on":
                    continue  # what is "on display" is not asked for by that
                if kind == "percentage" and start and words[start - 1][-1:].isdigit():
                    continue  # "above 5 percent" asks for no share
                yield Cue(start, end, kind, value)
        more, adjective = words[start], positive(" ".join(words[start + 1 : start + 2]))
        if more in ("more", "less") and adjective and list(words[start + 2 : start + 3]) == ["than"]:
            up = (more == "more") == (DIMENSIONS[adjective][0] == "greatest")
            yield Cue(start, start + 3, "compare", ">" if up else "<")
        plain = positive(more) if more.endswith("er") else None
        behind = tuple(words[start : start + 2])
        if plain and plain != more and behind[1:] == ("than",) and behind not in _FORMS:
            # "deeper than", of whatever has a measure of it.
            yield Cue(start, start + 2, "compare", ">" if DIMENSIONS[plain][0] == "greatest" else "<")


_UNREAD: frozenset[CueKind] = frozenset(("fold", "most", "compare", "group", "not", "ratio", "percentage"))


def computing_words(words: Sequence[str]) -> tuple[str, ...]:
    """Return the words of a question that no reading of single facts does justice to.

    These are superlatives, comparisons with a number or with "than", folds, shares, "per" and negations.

    Args:
        words: The question's words as written, in lower case.

    Example:
        >>> computing_words("who develops the newest database that is not free".split())
        ('newest', 'not')
        >>> computing_words("who trained under obi-wan".split())
        ()
    """
    found = [w for w in words if positive(w) not in (None, w) and (w.endswith("est") or w == "worst")]
    for cue in cues(words):
        said = words[cue.start : cue.end]
        number = any(c.isdigit() for c in " ".join(words[cue.end : cue.end + 2]))
        if said == ["mean"] and not {"do", "does", "did"}.isdisjoint(words[: cue.start]):
            continue  # what something means
        if cue.kind not in _UNREAD or (cue.kind, cue.value) == ("group", "by") or said == ["how", "much"]:
            continue
        if cue.kind != "compare" or number or "than" in said:
            found += said[-1:] if cue.kind == "group" else said
    if any(w in ("more", "fewer", "less") and "than" in words[i:] for i, w in enumerate(words)):
        found.append("than")
    small = ("the", "of", "in", "on", "for", "do", "does", "did", "have", "has", "is", "are", "what")
    return tuple(dict.fromkeys(word for word in found if word not in small))


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


_QUOTED = compile_late(r"\"([^\"]{1,200})\"|“([^”]{1,200})”|(?<!\w)'([^']{1,200})'(?!\w)|`([^`]{1,200})`")
_SYMBOLS = (
    (compile_late(r">=|≥"), " at least "), (compile_late(r"<=|≤"), " at most "),
    (compile_late(r">"), " more than "),
    (compile_late(r"<"), " less than "), (compile_late(r"\s=\s"), " equal to "),
    (compile_late(r"%"), " percent "),
    (compile_late(r"\b(\d{4}) ?- ?(\d{4})\b"), r"\1 to \2"),
    (compile_late(r"(?i)\b(than|least|most|exactly|only) once\b"), r"\1 1 times"),
    (compile_late(r"(?i)\b(than|least|most|exactly|only) twice\b"), r"\1 2 times"),
)  # fmt: skip
_COMPARED = compile_late(
    r"(?i)\b(more|fewer|less|higher|greater|larger|bigger|lower|smaller)"
    r" ((?!than\b|or\b)[a-z]+(?: (?!than\b)[a-z]+)?) than\b"
)
_ISO = compile_late(r"(?<!\d)(\d{4})-(\d{2})(?:-(\d{2}))?(?!\d)")
_CLOCK = compile_late(r"(?i)\b(\d{1,2})(?::(\d{2}))? ?([ap])\.?m\b\.?|\b(\d{1,2}):(\d{2})(?::\d{2})?\b")


@dataclass(frozen=True)
class Quantity:
    """A number of a question, or the rank that an ordinal names."""

    start: int
    end: int
    value: float
    ordinal: bool = False


@dataclass(frozen=True)
class QuestionText:
    """A question cut into words.

    Attributes:
        text: Its text, symbols of comparison put in words.
        words: Its words in order.
        quantities: Its numbers.
        periods: Its dates and times.
    """

    text: str
    words: tuple[Word, ...]
    quantities: tuple[Quantity, ...]
    periods: tuple[Period, ...]

    @cached_property
    def low(self) -> list[str]:
        """Return the words in lower case."""
        return [word.low for word in self.words]

    def said(self, start: int, end: int) -> str:
        """Return the text of some words, from the first to the one before the end; "" of none."""
        return self.text[self.words[start].token.start : self.words[end - 1].token.end] if start < end else ""


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
    quotes = [m.span() for m in _QUOTED.finditer(text)]
    found: list[Word] = []
    last = 0
    fixed = [(a, b) for a, b, _ in (*clocks, *isos)]
    for token in _whole(tokens(text), fixed, text):
        quote = next((n for n, (a, b) in enumerate(quotes) if a <= token.start and token.end <= b), -1)
        before = text[last : token.start].strip()
        if token.raw.lower() in ("ids", "id's", "id’s"):
            token = TextToken(token.raw, "id", token.start, token.end)
        found.append(Word(token, token.raw.lower().replace("’", "'"), stem(token.key), before, quote))
        last = token.end
    at = {w.token.start: i for i, w in enumerate(found)}
    periods = [
        Period(at[a], at[a] + 1, None, None, "clock", value) for a, _, value in clocks if a in at and value
    ]
    periods += [p for a, _, m in isos if a in at and (p := iso_period(at[a], m)) is not None]
    periods += dated_words(found, {p.start for p in periods})
    taken = {i for p in periods for i in range(p.start, p.end)}
    return QuestionText(text, tuple(found), tuple(_quantities(found, taken)), tuple(periods))


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


_NOISE = frozenset(
    "distinct unique different various respective respectively corresponding available associated related "
    "given existing exist exists there database data graph dataset table record records information info "
    "detail details value values result results please overall entire whole individual specific particular "
    "certain involved include includes included including contain belong belongs belonging have has had "
    "having be is are was were been being do does did done make makes made take takes taken took get gets "
    "thing things one ones total totals kind kinds sort sorts type types list lists listed also only "
    "just ever currently current present presented shown show shows together want wanted know need "
    "found find become becomes became "
    "use uses used using based come comes came located locate lie lies situated belonged called named name "
    "names known respect regarding concerning entry entries item items instance instances all any each both "
    "their its his her them they it he she we you i me my our your us some much many more than who whom "
    "whose that which what where when how why the a an of in on at by for from to with within into "
    "onto and or as "
    "so if then this these those such same other others another every no not s t can could would should will "
    "shall may might must please number numbers count counts amount amounts per via between during "
    "over under "
    "order ordered sort sorted descending ascending inclusive start end annual annually new live "
    "lives living "
    "combination combinations pair pairs offer offers offered offering provides feature features "
    "convert converted integer share shares sharing "
    "receive received earn earns earned obtain obtained gain gained got gotten achieve achieved acquired "
    "recorded registered actually really already still yet "
    "occur occurred happen happened relevant correspond belongs did done hold holds held host hosts "
    "showing shows "
    "among amongst anything anyone anybody someone somebody something everyone everybody "
    "place places go went going give gave given provide provided say says said tell".split()
)
"""Words that a reading may leave aside: they say nothing that the graph could answer otherwise."""


def meaningful(word: Word) -> bool:
    """Return whether a reading must account for a word."""
    raw = word.token.raw
    if raw.isupper() and len(raw) > 1 and raw.isalpha():
        return True  # "US" is no pronoun
    return not (word.low in _NOISE or word.token.key in _NOISE or is_stopword(word.token.key))
