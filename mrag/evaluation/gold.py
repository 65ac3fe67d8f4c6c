"""Gold answers: questions read from JSON lines, and tables of values compared as sets of rows.

Rows are a set and columns may stand in any order. Whole numbers are equal or not, so that years and counts
are; other numbers may differ by one in a hundred. Text is compared without case and without what spaces
differ; a date is the same with or without a day that is the first and a time that is midnight.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, pairwise, product
from pathlib import Path
from typing import Any, TypeAlias

from mrag.errors import ConfigError
from mrag.evaluation.metrics import read_objects

Value: TypeAlias = int | float | str | None
Row: TypeAlias = tuple[Value, ...]

TOLERANCE = 0.01  # How far a number that is not whole may be from the gold one, relative to it

_WAYS = 20_000
"""Ways of taking columns for one another that are tried; tables of equal columns have very many."""

_DATE = re.compile(r"(\d{4}-\d\d)(-\d\d)?(?:[t ](\d\d:\d\d:\d\d)(?:\.0+)?(?:z|\+00:00)?)?")
_WHOLE = re.compile(r"[+-]?(?:0|[1-9]\d{0,14})")
_NUMBER = re.compile(r"(?<![\w.])[+-]?\d+(?:,\d{3})*(?:\.\d+)?(?!\w)")
_FRACTION = re.compile(r"[+-]?(?:\d+\.\d*|\.\d+|\d+(?:\.\d*)?e[+-]?\d+)")


@dataclass(frozen=True, slots=True)
class GoldTable:
    """One accepted answer, with rows of one width."""

    rows: tuple[Row, ...]
    choice: tuple[int, ...] = ()  # Indices of columns of which any will do, one or several of them
    # For each row its rank where the question asks for an order; equal ranks may change places
    ranks: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class AnswerScore:
    """How good an answer is."""

    exact: bool = False  # Whether its rows are those of an accepted answer
    contains: bool = False  # Whether they are if further columns are forgiven
    f1: float = 0.0  # Of the values, as sets, with the accepted answer that fits best


def value_of(value: object) -> Value:
    """Return a value as it is compared.

    Example:
        >>> [value_of(v) for v in ("  Two  Words ", "007", "7", "1.50", True, "false", "2023-04")]
        ['two words', '007', 7, 1.5, 1, 0, '2023-04-01']
        >>> value_of("2023-04-01T00:00:00Z"), value_of("2023-04-01 10:30:00")
        ('2023-04-01', '2023-04-01 10:30:00')
    """
    if isinstance(value, bool):
        return int(value)
    if value is None or isinstance(value, int | float):
        return value
    text = " ".join(str(value).split()).replace("\u2019", "'").casefold()
    if text in ("true", "false"):
        return int(text == "true")
    if date := _DATE.fullmatch(text):
        time = date[3] if date[3] not in (None, "00:00:00") else ""
        return f"{date[1]}{date[2] or '-01'} {time}".rstrip()
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _FRACTION.fullmatch(text) else text


def same(value: Value, gold: Value) -> bool:
    """Return whether a value is the gold one."""
    if isinstance(value, str) or isinstance(gold, str) or value is None or gold is None:
        return value == gold
    if float(value).is_integer() and float(gold).is_integer():
        return value == gold
    return abs(value - gold) <= TOLERANCE * abs(gold) + 1e-9


def table_of(answers: object, width: int | None = None) -> tuple[Row, ...]:
    """Return answers as rows: a list of rows, a list of values (a column) or a value alone."""
    if answers is None:
        return ()
    listed = list(answers) if isinstance(answers, list | tuple) else [answers]
    if not any(isinstance(row, list | tuple) for row in listed) and width == len(listed) and width > 1:
        return (tuple(map(value_of, listed)),)
    return tuple(
        tuple(map(value_of, row)) if isinstance(row, list | tuple) else (value_of(row),) for row in listed
    )


def score(accepted: Iterable[GoldTable], answers: object) -> AnswerScore:
    """Score an answer."""
    if not answers:
        return AnswerScore()
    exact = contains = False
    best = 0.0
    for gold in _choose(accepted):
        rows = table_of(answers, len(gold.rows[0]) if len(gold.rows) == 1 else None)
        best = max(best, values_f1(rows, gold.rows))
        contains = contains or _fits(rows, gold)
        exact = exact or (contains and _fits(rows, gold, wider=False))
    return AnswerScore(exact, contains, best)


def values_f1(rows: Sequence[Row], gold: Sequence[Row]) -> float:
    """Return the F1 of the values of a table as a set, whatever row they stand in."""
    given, wanted = _distinct(rows), _distinct(gold)
    if not given or not wanted:
        return 0.0
    recall = sum(any(same(f, w) for f in given) for w in wanted) / len(wanted)
    precision = sum(any(same(f, w) for w in wanted) for f in given) / len(given)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def mentions(text: str, accepted: Iterable[GoldTable]) -> bool:
    """Return whether a text names all values of an accepted answer."""
    plain = " ".join(text.split()).replace("\u2019", "'").casefold()
    numbers = [value_of(word.replace(",", "")) for word in _NUMBER.findall(plain)]

    def named(value: Value) -> bool:
        if isinstance(value, str):
            return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", plain) is not None
        return any(same(number, value) for number in numbers)

    return any(all(named(v) for row in gold.rows for v in row if v is not None) for gold in _choose(accepted))


def _choose(accepted: Iterable[GoldTable]) -> Iterator[GoldTable]:
    """Yield each accepted answer, and it with each choice of its columns of which any will do."""
    for gold in accepted:
        if not gold.rows:
            continue
        yield gold
        for count in range(1, len(gold.choice)):
            for kept in combinations(gold.choice, count):
                at = [c for c in range(len(gold.rows[0])) if c not in gold.choice or c in kept]
                yield GoldTable(tuple(tuple(row[c] for c in at) for row in gold.rows), (), gold.ranks)


def _fits(rows: Sequence[Row], gold: GoldTable, *, wider: bool = True) -> bool:
    """Return whether rows are those of a gold answer under some way of taking columns for one another."""
    if len({len(row) for row in rows}) != 1:
        return False
    wanted = _unique(gold.rows)
    for columns in _columns(rows, gold.rows, wider):
        distinct = _unique(tuple(row[c] for c in columns) for row in rows)
        order = _pair(distinct, wanted) if len(distinct) == len(wanted) else None
        if order is None:
            continue
        if gold.ranks is None:
            return True
        ranks = [gold.ranks[gold.rows.index(wanted[i])] for i in order]
        if all(one <= other for one, other in pairwise(ranks)):
            return True
    return False


def _columns(rows: Sequence[Row], gold: Sequence[Row], wider: bool) -> Iterator[tuple[int, ...]]:
    """Yield, for each gold column, a column that holds the same values; no column twice."""
    have, want = len(rows[0]), len(gold[0])
    if have < want or (have > want and not wider):
        return
    values = [set(column) for column in zip(*rows, strict=True)]
    wanted = [set(column) for column in zip(*gold, strict=True)]
    fitting = [[p for p in range(have) if _covers(values[p], column)] for column in wanted]
    for columns in islice(product(*fitting), _WAYS + 1):
        if len(set(columns)) == want:
            yield columns


def _covers(values: set[Value], wanted: set[Value]) -> bool:
    return all(any(same(f, w) for f in values) for w in wanted - values) and all(
        any(same(f, w) for w in wanted) for f in values - wanted
    )


def _pair(rows: Sequence[Row], gold: Sequence[Row]) -> list[int] | None:
    """Return which gold row each row is, no gold row twice; None if a row is none of them."""
    free: defaultdict[Hashable, list[int]] = defaultdict(list)
    for i, row in enumerate(gold):
        free[_key(row)].append(i)
    order = []
    for row in rows:
        near = free[_key(row)]
        at = next((i for i in near if all(map(same, row, gold[i]))), None)
        if at is None:
            return None
        near.remove(at)
        order.append(at)
    return order


def _unique(rows: Iterable[Row]) -> list[Row]:
    """Return rows without those that are equal to one before, in order."""
    near: defaultdict[Hashable, list[Row]] = defaultdict(list)
    distinct = []
    for row in dict.fromkeys(rows):
        seen = near[_key(row)]
        if not any(all(map(same, row, one)) and all(map(same, one, row)) for one in seen):
            seen.append(row)
            distinct.append(row)
    return distinct


def _key(row: Row) -> Hashable:
    """Return what equal rows have in common: their texts, and where numbers stand."""
    return tuple(cell if isinstance(cell, str) or cell is None else 0 for cell in row)


def _distinct(rows: Iterable[Row]) -> list[Value]:
    distinct: list[Value] = []
    for value in dict.fromkeys(value for row in rows for value in row if value is not None):
        if isinstance(value, str) or not any(same(value, one) for one in distinct):
            distinct.append(value)
    return distinct


ANSWERED = "answered"  # The category of questions that name none


@dataclass(frozen=True)
class GoldQuestion:
    """A question, and what answers it."""

    id: str
    text: str
    # The gold answer and its alternatives; none if the graph does not answer it
    accepted: tuple[GoldTable, ...] = ()
    category: str = ANSWERED

    @property
    def answerable(self) -> bool:
        """Whether it has an answer; else the right thing is to say that there is none."""
        return bool(self.accepted)

    @classmethod
    def of(cls, fields: Mapping[str, Any], name: str = "1") -> GoldQuestion:
        """Read a question from the fields of a line."""
        text = fields.get("question")
        if not isinstance(text, str) or not text.strip():
            raise _wrong("question", "the words of the question")
        answers = fields.get("answers")
        no_answer = answers is None or answers == [] or fields.get("unanswerable") is True
        accepted = () if no_answer else _accept(fields)
        category = str(fields.get("category") or (ANSWERED if accepted else "unanswerable"))
        return cls(str(fields.get("id", name)), text.strip(), accepted, category)


def read_questions(
    files: Path | str | Sequence[Path | str], *, only: Mapping[str, str] | None = None
) -> list[GoldQuestion]:
    """Read files of questions with gold answers, one JSON object a line.

    With `only`, those that have these values in these fields.

    Raises:
        LoadError: If a file cannot be read, or a line is no JSON object; it names file and line.
        ConfigError: If a field is not as it should be, an id comes twice, or no question is left.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "q.jsonl"
        ...     _ = path.write_text('{"question": "How many cats?", "answers": [3], "db": "pets"}')
        ...     [question.text for question in read_questions(path, only={"db": "pets"})]
        ['How many cats?']
    """
    paths = [Path(file) for file in ([files] if isinstance(files, Path | str) else files)]
    questions: dict[str, GoldQuestion] = {}
    for path in paths:
        for number, fields in read_objects(path):
            if any(str(fields.get(name)) != value for name, value in (only or {}).items()):
                continue
            try:
                question = GoldQuestion.of(fields, f"{path.stem}-{number}")
            except ConfigError as error:
                raise ConfigError(error.message, file=str(path), line=number, hint=error.hint) from error
            if question.id in questions:
                raise ConfigError(
                    f"Two questions have the id {question.id!r}.", file=str(path), line=number,
                    hint="Give each question an id of its own.",
                )  # fmt: skip
            questions[question.id] = question
    if not questions:
        hint = "Check the file" + (", and that a question has the fields asked for." if only else ".")
        raise ConfigError("There are no questions.", file=", ".join(map(str, paths)), hint=hint)
    return list(questions.values())


def _accept(fields: Mapping[str, Any]) -> tuple[GoldTable, ...]:
    """Return the accepted answers of a question: its `answers` and those of its `alternatives`."""
    alternatives = fields.get("alternatives", [])
    if not isinstance(alternatives, list) or not all(
        isinstance(a, dict) and a.get("answers") not in (None, []) for a in alternatives
    ):
        raise _wrong("alternatives", "a list of objects, each with `answers`")
    tables = []
    for given in (fields, *alternatives):
        rows, choice = table_of(given["answers"]), tuple(given.get("choice_columns") or ())
        ranks = tuple(given.get("order_groups") or ()) if fields.get("ordered") else ()
        width = len(rows[0])
        if not width or any(len(row) != width for row in rows):
            raise _wrong("answers", "rows of one width")
        if not all(isinstance(c, int) and 0 <= c < width for c in choice):
            raise _wrong("choice_columns", "indices of columns, from 0")
        if ranks and len(ranks) != len(rows):
            raise _wrong("order_groups", "one rank for each row")
        tables.append(GoldTable(rows, choice, ranks or None))
    return tuple(tables)


def _wrong(field: str, wanted: str) -> ConfigError:
    return ConfigError(f"The field `{field}` is missing or malformed.", hint=f"It holds {wanted}.")
