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

__all__ = ["LARGE", "Kernels", "kernels"]

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
    for row in places:
        k = count[row]
        if k == 0:
            continue
        if metric == 0:
            other = both[row] - same[row] * 1.0
            key = base[k] + scale[k] * (weights[1] * both[row] - weights[2] * other)
        elif metric == 1:
            key = weights[0] * k / size + weights[1] * both[row] / max(1.0, pairs)
            key += weights[2] * same[row] / max(1.0, both[row])
        else:
            features = (k + excess * k) / (size + excess * n_nodes[row])
            whole = pairs + excess * n_pairs[row]
            relations = (both[row] + excess * both[row]) / whole if whole > 0 else features
            whole = edges + excess * n_edges[row]
            types = (same[row] + excess * same[row]) / whole if whole > 0 else features
            key = weights[0] * features + weights[1] * relations + weights[2] * types
        # Where rounding might decide, a document is let in; what it is worth is worked out later.
        key = key * (1 + 1e-12) + 1e-15
        if key < floor:
            continue
        rows[found] = row
        keys[found] = key
        found += 1
        if len(heap) == 0:
            continue
        # A heap with the least at its root.
        if held < len(heap):
            at = held
            held += 1
            while at > 0 and heap[(at - 1) // 2] > key:
                heap[at] = heap[(at - 1) // 2]
                at = (at - 1) // 2
            heap[at] = key
        elif key > heap[0]:
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
    return Kernels(jit(_add), jit(_arcs), jit(_others), jit(_select))


def kernels(wanted: bool | None, documents: int) -> Kernels | None:
    """Give the compiled functions, or None to count by numpy.

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
