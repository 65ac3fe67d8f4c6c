"""Class expressions as triples, by the mapping of OWL 2 to RDF graphs, and as constructs of owlready2."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from importlib import import_module
from typing import Any, TypeAlias

from rdflib import BNode, Graph, Literal, URIRef
from rdflib.collection import Collection
from rdflib.namespace import OWL, RDF, RDFS, XSD
from rdflib.term import Node

from mrag.cel.syntax import expressions as ce
from mrag.errors import ConfigError
from mrag.rdf.terms import to_ox

_Resource: TypeAlias = URIRef | BNode

_FACETS: Mapping[str, ce.Facet] = {
    str(XSD.minInclusive): "minInclusive", str(XSD.maxInclusive): "maxInclusive",
    str(XSD.minExclusive): "minExclusive", str(XSD.maxExclusive): "maxExclusive",
}  # fmt: skip
_CARDINALITIES: Mapping[type[ce.Cardinality], str] = {ce.AtLeast: "min", ce.AtMost: "max", ce.Exactly: ""}
_PREDICATES: Mapping[type[ce.Expression], URIRef] = {
    ce.And: OWL.intersectionOf, ce.Or: OWL.unionOf, ce.Some: OWL.someValuesFrom, ce.Only: OWL.allValuesFrom,
    ce.DataSome: OWL.someValuesFrom, ce.DataOnly: OWL.allValuesFrom,
}  # fmt: skip


def to_turtle(
    expression: ce.Expression, iri: str | None = None, prefixes: Mapping[str, str] | None = None
) -> str:
    """Print an expression as Turtle.

    Args:
        expression: The expression.
        iri: A class that is to be equivalent to it; without one the expression stands alone.
        prefixes: Prefixes to use.

    Source:
        OWL 2 Mapping to RDF Graphs, section 2.1.

    Example:
        >>> print(to_turtle(ce.Not(ce.Named("urn:a:A")), "urn:a:B", {"a": "urn:a:"}))
        @prefix a: <urn:a:> .
        @prefix owl: <http://www.w3.org/2002/07/owl#> .
        <BLANKLINE>
        a:B a owl:Class ;
            owl:equivalentClass [ a owl:Class ;
                    owl:complementOf a:A ] .
    """
    graph = Graph()
    for prefix, namespace in (prefixes or {}).items():
        graph.bind(prefix, namespace)
    node = to_graph(expression, graph)
    if iri is not None:
        to_ox(iri)
        graph.add((URIRef(iri), RDF.type, OWL.Class))
        graph.add((URIRef(iri), OWL.equivalentClass, node))
    return graph.serialize(format="turtle").strip()


def to_graph(expression: ce.Expression, graph: Graph) -> _Resource:
    """Add an expression to a graph and return its node."""
    match expression:
        case ce.Top():
            return OWL.Thing
        case ce.Bottom():
            return OWL.Nothing
        case ce.Named(iri):
            to_ox(iri)
            return URIRef(iri)
        case ce.Not(of):
            return _class(graph, OWL.complementOf, to_graph(of, graph))
        case ce.And(parts) | ce.Or(parts):
            items = _list(graph, [to_graph(p, graph) for p in parts])
            return _class(graph, _PREDICATES[type(expression)], items)
        case ce.OneOf(members):
            return _class(graph, OWL.oneOf, _list(graph, [URIRef(m) for m in members]))
        case ce.Some(p, filler) | ce.Only(p, filler):
            return _restriction(graph, p, _PREDICATES[type(expression)], to_graph(filler, graph))
        case ce.Value(p, value):
            term = value if isinstance(value, Literal) else URIRef(value)
            return _restriction(graph, p, OWL.hasValue, term)
        case ce.DataSome(p, range) | ce.DataOnly(p, range):
            return _restriction(graph, p, _PREDICATES[type(expression)], _range(graph, range))
        case ce.AtLeast(n, p, filler) | ce.AtMost(n, p, filler) | ce.Exactly(n, p, filler):
            count = Literal(n, datatype=XSD.nonNegativeInteger)
            predicate = _cardinality(_CARDINALITIES[type(expression)] + "QualifiedCardinality")
            node = _restriction(graph, p, predicate, count)
            graph.add((node, OWL.onClass, to_graph(filler, graph)))
            return node


def from_graph(graph: Graph, node: Node) -> ce.Expression:
    """Read the expression that a node of a graph stands for."""
    return _read(graph, node, 0)


def _read(graph: Graph, node: Node, deep: int) -> ce.Expression:
    if deep > 100:
        raise ConfigError("The triples of the class expression go round in a circle.", term=str(node))
    if node == OWL.Thing:
        return ce.Top()
    if node == OWL.Nothing:
        return ce.Bottom()
    on = graph.value(node, OWL.onProperty)
    if on is not None:
        return _restricted(graph, node, _property(graph, on), deep)
    for predicate, kind in ((OWL.intersectionOf, ce.And), (OWL.unionOf, ce.Or)):
        parts = graph.value(node, predicate)
        if parts is not None and isinstance(node, BNode):
            return kind(tuple(_read(graph, p, deep + 1) for p in Collection(graph, parts)))
    if isinstance(node, URIRef):
        return ce.Named(str(node))
    negated = graph.value(node, OWL.complementOf)
    if negated is not None:
        return ce.Not(_read(graph, negated, deep + 1))
    members = graph.value(node, OWL.oneOf)
    if members is not None:
        return ce.OneOf(tuple(str(m) for m in Collection(graph, members)))
    raise ConfigError("These triples are no class expression.", term=str(node))


def _restricted(graph: Graph, node: Node, p: ce.Property, deep: int) -> ce.Expression:
    quantified: Sequence[tuple[URIRef, type[ce.Some] | type[ce.Only], type[ce.DataSome] | type[ce.DataOnly]]]
    quantified = ((OWL.someValuesFrom, ce.Some, ce.DataSome), (OWL.allValuesFrom, ce.Only, ce.DataOnly))
    for predicate, of_class, of_data in quantified:
        filler = graph.value(node, predicate)
        if filler is not None:
            range = _data(graph, filler)
            return of_class(p, _read(graph, filler, deep + 1)) if range is None else of_data(p, range)
    value = graph.value(node, OWL.hasValue)
    if value is not None:
        return ce.Value(p, value if isinstance(value, Literal) else str(value))
    for kind, word in _CARDINALITIES.items():
        for name in ("QualifiedCardinality", "Cardinality"):
            n = graph.value(node, _cardinality(word + name))
            if n is not None:
                on = graph.value(node, OWL.onClass)
                return kind(int(str(n)), p, ce.Top() if on is None else _read(graph, on, deep + 1))
    raise ConfigError("This restriction is not of this language.", term=str(node))


def _cardinality(name: str) -> URIRef:
    return OWL[name[0].lower() + name[1:]]


def _property(graph: Graph, node: Node) -> ce.Property:
    inverse = graph.value(node, OWL.inverseOf) if isinstance(node, BNode) else None
    return ce.Property(str(node)) if inverse is None else ce.Property(str(inverse), True)


def _data(graph: Graph, node: Node) -> ce.DataRange | None:
    if isinstance(node, URIRef):
        named = ce.is_datatype(str(node)) or (node, RDF.type, RDFS.Datatype) in graph
        return ce.DataRange(str(node)) if named else None
    base = graph.value(node, OWL.onDatatype)
    if base is None:
        return None
    facets: list[tuple[ce.Facet, Literal]] = []
    restrictions = graph.value(node, OWL.withRestrictions)
    for item in Collection(graph, restrictions) if restrictions is not None else ():
        for _, predicate, limit in graph.triples((item, None, None)):
            if str(predicate) not in _FACETS or not isinstance(limit, Literal):
                raise ConfigError("This limit of values is not of this language.", term=str(predicate))
            facets.append((_FACETS[str(predicate)], limit))
    return ce.DataRange(str(base), tuple(facets))


def _range(graph: Graph, range: ce.DataRange) -> _Resource:
    if not range.facets:
        return URIRef(range.datatype)
    items: list[Node] = []
    for facet, limit in range.facets:
        item = BNode()
        graph.add((item, XSD[facet], limit))
        items.append(item)
    node = BNode()
    graph.add((node, RDF.type, RDFS.Datatype))
    graph.add((node, OWL.onDatatype, URIRef(range.datatype)))
    graph.add((node, OWL.withRestrictions, _list(graph, items)))
    return node


def _class(graph: Graph, predicate: URIRef, value: Node) -> BNode:
    node = BNode()
    graph.add((node, RDF.type, OWL.Class))
    graph.add((node, predicate, value))
    return node


def _restriction(graph: Graph, p: ce.Property, predicate: URIRef, value: Node) -> BNode:
    to_ox(p.iri)
    on: Node = URIRef(p.iri)
    if p.inverse:
        on = BNode()
        graph.add((on, OWL.inverseOf, URIRef(p.iri)))
    node = BNode()
    graph.add((node, RDF.type, OWL.Restriction))
    graph.add((node, OWL.onProperty, on))
    graph.add((node, predicate, value))
    return node


def _list(graph: Graph, items: Sequence[Node]) -> _Resource:
    if not items:
        return RDF.nil
    head = BNode()
    Collection(graph, head, list(items))
    return head


_TYPES: dict[str, type] = {
    str(XSD.integer): int, str(XSD.decimal): Decimal, str(XSD.double): float, str(XSD.boolean): bool,
    str(XSD.string): str, str(XSD.date): date, str(XSD.dateTime): datetime,
}  # fmt: skip
_OWLREADY_FACETS: dict[ce.Facet, str] = {
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
            return _restriction_of(o, construct)
        case o.ThingClass():
            iri = str(construct.iri)
            return (
                ce.Top()
                if iri == str(OWL.Thing)
                else ce.Bottom()
                if iri == str(OWL.Nothing)
                else ce.Named(iri)
            )
    raise ConfigError("This construct of owlready2 is not of this language.", term=str(construct))


def _restriction_of(o: Any, r: Any) -> ce.Expression:
    inverse = isinstance(r.property, o.Inverse)
    p = ce.Property(str(r.property.property.iri if inverse else r.property.iri), inverse)
    if r.type == o.VALUE:
        return ce.Value(p, r.value.iri if isinstance(r.value, o.Thing) else _literal(r.value))
    if r.type in (o.SOME, o.ONLY) and (
        isinstance(r.value, o.ConstrainedDatatype) or r.value in _TYPES.values()
    ):
        range = _range_of(r.value, o)
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


def _range_of(value: Any, o: Any) -> ce.DataRange:
    names = {kind: name for name, kind in _TYPES.items()}
    if not isinstance(value, o.ConstrainedDatatype):
        return ce.DataRange(names[value])
    facets = tuple(
        (facet, _literal(getattr(value, name)))
        for facet, name in _OWLREADY_FACETS.items()
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
        return self.o.ConstrainedDatatype(
            kind, **{_OWLREADY_FACETS[f]: self.value(v) for f, v in range.facets}
        )


def _library() -> Any:
    try:
        return import_module("owlready2")
    except ImportError as error:
        raise ConfigError("owlready2 is not installed.", hint="pip install owlready2") from error
