"""Properties that a graph does not have, but that follow from those it has: amounts, rates, spans, units."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal as OneOf
from typing import TypeAlias

from rdflib import Literal, URIRef

from mrag.language.names import name_parts
from mrag.language.tokens import words_in
from mrag.planning import plan as pl
from mrag.planning.lexical import Candidate, NameMention
from mrag.planning.lexical.english import DIMENSIONS, root
from mrag.planning.plan import Arithmetic, Days, Expression, Pattern, Unknown
from mrag.planning.reading.question import QuestionText, unit_of
from mrag.planning.schema import PropertyInfo, Schema
from mrag.planning.scopes import walk
from mrag.planning.values import DURATION_UNIT

Computed: TypeAlias = OneOf["days", "-", "/", "*"]


@dataclass(frozen=True)
class DerivedProperty(PropertyInfo):
    """A number that two properties of a thing tell together.

    Attributes:
        first: The property on the left, or where a span of time starts.
        second: The property on the right, or where a span ends.
        operation: What is computed of them.
        factor: What the result is multiplied by.
        link: The property that leads to what has the second; "" where the same thing has both.
    """

    first: PropertyInfo | None = None
    second: PropertyInfo | None = None
    operation: Computed = "/"
    factor: float = 1.0
    link: str = ""

    def of(self, first: Expression, second: Expression) -> Expression:
        """Return the number for the values of the two properties."""
        found: Expression
        if self.operation == "days":
            found = Days(first, second)
        elif self.operation == "-":
            found = Arithmetic(second, "-", first)
        else:
            found = Arithmetic(first, self.operation, second)
        if self.factor == 1.0:
            return found
        # A whole number above or below the line keeps all digits.
        if self.factor.is_integer():
            return Arithmetic(found, "*", Literal(int(self.factor)))
        return Arithmetic(found, "/", Literal(_shortest(1 / self.factor)))


def told_together(
    iri: str,
    names: tuple[str, ...],
    comment: str,
    first: PropertyInfo,
    second: PropertyInfo,
    operation: Computed = "/",
    factor: float = 1.0,
) -> DerivedProperty:
    """Return the number that two properties tell of the things that have both; see `DerivedProperty`."""
    return DerivedProperty(
        iri=iri,
        names=names,
        comment=comment,
        kind="number",
        triples=min(first.triples, second.triples),
        subjects=min(first.subjects, second.subjects),
        objects=min(first.objects, second.objects),
        domains={c: n for c, n in first.domains.items() if c in second.domains},
        first=first,
        second=second,
        operation=operation,
        factor=factor,
    )


DerivedWords: TypeAlias = tuple[int, int, list[DerivedProperty]]
"""Words of a question that name derived properties: the first, the one behind the last, the properties."""


def _shortest(value: float) -> int | float:
    rounded = round(value, 9)
    return int(rounded) if rounded.is_integer() else rounded


def words_of(name: str) -> list[str]:
    """Return the words of a name, those that are written as one apart."""
    return [part.lower() for word in name.split() for part in name_parts(word)]


def roots_of(info: PropertyInfo) -> set[str]:
    """Return the roots of the words in the names of a property."""
    return {root(word) for name in info.names for word in words_of(name)}


def properties_of(mention: NameMention, schema: Schema) -> Iterator[PropertyInfo]:
    """Yield the properties that words may well name, best first."""
    best = max((c.score for c in mention.candidates if c.kind == "property"), default=0.0)
    for c in mention.candidates:
        info = schema.properties.get(c.term) if c.kind == "property" else None
        if info is not None and c.score > 0.44 and (c.score > best - 0.1 or best < 0.9):
            yield info


def spelt(info: PropertyInfo) -> tuple[PropertyInfo, ...]:
    """Return the properties that a property is computed of; itself alone where it is stated."""
    if isinstance(info, DerivedProperty) and info.first is not None and info.second is not None:
        return info.first, info.second
    return (info,)


def in_several_units(plan: pl.Plan, schema: Schema) -> PropertyInfo | None:
    """Return a property whose numbers a plan compares, orders or adds although their units differ.

    Args:
        plan: The plan.
        schema: The schema of its graph.

    Example:
        >>> from rdflib import URIRef
        >>> thing, weight, p = pl.Unknown("thing"), pl.Unknown("weight"), URIRef("urn:weight")
        >>> info = PropertyInfo(str(p), ("weight",), kind="text", units=("g", "kg"))
        >>> schema = Schema({}, {str(p): info}, ())
        >>> block = pl.Block((pl.Pattern(thing, p, weight),))
        >>> total = pl.Aggregate("sum", pl.Number(weight), (thing,))
        >>> print(in_several_units(pl.Plan(block, (pl.Column(weight, "weight"),)), schema))
        None
        >>> in_several_units(pl.Plan(block, (pl.Column(total, "total"),)), schema).names
        ('weight',)
    """
    mixed = {
        part.object: schema.properties[str(part.predicate)]
        for part in walk(plan)
        if isinstance(part, pl.Pattern) and len(schema.properties.get(str(part.predicate), _NONE).units) > 1
    }
    if not mixed:
        return None
    return next((mixed[value] for value in _measured(plan) if value in mixed), None)  # type: ignore[index]


def units_shown(plan: pl.Plan, schema: Schema) -> dict[str, str]:
    """Return the units of the numbers that a plan shows, by column; columns without one are left out.

    Args:
        plan: The plan.
        schema: The schema of its graph.

    Example:
        >>> from rdflib import URIRef
        >>> thing, load, p = pl.Unknown("thing"), pl.Unknown("load"), URIRef("urn:load")
        >>> info = PropertyInfo(str(p), ("load",), kind="number", units=("kg",))
        >>> schema = Schema({}, {str(p): info}, ())
        >>> block = pl.Block((pl.Pattern(thing, p, load),))
        >>> total = pl.Column(pl.Aggregate("sum", pl.Number(load), (thing,)), "total")
        >>> number = pl.Column(pl.Aggregate("count", None, (thing,)), "number")
        >>> units_shown(pl.Plan(block, (total, number)), schema)
        {'total': 'kg'}
    """
    known = dict[object, str]()
    for part in walk(plan):
        if isinstance(part, pl.Pattern):
            units = schema.properties.get(str(part.predicate), _NONE).units
            if len(units) == 1:
                known[part.object] = units[0]
        elif isinstance(part, pl.Plan) and part is not plan:
            inner = units_shown(part, schema)
            known.update({pl.Unknown(name): unit for name, unit in inner.items()})
    found = ((column.name, _unit_of(column.value, known)) for column in plan.columns)
    return {name: unit for name, unit in found if unit}


def with_unit(number: str, unit: str) -> str:
    """Return a number as it is written with its unit.

    Example:
        >>> with_unit("9.99", "$"), with_unit("2", "kg"), with_unit("-3", "€"), with_unit("5", "%")
        ('$9.99', '2 kg', '-€3', '5%')
        >>> with_unit("9000", "PT"), with_unit("-90", "PT"), with_unit("0", "PT")
        ('2 h 30 min', '-1 min 30 s', '0 s')
    """
    if unit == DURATION_UNIT:
        return _in_words(float(number))
    if unit.endswith(("$", "€", "£", "¥", "₹")):
        sign, digits = ("-", number[1:]) if number.startswith("-") else ("", number)
        return f"{sign}{unit}{digits}"
    return f"{number}{'' if unit == '%' else ' '}{unit}"


def _in_words(seconds: float) -> str:
    sign, rest = ("-" if seconds < 0 else ""), round(abs(seconds), 3)
    hours, rest = divmod(rest, 3600)
    minutes, rest = divmod(rest, 60)
    parts = [f"{n:g} {unit}" for n, unit in ((hours, "h"), (minutes, "min"), (round(rest, 3), "s")) if n]
    return sign + (" ".join(parts) or "0 s")


def _unit_of(value: pl.Expression, known: Mapping[object, str]) -> str:
    match value:
        case pl.Number(inner):
            return _unit_of(inner, known)
        case pl.Aggregate("sum" | "average" | "minimum" | "maximum", inner) if inner is not None:
            return _unit_of(inner, known)
        case pl.Arithmetic(left, "+" | "-", right):
            one, other = _unit_of(left, known), _unit_of(right, known)
            return one if one == other else ""
        case pl.Unknown():
            return known.get(value, "")
    return ""


_NONE = PropertyInfo("", ())


def _measured(plan: pl.Plan) -> Iterator[object]:
    """Yield what is within an expression that is read as a number or put in order."""
    for part in walk(plan):
        match part:
            case pl.Number() | pl.Arithmetic():
                yield from walk(part)
            case pl.Aggregate(function="sum" | "average" | "minimum" | "maximum"):
                yield from walk(part)
            case pl.Comparison(relation="<" | "<=" | ">" | ">="):
                yield from walk(part)
            case pl.Plan(order=order, columns=columns, limit=limit) if limit is not None:
                sorted_by = {key.column for key in order}
                yield from (inner for c in columns if c.name in sorted_by for inner in walk(c.value))


COMPUTED = "urn:x-amount:"
"""Beginning of the names of amounts, which no graph has."""
_SO_MANY = frozenset(map(root, "quantity qty units pieces copies count tickets seats".split()))
_SO_LONG = frozenset(map(root, "nights hours days weeks months".split()))
_VISITORS = frozenset(map(root, "attendance visitors spectators audience attendees admissions".split()))
_ENTRY = frozenset(map(root, "ticket admission entry entrance".split()))
_PRICED = frozenset(map(root, "price cost rate fee fare tariff wage".split()))
_OF_ONE = frozenset(map(root, "per unit each rate hourly daily nightly weekly monthly wage".split()))
_STATED = ("amount", "total", "revenue", "sum", "payment", "turnover", "subtotal", "paid", "spent", "sales")
"""What properties of amounts are called, the likeliest first."""
_SUMS = frozenset("number total amount count quantity sum tot num cnt amt".split())
"""Words for a number of things, rather than for a mark or a year."""
_ROOTS = tuple(map(root, _STATED))


def stated_amounts(schema: Schema) -> list[PropertyInfo]:
    """Return the properties that state amounts of money, in order of how plainly they are called so."""
    found = [
        (min(_ROOTS.index(w) for w in roots_of(i) & {*_ROOTS}), len(i.names[0]), i.iri)
        for i in schema.properties.values()
        if i.kind == "number" and not isinstance(i, DerivedProperty) and roots_of(i) & {*_ROOTS}
        if not _counts(i)
    ]
    return [schema.properties[iri] for _, _, iri in sorted(found)]


def quantities(schema: Schema) -> list[PropertyInfo]:
    """Return the property that states how many there were of something; none where several do."""
    many = (i for i in schema.properties.values() if i.kind == "number" and roots_of(i) & _SO_MANY)
    found = [i for i in many if not roots_of(i) & _PRICED]
    return found if len(found) == 1 else []


def _counts(info: PropertyInfo) -> bool:
    """Return whether a total is one of things rather than of money: "total employees"."""
    words = [root(w) for w in words_of(info.names[0])]
    money = {*words} & ({*_ROOTS, *_PRICED} - {root("total")})
    return len(words) > 1 and words[0] == root("total") and not money


def amounts_of(schema: Schema) -> dict[str, PropertyInfo]:
    """Return what the things of a class amount to, a quantity times a price, by IRI.

    The price may be that of what the quantity is of: an order line has a product, which has a price.

    Args:
        schema: The schema.

    Returns:
        Nothing where a property states the amount, or where several prices may be meant.
    """
    stated = {c for i in stated_amounts(schema) for c in i.domains}
    found = [
        _amount(many, price, link)
        for many in schema.properties.values()
        if many.kind == "number" and many.functional and not stated & set(many.domains)
        for price, link in _prices(many, schema)
    ]
    own = [i for i in found if not i.link] or found
    return {i.iri: i for i in own} if len(own) == 1 else {}


def _prices(many: PropertyInfo, schema: Schema) -> Iterator[tuple[PropertyInfo, str]]:
    """Yield the prices that a quantity goes with, and the property that leads to what has it."""
    for price in schema.properties.values():
        said = roots_of(price)
        # The price of a stay of five nights is that of all of them, the price per night is not.
        times = _SO_MANY | (_SO_LONG if said & _OF_ONE else frozenset())
        times |= _VISITORS if said & _ENTRY else frozenset()
        if price.kind != "number" or price.iri == many.iri or not price.functional:
            continue
        if not said & _PRICED or not roots_of(many) & times:
            continue
        if set(price.domains) & set(many.domains):
            yield price, ""
        for link in schema.properties.values():
            leads = set(link.domains) & set(many.domains) and set(link.ranges) & set(price.domains)
            if link.kind == "entity" and link.functional and leads:
                yield price, link.iri


def number_recorded(cls: str, schema: Schema) -> PropertyInfo | None:
    """Return the number that records of a class are there for: how many are enrolled, of an enrolment.

    Args:
        cls: The class.
        schema: The schema.

    Returns:
        The only number of the class that its name, or its comment, calls as the class is called; else None.
    """
    kind = schema.classes.get(cls)
    heads = {root(name.lower().split()[-1]) for name in kind.names[:1]} if kind is not None else set[str]()
    found = [
        info for info in schema.properties.values()
        if info.kind == "number" and cls in info.domains and not info.flag
        and not isinstance(info, DerivedProperty)
        for said in [{w for text in (*info.names, info.comment) for w in words_in(text.lower())}]
        if said & _SUMS and any(_same_stem(head, root(w)) for head in heads for w in said)
    ]  # fmt: skip
    return found[0] if len(found) == 1 else None


def tally(cls: str, schema: Schema) -> PropertyInfo | None:
    """Return the "count" of a class, which says how many each record stands for; None if it has none."""
    found = [
        info for info in schema.properties.values()
        if info.kind == "number" and cls in info.domains and not isinstance(info, DerivedProperty)
        if [w.lower() for w in words_of(info.names[0])] in (["count"], ["tally"])
    ]  # fmt: skip
    return found[0] if len(found) == 1 else None


def _same_stem(one: str, other: str) -> bool:
    """Return whether two words are made of one: "enrolment" and "enrolled"."""
    return one == other or (min(len(one), len(other)) > 4 and one[:5] == other[:5])


def _amount(many: PropertyInfo, price: PropertyInfo, link: str) -> DerivedProperty:
    return DerivedProperty(
        iri=f"{COMPUTED}{many.iri}|{price.iri}",
        names=("amount",),
        comment=f"what it comes to: {many.names[0]} times {price.names[0]}",
        kind="number",
        triples=many.triples,
        subjects=many.subjects,
        objects=many.objects,
        domains=dict(many.domains),
        first=many,
        second=price,
        operation="*",
        link=link,
    )


_HOLDING = frozenset(map(root, "value amount number quantity magnitude measure".split()))
"""What the number in such a thing is called."""
_TOLD_IN = frozenset(map(root, "unit units currency uom".split()))
"""What the unit in such a thing is called."""


@dataclass(frozen=True)
class HeldNumber(PropertyInfo):
    """A property that leads to a thing which only holds a number, read as if it had that number itself.

    Attributes:
        number: The property of the number.
    """

    number: str = ""


def held(pattern: Pattern, info: PropertyInfo, fresh: Callable[[str], Unknown]) -> tuple[Pattern, ...]:
    """Return the triples that state a value: the one given, or two by way of the thing that holds a number.

    Args:
        pattern: A triple with the property and the value.
        info: The property.
        fresh: Returns an unknown that is not in use, named after some words.
    """
    if not isinstance(info, HeldNumber):
        return (pattern,)
    holder = fresh(f"{info.names[0]} stated")
    return replace(pattern, object=holder), Pattern(holder, URIRef(info.number), pattern.object)


def held_numbers(schema: Schema) -> dict[str, PropertyInfo]:
    """Return the properties that lead to things which only hold a number, by IRI.

    Each of these things belongs to one other thing, and nothing leads from it to things of any other class
    than a unit or a currency.

    Args:
        schema: The schema.
    """
    found = dict[str, PropertyInfo]()
    for info in schema.properties.values():
        number = _number_in(info, schema) if info.kind == "entity" and info.triples == info.objects else None
        if number is not None:
            found[info.iri] = HeldNumber(
                iri=info.iri,
                names=info.names,
                comment=info.comment,
                kind="number",
                datatype=number.datatype,
                triples=info.triples,
                subjects=info.subjects,
                objects=number.objects,
                domains=info.domains,
                minimum=number.minimum,
                maximum=number.maximum,
                text_numbers=number.text_numbers,
                units=number.units,
                number=number.iri,
            )
    return found


def _number_in(info: PropertyInfo, schema: Schema) -> PropertyInfo | None:
    """Return the only number of the things that a property leads to, if it is called a value or the like."""
    if len(info.ranges) != 1 or info.triples == 0:
        return None
    holder = next(iter(info.ranges))
    own = [i for i in schema.properties.values() if holder in i.domains]
    numbers = [i for i in own if i.kind == "number"]
    if len(numbers) != 1 or len(own) > 3 or not numbers[0].functional:
        return None
    if any(i.objects > 1 and roots_of(i) & _TOLD_IN for i in own):
        return None  # In several units they can be neither compared nor added.
    return numbers[0] if roots_of(numbers[0]) & _HOLDING else None


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


def derived_mentions(
    question: QuestionText, mentions: Sequence[NameMention], schema: Schema
) -> tuple[list[NameMention], dict[str, PropertyInfo]]:
    """Return the words of a question that name derived numbers, and these as properties.

    Args:
        question: The question.
        mentions: What its words name in the graph.
        schema: The schema, with the spans of its classes.

    Returns:
        Mentions beside the given ones, and the properties that the schema does not have.
    """
    found = [*said_between(question, mentions, schema), *said_per(question, mentions, schema)]
    if not found:
        found = [*said_to_last(question, mentions, schema)]
    infos: dict[str, PropertyInfo] = {i.iri: i for _, _, some in found for i in some}
    return [
        NameMention(start, end, tuple(Candidate("property", i.iri, 1.0, i.names[0], "exact") for i in some))
        for start, end, some in found
    ], infos
