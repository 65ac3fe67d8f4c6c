"""Build time, recall@10 against an exact search, and time of a query, for each backend of an index.

    python benchmarks/index_backends.py --documents 20000 qdrant:FOLDER milvus:FILE.db
    python benchmarks/index_backends.py --postgres          # a server of the package `pgserver`

The documents are sentences of words of this repository's documentation, frequent ones more often, and the
queries the last words of a hundred of them. Vectors are those of `wordllama`. All of it comes from a seed.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from mrag.index import Bm25Params
from mrag.index.backends.base import compare, open_backend
from mrag.index.embedding import embedder

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


def main() -> None:
    """Print one line for each backend and mode."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("urls", nargs="*", metavar="URL")
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--postgres", action="store_true", help="a server of the package pgserver, too")
    args = parser.parse_args()
    documents, model = list(sentences(args.documents)), embedder("wordllama")
    assert model is not None
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        urls = ["local:", *([opened.enter_context(postgres())] if args.postgres else []), *args.urls]
        for url in urls:
            backend = open_backend(url, "benchmark", folder)
            kind = url.partition(":")[0]
            started = time.perf_counter()
            index = backend.create("benchmark", embedder=model, bm25=Bm25Params(), replace=True)
            index.sync(documents, extra={})
            built = time.perf_counter() - started
            started = time.perf_counter()
            index.sync(documents[args.documents // 100 :], extra={})
            print(f"{kind}: {len(documents):,} documents in {built:.1f} s; "
                  f"1% removed in {time.perf_counter() - started:.1f} s", flush=True)  # fmt: skip
            for report in compare(index, model):
                print(f"{kind} {report}", flush=True)
            backend.delete("benchmark")


if __name__ == "__main__":
    main()
