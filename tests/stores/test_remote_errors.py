"""Servers that misbehave: each way is one typed error that names the endpoint; nothing is half-written."""

import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from rdflib import Literal, URIRef

import mrag
from mrag.errors import EndpointError, LoadError, QueryRefused, QueryTimeout
from mrag.stores.base import Dataset, Limits
from mrag.stores.engines import open_server
from mrag.stores.http import Access, access_from_env
from mrag.stores.sparql import DEFAULT, Paths, SparqlStore
from mrag.stores.virtuoso import VirtuosoStore
from tests.servers import Quiet, answering, free_port, oxigraph_server

D = Dataset((DEFAULT,))
JSON = "application/sparql-results+json"
ROW = b'{"head":{"vars":["x"]},"results":{"bindings":[{"x":{"type":"uri","value":"urn:a"}}]}}'
Answer = Callable[[Quiet], None]


@contextmanager
def server(
    answer: Answer, *, certificate: tuple[Path, Path] | None = None, known: Path | None = None
) -> Iterator[str]:
    """A loopback server that answers each request by `answer`, if its client is known."""

    class Handler(Quiet):
        protocol_version = "HTTP/1.1"

        def respond(self) -> None:
            self.body()
            answer(self)

        do_GET = do_POST = do_PUT = do_DELETE = respond

    with answering(Handler, certificate, known) as at:
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
        assert len(seen) == 3  # the last asks whether the server cuts answers
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
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2"
    command += f" -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 -keyout {key} -out {cert}"
    subprocess.run(command.split(), check=True, capture_output=True)
    return cert, key


def test_an_unknown_certificate_is_refused_and_a_known_one_trusted(tmp_path: Path) -> None:
    pair = certificate(tmp_path)
    with server(reply(200, ROW), certificate=pair) as url:
        with pytest.raises(EndpointError, match="certificate") as caught:
            rows(url)
        assert "MRAG_STORE_CA" in str(caught.value)
        assert rows(url, verify=str(pair[0])) == 1


def test_a_server_that_wants_a_certificate_of_the_client_gets_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = certificate(tmp_path)
    with server(reply(200, ROW), certificate=pair, known=pair[0]) as url:
        with pytest.raises(EndpointError, match=r"certificate of the client|closed the connection"):
            rows(url, verify=str(pair[0]))
        for name, path in zip(("CA", "CERT", "KEY"), (pair[0], *pair), strict=True):
            monkeypatch.setenv(f"MRAG_STORE_{name}", str(path))
        with open_server("sparql", url)[0] as opened:
            assert len(opened.select("SELECT ?x { ?x ?y ?z }", D)) == 1
    monkeypatch.setenv("MRAG_STORE_KEY", str(tmp_path / "none"))
    with pytest.raises(LoadError, match="no such file"):
        access_from_env()


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


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "It is empty"),
        (b"<html><style>p {}</style><h1>Please <b>sign in</b></h1></html>", "Please sign in"),
        (b'{"error": {"code": 7, "text": "out of credits"}}', "out of credits"),
        (b"Bad gateway", "Bad gateway"),
    ],
)
def test_what_is_no_result_is_told_in_the_server_s_words(body: bytes, words: str) -> None:
    with server(reply(200, body, "text/html")) as url, pytest.raises(EndpointError, match=words) as caught:
        rows(url)
    assert "arrow the query" not in str(caught.value)


@pytest.mark.parametrize("media", ["", "text/plain", "application/json", "text/html"])
def test_a_result_under_another_media_type_is_read(media: str) -> None:
    with server(reply(200, b"\xef\xbb\xbf" + ROW, media)) as url, store(url) as opened:
        assert len(opened.bounded("SELECT ?x { ?x ?y ?z }", D, Limits())) == 1  # type: ignore[arg-type]
        assert rows(url) == 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_request_goes_where_the_same_server_sends_it_and_nowhere_else(status: int) -> None:
    seen: list[tuple[str, str]] = []

    def answer(handler: Quiet) -> None:
        seen.append((handler.command, handler.path))
        moved = reply(status, b"", Location="/sparql/") if handler.path == "/sparql" else reply(200, ROW)
        moved(handler)

    with server(answer) as url:
        assert rows(url) == 1
        assert seen[:2] == [("POST", "/sparql"), ("GET" if status == 303 else "POST", "/sparql/")]
        away = f"http://127.0.0.1:{free_port()}/login"
        elsewhere = server(reply(status, b"", Location=away))
        with elsewhere as other, pytest.raises(EndpointError, match="login") as caught:
            rows(other)
        assert away in str(caught.value)


def test_a_server_that_sends_in_a_circle() -> None:
    with server(reply(302, b"", Location="/sparql")) as url, pytest.raises(EndpointError, match="302"):
        rows(url)


XML = b'<sparql xmlns="http://www.w3.org/2005/sparql-results#"><head><variable name="x"/></head><results>'
XML += b'<result><binding name="x"><uri>urn:a</uri></binding></result></results></sparql>'
TABLES = [
    ("application/sparql-results+xml", XML, 10), ("text/xml", XML, 10),
    ("text/tab-separated-values", b"?x\n<urn:a>\n", 1), ("text/csv", b"x\r\nurn:a\r\n", 1),
]  # fmt: skip


@pytest.mark.parametrize(("media", "body", "cut"), TABLES)
def test_results_that_are_no_json_are_read_where_a_server_has_nothing_else(
    media: str, body: bytes, cut: int, caplog: pytest.LogCaptureFixture
) -> None:
    def answer(handler: Quiet) -> None:
        (reply(200, body, media) if media in handler.headers["Accept"] else reply(406, b"no"))(handler)

    with server(answer) as url, store(url) as opened:
        for _ in range(2):
            assert opened.select("SELECT ?x { ?x ?y ?z }", D).rows == [(URIRef("urn:a"),)]
        notes = [record.message for record in caplog.records if "does not show" in record.message]
        assert len(notes) == (body is not XML) and opened.note == "".join(notes)
        body = body[:-cut]
        with pytest.raises(EndpointError, match="not complete"):
            opened.select("SELECT ?x { ?x ?y ?z }", D)
        body = b"<html>Sign in, please</html>"
        with pytest.raises(EndpointError, match=r"no result|not complete"):
            opened.select("SELECT ?x { ?x ?y ?z }", D)


def test_a_pause_that_a_server_asks_for_is_kept() -> None:
    times: list[float] = []

    def answer(handler: Quiet) -> None:
        times.append(time.monotonic())
        busy = reply(429, b"slow down", **{"Retry-After": "1"})
        (busy if len(times) == 1 else reply(200, ROW))(handler)

    with server(answer) as url:
        assert rows(url) == 1 and times[1] - times[0] >= 1
    long = server(reply(503, b"maintenance", **{"Retry-After": "3600"}))
    with long as url, pytest.raises(EndpointError, match="pause of 3600 s"):
        rows(url)


def test_a_server_that_wants_a_digest_gets_one() -> None:
    seen: list[str] = []

    def answer(handler: Quiet) -> None:
        seen.append(handler.headers.get("Authorization") or "")
        wanted = {"WWW-Authenticate": 'Digest realm="r", nonce="n", qop="auth"'}
        (reply(200, ROW) if seen[-1].startswith("Digest") else reply(401, b"", **wanted))(handler)

    with server(answer) as url:
        assert rows(url, user="me", password="s3cret") == 1
    assert seen[0].startswith("Basic") and 'username="me"' in seen[-1]


def test_a_store_behind_a_proxy() -> None:
    asked: list[str] = []

    def answer(handler: Quiet) -> None:
        asked.append(handler.path)
        reply(200, ROW)(handler)

    with server(answer) as url:
        assert rows("http://store.invalid/sparql", proxy=url.removesuffix("/sparql")) == 1
    assert asked[0] == "http://store.invalid/sparql"


def test_https_asked_of_a_port_of_http() -> None:
    with server(reply(200, ROW)) as url, pytest.raises(EndpointError, match="no TLS"):
        rows(url.replace("http:", "https:"))


def test_a_language_tag_that_is_not_well_formed() -> None:
    said = ROW.replace(
        b'"type":"uri","value":"urn:a"', b'"type":"literal","value":"colour","xml:lang":"en_GB"'
    )
    with server(reply(200, said)) as url, store(url) as opened:
        ((value,),) = opened.select("SELECT ?x { ?x ?y ?z }", D)
        assert value == Literal("colour", lang="en-GB")


def test_a_deadline_that_comes_as_a_failure_is_a_deadline() -> None:
    def answer(handler: Quiet) -> None:
        time.sleep(0.4)
        reply(500, b"")(handler)

    with server(answer) as url, store(url) as opened, pytest.raises(QueryTimeout, match="time limit"):
        opened.bounded("SELECT * { ?s ?p ?o }", D, Limits(seconds=0.3))
