"""Values that follow from dates though no triple states them: parts of dates, ages, and times between two."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from mrag.language.english import root
from mrag.language.tokens import words_in
from mrag.planning.lexical import Candidate
from mrag.planning.reader.quantities import NUMBERS, unit_called, unit_of
from mrag.planning.reader.units import Unit, meanings
from mrag.planning.reader.world import ComputedProperty, SchemaWays
from mrag.planning.schema import PropertyInfo

_BETWEEN: Final = frozenset("of the in which they it were was is are been who when a he she".split())
"""Words that may stand between a part of a date and the date: "the year in which they were hired"."""
_FINE: Final = {"year": 4, "quarter": 7, "month": 7}
"""Letters that dates have at least of which something is a part."""


def computed_units(world: SchemaWays, found: Sequence[Unit], low: Sequence[str]) -> Iterator[Unit]:
    """Yield the words of a question that name what follows from dates and numbers."""
    yield from _calculations(world, found, low)
    dates = [p for p in world.schema.properties.values() if p.kind == "date" and p.maximum]
    if not dates:
        return
    table, named = meanings("spans.tsv"), [u for u in found if _names_date(world, u)]
    _spans(world, "days")  # what a number of days may be said of
    spans = _spans(world, _unit(low))
    for i in range(len(low)):
        for size in (4, 3, 2, 1):
            sort = table.get(tuple(low[i : i + size]), ("",))[0] if i + size <= len(low) else ""
            counted = bool(i) and (low[i - 1].isdigit() or low[i - 1] in NUMBERS)
            if counted:
                continue
            if sort == "span" or (sort and low[i - 1 : i] == ["in"] and unit_called(low[i])):
                yield from _unit_of("property", i, i + size, spans, 0.62)
            elif sort not in ("", "begin", "end"):
                yield from _parts(world, sort, i, i + size, dates, named, low)
    for u in found:
        if u.kind == "adjective" and u.word in ("long", "short"):
            yield from _measuring(u, spans, 0.7, least=u.word == "short")
        elif u.kind == "adjective" and u.word in ("old", "young"):
            ages = [_of_date(world, "age", p) for p in dates if {"birth", "born"} & _called(p)]
            young = u.word == "young"
            yield from _measuring(replace(u, op="<" if young else ">"), ages, 0.75, least=young)

    sorts = date_sorts(world)

    def called(sort: str) -> set[str]:
        return {iri for iri, some in sorts.items() if sort in some}

    yield from _between(spans, named, low, called)


def _calculations(world: SchemaWays, found: Sequence[Unit], low: Sequence[str]) -> Iterator[Unit]:
    """Yield words for a sum, a product or a ratio of numbers of a thing."""
    numbers = {p.iri: p for p in world.schema.properties.values() if p.kind == "number" and not p.flag}
    properties = [u for u in found if u.kind == "property"]
    named = [(u, [numbers[c.term] for c in u.options[:3] if c.term in numbers]) for u in properties]
    named = [(u, some) for u, some in named if some]
    for one, some in named:
        for other, others in named:
            joined = " ".join(w for w in low[one.end : other.start] if w not in ("the", "its", "their"))
            if (sort := _JOINED.get(joined)) is not None:
                made = [
                    world.calculated(sort, (p, q), "ratio" if sort == "/" else "total")
                    for p in some
                    for q in others
                    if p is not q and not p.domains.keys().isdisjoint(q.domains)
                ]
                yield from _unit_of("property", one.start, other.end, made, min(one.score, other.score))
    table = meanings("amounts.tsv")
    for i, size in ((i, size) for i in range(len(low)) for size in (3, 2, 1) if i + size <= len(low)):
        for sort in table.get(tuple(low[i : i + size]), ()):
            if sort[0] in "*/":
                made = list(_products(world, sort, [*numbers.values()], low[i + size - 1]))
                yield from _unit_of("property", i, i + size, made, 0.75)
        sums = [c for c in world.sums if size == 1 and root(low[i]) == root(c.info.names[0])]
        yield from _unit_of("property", i, i + size, sums, 0.7)
    for u in found:
        if u.kind == "adjective" and u.word in _LASTING:
            bases = [numbers[c.bases[0]] for c in world.sums]
            units = [unit_of(p.names, p.comment) for p in bases]
            lasting = [c for c, unit in zip(world.sums, units, strict=True) if unit and unit.sort == "span"]
            yield from _measuring(u, lasting, 0.7, least=_LASTING[u.word] < 0)


def _products(
    world: SchemaWays, sort: str, numbers: Sequence[PropertyInfo], name: str
) -> Iterator[ComputedProperty]:
    """Yield what is computed of numbers that are called as a table says: "*price+quantity"."""
    kinds = [[root(w) for w in some.split(",")] for some in sort[1:].split("+")]
    fit = []
    for kind in kinds:
        ranks = {
            p.iri: min((kind.index(r) for w in _called(p) if (r := root(w)) in kind), default=-1)
            for p in numbers
        }
        fit.append(sorted((p for p in numbers if ranks[p.iri] >= 0), key=lambda p: (ranks[p.iri], p.iri)))
    for first in fit[0]:
        near = [
            next((p for p in some if not p.domains.keys().isdisjoint(first.domains)), None)
            for some in fit[1:]
        ]
        rest = [p for p in near if p is not None and p is not first]
        if len(rest) == len(near):
            yield world.calculated(sort[0], (first, *rest), name)


_JOINED: Final = {"plus": "+", "per": "/", "divided by": "/", "times": "*", "multiplied by": "*"}
"""What is done with two numbers, by the words between them."""
_LASTING: Final = {"long": 1, "short": -1, "quick": -1, "fast": -1, "slow": 1}
"""Whether the most or the least time is meant by an adjective."""


def _names_date(world: SchemaWays, unit: Unit) -> bool:
    return unit.kind == "property" and any(world.info(c.term).kind == "date" for c in unit.options)


def _unit_of(
    kind: str, start: int, end: int, some: Sequence[ComputedProperty], score: float, *, inverse: bool = False
) -> Iterator[Unit]:
    options = tuple(
        Candidate("property", c.info.iri, round(score - 0.03 * rank, 3), c.info.names[0], inverse=inverse)
        for rank, c in enumerate(some[:8])
    )
    if options:
        yield Unit(kind, start, end, options, score=0.9)  # type: ignore[arg-type]


def _measuring(unit: Unit, some: Sequence[ComputedProperty], score: float, *, least: bool) -> Iterator[Unit]:
    """Yield an adjective as one that measures what is computed."""
    for new in _unit_of("adjective", unit.start, unit.end, some, score, inverse=least):
        yield replace(new, cue=unit.cue, op=unit.op, word=unit.word)


def _parts(
    world: SchemaWays,
    part: str,
    start: int,
    end: int,
    dates: Sequence[PropertyInfo],
    named: Sequence[Unit],
    low: Sequence[str],
) -> Iterator[Unit]:
    """Yield a part of dates: of any, or of that which is named beside it."""
    fit = [p for p in dates if len(p.maximum) >= (13 if part == "hour" else _FINE.get(part, 10))]
    said = {c.term: c.score for u in named for c in sorted(u.options, key=lambda c: c.score)}
    fit.sort(key=lambda p: (-said.get(p.iri, 0.0), -mainly(world, p), p.iri))
    yield from _unit_of("property", start, end, [_of_date(world, part, p) for p in fit], 0.8)
    for u in named:
        behind = u.start >= end and u.start - end <= 5 and _BETWEEN.issuperset(low[end : u.start])
        if behind or u.end == start:
            some = [_of_date(world, part, p) for p in fit if p.iri in {c.term for c in u.options[:3]}]
            yield from _unit_of("property", min(start, u.start), max(end, u.end), some, u.score)


def _between(
    spans: Sequence[ComputedProperty],
    named: Sequence[Unit],
    low: Sequence[str],
    called: Callable[[str], set[str]],
) -> Iterator[Unit]:
    """Yield the time from one date to another: "between shipping and arrival"."""
    for at, word in enumerate(low):
        for middle in range(at + 2, min(at + 6, len(low))) if word in ("between", "from") else ():
            if low[middle] not in ("and", "to", "until", "till"):
                continue
            first = _dates_at(named, low, at + 1, middle, called)
            for end in range(middle + 2, min(middle + 5, len(low) + 1)):
                ends = first, _dates_at(named, low, middle + 1, end, called)
                some = [c for c in spans if c.bases[0] in ends[0] and c.bases[1] in ends[1]]
                if some:
                    yield from _unit_of("property", at, end, some, 0.95)
                    break


def _dates_at(
    named: Sequence[Unit], low: Sequence[str], start: int, end: int, called: Callable[[str], set[str]]
) -> set[str]:
    """Return the dates that words may name, or that begin or end something as the words say."""
    found = {c.term for u in named if start <= u.start and u.end <= end for c in u.options[:3]}
    sorts = {sort for word in low[start:end] for sort in meanings("spans.tsv").get((word,), ())}
    return found.union(*(called(sort) for sort in sorts if sort in ("begin", "end")))


def date_sorts(world: SchemaWays) -> dict[str, set[str]]:
    """Return which dates begin something and which end it, by their names and by which are the earlier ones.

    A journey begins with its departure and ends with its arrival, a visit the other way round.
    """
    table = meanings("spans.tsv")
    dates = {p.iri: p for p in world.schema.properties.values() if p.kind == "date" and p.maximum}
    found = {iri: {s for w in _called(p) for s in table.get((w,), ())} for iri, p in dates.items()}
    begins = [p for iri, p in dates.items() if "begin" in found[iri]]
    ends = [p for iri, p in dates.items() if "end" in found[iri]]
    for one in begins:
        for other in ends:
            earlier = other.minimum < one.minimum and other.maximum <= one.maximum
            if earlier and one is not other and not one.domains.keys().isdisjoint(other.domains):
                found[one.iri], found[other.iri] = {"end"}, {"begin"}
    return found


def mainly(world: SchemaWays, info: PropertyInfo) -> float:
    """Return how likely a date is the one that is meant where none is named."""
    sorts = date_sorts(world).get(info.iri, set())
    shared = info.subjects / max([1, *info.domains.values()])
    plain = bool({"date", "year"} & _called(info))
    return shared + 0.3 * ("begin" in sorts) - 0.3 * ("end" in sorts) + 0.3 * plain


def _called(info: PropertyInfo) -> set[str]:
    return {w.lower() for name in info.names for w in words_in(name)}


def _of_date(world: SchemaWays, sort: str, base: PropertyInfo) -> ComputedProperty:
    """Return a part of a date, or an age."""
    said = "in years" if sort == "age" else base.comment
    info = replace(
        base, iri=f"{sort}:{base.iri}", names=(sort,), comment=said, kind="number", minimum="", maximum=""
    )
    return world.register(ComputedProperty(info, (base.iri,), sort))


def _spans(world: SchemaWays, unit: str) -> list[ComputedProperty]:
    """Return the times from one date of a thing to another one, those that begin and end like that first."""
    sorts = date_sorts(world)
    dates = [p for p in world.schema.properties.values() if p.kind == "date" and p.maximum]
    found = []
    for one in dates:
        for other in dates:
            domains = {c: n for c, n in one.domains.items() if c in other.domains}
            open_ = other.subjects < one.subjects  # the last ones may not have ended
            later = one.minimum <= other.minimum and (one.maximum <= other.maximum or open_)
            if one is other or not domains or not later:
                continue
            begins, ends = "begin" in sorts[one.iri], "end" in sorts[other.iri]
            info = PropertyInfo(
                f"{unit}:{one.iri} {other.iri}", ("duration",), f"in {unit}", "number",
                triples=min(one.triples, other.triples), subjects=min(one.subjects, other.subjects),
                domains=domains,
            )  # fmt: skip
            found.append((-begins - ends, ComputedProperty(info, (one.iri, other.iri), unit)))
    found.sort(key=lambda f: (f[0], f[1].info.iri))
    return [world.register(c) for _, c in found]


def _unit(low: Sequence[str]) -> str:
    """Return the unit that times are asked for in; days where none is said."""
    for at, word in enumerate(low):
        unit = unit_called(word)
        asked = low[at - 1 : at] == ["in"] or low[max(0, at - 2) : at] in (["how", "many"], ["number", "of"])
        if unit is not None and unit.sort == "span" and asked:
            return word
    return "days"
