"""What the classes and properties of a graph are near to in meaning."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from mrag.index.embedding import Embedder, Vectors
from mrag.index.embedding import embedder as load_embedder
from mrag.language.tokens import TextToken
from mrag.planning.lexical.candidates import Candidate, Named
from mrag.planning.lexical.english import is_empty, is_everyday, is_role, other_names
from mrag.planning.lexical.names import Span
from mrag.planning.lexical.schema_words import SchemaName, SchemaWords
from mrag.planning.schema import Schema

_BEST: Final = 12
_ASKED: Final = 10_000
_EMBEDDED: Final = 1_000
_CLEAR: Final = 0.45
NEAR: Final = 0.5
"""How near in meaning words are at least that may stand for each other."""
_KINDS: Final[tuple[Named, ...]] = ("class", "property")


class Meanings:
    """What the classes and properties of a graph are near to in meaning.

    Args:
        schema: The schema of the graph.
        embedder: The model by which words are near in meaning; None for none.
    """

    def __init__(self, schema: Schema, embedder: str | Embedder | None = None) -> None:
        self.schema = schema
        self.words = SchemaWords(schema)
        self._embedder = embedder
        self._vectors: dict[Named, tuple[list[SchemaName], Vectors]] = {}
        self._asked: dict[str, Vectors] = {}

    def similar(self, words: str, kind: Named, k: int = 5) -> list[Candidate]:
        """Return the properties or classes nearest in meaning to some words, nearest first.

        Args:
            words: A phrase.
            kind: "property" or "class".
            k: Most candidates; their scores are cosines.
        """
        return list(self._similar(words, kind)[:k])

    def likeness(self, one: str, other: str) -> float:
        """Return how near two phrases are in meaning, as a cosine; 0 without an embedding model."""
        first, second = self._vector(one), self._vector(other)
        return 0.0 if first is None or second is None else float(first @ second)

    def _add_meanings(self, found: dict[Span, list[Candidate]], tokens: Sequence[TextToken]) -> None:
        """Add what words are near to in meaning that nothing else explains."""
        if self._embedder is None:
            return
        clear = {
            at for (i, j), some in found.items() if any(c.score >= _CLEAR for c in some) for at in range(i, j)
        }
        shouted = not any(t.raw.islower() for t in tokens)
        for at, token in enumerate(tokens):
            if at and not shouted and token.raw.istitle():
                continue  # a name that the graph does not have is nothing else
            if at in clear or is_empty(token.key) or is_everyday(token.key) or not token.key.isalpha():
                continue
            if other_names(token.raw, capital=token.raw.isupper()):
                continue  # a country that the graph does not have is nothing else
            for kind in _KINDS:
                near = (c for c in self.similar(token.raw, kind, 3) if c.score >= NEAR)
                if is_role(token.raw):
                    # Roles are near to each other in meaning: an editor is no author.
                    near = (c for c in near if not is_role(c.name.split()[-1]))
                found.setdefault((at, at + 1), []).extend(
                    replace(c, score=round(c.score * 0.7, 4)) for c in near
                )

    def _similar(self, words: str, kind: Named) -> tuple[Candidate, ...]:
        model = load_embedder(self._embedder)
        if model is None:
            return ()
        if kind not in self._vectors:
            mine = [n for n in self._most_used() if n.kind == kind]
            self._vectors[kind] = mine, model.embed_documents([n.name for n in mine])
        known, vectors = self._vectors[kind]
        vector = self._vector(words)
        assert vector is not None
        cosines = (vectors @ vector).tolist() if known else ()
        return best(
            (
                Candidate(kind, n.term, round(max(0.0, min(1.0, s)), 4), n.name, "meaning", inverse=n.inverse)
                for n, s in zip(known, cosines, strict=True)
            ),
            50,
        )

    def _vector(self, words: str) -> Vectors | None:
        model = load_embedder(self._embedder)
        if model is None:
            return None
        if words not in self._asked:
            if len(self._asked) >= _ASKED:
                self._asked = {}
            self._asked[words] = model.embed_query(words)
        return self._asked[words]

    def _most_used(self) -> list[SchemaName]:
        """Return the names of the classes and properties with the most members and triples."""
        sizes = {c: info.count for c, info in self.schema.classes.items()}
        sizes |= {p: info.triples for p, info in self.schema.properties.items()}
        return sorted(self.words.names, key=lambda n: (-sizes[n.term], n.term, n.name))[:_EMBEDDED]


def best(candidates: Iterable[Candidate], most: int = _BEST) -> tuple[Candidate, ...]:
    """Return the best candidate of each thing, best first, ties in order of IRI."""
    found: dict[tuple[str, str, bool], Candidate] = {}
    for c in candidates:
        key = (c.kind, c.term, c.inverse)
        if key not in found or found[key].score < c.score:
            found[key] = c
    return tuple(sorted(found.values(), key=lambda c: (-c.score, c.kind, c.term, c.inverse))[:most])
