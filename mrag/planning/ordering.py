"""The order of rows: numbers before text, and what has no value last."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TypeAlias

from mrag.rdf.terms import Term

Cell: TypeAlias = Term | None
Cells: TypeAlias = tuple[Cell, ...]

_NUMBER = re.compile(r"[-+]?[0-9]+([.][0-9]+)?([eE][-+]?[0-9]{1,2})?\Z")


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
