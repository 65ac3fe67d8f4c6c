"""Source formats to triples, one module each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mrag._lazy import lazy

if TYPE_CHECKING:
    from mrag.loaders import importing, tables  # noqa: F401 - for `mrag.loaders.…`
    from mrag.loaders._records import RecordReport, Records
    from mrag.loaders.rdf import Source, sources
    from mrag.loaders.scenes import Fashionpedia, SceneGraphs
    from mrag.loaders.snippets import Snippets
    from mrag.loaders.tables import Table

__all__ = ["Fashionpedia", "RecordReport", "Records", "SceneGraphs", "Snippets", "Source", "Table", "sources"]

__getattr__, __dir__ = lazy(__name__)
