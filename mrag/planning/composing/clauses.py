"""Questions whose whole form tells what is computed of a simpler question."""

from __future__ import annotations

from collections.abc import Sequence

from mrag.planning.composing.alongside import also_told, with_its_number
from mrag.planning.composing.drafts import Draft, Read, fully_read
from mrag.planning.composing.foremost import foremost, per_group
from mrag.planning.composing.spreads import apart_by, as_difference, counts_days, end_of, end_of_time, spread
from mrag.planning.schema import Schema


def apart(text: str, best: Read, schema: Schema) -> list[Draft]:
    """Return drafts of how far values lie apart, of the first or last time of something, and of the like.

    Args:
        text: The question.
        best: Reads a question that holds no other; best drafts first.
        schema: The schema.
    """
    found: Sequence[Draft | None] = ()
    if spread(text) is not None or as_difference(text) is not None:
        found = _between(text, best, schema)
    elif (ended := end_of_time(text)) is not None:
        found = [end_of(time, ended[1]) for time in fully_read(best(ended[0]), 3)]
    elif (first := also_told(text)) is not None:
        found = [with_its_number(draft) for draft in fully_read(best(first), 3)]
    elif (group := per_group(text)) is not None:
        found = list(foremost(*group, best, schema))
    return [draft for draft in found if draft is not None]


def _between(text: str, best: Read, schema: Schema) -> Sequence[Draft | None]:
    """Return drafts of how far values lie apart; years may be those of the dates alone."""
    wide, other = spread(text), as_difference(text)
    differ = [] if other is None else [d for d in fully_read(best(other), 3) if counts_days(d)]
    if wide is None or (differ and wide.unit != "year"):
        return differ
    return [d for value in fully_read(best(wide.inner), 3) if (d := apart_by(wide, value, schema))] or differ
