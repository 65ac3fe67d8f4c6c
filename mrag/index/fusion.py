"""Fusion: one ranking out of several, and how much vectors count beside words.

The share of the vectors is learnt from questions that an index makes of its own documents. A known-item
question is a sentence of a document, and its answer the document without that sentence (Azzopardi, de Rijke
and Balog, 2007, Building Simulated Queries for Known-Item Topics, SIGIR); of texts of one sentence, two of
three words ask for the whole. First, how long the texts are decides: a vector holds a short text whole and
blurs a long one. So vectors count for more than half where texts are short, unless the search is a question,
whose words are names more often. Then the share moves up where vectors find more than words, and down where
they find less, but in short texts only if it is far less: there a sentence is a few words that many share.
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from mrag.errors import ConfigError
from mrag.index.embedding import Embedder, unit
from mrag.index.rows import Ranking
from mrag.index.segments import DocumentState, fitting, needed_model
from mrag.language.grammar import asks

T = TypeVar("T", bound=Hashable)

RRF_K: Final = 60  # How little the first ranks stand out; the value of the paper
_SPREAD: Final = 3.0  # Standard deviations around the mean of a ranking that its scores are scaled to
_SCALED: Final = 100  # Of how many of the best scores the mean and the deviation are taken


def candidates(k: int) -> int:
    """Return how many hits each ranker should contribute so that the best k of the fusion settle."""
    return max(100, 10 * k)


def reciprocal_rank_fusion(
    rankings: Sequence[Sequence[T]], *, weights: Sequence[float] | None = None, k: int = RRF_K
) -> list[tuple[T, float]]:
    """Fuse rankings: each gives its item at rank r the score `weight / (k + r)`, counted from 1.

    Scores of different rankers need not be comparable (Cormack, Clarke and Büttcher, 2009,
    Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods, SIGIR). An item that a
    list repeats counts where it is best. Ties are in the order of the items' text.

    Args:
        rankings: Lists of items, best first.
        weights: One number per ranking, 0 or more; all 1 if left out.
        k: The constant of the formula, above -1.

    Raises:
        ConfigError: If `k` or the weights cannot be used, or they are not as many as the rankings.

    Example:
        >>> fused = reciprocal_rank_fusion([["a", "b"], ["b", "c"]])
        >>> [(item, round(score, 4)) for item, score in fused]
        [('b', 0.0325), ('a', 0.0164), ('c', 0.0161)]
    """
    shares = _check(weights, len(rankings))
    if k <= -1:
        raise ConfigError(f"Reciprocal rank fusion cannot use k={k}.", hint="60 is usual.")
    parts: dict[T, list[float]] = {}
    for ranking, share in zip(rankings, shares, strict=True):
        for rank, item in enumerate(dict.fromkeys(ranking), 1):
            parts.setdefault(item, []).append(share / (k + rank))
    return _sum(parts)


def weighted_scores(
    rankings: Sequence[Sequence[tuple[T, float]]], *, weights: Sequence[float] | None = None
) -> list[tuple[T, float]]:
    """Fuse rankings by their scores, scaled so that rankers of different scales can be compared.

    The scores of a ranking are scaled so that the mean of its 100 best becomes one half, and what lies three
    standard deviations above or below becomes 1 or 0 (distribution-based score fusion, as in the Qdrant
    engine). Here they are not cut off at 1, because a hit that stands out by more is what a ranker is surest
    of; and no more than 100 are looked at, so that a longer ranking starts with the same hits.

    Args:
        rankings: Items with their scores, higher is better, no item twice; what a ranking lacks scores 0.
        weights: One number per ranking, 0 or more, and one of them above 0; all 1 if left out.

    Returns:
        Every item with the weighted mean of its scaled scores, best first, ties by the items' text.

    Raises:
        ConfigError: If the weights cannot be used, or are not as many as the rankings.

    Example:
        >>> fused = weighted_scores([[("a", 9.0), ("b", 3.0)], [("b", 0.7), ("c", 0.6)]])
        >>> [(item, round(score, 4)) for item, score in fused]
        [('b', 0.5), ('a', 0.3333), ('c', 0.1667)]
    """
    shares = _check(weights, len(rankings))
    total = math.fsum(shares) or 1.0
    parts: dict[T, list[float]] = {}
    for ranking, share in zip(rankings, shares, strict=True):
        scores = np.array([score for _, score in ranking], np.float64)
        for (item, _), score in zip(ranking, _scale(scores).tolist(), strict=True):
            parts.setdefault(item, []).append(share / total * score)
    return _sum(parts)


def weighted_rows(
    rankings: Sequence[tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]], weights: Sequence[float]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Fuse two rankings of rows as `weighted_scores` does, to the bit."""
    shares = _check(weights, len(rankings))
    total = math.fsum(shares) or 1.0
    rows, places = np.unique(np.concatenate([numbers for numbers, _ in rankings]), return_inverse=True)
    sums, start = np.zeros(len(rows)), 0
    for (numbers, scores), share in zip(rankings, shares, strict=True):
        # Of two parts one addition is the sum that is rounded once.
        sums[places[start : start + len(numbers)]] += share / total * _scale(scores.astype(np.float64))
        start += len(numbers)
    return rows, sums


def _check(weights: Sequence[float] | None, rankings: int) -> list[float]:
    shares = [1.0] * rankings if weights is None else list(weights)
    if len(shares) != rankings or not all(math.isfinite(w) and w >= 0 for w in shares):
        hint = "Give one number of 0 or more for each ranking."
        raise ConfigError(f"Weights {shares} do not fit {rankings} rankings.", hint=hint)
    return shares


def _scale(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    best = np.sort(scores)[-_SCALED:]
    deviation = best.std() if len(best) else 0.0
    # Of equal scores the mean may differ from each by rounding, which no division should magnify.
    if not deviation or best[0] == best[-1]:
        return np.where(scores < best[:1], 0.0, 0.5) if len(best) else scores
    # Nothing that was found scores less than what was not.
    scaled: npt.NDArray[np.float64] = np.maximum(0.5 + (scores - best.mean()) / (2 * _SPREAD * deviation), 0)
    return scaled


def _sum(parts: Mapping[T, Sequence[float]]) -> list[tuple[T, float]]:
    # fsum rounds once, so the sum is the same in whatever order the rankings come.
    scores = {item: math.fsum(part) for item, part in parts.items()}
    return sorted(scores.items(), key=lambda entry: (-entry[1], str(entry[0])))


EVEN: Final = 0.5  # The share of vectors unless something else is shown to be better
_SHORT: Final = (16, 0.7)  # Texts of so many words or fewer, and the share of vectors there
_LONG: Final = 64  # Words from which on a text is long: then the shares are even
_SHARES: Final = tuple(n / 10 for n in range(1, 6))  # What is tried where vectors find far less than words
_MOVED: Final = 3.5  # How much the share moves for vectors that find twice as much as words
_BOUNDS: Final = (0.2, 0.9)  # How far it moves
_QUESTIONS = 100
_LEAST = 50  # Questions below which nothing is learnt
_SCANNED = 2000  # Documents that are looked through for questions
_WORDS = 2  # Words that a question has at least
_FAR = 2.0  # How many times better words must find than vectors, for these to count for less than half
_Scored: TypeAlias = list[tuple[int, float]]
_Found: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？])|\n+")


@dataclass(frozen=True)
class FusionWeight:
    """How vectors and words are fused, and what that rests on."""

    dense: float = EVEN
    questions: int = 0
    fused: float = 0.0
    words: float = 0.0
    vectors: float = 0.0
    documents: int = 0
    changed: int = 0
    length: float = 0

    def of(self, text: str) -> float:
        """Return the share of the vectors for a search: in short texts smaller if it is a question."""
        if not self.questions or self.dense <= EVEN or not asks(text):
            return self.dense
        return round(max(EVEN, self.dense - (usual(self.length) - EVEN)), 2)

    @property
    def due(self) -> bool:
        """Whether nothing was tried yet, or more than a tenth of the documents has changed since."""
        return not self.documents or self.changed * 10 > self.documents

    @classmethod
    def from_json(cls, kept: Mapping[str, Any] | None) -> FusionWeight:
        """Return what `to_json` gave; of nothing, the even shares."""
        return cls(**kept) if kept is not None else cls()

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return asdict(self)

    def __str__(self) -> str:
        shares = f"words {1 - self.dense:.0%}, meaning {self.dense:.0%}"
        if not self.questions:
            return f"{shares} (too few texts to learn from)"
        short = usual(self.length) if self.length else EVEN
        reasons = [f"the texts are short ({self.length:g} words in the median)"] if short > EVEN else []
        if self.dense < EVEN and self.vectors * _FAR < self.words:
            reasons = ["the model finds far less than words"]
        elif self.dense != short:
            reasons.append(f"the model finds {'more' if self.dense > short else 'less'} than words")
        if reasons:
            shares += f", because {' and '.join(reasons)}"
        if self.dense > EVEN and (asked := self.of("?")) < self.dense:
            shares += f"; for questions meaning {asked:.0%}"
        return shares


def learn_weight(state: DocumentState, embedder: Embedder | None) -> FusionWeight:
    """Learn the share of the vectors of an index."""
    asked = _questions(state)
    if len(asked) < _LEAST:
        return FusionWeight(documents=state.rows.count)
    model = needed_model(state.manifest.embedder, embedder)
    rests = model.embed_documents([rest for _, _, rest in asked])
    length = statistics.median(len(state.bm25.words(text)) for _, text in _texts(state))
    ranked = [_rank(state, model, *one, rest) for one, rest in zip(asked, rests, strict=True)]
    words, vectors = _find(ranked, 0.0), _find(ranked, 1.0)
    if vectors.mean() * _FAR < words.mean():
        share = max(_SHARES, key=lambda s: float(_find(ranked, s).mean()))
    else:
        share = _move(usual(length), words, vectors)
    fused, by_words, by_meaning = (
        round(float(ranks.mean()), 4) for ranks in (_find(ranked, share), words, vectors)
    )
    count = state.rows.count
    return FusionWeight(share, len(asked), fused, by_words, by_meaning, count, length=float(length))


def _move(share: float, words: _Found, vectors: _Found) -> float:
    """Return a share moved by what words and vectors find: less, the less sure the difference is."""
    difference = vectors - words
    mean = float(difference.mean())
    if not mean:
        return share
    # What chance may have added is taken off (shrinkage by the estimated variance of the mean).
    mean *= mean**2 / (mean**2 + float(difference.var()) / len(difference))
    by = _MOVED * math.log2((float(words.mean()) + mean) / float(words.mean())) if words.any() else 1.0
    if by < 0:
        by *= (_SHORT[1] - share) / (_SHORT[1] - EVEN)
    low, high = _BOUNDS
    return round(min(high, max(low, share + by)), 2)


def usual(length: float) -> float:
    """Return the share of the vectors for texts of so many words."""
    short, most = _SHORT
    if length <= short:
        return most
    # From short to long it falls with the logarithm.
    way = math.log(length / short) / math.log(_LONG / short)
    return round(max(EVEN, most - way * (most - EVEN)), 2)


def _texts(state: DocumentState) -> Iterator[tuple[int, str]]:
    """Yield rows that are looked through for questions, and their texts."""
    for row in state.sample(_SCANNED):
        segment, at = state.place(row)
        yield row, segment.texts[at]


def _questions(state: DocumentState) -> list[tuple[int, str, str]]:
    """Return rows, a sentence of each, and its text without that sentence."""
    questions: list[tuple[int, str, str]] = []
    whole: list[tuple[int, str, str]] = []
    for row, text in _texts(state):
        parts = [part.strip() for part in _SENTENCE.split(text) if part.strip()]
        distinct = list(dict.fromkeys(part.rstrip(".") for part in parts))
        usable = [part for part in distinct if len(state.bm25.words(part)) >= _WORDS]
        if len(distinct) < 2 or not usable:
            kept = [word for at, word in enumerate(text.split()) if at % 3 != 1]
            if len(kept) >= _WORDS and len(whole) < _QUESTIONS:
                whole.append((row, " ".join(kept), text))
            continue
        segment, at = state.place(row)
        # Which of the sentences is asked is as good as random, and the same each time.
        asked = usable[int.from_bytes(segment.digests[at].tobytes()[-4:], "big") % len(usable)]
        questions.append((row, asked, " ".join(part for part in parts if part.rstrip(".") != asked)))
        if len(questions) == _QUESTIONS:
            break
    return questions if len(questions) >= _LEAST else [*questions, *whole][:_QUESTIONS]


def _rank(
    state: DocumentState,
    model: Embedder,
    row: int,
    text: str,
    rest: str,
    vector: np.ndarray[Any, np.dtype[np.float32]],
) -> tuple[int, _Scored, _Scored]:
    """Return a row and the rankings by words and by vectors in which what is left of it stands."""
    query = fitting(unit(model.embed_query(text)), state.manifest.dim)
    depth = candidates(1)
    own = float((query.astype(np.float64) * unit(vector)).sum())
    words = _with(state.bm25.search(text, depth + 1), row, state.bm25.score_of(text, rest), depth)
    return row, words, _with(state.dense.search(query, depth + 1), row, own, depth)


def _find(ranked: list[tuple[int, _Scored, _Scored]], share: float) -> _Found:
    """Return the reciprocal rank of each row by a share of the vectors."""
    ranks = []
    for row, words, nearest in ranked:
        fused = dict(weighted_scores((words, nearest), weights=(1 - share, share)))
        score = fused.get(row, 0.0)
        ranks.append(1 / (1 + sum(other > score for other in fused.values())) if score else 0.0)
    return np.array(ranks)


def _with(ranking: Ranking, row: int, score: float, depth: int) -> _Scored:
    """Return a ranking in which one row has another score; what scores nothing is not found."""
    scored = zip(ranking[1].tolist(), ranking[0].tolist(), strict=True)
    inserted = [(value, other) for value, other in scored if other != row] + [(score, row)] * (score > 0)
    # Of equals the one that is asked for comes last.
    return [(other, value) for value, other in sorted(inserted, key=lambda f: (-f[0], f[1] == row))][:depth]
