"""Units of the numbers that a plan compares, adds and shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rdflib import URIRef

from mrag.planning import plan as pl
from mrag.planning.schema import PropertyInfo, Schema, measured_by, tells_units
from mrag.planning.scopes import walk
from mrag.planning.values import DURATION_UNIT


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
    return next((mixed[value] for value in _measure(plan) if value in mixed), None)  # type: ignore[index]


def asked_units(plan: pl.Plan, schema: Schema) -> tuple[pl.Plan, PropertyInfo] | None:
    """Return what finds the units of numbers that a plan compares or adds, where the graph tells of several.

    Returns:
        A plan whose rows are these units, which are to be one, and the property of the numbers; None where
        nothing else tells the units of what is compared.
    """
    said = [u for u in schema.properties.values() if u.objects > 1 and tells_units(u)]
    compared = set(_measure(plan)) if said else set()
    for part in walk(plan):
        if not isinstance(part, pl.Pattern) or part.object not in compared:
            continue
        info = schema.properties.get(str(part.predicate), _NONE)
        for u in (u for u in said if info.domains and measured_by(schema, info, u)):
            block = next(b for b in walk(plan) if isinstance(b, pl.Block) and part in b.patterns)
            unit = pl.Pattern(part.subject, URIRef(u.iri), pl.Unknown("unit"))
            found = pl.Block((*block.patterns, unit))  # of all that are compared, not of the greatest alone
            return pl.Plan(found, (pl.Column(pl.Unknown("unit"), "unit"),), limit=2), info
    return None


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
    pairs = ((column.name, _unit_of(column.value, known)) for column in plan.columns)
    return {name: unit for name, unit in pairs if unit}


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


def _measure(plan: pl.Plan) -> Iterator[object]:
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
