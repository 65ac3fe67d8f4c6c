"""Class expressions to and from the constructs of owlready2."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from importlib import import_module
from typing import Any

from rdflib import Literal

from mrag.cel.syntax import expressions as ce
from mrag.errors import ConfigError
from mrag.rdf.terms import OWL, XSD

_TYPES: dict[str, type] = {
    XSD + "integer": int, XSD + "decimal": Decimal, XSD + "double": float, XSD + "boolean": bool,
    XSD + "string": str, XSD + "date": date, XSD + "dateTime": datetime,
}  # fmt: skip
_FACETS: dict[ce.Facet, str] = {
    "minInclusive": "min_inclusive", "maxInclusive": "max_inclusive",
    "minExclusive": "min_exclusive", "maxExclusive": "max_exclusive",
}  # fmt: skip

_METHODS: dict[type[ce.Expression], str] = {
    ce.Some: "some", ce.DataSome: "some", ce.Only: "only", ce.DataOnly: "only", ce.Value: "value",
    ce.AtLeast: "min", ce.AtMost: "max", ce.Exactly: "exactly",
}  # fmt: skip


def to_owlready(expression: ce.Expression, ontology: Any) -> Any:
    """Turn an expression into constructs of owlready2.

    Args:
        expression: The expression.
        ontology: An ontology of owlready2 whose world has the classes, properties and individuals that the
            expression names.

    Raises:
        ConfigError: If owlready2 is not installed, a name is not in the world, or owlready2 has no Python
            type for a datatype.
    """
    return _Writer(ontology).written(expression)


def from_owlready(construct: Any) -> ce.Expression:
    """Read constructs of owlready2.

    Raises:
        ConfigError: If they are not of this language.
    """
    o = _library()
    match construct:
        case o.And():
            return ce.And(tuple(map(from_owlready, construct.Classes)))
        case o.Or():
            return ce.Or(tuple(map(from_owlready, construct.Classes)))
        case o.Not():
            return ce.Not(from_owlready(construct.Class))
        case o.OneOf():
            return ce.OneOf(tuple(x.iri for x in construct.instances))
        case o.Restriction():
            return _restriction(o, construct)
        case o.ThingClass():
            iri = str(construct.iri)
            return (
                ce.Top() if iri == OWL + "Thing" else ce.Bottom() if iri == OWL + "Nothing" else ce.Named(iri)
            )
    raise ConfigError("This construct of owlready2 is not of this language.", term=str(construct))


def _restriction(o: Any, r: Any) -> ce.Expression:
    inverse = isinstance(r.property, o.Inverse)
    p = ce.Property(str(r.property.property.iri if inverse else r.property.iri), inverse)
    if r.type == o.VALUE:
        return ce.Value(p, r.value.iri if isinstance(r.value, o.Thing) else _literal(r.value))
    if r.type in (o.SOME, o.ONLY) and (
        isinstance(r.value, o.ConstrainedDatatype) or r.value in _TYPES.values()
    ):
        range = _range(r.value, o)
        return ce.DataSome(p, range) if r.type == o.SOME else ce.DataOnly(p, range)
    filler = ce.Top() if r.value is None else from_owlready(r.value)
    if r.type in (o.SOME, o.ONLY):
        return ce.Some(p, filler) if r.type == o.SOME else ce.Only(p, filler)
    kinds: dict[int, Callable[[int, ce.Property, ce.Expression], ce.Expression]] = {
        o.MIN: ce.AtLeast,
        o.MAX: ce.AtMost,
        o.EXACTLY: ce.Exactly,
    }
    if r.type not in kinds:
        raise ConfigError("This restriction is not of this language.", term=str(r))
    return kinds[r.type](int(r.cardinality), p, filler)


def _range(value: Any, o: Any) -> ce.DataRange:
    names = {kind: name for name, kind in _TYPES.items()}
    if not isinstance(value, o.ConstrainedDatatype):
        return ce.DataRange(names[value])
    facets = tuple(
        (facet, _literal(getattr(value, name)))
        for facet, name in _FACETS.items()
        if getattr(value, name, None) is not None
    )
    return ce.DataRange(names[value.base_datatype], facets)


def _literal(value: Any) -> Literal:
    lang = getattr(value, "lang", None)
    return Literal(str(value), lang=lang) if lang else Literal(value)


class _Writer:
    def __init__(self, ontology: Any) -> None:
        self.ontology, self.o = ontology, _library()

    def written(self, e: ce.Expression) -> Any:
        o = self.o
        match e:
            case ce.Top():
                return o.Thing
            case ce.Bottom():
                return o.Nothing
            case ce.Named(iri):
                return self.named(iri)
            case ce.Not(of):
                return o.Not(self.written(of))
            case ce.And(parts):
                return o.And([self.written(p) for p in parts])
            case ce.Or(parts):
                return o.Or([self.written(p) for p in parts])
            case ce.OneOf(members):
                return o.OneOf([self.named(m) for m in members])
        restriction = getattr(self.role(e.property), _METHODS[type(e)])
        match e:
            case ce.AtLeast(n, _, filler) | ce.AtMost(n, _, filler) | ce.Exactly(n, _, filler):
                return restriction(n, self.written(filler))
            case ce.Some(_, filler) | ce.Only(_, filler):
                return restriction(self.written(filler))
            case ce.Value(_, value):
                return restriction(self.value(value) if isinstance(value, Literal) else self.named(value))
            case ce.DataSome(_, range) | ce.DataOnly(_, range):
                return restriction(self.range(range))

    def named(self, iri: str) -> Any:
        found = self.ontology.world[iri]
        if found is None:
            raise ConfigError("The ontology of owlready2 has no such name.", term=iri)
        return found

    def role(self, p: ce.Property) -> Any:
        found = self.named(p.iri)
        # The library would otherwise give a named inverse where the ontology has one.
        return self.o.Inverse(found, simplify=False) if p.inverse else found

    def value(self, literal: Literal) -> Any:
        if literal.language:
            return self.o.locstr(str(literal), literal.language)
        return literal.toPython() if literal.datatype is not None else str(literal)

    def range(self, range: ce.DataRange) -> Any:
        kind = _TYPES.get(range.datatype)
        if kind is None:
            raise ConfigError("owlready2 has no Python type for this datatype.", term=range.datatype)
        if not range.facets:
            return kind
        return self.o.ConstrainedDatatype(kind, **{_FACETS[f]: self.value(v) for f, v in range.facets})


def _library() -> Any:
    try:
        return import_module("owlready2")
    except ImportError as error:
        raise ConfigError("owlready2 is not installed.", hint="pip install owlready2") from error
