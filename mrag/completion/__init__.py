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
    from mrag.completion.chain import (
        CompletedAnswer,
        CompletedQuestion,
        Completer,
        CompleterSettings,
        Evidence,
        EvidenceSettings,
        answer,
        completion_chain,
        open_planner,
        reading_completer,
    )
    from mrag.completion.checks import CheckSettings, CompletionRun, Statement, check
    from mrag.completion.graph import CompletionSettings, complete, complete_from_graph
    from mrag.completion.grounding import Grounder, GroundingSettings, PathSettings, Step, ground
    from mrag.completion.passages import (
        CombinedPassages,
        Passage,
        Passages,
        PassageSource,
        RetrievedPassages,
        describe_folder,
        from_langchain,
        image_passages,
        passages_of,
        store_documents,
        store_folder,
    )
    from mrag.completion.path_planner import Example, PathPlanner, Weights, calibrate
    from mrag.completion.patterns import (
        CompletedTriple,
        Completion,
        EvidenceSource,
        GroundedPlan,
        IncompleteTriple,
        ModelPlanner,
        Planner,
        TermCandidate,
        TriplePlan,
    )
    from mrag.completion.reading import Extraction, ModelReader, Reader, SoughtTriple
    from mrag.completion.review import (
        WriteReport,
        accept,
        catch_up,
        find_run,
        list_runs,
        propose,
        reject,
        resume,
        rollback,
    )
    from mrag.completion.rule_reader import RuleReader
    from mrag.completion.solving import (
        Calibration,
        CompletionScores,
        KnownAnswers,
        calibrate_on_answers,
        contained,
        exact_match,
        hits_at_1,
        score,
        set_f1,
    )
    from mrag.generation.result import EvidenceRef
    from mrag.planning.plan import Unknown

__all__ = [
    "Calibration", "CheckSettings", "CombinedPassages", "CompletedAnswer", "CompletedQuestion",
    "CompletedTriple", "Completer", "CompleterSettings", "Completion", "CompletionRun",
    "CompletionScores", "CompletionSettings", "Evidence", "EvidenceRef", "EvidenceSettings",
    "EvidenceSource", "Example", "Extraction", "GroundedPlan", "Grounder", "GroundingSettings",
    "IncompleteTriple", "KnownAnswers", "ModelPlanner", "ModelReader", "Passage", "PassageSource",
    "Passages", "PathPlanner", "PathSettings", "Planner", "Reader", "RetrievedPassages", "RuleReader",
    "SoughtTriple", "Statement", "Step", "TermCandidate", "TriplePlan", "Unknown", "Weights",
    "WriteReport", "accept", "answer", "calibrate", "calibrate_on_answers", "catch_up", "check",
    "complete", "complete_from_graph", "completion_chain", "contained", "describe_folder", "exact_match",
    "find_run", "from_langchain", "ground", "hits_at_1", "image_passages", "list_runs", "open_planner",
    "passages_of", "propose", "reading_completer", "reject", "resume", "rollback", "score", "set_f1",
    "store_documents", "store_folder",
]  # fmt: skip

__getattr__, __dir__ = lazy(__name__)
