"""Things compared with all of some others: "larger than every country in Africa".

More than all of them is more than the greatest of them has. The question is read with a number in the place
of that, and the others by a question of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mrag.planning import plan as pl
from mrag.planning.comparing.stand_ins import NUMBER, compared_value
from mrag.planning.composing.drafts import Draft, Read, also_holding, fully_read
from mrag.planning.schema import Schema

_MORE: Final = r"(?:more|less|fewer|\w+er)(?: (?!than\b)[\w-]+){0,3} than"
_FORM: Final = re.compile(
    rf"(?i)^(?P<head>.+?\b{_MORE}) (?:(?:that|those|the one|the ones) (?:of|in|for) )?"
    r"(?P<how>all(?: of)?|every|each(?: of)?|any|some|at least one)(?: the)? "
    r"(?P<others>(?!others?\b|one\b|else\b|of\b)[a-z].+?)(?: (?:does|do|did|has|have|is|are))?\W*$"
)
_SOME: Final = ("some", "at least one")


@dataclass(frozen=True)
class Beyond:
    """A question that compares things with all of some others, or with some of them.

    Attributes:
        text: The question with a number in the place of theirs.
        others: The words for the others.
        some: Whether it is enough that it holds of one of them.
    """

    text: str
    others: str
    some: bool


def beyond_of(text: str) -> Beyond | None:
    """Return what a question compares with all of some others; None for other questions.

    Example:
        >>> beyond_of("Which lakes are deeper than all lakes in Bern?")
        Beyond(text='Which lakes are deeper than 13571?', others='lakes in Bern', some=False)
        >>> beyond_of("Which lakes are deeper than the Thun?")
    """
    match = _FORM.match(text)
    if match is None:
        return None
    return Beyond(f"{match['head']} {NUMBER}?", match["others"], match["how"].lower() in _SOME)


def compared_with_all(beyond: Beyond, read: Read, schema: Schema) -> Iterator[Draft]:
    """Yield the draft of a question that compares things with all of some others.

    Args:
        beyond: What is compared.
        read: Reads a question; best drafts first.
        schema: The schema.
    """
    for draft in fully_read(read(beyond.text), 2):
        found = compared_value(draft)
        if found is None or found[1].relation not in (">", "<"):
            continue
        kept, bound, said = found
        info = schema.properties[str(said.predicate)]
        fold: pl.Fold = "maximum" if (bound.relation == ">") is not beyond.some else "minimum"
        for other in fully_read(read(f"What is the {fold} {info.names[0]} of all {beyond.others}?"), 2):
            plan = other.plan
            value = plan.columns[0].value if len(plan.columns) == 1 else None
            extreme = isinstance(value, pl.Aggregate) and value.function == fold
            own = any(p.predicate == said.predicate for p in plan.where.patterns)
            if not (extreme and own) or plan.limit is not None or plan.having:
                continue
            block = pl.Block(conditions=(pl.Comparison(bound.left, bound.relation, pl.Scalar(plan)),))
            if (whole := also_holding(kept, block, other)) is not None:
                yield whole
                return
