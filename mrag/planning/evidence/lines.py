"""Triples as the lines of a context, each with where it stands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice

from rdflib import URIRef

from mrag import untrusted
from mrag.context.display import Display, holding, named_graphs, said_in
from mrag.context.render import Context, Line
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import Triple, to_ox

MOST = 500
"""Most triples that are looked for; no server takes more values in one query."""


def lines_of(kg: KnowledgeGraph, several: Sequence[Sequence[Triple]], most: int) -> list[Context]:
    """Return those of some triples that are in the graph as lines, for each of several sequences.

    Args:
        kg: The graph.
        several: The triples; those of all together are looked for at once.
        most: Most lines of each.
    """
    homes = _homes(kg, (triple for triples in several for triple in triples))
    kept = [[t for t in triples if t in homes][:most] for triples in several]
    every = list(dict.fromkeys(t for triples in kept for t in triples))
    display = Display(kg)
    display.prepare(str(term) for triple in every for term in triple if isinstance(term, URIRef))
    made = {}
    for triple, own in zip(every, named_graphs(kg, every), strict=True):
        graph, inferred = homes[triple]
        shown = (display.entity(triple.s), display.predicate(triple.p), display.term(to_ox(triple.o)))
        text = untrusted.fact((*shown, *said_in(display, own)))
        made[triple] = Line("t1", text, triple, graph, inferred, shown, str(triple.s), named=own)
    found = []
    for triples in kept:
        lines = [replace(made[triple], id=f"t{number}") for number, triple in enumerate(triples, start=1)]
        found.append(Context(tuple(lines), tuple(dict.fromkeys(line.entity for line in lines))))
    return found


def _homes(kg: KnowledgeGraph, triples: Iterable[Triple]) -> dict[Triple, tuple[str, bool]]:
    """Return the graph of each triple and whether it is one of inferred triples; asserted ones first."""
    layers = [(g, False) for g in kg.dataset("asserted").default]
    layers += [(g, True) for g in kg.dataset("inferred").default]
    left = dict.fromkeys(islice(triples, MOST))
    found: dict[Triple, tuple[str, bool]] = {}
    for graph, inferred in layers:
        if left:
            there = holding(kg, graph, left)
            found |= {triple: (graph, inferred) for triple in left if triple in there}
            left = {triple: None for triple in left if triple not in there}
    return found
