"""After triples came in or went out: inferred triples and similarity indexes catch up."""

from __future__ import annotations

import logging
from typing import Any

from mrag.errors import IndexError_
from mrag.graph.kg import KnowledgeGraph
from mrag.index.similarity import SimilarityIndex, SimilarityIndexes
from mrag.reasoning.run import reason

logger = logging.getLogger(__name__)


def catch_up(kg: KnowledgeGraph, reasoned: bool = True) -> bool:
    """Bring inferred triples and similarity indexes up to date with the graph.

    Only what changed is embedded anew. An index of a server's own is left to the server, and one that was
    built with an embedding object that is not at hand is left as it is, with a warning.

    Args:
        kg: The knowledge graph.
        reasoned: Whether it had been reasoned over; else that is not begun here.

    Returns:
        Whether there was something to do.

    Raises:
        InconsistentOntology: If the triples contradict the axioms; the inferred layer is as it was before.
    """
    done = False
    if reasoned and not kg.reasoned and not kg.store.capabilities.reasoning:
        reason(kg)
        done = True
    indexes = SimilarityIndexes.of(kg)
    for name in indexes.names():
        try:
            info = indexes.info(name)
            if not info.stale or info.definition is None:
                continue
            index = indexes.get(name)
        except IndexError_ as error:
            logger.warning("the index %r stays as it was: %s", name, error)
            continue
        if not isinstance(index, SimilarityIndex):
            continue
        spec: Any = index.files.extra.get("model") or ("none" if info.embedder is None else None)
        if spec is None:
            logger.warning("the index %r stays as it was: it was built with an embedding object", name)
            continue
        indexes.build(name, definition=info.definition, model=spec)
        done = True
    return done
