"""What is stated of each entity that may become a document, in no order.

Catalogue queries tell it, on any store. Of the embedded store, the same is read edge by edge: there, what a
query has to compare with all that it has found before would be held in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import pyoxigraph as ox
from rdflib import Literal

from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.naming import LabelText
from mrag.index.texts.definition import LINKED, TEXTS, Definition
from mrag.rdf import queries
from mrag.rdf.terms import OWL, RDF, RDFS, XSD
from mrag.stores.base import Limits, SelectResult, SelectStream

__all__ = ["BLANK", "OTHERS", "EntityStatement", "are_edges", "statements"]

OTHERS: Final = "index/other-languages"
BLANK: Final = " _:"
"""How the names of blank nodes begin; with a space, which no IRI has, they come before all others."""

_NO_LINKS: Final = frozenset({RDFS + "domain", RDFS + "range", OWL + "disjointWith", OWL + "members"})
"""Properties that `index/linked-labels` leaves out."""
_OWN: Final = Limits(seconds=300.0, rows=2_000_000, bytes=1 << 30)
"""Caps of a query of a person's own, which reads a whole graph."""
_LATELY: Final = 100_000
"""Things that are remembered to have been told of."""


class EntityStatement(NamedTuple):
    """Some of what is stated of an entity.

    Attributes:
        entity: Its IRI.
        named: Whether a property names it.
        thing: Whether it is told of because it occurs, not because it has texts.
        texts: Its texts, each with the place of its query in the definition.
        links: What it is linked to.
        labels: The labels that it has, where edges are read.
    """

    entity: str
    named: bool = False
    thing: bool = False
    texts: tuple[tuple[int, str], ...] = ()
    links: tuple[str, ...] = ()
    labels: tuple[LabelText, ...] = ()


def are_edges(kg: KnowledgeGraph, definition: Definition) -> bool:
    """Return whether the statements of a definition are read edge by edge."""
    usual = TEXTS in definition.queries and set(definition.queries) <= {TEXTS, LINKED}
    return usual and kg.store.capabilities.edges


def statements(kg: KnowledgeGraph, definition: Definition) -> Iterator[EntityStatement]:
    """Yield what a definition's queries tell, and of things without a name what they are linked to.

    Raises:
        ConfigError: If a query does not return `?documentID ?documentText`.
    """
    if are_edges(kg, definition):
        yield from _scanned(kg, definition)
    else:
        yield from _queried(kg, definition)
    if definition.select:
        result = kg.query(definition.select, limits=_OWN)
        if not isinstance(result, SelectResult):
            raise ConfigError("An index query is a SELECT query.", query=definition.select)
        place = len(definition.queries) + 1
        yield from _texts(result, definition.select, place)


# -- by queries ----------------------------------------------------------------------------------------


def _queried(kg: KnowledgeGraph, definition: Definition) -> Iterator[EntityStatement]:
    profile = kg.profile()
    labels = list(profile.labels)
    for place, name in enumerate([*definition.queries, *((OTHERS,) if definition.fallback else ())]):
        query = queries.get(name)
        values: dict[str, list[Literal] | list[str]] = {}
        if "language" in query.params:
            values["language"] = [Literal(tag) for tag in definition.languages]
        if "property" in query.params:
            values["property"] = labels
        if name == LINKED and not labels:
            # There is nothing to find, and Virtuoso estimates that looking for it takes minutes.
            continue
        yield from _texts(kg.store.stream(query.bind(**values), kg.dataset()), name, place)
    if not (definition.fallback and TEXTS in definition.queries and profile.triples):
        return
    for (thing,) in kg.store.stream(queries.get("planning/unnamed").bind(property=labels), kg.dataset()):
        yield EntityStatement(str(thing), thing=True)
    for thing, linked in kg.store.stream(
        queries.get("index/unnamed-links").bind(property=labels), kg.dataset()
    ):
        yield EntityStatement(str(thing), links=(str(linked),))


def _texts(result: SelectResult | SelectStream, query: str, place: int) -> Iterator[EntityStatement]:
    if result.variables != ("documentID", "documentText"):
        raise ConfigError(
            "An index query returns ?documentID ?documentText.",
            query=query,
            hint=f"It returns {' '.join('?' + v for v in result.variables)}.",
        )
    for entity, text in result:
        if entity is not None and text is not None:
            # A thing with a text needs no name to become a document.
            yield EntityStatement(str(entity), texts=((place, " ".join(str(text).split())),))


# -- by edges ------------------------------------------------------------------------------------------


@dataclass
class _Subject:
    """What has been read of one subject in one graph."""

    iri: str
    named: bool = False
    texts: dict[tuple[int, str], None] = field(default_factory=dict)
    links: dict[str, None] = field(default_factory=dict)
    labels: list[LabelText] = field(default_factory=list)

    def told(self) -> EntityStatement:
        return EntityStatement(
            self.iri, self.named, True, tuple(self.texts), tuple(self.links), tuple(self.labels)
        )


class _Reader:
    """Reads edges as the queries of a definition would."""

    def __init__(self, kg: KnowledgeGraph, definition: Definition) -> None:
        self._languages = frozenset(definition.languages)
        self._naming = {p: at for at, p in enumerate(kg.profile().labels)}
        self._place = definition.queries.index(TEXTS)
        self._others = len(definition.queries) if definition.fallback else None
        self._following = definition.fallback or LINKED in definition.queries
        self._lately: set[str] = set()

    def read(self, subject: _Subject, predicate: str, o: ox.NamedNode | ox.BlankNode | ox.Literal) -> str:
        """Take in an edge, and return the IRI of a thing that is told of by it, or nothing."""
        naming = self._naming.get(predicate)
        subject.named = subject.named or naming is not None
        if isinstance(o, ox.Literal):
            language = o.language or ""
            if naming is not None:
                subject.labels.append((naming, language, o.value))
            if language in self._languages and (language or o.datatype.value == XSD + "string"):
                subject.texts[self._place, " ".join(o.value.split())] = None
            elif language and self._others is not None:
                subject.texts[self._others, " ".join(o.value.split())] = None
            return ""
        linked = BLANK + o.value if isinstance(o, ox.BlankNode) else o.value
        if self._following and linked != subject.iri and predicate not in _NO_LINKS:
            subject.links[linked] = None
        if isinstance(o, ox.BlankNode) or predicate == RDF + "type" or linked in self._lately:
            return ""
        if len(self._lately) >= _LATELY:
            self._lately.clear()
        self._lately.add(linked)
        return linked


def _scanned(kg: KnowledgeGraph, definition: Definition) -> Iterator[EntityStatement]:
    reader = _Reader(kg, definition)
    for graph in kg.dataset().default:
        subject: _Subject | None = None
        for quad in kg.store.edges(graph):
            s, o = quad.subject, quad.object
            # Blank nodes are no documents; they are read for their labels, and for what they are linked to.
            name = s.value if isinstance(s, ox.NamedNode) else f"{BLANK}{s.value}"  # type: ignore[union-attr]
            if subject is None or subject.iri != name:
                if subject is not None:
                    yield subject.told()
                subject = _Subject(name)
            if isinstance(o, ox.NamedNode | ox.BlankNode | ox.Literal) and (
                thing := reader.read(subject, quad.predicate.value, o)
            ):
                yield EntityStatement(thing, thing=True)
        if subject is not None:
            yield subject.told()
