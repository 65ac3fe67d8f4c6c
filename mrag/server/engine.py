"""What all protocols of the server share: reading a query, running it, and carrying out updates."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import pickle
import threading
import time
from collections.abc import AsyncGenerator, Callable, Hashable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar, cast

from starlette.exceptions import HTTPException

import mrag
from mrag import errors, index
from mrag.config import Settings
from mrag.errors import StoreError
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import SYSTEM, UNNAMED, Record
from mrag.graph.updates import PlannedUpdate, UpdateReport, apply, preview
from mrag.index.similarity import freshen, words_first
from mrag.rdf import queries
from mrag.rdf.slicing import slice_query
from mrag.rdf.terms import DEFAULT_PREFIXES
from mrag.retrieval.reading import QuestionReader
from mrag.server.metrics import ActiveQueries, RecentErrors
from mrag.server.protect import Slots, within
from mrag.server.queries import (
    WITH_PREFIXES,
    CheckedQuery,
    GraphView,
    QueryRequest,
    RemoteAnswers,
    ResultStream,
    SizedCache,
    dataset_of,
    plain_term,
)
from mrag.server.settings import ServerSettings
from mrag.server.streams import QueryParsers, Room, Spool, finish, frames, kept_for_others, send
from mrag.stores.base import Dataset, Limits
from mrag.stores.oxigraph import OxigraphStore
from mrag.stores.process.channel import late
from mrag.stores.process.parsing import close_all, defences, parsed
from mrag.stores.process.workers import Worker, WorkerPool, refusal, request

logger = logging.getLogger(__name__)

T = TypeVar("T")
_QUIET = 2.0  # seconds without a change after which the index is brought up to date
_SLACK = 1.0  # seconds that the child's own deadline has to tell before ours does


class Writer:
    """Changes a knowledge graph."""

    def __init__(self, kg: KnowledgeGraph, settings: ServerSettings, parsers: QueryParsers) -> None:
        self.kg = kg
        self.settings = settings
        self.commit = threading.RLock()
        kg.landing = self.commit
        self.before: Callable[[], None] = lambda: None
        self.failed: Callable[[errors.MragError], None] = lambda error: None
        self._parsers = parsers
        self._writing = asyncio.Lock()
        self._following: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        # Threads of their own: those that all share must stay free for queries.
        self._thread = ThreadPoolExecutor(1, "mrag-writing")
        self._readers = ThreadPoolExecutor(settings.workers, "mrag-reading")

    async def start(self) -> None:
        """Go on with what was left to do, if changes are made here."""
        if self.settings.update and self.kg.pending:
            self.follow()

    def close(self) -> None:
        """End the processes that read documents, and take no more work."""
        if self._following is not None:
            self._following.cancel()
        self._thread.shutdown(wait=False, cancel_futures=True)
        self._readers.shutdown(wait=False, cancel_futures=True)
        close_all()

    def writable(self) -> None:
        """Refuse to write where that is off."""
        if not self.settings.update:
            raise HTTPException(403, "Updates are off. Start the server with --update to allow them.")

    async def operations(
        self, text: str, using: Sequence[str] = (), using_named: Sequence[str] = (), base: str | None = None
    ) -> Sequence[Any]:
        """Read an update."""
        more = {"using": tuple(using), "using_named": tuple(using_named), "base": base}
        read = await self._parsers.parse("update", text, self.kg.query_prefixes, more)
        return cast(Sequence[Any], read)

    async def change(self, operations: Sequence[Any], seconds: float | None = None) -> UpdateReport:
        """Carry out operations, whole or not at all; one request at a time."""
        self.writable()
        until = time.monotonic() + self.settings.limits_of(seconds).seconds
        steps = await self.read(parsed, operations, until=until)
        union, most = self.settings.union, self.settings.limits.rows

        def work() -> UpdateReport:
            left = max(until - time.monotonic(), 0.001)
            report = apply(self.kg, steps, union=union, seconds=left, max_changes=most, commit=self.commit)
            if not self.settings.reason or not (report.added or report.removed):
                return report
            try:
                mrag.reason(self.kg)
            except errors.MragError as error:
                logger.warning("After an update: %s", error)
                return replace(report, inferred="dropped")
            return replace(report, inferred="kept")

        # Once begun it goes on, also when its client leaves: it lands whole or not at all.
        report = await self._alone(work, until)
        self.follow()
        return report

    async def plan(self, operations: Sequence[Any]) -> PlannedUpdate:
        """Return what operations would change, and change nothing."""
        until = time.monotonic() + self.settings.seconds
        steps = await self.read(parsed, operations, until=until)
        left, union = max(until - time.monotonic(), 0.001), self.settings.union
        work = partial(
            preview, self.kg, steps, union=union, seconds=left, max_changes=self.settings.limits.rows
        )
        return await self._alone(work, until)

    async def make(self, work: Callable[[], T]) -> T:
        """Make a change other than by an update, alone, and bring up to date what follows from it."""
        made = await self._alone(work, time.monotonic() + self.settings.seconds)
        self.follow()
        return made

    def follow(self) -> None:
        """Bring inferences, where the graph has been reasoned over, and the index up to date meanwhile."""
        self._changed.set()
        if self._following is None or self._following.done():
            self._following = asyncio.get_running_loop().create_task(self._followed())

    async def _followed(self) -> None:
        async def alone(work: Callable[[], object]) -> None:
            await self._writing.acquire()
            await self._begun(work)

        try:
            while self._changed.is_set():
                self._changed.clear()
                if self.kg.pending:
                    await alone(lambda: mrag.reason(self.kg))
                # Texts are indexed when no more changes come, because all of them have to be read for it.
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._changed.wait(), _QUIET)
                if not self._changed.is_set():
                    await alone(lambda: freshen(self.kg, self.settings.index))
        except errors.MragError as error:
            logger.warning("Inferences and index are not up to date: %s", error)
            self.failed(error)

    async def read(self, work: Callable[..., T], *arguments: Any, until: float | None = None) -> T:
        """Read what a client sent, in a child process; nothing else waits for it."""
        until = until or time.monotonic() + self.settings.seconds

        def bounded() -> T:
            left = max(until - time.monotonic(), 0.001)
            return work(*arguments, replace(self.settings.reading, seconds=left))

        reading = asyncio.get_running_loop().run_in_executor(self._readers, bounded)
        late = "What others have sent was being read until the deadline."
        return await within(max(until - time.monotonic(), 0) + _SLACK, reading, late, "5")

    async def _alone(self, work: Callable[[], T], until: float) -> T:
        """Do something that changes the graph; no other change is made meanwhile."""
        self.writable()
        late = "Other changes were being made until the deadline; this one was not begun."
        await within(max(until - time.monotonic(), 0), self._writing.acquire(), late, "5")
        return await self._begun(work)

    async def _begun(self, work: Callable[[], T]) -> T:
        """Do something while nothing else is written; the lock is held already."""
        store = self.kg.store
        steady = store.workers.steady if isinstance(store, OxigraphStore) else nullcontext

        def begun() -> T:
            with steady():
                self.before()
                return work()

        try:
            doing = asyncio.get_running_loop().run_in_executor(self._thread, begun)
        except BaseException:
            self._writing.release()
            raise
        doing.add_done_callback(self._done)
        return await asyncio.shield(doing)

    def _done(self, doing: asyncio.Future[Any]) -> None:
        self._writing.release()
        if not doing.cancelled() and (error := doing.exception()) is not None:
            # Its client may have left, and then nobody else asks what became of it.
            logger.info("A change was not made: %s", error)

    @property
    def following(self) -> bool:
        """Return whether inferences and the index are being brought up to date with the last changes."""
        return self._following is not None and not self._following.done()

    @property
    def busy(self) -> bool:
        """Return whether a change is being made."""
        return self._writing.locked()

    async def set_prefixes(self, own: Mapping[str, str]) -> None:
        """Replace the prefixes that belong to the knowledge graph itself."""
        kg = self.kg
        before = json.loads(kg.record.prefixes or "{}")

        def work() -> None:
            with self.commit:
                record = replace(kg.record, prefixes=json.dumps(dict(own), sort_keys=True))
                kg.commit(record, changed=False)
                for prefix in before:
                    kg.prefixes.pop(prefix, None)
                kg.prefixes.update({**own, **DEFAULT_PREFIXES})

        await self._alone(work, time.monotonic() + self.settings.seconds)

    async def build_index(self, name: str, select: str, *, again: bool) -> None:
        """Build a similarity index of what a query gives, or bring one up to date."""

        def work() -> None:
            indexes = mrag.SimilarityIndexes.of(self.kg)
            there = name in indexes.names()
            if again and not there:
                raise errors.MissingIndex(f"There is no similarity index {name!r}.")
            if there and not again:
                raise HTTPException(409, f"There is an index {name!r} already. PUT builds it again.")
            definition: index.Definition | None = index.Definition(languages=self.kg.languages)
            model: Any = Settings.from_env().embedder
            try:
                files = getattr(indexes.get(name), "files", None) if again else None
                if again:
                    definition = indexes.info(name).definition
                if files is not None:
                    model = str(files.extra.get("later") or files.extra.get("model") or "none")
            except (errors.DamagedIndex, errors.IndexMismatch) as error:
                logger.warning("%s It is rebuilt from the settings.", error.message)
            if select:
                definition = index.Definition((), self.kg.languages, fallback=False, select=select)
            if not there and words_first(model):
                indexes.build(name, definition=definition, model=model, later=True)
            indexes.build(name, definition=definition, model=model)

        await self._alone(work, time.monotonic() + self.settings.seconds)


_READ_SECONDS = 30.0
_SENDING = 10  # an answer may take this many times the deadline to be written, and to be read
_WAITING = 4  # answers that wait for their readers may take this many times what one may
_READS = 16 << 20
_READ, _PER_CHARACTER = 4 << 10, 16
"""Bytes that a query takes once it has been read, about, and how much more for each of its characters."""


class Engine:
    """Answers queries on a knowledge graph in worker processes, and changes it."""

    def __init__(self, kg: KnowledgeGraph, settings: ServerSettings) -> None:
        self.kg = kg
        self.settings = settings
        self.parsers = QueryParsers(
            max(1, settings.workers // 2),
            replace(settings.reading, seconds=min(_READ_SECONDS, settings.seconds), bytes=0),
        )
        self.slots = Slots(settings.workers, settings.queue, "queries")
        self.active, self.errors = ActiveQueries(), RecentErrors()
        self._cache: SizedCache[Hashable, bytes] = SizedCache(settings.cache_bytes)
        self._reads: SizedCache[str, CheckedQuery] = SizedCache(_READS)
        # Readers must not write what they have counted: it is the writer's turn that keeps the record whole.
        kg.keeps_counts = False
        # Threads of their own, because others may wait for long on those that all share.
        self._threads = ThreadPoolExecutor(2 * settings.workers + 2, "mrag-answers")
        path = kg.store.path if isinstance(kg.store, OxigraphStore) else None
        self.remote = None if isinstance(kg.store, OxigraphStore) else RemoteAnswers(kg)
        room = _WAITING * settings.max_bytes
        self._room = Room(self._threads, room, None if path is None else path.parent)
        self.writer = Writer(kg, settings, self.parsers)
        self.writer.failed = partial(self.errors.note, "after a change", None)
        if self.remote is not None:
            self.writer.before = partial(self.remote.follower.catch_up, now=True)
        self.questions = QuestionReader(kg, settings.seconds, memory=settings.memory)
        self._ends: set[asyncio.Future[None]] = set()

    @property
    def pool(self) -> WorkerPool | None:
        """Return the worker processes; None where another server answers."""
        return self.kg.store.workers if isinstance(self.kg.store, OxigraphStore) else None

    @property
    def record(self) -> Record:
        """Return the record of the state that queries are answered from."""
        shown = self.pool.shown if self.pool is not None else None
        return shown.note if shown is not None and shown.note is not None else self.kg.record

    async def catch_up(self) -> None:
        """Take over what other processes have written to a store that is a server itself."""
        if self.remote is not None and self.remote.follower.due:
            # Where it does not answer, what is asked of it next says so.
            with suppress(StoreError):
                await asyncio.get_running_loop().run_in_executor(self._threads, self.remote.follower.catch_up)

    async def start(self) -> None:
        """Start the processes."""
        if self.pool is not None:
            self.pool.memory = self.settings.memory
            # A copy of the store and the record that goes with it must be of the same state.
            self.pool.guard, self.pool.note = self.writer.commit, lambda: self.kg.record
            await asyncio.to_thread(self.pool.keep, self.settings.workers)
        await self.parsers.start()
        await self.writer.start()
        held = [*defences(), *(self.pool.defences() if self.pool is not None else ())]
        if not all(one.offline for one in held):
            logger.warning(
                "The processes that run queries could reach the network if the read gate failed: neither a "
                "network namespace nor a seccomp filter is available. Run `mrag doctor` for advice."
            )

    async def stop(self) -> None:
        """End the processes."""
        if self._ends:
            await asyncio.wait(self._ends)
        await asyncio.to_thread(self.questions.close)
        await asyncio.to_thread(self.parsers.close)
        await asyncio.to_thread(self.writer.close)
        if self.pool is not None:
            await asyncio.to_thread(self.pool.close)
        self._threads.shutdown(wait=False)

    async def read(self, asked: QueryRequest) -> CheckedQuery:
        """Pass a query through the read gate."""
        until = asyncio.get_running_loop().time() + self.settings.limits_of(asked.seconds).seconds
        graphs = self.view().known
        values = {name: term for name, term in asked.values.items() if term is not None}
        key = hashlib.sha256(
            pickle.dumps((asked.text, graphs, sorted(self.kg.prefixes.items()), sorted(values.items())))
        ).hexdigest()
        known = self._reads.get(key)
        if known is None:
            # Other instances of mrag read the system's graph; here it counts as empty.
            seen, prefixes = (*graphs, SYSTEM), self.kg.query_prefixes
            query, text, values = await self.parsers.parse(
                "query", asked.text, seen, prefixes, values, self.remote is None
            )
            start = {name: plain_term(t) for name, t in values.items()}
            known = CheckedQuery(query, text, start, asked, until)
            self._reads.put(key, known, _READ + _PER_CHARACTER * len(asked.text))
        text, distinct = known.text, asked.distinct and known.query.form == "SelectQuery"
        if known.query.form != "AskQuery" and (asked.limit is not None or asked.offset or distinct):
            text = slice_query(text, asked.limit, asked.offset, distinct=distinct)
        return replace(known, asked=asked, until=until, text=text)

    def view(self, record: Record | None = None) -> GraphView:
        """Return the graphs that clients see, in the state that a record describes."""
        record = record or self.record
        if self.remote is None or not self.kg.as_found:
            return GraphView(record, record.contexts, self.settings.union, beside=self.kg.beside)
        follower, own = self.remote.follower, self.kg.server_graph()
        plain = (UNNAMED, own) if self.kg.store.capabilities.reasoning and not self.kg.chosen else ()
        graphs = tuple(graph for graph in follower.graphs if graph not in plain)
        return GraphView(record, graphs, self.settings.union, True, follower.all_graphs, plain=plain)

    async def alive(self) -> bool:
        """Return whether a query is answered."""
        answer = await self.answer(await self.read(QueryRequest(queries.get("explore/any").text)), "json")
        return "boolean" in json.loads(answer.first)

    async def answer(self, read: CheckedQuery, format: str) -> ResultStream:
        """Run a query and return its answer as soon as it is known to be on its way."""
        limits = self.settings.limits_of(read.asked.seconds)
        extra = b""
        searches = any("ontotext.com/graphdb/similarity/" in str(p) for _, p, _ in read.query.patterns)
        if self.kg.searcher is not None and searches:
            extra = await asyncio.to_thread(self.kg.extra, read.query)
        if self.remote is not None:
            with self.active.running(read.text, None):

                def seen() -> Dataset:
                    return dataset_of(read, self.view())

                work = partial(self.remote.answer, read, seen, format, limits, extra)
                return await self.elsewhere(limits, work)
        assert self.pool is not None
        shown = self.pool.shown
        dataset = dataset_of(read, self.view())
        state = shown.generation if shown is not None else -1
        key = (state, read.text, read.asked.base, tuple(read.start.items()), dataset, format, extra)
        if shown is not None and read.query.repeatable and (kept := self._cache.get(key)) is not None:
            return ResultStream(kept)

        def job(record: Record) -> dict[str, Any]:
            seen = dataset_of(read, self.view(record))
            made = request(
                "document", read.text, seen, limits, extra=extra, format=format, substitutions=read.start,
                base=read.asked.base, prefixes=self.kg.prefixes if format in WITH_PREFIXES else None,
            )  # fmt: skip
            # Graphs of clients may hold the same triple, which must count once.
            made["merge"] = len(set(seen.default) & set(record.contexts)) > 0 and len(seen.default) > 1
            return made

        answer = await self.run(job, read.text, limits, read.until)
        if answer.rest is None and read.query.repeatable and shown is not None and shown is self.pool.shown:
            size = len(read.text) + len(extra) + 100 * (len(dataset.default) + len(dataset.named))
            self._cache.put(key, answer.first, size + len(answer.first))
        return answer

    async def run(
        self, job: Callable[[Record], dict[str, Any]], query: str, limits: Limits, until: float | None = None
    ) -> ResultStream:
        """Run a request in a worker."""
        pieces = self._pieces(job, query, limits, until)
        first, second = await anext(pieces, b""), await anext(pieces, None)
        if second is None:
            return ResultStream(first)
        return ResultStream(first, Spool(second, pieces, self._room, _SENDING * limits.seconds))

    async def _pieces(
        self, job: Callable[[Record], dict[str, Any]], query: str, limits: Limits, until: float | None
    ) -> AsyncGenerator[bytes, None]:
        loop = asyncio.get_running_loop()
        began = loop.time()
        deadline = until or began + limits.seconds
        async with self.slots.taken(deadline - began):
            worker, made = await self._take(job)
            if loop.time() >= deadline and self.pool is not None:
                self.pool.give(worker)  # the next query finds the copy made
                raise late(query)
            done = False
            try:
                with self.active.running(query, worker.pid):
                    await send(worker, made)
                    async for kind, content in frames(worker, deadline, query):
                        if kind == b"D":
                            yield content
                            # As long as more comes, the query is not at an end.
                            deadline = min(loop.time() + limits.seconds, began + _SENDING * limits.seconds)
                            continue
                        reply = pickle.loads(content)  # noqa: S301 # our own child wrote it
                        done = True
                        if problem := refusal(reply, query, limits):
                            raise problem
            finally:
                pool = self.pool
                if pool is not None:
                    if done:
                        pool.give(worker)
                    else:
                        finish(lambda: pool.discard(worker), self._ends, self._threads)

    async def _take(self, job: Callable[[Record], dict[str, Any]]) -> tuple[Worker, dict[str, Any]]:
        pool = self.pool
        if pool is None:
            raise StoreError("The store has no workers.")

        def paired(worker: Worker) -> tuple[Worker, dict[str, Any]]:
            try:
                return worker, job(worker.snapshot.note or self.kg.record)
            except BaseException:
                pool.give(worker)
                raise

        if (worker := pool.idle()) is not None:
            return paired(worker)
        taking = asyncio.get_running_loop().run_in_executor(self._threads, lambda: paired(pool.take()))
        return await kept_for_others(taking, lambda pair: pool.give(pair[0]))

    async def elsewhere(self, limits: Limits, work: Callable[[], bytes]) -> ResultStream:
        """Have a store that is a server itself answer, in a thread."""
        async with self.slots.taken(limits.seconds):
            return ResultStream(await asyncio.get_running_loop().run_in_executor(self._threads, work))
