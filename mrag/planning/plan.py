"""What a question asks of a graph, as a typed value.

A plan is data: patterns with unknowns, conditions, groups, aggregates and order. It prints to SPARQL
(`compiler`) and to words (`wording`).

The semantics is that of sets. The solutions of a block are the *distinct* bindings of its unknowns. An
aggregate folds, for each group, the distinct values that its `of` and its expression take together, so a join
never counts a thing twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal as OneOf
from typing import TypeAlias

from rdflib import Literal, URIRef

Part: TypeAlias = OneOf["year", "quarter", "month", "day", "weekday", "hour", "clock", "date", "year-month"]
Operation: TypeAlias = OneOf["+", "-", "*", "/"]
Fold: TypeAlias = OneOf["count", "sum", "average", "minimum", "maximum"]
Relation: TypeAlias = OneOf["=", "!=", "<", "<=", ">", ">="]
Position: TypeAlias = OneOf["anywhere", "start", "end", "whole", "language"]


@dataclass(frozen=True, order=True)
class Unknown:
    """What is asked for, by name: two unknowns of one name stand for the same thing.

    Example:
        >>> str(Unknown("film"))
        '?film'
    """

    name: str

    def __str__(self) -> str:
        return "?" + self.name


Place: TypeAlias = Unknown | URIRef | Literal


@dataclass(frozen=True)
class Pattern:
    """A triple with unknowns.

    Example:
        >>> print(Pattern(Unknown("film"), URIRef("urn:director"), Unknown("who")))
        (?film, urn:director, ?who)
    """

    subject: Unknown | URIRef  # What it is said of
    predicate: Unknown | URIRef  # The property
    object: Place  # The value
    # Classes that count as the object, where it is a class: `rdf:type` one of them does as well
    narrower: tuple[URIRef, ...] = ()
    # Whether the property may be followed several times: all that is above a term, not only what is just
    # above it
    repeated: bool = False

    @property
    def places(self) -> tuple[Unknown | URIRef, Unknown | URIRef, Place]:
        """Return the subject, the predicate and the object."""
        return self.subject, self.predicate, self.object

    def __str__(self) -> str:
        return f"({self.subject}, {self.predicate}{'+' * self.repeated}, {self.object})"


@dataclass(frozen=True)
class Number:
    """The number in a literal, whatever its datatype: `"12"`, `"12 kg"` and `12.0` are all 12.

    `"1,250.5 m"` is 1250.5, and `"$9.99"` is 9.99. Other literals have no value, as `"12,5"` or `"10-20"`.
    """

    value: Expression


@dataclass(frozen=True)
class DatePart:
    """A part of a date or of a date with a time: `date` is without the time, `year-month` is like 2023-04.

    `clock` is the time of day, as 18:30:00.

    Dates are read from what is written, whatever the datatype: `2023-04-01`, `2023-04-01 10:00:00`, `2023-04`
    and for the year also 2023 or -44. Monday is the first weekday. Time zones are not looked at.
    """

    part: Part
    value: Expression


@dataclass(frozen=True)
class Days:
    """The days from one date to another, with the fraction of the last."""

    start: Expression
    end: Expression


@dataclass(frozen=True)
class Arithmetic:
    """A calculation with what its sides are as a `Number`; dividing by zero has no value."""

    left: Expression
    operation: Operation
    right: Expression


@dataclass(frozen=True)
class Aggregate:
    """A fold over the distinct solutions of each group.

    What is summed or averaged is read as a `Number`. The least and the greatest of an unknown are those of
    its text, which is right for dates; of a `Number` they are those of the numbers. Solutions without a value
    are left out. Over nothing a count is 0 and other folds have no value.
    """

    function: Fold  # What is computed
    value: Expression | None = None  # What is folded; None to count what `of` names
    # The unknowns whose distinct values, together with that of `value`, are folded: the things that are
    # counted, or that the values belong to
    of: tuple[Unknown, ...] = ()
    # What must hold of the folded solutions beside the plan's own block: "of those, the red"
    where: Block = field(default_factory=lambda: Block())


@dataclass(frozen=True)
class Scalar:
    """The one value of another plan with one column and no group, such as an average over everything."""

    plan: Plan


Expression: TypeAlias = (
    Unknown | URIRef | Literal | Number | DatePart | Days | Arithmetic | Aggregate | Scalar
)


@dataclass(frozen=True)
class Comparison:
    """A comparison by value: of numbers, dates, truth values and text, and of terms for `=` and `!=`.

    If one side is a number, both are read as numbers; if one is a date (or a part of one), both as such
    dates; if one is plain text, both as text without case. Of two unknowns, values that are nothing but
    numbers compare as numbers, and other literals as text. Where a side has no value, the comparison does
    not hold.
    """

    left: Expression
    relation: Relation
    right: Expression


@dataclass(frozen=True)
class Contains:
    """Whether the text of a value has another in it, whatever the case; or whether it is in a language."""

    value: Expression  # What has the text
    text: str  # The other text; the tag of the language, "de" for "de-AT" as well
    position: Position = "anywhere"  # Where it stands; "language" if it is the tag of one


Condition: TypeAlias = Comparison | Contains


@dataclass(frozen=True)
class Block:
    """What must hold together."""

    patterns: tuple[Pattern, ...] = ()  # Triples that exist, in one join
    conditions: tuple[Condition, ...] = ()  # What holds of their values
    # Blocks that have no solution for the values of the unknowns that they share with this one; they speak of
    # no unknown that only some alternatives or optional blocks bind
    without: tuple[Block, ...] = ()
    either: tuple[tuple[Block, ...], ...] = ()  # Alternatives: of each group of blocks one holds at least
    # Blocks that bind further unknowns where they hold; only the block of a plan has them
    optional: tuple[Block, ...] = ()
    # Plans whose rows it is joined with: each row binds the unknowns that are called like the columns, and
    # one without a value in a column is left out. Only the block of a plan has them, and they have no ties
    plans: tuple[Plan, ...] = ()

    @property
    def branches(self) -> tuple[Block, ...]:
        """Return the alternatives, whatever group they are in."""
        return tuple(block for blocks in self.either for block in blocks)

    @property
    def empty(self) -> bool:
        """Return whether it says nothing."""
        return self == Block()


@dataclass(frozen=True)
class Column:
    """What is shown under a name; the name is a variable of the query."""

    value: Expression
    name: str


@dataclass(frozen=True)
class Order:
    """A key of the order: a column by its name."""

    column: str
    descending: bool = False


@dataclass(frozen=True)
class Plan:
    """What a question asks for.

    Without columns it is a yes or no question: has the block a solution? With an aggregate in a column or
    in `having`, the solutions are grouped by `group_by` and by the columns that hold no aggregate; a solution
    in which one of these has no value is in no group. Rows are distinct, and one without any value is no row.

    Rows are ordered with numbers before text, without case, and what has no value last; with a limit, rows
    without a value in a key of the order are left out, because they win no superlative. Ties break by the
    terms of the row, so the order is total.
    """

    where: Block = field(default_factory=Block)  # What must hold
    columns: tuple[Column, ...] = ()  # What is shown, in order
    group_by: tuple[Unknown, ...] = ()  # Unknowns to group by that need not be shown
    # Conditions on groups; they hold aggregates, or names of columns as unknowns
    having: tuple[Condition, ...] = ()
    order: tuple[Order, ...] = ()  # How rows are ordered
    limit: int | None = None  # Maximum number of rows
    offset: int = 0  # How many rows are left out before them
    ties: bool = False  # Whether rows that are equal to the last in the order's keys are shown too

    @property
    def yes_or_no(self) -> bool:
        """Return whether the answer is yes or no."""
        return not self.columns

    @property
    def grouped(self) -> bool:
        """Return whether solutions are folded."""
        values = [c.value for c in self.columns]
        sides = [
            s for h in self.having for s in ((h.left, h.right) if isinstance(h, Comparison) else (h.value,))
        ]
        return bool(self.group_by) or any(
            isinstance(e, Aggregate) for v in (*values, *sides) for e in parts(v)
        )


def parts(expression: Expression) -> Iterator[Expression]:
    """Yield an expression and all within it, without those of other plans and of an aggregate's `where`.

    Example:
        >>> x = Unknown("x")
        >>> len(list(parts(Arithmetic(Aggregate("count", of=(x,)), "/", Number(x)))))
        4
    """
    yield expression
    match expression:
        case Number(value) | DatePart(_, value):
            yield from parts(value)
        case Arithmetic(left, _, right) | Days(left, right):
            yield from parts(left)
            yield from parts(right)
        case Aggregate(value=value) if value is not None:
            yield from parts(value)
