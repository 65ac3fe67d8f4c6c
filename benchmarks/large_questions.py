"""How long questions take that are computed over a large store whose things are in subclasses only.

    python benchmarks/large_questions.py                            # 1.1 million triples in memory
    python benchmarks/large_questions.py --store oxigraph:./large   # on disk
    python benchmarks/large_questions.py --store virtuoso:http://dba:dba@localhost:8890
    python benchmarks/large_questions.py --scale 0.1                # fewer

The graph is made here: people of four kinds, sites, products of six kinds and orders. It is loaded unless it
is there already, its schema and names are read, and then the questions are asked twice over: first the clock,
then the processor time of the process and of those that ran its queries.
"""

from __future__ import annotations

import argparse
import os
import random
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from common import peak_memory, processor_time, row

from mrag.graph.connection import open_store
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import compute, reader_of
from mrag.planning.lexicon import lexicon_of
from mrag.planning.profiling import schema_of

SEED = 5
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
QUESTIONS = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines()


def people_of(scale: float) -> int:
    """Return how many people there are."""
    return max(50, round(40_000 * scale))


def kinds_of(people: int, rng: random.Random) -> dict[int, str]:
    """Return what each of the people is."""
    return {n: PEOPLE[rng.choices(range(4), (3, 1, 4, 8))[0]] for n in range(people)}


def questions(scale: float) -> list[str]:
    """Return the questions, about people that there are."""
    kinds = kinds_of(people_of(scale), random.Random(SEED))
    customer, person = (
        next(n for n, k in kinds.items() if (k == "Customer") == is_) for is_ in (True, False)
    )
    return [q.format(customer=customer, person=person) for q in QUESTIONS]


def lines(scale: float) -> Iterator[str]:
    """Yield N-Triples."""
    rng = random.Random(SEED)
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

    sites, people = max(5, round(200 * scale)), people_of(scale)
    products, orders = max(50, round(30_000 * scale)), max(100, round(130_000 * scale))
    for below, above in HIERARCHY.items():
        yield f"{iri(below)} {sub} {iri(above)} ."
    kinds = kinds_of(people, rng)
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


def main() -> None:
    """Load, read and ask."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--store", default="oxigraph:")
    options.add_argument("--scale", type=float, default=1.0)
    args = options.parse_args()
    store, _ = open_store(args.store)
    with TemporaryDirectory() as folder, KnowledgeGraph(store, "large") as kg:
        if not kg.profile().triples:
            path = Path(folder) / "large.nt"
            with path.open("w", encoding="utf-8") as out:
                out.writelines(f"{line}\n" for line in lines(args.scale))
            started = time.perf_counter()
            kg.load([path])
            print(f"loaded in {time.perf_counter() - started:.1f} s", flush=True)
        print(f"{kg.profile().triples} triples", flush=True)
        for name, read in (("schema", schema_of), ("names", lexicon_of), ("parser", reader_of)):
            started, begun = time.perf_counter(), processor_time()
            read(kg)
            took, used = time.perf_counter() - started, processor_time() - begun
            print(f"{name} in {took:.1f} s, {used:.1f} s of processor", flush=True)
        print(f"peak memory {peak_memory():.0f} MiB")
        times, work = list[float](), list[float]()
        asked = questions(args.scale)
        for number, question in enumerate(asked * 2):
            started, begun = time.perf_counter(), processor_time()
            attempt = compute(kg, question)
            work.append((processor_time() - begun) * 1000)
            times.append((time.perf_counter() - started) * 1000)
            if number < len(asked):
                said = attempt.answer.sentences[0].text if attempt.answer else attempt.why
                print(
                    f"{times[-1]:7.0f} {work[-1]:7.0f} ms  {attempt.sure!s:5}  {question}  {said[:70]}",
                    flush=True,
                )
        print(f"load {os.getloadavg()[0]:.1f}")
        print(row("questions, by the clock", times))
        print(row("questions, processor", work))


if __name__ == "__main__":
    main()
