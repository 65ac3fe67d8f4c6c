"""How much vectors count beside words, from questions that an index makes of its own documents.

A known-item question is a sentence of a document, and its answer the document without that sentence
(Azzopardi, de Rijke and Balog, 2007, Building Simulated Queries for Known-Item Topics, SIGIR); of texts of
one sentence, two of three words ask for the whole. Nobody has to judge anything.

First, how long the texts are decides: a vector holds a short text whole and blurs a long one, and in a short
text few words can be found. So vectors count for more than half where texts are short, unless the search is
a question: it is less like a text than a phrase is, for a vector, and its words are names more often. Then
what the questions tell moves the share: up where vectors find more than words, though the words of such
questions are always those of the texts, and down where they find less, but in short texts only if it is far
less, because there a sentence is a few words that many share.
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, TypeAlias

import numpy as np

from mrag.index.embedding.local_models import unit
from mrag.index.fusion import candidates, weighted_scores
from mrag.index.segments.model import IndexModel
from mrag.index.segments.rows import Ranking
from mrag.index.segments.state import DocumentState
from mrag.text.asking import asks

__all__ = ["EVEN", "FusionWeight", "learnt", "usual"]

EVEN: Final = 0.5
"""The share of vectors unless something else is shown to be better."""
_SHORT: Final = (16, 0.7)
"""Texts of so many words or fewer, and the share of vectors there."""
_LONG: Final = 64
"""Words from which on a text is long: then the shares are even."""
_SHARES: Final = tuple(n / 10 for n in range(1, 6))
"""What is tried where vectors find far less than words."""
_MOVED: Final = 3.5
"""How much the share moves for vectors that find twice as much as words."""
_BOUNDS: Final = (0.2, 0.9)
"""How far it moves."""
_QUESTIONS = 100
_LEAST = 50
"""Questions below which nothing is learnt."""
_SCANNED = 2000
"""Documents that are looked through for questions."""
_WORDS = 2
"""Words that a question has at least."""
_FAR = 2.0
"""How many times better words must find than vectors, for these to count for less than half."""
_Scored: TypeAlias = list[tuple[int, float]]
_Found: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？])|\n+")


@dataclass(frozen=True)
class FusionWeight:
    """How vectors and words are fused, and what that rests on.

    Attributes:
        dense: The share of the vectors, between 0 and 1.
        questions: How many questions it was learnt from; 0 if there were too few.
        fused: The mean reciprocal rank of the right document with this share.
        words: The same by words alone.
        vectors: The same by vectors alone.
        documents: How many documents the index had then.
        changed: How many came, went or changed since.
        length: How many words a text has, in the median; 0 if nothing was learnt.
    """

    dense: float = EVEN
    questions: int = 0
    fused: float = 0.0
    words: float = 0.0
    vectors: float = 0.0
    documents: int = 0
    changed: int = 0
    length: float = 0

    def of(self, text: str) -> float:
        """Return the share of the vectors for a search: in short texts smaller if it is a question.

        Example:
            >>> short = FusionWeight(0.7, questions=100, length=4)
            >>> short.of("a man in a red hat"), short.of("Which man wears a hat?")
            (0.7, 0.5)
        """
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
        return (
            f"{shares}; of {self.questions} questions made from the texts the right one is found with MRR "
            f"{self.fused:.2f} by both, {self.words:.2f} by words, {self.vectors:.2f} by meaning"
        )


def learnt(state: DocumentState, model: IndexModel) -> FusionWeight:
    """Learn the share of the vectors of an index.

    Args:
        state: The index.
        model: Its embedding model.

    Raises:
        ModelError: If the model fails.
    """
    asked = _questions(state)
    if len(asked) < _LEAST:
        return FusionWeight(documents=state.rows.count)
    rests = model.embedded(state, [rest for _, _, rest in asked])
    length = statistics.median(len(state.bm25.words(text)) for _, text in _texts(state))
    ranked = [_ranked(state, model, *one, rest) for one, rest in zip(asked, rests, strict=True)]
    words, vectors = _found(ranked, 0.0), _found(ranked, 1.0)
    if vectors.mean() * _FAR < words.mean():
        share = max(_SHARES, key=lambda s: float(_found(ranked, s).mean()))
    else:
        share = _moved(usual(length), words, vectors)
    fused, by_words, by_meaning = (
        round(float(found.mean()), 4) for found in (_found(ranked, share), words, vectors)
    )
    count = state.rows.count
    return FusionWeight(share, len(asked), fused, by_words, by_meaning, count, length=float(length))


def _moved(share: float, words: _Found, vectors: _Found) -> float:
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
    """Return the share of the vectors for texts of so many words.

    Example:
        >>> [usual(words) for words in (4, 32, 200)]
        [0.7, 0.6, 0.5]
    """
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
    """Return rows, a sentence of each, and its text without that sentence.

    If too few have several sentences, two of three words of the others ask for all of their text.
    """
    found: list[tuple[int, str, str]] = []
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
        found.append((row, asked, " ".join(part for part in parts if part.rstrip(".") != asked)))
        if len(found) == _QUESTIONS:
            break
    return found if len(found) >= _LEAST else [*found, *whole][:_QUESTIONS]


def _ranked(
    state: DocumentState,
    model: IndexModel,
    row: int,
    text: str,
    rest: str,
    vector: np.ndarray[Any, np.dtype[np.float32]],
) -> tuple[int, _Scored, _Scored]:
    """Return a row and the rankings by words and by vectors in which what is left of it stands."""
    query = model.query_vector(state, text)
    depth = candidates(1)
    own = float((query.astype(np.float64) * unit(vector)).sum())
    words = _with(state.bm25.search(text, depth + 1), row, state.bm25.score_of(text, rest), depth)
    return row, words, _with(state.dense.search(query, depth + 1), row, own, depth)


def _found(ranked: list[tuple[int, _Scored, _Scored]], share: float) -> _Found:
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
    found = [(value, other) for value, other in scored if other != row] + [(score, row)] * (score > 0)
    # Of equals the one that is asked for comes last.
    return [(other, value) for value, other in sorted(found, key=lambda f: (-f[0], f[1] == row))][:depth]
