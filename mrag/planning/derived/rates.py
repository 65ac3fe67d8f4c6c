"""One number per another: per head, per unit of area, per weight."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mrag.planning.derived.property import (
    DerivedProperty,
    DerivedWords,
    properties_of,
    roots_of,
    told_together,
)
from mrag.planning.lexical.candidates import NameMention
from mrag.planning.lexical.english import root
from mrag.planning.reading.question import QuestionText
from mrag.planning.schema import PropertyInfo, Schema

_RATIO = "urn:x-ratio:"
"""Beginning of the names of rates, which no graph has."""
_PEOPLE = frozenset("capita person head inhabitant resident citizen".split())
_SQUARE = frozenset("square sq km2 mi2 hectare acre area".split())


def said_per(
    question: QuestionText, mentions: Sequence[NameMention], schema: Schema
) -> Iterator[DerivedWords]:
    """Yield the words for one number per another: "gdp per capita", "population density"."""
    low = question.low
    numbers = [
        (m.start, m.end, found)
        for m in sorted(mentions, key=lambda m: (m.start, m.end))
        if (found := [i for i in properties_of(m, schema) if i.kind == "number"])
    ]
    for at, word in enumerate(low):
        if word == "density" and not _called(schema, ("density",)):
            yield from _density(at, numbers, schema)
        if word == "per" and at:
            below, end = _below(low, at, numbers, schema)
            for start, stop, above in numbers:
                if stop == at and (rates := _ratios(above, below)):
                    yield start, end, rates


_Numbers = Sequence[tuple[int, int, list[PropertyInfo]]]


def _density(at: int, numbers: _Numbers, schema: Schema) -> Iterator[DerivedWords]:
    start, above = next(((s, infos) for s, end, infos in numbers if end == at), (at, list[PropertyInfo]()))
    above = above or _called(schema, ("population", "inhabitant"))
    if found := _ratios(above, _called(schema, ("area",))):
        yield start, at + 1, found


def _below(
    low: Sequence[str], at: int, numbers: _Numbers, schema: Schema
) -> tuple[Sequence[PropertyInfo], int]:
    """Return the numbers that a "per" is followed by, and where their words end."""
    following = low[at + 1 : at + 3] or [""]
    if following[0].removesuffix("s") in _PEOPLE:
        return _called(schema, ("population", "inhabitant")), at + 2
    if following[0] in _SQUARE:
        return _called(schema, ("area",)), at + (3 if following[0] in ("square", "sq") else 2)
    skipped = 2 if following[0] == "unit" else 0
    behind = [(end, found) for start, end, found in numbers if at < start <= at + 1 + skipped]
    return (behind[-1][1], behind[-1][0]) if behind else ((), at + 1)


def _called(schema: Schema, words: Sequence[str]) -> list[PropertyInfo]:
    wanted = {root(w) for w in words}
    return [
        i
        for i in schema.properties.values()
        if i.kind == "number" and not isinstance(i, DerivedProperty) and wanted & roots_of(i)
    ]


def _ratios(above: Sequence[PropertyInfo], below: Sequence[PropertyInfo]) -> list[DerivedProperty]:
    both = [(a, b) for a in above for b in below if a.iri != b.iri and set(a.domains) & set(b.domains)]
    return [_ratio(a, b) for a, b in both[:3]]


def _ratio(above: PropertyInfo, below: PropertyInfo) -> DerivedProperty:
    return told_together(
        f"{_RATIO}{above.iri}|{below.iri}",
        (f"{above.names[0]} per {below.names[0]}",),
        "density per unit, head or capita, square, area",
        above,
        below,
    )
