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

_LONGEST: Final = 3600  # seconds that stopping may take


@dataclass(frozen=True)
class Patience:
    """What clients are given for sending a request and for reading its answer."""

    connections: int = 512  # maximum number of connections; beyond it, the longest idle ones are closed
    head: float = 10.0  # seconds for sending the head of a request
    body: float = 30.0  # seconds for sending its body, and one more for each 64 KiB that have come
    stall: float = 30.0  # seconds in which a client to whom an answer is sent must have read some of it


@dataclass(frozen=True)
class ServerSettings:
    """The settings of one server."""

    host: str = "127.0.0.1"  # other machines reach it only where this is not a loopback address
    port: int = 7333  # TCP port; 0 takes a free one
    update: bool = False  # whether clients may change the graph
    token: str | None = field(default=None, repr=False)  # that every request must carry; None for none
    cors_origins: tuple[str, ...] = ()  # whose pages may call the server; `*` for any
    seconds: float = 30.0  # deadline of a request's query; a client may ask for less
    max_rows: int = 1_000_000  # maximum number of rows or triples of a result
    max_bytes: int = 256 << 20  # maximum number of bytes of a result, as it is sent
    max_body: int = 64 << 20  # maximum number of bytes of a request's body
    workers: int = max(2, os.cpu_count() or 2)  # queries that run at once, each in a process of its own
    queue: int = 256  # queries that may wait for a worker; more are answered 503
    model: str | None = None  # language model that words answers, as `mrag.generation.models` names it
    index: str = "main"  # name of the similarity index used for questions
    ranker: str = "hybrid"  # what ranks entities for questions, by a name of `mrag.known_rankers()`
    union: bool = True  # whether the default graph holds the triples of named graphs too, as in GraphDB
    memory: int = 4 << 30  # maximum bytes of a process that queries or parses; 0 for no cap
    reason: bool = False  # whether reasoning runs again after each update
    cache_bytes: int = 32 << 20  # maximum number of bytes of answers kept for repeated queries; 0 keeps none
    grace: float = 3.0  # seconds that running requests get when the server stops
    patience: Patience = Patience()  # what clients are given for sending a request and for reading its answer
    media: Path | None = None  # folder of the image files that the graph names; None serves none
    learn_seconds: float = 0.8  # time limit of learning a concept from marks on the page
    log_requests: bool = False  # whether each request is logged on the error output, as a line of JSON

    def __post_init__(self) -> None:
        names = ("max_rows", "max_bytes", "max_body", "workers", "learn_seconds")
        positive = {"timeout": self.seconds, **{name: getattr(self, name) for name in names}}
        if not 0 <= self.grace <= _LONGEST:
            raise ConfigError(f"grace must be between 0 and {_LONGEST} seconds, not {self.grace}.")
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
        """Return the caps of one query whose client has a deadline of its own."""
        return replace(self.limits, seconds=min(self.seconds, seconds)) if seconds else self.limits

    @property
    def local(self) -> bool:
        """Return whether only this machine reaches the server."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False
