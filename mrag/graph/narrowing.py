"""One named graph of a knowledge graph as if it were all: a source, a version, a tenant."""

from __future__ import annotations

from dataclasses import replace

from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import GraphChange, Record, named_graph


class NarrowedGraph(KnowledgeGraph):
    """A knowledge graph of which only one named graph is in sight; it cannot be changed.

    Args:
        whole: The knowledge graph. It is opened and closed by whoever did so before.
        graph: The named graph, by IRI or CURIE.

    Raises:
        ConfigError: If there is no such named graph.

    Example:
        >>> import mrag
        >>> from mrag.graph.updates import update
        >>> kg = mrag.connect()
        >>> data = "GRAPH <urn:v1> { <urn:a> <urn:size> 1 } GRAPH <urn:v2> { <urn:a> <urn:size> 2 }"
        >>> _ = update(kg, f"INSERT DATA {{ {data} }}")
        >>> [str(size) for _, size in NarrowedGraph(kg, "urn:v2").query("SELECT * { ?s <urn:size> ?o }")]
        ['2']
        >>> kg.close()
    """

    def __init__(self, whole: KnowledgeGraph, graph: str) -> None:
        from mrag.index.similarity import SimilarityIndexes

        self.__dict__.update(vars(whole))
        record = whole.record
        name = named_graph(record, graph, whole.name, whole.prefixes)
        self.within = name
        self.cache = {}
        self._labels, self._profile = {}, None
        # The index is of the whole; a ranker takes what is in sight.
        self.searcher = SimilarityIndexes.of(whole)
        # Nothing that is counted here may be kept for the whole.
        own = replace(record, asserted=(name,), inferred=(), added=(), contexts=(name,), merged="")
        self.record = replace(own, profile="", premises=(), kept=False, triples=whole.store.count(name))

    def commit(
        self, after: Record, also: str = "", *, changed: bool = True, change: GraphChange | None = None
    ) -> None:
        """Refuse: a part cannot be written for the whole.

        Raises:
            ConfigError: In any case.
        """
        raise ConfigError(
            "What is narrowed to one named graph is read only.", hint="Use the whole knowledge graph."
        )

    def close(self) -> None:
        """Close nothing; the whole is still open."""
