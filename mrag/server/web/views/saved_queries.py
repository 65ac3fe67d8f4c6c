"""Queries that people saved under a name: kept with the graph, in a graph of their own beside its data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from rdflib import DCTERMS, PROV, RDF, RDFS, XSD, Literal, URIRef

from mrag.errors import ConfigError, StoreError
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf import queries
from mrag.rdf.terms import MRAG, Triple
from mrag.stores.base import Dataset

SAVED: Final = "urn:mrag:query:"
"""Start of the IRIs of saved queries."""

MOST: Final = 1_000
"""Maximum number of queries that are kept with one graph."""

_NAME = re.compile(r"[^\W_][\w \-]*\Z")
_HIDDEN: Final = URIRef(MRAG + "verbatim")
_SAVED: Final = URIRef(MRAG + "sparql")
_TEXT: Final = URIRef(MRAG + "queryText")
_CACHED: Final = "saved queries"


@dataclass(frozen=True)
class SavedQuery:
    """A query that was saved under a name.

    Attributes:
        name: Its name.
        text: The query as it was written; a variable that is spelt `$name` is a parameter.
        comment: What it is for; may be empty.
        saved: When, as xsd:dateTime writes it.
    """

    name: str
    text: str
    comment: str = ""
    saved: str = ""

    @property
    def iri(self) -> str:
        """Return its IRI."""
        return SAVED + "-".join(self.name.split())

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {"name": self.name, "text": self.text, "comment": self.comment, "saved": self.saved}


def saved_queries(kg: KnowledgeGraph) -> list[SavedQuery]:
    """Return the saved queries of a graph, in order of name.

    They are read once for each state of the graph, and again when one is saved or removed here.
    """
    return kg.cached(_CACHED, lambda: sorted(_read(kg), key=lambda one: (one.name.casefold(), one.iri)))


def save_query(
    kg: KnowledgeGraph, name: str, text: str, comment: str = "", *, replacing: bool = False
) -> SavedQuery:
    """Save a query under a name; its text is kept as it is, and judged each time it is run.

    Args:
        kg: The graph.
        name: What to call it: letters, digits, spaces and `-`.
        text: The query.
        comment: What it is for.
        replacing: Whether another query of this name may be replaced.

    Raises:
        ConfigError: If the name cannot be used, is in use, or too many are kept.

    Example:
        >>> import mrag
        >>> with mrag.connect() as kg:
        ...     _ = save_query(kg, "all things", "SELECT ?thing { ?thing ?p ?o }")
        ...     [one.name for one in saved_queries(kg)], remove_query(kg, "all things"), kg.count()
        (['all things'], True, 0)
    """
    if not _NAME.match(name):
        raise ConfigError(f"{name!r} cannot name a query.", hint="Use letters, digits, spaces and -.")
    kg.require_writable()
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    made = SavedQuery(" ".join(name.split()), text, comment, now)
    there = saved_queries(kg)
    before = [one for one in there if one.iri == made.iri]
    if before and not replacing:
        raise ConfigError("Another query is saved under this name.", term=made.name, hint="Choose another.")
    if not before and len(there) >= MOST:
        raise ConfigError(f"At most {MOST} queries are kept.", hint="Remove some first.")
    _change(kg, before, [made])
    return made


def remove_query(kg: KnowledgeGraph, name: str) -> bool:
    """Remove a saved query, and return whether there was one of this name."""
    kg.require_writable()
    wanted = SavedQuery(name, "").iri
    found = [one for one in saved_queries(kg) if one.iri == wanted]
    if found:
        _change(kg, found, [])
    return bool(found)


def _graph(kg: KnowledgeGraph) -> str:
    """Return the IRI of the graph of saved queries, which no question is answered from."""
    return kg.server_graph("queries") if kg.store.capabilities.reasoning else f"urn:mrag:queries:{kg.name}"


def _triples(kg: KnowledgeGraph, query: SavedQuery) -> Iterator[Triple]:
    node = URIRef(query.iri)
    yield Triple(node, RDF.type, URIRef(MRAG + "SavedQuery"))
    yield Triple(node, RDFS.label, Literal(query.name, datatype=_HIDDEN))
    yield Triple(node, _TEXT, Literal(query.text, datatype=_SAVED))
    if query.comment:
        yield Triple(node, RDFS.comment, Literal(query.comment, datatype=_HIDDEN))
    yield Triple(node, DCTERMS.isPartOf, URIRef(kg.iri))
    yield Triple(node, PROV.generatedAtTime, Literal(query.saved, datatype=XSD.dateTime, normalize=False))


def _read(kg: KnowledgeGraph) -> Iterator[SavedQuery]:
    text = queries.get("explore/saved-queries").bind(kg=[kg.iri])
    try:
        rows = list(kg.store.select(text, Dataset((_graph(kg),))))
    except StoreError:
        return  # a store that cannot tell can still be asked
    for _, name, query, comment, saved in rows:
        yield SavedQuery(str(name), str(query), "" if comment is None else str(comment), str(saved))


def _change(kg: KnowledgeGraph, out: Sequence[SavedQuery], into: Sequence[SavedQuery]) -> None:
    """Take queries out of their graph and put others in, in one transaction."""
    graph = URIRef(_graph(kg))
    old, new = ([(graph, *triple) for one in some for triple in _triples(kg, one)] for some in (out, into))
    kg.store.update(kg.changes([quad for quad in old if quad not in new], new))
    if kg.store.capabilities.reasoning:
        kg.recount()
    kg.cache.pop(_CACHED, None)
