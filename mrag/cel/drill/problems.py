"""Learning problems generated from a graph: what a policy is trained and tested on.

Each is made from a concept that the graph's own classes and properties can express, so that it has a
solution; its negative examples are drawn from what the concept does not hold. Problems that a single
refinement of `⊤` solves are left out, and lengths are kept in balance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mrag.cel.learners.refinement_space import RefinementSpace, RefinementSpaceSettings, random_descents
from mrag.cel.problem import LearningProblem
from mrag.cel.semantics.counting import instances
from mrag.cel.semantics.instances import World
from mrag.cel.syntax.expressions import Expression, Named, Top, length
from mrag.errors import ConfigError, LearningProblemError
from mrag.graph.kg import KnowledgeGraph


@dataclass(frozen=True)
class ProblemGeneratorSettings:
    """What generated problems are like.

    Attributes:
        seed: Of all random choices.
        max_examples: Most positive and most negative examples; a problem has as many of the one
            as of the other.
        min_examples: Fewest of each.
        min_length: Shortest concept.
        max_length: Longest concept.
        walk: Most refinements from `⊤` to a concept.
        of: IRI of a class that all examples are of; None for all individuals.
        pool: Most individuals that examples are drawn from.
    """

    seed: int = 0
    max_examples: int = 30
    min_examples: int = 3
    min_length: int = 3
    max_length: int = 9
    walk: int = 5
    of: str | None = None
    pool: int = 2_000

    def __post_init__(self) -> None:
        if not 1 <= self.min_examples <= self.max_examples or not 1 <= self.min_length <= self.max_length:
            raise ConfigError("min_examples is at most max_examples, and min_length at most max_length.")
        if self.walk < 1 or self.pool < 2:
            raise ConfigError("walk is positive and pool at least 2.")


@dataclass(frozen=True)
class GeneratedProblem:
    """A generated problem.

    Attributes:
        problem: The examples.
        concept: An expression that solves it, in normal form.
    """

    problem: LearningProblem
    concept: Expression


class ProblemGenerator:
    """Generates learning problems.

    Args:
        kg: The graph.
        settings: What they are like.
        space: Which expressions are reached.

    Attributes:
        names: IRIs of the individuals that examples are drawn from.
        space: The expressions, with a column for each of these individuals.

    Raises:
        LearningProblemError: If there are too few individuals.
    """

    def __init__(
        self,
        kg: KnowledgeGraph,
        settings: ProblemGeneratorSettings | None = None,
        space: RefinementSpaceSettings | None = None,
    ) -> None:
        self.settings = settings or ProblemGeneratorSettings()
        space = space or RefinementSpaceSettings()
        names = instances(kg, Named(self.settings.of) if self.settings.of else Top())
        rng = np.random.default_rng(self.settings.seed)
        if len(names) > self.settings.pool:
            chosen = rng.choice(len(names), self.settings.pool, replace=False)
            names = [names[at] for at in np.sort(chosen)]
        if len(names) < 2 * self.settings.min_examples:
            raise LearningProblemError("The graph has too few individuals to make learning problems of.")
        self.names = names
        world = World.of(kg, names, steps=space.steps)
        self.space = RefinementSpace(kg, world, world.positions(names), space)
        self.width = len(names)

    def problems(
        self, seed: int | None = None, *, over: Callable[[], bool] = lambda: False
    ) -> Iterator[GeneratedProblem]:
        """Yield problems with different instances, lengths in balance, until no new one turns up.

        Args:
            seed: Of this row of problems; by default that of the settings.
            over: Ends the search for another one as soon as it is true.
        """
        settings = self.settings
        rng = np.random.default_rng(settings.seed if seed is None else seed)
        seen: set[bytes] = set()
        had: dict[int, int] = {}
        failed = 0
        for concept in random_descents(self.space, rng, settings.walk):
            size = length(concept)
            failed += 1
            if failed > 2_000 or over():
                return
            if not settings.min_length <= size <= settings.max_length:
                continue
            # A length that has had more than its share waits, unless nothing else turns up.
            if had and had.get(size, 0) > 2 * min(had.values()) + 2 and failed < 50:
                continue
            row = self.space.row(concept)
            if row.tobytes() in seen:
                continue
            found = self.problem(concept, row, rng)
            if found is not None:
                seen.add(row.tobytes())
                had[size] = had.get(size, 0) + 1
                failed = 0
                yield found

    def problem(
        self, concept: Expression, row: npt.NDArray[np.bool_], rng: np.random.Generator
    ) -> GeneratedProblem | None:
        """Draw examples of a concept; None where they are too few or it is too easy."""
        inside, outside = np.flatnonzero(row), np.flatnonzero(~row)
        n = min(len(inside), len(outside), self.settings.max_examples)
        if n < self.settings.min_examples:
            return None
        positives = rng.choice(inside, n, replace=False)
        negatives = rng.choice(outside, n, replace=False)
        first = self.space.refinements(Top()).table
        if (first[:, positives].all(axis=1) & ~first[:, negatives].any(axis=1)).any():
            return None
        problem = LearningProblem(
            (self.names[at] for at in positives.tolist()), (self.names[at] for at in negatives.tolist())
        )
        return GeneratedProblem(problem, concept)
