"""The names of entities and the frequent values of a graph, read and put in a table."""

from __future__ import annotations

import json
from array import array
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyoxigraph as ox

from mrag.graph.kg import KnowledgeGraph
from mrag.graph.naming import is_asked, name_part, whole_name
from mrag.planning.lexical.candidates import Candidate, Way
from mrag.planning.lexical.name_table import Blob, NameTable
from mrag.planning.profiling import local_name
from mrag.planning.schema import Schema
from mrag.rdf import queries
from mrag.rdf.terms import RDF
from mrag.storage.arrays import Arrays
from mrag.text.names import is_place

_VALUES: Final = 500_000
_NAME: Final = 200
_VALUE: Final = 80
_SMALL: Final = 300_000
_SAMPLE: Final = 300


@dataclass(frozen=True)
class NamedThings:
    """Names with their entities and values.

    Attributes:
        table: The names.
        terms: IRIs of entities, then texts of values.
        entities: How many of the terms are entities.
        starts: Where the properties of each value begin.
        properties: Properties of values, as numbers, most frequent first.
        counts: How often each of these has its value.
        predicates: IRIs of these properties.
        unnamed: Classes of a large graph whose members are gone through for those that only IRIs name.
    """

    table: NameTable
    terms: Blob
    entities: int
    starts: npt.NDArray[np.int64]
    properties: npt.NDArray[np.uint32]
    counts: npt.NDArray[np.uint32]
    predicates: tuple[str, ...]
    unnamed: tuple[str, ...] = ()

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return all of it as arrays to keep."""
        return {
            **{f"table-{name}": array for name, array in self.table.arrays().items()},
            "terms-data": self.terms.data,
            "terms-ends": self.terms.ends,
            "entities": np.array([self.entities]),
            "starts": self.starts,
            "properties": self.properties,
            "counts": self.counts,
            "predicates": np.frombuffer(json.dumps([self.predicates, self.unnamed]).encode(), np.uint8),
        }

    @classmethod
    def of(cls, arrays: Arrays) -> NamedThings:
        """Return what `arrays` gave."""
        table = {
            name.removeprefix("table-"): array for name, array in arrays.items() if name.startswith("table-")
        }
        predicates, unnamed = json.loads(arrays["predicates"].tobytes())
        return cls(
            NameTable.of_arrays(table),
            Blob(arrays["terms-data"], arrays["terms-ends"]),
            int(arrays["entities"][0]),
            arrays["starts"],
            arrays["properties"],
            arrays["counts"],
            tuple(predicates),
            tuple(unnamed),
        )

    def candidate(self, owner: int, name: str, score: float, way: Way) -> Candidate:
        """Return what is named as a candidate."""
        if owner < self.entities:
            return Candidate("entity", self.terms[owner], score, name, way)
        at = owner - self.entities
        having = self.properties[int(self.starts[at]) : int(self.starts[at + 1])]
        properties = tuple(self.predicates[int(p)] for p in having)
        return Candidate("value", self.terms[owner], score, name, way, properties)


def named_things(kg: KnowledgeGraph, schema: Schema) -> NamedThings:
    """Return the names of a graph's entities and values, whatever the order in which they are stored.

    Args:
        kg: The knowledge graph.
        schema: Its schema.
    """
    rows = kg.select(queries.get("planning/vocabulary").text) if schema.triples else ()
    skip = {*schema.classes, *schema.properties, *(str(term) for (term,) in rows)}
    pairs = sorted(set(_named(kg, schema, skip)))
    skip.update(thing for thing, _ in pairs)
    unnamed = unnamed_classes(kg, schema, schema.classes)
    pairs += ((thing, local_name(thing)) for thing in _nameless(kg, schema, skip, unnamed))
    pairs.sort()
    del skip
    return made_of(pairs, *_values(kg, schema), unnamed)


def made_of(
    pairs: Sequence[tuple[str, str]],
    predicates: tuple[str, ...],
    having: Mapping[str, Counter[int]],
    unnamed: tuple[str, ...] = (),
) -> NamedThings:
    """Return the tables of names and values.

    Args:
        pairs: Entities with their names, in order.
        predicates: The properties of values.
        having: Values, with how often each of these properties, as a number, has them.
        unnamed: Classes some of whose members only their IRIs name.
    """
    terms: list[str] = []
    for thing, _ in pairs:
        if not terms or terms[-1] != thing:
            terms.append(thing)
    entities = len(terms)
    starts, properties, counts = [0], array("I"), array("I")
    for text in sorted(having):
        terms.append(text)
        for n, p in sorted((-n, p) for p, n in having[text].items()):
            properties.append(p)
            counts.append(-n)
        starts.append(len(properties))
    return NamedThings(
        NameTable.of(_rows(pairs, terms, entities)),
        Blob.of(terms),
        entities,
        np.array(starts, np.int64),
        np.array(properties, np.uint32),
        np.array(counts, np.uint32),
        predicates,
        unnamed,
    )


def _rows(pairs: Sequence[tuple[str, str]], terms: Sequence[str], entities: int) -> Iterator[tuple[int, str]]:
    owner = -1
    for thing, name in pairs:
        if owner < 0 or terms[owner] != thing:
            owner += 1
        yield owner, name
    for at in range(entities, len(terms)):
        yield at, terms[at]


def _named(kg: KnowledgeGraph, schema: Schema, skip: Container[str]) -> Iterator[tuple[str, str]]:
    parts: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for thing, p, text in texts_of(kg, schema.label_properties):
        if thing not in skip and is_name(text):
            yield thing, " ".join(text.split())
            if name_part(p):
                parts[thing].append((p, text))
    yield from ((thing, name) for thing, told in parts.items() if (name := whole_name(told)))


def texts_of(kg: KnowledgeGraph, properties: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Yield the texts of properties with their subjects, in no order."""
    named = list(properties)
    if not kg.store.capabilities.edges:
        for text in queries.get("planning/names").batches("property", named):
            yield from ((str(s), str(p), str(o)) for s, p, o in kg.select(text))
        return
    for graph in kg.dataset().default:
        for p in named:
            for quad in kg.store.edges(graph, p=p):
                if isinstance(quad.object, ox.Literal) and isinstance(quad.subject, ox.NamedNode):
                    yield quad.subject.value, p, quad.object.value


def _nameless(kg: KnowledgeGraph, schema: Schema, skip: Container[str], unnamed: Iterable[str]) -> set[str]:
    """Return the things that only their IRIs name."""
    if not kg.store.capabilities.edges:
        rows = kg.select(queries.get("planning/unnamed").bind(property=schema.label_properties))
        things: Iterable[str] = (str(thing) for (thing,) in rows)
    else:
        things = _things(kg, schema, unnamed)
    return {t for t in things if t not in skip and is_asked(t) and not is_place(t)}


def _things(kg: KnowledgeGraph, schema: Schema, unnamed: Iterable[str]) -> Iterator[str]:
    """Yield subjects, and what properties lead to; of a large graph only where names are missing."""
    whole, linked = is_small(schema), links(schema)
    for graph in kg.dataset().default:
        if whole:
            for quad in kg.store.edges(graph):
                if quad.predicate.value in schema.properties or quad.predicate.value == RDF + "type":
                    yield from _ends(quad)
        for c in unnamed:
            for quad in kg.store.edges(graph, p=RDF + "type", o=c):
                yield from _ends(quad)
        for p in linked:
            for quad in kg.store.edges(graph, p=p):
                yield from _ends(quad)


def links(schema: Schema) -> list[str]:
    """Return the properties of a large graph whose ends are gone through for those that only IRIs name."""
    if is_small(schema) or "" not in schema.classes:
        return []
    return [p.iri for p in schema.properties.values() if p.kind == "entity"]


def unnamed_classes(kg: KnowledgeGraph, schema: Schema, among: Iterable[str]) -> tuple[str, ...]:
    """Return those of some classes of a large graph some of whose members have no name, in order of IRI."""
    if is_small(schema) or not kg.store.capabilities.edges:
        return ()
    return tuple(sorted(c for c in among if c and _lacks_names(kg, schema, c)))


def _ends(quad: ox.Quad) -> Iterator[str]:
    if isinstance(quad.subject, ox.NamedNode):
        yield quad.subject.value
    if isinstance(quad.object, ox.NamedNode) and quad.predicate.value != RDF + "type":
        yield quad.object.value


def _lacks_names(kg: KnowledgeGraph, schema: Schema, c: str) -> bool:
    query = queries.get("planning/unnamed-sample")
    text = query.bind(**{"class": [c]}, sample=_SAMPLE, property=schema.label_properties)
    return str(kg.select(text).rows[0][0]) != "0"


def valued(schema: Schema) -> list[str]:
    """Return the properties whose values are known by their texts: those of the fewest, in order of IRI."""
    texts = [p for p in schema.properties.values() if p.kind == "text" and p.objects]
    chosen, total = [], 0
    for info in sorted(texts, key=lambda p: (p.objects, p.iri)):
        total += info.objects
        if total > _VALUES:
            break
        chosen.append(info.iri)
    return sorted(chosen)


def is_small(schema: Schema) -> bool:
    """Return whether all things of a graph are gone through for those that only their IRIs name."""
    return schema.triples <= _SMALL


def is_name(text: str) -> bool:
    """Return whether a text names a thing that has it in a property of names."""
    return 0 < len(" ".join(text.split())) <= _NAME


def is_value(text: str) -> bool:
    """Return whether a text may be named as a value."""
    return len(text) <= _VALUE


def _values(kg: KnowledgeGraph, schema: Schema) -> tuple[tuple[str, ...], dict[str, Counter[int]]]:
    """Return properties, and the texts that they have with how often each property has it."""
    chosen = valued(schema)
    at = {p: i for i, p in enumerate(chosen)}
    having: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for _, p, text in texts_of(kg, chosen):
        if is_value(text):
            having[text][at[p]] += 1
    return tuple(chosen), having
