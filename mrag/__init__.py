"""Ask a knowledge graph in words or pictures and see which triples made each answer right.

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
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mrag.context.expand import ContextSettings, expand
    from mrag.errors import MragError
    from mrag.graph.connection import connect, demo
    from mrag.graph.kg import KnowledgeGraph
    from mrag.index.similarity import SimilarityIndexes
    from mrag.reasoning.run import reason
    from mrag.retrieval.ask import ask
    from mrag.retrieval.rankers import FusedRanker, Hit, Question, Ranker, SimilarityRanker
    from mrag.retrieval.retriever import TripleStoreRetriever, format_docs
    from mrag.stores.base import Limits

__version__ = "0.1.0"

_HOME = {
    "ContextSettings": "mrag.context.expand",
    "FusedRanker": "mrag.retrieval.rankers",
    "Hit": "mrag.retrieval.rankers",
    "KnowledgeGraph": "mrag.graph.kg",
    "Limits": "mrag.stores.base",
    "MragError": "mrag.errors",
    "Question": "mrag.retrieval.rankers",
    "Ranker": "mrag.retrieval.rankers",
    "SimilarityIndexes": "mrag.index.similarity",
    "SimilarityRanker": "mrag.retrieval.rankers",
    "TripleStoreRetriever": "mrag.retrieval.retriever",
    "ask": "mrag.retrieval.ask",
    "connect": "mrag.graph.connection",
    "demo": "mrag.graph.connection",
    "expand": "mrag.context.expand",
    "format_docs": "mrag.retrieval.retriever",
    "reason": "mrag.reasoning.run",
}

__all__ = [
    "ContextSettings",
    "FusedRanker",
    "Hit",
    "KnowledgeGraph",
    "Limits",
    "MragError",
    "Question",
    "Ranker",
    "SimilarityIndexes",
    "SimilarityRanker",
    "TripleStoreRetriever",
    "__version__",
    "ask",
    "connect",
    "demo",
    "expand",
    "format_docs",
    "reason",
]

logging.getLogger(__name__).addHandler(logging.NullHandler())

# A checkout without symbolic links (Windows) has text files in their place.
if not (Path(__file__).parent / "loaders").is_dir():
    __path__.append(str(Path(__file__).parent.parent))


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'mrag' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
