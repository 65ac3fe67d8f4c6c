"""Which graphs reasoning reads: all that is asserted, or named graphs that somebody chose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import UNNAMED, named_graph
from mrag.rdf.patterns import Construct, Graph, TriplePattern, iri, var
from mrag.reasoning.rounds import Closure
from mrag.stores.base import Dataset

_ANY = TriplePattern(var("s"), var("p"), var("o"))
_DEFAULT = "default"


def chosen(kg: KnowledgeGraph, graphs: Sequence[str] | None) -> tuple[str, ...]:
    """Return the named graphs that reasoning is to read, in order; none for all that is asserted.

    Args:
        kg: The knowledge graph.
        graphs: IRIs or CURIEs, `default` for what is in no named graph; None for the choice of before.

    Raises:
        ConfigError: If there is no such named graph.
    """
    if graphs is None:
        return kg.record.premises
    named = {
        UNNAMED if g in (_DEFAULT, UNNAMED) else named_graph(kg.record, g, kg.name, kg.prefixes)
        for g in graphs
    }
    return tuple(sorted(named))


def premises(kg: KnowledgeGraph, names: Sequence[str]) -> Dataset:
    """Return the graphs that hold what reasoning reads; several that were chosen may share triples.

    Args:
        kg: The knowledge graph.
        names: What `chosen` returned.
    """
    if not names:
        return kg.dataset("asserted")
    unnamed = [g for g in kg.record.asserted if g != kg.record.merged]
    return Dataset(tuple(g for name in names for g in (unnamed if name == UNNAMED else [name])))


@contextmanager
def united(kg: KnowledgeGraph, names: Sequence[str], prefix: str) -> Iterator[Dataset]:
    """Yield the graphs that reasoning reads, without triples that two of them share.

    Args:
        kg: The knowledge graph.
        names: What `chosen` returned.
        prefix: Start of the name of a graph that is written for a while.
    """
    found = premises(kg, names)
    if not names or len(found.default) == 1:
        yield found
        return
    into = f"{prefix}:premises"
    try:
        for graph in found.default:
            kg.store.derive(Construct((_ANY,), Graph(iri(graph), _ANY)), Dataset((), (graph,)), into)
        yield Dataset((into,))
    finally:
        kg.store.clear(into)


def without_asserted(kg: KnowledgeGraph, closure: Closure) -> Closure:
    """Take out of a closure, which is not in sight yet, what graphs that were not read assert."""
    graphs = kg.record.asserted
    sizes = {graph: kg.store.count(graph) for graph in (*graphs, *closure.graphs)}
    pairs = [(g, a) if sizes[g] <= sizes[a] else (a, g) for g in closure.graphs for a in graphs]
    taken = [g for g in closure.graphs for _ in graphs]
    kg.remove_doubles([(*pair, graph) for pair, graph in zip(pairs, taken, strict=True)])
    return replace(closure, triples=sum(kg.store.count(g) for g in closure.graphs))


def refuse_choice(kg: KnowledgeGraph, graphs: Sequence[str] | None) -> None:
    """Refuse to choose where the server reasons over all of its graphs.

    Raises:
        ConfigError: If graphs are chosen.
    """
    if graphs:
        raise ConfigError(
            "This server reasons over all of its graphs together.",
            endpoint=kg.store.url,
            hint="Leave --graph (graphs=) out.",
        )
