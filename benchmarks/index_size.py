"""How an index grows: build, memory, opening and queries by the number of documents, for each backend.

    python benchmarks/index_size.py --documents 10000 100000 1000000 --to FILE
    python benchmarks/index_size.py --documents 100000 --to FILE postgres milvus

The documents are sentences of words of this repository's documentation, frequent ones more often, and the
queries the last words of some of them; the vectors are those of `wordllama` (256 dimensions). All of it comes
from a seed.
Each phase has a process of its own, whose peak of memory counts; that of a PostgreSQL server is not in it.
Recall is that of the ten hits which the local index finds when it compares every vector. A line of JSON is
printed for each phase, and with `--to` appended to a file.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from common import peak_memory, percentile, processor

from mrag.index import Bm25Params
from mrag.index.backends.base import open_backend
from mrag.index.dense import DenseParams
from mrag.index.document_index import DocumentIndex, StoredIndex
from mrag.index.embedding import embedder

MODES = ("bm25", "dense", "hybrid")
NAME = "size"
ROOT = Path(__file__).parents[1]


def vocabulary() -> list[tuple[str, int]]:
    """Return the words of the documentation, with how often they occur."""
    text = " ".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("*.md")))
    return sorted(Counter(re.findall(r"[a-z]{3,}", text.lower())).items())


def sentences(number: int, counted: list[tuple[str, int]] | None = None) -> Iterator[tuple[str, str]]:
    """Yield documents of the words of a vocabulary, that of the documentation if none is given."""
    words, weights = zip(*(counted or vocabulary()), strict=True)
    chance = random.Random(1)
    for at in range(number):
        length = chance.randint(8, 24)
        yield f"urn:doc:{at:08}", " ".join(chance.choices(words, weights, k=length))


@contextmanager
def postgres() -> Iterator[str]:
    """Run a server for a while, and give its URL."""
    import pgserver

    with tempfile.TemporaryDirectory() as folder:
        server = pgserver.get_server(folder, cleanup_mode="stop")
        yield server.get_uri()
        server.cleanup()


@contextmanager
def measured(told: dict[str, Any], name: str) -> Iterator[None]:
    """Add the seconds of the clock and of the processor that something took."""
    before, started = processor(), time.perf_counter()
    yield
    told[f"{name}_s"] = round(time.perf_counter() - started, 4)
    told[f"{name}_processor_s"] = round(processor() - before, 4)


def build(url: str, folder: Path, number: int, queries: int = 100) -> dict[str, Any]:
    """Build an index, and write down what is to be asked of it."""
    told: dict[str, Any] = {}
    model = embedder("wordllama")
    model.embed_query("warm")
    before = peak_memory()
    step = max(1, number // queries)
    asked: list[str] = []

    # All backends have the same documents, even if somebody edits the documentation meanwhile.
    kept = folder.parent / "words.json"
    if not kept.exists():
        kept.write_text(json.dumps(vocabulary()))
    words = json.loads(kept.read_text())

    def documents() -> Iterator[tuple[str, str]]:
        for at, (name, text) in enumerate(sentences(number, words)):
            if at % step == 0 and len(asked) < queries:
                asked.append(" ".join(text.split()[-8:]))
            yield name, text

    index = open_backend(url, NAME, folder).create(NAME, embedder=model, bm25=Bm25Params(), replace=True)
    with measured(told, "build"):
        index.sync(documents(), extra={})
    (folder / "asked.json").write_text(json.dumps(asked))
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    return {**told, "mib": round(peak_memory()), "mib_before": round(before), "disk_mib": size >> 20}


def ask(url: str, folder: Path, *_: int) -> dict[str, Any]:
    """Open an index and search it."""
    told: dict[str, Any] = {}
    model = embedder("wordllama")
    model.embed_query("warm")
    asked = json.loads((folder / "asked.json").read_text())
    backend = open_backend(url, NAME, folder)
    with measured(told, "open"):
        index = backend.open(NAME, embedder=model)
    with measured(told, "first"):
        index.search(asked[0], 10)
    told["open_mib"] = round(peak_memory())
    with measured(told, "second"):
        index.search(asked[1], 10)
    exact = exactly(index, asked, folder)
    for mode in MODES:
        times, spent, shares = [], [], []
        for text, wanted in zip(asked, exact[mode], strict=True):
            before, started = time.process_time(), time.perf_counter()
            found = [match.doc_id for match in index.search(text, 10, mode=mode)]
            times.append(1000 * (time.perf_counter() - started))
            spent.append(1000 * (time.process_time() - before))
            shares.append(len({*found} & {*wanted}) / max(1, len(wanted)))
        told[mode] = {
            "p50_ms": round(median(times), 2), "p95_ms": round(percentile(times, 95), 2),
            "processor_p50_ms": round(median(spent), 2), "recall": round(sum(shares) / len(shares), 4),
        }  # fmt: skip
    return {**told, "mib": round(peak_memory())}


def exactly(index: StoredIndex, asked: list[str], folder: Path) -> dict[str, list[list[str]]]:
    """Return what the local index finds when it compares every vector; engines read what it left."""
    file = folder.parent / "exact.json"
    if isinstance(index, DocumentIndex):
        model, every = embedder("wordllama"), DenseParams(prefilter_from=sys.maxsize)
        whole = DocumentIndex.open(folder / NAME, embedder=model, dense=every)
        found = {
            mode: [[m.doc_id for m in whole.search(text, 10, mode=mode)] for text in asked] for mode in MODES
        }
        file.write_text(json.dumps(found))
    return dict(json.loads(file.read_text()))


def main() -> None:
    """Run the phases in processes of their own."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("engines", nargs="*", help="postgres, milvus, or a URL; the local index comes first")
    parser.add_argument("--documents", type=int, nargs="+", default=[10_000])
    parser.add_argument("--to", type=Path, metavar="FILE")
    parser.add_argument("--queries", type=int, default=100, help="how many are asked in each way")
    parser.add_argument("--folder", type=Path, help="where the indexes lie for a while")
    parser.add_argument("--phase", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.phase:
        phase, url, folder = args.phase
        work = build if phase == "build" else ask
        print(json.dumps(work(url, Path(folder), args.documents[0], args.queries)))
        return
    for number in args.documents:
        with tempfile.TemporaryDirectory(dir=args.folder) as place:
            for engine in ("local", *args.engines):
                run(engine, number, args.queries, Path(place), args.to)


def run(engine: str, number: int, queries: int, place: Path, to: Path | None) -> None:
    """Build and ask one index."""
    folder = place / engine.partition(":")[0]
    folder.mkdir()
    if engine == "postgres":
        with postgres() as url:
            phases(engine, url, number, queries, folder, to)
    else:
        url = {"local": "local:", "milvus": f"milvus:{folder / 'milvus.db'}"}.get(engine, engine)
        phases(engine, url, number, queries, folder, to)
    shutil.rmtree(folder)


def phases(engine: str, url: str, number: int, queries: int, folder: Path, to: Path | None) -> None:
    """Print a line for each phase."""
    for phase in ("build", "ask"):
        command = [sys.executable, __file__, "--documents", str(number), "--queries", str(queries)]
        command += ["--phase", phase, url, str(folder)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        told = {"backend": engine.partition(":")[0], "documents": number, "phase": phase}
        told |= {**json.loads(done.stdout.splitlines()[-1]), "load": round(os.getloadavg()[0], 1)}
        line = json.dumps(told)
        print(line, flush=True)
        if to is not None:
            with to.open("a", encoding="utf-8") as stream:
                stream.write(line + "\n")


if __name__ == "__main__":
    main()
