"""Ask a knowledge graph in words or pictures and see which triples support each answer.

Example:
    >>> import mrag
    >>> kg = mrag.demo(model="none")
    >>> answer = mrag.ask(kg, "Which vendor develops GraphDB?", model="none")
    >>> "Ontotext" in answer.text
    True
    >>> kg.close()
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from mrag._lazy import lazy

if TYPE_CHECKING:
    from mrag.context.expansion import ContextSettings, expand
    from mrag.errors import MragError
    from mrag.front import KnowledgeGraph, connect, demo
    from mrag.index.similarity import SimilarityIndexes
    from mrag.rdf.terms import Triple
    from mrag.reasoning.run import reason
    from mrag.retrieval.answering import aask, ask, search, stream, verify
    from mrag.retrieval.explaining import explain
    from mrag.retrieval.rankers import FusedRanker, Hit, Hits, Question, Ranker, SimilarityRanker
    from mrag.retrieval.registry import known_rankers, ranker
    from mrag.retrieval.retriever import TripleStoreRetriever, format_docs
    from mrag.stores.base import Limits

__version__ = "0.1.0"

__all__ = [
    "ContextSettings", "FusedRanker", "Hit", "Hits", "KnowledgeGraph", "Limits", "MragError", "Question",
    "Ranker", "SimilarityIndexes", "SimilarityRanker", "Triple", "TripleStoreRetriever", "__version__",
    "aask", "ask", "connect", "demo", "expand", "explain", "format_docs", "known_rankers", "ranker",
    "reason", "search", "stream", "verify",
]  # fmt: skip

__getattr__, __dir__ = lazy(__name__)

logging.getLogger(__name__).addHandler(logging.NullHandler())

# A checkout without symbolic links (Windows) has text files in their place.
if not (Path(__file__).parent / "loaders").is_dir():
    __path__.append(str(Path(__file__).parent.parent))
