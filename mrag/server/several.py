"""Several knowledge graphs on one server, each with an application of its own below its own address."""

from __future__ import annotations

import contextlib
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Final

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.server.app import create_app
from mrag.server.protect import OneLength
from mrag.server.settings import BELOW, ServerSettings

MOST: Final = 16
"""Maximum number of graphs of one server: each has processes of its own."""

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


def create_apps(graphs: Mapping[str, KnowledgeGraph], settings: ServerSettings) -> Starlette:
    """Return the application that serves knowledge graphs: one at `/`, the others below `/kg/NAME/`.

    Each has its own interfaces, page, processes and limits; token and other settings are the same for all.

    Args:
        graphs: The knowledge graphs by what the page calls them; the caller closes them.
        settings: The server's settings.

    Raises:
        ConfigError: If a name cannot stand in an address, or there are too many.

    Example:
        >>> import mrag
        >>> with mrag.connect() as one, mrag.connect() as other:
        ...     app = create_apps({"one": one, "other": other}, ServerSettings())
        >>> [getattr(route, "path", "") for route in app.routes]
        ['/kg/other', '/kg/other', '']
    """
    names = tuple(graphs)
    for name in names[1:]:
        if not _NAME.fullmatch(name):
            raise ConfigError(f"{name!r} cannot name a graph.", hint="Use letters, digits, - and _.")
    if len(names) > MOST:
        raise ConfigError(f"One server serves at most {MOST} graphs.", hint="Start another on another port.")
    settings = replace(settings, graphs=names)
    first, *others = (create_app(kg, settings) for kg in graphs.values())
    if not others:
        return first

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with contextlib.AsyncExitStack() as stack:
            for app in (first, *others):
                await stack.enter_async_context(app.router.lifespan_context(app))
            yield

    routes: list[BaseRoute] = []
    for name, app in zip(names[1:], others, strict=True):
        routes += [Route(BELOW + name, _to_its_page), Mount(BELOW + name, app=_own(app))]
    return Starlette(
        routes=[*routes, Mount("/", app=first)], middleware=[Middleware(OneLength)], lifespan=lifespan
    )


def _own(app: Starlette) -> ASGIApp:
    """Return an application that takes its address below the server's for its own."""

    async def answered(scope: Scope, receive: Receive, send: Send) -> None:
        await app({**scope, "app_root_path": scope["root_path"]}, receive, send)

    return answered


async def _to_its_page(request: Request) -> Response:
    return RedirectResponse(f"{request.url.path}/")
