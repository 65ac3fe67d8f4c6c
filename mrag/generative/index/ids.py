"""Ids of documents, kept compressed: they are read seldom and would take more room than the clues."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

_BLOCK: Final = 128


class DocumentIds:
    """Strings in compressed blocks.

    Args:
        blocks: The blocks one after the other, uint8.
        offsets: Where each begins and the last ends, uint64.
        size: Number of strings.

    Example:
        >>> names = DocumentIds.of(["urn:a", "urn:b"])
        >>> len(names), names[1], list(names)
        (2, 'urn:b', ['urn:a', 'urn:b'])
    """

    def __init__(self, blocks: npt.NDArray[np.uint8], offsets: npt.NDArray[np.uint64], size: int) -> None:
        self.blocks, self.offsets, self._size = blocks, offsets, size
        self._last: tuple[int, list[str]] = (-1, [])

    @classmethod
    def of(cls, strings: Iterable[str]) -> DocumentIds:
        """Pack strings in the order given."""
        kept = list(strings)
        packed = [
            zlib.compress(json.dumps(kept[at : at + _BLOCK]).encode(), 6)
            for at in range(0, len(kept), _BLOCK)
        ]
        offsets = np.zeros(len(packed) + 1, np.uint64)
        np.cumsum([len(block) for block in packed], out=offsets[1:])
        return cls(np.frombuffer(b"".join(packed), np.uint8), offsets, len(kept))

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, at: int) -> str:
        number, within = divmod(at, _BLOCK)
        # One assignment keeps readers on several threads apart.
        last = self._last
        if last[0] != number:
            last = self._last = (number, self._unpack(number))
        return last[1][within]

    def __iter__(self) -> Iterator[str]:
        for number in range(len(self.offsets) - 1):
            yield from self._unpack(number)

    def _unpack(self, number: int) -> list[str]:
        block = self.blocks[int(self.offsets[number]) : int(self.offsets[number + 1])]
        found: list[str] = json.loads(zlib.decompress(block.tobytes()))
        return found
