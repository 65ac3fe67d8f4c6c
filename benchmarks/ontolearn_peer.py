"""A learner of Ontolearn on problems, in a Python environment of its own; run by `cel.py --ontolearn PYTHON`.

python benchmarks/ontolearn_peer.py GRAPH --learner TDL [--seconds 600] < PROBLEMS.json > ROWS.jsonl

The environment is made by `python -m venv FOLDER && FOLDER/bin/pip install torch ontolearn owlready2`.
Nothing of mrag is imported here. PROBLEMS is an object of title to positive and negative examples; a row has
what was found in Manchester syntax with whole IRIs, and the seconds of processor of the fit.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from ontolearn.knowledge_base import KnowledgeBase
from ontolearn.learners import CELOE, TDL, EvoLearner
from ontolearn.learning_problem import PosNegLPStandard
from owlapy.owl_individual import OWLNamedIndividual
from owlapy.render import ManchesterOWLSyntaxOWLObjectRenderer

WRITER = ManchesterOWLSyntaxOWLObjectRenderer(lambda named: f"<{named.str}>", no_render_thing=True)


def made(name: str, kb: KnowledgeBase, seconds: float) -> Any:
    """Make a learner with a time limit."""
    if name == "TDL":
        return TDL(
            knowledge_base=kb, use_inverse=False, use_card_restrictions=False, report_classification=False,
            kwargs_classifier={"random_state": 1}, verbose=0, max_runtime=seconds,
        )  # fmt: skip
    if name == "CELOE":
        most = 10**9
        return CELOE(knowledge_base=kb, max_runtime=seconds, max_num_of_concepts_tested=most, iter_bound=most)
    return EvoLearner(knowledge_base=kb, max_runtime=seconds)


def learnt(model: Any, sides: list[list[str]]) -> tuple[str, float]:
    """Fit, and return the best expression and the seconds; an empty text where nothing was found in time."""
    positives, negatives = ({OWLNamedIndividual(x) for x in side} for side in sides)
    started = time.process_time()
    try:
        model.fit(PosNegLPStandard(pos=positives, neg=negatives))
        best = model.best_hypotheses(n=1)
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return "", time.process_time() - started
    took = time.process_time() - started
    best = best[0] if isinstance(best, list | tuple) else best
    return WRITER.render(getattr(best, "concept", best)), took


def main() -> None:
    """Print a row for each problem."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("graph", type=Path)
    options.add_argument("--learner", choices=("TDL", "CELOE", "EvoLearner"), default="TDL")
    options.add_argument("--seconds", type=float, default=600)
    args = options.parse_args()
    rows = []
    with redirect_stdout(sys.stderr):
        kb = KnowledgeBase(path=str(args.graph))
        for title, sides in json.load(sys.stdin).items():
            concept, took = learnt(made(args.learner, kb, args.seconds), sides)
            rows.append({"problem": title, "concept": concept, "seconds": took})
    for row in rows:
        print(json.dumps(row))


if __name__ == "__main__":
    main()
