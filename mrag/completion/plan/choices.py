"""What the planner without a language model chooses from: a mention of a question, and every path from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mrag.completion.grounding import PathTable
from mrag.completion.plan.mentions import SPAN_FEATURES

Vector = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]

PATH_FEATURES = ("covered", "supported", "meaning", "two steps", "three steps", "no such step", "unseen")
"""What is measured of a path, beside the span's features, in this order: the share of the question's words
that it has, the share of its steps that have a word of the question, their mean cosine with the question, its
length, whether the entity has no such first step, and whether a part of it was never learnt."""

FEATURES = (*SPAN_FEATURES, *PATH_FEATURES)


@dataclass(frozen=True)
class Choice:
    """One mention of a question, with what is needed to measure every path from it.

    Attributes:
        span: Values of `SPAN_FEATURES`.
        rest: The question with a hole in the place of the mention.
        words: How many words of the rest carry meaning.
        covering: For each step of the table the words of the rest that it has, as bits.
        meaning: For each step its cosine with the question.
        steps: Numbers of the steps that lead away from the entity; None where the graph does not know it.
        right: Number of the right path from it, where that is known; -1 otherwise.
    """

    span: tuple[float, ...]
    rest: str
    words: int
    covering: Numbers
    meaning: Vector
    steps: frozenset[int] | None
    right: int = -1

    def features(self, table: PathTable, novel: Vector) -> Vector:
        """Return the values of `FEATURES` for every path; shape (paths, features).

        Args:
            table: The paths.
            novel: For each path 1 if a part of it was never learnt, else 0.
        """
        features = np.empty((len(table.paths), len(FEATURES)))
        features[:, : len(self.span)] = self.span
        # A path that has ended has -1 for further steps, which is the zero at the end.
        bits = np.append(self.covering, 0)[table.paths]
        covered = np.bitwise_count(np.bitwise_or.reduce(bits, axis=1)) / max(1, min(self.words, 63))
        meaning = np.append(self.meaning, 0.0)[table.paths].sum(axis=1) / table.lengths
        # Where the graph does not know the entity, nothing speaks against a first step.
        steps = range(len(table.steps)) if self.steps is None else sorted(self.steps)
        absent = ~np.isin(table.paths[:, 0], steps)
        own = (
            covered,
            (bits != 0).sum(axis=1) / table.lengths,
            meaning,
            table.lengths == 2,
            table.lengths >= 3,
            absent,
            novel,
        )
        for at, values in enumerate(own, start=len(self.span)):
            features[:, at] = values
        return features
