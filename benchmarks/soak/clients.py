"""Clients that behave: they query, ask questions and write, and hold every answer against what it must be."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpx
import psutil

from benchmarks.soak.oracle import EX, LARGE, PREFIXES, TOWNS, Tally, country, large_is_right, query, town

_UPDATE = {"Content-Type": "application/sparql-update"}
_SPAN = 2000


@dataclass
class Soak:
    """A run: where the server is, what was sent, and what came of it."""

    url: str  # address of the server
    end: float  # when the clients stop, as `time.monotonic` counts
    think: float  # mean seconds between a client's requests
    tallies: list[Tally]  # one for each writer
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)  # requests by kind and outcome
    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))  # seconds by kind
    refused: list[float] = field(default_factory=list)  # seconds that requests waited that were answered 503
    wrong: list[str] = field(default_factory=list)  # answers that cannot be right
    faults: list[str] = field(default_factory=list)  # errors of the server that it must not make
    held: dict[str, float] = field(default_factory=lambda: defaultdict(float))  # seconds by kind of misuse
    rounds: Counter[str] = field(default_factory=Counter)  # how often each misbehaviour took place
    server: psutil.Process = field(default_factory=psutil.Process)  # the server's process
    turns: int | None = None  # most requests of a client, None for as many as there is time for
    hold: float = 20.0  # seconds for which a client that has stopped reading stays

    @property
    def over(self) -> bool:
        """Tell whether the clients are to stop."""
        return time.monotonic() >= self.end

    def each(self) -> Iterator[int]:
        """Count a client's turns until it is to stop."""
        done = 0
        while not self.over and (self.turns is None or done < self.turns):
            yield done
            done += 1

    def clients_of_server(self) -> set[int]:
        """Return the ports of the clients whose connections the server has open."""
        port = urlsplit(self.url).port
        found = self.server.net_connections("tcp")
        return {int(c.raddr.port) for c in found if c.raddr and c.laddr.port == port}

    async def pause(self, rng: random.Random, times: float = 1.0) -> None:
        """Think, no longer than to the end."""
        left = self.end - time.monotonic()
        await asyncio.sleep(max(0.0, min(left, rng.expovariate(1 / self.think) * times)))


class Client:
    """One client with a connection of its own, which it keeps."""

    def __init__(self, soak: Soak, seed: int) -> None:
        self.soak = soak
        self.rng = random.Random(seed)
        self._http = httpx.AsyncClient(base_url=soak.url, timeout=60)

    async def close(self) -> None:
        """Close the connection."""
        await self._http.aclose()

    async def send(self, kind: str, method: str, path: str, **more: Any) -> httpx.Response | None:
        """Send a request and count what comes; None unless it is a success."""
        soak, began = self.soak, time.monotonic()
        try:
            reply = await self._http.request(method, path, **more)
        except httpx.HTTPError as error:
            soak.counts[kind, type(error).__name__] += 1
            if not (kind == "large" and isinstance(error, httpx.RemoteProtocolError)):
                soak.faults.append(f"{kind}: {error!r}")
            return None
        took = time.monotonic() - began
        soak.counts[kind, str(reply.status_code)] += 1
        soak.times[kind].append(took)
        if reply.status_code == 503 and "retry-after" in reply.headers:
            soak.refused.append(took)
            await asyncio.sleep(min(2.0, float(reply.headers["retry-after"])))
            return None
        if not reply.is_success:
            soak.faults.append(f"{kind}: {reply.status_code} {reply.text[:200]}")
            return None
        return reply

    async def rows(self, kind: str, text: str) -> Any:
        """Send a query and return its rows, or the boolean of an ASK, or None without an answer."""
        if self.rng.random() < 0.5:
            reply = await self.send(kind, "GET", "/sparql", params={"query": text})
        else:
            reply = await self.send(kind, "POST", "/sparql", data={"query": text})
        if reply is None:
            return None
        found = reply.json()
        if "boolean" in found:
            return found["boolean"]
        return [{name: cell["value"] for name, cell in row.items()} for row in found["results"]["bindings"]]

    def judge(self, kind: str, problem: str | None) -> None:
        """Note a wrong answer, if it is one."""
        if problem:
            self.soak.wrong.append(f"{kind}: {problem}")


async def reader(client: Client) -> None:
    """Query the fixed part, new texts and repeated ones, and what the writers write."""
    rng, soak = client.rng, client.soak
    for _ in soak.each():
        choice = rng.random()
        if choice < 0.6:
            kind = "query, new" if choice < 0.4 else "query, repeated"
            asked = query(rng, fresh=choice < 0.4)
            rows = await client.rows(kind, asked.text)
            if rows is not None and not asked.right(rows):
                client.judge(kind, f"{asked.text} gave {str(rows)[:300]}")
        elif choice < 0.75:
            await _read_tally(client)
        elif choice < 0.9:
            tally = rng.choice(soak.tallies)
            before = dict(tally.entries)
            rows = await client.rows("entries", tally.ask_entries())
            if rows is not None:
                client.judge("entries", tally.entries_problem(rows, before))
        elif choice < 0.98:
            await _read_graph(client)
        else:
            reply = await client.send(
                "large", "GET", "/sparql", params={"query": LARGE}, headers={"Accept": "text/csv"}
            )
            if reply is not None and not large_is_right(reply.content):
                client.judge("large", f"{len(reply.content)} bytes that are not the answer")
        await soak.pause(rng)


async def _read_tally(client: Client) -> None:
    tally = client.rng.choice(client.soak.tallies)
    way = "query" if client.rng.random() < 0.7 else "page"
    done, seen = tally.done, tally.seen[way]
    if way == "query":
        rows = await client.rows("tally", tally.ask())
    else:
        name = f"{EX}w{tally.name}"
        reply = await client.send("entity", "GET", "/api/entity", params={"iri": name})
        rows = None
        if reply is not None:
            values = defaultdict(list)
            for row in reply.json()["out"]["triples"]:
                values[row["triple"]["p"]["value"].removeprefix(EX)].append(row["triple"]["o"]["value"])
            rows = [{"n": n, "m": m} for n in values["n"] for m in values["m"]]
    if rows is not None:
        client.judge("tally", tally.problem(rows, done, seen, way))


async def asker(client: Client) -> None:
    """Ask questions as the page does, look at entities, and ask for something that takes no work."""
    rng, soak = client.rng, client.soak
    for _ in soak.each():
        number = rng.randrange(TOWNS)
        if rng.random() < 0.5:
            way = rng.choice(("auto", "read"))
            question = {"question": f"Where is {town(number)} located in?", "model": "none", "how": way}
            reply = await client.send("question", "POST", "/api/ask", json=question)
            if reply is not None:
                events = [json.loads(line) for line in reply.text.splitlines()]
                answered = events[-1]["answer"] if events[-1]["event"] == "answer" else {}
                said = answered.get("text", str(events[-1]))
                if events[0]["event"] == "found":
                    best = events[0]["hits"][0]["iri"]
                else:  # A computed answer has no hits: what it cites must be said of the town.
                    best = next((c["triple"]["s"]["value"] for c in answered.get("citations", ())), "")
                if best != f"{EX}t{number}" or country(number) not in said:
                    client.judge("question", f"{question['question']} got {best}, {said[:200]}")
        else:
            reply = await client.send("entity", "GET", "/api/entity", params={"iri": f"{EX}t{number}"})
            if reply is not None and not {town(number), country(number)} <= {*_words(reply.json())}:
                client.judge("entity", f"{town(number)} is not in {reply.text[:200]}")
        await soak.pause(rng, 2)


def _words(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [word for part in value.values() for word in _words(part)]
    if isinstance(value, list):
        return [word for part in value for word in _words(part)]
    return [value] if isinstance(value, str) else []


async def prober(client: Client) -> None:
    """Ask for what takes no work: how long it takes tells how long the event loop was held up."""
    for _ in client.soak.each():
        reply = await client.send("no work", "GET", "/protocol")
        if reply is not None and reply.text != "12":
            client.judge("no work", reply.text)
        await asyncio.sleep(0.25)


def writer(tally: Tally) -> Callable[[Client], Awaitable[None]]:
    """Return a client that writes: a tally, entries and a graph of its own."""

    async def write(client: Client) -> None:
        rng, soak = client.rng, client.soak
        for _ in soak.each():
            choice = rng.random()
            if choice < 0.4:
                await _raise(client, tally)
            elif choice < 0.85 or tally.name > 0:
                await _enter(client, tally)
            else:
                await _replace(client, tally)
            await soak.pause(rng, 6)

    return write


async def _raise(client: Client, tally: Tally) -> None:
    tally.sent += 1
    if await client.send("update", "POST", "/update", data={"update": tally.raise_by_one()}) is None:
        return
    tally.done += 1
    done, seen = tally.done, tally.seen["query"]
    rows = await client.rows("own write", tally.ask())
    if rows is not None:
        client.judge("own write", tally.problem(rows, done, seen))


async def _enter(client: Client, tally: Tally) -> None:
    number, triples = tally.entry()
    old = tally.old()
    way = client.rng.randrange(3)
    if way == 0 or old:
        removed = "".join(tally.triples(n) for n in old)
        for one in old:
            tally.entries[one] = None
        text = f"INSERT DATA {{ {triples} }}" + (f" ; DELETE DATA {{ {removed} }}" if old else "")
        reply = await client.send("update", "POST", "/update", content=text, headers=_UPDATE)
        for one in old if reply is not None else ():
            tally.entries[one] = False
    else:
        path = "/graphs?default" if way == 1 else "/repositories/main/statements"
        kind = {"Content-Type": "text/turtle"}
        reply = await client.send("upload", "POST", path, content=triples, headers=kind)
    if reply is not None:
        tally.entries[number] = True


async def _replace(client: Client, tally: Tally) -> None:
    tally.graphs_sent += 1
    value = tally.graphs_sent
    body = "".join(f"<{EX}g{n}> <{EX}v> {value} .\n" for n in range(_SPAN))
    kind = {"Content-Type": "text/turtle"}
    path = f"/graphs?graph={EX.replace('#', '%23')}g{tally.name}"
    if await client.send("upload, 2000 triples", "PUT", path, content=body, headers=kind) is not None:
        tally.graphs_done = value


async def _read_graph(client: Client) -> None:
    tally = client.soak.tallies[0]
    done = tally.graphs_done
    graph = f"<{EX}g{tally.name}>"
    text = f"SELECT (COUNT(?v) AS ?n) (MIN(?v) AS ?a) (MAX(?v) AS ?b) {{ GRAPH {graph} {{ ?s ex:v ?v }} }}"
    rows = await client.rows("graph", PREFIXES + text)
    if rows is None or (done == 0 and rows and rows[0].get("n") == "0"):
        return
    row = rows[0]
    right = row["n"] == str(_SPAN) and row["a"] == row["b"] and done <= int(row["a"]) <= tally.graphs_sent
    if not right:
        client.judge("graph", f"{row}, where it had been replaced {done} times")
