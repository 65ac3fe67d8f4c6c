"""The learners by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from importlib import import_module
from typing import Any

from mrag.cel.learners.base import FitProgress, Learner
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph

LEARNERS: dict[str, tuple[str, str]] = {
    "search": ("mrag.cel.learners.search", "BeamSearch"),
    "celoe": ("mrag.cel.learners.celoe", "Celoe"),
    "ocel": ("mrag.cel.learners.celoe", "Ocel"),
    "tdl": ("mrag.cel.learners.tdl", "TreeLearner"),
    "m-of-n": ("mrag.cel.learners.m_of_n", "MOfN"),
    "evolearner": ("mrag.cel.learners.evolearner", "EvoLearner"),
    "drill": ("mrag.cel.drill.learner", "Drill"),
}
"""Module and class of each learner; imported when it is asked for."""


def learner(
    name: str,
    kg: KnowledgeGraph,
    *,
    on_progress: Callable[[FitProgress], None] | None = None,
    **settings: Any,
) -> Learner:
    """Return a learner.

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
    module, class_name = LEARNERS[name]
    kind: type[Learner] = getattr(import_module(module), class_name)
    names = sorted(f.name for f in fields(kind.settings_type))
    unknown = sorted(set(settings) - {*names})
    if unknown:
        raise ConfigError(f"{name} has no setting {unknown[0]}.", hint=f"It has: {', '.join(names)}.")
    return kind(kg, kind.settings_type(**settings), on_progress=on_progress)
