"""How many false sentences about a graph pass as supported, and how many true ones do.

    python benchmarks/support_adversary.py                          # four graphs that may be looked at
    python benchmarks/support_adversary.py --set held --bar         # graphs not used while building
    python benchmarks/support_adversary.py --graphs demo --show accepted-false
    python benchmarks/support_adversary.py --out cases.jsonl        # each sentence with its verdict

The sentences lie in `adversary/`: 520 of each of eleven graphs, written by rules from its facts, true ones in
many wordings, and false ones of many kinds that were checked against the whole graph with its closure. A true
one is accepted when all its sentences are supported and one is cited, a false one when all that follows its
true beginning is supported.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
import time
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from urllib.parse import quote

from common import shared_data
from rdflib import RDF, RDFS, Literal, URIRef

import mrag
from mrag.context.expansion import expand
from mrag.context.render import Context
from mrag.errors import ModelError
from mrag.generation.answering import cite
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import Triple
from mrag.stores.oxigraph import OxigraphStore

BUILD = ("demo", "starwars", "football", "museum")
HELD = ("clinic", "flights", "recipes", "railways", "helpdesk", "lab", "metaqa")
FALSE_BAR, TRUE_BAR = 0.01, 0.9
FOLDER = Path(__file__).parent
_MOVIES = 400  # Films that are read of MetaQA


@dataclass(frozen=True)
class Case:
    """A sentence and whether it is true."""

    graph: str  # Name of the graph
    kind: str  # How it was made
    true: bool  # Whether the graph says it
    question: str  # What it answers
    text: str  # The sentence, or sentences
    entity: str  # The entity whose neighbourhood is the context
    lead: str = ""  # True sentences before it
    other: str | None = None  # Another hit in the context
    asked: str = ""  # What the context was expanded for, if not for the question


@dataclass(frozen=True)
class Judged:
    """A case, and what was made of it."""

    case: Case
    accepted: bool  # Whether it passed as supported
    answer: str  # The text with its citations
    lines: tuple[str, ...]  # The cited lines


def judge(case: Case, context: Context) -> Judged:
    """Cite a case and see whether it passes."""
    try:
        whole = cite(case.question, f"{case.lead} {case.text}".strip(), context)
    except ModelError:
        return Judged(case, False, "", ())
    lead = len(cite(case.question, case.lead, context).sentences) if case.lead else 0
    judged = whole.sentences if case.true else whole.sentences[lead:]
    accepted = bool(judged) and all(one.supported for one in judged)
    if case.true:
        accepted = accepted and any(one.citations for one in judged)
    lines = tuple(dict.fromkeys(c.text for one in judged for c in one.citations))
    return Judged(case, accepted, whole.text, lines)


@cache
def load(name: str) -> KnowledgeGraph:
    """Open a graph by its name."""
    if name == "demo":
        return mrag.demo(model="none")
    kg = KnowledgeGraph(OxigraphStore())
    if name == "starwars":
        folder = shared_data("starwars_kg")
        kg.load([folder / "SWAPI-ontology.ttl", folder / "starwars-data.ttl"])
    elif name == "metaqa":
        kg.insert(_movies())
    else:
        kg.load([FOLDER / "blind" / f"{name}.ttl.gz"])
    return kg


def _movies() -> Iterator[Triple]:
    """Read films whose hash is smallest, with all that is said of them."""
    rows = [line.split("|") for line in (shared_data("metaqa") / "kb.txt").read_text("utf-8").splitlines()]
    films = sorted({s for s, *_ in rows}, key=lambda s: (zlib.crc32(s.encode()), s))[:_MOVIES]
    kept, base, film = set(films), "http://example.org/films/", "http://example.org/films/Film"
    named: set[str] = set()
    yield Triple(URIRef(film), RDFS.label, Literal("film"))
    for s, p, o in rows:
        if s not in kept:
            continue
        literal = p in ("release_year", "has_imdb_votes", "has_imdb_rating")
        subject = URIRef(base + "f/" + quote(s, safe=""))
        target: Literal | URIRef = URIRef(base + "x/" + quote(o, safe=""))
        if literal:
            target = Literal(int(o)) if o.isdigit() else Literal(o)
        yield Triple(subject, URIRef(base + p), target)
        for iri, label in ((subject, s), (target, o)):
            if isinstance(iri, URIRef) and iri not in named:
                named.add(iri)
                yield Triple(iri, RDFS.label, Literal(label))
        yield Triple(subject, RDF.type, URIRef(film))


def cases_of(name: str, count: int, seed: int) -> list[Case]:
    """Draw some of the cases of a graph."""
    with gzip.open(FOLDER / "adversary" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        every = [Case(name, **json.loads(line)) for line in file]
    drawn = random.Random(f"{name}-{seed}").sample(range(len(every)), min(count, len(every)))
    return [every[at] for at in sorted(drawn)]


@cache
def context_of(case: Case) -> Context:
    """Expand the entity of a case, and another hit behind it, as the retriever does."""
    hits = [(case.entity, 1.0), *([(case.other, 0.6)] if case.other else [])]
    return expand(load(case.graph), hits, question=case.asked or case.question)


def judged_cases(graphs: Sequence[str], per_graph: int, seed: int) -> Iterator[Judged]:
    """Judge some cases of each of several graphs, drawn by the seed."""
    for name in graphs:
        for case in cases_of(name, per_graph, seed):
            yield judge(case, context_of(replace(case, kind="", true=True, text="", lead="")))


def table(found: Sequence[Judged], label: bool) -> str:
    """Return how many of each kind pass."""
    kinds: dict[str, list[bool]] = defaultdict(list)
    for one in found:
        if one.case.true is label:
            kinds[one.case.kind].append(one.accepted)
    worst = sorted(
        kinds.items(), key=lambda item: (sum(item[1]) / len(item[1]) * (1 if label else -1), item[0])
    )
    return "\n".join(f"  {kind:24} {sum(x):4} of {len(x):4}  {sum(x) / len(x):6.1%}" for kind, x in worst)


def shares(found: Sequence[Judged]) -> tuple[float, float]:
    """Return the shares of the false and of the true sentences that pass."""
    false = [one.accepted for one in found if not one.case.true]
    true = [one.accepted for one in found if one.case.true]
    return sum(false) / max(1, len(false)), sum(true) / max(1, len(true))


def main() -> None:
    """Print the confusion per kind and graph."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--graphs", nargs="+", help="demo, starwars, metaqa, or one of benchmarks/blind")
    parser.add_argument(
        "--set", choices=("build", "held"), default="build", help="which graphs, if none is named"
    )
    parser.add_argument("--per-graph", type=int, default=520)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--out", type=Path, help="a file for every sentence and its verdict, as JSON lines")
    parser.add_argument("--show", choices=("accepted-false", "rejected-true"), help="print these sentences")
    parser.add_argument("--kinds", nargs="+", help="show these kinds only")
    parser.add_argument("--bar", action="store_true", help="end with 1 where the bar is missed")
    args = parser.parse_args()
    started = time.perf_counter()
    graphs = args.graphs or (BUILD if args.set == "build" else HELD)
    found = list(judged_cases(graphs, args.per_graph, args.seed))
    if args.out:
        rows = (
            {**asdict(one.case), "accepted": one.accepted, "answer": one.answer, "lines": one.lines}
            for one in found
        )
        args.out.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    if args.show:
        show = args.show == "accepted-false"
        for one in found:
            case = one.case
            if one.accepted is show and case.true is not show and case.kind in (args.kinds or (case.kind,)):
                print(f"{case.graph}/{case.kind}: {case.question} -> {case.lead} {case.text}")
                print(f"    {' '.join(one.lines[:4])[:200]}")
    print("true sentences that pass\n" + table(found, True))
    print("false sentences that pass\n" + table(found, False))
    for name in graphs:
        false, true = shares([one for one in found if one.case.graph == name])
        print(f"  {name:24} false accepted {false:6.1%}  true accepted {true:6.1%}")
    false, true = shares(found)
    spent = time.perf_counter() - started
    print(f"{len(found)} sentences of {len(graphs)} graphs in {spent:.0f} s (seed {args.seed})")
    print(f"false accepted {false:.1%} (bar {FALSE_BAR:.0%})  true accepted {true:.1%} (bar {TRUE_BAR:.0%})")
    if args.bar and (false > FALSE_BAR or true < TRUE_BAR):
        sys.exit(1)


if __name__ == "__main__":
    main()
