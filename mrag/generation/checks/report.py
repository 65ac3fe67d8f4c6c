"""What a check of an answer found: what is wrong, and of each part how far it was checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, get_args
from typing import Literal as OneOf

from mrag.context.render import Line
from mrag.errors import ModelError
from mrag.generation.lines import line_from_json, line_to_json
from mrag.terminal import inline

State: TypeAlias = OneOf["recomputed", "signed", "not checked"]

SENTENCES = "the sentences"
TRIPLES = "the cited triples"
READING = "that the query is a reading of the question"


@dataclass(frozen=True, slots=True)
class CheckedPart:
    """One part of an answer or of its receipt, and what vouches for it.

    Attributes:
        name: What it is, in words.
        state: `recomputed` from the graph or from other parts; `signed` by somebody who is trusted and, if it
            is part of an answer, recomputed it; else `not checked`.
        note: By whom it is signed, or why it is not checked.
    """

    name: str
    state: State
    note: str = ""


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What is wrong with an answer; nothing, when `ok`.

    Attributes:
        checked: How many cited triples were looked up.
        missing: Cited lines whose triples are no longer in their graphs.
        unknown: Ids that are cited and that no line of the answer's context has.
        altered: What does not agree with what was recorded beside it, or with what is computed now, in words.
        unsupported: Sentences that are marked as supported and that the cited lines do not support.
        parts: What vouches for each part; what none of them names is part of the form, which was read whole.
        flagged: Sentences that the answer itself marks as not supported, and that are not.
    """

    checked: int = 0
    missing: tuple[Line, ...] = ()
    unknown: tuple[str, ...] = ()
    altered: tuple[str, ...] = ()
    unsupported: tuple[str, ...] = ()
    parts: tuple[CheckedPart, ...] = ()
    flagged: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong; of what is not checked `parts` tells."""
        return not (self.missing or self.unknown or self.altered or self.unsupported)

    @property
    def complete(self) -> bool:
        """Whether nothing is wrong and every part is recomputed or signed."""
        return self.ok and bool(self.parts) and not self.of("not checked")

    def of(self, state: State) -> tuple[CheckedPart, ...]:
        """Return the parts of one state."""
        return tuple(part for part in self.parts if part.state == state)

    def recomputed(self, name: str) -> bool:
        """Return whether a part was recomputed."""
        return any(part.name == name for part in self.of("recomputed"))

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return {
            "ok": self.ok,
            "complete": self.complete,
            "checked": self.checked,
            "missing": [line_to_json(line) for line in self.missing],
            "unknown": list(self.unknown),
            "altered": list(self.altered),
            "unsupported": list(self.unsupported),
            "flagged": list(self.flagged),
            "parts": [{"part": p.name, "state": p.state, "note": p.note} for p in self.parts],
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> VerifyReport:
        """Read what `to_json` wrote.

        Raises:
            ModelError: If a field is missing or of another type.
        """
        try:
            parts = tuple(CheckedPart(str(p["part"]), p["state"], str(p["note"])) for p in value["parts"])
            if not {part.state for part in parts} <= {*get_args(State)}:
                raise ValueError("no such state")
            return cls(
                int(value["checked"]),
                tuple(map(line_from_json, value["missing"])),
                tuple(map(str, value["unknown"])),
                tuple(map(str, value["altered"])),
                tuple(map(str, value["unsupported"])),
                parts,
                tuple(map(str, value.get("flagged", ()))),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ModelError("Not the report of a check.", hint=f"Missing or malformed: {error}.") from error

    def __str__(self) -> str:
        if self.ok:
            rows = [self._headline()]
            rows += [f"Marked as not supported, which is so: {text}" for text in self.flagged]
        else:
            rows = [f"No longer in the graph: [{line.id}] {line.text}" for line in self.missing]
            rows += [f"Cited but not in the context: {one}" for one in self.unknown]
            rows += [f"Altered: {what}" for what in self.altered]
            rows += [f"Not supported by what it cites: {text}" for text in self.unsupported]
        for state in ("not checked", "signed", "recomputed"):
            if said := _told(self.of(state)):
                rows.append(f"{state.capitalize()}: {said}.")
        return "\n".join(map(inline, rows))

    def _headline(self) -> str:
        if not self.recomputed(TRIPLES):
            by = {part.note for part in self.of("signed")}
            signed = f", and it is signed {' and '.join(sorted(by))}" if by else ""
            return f"Nothing in it contradicts the rest{signed}; the graph was not asked."
        many = f"{self.checked} cited {'triple is' if self.checked == 1 else 'triples are'}"
        there = f"{many} in the graph"
        if self.complete:
            return (
                f"Verified: {there}, and every sentence holds{' that is not marked' if self.flagged else ''}."
            )
        follows = ", and what is not marked follows" if self.flagged else ", and the sentences follow"
        return f"Verified in part: {there}{f'{follows} from them' if self.recomputed(SENTENCES) else ''}."


def _told(parts: Iterable[CheckedPart]) -> str:
    """Return parts in words, those of one note together."""
    notes: dict[str, list[str]] = {}
    for part in parts:
        notes.setdefault(part.note, []).append(part.name)
    said = (", ".join(names) + (f" ({note})" if note else "") for note, names in notes.items())
    return "; ".join(said)
