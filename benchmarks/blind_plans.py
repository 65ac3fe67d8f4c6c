"""Plans that were written by hand for questions of blind graphs: what a plan can express at all.

`blind/plans/NAME.jsonl` has a line for each question of a graph that has an answer: `plan`, as
`mrag.planning.plan_to_json` writes it, with the `columns` that are shown where these are not all; or
`inexpressible`, with the reason. They were written by reading the question and the schema, never by asking
the parser. What the parser misses of the questions with a plan it could answer; of the others it cannot.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mrag.evaluation import GoldQuestion, read_questions
from mrag.evaluation.answers import gold_texts, table_of_cells
from mrag.evaluation.gold import score
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import replay
from mrag.stores.oxigraph import OxigraphStore

FOLDER = Path(__file__).parent / "blind"
PLANNED = tuple(sorted(path.stem for path in (FOLDER / "plans").glob("*.jsonl")))
"""The graphs for whose questions there are plans."""


@dataclass(frozen=True)
class KeptPlans:
    """How the plans of a graph's questions do."""

    questions: int  # Questions that have an answer
    plans: int  # Those with a plan
    wrong: tuple[str, ...]  # Ids of those whose plan does not give the gold answer
    inexpressible: Mapping[str, str]  # Why the others have none, by id


def tried(name: str) -> KeptPlans:
    """Return how the plans that are kept for a graph do, run as those of computed answers are.

    Args:
        name: The graph.

    Raises:
        ValueError: If a question has no line, or a line no question.
    """
    asked = {q.id: q for q in read_questions(FOLDER / f"{name}.jsonl") if q.answerable}
    text = (FOLDER / "plans" / f"{name}.jsonl").read_text(encoding="utf-8")
    kept = {line["id"]: line for line in map(json.loads, text.splitlines())}
    if kept.keys() != asked.keys():
        raise ValueError(f"Of {name} a plan or a question is missing: {sorted(kept.keys() ^ asked.keys())}")
    reasons = {id_: str(line["inexpressible"]) for id_, line in kept.items() if "plan" not in line}
    planned = [id_ for id_ in asked if id_ not in reasons]
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.load([FOLDER / f"{name}.ttl.gz"])
        wrong = tuple(id_ for id_ in planned if not _is_gold(kg, asked[id_], kept[id_]))
    return KeptPlans(len(asked), len(planned), wrong, reasons)


def _is_gold(kg: KnowledgeGraph, question: GoldQuestion, line: Mapping[str, Any]) -> bool:
    """Return whether a plan gives the gold answer, or one that counts as well."""
    columns = line.get("columns") or [column["name"] for column in line["plan"].get("columns", ())]
    given = replay(kg, {"question": question.text, "plan": line["plan"], "columns": columns})
    rows = given.computed.rows if given.computed is not None else ()
    return score(question.accepted, table_of_cells(rows, gold_texts(question))).exact


def print_plans(names: tuple[str, ...]) -> None:
    """Print a table of how the plans of graphs do, then which are wrong, and why there are no others."""
    print("| graph | questions | plans | gold | inexpressible |")
    print("|---|---|---|---|---|")
    total, notes = [0] * 4, list[str]()
    for name in names:
        found = tried(name)
        counts = [found.questions, found.plans, found.plans - len(found.wrong), len(found.inexpressible)]
        print(f"| {name} | {' | '.join(map(str, counts))} |", flush=True)
        total = [a + b for a, b in zip(total, counts, strict=True)]
        notes += [f"{id_}: its plan does not give the gold answer" for id_ in found.wrong]
        notes += [f"{id_}: {reason}" for id_, reason in found.inexpressible.items()]
    print(f"| *all* | {' | '.join(map(str, total))} |")
    print(*notes, sep="\n", end="\n" if notes else "")
