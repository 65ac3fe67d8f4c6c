"""Suffix arrays: the places of a text, in the order of what follows them."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt


def sort_suffixes(text: npt.NDArray[Any], *, fast: bool | None = None) -> npt.NDArray[np.int64]:
    """Return the places of a text in the order of the suffixes that begin there.

    Args:
        text: Numbers from 0, of which 0 stands between documents and at the end. Suffixes that are equal
            up to the next 0 may stand in any order.
        fast: Whether to use `pydivsufsort`; None for yes if it is installed.

    Returns:
        The places of all numbers but 0.

    Example:
        >>> sort_suffixes(np.array([2, 1, 0, 1, 2, 0], np.uint16), fast=False).tolist()
        [1, 3, 4, 0]
    """
    if len(text) == 0 or not text.any():
        return np.empty(0, np.int64)
    if fast is None:
        fast = find_spec("pydivsufsort") is not None
    # Few numbers are sorted faster than a compiled function is found.
    return _divsufsort(text) if fast and len(text) > 64 else _doubling(text)


def _divsufsort(text: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    divsufsort = import_module("pydivsufsort").divsufsort
    # Bytes in the order of significance sort like the numbers; places between them are left out again.
    width = 2 if int(text.max()) < 1 << 16 else 4
    octets = np.array(text.astype(f">u{width}").view(np.uint8))
    if len(octets) >= 1 << 31:
        return _doubling(text)
    order: npt.NDArray[np.int32] = divsufsort(octets)
    order = order[order & (width - 1) == 0] >> (width // 2)
    return order[np.count_nonzero(text == 0) :].astype(np.int64)


def _doubling(text: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Sort by the first numbers, then by twice as many, until no two places are equal.

    Only groups that are still equal are sorted again (Larsson and Sadakane, 2007); a group that has met
    the end of its documents is settled.
    """
    size = len(text)
    padded = np.concatenate([text.astype(np.int64), np.zeros(2, np.int64)])
    step = 3
    key = (padded[:size] << 42) | (padded[1 : size + 1] << 21) | padded[2 : size + 2]
    if int(text.max()) >= 1 << 21:
        step, key = 1, padded[:size]
    order = np.argsort(key, kind="stable")
    sorted_key = key[order]
    first = np.empty(size, np.bool_)
    first[0] = True
    np.not_equal(sorted_key[1:], sorted_key[:-1], out=first[1:])
    # The rank of a group is the place where it begins, so that ranks hold while groups are divided.
    rank = np.empty(size + 1, np.int64)
    rank[order] = np.maximum.accumulate(np.where(first, np.arange(size), 0))
    rank[size] = -1
    ends = np.flatnonzero(text == 0)
    to_end = ends[np.searchsorted(ends, np.arange(size))] - np.arange(size)
    while True:
        begins = np.flatnonzero(first)
        sizes = np.diff(begins, append=size)
        open_groups = sizes > 1
        if not open_groups.any():
            break
        # A group reaches the end of its documents together or not at all.
        open_groups &= to_end[order[begins]] >= step
        begins, sizes = begins[open_groups], sizes[open_groups]
        if not len(begins):
            break
        at = np.repeat(begins - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())
        places = order[at]
        group = np.repeat(begins, sizes)
        behind = rank[np.minimum(places + step, size)]
        again = np.lexsort((behind, group))
        order[at] = places[again]
        group, behind = group[again], behind[again]
        new = np.empty(len(at), np.bool_)
        new[0] = True
        np.logical_or(group[1:] != group[:-1], behind[1:] != behind[:-1], out=new[1:])
        first[at] = new
        rank[order[at]] = np.maximum.accumulate(np.where(new, at, 0))
        step *= 2
    return order[np.count_nonzero(text == 0) :].astype(np.int64)
