"""A small graph with a strict schema, for the tests of what may be written to it."""

from pathlib import Path

from rdflib import RDFS, Graph, Literal, URIRef

from mrag.completion.chain import Evidence
from mrag.completion.checks import CheckSettings, CompletionRun
from mrag.completion.passages import Passage, Passages
from mrag.completion.patterns import CompletedTriple
from mrag.completion.review import propose
from mrag.generation.result import EvidenceRef
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import status_of
from mrag.rdf import queries
from mrag.rdf.terms import Term, Triple
from mrag.stores.base import Dataset

E = "http://example.org/"
TOWNS = Path(__file__).with_name("towns.ttl")
FACTS = TOWNS.read_text("utf-8")


def iri(name: str) -> URIRef:
    return URIRef(E + name)


def fact(s: str, p: str, o: str | Term) -> Triple:
    """A triple of which the names are below the example namespace."""
    return Triple(iri(s), iri(p), o if isinstance(o, URIRef | Literal) else iri(str(o)))


def labels(**names: str) -> list[Triple]:
    """The labels of entities and relations."""
    return [Triple(iri(name), RDFS.label, Literal(label)) for name, label in names.items()]


def evidence_of(*texts: str) -> Evidence:
    """Evidence in texts of files, `0.txt` and so on."""
    return Evidence(Passages([Passage(f"urn:x:{n}", text, f"{n}.txt") for n, text in enumerate(texts)]))


def read(
    subject: str, predicate: str, value: str | Term, confidence: float = 0.9, quote: str = "As it says."
) -> CompletedTriple:
    """A triple as a reader gives it; names are below the example namespace."""
    ref = EvidenceRef("urn:x:page", quote, "passage", "page.txt")
    return CompletedTriple(*fact(subject, predicate, value), "completed", (ref,), confidence)


def triples(turtle: str = FACTS) -> list[Triple]:
    return [Triple(*t) for t in Graph().parse(data=turtle, format="turtle")]  # type: ignore[arg-type]


def asks(kg: KnowledgeGraph, text: str) -> bool:
    return kg.query(f"PREFIX : <{E}> ASK {{ {text} }}") is True


def contents(kg: KnowledgeGraph) -> dict[str, list[str]]:
    """Return all that questions are answered from, layer by layer."""
    found: dict[str, list[str]] = {"asserted": [], "completed": [], "inferred": []}
    for graph in (*kg.record.asserted, *kg.record.inferred):
        rows = kg.store.construct(queries.get("kg/graph").text, Dataset((graph,)))
        found[status_of(graph, inferred=graph in kg.record.inferred)] += [str(t) for t in rows]
    assert kg.record.triples == len(found["asserted"]) + len(found["completed"])
    everything = [line for lines in found.values() for line in lines]
    assert len(everything) == len(set(everything)), "no triple stands twice"
    return {name: sorted(lines) for name, lines in found.items()}


def proposed(
    kg: KnowledgeGraph,
    *read: CompletedTriple,
    question: str = "Where?",
    settings: CheckSettings | None = None,
    **names: str,
) -> CompletionRun:
    """Propose what was read; `names` are those of new entities."""
    new = {str(iri(name)): label for name, label in names.items()}
    run = propose(kg, question, read, model="hand", names=new, settings=settings)
    assert run is not None
    return run
