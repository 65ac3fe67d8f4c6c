"""Questions over thirteen made graphs of domains that no other graph has, and more over public ones.

    python benchmarks/made_graphs.py                 # all made graphs
    python benchmarks/made_graphs.py --only isles    # the one that nothing was built for
    python benchmarks/made_graphs.py --styles        # questions in other styles over five public databases
    python benchmarks/made_graphs.py --paraphrases   # 25 as key words, politely, with a slip of spelling
    python benchmarks/made_graphs.py --wrong         # and what was wrong or refused

The graphs lie in `made/`, and beside them the questions with answers, computed in plain Python from the
data; each question was written down before the parser was worked on for it. Those of `styles/` are over the
graphs of `structured_qa` in the shared data; the failures of half of them were looked at (`mended`).
Answers are computed or refused (`how="plan"`), without a language model.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from common import shared_data
from structured_questions import line_of, loaded

from mrag.evaluation import GoldQuestion, evaluate_questions, read_questions
from mrag.evaluation.answers import Outcome, Prediction, outcome
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import Attempt, compute
from mrag.planning.results import CERTAIN

FOLDER = Path(__file__).parent
MADE = FOLDER / "made"
GRAPHS = tuple(sorted(path.stem for path in MADE.glob("*.jsonl")))


def judged(
    kg: KnowledgeGraph, questions: Sequence[GoldQuestion], *, wrong: bool
) -> list[tuple[GoldQuestion, Outcome, Prediction]]:
    """Return what came of questions, and print what was wrong or refused if that is wanted."""
    predictions = [Prediction(**p) for p in evaluate_questions(kg, questions, how="plan").predictions]
    every = [(q, outcome(q, p), p) for q, p in zip(questions, predictions, strict=True)]
    for question, come, prediction in every if wrong else ():
        if question.answerable != come.score.exact or (
            not question.answerable and prediction.answers is not None
        ):
            given = prediction.answers or prediction.guess
            print(f"- {question.text}\n    {given} {prediction.why} {prediction.confidence}")
    return every


def measure(name: str, *, wrong: bool) -> str:
    """Return a graph's line of the table, and print what was wrong or refused if that is wanted."""
    with loaded(MADE / f"{name}.ttl.gz") as kg:
        every = judged(kg, read_questions(MADE / f"{name}.jsonl"), wrong=wrong)
    certain = [o for q, o, p in every if q.answerable and (p.confidence or 0.0) >= CERTAIN]
    return line_of(name, [o for _, o, _ in every], [q.answerable for q, _, _ in every], certain)


def styles(*, wrong: bool) -> None:
    """Print a line for each half of the questions over public databases."""
    every: dict[str, list[tuple[Outcome, Prediction]]] = {"mended": [], "untouched": []}
    for path in sorted((FOLDER / "styles").glob("*.jsonl")):
        with loaded(shared_data("structured_qa") / path.stem / "graph.ttl") as kg:
            for question, come, prediction in judged(kg, read_questions(path), wrong=wrong):
                every[question.id.split("-")[1]].append((come, prediction))
    for half, outcomes in every.items():
        given = [come for come, prediction in outcomes if prediction.answers is not None]
        right = sum(come.score.exact for come in given)
        print(f"{half}: {right} of {len(outcomes)} right, {len(given)} given")


def paraphrases(*, wrong: bool) -> None:
    """Print for each way of asking how often the rows are those of the plain question."""
    lines = (FOLDER / "styles" / "paraphrases.tsv").read_text("utf-8").splitlines()
    head, *asked = (line.split("\t") for line in lines)
    counts = {way: [0] * 4 for way in head[2:]}
    for name in dict.fromkeys(one[0] for one in asked):
        with loaded(MADE / f"{name}.ttl.gz") as kg:
            for _, plain, *ways in (one for one in asked if one[0] == name):
                wanted = _found(compute(kg, plain))
                for way, text in zip(counts, ways, strict=True):
                    attempt = compute(kg, text)
                    same, given = _found(attempt) == wanted, attempt.sure and attempt.reading is not None
                    sure = attempt.reading is not None and attempt.reading.confidence >= CERTAIN
                    one = (True, given and same, given and not same, given and sure and not same)
                    counts[way] = [a + b for a, b in zip(counts[way], one, strict=True)]
                    if wrong and not (given and same):
                        print(f"- {way}: {text}\n    {attempt.why}")
    print("| way | questions | same rows | other rows | certain and others |", "|---" * 5 + "|", sep="\n")
    for way, told in counts.items():
        print(f"| {way} | {' | '.join(map(str, told))} |")


def _found(attempt: Attempt) -> frozenset[tuple[str, ...]] | None:
    """Return the rows that an attempt finds, given or not."""
    computed = None if attempt.answer is None else attempt.answer.computed
    return None if computed is None else frozenset(tuple(c.label for c in row) for row in computed.rows)


def main() -> None:
    """Print a table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--only", action="append", choices=GRAPHS)
    options.add_argument("--styles", action="store_true", help="ask over public databases in other styles")
    options.add_argument("--paraphrases", action="store_true", help="ask some of them in other ways")
    options.add_argument("--wrong", action="store_true", help="print what was wrong or refused")
    args = options.parse_args()
    if args.styles:
        styles(wrong=args.wrong)
        return
    if args.paraphrases:
        paraphrases(wrong=args.wrong)
        return
    lines = [measure(name, wrong=args.wrong) for name in args.only or GRAPHS]
    columns = "graph questions said of_these exact best F1 given certain refused".split()
    print(f"| {' | '.join(columns)} |", "|---" * len(columns) + "|", *lines, sep="\n")


if __name__ == "__main__":
    main()
