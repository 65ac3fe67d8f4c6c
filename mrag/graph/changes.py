"""Which entities the latest changes touched, kept with the record, so that what is derived can follow.

Each change that is small and whose triples are known leaves an entry in the system graph, in the
transaction that makes the change. There are so many places, taken in turn, so what is kept stays small.
A change without an entry breaks the chain, and whoever comes from before it reads the graph whole; so does
an entry of a larger change, which says only when it was made and by what.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeAlias

import pyoxigraph as ox
from rdflib import BNode, Literal

from mrag.graph.record import SYSTEM
from mrag.rdf import queries
from mrag.rdf.patterns import to_data
from mrag.rdf.terms import MRAG, Triple, to_ox
from mrag.stores.base import Dataset, TripleStore

_PLACES = 64
_MOST = 5_000
"""Entities that an entry names; one of a change that touches more does not say which."""
_MARKS = 50_000
"""Triples that an entry has marks of."""
_OX = (ox.NamedNode, ox.Literal, ox.BlankNode, ox.Triple)
_UNNAMED = (BNode, ox.BlankNode, ox.Triple)
_Terms: TypeAlias = "Iterable[Triple | ox.Triple | ox.Quad]"


@dataclass(frozen=True)
class TouchedEntities:
    """The entities that a change touched.

    Attributes:
        entities: Subjects and objects of the triples that came or went.
        texts: Those whose texts are others now, which may be their names.
        came: Marks of the triples that came, see `mark`.

    Example:
        >>> from rdflib import URIRef
        >>> found = TouchedEntities.of([(URIRef("urn:a"), URIRef("urn:p"), URIRef("urn:b"))])
        >>> found is not None and sorted(found.entities)
        ['urn:a', 'urn:b']
    """

    entities: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()
    came: frozenset[str] = frozenset()

    @classmethod
    def of(cls, come: _Terms, gone: _Terms = ()) -> TouchedEntities | None:
        """Return what triples that come or go touch; None for too many, or if a blank node is among them."""
        new, old = cls._of(come), cls._of(gone, marked=False)
        return None if new is None or old is None else new | old

    @classmethod
    def _of(cls, triples: _Terms, *, marked: bool = True) -> TouchedEntities | None:
        entities, texts, came = set[str](), set[str](), set[str]()
        for triple in triples:
            s, p, o = [*triple][:3]
            if isinstance(s, _UNNAMED) or isinstance(o, _UNNAMED):
                return None  # their names in the store are others
            entities.add(_name(s))
            if isinstance(o, Literal | ox.Literal):
                texts.add(_name(s))
            else:
                entities.add(_name(o))
            if marked and len(came) < _MARKS:
                came.add(mark(s, p, o))
            if len(entities) > _MOST:
                return None
        return cls(frozenset(entities), frozenset(texts), frozenset(came))

    def __or__(self, other: TouchedEntities) -> TouchedEntities:
        return TouchedEntities(
            self.entities | other.entities, self.texts | other.texts, self.came | other.came
        )


@dataclass(frozen=True)
class GraphChange:
    """What made a change, and what it touched.

    Attributes:
        by: `load`, `insert`, `update`, `reasoning`, `concept`, `repair`, or `clear` and `replace`, which
            leave nothing of what was asserted before.
        what: The name of the file and how many more there were, or the name of the concept.
        touched: What it touched; None where that is not known, or too much to keep.
    """

    by: str
    what: str = ""
    touched: TouchedEntities | None = None


@dataclass(frozen=True)
class RecordedChange:
    """A change as it was kept.

    Attributes:
        since: The revision before it.
        revision: The revision that it led to.
        at: When it was made, in UTC; empty where that was not kept.
        change: What made it, and what it touched.
    """

    since: int
    revision: int
    at: str
    change: GraphChange


def mark(s: Any, p: Any, o: Any) -> str:
    """Return a short text by which a triple is known again, for terms of rdflib and of pyoxigraph.

    Example:
        >>> from rdflib import URIRef
        >>> mark(URIRef("urn:a"), ox.NamedNode("urn:p"), Literal("x"))
        '4d737c93'
    """
    line = " ".join(str(t if isinstance(t, _OX) else to_ox(t)) for t in (s, p, o))
    return f"{zlib.crc32(line.encode()):08x}"


def places(kg: str, revision: int | None = None) -> list[str]:
    """Return the IRIs under which the changes of a knowledge graph are kept, or that of one revision.

    Args:
        kg: IRI of the knowledge graph.
        revision: The revision that a change leads to.
    """
    numbers = range(_PLACES) if revision is None else [revision % _PLACES]
    return [f"{kg}:change:{number}" for number in numbers]


def entry(kg: str, before: int, after: int, change: GraphChange) -> str:
    """Return the update that keeps what a change touched, and when and by what it was made.

    Args:
        kg: IRI of the knowledge graph.
        before: Its revision before the change.
        after: Its revision after it.
        change: The change.
    """
    [place] = places(kg, after)
    at = datetime.now(UTC).isoformat(timespec="seconds")
    kept: dict[str, Any] = {"from": before, "to": after, "at": at, "by": change.by, "what": change.what}
    if (touched := change.touched) is not None:
        kept["texts"] = sorted(touched.texts)
        kept["entities"] = sorted(touched.entities - touched.texts)
        kept["came"] = "".join(sorted(touched.came))
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
    known = {one.since: one for one in recorded(store, kg, since, until)}
    found, at = TouchedEntities(), since
    while at != until:
        one = known.pop(at, None)
        if one is None or one.change.touched is None or not at < one.revision <= until:
            return None
        found |= one.change.touched
        at = one.revision
    return found


def recorded(store: TripleStore, kg: str, since: int, until: int) -> list[RecordedChange]:
    """Return the changes between two revisions that are still kept, in their order.

    Args:
        store: The store.
        kg: IRI of the knowledge graph.
        since: The earlier revision.
        until: The later one.
    """
    wanted = range(max(since + 1, until - _PLACES + 1), until + 1)
    names = [place for revision in wanted for place in places(kg, revision)]
    if not names:
        return []
    rows = store.select(queries.get("kg/changes").bind(change=names), Dataset((SYSTEM,), (SYSTEM,)))
    found = [_read(json.loads(str(text))) for _, text in rows]
    return sorted((one for one in found if one.revision in wanted), key=lambda one: one.revision)


def _read(kept: dict[str, Any]) -> RecordedChange:
    touched = None
    if "entities" in kept:
        texts, marks = frozenset(kept["texts"]), kept.get("came", "")
        came = frozenset(marks[at : at + 8] for at in range(0, len(marks), 8))
        touched = TouchedEntities(texts | frozenset(kept["entities"]), texts, came)
    change = GraphChange(kept.get("by", ""), kept.get("what", ""), touched)
    return RecordedChange(kept["from"], kept["to"], kept.get("at", ""), change)


def _name(term: Any) -> str:
    return str(term.value) if isinstance(term, ox.NamedNode) else str(term)
