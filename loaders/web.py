"""Tables to RDF by metadata of CSV on the Web.

Source:
    Generating RDF from Tabular Data on the Web, Metadata Vocabulary for Tabular Data, and Model for Tabular
    Data and Metadata on the Web (W3C recommendations, 2015); RFC 6570.
"""

from __future__ import annotations

import json
import math
import os
import re
import re._constants as codes  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import chain, repeat
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, unquote, urljoin, urlsplit

import pyoxigraph as ox

from mrag.errors import LoadError
from mrag.loaders._records import SURROGATE, OnBad, Records
from mrag.loaders.rdf import Progress, inside
from mrag.loaders.tables import (
    BadCell,
    DelimitedRows,
    Row,
    TableDialect,
    bad_cell,
    good_rows,
    is_lexical,
)
from mrag.rdf.namespaces import RDF, XSD

_TRIES: Final = 1_000
"""So many ways to match a text of one character, at most, need no other engine."""
_LONG: Final = 1_000
_REPEATS: Final = (codes.MAX_REPEAT, codes.MIN_REPEAT)


@lru_cache(maxsize=256)
def simple(pattern: str) -> re.Pattern[str] | None:
    """Return an expression that Python's own engine matches fast, whatever the text; None if it may not.

    That engine tries one way after the other: the ranges of all repeats are multiplied, and none may be
    inside of another.
    """
    try:
        compiled, tree = re.compile(pattern), parser.parse(pattern)
    except (re.error, RecursionError, OverflowError):
        return None
    return compiled if _ways(tree, False) <= _TRIES else None


def _ways(items: Any, repeated: bool) -> float:
    ways = 1.0
    for op, value in items:
        if op in _REPEATS:
            low, high, body = value
            if repeated or (high - low > 100 and high is not codes.MAXREPEAT):
                return math.inf
            # Of repeats without an end there may be one: the rest is tried at each of its ends.
            ways *= (40 if high is codes.MAXREPEAT else high - low + 1) * _ways(body, True)
        elif op is codes.BRANCH:
            ways *= sum(_ways(branch, repeated) for branch in value[1]) if not repeated else math.inf
        elif op is codes.SUBPATTERN:
            ways *= _ways(value[3], repeated)
        elif op not in (codes.LITERAL, codes.NOT_LITERAL, codes.ANY, codes.IN, codes.AT):
            return math.inf
    return ways


def is_known(pattern: str) -> bool:
    """Return whether an expression can be matched: it is one, of moderate size and without lookarounds."""
    if simple(pattern) is not None:
        return True
    return _ask("tables/pattern", pattern)


@lru_cache(maxsize=4_096)
def matches(pattern: str, text: str) -> bool:
    """Return whether an expression matches the whole of a text."""
    if len(text) < _LONG and (compiled := simple(pattern)) is not None:
        return compiled.fullmatch(text) is not None
    # The engine of the store does not try one way after the other.
    return _ask("tables/matches", text, pattern)


def _ask(name: str, *texts: str) -> bool:
    # Processes that parse are started often, and few of them come here.
    from rdflib import Literal

    from mrag.rdf import queries

    terms = [Literal(text) for text in texts]
    values = {"pattern": terms} if len(terms) == 1 else {"text_pattern": [tuple(terms)]}
    return bool(list(ox.Store().query(queries.get(name).bind(**values))))  # type: ignore[arg-type]


CSVW = "http://www.w3.org/ns/csvw#"
PREFIXES = {
    "csvw": CSVW, "rdf": RDF, "xsd": XSD, "rdfs": "http://www.w3.org/2000/01/rdf-schema#", "owl":
    "http://www.w3.org/2002/07/owl#", "skos": "http://www.w3.org/2004/02/skos/core#", "dc":
    "http://purl.org/dc/terms/", "dcterms": "http://purl.org/dc/terms/", "schema": "http://schema.org/",
    "dc11": "http://purl.org/dc/elements/1.1/", "foaf": "http://xmlns.com/foaf/0.1/", "prov":
    "http://www.w3.org/ns/prov#", "org": "http://www.w3.org/ns/org#", "void": "http://rdfs.org/ns/void#",
    "qb": "http://purl.org/linked-data/cube#", "dcat": "http://www.w3.org/ns/dcat#", "vcard":
    "http://www.w3.org/2006/vcard/ns#", "gr": "http://purl.org/goodrelations/v1#", "oa":
    "http://www.w3.org/ns/oa#", "as": "https://www.w3.org/ns/activitystreams#", "cc":
    "http://creativecommons.org/ns#", "ical": "http://www.w3.org/2002/12/cal/icaltzd#", "sioc":
    "http://rdfs.org/sioc/ns#", "time": "http://www.w3.org/2006/time#", "wdr":
    "http://www.w3.org/2007/05/powder#", "sd": "http://www.w3.org/ns/sparql-service-description#",
}  # fmt: skip
"""Prefixes that need no declaration in metadata (those of RDFa's initial context that are in use)."""
_NAMES = {"number": "double", "binary": "base64Binary", "datetime": "dateTime", "any": "anyAtomicType"}
_OTHERS = {"xml": RDF + "XMLLiteral", "html": RDF + "HTML", "json": CSVW + "JSON"}
_VERBATIM = frozenset(("string", "json", "xml", "html", "anyAtomicType"))
_NUMBERS = frozenset(
    "decimal integer long int short byte nonNegativeInteger positiveInteger unsignedLong unsignedInt "
    "unsignedShort unsignedByte nonPositiveInteger negativeInteger double float".split()
)
_TIMES = frozenset("date dateTime dateTimeStamp time".split())
_KNOWN = frozenset(
    "anyAtomicType anyURI base64Binary boolean duration dayTimeDuration yearMonthDuration gDay gMonth "
    "gMonthDay gYear gYearMonth hexBinary QName string normalizedString token language Name NMTOKEN".split()
)
_FIELD = re.compile(r"yyyy|MM?|dd?|HH|mm|ss|S+|X{1,3}|x{1,3}")
_FORMS = {
    "yyyy": r"(?P<year>-?\d{4,})", "MM": r"(?P<month>\d\d)", "M": r"(?P<month>\d\d?)", "dd": r"(?P<day>\d\d)",
    "d": r"(?P<day>\d\d?)", "HH": r"(?P<hour>\d\d)", "mm": r"(?P<minute>\d\d)", "ss": r"(?P<second>\d\d)",
}  # fmt: skip
_ZONE = r"(?P<zone>Z|[+-]\d\d(?::?\d\d)?)"
_VARIABLE = re.compile(r"\{([+#./;?&]?)([^{}]+)\}")
_BETWEEN = {"": ",", "+": ",", "#": ",", "?": "&"}
_RESERVED = ":/?#[]@!$&'()*+,;=%"
_SHOWN = 80


@dataclass(frozen=True)
class WebDatatype:
    """A datatype of a column: its name in XML Schema, or `json`, `xml` or `html`.

    Its format is a pattern of dates and times, `true|false` of truth values, a regular expression of others;
    `id` is the IRI of one of the author's own.
    """

    base: str = "string"
    format: str = ""
    decimal: str = "."
    group: str = ""
    id: str = ""

    @property
    def iri(self) -> str:
        """Return the IRI of the datatype."""
        return self.id or _OTHERS.get(self.base) or XSD + self.base

    @property
    def verbatim(self) -> bool:
        """Return whether white space counts."""
        return self.base in _VERBATIM

    @classmethod
    def of(cls, given: object, file: str) -> WebDatatype:
        """Read a datatype of metadata."""
        about: Mapping[str, object] = given if isinstance(given, dict) else {"base": given}
        name = str(about.get("base", "string"))
        base = _NAMES.get(name, name)
        if base not in _NUMBERS | _TIMES | _KNOWN | _VERBATIM:
            raise LoadError(f"There is no datatype {name!r}.", file=file)
        format, decimal, group = about.get("format", ""), ".", ""
        if isinstance(format, dict):
            decimal, group = str(format.get("decimalChar", ".")), str(format.get("groupChar", "") or "")
            format = ""
        elif base in _NUMBERS:
            group, format = "," if "," in str(format) else "", ""
        if base not in _NUMBERS | _TIMES | {"boolean"} and format and not is_known(str(format)):
            raise LoadError(
                f"The format {str(format)[:_SHOWN]!r} is no regular expression that can be used here.",
                file=file,
                hint="It must be of moderate size, without lookarounds and references to its groups.",
            )
        return cls(base, str(format), decimal, group, str(about.get("@id", "")))

    def lexical(self, text: str) -> str:
        """Return the form of XML Schema of what is written."""
        found: str | None = text
        if self.base == "boolean" and "|" in self.format:
            true, _, false = self.format.partition("|")
            found = {true: "true", false: "false"}.get(text)
        elif self.base in _NUMBERS:
            found = self._number(text)
        elif self.base in _TIMES and self.format:
            found = _time(text, self.format, self.base)
        elif self.format and self.base != "boolean" and not matches(self.format, text):
            found = None
        checked = "integer" if self.base in _NUMBERS - {"decimal", "float", "double"} else self.base
        if found is None or not is_lexical(found, XSD + ("double" if checked == "float" else checked)):
            expected = f" of the format {self.format!r}" if self.format else ""
            raise BadCell(f"no {self.base}", f"{text[:_SHOWN]!r} is no {self.base}{expected}")
        return found

    def _number(self, text: str) -> str:
        plain = text.replace(self.group, "") if self.group else text
        plain = plain.replace(self.decimal, ".") if self.decimal != "." else plain
        shift = {"%": 2, "‰": 3}.get(plain[-1:], 0)
        if shift and _DIGITS.fullmatch(plain[:-1]):
            whole, _, part = plain[:-1].partition(".")
            sign, whole = (whole[0], whole[1:]) if whole[:1] in ("-", "+") else ("", whole)
            whole = whole.rjust(shift + 1, "0")
            plain = f"{sign}{whole[:-shift]}.{whole[-shift:]}{part}"
        return plain


_DIGITS = re.compile(r"[+-]?\d+(\.\d*)?")


def expanded(template: str, values: Mapping[str, str | list[str] | None]) -> str | None:
    """Expand a template of a URL; None where a column that it names has no value."""
    missing = False

    def put(found: re.Match[str]) -> str:
        nonlocal missing
        operator, parts = found[1], []
        for name in found[2].split(","):
            value = values.get(name.rstrip("*"))
            if value is None or value == []:
                missing = True
                return ""
            each = value if isinstance(value, list) else [value]
            text = ",".join(quote(v, safe=_RESERVED if operator in ("+", "#") else "") for v in each)
            parts.append(f"{name}={text}" if operator in (";", "?", "&") else text)
        return operator.removeprefix("+") + _BETWEEN.get(operator, operator).join(parts)

    made = _VARIABLE.sub(put, template)
    return None if missing else made


def resolved(url: str, base: str) -> str:
    """Return an IRI for what metadata say: prefixes are known, and what is relative is so to the table."""
    prefix, colon, local = url.partition(":")
    found = PREFIXES[prefix] + local if colon and prefix in PREFIXES else urljoin(base, url)
    try:
        return ox.NamedNode(found).value
    except ValueError as error:
        raise BadCell("no IRI", f"{found[:_SHOWN]!r} is no IRI") from error


@lru_cache(maxsize=64)
def _pattern(format: str) -> re.Pattern[str]:
    made, end = "", 0
    for field in _FIELD.finditer(format):
        made += re.escape(format[end : field.start()].replace("'", ""))
        end = field.end()
        name = field[0]
        if name[0] == "S":
            # Seconds may have a fraction of up to so many digits, the dot with it.
            made = made.removesuffix(re.escape(".")) + rf"(?P<part>\.\d{{1,{len(name)}}})?"
        elif name[0] in "Xx":
            made = made.removesuffix(re.escape(" ")) + r"\s?" + _ZONE
        else:
            made += _FORMS[name]
    return re.compile(made + re.escape(format[end:].replace("'", "")))


def _time(text: str, format: str, base: str) -> str | None:
    """Return a date or time in the form of XML Schema."""
    try:
        found = _pattern(format).fullmatch(text)
    except re.error:
        return None
    if found is None:
        return None
    parts = {name: value or "" for name, value in found.groupdict().items()}
    date = "-".join(parts.get(name, "").rjust(2, "0") for name in ("year", "month", "day"))
    time = ":".join(parts.get(name, "00") for name in ("hour", "minute", "second")) + parts.get("part", "")
    zone = parts.get("zone", "")
    if zone not in ("", "Z"):
        zone = zone[:3] + ":" + (zone[3:].removeprefix(":") or "00")
    return {"date": date, "time": time}.get(base, f"{date}T{time}") + zone


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
    """A column as metadata describe it."""

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
    """A table as metadata describe it."""

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
    """Read metadata."""
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
    """Return the columns of a table, those that metadata do not describe with them, virtual ones last."""
    real = [column for column in table.columns if not column.virtual]
    found = []
    for number, title in enumerate(header):
        if number >= len(real):
            name = quoted(title) if titled and title else f"_col.{number + 1}"
            found.append(replace(table.rest, name=name, titles=(title,)))
            continue
        if titled and real[number].titles and title not in real[number].titles:
            what = f"Column {number + 1} is called {title!r}, and {real[number].titles[0]!r} in the metadata."
            hint = f"Its columns: {', '.join(map(repr, header[:12]))}."
            raise LoadError(what, file=str(table.file), line=1, hint=hint)
        found.append(real[number])
    if len(real) > len(header):
        what = f"The metadata describe {len(real)} columns, and the table has {len(header)}."
        hint = f"There is none for {real[len(header)].name!r}."
        raise LoadError(what, file=str(table.file), line=1, hint=hint)
    return (*found, *(column for column in table.columns if column.virtual))


quoted = partial(quote, safe="")
"""Returns a title as the name of a column."""


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


_TYPE, _NIL = f"<{RDF}type>", f"<{RDF}nil>"


class WebTables(Records):
    """The tables of metadata of CSV on the Web, or one of them."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        metadata: str | os.PathLike[str] | None = None,
        *,
        standard: bool = False,
        on_bad: OnBad = "stop",
        on_progress: Progress | None = None,
        dialect: TableDialect | None = None,
    ) -> None:
        super().__init__(path, on_bad=on_bad, on_progress=on_progress)
        self.standard, self.dialect = standard, dialect or TableDialect()
        self.tables = read_metadata(metadata or path, strict=metadata is None)
        if metadata is not None:
            named = [table for table in self.tables if table.file.name == self.path.name]
            if not named:
                names = ", ".join(repr(table.file.name) for table in self.tables) or "no table that is here"
                message = f"The metadata have nothing for {self.path.name!r}."
                raise LoadError(message, file=str(metadata), hint=f"They describe: {names}.")
            self.tables = named

    def statements(self) -> Iterator[str]:
        """Yield the data as lines of N-Triples."""
        group = "_:group"
        if self.standard:
            yield f"{group} {_TYPE} <{CSVW}TableGroup> .\n"
        for number, table in enumerate(self.tables):
            self.name = str(table.file)
            node = f"<{table.id}>" if table.id else f"_:table{number}"
            if self.standard:
                yield f"{group} <{CSVW}table> {node} .\n"
                yield f"{node} {_TYPE} <{CSVW}Table> .\n"
                yield f"{node} <{CSVW}url> <{table.iri}> .\n"
                yield from self._said(node, table.about or {}, table)
            yield from self._table(number, node, table)

    def _table(self, number: int, node: str, table: WebTable) -> Iterator[str]:
        dialect = table.dialect or self.dialect
        rows = DelimitedRows(table.file, dialect, self.on_progress)
        titled: list[tuple[WebColumn, str]] = []

        def check() -> None:
            header = rows.columns or ()
            columns = named_columns(table, header, titled=dialect.header)
            titled.extend(zip(columns, chain(header, repeat("")), strict=False))

        for row in good_rows(self, rows, check):
            source = row.number + dialect.skipped + dialect.header
            blank = f"_:row{number}.{row.number}"
            about: dict[str, None] = {}
            yield from self._row(row, titled, table, source, blank, about)
            if self.standard:
                yield from self._describe(f"_:r{number}.{row.number}", node, row, table, source, about)

    def _row(
        self,
        row: Row,
        columns: Sequence[tuple[WebColumn, str]],
        table: WebTable,
        source: int,
        blank: str,
        about: dict[str, None],
    ) -> Iterator[str]:
        """Yield what a row states, and note what it is about."""
        cells: list[tuple[WebColumn, list[str] | str | None]] = []
        for column, title in columns:
            cell = None
            try:
                cell = _values(column, "" if column.virtual else row.cells.get(title, ""))
            except BadCell as error:
                error.column = column.name
                bad_cell(self, row, error)
            cells.append((column, cell))
        values = {column.name: cell for column, cell in cells}
        values |= {"_row": str(row.number), "_sourceRow": str(source)}
        for place, (column, cell) in enumerate(cells, start=1):
            values |= {"_column": str(place), "_sourceColumn": str(place), "_name": column.name}
            if column.suppressed:
                continue
            try:
                yield from _state(column, cell, values, table, blank, about, place)
            except BadCell as error:
                error.column = column.name
                bad_cell(self, row, error)

    def _describe(
        self, node: str, table: str, row: Row, of: WebTable, source: int, about: Mapping[str, None]
    ) -> Iterator[str]:
        """Yield what standard mode says of a row."""
        yield f"{table} <{CSVW}row> {node} .\n"
        yield f"{node} {_TYPE} <{CSVW}Row> .\n"
        yield f'{node} <{CSVW}rownum> "{row.number}"^^<{XSD}integer> .\n'
        yield f"{node} <{CSVW}url> <{of.iri}#row={source}> .\n"
        for name in of.titles:
            if title := row.cells.get(name, ""):
                yield f"{node} <{CSVW}title> {ox.Literal(title)} .\n"
        for subject in about:
            yield f"{node} <{CSVW}describes> {subject} .\n"

    def _said(self, node: str, about: Mapping[str, Any], table: WebTable) -> Iterator[str]:
        """Yield what metadata say of a table beside its columns; nested objects are blank nodes."""
        for term, value in about.items():
            try:
                name = CSVW + term if term == "notes" else resolved(term, table.iri)
                if ":" not in term and term != "notes":
                    continue
                for place, each in enumerate(value if isinstance(value, list) else [value]):
                    yield from self._value(node, f"<{name}>", each, f"{node}n{place}", table)
            except (BadCell, ValueError) as error:
                self.bad("wrong metadata", f"`{term}`", str(error).rstrip("."))

    def _value(self, node: str, name: str, value: Any, inner: str, table: WebTable) -> Iterator[str]:
        if not isinstance(value, dict):
            made = _text(str(value), table.language)
            if kind := {bool: "boolean", int: "integer", float: "double"}.get(type(value)):
                made = ox.Literal(json.dumps(value), datatype=ox.NamedNode(XSD + kind))
            yield f"{node} {name} {made} .\n"
        elif "@value" in value:
            made = _text(str(value["@value"]), value.get("@language", ""))
            if kind := value.get("@type"):
                made = ox.Literal(made.value, datatype=ox.NamedNode(resolved(kind, table.iri)))
            yield f"{node} {name} {made} .\n"
        elif [*value] == ["@id"]:
            yield f"{node} {name} <{resolved(str(value['@id']), table.iri)}> .\n"
        else:
            there = f"_:n{quoted(name + inner).replace('%', '').replace('.', '').replace('~', '')}"
            yield f"{node} {name} {there} .\n"
            if kind := value.get("@type"):
                yield f"{there} {_TYPE} <{resolved(str(kind), table.iri)}> .\n"
            yield from self._said(there, {k: v for k, v in value.items() if not k.startswith("@")}, table)


def _values(column: WebColumn, text: str) -> list[str] | str | None:
    """Return the values of a cell; None for no value."""
    if not text.isascii() and SURROGATE.search(text):
        raise BadCell("wrong encoding", "its bytes are not in the encoding of the table")
    datatype = column.datatype
    text = text.strip() if datatype.verbatim else " ".join(text.split())
    text = text or column.default
    empty = not text or text in column.null
    if empty and column.required and (column.separator or not column.virtual):
        raise BadCell("missing value", "it is empty, and a value is required")
    if column.separator:
        parts = [] if empty else map(str.strip, text.split(column.separator))
        return [datatype.lexical(part) for part in parts if part and part not in column.null]
    return None if empty else datatype.lexical(text)


def _state(
    column: WebColumn,
    cell: list[str] | str | None,
    values: Mapping[str, str | list[str] | None],
    table: WebTable,
    blank: str,
    about: dict[str, None],
    place: int,
) -> Iterator[str]:
    """Yield what a cell states."""
    if (cell is None or cell == []) and not (column.virtual and column.value):
        return
    subject = blank
    if column.about:
        made = expanded(column.about, values)
        if made is None:
            return
        subject = f"<{resolved(made, table.iri)}>"
    name = expanded(column.property, values) if column.property else f"#{column.name}"
    if name is None:
        return
    predicate = f"<{resolved(name, table.iri)}>"
    if column.value:
        made = expanded(column.value, values)
        objects = [] if made is None else [f"<{resolved(made, table.iri)}>"]
    else:
        plain = column.datatype.base == "string" and not column.datatype.id
        kind = ox.NamedNode(column.datatype.iri)
        each = cell if isinstance(cell, list) else [cell or ""]
        literals = (_text(v, column.language) if plain else ox.Literal(v, datatype=kind) for v in each)
        objects = [*map(str, literals)]
    if objects:
        about.setdefault(subject)
    if not (column.separator and column.ordered) or column.value:
        for made in objects:
            yield f"{subject} {predicate} {made} .\n"
        return
    heads = [*(f"{blank}.{place}.{number}" for number in range(len(objects))), _NIL]
    yield f"{subject} {predicate} {heads[0]} .\n"
    for head, made, rest in zip(heads, objects, heads[1:], strict=False):
        yield f"{head} <{RDF}first> {made} .\n"
        yield f"{head} <{RDF}rest> {rest} .\n"


def _text(text: str, language: str) -> ox.Literal:
    return ox.Literal(text, language=language) if language else ox.Literal(text)
