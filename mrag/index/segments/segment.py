"""Segments: runs of documents with everything that is known of them, never changed once built."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from mrag.index.segments.postings import Postings
from mrag.index.segments.rows import Mask, StringTable
from mrag.index.segments.signs import SegmentSigns, planes_of_codes, rows_of_planes, sign_planes
from mrag.storage.arrays import Arrays, LazyArray, lazy
from mrag.text.analysis import Analyser

__all__ = ["DIGEST_BYTES", "DocumentSegment", "digest", "vectors_in"]

DIGEST_BYTES: Final = 16


def digest(text: str) -> bytes:
    """Return the BLAKE2b digest of a text, by which changed texts and known vectors are told.

    Example:
        >>> digest("a red shoe").hex()
        '9bd8a83305de6f4dab0bbf1128d225e8'
    """
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).digest()


class DocumentSegment:
    """A run of documents, sorted by ID.

    Args:
        arrays: What `arrays` returns; those of a file are read as they are asked for.

    Example:
        >>> segment = DocumentSegment.build({"ex:b": "a coat", "ex:a": "a shoe"}, Analyser(), None)
        >>> list(segment.ids), segment.texts[0], len(segment)
        (['ex:a', 'ex:b'], 'a shoe', 2)
    """

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = arrays

    def __len__(self) -> int:
        return len(lazy(self._arrays, "ids.offsets")) - 1

    @cached_property
    def ids(self) -> StringTable:
        """Their IDs."""
        return self._strings("ids")

    @cached_property
    def texts(self) -> StringTable:
        """Their texts."""
        return self._strings("texts")

    @cached_property
    def digests(self) -> npt.NDArray[np.uint8]:
        """What `digest` returns for each text, shape (rows, DIGEST_BYTES)."""
        return self._arrays["digests"]

    @cached_property
    def postings(self) -> Postings:
        """Their term frequencies."""
        arrays = self._arrays
        return Postings(
            terms=StringTable(arrays["terms.blob"], arrays["terms.offsets"]),
            starts=arrays["postings.starts"],
            rows=lazy(arrays, "postings.rows"),
            counts=lazy(arrays, "postings.counts"),
            lengths=arrays["postings.lengths"],
        )

    @cached_property
    def vectors(self) -> LazyArray | None:
        """Their vectors, float32, shape (rows, dim); None in an index without a model."""
        return lazy(self._arrays, "vectors") if "vectors" in self._arrays else None

    @cached_property
    def signs(self) -> SegmentSigns | None:
        """The signs of the vectors; what earlier versions have not written is put in order."""
        if "signs" in self._arrays:
            return SegmentSigns(lazy(self._arrays, "planes"), lazy(self._arrays, "signs"))
        if "planes" in self._arrays:
            planes = self._arrays["planes"]
        elif "codes" in self._arrays:
            planes = planes_of_codes(self._arrays["codes"])
        else:
            return None
        return SegmentSigns(planes, rows_of_planes(planes))

    def _strings(self, name: str) -> StringTable:
        return StringTable(lazy(self._arrays, f"{name}.blob"), self._arrays[f"{name}.offsets"])

    @classmethod
    def _of(
        cls,
        ids: StringTable,
        texts: StringTable,
        digests: npt.NDArray[np.uint8],
        postings: Postings,
        vectors: npt.NDArray[np.float32] | None,
    ) -> DocumentSegment:
        arrays: dict[str, npt.NDArray[Any]] = {
            "ids.blob": np.asarray(ids.blob),
            "ids.offsets": ids.offsets,
            "texts.blob": np.asarray(texts.blob),
            "texts.offsets": texts.offsets,
            "digests": digests,
            "terms.blob": np.asarray(postings.terms.blob),
            "terms.offsets": postings.terms.offsets,
            "postings.starts": postings.starts,
            "postings.rows": np.asarray(postings.rows),
            "postings.counts": np.asarray(postings.counts),
            "postings.lengths": postings.lengths,
        }
        if vectors is not None:
            planes = sign_planes(vectors)
            arrays |= {"planes": planes, "signs": rows_of_planes(planes), "vectors": vectors}
        return cls(arrays)

    @classmethod
    def build(
        cls, documents: Mapping[str, str], analyser: Analyser, vectors: Mapping[bytes, Any] | None
    ) -> DocumentSegment:
        """Build a segment.

        Args:
            documents: Text by document ID, at least one.
            analyser: How texts become terms.
            vectors: Vector by digest of the text, shape (dim,) each; None for no vectors.
        """
        ids = sorted(documents)
        texts = [documents[doc_id] for doc_id in ids]
        digests = [digest(text) for text in texts]
        stacked = (
            None
            if vectors is None
            else np.stack([vectors[d] for d in digests]).astype(np.float32, copy=False)
        )
        return cls._of(
            StringTable.of(ids),
            StringTable.of(texts),
            np.frombuffer(b"".join(digests), np.uint8).reshape(-1, DIGEST_BYTES),
            Postings.build(texts, analyser),
            stacked,
        )

    @classmethod
    def merge(cls, parts: Sequence[tuple[DocumentSegment, Mask]]) -> DocumentSegment:
        """Join the live rows of segments into one, the same as if built from their documents.

        Args:
            parts: Segments with their live rows; no ID is live twice, and one row at least is live.
        """
        found = [
            (doc_id, part, row)
            for part, (segment, live) in enumerate(parts)
            for row, doc_id in enumerate(segment.ids)
            if live[row]
        ]
        found.sort()
        where = np.array([(part, row) for _, part, row in found], np.int64)
        new = [np.full(len(segment), -1, np.int64) for segment, _ in parts]
        texts: list[str] = [""] * len(found)
        digests = np.empty((len(found), DIGEST_BYTES), np.uint8)
        first = parts[0][0].vectors
        vectors = None if first is None else np.empty((len(found), first.shape[1]), np.float32)
        for part, (segment, _) in enumerate(parts):
            here = np.flatnonzero(where[:, 0] == part)
            rows = where[here, 1]
            new[part][rows] = here
            digests[here] = segment.digests[rows]
            if vectors is not None and segment.vectors is not None:
                vectors[here] = segment.vectors[rows]
            for at, row in zip(here.tolist(), rows.tolist(), strict=True):
                texts[at] = segment.texts[row]
        postings = [(segment.postings, moved) for (segment, _), moved in zip(parts, new, strict=True)]
        return cls._of(
            StringTable.of([doc_id for doc_id, _, _ in found]),
            StringTable.of(texts),
            digests,
            Postings.merge(postings, len(found)),
            vectors,
        )

    def arrays(self) -> Arrays:
        """Return everything that a segment is, to be written to a file."""
        return self._arrays


def vectors_in(
    segments: Sequence[DocumentSegment], digests: Collection[bytes]
) -> dict[bytes, npt.NDArray[np.float32]]:
    """Return the vectors that segments have of some texts, whatever the ID, deleted or not.

    Args:
        segments: The segments.
        digests: Digests of the texts.
    """
    # Half of each digest finds the rows in one vectorised pass, the whole of it decides.
    asked = np.frombuffer(b"".join(digests), np.uint64)[::2]
    found: dict[bytes, npt.NDArray[np.float32]] = {}
    for segment in segments if len(asked) else ():
        if segment.vectors is not None and len(segment):
            stored = np.ascontiguousarray(segment.digests).view(np.uint64)[:, 0]
            rows = np.flatnonzero(np.isin(stored, asked))
            keys = map(bytes, segment.digests[rows])
            found.update(zip(keys, segment.vectors[rows], strict=True))
    return {key: found[key] for key in digests if key in found}
