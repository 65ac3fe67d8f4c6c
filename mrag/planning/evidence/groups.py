"""The groups that rows of a plan are of, where the rows do not show all that tells groups apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mrag.graph.kg import KnowledgeGraph
from mrag.planning.evidence.witnesses import of_row, one_of_rows
from mrag.planning.plan import Column, Plan
from mrag.planning.profiling import schema_of
from mrag.planning.run import run
from mrag.planning.scopes import aggregates, merged
from mrag.planning.values import Cells, tied
from mrag.stores.base import Limits

_GROUPS = 5_000
"""Groups that are looked through for those of some rows."""


def with_groups(
    kg: KnowledgeGraph, plan: Plan, rows: Sequence[Cells], limits: Limits
) -> tuple[Plan, list[Cells]]:
    """Return a plan that shows all that it groups by, and its rows for some rows of a plan.

    Two people of one name who own a dog each and three are told apart by who they are, which their rows need
    not show. Of several groups that give the same row, the first is taken.

    Args:
        kg: The graph.
        plan: The plan that was run.
        rows: Rows, as it gave them; one without cells for yes or no.
        limits: How long it may take.

    Returns:
        The plan and the rows as they are, where they show everything, or the groups are not found.
    """
    hidden = [u for u in dict.fromkeys(plan.group_by) if all(c.value != u for c in plan.columns)]
    if not hidden or (not all(rows) and not plan.yes_or_no):
        return plan, list(rows)
    taken = {c.name for c in plan.columns}
    columns = list(plan.columns)
    for unknown in hidden:
        name = unknown.name
        while name in taken:
            name += "_"
        taken.add(name)
        columns.append(Column(unknown, name))
    shown = replace(plan, columns=tuple(columns), order=(), limit=None, offset=0, ties=False)
    some = of_row(shown, (*rows[0], *(None for _ in hidden))) if len(rows) == 1 else _of_rows(shown, rows)
    if plan.yes_or_no:
        some = replace(some, limit=1)
    groups = run(kg, some, schema=schema_of(kg), limits=replace(limits, rows=_GROUPS))
    found = [_group_of(plan, row, groups.rows) for row in rows]
    if groups.truncated and len(rows) > 1:
        return plan, list(rows)  # each alone has fewer to look through
    known = [group for group in found if group is not None]
    return (shown, known) if len(known) == len(rows) else (plan, list(rows))


def _of_rows(plan: Plan, rows: Sequence[Cells]) -> Plan:
    """Return a plan for the groups of which one of several rows may be."""
    found = one_of_rows(replace(plan, columns=plan.columns[: len(rows[0])]), rows)
    return plan if found is None else replace(plan, where=merged(plan.where, found[1]))


def _group_of(plan: Plan, row: Cells, groups: Sequence[Cells]) -> Cells | None:
    """Return the first of some groups that gives a row."""
    width = len(row)
    folded = [at for at, c in enumerate(plan.columns) if aggregates(c.value)]
    told = [at for at in range(width) if at not in folded]
    mine = [g for g in groups if all(g[at] == row[at] for at in told)]
    same = [g for g in mine if g[:width] == row] or [g for g in mine if tied(g, row, folded)]
    return same[0] if same else None
