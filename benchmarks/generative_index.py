"""How fast the clue index is built and asked, how large it is, and what its mask costs beside a model.

    python benchmarks/generative_index.py index      # ten million tokens; beside brute force and tokengrams
    python benchmarks/generative_index.py segments   # fifty million tokens in segments
    python benchmarks/generative_index.py mask --model MODEL.gguf

The tokens are made, not taken from texts: documents are strings of phrases, phrases and tokens follow Zipf's
law, so that prefixes branch as they do in texts and some are shared by very many documents. Times are of one
thread; load on the machine makes them longer, and the tail most of all.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.machinery import ExtensionFileLoader
from importlib.util import find_spec, module_from_spec, spec_from_loader
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from common import peak_memory, percentile, row

from mrag.generative.clue_index import ClueIndex
from mrag.generative.decoding import DecodingSettings, decode
from mrag.generative.models import LogProbabilities

VOCABULARY = 49_152
Documents = list[tuple[str, npt.NDArray[np.int64]]]


def main() -> None:
    """Run the parts that are named; `index` if none is."""
    parts = {"index": index, "segments": segments, "mask": mask}
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("parts", nargs="*", choices=[*parts, []], metavar="|".join(parts))
    options.add_argument("--tokens", type=float, default=0, help="millions; 10 by default, 50 for segments")
    options.add_argument("--model", default="", help="a GGUF file, for mask")
    options.add_argument("--seed", type=int, default=0)
    args = options.parse_args()
    for name in args.parts or ["index"]:
        print(f"## {name} (load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores)")
        parts[name](args)


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


def index(args: argparse.Namespace) -> None:
    """Measure one segment."""
    documents = list(made((args.tokens or 10) * 1e6, args.seed))
    with tempfile.TemporaryDirectory() as folder:
        built = _build(documents, Path(folder) / "index")
        _ask(ClueIndex.open(Path(folder) / "index"), documents, args.seed)
        _brute(built, documents, args.seed)
        _tokengrams(built, documents, Path(folder), args.seed)


def segments(args: argparse.Namespace) -> None:
    """Measure several segments."""
    documents = list(made((args.tokens or 50) * 1e6, args.seed))
    with tempfile.TemporaryDirectory() as folder:
        built = _build(documents, Path(folder) / "index")
        _ask(built, documents, args.seed)
        _brute(built, documents, args.seed, number=20)


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
    print(
        row(
            "next_tokens(prefix of a document)",
            _each(built.next_tokens, _prefixes(documents, seed, 3000)),
            "us",
        )
    )
    print(
        row(
            "next_tokens(up to 12 tokens from inside)",
            _each(built.next_tokens, _inner(documents, seed, 3000)),
            "us",
        )
    )
    short = [one[:1] for one in _inner(documents, seed + 1, 2000)]
    print(row("next_tokens(0 or 1 token)", _each(built.next_tokens, short), "us"))
    print(
        row(
            "count(2 to 12 tokens)",
            _each(built.count, [p for p in _inner(documents, seed, 400) if p[1:]]),
            "us",
        )
    )


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


def _tokengrams(built: ClueIndex, documents: Documents, folder: Path, seed: int) -> None:
    """Ask the suffix array of tokengrams for the counts of all next tokens, if it is installed."""
    spec = find_spec("tokengrams")
    if spec is None or not spec.submodule_search_locations:
        print("tokengrams is not installed")
        return
    # Its package imports libraries for data sets, of which the index itself uses nothing.
    files = sorted(Path(next(iter(spec.submodule_search_locations))).glob("tokengrams.*.so"))
    loader = ExtensionFileLoader("tokengrams", str(files[0]))
    module: Any = module_from_spec(spec_from_loader("tokengrams", loader))  # type: ignore[arg-type]
    loader.exec_module(module)
    file = folder / "tokens.bin"
    np.concatenate([np.append(d, VOCABULARY - 1) for _, d in documents]).astype(np.uint16).tofile(file)
    started, used = time.perf_counter(), time.process_time()
    theirs = module.MemmapIndex.build(str(file), str(folder / "tokens.idx"), VOCABULARY)
    print(
        f"tokengrams: build {time.perf_counter() - started:.1f} s, "
        f"{time.process_time() - used:.1f} s of processor, "
        f"{((folder / 'tokens.idx').stat().st_size + file.stat().st_size) / built.tokens:.2f} bytes per token"
    )
    prefixes = [p for p in _inner(documents, seed + 3, 400) if p]

    def asked(prefix: list[int]) -> npt.NDArray[np.int64]:
        found = np.flatnonzero(np.asarray(theirs.count_next(prefix)))
        return found[found != VOCABULARY - 1]

    for prefix in prefixes[:100]:
        assert asked(prefix).tolist() == built.next_tokens(prefix).tolist(), prefix
    times, ours = _each(theirs.count_next, prefixes), _each(built.next_tokens, prefixes)
    print(row("tokengrams: count_next", times, "us"))
    print(row("the clue index, same prefixes", ours, "us"))
    print(f"equal on 100 prefixes; ratio of medians {percentile(times, 50) / percentile(ours, 50):.0f}")


class Timed:
    """A model that notes how long it computes."""

    def __init__(self, model: Any) -> None:
        self.model, self.name, self.tokeniser = model, model.name, model.tokeniser
        self.seconds, self.steps = 0.0, 0

    def start(self, prompt: Sequence[int]) -> TimedBeams:
        """Read a prompt."""
        return TimedBeams(self, self.clock(lambda: self.model.start(prompt)))

    def clock(self, work: Callable[[], Any]) -> Any:
        """Do some work and note how long it took."""
        started = time.perf_counter()
        found = work()
        self.seconds += time.perf_counter() - started
        self.steps += 1
        return found


class TimedBeams:
    """Beams of a model that notes how long it computes."""

    def __init__(self, model: Timed, beams: Any) -> None:
        self.model, self.beams = model, beams

    @property
    def log_probabilities(self) -> LogProbabilities:
        """Those of the model."""
        found: LogProbabilities = self.beams.log_probabilities
        return found

    def advance(self, parents: Sequence[int], tokens: Sequence[int]) -> LogProbabilities:
        """Replace the beams."""
        found: LogProbabilities = self.model.clock(lambda: self.beams.advance(parents, tokens))
        return found

    def close(self) -> None:
        """Give back what they hold."""
        self.beams.close()


def mask(args: argparse.Namespace) -> None:
    """Measure what everything but the model costs while it decodes."""
    from mrag.generative.llama import GgufModel

    documents = list(made((args.tokens or 10) * 1e6, args.seed))
    built = ClueIndex.build(documents, VOCABULARY)
    some = built.restriction({doc_id for doc_id, _ in documents[::50]})
    with GgufModel(args.model) as found:
        model = Timed(found)
        prompts = [f"Question: What is known of number {i}?\nAnswer:" for i in range(8)]
        for name, options in (
            ("clues from the beginning", {"start": "beginning"}),
            ("clues from anywhere", {"start": "anywhere"}),
            ("clues from anywhere, of a fiftieth of the documents", {"start": "anywhere"}),
        ):
            restriction = some if "fiftieth" in name else None
            knobs = DecodingSettings(beams=8, groups=2, min_length=6, **options)  # type: ignore[arg-type]
            decode(model, built, prompts[0], knobs, restriction=restriction)  # so that caches are warm
            model.seconds, model.steps, clues = 0.0, 0, 0
            started = time.perf_counter()
            for prompt in prompts:
                written = decode(model, built, prompt, knobs, restriction=restriction)
                assert all(built.is_unique(clue.tokens) for clue in written)
                clues += len(written)
            rest = time.perf_counter() - started - model.seconds
            print(
                f"{name}: {clues} clues; model {1000 * model.seconds / model.steps:.1f} ms a step, all else "
                f"{1000 * rest / model.steps:.2f} ms: {100 * rest / model.seconds:.1f} %"
            )


if __name__ == "__main__":
    main()
