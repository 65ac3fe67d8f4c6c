"""`mrag serve` under many clients against one: latencies, errors, memory.

Run as `python -m benchmarks.serving [--seconds 60] [--clients 32] [--store URL] [--think 0.5]`. With
`--soak` it is a store on disk under queries, questions, updates and clients that misbehave, every answer
held against what it must be (`benchmarks.soak`); the exit code then says whether all promises were kept.

Every client has a process-wide mix of queries, half of them with a number in them that makes them new to
the server. Closed-loop clients ask again at once, so that their number is the load: with CPU-bound
queries on C cores the latency of N such clients cannot be less than about N/C times that of one. Clients
with think time wait between questions as people and programs do, and that is the load the ratio is
meant for. One client is measured first, with the same pauses.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence

import httpx
import psutil

QUERIES = (
    "SELECT ?p ?o {{ ex:GraphDB ?p ?o FILTER (?p != <urn:x{n}>) }}",
    "SELECT ?s ?o {{ ?s rdfs:label ?o FILTER (STRLEN(?o) > {n} - {n}) }} LIMIT 50",
    "SELECT ?c (COUNT(?s) AS ?n) {{ ?s a ?c FILTER (?c != <urn:x{n}>) }} GROUP BY ?c ORDER BY ?n LIMIT 10",
    "ASK {{ ex:GraphDB a ex:SemanticProduct }}",
    "SELECT ?x {{ ?x a ex:SemanticProduct }} ORDER BY ?x",
    "CONSTRUCT {{ ?s ?p ?o }} {{ VALUES ?s {{ ex:GraphDB ex:Virtuoso }} ?s ?p ?o }}",
)
PREFIX = (
    "PREFIX ex: <https://w3id.org/mrag/demo/products#> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> "
)


async def client(
    url: str, seed: int, end: float, think: float, times: list[float], errors: list[str]
) -> None:
    """Ask one question after the other until the end."""
    rng = random.Random(seed)
    async with httpx.AsyncClient(base_url=url, timeout=60) as http:
        await asyncio.sleep(rng.random() * think)
        while time.perf_counter() < end:
            query = PREFIX + rng.choice(QUERIES).format(n=rng.randrange(1_000_000))
            began = time.perf_counter()
            try:
                reply = await http.get("/sparql", params={"query": query})
                if reply.status_code != 200:
                    errors.append(f"{reply.status_code} {reply.text[:200]}")
            except httpx.HTTPError as error:
                errors.append(repr(error))
            times.append(time.perf_counter() - began)
            if think:
                await asyncio.sleep(rng.expovariate(1 / think))


async def load(url: str, clients: int, seconds: float, think: float) -> tuple[list[float], list[str]]:
    """Run some clients, and return their latencies and errors."""
    times: list[float] = []
    errors: list[str] = []
    end = time.perf_counter() + seconds
    await asyncio.gather(*(client(url, seed, end, think, times, errors) for seed in range(clients)))
    return times, errors


def memory(process: psutil.Process) -> int:
    """Return the bytes of the server and of its children, shared pages counted once to each."""
    return sum(p.memory_info().rss for p in (process, *process.children(recursive=True)))


def percentile(times: Sequence[float], part: float) -> float:
    """Return a percentile in milliseconds."""
    return sorted(times)[min(len(times) - 1, int(len(times) * part))] * 1000


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--think", type=float, default=0.5, help="mean seconds between questions")
    parser.add_argument("--store", default=None, help="default: the demo graph")
    parser.add_argument("--soak", action="store_true", help="with writers, misuse and killed processes")
    parser.add_argument("--kill", type=float, default=5.0, help="seconds between killed processes; 0: none")
    given = parser.parse_args()
    if given.soak:
        from benchmarks.soak.run import Plan, broken, run, show

        plan = Plan(given.seconds, given.clients, given.think, given.kill)
        outcome = run(plan)
        show(outcome)
        sys.exit("\n".join(["promises broken:", *found]) if (found := broken(outcome, plan)) else 0)
    store = ["--store", given.store] if given.store else []
    serve = [sys.executable, "-m", "mrag", "serve", "--port", "0", *store]
    server = subprocess.Popen(serve, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        found = re.search(r"http://\S+(?=/sparql)", server.stdout.readline())
        assert found is not None, "The server did not start."
        url, process = found[0], psutil.Process(server.pid)
        asyncio.run(load(url, given.clients, min(5.0, given.seconds), 0.0))
        for name, think in (("closed loop", 0.0), (f"think time {given.think} s", given.think)):
            alone, errors_alone = asyncio.run(load(url, 1, max(5.0, given.seconds / 3), think))
            before = memory(process)
            many, errors = asyncio.run(load(url, given.clients, given.seconds, think))
            growth = memory(process) - before
            row = {
                "load": name, "clients": given.clients, "requests": len(many),
                "requests_per_second": round(len(many) / given.seconds, 1),
                "errors": len(errors) + len(errors_alone),
                "first_error": next(iter(errors or errors_alone), None),
                "p50_ms_one": round(statistics.median(alone) * 1000, 2),
                "p99_ms_one": round(percentile(alone, 0.99), 2),
                "p50_ms": round(statistics.median(many) * 1000, 2),
                "p99_ms": round(percentile(many, 0.99), 2),
                "p99_ratio": round(percentile(many, 0.99) / percentile(alone, 0.99), 2),
                "memory_mb": round(before / 1e6), "memory_growth_mb": round(growth / 1e6, 1),
            }  # fmt: skip
            print(json.dumps(row))
    finally:
        server.terminate()
        server.wait(30)


if __name__ == "__main__":
    main()
