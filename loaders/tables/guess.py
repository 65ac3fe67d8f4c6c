"""What the columns of a table hold, told from all of its values: datatypes, keys, repeated columns, links."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import combinations
from typing import Any

import pyoxigraph as ox

from mrag.errors import LoadError
from mrag.loaders.tables.rows import TableRows
from mrag.loaders.tables.terms import BadCell, Typed, is_lexical, written
from mrag.rdf.namespaces import XSD
from mrag.text.tokens import singular

IRI = "IRI"
_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,17})")
_DECIMAL = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?")
_PLACE = re.compile(r"https?://[^\s<>\"{}|\\^`]+")
_TOLD = ("integer", "decimal", "double", "boolean", "date", "dateTime", IRI)
"""What a column can hold beside text, the most special first."""
_NONE = frozenset(("N/A", "n/a", "#N/A", "NULL", "null", "NaN", "nan", "-", "--"))
"""What stands for no value in any column."""
_MAYBE = frozenset(("NA", "na", "None", "none", "?", ".", "unknown", "Unknown"))
"""What stands for no value among numbers, dates and the like; among texts it may be one."""
_REMEMBERED = 1_000_000
"""Values of a column up to which it is known whether each comes once."""
_KEPT = 20_000
_LONGEST_KEY = 200
_PAIRED = 8
_NUMBERED = re.compile(r"(.*?)([0-9]{1,3})")
_LETTER = re.compile(r"[^\W\d_]")
_ENDING = re.compile(r"\.(?:csv|tsv|tab|txt|json|jsonl|ndjson|parquet|pq)(?:\.gz)?\Z", re.IGNORECASE)
_WORDS = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-zß-ÿ0-9])(?=[A-ZÀ-Þ])")
_KEYS = ("id", "key", "code", "uri", "iri", "identifier", "uuid", "no", "number", "nr")
_NAMES = ("name", "title", "label")


@dataclass
class SurveyedColumn:
    """What a column holds.

    Attributes:
        name: Its name.
        filled: TableRows in which it has a value.
        unique: Whether no value comes twice, as far as is known.
        values: The first values, for comparison with other columns.
        possible: What all values can be taken for, beside texts.
        typed: Whether the source itself knows the datatypes.
        nested: Whether a value is an object.
        several: Whether a cell holds several values.
        nulls: Texts among the values that seem to stand for no value.
        worded: Whether all values have letters.
        longest: Characters of the longest value.
    """

    name: str
    filled: int = 0
    unique: bool = True
    values: set[str] = field(default_factory=set)
    possible: tuple[str, ...] = _TOLD
    typed: bool = False
    nested: bool = False
    several: bool = False
    nulls: set[str] = field(default_factory=set)
    worded: bool = True
    longest: int = 0
    _seen: set[bytes] = field(default_factory=set)

    @property
    def kind(self) -> str:
        """Return what the values are: a datatype of XML Schema by name, `IRI`, or nothing for texts."""
        return self.possible[0] if self.possible and self.values and not self.typed else ""

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
                value = written(each)
            except BadCell:
                self.nested = True
                continue
            self.typed |= isinstance(value, Typed)
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
    """A table whose values have all been looked at.

    Attributes:
        name: Of its file or in its database.
        columns: What they hold, in order, those without a name left out.
        rows: How many there are.
        key: The columns that tell the rows apart; none if no one or two do.
        links: For columns that name rows of another table, that table's name.
        known: Whether the source itself says what the key is.
    """

    name: str
    columns: tuple[SurveyedColumn, ...]
    rows: int
    key: tuple[str, ...] = ()
    links: Mapping[str, str] = field(default_factory=dict)
    known: bool = False

    @property
    def noun(self) -> tuple[str, ...]:
        """Return the words for one of its rows, by its name: the last one in the singular."""
        stem = _ENDING.sub("", self.name)
        found = [word for word in words(stem) if not word.isdigit()] or ["row"]
        return (*found[:-1], singular(found[-1].lower()) if found[-1].isascii() else found[-1])

    def column(self, name: str) -> SurveyedColumn:
        """Return a column by its name."""
        return next(column for column in self.columns if column.name == name)


def survey(name: str, rows: TableRows, file: str) -> Surveyed:
    """Look at all values of a table.

    Args:
        name: Its name.
        rows: What it holds; read twice where no single column tells the rows apart.
        file: Its file, for errors.

    Raises:
        LoadError: If it cannot be read as a table.
    """
    found: dict[str, SurveyedColumn] = {}
    count = 0
    for row in rows:
        count += not row.flaw
        for column, cell in row.cells.items():
            if any("\ud800" <= sign <= "\udfff" for sign in cell) if isinstance(cell, str) else False:
                raise LoadError(
                    f"Wrong encoding, column {column!r}: its bytes are not UTF-8, or what --encoding says.",
                    file=file,
                    line=row.line,
                    hint="Name the encoding with --encoding, such as iso-8859-1 or windows-1252.",
                )
            if column:
                found.setdefault(column, SurveyedColumn(column)).add(cell)
    for column in rows.columns or ():
        if column:
            found.setdefault(column, SurveyedColumn(column))
    named = [found[c] for c in rows.columns if c] if rows.columns is not None else [*found.values()]
    table = Surveyed(name, tuple(named), count)
    return Surveyed(name, table.columns, count, _key(table, rows))


def words(name: str) -> list[str]:
    """Return the words of the name of a column or a file.

    Example:
        >>> words("memberSince"), words("Price (EUR)"), words("city_id")
        (['member', 'Since'], ['Price', 'EUR'], ['city', 'id'])
    """
    return [part for word in _WORDS.findall(name) for part in _HUMP.split(word)]


def label_of(table: Surveyed) -> str | None:
    """Return the column that names the rows for people, if there is one."""
    noun = " ".join(table.noun).casefold()
    wanted = (*_NAMES, noun, *(f"{noun} {name}" for name in _NAMES), *(f"{name} {noun}" for name in _NAMES))
    for name in wanted:
        for column in table.columns:
            if (
                column.folded == name
                and not column.kind
                and not column.nested
                and column.name not in table.links
            ):
                return column.name
    if len(table.key) == 1 and (key := table.column(table.key[0])).worded and not key.kind and key.values:
        return key.name
    return None


def folded(table: Surveyed) -> dict[str, tuple[str, ...]]:
    """Return the columns that are one property in several columns, such as `Symptom_1` to `Symptom_17`.

    They have the same name but for a number, hold texts, the later ones are not fuller than the earlier, and
    they have values in common, or more and more rows have none. Four quarters in four columns are none.

    Returns:
        The name they share, with the columns in the order of their numbers.
    """
    groups: defaultdict[str, list[tuple[int, SurveyedColumn]]] = defaultdict(list)
    for column in table.columns:
        if (
            (match := _NUMBERED.fullmatch(column.name))
            and _LETTER.search(match[1])
            and column.name not in table.key
        ):
            groups[match[1].rstrip(" _.-")].append((int(match[2]), column))
    found = {}
    for stem, members in groups.items():
        columns = [column for _, column in sorted(members, key=lambda m: (m[0], m[1].name))]
        if len(columns) < 2 or any(c.kind not in ("", IRI) or c.nested or c.typed for c in columns):
            continue
        fills = [column.filled for column in columns]
        fewer = fills == sorted(fills, reverse=True)
        shared = any(columns[0].values & column.values for column in columns[1:])
        if fewer and (shared or (fills[-1] < fills[0])):
            found[stem] = tuple(column.name for column in columns)
    return found


def linked(tables: Sequence[Surveyed]) -> list[Surveyed]:
    """Return tables with what their columns name in each other.

    A column names the rows of a table if all its values are keys there, and either its name says so
    (`city_id` or `city` for `cities`), or the keys have letters, which is no chance.
    """
    found = []
    for table in tables:
        links = dict(table.links)
        for column in table.columns:
            if column.name in links or column.nested or not column.values or column.name in table.key[1:]:
                continue
            best = max(_likely(column, table, tables), default=None)
            if best is not None:
                links[column.name] = tables[-best[1]].name
        found.append(Surveyed(table.name, table.columns, table.rows, table.key, links, table.known))
    return found


def _likely(column: SurveyedColumn, own: Surveyed, tables: Sequence[Surveyed]) -> Iterator[tuple[int, int]]:
    """Yield how well a column names the rows of each table, and the table's negated place."""
    for place, table in enumerate(tables):
        if len(table.key) != 1 or table.known:
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
    if kind == "integer":
        return _INTEGER.fullmatch(value) is not None
    if kind == "decimal":
        return _DECIMAL.fullmatch(value) is not None
    if kind == "boolean":
        return value in ("true", "false")
    if kind == IRI:
        if _PLACE.fullmatch(value) is None:
            return False
        try:
            ox.NamedNode(value)
        except ValueError:
            return False
        return True
    if kind == "double" and re.match(r"[+-]?0[0-9]", value):
        return False
    return is_lexical(value, XSD + kind)
