"""What `mrag doctor` says of the processes that queries run in."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import suppress

from mrag.cli.health import Finding

_CAP = 1 << 30
_OTHER = (
    "queries still pass the read gate, but on this system the process that runs them could reach the network"
)
_NAMESPACE = "Let processes have user namespaces (in Docker: --security-opt seccomp=unconfined)"
_SECCOMP = "Run on a kernel with seccomp filters (CONFIG_SECCOMP_FILTER), on x86-64 or ARM64"


def findings() -> Iterator[Finding]:
    """Start a query process over an empty store, and say which of its defences hold."""
    from mrag.errors import QueryTimeout
    from mrag.rdf import queries
    from mrag.stores.base import Dataset, Limits
    from mrag.stores.oxigraph import OxigraphStore
    from mrag.stores.process.replies import request

    with OxigraphStore() as store:
        store.workers.memory = _CAP
        worker = store.workers.take()
        try:
            held = worker.defences
            yield _network("namespace", held.namespace, held.offline, _NAMESPACE)
            yield _network("seccomp filter", held.seccomp, held.offline, _SECCOMP)
            yield Finding(
                "query memory limit",
                True if held.memory else None,
                f"{held.memory >> 20} MB were set and hold" if held.memory else "this system has none",
                "Watch the memory of queries by other means: this system lets no process limit its own.",
            )
            asked = request("rows", queries.get("explore/any").text, Dataset(), Limits(1.0, 1, 1 << 20))
            with suppress(QueryTimeout):
                worker.ask(asked, time.monotonic())
            killed = worker.ended
        finally:
            store.workers.discard(worker)
    yield Finding(
        "query deadline",
        killed,
        "a query's process is killed at it" if killed else "a query's process outlived it",
        "Do not let others query this system: what they ask cannot be ended.",
    )


def _network(name: str, held: bool, offline: bool, hint: str) -> Finding:
    what = f"query network, {name}"
    if held:
        return Finding(what, True, "active: a query's process has no way to the network")
    if sys.platform != "linux":
        found = "Linux alone has it"
        hint = f"Serve others from a Linux system or container; {_OTHER}."
    else:
        found = "this system refuses it"
        hint += "; the other means is active." if offline else f"; {_OTHER}."
    # One of the two is enough; a system that cannot have either is not broken.
    return Finding(what, None if offline or sys.platform != "linux" else False, found, hint)
