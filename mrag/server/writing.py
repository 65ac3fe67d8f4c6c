"""Changes that clients make: updates, prefixes and similarity indexes, one at a time."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from dataclasses import replace
from typing import Any, TypeVar, cast

from starlette.exceptions import HTTPException

import mrag
from mrag import errors, index
from mrag.config import Settings
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.updates import PlannedUpdate, UpdateReport, apply, preview
from mrag.rdf.terms import DEFAULT_PREFIXES
from mrag.server.processes import writing_alone
from mrag.server.settings import ServerSettings
from mrag.server.streams import QueryParsers
from mrag.stores.oxigraph import OxigraphStore
from mrag.stores.process.parsing import close_all, parsed, warm

logger = logging.getLogger(__name__)

T = TypeVar("T")
_QUIET = 2.0
"""Seconds without a change after which the index is brought up to date."""
_SLACK = 1.0
"""Seconds that the child's own deadline has to tell before ours does."""


class Writer:
    """Changes a knowledge graph.

    Args:
        kg: The knowledge graph.
        settings: The server's settings.
        parsers: The processes that read updates.

    Attributes:
        commit: Held while the store and the record are not of the same state.
        before: Called before anything is written, while no other process of this server writes.
        failed: Called with the error where inferences and index could not be brought up to date.
    """

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
        """Start a process that reads documents, so that the first request need not wait."""
        if self.settings.update:
            await asyncio.get_running_loop().run_in_executor(self._readers, warm, self.settings.reading)
            if self.kg.pending:
                self.follow()

    def close(self) -> None:
        """End the processes that read documents, and take no more work."""
        if self._following is not None:
            self._following.cancel()
        self._thread.shutdown(wait=False, cancel_futures=True)
        self._readers.shutdown(wait=False, cancel_futures=True)
        close_all()

    def writable(self) -> None:
        """Refuse to write where that is off.

        Raises:
            HTTPException: 403 if updates are off.
        """
        if not self.settings.update:
            raise HTTPException(403, "Updates are off. Start the server with --update to allow them.")

    async def operations(
        self, text: str, using: Sequence[str] = (), using_named: Sequence[str] = (), base: str | None = None
    ) -> Sequence[Any]:
        """Read an update.

        Raises:
            QueryRefused: If it is none, or asks for what is not allowed.
        """
        reply = await self._parsers.parse(
            {
                "do": "update",
                "text": text,
                "prefixes": self.kg.query_prefixes,
                "using": tuple(using),
                "using_named": tuple(using_named),
                "base": base,
            }
        )
        if reply[0] == "refused":
            raise errors.QueryRefused(str(reply[1]), hint=reply[2])
        return cast(Sequence[Any], reply[1])

    async def change(self, operations: Sequence[Any], seconds: float | None = None) -> UpdateReport:
        """Carry out operations, whole or not at all; one request at a time.

        Raises:
            QueryRefused: If one is not allowed.
            QueryTimeout: At the deadline; nothing has changed.
        """
        self.writable()
        limits = self.settings.limits_of(seconds)
        until = time.monotonic() + limits.seconds
        steps = await self.read(parsed, operations, until=until)

        def work() -> UpdateReport:
            report = apply(
                self.kg,
                steps,
                union=self.settings.union,
                seconds=max(until - time.monotonic(), 0.001),
                max_changes=limits.rows,
                commit=self.commit,
            )
            if self.settings.reason and (report.added or report.removed):
                report = self._reasoned(report)
            return report

        # Once begun it goes on, also when its client leaves: it lands whole or not at all.
        report = await self._alone(work, until)
        self.follow()
        return report

    async def plan(self, operations: Sequence[Any], seconds: float | None = None) -> PlannedUpdate:
        """Return what operations would change, and change nothing.

        Raises:
            QueryRefused: If one is not allowed.
            QueryTimeout: At the deadline.
        """
        limits = self.settings.limits_of(seconds)
        until = time.monotonic() + limits.seconds
        steps = await self.read(parsed, operations, until=until)
        left = max(until - time.monotonic(), 0.001)
        union, most = self.settings.union, limits.rows

        def work() -> PlannedUpdate:
            return preview(self.kg, steps, union=union, seconds=left, max_changes=most)

        return await self._alone(work, until)

    async def make(self, work: Callable[[], T]) -> T:
        """Make a change other than by an update, alone, and bring up to date what follows from it.

        Args:
            work: Changes the graph, whole or not at all.

        Raises:
            HTTPException: 403 if updates are off, 503 if others were being made until the deadline.
        """
        self.writable()
        made = await self._alone(work, time.monotonic() + self.settings.seconds)
        self.follow()
        return made

    def follow(self) -> None:
        """Bring inferences, where the graph has been reasoned over, and the index up to date meanwhile."""
        self._changed.set()
        if self._following is None or self._following.done():
            self._following = asyncio.get_running_loop().create_task(self._followed())

    async def _followed(self) -> None:
        from mrag.index.similarity import freshen

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
        """Read what a client sent, in a child process; nothing else waits for it.

        Args:
            work: Takes the arguments, and last the bounds of reading.
            *arguments: What it is given.
            until: Time of the monotonic clock at which it is given up; the settings' deadline by default.

        Raises:
            QueryTimeout: At the deadline, also where others were read until then.
        """
        until = until or time.monotonic() + self.settings.seconds

        def begun() -> T:
            left = max(until - time.monotonic(), 0.001)
            return work(*arguments, replace(self.settings.reading, seconds=left))

        try:
            async with asyncio.timeout(max(until - time.monotonic(), 0) + _SLACK):
                return await asyncio.get_running_loop().run_in_executor(self._readers, begun)
        except TimeoutError as error:
            if isinstance(error, errors.QueryTimeout):
                raise
            raise HTTPException(
                503, "What others have sent was being read until the deadline.", {"Retry-After": "5"}
            ) from error

    async def _alone(self, work: Callable[[], T], until: float) -> T:
        """Do something that changes the graph; no other change is made meanwhile.

        Raises:
            HTTPException: 503 if others were being made until the deadline; this one has not begun.
        """
        try:
            async with asyncio.timeout(max(until - time.monotonic(), 0)):
                await self._writing.acquire()
        except TimeoutError as error:
            raise _busy() from error
        return await self._begun(work)

    async def _begun(self, work: Callable[[], T]) -> T:
        """Do something while nothing else is written; the lock is held already."""
        store = self.kg.store
        steady = store.workers.steady if isinstance(store, OxigraphStore) else nullcontext

        def begun() -> T:
            with steady(), writing_alone(self.settings, self.settings.seconds):
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
        """Build a similarity index of what a query gives, or bring one up to date.

        Args:
            name: The index's name.
            select: A SELECT query for `?documentID ?documentText`; the graph's own texts if empty.
            again: Whether the index is there already.

        Raises:
            ConfigError: If the name or the query cannot be used.
            MissingIndex: If there is none to build again.
        """

        def work() -> None:
            indexes = mrag.SimilarityIndexes.of(self.kg)
            there = name in indexes.names()
            if again and not there:
                raise errors.MissingIndex(f"There is no similarity index {name!r}.")
            if there and not again:
                raise HTTPException(409, f"There is an index {name!r} already. PUT builds it again.")
            definition: index.Definition | None = index.Definition(languages=self.kg.languages)
            model = Settings.from_env().embedder
            try:
                files = getattr(indexes.get(name), "files", None) if again else None
                if again:
                    definition = indexes.info(name).definition
                model = str(files.extra.get("model") or "none") if files is not None else model
            except (errors.DamagedIndex, errors.IndexMismatch) as error:
                logger.warning("%s It is rebuilt from the settings.", error.message)
            if select:
                definition = index.Definition((), self.kg.languages, fallback=False, select=select)
            indexes.build(name, definition=definition, model=model)

        await self._alone(work, time.monotonic() + self.settings.seconds)

    def _reasoned(self, report: UpdateReport) -> UpdateReport:
        try:
            mrag.reason(self.kg)
        except errors.MragError as error:
            logger.warning("After an update: %s", error)
            return replace(report, inferred="dropped")
        return replace(report, inferred="kept")


def _busy() -> HTTPException:
    return HTTPException(
        503, "Other changes were being made until the deadline; this one was not begun.", {"Retry-After": "5"}
    )
