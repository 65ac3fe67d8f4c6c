"""Answers and receipts are forged in every place, one at a time: none is taken for what it was."""

from __future__ import annotations

import json
import random
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import mrag
from mrag.errors import ConfigError, ModelError, MragError
from mrag.generation.checks.report import VerifyReport
from mrag.generation.receipts.canonical import canonical, parse
from mrag.generation.receipts.checking import checked_alone
from mrag.generation.receipts.keys import KeyStore
from mrag.graph.kg import KnowledgeGraph
from mrag.retrieval.verifying import receipt_of, verified
from tests.generation.forging import changes, forgeries

pytestmark = pytest.mark.filterwarnings("ignore:Parsing weird boolean")

QUESTIONS = (
    "How many triple stores are there?", "What is the oldest database?", "Does Neo4j support SPARQL?",
    "How many vendors are there per country?", "Is GraphDB a triple store?", "What is GraphDB?",
    "Which products does Ontotext develop?", "Average release year of databases?",
    "Who develops the best thing?", "Which graph databases support RDF reasoning well?",
)  # fmt: skip


@pytest.fixture(scope="module")
def kg() -> Iterator[KnowledgeGraph]:
    with mrag.demo(model="none") as graph:
        yield graph


def asked(kg: KnowledgeGraph, question: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(json.dumps(mrag.ask(kg, question, model="none").to_json()))
    return value


def passed(kg: KnowledgeGraph, value: Any) -> VerifyReport | None:
    """The report of what passes as verified in all its parts."""
    try:
        report = mrag.verify(kg, value)
    except MragError:
        return None
    return report if report.ok else None


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_answer_that_is_as_it_was_is_verified_whole(kg: KnowledgeGraph, question: str) -> None:
    report = mrag.verify(kg, asked(kg, question))
    assert report.complete, str(report)
    assert "every sentence holds" in str(report).splitlines()[0]


@pytest.mark.parametrize(
    ("question", "most"),
    [
        *((q, 12) for q in (QUESTIONS[1], QUESTIONS[4])),
        *(pytest.param(q, 400, marks=pytest.mark.slow) for q in QUESTIONS),
    ],
)
def test_no_forged_answer_passes(kg: KnowledgeGraph, question: str, most: int) -> None:
    value = asked(kg, question)
    every = list(changes(value))
    through = []
    for name, make in random.Random(37).sample(every, min(most, len(every))):
        forged = make()
        report = passed(kg, forged)
        # An older answer may lack what is empty: it says nothing else then.
        if report is not None and report.complete and not name.endswith("taken away"):
            through.append(name)
    assert through == []


def change(value: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {**json.loads(json.dumps(value)), **fields}


def test_another_question_over_the_same_answer_is_seen(kg: KnowledgeGraph) -> None:
    value = asked(kg, "How many triple stores are there?")
    report = mrag.verify(kg, change(value, question="How many vector databases are there?"))
    assert any("the question is read otherwise" in what for what in report.altered)
    for question in ("Is Ontotext bankrupt?", "How many people died?"):
        other = mrag.verify(kg, change(value, question=question))
        assert not other.complete and "every sentence holds" not in str(other)


def test_words_between_sentences_are_seen(kg: KnowledgeGraph) -> None:
    for word in ("It is false that ", "❌ ", "Ⓝot ", "\u202e", "２. ", "1. Evil. ", "¬"):
        value = asked(kg, "What is GraphDB?")
        value["sentences"][0]["before"] = word
        value["text"] = word + value["text"]
        assert passed(kg, value) is None, word


def test_signs_that_deceive_are_not_vouched_for(kg: KnowledgeGraph) -> None:
    for old, new in (
        ("triple", "tri\u200bple"),
        ("GraphDB", "Gr\u0430phDB"),
        ("is", "\u202eis"),
        ("is", "i\u0336s"),
    ):
        value = asked(kg, "What is GraphDB?")
        for one in (value, value["sentences"][0]):
            one["text"] = one["text"].replace(old, new, 1)
        report = passed(kg, value)
        assert report is None or "every sentence holds" not in str(report), new


def test_what_is_too_deep_or_too_large_is_a_typed_error(kg: KnowledgeGraph) -> None:
    value = asked(kg, "Is GraphDB a triple store?")
    deep: Any = 1
    for _ in range(2_000):
        deep = {"format": deep}
    for forged in (
        change(value, confidence=10**400),
        change(value, confidence=float("nan")),
        {**value, "context": deep},
    ):
        assert passed(kg, forged) is None
    value["context"]["lines"][0]["named_graphs"] = ["no IRI"]
    assert passed(kg, value) is None


def test_a_line_says_what_its_triple_says(kg: KnowledgeGraph) -> None:
    value = json.dumps(asked(kg, "Is GraphDB a triple store?"))
    line = json.loads(value)["citations"][0]["text"]
    ends = (" completed", " enriched", " ", " (so it is)")
    for other in (line[:-1] + ", in graph Evil)", "(a, b, c)", *(line + end for end in ends)):
        assert passed(kg, json.loads(value.replace(json.dumps(line), json.dumps(other)))) is None, other


def test_a_graph_that_is_none_of_it_is_seen(kg: KnowledgeGraph) -> None:
    value = asked(kg, "Is GraphDB a triple store?")
    graph = value["citations"][0]["graph"]
    for other in ("http://evil.example/", kg.iri + ":asserted:9", "urn:mrag:kg:other:asserted:0", ""):
        forged = json.loads(json.dumps(value).replace(graph, other))
        assert passed(kg, forged) is None or other == "", other


def test_a_follow_up_is_not_said_to_be_verified_alone(kg: KnowledgeGraph) -> None:
    first = mrag.ask(kg, "How many triple stores are there?", model="none")
    second = mrag.ask(kg, "And vector databases?", model="none", follows=first)
    report = mrag.verify(kg, second)
    assert report.ok and "triples are in the graph" in str(report)


# -- Receipts --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def signed(kg: KnowledgeGraph, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], KeyStore]:
    pytest.importorskip("cryptography", reason="cryptography is not installed (pip install 'mrag[sign]')")
    keys = KeyStore(tmp_path_factory.mktemp("keys") / "mine")
    keys.create()
    value = asked(kg, "Is GraphDB a triple store?")
    return json.loads(json.dumps(receipt_of(kg, value, mrag.verify(kg, value), keys))), keys


def test_a_third_party_checks_a_signed_receipt_alone(
    signed: tuple[dict[str, Any], KeyStore], tmp_path: Path
) -> None:
    made, mine = signed
    own = mine.own()
    assert own is not None and stat.S_IMODE(mine.file.stat().st_mode) == 0o600
    theirs = KeyStore(tmp_path)
    report = checked_alone(made, theirs)
    assert not report.ok and "not trusted" in report.altered[0] and not report.of("signed")
    theirs.trust("Example Library", own.public)
    report = checked_alone(made, theirs)
    assert report.complete and "signed by Example Library" in str(report)
    assert "every sentence holds" not in str(report).splitlines()[0]
    with pytest.raises(ConfigError, match="Another key"):
        theirs.trust("Example Library", own.public[:-1] + ("a" if own.public[-1] != "a" else "b"))
    theirs.forget("Example Library")
    assert not checked_alone(made, theirs).ok


def test_no_forged_receipt_passes(signed: tuple[dict[str, Any], KeyStore]) -> None:
    made, keys = signed
    count = 0
    for name, forged in forgeries(made):
        count += 1
        try:
            assert not checked_alone(forged, keys).ok, name
        except MragError:
            continue
    assert count > 500


def test_a_hash_that_was_made_anew_vouches_for_nothing(
    kg: KnowledgeGraph, signed: tuple[dict[str, Any], KeyStore], tmp_path: Path
) -> None:
    made, keys = signed
    forger = KeyStore(tmp_path)
    report = VerifyReport.from_json(made["schema:review"]["json"])
    forged = receipt_of(kg, change(made["json"], question="Is Ontotext bankrupt?"), report, forger)
    assert not checked_alone(forged, keys).ok and not verified(kg, forged, lambda q: None, keys).complete
    forger.create()
    again = receipt_of(kg, made["json"], report, forger)
    assert not checked_alone(again, keys).ok
    assert not checked_alone({**again, "proof": made["proof"]}, keys).ok
    # What was not checked when it was signed is not vouched for by the signature.
    doubtful = receipt_of(kg, made["json"], VerifyReport(), keys)
    assert not checked_alone(doubtful, keys).complete


def test_a_receipt_of_before_is_read(kg: KnowledgeGraph, signed: tuple[dict[str, Any], KeyStore]) -> None:
    made, keys = signed
    old = {**made, "@id": "urn:mrag:receipt:" + "0" * 32}
    old.pop("proof")
    report = verified(kg, old, lambda q: None, keys)
    assert report.ok and not report.complete and "without a hash" in str(report)


@pytest.mark.parametrize(
    "text", ['{"a": 1, "a": 2}', '{"a": NaN}', '{"a": -Infinity}', '"\\ud800"', "[" * 100_000, "{", b"\xff"]
)
def test_json_of_which_readers_read_different_things_is_refused(text: str | bytes) -> None:
    with pytest.raises(ModelError, match="Not JSON"):
        parse(text)


def test_canonical_json_is_that_of_rfc_8785() -> None:
    value = parse('{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001,-0.0],'
                  '"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false],'
                  '"\\ud83d\\ude02":1,"\\ufb33":2}')  # fmt: skip
    said = canonical(value).decode()
    assert said == (
        '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27,0],'
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/","😂":1,"\ufb33":2}'
    )
    for bad in (2**53, float("nan"), {1: 2}, "\ud800", {"a": b"b"}):
        with pytest.raises(ModelError):
            canonical(bad)
