"""Views: knowledge graphs made from another one by query, in one go or in parts that runners carry out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mrag._lazy import lazy

if TYPE_CHECKING:
    from mrag.graph.views.making import VIEWS, View, find, make_view, make_views, refresh, stale

__all__ = ["VIEWS", "View", "find", "make_view", "make_views", "refresh", "stale"]

__getattr__, __dir__ = lazy(__name__)
