"""Class expression learning: learn the concept that examples share, check it in the store, explain it.

Example:
    >>> import mrag.cel as cel
    >>> cat = cel.from_manchester("ex:Cat and (ex:likes some ex:Fish)", {"ex": "urn:ex:"})
    >>> cel.verbalise(cat, lambda iri: iri.rpartition(":")[2])
    'is a Cat and likes some Fish'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mrag._lazy import lazy

if TYPE_CHECKING:
    from mrag.cel.concepts.export import to_ontology
    from mrag.cel.concepts.filter import ClassFilter
    from mrag.cel.concepts.record import KeptConcept
    from mrag.cel.concepts.registry import (
        find_concept,
        keep_concept,
        list_concepts,
        member_differences,
        remove_concept,
    )
    from mrag.cel.drill.learner import Drill, DrillSettings
    from mrag.cel.drill.policy import Policy
    from mrag.cel.drill.problems import ProblemGenerator, ProblemGeneratorSettings
    from mrag.cel.drill.training import PolicyTrainingSettings, train_policy
    from mrag.cel.evaluation.benchmark import BenchmarkResult, BenchmarkSetup, run_benchmark
    from mrag.cel.evaluation.files import ProblemSet, find_problems, open_knowledge_base
    from mrag.cel.explain.satisfied import Reason, why_satisfied
    from mrag.cel.explain.why_not import WhyNot, why_not
    from mrag.cel.learners.base import FitProgress, FitReport, Learner, LearnerSettings
    from mrag.cel.learners.celoe import Celoe, CeloeSettings
    from mrag.cel.learners.evolearner import EvoLearner, EvoSettings
    from mrag.cel.learners.m_of_n import MOfN, MOfNSettings
    from mrag.cel.learners.registry import LEARNERS, learner
    from mrag.cel.learners.search import BeamSearch, SearchSettings
    from mrag.cel.learners.tdl import TreeLearner, TreeSettings
    from mrag.cel.problem import ExampleCounts, Hypothesis, LearningProblem, quality
    from mrag.cel.problem_files import read_problems
    from mrag.cel.rerank import ClassExpressionReranker, Reranking, RerankSettings, rerank_by_concept
    from mrag.cel.semantics.counting import confusion, instances, instances_among, refinements
    from mrag.cel.semantics.sparql import individuals_among, instances_query
    from mrag.cel.summary import SummarySettings, order_by_summary, summarise
    from mrag.cel.syntax.expressions import (
        And,
        AtLeast,
        AtMost,
        Bottom,
        DataOnly,
        DataRange,
        DataSome,
        Exactly,
        Expression,
        Named,
        Not,
        OneOf,
        Only,
        Or,
        Property,
        Some,
        Top,
        Value,
        length,
    )
    from mrag.cel.syntax.normal_form import normal
    from mrag.cel.syntax.owlready import from_owlready, to_owlready
    from mrag.cel.syntax.parsing import from_dl, from_manchester
    from mrag.cel.syntax.polish import PolishedSentence, polish_sentence
    from mrag.cel.syntax.printing import to_dl, to_manchester
    from mrag.cel.syntax.rdf import to_turtle
    from mrag.cel.syntax.verbalise import sentence, verbalise

__all__ = [
    "LEARNERS",
    "And",
    "AtLeast",
    "AtMost",
    "BeamSearch",
    "BenchmarkResult",
    "BenchmarkSetup",
    "Bottom",
    "Celoe",
    "CeloeSettings",
    "ClassExpressionReranker",
    "ClassFilter",
    "DataOnly",
    "DataRange",
    "DataSome",
    "Drill",
    "DrillSettings",
    "EvoLearner",
    "EvoSettings",
    "Exactly",
    "ExampleCounts",
    "Expression",
    "FitProgress",
    "FitReport",
    "Hypothesis",
    "KeptConcept",
    "Learner",
    "LearnerSettings",
    "LearningProblem",
    "MOfN",
    "MOfNSettings",
    "Named",
    "Not",
    "OneOf",
    "Only",
    "Or",
    "Policy",
    "PolicyTrainingSettings",
    "PolishedSentence",
    "ProblemGenerator",
    "ProblemGeneratorSettings",
    "ProblemSet",
    "Property",
    "Reason",
    "RerankSettings",
    "Reranking",
    "SearchSettings",
    "Some",
    "SummarySettings",
    "Top",
    "TreeLearner",
    "TreeSettings",
    "Value",
    "WhyNot",
    "confusion",
    "find_concept",
    "find_problems",
    "from_dl",
    "from_manchester",
    "from_owlready",
    "individuals_among",
    "instances",
    "instances_among",
    "instances_query",
    "keep_concept",
    "learner",
    "length",
    "list_concepts",
    "member_differences",
    "normal",
    "open_knowledge_base",
    "order_by_summary",
    "polish_sentence",
    "quality",
    "read_problems",
    "refinements",
    "remove_concept",
    "rerank_by_concept",
    "run_benchmark",
    "sentence",
    "summarise",
    "to_dl",
    "to_manchester",
    "to_ontology",
    "to_owlready",
    "to_turtle",
    "train_policy",
    "verbalise",
    "why_not",
    "why_satisfied",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "LEARNERS": "learners.registry",
        "And": "syntax.expressions",
        "AtLeast": "syntax.expressions",
        "AtMost": "syntax.expressions",
        "BeamSearch": "learners.search",
        "BenchmarkResult": "evaluation.benchmark",
        "BenchmarkSetup": "evaluation.benchmark",
        "Bottom": "syntax.expressions",
        "Celoe": "learners.celoe",
        "CeloeSettings": "learners.celoe",
        "ClassExpressionReranker": "rerank",
        "ClassFilter": "concepts.filter",
        "DataOnly": "syntax.expressions",
        "DataRange": "syntax.expressions",
        "DataSome": "syntax.expressions",
        "Drill": "drill.learner",
        "DrillSettings": "drill.learner",
        "EvoLearner": "learners.evolearner",
        "EvoSettings": "learners.evolearner",
        "Exactly": "syntax.expressions",
        "ExampleCounts": "problem",
        "Expression": "syntax.expressions",
        "FitProgress": "learners.base",
        "FitReport": "learners.base",
        "Hypothesis": "problem",
        "KeptConcept": "concepts.record",
        "Learner": "learners.base",
        "LearnerSettings": "learners.base",
        "LearningProblem": "problem",
        "MOfN": "learners.m_of_n",
        "MOfNSettings": "learners.m_of_n",
        "Named": "syntax.expressions",
        "Not": "syntax.expressions",
        "OneOf": "syntax.expressions",
        "Only": "syntax.expressions",
        "Or": "syntax.expressions",
        "Policy": "drill.policy",
        "PolicyTrainingSettings": "drill.training",
        "PolishedSentence": "syntax.polish",
        "ProblemGenerator": "drill.problems",
        "ProblemGeneratorSettings": "drill.problems",
        "ProblemSet": "evaluation.files",
        "Property": "syntax.expressions",
        "Reason": "explain.satisfied",
        "RerankSettings": "rerank",
        "Reranking": "rerank",
        "SearchSettings": "learners.search",
        "Some": "syntax.expressions",
        "SummarySettings": "summary",
        "Top": "syntax.expressions",
        "TreeLearner": "learners.tdl",
        "TreeSettings": "learners.tdl",
        "Value": "syntax.expressions",
        "WhyNot": "explain.why_not",
        "confusion": "semantics.counting",
        "find_concept": "concepts.registry",
        "find_problems": "evaluation.files",
        "from_dl": "syntax.parsing",
        "from_manchester": "syntax.parsing",
        "from_owlready": "syntax.owlready",
        "individuals_among": "semantics.sparql",
        "instances": "semantics.counting",
        "instances_among": "semantics.counting",
        "instances_query": "semantics.sparql",
        "keep_concept": "concepts.registry",
        "learner": "learners.registry",
        "length": "syntax.expressions",
        "list_concepts": "concepts.registry",
        "member_differences": "concepts.registry",
        "normal": "syntax.normal_form",
        "open_knowledge_base": "evaluation.files",
        "order_by_summary": "summary",
        "polish_sentence": "syntax.polish",
        "quality": "problem",
        "read_problems": "problem_files",
        "refinements": "semantics.counting",
        "remove_concept": "concepts.registry",
        "rerank_by_concept": "rerank",
        "run_benchmark": "evaluation.benchmark",
        "sentence": "syntax.verbalise",
        "summarise": "summary",
        "to_dl": "syntax.printing",
        "to_manchester": "syntax.printing",
        "to_ontology": "concepts.export",
        "to_owlready": "syntax.owlready",
        "to_turtle": "syntax.rdf",
        "train_policy": "drill.training",
        "verbalise": "syntax.verbalise",
        "why_not": "explain.why_not",
        "why_satisfied": "explain.satisfied",
    },
)
