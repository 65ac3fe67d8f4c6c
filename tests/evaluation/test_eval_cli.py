"""`mrag eval` and `mrag benchmark` as a person runs them."""

from __future__ import annotations

import json
import shlex
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mrag.cli import app
from mrag.storage.files import append
from mrag.storage.files import lines as records
from tests.commands import run
from tests.conftest import PRODUCTS, shared_data


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
    assert (
        "| bm25 | 5 |" in done.stdout
        and "| hybrid | 5 |" in done.stdout
        and "Ranking by dense" in done.stderr
    )
    report = json.loads((out / "report.json").read_text())
    assert [s["name"] for s in report["systems"]] == ["bm25", "dense", "hybrid"]
    assert (out / "report.md").read_text().strip() == done.stdout.strip()
    assert ET.parse(out / "report.svg").getroot().tag.endswith("svg")
    first = {p: p.read_bytes() for p in out.rglob("*") if p.is_file() and p.name != "lock"}
    again = run("eval", str(folder), *options, cwd=tmp_path)
    assert again.returncode == 0 and again.stdout == done.stdout
    assert first == {p: p.read_bytes() for p in out.rglob("*") if p.is_file() and p.name != "lock"}
    runs = [str(out / "runs" / f"{name}.trec") for name in ("bm25", "hybrid")]
    qrels = str(folder / "qrels" / "test.tsv")
    data = json.loads(invoke("eval", "--qrels", qrels, "--run", runs[0], "--run", runs[1], "--json"))
    assert data["systems"][0]["means"]["MRR"]["mean"] == report["systems"][0]["means"]["MRR"]["mean"]


def test_an_interrupted_run_is_gone_on_with(tmp_path: Path) -> None:
    folder, out = collection(tmp_path / "c"), tmp_path / "out"
    whole = invoke("eval", str(folder), "-r", "bm25", "--out", str(out))
    journal = out / "journals" / "bm25.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    marked = dict(records(lines[1]))[1]
    assert marked is not None
    marked["hits"] = [["d3", 9.0]]
    journal.write_bytes(lines[0])
    append(journal, marked)
    with journal.open("ab") as file:
        file.write(lines[2][:20])
    gone_on = invoke("eval", str(folder), "-r", "bm25", "--out", str(out))
    assert gone_on != whole, "what the journal holds is taken as it is"
    assert len(journal.read_bytes().splitlines()) == len(lines)


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


def test_first_ranks_are_measured_without_judgements(tmp_path: Path) -> None:
    path = tmp_path / "ranks.json"
    path.write_text(json.dumps({"a": 0, "b": 9, "c": 45623}))
    shown = invoke("eval", "--ranks", str(path), "-m", "MRR", "-m", "Hits@10")
    assert "| ranks | 3 | 0.3667 " in shown and "| ranks | 10 | 0.6667 | 0.3333 | +0.3333 |" in shown


def test_errors_say_what_to_do(tmp_path: Path) -> None:
    done = run("eval", cwd=tmp_path)
    assert done.returncode == 1 and "nothing to evaluate" in done.stderr and "--help" in done.stderr
    done = run("eval", str(tmp_path / "absent"), cwd=tmp_path)
    assert done.returncode == 1 and "no such folder" in done.stderr
    folder = collection(tmp_path / "c")
    done = run("eval", str(folder), "-r", "dense", "--embedder", "none", cwd=tmp_path)
    assert done.returncode == 1 and "no vectors" in done.stderr
    done = run("eval", str(folder), "-r", "bm25", "-m", "F1", cwd=tmp_path)
    assert done.returncode == 1 and "no measure 'F1'" in done.stderr
    assert (
        "Examples:" in run("eval", "--help", cwd=tmp_path).stdout
        and "Examples:" in run("benchmark", "--help", cwd=tmp_path).stdout
    )


@pytest.mark.slow
def test_a_graph_is_asked_and_its_index_evaluated_by_all_three_schemes(tmp_path: Path) -> None:
    store = ["--store", f"oxigraph:{tmp_path / 'kg'}"]
    invoke("load", *store, str(PRODUCTS))
    invoke("reason", *store)
    invoke("index", *store, "--embedder", "wordllama")
    made = json.loads(
        invoke(
            "benchmark", str(tmp_path / "b"), *store, "--model", "none", "--class", "ex:Product",
            "--embedder", "wordllama", "--json",
        )
    )  # fmt: skip
    assert (
        made["made_by"] == "template"
        and made["questions"] == 63
        and made["failures"] == {}
        and made["unjudged"] == []
    )
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


@pytest.mark.slow
def test_cranfield_gives_the_figures_that_are_known() -> None:
    folder = shared_data("cranfield")
    measures = shlex.split("-m MAP -m nDCG@10 -m MRR -m P@10 -m R@100")
    data = json.loads(
        invoke("eval", str(folder), "-r", "bm25-thesis", *measures, "--resamples", "100", "--json")
    )
    means = {m: round(i["mean"], 4) for m, i in data["systems"][0]["means"].items()}
    assert means == {"MAP": 0.2829, "nDCG@10": 0.3660, "MRR": 0.5087, "P@10": 0.2289, "R@100": 0.7039}


def test_the_files_published_with_the_thesis_give_its_figures() -> None:
    """Set MRAG_THESIS_RANKS to the folder of its files to run this."""
    import os

    if not os.environ.get("MRAG_THESIS_RANKS"):
        pytest.skip("the thesis's rank files are not here; set MRAG_THESIS_RANKS to their folder")
    folder = Path(os.environ["MRAG_THESIS_RANKS"])
    published = {
        "evaluation_results_bm25_KG3_b1.json": 0.070,
        "evaluation_results_embedding-based_KG2_b2.json": 0.164,
        "evaluation_results_2nd_retrieval_method_KG3_20_20.json": 0.242,
    }
    for name, mrr in published.items():
        data = json.loads(invoke("eval", "--ranks", str(folder / name), "-m", "MRR", "--json"))
        assert round(data["systems"][0]["means"]["MRR"]["mean"], 3) == mrr
