"""What all tools of the MCP server work with."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

from rdflib import URIRef

from mrag import generation
from mrag.graph.kg import KnowledgeGraph
from mrag.index.similarity import SimilarityIndexes
from mrag.mcp.settings import McpSettings
from mrag.rdf.terms import iri
from mrag.retrieval.rankers import Ranker
from mrag.retrieval.reading import QuestionReader
from mrag.stores.base import Limits

_BYTES = 16 << 20
"""Bytes that a query's answer may have."""


@dataclass
class ToolContext:
    """What all tools work with.

    Attributes:
        kg: The knowledge graph.
        settings: The bounds.
        questions: What reads questions, within the deadline.
    """

    kg: KnowledgeGraph
    settings: McpSettings
    questions: QuestionReader = field(init=False)
    _model: Any = None
    _ranker: Ranker | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.questions = QuestionReader(self.kg, self.settings.seconds)

    @property
    def limits(self) -> Limits:
        """Return the caps of a query."""
        return Limits(seconds=self.settings.seconds, rows=self.settings.rows, bytes=_BYTES)

    def iri(self, text: str) -> URIRef:
        """Read an IRI that a model wrote."""
        return iri(text, self.kg.prefixes)

    def model(self) -> Any:
        """Return the language model; one that was named is made once."""
        if self.settings.model in (None, "auto"):
            return generation.resolve(self.settings.model) or "none"
        with self._lock:
            if self._model is None:
                self._model = generation.resolve(self.settings.model) or "none"
        return self._model

    def check_ranker(self, name: str | None) -> None:
        """Make sure that a client may choose a ranker; None stands for that of the settings.

        Raises:
            ConfigError: If there is no such ranker, or only the operator may choose it.
        """
        from mrag.retrieval.registry import check_client_ranker

        if name is not None:
            check_client_ranker(name, self.settings.ranker)

    def ranker(self, name: str | None = None) -> Ranker:
        """Return a ranker; that of the settings is made once.

        Raises:
            ConfigError: If there is no such ranker, or only the operator may choose it.
        """
        from mrag.retrieval.registry import ranker

        if name is not None:
            self.check_ranker(name)
            return ranker(name, self.kg, index=self.settings.index)
        with self._lock:
            if self._ranker is None:
                self._ranker = ranker(self.settings.ranker, self.kg, index=self.settings.index)
        return self._ranker

    def open_index(self) -> None:
        """Open the index in one thread, so that two first calls do not load its model twice."""
        with self._lock:
            SimilarityIndexes.of(self.kg).get(self.settings.index)
