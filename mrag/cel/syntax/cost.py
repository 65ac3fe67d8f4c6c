"""What an expression costs: its length, and more for what seldom holds for other individuals."""

from __future__ import annotations

from functools import lru_cache

from rdflib import Literal

from mrag.cel.syntax import expressions as ce
from mrag.rdf.terms import XSD

NAME = 2
"""What each individual that is named costs beside its symbol."""

TEXT = 3
"""What each text costs beside its symbol."""

DENIAL = 1
"""What a restriction costs that holds for whatever has no value, beside its symbols; `∀ r.⊥` twice that."""

ALTERNATIVE = 2
"""What each part of `⊔` from the second on costs beside its symbols."""


@lru_cache(maxsize=100_000)
def cost(expression: ce.Expression) -> int:
    """Return the length of an expression, with a price for names, texts and what holds for want of values.

    A class or a property says something of many individuals. A name or a text says something of the few that
    have it, and `∀ r.C` holds for all that have no `r`, so that the same quality on a few examples is worth
    less.

    Args:
        expression: The expression.

    Example:
        >>> from mrag.cel.syntax import expressions as ce
        >>> child = ce.Property("urn:child")
        >>> short = ce.Only(child, ce.Bottom())
        >>> general = ce.And((ce.Named("urn:Male"), ce.Some(child, ce.Some(child, ce.Top()))))
        >>> ce.length(short), cost(short), ce.length(general), cost(general)
        (3, 5, 7, 7)
        >>> ce.length(ce.Value(child, "urn:ann")), cost(ce.Value(child, "urn:ann"))
        (3, 5)
    """
    return ce.length(expression) + sum(map(_price, ce.walk(expression)))


def _price(e: ce.Expression) -> int:
    match e:
        case ce.Value(_, Literal() as value):
            return TEXT if value.language or str(value.datatype or XSD + "string") == XSD + "string" else 0
        case ce.Value():
            return NAME
        case ce.OneOf(members):
            return NAME * len(members)
        case ce.Or(parts):
            return ALTERNATIVE * (len(parts) - 1)
        case ce.Only(_, ce.Bottom()):
            return 2 * DENIAL
        case ce.Only() | ce.AtMost() | ce.DataOnly():
            return DENIAL
        case ce.Not(of) if isinstance(of, ce.Restriction):
            return DENIAL
    return 0
