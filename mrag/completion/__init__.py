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
    from mrag.completion import chain, checks, passages, review  # noqa: F401 - for `mrag.completion.…`
    from mrag.completion.chain import Completer, Evidence, answer, completion_chain
    from mrag.completion.checks import CheckSettings, CompletionRun
    from mrag.completion.grounding import GroundingSettings, PathPlanner, Step, ground
    from mrag.completion.passages import (
        ModelReader,
        Passage,
        Passages,
        Reader,
        RetrievedPassages,
        describe_folder,
        from_langchain,
        image_passages,
        store_documents,
        store_folder,
    )
    from mrag.completion.patterns import (
        GroundedPlan,
        IncompleteTriple,
        ModelPlanner,
        Planner,
        TriplePlan,
        complete,
        complete_from_graph,
    )
    from mrag.completion.review import WriteReport, accept, catch_up, find_run, list_runs, reject, rollback
    from mrag.completion.rule_reader import RuleReader
    from mrag.planning.plan import Unknown

__all__ = [
    "CheckSettings", "Completer", "CompletionRun", "Evidence", "GroundedPlan",
    "GroundingSettings", "IncompleteTriple", "ModelPlanner", "ModelReader", "Passage", "Passages",
    "PathPlanner", "Planner", "Reader", "RetrievedPassages", "RuleReader", "Step", "TriplePlan", "Unknown",
    "WriteReport", "accept", "answer", "catch_up", "complete",
    "complete_from_graph", "completion_chain", "describe_folder", "find_run",
    "from_langchain", "ground", "image_passages", "list_runs", "reject",
    "rollback", "store_documents", "store_folder",
]  # fmt: skip

__getattr__, __dir__ = lazy(__name__)
