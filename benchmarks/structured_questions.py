"""Questions that have to be computed, over seven graphs made of relational data, and over MetaQA's films.

    python benchmarks/structured_questions.py graphs              # all seven, and questions without an answer
    python benchmarks/structured_questions.py graphs --only atis  # one of them
    python benchmarks/structured_questions.py metaqa --sample 300 # 1, 2 and 3 hops, nothing learned from them
    python benchmarks/structured_questions.py models --model local:coder.gguf --sample 60  # and a model,
                                                  # beside the model alone

Only `models` uses a language model. Answers are computed or refused (`how="plan"`); what is certain enough to
be given counts for `exact`, and the likeliest reading, certain or not, for `best reading`.

What a plan can express is told by the gold SQL, roughly: not ranks and earlier rows (window functions), text
that is put together, times of day as text, quarters as dates, and words that only instructions define.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, cast

from common import percentile, row, shared_data
from langchain_core.messages import HumanMessage, SystemMessage
from metaqa import Asked, names_of
from metaqa import load as load_metaqa
from metaqa import questions as metaqa_questions
from rdflib import URIRef

from mrag.context.display import Display
from mrag.errors import MragError
from mrag.evaluation import GoldQuestion, Interval, evaluate_questions, read_questions
from mrag.evaluation.answers import Outcome, Prediction, outcome, predict, summarised
from mrag.generation.models import bounded, invoke, resolve
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import compute
from mrag.planning.lexicon import lexicon_of
from mrag.planning.neural.writer import card_for
from mrag.planning.results import CERTAIN
from mrag.stores.base import Limits, SelectResult
from mrag.stores.oxigraph import OxigraphStore

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from mrag.planning.neural.choosing import Planner

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
            told = Prediction.from_json(line)
            every.append((name, question, outcome(question, told), told, can.get(question.id, False)))
    if out is not None:
        out.write_text("".join(json.dumps(told.to_json()) + "\n" for *_, told, _ in every), encoding="utf-8")
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
    print(summarised([o for _, _, o, _, _ in every], title="All graphs, by category", how="plan"))
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
    found = summarised(outcomes, title=name, how="plan")
    within = [o for o, sayable in zip(outcomes, can, strict=True) if sayable]
    of_these = summarised(within, title=name, how="plan").overall if within else None
    every = found.overall
    assert every is not None
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


WAYS = ("parser", "judge", "writer", "model alone")
"""The parser alone, and with a model as a judge and as a writer; the model alone, with a part of the schema
in its prompt and no mask."""


def models(
    folder: Path,
    only: Sequence[str],
    name: str,
    sample: int,
    seed: int,
    out: Path | None,
    ways: Sequence[str] = WAYS,
) -> None:
    """Print what a language model adds, as a judge and as a writer, and what it does on its own.

    Answers in the file `out` are not asked for again.
    """
    model = resolve(name)
    assert model is not None
    every = [(g, q) for g in only for q in read_questions(folder / g / "questions.jsonl")]
    idle = [(g, q) for g in only for q in read_questions(folder / "unanswerable.jsonl") if f"-{g}-" in q.id]
    asked = random.Random(seed).sample(every, min(sample, len(every)))
    asked += random.Random(seed).sample(idle, min(sample // 4, len(idle)))
    done: dict[tuple[str, str], Prediction] = {}
    for line in out.read_text(encoding="utf-8").splitlines() if out is not None and out.exists() else ():
        kept = json.loads(line)
        way = kept.pop("planner")
        done[way, kept["id"]] = Prediction.from_json(kept)
    found: dict[str, list[tuple[GoldQuestion, Prediction]]] = {}
    for graph in only:
        questions = [q for g, q in asked if g == graph]
        with loaded(folder / graph / "graph.ttl") as kg:
            # One after the other, so that a server keeps the beginning of the prompt.
            for way in ways:
                for question in questions:
                    told = done.get((way, question.id))
                    if told is None and way == "model alone":
                        told = model_alone(kg, model, question)
                    elif told is None:
                        told = predict(kg, question, how="plan", model=model, planner=cast("Planner", way))
                    found.setdefault(way, []).append((question, told))
                    if out is not None and (way, question.id) not in done:
                        with out.open("a", encoding="utf-8") as file:
                            file.write(json.dumps({"planner": way, **told.to_json()}) + "\n")
    print("| planner | questions | exact | F1 | sure | refused | seconds, p50 | seconds, mean |")
    print("|---|---|---|---|---|---|---|---|")
    for way, told_ in found.items():
        of = summarised([outcome(q, told) for q, told in told_], title=way, how="plan")
        seconds = [told.seconds for _, told in told_]
        assert of.overall is not None
        cells = [
            way, str(of.overall.exact.queries), shown(of.overall.exact), shown(of.overall.f1),
            "" if of.sure is None else f"{shown(of.sure)} of {of.sure.queries}",
            f"{shown(of.refused[''])} of {of.refused[''].queries}" if "" in of.refused else "",
            f"{percentile(seconds, 50):.1f}", f"{sum(seconds) / len(seconds):.1f}",
        ]  # fmt: skip
        print(f"| {' | '.join(cells)} |")


_ALONE = """\
Write one SPARQL query that answers the question over this graph. Use only its classes and properties.
Answer with the query alone.

PREFIX : <http://example.org/films/>
:Film ( :title text, :year number, :genre text, :director :Person, :rating number )
:Person ( :name text, :country text, :birthDate date )

Question: How many films were made in each year?
SELECT ?year (COUNT(?film) AS ?n) WHERE { ?film a :Film ; :year ?year } GROUP BY ?year
Question: Which director made the most films after 1990?
SELECT ?name WHERE { ?film :year ?y ; :director ?p . ?p :name ?name FILTER(?y > 1990) } GROUP BY ?name \
ORDER BY DESC(COUNT(?film)) LIMIT 1
Question: What is the average rating of French comedies?
SELECT (AVG(?r) AS ?rating) WHERE { ?f :genre "comedy" ; :rating ?r ; :director ?p . ?p :country "France" }
Question: Which directors have no film?
SELECT ?name WHERE { ?p a :Person ; :name ?name FILTER NOT EXISTS { ?film :director ?p } }"""
"""The system message of a model that writes SPARQL: examples like those of the writer."""


def model_alone(kg: KnowledgeGraph, model: BaseChatModel, question: GoldQuestion) -> Prediction:
    """Let a model write SPARQL with the same part of the schema in its prompt, and run what it writes."""
    card = card_for(lexicon_of(kg), question.text)
    space = re.sub(r"[^/#]*$", "", card.tables[0].iri)
    rows = [
        f":{t.iri.removeprefix(space)} ( "
        + ", ".join(
            f":{c.property.removeprefix(space)} {f':{c.target.removeprefix(space)}' if c.target else c.kind}"
            + (f" {[text for text, _ in c.values]}" if c.listed else "")
            for c in t.columns
            if c.property and not c.is_class
        )
        + " )"
        + "".join(
            f"; also {', '.join(':' + iri.removeprefix(space) for _, iri in c.values)}"
            for c in t.columns
            if c.is_class
        )
        for t in card.tables
    ]
    head = f"PREFIX : <{space}>\nPREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>"
    prompt = f"{head}\n" + "\n".join(rows) + f"\nNames in the question:\n{card.named()}\n\n"
    started = time.perf_counter()
    text = invoke(
        bounded(model, 160), [SystemMessage(_ALONE), HumanMessage(f"{prompt}Question: {question.text}")]
    )
    query = re.sub(r"(?im)^\s*prefix .*$", "", re.sub(r"```\w*", "", text)).strip()
    table, why = None, query
    try:
        result = kg.query(
            f"{head}\nPREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n{query}", limits=Limits(10.0, 5_000)
        )
        if isinstance(result, SelectResult):
            display = Display(kg)
            table = tuple(
                tuple(
                    None if v is None else display.entity(str(v)) if isinstance(v, URIRef) else str(v)
                    for v in line
                )
                for line in result
            )
    except MragError as error:
        why = f"{query}\n{error.message}"
    seconds = time.perf_counter() - started
    return Prediction(question.id, table or None, "sparql", "", not table, 1.0, why, seconds)


def main() -> None:
    """Run one part."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("part", choices=("graphs", "metaqa", "models"))
    options.add_argument("--only", action="append", choices=GRAPHS, help="graphs; repeatable")
    options.add_argument("--out", type=Path, help="file for the answers, as score.py of the data reads it")
    options.add_argument(
        "--sample", type=int, default=300, help="questions of each of MetaQA's sets, or of all"
    )
    options.add_argument("--model", default="auto", help="of `models`, as mrag ask takes it")
    options.add_argument("--way", action="append", choices=WAYS, help="of `models`; repeatable")
    options.add_argument("--seed", type=int, default=0, help="of the sample of `models`")
    args = options.parse_args()
    if args.part == "metaqa":
        metaqa(shared_data("metaqa"), args.sample)
    elif args.part == "models":
        folder = shared_data("structured_qa")
        models(folder, args.only or GRAPHS, args.model, args.sample, args.seed, args.out, args.way or WAYS)
    else:
        graphs(shared_data("structured_qa"), args.only or GRAPHS, args.out)


if __name__ == "__main__":
    main()
