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
    from mrag.evaluation.answers.asking import Prediction, evaluate_questions
    from mrag.evaluation.answers.calibrating import AnswerCalibration, calibrate_answers
    from mrag.evaluation.answers.comparison import AnswerScore, GoldTable
    from mrag.evaluation.answers.gold import GoldQuestion, read_questions
    from mrag.evaluation.answers.report import AnswerEvaluation, CategoryScores
    from mrag.evaluation.benchmark import (
        GeneratedQuestions,
        QuestionSettings,
        generate_questions,
        sample_questions,
        write_benchmark,
    )
    from mrag.evaluation.building import Benchmark, BenchmarkSettings, build_benchmark
    from mrag.evaluation.collections import Collection, read_collection
    from mrag.evaluation.conditions import (
        Condition,
        Demand,
        EntityFacts,
        EntityShape,
        facts,
        instances,
        satisfying,
    )
    from mrag.evaluation.metrics import Measure, first_ranks, judged, per_query
    from mrag.evaluation.plot import curves_svg, intervals_svg, points_svg, tsne
    from mrag.evaluation.questions import BenchmarkQuestion, single_questions, template_questions
    from mrag.evaluation.relevance import ConditionVocabulary, by_graph, similar_questions, target_only
    from mrag.evaluation.report import BaselineComparison, Evaluation, SystemScores, evaluate
    from mrag.evaluation.running import System, index_system, ranker_system, run_system
    from mrag.evaluation.runs import (
        FirstRanks,
        Qrels,
        Run,
        Scored,
        read_qrels,
        read_ranks,
        read_run,
        write_qrels,
        write_run,
    )
    from mrag.evaluation.statistics import Interval, PairedTest, Resampling, compare, holm, interval

__all__ = [
    "AnswerCalibration", "AnswerEvaluation", "AnswerScore", "BaselineComparison", "Benchmark",
    "BenchmarkQuestion", "BenchmarkSettings", "CategoryScores", "Collection", "Condition",
    "ConditionVocabulary", "Demand", "EntityFacts", "EntityShape", "Evaluation", "FirstRanks",
    "GeneratedQuestions", "GoldQuestion", "GoldTable", "Interval", "Measure", "PairedTest", "Prediction",
    "Qrels", "QuestionSettings", "Resampling", "Run", "Scored", "System", "SystemScores", "build_benchmark",
    "by_graph", "calibrate_answers", "compare", "curves_svg", "evaluate", "evaluate_questions", "facts",
    "first_ranks", "generate_questions", "holm", "index_system", "instances", "interval", "intervals_svg",
    "judged", "per_query", "points_svg", "ranker_system", "read_collection", "read_qrels", "read_questions",
    "read_ranks", "read_run", "run_system", "sample_questions", "satisfying", "similar_questions",
    "single_questions", "target_only", "template_questions", "tsne", "write_benchmark", "write_qrels",
    "write_run",
]  # fmt: skip

__getattr__, __dir__ = lazy(__name__)
