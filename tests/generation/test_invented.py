"""Forgeries that agree with themselves: each is refused, or what is invented is named as not checked."""

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
from tests.cases import cases

Answers = dict[str, dict[str, Any]]

COUNT, OTHER = "How many triple stores are there?", "How many vector databases are there?"
LIST, READ, YES = "Which products does Ontotext develop?", "What is GraphDB?", "Is GraphDB a triple store?"
OLDEST, GROUPS = "What is the oldest database?", "How many vendors are there per country?"
LATER = "And vector databases?"


@pytest.fixture(scope="module")
def answers(kg: KnowledgeGraph) -> Answers:
    found = {q: mrag.ask(kg, q, model="none") for q in (COUNT, OTHER, LIST, READ, YES, OLDEST, GROUPS)}
    found[LATER] = mrag.ask(kg, LATER, model="none", follows=found[COUNT])
    return {q: json.loads(json.dumps(answer.to_json())) for q, answer in found.items()}


def before(value: dict[str, Any], _: Answers, words: str) -> None:
    value["sentences"][-1]["before"] += words
    rest = value["text"].rpartition(value["sentences"][-1]["text"])
    value["text"] = f"{rest[0]}{words}{rest[1]}{rest[2]}"


def put(value: dict[str, Any], _: Answers, *path_and_new: Any) -> None:
    *steps, last, new = path_and_new
    for step in steps:
        value = value[step]
    value[last] = new


def everywhere(value: dict[str, Any], _: Answers, old: str, new: str) -> None:
    """Say another word wherever one is said, but not in IRIs."""

    def said(value: Any) -> Any:
        if isinstance(value, dict):
            return {k: said(v) for k, v in value.items()}
        if isinstance(value, list):
            return [said(v) for v in value]
        return value.replace(old, new) if isinstance(value, str) and "://" not in value else value

    value.update(said(value))


def from_another(value: dict[str, Any], answers: Answers, question: str, fields: str) -> None:
    value.update({name: answers[question][name] for name in fields.split()})


def lose(value: dict[str, Any], _: Answers, field: str) -> None:
    del value[field]


def says(value: dict[str, Any], _: Answers, words: str) -> None:
    """Add a sentence that is marked as supported, with a citation that is listed."""
    line = value["context"]["lines"][0]
    sentence = {"text": words, "before": " ", "citations": [line["id"]], "supported": True, "verdict": "read"}
    value["sentences"].append({**sentence, "rejected_ids": [], "left": [], "against": []})
    value["text"] += f" {words.rstrip('.')} [{line['id']}]."
    if line["id"] not in {c["id"] for c in value["citations"]}:
        value["citations"].append({name: line[name] for name in CITED})


def cites(value: dict[str, Any], _: Answers, another: bool) -> None:
    """Cite a true line that does not carry the last sentence: in place of its own, or beside it."""
    last = value["sentences"][-1]
    lines = value["context"]["lines"]
    other = next(x["id"] for x in reversed(lines) if x["id"] not in {c["id"] for c in value["citations"]})
    text = value["text"].rpartition(last["text"].rstrip("."))
    last["citations"] = [*([] if another else last["citations"]), other]
    ids = "".join(f"[{one}]" for one in last["citations"])
    value["text"] = f"{text[0]}{text[1]} {ids}."
    line = next(x for x in lines if x["id"] == other)
    value["citations"].append({name: line[name] for name in CITED})


def cited(value: dict[str, Any]) -> list[dict[str, Any]]:
    """The first citation, and its lines."""
    one = value["citations"][0]
    return [one, *(x for x in value["context"]["lines"] if x["id"] == one["id"])]


def named(value: dict[str, Any], _: Answers, graph: str, told: bool) -> None:
    for line in cited(value):
        if "labels" in line:
            line["named_graphs"] = [graph]
        if told:
            line["text"] = f"{line['text'][:-1]}, in graph {graph})"


def turned(value: dict[str, Any], _: Answers) -> None:
    for line in cited(value):
        line["inferred"] = not line["inferred"]
        line["text"] = line["text"].removesuffix(" inferred") + (" inferred" if line["inferred"] else "")


def first_row_only(value: dict[str, Any], _: Answers) -> None:
    value["rows"], value["sentences"] = value["rows"][:1], value["sentences"][:1]
    value["text"] = value["text"].split("\n")[0]
    kept = value["sentences"][0]["citations"]
    value["citations"] = [c for c in value["citations"] if c["id"] in kept]


def before_it(value: dict[str, Any], answers: Answers) -> None:
    value["follows"].update({name: answers[LIST][name] for name in ("plan", "columns")})


def helped(value: dict[str, Any], _: Answers) -> None:
    value["why"] += HELPED


CITED = ("id", "triple", "graph", "inferred", "text")
FORGES: dict[str, Callable[..., None]] = {f.__name__: f for f in (
    before, put, lose, everywhere, from_another, says, cites, named, turned, first_row_only, before_it,
    helped,
)}  # fmt: skip
UNCHECKED = {"found": FOUND, "notice": NOTICE, "writer": WRITER, "why": WHY, "reading": READING}


@pytest.mark.parametrize(("question", "forges", "unchecked"), [
    pytest.param(*row, id=name) for name, *row in cases(__file__, "forgeries")
])  # fmt: skip
def test_what_is_invented_is_seen(
    kg: KnowledgeGraph, answers: Answers, question: str, forges: list[list[Any]], unchecked: str
) -> None:
    assert mrag.verify(kg, answers[question]).complete
    value = copy.deepcopy(answers[question])
    for forge, *given in forges:
        FORGES[forge](value, answers, *given)
    assert value != answers[question]
    try:
        report = mrag.verify(kg, value)
    except MragError:
        return
    assert not report.complete and "every sentence holds" not in str(report)
    if unchecked:
        assert UNCHECKED[unchecked] in {part.name for part in report.of("not checked")}, str(report)
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
