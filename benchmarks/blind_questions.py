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

from blind_plans import FOLDER, PLANNED, print_plans

from mrag.evaluation import evaluate_questions, read_questions
from mrag.evaluation.answers import Prediction, outcome
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.results import CERTAIN
from mrag.stores.oxigraph import OxigraphStore

UNSEEN = ("carmakers", "kennel", "helpdesk", "railways", "library")
MENDED = (
    "flights", "football", "university", "rentals", "market", "averne", "museum", "energy", "recipes",
    "orchestra", "insurance", "schools", "theatre", "lab", "brasswick", "umbral", "clinic", "bank",
)  # fmt: skip


def counted(name: str) -> list[int]:
    """Return how many questions of a graph have an answer, are exact, given, and certain, and more.

    Args:
        name: The graph.

    Returns:
        Questions with an answer; exact ones; given ones; certain ones; exact ones among these; questions
        without an answer; refused ones among these.
    """
    asked = read_questions(FOLDER / f"{name}.jsonl")
    counts = [0] * 7
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.load([FOLDER / f"{name}.ttl.gz"])
        report = evaluate_questions(kg, asked, how="plan", title=name)
        for question, line in zip(asked, report.predictions, strict=True):
            prediction = Prediction.from_json(line)
            given = prediction.answers is not None
            if not question.answerable:
                counts[5] += 1
                counts[6] += not given
                continue
            exact = bool(outcome(question, prediction).score.exact)
            certain = given and (prediction.confidence or 0.0) >= CERTAIN
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
    print("| graph | questions | exact | given | right of given | right of certain | refused |")
    print("|---|---|---|---|---|---|---|")
    for title, names in (("unseen", UNSEEN), ("mended by", MENDED)):
        total = [0] * 7
        for name in (n for n in names if n in only):
            counts = counted(name)
            total = [a + b for a, b in zip(total, counts, strict=True)]
            print(_line(name, counts), flush=True)
        if total[0]:
            print(_line(f"*{title}*", total), flush=True)


def _line(name: str, counts: list[int]) -> str:
    asked, exact, given, certain, sure, without, refused = counts
    right = f"{exact / given:.2f}" if given else "-"
    cells = (asked, f"{exact / asked:.3f}", given, right, f"{sure} of {certain}", f"{refused} of {without}")
    return f"| {name} | {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    main()
