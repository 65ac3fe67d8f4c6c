"""Weights of the planner that needs no language model: set by hand, or learnt from solved questions.

A plan of this planner is a mention and a path from it. Its score is a weighted sum of what can be measured of
both, and, after calibration, of which words stand beside the mention in questions with such a path. The
weights are those of a log-linear model, found by AdaGrad (Duchi, Hazan and Singer, 2011) on the likelihood of
the right plan among all plans of the question.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mrag.completion.plan.choices import FEATURES, Choice, Numbers, Vector
from mrag.completion.plan.mentions import HOLE
from mrag.completion.plan.paths import Part, PathTable
from mrag.errors import ConfigError
from mrag.storage.arrays import load_arrays, save_arrays

_BY_HAND: Mapping[str, float] = {
    "exact": 1.0,
    "cased": 2.0,
    "words": 1.0,
    "inner": -2.0,
    "common": -4.0,
    "known": 0.0,
    "unlinked": -3.0,
    "covered": 4.0,
    "supported": 3.0,
    "meaning": 4.0,
    "two steps": -0.5,
    "three steps": -1.0,
    "no such step": -4.0,
    "unseen": 0.0,
}
_FORMAT = 1
_FILE = "planner weights 1"
_TOKEN = re.compile(rf"{HOLE}|\w+")


@dataclass
class Weights:
    """What the planner without a language model goes by.

    Attributes:
        base: A weight for each of `mrag.completion.plan.choices.FEATURES`.
        grams: Number of each run of words that has weights.
        parts: Number of each feature of a path that has weights.
        matrix: A weight for each part and run of words; shape (parts, grams).
        known: Words of the questions learnt from, what they named left out.
        examples: How many questions were learnt from.

    Example:
        >>> Weights().base[:3].tolist(), Weights().examples
        ([1.0, 2.0, 1.0], 0)
    """

    base: Vector = field(default_factory=lambda: by_hand())
    grams: dict[str, int] = field(default_factory=dict)
    parts: dict[Part, int] = field(default_factory=dict)
    matrix: Vector = field(default_factory=lambda: np.zeros((0, 0)))
    known: frozenset[str] = frozenset()
    examples: int = 0

    def save(self, path: str | Path) -> None:
        """Write the weights to a file."""
        arrays = {
            "format": np.array(_FORMAT),
            "features": np.array(FEATURES),
            "base": self.base,
            "grams": np.array(list(self.grams), dtype=np.str_),
            "parts": np.array(["\n".join(part) for part in self.parts], dtype=np.str_),
            "matrix": self.matrix.astype(np.float32),
            "known": np.array(sorted(self.known), dtype=np.str_),
            "examples": np.array(self.examples),
        }
        save_arrays(Path(path), _FILE, arrays)

    @classmethod
    def load(cls, path: str | Path) -> Weights:
        """Read weights that `save` wrote; nothing in the file is run.

        Raises:
            ConfigError: If it is no such file.
        """
        try:
            kept: dict[str, Any] = load_arrays(Path(path), _FILE)
            if int(kept["format"]) != _FORMAT:
                raise ValueError(f"format {kept['format']}")
            if kept["features"].tolist() != list(FEATURES):
                raise ValueError("other features")
            parts = [tuple(str(part).split("\n")) for part in kept["parts"]]
            grams = [str(gram) for gram in kept["grams"]]
            matrix = kept["matrix"].astype(np.float64)
            if matrix.shape != (len(parts), len(grams)) or kept["base"].shape != (len(FEATURES),):
                raise ValueError("another shape")
        except (OSError, ValueError, KeyError, EOFError) as error:
            raise ConfigError(
                f"Not a file of the planner's weights: {error}.",
                file=str(path),
                hint="Make one with `calibrate` and `Weights.save`.",
            ) from error
        known = frozenset(str(word) for word in kept["known"])
        numbers = {part: at for at, part in enumerate(parts)}
        return cls(
            kept["base"],
            {gram: at for at, gram in enumerate(grams)},
            numbers,
            matrix,
            known,
            int(kept["examples"]),
        )

    def columns(self, rest: str) -> Numbers:
        """Return the numbers of a question's runs of words that have weights."""
        found = {self.grams[gram] for gram in grams_of(rest) if gram in self.grams}
        return np.array(sorted(found), np.int64)

    def table(self, parts: Sequence[tuple[Part, ...]]) -> Numbers:
        """Return the numbers of the parts of paths; shape (paths, most parts), -1 for none."""
        width = max((len(own) for own in parts), default=1)
        table = np.full((len(parts), width), -1, np.int64)
        for at, own in enumerate(parts):
            for place, part in enumerate(own):
                table[at, place] = self.parts.get(part, -1)
        return table

    def learnt(self, columns: Numbers, table: Numbers) -> Vector:
        """Return what words add to the score of each path."""
        if not len(self.matrix):
            return np.zeros(len(table))
        of_parts = np.append(self.matrix[:, columns].sum(axis=1), 0.0)
        added: Vector = of_parts[table].sum(axis=1)
        return added


def by_hand() -> Vector:
    """Return the weights of a planner that has learnt nothing."""
    return np.array([_BY_HAND[name] for name in FEATURES])


def grams_of(rest: str) -> list[str]:
    """Return the words of a question with a hole, and their runs of two and three.

    Example:
        >>> grams_of("Who wrote @?")[:7]
        ['who', 'wrote', '@', '^ who', 'who wrote', 'wrote @', '@ $']
    """
    words = [word.casefold() for word in _TOKEN.findall(rest)]
    framed = ["^", *words, "$"]
    runs = [" ".join(framed[at : at + n]) for n in (2, 3) for at in range(len(framed) - n + 1)]
    return [*words, *runs]


def words_of(rest: str) -> set[str]:
    """Return the words of a question with a hole."""
    return {word.casefold() for word in _TOKEN.findall(rest)} - {HOLE}


def learn(
    questions: Sequence[Sequence[Choice]],
    table: PathTable,
    *,
    known: Iterable[str],
    rounds: int = 6,
    rate: float = 0.3,
    min_count: int = 2,
    confident: float = 0.99,
) -> Weights:
    """Fit weights to questions of which the right choice is known.

    Args:
        questions: The choices of each question; questions without a right one are left out.
        table: The paths.
        known: Words of the questions, what they name left out.
        rounds: How often all questions are gone through, in the order given.
        rate: Step size.
        min_count: In how many questions a run of words must occur to have weights.
        confident: Probability of the right choice from which a question is passed over.
    """
    usable = [choices for choices in questions if any(c.right >= 0 for c in choices)]
    right = [c for choices in usable for c in choices if c.right >= 0]
    counts = Counter(gram for c in right for gram in set(grams_of(c.rest)))
    grams = {g: at for at, g in enumerate(sorted(g for g, n in counts.items() if n >= min_count))}
    parts = table.parts()
    numbers = {part: at for at, part in enumerate(sorted({p for c in right for p in parts[c.right]}))}
    matrix = np.zeros((len(numbers), len(grams)))
    weights = Weights(by_hand(), grams, numbers, matrix, frozenset(known), len(usable))
    learner = _Learner(weights, table, rate)
    for _ in range(rounds):
        for choices in usable:
            learner.see(choices, confident)
    return weights


class _Learner:
    def __init__(self, weights: Weights, table: PathTable, rate: float) -> None:
        self.weights, self.table, self.rate = weights, table, rate
        self.parts = weights.table(table.parts())
        self.novel = unseen(self.parts, table.parts())
        self.squares = np.full(weights.matrix.shape, 1e-6)
        self.base_squares = np.full(len(weights.base), 1e-6)

    def see(self, choices: Sequence[Choice], confident: float) -> None:
        """Take one step towards the right choice, unless it is likely enough."""
        weights = self.weights
        features = [choice.features(self.table, self.novel) for choice in choices]
        columns = [weights.columns(choice.rest) for choice in choices]
        pairs = zip(features, columns, strict=True)
        wrong = softmax([f @ weights.base + weights.learnt(c, self.parts) for f, c in pairs])
        right = [(at, choice.right) for at, choice in enumerate(choices) if choice.right >= 0]
        likely = sum(float(wrong[at][path]) for at, path in right)
        if likely >= confident:
            return
        for at, path in right:
            wrong[at][path] -= 1.0 / len(right)
        gradient = np.zeros(len(weights.base))
        for f, c, w in zip(features, columns, wrong, strict=True):
            gradient += w @ f
            self._step(c, w)
        self.base_squares += gradient**2
        weights.base -= 0.5 * self.rate * gradient / np.sqrt(self.base_squares)

    def _step(self, columns: Numbers, wrong: Vector) -> None:
        spread = np.repeat(wrong, self.parts.shape[1])
        size = len(self.weights.parts) + 1
        of_parts = np.bincount(self.parts.ravel() + 1, weights=spread, minlength=size)[1:]
        rows = np.flatnonzero(of_parts)
        if not len(rows) or not len(columns):
            return
        block, step = np.ix_(rows, columns), of_parts[rows, None]
        self.squares[block] += step**2
        self.weights.matrix[block] -= self.rate * step / np.sqrt(self.squares[block])


def softmax(scores: Sequence[Vector]) -> list[Vector]:
    """Return probabilities over all the values of several arrays.

    Example:
        >>> [s.tolist() for s in softmax([np.array([0.0, 0.0]), np.array([-np.inf])])]
        [[0.5, 0.5], [0.0]]
    """
    top = max(float(s.max()) for s in scores)
    powers = [np.exp(s - top) for s in scores]
    total = sum(float(p.sum()) for p in powers)
    return [p / total for p in powers]


def unseen(table: Numbers, parts: Sequence[tuple[Part, ...]]) -> Vector:
    """Return for each path 1 if one of its parts has no weights, else 0."""
    sizes = np.array([len(own) for own in parts])
    novel: Vector = ((table >= 0).sum(axis=1) < sizes).astype(np.float64)
    return novel
