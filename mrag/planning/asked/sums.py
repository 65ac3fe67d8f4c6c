"""Sums of money that a question asks for by what it was paid for."""

from __future__ import annotations

from dataclasses import dataclass

from mrag.planning.asked.people import PlanPeople
from mrag.planning.building.checks import refuse_things
from mrag.planning.building.nodes import PlanNode
from mrag.planning.composing.drafts import Unbuildable
from mrag.planning.derived.amounts import number_recorded, stated_amounts, tally
from mrag.planning.lexical.english import root
from mrag.planning.plan import Aggregate, Expression, Fold, Unknown
from mrag.planning.reading.frame import FrameMeasure, Noun
from mrag.planning.schema import PropertyInfo

_OF_MONEY = frozenset(map(root, "funding money spending earning revenue income turnover".split()))
"""Roots of words for what there is a sum of, and no number."""


@dataclass
class PlanSums(PlanPeople):
    """Sums of money that a question asks for by what it was paid for, and of what was recorded."""

    def _sum_of(self, measure: FrameMeasure, info: PropertyInfo) -> Expression | None:
        """Return the sum of the amounts of what a relation is of: "the total funding" adds up grants.

        Args:
            measure: The fold, of words for the relation.
            info: The relation.

        Returns:
            None where the words may be for a number of things.
        """
        noun = measure.noun
        if noun is None or root(self.question.low[noun.end - 1]) not in _OF_MONEY:
            return None
        if self.question.low[noun.end - 1].endswith("s"):
            return None
        amounts = [i for i in stated_amounts(self.schema) if {*i.domains} & {*info.domains, *info.ranges}]
        if len(amounts) != 1:
            raise Unbuildable("which amount?")
        if measure.function not in ("sum", None):
            raise Unbuildable("an average of sums")
        node = self.graph.owner(self.schema.likeliest(amounts[0].domains))
        return Aggregate("sum", self.graph.number(node, amounts[0]), (self._unknown(node),))

    def _counted_kind(self, noun: Noun, info: PropertyInfo) -> Unknown | None:
        """Return the things of a kind that a relation before it is of: "number of neighbouring states of".

        Args:
            noun: The words for the relation.
            info: The relation, of things of one kind.
        """
        alike = {*info.domains} & {*info.ranges}
        behind = next((n for n in self.frame.nouns if n.start == noun.end), None)
        named = [n for n in self.graph.named if alike & {*n.classes}]
        if behind is None or len(named) != 1 or self.noun(behind).term not in alike:
            return None
        things = self.graph.node_of(self.noun(behind).term, typed=True)
        self.graph.add(named[0].place, info.iri, things.place)
        return things.place if isinstance(things.place, Unknown) else None

    def _money(self, cls: str, function: Fold) -> Expression:
        """Return a fold of the one property of a class that is an amount: "the total sales amount"."""
        words = {"price", "amount", "cost", "revenue", "value", "total", "worth"}
        found = [
            i for i in self.schema.properties.values()
            if cls in i.domains and i.kind == "number" and words & set(i.names[0].lower().split())
        ]  # fmt: skip
        if len(found) != 1:
            raise Unbuildable("which amount?")
        node = self.graph.node_of(cls, typed=True)
        return Aggregate(function, self.graph.number(node, found[0]), (self._unknown(node),))

    def _recorded(self, cls: str, measure: FrameMeasure) -> Expression | None:
        """Return a fold of what things of a class are records of; None where they are counted themselves."""
        function = measure.function
        if measure.money:
            return self._money(cls, function or "sum")
        if function in (None, "count") and (many := tally(cls, self.schema)) is not None:
            node = self.graph.node_of(cls, typed=True)
            return Aggregate("sum", self.graph.number(node, many), (self._unknown(node),))
        if function in ("sum", "average") and (own := number_recorded(cls, self.schema)):
            node = self.graph.node_of(cls, typed=True)
            return Aggregate(function, self.graph.number(node, own), (self._unknown(node),))
        refuse_things(function, self.question)
        return None

    @staticmethod
    def _unknown(node: PlanNode) -> Unknown:
        if not isinstance(node.place, Unknown):
            raise Unbuildable("an entity is not counted")
        return node.place
