"""Where codes come from: a knowledge graph, scene graphs, questions, and models; all written in one way.

What a person calls `two brown tennis balls`, one scene graph has as a node `tennis balls` with the attributes
`2` and `brown`, another as `balls` with the attribute `tennis`. Metrics compare ids, so `CodeNormaliser`
writes both sides alike: nouns in the singular, a compound as its head with the rest as attributes, verbs
without the marks of voice.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mrag import untrusted
from mrag._tables import tables
from mrag.errors import ConfigError, ModelError, MragError
from mrag.generation.models import invoke_repaired, json_values
from mrag.generation.support.sentences import without_thoughts
from mrag.graph.kg import KnowledgeGraph
from mrag.graphcodes.code import Edge, GraphCode, Node, is_iri, readable, term
from mrag.graphcodes.code_index import GraphCodeIndex
from mrag.graphcodes.metrics import Ontology
from mrag.graphcodes.repair import INSTEAD, WORDS
from mrag.images.files import open_picture
from mrag.language.english import is_empty
from mrag.language.tokens import singular, tokens
from mrag.planning.lexical import Candidate, Named, NameMention
from mrag.planning.lexicon import lexicon_of
from mrag.planning.schema import PropertyInfo
from mrag.rdf import queries
from mrag.rdf.terms import OWL, RDF, RDFS, SKOLEM

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage

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


ATTRIBUTE: Final = "is"  # The relation from an object to an attribute

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


_CLEAR: Final = 0.7
_SURE: Final = 0.9
_MOST: Final = 8
_BOTH: Final = 2.0
_BEING: Final = frozenset("is are was were be been being".split())


@dataclass(frozen=True, slots=True)
class _End:
    """A thing or a class that a question names, or the unknown that it asks for."""

    id: str
    label: str
    classes: tuple[str, ...]
    place: int

    @property
    def kind(self) -> bool:
        """Return whether any thing of a class is meant."""
        return not self.label or self.id in self.classes


@dataclass(frozen=True)
class QuestionCodes:
    """Reads the codes of questions by the names that `mrag ask` knows of a graph, without a parser."""

    kg: KnowledgeGraph
    index: GraphCodeIndex | None = None
    ontology: Ontology | None = None

    def read(self, question: str) -> GraphCode:
        """Return the code of a question; an empty one if it names nothing of the graph."""
        lexicon, words = lexicon_of(self.kg, None), tokens(question)
        chosen = _longest(lexicon.match(words, question))
        ends: list[_End] = []
        spans: list[NameMention] = []
        for mention in chosen:
            best = self._best(mention)
            if best.kind == "entity" or (best.kind == "class" and best.score >= _SURE):
                classes = best.classes if best.kind == "entity" else self._family(best.term)
                ends.append(_End(best.term, best.name, classes, mention.start))
                spans.append(mention)
        properties = [m for m in chosen if m.candidates[0].kind == "property"]
        # `award of Munich`: a class that is called as a property is one, where there is no other.
        properties = properties or [m for m in chosen if _also_property(m)]
        index = self.index
        near = [index.code(end.id) for end in ends if end.id in index] if index is not None else []
        edges = [self._edge(mention, ends[:_MOST], near) for mention in properties]
        if not any(edges) and len(ends) == 2:
            between = words[spans[0].end : spans[1].start]
            said = " ".join(token.raw for token in between if not is_empty(token.key))
            edges.append(_unknown(ends, said, near))
        return GraphCode.of([Node(end.id, end.label) for end in ends], [edge for edge in edges if edge])

    def link(self, code: GraphCode) -> GraphCode:
        """Return a code whose terms and relations are those of the graph that are called so."""
        nodes = {n.id: self._call(n.id, ("entity", "class")) for n in code.nodes if not is_iri(n.id)}
        said = {e.relation for e in code.edges if not is_iri(e.relation)}
        relations = {relation: self._call(_says(relation), ("property",)) for relation in said}
        nodes = {node_id: called for node_id, called in nodes.items() if called}
        relations = {said: called for said, called in relations.items() if called}
        ends = [Node(nodes.get(n.id, n.id), n.label, n.types) for n in code.nodes]
        edges = [
            Edge(
                nodes.get(e.source, e.source),
                relations.get(e.relation, e.relation),
                nodes.get(e.target, e.target),
            )
            for e in code.edges
        ]
        return GraphCode.of(ends, edges, code.parts)

    def _call(self, name: str, kinds: tuple[Named, ...]) -> str:
        """Return what is surely called so, empty if nothing is."""
        words = tokens(name)
        for mention in lexicon_of(self.kg, None).match(words, name):
            whole = (mention.start, mention.end) == (0, len(words))
            fitting = tuple(c for c in mention.candidates if c.kind in kinds and not c.inverse)
            if whole and fitting and fitting[0].score >= _SURE:
                return self._best(replace(mention, candidates=fitting)).term
        return ""

    def _best(self, mention: NameMention) -> Candidate:
        """Return the best candidate; of equals of one kind what is searched, or the class of most things."""
        first = mention.candidates[0]
        classes = lexicon_of(self.kg, None).schema.classes

        def order(candidate: Candidate) -> tuple[bool, int]:
            here = self.index is not None and candidate.term in self.index
            members = classes[candidate.term].count if candidate.term in classes else 0
            return (candidate.kind == "entity" and not here, -members)

        equal = [c for c in mention.candidates if (c.kind, c.score) == (first.kind, first.score)]
        return min(equal, key=order)

    def _family(self, cls: str) -> tuple[str, ...]:
        broader = self.ontology.broader.get(cls, frozenset()) if self.ontology else frozenset()
        narrower = self.ontology.narrower.get(cls, frozenset()) if self.ontology else frozenset()
        return (cls, *sorted(broader | narrower))

    def _edge(self, mention: NameMention, ends: Sequence[_End], near: Sequence[GraphCode]) -> Edge | None:
        """Return the edge that a property most likely is, of all that its candidates allow."""
        schema = lexicon_of(self.kg, None).schema
        rows: list[tuple[float, str, str, str]] = []
        clear = mention.candidates[0].score
        for candidate in mention.candidates:
            info = schema.properties.get(candidate.term)
            if candidate.kind != "property" or info is None or candidate.score < clear - 0.1:
                continue
            pairs = [(a, b) for a, b in permutations(ends, 2) if _is_allowed(near, a, info, b)]
            # A class that is named is what is asked for; else the unknown is of the usual class.
            for end in [] if len(ends) > 1 and any(end.kind for end in ends) else ends:
                others = _others(near, candidate.term, end.id)
                subject, other = others[0] or _usual(info.domains), others[1] or _usual(info.ranges)
                pairs += [(_End(subject, "", (), end.place), end)] if subject else []
                pairs += [(end, _End(other, "", (), end.place))] if other else []
            for one, two in pairs:
                fit = _fit(one, info.domains) + _fit(two, info.ranges) + _order(candidate, one, two)
                fit += _see(near, one, candidate.term, two)
                far = max(abs(one.place - mention.start), abs(two.place - mention.start))
                rows.append((0.05 * far - fit - candidate.score, one.id, candidate.term, two.id))
        rows = [row for row in rows if row[1] != row[3]]
        return Edge(*min(rows)[1:]) if rows else None


def _says(relation: str) -> str:
    """Return a relation in words, without the marks of scene graphs and the `is` of `is developed by`."""
    first, _, rest = readable(relation).partition(" ")
    return rest if rest and first in _BEING else readable(relation)


def _unknown(ends: Sequence[_End], words: str, near: Sequence[GraphCode]) -> Edge | None:
    """Return the edge between a class and a thing that words say which name no property of the graph."""
    kinds, things = [end for end in ends if end.kind], [end for end in ends if not end.kind]
    if not words or len(kinds) != 1:
        return None
    kind, thing = kinds[0], things[0]

    def fits(code: GraphCode, node_id: str) -> bool:
        return any(cls in kind.classes for cls in code.by_id[node_id].types)

    to = sum(e.target == thing.id and fits(code, e.source) for code in near for e in code.edges)
    back = sum(e.source == thing.id and fits(code, e.target) for code in near for e in code.edges)
    if to or back:
        return Edge(kind.id, words, thing.id) if to >= back else Edge(thing.id, words, kind.id)
    return None


def _also_property(mention: NameMention) -> bool:
    best = mention.candidates[0]
    others = {(c.kind, c.score) for c in mention.candidates}
    return best.kind == "class" and ("property", best.score) in others


def _others(near: Sequence[GraphCode], relation: str, entity: str) -> tuple[str, str]:
    """Return the usual classes of the subjects and of the objects that an entity really has of a relation."""
    edges = [(code, edge) for code in near for edge in code.edges if edge.relation == relation]
    to = Counter(kind for code, e in edges if e.target == entity for kind in code.by_id[e.source].types)
    back = Counter(kind for code, e in edges if e.source == entity for kind in code.by_id[e.target].types)
    return _usual(to), _usual(back)


def _see(near: Sequence[GraphCode], one: _End, relation: str, two: _End) -> float:
    """Return whether the codes of the named ends have such an edge."""
    if not one.kind and not two.kind:
        key = (one.id, relation, two.id)
        return 0.5 if any(e.key == key for code in near for e in code.edges) else 0.0

    def meant(end: _End, code: GraphCode, node_id: str) -> bool:
        kinds = code.by_id[node_id].types
        return end.id == node_id or (end.kind and (not end.label or any(c in kinds for c in end.classes)))

    visible = any(
        e.relation == relation and meant(one, code, e.source) and meant(two, code, e.target)
        for code in near
        for e in code.edges
    )
    return 0.5 if visible else -0.5


def _longest(mentions: Sequence[NameMention]) -> list[NameMention]:
    """Return the mentions that are clear, none inside another: sure ones by length, the others by score."""

    def order(mention: NameMention) -> tuple[int, float, int]:
        score = mention.candidates[0].score
        return (-(mention.end - mention.start) if score >= _SURE else 0, -score, mention.start)

    taken: set[int] = set()
    chosen = []
    for mention in sorted((m for m in mentions if m.candidates[0].score >= _CLEAR), key=order):
        span = set(range(mention.start, mention.end))
        if not span & taken:
            taken |= span
            chosen.append(mention)
    return sorted(chosen, key=lambda mention: mention.start)


def _usual(classes: Mapping[str, int]) -> str:
    return min(classes, key=lambda cls: (-classes[cls], cls), default="")


def _fit(end: _End, classes: Mapping[str, int]) -> float:
    """Return how well an end fits the subjects or the objects of a property; the unknown fits less."""
    if not end.label:
        return 0.4
    return 1.0 if not classes or any(cls in classes for cls in end.classes) else 0.0


def _is_allowed(near: Sequence[GraphCode], one: _End, info: PropertyInfo, two: _End) -> bool:
    fit = _fit(one, info.domains) + _fit(two, info.ranges)
    return fit >= _BOTH or _see(near, one, info.iri, two) > 0


def _order(candidate: Candidate, one: _End, two: _End) -> float:
    """Prefer the order of the question where both ends are named."""
    if not one.label or not two.label:
        return 0.0
    return 0.1 if (one.place < two.place) is not candidate.inverse else 0.0


_DATA: Final = tables("graphcodes/models.toml")
_MOST_CHARS: Final = 8000  # how much of a text a model is shown


@dataclass
class ModelExtractor:
    """Reads the code of a text or a picture by a chat model; of a picture by one that sees.

    Example:
        >>> from langchain_core.language_models import FakeListChatModel
        >>> edge = '{"edges": [{"source": "dog", "relation": "chase", "target": "cat"}]}'
        >>> ModelExtractor(FakeListChatModel(responses=["I see.", edge])).extract("A dog chases a cat.").edges
        (Edge(source='dog', relation='chase', target='cat'),)
    """

    model: BaseChatModel

    def extract(self, text: str) -> GraphCode:
        """Read one text; an empty one gives the empty code, and the model is not asked.

        Raises:
            ModelError: If the model cannot be reached, or twice gave no code.
        """
        from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

        if not text.strip():
            return GraphCode()
        said, answer = _DATA["example"]
        shown = untrusted.lines(text[:_MOST_CHARS])
        examples: list[BaseMessage] = [HumanMessage(f"Text: {said}"), AIMessage(answer)]
        return self._ask([SystemMessage(_DATA["text"]), *examples, HumanMessage(f"Text: {shown}")])

    def extract_picture(self, path: Path | str) -> GraphCode:
        """Read one picture: JPEG, PNG, WebP or GIF.

        Raises:
            LoadError: If the file cannot be read or is over a limit.
            ModelError: If the model cannot be reached, or twice gave no code.
        """
        from langchain_core.messages import HumanMessage

        picture = open_picture(Path(path))
        message = HumanMessage([{"type": "text", "text": _DATA["picture"]}, dict(picture.block())])
        return self._ask([message])

    def _ask(self, messages: list[BaseMessage]) -> GraphCode:
        code, problem = invoke_repaired(self.model, messages, _DATA["schema"], _read)
        if code is None:
            hint = "Try another model, or the extractor without one."
            raise ModelError(f"The model gave no graph code: {problem}", hint=hint)
        return code


def _read(text: str, value: Any) -> tuple[GraphCode | None, str]:
    try:
        return (read_code(without_thoughts(text)) if value is None else code_of(value)), ""
    except MragError as error:
        return None, " ".join(part for part in (error.message, error.hint) if part)


_MOST_PARTS: Final = 200
_LONGEST: Final = 120
_FORM: Final[str] = _DATA["form"]


def read_code(text: str) -> GraphCode:
    """Read a code from the first JSON in a text that is one."""
    problem: MragError = ModelError("There is no JSON object in the answer.", hint=_FORM)
    for value in reversed([*json_values(text)]):
        try:
            return code_of(value)
        except MragError as error:
            problem = error
    raise problem


def code_of(value: Any) -> GraphCode:
    """Read a code from parsed JSON: an object with `nodes` and `edges`."""
    if not isinstance(value, Mapping):
        raise ModelError("The answer is not a JSON object.", hint=_FORM)
    nodes, edges = (value.get(key) or [] for key in ("nodes", "edges"))
    if not (isinstance(nodes, list) and isinstance(edges, list)):
        raise ModelError("The nodes or the edges are not a list.", hint=_FORM)
    if len(nodes) > _MOST_PARTS or len(edges) > _MOST_PARTS:
        hint = "Give the most important ones once."
        raise ModelError(f"There are more than {_MOST_PARTS} nodes or edges.", hint=hint)
    code = GraphCode.of(
        [Node(_name(node, "name"), "", _types_of(node)) for node in nodes],
        [Edge(*(_name(edge, end) for end in ("source", "relation", "target"))) for edge in edges],
    )
    if not code:
        raise ModelError("The code is empty.", hint=_FORM)
    return code


def _name(part: Any, key: str) -> str:
    value = part.get(key) if isinstance(part, Mapping) else None
    if isinstance(value, bool) or not isinstance(value, str | int | float) or not str(value).strip():
        raise ModelError(f"The {key} of a part is not a text: {str(part)[:60]!r}.", hint=_FORM)
    if len(text := str(value)) > _LONGEST:
        raise ModelError(f"A {key} is a whole sentence: {text[:60]!r}…", hint="Use short names.")
    article, _, bare = term(text).partition(" ")
    return bare if bare and article in ("a", "an", "the") else term(text)


def _types_of(node: Mapping[str, Any]) -> frozenset[str]:
    kinds = node.get("types") or []
    if not isinstance(kinds, list):
        raise ModelError("The types of a node are not a list.", hint=_FORM)
    return frozenset(_name({"type": kind}, "type") for kind in kinds if kind)
