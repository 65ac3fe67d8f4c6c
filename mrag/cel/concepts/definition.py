"""The definition of a kept concept in OWL, whose world is open; its expression is meant in a closed one.

The query of an expression takes what is not stated for false; OWL does not. Where both give the same, the
concept is defined to be equivalent to the expression, and reasoning finds its instances. Elsewhere, with
negation, `∀`, `≤`, `=`, `≥ 2` or numbers compared by value, an OWL definition would either miss instances
or state as a fact what the data only leaves open. There the concept is a subclass of that part of the
expression which OWL can say safely, and the instances of the query are asserted as its members.

A term without any class is no individual, and no answer of a query. Reasoning may put it into an open
concept; then it has a class, and the query finds it too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal as OneOfText
from typing import TypeAlias

from rdflib import BNode, Graph, Literal, URIRef
from rdflib.namespace import OWL, RDFS
from rdflib.term import Node

from mrag.cel.semantics.values import by_value, condition
from mrag.cel.syntax import expressions as ce
from mrag.cel.syntax.normal_form import normal
from mrag.cel.syntax.rdf import to_graph
from mrag.errors import ConfigError
from mrag.rdf.patterns import var
from mrag.rdf.terms import SKOLEM, Triple

WorldAssumption: TypeAlias = OneOfText["open", "closed"]
"""`open` if reasoning finds the instances by the definition, `closed` if they are asserted."""


def world_assumption(expression: ce.Expression) -> WorldAssumption:
    """Return whether reasoning under the open world finds just the instances of the query.

    Example:
        >>> a = ce.Named("urn:A")
        >>> world_assumption(ce.Some(ce.Property("urn:p"), a)), world_assumption(ce.Not(a))
        ('open', 'closed')
    """
    e = normal(expression)
    return "open" if not isinstance(e, ce.Top) and all(map(_found_by_rules, ce.walk(e))) else "closed"


def safe_part(expression: ce.Expression) -> ce.Expression:
    """Return what OWL can say of the instances of an expression without stating what is only not stated.

    It holds at least what the expression holds.

    Example:
        >>> p, a, b, c = ce.Property("urn:p"), *(ce.Named(f"urn:{name}") for name in "ABC")
        >>> safe_part(ce.And((ce.Some(p, ce.And((a, ce.Not(b)))), ce.Not(c))))
        Some(property=Property(iri='urn:p', inverse=False), filler=Named(iri='urn:A'))
    """
    return normal(_safe(normal(expression)))


def definition(iri: str, expression: ce.Expression, key: str) -> list[Triple]:
    """Return the triples that define a concept, in an order that depends on the expression only.

    Args:
        iri: IRI of the concept.
        expression: The expression.
        key: Goes into the names of the nodes of the definition, so that no two concepts share one.

    Source:
        OWL 2 Mapping to RDF Graphs, section 2.1; blank nodes are IRIs, as after loading.
    """
    graph = Graph()
    is_open = world_assumption(expression) == "open"
    defining = normal(expression) if is_open else safe_part(expression)
    if isinstance(defining, ce.Top):
        return []
    root = to_graph(defining, graph)
    names: dict[Node, URIRef] = {}
    for number, node in enumerate(_nodes(graph, root), start=1):
        names[node] = URIRef(f"{SKOLEM}{key}:{number}")
    predicate = OWL.equivalentClass if is_open else RDFS.subClassOf
    found = [Triple(URIRef(iri), predicate, names.get(root, root))]
    found += [Triple(names.get(s, s), p, names.get(o, o)) for s, p, o in graph]  # type: ignore[arg-type]
    return sorted(found)


def _found_by_rules(e: ce.Expression) -> bool:
    match e:
        case ce.Top() | ce.Named() | ce.And() | ce.Or() | ce.Some() | ce.OneOf():
            return True
        case ce.Value(_, value):
            # A rule matches the literal as it is written, the query by its value.
            return not (isinstance(value, Literal) and by_value(value))
        case ce.DataSome(_, range):
            try:
                condition(range, var("v"))
            except ConfigError:
                return False
            return True
        case _:
            return False


def _safe(e: ce.Expression) -> ce.Expression:
    match e:
        case ce.And(parts):
            return ce.And(tuple(map(_safe, parts)))
        case ce.Or(parts):
            return ce.Or(tuple(map(_safe, parts)))
        case ce.Some(p, filler):
            return ce.Some(p, _safe(filler))
        case ce.AtLeast(n, p, filler) | ce.Exactly(n, p, filler):
            return ce.AtLeast(n, p, _safe(filler))
        case ce.Named() | ce.OneOf() | ce.DataSome() | ce.Bottom():
            return e
        case ce.Value(_, value) if not (isinstance(value, Literal) and by_value(value)):
            return e
        case _:
            return ce.Top()


def _nodes(graph: Graph, node: Node) -> Iterator[BNode]:
    """Yield the blank nodes of a definition from its root, in an order that its shape gives."""
    if isinstance(node, BNode):
        yield node
        for _, o in sorted(graph.predicate_objects(node), key=lambda po: (str(po[0]), str(po[1]))):
            yield from _nodes(graph, o)
