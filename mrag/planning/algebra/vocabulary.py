"""What the operations of plans are called in English."""

from rdflib import Literal

from mrag.planning.plan import Aggregate, Arithmetic, Days, Expression, Number

RELATIONS = {
    "=": "is", "!=": "is not", "<": "is less than", "<=": "is at most", ">": "is more than",
    ">=": "is at least",
}  # fmt: skip
FOLDS = {"count": "number", "sum": "total", "average": "average", "minimum": "least", "maximum": "greatest"}
OPERATIONS = {"+": "plus", "-": "minus", "*": "times", "/": "divided by"}
POSITIONS = {"anywhere": "contains", "start": "starts with", "end": "ends with", "whole": "is"}
PARTS = {
    "year-month": "month and year", "weekday": "day of the week", "day": "day of the month",
    "clock": "time of day",
}  # fmt: skip


_COUNTED_IN = {
    ("*", 24): "hours", ("*", 1440): "minutes", ("*", 86400): "seconds", ("/", 7): "weeks",
    ("/", 365.25): "years",
}  # fmt: skip


def unit_of_days(value: Expression | None) -> str:
    """Return the unit that a span of time is counted in, such as "hours"; "" for other values.

    Example:
        >>> from mrag.planning.plan import Unknown
        >>> unit_of_days(Arithmetic(Days(Unknown("a"), Unknown("b")), "*", Literal(24)))
        'hours'
    """
    match value:
        case Days():
            return "days"
        case Arithmetic(Days(), operation, Literal() as factor):
            return _COUNTED_IN.get((operation, factor.toPython()), "")
        case Number(inner) | Aggregate(function="average" | "sum" | "minimum" | "maximum", value=inner):
            return unit_of_days(inner)
        case _:
            return ""


ORDINALS = ("", "other ", "third ", "fourth ", "further ")
"""What stands before the name of a thing that is called like others."""
