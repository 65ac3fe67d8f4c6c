"""What the system graph of a store keeps of a knowledge graph, and how it is read and replaced."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias, cast
from typing import Literal as OneOf

import pyoxigraph as ox
from rdflib import BNode, Literal, URIRef

from mrag._tables import tables
from mrag.errors import ConfigError
from mrag.rdf import queries
from mrag.rdf.patterns import to_data
from mrag.rdf.terms import MRAG, RDF, Term, Triple, curie, to_ox
from mrag.rdf.terms import iri as as_iri
from mrag.stores.base import Dataset, TripleStore

SYSTEM = "urn:mrag:system"  # The graph that holds the records; no query sees it but those of this module

UNNAMED = "http://rdf4j.org/schema/rdf4j#nil"  # Stands for what is in no named graph, where graphs are chosen

Status: TypeAlias = OneOf["asserted", "inferred", "enriched", "completed"]
"""Where a triple comes from: the data, reasoning, a model that described something, or evidence."""

_LISTED = 5
_WRITTEN = re.compile(r"urn:mrag:kg:[^:]+:(enriched|completed):\d+|urn:graph:[^:]+:(enriched|completed)")

NAMES: Final = tables("graph/names.toml")
"""What properties and classes are taken for names, labels and parts of vocabularies."""

LABELS: tuple[str, ...] = tuple(NAMES["labels"])  # Properties that label an entity, best first

ALTERNATIVE: tuple[str, ...] = tuple(NAMES["alternative"])  # Properties of other names, beside `LABELS`


_GRAPHS = {
    "asserted": "assertedGraph", "inferred": "inferredGraph", "added": "addedGraph", "came": "cameGraph",
    "removed": "removedGraph", "apart": "apartGraph",
}  # fmt: skip
_NAMED = {"contexts": "contextGraph", "premises": "premiseGraph"}
_NUMBERS = {
    "revision": "revision", "reasoned": "reasonedRevision", "triples": "tripleCount",
    "inferences": "inferenceCount",
}  # fmt: skip
_TEXTS = {
    "pending": "pendingOperation", "profile": "profile", "prefixes": "prefixes", "labels": "labelProperties",
    "born": "born",
}  # fmt: skip
"""The properties by which the fields of a record are kept."""


@dataclass(frozen=True)
class Record:
    """What the system graph keeps of a knowledge graph."""

    # IRIs of the graphs of asserted triples, which share none; the first is the base
    asserted: tuple[str, ...]
    # IRIs of the graphs of inferred triples, earlier rounds of reasoning first
    inferred: tuple[str, ...] = ()
    added: tuple[str, ...] = ()  # Those of `asserted` that came since the last reasoning
    revision: int = 0  # Grows with every change of the triples
    reasoned: int = -1  # Revision that the inferred graphs belong to; -1 before any reasoning
    triples: int = 0  # Triples in the asserted graphs
    inferences: int = -1  # Triples in the inferred graphs; -1 if they have not been counted
    pending: str = ""  # Unfinished work, empty when there is none
    profile: str = ""  # Counts by predicate, with the revision they belong to, as JSON
    prefixes: str = ""  # Prefixes that loaded files declared, as JSON
    labels: str = ""  # Properties that somebody chose to name things, best first, as JSON
    # What tells the record from that of another graph of this name, before or after it, on a server
    born: str = ""
    # Whether the system graph holds this record; what a store had before is read without one
    kept: bool = True
    contexts: tuple[str, ...] = ()  # Named graphs of the clients' own, each with its triples
    merged: str = ""  # That one of `asserted` which holds what only `contexts` assert; empty if there is none
    came: tuple[str, ...] = ()  # Graphs of copies of other triples that came since then
    removed: tuple[str, ...] = ()  # Graphs of copies of triples that went since then
    # Graphs of triples that follow and contradict the ontology, or rest on such; no query sees them
    apart: tuple[str, ...] = ()
    # Those of `contexts` that reasoning reads, `UNNAMED` for what is in none; empty for all
    premises: tuple[str, ...] = ()

    @property
    def outdated(self) -> bool:
        """Return whether the triples have changed since they were last reasoned over."""
        return -1 < self.reasoned != self.revision

    @property
    def changed(self) -> bool:
        """Return whether it says what came and what went since the last reasoning."""
        return bool(self.added or self.came or self.removed)

    @property
    def followed(self) -> bool:
        """Return whether the next reasoning can start from what has changed alone."""
        return bool(self.inferred) and (self.changed or self.reasoned == self.revision)

    @property
    def hidden(self) -> tuple[str, ...]:
        """Return the graphs that belong to it and that no query sees."""
        return (*self.came, *self.removed, *self.apart)

    def without_inferences(self) -> Record:
        """Return it with nothing inferred, so that the next reasoning starts anew."""
        return replace(self, inferred=(), inferences=-1, added=(), came=(), removed=(), apart=())

    @property
    def is_new(self) -> bool:
        """Return whether nothing has ever been loaded."""
        return not self.triples and not self.revision and not self.contexts

    @property
    def chosen_labels(self) -> tuple[str, ...]:
        """Return the properties that somebody chose to name things, best first."""
        return tuple(json.loads(self.labels)) if self.labels else ()


@dataclass(frozen=True)
class Profile:
    """Counts of a knowledge graph, for hub damping and for knowing which properties to look up."""

    predicates: Mapping[str, int] = field(default_factory=dict)
    triples: int = 0
    naming: tuple[tuple[str, ...], ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the properties that name things, best first."""
        return tuple(dict.fromkeys(p for tier in self.naming for p in tier))


def status_of(graph: str, *, inferred: bool = False) -> Status:
    """Return where the triples of a graph come from, by its IRI.

    Args:
        graph: IRI of the graph.
        inferred: Whether it is one of the graphs of inferred triples.

    Example:
        >>> status_of("urn:mrag:kg:main:enriched:2"), status_of("urn:mrag:kg:main:asserted:0")
        ('enriched', 'asserted')
    """
    written = _WRITTEN.fullmatch(graph)
    if inferred or written is None:
        return "inferred" if inferred else "asserted"
    return cast(Status, written[1] or written[2])


def named_graph(record: Record, graph: str, kg: str, prefixes: Mapping[str, str]) -> str:
    """Return the IRI of a named graph."""
    name = str(as_iri(graph, prefixes))
    if name in record.contexts:
        return name
    known = [curie(each, prefixes) for each in record.contexts]
    more = f" and {len(known) - _LISTED} more" if len(known) > _LISTED else ""
    hint = f"It has: {', '.join(known[:_LISTED])}{more}." if known else "It has none."
    raise ConfigError(f"The graph {kg!r} has no named graph {curie(name, prefixes)}.", hint=hint)


def read_record(store: TripleStore, iri: str) -> Record:
    """Read the record of a knowledge graph; a fresh one if there is none."""
    rows = store.select(queries.get("kg/registry").bind(kg=[iri]), Dataset((SYSTEM,), (SYSTEM,)))
    fields: dict[str, list[str]] = {}
    for p, o in rows:
        fields.setdefault(str(p).removeprefix(MRAG), []).append(str(o))

    values: dict[str, Any] = {"asserted": (f"{iri}:asserted:0",), "kept": bool(fields)}
    values |= {key: _in_order(fields[name]) for key, name in _GRAPHS.items() if name in fields}
    values |= {key: tuple(sorted(fields[name])) for key, name in _NAMED.items() if name in fields}
    values |= {key: int(fields[name][0]) for key, name in _NUMBERS.items() if name in fields}
    values |= {key: fields[name][0] for key, name in _TEXTS.items() if name in fields}
    merged = fields.get("mergedGraph", [""])[0]
    return Record(**values, merged=merged)


def record_update(iri: str, record: Record) -> str:
    """Return the update that replaces the record of a knowledge graph."""
    graphs = [(name, graph) for key, name in {**_GRAPHS, **_NAMED}.items() for graph in getattr(record, key)]
    graphs += [("mergedGraph", graph) for graph in (record.merged,) if graph]
    texts = ((name, getattr(record, key)) for key, name in _TEXTS.items())
    rows: list[tuple[URIRef, Term]] = [
        (URIRef(RDF + "type"), URIRef(MRAG + "KnowledgeGraph")),
        *((URIRef(MRAG + name), URIRef(graph)) for name, graph in graphs),
        *((URIRef(MRAG + name), Literal(getattr(record, key))) for key, name in _NUMBERS.items()),
        *((URIRef(MRAG + name), Literal(text)) for name, text in texts if text),
    ]
    # As data, not by a WHERE: after one the engine takes three times as long for the triples that follow.
    subject, graph = ox.NamedNode(iri), ox.NamedNode(SYSTEM)
    quads = [ox.Quad(subject, ox.NamedNode(p), cast(ox.Literal, to_ox(o)), graph) for p, o in rows]
    return f"{queries.get('update/forget').bind(kg=[iri])};\n{to_data([], quads)}"


def joined(before: Record, graph: str, more: int) -> Record:
    """Return the record after triples came to a graph: what was inferred still holds, there may be more."""
    new = graph not in before.asserted
    added = before.added
    # The next reasoning can start from the additions alone only if it finds them in graphs of their own.
    if before.inferred and graph not in added:
        alone = new and before.followed
        if not alone:
            before = before.without_inferences() if before.removed else replace(before, came=())
        added = (*added, graph) if alone else ()
    return replace(
        before, asserted=(*before.asserted, graph) if new else before.asserted, added=added,
        revision=before.revision + 1, triples=before.triples + more, pending="", kept=True,
    )  # fmt: skip


def remove_triples(before: Record, graphs: Set[str], fewer: int, *, gone: bool = False) -> Record:
    """Return the record after triples left graphs: inferences that may rest on them are dropped."""
    # Nothing was inferred yet from graphs that came since the last reasoning.
    untouched = graphs <= {*before.added}
    before = before if untouched else before.without_inferences()
    inferred = before.inferred
    out = graphs if gone else frozenset[str]()
    added = tuple(g for g in before.added if g not in out) if untouched else ()
    revision = before.revision + 1
    return replace(
        before, asserted=tuple(g for g in before.asserted if g not in out), inferred=inferred, added=added,
        revision=revision,
        reasoned=revision if inferred and not (added or before.came or before.removed) else before.reasoned,
        triples=before.triples - fewer, pending="", kept=True,
    )  # fmt: skip


def profile_of(counts: Mapping[str, int], chosen: Sequence[str] = (), guesses: Sequence[str] = ()) -> Profile:
    """Return the profile with these counts by predicate."""
    tiers = (chosen, LABELS, guesses)
    naming = tuple(tuple(p for p in tier if p in counts) for tier in tiers)
    return Profile(dict(counts), sum(counts.values()), naming)


def stored_profile(record: Record) -> Profile | None:
    """Return the profile kept in a record, if it belongs to its revision."""
    kept = json.loads(record.profile) if record.profile else {}
    if kept.get("revision") != record.revision or "naming" not in kept:
        return None
    return profile_of(kept["predicates"], record.chosen_labels, kept["naming"])


def with_profile(profile: Profile, revision: int) -> str:
    """Return the text of a profile for a record."""
    kept = {"revision": revision, "predicates": dict(profile.predicates), "naming": profile.naming[-1]}
    return json.dumps(kept, sort_keys=True)


def _in_order(graphs: list[str]) -> tuple[str, ...]:
    return tuple(sorted(graphs, key=lambda graph: [int(part) for part in re.findall(r"\d+", graph)]))


_PLACES = 64
_MOST = 5_000  # Entities that an entry names; one of a change that touches more does not say which
_MARKS = 50_000  # Triples that an entry has marks of
_OX = (ox.NamedNode, ox.Literal, ox.BlankNode, ox.Triple)
_UNNAMED = (BNode, ox.BlankNode, ox.Triple)
_Terms: TypeAlias = "Iterable[Triple | ox.Triple | ox.Quad]"


@dataclass(frozen=True)
class TouchedEntities:
    """The entities that a change touched."""

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
    """What made a change, and what it touched."""

    by: str
    what: str = ""
    touched: TouchedEntities | None = None


@dataclass(frozen=True)
class RecordedChange:
    """A change as it was kept."""

    since: int
    revision: int
    at: str
    change: GraphChange


def mark(s: Any, p: Any, o: Any) -> str:
    """Return a short text by which a triple is known again, for terms of rdflib and of pyoxigraph."""
    line = " ".join(str(t if isinstance(t, _OX) else to_ox(t)) for t in (s, p, o))
    return f"{zlib.crc32(line.encode()):08x}"


def places(kg: str, revision: int | None = None) -> list[str]:
    """Return the IRIs under which the changes of a knowledge graph are kept, or that of one revision."""
    numbers = range(_PLACES) if revision is None else [revision % _PLACES]
    return [f"{kg}:change:{number}" for number in numbers]


def entry(kg: str, before: int, after: int, change: GraphChange) -> str:
    """Return the update that keeps what a change touched, and when and by what it was made."""
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


def list_touched(store: TripleStore, kg: str, since: int, until: int) -> TouchedEntities | None:
    """Return what all changes between two revisions touched, or None if that is not known."""
    if since == until:
        return TouchedEntities()
    known = {one.since: one for one in recorded_changes(store, kg, since, until)}
    touched, at = TouchedEntities(), since
    while at != until:
        one = known.pop(at, None)
        if one is None or one.change.touched is None or not at < one.revision <= until:
            return None
        touched |= one.change.touched
        at = one.revision
    return touched


def recorded_changes(store: TripleStore, kg: str, since: int, until: int) -> list[RecordedChange]:
    """Return the changes between two revisions that are still kept, in their order."""
    wanted = range(max(since + 1, until - _PLACES + 1), until + 1)
    names = [place for revision in wanted for place in places(kg, revision)]
    if not names:
        return []
    rows = store.select(queries.get("kg/changes").bind(change=names), Dataset((SYSTEM,), (SYSTEM,)))
    changes = [_read(json.loads(str(text))) for _, text in rows]
    return sorted((one for one in changes if one.revision in wanted), key=lambda one: one.revision)


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
