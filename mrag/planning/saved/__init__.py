"""Saved questions: kept in the graph with their plans, run again with other names, and taught."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mrag._lazy import lazy

if TYPE_CHECKING:
    from mrag.planning.saved.record import SavedQuestion, list_questions
    from mrag.planning.saved.registry import (
        find_question,
        remove_question,
        run_question,
        save_question,
    )

__all__ = [
    "SavedQuestion", "find_question", "list_questions", "remove_question", "run_question", "save_question",
]  # fmt: skip

__getattr__, __dir__ = lazy(__name__)
