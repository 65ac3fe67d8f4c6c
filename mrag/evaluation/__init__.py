"""How well rankers find and answers fit: known answers, runs, measures, intervals, tests and reports.

Example:
    >>> from mrag.evaluation import Run, evaluate
    >>> runs = [Run.of_order("a", {"1": ["x", "y"]}), Run.of_order("b", {"1": ["y", "x"]})]
    >>> [(s.name, s.means["MRR"].mean) for s in evaluate(runs, {"1": {"y": 1}}, ["MRR"]).systems]
    [('a', 0.5), ('b', 1.0)]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mrag._lazy import lazy

if TYPE_CHECKING:
    from mrag.evaluation import benchmark, metrics, questions  # noqa: F401 - for `mrag.evaluation.…`
    from mrag.evaluation.answers import AnswerEvaluation, Prediction, evaluate_questions
    from mrag.evaluation.benchmark import (
        Benchmark,
        BenchmarkSettings,
        System,
        build_benchmark,
        index_system,
        ranker_system,
        run_system,
    )
    from mrag.evaluation.gold import AnswerScore, GoldQuestion, read_questions
    from mrag.evaluation.metrics import (
        Evaluation,
        Interval,
        Measure,
        PairedTest,
        Qrels,
        Resampling,
        Run,
        Scored,
        compare,
        evaluate,
        interval,
        judged_queries,
        per_query,
        read_qrels,
        read_run,
        write_qrels,
        write_run,
    )
    from mrag.evaluation.questions import (
        Collection,
        EntityShape,
        by_graph,
        instances,
        read_collection,
        template_questions,
    )

__all__ = [
    "AnswerEvaluation", "AnswerScore", "Benchmark", "BenchmarkSettings", "Collection",
    "EntityShape", "Evaluation", "GoldQuestion", "Interval", "Measure", "PairedTest", "Prediction", "Qrels",
    "Resampling", "Run", "Scored", "System", "build_benchmark", "by_graph", "compare",
    "evaluate", "evaluate_questions", "index_system", "instances", "interval", "judged_queries", "per_query",
    "ranker_system", "read_collection", "read_qrels", "read_questions", "read_run", "run_system",
    "template_questions", "write_qrels", "write_run",
]  # fmt: skip

__getattr__, __dir__ = lazy(__name__)
