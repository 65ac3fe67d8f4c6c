"""Long jobs: the same work, with the same result, in this process, in several, or on a Ray cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mrag._lazy import lazy

if TYPE_CHECKING:
    from mrag.jobs.runners import (
        InlineRunner,
        ProcessRunner,
        RayRunner,
        Runner,
        TaskOutcome,
        ThreadRunner,
        carry,
        runner,
    )

__all__ = [
    "InlineRunner", "ProcessRunner", "RayRunner", "Runner", "TaskOutcome", "ThreadRunner", "carry",
    "runner",
]  # fmt: skip

__getattr__, __dir__ = lazy(__name__)
