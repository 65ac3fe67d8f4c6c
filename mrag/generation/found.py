"""What an answer holds that was found beside the graph's own triples: words of texts, and images."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from typing import Literal as OneOf

from mrag.context.render import Line
from mrag.errors import ModelError


@dataclass(frozen=True)
class EvidenceRef:
    """Where a completed triple was read.

    Attributes:
        iri: The evidence node: a passage, a region of an image, or an image.
        quote: The words relied on, as they stand there.
        kind: What the node is.
        source: The document or file that it belongs to.
    """

    iri: str
    quote: str
    kind: OneOf["passage", "region", "image"]
    source: str


@dataclass(frozen=True)
class Completed:
    """How an answer was completed from evidence.

    Attributes:
        answers: The values that answer the question, as a person reads them, best supported first.
        evidence: For the id of each cited line that was read in evidence, where.
        missing: Triples that the question needs and that neither the graph nor the evidence has.
        ungrounded: Words of the question that name nothing in the graph.
        truncated: Whether there are more solutions than were read.
        triples: What was read, as JSON values: the triple, its confidence and its evidence.
        run: What became of it, as `CompletionRun.to_json` returns it; None where nothing is kept for review.
        entered: Number of triples that came into the graph.
        reading: How the question was read, as JSON values: the triples of its plan, what they ask in words,
            how sure the planner is, and what of the question is unread.
    """

    answers: tuple[str, ...] = ()
    evidence: Mapping[str, tuple[EvidenceRef, ...]] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    ungrounded: tuple[str, ...] = ()
    truncated: bool = False
    triples: tuple[Mapping[str, Any], ...] = ()
    run: Mapping[str, Any] | None = None
    entered: int = 0
    reading: Mapping[str, Any] | None = None

    @property
    def read_as(self) -> str:
        """Return how the question was read, in words; "" where that is not known."""
        if self.reading is None:
            return ""
        asks = " ".join(self.reading.get("asks") or ()) or ", ".join(self.reading["plan"])
        plan = f"plan {', '.join(self.reading['plan'])}, " if self.reading.get("asks") else ""
        return f"{asks} ({plan}score {self.reading['score']:.2f})"

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "answers": list(self.answers),
            "evidence": {line: [asdict(ref) for ref in refs] for line, refs in self.evidence.items()},
            "missing": list(self.missing),
            "ungrounded": list(self.ungrounded),
            "truncated": self.truncated,
            "completed": [dict(triple) for triple in self.triples],
            "run": None if self.run is None else dict(self.run),
            "entered": self.entered,
            "read_as": None if self.reading is None else dict(self.reading),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Completed:
        """Read what `to_json` wrote.

        Raises:
            ModelError: If a field is missing or of another type.
        """
        try:
            evidence = {
                str(line): tuple(EvidenceRef(**ref) for ref in refs)
                for line, refs in value["evidence"].items()
            }
            return cls(
                tuple(map(str, value["answers"])), evidence, tuple(map(str, value["missing"])),
                tuple(map(str, value["ungrounded"])), bool(value["truncated"]),
                tuple(dict(triple) for triple in value["completed"]), value["run"], int(value["entered"]),
                value.get("read_as"),
            )  # fmt: skip
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ModelError(
                "Not the JSON form of a completed answer.", hint=f"Missing or malformed: {error}."
            ) from error


@dataclass(frozen=True)
class ShownImage:
    """An image that was found.

    Attributes:
        iri: The image.
        name: What to call it.
        path: Its file; None where there is none that may be read.
        score: As the ranker gave it.
        rank: Counted from 1.
        reasons: Why it was found.
        lines: The triples about it and its parts, as the context has them.
    """

    iri: str
    name: str
    path: Path | None
    score: float
    rank: int
    reasons: tuple[str, ...]
    lines: tuple[Line, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the image in types that JSON has."""
        return {
            "iri": self.iri,
            "name": self.name,
            "path": None if self.path is None else str(self.path),
            "score": self.score,
            "rank": self.rank,
            "reasons": list(self.reasons),
            "lines": [line.id for line in self.lines],
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any], lines: Mapping[str, Line]) -> ShownImage:
        """Read what `to_json` wrote.

        Args:
            value: The JSON form.
            lines: The lines of the answer's context by id.

        Raises:
            ModelError: If a field is missing or of another type.
        """
        try:
            path = value["path"]
            return cls(
                str(value["iri"]), str(value["name"]), None if path is None else Path(path),
                float(value["score"]), int(value["rank"]), tuple(map(str, value["reasons"])),
                tuple(lines[one] for one in value["lines"]),
            )  # fmt: skip
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(
                "Not the JSON form of an image that was found.", hint=f"Missing or malformed: {error}."
            ) from error
