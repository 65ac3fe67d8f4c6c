"""The normal form of class expressions.

Example:
    >>> from mrag.cel.syntax.expressions import Property, Top
    >>> normal(Not(Some(Property("urn:hasChild"), Top())))
    Only(property=Property(iri='urn:hasChild', inverse=False), filler=Bottom())
"""

from __future__ import annotations

from collections.abc import Callable

from mrag.cel.syntax.expressions import (
    And,
    AtLeast,
    AtMost,
    Bottom,
    DataOnly,
    DataRange,
    DataSome,
    Exactly,
    Expression,
    Not,
    OneOf,
    Only,
    Or,
    Property,
    Some,
    Top,
    Value,
    key,
    length,
    term_key,
)  # fmt: skip


def normal(expression: Expression) -> Expression:
    """Return the normal form: negation at the names, parts flat, sorted, each once, trivial ones gone.

    It holds the same individuals in every closed-world graph, and the normal form of a normal form is
    itself.

    Example:
        >>> from mrag.cel.syntax.expressions import Named
        >>> a, b = Named("urn:a"), Named("urn:b")
        >>> normal(And((b, Or((a, b)), Not(Not(a))))) == And((a, b))
        True
        >>> normal(And((a, Not(a))))
        Bottom()
    """
    match expression:
        case Not(of):
            return negation(normal(of))
        case And(parts):
            return _joined([normal(p) for p in parts], conjunction=True)
        case Or(parts):
            return _joined([normal(p) for p in parts], conjunction=False)
        case Some(p, filler):
            return _some(p, normal(filler))
        case Only(p, filler):
            return _only(p, normal(filler))
        case AtLeast(n, p, filler):
            return _at_least(n, p, normal(filler))
        case AtMost(n, p, filler):
            return _at_most(n, p, normal(filler))
        case Exactly(n, p, filler):
            return _exactly(n, p, normal(filler))
        case OneOf(members):
            return OneOf(tuple(sorted(set(members)))) if members else Bottom()
        case DataSome(p, range):
            return DataSome(p, _sorted(range))
        case DataOnly(p, range):
            return DataOnly(p, _sorted(range))
        case _:
            return expression


def negation(expression: Expression) -> Expression:
    """Return the normal form of what a normal form does not hold.

    Example:
        >>> negation(AtLeast(3, Property("urn:p"), Top()))
        AtMost(n=2, property=Property(iri='urn:p', inverse=False), filler=Top())
    """
    match expression:
        case Top():
            return Bottom()
        case Bottom():
            return Top()
        case Not(of):
            return of
        case And(parts):
            return _joined([negation(p) for p in parts], conjunction=False)
        case Or(parts):
            return _joined([negation(p) for p in parts], conjunction=True)
        case Some(p, filler):
            return _only(p, negation(filler))
        case Only(p, filler):
            return _some(p, negation(filler))
        case AtLeast(n, p, filler):
            return _at_most(n - 1, p, filler)
        case AtMost(n, p, filler):
            return _at_least(n + 1, p, filler)
        case Exactly(n, p, filler):
            return _joined([_at_most(n - 1, p, filler), _at_least(n + 1, p, filler)], conjunction=False)
        case _:
            return Not(expression)


def _joined(parts: list[Expression], *, conjunction: bool) -> Expression:
    kind: type[And] | type[Or] = And if conjunction else Or
    other: type[And] | type[Or] = Or if conjunction else And
    neutral: Expression = Top() if conjunction else Bottom()
    absorbing: Expression = Bottom() if conjunction else Top()
    flat: dict[Expression, None] = {}
    for part in parts:
        flat.update(dict.fromkeys(part.parts if isinstance(part, kind) else (part,)))
    flat.pop(neutral, None)
    found = _enumerated(_counted(list(flat), conjunction=conjunction), conjunction=conjunction)
    if absorbing in found or any(negation(p) in found for p in found):
        return absorbing
    whole = set(found)
    kept = [
        p for p in found if not (isinstance(p, other) and any(q in whole and q != p for q in _operands(p)))
    ]
    # A part of the other kind that holds all operands of another such part says nothing new.
    sets = {p: frozenset(_operands(p)) for p in kept if isinstance(p, other)}
    kept = [p for p in kept if not (p in sets and any(s < sets[p] for s in sets.values()))]
    if not kept:
        return neutral
    ordered = tuple(sorted(kept, key=lambda p: (length(p), key(p))))
    return ordered[0] if len(ordered) == 1 else kind(ordered)


def _operands(expression: Expression) -> tuple[Expression, ...]:
    return expression.parts if isinstance(expression, And | Or) else ()


def _counted(parts: list[Expression], *, conjunction: bool) -> list[Expression]:
    """Keep of several counts of the same values the one that decides."""
    strongest: Callable[..., int] = max if conjunction else min
    weakest: Callable[..., int] = min if conjunction else max
    least: dict[tuple[Property, Expression], int] = {}
    most: dict[tuple[Property, Expression], int] = {}
    rest: list[Expression] = []
    for part in parts:
        match part:
            case Some(p, filler):
                least[p, filler] = strongest(least.get((p, filler), 1), 1)
            case AtLeast(n, p, filler):
                least[p, filler] = strongest(least.get((p, filler), n), n)
            case AtMost(n, p, filler):
                most[p, filler] = weakest(most.get((p, filler), n), n)
            case _:
                rest.append(part)
    for of in [of for of, n in least.items() if conjunction and most.get(of) == n]:
        rest.append(_exactly(least.pop(of), *of))
        del most[of]
    rest.extend(_at_least(n, p, filler) for (p, filler), n in least.items())
    rest.extend(_at_most(n, p, filler) for (p, filler), n in most.items())
    return rest


def _enumerated(parts: list[Expression], *, conjunction: bool) -> list[Expression]:
    """Join enumerations of individuals into one."""
    sets = [frozenset(p.members) for p in parts if isinstance(p, OneOf)]
    if len(sets) < 2:
        return parts
    members = frozenset.intersection(*sets) if conjunction else frozenset.union(*sets)
    rest = [p for p in parts if not isinstance(p, OneOf)]
    return [*rest, OneOf(tuple(sorted(members))) if members else Bottom()]


def _some(p: Property, filler: Expression) -> Expression:
    if isinstance(filler, Bottom):
        return filler
    if isinstance(filler, OneOf) and len(filler.members) == 1:
        return Value(p, filler.members[0])
    return Some(p, filler)


def _only(p: Property, filler: Expression) -> Expression:
    return filler if isinstance(filler, Top) else Only(p, filler)


def _at_least(n: int, p: Property, filler: Expression) -> Expression:
    if n <= 0:
        return Top()
    if isinstance(filler, Bottom) or (isinstance(filler, OneOf) and len(filler.members) < n):
        return Bottom()
    return _some(p, filler) if n == 1 else AtLeast(n, p, filler)


def _at_most(n: int, p: Property, filler: Expression) -> Expression:
    if n < 0:
        return Bottom()
    if isinstance(filler, Bottom) or (isinstance(filler, OneOf) and len(filler.members) <= n):
        return Top()
    return negation(_some(p, filler)) if n == 0 else AtMost(n, p, filler)


def _exactly(n: int, p: Property, filler: Expression) -> Expression:
    if n <= 0:
        return _at_most(n, p, filler)
    least, most = _at_least(n, p, filler), _at_most(n, p, filler)
    if isinstance(least, Bottom) or isinstance(most, Top):
        return least
    return Exactly(n, p, filler)


def _sorted(range: DataRange) -> DataRange:
    facets = sorted(dict.fromkeys(range.facets), key=lambda f: (f[0], term_key(f[1])))
    return DataRange(range.datatype, tuple(facets))
