"""Where codes come from: a knowledge graph and scene graphs; all written in one way.

What a person calls `two brown tennis balls`, one scene graph has as a node `tennis balls` with the attributes
`2` and `brown`, another as `balls` with the attribute `tennis`. Metrics compare ids, so `CodeNormaliser`
writes both sides alike: nouns in the singular, a compound as its head with the rest as attributes, verbs
without the marks of voice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.graphcodes.code import Edge, GraphCode, Node, term
from mrag.graphcodes.lexicon import INSTEAD, WORDS
from mrag.language.tokens import singular
from mrag.rdf import queries
from mrag.rdf.terms import OWL, RDF, RDFS, SKOLEM

_BATCH = 200
_NO_LINKS = frozenset((RDF + "type", OWL + "sameAs", RDFS + "isDefinedBy", RDFS + "seeAlso"))
_NO_CLASSES = frozenset(
    (OWL + "Thing", OWL + "NamedIndividual", RDFS + "Resource", OWL + "Class", RDFS + "Class")
)


def neighbourhood(kg: KnowledgeGraph, entity: str, *, hops: int = 1, max_links: int = 64) -> GraphCode:
    """Read the code of one entity, see `neighbourhoods`.

    Example:
        >>> from rdflib import URIRef
        >>> from mrag.stores.oxigraph import OxigraphStore
        >>> from mrag.rdf.terms import Triple
        >>> kg = KnowledgeGraph(OxigraphStore())
        >>> _ = kg.insert([Triple(URIRef("urn:x:a"), URIRef("urn:x:knows"), URIRef("urn:x:b"))])
        >>> [edge.key for edge in neighbourhood(kg, "urn:x:b").edges]
        [('urn:x:a', 'urn:x:knows', 'urn:x:b')]
    """
    return next(neighbourhoods(kg, [entity], hops=hops, max_links=max_links))[1]


def neighbourhoods(
    kg: KnowledgeGraph, entities: Iterable[str], *, hops: int = 1, max_links: int = 64
) -> Iterator[tuple[str, GraphCode]]:
    """Yield the codes of entities, in the order in which they are given, each once.

    Nodes are IRIs with their labels and classes, edges the links between them, but for classes and sources.
    Literals are no nodes; blank nodes are left out. With 2 `hops` the links of its neighbours are in the code
    too. Of one entity and direction there are `max_links` at most, first by property, then by the other end.

    Raises:
        ConfigError: If a number is out of range.
    """
    if hops not in (1, 2) or max_links < 1:
        raise ConfigError("A code has links over 1 or 2 hops, and at least 1 of them.")
    iris = list(dict.fromkeys(map(str, entities)))
    for start in range(0, len(iris), _BATCH):
        yield from _codes(kg, iris[start : start + _BATCH], hops, max_links)


def _codes(
    kg: KnowledgeGraph, batch: Sequence[str], hops: int, max_links: int
) -> Iterator[tuple[str, GraphCode]]:
    links = _links(kg, batch, max_links)
    if hops == 2:
        near = {entity: sorted(_ends(edges)) for entity, edges in links.items()}
        further = _links(kg, sorted({end for edges in near.values() for end in edges}), max_links)
        links = {e: [*edges, *(link for n in near[e] for link in further[n])] for e, edges in links.items()}
    ends = sorted({end for edges in links.values() for end in _ends(edges)} | set(batch))
    labels = kg.labels(ends)
    types = _types(kg, ends)
    nodes = {end: Node(end, labels.get(end) or "", frozenset(types.get(end, ()))) for end in ends}
    for entity in batch:
        inside = sorted(_ends(links[entity]) | {entity})
        yield entity, GraphCode.of([nodes[end] for end in inside], links[entity])


def _ends(edges: Iterable[Edge]) -> set[str]:
    return {end for edge in edges for end in (edge.source, edge.target)}


def _links(kg: KnowledgeGraph, entities: Sequence[str], most: int) -> dict[str, list[Edge]]:
    edges: dict[str, list[Edge]] = {entity: [] for entity in entities}
    for start in range(0, len(entities), _BATCH):
        for direction in ("out", "in"):
            for entity, links in _direct(kg, entities[start : start + _BATCH], direction, most).items():
                edges[entity] += links
    return edges


def _direct(kg: KnowledgeGraph, batch: Sequence[str], direction: str, most: int) -> dict[str, list[Edge]]:
    query = queries.get(f"graphcodes/{direction}")
    # Room for what is no edge, such as types: filtered here, where the same rule holds for every store.
    limit = (most + 16) * max(1, len(batch))
    rows = [(str(e), str(p), str(o)) for e, p, o in kg.select(query.bind(entity=batch, limit=limit))]
    if len(rows) == limit and len(batch) > 1:
        # A hub took the room of others.
        halves = batch[: len(batch) // 2], batch[len(batch) // 2 :]
        first, second = (_direct(kg, half, direction, most) for half in halves)
        return first | second
    edges: dict[str, list[Edge]] = {entity: [] for entity in batch}
    for entity, relation, other in sorted(set(rows)):
        if relation not in _NO_LINKS and not other.startswith(SKOLEM) and len(edges[entity]) < most:
            ends = (entity, other) if direction == "out" else (other, entity)
            edges[entity].append(Edge(ends[0], relation, ends[1]))
    return edges


def _types(kg: KnowledgeGraph, entities: Sequence[str]) -> dict[str, set[str]]:
    types: dict[str, set[str]] = {}
    for query in queries.get("graphcodes/types").batches("entity", entities, _BATCH):
        for entity, kind in kg.select(query):
            if str(kind) not in _NO_CLASSES and not str(kind).startswith(SKOLEM):
                types.setdefault(str(entity), set()).add(str(kind))
    return types


ATTRIBUTE: Final = "is"
"""The relation from an object to an attribute."""

_COPY: Final = re.compile(r"(.+):(\d+)", re.DOTALL)


def from_scene_triples(triples: Iterable[Sequence[str]]) -> GraphCode:
    """Make a code of the triples of a scene graph, as the FACTUAL data set writes them.

    Objects and attributes are nodes, `is` leads to attributes, verbs have `v:` before them or, in the
    passive, `pv:`; all of it stays. An object that is called as another one, `bear:1`, keeps its own
    node, with the name as its label.

    Raises:
        ConfigError: If a triple is not three texts with something in them.

    Example:
        >>> code = from_scene_triples([("Bear", "v:look at", "bear:1"), ("bear:1", "is", "brown")])
        >>> [edge.key for edge in code.edges]
        [('bear', 'v:look at', 'bear:1'), ('bear:1', 'is', 'brown')]
    """
    edges: list[Edge] = []
    for triple in triples:
        if len(triple) != 3 or not all(isinstance(part, str) for part in triple):
            raise ConfigError(f"A triple of a scene graph is three texts, not {str(triple)[:80]}.")
        source, relation, target = triple
        edges.append(Edge(term(source), term(relation), term(target)))
    return _label(GraphCode.of([], edges))


def _label(code: GraphCode) -> GraphCode:
    copies = {node.id: _COPY.fullmatch(node.id) for node in code.nodes}
    names = {node_id: copy[1] for node_id, copy in copies.items() if copy}
    return code.with_labels(names) if names else code


@dataclass(frozen=True)
class CodeNormaliser:
    """Writes a code of English terms in one way. Ids that are IRIs stay as they are.

    A compound is its last word, with the others as attributes: `tennis ball` is a `ball` that `is` `tennis`.
    A relation of several words is one edge for each word: who lays on a bed is on it too.

    Args:
        singular: Nouns in the singular; the number stays where an attribute says it.

    Example:
        >>> code = GraphCode.of([], [("tennis players", "v:sit", "bench"), ("bench", "is", "gray")])
        >>> [edge.key for edge in CodeNormaliser()(code).edges]
        [('bench', 'is', 'grey'), ('player', 'is', 'tennis'), ('player', 'sit', 'bench')]
    """

    singular: bool = True

    def __call__(self, code: GraphCode) -> GraphCode:
        """Return the code as it is written here."""
        attributes = {edge.target for edge in code.edges if edge.relation == ATTRIBUTE}
        things = {edge.source for edge in code.edges}
        things |= {edge.target for edge in code.edges if edge.relation != ATTRIBUTE}
        edges: list[Edge] = []
        names: dict[str, str] = {}
        nodes: list[Node] = []
        for node in code.nodes:
            if node.id not in attributes or node.id in things:
                name, described = self._thing(node.id)
                names[node.id] = name
                nodes += [Node(name, "" if name != node.id else node.label, node.types)] if name else []
                edges += [Edge(name, ATTRIBUTE, word) for word in described]
        for edge in code.edges:
            said = edge.relation == ATTRIBUTE
            targets = self._qualities(edge.target) if said else [names[edge.target]]
            for relation in self._relations(edge.relation):
                edges += [Edge(names[edge.source], relation, target) for target in targets]
        return GraphCode.of(nodes, edges, code.parts)

    def _thing(self, name: str) -> tuple[str, list[str]]:
        if "/" in name or name.startswith(("urn:", "ex:")):
            return name, []
        copy = _COPY.fullmatch(name)
        stem, tail = (copy[1], f":{copy[2]}") if copy else (name, "")
        stem = stem.replace("-", " ")
        stem = INSTEAD["joined"].get(stem, stem).replace("-", "")
        words = stem.split()
        if self.singular:
            words = [singular(word) for word in words]
        if len(words) < 2:
            return " ".join(words) + tail, []
        # A hot dog is no dog.
        whole = 2 if f"{words[-2]} {singular(words[-1])}" in WORDS["no_kind_of"] else 1
        return " ".join(words[-whole:]) + tail, words[:-whole]

    def _qualities(self, name: str) -> list[str]:
        if "/" in name:
            return [name]
        words = name.replace("-", " ").split()
        return [INSTEAD["qualities"].get(word, word) for word in words if word != "of"]

    def _relations(self, relation: str) -> list[str]:
        if "/" in relation:
            return [relation]
        bare = relation.removeprefix("pv:").removeprefix("v:")
        return [word for word in bare.split() if word not in ("the", "of")]
