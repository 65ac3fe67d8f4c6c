"""Every reply says whether what was inferred belongs to the present triples."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mrag.server.engine import Engine

HEADER = "X-Mrag-Inference"
"""`current`, `pending` while inferences are brought up to date, or `none` without reasoning."""


class InferenceState:
    """Adds a header to replies.

    Args:
        app: What answers.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        engine: Engine = scope["app"].state.engine
        await engine.catch_up()
        before = (engine.record, engine.kg.record)

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                # A long answer may have been read between a change and what follows from it.
                records = (*before, engine.record, engine.kg.record)
                changed = len({record.revision for record in records}) > 1
                pending = changed or any(record.outdated for record in records)
                state = "none" if records[-1].reasoned < 0 else "pending" if pending else "current"
                message["headers"] = [*message["headers"], (HEADER.lower().encode(), state.encode())]
            await send(message)

        await self.app(scope, receive, sent)
