"""The names that a graph has for its things, and what else people call them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from math import log2
from typing import Final

import numpy as np

from mrag.graph.kg import KnowledgeGraph
from mrag.index.embedders import Embedder
from mrag.index.embedders import embedder as load_embedder
from mrag.planning.candidates import Candidate, Dimension, Mention, Named, Way
from mrag.planning.gathering import Gathered, gathered
from mrag.planning.name_table import Rows
from mrag.planning.profiling import schema_of
from mrag.planning.schema import Schema
from mrag.planning.schema_words import SchemaWords
from mrag.planning.spelling import distance, edits_allowed
from mrag.planning.synonyms import DIMENSIONS, is_empty, positive
from mrag.rdf import queries
from mrag.text.folding import bare
from mrag.text.tokens import TextToken, stem

__all__ = ["Candidate", "Dimension", "Lexicon", "Mention", "lexicon_of"]

_SPAN: Final = 8
_BEST: Final = 12
_MANY: Final = 60
_HONORIFICS: Final = frozenset("mr mrs ms miss dr prof professor sir madam mister".split())


def lexicon_of(kg: KnowledgeGraph, embedder: str | Embedder | None = "minilm") -> Lexicon:
    """Return the lexicon of a graph, built once for each state of it.

    Args:
        kg: The knowledge graph.
        embedder: The model by which words are near in meaning; None for none.

    Example:
        >>> import mrag
        >>> from mrag.text.tokens import tokens
        >>> kg = mrag.demo(model="none")
        >>> mention = lexicon_of(kg, None).match(tokens("Who develops GraphDB?"))[-1]
        >>> mention.candidates[0].name, mention.candidates[0].kind
        ('GraphDB', 'entity')
        >>> kg.close()
    """
    name = embedder if isinstance(embedder, str | None) else embedder.name

    def make() -> Lexicon:
        return Lexicon(kg, schema_of(kg), gathered(kg, schema_of(kg)), embedder)

    return kg.cached(f"planning lexicon {name}", make)


class Lexicon:
    """The names of a graph; see `lexicon_of`.

    Args:
        kg: The knowledge graph.
        schema: Its schema.
        names: The names of its entities and its frequent values.
        embedder: The model by which words are near in meaning; None for none.
    """

    def __init__(
        self, kg: KnowledgeGraph, schema: Schema, names: Gathered, embedder: str | Embedder | None = None
    ) -> None:
        self.kg = kg
        self.schema = schema
        self.names = names
        self.words = SchemaWords(schema)
        self._embedder = embedder
        self._vectors: dict[Named, tuple[list[Candidate], np.ndarray]] = {}
        self._near = lru_cache(4096)(self._similar)

    def match(self, tokens: Sequence[TextToken], question: str = "") -> list[Mention]:
        """Return the spans of a question that may name something, in order of place.

        Args:
            tokens: The words of the question.
            question: The question, in which what stands in quotes is matched as a whole.

        Example:
            >>> import mrag
            >>> from mrag.text.tokens import tokens
            >>> kg = mrag.demo(model="none")
            >>> lexicon = lexicon_of(kg, None)
            >>> [m.candidates[0].name for m in lexicon.match(tokens("graphbd"))]
            ['GraphDB']
            >>> kg.close()
        """
        found: dict[tuple[int, int], list[Candidate]] = {}
        spans = [
            (i, j)
            for i in range(len(tokens))
            for j in range(i + 1, min(len(tokens), i + _SPAN) + 1)
            if not all(is_empty(t.key) or t.key in _HONORIFICS for t in tokens[i:j])
        ]
        for span in spans:
            if candidates := list(self.words.candidates(tokens[span[0] : span[1]])):
                found.setdefault(span, []).extend(candidates)
        for span, rows, score, way in self._rows(tokens, spans):
            found.setdefault(span, []).extend(self._named(rows, score, way, tokens[span[0] : span[1]]))
        classed = self._with_classes(found)
        return [Mention(i, j, classed[i, j]) for i, j in sorted(classed)]

    def similar(self, words: str, kind: Named, k: int = 5) -> list[Candidate]:
        """Return the properties or classes nearest in meaning to some words, nearest first.

        Args:
            words: A phrase.
            kind: "property" or "class".
            k: Most candidates; their scores are cosines.
        """
        return list(self._near(words, kind)[:k])

    def dimension(self, adjective: str) -> list[Dimension]:
        """Return the properties of numbers and dates that an adjective or a superlative is a measure of.

        Args:
            adjective: Such as "cheap", "longest" or "more recent".
        """
        plain = next((p for p in map(positive, reversed(adjective.split())) if p), None)
        if plain is None:
            return []
        direction, nouns = DIMENSIONS[plain]
        best: dict[str, Dimension] = {}
        measured = {p: info for p, info in self.schema.properties.items() if info.kind in ("number", "date")}
        for rank, noun in enumerate(nouns.split()):
            wanted = stem(noun)
            for name in self.words.names:
                if name.term not in measured or wanted not in name.stems:
                    continue
                share = 1 / len(name.weighty)
                score = round((0.95 - 0.06 * rank) * (0.7 + 0.3 * share), 4)
                if name.term not in best or best[name.term].score < score:
                    best[name.term] = Dimension(name.term, score, direction, name.name)
        near = self.similar(nouns.split()[0], "property", 5) if not best else []
        for candidate in near:
            if candidate.term in measured and candidate.score >= 0.4:
                best[candidate.term] = Dimension(
                    candidate.term, round(candidate.score * 0.8, 4), direction, candidate.name
                )
        return sorted(best.values(), key=lambda d: (-d.score, d.property))

    # -- names -------------------------------------------------------------------------------------

    def _rows(
        self, tokens: Sequence[TextToken], spans: Sequence[tuple[int, int]]
    ) -> Iterator[tuple[tuple[int, int], Rows, float, Way]]:
        table = self.names.table
        if not len(table):
            return
        wholes = ["".join(t.key for t in tokens[i:j]) for i, j in spans]
        stems = [" ".join(stem(t.raw) for t in tokens[i:j]) for i, j in spans]
        for span, rows in zip(spans, table.named(wholes), strict=True):
            if len(rows):
                yield span, rows, 1.0, "exact"
        for span, rows in zip(spans, table.named_by_stems(stems), strict=True):
            if len(rows):
                yield span, rows, 0.95, "inflected"
        yield from self._by_words(tokens)
        yield from self._misspelt(tokens)

    def _by_words(self, tokens: Sequence[TextToken]) -> Iterator[tuple[tuple[int, int], Rows, float, Way]]:
        table = self.names.table
        numbers = [
            None if is_empty(t.key) or t.key in _HONORIFICS else table.stem_number(stem(t.raw))
            for t in tokens
        ]
        for i in range(len(tokens)):
            if numbers[i] is None:
                continue
            rows = None
            for j in range(i, min(len(tokens), i + _SPAN)):
                number = numbers[j]
                if number is None:
                    if is_empty(tokens[j].key) or tokens[j].key in _HONORIFICS:
                        continue
                    break
                having = table.with_stem(number)
                rows = having if rows is None else np.intersect1d(rows, having, assume_unique=True)
                if not len(rows):
                    break
                if len(rows) <= _MANY:
                    start = i
                    while start and tokens[start - 1].key in _HONORIFICS:
                        start -= 1
                    yield (start, j + 1), rows.astype(np.int64), 0.0, "tokens"

    def _misspelt(self, tokens: Sequence[TextToken]) -> Iterator[tuple[tuple[int, int], Rows, float, Way]]:
        table = self.names.table
        others = {i: self._corrections(t) for i, t in enumerate(tokens) if not is_empty(t.key)}
        spans, stems, edits = [], [], []
        for i in range(len(tokens)):
            for j in range(i + 1, min(len(tokens), i + _SPAN) + 1):
                for at in range(i, j):
                    for word, away in others.get(at, ()):
                        keys = [word if k == at else bare(tokens[k].raw) for k in range(i, j)]
                        spans.append((i, j))
                        stems.append(" ".join(stem(k) for k in keys))
                        edits.append(away)
        for span, rows, away in zip(spans, table.named_by_stems(stems), edits, strict=True):
            if len(rows):
                yield span, rows, 0.85 - 0.1 * away, "spelling"

    def _corrections(self, token: TextToken) -> list[tuple[str, int]]:
        table = self.names.table
        word = bare(token.raw)
        most = edits_allowed(word)
        if not most:
            return []
        found = []
        for at in table.spelling.near(word):
            other = table.words[at]
            away = distance(word, other, max(most, edits_allowed(other)))
            if 0 < away <= max(1, min(most, edits_allowed(other))):
                found.append((away, other))
        return [(other, away) for away, other in sorted(found)[:5]]

    def _named(self, rows: Rows, score: float, way: Way, span: Sequence[TextToken]) -> Iterator[Candidate]:
        table = self.names.table
        stems = {stem(t.raw) for t in span}
        for row in rows[:_MANY].tolist():
            worth = score if way != "tokens" else self._worth(row, stems, len(rows))
            yield self.names.candidate(int(table.owners[row]), table.texts[row], worth, way)

    def _worth(self, row: int, stems: set[str], crowd: int) -> float:
        """Return the score of a name some of whose words are said, of as many names as have them."""
        weights = self.names.table.weights(row)
        whole = sum(weight for _, weight in weights) or 1.0
        share = sum(weight for s, weight in weights if s in stems) / whole
        # What few names have in common tells them apart, what many have does not.
        return round((0.55 if crowd == 1 else 0.5 / (1 + 0.35 * log2(crowd))) + 0.35 * share, 4)

    def _with_classes(
        self, found: dict[tuple[int, int], list[Candidate]]
    ) -> dict[tuple[int, int], tuple[Candidate, ...]]:
        chosen = {span: best(candidates) for span, candidates in found.items()}
        entities = sorted({c.term for some in chosen.values() for c in some if c.kind == "entity"})
        types: dict[str, list[str]] = {}
        for text in queries.get("planning/classes-of").batches("thing", entities):
            for thing, c in self.kg.select(text):
                if str(c) in self.schema.classes:
                    types.setdefault(str(thing), []).append(str(c))
        return {
            span: tuple(
                replace(c, classes=tuple(types.get(c.term, ()))) if c.kind == "entity" else c for c in some
            )
            for span, some in chosen.items()
        }

    # -- meaning -----------------------------------------------------------------------------------

    def _similar(self, words: str, kind: Named) -> tuple[Candidate, ...]:
        model = load_embedder(self._embedder)
        if model is None:
            return ()
        if kind not in self._vectors:
            mine = [n for n in self.words.names if n.kind == kind]
            texts = [Candidate(kind, n.term, 0.0, n.name, "meaning", inverse=n.inverse) for n in mine]
            self._vectors[kind] = texts, model.embed_documents([n.name for n in mine])
        known, vectors = self._vectors[kind]
        if not known:
            return ()
        cosines = (vectors @ model.embed_query(words)).tolist()
        return best(
            (
                Candidate(kind, c.term, round(max(0.0, min(1.0, s)), 4), c.name, "meaning", inverse=c.inverse)
                for c, s in zip(known, cosines, strict=True)
            ),
            50,
        )


def best(candidates: Iterable[Candidate], most: int = _BEST) -> tuple[Candidate, ...]:
    """Return the best candidate of each thing, best first, ties in order of IRI."""
    found: dict[tuple[str, str, bool], Candidate] = {}
    for c in candidates:
        key = (c.kind, c.term, c.inverse)
        if key not in found or found[key].score < c.score:
            found[key] = c
    return tuple(sorted(found.values(), key=lambda c: (-c.score, c.kind, c.term, c.inverse))[:most])
