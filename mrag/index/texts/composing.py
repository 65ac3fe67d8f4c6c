"""The documents of a similarity index, put together from what is stated of each entity.

Statements are sorted by their entity outside memory, so that a graph of any size has its documents made in
the same memory; labels are looked up for a few thousand entities at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, islice
from operator import attrgetter
from typing import Final

from mrag.graph.kg import KnowledgeGraph
from mrag.graph.naming import LabelText, best_labels, is_asked, label_texts
from mrag.index.texts.definition import LINKED, NAME_WEIGHT, TEXTS, Definition
from mrag.index.texts.statements import BLANK, OTHERS, Statement, are_edges, statements
from mrag.rdf.terms import SKOLEM
from mrag.storage.sorting import SortedRows
from mrag.text.names import iri_words

__all__ = ["composed", "namespace"]

_BATCH: Final = 2000
"""Entities whose labels are looked up at once."""
_KEPT: Final = 100_000
"""Labels of linked things that are kept."""


@dataclass
class _Entity:
    """All that is stated of an entity."""

    iri: str
    named: bool
    thing: bool
    texts: list[tuple[int, str]]
    links: list[str]
    labels: list[LabelText]


def namespace(iri: str) -> str:
    """Return the part of an IRI that it shares with others of its source."""
    return iri[: max(iri.rfind("#"), iri.rfind("/"), iri.rfind(":")) + 1]


def composed(kg: KnowledgeGraph, definition: Definition) -> Iterator[tuple[str, str]]:
    """Yield IRI and text of each document, in order of IRI; see `mrag.index.documents.documents`."""
    with SortedRows(map(tuple, statements(kg, definition))) as rows:
        yield from _Composer(kg, definition).documents(lambda: map(Statement._make, rows))


class _Composer:
    def __init__(self, kg: KnowledgeGraph, definition: Definition) -> None:
        self._kg = kg
        self._definition = definition
        self._edges = are_edges(kg, definition)
        profile = kg.profile()
        names = [*definition.queries, OTHERS]
        self._place, self._linked = (names.index(n) if n in names else -1 for n in (TEXTS, LINKED))
        self._others = len(definition.queries)
        self._unnamed = bool(definition.fallback and TEXTS in definition.queries and profile.triples)
        self._predicates = frozenset(profile.predicates)
        self._naming, self._properties = profile.naming, list(profile.labels)
        self._spaces: set[str] = set()
        self._known: dict[str, tuple[LabelText, ...]] = {}
        self._blank: dict[str, tuple[LabelText, ...]] = {}

    def documents(self, rows: Callable[[], Iterable[Statement]]) -> Iterator[tuple[str, str]]:
        """Yield the documents of sorted statements, which may be read more than once."""
        if self._unnamed:
            self._look_around(rows())
        entities = self._entities(rows())
        while batch := list(islice(entities, _BATCH)):
            self._look_up(linked for one in batch for linked in one.links)
            made = [(one, texts) for one in batch if (texts := self._texts(one)) is not None]
            own = self._own_labels([one for one, _ in made])
            for one, texts in made:
                if one.iri.startswith(SKOLEM) and not own[one.iri]:
                    continue  # a part of an expression or of a list
                label = own[one.iri] or iri_words(one.iri)
                parts = [label] * NAME_WEIGHT if label else []
                parts += [t for t in texts if t != label]
                yield one.iri, ". ".join(p.rstrip(".") for p in parts)[: self._definition.length]

    def _entities(self, rows: Iterable[Statement]) -> Iterator[_Entity]:
        for iri, group in groupby(rows, attrgetter("entity")):
            told = list(group)
            if iri.startswith(BLANK):
                self._blank[iri] = tuple(label for one in told for label in one.labels)
                continue
            texts = {text for one in told for text in one.texts}
            if self._edges and any(place == self._place for place, _ in texts):
                texts = {text for text in texts if text[0] != self._others}
            links = sorted({linked for one in told for linked in one.links})
            labels = [label for one in told for label in one.labels]
            named, thing = any(one.named for one in told), any(one.thing for one in told)
            yield _Entity(iri, named, thing, sorted(texts), links, labels)

    def _look_around(self, rows: Iterable[Statement]) -> None:
        """Collect the namespaces of things that have a text, or of which something is stated."""
        for one in self._entities(rows):
            space = namespace(one.iri)
            if space in self._spaces:
                continue
            if one.texts or (one.links and not one.named and _iris(one.links)):
                self._spaces.add(space)
            elif one.links and self._edges:
                self._look_up(one.links)
                if any(True for _ in self._linked_texts(one)):
                    self._spaces.add(space)

    def _is_own(self, one: _Entity) -> bool:
        """Return whether a thing without a name becomes a document even if it has no text.

        What is only linked to may be a page or a datatype; the graph's own things share their namespaces.
        """
        if not self._unnamed or one.named or not one.thing or one.iri in self._predicates:
            return False
        own = bool(_iris(one.links)) or namespace(one.iri) in self._spaces
        return own and is_asked(one.iri) and bool(iri_words(one.iri))

    def _texts(self, one: _Entity) -> list[str] | None:
        """Return the texts of an entity in their order; None if it is no document."""
        found = sorted([*one.texts, *self._linked_texts(one)])
        if not found and not self._is_own(one):
            return None
        texts = dict.fromkeys(text for _, text in found)
        if self._unnamed and not one.named:
            for linked in _iris(one.links):
                words = self._best(linked) or iri_words(linked) if is_asked(linked) else None
                if words:
                    texts[words] = None
        return list(texts)

    def _linked_texts(self, one: _Entity) -> Iterator[tuple[int, str]]:
        """Yield what `index/linked-labels` gives, where edges are read."""
        if self._edges and self._linked >= 0:
            for linked in one.links:
                for _, language, text in self._labels_of(linked):
                    if language in self._definition.languages:
                        yield self._linked, " ".join(text.split())

    def _own_labels(self, made: list[_Entity]) -> dict[str, str | None]:
        iris = [one.iri for one in made]
        labels = {one.iri: one.labels for one in made} if self._edges else self._read(iris)
        return best_labels(iris, labels, self._naming, self._kg.languages)

    def _best(self, linked: str) -> str | None:
        found = {linked: self._labels_of(linked)}
        return best_labels([linked], found, self._naming, self._kg.languages)[linked]

    def _labels_of(self, linked: str) -> tuple[LabelText, ...]:
        return self._known.get(linked) or self._blank.get(linked, ())

    def _look_up(self, links: Iterable[str]) -> None:
        wanted = set(_iris(links))
        if len(self._known) + len(wanted) > _KEPT:
            self._known = {linked: self._known[linked] for linked in wanted if linked in self._known}
        missing = sorted(wanted - self._known.keys())
        found = self._read(missing)
        self._known.update((linked, tuple(found.get(linked, ()))) for linked in missing)

    def _read(self, entities: list[str]) -> dict[str, list[LabelText]]:
        if not entities:
            return {}
        return label_texts(self._kg.store, self._kg.dataset(), entities, self._properties)


def _iris(links: Iterable[str]) -> list[str]:
    return [linked for linked in links if not linked.startswith(BLANK)]
