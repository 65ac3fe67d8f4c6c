"""Things compared with the average of their own group: "who earns more than the average of their town".

The question is read with a number in the place of that average, and the things by their groups; then the
number of each is compared with the average of the group that it is in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from rdflib import RDF

from mrag.planning import plan as pl
from mrag.planning.comparing.stand_ins import NUMBER, compared_value
from mrag.planning.composing.drafts import Draft, Named, Read, also_holding, folded_by, fully_read
from mrag.planning.schema import Schema
from mrag.planning.scopes import mentioned, merged, names_of, substituted, unused

_OWN: Final = r"(?:(?:its|their|his or her|his|her|the) (?:(?:own|same|respective) )?|that )"
_MORE: Final = (
    r"(?:more|less|fewer|\w+er)(?: (?!than\b)[\w-]+){0,3} than|above|below|over|under|exceeds?|exceeding"
)
_FORM: Final = re.compile(
    rf"(?i)^(?P<head>.+?\b(?:{_MORE})) (?:the |an )?(?:average|mean)(?P<what>(?: (?!of\b)[\w-]+){{0,3}}?)"
    rf" (?:of|in|for|at|within|among)(?: the)?(?: others?| all)?(?: of| in)? {_OWN}"
    r"(?P<group>[\w-]+(?: [\w-]+){0,2}?)\W*$"
)
_LONGEST: Final = 40
"""Words of the longest question that is looked at."""


@dataclass(frozen=True)
class Level:
    """A question that compares things with the average of their group.

    Attributes:
        text: The question with a number in the place of the average.
        what: The words for what is averaged, or for the things; "" where it says neither.
        group: The words for the group.
    """

    text: str
    what: str
    group: str


def level_of(text: str) -> Level | None:
    """Return what a question compares with the average of a group; None for other questions.

    Example:
        >>> level_of("Which films run longer than the average film of the same genre?")
        Level(text='Which films run longer than 13571?', what='film', group='genre')
        >>> level_of("Who earns more than the average of their town?")
        Level(text='Who earns more than 13571?', what='', group='town')
        >>> level_of("Which films run longer than the average?")
    """
    match = _FORM.match(text) if len(text.split()) <= _LONGEST else None
    if match is None:
        return None
    return Level(f"{match['head']} {NUMBER}?", match["what"].strip(), match["group"].lower())


def above_level(level: Level, read: Read, named: Named, schema: Schema) -> Iterator[Draft]:
    """Yield drafts of a question that compares things with the average of their group.

    Args:
        level: What is compared.
        read: Reads a question; best drafts first.
        named: Returns what words may name as a whole, best first.
        schema: The schema.
    """
    for draft in fully_read(read(level.text), 2):
        if (found := compared_value(draft)) is None:
            continue
        kept, bound, said = found
        if bound.left != pl.Number(said.object):
            continue
        if level.what and not _is_of(level.what, said, named, schema):
            continue
        for kind in sorted(schema.properties[str(said.predicate)].domains):
            called = schema.classes[kind].names[0] if kind in schema.classes else ""
            for split in fully_read(read(f"number of {called} for each {level.group}"), 2):
                if called and (whole := _compared(kept, bound, said, split)) is not None:
                    yield whole
                    return


def _is_of(what: str, said: pl.Pattern, named: Named, schema: Schema) -> bool:
    """Return whether words name the number that is compared, or the things that have it."""
    info = schema.properties[str(said.predicate)]
    return any(c.term == info.iri or c.term in info.domains for c in named(what)[:3])


def _compared(kept: Draft, bound: pl.Comparison, said: pl.Pattern, split: Draft) -> Draft | None:
    """Return a draft of what is compared, with the average of each group in the place of a number."""
    folded, thing, value = folded_by(split), said.subject, said.object
    if folded is None or not isinstance(thing, pl.Unknown) or not isinstance(value, pl.Unknown):
        return None
    key, fold = folded
    taken = names_of(kept.plan)
    by: dict[pl.Place, pl.Place] = {
        u: thing if u == fold.of[0] else unused(f"its_{u.name}", taken)
        for u in sorted(mentioned(split.plan.where))
    }
    group, level = by[key], unused(f"average_{value.name}", taken)
    if not isinstance(group, pl.Unknown) or group == thing:
        return None
    of_each = substituted(split.plan.where, by)
    average = pl.Aggregate("average", pl.Number(value), (thing,))
    peers = pl.Plan(
        merged(pl.Block((said,)), of_each), (pl.Column(group, group.name), pl.Column(average, level.name))
    )
    above = pl.Comparison(pl.Number(value), bound.relation, pl.Number(level))
    linked = tuple(p for p in of_each.patterns if p.predicate != RDF.type)
    grouped = merged(replace(of_each, patterns=linked), pl.Block(conditions=(above,), plans=(peers,)))
    return also_holding(kept, grouped, split)
