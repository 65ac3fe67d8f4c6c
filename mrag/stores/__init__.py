"""Triple stores behind one protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mrag._lazy import lazy

if TYPE_CHECKING:
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
    from mrag.stores.oxigraph import OxigraphStore
    from mrag.stores.sparql import SparqlStore
    from mrag.stores.virtuoso import VirtuosoStore
    from mrag.stores.wire.access import Access

__all__ = [
    "Access",
    "BaseStore",
    "Capabilities",
    "Dataset",
    "FusekiStore",
    "GraphDBStore",
    "Limits",
    "LoadReport",
    "OxigraphStore",
    "SelectResult",
    "SparqlStore",
    "StoreLayers",
    "TripleStore",
    "VirtuosoStore",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "Access": "wire.access",
        "BaseStore": "base",
        "Capabilities": "base",
        "Dataset": "base",
        "FusekiStore": "fuseki",
        "GraphDBStore": "graphdb",
        "Limits": "base",
        "LoadReport": "base",
        "OxigraphStore": "oxigraph",
        "SelectResult": "base",
        "SparqlStore": "sparql",
        "StoreLayers": "base",
        "TripleStore": "base",
        "VirtuosoStore": "virtuoso",
    },
)
