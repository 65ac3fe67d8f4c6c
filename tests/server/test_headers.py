"""Malformed headers, addresses and bodies: whatever comes, no request makes the server fail inside.

`MRAG_TEST_TRIES` sets how many random requests are sent to each server; those that the tests name by
hand are sent in any case.
"""

from __future__ import annotations

import os
import random
import socket
from collections.abc import Iterator
from contextlib import suppress

import pytest

import mrag
from tests.server.conftest import Running, running

TRIES = int(os.environ.get("MRAG_TEST_TRIES", "300"))
TOKEN = "a-long-token"
Headers = list[tuple[str, str]]

_R, _S = "/repositories/main", "/rest"
READ = f"""
/ /health /favicon.ico /page/main.js /sparql /sparql?query=ASK%7B%7D /update /graphs /graphs?default
/graphs?graph=urn:g /graphs/a /protocol /repositories {_R} {_R}?query=ASK%7B%7D
{_R}/statements?subj=%3Curn:a%3E {_R}/size?context=null {_R}/contexts {_R}/namespaces
{_R}/namespaces/rdf {_R}/rdf-graphs {_R}/health
{_R}/rdf-graphs/service?default {_S}/repositories {_S}{_R} {_S}{_R}/size {_S}/similarity {_S}/info/version
{_S}/security {_S}/security/free-access /api/about /api/queries /api/search?q=a
/api/entity?iri=urn:a /api/nothing /api/explain?s=urn:a&p=urn:b&o=urn:c /api/image?entity=urn:a&value=b
/api/rankers /api/concepts /api/learn/why?concept=ex:A&iri=urn:a /api/health /api/health/state
/api/schema /api/expand?iri=urn:a /api/path?from=urn:a&to=urn:b /api/saved /api/images 
/api/images/page?after=a /api/images/one?iri=urn:a /api/images/thumbnail?iri=urn:a
""".split()
POST = f"""
/sparql /update /graphs /graphs?default {_R} {_R}/statements {_R}/transactions {_S}/similarity {_S}/login
{_S}/security /api/ask /api/learn /api/concepts /api/concepts/forget /api/receipt /api/verify
/api/health/refresh /api/health/stop /api/saved /api/saved/remove /api/preview /api/images/search
""".split()
PUT = f"""
/graphs?graph=urn:h /graphs/b {_R} {_R}/namespaces/ex {_R}/transactions/none?action=PING {_S}/similarity
""".split()
DELETE = f"/graphs?graph=urn:x {_R}/namespaces/ex {_S}/similarity?name=x".split()
ROUTES = [
    *(("GET", path) for path in READ),
    *(("POST", path) for path in POST),
    *(("PUT", path) for path in PUT),
    *(("DELETE", path) for path in DELETE),
    *(("HEAD", path) for path in ("/", "/sparql?query=ASK%7B%7D", "/graphs?default")),
    *(("OPTIONS", path) for path in ("/sparql", "/api/ask", "/graphs/x")),
]

HOSTS = """
[ ] [] [::1 [::1]:x [::1]:99999 [v1.x] [fe80::1%25lo] ::1 a:b:c : @ localhost:x localhost:70000
localhost:-1 user@localhost localhost/x localhost?x localhost#x http://localhost http://[ http://]:80
http://[::1]:x %00 % %zz * \xff\xfe \xb2 \xe2\x80\xae localhost,other localhost:\xb2 '' \" <a> a\\b {a} a|b ^
""".split()
VALUES = [
    *HOSTS,
    *"[::1] null */* */*;q=x */*;q=nan */*;q=1e999 text/*;q= ;;; ,,, =;= a/b/c / 0 -1 +1 0x1 1_0".split(),
    *'W/ "x "'.split(),
    *(
        "Basic \xff",
        "Basic =",
        "Basic Og==",
        "Basic gICA",
        "Bearer \xff",
        "GDB ",
        "",
        "\t",
        "1, 1",
        "a b",
        "localhost:",
    ),
    *("9" * 30, "9" * 5000, "x" * 7000, "bytes=" + "0-1," * 500, "Thu, 99 Foo 0000", "1 Jan"),
    *("Thu, 01 Jan 1970 00:00:00 GMT", "Sat, 01 Jan 99999 99:99:99 GMT", "Mon, 01 Jan 0000 00:00:00 +9999"),
    *"chunked gzip bytes=0-1 bytes= bytes=- bytes=9-1 bytes=-9999999 bytes=\xb2-\xb3 items=0-1".split(),
    *"multipart/form-data application/x-www-form-urlencoded application/sparql-query text/turtle".split(),
    *"application/rdf+xml application/ld+json application/n-quads application/sparql-update".split(),
    *("multipart/form-data; boundary=", 'multipart/form-data; boundary="', "application/json; charset=\xff"),
]
HEADERS = """
Host Origin Authorization Content-Length Content-Type Accept Accept-Encoding Range If-Modified-Since
If-None-Match If-Range Transfer-Encoding Expect Connection Upgrade X-GraphDB-Repository X-Forwarded-For
X-Forwarded-Proto Access-Control-Request-Method Access-Control-Request-Headers Content-Encoding Referer
Cookie Sec-Fetch-Site Forwarded
""".split()
ENDS = """
% %00 %ff %zz %2e%2e/%2e%2e/etc/passwd %0d%0aX:y ?% ?= ?&&& ?query=%ff ?query=%00 ?timeout=nan&query=ASK%7B%7D
?timeout=inf&query=ASK%7B%7D ?timeout=1_0&query=ASK%7B%7D ?default&graph= ?graph=%00: ?graph=: ?context=%3C
?context=_:a ?context=%00 ?subj=%22&infer=%ff ?%24x=%3C&query=ASK%7B%7D ?k=%C2%B2&q=a ?hops=%D9%A1&iri=urn:a
?q=%ED%A0%80 ?iri=%00 ?iri=urn:a%0a ?s=urn:a&p=urn:b&literal=c&lang=%00 ?baseURI=%00 ?baseURI=%5B
?default-graph-uri=%00&query=ASK%7B%7D ?named-graph-uri=%5B&query=ASK%7B%7D
?name=..%2f..%2fx ?entity=a&value=%00
""".split()
ENDS += ["?k=" + "9" * 5000 + "&q=a", "?" + "a&" * 2000, "/" + "x" * 5000, "?q=" + "x" * 20_000]
BODIES = [
    *(b"", b"\0", b"\xff\xfe", b"{", b"[]", b"null", b'"x"', b"1" * 5000, b"[" * 50_000, b'{"a":' * 5000),
    *(b'{"username":"\\ud800","password":"\\udfff"}', b'{"question":"\\ud800"}', b'{"question":1,"k":1e999}'),
    *(
        b'{"question":"x","k":NaN}',
        b'{"question":"x","model":[]}',
        b'{"name":"\\ud800","selectQuery":"\\ud800"}',
    ),
    *(
        b'{"name":"../x","selectQuery":"SELECT"}',
        b'{"name":"x","type":[]}',
        b"query=ASK{}&query=x",
        b"update=",
    ),
    *(b"query=%ff", b"&" * 3000, b"ASK {}", b"ASK { ?s ?p '\\uD800' }", b"ASK {} # \xff", b"<a> <b> <c> ."),
    *(b"<urn:a> <urn:b> <urn:c> .", b"<urn:a> <urn:b> '\\uD800' .", b'{"@id":"urn:a","urn:b":"\\ud800"}'),
    *(
        b"--x\r\nContent-Type: text/turtle; x=\xff\r\n\r\n<urn:a>\r\n--x--",
        b"http://[",
        b"urn:\0",
        b"<rdf:RDF",
    ),
    b"<?xml version='1.0' encoding='UTF-7'?><a/>",
]
KINDS = """
application/json application/x-www-form-urlencoded application/sparql-query application/sparql-update
text/turtle application/ld+json multipart/form-data;boundary=x
""".split()


def ask(server: Running, method: str, path: str, headers: Headers, body: bytes = b"") -> int:
    """Send a request as it stands, and return the status of the answer, which is not 500.

    It is 0 where the server closed a connection whose request said of its length what is not so.
    """
    given = {name.lower(): value for name, value in headers}
    if "host" not in given:
        headers = [("Host", "localhost"), *headers]
    if body and "content-length" not in given:
        headers = [*headers, ("Content-Length", str(len(body)))]
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers)
    request = f"{method} {path} HTTP/1.1\r\n{lines}Connection: close\r\n\r\n".encode("latin-1") + body
    unclear = "content-length" in given or "transfer-encoding" in given
    host, port = server.url.removeprefix("http://").split(":")
    reply = b""
    with socket.create_connection((host, int(port)), timeout=30) as connection, suppress(ConnectionError):
        connection.sendall(request)
        if unclear:
            # Without an end the server would wait for the rest until its own deadline. It may have answered
            # by now, and closed the connection.
            with suppress(OSError):
                connection.shutdown(socket.SHUT_WR)
        while part := connection.recv(1 << 16):
            reply += part
    if not reply and unclear:
        return 0
    status = reply[9:12].decode()
    assert reply.startswith(b"HTTP/1.1 ") and status != "500", (method, path, headers, body[:80], reply[:300])
    return int(status)


@pytest.fixture(scope="module", params=["open", "token"])
def server(request: pytest.FixtureRequest) -> Iterator[Running]:
    """A server that clients may change, without and with a token."""
    token = TOKEN if request.param == "token" else None
    settings = {"update": True, "token": token, "seconds": 5.0, "model": "none"}
    with mrag.demo(model="none") as kg, running(kg, **settings) as found:
        yield found


def authorised(server: Running, *headers: tuple[str, str]) -> Headers:
    token = server.engine.settings.token
    return [*headers] if token is None else [("Authorization", f"Bearer {token}"), *headers]


def turn(server: Running) -> int:
    """Return 0 or 1: the two servers take turns, since they read a request that is authorised alike."""
    return int(server.engine.settings.token is None)


@pytest.mark.parametrize("path", ["/", "/health", "/sparql", "/graphs/a"])
def test_a_host_that_is_none_is_refused(server: Running, path: str) -> None:
    for host in (*HOSTS, "evil host", "a" * 300, "localhost:" + "9" * 5000):
        assert ask(server, "GET", path, authorised(server, ("Host", host))) in (400, 421), host
    for host in ("localhost", "127.0.0.1", "[::1]", "localhost:7333", "LOCALHOST", "localhost:"):
        assert ask(server, "GET", path, authorised(server, ("Host", host))) in (200, 404), host


@pytest.mark.slow
@pytest.mark.parametrize("name", HEADERS)
def test_no_value_of_a_header_makes_the_server_fail(server: Running, name: str) -> None:
    # Each value goes to one of the servers by one method; from header to header they take turns.
    shift = HEADERS.index(name) + 2 * turn(server)
    for at, value in enumerate(VALUES):
        if (at + shift) % 4 == 0:
            ask(server, "GET", "/page/main.js", authorised(server, (name, value)))
        elif (at + shift) % 4 == 1:
            ask(server, "POST", "/rest/login", authorised(server, (name, value)), b"{}")


@pytest.mark.slow
def test_no_address_makes_the_server_fail(server: Running) -> None:
    for at, path in enumerate(READ):
        for end in ENDS[at % 3 + 3 * turn(server) :: 6]:
            place = path.partition("?")[0] if "?" in end else path
            ask(server, "GET", place + end, authorised(server))


@pytest.mark.slow
def test_no_body_makes_the_server_fail(server: Running) -> None:
    for method, path in ROUTES:
        for at, body in enumerate(BODIES if method in ("POST", "PUT") else ()):
            for kind in {KINDS[0], KINDS[at % len(KINDS)]} if at % 2 == turn(server) else ():
                ask(server, method, path, authorised(server, ("Content-Type", kind)), body)


@pytest.mark.slow
def test_no_request_at_random_makes_the_server_fail(server: Running) -> None:
    chance = random.Random(7)
    for _ in range(TRIES):
        method, path = chance.choice(ROUTES)
        headers = [(chance.choice(HEADERS), chance.choice(VALUES)) for _ in range(chance.randint(0, 4))]
        if chance.random() < 0.8:
            headers = authorised(server, *headers)
        if chance.random() < 0.3:
            path += chance.choice(ENDS)
        body = chance.choice(BODIES) if method in ("POST", "PUT") or chance.random() < 0.1 else b""
        ask(server, method, path, headers, body)
    assert server.client.get("/health").status_code == 200
