"""What an operator of `mrag serve` can set."""

from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from mrag.errors import ConfigError
from mrag.stores.base import Limits
from mrag.stores.process.parsing import Bounds

BELOW: Final = "/kg/"
"""Where the graphs beside the first one are."""
_LONGEST: Final = 3600
"""Seconds that stopping may take."""


@dataclass(frozen=True)
class Patience:
    """What clients are given for sending a request and for reading its answer.

    Attributes:
        connections: Maximum number of connections; beyond it, the longest idle ones are closed.
        head: Seconds for sending the head of a request.
        body: Seconds for sending its body, and one more for each 64 KiB that have come.
        stall: Seconds in which a client to whom an answer is sent must have read some of it.
    """

    connections: int = 512
    head: float = 10.0
    body: float = 30.0
    stall: float = 30.0


@dataclass(frozen=True)
class ServerSettings:
    """The settings of one server.

    Attributes:
        host: Address to listen on; other machines reach it only where this is not a loopback address.
        port: TCP port; 0 takes a free one.
        update: Whether clients may change the graph.
        token: Bearer token that every request must carry, None for none.
        cors_origins: Origins whose pages may call the server (`*` for any); none by default.
        seconds: Deadline of a request's query; a client may ask for less.
        max_rows: Maximum number of rows or triples of a result.
        max_bytes: Maximum number of bytes of a result, as it is sent.
        max_body: Maximum number of bytes of a request's body.
        workers: Queries that run at once, each in a process of its own.
        queue: Queries that may wait for a worker; more are answered 503.
        model: Language model that words answers, as `mrag.generation.models` names it.
        index: Name of the similarity index used for questions.
        ranker: What ranks entities for questions, by a name of `mrag.known_rankers()`.
        union: Whether the default graph of queries holds the triples of named graphs too, as in GraphDB.
        memory: Maximum bytes of memory of a process that answers queries or parses requests; 0 for
            no cap.
        reason: Whether reasoning runs again after each update.
        cache_bytes: Maximum number of bytes of answers kept for repeated queries; 0 keeps none.
        grace: Seconds that running requests get when the server stops.
        drain: Seconds before that in which it still takes requests, but says at `/ready` that it stops.
        patience: What clients are given for sending a request and for reading its answer.
        media: Folder of the image files that the graph names; None serves none.
        learn_seconds: Time limit of learning a concept from marks on the page.
        log_requests: Whether each request is logged on the error output, as a line of JSON.
        graphs: What the server's graphs are called on its page, the first at `/`; empty for a single one.
        shared: Folder that several processes which serve one graph share; None for a single process.

    Raises:
        ConfigError: If a number is out of range, or others could change the graph without a token.

    Example:
        >>> ServerSettings().limits.seconds
        30.0
        >>> ServerSettings(host="0.0.0.0").local
        False
    """

    host: str = "127.0.0.1"
    port: int = 7333
    update: bool = False
    token: str | None = field(default=None, repr=False)
    cors_origins: tuple[str, ...] = ()
    seconds: float = 30.0
    max_rows: int = 1_000_000
    max_bytes: int = 256 << 20
    max_body: int = 64 << 20
    workers: int = max(2, os.cpu_count() or 2)
    queue: int = 256
    model: str | None = None
    index: str = "main"
    ranker: str = "hybrid"
    union: bool = True
    memory: int = 4 << 30
    reason: bool = False
    cache_bytes: int = 32 << 20
    grace: float = 3.0
    drain: float = 0.0
    patience: Patience = Patience()
    media: Path | None = None
    learn_seconds: float = 0.8
    log_requests: bool = False
    graphs: tuple[str, ...] = ()
    shared: Path | None = None

    def __post_init__(self) -> None:
        positive = {
            "timeout": self.seconds,
            "max_rows": self.max_rows,
            "max_bytes": self.max_bytes,
            "max_body": self.max_body,
            "workers": self.workers,
            "learn_seconds": self.learn_seconds,
        }
        for name, seconds in (("grace", self.grace), ("drain", self.drain)):
            if not 0 <= seconds <= _LONGEST:
                raise ConfigError(f"{name} must be between 0 and {_LONGEST} seconds, not {seconds}.")
        for name, value in positive.items():
            if value <= 0:
                raise ConfigError(f"{name} must be greater than 0, not {value}.")
        if not 0 <= self.port <= 65_535:
            raise ConfigError(f"{self.port} is not a TCP port.", hint="Ports go from 0 to 65535.")
        if self.media is not None and not self.media.is_dir():
            raise ConfigError(f"{self.media} is not a folder.", hint="Name the folder that holds the images.")
        if self.token is not None and (len(self.token) < 8 or not self.token.isascii()):
            raise ConfigError("A token needs at least 8 ASCII characters.", hint="Take a long random one.")
        if self.update and self.token is None and not self.local:
            raise ConfigError(
                f"Whoever reaches {self.host} could change the graph, because no token is asked for.",
                hint="Name a token (--token-file FILE, or MRAG_TOKEN), leave out --update, or listen on "
                "127.0.0.1.",
            )

    @property
    def limits(self) -> Limits:
        """Return the caps of one query."""
        return Limits(self.seconds, self.max_rows, self.max_bytes)

    @property
    def reading(self) -> Bounds:
        """Return how much reading a request's body may take."""
        return Bounds(self.seconds, self.memory, self.max_bytes)

    def limits_of(self, seconds: float | None) -> Limits:
        """Return the caps of one query whose client has a deadline of its own.

        Args:
            seconds: The client's deadline, or None.
        """
        return replace(self.limits, seconds=min(self.seconds, seconds)) if seconds else self.limits

    @property
    def addresses(self) -> dict[str, str]:
        """Return where each graph of the server is, by what it is called.

        Example:
            >>> ServerSettings(graphs=("main", "people")).addresses
            {'main': '/', 'people': '/kg/people/'}
        """
        return {name: f"{BELOW}{name}/" if at else "/" for at, name in enumerate(self.graphs)}

    @property
    def local(self) -> bool:
        """Return whether only this machine reaches the server."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False
