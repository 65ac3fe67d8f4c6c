"""The words by which classes and properties of a graph go, and what they mean."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import log1p

from mrag.planning.candidates import Candidate, Named, Way
from mrag.planning.schema import Schema
from mrag.planning.synonyms import synonym_stems
from mrag.planning.words import is_empty, root
from mrag.text.tokens import TextToken, tokens


@dataclass(frozen=True)
class SchemaName:
    """A name of a class or a property.

    Attributes:
        kind: Which it is.
        term: Its IRI.
        name: The name.
        keys: Its folded words.
        stems: Their stems.
        inverse: Whether it reads a property from object to subject.
    """

    kind: Named
    term: str
    name: str
    keys: tuple[str, ...]
    stems: tuple[str, ...]
    inverse: bool = False

    @property
    def weighty(self) -> tuple[str, ...]:
        """Return the stems that carry meaning; all of them where none does."""
        found = tuple(s for k, s in zip(self.keys, self.stems, strict=True) if not is_empty(k))
        return found or self.stems


class SchemaWords:
    """Names of classes and properties, found by all or some of their words.

    Args:
        schema: The schema.
    """

    def __init__(self, schema: Schema) -> None:
        self.names = tuple(_names(schema))
        self._by_keys: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
        self._by_all_stems: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
        self._by_stems: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
        self._by_stem: defaultdict[str, list[int]] = defaultdict(list)
        for at, name in enumerate(self.names):
            self._by_keys[name.keys].append(at)
            self._by_all_stems[name.stems].append(at)
            self._by_stems[name.weighty].append(at)
            for s in dict.fromkeys(name.weighty):
                self._by_stem[s].append(at)

    def candidates(self, span: Sequence[TextToken]) -> Iterator[Candidate]:
        """Yield what some words may mean, the same thing perhaps more than once."""
        keys = tuple(token.key for token in span)
        stems = tuple(root(token.raw) for token in span)
        weighty = tuple(s for k, s in zip(keys, stems, strict=True) if not is_empty(k))
        if not weighty:
            return
        for at in self._by_keys.get(keys, ()):
            yield self._candidate(at, 1.0, "exact")
        for at in self._by_all_stems.get(stems, ()):
            yield self._candidate(at, 0.95, "inflected")
        if is_empty(keys[0]) or is_empty(keys[-1]):
            return  # the words between them say as much
        for at in self._by_stems.get(weighty, ()):
            yield self._candidate(at, 0.9, "inflected")
        yield from self._partly(weighty, "tokens", 1.0)
        for instead in _with_synonyms(weighty):
            for at in self._by_stems.get(instead, ()):
                yield self._candidate(at, 0.72, "synonym")
            yield from self._partly(instead, "synonym", 0.8)

    def _partly(self, stems: tuple[str, ...], way: Way, factor: float) -> Iterator[Candidate]:
        first = self._by_stem.get(stems[0], ())
        for at in first:
            weighty = self.names[at].weighty
            if len(weighty) > len(stems) and set(stems) <= set(weighty):
                share = sum(map(self._weight, set(stems))) / sum(map(self._weight, set(weighty)))
                head = weighty[-1] in stems
                yield self._candidate(at, factor * (0.45 + 0.3 * share + (0.1 if head else 0.0)), way)

    def _weight(self, word_stem: str) -> float:
        return log1p(len(self.names) / max(1, len(self._by_stem.get(word_stem, ()))))

    def _candidate(self, at: int, score: float, way: Way) -> Candidate:
        name = self.names[at]
        return Candidate(name.kind, name.term, round(score, 4), name.name, way, inverse=name.inverse)


def _with_synonyms(stems: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    table = synonym_stems()
    for at, one in enumerate(stems):
        for other in table.get(one, ()):
            yield (*stems[:at], other, *stems[at + 1 :])


def _names(schema: Schema) -> Iterator[SchemaName]:
    for c in schema.classes.values():
        yield from _of("class", c.iri, c.names, False)
    for p in schema.properties.values():
        yield from _of("property", p.iri, p.names, False)
        yield from _of("property", p.iri, p.inverse_names, True)


def _of(kind: Named, term: str, names: Iterable[str], inverse: bool) -> Iterator[SchemaName]:
    seen = set()
    for name in names:
        found = tokens(name)
        keys = tuple(t.key for t in found)
        if keys and keys not in seen:
            seen.add(keys)
            yield SchemaName(kind, term, name, keys, tuple(root(t.raw) for t in found), inverse)
