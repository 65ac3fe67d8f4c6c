"""The graph of completed triples: triples come in or go out together with the record and a run's state.

In an embedded store each is one transaction. To a server that does not reason, triples are sent to a graph
that no one reads, and one small update puts that graph into the record; so a process that ends in between
leaves the graph as it was or as it is to be, and doing it again does the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from rdflib import URIRef

from mrag.completion.writeback.run_store import changes
from mrag.completion.writeback.runs import CompletionRun
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import Record, joined, parted
from mrag.rdf import queries
from mrag.rdf.terms import Quad, Triple, to_ntriples
from mrag.stores.base import Dataset

_ROWS: Final = 400
"""Most triples of one update to a server; servers limit VALUES."""


def change(kg: KnowledgeGraph, out: Sequence[Quad], into: Sequence[Quad]) -> None:
    """Take triples out of graphs and put others in, in one transaction, the record left as it is."""
    if not out and into and not kg.store.capabilities.edges:
        # Virtuoso trips over an empty list of what goes out.
        for graph in dict.fromkeys(str(quad[0]) for quad in into):
            rows = [Triple(*q[1:]) for q in into if str(q[0]) == graph]  # type: ignore[arg-type]
            kg.store.insert(to_ntriples(rows), graph)
        return
    kg.store.update(kg.changes(out, into))


def commit(kg: KnowledgeGraph, triples: Sequence[Triple], before: CompletionRun, after: CompletionRun) -> str:
    """Bring triples into sight, and change the description of their run, together.

    Args:
        kg: The knowledge graph, which holds none of the triples.
        triples: What comes into the graph.
        before: The run as it is described.
        after: The run as it is to be described.

    Returns:
        IRI of the graph that the triples are in; empty where there are none.
    """
    out, into = changes(kg, before, after)
    if not triples:
        change(kg, out, into)
        return ""
    if kg.store.capabilities.reasoning:
        graph = kg.graphs_of("completed")[0]
        change(kg, out, [*into, *_in(graph, triples)])
        kg.recount()
        return graph
    if kg.store.capabilities.edges:
        graph, record, gone, come = _placed(kg, len(triples))
        kg.commit(record, kg.changes([*out, *gone], [*into, *come, *_in(graph, triples)]))
        return graph
    # Not every server takes all of it as one request. Cut off before the record, nothing has changed; behind
    # it the run still counts as proposed, and accepting it again finds its triples in the graph noted for it.
    graph = kg.new_graph("completed")
    kg.store.clear(graph)
    kg.store.insert(to_ntriples(triples), graph)
    noted = replace(before, graph=graph)
    change(kg, *changes(kg, before, noted))
    kg.commit(joined(kg.record, graph, len(triples)))
    change(kg, *changes(kg, noted, replace(after, graph=graph)))
    return graph


def withdraw(
    kg: KnowledgeGraph, triples: Sequence[Triple], out: Sequence[Quad], into: Sequence[Quad]
) -> list[Triple]:
    """Take triples out of the completed graphs, and change a run's description, together.

    Inferences that may rest on them are dropped.

    Args:
        kg: The knowledge graph.
        triples: What goes out; what other graphs assert stays there.
        out: What goes out of the descriptions of runs.
        into: What comes into them.

    Returns:
        The triples that were there.
    """
    places = _places(kg, triples)
    gone = [Triple(s, p, o) for _, s, p, o in places]  # type: ignore[arg-type]  # they come from triples
    if kg.store.capabilities.reasoning:
        change(kg, [*out, *places], into)
        kg.recount()
        return gone
    if not places:
        change(kg, out, into)
        return gone
    after = parted(kg.record, {str(quad[0]) for quad in places}, len(places))
    if kg.store.capabilities.edges:
        kg.commit(after, kg.changes([*out, *places], into))
        return gone
    # Cut off in between, the run still counts as accepted, and rolling it back again does the rest.
    kg.commit(replace(after, triples=kg.record.triples))
    for start in range(0, len(places), _ROWS):
        change(kg, places[start : start + _ROWS], [])
    kg.commit(replace(after, triples=kg.counted(after.asserted)))
    change(kg, out, into)
    return gone


def _placed(kg: KnowledgeGraph, more: int) -> tuple[str, Record, list[Quad], list[Quad]]:
    """Return the graph that triples go to, the record after that, and what is moved out of and into graphs.

    After reasoning they go to a graph of their own, so that the next reasoning can start from them alone.
    Graphs of earlier runs, which have been reasoned over, become one: each graph more makes reading slower.
    """
    record = kg.record
    ours = kg.graphs_of("completed")
    if not record.inferred or (not kg.reasoned and not record.added):
        graph = ours[0] if ours else kg.new_graph("completed")
        return graph, joined(record, graph, more), [], []
    waiting = [g for g in ours if g in record.added]
    graph = waiting[-1] if waiting else kg.new_graph("completed")
    after = joined(record, graph, more)
    base, *others = [g for g in ours if g not in waiting] or [""]
    gone: list[Quad] = []
    come: list[Quad] = []
    for old in others:
        rows = list(kg.store.construct(queries.get("kg/graph").text, Dataset((old,))))
        gone += _in(old, rows)
        come += _in(base, rows)
    return graph, replace(after, asserted=tuple(g for g in after.asserted if g not in others)), gone, come


def _places(kg: KnowledgeGraph, triples: Sequence[Triple]) -> list[Quad]:
    """Return in which completed graphs triples stand."""
    ask = queries.get("context/holds")
    return [
        (URIRef(graph), *triple)
        for graph in kg.graphs_of("completed")
        for triple in triples
        if kg.store.ask(ask.bind(s_p_o=[tuple(triple)]), Dataset((graph,)))
    ]


def _in(graph: str, triples: Sequence[Triple]) -> list[Quad]:
    return [(URIRef(graph), *triple) for triple in triples]
