"""Questions that have to be computed, over seven graphs made of relational data, and over MetaQA's films.

    python benchmarks/structured_questions.py graphs              # all seven, and questions without an answer
    python benchmarks/structured_questions.py graphs --only atis  # one of them
    python benchmarks/structured_questions.py metaqa --sample 300 # 1, 2 and 3 hops, nothing learned from them

No language model is used (`mrag eval questions --model` does). Answers are computed or refused
(`how="plan"`); what is certain enough to be given counts for `exact`, and the likeliest reading, certain or
not, for `best reading`.

What a plan can express is told by the gold SQL, roughly: not ranks and earlier rows (window functions), text
that is put together, times of day as text, quarters as dates, and words that only instructions define.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path

from common import percentile, row, shared_data
from metaqa import Asked, names_of
from metaqa import load as load_metaqa
from metaqa import questions as metaqa_questions
from rdflib import URIRef

from mrag.evaluation import GoldQuestion, Interval, evaluate_questions, read_questions
from mrag.evaluation.answers import Outcome, Prediction, outcome, summarise
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import compute
from mrag.planning.results import CERTAIN
from mrag.stores.oxigraph import OxigraphStore

GRAPHS = (
    "academic", "advising", "atis", "broker", "car_dealership", "restaurants", "restaurants_text2sql",
)  # fmt: skip
PARTS = {
    "mended by": ("academic", "advising", "atis", "broker"),
    "looked at before": ("car_dealership", "restaurants"),
    "looked at least": ("restaurants_text2sql",),
}
"""Graphs whose failures told what to mend last; whose questions were looked at while the parser was first
written, but for this state only as totals; and whose questions were hardly ever looked at."""

_BEYOND = re.compile(
    r"(?i:\bover\s*\(|\|\||\bsubstr|\bgroup_concat|\bprintf|\bstddev|\bcorr\(|\bmedian|\bthen '\d)|%[HMS]"
)
"""What the algebra has no word for in a gold query."""

_LEVELS = (0.6, 0.7, 0.8, 0.9, 1.01)


@contextmanager
def loaded(path: Path) -> Iterator[KnowledgeGraph]:
    """Open a graph in memory that holds a file."""
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.load([path])
        yield kg


def expressible(path: Path) -> dict[str, bool]:
    """Return for each question of a file whether a plan can say what its gold SQL says."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {r["id"]: not (_BEYOND.search(r["sql"]) or r.get("needs_instructions")) for r in rows}


def graphs(folder: Path, only: Sequence[str], out: Path | None) -> None:
    """Print the figures of each graph, then those of all together."""
    every: list[tuple[str, GoldQuestion, Outcome, Prediction, bool]] = []
    prepared = {}
    for name in only:
        asked = read_questions(folder / name / "questions.jsonl")
        can = expressible(folder / name / "questions.jsonl")
        refusable = read_questions(folder / "unanswerable.jsonl")
        others = [q for q in refusable if q.id.startswith(f"idk-{name}-")]
        with loaded(folder / name / "graph.ttl") as kg:
            found = evaluate_questions(kg, [*asked, *others], how="plan", title=name)
        prepared[name] = found.prepared
        for question, line in zip([*asked, *others], found.predictions, strict=True):
            told = Prediction(**line)
            every.append((name, question, outcome(question, told), told, can.get(question.id, False)))
    if out is not None:
        out.write_text("".join(json.dumps(asdict(told)) + "\n" for *_, told, _ in every), encoding="utf-8")
    columns = "graph questions said of_these exact best F1 given certain refused".split()
    print(f"| {' | '.join(columns)} |")
    print("|---" * len(columns) + "|")
    parts = [(name, [e for e in every if e[0] == name]) for name in only]
    parts += [(name, [e for e in every if e[0] in of]) for name, of in PARTS.items()]
    for name, part in [*parts, ("all", every)]:
        if part:
            certain = [o for _, q, o, p, _ in part if q.answerable and (p.confidence or 0.0) >= CERTAIN]
            print(line_of(name, [o for _, _, o, _, _ in part], [can for *_, can in part], certain))
    print()
    print(summarise([o for _, _, o, _, _ in every], title="All graphs, by category", how="plan"))
    print("Certainty of the answers given, and the share of right ones:")
    for low, high in pairwise(_LEVELS):
        right = [
            o.score.exact for _, q, o, p, _ in every
            if q.answerable and p.confidence is not None and low <= p.confidence < high
        ]  # fmt: skip
        if right:
            print(f"  {low:.1f} to {min(high, 1):.1f}: {sum(right) / len(right):.3f} of {len(right)}")
    print("Seconds to prepare:", ", ".join(f"{name} {s:.1f}" for name, s in prepared.items()))
    for name, part in parts:
        if part:
            print(row(name, [told.seconds * 1000 for _, _, _, told, _ in part]))


def line_of(name: str, outcomes: Sequence[Outcome], can: Sequence[bool], certain: Sequence[Outcome]) -> str:
    """Return a graph's line of the table."""
    found = summarise(outcomes, title=name, how="plan")
    within = [o for o, sayable in zip(outcomes, can, strict=True) if sayable]
    of_these = summarise(within, title=name, how="plan").overall if within else None
    every = found.overall
    cells = [
        name, str(every.exact.queries), f"{len(within) / every.exact.queries:.2f}",
        "" if of_these is None else shown(of_these.exact), shown(every.exact), shown(every.guessed),
        shown(every.f1),
        "" if found.sure is None else f"{shown(found.sure)} of {found.sure.queries}",
        f"{sum(o.score.exact for o in certain) / len(certain):.2f} of {len(certain)}" if certain else "",
        shown(found.refused[""]) if "" in found.refused else "",
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def shown(found: Interval) -> str:
    """Return a mean with its interval."""
    return f"{found.mean:.2f} [{found.low:.2f}, {found.high:.2f}]"


def metaqa(folder: Path, sample: int) -> None:
    """Print hits@1 of MetaQA's questions, by computed answers and by the likeliest readings."""
    kg = load_metaqa(folder)
    for hops in (1, 2, 3):
        asked = metaqa_questions(folder / f"dev_{hops}hop.jsonl")
        asked = asked[:: max(1, len(asked) // sample)][:sample]
        compute(kg, asked[0].text)
        times, given, best, exact = [], 0, 0, 0
        for one in asked:
            hit, sure, whole, seconds = _hit(kg, one)
            times.append(seconds * 1000)
            given += sure and hit
            best += hit
            exact += whole
        n = len(asked)
        print(
            f"{hops} hops, {n} questions: hits@1 {best / n:.3f} of the likeliest readings (exact sets "
            f"{exact / n:.3f}), {given / n:.3f} of answers that are sure; "
            f"p50 {percentile(times, 50):.0f} ms, p99 {percentile(times, 99):.0f} ms"
        )
    kg.close()


def _hit(kg: KnowledgeGraph, one: Asked) -> tuple[bool, bool, bool, float]:
    started = time.perf_counter()
    attempt = compute(kg, one.text)
    seconds = time.perf_counter() - started
    if attempt.answer is None or attempt.answer.computed is None:
        return False, False, False, seconds
    terms = [row[0].term for row in attempt.answer.computed.rows]
    names = names_of(kg, [t for t in terms if isinstance(t, URIRef)])
    return bool(names) and names[0] in one.answers, attempt.sure, {*names} == one.answers, seconds


def main() -> None:
    """Run one part."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("part", choices=("graphs", "metaqa"))
    options.add_argument("--only", action="append", choices=GRAPHS, help="graphs; repeatable")
    options.add_argument("--out", type=Path, help="file for the answers, as score.py of the data reads it")
    options.add_argument("--sample", type=int, default=300, help="questions of each of MetaQA's sets")
    args = options.parse_args()
    if args.part == "metaqa":
        metaqa(shared_data("metaqa"), args.sample)
    else:
        graphs(shared_data("structured_qa"), args.only or GRAPHS, args.out)


if __name__ == "__main__":
    main()
