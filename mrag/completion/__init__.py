"""Completion of a knowledge graph while a question is answered.

Example:
    >>> import mrag
    >>> from mrag.completion import Completer
    >>> kg = mrag.demo(model="none")
    >>> Completer(kg).ask("Who is GraphDB developed by?").text
    'Ontotext [t1].'
    >>> kg.close()
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mrag._lazy import lazy

if TYPE_CHECKING:
    from mrag.completion.answering import CompletedAnswer, answer
    from mrag.completion.chain import (
        CompletedQuestion,
        Completer,
        CompleterSettings,
        completion_chain,
        open_planner,
    )
    from mrag.completion.evidence.collect import Evidence, EvidenceSettings
    from mrag.completion.evidence.images import describe_folder, image_passages
    from mrag.completion.evidence.model_reader import ModelReader
    from mrag.completion.evidence.passages import (
        CombinedPassages,
        Passage,
        Passages,
        PassageSource,
        RetrievedPassages,
        from_langchain,
        passages_of,
        store_documents,
        store_folder,
    )
    from mrag.completion.evidence.reading import Extraction, Reader, SoughtTriple
    from mrag.completion.evidence.rule_reader import RuleReader
    from mrag.completion.graph import CompletionSettings, complete, complete_from_graph
    from mrag.completion.metrics import CompletionScores, contained, exact_match, hits_at_1, score, set_f1
    from mrag.completion.plan.calibration import Weights
    from mrag.completion.plan.grounding import Grounder, GroundingSettings, ground
    from mrag.completion.plan.model_planner import ModelPlanner
    from mrag.completion.plan.path_planner import Example, PathPlanner, calibrate
    from mrag.completion.plan.paths import PathSettings, Step
    from mrag.completion.plan.patterns import (
        CompletedTriple,
        Completion,
        EvidenceRef,
        EvidenceSource,
        GroundedPlan,
        IncompleteTriple,
        Planner,
        TermCandidate,
        TriplePlan,
    )
    from mrag.completion.writeback.checks import CheckSettings, check
    from mrag.completion.writeback.refresh import catch_up
    from mrag.completion.writeback.review import WriteReport, accept, propose, reject, resume, rollback
    from mrag.completion.writeback.run_store import find_run, list_runs
    from mrag.completion.writeback.runs import CompletionRun, Statement
    from mrag.planning.plan import Unknown

__all__ = [
    "CheckSettings",
    "CombinedPassages",
    "CompletedAnswer",
    "CompletedQuestion",
    "CompletedTriple",
    "Completer",
    "CompleterSettings",
    "Completion",
    "CompletionRun",
    "CompletionScores",
    "CompletionSettings",
    "Evidence",
    "EvidenceRef",
    "EvidenceSettings",
    "EvidenceSource",
    "Example",
    "Extraction",
    "GroundedPlan",
    "Grounder",
    "GroundingSettings",
    "IncompleteTriple",
    "ModelPlanner",
    "ModelReader",
    "Passage",
    "PassageSource",
    "Passages",
    "PathPlanner",
    "PathSettings",
    "Planner",
    "Reader",
    "RetrievedPassages",
    "RuleReader",
    "SoughtTriple",
    "Statement",
    "Step",
    "TermCandidate",
    "TriplePlan",
    "Unknown",
    "Weights",
    "WriteReport",
    "accept",
    "answer",
    "calibrate",
    "catch_up",
    "check",
    "complete",
    "complete_from_graph",
    "completion_chain",
    "contained",
    "describe_folder",
    "exact_match",
    "find_run",
    "from_langchain",
    "ground",
    "hits_at_1",
    "image_passages",
    "list_runs",
    "open_planner",
    "passages_of",
    "propose",
    "reject",
    "resume",
    "rollback",
    "score",
    "set_f1",
    "store_documents",
    "store_folder",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "CheckSettings": "writeback.checks",
        "CombinedPassages": "evidence.passages",
        "CompletedAnswer": "answering",
        "CompletedQuestion": "chain",
        "CompletedTriple": "plan.patterns",
        "Completer": "chain",
        "CompleterSettings": "chain",
        "Completion": "plan.patterns",
        "CompletionRun": "writeback.runs",
        "CompletionScores": "metrics",
        "CompletionSettings": "graph",
        "Evidence": "evidence.collect",
        "EvidenceRef": "plan.patterns",
        "EvidenceSettings": "evidence.collect",
        "EvidenceSource": "plan.patterns",
        "Example": "plan.path_planner",
        "Extraction": "evidence.reading",
        "GroundedPlan": "plan.patterns",
        "Grounder": "plan.grounding",
        "GroundingSettings": "plan.grounding",
        "IncompleteTriple": "plan.patterns",
        "ModelPlanner": "plan.model_planner",
        "ModelReader": "evidence.model_reader",
        "Passage": "evidence.passages",
        "PassageSource": "evidence.passages",
        "Passages": "evidence.passages",
        "PathPlanner": "plan.path_planner",
        "PathSettings": "plan.paths",
        "TriplePlan": "plan.patterns",
        "Planner": "plan.patterns",
        "Reader": "evidence.reading",
        "RetrievedPassages": "evidence.passages",
        "RuleReader": "evidence.rule_reader",
        "SoughtTriple": "evidence.reading",
        "Statement": "writeback.runs",
        "Step": "plan.paths",
        "TermCandidate": "plan.patterns",
        "Unknown": "plan.patterns",
        "Weights": "plan.calibration",
        "WriteReport": "writeback.review",
        "accept": "writeback.review",
        "answer": "answering",
        "calibrate": "plan.path_planner",
        "catch_up": "writeback.refresh",
        "check": "writeback.checks",
        "complete": "graph",
        "complete_from_graph": "graph",
        "completion_chain": "chain",
        "contained": "metrics",
        "describe_folder": "evidence.images",
        "exact_match": "metrics",
        "find_run": "writeback.run_store",
        "from_langchain": "evidence.passages",
        "ground": "plan.grounding",
        "hits_at_1": "metrics",
        "image_passages": "evidence.images",
        "list_runs": "writeback.run_store",
        "open_planner": "chain",
        "passages_of": "evidence.passages",
        "propose": "writeback.review",
        "reject": "writeback.review",
        "resume": "writeback.review",
        "rollback": "writeback.review",
        "score": "metrics",
        "set_f1": "metrics",
        "store_documents": "evidence.passages",
        "store_folder": "evidence.passages",
    },
)
