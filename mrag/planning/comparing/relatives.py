"""Things compared with what they are related to themselves: "who earns more than their manager"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rdflib import URIRef

from mrag.planning.comparing.stand_ins import NUMBER, YEAR, compared_value
from mrag.planning.composing.drafts import Draft, Named, Read, also_holding, fully_read
from mrag.planning.plan import Block, Comparison, Expression, Number, Pattern
from mrag.planning.schema import Schema
from mrag.planning.scopes import names_of, unused

_FORM: Final = re.compile(
    r"(?i)^(?P<head>.+?\b(?:more|less|fewer|\w+er|before|after)(?: \w+)?)"
    r"(?P<than> than|(?<=before)|(?<=after)) (?:their|its|his or her|his|her)(?: own)? "
    r"(?P<whose>[a-z]+(?: [a-z]+)?)(?: (?:does|do|did|is|are|was|were|has|have))?\W*$"
)


@dataclass(frozen=True)
class Relative:
    """A question that compares things with what they are related to.

    Attributes:
        text: The question with a number in the place of the other thing, or with a year.
        whose: The words for how they are related.
    """

    text: str
    whose: str


def relative_of(text: str) -> Relative | None:
    """Return what a question compares with a relative of the same kind; None for other questions.

    Example:
        >>> relative_of("Who earns more than their manager?")
        Relative(text='Who earns more than 13571?', whose='manager')
    """
    match = _FORM.match(text)
    if match is None:
        return None
    stand_in = NUMBER if match["than"].strip() else YEAR
    return Relative(f"{match['head']}{match['than']} {stand_in}?", match["whose"].lower())


def compared_with(relative: Relative, read: Read, named: Named, schema: Schema) -> Iterator[Draft]:
    """Yield drafts of a question that compares things with what they are related to.

    Args:
        relative: What is compared.
        read: Reads a question; best drafts first.
        named: Returns what words may name as a whole, best first.
        schema: The schema.
    """
    for draft in fully_read(read(relative.text), 2):
        if (found := compared_value(draft)) is None:
            continue
        kept, bound, said = found
        for link, score in _links(relative, said, named, schema):
            other, value = (unused(name, names_of(draft.plan)) for name in ("other", "its_value"))
            number = isinstance(bound.left, Number)
            left: Expression = bound.left if number else said.object
            right: Expression = Number(value) if number else value
            block = Block(
                (Pattern(said.subject, URIRef(link), other), Pattern(other, said.predicate, value)),
                (Comparison(left, bound.relation, right),),
            )
            if (whole := also_holding(kept, block, matches=(score,))) is not None:
                yield whole
                return


def _links(relative: Relative, said: Pattern, named: Named, schema: Schema) -> Iterator[tuple[str, float]]:
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
