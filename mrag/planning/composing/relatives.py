"""Things compared with what they are related to themselves: "who earns more than their manager"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rdflib import Literal, URIRef

from mrag.errors import ConfigError
from mrag.planning.algebra.scopes import check, mentioned, merged
from mrag.planning.building.choices import Draft
from mrag.planning.lexical.candidates import Candidate
from mrag.planning.plan import Block, Comparison, Expression, Number, Pattern, Unknown, parts
from mrag.planning.schema import Schema

Read = Callable[[str], Sequence[Draft]]
Named = Callable[[str], Sequence[Candidate]]

_FORM: Final = re.compile(
    r"(?i)^(?P<head>.+?\b(?:more|less|fewer|\w+er|before|after)(?: \w+)?)"
    r"(?P<than> than|(?<=before)|(?<=after)) (?:their|its|his or her|his|her)(?: own)? "
    r"(?P<whose>[a-z]+(?: [a-z]+)?)(?: (?:does|do|did|is|are|was|were|has|have))?\W*$"
)
_STAND_IN: Final = "13571"
_IN_A_YEAR: Final = "1357"
"""A number and a year that stand in a question for what is not known yet."""


@dataclass(frozen=True)
class Relative:
    """A question that compares things with what they are related to.

    Attributes:
        texts: The question with a number in the place of the other thing, or with a year.
        whose: The words for how they are related.
    """

    texts: tuple[str, ...]
    whose: str


def relative_of(text: str) -> Relative | None:
    """Return what a question compares with a relative of the same kind; None for other questions.

    Example:
        >>> relative_of("Who earns more than their manager?")
        Relative(texts=('Who earns more than 13571?',), whose='manager')
    """
    match = _FORM.match(text)
    if match is None:
        return None
    timely = not match["than"].strip()
    stand_in = _IN_A_YEAR if timely else _STAND_IN
    return Relative((f"{match['head']}{match['than']} {stand_in}?",), match["whose"].lower())


def compared_with(relative: Relative, read: Read, named: Named, schema: Schema) -> Iterator[Draft]:
    """Yield drafts of a question that compares things with what they are related to.

    Args:
        relative: What is compared.
        read: Reads a question; best drafts first.
        named: Returns what words may name as a whole, best first.
        schema: The schema.
    """
    for draft in (d for text in relative.texts for d in read(text)[:2] if not d.ignored):
        where = draft.plan.where
        bounds = [c for c in where.conditions if isinstance(c, Comparison) and _stands_in(c.right)]
        values = {u for c in bounds for u in parts(c.left) if isinstance(u, Unknown)}
        said = [p for p in where.patterns if p.object in values]
        if len(bounds) != 1 or len(said) != 1 or not isinstance(said[0].subject, Unknown):
            continue
        for link, score in _links(relative, said[0], draft, named, schema):
            taken = {u.name for u in mentioned(where)} | {c.name for c in draft.plan.columns}
            other, value = (_fresh(n, taken) for n in ("other", "its_value"))
            left = bounds[0].left
            right: Expression = Number(value) if isinstance(left, Number) else value
            own = left if isinstance(left, Number) else said[0].object
            kept = replace(where, conditions=tuple(c for c in where.conditions if c is not bounds[0]))
            block = Block(
                (Pattern(said[0].subject, URIRef(link), other), Pattern(other, said[0].predicate, value)),
                (Comparison(own, bounds[0].relation, right),),
            )
            found = replace(draft.plan, where=merged(kept, block))
            try:
                check(found)
            except ConfigError:
                continue
            yield replace(draft, plan=found, matches=(*draft.matches, score))
            return


def _links(
    relative: Relative, said: Pattern, draft: Draft, named: Named, schema: Schema
) -> Iterator[tuple[str, float]]:
    """Yield the properties that lead from a thing to its relative, of which the same is said."""
    info = schema.properties.get(str(said.predicate))
    kinds = {*info.domains} if info is not None else set()
    for found in named(relative.whose):
        link = schema.properties.get(found.term) if found.kind == "property" else None
        if link is not None and link.kind == "entity" and kinds & {*link.domains} and kinds & {*link.ranges}:
            yield found.term, found.score
            return
    own = [
        i.iri
        for i in schema.properties.values()
        if i.kind == "entity" and i.functional and kinds & {*i.domains} and kinds & {*i.ranges}
    ]
    if len(own) == 1:
        yield own[0], 0.75


def _stands_in(value: Expression) -> bool:
    return isinstance(value, Literal) and str(value)[:4] == _IN_A_YEAR


def _fresh(name: str, taken: set[str]) -> Unknown:
    return next(Unknown(n) for n in (name, *(f"{name}_{i}" for i in range(1, 99))) if n not in taken)
