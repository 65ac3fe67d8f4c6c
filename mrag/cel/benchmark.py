"""Published learning problems, run by any learner."""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from mrag.cel.configurations import read_configuration, read_problems
from mrag.cel.learners.base import Learner, LearnerSettings, learner
from mrag.cel.problem import ExampleCounts, LearningProblem, instances_among, quality
from mrag.cel.syntax.notation import to_dl
from mrag.errors import ConfigError, LoadError, MragError
from mrag.graph.kg import KnowledgeGraph
from mrag.reasoning.run import reason
from mrag.storage.files import Scratch, saved_text
from mrag.stores.oxigraph import OxigraphStore

_ONTOLOGIES = (".owl", ".rdf", ".ttl", ".nt", ".kb", ".ofn", ".fss", ".owx")
_ROOT = re.compile(
    rb"\A\s*(?:<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>|\s+)*<([\w:]+)", re.DOTALL
)


@dataclass(frozen=True)
class ProblemSet:
    """Learning problems over one knowledge base.

    Attributes:
        name: Folder and file of the problems.
        ontologies: The knowledge base's files.
        problems: The problems by name.
        ignored: Settings of a configuration that say nothing here, by component or name.
    """

    name: str
    ontologies: tuple[Path, ...]
    problems: Mapping[str, LearningProblem]
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True)
class UnreadFile:
    """A file of a benchmark that cannot be used, and why."""

    path: Path
    reason: str


def find_problems(path: str | Path, folder: str | Path = ".") -> tuple[list[ProblemSet], list[UnreadFile]]:
    """Find the learning problems of a benchmark.

    Args:
        path: A folder, a `.json` or `.conf` file, or the name of a folder somewhere below `folder`, in any
            case, such as `family`.
        folder: Where names are looked up.

    Returns:
        The problem sets in order of path, and the files that cannot be used.

    Raises:
        LoadError: If there is nothing of that name.
    """
    given = Path(path)
    if given.is_file():
        files = [given]
    else:
        roots = [given] if given.is_dir() else _named(str(path), Path(folder))
        if not roots:
            raise LoadError(
                "There is no such folder, nor one of that name below.",
                file=str(path),
                hint="Say with --data where the benchmarks are.",
            )
        files = [f for root in roots for f in _sources(root)]
    sets: list[ProblemSet] = []
    unread: list[UnreadFile] = []
    for file in files:
        try:
            sets.append(_configured(file) if file.suffix == ".conf" else _listed(file))
        except MragError as error:
            unread.append(UnreadFile(file, error.message))
    return sets, unread


def open_knowledge_base(*paths: Path) -> KnowledgeGraph:
    """Load the files of a knowledge base into memory and reason over it; contradictions in it are let be.

    Args:
        *paths: RDF/XML, Turtle or N-Triples, other notations of OWL, knowledge bases of DL-Learner, and
            configurations of it that have statements of their own. RDF/XML that only a full XML parser
            understands (other encodings than UTF-8, entities in single quotes) is read by rdflib's.

    Raises:
        LoadError: If one cannot be read, such as OWL/XML where the extra `owl` is not installed.
    """
    kg = KnowledgeGraph(OxigraphStore())
    try:
        for path in paths:
            _load(kg, path)
        reason(kg, on_inconsistency="report")
    except BaseException:
        kg.close()
        raise
    return kg


def _load(kg: KnowledgeGraph, path: Path) -> None:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise LoadError("This file cannot be read.", file=str(path)) from error
    if path.suffix == ".conf":
        _load_statements(kg, read_configuration(path).statements)
        return
    root = _ROOT.match(content)
    try:
        kg.load([path])
    except LoadError:
        if not root or root[1].rpartition(b":")[2] != b"RDF":
            raise
        _load_by_rdflib(kg, path)


def _load_statements(kg: KnowledgeGraph, ntriples: bytes) -> None:
    with Scratch("ontology") as made:
        file = made / "statements.nt"
        file.write_bytes(ntriples)
        kg.load([file])


def _load_by_rdflib(kg: KnowledgeGraph, path: Path) -> None:
    from xml.sax import SAXException

    from rdflib import Graph

    try:
        graph = Graph().parse(path, format="xml")
    except (SAXException, ValueError, LookupError) as error:
        raise LoadError(f"Not valid RDF/XML: {error}.", file=str(path)) from error
    _load_statements(kg, graph.serialize(format="nt", encoding="utf-8"))


def _named(name: str, folder: Path) -> list[Path]:
    found = [p for p in sorted(folder.rglob("*")) if p.is_dir() and p.name.casefold() == name.casefold()]
    return [p for p in found if not any(q in p.parents for q in found)]


def _sources(root: Path) -> list[Path]:
    files = [p for p in root.rglob("*") if p.suffix in (".json", ".conf") and p.is_file()]
    folders = {p.parent.parent for p in root.rglob("pos.txt")}
    return sorted({*files, *folders})


def _title(file: Path) -> str:
    if file.is_dir():
        # SML-Bench: base/lp/problem/pos.txt beside base/data.
        return file.resolve().parent.name
    return f"{file.resolve().parent.name}/{file.stem}"


def _listed(file: Path) -> ProblemSet:
    folder = file.parent / "data" if file.is_dir() else file.parent
    ontology = _only([p for p in folder.glob("*") if p.suffix in _ONTOLOGIES])
    problems = read_problems(file)
    if not problems:
        raise LoadError("No problem has both positive and negative examples.")
    return ProblemSet(_title(file), (ontology,), problems)


def _configured(file: Path) -> ProblemSet:
    found = read_configuration(file)
    if not found.sources:
        raise LoadError("It names no knowledge base.")
    for source in found.sources:
        if source.suffix not in (*_ONTOLOGIES, ".conf"):
            kind = source.suffix or "this"
            raise LoadError(f"Knowledge bases in {kind} format are not read ({source.name}).")
        if not source.is_file():
            raise LoadError(f"Its knowledge base {source.name} is not there.")
    if any(p.only or p.defined for p in found.problems.values()):
        with open_knowledge_base(*found.sources) as kg:
            return ProblemSet(_title(file), found.sources, read_problems(file, kg), found.ignored)
    return ProblemSet(_title(file), found.sources, read_problems(file), found.ignored)


def _only(found: list[Path]) -> Path:
    if len(found) != 1:
        raise LoadError(f"There are {len(found)} knowledge bases beside it, not one.")
    return found[0]


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
