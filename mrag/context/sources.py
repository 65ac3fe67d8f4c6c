"""Which named graphs state a triple: the source, the version or the tenant that it is from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from rdflib import Literal

from mrag.context.display import Display
from mrag.context.reading import reader_of
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf import queries
from mrag.rdf.terms import Triple
from mrag.stores.base import Dataset

_BATCH = 500
_SHOWN = 3


def named_graphs(kg: KnowledgeGraph, triples: Sequence[Triple]) -> list[tuple[str, ...]]:
    """Return for each triple the IRIs of the named graphs that state it, in order.

    Args:
        kg: The knowledge graph; one without named graphs of its own says nothing of any triple.
        triples: The triples.
    """
    record = kg.record
    if not record.contexts:
        return [()] * len(triples)
    if (reader := reader_of(kg)) is not None:
        return reader.graphs(triples)
    found: defaultdict[int, list[str]] = defaultdict(list)
    query = queries.get("context/graphs-of")
    for start in range(0, len(triples), _BATCH):
        rows = [(Literal(start + at), *t) for at, t in enumerate(triples[start : start + _BATCH])]
        dataset = Dataset(record.contexts, record.contexts)
        for n, graph in kg.store.select(query.bind(n_s_p_o=rows), dataset):
            found[int(str(n))].append(str(graph))
    return [tuple(sorted(found[at])) for at in range(len(triples))]


def holding(kg: KnowledgeGraph, graph: str, triples: Iterable[Triple]) -> set[Triple]:
    """Return those of some triples that are in a graph of a store.

    Args:
        kg: The knowledge graph.
        graph: IRI of the graph.
        triples: The triples.
    """
    every, dataset = list(dict.fromkeys(triples)), Dataset((graph,), kg.dataset().named)
    apart = () if kg.store.capabilities.tagged_rows else every
    tagged = [t for t in apart if isinstance(t.o, Literal) and t.o.language]
    whole = [t for t in every if t not in {*tagged}]
    found: set[Triple] = set()
    for start in range(0, len(whole), _BATCH):
        rows = whole[start : start + _BATCH]
        numbered = [(Literal(n), *triple) for n, triple in enumerate(rows)]
        asked = queries.get("completion/holds").bind(n_s_p_o=numbered, limit=len(rows))
        # By number, because Virtuoso gives some numbers in another datatype than was asked for.
        found |= {rows[int(str(number))] for number, *_ in kg.store.select(asked, dataset)}
    for start in range(0, len(tagged), _BATCH):
        part = tagged[start : start + _BATCH]
        pairs = [(Literal(n), s, p) for n, (s, p) in enumerate(dict.fromkeys((t.s, t.p) for t in part))]
        asked = queries.get("completion/objects").bind(n_s_p=pairs)
        told = {(s, p, o) for _, s, p, o in kg.store.select(asked, dataset)}
        found |= {triple for triple in part if tuple(triple) in told}
    return found


def said_in(display: Display, graphs: Sequence[str]) -> tuple[str, ...]:
    """Return what a line of context says of the named graphs of its triple: nothing if there are none."""
    if not graphs:
        return ()
    names = [display.entity(graph) for graph in graphs[:_SHOWN]]
    more = f" and {len(graphs) - _SHOWN} more" if len(graphs) > _SHOWN else ""
    return (f"in graph {' and '.join(names)}{more}",)
