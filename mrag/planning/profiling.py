"""The schema of a graph as its triples show it, whether or not one is declared.

Everything is counted by queries of `sparql/planning/`. Properties are asked for several at a time; of those
with very many triples only some are looked at where exact figures decide nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from mrag.graph.kg import KnowledgeGraph
from mrag.planning.kinds import DATES, NUMBERS, kind_of_texts, number_in
from mrag.planning.schema import ClassInfo, Edge, Kind, PropertyInfo, Schema
from mrag.rdf import queries
from mrag.rdf.terms import OWL, RDF, RDFS, SKOLEM, XSD
from mrag.text.names import split_identifier

ALTERNATIVE: Final[tuple[str, ...]] = (
    "http://www.w3.org/2004/02/skos/core#altLabel",
    "http://www.w3.org/2004/02/skos/core#hiddenLabel",
    "http://schema.org/alternateName",
    "https://schema.org/alternateName",
    "http://purl.org/dc/terms/alternative",
    "http://xmlns.com/foaf/0.1/nick",
)
"""Properties of other names, beside those of `mrag.graph.record.LABELS`."""

VOCABULARIES: Final[tuple[str, ...]] = (
    RDF,
    RDFS,
    OWL,
    "http://www.w3.org/2004/02/skos/core#",
    "http://www.w3.org/ns/prov#",
    "http://www.w3.org/ns/shacl#",
    "http://purl.org/vocab/vann/",
    "http://rdfs.org/ns/void#",
    "https://w3id.org/mrag#",
)
"""Vocabularies whose properties nobody asks for."""

_NO_CLASSES: Final = (RDF, RDFS, OWL, "http://www.w3.org/ns/shacl#", "http://www.w3.org/ns/prov#")
_DESCRIBED: Final = 2000
_BATCH: Final = 250_000
_LARGE: Final = 150_000
_SAMPLE: Final = 20_000
_VALUES: Final = 1000


def schema_of(kg: KnowledgeGraph) -> Schema:
    """Return the classes, properties and edges of a graph, read once for each state of it.

    Args:
        kg: The knowledge graph.

    Example:
        >>> import mrag
        >>> kg = mrag.demo(model="none")
        >>> len(schema_of(kg).classes) > 5
        True
        >>> kg.close()
    """
    return kg.cached("planning schema", lambda: _Reader(kg).schema())


@dataclass
class _Usage:
    """What is counted of one property."""

    iri: str
    triples: int
    by_datatype: dict[str, int] = field(default_factory=dict)
    subjects: int = 0
    objects: int = 0
    domains: dict[str, int] = field(default_factory=dict)
    ranges: dict[str, int] = field(default_factory=dict)
    kind: Kind = "entity"
    text_numbers: bool = False
    least: str = ""
    greatest: str = ""


class _Reader:
    def __init__(self, kg: KnowledgeGraph) -> None:
        self.kg = kg
        self.profile = kg.profile()
        self.labels = tuple(p for p in (*self.profile.labels, *ALTERNATIVE) if p in self.profile.predicates)
        self.edges: list[Edge] = []

    def schema(self) -> Schema:
        uses = self._uses()
        self._count_values(uses)
        self._count_classes(uses)
        self._find_kinds(uses)
        counts = self._class_counts(uses)
        return self._assembled(uses, counts)

    def _uses(self) -> dict[str, _Usage]:
        counts = [
            (p, n)
            for p, n in self.profile.predicates.items()
            if p not in self.labels and not p.startswith(VOCABULARIES) and n
        ]
        # A graph with more properties than that has a long tail that no schema can show.
        most = sorted(counts, key=lambda pair: (-pair[1], pair[0]))[:_DESCRIBED]
        return {p: _Usage(p, n) for p, n in sorted(most)}

    def _batches(self, uses: Mapping[str, _Usage], properties: Iterable[str]) -> Iterator[list[str]]:
        batch: list[str] = []
        size = 0
        for p in properties:
            if batch and (size + uses[p].triples > _BATCH or len(batch) == 500):
                yield batch
                batch, size = [], 0
            batch.append(p)
            size += uses[p].triples
        if batch:
            yield batch

    def _count_values(self, uses: Mapping[str, _Usage]) -> None:
        for batch in self._batches(uses, uses):
            rows = self.kg.select(queries.get("planning/values").bind(property=batch))
            for p, datatype, triples, subjects, objects in rows:
                use = uses[str(p)]
                use.by_datatype[str(datatype)] = int(str(triples))
                # Datatypes seldom mix within one property; where they do, the sum is an upper bound.
                use.subjects = min(use.triples, use.subjects + int(str(subjects)))
                use.objects += int(str(objects))

    def _count_classes(self, uses: Mapping[str, _Usage]) -> None:
        large = [p for p, use in uses.items() if use.triples > _LARGE]
        small = [p for p, use in uses.items() if use.triples <= _LARGE]
        things = [p for p in small if "" in uses[p].by_datatype]
        for batch in self._batches(uses, small):
            for p, c, n in self.kg.select(queries.get("planning/subject-classes").bind(property=batch)):
                _add(uses[str(p)].domains, str(c), int(str(n)))
        for batch in self._batches(uses, things):
            for p, c, n in self.kg.select(queries.get("planning/object-classes").bind(property=batch)):
                _add(uses[str(p)].ranges, str(c), int(str(n)))
            for source, p, target, n in self.kg.select(queries.get("planning/edges").bind(property=batch)):
                self._edge(str(source), str(p), str(target), int(str(n)))
        for name in large:
            self._sample_classes(uses[name])

    def _sample_classes(self, use: _Usage) -> None:
        rows = list(self.kg.select(queries.get("planning/sampled-edges").bind(property=[use.iri])))
        sampled = min(use.triples, 10_000)
        for source_, target_, n in rows:
            source, target, count = str(source_), str(target_), int(str(n))
            # A thing of several classes is in several rows, so shares are of the triples looked at.
            share = min(1.0, count / sampled)
            _add(use.domains, source, 0)
            use.domains[source] = min(use.subjects, use.domains[source] + round(share * use.subjects))
            if "" in use.by_datatype:
                _add(use.ranges, target, 0)
                use.ranges[target] = min(use.objects, use.ranges[target] + round(share * use.objects))
                self._edge(source, use.iri, target, round(share * use.triples))

    def _edge(self, source: str, p: str, target: str, count: int) -> None:
        if _asked(source) and _asked(target):
            self.edges.append(Edge(source, p, target, count))

    def _find_kinds(self, uses: Mapping[str, _Usage]) -> None:
        for use in uses.values():
            datatype = _most(use.by_datatype)
            if datatype == "":
                use.kind = "entity"
            elif datatype in NUMBERS:
                use.kind = "number"
            elif datatype in DATES:
                use.kind = "date"
            elif datatype == XSD + "boolean":
                use.kind = "boolean"
            else:
                self._look_at_texts(use)
        measured = [p for p, use in uses.items() if use.kind in ("number", "date") and not use.text_numbers]
        for batch in self._batches(uses, measured):
            rows = self.kg.select(queries.get("planning/extremes").bind(property=batch))
            for p, datatype_, least, greatest in rows:
                use = uses[str(p)]
                if str(datatype_) in NUMBERS | DATES:
                    _widen(use, str(least or ""), str(greatest or ""))

    def _look_at_texts(self, use: _Usage) -> None:
        rows = self.kg.select(queries.get("planning/value-sample").bind(property=[use.iri], limit=_VALUES))
        texts = [str(text) for (text,) in rows]
        use.kind, use.text_numbers = kind_of_texts(texts)
        if use.kind in ("number", "date"):
            for text in texts:
                _widen(use, text, text)

    def _class_counts(self, uses: Mapping[str, _Usage]) -> dict[str, int]:
        counts = {
            str(c): int(str(n))
            for c, n in self.kg.select(queries.get("explore/classes").text)
            if _asked(str(c))
        }
        counts.pop("", None)
        if any("" in use.domains or "" in use.ranges for use in uses.values()):
            counts[""] = int(str(self.kg.select(queries.get("planning/untyped").text).rows[0][0]))
        return dict(sorted(counts.items()))

    def _assembled(self, uses: Mapping[str, _Usage], counts: Mapping[str, int]) -> Schema:
        terms = sorted({*uses, *(c for c in counts if c)})
        names, comments = self._texts(terms)
        inverses = self._inverses(uses)
        self._declared(uses)
        parents = self._parents(counts)
        classes = {
            c: ClassInfo(c, names.get(c, ()), comments.get(c, ""), n, parents.get(c, ()))
            for c, n in counts.items()
        }
        properties = {
            p: PropertyInfo(
                iri=p,
                names=names.get(p, ()),
                comment=comments.get(p, ""),
                kind=use.kind,
                datatype=_most(use.by_datatype),
                triples=use.triples,
                subjects=use.subjects,
                objects=use.objects,
                domains=_ordered(use.domains),
                ranges=_ordered(use.ranges) if use.kind == "entity" else {},
                minimum=use.least,
                maximum=use.greatest,
                text_numbers=use.text_numbers,
                inverse_names=tuple(
                    dict.fromkeys(n for q in inverses.get(p, ()) for n in names.get(q, ()) or self._names(q))
                ),
            )
            for p, use in uses.items()
        }
        edges = tuple(sorted(self.edges, key=lambda e: (e.source, e.property, e.target)))
        return Schema(classes, properties, edges, self.labels, self.profile.triples)

    def _names(self, term: str) -> tuple[str, ...]:
        return self._texts([term])[0].get(term, ())

    def _texts(self, terms: Sequence[str]) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
        order = {p: at for at, p in enumerate((*self.profile.labels, *ALTERNATIVE))}
        named: defaultdict[str, list[tuple[int, int, str]]] = defaultdict(list)
        said: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
        for text in queries.get("planning/texts").batches("term", list(terms)):
            for term_, p, value in self.kg.select(text):
                language = getattr(value, "language", None) or ""
                rank = self.kg.language_rank(language)
                words = " ".join(str(value).split())
                if str(p) in order:
                    named[str(term_)].append((order[str(p)], rank, words))
                else:
                    said[str(term_)].append((rank, words))
        names: dict[str, tuple[str, ...]] = {}
        for term in terms:
            # The best language of each property of names; others are names in another tongue, kept behind.
            found = [
                split_identifier(text)
                for _, _, text in sorted(named[term], key=lambda n: (n[0], n[1], n[2]))
                if text
            ]
            names[term] = tuple(dict.fromkeys((*found, local_name(term))))
        return names, {term: min(texts)[1] for term, texts in said.items()}

    def _inverses(self, uses: Mapping[str, _Usage]) -> dict[str, list[str]]:
        found: defaultdict[str, list[str]] = defaultdict(list)
        if OWL + "inverseOf" in self.profile.predicates:
            for p, inverse in self.kg.select(queries.get("context/inverses").text):
                if str(p) in uses and p != inverse:
                    found[str(p)].append(str(inverse))
        return found

    def _declared(self, uses: Mapping[str, _Usage]) -> None:
        """Take the declared classes of properties whose data show none."""
        bare = [p for p, use in uses.items() if not set(use.domains) - {""} or not set(use.ranges) - {""}]
        for text in queries.get("planning/declared").batches("property", bare):
            for p, place, c in self.kg.select(text):
                use = uses[str(p)]
                at, size = (
                    (use.domains, use.subjects)
                    if str(place) == RDFS + "domain"
                    else (use.ranges, use.objects)
                )
                if not at and _asked(str(c)):
                    at[str(c)] = size

    def _parents(self, counts: Mapping[str, int]) -> dict[str, tuple[str, ...]]:
        above: defaultdict[str, set[str]] = defaultdict(set)
        if RDFS + "subClassOf" in self.profile.predicates:
            for lower, parent in self.kg.select(queries.get("planning/hierarchy").text):
                above[str(lower)].add(str(parent))
        every = {c: _ancestors(c, above) for c in counts}
        direct = {}
        for c, over in every.items():
            mine = {a for a in over if a in counts and c not in every[a]}
            direct[c] = tuple(sorted(a for a in mine if not any(a in every[b] for b in mine if b != a)))
        return direct


def local_name(iri: str) -> str:
    """Return the last part of an IRI in words.

    Example:
        >>> local_name("http://example.org/o#hasEyeColor"), local_name("http://example.org/part_of/")
        ('has eye color', 'part of')
    """
    last = iri.rstrip("/#").replace("#", "/").rsplit("/", 1)[-1].rsplit(":", 1)[-1]
    return split_identifier(last) or iri


def _ancestors(c: str, above: Mapping[str, set[str]]) -> set[str]:
    found: set[str] = set()
    ahead = [c]
    while ahead:
        for parent in above.get(ahead.pop(), ()):
            if parent not in found:
                found.add(parent)
                ahead.append(parent)
    return found


def _asked(c: str) -> bool:
    return not c.startswith((*_NO_CLASSES, SKOLEM, "_:"))


def _add(counts: dict[str, int], c: str, n: int) -> None:
    if _asked(c):
        counts[c] = counts.get(c, 0) + n


def _most(counts: Mapping[str, int]) -> str:
    return min(counts, key=lambda d: (-counts[d], d), default="")


def _ordered(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def _widen(use: _Usage, least: str, greatest: str) -> None:
    key = number_in if use.kind == "number" else lambda text: text
    for text in (least, greatest):
        if not text or key(text) is None:
            continue
        if not use.least or key(text) < key(use.least):  # type: ignore[operator]
            use.least = text
        if not use.greatest or key(text) > key(use.greatest):  # type: ignore[operator]
            use.greatest = text
