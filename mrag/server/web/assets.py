"""The page for exploring: its files, and the rules that a browser holds it to."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Message, Receive, Scope, Send

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
    """Return the routes of the page: `/`, and its files below `/page/`.

    Example:
        >>> [route.path for route in page_routes()]
        ['/', '/favicon.ico', '/page']
    """
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
