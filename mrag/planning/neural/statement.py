"""Statements that a model writes, read as plans.

A statement is SQL over the tables of a card, which models that write code know well. Tables are joined by
links; what is said of a table that is not joined is joined by the shortest links there are. A dot follows
a link, too, and two paths that begin alike speak of the same things. The grammar is that of
`mrag.planning.neural.grammar`; whatever else is written is refused.
"""

from __future__ import annotations

from typing import Any, cast

from rdflib import Literal, URIRef

from mrag.errors import ConfigError
from mrag.planning.neural.card import CardColumn, CardTable, SchemaCard
from mrag.planning.neural.conditions import ConditionReader
from mrag.planning.plan import (
    Arithmetic,
    Column,
    Comparison,
    Condition,
    Expression,
    Operation,
    Order,
    Plan,
    Unknown,
)  # fmt: skip
from mrag.planning.scopes import aggregates, check

__all__ = ["CardColumn", "CardTable", "SchemaCard", "read_statement"]

_LONGEST = 2_000


def read_statement(card: SchemaCard, text: str) -> tuple[Plan, tuple[str, ...]]:
    """Read a statement over a card.

    Args:
        card: Its tables.
        text: The statement.

    Returns:
        The plan, and the names of the columns that are asked for.

    Raises:
        ConfigError: If it is no such statement, or says nothing sensible.

    Example:
        >>> year = CardColumn("year", "urn:year", "number")
        >>> film = CardTable("film", "urn:Film", (CardColumn("name", "", "text"), year))
        >>> plan, shown = read_statement(SchemaCard((film,)), "SELECT MAX(film.year) FROM film")
        >>> shown, plan.columns[0].value.function
        (('maximum',), 'maximum')
    """
    return _Statement(card, text[:_LONGEST]).read()


class _Statement(ConditionReader):
    def read(self) -> tuple[Plan, tuple[str, ...]]:
        self._skip("SELECT")
        if self._is("EXISTS"):
            return self._whether()
        if self._is("("):
            return self._difference()
        self._taken("DISTINCT")
        after, said = self._tables(), len(self._said)
        values = self._several(self._item)
        self._found.kept = set(self._said[said:])
        self._end(after)
        return self._plan(values)

    def _whether(self) -> tuple[Plan, tuple[str, ...]]:
        """Read a question whether there is something."""
        self._skip("EXISTS")
        self._skip("(")
        after = self._begin()
        self._skip("*")
        self._end(after)
        self._skip(")")
        return self._checked(Plan(self._found.block())), ()

    def _difference(self) -> tuple[Plan, tuple[str, ...]]:
        """Read a calculation with what two statements find."""
        first = self._scalar()[0]
        sign = self._next()
        if sign not in ("+", "-", "*", "/"):
            raise self._wrong("no calculation")
        value = Arithmetic(first, cast(Operation, sign), self._scalar()[0])
        return self._checked(Plan(columns=(Column(value, "value"),))), ("value",)

    def _plan(self, values: list[Expression]) -> tuple[Plan, tuple[str, ...]]:
        group: list[Expression] = []
        having: list[Condition] = []
        if self._taken("GROUP"):
            self._skip("BY")
            group = self._several(self._grouped)
        if self._taken("HAVING"):
            left = self._item()
            relation = self._relation()
            right = self._number() if self._peek()[:1] in "-0123456789'" else self._item()
            having.append(Comparison(left, relation, right))
        columns = [Column(value, self._name(value)) for value in dict.fromkeys(values)]
        shown = tuple(c.name for c in columns if c.value not in self._given())
        if not shown:
            raise ConfigError("The statement selects only what its conditions name.")
        parts = [e for e in group if not isinstance(e, Unknown) and e not in values]
        columns += [Column(part, self._name(part)) for part in parts]
        order: list[Order] = []
        if self._taken("ORDER"):
            self._skip("BY")
            order = self._several(lambda: self._order(columns))
        limit = int(cast(Any, self._number())) if self._taken("LIMIT") else None
        folded = any(aggregates(c.value) for c in columns) or having
        keys = tuple(dict.fromkeys(e for e in group if isinstance(e, Unknown))) if folded else ()
        plan = Plan(
            self._found.block(), tuple(columns), keys, tuple(having), tuple(order), limit, 0, limit == 1
        )
        return self._checked(plan), shown

    def _given(self) -> list[Expression]:
        """Return the values that the conditions fix: whoever names one in a question does not ask for it."""
        return [
            c.left
            for c in self._found.conditions
            if isinstance(c, Comparison) and c.relation == "=" and isinstance(c.right, Literal | URIRef)
        ]

    def _order(self, columns: list[Column]) -> Order:
        """Read a key of the order; what is not shown becomes a column that is not."""
        value = self._item()
        column = next((c for c in columns if c.value == value), None)
        if column is None:
            columns.append(column := Column(value, self._name(value)))
        descending = self._taken("DESC")
        self._taken("ASC")
        return Order(column.name, descending)

    def _checked(self, plan: Plan) -> Plan:
        if self._at < len(self._tokens):
            raise self._wrong("not expected")
        check(plan)
        return plan
