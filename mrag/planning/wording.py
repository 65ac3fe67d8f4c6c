"""Plans in plain words, so that a reader sees how a question was read."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rdflib import RDF, Literal, URIRef

from mrag.planning.plan import (
    Aggregate,
    Arithmetic,
    Block,
    Comparison,
    Condition,
    Contains,
    DatePart,
    Days,
    Expression,
    Number,
    Pattern,
    Plan,
    Scalar,
    Unknown,
)
from mrag.text.grammar import join, plural

Name = Callable[[str], str]
_FOLDS = {
    "count": "number of",
    "sum": "total",
    "average": "average",
    "minimum": "least",
    "maximum": "greatest",
}
_RELATIONS = {
    "=": "is", "!=": "is not", "<": "is less than", "<=": "is at most", ">": "is more than",
    ">=": "is at least",
}  # fmt: skip
_POSITIONS = {"anywhere": "contains", "start": "begins with", "end": "ends with", "whole": "is"}
_OPERATIONS = {"/": "divided by", "*": "times", "+": "plus", "-": "minus"}


def to_words(plan: Plan, name: Name) -> str:
    """Return a plan in plain words.

    Args:
        plan: The plan.
        name: Returns the name of an IRI.

    Example:
        >>> from mrag.planning.plan import Column, Order
        >>> film, year = Unknown("film"), Unknown("year")
        >>> late = Comparison(year, ">", Literal(1990))
        >>> where = Block((Pattern(film, URIRef("urn:released"), year),), (late,))
        >>> count = Column(Aggregate("count", of=(film,)), "n")
        >>> print(to_words(Plan(where, (count,)), lambda iri: iri[4:]))
        the number of films, where film released year and year is more than 1990
        >>> top = Plan(where, (Column(film, "film"),), order=(Order("film", True),), limit=1)
        >>> print(to_words(top, lambda iri: iri[4:]))
        film, where film released year and year is more than 1990, by film, greatest first, the first 1
    """
    text = _block(plan.where, name)
    if plan.yes_or_no:
        return f"whether {text or 'anything is there'}"
    grouped = [c for c in plan.columns if plan.grouped and not _folds(c.value)]
    shown = [c for c in plan.columns if c not in grouped]
    head = join([_expression(c.value, name) for c in shown] or [_expression(c.value, name) for c in grouped])
    parts = [f"the {head}" if grouped or all(_folds(c.value) for c in shown) else head]
    keys = [_expression(c.value, name) for c in grouped if shown] + [u.name for u in plan.group_by]
    if keys:
        parts[0] += f" for each {join(keys)}"
    if text:
        parts.append(f"where {text}")
    if plan.having:
        parts.append("if " + join([_condition(h, name) for h in plan.having]))
    values = {c.name: c.value for c in plan.columns}
    for order in plan.order:
        way = "greatest first" if order.descending else "least first"
        parts.append(f"by {_expression(values[order.column], name)}, {way}")
    if plan.limit is not None:
        ties = " and those that tie" if plan.ties else ""
        behind = f" behind the first {plan.offset}" if plan.offset else ""
        parts.append(f"the first {plan.limit}{behind}{ties}")
    return ", ".join(parts)


def _folds(value: Expression) -> bool:
    match value:
        case Aggregate() | Scalar():
            return True
        case Arithmetic(left, _, right):
            return _folds(left) or _folds(right)
        case Number(inner):
            return _folds(inner)
    return False


def _block(block: Block, name: Name) -> str:
    parts = [_pattern(p, name) for p in block.patterns]
    parts = [p for p in parts if p]
    parts += [_condition(c, name) for c in block.conditions]
    parts += [_either(blocks, name) for blocks in block.either]
    parts += [f"there is no {_block(inner, name)}" for inner in block.without]
    parts += [f"perhaps {_block(inner, name)}" for inner in block.optional]
    return join(parts)


def _either(blocks: Iterable[Block], name: Name) -> str:
    return "either " + " or ".join(_block(block, name) for block in blocks)


def _pattern(pattern: Pattern, name: Name) -> str:
    if pattern.predicate == RDF.type and isinstance(pattern.object, URIRef):
        kind = name(str(pattern.object))
        words = _word(pattern.subject, name)
        return "" if words.rstrip("0123456789 ") == kind.lower() else f"{words} is a {kind}"
    verb = pattern.predicate.name if isinstance(pattern.predicate, Unknown) else name(str(pattern.predicate))
    return f"{_word(pattern.subject, name)} {verb} {_word(pattern.object, name)}"


def _word(place: Expression, name: Name) -> str:
    if isinstance(place, Unknown):
        return place.name.replace("_", " ")
    return name(str(place)) if isinstance(place, URIRef) else str(place)


def _condition(condition: Condition, name: Name) -> str:
    if isinstance(condition, Comparison):
        left, right = _expression(condition.left, name), _expression(condition.right, name)
        return f"{left} {_RELATIONS[condition.relation]} {right}"
    if isinstance(condition, Contains):
        quoted = condition.text if condition.position == "whole" else f"“{condition.text}”"
        return f"{_expression(condition.value, name)} {_POSITIONS[condition.position]} {quoted}"
    raise AssertionError(condition)


def _expression(value: Expression, name: Name) -> str:
    match value:
        case Unknown() | URIRef() | Literal():
            return _word(value, name)
        case Number(inner):
            return _expression(inner, name)
        case DatePart(part, inner):
            return _expression(inner, name) if part == "date" else f"{part} of {_expression(inner, name)}"
        case Days(start, end):
            return f"days from {_expression(start, name)} to {_expression(end, name)}"
        case Arithmetic(left, operation, right):
            return f"{_expression(left, name)} {_OPERATIONS[operation]} {_expression(right, name)}"
        case Scalar(plan):
            return to_words(plan, name)
        case Aggregate():
            return _aggregate(value, name)


def _aggregate(value: Aggregate, name: Name) -> str:
    if value.value is not None:
        inner = _expression(value.value, name)
    else:
        inner = join([plural(_word(u, name)) for u in value.of])
    text = f"{_FOLDS[value.function]} {inner}"
    condition = _block(value.where, name)
    return f"{text} (where {condition})" if condition else text
