"""Which values a datatype holds: conditions of queries under which a value is in a range, or out of it.

Values that cannot be compared (unknown datatypes) are neither in a datatype nor out of it, so that nothing is
inferred and nothing clashes.
"""

from __future__ import annotations

import re
from typing import Final

import pyoxigraph as ox

from mrag.rdf.expressions import DataRange
from mrag.rdf.patterns import AllOf, AnyOf, Call, Compare, In, Negation, Node, Operator, iri
from mrag.rdf.patterns import Expression as Condition
from mrag.rdf.terms import OWL, RDF, RDFS, XSD, to_ox

_BOUNDS: dict[str, tuple[int | None, int | None]] = {
    "integer": (None, None), "nonNegativeInteger": (0, None), "positiveInteger": (1, None),
    "nonPositiveInteger": (None, 0), "negativeInteger": (None, -1),
    "long": (-(2**63), 2**63 - 1), "int": (-(2**31), 2**31 - 1),
    "short": (-(2**15), 2**15 - 1), "byte": (-128, 127), "unsignedLong": (0, 2**64 - 1),
    "unsignedInt": (0, 2**32 - 1), "unsignedShort": (0, 2**16 - 1), "unsignedByte": (0, 255),
}  # fmt: skip
INTEGERS: Final = tuple(XSD + name for name in sorted(_BOUNDS))
NUMBERS: Final = (*INTEGERS, *(XSD + name for name in ("decimal", "double", "float")))
_TEXTS = tuple(
    XSD + n for n in ("string", "normalizedString", "token", "language", "Name", "NCName", "NMTOKEN")
)
_FAMILIES: tuple[tuple[str, ...], ...] = (
    (*INTEGERS, XSD + "decimal"), (XSD + "double",), (XSD + "float",), (XSD + "boolean",),
    (*_TEXTS, RDF + "langString"), (XSD + "dateTime", XSD + "dateTimeStamp"), (XSD + "date",),
    (XSD + "time",), (XSD + "anyURI",), (XSD + "hexBinary",), (XSD + "base64Binary",), (XSD + "gYear",),
)  # fmt: skip
_ALL = tuple(name for family in _FAMILIES for name in family)
_COMPARISONS: dict[str, tuple[Operator, Operator]] = {
    "minInclusive": (">=", "<"), "maxInclusive": ("<=", ">"),
    "minExclusive": (">", "<="), "maxExclusive": ("<", ">="),
}  # fmt: skip
_LENGTHS: dict[str, tuple[Operator, Operator]] = {
    "length": ("=", "!="), "minLength": (">=", "<"), "maxLength": ("<=", ">")
}  # fmt: skip


def _members(datatype: str) -> tuple[str, ...] | None:
    """Return the datatypes all of whose values the datatype holds, or None for all there are."""
    if datatype == RDFS + "Literal":
        return None
    if datatype in (OWL + "real", OWL + "rational", XSD + "decimal"):
        return _FAMILIES[0]
    if datatype in INTEGERS:
        return INTEGERS
    if datatype == RDF + "PlainLiteral":
        return (*_TEXTS, RDF + "langString")
    return _TEXTS if datatype == XSD + "string" else (datatype,)


def inside(datatype: ox.NamedNode, value: Node) -> Condition:
    """Return the condition under which a value is certainly in a datatype."""
    members = _members(datatype.value)
    if members is None:
        return Call("isLiteral", (value,))
    membership = In(Call("datatype", (value,)), tuple(iri(m) for m in members))
    bounds = _bounds(datatype, value, clash=False)
    return AllOf((membership, *bounds)) if bounds else membership


def outside(datatype: ox.NamedNode, value: Node) -> Condition | None:
    """Return the condition under which a literal is certainly not in a datatype, or None if never."""
    members = _members(datatype.value)
    family = next((f for f in _FAMILIES if members and members[0] in f), None)
    if members is None or family is None:
        return None
    kept = set(family) if members[0] not in _TEXTS else set(members)
    others = In(Call("datatype", (value,)), tuple(iri(n) for n in _ALL if n not in kept))
    bounds = _bounds(datatype, value, clash=True)
    # Most literals have the datatype itself, and one comparison is cheaper than a list of forty.
    other = AllOf((Compare(Call("datatype", (value,)), "!=", datatype), others))
    return AllOf((Call("isLiteral", (value,)), AnyOf((other, *bounds)) if bounds else other))


def _bounds(datatype: ox.NamedNode, value: Node, *, clash: bool) -> tuple[Condition, ...]:
    low, high = _BOUNDS.get(datatype.value.removeprefix(XSD), (None, None))
    bounds: list[Condition] = []
    if low is not None:
        bounds.append(Compare(value, "<" if clash else ">=", _integer(low)))
    if high is not None:
        bounds.append(Compare(value, ">" if clash else "<=", _integer(high)))
    return tuple(bounds)


def _integer(number: int) -> ox.Literal:
    return ox.Literal(str(number), datatype=iri(XSD + "integer"))


def within(range: DataRange, value: Node, *, clash: bool) -> Condition | None:
    """Return the condition of a datatype with limits (OWL 2 Structural Specification, section 7.5).

    Args:
        range: The datatype and its limits.
        value: What is tested.
        clash: Whether the value is to be outside for certain, not inside.

    Returns:
        The condition; None where it cannot be tested.
    """
    tests: list[Condition] = []
    for facet, given in range.facets:
        limit = to_ox(given)
        if facet in _COMPARISONS:
            tests.append(Compare(value, _COMPARISONS[facet][clash], limit))
        elif facet in _LENGTHS:
            length = Call("strlen", (Call("str", (value,)),))
            tests.append(Compare(length, _LENGTHS[facet][clash], _integer(int(limit.value))))
        elif facet == "pattern" and _compiles(limit.value):
            match = Call("regex", (Call("str", (value,)), ox.Literal(f"^(?:{limit.value})$")))
            tests.append(Negation(match) if clash else match)
        else:
            return None
    if not clash:
        # A limit compares across the numeric datatypes, so the base has to hold as well.
        return AllOf((inside(iri(range.datatype), value), *tests))
    base = outside(iri(range.datatype), value)
    tests = [AllOf((Call("isLiteral", (value,)), t)) for t in tests] + ([base] if base else [])
    return AnyOf(tuple(tests)) if tests else None


def _compiles(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except re.error:
        return False
    return True
