"""Properties that are called by a superlative: the "highest point" of a state, and of all states."""

from __future__ import annotations

from dataclasses import dataclass

from rdflib import URIRef

from mrag.planning.asked.denials import PlanDenials
from mrag.planning.building.nodes import PlanNode
from mrag.planning.lexical.candidates import Candidate
from mrag.planning.lexical.english import DIMENSIONS, positive
from mrag.planning.plan import Aggregate, Column, Expression, Number, Order, Pattern, Unknown
from mrag.planning.reading.frame import Noun, Superlative
from mrag.planning.schema import PropertyInfo


@dataclass
class PlanExtremes(PlanDenials):
    """Properties that are called by a superlative."""

    def _extreme_wanted(self) -> tuple[Noun, Expression] | None:
        """Return a name that says by what things are ordered: "which state has the lowest point"."""
        for noun in self.frame.nouns if self.frame.superlative is None else ():
            info = self._called_extreme(noun)
            if info is not None and not noun.role and self._with(noun) and not self._beside(noun):
                return noun, self._number_of(info)
        return None

    def _how_extreme(self) -> None:
        """Ask for the number that goes with a text: "how high is the highest point of Peru"."""
        low, outputs = self.question.low, self.frame.outputs
        how = next((o for o in outputs if isinstance(o, Noun) and o.start == 1 and low[0] == "how"), None)
        texts = [o for o in outputs if isinstance(o, Noun) and o is not how]
        info = self._called_extreme(texts[0]) if how is not None and len(texts) == 1 else None
        if how is None or info is None or info.kind != "text":
            return
        number = self._beside_text(info)
        texts[0].candidates = (Candidate("property", number.iri, 0.9, number.names[0], "meaning"),)
        self.picked[texts[0].end] = texts[0].candidates[0]
        self.guesses += 0.5
        self.frame.outputs = [*texts]
        self.frame.nouns.remove(how)
        self.frame.read.update((0, 1))

    def _extremes(
        self, columns: list[Column], order: list[Order], wanted: tuple[Noun, Expression] | None
    ) -> None:
        """Order by what is called by a superlative, where it is said of many things: of all states.

        Args:
            columns: What is shown; what orders is added.
            order: The order, which is added to.
            wanted: What orders although it is not shown.
        """
        if self.frame.superlative is not None or order:
            return
        self._totals(columns)
        if wanted is None:
            shown = [o for o in self.frame.outputs if isinstance(o, Noun) and self._called_extreme(o)]
            compared = any(shown[0] in (c.left, c.right) for c in self.frame.compared) if shown else False
            if len(shown) != 1 or self.frame.groups or compared:
                return
            info = self._called_extreme(shown[0])
            word = self.question.words[shown[0].end - 1]
            owner = None if info is None else self.graph.owner(self._domains(self.noun(shown[0])))
            if info is None or owner is None or self._single(owner) or word.low != word.token.key:
                return
            wanted = shown[0], self._number_of(info)
        noun, number = wanted
        noun.role = noun.role or "measure"
        plain = positive(self.question.low[noun.start])
        direction = DIMENSIONS[plain][0] if plain else "greatest"
        self.frame.superlative = Superlative(direction)
        key = self._hidden(number, columns, set(), noun)
        order.append(Order(key.name, direction == "greatest"))

    def _totals(self, columns: list[Column]) -> None:
        """Add up what is called a total, where it is asked of many things together: "the total revenue"."""
        for at, column in enumerate(columns) if not self.frame.groups else ():
            for noun in (o for o in self.frame.outputs if isinstance(o, Noun)):
                info, last = (
                    self.schema.properties.get(self.noun(noun).term),
                    self.question.words[noun.end - 1],
                )
                if info is None or info.kind != "number" or self.question.low[noun.start] != "total":
                    continue
                owner = self.graph.owner(self._domains(self.noun(noun)))
                said = self.graph.values.get((str(owner.place), info.iri))
                if said is None or self._single(owner) or last.low != last.token.key or len(columns) > 1:
                    continue
                assert isinstance(owner.place, Unknown)
                if column.value in (said, Number(said)):
                    columns[at] = Column(Aggregate("sum", column.value, (owner.place,)), column.name)

    def _called_extreme(self, noun: Noun) -> PropertyInfo | None:
        """Return the property that a noun names by all of its words, if the first is a superlative."""
        plain = positive(self.question.low[noun.start])
        if plain is None or plain == self.question.low[noun.start] or noun.end - noun.start < 2:
            return None
        found = self.noun(noun)
        info = self.schema.properties.get(found.term)
        named = info is not None and found.way in ("exact", "inflected") and info.kind in ("number", "text")
        return info if named else None

    def _number_of(self, info: PropertyInfo) -> Expression:
        if info.kind == "text":
            return self._number_beside(info)
        return self.graph.number(self.graph.owner(sorted(info.domains)), info)

    def _single(self, node: PlanNode) -> bool:
        """Return whether a node is one thing: what is named, or what only that has."""
        if isinstance(node.place, URIRef):
            return True

        def leads_back(p: Pattern) -> bool:
            info = self.schema.properties.get(str(p.predicate))
            if info is None or node.place not in (p.subject, p.object):
                return False
            forward = p.subject == node.place
            end = p.object if forward else p.subject
            return isinstance(end, URIRef) and (info.triples == info.objects if forward else info.functional)

        return any(leads_back(p) for p in self.graph.patterns)
