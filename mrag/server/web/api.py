"""Requests to the page's views: their routes, validation of input, and the choice of a ranker."""

from __future__ import annotations

import logging
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from anyio import to_thread
from rdflib import URIRef
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

import mrag
from mrag import cel, errors
from mrag.rdf.terms import iri
from mrag.retrieval.registry import NEEDS_MODEL, check_client_ranker, ranker, without_index
from mrag.server.protect import Slots, json_object
from mrag.server.settings import ServerSettings
from mrag.server.sparql import content_type

logger = logging.getLogger(__name__)

MAX_QUESTION = 2_000  # maximum number of characters of a question or a search
MAX_IRI = 2_048
MAX_LITERAL = 20_000
MAX_BODY = 64 << 10  # maximum number of bytes of a body, where the settings allow more
_READERS = 8
_KEPT_RANKERS = 50  # most rankers that are kept; what clients ask for has no end
HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
T = TypeVar("T")
Values = dict[str, Any]
Answer = Callable[[Request, Values], Awaitable[Response]]
Work = Callable[[Values], Any]


def reply(value: Any, status: int = 200) -> JSONResponse:
    """Answer with JSON that no cache keeps and no browser takes for another type."""
    return JSONResponse(value, status, headers=HEADERS)


def problem(error: Exception) -> dict[str, Any]:
    """Return an error as JSON: its type, what happened, and what to do next."""
    if isinstance(error, errors.MragError):
        # Not its text: that names files and queries of the server.
        return {"type": type(error).__name__, "message": error.message, "hint": error.hint}
    if isinstance(error, HTTPException):
        return {"type": "Refused", "message": error.detail, "hint": None}
    return {"type": "InternalError", "message": "An internal error occurred in the server.", "hint": None}


class Api:
    """The requests about one knowledge graph: where their routes come from, and their turns."""

    def __init__(self, kg: mrag.KnowledgeGraph, settings: ServerSettings) -> None:
        self.kg, self.settings, self.media = kg, settings, settings.media
        self.readers = self.slots(_READERS, "readers")
        self.choice = Rankers(kg, settings)

    def slots(self, number: int, name: str) -> Slots:
        """Return the turns of requests that so many threads serve."""
        return Slots(number, self.settings.queue, name)

    async def run(self, slots: Slots, work: Callable[..., T], *arguments: Any) -> T:
        """Do something on a thread when its turn has come."""
        async with slots.taken(self.settings.seconds):
            return await to_thread.run_sync(work, *arguments)

    def route(
        self,
        method: str,
        path: str,
        answer: Answer,
        names: str | None = "",
        *,
        most: int = 4 * MAX_BODY,
        changes: bool = False,
    ) -> Route:
        """Return a route below `/api/` that checks a request.

        Its parameters, of the address or of a JSON body of at most `most` bytes, are those that `names` has
        with blanks between them (None for any). What changes the graph is refused where updates are off.
        """

        async def endpoint(request: Request) -> Response:
            if changes:
                request.app.state.engine.writer.writable()
            if method == "GET":
                values: Values = dict(request.query_params)
            else:
                if content_type(request.headers.get("content-type")) != "application/json":
                    raise HTTPException(415, "The body must be application/json.")
                values = await json_object(request, min(most, self.settings.max_body))
            if names is not None:
                check_names(values, *names.split())
            return await answer(request, values)

        return Route(f"/api/{path}", endpoint, methods=[method])

    def get(self, path: str, work: Work, names: str = "", slots: Slots | None = None) -> Route:
        """Return a route to what a function returns on a thread."""
        return self.route("GET", path, self._on_thread(work, slots), names)

    def post(
        self,
        path: str,
        work: Work,
        names: str | None = "",
        slots: Slots | None = None,
        most: int = 4 * MAX_BODY,
    ) -> Route:
        """Return a route to what a function returns on a thread of a body's members."""
        return self.route("POST", path, self._on_thread(work, slots), names, most=most)

    def change(
        self, path: str, work: Work, names: str, *, most: int = 4 * MAX_BODY, status: int = 200
    ) -> Route:
        """Return a route to a function that changes the graph, while nothing else does."""

        async def answer(request: Request, values: Values) -> Response:
            return reply(await request.app.state.engine.writer.make(partial(work, values)), status)

        return self.route("POST", path, answer, names, most=most, changes=True)

    def _on_thread(self, work: Work, slots: Slots | None) -> Answer:
        async def answer(_request: Request, values: Values) -> Response:
            return reply(await self.run(slots or self.readers, work, values))

        return answer


class PageView:
    """Answers the requests of one view."""

    def __init__(self, api: Api) -> None:
        self.api, self.kg = api, api.kg


def check_names(values: Mapping[str, Any], *names: str) -> None:
    """Refuse unknown parameters, which are mostly misspelt ones."""
    for name in values:
        if name not in names:
            raise errors.ConfigError(
                f"Unknown parameter {name[:40]!r}.", hint=f"The parameters are: {', '.join(names)}."
            )


def text_value(values: Mapping[str, Any], name: str, max_length: int = MAX_QUESTION) -> str:
    """Return a text that is not empty."""
    value = values.get(name, "")
    if not isinstance(value, str):
        raise errors.ConfigError(f"{name} must be a text.")
    if not value.strip():
        raise errors.ConfigError(f"{name} is empty.", hint="Give words.")
    if len(value) > max_length:
        raise errors.ConfigError(f"{name} has {len(value)} characters; the maximum is {max_length}.")
    return value.strip()


def int_value(values: Mapping[str, Any], name: str, default: int, minimum: int, maximum: int) -> int:
    """Return a whole number within bounds, from JSON or from a query string."""
    value = values.get(name, default)
    if isinstance(value, str) and len(value) < 10 and value.isascii() and value.isdigit():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not minimum <= value <= maximum:
        raise errors.ConfigError(f"{name} must be a whole number from {minimum} to {maximum}.")
    return value


def choice_value(values: Mapping[str, Any], name: str, choices: Sequence[str]) -> str:
    """Return one of several words; the first of them if none is given."""
    value = values.get(name, choices[0])
    if value not in choices:
        raise errors.ConfigError(f"{name} must be one of: {', '.join(choices)}.")
    return str(value)


def object_value(values: Mapping[str, Any], name: str, *names: str) -> Mapping[str, Any] | None:
    """Return an object with these members and no others; None if it is left out."""
    value = values.get(name)
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise errors.ConfigError(f"{name} must be an object.")
    check_names(value, *names)
    return value


def list_value(values: Mapping[str, Any], name: str, most: int, max_length: int) -> list[str]:
    """Return a list of texts; an empty one if it is left out."""
    value = values.get(name, [])
    if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
        raise errors.ConfigError(f"{name} must be a list of texts.")
    if len(value) > most or any(len(one) > max_length for one in value):
        raise errors.ConfigError(f"{name} has at most {most} texts of {max_length} characters.")
    return value


def iri_value(values: Mapping[str, Any], name: str, prefixes: Mapping[str, str]) -> URIRef:
    """Return an IRI, given in full or as a CURIE."""
    return iri(text_value(values, name, MAX_IRI), prefixes)


class Rankers:
    """The rankers that requests may choose from."""

    def __init__(self, kg: mrag.KnowledgeGraph, settings: ServerSettings) -> None:
        self.kg, self.settings = kg, settings
        self._made: dict[str, mrag.Ranker] = {}
        self._making = threading.Lock()

    def known(self, _values: Values) -> list[dict[str, Any]]:
        """Return every ranker by name: what it does, whether it can be chosen, and if not, why."""
        own = self.settings.ranker
        rankers = [{"name": own, "summary": "the server's own", "usable": True, "own": True}]
        for info in mrag.known_rankers().values():
            name = f"hybrid+{info.name}" if info.reranks else info.name
            if name == own:
                rankers[0]["summary"] = info.summary
                continue
            why = self._missing(info.name, name)
            one: dict[str, Any] = {"name": name, "summary": info.summary, "usable": not why, "own": False}
            rankers.append({**one, "why": why} if why else one)
        return rankers

    def given(self, values: Mapping[str, Any]) -> str:
        """Return why a question is to be read, where a ranker or a class is chosen; an empty text if not."""
        if values.get("class"):
            return "only entities of one class are asked for"
        return "a ranker was chosen" if values.get("ranker") else ""

    def ranker(self, values: Mapping[str, Any], *, named: bool = False) -> mrag.Ranker:
        """Return what `ranker` and `class` ask for; if `named`, names alone rank where there is no index."""
        own = self.settings.ranker
        own = without_index(own, self.kg, self.settings.index) if named else own
        ranks = self._find(text_value(values, "ranker", 100) if values.get("ranker") else own)
        if not values.get("class"):
            return ranks
        return cel.ClassFilter(ranks, self.kg, text_value(values, "class", MAX_IRI))

    def _find(self, name: str) -> mrag.Ranker:
        check_client_ranker(name, self.settings.ranker)
        with self._making:
            if name not in self._made:
                if len(self._made) >= _KEPT_RANKERS:
                    self._made.clear()
                self._made[name] = ranker(name, self.kg, index=self.settings.index)
            return self._made[name]

    def _missing(self, kind: str, name: str) -> str:
        if kind in NEEDS_MODEL:
            return f"it runs a model, which the operator names: mrag serve --ranker {name}:MODEL"
        try:
            self._find(name)
        except errors.MragError as error:
            return error.message
        return ""
