"""Rules: OWL 2 RL/RDF and a little more, each a SPARQL pattern.

Names of rules are those of OWL 2 Profiles, section 4.3, tables 4 to 9. Names that are not there (`cls-min1`,
`dt-facet`, `cax-or`) go beyond OWL 2 RL.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations

import pyoxigraph as ox

from mrag.rdf import patterns as pt
from mrag.reasoning.axioms import TYPE, Axiom, Plain


@dataclass(frozen=True)
class ConsistencyCheck:
    """A pattern that must not match.

    Attributes:
        name: Rule of OWL 2 RL/RDF whose conclusion is `false`.
        axiom: The axiom behind it, None for the rules of the language itself.
        body: Triples that clash.
        filters: Conditions on them.
        values: Members that the variables range over.
    """

    name: str
    axiom: Axiom | None
    body: tuple[pt.TriplePattern, ...]
    filters: tuple[pt.Expression, ...] = ()
    values: tuple[pt.Values, ...] = ()

    def variables(self) -> tuple[ox.Variable, ...]:
        """Return the variables of the body in order of appearance."""
        return tuple(dict.fromkeys(v for atom in self.body for v in atom.variables()))


@dataclass(frozen=True)
class Rule(ConsistencyCheck):
    """A pattern and the triple that follows from it.

    Attributes:
        head: What follows. Heads with a literal for a subject are dropped by CONSTRUCT.
        path: A path that gives the same closure in one query, for transitive rules.
        beyond: Whether OWL 2 RL lacks the rule, so that engines of that profile do.
    """

    head: pt.TriplePattern = field(default=pt.TriplePattern(pt.var("s"), TYPE, pt.var("o")))
    path: pt.Path | None = None
    beyond: bool = False

    def where(self) -> pt.Group:
        """Return the whole body as a pattern."""
        return pt.Group((*self.values, *self.body, *(pt.Filter(f) for f in self.filters)))


@dataclass(frozen=True)
class Ruleset:
    """Everything compiled from a TBox.

    Attributes:
        rules: Rules in a fixed order, without repetition.
        checks: Checks for inconsistency.
        notes: Axioms that have no rule, and of others what does not follow, in words.
    """

    rules: tuple[Rule, ...]
    checks: tuple[ConsistencyCheck, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Branch:
    """One way to be an instance of a class expression."""

    body: tuple[pt.TriplePattern, ...] = ()
    filters: tuple[pt.Expression, ...] = ()
    binding: tuple[tuple[ox.Variable, Plain], ...] = ()
    beyond: bool = False

    def with_(self, other: Branch) -> Branch:
        """Return both together."""
        return Branch(
            tuple(dict.fromkeys((*self.body, *other.body))),
            (*self.filters, *other.filters),
            (*self.binding, *other.binding),
            self.beyond or other.beyond,
        )


def resolve(
    branch: Branch, head: pt.TriplePattern | None
) -> tuple[tuple[pt.TriplePattern, ...], tuple[pt.Expression, ...], pt.TriplePattern] | None:
    """Put the values of nominals in place; None if two of them contradict or a subject is a literal."""
    binding: dict[ox.Variable, pt.Node] = {}
    for variable, value in branch.binding:
        if binding.setdefault(variable, value) != value:
            return None
    body = tuple(dict.fromkeys(atom.substitute(binding) for atom in branch.body))
    head = (head or pt.TriplePattern(TYPE, TYPE, TYPE)).substitute(binding)
    if any(isinstance(atom.s, ox.Literal) for atom in (*body, head)):
        return None
    filters = tuple(replace(f, binding) for f in branch.filters)
    return body, filters, head


def replace(expression: pt.Expression, binding: Mapping[ox.Variable, pt.Node]) -> pt.Expression:
    """Return a condition with variables replaced."""
    if not binding:
        return expression
    match expression:
        case ox.Variable():
            return binding.get(expression, expression)
        case pt.Compare(a, operator, b):
            return pt.Compare(replace(a, binding), operator, replace(b, binding))
        case pt.In(value, members):
            return pt.In(replace(value, binding), members)
        case pt.Call(function, arguments):
            return pt.Call(function, tuple(replace(a, binding) for a in arguments))
        case pt.AllOf(conditions):
            return pt.AllOf(tuple(replace(c, binding) for c in conditions))
        case pt.AnyOf(conditions):
            return pt.AnyOf(tuple(replace(c, binding) for c in conditions))
        case pt.Negation(condition):
            return pt.Negation(replace(condition, binding))
        case _:
            return expression


def pairs(items: tuple[Plain, ...]) -> Iterator[tuple[Plain, Plain]]:
    """Yield each unordered pair once."""
    yield from combinations(items, 2)
