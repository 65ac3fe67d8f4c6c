"""What a graph says of the properties and classes that some statements bring into play."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, cast

from rdflib import Literal, URIRef

from mrag.completion.writeback.runs import Statement
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf import queries
from mrag.rdf.terms import MRAG, OWL, RDF, RDFS, SKOLEM, XSD, curie
from mrag.stores.base import Row

SCHEMA: Final = (RDF, RDFS, OWL, MRAG, "http://www.w3.org/ns/shacl#", "http://www.w3.org/ns/prov#")
"""Vocabularies whose properties speak of the schema, of shapes or of provenance, not of the world."""

_TYPE: Final = RDF + "type"
ANYTHING: Final = frozenset((OWL + "Thing", RDFS + "Resource", OWL + "NamedIndividual"))
"""Classes that say nothing of what is in them."""

_INHERITED: Final = frozenset(
    OWL + kind
    for kind in ("FunctionalProperty", "InverseFunctionalProperty", "ObjectProperty", "DatatypeProperty")
)
"""Kinds that hold for a property where they hold for one above it."""


class SchemaFacts:
    """The part of a schema that bears on some statements.

    Args:
        kg: The knowledge graph.

    Attributes:
        kinds: The classes of each property, such as `owl:FunctionalProperty`; inherited where that holds.
        domains: The domains of each property, and of those above it.
        ranges: The same for ranges.
        types: The classes of each entity.
        higher: The classes above each class, itself among them.
        disjoint: The classes that each class is disjoint with.
        terms: Entities that are classes or properties themselves, with what they are.
    """

    def __init__(self, kg: KnowledgeGraph) -> None:
        self.kg = kg
        self.kinds: defaultdict[str, set[str]] = defaultdict(set)
        self.domains: defaultdict[str, set[str]] = defaultdict(set)
        self.ranges: defaultdict[str, set[str]] = defaultdict(set)
        self.types: defaultdict[str, set[str]] = defaultdict(set)
        self.higher: defaultdict[str, set[str]] = defaultdict(set)
        self.disjoint: defaultdict[str, set[str]] = defaultdict(set)
        self.terms: dict[str, str] = {}

    def read(self, statements: Sequence[Statement]) -> None:
        """Read what bears on some statements."""
        self.read_properties(sorted({str(one.predicate) for one in statements} - {_TYPE}))
        entities = {str(t) for one in statements for t in (one.subject, one.object) if isinstance(t, URIRef)}
        self.read_types(sorted(entities))
        for term, kind in self.rows("completion/check-schema", "term", sorted(entities)):
            self.terms.setdefault(str(term), curie(str(kind)))
        self.read_classes(str(one.object) for one in statements if str(one.predicate) == _TYPE)

    def read_properties(self, properties: Sequence[str]) -> None:
        """Read kinds, domains and ranges of properties, and what they inherit from those above them."""
        into = {_TYPE: self.kinds, RDFS + "domain": self.domains, RDFS + "range": self.ranges}
        over = self.read_above(properties)
        every = sorted({high for highs in over.values() for high in highs})
        for p, about, value in self.rows("completion/check-properties", "property", every):
            for low in properties:
                inherited = str(about) != _TYPE or str(value) in _INHERITED
                if str(p) == low or (inherited and str(p) in over[low]):
                    into[str(about)][low].add(str(value))

    def read_above(self, lower: Iterable[str]) -> dict[str, set[str]]:
        """Return what stands above some classes or properties, however far, themselves included."""
        starts = list(dict.fromkeys(lower))
        direct: defaultdict[str, set[str]] = defaultdict(set)
        new, seen = starts, set(starts)
        while new:
            for low, high in self.rows("completion/check-above", "lower", sorted(new)):
                direct[str(low)].add(str(high))
            new = [high for low in new for high in sorted(direct[low]) if high not in seen]
            new = list(dict.fromkeys(new))
            seen.update(new)
        found: dict[str, set[str]] = {}
        for start in starts:
            reached, left = {start}, [start]
            while left:
                left = [h for low in left for h in sorted(direct[low]) if h not in reached]
                reached.update(left)
            found[start] = reached
        return found

    def read_types(self, entities: Sequence[str]) -> None:
        """Read the classes of entities."""
        for entity, kind in self.rows("completion/check-types", "entity", entities):
            self.types[str(entity)].add(str(kind))

    def read_classes(self, more: Iterable[str] = ()) -> None:
        """Read what stands above the classes found so far and some more, and what is disjoint with them."""
        groups = (self.types, self.domains, self.ranges)
        classes = {c for group in groups for names in group.values() for c in names} | set(more)
        named = sorted(c for c in classes if not c.startswith((XSD, RDF)) and c not in self.higher)
        self.higher.update(self.read_above(named))
        every = {c for names in self.higher.values() for c in names} | set(named)
        for one, other in self.rows("completion/check-disjoint", "class", sorted(every)):
            self.disjoint[str(one)].add(str(other))

    def above(self, classes: Iterable[str]) -> set[str]:
        """Return some classes with all those above them."""
        return {high for low in classes for high in (low, *self.higher.get(low, ()))}

    def narrowest(self, entity: str) -> set[str]:
        """Return the classes of an entity that are above none of its others."""
        types = {c for c in self.types[entity] if not c.startswith(SKOLEM)}
        wider = {high for low in types for high in self.higher.get(low, ()) if high != low}
        return types - wider - {OWL + "Thing", OWL + "NamedIndividual", RDFS + "Resource"} or types

    def foreign(self, entity: str, wanted: Iterable[str]) -> list[str]:
        """Return which of some classes an entity that has others is none of, in order.

        An entity of no known class may be of any, and one that is known by a wider class only may well be of
        the narrower one.
        """
        have = self.above(self.types[entity]) - ANYTHING
        classes = {c for c in wanted if not c.startswith(SKOLEM)} - ANYTHING - have
        return [c for c in sorted(classes) if have and not have & self.above({c})]

    def used(self, predicate: str, literal: bool | None) -> bool:
        """Return whether the graph has a triple of a property whose value is a literal, or an entity."""
        kept = cast(dict[tuple[str, bool], bool], self.kg.cache.setdefault("completion used", {}))
        query = queries.get("completion/check-predicate")
        for kind in (True, False) if literal is None else (literal,):
            if (predicate, kind) not in kept:
                row = (URIRef(predicate), Literal(kind))
                kept[predicate, kind] = self.kg.holds(query.bind(property_literal=[row]))
            if kept[predicate, kind]:
                return True
        return False

    def rows(self, name: str, parameter: str, values: Sequence[object]) -> Iterable[Row]:
        """Yield the rows of a query of the catalogue for many values of its parameter, some at a time."""
        for text in queries.get(name).batches(parameter, values, 200):
            yield from self.kg.select(text)
