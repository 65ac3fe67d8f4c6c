"""Questions over twenty-three graphs whose authors did not know how questions are read.

    python benchmarks/blind_questions.py                  # all
    python benchmarks/blind_questions.py --only lab bank  # some
    python benchmarks/blind_questions.py --plans          # what plans by hand express, see blind_plans.py

Each graph has 40 questions with gold answers, computed in plain Python from the data that it was made of, and
six or eight that it does not answer. Their authors had a description of the kinds of questions that people
ask, and not the parser, its tests or its documentation. The graphs in `UNSEEN` show what to expect of another
graph: no failure on them was ever looked at. The failures on those in `MENDED` told what to mend.

Answers are computed or refused (`how="plan"`), without a language model.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from blind_plans import FOLDER, PLANNED, print_plans
from made_graphs import judged
from structured_questions import loaded

from mrag.evaluation import GoldQuestion, read_questions
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.results import CERTAIN

HEAD = """\
| graph | questions | exact | given | right of given | right of certain | refused |
|---|---|---|---|---|---|---|"""

UNSEEN = ("carmakers", "kennel", "helpdesk", "railways", "library")
MENDED = (
    "flights", "football", "university", "rentals", "market", "averne", "museum", "energy", "recipes",
    "orchestra", "insurance", "schools", "theatre", "lab", "brasswick", "umbral", "clinic", "bank",
)  # fmt: skip


def counted(kg: KnowledgeGraph, asked: Sequence[GoldQuestion], *, wrong: bool = False) -> list[int]:
    """Return how many questions of a graph have an answer, are exact, given, and certain, and more.

    Args:
        kg: The graph.
        asked: Its questions.
        wrong: Print what was wrong or refused.

    Returns:
        Questions with an answer; exact ones; given ones; certain ones; exact ones among these; questions
        without an answer; refused ones among these.
    """
    counts = [0] * 7
    for question, come, prediction in judged(kg, asked, wrong=wrong):
        given = prediction.answers is not None
        if not question.answerable:
            counts[5] += 1
            counts[6] += not given
            continue
        certain = given and (prediction.confidence or 0.0) >= CERTAIN
        exact = bool(come.score.exact)
        for at, holds in enumerate((True, exact, given, certain, certain and exact)):
            counts[at] += holds
    return counts


def main() -> None:
    """Print a table of the graphs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", choices=(*UNSEEN, *MENDED), default=(*UNSEEN, *MENDED))
    parser.add_argument(
        "--plans", action="store_true", help="run the plans that were written by hand for questions"
    )
    parsed = parser.parse_args()
    only = parsed.only
    if parsed.plans:
        print_plans(tuple(name for name in PLANNED if name in only))
        return
    print(HEAD)
    for title, names in (("unseen", UNSEEN), ("mended by", MENDED)):
        total = [0] * 7
        for name in (n for n in names if n in only):
            with loaded(FOLDER / f"{name}.ttl.gz") as kg:
                counts = counted(kg, read_questions(FOLDER / f"{name}.jsonl"))
            total = [a + b for a, b in zip(total, counts, strict=True)]
            print(line(name, counts), flush=True)
        if total[0]:
            print(line(f"*{title}*", total), flush=True)


def line(name: str, counts: list[int]) -> str:
    """Return a line of a table of counts."""
    asked, exact, given, certain, sure, without, refused = counts
    right = f"{exact / given:.2f}" if given else "-"
    cells = (asked, f"{exact / asked:.3f}", given, right, f"{sure} of {certain}", f"{refused} of {without}")
    return f"| {name} | {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    main()
