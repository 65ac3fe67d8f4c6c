"""Numbers and years that stand in a question for those that are not known yet."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from rdflib import Literal

from mrag.planning.composing.drafts import Draft
from mrag.planning.plan import Comparison, Condition, Pattern, Unknown, parts

NUMBER: Final = "13571"
YEAR: Final = "1357"
_YEARS: Final = (YEAR, "1358")
"""How what stands for another begins, and the year behind it."""


def stands_in(condition: Condition) -> bool:
    """Return whether a condition is one on what stands for something else."""
    right = condition.right if isinstance(condition, Comparison) else None
    return isinstance(right, Literal) and str(right)[:4] in _YEARS


def without_stand_in(draft: Draft) -> tuple[Draft, list[Comparison]]:
    """Return a draft without its conditions on what stands for something else, and these."""
    where = draft.plan.where
    bounds = [c for c in where.conditions if isinstance(c, Comparison) and stands_in(c)]
    kept = replace(where, conditions=tuple(c for c in where.conditions if c not in bounds))
    return replace(draft, plan=replace(draft.plan, where=kept)), bounds


def compared_value(draft: Draft) -> tuple[Draft, Comparison, Pattern] | None:
    """Return a draft without its comparison with a stand-in, that, and the triple of what is compared.

    Returns:
        None if there are several such comparisons, or if what is compared is no value of something.
    """
    kept, bounds = without_stand_in(draft)
    values = {u for c in bounds for u in parts(c.left) if isinstance(u, Unknown)}
    said = [p for p in kept.plan.where.patterns if p.object in values]
    if len(bounds) != 1 or len(said) != 1 or not isinstance(said[0].subject, Unknown):
        return None
    return kept, bounds[0], said[0]
