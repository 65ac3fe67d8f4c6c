"""How much vectors count beside words, from questions that an index makes of its own documents.

A known-item question is a sentence of a document, and its answer the document without that sentence
(Azzopardi, de Rijke and Balog, 2007, Building Simulated Queries for Known-Item Topics, SIGIR); of texts of
one sentence, two of three words ask for the whole. Nobody has to judge anything. If vectors find far less
than words, as where a model knows nothing of the texts, they count for the share of at most a half that
finds most.

If they do not, how long the texts are decides: a vector holds a short text whole and blurs a long one, and in
a short text few words can be found. So vectors count for more than half where texts are short. Such questions
cannot show that, because their words are always those of the texts.
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from mrag.index.embedding.local_models import unit
from mrag.index.fusion import candidates, weighted_scores
from mrag.index.segments.model import IndexModel
from mrag.index.segments.rows import Ranking
from mrag.index.segments.state import DocumentState

__all__ = ["EVEN", "FusionWeight", "learnt", "usual"]

EVEN: Final = 0.5
"""The share of vectors unless something else is shown to be better."""
_SHORT: Final = (16, 0.7)
"""Texts of so many words or fewer, and the share of vectors there."""
_LONG: Final = 64
"""Words from which on a text is long: then the shares are even."""
_SHARES: Final = tuple(n / 10 for n in range(1, 6))
"""What is tried where vectors find far less than words."""
_QUESTIONS = 100
_LEAST = 50
"""Questions below which nothing is learnt."""
_SCANNED = 2000
"""Documents that are looked through for questions."""
_WORDS = 2
"""Words that a question has at least."""
_FAR = 2.0
"""How many times better words must find than vectors, for these to count for less than half."""
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
        if self.dense > EVEN:
            shares += f", because the texts are short ({self.length:g} words in the median)"
        elif self.dense < EVEN:
            shares += ", because the model finds far less than words"
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
    fitting = usual(length)
    shares = (0.0, *_SHARES, fitting, 1.0)
    found = np.array(
        [_ranks(state, model, shares, *one, rest) for one, rest in zip(asked, rests, strict=True)]
    )
    means = found.mean(axis=0)
    # Of such questions words find more than of people's, so vectors lose their share only by far.
    fair = means[-1] * _FAR >= means[0]
    at = len(shares) - 2 if fair else 1 + int(np.argmax(means[1:-2]))
    fused, words, vectors = (round(float(means[i]), 4) for i in (at, 0, -1))
    return FusionWeight(shares[at], len(asked), fused, words, vectors, state.rows.count, length=float(length))


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


def _ranks(
    state: DocumentState,
    model: IndexModel,
    shares: tuple[float, ...],
    row: int,
    text: str,
    rest: str,
    vector: np.ndarray[Any, np.dtype[np.float32]],
) -> list[float]:
    """Return the reciprocal rank of what is left of a document, for each share of the vectors."""
    query = model.query_vector(state, text)
    depth = candidates(1)
    own = float((query.astype(np.float64) * unit(vector)).sum())
    words = _with(state.bm25.search(text, depth + 1), row, state.bm25.score_of(text, rest), depth)
    nearest = _with(state.dense.search(query, depth + 1), row, own, depth)
    ranks = []
    for share in shares:
        fused = dict(weighted_scores((words, nearest), weights=(1 - share, share)))
        score = fused.get(row, 0.0)
        ranks.append(1 / (1 + sum(other > score for other in fused.values())) if score else 0.0)
    return ranks


def _with(ranking: Ranking, row: int, score: float, depth: int) -> list[tuple[int, float]]:
    """Return a ranking in which one row has another score; what scores nothing is not found."""
    scored = zip(ranking[1].tolist(), ranking[0].tolist(), strict=True)
    found = [(value, other) for value, other in scored if other != row] + [(score, row)] * (score > 0)
    # Of equals the one that is asked for comes last.
    return [(other, value) for value, other in sorted(found, key=lambda f: (-f[0], f[1] == row))][:depth]
