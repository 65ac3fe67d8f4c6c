"""A small graph of films, for the tests of completion."""

from pathlib import Path

from rdflib import RDFS, SKOS, Graph, URIRef

from mrag.completion.patterns import IncompleteTriple, Slot, TriplePlan
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.plan import Unknown
from mrag.rdf.terms import Triple
from mrag.stores.oxigraph import OxigraphStore

F = "http://example.org/films/"
BY, STARS, WROTE, YEAR, GENRE = (
    URIRef(F + name) for name in ("directedBy", "starring", "writtenBy", "releaseYear", "hasGenre")
)
X = Unknown("x")
ALL = sorted(Graph().parse(Path(__file__).with_name("films.ttl")))
TRIPLES = [t for t in ALL if t[1] not in (RDFS.label, SKOS.altLabel)]  # What is said of films, but for names


def f(name: str) -> URIRef:
    """Return the IRI of an entity."""
    return URIRef(F + name)


def plan(
    *triples: tuple[Slot, Slot, Slot],
    answer: Unknown = X,
    excluded: tuple[Slot, ...] = (),
    question: str = "?",
) -> TriplePlan:
    """Return a plan that was made by hand."""
    whole = tuple(IncompleteTriple(*t) for t in triples)
    return TriplePlan(question, (), whole, answer, "hand", tuple(excluded))


def films() -> KnowledgeGraph:
    """Return the graph, in memory."""
    kg = KnowledgeGraph(OxigraphStore(), prefixes={"f": F})
    kg.insert([Triple(*t) for t in ALL])  # type: ignore[arg-type]
    return kg
