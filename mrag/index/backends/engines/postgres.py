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

import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, LiteralString

import numpy as np
import numpy.typing as npt

from mrag.errors import IndexError_, MissingIndex
from mrag.index.backends.base import Abilities
from mrag.index.backends.engines.backend import EngineBackend
from mrag.index.backends.engines.postgres_wire import BREADTH, Connections, told, unpacked, written
from mrag.index.backends.engines.postgres_writing import drop, prepare, put, table, tidy
from mrag.index.backends.engines.rows import EngineState, Found, IndexChange, Replaced

if TYPE_CHECKING:
    from psycopg import Connection

__all__ = ["PostgresBackend"]

_NAMES: Final = "SELECT name FROM mrag_index WHERE graph = %s ORDER BY name"
_STATE: Final = "SELECT state FROM mrag_index WHERE graph = %s AND name = %s"
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
    """Keeps indexes in the tables of a PostgreSQL database with the extension `vector`.

    Args and errors are those of `EngineBackend`; the URL is `postgresql://USER@HOST:PORT/DATABASE`.
    """

    abilities = Abilities(exact_vectors=False)
    login_by = "~/.pgpass or PGPASSWORD"

    def __init__(self, url: str, graph: str, pending: Path | None = None) -> None:
        super().__init__(url, graph, pending)
        self._connections = Connections(url)

    def names(self) -> list[str]:
        """List the indexes of the graph in order of name."""
        from psycopg.errors import UndefinedTable

        with told(), self._connections.reading() as connection:
            try:
                return [name for (name,) in connection.execute(_NAMES, (self.graph,))]
            except UndefinedTable:
                return []

    def shelf(self, name: str) -> PostgresShelf:
        """Return the place of an index."""
        return PostgresShelf(self._connections, self.graph, name)


class PostgresShelf:
    """The place of one index in a database."""

    def __init__(self, connections: Connections, graph: str, name: str) -> None:
        self._connections = connections
        self._key = (graph, name)
        self._own = threading.local()

    def state(self) -> EngineState | None:
        """Return what the index is; None if there is none."""
        with told(), self._connections.reading() as connection:
            return self._state(connection)

    @contextmanager
    def reading(self) -> Iterator[PostgresView]:
        """Give the newest commit for a while.

        Raises:
            MissingIndex: If there is none.
        """
        with told(), self._connections.reading() as connection:
            state = self._state(connection)
            if state is None:
                raise MissingIndex(f"There is no similarity index {self._key[1]!r}.")
            yield PostgresView(connection, state)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keep other writers out.

        Raises:
            IndexError_: If one is at work.
        """
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
        """Carry out a change in one transaction."""
        connection: Connection[Any] = self._own.connection
        with told():
            with connection.transaction():
                prepare(connection)
            with connection.transaction():
                state = put(connection, self._key, change)
            tidy(connection, change, state)
            return state

    def drop(self) -> None:
        """Remove the index, while it is locked for writing."""
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
        """Rank by BM25; see `IndexView`."""
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
        """Rank by the inner product; exactly where a filter is given, or very many are wanted."""
        values = {"vector": written(vector), **_filter(k, allowed)}
        if allowed is None and 4 * k <= BREADTH:
            found = self.run(_NEAR, {**values, "wide": BREADTH})
            # Rows that were deleted lately take places in the index until they are vacuumed.
            if len(found) >= min(k, self.state.manifest.documents):
                return found
        return self.run(_NEAREST, values)

    def texts(self, ids: Collection[str]) -> dict[str, str]:
        """Return the texts of documents; none of those that are not there."""
        return dict(self.run(_TEXTS, (list(ids),)))

    def digests(self) -> dict[str, bytes]:
        """Return the digest of the text of every document, by ID."""
        return {doc_id: bytes(key) for doc_id, key in self.run(_DIGESTS)}

    def vectors(self, ids: Collection[str]) -> dict[str, npt.NDArray[np.float32]]:
        """Return the vectors of documents; none of those that have none."""
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
