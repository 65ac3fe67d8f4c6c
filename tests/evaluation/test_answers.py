"""`mrag eval`: answers against gold ones, collections, Cranfield, and what is broken off."""

import gzip
import importlib.util
import json
import math
import random
import re
import shutil
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from mrag.cli import app
from mrag.errors import ConfigError, LoadError
from mrag.evaluation import GoldQuestion, Resampling, evaluate_questions, read_questions
from mrag.evaluation.gold import GoldTable, mentions, score
from mrag.evaluation.metrics import Run, per_query
from mrag.evaluation.questions import Collection, read_collection
from mrag.graph.kg import KnowledgeGraph
from mrag.index.bm25 import THESIS, Bm25Index, Bm25Params
from mrag.index.document_index import DocumentIndex
from mrag.storage.files import append
from tests.cases import cases
from tests.commands import ran, run
from tests.conftest import PRODUCTS, ROOT, shared_data, slow
from tests.crash import Job, breaks, mrag_in

QUICK = Resampling(resamples=100)
TRIPLE_STORES: dict[str, Any] = {
    "id": "count", "question": "How many triple stores are there?", "answers": [["11"]], "category": "count",
}  # fmt: skip
FOOTBALL: dict[str, Any] = {"id": "football", "question": "Who won the football world cup in 1990?"}


@cache
def scorer() -> ModuleType:
    """The scorer of the shared questions: the oracle."""
    spec = importlib.util.spec_from_file_location("score", shared_data("structured_qa") / "score.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


VALUES = st.one_of(
    st.sampled_from(["a", " A ", "b", "B  c", "b c", "7", "007", "7.0", "7.05", "true", "It’s", "it's", ""]),
    st.sampled_from(["2023-04", "2023-04-01", "2023-04-01T00:00:00Z", "2023-04-01 10:00:00", "1e1", "10"]),
    st.integers(0, 3), st.sampled_from([0.5, 0.502, 0.51, 1.0, 1.001, 2.5, 99.5, 100.2]), st.booleans(),
    st.none(),
)  # fmt: skip


@st.composite
def questions_and_answers(draw: st.DrawFn) -> tuple[dict[str, Any], Any]:
    """A question with alternatives, and an answer that is near one of them more often than not."""

    def table() -> dict[str, Any]:
        width = draw(st.integers(1, 3))
        rows = draw(st.lists(st.lists(VALUES, min_size=width, max_size=width), min_size=1, max_size=4))
        found: dict[str, Any] = {"answers": rows}
        if draw(st.booleans()):
            found["choice_columns"] = draw(st.lists(st.integers(0, width - 1), unique=True, max_size=width))
        if draw(st.booleans()):
            found["order_groups"] = [draw(st.integers(0, 2)) for _ in rows]
        return found

    question = {**table(), "ordered": draw(st.booleans())}
    question["alternatives"] = [table() for _ in range(draw(st.integers(0, 2)))]
    source = draw(st.sampled_from([question, *question["alternatives"]]))["answers"]
    rows = draw(st.permutations(source))
    if draw(st.booleans()):
        order = draw(st.permutations(range(len(rows[0]))))
        rows = [[row[c] for c in order] for row in rows]
    change = draw(st.sampled_from(["none", "wider", "narrower", "cell", "twice", "flat", "other"]))
    if change == "wider":
        rows = [[*row, draw(VALUES)] for row in rows]
    elif change == "narrower":
        rows = [row[1:] for row in rows]
    elif change == "cell":
        rows = [list(row) for row in rows]
        rows[0][0] = draw(VALUES)
    elif change == "twice":
        rows = [*rows, rows[0]]
    elif change == "flat":
        return question, [row[0] for row in rows] if len(rows) > 1 else list(rows[0])
    elif change == "other":
        rows = draw(st.lists(st.lists(VALUES, min_size=1, max_size=3), max_size=4))
    return question, rows


def accepted_of(question: dict[str, Any]) -> tuple[GoldTable, ...]:
    return GoldQuestion.of({"question": "?", **question}).accepted


# Of faults that were put into the scorer by hand, the last was found by example 146.
@pytest.mark.slow
@settings(max_examples=300)
@given(pair=questions_and_answers())
def test_answers_score_as_the_scorer_of_the_shared_questions_says(pair: tuple[dict[str, Any], Any]) -> None:
    question, answers = pair
    oracle = scorer()
    exact, contains, f1 = oracle.score(question, answers)
    found = score(accepted_of(question), answers)
    assert (float(found.exact), float(found.contains)) == (exact, contains)
    assert found.f1 == pytest.approx(f1)


def test_gold_answers_of_the_shared_questions_are_exact() -> None:
    files = sorted(shared_data("structured_qa").glob("*/questions.jsonl"))
    asked = read_questions(files)
    assert len(asked) == 301 and all(question.answerable for question in asked)
    for path in files:
        for line in path.read_text(encoding="utf-8").splitlines():
            question = json.loads(line)
            for accepted in (question, *question.get("alternatives", ())):
                assert score(accepted_of(question), accepted["answers"]).exact, question["id"]
    refused = read_questions(shared_data("structured_qa") / "unanswerable.jsonl", only={"db": "atis"})
    assert len(refused) == 15 and not any(question.answerable for question in refused)


def test_columns_of_which_any_will_do_and_rows_in_order() -> None:
    gold = GoldTable((("ann", 1, "x"), ("bob", 2, "y")), choice=(0, 2), ranks=(0, 1))
    assert score([gold], [["Ann", 1], ["Bob", 2]]).exact
    assert score([gold], [[1, "X"], [2, "Y"]]).exact
    assert not score([gold], [["Bob", 2], ["Ann", 1]]).contains, "the order is asked for"
    assert not score([gold], [[1], [2]]).exact, "one of the columns is wanted"
    wider = score([gold], [["Ann", 1, 9], ["Bob", 2, 9]])
    assert wider.contains and not wider.exact


def test_sentences_may_name_what_is_asked_for() -> None:
    gold = [GoldTable((("o'neil", 1024),)), GoldTable((("ann",),))]
    assert mentions("O’Neil has 1,024 cats.", gold)
    assert mentions("It is Ann.", gold)
    assert not mentions("Annette has 10240.", gold)


@pytest.mark.parametrize(("line", "said"), cases(__file__, "malformed"))
def test_a_malformed_line_is_named(line: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text('{"question": "What?", "id": "1"}\n\n' + line + "\n")
    with pytest.raises((ConfigError, LoadError)) as error:
        read_questions(path)
    assert said in str(error.value) and f"{path}, line 3" in str(error.value)


def test_a_file_without_questions_or_none_at_all_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text('{"question": "What?", "db": "a"}\n')
    with pytest.raises(ConfigError, match="no questions"):
        read_questions(path, only={"db": "b"})
    path.write_bytes(b"\xff\xfe")
    for unread in (path, tmp_path / "none.jsonl"):
        with pytest.raises(LoadError, match="cannot be read"):
            read_questions(unread)


def test_figures_of_a_run(demo: KnowledgeGraph) -> None:
    wrong = {**TRIPLE_STORES, "id": "wrong", "answers": [[12]]}
    asked = [GoldQuestion.of(fields) for fields in (TRIPLE_STORES, wrong, FOOTBALL)]
    found = evaluate_questions(demo, asked, how="plan", resampling=QUICK)
    assert found.overall is not None and found.overall.exact.mean == 0.5
    assert found.sure is not None and (found.sure.mean, found.sure.queries) == (0.5, 2)
    assert found.refused[""].mean == 1.0
    assert found.abstention is not None and (found.abstention.mean, found.abstention.queries) == (1.0, 1)
    assert dict(found.ways) == {"none": 1, "plan": 2}
    assert [p["id"] for p in found.predictions] == ["count", "wrong", "football"]
    shown = str(found)
    assert "| count | 2 | 0.500 [" in shown and "none 1 (33%)" in shown
    assert json.loads(json.dumps(found.to_json()))["overall"]["f1"]["mean"] == 0.5
    assert "Right where it was sure" in found._repr_html_()


def test_entities_may_be_named_by_iri_and_sentences_are_read(demo: KnowledgeGraph) -> None:
    fields = {"question": "Which vendor develops GraphDB?"}
    label = GoldQuestion.of({**fields, "id": "label", "answers": ["Ontotext"]})
    by_iri = GoldQuestion.of({**fields, "id": "iri", "answers": [demo.prefixes["ex"] + "Ontotext"]})
    for asked in (label, by_iri):
        planned = evaluate_questions(demo, [asked], how="plan", resampling=QUICK)
        assert planned.overall is not None and planned.overall.exact.mean == 1.0
    read = evaluate_questions(demo, [label], how="read", resampling=QUICK)
    assert read.overall is not None and read.overall.contains.mean == 1.0 and read.overall.exact.mean == 0.0


def test_a_run_resumes_from_its_journal(demo: KnowledgeGraph, tmp_path: Path) -> None:
    asked = [GoldQuestion.of(fields) for fields in (TRIPLE_STORES, FOOTBALL)]
    journal = tmp_path / "j"
    whole = evaluate_questions(demo, asked, how="plan", journal=journal, resampling=QUICK)
    lines = journal.read_bytes().splitlines(keepends=True)
    assert len(lines) == 3
    journal.write_bytes(lines[0])
    append(journal, {**whole.predictions[0], "answers": [["12"]]})
    with journal.open("ab") as file:
        file.write(lines[2][:30])
    resumed = evaluate_questions(demo, asked, how="plan", journal=journal, resampling=QUICK)
    assert resumed.overall.exact.mean == 0.0, "what is kept is not asked again"
    anew = evaluate_questions(demo, asked, how="auto", journal=journal, resampling=QUICK)
    assert anew.overall is not None and anew.overall.exact.mean == 1.0


def test_a_way_that_is_not_there_and_no_question(demo: KnowledgeGraph) -> None:
    with pytest.raises(ConfigError, match="no way"):
        evaluate_questions(demo, [GoldQuestion.of(FOOTBALL)], how="guess")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="no questions"):
        evaluate_questions(demo, [])


def test_the_command_writes_predictions_and_a_table(tmp_path: Path) -> None:
    path, out = tmp_path / "q.jsonl", tmp_path / "p.jsonl"
    path.write_text("".join(json.dumps({**q, "db": "demo"}) + "\n" for q in (TRIPLE_STORES, FOOTBALL)))
    options = ["--only", "db=demo", "--resamples", "100", "--out", str(out), "--how", "plan"]
    done = ran("eval", "questions", str(path), *options, cwd=tmp_path)
    assert "| count | 1 | 1.000" in done.stdout and "Asking" in done.stderr
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(r["id"], r["answers"], r["abstain"]) for r in rows] == [
        ("count", [["11"]], False), ("football", None, True),
    ]  # fmt: skip
    assert [p.name for p in tmp_path.glob("*.journal")] == []


@pytest.mark.parametrize(("options", "said"), cases(__file__, "the_command_names_what_is_wrong"))
def test_the_command_names_what_is_wrong(tmp_path: Path, options: list[str], said: str) -> None:
    (tmp_path / "q.jsonl").write_text("{")
    done = run("eval", "questions", "q.jsonl", *options, cwd=tmp_path)
    assert done.returncode == 1 and said in done.stderr, done.stderr


def test_rankers_are_what_eval_measures_by_default() -> None:
    assert "questions" in invoke("eval", "--help") and "rankers" in invoke("eval", "--help")
    assert "--qrels" in invoke("eval", "rankers", "--help")


def collection(folder: Path) -> Path:
    folder.mkdir()
    docs = {"d1": "red leather shoes", "d2": "a blue coat of wool", "d3": "a hat", "d4": "boots of leather"}
    asked = {"q1": "leather shoe", "q2": "woollen coat", "q3": "hats", "q4": "blue coats", "q5": "boot"}
    for name, found in (("corpus", docs), ("queries", asked)):
        lines = [json.dumps({"_id": i, "text": text}) + "\n" for i, text in found.items()]
        (folder / f"{name}.jsonl").write_text("".join(lines))
    (folder / "qrels").mkdir()
    rows = ["q1\td1\t2", "q1\td4\t1", "q2\td2\t1", "q3\td3\t1", "q4\td2\t1", "q5\td4\t1"]
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + "\n".join(rows) + "\n")
    return folder


def invoke(*args: str) -> str:
    done = CliRunner().invoke(app, list(args), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_folder_is_ranked_measured_and_reported(tmp_path: Path) -> None:
    folder, out = collection(tmp_path / "c"), tmp_path / "out"
    options = ["--embedder", "wordllama", "--out", str(out), "--resamples", "200"]
    done = ran("eval", str(folder), *options, cwd=tmp_path)
    assert "| bm25 | 5 |" in done.stdout and "| hybrid | 5 |" in done.stdout
    assert "Ranking by dense" in done.stderr
    report = json.loads((out / "report.json").read_text())
    assert [s["name"] for s in report["systems"]] == ["bm25", "dense", "hybrid"]
    assert (out / "report.md").read_text().strip() == done.stdout.strip()
    first = {p: p.read_bytes() for p in out.rglob("*") if p.is_file() and p.name != "lock"}
    again = run("eval", str(folder), *options, cwd=tmp_path)
    assert again.returncode == 0 and again.stdout == done.stdout
    assert first == {p: p.read_bytes() for p in out.rglob("*") if p.is_file() and p.name != "lock"}
    runs = [str(out / "runs" / f"{name}.trec") for name in ("bm25", "hybrid")]
    qrels = str(folder / "qrels" / "test.tsv")
    data = json.loads(invoke("eval", "--qrels", qrels, "--run", runs[0], "--run", runs[1], "--json"))
    assert data["systems"][0]["means"]["MRR"]["mean"] == report["systems"][0]["means"]["MRR"]["mean"]


def test_run_files_alone_and_what_no_ranker_can_find(tmp_path: Path) -> None:
    folder = collection(tmp_path / "c")
    run_file = tmp_path / "mine.trec"
    run_file.write_text("q1 Q0 d1 1 2.0 mine\nq2 Q0 d2 1 1.0 mine\n")
    other = tmp_path / "other.trec"
    other.write_bytes(run_file.read_bytes())
    data = json.loads(invoke("eval", str(folder), "--run", str(run_file), "--run", str(other), "--json"))
    assert [s["name"] for s in data["systems"]] == ["mine", "other"]
    both = json.loads(invoke("eval", str(folder), "-r", "bm25", "--run", str(run_file), "--json"))
    assert [s["name"] for s in both["systems"]] == ["bm25", "mine"] and not both["notes"][1:]
    with (folder / "qrels" / "test.tsv").open("a") as file:
        file.write("q1\td9\t1\n")
    noted = json.loads(invoke("eval", str(folder), "-r", "bm25", "--json"))["notes"]
    assert noted == ["1 of 5 relevant documents are not in the index, such as d9; no ranker can find them."]


@pytest.mark.parametrize(("words", "said"), cases(__file__, "errors"))
def test_errors_say_what_to_do(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    collection(tmp_path / "c")
    done = run("eval", *words, cwd=tmp_path)
    assert done.returncode == 1 and said in done.stderr


@pytest.mark.slow
def test_a_graph_is_asked_and_its_index_evaluated_by_all_three_schemes(tmp_path: Path) -> None:
    store = ["--store", f"oxigraph:{tmp_path / 'kg'}"]
    invoke("load", *store, str(PRODUCTS))
    invoke("reason", *store)
    invoke("index", *store, "--embedder", "wordllama")
    how = ("--model", "none", "--class", "ex:Product", "--embedder", "wordllama", "--json")
    made = json.loads(invoke("benchmark", str(tmp_path / "b"), *store, *how))
    assert (made["made_by"], made["questions"]) == ("template", 63)
    assert made["failures"] == {} and made["unjudged"] == []
    assert made["judged"] == {"target": 63, "similar": 63, "graph": 63}
    alone: dict[str, float] = {}
    for split in ("target", "similar", "graph"):
        measures = ["-m", "R@100", "-m", "MRR", "--json"]
        found = json.loads(invoke("eval", str(tmp_path / "b"), "--split", split, *store, *measures))
        means = {s["name"]: s["means"]["R@100"]["mean"] for s in found["systems"]}
        assert set(means) == {"bm25", "dense", "hybrid"} and all(mean > 0.5 for mean in means.values()), means
        alone[split] = next(s["means"]["MRR"]["mean"] for s in found["systems"] if s["name"] == "bm25")
    only = ["--class", "ex:Product", "-r", "bm25", "-m", "MRR", "--json"]
    found = json.loads(invoke("eval", str(tmp_path / "b"), "--split", "graph", *store, *only))
    assert found["systems"][0]["means"]["MRR"]["mean"] > alone["graph"], "products alone are ranked"


WORDS = [f"word{n}" for n in range(300)]


def small_collection(folder: Path) -> None:
    """Make a small collection in BEIR's form."""
    dice = random.Random(3)
    (folder / "docs" / "qrels").mkdir(parents=True)
    texts = [{"_id": f"d{n}", "title": "", "text": " ".join(dice.choices(WORDS, k=30))} for n in range(200)]
    asked = [{"_id": f"q{n}", "text": " ".join(dice.choices(WORDS, k=3))} for n in range(60)]
    for name, rows in (("corpus", texts), ("queries", asked)):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / "docs" / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    rows = [f"q{n}\td{dice.randrange(200)}\t1\n" for n in range(60)]
    (folder / "docs" / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(rows))


def evaluated(folder: Path) -> None:
    small_collection(folder)
    mrag_in(folder, *EVAL, "-r", "bm25", "-m", "MRR")


def contents(folder: Path) -> dict[str, str]:
    """What a person reads afterwards: reports, runs, questions and judgements, file by file."""
    kinds = ("report.*", "runs/*.trec", "queries.jsonl", "qrels/*.tsv")
    files = [path for kind in kinds for path in (folder / "out").glob(kind)]
    return {str(path.relative_to(folder)): path.read_text(encoding="utf-8") for path in files}


def each_whole(found: dict[str, Any], before: dict[str, Any], after: dict[str, Any]) -> bool:
    names = {*found, *before, *after}
    return all(found.get(name) in (before.get(name), after.get(name)) for name in names)


def products(folder: Path) -> None:
    shutil.copy(PRODUCTS, folder / "products.ttl")
    mrag_in(folder, "load", "products.ttl", "--store", "store")


EVAL = ("eval", "docs", "--embedder", "none", "--out", "out", "--resamples", "100")
MAKE = tuple("benchmark out --model none --embedder none --class ex:Product --store store".split())
BOTH = ("-r", "bm25", "-r", "bm25-thesis")
JOBS = (
    Job("eval", (*EVAL, *BOTH), small_collection, contents, between=each_whole, works=(), campaign=True),
    Job("eval again", (*EVAL, *BOTH, "-m", "nDCG@10"), evaluated, contents, between=each_whole, works=()),
    Job("benchmark", MAKE, products, contents, between=each_whole, campaign=True),
)  # fmt: skip


@pytest.mark.parametrize("job", [JOBS[0], *slow(*JOBS[1:])], ids=str)
def test_broken_off(tmp_path: Path, job: Job) -> None:
    breaks(job, tmp_path, disk=True)


LUCENE = Bm25Params(k1=0.9, b=0.4, fold_accents=False, analyser="none", min_chars=2, stop_words=False)


@pytest.fixture(scope="module")
def cranfield() -> Collection:
    return read_collection(shared_data("cranfield"))


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"(?u)\b\w\w+\b", text.lower()))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("params", "idf", "expected"),
    [
        (
            THESIS,
            lambda n, df: math.log(n / df),
            {"MAP": 0.2829, "nDCG@10": 0.3660, "MRR": 0.5087, "P@10": 0.2289, "R@100": 0.7039},
        ),
        (LUCENE, lambda n, df: math.log(1 + (n - df + 0.5) / (df + 0.5)), {"nDCG@10": 0.3437}),
    ],
    ids=["thesis", "lucene"],
)
def test_scores_equal_the_formula_and_give_the_known_figures(
    cranfield: Collection, params: Bm25Params, idf: Callable[[int, int], float], expected: dict[str, float]
) -> None:
    counts = {doc: words(text) for doc, text in cranfield.documents.items()}
    n = len(counts)
    lengths = {doc: sum(c.values()) for doc, c in counts.items()}
    mean = sum(lengths.values()) / len(counts)
    holding: dict[str, list[str]] = {}
    for doc, c in counts.items():
        for word in c:
            holding.setdefault(word, []).append(doc)
    index = Bm25Index.of(cranfield.documents.items(), params)
    order: dict[str, list[str]] = {}
    for query, text in cranfield.queries.items():
        scores: dict[str, float] = {}
        for word, times in words(text).items():
            weight = times * idf(n, len(holding[word])) if word in holding else 0.0
            for doc in holding.get(word, ()):
                tf = counts[doc][word]
                norm = params.k1 * (1 - params.b + params.b * lengths[doc] / mean)
                scores[doc] = scores.get(doc, 0.0) + weight * tf / (tf + norm)
        rows, found = index.search(text, 1000)
        ids = [index.rows.id_of(row) for row in rows.tolist()]
        assert len(ids) == min(1000, sum(score > 0 for score in scores.values()))
        assert np.allclose(found, [scores[doc] for doc in ids], rtol=1e-6, atol=1e-6)
        best = sorted(scores.values(), reverse=True)[: len(ids)]
        assert np.allclose(found, best, rtol=1e-6, atol=1e-6), "no better document was left out"
        order[query] = ids
    values = per_query(Run.of_order("bm25", order), cranfield.qrels, list(expected))
    assert {m: round(sum(v.values()) / len(v), 4) for m, v in values.items()} == expected


def test_the_knobs_are_kept_with_an_index_and_checked(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("bm25") / "index"
    DocumentIndex.create(path, embedder=None, bm25=THESIS).sync([("a", "V-neck shoes"), ("b", "x")], extra={})
    again = DocumentIndex.open(path, embedder=None)
    assert again.bm25_params == THESIS
    assert [m.doc_id for m in again.search("neck", 5)] == ["a"]
    assert again.search("v", 5) == [] and again.search("shoe", 5) == []
    with pytest.raises(ConfigError, match="no idf"):
        Bm25Params(idf="okapi")  # type: ignore[arg-type]
    # A word of every document says nothing under the plain idf.
    assert len(Bm25Index.of([("a", "red coat"), ("b", "red hat")], THESIS).search("red", 5)[0]) == 0


ROOMS = ("--room", "loaders", "stores", "--jobs", "1")


@pytest.fixture
def oracle(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("oracle")


def test_changes_are_found_and_told(oracle: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "frozen.json.gz"
    assert oracle.main(["freeze", str(file), *ROOMS]) == 0
    frozen = json.loads(gzip.decompress(file.read_bytes()))
    assert len(frozen) > 150 and not [key for key, value in frozen.items() if "failed" in str(value)]
    assert oracle.main(["compare", str(file), *ROOMS]) == 0
    capsys.readouterr()
    key = "stores|catalogue|explore/classes.rq"
    frozen[key]["rows"][0][0] = "<urn:x:other>"
    del frozen["loaders|files|pizza.ofn"]
    file.write_bytes(gzip.compress(json.dumps(frozen).encode()))
    assert oracle.main(["compare", str(file), *ROOMS]) == 1
    told = capsys.readouterr().out
    assert key in told and "<urn:x:other>" in told and "loaders|files|pizza.ofn" in told
    table = {line.split()[0]: line.split()[1:] for line in told.splitlines()[:3]}
    assert table["room"] == ["same", "changed", "missing", "new"]
    assert table["stores"][1:] == ["1", "0", "0"] and table["loaders"][1:] == ["0", "0", "1"]


def test_what_fails_is_recorded_and_stops_nothing_else(oracle: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(part: str) -> Any:
        yield "good", 1
        yield "bad", lambda: 1 / 0
        yield "better", lambda: part
        raise FileNotFoundError("/some/folder/file.txt")

    monkeypatch.setitem(oracle.ROOMS, "stores", (broken, "catalogue"))
    items, _ = oracle.record_part(("stores", "catalogue"))
    found = {key.split("|")[-1]: value for key, value in items.items()}
    assert (found["good"], found["better"]) == (1, "catalogue")
    assert found["bad"] == {"failed": "ZeroDivisionError: division by zero"}
    assert found["(part)"] == {"failed": "FileNotFoundError: file.txt"}


def test_a_quick_run_takes_the_same_tenth_each_time(oracle: Any) -> None:
    keys = [f"planning|{part}|{n}" for part in oracle.planning_parts() for n in range(3)]
    taken = {key.rpartition("|")[0] for key in keys if oracle.in_tenth(key)}
    assert {key for key in keys if oracle.in_tenth(key)} == {k for k in keys if k.rpartition("|")[0] in taken}
    assert 0 < len(taken) < len(keys) / 9


@pytest.mark.parametrize("name", ["library", *slow("carmakers", "helpdesk", "kennel", "railways")])
def test_kept_plans_give_the_gold_answers(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    found = importlib.import_module("blind_plans").tried(name)
    assert (found.questions, found.plans, found.wrong) == (40, 40, ())
    assert not found.inexpressible
