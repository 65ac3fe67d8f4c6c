"""Clients that misbehave, and the death of the server's processes."""

from __future__ import annotations

import asyncio
import contextlib
import random
import socket
import struct
import time
from collections.abc import Awaitable, Callable
from urllib.parse import urlencode, urlsplit

import psutil

from benchmarks.soak.clients import Soak
from benchmarks.soak.oracle import LARGE, PREFIXES, Tally

Misbehaviour = Callable[[Soak, random.Random], Awaitable[None]]

_PATIENCE = 100.0
"""Seconds after which a misbehaving client gives up, which is longer than a server should hold it."""

ENDLESS = "SELECT (COUNT(*) AS ?n) { " + " ".join(f"?a{i} ?b{i} ?c{i} ." for i in range(8)) + " }"


class Wire:
    """A plain connection, so that what is sent and read is exact; the system's own buffer if it is 0."""

    def __init__(self, soak: Soak, buffer: int = 0) -> None:
        at = urlsplit(soak.url)
        self._address = (at.hostname, at.port)
        self._loop = asyncio.get_running_loop()
        self._socket = socket.socket()
        if buffer:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self._socket.setblocking(False)

    async def __aenter__(self) -> Wire:
        await self._loop.sock_connect(self._socket, self._address)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._socket.close()

    @property
    def port(self) -> int:
        """Return the port of this side."""
        return int(self._socket.getsockname()[1])

    async def send(self, data: bytes) -> None:
        """Send all of some bytes."""
        await self._loop.sock_sendall(self._socket, data)

    async def read(self, most: int) -> bytes:
        """Read some bytes; none when the server has closed."""
        return await self._loop.sock_recv(self._socket, most)

    def abort(self) -> None:
        """Close so that the other side gets a reset."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._socket.close()


_HEAD = " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"


def _get(query: str) -> bytes:
    return f"GET /sparql?{urlencode({'query': query})}{_HEAD}\r\n".encode()


def _post(path: str, size: int, kind: str = "application/sparql-query") -> bytes:
    return f"POST {path}{_HEAD}Content-Type: {kind}\r\nContent-Length: {size}\r\n\r\n".encode()


async def _held(soak: Soak, kind: str, wire: Wire, *, most: int = 1, pause: float = 0.0) -> None:
    """Read until the server closes, and note how long that took.

    What the server has closed may wait in the system for its reader, which is none of the server's doing.
    """
    began = time.monotonic()
    try:
        while not soak.over and time.monotonic() - began < _PATIENCE:
            try:
                async with asyncio.timeout(1.0):
                    if not await wire.read(most):
                        return
            except TimeoutError:
                continue
            finally:
                soak.held[kind] = max(soak.held[kind], time.monotonic() - began)
            await asyncio.sleep(pause)
            if pause and wire.port not in await asyncio.to_thread(soak.clients_of_server):
                return
    except OSError:
        return


async def leave_in_request(soak: Soak, rng: random.Random) -> None:
    """Leave in the middle of the head or of the body."""
    whole = _post("/sparql", 5000) + b"ASK { " + b" " * 4994
    async with Wire(soak) as wire:
        await wire.send(whole[: rng.randrange(len(whole))])
        if rng.random() < 0.5:
            wire.abort()


async def leave_in_answer(soak: Soak, rng: random.Random) -> None:
    """Leave while the query runs, or in the middle of its answer."""
    async with Wire(soak) as wire:
        await wire.send(_get(rng.choice((LARGE, ENDLESS))))
        try:
            async with asyncio.timeout(rng.random() * 3):
                await wire.read(4096)
                await wire.read(4096)
        except TimeoutError:
            pass
        if rng.random() < 0.5:
            wire.abort()


async def read_slowly(soak: Soak, rng: random.Random) -> None:
    """Read a large answer by a few bytes a second."""
    async with Wire(soak, buffer=4096) as wire:
        await wire.send(_get(LARGE))
        await _held(soak, "slow reader", wire, most=16, pause=1.0)


async def stop_reading(soak: Soak, rng: random.Random) -> None:
    """Ask for a large answer and vanish, without a word to the server."""
    async with Wire(soak, buffer=4096) as wire:
        await wire.send(_get(LARGE))
        await asyncio.sleep(min(soak.hold, max(0.0, soak.end - time.monotonic())))
        wire.abort()


async def send_head_slowly(soak: Soak, rng: random.Random) -> None:
    """Send a request's head byte by byte, after a whole request or at once."""
    async with Wire(soak) as wire:
        if rng.random() < 0.5:
            await wire.send(b"GET /protocol HTTP/1.1\r\nHost: localhost\r\n\r\n")
            await wire.read(4096)
        await wire.send(b"GET /sparql?query=")
        await asyncio.gather(_drip(soak, wire), _held(soak, "slow head", wire))


async def send_body_slowly(soak: Soak, rng: random.Random) -> None:
    """Send a request's body byte by byte."""
    async with Wire(soak) as wire:
        await wire.send(_post("/sparql", 100_000))
        await asyncio.gather(_drip(soak, wire), _held(soak, "slow body", wire))


async def _drip(soak: Soak, wire: Wire) -> None:
    began = time.monotonic()
    try:
        while not soak.over and time.monotonic() - began < _PATIENCE:
            await wire.send(b" ")
            await asyncio.sleep(0.5)
    except OSError:
        return


async def say_nothing(soak: Soak, rng: random.Random) -> None:
    """Open some connections and send nothing over them."""

    async def one() -> None:
        async with Wire(soak) as wire:
            await _held(soak, "silent", wire)

    await asyncio.gather(*(one() for _ in range(24)))


async def send_too_much(soak: Soak, rng: random.Random) -> None:
    """Send a body that is larger than the server takes, and says so or does not."""
    async with Wire(soak) as wire:
        if rng.random() < 0.5:
            await wire.send(_post("/sparql", 1 << 30))
        else:
            await wire.send(_post("/sparql", 0).replace(b"Content-Length: 0", b"Transfer-Encoding: chunked"))
        piece = b" " * (1 << 16)
        sent = 0
        while not soak.over and sent < 16 << 20:
            await wire.send(b"%x\r\n%b\r\n" % (len(piece), piece))
            sent += len(piece)
        soak.faults.append("a body of 16 MB was read")


async def run_out_of_time(soak: Soak, rng: random.Random) -> None:
    """Send a query that does not end, or a text that takes long to read, with a short deadline."""
    if rng.random() < 0.5:
        body = urlencode({"query": ENDLESS, "timeout": "1"}).encode()
    else:
        values = " ".join(f"({n} <urn:{n}>)" for n in range(40_000))
        body = urlencode({"query": f"SELECT * {{ VALUES (?a ?b) {{ {values} }} FILTER (?a < 0) }}"}).encode()
    async with Wire(soak) as wire:
        await wire.send(_post("/sparql", len(body), "application/x-www-form-urlencoded") + body)
        await _held(soak, "endless query", wire, most=1 << 16)


def lose_the_answer(tally: Tally) -> Misbehaviour:
    """Send an update and leave before it is answered: it may be carried out, or not, but whole."""

    async def send(soak: Soak, rng: random.Random) -> None:
        async with Wire(soak) as wire:
            if rng.random() < 0.5:
                text = tally.raise_by_one()
                tally.sent += 1
            else:
                _, triples = tally.entry()
                text = f"{PREFIXES} INSERT DATA {{ {triples} }}"
            body = text.encode()
            await wire.send(_post("/update", len(body), "application/sparql-update") + body)
            await asyncio.sleep(rng.random() * 0.2)
            if rng.random() < 0.5:
                wire.abort()

    return send


async def repeat(soak: Soak, what: Misbehaviour, name: str, seed: int, times: float) -> None:
    """Misbehave in one way again and again."""
    rng = random.Random(seed)
    await soak.pause(rng, times)
    while not soak.over:
        with contextlib.suppress(OSError):  # the server has closed
            await what(soak, rng)
        soak.rounds[name] += 1
        await soak.pause(rng, times)


async def kill(soak: Soak, server: psutil.Process, seconds: float) -> None:
    """Kill one of the server's processes every few seconds."""
    rng = random.Random(1)
    while not soak.over:
        await asyncio.sleep(min(seconds, max(0.0, soak.end - time.monotonic())))
        if children := server.children(recursive=True):
            try:
                rng.choice(children).kill()
            except psutil.NoSuchProcess:
                continue
            soak.rounds["killed process"] += 1
