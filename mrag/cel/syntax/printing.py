"""Class expressions as text: description logic and Manchester syntax.

Names are printed as CURIEs of known prefixes or as IRIs in angle brackets, so that what is printed can be
read again; a `name` function prints them another way, for people.

Source:
    OWL 2 Web Ontology Language Manchester Syntax, section 2.

Example:
    >>> from mrag.cel.syntax.expressions import And, Named, Not, Property, Some, Top
    >>> names = {"ex": "http://example.org/"}
    >>> e = And((Not(Named("http://example.org/A")), Some(Property("http://example.org/p", True), Top())))
    >>> to_dl(e, names), to_manchester(e, names)
    ('¬ex:A ⊓ (∃ ex:p⁻.⊤)', 'not ex:A and (inverse ex:p some owl:Thing)')
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rdflib import Literal

from mrag.cel.syntax.expressions import (
    And,
    AtLeast,
    AtMost,
    Bottom,
    DataOnly,
    DataSome,
    Exactly,
    Expression,
    Facet,
    Named,
    Not,
    OneOf,
    Only,
    Or,
    Some,
    Top,
    Value,
)  # fmt: skip
from mrag.rdf.terms import XSD, curie, to_ox

Name = Callable[[str], str]
"""Prints an IRI."""

_PLAIN = re.compile(r"(?:[A-Za-z][\w\-]*)?:\w(?:[\w\-]*\w)?\Z")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)\Z")


@dataclass(frozen=True)
class _Notation:
    """The signs of a notation.

    Attributes:
        signs: What stands for each kind of expression: between operands, before one, or for restrictions a
            template of the property `p`, the filler `c` and the number `n`.
        inverse: Template of an inverse property.
        facets: The comparison for each limit of data values.
    """

    signs: Mapping[type[Expression], str]
    inverse: str
    facets: Mapping[Facet, str]


_DL = _Notation(
    {
        Top: "⊤", Bottom: "⊥", Not: "¬", And: " ⊓ ", Or: " ⊔ ", Some: "∃ {p}.{c}", Only: "∀ {p}.{c}",
        Value: "∃ {p}.{{{c}}}", AtLeast: "≥ {n} {p}.{c}", AtMost: "≤ {n} {p}.{c}", Exactly: "= {n} {p}.{c}",
        DataSome: "∃ {p}.{c}", DataOnly: "∀ {p}.{c}",
    },
    "{}⁻",
    {"minInclusive": "≥", "maxInclusive": "≤", "minExclusive": ">", "maxExclusive": "<"},
)  # fmt: skip
_MANCHESTER = _Notation(
    {
        Top: "owl:Thing", Bottom: "owl:Nothing", Not: "not ", And: " and ", Or: " or ",
        Some: "{p} some {c}", Only: "{p} only {c}", Value: "{p} value {c}", AtLeast: "{p} min {n} {c}",
        AtMost: "{p} max {n} {c}", Exactly: "{p} exactly {n} {c}", DataSome: "{p} some {c}",
        DataOnly: "{p} only {c}",
    },
    "inverse {}",
    {"minInclusive": ">=", "maxInclusive": "<=", "minExclusive": ">", "maxExclusive": "<"},
)  # fmt: skip


def to_dl(
    expression: Expression, prefixes: Mapping[str, str] | None = None, *, name: Name | None = None
) -> str:
    """Print an expression in the notation of description logic.

    Args:
        expression: The expression.
        prefixes: Prefixes for CURIEs, beside the well-known ones.
        name: Prints an IRI; what another function than the default prints cannot be read again.

    Example:
        >>> from mrag.cel.syntax.expressions import Property
        >>> from mrag.rdf.terms import RDFS
        >>> to_dl(AtLeast(2, Property(RDFS + "seeAlso"), Named(RDFS + "Class")))
        '≥ 2 rdfs:seeAlso.rdfs:Class'
    """
    return _printed(expression, name or _namer(prefixes), _DL)


def to_manchester(
    expression: Expression, prefixes: Mapping[str, str] | None = None, *, name: Name | None = None
) -> str:
    """Print an expression in Manchester syntax.

    Args:
        expression: The expression.
        prefixes: Prefixes for CURIEs, beside the well-known ones.
        name: Prints an IRI; what another function than the default prints cannot be read again.
    """
    return _printed(expression, name or _namer(prefixes), _MANCHESTER)


def to_term(value: str | Literal, name: Name) -> str:
    """Print an IRI or a literal; whole numbers and booleans stand without quotes."""
    if not isinstance(value, Literal):
        return name(value)
    datatype = str(value.datatype or "")
    if datatype == XSD + "integer" and _NUMBER.match(str(value)):
        return str(value)
    if datatype == XSD + "boolean" and str(value) in ("true", "false"):
        return str(value)
    return str(to_ox(value))


def _namer(prefixes: Mapping[str, str] | None) -> Name:
    def name(iri: str) -> str:
        short = curie(iri, prefixes)
        return short if _PLAIN.match(short) else f"<{iri}>"

    return name


def _printed(e: Expression, name: Name, notation: _Notation) -> str:
    signs = notation.signs
    match e:
        case Top() | Bottom():
            return signs[type(e)]
        case Named(iri):
            return name(iri)
        case Not(of):
            return signs[Not] + _operand(of, name, notation)
        case And(parts) | Or(parts):
            return signs[type(e)].join(_operand(p, name, notation) for p in parts)
        case OneOf(members):
            return "{" + ", ".join(to_term(m, name) for m in members) + "}"
        case Value(p, value):
            filler = to_term(value, name)
        case DataSome(p, range) | DataOnly(p, range):
            limits = ", ".join(f"{notation.facets[f]} {to_term(limit, name)}" for f, limit in range.facets)
            filler = name(range.datatype) + (f"[{limits}]" if limits else "")
        case Some(p, of) | Only(p, of) | AtLeast(_, p, of) | AtMost(_, p, of) | Exactly(_, p, of):
            filler = _operand(of, name, notation)
    role = notation.inverse.format(name(p.iri)) if p.inverse else name(p.iri)
    return signs[type(e)].format(n=getattr(e, "n", ""), p=role, c=filler)


def _operand(e: Expression, name: Name, notation: _Notation) -> str:
    text = _printed(e, name, notation)
    simple = isinstance(e, Top | Bottom | Named | OneOf) or (isinstance(e, Not) and isinstance(e.of, Named))
    return text if simple else f"({text})"
