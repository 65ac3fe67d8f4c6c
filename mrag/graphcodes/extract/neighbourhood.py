"""Graph codes of the entities of a knowledge graph: each with its links, read by SPARQL."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph, Layer
from mrag.graphcodes.code import Edge, GraphCode, Node
from mrag.rdf import queries
from mrag.rdf.terms import OWL, RDF, RDFS, SKOLEM

Direction = Literal["out", "in"]

_BATCH = 200
_TYPE = RDF + "type"
_NO_LINKS = frozenset((_TYPE, OWL + "sameAs", RDFS + "isDefinedBy", RDFS + "seeAlso"))
_NO_CLASSES = frozenset(
    (OWL + "Thing", OWL + "NamedIndividual", RDFS + "Resource", OWL + "Class", RDFS + "Class")
)
_Link = tuple[str, str, str, str]


@dataclass(frozen=True)
class NeighbourhoodSettings:
    """What of an entity's surroundings its code has.

    Attributes:
        hops: 1 for the links of the entity, 2 for those of its neighbours too.
        directions: `out` for links from an entity, `in` for links to it.
        allowed: IRIs of the only properties that are edges; all but types and names of sources if empty.
        denied: IRIs of properties that are no edges.
        max_links: Most links of one entity and direction, first by property and then by the other end.
        layer: Which triples are read: `all`, `asserted` or `inferred`.

    Raises:
        ConfigError: If a value is out of range.
    """

    hops: int = 1
    directions: tuple[Direction, ...] = ("out", "in")
    allowed: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    max_links: int = 64
    layer: Layer = "all"

    def __post_init__(self) -> None:
        if self.hops not in (1, 2) or self.max_links < 1:
            raise ConfigError("A code has links over 1 or 2 hops, and at least 1 of them.")
        if not self.directions or not set(self.directions) <= set(get_args(Direction)):
            raise ConfigError(f"Links go {' or '.join(get_args(Direction))}, not {self.directions!r}.")


def neighbourhood(
    kg: KnowledgeGraph, entity: str, settings: NeighbourhoodSettings | None = None
) -> GraphCode:
    """Read the code of one entity.

    Nodes are IRIs with their labels and classes, edges the links between them. Literals are no nodes; blank
    nodes are left out.

    Args:
        kg: The knowledge graph.
        entity: The IRI of the entity.
        settings: The knobs.

    Example:
        >>> from rdflib import URIRef
        >>> from mrag.stores.oxigraph import OxigraphStore
        >>> from mrag.rdf.terms import Triple
        >>> kg = KnowledgeGraph(OxigraphStore())
        >>> _ = kg.insert([Triple(URIRef("urn:x:a"), URIRef("urn:x:knows"), URIRef("urn:x:b"))])
        >>> [edge.key for edge in neighbourhood(kg, "urn:x:b").edges]
        [('urn:x:a', 'urn:x:knows', 'urn:x:b')]
    """
    return next(iter(neighbourhoods(kg, [entity], settings)))[1]


def neighbourhoods(
    kg: KnowledgeGraph, entities: Iterable[str], settings: NeighbourhoodSettings | None = None
) -> Iterator[tuple[str, GraphCode]]:
    """Yield the codes of entities, in the order in which they are given, each once.

    Args:
        kg: The knowledge graph.
        entities: IRIs.
        settings: The knobs.
    """
    settings = settings or NeighbourhoodSettings()
    iris = list(dict.fromkeys(map(str, entities)))
    for start in range(0, len(iris), _BATCH):
        yield from _codes(kg, iris[start : start + _BATCH], settings)


def _codes(
    kg: KnowledgeGraph, batch: Sequence[str], settings: NeighbourhoodSettings
) -> Iterator[tuple[str, GraphCode]]:
    links = _links(kg, batch, settings) if batch else {}
    if settings.hops == 2:
        around = sorted({end for found in links.values() for link in found for end in (link[1], link[3])})
        further: dict[str, list[_Link]] = {}
        for start in range(0, len(around), _BATCH):
            further.update(_links(kg, around[start : start + _BATCH], settings))
        near = {e: {end for link in found for end in (link[1], link[3])} for e, found in links.items()}
        links = {e: [*found, *(f for n in sorted(near[e]) for f in further[n])] for e, found in links.items()}
    ends = {end for found in links.values() for link in found for end in (link[1], link[3])} | set(batch)
    labels = kg.labels(sorted(ends))
    types = _types(kg, sorted(ends), settings.layer)
    nodes = {end: Node(end, labels.get(end) or "", frozenset(types.get(end, ()))) for end in ends}
    for entity in batch:
        edges = [Edge(source, relation, target) for _, source, relation, target in links[entity]]
        inside = {entity} | {end for edge in edges for end in (edge.source, edge.target)}
        yield entity, GraphCode.of([nodes[end] for end in sorted(inside)], edges)


def _links(
    kg: KnowledgeGraph, batch: Sequence[str], settings: NeighbourhoodSettings
) -> dict[str, list[_Link]]:
    found: dict[str, list[_Link]] = {entity: [] for entity in batch}
    for direction in settings.directions:
        for entity, links in _directed(kg, batch, direction, settings).items():
            found[entity] += links
    return found


def _directed(
    kg: KnowledgeGraph, batch: Sequence[str], direction: Direction, settings: NeighbourhoodSettings
) -> dict[str, list[_Link]]:
    query = queries.get(f"graphcodes/{direction}")
    # Room for what is no edge, such as types: filtered here, where the same rule holds for every store.
    limit = (settings.max_links + 16) * max(1, len(batch))
    rows = [
        (str(e), str(p), str(o))
        for e, p, o in kg.select(query.bind(entity=batch, limit=limit), settings.layer)
    ]
    if len(rows) == limit and len(batch) > 1:
        # A hub took the room of others.
        half = len(batch) // 2
        return {
            **_directed(kg, batch[:half], direction, settings),
            **_directed(kg, batch[half:], direction, settings),
        }
    found: dict[str, list[_Link]] = {entity: [] for entity in batch}
    for entity, relation, other in sorted(set(rows)):
        wanted = relation in settings.allowed if settings.allowed else relation not in _NO_LINKS
        if not wanted or relation in settings.denied or other.startswith(SKOLEM):
            continue
        if len(found[entity]) < settings.max_links:
            ends = (entity, relation, other) if direction == "out" else (other, relation, entity)
            found[entity].append((entity, *ends))
    return found


def _types(kg: KnowledgeGraph, entities: Sequence[str], layer: Layer) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    query = queries.get("graphcodes/types")
    for start in range(0, len(entities), _BATCH):
        for entity, kind in kg.select(query.bind(entity=entities[start : start + _BATCH]), layer):
            if str(kind) not in _NO_CLASSES and not str(kind).startswith(SKOLEM):
                found.setdefault(str(entity), set()).add(str(kind))
    return found
