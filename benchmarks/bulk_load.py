"""Bulk load into the embedded store, beside the engine's own loader on the same file.

python benchmarks/bulk_load.py [--scale 1.0]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import pyoxigraph as ox
from common import peak_memory
from fashion import write_graph

import mrag


def main() -> None:
    """Print seconds, rates, memory and the ratio, alternating the two loaders."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--scale", type=float, default=1.0)
    options.add_argument("--rounds", type=int, default=2)
    args = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "fashion.nt"
        count = write_graph(source, args.scale)
        print(f"{count:,} triples, {source.stat().st_size / 2**20:.0f} MiB")
        ours, engine = [], []
        for number in range(args.rounds):
            started = time.perf_counter()
            store = ox.Store(str(Path(folder) / f"engine{number}"))
            store.bulk_load(path=str(source), format=ox.RdfFormat.N_TRIPLES, to_graph=ox.NamedNode("urn:g"))
            engine.append(time.perf_counter() - started)
            del store
            before = peak_memory()
            started = time.perf_counter()
            with mrag.connect(f"oxigraph:{Path(folder) / f'ours{number}'}") as kg:
                report = kg.load([source])
                ours.append(time.perf_counter() - started)
            print(
                f"engine {engine[-1]:.1f} s ({count / engine[-1]:,.0f}/s), mrag {ours[-1]:.1f} s "
                f"({report.triples / ours[-1]:,.0f}/s), peak memory {before:.0f} -> {peak_memory():.0f} MiB"
            )
        ratio = min(engine) / min(ours)
        print(f"ratio of rates {ratio:.2f}; goal 0.8 {'met' if ratio >= 0.8 else 'MISSED'}")


if __name__ == "__main__":
    main()
