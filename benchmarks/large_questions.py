"""How long questions take that are computed over a large store whose things are in subclasses only.

    python benchmarks/large_questions.py                            # 1.1 million triples in memory
    python benchmarks/large_questions.py --store oxigraph:./large   # on disk
    python benchmarks/large_questions.py --store virtuoso:http://dba:dba@localhost:8890
    python benchmarks/large_questions.py --scale 0.1                # fewer

The graph is made here: people of four kinds, sites, products of six kinds and orders. It is loaded, its
schema and names are read, each with its slowest queries, and then the questions are asked twice over.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from common import row

from mrag.graph.connection import open_store
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import compute, parser_of
from mrag.planning.lexicon import lexicon_of
from mrag.planning.profiling import schema_of

SPACE = "http://example.org/large/"
HIERARCHY = {
    "Engineer": "Employee", "Manager": "Employee", "Clerk": "Employee", "Employee": "Person",
    "Customer": "Person", "Pump": "Machine", "Valve": "Machine", "Motor": "Machine", "Seal": "Part",
    "Bearing": "Part", "Gasket": "Part", "Machine": "Product", "Part": "Product",
}  # fmt: skip
PEOPLE, PRODUCTS = (
    ("Engineer", "Manager", "Clerk", "Customer"),
    ("Pump", "Valve", "Motor", "Seal", "Bearing", "Gasket"),
)
QUESTIONS = (
    "How many employees are there?", "How many products are there?", "How many persons are there per site?",
    "Which site has the most engineers?", "Which machines have a weight of more than 990?",
    "Who manages site 7?", "What is the average price of pumps?", "How many orders are there in 2021?",
    "Which part is the heaviest?", "Which customers ordered more than 24 products?",
    "Who manages the oldest site?",
    "What share of orders were cancelled?", "What percentage of each site's employees are engineers?",
    "Which products were never ordered?", "How many sites have a manager and how many have none?",
    "Which sites were opened in the same year as site 7?", "What are the three most expensive valves?",
    "How many orders did customer 5 place?", "total price of motors", "How many orders are there per status?",
)  # fmt: skip


def lines(scale: float) -> Iterator[str]:
    """Yield N-Triples."""
    rng = random.Random(5)
    a, sub = (
        "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>",
        "<http://www.w3.org/2000/01/rdf-schema#subClassOf>",
    )
    label, xsd = "<http://www.w3.org/2000/01/rdf-schema#label>", "http://www.w3.org/2001/XMLSchema#"

    def iri(name: str) -> str:
        return f"<{SPACE}{name}>"

    def thing(name: str, kind: str) -> Iterator[str]:
        yield f"{iri(name)} {a} {iri(kind)} ."
        yield f'{iri(name)} {label} "{name.replace("_", " ")}" .'

    def day() -> str:
        return f'"{rng.randint(2015, 2023)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"^^<{xsd}date>'

    sites, people = max(5, round(200 * scale)), max(50, round(40_000 * scale))
    products, orders = max(50, round(30_000 * scale)), max(100, round(130_000 * scale))
    for below, above in HIERARCHY.items():
        yield f"{iri(below)} {sub} {iri(above)} ."
    kinds = {n: PEOPLE[rng.choices(range(4), (3, 1, 4, 8))[0]] for n in range(people)}
    managers = [n for n, kind in kinds.items() if kind == "Manager"]
    customers = [n for n, kind in kinds.items() if kind == "Customer"]
    for n in range(sites):
        yield from thing(f"site_{n}", "Site")
        yield f"{iri(f'site_{n}')} {iri('opened')} {day()} ."
        if n % 5:
            yield f"{iri(f'site_{n}')} {iri('managedBy')} {iri(f'person_{rng.choice(managers)}')} ."
    for n, kind in kinds.items():
        name = f"{'customer' if kind == 'Customer' else 'person'}_{n}"
        yield from thing(name, kind)
        if kind != "Customer":
            yield f"{iri(name)} {iri('worksAt')} {iri(f'site_{rng.randrange(sites)}')} ."
            yield f"{iri(name)} {iri('hired')} {day()} ."
    for n in range(products):
        yield from thing(f"product_{n}", PRODUCTS[n % 6])
        yield f'{iri(f"product_{n}")} {iri("weight")} "{rng.randrange(1, 1000)}"^^<{xsd}integer> .'
        yield f'{iri(f"product_{n}")} {iri("price")} "{rng.randrange(1, 90000) / 100}"^^<{xsd}decimal> .'
    for n in range(orders):
        name = f"order_{n}"
        yield from thing(name, "Order")
        yield f"{iri(name)} {iri('placedBy')} {iri(f'customer_{rng.choice(customers)}')} ."
        yield f"{iri(name)} {iri('product')} {iri(f'product_{rng.randrange(products)}')} ."
        yield f"{iri(name)} {iri('orderDate')} {day()} ."
        yield f'{iri(name)} {iri("status")} "{rng.choice(("open", "shipped", "shipped", "cancelled"))}" .'


class Timed:
    """Keeps how long each query of a store took, by its first comment or words."""

    def __init__(self, kg: KnowledgeGraph) -> None:
        self.times: list[tuple[float, str]] = []
        self._select = kg.store.select
        kg.store.select = self.select  # type: ignore[method-assign]

    def select(self, query: str, *args: Any, **kwargs: Any) -> Any:
        """Run a query, and keep how long it took."""
        started = time.perf_counter()
        found = self._select(query, *args, **kwargs)
        self.times.append((time.perf_counter() - started, " ".join(query.split())[:110]))
        return found

    def slowest(self, k: int = 4) -> str:
        """Return the slowest queries since it was last asked."""
        found = sorted(self.times, reverse=True)[:k]
        self.times.clear()
        return "\n".join(f"    {seconds:6.2f} s  {query}" for seconds, query in found)


def main() -> None:
    """Load, read and ask."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--store", default="oxigraph:")
    options.add_argument("--scale", type=float, default=1.0)
    args = options.parse_args()
    store, _ = open_store(args.store)
    with TemporaryDirectory() as folder, KnowledgeGraph(store, "large") as kg:
        path = Path(folder) / "large.nt"
        with path.open("w", encoding="utf-8") as out:
            out.writelines(f"{line}\n" for line in lines(args.scale))
        started = time.perf_counter()
        kg.load([path])
        print(f"{kg.profile().triples} triples loaded in {time.perf_counter() - started:.1f} s", flush=True)
        timed = Timed(kg)
        for name, read in (("schema", schema_of), ("names", lexicon_of), ("parser", parser_of)):
            started = time.perf_counter()
            read(kg)
            print(f"{name} in {time.perf_counter() - started:.1f} s\n{timed.slowest()}", flush=True)
        times = []
        for number, question in enumerate(QUESTIONS * 2):
            started = time.perf_counter()
            attempt = compute(kg, question)
            times.append((time.perf_counter() - started) * 1000)
            if number < len(QUESTIONS):
                said = attempt.answer.sentences[0].text if attempt.answer else attempt.why
                print(f"{times[-1]:7.0f} ms  {attempt.sure!s:5}  {question}  {said[:70]}", flush=True)
                if times[-1] > 1000:
                    print(timed.slowest(3), flush=True)
                timed.times.clear()
        print(row("questions", times))


if __name__ == "__main__":
    main()
