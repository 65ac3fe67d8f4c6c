"""Similarity indexes that the server keeps itself, searched as those beside the store are."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from rdflib import Literal

from mrag.errors import ConfigError, MissingIndex
from mrag.graph.kg import KnowledgeGraph
from mrag.index.document_index import SyncReport
from mrag.index.documents import Definition
from mrag.index.segments.matches import Match, Mode
from mrag.rdf import queries
from mrag.stores.oxigraph import OxigraphStore

if TYPE_CHECKING:
    from mrag.stores.graphdb import GraphDBSimilarity

SERVER = "server"
"""Stands for a model where the server is to make the index."""


class ServerIndex:
    """A similarity index of the server.

    Args:
        name: Its name.
        server: The server's indexes.
    """

    def __init__(self, name: str, server: GraphDBSimilarity) -> None:
        self.name = name
        self._server = server

    def search(
        self, text: str, k: int, *, mode: Mode = "hybrid", allowed: Sequence[str] | None = None
    ) -> list[Match]:
        """Return the documents most similar to a text, best first, ties in order of IRI.

        Args:
            text: The words to search for.
            k: Most hits.
            mode: Ignored; the server has only one.
            allowed: IRIs of the only documents to consider. The server cannot be told, so more are asked for
                and few may remain.
        """
        found = self._server.search(self.name, text, k if allowed is None else max(10 * k, 1000))
        wanted = None if allowed is None else frozenset(map(str, allowed))
        return [_match(hit) for hit in found if wanted is None or hit[0] in wanted][:k]

    def search_document(self, iri: str, k: int) -> list[Match]:
        """Return the documents most similar to the document of an entity, itself left out."""
        return [_match(hit) for hit in self._server.search_document(self.name, iri, k)]

    @staticmethod
    def reason(match: Match) -> str:
        """Return in words why a document was found."""
        return f"similar text, {match.score:.2f} by the server's index"


def server_of(kg: KnowledgeGraph) -> GraphDBSimilarity | None:
    """Return the similarity indexes of a knowledge graph's server, None where it keeps none."""
    if isinstance(kg.store, OxigraphStore):
        return None  # without importing what speaks HTTP, which takes a while
    from mrag.stores.graphdb import GraphDBSimilarity, GraphDBStore

    return GraphDBSimilarity(kg.store) if isinstance(kg.store, GraphDBStore) else None


def build(
    kg: KnowledgeGraph,
    server: GraphDBSimilarity,
    name: str,
    definition: Definition,
    on_progress: Callable[[int, int | None], None] | None,
) -> SyncReport:
    """Have the server make an index, in place of one of that name.

    Raises:
        ConfigError: If the definition is of more than one query, which the server cannot take.
        IndexError_: If the server fails.
    """
    if definition.queries == Definition().queries:
        names: tuple[str, ...] = ("index/texts-and-links",)
    else:
        names = definition.queries
    if len(names) != 1:
        raise ConfigError(
            "The server takes one query for an index.",
            hint="Put them together with UNION, or use --embedder.",
        )
    started = time.perf_counter()
    query = queries.get(names[0])
    values: dict[str, list[Literal] | list[str]] = {}
    if "language" in query.params:
        values["language"] = [Literal(tag) for tag in definition.languages]
    if "property" in query.params:
        values["property"] = list(kg.profile().labels)
    with suppress(MissingIndex):
        server.delete(name)
    server.create(name, query.bind(**values))
    if on_progress is not None:
        on_progress(1, 1)
    # The server does not tell how many documents it read.
    return SyncReport(0, 0, 0, 0, time.perf_counter() - started)


def _match(hit: tuple[str, float]) -> Match:
    iri, score = hit
    return Match(iri, score, None, None, None, None, ())
