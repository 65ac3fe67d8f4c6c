"""What sentences about class expressions share in all languages."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Literal as OneOfText
from typing import TypeAlias

from rdflib import Literal

from mrag.cel.syntax.expressions import And, Expression, OneOf, Or
from mrag.rdf.terms import XSD, curie, to_ox

Language: TypeAlias = OneOfText["en", "de"]
Name: TypeAlias = Callable[[str], str]

KINDS = {
    "en": {"integer": "whole number", "decimal": "decimal number", "double": "number",
           "boolean": "truth value", "float": "short number", "date": "date", "dateTime": "time",
           "string": "text"},
    "de": {"integer": "ganze Zahl", "decimal": "Dezimalzahl", "double": "Zahl", "boolean": "Wahrheitswert",
           "float": "kurze Zahl", "date": "Datum", "dateTime": "Zeitpunkt", "string": "Text"},
}  # fmt: skip
"""What values of a datatype are called."""
NUMERIC = frozenset(XSD + kind for kind in ("integer", "decimal", "double", "float"))
"""Datatypes of numbers, which are compared by value."""
BARE = NUMERIC | {XSD + kind for kind in ("boolean", "date", "dateTime")}
"""Datatypes whose values need no name of their kind beside them."""


class Clauses(ABC):
    """Makes the clauses of one language.

    Args:
        name: Names classes, properties and individuals by their IRIs.
    """

    def __init__(self, name: Name) -> None:
        self.name = name

    @abstractmethod
    def clause(self, e: Expression, last: bool = True) -> str:
        """Return the clause of a normal form."""

    @abstractmethod
    def value(self, value: str | Literal) -> str:
        """Return the name of an individual, or a literal."""

    def part(self, e: Expression, last: bool) -> str:
        """Return the clause of a part of a conjunction or a disjunction, in brackets if it is one itself."""
        return f"({self.clause(e)})" if isinstance(e, And | Or) else self.clause(e, last)

    def listed(self, names: OneOf) -> str:
        """Return the names of individuals in brackets."""
        return f"({', '.join(map(self.value, names.members))})"


def literal(value: Literal, language: Language) -> str:
    """Print a literal, with what it is unless it is a text."""
    datatype = str(value.datatype or XSD + "string")
    if value.language or datatype == XSD + "string":
        return str(to_ox(value))
    kind = KINDS[language].get(datatype.removeprefix(XSD), curie(datatype))
    return f"{'the' if language == 'en' else 'als Wert:'} {kind} {bare(value, datatype)}"


def bare(value: Literal, datatype: str) -> str:
    """Print a literal without its datatype if that is given before it, or both are numbers."""
    own = str(value.datatype)
    alike = own == datatype or {own, datatype} <= NUMERIC
    return str(value) if alike and " " not in str(value) else str(to_ox(value))


def escaped(text: str) -> str:
    """Return a text that can stand in quotation marks."""
    return re.sub(r"([\\“”„])", r"\\\1", text)
