"""From a knowledge graph to a clue index of its entities' documents."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mrag.errors import ConfigError, MissingIndex, StaleIndex
from mrag.generative.clue_index import ClueIndex
from mrag.generative.models import Tokeniser, document_tokens
from mrag.graph.kg import KnowledgeGraph
from mrag.index.backends.base import home
from mrag.index.documents import Definition, documents
from mrag.jobs.runners import Runner
from mrag.language.names import iri_words

logger = logging.getLogger(__name__)


def clue_texts(kg: KnowledgeGraph, definition: Definition | None = None) -> Iterator[tuple[str, str]]:
    """Yield IRI and text of each document, in order of IRI: its name once, then what is said of it."""
    found = dict(documents(kg, definition or Definition(languages=kg.languages)))
    labels = kg.labels(found)
    for iri, text in found.items():
        label = (labels[iri] or iri_words(iri) or "").rstrip(".")
        again = f"{label}. {label}"
        while label and text.startswith(again) and text[len(again) : len(again) + 1] in ("", "."):
            text = text[len(label) + 2 :]
        yield iri, text


def build_clues(
    kg: KnowledgeGraph,
    tokeniser: Tokeniser,
    *,
    definition: Definition | None = None,
    folder: Path | None = None,
    on_disk: bool = True,
    runner: Runner | None = None,
) -> ClueIndex:
    """Build the clue index of a knowledge graph's documents.

    Args:
        kg: The knowledge graph.
        tokeniser: That of the model that will write the clues.
        definition: Queries and languages; those of the graph by default.
        folder: Where to keep the index; beside the store by default.
        on_disk: Whether to keep it at all. A store in memory keeps it in memory unless a folder is given.
        runner: What builds its segments, see `mrag.jobs`; this process by default.

    Raises:
        ConfigError: If a query does not return `?documentID ?documentText`.
        IndexError_: If the folder cannot be written, or another writer is at it.
    """
    definition = definition or Definition(languages=kg.languages)
    place = (folder or clue_folder(kg)) if on_disk else None
    extra: dict[str, Any] = {
        "kg": kg.iri,
        "revision": kg.revision,
        "digest": definition.digest(),
        "definition": asdict(definition),
        "tokeniser": tokeniser.fingerprint,
        "model": tokeniser.name,
    }
    texts = ((iri, document_tokens(tokeniser, text)) for iri, text in clue_texts(kg, definition))
    return ClueIndex.build(
        texts, tokeniser.vocabulary, end=tokeniser.end, folder=place, extra=extra, runner=runner
    )


def clue_folder(kg: KnowledgeGraph, name: str = "main") -> Path | None:
    """Return where a knowledge graph's clue index lies; None for a store in memory."""
    beside = home(kg)
    return None if beside is None else beside.with_name("clues") / name


def open_clues(kg: KnowledgeGraph, *, folder: Path | None = None, strict: bool = False) -> ClueIndex:
    """Open the clue index of a knowledge graph.

    Args:
        kg: The knowledge graph.
        folder: Where it is kept; beside the store by default.
        strict: Whether an index older than the graph is an error instead of a warning.

    Raises:
        MissingIndex: If there is none.
        StaleIndex: If the graph has changed since and `strict` is set.
        IndexError_: If it is damaged.
    """
    place = folder or clue_folder(kg)
    if place is None:
        raise MissingIndex(
            "A store in memory keeps no clue index.",
            hint="Build one with build_clues, or use a store on disk.",
        )
    index = ClueIndex.open(place)
    if is_stale(kg, index):
        message, hint = "The clue index is older than the graph.", "Build it anew with `mrag clues build`."
        if strict:
            raise StaleIndex(message, hint=hint)
        logger.warning("%s %s", message, hint)
    return index


def is_stale(kg: KnowledgeGraph, index: ClueIndex) -> bool:
    """Return whether the graph, or the queries of the documents, have changed since an index was built."""
    extra = index.extra
    if extra.get("revision") != kg.revision or extra.get("kg") != kg.iri:
        return True
    try:
        kept = Definition.from_json(extra["definition"])
        return bool(kept.digest() != extra["digest"])
    except (KeyError, TypeError, ConfigError):
        return True
