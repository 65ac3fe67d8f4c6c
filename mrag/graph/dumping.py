"""A knowledge graph as N-Quads or TriG, its named graphs as the files had them that were loaded."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from typing import IO

import pyoxigraph as ox

from mrag.graph.layers import GraphLayers

_FORMATS = {"nq": ox.RdfFormat.N_QUADS, "trig": ox.RdfFormat.TRIG}


def write_quads(kg: GraphLayers, graphs: Sequence[str], output: IO[bytes], format: str) -> None:
    """Write graphs of a knowledge graph as one default graph, and behind it the named graphs.

    Args:
        kg: The knowledge graph.
        graphs: IRIs of its layers' graphs; named graphs are written beside asserted triples only.
        output: The stream.
        format: `nq` or `trig`.
    """
    record = kg.record
    named = record.contexts if {*graphs} & {*record.asserted} else ()

    def quads() -> Iterator[ox.Quad]:
        for graph in graphs:
            # What only named graphs assert is written with them.
            if graph != record.merged:
                yield from _quads_of(kg, graph, ox.DefaultGraph())
        for graph in named:
            yield from _quads_of(kg, graph, ox.NamedNode(graph))

    ox.serialize(quads(), output, _FORMATS[format], prefixes=_usable(kg) if format == "trig" else None)


def _quads_of(kg: GraphLayers, graph: str, name: ox.NamedNode | ox.DefaultGraph) -> Iterator[ox.Quad]:
    with tempfile.TemporaryFile() as kept:
        kg.store.dump(graph, kept)
        kept.seek(0)
        for quad in ox.parse(kept, ox.RdfFormat.N_TRIPLES, lenient=True):
            yield ox.Quad(quad.subject, quad.predicate, quad.object, name)


def _usable(kg: GraphLayers) -> dict[str, str]:
    """Return the prefixes that a serialiser takes."""
    return {p: n for p, n in kg.prefixes.items() if n and "://" in n}
