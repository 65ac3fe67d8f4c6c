"""Evaluations and benchmarks that are broken off at any moment."""

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import PRODUCTS, slow
from tests.crash import Job, breaks, mrag_in

WORDS = [f"word{n}" for n in range(300)]


def collection(folder: Path) -> None:
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
    collection(folder)
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
    Job("eval", (*EVAL, *BOTH), collection, contents, between=each_whole, works=(), campaign=True),
    Job("eval again", (*EVAL, *BOTH, "-m", "nDCG@10"), evaluated, contents, between=each_whole, works=()),
    Job("benchmark", MAKE, products, contents, between=each_whole, campaign=True),
)  # fmt: skip


@pytest.mark.parametrize("job", [JOBS[0], *slow(*JOBS[1:])], ids=str)
def test_broken_off(tmp_path: Path, job: Job) -> None:
    breaks(job, tmp_path, disk=True)
