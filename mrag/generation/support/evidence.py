"""Whether a text says a fact the other way round: "developed by Zeta Systems" is not developing Zeta Systems.

A text that is read for a missing fact says much besides, so it is not derived as a whole. What is looked for
is a predicate behind one end that the relation's own wordings make of the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rdflib import URIRef

from mrag.context.render import Line
from mrag.generation.support.grammar import Derivation, TooLongError, facts_of
from mrag.generation.support.mentions import ContextNames
from mrag.generation.support.relations import relations
from mrag.generation.support.symbols import symbols_of
from mrag.rdf.terms import Triple
from mrag.text.tokens import tokens

_FIRST: Final = URIRef("urn:mrag:first")
_SECOND: Final = URIRef("urn:mrag:second")
_RELATION: Final = URIRef("urn:mrag:relation")
_NAMES: Final = 4
"""Names of each end and of the relation that are looked for."""


def is_turned_round(
    text: str, subject: Sequence[str], relation: Sequence[str], object_: Sequence[str]
) -> bool:
    """Return whether a text says a relation from the object to the subject, and not the other way.

    Args:
        text: A sentence or two.
        subject: Names of the subject of a fact.
        relation: Wordings of its relation, from subject to object.
        object_: Names of its object.

    Example:
        >>> said = "Zetabase is a triple store developed by Zeta Systems."
        >>> is_turned_round(said, ["Zetabase"], ["develops"], ["Zeta Systems"])
        True
        >>> is_turned_round(said, ["Zeta Systems"], ["develops"], ["Zetabase"])
        False
    """
    return _says(text, object_, relation, subject) and not _says(text, subject, relation, object_)


def _says(text: str, subject: Sequence[str], relation: Sequence[str], object_: Sequence[str]) -> bool:
    triple = Triple(_FIRST, _RELATION, _SECOND)
    lines = [
        Line(f"t{at}", "", triple, "", False, (s, p, o))
        for at, (s, p, o) in enumerate(
            (s, p, o) for s in subject[:_NAMES] for p in relation[:_NAMES] for o in object_[:_NAMES]
        )
    ]
    if not lines:
        return False
    names, told = ContextNames(lines), tokens(text)
    symbols = symbols_of(text, told, names.find(text, told))
    derivation = Derivation(symbols, facts_of(lines[:1], names, relations(lines)))
    spoken = {term for s in symbols for _, terms in s.names for term in terms}
    if not spoken >= {_FIRST, _SECOND}:
        return False
    try:
        for start, symbol in enumerate(symbols):
            for size, terms in symbol.names:
                ends = terms & {_FIRST, _SECOND}
                for at in range(start + size, len(symbols)) if ends else ():
                    if any(derivation.predicated(at, (frozenset(ends),))):
                        return True
                if ends and any(steps for _, steps in derivation.clauses(start)):
                    return True
    except (TooLongError, RecursionError):
        return False
    return False
