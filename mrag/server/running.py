"""Running the server until it is told to stop."""

from __future__ import annotations

import logging
import signal
import socket
from collections.abc import Callable
from types import FrameType

import uvicorn

from mrag.errors import ConfigError
from mrag.kg import KnowledgeGraph
from mrag.server.app import create_app
from mrag.server.settings import ServerSettings

logger = logging.getLogger(__name__)


class _Server(uvicorn.Server):
    """A server that leaves signals to its caller and says when it listens."""

    def __init__(self, config: uvicorn.Config, listening: Callable[[], None]) -> None:
        super().__init__(config)
        self._listening = listening

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._listening()


def serve(
    kg: KnowledgeGraph, settings: ServerSettings, *, listening: Callable[[str], None] | None = None
) -> None:
    """Serve a knowledge graph until SIGINT or SIGTERM.

    Running requests then get `settings.grace` seconds, and no process is left behind.

    Args:
        kg: The knowledge graph; the caller closes it.
        settings: The server's settings.
        listening: Called with the server's address once it answers.

    Raises:
        ConfigError: If the address cannot be listened on.
    """
    bound = listen(settings)
    host, port = bound.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    config = uvicorn.Config(
        create_app(kg, settings),
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="on",
        timeout_keep_alive=30,
        timeout_graceful_shutdown=max(1, round(settings.grace)),
        limit_concurrency=settings.queue + 4 * settings.workers,
        backlog=1024,
        h11_max_incomplete_event_size=1 << 16,
    )
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
    server = _Server(config, lambda: listening(f"http://{shown}:{port}") if listening else None)
    # uvicorn raises the signal again when it has stopped; the caller still has a store to close then.
    before = {number: signal.signal(number, _stopped) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        server.run(sockets=[bound])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        bound.close()


def listen(settings: ServerSettings) -> socket.socket:
    """Open the server's port.

    Raises:
        ConfigError: If it cannot be opened.
    """
    try:
        family = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)[0]
        # With the protocol named, small answers are sent at once (TCP_NODELAY).
        bound = socket.socket(*family[:3])
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(family[4])
    except OSError as error:
        raise ConfigError(
            f"Nothing can listen on {settings.host}, port {settings.port}: {error.strerror or error}.",
            hint="Another server may have the port. Choose one with --port.",
        ) from error
    return bound


def _stopped(_number: int, _frame: FrameType | None) -> None:
    """Do nothing: the server has seen the signal."""
