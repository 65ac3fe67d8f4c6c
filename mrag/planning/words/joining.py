"""Words of conditions that hold together, and of groups and the extremes of each."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mrag.planning import plan as pl
from mrag.text.grammar import plural


def all_of(said: Sequence[str]) -> str:
    """Return words of what must hold together.

    Example:
        >>> all_of(["red", "large", "but none where it is cold"])
        'red and large, but none where it is cold'
    """
    found = said[0] if said else ""
    for one in said[1:]:
        found += (
            f", {one}" if one.startswith("but none") else f" {'' if one[:8] == 'and not ' else 'and '}{one}"
        )
    return found


def by_group(found: str, keys: Sequence[str], each: str) -> tuple[str, list[str]]:
    """Name groups where words speak of them.

    Args:
        found: The words.
        keys: What is grouped by.
        each: What stands in place of "the" before it.

    Returns:
        The words, and the groups that they do not speak of.

    Example:
        >>> by_group("the number of vendors based in the country", ["country", "year"], "each")
        ('the number of vendors based in each country', ['year'])
    """
    left = []
    for key in keys:
        named = re.compile(rf"\bthe {re.escape(key)}(?=$|,| and )")
        if len(named.findall(found)) == 1:
            found = f"{each} {key}".join(named.split(found))
        else:
            left.append(key)
    return found, left


def of_each_group(plan: pl.Plan) -> tuple[pl.Plan, str]:
    """Return the plan that a plan takes the extreme of each group of, and words for that; else the plan.

    Args:
        plan: The plan.
    """
    told, extreme = plan.where.plans if len(plan.where.plans) == 2 else (plan, plan)
    folds = [c.value for c in extreme.columns if isinstance(c.value, pl.Aggregate)]
    if extreme.where != pl.Block(plans=(told,)) or len(folds) != 1 or folds[0].value is None:
        return plan, ""
    number = next((u.name for u in pl.parts(folds[0].value) if isinstance(u, pl.Unknown)), "")
    value = next((c.value for c in told.columns if c.name == number), None)
    counted = value.of if isinstance(value, pl.Aggregate) and value.function == "count" else ()
    parts = [u for u in pl.parts(value) if isinstance(u, pl.Unknown)] if value is not None else []
    called = next((u.name for u in (*counted, *parts)), number)
    said = re.sub(r"(_|\b)\d+$", "", called).replace("_", " ").strip()
    group = extreme.columns[0].name.replace("_", " ")
    if isinstance(value, pl.Aggregate) and value.function == "count":
        said = plural(said)
        most = "most" if folds[0].function == "maximum" else "fewest"
    else:
        most = "greatest" if folds[0].function == "maximum" else "least"
    return told, f", but of each {group} only that with the {most} {said}"
