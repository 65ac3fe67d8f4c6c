"""What a server says of itself: its graph, indexes, model and queries, its checks and recent errors."""

from __future__ import annotations

import asyncio
import functools
import time
from contextlib import suppress
from dataclasses import asdict
from typing import Any, cast

from rdflib import URIRef
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

import mrag
from mrag import diagnosis, generation
from mrag.context.display import Display
from mrag.context.neighbourhood import read
from mrag.errors import MragError, QueryRefused
from mrag.rdf import queries
from mrag.rdf.guard import read_gate
from mrag.rdf.terms import OWL, RDF, RDFS, SKOLEM
from mrag.reasoning.run import reason
from mrag.server.engine import Engine
from mrag.server.metrics import index_state
from mrag.server.web.api import Api, PageView, Values, choice_value, int_value, problem, reply
from mrag.server.web.entities import exists
from mrag.stores.base import Limits, SelectResult

_DEMO = "https://w3id.org/mrag/demo/products"
_DEMO_QUESTIONS = (
    "How many triple stores are there?",
    "Which vendor develops GraphDB?",
    "What database products are linked to RDF?",
)
CLASSES = 500  # maximum number of classes, of properties, and of named graphs that are listed
_PARTS = ("inference", "index")
_KEPT = 10.0  # seconds for which the checks are kept: each starts a process


class Overview(PageView):
    """Answers the requests about what there is."""

    def about(self, _values: Values) -> dict[str, Any]:
        """Return what the server holds and offers."""
        kg, settings = self.kg, self.api.settings
        indexes = mrag.SimilarityIndexes.of(kg)
        infos = {name: indexes.info(name) for name in indexes.names()}
        model = generation.status(settings.model)
        return {
            "product": "mrag",
            "version": mrag.__version__,
            "name": kg.name,
            # A scan, so once for each state of the graph.
            "triples": kg.cached(
                f"server/sizes/{kg.revision}",
                lambda: {"asserted": kg.count(), "inferred": kg.count("inferred")},
            ),
            "revision": kg.revision,
            "reasoned": kg.reasoned,
            "pending": kg.pending,
            "languages": list(kg.languages),
            "prefixes": dict(sorted(kg.prefixes.items())),
            "indexes": [
                {"name": name, "documents": info.documents, "embedder": info.embedder, "stale": info.stale}
                for name, info in infos.items()
            ],
            "index": settings.index,
            "model": {
                "name": model.name,
                "available": model.available,
                "reason": None if model.available else model.reason,
                "hint": None if model.available else model.hint,
            },
            "sparql": "/sparql",
            "update": settings.update,
            "token": bool(settings.token),
        }

    def schema(self, _values: Values) -> dict[str, Any]:
        """Return the classes with their counts and stated superclasses, properties, graphs, examples."""
        # With the revision, because an update may come while this is counted.
        return self.kg.cached(f"server/schema/{self.kg.revision}", self._schema)

    def catalogue(self, _values: Values) -> list[dict[str, Any]]:
        """Return every query by folder, whether it runs as it stands, and whether people often run it."""
        named = self.kg.dataset().named
        folders: dict[str, list[dict[str, Any]]] = {}
        for name in queries.names():
            query = queries.get(name)
            folder, _, short = name.rpartition("/")
            reason = None
            try:
                read_gate(query.text, named, self.kg.prefixes)
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
        return [{"folder": folder, "queries": members} for folder, members in sorted(folders.items())]

    def _schema(self) -> dict[str, Any]:
        kg, display, alien = self.kg, Display(self.kg), (OWL, RDFS, RDF, SKOLEM)
        counts = {c: n for c, n in self._class_counts().items() if not c.startswith(alien)}
        above: dict[str, list[str]] = {}
        for one, other in kg.select(queries.get("explore/subclasses").text, "asserted"):
            if not str(one).startswith(alien) and not str(other).startswith(alien):
                above.setdefault(str(one), []).append(str(other))
        names = sorted({*counts, *above, *(c for cs in above.values() for c in cs)})
        shown = sorted(names, key=lambda c: (-counts.get(c, 0), c))[:CLASSES]
        totals = kg.profile().predicates
        properties = sorted(totals.items(), key=lambda item: (-item[1], item[0]))[:CLASSES]
        display.prepare(shown)
        return {
            "classes": [
                {
                    "iri": c,
                    "label": display.entity(c),
                    "instances": counts.get(c, 0),
                    "above": [a for a in above.get(c, []) if a in set(shown)],
                }
                for c in shown
            ],
            "properties": [{"iri": p, "label": display.predicate(p), "triples": n} for p, n in properties],
            "graphs": sorted(kg.record.contexts)[:CLASSES],
            "more": max(len(names), len(totals), len(kg.record.contexts)) > CLASSES,
            "examples": self._examples(list(counts)),
        }

    def _class_counts(self) -> dict[str, int]:
        """Return how many instances each class has, the most frequent first."""
        limits = Limits(min(self.api.settings.seconds, 10.0), 20_000)
        with suppress(MragError):  # too large a graph to count; the page does without
            rows = cast(SelectResult, self.kg.query(queries.get("explore/classes").text, limits=limits))
            return {str(c): int(str(n)) for c, n in rows if isinstance(c, URIRef)}
        return {}

    def _examples(self, classes: list[str]) -> list[str]:
        if exists(self.kg, _DEMO):
            return list(_DEMO_QUESTIONS)
        examples: dict[str, None] = {}
        for one in classes[:12]:
            members = [
                s
                for s, p, *_ in read(self.kg, one, "in", scan=64, share=8).statements
                if p == RDF + "type" and not s.startswith(SKOLEM)
            ]
            named = sorted((label, iri) for iri, label in self.kg.labels(members).items() if label)
            if named and len(examples) < 3:
                examples[f"What is {named[0][0]}?"] = None
        return list(examples)


class Health(PageView):
    """Answers the requests about the server's health."""

    def __init__(self, api: Api) -> None:
        super().__init__(api)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._failed: dict[str, dict[str, Any]] = {}
        self._ended = 0  # times that a part was brought up to date
        self._checked: tuple[int, float, list[dict[str, Any]]] = (-1, 0.0, [])

    async def now(self, request: Request, _values: Values) -> Response:
        """Return what is going on: the state of graph and index, running queries, recent errors."""
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

    async def state(self, request: Request, _values: Values) -> Response:
        """Return whether inferences and index belong to the present triples."""
        return reply(await self._state(request.app.state.engine))

    def checks(self, _values: Values) -> list[dict[str, Any]]:
        """Return what `mrag doctor` finds of this system and this graph."""
        ended, now = self._ended, time.monotonic()
        if self._checked[0] != ended or now - self._checked[1] > _KEPT:
            checks = [
                *diagnosis.run_checks("packages", diagnosis.packages),
                *diagnosis.run_checks("graph", lambda: diagnosis.contents(self.kg)),
                *diagnosis.run_checks("query process", diagnosis.query_process),
                *diagnosis.run_checks("model", lambda: diagnosis.language_model(self.api.settings.model)),
            ]
            self._checked = (ended, now, [asdict(one) for one in checks])
        return self._checked[2]

    async def refresh(self, request: Request, values: Values) -> Response:
        """Begin to bring inferences or the index up to date; 202, since that may take long."""
        engine: Engine = request.app.state.engine
        what = choice_value(values, "what", _PARTS)
        if what == "inference" and self.kg.store.capabilities.reasoning:
            raise HTTPException(409, "The store is a server that reasons itself.")
        task = self._tasks.get(what)
        if task is None or task.done():
            self._failed.pop(what, None)
            self._tasks[what] = asyncio.get_running_loop().create_task(self._refresh(engine, what))
        return reply({"what": what, "state": "running"}, 202)

    async def stop(self, request: Request, values: Values) -> Response:
        """End a running query."""
        stopped = request.app.state.engine.active.stop(int_value(values, "id", 0, 1, 1 << 62))
        return reply({"stopped": stopped})

    async def _refresh(self, engine: Engine, what: str) -> None:
        index = self.api.settings.index
        try:
            if what == "inference":
                await engine.writer.make(functools.partial(reason, self.kg))
            else:
                there = await asyncio.to_thread(lambda: index in mrag.SimilarityIndexes.of(self.kg).names())
                await engine.writer.build_index(index, "", again=there)
        except Exception as error:  # the page says what happened
            engine.errors.note(f"bringing the {what} up to date", None, error)
            self._failed[what] = problem(error)
        finally:
            self._ended += 1

    async def _state(self, engine: Engine) -> dict[str, Any]:
        parts = await self.api.run(self.api.readers, self._parts, engine)
        for what in _PARTS:
            task = self._tasks.get(what)
            parts[what]["running"] = task is not None and not task.done()
            parts[what]["failed"] = self._failed.get(what)
        return {**parts, "following": engine.writer.following, "writable": self.api.settings.update}

    def _parts(self, engine: Engine) -> dict[str, Any]:
        """Return whether what was inferred, and what is indexed, belong to the present triples."""
        record = engine.record
        inference = "outdated" if record.outdated else "current"
        if self.kg.store.capabilities.reasoning:
            inference = "server"
        elif record.reasoned < 0:
            inference = "none"
        state, info, message = index_state(engine)
        index: dict[str, Any] = {"name": engine.settings.index, "state": state, "message": message}
        index |= {name: getattr(info, name, None) for name in ("documents", "embedder", "later")}
        return {"triples": record.triples, "inference": {"state": inference}, "index": index}
