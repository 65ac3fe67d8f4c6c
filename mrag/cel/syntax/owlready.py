"""Class expressions to and from the constructs of owlready2."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from importlib import import_module
from typing import Any

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
    Facet,
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
from mrag.errors import ConfigError
from mrag.rdf.terms import OWL, XSD

_TYPES: dict[str, type] = {
    XSD + "integer": int, XSD + "decimal": Decimal, XSD + "double": float, XSD + "boolean": bool,
    XSD + "string": str, XSD + "date": date, XSD + "dateTime": datetime,
}  # fmt: skip
_FACETS: dict[Facet, str] = {
    "minInclusive": "min_inclusive", "maxInclusive": "max_inclusive",
    "minExclusive": "min_exclusive", "maxExclusive": "max_exclusive",
}  # fmt: skip

_METHODS: dict[type[Expression], str] = {
    Some: "some", DataSome: "some", Only: "only", DataOnly: "only", Value: "value",
    AtLeast: "min", AtMost: "max", Exactly: "exactly",
}  # fmt: skip


def to_owlready(expression: Expression, ontology: Any) -> Any:
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


def from_owlready(construct: Any) -> Expression:
    """Read constructs of owlready2.

    Raises:
        ConfigError: If they are not of this language.
    """
    o = _library()
    match construct:
        case o.And():
            return And(tuple(map(from_owlready, construct.Classes)))
        case o.Or():
            return Or(tuple(map(from_owlready, construct.Classes)))
        case o.Not():
            return Not(from_owlready(construct.Class))
        case o.OneOf():
            return OneOf(tuple(x.iri for x in construct.instances))
        case o.Restriction():
            return _restriction(o, construct)
        case o.ThingClass():
            iri = str(construct.iri)
            return Top() if iri == OWL + "Thing" else Bottom() if iri == OWL + "Nothing" else Named(iri)
    raise ConfigError("This construct of owlready2 is not of this language.", term=str(construct))


def _restriction(o: Any, r: Any) -> Expression:
    inverse = isinstance(r.property, o.Inverse)
    p = Property(str(r.property.property.iri if inverse else r.property.iri), inverse)
    if r.type == o.VALUE:
        return Value(p, r.value.iri if isinstance(r.value, o.Thing) else _literal(r.value))
    if r.type in (o.SOME, o.ONLY) and (
        isinstance(r.value, o.ConstrainedDatatype) or r.value in _TYPES.values()
    ):
        range = _range(r.value, o)
        return DataSome(p, range) if r.type == o.SOME else DataOnly(p, range)
    filler = Top() if r.value is None else from_owlready(r.value)
    if r.type in (o.SOME, o.ONLY):
        return Some(p, filler) if r.type == o.SOME else Only(p, filler)
    kinds: dict[int, Callable[[int, Property, Expression], Expression]] = {
        o.MIN: AtLeast,
        o.MAX: AtMost,
        o.EXACTLY: Exactly,
    }
    if r.type not in kinds:
        raise ConfigError("This restriction is not of this language.", term=str(r))
    return kinds[r.type](int(r.cardinality), p, filler)


def _range(value: Any, o: Any) -> DataRange:
    names = {kind: name for name, kind in _TYPES.items()}
    if not isinstance(value, o.ConstrainedDatatype):
        return DataRange(names[value])
    facets = tuple(
        (facet, _literal(getattr(value, name)))
        for facet, name in _FACETS.items()
        if getattr(value, name, None) is not None
    )
    return DataRange(names[value.base_datatype], facets)


def _literal(value: Any) -> Literal:
    lang = getattr(value, "lang", None)
    return Literal(str(value), lang=lang) if lang else Literal(value)


class _Writer:
    def __init__(self, ontology: Any) -> None:
        self.ontology, self.o = ontology, _library()

    def written(self, e: Expression) -> Any:
        o = self.o
        match e:
            case Top():
                return o.Thing
            case Bottom():
                return o.Nothing
            case Named(iri):
                return self.named(iri)
            case Not(of):
                return o.Not(self.written(of))
            case And(parts):
                return o.And([self.written(p) for p in parts])
            case Or(parts):
                return o.Or([self.written(p) for p in parts])
            case OneOf(members):
                return o.OneOf([self.named(m) for m in members])
        restriction = getattr(self.role(e.property), _METHODS[type(e)])
        match e:
            case AtLeast(n, _, filler) | AtMost(n, _, filler) | Exactly(n, _, filler):
                return restriction(n, self.written(filler))
            case Some(_, filler) | Only(_, filler):
                return restriction(self.written(filler))
            case Value(_, value):
                return restriction(self.value(value) if isinstance(value, Literal) else self.named(value))
            case DataSome(_, range) | DataOnly(_, range):
                return restriction(self.range(range))

    def named(self, iri: str) -> Any:
        found = self.ontology.world[iri]
        if found is None:
            raise ConfigError("The ontology of owlready2 has no such name.", term=iri)
        return found

    def role(self, p: Property) -> Any:
        found = self.named(p.iri)
        # The library would otherwise give a named inverse where the ontology has one.
        return self.o.Inverse(found, simplify=False) if p.inverse else found

    def value(self, literal: Literal) -> Any:
        if literal.language:
            return self.o.locstr(str(literal), literal.language)
        return literal.toPython() if literal.datatype is not None else str(literal)

    def range(self, range: DataRange) -> Any:
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
