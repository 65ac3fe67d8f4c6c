"""How certain computed answers are, each graph judged by weights that were fitted to the others.

    python benchmarks/answer_certainty.py            # the shared graphs, and made ones where something fails
    python benchmarks/answer_certainty.py --write    # and fit what ships to all of them

On graphs whose failures have been mended nothing is left to learn from. So each property that a right answer
rests on is also left out of its graph: then the same question has no answer, or one that is near and wrong.
These readings count half. MetaQA's questions are fitted to by none.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pyoxigraph as ox
from common import shared_data
from made_graphs import GRAPHS as MADE
from made_graphs import gold
from metaqa import load as load_metaqa
from metaqa import questions as metaqa_questions
from structured_questions import GRAPHS, loaded

import mrag.planning
from mrag.evaluation import GoldQuestion, read_questions
from mrag.evaluation.answers.calibrating import solved_readings
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import parser_of
from mrag.planning.certainty.model import SolvedReading, fitted, held_out, reliability
from mrag.planning.interchange import plan_to_json
from mrag.planning.profiling import schema_of
from mrag.planning.results import CERTAIN, run_readings
from mrag.planning.schema import PropertyInfo

UNMENDED = ("isles", "league", "auction", "wards", "guests")
"""Made graphs on which something fails still."""
_KNOCKED = 14
"""Properties of a graph that are left out, one after the other, those that most answers use first."""
_HALF = 0.5


def asked_of(folder: Path) -> Iterator[tuple[str, Path, list[GoldQuestion]]]:
    """Yield the graphs with their questions; files of made graphs are gone when the next is yielded."""
    shared = shared_data("structured_qa")
    refusable = read_questions(shared / "unanswerable.jsonl")
    for name in GRAPHS:
        questions = read_questions(shared / name / "questions.jsonl")
        idle = [q for q in refusable if q.id.startswith(f"idk-{name}-")]
        yield name, shared / name / "graph.ttl", [*questions, *idle]
    for name in UNMENDED:
        text, asked = MADE[name]()
        path = folder / f"{name}.ttl"
        path.write_text(text, encoding="utf-8")
        yield name, path, [gold(name, n, q, found()) for n, (q, found) in enumerate(asked)]


def solved_over(name: str, path: Path, asked: Sequence[GoldQuestion]) -> list[SolvedReading]:
    """Return the readings of questions over a graph, and over the graph without each of its properties."""
    uses: dict[str, list[GoldQuestion]] = defaultdict(list)
    found = list[SolvedReading]()
    with loaded(path) as kg:
        for question in asked:
            solved = solved_readings(kg, [question], lambda _: name, most=2)
            found += solved
            if any(one.given and one.right for one in solved):
                for iri in _used(kg, question):
                    uses[iri].append(question)
    for iri in sorted(uses, key=lambda p: (-len(uses[p]), p))[:_KNOCKED]:
        with TemporaryDirectory() as folder, loaded(_without(path, iri, Path(folder))) as kg:
            lost = solved_readings(kg, uses[iri], lambda _: name)
        found += [replace(one, weight=_HALF) for one in lost if one.given]
    return found


def _used(kg: KnowledgeGraph, question: GoldQuestion) -> list[str]:
    """Return the properties that an answer rests on, but for those that only name things."""
    readings = parser_of(kg).readings(question.text)
    found, _ = run_readings(kg, readings, 1, time.monotonic() + 10)
    text = json.dumps(plan_to_json(found[0][0].plan)) if found else ""
    infos = schema_of(kg).properties
    return sorted(p for p, info in infos.items() if json.dumps(p) in text and not _names(info))


def _names(info: PropertyInfo) -> bool:
    words = {word for name in info.names for word in name.lower().split()}
    return bool({"name", "title", "label"} & words)


def _without(path: Path, iri: str, folder: Path) -> Path:
    """Write a graph without the triples of a property, and without what is said of it."""
    out = folder / "graph.nt"
    gone = ox.NamedNode(iri)
    with out.open("wb") as file:
        for quad in ox.parse(path=str(path), format=ox.RdfFormat.TURTLE):
            if gone not in (quad.subject, quad.predicate, quad.object):
                file.write(ox.serialize([quad.triple], format=ox.RdfFormat.N_TRIPLES) or b"")
    return out


def tell(solved: Sequence[SolvedReading], certainties: Sequence[float], graphs: Collection[str]) -> None:
    """Print how many of the answers that are given are certain, by graph, and how many of these are right."""
    whole = [(s, p) for s, p in zip(solved, certainties, strict=True) if s.given and s.weight == 1.0]
    lost = [(s, p) for s, p in zip(solved, certainties, strict=True) if s.given and s.weight < 1.0]
    parts = [(name, [(s, p) for s, p in whole if s.group == name]) for name in graphs]
    for title, part in (*parts, ("all", whole), ("with a property left out", lost)):
        sure = [s.right for s, p in part if p >= CERTAIN]
        share = f"{sum(sure) / len(sure):.3f} of {len(sure)}" if sure else "none"
        given = f"{sum(s.right for s, _ in part) / len(part):.2f} of {len(part)}" if part else "none"
        print(f"  {title}: certain {share}; given {given}")
    print_buckets([p for _, p in whole], [s.right for s, _ in whole])


def films_asked(path: Path, sample: int) -> list[GoldQuestion]:
    """Return a sample of MetaQA's questions."""
    every = metaqa_questions(path)
    taken = every[:: max(1, len(every) // sample)][:sample]
    return [
        GoldQuestion.of(
            {"id": f"{path.stem}-{n}", "question": q.text, "answers": [[a] for a in sorted(q.answers)]}
        )
        for n, q in enumerate(taken)
    ]


def print_buckets(certainties: Sequence[float], right: Sequence[bool]) -> None:
    """Print how many answers of which certainty are right."""
    for b in reliability(certainties, right):
        share, expected = b.right / b.answers, b.expected / b.answers
        print(f"  {b.low:.1f} to {b.high:.1f}: {share:.3f} of {b.answers}, expected {expected:.3f}")


def main() -> None:
    """Fit, print, and write if that is wanted."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--sample", type=int, default=100, help="questions of each of MetaQA's sets")
    options.add_argument("--write", action="store_true", help="replace what ships")
    args = options.parse_args()
    solved, names = list[SolvedReading](), list[str]()
    with TemporaryDirectory() as folder:
        for name, path, asked in asked_of(Path(folder)):
            names.append(name)
            solved += solved_over(name, path, asked)
            print(f"{name}: {sum(s.group == name for s in solved)} readings", flush=True)
    model = fitted(solved)
    print(f"{len(solved)} readings of {len(names)} graphs: {json.dumps(model.to_json())}")
    print("Each graph by weights that were fitted to the others:")
    tell(solved, held_out(solved), names)
    print("Fitted to all graphs:")
    tell(solved, [model.of(one.features) for one in solved], ())
    kg = load_metaqa(shared_data("metaqa"))
    chained = list[SolvedReading]()
    for hops in (1, 2, 3):
        films = films_asked(shared_data("metaqa") / f"dev_{hops}hop.jsonl", args.sample)
        chained += [one for one in solved_readings(kg, films, lambda _: "metaqa") if one.given]
    print("Answers about films, which nothing was fitted to:")
    print_buckets([model.of(one.features) for one in chained], [one.right for one in chained])
    kg.close()
    if args.write:
        out = Path(mrag.planning.__path__[0]) / "certainty" / "certainty.json"
        made = {"made": "python benchmarks/answer_certainty.py --write", "graphs": names}
        out.write_text(json.dumps({**made, **model.to_json()}, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
