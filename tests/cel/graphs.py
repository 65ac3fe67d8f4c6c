"""Reads class expressions from triples, to compare with what was written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rdflib import BNode, Graph, Literal, URIRef
from rdflib.collection import Collection
from rdflib.namespace import OWL, RDF, RDFS, XSD
from rdflib.term import Node

from mrag.cel import expressions as ce
from mrag.errors import ConfigError

FACETS: Mapping[str, ce.Facet] = {
    str(XSD.minInclusive): "minInclusive", str(XSD.maxInclusive): "maxInclusive",
    str(XSD.minExclusive): "minExclusive", str(XSD.maxExclusive): "maxExclusive",
}  # fmt: skip
CARDINALITIES: Mapping[type[ce.Cardinality], str] = {ce.AtLeast: "min", ce.AtMost: "max", ce.Exactly: ""}


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
    quantified: Sequence[
        tuple[
            URIRef,
            type[ce.Some] | type[ce.Only],
            type[ce.DataSome] | type[ce.DataOnly],
        ]
    ]
    quantified = (
        (OWL.someValuesFrom, ce.Some, ce.DataSome),
        (OWL.allValuesFrom, ce.Only, ce.DataOnly),
    )
    for predicate, of_class, of_data in quantified:
        filler = graph.value(node, predicate)
        if filler is not None:
            range = _data(graph, filler)
            return of_class(p, _read(graph, filler, deep + 1)) if range is None else of_data(p, range)
    value = graph.value(node, OWL.hasValue)
    if value is not None:
        return ce.Value(p, value if isinstance(value, Literal) else str(value))
    for kind, word in CARDINALITIES.items():
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
            if str(predicate) not in FACETS or not isinstance(limit, Literal):
                raise ConfigError("This limit of values is not of this language.", term=str(predicate))
            facets.append((FACETS[str(predicate)], limit))
    return ce.DataRange(str(base), tuple(facets))
