"""What a plan binds, the part of each variable, and plans rewritten with all that ensues."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import is_
from typing import Any, TypeAlias, TypeVar

from rdflib import OWL, RDF, RDFS, Literal, URIRef

from mrag._patterns import compile_late
from mrag.errors import ConfigError
from mrag.planning import plan as pl
from mrag.planning.schema import SAID, ClassInfo, Schema
from mrag.rdf.terms import to_ox

_NAME = compile_late(r"[A-Za-z][A-Za-z0-9_]*\Z")
_DEEPEST = 40


def sides(condition: pl.Condition) -> tuple[pl.Expression, ...]:
    """Return the expressions of a condition."""
    return (condition.left, condition.right) if isinstance(condition, pl.Comparison) else (condition.value,)


def unknowns(expression: pl.Expression) -> set[pl.Unknown]:
    """Return the unknowns that an expression needs, those of its aggregates left out."""
    return {e for e in walk(expression, pl.Aggregate, pl.Scalar) if isinstance(e, pl.Unknown)}


def aggregates(expression: pl.Expression) -> list[pl.Aggregate]:
    """Return the aggregates in an expression."""
    return [e for e in walk(expression, pl.Aggregate, pl.Scalar) if isinstance(e, pl.Aggregate)]


def folds_of(plan: pl.Plan) -> list[pl.Aggregate]:
    """Return the aggregates in the columns of a plan and in its conditions on groups."""
    values = (*(c.value for c in plan.columns), *(s for h in plan.having for s in sides(h)))
    return [a for v in values for a in aggregates(v)]


def bound(block: pl.Block) -> set[pl.Unknown]:
    """Return the unknowns that every solution of a block binds."""
    found = {u for p in block.patterns for u in p.places if isinstance(u, pl.Unknown)}
    found |= {pl.Unknown(c.name) for plan in block.plans for c in plan.columns}
    for branches in block.either:
        if branches:
            found |= set.intersection(*(bound(b) for b in branches))
    return found


def reached(block: pl.Block) -> set[pl.Unknown]:
    """Return the unknowns that some solution of a block binds."""
    found = bound(block)
    for inner in (*block.branches, *block.optional):
        found |= reached(inner)
    return found


def unsure(block: pl.Block) -> set[pl.Unknown]:
    """Return the unknowns that some solutions of a block, or of one within it, leave unbound."""
    found = reached(block) - bound(block)
    for inner in (*block.branches, *block.optional, *block.without):
        found |= unsure(inner)
    return found


def all_patterns(block: pl.Block) -> list[pl.Pattern]:
    """Return the patterns of a block and of all blocks within it."""
    return [p for p in walk(block, pl.Plan) if isinstance(p, pl.Pattern)]


def mentioned(block: pl.Block) -> set[pl.Unknown]:
    """Return all unknowns of a block, those of what must not hold among them."""
    found = reached(block) | {u for c in block.conditions for s in sides(c) for u in unknowns(s)}
    for inner in (*block.branches, *block.optional, *block.without):
        found |= mentioned(inner)
    return found


def borrowed(block: pl.Block, outer: set[pl.Unknown]) -> set[pl.Unknown]:
    """Return the unknowns of the blocks around it that a block speaks of without binding them itself."""
    found = {u for c in block.conditions for s in sides(c) for u in unknowns(s)}
    for inner in block.without:
        found |= mentioned(inner)
    for inner in (*block.branches, *block.optional):
        found |= borrowed(inner, outer)
    return (found & outer) - reached(block)


def fresh(unknown: pl.Unknown, taken: Collection[pl.Unknown]) -> pl.Unknown:
    """Return an unknown that is not taken yet, of the name of another one.

    Example:
        >>> print(fresh(pl.Unknown("film"), {pl.Unknown("film"), pl.Unknown("film_2")}))
        ?film_3
    """
    free, number = unknown, 1
    while free in taken:
        number += 1
        free = pl.Unknown(f"{unknown.name}_{number}")
    return free


_PARTS = ("patterns", "conditions", "without", "either", "optional", "plans")


def merged(*blocks: pl.Block) -> pl.Block:
    """Return the block that says all that blocks say."""
    return pl.Block(*(tuple(dict.fromkeys(x for b in blocks for x in getattr(b, p))) for p in _PARTS))


def less(block: pl.Block, other: pl.Block) -> pl.Block:
    """Return what a block says beside what another one says, too."""
    return pl.Block(*(tuple(x for x in getattr(block, p) if x not in getattr(other, p)) for p in _PARTS))


def is_condition(block: pl.Block) -> bool:
    """Return whether a block only has conditions."""
    return not (block.patterns or block.either or block.without or block.optional or block.plans)


def one_of(branches: tuple[pl.Block, ...]) -> tuple[pl.Unknown, list[URIRef]] | None:
    """Return the unknown that branches make one of some things, and these; None if they say anything else."""
    terms: list[URIRef] = []
    unknowns: set[pl.Unknown] = set()
    for branch in branches:
        match branch.conditions:
            case (pl.Comparison(pl.Unknown() as left, "=", URIRef() as right),) if is_condition(branch):
                unknowns.add(left)
                terms.append(right)
            case _:
                return None
    return (unknowns.pop(), terms) if len(unknowns) == 1 else None


def positive(block: pl.Block) -> pl.Block:
    """Return what must exist for a block to hold."""
    return pl.Block(patterns=block.patterns, either=block.either, plans=block.plans)


def keys(plan: pl.Plan) -> tuple[pl.Column, ...]:
    """Return what the solutions of a grouped plan are grouped by, under names."""
    shown = tuple(c for c in plan.columns if not aggregates(c.value))
    names = {c.value for c in shown}
    return (*shown, *(pl.Column(u, u.name) for u in plan.group_by if u not in names))


def check(plan: pl.Plan) -> None:
    """Refuse a plan that says nothing sensible.

    Raises:
        ConfigError: With what is wrong with it.

    Example:
        >>> from mrag.planning import Column, Plan, Unknown
        >>> check(Plan(columns=(Column(Unknown("x"), "x"),)))
        Traceback (most recent call last):
        mrag.errors.ConfigError: Nothing binds ?x.
    """
    _check(plan, _DEEPEST)


def _check(plan: pl.Plan, depth: int) -> None:
    if depth <= 0:
        raise ConfigError("The plan is nested too deep.")
    names = [c.name for c in plan.columns]
    for name in names:
        _check_name(name)
    if len(set(names)) != len(names):
        raise ConfigError("Two columns have one name.", term=", ".join(names))
    for order in plan.order:
        if order.column not in names:
            raise ConfigError("There is no such column to order by.", term=order.column)
    if plan.offset < 0 or (plan.limit is not None and plan.limit < 0):
        raise ConfigError("Limit and offset are not negative.")
    _check_block(plan.where, set(), set(), depth)
    here = reached(plan.where)
    for unknown in plan.group_by:
        _require({unknown}, here)
    for column in plan.columns:
        folded = bool(aggregates(column.value))
        grouped = {k.value for k in keys(plan) if isinstance(k.value, pl.Unknown)}
        _check_value(column.value, plan.where, grouped if folded else here, depth, folds=True)
    known = {pl.Unknown(n) for n in names} | set(plan.group_by)
    for condition in plan.having:
        for side in sides(condition):
            _check_value(side, plan.where, known, depth, folds=True)


def _check_name(name: str) -> None:
    if not _NAME.match(name):
        raise ConfigError("A name of a plan is of letters, digits and _.", term=name)


def _check_block(block: pl.Block, outer: set[pl.Unknown], sure: set[pl.Unknown], depth: int) -> None:
    if depth <= 0:
        raise ConfigError("The plan is nested too deep.")
    for pattern in block.patterns:
        _check_pattern(pattern)
    for plan in block.plans:
        _check_joined(plan, block, depth)
    here = outer | reached(block)
    for condition in block.conditions:
        if isinstance(condition, pl.Contains):
            to_ox(Literal(condition.text))
        for side in sides(condition):
            _check_value(side, block, here, depth, folds=False)
    for branches in block.either:
        if not branches:
            raise ConfigError("There is nothing to choose from among no alternatives.")
    certain = outer | reached(positive(block))
    for inner in (*block.branches, *block.without, *block.optional):
        if inner.optional or inner.plans:
            raise ConfigError("Only the block of a plan has optional parts and plans.")
        _check_block(inner, certain, sure | bound(positive(block)), depth - 1)
    known = sure | bound(block)
    for inner in (*block.without, *block.optional):
        if inner.patterns or inner.either:
            # Whether it holds would depend on which alternative has been chosen.
            _require(mentioned(inner) & certain, known, "Not every alternative binds")


def _check_pattern(pattern: pl.Pattern) -> None:
    for place in pattern.places:
        if isinstance(place, pl.Unknown):
            _check_name(place.name)
    if pattern.narrower and not isinstance(pattern.object, URIRef):
        raise ConfigError("Only a class has narrower ones.", term=str(pattern.object))
    if pattern.repeated and (pattern.predicate == RDF.type or not isinstance(pattern.predicate, URIRef)):
        raise ConfigError("Only a named relation is followed several times.", term=str(pattern.predicate))


def _check_joined(plan: pl.Plan, block: pl.Block, depth: int) -> None:
    _check(plan, depth - 1)
    if plan.yes_or_no or plan.ties:
        raise ConfigError("A plan that is joined with others has columns and no ties.")
    computed = {pl.Unknown(c.name) for c in plan.columns if not isinstance(c.value, pl.Unknown)}
    if computed & {u for p in all_patterns(block) for u in p.places}:
        raise ConfigError("A value that is computed is in no triple.")


def _check_value(
    value: pl.Expression, block: pl.Block, known: set[pl.Unknown], depth: int, *, folds: bool
) -> None:
    for size, part in enumerate(pl.parts(value)):
        if size > 200:
            raise ConfigError("An expression is too long.")
        if isinstance(part, pl.Scalar):
            _check_scalar(part.plan, depth)
    _require(unknowns(value), known)
    for aggregate in aggregates(value):
        if not folds:
            raise ConfigError("A condition on an aggregate belongs to `having`.")
        if aggregate.value is None and (aggregate.function != "count" or not aggregate.of):
            raise ConfigError("An aggregate has nothing to fold.", term=aggregate.function)
        inner = merged(block, aggregate.where)
        _check_block(inner, set(), set(), depth - 1)
        _require(set(aggregate.of), reached(inner))
        if aggregate.value is not None:
            if aggregates(aggregate.value):
                raise ConfigError("An aggregate is folded in another one; use a Scalar.")
            _check_value(aggregate.value, inner, reached(inner), depth, folds=False)


def _check_scalar(plan: pl.Plan, depth: int) -> None:
    _check(plan, depth - 1)
    single = plan.limit == 1 and not plan.ties
    if len(plan.columns) != 1 or not (single or (plan.grouped and not keys(plan))):
        raise ConfigError(
            "A scalar is a plan with one column and one row.", hint="Fold it, or limit it to 1."
        )


def _require(wanted: set[pl.Unknown], known: set[pl.Unknown], else_: str = "Nothing binds") -> None:
    for unknown in sorted(wanted - known):
        raise ConfigError(f"{else_} {unknown}.")


Replacement: TypeAlias = Mapping[pl.Place, pl.Place]


def substituted(block: pl.Block, by: Replacement, in_conditions: Replacement | None = None) -> pl.Block:
    """Return a block with other places; what is within scalars and joined plans stays as it is.

    A literal in the place of a subject or a predicate is left out, for there are no such triples.

    Args:
        block: The block.
        by: The places by what stands there now.
        in_conditions: The same for its conditions, if other than for its patterns.

    Example:
        >>> x, likes = pl.Unknown("x"), URIRef("urn:likes")
        >>> liked = pl.Block((pl.Pattern(x, likes, pl.Unknown("y")),))
        >>> print(substituted(liked, {x: URIRef("urn:Tom")}).patterns[0])
        (urn:Tom, urn:likes, ?y)
    """
    compared = by if in_conditions is None else in_conditions

    def term(value: Any) -> Any:
        return compared.get(value, value) if isinstance(value, pl.Unknown | URIRef | Literal) else value

    def change(value: Any) -> Any:
        match value:
            case pl.Pattern(subject, predicate, last):
                s, p = by.get(subject, subject), by.get(predicate, predicate)
                s, p = subject if isinstance(s, Literal) else s, predicate if isinstance(p, Literal) else p
                return replace(value, subject=s, predicate=p, object=by.get(last, last))
            case pl.Comparison() | pl.Contains():
                return rewritten(value, term, pl.Scalar)
        return value

    return rewritten(block, change, pl.Plan, pl.Scalar)


def renamed(plan: pl.Plan, names: Mapping[str, str]) -> pl.Plan:
    """Return a plan with other names for its columns."""
    by = {pl.Unknown(old): pl.Unknown(new) for old, new in names.items()}
    return replace(
        plan,
        columns=tuple(pl.Column(c.value, names.get(c.name, c.name)) for c in plan.columns),
        having=exchange_unknowns(plan.having, by, pl.Scalar),
        order=tuple(pl.Order(names.get(o.column, o.column), o.descending) for o in plan.order),
    )


def without_ties(plan: pl.Plan) -> pl.Plan:
    """Return a plan for the same rows whose limit knows no ties, so that it can be joined with others.

    The rows that tie for the first place are those with the best value. Sums and averages of one group may
    differ in their last digit from query to query, so of several groups that tie in these only the first is
    kept, and so it is for other limits.
    """
    key = next((c for c in plan.columns if plan.order and c.name == plan.order[0].column), None)
    grouped_by = [k.value for k in keys(plan)]
    exact = key is not None and not (
        isinstance(key.value, pl.Aggregate) and key.value.function in ("sum", "average")
    )
    plain = all(isinstance(k, pl.Unknown) for k in grouped_by) or not plan.grouped
    if key is None or not exact or not plain or (plan.limit, plan.offset, len(plan.order)) != (1, 0, 1):
        return replace(plan, ties=False)
    groups = tuple(k for k in grouped_by if isinstance(k, pl.Unknown)) if plan.grouped else ()
    best = pl.Plan(plan.where, (key,), groups, plan.having, plan.order, 1)
    equal = pl.Comparison(key.value, "=", pl.Scalar(best))
    kept = tuple(c for c in plan.columns if c is not key or key.value in groups)
    if plan.grouped:
        return pl.Plan(plan.where, kept, groups, (*plan.having, equal))
    return pl.Plan(replace(plan.where, conditions=(*plan.where.conditions, equal)), kept)


class PlanRoles:
    """What is known of the unknowns of a plan.

    Attributes:
        subject: What the plan is about: what is counted or shown, else the first thing.
    """

    def __init__(self, plan: pl.Plan) -> None:
        self._plan = plan
        self._blocks = [plan.where, *(a.where for a in folds_of(plan))]
        self._patterns = [p for b in self._blocks for p in b.patterns]
        self._optional = [p for b in plan.where.optional for p in b.patterns]
        self.subject = self._main()

    def _main(self) -> pl.Unknown | None:
        """Return what the plan is about: what is counted or shown, else the first thing."""
        folds = [u for c in self._plan.columns for a in aggregates(c.value) for u in a.of]
        shown = [c.value for c in self._plan.columns if isinstance(c.value, pl.Unknown)]
        subjects = [p.subject for p in self._patterns if isinstance(p.subject, pl.Unknown)]
        for unknown in (*folds, *shown, *subjects):
            if unknown in subjects:
                return unknown
        return next(iter(folds or shown), None)

    def type(self, unknown: pl.Unknown) -> URIRef | None:
        """Return the class of an unknown."""
        for p in self._patterns:
            if p.subject == unknown and p.predicate == RDF.type and isinstance(p.object, URIRef):
                return p.object
        for column, inner in ((c, plan) for plan in self._plan.where.plans for c in plan.columns):
            if column.name == unknown.name and isinstance(column.value, pl.Unknown):
                return PlanRoles(inner).type(column.value)
        return None

    def said_of(self, unknown: pl.Unknown) -> list[str]:
        """Return the properties that an unknown has, wherever the plan says so."""
        blocks = [*self._blocks, *(w for b in self._blocks for w in b.without)]
        return [str(p.predicate) for b in blocks for p in b.patterns if p.subject == unknown]

    def is_joined(self, unknown: pl.Unknown) -> bool:
        """Return whether an unknown is a column of a plan that is joined with this one."""
        return any(c.name == unknown.name for plan in self._plan.where.plans for c in plan.columns)

    def is_kind(self, pattern: pl.Pattern) -> bool:
        """Return whether a pattern says the class that an unknown is called by."""
        return isinstance(pattern.subject, pl.Unknown) and self.type(pattern.subject) == pattern.object

    def binding(self, unknown: pl.Unknown) -> pl.Pattern | None:
        """Return the pattern that an unknown is the value of."""
        every = (*self._patterns, *self._optional)
        return next((p for p in every if p.object == unknown and p.predicate != RDF.type), None)

    def is_optional(self, value: pl.Expression) -> bool:
        """Return whether a value is one of an unknown that only an optional block binds."""
        optional = {p.object for p in self._optional} - {p.object for p in self._patterns}
        return any(part in optional for part in pl.parts(value))

    def number(self, unknown: pl.Unknown) -> int:
        """Return how many others that are called like an unknown the plan speaks of before it."""

        def called(u: pl.Unknown) -> object:
            bound = self.binding(u)
            if bound is not None:
                return self.type(u) or (bound.subject, bound.predicate)
            return self.type(u) or (u if self.is_joined(u) else frozenset(self.said_of(u)))

        every = (place for p in (*self._patterns, *self._optional) for place in (p.subject, p.object))
        first = (self.subject,) if self.subject is not None else ()
        ordered = dict.fromkeys((*first, *(place for place in every if isinstance(place, pl.Unknown))))
        alike = [u for u in ordered if called(u) == called(unknown)]
        return alike.index(unknown) if unknown in alike else 0

    def is_free(self, place: pl.Place) -> bool:
        """Return whether nothing else is said of a value."""
        spoken = [c for b in self._blocks for c in b.conditions]
        return self.mentions(place) == 1 and not any(place in pl.parts(s) for c in spoken for s in sides(c))

    def mentions(self, place: pl.Place) -> int:
        """Return in how many patterns something stands."""
        return sum(place in (p.subject, p.object) for p in self._patterns)

    def is_shown(self, unknown: pl.Unknown) -> bool:
        """Return whether a column shows an unknown."""
        return any(unknown in pl.parts(c.value) for c in self._plan.columns)

    def compared(self) -> set[pl.Pattern]:
        """Return what named things have, where a comparison of their values says that they have it."""
        where = self._plan.where
        ends = {u for c in where.conditions for s in sides(c) for u in pl.parts(s)}
        found = {p for p in where.patterns if isinstance(p.subject, URIRef) and p.object in ends}
        return found if len(found) > 1 else set()

    def only(self, condition: pl.Condition, unknown: pl.Unknown) -> bool:
        """Return whether a condition bounds the value of an unknown by something fixed."""
        if isinstance(condition, pl.Contains):
            return plain(condition.value) == unknown
        fixed = isinstance(condition.right, URIRef | Literal | pl.Scalar)
        return plain(condition.left) == unknown and fixed


def plain(value: pl.Expression) -> pl.Expression:
    """Return an expression without its reading as a number or a date."""
    return plain(value.value) if isinstance(value, pl.Number | pl.DatePart) else value


def unit_of_days(value: pl.Expression | None) -> str:
    """Return the unit that a span of time is counted in, such as "hours"; "" for other values.

    Example:
        >>> span = pl.Days(pl.Unknown("a"), pl.Unknown("b"))
        >>> unit_of_days(pl.Arithmetic(span, "*", Literal(24)))
        'hours'
    """
    match value:
        case pl.Days():
            return "days"
        case pl.Arithmetic(pl.Days(), operation, Literal() as factor):
            return str(SAID["counted_in"].get(f"{operation} {factor}", ""))
        case pl.Number(inner) | pl.Aggregate(function="average" | "sum" | "minimum" | "maximum", value=inner):
            return unit_of_days(inner)
        case _:
            return ""


Part = TypeVar("Part")


def _names(value: object) -> Iterable[str]:
    """Return the names of the fields of a dataclass; none for another value."""
    return getattr(type(value), "__dataclass_fields__", ())


def walk(part: object, *but: type) -> Iterator[object]:
    """Yield a plan or a part of one and all within it, in the order in which it is written.

    Args:
        part: The plan or the part.
        but: What is yielded, but nothing within it.
    """
    yield part
    if isinstance(part, tuple):
        for inner in part:
            yield from walk(inner, *but)
    elif not isinstance(part, but):
        for name in _names(part):
            yield from walk(getattr(part, name), *but)


def rewritten(part: Part, change: Callable[[Any], Any], *but: type) -> Part:
    """Return a plan or a part of one with each of its values changed, what is innermost first.

    Args:
        part: The plan or the part.
        change: Returns what stands in the place of a value: an unknown, a pattern, a condition, a block.
        but: What stays as it is.

    Example:
        >>> x, cat = pl.Unknown("x"), URIRef("urn:Cat")
        >>> block = pl.Block((pl.Pattern(x, RDF.type, cat),))
        >>> print(rewritten(block, lambda v: pl.Unknown("y") if v == x else v).patterns[0].subject)
        ?y
    """

    def inside(value: Any) -> Any:
        if isinstance(value, tuple):
            many = tuple(map(inside, value))
            return value if all(map(is_, many, value)) else many
        if isinstance(value, but):
            return value
        if not isinstance(value, pl.Unknown) and (names := _names(value)):
            parts = ((name, getattr(value, name)) for name in names)
            changed = {name: new for name, old in parts if (new := inside(old)) is not old}
            value = replace(value, **changed) if changed else value
        return change(value)

    found: Part = inside(part)
    return found


def exchange_unknowns(part: Part, names: Mapping[pl.Unknown, pl.Unknown], *but: type) -> Part:
    """Return a plan or a part of one with other unknowns; what is of some types stays as it is."""
    return rewritten(part, lambda v: names.get(v, v) if isinstance(v, pl.Unknown) else v, *but)


def with_subclasses(plan: pl.Plan, schema: Schema) -> pl.Plan:
    """Return a plan in which things of subclasses are things of the class, where no triple says that."""
    plan = _stated(plan, schema)
    if not any(info.narrower for info in schema.classes.values()):
        return plan

    def change(value: Any) -> Any:
        if not isinstance(value, pl.Pattern) or value.predicate != RDF.type:
            return value
        info = schema.classes.get(str(value.object))
        narrower = tuple(map(URIRef, info.narrower if info is not None else ()))
        return value if value.narrower == narrower else replace(value, narrower=narrower)

    return rewritten(plan, change)


def with_classes(plan: pl.Plan, said_by: Mapping[tuple[str, str], str]) -> pl.Plan:
    """Return a plan in which classes and restrictions of properties are said as people would say them.

    Whatever says of which class things are does so as `rdf:type` does.

    Args:
        plan: A plan.
        said_by: The classes that other triples tell, as `Schema.said_by` has them.
    """

    def change(value: Any) -> Any:
        if isinstance(value, pl.Pattern):
            cls = said_by.get((str(value.predicate), str(value.object)))
            return value if cls is None else replace(value, predicate=RDF.type, object=URIRef(cls))
        if isinstance(value, pl.Block) and any(p.predicate == OWL.onProperty for p in value.patterns):
            return replace(value, patterns=tuple(_unrestricted(value.patterns)))
        return value

    return rewritten(plan, change)


def _unrestricted(patterns: Sequence[pl.Pattern]) -> Iterator[pl.Pattern]:
    """Yield triples in which what is said by a restriction of a property is said by the property itself."""
    on = {p.subject: p.object for p in patterns if p.predicate == OWL.onProperty}
    of = {p.object: p.subject for p in patterns if p.predicate == RDFS.subClassOf and p.object in on}
    for p in patterns:
        if p.subject in of and p.predicate != OWL.onProperty:
            yield pl.Pattern(of[p.subject], on[p.subject], p.object)  # type: ignore[arg-type]
        elif p.subject not in of and p.object not in of:
            yield p


_Between: TypeAlias = dict[tuple[pl.Pattern, int], pl.Unknown]
"""Unknowns for what lies between, by the triple that is told and the step."""


def _stated(plan: pl.Plan, schema: Schema) -> pl.Plan:
    """Return a plan of triples as they are stated: over restrictions, and over what has no name."""
    known: _Between = {}

    def stated(p: pl.Pattern) -> tuple[pl.Pattern, ...]:
        if (cls := _made_class(p, schema)) is not None:
            kind = (pl.Pattern(p.subject, RDF.type, URIRef(cls.kind)),) if cls.kind else ()
            had = () if cls.way[0][0] == "!" else tuple(_had(p, cls.way, known))
            narrower = tuple(map(URIRef, cls.narrower))
            return (*kind, *(replace(q, narrower=narrower) if narrower else q for q in had))
        info = schema.properties.get(str(p.predicate))
        if info is not None and info.way:
            return tuple(_along(p, info.way, known))
        if info is None or not info.through:
            return (p,)
        some = known.setdefault((p, 0), pl.Unknown(f"restriction{len(known)}"))
        return (
            pl.Pattern(p.subject, RDFS.subClassOf, some),
            pl.Pattern(some, OWL.onProperty, URIRef(info.iri)),
            pl.Pattern(some, URIRef(info.through), p.object),
        )

    def change(value: Any) -> Any:
        if not isinstance(value, pl.Block):
            return value
        lacking = tuple(pl.Block((*some,)) for p in value.patterns if (some := [*_lacked(p, schema, known)]))
        patterns = tuple(q for p in value.patterns for q in stated(p))
        if patterns == value.patterns:
            return value
        return replace(value, patterns=patterns, without=(*value.without, *lacking))

    return rewritten(plan, change)


def _along(p: pl.Pattern, way: Sequence[str], known: _Between) -> Iterator[pl.Pattern]:
    """Yield the triples by which something is said over others, as `schema.PropertyInfo.way` tells."""
    at, last = p.subject, max((n for n, step in enumerate(way) if "\t" not in step), default=-1)
    for n, step in enumerate(way):
        iri, _, term = step.removeprefix("^").partition("\t")
        if term:
            yield pl.Pattern(at, URIRef(iri), URIRef(term))
            continue
        between = pl.Unknown(f"between{len(known)}")
        to: Any = p.object if n == last else known.setdefault((p, n), between)
        yield pl.Pattern(to, URIRef(iri), at) if step[0] == "^" else pl.Pattern(at, URIRef(iri), to)
        at = to


def _made_class(p: pl.Pattern, schema: Schema) -> ClassInfo | None:
    """Return the class that a triple puts something in, if no triple of a graph does."""
    info = schema.classes.get(str(p.object)) if p.predicate == RDF.type else None
    return info if info is not None and info.way else None


def _had(p: pl.Pattern, way: Sequence[str], known: _Between) -> Iterator[pl.Pattern]:
    end = known.setdefault((p, -1), pl.Unknown(f"between{len(known)}"))
    return _along(replace(p, object=end), [step.removeprefix("!") for step in way], known)


def _lacked(p: pl.Pattern, schema: Schema, known: _Between) -> Iterator[pl.Pattern]:
    """Yield what something must not have to be in the class that a triple puts it in."""
    info = _made_class(p, schema)
    if info is not None and info.way[0][0] == "!":
        yield from _had(p, info.way, known)
