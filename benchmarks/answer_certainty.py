"""How certain computed answers are, those of each maker judged by weights that were fitted to the others.

    python benchmarks/answer_certainty.py --kept FOLDER          # measure what FOLDER lacks, and print
    python benchmarks/answer_certainty.py --kept FOLDER --write  # and replace what ships

The weights are fitted to graphs that told nobody what to mend: thirty relational databases, `structured`,
seven graphs of `kinds`, the five graphs of `blind_questions.py` on which no failure was ever looked at, and
the ten public graphs for choosing. Each of these five counts by the root of its answers, so that one with
many graphs does not decide alone. Thirty other databases, and makers whose failures were mended, fit nothing:
they tell what the certainties are worth. Each of the five is told by weights that were fitted without it.

Questions, and which of their wordings is asked, are drawn by the name of their graph, so that every run asks
the same. What was measured of a graph is kept in FOLDER; a folder that is empty takes some ten minutes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from blind_plans import FOLDER as BLIND
from blind_questions import MENDED, UNSEEN
from common import shared_data
from made_graphs import GRAPHS as MADE_GRAPHS
from made_graphs import MADE
from metaqa import load as load_metaqa
from metaqa import questions as metaqa_questions
from public_graphs import FOLDER as PUBLIC
from public_graphs import HALVES, opened
from reader import APART
from solved_readings import SolvedReading, fit, solved_readings
from structured_questions import GRAPHS, loaded

import mrag.planning
from mrag.evaluation import GoldQuestion, read_questions

FITTED_TO = ("relational", "unseen", "public", "kinds", "structured")  # Makers whose graphs fit no weights
OTHERS = "other databases"  # Graphs of the first of them that fit nothing
DATABASES = 30  # How many of its graphs fit, and how many do not
ASKED = {
    "relational": 20, OTHERS: 20, "unseen": 60, "mended": 25, "structured": 40, "made": 15, "films": 30,
    "public": 30, "kinds": 50,
}  # fmt: skip
"""Questions of a graph at most; of films, of each number of steps."""
BUCKETS = ((0.0, 0.5), (0.5, 0.6), (0.6, 0.7), (0.7, 0.8), (0.8, 0.9), (0.9, 1.01))
FOLDERS = {"made": MADE, "kinds": MADE.with_name("kinds")}
IDLE = 3  # Questions that a graph does not answer, beside them


def sources(mirror: Path | None) -> Iterator[tuple[str, str]]:
    """Yield each graph: where it comes from, and its name."""
    for path in sorted(PUBLIC.glob("*.json")) if mirror is not None else ():
        if json.loads(path.read_text(encoding="utf-8"))["half"] == HALVES[0]:
            yield "public", path.stem
    # The reader by roles has learnt from the databases before these.
    names = sorted(path.parent.name for path in shared_data("relational_qa").glob("*/graph.ttl"))
    yield from (("relational", name) for name in names[-2 * DATABASES : -DATABASES])
    yield from ((OTHERS, name) for name in names[-DATABASES:])
    yield from (("unseen", name) for name in UNSEEN)
    yield from (("mended", name) for name in MENDED)
    yield from (("structured", name) for name in GRAPHS)
    yield from (("made", name) for name in MADE_GRAPHS)
    yield from (("kinds", name.removesuffix(".ttl.gz")) for name in sorted(APART))
    yield "films", "metaqa"


def asked_of(kind: str, name: str) -> list[GoldQuestion]:
    """Return the questions over a graph, of which those that are drawn by its name are asked."""
    if kind in ("mended", "unseen", "public"):
        return read_questions((PUBLIC if kind == "public" else BLIND) / f"{name}.jsonl")
    if kind in FOLDERS:
        return read_questions(FOLDERS[kind] / f"{name}.jsonl")
    if kind == "films":
        return [one for hops in (1, 2, 3) for one in _films(hops)]
    folder = _folder(kind)
    lines = (folder / name / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    drawn, asked = random.Random(name), list[GoldQuestion]()
    for line in lines:
        row = json.loads(line)
        text = drawn.choice([row["question"], *row.get("wordings", ())])
        asked.append(GoldQuestion.of({**row, "question": text}))
    return asked


def _folder(kind: str) -> Path:
    return shared_data("structured_qa" if kind == "structured" else "relational_qa")


def _films(hops: int) -> list[GoldQuestion]:
    every = metaqa_questions(shared_data("metaqa") / f"dev_{hops}hop.jsonl")
    return [
        GoldQuestion.of({"question": q.text, "answers": [[answer] for answer in sorted(q.answers)]})
        for q in every[:: len(every) // ASKED["films"]][: ASKED["films"]]
    ]


def _idle(kind: str, name: str) -> list[GoldQuestion]:
    """Return questions that a graph does not answer."""
    if kind not in ("relational", OTHERS, "structured"):
        return []
    path = _folder(kind) / "unanswerable.jsonl"
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [GoldQuestion.of(row) for row in rows if row["db"] == name][:IDLE]


def measured(kept: Path, mirror: Path | None, source: tuple[str, str]) -> tuple[str, str]:
    """Measure the readings of the questions over a graph, and keep them."""
    kind, name = source
    out = kept / f"{kind}.{name}.json"
    if out.exists():
        return source
    every = asked_of(kind, name)
    drawn = every if kind == "films" else random.Random(name).sample(every, min(ASKED[kind], len(every)))
    if kind == "films":
        with load_metaqa(shared_data("metaqa")) as kg:
            solved = solved_readings(kg, drawn, kind)
    elif kind == "public" and mirror is not None:
        with opened(mirror, json.loads((PUBLIC / f"{name}.json").read_text(encoding="utf-8"))) as kg:
            solved = solved_readings(kg, drawn, kind)
    else:
        path = _folder(kind) / name / "graph.ttl"
        if kind in ("mended", "unseen"):
            path = BLIND / f"{name}.ttl.gz"
        elif kind in FOLDERS:
            path = FOLDERS[kind] / f"{name}.ttl.gz"
        with loaded(path) as kg:
            solved = solved_readings(kg, [*drawn, *_idle(kind, name)], kind)
    out.write_text(json.dumps([asdict(one) for one in solved]), encoding="utf-8")
    return source


def tell(title: str, certainties: Sequence[float], right: Sequence[bool]) -> None:
    """Print how many answers of which certainty are right, and how far off the certainties are."""
    between = [(low, [n for n, p in enumerate(certainties) if low <= p < high]) for low, high in BUCKETS]
    sums = [(low, len(at), sum(right[n] for n in at), sum(certainties[n] for n in at)) for low, at in between]
    off = sum(abs(true - expected) for *_, true, expected in sums) / len(right)
    print(f"{title}: {sum(right) / len(right):.3f} of {len(right)} right, expected error {off:.3f}")
    for low, size, true, expected in reversed(sums):
        if size:
            print(f"| from {low:.1f} | {size} | {true / size:.3f} | {expected / size:.3f} |")


def main() -> None:
    """Measure, fit, print, and write if that is wanted."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--kept", type=Path, required=True, help="folder of what was measured")
    options.add_argument(
        "--mirror", type=Path, help="clones of public graphs, as `public_graphs.py` takes them"
    )
    options.add_argument("--write", action="store_true", help="replace what ships")
    options.add_argument("--jobs", type=int, default=2, help="processes")
    args = options.parse_args()
    args.kept.mkdir(parents=True, exist_ok=True)
    solved: dict[str, list[SolvedReading]] = {}
    digest = hashlib.blake2b(digest_size=16)
    with ProcessPoolExecutor(args.jobs, get_context("spawn")) as pool:
        for kind, name in pool.map(partial(measured, args.kept, args.mirror), sources(args.mirror)):
            text = (args.kept / f"{kind}.{name}.json").read_text(encoding="utf-8")
            found = [SolvedReading(**row) for row in json.loads(text)]
            solved.setdefault(kind, []).extend(found)
            if kind in FITTED_TO:
                digest.update(text.encode())
    every = [one for kind in FITTED_TO for one in solved[kind]]
    model = fit(every)
    print(json.dumps(model.to_json()))
    certainties: dict[str, list[float]] = {}
    for kind in solved:
        by = fit([one for one in every if one.group != kind]) if kind in FITTED_TO else model
        solved[kind] = [one for one in solved[kind] if one.given]
        certainties[kind] = [by.of(one.features) for one in solved[kind]]
        tell(kind, certainties[kind], [one.right for one in solved[kind]])
    unseen = [kind for kind in solved if kind != FITTED_TO[0]]
    tell(
        "All that did not fit the weights",
        [p for kind in unseen for p in certainties[kind]],
        [one.right for kind in unseen for one in solved[kind]],
    )
    if args.write:
        value: dict[str, Any] = {
            "made": "python benchmarks/answer_certainty.py --kept FOLDER --write",
            "data": digest.hexdigest(),
            **model.to_json(),
        }
        shipped = Path(mrag.planning.__path__[0]) / "certainty.json"
        shipped.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
