"""The page for exploring and its JSON API: the page's files, search, and questions; the views add their own.

What a person typed stays text: it is searched for, or becomes an RDF term through a class that
validates it, and never a part of a query. Work runs on threads, so that the event loop stays free.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable, Generator
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

import anyio
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import FileResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

import mrag
from mrag import generation, rdf, retrieval
from mrag.context.display import Display
from mrag.errors import ConfigError, TermError
from mrag.generation.models import check_model
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.lexicon import things_called
from mrag.retrieval.routing import How, Routed
from mrag.server.engine import Engine
from mrag.server.metrics import ServerMetrics
from mrag.server.settings import ServerSettings
from mrag.server.web import api as requests
from mrag.server.web import events
from mrag.server.web.api import (
    MAX_BODY,
    MAX_IRI,
    Api,
    PageView,
    Values,
    choice_value,
    int_value,
    list_value,
    object_value,
    text_value,
)
from mrag.server.web.concepts import Concepts
from mrag.server.web.entities import ExploreView, exists
from mrag.server.web.events import Prepared, Receipts, hit, ranked
from mrag.server.web.images import FILTERS, UPLOAD, ImagesView
from mrag.server.web.overview import Health, Overview
from mrag.server.web.queries import QueryView
from mrag.server.web.review import LARGEST, Review

# Styles may stand in the page because the library that draws graphs brings its own along; scripts may not.
# Images are those of the server, of the page itself, and those fetched with a token: never of the web.
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
"""Headers of the page and its files (Content Security Policy Level 3)."""

HOWS = ("auto", "plan", "read")
TOLD = ("sparql", "context", "way", "more", "words")
FOLLOWED = ("question", "plan", "columns", "why", "follows")
MAX_LABELLED = 5_000
_ASKERS = 4


class _Files(StaticFiles):
    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers.update(HEADERS)
        return response


def page_routes() -> list[BaseRoute]:
    """Return the routes of the page: `/`, and its files below `/page/`."""
    folder = Path(str(files("mrag") / "server" / "page"))

    async def page(_request: Request) -> Response:
        return FileResponse(folder / "index.html", media_type="text/html", headers=HEADERS)

    async def icon(_request: Request) -> Response:
        return FileResponse(folder / "icon.svg", media_type="image/svg+xml", headers=HEADERS)

    return [
        Route("/", page, methods=["GET"]),
        Route("/favicon.ico", icon, methods=["GET"]),
        Mount("/page", app=_Files(directory=folder), name="page"),
    ]


def routes(kg: KnowledgeGraph, settings: ServerSettings) -> list[Route]:
    """Return the routes of the API, all below `/api/`: their functions, parameters, turns and bounds."""
    api = Api(kg, settings)
    asking, about, health, exploring = Questions(api), Overview(api), Health(api), ExploreView(api)
    querying, learning, receipts = QueryView(api), Concepts(api), Receipts(api)
    reviewing, gallery = Review(api), ImagesView(api)
    learners, checkers = api.slots(2, "learning"), api.slots(2, "checks")
    choice, chosen, some = (
        "question k model how reading follows class ranker told",
        " ".join(FILTERS),
        MAX_BODY,
    )
    return [
        api.get("search", asking.search, "q k class ranker"),
        api.get("names", asking.names, "q k"),
        api.post("labels", asking.labels, "iris"),
        api.get("rankers", api.choice.known),
        api.route("POST", "ask", asking.ask, choice, most=some),
        api.get("about", about.about),
        api.get("schema", about.schema),
        api.get("queries", about.catalogue),
        api.route("GET", "health", health.now),
        api.route("GET", "health/state", health.state),
        api.get("health/checks", health.checks, slots=api.slots(1, "checks")),
        api.route("POST", "health/refresh", health.refresh, "what", most=some, changes=True),
        api.route("POST", "health/stop", health.stop, "id", most=some, changes=True),
        api.get("entity", exploring.entity, "iri hops"),
        api.get("expand", exploring.expand, "iri"),
        api.get("path", exploring.path, "from to"),
        api.get("explain", exploring.explain, "s p o literal lang datatype", api.slots(2, "proofs")),
        api.route("GET", "image", exploring.image, "entity value"),
        api.get("saved", querying.saved),
        api.change("saved", querying.save, "name text comment replacing", status=201),
        api.change("saved/remove", querying.remove, "name"),
        api.route("POST", "preview", querying.preview, "update", changes=True),
        api.post("learn", learning.learn, "hits liked disliked", learners),
        api.get("learn/why", learning.why, "concept iri", learners),
        api.get("concepts", learning.kept),
        api.change("concepts", learning.keep, "name concept liked disliked", status=201),
        api.change("concepts/forget", learning.forget, "iri"),
        api.post("receipt", receipts.make, "answer", checkers, events.MOST),
        api.post("verify", receipts.verify, None, checkers, 2 * events.MOST),
        api.get("review", reviewing.runs),
        api.get("review/run", reviewing.run, "id"),
        api.get("review/enrichment", reviewing.enrichment, "iri"),
        api.change("review/read", reviewing.read, "question texts", most=LARGEST),
        api.change("review/foresee", reviewing.foresee, "id only", most=LARGEST),
        api.change("review/accept", reviewing.accept, "id only", most=LARGEST),
        api.change("review/reject", reviewing.reject, "id"),
        api.change("review/rollback", reviewing.rollback, "id"),
        api.get("images", gallery.gallery, f"wait {chosen}", gallery.slots),
        api.get("images/page", gallery.page, f"after {chosen}", gallery.slots),
        api.get("images/one", gallery.one, "iri", gallery.slots),
        api.route("GET", "images/thumbnail", gallery.thumbnail, "iri side"),
        api.post("images/search", gallery.search, f"q k picture region {chosen}", gallery.slots, UPLOAD),
    ]


class Questions(PageView):
    """Finds entities, and answers questions."""

    def __init__(self, api: Api) -> None:
        super().__init__(api)
        self._askers = api.slots(_ASKERS, "questions")

    def search(self, values: Values) -> dict[str, Any]:
        """Find entities by words; an IRI or CURIE of the graph comes first."""
        text, k = text_value(values, "q"), int_value(values, "k", 10, 1, 50)
        display, choice = Display(self.kg), self.api.choice
        hits: list[dict[str, Any]] = []
        try:
            typed = str(rdf.iri(text, self.kg.prefixes))
            if exists(self.kg, typed):
                hits.append(hit(self.kg, typed, 1.0, ("its IRI was given",), display))
        except TermError:
            pass  # words, then
        ranks = choice.ranker(values, named=True)
        more = [h for h in ranks.rank(mrag.Question(text), k) if all(h.iri != f["iri"] for f in hits)]
        hits.extend(hit(self.kg, h.iri, h.score, h.reasons, display) for h in more)
        return {"q": text, "hits": ranked(self.kg, hits[:k])}

    def names(self, values: Values) -> list[dict[str, str]]:
        """Return the things whose names have what has been typed so far, with one of these names each."""
        text, k = text_value(values, "q"), int_value(values, "k", 8, 1, 50)
        return [{"iri": one.term, "name": one.name} for one in things_called(self.kg, text, k)]

    def labels(self, values: Values) -> dict[str, str]:
        """Return the labels of things, of those that have one."""
        labels = self.kg.labels(list_value(values, "iris", MAX_LABELLED, MAX_IRI))
        return {iri: label for iri, label in labels.items() if label}

    async def ask(self, request: Request, values: Values) -> Response:
        """Answer a question as a stream of JSON lines: what was found, text as it is written, the whole.

        Each line has an `event`: `found`, `text`, `answer`, or `error` where the model broke off. With `told`
        the answer has no pictures, but `lines`, as `mrag.generation.lines_of` gives them by its members.
        """
        question, k = text_value(values, "question"), int_value(values, "k", 10, 1, 50)
        model = self._model(values.get("model"))
        how = cast(How, choice_value(values, "how", HOWS))
        reading = int_value(values, "reading", 1, 1, 100) if "reading" in values else None
        follows = object_value(values, "follows", *FOLLOWED)
        members = object_value(values, "told", *TOLD)
        shown = None if members is None else {name: bool(wanted) for name, wanted in members.items()}
        why_read = self.api.choice.given(values)
        engine: Engine = request.app.state.engine
        if how == "plan" and why_read:
            raise ConfigError(
                f"`how` cannot be plan where {why_read}: such a question is read, not computed.",
                hint="Leave out `class` and `ranker`, or let `how` be auto or read.",
            )

        def prepare() -> Prepared:
            check_model(model)
            way = Routed(None, why_read)
            if not why_read:
                way = engine.questions.compute(question, how, reading, follows)
            if way.given is not None:
                return Prepared(way.given)
            ranker, index = self.api.choice.ranker(values), self.api.settings.index
            retrieved = retrieval.retrieve(self.kg, question, k=k, index=index, ranker=ranker, why=way.said)
            return Prepared(None, retrieved, generation.resolve(model), way.why, way.offered)

        clock = time.perf_counter
        began = clock()
        ready = await self.api.run(self._askers, prepare)
        metrics: ServerMetrics = request.app.state.metrics
        parts = events.events(self.kg, ready, self.api.media, shown)
        lines = self._lines(parts, lambda way: metrics.answers.labels(way).observe(clock() - began))
        headers = {**requests.HEADERS, "X-Accel-Buffering": "no"}
        return StreamingResponse(lines, media_type="application/x-ndjson", headers=headers)

    async def _lines(
        self, parts: Generator[dict[str, Any], None, None], answered: Callable[[str], None]
    ) -> AsyncIterator[str]:
        try:
            while (event := await self.api.run(self._askers, next, parts, None)) is not None:
                if event["event"] == "answer":
                    answered(event["answer"]["way"])
                yield _line(event)
        except Exception as error:  # the status has been sent, so the stream itself says what happened
            yield _line({"event": "error", "error": requests.problem(error)})
        finally:
            # A reader that went away ends the model's work too.
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(parts.close)

    def _model(self, asked: object) -> str | None:
        """Return a model that the server offers; a client can name no other, nor a file."""
        own = self.api.settings.model
        if asked is None or asked == own:
            return own
        if asked != "none":
            raise ConfigError("This server does not offer that model.", hint="Omit `model`, or use none.")
        return "none"


def _line(event: dict[str, Any]) -> str:
    return json.dumps(event, ensure_ascii=False) + "\n"
