"""How often something happened: "boats chartered more than five times" counts what is said of the boats."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mrag.language.tokens import VERBS
from mrag.planning.asked.deeds import told_of
from mrag.planning.asked.times import PlanTimes
from mrag.planning.building.nodes import PlanNode
from mrag.planning.composing.drafts import Unbuildable
from mrag.planning.lexical.candidates import Candidate
from mrag.planning.lexical.english import is_past
from mrag.planning.plan import Aggregate, Unknown
from mrag.planning.reading.frame import Compared, Noun
from mrag.planning.reading.state import PARTICIPLES
from mrag.planning.schema import PropertyInfo, most_of

_SURE = 0.45
"""How like a verb the name of what happened must be."""

_BEEN = frozenset("is are was were be been being got get".split())

_INSIDE = frozenset("in at during within on".split())
_ONE = frozenset("a an one any some single".split())


@dataclass
class PlanHappenings(PlanTimes):
    """How often something happened."""

    def _happenings(self, compared: Compared) -> Aggregate:
        """Return the number of times that something happened to what is asked for."""
        low = self.question.low
        verbs = [i for i in range(compared.at - 1, 0, -1) if is_past(low[i]) or low[i] in PARTICIPLES | VERBS]
        verbs = [i for i in verbs if compared.at - i < 7] or [0]
        things = [n for n in self.graph.unnamed if n.typed] or self.graph.unnamed
        found = [
            (score, -number, info.iri, node, info)
            for number, node in enumerate(things[:2])
            for score, info in self._events_of(node, low[verbs[0]])
        ]
        if not found:
            raise Unbuildable("how often what?")
        score, _, _, node, info = max(found, key=lambda f: f[:3])
        alone = len({tuple(f[4].domains) for f in found}) == 1
        if score < _SURE and not alone:
            raise Unbuildable("how often what?")
        self.guesses += 0.0 if score == 1.0 else 0.5
        event = self.graph.node_of(most_of(info.domains))
        self.graph.add(event.place, info.iri, node.place)
        self.graph.read += [
            i.iri for i in self.schema.properties.values() if set(i.domains) & set(event.classes)
        ]
        self.frame.read.update(verbs)
        return Aggregate("count", None, (self._unknown(event),))

    def _counted_within(self, compared: Compared, counted: Noun) -> None:
        """Count anew for each of what a bound is said of: "more than three goals in a match"."""
        low = self.question.low
        for noun in self.frame.nouns:
            between = low[counted.end : noun.start]
            told = len(between) > 1 and between[0] in _INSIDE and {*between[1:]} <= _ONE
            node = self._node_of(noun) if told and not noun.role else None
            if node is None or not isinstance(node.place, Unknown):
                continue
            if compared.negated:
                raise Unbuildable("so many in none")
            self.within.append(node.place)

    def _events_of(self, node: PlanNode, verb: str) -> Iterator[tuple[float, PropertyInfo]]:
        """Yield the properties by which what happened leads to some things, with how well a verb tells it."""
        for info in self.schema.properties.values():
            if info.kind == "entity" and set(info.ranges) & set(node.classes) and info.functional:
                for cls in info.domains:
                    if cls not in node.classes:
                        yield told_of(verb, cls, self.schema, self.likeness), info

    def _when_done(self, noun: Noun, found: Candidate, info: PropertyInfo) -> bool:
        """Return whether a verb says that something happened of which the date is known: "who resigned"."""
        return info.kind == "date" and found.score > 0.8 and is_past(self.question.low[noun.end - 1])

    def _done(self, noun: Noun, info: PropertyInfo) -> bool:
        """Return whether words say that something was done, by whomever: "were placed", "are on loan"."""
        low, kinds = self.question.low, {c for n in self.graph.nodes if n.typed for c in n.classes}
        passive = _BEEN & {*low[: noun.start]} and low[noun.end : noun.end + 1] != ["by"]
        so = is_past(low[noun.end - 1]) or (low[noun.start - 1] == "on" and noun.end - noun.start == 1)
        return bool(passive and kinds & set(info.domains)) and so
