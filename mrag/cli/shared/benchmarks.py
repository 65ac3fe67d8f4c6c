"""Benchmarks of learners, shown while they run."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from mrag.cel.benchmark import BenchmarkResult, BenchmarkSetup, find_problems, means
from mrag.cel.benchmark import run_benchmark as run
from mrag.cli.shared.output import progress, say, show, show_json
from mrag.errors import LoadError


def run_benchmark(
    path: str,
    folder: Path,
    learners: str,
    seconds: float,
    seed: int,
    measure: str,
    folds: int,
    results: Path | None,
    steps: int | None,
    max_length: int | None,
    *,
    as_json: bool,
) -> None:
    """Run the learning problems of a benchmark and print a line for each, then the means.

    Args:
        path: Folder, file, or name of a folder.
        folder: Where names are looked up.
        learners: Names of learners, with commas between.
        seconds: Time limit of a fit.
        seed: Of random choices.
        measure: What is maximised.
        folds: Folds of the cross-validation.
        results: File of results.
        steps: How many properties may follow one another.
        max_length: Longest concept.
        as_json: Whether to print JSON.
    """
    sets, unread = find_problems(path, folder)
    for file in unread:
        say(f"Not read: {file.path}: {file.reason}", style="yellow")
    for problem_set in sets:
        if problem_set.ignored:
            say(f"{problem_set.name}: not used here: {', '.join(problem_set.ignored)}.", style="dim")
    if not sets:
        raise LoadError("No learning problem could be read.", file=path)
    setups = [
        BenchmarkSetup(name.strip(), seconds, folds, seed, measure, steps, max_length)
        for name in learners.split(",")
    ]
    found: list[BenchmarkResult] = []
    with progress("Problems", unit="problems") as note:
        for outcome in run(sets, setups, results=results, on_progress=note):
            found.append(outcome)
            if not as_json:
                for line in _lines(outcome):
                    show(line)
    summary = {s.learner: means(o for o in found if o.learner == s.learner) for s in setups}
    if as_json:
        show_json({"outcomes": [asdict(o) for o in found], "means": summary})
        return
    for name, values in summary.items():
        show(
            f"{name}: {values['problems']} problems, {values['solved']} solved; means: "
            + ", ".join(
                f"{words} {value:.3f}"
                for key, words in _MEANS.items()
                if isinstance(value := values[key], float)
            )
        )


_MEANS = {
    "f1": "F1",
    "accuracy": "accuracy",
    "length": "length",
    "seconds": "seconds",
    "held_out_f1": "held-out F1",
}


def _lines(o: BenchmarkResult) -> list[str]:
    start = f"{o.set} {o.problem} [{o.learner}]"
    if o.error:
        return [f"{start}: {o.error}"]
    held = (
        f", held out ({o.folds} folds) F1 {o.held_out_f1:.3f} ± {o.held_out_f1_sd:.3f}"
        f" accuracy {o.held_out_accuracy:.3f}"
        if o.held_out_f1 is not None
        else ""
    )
    scores = f"F1 {o.f1:.3f} accuracy {o.accuracy:.3f} length {o.length} in {o.seconds:.2f} s{held}"
    return [f"{start}: {scores}", f"  {o.concept or 'no concept'}"]
