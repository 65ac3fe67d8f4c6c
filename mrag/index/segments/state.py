"""One commit of an index, and how the next one is made of it."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from mrag.errors import ConfigError
from mrag.index.bm25 import Bm25Index
from mrag.index.dense import DenseIndex, DenseParams
from mrag.index.segments.files import DocumentFolder, DocumentManifest
from mrag.index.segments.rows import Mask, Rows
from mrag.index.segments.segment import DIGEST_BYTES, DocumentSegment
from mrag.storage.folder import Committed
from mrag.storage.segments import first_to_merge

__all__ = ["DocumentState", "Vectors", "as_json"]

Vectors = Mapping[bytes, npt.NDArray[np.float32]]
"""Vector by digest of the text."""


@dataclass(frozen=True, eq=False)
class DocumentState:
    """What searches see. Replaced whole and never changed, so that none sees half of a change.

    Args:
        manifest: What the index is.
        segments: Its segments, as in the manifest.
        rows: Their rows.
        dense_params: The knobs of vector search.
    """

    manifest: DocumentManifest
    segments: tuple[DocumentSegment, ...]
    rows: Rows
    dense_params: DenseParams

    @classmethod
    def of(
        cls,
        manifest: DocumentManifest,
        segments: Sequence[DocumentSegment],
        live: Mask | None,
        dense_params: DenseParams,
    ) -> DocumentState:
        """Put a state together; `live` as `DocumentFolder.read` gives it."""
        rows = Rows([segment.ids for segment in segments], live)
        return cls(manifest, tuple(segments), rows, dense_params)

    @cached_property
    def bm25(self) -> Bm25Index:
        """The lexical ranker."""
        return Bm25Index(self.manifest.bm25, self.rows, [segment.postings for segment in self.segments])

    @cached_property
    def dense(self) -> DenseIndex:
        """The ranker by vectors; empty in an index without."""
        pairs = [(s.vectors, s.codes) for s in self.segments]
        vectors = [v for v, _ in pairs if v is not None]
        codes = [c for _, c in pairs if c is not None]
        return DenseIndex(self.rows, vectors, codes, self.dense_params)

    def sample(self, most: int) -> list[int]:
        """Return rows chosen at random, but the same however the documents came and lie in segments.

        Args:
            most: How many rows at most.
        """
        live = np.flatnonzero(self.rows.live)
        keys = np.ascontiguousarray(self.digests[live]).view(np.uint64)[:, 0]
        if len(live) > most:
            few = np.argpartition(keys, most)[:most]
            live, keys = live[few], keys[few]
        return [int(row) for row in live[np.argsort(keys, kind="stable")]]

    @cached_property
    def digests(self) -> npt.NDArray[np.uint8]:
        """Digest of the text of each row."""
        empty = np.empty((0, DIGEST_BYTES), np.uint8)
        return np.concatenate([empty, *(segment.digests for segment in self.segments)])

    def place(self, row: int) -> tuple[DocumentSegment, int]:
        """Return the segment of a row and the place in it."""
        for segment, (start, end) in zip(self.segments, self.rows.spans(), strict=True):
            if row < end:
                return segment, row - start
        raise IndexError(f"Row {row} of {self.rows.total}.")

    def known_vectors(self, digests: Collection[bytes]) -> dict[bytes, npt.NDArray[np.float32]]:
        """Return the vectors that are stored for some texts, whatever the ID, deleted or not.

        Args:
            digests: Digests of the texts.
        """
        if not digests or not self.rows.total:
            return {}
        # Half of each digest finds the rows in one vectorised pass, the whole of it decides.
        asked = np.frombuffer(b"".join(digests), np.uint64)[::2]
        stored = np.ascontiguousarray(self.digests).view(np.uint64)[:, 0]
        found = {}
        for row in np.flatnonzero(np.isin(stored, asked)).tolist():
            segment, at = self.place(row)
            if segment.vectors is not None:
                found[self.digests[row].tobytes()] = segment.vectors[at]
        return {key: found[key] for key in digests if key in found}

    def changed(
        self,
        kept: Mask,
        fresh: Mapping[str, str],
        vectors: Vectors | None,
        *,
        extra: Mapping[str, Any],
        folder: DocumentFolder | None,
    ) -> DocumentState:
        """Make the next state and, in a folder, commit it.

        Args:
            kept: True for the rows that stay, shape (rows.total,).
            fresh: New documents, text by ID; none of a row that stays.
            vectors: Their vectors; None in an index without.
            extra: The caller's JSON.
            folder: The folder, locked; None in memory.

        Raises:
            OSError: If the system refuses to write; the folder then holds the state before or, if
                only the last step failed, the state after.
        """
        generation = folder.next_generation() if folder else self.manifest.generation + 1
        sizes = [(int(np.count_nonzero(kept[s:e])), e - s) for s, e in self.rows.spans()]
        first = first_to_merge(sizes, len(fresh))
        parts = [
            (segment, kept[start:end])
            for segment, (start, end) in zip(self.segments, self.rows.spans(), strict=True)
        ][first:]
        if fresh:
            built = DocumentSegment.build(fresh, self.manifest.bm25.analysis, vectors)
            parts.append((built, np.ones(len(built), np.bool_)))
        segments, names = list(self.segments[:first]), list(self.manifest.segments[:first])
        files = {name: self.manifest.files[name] for name, _ in names if folder}
        live = kept[: self.rows.bases[first]]
        if any(mask.any() for _, mask in parts):
            joined = built if fresh and len(parts) == 1 else DocumentSegment.merge(parts)
            if folder:
                name, entry = folder.write_segment(joined, generation)
                files[name] = entry
                names.append((name, len(joined)))
                joined = folder.segment(name, Committed(generation, files))
            segments.append(joined)
            live = np.concatenate([live, np.ones(len(joined), np.bool_)])
        whole = bool(live.all())
        deleted = None
        if folder and not whole:
            deleted, files[deleted] = folder.write_deleted(live, generation)
        manifest = replace(
            self.manifest,
            generation=generation,
            documents=int(np.count_nonzero(live)),
            dim=next((s.vectors.shape[1] for s in segments if s.vectors is not None), self.manifest.dim),
            segments=tuple(names),
            deleted=deleted,
            extra=extra,
            files=files,
        )
        if folder:
            folder.commit(manifest.committed())
        return DocumentState.of(manifest, segments, None if whole else live, self.dense_params)


def as_json(extra: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of the caller's JSON.

    Raises:
        ConfigError: If it is not JSON.

    Example:
        >>> as_json({"languages": ("en", "mul")})
        {'languages': ['en', 'mul']}
    """
    try:
        return dict(json.loads(json.dumps(extra, allow_nan=False)))
    except (TypeError, ValueError) as error:
        hint = "Use a dict of strings, finite numbers, booleans, None, lists and dicts."
        raise ConfigError(f"What is kept with the index must be JSON: {error}.", hint=hint) from error
