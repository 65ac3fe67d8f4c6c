"""From a knowledge graph to the documents of a similarity index, by queries anyone can paste.

A definition is a list of queries of `sparql/index/` that return `?documentID ?documentText`, GraphDB's
own contract. Their rows are put together to one text for each entity, its label first.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rdflib import Literal

from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.naming import is_asked
from mrag.index.bm25 import Bm25Params
from mrag.index.known_items import FusionWeight
from mrag.rdf import queries
from mrag.rdf.terms import SKOLEM
from mrag.stores.base import Limits, SelectResult
from mrag.text.names import iri_words
from mrag.text.stemming import AUTO, by_languages

_NAME_WEIGHT = 4
"""How often a document repeats its entity's name, so that it is found before what mentions it.

On the demo graph 236 of 264 names find their own entity first, 220 when the name comes twice.
"""

TEXTS = "index/texts"
"""The query of a definition that is of all the texts of a graph."""
LINKED = "index/linked-labels"

_OWN = Limits(seconds=300.0, rows=2_000_000, bytes=1 << 30)
"""Caps of a query of a person's own, which reads a whole graph."""


@dataclass(frozen=True)
class Definition:
    """What a similarity index is made of.

    Attributes:
        queries: Names of catalogue queries, in the order in which their texts are put together.
        languages: Language tags of the texts, "" for texts without.
        fallback: Whether entities with no text in these languages are indexed by what they have: texts in
            others, or the words of which their IRIs are made.
        length: Characters of a document after which it is cut.
        select: A SELECT query of a person's own, guarded and bounded, that gives texts too.
        analyser: How words are stemmed, see `mrag.text.stemming`; `auto` goes by the languages.
    """

    queries: tuple[str, ...] = (TEXTS, LINKED)
    languages: tuple[str, ...] = ("en", "mul", "")
    fallback: bool = True
    length: int = 4000
    select: str = ""
    analyser: str = AUTO

    @property
    def bm25(self) -> Bm25Params:
        """The knobs of BM25 for such an index.

        Raises:
            ConfigError: If its analyser cannot be used here.
        """
        auto = self.analyser == AUTO
        return Bm25Params(analyser=by_languages(self.languages) if auto else self.analyser)

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Definition:
        """Read a definition that was kept as JSON."""
        return cls(
            tuple(kept["queries"]),
            tuple(kept["languages"]),
            bool(kept["fallback"]),
            int(kept["length"]),
            str(kept.get("select", "")),
            str(kept.get("analyser", AUTO)),
        )

    def digest(self) -> str:
        """Return a fingerprint of the definition and of the queries' texts."""
        parts = [*self.languages, str(self.fallback), str(self.length), str(_NAME_WEIGHT)]
        parts += [queries.get(name).text for name in self.queries]
        parts += [self.select] if self.select else []
        return hashlib.blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()


@dataclass(frozen=True)
class IndexInfo:
    """What is known of an index without searching it.

    Attributes:
        name: Its name.
        documents: How many documents it holds; None where a server does not tell.
        embedder: Name of the embedding model, None for BM25 alone, `server` for an index of the server.
        revision: Revision of the graph that it was built from; None where a server does not tell.
        stale: Whether the graph, or the definition's queries, have changed since.
        definition: What it is made of; None where a server keeps it.
        analyser: How its words are stemmed; empty where a server keeps it.
        fusion: How words and vectors are fused; None where there are no vectors, or a server does it.
    """

    name: str
    documents: int | None
    embedder: str | None
    revision: int | None
    stale: bool
    definition: Definition | None
    analyser: str = ""
    fusion: FusionWeight | None = None


def documents(kg: KnowledgeGraph, definition: Definition) -> Iterator[tuple[str, str]]:
    """Yield IRI and text of each document, in order of IRI.

    Args:
        kg: The knowledge graph; asserted and inferred triples count.
        definition: Its queries and languages.

    Raises:
        ConfigError: If a query does not return `?documentID ?documentText`.

    Example:
        >>> from mrag.stores.oxigraph import OxigraphStore
        >>> kg = KnowledgeGraph(OxigraphStore())
        >>> from rdflib import RDFS, URIRef
        >>> from mrag.rdf.terms import Triple
        >>> _ = kg.insert([Triple(URIRef("urn:a"), RDFS.label, Literal("A dog", lang="en"))])
        >>> list(documents(kg, Definition()))
        [('urn:a', 'A dog. A dog. A dog. A dog')]
    """
    texts: dict[str, dict[str, None]] = {}
    names = [*definition.queries, *(("index/other-languages",) if definition.fallback else ())]
    for name in names:
        # Here, because sorting all texts of a graph takes the engine longer than reading them.
        for entity, text in sorted(_rows(kg, name, definition)):
            texts.setdefault(entity, {})[text] = None
    for entity, text in sorted(_own_rows(kg, definition.select)) if definition.select else ():
        texts.setdefault(entity, {})[text] = None
    if definition.fallback and TEXTS in definition.queries:
        _add_unnamed(kg, texts)
    labels = kg.labels(sorted(texts))
    for entity in sorted(texts):
        if entity.startswith(SKOLEM) and not labels[entity]:
            continue  # a part of an expression or of a list
        label = labels[entity] or iri_words(entity)
        parts = [label] * _NAME_WEIGHT if label else []
        parts += [t for t in texts[entity] if t != label]
        yield entity, ". ".join(p.rstrip(".") for p in parts)[: definition.length]


def namespace(iri: str) -> str:
    """Return the part of an IRI that it shares with others of its source."""
    return iri[: max(iri.rfind("#"), iri.rfind("/"), iri.rfind(":")) + 1]


def _add_unnamed(kg: KnowledgeGraph, texts: dict[str, dict[str, None]]) -> None:
    """Add the things that no property names, as far as their IRIs are words, with what they are linked to."""
    named = list(kg.profile().labels)
    if not kg.profile().triples:
        return
    things = map(str, kg.select(queries.get("planning/unnamed").bind(property=named)).column("thing"))
    found = kg.select(queries.get("index/unnamed-links").bind(property=named))
    rows = sorted((str(s), str(o)) for s, o in found)
    described = {s for s, _ in rows}
    spaces = {namespace(entity) for entity in (*texts, *described)}
    predicates = set(kg.profile().predicates)
    for thing in things:
        # What is only linked to may be a page or a datatype; the graph's own things share their namespaces.
        own = thing in described or namespace(thing) in spaces
        if own and thing not in predicates and is_asked(thing) and iri_words(thing):
            texts.setdefault(thing, {})
    links = [(s, o) for s, o in rows if s in texts and is_asked(o)]
    labels = kg.labels(sorted({linked for _, linked in links}))
    for entity, linked in links:
        if words := labels[linked] or iri_words(linked):
            texts[entity][words] = None


def why_empty(kg: KnowledgeGraph, definition: Definition) -> str:
    """Return that a definition gives no documents, and why."""
    why = "Its entities have no texts, and their IRIs are codes rather than words."
    if not kg.profile().triples:
        why = "The graph holds no triples."
    elif TEXTS not in definition.queries or not definition.fallback:
        why = "The queries it is made of give no texts."
    return f"There is nothing to index. {why}"


def _rows(kg: KnowledgeGraph, name: str, definition: Definition) -> Iterator[tuple[str, str]]:
    query = queries.get(name)
    values: dict[str, list[Literal] | list[str]] = {}
    if "language" in query.params:
        values["language"] = [Literal(tag) for tag in definition.languages]
    if "property" in query.params:
        values["property"] = list(kg.profile().labels)
    if name == LINKED and not values["property"]:
        # There is nothing to find, and Virtuoso estimates that looking for it takes minutes.
        return iter(())
    return _texts(kg.select(query.bind(**values)), name)


def _own_rows(kg: KnowledgeGraph, select: str) -> Iterator[tuple[str, str]]:
    result = kg.query(select, limits=_OWN)
    if not isinstance(result, SelectResult):
        raise ConfigError("An index query is a SELECT query.", query=select)
    return _texts(result, select)


def _texts(result: SelectResult, query: str) -> Iterator[tuple[str, str]]:
    if result.variables != ("documentID", "documentText"):
        raise ConfigError(
            "An index query returns ?documentID ?documentText.",
            query=query,
            hint=f"It returns {' '.join('?' + v for v in result.variables)}.",
        )
    for entity, text in result:
        if entity is not None and text is not None:
            yield str(entity), " ".join(str(text).split())
