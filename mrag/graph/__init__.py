"""Knowledge graphs: a store, its layers and named graphs, and what is written to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mrag._lazy import lazy

if TYPE_CHECKING:
    from mrag.graph.connection import connect, demo, open_store
    from mrag.graph.kg import KnowledgeGraph
    from mrag.graph.layers import GraphLayers, Layer
    from mrag.graph.record import Record, Status, status_of
    from mrag.graph.updates import UpdateReport, update
    from mrag.graph.views import VIEWS, View, make_view, make_views

__all__ = [
    "VIEWS",
    "GraphLayers",
    "KnowledgeGraph",
    "Layer",
    "Record",
    "Status",
    "UpdateReport",
    "View",
    "connect",
    "demo",
    "make_view",
    "make_views",
    "open_store",
    "status_of",
    "update",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "GraphLayers": "layers",
        "KnowledgeGraph": "kg",
        "Layer": "layers",
        "Record": "record",
        "Status": "record",
        "UpdateReport": "updates",
        "VIEWS": "views",
        "View": "views",
        "connect": "connection",
        "demo": "connection",
        "make_view": "views",
        "make_views": "views",
        "open_store": "connection",
        "status_of": "record",
        "update": "updates",
    },
)
