"""The reader of questions by roles: trained on solved questions, and measured on graphs that it has not seen.

    python benchmarks/reader.py train --out weights.json       # on relational, blind, made and tests' graphs
    python benchmarks/reader.py measure --weights weights.json # on graphs that are never trained on

Training reads its questions in all their wordings, learns which readings give the gold rows, and reads them
again with what it has learnt, three times in all: some twenty minutes on two cores. A question is right
if its likeliest reading that finds anything gives the gold rows.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from blind_questions import FOLDER, MENDED, UNSEEN
from common import percentile, shared_data

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mrag.context.display import Display
from mrag.errors import MragError
from mrag.evaluation import GoldQuestion
from mrag.evaluation.answers import gold_texts, table_of_cells
from mrag.evaluation.gold import score
from mrag.generation.result import AnswerCell
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.lexicon import lexicon_of
from mrag.planning.reader.outcome import QuestionDerivation
from mrag.planning.reader.reader import RoleReader, priors
from mrag.planning.reader.roles import Labelled
from mrag.planning.reader.training import JudgedReading, fit
from mrag.planning.readings import Reading
from mrag.planning.results import rows_of
from mrag.planning.run import run
from mrag.planning.scopes import with_subclasses
from mrag.stores.base import Limits
from mrag.stores.oxigraph import OxigraphStore
from tests.planning.questions import GRAPHS, agree, loaded, questions_of

MOST = 25  # readings of a question that are looked at
APART = frozenset(
    f"{name}.ttl.gz"
    for name in (
        "coastal-institute-memberships", "fields_of_study", "halvard-publications", "honeybee_anatomy",
        "northwick-sales-db", "tabletop-games", "wetland-occurrences",
    )
)  # fmt: skip
"""Graphs of `kinds/` that are not trained on."""
ROUNDS = 3  # how many times the questions are read to learn from them
Read = tuple[list[JudgedReading], bool, float]
"""Readings, whether the question is right, and milliseconds of processor."""
Rows = Sequence[tuple[AnswerCell, ...]]
Asked = tuple[str, Callable[[Rows], bool]]  # A question, and whether rows answer it


def graphs(part: str) -> list[tuple[Path, Path]]:
    """Return the graphs of a part with their questions."""
    relational = sorted(path.parent for path in shared_data("relational_qa").glob("*/graph.ttl"))
    chosen = relational[:-30] if part == "train" else relational[-30:] if part == "relational" else []
    names = {"train": MENDED, "blind": UNSEEN}.get(part, ())
    made = sorted((FOLDER.parent / "made").glob("*.ttl.gz")) if part == "train" else []
    kinds = sorted((FOLDER.parent / "kinds").glob("*.ttl.gz"))
    if part in ("train", "kinds"):
        made += [path for path in kinds if (path.name in APART) == (part == "kinds")]
    ours = [*(FOLDER / f"{name}.ttl.gz" for name in names), *made]
    found = [(path, path.with_name(path.name.replace(".ttl.gz", ".jsonl"))) for path in ours]
    small = sorted(GRAPHS.glob("*.tsv")) if part == "train" else []
    return [
        *((f / "graph.ttl", f / "questions.jsonl") for f in chosen), *found,
        *((path.with_suffix(".ttl"), path) for path in small),
    ]  # fmt: skip


def asked(path: Path, *, wordings: bool) -> Iterator[Asked]:
    """Yield the questions of a file that have an answer, in further wordings as well if these are wanted."""
    if path.suffix == ".tsv":
        for one in questions_of(path.stem):
            if one.rows[0] not in ("refused", "nothing"):
                yield one.question, lambda rows, gold=one.rows: agree(_cells(rows), gold)  # type: ignore[misc]
        return
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        for text in [row["question"], *(row.get("wordings", ()) if wordings else ())]:
            question = GoldQuestion.of({**row, "question": text})
            if question.answerable:
                yield text, partial(_is_gold, question)


def _cells(rows: Rows) -> list[list[str]]:
    return [[cell.label for cell in row] for row in rows]


def _is_gold(question: GoldQuestion, rows: Rows) -> bool:
    return bool(score(question.accepted, table_of_cells(rows, gold_texts(question))).exact)


def read(paths: tuple[Path, Path], weights: Mapping[str, float], *, wordings: bool = False) -> list[Read]:
    """Read the questions of a graph, and judge their readings."""
    with loaded(paths[0].stem) if paths[1].suffix == ".tsv" else KnowledgeGraph(OxigraphStore()) as kg:
        if paths[1].suffix != ".tsv":
            kg.load([paths[0]])
        reader, found = RoleReader(lexicon_of(kg), weights), list[Read]()
        for question, answers in asked(paths[1], wordings=wordings):
            failed: list[Labelled] = []
            began = time.process_time()
            derivations = reader.derivations(question, MOST, failed)
            took = (time.process_time() - began) * 1000
            judged = list(_judged(kg, answers, derivations))
            best = next((j.right for j, finds in judged if finds), False)
            readings = [*(j for j, _ in judged), *(JudgedReading(f.features, False) for f in failed[:12])]
            found.append((readings, best, took))
        return found


def _judged(
    kg: KnowledgeGraph, answers: Callable[[Rows], bool], some: Sequence[QuestionDerivation]
) -> Iterator[tuple[JudgedReading, bool]]:
    """Yield readings with whether they give the gold rows, and whether they find anything."""
    display, schema = Display(kg), lexicon_of(kg).schema
    for one in some:
        plan, right, finds = with_subclasses(one.draft.plan, schema), False, False
        try:
            result = run(kg, plan, schema=schema, limits=Limits(3.0, 5_000, 8 << 20))
            rows = rows_of(display, Reading(plan, one.draft.shown, 1.0, (), {}), result)
            right = answers(rows)
            finds = bool(rows) and any(cell.label not in ("", "0") for row in rows for cell in row)
        except MragError:
            pass  # what the engine refuses is no answer
        yield JudgedReading(one.features, right), finds


def main() -> None:
    """Train or measure."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("part", choices=("train", "measure"))
    options.add_argument("--weights", type=Path, help="weights to measure or to begin with")
    options.add_argument("--out", type=Path, default=Path("weights.json"))
    args = options.parse_args()
    weights = priors() if args.weights is None else json.loads(args.weights.read_text("utf-8"))["weights"]
    training = args.part == "train"
    with ProcessPoolExecutor() as pool:
        kept: list[list[JudgedReading]] = []
        for part in ["train"] * ROUNDS if training else ("relational", "blind", "kinds"):
            reads = pool.map(partial(read, weights=weights, wordings=training), graphs(part))
            every = [one for some in reads for one in some]
            right, took = sum(one[1] for one in every) / len(every), [one[2] for one in every]
            print(
                f"{part}: {len(every)} questions, {right:.3f} right, p50 {percentile(took, 50):.0f} ms",
                flush=True,
            )
            if training:
                kept += [judged for judged, *_ in every]
                weights = fit(kept)
                args.out.write_text(json.dumps(made(weights), ensure_ascii=False, indent=0) + "\n", "utf-8")


def made(weights: Mapping[str, float]) -> dict[str, object]:
    """Return weights as they ship, with the digest of what they were learnt from."""
    digest = hashlib.blake2b(digest_size=16)
    for paths in graphs("train"):
        for path in filter(Path.exists, paths):  # the demo is no file of its own
            digest.update(path.read_bytes())
    return {"made": "python benchmarks/reader.py train", "data": digest.hexdigest(), "weights": weights}


if __name__ == "__main__":
    main()
