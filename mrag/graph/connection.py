"""Opening a knowledge graph by the URL of its store, and the demo graph."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mrag.errors import ConfigError, DamagedIndex, IndexMismatch, StoreLocked
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import SYSTEM, GraphChange, Record, named_graph, places, read_record
from mrag.rdf import queries
from mrag.rdf.guard import ReadQuery
from mrag.stores.base import Dataset, TripleStore
from mrag.stores.oxigraph import OxigraphStore

if TYPE_CHECKING:
    from mrag.index.similarity import SimilarityIndexes
    from mrag.stores.http import Access

logger = logging.getLogger(__name__)

_SIMILARITY = "http://www.ontotext.com/graphdb/similarity/"


def connect(
    url: str = "oxigraph:",
    name: str = "main",
    *,
    prefixes: Mapping[str, str] | None = None,
    languages: Sequence[str] = ("en", "mul", ""),
    graphs: Sequence[str] = (),
    access: Access | None = None,
    create: bool = True,
) -> KnowledgeGraph:
    """Open a knowledge graph.

    Args:
        url: `oxigraph:` for a store in memory, `oxigraph:PATH` or a path for one in a folder; for servers
            `graphdb:http://host:7200/repositories/NAME`, `fuseki:http://host:3030/DATASET`,
            `virtuoso:http://host:8890`, `qlever:`, `stardog:`, `allegrograph:`, `neptune:` and `rdf4j:` with
            an address, or `sparql:http://host/query?update=…&graphs=…` for any endpoint of the SPARQL 1.1
            Protocol. `graph=IRI` in a server's URL says the same as `graphs`.
        name: The knowledge graph's name in the store.
        prefixes: Prefixes for display and queries, beside the well-known ones.
        languages: Preferred languages of labels and texts, best first; "" is no language.
        graphs: IRIs of the graphs that hold the data, where mrag did not load it.
        access: How a server is reached; from the environment by default (`MRAG_STORE_USER`,
            `MRAG_STORE_PASSWORD`, `MRAG_STORE_TOKEN`, `MRAG_STORE_CA`).
        create: Whether a folder without a store becomes one, and a name without triples a new knowledge
            graph. Where it is only read, a wrong path or name is better an error.

    Raises:
        ConfigError: If the URL is of no known kind, or there is nothing and `create` is not set.
        StoreLocked: If another process has the folder open.
        EndpointError: If the server cannot be reached or refuses.

    Example:
        >>> kg = connect("oxigraph:")
        >>> kg.query("ASK { ?s ?p ?o }")
        False
        >>> kg.close()
    """
    if not create:
        _require_store(url)
    store, named = open_store(url, access)
    try:
        kg = KnowledgeGraph(
            store, name, prefixes=prefixes, languages=languages, graphs=tuple(graphs) or named
        )
        if not create and kg.is_new and store.url != "oxigraph:":
            raise _no_graph(kg)
    except BaseException:
        store.close()
        raise
    if not store.capabilities.similarity:
        kg.searcher = _LazySearcher(kg)
    return kg


def _require_store(url: str) -> None:
    """Refuse the path of an embedded store that is not there."""
    kind, path = _parts(url)
    if kind != "oxigraph" or not path or is_store(path):
        return
    folder = Path(path).expanduser()
    near = {place for place in (folder.parent, Path()) if place.is_dir()}
    found = sorted({str(p) for place in near for p in place.iterdir() if is_store(p)})
    there = f"There are: {', '.join(found[:5])}." if found else "There is none beside it either."
    raise ConfigError(
        "There is no store in this folder." if folder.is_dir() else "There is no such store.",
        file=path,
        hint=f"{there} `mrag load --store {path} FILE` makes one.",
    )


def _no_graph(kg: KnowledgeGraph) -> ConfigError:
    rows = kg.store.select(queries.get("kg/names").text, Dataset((SYSTEM,), (SYSTEM,)))
    names = [str(iri).removeprefix("urn:mrag:kg:") for (iri,) in rows]
    sizes = [(name, read_record(kg.store, f"urn:mrag:kg:{name}")) for name in names]
    full = [f"{name} ({record.triples:,} triples)" for name, record in sizes if not record.is_new]
    if not full:
        return ConfigError(
            "This store holds no knowledge graph.", endpoint=kg.store.url, hint="Load one: `mrag load FILE`."
        )
    return ConfigError(
        f"There is no knowledge graph {kg.name!r} in this store.",
        endpoint=kg.store.url,
        hint=f"There are: {', '.join(full)}. Choose one with --kg or name=.",
    )


def is_store(path: str | Path) -> bool:
    """Return whether a folder holds an embedded store."""
    return (Path(path).expanduser() / "CURRENT").is_file()


def folder_of(url: str) -> Path | None:
    """Return the folder of an embedded store's URL; None for servers and for stores in memory."""
    kind, path = _parts(url)
    return Path(path).expanduser().resolve() if kind == "oxigraph" and path else None


def _parts(url: str) -> tuple[str, str]:
    kind, colon, rest = url.partition(":")
    return ("oxigraph", url) if not colon or len(kind) == 1 else (kind, rest)


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
    kind, rest = _parts(url)
    if kind == "oxigraph":
        return OxigraphStore(Path(rest) if rest else None), ()
    from mrag.stores.engines import open_server

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
    from mrag.index.segments import KIND
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
            indexes.build("main", model=model, backend="local:")
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


_PREFIX = "urn:mrag:kg:"


@dataclass(frozen=True)
class KgSummary:
    """What a store's records say of a knowledge graph."""

    name: str
    triples: int
    inferred: int | None
    graphs: int
    pending: bool
    premises: tuple[str, ...] = ()


def summaries(store: TripleStore) -> list[KgSummary]:
    """List the knowledge graphs that a store keeps records of, in order of name."""
    if store.capabilities.reasoning:
        return []
    found = []
    for (term,) in store.select(queries.get("kg/list").text, Dataset((SYSTEM,), (SYSTEM,))):
        iri = str(term)
        record = read_record(store, iri)
        inferred = 0 if not record.inferred else record.inferences if record.inferences >= 0 else None
        name = iri.removeprefix(_PREFIX)
        counts = (record.triples, inferred, len(record.contexts))
        found.append(KgSummary(name, *counts, record.outdated, record.premises))
    return found


def delete(kg: KnowledgeGraph) -> None:
    """Remove a knowledge graph from its store with all of its triples; its indexes are not touched.

    Cut off in the middle, it is there without triples, and can be deleted again.

    Args:
        kg: The knowledge graph, which cannot be used afterwards.

    Raises:
        ConfigError: If mrag keeps no record of it, so that the triples are others'.
    """
    if kg.store.capabilities.reasoning or not read_record(kg.store, kg.iri).kept:
        raise ConfigError(
            f"The knowledge graph {kg.name!r} is not kept by mrag.", hint="`mrag kgs` lists those that are."
        )
    kg.clear()
    kg.store.update(queries.get("update/forget").bind(kg=[kg.iri, *places(kg.iri)]))


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
