"""Things compared with the average of their own group: "who earns more than the average of their town".

The question is read with a number in the place of that average, and the things by their groups; then the
number of each is compared with the average of the group that it is in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rdflib import RDF, Literal

from mrag.errors import ConfigError
from mrag.planning import plan as pl
from mrag.planning.algebra.rewriting import substituted
from mrag.planning.algebra.scopes import check, mentioned, merged
from mrag.planning.building.choices import Draft
from mrag.planning.lexical.candidates import Candidate
from mrag.planning.schema import Schema

Read = Callable[[str], Sequence[Draft]]
Named = Callable[[str], Sequence[Candidate]]

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
_STAND_IN: Final = "13571"
"""A number that stands in a question for an average that is not known yet."""


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
    return Level(f"{match['head']} {_STAND_IN}?", match["what"].strip(), match["group"].lower())


def above_level(level: Level, read: Read, named: Named, schema: Schema) -> Iterator[Draft]:
    """Yield drafts of a question that compares things with the average of their group.

    Args:
        level: What is compared.
        read: Reads a question; best drafts first.
        named: Returns what words may name as a whole, best first.
        schema: The schema.
    """
    for draft in [d for d in read(level.text)[:2] if not d.ignored]:
        where = draft.plan.where
        bounds = [c for c in where.conditions if isinstance(c, pl.Comparison) and _stands_in(c.right)]
        if len(bounds) != 1 or not isinstance(bounds[0].left, pl.Number):
            continue
        number = bounds[0].left
        said = [p for p in where.patterns if p.object == number.value]
        if len(said) != 1 or not isinstance(said[0].subject, pl.Unknown):
            continue
        if level.what and not _is_of(level.what, said[0], named, schema):
            continue
        for kind in sorted(schema.properties[str(said[0].predicate)].domains):
            called = schema.classes[kind].names[0] if kind in schema.classes else ""
            for split in [d for d in read(f"number of {called} for each {level.group}")[:2] if not d.ignored]:
                if called and (found := _compared(draft, bounds[0], said[0], split)) is not None:
                    yield found
                    return


def _is_of(what: str, said: pl.Pattern, named: Named, schema: Schema) -> bool:
    """Return whether words name the number that is compared, or the things that have it."""
    info = schema.properties[str(said.predicate)]
    return any(c.term == info.iri or c.term in info.domains for c in named(what)[:3])


def _compared(draft: Draft, bound: pl.Comparison, said: pl.Pattern, split: Draft) -> Draft | None:
    """Return a draft with the average of each group in the place of a number."""
    groups, thing = split.plan, said.subject
    shown = [c.value for c in groups.columns if c.name in split.shown]
    keys = [v for v in shown if isinstance(v, pl.Unknown)]
    counts = [v for v in shown if isinstance(v, pl.Aggregate)]
    plain = len(keys) == len(counts) == 1 and not groups.having and groups.limit is None
    if not plain or len(counts[0].of) != 1 or not isinstance(thing, pl.Unknown):
        return None
    counted, key = counts[0].of[0], keys[0]
    value = said.object
    assert isinstance(value, pl.Unknown)
    taken = {u.name for u in mentioned(draft.plan.where)} | {c.name for c in draft.plan.columns}
    by: dict[pl.Place, pl.Place] = {
        u: thing if u == counted else _fresh(f"its_{u.name}", taken) for u in sorted(mentioned(groups.where))
    }
    group, level = by[key], _fresh(f"average_{value.name}", taken)
    if not isinstance(group, pl.Unknown) or group == thing:
        return None
    of_each = substituted(groups.where, by)
    peers = pl.Plan(
        merged(pl.Block((said,)), of_each),
        (
            pl.Column(group, group.name),
            pl.Column(pl.Aggregate("average", pl.Number(value), (thing,)), level.name),
        ),
    )
    where = draft.plan.where
    kept = replace(where, conditions=tuple(c for c in where.conditions if c is not bound))
    above = pl.Comparison(pl.Number(value), bound.relation, pl.Number(level))
    linked = tuple(p for p in of_each.patterns if p.predicate != RDF.type)
    whole = merged(kept, replace(of_each, patterns=linked), pl.Block(conditions=(above,), plans=(peers,)))
    found = replace(draft.plan, where=whole)
    try:
        check(found)
    except ConfigError:
        return None
    return replace(
        draft,
        plan=found,
        matches=(*draft.matches, *split.matches),
        joins=draft.joins + split.joins,
        guesses=draft.guesses + split.guesses,
        choices={},
    )


def _stands_in(value: pl.Expression) -> bool:
    return isinstance(value, Literal) and str(value) == _STAND_IN


def _fresh(name: str, taken: set[str]) -> pl.Unknown:
    found = next(n for n in (name, *(f"{name}_{i}" for i in range(1, 99))) if n not in taken)
    return pl.Unknown(found)
