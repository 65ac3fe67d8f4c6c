"""Re-ranking by a learnt concept, which is shown with every hit.

The first hits of a ranker are the positive examples, hits far down the negative ones. What a learner finds
to tell them apart brings the hits that it holds to the front. Nothing is added and nothing is lost: the
result is a permutation of the ranker's list.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from mrag.cel.learners.base import Learner
from mrag.cel.problem import Hypothesis, LearningProblem
from mrag.cel.semantics.counting import instances_among
from mrag.cel.semantics.sparql import individuals_among
from mrag.cel.syntax.clauses import Language
from mrag.cel.syntax.expressions import Expression
from mrag.cel.syntax.verbalise import sentence
from mrag.errors import ConfigError, LearningProblemError
from mrag.graph.kg import KnowledgeGraph
from mrag.retrieval.rankers import Hit, Question, Ranker

Order: TypeAlias = Callable[[Sequence[str], Sequence[str]], Mapping[str, float]]
"""Scores the covered hits, given the positive examples and the covered hits; higher is better."""


@dataclass(frozen=True)
class RerankSettings:
    """Settings of `ClassExpressionReranker`.

    Attributes:
        examples: How many positive and how many negative examples are taken from a ranking.
        negatives: `bottom` takes the last hits as negative examples, `random` any after the positive ones.
        seed: Of the random choice.
        depth: How deep the ranking is read, at least.
        language: Of the reasons.
        noun: What the hits are, in the plural, such as `images`.
    """

    examples: int = 10
    negatives: Literal["bottom", "random"] = "bottom"
    seed: int = 0
    depth: int = 100
    language: Language = "en"
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
        hits: The hits, best first.
        hypothesis: The concept that was learnt; None where nothing was, and the order is then the old one.
        problem: The examples; None where there were too few.
        covered: IRIs of the hits that the concept holds.
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
        order: Orders the covered hits otherwise than by their score, such as by the similarity to a
            summary of the positive examples.
    """

    def __init__(
        self,
        ranker: Ranker,
        kg: KnowledgeGraph,
        learner: Learner,
        settings: RerankSettings | None = None,
        *,
        order: Order | None = None,
    ) -> None:
        self.ranker, self.kg, self.learner = ranker, kg, learner
        self.settings = settings or RerankSettings()
        self.order = order

    def rank(self, question: Question, k: int) -> list[Hit]:
        """Return at most `k` hits, best first, each with the concept among its reasons."""
        return list(self.reranked(question, k).hits)

    def reranked(self, question: Question, k: int) -> Reranking:
        """Return the ranking together with what was learnt."""
        found = self.rerank(self.ranker.rank(question, max(k, self.settings.depth)))
        return replace(found, hits=found.hits[:k])

    def rerank(self, hits: Sequence[Hit]) -> Reranking:
        """Re-rank a list of hits; the result is a permutation of it."""
        try:
            problem = self.problem(hits)
        except LearningProblemError as error:
            return self._unchanged(hits, None, f"No concept was learnt. {error.message}")
        return self._by_concept(hits, problem)

    def with_feedback(
        self, hits: Sequence[Hit], liked: Iterable[str], disliked: Iterable[str] = ()
    ) -> Reranking:
        """Re-rank by what a person liked and did not like.

        A learner of short concepts serves best, such as `learner("search", kg, max_length=7)`: longer ones
        learn the few examples by heart (figures in `docs/class-expressions.md`).

        Args:
            hits: The list.
            liked: IRIs of hits that are to the person's liking.
            disliked: IRIs of those that are not; without any, the last hits that are not liked.

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
        found = self._individuals(hits)
        if len(found) < 2:
            raise LearningProblemError("Fewer than two of the hits are individuals of the graph.")
        size = min(self.settings.examples, len(found) // 2)
        rest = found[size:]
        if self.settings.negatives == "bottom":
            negatives = rest[-size:]
        else:
            negatives = random.Random(self.settings.seed).sample(rest, size)
        return LearningProblem(found[:size], negatives)

    def _individuals(self, hits: Sequence[Hit]) -> list[str]:
        known = individuals_among(self.kg, [h.iri for h in hits])
        return [h.iri for h in hits if h.iri in known]

    def _by_concept(self, hits: Sequence[Hit], problem: LearningProblem) -> Reranking:
        learnt = self.learner.fit(problem)
        if not learnt:
            note = "No concept was learnt: nothing tells the positive from the negative examples."
            return self._unchanged(hits, problem, note)
        found = rerank_by_concept(
            self.kg, hits, learnt[0], self.settings, order=self.order, positives=problem.positives
        )
        return replace(found, problem=problem)

    def _unchanged(self, hits: Sequence[Hit], problem: LearningProblem | None, note: str) -> Reranking:
        noted = tuple(replace(h, reasons=(*h.reasons, note)) for h in hits)
        return Reranking(noted, None, problem, frozenset(), note)


def rerank_by_concept(
    kg: KnowledgeGraph,
    hits: Sequence[Hit],
    concept: Hypothesis | Expression,
    settings: RerankSettings | None = None,
    *,
    order: Order | None = None,
    positives: Sequence[str] = (),
) -> Reranking:
    """Re-rank a list of hits by a concept that is known, such as a kept one.

    Args:
        kg: The knowledge graph.
        hits: The list.
        concept: The concept; a hypothesis says in the reasons how many examples it holds.
        settings: Its language and noun are used.
        order: Orders the covered hits otherwise than by their score.
        positives: IRIs of positive examples for `order`; without any, the order stays.

    Returns:
        A permutation of the list.
    """
    knobs = settings or RerankSettings()
    known = concept if isinstance(concept, Hypothesis) else None
    expression = concept.expression if isinstance(concept, Hypothesis) else concept
    reason = sentence(kg, concept, knobs.language, noun=knobs.noun)
    covered = instances_among(kg, expression, [h.iri for h in hits])
    front = [h for h in hits if h.iri in covered]
    if order is not None and positives:
        scores = order(positives, [h.iri for h in front])
        front = sorted(
            (replace(h, score=float(scores.get(h.iri, float("-inf")))) for h in front),
            key=lambda h: -h.score,
        )
    back = [h for h in hits if h.iri not in covered]
    inside, outside = ("Concept", "Not in the concept")
    if knobs.language == "de":
        inside, outside = ("Begriff", "Nicht im Begriff")
    ranked = [replace(h, reasons=(*h.reasons, f"{inside}: {reason}")) for h in front]
    ranked += [replace(h, reasons=(*h.reasons, f"{outside}: {reason}")) for h in back]
    return Reranking(_numbered(ranked, len(front)), known, None, frozenset(covered), reason)


def _numbered(hits: Sequence[Hit], front: int) -> tuple[Hit, ...]:
    """Return hits with ranks, and scores that fall with them.

    The hits in front keep the distances of their scores, raised above those behind.
    """
    scores = [h.score for h in hits]
    finite = [s for s in scores if s > float("-inf")]
    top = max((s for s in scores[front:]), default=0.0)
    low = min(finite[:front], default=0.0)
    lift = max(0.0, top - low + 1.0) if front and front < len(hits) else 0.0
    found = []
    for rank, hit in enumerate(hits, start=1):
        score = max(hit.score, low) + lift if rank <= front else hit.score
        found.append(replace(hit, rank=rank, score=score))
    return tuple(found)
