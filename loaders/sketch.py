"""A mapping to begin with, sketched from the tables themselves."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import combinations
from pathlib import Path
from typing import Any

import pyoxigraph as ox

from mrag.errors import ConfigError, LoadError
from mrag.language.grammar import count_words
from mrag.language.tokens import singular
from mrag.loaders._records import SURROGATE
from mrag.loaders.rdf import Progress
from mrag.loaders.tables import (
    ROW,
    BadCell,
    TableDialect,
    TableRows,
    is_json,
    is_lexical,
    rows_of,
    write_term,
)
from mrag.rdf.namespaces import XSD

IRI = "IRI"
_FORMS = {
    "integer": re.compile(r"-?(0|[1-9][0-9]{0,17})"),
    "decimal": re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?"),
    "double": re.compile(r"(?![+-]?0[0-9]).*"),
    "boolean": re.compile("true|false"),
    IRI: re.compile(r"https?://[^\s<>\"{}|\\^`]+"),
}
"""What is asked of values beyond their datatype."""
_TOLD = ("integer", "decimal", "double", "boolean", "date", "dateTime", IRI)
"""What a column can hold beside text, the most special first."""
_NONE = frozenset(("N/A", "n/a", "#N/A", "NULL", "null", "NaN", "nan", "-", "--"))
"""What stands for no value in any column."""
_MAYBE = frozenset(("NA", "na", "None", "none", "?", ".", "unknown", "Unknown"))
"""What stands for no value among numbers, dates and the like; among texts it may be one."""
_REMEMBERED = 1_000_000  # Values of a column up to which it is known whether each comes once
_KEPT = 20_000
_LONGEST_KEY = 200
_PAIRED = 8
_NUMBERED = re.compile(r"(.*?)([0-9]{1,3})")
_LETTER = re.compile(r"[^\W\d_]")
_ENDING = re.compile(r"\.(?:csv|tsv|tab|txt|json|jsonl|ndjson)(?:\.gz)?\Z", re.IGNORECASE)
_WORDS = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-zß-ÿ0-9])(?=[A-ZÀ-Þ])")
_KEYS = ("id", "key", "code", "uri", "iri", "identifier", "uuid", "no", "number", "nr")
_NAMES = ("name", "title", "label")


@dataclass
class SurveyedColumn:
    """What a column holds."""

    name: str
    filled: int = 0
    unique: bool = True
    values: set[str] = field(default_factory=set)
    possible: tuple[str, ...] = _TOLD
    nested: bool = False
    several: bool = False
    nulls: set[str] = field(default_factory=set)
    worded: bool = True
    longest: int = 0
    _seen: set[bytes] = field(default_factory=set)

    @property
    def kind(self) -> str:
        """Return what the values are: a datatype of XML Schema by name, `IRI`, or nothing for texts."""
        return self.possible[0] if self.possible and self.values else ""

    @property
    def absent(self) -> list[str]:
        """Return the texts that stand for no value."""
        return sorted(self.nulls if self.kind else self.nulls & _NONE)

    @property
    def folded(self) -> str:
        """Return the words of its name, without case."""
        return " ".join(words(self.name)).casefold()

    def add(self, cell: Any) -> None:
        """Take note of the cell of a row."""
        cells = cell if isinstance(cell, list) else [cell]
        self.several |= len(cells) > 1
        there = False
        for each in cells:
            if each is None or self.nested:
                continue
            try:
                value = write_term(each)
            except BadCell:
                self.nested = True
                continue
            if value := value.strip():
                there |= self._note(value)
        self.filled += there

    def _note(self, value: str) -> bool:
        if value in _NONE or value in _MAYBE:
            self.nulls.add(value)
            self.unique = False
            return value in _MAYBE
        if self.possible and value not in self.values:
            self.possible = tuple(kind for kind in self.possible if _is(value, kind))
        self.longest = max(self.longest, len(value))
        self.worded = self.worded and any(map(str.isalpha, value))
        if self.unique:
            mark, before = _mark(value), len(self._seen)
            if before < _REMEMBERED:
                self._seen.add(mark)
                self.unique = len(self._seen) > before
            if not self.unique:
                self._seen = set()
        if len(self.values) < _KEPT:
            self.values.add(value)
        return True


@dataclass(frozen=True)
class Surveyed:
    """A table whose values have all been looked at."""

    name: str
    columns: tuple[SurveyedColumn, ...]
    rows: int
    key: tuple[str, ...] = ()
    links: Mapping[str, str] = field(default_factory=dict)

    @property
    def noun(self) -> tuple[str, ...]:
        """Return the words for one of its rows, by its name: the last one in the singular."""
        stem = _ENDING.sub("", self.name)
        names = [word for word in words(stem) if not word.isdigit()] or ["row"]
        return (*names[:-1], singular(names[-1].lower()) if names[-1].isascii() else names[-1])

    def column(self, name: str) -> SurveyedColumn:
        """Return a column by its name."""
        return next(column for column in self.columns if column.name == name)


def survey(name: str, rows: TableRows, file: str) -> Surveyed:
    """Look at all values of a table."""
    columns: dict[str, SurveyedColumn] = {}
    count = 0
    for row in rows:
        count += not row.flaw
        for column, cell in row.cells.items():
            if isinstance(cell, str) and SURROGATE.search(cell):
                what = f"Wrong encoding, column {column!r}: its bytes are not UTF-8, or what --encoding says."
                hint = "Name the encoding with --encoding, such as iso-8859-1 or windows-1252."
                raise LoadError(what, file=file, line=row.line, hint=hint)
            if column:
                columns.setdefault(column, SurveyedColumn(column)).add(cell)
    for column in rows.columns or ():
        if column:
            columns.setdefault(column, SurveyedColumn(column))
    named = [columns[c] for c in rows.columns if c] if rows.columns is not None else [*columns.values()]
    table = Surveyed(name, tuple(named), count)
    return Surveyed(name, table.columns, count, _key(table, rows))


def words(name: str) -> list[str]:
    """Return the words of the name of a column or a file."""
    return [part for word in _WORDS.findall(name) for part in _HUMP.split(word)]


def label_of(table: Surveyed) -> str | None:
    """Return the column that names the rows for people, if there is one."""
    noun = " ".join(table.noun).casefold()
    wanted = (*_NAMES, noun, *(f"{noun} {name}" for name in _NAMES), *(f"{name} {noun}" for name in _NAMES))
    for name in wanted:
        for column in table.columns:
            text = not column.kind and not column.nested and column.name not in table.links
            if text and column.folded == name:
                return column.name
    if len(table.key) == 1 and (key := table.column(table.key[0])).worded and not key.kind and key.values:
        return key.name
    return None


def fold_columns(table: Surveyed) -> dict[str, tuple[str, ...]]:
    """Return the columns that are one property in several columns, such as `Symptom_1` to `Symptom_17`."""
    groups: defaultdict[str, list[tuple[int, SurveyedColumn]]] = defaultdict(list)
    for column in table.columns:
        match = None if column.name in table.key else _NUMBERED.fullmatch(column.name)
        if match and _LETTER.search(match[1]):
            groups[match[1].rstrip(" _.-")].append((int(match[2]), column))
    columns_of = {}
    for stem, members in groups.items():
        columns = [column for _, column in sorted(members, key=lambda m: (m[0], m[1].name))]
        if len(columns) < 2 or any(c.kind not in ("", IRI) or c.nested for c in columns):
            continue
        fills = [column.filled for column in columns]
        fewer = fills == sorted(fills, reverse=True)
        shared = any(columns[0].values & column.values for column in columns[1:])
        if fewer and (shared or (fills[-1] < fills[0])):
            columns_of[stem] = tuple(column.name for column in columns)
    return columns_of


def link(tables: Sequence[Surveyed]) -> list[Surveyed]:
    """Return tables with what their columns name in each other.

    A column names the rows of a table if all its values are keys there, and either its name says so
    (`city_id` or `city` for `cities`), or the keys have letters, which is no chance.
    """
    others = []
    for table in tables:
        links = dict(table.links)
        for column in table.columns:
            if column.name in links or column.nested or not column.values or column.name in table.key[1:]:
                continue
            best = max(_likely(column, table, tables), default=None)
            if best is not None:
                links[column.name] = tables[-best[1]].name
        others.append(Surveyed(table.name, table.columns, table.rows, table.key, links))
    return others


def _likely(column: SurveyedColumn, own: Surveyed, tables: Sequence[Surveyed]) -> Iterator[tuple[int, int]]:
    """Yield how well a column names the rows of each table, and the table's negated place."""
    for place, table in enumerate(tables):
        if len(table.key) != 1:
            continue
        key = table.column(table.key[0])
        if (table is own and column is key) or not column.values <= key.values:
            continue
        noun = " ".join(table.noun).casefold()
        said = column.folded in (noun, f"{noun} {key.folded}", *(f"{noun} {k}" for k in _KEYS))
        same = column.folded == key.folded and key.folded not in (*_KEYS, *_NAMES)
        ending = column.folded.rpartition(" ")[2] in _KEYS and table is own
        if said or same or ((key.worded or ending) and column.name not in own.key):
            yield 3 * said + 2 * same + (key.worded or ending), -place


def _key(table: Surveyed, rows: TableRows) -> tuple[str, ...]:
    """Return the column, or the two, that tell the rows of a table apart."""
    full = [c for c in table.columns if c.filled == table.rows and not (c.several or c.nested)]
    usable = [c for c in full if c.kind in ("", "integer") and c.longest <= _LONGEST_KEY]
    usable += [c for c in full if c.kind == IRI and c.folded in _KEYS]
    noun = " ".join(table.noun).casefold()
    ranks = [*_KEYS, *(f"{noun} {key}" for key in _KEYS)]

    def rank(column: SurveyedColumn) -> int:
        if column.folded in ranks:
            return 0
        if column.folded.rpartition(" ")[2] in _KEYS[:6]:
            return 1
        return 2 if column.folded in (*_NAMES, noun, *(f"{noun} {n}" for n in _NAMES)) else 3

    if single := sorted((c for c in usable if c.unique), key=rank):
        return (single[0].name,)
    names = [c.name for c in usable[:_PAIRED]]
    return _pair(names, rows)


def _pair(names: Iterable[str], rows: TableRows) -> tuple[str, ...]:
    """Return the first two columns that tell the rows apart together."""
    left: dict[tuple[str, str], set[bytes]] = {pair: set() for pair in combinations(names, 2)}
    for row in rows:
        if not left or row.number > _REMEMBERED:
            return ()
        for pair in [*left]:
            mark = _mark("\0".join(str(row.cells.get(name)).strip() for name in pair))
            before = len(left[pair])
            left[pair].add(mark)
            if len(left[pair]) == before and not row.flaw:
                del left[pair]
    return next(iter(left), ())


def _mark(value: str) -> bytes:
    """Return what stands for a value where very many are remembered."""
    return blake2b(value.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def _is(value: str, kind: str) -> bool:
    form = _FORMS.get(kind)
    if form is not None and form.fullmatch(value) is None:
        return False
    if kind != IRI:
        return is_lexical(value, XSD + kind)
    try:
        ox.NamedNode(value)
    except ValueError:
        return False
    return True


_BASE = "http://example.org/"
_HEAD = f"""\
# A mapping to begin with. Change what it gets wrong, and {_BASE} to a namespace of your own.
@prefix rr: <http://www.w3.org/ns/r2rml#> .
@prefix rml: <http://semweb.mmlab.be/ns/rml#> .
@prefix ql: <http://semweb.mmlab.be/ns/ql#> .
@prefix tab: <https://w3id.org/mrag/table#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix : <{_BASE}> .
"""


def sketch(
    files: Sequence[str], dialect: TableDialect | None = None, on_progress: Progress | None = None
) -> str:
    """Return a mapping in Turtle for tables, which loads them as it stands."""
    names = [Path(file).name for file in files]
    for name, file in zip(names, files, strict=True):
        if not Path(file).is_file():
            raise LoadError("There is no such file.", file=file, hint="Check the path.")
        if names.count(name) > 1:
            raise ConfigError(f"Two files are called {name!r}.", hint="Sketch them apart.")
    how = dialect or TableDialect()
    tables = link([survey(Path(f).name, rows_of(Path(f), how, on_progress), f) for f in files])
    taken: set[str] = set()
    named = {t.name: _Names(_unlike(_humps(t.noun), taken), t) for t in tables}
    return _HEAD + "".join("\n" + "\n".join(_write(named[t.name], named)) + "\n" for t in tables)


@dataclass(frozen=True)
class _Names:
    """The names that a table gets in the mapping."""

    kind: str
    table: Surveyed

    def template(self, columns: Sequence[str]) -> str:
        """Return the template of the IRIs of its rows, by the columns that hold the key."""
        noun = "-".join(words(self.kind)).lower()
        return _BASE + "/".join((_in_template(noun), *("{" + _in_template(c) + "}" for c in columns)))


def _write(names: _Names, others: dict[str, _Names]) -> Iterator[str]:
    """Yield the lines of the map of a table."""
    table = names.table
    yield f"# {_text(table.name)[1:-1]}: {count_words(table.rows, 'row')}."
    if not table.key:
        yield "# No column tells the rows apart, nor do two, so they are numbered. If rows with the same"
        yield "# value of a column are about the same thing, name it in the subject template instead of _row."
    for column in table.columns:
        if column.nested:
            yield f"# Left out, as it holds objects: {_text(column.name)}."
    form = "JSONPath" if is_json(table.name) else "CSV"
    source = f"rml:logicalSource [ rml:source {_text(table.name)} ; rml:referenceFormulation ql:{form} ]"
    subject = f"rr:template {_text(names.template(table.key or (ROW,)))}"
    if len(table.key) == 1 and table.column(table.key[0]).kind == IRI:
        subject = f"rml:reference {_text(table.key[0])}"
    node = f"<#{names.kind}>" if names.kind.isascii() else "[]"
    properties = [*_properties(table, others)]
    yield f"{node} {source} ;"
    yield f"  rr:subjectMap [ {subject} ; rr:class {_name(names.kind)} ] {';' if properties else '.'}"
    yield " ;\n".join(properties) + " ." if properties else ""


def _properties(table: Surveyed, others: dict[str, _Names]) -> Iterator[str]:
    """Yield the predicate-object maps of a table."""
    label, taken = label_of(table), set[str]()
    groups = fold_columns(table)
    grouped = {column: stem for stem, columns in groups.items() for column in columns}
    for column in table.columns:
        stem = grouped.get(column.name, column.name)
        if column.nested or stem in taken:
            continue
        taken.add(stem)
        other = others.get(table.links.get(column.name, ""))
        predicate = _name(_unlike(_property(stem, other, table, column.name), taken))
        if column.name == label:
            predicate += " , rdfs:label"
        members = [table.column(name) for name in groups.get(stem, (column.name,))]
        maps = " ,\n      ".join(_object(each, other) for each in members)
        yield f"  rr:predicateObjectMap [ rr:predicate {predicate} ;\n    rr:objectMap {maps} ]"


def _object(column: SurveyedColumn, other: _Names | None) -> str:
    """Return the object map of a column."""
    if other is not None:
        key = other.table.column(other.table.key[0])
        made = f"rml:reference {_text(column.name)} ; rr:termType rr:IRI"
        if key.kind != IRI:
            made = f"rr:template {_text(other.template([column.name]))}"
    else:
        made = f"rml:reference {_text(column.name)}"
        if column.kind == IRI:
            made += " ; rr:termType rr:IRI"
        elif column.kind:
            made += f" ; rr:datatype xsd:{column.kind}"
    if column.absent:
        made += f" ; tab:null {' , '.join(map(_text, column.absent))}"
    return f"[ {made} ]"


def _property(stem: str, link: _Names | None, table: Surveyed, column: str) -> str:
    """Return the local name of a property: `city` for `city_id` where it names a city."""
    names = words(stem)
    if link is not None and len(names) > 1 and column not in table.key:
        key = link.table.key[0]
        if names[-1].casefold() in ("id", "key", "code", *(word.casefold() for word in words(key))):
            names = names[:-1]
    first, *rest = names or ["column"]
    first = first.lower() if first.isupper() or not rest else first[:1].lower() + first[1:]
    return first + _humps(rest)


def _humps(words: Iterable[str]) -> str:
    return "".join(word[:1].upper() + word[1:] for word in words)


def _unlike(name: str, taken: set[str]) -> str:
    """Return a name that is not taken, and take it."""
    free, number = name, 1
    while f":{free}" in taken:
        number += 1
        free = f"{name}{number}"
    taken.add(f":{free}")
    return free


def _name(local: str) -> str:
    plain = local.isascii() and local.replace("_", "").isalnum()
    return f":{local}" if plain else str(ox.NamedNode(_BASE + local))


def _text(text: str) -> str:
    return str(ox.Literal(text))


def _in_template(text: str) -> str:
    return text.replace("\\", "\\\\").replace("{", "\\{").replace("}", "\\}")
