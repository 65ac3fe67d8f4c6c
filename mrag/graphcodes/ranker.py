"""Ranking by graph codes, and its reasons: the nodes and edges that made a score, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.graphcodes.code import Edge, Extractor, GraphCode, centre, is_iri, readable
from mrag.graphcodes.code_index import CodeMatch, GraphCodeIndex
from mrag.graphcodes.metrics import CodeComparison, CodeScores, Lexicographic, Ontology, Weighted
from mrag.graphcodes.reading import TextExtractor
from mrag.graphcodes.sources import QuestionCodes
from mrag.rdf.terms import RDF
from mrag.retrieval.rankers import FusedRanker, Hit, Question

EXCESS: Final = 0.01
"""How much what only an entity has counts against it: questions are short, and neighbourhoods are not."""

NEAR: Final = 500  # How many hits are compared more closely, where they are


@dataclass
class GraphCodeRanker:
    """Ranks entities by how alike their codes are to the question's.

    Args:
        kg: The graph whose entities the documents of the index are; None if there is none.
        index: The codes of the entities, by IRI.
        extractor: Reads the code of a question that names nothing of the graph; `TextExtractor`, of the extra
            `graphcodes`, if left out.
        comparison: How codes are compared; if left out by the structural metric, with the ontology of the
            graph, and with little weight on what the question does not ask for.

    Raises:
        ConfigError: When a question has no text.

    Example:
        >>> class Triples:
        ...     def extract(self, text):
        ...         return GraphCode.of([], [tuple(part.split()) for part in text.split(",")])
        >>> index = GraphCodeIndex()
        >>> index.put({"ex:1": GraphCode.of([], [("dog", "bites", "man")])})
        >>> GraphCodeRanker(None, index, Triples()).rank(Question("dog licks man"), 1)[0].reasons
        ('Has: dog, man.', 'Connected otherwise: dog licks man (here: bites).')
    """

    kg: KnowledgeGraph | None
    index: GraphCodeIndex
    extractor: Extractor | None = None
    comparison: CodeComparison | None = None

    @cached_property
    def how(self) -> CodeComparison:
        """How codes are compared."""
        if self.comparison is not None:
            return self.comparison
        return CodeComparison(excess=EXCESS, ontology=Ontology.of_graph(self.kg) if self.kg else None)

    def code(self, question: Question) -> GraphCode:
        """Return the code of a question.

        Raises:
            ConfigError: If it has no text.
        """
        if not question.text.strip():
            raise ConfigError("Graph codes are read from text.", hint="Give the question in words.")
        if self._questions is not None:
            named = self._questions.read(question.text)
            if any(node.id in self._known for node in named.nodes):
                return named
        if self.extractor is None:
            self.extractor = TextExtractor()
        return self.named(self.extractor.extract(question.text))

    def named(self, code: GraphCode) -> GraphCode:
        """Return a code whose terms are what they name in the graph."""
        return code if self._questions is None else self._questions.link(code)

    @cached_property
    def _questions(self) -> QuestionCodes | None:
        return None if self.kg is None else QuestionCodes(self.kg, self.index, self.how.ontology)

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(node.id for node, _ in self.index.nodes())

    @cached_property
    def _kinds(self) -> frozenset[str]:
        return frozenset(kind for node, _ in self.index.nodes() for kind in node.types)

    def rank(self, question: Question, k: int) -> list[Hit]:
        """Return at most `k` hits, best first."""
        return self.rank_code(self.code(question), k)

    def rank_code(self, q: GraphCode, k: int) -> list[Hit]:
        """Return at most `k` hits for a code, such as that of another image, best first."""
        matches = self._matches(q, k)
        parts = [self.index.part(match.id, q, self.how)[0] for match in matches]
        verbaliser = self._verbaliser([q, *parts])
        return [
            Hit(match.id, match.score, rank, self._reasons(q, part, verbaliser))
            for rank, (match, part) in enumerate(zip(matches, parts, strict=True), start=1)
        ]

    def rank_like(self, entity: str, k: int) -> list[Hit]:
        """Return at most `k` hits for the entities most like one of the index, best first.

        Entities are compared as they are seen from themselves, see `centre`: those that have the same links
        to the same things are alike. The best `NEAR` that share a node with the entity are compared.

        Raises:
            IndexError_: If the entity is not in the index.
        """
        code = self.index.code(entity)
        asked = centre(code, entity)
        nodes = GraphCode.of([node.id for node in code.nodes if node.id != entity] or [entity])
        matches = self.index.search(nodes, max(k, NEAR), replace(self.how, excess=EXCESS))
        ids = sorted({entity, *(match.id for match in matches)})
        others = {doc: centre(self.index.code(doc), doc) for doc in ids}
        how = self.how
        keys = {doc: _falling(how.aggregate(how.scores(asked, d))) for doc, d in others.items()}
        ranked = sorted(keys, key=lambda doc: (keys[doc], doc))[:k]
        verbaliser = self._verbaliser([asked, *(others[doc] for doc in ranked)])
        return [
            Hit(doc, -keys[doc][0], rank, self._reasons(asked, others[doc], verbaliser))
            for rank, doc in enumerate(ranked, start=1)
        ]

    def matches(self, question: Question, k: int) -> list[CodeMatch]:
        """Return at most `k` matches with the three values of the metric."""
        return self._matches(self.code(question), k)

    def _matches(self, q: GraphCode, k: int) -> list[CodeMatch]:
        matches = self.index.search(q, k, self.how)
        if self.how.metric == "structural" and not any(node.id in self._kinds for node in q.nodes):
            # Who is named and has all that is asked is what is looked for: more links are no fault.
            whole = replace(self.how, excess=0.0)
            ids = [node.id for node in q.nodes if node.id in self.index]
            own = [_match(doc, whole.scores(q, self.index.code(doc)), whole.aggregate) for doc in ids]
            own = [match for match in own if match.score >= 1]
            named = {match.id for match in own}
            matches = [*own, *(match for match in matches if match.id not in named)]
        order = self.how.aggregate
        return sorted(matches, key=lambda match: (_falling(order(match.scores)), match.id))[:k]

    def _verbaliser(self, codes: Sequence[GraphCode]) -> CodeVerbaliser:
        return CodeVerbaliser() if self.kg is None else CodeVerbaliser().with_names(self.kg, codes)

    def _reasons(self, q: GraphCode, part: GraphCode, verbaliser: CodeVerbaliser) -> tuple[str, ...]:
        labels = {node.id: node.label for node in part.nodes if node.label}
        named = CodeVerbaliser({**verbaliser.names, **labels})
        return explain(q, part, self.how).reasons(q, named)


def _falling(key: float | tuple[float, ...]) -> tuple[float, ...]:
    return (-key,) if isinstance(key, float) else tuple(-value for value in key)


def _match(doc: str, scores: CodeScores, order: Weighted | Lexicographic) -> CodeMatch:
    return CodeMatch(doc, -_falling(order(scores))[0], scores)


def sum_scores(
    rankings: Sequence[Mapping[str, float]], weights: Sequence[float] | None = None
) -> list[tuple[str, float]]:
    """Add up the scores of several rankings, each divided by its best."""
    chosen = [1.0] * len(rankings) if weights is None else list(weights)
    if len(chosen) != len(rankings) or any(not weight >= 0 for weight in chosen):
        raise ConfigError(f"{len(rankings)} rankings need as many weights of at least 0, not {chosen}.")
    total: dict[str, float] = {}
    for ranking, weight in zip(rankings, chosen, strict=True):
        best = max(ranking.values(), default=0.0)
        for doc, score in ranking.items():
            share = weight * score / best if best > 0 and score > 0 else 0.0
            total[doc] = total.get(doc, 0.0) + share
    return sorted(total.items(), key=lambda pair: (-pair[1], pair[0]))


class ScoreFusedRanker(FusedRanker):
    """Fuses rankings by their scores, see `sum_scores`.

    Graph codes have scores that mean something: 1 is the same graph. Reciprocal ranks throw that away.

    Raises:
        ConfigError: When ranking, if there is not one weight of at least 0 for each ranker.

    Example:
        >>> from mrag.retrieval.rankers import Question
        >>> class Fixed:
        ...     def __init__(self, **scores):
        ...         self.scores = scores
        ...     def rank(self, question, k):
        ...         found = enumerate(self.scores.items(), 1)
        ...         return [Hit(iri, s, at, (f"{s}",)) for at, (iri, s) in found][:k]
        >>> fused = ScoreFusedRanker([Fixed(a=0.9, b=0.8), Fixed(b=12.0, c=3.0)])
        >>> [(hit.iri, hit.reasons) for hit in fused.rank(Question("?"), 2)]
        [('b', ('0.8', '12.0')), ('a', ('0.9',))]
    """

    def _fuse(self, rankings: Sequence[Sequence[Hit]]) -> list[tuple[str, float]]:
        return sum_scores([{hit.iri: hit.score for hit in ranking} for ranking in rankings], self.weights)


_MAX_THINGS: Final = 8
_SAID: Final = {"is": "is", RDF + "type": "is a"}  # Relations that are not called by their names


@dataclass(frozen=True)
class CodeVerbaliser:
    """Verbalises codes, with names by id, of nodes and relations, for nodes without a label of their own.

    Example:
        >>> code = GraphCode.of([], [("man", "rides", "bicycle"), ("bicycle", "is", "red")])
        >>> CodeVerbaliser().verbalise(code)
        'bicycle is red. man rides bicycle.'
    """

    names: Mapping[str, str] = field(default_factory=dict)

    def with_names(self, kg: KnowledgeGraph, codes: Iterable[GraphCode]) -> CodeVerbaliser:
        """Return a verbaliser that also has the labels that a graph gives the IRIs in some codes."""
        given = list(codes)
        ids = {node.id for code in given for node in code.nodes}
        ids |= {edge.relation for code in given for edge in code.edges}
        texts = kg.labels(sorted(i for i in ids if is_iri(i) and i not in self.names))
        labels = {iri: label for iri, label in texts.items() if label}
        return CodeVerbaliser({**self.names, **labels})

    def name(self, node_id: str, code: GraphCode | None = None) -> str:
        """Name a node: its label, the graph's, or what its id says."""
        node = code.by_id.get(node_id) if code is not None else None
        return (node.label if node is not None else "") or self.names.get(node_id) or readable(node_id)

    def relation(self, relation: str) -> str:
        """Name a relation."""
        return self.names.get(relation) or readable(relation)

    def edge(self, edge: Edge, code: GraphCode | None = None) -> str:
        """Return an edge in words, without a full stop."""
        relation = _SAID.get(edge.relation) or self.relation(edge.relation)
        return f"{self.name(edge.source, code)} {relation} {self.name(edge.target, code)}"

    def verbalise(self, code: GraphCode) -> str:
        """Return a whole code in words: its edges, then the nodes that no edge mentions."""
        said = [self.edge(edge, code) + "." for edge in code.edges]
        ends = {end for edge in code.edges for end in (edge.source, edge.target)}
        alone = [self.name(node_id, code) for node_id in code.dictionary if node_id not in ends]
        if alone:
            said.append(f"{'Also: ' if said else ''}{', '.join(alone)}.")
        return " ".join(said)


@dataclass(frozen=True)
class Explanation:
    """What a document has of a question and what it has not."""

    nodes: tuple[tuple[str, str], ...]
    missing_nodes: tuple[str, ...]
    edges: tuple[Edge, ...]
    other_types: tuple[tuple[Edge, str], ...]
    turned: tuple[Edge, ...]
    missing_edges: tuple[Edge, ...]
    unfit: tuple[str, ...]

    def reasons(self, q: GraphCode, verbaliser: CodeVerbaliser | None = None) -> tuple[str, ...]:
        """Return the explanation in sentences."""
        verbaliser = verbaliser or CodeVerbaliser()

        def node(asked: str, other: str) -> str:
            return verbaliser.name(asked, q) + (f" ({verbaliser.name(other)})" if other != asked else "")

        groups: list[tuple[str, list[str]]] = [
            ("Has", [node(asked, other) for asked, other in self.nodes]),
            ("Has as asked", [verbaliser.edge(edge, q) for edge in self.edges]),
            (
                "Connected otherwise",
                [f"{verbaliser.edge(e, q)} (here: {verbaliser.relation(r)})" for e, r in self.other_types],
            ),
            ("The other way round", [verbaliser.edge(edge, q) for edge in self.turned]),
            ("Not of the kind asked for", [verbaliser.name(i, q) for i in self.unfit]),
            ("Lacks", [verbaliser.name(i, q) for i in self.missing_nodes if i not in self.unfit]),
            ("Lacks the connection", [verbaliser.edge(edge, q) for edge in self.missing_edges]),
        ]
        reasons = []
        for what, things in groups:
            more = f" and {len(things) - _MAX_THINGS} more" if len(things) > _MAX_THINGS else ""
            reasons += [f"{what}: {', '.join(things[:_MAX_THINGS])}{more}."] if things else []
        return tuple(reasons)


def explain(q: GraphCode, d: GraphCode, comparison: CodeComparison | None = None) -> Explanation:
    """Return what a document has of a question, by the matching of the comparison's metric.

    `d` may be the part of the document that matches any node of the question.

    Example:
        >>> q = GraphCode.of([], [("dog", "bites", "man")])
        >>> found = explain(q, GraphCode.of(["cat"], [("man", "bites", "dog")]))
        >>> found.reasons(q)
        ('Has: dog, man.', 'The other way round: dog bites man.')
    """
    how = comparison or CodeComparison()
    kinds = how.ontology or Ontology()
    met: dict[str, list[str]] = {node.id: [] for node in q.nodes}
    for node in q.nodes:
        if how.ontology is not None:
            others = (other.id for other in d.nodes if kinds.matches(node, other))
            met[node.id] = sorted(others, key=lambda other: (other != node.id, other))
        elif node.id in d.by_id and (how.metric != "structural" or kinds.meets(node, d.by_id[node.id])):
            met[node.id] = [node.id]
    edges, other, turned, missing = [], [], [], []

    def relations(sources: str, targets: str) -> list[str]:
        ends = ((s, t) for s in met[sources] for t in met[targets])
        return sorted({relation for pair in ends for relation in d.cells.get(pair, ())})

    for edge in q.edges:
        there = relations(edge.source, edge.target)
        if any(kinds.fits(relation, edge.relation) for relation in there):
            edges.append(edge)
        elif there:
            other.append((edge, there[0]))
        elif any(kinds.fits(relation, edge.relation) for relation in relations(edge.target, edge.source)):
            turned.append(edge)
        else:
            missing.append(edge)
    return Explanation(
        tuple((asked, others[0]) for asked, others in met.items() if others),
        tuple(asked for asked, others in met.items() if not others),
        tuple(edges),
        tuple(other),
        tuple(turned),
        tuple(missing),
        tuple(asked for asked, others in met.items() if not others and asked in d.by_id),
    )
