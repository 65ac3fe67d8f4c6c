"""What a computed answer holds beside its words: how the question was read, what was run, and its rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mrag.errors import ModelError, TermError
from mrag.rdf.terms import Term, term_from_json, term_to_json

CERTAIN = 0.9
"""Certainty below which an answer says that its reading is not certain."""
PROBABLE = 0.7
"""Certainty from which on it is called probable."""


@dataclass(frozen=True, slots=True)
class AnswerCell:
    """A cell of a computed answer.

    Attributes:
        term: The entity or value; None where there is none.
        label: How it is shown.
    """

    term: Term | None
    label: str

    def to_json(self) -> dict[str, Any] | None:
        """Return the cell as `{type, value, label}`; None for an empty one."""
        return None if self.term is None else {**term_to_json(self.term), "label": self.label}

    @classmethod
    def from_json(cls, value: Mapping[str, Any] | None) -> AnswerCell:
        """Read a cell written by `to_json`.

        Raises:
            TermError: If it holds no term.
        """
        if value is None:
            return cls(None, "")
        return cls(term_from_json(value), str(value.get("label", "")))


@dataclass(frozen=True, slots=True)
class OtherReading:
    """Another way of reading a question, which gives another answer.

    Attributes:
        number: How to choose it: `mrag ask --reading 2`.
        reading: The reading in words.
        answer: Its answer in brief.
    """

    number: int
    reading: str
    answer: str

    def __str__(self) -> str:
        return f"{self.answer}, read as: {self.reading}"

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {"number": self.number, "reading": self.reading, "answer": self.answer}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> OtherReading:
        """Read what `to_json` wrote."""
        return cls(int(value["number"]), str(value["reading"]), str(value["answer"]))


def doubt_of(confidence: float) -> str:
    """Return what an answer begins with that is not certain: "Probably" or, below .7, "Perhaps".

    Example:
        >>> doubt_of(0.95), doubt_of(0.8), doubt_of(0.6)
        ('', 'Probably', 'Perhaps')
    """
    return "" if confidence >= CERTAIN else "Probably" if confidence >= PROBABLE else "Perhaps"


@dataclass(frozen=True, slots=True)
class Computed:
    """How an answer was computed.

    Attributes:
        reading: How the question was read, in words.
        plan: The query plan as JSON values, as `mrag.planning.plan_to_json` returns it.
        query: The SPARQL that was run; it can be pasted into any endpoint.
        columns: Names of the columns of `rows`.
        rows: The rows.
        confidence: How likely the reading is what was meant, from 0 to 1.
        ignored: Words of the question that were not read.
        readings: Other readings that give other answers.
        truncated: Whether there may be more rows.
        runners_up: The rows that come next, where only the first were asked for: what `rows` shows, and
            behind it what they are ordered by.
        last: The last of `rows` in the same columns, if `rows` does not show what it is ordered by.
        follows: What the question goes on from, as JSON values: the question before it, its plan and columns,
            and what that went on from; None for a question that stands alone.
    """

    reading: str
    plan: Mapping[str, Any]
    query: str
    columns: tuple[str, ...]
    rows: tuple[tuple[AnswerCell, ...], ...]
    confidence: float = 1.0
    ignored: tuple[str, ...] = ()
    readings: tuple[OtherReading, ...] = ()
    truncated: bool = False
    runners_up: tuple[tuple[AnswerCell, ...], ...] = ()
    last: tuple[AnswerCell, ...] = ()
    follows: Mapping[str, Any] | None = None

    @property
    def next(self) -> str:
        """Return the runners-up in a line, "" if there are none."""
        rows = [_line(row) for row in self.runners_up]
        return f"{_line(self.last)}, then {'; '.join(rows)}" if rows and self.last else "; ".join(rows)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "reading": self.reading,
            "plan": dict(self.plan),
            "query": self.query,
            "columns": list(self.columns),
            "rows": [[cell.to_json() for cell in row] for row in self.rows],
            "confidence": round(self.confidence, 4),
            "ignored": list(self.ignored),
            "doubt": doubt_of(self.confidence),
            "readings": [other.to_json() for other in self.readings],
            "truncated": self.truncated,
            "runners_up": [[cell.to_json() for cell in row] for row in self.runners_up],
            "last": [cell.to_json() for cell in self.last],
            **({} if self.follows is None else {"follows": dict(self.follows)}),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Computed:
        """Read what `to_json` wrote.

        Raises:
            ModelError: If a field is missing or of another type.
        """
        try:
            rows, runners_up, last = (
                tuple(tuple(AnswerCell.from_json(cell) for cell in row) for row in some)
                for some in (value["rows"], value.get("runners_up", ()), (value.get("last", ()),))
            )
            others = tuple(map(OtherReading.from_json, value["readings"]))
            return cls(
                str(value["reading"]), dict(value["plan"]), str(value["query"]),
                tuple(map(str, value["columns"])), rows, float(value["confidence"]),
                tuple(map(str, value["ignored"])), others, bool(value["truncated"]),
                runners_up, last[0], None if value.get("follows") is None else dict(value["follows"]),
            )  # fmt: skip
        except (KeyError, TypeError, ValueError, AttributeError, TermError) as error:
            raise ModelError(
                "Not the JSON form of a computed answer.", hint=f"Missing or malformed: {error}."
            ) from error


def _line(row: tuple[AnswerCell, ...]) -> str:
    first, *others = (cell.label or "none" for cell in row)
    return f"{first}: {', '.join(others)}" if others else first
