"""A question cut into words, with what stands in quotes, its numbers and its dates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from mrag.language.tokens import TextToken, stem, tokens
from mrag.planning.lexical.candidates import NameMention
from mrag.planning.lexical.english import positive
from mrag.planning.reading.numbers import NUMBERS, SCALE, number_of, rank_of, unit_of
from mrag.planning.reading.periods import Period, Word, dated_words, iso_period

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
        quotations: What stands in quotes: first word, last word + 1, the text.
    """

    text: str
    words: tuple[Word, ...]
    quantities: tuple[Quantity, ...]
    periods: tuple[Period, ...]
    quotations: tuple[tuple[int, int, str], ...]

    @cached_property
    def low(self) -> list[str]:
        """Return the words in lower case."""
        return [word.low for word in self.words]

    def single(self, word: str) -> int:
        """Return where a word stands that is in the question once, behind its first; 0 for others."""
        return self.low.index(word) if self.low.count(word) == 1 else 0

    def until(self, end: int) -> str:
        """Return the text up to the word before an end."""
        return self.text[: self.words[end - 1].token.end]

    def said(self, start: int, end: int) -> str:
        """Return the text of some words, from the first to the one before the end; "" of none."""
        return self.text[self.words[start].token.start : self.words[end - 1].token.end] if start < end else ""

    def named(self, mention: NameMention) -> str:
        """Return the text of the words that name something."""
        return self.said(mention.start, mention.end)

    def before(self, at: int) -> str:
        """Return the text before a word."""
        return self.text[: self.words[at].token.start]

    def onward(self, at: int) -> str:
        """Return the text from a word onward; "" behind the last."""
        return self.text[self.words[at].token.start :] if at < len(self.words) else ""

    def behind(self, at: int) -> str:
        """Return the text behind a word."""
        return self.text[self.words[at].token.end :]

    def written(self, at: int) -> str:
        """Return a word with the signs that are written right before it: "+49", ".com"."""
        token = self.words[at].token
        signs = re.search(r"(?<!\S)[.+#@$/*_-]+$", self.text[: token.start])
        return (signs[0] if signs else "") + token.raw


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
    periods += [p for a, _, m in isos if a in at and (p := iso_period(at[a], m)) is not None]
    periods += dated_words(found, {p.start for p in periods})
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
