"""What a language model wrote, read as a plan: tolerant of form, strict about substance.

JSON is read wherever it stands in the text; else lines of triples, with or without numbers, bullets, fences,
brackets and quotes. What is read is data: texts of slots, never queries.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mrag.completion.plan.patterns import IncompleteTriple, Slot, TriplePlan, is_text
from mrag.errors import ModelError
from mrag.generation.models.calls import json_values
from mrag.planning.plan import Unknown

MAX_TRIPLES = 12
"""Triples of a plan after which it is refused: a model that repeats itself has no plan."""

_LONGEST = 300
_MAX_READ = 20_000
_FENCE = re.compile(r"^[^\S\n]*+(?:```|~~~)[\w-]*+[^\S\n]*+$", re.MULTILINE)
_NUMBERING = re.compile(
    r"^\s*(?:[-*•+]|\(?\d+[.):]|\(?[a-zA-Z][.)]|(?:triples?|step)\s*+(?:\d++\s*+)?[:.])\s*", re.IGNORECASE
)
_UNKNOWN = re.compile(r"\A[?$]\s*([A-Za-z_]\w*)?\Z")
_ANSWER = re.compile(r"\A\W*answer\b\W*([?$]\w+)", re.IGNORECASE)
_QUESTION = re.compile(r"\?\W*\Z")
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "`": "`", "„": "“"}
_OPEN, _CLOSE = "([{<", ")]}>"


def read_plan(question: str, text: str, planner: str) -> TriplePlan:
    """Read a plan.

    Args:
        question: The question that it is for.
        text: What the model wrote.
        planner: Name of the planner.

    Raises:
        ModelError: If there is no plan in it, with what is wrong in words that a model can act on.

    Example:
        >>> plan = read_plan("Who?", "1) (Crouching Tiger, Hidden Dragon, directed by, ?who)", "hand")
        >>> plan.triples[0].subject, plan.triples[0].predicate, str(plan.answer)
        ('Crouching Tiger, Hidden Dragon', 'directed by', '?who')
    """
    bare = _FENCE.sub("", text[:_MAX_READ])
    values = list(json_values(bare))
    for value in values:
        if _holds_triples(value):
            return plan_of(question, value, planner)
    if triples := [value for value in values if _is_triple(value)]:
        return plan_of(question, triples, planner)  # what is left of JSON that was cut off
    rows: list[tuple[Sequence[str], str]] = []
    asked: list[str] = []
    answer = ""
    for line in bare.splitlines():
        content = _NUMBERING.sub("", line.strip())
        if found := _ANSWER.match(content):
            answer = found[1]
        elif fields := _fields(content):
            rows.append((fields, line.strip()))
        elif _QUESTION.search(content) and len(content) < _LONGEST:
            asked.append(content.strip())
    return _plan(question, [_three(fields, line) for fields, line in rows], asked, answer, planner)


def plan_of(question: str, value: Any, planner: str) -> TriplePlan:
    """Read a plan from parsed JSON: an object with `sub_questions`, `triples` and `answer`, or the triples.

    Raises:
        ModelError: If it is none.

    Example:
        >>> value = {"sub_questions": ["Who?"], "triples": [["Up", "directed by", "?x"]], "answer": "?x"}
        >>> print(plan_of("Who?", value, "hand").triples[0])
        (Up, directed by, ?x)
    """
    if isinstance(value, list):
        value = {"triples": value}
    if not isinstance(value, Mapping):
        raise ModelError("The plan is not a JSON object.", hint='Write {"triples": [...], "answer": "?x"}.')
    kept = {str(key).casefold().replace(" ", "_").replace("-", "_"): given for key, given in value.items()}
    triples = kept.get("triples", kept.get("triple", []))
    if _is_triple(triples) and not any(_fields(x) for x in triples):
        triples = [triples]
    if not isinstance(triples, list):
        raise ModelError("`triples` is not a list.", hint='Write "triples": [["subject", "relation", "?x"]].')
    asked = kept.get("sub_questions", kept.get("subquestions", []))
    asked = [asked] if isinstance(asked, str) else asked if isinstance(asked, list) else []
    rows = [_row(triple) for triple in triples]
    answer = kept.get("answer", "")
    return _plan(question, rows, [str(q) for q in asked if str(q).strip()], str(answer), planner)


def _row(triple: Any) -> tuple[str, str, str]:
    if isinstance(triple, Mapping):
        kept = {str(key).casefold(): given for key, given in triple.items()}
        names = (
            ("subject", "head", "s", "h"),
            ("predicate", "relation", "p", "r"),
            ("object", "tail", "o", "t"),
        )
        found = [next((kept[n] for n in several if n in kept), None) for several in names]
        if all(isinstance(x, str | int | float) for x in found):
            return str(found[0]), str(found[1]), str(found[2])
    if isinstance(triple, list) and all(isinstance(x, str | int | float) for x in triple):
        if len(triple) == 1 and isinstance(triple[0], str):
            return _row(triple[0])
        return _three([str(x) for x in triple], json.dumps(triple, ensure_ascii=False))
    if isinstance(triple, str) and (fields := _fields(_NUMBERING.sub("", triple.strip()))):
        return _three(fields, triple)
    raise ModelError(
        "A triple does not have subject, relation and object.",
        term=str(triple)[:80],
        hint='Write each as ["subject", "relation", "object"].',
    )


def _holds_triples(value: Any) -> bool:
    if isinstance(value, dict):
        return any("triple" in str(key).casefold() for key in value)
    return isinstance(value, list) and bool(value) and all(isinstance(x, list | dict) for x in value)


def _is_triple(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 3 and all(isinstance(x, str) for x in value)


def _fields(line: str) -> list[str]:
    """Cut a line such as `(a, "b, c", ?x)` or `a | b | ?x` at what separates; empty if it is no triple."""
    text = line.strip().rstrip(".;,")
    bracketed = bool(text) and text[0] in _OPEN and text[-1] in _CLOSE
    if bracketed:
        text = text[1:-1]
    for separator in ("|", "\t", " -> ", "→", ";", ","):
        fields = _cut(text, separator)
        if len(fields) >= 3 and (bracketed or separator != "," or any(_UNKNOWN.match(f) for f in fields)):
            return fields
    return []


def _cut(text: str, separator: str) -> list[str]:
    """Cut at a separator outside quotes and brackets; spaces around a piece and its quotes go."""
    pieces, piece, depth, quote, at = [], "", 0, "", 0
    while at < len(text):
        char = text[at]
        begins = not piece.strip()
        if quote and char == "\\":
            piece, at = piece + text[at : at + 2], at + 2
            continue
        if quote:
            quote = "" if char == quote and not text[at + 1 : at + 2].isalnum() else quote
        elif begins and char in _QUOTES and _QUOTES[char] in text[at + 1 :]:
            quote = _QUOTES[char]
        elif char in _OPEN:
            depth += 1
        elif char in _CLOSE:
            depth = max(0, depth - 1)
        if not quote and not depth and text.startswith(separator, at):
            pieces.append(piece)
            piece, at = "", at + len(separator)
            continue
        piece, at = piece + char, at + 1
    return [_unquoted(p) for p in (*pieces, piece)]


def _unquoted(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] in _QUOTES and text[-1] == _QUOTES[text[0]]:
        text = text[1:-1].strip()
    return text.replace('\\"', '"')


def _three(fields: Sequence[str], line: str) -> tuple[str, str, str]:
    """Return three fields, joining what a comma inside a name has cut, by where the unknowns stand."""
    if len(fields) > 3:
        unknown = [at for at, field in enumerate(fields) if _UNKNOWN.match(field)]
        last = len(fields) - 1
        if unknown == [last]:
            fields = [", ".join(fields[:-2]), *fields[-2:]]
        elif unknown == [0]:
            fields = [*fields[:2], ", ".join(fields[2:])]
        elif len(unknown) == 1:
            fields = [
                ", ".join(fields[: unknown[0]]),
                fields[unknown[0]],
                ", ".join(fields[unknown[0] + 1 :]),
            ]
        elif unknown == [0, last]:
            fields = [fields[0], ", ".join(fields[1:last]), fields[last]]
    if len(fields) != 3 or not all(fields):
        raise ModelError(
            f"A triple has {len(fields)} parts instead of three.",
            term=line[:80],
            hint="Write (subject, relation, object), with quotes around a name that has a comma in it.",
        )
    return fields[0], fields[1], fields[2]


def _plan(
    question: str, rows: Iterable[tuple[str, str, str]], asked: Iterable[str], answer: str, planner: str
) -> TriplePlan:
    triples = tuple(dict.fromkeys(IncompleteTriple(*(_slot(x) for x in row)) for row in rows))
    if not triples:
        raise ModelError(
            "There is no triple in it.", hint="Write at least one (subject, relation, ?unknown)."
        )
    if len(triples) > MAX_TRIPLES:
        raise ModelError(f"There are {len(triples)} triples.", hint=f"Write at most {MAX_TRIPLES}.")
    unknowns = list(dict.fromkeys(u for triple in triples for u in triple.unknowns()))
    if not unknowns:
        raise ModelError(
            "No triple has an unknown.", hint="Write ?x in the place of what is asked for, as in (a, b, ?x)."
        )
    wanted = unknowns[-1]
    if given := answer.strip():
        found = _UNKNOWN.match(given)
        wanted = Unknown((found[1] or "x") if found else given)
        if wanted not in unknowns and len(unknowns) == 1:
            [wanted] = unknowns  # there is nothing else that could be asked for
        elif wanted not in unknowns:
            hint = f"It is one of {', '.join(map(str, unknowns))}."
            raise ModelError(f"The answer {given[:40]} is in no triple.", hint=hint)
    # What a question names is no answer to it: "other films of the director of Alien" are the others.
    named = dict.fromkeys(slot for t in triples for slot in (t.subject, t.object) if is_text(slot))
    return TriplePlan(question, tuple(asked), triples, wanted, planner, tuple(named))


def _slot(text: str) -> Slot:
    text = _unquoted(" ".join(str(text).split()))[:_LONGEST]
    if found := _UNKNOWN.match(text):
        return Unknown(found[1] or "x")
    return text
