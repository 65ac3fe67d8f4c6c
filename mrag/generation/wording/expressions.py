"""Class expressions, as contexts show them, read as sentences: "every dog eats some bone"."""

from __future__ import annotations

import re

from mrag.context.render import Line
from mrag.rdf.terms import SKOLEM
from mrag.text.grammar import relation

_COUNTS = r"(?:at least|at most|exactly) \d+"
_EXPRESSION = re.compile(
    rf"\(.* (?:and|or) .*\)\Z|one of \(|not |inverse of |.+? (?:some|only|value|self|{_COUNTS})\b", re.DOTALL
)
_RELATED = re.compile(rf"(.+?) ((?:some|only|{_COUNTS}) [^()]+)\Z", re.DOTALL)
_UNTOLD = "something"


def is_expression(line: Line) -> bool:
    """Return whether the object of a line is a class without a name, put in words."""
    return str(line.triple.o).startswith(SKOLEM) and _EXPRESSION.match(line.labels[2]) is not None


def is_empty(line: Line) -> bool:
    """Return whether the object of a line is an unnamed node of which nothing is known."""
    return str(line.triple.o).startswith(SKOLEM) and line.labels[2] == _UNTOLD


def bare(label: str) -> str:
    """Return an expression without brackets around the whole of it.

    Example:
        >>> bare("(Dog and age at most 1)"), bare("(A or B) and C")
        ('Dog and age at most 1', '(A or B) and C')
    """
    inside = label[1:-1]
    depth = 0
    for c in inside:
        depth += (c == "(") - (c == ")")
        if depth < 0:
            return label
    return inside if label[:1] == "(" and label[-1:] == ")" else label


def of_members(name: str, label: str) -> str:
    """Say of the members of a class what an expression says.

    Example:
        >>> of_members("dog", "eats some bone"), of_members("dog", "owner some person")
        ('every dog eats some bone', 'every dog meets the condition “owner some person”')
        >>> of_members("film", "directed by only person")
        'every film is directed by only person'
    """
    found = _RELATED.match(label)
    if found:
        kind, text = relation(found[1], several=False)
        # Only what keeps its words can be compared with the line again.
        if (
            kind == "phrase"
            and text in (found[1], f"is {found[1]}")
            and not text.startswith(("has ", "have "))
        ):
            return f"every {name} {text} {found[2]}"
    return f"every {name} meets the condition “{bare(label)}”"
