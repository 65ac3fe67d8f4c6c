"""Tables of Parquet files and of SQL databases as rows, each value with its datatype."""

from __future__ import annotations

import datetime
import decimal
import math
import os
import queue
import re
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote, urlsplit

import pyoxigraph as ox

from mrag.errors import ConfigError, LoadError
from mrag.loaders.rdf import Progress, Source
from mrag.loaders.tables.rows import BrokenTable, Row, TableRows
from mrag.loaders.tables.terms import Typed
from mrag.redaction import redact_url
from mrag.text.possessive import compiled

if TYPE_CHECKING:
    from sqlalchemy import URL, Connection, Engine

_BATCH = 10_000
CONNECT_SECONDS = 15.0
"""How long a database may take to be reached and to let us in."""
_READING = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE, sqlite3.SQLITE_TRANSACTION)
_DESCRIBING = frozenset(
    "table_info table_xinfo index_list index_info index_xinfo foreign_key_list table_list".split()
)
_STRINGS = (re.compile(r"'[^']*+'"), compiled(r"(?s)'[^'\\]*+(?:\\.[^'\\]*+)*+'"))
"""Texts of SQL, as most databases read them and as MySQL does."""
_REMARK = compiled(r"\s*+(?:--[^\n]*+|/\*(?!!)[^*]*+(?:\*(?!/)[^*]*+)*+\*/)")
_WORDS = re.compile(r"\w++|[(;]")
_INSTALL = 'Install it with `pip install "mrag[tables]"`.'


class ParquetRows(TableRows):
    """The rows of a Parquet file, a batch at a time.

    Args:
        path: The file.
        on_progress: Called with the bytes read and the bytes in all.

    Raises:
        ConfigError: If pyarrow is not installed.
    """

    def __init__(self, path: Path, on_progress: Progress | None = None) -> None:
        try:
            import pyarrow  # noqa: F401
        except ImportError as error:
            raise ConfigError("Reading Parquet needs pyarrow.", file=str(path), hint=_INSTALL) from error
        self._path, self._note = path, on_progress
        self._wanted: list[str] | None = None

    def require(self, columns: Sequence[str]) -> None:
        """Say which columns will be asked for."""
        self._wanted = list(columns)

    def __iter__(self) -> Iterator[Row]:
        """Yield the rows."""
        import pyarrow
        from pyarrow import parquet

        source = Source(self._path, ox.RdfFormat.JSON_LD, False, "")
        total, note, number = source.size(), self._note, 0
        with source.path.open("rb") as raw:
            try:
                file = parquet.ParquetFile(raw)
                self.columns = tuple(file.schema_arrow.names)
                wanted = None if self._wanted is None else [c for c in self.columns if c in self._wanted]
                rows = file.metadata.num_rows
                for batch in file.iter_batches(_BATCH, columns=wanted, use_threads=False):
                    columns = {name: _plain(batch.column(name)) for name in batch.schema.names}
                    for at in range(batch.num_rows):
                        number += 1
                        yield Row(
                            number, None, {name: natural(column[at]) for name, column in columns.items()}
                        )
                    if note is not None:
                        note(total * number // rows, total)
            except (pyarrow.ArrowException, OSError) as error:
                what = str(error).splitlines()[0][:200].rstrip(".")
                raise BrokenTable(f"Not a valid table: {what}.", file=str(self._path)) from error


class SqlRows(TableRows):
    """The rows of a table of a database, or of a query to it, in a transaction that only reads.

    Args:
        url: URL of the database, as SQLAlchemy writes it.
        table: Name of the table, after its schema and a dot if it has one.
        query: A query in place of a table.
        on_progress: Called with the rows read, and None.
    """

    def __init__(self, url: str, table: str, query: str = "", on_progress: Progress | None = None) -> None:
        self._url, self._table, self._query, self._note = url, table, query, on_progress

    def __iter__(self) -> Iterator[Row]:
        """Yield the rows."""
        import sqlalchemy as sa

        if self._query:
            check_reads(self._query)
        with connected(self._url) as connection:
            streaming = connection.execution_options(stream_results=True, max_row_buffer=_BATCH)
            if self._query:
                found = streaming.exec_driver_sql(self._query)
            else:
                schema, _, name = self._table.replace('"', "").rpartition(".")
                table = sa.table(name, schema=schema or None)
                found = streaming.execute(sa.select(sa.text("*")).select_from(table))
            self.columns = tuple(found.keys())
            for number, row in enumerate(found, start=1):
                yield Row(number, None, dict(zip(self.columns, map(natural, row), strict=True)))
                if self._note is not None and not number % _BATCH:
                    self._note(number, None)


@contextmanager
def connected(url: str) -> Iterator[Connection]:
    """Open a database for reading.

    Args:
        url: Its URL, as SQLAlchemy writes it.

    Raises:
        ConfigError: If SQLAlchemy or the driver is not installed, or the URL is none.
        LoadError: If the database cannot be read.
    """
    try:
        import sqlalchemy as sa
    except ImportError as error:
        raise ConfigError("Reading a database needs SQLAlchemy.", hint=_INSTALL) from error
    shown = redact_url(url)
    try:
        parsed = sa.make_url(url)
        if sqlite := parsed.get_backend_name() == "sqlite":
            parsed = _read_only(parsed)
        engine = sa.create_engine(parsed, poolclass=sa.NullPool)
    except (sa.exc.ArgumentError, sa.exc.NoSuchModuleError) as error:
        raise ConfigError(
            "This is no URL of a database.", endpoint=shown, hint="It looks like sqlite:///shop.db."
        ) from error
    except ImportError as error:
        hint = f"Install the driver: `pip install {error.name}`."
        raise ConfigError(
            "The driver of the database is not installed.", endpoint=shown, hint=hint
        ) from error
    try:
        # A connection of SQLite belongs to its thread, and waits for no other machine.
        with engine.connect() if sqlite else _in_time(engine, shown) as connection:
            if sqlite:
                connection.exec_driver_sql("PRAGMA query_only = ON")
                cast(Any, connection.connection.driver_connection).set_authorizer(_allowed)
            elif engine.dialect.name == "postgresql":
                connection.execution_options(postgresql_readonly=True)
            elif engine.dialect.name in ("mysql", "mariadb", "oracle"):
                connection.exec_driver_sql("SET TRANSACTION READ ONLY")
            yield connection
    except sa.exc.SQLAlchemyError as error:
        # What the driver says, without the statement and the page that explains the error.
        what = str(getattr(error, "orig", None) or error).splitlines()[0][:200].rstrip(".")
        raise LoadError(f"The database cannot be read: {what}.", endpoint=shown) from error
    finally:
        engine.dispose()


def _read_only(url: URL) -> URL:
    """Return the URL of a database of SQLite that the driver opens for reading; it makes what is not there.

    Raises:
        LoadError: If there is no such file.
    """
    name = url.database or ""
    if name in ("", ":memory:"):
        return url
    path = Path(unquote(urlsplit(name).path)) if name.startswith("file:") else Path(name)
    if not path.is_file():
        raise LoadError("There is no such file.", file=str(path), hint="Check the path.")
    return url.set(database=f"{path.resolve().as_uri()}?mode=ro", query={"uri": "true"})


def _allowed(action: int, first: str | None, second: str | None, *_: object) -> int:
    """Let SQLite read, whatever a statement would do besides, and describe its tables to SQLAlchemy."""
    if action == sqlite3.SQLITE_FUNCTION:
        return sqlite3.SQLITE_DENY if (second or "").lower() == "load_extension" else sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_PRAGMA:
        return sqlite3.SQLITE_OK if (first or "").lower() in _DESCRIBING else sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY


def check_reads(query: str) -> None:
    """Refuse a statement that is no query, or several, whatever the database would make of them.

    Args:
        query: A statement of SQL.

    Raises:
        LoadError: If it does not only read.

    Example:
        >>> check_reads("SELECT a FROM t WHERE b = 'into; it'")
        >>> check_reads("SELECT a INTO u FROM t")
        Traceback (most recent call last):
        ...
        mrag.errors.LoadError: A query that is imported can only read. Write one SELECT, without INTO.
    """
    query = query.strip().removesuffix(";")
    began = 0
    while (remark := _REMARK.match(query, began)) is not None:
        began = remark.end()
    first = _WORDS.match(query[began:].lstrip())
    said = {word.upper() for strings in _STRINGS for word in _WORDS.findall(strings.sub(" ", query))}
    if (
        first is None
        or first[0].upper() not in ("SELECT", "WITH", "VALUES", "TABLE", "(")
        or said & {"INTO", ";"}
    ):
        raise LoadError("A query that is imported can only read.", hint="Write one SELECT, without INTO.")


def _in_time(engine: Engine, shown: str) -> Connection:
    """Connect, or give up: not every driver can be told how long it may take, and each calls it otherwise.

    Raises:
        LoadError: If it takes too long.
    """
    made: queue.SimpleQueue[Connection | BaseException] = queue.SimpleQueue()
    late = threading.Event()

    def connect() -> None:
        try:
            connection = engine.connect()
        except BaseException as error:
            made.put(error)
            return
        made.put(connection)
        if late.is_set():
            connection.close()

    threading.Thread(target=connect, name="mrag-connect", daemon=True).start()
    try:
        found = made.get(timeout=CONNECT_SECONDS)
    except queue.Empty:
        late.set()
        raise LoadError(
            f"The database did not answer within {CONNECT_SECONDS:g} s.",
            endpoint=shown,
            hint="Check its address, and whether it can be reached from here.",
        ) from None
    if isinstance(found, BaseException):
        raise found
    return found


def is_database(file: str | os.PathLike[str]) -> bool:
    """Return whether what is to be imported is a database, not a file."""
    return "://" in os.fspath(file)


def natural(value: Any) -> Any:
    """Return a value of a database as a text with the datatype of XML Schema that it has by nature.

    Source:
        R2RML, section 10.2.

    Example:
        >>> natural(decimal.Decimal("1.50")), natural(decimal.Decimal("1.50")).datatype
        ('1.50', 'http://www.w3.org/2001/XMLSchema#decimal')
        >>> natural(None), natural("as it is")
        (None, 'as it is')
    """
    if value is None or isinstance(value, str | dict):
        return value
    if isinstance(value, list | tuple | set):
        return [natural(each) for each in value]
    if isinstance(value, bool):
        return Typed.of("true" if value else "false", "boolean")
    if isinstance(value, int):
        return Typed.of(str(value), "integer")
    if isinstance(value, float):
        odd = "NaN" if math.isnan(value) else "INF" if value > 0 else "-INF"
        return Typed.of(repr(value) if math.isfinite(value) else odd, "double")
    if isinstance(value, decimal.Decimal):
        return Typed.of(format(value, "f"), "decimal") if value.is_finite() else str(value)
    if isinstance(value, datetime.datetime):
        return Typed.of(value.isoformat(), "dateTime")
    if isinstance(value, datetime.date):
        return Typed.of(value.isoformat(), "date")
    if isinstance(value, datetime.time):
        return Typed.of(value.isoformat(), "time")
    if isinstance(value, bytes | bytearray | memoryview):
        return Typed.of(bytes(value).hex().upper(), "hexBinary")
    return str(value)


def _plain(column: Any) -> list[Any]:
    import pyarrow

    # Python has no nanoseconds.
    if pyarrow.types.is_timestamp(column.type) and column.type.unit == "ns":
        column = column.cast(pyarrow.timestamp("us", column.type.tz), safe=False)
    return list(column.to_pylist())
