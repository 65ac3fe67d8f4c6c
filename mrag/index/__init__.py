"""Similarity indexes: documents found by words (BM25), by meaning (vectors), or by both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mrag._lazy import lazy

if TYPE_CHECKING:
    from mrag.index import documents, segments, similarity  # noqa: F401 - for `mrag.index.…`
    from mrag.index.backends.base import Abilities, IndexBackend
    from mrag.index.backends.vector_store import VectorStoreBackend
    from mrag.index.bm25 import Bm25Index, Bm25Params
    from mrag.index.dense import DenseParams
    from mrag.index.document_index import DocumentIndex, Mode, StoredIndex
    from mrag.index.documents import Definition
    from mrag.index.embedding import Embedder, LangChainEmbedder, embedder
    from mrag.index.fusion import reciprocal_rank_fusion, weighted_scores
    from mrag.index.segments import SyncReport
    from mrag.index.similarity import SimilarityIndex, SimilarityIndexes

__all__ = [
    "Abilities", "Bm25Index", "Bm25Params", "Definition", "DenseParams", "DocumentIndex", "Embedder",
    "IndexBackend", "LangChainEmbedder", "Mode", "SimilarityIndex", "SimilarityIndexes",
    "StoredIndex", "SyncReport", "VectorStoreBackend", "embedder", "reciprocal_rank_fusion",
    "weighted_scores",
]  # fmt: skip

__getattr__, __dir__ = lazy(__name__)
