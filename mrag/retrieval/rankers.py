"""The seam: everything that ranks is a `Ranker`, and rankers wrap rankers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Protocol, runtime_checkable

from rdflib import Literal

from mrag import html
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.naming import names_beside, twins_of
from mrag.index.document_index import Mode
from mrag.index.fusion import reciprocal_rank_fusion
from mrag.index.similarity import SimilarityIndexes
from mrag.language.names import likeness
from mrag.rdf import queries
from mrag.terminal import inline

_NAMES: Final = 3  # Names that a thing with several of them is taken to have among the hits
_WORDS: Final = 6  # Words of a text that may be a name, at most
_NAMED: Final = 100
_CALLED: Final = "called so"


@dataclass(frozen=True)
class Question:
    """What is asked: text, an image, or both.

    Raises:
        ConfigError: If there is neither.
    """

    text: str = ""  # The words, with single blanks between them; may be empty when there is an image
    image: Path | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", " ".join(self.text.split()))
        if not self.text and self.image is None:
            raise ConfigError("The question is empty.", hint="Give words, an image, or both.")


@dataclass(frozen=True)
class Hit:
    """An entity that a ranker found."""

    iri: str
    score: float  # Higher is better; comparable within one ranking only
    rank: int  # Counted from 1
    reasons: tuple[str, ...] = ()  # Why it was found, in words, the latest ranker's last


class Hits(tuple[Hit, ...]):
    """Hits in rank order, with the labels of their entities.

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

    Raises:
        MissingIndex: If there is no index of that name.
        StaleIndex: If the graph has changed since and `strict` is set.
    """

    kg: KnowledgeGraph
    index: str = "main"
    mode: Mode = "hybrid"  # Fuses BM25 and dense vectors; `bm25` and `dense` are one of them
    strict: bool = False  # Whether an index older than the graph is an error instead of a warning

    def rank(self, question: Question, k: int) -> list[Hit]:
        """Return at most `k` hits, best first."""
        index = SimilarityIndexes.of(self.kg).get(self.index, strict=self.strict)
        allowed = self.kg.cached("things in sight", self._things) if self.kg.within else None
        # Of things that have several names, each is found as often.
        depth = k if twins_of(self.kg) is None else _NAMES * k
        matches = index.search(question.text, depth, mode=self.mode, allowed=allowed)
        named = self._things_called(question.text)
        missing = named - {match.doc_id for match in matches} if allowed is None else set()
        if missing:
            matches += index.search(question.text, len(missing), mode=self.mode, allowed=sorted(missing))
        beside = names_beside(self.kg, [match.doc_id for match in matches])
        hits: dict[str, Hit] = {}
        for match in matches:
            iri = beside.get(match.doc_id, match.doc_id)
            hits.setdefault(iri, Hit(iri, match.score, 0, (index.reason(match),)))
        ordered = self._likest_first(question.text, named, list(hits.values()))
        return [replace(hit, rank=rank) for rank, hit in enumerate(ordered[:k], start=1)]

    def _things_called(self, text: str) -> set[str]:
        """Return the things that are called exactly as a text, if it may be a name."""
        if len(text.split()) > _WORDS or not (properties := self.kg.profile().labels):
            return set()
        names = [Literal(text), *(Literal(text, lang=tag) for tag in self.kg.languages if tag)]
        rows = self.kg.select(queries.get("kg/named").bind(name=names, limit=_NAMED))
        return {str(thing) for thing, p in rows if str(p) in properties}

    def _likest_first(self, text: str, named: set[str], hits: list[Hit]) -> list[Hit]:
        """Return hits, first those that are called as the text is, at least but for case or signs."""
        if len(text.split()) > _WORDS or not hits:
            return hits
        labels = self.kg.labels(hit.iri for hit in hits)

        def unlike(hit: Hit) -> int:
            return 0 if hit.iri in named else likeness(text, labels[hit.iri] or "")

        ordered = sorted(hits, key=unlike)
        last = ordered[-1:]
        for hit in ordered[-2::-1]:
            below = last[-1]
            if (-hit.score, hit.iri) > (-below.score, below.iri):
                # What comes first scores more.
                more = math.nextafter(below.score, math.inf)
                hit = replace(hit, score=more, reasons=(*hit.reasons, _CALLED))
            last.append(hit)
        return last[::-1]

    def _things(self) -> list[str]:
        rows = self.kg.select(queries.get("planning/unnamed").bind(property=[]))
        return [str(thing) for (thing,) in rows]


@dataclass
class FusedRanker:
    """Fuses rankings by reciprocal ranks (Cormack, Clarke and Büttcher, 2009)."""

    rankers: Sequence[Ranker]
    weights: Sequence[float] | None = None  # One for each ranker; all 1 by default
    depth: int = 100  # How deep each ranking is read

    def rank(self, question: Question, k: int) -> list[Hit]:
        """Return at most `k` hits, best first, with the reasons of every ranker that found them."""
        rankings = [ranker.rank(question, max(k, self.depth)) for ranker in self.rankers]
        fused = self._fuse(rankings)
        reasons: dict[str, tuple[str, ...]] = {}
        for ranking in rankings:
            for hit in ranking:
                reasons[hit.iri] = reasons.get(hit.iri, ()) + hit.reasons
        return [Hit(iri, score, rank, reasons[iri]) for rank, (iri, score) in enumerate(fused[:k], start=1)]

    def _fuse(self, rankings: Sequence[Sequence[Hit]]) -> list[tuple[str, float]]:
        """Return what was found with its score, best first."""
        return reciprocal_rank_fusion([[h.iri for h in r] for r in rankings], weights=self.weights)
