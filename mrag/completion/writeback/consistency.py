"""Whether a graph with some triples more would contradict its ontology: reasoned over in a scratch graph.

The triples go to a graph that no query reads, the rules run from there, and all of it is removed again. A
process that ends meanwhile leaves graphs behind that the next load or reasoning clears away.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from rdflib import URIRef

from mrag.completion.writeback.runs import Statement
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf import queries
from mrag.rdf.terms import OWL, Triple, to_ntriples
from mrag.reasoning.rounds import Clash, Closure, extend, materialise
from mrag.stores.base import Dataset

_SAME: Final = URIRef(OWL + "sameAs")
Key = tuple[str, str, str]


def contradictions(kg: KnowledgeGraph, statements: Sequence[Statement]) -> dict[Key, str]:
    """Return why some statements cannot join the graph, by what they are sorted by.

    All are tried at once; where that leads to a contradiction they are tried one after the other, the most
    confident first, and those stay that go with the graph and with what was kept before them.

    Args:
        kg: The knowledge graph. A server that reasons itself keeps its own check, and nothing is done here.
        statements: What would be written.
    """
    if kg.store.capabilities.reasoning or kg.as_found or not statements:
        return {}
    before: set[Clash] | None = None
    _, clashes, same = _tried(kg, statements)
    if not clashes and not same:
        return {}
    if clashes:
        # What the graph contradicted before is no fault of what is new.
        _, old, _ = _tried(kg, ())
        before = set(old)
        if not same and not set(clashes) - before:
            return {}
    kept: list[Statement] = []
    faults: dict[Key, str] = {}
    for one in sorted(statements, key=lambda s: (-s.confidence, s.key)):
        _, clashes, same = _tried(kg, [*kept, one])
        fresh = [c for c in clashes if c not in (before or ())]
        if fresh:
            faults[one.key] = "it would contradict the ontology: " + fresh[0].axiom
        elif same:
            pair = " and ".join(_name(kg, term) for term in (same[0].s, same[0].o))
            faults[one.key] = f"it would make {pair} the same"
        else:
            kept.append(one)
    return faults


@dataclass(frozen=True)
class Consequences:
    """What would be inferred with some statements in the graph, and is not inferred without them.

    Attributes:
        triples: Some of it, in order.
        number: How many triples it is.
    """

    triples: tuple[Triple, ...]
    number: int


def consequences(
    kg: KnowledgeGraph, statements: Sequence[Statement], limit: int = 200
) -> Consequences | None:
    """Return what would follow if some statements came into the graph; nothing of it stays there.

    Args:
        kg: The knowledge graph.
        statements: The statements.
        limit: Most triples that are given.

    Returns:
        What would follow; None where that is not known: nothing has been inferred in the graph as it is
        now, or the server infers by itself.
    """
    if kg.store.capabilities.reasoning or kg.as_found or not kg.reasoned:
        return None
    found = [Consequences((), 0)]

    def look(graphs: Sequence[str]) -> None:
        number = sum(kg.store.count(graph) for graph in graphs)
        rows = kg.store.select(queries.get("completion/following").bind(limit=limit), Dataset(tuple(graphs)))
        found.append(Consequences(tuple(Triple(*row) for row in rows), number))  # type: ignore[arg-type]

    if statements:
        _tried(kg, statements, look)
    return found[-1]


def _tried(
    kg: KnowledgeGraph,
    statements: Sequence[Statement],
    look: Callable[[Sequence[str]], None] = lambda graphs: None,
) -> tuple[Closure, tuple[Clash, ...], list[Triple]]:
    """Reason over the graph with some statements in it; return the contradictions and new equalities."""
    store, record = kg.store, kg.record
    trial = f"{kg.iri}:trial:{record.revision + 1}"
    try:
        if statements:
            store.insert(to_ntriples(one.triple for one in statements), trial)
        asserted = kg.dataset("asserted")
        if kg.reasoned and statements:
            closure = extend(
                store,
                asserted,
                (*record.inferred, *record.apart),
                trial,
                f"{trial}:from",
                on_inconsistency="report",
            )
        else:
            whole = Dataset((*asserted.default, *((trial,) if statements else ())))
            closure = materialise(store, whole, f"{trial}:from", on_inconsistency="report")
        fresh = [g for g in closure.graphs if g not in record.inferred]
        same = _equalities(kg, fresh, statements)
        if fresh:
            look(fresh)
        return closure, closure.clashes, same
    finally:
        for graph in store.graphs():
            if graph.startswith(f"{kg.iri}:trial:"):
                store.clear(graph)


def _equalities(kg: KnowledgeGraph, graphs: Sequence[str], statements: Sequence[Statement]) -> list[Triple]:
    """Return the equalities of entities that some graphs of inferred triples hold and the graph does not."""
    entities = sorted({t for one in statements for t in (one.subject, one.object) if isinstance(t, URIRef)})
    if not graphs or not entities:
        return []
    text = queries.get("completion/check-values").bind(subject_predicate=[(e, _SAME) for e in entities])
    found = [
        Triple(s, _SAME, o)
        for s, _, o in kg.store.select(text, Dataset(tuple(graphs)))
        if isinstance(s, URIRef) and isinstance(o, URIRef) and s != o
    ]
    ask = queries.get("context/holds")
    return [t for t in found if not kg.holds(ask.bind(s_p_o=[tuple(t)]))]


def _name(kg: KnowledgeGraph, term: object) -> str:
    iri = str(term)
    return kg.labels([iri])[iri] or iri
