"""BM25 equals its formula on Cranfield, worked out here with nothing of the package but the documents."""

import gzip
import importlib
import json
import math
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mrag.errors import ConfigError
from mrag.evaluation.metrics import Run, per_query
from mrag.evaluation.questions import Collection, read_collection
from mrag.index.bm25 import THESIS, Bm25Index, Bm25Params
from mrag.index.document_index import DocumentIndex
from tests.conftest import ROOT, shared_data, slow

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
