"""Forgeries that agree with themselves: each is refused, or what is invented is named as not checked."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import mrag
from mrag.errors import MragError
from mrag.generation.receipts import ENVELOPE, KeyStore, checked_alone, receipt
from mrag.generation.verification import READING
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import HELPED
from mrag.retrieval.verifying import FOUND, NOTICE, WHY, WRITER, receipt_of, verified

Answers = dict[str, dict[str, Any]]
Forge = Callable[[dict[str, Any], Answers], object]

COUNT, OTHER = "How many triple stores are there?", "How many vector databases are there?"
LIST, READ, YES = "Which products does Ontotext develop?", "What is GraphDB?", "Is GraphDB a triple store?"
OLDEST, GROUPS = "What is the oldest database?", "How many vendors are there per country?"
LATER, BANKRUPT = "And vector databases?", "Is Ontotext bankrupt?"


@pytest.fixture(scope="module")
def answers(kg: KnowledgeGraph) -> Answers:
    found = {q: mrag.ask(kg, q, model="none") for q in (COUNT, OTHER, LIST, READ, YES, OLDEST, GROUPS)}
    found[LATER] = mrag.ask(kg, LATER, model="none", follows=found[COUNT])
    return {q: json.loads(json.dumps(answer.to_json())) for q, answer in found.items()}


def before(words: str) -> Forge:
    def forge(value: dict[str, Any], _: Answers) -> None:
        value["sentences"][-1]["before"] += words
        rest = value["text"].rpartition(value["sentences"][-1]["text"])
        value["text"] = f"{rest[0]}{words}{rest[1]}{rest[2]}"

    return forge


def put(*path: str | int, to: Any) -> Forge:
    def forge(value: dict[str, Any], answers: Answers) -> None:
        *steps, last = path
        for step in steps:
            value = value[step]  # type: ignore[index]
        value[last] = to(value[last]) if callable(to) else to  # type: ignore[index]

    return forge


def everywhere(old: str, new: str) -> Forge:
    """Say another word wherever one is said, but not in IRIs."""

    def said(value: Any, name: str = "") -> Any:
        if isinstance(value, dict):
            return {k: said(v, k) for k, v in value.items()}
        if isinstance(value, list):
            return [said(v, name) for v in value]
        return value.replace(old, new) if isinstance(value, str) and "://" not in value else value

    def forge(value: dict[str, Any], _: Answers) -> None:
        value.update(said(value))

    return forge


def from_another(question: str, *fields: str) -> Forge:
    def forge(value: dict[str, Any], answers: Answers) -> None:
        value.update({name: answers[question][name] for name in fields})

    return forge


def both(*forges: Forge) -> Forge:
    def forge(value: dict[str, Any], answers: Answers) -> None:
        for one in forges:
            one(value, answers)

    return forge


def says(words: str, *ids: str, **more: Any) -> Forge:
    """Add a sentence that is marked as supported, with citations that are listed."""

    def forge(value: dict[str, Any], _: Answers) -> None:
        lines = {line["id"]: line for line in value["context"]["lines"]}
        cited = list(ids or list(lines)[:1])
        sentence = {"text": words, "before": " ", "citations": cited, "supported": True, "rejected_ids": []}
        value["sentences"].append({**sentence, "verdict": "read", "left": [], "against": [], **more})
        value["text"] += f" {words.rstrip('.')} {''.join(f'[{one}]' for one in cited)}."
        known = {c["id"] for c in value["citations"]}
        names = ("id", "triple", "graph", "inferred", "text")
        value["citations"] += [{n: lines[one][n] for n in names} for one in cited if one not in known]

    return forge


def cites(another: bool) -> Forge:
    """Cite a true line that does not carry the last sentence: in place of its own, or beside it."""

    def forge(value: dict[str, Any], _: Answers) -> None:
        last = value["sentences"][-1]
        lines = value["context"]["lines"]
        other = next(x["id"] for x in reversed(lines) if x["id"] not in {c["id"] for c in value["citations"]})
        kept = [] if another else last["citations"]
        everywhere_ = value["text"].rpartition(last["text"].rstrip("."))
        last["citations"] = [*kept, other]
        ids = "".join(f"[{one}]" for one in last["citations"])
        value["text"] = f"{everywhere_[0]}{everywhere_[1]} {ids}."
        line = next(x for x in lines if x["id"] == other)
        value["citations"].append({n: line[n] for n in ("id", "triple", "graph", "inferred", "text")})

    return forge


def named(graph: str, *, told: bool) -> Forge:
    def forge(value: dict[str, Any], _: Answers) -> None:
        one = value["citations"][0]
        for line in (one, *(x for x in value["context"]["lines"] if x["id"] == one["id"])):
            if "labels" in line:
                line["named_graphs"] = [graph]
            if told:
                line["text"] = f"{line['text'][:-1]}, in graph {graph})"

    return forge


def turned(value: dict[str, Any], _: Answers) -> None:
    one = value["citations"][0]
    for line in (one, *(x for x in value["context"]["lines"] if x["id"] == one["id"])):
        line["inferred"] = not line["inferred"]
        line["text"] = line["text"].removesuffix(" inferred") + (" inferred" if line["inferred"] else "")


def first_row_only(value: dict[str, Any], _: Answers) -> None:
    value["rows"], value["sentences"] = value["rows"][:1], value["sentences"][:1]
    value["text"] = value["text"].split("\n")[0]
    kept = value["sentences"][0]["citations"]
    value["citations"] = [c for c in value["citations"] if c["id"] in kept]


def before_it(value: dict[str, Any], answers: Answers) -> None:
    value["follows"].update({name: answers[LIST][name] for name in ("plan", "columns")})


def unplanned(value: dict[str, Any], _: Answers) -> None:
    value["plan"] = None


def without_plan(value: dict[str, Any], answers: Answers) -> None:
    names = ("reading", "plan", "query", "columns", "rows", "confidence", "readings", "truncated")
    value.update({name: answers[READ][name] for name in names}, way="read")


PLANNED = ("plan", "query", "reading", "columns")

FORGERIES: dict[str, tuple[str, Forge, set[str]]] = {
    # What stands between the sentences.
    "words before a sentence": (READ, before("It is false that "), set()),
    "words before a row": (LIST, before("not "), set()),
    "a sentence before a sentence": (READ, before("Ontotext is bankrupt. "), set()),
    **{f"{word} before a sentence": (READ, before(word), set())
       for word in ("❌ ", "\u202e", "Ⓝot ", "２. ", "1. Evil. ", "¬")},
    "an item before a sentence": (COUNT, before("\n1. It is closed. \n2. "), set()),
    # The words of lines.
    "the text of a line": (YES, put("context", "lines", 0, "text", to="(GraphDB, is a, virus)"), set()),
    "the text of a citation": (YES, put("citations", 0, "text", to="(GraphDB, is a, virus)"), set()),
    "the text of a line and its citation": (YES, both(
        put("citations", 0, "text", to="(GraphDB, is a, virus)"),
        put("context", "lines", 0, "text", to="(GraphDB, is a, virus)")), set()),
    "a name everywhere": (LIST, everywhere("Ontotext", "Acme"), set()),
    "a name everywhere in what was read": (READ, everywhere("Ontotext", "Acme"), set()),
    "a year everywhere": (OLDEST, everywhere("19", "18"), set()),
    "a line that nobody cites": (
        READ, put("context", "lines", -1, "text", to="(Ontotext, is, bankrupt)"), set()),
    # Another question.
    "another question that is computed": (COUNT, put("question", to=OTHER), set()),
    "another question that is not": (COUNT, put("question", to=BANKRUPT), set()),
    "a question of something else": (COUNT, put("question", to="How many people died?"), set()),
    "another question over what was read": (READ, put("question", to=BANKRUPT), {FOUND}),
    "a word more in the question": (
        COUNT, put("question", to="How many bankrupt triple stores are there?"), set()),
    "the question denied": (LIST, put("question", to="Which products does Ontotext not develop?"), set()),
    "another question with its plan": (COUNT, from_another(OTHER, "question", *PLANNED), set()),
    "another question with its plan and rows": (
        COUNT, from_another(OTHER, "question", "rows", *PLANNED), set()),
    "another question by a model": (COUNT, both(
        put("question", to=BANKRUPT), put("why", to=lambda why: why + HELPED)), set()),
    "another question, as if it were saved": (COUNT, both(
        put("question", to=BANKRUPT), put("why", to="saved as “bankrupt”")), {READING}),
    "another question, as if it went on": (COUNT, both(
        put("question", to=BANKRUPT), put("why", to="read as a follow-up, with another bound")), {READING}),
    "another question before it": (LATER, put("follows", "question", to=BANKRUPT), set()),
    "another plan before it": (LATER, before_it, set()),
    # How it was computed.
    "another plan": (COUNT, from_another(OTHER, "plan"), set()),
    "another query": (COUNT, put("query", to="SELECT (11 AS ?count) {}"), set()),
    "another reading": (COUNT, put("reading", to="the number of vendors"), set()),
    "another number everywhere": (COUNT, everywhere("11", "12"), set()),
    "fewer rows": (LIST, first_row_only, set()),
    "more certain": (COUNT, put("confidence", to=1.0), set()),
    "more certain, without the other readings": (
        GROUPS, both(put("confidence", to=1.0), put("readings", to=[])), set()),
    "why it was computed": (COUNT, put("why", to="the ministry has approved it"), set()),
    "a notice": (COUNT, put("notice", to="The ministry has approved it."), set()),
    # As if there were no plan.
    "the plan alone left out": (COUNT, unplanned, set()),
    "the plan and all of it left out": (COUNT, without_plan, {FOUND}),
    "a query of what was read": (READ, put("query", to="ASK {}"), set()),
    "rows of what was read": (READ, from_another(COUNT, "rows", "columns"), set()),
    "a reading of what was read": (READ, put("reading", to="all that is known"), set()),
    "a notice of what was read": (READ, put("notice", to="The ministry has approved it."), {NOTICE}),
    "a model": (READ, put("model", to="oracle"), {WRITER}),
    "why it was read": (READ, put("why", to="the ministry wants it"), {WHY}),
    # Where the triples stand.
    "a named graph": (YES, named("http://evil.example/", told=False), set()),
    "a named graph that the line tells": (YES, named("http://evil.example/", told=True), set()),
    "a layer": (YES, turned, set()),
    # What sentences cite.
    "what nothing says": (READ, says("Ontotext stole GraphDB."), set()),
    "another true line": (READ, cites(another=True), set()),
    "a true line beside its own": (READ, cites(another=False), set()),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGERIES)
def test_what_is_invented_is_seen(kg: KnowledgeGraph, answers: Answers, name: str) -> None:
    question, forge, unchecked = FORGERIES[name]
    assert mrag.verify(kg, answers[question]).complete
    value = copy.deepcopy(answers[question])
    forge(value, answers)
    assert value != answers[question]
    try:
        report = mrag.verify(kg, value)
    except MragError:
        return
    assert not report.complete and "every sentence holds" not in str(report)
    if unchecked:
        assert unchecked <= {part.name for part in report.of("not checked")}, str(report)
    else:
        assert not report.ok, str(report)


# -- Receipts --------------------------------------------------------------------------------------------

CHANGED: dict[str, dict[str, Any]] = {
    "the graph": {"source": "urn:mrag:kg:other"},
    "the state of the graph": {"revision": 99},
    "the version": {"version": "99.0"},
    "the time": {"at": datetime(2020, 1, 1, tzinfo=UTC)},
}


@pytest.mark.parametrize("name", CHANGED)
def test_an_envelope_with_its_hash_made_anew_vouches_for_nothing(
    kg: KnowledgeGraph, answers: Answers, tmp_path: Path, name: str
) -> None:
    pytest.importorskip("cryptography", reason="cryptography is not installed (pip install 'mrag[sign]')")
    mine, forger = KeyStore(tmp_path / "mine"), KeyStore(tmp_path / "forger")
    mine.create()
    value = answers[YES]
    report = mrag.verify(kg, value)
    true = {"source": kg.iri, "revision": kg.revision, "version": mrag.__version__, "at": datetime.now(UTC)}
    for key in (None, forger.own() or forger.create()):
        forged = receipt(value, report, **{**true, **CHANGED[name]}, key=key)
        said = verified(kg, forged, lambda q: None, mine)
        assert not said.complete and (not said.ok or ENVELOPE in {p.name for p in said.of("not checked")})
        assert not checked_alone(forged, mine).ok
    signed = receipt_of(kg, value, report, mine)
    forged = receipt(value, report, **{**true, **CHANGED[name]}, key=None)
    assert not verified(kg, {**forged, "proof": signed["proof"]}, lambda q: None, mine).ok


def test_the_answer_in_a_receipt_is_bound_to_its_envelope(kg: KnowledgeGraph, answers: Answers) -> None:
    report = mrag.verify(kg, answers[COUNT])
    made = receipt_of(kg, answers[COUNT], report, KeyStore(Path("/nowhere")))
    other = receipt_of(kg, answers[OTHER], report, KeyStore(Path("/nowhere")))
    for field in ("text", "schema:parentItem", "prov:wasDerivedFrom", "prov:wasGeneratedBy", "json", "@id"):
        assert not verified(kg, {**made, field: other[field]}, lambda q: None).ok, field
