"""Which properties say where something is."""

from __future__ import annotations

from collections.abc import Collection

from mrag.planning.schema import PropertyInfo, Schema
from mrag.text.tokens import stem

_PLACES = ("location", "located", "place", "city", "town", "state", "region", "country", "site", "area")
_PLACING = ("in", "at", "on", "near")
_ADDRESSED = frozenset((*_PLACES, "address", "street", "county", "province", "district"))

PLACE_WORDS = (
    "address", "location", "residence", "city", "town", "place", "country", "state", "region", "county",
    "district", "origin",
)  # fmt: skip
"""Words of properties that tell a place by its name alone, the surest first."""

NOWHERE = len(_PLACES)
"""The rank of a property that does not say where something is."""


def place_rank(info: PropertyInfo, schema: Schema, asked: Collection[str]) -> int:
    """Return how surely a property says where something is, the surest first.

    Args:
        info: The property.
        schema: The schema.
        asked: Stems of the question's words; "works in" says where, if it asks where somebody works.
    """
    words = info.names[0].lower().split()
    if len(words) == 2 and words[1] in _PLACING and stem(words[0]) in asked:
        return -1
    names = [*info.names[:1], *(schema.classes[c].names[0] for c in info.ranges if c in schema.classes)]
    said = {w for name in names for w in name.lower().split()}
    return next((n for n, word in enumerate(_PLACES) if word in said), NOWHERE)


def ways_to_say_where(cls: str, schema: Schema) -> int:
    """Return how many properties say where a thing of a class is, or where something that tells of it is.

    A restaurant has a city, and its location has a street and a city; but that a city is in a state which is
    in a country says one thing.
    """
    own = [info for info in schema.properties.values() if cls in info.domains]
    ends = {c for info in own for c in info.ranges}
    tells = {e.source for e in schema.edges if e.target == cls} - ends | {cls}
    return sum(
        bool(tells & set(info.domains))
        and cls not in info.ranges
        and not _ADDRESSED.isdisjoint(info.names[0].lower().split())
        for info in schema.properties.values()
        if info.kind in ("entity", "text")
    )
