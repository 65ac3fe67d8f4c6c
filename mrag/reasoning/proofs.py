"""Why an inferred triple holds: a tree of rule applications down to asserted triples.

Rules are run backwards from the triple: each body is matched in the closure with the head's terms put
in place. Level by level this gives a graph of possible steps. As soon as the triple can be reached from
asserted ones forwards, the cheapest way is taken (Knuth, A generalization of Dijkstra's algorithm, 1977).
No triple is ever a reason for itself, and nothing has to be recorded while reasoning, so that proofs
work over any closure, also one of another engine.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyoxigraph as ox
from rdflib import URIRef

from mrag import html
from mrag.errors import ReasoningError
from mrag.rdf.patterns import Ask, Filter, Group, Node, Select, TriplePattern, Values, to_sparql, var
from mrag.rdf.terms import Term, Triple, from_ox, ntriples_terms, to_ox
from mrag.reasoning.compile import compile_rules
from mrag.reasoning.rules import TYPE, Label, Rule, Ruleset, local_name, replace
from mrag.reasoning.sameness import SamePaths, is_chain
from mrag.stores.base import Dataset, TripleStore
from mrag.terminal import inline
from mrag.untrusted import one_line

_WAYS = (16, 512, None)
_MAX_OPEN = 20_000


@dataclass(frozen=True)
class Proof:
    """A triple and why it holds."""

    triple: Triple
    rule: str | None = None  # Name of the rule of OWL 2 RL/RDF; None for an asserted triple
    axiom: str = ""  # The axiom in words; empty for rules of the language itself
    source: Triple | None = None  # The stored triple that states the axiom, or the head of it
    # Proofs of the triples that the rule started from, in the order of its body
    premises: tuple[Proof, ...] = ()

    @property
    def asserted(self) -> bool:
        """Return whether the triple is asserted."""
        return self.rule is None

    def leaves(self) -> tuple[Triple, ...]:
        """Return the asserted triples that the proof rests on, axioms left out, sorted and once each."""
        if self.asserted:
            return (self.triple,)
        return tuple(sorted({leaf for premise in self.premises for leaf in premise.leaves()}))

    def replay(self, store: TripleStore, asserted: Dataset, ruleset: Ruleset | None = None) -> bool:
        """Check every step anew: leaves are asserted, and each step is an application of a rule."""
        if self.asserted:
            return store.ask(to_sparql(Ask(_pattern(self.triple))), asserted)
        rules = ruleset or compile_rules(store, asserted)
        goal, given = _pattern(self.triple), [_pattern(premise.triple) for premise in self.premises]
        mine = [r for r in rules.rules if r.name == self.rule]
        chained = self.rule == "eq-trans" and is_chain(goal, given)
        applied = chained or any(_applies(store, asserted, r, goal, given) for r in mine)
        return applied and all(p.replay(store, asserted, rules) for p in self.premises)

    def __str__(self) -> str:
        return render(self)

    def _repr_html_(self) -> str:
        """Return the tree as HTML for a notebook."""
        words = " ".join(local_name(str(t)) if isinstance(t, URIRef) else t.n3() for t in self.triple)
        if self.asserted:
            return html.tag("div", f"{words} ", html.tag("small", "asserted"))
        why = html.tag("small", f"because {self.axiom} ({self.rule})" if self.axiom else f"by {self.rule}")
        premises = html.bullets(html.Html(premise._repr_html_()) for premise in self.premises)
        return html.tag("div", f"{words} ", html.badge("inferred"), " ", why, premises)

    def to_json(self) -> dict[str, Any]:
        """Return the tree as values of JSON; terms are written as in N-Triples."""
        tree: dict[str, Any] = {"triple": ntriples_terms(self.triple), "asserted": self.asserted}
        if not self.asserted:
            tree |= {
                "rule": self.rule,
                "axiom": self.axiom,
                "source": ntriples_terms(self.source) if self.source else None,
                "premises": [premise.to_json() for premise in self.premises],
            }
        return tree


def render(proof: Proof, label: Label = local_name) -> str:
    """Write a proof as an indented tree.

    Example:
        >>> leaf = Proof(Triple(URIRef("urn:a"), URIRef("urn:p"), URIRef("urn:b")))
        >>> top = Triple(URIRef("urn:b"), URIRef("urn:q"), URIRef("urn:a"))
        >>> print(render(Proof(top, "prp-inv1", "p InverseOf q", leaf.triple, (leaf,))))
        b q a
          because p InverseOf q (prp-inv1)
          └ a p b [asserted]
    """
    return "\n".join(map(inline, _lines(proof, label)))


def _lines(proof: Proof, label: Label) -> Iterator[str]:
    words = one_line(" ".join(str(t) if t.n3().startswith('"') else label(str(t)) for t in proof.triple))
    if proof.asserted:
        yield f"{words} [asserted]"
        return
    yield words
    yield f"  because {one_line(proof.axiom)} ({proof.rule})" if proof.axiom else f"  because of {proof.rule}"
    for at, premise in enumerate(proof.premises):
        last = at == len(proof.premises) - 1
        for n, line in enumerate(_lines(premise, label)):
            yield ("  └ " if last else "  ├ ") + line if n == 0 else ("    " if last else "  │ ") + line


def prove(
    store: TripleStore,
    asserted: Dataset,
    inferred: Dataset,
    triple: Triple,
    *,
    ruleset: Ruleset | None = None,
    label: Label | None = None,
) -> Proof | None:
    """Find a proof of a triple: the least deep one, and of these one with few steps.

    Returns:
        A proof; a leaf if the triple is asserted; None if it does not follow by the rules.

    Raises:
        ReasoningError: If the search passes its bounds.
    """
    rules = ruleset or compile_rules(store, asserted)
    both = Dataset(default=(*asserted.default, *inferred.default))
    goal = _pattern(triple)
    for ways in _WAYS:
        search = _Search(store, asserted, both, rules.rules, ways)
        steps = search.run(goal)
        if steps is not None:
            return _tree(goal, steps, label)
        if not search.cut:
            return None
    return None


@dataclass(frozen=True)
class _Step:
    """One application of a rule."""

    rule: Rule
    premises: tuple[TriplePattern, ...]


class _Search:
    def __init__(
        self, store: TripleStore, asserted: Dataset, both: Dataset, rules: Iterable[Rule], ways: int | None
    ) -> None:
        self.store, self.asserted, self.both, self.ways = store, asserted, both, ways
        self.rules, self.same = tuple(rules), SamePaths(store, asserted)
        self.cut = False
        self.steps: dict[TriplePattern, list[_Step]] = {}
        self.told: set[TriplePattern] = set()

    def run(self, goal: TriplePattern) -> dict[TriplePattern, _Step | None] | None:
        level = [goal]
        while level:
            after: dict[TriplePattern, None] = {}
            for triple in level:
                self.steps[triple] = []
                if self.store.ask(to_sparql(Ask(triple)), self.asserted):
                    self.told.add(triple)
                    continue
                for step in self._expand(triple):
                    self.steps[triple].append(step)
                    after.update(dict.fromkeys(step.premises))
            steps = self._forward(goal)
            if steps is not None:
                return steps
            level = [t for t in after if t not in self.steps]
            if len(self.steps) + len(level) > _MAX_OPEN:
                raise ReasoningError(
                    "The proof was not found within its bounds.", hint="Prove a triple it rests on instead."
                )
        return None

    def _expand(self, triple: TriplePattern) -> Iterator[_Step]:
        if steps := self.same.steps(triple):
            yield _Step(next(r for r in self.rules if r.name == "eq-trans"), steps)
            return
        for rule in self.rules:
            binding = _unify(rule.head, triple)
            if binding is None:
                continue
            atoms = tuple(atom.substitute(binding) for atom in rule.body)
            names = tuple(dict.fromkeys(v for atom in atoms for v in atom.variables()))
            filters = tuple(Filter(replace(f, binding)) for f in rule.filters)
            where = Group((*rule.values, *atoms, *filters))
            if not names:
                if triple not in atoms and self.store.ask(to_sparql(Ask(where)), self.both):
                    yield _Step(rule, atoms)
                continue
            limit = None if self.ways is None else self.ways + 1
            text = to_sparql(Select(names, where, distinct=True, order_by=names, limit=limit))
            rows = self.store.select(text, self.both)
            self.cut |= limit is not None and len(rows) == limit
            for row in rows:
                values = {v: _plain(t) for v, t in zip(names, row, strict=True) if t is not None}
                premises = tuple(atom.substitute(values) for atom in atoms)
                if triple not in premises:
                    yield _Step(rule, premises)

    def _forward(self, goal: TriplePattern) -> dict[TriplePattern, _Step | None] | None:
        """Reach the goal from what is told, cheapest first; a step costs one and its premises."""
        waiting: dict[TriplePattern, list[tuple[TriplePattern, _Step]]] = {}
        for head, steps in self.steps.items():
            for step in steps:
                for premise in dict.fromkeys(step.premises):
                    waiting.setdefault(premise, []).append((head, step))
        best: dict[TriplePattern, _Step | None] = {}
        cost: dict[TriplePattern, int] = {}
        order = {t: i for i, t in enumerate(self.steps)}
        queue: list[tuple[int, int, int, TriplePattern, _Step | None]] = [
            (1, order[t], 0, t, None) for t in sorted(self.told, key=order.__getitem__)
        ]
        tie = 1
        heapq.heapify(queue)
        while queue:
            price, _, _, triple, why = heapq.heappop(queue)
            if triple in cost:
                continue
            cost[triple], best[triple] = price, why
            if triple == goal:
                return best
            for head, step in waiting.get(triple, []):
                if head not in cost and all(p in cost for p in step.premises):
                    tie += 1
                    total = 1 + sum(cost[p] for p in step.premises)
                    heapq.heappush(queue, (total, order[head], tie, head, step))
        return None


def _tree(goal: TriplePattern, best: Mapping[TriplePattern, _Step | None], label: Label | None) -> Proof:
    step = best[goal]
    if step is None:
        return Proof(_triple(goal))
    premises = tuple(_tree(premise, best, label) for premise in step.premises)
    axiom = step.rule.axiom
    words = axiom.text(label) if axiom else ""
    source = _triple(TriplePattern(*axiom.source)) if axiom else None
    return Proof(_triple(goal), step.rule.name, words, source, premises)


def _unify(pattern: TriplePattern, triple: TriplePattern) -> dict[ox.Variable, Node] | None:
    """Return what makes a pattern equal to a triple, or None."""
    binding: dict[ox.Variable, Node] = {}
    for here, there in ((pattern.s, triple.s), (pattern.p, triple.p), (pattern.o, triple.o)):
        if isinstance(here, ox.Variable):
            if binding.setdefault(here, there) != there:  # type: ignore[arg-type]  # triples have no paths
                return None
        elif here != there:
            return None
    return binding


def _applies(
    store: TripleStore, dataset: Dataset, rule: Rule, head: TriplePattern, given: list[TriplePattern]
) -> bool:
    binding = _unify(rule.head, head)
    if binding is None or len(given) != len(rule.body):
        return False
    for atom, premise in zip(rule.body, given, strict=True):
        more = _unify(atom.substitute(binding), premise)
        if more is None:
            return False
        binding |= more
    bound = {v: t for v, t in binding.items() if not isinstance(t, ox.Variable)}
    row = Values(tuple(bound), (tuple(bound.values()),)) if bound else Values((var("none"),), ((TYPE,),))
    return store.ask(to_sparql(Ask(Group((row, *rule.values, *(Filter(f) for f in rule.filters))))), dataset)


def _pattern(triple: Triple) -> TriplePattern:
    return TriplePattern(_plain(triple.s), _plain(triple.p), _plain(triple.o))


def _plain(term: Term) -> ox.NamedNode | ox.Literal:
    value = to_ox(term)
    if isinstance(value, ox.BlankNode):
        raise ReasoningError(
            "Blank nodes cannot be looked up.", term=str(value), hint="They are IRIs once loaded."
        )
    return value


def _triple(atom: TriplePattern) -> Triple:
    s, p, o = (from_ox(t) for t in (atom.s, atom.p, atom.o))  # type: ignore[arg-type]  # no variables left
    return Triple(s, p, o)  # type: ignore[arg-type]  # subjects of stored triples are no literals
