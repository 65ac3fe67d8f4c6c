"""Queries for the page: saved ones, and what an update would change."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Final, cast

import pyoxigraph as ox
from rdflib import DCTERMS, PROV, RDF, RDFS, XSD, Literal, URIRef
from starlette.requests import Request
from starlette.responses import Response

from mrag.context.display import Display
from mrag.errors import ConfigError, StoreError
from mrag.graph.books import books
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.updates import PlannedUpdate, graph_of
from mrag.rdf import queries
from mrag.rdf.terms import MRAG, OxTerm, Triple, from_ox, term_to_json
from mrag.server.web.api import PageView, Values, reply, text_value
from mrag.stores.base import Dataset

LONGEST = 50_000  # maximum number of characters of a query that is saved, or of an update that is previewed
SHOWN = 200  # maximum number of added, and of removed, triples that a preview shows
MOST_SAVED: Final = 1_000  # maximum number of queries that are kept with one graph
_NAME = re.compile(r"[^\W_][\w \-]*\Z")
_HIDDEN: Final = URIRef(MRAG + "verbatim")
_SAVED: Final = URIRef(MRAG + "sparql")
_TEXT: Final = URIRef(MRAG + "queryText")
_CACHED: Final = "saved queries"


@dataclass(frozen=True)
class SavedQuery:
    """A query that was saved under a name; a variable of its text that is spelt `$name` is a parameter."""

    name: str
    text: str
    comment: str = ""
    saved: str = ""  # when, as xsd:dateTime writes it

    @property
    def iri(self) -> str:
        """Return its IRI."""
        return "urn:mrag:query:" + "-".join(self.name.split())


class QueryView(PageView):
    """Answers the requests of the view Query beside those of the SPARQL endpoint."""

    def saved(self, _values: Values) -> dict[str, Any]:
        """List the queries that were saved, and whether more can be."""
        return {"queries": list(map(asdict, self._read_saved())), "writable": self.api.settings.update}

    def save(self, values: Values) -> dict[str, Any]:
        """Save a query under a name; its text is kept as it is, and judged each time it is run."""
        name, text = text_value(values, "name", 100), text_value(values, "text", LONGEST)
        comment = text_value(values, "comment", 1_000) if values.get("comment") else ""
        if not _NAME.match(name):
            raise ConfigError(f"{name!r} cannot name a query.", hint="Use letters, digits, spaces and -.")
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        new, there = SavedQuery(" ".join(name.split()), text, comment, now), self._read_saved()
        before = [one for one in there if one.iri == new.iri]
        if before and values.get("replacing") is not True:
            raise ConfigError(
                "Another query is saved under this name.", term=new.name, hint="Choose another."
            )
        if not before and len(there) >= MOST_SAVED:
            raise ConfigError(f"At most {MOST_SAVED} queries are kept.", hint="Remove some first.")
        self._replace(before, [new])
        return asdict(new)

    def remove(self, values: Values) -> dict[str, bool]:
        """Remove a saved query."""
        wanted = SavedQuery(text_value(values, "name", 100), "").iri
        removed = [one for one in self._read_saved() if one.iri == wanted]
        if removed:
            self._replace(removed, [])
        return {"removed": bool(removed)}

    async def preview(self, request: Request, values: Values) -> Response:
        """Say what an update would add and remove, and change nothing."""
        writer = request.app.state.engine.writer
        planned = await writer.plan(await writer.operations(text_value(values, "update", LONGEST)))
        return reply(await self.api.run(self.api.readers, self._plan, planned))

    def _plan(self, planned: PlannedUpdate) -> dict[str, Any]:
        display, record, after = Display(self.kg), self.kg.record, planned.record or self.kg.record
        contexts = {*record.contexts, *after.contexts}
        hidden = {*record.inferred, record.merged, after.merged}

        def shown(quads: Sequence[ox.Quad]) -> list[dict[str, Any]]:
            seen = [quad for quad in quads if graph_of(quad) not in hidden]
            rows = [_row(quad, contexts, display) for quad in seen[:SHOWN]]
            return sorted(rows, key=lambda row: (*row["labels"], row["graph"] or ""))

        report = planned.report
        return {
            "added": report.added,
            "removed": report.removed,
            "inferred": report.inferred,
            "revision": self.kg.revision,
            "adds": shown(planned.added),
            "removes": shown(planned.removed),
        }

    def _read_saved(self) -> list[SavedQuery]:
        """Return the saved queries in order of name, read once for each state of the graph."""
        kg = self.kg

        def read() -> list[SavedQuery]:
            text = queries.get("explore/saved-queries").bind(kg=[kg.iri])
            try:
                with books(kg) as store:
                    rows = store.select(text, Dataset((_graph(kg),))).rows
            except StoreError:
                return []  # a store that cannot tell can still be asked
            texts = [["" if cell is None else str(cell) for cell in row[1:]] for row in rows]
            saved = [SavedQuery(*one) for one in texts]
            return sorted(saved, key=lambda one: (one.name.casefold(), one.iri))

        return kg.cached(_CACHED, read)

    def _replace(self, out: Sequence[SavedQuery], into: Sequence[SavedQuery]) -> None:
        """Take queries out of their graph and put others in, in one transaction."""
        kg, graph = self.kg, URIRef(_graph(self.kg))
        kg.require_writable()
        old, new = (
            [(graph, *triple) for one in some for triple in _triples(kg, one)] for some in (out, into)
        )
        with books(kg, writing=True) as store:
            store.update(kg.changes([quad for quad in old if quad not in new], new))
        kg.cache.pop(_CACHED, None)


def _row(quad: ox.Quad, contexts: set[str], display: Display) -> dict[str, Any]:
    s, p, o = (from_ox(term) for term in (quad.subject, quad.predicate, quad.object))
    graph, end = graph_of(quad), cast(OxTerm, quad.object)
    return {
        "triple": {"s": term_to_json(s), "p": term_to_json(p), "o": term_to_json(o)},
        "labels": [display.entity(str(s)), display.predicate(str(p)), display.term(end, 2_000)],
        "graph": graph if graph in contexts else None,
    }


def _graph(kg: KnowledgeGraph) -> str:
    """Return the IRI of the graph of saved queries, which no question is answered from."""
    return f"urn:mrag:queries:{kg.name}"


def _triples(kg: KnowledgeGraph, query: SavedQuery) -> Iterator[Triple]:
    node = URIRef(query.iri)
    yield Triple(node, RDF.type, URIRef(MRAG + "SavedQuery"))
    yield Triple(node, RDFS.label, Literal(query.name, datatype=_HIDDEN))
    yield Triple(node, _TEXT, Literal(query.text, datatype=_SAVED))
    if query.comment:
        yield Triple(node, RDFS.comment, Literal(query.comment, datatype=_HIDDEN))
    yield Triple(node, DCTERMS.isPartOf, URIRef(kg.iri))
    yield Triple(node, PROV.generatedAtTime, Literal(query.saved, datatype=XSD.dateTime, normalize=False))
