"""Questions as query plans: read, computed by SPARQL, and proved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mrag._lazy import lazy

if TYPE_CHECKING:
    from mrag.planning import lexicon  # noqa: F401 - for `mrag.planning.…`
    from mrag.planning.answering import Attempt, compute, run_question
    from mrag.planning.compiler import to_sparql
    from mrag.planning.interchange import plan_from_json, plan_to_json
    from mrag.planning.plan import (
        Aggregate,
        Arithmetic,
        Block,
        Column,
        Comparison,
        Contains,
        DatePart,
        Days,
        Number,
        Order,
        Pattern,
        Plan,
        Scalar,
        Unknown,
    )
    from mrag.planning.proof import RowProof, prove
    from mrag.planning.run import PlanResult
    from mrag.planning.saved import SavedQuestion, list_questions, remove_question, save_question
    from mrag.planning.wording import to_words

__all__ = [
    "Aggregate", "Arithmetic", "Attempt", "Block", "Column", "Comparison", "Contains", "DatePart", "Days",
    "Number", "Order", "Pattern", "Plan", "PlanResult", "RowProof", "SavedQuestion", "Scalar", "Unknown",
    "compute", "list_questions", "plan_from_json", "plan_to_json", "prove", "remove_question",
    "run_question", "save_question", "to_sparql", "to_words",
]  # fmt: skip

__getattr__, __dir__ = lazy(__name__)
