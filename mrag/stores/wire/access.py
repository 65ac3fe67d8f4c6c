"""How a server is reached: address, login, headers, and what of them no message may hold."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus, urlsplit

import requests
from requests.auth import AuthBase, HTTPBasicAuth, HTTPDigestAuth

from mrag.errors import (
    ConfigError,
    LoadError,
)
from mrag.redaction import hidden_in, names_secret

_SHORTEST = 4
"""Characters of a secret from which on it is sought in messages; shorter ones are in every word."""


@dataclass(frozen=True)
class Access:
    """How a server is reached.

    Attributes:
        user: Name to log in with.
        password: Its password.
        token: Bearer token, in place of user and password.
        token_kind: Word before the token: `Bearer`, or `GDB` on GraphDB.
        headers: Further headers of every request.
        params: Further parameters of every request's URL.
        verify: Whether TLS certificates are checked, or the path of a file of authorities to trust.
        connect_seconds: How long to wait for a connection.
        read_seconds: How long to wait for the next part of an answer, where a query has no deadline.
        retries: How often a request that may be repeated is sent again after a transient error.
    """

    user: str | None = field(default=None, repr=False)  # some servers take a token in its place
    password: str | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)
    token_kind: str = "Bearer"  # noqa: S105 # no secret
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    params: Mapping[str, str] = field(default_factory=dict, repr=False)
    verify: bool | str = True
    connect_seconds: float = 5.0
    read_seconds: float = 300.0
    retries: int = 3

    def __post_init__(self) -> None:
        if any("\n" in f"{k}{v}" or "\r" in f"{k}{v}" for k, v in self.headers.items()):
            raise ConfigError("A header may not hold a line break.")


def is_address(url: str) -> bool:
    """Return whether a URL is one of HTTP with a host, and a port that can be.

    Example:
        >>> is_address("http://localhost:7200/x"), is_address("http://ann:pass/word@localhost/")
        (True, False)
    """
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def host(url: str) -> str:
    """Return scheme, host and port of a URL.

    Example:
        >>> host("http://localhost:7200/repositories/x?y=1")
        'http://localhost:7200'
    """
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


class _Token(AuthBase):
    def __init__(self, value: str) -> None:
        self.value = value

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = self.value
        return request


def login(access: Access, digest: bool) -> Callable[[Any], Any] | None:
    """Return what adds the login to a request; None where there is none."""
    if access.token:
        return _Token(f"{access.token_kind} {access.token}")
    if access.user is None:
        return None
    kind = HTTPDigestAuth if digest else HTTPBasicAuth
    return kind(access.user, access.password or "")


def secrets_of(access: Access, places: Sequence[str]) -> list[str]:
    """Return what a message may not hold, longest first, also as URLs and headers spell it."""
    found = {access.password, access.token, *(value or name for name, value in access.params.items())}
    found |= {value for name, value in access.headers.items() if names_secret(name)}
    if access.user is not None:
        login = f"{access.user}:{access.password or ''}".encode()
        found.add(base64.b64encode(login).decode())
        if not access.password:
            found.add(access.user)
    for place in places:
        found |= hidden_in(place)
    spelt = {form for s in found if s for form in (s, quote(s, safe=""), quote_plus(s))}
    return sorted((s for s in spelt if len(s) >= _SHORTEST), key=lambda s: (-len(s), s))


def access_from_env(given: Access | None = None) -> Access:
    """Return the login that the environment names, where none is given.

    `MRAG_STORE_USER`, `MRAG_STORE_PASSWORD`, `MRAG_STORE_TOKEN`, and `MRAG_STORE_CA` for the file of an
    authority to trust.

    Raises:
        LoadError: If the file of the authority is not there.
    """
    if given is not None:
        return given
    ca = os.environ.get("MRAG_STORE_CA")
    if ca and not Path(ca).is_file():
        raise LoadError("There is no such file of certificates.", file=ca, hint="Check MRAG_STORE_CA.")
    return Access(
        user=os.environ.get("MRAG_STORE_USER"),
        password=os.environ.get("MRAG_STORE_PASSWORD"),
        token=os.environ.get("MRAG_STORE_TOKEN"),
        verify=ca or True,
    )
