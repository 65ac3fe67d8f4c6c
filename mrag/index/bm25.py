"""BM25 over term impacts: exact under additions and deletions, and quick with numpy alone.

Only term frequencies are kept; what a term adds to the score of each document is worked out when it is first
asked for, then cached, so that a change costs no pass over the index. Each of these impacts is a binary32
number and a multiple of 2^-40, so that sums are exact in whatever order.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from mrag.errors import ConfigError, check_choice
from mrag.index.rows import Mask, Ranking, Rows, StringTable, best, contenders, distinct
from mrag.language.analysis import DEFAULT, Analyser, resolve_name
from mrag.language.tokens import STOP_WORDS
from mrag.storage.arrays import LazyArray

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array

Idf: TypeAlias = Literal["lucene", "plain"]


@dataclass(frozen=True)
class Bm25Params:
    """The knobs of BM25.

    Raises:
        ConfigError: If a knob is outside of its range.

    Example:
        >>> Bm25Params(b=2)
        Traceback (most recent call last):
        mrag.errors.ConfigError: BM25 cannot use b=2. b lies between 0 and 1; 0.75 is usual.
    """

    k1: float = 1.2  # How slowly repetition of a term saturates, 0 or more
    b: float = 0.75  # How much long documents are held back, from 0 (not) to 1 (fully)
    fold_accents: bool = True  # Take `é` for `e`
    analyser: str = DEFAULT  # How words are stemmed, see `mrag.language.analysis`
    # How rare terms are weighed: `lucene` as in `Bm25Index`, or `plain`, ln(N / df), under which a term that
    # every document has finds nothing
    idf: Idf = "lucene"
    min_chars: int = 1  # Shortest token that is indexed, in characters
    stop_words: bool = True  # Pass over the English function words of a query that has other words

    def __post_init__(self) -> None:
        check_choice("idf", self.idf, get_args(Idf))
        if not (math.isfinite(self.k1) and self.k1 >= 0):
            raise ConfigError(f"BM25 cannot use k1={self.k1}.", hint="k1 is 0 or more; 1.2 is usual.")
        if not 0 <= self.b <= 1:
            raise ConfigError(f"BM25 cannot use b={self.b}.", hint="b lies between 0 and 1; 0.75 is usual.")
        object.__setattr__(self, "analyser", resolve_name(self.analyser))

    @property
    def analysis(self) -> Analyser:
        """How texts and queries become terms."""
        return Analyser(fold_accents=self.fold_accents, name=self.analyser, min_chars=self.min_chars)


THESIS: Final = Bm25Params(
    k1=1.6, b=0.75, fold_accents=False, analyser="none", idf="plain", min_chars=2, stop_words=False
)
"""BM25 as in the thesis that this package builds on: ln(N / df), words of two letters or more as they are."""


_PIECE: Final = re.compile(r"[^\n,;]+")
"""What no token crosses: these three part words in every script, before and after normalisation."""


@dataclass(frozen=True)
class Postings:
    """The term frequencies of one segment, by term (compressed columns). Never changed once built."""

    terms: StringTable
    starts: npt.NDArray[np.int64]
    rows: LazyArray
    counts: LazyArray
    lengths: npt.NDArray[np.int32]

    @classmethod
    def build(cls, texts: Sequence[str], analyser: Analyser) -> Postings:
        """Count the terms of texts."""
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
        counts = _count(made_of, len(pieces)) @ _count(cut, len(vocabulary))
        return cls._of_matrix(csr_array(counts @ _count(of_token, len(names))).tocsc(), names)

    @classmethod
    def merge(cls, parts: Sequence[tuple[Postings, npt.NDArray[np.int64]]], rows: int) -> Postings:
        """Join segments, giving the same postings as building from the texts that remain."""
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


def _count(lists: Sequence[Sequence[int]], columns: int) -> csr_array[Any]:
    """Count numbers, one row per list."""
    from scipy.sparse import csr_array

    ends = np.cumsum([0, *map(len, lists)], dtype=np.int64)
    numbers = np.fromiter(chain.from_iterable(lists), np.int32, int(ends[-1]))
    counts = csr_array((np.ones(len(numbers), np.int32), numbers, ends), shape=(len(lists), columns))
    counts.sum_duplicates()
    return counts


_GRAIN: Final = 2.0**40
_CACHED_BYTES: Final = 64 << 20
_FREQUENT: Final = 8  # A term that one of this many rows has is kept as a whole column
_SMALL = 100_000  # Rows up to which scoring all of them is as quick as choosing
_KEPT_DFS: Final = 100_000
_KEPT_PLACES: Final = 10_000
_TAILS, _TAIL = 64, 1024
"""How many rankings by frequent terms alone are kept, and how long they are."""
_AHEAD: Final = 4
"""How many rows for each that is wanted are scored by all terms first, to leave out more of the others."""
_SLACK: Final = 1 + 2.0**-20  # What rounding may add to an impact


_Place: TypeAlias = tuple[int, npt.NDArray[np.int32], npt.NDArray[np.int32]]


@dataclass(frozen=True)
class _Term:
    rows: npt.NDArray[np.int32]
    impacts: npt.NDArray[np.float32]
    whole: npt.NDArray[np.float32] | None = None
    """The impacts of all rows, for a term that many have; the two others are empty then."""

    def times(self, count: int) -> npt.NDArray[np.float64]:
        """Return the impacts, each so many times: exact only in more bits than they are kept in."""
        return np.multiply(self.impacts, count, dtype=np.float64)

    @property
    def nbytes(self) -> int:
        return self.rows.nbytes + self.impacts.nbytes + (0 if self.whole is None else self.whole.nbytes)


class Impacts:
    """The impacts of the terms of some rows."""

    def __init__(self, rows: Rows, postings: Sequence[Postings], params: Bm25Params) -> None:
        self.rows, self.postings, self.params = rows, postings, params
        self.tails: dict[tuple[tuple[str, int], ...], Ranking] = {}
        self._dfs: dict[str, int] = {}
        self._tops: dict[str, float] = {}
        self._found: dict[str, list[_Place]] = {}
        self._cache: dict[str, _Term] = {}
        self._cached = 0

    def df(self, name: str) -> int:
        """Return how many rows have a term."""
        if (known := self._dfs.get(name)) is not None:
            return known
        if self.rows.whole:
            count = sum(len(rows) for _, rows, _ in self._places(name))
        else:
            count = sum(int(self.rows.live[rows + base].sum()) for base, rows, _ in self._places(name))
        if len(self._dfs) >= _KEPT_DFS:
            self._dfs = {}
        self._dfs[name] = count
        return count

    def idf(self, name: str) -> float:
        """Return how much a term weighs that some rows have."""
        df = self.df(name)
        if self.params.idf == "plain":
            return math.log(self.rows.count / df)
        return math.log(1 + (self.rows.count - df + 0.5) / (df + 0.5))

    def top(self, name: str) -> float:
        """Return the largest impact of a term that some rows have."""
        if (known := self._tops.get(name)) is None:
            idf = self.idf(name)
            parts = [self._impacts(idf, rows + base, counts) for base, rows, counts in self._places(name)]
            if len(self._tops) >= _KEPT_DFS:
                self._tops = {}
            self._tops[name] = known = max((float(part.max()) for part in parts if len(part)), default=0.0)
        return known

    def norm(self, lengths: npt.NDArray[np.int32]) -> npt.NDArray[np.float64]:
        """Return how much documents of some lengths are held back."""
        relative = lengths / self._mean_length if self._mean_length else np.zeros(len(lengths))
        return self.params.k1 * (1 - self.params.b + self.params.b * relative)

    def counts(self, name: str, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
        """Return for live rows, ascending, how often they have a term."""
        counts = np.zeros(len(rows), np.int32)
        for base, its, count in self._places(name):
            first, last = np.searchsorted(rows, (base, base + int(its[-1]) + 1))
            if first < last:
                # Of another type, all postings would be converted.
                sought = (rows[first:last] - base).astype(np.int32)
                place = np.searchsorted(its, sought)
                counts[first:last] = np.where(its[place] == sought, count[place], 0)
        return counts

    def at(self, name: str, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return the impacts of a term at live rows, ascending."""
        counts, impacts = self.counts(name, rows), np.zeros(len(rows))
        if len(has := np.flatnonzero(counts)):
            impacts[has] = self._impacts(self.idf(name), rows[has], counts[has])
        return impacts

    def term(self, name: str) -> _Term:
        """Return the impacts of a term."""
        known = self._cache.get(name)
        if known is not None:
            return known
        df = self.df(name)
        idf = self.idf(name) if df else 0.0
        if df * _FREQUENT > self.rows.total:
            whole = np.zeros(self.rows.total, np.float32)
            for base, rows, counts in self._places(name):
                whole[base:][rows] = self._impacts(idf, rows + base, counts)
            whole[~self.rows.live] = 0
            term = _Term(np.empty(0, np.int32), np.empty(0, np.float32), whole)
        else:
            parts = [(rows + np.int32(base), counts) for base, rows, counts in self._places(name)]
            row = np.concatenate([np.empty(0, np.int32), *(rows for rows, _ in parts)])
            count = np.concatenate([np.empty(0, np.int32), *(counts for _, counts in parts)])
            if not self.rows.whole:
                live = self.rows.live[row]
                row, count = row[live], count[live]
            term = _Term(row, self._impacts(idf, row, count).astype(np.float32))
        # Emptied rather than trimmed: a term comes back for the price of one pass over its postings.
        if self._cached + term.nbytes > _CACHED_BYTES:
            self._cache, self._cached = {}, 0
        self._cached += term.nbytes
        self._cache[name] = term
        return term

    def sums(self, terms: Mapping[str, int]) -> npt.NDArray[np.float64]:
        """Return the scores of all rows for terms, each so many times."""
        rows: list[npt.NDArray[np.int32]] = [np.empty(0, np.int32)]
        impacts, whole = [np.empty(0)], []
        for name, times in terms.items():
            term = self.term(name)
            if term.whole is not None:
                whole.append((term.whole, times))
            else:
                rows.append(term.rows)
                impacts.append(term.times(times))
        row = np.concatenate(rows)
        sums = np.zeros(self.rows.total)
        if len(row):
            sums = np.bincount(row, np.concatenate(impacts), self.rows.total).astype(np.float64, copy=False)
        for column, times in whole:
            sums += np.multiply(column, times, dtype=np.float64) if times > 1 else column
        return sums

    def pack(self, name: str) -> npt.NDArray[np.uint64]:
        """Return the rows of a rare term with its impacts in the lower half, by which they can be sorted."""
        term = self.term(name)
        keys = term.rows.astype(np.uint64)
        keys <<= np.uint64(32)
        keys |= term.impacts.view(np.uint32)
        return keys

    def _places(self, name: str) -> list[_Place]:
        """Return for each segment that has a term its first row, and the term's rows and counts there."""
        if (known := self._found.get(name)) is not None:
            return known
        places = []
        for postings, base in zip(self.postings, self.rows.bases, strict=False):
            at = postings.terms.find(name)
            if at is not None:
                here = slice(int(postings.starts[at]), int(postings.starts[at + 1]))
                places.append((base, postings.rows[here], postings.counts[here]))
        if len(self._found) >= _KEPT_PLACES:
            self._found = {}
        self._found[name] = places
        return places

    def _impacts(
        self, idf: float, rows: npt.NDArray[np.integer], counts: npt.NDArray[np.int32]
    ) -> npt.NDArray[np.float64]:
        exact = idf * counts / (counts + self.norm(self._lengths[rows]))
        return (np.rint(exact * _GRAIN) / _GRAIN).astype(np.float32).astype(np.float64)

    @cached_property
    def _lengths(self) -> npt.NDArray[np.int32]:
        lengths = [postings.lengths for postings in self.postings]
        return lengths[0] if len(lengths) == 1 else np.concatenate(lengths)

    @cached_property
    def _mean_length(self) -> float:
        lengths = self._lengths if self.rows.whole else self._lengths[self.rows.live]
        return int(lengths.sum(dtype=np.int64)) / self.rows.count


def best_rows(impacts: Impacts, query: Mapping[str, int], k: int, mask: Mask | None) -> Ranking:
    """Rank the rows that have a term of a query."""
    known = {name: times for name, times in query.items() if impacts.df(name)}
    if impacts.rows.total > _SMALL and known:
        ranking = _choose(impacts, known, k, mask)
        if ranking is not None:
            return ranking
    scores = impacts.sums(known).astype(np.float32)
    if mask is not None:
        scores[~mask] = 0
    return _rank(impacts.rows, contenders(scores, k), scores, k)


def _rank(rows: Rows, candidates: npt.NDArray[np.int64], scores: npt.NDArray[np.float32], k: int) -> Ranking:
    candidates = candidates[scores[candidates] > 0]
    return rows.order(candidates, scores[candidates], k)


def _choose(impacts: Impacts, query: Mapping[str, int], k: int, mask: Mask | None) -> Ranking | None:
    """Rank rows that have a rare term of a query and, if they do not suffice, those best by the others."""
    names = sorted(query, key=lambda name: (impacts.df(name), name))
    tops = [query[name] * impacts.top(name) for name in names]
    sizes = np.cumsum([query[name] * impacts.df(name) for name in names])
    rare = int(np.searchsorted(sizes, impacts.rows.total // _FREQUENT, side="right"))
    every, sums = _sum(impacts, [(name, query[name]) for name in names[:rare]])
    rest = {name: query[name] for name in names[rare:]}
    bound = left = sum(tops[rare:]) * _SLACK
    rows = every
    if mask is not None:
        rows, sums = rows[mask[rows]], sums[mask[rows]]
    least = _least(impacts, rows, sums, k, rest)
    rows, sums = _promising(rows, sums, k, left, least)
    for name, top in zip(rest, tops[rare:], strict=True):
        sums = sums + impacts.at(name, rows) * rest[name]
        left -= top
        rows, sums = _promising(rows, sums, k, left, least)
    scores = sums.astype(np.float32)
    enough = len(rows) >= k and np.partition(scores, len(scores) - k)[len(scores) - k] > np.float32(bound)
    if rest and not enough:
        if mask is not None:
            return None
        outside, more, whole = _others(impacts, rest, every)
        if not whole and len(outside) < k:
            return None
        rows, scores = np.concatenate([rows, outside[:k]]), np.concatenate([scores, more[:k]])
    order = np.argsort(rows)
    rows, scores = rows[order], scores[order]
    return impacts.rows.order(rows[scores > 0], scores[scores > 0], k)


def _least(
    impacts: Impacts,
    rows: npt.NDArray[np.int64],
    sums: npt.NDArray[np.float64],
    k: int,
    rest: Mapping[str, int],
) -> float:
    """Return a score that at least k rows reach, if there are so many: the best so far by all terms."""
    if not rest or len(rows) <= _AHEAD * k:
        return 0.0
    ahead = np.flatnonzero(sums >= best(sums, 2 * k))[: _AHEAD * k]
    scores = sums[ahead]
    for name, times in rest.items():
        scores = scores + impacts.at(name, rows[ahead]) * times
    return best(scores, k) if len(scores) >= k else 0.0


def _promising(
    rows: npt.NDArray[np.int64], sums: npt.NDArray[np.float64], k: int, left: float, least: float
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return the rows that may be among the best k if none gains more than is left."""
    if len(rows) > k:
        # Slightly less, for the binary32 numbers of scores round.
        near = np.flatnonzero(sums >= max(best(sums, k), least) / _SLACK - left * _SLACK)
        rows, sums = rows[near], sums[near]
    return rows, sums


def _sum(
    impacts: Impacts, terms: Sequence[tuple[str, int]]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return the rows that have one of some rare terms, ascending, and their scores by these."""
    keys = [impacts.pack(name) for name, times in terms for _ in range(times)]
    if not keys:
        return np.empty(0, np.int64), np.empty(0)
    # Sorting reads memory in order; to add to an array of all rows misses the cache at nearly each.
    every = np.concatenate(keys)
    every.sort()
    parts = every.astype(np.uint32).view(np.float32).astype(np.float64)
    every >>= np.uint64(32)
    rows = every.view(np.int64)
    first = np.flatnonzero(np.concatenate([[True], rows[1:] != rows[:-1]]))
    return rows[first], np.add.reduceat(parts, first)


def _others(
    impacts: Impacts, terms: Mapping[str, int], known: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32], bool]:
    """Return the rows best by frequent terms that are not among known ones, and whether these are all."""
    key = tuple(sorted(terms.items()))
    tail = impacts.tails.get(key)
    if tail is None:
        scores = impacts.sums(terms).astype(np.float32)
        tail = _rank(impacts.rows, contenders(scores, _TAIL), scores, _TAIL)
        if len(impacts.tails) >= _TAILS:
            impacts.tails = {}
        impacts.tails[key] = tail
    rows, scores = tail
    new = np.ones(len(rows), np.bool_)
    if len(known):
        new = known[np.minimum(np.searchsorted(known, rows), len(known) - 1)] != rows
    return rows[new], scores[new], len(rows) < _TAIL


class Bm25Index:
    """BM25 with the formula of Lucene, over one or more segments of postings.

    The score of a document is the sum over the query's terms, repeated ones counted again, of
    `ln(1 + (N - df + 0.5) / (df + 0.5)) * tf / (tf + k1 * (1 - b + b * length / mean length))`
    (Robertson and Zaragoza, 2009, The Probabilistic Relevance Framework: BM25 and Beyond; the idf
    as in Kamphuis et al., 2020, Which BM25 Do You Mean?, row "Lucene"). N, df and the mean length
    count live documents only. English function words of a query are passed over if it has others.

    `add` and `delete` give a new index that shares the segments. Its scores equal those of an index built
    anew, to the bit.

    Example:
        >>> index = Bm25Index.of([("ex:1", "a red leather shoe"), ("ex:2", "a blue coat")])
        >>> rows, scores = index.search("red shoes", 10)
        >>> [index.rows.id_of(row) for row in rows], [round(float(s), 3) for s in scores]
        (['ex:1'], [0.595])
    """

    def __init__(self, params: Bm25Params, rows: Rows, postings: Sequence[Postings]) -> None:
        self.params = params
        self.rows = rows
        self.postings = tuple(postings)
        self._impacts = Impacts(rows, self.postings, params)

    @classmethod
    def of(cls, documents: Iterable[tuple[str, str]], params: Bm25Params | None = None) -> Bm25Index:
        """Index documents."""
        return cls(params or Bm25Params(), Rows([]), ()).add(documents)

    def add(self, documents: Iterable[tuple[str, str]]) -> Bm25Index:
        """Return the index with documents added; those whose ID is known are replaced."""
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

    def count_terms(self, text: str) -> Mapping[str, int]:
        """Return the terms of a query, each with how often it occurs."""
        terms = self.params.analysis.terms
        counts: dict[str, int] = {}
        for token in self.words(text):
            for term in terms(token):
                counts[term] = counts.get(term, 0) + 1
        return counts

    def search(self, text: str, k: int, mask: Mask | None = None) -> Ranking:
        """Rank documents by a text: rows (int64) and scores (float32, above 0), best first, ties by ID.

        `mask` is True for the rows that may be found, shape (rows.total,). There is no query syntax.
        """
        query = self.count_terms(text) if self.rows.count else {}
        if k < 1 or not query:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        return best_rows(self._impacts, query, k, mask)

    def score_of(self, text: str, document: str) -> float:
        """Return the score of a document that is not there, by the statistics of those that are."""
        analysis = self.params.analysis
        terms = [term for token in analysis.tokens(document) for term in analysis.terms(token)]
        [norm] = self._impacts.norm(np.array([len(terms)], np.int32))
        parts = []
        for name, times in self.count_terms(text).items():
            if (count := terms.count(name)) and self._impacts.df(name):
                parts.append(times * self._impacts.idf(name) * count / (count + float(norm)))
        return math.fsum(parts)

    def explain(self, text: str, doc_id: str) -> list[tuple[str, float]]:
        """Return what each term of a query adds to the score of a document."""
        row = self.rows.row_of(doc_id)
        if row is None:
            return []
        parts: list[tuple[str, float]] = []
        for name, times in self.count_terms(text).items():
            at = np.array([row])
            if self._impacts.counts(name, at)[0]:
                [impact] = self._impacts.at(name, at)
                parts.append((name, float(impact) * times))
        return sorted(parts, key=lambda part: (-part[1], part[0]))

    def matching(self, text: str, rows: npt.NDArray[np.int64]) -> list[tuple[str, ...]]:
        """Return which words of a query each row contains."""
        terms: list[list[str]] = [[] for _ in rows]
        shown: dict[str, str] = {}
        for token in self.words(text):
            for name, word in self.params.analysis.shown(token):
                shown.setdefault(name, word)
        order = np.argsort(rows)
        ascending = rows[order]
        for name, word in shown.items() if self.rows.count else ():
            for i in order[self._impacts.counts(name, ascending) > 0].tolist():
                if word not in terms[i]:
                    terms[i].append(word)
        return [tuple(words) for words in terms]
