"""The stores that URLs name, and the knowledge graphs that they keep."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import SYSTEM, places, read_record
from mrag.rdf import queries
from mrag.stores.base import Dataset, TripleStore
from mrag.stores.oxigraph import OxigraphStore

if TYPE_CHECKING:
    from mrag.stores.http import Access


def is_store(path: str | Path) -> bool:
    """Return whether a folder holds an embedded store."""
    return (Path(path).expanduser() / "CURRENT").is_file()


def folder_of(url: str) -> Path | None:
    """Return the folder of an embedded store's URL; None for servers and for stores in memory."""
    kind, path = place_of(url)
    return Path(path).expanduser().resolve() if kind == "oxigraph" and path else None


def place_of(url: str) -> tuple[str, str]:
    """Return the kind and the address of a store's URL."""
    kind, colon, rest = url.partition(":")
    return ("oxigraph", url) if not colon or len(kind) == 1 else (kind, rest)


def open_store(url: str, access: Access | None = None) -> tuple[TripleStore, tuple[str, ...]]:
    """Open the store that a URL names, as `mrag.connect` does, and return it with the graphs that it names.

    Raises:
        ConfigError: If the URL is of no known kind.
    """
    kind, rest = place_of(url)
    if kind == "oxigraph":
        return OxigraphStore(Path(rest) if rest else None), ()
    from mrag.stores.engines import open_server

    return open_server(kind, rest, access)


_PREFIX = "urn:mrag:kg:"


@dataclass(frozen=True)
class KgSummary:
    """What a store keeps of a knowledge graph, and how many triples a run that was cut off has left."""

    name: str
    triples: int
    inferred: int | None
    graphs: int
    pending: bool
    premises: tuple[str, ...] = ()
    left: int = 0


def summaries(store: TripleStore) -> list[KgSummary]:
    """List the knowledge graphs that a store keeps records of, in order of name."""
    if store.capabilities.reasoning:
        return []
    graphs, every = [], store.graphs()
    for (term,) in store.select(queries.get("kg/list").text, Dataset((SYSTEM,), (SYSTEM,))):
        iri = str(term)
        record = read_record(store, iri)
        inferred = 0 if not record.inferred else record.inferences if record.inferences >= 0 else None
        name = iri.removeprefix(_PREFIX)
        counts = (record.triples, inferred, len(record.contexts))
        mine = {*record.asserted, *record.inferred, *record.hidden}
        left = sum(store.count(g) for g in every if g.startswith(f"{iri}:") and g not in mine)
        graphs.append(KgSummary(name, *counts, record.outdated, record.premises, left))
    return graphs


def delete(kg: KnowledgeGraph) -> None:
    """Remove a knowledge graph from its store with all of its triples; its indexes are not touched.

    Cut off in the middle, it is there without triples, and can be deleted again.
    """
    if kg.store.capabilities.reasoning or not read_record(kg.store, kg.iri).kept:
        raise ConfigError(
            f"The knowledge graph {kg.name!r} is not kept by mrag.", hint="`mrag kgs` lists those that are."
        )
    kg.clear()
    kg.store.update(queries.get("update/forget").bind(kg=[kg.iri, *places(kg.iri)]))
