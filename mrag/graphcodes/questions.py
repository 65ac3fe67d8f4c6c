"""Questions over a knowledge graph as codes: the names in them, their links, and words as ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Final

from mrag.graph.kg import KnowledgeGraph
from mrag.graphcodes.code import Edge, GraphCode, Node, is_iri, readable
from mrag.graphcodes.code_index import GraphCodeIndex
from mrag.graphcodes.metrics import Ontology
from mrag.language.english import is_empty
from mrag.language.tokens import tokens
from mrag.planning.lexical import Candidate, Named, NameMention
from mrag.planning.lexicon import lexicon_of
from mrag.planning.schema import PropertyInfo

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
