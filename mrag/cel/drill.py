"""DRILL: best-first refinement, led by a network that was trained on problems generated from the graph.

After Demir and Ngonga Ngomo, "Neuro-Symbolic Class Expression Learning" (IJCAI 2023). The network sees a
refinement by what it holds and what it looks like, never by its name: its shares of the examples, its F1 and
what it gained, where the examples lie (a vector for each individual is a fixed random projection of its
classes), and its shape. An episode of training goes from `⊤` down from refinement to refinement, at random at
first. The reward of a step is the F1 that it reaches, 5 in place of a flawless one, plus half of what was
gained, less .04 for each symbol of length, and never less than 0. The network learns the discounted sum of
the rewards from a memory of past steps. Where it differs: all refinements of a state are tested there anyway,
so a step is also credited with the best of their rewards, not only with that of the one gone on with.
"""

from __future__ import annotations

import hashlib
import heapq
import json
import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mrag.cel.evaluate import World
from mrag.cel.expressions import Expression, Named, Property, Some, Top, Value, key, length
from mrag.cel.learners.base import FitProgress, FitState, Learner, LearnerSettings, Stopped
from mrag.cel.learners.refinement import (
    LENGTH,
    SHAPE,
    RefinementSpace,
    RefinementSpaceSettings,
    Signature,
    SpaceView,
    Vectors,
    random_descents,
    trivial,
)
from mrag.cel.problem import LearningProblem, instances, quality
from mrag.errors import ConfigError, LearningProblemError, ModelError
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf import queries
from mrag.rdf.terms import OWL, RDF, RDFS
from mrag.storage.arrays import load_arrays, save_arrays

VECTOR = 16
"""How many numbers the vector of an individual has."""

INPUTS = 8 + 4 * VECTOR + SHAPE
"""How many numbers the network sees."""

_FORMAT = 1
_FILE = "policy 1"
_NAMED_VALUES = 64
"""Of so many values of each property it is a part of the vector which individuals have them."""


def schema(kg: KnowledgeGraph) -> dict[str, list[str]]:
    """Return the classes and properties that a graph uses, beside those of RDF and OWL, in order."""

    def read() -> dict[str, list[str]]:
        classes = {str(row[0]) for row in kg.select(queries.get("explore/classes").text)}
        properties = (p for p in kg.profile().predicates if not p.startswith((RDF, RDFS, OWL)))
        return {"classes": sorted(c for c in classes if not trivial(c)), "properties": sorted(properties)}

    return kg.cached("cel-schema", read)


def fingerprint(names: Mapping[str, Sequence[str]]) -> str:
    """Return a text that differs for graphs with other classes or properties."""
    return hashlib.sha256(json.dumps(names, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class Policy:
    """A network that predicts how promising refinements are.

    Attributes:
        values: Pairs of a property and a value that the vectors of individuals tell of.
        seed: Of the projection, and of the training.
        episodes: How many episodes it was trained for; 0 is untrained.
        history: For each hundred episodes the share of them that found a solution.
    """

    names: Mapping[str, Sequence[str]]
    values: Sequence[tuple[str, str]]
    weights: tuple[Vectors, ...]
    biases: tuple[Vectors, ...]
    seed: int = 0
    episodes: int = 0
    history: tuple[float, ...] = ()
    about: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def untrained(
        cls, kg: KnowledgeGraph, world: World, *, seed: int = 0, hidden: Sequence[int] = (64, 32)
    ) -> Policy:
        """Return a network with random weights, to train or to compare with."""
        rng = np.random.default_rng(seed)
        sizes = [INPUTS, *hidden, 1]
        pairs = list(pairwise(sizes))
        weights = tuple(
            rng.uniform(-1, 1, (a, b)).astype(np.float32) * np.float32(np.sqrt(6 / (a + b))) for a, b in pairs
        )
        biases = tuple(np.zeros(b, dtype=np.float32) for _, b in pairs)
        return cls(schema(kg), _frequent(world), weights, biases, seed)

    @property
    def fingerprint(self) -> str:
        """Return the fingerprint of the graph's classes and properties that it was trained on."""
        return fingerprint(self.names)

    def check(self, kg: KnowledgeGraph) -> None:
        """Check that the policy was trained, and on a graph with these classes and properties.

        Raises:
            ModelError: If not.
        """
        if self.episodes < 1:
            raise ModelError(
                "This policy is untrained.", hint="Train one: policy = mrag.cel.train_policy(kg)."
            )
        own = schema(kg)
        if fingerprint(own) == self.fingerprint:
            return
        changes: list[str] = []
        for kind in ("classes", "properties"):
            here, there = set(own[kind]), set(self.names[kind])
            changes += [f"{len(here - there)} {kind} are new", f"{len(there - here)} are gone"]
        raise ModelError(
            f"The policy was trained on a graph with other classes or properties: {', '.join(changes)}.",
            term=next(iter(sorted(set(own["classes"]) ^ set(self.names["classes"]))), None),
            hint="Train one on this graph: policy = mrag.cel.train_policy(kg).",
        )

    def predict(self, seen: Vectors) -> Vectors:
        """Return how promising refinements are, given what is seen of each."""
        x = seen
        for at, (w, b) in enumerate(zip(self.weights, self.biases, strict=True)):
            x = x @ w + b
            if at < len(self.weights) - 1:
                x = np.maximum(x, 0)
        return x[:, 0]

    def vectors(self, world: World, places: npt.NDArray[np.intp]) -> Vectors:
        """Return the vectors of individuals."""
        features = self._features()
        rng = np.random.default_rng(self.seed)
        spread = rng.standard_normal((len(features), VECTOR)).astype(np.float32) / np.sqrt(VECTOR)
        held = np.zeros((len(places), len(features)), dtype=np.float32)
        for at, expression in enumerate(features):
            held[:, at] = world.extension(expression)[places]
        # Of a graph with many classes each individual has few, whose projections would else grow large.
        found: Vectors = (held @ spread) / np.sqrt(np.maximum(held.sum(axis=1, keepdims=True), 1))
        return found.astype(np.float32)

    def _features(self) -> list[Expression]:
        classes = [Named(c) for c in self.names["classes"]]
        found: list[Expression] = [*classes]
        for name in self.names["properties"]:
            p = Property(name)
            found.append(Some(p, Top()))
            if len(classes) * len(self.names["properties"]) <= 2_000:
                found.extend(Some(p, c) for c in classes)
        return [*found, *(Value(Property(p), value) for p, value in self.values)]

    def save(self, path: str | Path) -> None:
        """Keep the policy in a file of arrays and JSON; nothing in it is code."""
        about = {
            "format": _FORMAT,
            "names": {kind: list(names) for kind, names in self.names.items()},
            "fingerprint": self.fingerprint,
            "values": [list(pair) for pair in self.values],
            "seed": self.seed,
            "episodes": self.episodes,
            "history": list(self.history),
            "about": dict(self.about),
        }
        text = np.frombuffer(json.dumps(about, ensure_ascii=False).encode(), dtype=np.uint8)
        arrays: dict[str, Any] = {"about": text}
        for at, (w, b) in enumerate(zip(self.weights, self.biases, strict=True)):
            arrays[f"weights-{at}"], arrays[f"biases-{at}"] = w, b
        save_arrays(Path(path), _FILE, arrays)

    @classmethod
    def load(cls, path: str | Path, kg: KnowledgeGraph | None = None) -> Policy:
        """Read a policy from a file.

        It is checked against the graph where it is to be used, if given.

        Raises:
            ModelError: If there is no such file, it is no policy, or it was trained on another graph.
        """
        try:
            arrays = load_arrays(Path(path), _FILE)
            about = json.loads(arrays["about"].tobytes().decode())
            if about["format"] != _FORMAT:
                raise ModelError("The policy has another format.", file=str(path), hint="Train it anew.")
            n = sum(name.startswith("weights-") for name in arrays)
            weights = tuple(arrays[f"weights-{at}"].astype(np.float32) for at in range(n))
            biases = tuple(arrays[f"biases-{at}"].astype(np.float32) for at in range(n))
            values = [(str(p), str(v)) for p, v in about["values"]]
            names = {kind: [str(x) for x in about["names"][kind]] for kind in ("classes", "properties")}
            rest = (int(about["seed"]), int(about["episodes"]), tuple(map(float, about["history"])))
            found = cls(names, values, weights, biases, *rest, dict(about["about"]))
        except (KeyError, TypeError, ValueError, OSError, EOFError) as error:
            missing = isinstance(error, FileNotFoundError)
            what = "There is no such policy." if missing else f"This is no policy, or it is damaged: {error}."
            raise ModelError(what, file=str(path), hint="Train one: `mrag train drill`.") from error
        sizes = [w.shape for w in found.weights]
        fits = bool(sizes) and all(len(s) == 2 for s in sizes) and sizes[0][0] == INPUTS and sizes[-1][1] == 1
        fits = fits and all(a[1] == b[0] for a, b in pairwise(sizes))
        if not fits or [b.shape for b in found.biases] != [s[1:] for s in sizes]:
            raise ModelError("The network of this policy has another shape.", file=str(path))
        if kg is not None:
            found.check(kg)
        return found


def reward(seen: Vectors) -> Vectors:
    """Return the rewards of refinements: F1, half of what was gained, less .04 for each symbol."""
    size = seen[:, INPUTS - SHAPE + LENGTH] * 10
    found: Vectors = seen[:, 2] + 0.5 * seen[:, 3] - 0.04 * size
    return found


class RefinementObserver:
    """Describes refinements to the network, on one problem."""

    def __init__(self, vectors: Vectors, positives: int) -> None:
        self.p, self.n = positives, len(vectors) - positives
        self._positive, self._negative = vectors[:positives] / self.p, vectors[positives:] / self.n
        self._all = np.concatenate([self._positive.sum(axis=0), self._negative.sum(axis=0)])

    def observe(
        self, held: npt.NDArray[np.bool_], shapes: Vectors, parent: float
    ) -> tuple[Vectors, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return what is seen, and how many positive and negative examples are held."""
        positive = held[:, : self.p].astype(np.float32)
        negative = held[:, self.p :].astype(np.float32)
        tp, fp = positive.sum(axis=1), negative.sum(axis=1)
        f1 = 2 * tp / (tp + fp + self.p)
        bound = 2 * tp / (tp + self.p)
        precision = tp / np.maximum(tp + fp, 1)
        plain = np.stack(
            [tp / self.p, fp / self.n, f1, f1 - parent, bound, precision, tp == self.p, fp == 0], axis=1
        )
        around = np.broadcast_to(self._all, (len(held), self._all.size))
        parts = [plain, positive @ self._positive, negative @ self._negative, around, shapes]
        seen: Vectors = np.concatenate(parts, axis=1).astype(np.float32)
        return seen, tp.astype(np.int64), fp.astype(np.int64)


def _frequent(world: World) -> list[tuple[str, str]]:
    """Return the most frequent values of properties whose values are all of the same classes."""
    atoms = Signature(world)
    found: list[tuple[str, str]] = []
    for p in atoms.links:
        if not atoms.alike(p):
            continue
        places, counts = np.unique(world.pairs(p)[1], return_counts=True)
        order = np.lexsort((places, -counts))[:_NAMED_VALUES]
        chosen = [int(at) for at in places[order] if not atoms.is_literal(int(at))]
        found.extend((p.iri, str(world.terms[at])) for at in chosen)
    return found


_OFFERED = 20
"""Of so many refinements of each expression the best are offered."""


@dataclass(frozen=True)
class DrillSettings(LearnerSettings):
    """Settings of `Drill`.

    Attributes:
        policy: Path of the trained policy, where it is not given as an object.
        max_tested: Most expressions tested.
        trust: How much the network's prediction counts beside the reward of an expression; 0 is a
            greedy search without the network, None the network alone, as published.
        space: Which expressions are reached; `steps` of the learner goes before that of the space.
    """

    policy: str = ""
    max_tested: int = 20_000
    trust: float | None = 0.25
    space: RefinementSpaceSettings = field(default_factory=RefinementSpaceSettings)


class Drill(Learner):
    """Learns by refinement where a trained policy leads.

    Args:
        kg: The knowledge graph.
        settings: `DrillSettings`; of other settings the common part is taken.
        policy: The trained policy; read from `settings.policy` if None.
        on_progress: Called now and then during a fit.

    Raises:
        ModelError: If there is no policy, it is untrained, or it was trained on a graph with other classes
            or properties.

    Example:
        >>> import mrag
        >>> with mrag.connect() as kg:
        ...     Drill(kg)
        Traceback (most recent call last):
        mrag.errors.ModelError: DRILL needs a trained policy. Train one: policy = ...
    """

    name = "drill"
    settings_type = DrillSettings
    settings: DrillSettings

    def __init__(
        self,
        kg: KnowledgeGraph,
        settings: LearnerSettings | None = None,
        *,
        policy: Policy | None = None,
        on_progress: Callable[[FitProgress], None] | None = None,
    ) -> None:
        super().__init__(kg, settings, on_progress=on_progress)
        if policy is None and not self.settings.policy:
            raise ModelError(
                "DRILL needs a trained policy.",
                hint="Train one: policy = mrag.cel.train_policy(kg), or `mrag train drill`.",
            )
        self.policy = policy if policy is not None else Policy.load(self.settings.policy)
        self.policy.check(kg)

    def priority(self, seen: Vectors) -> Vectors:
        """Return how promising refinements are, given what is seen of each."""
        trust = self.settings.trust
        if trust is None:
            return self.policy.predict(seen)
        return reward(seen) + np.float32(trust) * self.policy.predict(seen) if trust else reward(seen)

    def search(self, fit: FitState) -> Stopped:
        """Refine what the policy finds most promising."""
        if fit.world.steps == 0:
            return "time"  # the policy looks at properties, and there was no time to read any
        vectors = self.policy.vectors(fit.world, fit.at)
        space = RefinementSpace.of(self.kg, fit.world, fit.at, replace(self.settings.space, steps=fit.steps))
        return best_first_search(fit, space, vectors, self.priority, max_tested=self.settings.max_tested)


def best_first_search(
    fit: FitState,
    space: RefinementSpace | SpaceView,
    vectors: Vectors,
    priority: Callable[[Vectors], npt.NDArray[np.floating]],
    *,
    max_tested: int,
) -> Stopped:
    """Refine the most promising expression until one makes no mistake.

    An expression that no refinement of it can make the best is let go.
    """
    p, n, measure = fit.bits.positives, fit.bits.negatives, fit.settings.measure
    observer = RefinementObserver(vectors, p)
    top: Expression = Top()
    queue: list[tuple[float, int, str, Expression, float]] = [(0.0, 1, key(top), top, 2 * p / (2 * p + n))]
    seen: set[Expression] = {top}
    while queue:
        _, _, _, state, parent = heapq.heappop(queue)
        refinements = space.refinements(state)
        fresh = [at for at, e in enumerate(refinements.expressions) if e not in seen]
        if not fresh:
            fit.tick(0)
            continue
        look, tp, fp = observer.observe(refinements.table[fresh], refinements.shapes[fresh], parent)
        qualities = fit.bits.qualities(tp, fp, measure)
        chosen = np.argsort(-qualities, kind="stable")[:_OFFERED]
        for at in chosen.tolist():
            fit.offer(refinements.expressions[fresh[at]], fit.counts(tp[at], fp[at]))
        fit.tick(len(fresh))
        if fit.solved():
            return "solved"
        if fit.tested >= max_tested:
            return "limit"
        best = max((h.quality for h in fit.best()[:1]), default=0.0)
        hopes = priority(look)
        for at, place in enumerate(fresh):
            e = refinements.expressions[place]
            seen.add(e)
            # No refinement holds more positive examples, so none is better than this.
            if tp[at] and quality(fit.counts(tp[at], 0), measure) > best:
                entry = (-float(hopes[at]), length(e), key(e), e, float(look[at, 2]))
                heapq.heappush(queue, entry)
    return "exhausted"


@dataclass(frozen=True)
class ProblemGeneratorSettings:
    """What generated problems are like.

    Attributes:
        max_examples: Most positive and most negative examples; a problem has as many of the one
            as of the other.
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
    """A generated problem."""

    problem: LearningProblem
    concept: Expression


class ProblemGenerator:
    """Generates learning problems.

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

        `over` ends the search for another one as soon as it is true.
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


logger = logging.getLogger(__name__)

_SOLVED = 5.0
"""What a flawless expression earns; the network learns in parts of it."""


@dataclass(frozen=True)
class PolicyTrainingSettings:
    """How a policy is trained.

    Attributes:
        episodes: How many walks down from `⊤`.
        seconds: Time limit; what was learnt until then is returned.
        problems: On how many generated problems.
        steps: Most refinements in an episode.
        discount: What the earnings of the next step are worth now.
        chance: Share of random choices that remains at the end.
        wide: Among how many of the refinements that earn most a random choice is made.
        memory: How many steps are remembered.
        batch: How many of them are learnt from at a time.
        batches: How often after an episode.
        rate: Learning rate of Adam.
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
    """How far a training is."""

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
