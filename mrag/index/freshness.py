"""A similarity index that is older than the graph: brought up to date on the spot, or told."""

from __future__ import annotations

import logging
from typing import Any

from mrag.errors import IndexError_, MragError
from mrag.graph.kg import KnowledgeGraph
from mrag.index.documents import Definition, documents
from mrag.index.following import changed_documents
from mrag.index.opened import SimilarityIndex
from mrag.index.similarity import SimilarityIndexes

logger = logging.getLogger(__name__)

_TRIPLES = 300_000
"""Triples of a graph up to which all of its texts are read on the spot, which takes some seconds."""
_EMBEDDED = 500
"""Documents up to which they are embedded on the spot."""
_WORDS = 5_000
"""Documents up to which they are indexed on the spot by their words alone."""


def freshen(kg: KnowledgeGraph, name: str = "main", *, write: bool = True) -> str | None:
    """Bring an index up to date if only a little has changed.

    Args:
        kg: The knowledge graph.
        name: Name of its index.
        write: Whether that is allowed; else it is only told that the index is old.

    Returns:
        What a reader should know of the index, or None if it is up to date or there is none.

    Example:
        >>> import mrag
        >>> from rdflib import RDFS, Literal, URIRef
        >>> kg = mrag.connect()
        >>> _ = kg.insert([mrag.Triple(URIRef("urn:a"), RDFS.label, Literal("A red dress"))])
        >>> _ = kg.index(model="none")
        >>> _ = kg.insert([mrag.Triple(URIRef("urn:b"), RDFS.label, Literal("A blue coat"))])
        >>> print(freshen(kg))
        None
        >>> kg.search("coat").names
        ('A blue coat',)
        >>> kg.close()
    """
    indexes = SimilarityIndexes.of(kg)
    old = f"The index {name!r} is older than the graph, so hits may be missing or outdated; run `mrag index`."
    try:
        info = indexes.info(name)
        if not info.stale:
            return None
        if not write or info.definition is None:
            return old
        index = indexes.get(name, quiet=True)
        if not isinstance(index, SimilarityIndex):
            return old
        model: Any = index.files.extra.get("model") or ("none" if info.embedder is None else None)
        differing = None if model is None else _differing(kg, index, info.definition)
        if differing is None or differing > (_WORDS if model == "none" else _EMBEDDED):
            return old
        indexes.build(name, definition=info.definition, model=model)
    except IndexError_:
        return None  # whoever uses the index says what is wrong with it
    except MragError as error:
        logger.warning("The index could not be brought up to date: %s", error)
        return old
    return None


def _differing(kg: KnowledgeGraph, index: SimilarityIndex, definition: Definition) -> int | None:
    """Return how many documents came, went or have another text now; None if that takes too long to say."""
    files = index.files
    changes = changed_documents(kg, definition, files.extra, {*files.doc_ids})
    if changes is not None:
        return len(changes.texts) + len(changes.gone)
    if kg.record.triples + kg.record.inferences > _TRIPLES:
        return None
    return files.differing(documents(kg, definition))
