"""Questions with gold answers, read from files of JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mrag.errors import ConfigError
from mrag.evaluation.answers.comparison import GoldTable, gold_tables

ANSWERED = "answered"
"""The category of questions that name none."""


@dataclass(frozen=True)
class GoldQuestion:
    """A question, and what answers it.

    Attributes:
        id: Its name; a number of a line if the file gives none.
        text: The question.
        accepted: The gold answer and its alternatives; none if the graph does not answer it.
        category: What kind of question it is.
    """

    id: str
    text: str
    accepted: tuple[GoldTable, ...] = ()
    category: str = ANSWERED

    @property
    def answerable(self) -> bool:
        """Whether it has an answer; else the right thing is to say that there is none."""
        return bool(self.accepted)

    @classmethod
    def of(cls, fields: Mapping[str, Any], name: str = "1") -> GoldQuestion:
        """Read a question from the fields of a line.

        Args:
            fields: `question` and, as far as there is an answer, `answers`: rows, values, or one value.
                Optional are `id`, `category`, `alternatives` (each with `answers`), `choice_columns`,
                `ordered` with `order_groups`, and `unanswerable`.
            name: Its name if the fields give none.

        Raises:
            ConfigError: If a field is missing or is not what it should be.

        Example:
            >>> GoldQuestion.of({"question": "How many?", "answers": [[3]]}).accepted[0].rows
            ((3,),)
            >>> GoldQuestion.of({"question": "Why?"}).answerable
            False
        """
        text = fields.get("question")
        if not isinstance(text, str) or not text.strip():
            raise _wrong("question", "the words of the question")
        answers = fields.get("answers")
        no_answer = answers is None or answers == [] or fields.get("unanswerable") is True
        accepted = () if no_answer else _accepted(fields)
        category = str(fields.get("category") or (ANSWERED if accepted else "unanswerable"))
        return cls(str(fields.get("id", name)), text.strip(), accepted, category)


def read_questions(
    files: Path | str | Sequence[Path | str], *, only: Mapping[str, str] | None = None
) -> list[GoldQuestion]:
    """Read files of questions with gold answers, one JSON object a line.

    Args:
        files: A file, or several.
        only: Fields with the value that a question must have in each.

    Raises:
        ConfigError: If a file cannot be read, a line is not as it should be, an id comes twice, or no
            question is left; the error names file and line.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "q.jsonl"
        ...     _ = path.write_text('{"question": "How many cats?", "answers": [3], "db": "pets"}')
        ...     [question.text for question in read_questions(path, only={"db": "pets"})]
        ['How many cats?']
    """
    paths = [Path(file) for file in ([files] if isinstance(files, Path | str) else files)]
    found: dict[str, GoldQuestion] = {}
    for path in paths:
        for number, line in enumerate(_lines(path), start=1):
            if not line.strip():
                continue
            fields = _fields(line, path, number)
            if any(str(fields.get(name)) != value for name, value in (only or {}).items()):
                continue
            try:
                question = GoldQuestion.of(fields, f"{path.stem}-{number}")
            except ConfigError as error:
                raise ConfigError(error.message, file=str(path), line=number, hint=error.hint) from error
            if question.id in found:
                raise ConfigError(
                    f"Two questions have the id {question.id!r}.", file=str(path), line=number,
                    hint="Give each question an id of its own.",
                )  # fmt: skip
            found[question.id] = question
    if not found:
        raise ConfigError(
            "There are no questions.",
            file=", ".join(map(str, paths)),
            hint="Check the file" + (", and that a question has the fields asked for." if only else "."),
        )
    return list(found.values())


def _lines(path: Path) -> Iterable[str]:
    try:
        return path.read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        raise ConfigError(f"The file cannot be read: {error.strerror}.", file=str(path)) from error
    except UnicodeDecodeError as error:
        raise ConfigError("The file is not text in UTF-8.", file=str(path)) from error


def _fields(line: str, path: Path, number: int) -> dict[str, Any]:
    try:
        fields = json.loads(line)
    except ValueError as error:
        raise ConfigError(f"Not JSON: {error}.", file=str(path), line=number) from error
    if not isinstance(fields, dict):
        raise ConfigError("Not a JSON object.", file=str(path), line=number)
    return fields


def _accepted(fields: Mapping[str, Any]) -> tuple[GoldTable, ...]:
    alternatives = fields.get("alternatives", [])
    if not isinstance(alternatives, list) or not all(
        isinstance(a, dict) and a.get("answers") not in (None, []) for a in alternatives
    ):
        raise _wrong("alternatives", "a list of objects, each with `answers`")
    found = gold_tables(fields)
    for table, given in zip(found, (fields, *alternatives), strict=True):
        width = len(table.rows[0])
        if not width or any(len(row) != width for row in table.rows):
            raise _wrong("answers", "rows of one width")
        choice = given.get("choice_columns") or []
        if not all(isinstance(c, int) and 0 <= c < width for c in choice):
            raise _wrong("choice_columns", "indices of columns, from 0")
        if table.ranks is not None and len(table.ranks) != len(table.rows):
            raise _wrong("order_groups", "one rank for each row")
    return found


def _wrong(field: str, wanted: str) -> ConfigError:
    return ConfigError(f"The field `{field}` is missing or malformed.", hint=f"It holds {wanted}.")
