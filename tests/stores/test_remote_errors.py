"""Servers that misbehave: each way is one typed error that names the endpoint; nothing is half-written."""

from __future__ import annotations

import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import mrag
from mrag.errors import EndpointError, LoadError, QueryRefused, QueryTimeout
from mrag.stores.base import Dataset, Limits
from mrag.stores.http import Access
from mrag.stores.sparql import DEFAULT, Paths, SparqlStore
from mrag.stores.virtuoso import VirtuosoStore
from tests.servers import Quiet, answering, free_port, oxigraph_server

D = Dataset((DEFAULT,))
JSON = "application/sparql-results+json"
ROW = b'{"head":{"vars":["x"]},"results":{"bindings":[{"x":{"type":"uri","value":"urn:a"}}]}}'

Answer = Callable[[Quiet], None]


@contextmanager
def server(answer: Answer, *, certificate: tuple[Path, Path] | None = None) -> Iterator[str]:
    """A loopback server that answers each request by `answer`."""

    class Handler(Quiet):
        protocol_version = "HTTP/1.1"

        def respond(self) -> None:
            self.body()
            answer(self)

        do_GET = do_POST = do_PUT = do_DELETE = respond

    with answering(Handler, certificate) as at:
        yield f"{'http' if certificate is None else 'https'}://{at}/sparql"


def reply(status: int, body: bytes, media: str = JSON, **headers: str) -> Answer:
    return lambda handler: handler.answer(status, body, media, **headers)


def store(url: str, **access: object) -> SparqlStore:
    fast = Access(**{"connect_seconds": 2.0, "read_seconds": 2.0, "retries": 1, **access})  # type: ignore[arg-type]
    return SparqlStore(f"sparql:{url}", Paths(url, url, url), fast)


def rows(url: str, **access: object) -> int:
    with store(url, **access) as opened:
        return len(opened.select("SELECT ?x { ?x ?y ?z }", D))


def test_connection_refused() -> None:
    url = f"http://127.0.0.1:{free_port()}/sparql"
    with pytest.raises(EndpointError, match="cannot be reached") as caught:
        rows(url)
    assert url in str(caught.value) and "doctor" in str(caught.value)


@pytest.mark.parametrize(
    "status,body,kind,words",
    [
        (404, b"Unknown repository: x", EndpointError, "no such repository"),
        (401, b"", EndpointError, "MRAG_STORE_USER"),
        (403, b"", EndpointError, "login"),
        (400, b"MALFORMED QUERY: line 1", QueryRefused, "MALFORMED"),
        (500, b"java.lang.NullPointerException", EndpointError, "NullPointer"),
        (503, b"Query timed out", QueryTimeout, "time limit"),
        (503, b"busy", EndpointError, "busy"),
    ],
)
def test_status_codes(status: int, body: bytes, kind: type[Exception], words: str) -> None:
    with server(reply(status, body, "text/plain")) as url, pytest.raises(kind, match=words) as caught:
        rows(url)
    assert url in str(caught.value)


def test_transient_errors_are_tried_again_and_others_not() -> None:
    seen: list[int] = []

    def answer(handler: Quiet) -> None:
        seen.append(1)
        (reply(503, b"starting") if len(seen) == 1 else reply(200, ROW))(handler)

    with server(answer) as url:
        assert rows(url) == 1
        assert len(seen) == 2
    seen.clear()
    with server(lambda h: (seen.append(1), reply(500, b"no")(h))[0]) as url, pytest.raises(EndpointError):
        rows(url)
    assert len(seen) == 1


def test_an_update_is_never_sent_twice() -> None:
    seen: list[int] = []
    busy = server(lambda h: (seen.append(1), reply(503, b"busy")(h))[0])
    with busy as url, store(url) as opened, pytest.raises(EndpointError):
        opened.update("INSERT DATA { <urn:a> <urn:b> <urn:c> }")
    assert len(seen) == 1


def test_a_slow_server() -> None:
    wait = threading.Event()
    with server(lambda h: wait.wait(5) and None) as url:
        with pytest.raises(QueryTimeout) as caught:
            rows(url, read_seconds=0.3)
        assert url in str(caught.value)
        with store(url) as opened, pytest.raises(QueryTimeout):
            opened.bounded("SELECT * { ?s ?p ?o }", D, Limits(seconds=0.2))
        wait.set()


def test_a_stream_that_closes_half_way() -> None:
    def answer(handler: Quiet) -> None:
        handler.answer(200, ROW[:60], JSON, **{"Content-Length": str(len(ROW) * 2)})
        handler.close_connection = True

    with server(answer) as url, pytest.raises(EndpointError, match="not complete"):
        rows(url)


@pytest.mark.parametrize(
    "body",
    [
        ROW[:-3],
        ROW[:-2] + b"\n##  Query cancelled due to timeout during execution   ##",
        ROW[:70] + b"The SPARQL operation has been cancelled",
        ROW + b" and more",
        b"",
        b"<html>proxy</html>",
        b'{"head":{}}',
    ],
)
def test_an_answer_cut_off_under_200_is_no_answer(body: bytes) -> None:
    with server(reply(200, body)) as url, pytest.raises(EndpointError, match="not complete"):
        rows(url)


@pytest.mark.parametrize(
    "body",
    [
        b"<urn:a> <urn:b> <urn:c> .\n##  Query cancelled due to timeout  ##\n",
        b'<urn:a> <urn:b> <urn:c> .\n<urn:a> <urn:b> "cut',
        b"<urn:a> <urn:b> <urn:c> .\nThe SPARQL operation has been cancelled",
    ],
)
def test_triples_cut_off_are_no_answer(body: bytes) -> None:
    cut = server(reply(200, body, "application/n-triples"))
    with cut as url, store(url) as opened, pytest.raises(EndpointError, match="not complete"):
        list(opened.construct("CONSTRUCT WHERE { ?s ?p ?o }", D))


@pytest.mark.parametrize(
    ("header", "value", "kind"),
    [("X-SPARQL-MaxRows", "10000", EndpointError), ("X-SQL-State", "S1TAT", QueryTimeout)],
)
def test_virtuoso_tells_in_headers(header: str, value: str, kind: type[Exception]) -> None:
    with server(reply(200, ROW, **{header: value})) as url:
        opened = VirtuosoStore(f"virtuoso:{url}", url)
        with pytest.raises(kind, match="used"):
            opened.select("SELECT ?x { ?x ?y ?z }", D)
        opened.close()


def certificate(folder: Path) -> tuple[Path, Path]:
    if shutil.which("openssl") is None:
        pytest.skip("openssl, which makes the certificate, is not installed")
    key, cert = folder / "key.pem", folder / "cert.pem"
    command = (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=127.0.0.1"
    )
    command += f" -addext subjectAltName=IP:127.0.0.1 -keyout {key} -out {cert}"
    subprocess.run(command.split(), check=True, capture_output=True)
    return cert, key


def test_an_unknown_certificate_is_refused_and_a_known_one_trusted(tmp_path: Path) -> None:
    pair = certificate(tmp_path)
    with server(reply(200, ROW), certificate=pair) as url:
        with pytest.raises(EndpointError, match="certificate") as caught:
            rows(url)
        assert "MRAG_STORE_CA" in str(caught.value)
        assert rows(url, verify=str(pair[0])) == 1


def test_logins_are_sent_and_never_shown() -> None:
    seen: list[str | None] = []

    def answer(handler: Quiet) -> None:
        seen.append(handler.headers.get("Authorization"))
        reply(401, b"no")(handler)

    with server(answer) as url:
        for access in ({"user": "me", "password": "s3cret"}, {"token": "t0ken"}):
            with pytest.raises(EndpointError) as caught:
                rows(url, **access)
            assert "s3cret" not in str(caught.value) and "t0ken" not in str(caught.value)
    assert seen == ["Basic bWU6czNjcmV0", "Bearer t0ken"]
    with pytest.raises(EndpointError) as caught:
        mrag.connect(f"sparql:http://me:s3cret@127.0.0.1:{free_port()}/sparql")
    assert "s3cret" not in str(caught.value)
    assert "s3cret" not in repr(Access(user="me", password="s3cret"))


def test_a_read_only_endpoint_can_be_asked_but_not_written(tmp_path: Path) -> None:
    with oxigraph_server(tmp_path, memory=True) as url:
        with mrag.connect(url) as kg:
            kg.store.update("INSERT DATA { <urn:a> <urn:p> 'x' }")
        with mrag.connect(url.partition("?")[0]) as kg:
            assert kg.count() == 1 and kg.as_found
            assert kg.query("SELECT ?o { ?s ?p ?o }").rows  # type: ignore[union-attr]
            (tmp_path / "a.nt").write_text("<urn:a> <urn:p> <urn:b> .\n")
            with pytest.raises(EndpointError, match="nothing can be written"):
                kg.load([tmp_path / "a.nt"])


def test_a_server_that_goes_away_in_a_load_leaves_no_record(tmp_path: Path) -> None:
    with oxigraph_server(tmp_path, memory=True) as url:
        (tmp_path / "bad.nt").write_text("<urn:a> <urn:p> <urn:b> .\n" * 20_000 + "no\n")
        with mrag.connect(url) as kg:
            with pytest.raises(LoadError):
                kg.load([tmp_path / "bad.nt"])
            assert kg.count("all") == 0 and kg.revision == 0
        with mrag.connect(url) as kg:
            assert kg.recovered is None and kg.count("all") == 0


def test_an_update_is_sent_again_after_a_deadlock_only() -> None:
    said = [b"Virtuoso 40001 Error SR172: Transaction deadlocked"] * 2
    asked: list[str] = []

    def answer(handler: Quiet) -> None:
        asked.append(handler.path)
        reply(500, said.pop())(handler) if said else reply(200, b"{}")(handler)

    with server(answer) as url, store(url) as opened:
        opened.update("INSERT DATA { GRAPH <urn:g> { <urn:a> <urn:b> <urn:c> } }")
        assert len(asked) == 3
        said.append(b"something else")
        with pytest.raises(EndpointError, match="something else"):
            opened.update("INSERT DATA { GRAPH <urn:g> { <urn:a> <urn:b> <urn:c> } }")
        assert len(asked) == 4
