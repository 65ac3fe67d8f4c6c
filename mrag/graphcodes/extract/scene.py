"""Graph codes of scene graphs: from triples, and from what the loader of scene graphs puts in a store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.graphcodes.code import Edge, GraphCode, Node, term
from mrag.rdf import queries

ATTRIBUTE = "is"
"""The relation from an object to an attribute."""

_BATCH = 200


def from_scene_triples(triples: Iterable[Sequence[str]]) -> GraphCode:
    """Make a code of the triples of a scene graph, as the FACTUAL data set writes them.

    Objects and attributes are nodes, `is` leads to attributes, verbs have `v:` before them or, in the
    passive, `pv:`; all of it stays. An object that is called as another one, `bear:1`, keeps its own
    node, with the name as its label.

    Args:
        triples: Subject, relation and object, each a text.

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
    return _labelled(GraphCode.of([], edges))


def _labelled(code: GraphCode) -> GraphCode:
    names = {}
    for node in code.nodes:
        name, colon, number = node.id.rpartition(":")
        if colon and number.isdigit() and name:
            names[node.id] = name
    return code.with_labels(names) if names else code


def regions(kg: KnowledgeGraph) -> dict[str, str]:
    """Return the regions of the images of a graph with a caption of each, empty where there is none.

    Args:
        kg: A graph that the loader of scene graphs has filled.
    """
    found: dict[str, str] = {}
    for region, caption in kg.select(queries.get("graphcodes/scene-regions").text):
        found.setdefault(str(region), str(caption) if caption is not None else "")
    return found


def scene_codes(kg: KnowledgeGraph, wanted: Sequence[str] | None = None) -> Iterator[tuple[str, GraphCode]]:
    """Yield the codes of regions of images.

    Terms are the names of objects and attributes; two objects of one name in a region are told apart by
    `:1`, `:2`, in order of their IRIs. Voice, which the store keeps in the property, comes back as `v:` and
    `pv:` no more: what has `(passive)` in its label gets `pv:`, other relations their plain words.

    Args:
        kg: A graph that the loader of scene graphs has filled.
        wanted: IRIs of regions; all if left out.
    """
    iris = sorted(regions(kg)) if wanted is None else list(wanted)
    for start in range(0, len(iris), _BATCH):
        yield from _codes(kg, iris[start : start + _BATCH])


def _codes(kg: KnowledgeGraph, batch: Sequence[str]) -> Iterator[tuple[str, GraphCode]]:
    def rows(name: str) -> Iterator[tuple[str, ...]]:
        for row in kg.select(queries.get(f"graphcodes/{name}").bind(region=batch)):
            yield tuple(str(value) for value in row)

    names: dict[str, dict[str, str]] = {region: {} for region in batch}
    for region, thing, name in rows("scene-objects"):
        names[region].setdefault(thing, term(name))
    ids: dict[str, dict[str, str]] = {}
    nodes: dict[str, list[Node]] = {}
    for region, things in names.items():
        ids[region], nodes[region] = {}, []
        seen: dict[str, int] = {}
        for thing, name in sorted(things.items()):
            # A name from the data may have a number already, `bear:1`.
            number = seen.get(name, 0)
            seen[name] = number + 1
            ids[region][thing] = f"{name}:{number}" if number else name
            nodes[region].append(Node(ids[region][thing], name if number else ""))
    edges: dict[str, list[Edge]] = {region: [] for region in batch}
    for region, thing, attribute in rows("scene-attributes"):
        edges[region].append(Edge(ids[region][thing], ATTRIBUTE, term(attribute)))
    for region, subject, _, label, other in rows("scene-relations"):
        passive = label.endswith(" (passive)")
        relation = f"pv:{term(label.removesuffix(' (passive)'))}" if passive else term(label)
        edges[region].append(Edge(ids[region][subject], relation, ids[region][other]))
    for region in batch:
        yield region, _labelled(GraphCode.of(nodes[region], edges[region]))
