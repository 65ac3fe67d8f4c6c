"""Images of a knowledge graph: found by text and by looks, described by a model, and asked about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mrag._lazy import lazy

if TYPE_CHECKING:
    from mrag.images import answer, enrichment, graph  # noqa: F401 - for `mrag.images.…`
    from mrag.images.answer import ImageLooksRanker, ImageTextRanker, ask_pictures, image_ranker
    from mrag.images.embedding import ConseEmbedder, image_embedder
    from mrag.images.enrichment import EnrichProgress, EnrichReport, EnrichSettings, describe
    from mrag.images.files import PictureLimits
    from mrag.images.graph import of_class, of_query

__all__ = [
    "ConseEmbedder", "EnrichProgress", "EnrichReport", "EnrichSettings", "ImageLooksRanker",
    "ImageTextRanker", "PictureLimits", "ask_pictures", "describe",
    "image_embedder", "image_ranker", "of_class", "of_query",
]  # fmt: skip

__getattr__, __dir__ = lazy(__name__)
