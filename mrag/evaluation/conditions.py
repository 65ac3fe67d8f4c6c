"""What a question demands of an entity, as triples; and the entities of a graph that have it all.

A condition is a predicate with a value. Some are about the entity itself; others are about its parts, such
as the garments of an image, and those of one part must hold of the same part. The predicate between an
entity and its parts, the link, may run either way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from rdflib.term import Node

from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf import patterns as sparql
from mrag.rdf import queries
from mrag.rdf.patterns import to_sparql
from mrag.rdf.terms import OWL, RDF, RDFS, SKOLEM

TYPE = RDF + "type"
_DULL = (OWL, RDF, RDFS)


@dataclass(frozen=True, order=True, slots=True)
class Condition:
    """A predicate and a value that something must have; both IRIs."""

    predicate: str
    value: str


@dataclass(frozen=True)
class EntityShape:
    """How the entities of a graph hang together with what is said of them.

    Args:
        link: The predicate between an entity and its parts, either way; None where there are no parts.
        kind: The predicate that says what a part is, such as `rdf:type`.
        cls: The class of the entities; None for all.
    """

    link: str | None = None
    kind: str = TYPE
    cls: str | None = None


@dataclass(frozen=True)
class Demand:
    """What a question demands.

    Args:
        own: Conditions on the entity itself.
        parts: For each part, the conditions that it must meet. One part may meet those of several.
    """

    own: tuple[Condition, ...] = ()
    parts: tuple[tuple[Condition, ...], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.own or any(self.parts))

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "own": [[c.predicate, c.value] for c in self.own],
            "parts": [[[c.predicate, c.value] for c in part] for part in self.parts],
        }

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Demand:
        """Read what `to_json` gave."""
        return cls(
            tuple(Condition(p, v) for p, v in given["own"]),
            tuple(tuple(Condition(p, v) for p, v in part) for part in given["parts"]),
        )


@dataclass
class EntityFacts:
    """What a graph says of one entity: its own conditions, and those of each of its parts."""

    own: list[Condition] = field(default_factory=list)
    parts: dict[str, list[Condition]] = field(default_factory=dict)


def instances(kg: KnowledgeGraph, cls: str) -> list[str]:
    """List the entities of a class, in order of IRI."""
    rows = kg.select(queries.get("evaluation/instances").bind(**{"class": [cls]}))
    return sorted(str(row[0]) for row in rows if not str(row[0]).startswith(SKOLEM))


def facts(kg: KnowledgeGraph, entities: Sequence[str], shape: EntityShape) -> dict[str, EntityFacts]:
    """Read what a graph says of entities.

    That they belong to the class of the shape is no news and is left out, and so are terms of OWL and the
    like.

    Args:
        kg: The knowledge graph; asserted and inferred triples count.
        entities: Their IRIs.
        shape: Whether they have parts.
    """
    found = {entity: EntityFacts() for entity in entities}
    # A graph says the same of many things.
    condition = cache(Condition)
    for text in queries.get("evaluation/facts").batches("entity", entities):
        for entity, p, value in kg.select(text):
            if str(p) != shape.link and str(value) != shape.cls and not _dull(p, value):
                found[str(entity)].own.append(condition(str(p), str(value)))
    pairs = [] if shape.link is None else [(entity, shape.link) for entity in entities]
    for text in queries.get("evaluation/part-facts").batches("entity_link", pairs):
        for entity, part, p, value in kg.select(text):
            if str(p) != shape.link and not _dull(p, value):
                of_part = found[str(entity)].parts.setdefault(str(part), [])
                of_part.append(condition(str(p), str(value)))
    for known in found.values():
        known.own.sort()
        known.parts = {part: sorted(has) for part, has in sorted(known.parts.items())}
    return found


def satisfying(kg: KnowledgeGraph, wanted: Demand, shape: EntityShape) -> list[str]:
    """List the entities that meet all conditions, by one SPARQL query, in order of IRI.

    Args:
        kg: The knowledge graph; asserted and inferred triples count.
        wanted: The conditions, at least one.
        shape: The link to the parts, and the class to which the entities must belong.

    Raises:
        ConfigError: If there is no condition, or there are parts without a link.

    Example:
        >>> from rdflib import URIRef
        >>> from mrag.stores.oxigraph import OxigraphStore
        >>> from mrag.rdf.terms import Triple
        >>> kg = KnowledgeGraph(OxigraphStore())
        >>> _ = kg.insert([Triple(URIRef("urn:a"), URIRef("urn:colour"), URIRef("urn:red"))])
        >>> satisfying(kg, Demand(own=(Condition("urn:colour", "urn:red"),)), EntityShape())
        ['urn:a']
        >>> kg.close()
    """
    if not wanted:
        raise ConfigError("A question without conditions fits everything.", hint="Give at least one.")
    if any(wanted.parts) and shape.link is None:
        raise ConfigError("There are conditions on parts, but no link to parts.", hint="Name the predicate.")
    x = sparql.var("x")
    body: list[sparql.Pattern] = [
        sparql.TriplePattern(x, sparql.iri(c.predicate), sparql.iri(c.value)) for c in sorted(wanted.own)
    ]
    if shape.cls is not None:
        body.append(sparql.TriplePattern(x, sparql.iri(TYPE), sparql.iri(shape.cls)))
    for number, part in enumerate(wanted.parts):
        if not part or shape.link is None:
            continue
        y, link = sparql.var(f"part{number}"), sparql.iri(shape.link)
        body += [sparql.TriplePattern(y, sparql.iri(c.predicate), sparql.iri(c.value)) for c in sorted(part)]
        body.append(sparql.TriplePattern(x, sparql.Alternative((link, sparql.Inverse(link))), y))
    query = sparql.Select((x,), sparql.Group(tuple(body)), distinct=True, order_by=(x,))
    rows = kg.select(to_sparql(query))
    return sorted(str(row[0]) for row in rows if not str(row[0]).startswith(SKOLEM))


def _dull(predicate: Node | None, value: Node | None) -> bool:
    # The type of a thing is news, that it is a thing is not; what OWL says of classes is not about it.
    described = str(predicate) != TYPE and str(predicate).startswith(_DULL)
    return described or str(value).startswith(_DULL)
