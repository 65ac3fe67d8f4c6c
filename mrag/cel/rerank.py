"""Concepts learnt from a list of hits: re-ranking by what the first share, and live feedback from marks.

The first hits of a ranker are the positive examples, hits far down the negative ones; the hits that the
concept holds come to the front, and the result is a permutation. What a person marks is learnt at once,
in several lengths; hits on which the best hypotheses disagree are proposed for the next mark, because it
decides most.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from mrag.cel.evaluate import World
from mrag.cel.learners.base import FitState, Halt, Learner, LearnerSettings, learner
from mrag.cel.learners.search import FeatureSettings, features
from mrag.cel.problem import (
    ExampleCounts,
    Hypothesis,
    LearningProblem,
    confusion,
    instances_among,
    quality,
    recount,
)
from mrag.cel.sentences import sentence
from mrag.cel.sparql import individuals_among
from mrag.errors import ConfigError, LearningProblemError
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.expressions import Expression
from mrag.retrieval.rankers import Hit, Question, Ranker


@dataclass(frozen=True)
class RerankSettings:
    """Settings of `ClassExpressionReranker`.

    Attributes:
        examples: How many positive and how many negative examples are taken from a ranking.
        negatives: `bottom` takes the last hits as negative examples, `random` any after the positive ones.
        depth: How deep the ranking is read, at least.
        noun: What the hits are, in the plural, such as `images`.
    """

    examples: int = 10
    negatives: Literal["bottom", "random"] = "bottom"
    seed: int = 0
    depth: int = 100
    noun: str | None = None

    def __post_init__(self) -> None:
        if self.examples < 1 or self.depth < 2:
            raise ConfigError("A ranking of at least two hits and at least one example are needed.")
        if self.negatives not in ("bottom", "random"):
            raise ConfigError(f"Negative examples are bottom or random, not {self.negatives!r}.")


@dataclass(frozen=True)
class Reranking:
    """A ranking and the concept that it was made by.

    Attributes:
        hypothesis: The concept that was learnt; None where nothing was, and the order is then the old one.
        note: What was learnt, or why nothing was, in one sentence.
    """

    hits: tuple[Hit, ...]
    hypothesis: Hypothesis | None
    problem: LearningProblem | None
    covered: frozenset[str]
    note: str


class ClassExpressionReranker:
    """Brings the hits to the front that share what the first ones share.

    Args:
        ranker: Whose hits are re-ranked.
        kg: The knowledge graph.
        learner: Learns the concept.
        settings: See `RerankSettings`.
    """

    def __init__(
        self, ranker: Ranker, kg: KnowledgeGraph, learner: Learner, settings: RerankSettings | None = None
    ) -> None:
        self.ranker, self.kg, self.learner = ranker, kg, learner
        self.settings = settings or RerankSettings()

    def rank(self, question: Question, k: int) -> list[Hit]:
        """Return at most `k` hits, best first, each with the concept among its reasons."""
        return list(self.rerank_hits(question, k).hits)

    def rerank_hits(self, question: Question, k: int) -> Reranking:
        """Return the ranking together with what was learnt."""
        reranking = self.rerank(self.ranker.rank(question, max(k, self.settings.depth)))
        return replace(reranking, hits=reranking.hits[:k])

    def rerank(self, hits: Sequence[Hit]) -> Reranking:
        """Re-rank a list of hits; the result is a permutation of it."""
        try:
            problem = self.problem(hits)
        except LearningProblemError as error:
            return self._leave(hits, None, f"No concept was learnt. {error.message}")
        return self._by_concept(hits, problem)

    def with_feedback(
        self, hits: Sequence[Hit], liked: Iterable[str], disliked: Iterable[str] = ()
    ) -> Reranking:
        """Re-rank by what a person liked and did not like.

        A learner of short concepts serves best, such as `learner("search", kg, max_length=7)`: longer ones
        learn the few examples by heart (figures in `docs/class-expressions.md`). Without disliked hits the
        last ones that are not liked are taken for such.

        Raises:
            LearningProblemError: If nothing is liked, or something both liked and not.
        """
        wanted, unwanted = {*map(str, liked)}, {*map(str, disliked)}
        if not unwanted:
            others = [iri for iri in self._individuals(hits) if iri not in wanted]
            unwanted = {*others[-max(len(wanted), 1) :]}
        return self._by_concept(hits, LearningProblem(wanted, unwanted))

    def problem(self, hits: Sequence[Hit]) -> LearningProblem:
        """Return the learning problem of a ranking: its first hits against others.

        Raises:
            LearningProblemError: If fewer than two of the hits are individuals.
        """
        individuals = self._individuals(hits)
        if len(individuals) < 2:
            raise LearningProblemError("Fewer than two of the hits are individuals of the graph.")
        size = min(self.settings.examples, len(individuals) // 2)
        rest = individuals[size:]
        if self.settings.negatives == "bottom":
            negatives = rest[-size:]
        else:
            negatives = random.Random(self.settings.seed).sample(rest, size)
        return LearningProblem(individuals[:size], negatives)

    def _individuals(self, hits: Sequence[Hit]) -> list[str]:
        known = individuals_among(self.kg, [h.iri for h in hits])
        return [h.iri for h in hits if h.iri in known]

    def _by_concept(self, hits: Sequence[Hit], problem: LearningProblem) -> Reranking:
        learnt = self.learner.fit(problem)
        if not learnt:
            note = "No concept was learnt: nothing tells the positive from the negative examples."
            return self._leave(hits, problem, note)
        reranking = rerank_by_concept(self.kg, hits, learnt[0], self.settings)
        return replace(reranking, problem=problem)

    def _leave(self, hits: Sequence[Hit], problem: LearningProblem | None, note: str) -> Reranking:
        noted = tuple(replace(h, reasons=(*h.reasons, note)) for h in hits)
        return Reranking(noted, None, problem, frozenset(), note)


def rerank_by_concept(
    kg: KnowledgeGraph,
    hits: Sequence[Hit],
    concept: Hypothesis | Expression,
    settings: RerankSettings | None = None,
) -> Reranking:
    """Re-rank a list of hits by a concept that is known, such as a kept one.

    Of the settings the noun is used.
    """
    knobs = settings or RerankSettings()
    known = concept if isinstance(concept, Hypothesis) else None
    expression = concept.expression if isinstance(concept, Hypothesis) else concept
    reason = sentence(kg, concept, noun=knobs.noun)
    covered = instances_among(kg, expression, [h.iri for h in hits])
    front = [h for h in hits if h.iri in covered]
    back = [h for h in hits if h.iri not in covered]
    ranked = [replace(h, reasons=(*h.reasons, f"Concept: {reason}")) for h in front]
    ranked += [replace(h, reasons=(*h.reasons, f"Not in the concept: {reason}")) for h in back]
    return Reranking(_number(ranked, len(front)), known, None, frozenset(covered), reason)


def _number(hits: Sequence[Hit], front: int) -> tuple[Hit, ...]:
    """Return hits with ranks, and scores that fall with them.

    The hits in front keep the distances of their scores, raised above those behind.
    """
    scores = [h.score for h in hits]
    finite = [s for s in scores if s > float("-inf")]
    top = max((s for s in scores[front:]), default=0.0)
    low = min(finite[:front], default=0.0)
    lift = max(0.0, top - low + 1.0) if front and front < len(hits) else 0.0
    renumbered = []
    for rank, hit in enumerate(hits, start=1):
        score = max(hit.score, low) + lift if rank <= front else hit.score
        renumbered.append(replace(hit, rank=rank, score=score))
    return tuple(renumbered)


_SPACE = FeatureSettings(negation=False, cardinality=1, pairs=16, max_conditions=1000)
"""Conditions that have a say in what is asked next."""
_HARDLY = 0.02  # A hit of which nearly all say the same, by weight, is not asked about


@dataclass(frozen=True)
class FeedbackSettings:
    """Settings of `learn_from_marks`.

    Attributes:
        length: Longest concept that is chosen where a shorter one is no worse; others are alternatives.
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
    """A concept that the marks may mean."""

    hypothesis: Hypothesis
    covered: tuple[str, ...]


@dataclass(frozen=True)
class Feedback:
    """What was learnt from marks.

    Attributes:
        assumed: The hits that were taken for negative examples because none were marked so.
        alternatives: The best concept of each length, shortest first; empty where nothing was learnt.
        proposals: Hits that are not marked and on which the best hypotheses disagree, most disputed first.
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

    Without disliked hits as many of the last ones as are liked are taken for such.

    Raises:
        LearningProblemError: If nothing is liked, one is both liked and not, or one is no individual, or
            there is nothing else in the list.

    Example:
        >>> import mrag
        >>> from mrag.rdf.notation import to_dl
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
    hypotheses = made.fit(problem)
    until = started + 1.2 * knobs.seconds
    shortest, disputed = conditions_agreeing(kg, problem, asked, knobs.steps, until=until)
    others = [Hypothesis(e, 0.0, problem.counts(())) for e in shortest]
    hypotheses = recount(kg, [*hypotheses, *others], problem)
    best: dict[int, Hypothesis] = {}
    for h in (h for h in hypotheses if h.length <= knobs.max_length):
        best.setdefault(h.length, h)
    kept = [best[n] for n in sorted(best)]
    short = [h for h in hypotheses if h.length <= knobs.length] or hypotheses
    chosen = kept.index(short[0]) if short else 0

    def cover(e: Expression) -> tuple[str, ...]:
        held = instances_among(kg, e, among)
        return tuple(iri for iri in among if iri in held)

    alternatives = tuple(MarkedConcept(h, cover(h.expression)) for h in kept)
    seconds = time.monotonic() - started
    return Feedback(problem, assumed, alternatives, chosen, tuple(disputed[: knobs.proposals]), seconds)


def conditions_agreeing(
    kg: KnowledgeGraph, problem: LearningProblem, asked: Sequence[str], steps: int, *, until: float
) -> tuple[list[Expression], list[str]]:
    """Return the shortest conditions of each length that agree with all marks, and what tells them apart.

    That are hits which are not marked and on which the conditions disagree, most disputed first.
    A condition counts half as much for each symbol of cost that it has more than the cheapest.
    """
    left = until - time.monotonic()
    if not asked or left <= 0:
        return [], []
    rest = [iri for iri in asked if iri not in problem.examples]
    world = World.of(kg, [*problem.examples, *rest], steps=steps, until=until)
    listed = LearningProblem(problem.positives, [*problem.negatives, *rest])
    fit = FitState(listed, world, LearnerSettings(seconds=left, steps=steps))
    try:
        space = features(fit, _SPACE, fit.steps)
    except Halt:
        return [], []
    at = {iri: column for column, iri in enumerate(listed.examples)}
    table = np.asarray(space.table, dtype=bool)
    agrees = table[:, [at[x] for x in problem.positives]].all(axis=1)
    agrees &= ~table[:, [at[x] for x in problem.negatives]].any(axis=1)
    if not agrees.any():
        return [], []
    costs = space.costs[agrees]
    weights = 0.5 ** (costs - costs.min())
    shares = weights @ table[agrees] / weights.sum()
    doubt = {iri: round(float(min(shares[at[iri]], 1 - shares[at[iri]])), 6) for iri in rest}
    disputed = sorted((iri for iri in rest if doubt[iri] > _HARDLY), key=lambda iri: -doubt[iri])
    first: dict[int, int] = {}
    for place in sorted(np.flatnonzero(agrees), key=lambda place: (space.costs[place], place)):
        first.setdefault(int(space.lengths[place]), int(place))
    return [space.expression(first[n]) for n in sorted(first)], disputed


def count_marks(
    kg: KnowledgeGraph, expression: Expression, liked: Sequence[str], disliked: Sequence[str]
) -> Hypothesis:
    """Return a concept with its counts on marks, as the store counts them."""
    problem = LearningProblem(liked, disliked)
    (counts,) = confusion(kg, [expression], problem.positives, problem.negatives)
    return Hypothesis(expression, quality(counts), counts)


def precision(counts: ExampleCounts) -> float | None:
    """Return the share of the marked hits in a concept that are meant; None if none is in it."""
    held = counts.tp + counts.fp
    return counts.tp / held if held else None
