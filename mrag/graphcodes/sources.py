"""Where codes come from: a knowledge graph, scene graphs, and many texts; all written in one way.

What a person calls `two brown tennis balls`, one scene graph has as a node `tennis balls` with the attributes
`2` and `brown`, another as `balls` with the attribute `tennis`. Metrics compare ids, so `CodeNormaliser`
writes both sides alike: nouns in the singular, a compound as its head with the rest as attributes, verbs
without the marks of voice.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any, Final, Literal, get_args

from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph, Layer
from mrag.graphcodes import lexicon
from mrag.graphcodes.code import Edge, GraphCode, Node, RelationRegistry, from_json, term, to_json
from mrag.graphcodes.reading import TextExtractor
from mrag.jobs.runners import InlineRunner, Runner, resumed
from mrag.language.tokens import singular
from mrag.rdf import queries
from mrag.rdf.terms import OWL, RDF, RDFS, SKOLEM

Direction = Literal["out", "in"]

_BATCH = 200
_NO_LINKS = frozenset((RDF + "type", OWL + "sameAs", RDFS + "isDefinedBy", RDFS + "seeAlso"))
_NO_CLASSES = frozenset(
    (OWL + "Thing", OWL + "NamedIndividual", RDFS + "Resource", OWL + "Class", RDFS + "Class")
)


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
    """Yield the codes of entities, in the order in which they are given, each once."""
    settings = settings or NeighbourhoodSettings()
    iris = list(dict.fromkeys(map(str, entities)))
    for start in range(0, len(iris), _BATCH):
        yield from _codes(kg, iris[start : start + _BATCH], settings)


def _codes(
    kg: KnowledgeGraph, batch: Sequence[str], settings: NeighbourhoodSettings
) -> Iterator[tuple[str, GraphCode]]:
    links = _links(kg, batch, settings)
    if settings.hops == 2:
        near = {entity: sorted(_ends(found)) for entity, found in links.items()}
        further = _links(kg, sorted({end for found in near.values() for end in found}), settings)
        links = {e: [*found, *(link for n in near[e] for link in further[n])] for e, found in links.items()}
    ends = sorted({end for found in links.values() for end in _ends(found)} | set(batch))
    labels = kg.labels(ends)
    types = _types(kg, ends, settings.layer)
    nodes = {end: Node(end, labels.get(end) or "", frozenset(types.get(end, ()))) for end in ends}
    for entity in batch:
        inside = sorted(_ends(links[entity]) | {entity})
        yield entity, GraphCode.of([nodes[end] for end in inside], links[entity])


def _ends(edges: Iterable[Edge]) -> set[str]:
    return {end for edge in edges for end in (edge.source, edge.target)}


def _links(
    kg: KnowledgeGraph, entities: Sequence[str], settings: NeighbourhoodSettings
) -> dict[str, list[Edge]]:
    found: dict[str, list[Edge]] = {entity: [] for entity in entities}
    for start in range(0, len(entities), _BATCH):
        for direction in settings.directions:
            for entity, links in _direct(kg, entities[start : start + _BATCH], direction, settings).items():
                found[entity] += links
    return found


def _direct(
    kg: KnowledgeGraph, batch: Sequence[str], direction: Direction, settings: NeighbourhoodSettings
) -> dict[str, list[Edge]]:
    query = queries.get(f"graphcodes/{direction}")
    # Room for what is no edge, such as types: filtered here, where the same rule holds for every store.
    limit = (settings.max_links + 16) * max(1, len(batch))
    rows = [
        (str(e), str(p), str(o))
        for e, p, o in kg.select(query.bind(entity=batch, limit=limit), settings.layer)
    ]
    if len(rows) == limit and len(batch) > 1:
        # A hub took the room of others.
        halves = batch[: len(batch) // 2], batch[len(batch) // 2 :]
        first, second = (_direct(kg, half, direction, settings) for half in halves)
        return first | second
    found: dict[str, list[Edge]] = {entity: [] for entity in batch}
    for entity, relation, other in sorted(set(rows)):
        wanted = relation in settings.allowed if settings.allowed else relation not in _NO_LINKS
        if not wanted or relation in settings.denied or other.startswith(SKOLEM):
            continue
        if len(found[entity]) < settings.max_links:
            ends = (entity, other) if direction == "out" else (other, entity)
            found[entity].append(Edge(ends[0], relation, ends[1]))
    return found


def _types(kg: KnowledgeGraph, entities: Sequence[str], layer: Layer) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    query = queries.get("graphcodes/types")
    for start in range(0, len(entities), _BATCH):
        for entity, kind in kg.select(query.bind(entity=entities[start : start + _BATCH]), layer):
            if str(kind) not in _NO_CLASSES and not str(kind).startswith(SKOLEM):
                found.setdefault(str(entity), set()).add(str(kind))
    return found


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


def regions(kg: KnowledgeGraph) -> dict[str, str]:
    """Return the regions of the images of a graph with a caption of each, empty where there is none."""
    found: dict[str, str] = {}
    for region, caption in kg.select(queries.get("graphcodes/scene-regions").text):
        found.setdefault(str(region), str(caption) if caption is not None else "")
    return found


def scene_codes(kg: KnowledgeGraph, wanted: Sequence[str] | None = None) -> Iterator[tuple[str, GraphCode]]:
    """Yield the codes of regions of images."""
    iris = sorted(regions(kg)) if wanted is None else list(wanted)
    for start in range(0, len(iris), _BATCH):
        yield from _scene_codes(kg, iris[start : start + _BATCH])


def _scene_codes(kg: KnowledgeGraph, batch: Sequence[str]) -> Iterator[tuple[str, GraphCode]]:
    def rows(name: str) -> Iterator[tuple[str, ...]]:
        for row in kg.select(queries.get(f"graphcodes/{name}").bind(region=batch)):
            yield tuple(str(value) for value in row)

    names: dict[str, dict[str, str]] = {region: {} for region in batch}
    for region, thing, name in rows("scene-objects"):
        names[region].setdefault(thing, term(name))
    ids: dict[str, dict[str, str]] = {region: {} for region in batch}
    nodes: dict[str, list[Node]] = {region: [] for region in batch}
    for region, things in names.items():
        seen: Counter[str] = Counter()
        for thing, name in sorted(things.items()):
            # A name from the data may have a number already, `bear:1`.
            number = seen[name]
            seen[name] += 1
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
        yield region, _label(GraphCode.of(nodes[region], edges[region]))


@dataclass(frozen=True)
class CodeNormaliser:
    """Writes a code of English terms in one way. Ids that are IRIs stay as they are.

    Args:
        singular: Nouns in the singular; the number stays where an attribute says it.
        compounds: A compound is its last word, with the others as attributes: `tennis ball` is a `ball`
            that `is` `tennis`.
        relations: A relation of several words is one edge for each word: who lays on a bed is on it too.

    Example:
        >>> code = GraphCode.of([], [("tennis players", "v:sit", "bench"), ("bench", "is", "gray")])
        >>> [edge.key for edge in CodeNormaliser()(code).edges]
        [('bench', 'is', 'grey'), ('player', 'is', 'tennis'), ('player', 'sit', 'bench')]
    """

    singular: bool = True
    compounds: bool = True
    relations: bool = True
    attribute: str = ATTRIBUTE

    def __call__(self, code: GraphCode) -> GraphCode:
        """Return the code as it is written here."""
        attributes = {edge.target for edge in code.edges if edge.relation == self.attribute}
        things = {edge.source for edge in code.edges}
        things |= {edge.target for edge in code.edges if edge.relation != self.attribute}
        edges: list[Edge] = []
        names: dict[str, str] = {}
        nodes: list[Node] = []
        for node in code.nodes:
            if node.id not in attributes or node.id in things:
                name, described = self._thing(node.id)
                names[node.id] = name
                nodes += [Node(name, "" if name != node.id else node.label, node.types)] if name else []
                edges += [Edge(name, self.attribute, word) for word in described]
        for edge in code.edges:
            said = edge.relation == self.attribute
            targets = self._qualities(edge.target) if said else [names[edge.target]]
            for relation in self._relations(edge.relation):
                edges += [Edge(names[edge.source], relation, target, edge.weight) for target in targets]
        return GraphCode.of(nodes, edges, code.parts)

    def _thing(self, name: str) -> tuple[str, list[str]]:
        if "/" in name or name.startswith(("urn:", "ex:")):
            return name, []
        copy = _COPY.fullmatch(name)
        stem, tail = (copy[1], f":{copy[2]}") if copy else (name, "")
        stem = stem.replace("-", " ")
        stem = lexicon.JOINED.get(stem, stem).replace("-", "")
        words = stem.split()
        if self.singular:
            words = [singular(word) for word in words]
        if not self.compounds or len(words) < 2:
            return " ".join(words) + tail, []
        # A hot dog is no dog.
        whole = 2 if f"{words[-2]} {singular(words[-1])}" in lexicon.NO_KIND_OF else 1
        return " ".join(words[-whole:]) + tail, words[:-whole]

    def _qualities(self, name: str) -> list[str]:
        if "/" in name:
            return [name]
        words = name.replace("-", " ").split()
        words = [lexicon.QUALITIES.get(word, word) for word in words if word != "of"]
        return words if self.compounds else [" ".join(words)]

    def _relations(self, relation: str) -> list[str]:
        if "/" in relation:
            return [relation]
        bare = relation.removeprefix("pv:").removeprefix("v:")
        return [w for w in bare.split() if w not in ("the", "of")] if self.relations else [bare]


_TEXTS = 128
"""Texts of one task: few are parsed slowly, and of many much is lost with a worker."""

_extractor = lru_cache(maxsize=1)(TextExtractor)


@dataclass(frozen=True)
class ExtractionWork:
    """Extracts the codes of a batch of texts, as JSON."""

    pipeline: str

    def __call__(self, texts: Sequence[str]) -> list[dict[str, Any]]:
        """Return the codes of texts, in their order."""
        return [to_json(code, RelationRegistry()) for code in _extractor(self.pipeline).extract_many(texts)]


def extract_codes(
    texts: Mapping[str, str],
    *,
    runner: Runner | None = None,
    journal: Path | None = None,
    pipeline: str | None = None,
    on_progress: Callable[[int, int | None], None] | None = None,
    stop: threading.Event | None = None,
) -> dict[str, GraphCode]:
    """Extract the graph codes of texts, the same with every runner.

    A job that was broken off goes on from its `journal`, if the texts that it had done come in the same order
    again. `on_progress` is called with how many batches are done, and how many there are. When `stop` is set,
    the run ends early; what was done is kept.

    Raises:
        ConfigError: If spaCy or the pipeline is not installed.
        BlockingIOError: If another process works on that journal.
        StoreError: If a task has lost its worker too often.

    Example:
        >>> codes = extract_codes({"a": "Two men are sitting on a red bench."})
        >>> [edge.key for edge in codes["a"].edges]
        [('bench', 'is', 'red'), ('men', 'is', '2'), ('men', 'v:sit on', 'bench')]
    """
    name = TextExtractor(pipeline).pipeline
    distinct = list(dict.fromkeys(texts.values()))
    batches = [distinct[at : at + _TEXTS] for at in range(0, len(distinct), _TEXTS)]
    tasks = {hashlib.sha256(json.dumps(batch).encode()).hexdigest(): batch for batch in batches}
    versions = [metadata.version(part) for part in ("spacy", name, "mrag")]
    done = resumed(
        runner or InlineRunner(),
        ExtractionWork(name),
        tasks,
        journal,
        job={"pipeline": name, "versions": versions},
        on_progress=on_progress,
        stop=stop,
    )
    codes = {
        text: from_json(json.dumps(code))
        for digest, found in done.items()
        for text, code in zip(tasks[digest], found, strict=True)
    }
    return {one: codes[text] for one, text in texts.items() if text in codes}
