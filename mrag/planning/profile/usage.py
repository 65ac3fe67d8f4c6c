"""How a graph uses its properties: the classes of their subjects and objects, and what their values are.

A small graph is counted through. In a large one the figures that decide something (how many triples, subjects
and objects a property has, its least and greatest value) are exact, and the shares of classes and datatypes
come from samples: of the triples of each property, and of the members of each class.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rdflib import URIRef

from mrag.graph.kg import KnowledgeGraph
from mrag.graph.naming import is_asked
from mrag.planning.profile.kinds import (
    DATES,
    INTEGERS,
    kind_of_texts,
    number_in,
    truth_of_texts,
    units_of_texts,
)
from mrag.planning.schema import Kind
from mrag.rdf import queries
from mrag.rdf.terms import NUMBERS, XSD, Term

Edges = dict[tuple[str, str, str], int]
"""How many triples lead from a class by a property to a class; "" is no class."""

_NUMBERS: Final = frozenset(map(str, NUMBERS))  # a term is never equal to a text
TYPED_KINDS: Final = _NUMBERS | DATES
"""Datatypes of numbers and dates."""
_EXACT: Final = 100_000
_BATCH: Final = 250_000
_TRIPLES: Final = 1_000
_MEMBERS: Final = 500
_CLASSES: Final = 300
_TEXTS: Final = 5_000
_WORDS: Final = 200


@dataclass
class PropertyUsage:
    """What is counted of one property; see `PropertyInfo`.

    Attributes:
        counted: How many triples it had when it was last counted as a whole; 0 where that is not known.
    """

    iri: str
    triples: int
    datatypes: dict[str, int] = field(default_factory=dict)
    subjects: int = 0
    objects: int = 0
    domains: dict[str, int] = field(default_factory=dict)
    ranges: dict[str, int] = field(default_factory=dict)
    kind: Kind = "entity"
    text_numbers: bool = False
    least: str = ""
    greatest: str = ""
    every_datatype: bool = False
    plain_dates: bool = False
    subjects_in: list[list[str]] = field(default_factory=list)
    objects_in: list[list[str]] = field(default_factory=list)
    truth: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    counted: int = 0

    @property
    def datatype(self) -> str:
        """Return the most frequent datatype of the values, "" for things."""
        return min(self.datatypes, key=lambda d: (-self.datatypes[d], d), default="")


def exactly_counted(counts: Mapping[str, int]) -> set[str]:
    """Return the properties that are counted through: those with few triples, as far as all are few together.

    Args:
        counts: How many triples each property has.
    """
    found, total = set[str](), 0
    for p in sorted(counts, key=lambda p: (counts[p], p)):
        total += counts[p]
        if total > _EXACT:
            break
        found.add(p)
    return found


def usage_of(
    kg: KnowledgeGraph,
    counts: Mapping[str, int],
    classes: Mapping[str, int],
    only: Collection[str] | None = None,
) -> tuple[dict[str, PropertyUsage], Edges]:
    """Return how a graph uses some properties, and which classes they link.

    Args:
        kg: The knowledge graph.
        counts: How many triples each property has.
        classes: How many members each class has.
        only: The properties that are wanted; None for all.
    """
    return _Counting(kg, counts, classes, counts if only is None else only).result()


class _Counting:
    def __init__(
        self, kg: KnowledgeGraph, counts: Mapping[str, int], classes: Mapping[str, int], only: Collection[str]
    ) -> None:
        self.kg = kg
        self.classes = classes
        self.uses = {p: PropertyUsage(p, n, counted=n) for p, n in sorted(counts.items()) if p in only}
        self.edges: defaultdict[tuple[str, str, str], int] = defaultdict(int)
        few = exactly_counted(counts)
        self.small = sorted(few & self.uses.keys(), key=lambda p: (self.uses[p].triples, p))
        self.large = [p for p in self.uses if p not in few]

    def result(self) -> tuple[dict[str, PropertyUsage], Edges]:
        for p, n in self._rows("subjects", self.uses):
            self.uses[str(p)].subjects = _count(n)
        self._count_small()
        for name in self.large:
            self._sample_triples(self.uses[name])
        if self.large:
            self._sample_members()
        if self.kg.store.capabilities.edges:
            self._count_datatypes(self.large)
        for use in self.uses.values():
            self._find_kind(use)
        for p, n in self._rows("objects", self.uses):
            self.uses[str(p)].objects = _count(n)
        self._scale_ranges()
        self._find_extremes()
        self._find_flags()
        return self.uses, {e: n for e, n in self.edges.items() if is_asked(e[0]) and is_asked(e[2])}

    def _rows(self, query: str, properties: Iterable[str]) -> Iterator[tuple[Term | None, ...]]:
        for batch in self._batches(properties):
            yield from self.kg.select(queries.get(f"planning/{query}").bind(property=batch))

    def _batches(self, properties: Iterable[str]) -> Iterator[list[str]]:
        batch: list[str] = []
        size = 0
        for p in properties:
            if batch and (size + self.uses[p].triples > _BATCH or len(batch) == 500):
                yield batch
                batch, size = [], 0
            batch.append(p)
            size += self.uses[p].triples
        if batch:
            yield batch

    def _count_datatypes(self, properties: Sequence[str]) -> None:
        for name in properties:
            self.uses[name].datatypes, self.uses[name].every_datatype = {}, True
        for p, datatype, n in self._rows("datatypes", properties):
            self.uses[str(p)].datatypes[_text(datatype)] = _count(n)

    def _count_small(self) -> None:
        self._count_datatypes(self.small)
        for p, c, n in self._rows("subject-classes", self.small):
            _add(self.uses[str(p)].domains, _text(c), _count(n))
        things = [p for p in self.small if "" in self.uses[p].datatypes]
        for p, c, n in self._rows("object-classes", things):
            _add(self.uses[str(p)].ranges, _text(c), _count(n))
        for source, p, target, n in self._rows("edges", things):
            self.edges[_text(source), str(p), _text(target)] += _count(n)

    def _sample_triples(self, use: PropertyUsage) -> None:
        text = queries.get("planning/property-sample").bind(property=[use.iri], sample=_TRIPLES)
        rows = list(self.kg.select(text))
        looked_at = min(use.triples, _TRIPLES)
        for source, datatype, target, n in rows:
            # A thing of several classes is in several rows, so a share is of the triples, not of the rows.
            share = min(1.0, _count(n) / looked_at)
            _add(use.domains, _text(source), max(1, round(share * use.subjects)))
            _add(use.datatypes, _text(datatype), _count(n))
            if not _text(datatype):
                _add(use.ranges, _text(target), max(1, round(share * use.triples)))
                self.edges[_text(source), use.iri, _text(target)] += max(1, round(share * use.triples))
        use.domains = {c: min(n, use.subjects) for c, n in use.domains.items()}

    def _sample_members(self) -> None:
        """Look at members of classes: of a property alone a store may show the least values first."""
        large = set(self.large)
        seen: dict[str, defaultdict[tuple[str, str], float]] = {p: defaultdict(float) for p in self.large}
        most = sorted(self.classes, key=lambda c: (-self.classes[c], c))[:_CLASSES]
        for c in (c for c in most if c):
            some = queries.get("planning/member-sample").bind(**{"class": [c]}, sample=_MEMBERS)
            things = [str(thing) for (thing,) in self.kg.select(some) if isinstance(thing, URIRef)]
            grown = max(1.0, self.classes[c] / _MEMBERS)
            if not things:
                continue
            text = queries.get("planning/class-sample").bind(thing=things)
            for p_, datatype, target, n, subjects in self.kg.select(text):
                if (p := str(p_)) not in large:
                    continue
                use = self.uses[p]
                having = min(use.subjects, max(1, round(_count(subjects) * grown)))
                use.domains[c] = max(use.domains.get(c, 0), having)
                triples = max(1, round(_count(n) * grown))
                if not _text(datatype):
                    use.ranges.setdefault(_text(target), triples)
                    edge = c, p, _text(target)
                    self.edges[edge] = max(self.edges[edge], min(use.triples, triples))
                seen[p][_text(datatype), _text(target)] += triples
        for p, found in seen.items():
            for (kind, _), about in found.items():
                self.uses[p].datatypes.setdefault(kind, round(about))

    def _find_kind(self, use: PropertyUsage) -> None:
        datatype = use.datatype
        if datatype == "":
            use.kind = "entity"
        elif datatype in _NUMBERS:
            use.kind = "number"
        elif datatype in DATES:
            use.kind = "date"
        elif datatype == XSD + "boolean":
            use.kind = "boolean"
        else:
            self._look_at_texts(use)

    def _find_flags(self) -> None:
        """Find the numbers that are nothing but 0 and 1; numbers of things may happen to be no more."""
        for use in self.uses.values():
            whole = use.kind == "number" and use.datatype in INTEGERS and use.objects == 2
            if whole and (use.least, use.greatest) == ("0", "1"):
                use.truth = ("1", "0")

    def _look_at_texts(self, use: PropertyUsage) -> None:
        large = use.iri in self.large
        texts = self._sample("text", use, _TEXTS if large else use.triples)
        # A store that sorts values shows those that begin with a digit first.
        worded = self._sample("words", use, _WORDS) if large else []
        if len(worded) * 20 > min(len(texts), _WORDS):
            use.kind = "text"
            return
        use.kind, use.text_numbers = kind_of_texts(texts)
        use.truth, use.units = truth_of_texts(texts), units_of_texts(texts)
        if use.kind in ("number", "date"):
            for text in texts:
                widen(use, text)

    def _sample(self, name: str, use: PropertyUsage, size: int) -> list[str]:
        text = queries.get(f"planning/{name}-sample").bind(property=[use.iri], sample=size)
        return list(dict.fromkeys(str(value) for (value,) in self.kg.select(text)))

    def _scale_ranges(self) -> None:
        for p in self.large:
            use = self.uses[p]
            for c, n in use.ranges.items():
                use.ranges[c] = min(use.objects, max(1, round(n * use.objects / use.triples)))

    def _find_extremes(self) -> None:
        plain = [p for p, use in self.uses.items() if use.datatype in TYPED_KINDS]
        for p, least, greatest in self._rows("extremes", plain):
            widen(self.uses[str(p)], _text(least))
            widen(self.uses[str(p)], _text(greatest))


def _text(term: Term | None) -> str:
    return "" if term is None else str(term)


def _count(term: Term | None) -> int:
    return int(str(term))


def _add(counts: dict[str, int], key: str, n: int) -> None:
    if is_asked(key):
        counts[key] = counts.get(key, 0) + n


def widen(use: PropertyUsage, text: str) -> None:
    """Let a value be the least or the greatest of a property if it is."""

    def key(value: str) -> tuple[float, str]:
        return (number_in(value) or 0.0, "") if use.kind == "number" else (0.0, value)

    if not text or (use.kind == "number" and number_in(text) is None):
        return
    if not use.least or key(text) < key(use.least):
        use.least = text
    if not use.greatest or key(text) > key(use.greatest):
        use.greatest = text
