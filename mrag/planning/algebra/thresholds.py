"""Groups that cannot reach a number that they must reach, left out before their members are told apart.

A thing leads to at most one value of a functional property. So of customers with more than ten different
products, each has more than ten orders; these are counted without looking at what was ordered.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rdflib import Literal, URIRef

from mrag.planning.algebra.joins import MANY, determined
from mrag.planning.algebra.knowledge import without_implied
from mrag.planning.plan import Aggregate, Block, Comparison, Condition, Pattern, Unknown
from mrag.planning.schema import Schema

_RARE: Final = 2
"""How many times the mean number of things per group a number is that few groups reach."""


def least_of(having: Sequence[Condition], aggregate: Aggregate) -> int:
    """Return the least count of a group that meets all conditions; 0 where they do not tell one.

    Args:
        having: The conditions on groups.
        aggregate: What is counted.

    Example:
        >>> orders = Aggregate("count", of=(Unknown("order"),))
        >>> least_of([Comparison(orders, ">", Literal(24))], orders)
        25
    """
    least = 0
    for condition in having:
        if not isinstance(condition, Comparison) or condition.left != aggregate:
            continue
        bound = condition.right
        if isinstance(bound, Literal) and isinstance(number := bound.toPython(), int):
            by = {">": number + 1, ">=": number, "=": number}.get(condition.relation, 0)
            least = max(least, by)
    return least


def counted_first(
    block: Block, key: Unknown, of: Unknown, least: int, schema: Schema | None
) -> tuple[Pattern, Unknown] | None:
    """Return a pattern of which each group needs some number of triples, and its other end.

    Args:
        block: What holds of the members of the groups.
        key: What is grouped by.
        of: What is counted.
        least: The least number that is wanted.
        schema: What is known of the graph.

    Returns:
        The pattern and what stands in it beside the key; None where there is none, or where it would leave
        out too few groups to be worth its time.
    """
    if schema is None or not schema.exact or least < 2 or key == of:
        return None
    patterns = without_implied(block.patterns, schema)
    for pattern in patterns:
        info = schema.properties.get(str(pattern.predicate))
        ends = {pattern.subject, pattern.object} - {key}
        end = next(iter(ends))
        if info is None or info.triples < MANY or len(ends) != 1 or not isinstance(end, Unknown) or end == of:
            continue
        groups = info.objects if pattern.object == key else info.subjects
        rare = least >= _RARE * info.triples / max(1, groups)
        plain = not pattern.narrower and isinstance(pattern.predicate, URIRef)
        if rare and plain and of in determined(patterns, {key, end}, schema):
            return pattern, end
    return None
