"""A small graph of films, for the tests of completion."""

from __future__ import annotations

from rdflib import RDFS, SKOS, XSD, Literal, URIRef

from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import Triple
from mrag.stores.oxigraph import OxigraphStore

F = "http://example.org/films/"

BY, STARS, WROTE, YEAR, GENRE = (
    URIRef(F + name) for name in ("directedBy", "starring", "writtenBy", "releaseYear", "hasGenre")
)
NAMES = {
    "alien": "Alien",
    "runner": "Blade Runner",
    "tiger": "Crouching Tiger, Hidden Dragon",
    "duellists": "The Duellists",
    "legend": "Legend",
    "scott": "Ridley Scott",
    "lee": "Ang Lee",
    "weaver": "Sigourney Weaver",
    "ford": "Harrison Ford",
    "cruise": "Tom Cruise",
    "obannon": "Dan O'Bannon",
    "horror": "horror",
    "sf": "science fiction",
    "wuxia": "Wuxia",
}


def f(name: str) -> URIRef:
    """Return the IRI of an entity."""
    return URIRef(F + name)


TRIPLES = [
    (f("alien"), BY, f("scott")),
    (f("alien"), STARS, f("weaver")),
    (f("alien"), WROTE, f("obannon")),
    (f("alien"), GENRE, f("horror")),
    (f("alien"), GENRE, f("sf")),
    (f("alien"), YEAR, Literal("1979", datatype=XSD.gYear)),
    (f("runner"), BY, f("scott")),
    (f("runner"), STARS, f("ford")),
    (f("runner"), GENRE, f("sf")),
    (f("runner"), YEAR, Literal("1982", datatype=XSD.gYear)),
    (f("duellists"), BY, f("scott")),
    (f("duellists"), WROTE, f("scott")),
    (f("legend"), BY, f("scott")),
    (f("legend"), STARS, f("cruise")),
    (f("tiger"), BY, f("lee")),
    (f("tiger"), GENRE, f("wuxia")),
]


def films() -> KnowledgeGraph:
    """Return the graph, in memory."""
    kg = KnowledgeGraph(OxigraphStore(), prefixes={"f": F})
    labels = [Triple(f(name), RDFS.label, Literal(label, lang="en")) for name, label in NAMES.items()]
    labels.append(Triple(f("runner"), SKOS.altLabel, Literal("Do Androids Dream", lang="en")))
    for p, label in ((BY, "directed by"), (STARS, "starring"), (WROTE, "written by"), (GENRE, "has genre")):
        labels.append(Triple(p, RDFS.label, Literal(label, lang="en")))
    labels.append(Triple(YEAR, RDFS.label, Literal("release year", lang="en")))
    kg.insert([*labels, *(Triple(*t) for t in TRIPLES)])
    return kg
