"""Opening a knowledge graph by the URL of its store, and the demo graph."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping, Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mrag.errors import ConfigError, DamagedIndex, IndexMismatch, StoreLocked
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.guard import ReadQuery
from mrag.stores.base import TripleStore
from mrag.stores.oxigraph import OxigraphStore

if TYPE_CHECKING:
    from mrag.index.similarity import SimilarityIndexes
    from mrag.stores.wire.access import Access

logger = logging.getLogger(__name__)

_SIMILARITY = "http://www.ontotext.com/graphdb/similarity/"
SERVERS = ("graphdb", "fuseki", "virtuoso", "sparql")
"""Kinds of URLs of stores that are servers."""


def connect(
    url: str = "oxigraph:",
    name: str = "main",
    *,
    prefixes: Mapping[str, str] | None = None,
    languages: Sequence[str] = ("en", "mul", ""),
    graphs: Sequence[str] = (),
    access: Access | None = None,
) -> KnowledgeGraph:
    """Open a knowledge graph.

    Args:
        url: `oxigraph:` for a store in memory, `oxigraph:PATH` or a path for one in a folder; for servers
            `graphdb:http://host:7200/repositories/NAME`, `fuseki:http://host:3030/DATASET`,
            `virtuoso:http://host:8890`, or `sparql:http://host/query?update=…&graphs=…` for any endpoint
            of the SPARQL 1.1 Protocol. `graph=IRI` in a server's URL says the same as `graphs`.
        name: The knowledge graph's name in the store.
        prefixes: Prefixes for display and queries, beside the well-known ones.
        languages: Preferred languages of labels and texts, best first; "" is no language.
        graphs: IRIs of the graphs that hold the data, where mrag did not load it.
        access: How a server is reached; from the environment by default (`MRAG_STORE_USER`,
            `MRAG_STORE_PASSWORD`, `MRAG_STORE_TOKEN`, `MRAG_STORE_CA`).

    Raises:
        ConfigError: If the URL is of no known kind.
        StoreLocked: If another process has the folder open.
        EndpointError: If the server cannot be reached or refuses.

    Example:
        >>> kg = connect("oxigraph:")
        >>> kg.query("ASK { ?s ?p ?o }")
        False
        >>> kg.close()
    """
    store, named = open_store(url, access)
    try:
        kg = KnowledgeGraph(
            store, name, prefixes=prefixes, languages=languages, graphs=tuple(graphs) or named
        )
    except BaseException:
        store.close()
        raise
    if not store.capabilities.similarity:
        kg.searcher = _LazySearcher(kg)
    return kg


def open_store(url: str, access: Access | None = None) -> tuple[TripleStore, tuple[str, ...]]:
    """Open the store that a URL names.

    Args:
        url: As for `connect`.
        access: How a server is reached.

    Returns:
        The store, and the graphs that the URL names.

    Raises:
        ConfigError: If the URL is of no known kind.
    """
    kind, colon, rest = url.partition(":")
    if not colon or len(kind) == 1:
        kind, rest = "oxigraph", url
    if kind == "oxigraph":
        return OxigraphStore(Path(rest) if rest else None), ()
    if kind not in SERVERS:
        raise ConfigError(
            f"No store is of kind {kind!r}.",
            endpoint=url,
            hint="Use oxigraph:PATH, " + ", ".join(f"{name}:http://…" for name in SERVERS) + ".",
        )
    from mrag.stores.urls import open_server

    return open_server(kind, rest, access)


def demo(*, model: str | Any | None = "minilm", folder: Path | None = None) -> KnowledgeGraph:
    """Open the demo graph of products and vendors, reasoned over and indexed.

    Args:
        model: Embedding model of its index; `none` for BM25 alone.
        folder: Where to keep it between runs; in memory when None or in use by another process.

    Example:
        >>> kg = demo(model="none")
        >>> kg.query("ASK { ex:GraphDB a ex:SemanticProduct }")
        True
        >>> kg.close()
    """
    from mrag.index.segments.files import KIND
    from mrag.index.similarity import SimilarityIndexes
    from mrag.reasoning.run import reason

    source = files("mrag") / "ontology" / "products.ttl"
    # Versions of the package that read other files must not take each other's index from under them.
    digest = hashlib.blake2b(source.read_bytes() + bytes([KIND.format]), digest_size=6).hexdigest()
    kg: KnowledgeGraph | None = None
    if folder is not None:
        try:
            kg = connect(f"oxigraph:{folder / f'demo-{digest}'}")
        except StoreLocked:
            logger.info("the demo store is in use; a copy in memory takes its place")
    kg = kg or connect()
    try:
        if not kg.record.triples:
            with as_file(source) as path:
                kg.load([path])
        if not kg.reasoned:
            reason(kg)
        indexes = SimilarityIndexes.of(kg)
        if not _current(indexes):
            indexes.build("main", model=model)
    except BaseException:
        kg.close()
        raise
    return kg


def _current(indexes: SimilarityIndexes) -> bool:
    try:
        return "main" in indexes.names() and not indexes.info().stale
    except (DamagedIndex, IndexMismatch):
        return False


class _LazySearcher:
    """Loads the similarity index only for a query that searches."""

    def __init__(self, kg: KnowledgeGraph) -> None:
        self._kg = kg

    def scratch(self, query: ReadQuery) -> bytes:
        if not any(str(p).startswith(_SIMILARITY) for _, p, _ in query.patterns):
            return b""
        from mrag.index.similarity import SimilarityIndexes

        return SimilarityIndexes.of(self._kg).scratch(query)
