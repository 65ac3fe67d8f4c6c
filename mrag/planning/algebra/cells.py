"""The cells of rows: one spelling for what was computed, and one order on every store."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import TypeAlias

from rdflib import Literal
from rdflib.namespace import XSD

from mrag.planning.algebra.values import Kind
from mrag.planning.plan import Plan
from mrag.rdf.terms import Term

Cell: TypeAlias = Term | None
Cells: TypeAlias = tuple[Cell, ...]

COMPUTED: frozenset[Kind] = frozenset(("number", "date", "year-month"))
"""The kinds of columns whose values are spelt anew."""

_NUMBER = re.compile(r"[-+]?[0-9]+([.][0-9]+)?([eE][-+]?[0-9]{1,2})?\Z")


def shown_as(cell: Cell, kind: Kind) -> Cell:
    """Return a cell as it is shown: numbers and dates that were computed have one spelling.

    Args:
        cell: The cell as a store has it.
        kind: What its column is known to be.
    """
    if cell is None or not isinstance(cell, Literal):
        return cell
    if kind == "number":
        return number(float(cell))
    if kind == "date":
        return Literal(str(cell), datatype=XSD.date, normalize=False)
    if kind == "year-month":
        return Literal(str(cell), datatype=XSD.gYearMonth, normalize=False)
    return cell


def number(value: float) -> Literal | None:
    """Return a number as a literal of 12 digits; None if it is not finite.

    Example:
        >>> print(number(0.1 + 0.2), number(4.0), number(float("inf")))
        0.3 4 None
    """
    if not math.isfinite(value):
        return None
    short = Decimal(f"{value:.12g}")
    if short == short.to_integral_value():
        return Literal(int(short))
    return Literal(f"{short:f}", datatype=XSD.decimal, normalize=False)


def in_order(rows: Iterable[Cells], plan: Plan) -> list[Cells]:
    """Return rows in the order of a plan, those without a value last; ties break by the terms of the row."""
    found = sorted(rows, key=lambda row: [str(cell if cell is not None else "") for cell in row])
    names = [c.name for c in plan.columns]
    for order in reversed(plan.order):
        at = names.index(order.column)
        found.sort(key=lambda row, at=at, down=order.descending: sort_key(row[at], down))  # type: ignore[misc]
    return found


class Reversed:
    """A text that sorts from Z to A."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __lt__(self, other: Reversed) -> bool:
        return other._text < self._text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reversed) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)


def sort_key(cell: Cell, descending: bool = False) -> tuple[int, float, str | Reversed]:
    """Return the key that a cell sorts by.

    Example:
        >>> from rdflib import Literal
        >>> cells = [None, Literal("unknown"), Literal("9"), Literal(10)]
        >>> [str(c) for c in sorted(cells, key=lambda c: sort_key(c, descending=True))]
        ['10', '9', 'unknown', 'None']
    """
    if cell is None:
        return (2, 0.0, "")
    text = str(cell)
    if _NUMBER.match(text):
        value = float(text)
        return (0, -value if descending else value, "")
    lower = text.lower()
    return (1, 0.0, Reversed(lower) if descending else lower)


def tied(one: Cells, other: Cells, columns: Sequence[int]) -> bool:
    """Return whether two rows are equal in some columns; sums of fractions may differ in the last digit.

    Example:
        >>> from rdflib import Literal
        >>> tied((Literal("1"),), (Literal("1.0"),), [0])
        True
    """
    for at in columns:
        (kind, number, text), (kind_2, number_2, text_2) = sort_key(one[at]), sort_key(other[at])
        if kind != kind_2 or text != text_2 or not math.isclose(number, number_2, rel_tol=1e-9):
            return False
    return True
