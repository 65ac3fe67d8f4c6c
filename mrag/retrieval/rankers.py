"""The seam: everything that ranks is a `Ranker`, and rankers wrap rankers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from mrag import html
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.index.document_index import Mode
from mrag.index.fusion import reciprocal_rank_fusion
from mrag.index.similarity import SimilarityIndexes
from mrag.rdf import queries
from mrag.terminal import inline


@dataclass(frozen=True)
class Question:
    """What is asked: text, an image, or both.

    Attributes:
        text: The words, with single blanks between them; may be empty when there is an image.
        image: Path of an image.

    Raises:
        ConfigError: If there is neither.
    """

    text: str = ""
    image: Path | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", " ".join(self.text.split()))
        if not self.text and self.image is None:
            raise ConfigError("The question is empty.", hint="Give words, an image, or both.")


@dataclass(frozen=True)
class Hit:
    """An entity that a ranker found.

    Attributes:
        iri: The entity.
        score: Higher is better; comparable within one ranking only.
        rank: Counted from 1.
        reasons: Why it was found, in words, the latest ranker's last.
    """

    iri: str
    score: float
    rank: int
    reasons: tuple[str, ...] = ()


class Hits(tuple[Hit, ...]):
    """Hits in rank order, with the labels of their entities.

    Args:
        hits: The hits.
        names: The label of each.

    Example:
        >>> hits = Hits([Hit("urn:a", 0.5, 1, ("BM25: rank 1",))], ["A"])
        >>> print(hits)
        1. A <urn:a> 0.5000 BM25: rank 1
        >>> hits[0].iri, "<table>" in hits._repr_html_()
        ('urn:a', True)
    """

    names: tuple[str, ...]

    def __new__(cls, hits: Iterable[Hit], names: Iterable[str] = ()) -> Hits:
        """Keep the labels beside the hits."""
        made = super().__new__(cls, hits)
        made.names = tuple(names) or tuple(hit.iri for hit in made)
        return made

    def _repr_html_(self) -> str:
        """Return a table for a notebook."""
        rows = [
            (hit.rank, name, html.tag("code", hit.iri), f"{hit.score:.4f}", "; ".join(hit.reasons))
            for hit, name in zip(self, self.names, strict=True)
        ]
        return html.table(("", "entity", "IRI", "score", "found by"), rows)

    def __str__(self) -> str:
        rows = zip(self, self.names, strict=True)
        return "\n".join(
            inline(f"{hit.rank}. {name} <{hit.iri}> {hit.score:.4f} {'; '.join(hit.reasons)}".rstrip())
            for hit, name in rows
        )


@runtime_checkable
class Ranker(Protocol):
    """Ranks the entities of a knowledge graph for a question."""

    def rank(self, question: Question, k: int) -> list[Hit]:
        """Return at most `k` hits, best first, each entity once, ties in order of IRI."""


@dataclass
class SimilarityRanker:
    """Ranks by a similarity index.

    Args:
        kg: The knowledge graph.
        index: Name of the index.
        mode: `hybrid` fuses BM25 and dense vectors; `bm25` and `dense` are one of them.
        strict: Whether an index older than the graph is an error instead of a warning.

    Raises:
        MissingIndex: If there is no index of that name.
        StaleIndex: If the graph has changed since and `strict` is set.
    """

    kg: KnowledgeGraph
    index: str = "main"
    mode: Mode = "hybrid"
    strict: bool = False

    def rank(self, question: Question, k: int) -> list[Hit]:
        """Return at most `k` hits, best first."""
        index = SimilarityIndexes.of(self.kg).get(self.index, strict=self.strict)
        allowed = self.kg.cached("things in sight", self._things) if self.kg.within else None
        found = index.search(question.text, k, mode=self.mode, allowed=allowed)
        return [
            Hit(match.doc_id, match.score, rank, (index.reason(match),))
            for rank, match in enumerate(found, start=1)
        ]

    def _things(self) -> list[str]:
        rows = self.kg.select(queries.get("planning/unnamed").bind(property=[]))
        return [str(thing) for (thing,) in rows]


@dataclass
class FusedRanker:
    """Fuses rankings by reciprocal ranks (Cormack, Clarke and Büttcher, 2009).

    Args:
        rankers: The rankers to fuse.
        weights: One weight for each; all 1 by default.
        depth: How deep each ranking is read.
    """

    rankers: Sequence[Ranker]
    weights: Sequence[float] | None = None
    depth: int = 100

    def rank(self, question: Question, k: int) -> list[Hit]:
        """Return at most `k` hits, best first, with the reasons of every ranker that found them."""
        rankings = [ranker.rank(question, max(k, self.depth)) for ranker in self.rankers]
        fused = self._fused(rankings)
        reasons: dict[str, tuple[str, ...]] = {}
        for ranking in rankings:
            for hit in ranking:
                reasons[hit.iri] = reasons.get(hit.iri, ()) + hit.reasons
        return [Hit(iri, score, rank, reasons[iri]) for rank, (iri, score) in enumerate(fused[:k], start=1)]

    def _fused(self, rankings: Sequence[Sequence[Hit]]) -> list[tuple[str, float]]:
        """Return what was found with its score, best first."""
        return reciprocal_rank_fusion([[h.iri for h in r] for r in rankings], weights=self.weights)
