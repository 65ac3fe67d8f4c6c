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
    from mrag.evaluation.plot import intervals_svg, points_svg, tsne
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
    "AnswerEvaluation",
    "AnswerScore",
    "BaselineComparison",
    "Benchmark",
    "BenchmarkQuestion",
    "BenchmarkSettings",
    "CategoryScores",
    "Collection",
    "Condition",
    "ConditionVocabulary",
    "Demand",
    "EntityFacts",
    "EntityShape",
    "Evaluation",
    "FirstRanks",
    "GeneratedQuestions",
    "GoldQuestion",
    "GoldTable",
    "Interval",
    "Measure",
    "PairedTest",
    "Prediction",
    "Qrels",
    "QuestionSettings",
    "Resampling",
    "Run",
    "Scored",
    "System",
    "SystemScores",
    "build_benchmark",
    "by_graph",
    "compare",
    "evaluate",
    "evaluate_questions",
    "facts",
    "first_ranks",
    "generate_questions",
    "holm",
    "index_system",
    "instances",
    "interval",
    "intervals_svg",
    "judged",
    "per_query",
    "points_svg",
    "ranker_system",
    "read_collection",
    "read_qrels",
    "read_questions",
    "read_ranks",
    "read_run",
    "run_system",
    "sample_questions",
    "satisfying",
    "similar_questions",
    "single_questions",
    "target_only",
    "template_questions",
    "tsne",
    "write_benchmark",
    "write_qrels",
    "write_run",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "AnswerEvaluation": "answers.report",
        "AnswerScore": "answers.comparison",
        "BaselineComparison": "report",
        "Benchmark": "building",
        "BenchmarkQuestion": "questions",
        "BenchmarkSettings": "building",
        "CategoryScores": "answers.report",
        "Collection": "collections",
        "Condition": "conditions",
        "ConditionVocabulary": "relevance",
        "Demand": "conditions",
        "EntityFacts": "conditions",
        "EntityShape": "conditions",
        "Evaluation": "report",
        "FirstRanks": "runs",
        "GeneratedQuestions": "benchmark",
        "GoldQuestion": "answers.gold",
        "GoldTable": "answers.comparison",
        "Interval": "statistics",
        "Measure": "metrics",
        "PairedTest": "statistics",
        "Prediction": "answers.asking",
        "Qrels": "runs",
        "QuestionSettings": "benchmark",
        "Resampling": "statistics",
        "Run": "runs",
        "Scored": "runs",
        "System": "running",
        "SystemScores": "report",
        "build_benchmark": "building",
        "by_graph": "relevance",
        "compare": "statistics",
        "evaluate": "report",
        "evaluate_questions": "answers.asking",
        "facts": "conditions",
        "first_ranks": "metrics",
        "generate_questions": "benchmark",
        "holm": "statistics",
        "index_system": "running",
        "instances": "conditions",
        "interval": "statistics",
        "intervals_svg": "plot",
        "judged": "metrics",
        "per_query": "metrics",
        "points_svg": "plot",
        "ranker_system": "running",
        "read_collection": "collections",
        "read_qrels": "runs",
        "read_questions": "answers.gold",
        "read_ranks": "runs",
        "read_run": "runs",
        "run_system": "running",
        "sample_questions": "benchmark",
        "satisfying": "conditions",
        "similar_questions": "relevance",
        "single_questions": "questions",
        "target_only": "relevance",
        "template_questions": "questions",
        "tsne": "plot",
        "write_benchmark": "benchmark",
        "write_qrels": "runs",
        "write_run": "runs",
    },
)
