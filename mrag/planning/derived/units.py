"""Numbers that a property states in several units, which are neither compared nor added."""

from __future__ import annotations

from collections.abc import Iterator

from mrag.planning import plan as pl
from mrag.planning.following.editing import walk
from mrag.planning.schema import PropertyInfo, Schema


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
