"""Questions as query plans: read, computed by SPARQL, and proved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mrag._lazy import lazy

if TYPE_CHECKING:
    from mrag.planning.compiler import to_sparql
    from mrag.planning.interchange import plan_from_json, plan_to_json
    from mrag.planning.interpreter import evaluate
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
    from mrag.planning.proof import Proof, prove
    from mrag.planning.run import PlanResult
    from mrag.planning.wording import to_words

__all__ = [
    "Aggregate",
    "Arithmetic",
    "Block",
    "Column",
    "Comparison",
    "Contains",
    "DatePart",
    "Days",
    "Number",
    "Order",
    "Pattern",
    "Plan",
    "PlanResult",
    "Proof",
    "Scalar",
    "Unknown",
    "evaluate",
    "plan_from_json",
    "plan_to_json",
    "prove",
    "to_sparql",
    "to_words",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        **dict.fromkeys(
            (
                "Aggregate Arithmetic Block Column Comparison Contains DatePart Days Number Order Pattern "
                "Plan Scalar Unknown"
            ).split(),
            "plan",
        ),
        "PlanResult": "run",
        "Proof": "proof",
        "evaluate": "interpreter",
        "plan_from_json": "interchange",
        "plan_to_json": "interchange",
        "prove": "proof",
        "to_sparql": "compiler",
        "to_words": "wording",
    },
)
