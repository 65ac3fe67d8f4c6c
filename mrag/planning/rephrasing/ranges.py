"""Ends of a range that share words: "between 10 and 20 May 2024" is from 10 May 2024 to 20 May 2024."""

from __future__ import annotations

from typing import Final

from mrag.language.grammar import reworded, rules

_MONTH: Final = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.?"
)
_DAY: Final = r"\d{1,2}(?:st|nd|rd|th)?"
_YEAR: Final = r"(?:1[5-9]|20)\d\d"
_FROM: Final = r"(?:between|from)(?: the)?"
_TO: Final = r"(?:and|to|until|till|through|-|–)(?: the)?"

_RANGES: Final = rules(
    # between 10 and 20 May 2024
    (
        rf"\b(?:{_FROM} )?(?P<a>{_DAY}) ?{_TO} ?(?P<b>{_DAY})(?: of)? (?P<m>{_MONTH})(?P<y>,? "
        rf"{_YEAR})?\b",
        r"between \g<a> \g<m>\g<y> and \g<b> \g<m>\g<y>",
    ),
    # between May 10 and 20, 2024
    (
        rf"\b(?:{_FROM} )?(?P<m>{_MONTH}) (?P<a>{_DAY}) ?{_TO} ?(?P<b>{_DAY})(?P<y>,? {_YEAR})?\b(?! "
        rf"{_MONTH})",
        r"between \g<m> \g<a>\g<y> and \g<m> \g<b>\g<y>",
    ),
    # between 28 April and 3 May 2024, between January and March 2024
    (
        rf"\b{_FROM} (?P<a>(?:{_DAY}(?: of)? )?{_MONTH}|{_MONTH} {_DAY}) {_TO} "
        rf"(?P<b>(?:{_DAY}(?: of)? )?{_MONTH}|{_MONTH} {_DAY})(?P<y>,? {_YEAR})\b",
        r"between \g<a>\g<y> and \g<b>\g<y>",
    ),
    # between 6 and 9 pm
    (
        rf"\b{_FROM} (?P<a>\d{{1,2}}(?::\d\d)?) {_TO} (?P<b>\d{{1,2}}(?::\d\d)? ?(?P<h>[ap])\.?m\b\.?)",
        r"between \g<a> \g<h>m and \g<b>",
    ),
)


_OVER: Final = r"(?P<a>\b(?:than|over|under|above|below|least|most|within|of|to)) "
_SINGLE: Final = rules(
    (r"\bhalf an hour\b", "30 minutes"),
    (r"\ban hour and a half\b|\bone and a half hours\b", "90 minutes"),
    (r"\bhalf a year\b", "6 months"),
    (
        rf"{_OVER}an? (?P<u>year|month|week|day|hour|minute|kilo|kilogram|ton|mile|(?:kilo)?met(?:er|re))"
        r"\b",
        r"\g<a> 1 \g<u>",
    ),
)
"""Measures of one of a unit, or of half of it."""


def with_both_ends(text: str) -> str:
    """Return a question in which each end of a range has what both share, and measures are in numbers.

    Example:
        >>> with_both_ends("Who stayed between 10 and 20 May 2024?")
        'Who stayed between 10 May 2024 and 20 May 2024?'
        >>> with_both_ends("sales from January to March 2023")
        'sales between January 2023 and March 2023'
        >>> with_both_ends("between May 3 and June 5, 2024")
        'between May 3, 2024 and June 5, 2024'
        >>> with_both_ends("stays longer than a week")
        'stays longer than 1 week'
        >>> with_both_ends("boats between 10 and 20 metres")
        'boats between 10 and 20 metres'
    """
    text = reworded(text, _SINGLE)
    for pattern, words in _RANGES:
        text, found = pattern.subn(words, text)
        if found:
            return text
    return text
