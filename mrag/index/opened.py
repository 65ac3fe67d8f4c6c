"""One similarity index, open for searching."""

from __future__ import annotations

from collections.abc import Sequence

from mrag.index.backends.base import StoredIndex
from mrag.index.known_items import FusionWeight
from mrag.index.segments.matches import Match, Mode

__all__ = ["SimilarityIndex"]


class SimilarityIndex:
    """One similarity index, open for searching."""

    def __init__(self, name: str, files: StoredIndex) -> None:
        self.name = name
        self.files = files
        self._learnt: FusionWeight | None = None

    @property
    def weight(self) -> FusionWeight:
        """How words and vectors are fused."""
        kept = self.files.extra.get("fusion")
        if kept is None and self.files.embedder_name is not None:
            # The build was broken off after its last document.
            self._learnt = self._learnt or self.files.learnt_weight()
            return self._learnt
        return FusionWeight.from_json(kept)

    def search(
        self, text: str, k: int, *, mode: Mode = "hybrid", allowed: Sequence[str] | None = None
    ) -> list[Match]:
        """Return the documents most similar to a text, best first, ties in order of IRI.

        Args:
            text: The words to search for.
            k: Most hits.
            mode: `hybrid` fuses BM25 and dense vectors by `weight`; without vectors it is BM25.
            allowed: IRIs of the only documents to consider; all when None.
        """
        if mode != "bm25" and self.files.embedder_name is None:
            mode = "bm25"
        return self.files.search(text, k, mode=mode, allowed=allowed, weight=self.weight.of(text))

    def search_document(self, iri: str, k: int) -> list[Match]:
        """Return the documents most similar to the document of an entity, itself left out.

        Raises:
            IndexError_: If the entity has no document.
        """
        return [m for m in self.search(self.files.text_of(iri), k + 1) if m.doc_id != iri][:k]

    @staticmethod
    def reason(match: Match) -> str:
        """Return in words why a document was found."""
        rank = "" if match.bm25_rank is None else f" (BM25 rank {match.bm25_rank})"
        by_words = f"words {', '.join(match.terms)}{rank}"
        parts = [by_words] if match.terms else []
        if match.dense_rank is not None and match.dense_score is not None:
            parts.append(f"meaning {match.dense_score:.2f} (dense rank {match.dense_rank})")
        return "; ".join(parts) or "similar text"
