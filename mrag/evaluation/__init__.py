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
    from mrag.evaluation.answers import (
        AnswerCalibration,
        AnswerEvaluation,
        CategoryScores,
        Prediction,
        calibrate_answers,
        evaluate_questions,
    )
    from mrag.evaluation.benchmark import (
        Benchmark,
        BenchmarkSettings,
        GeneratedQuestions,
        QuestionSettings,
        System,
        build_benchmark,
        generate_questions,
        index_system,
        ranker_system,
        run_system,
        sample_questions,
        write_benchmark,
    )
    from mrag.evaluation.gold import AnswerScore, GoldQuestion, GoldTable, read_questions
    from mrag.evaluation.metrics import (
        FirstRanks,
        Interval,
        Measure,
        PairedTest,
        Qrels,
        Resampling,
        Run,
        Scored,
        compare,
        first_ranks,
        holm,
        interval,
        judged,
        per_query,
        read_qrels,
        read_ranks,
        read_run,
        write_qrels,
        write_run,
    )
    from mrag.evaluation.questions import (
        BenchmarkQuestion,
        Collection,
        Condition,
        ConditionVocabulary,
        Demand,
        EntityFacts,
        EntityShape,
        by_graph,
        facts,
        instances,
        read_collection,
        satisfying,
        similar_questions,
        single_questions,
        target_only,
        template_questions,
    )
    from mrag.evaluation.report import (
        BaselineComparison,
        Evaluation,
        SystemScores,
        evaluate,
        intervals_svg,
        points_svg,
        tsne,
    )

__all__ = [
    "AnswerCalibration", "AnswerEvaluation", "AnswerScore", "BaselineComparison", "Benchmark",
    "BenchmarkQuestion", "BenchmarkSettings", "CategoryScores", "Collection", "Condition",
    "ConditionVocabulary", "Demand", "EntityFacts", "EntityShape", "Evaluation", "FirstRanks",
    "GeneratedQuestions", "GoldQuestion", "GoldTable", "Interval", "Measure", "PairedTest", "Prediction",
    "Qrels", "QuestionSettings", "Resampling", "Run", "Scored", "System", "SystemScores", "build_benchmark",
    "by_graph", "calibrate_answers", "compare", "evaluate", "evaluate_questions", "facts",
    "first_ranks", "generate_questions", "holm", "index_system", "instances", "interval", "intervals_svg",
    "judged", "per_query", "points_svg", "ranker_system", "read_collection", "read_qrels", "read_questions",
    "read_ranks", "read_run", "run_system", "sample_questions", "satisfying", "similar_questions",
    "single_questions", "target_only", "template_questions", "tsne", "write_benchmark", "write_qrels",
    "write_run",
]  # fmt: skip

__getattr__, __dir__ = lazy(__name__)
