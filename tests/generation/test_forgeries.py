"""Answers and receipts are forged in every place, one at a time: none is taken for what it was."""

import json
import random
import re
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import mrag
from mrag.errors import ConfigError, ModelError, MragError
from mrag.generation.receipts import KeyStore, checked_alone
from mrag.generation.result import canonical, parse
from mrag.generation.verification import VerifyReport
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import run_question
from mrag.planning.saved import save_question
from mrag.retrieval.verifying import receipt_of, verified
from tests.cases import cases
from tests.generation.forging import EMPTY, changes, kind_of
from tests.images.conftest import draw, turtle
from tests.planning.questions import GRAPHS

pytestmark = pytest.mark.filterwarnings("ignore:Parsing weird boolean")

PLAIN, FOLLOWS, SAVED = (cases(__file__, name) for name in ("plain", "follow-up", "saved"))
CASES = [
    *((graph, "plain", [q]) for graph, questions in PLAIN.items() for q in questions),
    *((graph, kind, both) for kind in ("follow-up", "saved") for graph, *both in cases(__file__, kind)),
    *((graph, kind, given) for graph, kind, *given in cases(__file__, "others")),
]


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


@pytest.mark.parametrize("question", PLAIN["demo"][:10])
def test_an_answer_that_is_as_it_was_is_verified_whole(kg: KnowledgeGraph, question: str) -> None:
    report = mrag.verify(kg, asked(kg, question))
    assert report.complete, str(report)
    assert "every sentence holds" in str(report).splitlines()[0]


# -- Every field of answers of every kind ----------------------------------------------------------------


class Graphs:
    """Graphs that are opened when they are first asked."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open: dict[str, KnowledgeGraph] = {}

    def __getitem__(self, name: str) -> KnowledgeGraph:
        if name not in self._open:
            kg = mrag.demo(model="none") if name == "demo" else mrag.connect("oxigraph:")
            if name == "pictures":
                draw(self._folder)
                (self._folder / "images.ttl").write_text(turtle(), encoding="utf-8")
                kg.load([self._folder / "images.ttl"])
            elif name != "demo":
                kg.load([GRAPHS / f"{name}.ttl"])
                kg.reason()
            if name != "demo":
                kg.index(model="none")
            self._open[name] = kg
        return self._open[name]

    def answer(self, name: str, kind: str, given: list[Any]) -> dict[str, Any]:
        kg = self[name]
        if kind == "follow-up":
            first = mrag.ask(kg, given[0], model="none")
            answer = mrag.ask(kg, given[1], model="none", follows=first)
        elif kind == "saved":
            saved = save_question(kg, mrag.ask(kg, given[0], model="none"), replacing=True)
            same = given[0] == given[1]
            answer = run_question(kg, saved.name) if same else mrag.ask(kg, given[1], model="none")
        elif kind == "reading":
            answer = mrag.ask(kg, given[1], model="none", reading=given[0])
        elif kind == "refused":
            answer = mrag.ask(kg, given[0], model="none", how="plan")
        elif kind == "media":
            answer = mrag.ask(kg, given[0], model="none", media=self._folder)
        else:
            answer = mrag.ask(kg, given[0], model="none")
        return json.loads(json.dumps(answer.to_json()))  # type: ignore[no-any-return]

    def close(self) -> None:
        for kg in self._open.values():
            kg.close()


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graphs]:
    found = Graphs(tmp_path_factory.mktemp("graphs"))
    yield found
    found.close()


def accepted(
    kg: KnowledgeGraph, value: dict[str, Any], most: int | None, again: Callable[[str], dict[str, Any]]
) -> list[str]:
    """Return which changes of an answer pass as what it was; by default one of each kind is tried."""
    before = {part.name for part in mrag.verify(kg, value).of("not checked")}
    kinds: dict[str, list[tuple[str, Any]]] = {}
    for name, make in changes(value):
        kinds.setdefault(kind_of(name), []).append((name, make))
    rng, through = random.Random(37), []
    tried = [rng.choice(some) for _, some in sorted(kinds.items())]
    for name, make in tried if most is None else rng.sample(tried, most):
        report = passed(kg, make())
        # How a question is written in large and small letters says nothing.
        if report is None or name.endswith(EMPTY) or name.endswith("question: the case"):
            continue
        # Whoever had less time tried fewer of the other readings.
        if re.fullmatch(r"readings\.\d+: taken away", name):
            continue
        # Where the files of images lie is named as not checked of every answer that tells it.
        if re.match(r"images\.\d+\.path:", name):
            continue
        # What another question is answered with, word for word, is its answer.
        if name.startswith("question:") and make() == again(make()["question"]):
            continue
        if report.complete or not {part.name for part in report.of("not checked")} - before:
            through.append(name)
        assert "every sentence holds" not in str(report), name
    return through


@pytest.mark.parametrize(
    ("graph", "kind", "given", "most"),
    [
        *((*CASES[at], 6) for at in (1, 24, 39, 42)),
        *(pytest.param(*case, None, marks=pytest.mark.slow) for case in CASES),
    ],
)
def test_no_forged_answer_passes(
    graphs: Graphs, graph: str, kind: str, given: list[Any], most: int | None
) -> None:
    value = graphs.answer(graph, kind, given)
    assert mrag.verify(graphs[graph], value).ok

    def again(question: str) -> dict[str, Any]:
        try:
            return {} if kind == "saved" else graphs.answer(graph, kind, [*given[:-1], question])
        except ConfigError:
            return {}  # one that is empty

    assert accepted(graphs[graph], value, most, again) == []


def change(value: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {**json.loads(json.dumps(value)), **fields}


def test_signs_that_deceive_are_not_vouched_for(kg: KnowledgeGraph) -> None:
    signs = [("triple", "tri\u200bple"), ("GraphDB", "Gr\u0430phDB"), ("is", "\u202eis"), ("is", "i\u0336s")]
    for old, new in signs:
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
    for confidence in (10**400, float("nan")):
        assert passed(kg, change(value, confidence=confidence)) is None
    assert passed(kg, {**value, "context": deep}) is None
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


def test_what_goes_on_and_what_was_saved_is_read_again(graphs: Graphs) -> None:
    kg = graphs["company"]
    for kind, given in (("follow-up", FOLLOWS[-1][1:]), ("saved", SAVED[1][1:])):
        value = graphs.answer("company", kind, given)
        assert mrag.verify(kg, value).complete, kind
    saved = change(value, question=value["question"].replace("Cortex Inc", "Acme Ltd"))
    assert any("the question is read otherwise" in what for what in mrag.verify(kg, saved).altered)
    untold = graphs.answer("company", "follow-up", FOLLOWS[-1][1:])
    del untold["follows"]
    report = mrag.verify(kg, untold)
    assert report.ok and "the question that it goes on from is not told" in str(report)
    assert "every sentence holds" not in str(report)


def test_what_was_not_told_in_time_is_no_change(kg: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as hurry:
        hurry.setattr("mrag.planning.answering._EXPLAINING", 0.0)
        hurry.setattr("mrag.planning.results.OFFERED_SECONDS", 0.0)
        value = asked(kg, "Does Neo4j support SPARQL?")
    report = mrag.verify(kg, value)
    assert len(value["sentences"]) == 1 and report.ok and "what is so instead" in str(report)
    assert mrag.verify(kg, asked(kg, "Does Neo4j support SPARQL?")).complete


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
    kinds = {kind_of(name): (name, make) for name, make in changes(made)}
    for name, make in kinds.values():
        try:
            assert not checked_alone(make(), keys).ok, name
        except MragError:
            continue
    assert len(kinds) > 500


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
