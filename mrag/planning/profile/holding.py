"""What holds of all triples of a property, so that no query has to ask for it again.

The classes of samples are only guesses, so each guess is looked through.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from mrag.graph.kg import KnowledgeGraph
from mrag.planning.profile.usage import PropertyUsage
from mrag.rdf import queries
from mrag.rdf.terms import XSD

_WORTH: Final = 500
"""Triples from which on it is worth knowing."""
_MOST: Final = 10_000_000
"""Triples that are looked through in all."""
_NEARLY: Final = 0.98
_CLASSES: Final = 50
_SETS: Final = 3


def find_what_holds(kg: KnowledgeGraph, uses: Iterable[PropertyUsage], classes: Mapping[str, int]) -> None:
    """Find classes that all subjects or objects of properties are in, and whether all dates are plain.

    Args:
        kg: The knowledge graph.
        uses: How properties are used; what is found is put there.
        classes: How many members each class has.
    """
    left = _MOST
    for use in sorted(uses, key=lambda use: (use.triples, use.iri)):
        if use.triples < _WORTH:
            continue
        if left < use.triples:
            return
        left -= use.triples
        use.plain_dates = use.every_datatype and _has_plain_dates(kg, use)
        guessed = _sets(use.domains, use.subjects, classes)
        use.subjects_in = [some for some in guessed if _all_in(kg, use, "subjects", some)]
        if use.datatypes.keys() == {""}:
            guessed = _sets(use.ranges, use.objects, classes)
            use.objects_in = [some for some in guessed if _all_in(kg, use, "objects", some)]


def _has_plain_dates(kg: KnowledgeGraph, use: PropertyUsage) -> bool:
    if len(use.datatypes) != 1 or use.datatype not in (XSD + "date", XSD + "dateTime"):
        return False
    name = "dates" if use.datatype == XSD + "date" else "times"
    rows = kg.select(queries.get(f"planning/plain-{name}").bind(property=[use.iri]))
    return [int(str(n)) for (n,) in rows] == [use.triples]


def _sets(shares: Mapping[str, int], size: int, classes: Mapping[str, int]) -> list[list[str]]:
    """Return sets of classes that may hold all of so many things, those of the fewest members first."""
    full = [c for c, n in shares.items() if c and n >= _NEARLY * size]
    if full:
        return [[c] for c in sorted(full, key=lambda c: (classes.get(c, 0), c))[:_SETS]]
    return [sorted(shares)] if shares and "" not in shares and len(shares) <= _CLASSES else []


def _all_in(kg: KnowledgeGraph, use: PropertyUsage, end: str, classes: list[str]) -> bool:
    text = queries.get(f"planning/{end}-outside").bind(property=[use.iri], **{"class": classes})
    return [str(n) for (n,) in kg.select(text)] == ["0"]
