"""The mask of statements: a grammar, in the notation of llama.cpp, of what a card allows to be written.

It is made for one question and stays small: a rule for each table and each number of links that may still
be followed. Whatever it lets through is read by `mrag.planning.neural.statement`: columns exist, numbers are
compared with numbers, and names are those that the question has or a column lists. Lists are short: small
models repeat themselves where nothing ends them. A table may be spoken of that is not joined: a grammar
cannot tell, and whoever reads the statement joins it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeAlias
from typing import Literal as OneOf

from mrag.planning.neural.card import CardColumn, CardTable, SchemaCard, quoted

WHETHER: Final = "SELECT EXISTS (SELECT * FROM "
"""How a statement begins that tells whether there is something."""
LINKS = 2
"""Links that a path may follow."""

Asked: TypeAlias = OneOf["anything", "things", "whether"]
"""What a question asks for: what a statement selects first are things or values, or whether there are any."""

_Sort: TypeAlias = OneOf["number", "date", "thing", "text"]
_SORTS: Final[Mapping[_Sort, Callable[[CardColumn], bool]]] = {
    "number": lambda c: c.kind == "number",
    "date": lambda c: c.kind == "date",
    "thing": lambda c: c.is_label or c.target is not None,
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
        root ::= "SELECT " (list | calc)
        list ::= "DISTINCT "? item (", " item){0,3} " FROM " from where? tail
    """
    return "\n".join(_Grammar(card).rules(asked)) + FIXED


class _Grammar:
    """The rules of one card."""

    def __init__(self, card: SchemaCard) -> None:
        self._card = card
        self._at = {table.iri: number for number, table in enumerate(card.tables)}
        self._leading = {sort: self._leading_to(fits) for sort, fits in _SORTS.items()}
        self._sorts = [sort for sort in _SORTS if any(self._has(table, sort) for table in card.tables)]

    def rules(self, asked: Asked) -> list[str]:
        if asked == "whether":
            root = f'"{WHETHER}" from where ")"'
        else:
            root = '"SELECT " (list | calc)' if asked == "anything" else '"SELECT " list'
        first = "key" if asked == "things" else "item"
        # A grammar of queries for the model to be held to, not a query: nothing of it is run.
        rules = [
            f"root ::= {root}",
            f'list ::= "DISTINCT "? {first} (", " item){{0,3}} " FROM " from where? tail',
            *self._tables(),
            *self._conditions(),
            *self._values(),
            *self._inner(),
        ]
        for table in self._card.tables:
            for links in range(LINKS + 1):
                rules += self._paths(table, links)
                rules += [
                    self._sorted(table, links, sort) for sort in _SORTS if self._has(table, sort, links)
                ]
        if self._card.words:
            words = _any(f'"{word}"' for word in self._card.words)
            rules.append(f'like ::= " LIKE \'" "%"? ({words}) (" " ({words})){{0,2}} "%\'"')
        return rules

    def _tables(self) -> list[str]:
        """Return the rules of what is selected from: tables, and how they are joined."""
        on = []
        for table in self._card.tables:
            for column in table.columns:
                if column.target in (None, table.iri):
                    continue
                other = self._card.of(str(column.target))
                if other.key is not None:
                    ends = f"{table.name}.{column.name}", f"{other.name}.{other.key}"
                    same = f'("{ends[0]} = {ends[1]}" | "{ends[1]} = {ends[0]}")'
                    on += [f'"{name} ON " {same}' for name in (table.name, other.name)]
        names = _any(f'"{table.name}"' for table in self._card.tables)
        if not on:
            return [f"from ::= {names}"]
        return [f"from ::= ({names}) join{{0,3}}", f'join ::= (" JOIN " | " LEFT JOIN ") ({_any(on)})']

    # -- values ------------------------------------------------------------------------------------

    def _values(self) -> list[str]:
        """Return the rules of what is selected, grouped and ordered by."""
        number, date = "number" in self._sorts, "date" in self._sorts
        days = '"DATEDIFF(" date ", " date ")"'
        terms = ["number"] * number + [days] * date
        case = '"CASE WHEN " case " THEN "'
        several = '("AVG(" | "SUM(" | "MIN(" | "MAX(")'
        folds = [f'{several} ({case} sum " END)" | sum ")" only?)'] if terms else []
        folds.append(f'"SUM(" {case} ("1"{" | sum" if terms else ""}) " ELSE 0 END)"')
        ends = ' | ("MIN(" | "MAX(") date ")" only?' if date else ""
        parts = ' | ("YEAR(" | "MONTH(") date ")"' if date else ""
        rows = " | term sign term" if terms else ""
        rows += f" | {days}" if date else ""
        count = f'"COUNT(*)" only? | "COUNT(" "DISTINCT "? path ")" only? | "COUNT(" {case} "1 END)"'
        rules = [
            f"path ::= {self._each('a')}",
            f"key ::= path{parts}",
            f"agg ::= {' | '.join([count, *folds])}",
            'only ::= " FILTER (WHERE " case ")"',
            'case ::= cond (" AND " cond){0,2}',
            f'item ::= key | (num " * ")? agg (sign (agg | num | other)){{0,2}}{rows}{ends}',
            'other ::= "(SELECT " one ")"',
            f'one ::= (agg{" | number" if number else ""}) " FROM " from where?',
            'calc ::= other (" - " | " / " | " + ") other',
            'tail ::= (" GROUP BY " key (", " key){0,3})? (" HAVING " agg op (num | agg))? '
            '(" ORDER BY " item way (", " item way)?)? (" LIMIT " int)?',
        ]
        if terms:
            rules += [f"term ::= {_any(terms)}", "sum ::= term (sign (term | num)){0,2}"]
        return rules

    def _inner(self) -> list[str]:
        """Return the rules of statements within others: the values of one column."""
        rules = []
        for sort in self._sorts:
            which = '(" HAVING " agg op num | " ORDER BY " agg way " LIMIT " int)'
            rules += [
                f"{sort} ::= {self._each(sort)}",
                f'in{sort} ::= "DISTINCT "? {sort} " FROM " from where?',
                f'some{sort} ::= in{sort} (" GROUP BY " {sort} {which})?',
            ]
        if "date" in self._sorts:
            rules.append('thedate ::= ("MAX(" date ")" | "MIN(" date ")" | date) " FROM " from where?')
        return rules

    def _each(self, rule: str) -> str:
        """Return the alternatives of what a table's name may be followed by, of one rule."""
        return _any(
            f'"{table.name}." {rule}{n}x{LINKS}'
            for n, table in enumerate(self._card.tables)
            if rule not in _SORTS or self._has(table, rule)
        )

    # -- conditions --------------------------------------------------------------------------------

    def _conditions(self) -> list[str]:
        more = [m for sort in self._sorts for m in self._more(sort)]
        return [
            'where ::= " WHERE " all ((" AND " | " OR ") all){0,4}',
            'all ::= cond | more | "(" cond (" OR " cond){1,3} ")"',
            f"cond ::= {self._each('c')}",
            f"more ::= {_any(more)}",
        ]

    def _more(self, sort: _Sort) -> list[str]:
        """Return conditions that other columns or statements are in."""
        chosen = f'{sort} (" NOT IN (SELECT " in{sort} | " IN (SELECT " some{sort}) ")"'
        if sort == "number":
            right = "(number (sign (num | number))? | other)"
            return [f"number op {right}", f"number sign (num | number) op (num | {right})", chosen]
        if sort == "date":
            days = '"DATEDIFF(" date ", " date ")"'
            return [
                'date op (date | "(SELECT " thedate ")")',
                f"{days} op num",
                '"YEAR(" date ")" op year',
                chosen,
            ]
        return [f'{sort} is ({sort} | "(SELECT " in{sort} ")")', chosen]

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
        always = column.is_class or (column.is_label and column.name == "name")
        found = [] if always else [f'"{column.name} IS " "NOT "? "NULL"']
        if column.kind == "number":
            found.append(f'"{column.name}" (op num | " BETWEEN " num " AND " num)')
        elif column.kind == "date":
            found.append(f'"{column.name}" (op (day | year) | " BETWEEN " day " AND " day)')
        elif column.kind == "boolean":
            found.append(f'"{column.name} = " ("true" | "false" | "1" | "0")')
        elif column.target is not None:
            named = [
                v for c in self._card.of(column.target).columns for v in c.values if v[1] and not c.is_class
            ]
            found += [f'"{column.name}" {_one_of(named)}'] if named else []
        elif column.kind == "text":
            if self._card.words and not column.listed:
                found.append(f'"{column.name}" like')
            if column.values:
                found.append(f'"{column.name}" {_one_of(column.values)}')
        return found


def _one_of(values: Iterable[tuple[str, str]]) -> str:
    """Return comparisons with texts: only those that a question names or a column lists, none made up."""
    texts = _any(json.dumps(quoted(text), ensure_ascii=False) for text, _ in values)
    return f'(is ({texts}) | " NOT"? " IN (" ({texts}) (", " ({texts})){{0,3}} ")")'


def _any(options: Iterable[str] | Sequence[str]) -> str:
    return " | ".join(dict.fromkeys(options))
