"""The search for the fewest changes by which an expression comes to hold an individual."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from rdflib import BNode, Literal, URIRef

from mrag.cel.explain.candidates import Candidates
from mrag.cel.explain.facts import TYPE, GraphFacts, edge, order, same, within
from mrag.cel.syntax import expressions as ce
from mrag.cel.syntax.normal_form import negation
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import OWL, Term, Triple

_TYPED = ce.Property(str(TYPE))
_CLASS = URIRef(OWL + "NamedIndividual")


@dataclass(frozen=True)
class Change:
    """A triple to add or to remove.

    Attributes:
        triple: The triple.
        add: Whether it is to be added.
        inferred: Whether it is to be removed but was inferred, so that what it follows from would have to go.
    """

    triple: Triple
    add: bool
    inferred: bool = False

    @property
    def order(self) -> tuple[str, str, str, bool]:
        """Return what changes are sorted by."""
        return order(self.triple.s), order(self.triple.p), order(self.triple.o), self.add


class TimeUp(Exception):  # no error: it ends a search at its limit
    """Ends a search when its time is up."""


_Edit: TypeAlias = tuple[bool, Triple]
_Edits: TypeAlias = frozenset[_Edit]
_NOTHING: _Edits = frozenset()


class RepairSearch:
    """Finds the smallest sets of changes, size by size.

    A plan for an expression that fails at a term is a set of changes of which every solution that goes on
    from here has one as a part. It is made of the plans for the parts: so a value that is added is at once
    brought to satisfy what it is added for, or given up.

    Args:
        kg: The knowledge graph.
        e: The expression, in normal form.
        x: The individual.
        deadline: When to stop, by `time.monotonic`.
        max_terms: Most terms of the graph that are tried as the value of a property.

    Attributes:
        cut: Whether a larger number of changes could do more than the last run's.
    """

    def __init__(
        self, kg: KnowledgeGraph, e: ce.Expression, x: URIRef, deadline: float, max_terms: int
    ) -> None:
        self.e, self.x, self.deadline = e, x, deadline
        self.facts = GraphFacts(kg)
        self.candidates = Candidates(kg, e, x, max_terms)
        self.cut = False
        self.size = 0
        self.plans: dict[tuple[ce.Expression, Term, _Edits], list[_Edits]] = {}

    @property
    def complete(self) -> bool:
        """Return whether all terms of the graph were tried."""
        return self.candidates.complete

    def run(self, size: int) -> tuple[Change, ...] | None:
        """Return the first in order of the sets of so many changes that bring the individual in.

        Raises:
            TimeUp: At the deadline.
        """
        self.cut, self.size = False, size
        self.plans.clear()
        found: list[tuple[Change, ...]] = []
        for edits in self._solved(self.e, self.x, _NOTHING):
            facts = self._facts(edits)
            if not facts.is_individual(self.x):
                # An individual of the graph has a class, and any class will do.
                self.cut = self.cut or len(edits) == size
                edits |= {next(iter(self._adding(facts, self.x, _TYPED, [_CLASS])))}
            if len(edits) <= size and self._facts(edits).holds(self.e, self.x):
                found.append(self._changes(edits))
        return min(found, key=lambda changes: [c.order for c in changes], default=None)

    def _changes(self, edits: _Edits) -> tuple[Change, ...]:
        changes = (Change(t, add, not add and self.facts.inferred(t)) for add, t in edits)
        return tuple(sorted(changes, key=lambda c: c.order))

    def _facts(self, edits: _Edits) -> GraphFacts:
        return self.facts.changed((t for add, t in edits if add), (t for add, t in edits if not add))

    def _solved(self, e: ce.Expression, x: Term, edits: _Edits) -> list[_Edits]:
        """Return the changes so far, together with each plan by which the expression comes to hold."""
        key = e, x, edits
        if key not in self.plans:
            self.plans[key] = list(dict.fromkeys(self._solving(e, x, edits)))
        return self.plans[key]

    def _solving(self, e: ce.Expression, x: Term, edits: _Edits) -> Iterator[_Edits]:
        if time.monotonic() >= self.deadline:
            raise TimeUp
        facts = self._facts(edits)
        if facts.holds(e, x):
            yield edits
            return
        if len(edits) + _least(facts, e, x) > self.size:
            self.cut = self.cut or _possible(facts, e, x)
            return
        for step in dict.fromkeys(self._steps(facts, e, x, edits)):
            yield from self._solved(e, x, step)

    def _steps(self, facts: GraphFacts, e: ce.Expression, x: Term, edits: _Edits) -> Iterator[_Edits]:
        """Yield the changes so far with more of them, which bring the expression nearer to holding."""
        match e:
            case ce.And(parts):
                yield from self._solved(next(p for p in parts if not facts.holds(p, x)), x, edits)
            case ce.Or(parts):
                for part in parts:
                    yield from self._solved(part, x, edits)
            case ce.Some(p, filler) | ce.AtLeast(_, p, filler):
                yield from self._more(facts, x, p, filler, edits)
            case ce.Only(p, filler):
                bad = next(v for v in facts.values(x, p) if not facts.holds(filler, v))
                yield from self._with(edits, [(False, edge(x, p, bad))])
                yield from self._solved(filler, bad, edits)
            case ce.AtMost(_, p, filler):
                yield from self._fewer(facts, x, p, filler, edits)
            case ce.Exactly(n, p, filler):
                enough = facts.count(x, p, filler, n) >= n
                yield from (self._fewer if enough else self._more)(facts, x, p, filler, edits)
            case _:
                yield from self._with(edits, self._single(facts, e, x))

    def _single(self, facts: GraphFacts, e: ce.Expression, x: Term) -> Iterator[_Edit]:
        """Yield the single changes that make a condition without parts hold."""
        match e:
            case ce.Named(name):
                yield from self._adding(facts, x, _TYPED, [URIRef(name)])
            case ce.Not(ce.Named(name)):
                yield False, edge(x, _TYPED, URIRef(name))
            case ce.Value(p, value):
                term = value if isinstance(value, Literal) else URIRef(value)
                yield from self._adding(facts, x, p, [term])
            case ce.Not(ce.Value(p, value)):
                yield from self._dropping(facts, x, p, lambda v: same(v, value))
            case ce.DataSome(p, range):
                inside = self.candidates.literals(p, lambda v: within(v, range))
                yield from self._adding(facts, x, p, inside)
            case ce.Not(ce.DataSome(p, range)):
                yield from self._dropping(facts, x, p, lambda v: within(v, range))
            case ce.DataOnly(p, range):
                yield from self._dropping(facts, x, p, lambda v: not within(v, range))
            case ce.Not(ce.DataOnly(p, range)):
                beyond = self.candidates.literals(p, lambda v: not within(v, range))
                yield from self._adding(facts, x, p, [*beyond, self.candidates.new(facts)])

    def _more(
        self, facts: GraphFacts, x: Term, p: ce.Property, filler: ce.Expression, edits: _Edits
    ) -> Iterator[_Edits]:
        values = facts.values(x, p)
        for value in values:
            if not facts.holds(filler, value):
                yield from self._solved(filler, value, edits)
        pool = [t for t in self.candidates.values(filler, facts, self.size - len(edits)) if t not in values]
        facts.fetch(pool)
        for add in self._adding(facts, x, p, pool):
            value = add[1].s if p.inverse else add[1].o
            for more in self._with(edits, [add]):
                yield from self._solved(filler, value, more)

    def _fewer(
        self, facts: GraphFacts, x: Term, p: ce.Property, filler: ce.Expression, edits: _Edits
    ) -> Iterator[_Edits]:
        opposite = negation(filler)
        for value in facts.matching(x, p, filler):
            yield from self._with(edits, [(False, edge(x, p, value))])
            yield from self._solved(opposite, value, edits)

    def _with(self, edits: _Edits, more: Iterable[_Edit]) -> Iterator[_Edits]:
        for add, triple in more:
            blank = any(isinstance(t, BNode) for t in triple)  # no name to change them by
            if not blank and not {(add, triple), (not add, triple)} & edits:
                if len(edits) < self.size:
                    yield edits | {(add, triple)}
                else:
                    self.cut = True

    def _adding(self, facts: GraphFacts, x: Term, p: ce.Property, values: Iterable[Term]) -> Iterator[_Edit]:
        for value in values:
            triple = edge(x, p, value)
            if isinstance(triple.s, URIRef):
                yield True, triple

    def _dropping(
        self, facts: GraphFacts, x: Term, p: ce.Property, wrong: Callable[[Term], bool]
    ) -> Iterator[_Edit]:
        value = next(v for v in facts.values(x, p) if wrong(v))
        yield False, edge(x, p, value)


def _least(facts: GraphFacts, e: ce.Expression, x: Term) -> int:
    """Return how many changes an expression that fails needs at least."""
    match e:
        case ce.And(parts):
            wrong = [p for p in parts if not facts.holds(p, x)]
            single = sum(isinstance(p.of if isinstance(p, ce.Not) else p, ce.Named) for p in wrong)
            return max(single, *(_least(facts, p, x) for p in wrong))
        case ce.Or(parts):
            return min(_least(facts, p, x) for p in parts)
        case ce.AtLeast(n, p, _) | ce.Exactly(n, p, _):
            return max(1, n - len(facts.values(x, p)))
        case ce.AtMost(n, p, ce.Top()):
            return len(facts.values(x, p)) - n
        case ce.Only(p, ce.Bottom()):
            return len(facts.values(x, p))
        case _:
            return 1


def _possible(facts: GraphFacts, e: ce.Expression, x: Term) -> bool:
    """Return whether any change could make an expression hold that fails; it may say so wrongly."""
    match e:
        case ce.Bottom() | ce.OneOf() | ce.Not(ce.OneOf()):
            return False
        case ce.Named():
            return isinstance(x, URIRef)
        case ce.And(parts):
            return all(_possible(facts, p, x) for p in parts if not facts.holds(p, x))
        case ce.Or(parts):
            return any(_possible(facts, p, x) for p in parts)
        case _:
            return True
