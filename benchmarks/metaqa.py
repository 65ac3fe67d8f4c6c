"""Questions over MetaQA's films: gold plans, and plans made without a language model.

    python benchmarks/metaqa.py gold                # plans from the typed paths: exact answer sets
    python benchmarks/metaqa.py paths               # without a model

Times are from the question to its answers, of one process.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from urllib.parse import quote

from common import row, shared_data
from rdflib import RDFS, Literal, URIRef

from mrag.completion.grounding import PathPlanner, ground
from mrag.completion.patterns import (
    GroundedPlan,
    IncompleteTriple,
    TriplePlan,
    complete_from_graph,
    with_slots,
)
from mrag.evaluation.gold import GoldTable, table_of
from mrag.evaluation.gold import score as score_of
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.plan import Unknown
from mrag.rdf.terms import Term, Triple
from mrag.stores.oxigraph import OxigraphStore

E = "http://example.org/metaqa/entity/"
R = "http://example.org/metaqa/"
RELATIONS = {
    "actor": "starred_actors", "director": "directed_by", "genre": "has_genre",
    "imdbrating": "has_imdb_rating", "imdbvotes": "has_imdb_votes", "language": "in_language",
    "tag": "has_tags", "tags": "has_tags", "writer": "written_by", "year": "release_year",
}  # fmt: skip
"""The relation that leads from a film to each kind of thing in the type of a question."""


@dataclass(frozen=True)
class Asked:
    """A question with the answers and the path that the collection gives."""

    text: str  # The question
    entity: str  # What it names
    steps: tuple[tuple[str, bool], ...]  # Relation and direction, True for from subject to object
    answers: frozenset[str]  # The gold set


def entity(name: str) -> URIRef:
    """Return the IRI of a name: one string of the knowledge base is one entity."""
    return URIRef(E + quote(name, safe=""))


def relation(name: str) -> URIRef:
    """Return the IRI of a relation."""
    return URIRef(R + name)


def triples(kb: Path, *, without: frozenset[tuple[str, str, str]] = frozenset()) -> Iterator[Triple]:
    """Yield the triples of `kb.txt`, and a label for every entity and relation."""
    names: set[str] = set()
    relations: set[str] = set()
    for line in kb.read_text(encoding="utf-8").splitlines():
        s, p, o = line.split("|")
        if (s, p, o) in without:
            continue
        names |= {s, o}
        relations.add(p)
        yield Triple(entity(s), relation(p), entity(o))
    for name in sorted(names):
        yield Triple(entity(name), RDFS.label, Literal(name))
    for name in sorted(relations):
        yield Triple(relation(name), RDFS.label, Literal(name.replace("_", " ")))


def load(folder: Path, *, without: frozenset[tuple[str, str, str]] = frozenset()) -> KnowledgeGraph:
    """Load the knowledge base into a store in memory."""
    kg = KnowledgeGraph(OxigraphStore())
    kg.insert(triples(folder / "kb.txt", without=without))
    return kg


def steps_of(kind: str) -> tuple[tuple[str, bool], ...]:
    """Return the path that the type of a question names, such as `movie_to_actor_to_movie`."""
    kinds = kind.split("_to_")
    return tuple((RELATIONS[b], True) if a == "movie" else (RELATIONS[a], False) for a, b in pairwise(kinds))


def questions(file: Path) -> list[Asked]:
    """Read a file of questions."""
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [Asked(r["question"], r["entity"], steps_of(r["qtype"]), frozenset(r["answers"])) for r in rows]


def gold_plan(asked: Asked) -> TriplePlan:
    """Return the plan of the typed path; no unknown is the entity that the question names."""
    start = entity(asked.entity)
    nodes: list[URIRef | Unknown] = [start, *(Unknown(f"x{n}") for n in range(1, len(asked.steps) + 1))]
    path = []
    for (name, forward), (a, b) in zip(asked.steps, pairwise(nodes), strict=True):
        path.append(IncompleteTriple(*((a, relation(name), b) if forward else (b, relation(name), a))))
    return TriplePlan(asked.text, (), tuple(path), Unknown(f"x{len(asked.steps)}"), "gold", excluded=(start,))


def spoken(plan: TriplePlan, asked: Asked) -> TriplePlan:
    """Return a gold plan in words, as a planner would write it."""
    words = {relation(name): name.replace("_", " ") for name in RELATIONS.values()}
    words[entity(asked.entity)] = asked.entity
    return with_slots(plan, lambda slot, _: words.get(slot, slot) if isinstance(slot, URIRef) else slot)


def names_of(kg: KnowledgeGraph, terms: list[Term]) -> list[str]:
    """Return the labels of entities as answers."""
    labels = kg.labels(str(t) for t in terms)
    return [labels[str(t)] or str(t) for t in terms]


def scored(found: Sequence[str], gold: Iterable[str]) -> tuple[float, float, float]:
    """Return whether the first answer is right, whether all are, and their F1."""
    table = GoldTable(table_of(sorted(gold)))
    score = score_of([table], list(found))
    return float(score_of([table], list(found[:1])).f1 > 0), float(score.exact), score.f1


Answerer = Callable[[Asked], Sequence[Term]]


def measure(name: str, kg: KnowledgeGraph, sets: dict[int, list[Asked]], answers: Answerer) -> None:
    """Print the scores and times of a way to answer, for each number of hops."""
    for hops, asked in sets.items():
        scores, times = [], []
        for one in asked:
            started = time.perf_counter()
            terms = list(answers(one))
            times.append((time.perf_counter() - started) * 1000)
            scores.append(scored(names_of(kg, terms), one.answers))
        hits, exact, f1 = (fmean(column) for column in zip(*scores, strict=True))
        print(f"{name}, {hops} hops: hits@1 {hits:.3f}  exact {exact:.3f}  F1 {f1:.3f}  n={len(asked)}")
        print(row("", times))


def gold(kg: KnowledgeGraph, sets: dict[int, list[Asked]], options: argparse.Namespace) -> None:
    """Complete the plans of the typed paths, and hold the answer sets against the gold ones, term by term."""
    measure(
        "gold plans", kg, sets, lambda asked: complete_from_graph(kg, GroundedPlan(gold_plan(asked))).answers
    )
    for hops, asked in sets.items():
        exact = sum(
            set(complete_from_graph(kg, GroundedPlan(gold_plan(q))).answers) == {entity(a) for a in q.answers}
            for q in asked
        )
        print(f"gold plans, {hops} hops: {exact} of {len(asked)} answer sets exact")


def paths(kg: KnowledgeGraph, sets: dict[int, list[Asked]], options: argparse.Namespace) -> None:
    """Measure the planner without a language model."""
    planner = PathPlanner(kg, model=None if options.embedder == "none" else options.embedder)
    planner.plan(sets[1][0].text)
    measure(
        "paths",
        kg,
        sets,
        lambda asked: complete_from_graph(kg, ground(kg, planner.plan(asked.text))).answers,
    )


def main() -> None:
    """Run one part."""
    parts = {"gold": gold, "paths": paths}
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("part", choices=parts)
    options.add_argument("--embedder", default="minilm", help="minilm, wordllama or none")
    args = options.parse_args()
    folder = shared_data("metaqa")
    kg = load(folder)
    sets = {hops: questions(folder / f"dev_{hops}hop.jsonl") for hops in (1, 2, 3)}
    parts[args.part](kg, sets, args)
    kg.close()


if __name__ == "__main__":
    main()
