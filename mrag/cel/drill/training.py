"""Trains the policy of DRILL by deep reinforcement learning on problems generated from a graph.

After Demir and Ngonga Ngomo, "Neuro-Symbolic Class Expression Learning" (IJCAI 2023). An episode goes from
`⊤` down from refinement to refinement, at random at first and increasingly as the network predicts. The
reward of a step is the F1 that it reaches, 5 in place of a flawless one, plus half of what was gained, less
.04 for each symbol of length, and never less than 0. The network learns the discounted sum of the rewards
from a memory of past steps. Where it differs: all refinements of a state are tested there anyway, so a step
is also credited with the best of their rewards, not only with that of the one that was gone on with.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib import import_module
from itertools import islice
from typing import Any

import numpy as np

from mrag.cel.drill.policy import INPUTS, Policy, RefinementObserver, reward
from mrag.cel.drill.problems import GeneratedProblem, ProblemGenerator, ProblemGeneratorSettings
from mrag.cel.learners.refinement_space import RefinementSpaceSettings, Vectors
from mrag.cel.syntax.expressions import Expression, Top
from mrag.errors import ConfigError, LearningProblemError
from mrag.graph.kg import KnowledgeGraph

logger = logging.getLogger(__name__)

_SOLVED = 5.0
"""What a flawless expression earns; the network learns in parts of it."""


@dataclass(frozen=True)
class PolicyTrainingSettings:
    """How a policy is trained.

    Attributes:
        episodes: How many walks down from `⊤`.
        seconds: Time limit; what was learnt until then is returned.
        seed: Of all random choices.
        problems: On how many generated problems.
        steps: Most refinements in an episode.
        discount: What the earnings of the next step are worth now.
        chance: Share of random choices that remains at the end.
        wide: Among how many of the refinements that earn most a random choice is made.
        memory: How many steps are remembered.
        batch: How many of them are learnt from at a time.
        batches: How often after an episode.
        hidden: Widths of the layers of the network.
        rate: Learning rate of Adam.
        generated: What the problems are like.
        space: Which expressions are reached.
    """

    episodes: int = 200
    seconds: float = 60.0
    seed: int = 0
    problems: int = 15
    steps: int = 4
    discount: float = 0.9
    chance: float = 0.1
    wide: int = 20
    memory: int = 4_096
    batch: int = 256
    batches: int = 4
    hidden: tuple[int, ...] = (64, 32)
    rate: float = 1e-3
    generated: ProblemGeneratorSettings = field(default_factory=ProblemGeneratorSettings)
    space: RefinementSpaceSettings = field(default_factory=RefinementSpaceSettings)

    def __post_init__(self) -> None:
        if (
            min(self.episodes, self.problems, self.steps, self.memory, self.batch, self.batches, self.wide)
            < 1
        ):
            raise ConfigError("episodes, problems, steps, memory, batch, batches and wide are positive.")
        if not (0 <= self.discount <= 1 and 0 <= self.chance <= 1) or self.seconds <= 0:
            raise ConfigError("discount and chance are from 0 to 1, and seconds is positive.")


@dataclass(frozen=True)
class PolicyTrainingProgress:
    """How far a training is.

    Attributes:
        episodes: Done, with those of earlier trainings of the policy.
        seconds: Since this one began.
        solved: Share of the last hundred episodes that found a solution.
    """

    episodes: int
    seconds: float
    solved: float


def train_policy(
    kg: KnowledgeGraph,
    settings: PolicyTrainingSettings | None = None,
    *,
    policy: Policy | None = None,
    on_progress: Callable[[PolicyTrainingProgress], None] | None = None,
) -> Policy:
    """Train a policy on a graph, or train one further.

    Ctrl-C and the time limit end it; what was learnt until then is returned. Training further goes on with
    the weights; the memory of past steps and the momentum of Adam begin anew.

    Args:
        kg: The graph.
        settings: How.
        policy: One to train further.
        on_progress: Called after each episode.

    Raises:
        ConfigError: If scikit-learn is not installed.
        ModelError: If the policy to train further is of another graph.
        LearningProblemError: If no problem can be generated.
    """
    settings = settings or PolicyTrainingSettings()
    if policy is not None and policy.episodes:
        policy.check(kg)
    began = time.monotonic()
    generator = ProblemGenerator(kg, settings.generated, settings.space)
    if policy is None:
        world = generator.space.world
        policy = Policy.untrained(kg, world, seed=settings.seed, hidden=settings.hidden)
    trainer = _Trainer(generator, settings, policy)
    threads = import_module("threadpoolctl")
    try:
        trainer.prepare(began + settings.seconds)
        # The matrices are small: one thread multiplies them faster than several that wait for each other.
        with threads.threadpool_limits(1):
            for _ in range(settings.episodes):
                if time.monotonic() - began >= settings.seconds:
                    break
                trainer.episode()
                if on_progress is not None:
                    on_progress(
                        PolicyTrainingProgress(trainer.episodes, time.monotonic() - began, trainer.share)
                    )
    except KeyboardInterrupt:
        logger.warning("Training was interrupted after %d episodes.", trainer.episodes)
    return trainer.policy()


class _Trainer:
    def __init__(self, generator: ProblemGenerator, settings: PolicyTrainingSettings, policy: Policy) -> None:
        self.generator, self.settings, self.start = generator, settings, policy
        self.space = generator.space
        self.episodes = policy.episodes
        self.rng = np.random.default_rng([settings.seed, policy.episodes])
        self.columns = {name: at for at, name in enumerate(generator.names)}
        self.vectors = policy.vectors(self.space.world, self.space.columns)
        self.problems: list[GeneratedProblem] = []
        self.memory: deque[tuple[Vectors, float]] = deque(maxlen=settings.memory)
        self.network = _network(policy, settings)
        self.outcomes: list[bool] = []

    @property
    def share(self) -> float:
        last = self.outcomes[-100:]
        return sum(last) / len(last) if last else 0.0

    def prepare(self, deadline: float) -> None:
        """Generate the problems, one at least; a further training has others than the one before."""
        seed = self.settings.generated.seed + self.start.episodes
        rows = self.generator.problems(seed, over=lambda: bool(self.problems) and time.monotonic() > deadline)
        for problem in islice(rows, self.settings.problems):
            self.problems.append(problem)
        if not self.problems:
            raise LearningProblemError("No learning problem could be generated from this graph.")

    def policy(self) -> Policy:
        blocks = [self.outcomes[at : at + 100] for at in range(0, len(self.outcomes), 100)]
        return replace(
            self.start,
            weights=tuple(w.astype(np.float32) for w in self.network.coefs_),
            biases=tuple(b.astype(np.float32) for b in self.network.intercepts_),
            episodes=self.episodes,
            history=(*self.start.history, *(sum(b) / len(b) for b in blocks)),
            about={
                "trained on": self.generator.width,
                "problems": len(self.problems),
                "seed": self.settings.seed,
                "hidden": [b.size for b in self.network.intercepts_[:-1]],
            },
        )

    def chance(self) -> float:
        """Return the share of random choices: from all of them down to the least at two thirds."""
        done = self.episodes / max(1, self.settings.episodes * 2 / 3)
        return max(self.settings.chance, 1 - done)

    def episode(self) -> None:
        """Walk down once, and learn."""
        problem = self.problems[int(self.rng.integers(len(self.problems)))].problem
        at = np.array([self.columns[x] for x in problem.examples], dtype=np.intp)
        observer = RefinementObserver(self.vectors[at], len(problem.positives))
        state: Expression = Top()
        parent = 2 * observer.p / (2 * observer.p + observer.n)
        steps: list[tuple[Vectors, float, float]] = []
        solved = False
        for _ in range(self.settings.steps):
            refinements = self.space.refinements(state)
            if not refinements.expressions:
                break
            seen, tp, fp = observer.observe(refinements.table[:, at], refinements.shapes, parent)
            f1 = seen[:, 2]
            flawless = (tp == observer.p) & (fp == 0)
            pay = np.maximum(reward(seen) + np.where(flawless, _SOLVED - f1, 0), 0)
            useful = np.flatnonzero(tp > 0)
            if not len(useful):
                break
            best = float(pay[useful].max())
            if self.rng.random() < self.chance():
                leading = useful[np.argsort(-pay[useful], kind="stable")[: self.settings.wide]]
                chosen = int(self.rng.choice(leading))
            else:
                chosen = int(useful[self.network.predict(seen[useful]).argmax()])
            steps.append((seen[chosen], float(pay[chosen]), best))
            if flawless.any():
                solved = True
                break
            state, parent = refinements.expressions[chosen], float(f1[chosen])
        self.outcomes.append(solved)
        self.remember(steps)
        self.episodes += 1
        self.learn()

    def remember(self, steps: list[tuple[Vectors, float, float]]) -> None:
        later = 0.0
        for seen, paid, best in reversed(steps):
            total = paid + self.settings.discount * later
            self.memory.append((seen, total / _SOLVED))
            later = max(total, best)

    def learn(self) -> None:
        if not self.memory:
            return
        for _ in range(self.settings.batches):
            chosen = self.rng.integers(len(self.memory), size=self.settings.batch)
            rows = [self.memory[at] for at in chosen.tolist()]
            self.network.partial_fit(np.stack([x for x, _ in rows]), np.array([y for _, y in rows]))


def _network(policy: Policy, settings: PolicyTrainingSettings) -> Any:
    """Return scikit-learn's network with the weights of a policy."""
    try:
        networks = import_module("sklearn.neural_network")
    except ImportError as error:
        raise ConfigError("Training needs scikit-learn.", hint="pip install 'mrag[cel]'") from error
    hidden = tuple(b.size for b in policy.biases[:-1])
    network = networks.MLPRegressor(
        hidden_layer_sizes=hidden,
        batch_size=settings.batch,
        learning_rate_init=settings.rate,
        random_state=settings.seed,
    )
    # The weights exist after a first fit only; Adam changes these very arrays, so they are filled in place.
    network.partial_fit(np.zeros((settings.batch, INPUTS), dtype=np.float32), np.zeros(settings.batch))
    own = [*network.coefs_, *network.intercepts_]
    for array, given in zip(own, [*policy.weights, *policy.biases], strict=True):
        array[...] = given
    return network
