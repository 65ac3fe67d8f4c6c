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

from rdflib import Literal

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
    Named,
    Not,
    OneOf,
    Only,
    Or,
    Property,
    Some,
    Top,
    Value,
)  # fmt: skip
from mrag.rdf.terms import XSD, curie, to_ox

Name = Callable[[str], str]
"""Prints an IRI."""

_PLAIN = re.compile(r"(?:[A-Za-z][\w\-]*)?:\w(?:[\w\-]*\w)?\Z")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)\Z")
_SIGNS = {"minInclusive": "≥", "maxInclusive": "≤", "minExclusive": ">", "maxExclusive": "<"}
_WORDS = {"minInclusive": ">=", "maxInclusive": "<=", "minExclusive": ">", "maxExclusive": "<"}


def to_dl(
    expression: Expression, prefixes: Mapping[str, str] | None = None, *, name: Name | None = None
) -> str:
    """Print an expression in the notation of description logic.

    Args:
        expression: The expression.
        prefixes: Prefixes for CURIEs, beside the well-known ones.
        name: Prints an IRI; what another function than the default prints cannot be read again.

    Example:
        >>> from mrag.rdf.terms import RDFS
        >>> to_dl(AtLeast(2, Property(RDFS + "seeAlso"), Named(RDFS + "Class")))
        '≥ 2 rdfs:seeAlso.rdfs:Class'
    """
    return _dl(expression, name or _namer(prefixes))


def to_manchester(
    expression: Expression, prefixes: Mapping[str, str] | None = None, *, name: Name | None = None
) -> str:
    """Print an expression in Manchester syntax.

    Args:
        expression: The expression.
        prefixes: Prefixes for CURIEs, beside the well-known ones.
        name: Prints an IRI; what another function than the default prints cannot be read again.
    """
    return _manchester(expression, name or _namer(prefixes))


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


def _dl(e: Expression, name: Name) -> str:
    match e:
        case Top():
            return "⊤"
        case Bottom():
            return "⊥"
        case Named(iri):
            return name(iri)
        case Not(of):
            return f"¬{_dl_part(of, name)}"
        case And(parts):
            return " ⊓ ".join(_dl_part(p, name) for p in parts)
        case Or(parts):
            return " ⊔ ".join(_dl_part(p, name) for p in parts)
        case Some(p, filler):
            return f"∃ {_dl_role(p, name)}.{_dl_part(filler, name)}"
        case Only(p, filler):
            return f"∀ {_dl_role(p, name)}.{_dl_part(filler, name)}"
        case Value(p, value):
            return f"∃ {_dl_role(p, name)}.{{{to_term(value, name)}}}"
        case OneOf(members):
            return "{" + ", ".join(to_term(m, name) for m in members) + "}"
        case AtLeast(n, p, filler):
            return f"≥ {n} {_dl_role(p, name)}.{_dl_part(filler, name)}"
        case AtMost(n, p, filler):
            return f"≤ {n} {_dl_role(p, name)}.{_dl_part(filler, name)}"
        case Exactly(n, p, filler):
            return f"= {n} {_dl_role(p, name)}.{_dl_part(filler, name)}"
        case DataSome(p, range):
            return f"∃ {_dl_role(p, name)}.{_data(range, name, _SIGNS)}"
        case DataOnly(p, range):
            return f"∀ {_dl_role(p, name)}.{_data(range, name, _SIGNS)}"


def _dl_part(e: Expression, name: Name) -> str:
    text = _dl(e, name)
    simple = isinstance(e, Top | Bottom | Named | OneOf) or (isinstance(e, Not) and isinstance(e.of, Named))
    return text if simple else f"({text})"


def _dl_role(p: Property, name: Name) -> str:
    return name(p.iri) + ("⁻" if p.inverse else "")


def _manchester(e: Expression, name: Name) -> str:
    match e:
        case Top():
            return "owl:Thing"
        case Bottom():
            return "owl:Nothing"
        case Named(iri):
            return name(iri)
        case Not(of):
            return f"not {_manchester_part(of, name)}"
        case And(parts):
            return " and ".join(_manchester_part(p, name) for p in parts)
        case Or(parts):
            return " or ".join(_manchester_part(p, name) for p in parts)
        case Some(p, filler):
            return f"{_role(p, name)} some {_manchester_part(filler, name)}"
        case Only(p, filler):
            return f"{_role(p, name)} only {_manchester_part(filler, name)}"
        case Value(p, value):
            return f"{_role(p, name)} value {to_term(value, name)}"
        case OneOf(members):
            return "{" + ", ".join(to_term(m, name) for m in members) + "}"
        case AtLeast(n, p, filler):
            return f"{_role(p, name)} min {n} {_manchester_part(filler, name)}"
        case AtMost(n, p, filler):
            return f"{_role(p, name)} max {n} {_manchester_part(filler, name)}"
        case Exactly(n, p, filler):
            return f"{_role(p, name)} exactly {n} {_manchester_part(filler, name)}"
        case DataSome(p, range):
            return f"{_role(p, name)} some {_data(range, name, _WORDS)}"
        case DataOnly(p, range):
            return f"{_role(p, name)} only {_data(range, name, _WORDS)}"


def _manchester_part(e: Expression, name: Name) -> str:
    text = _manchester(e, name)
    simple = isinstance(e, Top | Bottom | Named | OneOf) or (isinstance(e, Not) and isinstance(e.of, Named))
    return text if simple else f"({text})"


def _role(p: Property, name: Name) -> str:
    return f"inverse {name(p.iri)}" if p.inverse else name(p.iri)


def _data(range: DataRange, name: Name, signs: Mapping[str, str]) -> str:
    limits = ", ".join(f"{signs[facet]} {to_term(limit, name)}" for facet, limit in range.facets)
    return name(range.datatype) + (f"[{limits}]" if limits else "")
