"""What a schema lets a query leave out: the text of values, and classes that other patterns imply."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rdflib import RDF, URIRef

from mrag.planning.algebra.terms import Form
from mrag.planning.algebra.values import kind_of
from mrag.planning.plan import Block, Pattern, Unknown
from mrag.planning.schema import PropertyInfo, Schema
from mrag.planning.scopes import all_patterns
from mrag.rdf.terms import NUMBERS, XSD

# Single precision shows as 3.0999999 when it is made longer; its text does not.
_NUMBERS: Final = frozenset(str(n) for n in NUMBERS) - {XSD + "float"}


def forms(blocks: Iterable[Block], schema: Schema) -> dict[Unknown, Form]:
    """Return the unknowns whose values are all known to be of one form.

    Args:
        blocks: The blocks of a plan.
        schema: What is known of the graph.
    """
    found: dict[Unknown, set[Form]] = {}
    for block in blocks:
        for column in (c for plan in block.plans for c in plan.columns):
            # What is computed is a number; what is read is text first.
            form: Form = "number" if kind_of(column.value) == "number" else "any"
            found.setdefault(Unknown(column.name), set()).add(form)
        for pattern in all_patterns(block):
            known = schema.properties.get(str(pattern.predicate)) if _is_named(pattern) else None
            for place in (pattern.subject, pattern.predicate):
                if isinstance(place, Unknown):
                    found.setdefault(place, set()).add("any")
            if isinstance(pattern.object, Unknown):
                found.setdefault(pattern.object, set()).add(_form(known))
    return {u: next(iter(f)) for u, f in found.items() if len(f) == 1 and "any" not in f}


def without_implied(patterns: Sequence[Pattern], schema: Schema | None) -> list[Pattern]:
    """Return patterns without the classes that things are in because of what else the patterns say of them.

    Args:
        patterns: Patterns that hold together.
        schema: What is known of the graph.

    Example:
        >>> order, who = Unknown("order"), Unknown("who")
        >>> by = PropertyInfo("urn:by", ("by",), subjects_in=(("urn:Order",),))
        >>> both = Pattern(order, RDF.type, URIRef("urn:Order")), Pattern(order, URIRef("urn:by"), who)
        >>> print(*without_implied(both, Schema({}, {"urn:by": by}, ())))
        (?order, urn:by, ?who)
    """
    if schema is None:
        return list(patterns)
    return [p for p in patterns if not _is_implied(p, patterns, schema)]


def _is_named(pattern: Pattern) -> bool:
    return isinstance(pattern.predicate, URIRef)


def _form(info: PropertyInfo | None) -> Form:
    if info is None or not info.datatypes:
        return "any"
    if _NUMBERS.issuperset(info.datatypes):
        return "number"
    if not info.plain_dates:
        return "any"
    return "date" if info.datatype == XSD + "date" else "time"


def _is_implied(pattern: Pattern, patterns: Iterable[Pattern], schema: Schema) -> bool:
    thing = pattern.subject
    if pattern.predicate != RDF.type or not isinstance(pattern.object, URIRef):
        return False
    classes = {str(c) for c in (pattern.object, *pattern.narrower)}
    for other in patterns:
        info = schema.properties.get(str(other.predicate)) if _is_named(other) else None
        if info is None or other.predicate == RDF.type:
            continue
        sets = info.subjects_in if other.subject == thing else ()
        sets += info.objects_in if other.object == thing else ()
        if any(classes.issuperset(one) for one in sets):
            return True
    return False
