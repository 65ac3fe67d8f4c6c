"""The last errors of a server, for the page: those that a request ended in, and those behind its back."""

from __future__ import annotations

import time
from collections import deque
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request

from mrag.errors import MragError
from mrag.redaction import redact

_KEPT = 50


class RecentErrors:
    """The last errors of a server, oldest first, without what was asked.

    Example:
        >>> errors = RecentErrors()
        >>> errors.note("/sparql", 503, MragError("The query passed its deadline."))
        >>> errors.listed()[0]["message"]
        'The query passed its deadline.'
    """

    def __init__(self) -> None:
        self._errors: deque[dict[str, Any]] = deque(maxlen=_KEPT)

    def note(self, where: str, status: int | None, error: Exception) -> None:
        """Keep an error, unless the client is to blame for it.

        Args:
            where: The path of the request, or the name of the work.
            status: The status of the answer; None where there was no request.
            error: The error.
        """
        if status is not None and status < 500:
            return
        message = "An error that nobody expected; the server's log says more."
        # The text of any other error may quote what was asked.
        if isinstance(error, MragError):
            message = redact(error.message)
        elif isinstance(error, HTTPException):
            message = error.detail
        self._errors.append(
            {
                "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                "where": where[:200],
                "status": status,
                "type": type(error).__name__,
                "message": message,
                "hint": error.hint if isinstance(error, MragError) else None,
            }
        )

    def listed(self) -> list[dict[str, Any]]:
        """Return the errors, the newest first."""
        return list(reversed(self._errors))


def note_error(request: Request, status: int, error: Exception) -> None:
    """Keep the error that a request ended in, in the application that it was sent to.

    Args:
        request: The request.
        status: The status of the answer.
        error: The error.
    """
    engine = getattr(request.app.state, "engine", None)
    if engine is not None:
        engine.errors.note(request.scope["path"], status, error)
