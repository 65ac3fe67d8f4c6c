"""Malformed headers, addresses and bodies: whatever comes, no request makes the server fail inside.

`MRAG_TEST_TRIES` sets how many random requests are sent to each server; those that the tests name by
hand are sent in any case.
"""

import os
import random
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import mrag
from tests.server.conftest import Running, running
from tests.server.test_serving import dial

TRIES = int(os.environ.get("MRAG_TEST_TRIES", "300"))
TOKEN = "a-long-token"
Headers = list[tuple[str, str]]

PARTS: dict[str, list[str]] = {}
for _part in Path(__file__).with_name("malformed.txt").read_text("ascii").rstrip("\n").split("\n== ")[1:]:
    _name, *_lines = _part.split("\n")
    PARTS[_name] = [line.encode().decode("unicode_escape") for line in _lines]
READ, HOSTS, HEADERS = PARTS["GET"], PARTS["hosts"], PARTS["headers"]
VALUES = [*HOSTS, *PARTS["values"], "9" * 5000, "x" * 7000, "bytes=" + "0-1," * 500]
ENDS = [
    *PARTS["ends"], "?k=" + "9" * 5000 + "&q=a", "?" + "a&" * 2000, "/" + "x" * 5000, "?q=" + "x" * 20_000,
]  # fmt: skip
BODIES = [body.encode("latin-1") for body in PARTS["bodies"]]
BODIES += [b"1" * 5000, b"[" * 50_000, b'{"a":' * 5000, b"&" * 3000]
ROUTES = [
    *((method, path) for method in ("GET", "POST", "PUT", "DELETE") for path in PARTS[method]),
    *(("HEAD", path) for path in ("/", "/sparql?query=ASK%7B%7D", "/graphs?default")),
    *(("OPTIONS", path) for path in ("/sparql", "/api/ask", "/graphs/x")),
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
    reply = b""
    with dial(server.url) as connection, suppress(ConnectionError):
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
