"""Enrichment: a multimodal model describes every image of a graph, and nothing is described twice.

What the model says is in a journal on disk, synced, before the next image counts as done; from there it
goes to a graph of its own in batches. A run that is interrupted, even killed, is resumed, and ends with
the same graph as one that was not, the times of the answers apart. Every IRI is computed from what it
names:

    <image>  :hasLLMDescription "…"                       a part of an image: dcterms:description, isPartOf
    <urn:mrag:description:SHA256(image, newline, text)>   prov:Entity, with its time
        prov:wasDerivedFrom   <image>                     and the annotation that a part was taken from
        prov:wasAttributedTo  <urn:mrag:model:…>          prov:SoftwareAgent, its name as label
        prov:wasGeneratedBy   <urn:mrag:enrichment:…>     prov:Activity: model, prompt, settings, software
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
import typing
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from rdflib import Literal, URIRef

from mrag._tables import patterns, tables
from mrag.errors import ConfigError, LoadError, ModelError
from mrag.generation.models import model_name, resolve, status
from mrag.generation.support.sentences import without_thoughts
from mrag.graph.kg import KnowledgeGraph, home
from mrag.graph.record import joined
from mrag.images.embedding import check_classifier, describe_labels
from mrag.images.files import QUARTERS, Box, Picture, PictureLimits, open_picture, part_of, read_capped
from mrag.images.graph import GENERATED, boxes, described_images, files_of, images_described_by
from mrag.jobs.runners import Runner, ThreadRunner, carry
from mrag.rdf import queries
from mrag.rdf.terms import RDF, RDFS, XSD, Triple, to_ntriples
from mrag.redaction import brief
from mrag.storage.files import RunJournal
from mrag.stores.base import Dataset

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

Kind = typing.Literal["file", "picture", "box", "model", "empty", "refused"]
"""Why there is no description: no file, a picture or box that cannot be used, or what the model did."""

LABELS: Final = "labels"  # Names the describer without a language model, `mrag.images.embedding`

VISION: Final = (
    "llava", "llava:7b", "llava:13b", "llava:34b", "llava-llama3", "llava-phi3", "bakllava",
    "llama3.2-vision", "qwen2.5vl", "gemma3",
)  # fmt: skip
"""Models of Ollama that see, in the order in which they are taken when none is named."""

_CHOICE: Final[Mapping[str, float]] = {"temperature": 0.1, "seed": 1}
"""How freely a model chooses its words, where it allows that to be said, and repeatably."""
ModelSpec: TypeAlias = "str | BaseChatModel | Callable[[], BaseChatModel]"

PROMPTS: Final[Mapping[str, str]] = tables("images/prompts.toml")["descriptions"]
"""Prompts for descriptions by name."""
_REFUSAL = patterns("images/patterns.toml")["refusal"]
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")


@dataclass(frozen=True)
class Task:
    """What is to be described."""

    image: str
    path: Path
    region: str = ""
    source: str = ""
    data: bytes | None = None


@dataclass(frozen=True)
class Description:
    """What became of a task."""

    task: Task
    text: str = ""
    digest: str = ""
    kind: Kind | None = None
    reason: str = ""
    attempts: int = 0


@dataclass
class Work:
    """Asks a model to describe pictures, one at a time."""

    model: ModelSpec
    prompt: str
    limits: PictureLimits = field(default_factory=PictureLimits)
    timeout: float = 600.0
    attempts: int = 3
    back_off: float = 2.0
    _opened: BaseChatModel | None = field(default=None, init=False, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_opened": None}

    def __call__(self, task: Task) -> Description:
        """Describe a picture; what goes wrong with it or with the model is part of the outcome."""
        bare = replace(task, data=None)
        try:
            box = Box.of(task.region) if task.region else None
            picture = open_picture(task.path, self.limits, box, data=task.data)
        except LoadError as error:
            kind: Kind = "box" if "region" in error.message else "picture"
            return Description(bare, kind=kind, reason=str(error), attempts=1)
        for tried in range(1, self.attempts):
            description = self._describe(bare, picture)
            if description.kind is None:
                return description
            time.sleep(self.back_off * 2 ** (tried - 1))
        return replace(self._describe(bare, picture), attempts=self.attempts)

    def _describe(self, task: Task, picture: Picture) -> Description:
        try:
            text = self.say(picture)
        except ConfigError:
            raise
        except Exception as error:  # each client has its own errors; all mean that there is no answer
            reason = brief(f"{type(error).__name__}: {error}", 300)
            return Description(task, "", picture.digest, "model", reason)
        if not text:
            return Description(task, "", picture.digest, "empty", "The model gave no text.")
        if refuses(text):
            return Description(task, "", picture.digest, "refused", f"The model refused: {text[:160]}")
        return Description(task, text, picture.digest)

    def say(self, picture: Picture) -> str:
        """Return what the model says of a picture, without its thoughts; empty if it says nothing."""
        if self.model == LABELS:
            return describe_labels(picture)
        from langchain_core.messages import HumanMessage

        message = HumanMessage([{"type": "text", "text": self.prompt}, dict(picture.block())])
        answer = self.make_model().invoke([message])
        said = without_thoughts(str(answer.text)).encode("utf-8", "ignore").decode("utf-8")
        return _CONTROL.sub("", said).strip()  # RDF or a terminal could not hold the rest

    def make_model(self) -> BaseChatModel:
        """Return the model, made when it is first asked for."""
        if self._opened is None:
            if isinstance(self.model, str):
                provider, seconds = status(self.model).provider, self.timeout
                waits: dict[str, dict[str, Any]]
                waits = {"ollama": {"client_kwargs": {"timeout": seconds}}, "openai": {"timeout": seconds}}
                self._opened = resolve(self.model, **self._known_descriptions(), **waits.get(provider, {}))
                if self._opened is None:
                    hint = status(self.model).hint
                    raise ModelError("Pictures cannot be described without a model.", hint=hint)
            else:
                given: Any = self.model
                self._opened = given if hasattr(given, "invoke") else given()
        return cast("BaseChatModel", self._opened)

    def options(self) -> str:
        """Return what bears on a description beside model and prompt, as JSON with sorted keys."""
        return json.dumps({"max_side": self.limits.max_side, **self._known_descriptions()}, sort_keys=True)

    def _known_descriptions(self) -> dict[str, Any]:
        """Return those settings that a model of a name is given; others it would refuse."""
        if not isinstance(self.model, str) or self.model == LABELS:
            return {}
        known = status(self.model).options
        return {key: value for key, value in _CHOICE.items() if key in known}

    def name(self) -> str:
        """Return the name of the model, for the provenance of what it says."""
        if self.model == LABELS:
            return "labels:efficientnet-lite0"
        if isinstance(self.model, str):
            state = status(self.model)
            return f"{state.provider}:{state.name}"
        return model_name(self.make_model())

    def check(self) -> None:
        """Open the model, so that one that cannot be had is told before anything is done."""
        if self.model == LABELS:
            check_classifier()
        else:
            self.make_model()


def default_model() -> str:
    """Return the name of the first model of `VISION` that Ollama has."""
    first = status(f"ollama:{VISION[0]}")
    for name in VISION:
        if status(f"ollama:{name}").available:
            return f"ollama:{name}"
    raise ModelError(first.reason, hint=first.hint)


def description_prompt(name: str) -> str:
    """Return the prompt of a name, or the text itself when it is none."""
    if not name.strip():
        raise ConfigError("The prompt is empty.", hint=f"Known prompts: {', '.join(PROMPTS)}.")
    return PROMPTS.get(name, name)


def refuses(text: str) -> bool:
    """Return whether a text is a refusal instead of a description."""
    return _REFUSAL.match(text) is not None


Regions = typing.Literal["none", "boxes", "quarters"]


@dataclass(frozen=True)
class EnrichSettings:
    """Every knob of an enrichment.

    Raises:
        ConfigError: If a knob is out of range.
    """

    prompt: str = "fashion"  # Name of a prompt (`fashion`, `general`), or its text
    workers: int = 2  # Requests at once
    # Seconds without a sign of life after which a request to Ollama or OpenAI has failed
    timeout: float = 600.0
    attempts: int = 3  # Tries of each image that the model fails on
    back_off: float = 2.0  # Seconds before the second try; doubled before each further one
    # `skip` goes on without an image that cannot be described, `stop` ends the run there
    on_error: typing.Literal["skip", "stop"] = "skip"
    give_up: int = 10  # Images in a row that the model fails on, after which the run ends even with `skip`
    # `boxes` describes annotated parts too, and quarters where there are none; `quarters` these
    regions: Regions = "none"
    again: bool = False  # Whether images that another model or prompt has described are described again
    limit: int | None = None  # Most images and parts of this run; None for all
    limits: PictureLimits = field(default_factory=PictureLimits)  # What may be read and sent

    def __post_init__(self) -> None:
        for name in ("workers", "attempts", "give_up"):
            if (value := getattr(self, name)) < 1:
                raise ConfigError(f"{name} is at least 1, not {value}.")
        if self.timeout <= 0:
            raise ConfigError("timeout is above 0.")
        if self.on_error not in ("skip", "stop") or self.regions not in typing.get_args(Regions):
            raise ConfigError("on_error is skip or stop; regions is none, boxes or quarters.")


@dataclass(frozen=True)
class Failure:
    """An image, or a part of one, without a description."""

    image: str
    region: str
    kind: Kind
    reason: str
    attempts: int = 0


@dataclass(frozen=True)
class EnrichProgress:
    """How far an enrichment is."""

    described: int  # Descriptions made in this run
    failed: int  # Images and parts given up
    total: int  # What this run set out to describe


@dataclass(frozen=True)
class EnrichReport:
    """What an enrichment did."""

    graph: str | None  # IRI of the graph with the descriptions; None if there are none
    described: int  # Descriptions made
    recovered: int  # Descriptions that an earlier run had made and not yet put in the graph
    already: int  # Images and parts that had been described before
    left: int  # Images and parts that were not reached
    failures: tuple[Failure, ...]  # Those that cannot be described, in order of IRI
    seconds: float  # Wall-clock time
    interrupted: bool  # Whether the run was told to stop

    def kinds(self) -> dict[str, int]:
        """Count the failures by kind."""
        return dict(sorted(Counter(str(failure.kind) for failure in self.failures).items()))

    def to_json(self) -> dict[str, Any]:
        """Return the report in types that JSON has."""
        return {**asdict(self), "kinds": self.kinds()}


@dataclass(frozen=True)
class JournalEntry:
    """One description, as a model gave it."""

    image: str
    region: str
    text: str
    model: str
    prompt: str
    options: str
    time: str
    software: str
    digest: str
    source: str = ""

    @property
    def subject(self) -> str:
        """Return the IRI of what is described: the image, or the part of it as a media fragment."""
        return part_of(self.image, self.region)


def _entries(journal: RunJournal | None) -> Iterator[JournalEntry]:
    """Yield the entries of a journal, but for those of another version."""
    for record in journal.records if journal is not None else ():
        with suppress(TypeError):
            yield JournalEntry(**record)


PROV: Final = "http://www.w3.org/ns/prov#"
DCTERMS: Final = "http://purl.org/dc/terms/"
_ROWS: Final = 400  # Most triples of one transaction; servers limit VALUES


def triples_of(entry: JournalEntry) -> tuple[list[Triple], list[Triple]]:
    """Return the triples of a description: its own, and those that it shares with others."""
    subject, text = URIRef(entry.subject), Literal(entry.text)
    description = URIRef("urn:mrag:description:" + _digest(entry.subject, entry.text))
    model = URIRef("urn:mrag:model:" + _digest(entry.model))
    prompt = URIRef("urn:mrag:prompt:" + _digest(entry.prompt))
    software = URIRef("urn:mrag:software:" + _digest(entry.software))
    activity = URIRef(activity_of(entry.model, entry.prompt, entry.options, entry.software))
    time = Literal(entry.time, datatype=URIRef(XSD + "dateTime"), normalize=False)
    own: list[tuple[URIRef, str, URIRef | Literal]] = [
        (subject, DCTERMS + "description" if entry.region else GENERATED, text),
        (description, RDF + "type", URIRef(PROV + "Entity")),
        (description, PROV + "wasDerivedFrom", subject),
        (description, PROV + "wasAttributedTo", model),
        (description, PROV + "wasGeneratedBy", activity),
        (description, PROV + "generatedAtTime", time),
    ]
    if entry.region:
        own.append((subject, DCTERMS + "isPartOf", URIRef(entry.image)))
    if entry.source:
        own.append((description, PROV + "wasDerivedFrom", URIRef(entry.source)))
    shared: list[tuple[URIRef, str, URIRef | Literal]] = [
        (activity, RDF + "type", URIRef(PROV + "Activity")),
        (activity, PROV + "wasAssociatedWith", model),
        (activity, PROV + "wasAssociatedWith", software),
        (activity, PROV + "used", prompt),
        (activity, RDFS + "comment", Literal(entry.options, datatype=URIRef(RDF + "JSON"))),
        (prompt, RDF + "type", URIRef(PROV + "Plan")),
        # A datatype of its own keeps what was asked out of indexes of texts and of labels.
        (prompt, PROV + "value", Literal(entry.prompt, datatype=URIRef(XSD + "normalizedString"))),
        (model, RDF + "type", URIRef(PROV + "SoftwareAgent")),
        (model, RDFS + "label", Literal(entry.model)),
        (software, RDF + "type", URIRef(PROV + "SoftwareAgent")),
        (software, RDFS + "label", Literal(entry.software)),
    ]
    first, second = ([Triple(s, URIRef(p), o) for s, p, o in rows] for rows in (own, shared))
    return first, second


def activity_of(model: str, prompt: str, options: str, software: str) -> str:
    """Return the IRI of the activity of one model, prompt, settings and software."""
    return "urn:mrag:enrichment:" + _digest(model, prompt, options, software)


class EnrichedGraph:
    """The graph of a knowledge graph that holds what models wrote, made when the first text is written."""

    def __init__(self, kg: KnowledgeGraph) -> None:
        self.kg = kg
        self._known_descriptions: set[Triple] = set()
        kg.require_writable()

    @property
    def name(self) -> str | None:
        """Return the IRI of the graph; None before anything is in it."""
        return next(iter(self.kg.graphs_of("enriched")), None)

    def write(self, entries: Sequence[JournalEntry]) -> None:
        """Write descriptions, each batch whole or not at all and, in an embedded store, with the record."""
        rows: list[Triple] = []
        for entry in entries:
            own, shared = triples_of(entry)
            fresh = [t for t in shared if t not in self._known_descriptions and not self._has(t)]
            self._known_descriptions.update(shared)
            if len(rows) + len(own) + len(fresh) > _ROWS:
                self._commit(rows)
                rows = []
            rows += [*own, *fresh]
        if rows:
            self._commit(rows)

    def finish(self) -> None:
        """Take out what other graphs hold too, and count anew."""
        graph, kg = self.name, self.kg
        if graph is None or kg.store.capabilities.reasoning:
            return
        record = kg.record
        doubles = [(graph, other, graph) for other in record.asserted if other != graph]
        kg.remove_doubles([*doubles, *((graph, other, other) for other in record.inferred)])
        after = replace(record, triples=kg.counted())
        if after != record:
            kg.commit(after)

    def _commit(self, rows: Sequence[Triple]) -> None:
        kg = self.kg
        if kg.store.capabilities.reasoning:
            # Such a server has no record: all its graphs are in sight.
            kg.store.insert(to_ntriples(rows), kg.server_graph("enriched"))
            kg.recount(kg.record.triples + len(rows))
            return
        graph = self.name or kg.new_graph("enriched")
        after = joined(kg.record, graph, len(rows))
        if kg.store.capabilities.atomic:
            kg.commit(after, kg.changes([], [(URIRef(graph), *t) for t in rows]))
        else:
            # Cut off in between, the descriptions are there and the record is not: the next run, which
            # takes them from the journal, gives the graph the same name and writes it.
            kg.store.insert(to_ntriples(rows), graph)
            kg.commit(after)

    def _has(self, triple: Triple) -> bool:
        graph, asked = self.name, queries.get("context/holds").bind(s_p_o=[tuple(triple)])
        return graph is not None and self.kg.store.ask(asked, Dataset((graph,)))


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


_FLUSH_ENTRIES = 64
_FLUSH_SECONDS = 30.0


def describe(
    kg: KnowledgeGraph,
    model: ModelSpec | None = None,
    *,
    folder: Path | str,
    settings: EnrichSettings | None = None,
    boxes_from: KnowledgeGraph | None = None,
    journal: Path | None = None,
    runner: Runner | None = None,
    on_progress: Callable[[EnrichProgress], None] | None = None,
    stop: threading.Event | None = None,
) -> EnrichReport:
    """Have a multimodal model describe the images of a knowledge graph that it has no description of.

    Whatever is raised, and also on Ctrl-C, what was described until then is in the graph.

    Args:
        kg: The knowledge graph; a new graph of its own gets the descriptions.
        model: A name as for `mrag.generation.models.resolve`, any chat model of LangChain that sees, or a
            function that makes one; `labels` for a classifier's labels, offline. By default the first
            model of Ollama's llava family that is there.
        folder: The only folder, with those below, that pictures are taken from.
        settings: The knobs.
        boxes_from: The knowledge graph with the boxes of annotations; `kg` by default.
        journal: File where descriptions are kept at once; by default one beside a store on disk.
        runner: What carries out requests, see `mrag.jobs`; threads by default.
        on_progress: Called when something is done.
        stop: When set from outside, the run ends; what was described is kept.

    Raises:
        ModelError: If the model cannot be had, fails on `give_up` images in a row, or on one with `stop`.
        LoadError: With `stop`, if a picture cannot be used.
        StoreLocked: If another process is describing these images.
    """
    started = time.perf_counter()
    settings = settings or EnrichSettings()
    chosen = default_model() if model is None else model
    tries = settings.attempts, settings.back_off
    work = Work(chosen, description_prompt(settings.prompt), settings.limits, settings.timeout, *tries)
    name = work.name()
    work.check()
    graph = EnrichedGraph(kg)
    if journal is None and (beside := home(kg)) is not None:
        journal = beside.parent / "images" / "descriptions.jsonl"
    with nullcontext() if journal is None else RunJournal(journal) as kept:
        entries = list(_entries(kept))
        files, missing = files_of(kg, Path(folder))
        done = described_images(kg)
        lost = [e for e in entries if e.image in files and e.subject not in done]
        # Nothing that was made is thrown away, but for descriptions of what is no longer that picture.
        recovered = [e for e in lost if _file_digest(files[e.image]) == e.digest]
        graph.write(recovered)
        done |= {entry.subject for entry in recovered}
        same = (name, work.prompt, work.options())
        if settings.again:
            done = images_described_by(kg, activity_of(*same, _software()))
            done |= {e.subject for e in entries if (e.model, e.prompt, e.options) == same}
        failures = [Failure(image, "", "file", why) for image, why in missing.items() if image not in done]
        boxed: dict[str, list[tuple[Box, str]]] = {}
        if settings.regions == "boxes":
            boxed, bad = boxes(boxes_from or kg)
            failures += [Failure(annotation, "", "box", why) for annotation, why in bad.items()]
        cells = QUARTERS if settings.regions != "none" else ()
        tasks: list[Task] = []
        already = sum(image in done for image in missing)
        for image, path in files.items():
            parts = boxed.get(image) or [(box, "") for box in cells]
            wanted = [Task(image, path), *(Task(image, path, box.fragment, of) for box, of in parts)]
            fresh = [t for t in wanted if part_of(t.image, t.region) not in done]
            already += len(wanted) - len(fresh)
            tasks += fresh
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


@dataclass(eq=False)
class _Run:
    """The loop of one run: hands out tasks, keeps what comes back."""

    settings: EnrichSettings
    journal: RunJournal | None
    graph: EnrichedGraph
    same: tuple[str, str, str]
    tasks: Sequence[Task]
    failures: list[Failure]
    on_progress: Callable[[EnrichProgress], None] | None
    described: int = 0
    given_up: int = 0
    interrupted: bool = False
    _unwritten: list[JournalEntry] = field(default_factory=list)
    _in_a_row: int = 0

    def __post_init__(self) -> None:
        self._flushed = time.monotonic()

    def go(self, work: Work, runner: Runner, stop: threading.Event) -> None:
        """Describe all; write what there is, whatever happens."""
        try:
            if not self.tasks:
                runner.close()
                return
            self._say()
            for _, outcome in carry(runner, work, self._read(runner), stop=stop):
                self._take(outcome)
                late = time.monotonic() - self._flushed > _FLUSH_SECONDS
                if late or len(self._unwritten) >= _FLUSH_ENTRIES:
                    self._flush()
            self.interrupted = self.described + self.given_up < len(self.tasks)
        finally:
            self._flush()
            self.graph.finish()

    def _read(self, runner: Runner) -> Iterator[Task]:
        """Yield the tasks, with the files where the runner's workers cannot read them."""
        for task in self.tasks:
            try:
                most = self.settings.limits.max_bytes
                yield task if runner.shares_files else replace(task, data=read_capped(task.path, most))
            except LoadError as error:
                self._take(Description(task, kind="picture", reason=str(error), attempts=1))

    def _take(self, outcome: Description) -> None:
        task = outcome.task
        if outcome.kind is None:
            about, now = (task.image, task.region, outcome.text), f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
            entry = JournalEntry(*about, *self.same, now, _software(), outcome.digest, task.source)
            if self.journal is not None:
                self.journal.add(asdict(entry))
            self._unwritten.append(entry)
            self.described += 1
            self._in_a_row = 0
            self._say()
            return
        self.given_up += 1
        self.failures.append(Failure(task.image, task.region, outcome.kind, outcome.reason, outcome.attempts))
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
        if self.on_progress is not None:
            self.on_progress(EnrichProgress(self.described, self.given_up, len(self.tasks)))

    def _flush(self) -> None:
        entries, self._unwritten = self._unwritten, []
        self.graph.write(entries)
        self._flushed = time.monotonic()


def _software() -> str:
    return f"mrag {version('mrag')}"


def _file_digest(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return ""
