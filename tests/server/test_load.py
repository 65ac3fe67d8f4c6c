"""The server under clients that work and clients that misbehave, every answer checked."""

import asyncio
import random
import socket
import threading
import time
from collections.abc import AsyncGenerator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

import mrag
from benchmarks.soak import trouble
from benchmarks.soak.clients import Client, Soak, asker, reader, writer
from benchmarks.soak.oracle import LARGE, Tally, fixed, large_is_right
from benchmarks.soak.run import settle
from mrag.graph.kg import KnowledgeGraph
from mrag.index.similarity import SimilarityIndexes
from mrag.server.settings import Patience
from mrag.server.streams import Room, Spool
from mrag.stores.oxigraph import OxigraphStore
from mrag.stores.process import parsing
from tests.server.conftest import Running, running
from tests.server.test_serving import ENDLESS, begin, request, until

CSV = ("Connection: close", "Accept: text/csv")
SHORT = Patience(connections=64, head=0.5, body=0.5, stall=1.0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("load")


@pytest.fixture(scope="module")
def towns(folder: Path) -> Iterator[KnowledgeGraph]:
    """The fixed part of the soak's graph in a store on disk, with an index for questions."""
    tallies = "".join(f"ex:w{n} ex:n 0 ; ex:m 0 .\n" for n in range(4))
    (folder / "fixed.ttl").write_text(f"{fixed()}\n{tallies}", encoding="utf-8")
    with mrag.connect(f"oxigraph:{folder / 'store'}") as kg:
        kg.load([folder / "fixed.ttl"])
        SimilarityIndexes.of(kg).build("main", model="none")
        yield kg


@pytest.fixture
def loaded(towns: KnowledgeGraph) -> Iterator[Running]:
    with running(towns, update=True, patience=SHORT, max_body=200_000, seconds=20.0, model="none") as server:
        yield server


def connect(server: Running, buffer: int = 0) -> socket.socket:
    """Open a connection, with a small buffer where that is asked for."""
    connection = socket.socket()
    if buffer:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    connection.settimeout(20)
    connection.connect(("127.0.0.1", int(server.url.rpartition(":")[2])))
    return connection


def closed(connection: socket.socket) -> bool:
    """Wait until the server has closed a connection; what it sent before does not count."""
    try:
        while connection.recv(1 << 16):
            continue
    except ConnectionError:
        pass
    return True


async def _kill_once(server: Running) -> None:
    await asyncio.sleep(0.5)
    parsers = [child.pid for child in parsing._CHILDREN.waiting()]
    for pid in (server.engine.pool.processes() + parsers)[:2]:
        psutil.Process(pid).kill()


async def _all_at_once(server: Running, soak: Soak) -> None:
    works: list[Any] = [writer(tally) for tally in soak.tallies]
    works += [reader, reader, reader, asker]
    clients = [Client(soak, seed) for seed, _ in enumerate(works)]
    wrongs: list[trouble.Misbehaviour] = [
        trouble.leave_in_request, trouble.leave_in_answer, trouble.read_slowly, trouble.stop_reading,
        trouble.send_head_slowly, trouble.send_body_slowly, trouble.say_nothing, trouble.send_too_much,
        trouble.run_out_of_time, *(trouble.lose_the_answer(tally) for tally in soak.tallies),
    ]  # fmt: skip

    async def misbehave(what: trouble.Misbehaviour, seed: int) -> None:
        try:
            await what(soak, random.Random(seed))
        except OSError:
            soak.rounds["closed by the server"] += 1

    try:
        await asyncio.gather(
            _kill_once(server),
            *(work(client) for work, client in zip(works, clients, strict=True)),
            *(misbehave(what, seed) for seed, what in enumerate(wrongs)),
        )
        await settle(soak, clients[0])
    finally:
        for client in clients:
            await client.close()


@pytest.mark.slow
def test_no_answer_is_wrong_while_others_misbehave(loaded: Running, folder: Path) -> None:
    tallies = [Tally(n) for n in range(4)]
    soak = Soak(loaded.url, time.monotonic() + 100, 0.02, tallies, turns=8, hold=1.0)
    asyncio.run(_all_at_once(loaded, soak))
    assert not soak.over, soak.held
    assert not soak.wrong
    assert not soak.faults
    assert sum(tally.done for tally in tallies) > 0
    answered = {kind for kind, status in soak.counts if status.startswith("2")}
    assert {"query, new", "query, repeated", "question", "update"} <= answered
    # Nobody is waited for and nothing is left: no place is taken, no connection open, no file there.
    assert until(lambda: loaded.engine.slots.running == 0)
    assert until(lambda: not soak.clients_of_server())
    # That which processes for questions read, and that of the newest state.
    assert len([*folder.glob(".store.snapshot-*")]) <= 2
    assert until(lambda: loaded.engine._room.free == 4 * loaded.engine.settings.max_bytes)


def test_silent_and_slow_clients_are_let_go(loaded: Running) -> None:
    whole = b"GET /protocol HTTP/1.1\r\nHost: localhost\r\n\r\n"
    body = b"POST /sparql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/sparql-query\r\n"
    for beginning in (b"", b"GET /sparql", body, body + b"Content-Length: 100\r\n\r\nASK"):
        with connect(loaded) as connection:
            connection.sendall(beginning)
            assert closed(connection)
    with connect(loaded) as connection:
        connection.sendall(whole)
        assert b"200 OK" in connection.recv(4096)
        connection.sendall(b"GET /")
        assert closed(connection)


def test_idle_connections_shut_nobody_out(towns: KnowledgeGraph) -> None:
    with running(towns, patience=Patience(connections=8)) as server:
        idle = [connect(server) for _ in range(30)]
        assert server.select("SELECT (1 AS ?n) {}") == [{"n": "1"}]
        assert httpx.get(f"{server.url}/protocol").text == "12"
        # Those that waited longest have been closed.
        assert closed(idle[0])
        for connection in idle:
            connection.close()


def test_connections_are_turned_away_when_all_are_busy(towns: KnowledgeGraph) -> None:
    with running(towns, patience=Patience(connections=2)) as server:
        busy = [begin(server, ENDLESS) for _ in range(2)]
        assert until(lambda: server.engine.slots.running == 2)
        with connect(server) as another:
            answer = another.recv(4096)
        assert answer.startswith(b"HTTP/1.1 503")
        assert b"Retry-After" in answer
        for connection in busy:
            connection.close()
        assert until(lambda: server.engine.slots.running == 0)


def test_a_slow_reader_holds_no_process(towns: KnowledgeGraph) -> None:
    with running(towns, workers=1) as server, connect(server, buffer=4096) as connection:
        connection.sendall(request(LARGE, *CSV))
        assert b"200 OK" in connection.recv(1000)
        # The answer is some megabytes; all of it waits for its reader while others are answered.
        assert until(lambda: server.engine.slots.running == 0)
        assert server.select("SELECT (1 AS ?n) {}") == [{"n": "1"}]
        assert server.engine._room.free < 4 * server.engine.settings.max_bytes
        closed(connection)
        assert until(lambda: server.engine._room.free == 4 * server.engine.settings.max_bytes)


def test_a_slow_reader_gets_the_whole_answer(loaded: Running) -> None:
    found = bytearray()
    with loaded.client.stream(
        "GET", "/sparql", params={"query": LARGE}, headers={"Accept": "text/csv"}
    ) as reply:
        assert "content-length" not in reply.headers
        for number, piece in enumerate(reply.iter_bytes(1 << 16)):
            found += piece
            if number < 10:
                time.sleep(0.05)
    assert large_is_right(bytes(found))


def test_a_client_that_stops_reading_is_let_go(loaded: Running) -> None:
    with connect(loaded, buffer=4096) as connection:
        connection.sendall(request(LARGE, *CSV))
        assert connection.recv(100)
        assert until(lambda: loaded.engine._room.free < 4 * loaded.engine.settings.max_bytes)
        assert until(lambda: loaded.engine._room.free == 4 * loaded.engine.settings.max_bytes)


def end(children: Iterable[Any]) -> None:
    """Kill processes, and wait until they are gone with all their threads."""
    for child in children:
        psutil.Process(child.pid).kill()
        assert until(lambda one=child: one.ended)  # type: ignore[misc]


@pytest.mark.slow
def test_processes_that_were_killed_are_replaced(loaded: Running) -> None:
    assert loaded.select("SELECT (1 AS ?n) {}") == [{"n": "1"}]
    for round in range(3):
        killed = [*loaded.engine.pool._idle, *parsing._CHILDREN.waiting()]
        assert killed
        end(killed)
        assert loaded.select(f"SELECT ({round} AS ?n) {{}}") == [{"n": str(round)}]
        assert loaded.update("INSERT { <urn:k> <urn:n> 1 } WHERE {}").status_code == 204
        assert until(lambda dead=killed: not any(psutil.pid_exists(c.pid) for c in dead))  # type: ignore[misc]


def test_a_document_whose_process_is_killed_is_not_blamed(loaded: Running) -> None:
    turtle = {"Content-Type": "text/turtle"}
    for number in range(3):
        end([child for _, child in parsing._CHILDREN._idle])
        body = f"<urn:d> <urn:n> {number} ."
        assert loaded.client.post("/graphs?default", content=body, headers=turtle).status_code == 204

    waiting = [psutil.Process(child.pid) for _, child in parsing._CHILDREN._idle]
    for child in waiting:
        child.suspend()

    def send() -> httpx.Response:
        body = "<urn:e> <urn:n> 1 ."
        return httpx.post(f"{loaded.url}/graphs?default", content=body, headers=turtle, timeout=30)

    with ThreadPoolExecutor(1) as client:
        sent = client.submit(send)
        assert until(lambda: bool(parsing._CHILDREN._busy))
        for child in waiting:
            child.kill()
        reply = sent.result(30)
    assert reply.status_code == 503, reply.text
    assert reply.headers["retry-after"]
    assert loaded.select("SELECT ?n { <urn:e> <urn:n> ?n }") == []


def test_a_query_whose_process_is_killed_says_when_to_come_back(loaded: Running) -> None:
    def answer() -> httpx.Response:
        return httpx.get(f"{loaded.url}/sparql", params={"query": ENDLESS}, timeout=30)

    with ThreadPoolExecutor(1) as client:
        asked = client.submit(answer)
        assert until(lambda: len(loaded.engine.pool._busy) == 1)
        time.sleep(0.2)
        psutil.Process(next(iter(loaded.engine.pool._busy)).pid).kill()
        reply = asked.result(30)
    assert reply.status_code == 503
    assert reply.headers["retry-after"]


def test_every_503_says_when_to_come_back(towns: KnowledgeGraph) -> None:
    with running(towns, workers=1, queue=1, max_body=1000, seconds=2.0, patience=SHORT) as server:
        busy = [begin(server, ENDLESS), begin(server, ENDLESS + " ")]
        assert until(lambda: server.engine.slots.running == 1 and server.engine.slots.waiting == 1)
        for path in ("/health", "/sparql?query=ASK%7B%7D", "/repositories/main/statements"):
            reply = server.client.get(path)
            assert reply.status_code == 503 and "wait already" in reply.text
            assert reply.headers["retry-after"].isdigit()
        for connection in busy:
            connection.close()
        # More bodies on their way than there is room for.
        head = b"POST /sparql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/sparql-query\r\n"
        senders = [connect(server) for _ in range(5)]
        for sender in senders:
            sender.sendall(head + b"Content-Length: 1000\r\n\r\n" + b" " * 990)
        answers = [sender.recv(4096) for sender in senders]
        refused = [answer for answer in answers if answer.startswith(b"HTTP/1.1 503")]
        assert refused
        assert all(b"retry-after" in answer.lower() for answer in refused)
        for sender in senders:
            sender.close()
        assert until(lambda: server.client.get("/health").status_code == 200)


def test_an_answer_whose_end_is_cancelled_leaves_nothing(tmp_path: Path) -> None:
    async def pieces() -> AsyncGenerator[bytes, None]:
        try:
            yield b"1" * 1000
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.2)

    async def end_twice() -> Room:
        room = Room(ThreadPoolExecutor(1), 10_000, tmp_path)
        spool = Spool(b"0" * 1000, pieces(), room, 60.0)
        assert (await anext(spool)).startswith(b"0" * 1000)
        await asyncio.sleep(0.05)
        assert room.free < 10_000
        ending = asyncio.ensure_future(spool.aclose())
        await asyncio.sleep(0.05)
        ending.cancel()
        with suppress(asyncio.CancelledError):
            await ending
        await asyncio.sleep(0.4)
        assert spool._file.closed
        return room

    assert asyncio.run(end_twice()).free == 10_000


@pytest.mark.slow
def test_a_long_text_does_not_hold_up_short_ones(towns: KnowledgeGraph) -> None:
    values = " ".join(f"(<urn:{i}> {i})" for i in range(60_000))
    long = f"SELECT * {{ VALUES (?a ?b) {{ {values} }} }}"

    with running(towns, workers=1) as server, ThreadPoolExecutor(1) as client:

        def read() -> int:
            try:
                return httpx.post(f"{server.url}/sparql", data={"query": long}, timeout=60).status_code
            except httpx.RemoteProtocolError:
                return 503  # on a busy machine its deadline may pass when its answer has begun

        asked = client.submit(read)
        assert until(server.engine.parsers._long.locked)
        assert server.select("SELECT (3 AS ?n) {}") == [{"n": "3"}]
        assert server.engine.parsers._long.locked()
        assert asked.result(60) in (200, 503)


def test_reading_writes_nothing(loaded: Running) -> None:
    loaded.update("INSERT DATA { <urn:seen> <urn:n> 1 }")
    before = loaded.kg.store.generation, loaded.kg.record  # type: ignore[attr-defined]
    assert loaded.client.get("/api/entity", params={"iri": "urn:seen"}).status_code == 200
    question = {"question": "Where is Albury located in?", "model": "none"}
    assert loaded.client.post("/api/ask", json=question).status_code == 200
    assert (loaded.kg.store.generation, loaded.kg.record) == before  # type: ignore[attr-defined]


def test_graphs_stay_while_entities_are_looked_at(loaded: Running) -> None:
    def look(number: int) -> int:
        return httpx.get(f"{loaded.url}/api/entity", params={"iri": f"urn:s{number % 5}"}).status_code

    turtle = {"Content-Type": "text/turtle"}
    with ThreadPoolExecutor(4) as clients:
        for number in range(12):
            looks = [clients.submit(look, n) for n in range(6)]
            body = f"<urn:s{number % 5}> <urn:p{number}> {number} ."
            assert loaded.client.put(f"/graphs?graph=urn:g{number}", content=body, headers=turtle).is_success
            assert all(found.result(30) in (200, 404) for found in looks)
    for number in range(12):
        rows = loaded.select(f"SELECT ?o {{ GRAPH <urn:g{number}> {{ ?s ?p ?o }} }}")
        assert rows == [{"o": str(number)}]


class _Changing(OxigraphStore):
    """A store in which another thread changes something while labels are read."""

    kg: KnowledgeGraph | None = None

    def edges(self, *arguments: Any, **more: Any) -> Any:
        if self.kg is not None:
            self.kg.written(self.kg.record)
        return super().edges(*arguments, **more)


def test_labels_are_read_while_the_graph_changes() -> None:
    store = _Changing()
    with KnowledgeGraph(store) as kg:
        mrag.graph.updates.update(kg, 'INSERT DATA { <urn:a> rdfs:label "A" . <urn:b> rdfs:label "B" }')
        assert kg.labels(["urn:a"]) == {"urn:a": "A"}
        store.kg = kg
        assert kg.labels(["urn:a", "urn:b"]) == {"urn:a": "A", "urn:b": "B"}
        # What was read of the state before is not kept for that after.
        assert not kg._labels


def test_memory_for_repeated_queries_is_bounded_in_bytes(loaded: Running) -> None:
    kept = loaded.engine._reads
    for number in range(6):
        text = f"SELECT ({number} AS ?n) {{}} #" + "x" * 100_000
        reply = loaded.client.post("/sparql", data={"query": text})
        assert reply.status_code == 200
    assert len(kept._values) <= 1
    assert kept._held <= kept._size


def test_bodies_in_tiny_chunks_hold_nobody_up(loaded: Running) -> None:
    head = b"POST /sparql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/sparql-query\r\n"
    stop = threading.Event()

    def flood() -> None:
        while not stop.is_set():
            with connect(loaded) as connection, suppress(OSError):
                connection.sendall(head + b"Transfer-Encoding: chunked\r\n\r\n")
                while not stop.is_set():
                    connection.sendall(b"1\r\n \r\n" * 20_000)

    with ThreadPoolExecutor(3) as clients:
        floods = [clients.submit(flood) for _ in range(3)]
        try:
            for _ in range(5):
                assert loaded.client.get("/protocol", timeout=10).text == "12"
        finally:
            stop.set()
        for done in floods:
            done.result(30)
