"""What a server says of itself: its graph, indexes, model and queries, its checks and recent errors."""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, cast

from rdflib import URIRef
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

import mrag
from mrag import generation
from mrag.context.display import Display
from mrag.context.neighbourhood import read
from mrag.errors import IndexError_, MissingIndex, MragError, QueryRefused
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf import queries
from mrag.rdf.guard import read_gate
from mrag.rdf.terms import OWL, RDF, RDFS, SKOLEM
from mrag.server.web.entities import exists
from mrag.server.web.validation import (
    MAX_BODY,
    PageView,
    check_names,
    choice_value,
    guarded,
    int_value,
    problem,
    reply,
)
from mrag.stores.base import Limits, SelectResult

if TYPE_CHECKING:
    from mrag.server.engine import Engine
    from mrag.server.settings import ServerSettings
    from mrag.server.web.routes import Api

_DEMO = "https://w3id.org/mrag/demo/products"
_DEMO_QUESTIONS = (
    "How many triple stores are there?",
    "Which vendor develops GraphDB?",
    "What database products are linked to RDF?",
)
_CLASSES = 40


def about(kg: KnowledgeGraph, settings: ServerSettings) -> dict[str, Any]:
    """Return what a server holds and offers."""
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
    """Return the classes of a graph with the most instances, and example questions."""
    # With the revision, because an update may come while this is counted.
    key = f"server/overview/{kg.revision}"
    found = kg.cache.get(key)
    if found is None:
        found = kg.cache[key] = _overview(kg, settings)
    return cast("dict[str, Any]", found)


def catalogue(kg: KnowledgeGraph) -> list[dict[str, Any]]:
    """Return every query of the catalogue, by folder, whether it runs as it stands, and whether people do."""
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


_PARTS = ("inference", "index")
_KEPT = 10.0  # seconds for which the checks are kept: each starts a process


def routes(api: Api) -> list[BaseRoute]:
    """Return the routes below `/api/health`."""
    health = Health(api)
    token = api.settings.token
    return [
        Route("/api/health", guarded(health.now, token), methods=["GET"]),
        Route("/api/health/state", guarded(health.state, token), methods=["GET"]),
        Route("/api/health/checks", api.on_thread(health.checks, api.slots(1, "checks")), methods=["GET"]),
        Route("/api/health/refresh", guarded(health.refresh, token), methods=["POST"]),
        Route("/api/health/stop", guarded(health.stop, token), methods=["POST"]),
    ]


class Health(PageView):
    """Answers the requests about the server's health."""

    most = MAX_BODY

    def __init__(self, api: Api) -> None:
        super().__init__(api)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._failed: dict[str, dict[str, Any]] = {}
        self._checked: tuple[float, list[dict[str, Any]]] | None = None

    async def now(self, request: Request) -> Response:
        """Return what is going on: the state of graph and index, running queries, recent errors."""
        check_names(dict(request.query_params))
        engine: Engine = request.app.state.engine
        state = await self._state(engine)
        queries = engine.active.listed()
        if not self.api.settings.update:
            # What others ask is shown only to those who may stop it.
            queries = [{**one, "text": "", "stoppable": False} for one in queries]
        about = {
            "queries": queries,
            "waiting": engine.slots.waiting,
            "changing": engine.writer.busy,
            "errors": engine.errors.listed(),
        }
        return reply({**state, **about})

    async def state(self, request: Request) -> Response:
        """Return whether inferences and index belong to the present triples."""
        check_names(dict(request.query_params))
        return reply(await self._state(request.app.state.engine))

    def checks(self, values: Mapping[str, str]) -> list[dict[str, Any]]:
        """Return what `mrag doctor` finds of this system and this graph."""
        from mrag.diagnosis import checked, contents, language_model, packages, query_process

        check_names(values)
        now = time.monotonic()
        if self._checked is None or now - self._checked[0] > _KEPT:
            found = [
                *checked("packages", packages),
                *checked("graph", lambda: contents(self.kg)),
                *checked("query process", query_process),
                *checked("model", lambda: language_model(self.api.settings.model)),
            ]
            self._checked = (now, [asdict(one) for one in found])
        return self._checked[1]

    async def refresh(self, request: Request) -> Response:
        """Begin to bring inferences or the index up to date; 202, since that may take long."""
        engine, values = await self.change(request, "what")
        what = choice_value(values, "what", _PARTS)
        if what == "inference" and self.kg.store.capabilities.reasoning:
            raise HTTPException(409, "The store is a server that reasons itself.")
        task = self._tasks.get(what)
        if task is None or task.done():
            self._failed.pop(what, None)
            self._tasks[what] = asyncio.get_running_loop().create_task(self._refreshed(engine, what))
        return reply({"what": what, "state": "running"}, 202)

    async def stop(self, request: Request) -> Response:
        """End a running query."""
        engine, values = await self.change(request, "id")
        return reply({"stopped": engine.active.stop(int_value(values, "id", 0, 1, 1 << 62))})

    async def _refreshed(self, engine: Engine, what: str) -> None:
        from mrag.index.similarity import SimilarityIndexes
        from mrag.reasoning.run import reason

        index = self.api.settings.index
        try:
            if what == "inference":
                await engine.writer.make(functools.partial(reason, self.kg))
            else:
                there = await asyncio.to_thread(lambda: index in SimilarityIndexes.of(self.kg).names())
                await engine.writer.build_index(index, "", again=there)
        except Exception as error:  # the page says what happened
            engine.errors.note(f"bringing the {what} up to date", None, error)
            self._failed[what] = problem(error)
        finally:
            self._checked = None

    async def _state(self, engine: Engine) -> dict[str, Any]:
        found = await self.api.run(self.api.readers, state_of, self.kg, engine)
        for what in _PARTS:
            task = self._tasks.get(what)
            found[what]["running"] = task is not None and not task.done()
            found[what]["failed"] = self._failed.get(what)
        return {**found, "following": engine.writer.following, "writable": self.api.settings.update}


def state_of(kg: KnowledgeGraph, engine: Engine) -> dict[str, Any]:
    """Return whether what was inferred, and what is indexed, belong to the present triples."""
    from mrag.index.similarity import SimilarityIndexes

    record = engine.record
    inference = "current"
    if kg.store.capabilities.reasoning:
        inference = "server"
    elif record.reasoned < 0:
        inference = "none"
    elif record.outdated:
        inference = "outdated"
    name = engine.settings.index
    index: dict[str, Any] = {"name": name, "documents": None, "embedder": None}
    try:
        info = SimilarityIndexes.of(kg).info(name)
    except MissingIndex:
        index["state"] = "missing"
    except IndexError_ as error:
        index |= {"state": "damaged", "message": error.message}
    else:
        index |= {"state": "stale" if info.stale else "current"}
        index |= {"documents": info.documents, "embedder": info.embedder}
    return {"triples": record.triples, "inference": {"state": inference}, "index": index}
