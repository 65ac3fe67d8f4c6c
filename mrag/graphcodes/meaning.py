"""How alike two codes are in meaning, and how usual one is: words of one sense match in part, by vectors."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from mrag.errors import ConfigError
from mrag.graphcodes.code import GraphCode, Node
from mrag.graphcodes.explanation import readable
from mrag.graphcodes.metrics import CodeScores, Lexicographic, Weighted
from mrag.index.embedding import Embedder, Vectors
from mrag.index.embedding import embedder as load_embedder

_FLOOR: Final = 0.1
_SHARPNESS: Final = 4
_PRIOR: Final = 1.0


@dataclass
class CodeMeaning:
    """Compares codes by the meaning of their words, so that `holds` is near `carries` and `man` near `boy`.

    The likeness s of two words is their cosine, with 0.1 and below as 0 and scaled to [0, 1]. Of the three
    values, features is the mean over the question's nodes of their best s among the document's nodes. For an
    edge, s(sources) · s(targets) says how well another edge connects the same things in the same direction;
    relations is the mean of the best of it over the question's edges, and types the mean of the best of it
    times s(relations). What only the document has does not count.

    It has no index: every pair of nodes is compared, so it orders what an index has found, as
    `GraphCodeRanker` does, or compares two codes.

    Args:
        embedder: `minilm`, `wordllama`, or an embedder.
        aggregate: How the three values become one order.

    Raises:
        ConfigError: If there is no such embedder, or it is `none`.

    Example:
        >>> asked = GraphCode.of([], [("boy", "v:carry", "bag")])
        >>> meaning = CodeMeaning("minilm")
        >>> held = GraphCode.of([], [("man", "v:hold", "bag")])
        >>> turned = GraphCode.of([], [("bag", "v:hold", "man")])
        >>> meaning.score(asked, held) > meaning.score(asked, turned)
        True
    """

    embedder: str | Embedder = "minilm"
    aggregate: Weighted | Lexicographic = field(default_factory=Weighted)
    _names: _NameVectors = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._names = _NameVectors.by(self.embedder)

    def score(self, q: GraphCode, d: GraphCode) -> float | tuple[float, ...]:
        """Return the three values as one order, greatest for the codes that are most alike."""
        return self.aggregate(self.scores(q, d))

    def scores(self, q: GraphCode, d: GraphCode) -> CodeScores:
        """Compare two codes; all values are 0 if one of them is empty."""
        if not q or not d:
            return CodeScores(0.0, 0.0, 0.0)
        nodes = _likeness(
            self._names.of([_name(n) for n in q.nodes]), self._names.of([_name(n) for n in d.nodes])
        )
        features = float(nodes.max(axis=1).mean())
        if not q.edges:
            return CodeScores(features, features, features)
        if not d.edges:
            return CodeScores(features, 0.0, 0.0)
        mine = {node_id: at for at, node_id in enumerate(q.dictionary)}
        theirs = {node_id: at for at, node_id in enumerate(d.dictionary)}
        sources = nodes[np.ix_([mine[e.source] for e in q.edges], [theirs[e.source] for e in d.edges])]
        targets = nodes[np.ix_([mine[e.target] for e in q.edges], [theirs[e.target] for e in d.edges])]
        relations = _likeness(
            self._names.of([readable(e.relation) for e in q.edges]),
            self._names.of([readable(e.relation) for e in d.edges]),
        )
        joined = sources * targets
        return CodeScores(
            features, float(joined.max(axis=1).mean()), float((joined * relations).max(axis=1).mean())
        )


class CodeUsage:
    """Tells how usual the edges of a code are among the codes of a collection.

    That a man rides a horse is said more often than that he eats one. For an edge, usage is the logarithm of
    P(relation | ends) / P(relation). P(relation) is its share of the collection's edges. P(relation | ends)
    is its share of the edges with like ends: each counts (s(sources) · s(targets))⁴, s as in `CodeMeaning`,
    and one edge's worth of P(relation) is added (Dirichlet's smoothing: Zhai and Lafferty, 2004, A Study of
    Smoothing Methods for Language Models, ACM TOIS 22), so an edge between unheard-of things has 0.

    It does not look at any document, so it never changes the order of documents for a question. It helps
    to choose between codes for one document, such as captions for an image, added to how alike they are.
    Write both in one way, by `CodeNormaliser`.

    Args:
        codes: The collection, such as what was said of other images.
        embedder: `minilm`, `wordllama`, or an embedder.

    Raises:
        ConfigError: If there is no such embedder, or it is `none`.

    Example:
        >>> said = [("man", "ride", "horse"), ("girl", "ride", "pony"), ("horse", "eat", "grass")]
        >>> usage = CodeUsage(GraphCode.of([], [edge]) for edge in said)
        >>> ride, eat = (GraphCode.of([], [("boy", verb, "horse")]) for verb in ("ride", "eat"))
        >>> usage.score(ride) > 0 > usage.score(eat)
        True
    """

    def __init__(self, codes: Iterable[GraphCode], embedder: str | Embedder = "minilm") -> None:
        self._names = _NameVectors.by(embedder)
        ends = [
            (_name(code.by_id[e.source]), e.relation, _name(code.by_id[e.target]))
            for code in codes
            for e in code.edges
        ]
        known = sorted({name for source, _, target in ends for name in (source, target)})
        places = {name: at for at, name in enumerate(known)}
        self._known = self._names.of(known) if known else None
        self._sources = np.array([places[source] for source, _, _ in ends], np.int64)
        self._targets = np.array([places[target] for _, _, target in ends], np.int64)
        self._shares = Counter(relation for _, relation, _ in ends)
        numbers = {relation: at for at, relation in enumerate(self._shares)}
        self._numbers = numbers
        self._relations = np.array([numbers[relation] for _, relation, _ in ends], np.int64)

    def score(self, code: GraphCode) -> float:
        """Return the mean of the usage of a code's edges; 0 if it has none."""
        if not code.edges or self._known is None:
            return 0.0
        near = _likeness(self._names.of([_name(node) for node in code.nodes]), self._known) ** _SHARPNESS
        rows = {node_id: at for at, node_id in enumerate(code.dictionary)}
        total = 0.0
        for edge in code.edges:
            alike = near[rows[edge.source]][self._sources] * near[rows[edge.target]][self._targets]
            same = alike[self._relations == self._numbers.get(edge.relation, -1)]
            # One edge more, of a relation of its own, so that what is new has a share too.
            share = (self._shares[edge.relation] + 1) / (len(alike) + len(self._shares) + 1)
            given = (float(same.sum()) + _PRIOR * share) / (float(alike.sum()) + _PRIOR)
            total += math.log(given / share)
        return total / len(code.edges)


@dataclass
class _NameVectors:
    """The vectors of names, each computed once."""

    model: Embedder
    known: dict[str, Vectors] = field(default_factory=dict)

    @classmethod
    def by(cls, embedder: str | Embedder) -> _NameVectors:
        """Return those of an embedder."""
        model = load_embedder(embedder)
        if model is None:
            raise ConfigError("Meaning is compared by an embedding model.", hint="Name minilm or wordllama.")
        return cls(model)

    def of(self, names: list[str]) -> Vectors:
        """Return the vectors of names, in their order."""
        new = sorted({name for name in names if name not in self.known})
        self.known.update(zip(new, self.model.embed_documents(new), strict=True) if new else ())
        return np.stack([self.known[name] for name in names])


def _name(node: Node) -> str:
    return node.label or readable(node.id)


def _likeness(mine: Vectors, theirs: Vectors) -> Vectors:
    near: Vectors = np.clip((mine @ theirs.T - _FLOOR) / (1 - _FLOOR), 0, 1)
    return near
