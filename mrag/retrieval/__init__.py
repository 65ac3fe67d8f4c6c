"""Rankers, the LangChain retriever, and `ask`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mrag._lazy import lazy

if TYPE_CHECKING:
    from mrag.retrieval import explaining, registry, verifying  # noqa: F401 - for `mrag.retrieval.…`
    from mrag.retrieval.answering import Conversation, aask, ask, retrieve, search, stream, verify
    from mrag.retrieval.explaining import TripleProofs, explain
    from mrag.retrieval.rankers import FusedRanker, Hit, Hits, Question, Ranker, SimilarityRanker
    from mrag.retrieval.registry import (
        CrossEncoderRanker,
        MmrRanker,
        RankerInfo,
        RankerRequest,
        known_rankers,
        ranker,
    )
    from mrag.retrieval.retriever import Retrieval, TripleStoreRetriever, format_docs

__all__ = [
    "Conversation", "CrossEncoderRanker", "FusedRanker", "Hit", "Hits",
    "MmrRanker", "Question", "Ranker", "RankerInfo", "RankerRequest", "Retrieval",
    "SimilarityRanker", "TripleProofs",
    "TripleStoreRetriever", "aask", "ask", "explain", "format_docs", "known_rankers", "ranker", "retrieve",
    "search", "stream", "verify",
]  # fmt: skip

__getattr__, __dir__ = lazy(__name__)
