"""Things of several names in a graph: which name stands for the others, and how many things have others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from rdflib import OWL

from mrag.graph.kg import KnowledgeGraph
from mrag.graph.twins import home_of, preference
from mrag.planning.algebra.twins import Twins
from mrag.planning.plan import Aggregate, Block, Comparison, Pattern, Plan, Unknown
from mrag.rdf import queries

_MOST = 1000
"""Names of a thing that are looked at, at most."""


def twins_of(kg: KnowledgeGraph) -> Twins | None:
    """Return which names of things stand for others, None where nothing is `owl:sameAs` anything.

    Args:
        kg: The knowledge graph.

    Example:
        >>> import mrag
        >>> kg = mrag.demo(model="none")
        >>> twins_of(kg) is None
        True
        >>> kg.close()
    """

    def made() -> Twins | None:
        if str(OWL.sameAs) not in kg.profile().predicates:
            return None
        record = kg.record
        closed = bool(record.inferred) and not record.outdated
        if kg.store.capabilities.reasoning:
            closed = not kg.holds(queries.get("planning/twins-open").text)
        return Twins(home_of(kg.store, kg.dataset("asserted")), closed)

    return kg.cached("planning twins", made)


def names_beside(kg: KnowledgeGraph, things: Iterable[str]) -> dict[str, str]:
    """Return, of things that have several names, the one that stands for them; others are left out.

    Args:
        kg: The knowledge graph.
        things: IRIs.
    """
    twins, wanted = twins_of(kg), sorted(set(things))
    if twins is None or not wanted:
        return {}
    found: dict[str, str] = {}
    sets: dict[str, set[str]] = {thing: {thing} for thing in wanted}
    level = {thing: {thing} for thing in wanted}
    while level:
        asked, level = level, {}
        for text in queries.get("reasoning/same-near").batches("thing", sorted(asked)):
            for name, other, _ in kg.select(text):
                for start in asked[str(name)]:
                    if str(other) not in sets[start] and len(sets[start]) < _MOST:
                        sets[start].add(str(other))
                        if not twins.closed:
                            level.setdefault(str(other), set()).add(start)
    for thing, names in sets.items():
        if len(names) > 1:
            found[thing] = min(names, key=lambda name: preference(name, twins.home))
    return found


def other_named(kg: KnowledgeGraph, plan: Plan) -> Plan | None:
    """Return the plan that counts those of the things a plan counts that have other names, if it counts any.

    Args:
        kg: The knowledge graph.
        plan: A plan.
    """
    value = plan.columns[0].value if len(plan.columns) == 1 else None
    counts = isinstance(value, Aggregate) and value.function == "count" and value.value is None
    if not counts or len(value.of) != 1 or plan.group_by or plan.having or twins_of(kg) is None:  # type: ignore[union-attr]
        return None
    assert isinstance(value, Aggregate)
    thing, other = value.of[0], Unknown("other_name")
    ways = (Pattern(thing, OWL.sameAs, other), Pattern(other, OWL.sameAs, thing))
    said = tuple(Block((way,), (Comparison(thing, "!=", other),)) for way in ways)
    return replace(plan, where=replace(plan.where, either=(*plan.where.either, said)))
