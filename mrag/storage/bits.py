"""Bits of many rows, 64 rows a word, added up and chosen from with logical operations alone.

Carry-save adders as in Muła, Kurz and Lemire, 2018, Faster Population Counts Using AVX2 Instructions;
bit-sliced sums as in O'Neil and Quass, 1997, Improved Query Performance with Variant Indexes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]
"""Bits: that of row r is bit r % 64 of word r // 64."""


def pack(mask: npt.NDArray[np.bool_]) -> Words:
    """Return which rows may be found as bits, 64 rows a word."""
    bits = np.zeros(-(-len(mask) // 64) * 8, np.uint8)
    packed = np.packbits(mask, bitorder="little")
    bits[: len(packed)] = packed
    return bits.view(np.uint64)


def set_bits(words: Words) -> npt.NDArray[np.int64]:
    """Return the places of the bits that are set, ascending."""
    # Only bytes with a bit are unpacked: of most bytes none is set.
    some = words.astype("<u8", copy=False).view(np.uint8)
    at = np.flatnonzero(some)
    bits = np.flatnonzero(np.unpackbits(some[at], bitorder="little").view(np.bool_))
    places: npt.NDArray[np.int64] = (at[bits >> 3] << 3) + (bits & 7)
    return places


def add_up(parts: Iterable[tuple[Words, bool, int]]) -> list[Words]:
    """Add up bits, of each position in the words apart."""
    waiting: list[list[tuple[Words, bool]]] = []
    spare: list[Words] = []

    def room(like: Words) -> Words:
        return spare.pop() if spare else np.empty_like(like)

    def add(bits: Words, own: bool, level: int) -> None:
        # What was made here is written over: the same few arrays then stay in the cache.
        while True:
            while level >= len(waiting):
                waiting.append([])
            here = waiting[level]
            if len(here) < 2:
                here.append((bits, own))
                return
            (first, own_first), (second, own_second) = here
            carry = np.bitwise_and(first, second, out=room(bits))
            either = np.bitwise_xor(first, second, out=first if own_first else room(bits))
            both = np.bitwise_and(either, bits, out=second if own_second else room(bits))
            carry |= both
            either ^= bits
            spare.extend([both, bits] if own else [both])
            here[:] = [(either, True)]
            bits, own, level = carry, True, level + 1

    empty = np.empty(0, np.uint64)
    for bits, own, level in parts:
        empty = bits
        add(bits, own, level)
    level = 0
    while level < len(waiting):
        here = waiting[level]
        if len(here) == 2:
            (first, _), (second, _) = here
            here[:] = [(first ^ second, True)]
            add(first & second, True, level + 1)
        level += 1
    return [here[0][0] if here else np.zeros_like(empty) for here in waiting]


def largest(digits: Sequence[Words], valid: Words, wanted: int) -> Words:
    """Return the positions of the largest sums: so many, and all that tie with the last of them."""
    sure, left, total = np.zeros_like(valid), valid, 0
    for digit in reversed(digits):
        high = left & digit
        count = int(np.bitwise_count(high).sum())
        if total + count < wanted:
            sure |= high
            total += count
            left = left & ~digit
        else:
            left = high
    sure |= left
    return sure


def byte_sums(counts: npt.NDArray[np.uint8]) -> Words:
    """Return the sum of each row, of a multiple of 8 bytes."""
    # Eight at a time: to sum along short rows takes several times as long.
    eight = counts.view(np.uint64)
    for wide, mask in ((8, 0x00FF00FF00FF00FF), (16, 0x0000FFFF0000FFFF), (32, 0x00000000FFFFFFFF)):
        eight = (eight & np.uint64(mask)) + ((eight >> np.uint64(wide)) & np.uint64(mask))
    return eight[:, 0] if eight.shape[1] == 1 else eight.sum(axis=1)
