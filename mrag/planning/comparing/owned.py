"""Things of which something is said beside what is their own: "students taught by their own advisor".

The question is read with a name in the place of what is their own; that name is then what each thing has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from rdflib import RDF, URIRef

from mrag.planning import plan as pl
from mrag.planning.building.literals import identifier
from mrag.planning.composing.drafts import Draft, Named, ReadWith, also_holding, fully_read
from mrag.planning.lexical.candidates import Candidate
from mrag.planning.reading.frame import DESCRIBED
from mrag.planning.schema import Schema, by_number
from mrag.planning.scopes import names_of, unused, with_unknowns

_FORM: Final = re.compile(
    r"(?i)^(?P<head>.+?) (?:their|its|his or her|his|her) own (?P<what>[\w-]+(?: [\w-]+)?)(?P<rest>\W*)$"
)
OWN: Final = "xqown"
"""A word that no graph has, for what is their own."""


@dataclass(frozen=True)
class Owned:
    """A question that says something of what things have.

    Attributes:
        text: The question with a word in the place of what they have.
        what: The words for that.
    """

    text: str
    what: str


def owned_of(text: str) -> Owned | None:
    """Return what a question says of things and what is their own; None for other questions.

    Example:
        >>> owned_of("Which students are taught by their own advisor?")
        Owned(text='Which students are taught by xqown?', what='advisor')
        >>> owned_of("Which students have an advisor of their own?")
    """
    match = _FORM.match(text)
    return None if match is None else Owned(f"{match['head']} {OWN}{match['rest']}", match["what"].lower())


def with_their_own(owned: Owned, read: ReadWith, named: Named, schema: Schema) -> Iterator[Draft]:
    """Yield drafts of a question that says something of things and what is their own.

    Args:
        owned: What it says.
        read: Reads a question in which `OWN` is what is given; best drafts first.
        named: Returns what words may name as a whole, best first.
        schema: The schema.
    """
    for found in [c for c in named(owned.what)[:3] if c.kind == "property" and not c.inverse]:
        info = schema.properties[found.term]
        ends = by_number(info.ranges)[:2] if info.kind == "entity" else ()
        for end in ends:
            thing = Candidate("entity", DESCRIBED + OWN, 1.0, OWN, classes=(end,))
            for draft in fully_read(read(owned.text, thing), 3):
                if (whole := _joined(draft, found, {*info.domains}, schema)) is not None:
                    yield whole
                    return


def _joined(draft: Draft, own: Candidate, owners: set[str], schema: Schema) -> Draft | None:
    """Return a draft in which what stands for their own is what the things that it shows have."""
    plan, shown = draft.plan, draft.lone_value
    if isinstance(shown, pl.Aggregate) and shown.value is None and len(shown.of) == 1:
        shown = shown.of[0]
    used = any(own.term == str(p.predicate) for p in plan.where.patterns)
    if not isinstance(shown, pl.Unknown) or not owners & _kinds(shown, plan, schema) or used:
        return None
    other = unused(identifier(own.name), names_of(plan))
    moved = replace(draft, plan=with_unknowns(plan, {URIRef(DESCRIBED + OWN): other}))
    said = pl.Block((pl.Pattern(shown, URIRef(own.term), other),))
    return also_holding(moved, said, matches=(own.score,))


def _kinds(thing: pl.Unknown, plan: pl.Plan, schema: Schema) -> set[str]:
    """Return what the things may be that an unknown stands for."""
    found = set[str]()
    for p in plan.where.patterns:
        info = schema.properties.get(str(p.predicate))
        if p.predicate == RDF.type and p.subject == thing:
            found |= {str(p.object), *schema.above(str(p.object))}
        elif info is not None and thing in (p.subject, p.object):
            found |= {*(info.domains if p.subject == thing else info.ranges)}
    return found
