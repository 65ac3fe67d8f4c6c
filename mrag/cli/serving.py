"""The server that has a store open answers what commands ask about it, and they open nothing themselves."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from mrag.config import Settings
from mrag.errors import EndpointError

_SECONDS: Final = 120.0


def _note(store: str, kg: str) -> Path | None:
    """Return the file in which the server of a store in a folder writes down where it listens."""
    kind, colon, rest = store.partition(":")
    path = rest if colon and kind == "oxigraph" else "" if len(kind) > 1 and colon else store
    return Path(f"{Path(path).expanduser()}.mrag") / kg / "server.json" if path else None


@contextmanager
def note_address(store: str, kg: str) -> Iterator[Path | None]:
    """Let a server write down where it listens, as long as it does."""
    file = _note(store, kg)
    try:
        yield file
    finally:
        if file is not None:
            with suppress(OSError):
                file.unlink()
            with suppress(OSError):  # what else is kept of the store stays
                file.parent.rmdir()
                file.parent.parent.rmdir()


def ask_server(
    store: str | None, kg: str | None, question: Mapping[str, Any], parts: Mapping[str, bool]
) -> dict[str, Any] | None:
    """Return an answer, with its lines, by the server that has a store open; None where none has.

    Args:
        store: The option of a command.
        kg: The same.
        question: What is asked, as `/api/ask` takes it.
        parts: What of its answer is wanted, as `mrag.generation.lines_of` takes it.

    Raises:
        EndpointError: If the server refuses.
    """
    settings = Settings.from_env(store, kg)
    file = _note(settings.store or "", settings.kg)
    if file is None or not file.exists():
        return None
    try:
        server = json.loads(file.read_bytes())
        if os.name == "posix":
            os.kill(server["process"], 0)  # what a server that was killed has left names nobody
        place = urlsplit(server["url"])
        link = HTTPConnection(place.hostname or "", place.port, timeout=_SECONDS)
        token = os.environ.get("MRAG_TOKEN")
        headers = {
            "Content-Type": "application/json",
            **({"Authorization": f"Bearer {token}"} if token else {}),
        }
        link.request("POST", "/api/ask", json.dumps({**question, "told": dict(parts)}), headers)
        reply = link.getresponse()
        events = [json.loads(line) for line in reply.read().splitlines()]
    except (OSError, HTTPException, ValueError, LookupError, TypeError):
        return None  # nobody listens there any more, or somebody else
    last: dict[str, Any] = events[-1] if events else {}
    if problem := last.get("error"):
        what = problem if isinstance(problem, str) else str(problem.get("message"))
        hint = last.get("hint") or (problem.get("hint") if isinstance(problem, dict) else None)
        if reply.status == 401:
            hint = "Set MRAG_TOKEN to the token of the server."
        raise EndpointError(what, endpoint=server["url"], hint=hint)
    return last if "lines" in last else None
