"""What a server says of itself: its graph, its indexes and model, its queries, and where to begin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from rdflib import URIRef

import mrag
from mrag import generation
from mrag.context.display import Display
from mrag.context.neighbourhood import read
from mrag.errors import MragError, QueryRefused
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf import queries
from mrag.rdf.guard import read_gate
from mrag.rdf.terms import OWL, RDF, RDFS, SKOLEM
from mrag.server.web.neighbourhood import exists
from mrag.stores.base import Limits, SelectResult

if TYPE_CHECKING:
    from mrag.server.settings import ServerSettings

_DEMO = "https://w3id.org/mrag/demo/products"
_DEMO_QUESTIONS = (
    "How many triple stores are there?",
    "Which vendor develops GraphDB?",
    "What database products are linked to RDF?",
)
_CLASSES = 40


def about(kg: KnowledgeGraph, settings: ServerSettings) -> dict[str, Any]:
    """Return what a server holds and offers.

    Args:
        kg: The knowledge graph.
        settings: The server's settings.
    """
    from mrag import __version__

    indexes = mrag.SimilarityIndexes.of(kg)
    kept = []
    for name in indexes.names():
        info = indexes.info(name)
        kept.append(
            {"name": name, "documents": info.documents, "embedder": info.embedder, "stale": info.stale}
        )
    model = generation.status(settings.model)
    return {
        "product": "mrag",
        "version": __version__,
        "name": kg.name,
        "triples": _sizes(kg),
        "revision": kg.revision,
        "reasoned": kg.reasoned,
        "pending": kg.pending,
        "languages": list(kg.languages),
        "prefixes": dict(sorted(kg.prefixes.items())),
        "indexes": kept,
        "index": settings.index,
        "model": {
            "name": model.name,
            "available": model.available,
            "reason": None if model.available else model.reason,
            "hint": None if model.available else model.hint,
        },
        "sparql": "/sparql",
        "graphs": [{"name": name, "path": path} for name, path in settings.addresses.items()],
        "update": settings.update,
        "token": bool(settings.token),
    }


def overview(kg: KnowledgeGraph, settings: ServerSettings) -> dict[str, Any]:
    """Return the classes of a graph with the most instances, and example questions.

    Args:
        kg: The knowledge graph.
        settings: The server's settings, for the deadline.

    Returns:
        `classes`, the `predicates` and all `types` by IRI for completion, and `examples`. What cannot be
        counted within the deadline is left out.
    """
    # With the revision, because an update may come while this is counted.
    key = f"server/overview/{kg.revision}"
    found = kg.cache.get(key)
    if found is None:
        found = kg.cache[key] = _overview(kg, settings)
    return cast("dict[str, Any]", found)


def catalogue(kg: KnowledgeGraph) -> list[dict[str, Any]]:
    """Return every query of the catalogue, by folder, whether it runs as it stands, and whether people do.

    Args:
        kg: The knowledge graph, whose graphs and prefixes a query may use.
    """
    named = kg.dataset().named
    folders: dict[str, list[dict[str, Any]]] = {}
    for name in queries.names():
        query = queries.get(name)
        folder, _, short = name.rpartition("/")
        reason = None
        try:
            read_gate(query.text, named, kg.prefixes)
        except QueryRefused as error:
            reason = error.message
        folders.setdefault(folder, []).append(
            {
                "name": name,
                "title": short.replace("-", " "),
                "summary": query.summary,
                "params": list(query.params),
                "text": query.text,
                "runs": reason is None,
                "common": name in queries.COMMON,
                "reason": reason,
            }
        )
    return [{"folder": folder, "queries": found} for folder, found in sorted(folders.items())]


def _sizes(kg: KnowledgeGraph) -> dict[str, int]:
    key = f"server/sizes/{kg.revision}"
    kept = kg.cache.get(key)
    if kept is None:
        # A scan, so once for each state of the graph.
        kept = kg.cache[key] = {"asserted": kg.count(), "inferred": kg.count("inferred")}
    return cast("dict[str, int]", kept)


def _overview(kg: KnowledgeGraph, settings: ServerSettings) -> dict[str, Any]:
    display = Display(kg)
    counts: dict[str, int] = {}
    try:
        rows = kg.query(
            queries.get("explore/classes").text, limits=Limits(min(settings.seconds, 10.0), 20_000)
        )
        if isinstance(rows, SelectResult):
            counts = {str(c): int(str(n)) for c, n in rows if isinstance(c, URIRef)}
    except MragError:
        pass  # too large a graph to count; the page does without
    own = {c: n for c, n in counts.items() if not c.startswith((OWL, RDFS, RDF, SKOLEM))}
    display.prepare(list(own)[:_CLASSES])
    classes = [
        {"iri": c, "label": display.entity(c), "instances": n} for c, n in list(own.items())[:_CLASSES]
    ]
    return {
        "classes": classes,
        "types": [c for c in counts if not c.startswith(SKOLEM)][:2_000],
        "predicates": sorted(kg.profile().predicates)[:2_000],
        "examples": _examples(kg, display, list(own)),
    }


def _examples(kg: KnowledgeGraph, display: Display, classes: list[str]) -> list[str]:
    if exists(kg, _DEMO):
        return list(_DEMO_QUESTIONS)
    found: dict[str, None] = {}
    for one in classes[:12]:
        members = [
            s
            for s, p, *_ in read(kg, one, "in", scan=64, share=8).statements
            if p == RDF + "type" and not s.startswith(SKOLEM)
        ]
        labels = kg.labels(members)
        named = sorted((label, iri) for iri, label in labels.items() if label)
        if named and len(found) < 3:
            found[f"What is {named[0][0]}?"] = None
    return list(found)
