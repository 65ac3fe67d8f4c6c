"""How alike two codes are in meaning: words of one sense match in part, by the vectors of a small model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from mrag.errors import ConfigError
from mrag.graphcodes.code import GraphCode, Node
from mrag.graphcodes.explanation.verbalise import readable
from mrag.graphcodes.metrics import CodeScores, Lexicographic, Weighted
from mrag.index.embedding.embedders import Embedder
from mrag.index.embedding.embedders import embedder as load_embedder
from mrag.index.embedding.local_models import Vectors

_FLOOR: Final = 0.1


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
    _vectors: dict[str, Vectors] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        model = load_embedder(self.embedder)
        if model is None:
            raise ConfigError("Meaning is compared by an embedding model.", hint="Name minilm or wordllama.")
        self._model = model

    def score(self, q: GraphCode, d: GraphCode) -> float | tuple[float, ...]:
        """Return the three values as one order, greatest for the codes that are most alike."""
        return self.aggregate(self.scores(q, d))

    def scores(self, q: GraphCode, d: GraphCode) -> CodeScores:
        """Compare two codes; all values are 0 if one of them is empty.

        Args:
            q: The question's code.
            d: The document's code.
        """
        if not q or not d:
            return CodeScores(0.0, 0.0, 0.0)
        nodes = _likeness(self._of([_name(n) for n in q.nodes]), self._of([_name(n) for n in d.nodes]))
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
            self._of([readable(e.relation) for e in q.edges]),
            self._of([readable(e.relation) for e in d.edges]),
        )
        joined = sources * targets
        return CodeScores(
            features, float(joined.max(axis=1).mean()), float((joined * relations).max(axis=1).mean())
        )

    def _of(self, names: list[str]) -> Vectors:
        new = sorted({name for name in names if name not in self._vectors})
        self._vectors.update(zip(new, self._model.embed_documents(new), strict=True) if new else ())
        return np.stack([self._vectors[name] for name in names])


def _name(node: Node) -> str:
    return node.label or readable(node.id)


def _likeness(mine: Vectors, theirs: Vectors) -> Vectors:
    near: Vectors = np.clip((mine @ theirs.T - _FLOOR) / (1 - _FLOOR), 0, 1)
    return near
