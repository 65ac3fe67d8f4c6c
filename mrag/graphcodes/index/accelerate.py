"""Counting by numba, where it is installed: the same whole numbers in less time.

The functions below are plain Python that numba compiles; they are not run as they stand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from mrag.errors import ConfigError

LARGE = 200_000
"""Number of documents from which on loading numba pays."""

Array = Any


def _add(counts: Array, docs: Array, starts: Array, ends: Array) -> None:
    for at in range(len(starts)):
        for entry in range(starts[at], ends[at]):
            counts[docs[entry]] += 1


def _arcs(
    docs: Array,
    cells: Array,
    sets: Array,
    starts: Array,
    ends: Array,
    kinds: Array,
    table: Array,
    both: Array,
    same: Array,
) -> None:
    for at in range(len(starts)):
        kind = kinds[at]
        for entry in range(starts[at], ends[at]):
            doc = docs[entry]
            both[doc] += 1
            same[doc] += table[kind, sets[cells[entry]]]


def _others(docs: Array, starts: Array, ends: Array, wanted: Array, number: Array, counts: Array) -> None:
    for at in range(len(starts)):
        for entry in range(starts[at], ends[at]):
            if wanted[docs[entry]]:
                counts[number[docs[entry]]] += 1


def _key(
    metric: int,
    sizes: Array,
    excess: float,
    weights: Array,
    base: Array,
    scale: Array,
    k: int,
    both: float,
    same: float,
    theirs: Array,
    row: int,
) -> Any:
    """Work out the key of a document that shares k nodes, or a bound of it from above.

    What the document holds is read only for the metric that needs it: these reads are what takes the time.
    """
    size, pairs, edges = sizes
    if metric == 0:
        other = both - same * 1.0
        return base[k] + scale[k] * (weights[1] * both - weights[2] * other)
    if metric == 1:
        key = weights[0] * k / size + weights[1] * both / max(1.0, pairs)
        return key + weights[2] * same / max(1.0, both)
    features = (k + excess * k) / (size + excess * theirs[0][row])
    whole = pairs + excess * theirs[1][row]
    relations = (both + excess * both) / whole if whole > 0 else features
    whole = edges + excess * theirs[2][row]
    types = (same + excess * same) / whole if whole > 0 else features
    return weights[0] * features + weights[1] * relations + weights[2] * types


def _push(heap: Array, held: int, key: float) -> int:
    """Put a key into a heap with the least at its root, in place of the least if it is full."""
    if held < len(heap):
        at = held
        while at > 0 and heap[(at - 1) // 2] > key:
            heap[at] = heap[(at - 1) // 2]
            at = (at - 1) // 2
        heap[at] = key
        return held + 1
    if key > heap[0]:
        at = 0
        while 2 * at + 1 < held:
            child = 2 * at + 1
            if child + 1 < held and heap[child + 1] < heap[child]:
                child += 1
            if heap[child] >= key:
                break
            heap[at] = heap[child]
            at = child
        heap[at] = key
    return held


def _select(
    metric: int,
    size: int,
    pairs: int,
    edges: int,
    excess: float,
    weights: Array,
    places: Array,
    count: Array,
    both: Array,
    same: Array,
    n_nodes: Array,
    n_pairs: Array,
    n_edges: Array,
    floor: float,
    heap: Array,
    rows: Array,
    keys: Array,
) -> int:
    """Note the documents whose key reaches the floor, which rises to the least of the heap's best."""
    found = 0
    held = 0
    base, scale = np.zeros(size + 1), np.zeros(size + 1)
    for k in range(1, size + 1):
        base[k] = weights[0] * k / size + (weights[2] if k > 1 else 0.0)
        scale[k] = 1.0 / (k * (k - 1.0)) if k > 1 else 0.0
    sizes, theirs = (size, pairs, edges), (n_nodes, n_pairs, n_edges)
    for row in places:
        if count[row] == 0:
            continue
        key = _key(metric, sizes, excess, weights, base, scale, count[row], both[row], same[row], theirs, row)
        # Where rounding might decide, a document is let in; what it is worth is worked out later.
        key = key * (1 + 1e-12) + 1e-15
        if key < floor:
            continue
        rows[found] = row
        keys[found] = key
        found += 1
        if len(heap):
            held = _push(heap, held, key)
            if held == len(heap):
                floor = max(floor, heap[0] * (1 - 4e-12) - 4e-15)
    kept = 0
    for at in range(found):
        if keys[at] >= floor:
            rows[kept] = rows[at]
            kept += 1
    return kept


@dataclass(frozen=True)
class Kernels:
    """The compiled functions."""

    add: Callable[..., None]
    arcs: Callable[..., None]
    others: Callable[..., None]
    select: Callable[..., int]


@cache
def _compiled() -> Kernels:
    jit = import_module("numba").njit(cache=True, nogil=True)
    for helper in (_key, _push):
        import_module("numba.extending").register_jitable(inline="always")(helper)
    return Kernels(jit(_add), jit(_arcs), jit(_others), jit(_select))


def kernels(wanted: bool | None, documents: int) -> Kernels | None:
    """Return the compiled functions, or None to count by numpy.

    Args:
        wanted: True to have them, False not to; None to have them for large indexes if numba is there.
        documents: How large the index is.

    Raises:
        ConfigError: If they are wanted and numba is not installed.

    Example:
        >>> kernels(False, 10**6) is None, kernels(None, 10) is None
        (True, True)
    """
    if wanted is False or (wanted is None and documents < LARGE):
        return None
    if find_spec("numba") is None:
        if wanted:
            raise ConfigError("numba is not installed.", hint="pip install 'mrag[accelerate]'")
        return None
    return _compiled()
