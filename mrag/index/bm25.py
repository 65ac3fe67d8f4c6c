"""BM25 over term impacts: exact under additions and deletions, and quick with numpy alone."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from mrag.index.segments.bm25_params import THESIS, Bm25Params, Idf
from mrag.index.segments.impacts import Impacts, best_rows
from mrag.index.segments.postings import Postings
from mrag.index.segments.rows import Mask, Ranking, Rows, StringTable, distinct
from mrag.text.tokens import STOP_WORDS

__all__ = ["THESIS", "Bm25Index", "Bm25Params", "Idf"]


class Bm25Index:
    """BM25 with the formula of Lucene, over one or more segments of postings.

    The score of a document is the sum over the query's terms, repeated ones counted again, of
    `ln(1 + (N - df + 0.5) / (df + 0.5)) * tf / (tf + k1 * (1 - b + b * length / mean length))`
    (Robertson and Zaragoza, 2009, The Probabilistic Relevance Framework: BM25 and Beyond; the idf
    as in Kamphuis et al., 2020, Which BM25 Do You Mean?, row "Lucene"). N, df and the mean length
    count live documents only. English function words of a query are passed over if it has others. The
    knobs of `Bm25Params` change what of this is used.

    An index is never changed: `add` and `delete` give a new one that shares the segments. Scores equal those
    of an index built anew, to the bit (see `mrag.index.segments.impacts`).

    Args:
        params: The knobs.
        rows: The documents.
        postings: One per segment of `rows`.

    Example:
        >>> index = Bm25Index.of([("ex:1", "a red leather shoe"), ("ex:2", "a blue coat")])
        >>> rows, scores = index.search("red shoes", 10)
        >>> [index.rows.id_of(row) for row in rows], [round(float(s), 3) for s in scores]
        (['ex:1'], [0.595])
        >>> index.delete(["ex:1"]).search("red shoes", 10)[0].tolist()
        []
    """

    def __init__(self, params: Bm25Params, rows: Rows, postings: Sequence[Postings]) -> None:
        self.params = params
        self.rows = rows
        self.postings = tuple(postings)
        self._impacts = Impacts(rows, self.postings, params)

    @classmethod
    def of(cls, documents: Iterable[tuple[str, str]], params: Bm25Params | None = None) -> Bm25Index:
        """Index documents.

        Args:
            documents: Document IDs with their texts; each ID once.
            params: The knobs; the usual ones if left out.
        """
        return cls(params or Bm25Params(), Rows([]), ()).add(documents)

    def add(self, documents: Iterable[tuple[str, str]]) -> Bm25Index:
        """Return the index with documents added; those whose ID is known are replaced.

        Args:
            documents: Document IDs with their texts.

        Raises:
            IndexError_: If an ID occurs twice.
        """
        new = sorted(documents)
        if not new:
            return self
        names = distinct([doc_id for doc_id, _ in new])
        old = self.rows.without(names)
        live = np.concatenate([old.live, np.ones(len(new), np.bool_)])
        built = Postings.build([text for _, text in new], self.params.analysis)
        return Bm25Index(self.params, Rows([*old.ids, StringTable.of(names)], live), [*self.postings, built])

    def delete(self, ids: Iterable[str]) -> Bm25Index:
        """Return the index without some documents; unknown IDs are passed over."""
        return Bm25Index(self.params, self.rows.without(ids), self.postings)

    def words(self, text: str) -> list[str]:
        """Return the words of a query that count: its function words only if it has no others."""
        tokens = self.params.analysis.tokens(text)
        if not self.params.stop_words:
            return tokens
        # A query's function words would rank by them where documents are short; alone they must do.
        return [token for token in tokens if token not in STOP_WORDS] or tokens

    def counted(self, text: str) -> Mapping[str, int]:
        """Return the terms of a query, each with how often it occurs."""
        terms = self.params.analysis.terms
        counts: dict[str, int] = {}
        for token in self.words(text):
            for term in terms(token):
                counts[term] = counts.get(term, 0) + 1
        return counts

    def search(self, text: str, k: int, mask: Mask | None = None) -> Ranking:
        """Rank the documents that share a term with a text.

        Args:
            text: The query, in words. There is no query syntax.
            k: How many documents at most.
            mask: True for the rows that may be found, shape (rows.total,); all if left out.

        Returns:
            Rows (int64) and scores (float32, above 0), best first, ties by document ID.
        """
        query = self.counted(text) if self.rows.count else {}
        if k < 1 or not query:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        return best_rows(self._impacts, query, k, mask)

    def score_of(self, text: str, document: str) -> float:
        """Return the score for a query of a document that is not there, by the statistics of those that are.

        Example:
            >>> index = Bm25Index.of([("ex:1", "a red leather shoe"), ("ex:2", "a blue coat")])
            >>> round(index.score_of("red shoes", "a red leather shoe"), 3)
            0.595
        """
        analysis = self.params.analysis
        terms = [term for token in analysis.tokens(document) for term in analysis.terms(token)]
        [norm] = self._impacts.norm(np.array([len(terms)], np.int32))
        parts = []
        for name, times in self.counted(text).items():
            if (count := terms.count(name)) and self._impacts.df(name):
                parts.append(times * self._impacts.idf(name) * count / (count + float(norm)))
        return math.fsum(parts)

    def explain(self, text: str, doc_id: str) -> list[tuple[str, float]]:
        """Return what each term of a query adds to the score of a document.

        Args:
            text: The query.
            doc_id: The document.

        Returns:
            Terms with their contributions, largest first, then by term; an analyser with `+words` has `=red`
            for the word as it stands, beside its stem. They sum to the score. Empty if the document is
            unknown or shares no term.

        Example:
            >>> index = Bm25Index.of([("ex:1", "red red shoe"), ("ex:2", "shoe")])
            >>> [(term, round(part, 3)) for term, part in index.explain("red shoes", "ex:1")]
            [('red', 0.38), ('shoe', 0.069)]
        """
        row = self.rows.row_of(doc_id)
        if row is None:
            return []
        parts: list[tuple[str, float]] = []
        for name, times in self.counted(text).items():
            at = np.array([row])
            if self._impacts.counts(name, at)[0]:
                [impact] = self._impacts.at(name, at)
                parts.append((name, float(impact) * times))
        return sorted(parts, key=lambda part: (-part[1], part[0]))

    def matching(self, text: str, rows: npt.NDArray[np.int64]) -> list[tuple[str, ...]]:
        """Return which words of a query each row contains.

        Args:
            text: The query.
            rows: Row numbers.

        Returns:
            For each row the query's words as normalised, unstemmed, in their order; for unspaced
            scripts the bigrams found.
        """
        found: list[list[str]] = [[] for _ in rows]
        shown: dict[str, str] = {}
        for token in self.words(text):
            for name, word in self.params.analysis.shown(token):
                shown.setdefault(name, word)
        order = np.argsort(rows)
        ascending = rows[order]
        for name, word in shown.items() if self.rows.count else ():
            for i in order[self._impacts.counts(name, ascending) > 0].tolist():
                if word not in found[i]:
                    found[i].append(word)
        return [tuple(words) for words in found]
