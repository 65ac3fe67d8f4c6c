"""The statements that write an index into PostgreSQL, each in the transaction of its caller."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, LiteralString

from mrag.errors import ConfigError
from mrag.index.backends.engines.postgres_wire import register
from mrag.index.backends.engines.rows import EngineState, IndexChange, some
from mrag.index.segments.postings import Postings

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.sql import Identifier

__all__ = ["drop", "prepare", "put", "table", "tidy"]

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
_NEAR: Final = (
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
    """Carry out a change.

    Args:
        connection: In a transaction.
        key: Graph and name of the index.
        change: What changes.
    """
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
    """Have the server know the new rows for settled after a large change: it then reads its indexes alone.

    Args:
        connection: In no transaction.
        change: What was changed.
        state: The commit that came of it.
    """
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
    """Make what all indexes share, and have the connection know vectors.

    Raises:
        ConfigError: If the database has no pgvector and it cannot be had.
    """
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
            _run(connection, place, _NEAR)
    except DiskFull:
        # Workers share their memory, of which a container has 64 MiB unless it is given more.
        connection.execute(_SET, ("max_parallel_maintenance_workers", "0"))
        _run(connection, place, _NEAR)


def _change(connection: Connection[Any], before: EngineState, change: IndexChange) -> EngineState:
    place, documents, tokens = before.place, before.manifest.documents, before.tokens
    for part in some(change.gone):
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
