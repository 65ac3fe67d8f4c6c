"""The knobs of an enrichment, how far it is, and what it did."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from mrag.errors import ConfigError
from mrag.images.enrichment.requests import Kind
from mrag.images.files.folder import PictureLimits, grid

Regions = Literal["none", "boxes", "grid"]


@dataclass(frozen=True)
class EnrichSettings:
    """Every knob of an enrichment.

    Attributes:
        prompt: Name of a prompt (`fashion`, `general`), or its text.
        temperature: How freely the model chooses its words.
        seed: Makes the choice repeatable, where the model allows that.
        workers: Requests at once.
        per_minute: Most requests a minute; None for no limit.
        timeout: Seconds without a sign of life after which a request to Ollama or OpenAI has failed.
        attempts: Tries of each image that the model fails on.
        back_off: Seconds before the second try; doubled before each further one.
        on_error: `skip` goes on without an image that cannot be described, `stop` ends the run there.
        give_up: Images in a row that the model fails on, after which the run ends even with `skip`.
        regions: `boxes` describes annotated parts too, and a grid where there are none; `grid` a grid.
        rows: Rows of the grid.
        columns: Columns of the grid.
        whole: Whether whole images are described.
        again: Whether images that another model or prompt has described are described again.
        limit: Most images and parts of this run; None for all.
        limits: What may be read and sent.

    Raises:
        ConfigError: If a knob is out of range.
    """

    prompt: str = "fashion"
    temperature: float = 0.1
    seed: int = 1
    workers: int = 2
    per_minute: float | None = None
    timeout: float = 600.0
    attempts: int = 3
    back_off: float = 2.0
    on_error: Literal["skip", "stop"] = "skip"
    give_up: int = 10
    regions: Regions = "none"
    rows: int = 2
    columns: int = 2
    whole: bool = True
    again: bool = False
    limit: int | None = None
    limits: PictureLimits = field(default_factory=PictureLimits)

    def __post_init__(self) -> None:
        counts = {"workers": self.workers, "attempts": self.attempts, "give_up": self.give_up}
        for name, value in counts.items():
            if value < 1:
                raise ConfigError(f"{name} is at least 1, not {value}.")
        if self.timeout <= 0 or (self.per_minute is not None and self.per_minute <= 0):
            raise ConfigError("timeout and per_minute are above 0; per_minute may be None for no limit.")
        if self.on_error not in ("skip", "stop") or self.regions not in ("none", "boxes", "grid"):
            raise ConfigError("on_error is skip or stop; regions is none, boxes or grid.")
        grid(self.rows, self.columns)


@dataclass(frozen=True)
class Failure:
    """An image, or a part of one, without a description.

    Attributes:
        image: IRI of the image, or of the annotation whose box cannot be used.
        region: Fragment of the part; empty for the whole.
        kind: `file`, `picture`, `box`, `model`, `empty` or `refused`.
        reason: The same in words.
        attempts: How often it was tried.
    """

    image: str
    region: str
    kind: Kind
    reason: str
    attempts: int = 0


@dataclass(frozen=True)
class EnrichProgress:
    """How far an enrichment is.

    Attributes:
        described: Descriptions made in this run.
        failed: Images and parts given up.
        total: What this run set out to describe.
        seconds_left: Estimate of the time left; None before the first description.
    """

    described: int
    failed: int
    total: int
    seconds_left: float | None


@dataclass(frozen=True)
class EnrichReport:
    """What an enrichment did.

    Attributes:
        graph: IRI of the graph with the descriptions; None if there are none.
        described: Descriptions made.
        recovered: Descriptions that an earlier run had made and not yet put in the graph.
        already: Images and parts that had been described before.
        left: Images and parts that were not reached.
        failures: Those that cannot be described, in order of IRI.
        seconds: Wall-clock time.
        interrupted: Whether the run was told to stop.
    """

    graph: str | None
    described: int
    recovered: int
    already: int
    left: int
    failures: tuple[Failure, ...]
    seconds: float
    interrupted: bool

    def kinds(self) -> dict[str, int]:
        """Count the failures by kind."""
        return dict(sorted(Counter(str(failure.kind) for failure in self.failures).items()))

    def to_json(self) -> dict[str, Any]:
        """Return the report in types that JSON has."""
        return {**asdict(self), "failures": [asdict(f) for f in self.failures], "kinds": self.kinds()}
