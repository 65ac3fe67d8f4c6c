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
    from mrag.cel import rerank  # noqa: F401 - for `mrag.cel.…`
    from mrag.cel.concepts import (
        ClassFilter,
        KeptConcept,
        find_concept,
        keep_concept,
        list_concepts,
        member_differences,
        remove_concept,
        to_ontology,
    )
    from mrag.cel.explain import Reason, why_satisfied
    from mrag.cel.learners.base import (
        LEARNERS,
        FitProgress,
        FitReport,
        FitState,
        Learner,
        LearnerSettings,
        Stopped,
        learner,
    )
    from mrag.cel.learners.refinement import Celoe, CeloeSettings
    from mrag.cel.learners.search import BeamSearch, SearchSettings
    from mrag.cel.problem import (
        ExampleCounts,
        Hypothesis,
        LearningProblem,
        class_problem,
        confusion,
        instances,
        instances_among,
        quality,
        read_problems,
        sample_negatives,
    )
    from mrag.cel.rerank import (
        ClassExpressionReranker,
        Feedback,
        FeedbackSettings,
        MarkedConcept,
        Reranking,
        RerankSettings,
        learn_from_marks,
        rerank_by_concept,
    )
    from mrag.cel.sentences import sentence, verbalise
    from mrag.cel.sparql import individuals_among, instances_query
    from mrag.rdf.expressions import (
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
        normal,
    )
    from mrag.rdf.notation import from_dl, from_manchester, to_dl, to_manchester, to_turtle

__all__ = [
    "LEARNERS", "And", "AtLeast", "AtMost", "BeamSearch", "Bottom", "Celoe", "CeloeSettings",
    "ClassExpressionReranker", "ClassFilter", "DataOnly", "DataRange", "DataSome",
    "Exactly", "ExampleCounts", "Expression", "Feedback", "FeedbackSettings",
    "FitProgress", "FitReport", "FitState", "Hypothesis", "KeptConcept", "Learner", "LearnerSettings",
    "LearningProblem", "MarkedConcept", "Named", "Not",
    "OneOf", "Only", "Or", "Property", "Reason", "RerankSettings", "Reranking", "SearchSettings", "Some",
    "Stopped", "Top", "Value", "class_problem", "confusion",
    "find_concept", "from_dl", "from_manchester", "individuals_among", "instances",
    "instances_among", "instances_query", "keep_concept", "learn_from_marks", "learner", "length",
    "list_concepts", "member_differences", "normal", "quality", "read_problems",
    "remove_concept", "rerank_by_concept", "sample_negatives", "sentence", "to_dl",
    "to_manchester", "to_ontology", "to_turtle", "verbalise", "why_satisfied",
]  # fmt: skip

__getattr__, __dir__ = lazy(__name__)
