"""Metadata of CSV on the Web: which tables there are, and what their columns mean.

Source:
    Metadata Vocabulary for Tabular Data (W3C recommendation, 2015).
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urljoin, urlsplit

from mrag.errors import LoadError
from mrag.loaders.rdf import inside
from mrag.loaders.tables.rows import TableDialect
from mrag.loaders.tables.webcells import WebDatatype

_CONTEXT = "http://www.w3.org/ns/csvw"
_INHERITED = frozenset(
    "aboutUrl propertyUrl valueUrl datatype default lang null ordered required separator "
    "textDirection".split()
)
_OF_TABLES = frozenset(
    "url tableSchema dialect notes suppressOutput tableDirection transformations tables".split()
)
_LARGEST = 16 << 20
_TEXT = WebDatatype()


@dataclass(frozen=True)
class WebColumn:
    """A column as metadata describe it.

    Attributes:
        name: Its name in templates.
        titles: What the header may call it; empty for anything.
        about: Template of the IRI of what its cells are about; empty for a blank node to each row.
        property: Template of the IRI of the property; empty for the name after the table's IRI.
        value: Template of the IRI of the value; empty for a literal.
        datatype: What is written in it.
        language: Of its texts.
        null: What stands for no value.
        default: What an empty cell means.
        separator: Splits a cell.
        ordered: Whether a list of values is one, in order.
        required: Whether a value must be there.
        virtual: Whether it is in the metadata only.
        suppressed: Whether nothing is stated of it.
    """

    name: str
    titles: tuple[str, ...] = ()
    about: str = ""
    property: str = ""
    value: str = ""
    datatype: WebDatatype = _TEXT
    language: str = ""
    null: frozenset[str] = frozenset({""})
    default: str = ""
    separator: str = ""
    ordered: bool = False
    required: bool = False
    virtual: bool = False
    suppressed: bool = False


@dataclass(frozen=True)
class WebTable:
    """A table as metadata describe it.

    Attributes:
        iri: Where it says that it is; what is relative in it is so to this.
        file: Where it is here.
        columns: Its columns, virtual ones last.
        dialect: How it is written; None where nothing is said.
        id: IRI of the table itself, where there is one.
        about: What else is said of it, by term.
        language: Of the texts of that.
        titles: Columns that name the rows.
        rest: What further columns inherit, which are in the table alone.
    """

    iri: str
    file: Path
    columns: tuple[WebColumn, ...]
    dialect: TableDialect | None = None
    id: str = ""
    about: Mapping[str, Any] | None = None
    language: str = ""
    titles: tuple[str, ...] = ()
    rest: WebColumn = WebColumn("")


def metadata_of(path: str | os.PathLike[str]) -> Path | None:
    """Return the metadata beside a table: FILE-metadata.json, or csv-metadata.json if it names the table."""
    file = Path(path)
    own = file.with_name(f"{file.name}-metadata.json")
    if own.is_file():
        return own
    shared = file.with_name("csv-metadata.json")
    if shared.is_file() and any(table.file == file for table in read_metadata(shared, strict=False)):
        return shared
    return None


def is_metadata(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is metadata of CSV on the Web."""
    file = Path(path)
    if file.suffix.lower() != ".json" or not file.is_file() or file.stat().st_size > _LARGEST:
        return False
    with file.open("rb") as stream:
        # Annotation files are large, and none begins with a context.
        if b'"@context"' not in stream.read(4096):
            return False
    try:
        return _says_context(json.loads(file.read_text(encoding="utf-8-sig")).get("@context"))
    except (ValueError, AttributeError):
        return False


def read_metadata(path: str | os.PathLike[str], *, strict: bool = True) -> list[WebTable]:
    """Read metadata.

    Args:
        path: Their file.
        strict: Whether a table that is not here is an error; else it is left out.

    Raises:
        LoadError: If they are not well formed, or say what is not supported here.
    """
    file = Path(path)
    about = _object(file)
    context = about.get("@context")
    if not _says_context(context):
        message = f"These are no metadata of CSV on the Web: their @context is not {_CONTEXT}."
        raise LoadError(message, file=str(file))
    own = context[1] if isinstance(context, list) and len(context) > 1 else {}
    if not isinstance(own, dict):
        raise LoadError("The second part of the @context is an object.", file=str(file))
    base = urljoin(file.resolve().as_uri(), str(own.get("@base", "")))
    tables = about.get("tables", [about])
    if not isinstance(tables, list) or not all(isinstance(t, dict) for t in tables):
        raise LoadError("`tables` is a list of tables.", file=str(file))
    read = [_table(each, about, base, str(own.get("@language", "")), file) for each in tables]
    found = [table for table in read if table is not None]
    for table in found if strict else ():
        if not table.file.is_file():
            message = f"The metadata name a table that is not here: {table.file.name!r}."
            raise LoadError(message, file=str(file), hint="Check `url`.")
    return [table for table in found if table.file.is_file()]


def _table(
    about: Mapping[str, Any], group: Mapping[str, Any], base: str, language: str, file: Path
) -> WebTable | None:
    url = about.get("url")
    if not isinstance(url, str):
        raise LoadError("A table has no `url`.", file=str(file))
    if about.get("suppressOutput") is True:
        return None
    schema = about.get("tableSchema", group.get("tableSchema", {}))
    if isinstance(schema, str):
        schema = _object(inside(file.parent / unquote(urlsplit(schema).path), file.parent, file))
    elif not isinstance(schema, dict):
        raise LoadError("`tableSchema` is an object or the path of one.", file=str(file))
    inherited: dict[str, Any] = {}
    for level in (group, about, schema):
        inherited |= {name: value for name, value in level.items() if name in _INHERITED}
    columns = schema.get("columns", [])
    if not isinstance(columns, list) or not all(isinstance(c, dict) for c in columns):
        raise LoadError("`columns` is a list of objects.", file=str(file))
    made = [_column(number, inherited | each, file) for number, each in enumerate(columns, start=1)]
    dialect = about.get("dialect", group.get("dialect"))
    path = unquote(urlsplit(url).path)
    known = _INHERITED | _OF_TABLES
    titles = schema.get("rowTitles", [])
    return WebTable(
        iri=urljoin(base, url),
        # What is elsewhere on the web is beside the metadata here.
        file=inside(file.parent / (Path(path).name if urlsplit(url).netloc else path), file.parent, file),
        columns=(*(c for c in made if not c.virtual), *(c for c in made if c.virtual)),
        dialect=None if dialect is None else _dialect(dialect, file),
        id=urljoin(base, about["@id"]) if isinstance(about.get("@id"), str) else "",
        about={k: v for k, v in about.items() if k == "notes" or (k not in known and not k.startswith("@"))},
        language=language,
        titles=(titles,) if isinstance(titles, str) else tuple(titles),
        rest=_column(0, inherited, file),
    )


def _column(number: int, about: Mapping[str, Any], file: Path) -> WebColumn:
    titles = about.get("titles", about.get("title", ()))
    if isinstance(titles, dict):
        titles = [each for some in titles.values() for each in ([some] if isinstance(some, str) else some)]
    titles = (titles,) if isinstance(titles, str) else tuple(map(str, titles))
    null = about.get("null", "")
    name = str(about.get("name") or (quoted(titles[0]) if titles else f"_col.{number}"))
    return WebColumn(
        name=name,
        titles=(*titles, *([str(about["name"])] if titles and "name" in about else [])),
        about=str(about.get("aboutUrl") or ""),
        property=str(about.get("propertyUrl") or ""),
        value=str(about.get("valueUrl") or ""),
        datatype=WebDatatype.of(about.get("datatype", "string"), str(file)),
        language="" if about.get("lang", "und") == "und" else str(about["lang"]),
        null=frozenset([null] if isinstance(null, str) else map(str, null)),
        default=str(about.get("default") or ""),
        separator=str(about.get("separator") or ""),
        ordered=about.get("ordered") is True,
        required=about.get("required") is True,
        virtual=about.get("virtual") is True,
        suppressed=about.get("suppressOutput") is True,
    )


def named_columns(table: WebTable, header: Sequence[str], *, titled: bool) -> tuple[WebColumn, ...]:
    """Return the columns of a table as it is, those that metadata do not describe with it, virtual ones last.

    Args:
        table: What the metadata say.
        header: Names in the table.
        titled: Whether it has a header.

    Raises:
        LoadError: If it calls a column something else than the metadata.
    """
    real = [column for column in table.columns if not column.virtual]
    found = []
    for number, title in enumerate(header):
        if number >= len(real):
            name = quoted(title) if titled and title else f"_col.{number + 1}"
            found.append(replace(table.rest, name=name, titles=(title,)))
            continue
        if titled and real[number].titles and title not in real[number].titles:
            raise LoadError(
                f"Column {number + 1} is called {title!r}, and {real[number].titles[0]!r} in the metadata.",
                file=str(table.file),
                line=1,
                hint=f"Its columns: {', '.join(map(repr, header[:12]))}.",
            )
        found.append(real[number])
    if len(real) > len(header):
        raise LoadError(
            f"The metadata describe {len(real)} columns, and the table has {len(header)}.",
            file=str(table.file),
            line=1,
            hint=f"There is none for {real[len(header)].name!r}.",
        )
    return (*found, *(column for column in table.columns if column.virtual))


def quoted(title: str) -> str:
    """Return a title as the name of a column.

    Example:
        >>> quoted("Shop name")
        'Shop%20name'
    """
    return quote(title, safe="")


def _dialect(about: Any, file: Path) -> TableDialect:
    if not isinstance(about, dict):
        raise LoadError("`dialect` is an object.", file=str(file))
    header = about.get("headerRowCount", 1 if about.get("header", True) else 0)
    if header not in (0, 1) or about.get("skipColumns"):
        raise LoadError("Several rows of headers and `skipColumns` are not supported.", file=str(file))
    return TableDialect(
        delimiter=str(about.get("delimiter", ",")),
        encoding=str(about.get("encoding", "utf-8")),
        quote=str(about.get("quoteChar", '"') or ""),
        header=bool(header),
        skipped=int(about.get("skipRows", 0)),
        comment=str(about.get("commentPrefix", "") or ""),
        doubled=about.get("doubleQuote", True) is not False,
    )


def _says_context(context: Any) -> bool:
    return context == _CONTEXT or (isinstance(context, list) and context[:1] == [_CONTEXT])


def _object(file: Path) -> dict[str, Any]:
    if not file.is_file():
        raise LoadError("There is no such file.", file=str(file), hint="Check the path.")
    try:
        found = json.loads(file.read_bytes()[:_LARGEST].decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        raise LoadError(f"Not valid JSON: {error}.", file=str(file), line=line) from error
    if not isinstance(found, dict):
        raise LoadError("Metadata are an object.", file=str(file))
    return found
