"""Answers given again, to see what of an answer is so: by plan and question, or by what is found now."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from mrag.errors import ConfigError, MragError
from mrag.generation.answering import answer
from mrag.generation.checks.form import differences
from mrag.generation.checks.report import READING, CheckedPart
from mrag.generation.computed import OtherReading
from mrag.generation.models.resolve import without_unused
from mrag.generation.prompts import PENDING
from mrag.generation.receipts.canonical import same
from mrag.generation.result import Answer
from mrag.generation.verification import Recomputed
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import compute, replay
from mrag.planning.results import CERTAIN
from mrag.retrieval.routing import ASKED_FOR, computed, routed, uncomputed

_TRIES: Final = 3
_MOST_READINGS: Final = 6
_SECONDS: Final = 30.0

ROWS = "the query and its rows"
CERTAINTY = "the certainty and the other readings"
FOUND = "that these lines are what the question finds"
WRITER = "who wrote it"
WHY = "why it was answered so"
NOTICE = "the notice"
IMAGES = "the images and their order"

_ELSEWHERE = re.compile(r"read as a follow-up|saved as |read like the saved|\Z")
"""Why a plan was taken that need not be a reading of its question alone."""

Retrieve = Callable[[str], Any]


def answered_again(kg: KnowledgeGraph, value: Mapping[str, Any], retrieve: Retrieve) -> Recomputed:
    """Answer the question of an answer again, and compare.

    Args:
        kg: The graph.
        value: The JSON form of the answer, whose form is known to be right.
        retrieve: Returns what the answer to a question is read in.
    """
    if value.get("plan"):
        return _computed_again(kg, value)
    return _read_again(kg, value, retrieve)


# -- Computed answers -----------------------------------------------------------------------------------


def _computed_again(kg: KnowledgeGraph, value: Mapping[str, Any]) -> Recomputed:
    """Compute an answer again: by the reading of its question that has its plan, else by the plan alone."""
    question = str(value["question"])
    first, number, given, why = None, 0, None, ""
    for number in range(1, _MOST_READINGS):
        try:
            attempt = compute(kg, question, reading=number, seconds=_SECONDS)
        except ConfigError:
            break
        first = first or attempt
        now = attempt.answer.to_json() if attempt.answer is not None else {}
        if now and same(now["plan"], value["plan"]) and same(now["columns"], value["columns"]):
            given, why = attempt.answer, attempt.why
            break
        if attempt.answer is None:
            break
    if given is None:
        again = replay(kg, value)
        sure = first is not None and first.answer is not None and first.answer.computed is not None
        certain = sure and first is not None and first.sure and _confidence(first.answer) >= CERTAIN
        other = str(first.answer.computed.reading) if sure else ""  # type: ignore[union-attr]
        elsewhere = _ELSEWHERE.match(str(value.get("why", ""))) is not None
        wrong = [f"the question is read otherwise: {other}"] if certain and not elsewhere else []
        reading = CheckedPart(
            READING, "not checked", "it may go on from another question, or a model read it"
        )
        rest = CheckedPart(CERTAINTY, "not checked", "they belong to a reading of the question")
        parts = [reading, rest, CheckedPart(WHY, "not checked", "it is no reading of the question alone")]
        return _compared(kg, value, again, parts, wrong, _OF_READING)
    soft, doubtful = _soft(kg, value, given, number)
    right = str(value.get("why", "")) in ("", why, f"reading {number} was asked for")
    told = (
        CheckedPart(WHY, "recomputed")
        if right
        else CheckedPart(WHY, "not checked", "a model may have helped")
    )
    parts = [CheckedPart(READING, "recomputed"), *soft, told]
    if _ELSEWHERE.match(str(value.get("why", ""))):
        # It was saved, or taught: its reading is certain by what somebody said.
        return _compared(kg, value, given, [*parts[:1], told], [], ("why", "readings", "confidence"))
    sure = _confidence(given) >= CERTAIN
    wrong = ["why it was answered so is not what is found now"] if sure and not right else []
    # What a model did is told by a notice of that time.
    apart = ("why", "readings", "confidence", *(() if right else ("notice",)))
    return _compared(kg, value, given, parts, [*wrong, *doubtful], apart)


_OF_READING = ("why", "readings", "confidence", "ignored", "notice")


def _confidence(given: Answer | None) -> float:
    sure = given.computed if given is not None else None
    return 0.0 if sure is None or sure.ignored else sure.confidence


def _soft(
    kg: KnowledgeGraph, value: Mapping[str, Any], given: Answer, number: int
) -> tuple[list[CheckedPart], list[str]]:
    """Compare what depends on how long a machine took to try other readings, more than once."""
    fewer = False
    for _ in range(_TRIES):
        now = given.to_json()
        others = same(now["readings"], value.get("readings"))
        if others and same(now["confidence"], value.get("confidence")):
            return [CheckedPart(CERTAINTY, "recomputed")], []
        said = [other for other in value.get("readings") or () if isinstance(other, Mapping)]
        fewer = fewer or all(any(same(one, two) for two in now["readings"]) for one in said)
        attempt = compute(kg, str(value["question"]), reading=number, seconds=_SECONDS)
        given = attempt.answer or given
    if _confidence(given) >= CERTAIN and (others or not fewer):
        # No model is asked where the parser is certain.
        return [], ["the certainty or the other readings are not what is computed now"]
    told = f"it says {value.get('confidence')}, and {given.to_json()['confidence']} is computed now"
    return [CheckedPart(CERTAINTY, "not checked", told)], []


def _compared(
    kg: KnowledgeGraph,
    value: Mapping[str, Any],
    given: Answer,
    parts: Sequence[CheckedPart],
    wrong: Sequence[str],
    apart: Sequence[str],
) -> Recomputed:
    """Compare a computed answer with what is computed now, but for some fields that are told apart."""
    now = given.to_json()
    bare = without_unused(value["notice"])
    if bare in _with_pending(kg, [now["notice"]]):
        now["notice"] = value["notice"]
    elif "notice" not in apart:
        # It tells of a model that helped, or of that time; nothing vouches for it now.
        apart = (*apart, "notice")
    # Answers of earlier releases lack some fields.
    older = {name for name in ("runners_up", "last") if not value.get(name)}
    # Its doubt is that of its certainty, or it is not written as answers are.
    apart = (*apart, *older, "doubt")
    known = {name: part for name, part in now.items() if name not in apart}
    told = _timeless({name: part for name, part in value.items() if name not in apart})
    kept = {"text", "sentences", "citations", "question"}
    wheres = differences(told, _timeless(known))
    found = dict.fromkeys(where.partition("[")[0].partition(".")[0] for where in wheres)
    said = [
        f"its {name} {'are' if name.endswith('s') else 'is'} not what is computed now"
        for name in found
        if name in now and name not in kept
    ]
    if any(name in kept for name in found):
        said.append("its sentences or what they cite are not what is computed now")
    parts = [*parts, CheckedPart(ROWS, "recomputed")]
    if bare != value["notice"]:
        parts.append(CheckedPart("which model was named", "not checked", "it was not used"))
    if any(now.get(name) for name in older):
        parts.append(CheckedPart("what comes next", "not checked", "it does not tell"))
    if "notice" in apart and (value["notice"] is not None or given.notice is not None):
        parts.append(CheckedPart(NOTICE, "not checked", "it belongs to a reading of the question"))
    return Recomputed(tuple(parts), (*wrong, *said), frozenset(s.text for s in given.sentences))


def _timeless(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return an answer without the rounds of layers, which change whenever it is reasoned anew."""

    def bare(line: Mapping[str, Any]) -> dict[str, Any]:
        return {k: v for k, v in line.items() if k not in ("graph", "status", "labels")}

    lines = [{**bare(line), "labels": line["labels"]} for line in value["context"]["lines"]]
    context = {**value["context"], "lines": lines}
    return {**value, "context": context, "citations": [bare(c) for c in value["citations"]]}


# -- Other answers --------------------------------------------------------------------------------------


def _read_again(kg: KnowledgeGraph, value: Mapping[str, Any], retrieve: Retrieve) -> Recomputed:
    """Answer again what was read, without a model, as far as that tells of the answer that is given."""
    if value["way"] == "plan":
        return _abstained_again(kg, value)
    again = [one.to_json() for one in _once_more(kg, value, retrieve)]
    bare = _timeless(value)
    whole = [one for one in again if same(_timeless(one) | _APART, bare | _APART)]
    parts = [_part(FOUND, any(same(_timeless(one)["context"], bare["context"]) for one in again), _OTHERWISE)]
    if value["way"] == "images":
        shown = [[_unplaced(image) for image in one["images"]] for one in (value, *again)]
        parts.append(_part(IMAGES, any(same(shown[0], one) for one in shown[1:]), _OTHERWISE))
        if any(image["path"] for image in value["images"]):
            parts.append(CheckedPart("where the files of the images are", "not checked"))
    if value["way"] == "complete":
        parts.append(CheckedPart("what was read in texts, and what is missing", "not checked"))
    told = f"it says {value['model'] or 'that no model did'}"
    parts.append(_part(WRITER, value["model"] is None and bool(whole), told))
    if value["model"] is not None:
        parts.append(CheckedPart("bullets, numbers of items and ids that did not hold", "not checked"))
    notices = [one["notice"] for one in whole] or [None] * (value["model"] is not None)
    right = value["notice"] in _with_pending(kg, notices)
    parts.append(_part(NOTICE, right, "it may be of that time"))
    why, offered = _reason(kg, value)
    right = why == value["why"] and same([one.to_json() for one in offered], value["readings"])
    parts.append(_part(WHY, right, "another way may have been asked for"))
    return Recomputed(tuple(parts))


def _abstained_again(kg: KnowledgeGraph, value: Mapping[str, Any]) -> Recomputed:
    given, why, _ = computed(kg, str(value["question"]), "plan")
    now = given.to_json() if given is not None else {}
    if (
        now
        and value["notice"] in _with_pending(kg, [None])
        and same({**now, "notice": value["notice"]}, value)
    ):
        parts = (CheckedPart(READING, "recomputed"), CheckedPart(WHY, "recomputed"))
        return Recomputed(parts, sentences=frozenset(s["text"] for s in now["sentences"]))
    told = "it is answered otherwise now" if given is None else given.text[:200]
    return Recomputed((CheckedPart(READING, "not checked", told), CheckedPart(WHY, "not checked", why)))


def _once_more(kg: KnowledgeGraph, value: Mapping[str, Any], retrieve: Retrieve) -> list[Answer]:
    """Return what is answered without a model where nothing else is asked for; nothing where that fails."""
    question = str(value["question"])
    try:
        if value["way"] == "images":
            given, *_ = routed(kg, question, how="images", model="none", k=max(1, len(value["images"])))
            return [given] if given is not None else []
        if value["way"] != "read":
            return []
        context = retrieve(question).context
        ways = dict.fromkeys((uncomputed(question), ()))
        return [answer(question, context, None, computing=computing) for computing in ways]
    except MragError:
        return []


def _reason(kg: KnowledgeGraph, value: Mapping[str, Any]) -> tuple[str, tuple[OtherReading, ...]]:
    """Return why an answer was not computed, and the readings that are offered instead."""
    if value["why"] == ASKED_FOR or value["way"] == "complete":
        return ASKED_FOR, ()
    if value["way"] == "images":
        given, why, offered = routed(kg, str(value["question"]), model="none", k=1)
        return given.why if given is not None else why, offered
    _, why, offered = computed(kg, str(value["question"]))
    return why, offered


_APART: Final[dict[str, Any]] = {"why": "", "readings": [], "notice": "", "images": []}
_OTHERWISE = "another index, ranker or number may have been asked for"


def _with_pending(kg: KnowledgeGraph, notices: Iterable[str | None]) -> list[str | None]:
    """Return notices as they may be; that reasoning was pending may have been so then."""
    pending = [" ".join(part for part in (notice, PENDING) if part) for notice in notices]
    return [*pending, *(() if kg.pending else notices)]


def _part(name: str, recomputed: bool, why: str) -> CheckedPart:
    return CheckedPart(name, "recomputed") if recomputed else CheckedPart(name, "not checked", why)


def _unplaced(image: Mapping[str, Any]) -> dict[str, Any]:
    return {name: part for name, part in image.items() if name != "path"}
