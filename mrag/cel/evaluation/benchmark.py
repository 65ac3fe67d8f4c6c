"""Learning problems of published knowledge bases, run by any learner: on all examples, and by k folds.

F1 on the examples learnt from shows whether a concept was found; only the held-out figures show whether
it holds for others. Every result is written down as soon as it is there, and a run that was broken off goes
on after the last one.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from mrag.cel.evaluation.files import ProblemSet, open_knowledge_base
from mrag.cel.learners.base import Learner, LearnerSettings
from mrag.cel.learners.registry import learner
from mrag.cel.problem import ExampleCounts, LearningProblem, quality
from mrag.cel.semantics.counting import instances_among
from mrag.cel.syntax.printing import to_dl
from mrag.errors import ConfigError, LoadError, MragError
from mrag.graph.kg import KnowledgeGraph
from mrag.storage.files import saved_text


@dataclass(frozen=True)
class BenchmarkSetup:
    """How a benchmark is run.

    Attributes:
        learner: Name of the learner.
        seconds: Time limit of each fit.
        folds: Folds of the cross-validation; 0 for none.
        seed: Of the learner and of the folds.
        measure: What the learner maximises.
        steps: How many properties may follow one another; None for the learner's own limit.
        max_length: Longest concept; None for the learner's own limit.
    """

    learner: str = "search"
    seconds: float = 5.0
    folds: int = 10
    seed: int = 0
    measure: str = "f1"
    steps: int | None = None
    max_length: int | None = None

    def __post_init__(self) -> None:
        if self.folds < 0 or self.folds == 1:
            raise ConfigError("Two folds or more, or 0 for none.")


@dataclass(frozen=True)
class BenchmarkResult:
    """What a learner did with one problem.

    Attributes:
        set: Name of the problem set.
        problem: Name of the problem.
        learner: Name of the learner.
        positives: Positive examples.
        negatives: Negative examples.
        concept: The best concept, as description logic; empty if none was learnt.
        length: Its length.
        f1: On the examples that it was learnt from.
        accuracy: The same.
        seconds: How long the fit took.
        tested: How many hypotheses were tested.
        stopped: Why the fit ended.
        folds: Folds that were held out; fewer than asked for where examples are few, 0 for none.
        held_out_f1: Mean over the folds, None without folds.
        held_out_f1_sd: Standard deviation over the folds.
        held_out_accuracy: Mean over the folds.
        error: Why there is no result; empty if there is one.
    """

    set: str
    problem: str
    learner: str
    positives: int
    negatives: int
    concept: str = ""
    length: int = 0
    f1: float = 0.0
    accuracy: float = 0.0
    seconds: float = 0.0
    tested: int = 0
    stopped: str = ""
    folds: int = 0
    held_out_f1: float | None = None
    held_out_f1_sd: float | None = None
    held_out_accuracy: float | None = None
    error: str = ""


def run_benchmark(
    sets: Sequence[ProblemSet],
    setups: Sequence[BenchmarkSetup],
    *,
    results: str | Path | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Iterator[BenchmarkResult]:
    """Run learners over problem sets.

    Args:
        sets: The problem sets.
        setups: How to run each of them, once for each setup.
        results: A file of JSON lines that outcomes are added to. Those that are in it already, of the same
            problem, knowledge base and setup, are taken from it.
        on_progress: Called with the problems done and all of them.

    Yields:
        One outcome for each problem and setup, in order.
    """
    done = _read_results(results)
    total = sum(len(s.problems) for s in sets) * len(setups)
    count = 0
    for problem_set in sets:
        kg: KnowledgeGraph | None = None
        fault = ""
        try:
            for name, problem in problem_set.problems.items():
                for setup in setups:
                    key = _key(problem_set, name, problem, setup)
                    outcome = done.get(key)
                    if outcome is None:
                        if kg is None and not fault:
                            try:
                                kg = open_knowledge_base(*problem_set.ontologies)
                            except MragError as error:
                                fault = str(error)
                        outcome = _one(kg, fault, problem_set.name, name, problem, setup)
                        if not outcome.error:
                            _write_result(results, key, outcome)
                    count += 1
                    if on_progress is not None:
                        on_progress(count, total)
                    yield outcome
        finally:
            if kg is not None:
                kg.close()


def folds(problem: LearningProblem, number: int, seed: int) -> list[tuple[LearningProblem, LearningProblem]]:
    """Divide a problem into pairs of what to learn from and what to hold out, both kinds in each.

    There are no more folds than positive or negative examples, and none if there are fewer than two.

    Example:
        >>> pairs = folds(LearningProblem("abcd", "xyz"), 10, 0)
        >>> len(pairs), sorted(x for _, held in pairs for x in held.positives)
        (3, ['a', 'b', 'c', 'd'])
    """
    number = min(number, len(problem.positives), len(problem.negatives))
    if number < 2:
        return []
    chance = random.Random(seed)
    parts: list[list[list[str]]] = []
    for examples in (problem.positives, problem.negatives):
        mixed = chance.sample(examples, len(examples))
        parts.append([mixed[at::number] for at in range(number)])
    return [
        (
            LearningProblem(*([x for n, part in enumerate(kind) if n != at for x in part] for kind in parts)),
            LearningProblem(*(kind[at] for kind in parts)),
        )
        for at in range(number)
    ]


def means(outcomes: Iterable[BenchmarkResult]) -> dict[str, float | int | None]:
    """Return the means over outcomes without errors, and how many there are."""
    good = [o for o in outcomes if not o.error]
    held = [o.held_out_f1 for o in good if o.held_out_f1 is not None]
    return {
        "problems": len(good),
        "solved": sum(o.f1 == 1.0 for o in good),
        "f1": statistics.fmean(o.f1 for o in good) if good else None,
        "accuracy": statistics.fmean(o.accuracy for o in good) if good else None,
        "length": statistics.fmean(o.length for o in good) if good else None,
        "seconds": statistics.fmean(o.seconds for o in good) if good else None,
        "held_out_f1": statistics.fmean(held) if held else None,
    }


def _one(
    kg: KnowledgeGraph | None,
    fault: str,
    set_name: str,
    name: str,
    problem: LearningProblem,
    setup: BenchmarkSetup,
) -> BenchmarkResult:
    size = len(problem.positives), len(problem.negatives)
    blank = BenchmarkResult(set_name, name, setup.learner, *size)
    if kg is None:
        return replace(blank, error=fault)
    try:
        made = _learner(kg, setup)
        started = time.perf_counter()
        learnt = made.fit(problem)
        seconds = time.perf_counter() - started
        counts = learnt[0].counts if learnt else problem.counts(())
        found = replace(
            blank,
            concept=to_dl(learnt[0].expression, kg.prefixes) if learnt else "",
            length=learnt[0].length if learnt else 0,
            f1=quality(counts),
            accuracy=quality(counts, "accuracy"),
            seconds=seconds,
            tested=made.report.tested if made.report else 0,
            stopped=made.report.stopped if made.report else "",
        )
        pairs = folds(problem, setup.folds, setup.seed)
        scores = [_held_out(kg, train, test, setup) for train, test in pairs]
    except MragError as error:
        return replace(blank, error=str(error))
    if not scores:
        return found
    f1 = [quality(c) for c in scores]
    return replace(
        found,
        folds=len(scores),
        held_out_f1=statistics.fmean(f1),
        held_out_f1_sd=statistics.stdev(f1),
        held_out_accuracy=statistics.fmean(quality(c, "accuracy") for c in scores),
    )


def _held_out(
    kg: KnowledgeGraph, train: LearningProblem, test: LearningProblem, setup: BenchmarkSetup
) -> ExampleCounts:
    found = _learner(kg, setup).fit(train)
    return test.counts(instances_among(kg, found[0].expression, test.examples) if found else ())


def _learner(kg: KnowledgeGraph, setup: BenchmarkSetup) -> Learner:
    LearnerSettings(measure=setup.measure)  # type: ignore[arg-type]  # refuses an unknown measure
    limits = {"steps": setup.steps, "max_length": setup.max_length}
    given: dict[str, Any] = {name: value for name, value in limits.items() if value is not None}
    return learner(setup.learner, kg, seconds=setup.seconds, seed=setup.seed, measure=setup.measure, **given)


def _key(problem_set: ProblemSet, name: str, problem: LearningProblem, setup: BenchmarkSetup) -> str:
    digest = hashlib.blake2b(digest_size=12)
    for part in (problem_set.name, name, *problem.positives, "|", *problem.negatives):
        digest.update(part.encode() + b"\0")
    for ontology in problem_set.ontologies:
        digest.update(ontology.read_bytes())
    given = {name: value for name, value in asdict(setup).items() if value is not None}
    digest.update(json.dumps(given, sort_keys=True).encode())
    return digest.hexdigest()


def _read_results(path: str | Path | None) -> dict[str, BenchmarkResult]:
    if path is None or not Path(path).is_file():
        return {}
    found: dict[str, BenchmarkResult] = {}
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, start=1):
        try:
            row = json.loads(line)
            key = str(row.pop("key"))
            found[key] = BenchmarkResult(**row)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            if number == len(lines) and (number > 1 or line.startswith('{"key"')):
                # It was being written when a run was broken off; what follows must not be joined to it.
                saved_text(path, "".join(line + "\n" for line in lines[:-1]))
                continue
            raise LoadError(
                "These are no results of a benchmark.", file=str(path), line=number, hint="Name another file."
            ) from error
    return found


def _write_result(path: str | Path | None, key: str, outcome: BenchmarkResult) -> None:
    if path is None:
        return
    try:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(json.dumps({"key": key, **asdict(outcome)}, ensure_ascii=False) + "\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise ConfigError(f"Results cannot be written: {error.strerror}.", file=str(path)) from error
