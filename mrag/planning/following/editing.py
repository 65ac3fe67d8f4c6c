"""Plans with something in them replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from operator import is_
from typing import Any, TypeVar

from rdflib import RDF, Literal, URIRef

from mrag.planning.plan import Block, Comparison, Contains, Pattern, Plan, Unknown
from mrag.planning.schema import Schema

Part = TypeVar("Part", Plan, Block)


def _names(value: object) -> Iterable[str]:
    """Return the names of the fields of a dataclass; none for another value."""
    return getattr(type(value), "__dataclass_fields__", ())


def walk(part: object) -> Iterator[object]:
    """Yield a plan or a part of one and all within it, in the order in which it is written."""
    yield part
    if isinstance(part, tuple):
        for inner in part:
            yield from walk(inner)
    else:
        for name in _names(part):
            yield from walk(getattr(part, name))


def rewritten(part: Part, change: Callable[[Any], Any]) -> Part:
    """Return a plan or a block with each of its values changed, what is innermost first.

    Args:
        part: The plan or the block.
        change: Returns what stands in the place of a value: an unknown, a pattern, a condition, a block.

    Example:
        >>> x, cat = Unknown("x"), URIRef("urn:Cat")
        >>> block = Block((Pattern(x, RDF.type, cat),))
        >>> print(rewritten(block, lambda v: Unknown("y") if v == x else v).patterns[0].subject)
        ?y
    """

    def inside(value: Any) -> Any:
        if isinstance(value, tuple):
            many = tuple(map(inside, value))
            return value if all(map(is_, many, value)) else many
        if not isinstance(value, Unknown) and (names := _names(value)):
            parts = ((name, getattr(value, name)) for name in names)
            changed = {name: new for name, old in parts if (new := inside(old)) is not old}
            value = replace(value, **changed) if changed else value
        return change(value)

    found: Part = inside(part)
    return found


def renamed(part: Part, names: Mapping[Unknown, Unknown]) -> Part:
    """Return a plan or a block with other unknowns."""
    return rewritten(part, lambda v: names.get(v, v) if isinstance(v, Unknown) else v)


def with_entity(plan: Plan, old: URIRef, new: URIRef) -> Plan:
    """Return a plan about another thing."""

    def change(value: Any) -> Any:
        if isinstance(value, Pattern):
            end = value.object if value.predicate == RDF.type or value.object != old else new
            return replace(value, subject=new if value.subject == old else value.subject, object=end)
        return _compared(value, old, new)

    return rewritten(plan, change)


def with_class(plan: Plan, old: URIRef, new: URIRef) -> Plan:
    """Return a plan about things of another class."""

    def change(value: Any) -> Any:
        typed = isinstance(value, Pattern) and value.predicate == RDF.type and value.object == old
        return replace(value, object=new) if typed else value

    return rewritten(plan, change)


def with_subclasses(plan: Plan, schema: Schema) -> Plan:
    """Return a plan in which things of subclasses are things of the class, where no triple says that.

    Args:
        plan: The plan.
        schema: What is known of the graph.
    """
    if not any(info.narrower for info in schema.classes.values()):
        return plan

    def change(value: Any) -> Any:
        if not isinstance(value, Pattern) or value.predicate != RDF.type:
            return value
        info = schema.classes.get(str(value.object))
        narrower = tuple(map(URIRef, info.narrower if info is not None else ()))
        return value if value.narrower == narrower else replace(value, narrower=narrower)

    return rewritten(plan, change)


def with_property(plan: Plan, old: URIRef, new: URIRef) -> Plan:
    """Return a plan about another property."""
    return rewritten(
        plan, lambda v: replace(v, predicate=new) if isinstance(v, Pattern) and v.predicate == old else v
    )


def with_text(plan: Plan, old: str, new: str) -> Plan:
    """Return a plan that asks for another text."""
    return rewritten(plan, lambda v: replace(v, text=new) if isinstance(v, Contains) and v.text == old else v)


def with_literals(plan: Plan, names: Mapping[Literal, Literal]) -> Plan:
    """Return a plan with other numbers or dates in its comparisons."""

    def change(value: Any) -> Any:
        # One at a time would change the end of a year that is the beginning of the next.
        if isinstance(value, Comparison) and isinstance(value.right, Literal):
            return replace(value, right=names.get(value.right, value.right))
        return value

    return rewritten(plan, change)


def _compared(value: Any, old: URIRef, new: URIRef) -> Any:
    if not isinstance(value, Comparison):
        return value
    left, right = (new if side == old else side for side in (value.left, value.right))
    return Comparison(left, value.relation, right)
