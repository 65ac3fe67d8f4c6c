"""The names that a graph has for its things, and what else people call them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from mrag.graph.kg import KnowledgeGraph
from mrag.graph.naming import names_beside
from mrag.index.embedding import Embedder, begin_loading
from mrag.language.names import Likeness, is_signed, likeness_at
from mrag.language.tokens import TextToken, fold
from mrag.planning.lexical.candidates import Candidate, Dimension, NameMention
from mrag.planning.lexical.english import DIMENSIONS, Direction, is_empty, is_title, positive, root
from mrag.planning.lexical.names import SPAN, NamedThings, NameMatcher, Span, named_things
from mrag.planning.lexical.schema_words import counted_measures
from mrag.planning.meanings import NEAR, Meanings, best
from mrag.planning.profile.reusing import names_followed, remember_names
from mrag.planning.profile.usage import keep, kept, remembered, schema_array
from mrag.planning.profiling import schema_of
from mrag.planning.schema import Schema
from mrag.rdf import queries

__all__ = ["Candidate", "Dimension", "Lexicon", "NameMention", "lexicon_of"]

_QUOTES: Final = re.compile(
    r"[\"\u201c\u201e\u00ab][^\"\u201c\u201d\u201e\u00ab\u00bb]+[\"\u201d\u201c\u00bb]"
)


def lexicon_of(kg: KnowledgeGraph, embedder: str | Embedder | None = "minilm") -> Lexicon:
    """Return the lexicon of a graph, built once for each state of it.

    Args:
        kg: The knowledge graph.
        embedder: The model by which words are near in meaning; None for none.

    Example:
        >>> import mrag
        >>> from mrag.language.tokens import tokens
        >>> kg = mrag.demo(model="none")
        >>> mention = lexicon_of(kg, None).match(tokens("Who develops GraphDB?"))[-1]
        >>> mention.candidates[0].name, mention.candidates[0].kind
        ('GraphDB', 'entity')
        >>> kg.close()
    """
    name = embedder if isinstance(embedder, str | None) else embedder.name

    def make() -> Lexicon:
        begin_loading(embedder)
        return Lexicon(kg, schema_of(kg), kg.cached("planning names", lambda: _names(kg)), embedder)

    return kg.cached(f"planning lexicon {name}", make)


_BEHIND: Final = 0.03
"""How much less likely a name is that differs in case from what was said, where another does not."""

_REMEMBERED: Final = 32
"""Questions whose names are kept."""
_NAMING = frozenset("name title label".split())


_ALSO_CALLED = {"birth": tuple(map(root, ("birthday", "birthdate", "dob")))}
"""What a number or a date that an adjective measures is called besides."""


class Lexicon(Meanings):
    """The names of a graph; see `lexicon_of`.

    Args:
        kg: The knowledge graph.
        schema: Its schema.
        names: The names of its entities and its frequent values.
        embedder: The model by which words are near in meaning; None for none.
    """

    def __init__(
        self, kg: KnowledgeGraph, schema: Schema, names: NamedThings, embedder: str | Embedder | None = None
    ) -> None:
        super().__init__(schema, embedder)
        self.kg = kg
        self.matcher = NameMatcher(names)
        self._matched: dict[tuple[str, tuple[tuple[str, str, str], ...]], tuple[NameMention, ...]] = {}

    def match(self, tokens: Sequence[TextToken], question: str = "") -> list[NameMention]:
        """Return the spans of a question that may name something, in order of place.

        Args:
            tokens: The words of the question.
            question: The question, in which what stands in quotes is matched as a whole.

        Example:
            >>> import mrag
            >>> from mrag.language.tokens import tokens
            >>> kg = mrag.demo(model="none")
            >>> lexicon = lexicon_of(kg, None)
            >>> [m.candidates[0].name for m in lexicon.match(tokens("graphbd"))]
            ['GraphDB']
            >>> kg.close()
        """
        key = (question, tuple((t.before, t.raw, t.after) for t in tokens))
        found = self._matched.get(key)
        if found is None:
            if len(self._matched) >= _REMEMBERED:
                self._matched = {}
            # The reader and what checks it look for the same names, one right after the other.
            found = self._matched[key] = tuple(self._match(tokens, question))
        return list(found)

    def _match(self, tokens: Sequence[TextToken], question: str) -> list[NameMention]:
        shouted = not any(t.raw.islower() for t in tokens)
        # `US` and `IT` are names where the other words are in small letters.
        dumb = [
            _is_title(tokens, at)
            or (
                is_empty(t.key)
                and (shouted or not t.raw.isupper() or not _names_alone(tokens, at))
                and not is_signed(tokens, at)
            )
            for at, t in enumerate(tokens)
        ]
        # `Being There` may be a title, `being there` not.
        capital = [at > 0 and t.raw[0].isupper() for at, t in enumerate(tokens)]
        quoted = _quoted(tokens, question)
        spans = [
            (i, j)
            for i in range(len(tokens))
            for j in range(i + 1, min(len(tokens), i + SPAN) + 1)
            if not all(dumb[i:j]) or (i, j) in quoted or (j - i > 1 and not shouted and all(capital[i:j]))
        ]
        found: defaultdict[Span, list[Candidate]] = defaultdict(list)
        for i, j in spans:
            found[i, j].extend(self.words.candidates(tokens[i:j]))
        for span, candidate in self.matcher.candidates(tokens, spans):
            found[span].append(candidate)
        self._add_meanings(found, tokens)
        chosen = {span: best(_likest(tokens, span, some)) for span, some in found.items() if some}
        classed = self._with_classes(_uncut(chosen, quoted))
        return [NameMention(*span, classed[span]) for span in sorted(classed)]

    def dimension(self, adjective: str) -> list[Dimension]:
        """Return the properties of numbers and dates that an adjective or a superlative is a measure of.

        Args:
            adjective: Such as "cheap", "longest" or "more recent".
        """
        plain = next((p for p in map(positive, reversed(adjective.split())) if p), None)
        if plain is None:
            return []
        direction, nouns = DIMENSIONS[plain]
        measures = {p for p, info in self.schema.properties.items() if info.kind in ("number", "date")}
        found: list[Dimension] = []
        for rank, noun in enumerate(nouns.split()):
            wanted = {root(noun), *_ALSO_CALLED.get(noun, ())}
            for name in self.words.names:
                if name.term in measures and not wanted.isdisjoint(name.roots):
                    score = (0.95 - 0.06 * rank) * (0.7 + 0.3 / len(name.weighty))
                    found.append(Dimension(name.term, round(score, 4), direction, name.name))
        if plain in ("old", "young"):
            # What is old was born early, and has a great age.
            other: Direction = "greatest" if direction == "least" else "least"
            ages = (n for n in self.words.names if n.term in measures and root("age") in n.roots)
            found += [Dimension(n.term, 0.95, other, n.name) for n in ages]
        if "date" in nouns.split():
            # Whatever happens to a thing tells how old or how new it is.
            dates = (info for info in self.schema.properties.values() if info.kind == "date")
            found += [Dimension(info.iri, 0.4, direction, info.names[0]) for info in dates]
        # What has a length needs no number of parts to tell how long it is.
        owned = {c for d in found for c in self.schema.properties[d.property].domains}
        found += [
            d
            for d in counted_measures(plain, self.words.names, self.schema)
            if not owned & set(self.schema.properties[d.property].domains)
        ]
        if not found:
            near = (c for c in self.similar(nouns.split()[0], "property", 5) if c.score >= NEAR)
            found += [
                Dimension(c.term, round(c.score * 0.8, 4), direction, c.name)
                for c in near
                if c.term in measures
            ]
        found.sort(key=lambda d: (-d.score, d.property, d.name))
        return list({d.property: d for d in reversed(found)}.values())[::-1]

    def _with_classes(
        self, chosen: Mapping[Span, tuple[Candidate, ...]]
    ) -> dict[Span, tuple[Candidate, ...]]:
        entities = sorted({c.term for some in chosen.values() for c in some if c.kind == "entity"})
        if beside := names_beside(self.kg, entities):
            chosen = {span: _once(some, beside) for span, some in chosen.items()}
            entities = sorted({beside.get(iri, iri) for iri in entities})
        types: dict[str, list[str]] = {}
        for text in queries.get("planning/classes-of").batches("thing", entities):
            for thing, c in self.kg.select(text):
                if str(c) in self.schema.classes:
                    types.setdefault(str(thing), []).append(str(c))
        return {
            span: self._without_own_names(
                [
                    replace(c, classes=self.schema.with_superclasses(types.get(c.term, ())))
                    if c.kind == "entity"
                    else c
                    for c in some
                ]
            )
            for span, some in chosen.items()
        }

    def _without_own_names(self, some: Sequence[Candidate]) -> tuple[Candidate, ...]:
        """Return candidates without the values that are only names of the things among them."""
        own = {(fold(c.name), cls) for c in some if c.kind == "entity" for cls in c.classes}

        def names(c: Candidate, iri: str) -> bool:
            info = self.schema.properties.get(iri)
            if info is None or not any(n.split()[-1].lower() in _NAMING for n in info.names if n):
                return False
            return any((fold(c.term), cls) in own for cls in info.domains)

        return tuple(c for c in some if c.kind != "value" or not all(names(c, p) for p in c.properties))


def _likest(words: Sequence[TextToken], span: Span, some: Sequence[Candidate]) -> list[Candidate]:
    """Return candidates without those whose names differ in a sign from what was said, where others do not.

    What differs in case or in diacritics only comes behind what does not.
    """
    exact = [c for c in some if c.way == "exact" and c.kind in ("entity", "value")]
    if len(exact) < 2 or len({c.name for c in exact}) < 2:
        return list(some)
    told = {c.name: likeness_at(words, *span, c.name) for c in exact}
    least = {kind: min(told[c.name] for c in exact if c.kind == kind) for kind in {c.kind for c in exact}}
    # A thing of several names is known by the likest.
    likest: dict[tuple[str, str], tuple[Likeness, int]] = {}
    for c in exact:
        likest[c.kind, c.term] = min(told[c.name], likest.get((c.kind, c.term), told[c.name]))
    tied = max(c.score for c in exact)
    found = []
    for c in some:
        if (mine := likest.get((c.kind, c.term))) is None:
            found.append(c)
            continue
        first = least[c.kind]
        if mine[0] > max(Likeness.DIACRITICS, first[0]):
            continue
        behind = mine[0] - first[0] + (mine[0] == first[0] and mine[1] > first[1])
        whole = tied if first[0] == Likeness.SIGNS and c.way == "exact" else c.score
        found.append(replace(c, score=round(whole - _BEHIND * behind, 4)))
    return found


def _once(some: Iterable[Candidate], beside: Mapping[str, str]) -> tuple[Candidate, ...]:
    """Return candidates, things of several names by that which stands for them, and once."""
    found: dict[tuple[str, str], Candidate] = {}
    for c in some:
        c = replace(c, term=beside.get(c.term, c.term)) if c.kind == "entity" else c
        found.setdefault((c.kind, c.term + " inverse" * c.inverse), c)
    return tuple(found.values())


def _names(kg: KnowledgeGraph) -> NamedThings:
    revision, schema = kg.revision, schema_of(kg)
    if (arrays := kept(kg)) is not None:
        things = NamedThings.of(arrays)
        remember_names(kg, schema, things, revision)
        return things
    followed = names_followed(kg, schema)
    things = named_things(kg, schema) if followed is None else followed.things
    if followed is not None and not followed.is_far:
        remember_names(kg, schema, things, revision, followed.kept)
        return things
    known = remembered(kg)
    if known is not None and known.revision == revision:
        keep(kg, {"schema": schema_array(schema), "known": known.array(), **things.arrays()}, revision)
    remember_names(kg, schema, things, revision)
    return things


def _names_alone(words: Sequence[TextToken], at: int) -> bool:
    """Return whether a capital names something: not the "A" that begins a question or is an article."""
    behind = words[at + 1 : at + 2]
    return len(words[at].raw) > 1 or (at > 0 and all(is_empty(w.key) and w.raw.islower() for w in behind))


def _is_title(words: Sequence[TextToken], at: int) -> bool:
    """Return whether a word is only the title of the name behind it; there may be a class of professors."""
    if not is_title(words[at].key):
        return False
    return len(words[at].key) < 7 or any(word.raw[0].isupper() for word in words[at + 1 : at + 2])


def _quoted(tokens: Sequence[TextToken], question: str) -> set[Span]:
    """Return the spans that stand in quotes."""
    found = set()
    for match in _QUOTES.finditer(question):
        inside = [at for at, t in enumerate(tokens) if match.start() < t.start and t.end < match.end()]
        if inside:
            found.add((inside[0], inside[-1] + 1))
    return found


def _uncut(
    found: Mapping[Span, tuple[Candidate, ...]], quoted: Iterable[Span]
) -> dict[Span, tuple[Candidate, ...]]:
    """Return mentions without those that cut what stands in quotes and is a name as a whole."""
    whole = [span for span in quoted if any(c.way in ("exact", "inflected") for c in found.get(span, ()))]
    return {
        (i, j): candidates
        for (i, j), candidates in found.items()
        if (i, j) in whole or not any(i < b and a < j for a, b in whole)
    }
