"""Answers and receipts are forged in every place, one at a time: none is taken for what it was."""

import copy
import json
import random
import re
import stat
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import mrag
from mrag.errors import ConfigError, ModelError, MragError
from mrag.generation.result import canonical, parse
from mrag.generation.verification import ENVELOPE, READING, KeyStore, VerifyReport, check_alone, receipt
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import HELPED, run_question
from mrag.planning.saved import save_question
from mrag.retrieval.verifying import FOUND, NOTICE, WHY, WRITER, receipt_of, verify_answer
from tests.cases import cases
from tests.conftest import slow
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
    before = {one.part for one in mrag.verify(kg, value).of("not checked")}
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
        if report.complete or not {one.part for one in report.of("not checked")} - before:
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
def test_no_forgery_passes(graphs: Graphs, graph: str, kind: str, given: list[Any], most: int | None) -> None:
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
        value = asked(kg, "Is Neo4j a triple store?")
    report = mrag.verify(kg, value)
    assert len(value["sentences"]) == 1 and report.ok and "what is so instead" in str(report)
    assert mrag.verify(kg, asked(kg, "Is Neo4j a triple store?")).complete


@pytest.fixture(scope="module")
def signed(kg: KnowledgeGraph, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], KeyStore]:
    pytest.importorskip("cryptography", reason="cryptography is not installed (pip install 'mrag[sign]')")
    keys = KeyStore(tmp_path_factory.mktemp("keys") / "mine")
    keys.create()
    value = asked(kg, "Is GraphDB a triple store?")
    return json.loads(json.dumps(receipt_of(kg, value, mrag.verify(kg, value), keys))), keys


def test_others_check_a_signed_receipt_alone(signed: tuple[dict[str, Any], KeyStore], tmp_path: Path) -> None:
    made, mine = signed
    own = mine.own()
    assert own is not None and stat.S_IMODE(mine.file.stat().st_mode) == 0o600
    theirs = KeyStore(tmp_path)
    report = check_alone(made, theirs)
    assert not report.ok and "not trusted" in report.altered[0] and not report.of("signed")
    theirs.trust("Example Library", own.public)
    report = check_alone(made, theirs)
    assert report.complete and "signed by Example Library" in str(report)
    assert "every sentence holds" not in str(report).splitlines()[0]
    with pytest.raises(ConfigError, match="Another key"):
        theirs.trust("Example Library", own.public[:-1] + ("a" if own.public[-1] != "a" else "b"))
    theirs.forget("Example Library")
    assert not check_alone(made, theirs).ok


@pytest.mark.parametrize("step", [7, *slow(1)])
def test_no_forged_receipt_passes(signed: tuple[dict[str, Any], KeyStore], step: int) -> None:
    made, keys = signed
    kinds = [*{kind_of(name): (name, make) for name, make in changes(made)}.values()]
    assert len(kinds) > 500
    for name, make in kinds[::step]:
        try:
            assert not check_alone(make(), keys).ok, name
        except MragError:
            continue


def test_a_hash_that_was_made_anew_vouches_for_nothing(
    kg: KnowledgeGraph, signed: tuple[dict[str, Any], KeyStore], tmp_path: Path
) -> None:
    made, keys = signed
    forger = KeyStore(tmp_path)
    report = VerifyReport.from_json(made["schema:review"]["json"])
    forged = receipt_of(kg, change(made["json"], question="Is Ontotext bankrupt?"), report, forger)
    assert not check_alone(forged, keys).ok and not verify_answer(kg, forged, lambda q: None, keys).complete
    forger.create()
    again = receipt_of(kg, made["json"], report, forger)
    assert not check_alone(again, keys).ok
    # Made again within the same second it would be the same.
    assert not check_alone({**forged, "proof": made["proof"]}, keys).ok
    # What was not checked when it was signed is not vouched for by the signature.
    doubtful = receipt_of(kg, made["json"], VerifyReport(), keys)
    assert not check_alone(doubtful, keys).complete


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
        assert UNCHECKED[unchecked] in {one.part for one in report.of("not checked")}, str(report)
    else:
        assert not report.ok, str(report)


CHANGED: dict[str, dict[str, Any]] = {
    "the graph": {"source": "urn:mrag:kg:other"}, "the state of the graph": {"revision": 99},
    "the version": {"version": "99.0"}, "the time": {"at": datetime(2020, 1, 1, tzinfo=UTC)},
}  # fmt: skip


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
        said = verify_answer(kg, forged, lambda q: None, mine)
        assert not said.complete and (not said.ok or ENVELOPE in {p.part for p in said.of("not checked")})
        assert not check_alone(forged, mine).ok
    signed = receipt_of(kg, value, report, mine)
    forged = receipt(value, report, **{**true, **CHANGED[name]}, key=None)
    assert not verify_answer(kg, {**forged, "proof": signed["proof"]}, lambda q: None, mine).ok


def test_the_answer_in_a_receipt_is_bound_to_its_envelope(kg: KnowledgeGraph, answers: Answers) -> None:
    report = mrag.verify(kg, answers[COUNT])
    made = receipt_of(kg, answers[COUNT], report, KeyStore(Path("/nowhere")))
    other = receipt_of(kg, answers[OTHER], report, KeyStore(Path("/nowhere")))
    for field in ("text", "schema:parentItem", "prov:wasDerivedFrom", "prov:wasGeneratedBy", "json", "@id"):
        assert not verify_answer(kg, {**made, field: other[field]}, lambda q: None).ok, field
