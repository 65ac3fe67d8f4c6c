"""Round trips and seconds that a question, and the context of one, cost over a store on a server.

    python benchmarks/round_trips.py                         # the demo graph
    python benchmarks/round_trips.py --rdf FILE --hops 2
    python benchmarks/round_trips.py --on fuseki rdf4j empty owl-horst-optimized      # whole questions alone

Starts an Oxigraph server (`pip install oxigraph`) on loopback, behind a proxy that counts requests and holds
each back. Questions are made up as in `context_reach.py`; their hits come from an index beside the server, so
that only the context is measured. `first` is a question asked of a knowledge graph that was just opened, with
neither labels nor schema known; `later` are the questions after the first half of them. Each context is
compared with the one over the embedded store. Before them come whole questions (`--ask`), over data that
others keep on the server: of a process that knows nothing, and of the next one.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from common import percentile
from context_reach import made_up, sample

from mrag import connect
from mrag.context import Context, ContextSettings, expand
from mrag.graph.connection import open_store
from mrag.graph.kg import KnowledgeGraph
from mrag.index.documents import Definition
from mrag.index.similarity import SimilarityIndexes
from mrag.retrieval.answering import ask
from mrag.retrieval.rankers import Question, SimilarityRanker
from mrag.stores.oxigraph import OxigraphStore
from tests.java_servers import (
    fuseki_server,
    graphdb_repository,
    graphdb_server,
    rdf4j_repository,
    rdf4j_server,
)
from tests.proxy import Proxy, proxy
from tests.servers import oxigraph_server

ROOT = Path(__file__).parent.parent
Asked = tuple[str, list[tuple[str, float]]]
THEIRS = {"name": "theirs", "graphs": ["urn:theirs"]}


def questions(kg: KnowledgeGraph, size: int, k: int) -> list[Asked]:
    """Return questions with their hits."""
    SimilarityIndexes.of(kg).build("main", definition=Definition(), model="none")
    ranker = SimilarityRanker(kg, "main", "bm25")
    texts = [one.text for asked in made_up(kg).values() for one in sample(asked, size)]
    return [(text, [(h.iri, h.score) for h in ranker.rank(Question(text), k)]) for text in texts]


def through(url: str, made: Proxy) -> str:
    """Return the URL of a store with the proxy in place of its server."""
    server = url.removeprefix("sparql:").partition("/query")[0]
    return url.replace(server, made.base)


def unplaced(context: Context) -> Context:
    """Return a context without the names of graphs, which another store numbers anew."""
    return replace(context, lines=tuple(replace(line, graph="") for line in context.lines))


def measure(
    url: str, made: Proxy, asked: list[Asked], wanted: list[Context], settings: ContextSettings,
    prefixes: Mapping[str, str],
) -> None:  # fmt: skip
    """Print what the contexts cost, without delay and with twenty milliseconds a request."""
    for delay in (0.0, 0.02):
        made.delay = delay
        store, _ = open_store(through(url, made))
        with KnowledgeGraph(store, prefixes=prefixes) as kg:
            kg.profile()
            trips, times, same = [], [], 0
            for (text, seeds), context in zip(asked, wanted, strict=True):
                before, began = made.requests, time.perf_counter()
                found = expand(kg, seeds, settings, question=text)
                times.append((time.perf_counter() - began) * 1000)
                trips.append(float(made.requests - before))
                same += unplaced(found) == unplaced(context)
        later, half = trips[len(trips) // 2 :], times[len(times) // 2 :]
        print(
            f"  {delay * 1000:2.0f} ms: first {trips[0]:.0f} round trips, {times[0]:.0f} ms; later "
            f"round trips p50 {percentile(later, 50):.0f}, p95 {percentile(later, 95):.0f}, "
            f"max {max(later):.0f}, ms p50 {percentile(half, 50):.0f}, p95 {percentile(half, 95):.0f}; "
            f"all p50 {percentile(trips, 50):.0f}, max {max(trips):.0f}; same {same} of {len(asked)}"
        )


def measure_on(server: str, rdf: Path, asked: list[str]) -> None:
    """Print what whole questions cost on a real server; of GraphDB's, the name is that of a ruleset."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        if server == "fuseki":
            base = stack.enter_context(fuseki_server(folder))
            url = f"fuseki:{base}/ds"
        elif server == "rdf4j":
            base = stack.enter_context(rdf4j_server(folder)).removesuffix("/rdf4j-server")
            url = stack.enter_context(rdf4j_repository(f"{base}/rdf4j-server", "r"))
        else:
            base = stack.enter_context(graphdb_server(folder))
            url = stack.enter_context(graphdb_repository(base, "r", server))
        with connect(url) as kg:
            kg.load([rdf])
        print(server)
        with proxy(base) as made:
            measure_whole(url.replace(base, made.base), made, asked, {})


def measure_whole(url: str, made: Proxy, asked: list[str], options: Mapping[str, Any] = THEIRS) -> None:
    """Print what whole questions cost that processes ask one after the other, with the connection."""
    made.delay = 0.02
    for name in ("first process", "next process"):
        started, began = made.requests, time.perf_counter()
        store, _ = open_store(url)
        with KnowledgeGraph(store, **options) as kg:
            for at, text in enumerate(asked):
                before = made.requests if at else started
                began = time.perf_counter() if at else began
                ask(kg, text, model="none", how="plan")
                took = (time.perf_counter() - began) * 1000
                print(f"  {name}, {text}: {made.requests - before} round trips, {took:.0f} ms")


def main() -> None:
    """Measure one or two hops over some graphs."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--rdf", type=Path, nargs="*", default=[ROOT / "ontology" / "products.ttl"])
    options.add_argument("--hops", type=int, nargs="*", default=[1, 2])
    options.add_argument("--sample", type=int, default=50, help="questions of each kind")
    options.add_argument("--ask", nargs="*", default=["How many vendors are there?", "Who develops GraphDB?"])
    options.add_argument("-k", type=int, default=10, help="hits")
    options.add_argument("--on", nargs="*", default=[], help="real servers to ask whole questions of, alone")
    args = options.parse_args()
    for server in args.on:
        measure_on(server, args.rdf[0], args.ask)
    if args.on:
        return
    for file in args.rdf:
        # The embedded store in memory reads a hub in the order that a server is asked for.
        with KnowledgeGraph(OxigraphStore()) as embedded, tempfile.TemporaryDirectory() as folder:
            embedded.load([file])
            asked = questions(embedded, args.sample, args.k)
            with (
                oxigraph_server(Path(folder), seconds=60) as url,
                proxy(url.removeprefix("sparql:").partition("/query")[0]) as made,
            ):
                store, _ = open_store(url)
                with KnowledgeGraph(store) as kg:
                    # Written out first, so that blank nodes have the same names in both.
                    data = Path(folder) / "data.nt"
                    with data.open("wb") as out:
                        embedded.dump(out)
                    kg.load([data])
                    kg.profile()
                    store.insert(data.read_bytes(), "urn:theirs")
                measure_whole(through(url, made), made, args.ask)
                for hops in args.hops:
                    settings = ContextSettings(hops=hops)
                    wanted = [expand(embedded, seeds, settings, question=text) for text, seeds in asked]
                    print(f"{file.name}, {embedded.count()} triples, {len(asked)} questions, {hops} hop(s)")
                    measure(url, made, asked, wanted, settings, embedded.prefixes)


if __name__ == "__main__":
    main()
