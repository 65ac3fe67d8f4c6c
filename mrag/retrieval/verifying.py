"""Answers are checked against a graph: its triples, names and graphs are looked up, and it is asked again."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, Final

from rdflib import Literal, URIRef

from mrag import __version__
from mrag.context.display import Display, graph_words, holding, lines_of, named_graphs
from mrag.context.expansion import ContextSettings, expand
from mrag.context.render import Context, Line
from mrag.errors import ConfigError, ModelError, MragError
from mrag.generation.answering import answer
from mrag.generation.prompts import PENDING
from mrag.generation.result import Answer, OtherReading, context_from_json, same
from mrag.generation.support.mentions import ContextNames
from mrag.generation.verification import (
    ENVELOPE,
    READING,
    THEN,
    CheckedPart,
    KeyStore,
    Recomputed,
    VerifyReport,
    differences,
    open_receipt,
    part_of,
    receipt,
    with_receipt,
)
from mrag.generation.verification import verify as checked
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.naming import label_texts
from mrag.graph.record import LABELS, status_of
from mrag.images.graph import file_names, names_of
from mrag.language.tokens import is_stopword, tokens
from mrag.planning.answering import ALMOST, HELPED, READ, UNCERTAIN, Attempt, compute, replay, run_question
from mrag.planning.following import BY_ITSELF, LastAnswer
from mrag.planning.interchange import plan_from_json
from mrag.planning.lexicon import lexicon_of
from mrag.planning.rephrasing import left_out
from mrag.planning.results import TRIED
from mrag.planning.saved import list_questions
from mrag.rdf import queries
from mrag.rdf.terms import OWL, RDF, Term, Triple
from mrag.retrieval.routing import (
    ASKED_FOR,
    FOLDER_GIVEN,
    compute_route,
    find_uncomputed,
    route,
    rules_notice,
    state_notice,
)
from mrag.storage.fields import json_fields
from mrag.stores.base import Dataset

_THINGS: Final = 5  # Things of one sentence that are asked about
_WORDS: Final = 5  # Words of a name that is looked up
_MOST_FORMS: Final = 40
_PAIRS: Final = 400
_AROUND: Final = ContextSettings(hops=1, asked_hop=False, schema=False, max_triples=120, token_budget=12_000)


class StoreFacts:
    """Asks a knowledge graph about sentences."""

    def __init__(self, kg: KnowledgeGraph) -> None:
        self.kg = kg

    def about(self, sentence: str, context: Context) -> Context:
        """Return a context with what the graph says of what a sentence names behind its own lines."""
        things = self._things(sentence, context)
        if not things:
            return context
        around = expand(self.kg, [(str(thing), 1.0) for thing in things], _AROUND, question=sentence)
        known = {line.triple for line in context.lines}
        lines: dict[Triple, Line] = {}
        for line in (*self._between(things), *around.lines):
            if line.triple not in known and line.triple not in lines:
                lines[line.triple] = replace(line, id=f"g{len(lines) + 1}")
        return replace(context, lines=(*context.lines, *lines.values()), cut=(*context.cut, *around.cut))

    def is_single(self, prop: Term) -> bool:
        """Return whether a property has at most one value, by the ontology."""
        return self._is(prop, OWL + "FunctionalProperty")

    def is_one_way(self, prop: Term) -> bool:
        """Return whether a property never holds the other way round, too, by the ontology."""
        return self._is(prop, OWL + "AsymmetricProperty")

    def _is(self, prop: Term, kind: str) -> bool:
        if not isinstance(prop, URIRef):
            return False
        rows = self.kg.select(queries.get("completion/check-properties").bind(property=[prop]))
        return any(str(about) == RDF + "type" and str(value) == kind for _, about, value in rows)

    def are_disjoint(self, types: Sequence[Term], kind: Term) -> bool:
        """Return whether what is of some classes cannot be of another."""
        named = [one for one in (*types, kind) if isinstance(one, URIRef)]
        if len(named) < 2 or kind not in named:
            return False
        rows = self.kg.select(queries.get("completion/check-disjoint").bind(**{"class": named}))
        return any(
            (one == kind and other in types) or (other == kind and one in types) for one, other in rows
        )

    def _things(self, sentence: str, context: Context) -> list[URIRef]:
        names = ContextNames(context.lines)
        common = names.classes | names.properties
        words = tokens(sentence)
        mentions = names.find(sentence, words)
        named = {t for m in mentions for t in m.terms if isinstance(t, URIRef) and t not in common}
        inside = {i for m in mentions for i in range(max(m.first, 0), m.last) if not m.terms <= common}
        unknown = self._call(sentence, [i for i in range(len(words)) if i not in inside])
        return [*unknown, *sorted(named - set(unknown), key=str)][:_THINGS]

    def _call(self, sentence: str, free: Sequence[int]) -> list[URIRef]:
        """Return what is called as runs of words of a sentence are, the longest runs first."""
        words = tokens(sentence)
        runs = [[i for _, i in some] for _, some in groupby(enumerate(free), key=lambda x: x[1] - x[0])]
        forms: dict[str, None] = {}
        for size in range(_WORDS, 0, -1):
            for run in runs:
                for first, last in zip(run, run[size - 1 :], strict=False):
                    start, end = words[first].start, words[last].end
                    if size > 1 or not (is_stopword(words[first].key) or len(words[first].raw) < 2):
                        forms[sentence[start:end].removesuffix("'s").removesuffix("’s")] = None
                        forms[sentence[start : end + 1].strip(" ,;:!?")] = None  # "Acme Inc."
        wanted = [
            Literal(form, lang=tag or None)
            for form in list(forms)[:_MOST_FORMS]
            for tag in dict.fromkeys(["", *self.kg.languages])
        ]
        if not wanted:
            return []
        pairs = [(URIRef(name), text) for name in self.kg.profile().labels for text in wanted][:_PAIRS]
        rows = list(self.kg.select(queries.get("label/exact").bind(property_text=pairs)))
        order = {form: i for i, form in enumerate(forms)}
        rows.sort(key=lambda row: (order.get(str(row[0]), len(order)), str(row[1])))
        return list(dict.fromkeys(thing for _, thing in rows if isinstance(thing, URIRef)))[:_THINGS]

    def _between(self, things: Sequence[URIRef]) -> list[Line]:
        """Return the lines that lead from one of some things to another."""
        pairs = [(one, other) for one in things for other in things if one != other]
        if not pairs:
            return []
        rows = self.kg.select(queries.get("context/between").bind(s_o=pairs)).rows
        triples = [Triple(s, p, o) for s, p, o in rows]  # type: ignore[arg-type]  # all are bound
        (context,) = lines_of(self.kg, [triples], len(triples))
        return list(context.lines)


_SECONDS: Final = 30.0

ROWS = "the query and its rows"
CERTAINTY = "the certainty and the other readings"
FOUND = "that these lines are what the question finds"
WRITER = "who wrote it"
WHY = "why it was answered so"
NOTICE = "the notice"
IMAGES = "the images and their order"

Retrieve = Callable[[str], Any]


def answer_again(kg: KnowledgeGraph, value: Mapping[str, Any], retrieve: Retrieve) -> Recomputed:
    """Answer the question of an answer again, and compare."""
    if value.get("plan"):
        return _compute_again(kg, value)
    return _read_again(kg, value, retrieve)


# -- Computed answers -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Read:
    """A reading of a question that has the plan of an answer, or why there is none."""

    given: Answer | None = None  # What is computed by it
    number: int = 0  # Its number among the readings; 0 where it was saved by somebody
    learnt: bool = True  # Whether saved questions told how to read it
    whys: frozenset[str] = frozenset()  # What an answer may say of why it is taken
    note: str = ""  # Why it cannot be told whether there is one
    wrong: str = ""  # What shows that there is none


def _compute_again(kg: KnowledgeGraph, value: Mapping[str, Any]) -> Recomputed:
    """Compute an answer again: by the reading of its question that has its plan, else by the plan alone."""
    question, known, said = str(value["question"]), LastAnswer.from_json(value), str(value.get("why", ""))
    why = said.removesuffix(HELPED)
    read = _read(kg, question, known, said, value.get("ignored", ()))
    if read.given is None:
        parts = [
            CheckedPart(READING, "not checked", read.note),
            CheckedPart(CERTAINTY, "not checked", "they belong to a reading of the question"),
            CheckedPart(WHY, "not checked", "it is no reading of the question alone"),
        ]
        wrong = [read.wrong] if read.wrong else []
        return _compare(kg, value, replay(kg, value), parts, wrong, _OF_READING)
    untold = "" if said == why else "it says that a language model helped"
    wrong = []
    if said and not untold and why not in read.whys:
        wrong.append("why it was answered so is not what is found now")
    reason = part_of(WHY, bool(said) and not untold, untold or "it does not tell")
    unknown = untold or ("" if said else "it does not tell why")
    soft, doubtful = _certainty(kg, value, read, unknown)
    parts = [CheckedPart(READING, "recomputed"), soft, reason]
    # A model moves the certainty, of which a notice tells.
    apart = ("why", "readings", "confidence", *(("notice",) if said != why else ()))
    own = () if read.given.computed is None else read.given.computed.ignored
    if said != why and {*own} != {*value.get("ignored", ())}:
        # It may know what a word means that was not understood, and where in the plan that stands.
        apart = (*apart, "ignored", "words")
        doubtful += _denials(kg, question, known, value.get("ignored", ()), {word.lower() for word in own})
    return _compare(kg, value, read.given, parts, [*wrong, *doubtful], apart)


_OF_READING = ("why", "readings", "confidence", "ignored", "notice", "follows", "words")


def _read(
    kg: KnowledgeGraph, question: str, known: LastAnswer, said: str, ignored: Collection[str] = ()
) -> _Read:
    """Return the reading of a question that has a plan."""
    if known.before is not None:
        if not known.before.question:
            return _Read(note=_UNTOLD)
        before = _read(kg, known.before.question, known.before, known.before.why)
        left = before.given.computed.ignored if before.given and before.given.computed else ()
        if before.given is None or (left and known.before.why != ALMOST):
            note = f"the question before it, “{known.before.question}”, is not known to be read so"
            wrong = f"{note}: {before.wrong}" if before.wrong and known.before.why else ""
            return _Read(note=note, wrong=wrong)
        if known.before.why.removesuffix(HELPED) not in before.whys:
            note = "why the question before it was answered so is not what is found now"
            return _Read(note=note, wrong=note if known.before.why else "")
    reading = None
    for one in _readings(kg, question, known):
        if not said or said.removesuffix(HELPED) in one.whys:
            return one
        reading = reading or one
    return reading or _unread(kg, question, known, said, ignored)


def _readings(kg: KnowledgeGraph, question: str, known: LastAnswer) -> Iterator[_Read]:
    """Yield the readings of a question that have a plan, and the saved questions that have both."""
    every = list_questions(kg)
    for learnt in (True, False) if every else (True,):
        for number in range(1, TRIED + 1):
            attempt = _attempt(kg, question, known.before, number, learnt=learnt)
            if attempt is None or attempt.answer is None:
                break
            if _has(attempt.answer, known):
                whys = {f"reading {number} was asked for"}
                whys |= {attempt.why, READ, BY_ITSELF} if number == 1 else set()
                yield _Read(attempt.answer, number, learnt, frozenset(whys))
                break
    for saved in every:
        if saved.question == question and _has(given := run_question(kg, saved.name), known):
            yield _Read(given, whys=frozenset([given.why]))


def _unread(
    kg: KnowledgeGraph, question: str, known: LastAnswer, said: str, ignored: Collection[str]
) -> _Read:
    """Return why no reading of a question has a plan, as far as that can be told."""
    names = {saved.name for saved in list_questions(kg)}
    if (by := _SAVED.match(said)) is not None and by[1] not in names:
        return _Read(note=f"no question is saved as “{by[1]}” now")
    if said.startswith(_GOES_ON) and known.before is None:
        return _Read(note=_UNTOLD)
    if said.endswith(HELPED):
        wrong = "".join(_denials(kg, question, known, ignored))
        return _Read(note="a language model is said to have read it", wrong=wrong)
    first = _attempt(kg, question, known.before, 1)
    other = first.answer.computed if first is not None and first.sure and first.answer is not None else None
    wrong = "the query is no reading of the question"
    wrong = wrong if other is None else f"the question is read otherwise: {other.reading}"
    return _Read(note=wrong, wrong=wrong)


def _denials(
    kg: KnowledgeGraph,
    question: str,
    known: LastAnswer,
    ignored: Collection[str],
    own: Collection[str] | None = None,
) -> list[str]:
    """Return that a query says nothing of what a model cannot have read otherwise, if so."""
    missing, _ = left_out(lexicon_of(kg), question, known.plan)
    ignored_words = {word.lower() for word in ignored}
    left = [f"“{w}”" for w in missing if w not in ignored_words and (own is None or w in own)]
    return [f"the query says nothing of {', '.join(left)}"] if left else []


_SAVED = re.compile(r"(?:saved as|read like the saved question) “(.+)”\Z")
_GOES_ON = "read as a follow-up"
_UNTOLD = "the question that it goes on from is not told"


def _attempt(
    kg: KnowledgeGraph, question: str, before: LastAnswer | None, number: int, **how: Any
) -> Attempt | None:
    """Compute an answer by one reading of its question; None where there is no such reading."""
    try:
        return compute(
            kg, question, reading=number, seconds=_SECONDS, follows=before, **{"tried": TRIED, **how}
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
    kg: KnowledgeGraph, value: Mapping[str, Any], read: _Read, unknown: str
) -> tuple[CheckedPart, list[str]]:
    """Compare the certainty and the other readings, of which fewer are tried where time is short."""
    assert read.given is not None
    said = {name: value.get(name) for name in ("readings", "confidence")}
    now, follows = read.given.to_json(), read.given.computed.follows if read.given.computed else None
    before = LastAnswer.from_json(follows) if follows is not None else None
    tries = iter(range(TRIED - 1, 0, -1) if read.number else ())
    while not same({name: now[name] for name in said}, said):
        if unknown:
            return CheckedPart(CERTAINTY, "not checked", unknown), []
        if (tried := next(tries, None)) is None:
            note = f"it says {said['confidence']}, and {read.given.to_json()['confidence']} is computed now"
            wrong = f"the certainty or the other readings are not what is computed now: {note}"
            return CheckedPart(CERTAINTY, "not checked", note), [wrong]
        attempt = _attempt(kg, str(value["question"]), before, read.number, learnt=read.learnt, tried=tried)
        now = attempt.answer.to_json() if attempt is not None and attempt.answer is not None else now
    return CheckedPart(CERTAINTY, "recomputed"), []


def _compare(
    kg: KnowledgeGraph,
    value: Mapping[str, Any],
    given: Answer,
    parts: Sequence[CheckedPart],
    wrong: Sequence[str],
    apart: Sequence[str],
) -> Recomputed:
    """Compare a computed answer with what is computed now, but for some fields that are told apart."""
    now, silent = given.to_json(), False
    hurried = _hurry(value, now)
    # Without what else was found it may have been more or less certain.
    notices = (now["notice"], *((None, UNCERTAIN) if hurried else ()))
    if value["notice"] in _with_state(kg, notices, rules_notice(kg, given)):
        now["notice"] = value["notice"]
    elif value["notice"] == now["notice"]:
        # The graph may have changed since; or what it says of its state was left out.
        apart, silent = (*apart, "notice"), True
    now = {**now, **hurried}
    # Its doubt is that of its certainty, or it is not written as answers are; older ones have no words.
    apart = (*apart, "doubt", *(() if "words" in value else ("words",)))
    known, before = (
        _timeless({name: part for name, part in some.items() if name not in apart}) for some in (now, value)
    )
    kept = {"text", "sentences", "citations", "question"}
    wheres = differences(before, known)
    fields = dict.fromkeys(where.partition("[")[0].partition(".")[0] for where in wheres)
    said = [
        f"its {name} {'are' if name.endswith('s') else 'is'} not what is computed now"
        for name in fields
        if name in now and name not in kept
    ]
    if any(name in kept for name in fields):
        said.append("its sentences or what they cite are not what is computed now")
    parts = [*parts, CheckedPart(ROWS, "recomputed")]
    if "words" in now and "words" not in value:
        parts.append(CheckedPart("what each word of the question became", "not checked", "it does not tell"))
    if hurried:
        parts.append(CheckedPart("what is so instead", "not checked", "it does not tell"))
    if silent:
        parts.append(CheckedPart(NOTICE, "not checked", "it does not say in what state the graph is"))
    elif "notice" in apart and (value["notice"] is not None or given.notice is not None):
        parts.append(CheckedPart(NOTICE, "not checked", "it belongs to a reading of the question"))
    return Recomputed(tuple(parts), (*wrong, *said), frozenset(s.text for s in given.sentences))


def _hurry(value: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an answer that nothing is found says where there was no time to find what is so instead."""
    first, context = now["sentences"][:1], value["context"]
    denies = not now["rows"] or [c and c["label"] for row in now["rows"] for c in row] == ["no"]
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
        return _abstain_again(kg, value)
    again = [one.to_json() for one in _once_more(kg, value, retrieve)]
    bare = _timeless(value)
    whole = [one for one in again if same(_timeless(one) | _APART, bare | _APART)]
    same_context = any(same(_timeless(one)["context"], bare["context"]) for one in again)
    parts = [part_of(FOUND, same_context, _OTHERWISE)]
    if value["way"] == "images":
        shown = [[_drop_place(image) for image in one["images"]] for one in (value, *again)]
        parts.append(part_of(IMAGES, any(same(shown[0], one) for one in shown[1:]), _OTHERWISE))
        if any(image["path"] for image in value["images"]):
            parts.append(CheckedPart("where the files of the images are", "not checked"))
    if value["way"] == "complete":
        parts.append(CheckedPart("what was read in texts, and what is missing", "not checked"))
    writer = f"it says {value['model'] or 'that no model did'}"
    parts.append(part_of(WRITER, value["model"] is None and bool(whole), writer))
    if value["model"] is not None:
        parts.append(CheckedPart("bullets, numbers of items and ids that did not hold", "not checked"))
    notices = [one["notice"] for one in whole] or [None] * (value["model"] is not None)
    right = value["notice"] in _with_state(kg, notices)
    parts.append(part_of(NOTICE, right, "it may be of that time"))
    why, offered = _reason(kg, value)
    right = why == value["why"] and same([*map(json_fields, offered)], value["readings"])
    parts.append(part_of(WHY, right, "another way may have been asked for"))
    return Recomputed(tuple(parts))


def _abstain_again(kg: KnowledgeGraph, value: Mapping[str, Any]) -> Recomputed:
    given, why, _ = compute_route(kg, str(value["question"]), "plan")
    now = given.to_json() if given is not None else {}
    alike = bool(now) and same({**now, "notice": value["notice"]}, value)
    if alike and value["notice"] in _with_state(kg, [None]):
        parts = (CheckedPart(READING, "recomputed"), CheckedPart(WHY, "recomputed"))
        return Recomputed(parts, sentences=frozenset(s["text"] for s in now["sentences"]))
    note = "it is answered otherwise now" if given is None else given.text[:200]
    return Recomputed((CheckedPart(READING, "not checked", note), CheckedPart(WHY, "not checked", why)))


def _once_more(kg: KnowledgeGraph, value: Mapping[str, Any], retrieve: Retrieve) -> list[Answer]:
    """Return what is answered without a model where nothing else is asked for; nothing where that fails."""
    question = str(value["question"])
    try:
        if value["way"] == "images":
            given, *_ = route(kg, question, how="images", model="none", k=max(1, len(value["images"])))
            return [given] if given is not None else []
        if value["way"] != "read":
            return []
        context = retrieve(question).context
        ways = dict.fromkeys((find_uncomputed(question), ()))
        return [answer(question, context, None, computing=computing) for computing in ways]
    except MragError:
        return []


def _reason(kg: KnowledgeGraph, value: Mapping[str, Any]) -> tuple[str, tuple[OtherReading, ...]]:
    """Return why an answer was not computed, and the readings that are offered instead."""
    if value["why"] == ASKED_FOR or value["way"] == "complete":
        return ASKED_FOR, ()
    if value["way"] == "images":
        if value["why"] == FOLDER_GIVEN:
            return FOLDER_GIVEN, ()
        given, why, offered = route(kg, str(value["question"]), model="none", k=1)
        return given.why if given is not None else why, offered
    _, why, offered = compute_route(kg, str(value["question"]))
    return why, offered


_APART: Final[dict[str, Any]] = {"why": "", "readings": [], "notice": "", "images": []}
_OTHERWISE = "another index, ranker or number may have been asked for"


def _with_state(
    kg: KnowledgeGraph, notices: Iterable[str | None], rules: str | None = None
) -> list[str | None]:
    """Return notices as they may be; that reasoning was pending may have been so then."""
    states = dict.fromkeys((state_notice(kg), PENDING))
    return [" ".join(p for p in (one, state, rules) if p) or None for one in notices for state in states]


def _drop_place(image: Mapping[str, Any]) -> dict[str, Any]:
    return {name: part for name, part in image.items() if name != "path"}


_NAMES = (*LABELS, "http://www.w3.org/2004/02/skos/core#altLabel")
_LAYER = re.compile(r"(asserted|inferred|completed|enriched):(\d+)\Z")


def verify_answer(
    kg: KnowledgeGraph, given: Answer | Mapping[str, Any], retrieve: Retrieve, keys: KeyStore | None = None
) -> VerifyReport:
    """Check an answer or a receipt against a graph."""
    value = given.to_json() if isinstance(given, Answer) else given
    try:
        receipt = open_receipt(value)
        said = value if receipt is None else receipt.answer
        looked = GraphLookup(kg, _lines(said), layers=said.get("completed") is not None)
        report = checked(
            said, looked.holds, looked.names, graphs=looked.wrong_graph, said=looked.said,
            recompute=lambda one: answer_again(kg, one, retrieve), facts=StoreFacts(kg),
        )  # fmt: skip
    except (RecursionError, OverflowError) as error:
        raise ModelError(
            "Not the JSON form of an answer.", hint="A value is too large or too deep."
        ) from error
    if receipt is None:
        return report
    return with_receipt(report, receipt, lambda: (keys or KeyStore()).trusted_keys(), kg.iri)


def receipt_of(
    kg: KnowledgeGraph, given: Mapping[str, Any], report: VerifyReport, keys: KeyStore | None = None
) -> dict[str, Any]:
    """Return the receipt of an answer that was checked now, signed if this installation has a key."""
    before = open_receipt(given)
    answer, report = (given, report) if before is None else (before.answer, _own(report))
    now = datetime.now(UTC).replace(microsecond=0)
    return receipt(
        answer, report, source=kg.iri, revision=kg.revision, version=__version__, at=now,
        key=(keys or KeyStore()).own(),
    )  # fmt: skip


def _own(report: VerifyReport) -> VerifyReport:
    """Return a report without what is vouched for by others: whoever signs it vouches for his own part."""
    parts = (p if p.state == "recomputed" else replace(p, state="not checked", note="") for p in report.parts)
    return replace(report, parts=tuple(p for p in parts if p.part not in (ENVELOPE, THEN)))


def _lines(value: Mapping[str, Any]) -> tuple[Line, ...]:
    try:
        return context_from_json(value["context"]).lines
    except (KeyError, TypeError, MragError):
        return ()  # the check itself says what is wrong


class GraphLookup:
    """What a graph has of the lines of an answer, looked up for all at once."""

    def __init__(self, kg: KnowledgeGraph, lines: Sequence[Line], *, layers: bool = False) -> None:
        self._kg, self._display = kg, Display(kg)
        self._of_server = kg.as_found or kg.store.capabilities.reasoning
        self._layers = layers
        triples = list(dict.fromkeys(line.triple for line in lines))
        self._homes = _homes(kg, triples)
        self._named = dict(zip(triples, named_graphs(kg, triples), strict=True))
        iris = sorted({str(t) for triple in triples for t in triple if isinstance(t, URIRef)})
        self._display.prepare(iris)
        texts = label_texts(kg.store, kg.dataset(), iris, _NAMES)
        self._labels = {iri: {text for *_, text in of_it} for iri, of_it in texts.items()}
        images = sorted({iri.partition("#xywh=")[0] for iri in iris})
        self._files = names_of(kg, images, file_names(kg, images=images))

    def holds(self, triple: Triple, graph: str) -> bool:
        """Return whether a triple is in the graph."""
        return bool(self._homes.get(triple))

    def names(self, term: Term) -> Collection[str]:
        """Return every name that the graph has for a term."""
        if not isinstance(term, URIRef):
            return [str(term), "something"]
        iri = str(term)
        image, _, part = iri.partition("#xywh=")
        shown = {self._display.entity(iri), self._display.predicate(iri), *self._labels.get(iri, ())}
        called = self._files.get(image, image)
        return shown | ({f"{called} (xywh={part})"} if part else {called} - {image})

    def said(self, graphs: Sequence[str]) -> Sequence[str]:
        """Return what a line says of the named graphs of its triple."""
        try:
            return graph_words(self._display, graphs)
        except ValueError:
            return ("in no graph",)  # its IRI is none

    def wrong_graph(self, line: Line) -> str:
        """Return what is wrong with where a line says that its triple stands, "" if nothing is."""
        homes = self._homes.get(line.triple, set())
        if not homes:
            return ""
        if line.named != self._named.get(line.triple, ()):
            return f"its triple is not stated in the named graphs {', '.join(line.named) or 'that it names'}"
        marks = {status_of(g, inferred=self._kg.is_inferred(g)) for g in homes}
        status = status_of(line.graph, inferred=line.inferred)
        if not line.graph and (self._layers or self._of_server):
            right = status in marks  # it tells its layer alone
        elif line.graph in homes:
            right = line.inferred == self._kg.is_inferred(line.graph)
        else:
            right = self._was(line, homes) or self._is_of_store(line)
        if right:
            return ""
        if status in marks:
            return f"its triple is not in the graph {line.graph}"
        return f"it is marked {status}, but the graph has it as {' and '.join(sorted(marks))}"

    def _was(self, line: Line, homes: Iterable[str]) -> bool:
        """Return whether a line is of an earlier round of the layer that has its triple now."""
        then = _LAYER.fullmatch(line.graph.removeprefix(f"{self._kg.iri}:"))
        rounds = (_LAYER.fullmatch(home.removeprefix(f"{self._kg.iri}:")) for home in homes)
        return (
            then is not None
            and line.graph.startswith(f"{self._kg.iri}:")
            and line.inferred == (then[1] == "inferred")
            and any(now is not None and now[1] == then[1] and int(now[2]) > int(then[2]) for now in rounds)
        )

    def _is_of_store(self, line: Line) -> bool:
        """Return whether a server's own graph has the triple of a line."""
        if not self._of_server:
            return False
        asks = queries.get("context/holds").bind(s_p_o=[tuple(line.triple)])
        try:
            return self._kg.store.ask(asks, Dataset((line.graph,)))
        except MragError:
            return False


def _homes(kg: KnowledgeGraph, triples: Sequence[Triple]) -> dict[Triple, set[str]]:
    """Return the graphs that have each of some triples."""
    homes: dict[Triple, set[str]] = {}
    for graph in kg.dataset().default:
        for triple in holding(kg, graph, triples):
            homes.setdefault(triple, set()).add(graph)
    return homes
