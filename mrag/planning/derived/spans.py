"""How long things last: spans between two times that the graph states of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime

from mrag.planning.derived.property import (
    DerivedProperty,
    DerivedWords,
    properties_of,
    roots_of,
    told_together,
    words_of,
)
from mrag.planning.lexical.candidates import NameMention
from mrag.planning.lexical.english import DIMENSIONS, root
from mrag.planning.reading.numbers import unit_of
from mrag.planning.reading.question import QuestionText
from mrag.planning.schema import PropertyInfo, Schema

_SPAN = "urn:x-span:"
"""Beginning of the names of spans, which no graph has."""
_STARTS = frozenset(
    map(
        root,
        "start begin opening open departure depart birth born hire hired join joined founded created "
        "creation admission admitted enrolment enrollment order ordered launch launched issue issued checkin "
        "founding establishment established inception submitted received from since dep".split(),
    )
)
_ENDS = frozenset(
    map(
        root,
        "end ending finish finished closing closed close arrival arrive death died leave left leaving "
        "termination terminated dissolved dissolution completed completion graduation graduated delivery "
        "delivered shipped return returned checkout until to expiry expiration resolved arr".split(),
    )
)
_BEGINNING = frozenset(map(root, "begin began begun start started commence commenced".split()))
_ENDING = frozenset(map(root, "end ended finish finished conclude concluded".split()))
HOLDING = frozenset(
    map(root, "running active ongoing current underway force effect progress valid employed serving".split())
)
"""Roots of words that say that something has begun and has not ended: "active in 2020", "in force"."""
BEGINS_OR_ENDS = _BEGINNING | _ENDING
"""Roots of verbs that say no more than that something begins or ends."""
_LASTING = frozenset("duration timespan lifespan lifetime tenure".split())
_LAST = frozenset("last lasts lasted lasting take takes took taken taking run runs ran".split())
_TIME_WORDS = frozenset("time duration interval gap period difference span long length elapsed".split())
_OF_DATES = frozenset(map(root, "date day time timestamp".split()))
_OF_TIME = {
    "day": 1.0, "week": 1 / 7, "hour": 24.0, "minute": 1440.0, "second": 86400.0,
    "month": 12 / 365.25, "year": 1 / 365.25,
}  # fmt: skip
"""How many of a unit a day has."""
_EPOCH = (10**8, 10**10)
"""Numbers between which a property of times counts the seconds since 1970."""
_SHORT, _DAYS_APART = 5 * 3600, 2 * 86400
"""Seconds below which the spans of a graph are told in minutes, and in hours."""
_GAP = 6
"""Words that may stand between a word of time and the first of two dates."""


def spans_of(schema: Schema) -> dict[str, PropertyInfo]:
    """Return how long the things of each class last whose start and end are known, by IRI."""
    found: dict[str, PropertyInfo] = {}
    for cls in sorted(schema.classes):
        times = [
            i for i in schema.properties.values() if _time_kind(i) and cls in i.domains and i.domains[cls] > 0
        ]
        starts = [i for i in times if _ends_of(i, _STARTS) and not _ends_of(i, _ENDS)]
        ends = [i for i in times if _ends_of(i, _ENDS) and not _ends_of(i, _STARTS)]
        pairs = [(s, e) for s in starts for e in ends if _time_kind(s) == _time_kind(e)]
        if len(pairs) > 1:
            pairs = [(s, e) for s, e in pairs if _rest(s, _STARTS) == _rest(e, _ENDS)]
        if len(pairs) == 1:
            start, end = pairs[0]
            first, last = (end, start) if _reversed(start, end) else (start, end)
            info = _span(first, last, _usual_unit(first, last))
            found[info.iri] = info
    return found


def in_unit(spans: Iterable[PropertyInfo], unit: str) -> dict[str, PropertyInfo]:
    """Return spans counted in another unit of time, by IRI.

    Args:
        spans: Spans, as `spans_of` returns them.
        unit: Such as "minute".
    """
    found = [_span(first, last, unit) for first, last in _ends(spans)]
    return {info.iri: info for info in found}


def _ends(infos: Iterable[PropertyInfo]) -> Iterator[tuple[PropertyInfo, PropertyInfo]]:
    """Yield the starts and the ends of the spans among some properties."""
    for info in infos:
        if isinstance(info, DerivedProperty) and info.iri.startswith(_SPAN) and info.first and info.second:
            yield info.first, info.second


def _usual_unit(start: PropertyInfo, end: PropertyInfo) -> str:
    """Return the unit that spans are told in: hours or minutes where no two ends lie days apart."""
    pairs = [(start.minimum, end.minimum), (start.maximum, end.maximum)]
    if start.kind != "date" or not all("T" in t or " " in t for pair in pairs for t in pair):
        return ""
    try:
        apart = [abs(datetime.fromisoformat(b) - datetime.fromisoformat(a)).total_seconds() for a, b in pairs]
    except (ValueError, TypeError):
        return ""
    longest = max(apart)
    return "minute" if longest < _SHORT else "hour" if longest < _DAYS_APART else ""


def _reversed(start: PropertyInfo, end: PropertyInfo) -> bool:
    """Return whether values show that what is called an end comes first: guests arrive before they depart."""
    ends = [(a, b) for a, b in ((start.minimum, end.minimum), (start.maximum, end.maximum)) if a and b]
    if start.kind == "number":
        return len(ends) == 2 and all(float(a) > float(b) for a, b in ends)
    return len(ends) == 2 and all(a > b for a, b in ends)


def when_said(schema: Schema, iri: str) -> frozenset[str]:
    """Return the roots of verbs that say when something was by a property that is its start or its end.

    Args:
        schema: The schema, with its spans.
        iri: A property of times.
    """
    for first, second in _ends(schema.properties.values()):
        if iri in (first.iri, second.iri):
            return _BEGINNING if first.iri == iri else _ENDING
    own = schema.properties[iri]
    alone = not any(
        i.kind == "date" and i.iri != iri and set(i.domains) & set(own.domains)
        for i in schema.properties.values()
    )
    return _BEGINNING if alone else frozenset()


def held_between(schema: Schema, iri: str, said: Collection[str]) -> tuple[PropertyInfo, PropertyInfo] | None:
    """Return the start and the end between which something holds that a question says: "valid on 1 June".

    Args:
        schema: The schema, with its spans.
        iri: A property of times, the start or the end.
        said: Roots of the question's words.

    Returns:
        None where the property is no end of a span, or the question says when that begins or ends.
    """
    for first, second in _ends(schema.properties.values()):
        if iri not in (first.iri, second.iri):
            continue
        held = HOLDING | _rest(first, _STARTS) & _rest(second, _ENDS) - _OF_DATES
        if held & {*said} and not (_STARTS | _ENDS | BEGINS_OR_ENDS) & {*said}:
            return first, second
    return None


def _ends_of(info: PropertyInfo, words: frozenset[str]) -> bool:
    return bool(roots_of(info) & words)


def _rest(info: PropertyInfo, words: frozenset[str]) -> set[str]:
    return {root(w) for w in words_of(info.names[0])} - words


def _time_kind(info: PropertyInfo) -> str:
    """Return "date" or "seconds" for a property of times, "" for others."""
    if info.kind == "date":
        return "date"
    if info.kind != "number" or isinstance(info, DerivedProperty):
        return ""
    try:
        low, high = float(info.minimum), float(info.maximum)
    except ValueError:
        return ""
    said = roots_of(info)
    timely = {"time", "date", "timestamp"} & said or said & (_STARTS | _ENDS)
    return "seconds" if timely and _EPOCH[0] <= low <= high <= _EPOCH[1] else ""


def _span(start: PropertyInfo, end: PropertyInfo, unit: str) -> DerivedProperty:
    """Return the time from one property to another, in a unit or in that which the values are in."""
    seconds = _time_kind(start) == "seconds"
    own = unit or ("second" if seconds else "day")
    factor = _OF_TIME[own] / (_OF_TIME["second"] if seconds else 1.0)
    return told_together(
        f"{_SPAN}{own}|{start.iri}|{end.iri}",
        ("duration", f"{own}s"),
        f"how long it lasts or takes, from {start.names[0]} to {end.names[0]}, in {own}s",
        start,
        end,
        "-" if seconds else "days",
        factor,
    )


def unit_said(question: QuestionText) -> str:
    """Return the unit of time that an answer is asked for in: "in days", "how many years"."""
    low = question.low
    for at, word in enumerate(low):
        unit = unit_of([word])
        before = low[max(0, at - 2) : at]
        numbered = any(q.end == at for q in question.quantities)
        if unit in _OF_TIME and not numbered and {"in", "to", "many", "of", "integer", "whole"} & set(before):
            return unit
    return ""


def said_between(
    question: QuestionText, mentions: Sequence[NameMention], schema: Schema
) -> Iterator[DerivedWords]:
    """Yield the spans whose two ends are said: "days between start date and end date"."""
    low = question.low
    timely = [m for m in mentions if any(_time_kind(i) for i in properties_of(m, schema))]
    unit = unit_said(question)
    for first in timely:
        at = next(
            (n for n in range(first.start - 1, max(-1, first.start - 1 - _GAP), -1) if _of_time(low[n])), None
        )
        if at is None:
            continue
        for second in timely:
            between = low[first.end : second.start]
            if (
                second.start < first.end
                or len(between) > 3
                or not {"and", "to", "until", "since", "from"} & {*between}
            ):
                continue
            back = {"to", "until"} & {*low[at : first.start]} and {"since", "from"} & {*between}
            found = [
                _span(*((b, a) if back else (a, b)), unit)
                for a in properties_of(first, schema)
                for b in properties_of(second, schema)
                if a.iri != b.iri
                and _time_kind(a)
                and _time_kind(a) == _time_kind(b)
                and set(a.domains) & set(b.domains)
            ]
            if found:
                start = at
                while start and low[start - 1] in ("how", "many", "number", "of", "no", "the", "in"):
                    start -= 1
                end = second.end
                if low[end : end + 1] and low[end] in ("time", "times", "date", "dates"):
                    end += 1
                yield start, _with_unit(low, end), found[:2]


def _with_unit(low: Sequence[str], end: int) -> int:
    """Return where a span ends, with the unit behind it: "in days", "in no. of days"."""
    at = end
    while low[at : at + 1] and low[at] in ("in", "the", "no", "number", "of", "integer", "whole"):
        at += 1
    return at + 1 if at > end and low[at : at + 1] and unit_of([low[at]]) in _OF_TIME else end


def _of_time(word: str) -> bool:
    return word in _TIME_WORDS or (unit_of([word]) in _OF_TIME and len(word) > 2)


def said_to_last(
    question: QuestionText, mentions: Sequence[NameMention], schema: Schema
) -> Iterator[DerivedWords]:
    """Yield "duration" where no property is called so, "how long" and "last" are found as dimensions."""
    unit = unit_said(question)
    named = {at for m in mentions if m.candidates[0].score >= 0.9 for at in range(m.start, m.end)}
    spans = [*_ends(schema.properties.values())]
    stated = _is_stated(mentions, schema)
    for at, word in enumerate(question.low) if not stated else ():
        duration = (word.removesuffix("s") in _LASTING or _length(question.low, at)) and at not in named
        if (duration or (word in _LAST and _timed(question, at))) and spans:
            yield at, at + 1, [_span(s, e, unit or _usual_unit(s, e)) for s, e in spans]


def _is_stated(mentions: Sequence[NameMention], schema: Schema) -> bool:
    """Return whether things that are named have a number that says how long they last."""
    classes = {c.term for m in mentions for c in m.candidates[:1] if c.kind == "class" and c.score > 0.9}
    called = {*DIMENSIONS["long"][1].split()}
    numbers = (i for i in schema.properties.values() if i.kind == "number" and classes & {*i.domains})
    return any(
        called & {*name.lower().split()}
        for i in numbers
        if not isinstance(i, DerivedProperty)
        for name in i.names
    )


def _length(low: Sequence[str], at: int) -> bool:
    """Return whether a "length" is one of time: "the average length of a stay in days"."""
    return (
        low[at] in ("length", "lengths")
        and low[at + 1 : at + 2] == ["of"]
        and bool({unit_of([w]) for w in low[at + 2 :]} & _OF_TIME.keys())
    )


def _timed(question: QuestionText, at: int) -> bool:
    """Return whether a verb is said of a time: "lasted longer than 5 days"."""
    low = question.low
    return any(
        at < q.start <= at + 4 and unit_of(low[q.end : q.end + 1]) in _OF_TIME for q in question.quantities
    )
