"""Embedding by one process and by several: texts a second, and the ratio to one.

    python benchmarks/embedding.py --model minilm --texts 4000 --workers 1 2

Each number of workers runs in alternation, `--rounds` times, with processes that are started anew and warmed
up by one batch each; the load of the machine is printed, since it decides what a second worker can gain.
"""

from __future__ import annotations

import argparse
import os
import time

from common import percentile
from index_size import sentences

from mrag.index.embedding import EmbeddingWork
from mrag.jobs import ProcessRunner, carry


def main() -> None:
    """Print a line for each number of workers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--model", default="minilm")
    parser.add_argument("--texts", type=int, default=4000)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    texts = [text for _, text in sentences(args.texts)]
    batches = [texts[start : start + 256] for start in range(0, len(texts), 256)]
    seconds: dict[int, list[float]] = {workers: [] for workers in args.workers}
    print(f"{len(texts):,} texts, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}", flush=True)
    for _ in range(args.rounds):
        for workers, taken in seconds.items():
            warming = [["warm"]] * workers
            started = 0.0
            job = carry(ProcessRunner(workers), EmbeddingWork(args.model, 1), [*warming, *batches])
            for count, _found in enumerate(job, start=1):
                if count == workers:
                    started = time.perf_counter()
            taken.append(time.perf_counter() - started)
    first = percentile(seconds[args.workers[0]], 50)
    for workers, taken in seconds.items():
        median = percentile(taken, 50)
        print(f"{workers} workers: {len(texts) / median:,.0f} texts/s, {first / median:.2f} times the first")


if __name__ == "__main__":
    main()
