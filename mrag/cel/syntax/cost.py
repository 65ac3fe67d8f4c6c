"""What an expression costs: its length, and more for what seldom holds for other individuals."""

from __future__ import annotations

from functools import lru_cache

from rdflib import Literal

from mrag.cel.syntax.expressions import (
    AtMost,
    Bottom,
    DataOnly,
    Expression,
    Not,
    OneOf,
    Only,
    Or,
    Restriction,
    Value,
    length,
    walk,
)  # fmt: skip
from mrag.rdf.terms import XSD

NAME = 2
"""What each individual that is named costs beside its symbol; that none is linked to it costs it again."""

TEXT = 3
"""What each text costs beside its symbol."""

DENIAL = 1
"""What a restriction costs that holds for whatever has no value, beside its symbols; `∀ r.⊥` twice that."""

ALTERNATIVE = 2
"""What each part of `⊔` from the second on costs beside its symbols."""


@lru_cache(maxsize=100_000)
def cost(expression: Expression) -> int:
    """Return the length of an expression, with a price for names, texts and what holds for want of values.

    A class or a property says something of many individuals. A name or a text says something of the few that
    have it, and `∀ r.C` holds for all that have no `r`, so that the same quality on a few examples is worth
    less.

    Args:
        expression: The expression.

    Example:
        >>> from mrag.cel.syntax.expressions import And, Named, Property, Some, Top
        >>> child = Property("urn:child")
        >>> short = Only(child, Bottom())
        >>> general = And((Named("urn:Male"), Some(child, Some(child, Top()))))
        >>> length(short), cost(short), length(general), cost(general)
        (3, 5, 7, 7)
        >>> length(Value(child, "urn:ann")), cost(Value(child, "urn:ann"))
        (3, 5)
        >>> length(Not(Value(child, "urn:ann"))), cost(Not(Value(child, "urn:ann")))
        (4, 9)
    """
    return length(expression) + sum(map(_price, walk(expression)))


def _price(e: Expression) -> int:
    match e:
        case Value(_, Literal() as value):
            return TEXT if value.language or str(value.datatype or XSD + "string") == XSD + "string" else 0
        case Value():
            return NAME
        case OneOf(members):
            return NAME * len(members)
        case Or(parts):
            return ALTERNATIVE * (len(parts) - 1)
        case Only(_, Bottom()):
            return 2 * DENIAL
        case Only() | AtMost() | DataOnly():
            return DENIAL
        case Not(Value(_, of)) if not isinstance(of, Literal):
            return DENIAL + NAME
        case Not(of) if isinstance(of, Restriction):
            return DENIAL
    return 0
