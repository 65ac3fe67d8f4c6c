"""From the roles of a question's words to a plan: which property, which joins, which columns."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from rdflib import RDF, URIRef

from mrag.language.names import name_parts
from mrag.language.tokens import stem
from mrag.planning.building.joins import JoinGraph, JoinStep, joined_later, split_ends
from mrag.planning.building.nodes import PlanNode, PlanNodes
from mrag.planning.plan import Block, Condition, Pattern, Unknown
from mrag.planning.schema import PropertyInfo

_AVOIDED = 4.0
"""What a join by a property costs more that is avoided."""
_LACKED = 0.5
"""How much cheaper a join must be that leads to a thing's kind, but to nothing of its narrower kind."""
_OF_NAMES = 1.0
"""What it costs more to relate a named thing to another named one than to what is asked for."""
_OWN_WAY = frozenset("with by from of for in at to".split())
"""Words before a name that begin a way of its own to it."""
_COORDINATED = frozenset("and or nor".split())
_EQUAL = 0.1
"""Difference in cost below which two joins are as likely as each other."""


@dataclass
class QueryGraph(PlanNodes):
    """The query graph of one block, grown by joins.

    Attributes:
        joins: The joins of the schema.
        hints: Stems of words that make a property likelier, with what they take off its cost.
        claimed: The names that a property of the question stands before: "directed by Ada".
        joining: What is being joined.
        asks_relation: Whether the question is whether things are related, in whatever way.
        avoided: Properties that no join may take.
        paired: Names of which the question says the same as of another one: "with Ada and Ben".
        linked: Places that a value joins: a city to the state whose capital is called like it.
        ties: Properties that joins took although another one leads the same way as well, and no word of the
            question tells which is meant.
    """

    joins: JoinGraph
    hints: dict[str, float] = field(default_factory=dict)
    wanted: set[str] = field(default_factory=set)
    claimed: dict[str, set[URIRef]] = field(default_factory=dict)
    joining: Unknown | URIRef | None = None
    tree: list[PlanNode] = field(default_factory=list)
    conditions: list[Condition] = field(default_factory=list)
    either: list[tuple[Block, ...]] = field(default_factory=list)
    without: list[Block] = field(default_factory=list)
    cost: float = 0.0
    broken: bool = False
    near: tuple[str, ...] = ()
    asks_relation: bool = False
    avoided: frozenset[str] = frozenset()
    ties: set[str] = field(default_factory=set)
    paired: set[Unknown | URIRef] = field(default_factory=set)
    pairing: bool = False
    linked: set[tuple[Unknown | URIRef, Unknown | URIRef]] = field(default_factory=set)

    # -- joins -------------------------------------------------------------------------------------

    def connect(self) -> None:
        """Join all nodes into one tree, cheapest joins first."""
        left = [node for node in self.nodes if node not in self.tree]
        if not self.tree and left:
            self.tree.append(left.pop(0))
        while left:
            places = {n.place for n in left}
            apart = [n for n in left if not (n.fixed and joined_later(n.place, places, self.patterns))]
            found = [(*way, left.index(n)) for n in apart if (way := self._way(n)) is not None]
            if not found:
                self.broken = True
                return
            cost, steps, at = min(found, key=lambda f: (f[0], f[2]))
            node = left.pop(at)
            self._walk(steps, node)
            self.cost += cost
            self.tree.append(node)
            left = [n for n in left if n not in self.tree]

    def _way(self, node: PlanNode) -> tuple[float, tuple[JoinStep, ...]] | None:
        self.near, self.pairing, self.joining = node.hints, node.place in self.paired, node.place
        way = self._path(node)
        fixed = isinstance(node.place, URIRef) and all(isinstance(n.place, URIRef) for n in self.tree)
        if way is None or not fixed or all(self.discount(step) > 0 for step in way[1]):
            return way
        # Two things that are named are not related unless the question says how, or asks whether they are.
        # Two of one kind, which may be related either way, are not even then, but by something between them.
        alike = any({*node.classes} & {*n.classes} for n in self.tree)
        return way if self.asks_relation and not (alike and len(way[1]) == 1) else None

    def _path(self, node: PlanNode) -> tuple[float, tuple[JoinStep, ...]] | None:
        joined = {(p.subject, p.object) for p in self.patterns} | self.linked
        if any({(node.place, o.place), (o.place, node.place)} & joined for o in self.tree):
            return 0.0, ()
        sources = sorted({c for n in self.tree for c in self.narrowest_of(n)})
        liked = {c: 0.3 for n in self.nodes for c in n.classes if n.typed}
        best = None
        apart = [c for c in sources if c not in node.classes]
        ends = self.narrowest_of(node)
        found = self.joins.path(apart, ends, discount=self.discount, preferred=liked)
        if found is not None and found[1]:
            best = found
        for cls in node.classes:
            if cls in sources:
                other = self.joins.walk_to_other(cls, discount=self.discount)
                if other is not None and (best is None or other < best):
                    best = other
        open_ = sorted({c for n in self.tree if not n.fixed for c in n.classes})
        if node.fixed and best is not None and best[1] and best[1][0].source not in open_:
            nearer = self.joins.path(open_, ends, discount=self.discount, preferred=liked)
            if nearer is not None and nearer[1] and nearer[0] < best[0] + _OF_NAMES:
                best = nearer
        if node.above and best is not None:
            # Where the question names a relation that its like lack, that is what it lacks.
            open_ = sorted({c for n in self.tree if not n.fixed for c in n.classes} - {*node.above})
            wider = self.joins.path(open_, node.above, discount=self.discount, preferred=liked)
            # Who was born in a country was born somewhere in it: that goes on from the relation itself.
            first = [step.property for step in best[1][:-1]]
            on = wider is not None and best[1][-1].forward and first == [step.property for step in wider[1]]
            lacked = wider is not None and wider[1] and wider[0] < best[0] - _LACKED and not on
            best = wider if wider is not None and lacked else best
        return best

    def _hint(self, word: str) -> float:
        """Return how much a word of the question tells for a property that leads to what is to be joined."""
        if word in self.near:
            return 1.5
        told = self.hints.get(word, 0.0)
        if not told or not self.near:
            return told
        if not any(word in n.hints for n in self.nodes if n.hints and n.fixed):
            return told
        # "Films with Ada directed by Ben" are not by Ada; those "directed by Ada and Ben" are by both.
        return 0.0 if _OWN_WAY & {*self.near} and not self._is_coordinated() else 0.4

    def _is_coordinated(self) -> bool:
        """Return whether what is to be joined stands behind "and", so that it shares the way of a name."""
        return bool(_COORDINATED & {*self.near[:3][-1:]})

    def _claimed_by_another(self, iri: str) -> bool:
        """Return whether a property stands before another name than the one that is to be joined."""
        claimed = self.claimed.get(iri, set())
        named = isinstance(self.joining, URIRef) and not self._is_coordinated()
        return named and bool(claimed) and self.joining not in claimed

    def discount(self, step: JoinStep) -> float:
        """Return what a step costs less because the question has words for it."""
        info = self.schema.properties.get(step.property)
        if info is None:
            return 0.0
        if step.property in self.avoided:
            return -_AVOIDED
        if step.forward and info.functional and step.property in self.used and not self.pairing:
            # It leads to one thing only, which another name of the question has taken.
            return -2.5
        if step.property in self.wanted and not self._claimed_by_another(step.property):
            return 0.8
        best = self._told_by_its_end(step, info)
        for name in info.names:
            parts = [stem(w) for part in name.split() for w in name_parts(part)]
            if parts:
                best = max(best, sum(map(self._hint, parts)) / len(parts))
        return 0.6 * min(1.0, best)

    def _told_by_its_end(self, step: JoinStep, info: PropertyInfo) -> float:
        """Return how little a property needs a word that is called like what it leads to; 1 for none."""
        end = self.schema.classes.get(step.target if step.forward else step.source)
        if end is None or not {n.lower() for n in info.names} & {n.lower() for n in end.names}:
            return 0.0
        return 1.0 if any(n.typed and end.iri in n.classes for n in self.nodes) else 0.5

    def _tied(self, step: JoinStep) -> bool:
        """Return whether another property leads the same way at the same cost."""
        same = {
            other.property: rare - self.discount(other)
            for other, rare in self.joins.steps(step.source)
            if other.target == step.target
        }
        own = same.pop(step.property)
        return any(abs(cost - own) < _EQUAL for cost in same.values())

    def _walk(self, steps: Sequence[JoinStep], target: PlanNode) -> None:
        if not steps:
            return
        at = next(n for n in self.tree if steps[0].source in n.classes)
        for number, step in enumerate(steps):
            if self._tied(step):
                self.ties.add(step.property)
            following = target if number == len(steps) - 1 else self._between(step.target)
            if step.forward:
                self.add(at.place, step.property, following.place)
            else:
                self.add(following.place, step.property, at.place)
            at = following

    def _between(self, cls: str) -> PlanNode:
        for node in self.nodes:
            if isinstance(node.place, Unknown) and cls in node.classes and node not in self.tree:
                self.tree.append(node)
                return node
        node = self.node_of(cls, new=True)
        self.tree.append(node)
        return node

    def split(self, shown: Collection[Unknown], said: Collection[Unknown | URIRef], *, both: bool) -> None:
        """Give each of two names a way of its own where one unknown can only have one: "films with A and B".

        Args:
            shown: What is shown or counted, which is of both names itself.
            said: Places of the kinds that the question names.
            both: Whether the question says that one thing may not be of both.
        """
        places = {n.place for n in self.nodes}
        between = {p for p in places if isinstance(p, Unknown)} - {*shown, *said}
        split_ends(self.patterns, places, shown, between, self.schema, self.fresh, both=both)

    # -- the whole ---------------------------------------------------------------------------------

    def block(self, extra: Iterable[Pattern] = ()) -> Block:
        """Return the block, with the classes that the question names."""
        patterns = [*self.patterns, *extra]
        for node in self.nodes:
            if not isinstance(node.place, Unknown) or not node.classes[0]:
                continue
            if node.typed:
                patterns.append(Pattern(node.place, RDF.type, URIRef(node.classes[0])))
        return Block(tuple(patterns), tuple(self.conditions), tuple(self.without), tuple(self.either))
