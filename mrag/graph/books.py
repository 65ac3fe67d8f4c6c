"""What mrag notes about a graph: runs of completion, passages, saved questions and queries.

No question is answered from it. A server that reasons by itself has all its graphs in sight, so there such
notes lie with the user's data, where its indexes do.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from mrag.errors import StoreLocked
from mrag.graph.kg import KnowledgeGraph, home
from mrag.storage.files import make_folder
from mrag.stores.base import TripleStore
from mrag.stores.oxigraph import OxigraphStore

_PATIENCE = 30.0


@contextmanager
def books(kg: KnowledgeGraph, *, writing: bool = False) -> Iterator[TripleStore]:
    """Give the store of what is noted about a graph, for a short time: others wait for it."""
    folder = home(kg) if kg.store.capabilities.reasoning else None
    if folder is None:
        yield kg.store
        return
    folder = folder.with_name("books")
    if writing:
        make_folder(folder)
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            store = OxigraphStore(folder if folder.exists() else None)
            break
        except StoreLocked:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)
    with store:
        yield store
