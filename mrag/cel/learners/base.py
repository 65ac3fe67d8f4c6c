"""What all learners share: the interface, the limits, the best hypotheses so far, and their names."""

from __future__ import annotations

import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from importlib import import_module
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from mrag.cel.evaluate import World, missing_inferences, without
from mrag.cel.problem import (
    MEASURES,
    ExampleBits,
    ExampleCounts,
    Hypothesis,
    LearningProblem,
    Measure,
    quality,
    recount,
)
from mrag.errors import ConfigError, LearningProblemError, check_choice, require_known
from mrag.graph.kg import KnowledgeGraph
from mrag.language.grammar import count_words
from mrag.rdf import expressions as ce
from mrag.rdf.expressions import key, length, normal, operands, with_operands

logger = logging.getLogger(__name__)
Stopped: TypeAlias = Literal["solved", "exhausted", "limit", "time", "interrupted"]
"""Why a learner stopped: a hypothesis without mistakes, nothing left to try, its limit of hypotheses, its
time limit, or Ctrl-C."""

_FETCH = 0.7  # share of the time limit that reading what the examples reach may take
_SEARCH = 0.85  # share of the time limit after which a search ends
_HARDLY = 0.25
"""A hypothesis that holds not even so much more of the positive examples hardly tells them apart."""


@dataclass(frozen=True)
class LearnerSettings:
    """Settings that all learners have.

    Attributes:
        seconds: Time limit of a fit, with the reading of the graph; what was found until then is returned.
        steps: How many properties may follow one another in a hypothesis.
        max_length: Longest hypothesis that is kept; None for any.
        confirm: Count the best hypothesis by the store as well, if there is time; if it disagrees, its
            counts are the ones reported.
    """

    seconds: float = 5.0
    seed: int = 0
    top: int = 10
    measure: Measure = "f1"
    steps: int = 2
    confirm: bool = True
    max_length: int | None = None

    def __post_init__(self) -> None:
        check_choice("measure", self.measure, MEASURES)
        longest = 1 if self.max_length is None else self.max_length
        if self.seconds <= 0 or min(self.top, self.steps, longest) < 1:
            raise ConfigError("seconds, top, steps and max_length are positive.")


@dataclass(frozen=True)
class FitProgress:
    """How far a learner is.

    Attributes:
        best: The best so far, None while nothing separates positive from negative examples.
    """

    tested: int
    seconds: float
    best: Hypothesis | None


@dataclass(frozen=True)
class FitReport:
    """How a fit went.

    Attributes:
        seconds: How long it took, with the queries.
        fetched: How much of that it took to read what the examples reach.
        notes: What a person should know, such as missing inference.
    """

    tested: int
    seconds: float
    stopped: Stopped
    solved: bool
    notes: tuple[str, ...] = ()
    fetched: float = 0.0


@dataclass
class Halt(Exception):  # no error: it ends a search at its limit
    """Ends a search from inside; raised by `FitState`."""

    why: Stopped


class FitState:
    """The examples of a fit, and the best hypotheses on them so far.

    Attributes:
        at: Where the examples stand among the terms of the world, the positive ones first.
        bits: Packs sets of these examples.
        tested: How many hypotheses have been tested.
        worst: Quality below which nothing is kept any more.

    Raises:
        LearningProblemError: If an example is no individual of the graph.
    """

    def __init__(
        self,
        problem: LearningProblem,
        world: World,
        settings: LearnerSettings,
        on_progress: Callable[[FitProgress], None] | None = None,
        started: float | None = None,
    ) -> None:
        self.problem, self.world, self.settings = problem, world, settings
        self.started = time.monotonic() if started is None else started
        self.tested = 0
        self._on_progress = on_progress
        self._told = self.started
        self._found: dict[ce.Expression, Hypothesis] = {}
        self._kept, self.worst = max(settings.top, 20), 0.0
        missing = [x for x in problem.examples if not world.is_individual(x)]
        if missing:
            what = "An example is no individual of the graph."
            raise LearningProblemError(what, term=missing[0], hint="An individual is an IRI with a class.")
        self.at = world.positions(problem.examples)
        self.bits = ExampleBits(len(problem.positives), len(problem.negatives))

    @property
    def steps(self) -> int:
        """Return how many properties may follow one another, as far as the world reaches."""
        reached = self.world.steps
        return self.settings.steps if reached is None else min(self.settings.steps, reached)

    def solved(self) -> bool:
        """Return whether the best hypothesis so far makes no mistake."""
        return any(h.solved for h in self.best()[:1])

    def counts(self, tp: int | np.integer, fp: int | np.integer) -> ExampleCounts:
        """Return the counts of so many positive and negative examples held."""
        return ExampleCounts(int(tp), int(fp), self.bits.positives, self.bits.negatives)

    def count(self, expression: ce.Expression) -> ExampleCounts:
        """Count the examples that an expression holds."""
        held, p = self.world.extension(expression)[self.at], self.bits.positives
        return self.counts(held[:p].sum(), held[p:].sum())

    def offer(self, expression: ce.Expression, counts: ExampleCounts, *, shaped: bool = False) -> float:
        """Propose a hypothesis and return its quality; what is not informative is not kept.

        `shaped` says that it is in normal form already.
        """
        value = quality(counts, self.settings.measure)
        if counts.informative and (len(self._found) < self._kept or value >= self.worst):
            shape = expression if shaped else normal(expression)
            longest = self.settings.max_length
            if longest is not None and length(shape) > longest:
                return value
            self._found.setdefault(shape, Hypothesis(shape, value, counts, self.settings.measure))
            if len(self._found) > 2 * self._kept:
                self._found = {h.expression: h for h in self.best()}
                self.worst = min(h.quality for h in self._found.values())
        return value

    def settle(self, hypotheses: Iterable[Hypothesis]) -> None:
        """Put hypotheses in place of those found so far, with estimates for example."""
        self._found = {h.expression: h for h in hypotheses}

    def tick(self, tested: int = 1) -> None:
        """Record that hypotheses have been tested.

        Raises:
            Halt: When the time is up.
        """
        self.tested += tested
        now = time.monotonic()
        if self._on_progress and now - self._told >= 0.1:
            self._told = now
            self._on_progress(FitProgress(self.tested, now - self.started, next(iter(self.best()), None)))
        if now - self.started >= _SEARCH * self.settings.seconds:
            raise Halt("time")

    def best(self) -> list[Hypothesis]:
        """Return the best hypotheses, best first."""
        return sorted(self._found.values(), key=lambda h: h.order)[: self._kept]


class Learner(ABC):
    """Learns class expressions from examples.

    Of the settings of another learner the common part is taken.
    """

    name: ClassVar[str]
    settings_type: ClassVar[type[LearnerSettings]] = LearnerSettings

    def __init__(
        self,
        kg: KnowledgeGraph,
        settings: LearnerSettings | None = None,
        *,
        on_progress: Callable[[FitProgress], None] | None = None,
    ) -> None:
        if settings is None:
            settings = self.settings_type()
        elif not isinstance(settings, self.settings_type):
            given = {f.name: getattr(settings, f.name) for f in fields(LearnerSettings)}
            settings = self.settings_type(**{n: value for n, value in given.items() if value is not None})
        self.kg, self.settings, self.on_progress = kg, settings, on_progress
        self.report: FitReport | None = None
        self.prepare()

    def prepare(self) -> None:  # noqa: B027 # most need nothing
        """Load what the learner needs, at the end of its making."""

    @abstractmethod
    def search(self, fit: FitState) -> Stopped:
        """Offer hypotheses to the fit and return why nothing more is tried."""

    def fit(self, problem: LearningProblem) -> list[Hypothesis]:
        """Learn what the positive examples share and the negative ones lack.

        Ctrl-C ends the search and returns what was found until then.

        Returns:
            The best hypotheses, best first; none where nothing separates positive from negative examples.
            `solved` of the first says whether it makes no mistake, else it is the best partial concept.

        Raises:
            LearningProblemError: If an example is no individual of the graph.
        """
        started = time.monotonic()
        seconds, steps = self.settings.seconds, self.settings.steps

        def report() -> None:
            if self.on_progress is not None:
                self.on_progress(FitProgress(0, time.monotonic() - started, None))

        order = problem.in_turn(self.settings.seed)
        world = World.of(self.kg, order, steps=steps, until=started + _FETCH * seconds, on_step=report)
        fetched = time.monotonic() - started
        notes = missing_inferences(self.kg, world)
        world = without(world, problem.ignored)
        if cut := world.steps is not None and world.steps < steps:
            notes.append(f"Time and the size of the graph allowed only {world.steps} of {steps} steps.")
        if world.read is not None and len(world.read) < len(order):
            problem = problem.among(world.read)
            notes.append(f"Time allowed only {len(world.read):,} of {len(order):,} examples.")
        for note in notes:
            logger.warning("%s", note)
        fit = FitState(problem, world, self.settings, self.on_progress, started)
        try:
            stopped: Stopped = self.search(fit)
        except Halt as halt:
            stopped = halt.why
        except KeyboardInterrupt:
            stopped = "interrupted"
        stopped = "time" if cut and stopped == "exhausted" else stopped
        if stopped == "time":
            for named in map(ce.Named, () if fit.best() else world.named):
                fit.offer(named, fit.count(named))
        hypotheses = fit.best()[: self.settings.top]
        # The store has the last word; it may take as long to count as it took to read.
        late = time.monotonic() - started + fetched >= 0.95 * seconds
        best = hypotheses[:1] if self.settings.confirm and not late else []
        if [h.counts for h in recount(self.kg, best, problem)] != [h.counts for h in best]:
            logger.warning("The store counts otherwise than the bitsets: %s", hypotheses[0].expression)
            hypotheses = recount(self.kg, hypotheses, problem)
        notes += _shortcomings(hypotheses, fit)
        solved, spent = any(h.solved for h in hypotheses[:1]), time.monotonic() - started
        self.report = FitReport(fit.tested, spent, stopped, solved, tuple(notes), fetched)
        return hypotheses


def _shortcomings(best: list[Hypothesis], fit: FitState) -> list[str]:
    """Return what to say where nothing was learnt, or hardly anything."""
    c = best[0].counts if best else ExampleCounts(0, 0, 1, 1)
    if c.tp / c.positives - c.fp / c.negatives >= _HARDLY:
        return []
    what, deep = "Hardly anything" if best else "Nothing", count_words(fit.steps, "property") + " deep"
    return [f"{what} was learnt: no condition up to {deep} tells the examples apart{' well' * bool(best)}."]


LEARNERS: dict[str, tuple[str, str]] = {
    "search": ("mrag.cel.learners.search", "BeamSearch"),
    "celoe": ("mrag.cel.learners.refinement", "Celoe"),
}
"""Module and class of each learner; imported when it is asked for."""


def learner(
    name: str,
    kg: KnowledgeGraph,
    *,
    on_progress: Callable[[FitProgress], None] | None = None,
    **settings: Any,
) -> Learner:
    """Return a learner.

    The settings are those of that learner, such as `seconds` or `seed`.

    Raises:
        ConfigError: If there is no such learner or it has no such setting.

    Example:
        >>> import mrag
        >>> with mrag.connect() as kg:
        ...     learner("search", kg, seconds=2).settings.seconds
        2
    """
    check_choice("learner", name, LEARNERS)
    module, class_name = LEARNERS[name]
    kind: type[Learner] = getattr(import_module(module), class_name)
    require_known(settings, [f.name for f in fields(kind.settings_type)], f"The learner {name}")
    return kind(kg, kind.settings_type(**settings), on_progress=on_progress)


def shorten(fit: FitState, expression: ce.Expression) -> ce.Expression:
    """Take parts out of an expression as long as its quality on the examples stays."""
    best = normal(expression)
    value = _quality(fit, best)
    while True:
        shorter = {e for e in map(normal, reduce(best)) if length(e) < length(best)}
        for candidate in sorted(shorter, key=lambda e: (length(e), key(e))):
            fit.tick()
            worth = _quality(fit, candidate)
            if worth >= value:
                best, value = candidate, worth
                break
        else:
            return best


def reduce(e: ce.Expression) -> Iterator[ce.Expression]:
    """Yield an expression with one part taken out, in every way there is."""
    parts = operands(e)
    if isinstance(e, ce.Connective):
        yield from parts
        yield from (with_operands(e, parts[:at] + parts[at + 1 :]) for at in range(len(parts)))
    elif isinstance(e, ce.Some | ce.Cardinality):
        yield with_operands(e, (ce.Top(),))
    if isinstance(e, ce.Cardinality):
        yield ce.Some(e.property, e.filler)
    for at, part in enumerate(parts):
        yield from (with_operands(e, (*parts[:at], x, *parts[at + 1 :])) for x in reduce(part))


def _quality(fit: FitState, e: ce.Expression) -> float:
    counts = fit.count(e)
    return quality(counts, fit.settings.measure) if counts.informative else -1.0
