"""What a row of a result rests on: the triples that make it true, looked up with their graphs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice, pairwise

from rdflib import BNode, Literal, URIRef

from mrag import untrusted
from mrag.context.display import Display
from mrag.context.render import Context, Line
from mrag.context.sources import named_graphs, said_in
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.algebra.cells import Cells
from mrag.planning.algebra.rewriting import substituted
from mrag.planning.algebra.scopes import aggregates, keys, merged, reached, sides, unknowns
from mrag.planning.algebra.values import kind_of
from mrag.planning.plan import (
    Aggregate,
    Block,
    Column,
    Comparison,
    Condition,
    Expression,
    Pattern,
    Place,
    Plan,
    Unknown,
)
from mrag.planning.profiling import schema_of
from mrag.planning.run import LIMITS, run
from mrag.rdf import queries
from mrag.rdf.terms import RDFS, Term, Triple, to_ox
from mrag.stores.base import Dataset, Limits

_MOST = 50
_JOINED = 3
"""Rows of a plan within a plan that are proved."""
_BATCH = 500
"""Most triples; no server takes more values in one query."""
_Binding = Mapping[Unknown, Term]


@dataclass(frozen=True)
class RowProof:
    """The triples that a row rests on.

    Attributes:
        context: The triples as lines, each with its graph and whether it is inferred, to be cited.
        truncated: Whether the row rests on more, such as further members of what is counted.
    """

    context: Context
    truncated: bool = False

    @property
    def triples(self) -> tuple[Triple, ...]:
        """Return the triples, those of the first solutions first."""
        return tuple(line.triple for line in self.context.lines)


def prove(
    kg: KnowledgeGraph, plan: Plan, row: Cells = (), *, most: int = _MOST, limits: Limits | None = None
) -> RowProof:
    """Return the triples that a row of a plan's result rests on.

    For a listed row they are those of one solution, the compared values among them; for a minimum or
    maximum those of what has it; for a count, a sum or an average those of the members, up to a bound. For a
    yes they are those of a witness; for a no there are none. What must not exist proves nothing that can be
    cited, and neither do the scalars that a condition compares with.

    Args:
        kg: The graph.
        plan: The plan that was run.
        row: The row, as `run` gave it; empty for yes or no.
        most: Most triples; 500 is the most there is.
        limits: Seconds that each query may take.

    Raises:
        ConfigError: If the plan says nothing sensible.
        StoreError: If the store cannot answer, or not in time.

    Example:
        >>> from mrag.stores.oxigraph import OxigraphStore
        >>> kg = KnowledgeGraph(OxigraphStore())
        >>> is_, cat, x = URIRef("urn:is"), URIRef("urn:cat"), Unknown("x")
        >>> _ = kg.insert(Triple(URIRef(f"urn:{name}"), is_, cat) for name in ("Tom", "Kit"))
        >>> cats = Plan(Block((Pattern(x, is_, cat),)), (Column(Aggregate("count", of=(x,)), "n"),))
        >>> [line.text for line in prove(kg, cats, run(kg, cats).rows[0]).context.lines]
        ['(Kit, <urn:is>, cat)', '(Tom, <urn:is>, cat)']
        >>> kg.close()
    """
    limits, most = limits or LIMITS, min(most, _BATCH)
    found, truncated = _evidence(kg, plan, row, most, limits)
    return RowProof(_lines(kg, list(found), most), truncated)


def _evidence(
    kg: KnowledgeGraph, plan: Plan, row: Cells, most: int, limits: Limits
) -> tuple[dict[Triple, None], bool]:
    """Return the triples that a row rests on, and whether there are more."""
    found: dict[Triple, None] = {}
    witnesses = list(_witnesses(plan, row))
    truncated = False
    for number, (block, wanted) in enumerate(witnesses, start=1):
        room = (most - len(found)) // (len(witnesses) - number + 1)
        triples, more = _supporting(kg, block, wanted, max(room, 1), limits)
        found.update(dict.fromkeys(triples))
        truncated = truncated or more
    shown = {c.value: cell for c, cell in zip(plan.columns, row, strict=True)} if row else {}
    for inner in plan.where.plans if found or not plan.where.patterns else ():
        names = [Unknown(c.name) for c in inner.columns]
        rows = [
            r
            for r in run(kg, inner, limits=limits).rows
            if all(shown.get(n, cell) == cell for n, cell in zip(names, r, strict=True))
        ]
        for one in rows[:_JOINED]:
            triples_of_one, more = _evidence(kg, inner, one, max(1, most // 2), limits)
            found.update(triples_of_one)
            truncated = truncated or more
        truncated = truncated or len(rows) > _JOINED
    return found, truncated


def _witnesses(plan: Plan, row: Cells) -> Iterator[tuple[Block, int | None]]:
    """Yield the blocks whose solutions a row rests on, and how many of them it needs; None is all."""
    cells = dict(zip(plan.columns, row, strict=True)) if row else {}
    grouped = {k.value: c for k, c in ((k, cells.get(k)) for k in keys(plan)) if c is not None}
    listed = {c.value: cell for c, cell in cells.items() if cell is not None}
    if not plan.grouped:
        yield _fixed(plan.where, listed), 1
        return
    folds = [(a, cells.get(c)) for c in plan.columns for a in aggregates(c.value)]
    folds += [(a, None) for h in plan.having for s in sides(h) for a in aggregates(s)]
    seen: set[tuple[Block, Aggregate | None]] = set()
    for aggregate, cell in folds:
        block = _fixed(merged(plan.where, aggregate.where), grouped)
        best = aggregate.function in ("minimum", "maximum") and aggregate.value in _direct(plan, aggregate)
        if best and cell is not None and aggregate.value is not None:
            yield merged(block, Block(conditions=tuple(_equal(aggregate.value, cell)))), 1
        elif (block, None) not in seen:
            seen.add((block, None))
            yield block, None
    if not folds:
        yield _fixed(plan.where, grouped), 1


def _direct(plan: Plan, aggregate: Aggregate) -> list[Expression | None]:
    """Return the value of an aggregate that a column shows as it is."""
    return [aggregate.value] if any(c.value == aggregate for c in plan.columns) else []


def _fixed(block: Block, values: Mapping[Expression, Term]) -> Block:
    """Return a block for the solutions in which expressions have the values of a row."""
    binding = {e: v for e, v in values.items() if isinstance(e, Unknown)}
    # A condition on values that the row shows has been met; said of a literal it could mean another thing.
    met = {c for c in block.conditions if set().union(*(unknowns(s) for s in sides(c))) <= binding.keys()}
    kept = replace(block, conditions=tuple(c for c in block.conditions if c not in met))
    others = [c for e, v in values.items() if not isinstance(e, Unknown) for c in _equal(e, v)]
    added = [c for c in others if not set().union(*(unknowns(s) for s in sides(c))) <= binding.keys()]
    return _bound(merged(kept, Block(conditions=tuple(added))), binding)


def _equal(expression: Expression, cell: Term) -> list[Condition]:
    """Return the conditions that an expression has the value that is shown of it."""
    if kind_of(expression) != "number" or not unknowns(expression):
        return [Comparison(expression, "=", cell)] if isinstance(cell, Literal | URIRef) else []
    try:
        value = float(cell)
    except ValueError:
        return []
    margin = max(abs(value) * 1e-9, 1e-12)
    return [
        Comparison(expression, ">=", Literal(value - margin)),
        Comparison(expression, "<=", Literal(value + margin)),
    ]


def _bound(block: Block, binding: _Binding) -> Block:
    """Return a block with terms in the place of unknowns."""
    given: dict[Place, URIRef | Literal] = {
        u: t for u, t in binding.items() if isinstance(t, URIRef | Literal)
    }
    # A row of a plan that is given whole has been met.
    open_ = tuple(p for p in block.plans if not {Unknown(c.name) for c in p.columns} <= binding.keys())
    partly = [Unknown(c.name) for p in open_ for c in p.columns if Unknown(c.name) in binding]
    # How values compare depends on their datatype where it is written, but not on that of an unknown's value.
    kept = {u: t for u in _compared(block) if isinstance(t := given.get(u), Literal) and u not in partly}
    found = substituted(replace(block, plans=open_), given, {u: t for u, t in given.items() if u not in kept})
    values = tuple(Plan(columns=(Column(t, u.name),)) for u, t in sorted(kept.items()))
    return replace(
        found,
        conditions=(*found.conditions, *(Comparison(u, "=", given[u]) for u in partly if u in given)),
        plans=(*found.plans, *values),
    )


def _compared(block: Block) -> set[Unknown]:
    """Return the unknowns whose own values a block or one within it compares."""
    found = {
        s for c in block.conditions if isinstance(c, Comparison) for s in sides(c) if isinstance(s, Unknown)
    }
    inner = (*(b for branches in block.either for b in branches), *block.without, *block.optional)
    return found.union(*map(_compared, inner))


def _supporting(
    kg: KnowledgeGraph, block: Block, wanted: int | None, most: int, limits: Limits
) -> tuple[list[Triple], bool]:
    """Return the triples of some solutions of a block, and whether there are more."""
    block, classes = _kinds_named(block)
    patterns = list(_patterns(block))
    open_ = sorted(
        {u for p in patterns for u in (p.subject, p.predicate, p.object) if isinstance(u, Unknown)}
    )
    open_ = [u for u in open_ if u in reached(block)]
    if not open_:
        held = run(kg, Plan(block), limits=limits).holds
        return [t for p in patterns if held and (t := _triple(p, {})) is not None], False
    solutions = wanted or max(1, math.ceil(most / max(1, len(block.patterns))))
    columns = tuple(Column(u, u.name) for u in open_)
    result = run(kg, Plan(block, columns, limit=solutions), limits=limits)
    found: dict[Triple, None] = {}
    for row in result.rows:
        binding = {u: cell for u, cell in zip(open_, row, strict=True) if cell is not None}
        found.update({t: None for p in patterns if (t := _triple(p, binding)) is not None})
        for kind, cls in classes.items():
            found.update(dict.fromkeys(_links(kg, binding.get(kind), cls)))
    return list(found), wanted is None and bool(result.runners_up or result.truncated)


def _kinds_named(block: Block) -> tuple[Block, dict[Unknown, URIRef]]:
    """Return a block with unknowns for the classes that things are said to be in, and what each counts as."""
    classes: dict[Unknown, URIRef] = {}

    def named(block: Block) -> Block:
        patterns, kinds = list[Pattern](), list[tuple[Block, ...]]()
        for p in block.patterns:
            if not p.narrower or not isinstance(p.object, URIRef):
                patterns.append(p)
                continue
            kind = Unknown(f"its_kind_{len(classes)}")
            classes[kind] = p.object
            patterns.append(Pattern(p.subject, p.predicate, kind))
            options = (Comparison(kind, "=", c) for c in (p.object, *p.narrower))
            kinds.append(tuple(Block(conditions=(o,)) for o in options))
        return replace(
            block,
            patterns=tuple(patterns),
            either=(*(tuple(map(named, branches)) for branches in block.either), *kinds),
            optional=tuple(map(named, block.optional)),
        )

    return named(block), classes


def _links(kg: KnowledgeGraph, kind: Term | None, cls: URIRef) -> list[Triple]:
    """Return the triples by which a class is one of another's subclasses."""
    schema, below = schema_of(kg), URIRef(RDFS + "subClassOf")
    ways: list[list[str]] = [[str(kind)]]
    for way in ways:
        if way[-1] == str(cls):
            return [Triple(URIRef(a), below, URIRef(b)) for a, b in pairwise(way)]
        info = schema.classes.get(way[-1])
        ways += [[*way, parent] for parent in (info.parents if info else ()) if parent not in way]
    return []


def _patterns(block: Block) -> Iterator[Pattern]:
    """Yield the patterns of all that may hold in a block."""
    yield from block.patterns
    for inner in (*(b for branches in block.either for b in branches), *block.optional):
        yield from _patterns(inner)


def _triple(pattern: Pattern, binding: _Binding) -> Triple | None:
    places = (pattern.subject, pattern.predicate, pattern.object)
    s, p, o = (binding.get(t) if isinstance(t, Unknown) else t for t in places)
    if not isinstance(s, URIRef) or not isinstance(p, URIRef) or o is None or isinstance(o, BNode):
        return None
    return Triple(s, p, o)


def _lines(kg: KnowledgeGraph, triples: list[Triple], most: int) -> Context:
    """Return those of some triples that are in the graph, with where they are."""
    homes = _homes(kg, triples)
    display = Display(kg)
    kept = [t for t in triples if t in homes][:most]
    display.prepare(str(term) for triple in kept for term in triple if isinstance(term, URIRef))
    lines = []
    named = named_graphs(kg, kept)
    for number, triple in enumerate(kept, start=1):
        graph, inferred = homes[triple]
        shown = (display.entity(triple.s), display.predicate(triple.p), display.term(to_ox(triple.o)))
        own = named[number - 1]
        text = untrusted.fact((*shown, *said_in(display, own)))
        lines.append(Line(f"t{number}", text, triple, graph, inferred, shown, str(triple.s), named=own))
    return Context(tuple(lines), tuple(dict.fromkeys(line.entity for line in lines)))


def _homes(kg: KnowledgeGraph, triples: Iterable[Triple]) -> dict[Triple, tuple[str, bool]]:
    """Return the graph of each triple and whether it is one of inferred triples; asserted ones first."""
    layers = [(g, False) for g in kg.dataset("asserted").default]
    layers += [(g, True) for g in kg.dataset("inferred").default]
    left = dict.fromkeys(islice(triples, _BATCH))
    found: dict[Triple, tuple[str, bool]] = {}
    for graph, inferred in layers:
        if left:
            rows = list(left)
            numbered = [(Literal(n), *triple) for n, triple in enumerate(rows)]
            asked = queries.get("completion/holds").bind(n_s_p_o=numbered, limit=len(left))
            # By number, because Virtuoso gives some numbers in another datatype than was asked for.
            for number, *_ in kg.store.select(asked, Dataset((graph,), kg.dataset().named)).rows:
                triple = rows[int(str(number))]
                if triple in left:
                    found[triple] = (graph, inferred)
                    del left[triple]
    return found
