"""Numbers of parts and of units as measures: a book is as long as it has pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from mrag.planning.lexical.candidates import Dimension
from mrag.planning.lexical.schema_words import SchemaName
from mrag.planning.lexical.synonyms import DIMENSIONS
from mrag.planning.lexical.words import is_empty, root
from mrag.planning.schema import Schema
from mrag.text.tokens import words, words_in

_LENGTH: Final = words(
    "page minute hour second day week month year word line verse stanza chapter scene act episode season "
    "track song slide stop station stage step lap mile kilometre kilometer metre meter foot km m mi ft min"
)
_SIZE: Final = words(
    "employee worker staff inhabitant resident citizen member student pupil player user seat room bed place "
    "page volume item piece floor passenger acre hectare litre liter"
)
_HEIGHT: Final = words("floor storey story level metre meter foot m ft")
_WEIGHT: Final = words("kilogram kilo gram ton tonne pound ounce kg g lb")
_PARTS: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys(("long", "short"), _LENGTH),
    **dict.fromkeys(("large", "big", "small"), _SIZE),
    **dict.fromkeys(("tall", "high", "low"), _HEIGHT),
    **dict.fromkeys(("heavy", "light"), _WEIGHT),
}
"""What the adjectives of extent may be counted in."""

_COUNTING: Final = frozenset(map(root, words("number count total amount quantity num no nr length size in")))
_SCORE: Final = 0.7


def counted_measures(adjective: str, names: Iterable[SchemaName], schema: Schema) -> list[Dimension]:
    """Return the numbers of parts or units that an adjective of extent may be said of.

    Args:
        adjective: In its plain form.
        names: The names of the graph's classes and properties.
        schema: Its schema.
    """
    parts = _PARTS.get(adjective)
    if parts is None:
        return []
    known = frozenset(map(root, parts))
    direction = DIMENSIONS[adjective][0]
    found = list[Dimension]()
    for name in names:
        info = schema.properties.get(name.term) if name.kind == "property" else None
        if info is None or info.kind != "number":
            continue
        things = (schema.classes[c].names for c in info.domains if c in schema.classes)
        owners = {root(w) for called in things for n in called for w in words_in(n)}
        weighty = {r for k, r in zip(name.keys, name.roots, strict=True) if not is_empty(k)}
        if (weighty - _COUNTING) - owners and (weighty - _COUNTING) - owners <= known:
            found.append(Dimension(name.term, _SCORE, direction, name.name))
    return found
