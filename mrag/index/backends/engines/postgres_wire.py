"""Connections to PostgreSQL, and vectors on their way to and from it."""

from __future__ import annotations

import struct
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mrag.errors import ConfigError, IndexError_
from mrag.redaction import redact

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.types import TypeInfo

__all__ = ["BREADTH", "Connections", "register", "told", "unpacked", "written"]

BREADTH = 1000
"""How many vectors pgvector's index looks at, which is the most that it may.

Of 100,000 documents it finds .98 of the nearest ten then, and with 400 .95 (`docs/how-large.md`).
"""
_SECONDS = 10
"""How long a server may take to answer a connection."""


def _psycopg() -> Any:
    try:
        import psycopg
    except ImportError as error:
        raise ConfigError(
            "Indexes in PostgreSQL need psycopg.", hint="Install it with `pip install 'mrag[pgvector]'`."
        ) from error
    return psycopg


@contextmanager
def told() -> Iterator[None]:
    """Raise what PostgreSQL refuses as an error of the index."""
    psycopg = _psycopg()
    try:
        yield
    except psycopg.Error as error:
        first = redact(str(error).strip().partition("\n")[0])
        raise IndexError_(f"PostgreSQL says: {first or type(error).__name__}.") from error


class Connections:
    """Connections to one database; those that read are used again.

    Args:
        url: As psycopg takes it.

    Raises:
        ConfigError: If psycopg is not installed.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._idle: list[Connection[Any]] = []
        self._lock = threading.Lock()
        weakref.finalize(self, _close, self._idle)
        _psycopg()

    @contextmanager
    def reading(self) -> Iterator[Connection[Any]]:
        """Lend a connection whose transactions read one state each.

        Raises:
            OperationalError: If the server cannot be reached.
        """
        from psycopg import IsolationLevel, OperationalError

        with self._lock:
            connection = self._idle.pop() if self._idle else None
        if connection is None or not _alive(connection):
            connection = self._connect()
            connection.execute("SELECT set_config('hnsw.ef_search', %s, false)", (str(BREADTH),))
            connection.commit()
            connection.isolation_level = IsolationLevel.REPEATABLE_READ
            connection.read_only = True
        try:
            yield connection
            connection.rollback()
        except BaseException:
            with suppress(OperationalError):
                connection.rollback()
            if connection.broken or connection.closed:
                connection.close()
                raise
            self._back(connection)
            raise
        self._back(connection)

    @contextmanager
    def writing(self) -> Iterator[Connection[Any]]:
        """Open a connection whose transaction ends when it is told to."""
        connection = self._connect()
        try:
            yield connection
        finally:
            connection.close()

    def _back(self, connection: Connection[Any]) -> None:
        with self._lock:
            self._idle.append(connection)

    def _connect(self) -> Connection[Any]:
        from psycopg import connect

        return connect(self._url, connect_timeout=_SECONDS)


def register(connection: Connection[Any], info: TypeInfo) -> None:
    """Have a connection write arrays of numpy as vectors, in the binary form of pgvector."""
    from psycopg.adapt import Dumper
    from psycopg.pq import Format

    info.register(connection)

    class _VectorDumper(Dumper):
        format = Format.BINARY
        oid = info.oid

        def dump(self, obj: npt.NDArray[np.float32]) -> bytes:
            return struct.pack(">HH", len(obj), 0) + obj.astype(">f4").tobytes()

    connection.adapters.register_dumper(np.ndarray, _VectorDumper)


def written(vector: npt.NDArray[np.float32]) -> str:
    """Return a vector as pgvector reads it.

    Example:
        >>> written(np.array([1, 0.1], np.float32))
        '[1.0,0.1]'
    """
    return f"[{','.join(map(str, vector))}]"


def unpacked(sent: bytes) -> npt.NDArray[np.float32]:
    """Return the vector that `vector_send` of pgvector has sent.

    Example:
        >>> unpacked(bytes.fromhex("000200003f80000040000000")).tolist()
        [1.0, 2.0]
    """
    return np.frombuffer(sent, ">f4", offset=4).astype(np.float32)


def _alive(connection: Connection[Any]) -> bool:
    """Return whether an idle connection is still one; if it is not, it is closed."""
    from select import select

    # A server that goes says so, or closes the connection: either can be read before it was asked.
    if connection.closed or select([connection.fileno()], [], [], 0)[0]:
        connection.close()
        return False
    return True


def _close(idle: list[Connection[Any]]) -> None:
    while idle:
        idle.pop().close()
