"""One pooled HTTP session to a store's server: login, timeouts, retries, and errors that say what to do."""

from __future__ import annotations

import base64
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote, quote_plus, urlsplit

import requests
from requests.adapters import HTTPAdapter
from requests.auth import AuthBase, HTTPBasicAuth, HTTPDigestAuth

from mrag.errors import ConfigError, EndpointError, LoadError, QueryRefused, QueryTimeout, StoreError
from mrag.redaction import HIDDEN, hidden_in, hide_in_logs, names_secret, redact

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


_TRANSIENT = (429, 502, 503, 504)
_TIMEOUTS = (
    "timed out",
    "timeout",
    "time limit",
    "deadline",
    "has been cancelled",
    "estimated execution time",
)
_CHUNK = 1 << 16
_PAUSE, _UPLOAD = 300.0, 3600.0
"""Seconds that a server may pause in taking a load in, and may need to finish it."""
_MESSAGE = 400
_DEADLOCKS = 5
"""How often a request is repeated that met another in a deadlock."""


class Http:
    """A session to one server.

    Args:
        endpoint: The store's URL, for messages.
        access: How it is reached.
        digest: Whether the server asks for digest instead of basic authentication.
        places: URLs that requests go to; what they hold of a login is kept out of messages.

    Attributes:
        server: What the server last called itself.
    """

    def __init__(
        self, endpoint: str, access: Access, *, digest: bool = False, places: Sequence[str] = ()
    ) -> None:
        self.endpoint = endpoint
        self.access = access
        self.server = ""
        self.session = requests.Session()
        self.session.trust_env = False  # no proxies or logins that the caller has not named
        self.session.verify = access.verify
        self.session.headers.update({"User-Agent": "mrag", **access.headers})
        self.session.params = dict(access.params)
        self.session.auth = login(access, digest)
        self._secrets = secrets_of(access, places)
        hide_in_logs("urllib3.connectionpool")
        # Retries are made here, where it is known what may be repeated.
        for scheme in ("http://", "https://"):
            self.session.mount(scheme, HTTPAdapter(pool_connections=4, pool_maxsize=32, max_retries=0))

    def send(
        self,
        method: str,
        url: str,
        *,
        repeat: bool,
        params: Mapping[str, Any] | None = None,
        data: Any = None,
        headers: Mapping[str, str] | None = None,
        files: Any = None,
        seconds: float | None = None,
        upload: bool = False,
        ok: tuple[int, ...] = (200, 201, 202, 204),
        query: str | None = None,
    ) -> requests.Response:
        """Send a request and return the response, its body not read yet.

        Args:
            method: The HTTP method.
            url: Where to.
            repeat: Whether sending it twice does no harm, so that it is tried again.
            params: Parameters of the URL.
            data: The body.
            headers: Headers of this request.
            files: Parts of a multipart form.
            seconds: How long to wait for the first part of the answer.
            upload: Whether the body is long, so that the server may pause while it takes it in.
            ok: Status codes that are no error.
            query: Text of the query, for messages.

        Raises:
            EndpointError: If the server cannot be reached, refuses, or breaks off.
            QueryRefused: If it says that the query is at fault.
            QueryTimeout: If nothing came in time.
        """
        wait = self.access.read_seconds if seconds is None else seconds
        # The first of the two also bounds each piece that is sent.
        limits = (_PAUSE, _UPLOAD) if upload else (self.access.connect_seconds, wait)
        attempt = 0
        while True:
            try:
                response = self.session.request(
                    method,
                    url,
                    params=params,
                    data=data,
                    headers=dict(headers or {}),
                    files=files,
                    timeout=limits,
                    stream=True,
                    allow_redirects=method in ("GET", "HEAD"),
                )
            except (requests.RequestException, OSError) as error:
                found = self._broken(error, query)
                if not (repeat and attempt < self.access.retries and _transient(error)):
                    raise found from self.cause(error)
            else:
                self.server = response.headers.get("Server", self.server)
                if response.status_code in ok:
                    return response
                text = self._message(response)
                # The server took back what it had done, so that any request but a stream can be sent again.
                deadlock = "deadlock" in text.lower() and (repeat or not upload)
                busy = repeat and response.status_code in _TRANSIENT and not _says_timeout(text)
                if attempt >= (_DEADLOCKS if deadlock else self.access.retries if busy else 0):
                    raise self._refused(response.status_code, text, query)
            attempt += 1
            time.sleep(0.1 * 2**attempt)

    def chunks(self, response: requests.Response, query: str | None = None) -> Iterator[bytes]:
        """Yield the body of a response as it comes.

        Raises:
            EndpointError: If the connection breaks before the end.
            QueryTimeout: If the next part does not come in time.
        """
        try:
            yield from response.iter_content(_CHUNK)
        except (requests.RequestException, OSError) as error:
            raise self._broken(error, query) from self.cause(error)
        finally:
            response.close()

    def text(self, response: requests.Response) -> str:
        """Read the body of a response as text."""
        return b"".join(self.chunks(response)).decode("utf-8", "replace")

    def close(self) -> None:
        """Close the connections."""
        self.session.close()

    def _broken(self, error: Exception, query: str | None) -> StoreError:
        text = self._plain(str(error))
        if isinstance(error, requests.exceptions.SSLError):
            return EndpointError(
                "The server's TLS certificate cannot be trusted.",
                endpoint=self.endpoint,
                hint="Name the authority that signed it with Access(verify=FILE) or MRAG_STORE_CA, "
                "or mend the certificate.",
            )
        if isinstance(error, requests.exceptions.ReadTimeout) or "timed out" in text.lower().replace(
            "connect timed", ""
        ):
            return QueryTimeout(
                "The server gave no answer in time.",
                endpoint=self.endpoint,
                query=query,
                hint="Narrow the query, allow more seconds, or look at the server's load.",
            )
        if isinstance(error, requests.exceptions.ConnectTimeout):
            return self._unreachable("does not answer")
        if isinstance(error, requests.exceptions.ChunkedEncodingError) or "IncompleteRead" in text:
            return self.incomplete("the connection broke off", query)
        if isinstance(error, requests.exceptions.ConnectionError):
            refused = "refused" in text or "resolve" in text or "Errno" in text
            return self._unreachable("cannot be reached" if refused else "closed the connection")
        return EndpointError(
            f"The request failed: {text[:_MESSAGE]}.", endpoint=self.endpoint, hint="Check the URL."
        )

    def _plain(self, text: str) -> str:
        """Return a text of the server or the client without what logs in."""
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        return redact(text)

    def cause(self, error: BaseException) -> BaseException:
        """Return an error to chain; where the given one tells a login, in what it came from too, a plain one.

        A traceback prints all of them, and those of the client hold the URL.
        """
        one: BaseException | None = error
        while one is not None:
            if self._plain(str(one)) != str(one):
                return requests.RequestException(self._plain(str(error)))
            one = one.__cause__ or one.__context__
        return error

    def _message(self, response: requests.Response) -> str:
        try:
            body = next(response.iter_content(4096), b"").decode("utf-8", "replace")
        except (requests.RequestException, OSError):
            body = ""
        finally:
            response.close()
        return self._plain(" ".join(body.split()))[:_MESSAGE]

    def _unreachable(self, what: str) -> EndpointError:
        return EndpointError(
            f"The server {what}.",
            endpoint=self.endpoint,
            hint="Is it running, and are host and port right? `mrag doctor URL` looks at it.",
        )

    def incomplete(self, why: str, query: str | None = None) -> EndpointError:
        """Return the error for an answer that is not whole."""
        return EndpointError(
            f"The server's answer is not complete: {self._plain(why)}. Nothing of it is used.",
            endpoint=self.endpoint,
            query=query,
            hint="Narrow the query, or raise the server's limit.",
        )

    def _refused(self, status: int, text: str, query: str | None) -> StoreError:
        message = f" It says: {text}" if text else ""
        where: Any = {"endpoint": self.endpoint, "query": query}
        if status in (401, 403):
            login = "is not enough" if self.session.auth is not None else "is needed"
            return EndpointError(
                f"A login {login} for this ({status}).{message}",
                **where,
                hint="Set MRAG_STORE_USER and MRAG_STORE_PASSWORD, or MRAG_STORE_TOKEN.",
            )
        if status in (404, 405, 410):
            return EndpointError(
                f"There is no such repository, dataset or path ({status}).{message}",
                **where,
                hint="Check the end of the URL; `mrag doctor URL` looks at the server.",
            )
        if _says_timeout(text) or status == 408:
            return QueryTimeout(
                f"The server ended the query at its time limit ({status}).{message}",
                **where,
                hint="Narrow the query, or raise the server's limit.",
            )
        if status in (400, 413, 414, 422) and query is not None:
            return QueryRefused(f"The server refuses the query ({status}).{message}", **where)
        kind = "failed inside" if status >= 500 else "refuses"
        found = EndpointError(
            f"The server {kind} ({status}).{message}", **where, hint="See the server's log."
        )
        found.status = status
        return found


def upload(stream: Iterator[bytes]) -> IO[bytes]:
    """Return a body that requests sends in chunks; an iterator is all that it needs."""
    return stream  # type: ignore[return-value]


def _transient(error: Exception) -> bool:
    if isinstance(error, requests.exceptions.SSLError | requests.exceptions.ReadTimeout):
        return False
    return isinstance(error, requests.exceptions.ConnectionError)


def _says_timeout(text: str) -> bool:
    low = text.lower()
    return any(mark in low for mark in _TIMEOUTS)
