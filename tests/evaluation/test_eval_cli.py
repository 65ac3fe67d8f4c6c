"""`mrag eval` and `mrag benchmark` as a person runs them."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mrag.cli import app
from tests.cases import cases
from tests.commands import run
from tests.conftest import PRODUCTS


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
    done = run("eval", str(folder), *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
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
