"""One commit of an index."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from mrag.errors import ConfigError
from mrag.index.bm25 import Bm25Index
from mrag.index.dense import DenseIndex, DenseParams
from mrag.index.segments.files import DocumentManifest
from mrag.index.segments.rows import Mask, Rows
from mrag.index.segments.segment import DIGEST_BYTES, DocumentSegment, vectors_in

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
        pairs = [(s.vectors, s.signs) for s in self.segments]
        vectors = [v for v, _ in pairs if v is not None]
        signs = [p for _, p in pairs if p is not None]
        return DenseIndex(self.rows, vectors, signs, self.dense_params)

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
        """Return the vectors that are stored for some texts; see `vectors_in`."""
        return vectors_in(self.segments, digests)


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
