"""What a newcomer waits for: from files to a first right answer, each command a process of its own.

    python benchmarks/first_touch.py --scale 0.003 0.3 3.7     # up to 3.8 million triples

The graph is that of `large_questions.py`. Beside it rdflib parses the same file and counts by SPARQL, written
by hand. Seconds of the clock, and of the processor with those of child processes. Bytecode is kept, as an
installation keeps it; the first command, which may write it, is not timed.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from large_questions import SPACE, lines

CLASS = f"{SPACE}Engineer"
PEER = f"""import sys, rdflib
found = rdflib.Graph().parse(sys.argv[1], format="nt").query("SELECT (COUNT(?x) AS ?n) {{ ?x a <{CLASS}> }}")
print(*(int(n) for (n,) in found))"""
KEPT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
ADDED = f'INSERT DATA {{ <{SPACE}new> a <{CLASS}> ; rdfs:label "Zelda Quux" }}'
COUNT = "How many engineers are there?"


def used(name: str, *command: str, says: str) -> None:
    """Run a program, check what it says, and tell what it took."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    said = subprocess.run([sys.executable, *command], capture_output=True, text=True, env=KEPT)
    took, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    assert says in said.stdout, (name, said.stdout[:300], said.stderr[-300:])
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{name:<28} {took:8.1f} s {processor:8.2f} s of processor", flush=True)


def first_touch(folder: Path, scale: float) -> None:
    """Load and ask, again after a change, then beside a server; and what rdflib takes."""
    file, store, written = folder / "data.nt", ("--store", str(folder / "kg")), list(lines(scale))
    file.write_text("\n".join(written) + "\n", encoding="utf-8")
    right = str(sum(line.endswith(f"<{CLASS}> .") and "#type" in line for line in written))
    print(f"{len(written):,} triples, load {os.getloadavg()[0]:.1f}")
    ask = ("-m", "mrag", "ask", COUNT, *store)
    used("load", "-m", "mrag", "load", str(file), *store, says=f"{len(written):,} triples")
    used("first question", *ask, says=f"{right} engineers")
    used("question", *ask, says=f"{right} engineers")
    used("search by name", "-m", "mrag", "search", "person 1", "-k", "3", *store, says="called person 1")
    used("one entity more", "-m", "mrag", "update", "--yes", ADDED, *store, says="2 added")
    used("question after it", "-m", "mrag", "ask", "Is Zelda Quux an engineer?", *store, says="Yes")
    serve = [sys.executable, "-m", "mrag", "serve", "--port", "0", *store]
    with subprocess.Popen(serve, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            assert server.stdout is not None and server.stdout.readline()
            for name in ("beside a server, first", "beside a server"):
                used(name, *ask, says=f"{int(right) + 1} engineers")
        finally:
            server.terminate()
    used("index of words", "-m", "mrag", "index", "--meaning", "later", *store, says="documents in the index")
    used("search by words", "-m", "mrag", "search", "person 1", "-k", "3", *store, says="BM25 rank 1")
    used("rdflib: file to count", "-c", PEER, str(file), says=right)


def main() -> None:
    """Measure each scale."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--scale", type=float, nargs="+", default=[0.003, 0.3])
    subprocess.run([sys.executable, "-m", "mrag", "ask", COUNT], check=True, capture_output=True, env=KEPT)
    for scale in options.parse_args().scale:
        with TemporaryDirectory() as folder:
            first_touch(Path(folder), scale)


if __name__ == "__main__":
    main()
