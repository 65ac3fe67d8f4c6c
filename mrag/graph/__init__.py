"""Knowledge graphs: a store, its layers and named graphs, and what is written to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mrag._lazy import lazy

if TYPE_CHECKING:
    from mrag.graph import connection, kg, record, updates  # noqa: F401 - for `mrag.graph.…`
    from mrag.graph.connection import open_store
    from mrag.graph.kg import KnowledgeGraph, Layer
    from mrag.graph.record import Record, Status, status_of
    from mrag.graph.updates import UpdateReport, update
    from mrag.graph.views import VIEWS, View, make_view, make_views

__all__ = [
    "VIEWS", "KnowledgeGraph", "Layer", "Record", "Status", "UpdateReport",
    "View", "make_view", "make_views", "open_store", "status_of", "update",
]  # fmt: skip

__getattr__, __dir__ = lazy(__name__)
