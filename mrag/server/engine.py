"""What all protocols of the server share: reading a query, running it, and carrying out updates."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import pickle
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, cast

from starlette.exceptions import HTTPException

from mrag import queries
from mrag.errors import QueryRefused, StoreError
from mrag.guard import EXPLICIT, IMPLICIT, ReadQuery
from mrag.kg import KnowledgeGraph
from mrag.record import SYSTEM
from mrag.server.asking import Answer, Asked, Read, plain_term, written
from mrag.server.cache import AnswerCache
from mrag.server.settings import ServerSettings
from mrag.server.streams import Judges, finish, frames, send
from mrag.server.writing import Writer
from mrag.stores.base import Dataset, Limits
from mrag.stores.oxigraph import OxigraphStore
from mrag.stores.worker import Worker, WorkerPool, refusal, request
from mrag.updates import NIL

logger = logging.getLogger(__name__)

_IGNORED = frozenset({"http://www.ontotext.com/disable-sameAs"})
_READ_SECONDS = 30.0
_SENDING = 10
"""An answer may take this many times the deadline to be sent."""


class Engine:
    """Answers queries on a knowledge graph in worker processes, and changes it.

    Args:
        kg: The knowledge graph.
        settings: The server's settings.
    """

    def __init__(self, kg: KnowledgeGraph, settings: ServerSettings) -> None:
        self.kg = kg
        self.settings = settings
        self.judges = Judges(max(1, settings.workers // 2), min(_READ_SECONDS, settings.seconds))
        self._slots = asyncio.Semaphore(settings.workers)
        self._waiting = 0
        self._cache = AnswerCache(settings.cache_bytes)
        self._reads: dict[str, Read] = {}
        self.writer = Writer(kg, settings, self.judges)
        self._ends: set[asyncio.Future[None]] = set()
        self.running = 0

    @property
    def pool(self) -> WorkerPool | None:
        """Return the worker processes; None where another server answers."""
        return self.kg.store.workers if isinstance(self.kg.store, OxigraphStore) else None

    async def start(self) -> None:
        """Start the processes."""
        if self.pool is not None:
            self.pool.memory = self.settings.memory
            await asyncio.to_thread(self.pool.keep, self.settings.workers)
        await self.judges.start()

    async def stop(self) -> None:
        """End the processes."""
        if self._ends:
            await asyncio.wait(self._ends)
        await asyncio.to_thread(self.judges.close)
        if self.pool is not None:
            await asyncio.to_thread(self.pool.close)

    # -- reading -----------------------------------------------------------------------------------

    async def read(self, asked: Asked) -> Read:
        """Pass a query through the read gate.

        Raises:
            QueryRefused: If the gate refuses it.
        """
        graphs = self._graphs()
        values = {name: term for name, term in asked.values.items() if term is not None}
        key = hashlib.sha256(
            pickle.dumps((asked.text, graphs, sorted(self.kg.prefixes.items()), sorted(values.items())))
        ).hexdigest()
        known = self._reads.get(key)
        if known is None:
            reply = await self.judges.judge(
                {
                    "do": "query",
                    "text": asked.text,
                    # Other instances of mrag look into it; here it is as good as empty.
                    "graphs": (*graphs, SYSTEM),
                    "prefixes": self.kg.query_prefixes,
                    "values": values,
                }
            )
            if reply[0] == "refused":
                raise QueryRefused(str(reply[1]), hint=reply[2])
            _, query, text, start = reply
            known = Read(query, text, {name: plain_term(t) for name, t in start.items()}, asked)
            if len(self._reads) >= 512:
                self._reads.pop(next(iter(self._reads)))
            self._reads[key] = known
        return replace(known, asked=asked)

    def dataset(self, read: Read) -> Dataset:
        """Return the graphs that a query sees.

        The protocol's graphs come before those of the query (SPARQL 1.1 Protocol, section 2.1.4).

        A graph that is not there is an empty one; nothing is fetched from the web.
        """
        asked, record = read.asked, self.kg.record
        default, named = read.query.graphs, read.query.named
        if asked.default or asked.named:
            default, named = asked.default, asked.named
        default = tuple(g for g in default if g not in _IGNORED)
        if not default and not named:
            return Dataset(self.default_graphs(asked.infer), self._named())
        known = {*self._graphs()}
        found: list[str] = []
        for graph in default:
            if graph == EXPLICIT:
                found += record.asserted
            elif graph == IMPLICIT:
                found += record.inferred
            elif graph in NIL:
                found += [g for g in record.asserted if g != record.merged]
            elif graph in known:
                found.append(graph)
        named = tuple(g for g in named if g in known)
        pseudo = bool(default) and all(g in (EXPLICIT, IMPLICIT, *NIL) for g in default)
        return Dataset(tuple(dict.fromkeys(found)), self._named() if pseudo and not named else named)

    def default_graphs(self, infer: bool = True) -> tuple[str, ...]:
        """Return the graphs of the default graph.

        Args:
            infer: Whether inferred triples count.
        """
        record = self.kg.record
        asserted = record.asserted
        if not self.settings.union:
            asserted = tuple(g for g in asserted if g != record.merged)
        return (*asserted, *(record.inferred if infer else ()))

    def _named(self) -> tuple[str, ...]:
        record = self.kg.record
        return record.contexts if self.pool is not None else self.kg.dataset().named

    def _graphs(self) -> tuple[str, ...]:
        record = self.kg.record
        return (*record.asserted, *record.inferred, *record.contexts, *NIL, *sorted(_IGNORED))

    async def alive(self) -> bool:
        """Tell whether a query is answered."""
        answer = await self.answer(await self.read(Asked(queries.get("explore/any").text)), "json")
        return "boolean" in json.loads(answer.first)

    # -- running -----------------------------------------------------------------------------------

    async def answer(self, read: Read, format: str) -> Answer:
        """Run a query and return its answer as soon as it is known to be on its way.

        Args:
            read: A query that has passed the read gate.
            format: Name of the format.

        Raises:
            QueryRefused: If the engine or a cap refuses it.
            QueryTimeout: At the deadline.
            HTTPException: 503 if too many wait already.
        """
        limits = self.settings.limits_of(read.asked.seconds)
        extra = b""
        if self.kg.searcher is not None and _searches(read.query):
            extra = await asyncio.to_thread(self.kg.extra, read.query)
        if self.pool is None:
            return await self._elsewhere(read, format, limits, extra)
        generation = self.kg.store.generation  # type: ignore[attr-defined]
        dataset = self.dataset(read)
        key = (read.text, read.asked.base, tuple(read.start.items()), dataset, format, extra)
        if read.query.repeatable and (kept := self._cache.get(generation, key)) is not None:
            return Answer(kept)

        def job() -> dict[str, Any]:
            seen = self.dataset(read)
            made = request(
                "document",
                read.text,
                seen,
                limits,
                extra=extra,
                format=format,
                substitutions=read.start,
                base=read.asked.base,
                prefixes=self.kg.prefixes if format in ("turtle", "trig", "rdfxml") else None,
            )
            # Graphs of clients may hold the same triple, which must count once.
            made["merge"] = (
                len(set(seen.default) & set(self.kg.record.contexts)) > 0 and len(seen.default) > 1
            )
            return made

        answer = await self.run(job, read.text, limits)
        if answer.whole and read.query.repeatable:
            self._cache.put(generation, key, answer.first)
        return answer

    async def run(self, job: Callable[[], dict[str, Any]], query: str, limits: Limits) -> Answer:
        """Run a request in a worker.

        Args:
            job: Makes the request, of the same state of the knowledge graph as the worker's copy.
            query: For errors.
            limits: Its caps.

        Raises:
            QueryRefused: If the engine or a cap refuses it.
            QueryTimeout: At the deadline.
            HTTPException: 503 if too many wait already.
        """
        pieces = self._pieces(job, query, limits)
        first = await anext(pieces, b"")
        second = await anext(pieces, None)
        if second is None:
            return Answer(first)
        return Answer(first, _after(second, pieces))

    async def _pieces(
        self, job: Callable[[], dict[str, Any]], query: str, limits: Limits
    ) -> AsyncIterator[bytes]:
        loop = asyncio.get_running_loop()
        began = loop.time()
        deadline = began + limits.seconds
        async with self._slot(deadline):
            worker, made = await self._take(job)
            done = False
            try:
                await send(worker, made)
                async for kind, content in frames(worker, deadline, query):
                    if kind == b"D":
                        yield content
                        # Time that the client takes to read does not count against the query.
                        deadline = min(loop.time() + limits.seconds, began + _SENDING * limits.seconds)
                        continue
                    reply = pickle.loads(content)
                    done = True
                    if problem := refusal(reply, query, limits):
                        raise problem
            finally:
                pool = self.pool
                if pool is not None:
                    if done:
                        pool.give(worker)
                    else:
                        finish(lambda: pool.discard(worker), self._ends)

    async def _take(self, job: Callable[[], dict[str, Any]]) -> tuple[Worker, dict[str, Any]]:
        pool = self.pool
        if pool is None:
            raise StoreError("The store has no workers.")
        # A worker's snapshot and the record must be of the same state.
        commit = self.writer.commit
        if commit.acquire(blocking=False):
            try:
                worker = pool.idle()
                if worker is not None:
                    return worker, job()
            finally:
                commit.release()

        def take() -> tuple[Worker, dict[str, Any]]:
            with commit:
                return pool.take(), job()

        taking = asyncio.get_running_loop().run_in_executor(None, take)
        try:
            return await asyncio.shield(taking)
        except asyncio.CancelledError:
            taking.add_done_callback(
                lambda done: pool.give(done.result()[0]) if not done.exception() else None
            )
            raise

    @asynccontextmanager
    async def _slot(self, deadline: float) -> AsyncIterator[None]:
        if self._waiting >= self.settings.queue:
            raise HTTPException(503, "Too many queries wait already.", {"Retry-After": "1"})
        self._waiting += 1
        try:
            async with asyncio.timeout_at(deadline):
                await self._slots.acquire()
        except TimeoutError as error:
            raise HTTPException(
                503, "No worker came free before the deadline.", {"Retry-After": "1"}
            ) from error
        finally:
            self._waiting -= 1
        self.running += 1
        try:
            yield
        finally:
            self.running -= 1
            self._slots.release()

    async def _elsewhere(self, read: Read, format: str, limits: Limits, extra: bytes) -> Answer:
        """Ask a store that is a server itself, and write its answer down."""
        if read.start:
            raise QueryRefused("Values for variables need a graph in an embedded store.")
        loop = asyncio.get_running_loop()
        async with self._slot(loop.time() + limits.seconds):
            dataset = self.dataset(read)
            result = await asyncio.to_thread(self.kg.store.bounded, read.text, dataset, limits, extra)
        return Answer(await asyncio.to_thread(written, result, format, self.kg.prefixes))


async def _after(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    try:
        yield first
        async for piece in rest:
            yield piece
    finally:
        await cast(Any, rest).aclose()


def _searches(query: ReadQuery) -> bool:
    return any("ontotext.com/graphdb/similarity/" in str(p) for _, p, _ in query.patterns)
