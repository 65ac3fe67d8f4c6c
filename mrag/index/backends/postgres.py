# ruff: noqa: D102 - what implements an interface is described there
"""Similarity indexes in PostgreSQL: vectors by pgvector, words by BM25 in plain SQL.

`tsvector` ranks without regard to how rare a word is, so the counts of terms, cut as they are everywhere in
`mrag`, have a table of their own. Scores by words then equal those of the local index to the last bit. Each
commit is a transaction: a row that has ended is deleted, and none says when it counts.

| table | content |
|---|---|
| `mrag_…` | number, ID, text, digest and vector of each document; of `mrag_registry`, of each index |
| `mrag_…_terms` | how often each term occurs in which document, and the length of that |
"""

from __future__ import annotations

import threading
import weakref
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.resources import files
from select import select
from typing import TYPE_CHECKING, Any, Final, LiteralString, cast

import numpy as np

from mrag.errors import ConfigError, IndexError_
from mrag.index.backends.base import Abilities
from mrag.index.backends.engine import (
    REGISTRY,
    EngineBackend,
    EngineRow,
    EngineState,
    IndexEngine,
    Replaced,
    ScoredIds,
    Where,
    client_package,
    refusal,
    terms_of,
)
from mrag.index.bm25 import Bm25Params
from mrag.index.embedding import Vectors

__all__ = ["PostgresBackend"]

if TYPE_CHECKING:
    from psycopg import Connection

BREADTH: Final = 1000
"""How many vectors pgvector's index looks at, which is the most that it may.

Of 100,000 documents it finds .98 of the nearest ten then, and with 400 .95 (`docs/how-large.md`).
"""
_SECONDS: Final = 10  # How long a server may take to answer a connection
_LARGE: Final = 10  # A change of more than one in so many documents is large
_SQL: Final[Mapping[str, LiteralString]] = dict(
    cast("tuple[str, LiteralString]", part.split("\n", 1))
    for part in files("mrag.index").joinpath("data/postgres.sql").read_text().split("-- name: ")[1:]
)
"""Statements by name."""
_FIELDS: Final[Mapping[str, LiteralString]] = {
    "id": "id", "text": "text", "digest": "encode(digest, 'hex')", "vector": "vector_send(vector)",
}  # fmt: skip
_COLUMNS: Final[Mapping[LiteralString, list[str]]] = {
    "{documents} (number, id, text, digest, vector)": ["int4", "text", "text", "bytea", "vector"],
    "{terms} (term, document, times, length)": ["text", "int4", "int4", "int4"],
}


class PostgresBackend(EngineBackend):
    """Keeps indexes in a database with the extension `vector`: `postgresql://USER@HOST:PORT/DATABASE`."""

    abilities = Abilities(exact_vectors=False)
    login_by = "~/.pgpass or PGPASSWORD"

    def connect(self, url: str) -> IndexEngine:
        for name in ("psycopg", "pgvector.psycopg"):
            client_package(name, "PostgreSQL", "pgvector")
        return _Engine(url)


@contextmanager
def _refusals() -> Iterator[None]:
    from psycopg import Error
    from psycopg.errors import UndefinedTable

    try:
        yield
    except UndefinedTable as error:
        raise Replaced("The index was built anew meanwhile.", hint="Try again.") from error
    except Error as error:
        raise refusal("PostgreSQL", error) from error


class _Engine(IndexEngine):
    """The questions of `IndexEngine` in SQL, by connections of which those that read are used again."""

    live_statistics = True

    def __init__(self, url: str) -> None:
        self._url = url
        self._idle: list[Connection[Any]] = []
        self._own = threading.local()
        weakref.finalize(self, _close, self._idle)

    @contextmanager
    def snapshot(self) -> Iterator[Connection[Any]]:
        from psycopg import OperationalError

        if (outer := getattr(self._own, "connection", None)) is not None:
            yield outer
            return
        with _refusals():
            connection = self._own.connection = self._reader()
            try:
                yield connection
            finally:
                self._own.connection = None
                with suppress(OperationalError):
                    connection.rollback()
                    self._idle.append(connection)

    def _reader(self) -> Connection[Any]:
        from psycopg import IsolationLevel

        while self._idle:
            connection = self._idle.pop()
            # A server that goes says so, or closes the connection: either can be read before it was asked.
            if not (connection.closed or select([connection.fileno()], [], [], 0)[0]):
                return connection
            connection.close()
        connection = self._connect()
        connection.execute(_SQL["reader"], (str(BREADTH),))
        connection.commit()
        connection.isolation_level, connection.read_only = IsolationLevel.REPEATABLE_READ, True
        return connection

    def _connect(self) -> Connection[Any]:
        from psycopg import connect

        return connect(self._url, connect_timeout=_SECONDS)

    @contextmanager
    def lock(self, key: str) -> Iterator[None]:
        with _refusals(), self._connect() as connection:
            row = connection.execute(_SQL["lock"], (key,)).fetchone()
            connection.commit()
            if row is None or not row[0]:
                hint = "Wait until it is done, then try again."
                raise IndexError_("Another process is writing this index.", hint=hint)
            self._own.writer = connection
            yield

    @contextmanager
    def transaction(self) -> Iterator[None]:
        connection: Connection[Any] = self._own.writer
        _prepare(connection)
        self._own.connection, self._own.last, self._own.changed = connection, {}, Counter()
        try:
            with connection.transaction():
                yield
        finally:
            self._own.connection = None
        connection.autocommit = True
        for place, changed in self._own.changed.items():
            if changed * _LARGE > self._own.last.get(place, 0):
                # The server then knows the new rows for settled, and reads its indexes alone.
                _run(connection, place, "VACUUM (ANALYZE) {documents}, {terms}")
        connection.autocommit = False

    def places(self) -> list[str]:
        with self.snapshot() as connection:
            return [name for (name,) in connection.execute(_SQL["places"]).fetchall()]

    def make(self, place: str, dim: int | None, bm25: Bm25Params) -> None:
        with self.snapshot() as connection:
            _run(connection, place, _SQL["make"])
            if dim is not None:
                _run(connection, place, _SQL["size"] % dim)

    def drop(self, place: str) -> None:
        self._own.changed.pop(place, None)
        with self.snapshot() as connection:
            _run(connection, place, "DROP TABLE IF EXISTS {documents}, {terms}")

    def put(self, since: EngineState, rows: Sequence[EngineRow]) -> None:
        place, last = since.place, self._own.last
        with self.snapshot() as connection:
            if place == REGISTRY:
                self.delete(place, [("id", "in", [row.doc_id for row in rows])])
            if place not in last:
                last[place] = _run(connection, place, _SQL["highest"])[0][0]
            numbered = list(enumerate(rows, last[place] + 1))
            last[place] += len(rows)
            self._own.changed[place] += len(rows)
            # PostgreSQL has no NUL in a text, and no word has it.
            documents = (
                (n, r.doc_id, r.text.replace("\0", "\ufffd"), r.digest, r.vector) for n, r in numbered
            )
            lengths = ((n, r.terms, r.terms.total()) for n, r in numbered)
            terms = ((term, n, times, length) for n, its, length in lengths for term, times in its.items())
            for (target, types), values in zip(_COLUMNS.items(), (documents, terms), strict=True):
                copied = _name(place, "COPY " + target + " FROM STDIN (FORMAT binary)")
                with connection.cursor().copy(copied) as copy:
                    copy.set_types(types)
                    for value in values:
                        copy.write_row(value)

    def settle(self, place: str) -> None:
        """Index what was put into a new collection, which takes less time than to keep indexes meanwhile."""
        from psycopg.errors import DiskFull

        with self.snapshot() as connection:
            if _run(connection, place, _SQL["indexed"], (place,)):
                return
            _run(connection, place, _SQL["key"])
            if not _run(connection, place, _SQL["tune"])[0][-1]:
                return
            try:
                with connection.transaction():
                    _run(connection, place, _SQL["index_vectors"])
            except DiskFull:
                # Workers share their memory, of which a container has 64 MiB unless it is given more.
                connection.execute("SET LOCAL max_parallel_maintenance_workers = 0")
                _run(connection, place, _SQL["index_vectors"])

    def rows(self, place: str, where: Where, *fields: str) -> Iterator[Sequence[Any]]:
        # The names of columns are ours.
        asked = "SELECT " + ", ".join(_FIELDS[name] for name in fields) + " " + _SQL["rows"]
        for row in self._select(place, asked, where):
            yield [_unpack(cell) if isinstance(cell, bytes) else cell for cell in row]

    def mark(self, at: EngineState, where: Where, until: int) -> None:
        ids = _ids(where)
        if ids is None:
            return
        analysis = at.manifest.bm25.analysis
        with self.snapshot() as connection:
            rows = _run(connection, at.place, _SQL["delete"], [ids])
            pairs = [(term, number) for number, text in rows for term in terms_of(text, analysis)]
            terms = [term for term, _ in pairs], [number for _, number in pairs]
            _run(connection, at.place, _SQL["uncount"], terms)
        self._own.changed[at.place] += len(ids)

    def delete(self, place: str, where: Where) -> None:
        """Remove rows by ID; what has ended is gone already."""
        if (ids := _ids(where)) is not None:
            with self.snapshot() as connection:
                _run(connection, place, _SQL["delete"], [ids])

    def by_words(self, at: EngineState, query: Mapping[str, int], k: int, where: Where) -> ScoredIds:
        bm25, documents = at.manifest.bm25, at.manifest.documents
        values = {"terms": list(query), "times": list(query.values()), "documents": documents}
        values |= {"k1": bm25.k1, "b": bm25.b, "mean": at.mean_length or 1.0}
        return self._select(at.place, _SQL["words"], where, k=k, **values)

    def by_vector(self, at: EngineState, vector: Vectors, k: int, where: Where) -> ScoredIds:
        values = {"vector": str(vector.tolist()), "wide": BREADTH, "k": k}
        if _ids(where) is None and 4 * k <= BREADTH:
            ranking = self._select(at.place, _SQL["near"], where, **values)
            # Rows that were deleted lately take places in the index until they are vacuumed.
            if len(ranking) >= min(k, at.manifest.documents):
                return ranking
        return self._select(at.place, _SQL["nearest"], where, **values)

    def _select(self, place: str, statement: LiteralString, where: Where, **values: Any) -> list[Any]:
        ids = _ids(where)
        with self.snapshot() as connection:
            return _run(connection, place, statement, {**values, "all": ids is None, "allowed": ids or []})


def _close(idle: list[Connection[Any]]) -> None:
    for connection in idle:
        connection.close()


def _ids(where: Where) -> list[str] | None:
    return next((list(value) for name, _, value in where if name == "id"), None)


def _unpack(sent: bytes) -> Vectors:
    return np.frombuffer(sent, ">f4", offset=4).astype(np.float32)


def _run(connection: Connection[Any], place: str, statement: LiteralString, values: Any = None) -> list[Any]:
    """Return the rows of a statement, its tables named."""
    cursor = connection.execute(_name(place, statement), values, binary=values is not None)
    return cursor.fetchall() if cursor.description is not None else []


def _name(place: str, statement: LiteralString) -> Any:
    from psycopg.sql import SQL, Identifier

    return SQL(statement).format(documents=Identifier(place), terms=Identifier(place + "_terms"))


def _prepare(connection: Connection[Any]) -> None:
    """Make what all indexes share, and have the connection write arrays of numpy as vectors of pgvector."""
    from pgvector.psycopg import register_vector
    from psycopg import Error

    with connection.transaction():
        # Two that come first at the same time would both make it.
        connection.execute(_SQL["alone"])
        try:
            with connection.transaction():
                connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        except Error as error:
            hint = "Install pgvector on the server and have an administrator say CREATE EXTENSION vector."
            raise ConfigError("The database has no pgvector.", hint=hint) from error
        _run(connection, REGISTRY, _SQL["make"])
    register_vector(connection)
