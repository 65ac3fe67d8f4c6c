"""Changes that clients make: updates, prefixes and similarity indexes, one at a time."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from starlette.exceptions import HTTPException

from mrag.errors import MissingIndex, MragError, QueryRefused
from mrag.kg import KnowledgeGraph
from mrag.record import write_record
from mrag.server.settings import ServerSettings
from mrag.server.streams import Judges
from mrag.stores.oxigraph import OxigraphStore
from mrag.terms import DEFAULT_PREFIXES
from mrag.updates import UpdateReport, apply

logger = logging.getLogger(__name__)


class Writer:
    """Changes a knowledge graph.

    Args:
        kg: The knowledge graph.
        settings: The server's settings.
        judges: The processes that read updates.

    Attributes:
        commit: Held while the store and the record are not of the same state.
    """

    def __init__(self, kg: KnowledgeGraph, settings: ServerSettings, judges: Judges) -> None:
        self.kg = kg
        self.settings = settings
        self.commit = threading.Lock()
        self._judges = judges
        self._writing = threading.Lock()

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
        reply = await self._judges.judge(
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
            raise QueryRefused(str(reply[1]), hint=reply[2])
        return cast(Sequence[Any], reply[1])

    async def change(self, operations: Sequence[Any], seconds: float | None = None) -> UpdateReport:
        """Carry out operations, whole or not at all; one request at a time.

        Raises:
            QueryRefused: If one is not allowed.
            QueryTimeout: At the deadline; nothing has changed.
        """
        self.writable()
        limits = self.settings.limits_of(seconds)

        def work() -> UpdateReport:
            with self._writing:
                report = apply(
                    self.kg,
                    operations,
                    union=self.settings.union,
                    seconds=limits.seconds,
                    most=limits.rows,
                    commit=self.commit,
                )
                if self.settings.reason and (report.added or report.removed):
                    report = self._reasoned(report)
            if isinstance(self.kg.store, OxigraphStore):
                self.kg.store.workers.warm()
            return report

        # Once begun it goes on, also when its client leaves: it lands whole or not at all.
        return await asyncio.shield(asyncio.get_running_loop().run_in_executor(None, work))

    async def set_prefixes(self, own: Mapping[str, str]) -> None:
        """Replace the prefixes that belong to the knowledge graph itself."""
        kg = self.kg
        before = json.loads(kg.record.prefixes or "{}")

        def work() -> None:
            with self._writing, self.commit:
                record = replace(kg.record, prefixes=json.dumps(dict(own), sort_keys=True))
                write_record(kg.store, kg.iri, record)
                kg.written(record, changed=False)
                for prefix in before:
                    kg.prefixes.pop(prefix, None)
                kg.prefixes.update({**own, **DEFAULT_PREFIXES})

        await asyncio.to_thread(work)

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
        from mrag.config import Settings
        from mrag.index.documents import Definition
        from mrag.index.similarity import SimilarityIndexes

        def work() -> None:
            indexes = SimilarityIndexes.of(self.kg)
            there = name in indexes.names()
            if again and not there:
                raise MissingIndex(f"There is no similarity index {name!r}.")
            if there and not again:
                raise HTTPException(409, f"There is an index {name!r} already. PUT builds it again.")
            definition: Definition | None = Definition(languages=self.kg.languages)
            model = Settings.from_env().embedder
            if again:
                files = getattr(indexes.get(name), "files", None)
                definition = indexes.info(name).definition
                model = str(files.extra.get("model") or "none") if files is not None else model
            if select:
                definition = Definition((), self.kg.languages, fallback=False, select=select)
            with self._writing:
                indexes.build(name, definition=definition, model=model)

        await asyncio.shield(asyncio.get_running_loop().run_in_executor(None, work))

    def _reasoned(self, report: UpdateReport) -> UpdateReport:
        from mrag.reasoning.run import reason

        try:
            reason(self.kg)
        except MragError as error:
            logger.warning("After an update: %s", error)
            return replace(report, inferred="dropped")
        return replace(report, inferred="kept")
