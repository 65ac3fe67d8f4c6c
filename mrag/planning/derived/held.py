"""Numbers that stand in a thing of their own, with their unit: an amount of money and its currency."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from rdflib import URIRef

from mrag.planning.derived.property import roots_of
from mrag.planning.lexical.english import root
from mrag.planning.plan import Pattern, Unknown
from mrag.planning.schema import PropertyInfo, Schema

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
