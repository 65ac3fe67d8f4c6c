"""What comes on standard input and is no message of the protocol: it is answered by an error."""

from __future__ import annotations

import json
from contextlib import suppress
from types import TracebackType
from typing import Any

import mcp_types as types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

_LONGEST = 1 << 20


class Answered:
    """The messages of a client; lines that are none are answered by an error, and left out.

    JSON can name halves of characters, which no text may hold, so the SDK cannot read a line with one. It
    would drop the line, and the client would wait for its answer.

    Args:
        incoming: The messages, and the errors of lines that could not be read.
        outgoing: Where answers go.
    """

    def __init__(self, incoming: Any, outgoing: Any) -> None:
        self._incoming, self._outgoing = incoming, outgoing

    def __getattr__(self, name: str) -> Any:
        return getattr(self._incoming, name)

    def __aiter__(self) -> Answered:
        return self

    async def __anext__(self) -> SessionMessage:
        """Return the next message."""
        while True:
            item = await self._incoming.__anext__()
            if not isinstance(item, Exception):
                return item  # type: ignore[no-any-return]
            await self._outgoing.send(SessionMessage(refusal(item)))

    async def receive(self) -> SessionMessage:
        """Return the next message."""
        return await self.__anext__()

    async def __aenter__(self) -> Answered:
        await self._incoming.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._incoming.__aexit__(kind, error, trace)


def refusal(error: Exception) -> types.JSONRPCError:
    """Return the answer to a line that is no message: with its id, if it has one.

    Example:
        >>> refusal(ValueError("no JSON")).error.code
        -32700
    """
    inputs = [one["input"] for one in error.errors()] if isinstance(error, ValidationError) else []
    said: Any = next((one for one in inputs if isinstance(one, dict) and "jsonrpc" in one), None)
    line: Any = inputs[0] if inputs else None
    if said is None and isinstance(line, str | bytes) and len(line) < _LONGEST:
        with suppress(ValueError, RecursionError):
            said = json.loads(line)
    if said is None:
        return _error(None, types.PARSE_ERROR, "The line is not JSON.")
    id = said.get("id") if isinstance(said, dict) else None
    id = id.encode(errors="replace").decode() if isinstance(id, str) else id
    return _error(
        id if isinstance(id, int | str) and not isinstance(id, bool) else None,
        types.INVALID_REQUEST,
        "The line is no message of the protocol, or holds half of a character.",
    )


def _error(id: int | str | None, code: int, message: str) -> types.JSONRPCError:
    return types.JSONRPCError(jsonrpc="2.0", id=id, error=types.ErrorData(code=code, message=message))
