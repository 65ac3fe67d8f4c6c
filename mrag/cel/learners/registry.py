"""The learners by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from importlib import import_module
from typing import Any

from mrag.cel.learners.base import Learner, LearnerSettings, Progress
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph

LEARNERS: dict[str, tuple[str, str, str]] = {
    "search": ("mrag.cel.learners.search", "BeamSearch", "SearchSettings"),
    "celoe": ("mrag.cel.learners.celoe", "Celoe", "CeloeSettings"),
    "tdl": ("mrag.cel.learners.tdl", "TreeLearner", "TreeSettings"),
    "m-of-n": ("mrag.cel.learners.m_of_n", "MOfN", "MOfNSettings"),
    "evolearner": ("mrag.cel.learners.evolearner", "EvoLearner", "EvoSettings"),
    "drill": ("mrag.cel.drill.learner", "Drill", "DrillSettings"),
}
"""Module, class and settings of each learner; imported when it is asked for."""


def learner(
    name: str,
    kg: KnowledgeGraph,
    *,
    on_progress: Callable[[Progress], None] | None = None,
    **settings: Any,
) -> Learner:
    """Make a learner.

    Args:
        name: One of `LEARNERS`.
        kg: The knowledge graph.
        on_progress: Called now and then during a fit.
        **settings: Settings of that learner, such as `seconds` or `seed`.

    Raises:
        ConfigError: If there is no such learner or it has no such setting.

    Example:
        >>> import mrag
        >>> with mrag.connect() as kg:
        ...     learner("search", kg, seconds=2).settings.seconds
        2
    """
    if name not in LEARNERS:
        raise ConfigError(f"No learner {name!r}.", hint=f"There are: {', '.join(sorted(LEARNERS))}.")
    module, kind, options = LEARNERS[name]
    found = import_module(module)
    known: type[LearnerSettings] = getattr(found, options)
    names = sorted(f.name for f in fields(known))
    unknown = sorted(set(settings) - {*names})
    if unknown:
        raise ConfigError(f"{name} has no setting {unknown[0]}.", hint=f"It has: {', '.join(names)}.")
    made: Learner = getattr(found, kind)(kg, known(**settings), on_progress=on_progress)
    return made
