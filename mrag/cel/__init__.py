"""Class expression learning: learn the concept that examples share, check it in the store, explain it.

Example:
    >>> import mrag.cel as cel
    >>> cat = cel.from_manchester("ex:Cat and (ex:likes some ex:Fish)", {"ex": "urn:ex:"})
    >>> cel.verbalise(cat, lambda iri: iri.rpartition(":")[2])
    'is a Cat and likes a Fish'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mrag._lazy import lazy

if TYPE_CHECKING:
    from mrag.cel.classifier import ConceptClassifier
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
    from mrag.cel.configurations import LearningConfiguration, read_configuration
    from mrag.cel.drill.learner import Drill, DrillSettings
    from mrag.cel.drill.policy import Policy
    from mrag.cel.drill.problems import ProblemGenerator, ProblemGeneratorSettings
    from mrag.cel.drill.training import PolicyTrainingSettings, train_policy
    from mrag.cel.evaluation.benchmark import BenchmarkResult, BenchmarkSetup, run_benchmark
    from mrag.cel.evaluation.files import ProblemSet, find_problems, open_knowledge_base
    from mrag.cel.examples import class_problem, described_class, sampled_negatives
    from mrag.cel.explain.satisfied import Reason, why_satisfied
    from mrag.cel.explain.why_not import WhyNot, why_not
    from mrag.cel.feedback import Feedback, FeedbackSettings, MarkedConcept, learn_from_marks
    from mrag.cel.learners.base import FitProgress, FitReport, FitState, Learner, LearnerSettings, Stopped
    from mrag.cel.learners.celoe import Celoe, CeloeSettings, Ocel, OcelSettings
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
    "LEARNERS", "And", "AtLeast", "AtMost", "BeamSearch", "BenchmarkResult", "BenchmarkSetup", "Bottom",
    "Celoe", "CeloeSettings", "ClassExpressionReranker", "ClassFilter", "ConceptClassifier", "DataOnly",
    "DataRange", "DataSome",
    "Drill", "DrillSettings", "EvoLearner", "EvoSettings", "Exactly", "ExampleCounts", "Expression",
    "Feedback", "FeedbackSettings",
    "FitProgress", "FitReport", "FitState", "Hypothesis", "KeptConcept", "Learner", "LearnerSettings",
    "LearningConfiguration",
    "LearningProblem", "MOfN", "MOfNSettings", "MarkedConcept", "Named", "Not", "Ocel",
    "OcelSettings", "OneOf", "Only", "Or",
    "Policy", "PolicyTrainingSettings", "PolishedSentence", "ProblemGenerator", "ProblemGeneratorSettings",
    "ProblemSet", "Property", "Reason", "RerankSettings", "Reranking", "SearchSettings", "Some", "Stopped",
    "SummarySettings", "Top", "TreeLearner", "TreeSettings", "Value", "WhyNot", "class_problem", "confusion",
    "described_class", "find_concept",
    "find_problems", "from_dl", "from_manchester", "from_owlready", "individuals_among", "instances",
    "instances_among", "instances_query", "keep_concept", "learn_from_marks", "learner", "length",
    "list_concepts", "member_differences", "normal", "open_knowledge_base", "order_by_summary",
    "polish_sentence", "quality",
    "read_configuration",
    "read_problems", "refinements", "remove_concept", "rerank_by_concept", "run_benchmark",
    "sampled_negatives", "sentence",
    "summarise", "to_dl", "to_manchester", "to_ontology", "to_owlready", "to_turtle", "train_policy",
    "verbalise", "why_not", "why_satisfied",
]  # fmt: skip

__getattr__, __dir__ = lazy(__name__)
