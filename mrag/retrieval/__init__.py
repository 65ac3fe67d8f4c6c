"""Rankers, the LangChain retriever, and `ask`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mrag._lazy import lazy

if TYPE_CHECKING:
    from mrag.retrieval.answering import aask, ask, retrieve, search, stream, verify
    from mrag.retrieval.conversation import Conversation
    from mrag.retrieval.explanation import TripleProofs, explain
    from mrag.retrieval.rankers import FusedRanker, Hit, Hits, Question, Ranker, SimilarityRanker
    from mrag.retrieval.retriever import Retrieval, TripleStoreRetriever, format_docs, to_content_blocks

__all__ = [
    "Conversation", "FusedRanker", "Hit", "Hits", "Question", "Ranker", "Retrieval", "SimilarityRanker",
    "TripleProofs", "TripleStoreRetriever", "aask", "ask", "explain", "format_docs", "retrieve", "search",
    "stream", "to_content_blocks", "verify",
]  # fmt: skip

__getattr__, __dir__ = lazy(
    __name__,
    {
        "answering": "aask ask retrieve search stream verify",
        "conversation": "Conversation",
        "explanation": "TripleProofs explain",
        "rankers": "FusedRanker Hit Hits Question Ranker SimilarityRanker",
        "retriever": "Retrieval TripleStoreRetriever format_docs to_content_blocks",
    },
)
