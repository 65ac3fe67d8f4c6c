"""BM25 over term impacts: exact under additions and deletions, and quick with numpy alone."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from mrag.errors import ConfigError
from mrag.index.segments.postings import Postings
from mrag.index.segments.rows import Mask, Ranking, Rows, StringTable, contenders, distinct
from mrag.text.analysis import Analyser
from mrag.text.stemming import DEFAULT, checked
from mrag.text.stopwords import STOP_WORDS

__all__ = ["THESIS", "Bm25Index", "Bm25Params", "Idf"]

Idf: TypeAlias = Literal["lucene", "plain"]

_GRAIN: Final = 2.0**40
"""Impacts are multiples of 1/2^40: binary64 then adds them without rounding, in whatever order."""

_CACHED_POSTINGS: Final = 4_000_000
_FREQUENT: Final = 8
"""A term that one of this many rows has is kept as a whole column too."""


@dataclass(frozen=True)
class Bm25Params:
    """The knobs of BM25.

    Args:
        k1: How slowly repetition of a term saturates, 0 or more.
        b: How much long documents are held back, from 0 (not) to 1 (fully).
        fold_accents: Take `é` for `e`.
        analyser: How words are stemmed, see `mrag.text.stemming`.
        idf: How rare terms are weighed: `lucene` as in `Bm25Index`, or `plain`, ln(N / df), under which
            a term that every document has finds nothing.
        min_chars: Shortest token that is indexed, in characters.
        stop_words: Pass over the English function words of a query that has other words.

    Raises:
        ConfigError: If a knob is outside of its range.

    Example:
        >>> Bm25Params(b=2)
        Traceback (most recent call last):
        mrag.errors.ConfigError: BM25 cannot use b=2. b lies between 0 and 1; 0.75 is usual.
    """

    k1: float = 1.2
    b: float = 0.75
    fold_accents: bool = True
    analyser: str = DEFAULT
    idf: Idf = "lucene"
    min_chars: int = 1
    stop_words: bool = True

    def __post_init__(self) -> None:
        if self.idf not in get_args(Idf):
            raise ConfigError(f"BM25 knows no idf {self.idf!r}.", hint=f"Known: {', '.join(get_args(Idf))}.")
        if not (math.isfinite(self.k1) and self.k1 >= 0):
            raise ConfigError(f"BM25 cannot use k1={self.k1}.", hint="k1 is 0 or more; 1.2 is usual.")
        if not 0 <= self.b <= 1:
            raise ConfigError(f"BM25 cannot use b={self.b}.", hint="b lies between 0 and 1; 0.75 is usual.")
        object.__setattr__(self, "analyser", checked(self.analyser))

    @property
    def analysis(self) -> Analyser:
        """How texts and queries become terms."""
        return Analyser(fold_accents=self.fold_accents, name=self.analyser, min_chars=self.min_chars)


THESIS: Final = Bm25Params(
    k1=1.6, b=0.75, fold_accents=False, analyser="none", idf="plain", min_chars=2, stop_words=False
)
"""BM25 as in the thesis that this package builds on: ln(N / df), words of two letters or more as they are."""


@dataclass(frozen=True)
class _Term:
    rows: npt.NDArray[np.int64]
    impacts: npt.NDArray[np.float64]
    whole: npt.NDArray[np.float64] | None = None
    """The impacts of all rows, for a term that many have: adding these is quicker than placing those."""


class Bm25Index:
    """BM25 with the formula of Lucene, over one or more segments of postings.

    The score of a document is the sum over the query's terms, repeated ones counted again, of
    `ln(1 + (N - df + 0.5) / (df + 0.5)) * tf / (tf + k1 * (1 - b + b * length / mean length))`
    (Robertson and Zaragoza, 2009, The Probabilistic Relevance Framework: BM25 and Beyond; the idf
    as in Kamphuis et al., 2020, Which BM25 Do You Mean?, row "Lucene"). N, df and the mean length
    count live documents only. English function words of a query are passed over if it has others. The
    knobs of `Bm25Params` change what of this is used.

    An index is never changed: `add` and `delete` give a new one that shares the segments. Only term
    frequencies are kept; the impacts of a term are worked out when it is first asked for, then
    cached, so that a change costs no pass over the index. Each impact is a binary32 number and a
    multiple of 2^-40, so sums are exact: scores equal those of an index built anew, to the bit.

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
        self._cache: dict[str, _Term] = {}
        self._cached = 0

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

    @cached_property
    def _lengths(self) -> npt.NDArray[np.int32]:
        return np.concatenate([p.lengths for p in self.postings])

    @cached_property
    def _mean_length(self) -> float:
        return int(self._lengths[self.rows.live].sum(dtype=np.int64)) / self.rows.count

    def _norm(self, lengths: npt.NDArray[np.int32]) -> npt.NDArray[np.float64]:
        relative = lengths / self._mean_length if self._mean_length else np.zeros(len(lengths))
        return self.params.k1 * (1 - self.params.b + self.params.b * relative)

    @cached_property
    def _norms(self) -> npt.NDArray[np.float64]:
        return self._norm(self._lengths)

    def _idf(self, df: int) -> float:
        if self.params.idf == "plain":
            return math.log(self.rows.count / df)
        return math.log(1 + (self.rows.count - df + 0.5) / (df + 0.5))

    def _column(
        self, rows: npt.NDArray[np.int64], impacts: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]:
        # Of nothing at all numpy counts in whole numbers.
        return np.bincount(rows, impacts, self.rows.total).astype(np.float64, copy=False)

    def _term(self, name: str) -> _Term:
        known = self._cache.get(name)
        if known is not None:
            return known
        rows = [np.empty(0, np.int64)]
        counts = [np.empty(0, np.int32)]
        for postings, base in zip(self.postings, self.rows.bases, strict=False):
            at = postings.terms.find(name)
            if at is not None:
                here = slice(int(postings.starts[at]), int(postings.starts[at + 1]))
                rows.append(postings.rows[here].astype(np.int64) + base)
                counts.append(postings.counts[here])
        row, count = np.concatenate(rows), np.concatenate(counts)
        if not self.rows.whole:
            live = self.rows.live[row]
            row, count = row[live], count[live]
        impacts = np.empty(0)
        if len(row):
            exact = self._idf(len(row)) * count / (count + self._norms[row])
            impacts = (np.rint(exact * _GRAIN) / _GRAIN).astype(np.float32).astype(np.float64)
        # Emptied rather than trimmed: a term comes back for the price of one pass over its postings.
        whole = self._column(row, impacts) if len(row) * _FREQUENT > self.rows.total else None
        size = len(row) + (0 if whole is None else len(whole))
        if self._cached + size > _CACHED_POSTINGS:
            self._cache, self._cached = {}, 0
        self._cached += size
        self._cache[name] = term = _Term(row, impacts, whole)
        return term

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
        rows, impacts, whole = [], [], []
        for name, times in query.items():
            term = self._term(name)
            if term.whole is not None:
                whole.append(term.whole * times if times > 1 else term.whole)
            elif len(term.rows):
                rows.append(term.rows)
                impacts.append(term.impacts * times if times > 1 else term.impacts)
        if k < 1 or not (rows or whole):
            return np.empty(0, np.int64), np.empty(0, np.float32)
        if rows:
            sums = self._column(np.concatenate(rows), np.concatenate(impacts))
        else:
            sums = np.zeros(self.rows.total)
        for column in whole:
            sums += column
        scores = sums.astype(np.float32)
        if mask is not None:
            scores[~mask] = 0
        found = contenders(scores, k)
        found = found[scores[found] > 0]
        return self.rows.order(found, scores[found], k)

    def score_of(self, text: str, document: str) -> float:
        """Return the score for a query of a document that is not there, by the statistics of those that are.

        Example:
            >>> index = Bm25Index.of([("ex:1", "a red leather shoe"), ("ex:2", "a blue coat")])
            >>> round(index.score_of("red shoes", "a red leather shoe"), 3)
            0.595
        """
        analysis = self.params.analysis
        terms = [term for token in analysis.tokens(document) for term in analysis.terms(token)]
        [norm] = self._norm(np.array([len(terms)], np.int32))
        parts = []
        for name, times in self.counted(text).items():
            if (count := terms.count(name)) and (df := len(self._term(name).rows)):
                parts.append(times * self._idf(df) * count / (count + float(norm)))
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
            term = self._term(name)
            at = int(np.searchsorted(term.rows, row))
            if at < len(term.rows) and term.rows[at] == row:
                parts.append((name, float(term.impacts[at]) * times))
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
        for name, word in shown.items() if self.rows.count else ():
            term = self._term(name)
            if len(term.rows):
                at = np.minimum(np.searchsorted(term.rows, rows), len(term.rows) - 1)
                for i in np.flatnonzero(term.rows[at] == rows):
                    if word not in found[i]:
                        found[i].append(word)
        return [tuple(words) for words in found]
