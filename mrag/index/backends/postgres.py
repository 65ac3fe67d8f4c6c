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
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from select import select
from typing import TYPE_CHECKING, Any, Final, LiteralString

import numpy as np

from mrag.errors import ConfigError, IndexError_
from mrag.index.backends.base import Abilities
from mrag.index.backends.engine import (
    Allowed,
    EngineBackend,
    EngineState,
    Found,
    IndexChange,
    Replaced,
    no_index,
    parts_of,
    refusal,
    terms_of,
)
from mrag.index.embedding import Vectors

__all__ = ["PostgresBackend"]

if TYPE_CHECKING:
    from psycopg import Connection

BREADTH: Final = 1000
"""How many vectors pgvector's index looks at, which is the most that it may.

Of 100,000 documents it finds .98 of the nearest ten then, and with 400 .95 (`docs/how-large.md`).
"""
_SECONDS: Final = 10
"""How long a server may take to answer a connection."""
_INDEXED: Final = 2000
"""Dimensions up to which pgvector indexes vectors; longer ones are compared one by one."""
_MEMORY_MB: Final = 2048
_LARGE: Final = 10
"""A change of more than one in so many documents is large."""

_MADE: Final = (
    """
    CREATE TABLE {documents} (
      number int4 NOT NULL, id text COLLATE "C" NOT NULL, body text NOT NULL, digest bytea NOT NULL,
      vector vector
    )
    """,
    """
    CREATE TABLE {terms} (
      term text COLLATE "C" NOT NULL, document int4 NOT NULL, times int4 NOT NULL, length int4 NOT NULL
    )
    """,
)
_KEYED: Final = (
    "ALTER TABLE {documents} ADD PRIMARY KEY (number)",
    "CREATE UNIQUE INDEX ON {documents} (id)",
    "ALTER TABLE {terms} ADD PRIMARY KEY (term, document) INCLUDE (times, length)",
)
# Built with twice the candidates that are usual, the index finds .975 of the nearest ten among a million.
_VECTORS_INDEXED: Final = (
    "CREATE INDEX ON {documents} USING hnsw (vector vector_ip_ops) WITH (m = 16, ef_construction = 128)"
)
_STATE: Final = "SELECT state FROM mrag_index WHERE graph = %s AND name = %s"
_SET: Final = "SELECT set_config(%s, %s, true)"
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


class PostgresBackend(EngineBackend):
    """Keeps indexes in a database with the extension `vector`: `postgresql://USER@HOST:PORT/DATABASE`."""

    abilities = Abilities(exact_vectors=False)
    login_by = "~/.pgpass or PGPASSWORD"

    def __init__(self, url: str, graph: str, pending: Path | None = None) -> None:
        super().__init__(url, graph, pending)
        try:
            import psycopg  # noqa: F401
        except ImportError as error:
            hint = "Install it with `pip install 'mrag[pgvector]'`."
            raise ConfigError("Indexes in PostgreSQL need psycopg.", hint=hint) from error
        self._connections = _Connections(url)

    def names(self) -> list[str]:
        with self._connections.reading() as connection:
            asked = "SELECT name FROM mrag_index WHERE graph = %s ORDER BY name"
            return [name for (name,) in _register(connection, asked, (self.graph,))]

    def shelf(self, name: str) -> _Shelf:
        return _Shelf(self._connections, self.graph, name)


class _Connections:
    """Connections to one database; those that read are used again."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._idle: list[Connection[Any]] = []
        weakref.finalize(self, _close, self._idle)

    @contextmanager
    def reading(self) -> Iterator[Connection[Any]]:
        from psycopg import IsolationLevel, OperationalError

        with _refusals():
            connection = self._idle_one()
            if connection is None:
                connection = self._connect()
                connection.execute("SELECT set_config('hnsw.ef_search', %s, false)", (str(BREADTH),))
                connection.commit()
                connection.isolation_level = IsolationLevel.REPEATABLE_READ
                connection.read_only = True
            try:
                yield connection
            finally:
                with suppress(OperationalError):
                    connection.rollback()
                if connection.closed:
                    connection.close()
                else:
                    self._idle.append(connection)

    @contextmanager
    def writing(self) -> Iterator[Connection[Any]]:
        with _refusals():
            connection = self._connect()
            try:
                yield connection
            finally:
                connection.close()

    def _idle_one(self) -> Connection[Any] | None:
        while True:
            try:
                connection = self._idle.pop()
            except IndexError:
                return None
            # A server that goes says so, or closes the connection: either can be read before it was asked.
            if not (connection.closed or select([connection.fileno()], [], [], 0)[0]):
                return connection
            connection.close()

    def _connect(self) -> Connection[Any]:
        from psycopg import connect

        return connect(self._url, connect_timeout=_SECONDS)


def _close(idle: list[Connection[Any]]) -> None:
    for connection in idle:
        connection.close()


@contextmanager
def _refusals() -> Iterator[None]:
    from psycopg import Error

    try:
        yield
    except Error as error:
        raise refusal("PostgreSQL", error) from error


class _Shelf:
    """The place of one index in a database."""

    def __init__(self, connections: _Connections, graph: str, name: str) -> None:
        self._connections = connections
        self._key = (graph, name)
        self._own = threading.local()

    def state(self) -> EngineState | None:
        with self._connections.reading() as connection:
            return self._state(connection)

    @contextmanager
    def reading(self) -> Iterator[_View]:
        with self._connections.reading() as connection:
            state = self._state(connection)
            if state is None:
                raise no_index(self._key[1])
            yield _View(connection, state)

    @contextmanager
    def writing(self) -> Iterator[None]:
        with self._connections.writing() as connection:
            asked = "SELECT pg_try_advisory_lock(hashtextextended(%s, 0))"
            row = connection.execute(asked, ("mrag " + " ".join(self._key),)).fetchone()
            connection.commit()
            if row is None or not row[0]:
                hint = "Wait until it is done, then try again."
                raise IndexError_("Another process is writing this index.", hint=hint)
            self._own.connection = connection
            try:
                yield
            finally:
                del self._own.connection

    def commit(self, change: IndexChange) -> EngineState:
        connection: Connection[Any] = self._own.connection
        with connection.transaction():
            _prepare(connection)
        with connection.transaction():
            if change.before is None or change.builds:
                state = _build(connection, change)
                self._remove(connection)
            else:
                state = _change(connection, change.before, change)
            kept = """
                INSERT INTO mrag_index (graph, name, state) VALUES (%s, %s, %s::jsonb)
                ON CONFLICT (graph, name) DO UPDATE SET state = EXCLUDED.state
            """
            connection.execute(kept, (*self._key, json.dumps(state.to_json())))
        if (len(change.fresh) + len(change.gone)) * _LARGE > state.manifest.documents:
            # The server then knows the new rows for settled, and reads its indexes alone.
            connection.autocommit = True
            _run(connection, state.place, "VACUUM (ANALYZE) {documents}, {terms}")
        return state

    def drop(self) -> None:
        connection: Connection[Any] = self._own.connection
        with connection.transaction():
            self._remove(connection)

    def _remove(self, connection: Connection[Any]) -> None:
        row = connection.execute(_STATE, self._key).fetchone()
        if row is not None:
            _run(connection, row[0]["place"], "DROP TABLE IF EXISTS {documents}, {terms}")
            connection.execute("DELETE FROM mrag_index WHERE graph = %s AND name = %s", self._key)

    def _state(self, connection: Connection[Any]) -> EngineState | None:
        rows = _register(connection, _STATE, self._key)
        return EngineState.from_json(rows[0][0]) if rows else None


class _View:
    """One commit of an index, as a transaction sees it."""

    def __init__(self, connection: Connection[Any], state: EngineState) -> None:
        self._connection = connection
        self.state = state

    def by_words(self, query: Mapping[str, int], k: int, allowed: Allowed) -> Found:
        manifest = self.state.manifest
        knobs = {"k1": manifest.bm25.k1, "b": manifest.bm25.b, "mean": self.state.mean_length or 1.0}
        terms = {"terms": list(query), "times": list(query.values()), "documents": manifest.documents}
        return self._asked(_WORDS, {**knobs, **terms, **_filter(k, allowed)})

    def by_vector(self, vector: Vectors, k: int, allowed: Allowed) -> Found:
        values = {"vector": str(vector.tolist()), **_filter(k, allowed)}
        if allowed is None and 4 * k <= BREADTH:
            found = self._asked(_NEAR, {**values, "wide": BREADTH})
            # Rows that were deleted lately take places in the index until they are vacuumed.
            if len(found) >= min(k, self.state.manifest.documents):
                return found
        return self._asked(_NEAREST, values)

    def texts(self, ids: Collection[str]) -> dict[str, str]:
        return dict(self._asked("SELECT id, body FROM {documents} WHERE id = ANY(%s::text[])", [list(ids)]))

    def digests(self) -> dict[str, bytes]:
        return {doc_id: bytes(key) for doc_id, key in self._asked("SELECT id, digest FROM {documents}")}

    def vectors(self, ids: Collection[str]) -> dict[str, Vectors]:
        if self.state.manifest.dim is None:
            return {}
        asked: LiteralString = "SELECT id, vector_send(vector) FROM {documents} WHERE id = ANY(%s::text[])"
        sent = self._asked(asked, [list(ids)])
        read = ((doc_id, np.frombuffer(raw, ">f4", offset=4)) for doc_id, raw in sent if raw is not None)
        return {doc_id: vector.astype(np.float32) for doc_id, vector in read}

    def _asked(self, statement: LiteralString, values: Any = None) -> list[Any]:
        from psycopg.errors import UndefinedTable

        try:
            return _run(self._connection, self.state.place, statement, values)
        except UndefinedTable as error:
            raise Replaced("The index was built anew meanwhile.", hint="Try again.") from error


def _filter(k: int, allowed: Allowed) -> dict[str, Any]:
    return {"k": k, "all": allowed is None, "allowed": list(allowed or ())}


def _register(connection: Connection[Any], statement: LiteralString, values: Any) -> list[Any]:
    """Return rows of the table of all indexes; none if there is no such table yet."""
    from psycopg.errors import UndefinedTable

    try:
        return connection.execute(statement, values).fetchall()
    except UndefinedTable:
        connection.rollback()
        return []


def _run(connection: Connection[Any], place: str, statement: LiteralString, values: Any = None) -> list[Any]:
    """Return the rows of a statement, its tables named."""
    cursor = connection.execute(_name(place, statement), values, binary=True)
    return cursor.fetchall() if cursor.description is not None else []


def _name(place: str, statement: LiteralString) -> Any:
    from psycopg.sql import SQL, Identifier

    documents, terms = (Identifier(f"mrag_{place}_{kind}") for kind in ("documents", "terms"))
    return SQL(statement).format(documents=documents, terms=terms)


def _prepare(connection: Connection[Any]) -> None:
    """Make what all indexes share, and have the connection write arrays of numpy as vectors of pgvector."""
    from psycopg import Error
    from psycopg.adapt import Dumper
    from psycopg.pq import Format
    from psycopg.types import TypeInfo

    # Two that come first at the same time would both make it.
    connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('mrag_index', 0))")
    connection.execute(
        'CREATE TABLE IF NOT EXISTS mrag_index (graph text COLLATE "C", name text COLLATE "C", '
        "state jsonb NOT NULL, PRIMARY KEY (graph, name))"
    )
    try:
        with connection.transaction():
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    except Error as error:
        hint = "Install pgvector on the server and have an administrator say CREATE EXTENSION vector."
        raise ConfigError("The database has no pgvector.", hint=hint) from error
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


def _build(connection: Connection[Any], change: IndexChange) -> EngineState:
    from psycopg.sql import SQL, Literal

    place, dim = secrets.token_hex(8), change.after.dim
    for statement in _MADE:
        _run(connection, place, statement)
    if dim is not None:
        sized = _name(place, "ALTER TABLE {documents} ALTER COLUMN vector TYPE vector")
        connection.execute(SQL("{}({})").format(sized, Literal(dim)))
    documents, tokens = _insert(connection, place, change, 0)
    for statement in _KEYED:
        _run(connection, place, statement)
    if dim is not None and dim <= _INDEXED:
        _index_vectors(connection, place, documents * (4 * dim + 400))
    return change.committed(documents=documents, tokens=tokens, place=place)


def _index_vectors(connection: Connection[Any], place: str, size: int) -> None:
    """Build the index of the vectors by as many workers as the server lets one command have."""
    from psycopg.errors import DiskFull

    # Built in memory it takes a fraction of the time; the setting is a cap.
    connection.execute(_SET, ("maintenance_work_mem", f"{min(_MEMORY_MB, 64 + size // (1 << 20))}MB"))
    workers = connection.execute("SELECT current_setting('max_parallel_workers')").fetchone()
    connection.execute(_SET, ("max_parallel_maintenance_workers", workers[0] if workers else "0"))
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
        old: LiteralString = "SELECT number, body FROM {documents} WHERE id = ANY(%s::text[])"
        rows = _run(connection, place, old, [list(part)])
        numbers = [number for number, _ in rows]
        analysis = before.manifest.bm25.analysis
        counts = {number: terms_of(body, analysis) for number, body in rows}
        terms = [(term, number) for number, found in counts.items() for term in found]
        uncounted: LiteralString = """
            DELETE FROM {terms} t USING unnest(%s::text[], %s::int4[]) AS gone(term, document)
            WHERE t.term = gone.term AND t.document = gone.document
        """
        _run(connection, place, uncounted, tuple(map(list, zip(*terms, strict=True))) or ([], []))
        _run(connection, place, "DELETE FROM {documents} WHERE number = ANY(%s::int4[])", [numbers])
        documents, tokens = documents - len(rows), tokens - sum(found.total() for found in counts.values())
    last = _run(connection, place, "SELECT coalesce(max(number), 0) FROM {documents}")[0][0]
    more, longer = _insert(connection, place, change, last)
    return change.committed(documents=documents + more, tokens=tokens + longer, place=place)


def _insert(connection: Connection[Any], place: str, change: IndexChange, last: int) -> tuple[int, int]:
    """Copy the fresh documents in, and return how many they are and how many terms they have."""
    columns: dict[LiteralString, list[str]] = {
        "{documents} (number, id, body, digest, vector)": ["int4", "text", "text", "bytea", "vector"],
        "{terms} (term, document, times, length)": ["text", "int4", "int4", "int4"],
    }
    number, tokens = last, 0
    for rows in change.rows():
        # PostgreSQL has no NUL in a text, and no word has it.
        texts = (row.text.replace("\0", "\ufffd") for row in rows)
        numbered = list(enumerate(rows, number + 1))
        documents = ((n, r.doc_id, next(texts), r.digest, r.vector) for n, r in numbered)
        terms = ((term, n, times, r.terms.total()) for n, r in numbered for term, times in r.terms.items())
        for (target, kinds), values in zip(columns.items(), (documents, terms), strict=True):
            copied = _name(place, "COPY " + target + " FROM STDIN (FORMAT binary)")
            with connection.cursor().copy(copied) as copy:
                copy.set_types(kinds)
                for value in values:
                    copy.write_row(value)
        number, tokens = number + len(rows), tokens + sum(row.terms.total() for row in rows)
    return number - last, tokens
