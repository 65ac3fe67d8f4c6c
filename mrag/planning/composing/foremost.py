"""Questions for the one that is extreme in each group: "for each shop, the customer with the most orders"."""

from __future__ import annotations

import re

from rdflib import RDF

from mrag.planning import plan as pl
from mrag.planning.composing.drafts import Draft, Read, folded_by, fully_read, whole
from mrag.planning.reading.state import is_superlative
from mrag.planning.schema import Schema
from mrag.planning.scopes import all_patterns, mentioned, merged, names_of, substituted

_FIRST = re.compile(
    r"(?i)^\W*(?:for|in|at|of|from|per) (?:each|every) (?P<group>[^,]+?),? "
    r"(?P<inner>(?:what|which|who|when|show|list|find|give|return|name|display|tell|the)\b.+?)\W*$"
)
_LAST = re.compile(
    r"(?i)^(?P<inner>.+?) (?:in|of|for|from|at|per|within|on) (?:each|every)(?: of the)? "
    r"(?P<group>[^,]+?)\W*$"
)
_MOST = frozenset("most least fewest highest lowest greatest largest smallest best worst".split())


def per_group(text: str) -> tuple[str, str] | None:
    """Return the question for the extreme one, and the groups each of which has its own; None for others.

    Example:
        >>> per_group("For each town, what is the name of the shop with the highest rent?")
        ('What is the name of the shop with the highest rent?', 'town')
        >>> per_group("Who is the oldest player of each club?")
        ('Who is the oldest player?', 'club')
        >>> per_group("How many players are there in each club?")
    """
    match = _FIRST.match(text) or _LAST.match(text)
    if match is None or re.match(r"(?i)\W*how\b", match["inner"]):
        return None
    low = match["inner"].lower().split()
    ends = ("first", "last") if _FIRST.match(text) else ()
    extreme = [
        n for n, w in enumerate(low)
        if w in _MOST or is_superlative(w) or (w in ends and low[n + 1 : n + 2] not in (["name"], ["names"]))
    ]  # fmt: skip
    told = " ".join(low[: extreme[0]]) if extreme else ""
    if re.search(r"\b(?:number of|how many|average|total)\b.*(?:,| and)(?: the)?$", told):
        return None  # "the number of players and the highest fee" are two numbers of each
    if not extreme or "number of" in match["group"]:
        return None
    inner = re.sub(r"(?i)\b(?:its|their|his|her) (?=\w)", "the ", match["inner"].strip(" ,"))
    if low[0] == "the":
        inner = f"Show {inner}"
    return inner[0].upper() + inner[1:] + "?", match["group"].strip()


def foremost(inner: str, group: str, best: Read, schema: Schema) -> list[Draft]:
    """Return the plans of what is extreme in each of some groups.

    Args:
        inner: The question for what is extreme.
        group: The words for the groups.
        best: Reads a question; best drafts first.
        schema: The schema.
    """
    found = list[Draft]()
    for draft in fully_read(best(inner), 3):
        for thing, cls in _things(draft, schema)[:2]:
            called = schema.classes[cls].names[0]
            splits = fully_read(best(f"number of {called} for each {group}"), 2)
            extremes = (_of_groups(draft, split, thing) for split in splits if _counts(split, cls))
            if (extreme := next((e for e in extremes if e is not None), None)) is not None:
                found.append(extreme)
                break
    return found


def _things(draft: Draft, schema: Schema) -> list[tuple[pl.Unknown, str]]:
    """Return what a plan finds the extreme of, whatever has it for a name, or counts, with the classes."""
    plan = draft.plan
    if (fold := _lone_fold(draft)) is not None:
        said = [str(p.predicate) for p in all_patterns(plan.where) if p.subject in fold.of]
        owners = (i for iri in said if (i := schema.properties.get(iri)) is not None)
        return [(fold.of[0], cls) for i in owners for cls in i.domains if len(i.domains) == 1][:1]
    if plan.limit != 1 or plan.offset or len(plan.order) != 1 or plan.having or not draft.shown:
        return []
    patterns = list(all_patterns(plan.where))
    kinds = {p.subject: str(p.object) for p in patterns if p.predicate == RDF.type}
    for p in patterns:
        info = schema.properties.get(str(p.predicate))
        if info is not None and len(info.domains) == 1:
            kinds.setdefault(p.subject, next(iter(info.domains)))
        if info is not None and len(info.ranges) == 1 and isinstance(p.object, pl.Unknown):
            kinds.setdefault(p.object, next(iter(info.ranges)))
    shown = draft.values
    values = [v for s in shown for v in pl.parts(s)]
    named = [p.subject for p in plan.where.patterns if p.object in values]
    counted = [u for c in plan.columns if isinstance(c.value, pl.Aggregate) for u in c.value.of]
    # What is counted is in the group: the orders of a city, not all orders of those who once ordered there.
    found = [u for u in (*counted, *shown, *named) if isinstance(u, pl.Unknown)]
    return [(u, kinds[u]) for u in dict.fromkeys(found) if kinds.get(u) in schema.classes]


def _counts(split: Draft, cls: str) -> bool:
    """Return whether a plan counts things of a class."""
    counted = {u for c in split.plan.columns if isinstance(c.value, pl.Aggregate) for u in c.value.of}
    typed = (p for p in all_patterns(split.plan.where) if p.predicate == RDF.type and p.subject in counted)
    return all(str(p.object) == cls for p in typed)


def _of_groups(draft: Draft, split: Draft, thing: pl.Unknown) -> Draft | None:
    plan, groups = draft.plan, split.plan.where
    if (folded := folded_by(split)) is None or folded[1].value is not None:
        return None
    key, count = folded
    taken = names_of(plan)
    by: dict[pl.Place, pl.Place] = {
        u: thing if u == count.of[0] else pl.Unknown(f"its_{u.name}" if u.name in taken else u.name)
        for u in mentioned(groups)
    }
    group = by[key]
    if not isinstance(group, pl.Unknown) or group == thing:
        return None
    where = merged(plan.where, substituted(groups, by))
    if (fold := _lone_fold(draft)) is not None:
        return _extreme_values(draft, split, where, pl.Column(group, group.name), fold)
    ordering = plan.order[0]
    number = next(c for c in plan.columns if c.name == ordering.column)
    if draft.shown == (number.name,) and not isinstance(number.value, pl.Aggregate):
        way: pl.Fold = "maximum" if ordering.descending else "minimum"
        value = pl.Aggregate(way, number.value, (thing,))
        return _extreme_values(draft, split, where, pl.Column(group, group.name), value)
    columns = (pl.Column(group, group.name), *plan.columns)
    told = pl.Plan(where, columns, plan.group_by)
    of = tuple(pl.Unknown(c.name) for c in columns if c is not number)
    greatest = pl.Aggregate(
        "maximum" if ordering.descending else "minimum", _plain(number, pl.Unknown(number.name)), of
    )
    top = f"best_{number.name}"
    extreme = pl.Plan(pl.Block(plans=(told,)), (columns[0], pl.Column(greatest, top)))
    equal = pl.Comparison(_plain(number, pl.Unknown(number.name)), "=", _plain(number, pl.Unknown(top)))
    asked = tuple(pl.Column(pl.Unknown(n), n) for n in dict.fromkeys((group.name, *draft.shown)))
    rest = tuple(
        pl.Column(pl.Unknown(c.name), c.name) for c in plan.columns if c.name not in {a.name for a in asked}
    )
    found = pl.Plan(pl.Block(plans=(told, extreme), conditions=(equal,)), (*asked, *rest))
    return whole(found, draft, split, shown=[a.name for a in asked])


def _lone_fold(draft: Draft) -> pl.Aggregate | None:
    """Return the least or the greatest of values that is all that a plan shows."""
    plan = draft.plan
    if len(plan.columns) != 1 or plan.having or plan.limit is not None or plan.group_by:
        return None
    value = plan.columns[0].value
    lone = isinstance(value, pl.Aggregate) and value.function in ("minimum", "maximum") and len(value.of) == 1
    return value if isinstance(value, pl.Aggregate) and lone and value.where.empty else None


def _extreme_values(
    draft: Draft, split: Draft, where: pl.Block, key: pl.Column, value: pl.Aggregate
) -> Draft | None:
    """Return the plan of the least or the greatest value of each group: "the lowest price per category"."""
    name = f"{value.function}_{draft.plan.columns[0].name}"
    found = pl.Plan(where, (key, pl.Column(value, name)))
    return whole(found, draft, split, shown=(key.name, name))


def _plain(number: pl.Column, name: pl.Unknown) -> pl.Expression:
    """Return a value as a number, unless it is a date."""
    return name if isinstance(number.value, pl.Unknown) else pl.Number(name)
