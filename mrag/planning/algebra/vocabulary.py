"""What the operations of plans are called in English."""

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
