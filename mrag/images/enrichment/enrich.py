"""Enrichment: a multimodal model describes every image of a graph, and nothing is described twice.

What the model says is in a journal on disk, synced, before the next image counts as done; from there it
goes to a graph of its own in batches (`writing`). A run that is interrupted, even killed,
is resumed, and ends with the same graph as one that was not, the times of the answers apart:
each is taken once, when the answer comes, and kept in the journal.
"""

from __future__ import annotations

import hashlib
import heapq
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from mrag.errors import LoadError, ModelError
from mrag.graph.kg import KnowledgeGraph
from mrag.images.enrichment.journal import EnrichmentJournal, JournalEntry
from mrag.images.enrichment.requests import Description, Task, Work, default_model
from mrag.images.enrichment.settings import EnrichProgress, EnrichReport, EnrichSettings, Failure
from mrag.images.enrichment.writing import EnrichedGraph, activity_of
from mrag.images.files.folder import Box, grid, part_of, read_capped
from mrag.images.graph import ImageVocabulary, boxes, described, described_by, files_of
from mrag.images.prompts import description_prompt
from mrag.index.similarity import home
from mrag.jobs.base import Runner, TaskOutcome
from mrag.jobs.threads import ThreadRunner

if TYPE_CHECKING:
    from mrag.images.enrichment.requests import ModelSpec

_FLUSH_ENTRIES = 64
_FLUSH_SECONDS = 30.0


def journal_of(kg: KnowledgeGraph) -> EnrichmentJournal:
    """Return the journal of a knowledge graph: beside its store, or in memory for a store in memory."""
    folder = home(kg)
    return EnrichmentJournal(None if folder is None else folder.parent / "images" / "descriptions.jsonl")


def describe(
    kg: KnowledgeGraph,
    model: ModelSpec | None = None,
    *,
    folder: Path | str,
    settings: EnrichSettings | None = None,
    vocabulary: ImageVocabulary | None = None,
    boxes_from: KnowledgeGraph | None = None,
    journal: EnrichmentJournal | None = None,
    runner: Runner | None = None,
    on_progress: Callable[[EnrichProgress], None] | None = None,
    stop: threading.Event | None = None,
) -> EnrichReport:
    """Have a multimodal model describe the images of a knowledge graph that it has no description of.

    Args:
        kg: The knowledge graph; a new graph of its own gets the descriptions.
        model: A name as for `mrag.generation.models`, any chat model of LangChain that sees, or a
            function that makes one; `labels` for a classifier's labels, offline. By default the first
            model of Ollama's llava family that is there.
        folder: The only folder, with those below, that pictures are taken from.
        settings: The knobs.
        vocabulary: How the graph speaks of images.
        boxes_from: The knowledge graph with the boxes of annotations; `kg` by default.
        journal: Where descriptions are kept at once; `journal_of(kg)` by default.
        runner: What carries out requests, see `mrag.jobs`; threads by default.
        on_progress: Called when something is done.
        stop: When set from outside, the run ends; what was described is kept.

    Returns:
        The report; with `skip` it also tells what could not be described.

    Raises:
        ModelError: If the model cannot be had, fails on `give_up` images in a row, or on one with `stop`.
        LoadError: With `stop`, if a picture cannot be used.
        StoreLocked: If another process is describing these images.

    Whatever is raised, and also on Ctrl-C, what was described until then is in the graph.
    """
    started = time.perf_counter()
    settings = settings or EnrichSettings()
    chosen = default_model() if model is None else model
    work = Work(
        chosen,
        description_prompt(settings.prompt),
        settings.limits,
        settings.temperature,
        settings.seed,
        settings.timeout,
    )
    name = work.name()
    work.opened()
    graph = EnrichedGraph(kg, vocabulary)
    kept = journal if journal is not None else journal_of(kg)
    with kept.opened():
        files, missing = files_of(kg, Path(folder), graph.vocabulary)
        done = described(kg, graph.vocabulary)
        lost = [e for e in kept.entries if e.image in files and e.subject not in done]
        # Nothing that was made is thrown away, but for descriptions of what is no longer that picture.
        recovered = [e for e in lost if _digest(files[e.image]) == e.digest]
        graph.write(recovered)
        done |= {entry.subject for entry in recovered}
        same = (name, work.prompt, work.options())
        if settings.again:
            done = described_by(kg, activity_of(*same, _software()))
            done |= {e.subject for e in kept.entries if (e.model, e.prompt, e.options) == same}
        tasks, failures, already = _plan(
            kg, files, missing, done, settings, boxes_from or kg, graph.vocabulary
        )
        run = _Run(settings, kept, graph, same, tasks[: settings.limit], failures, on_progress)
        if failures and settings.on_error == "stop":
            graph.finish()
            raise LoadError(failures[0].reason, term=failures[0].image)
        run.go(work, runner or ThreadRunner(settings.workers), stop or threading.Event())
    ordered = tuple(sorted(run.failures, key=lambda f: (f.image, f.region)))
    seconds = time.perf_counter() - started
    left = len(tasks) - run.described - run.given_up
    return EnrichReport(
        graph.name, run.described, len(recovered), already, left, ordered, seconds, run.interrupted
    )


def _plan(
    kg: KnowledgeGraph,
    files: dict[str, Path],
    missing: dict[str, str],
    done: set[str],
    settings: EnrichSettings,
    boxes_from: KnowledgeGraph,
    vocabulary: ImageVocabulary,
) -> tuple[list[Task], list[Failure], int]:
    """Return what is to be described, what cannot be, and how much has been before."""
    failures = [Failure(image, "", "file", why) for image, why in missing.items() if image not in done]
    boxed: dict[str, list[tuple[Box, str]]] = {}
    if settings.regions == "boxes":
        boxed, bad = boxes(boxes_from, vocabulary)
        failures += [Failure(annotation, "", "box", why) for annotation, why in bad.items()]
    cells = [(box, "") for box in grid(settings.rows, settings.columns)] if settings.regions != "none" else []
    tasks: list[Task] = []
    already = sum(image in done for image in missing)
    for image, path in files.items():
        wanted = [Task(image, path)] if settings.whole else []
        wanted += [Task(image, path, box.fragment, source) for box, source in boxed.get(image) or cells]
        fresh = [t for t in wanted if part_of(t.image, t.region) not in done]
        already += len(wanted) - len(fresh)
        tasks += fresh
    return tasks, failures, already


class _Run:
    """The loop of one run: hands out tasks at the pace that is set, keeps what comes back."""

    def __init__(
        self,
        settings: EnrichSettings,
        journal: EnrichmentJournal,
        graph: EnrichedGraph,
        same: tuple[str, str, str],
        tasks: Sequence[Task],
        failures: list[Failure],
        on_progress: Callable[[EnrichProgress], None] | None,
    ) -> None:
        self.settings = settings
        self.journal = journal
        self.graph = graph
        self.same = same
        self.waiting = deque(tasks)
        self.total = len(tasks)
        self.failures = failures
        self.on_progress = on_progress or (lambda progress: None)
        self.described = self.given_up = 0
        self.interrupted = False
        self._tries: Counter[Task] = Counter()
        self._later: list[tuple[float, int, Task]] = []
        self._unwritten: list[JournalEntry] = []
        self._in_a_row = 0
        self._began = self._flushed = time.monotonic()

    def go(self, work: Work, runner: Runner, stop: threading.Event) -> None:
        """Describe all; write what there is, whatever happens."""
        try:
            if self.waiting:
                self._say()
                runner.start(work)
                self._loop(runner, stop)
        finally:
            runner.close()
            self._flush()
            self.graph.finish()

    def _loop(self, runner: Runner, stop: threading.Event) -> None:
        flying, slot, number = 0, 0.0, 0
        pause = 60.0 / self.settings.per_minute if self.settings.per_minute else 0.0
        while flying or self.waiting or self._later:
            if stop.is_set():
                self.interrupted = True
                return
            now = time.monotonic()
            while flying < runner.capacity and now >= slot and (task := self._due(now)) is not None:
                sent = task if runner.shares_files else self._with_data(task)
                if isinstance(sent, Description):
                    self._take(sent, number)
                    continue
                runner.submit(sent)
                flying, slot = flying + 1, max(slot, now) + pause
            outcome = runner.next(0.05)
            if outcome is not None:
                flying, number = flying - 1, number + 1
                self._take(_told(outcome), number)
            if len(self._unwritten) >= _FLUSH_ENTRIES or time.monotonic() - self._flushed > _FLUSH_SECONDS:
                self._flush()

    def _with_data(self, task: Task) -> Task | Description:
        """Return a task with its picture, or why there is none."""
        try:
            return replace(task, data=read_capped(task.path, self.settings.limits.max_bytes))
        except LoadError as error:
            return Description(task, kind="picture", reason=str(error))

    def _due(self, now: float) -> Task | None:
        if self._later and self._later[0][0] <= now:
            return heapq.heappop(self._later)[2]
        return self.waiting.popleft() if self.waiting else None

    def _take(self, outcome: Description, number: int) -> None:
        task = outcome.task
        self._tries[task] += 1
        if outcome.kind is None:
            entry = _entry(outcome, self.same)
            self.journal.append(entry)
            self._unwritten.append(entry)
            self.described += 1
            self._in_a_row = 0
            self._say()
            return
        tries = self._tries[task]
        if outcome.again and tries < self.settings.attempts:
            wait = self.settings.back_off * 2 ** (tries - 1)
            heapq.heappush(self._later, (time.monotonic() + wait, number, task))
            return
        self.given_up += 1
        self.failures.append(Failure(task.image, task.region, outcome.kind, outcome.reason, tries))
        self._say()
        self._in_a_row += outcome.kind == "model"
        if self.settings.on_error == "stop":
            error = LoadError if outcome.kind in ("picture", "box") else ModelError
            raise error(outcome.reason, file=str(task.path), hint="What was described before is kept.")
        if self._in_a_row >= self.settings.give_up:
            raise ModelError(
                f"The model failed on {self._in_a_row} images in a row, the last time with: {outcome.reason}",
                hint="What was described before is kept. Run again when the model answers.",
            )

    def _say(self) -> None:
        done = self.described + self.given_up
        left = self.total - done
        pace = (time.monotonic() - self._began) / done if done else None
        seconds_left = None if pace is None else pace * left
        self.on_progress(EnrichProgress(self.described, self.given_up, self.total, seconds_left))

    def _flush(self) -> None:
        entries, self._unwritten = self._unwritten, []
        self.graph.write(entries)
        self._flushed = time.monotonic()


def _told(outcome: TaskOutcome) -> Description:
    """Return what became of a task; a worker that is lost counts as a failure of the model."""
    if outcome.lost:
        return Description(replace(outcome.task, data=None), kind="model", reason=outcome.lost, again=True)
    found: Description = outcome.value
    return found


def _entry(outcome: Description, same: tuple[str, str, str]) -> JournalEntry:
    task, now = outcome.task, datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    model, prompt, options = same
    return JournalEntry(
        task.image,
        task.region,
        outcome.text,
        model,
        prompt,
        options,
        now,
        _software(),
        outcome.digest,
        task.source,
    )


def _software() -> str:
    return f"mrag {version('mrag')}"


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return ""
