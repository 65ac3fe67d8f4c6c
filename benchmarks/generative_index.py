"""How fast the clue index is built and asked, beside brute force, and how large it is.

    python benchmarks/generative_index.py               # ten million tokens
    python benchmarks/generative_index.py --tokens 50   # fifty million, in segments

The tokens are made, not taken from texts: documents are strings of phrases, phrases and tokens follow Zipf's
law, so that prefixes branch as they do in texts and some are shared by very many documents. Times are of one
thread; load on the machine makes them longer, and the tail most of all.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
from common import peak_memory, percentile, row

from mrag.generative.clue_index import ClueIndex

VOCABULARY = 49_152
Documents = list[tuple[str, npt.NDArray[np.int64]]]


def main() -> None:
    """Build an index, and ask it."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--tokens", type=float, default=10, help="millions; above 16 in several segments")
    options.add_argument("--seed", type=int, default=0)
    args = options.parse_args()
    documents = list(made(args.tokens * 1e6, args.seed))
    with tempfile.TemporaryDirectory() as folder:
        built = _build(documents, Path(folder) / "index")
        _ask(ClueIndex.open(Path(folder) / "index"), documents, args.seed)
        _brute(built, documents, args.seed)


def made(tokens: float, seed: int) -> Iterator[tuple[str, npt.NDArray[np.int64]]]:
    """Yield documents of about 77 tokens until there are so many tokens."""
    rng = np.random.default_rng(seed)
    phrases = 300_000
    lengths = rng.integers(1, 6, phrases)
    flat = np.minimum(rng.zipf(1.15, int(lengths.sum())) - 1, VOCABULARY - 2)
    flat = rng.permutation(VOCABULARY - 1)[flat]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    total = number = 0
    while total < tokens:
        chosen = np.minimum(rng.zipf(1.3, int(rng.integers(5, 40))) - 1, phrases - 1)
        document = np.concatenate([flat[starts[p] : starts[p + 1]] for p in chosen])
        total += len(document)
        number += 1
        yield f"http://example.org/entity/Q{number * 7919 % 100_000_007}", document


def _build(documents: Documents, folder: Path) -> ClueIndex:
    started, used = time.perf_counter(), time.process_time()
    built = ClueIndex.build(documents, VOCABULARY, folder=folder)
    wall, cpu = time.perf_counter() - started, time.process_time() - used
    size = sum(file.stat().st_size for file in folder.iterdir())
    print(
        f"build: {len(built):,} documents, {built.tokens:,} tokens, {len(built.segments)} segments: "
        f"{wall:.1f} s, {cpu:.1f} s of processor; {size / built.tokens:.2f} bytes per token on disk, ids and "
        f"all; peak memory {peak_memory():,.0f} MiB, documents included"
    )
    started = time.perf_counter()
    ClueIndex.open(folder)
    print(f"open: {(time.perf_counter() - started) * 1000:.1f} ms")
    return built


def _prefixes(documents: Documents, seed: int, number: int) -> list[list[int]]:
    """Draw prefixes of documents, each length as likely as it is among all of them."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(number):
        document = documents[int(rng.integers(len(documents)))][1]
        found.append(document[: int(rng.integers(len(document) + 1))].tolist())
    return found


def _inner(documents: Documents, seed: int, number: int, longest: int = 12) -> list[list[int]]:
    """Draw short sequences from anywhere in documents."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(number):
        document = documents[int(rng.integers(len(documents)))][1]
        start = int(rng.integers(len(document)))
        found.append(document[start : start + int(rng.integers(longest + 1))].tolist())
    return found


def _each(work: Callable[[list[int]], object], given: Sequence[list[int]]) -> list[float]:
    """Return the microseconds of each call."""
    times = []
    for one in given:
        started = time.perf_counter_ns()
        work(one)
        times.append((time.perf_counter_ns() - started) / 1000)
    return times


def _ask(built: ClueIndex, documents: Documents, seed: int) -> None:
    rng = np.random.default_rng(seed)
    steps: dict[str, list[float]] = {"extend": [], "next": [], "branching": [], "unique": []}
    for _ in range(600):
        document = documents[int(rng.integers(len(documents)))][1].tolist()
        cursor = built.cursor()
        for token in document[int(rng.integers(len(document))) :][:24]:
            marks = [time.perf_counter_ns()]
            cursor = cursor.extend(token)
            marks.append(time.perf_counter_ns())
            following = cursor.next_tokens()
            marks.append(time.perf_counter_ns())
            cursor.is_unique()
            marks.append(time.perf_counter_ns())
            spent = [(b - a) / 1000 for a, b in pairwise(marks)]
            for name, value in zip(("extend", "next", "unique"), spent, strict=True):
                steps[name].append(value)
            if len(following) > 1:
                steps["branching"].append(spent[1])
    print(row("cursor: extend by a token", steps["extend"], "us"))
    print(row("cursor: next tokens", steps["next"], "us"))
    print(row("cursor: next tokens, of those with several", steps["branching"], "us"))
    print(row("cursor: is the clue unique", steps["unique"], "us"))
    inner = _inner(documents, seed, 3000)
    prefixes = _prefixes(documents, seed, 3000)
    print(row("next_tokens(prefix of a document)", _each(built.next_tokens, prefixes), "us"))
    print(row("next_tokens(up to 12 tokens from inside)", _each(built.next_tokens, inner), "us"))
    print(row("next_tokens(0 or 1 token)", _each(built.next_tokens, [one[:1] for one in inner]), "us"))
    print(row("count(2 to 12 tokens)", _each(built.count, [one for one in inner if one[1:]][:350]), "us"))


def _brute(built: ClueIndex, documents: Documents, seed: int, number: int = 60) -> None:
    """Compare with looking at every token."""
    flat = np.concatenate([np.append(document, -1) for _, document in documents])

    def scan(prefix: list[int]) -> list[int]:
        at = np.arange(len(flat)) if not prefix else np.flatnonzero(flat == prefix[0])
        for depth, token in enumerate(prefix[1:], start=1):
            at = at[flat[np.minimum(at + depth, len(flat) - 1)] == token]
        following = np.unique(flat[np.minimum(at + len(prefix), len(flat) - 1)])
        return [int(t) for t in following if t >= 0]

    prefixes = _inner(documents, seed + 2, number)
    times = _each(scan, prefixes)
    for prefix in prefixes:
        assert built.next_tokens(prefix).tolist() == scan(prefix), prefix
    ours = percentile(_each(built.next_tokens, prefixes), 50)
    print(row("brute force: next tokens", times, "us"))
    print(
        f"equal on {len(prefixes)} prefixes; the index is {percentile(times, 50) / ours:,.0f} times as fast"
    )


if __name__ == "__main__":
    main()
