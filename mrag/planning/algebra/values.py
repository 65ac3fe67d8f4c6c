"""Values of a plan as expressions of SPARQL that mean the same on every engine.

Whatever a literal's datatype is, it is read through its text: stores differ in what they make of datatypes,
not in what they print. An expression comes with the conditions under which it has a value, because some
engines end a query at a cast that fails where others leave a value out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal as OneOf
from typing import TypeAlias

import pyoxigraph as ox
from rdflib import Literal, URIRef

from mrag.planning import plan as pl
from mrag.planning.algebra import dates
from mrag.planning.algebra.terms import DOUBLE, INTEGER, NOTHING, Form, Given, number_of, text, whole
from mrag.rdf import patterns as sparql
from mrag.rdf.terms import XSD, to_ox

Kind: TypeAlias = OneOf["number", "date", "year-month", "time", "year", "boolean", "entity", "text", "any"]
"""What an expression is known to be; `date` and `time` are the text of one, `any` is decided by the value."""

FoldedAs: TypeAlias = OneOf["itself", "number", "text"]

_TYPES: Mapping[str, Kind] = {
    **dict.fromkeys(
        (
            XSD + t
            for t in (
                "integer decimal double float int long short byte nonNegativeInteger positiveInteger "
                "nonPositiveInteger negativeInteger unsignedInt unsignedLong unsignedShort unsignedByte"
            ).split()
        ),
        "number",
    ),
    XSD + "date": "date",
    XSD + "dateTime": "time",
    XSD + "gYear": "year",
    XSD + "gYearMonth": "year-month",
    XSD + "boolean": "boolean",
}
_TRUTH = {True: ("true", "1"), False: ("false", "0")}


@dataclass
class ValueCompiler:
    """Compiles expressions.

    Attributes:
        variable: The variable of an unknown.
        fold: The value of an aggregate, which a sub-select has computed.
        scalar: The variable of a scalar, whose sub-select is put beside the pattern.
        kinds: What columns are, by name, where conditions speak of columns.
        unsure: Unknowns that not every solution binds; some engines take what is unbound for a literal.
        forms: What all values of unknowns are known to be.
    """

    variable: Callable[[pl.Unknown], ox.Variable]
    fold: Callable[[pl.Aggregate], Given]
    scalar: Callable[[pl.Scalar], Given]
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    unsure: Collection[pl.Unknown] = ()
    forms: Mapping[pl.Unknown, Form] = field(default_factory=dict)

    def kind(self, expression: pl.Expression) -> Kind:
        """Return what an expression is known to be."""
        return kind_of(expression, self.kinds)

    def form(self, expression: pl.Expression) -> Form:
        """Return what all values of an expression are known to be."""
        return self.forms.get(expression, "any") if isinstance(expression, pl.Unknown) else "any"

    def raw(self, expression: pl.Expression) -> Given:
        """Return an expression as it stands."""
        match expression:
            case pl.Unknown():
                variable = self.variable(expression)
                unsure = expression in self.unsure
                return Given(variable, (sparql.Call("bound", (variable,)),) if unsure else ())
            case URIRef() | Literal():
                return Given(to_ox(expression))  # type: ignore[arg-type]  # neither is a blank node
            case pl.Number(value):
                return self.number(value)
            case pl.DatePart(part, value):
                return dates.part(part, self.text(value))
            case pl.Days(start, end):
                return dates.days(self.text(start), self.text(end))
            case pl.Arithmetic(left, operation, right):
                return self._arithmetic(left, operation, right)
            case pl.Aggregate():
                return self.fold(expression)
            case pl.Scalar():
                return self.scalar(expression)

    def number(self, expression: pl.Expression) -> Given:
        """Return the number that an expression is, or that its text begins with."""
        if isinstance(expression, Literal):
            return number_of(str(expression))
        if self.kind(expression) == "number":
            return self.raw(expression)
        if self.form(expression) == "number":
            given = self.raw(expression)
            numeric = sparql.Call("isNumeric", (given.value,))
            return Given(sparql.Cast(DOUBLE, given.value), (*given.guards, numeric))
        given = self.text(expression)
        return number_of(given.value).when(*given.guards)

    def text(self, expression: pl.Expression) -> Given:
        """Return the text of an expression."""
        given = self.raw(expression)
        if isinstance(expression, Literal):
            return Given(ox.Literal(str(expression)))
        if self.kind(expression) in ("any", "entity"):
            return Given(text(given.value), given.guards, self.form(expression))
        return given

    def folded(self, expression: pl.Expression, how: FoldedAs) -> Given:
        """Return what an aggregate folds."""
        if how == "number":
            return self.number(expression)
        given = self.raw(expression)
        if how == "text" and not isinstance(expression, Literal):
            return Given(text(given.value), (*given.guards, sparql.Call("isLiteral", (given.value,))))
        return given

    def condition(self, condition: pl.Condition) -> sparql.Expression:
        """Return a condition; where one of its expressions has no value it does not hold."""
        given = self._contains(condition) if isinstance(condition, pl.Contains) else self._compared(condition)
        return given.holding()

    def _arithmetic(
        self, left: pl.Expression, operation: OneOf["+", "-", "*", "/"], right: pl.Expression
    ) -> Given:
        a, b = self.number(left), self.number(right)
        guards = (*a.guards, *b.guards)
        if operation != "/":
            return Given(sparql.Calculation(a.value, operation, b.value), guards)
        # Some engines divide whole numbers to a whole number.
        quotient = sparql.Calculation(sparql.Cast(DOUBLE, a.value), "/", b.value)
        if isinstance(b.value, ox.Literal):
            return Given(quotient, guards) if float(b.value.value or 0) else NOTHING
        return Given(quotient, (*guards, sparql.Compare(b.value, "!=", _zero())))

    def _contains(self, condition: pl.Contains) -> Given:
        given = self._lower(condition.value)
        sought = ox.Literal(condition.text.lower())
        if condition.position == "whole":
            return Given(sparql.Compare(given.value, "=", sought), given.guards)
        name: sparql.Function = {"anywhere": "contains", "start": "strstarts", "end": "strends"}[  # type: ignore[assignment]
            condition.position
        ]
        return Given(sparql.Call(name, (given.value, sought)), given.guards)

    def _lower(self, expression: pl.Expression) -> Given:
        """Return the text of a literal in lower case; an entity has none."""
        if isinstance(expression, Literal):
            return Given(ox.Literal(str(expression).lower()))
        given = self.raw(expression)
        guards = given.guards
        if self.kind(expression) in ("any", "entity"):
            guards = (*guards, sparql.Call("isLiteral", (given.value,)))
        return Given(sparql.Call("lcase", (text(given.value),)), guards)

    def _compared(self, condition: pl.Comparison) -> Given:
        left, right, relation = condition.left, condition.right, condition.relation
        kinds = (self.kind(left), self.kind(right))
        if "year" in kinds or "number" in kinds:
            a, b = (self._years(e) if "year" in kinds else self.number(e) for e in (left, right))
        elif part := dates.finest(kinds):
            if (native := self._typed(condition, part)) is not None:
                return native
            a, b = (self._dated(part, e) for e in (left, right))
        elif "boolean" in kinds:
            return self._truth(condition)
        elif "entity" in kinds:
            a, b = self.raw(left), self.raw(right)
            if relation not in ("=", "!="):
                return NOTHING
        elif kinds == ("any", "any"):
            return self._any(condition)
        else:
            a, b = (_sortable(self._lower(e)) for e in (left, right))
        return Given(sparql.Compare(a.value, relation, b.value), (*a.guards, *b.guards))

    def _years(self, expression: pl.Expression) -> Given:
        if self.kind(expression) == "number":
            return self.number(expression)
        return dates.part("year", self.text(expression))

    def _typed(self, condition: pl.Comparison, part: dates.Precision) -> Given | None:
        """Return a comparison of a typed date with one that is written, by their datatypes."""
        value, relation, bound = condition.left, condition.relation, condition.right
        if isinstance(value, Literal):
            value, relation, bound = bound, dates.TURNED[relation], value
        if isinstance(value, pl.DatePart) and value.part == part:
            value = value.value
        form = self.form(value)
        if form not in ("date", "time") or not isinstance(bound, Literal):
            return None
        given = self.raw(value)
        stated = dates.typed(given.value, form, relation, str(bound), part)
        return None if stated is None else Given(stated, given.guards)

    def _dated(self, part: dates.Precision, expression: pl.Expression) -> Given:
        if isinstance(expression, pl.DatePart):
            return self.raw(expression)
        return dates.part(part, self.text(expression))

    def _truth(self, condition: pl.Comparison) -> Given:
        if condition.relation not in ("=", "!="):
            return NOTHING
        sides = (condition.left, condition.right)
        sides = sides if isinstance(sides[1], Literal) else (sides[1], sides[0])
        wanted = str(sides[1]).lower() in _TRUTH[True]
        if condition.relation == "!=":
            wanted = not wanted
        given = self.text(sides[0])
        return Given(
            sparql.In(sparql.Call("lcase", (given.value,)), tuple(map(ox.Literal, _TRUTH[wanted]))),
            given.guards,
        )

    def _any(self, condition: pl.Comparison) -> Given:
        """Compare any two values: as numbers if both are, else as text; things as things."""
        a, b = self.raw(condition.left), self.raw(condition.right)
        first, second = text(a.value), text(b.value)
        both = sparql.AllOf(tuple(dict.fromkeys((whole(first), whole(second)))))
        numbers = sparql.Compare(sparql.Cast(DOUBLE, first), condition.relation, sparql.Cast(DOUBLE, second))
        lower = (_sortable(Given(sparql.Call("lcase", (t,)))).value for t in (first, second))
        words = sparql.Compare(next(lower), condition.relation, next(lower))
        literals = tuple(dict.fromkeys(sparql.Call("isLiteral", (v.value,)) for v in (a, b)))
        compared = sparql.AllOf((*literals, sparql.Call("if", (both, numbers, words))))
        if condition.relation not in ("=", "!="):
            return Given(compared, (*a.guards, *b.guards))
        things = sparql.AllOf(
            (
                sparql.AnyOf(tuple(sparql.Call("isIRI", (v.value,)) for v in (a, b))),
                sparql.Compare(first, condition.relation, second),
            )
        )
        return Given(sparql.AnyOf((compared, things)), (*a.guards, *b.guards))

    def order_keys(self, variable: ox.Variable, kind: Kind, descending: bool) -> list[_Key]:
        """Return what rows are sorted by: numbers before text, whatever the direction."""
        if kind != "any":
            return [sparql.Descending(variable) if descending else variable]
        written = text(variable)
        numeric, zero = whole(written), _zero()
        number = sparql.Call("if", (numeric, sparql.Cast(DOUBLE, written), sparql.Cast(DOUBLE, zero)))
        found: list[_Key] = [sparql.Call("if", (numeric, zero, ox.Literal(1)))]
        for key in (number, sparql.Call("lcase", (written,))):
            found.append(sparql.Descending(key) if descending else key)
        return found


def bind(given: Given, variable: ox.Variable, nothing: Callable[[], ox.Variable]) -> list[sparql.Pattern]:
    """Return the pattern that gives a variable a value, where it has one.

    Args:
        given: The value.
        variable: The variable.
        nothing: Makes a variable that is never bound.
    """
    if given.value == variable:
        return []
    if not given.guards:
        return [sparql.Bind(given.value, variable)]
    guard = Given(given.guards[-1], given.guards[:-1]).holding()
    return [sparql.Bind(sparql.Call("if", (guard, given.value, nothing())), variable)]


_Key: TypeAlias = sparql.Expression | sparql.Descending


def kind_of(expression: pl.Expression, columns: Mapping[str, Kind] | None = None) -> Kind:
    """Return what an expression is known to be, whatever the graph holds.

    Args:
        expression: The expression.
        columns: What columns are, by name, where it may speak of columns.

    Example:
        >>> from mrag.planning import DatePart, Unknown
        >>> kind_of(DatePart("date", Unknown("day"))), kind_of(Unknown("day")), kind_of(Literal(3))
        ('date', 'any', 'number')
    """
    match expression:
        case pl.Unknown(name):
            return (columns or {}).get(name, "any")
        case URIRef():
            return "entity"
        case Literal():
            return _TYPES.get(str(expression.datatype), "text")
        case pl.DatePart("date" | "year-month" as part, _):
            return part
        case pl.DatePart("clock", _):
            return "text"
        case pl.Aggregate("minimum" | "maximum", value) if value is not None:
            found = kind_of(value)
            return "text" if found == "any" else found
        case pl.Scalar(plan):
            return kind_of(plan.columns[0].value)
        case _:
            return "number"


def folded_as(aggregate: pl.Aggregate) -> FoldedAs:
    """Return whether an aggregate folds numbers, text, or values as they stand."""
    if aggregate.value is None or aggregate.function == "count":
        return "itself"
    kind = kind_of(aggregate.value)
    if aggregate.function in ("sum", "average"):
        return "itself" if kind == "number" else "number"
    return "text" if kind == "any" else "itself"


def _sortable(given: Given) -> Given:
    """Return text in lower case so that it can be compared by order; Virtuoso cannot do it as it stands."""
    if isinstance(given.value, ox.Literal):
        return given
    return Given(text(given.value), given.guards)


def _zero() -> ox.Literal:
    return ox.Literal("0", datatype=INTEGER)
