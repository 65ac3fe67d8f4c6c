"""Plans as SPARQL, composed of typed patterns, the same on every engine."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import pyoxigraph as ox
from rdflib import OWL, RDF, Literal, URIRef

from mrag.graph.naming import Twins
from mrag.planning import plan as pl
from mrag.planning.schema import PropertyInfo, Schema
from mrag.planning.scopes import (
    aggregates,
    all_patterns,
    borrowed,
    bound,
    check,
    folds_of,
    is_condition,
    keys,
    mentioned,
    merged,
    one_of,
    positive,
    reached,
    unknowns,
    unsure,
)
from mrag.planning.values import (
    DECIMAL,
    FoldedAs,
    Form,
    Given,
    Kind,
    ValueCompiler,
    bind,
    fold_as,
    kind_of,
    text,
)
from mrag.rdf import patterns as sparql
from mrag.rdf.patterns import to_sparql as printed
from mrag.rdf.terms import NUMBERS, XSD, to_ox

# Single precision shows as 3.0999999 when it is made longer; its text does not.
_NUMBERS: Final = frozenset(str(n) for n in NUMBERS) - {XSD + "float"}


def forms(blocks: Iterable[pl.Block], schema: Schema) -> dict[pl.Unknown, Form]:
    """Return the unknowns whose values are all known to be of one form."""
    forms_of: dict[pl.Unknown, set[Form]] = {}
    for block in blocks:
        for column in (c for plan in block.plans for c in plan.columns):
            # What is computed is a number; what is read is text first.
            form: Form = "number" if kind_of(column.value) == "number" else "any"
            forms_of.setdefault(pl.Unknown(column.name), set()).add(form)
        for pattern in all_patterns(block):
            known = schema.properties.get(str(pattern.predicate)) if _is_named(pattern) else None
            for place in (pattern.subject, pattern.predicate):
                if isinstance(place, pl.Unknown):
                    forms_of.setdefault(place, set()).add("any")
            if isinstance(pattern.object, pl.Unknown):
                forms_of.setdefault(pattern.object, set()).add(_form(known))
    return {u: next(iter(f)) for u, f in forms_of.items() if len(f) == 1 and "any" not in f}


def without_implied(patterns: Sequence[pl.Pattern], schema: Schema | None) -> list[pl.Pattern]:
    """Return patterns without the classes that things are in because of what else the patterns say of them.

    Example:
        >>> from mrag.planning import Pattern, Unknown
        >>> order, who = Unknown("order"), Unknown("who")
        >>> by = PropertyInfo("urn:by", ("by",), subjects_in=(("urn:Order",),))
        >>> both = Pattern(order, RDF.type, URIRef("urn:Order")), Pattern(order, URIRef("urn:by"), who)
        >>> print(*without_implied(both, Schema({}, {"urn:by": by}, ())))
        (?order, urn:by, ?who)
    """
    if schema is None:
        return list(patterns)
    return [p for p in patterns if not _is_implied(p, patterns, schema)]


def _is_named(pattern: pl.Pattern) -> bool:
    return isinstance(pattern.predicate, URIRef)


def _form(info: PropertyInfo | None) -> Form:
    if info is None or not info.datatypes:
        return "any"
    if _NUMBERS.issuperset(info.datatypes):
        return "number"
    if not info.plain_dates:
        return "any"
    return "date" if info.datatype == XSD + "date" else "time"


def _is_implied(pattern: pl.Pattern, patterns: Iterable[pl.Pattern], schema: Schema) -> bool:
    thing = pattern.subject
    if pattern.predicate != RDF.type or not isinstance(pattern.object, URIRef):
        return False
    classes = {str(c) for c in (pattern.object, *pattern.narrower)}
    for other in patterns:
        info = schema.properties.get(str(other.predicate)) if _is_named(other) else None
        if info is None or other.predicate == RDF.type:
            continue
        sets = info.subjects_in if other.subject == thing else ()
        sets += info.objects_in if other.object == thing else ()
        if any(classes.issuperset(one) for one in sets):
            return True
    return False


def size_of(pattern: pl.Pattern, schema: Schema, given: Collection[pl.Unknown] = ()) -> int:
    """Return about how many triples a pattern matches, for each value of the unknowns that are given."""
    ends = (pattern.subject, pattern.object)
    fixed = tuple(not isinstance(end, pl.Unknown) or end in given for end in ends)
    if pattern.predicate == RDF.type and fixed == (False, True):
        known = schema.classes.get(str(pattern.object))
        narrower = [schema.classes.get(str(c)) for c in pattern.narrower]
        return max([info.count for info in (known, *narrower) if info is not None], default=0)
    info = schema.properties.get(str(pattern.predicate)) if isinstance(pattern.predicate, URIRef) else None
    if info is None:
        return 1 if all(fixed) else 10 if any(fixed) else schema.triples
    match fixed:
        case (True, True):
            return 1
        case (True, False):
            return max(1, info.triples // max(1, info.subjects))
        case (False, True):
            return max(1, info.triples // max(1, info.objects))
        case _:
            return info.triples


def solutions_of(block: pl.Block, schema: Schema) -> int:
    """Return about how many solutions the patterns of a block have, at most."""
    for branches in block.either:
        if (one := one_of(branches)) is not None:
            about = [p for p in block.patterns if one[0] in (p.subject, p.object) and p.predicate != RDF.type]
            return len(branches) * max((size_of(p, schema, one[:1]) for p in about), default=1)
    fixed = [size_of(p, schema) for p in block.patterns if is_given(p)]
    return min(fixed) if fixed else max((size_of(p, schema) for p in block.patterns), default=0)


def work_of(plan: pl.Plan, schema: Schema) -> int:
    """Return about how many triples are gone through to compute a plan."""
    folded = {a.where for a in folds_of(plan)} or {pl.Block()}
    return sum(_work_of(merged(plan.where, where), schema) for where in folded)


def _work_of(block: pl.Block, schema: Schema) -> int:
    # What a given thing leads to is little, but not what is only compared with that.
    own = 0
    for linked in _link(without_implied(block.patterns, schema)):
        if any(map(is_given, linked)):
            own += solutions_of(replace(block, patterns=linked), schema) * len(linked)
        else:
            own += sum(size_of(p, schema) for p in linked)
    inner = (*block.without, *block.optional, *block.branches)
    return own + sum(_work_of(b, schema) for b in inner) + sum(work_of(p, schema) for p in block.plans)


def _link(patterns: Sequence[pl.Pattern]) -> list[tuple[pl.Pattern, ...]]:
    """Return patterns in groups that share no unknown."""
    groups: list[tuple[pl.Pattern, ...]] = []
    for pattern in patterns:
        near = [g for g in groups if any(_unknowns(p) & _unknowns(pattern) for p in g)]
        groups = [g for g in groups if g not in near] + [(*(p for g in near for p in g), pattern)]
    return groups


def is_given(pattern: pl.Pattern) -> bool:
    """Return whether a pattern names the thing or the value that it is about; a class says little."""
    named = isinstance(pattern.object, URIRef | Literal) and pattern.predicate != RDF.type
    return named or isinstance(pattern.subject, URIRef)


def is_told_once(block: pl.Block, by: Collection[pl.Unknown], schema: Schema | None) -> bool:
    """Return whether no two solutions of a block are alike in some unknowns."""
    if schema is None or not schema.exact or block.either or block.optional or block.plans:
        return False
    patterns = without_implied(block.patterns, schema)
    known, size = set(by), -1
    while size != len(known):
        size = len(known)
        for p in patterns:
            info = schema.properties.get(str(p.predicate))
            told = p.subject in known or not isinstance(p.subject, pl.Unknown)
            if told and info is not None and info.functional and not p.repeated:
                known |= _unknowns(p)
    return not any(p.narrower or not _unknowns(p) <= known for p in patterns)


def _unknowns(pattern: pl.Pattern) -> set[pl.Unknown]:
    return {u for u in pattern.places if isinstance(u, pl.Unknown)}


_SAME = ox.NamedNode(str(OWL.sameAs))


def doubles(patterns: Iterable[pl.Pattern], schema: Schema | None) -> list[pl.Unknown]:
    """Return the unknowns of patterns that may take several names of a thing, in order.

    Classes, properties, values and what is said to be the same are left out.
    """
    repeated: dict[pl.Unknown, None] = {}
    for p in patterns:
        if p.predicate == OWL.sameAs:
            continue
        if isinstance(p.subject, pl.Unknown):
            repeated[p.subject] = None
        info = schema.properties.get(str(p.predicate)) if schema is not None else None
        valued = p.predicate == RDF.type or (info is not None and info.kind != "entity")
        if isinstance(p.object, pl.Unknown) and not valued:
            repeated[p.object] = None
    return list(repeated)


def better(thing: ox.Variable, twin: ox.Variable, twins: Twins) -> list[sparql.Pattern]:
    """Return the patterns of another name of a thing that stands for it: one at home, then the least.

    Example:
        >>> from mrag.rdf.patterns import to_sparql
        >>> x, y = sparql.var("x"), sparql.var("y")
        >>> print(to_sparql(sparql.Ask(sparql.Group(tuple(better(x, y, Twins("", True)))))))
        ASK { ?x <http://www.w3.org/2002/07/owl#sameAs> ?y . FILTER(str(?y) < str(?x)) }
    """

    def key(name: ox.Variable) -> sparql.Expression:
        text = sparql.Call("str", (name,))
        if not twins.home:
            return text
        own = sparql.Call("strstarts", (text, ox.Literal(twins.home)))
        rank = sparql.Call("if", (own, ox.Literal("0"), ox.Literal("1")))
        return sparql.Call("concat", (rank, text))

    way = _SAME if twins.closed else sparql.Repeated(sparql.Alternative((_SAME, sparql.Inverse(_SAME))))
    return [sparql.TriplePattern(thing, way, twin), sparql.Filter(sparql.Compare(key(twin), "<", key(thing)))]


def patterns_of(patterns: Iterable[pl.Pattern], thing: pl.Unknown, name: pl.Unknown) -> list[pl.Pattern]:
    """Return what patterns say of a thing, said of another name of it.

    Example:
        >>> from mrag.planning import Pattern, Unknown
        >>> x, y = Unknown("x"), Unknown("y")
        >>> [str(p) for p in patterns_of([Pattern(x, URIRef("urn:p"), URIRef("urn:o"))], x, y)]
        ['(?y, urn:p, urn:o)']
    """
    return [
        pl.Pattern(*(name if q == thing else q for q in p.places), narrower=p.narrower, repeated=p.repeated)  # type: ignore[arg-type, misc]
        for p in patterns
        if thing in (p.subject, p.object)
    ]


NOTHING = pl.Block()


@dataclass
class BlockCompiler:
    """Compiles blocks."""

    values: ValueCompiler  # Compiles their expressions
    fresh: Callable[[str], ox.Variable]  # Makes a variable that nothing else is called
    # Returns the sub-selects of the scalars that were compiled since it was last asked
    scalars: Callable[[], list[sparql.Pattern]]
    plan: Callable[[pl.Plan], sparql.Pattern]  # Compiles a plan that a block is joined with
    schema: Schema | None = None  # What is known of the graph
    twins: Twins | None = None  # Where things have several names, which of them an unknown takes

    def block(self, block: pl.Block, around: pl.Block = NOTHING) -> list[sparql.Pattern]:
        """Return the patterns of a block, to be joined.

        What stands around it must exist for the blocks around it to hold; its unknowns may be spoken of.
        """
        body: list[sparql.Pattern] = [self.plan(plan) for plan in block.plans]
        patterns = without_implied(block.patterns, self.schema)
        for pattern in patterns:
            body += self._pattern(pattern)
        for branches in block.either:
            # What is being compiled must not be said in itself.
            outer = merged(around, positive(block))
            others = tuple(e for e in outer.either if e != branches)
            either = self._either(branches, replace(outer, either=others))
            # Behind patterns, values would be joined with all that these match.
            body = [*either, *body] if isinstance(either[0], sparql.Values) else [*body, *either]
        here = merged(around, positive(block))
        for inner in block.without:
            body += self._without(inner, here)
        body += [sparql.Optional(self._inner(inner, here)) for inner in block.optional]
        return body + self.filters(block.conditions) + self._once(patterns)

    def _once(self, patterns: Sequence[pl.Pattern]) -> list[sparql.Pattern]:
        """Return that no other name of a thing stands for it, of those that patterns find."""
        body: list[sparql.Pattern] = []
        for unknown in doubles(patterns, self.schema) if self.twins is not None else ():
            assert self.twins is not None
            twin = pl.Unknown(self.fresh("twin").value)
            parts = better(self.values.variable(unknown), self.values.variable(twin), self.twins)
            for p in () if self.twins.closed else patterns_of(patterns, unknown, twin):
                parts += self._pattern(p, looked_up=True)
            body.append(sparql.Filter(sparql.Negation(sparql.Holds(sparql.Group(tuple(parts))))))
        return body

    def filters(self, conditions: tuple[pl.Condition, ...]) -> list[sparql.Pattern]:
        """Return conditions as filters, behind the sub-selects of their scalars."""
        filters = [sparql.Filter(self.values.condition(c)) for c in conditions]
        return [*self.scalars(), *filters]

    def _pattern(self, pattern: pl.Pattern, *, looked_up: bool = False) -> list[sparql.Pattern]:
        s, p, o = (self.node(t) for t in pattern.places)
        if pattern.repeated:
            return [sparql.TriplePattern(s, sparql.Repeated(p), o)]  # type: ignore[arg-type]  # checked
        if not pattern.narrower:
            return [sparql.TriplePattern(s, p, o)]
        # Whatever a thing is said to be in, what is selected is distinct.
        kind = self.fresh("kind")
        classes = tuple(ox.NamedNode(str(c)) for c in (pattern.object, *pattern.narrower))
        if looked_up:
            # Engines begin with a class that a pattern names, however many members it has.
            return [sparql.TriplePattern(s, p, kind), sparql.Filter(sparql.In(kind, classes))]
        return [sparql.Values((kind,), tuple((c,) for c in classes)), sparql.TriplePattern(s, p, kind)]

    def node(self, place: pl.Place) -> sparql.Node:
        """Return a term or the variable of an unknown."""
        if isinstance(place, URIRef | Literal):
            return to_ox(place)  # type: ignore[return-value]  # neither is a blank node
        return self.values.variable(place)

    def _inner(self, block: pl.Block, around: pl.Block) -> sparql.Group:
        """Return a block within others; what it borrows from them is said in it again."""
        if wanted := borrowed(block, reached(around)):
            return sparql.Group(tuple(self.block(merged(_lend(wanted, around), block))))
        return sparql.Group(tuple(self.block(block, around)))

    def _either(self, branches: tuple[pl.Block, ...], around: pl.Block) -> list[sparql.Pattern]:
        outer = reached(around)
        if (chosen := one_of(branches)) is not None and chosen[0] in bound(around):
            unknown, terms = chosen
            nodes = tuple(ox.NamedNode(str(term)) for term in terms)
            if any(map(is_given, around.patterns)) or _is_led_to(unknown, around):
                # What is given leads to few things, of which each is looked at.
                return [sparql.Filter(sparql.In(self.values.variable(unknown), nodes))]
            return [sparql.Values((self.values.variable(unknown),), tuple((node,) for node in nodes))]
        if all(is_condition(b) and mentioned(b) <= bound(around) for b in branches):
            tests = tuple(_all([self.values.condition(c) for c in b.conditions]) for b in branches)
            return [*self.scalars(), sparql.Filter(sparql.AnyOf(tests))]
        # A branch that left unbound what others share would be joined with anything, slowly or wrongly.
        shared = {u for b in branches for u in reached(b) | borrowed(b, outer)} & outer
        whole = [
            b if bound(b) and shared <= bound(b) else merged(_lend(shared - bound(b), around), b)
            for b in branches
        ]
        union = sparql.Union(tuple(sparql.Group(tuple(self.block(b, around))) for b in whole))
        names = sorted({u for b in branches for u in reached(b)} | shared)
        if not names:
            return [union]
        # Engines are slow to join a union; once its solutions are known they are not.
        return [
            sparql.SubSelect(
                sparql.Select(tuple(self.values.variable(u) for u in names), union, distinct=True)
            )
        ]

    def _without(self, block: pl.Block, around: pl.Block) -> list[sparql.Pattern]:
        outer = reached(around)
        shared = mentioned(block) & outer
        if not shared:
            return self._none(block, around)
        if is_condition(block):
            stated = _all([self.values.condition(c) for c in block.conditions])
            denied: sparql.Expression = sparql.Negation(stated)
            if not shared <= bound(around):
                # Engines differ in what the negation of what has no value is.
                denied = sparql.Compare(
                    sparql.Call("if", (stated, ox.Literal(1), ox.Literal(0))), "=", ox.Literal(0)
                )
            return [*self.scalars(), sparql.Filter(denied)]
        # MINUS takes nothing away where no variable is bound on both sides.
        clear = shared <= bound(block) & bound(around) and not borrowed(block, outer)
        body = block if clear else merged(_lend(shared, around), block)
        return [sparql.Minus(sparql.Group(tuple(replace(self, twins=None).block(body, around))))]

    def _none(self, block: pl.Block, around: pl.Block) -> list[sparql.Pattern]:
        """Return that a block that shares nothing with others has no solution."""
        count, body = self.fresh("found"), sparql.Group(tuple(self.block(block, around)))
        names = sorted(reached(block))
        if names:
            one = sparql.Select((self.values.variable(names[0]),), body, limit=1)
            body = sparql.Group((sparql.SubSelect(one),))
        counted = sparql.Select(((sparql.Count(), count),), body)
        return [sparql.SubSelect(counted), sparql.Filter(sparql.Compare(count, "=", ox.Literal(0)))]


def _is_led_to(unknown: pl.Unknown, around: pl.Block) -> bool:
    """Return whether an unknown is the class of things that another choice names."""
    kinds = {p.object for p in around.patterns if p.predicate == RDF.type}
    chosen = {one[0] for branches in around.either if (one := one_of(branches)) is not None}
    return unknown in kinds and bool(chosen - kinds)


def _all(conditions: list[sparql.Expression]) -> sparql.Expression:
    return conditions[0] if len(conditions) == 1 else sparql.AllOf(tuple(conditions))


def _lend(wanted: set[pl.Unknown], around: pl.Block) -> pl.Block:
    """Return as much of what stands around a block as binds some unknowns."""
    patterns = pl.Block(patterns=around.patterns, plans=around.plans)
    return patterns if wanted & reached(around) <= bound(patterns) else around


_FOLDS: dict[pl.Fold, sparql.FoldName] = {"sum": "SUM", "average": "AVG", "minimum": "MIN", "maximum": "MAX"}
_Key = tuple[tuple[pl.Unknown, ...], pl.Expression | None, pl.Block, FoldedAs]


@dataclass
class _Folding:
    """One sub-select: what is folded, and the variables of the results by function."""

    aggregate: pl.Aggregate
    results: dict[pl.Fold, ox.Variable] = field(default_factory=dict)


class FoldCompiler:
    """Compiles the aggregates of a plan."""

    def __init__(self, blocks: BlockCompiler, fresh: Callable[[str], ox.Variable], plan: pl.Plan) -> None:
        self._blocks, self._fresh, self._plan = blocks, fresh, plan
        self._keys: dict[ox.Variable, pl.Expression] = {}
        for key in keys(plan):
            value = key.value
            variable = blocks.values.variable(value) if isinstance(value, pl.Unknown) else None
            fits = variable is not None and variable not in self._keys
            self._keys[variable if fits and variable is not None else sparql.var(key.name)] = value
        self._foldings: dict[_Key, _Folding] = {}
        columns = {c.value: c.name for c in plan.columns}
        for aggregate in folds_of(plan):
            folding = self._foldings.setdefault(_key(aggregate), _Folding(aggregate))
            if aggregate.function not in folding.results:
                direct = aggregate in columns and self._is_direct(aggregate)
                folding.results[aggregate.function] = (
                    sparql.var(columns[aggregate]) if direct else fresh(aggregate.function)
                )
        for folding in self._foldings.values():
            if not self._keys and "count" not in folding.results:
                folding.results["count"] = fresh("count")

    def patterns(self) -> list[sparql.Pattern]:
        """Return the sub-selects, joined so that each group has a solution."""
        complete = [f for f in self._foldings.values() if not self._keys or self._is_complete(f.aggregate)]
        patterns: list[sparql.Pattern] = [self._select(f) for f in complete]
        if not patterns:
            where = _group(self._solutions(self._plan.where))
            patterns.append(sparql.SubSelect(sparql.Select((*self._keys,), where, distinct=True)))
        others = [f for f in self._foldings.values() if f not in complete]
        return patterns + [sparql.Optional(self._select(f)) for f in others]

    def value(self, aggregate: pl.Aggregate) -> Given:
        """Return the value of an aggregate, where `patterns` stand."""
        results = self._foldings[_key(aggregate)].results
        variable = results[aggregate.function]
        if aggregate.function == "count":
            if self._is_direct(aggregate):
                return Given(variable)
            return Given(sparql.Call("coalesce", (variable, ox.Literal(0))))
        if self._keys:
            return Given(variable, (sparql.Call("bound", (variable,)),))
        # Engines have zeros for the sum and the average of nothing.
        return Given(variable, (sparql.Compare(results["count"], ">", ox.Literal(0)),))

    def _is_direct(self, aggregate: pl.Aggregate) -> bool:
        """Return whether the result of the sub-select is the value as it stands."""
        if aggregate.function != "count":
            return bool(self._keys)
        return not self._keys or self._is_complete(aggregate)

    def _is_complete(self, aggregate: pl.Aggregate) -> bool:
        """Return whether every group has a value."""
        value = aggregate.value
        if isinstance(value, pl.Number) and self._blocks.values.form(value.value) == "number":
            value = None  # each of its values is a number
        named = {*aggregate.of, *(unknowns(aggregate.value) if aggregate.value is not None else ())}
        return value is None and aggregate.where.empty and named <= bound(self._plan.where)

    def _select(self, folding: _Folding) -> sparql.SubSelect:
        aggregate, results = folding.aggregate, folding.results
        of = tuple(self._blocks.values.variable(u) for u in aggregate.of)
        block = merged(self._plan.where, aggregate.where)
        # To tell solutions apart takes as long as to find them.
        told = {k for k in self._keys.values() if isinstance(k, pl.Unknown)}
        once = is_told_once(block, {*aggregate.of, *told}, self._blocks.schema)
        if aggregate.value is None and len(of) == 1:
            # Engines look at each value that they count, but not at solutions.
            all_ = once and aggregate.of[0] in bound(block)
            counted = sparql.Count() if all_ else sparql.Count(of[0], distinct=not once)
            return self._group(((counted, results["count"]),), self._solutions(block))
        names, rows = [*self._keys, *of], self._solutions(block)
        certain, value = bound(block), self._fresh("folded")
        for unknown in aggregate.of:
            rows += _present(unknown, self._blocks.values.variable(unknown), certain)
        if aggregate.value is not None:
            given = self._blocks.values.folded(aggregate.value, fold_as(aggregate))
            rows += [*self._blocks.scalars(), *(sparql.Filter(g) for g in given.guards)]
            rows += [sparql.Bind(given.value, value), *_present(aggregate.value, value, certain)]
            names.append(value)
        distinct = sparql.Select(tuple(dict.fromkeys(names)), _group(rows), distinct=not once)
        folds = tuple(
            (sparql.Count() if name == "count" else sparql.Folded(_FOLDS[name], value), variable)
            for name, variable in results.items()
        )
        return self._group(folds, [sparql.SubSelect(distinct)])

    def _group(
        self, folds: tuple[tuple[sparql.Expression, ox.Variable], ...], rows: list[sparql.Pattern]
    ) -> sparql.SubSelect:
        return sparql.SubSelect(sparql.Select((*self._keys, *folds), _group(rows), group_by=(*self._keys,)))

    def _solutions(self, block: pl.Block) -> list[sparql.Pattern]:
        """Return the solutions of a block, with the keys of their groups."""
        values, patterns, certain = self._blocks.values, self._blocks.block(block), bound(block)
        for variable, key in self._keys.items():
            given = values.raw(key)
            if given.value != variable:
                patterns += [*self._blocks.scalars(), *(sparql.Filter(g) for g in given.guards)]
                patterns.append(sparql.Bind(given.value, variable))
            patterns += _present(key, variable, certain)
        return patterns


def _key(aggregate: pl.Aggregate) -> _Key:
    """Return what tells sub-selects apart."""
    return (aggregate.of, aggregate.value, aggregate.where, fold_as(aggregate))


def _group(patterns: list[sparql.Pattern]) -> sparql.Group:
    return sparql.Group(tuple(patterns))


def _present(value: pl.Expression, variable: ox.Variable, certain: set[pl.Unknown]) -> list[sparql.Pattern]:
    """Return the condition that an unknown has a value, where that is not sure."""
    if not isinstance(value, pl.Unknown) or value in certain:
        return []
    return [sparql.Filter(sparql.Call("bound", (variable,)))]


SPARE = 100  # Rows that are asked for behind the limit of a plan, to find ties and what comes next


def to_sparql(plan: pl.Plan, schema: Schema | None = None) -> str:
    """Print a plan as a query: an ASK query for a plan without columns, a SELECT query for others.

    Args:
        plan: The plan.
        schema: What is known of the graph; numbers and dates of one datatype are read without looking at
            their text, and a class that follows from a property is not asked for.

    Raises:
        ConfigError: If the plan says nothing sensible.

    Example:
        >>> from mrag.planning import Block, Column, Pattern, Plan, Unknown
        >>> film, who = Unknown("film"), Unknown("who")
        >>> made = Block((Pattern(film, URIRef("urn:director"), who),))
        >>> print(to_sparql(Plan(made, (Column(who, "who"),), limit=3)))
        SELECT DISTINCT ?who WHERE { ?film <urn:director> ?who . } ORDER BY ASC(str(?who)) LIMIT 3
    """
    return printed(compile_plan(plan, schema))


def compile_plan(
    plan: pl.Plan,
    schema: Schema | None,
    spare: int | None = None,
    most: int | None = None,
    *,
    decimals: bool = False,
    total: bool = True,
    twins: Twins | None = None,
) -> sparql.Ask | sparql.Select:
    """Return a plan as a query of typed patterns.

    With `spare` it asks for so many rows more than the limit, and for those that the offset leaves out, for
    `mrag.planning.run` to cut, as it must be where ties are wanted. Without a limit, one row more than `most`
    is asked for. As `decimals` computed numbers are shown to servers that print few digits of others; columns
    then have the order of the plan's, but not all their names. Not in `total`, ties are not broken by the
    terms of the rows, which takes some engines long. With `twins`, things of several names are told once.
    """
    check(plan)
    if plan.ties and spare is None:
        spare = SPARE
    compiler = _Compiler(plan, schema, twins=twins)
    if plan.yes_or_no:
        return compiler.ask()
    return compiler.select(spare, most, decimals=decimals, total=total)


def in_one(queries: Sequence[sparql.Ask | sparql.Select]) -> sparql.Select:
    """Return the query that answers several: each row has the number of its query, then that one's columns.

    An ASK that holds gives one row.

    Example:
        >>> x = sparql.var("x")
        >>> some = sparql.TriplePattern(x, sparql.iri("urn:p"), x)
        >>> print(printed(in_one([sparql.Ask(some)])))
        SELECT ?query__ WHERE { { { { SELECT (0 AS ?query__) WHERE { ?x <urn:p> ?x . } LIMIT 1 } } } }
    """
    number, parts, width = sparql.var("query__"), list[sparql.Pattern](), 0
    for at, query in enumerate(queries):
        one = (ox.Literal(at), number)
        if isinstance(query, sparql.Ask):
            parts.append(sparql.SubSelect(sparql.Select((one,), query.where, limit=1)))
            continue
        names = [v[1] if isinstance(v, tuple) else v for v in query.variables]
        cells = tuple((name, sparql.var(f"cell__{n}")) for n, name in enumerate(names))
        parts.append(sparql.SubSelect(sparql.Select((one, *cells), sparql.SubSelect(query))))
        width = max(width, len(cells))
    columns = (number, *(sparql.var(f"cell__{n}") for n in range(width)))
    return sparql.Select(columns, sparql.Union(tuple(parts)))


class _Compiler:
    """Compiles one plan; those of its scalars have compilers of their own."""

    def __init__(
        self,
        plan: pl.Plan,
        schema: Schema | None,
        taken: set[str] | None = None,
        *,
        twins: Twins | None = None,
    ) -> None:
        self._plan = plan
        self._schema = schema
        self._taken = taken if taken is not None else set()
        self._taken |= {c.name for c in plan.columns}
        self._names: dict[pl.Unknown, ox.Variable] = {}
        for column in plan.columns:
            if isinstance(column.value, pl.Unknown) and column.value not in self._names:
                self._names[column.value] = sparql.var(column.name)
        self._scalars: dict[pl.Scalar, ox.Variable] = {}
        self._pending: list[sparql.Pattern] = []
        folded = [a for c in plan.columns for a in aggregates(c.value)]
        blocks = (plan.where, *(merged(plan.where, a.where) for a in folded))
        partly = {u for block in blocks for u in unsure(block)}
        known = forms(blocks, schema) if schema is not None else {}
        values = ValueCompiler(self._variable, self._no_fold, self._scalar, unsure=partly, forms=known)
        self._blocks = BlockCompiler(values, self._fresh, self._take_scalars, self._join, schema, twins)

    def ask(self) -> sparql.Ask:
        """Return the query of a yes or no plan."""
        return sparql.Ask(sparql.Group(tuple(self._solutions())))

    def select(
        self, spare: int | None = None, most: int | None = None, *, decimals: bool = False, total: bool = True
    ) -> sparql.Select:
        """Return the query of a plan with columns."""
        plan = self._plan
        kinds = {c.name: kind_of(c.value) for c in plan.columns}
        where = self._solutions()
        columns = tuple(sparql.var(c.name) for c in plan.columns)
        shown = tuple(
            (sparql.Cast(DECIMAL, v), self._fresh(c.name)) if decimals and _is_fraction(c.value) else v
            for c, v in zip(plan.columns, columns, strict=True)
        )
        written = {
            c.name: v[1] if isinstance(v, tuple) else v for c, v in zip(plan.columns, shown, strict=True)
        }
        if plan.limit is not None:
            # A superlative is not won by what has no value.
            where += [
                sparql.Filter(sparql.Call("bound", (sparql.var(o.column),)))
                for o in plan.order
                if not self._is_always_bound(o.column)
            ]
        order: list[sparql.Expression | sparql.Descending] = []
        for key in plan.order:
            value = next(c.value for c in plan.columns if c.name == key.column)
            dated = self._blocks.values.form(value) in ("date", "time")
            kind = "date" if dated else kinds[key.column]
            order += self._blocks.values.order_keys(sparql.var(key.column), kind, key.descending)
        limit, offset = plan.limit, plan.offset
        if most is not None:
            limit = most if limit is None else min(limit, most)
        if most is not None and plan.limit is None:
            limit, offset = offset + most + 1, 0
        elif spare is not None and limit is not None:
            limit, offset = offset + limit + spare, 0
        if total and (plan.order or limit is not None or offset):
            # What has been ordered by as a whole needs no second key.
            done = {o.column for o in plan.order if kinds[o.column] != "any"}
            order += [text(v) for name, v in written.items() if name not in done]
        group = sparql.Group(tuple(where))
        return sparql.Select(shown, group, distinct=True, order_by=tuple(order), limit=limit, offset=offset)

    def _solutions(self) -> list[sparql.Pattern]:
        """Return the patterns whose solutions bind the columns."""
        plan, values = self._plan, self._blocks.values
        if plan.grouped:
            folds = FoldCompiler(self._blocks, self._fresh, plan)
            where = folds.patterns()
            values = ValueCompiler(self._column_variable, folds.value, self._scalar, self._column_kinds())
            shown = [c for c in plan.columns if aggregates(c.value)]
        else:
            where = self._blocks.block(plan.where)
            values = ValueCompiler(self._column_variable, self._no_fold, self._scalar, self._column_kinds())
            shown = list(plan.columns)
        outer = replace(self._blocks, values=values)
        for column in shown:
            maker = values if plan.grouped else self._blocks.values
            given = maker.raw(column.value)
            where += self._take_scalars()
            where += bind(given, sparql.var(column.name), lambda: self._fresh("none"))
        return where + outer.filters(plan.having)

    def _column_variable(self, unknown: pl.Unknown) -> ox.Variable:
        if any(c.name == unknown.name for c in self._plan.columns):
            return sparql.var(unknown.name)
        return self._variable(unknown)

    def _column_kinds(self) -> dict[str, Kind]:
        return {c.name: kind_of(c.value) for c in self._plan.columns}

    def _is_always_bound(self, name: str) -> bool:
        value = next(c.value for c in self._plan.columns if c.name == name)
        if self._plan.grouped and not aggregates(value):
            return True
        if isinstance(value, pl.Unknown):
            return value in bound(self._plan.where)
        return isinstance(value, pl.Aggregate) and value.function == "count"

    def _variable(self, unknown: pl.Unknown) -> ox.Variable:
        if unknown not in self._names:
            self._names[unknown] = self._fresh(unknown.name)
        return self._names[unknown]

    def _fresh(self, name: str) -> ox.Variable:
        free, number = name, 1
        while free in self._taken:
            number += 1
            free = f"{name}_{number}"
        self._taken.add(free)
        return sparql.var(free)

    def _no_fold(self, aggregate: pl.Aggregate) -> Given:
        raise AssertionError(f"{aggregate} is not folded here")

    def _scalar(self, scalar: pl.Scalar) -> Given:
        if scalar not in self._scalars:
            inner = self._inner(scalar.plan)
            select = inner.select()
            name = self._scalars[scalar] = self._fresh("value")
            # Folded, so that there is a row even where there is no value.
            sample = sparql.Folded("SAMPLE", sparql.var(scalar.plan.columns[0].name))
            self._pending.append(sparql.SubSelect(sparql.Select(((sample, name),), sparql.SubSelect(select))))
        variable = self._scalars[scalar]
        return Given(variable, (sparql.Call("bound", (variable,)),))

    def _inner(self, plan: pl.Plan) -> _Compiler:
        return _Compiler(plan, self._schema, self._taken, twins=self._blocks.twins)

    def _join(self, plan: pl.Plan) -> sparql.Pattern:
        """Return the rows of another plan, under the variables of the unknowns that they bind."""
        outside = [self._variable(pl.Unknown(c.name)) for c in plan.columns]
        inner = self._inner(plan)
        rows = sparql.SubSelect(inner.select())
        names = [sparql.var(c.name) for c in plan.columns]
        present = tuple(
            sparql.Filter(sparql.Call("bound", (sparql.var(c.name),)))
            for c in plan.columns
            if not inner._is_always_bound(c.name)
        )
        if names == outside and not present:
            return rows
        shown = tuple(
            name if name == seen else (name, seen) for name, seen in zip(names, outside, strict=True)
        )
        return sparql.SubSelect(sparql.Select(shown, sparql.Group((rows, *present))))

    def _take_scalars(self) -> list[sparql.Pattern]:
        patterns, self._pending = self._pending, []
        self._scalars.clear()
        return patterns


def _is_fraction(value: pl.Expression) -> bool:
    """Return whether an expression is computed as an xsd:double."""
    counts = isinstance(value, pl.Aggregate) and value.function == "count"
    return not isinstance(value, pl.Unknown) and kind_of(value) == "number" and not counts
