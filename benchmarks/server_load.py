"""Load a large graph into the store on disk and into real servers, beside each one's own fastest loader.

    python benchmarks/server_load.py [--scale 1.0] [--only disk|oxigraph|virtuoso]

Starts an Oxigraph server (`pip install oxigraph`) and a Virtuoso server (Debian's virtuoso-opensource-7)
on loopback, in a temporary folder; `disk` needs none. The Oxigraph server's own ways are its command line,
which needs the server stopped, and one POST without a transaction; Virtuoso's is `ld_dir` with
`rdf_loader_run`.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pyoxigraph as ox
import requests
from common import peak_memory, processor_time
from fashion import write_graph

import mrag
from mrag.graph.connection import open_store
from mrag.loaders.rdf import Source
from mrag.stores.http import Access
from tests.servers import oxigraph_server, virtuoso_server

LOGIN = Access(user="dba", password="dba")


class Took(NamedTuple):
    """Seconds of the clock, and of the processor in this process, in servers and in clients together."""

    clock: float
    processor: float

    def __str__(self) -> str:
        return f"{self.clock:.1f} s, {self.processor:.1f} s of processor"

    def ratio(self, other: Took) -> str:
        """Return what another took over what this took."""
        return f"{other.clock / self.clock:.2f}, of processor {other.processor / self.processor:.2f}"


def seconds(work: Callable[[], object]) -> Took:
    """Return how long some work takes."""
    began, before = time.perf_counter(), processor_time()
    work()
    return Took(time.perf_counter() - began, processor_time() - before)


def report(
    server: str, triples: int, ours: Took, theirs: dict[str, Took], offline: Took | None = None
) -> None:
    """Print the times and the ratio to the fastest way into the running server."""
    print(f"{server}: mrag {ours}, {triples / ours.clock:,.0f} triples/s")
    for name, took in theirs.items():
        print(f"  {name}: {took}; ratio {ours.ratio(took)}")
    if offline is not None:
        print(f"  its command line, the server stopped: {offline}; ratio {ours.ratio(offline)}")
    best = min(took.clock for took in theirs.values()) / ours.clock
    print(f"  ratio to its fastest {best:.2f}; goal 0.9 {'met' if best >= 0.9 else 'MISSED'}")


def disk(file: Path, triples: int, folder: Path) -> None:
    """Load into the store on disk, with the engine's own loader first."""

    def own() -> None:
        store = ox.Store(str(folder / "engine"))
        store.bulk_load(path=str(file), format=ox.RdfFormat.N_TRIPLES, to_graph=ox.NamedNode("urn:g"))

    def load() -> None:
        with mrag.connect(f"oxigraph:{folder / 'ours'}") as kg:
            kg.load([file])

    theirs, before = seconds(own), peak_memory()
    report("Store on disk", triples, seconds(load), {"the engine's own loader": theirs})
    print(f"  peak memory {before:.0f} -> {peak_memory():.0f} MiB")


def oxigraph(file: Path, triples: int, folder: Path) -> None:
    """Load into an Oxigraph server."""
    with oxigraph_server(folder, seconds=600) as url:
        store, _ = open_store(url)
        ours = seconds(lambda: store.bulk_load([Source.of(file)], "urn:g"))
        assert store.count("urn:g") >= 0.99 * triples  # the generator repeats a few
        store.close()
    (folder / "post").mkdir()
    with oxigraph_server(folder / "post", seconds=600) as url:
        target = url.rpartition("graphs=")[2]

        def post() -> None:
            with file.open("rb") as stream:
                found = requests.post(
                    f"{target}?graph=urn:g&no_transaction",
                    data=stream,
                    headers={"Content-Type": "application/n-triples"},
                    timeout=3600,
                )
            found.raise_for_status()

        plain = seconds(post)
    program = shutil.which("oxigraph") or str(Path(sys.executable).with_name("oxigraph"))
    command = [program, "load", "-l", str(folder / "cli"), "-f", str(file), "--graph", "urn:g"]
    offline = seconds(lambda: subprocess.run(command, check=True, capture_output=True))
    report("Oxigraph server", triples, ours, {"one POST without a transaction": plain}, offline)


def virtuoso(file: Path, triples: int, folder: Path) -> None:
    """Load into a Virtuoso server; each way into its own, since the second would find the terms known."""
    (folder / "ours").mkdir()
    with virtuoso_server(folder / "ours", buffers=170_000) as url:
        store, _ = open_store(url, LOGIN)
        ours = seconds(lambda: store.bulk_load([Source.of(file)], "urn:g"))
        assert store.count("urn:g") >= 0.99 * triples  # the generator repeats a few
        store.close()
    own = folder / "own"
    own.mkdir()
    (own / "graph.nt").symlink_to(file)
    with virtuoso_server(own, buffers=170_000) as url:
        lines = (own / "virtuoso.ini").read_text().splitlines()
        port = next(line.split()[-1] for line in lines if line.startswith("ServerPort"))

        def isql(text: str) -> None:
            command = ["isql-vt", port, "dba", "dba", f"EXEC={text}"]
            subprocess.run(command, check=True, capture_output=True)

        def load() -> None:
            isql(f"ld_dir('{own}','graph.nt','urn:g');")
            isql("rdf_loader_run();")
            isql("checkpoint;")

        theirs = seconds(load)
        store, _ = open_store(url, LOGIN)
        assert store.count("urn:g") >= 0.99 * triples
        store.close()
    report("Virtuoso", triples, ours, {"ld_dir and rdf_loader_run": theirs})


def main() -> None:
    """Run what was asked for."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--scale", type=float, default=1.0)
    options.add_argument("--only", choices=("disk", "oxigraph", "virtuoso"))
    args = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = folder / "fashion.nt"
        triples = write_graph(file, args.scale)
        print(f"{triples:,} triples")
        for server in (disk, oxigraph, virtuoso):
            if args.only in (None, server.__name__):
                (folder / server.__name__).mkdir()
                server(file, triples, folder / server.__name__)


if __name__ == "__main__":
    main()
