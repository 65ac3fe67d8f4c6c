"""Answers that wait for their readers, so that no process waits with them."""

from __future__ import annotations

import asyncio
import tempfile
import threading
from collections import deque
from collections.abc import AsyncGenerator
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from mrag.errors import MragError, StoreError

_HELD = 1 << 18
"""Bytes of an answer that are held in memory; the rest goes to a file."""


@dataclass
class Room:
    """Where answers wait.

    Attributes:
        threads: What writes and reads files.
        free: Bytes that may still be written.
        folder: Where files are made; the system's folder for temporary files if None.
    """

    threads: Executor
    free: int
    folder: Path | None = None


class _File:
    """A file without a name, which is gone when it is closed. Its methods may be called from any thread."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._file: IO[bytes] | None = None
        self._closed = False

    def write(self, start: int, data: bytes) -> None:
        with self._lock:
            if self._closed:
                return
            if self._file is None:
                self._file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 - closed by close()
            self._file.seek(start)
            self._file.write(data)

    def read(self, start: int, size: int) -> bytes:
        with self._lock:
            if self._file is None or self._closed:
                return b""
            self._file.seek(start)
            return self._file.read(size)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            if self._file is not None:
                self._file.close()


class Spool:
    """An answer that is taken as fast as it comes, and given as fast as it is read.

    Where there is no room it is taken no faster than it is read.

    Args:
        pieces: The answer.
        room: Where it may wait.
        seconds: How long it may wait there, in all.
    """

    def __init__(self, pieces: AsyncGenerator[bytes, None], room: Room, seconds: float) -> None:
        self._until = asyncio.get_running_loop().time() + seconds
        self._pieces = pieces
        self._room = room
        # What comes first is held, what comes next is in the file, in this order.
        self._held: deque[bytes] = deque()
        self._size = 0
        self._file = _File(room.folder)
        self._written: deque[tuple[int, int]] = deque()
        self._end = 0
        self._news = asyncio.Condition()
        self._done = False
        self._problem: Exception | None = None
        self._taking = asyncio.ensure_future(self._take())

    def __aiter__(self) -> Spool:
        return self

    async def __anext__(self) -> bytes:
        if asyncio.get_running_loop().time() > self._until:
            raise StoreError("The answer was not read in time.")
        piece = await self._next()
        if piece is not None:
            return piece
        if self._problem is not None:
            raise self._problem
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """End the answer, whether or not it has been read."""
        self._taking.cancel()
        await asyncio.gather(self._taking, return_exceptions=True)
        await self._pieces.aclose()
        if self._end:
            self._room.free += self._end
            self._end = 0
        self._file.close()

    async def _take(self) -> None:
        try:
            async for piece in self._pieces:
                await self._put(piece)
        except MragError as problem:
            self._problem = problem
        except OSError as problem:
            self._problem = StoreError(f"The answer could not be kept for its reader: {problem}.")
        async with self._news:
            self._done = True
            self._news.notify_all()

    async def _put(self, piece: bytes) -> None:
        async with self._news:
            if len(piece) > self._room.free:
                await self._news.wait_for(self._can_hold)
            if self._can_hold():
                self._held.append(piece)
                self._size += len(piece)
                self._news.notify_all()
                return
            start, self._end = self._end, self._end + len(piece)
            self._room.free -= len(piece)
        await asyncio.get_running_loop().run_in_executor(self._room.threads, self._file.write, start, piece)
        async with self._news:
            self._written.append((start, len(piece)))
            self._news.notify_all()

    def _can_hold(self) -> bool:
        return not self._written and self._size < _HELD

    async def _next(self) -> bytes | None:
        async with self._news:
            await self._news.wait_for(lambda: bool(self._held or self._written or self._done))
            if self._held:
                piece = self._held.popleft()
                self._size -= len(piece)
                self._news.notify_all()
                return piece
            if not self._written:
                return None
            start, size = self._written[0]
        loop = asyncio.get_running_loop()
        piece = await loop.run_in_executor(self._room.threads, self._file.read, start, size)
        async with self._news:
            self._written.popleft()
            if start + size == self._end:
                # All that was written has been read: begin again, so that the file does not grow.
                self._room.free += self._end
                self._end = 0
            self._news.notify_all()
        return piece
