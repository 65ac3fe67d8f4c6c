"""HTTP to SPARQL servers: pooled sessions, results read while they arrive, files sent.

Results are asked for as JSON, whose end shows, and triples as N-Triples, where every line must be one
(SPARQL 1.1 Query Results JSON Format; RDF 1.1 N-Triples).
"""

from __future__ import annotations

import base64
import csv
import io
import json
import os
import re
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, quote_plus, urljoin, urlsplit

import pyoxigraph as ox
import requests
from rdflib import BNode, Literal, URIRef
from requests.adapters import HTTPAdapter
from requests.auth import HTTPBasicAuth, HTTPDigestAuth

from mrag._patterns import compile_late, compile_pattern
from mrag.errors import ConfigError, EndpointError, LoadError, QueryRefused, QueryTimeout, StoreError
from mrag.loaders._records import JsonStream
from mrag.loaders.rdf import Progress, Source
from mrag.rdf.terms import XSD, Term, Triple, from_ox, literal
from mrag.redaction import HIDDEN, hide_in_logs, names_secret, redact, secrets_in
from mrag.stores.base import Row

_SHORTEST = 4  # Characters of a secret from which on it is sought in messages; shorter ones are in every word


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
        certificate: Path of the client's own certificate, or of it and of its key, in PEM.
        proxy: URL of an HTTP proxy to go through.
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
    certificate: str | tuple[str, str] | None = None
    proxy: str | None = field(default=None, repr=False)
    connect_seconds: float = 5.0
    read_seconds: float = 300.0
    retries: int = 3

    def __post_init__(self) -> None:
        if any("\n" in f"{k}{v}" or "\r" in f"{k}{v}" for k, v in self.headers.items()):
            raise ConfigError("A header may not hold a line break.")


def is_address(url: str) -> bool:
    """Return whether a URL is one of HTTP with a host, and a port that can be."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def host(url: str) -> str:
    """Return scheme, host and port of a URL."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def secrets_of(access: Access, places: Sequence[str]) -> list[str]:
    """Return what a message may not hold, longest first, also as URLs and headers spell it."""
    secrets = {access.password, access.token, *(value or name for name, value in access.params.items())}
    secrets |= {value for name, value in access.headers.items() if names_secret(name)}
    if access.user is not None:
        login = f"{access.user}:{access.password or ''}".encode()
        secrets.add(base64.b64encode(login).decode())
        if not access.password:
            secrets.add(access.user)
    for place in (*places, access.proxy or ""):
        secrets |= secrets_in(place)
    spelt = {form for s in secrets if s for form in (s, quote(s, safe=""), quote_plus(s))}
    return sorted((s for s in spelt if len(s) >= _SHORTEST), key=lambda s: (-len(s), s))


def access_from_env(given: Access | None = None) -> Access:
    """Return the login that the environment names, where none is given.

    `MRAG_STORE_USER`, `MRAG_STORE_PASSWORD`, `MRAG_STORE_TOKEN`, with a word such as `GDB` before it where
    it is no bearer token, `MRAG_STORE_CA` for the file of an authority to trust, `MRAG_STORE_CERT` and, where
    it stands apart, `MRAG_STORE_KEY` for the client's own certificate, and `MRAG_STORE_PROXY` for an HTTP
    proxy; those of other programs are not used.
    """
    if given is not None:
        return given
    files = tuple(os.environ.get(f"MRAG_STORE_{name}") or "" for name in ("CA", "CERT", "KEY"))
    for name in filter(None, files):
        if not Path(name).is_file():
            hint = "Check MRAG_STORE_CA, MRAG_STORE_CERT and MRAG_STORE_KEY."
            raise LoadError("There is no such file of certificates.", file=name, hint=hint)
    ca, own, key = files
    kind, _, token = (os.environ.get("MRAG_STORE_TOKEN") or "").strip().rpartition(" ")
    return Access(
        user=os.environ.get("MRAG_STORE_USER"), password=os.environ.get("MRAG_STORE_PASSWORD"),
        token=token or None, token_kind=kind or "Bearer", verify=ca or True,
        certificate=(own, key) if key else own or None, proxy=os.environ.get("MRAG_STORE_PROXY"),
    )  # fmt: skip


_TRANSIENT = (429, 502, 503, 504)
_TIMEOUTS = compile_late(
    "timed out|timeout|time limit|took too long|deadline|has been cancelled|estimated execution time", re.I
)
_CHUNK = 1 << 16
_PAUSE, _UPLOAD = 300.0, 3600.0
"""Seconds that a server may pause in taking a load in, and may need to finish it."""
_GRACE = 0.5  # Seconds that a server may need to say that a query's time is over
_PATIENCE, _HOPS = 30.0, 5
"""Seconds of a pause that a server may ask for, and how often it may send a request elsewhere."""
_MESSAGE = 400
_DEADLOCKS = 5  # How often a request is repeated that met another in a deadlock


class Http:
    """A session to one server."""

    def __init__(
        self, endpoint: str, access: Access, *, digest: bool = False, places: Sequence[str] = ()
    ) -> None:
        self.endpoint = endpoint
        self.access = access
        self.server = ""
        self.session = requests.Session()
        self.session.trust_env = False  # no proxies or logins that the caller has not named
        self.session.verify, self.session.cert = access.verify, access.certificate
        self.session.headers.update({"User-Agent": "mrag", **access.headers})
        self.session.params = dict(access.params)
        if access.proxy:
            self.session.proxies = {"http": access.proxy, "https": access.proxy}
        if access.token:
            self.session.headers["Authorization"] = f"{access.token_kind} {access.token}"
        elif access.user is not None:
            self.session.auth = (HTTPDigestAuth if digest else HTTPBasicAuth)(
                access.user, access.password or ""
            )
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
        """Send a request and return the response, its body not read yet."""
        wait = self.access.read_seconds if seconds is None else seconds
        # The first of the two also bounds each piece that is sent.
        limits = (_PAUSE, _UPLOAD) if upload else (self.access.connect_seconds, wait + _GRACE)
        attempt = hops = 0
        while True:
            began = time.monotonic()
            try:
                response = self.session.request(
                    method, url, params=params, data=data, headers=dict(headers or {}), files=files,
                    timeout=limits, stream=True, allow_redirects=False,
                )  # fmt: skip
            except (requests.RequestException, OSError) as error:
                problem = self._breakage(error, query)
                transient = isinstance(error, requests.exceptions.ConnectionError) and not isinstance(
                    error, requests.exceptions.SSLError
                )
                if not (repeat and transient and attempt < self.access.retries):
                    raise problem from self.cause(error)
            else:
                self.server = response.headers.get("Server", self.server)
                if response.status_code in ok:
                    return response
                text = self._message(response)
                if response.is_redirect and not (upload and not isinstance(data, bytes)):
                    method, url = self._follow(method, url, response, hops := hops + 1)
                    if method == "GET":
                        params = data = None
                    continue
                if response.status_code == 401 and self._asks_for_digest(response):
                    self.session.auth = HTTPDigestAuth(str(self.access.user), self.access.password or "")
                    continue
                took = time.monotonic() - began
                if seconds is not None and response.status_code >= 500 and took >= seconds:
                    raise self.late(query, text)
                # The server took back what it had done, so that any request but a stream can be sent again.
                deadlock = "deadlock" in text.lower() and (repeat or not upload)
                busy = repeat and response.status_code in _TRANSIENT and not _says_timeout(text)
                pause = response.headers.get("Retry-After", "")
                later = float(pause) if pause.isdigit() and busy else 0.0
                if later > _PATIENCE:
                    text = f"{text} (It asks for a pause of {later:.0f} s.)".strip()
                if later > _PATIENCE or attempt >= (
                    _DEADLOCKS if deadlock else self.access.retries if busy else 0
                ):
                    raise self._refusal(response.status_code, text, query)
                time.sleep(later)
            attempt += 1
            time.sleep(0.1 * 2**attempt)

    def _follow(self, method: str, url: str, response: requests.Response, hops: int) -> tuple[str, str]:
        """Return how and where a request goes that the server sends to another of its places."""
        there = urljoin(url, response.headers["Location"])
        if host(there) != host(url) or hops > _HOPS:
            what = f"The server sends this request to {self._plain(there)} ({response.status_code})."
            hint = "If that is the store, give its address; a login page tells that a login is needed."
            raise EndpointError(what, endpoint=self.endpoint, hint=hint)
        return ("GET" if response.status_code == 303 and method != "HEAD" else method), there

    def _asks_for_digest(self, response: requests.Response) -> bool:
        wanted = response.headers.get("WWW-Authenticate", "").lower().startswith("digest")
        return wanted and isinstance(self.session.auth, HTTPBasicAuth)

    def chunks(self, response: requests.Response, query: str | None = None) -> Iterator[bytes]:
        """Yield the body of a response as it comes."""
        try:
            yield from response.iter_content(_CHUNK)
        except (requests.RequestException, OSError) as error:
            raise self._breakage(error, query) from self.cause(error)
        finally:
            response.close()

    def text(self, response: requests.Response) -> str:
        """Read the body of a response as text."""
        return b"".join(self.chunks(response)).decode("utf-8", "replace")

    def close(self) -> None:
        """Close the connections."""
        self.session.close()

    def _breakage(self, error: Exception, query: str | None) -> StoreError:
        text, kinds = self._plain(str(error)), requests.exceptions
        if isinstance(error, kinds.SSLError) and ("WRONG_VERSION" in text or "record layer" in text):
            what = "The server speaks no TLS at this port."
            hint = "Write http:// in place of https://, or name the port of https."
            return EndpointError(what, endpoint=self.endpoint, hint=hint)
        if isinstance(error, kinds.SSLError) and ("CERTIFICATE_REQUIRED" in text or "EOF" in text):
            what = "The server ended the TLS connection; it may want a certificate of the client."
            hint = "Name it with Access(certificate=FILE) or MRAG_STORE_CERT, its key with MRAG_STORE_KEY."
            return EndpointError(what, endpoint=self.endpoint, hint=hint)
        if isinstance(error, kinds.SSLError):
            what = "The server's TLS certificate cannot be trusted."
            hint = "Name the authority that signed it with Access(verify=FILE) or MRAG_STORE_CA, or mend it."
            return EndpointError(what, endpoint=self.endpoint, hint=hint)
        late = "timed out" in text.lower().replace("connect timed", "")
        if late or isinstance(error, kinds.ReadTimeout):
            what = "The server gave no answer in time."
            hint = "Narrow the query, allow more seconds, or look at the server's load."
            return QueryTimeout(what, endpoint=self.endpoint, query=query, hint=hint)
        if isinstance(error, kinds.ConnectTimeout):
            return self._unreachable("does not answer")
        if isinstance(error, kinds.ChunkedEncodingError) or "IncompleteRead" in text:
            return self.incomplete("the connection broke off", query)
        if isinstance(error, kinds.ConnectionError):
            refused = "refused" in text or "resolve" in text or "Errno" in text
            return self._unreachable("cannot be reached" if refused else "closed the connection")
        what = f"The request failed: {text[:_MESSAGE]}."
        return EndpointError(what, endpoint=self.endpoint, hint="Check the URL.")

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
        report = response.headers.get("Content-Type", "").startswith(_REPORT)
        try:
            pieces = islice(response.iter_content(4096), 256 if report else 1)
            body = b"".join(pieces).decode("utf-8", "replace")
        except (requests.RequestException, OSError):
            body = ""
        finally:
            response.close()
        if report and (problems := violations(body)):
            return self._plain(problems)
        return self._plain(" ".join(body.split()))[:_MESSAGE]

    def _unreachable(self, what: str) -> EndpointError:
        hint = "Is it running, and are host and port right? `mrag doctor URL` looks at it."
        return EndpointError(f"The server {what}.", endpoint=self.endpoint, hint=hint)

    def no_result(self, said: str, query: str | None) -> EndpointError:
        """Return the error for a text that is no result at all: a login's page, a gateway's, an error's."""
        plain = self._plain(_text_of(said))[:_MESSAGE]
        what = "The server's answer is no result, under the status of success. "
        what += f"It says: {plain}" if plain else "It is empty."
        hint = "Is this the address of a SPARQL endpoint? A page may mean that a login is needed."
        return EndpointError(what, endpoint=self.endpoint, query=query, hint=hint)

    def incomplete(self, why: str, query: str | None = None) -> EndpointError:
        """Return the error for an answer that is not whole."""
        what = f"The server's answer is not complete: {self._plain(why)}. Nothing of it is used."
        hint = "Narrow the query, or raise the server's limit."
        return EndpointError(what, endpoint=self.endpoint, query=query, hint=hint)

    def late(self, query: str | None, text: str = "") -> QueryTimeout:
        """Return the error for a query that the server ended when its time was over, by whatever status."""
        what = "The server ended the query at its time limit." + (f" It says: {text}" if text else "")
        hint = "Narrow the query, or allow more seconds."
        return QueryTimeout(what, endpoint=self.endpoint, query=query, hint=hint)

    def _refusal(self, status: int, text: str, query: str | None) -> StoreError:
        """Return the error for a status that is none of success."""
        kind: type[StoreError] = EndpointError
        if status in (401, 403):
            given = self.access.token or self.access.user is not None
            what = f"A login {'is not enough' if given else 'is needed'} for this"
            hint = "Set MRAG_STORE_USER and MRAG_STORE_PASSWORD, or MRAG_STORE_TOKEN."
        elif status in (404, 405, 410):
            what = "There is no such repository, dataset or path"
            hint = "Check the end of the URL; `mrag doctor URL` looks at the server."
        elif status == 409 and "\n" in text:
            what, hint = (
                "The server's shapes refuse this",
                "Nothing was written. Mend the data or the shapes.",
            )
        elif _says_timeout(text) or status == 408:
            kind, what = QueryTimeout, "The server ended the query at its time limit"
            hint = "Narrow the query, or raise the server's limit."
        elif status in (400, 413, 414, 422) and query is not None:
            kind, what, hint = QueryRefused, "The server refuses the query", ""
        else:
            what = f"The server {'failed inside' if status >= 500 else 'refuses'}"
            hint = "See the server's log."
        message = f"{what} ({status})." + (f" It says: {text}" if text else "")
        error = kind(message, endpoint=self.endpoint, query=query, hint=hint or None)
        if isinstance(error, EndpointError):
            error.status = status
        return error


def violations(report: str) -> str:
    r"""Return what the first result of a SHACL report in N-Quads says, and in a second line where.

    Example:
        >>> print(violations(f'''_:r <{_SHACL}resultMessage> "No age." .
        ... _:r <{_SHACL}focusNode> <urn:a> .
        ... _:r <{_SHACL}resultPath> <urn:p> .'''))
        No age.
        focus node <urn:a>, path <urn:p>
    """
    results: dict[str, dict[str, str]] = {}
    for line in report.splitlines():
        try:
            quads = list(ox.parse(line, ox.RdfFormat.N_QUADS, lenient=True))
        except SyntaxError:
            continue  # the end of what was read
        for quad in quads:
            part = quad.predicate.value.removeprefix(_SHACL)
            if part in ("resultMessage", "focusNode", "resultPath"):
                said = quad.object.value if part == "resultMessage" else str(quad.object)
                results.setdefault(str(quad.subject), {}).setdefault(part, said[:_MESSAGE])
    if not results:
        return ""
    first = next(iter(results.values()))
    where = [
        f"{word} {first[part]}"
        for part, word in (("focusNode", "focus node"), ("resultPath", "path"))
        if part in first
    ]
    if len(results) > 1:
        where.append(f"and {len(results) - 1:,} more")
    return f"{' '.join(first.get('resultMessage', 'no message').split())}\n{', '.join(where)}"


def _says_timeout(text: str) -> bool:
    return bool(_TIMEOUTS.search(text))


NT, TURTLE = "application/n-triples", "text/turtle"
_REPORT = "application/shacl-validation-report"
_SHACL = "http://www.w3.org/ns/shacl#"
_TAGS = compile_late(r"<[^<>]*>")
_CODE = compile_late(r"<(?:script|style)\b", re.I)
_CODE_END = compile_late(r"</(?:script|style)>", re.I)


def _text_of(page: str) -> str:
    """Return what a page says, without its scripts and styles."""
    first, *rest = _CODE.split(page)
    said = " ".join((first, *(_CODE_END.split(part, maxsplit=1)[-1] for part in rest)))
    return " ".join(_TAGS.sub(" ", said).split())


class Incomplete(Exception):
    """The text ended, or broke, before the answer did."""


class NoResult(Exception):
    """The text is something else than a result."""


class JsonResult:
    """A SPARQL JSON result, read piece by piece."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        coming = iter(chunks)

        def read(wanted: int) -> bytes:
            data = bytearray()
            for chunk in coming:
                data += chunk
                if len(data) >= max(_CHUNK, wanted):
                    break
            return bytes(data)

        first = next((chunk for chunk in coming if chunk.strip(b" \r\n\t\xef\xbb\xbf")), b"")
        if not first.lstrip(b" \r\n\t\xef\xbb\xbf").startswith(b"{"):
            raise NoResult(first.decode("utf-8", "replace"))
        coming = chain([first], coming)
        self._text = JsonStream(read, Incomplete, strict=False)
        self.boolean: bool | None = None
        self.variables: tuple[str, ...] = ()
        self._bindings = self._head()
        if "__ASK_RETVAL" in self.variables:
            # Virtuoso answers ASK with a row for true and none for false.
            self.boolean = any(row[0] is not None and int(str(row[0])) for row in self)

    def __iter__(self) -> Iterator[Row]:
        if self._bindings is None:
            return
        early = self._bindings if isinstance(self._bindings, list) else None
        for binding in self._text.items() if early is None else early:
            cells = (binding.get(name) for name in self.variables)
            yield tuple(None if cell is None else cell_term(cell) for cell in cells)
        if early is None:
            self._rest()

    def _head(self) -> list[dict[str, Any]] | bool | None:
        """Read up to the first row; rows that stand before their columns are read whole."""
        text = self._text
        text.expect("{")
        early: list[dict[str, Any]] | None = None
        others: dict[str, Any] = {}
        while True:
            key = text.value()
            text.expect(":")
            if key == "head":
                head = text.value()
                self.variables = tuple(head.get("vars", ()))
            elif key == "boolean":
                self.boolean = bool(text.value())
            elif key == "results" and self.variables:
                text.expect("{")
                while text.value() != "bindings":
                    text.expect(":")
                    text.value()
                    text.expect(",")
                text.expect(":")
                return True
            elif key == "results":
                early = text.value().get("bindings", [])
            else:
                others[key] = text.value()
            if text.accept("}"):
                self._end()
                if others and self.boolean is None and early is None:
                    raise NoResult(json.dumps(others, ensure_ascii=False))
                if self.boolean is None and early is None and not self.variables:
                    raise Incomplete("it is not a SPARQL result")
                return early
            text.expect(",")

    def _rest(self) -> None:
        """Read to the end of the results and of the answer, so that a missing brace shows."""
        text = self._text
        for _ in range(2):
            while text.accept(","):
                text.value()
                text.expect(":")
                text.value()
            text.expect("}")
        self._end()

    def _end(self) -> None:
        if not self._text.blank():
            raise Incomplete(f"{self._text.peek()!r} follows it")


_XML: Final = (ox.QueryResultsFormat.XML, rb"sparql>\s*\Z")
_TSV: Final = (ox.QueryResultsFormat.TSV, rb"\n\Z")
_CSV: Final = (None, rb"\n\Z")
_OTHERS: Final = dict[str, tuple[ox.QueryResultsFormat | None, bytes]]({
    "application/sparql-results+xml": _XML, "application/xml": _XML, "text/xml": _XML,
    "text/tab-separated-values": _TSV, "text/csv": _CSV,
})  # fmt: skip
OTHERS: Final = ", ".join(f"{kind};q=0.{9 - at}" for at, kind in enumerate(_OTHERS))
"""What is asked for where a server has no JSON."""
_IS_IRI: Final = compile_late(r"[A-Za-z][A-Za-z0-9+.\-]*:[^\s<>\"{}|\\^`]+")


class _Body(io.RawIOBase):
    """An answer that is read as a file; `tail` is the end of what has been read."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks, self._rest, self.tail = iter(chunks), b"", b""

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int:
        data = self._rest or next(filter(None, self._chunks), b"")
        part, self._rest = data[: len(into)], data[len(into) :]
        into[: len(part)] = part
        self.tail = (self.tail + part)[-_MESSAGE:]
        return len(part)


class OtherResult:
    """A SPARQL result in XML, TSV or CSV, read piece by piece; `note` says what cannot be told by it."""

    def __init__(self, chunks: Iterable[bytes], media: str) -> None:
        self._body, (kind, self._end) = _Body(chunks), _OTHERS[media]
        self.note = ""
        if _OTHERS[media] is not _XML:
            self.note = f"Results come as {media} alone: that rows are missing at the end does not show"
            self.note += "." if kind else "; IRIs are known by their looks, numbers and languages not at all."
        file = io.BufferedReader(self._body)
        self.boolean: bool | None = None
        self.variables: tuple[str, ...] = ()
        self._rows: Iterator[Row] = iter(())
        try:
            if kind is None:
                lines = csv.reader(io.TextIOWrapper(file, "utf-8-sig", newline=""), strict=True)
                self.variables = tuple(next(lines, ("",)))
                if not all(map(str.isidentifier, self.variables)):
                    raise SyntaxError
                self._rows = (tuple(map(_guess, line or ("",))) for line in lines)
                return
            parsed = ox.parse_query_results(file, kind)
        except (SyntaxError, csv.Error):
            raise NoResult(self._body.tail.decode("utf-8", "replace")) from None
        if isinstance(parsed, ox.QueryBoolean):
            file.read()
            self.boolean = bool(parsed)
            self._check()
            return
        self.variables = tuple(v.value for v in parsed.variables)
        self._rows = (tuple(None if t is None else from_ox(t) for t in row) for row in parsed)

    def __iter__(self) -> Iterator[Row]:
        try:
            for row in self._rows:
                if len(row) != len(self.variables):
                    raise Incomplete("a row has another number of columns")
                yield row
        except (SyntaxError, csv.Error) as error:
            raise Incomplete(str(error)) from error
        self._check()

    def _check(self) -> None:
        if not re.search(self._end, self._body.tail):
            raise Incomplete("its end is missing")


def _guess(cell: str) -> Term | None:
    """Return what a cell of CSV may stand for."""
    if cell.startswith("_:"):
        return BNode(cell[2:])
    return URIRef(cell) if _IS_IRI.fullmatch(cell) else Literal(cell) if cell else None


Result = JsonResult | OtherResult


def result_of(response: requests.Response, chunks: Iterable[bytes]) -> Result:
    """Read a result by the media type that the server gives it, or as JSON."""
    media = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    return OtherResult(chunks, media) if media in _OTHERS else JsonResult(chunks)


def cell_term(cell: dict[str, Any]) -> Term:
    """Turn a cell of a SPARQL JSON result into a term."""
    kind, value = cell["type"], cell["value"]
    if kind == "uri":
        return URIRef(value)
    if kind == "bnode":
        # Virtuoso's name for a blank node can be used in later queries as an IRI.
        return URIRef(value) if value.startswith("nodeID://") else BNode(value)
    if kind in ("triple", "statement"):
        what = "The answer holds a triple as a value (RDF-star, RDF 1.2), which cannot be shown."
        raise QueryRefused(what, hint="Ask for its parts, with a query at the server: SUBJECT(), OBJECT().")
    if kind not in ("literal", "typed-literal"):
        raise Incomplete(f"a term of type {kind!r} is not supported")
    datatype = cell.get("datatype")
    if datatype == XSD + "boolean" and value in ("0", "1"):
        value = "true" if value == "1" else "false"
    # Some servers write en_US for en-US.
    return literal(value, (cell.get("xml:lang") or "").replace("_", "-"), datatype)


def lines_of(chunks: Iterable[bytes], media: str = NT) -> Iterator[bytes]:
    """Yield the lines of N-Triples, each a whole triple; empty ones are left out."""
    if media == NT:
        yield from _lines(chunks)
        return
    for quad in quads_of(chunks, media):
        yield f"{quad.triple} .".encode()


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for chunk in chunks:
        rest += chunk
        lines = rest.split(b"\n")
        rest = lines.pop()
        yield from _whole(lines)
    if rest.strip():
        yield from _whole([rest])


def _whole(lines: Iterable[bytes]) -> Iterator[bytes]:
    for line in lines:
        line = line.strip()
        if not line or line == b"# Empty TURTLE" or line == b"# Empty NT":
            continue
        if not (line.endswith(b".") and line[:1] in (b"<", b"_")):
            raise Incomplete(f"{line[:80].decode('utf-8', 'replace')!r} is not a triple")
        yield line


def graph_media(response: requests.Response, asked: str) -> str:
    """Return the media type in which triples come: one that was asked for, or another that is named."""
    media = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    return media if media in (TURTLE, "application/rdf+xml") else asked


def triples_of(chunks: Iterable[bytes], media: str = NT) -> Iterator[Triple]:
    """Yield the triples of N-Triples, Turtle or RDF/XML."""
    for quad in quads_of(chunks, media):
        yield Triple(from_ox(quad.subject), URIRef(quad.predicate.value), from_ox(quad.object))  # type: ignore[arg-type]


def quads_of(chunks: Iterable[bytes], media: str = NT) -> Iterator[ox.Quad]:
    """Yield the triples of N-Triples, Turtle or RDF/XML as quads."""
    kind, lines = ox.RdfFormat.N_TRIPLES, _lines(chunks)
    try:
        if media != NT:
            kind = ox.RdfFormat.from_media_type(media) or ox.RdfFormat.TURTLE
            yield from ox.parse(io.BufferedReader(_Body(chunks)), kind, lenient=True)
            return
        while part := list(islice(lines, 1000)):
            yield from ox.parse(b"\n".join(part), kind, lenient=True)
    except SyntaxError as error:
        raise Incomplete(f"it holds what is not {media}: {error.args[0]}") from error


_SENDERS = 2


def send_stream(parts: Iterator[bytes], post: Callable[[object], None]) -> None:
    """Send parts as one request."""
    failed: list[BaseException] = []

    def watched() -> Iterator[bytes]:
        # What the parser raises would come out of the HTTP client as a broken connection.
        try:
            yield from parts
        except Exception as error:
            failed.append(error)
            raise

    try:
        post(watched())
    except Exception:
        if failed:
            raise failed[0] from None
        raise


def send_parts(parts: Iterator[bytes], post: Callable[[bytes], None]) -> None:
    """Send parts as requests of their own, two at a time, while the next is being read."""
    with ThreadPoolExecutor(_SENDERS) as pool:
        sent: deque[Future[None]] = deque()
        try:
            for part in parts:
                sent.append(pool.submit(post, part))
                if len(sent) > _SENDERS:
                    sent.popleft().result()
            while sent:
                sent.popleft().result()
        except BaseException:
            for waiting in sent:
                waiting.cancel()
            raise


_FILE_CHUNK: Final = 1 << 20
_IN_IRI: Final = rb"(?:[!$&-;=?@A-Z_a-z~]++|%[0-9A-Fa-f]{2})*+"
_IRI: Final = rb"<(?:https?://[A-Za-z0-9.\-]++(?=[/?#>])|urn:[A-Za-z0-9\-]++:)%b(?:#%b)?+>" % (
    _IN_IRI,
    _IN_IRI,
)
_SHOWN: Final = rb'[^"\\\0-\x1f\x7f]*+'
_KIND: Final = rb"(?:@[a-z]{2}(?:-[a-z]{2})?+|\^\^%b)?+" % _IRI
_TEXT: Final = rb'"%b(?:\\[nr"\\]%b)*+"%b' % (_SHOWN, _SHOWN, _KIND)
_LINES: Final = compile_pattern(rb"(?:%b %b (?:%b|%b) \.\n)*+" % (_IRI, _IRI, _IRI, _TEXT))
_TYPED: Final = (b"XMLSchema#string>", b"rdf-syntax-ns#langString>", b"rdf-syntax-ns#dirLangString>")
"""Datatypes that stores of RDF 1.0 tell from none."""


class NotVerbatim(Exception):
    """A file holds what has to be read by the parser."""


def may_be_verbatim(sources: Sequence[Source]) -> bool:
    """Return whether files are such that their lines are worth looking at."""
    return all(source.format == ox.RdfFormat.N_TRIPLES and not source.syntax for source in sources)


def verbatim(
    sources: Sequence[Source], on_progress: Progress | None = None, *, part: int, strict: bool = False
) -> Iterator[bytes]:
    r"""Yield whole lines of N-Triples files as they stand."""
    total = sum(source.size() for source in sources)
    before = 0
    for source in sources:
        done = 0

        def note(count: int, before: int = before) -> None:
            nonlocal done
            done = count
            if on_progress is not None:
                on_progress(before + count, total)

        with source.checked(note) as stream:
            kept, empty = bytearray(), True
            while data := stream.read(_FILE_CHUNK):
                kept += data
                if len(kept) >= part and (end := kept.rfind(b"\n") + 1):
                    yield _look_at(bytes(memoryview(kept)[:end]), strict)
                    kept, empty = kept[end:], False
            if kept:
                yield _look_at(bytes(kept) if kept.endswith(b"\n") else bytes(kept) + b"\n", strict)
            elif empty:
                raise NotVerbatim
        before += source.size()


def _look_at(lines: bytes, strict: bool) -> bytes:
    if strict:
        # What begins otherwise may be a comment, or nothing.
        if not lines.startswith(b"<") or b"_:" in lines:
            raise NotVerbatim
        return lines
    try:
        lines.decode()
    except UnicodeDecodeError:
        raise NotVerbatim from None
    if _LINES.fullmatch(lines) is None or any(datatype in lines for datatype in _TYPED):
        raise NotVerbatim
    return lines
