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

from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import Record, graph_name, joined, record_update, status_of
from mrag.rdf import queries
from mrag.rdf.queries import ntriples
from mrag.rdf.terms import Term, Triple
from mrag.stores.base import Dataset

_ROWS: Final = 400
"""Most triples of one update to a server; servers limit VALUES."""

Quad = tuple[Term, Term, Term, Term]
"""A triple with its graph before it."""


def writable(kg: KnowledgeGraph) -> None:
    """Refuse a knowledge graph that is read only here.

    Raises:
        ConfigError: If its triples are in a graph without a name.
    """
    if kg.as_found and not kg.store.capabilities.reasoning:
        raise ConfigError(
            "The triples are in the store's default graph, which is read only here.",
            endpoint=kg.store.url,
            hint="Name the graphs to work on with graphs=[…], or ?graph=IRI in the URL.",
        )


def change(kg: KnowledgeGraph, out: Sequence[Quad], into: Sequence[Quad]) -> None:
    """Take triples out of graphs and put others in, in one transaction, the record left as it is."""
    kg.store.update(_change(out, into))


def commit(kg: KnowledgeGraph, triples: Sequence[Triple], out: Sequence[Quad], into: Sequence[Quad]) -> str:
    """Bring triples into sight, and change a run's description, together.

    Args:
        kg: The knowledge graph, which holds none of the triples.
        triples: What comes into the graph.
        out: What goes out of the descriptions of runs.
        into: What comes into them.

    Returns:
        IRI of the graph that the triples are in; empty where there are none.
    """
    if not triples:
        change(kg, out, into)
        return ""
    if kg.store.capabilities.reasoning:
        graph = completed_graphs(kg)[0]
        change(kg, out, [*into, *_in(graph, triples)])
        _recount(kg)
        return graph
    if kg.store.capabilities.edges:
        graph, after, gone, come = _placed(kg, len(triples))
        quads = _change([*out, *gone], [*into, *come, *_in(graph, triples)])
        kg.store.update(f"{record_update(kg.iri, after)};\n{quads}")
        kg.written(after)
        return graph
    # Not every server takes all of it as one request. Cut off before the record, nothing has changed; behind
    # it the run still counts as proposed, and accepting it again finds its triples known.
    graph = graph_name(kg.iri, kg.record, "completed")
    kg.store.clear(graph)
    kg.store.insert(ntriples(triples), graph)
    after = joined(kg.record, graph, len(triples))
    kg.store.update(record_update(kg.iri, after))
    kg.written(after)
    change(kg, out, into)
    return graph


def withdraw(
    kg: KnowledgeGraph, triples: Sequence[Triple], out: Sequence[Quad], into: Sequence[Quad]
) -> list[Triple]:
    """Take triples out of the completed graphs, and change a run's description, together.

    What was inferred goes out of sight where it may rest on them.

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
        _recount(kg)
        return gone
    if not places:
        change(kg, out, into)
        return gone
    record = kg.record
    # Nothing was inferred yet from graphs that came since the last reasoning.
    untouched = {str(quad[0]) for quad in places} <= {*record.added}
    after = replace(
        record,
        inferred=record.inferred if untouched else (),
        added=record.added if untouched else (),
        revision=record.revision + 1,
        triples=record.triples - len(places),
        pending="",
        kept=True,
    )
    if kg.store.capabilities.edges:
        kg.store.update(f"{record_update(kg.iri, after)};\n{_change([*out, *places], into)}")
        kg.written(after)
        return gone
    # Cut off in between, the run still counts as accepted, and rolling it back again does the rest.
    kg.store.update(record_update(kg.iri, replace(after, triples=record.triples)))
    for start in range(0, len(places), _ROWS):
        change(kg, places[start : start + _ROWS], [])
    after = replace(after, triples=sum(kg.store.count(g) for g in after.asserted))
    kg.store.update(record_update(kg.iri, after))
    change(kg, out, into)
    kg.written(after)
    return gone


def completed_graphs(kg: KnowledgeGraph) -> list[str]:
    """Return the IRIs of the graphs of completed triples, oldest first."""
    if kg.store.capabilities.reasoning:
        return [f"urn:graph:{kg.name}:completed"]
    return [g for g in kg.record.asserted if status_of(g) == "completed"]


def _placed(kg: KnowledgeGraph, more: int) -> tuple[str, Record, list[Quad], list[Quad]]:
    """Return the graph that triples go to, the record after that, and what is moved out of and into graphs.

    After reasoning they go to a graph of their own, so that the next reasoning can start from them alone.
    Graphs of earlier runs, which have been reasoned over, become one: each graph more makes reading slower.
    """
    record = kg.record
    ours = completed_graphs(kg)
    if not record.inferred or (not kg.reasoned and not record.added):
        graph = ours[0] if ours else graph_name(kg.iri, kg.record, "completed")
        return graph, joined(record, graph, more), [], []
    waiting = [g for g in ours if g in record.added]
    graph = waiting[-1] if waiting else graph_name(kg.iri, kg.record, "completed")
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
        for graph in completed_graphs(kg)
        for triple in triples
        if kg.store.ask(ask.bind(s_p_o=[tuple(triple)]), Dataset((graph,)))
    ]


def _in(graph: str, triples: Sequence[Triple]) -> list[Quad]:
    return [(URIRef(graph), *triple) for triple in triples]


def _change(out: Sequence[Quad], into: Sequence[Quad]) -> str:
    return queries.get("update/change").bind(graph_subject_predicate_object=out, g_s_p_o=into)


def _recount(kg: KnowledgeGraph) -> None:
    count = sum(kg.store.count(g) for g in kg.record.asserted)
    kg.written(replace(kg.record, triples=count, revision=count, reasoned=count))
