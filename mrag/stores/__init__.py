"""Triple stores behind one protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mrag._lazy import lazy

if TYPE_CHECKING:
    from mrag.stores import engines  # noqa: F401 - for `mrag.stores.…`
    from mrag.stores.base import (
        BaseStore,
        Capabilities,
        Dataset,
        Limits,
        LoadReport,
        SelectResult,
        StoreLayers,
        TripleStore,
    )
    from mrag.stores.fuseki import FusekiStore
    from mrag.stores.graphdb import GraphDBStore
    from mrag.stores.http import Access
    from mrag.stores.oxigraph import OxigraphStore
    from mrag.stores.sparql import Dialect, Paths, SparqlStore
    from mrag.stores.virtuoso import VirtuosoStore

__all__ = [
    "Access", "BaseStore", "Capabilities", "Dataset", "Dialect", "FusekiStore", "GraphDBStore", "Limits",
    "LoadReport", "OxigraphStore", "Paths", "SelectResult", "SparqlStore", "StoreLayers", "TripleStore",
    "VirtuosoStore",
]  # fmt: skip

__getattr__, __dir__ = lazy(__name__)
