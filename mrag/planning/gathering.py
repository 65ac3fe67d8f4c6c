"""The names of entities and the frequent values of a graph, read and put in a table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from mrag.graph.kg import KnowledgeGraph
from mrag.planning.candidates import Candidate, Way
from mrag.planning.name_table import Blob, NameTable
from mrag.planning.profiling import local_name
from mrag.planning.schema import Schema
from mrag.rdf import queries
from mrag.rdf.terms import SKOLEM

_VALUES: Final = 500_000
_LONGEST: Final = 200


@dataclass(frozen=True)
class Gathered:
    """Names with their entities and values.

    Attributes:
        table: The names.
        terms: IRIs of entities, then texts of values.
        entities: How many of the terms are entities.
        starts: Where the properties of each value begin.
        properties: Properties of values, as numbers, most frequent first.
        predicates: IRIs of these properties.
    """

    table: NameTable
    terms: Blob
    entities: int
    starts: npt.NDArray[np.int64]
    properties: npt.NDArray[np.uint32]
    predicates: tuple[str, ...]

    def candidate(self, owner: int, name: str, score: float, way: Way) -> Candidate:
        """Return what is named as a candidate."""
        if owner < self.entities:
            return Candidate("entity", self.terms[owner], score, name, way)
        at = owner - self.entities
        having = self.properties[int(self.starts[at]) : int(self.starts[at + 1])]
        return Candidate("value", name, score, name, way, tuple(self.predicates[int(p)] for p in having))


def gathered(kg: KnowledgeGraph, schema: Schema) -> Gathered:
    """Return the names of a graph's entities and values.

    Args:
        kg: The knowledge graph.
        schema: Its schema.
    """
    skip = {*schema.classes, *schema.properties}
    terms: list[str] = []
    pairs: list[tuple[int, str]] = []
    number: dict[str, int] = {}
    for thing, name in _entity_names(kg, schema):
        if thing in skip or thing.startswith(SKOLEM) or len(name) > _LONGEST:
            continue
        owner = number.setdefault(thing, len(number))
        if owner == len(terms):
            terms.append(thing)
        pairs.append((owner, name))
    entities = len(terms)
    predicates, having = _values(kg, schema)
    starts, properties = [0], list[int]()
    for text in sorted(having):
        pairs.append((len(terms), text))
        terms.append(text)
        properties.extend(p for _, p in sorted((-n, p) for p, n in having[text].items()))
        starts.append(len(properties))
    return Gathered(
        NameTable.of(pairs),
        Blob.of(terms),
        entities,
        np.array(starts, np.int64),
        np.array(properties, np.uint32),
        predicates,
    )


def _entity_names(kg: KnowledgeGraph, schema: Schema) -> Iterator[tuple[str, str]]:
    labels = list(schema.label_properties)
    if labels:
        for thing, _, text in kg.select(queries.get("planning/names").bind(property=labels)):
            yield str(thing), " ".join(str(text).split())
    for (thing,) in kg.select(queries.get("planning/unnamed").bind(property=labels)):
        yield str(thing), local_name(str(thing))


def _values(kg: KnowledgeGraph, schema: Schema) -> tuple[tuple[str, ...], dict[str, dict[int, int]]]:
    texts = [p for p in schema.properties.values() if p.kind == "text" and p.objects]
    chosen, total = [], 0
    for info in sorted(texts, key=lambda p: (p.objects, p.iri)):
        total += info.objects
        if total > _VALUES:
            break
        chosen.append(info.iri)
    chosen.sort()
    having: defaultdict[str, dict[int, int]] = defaultdict(dict)
    at = {p: i for i, p in enumerate(chosen)}
    if chosen:
        for p, text, n in kg.select(queries.get("planning/value-counts").bind(property=chosen)):
            having[str(text)][at[str(p)]] = int(str(n))
    return tuple(chosen), having
