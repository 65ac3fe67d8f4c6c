"""How far values lie apart: the greatest and the least of a property, and those of two things.

"The difference between the highest and the lowest price", "how many years lie between the births of Ada and
Ben": what has the values is read as a question of its own, and its least is taken from its greatest.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal

from rdflib import Literal

from mrag.planning import plan as pl
from mrag.planning.composing.drafts import Draft, Unbuildable, whole
from mrag.planning.lexical.english import DIMENSIONS, positive
from mrag.planning.reading.numbers import unit_of
from mrag.planning.schema import Schema
from mrag.planning.scopes import substituted

_EXTREMES = re.compile(
    r"(?i)^\W*(?:what (?:is|was|are) |calculate |compute |show |give )?(?:me )?(?:the )?"
    r"(?:difference|gap|spread|distance) (?:in (?P<noun>\w+(?: \w+)?) )?between (?:the )?(?P<high>[\w-]+)"
    r"(?: (?P<first>[\w -]+?))? and (?:the )?(?P<low>[\w-]+) (?P<what>.+?)\W*$"
)
_YEARS = re.compile(
    r"(?i)^\W*(?:how many|what is the number of) (?P<unit>years|days|weeks|months) "
    r"(?:(?:lie|lay|lies|are|were|passed|elapsed|pass|is|was) )?"
    r"(?:there )?between (?:the )?(?P<what>[\w-]+(?: [\w-]+)?) of (?P<x>.+?) and "
    r"(?:(?:that|those|the [\w-]+(?: [\w-]+)?) of )?(?P<y>.+?)\W*$"
)
_AFTER = re.compile(
    r"(?i)^\W*how many (?P<unit>years|days) (?:after|before) (?P<x>.+?) (?:was|were|did|is) (?P<y>.+?) "
    r"(?P<what>[\w-]+)\W*$"
)
_FIRST_AND_LAST = re.compile(
    r"(?i)^\W*(?:how many|what is the number of) (?P<unit>years|days|weeks|months) "
    r"(?:(?:lie|lay|lies|are|were|passed|elapsed|pass|is|was|went by) )?(?:there )?between (?:the )?"
    r"(?P<a>first|last|earliest|latest|oldest|newest)(?: (?P<x>.+?))? and (?:the )?"
    r"(?P<b>first|last|earliest|latest|oldest|newest) (?P<what>.+?)\W*$"
)
_TIMES = re.compile(
    r"(?i)^\W*what (?:is|was) the (?:time|gap|interval|difference) in (?P<unit>years|days|weeks|months) "
    r"between (?:the )?(?P<what>[\w-]+(?: [\w-]+)?) of (?P<x>.+?) and "
    r"(?:(?:that|those|the [\w-]+(?: [\w-]+)?) of )?(?P<y>.+?)\W*$"
)
_HIGH = frozenset("highest greatest largest biggest maximum max most".split())
_LOW = frozenset("lowest least smallest minimum min fewest".split())


_DAYS = {"day": 1, "week": 7, "month": Decimal("30.4375")}
"""How many days a unit has that is no part of a date."""


@dataclass(frozen=True)
class ValueSpread:
    """How far values lie apart.

    Attributes:
        inner: The question for the values.
        unit: `year`, `month`, `week` or `day`, which dates are counted in; "" for numbers.
    """

    inner: str
    unit: str = ""


def spread(text: str) -> ValueSpread | None:
    """Return what a question asks the greatest difference of; None for other questions.

    Example:
        >>> spread("What is the difference between the highest and the lowest price of a boat?").inner
        'What is the average price of a boat?'
        >>> spread("What is the difference between the longest and the shortest river?").inner
        'What is the average length of river?'
        >>> spread("How many years lie between the founding of Acme and Bolt?").inner
        'What is the founding of Acme and Bolt?'
        >>> spread("What is the difference in price between Acme and Bolt?")
    """
    if (match := _YEARS.match(text) or _AFTER.match(text)) is not None:
        return ValueSpread(
            f"What is the {match['what']} of {match['x']} and {match['y']}?", match["unit"][:-1].lower()
        )
    if (match := _FIRST_AND_LAST.match(text)) is not None and match["a"].lower() != match["b"].lower():
        return ValueSpread(f"When were the {match['what']}?", match["unit"][:-1].lower())
    match = _EXTREMES.match(text)
    if match is None:
        return None
    high, low, what = match["high"].lower(), match["low"].lower(), match["what"]
    if {high, low} & _HIGH and {high, low} & _LOW:
        return ValueSpread(f"What is the average {what}?")
    plain, other = positive(high), positive(low)
    opposite = (
        plain and other and plain != high and other != low and DIMENSIONS[plain][0] != DIMENSIONS[other][0]
    )
    if not (plain and opposite):
        return None
    return ValueSpread(f"What is the average {match['noun'] or DIMENSIONS[plain][1].split()[0]} of {what}?")


_LAST = re.compile(
    r"(?i)^\W*when (?P<verb>was|were|did|has|have|is|are) (?P<x>.+?) (?P<end>first|last) (?P<deed>[\w-]+)\W*$"
)


def end_of_time(text: str) -> tuple[str, pl.Fold] | None:
    """Return the question for all times of a deed, and which of them is asked for; None for other questions.

    Example:
        >>> end_of_time("When was the blue van last serviced?")
        ('When was the blue van serviced?', 'maximum')
    """
    match = _LAST.match(text)
    if match is None:
        return None
    fold: pl.Fold = "minimum" if match["end"].lower() == "first" else "maximum"
    return f"When {match['verb']} {match['x']} {match['deed']}?", fold


def end_of(times: Draft, fold: pl.Fold) -> Draft | None:
    """Return the plan of the first or the last of some times."""
    plan = times.plan
    value = plan.columns[0].value if len(plan.columns) == 1 else None
    if plan.limit is not None or plan.grouped or not isinstance(value, pl.Unknown):
        return None
    column = replace(plan.columns[0], value=pl.Aggregate(fold, value, _owners(value, plan)))
    return whole(replace(plan, columns=(column,)), times)


def as_difference(text: str) -> str | None:
    """Return the question for a difference of two times of things; None for other questions.

    Example:
        >>> as_difference("How many days lie between the arrival dates of Ada and Ben?")
        'What is the difference between the arrival dates of Ada and Ben?'
    """
    match = _YEARS.match(text) or _TIMES.match(text)
    if match is None:
        return None
    what, x, y, unit = match["what"], match["x"], match["y"], match["unit"]
    # Days are what is counted where nothing else is said; a property may be called so.
    told = "" if unit.lower() == "days" else f" in {unit}"
    return f"What is the difference{told} between the {what} of {x} and {y}?"


def apart_by(found: ValueSpread, values: Draft, schema: Schema) -> Draft | None:
    """Return the plan of how far some values lie apart.

    Args:
        found: What is asked for.
        values: The plan that finds the values, or folds them.
        schema: The schema.
    """
    plan = values.plan
    if plan.limit is not None or plan.having or plan.group_by or not values.shown:
        return None
    value = values.values[-1]
    if isinstance(value, pl.Aggregate):
        value_, of = value.value, value.of
        if len(values.shown) > 1 or not value.where.empty or value.function != "average":
            return None
    else:
        value_, of = value, _owners(value, plan)
    if value_ is None or isinstance(value_, pl.Aggregate) or not of:
        return None
    counted = _counted(value_, plan, schema, found.unit)
    if counted is None:
        return None
    high, low = (pl.Aggregate(f, counted, of) for f in ("maximum", "minimum"))
    difference: pl.Expression = pl.Arithmetic(high, "-", low)
    if found.unit in _DAYS:
        days = pl.Days(low, high)
        difference = days if found.unit == "day" else pl.Arithmetic(days, "/", Literal(_DAYS[found.unit]))
    column = pl.Column(difference, "difference")
    return whole(pl.Plan(plan.where, (column,)), values, shown=(column.name,))


def _owners(value: pl.Expression, plan: pl.Plan) -> tuple[pl.Unknown, ...]:
    """Return the things that have a value."""
    within = [*pl.parts(value)]
    owners = (p.subject for p in plan.where.patterns if p.object in within)
    return tuple(owner for owner in owners if isinstance(owner, pl.Unknown))


def counts_days(draft: Draft) -> bool:
    """Return whether a plan tells how far dates lie apart."""
    values = [c.value for c in draft.plan.columns]
    return any(isinstance(e, pl.Days) for v in values for e in (v, getattr(v, "left", None)))


def days_apart(one: Draft, other: Draft, unit: str) -> Draft:
    """Return the plan of how far two dates lie apart, whichever is the earlier.

    Args:
        one: The plan that finds the one.
        other: The plan that finds the other.
        unit: What is counted; "" for days.

    Raises:
        Unbuildable: If more is asked for.
    """
    blocks = one.plan.where, other.plan.where
    plain = all(b == pl.Block(b.patterns, b.conditions) for b in blocks)
    value, same = one.lone_value, other.lone_value
    if not plain or blocks[0] == blocks[1]:
        raise Unbuildable("a difference of dates")
    if not isinstance(value, pl.Unknown) or not isinstance(same, pl.Unknown):
        raise Unbuildable("a difference of dates")
    both = pl.Block(either=((blocks[0], substituted(blocks[1], {same: value})),))
    low, high = (pl.Aggregate(f, value, (value,)) for f in ("minimum", "maximum"))
    days: pl.Expression = pl.Days(low, high)
    if (size := _DAYS.get(unit or "day", Decimal("365.25"))) != 1:
        days = pl.Arithmetic(days, "/", Literal(size))
    return replace(
        one,
        plan=pl.Plan(both, (pl.Column(days, "difference"),)),
        shown=("difference",),
        matches=(*one.matches, *other.matches),
        joins=one.joins + other.joins,
        guesses=one.guesses + other.guesses,
        ignored=tuple(w for w in one.ignored if w in other.ignored and not (unit and unit_of([w]))),
        choices={},
    )


def _counted(value: pl.Expression, plan: pl.Plan, schema: Schema, unit: str) -> pl.Expression | None:
    """Return what is subtracted: a date as its year, a number as it is; None where neither fits."""
    plain = next((e for e in pl.parts(value) if isinstance(e, pl.Unknown)), None)
    info = next(
        (
            i
            for p in plan.where.patterns
            if p.object == plain and (i := schema.properties.get(str(p.predicate)))
        ),
        None,
    )
    if info is None or info.kind not in ("number", "date"):
        return None
    if info.kind == "number":
        # The least and the greatest of numbers are those of numbers, not of their texts.
        return None if unit in _DAYS else value if isinstance(value, pl.Number) else pl.Number(value)
    if unit in _DAYS:
        return value
    return pl.DatePart("year", value) if unit == "year" else None
