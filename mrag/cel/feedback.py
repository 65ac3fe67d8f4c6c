"""A concept learnt live from marks on a list of hits: what is meant, what is not, and what to ask next.

A person marks some hits. What the marked ones share is learnt at once, in several lengths; each alternative
says which hits of the list it holds. The hits on which the best hypotheses disagree are proposed for the
next mark, because it decides most.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from mrag.cel.beam.conditions import FeatureSettings
from mrag.cel.learners.base import FitState, Halt, LearnerSettings
from mrag.cel.learners.features import features
from mrag.cel.learners.registry import learner
from mrag.cel.problem import ExampleCounts, Hypothesis, LearningProblem, quality
from mrag.cel.semantics.counting import confusion, instances_among
from mrag.cel.semantics.instances import World
from mrag.cel.semantics.sparql import individuals_among
from mrag.cel.syntax.expressions import Expression
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph

_SPACE = FeatureSettings(negation=False, cardinality=1, pairs=16, max_conditions=1000)
"""Conditions that have a say in what is asked next."""
_HARDLY = 0.02
"""A hit of which nearly all say the same, by weight, is not asked about."""


@dataclass(frozen=True)
class FeedbackSettings:
    """Settings of `learn_from_marks`.

    Attributes:
        learner: A name of `mrag.cel.LEARNERS`.
        seconds: Time limit of learning.
        length: Longest concept that is chosen where a shorter one is no worse; others are alternatives.
        max_length: Longest alternative.
        steps: How many properties may follow one another.
        proposals: Most hits that are proposed for the next mark.
    """

    learner: str = "search"
    seconds: float = 0.8
    length: int = 7
    max_length: int = 11
    steps: int = 2
    proposals: int = 3

    def __post_init__(self) -> None:
        if self.seconds <= 0 or not 1 <= self.length <= self.max_length or self.proposals < 0:
            raise ConfigError("seconds and length are positive, and length is at most max_length.")


@dataclass(frozen=True)
class MarkedConcept:
    """A concept that the marks may mean.

    Attributes:
        hypothesis: The concept with its counts on the marks.
        covered: The hits of the list that it holds, in their order.
    """

    hypothesis: Hypothesis
    covered: tuple[str, ...]


@dataclass(frozen=True)
class Feedback:
    """What was learnt from marks.

    Attributes:
        problem: The marks as examples.
        assumed: The hits that were taken for negative examples because none were marked so.
        alternatives: The best concept of each length, shortest first; empty where nothing was learnt.
        chosen: Which of them is shown first.
        proposals: Hits that are not marked and on which the best hypotheses disagree, most disputed first.
        seconds: How long it took.
    """

    problem: LearningProblem
    assumed: tuple[str, ...]
    alternatives: tuple[MarkedConcept, ...]
    chosen: int
    proposals: tuple[str, ...]
    seconds: float

    @property
    def best(self) -> MarkedConcept | None:
        """Return the alternative that is shown first, None where nothing was learnt."""
        return self.alternatives[self.chosen] if self.alternatives else None


def learn_from_marks(
    kg: KnowledgeGraph,
    hits: Sequence[str],
    liked: Iterable[str],
    disliked: Iterable[str] = (),
    settings: FeedbackSettings | None = None,
) -> Feedback:
    """Learn what marked hits share.

    Args:
        kg: The knowledge graph.
        hits: IRIs of the list, best first.
        liked: IRIs of those that are meant.
        disliked: IRIs of those that are not; without any, as many of the last hits as are liked.
        settings: See `FeedbackSettings`.

    Raises:
        LearningProblemError: If nothing is liked, one is both liked and not, or one is no individual, or
            there is nothing else in the list.

    Example:
        >>> import mrag
        >>> from mrag.cel.syntax.printing import to_dl
        >>> with mrag.demo(model="none") as kg:
        ...     ex = kg.prefixes["ex"]
        ...     patient = FeedbackSettings(seconds=60)  # the most; it takes a second
        ...     names = [ex + n for n in ("Fuseki", "Neo4j", "Virtuoso", "Redis", "RDFox")]
        ...     found = learn_from_marks(kg, names, names[:1], names[3:4], patient)
        ...     best = found.best
        ...     to_dl(best.hypothesis.expression, kg.prefixes), len(best.covered), len(found.proposals) > 0
        ('ex:GraphDatabase', 4, True)
    """
    knobs, started = settings or FeedbackSettings(), time.monotonic()
    listed = list(dict.fromkeys(map(str, hits)))
    wanted, unwanted = {*map(str, liked)}, {*map(str, disliked)}
    individuals = individuals_among(kg, listed)
    assumed: tuple[str, ...] = ()
    if wanted and not unwanted:
        rest = [iri for iri in listed if iri in individuals and iri not in wanted]
        assumed = tuple(rest[-len(wanted) :])
    problem = LearningProblem(wanted, unwanted or assumed)
    made = learner(
        knobs.learner,
        kg,
        seconds=knobs.seconds,
        steps=knobs.steps,
        max_length=knobs.max_length,
        top=60,
        confirm=False,
    )
    among = [iri for iri in listed if iri in individuals]
    asked = [iri for iri in among if iri not in wanted and iri not in unwanted]
    found = made.fit(problem)
    agreeing = conditions_agreeing(kg, problem, asked, knobs.steps, until=started + 1.2 * knobs.seconds)
    others = [Hypothesis(e, 0.0, problem.counts(())) for e in agreeing.shortest]
    found = _counted(kg, [*found, *others], problem)
    kept = _by_length(found, knobs.max_length)
    short = [h for h in found if h.length <= knobs.length] or found
    chosen = kept.index(short[0]) if short else 0

    def covered(e: Expression) -> tuple[str, ...]:
        held = instances_among(kg, e, among)
        return tuple(iri for iri in among if iri in held)

    alternatives = tuple(MarkedConcept(h, covered(h.expression)) for h in kept)
    seconds = time.monotonic() - started
    return Feedback(problem, assumed, alternatives, chosen, agreeing.disputed[: knobs.proposals], seconds)


@dataclass(frozen=True)
class AgreeingConditions:
    """Conditions that agree with all marks.

    Attributes:
        shortest: The one of each length that costs least, shortest first.
        disputed: Hits that are not marked and on which they disagree, most disputed first.
    """

    shortest: tuple[Expression, ...] = ()
    disputed: tuple[str, ...] = ()


def conditions_agreeing(
    kg: KnowledgeGraph, problem: LearningProblem, asked: Sequence[str], steps: int, *, until: float
) -> AgreeingConditions:
    """Return the conditions that agree with all marks, and what would tell them apart.

    A condition counts half as much for each symbol of cost that it has more than the cheapest.

    Args:
        kg: The knowledge graph.
        problem: The marks.
        asked: IRIs of individuals that are not marked, in their order.
        steps: How many properties may follow one another.
        until: When to have done, by `time.monotonic`.
    """
    left = until - time.monotonic()
    if not asked or left <= 0:
        return AgreeingConditions()
    rest = [iri for iri in asked if iri not in problem.examples]
    world = World.of(kg, [*problem.examples, *rest], steps=steps, until=until)
    listed = LearningProblem(problem.positives, [*problem.negatives, *rest])
    fit = FitState(listed, world, LearnerSettings(seconds=left, steps=steps))
    try:
        space = features(fit, _SPACE, fit.steps)
    except Halt:
        return AgreeingConditions()
    at = {iri: column for column, iri in enumerate(listed.examples)}
    table = np.asarray(space.table, dtype=bool)
    agrees = table[:, [at[x] for x in problem.positives]].all(axis=1)
    agrees &= ~table[:, [at[x] for x in problem.negatives]].any(axis=1)
    if not agrees.any():
        return AgreeingConditions()
    costs = space.costs[agrees]
    weights = 0.5 ** (costs - costs.min())
    shares = weights @ table[agrees] / weights.sum()
    doubt = {iri: round(float(min(shares[at[iri]], 1 - shares[at[iri]])), 6) for iri in rest}
    disputed = sorted((iri for iri in rest if doubt[iri] > _HARDLY), key=lambda iri: -doubt[iri])
    first: dict[int, int] = {}
    for place in sorted(np.flatnonzero(agrees), key=lambda place: (space.costs[place], place)):
        first.setdefault(int(space.lengths[place]), int(place))
    shortest = tuple(space.expression(first[n]) for n in sorted(first))
    return AgreeingConditions(shortest, tuple(disputed))


def marked_counts(
    kg: KnowledgeGraph, expression: Expression, liked: Sequence[str], disliked: Sequence[str]
) -> Hypothesis:
    """Return a concept with its counts on marks, as the store counts them."""
    problem = LearningProblem(liked, disliked)
    (counts,) = confusion(kg, [expression], problem.positives, problem.negatives)
    return Hypothesis(expression, quality(counts), counts)


def precision(counts: ExampleCounts) -> float | None:
    """Return the share of the marked hits in a concept that are meant; None if none is in it.

    Example:
        >>> precision(ExampleCounts(3, 1, 4, 2))
        0.75
    """
    held = counts.tp + counts.fp
    return counts.tp / held if held else None


def _counted(kg: KnowledgeGraph, found: list[Hypothesis], problem: LearningProblem) -> list[Hypothesis]:
    """Return hypotheses with the counts of the store, which has the last word, in order."""
    if not found:
        return []
    counts = confusion(kg, [h.expression for h in found], problem.positives, problem.negatives, known=True)
    agreed = [
        Hypothesis(h.expression, quality(c), c, estimate=h.estimate, score=h.score)
        for h, c in zip(found, counts, strict=True)
        if c.informative
    ]
    return sorted(agreed, key=lambda h: h.order)


def _by_length(found: Sequence[Hypothesis], longest: int) -> list[Hypothesis]:
    """Return the best of each length, shortest first."""
    best: dict[int, Hypothesis] = {}
    for h in (h for h in found if h.length <= longest):
        best.setdefault(h.length, h)
    return [best[n] for n in sorted(best)]
