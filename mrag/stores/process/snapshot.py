"""Copies of a store, and the child processes that answer from them.

The child's side is `mrag.stores.process.query_child`.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mrag.errors import MragError, StoreError
from mrag.storage.files import Scratch
from mrag.stores.process.channel import Child
from mrag.stores.process.reserve import Reserve

if TYPE_CHECKING:
    from mrag.stores.oxigraph import OxigraphStore

_OPENING = 600.0
"""Seconds that a process may take to read a copy; a store in memory is read whole."""


class Snapshot:
    """A copy of a store that workers read; its folder goes when the last of them does.

    Args:
        store: The store.
        note: What is to be known of the state that is copied.
    """

    def __init__(self, store: OxigraphStore, note: Any = None) -> None:
        self.note = note
        # Hard links need the same file system, so the copy of a folder lies beside it.
        parent = None if store.path is None else store.path.parent
        prefix = None if store.path is None else snapshot_prefix(store.path)
        self._scratch = Scratch("snapshot", parent, prefix=prefix)
        self.path = self._scratch.path / "0"
        self.users = 0
        self.current = True
        self.generation = store.snapshot(self.path)

    def drop_unused(self) -> None:
        """Remove the folder if no worker can need it any more."""
        if not self.current and self.users <= 0:
            self._scratch.close()


class Worker(Child):
    """A child process that answers from a snapshot of a store, and afterwards perhaps from another."""

    def __init__(self, memory: int) -> None:
        self.memory = memory
        self.snapshot: Snapshot
        super().__init__("mrag.stores.process.query_child", str(memory))

    @classmethod
    def over(cls, snapshot: Snapshot, memory: int) -> Worker:
        """Return a worker over a snapshot: one that waits for work, or a new one."""
        waiting = RESERVE.take(memory)
        if waiting is not None:
            try:
                waiting._open(snapshot)
            except MragError:
                waiting.kill()  # it has ended by itself
            else:
                return waiting
        worker = cls(memory)
        try:
            worker._open(snapshot)
        except BaseException:
            worker.kill()
            raise
        return worker

    def _open(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.ask({"do": "open", "path": str(snapshot.path.absolute())}, time.monotonic() + _OPENING)

    def leave(self) -> None:
        """Drop the copy, and wait to be used for another one."""
        try:
            self.send({"do": "close"})
        except StoreError:
            self.kill()
        else:
            RESERVE.give(self.memory, self)


RESERVE: Reserve[Worker] = Reserve()


def snapshot_prefix(path: Path) -> str:
    """Return how the names of the snapshot folders of a store in a folder begin."""
    return f".{path.name}.snapshot-"
