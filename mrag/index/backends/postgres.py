# ruff: noqa: D102 - what implements an interface is described there
"""Similarity indexes in PostgreSQL: vectors by pgvector, words by BM25 in plain SQL.

`tsvector` ranks without regard to how rare a word is, so the counts of terms, cut as they are everywhere in
`mrag`, have a table of their own. Scores by words then equal those of the local index to the last bit.

| table | content |
|---|---|
| `mrag_index` | a row for each index: its graph, its name and, as JSON, what it is |
| `mrag_PLACE_documents` | number, ID, text, digest and vector of each document |
| `mrag_PLACE_terms` | how often each term occurs in which document, and the length of that |
"""

from __future__ import annotations

import json
import secrets
import struct
import threading
import weakref
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, LiteralString

import numpy as np
import numpy.typing as npt

from mrag.errors import ConfigError, IndexError_, MissingIndex
from mrag.index.backends.base import Abilities
from mrag.index.backends.engine import EngineBackend, EngineState, Found, IndexChange, Replaced, parts_of
from mrag.index.bm25 import Postings
from mrag.redaction import redact

__all__ = ["PostgresBackend"]

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.sql import Identifier
    from psycopg.types import TypeInfo

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
    """Connections to one database; those that read are used again."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._idle: list[Connection[Any]] = []
        self._lock = threading.Lock()
        weakref.finalize(self, _close, self._idle)
        _psycopg()

    @contextmanager
    def reading(self) -> Iterator[Connection[Any]]:
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
    """Return a vector as pgvector reads it."""
    return f"[{','.join(map(str, vector))}]"


def unpacked(sent: bytes) -> npt.NDArray[np.float32]:
    """Return the vector that `vector_send` of pgvector has sent."""
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


_REGISTRY: Final = """
CREATE TABLE IF NOT EXISTS mrag_index (
  graph text COLLATE "C", name text COLLATE "C", state jsonb NOT NULL, PRIMARY KEY (graph, name)
)
"""
_KEPT: Final = """
INSERT INTO mrag_index (graph, name, state) VALUES (%s, %s, %s::jsonb)
ON CONFLICT (graph, name) DO UPDATE SET state = EXCLUDED.state
"""
_STATE: Final = "SELECT state FROM mrag_index WHERE graph = %s AND name = %s"
_FORGOTTEN: Final = "DELETE FROM mrag_index WHERE graph = %s AND name = %s"
_DROPPED: Final = "DROP TABLE IF EXISTS {documents}, {terms}"

_DOCUMENTS: Final = """
CREATE TABLE {documents} (
  number int4 NOT NULL, id text COLLATE "C" NOT NULL, body text NOT NULL, digest bytea NOT NULL, vector vector
)
"""
_SIZED: Final = "ALTER TABLE {documents} ALTER COLUMN vector TYPE vector({dim})"
_TERMS: Final = """
CREATE TABLE {terms} (
  term text COLLATE "C" NOT NULL, document int4 NOT NULL, times int4 NOT NULL, length int4 NOT NULL
)
"""
_KEYED: Final = (
    "ALTER TABLE {documents} ADD PRIMARY KEY (number)",
    "CREATE UNIQUE INDEX ON {documents} (id)",
    "ALTER TABLE {terms} ADD PRIMARY KEY (term, document) INCLUDE (times, length)",
)
_VECTORS_INDEXED: Final = (
    "CREATE INDEX ON {documents} USING hnsw (vector vector_ip_ops) WITH (m = 16, ef_construction = 128)"
)
"""Built with twice the candidates that are usual, the index finds .975 of the nearest ten among a million."""

_SET: Final = "SELECT set_config(%s, %s, true)"
_WORKERS: Final = """
SELECT set_config('max_parallel_maintenance_workers', current_setting('max_parallel_workers'), true)
"""
_INDEXED: Final = 2000
"""Dimensions up to which pgvector indexes vectors; longer ones are compared one by one."""
_MEMORY_MB: Final = 2048
_LARGE: Final = 10
"""A change of more than one in so many documents is large."""

_LAST: Final = "SELECT coalesce(max(number), 0) FROM {documents}"
_OLD: Final = "SELECT number, body FROM {documents} WHERE id = ANY(%s::text[])"
_GONE: Final = "DELETE FROM {documents} WHERE number = ANY(%s::int4[])"
_UNCOUNTED: Final = """
DELETE FROM {terms} t USING unnest(%s::text[], %s::int4[]) AS gone(term, document)
WHERE t.term = gone.term AND t.document = gone.document
"""
_PUT_DOCUMENTS: Final = "COPY {documents} (number, id, body, digest, vector) FROM STDIN (FORMAT binary)"
_PUT_TERMS: Final = "COPY {terms} (term, document, times, length) FROM STDIN (FORMAT binary)"


def table(place: str, kind: LiteralString) -> Identifier:
    """Return the quoted name of a table of an index."""
    from psycopg.sql import Identifier

    return Identifier(f"mrag_{place}_{kind}")


def put(connection: Connection[Any], key: tuple[str, str], change: IndexChange) -> EngineState:
    """Carry out a change."""
    before = change.before
    # The column of vectors gets its dimensions with the first of them.
    if before is None or before.manifest.dim != change.after.dim:
        state = _build(connection, change)
        drop(connection, key)
    else:
        state = _change(connection, before, change)
    connection.execute(_KEPT, (*key, json.dumps(state.to_json())))
    return state


def tidy(connection: Connection[Any], change: IndexChange, state: EngineState) -> None:
    """Have the server know the new rows for settled after a large change: it then reads its indexes alone."""
    if (len(change.fresh) + len(change.gone)) * _LARGE > state.manifest.documents:
        connection.autocommit = True
        _run(connection, state.place, "VACUUM (ANALYZE) {documents}, {terms}")


def drop(connection: Connection[Any], key: tuple[str, str]) -> None:
    """Remove an index; if there is none, nothing is done."""
    row = connection.execute(_STATE, key).fetchone()
    if row is not None:
        _run(connection, row[0]["place"], _DROPPED)
        connection.execute(_FORGOTTEN, key)


def prepare(connection: Connection[Any]) -> None:
    """Make what all indexes share, and have the connection know vectors."""
    from psycopg import Error
    from psycopg.types import TypeInfo

    # Two that come first at the same time would both make it.
    connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('mrag_index', 0))")
    connection.execute(_REGISTRY)
    if TypeInfo.fetch(connection, "vector") is None:
        try:
            with connection.transaction():
                connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        except Error as error:
            raise ConfigError(
                "The database has no pgvector.",
                hint="Install pgvector on the server and have an administrator say CREATE EXTENSION vector.",
            ) from error
    info = TypeInfo.fetch(connection, "vector")
    assert info is not None
    register(connection, info)


def _build(connection: Connection[Any], change: IndexChange) -> EngineState:
    place = secrets.token_hex(8)
    _run(connection, place, _DOCUMENTS)
    _run(connection, place, _TERMS)
    dim = change.after.dim
    if dim is not None:
        _run(connection, place, _SIZED, dim=dim)
    documents, tokens = _insert(connection, place, change, 0)
    for statement in _KEYED:
        _run(connection, place, statement)
    if dim is not None and dim <= _INDEXED:
        _index_vectors(connection, place, documents, dim)
    return change.committed(documents=documents, tokens=tokens, place=place)


def _index_vectors(connection: Connection[Any], place: str, documents: int, dim: int) -> None:
    """Build the index of the vectors by as many workers as the server lets one command have."""
    from psycopg.errors import DiskFull

    # Built in memory it takes a fraction of the time; the setting is a cap.
    needed = min(_MEMORY_MB, 64 + documents * (4 * dim + 400) // (1 << 20))
    connection.execute(_SET, ("maintenance_work_mem", f"{needed}MB"))
    connection.execute(_WORKERS)
    try:
        with connection.transaction():
            _run(connection, place, _VECTORS_INDEXED)
    except DiskFull:
        # Workers share their memory, of which a container has 64 MiB unless it is given more.
        connection.execute(_SET, ("max_parallel_maintenance_workers", "0"))
        _run(connection, place, _VECTORS_INDEXED)


def _change(connection: Connection[Any], before: EngineState, change: IndexChange) -> EngineState:
    place, documents, tokens = before.place, before.manifest.documents, before.tokens
    for part in parts_of(change.gone):
        rows = _run(connection, place, _OLD, list(part))
        built = Postings.build([body for _, body in rows], before.manifest.bm25.analysis)
        numbers = [number for number, _ in rows]
        starts, at = built.starts.tolist(), list(built.rows)
        spans = zip(built.terms, starts, starts[1:], strict=False)
        terms = [term for term, start, end in spans for _ in range(end - start)]
        _run(connection, place, _UNCOUNTED, terms, [numbers[row] for row in at])
        _run(connection, place, _GONE, numbers)
        documents, tokens = documents - len(rows), tokens - int(built.lengths.sum())
    last = _run(connection, place, _LAST)[0][0]
    more, longer = _insert(connection, place, change, last)
    return change.committed(documents=documents + more, tokens=tokens + longer, place=place)


def _insert(connection: Connection[Any], place: str, change: IndexChange, last: int) -> tuple[int, int]:
    """Copy the fresh documents in, and return how many they are and how many terms they have."""
    from psycopg.sql import SQL

    names = {"documents": table(place, "documents"), "terms": table(place, "terms")}
    documents = tokens = 0
    for rows in change.rows():
        first = last + documents + 1
        with connection.cursor().copy(SQL(_PUT_DOCUMENTS).format(**names)) as copy:
            copy.set_types(["int4", "text", "text", "bytea", "vector"])
            for number, row in enumerate(rows, first):
                # PostgreSQL has no NUL in a text, and no word has it.
                text = row.text.replace("\0", "\ufffd")
                copy.write_row((number, row.doc_id, text, row.digest, row.vector))
        with connection.cursor().copy(SQL(_PUT_TERMS).format(**names)) as copy:
            copy.set_types(["text", "int4", "int4", "int4"])
            for number, row in enumerate(rows, first):
                for term, times in row.terms.items():
                    copy.write_row((term, number, times, row.length))
        documents += len(rows)
        tokens += sum(row.length for row in rows)
    return documents, tokens


def _run(
    connection: Connection[Any], place: str, statement: LiteralString, *values: Sequence[Any], dim: int = 0
) -> list[Any]:
    from psycopg.sql import SQL, Literal

    named = SQL(statement).format(
        documents=table(place, "documents"), terms=table(place, "terms"), dim=Literal(dim)
    )
    cursor = connection.execute(named, values or None)
    return cursor.fetchall() if cursor.description is not None else []


_NAMES: Final = "SELECT name FROM mrag_index WHERE graph = %s ORDER BY name"
_LOCKED: Final = "SELECT pg_try_advisory_lock(hashtextextended(%s, 0))"
_WORDS: Final = """
WITH asked AS (
  SELECT a.term, a.times, count(*) AS documents
  FROM unnest(%(terms)s::text[], %(times)s::int4[]) AS a(term, times) JOIN {terms} t ON t.term = a.term
  GROUP BY a.term, a.times
), weighed AS MATERIALIZED (
  SELECT term, times, ln(1 + (%(documents)s::float8 - documents + 0.5) / (documents + 0.5)) AS idf FROM asked
), scored AS (
  SELECT t.document, sum(w.times * (
    round(w.idf * t.times / (t.times + %(k1)s::float8 * (1 - %(b)s::float8 + %(b)s::float8
      * (t.length / %(mean)s::float8))) * 1099511627776::float8) / 1099511627776::float8
  )::float4::float8)::float4 AS score
  FROM weighed w JOIN {terms} t ON t.term = w.term
  WHERE %(all)s OR t.document IN (SELECT number FROM {documents} WHERE id = ANY(%(allowed)s::text[]))
  GROUP BY t.document
  ORDER BY score DESC FETCH FIRST %(k)s ROWS WITH TIES
)
SELECT d.id, s.score FROM scored s JOIN {documents} d ON d.number = s.document
ORDER BY s.score DESC, d.id LIMIT %(k)s
"""
"""The sums of `Bm25Index`, rounded where that rounds."""

_NEAR: Final = """
SELECT id, score FROM (
  SELECT id, (-(vector <#> %(vector)s::vector))::float4 AS score FROM {documents}
  ORDER BY vector <#> %(vector)s::vector LIMIT %(wide)s
) AS near ORDER BY score DESC, id LIMIT %(k)s
"""
_NEAREST: Final = """
SELECT id, (-(vector <#> %(vector)s::vector))::float4 AS score FROM {documents}
WHERE %(all)s OR id = ANY(%(allowed)s::text[]) ORDER BY score DESC, id LIMIT %(k)s
"""
"""The same without the index: pgvector's takes a filter into account after it has searched."""

_TEXTS: Final = "SELECT id, body FROM {documents} WHERE id = ANY(%s::text[])"
_DIGESTS: Final = "SELECT id, digest FROM {documents}"
_VECTORS: Final = "SELECT id, vector_send(vector) FROM {documents} WHERE id = ANY(%s::text[])"


class PostgresBackend(EngineBackend):
    """Keeps indexes in the tables of a PostgreSQL database with the extension `vector`."""

    abilities = Abilities(exact_vectors=False)
    login_by = "~/.pgpass or PGPASSWORD"

    def __init__(self, url: str, graph: str, pending: Path | None = None) -> None:
        super().__init__(url, graph, pending)
        self._connections = Connections(url)

    def names(self) -> list[str]:
        from psycopg.errors import UndefinedTable

        with told(), self._connections.reading() as connection:
            try:
                return [name for (name,) in connection.execute(_NAMES, (self.graph,))]
            except UndefinedTable:
                return []

    def shelf(self, name: str) -> PostgresShelf:
        return PostgresShelf(self._connections, self.graph, name)


class PostgresShelf:
    """The place of one index in a database."""

    def __init__(self, connections: Connections, graph: str, name: str) -> None:
        self._connections = connections
        self._key = (graph, name)
        self._own = threading.local()

    def state(self) -> EngineState | None:
        with told(), self._connections.reading() as connection:
            return self._state(connection)

    @contextmanager
    def reading(self) -> Iterator[PostgresView]:
        with told(), self._connections.reading() as connection:
            state = self._state(connection)
            if state is None:
                raise MissingIndex(f"There is no similarity index {self._key[1]!r}.")
            yield PostgresView(connection, state)

    @contextmanager
    def writing(self) -> Iterator[None]:
        with told(), self._connections.writing() as connection:
            key = "mrag " + " ".join(self._key)
            row = connection.execute(_LOCKED, (key,)).fetchone()
            connection.commit()
            if row is None or not row[0]:
                raise IndexError_(
                    "Another process is writing this index.", hint="Wait until it is done, then try again."
                )
            self._own.connection = connection
            try:
                yield
            finally:
                del self._own.connection

    def commit(self, change: IndexChange) -> EngineState:
        connection: Connection[Any] = self._own.connection
        with told():
            with connection.transaction():
                prepare(connection)
            with connection.transaction():
                state = put(connection, self._key, change)
            tidy(connection, change, state)
            return state

    def drop(self) -> None:
        connection: Connection[Any] = self._own.connection
        with told(), connection.transaction():
            drop(connection, self._key)

    def _state(self, connection: Connection[Any]) -> EngineState | None:
        from psycopg.errors import UndefinedTable

        try:
            row = connection.execute(_STATE, self._key).fetchone()
        except UndefinedTable:
            connection.rollback()
            return None
        return None if row is None else EngineState.from_json(row[0])


class PostgresView:
    """One commit of an index, as a transaction sees it."""

    def __init__(self, connection: Connection[Any], state: EngineState) -> None:
        self._connection = connection
        self.state = state

    def by_words(self, query: Mapping[str, int], k: int, allowed: Collection[str] | None) -> Found:
        knobs = self.state.manifest.bm25
        values = {
            "terms": list(query),
            "times": list(query.values()),
            "documents": self.state.manifest.documents,
            "mean": self.state.mean_length or 1.0,
            "k1": knobs.k1,
            "b": knobs.b,
        }
        return self.run(_WORDS, {**values, **_filter(k, allowed)})

    def by_vector(self, vector: npt.NDArray[np.float32], k: int, allowed: Collection[str] | None) -> Found:
        values = {"vector": written(vector), **_filter(k, allowed)}
        if allowed is None and 4 * k <= BREADTH:
            found = self.run(_NEAR, {**values, "wide": BREADTH})
            # Rows that were deleted lately take places in the index until they are vacuumed.
            if len(found) >= min(k, self.state.manifest.documents):
                return found
        return self.run(_NEAREST, values)

    def texts(self, ids: Collection[str]) -> dict[str, str]:
        return dict(self.run(_TEXTS, (list(ids),)))

    def digests(self) -> dict[str, bytes]:
        return {doc_id: bytes(key) for doc_id, key in self.run(_DIGESTS)}

    def vectors(self, ids: Collection[str]) -> dict[str, npt.NDArray[np.float32]]:
        if self.state.manifest.dim is None:
            return {}
        sent = self.run(_VECTORS, (list(ids),))
        return {doc_id: unpacked(vector) for doc_id, vector in sent if vector is not None}

    def run(self, statement: LiteralString, values: Any = None) -> list[Any]:
        """Return the rows of a statement, its tables named."""
        from psycopg.errors import UndefinedTable
        from psycopg.sql import SQL

        place = self.state.place
        named = SQL(statement).format(documents=table(place, "documents"), terms=table(place, "terms"))
        try:
            cursor = self._connection.execute(named, values, binary=True)
        except UndefinedTable as error:
            raise Replaced("The index was built anew meanwhile.", hint="Try again.") from error
        return cursor.fetchall() if cursor.description is not None else []


def _filter(k: int, allowed: Collection[str] | None) -> dict[str, Any]:
    return {"k": k, "all": allowed is None, "allowed": list(allowed or ())}
