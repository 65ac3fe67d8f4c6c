"""The JSON API of `mrag serve`: ask, search, browse, explain, and list what there is.

What a person typed stays text: it is searched for, or becomes an RDF term through a class that
validates it, and never a part of a query. Work runs on threads, so that the event loop stays free.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import anyio
from anyio import to_thread
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Message, Receive, Scope, Send

import mrag
from mrag import context, generation, rdf, reasoning, retrieval
from mrag.errors import ConfigError, TermError
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import to_ox
from mrag.server.protect import Slots
from mrag.server.web import concepts, entities, events, images, overview, queries, review, validation
from mrag.server.web.entities import exists, head, neighbourhood, proof_json, triples
from mrag.server.web.events import Prepared, hit, pictures_among, ranked
from mrag.server.web.validation import Rankers

if TYPE_CHECKING:
    from mrag.retrieval.routing import How
    from mrag.server.engine import Engine
    from mrag.server.metrics import ServerMetrics
    from mrag.server.settings import ServerSettings

# Styles may stand in the page because the results table sets column widths that way; scripts may not.
# Images are those of the server, of the page itself, and those fetched with a token: never of the web.
HEADERS = {
    "Content-Security-Policy": "; ".join(
        (
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "connect-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        )
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
"""Headers of the page and its files (Content Security Policy Level 3)."""


def page_routes() -> list[BaseRoute]:
    """Return the routes of the page: `/`, and its files below `/page/`."""
    folder = Path(str(files("mrag") / "server" / "page"))

    async def page(request: Request) -> Response:
        return FileResponse(folder / "index.html", media_type="text/html", headers=HEADERS)

    async def icon(request: Request) -> Response:
        return FileResponse(folder / "icon.svg", media_type="image/svg+xml", headers=HEADERS)

    return [
        Route("/", page, methods=["GET"]),
        Route("/favicon.ico", icon, methods=["GET"]),
        Mount("/page", app=_Files(folder), name="page"),
    ]


class _Files:
    """Serves the page's files with its headers."""

    def __init__(self, folder: Path) -> None:
        self._files = StaticFiles(directory=folder)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [(k.lower().encode(), v.encode()) for k, v in HEADERS.items()]
                names = {k for k, _ in own}
                kept = [(k, v) for k, v in message["headers"] if k.lower() not in names]
                message = {**message, "headers": [*kept, *own]}
            await send(message)

        await self._files(scope, receive, with_headers)


HOWS = ("auto", "plan", "read")
FOLLOWED = ("question", "plan", "columns", "why", "follows")
_READERS = 8
_ASKERS = 4
_PROVERS = 2


def routes(kg: KnowledgeGraph, settings: ServerSettings) -> list[BaseRoute]:
    """Return the routes of the API, all below `/api/`."""
    api = Api(kg, settings)
    reads: dict[str, Work] = {
        "about": api.about,
        "overview": api.overview,
        "queries": api.queries,
        "search": api.search,
        "entity": api.entity,
        "rankers": api.choice.known,
    }
    found: list[BaseRoute] = [
        Route(f"/api/{name}", api.on_thread(work), methods=["GET"]) for name, work in reads.items()
    ]
    found.append(Route("/api/explain", api.on_thread(api.explain, api.provers), methods=["GET"]))
    found.append(Route("/api/image", validation.guarded(api.image, settings.token), methods=["GET"]))
    found.append(Route("/api/ask", validation.guarded(api.ask, settings.token), methods=["POST"]))
    views = (concepts, events, queries, entities, overview, review, images)
    return [*found, *(route for view in views for route in view.routes(api))]


T = TypeVar("T")
Work = Callable[[Mapping[str, str]], Any]


class Api:
    """Answers the requests of the API over one knowledge graph."""

    def __init__(self, kg: KnowledgeGraph, settings: ServerSettings) -> None:
        self.kg = kg
        self.settings = settings
        self.media = settings.media
        self.readers = self.slots(_READERS, "readers")
        self.askers = self.slots(_ASKERS, "questions")
        self.provers = self.slots(_PROVERS, "proofs")
        self.choice = Rankers(kg, settings)

    def slots(self, number: int, name: str) -> Slots:
        """Return the turns of requests that so many threads serve."""
        return Slots(number, self.settings.queue, name)

    def on_thread(self, work: Work, slots: Slots | None = None) -> validation.Endpoint:
        """Return an endpoint that runs a function of the query string on a thread and sends JSON."""

        async def endpoint(request: Request) -> Response:
            values = dict(request.query_params)
            return validation.reply(await self.run(slots or self.readers, work, values))

        return validation.guarded(endpoint, self.settings.token)

    # -- what there is -----------------------------------------------------------------------------

    def about(self, values: Mapping[str, str]) -> dict[str, Any]:
        """Return what the server holds and offers."""
        validation.check_names(values)
        return overview.about(self.kg, self.settings)

    def overview(self, values: Mapping[str, str]) -> dict[str, Any]:
        """Return the classes of the graph and example questions."""
        validation.check_names(values)
        return overview.overview(self.kg, self.settings)

    def queries(self, values: Mapping[str, str]) -> list[dict[str, Any]]:
        """Return the catalogue of queries, grouped by folder."""
        validation.check_names(values)
        return overview.catalogue(self.kg)

    # -- reading -----------------------------------------------------------------------------------

    def search(self, values: Mapping[str, str]) -> dict[str, Any]:
        """Find entities by words; an IRI or CURIE of the graph comes first."""
        validation.check_names(values, "q", "k", "class", "ranker")
        text, k = validation.text_value(values, "q"), validation.int_value(values, "k", 10, 1, 50)
        display = context.Display(self.kg)
        hits: list[dict[str, Any]] = []
        ranks = self.choice.ranker(values) if self._has_index() else None
        try:
            typed = str(rdf.iri(text, self.kg.prefixes))
            if exists(self.kg, typed):
                hits.append(hit(self.kg, typed, 1.0, ("its IRI was given",), display))
        except TermError:
            pass  # words, then
        if not hits or self._has_index():
            ranks = ranks or self.choice.ranker(values)
            found = [h for h in ranks.rank(mrag.Question(text), k) if all(h.iri != f["iri"] for f in hits)]
            hits.extend(hit(self.kg, h.iri, h.score, h.reasons, display) for h in found)
        return {"q": text, "hits": ranked(self.kg, hits[:k])}

    def entity(self, values: Mapping[str, str]) -> dict[str, Any]:
        """Return an entity: its triples in both directions, images, and neighbourhood."""
        validation.check_names(values, "iri", "hops")
        name = str(validation.iri_value(values, "iri", self.kg.prefixes))
        hops = validation.int_value(values, "hops", 1, 1, 2)
        display = context.Display(self.kg)
        out, begins = triples(self.kg, name, "out", display)
        into, ends = triples(self.kg, name, "in", display)
        if not out and not into:
            raise HTTPException(404, "The graph says nothing about this IRI.")
        return {
            **head(self.kg, name, out, display),
            "out": begins,
            "in": ends,
            "images": pictures_among(out, self.media, display),
            "neighbourhood": neighbourhood(self.kg, name, hops),
        }

    def explain(self, values: Mapping[str, str]) -> dict[str, Any]:
        """Prove a triple down to asserted ones."""
        from rdflib import Literal, URIRef

        validation.check_names(values, "s", "p", "o", "literal", "lang", "datatype")
        if ("o" in values) == ("literal" in values):
            raise ConfigError("Give the object either as o (an IRI) or as literal.")
        end: URIRef | Literal
        if "o" in values:
            end = validation.iri_value(values, "o", self.kg.prefixes)
        else:
            text, kind = values["literal"], values.get("datatype")
            if (
                len(text) > validation.MAX_LITERAL
                or len(kind or "") > validation.MAX_IRI
                or len(values.get("lang", "")) > 64
            ):
                raise ConfigError(f"A literal has at most {validation.MAX_LITERAL} characters here.")
            datatype = validation.iri_value(values, "datatype", self.kg.prefixes) if kind else None
            try:
                end = Literal(text, lang=values.get("lang") or None, datatype=datatype, normalize=False)
            except (ValueError, TypeError) as error:
                raise TermError("Not a literal: a bad language tag, or one with a datatype.") from error
            to_ox(end)
        subject, predicate = (validation.iri_value(values, part, self.kg.prefixes) for part in ("s", "p"))
        proof = reasoning.proof_of(self.kg, mrag.Triple(subject, predicate, end))
        if proof is None:
            raise HTTPException(404, "The graph does not hold this triple.")
        display = context.Display(self.kg)
        return {"proof": proof_json(proof, display), "text": reasoning.render(proof, display.name)}

    async def image(self, request: Request) -> Response:
        """Serve an image file that the graph names for an entity, from below the media folder."""

        def find() -> Path | None:
            from mrag.context.neighbourhood import read

            values = dict(request.query_params)
            validation.check_names(values, "entity", "value")
            name = str(validation.iri_value(values, "entity", self.kg.prefixes))
            value = validation.text_value(values, "value")
            for found in entities.images_among(read(self.kg, name, "out", scan=2_000, share=200).statements):
                if found.value == value:
                    return entities.file_of(found, self.media)
            return None

        file = await self.run(self.readers, find)
        if file is None:
            raise HTTPException(404, "The graph names no such image, or it is not in the media folder.")
        headers = {"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'"}
        return FileResponse(file, media_type=entities.KINDS[file.suffix.lower()], headers=headers)

    # -- asking ------------------------------------------------------------------------------------

    async def ask(self, request: Request) -> Response:
        """Answer a question as a stream of JSON lines: what was found, text as it is written, the whole.

        Each line has an `event`: `found`, `text`, `answer`, or `error` where the model broke off.
        """
        values = await validation.json_body(request, min(validation.MAX_BODY, self.settings.max_body))
        validation.check_names(
            values, "question", "k", "model", "how", "reading", "follows", "class", "ranker"
        )
        question, k = validation.text_value(values, "question"), validation.int_value(values, "k", 10, 1, 50)
        model = self._model(values.get("model"))
        how = cast("How", validation.choice_value(values, "how", HOWS))
        reading = validation.int_value(values, "reading", 1, 1, 100) if "reading" in values else None
        follows = validation.object_value(values, "follows", *FOLLOWED)
        ranked_otherwise = self.choice.given(values)
        engine: Engine = request.app.state.engine
        if how == "plan" and ranked_otherwise:
            raise ConfigError(
                f"`how` cannot be plan where {ranked_otherwise}: such a question is read, not computed.",
                hint="Leave out `class` and `ranker`, or let `how` be auto or read.",
            )

        def prepare() -> Prepared:
            from mrag.generation.models import check_model
            from mrag.retrieval.routing import Routed, with_unused

            check_model(model)
            if ranked_otherwise:
                way = Routed(None, ranked_otherwise)
            else:
                way = engine.questions.computed(question, how, reading, follows)
            if way.given is not None:
                return Prepared(with_unused(way.given, model))
            ranks = self.choice.ranker(values)
            found = retrieval.retrieve(
                self.kg, question, k=k, index=self.settings.index, ranker=ranks, why=way.said
            )
            return Prepared(None, found, generation.resolve(model), way.why, way.offered)

        began = time.perf_counter()
        ready = await self.run(self.askers, prepare)
        headers = {
            "Cache-Control": "no-store",
            "X-Accel-Buffering": "no",
            "X-Content-Type-Options": "nosniff",
        }
        metrics: ServerMetrics = request.app.state.metrics
        lines = self._lines(ready, lambda way: metrics.answered(way, time.perf_counter() - began))
        return StreamingResponse(lines, media_type="application/x-ndjson", headers=headers)

    async def _lines(self, ready: Prepared, answered: Callable[[str], None]) -> AsyncIterator[str]:
        parts = events.events(self.kg, ready, self.media)
        try:
            while True:
                event = await self.run(self.askers, next, parts, None)
                if event is None:
                    return
                if event["event"] == "answer":
                    answered(event["answer"]["way"])
                yield json.dumps(event, ensure_ascii=False) + "\n"
        except Exception as error:  # the status has been sent, so the stream itself says what happened
            yield (
                json.dumps({"event": "error", "error": validation.problem(error)}, ensure_ascii=False) + "\n"
            )
        finally:
            # A reader that went away ends the model's work too.
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(parts.close)

    def _model(self, asked: object) -> str | None:
        """Return a model that the server offers; a client can name no other, nor a file."""
        if asked is None or asked == self.settings.model:
            return self.settings.model
        if asked != "none":
            raise ConfigError("This server does not offer that model.", hint="Omit `model`, or use none.")
        return "none"

    # -- shared ------------------------------------------------------------------------------------

    async def run(self, slots: Slots, work: Callable[..., T], *arguments: Any) -> T:
        """Do something on a thread when its turn has come."""
        async with slots.taken(self.settings.seconds):
            return await to_thread.run_sync(work, *arguments)

    def _has_index(self) -> bool:
        return self.settings.index in mrag.SimilarityIndexes.of(self.kg).names()
