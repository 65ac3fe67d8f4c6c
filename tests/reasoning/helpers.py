"""Small graphs in Turtle, their closures, and closures by another engine to compare with."""

import warnings

from rdflib import OWL, RDF, RDFS, BNode, Graph, Literal, URIRef

from mrag.rdf.terms import SKOLEM, Triple
from mrag.reasoning.rounds import Closure, materialise
from mrag.stores.base import Dataset
from mrag.stores.oxigraph import OxigraphStore
from tests.cases import beside
from tests.reasoning.owl_cases import load

PREFIXES = beside(__file__, "prefixes.ttl")
SPARQL = PREFIXES.replace("@prefix", "PREFIX").replace(" .\n", "\n")
A = Dataset(default=("urn:a",))


def graph_of(turtle: str) -> Graph:
    end = "" if turtle.rstrip().endswith(".") or not turtle.strip() else " ."
    return Graph().parse(data=PREFIXES + turtle + end, format="turtle")


def store_of(turtle: str) -> OxigraphStore:
    store = OxigraphStore()
    load(graph_of(turtle), store, "urn:a")
    return store


def close(turtle: str) -> tuple[OxigraphStore, Closure]:
    store = store_of(turtle)
    return store, materialise(store, A, "urn:i", on_inconsistency="report", threads=1)


def whole(closure: Closure) -> Dataset:
    return Dataset(default=("urn:a", *closure.graphs))


def triples(store: OxigraphStore, graphs: tuple[str, ...]) -> list[Triple]:
    text = "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }"
    return [t for g in graphs for t in store.construct(text, Dataset(default=(g,)))]


def is_data(t: Triple) -> bool:
    """Return whether a triple says something about individuals and is not trivial."""
    s, p, o = t
    own = ("urn:t:", SKOLEM)
    if isinstance(s, Literal | BNode) or not str(s).startswith(own):
        return False
    if p == RDF.type:
        return isinstance(o, URIRef) and str(o).startswith("urn:t:")
    if p == OWL.sameAs:
        return s != o
    return not str(p).startswith((str(OWL), str(RDFS), str(RDF)))


def data(store: OxigraphStore, graphs: tuple[str, ...]) -> set[Triple]:
    return {t for t in triples(store, graphs) if is_data(t)}


def owlrl(graph: Graph) -> set[Triple]:
    """Return the data triples of the closure by owlrl, an independent implementation."""
    from owlrl import DeductiveClosure, OWLRL_Semantics

    copy = Graph()
    for s, p, o in graph:
        copy.add(tuple(URIRef(f"{SKOLEM}{t}") if isinstance(t, BNode) else t for t in (s, p, o)))  # type: ignore[arg-type]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        DeductiveClosure(OWLRL_Semantics).expand(copy)
    return {t for s, p, o in copy if is_data(t := Triple(s, p, o))}  # type: ignore[arg-type]
