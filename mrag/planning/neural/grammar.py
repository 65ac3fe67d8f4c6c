"""The mask of statements: a grammar, in the notation of llama.cpp, of what a card allows to be written.

It is made for one question and stays small: a rule for each table and each number of links that may still
be followed. Whatever it lets through is read by `mrag.planning.neural.statement`: columns exist, numbers are
compared with numbers, and names are those that the question has. Lists are short: small models repeat
themselves where nothing ends them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from mrag.planning.neural.card import CardColumn, CardTable, SchemaCard, quoted
from mrag.planning.schema import Kind

LINKS = 2
"""Links that a path may follow."""

_MEASURES: Final[Mapping[Kind, str]] = {
    "number": '("AVG(" | "SUM(" | "MIN(" | "MAX(")',
    "date": '("MIN(" | "MAX(")',
}
"""What may be computed of values of a kind: of dates there is no sum."""

FIXED = r"""
num ::= "-"? [0-9]{1,12} ("." [0-9]{1,4})?
int ::= [1-9] [0-9]{0,2}
day ::= "'" [0-9]{4} ("-" [0-9]{2} ("-" [0-9]{2})?)? "'"
op ::= " = " | " != " | " < " | " <= " | " > " | " >= "
way ::= " ASC" | " DESC"
sign ::= " + " | " - " | " * " | " / "
"""
"""The rules that are the same for every card."""


def gbnf(card: SchemaCard) -> str:
    """Return the grammar of the statements over a card.

    Args:
        card: The tables.

    Example:
        >>> from mrag.planning.neural.card import CardColumn, CardTable
        >>> year = CardColumn("year", "urn:year", "number")
        >>> film = CardTable("film", "urn:Film", (CardColumn("name", "", "text"), year))
        >>> rules = gbnf(SchemaCard((film,))).splitlines()
        >>> print(rules[0], "|", rules[1])
        root ::= s0 | s0 ::= "SELECT " item0 (", " item0){0,3} " FROM film" where0? tail0
    """
    at = {table.iri: number for number, table in enumerate(card.tables)}
    rules = [f"root ::= {_any(f's{n}' for n in at.values())}"]
    leading = {kind: _leading(card, kind) for kind in _MEASURES}
    for table in card.tables:
        measures = [kind for kind in _MEASURES if (table.iri, LINKS) in leading[kind]]
        rules += _statement(table, at[table.iri], measures)
        for links in range(LINKS + 1):
            rules += _paths(table, at, links)
            rules += [
                _measure(table, at, links, kind, leading[kind])
                for kind in _MEASURES
                if (table.iri, links) in leading[kind]
            ]
    words = _any(f'"{word}"' for word in card.words) if card.words else '"-"'
    rules.append(f'like ::= " LIKE \'" "%"? ({words}) (" " ({words})){{0,2}} "%\'"')
    return "\n".join(rules) + FIXED


def _leading(card: SchemaCard, kind: Kind) -> set[tuple[str, int]]:
    """Return the tables from which some number of links leads to values of a kind."""
    found = set[tuple[str, int]]()
    for links in range(LINKS + 1):
        for table in card.tables:
            ends = ((c.target, links - 1) in found for c in table.columns if c.target is not None)
            if any(c.kind == kind for c in table.columns) or any(ends):
                found.add((table.iri, links))
    return found


def _measure(
    table: CardTable, at: dict[str, int], links: int, kind: Kind, leading: set[tuple[str, int]]
) -> str:
    """Return the rule of what leads to values of a kind."""
    options = [f'"{c.name}"' for c in table.columns if c.kind == kind]
    options += [
        f'"{c.name}." {kind}{at[c.target]}x{links - 1}'
        for c in table.columns
        if c.target is not None and (c.target, links - 1) in leading
    ]
    return f"{kind}{at[table.iri]}x{links} ::= {_any(options)}"


def _statement(table: CardTable, n: int, measures: Sequence[Kind]) -> list[str]:
    name = table.name
    part = f' | ("YEAR(" | "MONTH(") "{name}." date{n}x{LINKS} ")"' if "date" in measures else ""
    folds = "".join(f' | {_MEASURES[kind]} "{name}." {kind}{n}x{LINKS} ")"' for kind in measures)
    # A grammar of queries for the model to be held to, not a query: nothing of it is run.
    return [
        f's{n} ::= "SELECT " item{n} (", " item{n}){{0,3}} " FROM {name}" where{n}? tail{n}',  # nosec B608
        f'where{n} ::= " WHERE " all{n} (" AND " all{n}){{0,3}}',
        f'all{n} ::= cond{n} | "(" cond{n} (" OR " cond{n}){{1,3}} ")"',
        f'cond{n} ::= "{name}." c{n}x{LINKS}',
        f'tail{n} ::= (" GROUP BY " key{n} (", " key{n}){{0,3}})? (" HAVING " agg{n} op num)? '
        f'(" ORDER BY " item{n} way)? (" LIMIT " int)?',
        f'path{n} ::= "{name}." a{n}x{LINKS}',
        f'agg{n} ::= ("COUNT(*)" | "COUNT(DISTINCT " path{n} ")"{folds}) only{n}?',
        f'only{n} ::= " FILTER (WHERE " cond{n} (" AND " cond{n}){{0,2}} ")"',
        f"item{n} ::= key{n} | agg{n} (sign (agg{n} | num)){{0,2}}",
        f"key{n} ::= path{n}{part}",
    ]


def _paths(table: CardTable, at: dict[str, int], links: int) -> list[str]:
    """Return the rules of what is written behind a table's name: any column, and a condition."""
    n = at[table.iri]
    columns, conditions = [], []
    for column in table.columns:
        columns.append(f'"{column.name}"')
        conditions += _condition(column)
        if column.target is not None and links:
            inner = f"{at[column.target]}x{links - 1}"
            columns.append(f'"{column.name}." a{inner}')
            conditions.append(f'"{column.name}." c{inner}')
    return [f"a{n}x{links} ::= {_any(columns)}", f"c{n}x{links} ::= {_any(conditions)}"]


def _condition(column: CardColumn) -> list[str]:
    found = [f'"{column.name} IS " "NOT "? "NULL"']
    if column.kind == "number":
        found.append(f'"{column.name}" op num')
    elif column.kind == "date":
        found.append(f'"{column.name}" op day')
    elif column.kind == "boolean":
        found.append(f'"{column.name} = " ("true" | "false")')
    elif column.kind == "text":
        found.append(f'"{column.name}" like')
        if column.values:
            # Only what the question names: anything else would be made up.
            texts = _any(json.dumps(quoted(text), ensure_ascii=False) for text, _ in column.values)
            found.append(f'"{column.name}" (" = " | " != ") ({texts})')
    return found


def _any(options: Iterable[str]) -> str:
    return " | ".join(dict.fromkeys(options))
