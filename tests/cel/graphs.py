"""Class expressions read from triples, and the facts and rankings that their tests share."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from rdflib import OWL, RDF, RDFS, BNode, Graph, Literal, URIRef
from rdflib.collection import Collection
from rdflib.term import Node

from mrag.cel.problem import Hypothesis
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf import expressions as ce
from mrag.rdf.expressions import Expression
from mrag.rdf.notation import from_dl, to_dl
from mrag.rdf.terms import Triple
from mrag.retrieval.rankers import Hit, Question

_CARDINALITIES = {
    OWL.minQualifiedCardinality: ce.AtLeast,
    OWL.maxQualifiedCardinality: ce.AtMost,
    OWL.qualifiedCardinality: ce.Exactly,
}


def from_graph(graph: Graph, node: Node) -> ce.Expression:
    """Read the expression that a node of a graph stands for."""
    if node in (OWL.Thing, OWL.Nothing):
        return ce.Top() if node == OWL.Thing else ce.Bottom()
    if isinstance(node, URIRef):
        return ce.Named(str(node))
    found = dict(graph.predicate_objects(node))
    if OWL.onProperty in found:
        return _restriction(graph, found)
    if OWL.complementOf in found:
        return ce.Not(from_graph(graph, found[OWL.complementOf]))
    if OWL.oneOf in found:
        return ce.OneOf(tuple(map(str, Collection(graph, found[OWL.oneOf]))))
    kind, predicate = (ce.And, OWL.intersectionOf) if OWL.intersectionOf in found else (ce.Or, OWL.unionOf)
    return kind(tuple(from_graph(graph, part) for part in Collection(graph, found[predicate])))


def _restriction(graph: Graph, found: dict[Node, Node]) -> ce.Expression:
    on = found[OWL.onProperty]
    inverse = graph.value(on, OWL.inverseOf) if isinstance(on, BNode) else None
    p = ce.Property(str(on)) if inverse is None else ce.Property(str(inverse), True)
    if OWL.hasValue in found:
        value = found[OWL.hasValue]
        return ce.Value(p, value if isinstance(value, Literal) else str(value))
    for predicate, cardinality in _CARDINALITIES.items():
        if predicate in found:
            return cardinality(int(str(found[predicate])), p, from_graph(graph, found[OWL.onClass]))
    exists = OWL.someValuesFrom in found
    filler = found[OWL.someValuesFrom if exists else OWL.allValuesFrom]
    range = _range(graph, filler)
    if range is not None:
        return ce.DataSome(p, range) if exists else ce.DataOnly(p, range)
    return (ce.Some if exists else ce.Only)(p, from_graph(graph, filler))


def _range(graph: Graph, node: Node) -> ce.DataRange | None:
    if isinstance(node, URIRef):
        named = ce.is_datatype(str(node)) or (node, RDF.type, RDFS.Datatype) in graph
        return ce.DataRange(str(node)) if named else None
    base, limits = graph.value(node, OWL.onDatatype), graph.value(node, OWL.withRestrictions)
    if base is None or limits is None:
        return None
    pairs = (next(graph.predicate_objects(item)) for item in Collection(graph, limits))
    return ce.DataRange(str(base), tuple((str(p).rpartition("#")[2], limit) for p, limit in pairs))  # type: ignore[misc]


E = "http://example.org/"
PHOTOS = [Triple(*t) for t in Graph().parse(Path(__file__).with_name("photos.ttl"))]  # type: ignore[arg-type]
"""Six photos, of what garments, in which colours and sizes."""


def dl(text: str) -> Expression:
    """An expression of which the names are below E."""
    return from_dl(text, {"": E})


def fact(s: str, p: str, o: str | Literal) -> Triple:
    """A triple: `a` stands for rdf:type, and names without a colon are below E."""

    def iri(name: str) -> URIRef:
        return URIRef(name if ":" in name else E + name)

    return Triple(iri(s), RDF.type if p == "a" else iri(p), o if isinstance(o, Literal) else iri(o))


def put(kg: KnowledgeGraph, *facts: tuple[str, str, str | Literal]) -> None:
    kg.insert([fact(*one) for one in facts])


def short(e: Expression | Hypothesis) -> str:
    """An expression in DL with the last parts of its names."""
    shown = e.expression if isinstance(e, Hypothesis) else e
    return to_dl(shown, name=lambda iri: iri.rpartition("#")[2].rpartition("/")[2])


def showing(kg: KnowledgeGraph, shown: Mapping[str, Sequence[str]], kind: str = "Image") -> list[str]:
    """Insert images that show things; labels and comments say which."""
    put(kg, ("shows", str(RDFS.label), Literal("shows")))
    for name, values in shown.items():
        put(kg, (name, "a", kind), (name, str(RDFS.comment), Literal(" ".join(values))))
        put(kg, *((name, "shows", value) for value in values))
        put(kg, *((value, str(RDFS.label), Literal(value)) for value in values))
    return [E + name for name in shown]


class Listed:
    """Ranks as it was told to."""

    def __init__(self, iris: Sequence[str]) -> None:
        self.iris, self.asked = list(iris), 0

    def rank(self, question: Question, k: int) -> list[Hit]:
        self.asked += 1
        return [Hit(iri, 1 / rank, rank, ("listed",)) for rank, iri in enumerate(self.iris[:k], start=1)]
