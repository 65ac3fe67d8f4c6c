"""Answers given again, to see what of an answer is so: by plan and question, or by what is found now."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
from mrag.planning.answering import HELPED, READ, Attempt, compute, replay
from mrag.planning.following import BY_ITSELF, LastAnswer
from mrag.planning.interchange import plan_from_json
from mrag.planning.lexicon import lexicon_of
from mrag.planning.neural.choosing import unread
from mrag.planning.precedents import list_questions
from mrag.planning.results import TRIED
from mrag.planning.saved import run_question
from mrag.retrieval.routing import ASKED_FOR, computed, routed, uncomputed

_SECONDS: Final = 30.0

ROWS = "the query and its rows"
CERTAINTY = "the certainty and the other readings"
FOUND = "that these lines are what the question finds"
WRITER = "who wrote it"
WHY = "why it was answered so"
NOTICE = "the notice"
IMAGES = "the images and their order"

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


@dataclass(frozen=True)
class _Read:
    """A reading of a question that has the plan of an answer, or why there is none.

    Attributes:
        given: What is computed by it; None where there is none.
        number: Its number among the readings; 0 where it was saved by somebody.
        learnt: Whether saved questions told how to read it.
        whys: What an answer may say of why it is taken.
        note: Why it cannot be told whether there is one.
        wrong: What shows that there is none.
    """

    given: Answer | None = None
    number: int = 0
    learnt: bool = True
    whys: frozenset[str] = frozenset()
    note: str = ""
    wrong: str = ""


def _computed_again(kg: KnowledgeGraph, value: Mapping[str, Any]) -> Recomputed:
    """Compute an answer again: by the reading of its question that has its plan, else by the plan alone."""
    question, known, said = str(value["question"]), LastAnswer.from_json(value), str(value.get("why", ""))
    why = said.removesuffix(HELPED)
    read = _read(kg, question, known, said)
    if read.given is None:
        parts = [
            CheckedPart(READING, "not checked", read.note),
            CheckedPart(CERTAINTY, "not checked", "they belong to a reading of the question"),
            CheckedPart(WHY, "not checked", "it is no reading of the question alone"),
        ]
        wrong = [read.wrong] if read.wrong else []
        return _compared(kg, value, replay(kg, value), parts, wrong, _OF_READING)
    told, wrong = CheckedPart(WHY, "recomputed"), list[str]()
    if not said:
        told = CheckedPart(WHY, "not checked", "it does not tell")
    elif said != why:
        told = CheckedPart(WHY, "not checked", "it says that a language model helped")
    elif why not in read.whys:
        wrong.append("why it was answered so is not what is found now")
    soft, doubtful = _certainty(kg, value, read, helped=said != why)
    parts = [CheckedPart(READING, "recomputed"), soft, told]
    # A model moves the certainty, of which a notice tells.
    apart = ("why", "readings", "confidence", *(("notice",) if said != why else ()))
    return _compared(kg, value, read.given, parts, [*wrong, *doubtful], apart)


_OF_READING = ("why", "readings", "confidence", "ignored", "notice", "follows")


def _read(kg: KnowledgeGraph, question: str, known: LastAnswer, said: str) -> _Read:
    """Return the reading of a question that has a plan.

    Args:
        kg: The graph.
        question: The question.
        known: The plan, and what the question goes on from.
        said: What is said of why it is read so; "" where that is not known.
    """
    if known.before is not None:
        if not known.before.question:
            return _Read(note=_UNTOLD)
        before = _read(kg, known.before.question, known.before, known.before.why)
        left = before.given.computed.ignored if before.given and before.given.computed else ()
        if before.given is None or left:
            told = f"the question before it, “{known.before.question}”, is not known to be read so"
            wrong = f"{told}: {before.wrong}" if before.wrong and known.before.why else ""
            return _Read(note=told, wrong=wrong)
    found = None
    for one in _readings(kg, question, known):
        if not said or said.removesuffix(HELPED) in one.whys:
            return one
        found = found or one
    return found or _unread(kg, question, known, said)


def _readings(kg: KnowledgeGraph, question: str, known: LastAnswer) -> Iterator[_Read]:
    """Yield the readings of a question that have a plan, and the saved questions that have both."""
    every = list_questions(kg)
    for learnt in (True, False) if every else (True,):
        for number in range(1, TRIED + 1):
            attempt = _attempt(kg, question, known.before, number, learnt)
            if attempt is None or attempt.answer is None:
                break
            if _has(attempt.answer, known):
                whys = {f"reading {number} was asked for"}
                whys |= {attempt.why, READ, BY_ITSELF} if number == 1 else set()
                yield _Read(attempt.answer, number, learnt, frozenset(whys))
                break
    for saved in every:
        for values in saved.values_in(question):
            try:
                given = run_question(kg, saved.name, values)
            except ConfigError:
                continue
            if _has(given, known):
                yield _Read(given, whys=frozenset([given.why]))
                break


def _unread(kg: KnowledgeGraph, question: str, known: LastAnswer, said: str) -> _Read:
    """Return why no reading of a question has a plan, as far as that can be told."""
    names = {saved.name for saved in list_questions(kg)}
    if (by := _SAVED.match(said)) is not None and by[1] not in names:
        return _Read(note=f"no question is saved as “{by[1]}” now")
    if said.startswith(_GOES_ON) and known.before is None:
        return _Read(note=_UNTOLD)
    if said.endswith(HELPED):
        left = unread(lexicon_of(kg), question, known.plan).missing
        words = ", ".join(f"“{word}”" for word in left)
        wrong = f"the query says nothing of {words}" if left else ""
        return _Read(note="a language model is said to have read it", wrong=wrong)
    first = _attempt(kg, question, known.before, 1)
    other = first.answer.computed if first is not None and first.sure and first.answer is not None else None
    wrong = "the query is no reading of the question"
    wrong = wrong if other is None else f"the question is read otherwise: {other.reading}"
    return _Read(note=wrong, wrong=wrong)


_SAVED = re.compile(r"(?:saved as|read like the saved question) “(.+)”\Z")
_GOES_ON = "read as a follow-up"
_UNTOLD = "the question that it goes on from is not told"


def _attempt(
    kg: KnowledgeGraph,
    question: str,
    before: LastAnswer | None,
    number: int,
    learnt: bool = True,
    tried: int = TRIED,
) -> Attempt | None:
    """Compute an answer by one reading of its question; None where there is no such reading."""
    try:
        return compute(
            kg, question, reading=number, seconds=_SECONDS, follows=before, learnt=learnt, tried=tried
        )
    except ConfigError:
        return None


def _has(given: Answer, known: LastAnswer) -> bool:
    """Return whether an answer was computed by a plan."""
    computed = given.computed
    if computed is None:
        return False
    now = LastAnswer(plan_from_json(computed.plan), computed.columns)
    return (now.plan, now.shown) == (known.plan, known.shown)


def _certainty(
    kg: KnowledgeGraph, value: Mapping[str, Any], read: _Read, *, helped: bool
) -> tuple[CheckedPart, list[str]]:
    """Compare the certainty and the other readings, of which fewer are tried where time is short."""
    assert read.given is not None
    said = {name: value.get(name) for name in ("readings", "confidence")}
    now, follows = read.given.to_json(), read.given.computed.follows if read.given.computed else None
    before = LastAnswer.from_json(follows) if follows is not None else None
    tries = iter(range(TRIED - 1, 0, -1) if read.number else ())
    while not same({name: now[name] for name in said}, said):
        if helped:
            return CheckedPart(CERTAINTY, "not checked", "it says that a language model helped"), []
        if (tried := next(tries, None)) is None:
            told = f"it says {said['confidence']}, and {read.given.to_json()['confidence']} is computed now"
            wrong = f"the certainty or the other readings are not what is computed now: {told}"
            return CheckedPart(CERTAINTY, "not checked", told), [wrong]
        attempt = _attempt(kg, str(value["question"]), before, read.number, read.learnt, tried)
        now = attempt.answer.to_json() if attempt is not None and attempt.answer is not None else now
    return CheckedPart(CERTAINTY, "recomputed"), []


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
    elif bare == now["notice"]:
        # The graph has changed since, and was not yet reasoned over again.
        apart = (*apart, "notice")
    hurried = _hurried(value, now)
    now = {**now, **hurried}
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
    if hurried:
        parts.append(CheckedPart("what is so instead", "not checked", "it does not tell"))
    if any(now.get(name) for name in older):
        parts.append(CheckedPart("what comes next", "not checked", "it does not tell"))
    if "notice" in apart and (value["notice"] is not None or given.notice is not None):
        parts.append(CheckedPart(NOTICE, "not checked", "it belongs to a reading of the question"))
    return Recomputed(tuple(parts), (*wrong, *said), frozenset(s.text for s in given.sentences))


def _hurried(value: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an answer that nothing is found says where there was no time to find what is so instead."""
    first, context = now["sentences"][:1], value["context"]
    denies = not now["rows"] or [c["label"] for row in now["rows"] for c in row] == ["no"]
    if not denies or len(now["sentences"]) < 2 or not first or context["lines"] or value["citations"]:
        return {}
    bare = {"sentences": first, "citations": [], "context": context, "text": first[0]["text"]}
    return bare if same({name: value[name] for name in bare}, bare) else {}


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
