"""Term frequencies of one segment, built from texts in one sparse product."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mrag.index.rows import StringTable
from mrag.index.text import Analyser

if TYPE_CHECKING:
    from scipy.sparse import csc_array

__all__ = ["Postings"]


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
        >>> postings = Postings.build(["red shoes, red laces", "a shoe"], Analyser())
        >>> list(postings.terms), postings.counts.tolist(), postings.lengths.tolist()
        (['a', 'lace', 'red', 'shoe'], [1, 1, 2, 1, 1], [4, 2])
    """

    terms: StringTable
    starts: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int32]
    lengths: npt.NDArray[np.int32]

    @classmethod
    def build(cls, texts: Sequence[str], analyser: Analyser) -> Postings:
        """Count the terms of texts.

        Args:
            texts: One text per row.
            analyser: How a text becomes terms.
        """
        # Token counts and the terms of each distinct token meet in one sparse product, so that
        # stemming and bigrams are worked out once per distinct token and never per occurrence.
        from scipy.sparse import csr_array

        vocabulary: defaultdict[str, int] = defaultdict()
        vocabulary.default_factory = vocabulary.__len__
        stream: list[npt.NDArray[np.int32]] = []
        ends = np.zeros(len(texts) + 1, np.int64)
        for row, text in enumerate(texts):
            tokens = analyser.tokens(text)
            stream.append(np.fromiter(map(vocabulary.__getitem__, tokens), np.int32, len(tokens)))
            ends[row + 1] = ends[row] + len(tokens)
        expanded = [analyser.terms(token) for token in vocabulary]
        names = sorted({term for terms in expanded for term in terms})
        number = {term: i for i, term in enumerate(names)}
        tokens_of = np.concatenate([*stream, np.empty(0, np.int32)])
        once = np.ones(len(tokens_of), np.int32)
        in_text = csr_array((once, tokens_of, ends), shape=(len(texts), len(expanded)))
        in_text.sum_duplicates()
        columns = np.array([number[term] for terms in expanded for term in terms], np.int32)
        once, borders = np.ones(len(columns), np.int32), np.cumsum([0, *map(len, expanded)])
        of_token = csr_array((once, columns, borders), shape=(len(expanded), len(names)))
        return cls._of_matrix((in_text @ of_token).tocsc(), names)

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
            row = renumbered[part.rows]
            keep = row >= 0
            new_rows.append(row[keep])
            new_terms.append(np.repeat(of_term, np.diff(part.starts))[keep])
            counts.append(part.counts[keep])
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
