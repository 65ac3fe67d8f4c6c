"""What is most frequent, and what something was done to most: numbers of things that no noun counts."""

from __future__ import annotations

from dataclasses import dataclass

from mrag.planning.building.names import PlanNames
from mrag.planning.building.nodes import PlanNode
from mrag.planning.composing.drafts import Unbuildable
from mrag.planning.plan import Aggregate, Column, Expression, Unknown
from mrag.planning.reading.frame import Noun
from mrag.planning.reading.state import COMMON, PARTICIPLES
from mrag.planning.schema import PropertyInfo, by_number

_GETTING = frozenset(
    "earn earns earned receive receives received gain gains gained get gets got make makes made take takes "
    "took give gives gave hold holds held want wants wanted know knows knew have has had weigh weighs".split()
)
"""Verbs before "the most" that say of an amount which they do not name."""
_ARTICLES = ("the", "a", "an", "of")


@dataclass
class PlanFrequency(PlanNames):
    """What is most frequent, and what something was done to most."""

    def _most_of(self, columns: list[Column]) -> Expression:
        """Return what a verb before "the most" tells the number of: "which customer spent the most"."""
        if not columns:
            raise Unbuildable("the most of what?")
        low, shown = self.question.low, columns[0].value
        most = max((i for i, w in enumerate(low) if w in ("most", "least")), default=len(low))
        verbs = [n for n in self.frame.nouns if not n.role and n.start < most and not self._apposed_beside(n)]
        if not verbs:
            return self._how_often(columns)
        verb = verbs[-1]
        found = self.noun(verb)
        info = self.schema.properties.get(found.term)
        if len(verbs) > 1 or not isinstance(shown, Unknown):
            raise Unbuildable("nothing to order by")
        if low[verb.start - 1] in _ARTICLES or not {"most", "least"} & {
            *low[verb.end : verb.end + 3],
            *low[-1:],
        }:
            raise Unbuildable("nothing to order by")
        verb.role = "measure"
        if info is None:
            return Aggregate("count", None, (self._unknown(self.graph.node_of(found.term, typed=True)),))
        if info.kind == "number":
            owner = self.graph.owner(self._domains(self.noun(verb)))
            value = self.graph.number(owner, info)
            return value if owner.place == shown else Aggregate("sum", value, (self._unknown(owner),))
        node = self.graph.at(shown)
        if info.kind != "entity" or node is None or not set(node.classes) & {*info.domains, *info.ranges}:
            raise Unbuildable("nothing to order by")
        return self._others_of(node, info, done=low[verb.end - 1].endswith("ed"))

    def _apposed_beside(self, noun: Noun) -> bool:
        return self._beside(noun) and self.noun(noun).kind == "class"

    def _others_of(self, node: PlanNode, info: PropertyInfo, *, done: bool) -> Expression:
        """Return the number of things that a property relates to those of a node.

        Args:
            node: The node.
            info: The property.
            done: Whether the node is its object, where it may be either.
        """
        backward = set(node.classes) & set(info.ranges)
        backward_ = bool(backward) and (done or not set(node.classes) & set(info.domains))
        others = info.domains if backward_ else info.ranges
        other = self.graph.node_of(next(iter(by_number(others)), ""), new=True)
        ends = (other.place, node.place) if backward_ else (node.place, other.place)
        self.graph.add(ends[0], info.iri, ends[1])
        return Aggregate("count", None, (self._unknown(other),))

    def _done_most(self, noun: Noun) -> Expression | None:
        """Return how often something was done to things: "the most cited paper"."""
        word = self.question.low[noun.end - 1]
        behind = next((n for n in self.frame.nouns if n.start == noun.end), None)
        info = self.schema.properties.get(self.noun(noun).term)
        if behind is None or info is None or info.kind != "entity":
            return None
        if not (word.endswith("ed") or word in PARTICIPLES) or (node := self._node_of(behind)) is None:
            return None
        if not set(node.classes) & {*info.domains, *info.ranges}:
            return None
        return self._others_of(node, info, done=True)

    def _how_often(self, columns: list[Column]) -> Expression:
        """Return how many things have what is shown: "the most common cause", "which way is used most"."""
        if not columns:
            raise Unbuildable("the most of what?")
        shown, low, top = columns[0].value, self.question.low, self.frame.superlative
        said = top is not None and top.adjective in COMMON
        if not isinstance(shown, Unknown) or len(columns) > 1 or not (said or low[-1] in ("most", "least")):
            raise Unbuildable("nothing to order by")
        verb = next((w for w in reversed(low[:-1]) if w != "the"), "")
        if not said and verb in _GETTING:
            raise Unbuildable(f"{verb} what?")  # who earns the most is not who does most
        self.guesses += 0.5
        pattern = self.graph.stating(shown)
        owner = self.graph.at(pattern.subject) if pattern is not None else None
        if owner is not None:
            return Aggregate("count", None, (self._unknown(owner),))
        node = self.graph.at(shown)
        if node is None or len(self.graph.nodes) > 1:
            raise Unbuildable("how many of what?")
        leading = [i for i in self.schema.properties.values() if set(i.ranges) & set(node.classes)]
        kinds = {c for i in leading for c in i.domains}
        if len(leading) != 1 or len(kinds) != 1:
            raise Unbuildable("how many of what?")
        return self._others_of(node, leading[0], done=True)
