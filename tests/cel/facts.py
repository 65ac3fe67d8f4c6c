"""Facts and rankings that the tests of class expressions share."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from rdflib import RDF, RDFS, Graph, Literal, URIRef

from mrag.cel.expressions import Expression
from mrag.cel.notation import from_dl, to_dl
from mrag.cel.problem import Hypothesis
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import Triple
from mrag.retrieval.rankers import Hit, Question

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
