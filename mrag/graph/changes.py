"""Which entities the latest changes touched, kept with the record, so that what is derived can follow.

Each change that is small and whose triples are known leaves an entry in the system graph, in the
transaction that makes the change. There are so many places, taken in turn, so what is kept stays small.
A change without an entry breaks the chain, and whoever comes from before it reads the graph whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import pyoxigraph as ox
from rdflib import BNode, Literal

from mrag.graph.record import SYSTEM
from mrag.rdf import queries
from mrag.rdf.printing import to_data
from mrag.rdf.terms import MRAG, Triple
from mrag.stores.base import Dataset, TripleStore

_PLACES = 64
_MOST = 500
"""Entities that an entry names; a change that touches more leaves none."""
_UNNAMED = (BNode, ox.BlankNode, ox.Triple)
_Terms: TypeAlias = "Iterable[Triple | ox.Triple | ox.Quad]"


@dataclass(frozen=True)
class TouchedEntities:
    """The entities that a change touched.

    Attributes:
        entities: Subjects and objects of the triples that came or went.
        texts: Those whose texts are others now, which may be their names.

    Example:
        >>> from rdflib import URIRef
        >>> found = TouchedEntities.of([(URIRef("urn:a"), URIRef("urn:p"), URIRef("urn:b"))])
        >>> found is not None and sorted(found.entities)
        ['urn:a', 'urn:b']
    """

    entities: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()

    @classmethod
    def of(cls, triples: _Terms) -> TouchedEntities | None:
        """Return what triples that come or go touch; None for too many, or if a blank node is among them."""
        entities, texts = set[str](), set[str]()
        for triple in triples:
            s, _, o = [*triple][:3]
            if isinstance(s, _UNNAMED) or isinstance(o, _UNNAMED):
                return None  # their names in the store are others
            entities.add(_name(s))
            if isinstance(o, Literal | ox.Literal):
                texts.add(_name(s))
            else:
                entities.add(_name(o))
            if len(entities) > _MOST:
                return None
        return cls(frozenset(entities), frozenset(texts))

    def __or__(self, other: TouchedEntities) -> TouchedEntities:
        return TouchedEntities(self.entities | other.entities, self.texts | other.texts)


def places(kg: str, revision: int | None = None) -> list[str]:
    """Return the IRIs under which the changes of a knowledge graph are kept, or that of one revision.

    Args:
        kg: IRI of the knowledge graph.
        revision: The revision that a change leads to.
    """
    numbers = range(_PLACES) if revision is None else [revision % _PLACES]
    return [f"{kg}:change:{number}" for number in numbers]


def entry(kg: str, before: int, after: int, touched: TouchedEntities) -> str:
    """Return the update that keeps what a change touched.

    Args:
        kg: IRI of the knowledge graph.
        before: Its revision before the change.
        after: Its revision after it.
        touched: What it touched.
    """
    [place] = places(kg, after)
    kept = {"from": before, "to": after, "texts": sorted(touched.texts)}
    kept["entities"] = sorted(touched.entities - touched.texts)
    literal = ox.Literal(json.dumps(kept, separators=(",", ":")))
    quad = ox.Quad(ox.NamedNode(place), ox.NamedNode(MRAG + "touched"), literal, ox.NamedNode(SYSTEM))
    return f"{queries.get('update/forget').bind(kg=[place])};\n{to_data([], [quad])}"


def touched_since(store: TripleStore, kg: str, since: int, until: int) -> TouchedEntities | None:
    """Return what all changes between two revisions touched, or None if that is not known.

    Args:
        store: The store.
        kg: IRI of the knowledge graph.
        since: The earlier revision.
        until: The later one.
    """
    if since == until:
        return TouchedEntities()
    query = queries.get("kg/changes").bind(change=places(kg))
    kept = [json.loads(str(text)) for _, text in store.select(query, Dataset((SYSTEM,), (SYSTEM,)))]
    known: dict[int, dict[str, Any]] = {one["from"]: one for one in kept}
    found, at = TouchedEntities(), since
    while at != until:
        one = known.pop(at, None)
        if one is None or not at < one["to"] <= until:
            return None
        texts = frozenset(one["texts"])
        found |= TouchedEntities(texts | frozenset(one["entities"]), texts)
        at = one["to"]
    return found


def _name(term: Any) -> str:
    return str(term.value) if isinstance(term, ox.NamedNode) else str(term)
