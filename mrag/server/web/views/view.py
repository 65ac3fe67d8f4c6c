"""What the views of the page have in common: the graph that they show, and how requests reach them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mrag.server.web.validation import MAX_BODY, check_names, json_body

if TYPE_CHECKING:
    from starlette.requests import Request

    from mrag.server.engine import Engine
    from mrag.server.web.routes import Api


class PageView:
    """Answers the requests of one view.

    Args:
        api: The API that these requests belong to.
    """

    most = 4 * MAX_BODY
    """Maximum number of bytes of a body, where the settings allow more."""

    def __init__(self, api: Api) -> None:
        self.api, self.kg = api, api.kg

    async def body(self, request: Request, *names: str) -> dict[str, Any]:
        """Read a JSON object with these members and no others."""
        values = await json_body(request, min(self.most, self.api.settings.max_body))
        check_names(values, *names)
        return values

    async def change(self, request: Request, *names: str) -> tuple[Engine, dict[str, Any]]:
        """Read what a request wants changed, if the server allows changes."""
        engine: Engine = request.app.state.engine
        engine.writer.writable()
        return engine, await self.body(request, *names)
