"""How the server starts, under clients that leave, flood and attack it, and what a kill leaves."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import psutil
import pytest
from typer.testing import CliRunner

import mrag
from mrag.cli import app
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.server.settings import ServerSettings
from tests.commands import filled, process, run
from tests.conftest import PRODUCTS, ROOT, slow
from tests.crash import SEED, TRIES, end_group, mrag_in
from tests.server import serving
from tests.server.conftest import Running, running
from tests.server.serving import command

ENDLESS = "SELECT (COUNT(*) AS ?n) { " + " ".join(f"?a{i} ?b{i} ?c{i} ." for i in range(8)) + " }"
TOKEN = "a-long-random-token"
INSERT = {"update": "INSERT DATA { <urn:a> <urn:b> 1 }"}


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


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_command_serves_and_stops_without_a_trace(tmp_path: Path, number: signal.Signals) -> None:
    store = tmp_path / "store"
    arguments = ("--store", f"oxigraph:{store}", "--update", "--workers", "2")
    with command(*arguments) as (process, url):
        assert httpx.post(f"{url}/update", data=INSERT).status_code == 204
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


SECRET = "5ecret-of-the-server"
OTHERS = ["0.0.0.0", "::", "192.0.2.1", "example.org", "0", "", "[::]", "127.0.0.1.nip.io", "::ffff:0.0.0.0"]


def serve(tmp_path: Path, *args: str) -> list[str]:
    return ["serve", "--store", str(tmp_path / "data"), "--port", "0", *args]


def started(tmp_path: Path, *args: str, **env: str) -> tuple[str, str, list[int]]:
    """Start the server; return what it said, its command line, the status without and with a token."""
    filled(f"oxigraph:{tmp_path / 'data'}")
    said = tmp_path / "said"
    store = f"oxigraph:{tmp_path / 'data'}"
    with serving.command("--store", store, "--workers", "1", *args, said=said, **env) as (server, url):
        seen = Path(f"/proc/{server.pid}/cmdline")
        line = seen.read_text() if seen.exists() else ""
        where = url.replace("0.0.0.0", "127.0.0.1").replace("[::]", "127.0.0.1")
        ask = f"{where}/sparql?query=ASK%7B%7D"
        tokens: list[dict[str, str]] = [{}, {"Authorization": f"Bearer {SECRET}"}]
        codes = [httpx.get(ask, headers=headers).status_code for headers in tokens]
        server.terminate()
        server.wait(30)
    return said.read_text(), line, codes


@pytest.mark.slow
@pytest.mark.parametrize("how", ["file", "environment", "command line"])
def test_the_token_is_seen_only_where_it_was_typed(tmp_path: Path, how: str) -> None:
    file = tmp_path / "token"
    file.write_text(f"\ufeff{SECRET}\n", "utf-8")
    file.chmod(0o600)
    args = {"file": ["--token-file", str(file)], "command line": ["--token", SECRET]}.get(how, [])
    env = {"MRAG_TOKEN": SECRET} if how == "environment" else {}
    said, line, codes = started(tmp_path, *args, **env)
    assert codes == [401, 200]
    assert SECRET not in said
    assert (SECRET in line) is (how == "command line")
    assert ("list of processes" in said) is (how == "command line")


def test_a_token_file_that_others_can_read_is_told(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(SECRET)
    file.chmod(0o644)
    said, _, codes = started(tmp_path, "--token-file", str(file))
    assert codes == [401, 200] and "chmod 600" in said and SECRET not in said


@pytest.mark.parametrize("host", ["0.0.0.0", *slow("::")])
def test_reading_alone_is_served_to_others_with_a_warning(tmp_path: Path, host: str) -> None:
    said, _, codes = started(tmp_path, "--host", host, MRAG_TOKEN="")
    assert codes == [200, 200]
    assert "can read the graph" in said


@pytest.mark.parametrize("host", OTHERS)
def test_updates_by_others_need_a_token(tmp_path: Path, host: str) -> None:
    done = run(*serve(tmp_path, "--host", host, "--update"), cwd=tmp_path, MRAG_TOKEN="")
    assert done.returncode == 1 and not done.stdout
    assert "--token-file" in done.stderr
    assert not (tmp_path / "data").exists()


def test_updates_by_others_are_refused_in_python_too() -> None:
    for host in OTHERS:
        with pytest.raises(ConfigError, match="token"):
            ServerSettings(host=host, update=True)
        ServerSettings(host=host, update=True, token=SECRET)
    for host in ("127.0.0.1", "127.8.9.1", "::1", "localhost"):
        assert ServerSettings(host=host, update=True).local


def test_a_token_is_in_no_text_of_the_settings() -> None:
    assert SECRET not in repr(ServerSettings(token=SECRET))


@pytest.mark.parametrize("content", [None, "", "  \n", "short", "ünicode-token-ünicode"])
def test_a_token_file_that_holds_none_is_an_error(tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "token"
    if content is not None:
        file.write_text(content, "utf-8")
    done = run(*serve(tmp_path, "--token-file", str(file)), cwd=tmp_path)
    assert done.returncode == 1 and "oken" in done.stderr
    if content and content.strip():
        assert content not in done.stderr


def test_two_tokens_are_an_error(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(SECRET)
    done = run(*serve(tmp_path, "--token", SECRET, "--token-file", str(file)), cwd=tmp_path)
    assert done.returncode == 1 and "twice" in done.stderr and SECRET not in done.stderr


PARTS = 40


def started_in(folder: Path, *words: str) -> tuple[subprocess.Popen[bytes], str]:
    serve = [sys.executable, "-m", "mrag", "serve", "--port", "0", "--update", "--workers", "1"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [*serve, "--store", "store", *words], cwd=folder, stdout=subprocess.PIPE, stderr=log,
            env={**os.environ, "PYTHONPATH": str(ROOT), "MRAG_MODEL": "none"}, start_new_session=True,
        )  # fmt: skip
    line = process.stdout.readline().decode()
    assert line.startswith("SPARQL"), (folder / "log").read_text()
    return process, line.split()[1].removesuffix("/sparql")


class Stream(threading.Thread):
    """Sends updates, each of so many triples and a counter, until the server is gone."""

    def __init__(self, url: str, name: str) -> None:
        super().__init__()
        self.url, self.who = url, name
        self.sent = self.acknowledged = 0
        self.refused: list[str] = []

    def run(self) -> None:
        with httpx.Client(timeout=30) as client:
            while True:
                self.sent += 1
                parts = ", ".join(map(str, range(PARTS)))
                counter = f"<urn:{self.who}> <urn:at>"
                text = (
                    f"DELETE {{ {counter} ?n }} INSERT {{ {counter} {self.sent} }} "
                    f"WHERE {{ OPTIONAL {{ {counter} ?n }} }} ; "
                    f"INSERT DATA {{ <urn:{self.who}:{self.sent}> <urn:part> {parts} }}"
                )
                try:
                    answer = client.post(f"{self.url}/update", data={"update": text})
                except httpx.HTTPError:
                    return
                if answer.status_code != 204:
                    self.refused.append(answer.text)
                    return
                self.acknowledged = self.sent


@pytest.mark.slow
@pytest.mark.parametrize("number", range(TRIES or 1))
def test_what_was_acknowledged_is_there(tmp_path: Path, number: int) -> None:
    dice = random.Random(f"{SEED} serve {number}")
    mrag_in(tmp_path, "load", str(PRODUCTS), "--store", "store")
    with mrag.connect(f"oxigraph:{tmp_path / 'store'}") as kg:
        asserted = kg.count()
    process, url = started_in(tmp_path, *(["--reason"] if dice.random() < 0.3 else []))
    try:
        streams = [Stream(url, name) for name in ("one", "two")]
        for stream in streams:
            stream.start()
        wanted, deadline = dice.randint(1, 12), time.monotonic() + 60
        while streams[0].acknowledged < wanted and time.monotonic() < deadline:
            time.sleep(0.0005)
        time.sleep(dice.random() * 0.03)
        os.killpg(process.pid, signal.SIGKILL)
        for stream in streams:
            stream.join(40)
            assert not stream.is_alive() and not stream.refused, stream.refused
    finally:
        end_group(process.pid)
        process.__exit__(None, None, None)
    assert streams[0].acknowledged or streams[1].acknowledged
    done = CliRunner().invoke(app, ["doctor", "--json", "--store", str(tmp_path / "store")])
    assert all(x["ok"] is not False or x["hint"] for x in json.loads(done.stdout)), done.output
    with mrag.connect(f"oxigraph:{tmp_path / 'store'}") as kg:
        rows = kg.query("SELECT ?s (COUNT(?o) AS ?n) { ?s <urn:part> ?o } GROUP BY ?s")
        found = {str(s): int(str(n)) for s, n in rows}  # type: ignore[union-attr,misc]
        at = {str(s): int(str(n)) for s, n in kg.query("SELECT ?s ?n { ?s <urn:at> ?n }")}  # type: ignore[union-attr,misc]
        more = 0
        for stream in streams:
            name = f"urn:{stream.who}"
            there = [n for n in range(1, stream.sent + 1) if f"{name}:{n}" in found]
            assert there in ([*range(1, stream.acknowledged + 1)], [*range(1, stream.sent + 1)])
            assert all(found[f"{name}:{n}"] == PARTS for n in there)
            assert at.get(name, 0) == len(there), "the counter belongs to the triples"
            more += len(there) * PARTS + (name in at)
        assert kg.record.triples == kg.count() == asserted + more
    process, url = started_in(tmp_path)
    try:
        size = httpx.get(f"{url}/repositories/main/size", timeout=30).text
        assert int(size) >= asserted + more
        assert httpx.post(f"{url}/update", data=INSERT).status_code == 204
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    finally:
        end_group(process.pid)
        process.__exit__(None, None, None)
