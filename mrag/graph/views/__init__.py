"""Views: knowledge graphs made from another one by query, in one go or in parts that runners carry out."""

from __future__ import annotations

from mrag.graph.views.making import VIEWS, View, find, make_view, make_views, refresh, stale

__all__ = ["VIEWS", "View", "find", "make_view", "make_views", "refresh", "stale"]
