"""The page for exploring and its JSON API: the page's files, search, and questions; the views add their own.

What a person typed stays text: it is searched for, or becomes an RDF term through a class that
validates it, and never a part of a query. Work runs on threads, so that the event loop stays free.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable
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
from mrag.retrieval.routing import How, Routed
from mrag.server.engine import Engine
from mrag.server.metrics import ServerMetrics
from mrag.server.settings import ServerSettings
from mrag.server.web import api as requests
from mrag.server.web import concepts, entities, events, images, overview, queries, review
from mrag.server.web.api import Api, PageView, Values, choice_value, int_value, object_value, text_value
from mrag.server.web.entities import exists
from mrag.server.web.events import Prepared, hit, ranked

# Styles may stand in the page because the results table sets column widths that way; scripts may not.
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
FOLLOWED = ("question", "plan", "columns", "why", "follows")
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


def routes(kg: KnowledgeGraph, settings: ServerSettings) -> list[BaseRoute]:
    """Return the routes of the API, all below `/api/`."""
    api = Api(kg, settings)
    view = Questions(api)
    names = "question k model how reading follows class ranker"
    found: list[BaseRoute] = [
        api.get("search", view.search, "q k class ranker"),
        api.get("rankers", api.choice.known),
        api.route("POST", "ask", view.ask, names, most=requests.MAX_BODY),
    ]
    views = (concepts, events, queries, entities, overview, review, images)
    return [*found, *(route for view in views for route in view.routes(api))]


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
        indexed = self.api.settings.index in mrag.SimilarityIndexes.of(self.kg).names()
        ranks = choice.ranker(values) if indexed else None
        try:
            typed = str(rdf.iri(text, self.kg.prefixes))
            if exists(self.kg, typed):
                hits.append(hit(self.kg, typed, 1.0, ("its IRI was given",), display))
        except TermError:
            pass  # words, then
        if not hits or indexed:
            ranks = ranks or choice.ranker(values)
            found = [h for h in ranks.rank(mrag.Question(text), k) if all(h.iri != f["iri"] for f in hits)]
            hits.extend(hit(self.kg, h.iri, h.score, h.reasons, display) for h in found)
        return {"q": text, "hits": ranked(self.kg, hits[:k])}

    async def ask(self, request: Request, values: Values) -> Response:
        """Answer a question as a stream of JSON lines: what was found, text as it is written, the whole.

        Each line has an `event`: `found`, `text`, `answer`, or `error` where the model broke off.
        """
        question, k = text_value(values, "question"), int_value(values, "k", 10, 1, 50)
        model = self._model(values.get("model"))
        how = cast(How, choice_value(values, "how", HOWS))
        reading = int_value(values, "reading", 1, 1, 100) if "reading" in values else None
        follows = object_value(values, "follows", *FOLLOWED)
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
                way = engine.questions.computed(question, how, reading, follows)
            if way.given is not None:
                return Prepared(way.given)
            ranker, index = self.api.choice.ranker(values), self.api.settings.index
            found = retrieval.retrieve(self.kg, question, k=k, index=index, ranker=ranker, why=way.said)
            return Prepared(None, found, generation.resolve(model), way.why, way.offered)

        clock = time.perf_counter
        began = clock()
        ready = await self.api.run(self._askers, prepare)
        metrics: ServerMetrics = request.app.state.metrics
        lines = self._lines(ready, lambda way: metrics.answers.labels(way).observe(clock() - began))
        headers = {**requests.HEADERS, "X-Accel-Buffering": "no"}
        return StreamingResponse(lines, media_type="application/x-ndjson", headers=headers)

    async def _lines(self, ready: Prepared, answered: Callable[[str], None]) -> AsyncIterator[str]:
        parts = events.events(self.kg, ready, self.api.media)
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
