"""The server under clients that leave, flood and attack it, and the command that runs it."""

import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import psutil
import pytest

from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.server.settings import ServerSettings
from tests.commands import filled, process, run
from tests.server.conftest import Running, running
from tests.server.serving import command

ENDLESS = "SELECT (COUNT(*) AS ?n) { " + " ".join(f"?a{i} ?b{i} ?c{i} ." for i in range(8)) + " }"
TOKEN = "a-long-random-token"


def until(true: Callable[[], bool], seconds: float = 10.0) -> bool:
    """Wait for something to become true."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def dial(url: str) -> socket.socket:
    """Open a connection to a server."""
    return socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), timeout=20)


def request(query: str, *more: str) -> bytes:
    """Return a request for a query, as it is sent."""
    path = httpx.URL("/sparql", params={"query": query}).raw_path.decode()
    return "\r\n".join((f"GET {path} HTTP/1.1", "Host: localhost", *more, "", "")).encode()


def begin(server: Running, query: str) -> socket.socket:
    """Send a query and do not wait for its answer."""
    connection = dial(server.url)
    connection.sendall(request(query))
    return connection


def test_a_client_that_leaves_frees_its_query(server: Running) -> None:
    before = set(server.engine.pool.processes())
    connections = [begin(server, ENDLESS) for _ in range(2)]
    assert until(lambda: server.engine.slots.running == 2)
    busy = set(server.engine.pool.processes())
    waiting = begin(server, ENDLESS)
    waiting.close()
    for connection in connections:
        connection.close()
    assert until(lambda: server.engine.slots.running == 0)
    assert until(lambda: not any(psutil.pid_exists(pid) for pid in busy))
    assert server.select("SELECT (1 AS ?n) {}") == [{"n": "1"}]
    assert before.isdisjoint(server.engine.pool.processes()) or len(before) <= 2


def test_a_client_that_leaves_a_long_answer_frees_its_query(server: Running) -> None:
    connection = begin(server, "SELECT * { ?s ?p ?o . ?a ?b ?c . ?d ?e ?f }")
    assert b"200" in connection.recv(4096)
    assert server.engine.slots.running == 1
    connection.close()
    assert until(lambda: server.engine.slots.running == 0)


def test_a_query_is_ended_at_its_deadline(server: Running) -> None:
    began = time.monotonic()
    reply = server.client.get("/sparql", params={"query": ENDLESS, "timeout": "1"})
    assert reply.status_code == 503
    assert "deadline" in reply.json()["error"]
    assert reply.headers["retry-after"] == "5"
    assert time.monotonic() - began < 9
    assert until(lambda: server.engine.slots.running == 0)


def test_many_clients_get_their_own_answers(server: Running) -> None:
    def ask(number: int) -> bool:
        query = f"SELECT ?x {{ ?s a ?c BIND ({number} AS ?x) }} LIMIT {number % 7 + 1}"
        reply = client.get("/sparql", params={"query": query})
        rows = reply.json()["results"]["bindings"]
        return len(rows) == number % 7 + 1 and {row["x"]["value"] for row in rows} == {str(number)}

    limits = httpx.Limits(max_connections=32)
    with (
        httpx.Client(base_url=server.url, timeout=30, limits=limits) as client,
        ThreadPoolExecutor(32) as clients,
    ):
        assert all(clients.map(ask, range(200)))


@pytest.mark.slow
def test_reads_go_on_while_the_graph_changes(writable: Running) -> None:
    writable.update("INSERT DATA { <urn:a> <urn:n> 0 . <urn:b> <urn:n> 0 }")
    stop, seen = threading.Event(), []

    def read() -> None:
        with httpx.Client(base_url=writable.url, timeout=30) as client:
            while not stop.is_set():
                query = "SELECT ?a ?b { <urn:a> <urn:n> ?a . <urn:b> <urn:n> ?b }"
                rows = client.get("/sparql", params={"query": query}).json()["results"]["bindings"]
                seen.append([(row["a"]["value"], row["b"]["value"]) for row in rows])

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for number in range(1, 9):
        writable.update(
            f"DELETE {{ ?s <urn:n> ?n }} INSERT {{ ?s <urn:n> {number} }} WHERE {{ ?s <urn:n> ?n }}"
        )
    stop.set()
    for reader in readers:
        reader.join()
    assert seen
    # Each answer is of one state: both values are there once, and the same.
    assert all(len(rows) == 1 and rows[0][0] == rows[0][1] for rows in seen)


def test_oversized_requests_are_refused(demo: KnowledgeGraph) -> None:
    with running(demo, max_body=1000) as server:
        long = "ASK { " + " " * 2000 + "}"
        kind = {"Content-Type": "application/sparql-query"}
        assert server.client.post("/sparql", content=long, headers=kind).status_code == 413

        def pieces() -> Iterator[bytes]:
            yield from (b" " * 600 for _ in range(4))

        chunked = server.client.post("/sparql", content=pieces(), headers=kind)
        assert chunked.status_code == 413
        assert "1000 bytes" in chunked.json()["error"]
        assert server.client.get("/sparql", params={"query": long * 20}).status_code == 414
        huge = server.client.get("/sparql", params={"query": "ASK {}"}, headers={"X-Long": "x" * 100_000})
        assert huge.status_code in (400, 431)
        assert server.client.get("/health").json() == {"status": "ok"}


@pytest.mark.parametrize(
    "raw",
    [
        b"GARBAGE\r\n\r\n", b"GET /sparql HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
        b"POST /sparql HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
        b"GET /%00%ff?query=%ff HTTP/1.1\r\nHost: localhost\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n",
        bytes(range(256)) * 20,
    ],
)  # fmt: skip
def test_malformed_requests_do_no_harm(server: Running, raw: bytes) -> None:
    with dial(server.url) as connection:
        connection.sendall(raw)
        answer = connection.recv(4096)
    assert answer == b"" or answer.split()[1].startswith(b"4")
    assert server.client.get("/health").json() == {"status": "ok"}


def test_a_text_that_takes_long_to_read_is_given_up(demo: KnowledgeGraph) -> None:
    values = " ".join(f"(<urn:{i}> {i})" for i in range(250_000))
    with running(demo, seconds=2.0) as server:
        query = f"SELECT * {{ VALUES (?a ?b) {{ {values} }} }}"
        reply = server.client.post("/sparql", data={"query": query})
        assert reply.status_code == 503
        assert server.client.get("/health").json() == {"status": "ok"}


def test_a_query_that_eats_memory_ends_alone(demo: KnowledgeGraph) -> None:
    with running(demo, memory=300 << 20) as server:
        query = "SELECT * { ?a ?b ?c . ?d ?e ?f } ORDER BY ?a ?d ?f"
        reply = server.client.get("/sparql", params={"query": query})
        assert reply.status_code == 503
        assert "memory" in reply.json()["error"]
        assert server.select("SELECT (1 AS ?n) {}") == [{"n": "1"}]


def test_a_token_is_needed_where_one_is_set(demo: KnowledgeGraph) -> None:
    with running(demo, token=TOKEN) as server:
        query = {"query": "ASK {}"}
        for header in ("", "Bearer wrong-token-here", "Basic YTpi", "Basic !", f"Digest {TOKEN}", "Bearer"):
            reply = httpx.get(f"{server.url}/sparql", params=query, headers={"Authorization": header})
            assert reply.status_code == 401, header
            assert reply.headers["www-authenticate"].startswith("Bearer")
        for auth in ({"headers": {"Authorization": f"bearer {TOKEN}"}}, {"auth": ("anyone", TOKEN)}):
            assert httpx.get(f"{server.url}/sparql", params=query, **auth).status_code == 200  # type: ignore[arg-type]
        assert httpx.get(f"{server.url}/repositories").status_code == 401
        assert httpx.get(f"{server.url}/health").status_code == 200


def test_pages_of_other_origins_are_kept_out(demo: KnowledgeGraph) -> None:
    other = {"Origin": "https://elsewhere.example"}
    with running(demo, update=True) as server:
        assert "access-control-allow-origin" not in server.client.get("/health", headers=other).headers
        reply = server.client.post("/update", data={"update": "CLEAR ALL"}, headers=other)
        assert reply.status_code == 403
        same = {"Origin": server.url}
        assert server.client.post("/sparql", data={"query": "ASK {}"}, headers=same).status_code == 200
        for host in ("elsewhere.example", "127.0.0.1.elsewhere.example", ""):
            assert server.client.get("/health", headers={"Host": host}).status_code in (400, 421)
    with running(demo, cors_origins=("https://elsewhere.example",)) as server:
        reply = server.client.post("/sparql", data={"query": "ASK {}"}, headers=other)
        assert reply.headers["access-control-allow-origin"] == "https://elsewhere.example"
        asked = {**other, "Access-Control-Request-Method": "POST"}
        assert server.client.options("/sparql", headers=asked).status_code == 200
        stranger = {"Origin": "https://stranger.example"}
        assert server.client.post("/sparql", data={"query": "ASK {}"}, headers=stranger).status_code == 403


def test_a_browser_that_names_no_origin_may_not_write_either(demo: KnowledgeGraph) -> None:
    with running(demo, update=True) as server:
        for site, status in (("cross-site", 403), ("same-site", 403), ("same-origin", 204), ("none", 204)):
            given = {"Sec-Fetch-Site": site}
            reply = server.client.post("/update", data={"update": "INSERT DATA {}"}, headers=given)
            assert reply.status_code in (status, 200 if status == 204 else status), site
        asked = {"query": "ASK {}"}
        # What only reads may be linked to.
        assert server.client.get("/sparql", params=asked, headers={"Sec-Fetch-Site": "cross-site"}).is_success
        for method in ("PUT", "DELETE"):
            reply = server.client.request(
                method, "/graphs?graph=urn:x", content=b"", headers={"Sec-Fetch-Site": "cross-site"}
            )
            assert reply.status_code == 403


def test_a_request_with_two_lengths_ends_its_connection(demo: KnowledgeGraph) -> None:
    body = b"5\r\nASK{}\r\n0\r\n\r\n"
    head = (
        "{method} /sparql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/sparql-query\r\n"
        "Origin: https://elsewhere.example\r\nAccess-Control-Request-Method: POST\r\n"
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    smuggled = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with running(demo, cors_origins=("https://elsewhere.example",)) as server:
        for method in ("POST", "GET", "OPTIONS"):
            with dial(server.url) as connection:
                connection.sendall(head.format(method=method).encode() + body + smuggled)
                said = b""
                while piece := connection.recv(1 << 16):
                    said += piece
            assert said.startswith(b"HTTP/1.1 400") and said.count(b"HTTP/1.1") == 1
            assert b"connection: close" in said.lower()


def test_settings_are_checked() -> None:
    for wrong in ({"seconds": 0}, {"workers": 0}, {"port": 70_000}, {"token": "short"}, {"token": "ü" * 20}):
        with pytest.raises(ConfigError):
            ServerSettings(**wrong)  # type: ignore[arg-type]
    assert ServerSettings(host="::1").local
    assert not ServerSettings(host="192.0.2.1").local


# -- the command -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_command_serves_and_stops_without_a_trace(tmp_path: Path, number: signal.Signals) -> None:
    store = tmp_path / "store"
    arguments = ("--store", f"oxigraph:{store}", "--update", "--workers", "2")
    with command(*arguments) as (process, url):
        assert (
            httpx.post(f"{url}/update", data={"update": "INSERT DATA { <urn:a> <urn:b> 1 }"}).status_code
            == 204
        )
        assert httpx.get(f"{url}/repositories/main/size").text == "1"
        connection = dial(url)
        connection.sendall(request("SELECT * { ?s ?p ?o }"))
        children = psutil.Process(process.pid).children(recursive=True)
        assert children
        process.send_signal(number)
        assert process.wait(20) == 0
        assert until(lambda: not any(child.is_running() for child in children))
        connection.close()
    assert [p.name for p in tmp_path.iterdir()] == ["store"]
    with command(*arguments) as (_, url):
        assert httpx.get(f"{url}/repositories/main/size").text == "1"


@pytest.mark.slow
def test_the_command_ends_running_queries_after_a_grace(tmp_path: Path) -> None:
    data = tmp_path / "a.nt"
    data.write_text("".join(f"<urn:s{i}> <urn:p> <urn:o{i}> .\n" for i in range(300)))
    store = f"oxigraph:{tmp_path / 'store'}"
    assert run("load", "--no-reason", "--store", store, str(data), cwd=tmp_path).returncode == 0
    with command("--store", store) as (process, url):
        found: list[int] = []

        def ask() -> None:
            try:
                found.append(httpx.get(f"{url}/sparql", params={"query": ENDLESS}, timeout=30).status_code)
            except httpx.HTTPError:
                found.append(0)

        client = threading.Thread(target=ask)
        client.start()
        time.sleep(1)
        children = psutil.Process(process.pid).children(recursive=True)
        process.terminate()
        assert process.wait(20) == 0
        client.join(20)
        assert found in ([0], [503])
        assert until(lambda: not any(child.is_running() for child in children))


def test_a_server_that_stops_loses_no_request(tmp_path: Path) -> None:
    store = f"oxigraph:{tmp_path / 'store'}"
    filled(store)
    with command("--store", store, "--grace", "20") as (process, url):
        body = b"query=ASK+%7B%7D"
        head = f"POST /sparql HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
        kind = "Content-Type: application/x-www-form-urlencoded\r\n\r\n"
        with dial(url) as begun:
            begun.sendall(head.encode() + kind.encode() + body[:5])
            assert httpx.get(f"{url}/ready").status_code == 200
            process.terminate()
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(2)  # there is still a request
            with pytest.raises(httpx.ConnectError):
                httpx.get(f"{url}/ready")
            begun.sendall(body[5:])
            assert begun.recv(4096).startswith(b"HTTP/1.1 200")
        assert process.wait(20) == 0


def test_the_command_says_what_is_wrong(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        store = f"oxigraph:{tmp_path / 'store'}"
        filled(store)
        ended = process("serve", "--store", store, "--port", port, cwd=tmp_path)
    assert ended.returncode == 1
    assert "--port" in ended.stderr
    assert "Traceback" not in ended.stderr
