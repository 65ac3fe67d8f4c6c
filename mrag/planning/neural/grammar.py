"""The mask of statements: a grammar, in the notation of llama.cpp, of what a card allows to be written.

It is made for one question and stays small: a rule for each table and each number of links that may still
be followed. Whatever it lets through is read by `mrag.planning.neural.statement`: columns exist, numbers are
compared with numbers, and names are those that the question has or a column lists. Lists are short: small
models repeat themselves where nothing ends them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeAlias
from typing import Literal as OneOf

from mrag.planning.neural.card import CardColumn, CardTable, SchemaCard, quoted

LINKS = 2
"""Links that a path may follow."""

Asked: TypeAlias = OneOf["anything", "things", "whether"]
"""What a question asks for: what a statement selects first are things or values, or whether there are any."""

_Sort: TypeAlias = OneOf["number", "date", "thing", "text"]
_SORTS: Final[Mapping[_Sort, Callable[[CardColumn], bool]]] = {
    "number": lambda c: c.kind == "number",
    "date": lambda c: c.kind == "date",
    "thing": lambda c: c.is_label,
    "text": lambda c: c.kind == "text" and not (c.is_label or c.is_class),
}
"""Columns that can be compared with each other."""

FIXED = r"""
num ::= "-"? [0-9]{1,12} ("." [0-9]{1,4})?
int ::= [1-9] [0-9]{0,2}
day ::= "'" [1-2] [0-9]{3} ("-" month ("-" ("0" [1-9] | [1-2] [0-9] | "3" [0-1]))?)? "'"
year ::= [1-2] [0-9]{3}
month ::= "0" [1-9] | "1" [0-2]
op ::= " = " | " != " | " < " | " <= " | " > " | " >= "
is ::= " = " | " != "
way ::= " ASC" | " DESC"
sign ::= " + " | " - " | " * " | " / "
"""
"""The rules that are the same for every card."""


def gbnf(card: SchemaCard, asked: Asked = "anything") -> str:
    r"""Return the grammar of the statements over a card.

    Args:
        card: The tables.
        asked: What is asked for.

    Example:
        >>> from mrag.planning.neural.card import CardColumn, CardTable
        >>> year = CardColumn("year", "urn:year", "number")
        >>> film = CardTable("film", "urn:Film", (CardColumn("name", "", "text"), year))
        >>> rules = gbnf(SchemaCard((film,))).splitlines()
        >>> print(rules[0], rules[1], sep="\n")
        root ::= "SELECT " (s0 | calc)
        s0 ::= "DISTINCT "? item0 (", " item0){0,3} " FROM film" where0? tail0
    """
    return "\n".join(_Grammar(card).rules(asked)) + FIXED


class _Grammar:
    """The rules of one card."""

    def __init__(self, card: SchemaCard) -> None:
        self._card = card
        self._at = {table.iri: number for number, table in enumerate(card.tables)}
        self._leading = {sort: self._leading_to(fits) for sort, fits in _SORTS.items()}
        self._inner = {
            sort: [n for n, table in enumerate(card.tables) if self._chosen(table, sort)] for sort in _SORTS
        }

    def rules(self, asked: Asked) -> list[str]:
        numbers = range(len(self._card.tables))
        if asked == "whether":
            root = f'"SELECT EXISTS (SELECT * " ({_any(f"e{n}" for n in numbers)}) ")"'
        else:
            calc = "" if asked == "things" else " | calc"
            root = f'"SELECT " ({_any(f"s{n}" for n in numbers)}{calc})'
        rules = [f"root ::= {root}"]
        for n, table in enumerate(self._card.tables):
            rules += self._statement(table, n, asked)
            for links in range(LINKS + 1):
                rules += self._paths(table, links)
                rules += [
                    self._sorted(table, links, sort) for sort in _SORTS if self._has(table, sort, links)
                ]
        # What is found by another statement: one value, or all values of one column.
        rules.append(f"one ::= {_any(f'one{n}' for n in numbers)}")
        rules.append('calc ::= "(SELECT " one ") " ("-" | "/" | "+") " (SELECT " one ")"')
        for sort in _SORTS:
            there = self._inner[sort]
            for way in ("in", "some", *(("the",) if sort in ("number", "date") else ())) if there else ():
                rules.append(f"{way}{sort} ::= {_any(f'{way}{sort}{n}' for n in there)}")
        if self._card.words:
            words = _any(f'"{word}"' for word in self._card.words)
            rules.append(f'like ::= " LIKE \'" "%"? ({words}) (" " ({words})){{0,2}} "%\'"')
        return rules

    # -- statements --------------------------------------------------------------------------------

    def _statement(self, table: CardTable, n: int, asked: Asked) -> list[str]:
        name = table.name
        number, date = self._has(table, "number"), self._has(table, "date")
        days = f'"DATEDIFF({name}." date{n}x{LINKS} ", {name}." date{n}x{LINKS} ")"'
        terms = [f'"{name}." number{n}x{LINKS}'] * number + [days] * date
        folds = f' | ("AVG(" | "SUM(" | "MIN(" | "MAX(") sum{n} ")"' if terms else ""
        ends = f' | ("MIN(" | "MAX(") "{name}." date{n}x{LINKS} ")" only{n}?' if date else ""
        parts = f' | ("YEAR(" | "MONTH(") "{name}." date{n}x{LINKS} ")"' if date else ""
        first = f"key{n}" if asked == "things" else f"item{n}"
        row = f" | term{n} sign term{n}" if terms else ""
        row += " | " + days if date else ""
        # A grammar of queries for the model to be held to, not a query: nothing of it is run.
        rules = [
            f's{n} ::= "DISTINCT "? {first} (", " item{n}){{0,3}} " FROM {name}" where{n}? tail{n}',
            f'e{n} ::= "FROM {name}" where{n}',
            f'where{n} ::= " WHERE " all{n} (" AND " all{n}){{0,3}}',
            f'all{n} ::= cond{n} | more{n} | "(" cond{n} (" OR " cond{n}){{1,3}} ")"',
            f'cond{n} ::= "{name}." c{n}x{LINKS}',
            f"more{n} ::= {_any(self._more(table, n, days))}",
            f'plain{n} ::= " WHERE " cond{n} (" AND " cond{n}){{0,2}}',
            f'tail{n} ::= (" GROUP BY " key{n} (", " key{n}){{0,3}})? (" HAVING " agg{n} op (num | agg{n}))? '
            f'(" ORDER BY " item{n} way (", " item{n} way)?)? (" LIMIT " int)?',
            f'path{n} ::= "{name}." a{n}x{LINKS}',
            f'agg{n} ::= ("COUNT(*)" | "COUNT(DISTINCT " path{n} ")"{folds}) only{n}?',
            f'only{n} ::= " FILTER (WHERE " cond{n} (" AND " cond{n}){{0,2}} ")"',
            f'item{n} ::= key{n} | (num " * ")? agg{n} (sign (agg{n} | num)){{0,2}}{row}{ends}',
            f"key{n} ::= path{n}{parts}",
            f'one{n} ::= ({_any(self._ones(table, n, folds))}) " FROM {name}" plain{n}?',
        ]
        if terms:
            rules += [f"term{n} ::= {_any(terms)}", f"sum{n} ::= term{n} (sign (term{n} | num))?"]
        for sort in _SORTS:
            if self._has(table, sort):
                path = f'"{name}." {sort}{n}x{LINKS}'
                if not (chosen := self._chosen(table, sort)):
                    continue
                rules.append(f"in{sort}{n} ::= {chosen}{self._own(table, sort)}")
                which = f'(" HAVING " agg{n} op num | " ORDER BY " agg{n} way " LIMIT " int)'
                groups = f'(" GROUP BY " {path} {which})?'
                rules.append(f"some{sort}{n} ::= {f'({chosen}) {groups}'}")
        if number:
            rules.append(
                f'thenumber{n} ::= (("AVG(" | "MAX(" | "MIN(" | "SUM(") "{name}." number{n}x{LINKS} ")" '
                f'| "COUNT(*)" | "{name}." number{n}x{LINKS}) " FROM {name}" plain{n}?'
            )
        if date:
            rules.append(
                f'thedate{n} ::= (("MAX(" | "MIN(") "{name}." date{n}x{LINKS} ")" '
                f'| "{name}." date{n}x{LINKS}) " FROM {name}" plain{n}?'
            )
        return rules

    def _chosen(self, table: CardTable, sort: _Sort) -> str:
        """Return what selects the values that others are among; "" where a table leads to none."""
        if not self._has(table, sort):
            return ""
        n, name = self._at[table.iri], table.name
        if sort != "thing":
            return f'"{name}." {sort}{n}x{LINKS} " FROM {name}" plain{n}?'
        # That a thing is one of its own table says nothing.
        led = [
            f'"{c.name}." {sort}{self._at[c.target]}x{LINKS - 1}'
            for c in table.columns
            if c.target is not None and (c.target, LINKS - 1) in self._leading[sort]
        ]
        return f'"{name}." ({_any(led)}) " FROM {name}" plain{n}?' if led else ""

    def _own(self, table: CardTable, sort: _Sort) -> str:
        """Return what selects the things of a table itself, which others may be none of."""
        names = [f'"{c.name}"' for c in table.columns if c.is_label] if sort == "thing" else []
        n, name = self._at[table.iri], table.name
        return f' | "{name}." ({_any(names)}) " FROM {name}" plain{n}' if names else ""

    def _ones(self, table: CardTable, n: int, folds: str) -> list[str]:
        column = [f'"{table.name}." number{n}x{LINKS}'] if self._has(table, "number") else []
        return [f'"COUNT(*)" | "COUNT(DISTINCT " path{n} ")"{folds}', *column]

    def _more(self, table: CardTable, n: int, days: str) -> list[str]:
        """Return conditions that other columns or statements are in."""
        found = []
        for sort in (sort for sort in _SORTS if self._has(table, sort)):
            path, inner = f'"{table.name}." {sort}{n}x{LINKS}', self._inner[sort]
            if sort == "number":
                found.append(f'{path} op ({path} (sign (num | {path}))? | "(SELECT " thenumber ")")')
            elif sort == "date":
                found.append(f'{path} op ({path} | "(SELECT " thedate ")")')
                found.append(f'{days} op num | "YEAR(" {path} ")" op year')
            else:
                other = f' | "(SELECT " in{sort} ")"' if inner and sort == "text" else ""
                found.append(f"{path} is ({path}{other})")
            if inner:
                found.append(f'{path} (" NOT IN (SELECT " in{sort} | " IN (SELECT " some{sort}) ")"')
        return found

    # -- paths -------------------------------------------------------------------------------------

    def _has(self, table: CardTable, sort: _Sort | str, links: int = LINKS) -> bool:
        return (table.iri, links) in self._leading[sort]  # type: ignore[index]

    def _leading_to(self, fits: Callable[[CardColumn], bool]) -> set[tuple[str, int]]:
        """Return the tables from which some number of links leads to columns that fit."""
        found = set[tuple[str, int]]()
        for links in range(LINKS + 1):
            for table in self._card.tables:
                ends = ((c.target, links - 1) in found for c in table.columns if c.target is not None)
                if any(map(fits, table.columns)) or any(ends):
                    found.add((table.iri, links))
        return found

    def _sorted(self, table: CardTable, links: int, sort: _Sort) -> str:
        """Return the rule of what leads to columns of a sort."""
        options = [f'"{c.name}"' for c in table.columns if _SORTS[sort](c)]
        options += [
            f'"{c.name}." {sort}{self._at[c.target]}x{links - 1}'
            for c in table.columns
            if c.target is not None and (c.target, links - 1) in self._leading[sort]
        ]
        return f"{sort}{self._at[table.iri]}x{links} ::= {_any(options)}"

    def _paths(self, table: CardTable, links: int) -> list[str]:
        """Return the rules of what is written behind a table's name: any column, and a condition."""
        n = self._at[table.iri]
        columns, conditions = [], []
        for column in table.columns:
            columns.append(f'"{column.name}"')
            conditions += self._condition(column)
            if column.target is not None and links:
                inner = f"{self._at[column.target]}x{links - 1}"
                columns.append(f'"{column.name}." a{inner}')
                conditions.append(f'"{column.name}." c{inner}')
        return [f"a{n}x{links} ::= {_any(columns)}", f"c{n}x{links} ::= {_any(conditions)}"]

    def _condition(self, column: CardColumn) -> list[str]:
        always = column.is_class or column.is_label
        found = [] if always else [f'"{column.name} IS " "NOT "? "NULL"']
        if column.kind == "number":
            found.append(f'"{column.name}" (op num | " BETWEEN " num " AND " num)')
        elif column.kind == "date":
            found.append(f'"{column.name}" (op day | " BETWEEN " day " AND " day)')
        elif column.kind == "boolean":
            found.append(f'"{column.name} = " ("true" | "false")')
        elif column.kind == "text":
            if self._card.words and not column.listed:
                found.append(f'"{column.name}" like')
            if column.values:
                # Only what the question names or the column lists: anything else would be made up.
                texts = _any(json.dumps(quoted(text), ensure_ascii=False) for text, _ in column.values)
                many = f' | " NOT"? " IN (" ({texts}) (", " ({texts})){{0,3}} ")"'
                found.append(f'"{column.name}" (is ({texts}){many})')
        return found


def _any(options: Iterable[str] | Sequence[str]) -> str:
    return " | ".join(dict.fromkeys(options))
