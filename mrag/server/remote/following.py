"""Taking over what other processes have written to a store that is a server itself."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import Record, read_record
from mrag.stores.changes import RESERVED
from mrag.stores.sparql import SparqlEndpoint

_RECORD = 1.0
"""Seconds for which a record is taken for the present one, unless an answer has to be sure of it."""
_COUNT = 60.0
"""The same for triples that can only be counted, by a scan."""


class RecordFollower:
    """Keeps a knowledge graph up to date with its store.

    Other processes may load, reason and change; the record in the store names the graphs that are then in
    sight. Data that mrag did not load has no record, and is counted instead.

    Args:
        kg: The knowledge graph, in a store that is a server.

    Attributes:
        graphs: The named graphs of a store whose data mrag did not load, as they were listed last.
        all_graphs: Name of the union of those, where the server has one.
    """

    def __init__(self, kg: KnowledgeGraph) -> None:
        self._kg = kg
        self.graphs = self._listed()
        store = kg.store
        self.all_graphs = store.dialect.union if isinstance(store, SparqlEndpoint) else ""
        self._reading = threading.Lock()
        self._read = time.monotonic()

    @property
    def due(self) -> bool:
        """Return whether the store has not been asked for some time."""
        return time.monotonic() - self._read > (_RECORD if self._kept else _COUNT)

    @property
    def _kept(self) -> bool:
        return self._kg.record.kept and not self._kg.store.capabilities.reasoning

    def catch_up(self, *, now: bool = False) -> None:
        """Take over what has been written meanwhile.

        Args:
            now: Whether to ask the store for its record even if that has been done a moment ago.

        Raises:
            StoreError: If the store does not answer.
        """
        now = now and self._kept
        if not (now or self.due):
            return
        with self._reading:
            if not (now or self.due):
                return
            before = self._kg.record
            after = self._present(before)
            self.graphs, self._read = self._listed(), time.monotonic()
            # A change of this process lands while the lock is held, and it knows better.
            with self._kg.landing:
                if self._kg.record is before and after != before:
                    self._kg.written(after, changed=after.revision != before.revision)

    def _listed(self) -> tuple[str, ...]:
        if not self._kg.as_found:
            return ()
        return tuple(g for g in self._kg.store.graphs() if not g.startswith(RESERVED))

    def _present(self, before: Record) -> Record:
        kg = self._kg
        if self._kept:
            found = read_record(kg.store, kg.iri)
            return found if found.kept and found.revision >= before.revision else before
        count = kg.counted(before.asserted)
        if count == before.triples:
            return before
        reasoned = count if kg.store.capabilities.reasoning else -1
        return replace(before, triples=count, revision=count, reasoned=reasoned)
