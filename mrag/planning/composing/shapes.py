"""What plans look like: parts that fall apart, things that cannot have two values, what is counted."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from rdflib import RDF, Literal, URIRef

from mrag.errors import ConfigError
from mrag.planning.plan import (
    Aggregate,
    Arithmetic,
    Block,
    Column,
    Comparison,
    Contains,
    Pattern,
    Plan,
    Scalar,
    Unknown,
    parts,
)
from mrag.planning.schema import Schema
from mrag.planning.scopes import aggregates, check, mentioned


def flaw(plan: Plan) -> str:
    """Return why a plan can be meant by nobody; "" if it can."""
    if falls_apart(plan.where):
        return "not connected"
    if any(_holds(block, plan.where) for block in plan.where.without):
        return "denied of itself"
    if _is_two(plan.where):
        return "one value is two"
    shown = {c.value for c in plan.columns}
    folds = [*shown, *(getattr(condition, "left", None) for condition in plan.having)]
    counts = [f for f in folds if isinstance(f, Aggregate) and f.function == "count" and f.of]
    if any(shown.issuperset(count.of) for count in counts):
        return "each thing is one"
    if any(isinstance(n, Arithmetic) and n.left == n.right for n in shown):
        return "a number beside itself"
    try:
        check(plan)
    except ConfigError as error:
        return error.message
    return ""


def _is_two(where: Block) -> bool:
    """Return whether a block wants one value to be two."""
    equal = dict[object, object]()
    for condition in where.conditions:
        if isinstance(condition, Comparison) and condition.relation == "=":
            told: object = condition.right if isinstance(condition.right, Literal) else None
            value: object = condition.left
        elif isinstance(condition, Contains) and condition.position == "whole":
            told, value = condition.text.casefold(), condition.value
        else:
            continue
        if told is not None and equal.setdefault(value, told) != told:
            return True
    return False


def _holds(block: Block, where: Block) -> bool:
    """Return whether a block denies what is said, of whatever its own unknowns may be: nothing can be so."""
    if block.conditions or block.without or block.either or block.plans or not block.patterns:
        return False
    known = mentioned(replace(where, without=()))
    told = [p for p in block.patterns if p.predicate != RDF.type or p.subject in known]
    return bool(told) and _among(told, where.patterns, {}, known)


def _among(
    told: Sequence[Pattern],
    said: Sequence[Pattern],
    meant: Mapping[object, object],
    known: Collection[Unknown],
) -> bool:
    """Return whether triples are among others, where unknowns that are not known may be any."""
    if not told:
        return True
    first, *rest = told
    for other in said:
        pairs = ((first.subject, other.subject), (first.object, other.object))
        fits = first.predicate == other.predicate and all(
            meant.get(one, two) == two if isinstance(one, Unknown) and one not in known else one == two
            for one, two in pairs
        )
        own: dict[object, object] = {
            one: two for one, two in pairs if isinstance(one, Unknown) and one not in known
        }
        if fits and _among(rest, said, {**meant, **own}, known):
            return True
    return False


def leading_to_names(plan: Plan) -> list[str]:
    """Return the properties that relate things that are asked for to what is named."""
    found = (
        str(p.predicate) for p in plan.where.patterns
        if p.predicate != RDF.type and {type(p.subject), type(p.object)} == {Unknown, URIRef}
    )  # fmt: skip
    return list(dict.fromkeys(found))


def alike_named(plan: Plan) -> list[tuple[Pattern, ...]]:
    """Return the triples that relate one thing in one way to several that are named: "films by A and B"."""
    found: dict[tuple[object, ...], list[Pattern]] = {}
    for p in plan.where.patterns:
        if isinstance(p.subject, Unknown) and isinstance(p.object, URIRef) and p.predicate != RDF.type:
            found.setdefault((p.subject, p.predicate), []).append(p)
        elif isinstance(p.subject, URIRef) and isinstance(p.object, Unknown):
            found.setdefault((p.predicate, p.object), []).append(p)
    return [tuple(same) for same in found.values() if len(same) > 1]


def united(plan: Plan, question: str) -> Plan | None:
    """Return a plan for things of any of several names, where a plan is for things of all of them."""
    alike, words = alike_named(plan), question.lower().split()
    if len(alike) != 1 or "and" not in words or "both" in words:
        return None
    kept = tuple(p for p in plan.where.patterns if p not in alike[0])
    any_of = tuple(Block((p,)) for p in alike[0])
    return replace(plan, where=replace(plan.where, patterns=kept, either=(*plan.where.either, any_of)))


def made_possible(plan: Plan, question: str, schema: Schema) -> Plan:
    """Return a plan for things of any of several names where they have one only: "staff of Bonn and Ulm"."""
    alike = alike_named(plan)
    info = schema.properties.get(str(alike[0][0].predicate)) if len(alike) == 1 else None
    if info is None or not info.functional or not isinstance(alike[0][0].object, URIRef):
        return plan
    return united(plan, question) or plan


def not_of_itself(plan: Plan) -> Plan:
    """Return a plan that counts what leads to each thing, where it counts each thing once: "arrivals"."""
    keys = {c.value for c in plan.columns if isinstance(c.value, Unknown)}
    columns = list[Column]()
    for column in plan.columns:
        fold = column.value
        if isinstance(fold, Aggregate) and fold.function == "count" and fold.value is None:
            (of, *more) = fold.of or (None,)
            sources = [p.subject for p in plan.where.patterns if p.object == of and p.predicate != RDF.type]
            if of in keys and not more and len(sources) == 1 and isinstance(sources[0], Unknown):
                column = replace(column, value=replace(fold, of=(sources[0],)))
        columns.append(column)
    return replace(plan, columns=tuple(columns)) if tuple(columns) != plan.columns else plan


def finds_extreme(plan: Plan) -> bool:
    """Return whether a plan finds what is first or last, greatest or least."""
    folds = ("maximum", "minimum")
    return (
        plan.limit is not None
        or any(a.function in folds for c in plan.columns for a in aggregates(c.value))
        or any(finds_extreme(p) for p in plan.where.plans)
        or any(
            isinstance(c, Comparison) and any(isinstance(s, Scalar) for s in (c.left, c.right))
            for c in (*plan.where.conditions, *plan.having)
        )
    )


def loose(kinds: Sequence[Unknown], where: Block, columns: Sequence[Column]) -> bool:
    """Return whether nothing but its kind is said of one of some things."""
    related = tuple(p for p in where.patterns if p.predicate != RDF.type)
    used = mentioned(Block(related, where.conditions, (), where.either, (), where.plans))
    for column in columns:
        shown = (*parts(column.value), *getattr(column.value, "of", ()))
        used |= {u for u in shown if isinstance(u, Unknown)}
    return any(kind not in used for kind in kinds) or _adrift(kinds, where, columns)


def _adrift(kinds: Sequence[Unknown], where: Block, columns: Sequence[Column]) -> bool:
    """Return whether one of some things has to do with what is shown only as both have to do with a name.

    Who majors in a subject and any course of that subject are not related by that.
    """
    shown = {
        u for c in columns for u in (*parts(c.value), *getattr(c.value, "of", ())) if isinstance(u, Unknown)
    }
    linked = [{p.subject, p.object} for p in where.patterns if p.predicate != RDF.type]
    linked += [set(mentioned(Block(conditions=(c,)))) for c in where.conditions]
    linked += [set().union(*(mentioned(b) for b in some)) for some in where.either]
    reached, before = set(shown), -1
    while before != len(reached):
        before = len(reached)
        for some in linked:
            unknown = {u for u in some if isinstance(u, Unknown)}
            reached |= unknown if unknown & reached else set()
    return bool(shown) and not {*kinds} <= reached


def falls_apart(where: Block) -> bool:
    """Return whether some unknowns of a block have nothing to do with what else it says, nor with a name.

    Each of its things would be set beside each of the others.
    """
    parts_ = [{t for t in (p.subject, p.object) if not _is_kind(p, t)} for p in where.patterns]
    parts_ += [{*mentioned(Block(conditions=(c,)))} for c in where.conditions]
    parts_ += [set().union(*(mentioned(b) for b in blocks)) for blocks in where.either]
    parts_ += [{Unknown(c.name) for c in plan.columns} for plan in where.plans]
    groups_ = list[set[object]]()
    for part in parts_:
        near = [g for g in groups_ if g & part]
        groups_ = [g for g in groups_ if g not in near] + [set(part).union(*near)]
    loose_ = [g for g in groups_ if all(isinstance(t, Unknown) for t in g)]
    return len(groups_) > 1 and any(_plain(g, where) for g in loose_)


def _is_kind(pattern: Pattern, term: object) -> bool:
    return pattern.predicate == RDF.type and term == pattern.object


def _plain(group: Collection[object], where: Block) -> bool:
    """Return whether only triples speak of unknowns."""
    others = Block((), where.conditions, (), where.either, (), where.plans)
    return not {*mentioned(others)} & {*group} and not any(
        c.name in {getattr(t, "name", "") for t in group} for plan in where.plans for c in plan.columns
    )
