"""Term frequencies of one segment, built from texts in one sparse product."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from mrag.index.segments.rows import StringTable
from mrag.storage.arrays import LazyArray
from mrag.text.analysis import Analyser

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array

__all__ = ["Postings"]

_PIECE: Final = re.compile(r"[^\n,;]+")
"""What no token crosses: these three part words in every script, before and after normalisation."""


@dataclass(frozen=True)
class Postings:
    """The term frequencies of one segment, by term (compressed columns). Never changed once built.

    Args:
        terms: The terms, sorted.
        starts: Where the postings of each term begin and the last end, int64, shape (terms + 1,).
        rows: Ascending rows of each term, int32, shape (postings,).
        counts: How often the term occurs in the row, int32, shape (postings,).
        lengths: Number of terms of each row, int32, shape (rows,).

    Example:
        >>> postings = Postings.build(["red shoes, red laces", "a shoe"], Analyser(name="plural"))
        >>> list(postings.terms), postings.counts.tolist(), postings.lengths.tolist()
        (['a', 'lace', 'red', 'shoe'], [1, 1, 2, 1, 1], [4, 2])
    """

    terms: StringTable
    starts: npt.NDArray[np.int64]
    rows: LazyArray
    counts: LazyArray
    lengths: npt.NDArray[np.int32]

    @classmethod
    def build(cls, texts: Sequence[str], analyser: Analyser) -> Postings:
        """Count the terms of texts.

        Args:
            texts: One text per row.
            analyser: How a text becomes terms.
        """
        # Documents of a graph are made of few distinct pieces (a label, an attribute, a sentence about a
        # kind of thing), so each piece is cut into tokens once, and each token into terms once. Sparse
        # products then give what counting every word of every document would give.
        from scipy.sparse import csr_array

        pieces: defaultdict[str, int] = defaultdict()
        pieces.default_factory = pieces.__len__
        made_of = [list(map(pieces.__getitem__, _PIECE.findall(text))) for text in texts]
        vocabulary: defaultdict[str, int] = defaultdict()
        vocabulary.default_factory = vocabulary.__len__
        cut = [list(map(vocabulary.__getitem__, analyser.tokens(piece))) for piece in pieces]
        expanded = [analyser.terms(token) for token in vocabulary]
        names = sorted({term for terms in expanded for term in terms})
        number = {term: i for i, term in enumerate(names)}
        of_token = [[number[term] for term in terms] for terms in expanded]
        counts = _counted(made_of, len(pieces)) @ _counted(cut, len(vocabulary))
        return cls._of_matrix(csr_array(counts @ _counted(of_token, len(names))).tocsc(), names)

    @classmethod
    def merge(cls, parts: Sequence[tuple[Postings, npt.NDArray[np.int64]]], rows: int) -> Postings:
        """Join segments, giving the same postings as building from the texts that remain.

        Args:
            parts: Each segment with the new number of every one of its rows, -1 for those that go.
            rows: Number of rows of the result.
        """
        from scipy.sparse import coo_array

        names = sorted(set().union(*(set(part.terms) for part, _ in parts)))
        number = {term: i for i, term in enumerate(names)}
        new_rows, new_terms, counts = [], [], []
        for part, renumbered in parts:
            of_term = np.array([number[term] for term in part.terms], np.int64)
            row = renumbered[np.asarray(part.rows)]
            keep = row >= 0
            new_rows.append(row[keep])
            new_terms.append(np.repeat(of_term, np.diff(part.starts))[keep])
            counts.append(np.asarray(part.counts)[keep])
        triples = (np.concatenate(counts), (np.concatenate(new_rows), np.concatenate(new_terms)))
        matrix = coo_array(triples, shape=(rows, len(names))).tocsc()
        used = np.diff(matrix.indptr) > 0
        return cls._of_matrix(matrix[:, used], [name for name, u in zip(names, used, strict=True) if u])

    @classmethod
    def _of_matrix(cls, columns: csc_array[Any], names: Sequence[str]) -> Postings:
        columns.sort_indices()
        return cls(
            terms=StringTable.of(names),
            starts=columns.indptr.astype(np.int64),
            rows=columns.indices.astype(np.int32),
            counts=columns.data.astype(np.int32),
            lengths=np.asarray(columns.sum(axis=1), np.int32),
        )


def _counted(lists: Sequence[Sequence[int]], columns: int) -> csr_array[Any]:
    """Count numbers, one row per list."""
    from scipy.sparse import csr_array

    ends = np.cumsum([0, *map(len, lists)], dtype=np.int64)
    numbers = np.fromiter(chain.from_iterable(lists), np.int32, int(ends[-1]))
    counts = csr_array((np.ones(len(numbers), np.int32), numbers, ends), shape=(len(lists), columns))
    counts.sum_duplicates()
    return counts
