"""Why a plan finds nothing: which of its conditions, left out, would let it find something."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from rdflib import RDF, Literal, URIRef

from mrag.errors import ConfigError, QueryTimeout, StoreError
from mrag.graph.kg import KnowledgeGraph
from mrag.language.tokens import words_in
from mrag.planning import plan as pl
from mrag.planning.run import Found, PlanResult, run
from mrag.planning.schema import Schema
from mrag.planning.scopes import PlanRoles, aggregates, plain, renamed, sides
from mrag.stores.base import Limits

Seek = Callable[..., PlanResult | None]  # Runs a plan, as long as there is time: `_run` of a graph

_KIND, _THING = pl.Unknown("other_kind"), "other_thing"


def _of_another_kind(seek: Seek, plan: pl.Plan, schema: Schema) -> pl.Pattern | None:
    """Return that something by the name that a question says is of another kind; None where nothing is."""
    where = plan.where
    typed = [p for p in where.patterns if p.predicate == RDF.type and isinstance(p.object, URIRef)]
    if not plan.yes_or_no or len(typed) != 1 or where.without or where.plans or where.either:
        return None
    (kind,) = typed
    rest = tuple(p for p in where.patterns if p is not kind)
    if isinstance(kind.subject, pl.Unknown) and not _is_named(rest, where.conditions, kind.subject):
        return None
    if isinstance(kind.subject, URIRef) and rest:
        return None
    other = replace(where, patterns=(*rest, replace(kind, object=_KIND, narrower=())))
    things = (pl.Column(kind.subject, _THING),) if isinstance(kind.subject, pl.Unknown) else ()
    asked = pl.Plan(other, (*things, pl.Column(_KIND, _KIND.name)), limit=5)
    found = seek(asked, settled=False)
    for *thing, cls in found.rows if found is not None else ():
        subject = thing[0] if thing else kind.subject
        if isinstance(cls, URIRef) and str(cls) in schema.classes and isinstance(subject, URIRef):
            return pl.Pattern(subject, RDF.type, cls)
    return None


def _is_named(patterns: tuple[pl.Pattern, ...], conditions: tuple[object, ...], thing: pl.Unknown) -> bool:
    """Return whether all that is said of a thing is a text that it has, such as its name."""
    texts = {p.object for p in patterns if p.subject == thing}
    if len(patterns) != 1 or len(texts) != 1:
        return False
    (text,) = texts
    if isinstance(text, Literal):
        return not conditions
    return len(conditions) == 1 and any(
        (isinstance(c, pl.Contains) and c.value == text and c.position == "whole")
        or (isinstance(c, pl.Comparison) and c.left == text and c.relation == "=")
        for c in conditions
    )


def may_be_meant(plan: pl.Plan, other: pl.Pattern, schema: Schema) -> bool:
    """Return whether the other kind is called as the one that was asked for: a coastal port is a port."""
    if other.predicate != RDF.type:
        return False
    asked = {str(p.object) for p in plan.where.patterns if p.predicate == RDF.type}
    theirs = [set(words_in(n.lower())) for n in schema.classes[str(other.object)].names]
    ours = [set(words_in(n.lower())) for c in asked if c in schema.classes for n in schema.classes[c].names]
    return any(own and own <= words for own in ours for words in theirs)


_MOST = 5  # Conditions that are left out, one at a time
_TOLD = 3  # Things that are told in place of the one that was asked about
_VALUE = "nearest_value"
_BOUNDS = {"<": False, "<=": False, ">": True, ">=": True}
"""Whether the greatest value comes nearest to a bound."""

_FREE = tuple(pl.Unknown(f"any_{number}") for number in range(20))
"""Names of unknowns in place of fixed values."""

Loosened = pl.Condition | pl.Block | pl.Pattern


@dataclass(frozen=True)
class Nearest:
    """What comes nearest to a bound that nothing keeps."""

    plan: pl.Plan  # The plan that found it: the thing, if it is not named in the question, and the value
    value: pl.Expression  # What is bounded
    greatest: bool  # Whether it is the greatest value, else the least
    result: PlanResult  # What the plan found


@dataclass(frozen=True)
class Nothing:
    """Why a plan finds nothing."""

    # The condition without which it finds something; None where each of several is enough
    part: Loosened | None = None
    nearest: Nearest | None = None  # What comes nearest to it, where it bounds a number or a date
    # What a thing has in place of the value that was asked for, or the things that a description fits in
    # place of the one that was asked about
    instead: tuple[URIRef | Literal, ...] = ()
    # What nothing in the graph is known of, so that it can be answered neither yes nor no: the description
    # that a thing should fit, or that things have the values to be compared
    undecided: pl.Plan | None = None
    # The plan of the two values that were compared, and what it found, where they compare otherwise than was
    # asked
    compared: tuple[pl.Plan, PlanResult] | None = None


def why_nothing(kg: KnowledgeGraph, plan: pl.Plan, schema: Schema, ends: float) -> Nothing:
    """Return why a plan finds nothing, by leaving out its conditions one at a time.

    It gives up when the clock of `time.monotonic` is at `ends`.

    Example:
        >>> from mrag.rdf.terms import Triple
        >>> from mrag.stores.oxigraph import OxigraphStore
        >>> from mrag.planning import Block, Comparison, Pattern, Plan, Unknown
        >>> from mrag.planning.profiling import schema_of
        >>> kg, x, w, weighs = KnowledgeGraph(OxigraphStore()), Unknown("x"), Unknown("w"), URIRef("urn:w")
        >>> kg.insert(Triple(URIRef(f"urn:{n}"), weighs, Literal(w)) for n, w in {"a": 3, "b": 4}.items())
        2
        >>> heavy = Plan(Block((Pattern(x, weighs, w),), (Comparison(w, ">", Literal(5)),)))
        >>> why_nothing(kg, heavy, schema_of(kg), time.monotonic() + 5).nearest.result.rows[0][0]
        rdflib.term.URIRef('urn:b')
        >>> kg.close()
    """
    seek = partial(_run, kg, schema, ends, known=Found())
    if (same := _identity(plan)) is not None:
        rest = replace(plan.where, conditions=())
        found = seek(pl.Plan(rest, (pl.Column(same.left, _VALUE),), limit=_TOLD + 1))
        if found is None:
            return Nothing()
        terms = tuple(t for (t,) in found.rows if isinstance(t, URIRef))
        return Nothing(
            same, None, terms if len(terms) <= _TOLD else (), None if terms else plan.where.plans[0]
        )
    if (other := _of_another_kind(seek, plan, schema)) is not None:
        assert isinstance(other.object, URIRef)
        return Nothing(other, None, (other.object,))
    if (undecided := _undecided(seek, plan)) is not None:
        return Nothing(undecided=undecided)
    for _, (part, loose) in zip(range(_MOST), _loosened(plan), strict=False):
        if isinstance(part, pl.Pattern) and isinstance(part.subject, URIRef) and not plan.grouped:
            free = next(p.object for p in loose.where.patterns if p.object in _FREE)
            found = seek(pl.Plan(loose.where, (pl.Column(free, _VALUE),), limit=1))
            if found is None:
                break
            if found.holds:
                return Nothing(part, None, tuple(t for (t,) in found.rows if isinstance(t, URIRef | Literal)))
            continue
        asked = replace(loose, order=(), limit=None if loose.grouped else 1, offset=0, ties=False)
        found = seek(asked, settled=False)
        if found is None:
            break
        if found.holds:
            if isinstance(part, pl.Comparison) and (values := _compared(seek, loose, part)):
                return Nothing(part, compared=values)
            if value := _other_value(seek, loose, part):
                return value
            return Nothing(part, _nearest(seek, loose, part))
    return Nothing()


def _identity(plan: pl.Plan) -> pl.Comparison | None:
    """Return the condition that a thing is the one that the rest describes: "Is Rome the largest city?"."""
    where = plan.where
    if not plan.yes_or_no or where.patterns or len(where.conditions) != 1 or not where.plans:
        return None
    match where.conditions[0]:
        case pl.Comparison(pl.Unknown(), "=", URIRef()) as same:
            return same
    return None


def _undecided(seek: Seek, plan: pl.Plan) -> pl.Plan | None:
    """Return what no value to be compared is known of: "Is Ada older than Ben?", whose age nothing tells."""
    where = plan.where
    compared = [c for c in where.conditions if isinstance(c, pl.Comparison)]
    if not plan.yes_or_no or not compared:
        return None
    values = {u for c in compared for s in sides(c) for u in pl.parts(s) if isinstance(u, pl.Unknown)}
    rest = replace(where, conditions=tuple(c for c in where.conditions if c not in compared))
    bare = replace(rest, patterns=tuple(p for p in where.patterns if p.object not in values))
    known = seek(pl.Plan(rest))
    if known is None or known.holds or len(bare.patterns) == len(rest.patterns):
        return None
    if not bare.empty and not ((found := seek(pl.Plan(bare))) and found.holds):
        return None  # there is nothing whose value could be known
    for pattern in where.patterns:
        if isinstance(pattern.subject, URIRef) and pattern.object in values:
            found = seek(pl.Plan(pl.Block((pattern,))))
            if found is not None and not found.holds:
                return pl.Plan(pl.Block((pattern,)))
    return pl.Plan(rest)


def has_bounds(plan: pl.Plan) -> bool:
    """Return whether a plan has bounds of numbers or dates, to which something may come near."""
    return any(
        isinstance(c, pl.Comparison) and c.relation in _BOUNDS for c in (*plan.where.conditions, *plan.having)
    )


def _loosened(plan: pl.Plan) -> Iterator[tuple[Loosened, pl.Plan]]:
    """Yield what can be left out of a plan, bounds first, with the plan that is left."""
    where = plan.where
    for condition in where.conditions:
        rest = tuple(c for c in where.conditions if c is not condition)
        yield condition, replace(plan, where=replace(where, conditions=rest))
    for condition in plan.having:
        yield condition, replace(plan, having=tuple(c for c in plan.having if c is not condition))
    for block in where.without:
        rest_of = tuple(b for b in where.without if b is not block)
        yield block, replace(plan, where=replace(where, without=rest_of))
    for at, pattern in enumerate(where.patterns[: len(_FREE)]):
        if pattern.predicate == RDF.type or not isinstance(pattern.object, URIRef | Literal):
            continue
        # What has any value at all: "whose city is Rome" becomes "with a city".
        free = replace(pattern, object=_FREE[at])
        patterns = (*where.patterns[:at], free, *where.patterns[at + 1 :])
        yield pattern, replace(plan, where=replace(where, patterns=patterns))


def _nearest(seek: Seek, loose: pl.Plan, part: Loosened) -> Nearest | None:
    """Return what comes nearest to a bound."""
    if (
        not isinstance(part, pl.Comparison)
        or part.relation not in _BOUNDS
        or not isinstance(part.right, Literal)
    ):
        return None
    value, greatest = part.left, _BOUNDS[part.relation]
    if aggregates(value):
        things = [c.value for c in loose.columns if isinstance(c.value, pl.Unknown)]
    else:
        pattern = PlanRoles(loose).binding(inner) if isinstance(inner := plain(value), pl.Unknown) else None
        if pattern is None:
            return None
        things = [pattern.subject] if isinstance(pattern.subject, pl.Unknown) else []
    columns = (*(pl.Column(thing, thing.name) for thing in things[:1]), pl.Column(value, _VALUE))
    having = loose.having if aggregates(value) else ()
    plan = pl.Plan(loose.where, columns, (), having, (pl.Order(_VALUE, greatest),), 1)
    result = seek(plan)
    return Nearest(plan, value, greatest, result) if result is not None and result.rows else None


def values_compared(
    kg: KnowledgeGraph, plan: pl.Plan, schema: Schema, ends: float
) -> tuple[pl.Plan, PlanResult] | None:
    """Return the two values that a yes compares, with the plan that finds them; None if it compares none."""
    compared = [c for c in (*plan.where.conditions, *plan.having) if isinstance(c, pl.Comparison)]
    if not plan.yes_or_no or len(compared) != 1:
        return None
    rest = tuple(c for c in plan.where.conditions if c is not compared[0])
    loose = replace(plan, where=replace(plan.where, conditions=rest), having=())
    return _compared(partial(_run, kg, schema, ends), loose, compared[0])


def _compared(seek: Seek, loose: pl.Plan, part: pl.Comparison) -> tuple[pl.Plan, PlanResult] | None:
    """Return the two values of named things, or the two numbers, that a question for yes or no compares."""
    both = (part.left, part.right)
    if isinstance(part.left, pl.Scalar) and isinstance(part.right, pl.Scalar) and loose.yes_or_no:
        of = (part.left.plan, part.right.plan)
        rows = tuple(renamed(p, {p.columns[0].name: f"side_{n}"}) for n, p in enumerate(of))
        columns = tuple(pl.Column(pl.Unknown(p.columns[0].name), p.columns[0].name) for p in rows)
        plan = replace(loose, where=replace(loose.where, plans=(*loose.where.plans, *rows)), columns=columns)
        found = seek(plan)
        return (plan, found) if found is not None and len(found.rows) == 1 else None
    bound = [PlanRoles(loose).binding(v) for side in both if isinstance(v := plain(side), pl.Unknown)]
    named = [p for p in bound if p is not None and isinstance(p.subject, URIRef)]
    inner: dict[pl.Expression, str] = {
        pl.Unknown(p.columns[0].name): p.columns[0].name for p in loose.where.plans
    }
    counts = [s for s in both if plain(s) in inner or (isinstance(s, pl.Aggregate) and not s.where.empty)]
    if not loose.yes_or_no or max(len(named), len(counts)) != len(both):
        return None
    columns = tuple(pl.Column(v, inner.get(v, f"side_{n}")) for n, v in enumerate(map(plain, both)))
    plan = pl.Plan(loose.where, columns)
    found = seek(plan)
    # None of several values compares as was asked.
    return (plan, found) if found is not None and len(found.rows) == 1 and None not in found.rows[0] else None


def _other_value(seek: Seek, loose: pl.Plan, part: Loosened) -> Nothing | None:
    """Return the one value that a named thing has in place of the text or the number that was asked for."""
    if not loose.yes_or_no or not isinstance(part, pl.Contains | pl.Comparison):
        return None
    same = part.position == "whole" if isinstance(part, pl.Contains) else part.relation == "="
    value = plain(part.value if isinstance(part, pl.Contains) else part.left)
    pattern = PlanRoles(loose).binding(value) if same and isinstance(value, pl.Unknown) else None
    if pattern is None or not isinstance(pattern.subject, URIRef):
        return None
    found = seek(pl.Plan(pl.Block((pattern,)), (pl.Column(value, _VALUE),), limit=2))
    if found is None or len(found.rows) != 1 or not isinstance(term := found.rows[0][0], URIRef | Literal):
        return None
    return Nothing(pattern, None, (term,))


def _run(
    kg: KnowledgeGraph,
    schema: Schema,
    ends: float,
    plan: pl.Plan,
    *,
    settled: bool = True,
    known: Found | None = None,
) -> PlanResult | None:
    left = ends - time.monotonic()
    if left <= 0:
        return None
    try:
        limits = Limits(left, 5_000, 8 << 20)
        return run(kg, plan, schema=schema, limits=limits, settled=settled, known=known)
    except QueryTimeout:
        return None
    except (StoreError, ConfigError):
        return PlanResult("")
