"""Reading a query at the read gate, beside rdflib's parser, on texts that neither has seen.

Run as `python -m benchmarks.gate [--repeat 20]`. It reads the catalogue's queries, and texts that grow: a
list of values, a row of unions, a chain of operators.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import sys
import time
from collections.abc import Callable

from rdflib.plugins.sparql import prepareQuery

from mrag.errors import QueryRefused
from mrag.rdf import queries
from mrag.rdf.guard import read_gate
from mrag.rdf.terms import DEFAULT_PREFIXES

GROWING: dict[str, Callable[[int], str]] = {
    "IN": lambda n: "ASK { ?s ?p ?o FILTER (?o IN (" + ", ".join(map(str, range(n))) + ")) }",
    "UNION": lambda n: "ASK { " + " UNION ".join(["{ ?s ?p ?o }"] * n) + " }",
    "+": lambda n: "ASK { FILTER (" + " + ".join(["1"] * n) + " = 1) }",
}
SLOWEST = 2_000
"""Texts longer than this, by number of parts, are read by the gate alone: rdflib would take minutes."""


def main() -> None:
    """Print the figures."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--repeat", type=int, default=20)
    repeat = options.parse_args().repeat
    sys.setrecursionlimit(100_000)
    texts = [queries.get(name).text for name in queries.names() if _reads(queries.get(name).text)]
    ours, theirs = _times(read_gate, texts, repeat), _times(_rdflib, texts, repeat)
    ratio = statistics.median(t / o for o, t in zip(ours, theirs, strict=True))
    print(f"{len(texts)} queries of the catalogue, each text new:")
    print(f"  gate    p50 {statistics.median(ours):.2f} ms, longest {max(ours):.2f} ms")
    print(f"  rdflib  p50 {statistics.median(theirs):.2f} ms, longest {max(theirs):.2f} ms")
    print(f"  ratio, query by query: {ratio:.0f}")
    for name, made in GROWING.items():
        for size in (200, 2_000, 20_000):
            text = made(size)
            one = _times(read_gate, [text], 1)[0]
            other = _times(_rdflib, [text], 1)[0] if size <= SLOWEST else float("nan")
            print(f"  {name:5} {size:6} parts: gate {one:8.1f} ms, rdflib {other:8.1f} ms")


def _rdflib(text: str) -> None:
    prepareQuery(text, initNs=DEFAULT_PREFIXES)


def _reads(text: str) -> bool:
    try:
        read_gate(text)
        _rdflib(text)
    except Exception:
        return False
    return True


def _times(read: Callable[[str], object], texts: list[str], repeat: int) -> list[float]:
    """Return the median milliseconds for each text; a blank more each time makes it a new one."""
    found = []
    for text in texts:
        took = []
        for number in range(repeat):
            new = text + " " * (number + 1)
            began = time.perf_counter()
            # More parts than the gate lets through: how long it takes to say so counts.
            with contextlib.suppress(QueryRefused):
                read(new)
            took.append(1000 * (time.perf_counter() - began))
        found.append(statistics.median(took))
    return found


if __name__ == "__main__":
    main()
