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

import struct
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
    Found,
    IndexEngine,
    Replaced,
    Where,
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
_INDEXED: Final = 2000  # Dimensions up to which pgvector indexes vectors; longer ones are compared one by one
_MEMORY_MB: Final = 2048
_LARGE: Final = 10  # A change of more than one in so many documents is large

_SQL: Final[Mapping[str, LiteralString]] = dict(
    cast("tuple[str, LiteralString]", part.split("\n", 1))
    for part in files("mrag.index").joinpath("data/postgres.sql").read_text().split("-- name: ")[1:]
)
"""Statements by name."""
_SET: Final = "SELECT set_config(%s, %s, true)"
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
        try:
            import psycopg  # noqa: F401
        except ImportError as error:
            hint = "Install it with `pip install 'mrag[pgvector]'`."
            raise ConfigError("Indexes in PostgreSQL need psycopg.", hint=hint) from error
        self._url = url
        self._idle: list[Connection[Any]] = []
        self._own = threading.local()
        weakref.finalize(self, _close, self._idle)

    # -- connections -------------------------------------------------------------------------------

    @contextmanager
    def snapshot(self) -> Iterator[Connection[Any]]:
        from psycopg import IsolationLevel, OperationalError

        if (outer := getattr(self._own, "connection", None)) is not None:
            yield outer
            return
        with _refusals():
            connection = self._idle_one()
            if connection is None:
                connection = self._connect()
                connection.execute("SELECT set_config('hnsw.ef_search', %s, false)", (str(BREADTH),))
                connection.commit()
                connection.isolation_level = IsolationLevel.REPEATABLE_READ
                connection.read_only = True
            self._own.connection = connection
            try:
                yield connection
            finally:
                self._own.connection = None
                with suppress(OperationalError):
                    connection.rollback()
                if connection.closed:
                    connection.close()
                else:
                    self._idle.append(connection)

    def _idle_one(self) -> Connection[Any] | None:
        while self._idle:
            connection = self._idle.pop()
            # A server that goes says so, or closes the connection: either can be read before it was asked.
            if not (connection.closed or select([connection.fileno()], [], [], 0)[0]):
                return connection
            connection.close()
        return None

    def _connect(self) -> Connection[Any]:
        from psycopg import connect

        return connect(self._url, connect_timeout=_SECONDS)

    @contextmanager
    def locked(self, key: str) -> Iterator[None]:
        with _refusals(), self._connect() as connection:
            row = connection.execute(_SQL["lock"], (key,)).fetchone()
            connection.commit()
            if row is None or not row[0]:
                hint = "Wait until it is done, then try again."
                raise IndexError_("Another process is writing this index.", hint=hint)
            self._own.writer = connection
            try:
                yield
            finally:
                self._own.writer = None

    @contextmanager
    def transaction(self) -> Iterator[None]:
        connection: Connection[Any] = self._own.writer
        with connection.transaction():
            _prepare(connection)
        self._own.connection, self._own.last, self._own.changed = connection, {}, Counter()
        try:
            with connection.transaction():
                yield
        finally:
            self._own.connection = None
        for place, changed in self._own.changed.items():
            if changed * _LARGE > self._own.last.get(place, 0):
                # The server then knows the new rows for settled, and reads its indexes alone.
                connection.autocommit = True
                _run(connection, place, "VACUUM (ANALYZE) {documents}, {terms}")
                connection.autocommit = False

    # -- collections -------------------------------------------------------------------------------

    def places(self) -> list[str]:
        with self.snapshot() as connection:
            return [name for (name,) in connection.execute(_SQL["places"]).fetchall()]

    def make(self, place: str, dim: int | None, bm25: Bm25Params) -> None:
        with self.snapshot() as connection:
            _make(connection, place, dim)

    def drop(self, place: str) -> None:
        self._own.changed.pop(place, None)
        with self.snapshot() as connection:
            _run(connection, place, "DROP TABLE IF EXISTS {documents}, {terms}")

    def put(self, since: EngineState, rows: Sequence[EngineRow]) -> None:
        place = since.place
        with self.snapshot() as connection:
            if place == REGISTRY:
                self.delete(place, [("id", "in", [row.doc_id for row in rows])])
            if place not in self._own.last:
                self._own.last[place] = _run(connection, place, _SQL["highest"])[0][0]
            numbered = list(enumerate(rows, self._own.last[place] + 1))
            self._own.last[place] += len(rows)
            self._own.changed[place] += len(rows)
            # PostgreSQL has no NUL in a text, and no word has it.
            texts = (row.text.replace("\0", "\ufffd") for row in rows)
            documents = ((n, r.doc_id, next(texts), r.digest, r.vector) for n, r in numbered)
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
            if _run(connection, place, "SELECT 1 FROM pg_index WHERE indrelid = to_regclass(%s)", (place,)):
                return
            _run(connection, place, _SQL["key"])
            [(documents, dim)] = _run(connection, place, _SQL["sizes"])
            if dim is None or dim > _INDEXED:
                return
            # Built in memory it takes a fraction of the time; the setting is a cap.
            memory = min(_MEMORY_MB, 64 + documents * (4 * dim + 400) // (1 << 20))
            connection.execute(_SET, ("maintenance_work_mem", f"{memory}MB"))
            workers = connection.execute("SELECT current_setting('max_parallel_workers')").fetchone()
            connection.execute(_SET, ("max_parallel_maintenance_workers", workers[0] if workers else "0"))
            try:
                with connection.transaction():
                    _run(connection, place, _SQL["index_vectors"])
            except DiskFull:
                # Workers share their memory, of which a container has 64 MiB unless it is given more.
                connection.execute(_SET, ("max_parallel_maintenance_workers", "0"))
                _run(connection, place, _SQL["index_vectors"])

    # -- rows --------------------------------------------------------------------------------------

    def rows(self, place: str, where: Where, *fields: str) -> Iterator[Sequence[Any]]:
        ids = _ids(where)
        chosen = ", ".join(_FIELDS[name] for name in fields)
        # The names of columns are ours.
        asked = "SELECT " + chosen + " FROM {documents} WHERE %(all)s OR id = ANY(%(allowed)s::text[])"  # noqa: S608
        with self.snapshot() as connection:
            rows = _run(connection, place, asked, {"all": ids is None, "allowed": ids or []})
        at = fields.index("vector") if "vector" in fields else None
        for row in rows:
            if at is None or row[at] is None:
                yield row
            else:
                yield [*row[:at], np.frombuffer(row[at], ">f4", offset=4).astype(np.float32), *row[at + 1 :]]

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
                _run(connection, place, "DELETE FROM {documents} WHERE id = ANY(%s::text[])", [ids])

    def by_words(self, at: EngineState, query: Mapping[str, int], k: int, where: Where) -> Found:
        bm25, documents = at.manifest.bm25, at.manifest.documents
        values = {"terms": list(query), "times": list(query.values()), "documents": documents}
        values |= {"k1": bm25.k1, "b": bm25.b, "mean": at.mean_length or 1.0}
        return self._search(at.place, _SQL["words"], k, where, values)

    def by_vector(self, at: EngineState, vector: Vectors, k: int, where: Where) -> Found:
        values = {"vector": str(vector.tolist()), "wide": BREADTH}
        if _ids(where) is None and 4 * k <= BREADTH:
            ranking = self._search(at.place, _SQL["near"], k, where, values)
            # Rows that were deleted lately take places in the index until they are vacuumed.
            if len(ranking) >= min(k, at.manifest.documents):
                return ranking
        return self._search(at.place, _SQL["nearest"], k, where, values)

    def _search(
        self, place: str, statement: LiteralString, k: int, where: Where, values: Mapping[str, Any]
    ) -> Found:
        ids = _ids(where)
        filled = {**values, "k": k, "all": ids is None, "allowed": ids or []}
        with self.snapshot() as connection:
            return _run(connection, place, statement, filled)


def _close(idle: list[Connection[Any]]) -> None:
    for connection in idle:
        connection.close()


def _ids(where: Where) -> list[str] | None:
    return next((list(value) for name, _, value in where if name == "id"), None)


def _run(connection: Connection[Any], place: str, statement: LiteralString, values: Any = None) -> list[Any]:
    """Return the rows of a statement, its tables named."""
    cursor = connection.execute(_name(place, statement), values, binary=values is not None)
    return cursor.fetchall() if cursor.description is not None else []


def _name(place: str, statement: LiteralString) -> Any:
    from psycopg.sql import SQL, Identifier

    return SQL(statement).format(documents=Identifier(place), terms=Identifier(place + "_terms"))


def _make(connection: Connection[Any], place: str, dim: int | None) -> None:
    from psycopg.sql import SQL, Literal

    _run(connection, place, _SQL["make"])
    if dim is not None:
        sized = _name(place, "ALTER TABLE {documents} ALTER COLUMN vector TYPE vector")
        connection.execute(SQL("{}({})").format(sized, Literal(dim)))


def _prepare(connection: Connection[Any]) -> None:
    """Make what all indexes share, and have the connection write arrays of numpy as vectors of pgvector."""
    from psycopg import Error
    from psycopg.adapt import Dumper
    from psycopg.pq import Format
    from psycopg.types import TypeInfo

    # Two that come first at the same time would both make it.
    connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('mrag_registry', 0))")
    try:
        with connection.transaction():
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    except Error as error:
        hint = "Install pgvector on the server and have an administrator say CREATE EXTENSION vector."
        raise ConfigError("The database has no pgvector.", hint=hint) from error
    _make(connection, REGISTRY, None)
    info = TypeInfo.fetch(connection, "vector")
    assert info is not None
    info.register(connection)
    kind = info.oid

    class _VectorDumper(Dumper):
        format = Format.BINARY
        oid = kind

        def dump(self, obj: Vectors) -> bytes:
            return struct.pack(">HH", len(obj), 0) + obj.astype(">f4").tobytes()

    connection.adapters.register_dumper(np.ndarray, _VectorDumper)
