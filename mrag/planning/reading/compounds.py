"""Where the names of a question are compounds: "population density", "customer state"."""

from __future__ import annotations

from dataclasses import dataclass

from mrag.language.tokens import VERBS
from mrag.planning.lexical.english import is_past
from mrag.planning.reading.frame import Noun
from mrag.planning.reading.segmentation import QuestionItem
from mrag.planning.reading.state import PARTICIPLES
from mrag.planning.reading.words import WordReader

_MOST = frozenset("the more less most least".split())
"""Words behind a verb whose subject stands before it: "the vet earns the most"."""
_COSTING = frozenset("at over under above below exactly between".split())
"""Further words behind a "cost" that is a verb."""


@dataclass
class CompoundReader(WordReader):
    """Where the names of a question are compounds."""

    def _modifies_next(self, number: int) -> bool:
        """Return whether a property only tells which other is meant: "population density"."""
        item, following = self.items[number], self.items[number + 1 : number + 2]
        if not following or following[0].mention is None or following[0].start != item.end:
            return False
        assert item.mention is not None
        own, head = item.mention.candidates, following[0].mention.candidates
        plural = self.question.words[item.end - 1].low.endswith("s")
        if {own[0].kind, head[0].kind} != {"property"} or plural or self.question.words[item.end].before:
            return False
        best = self.schema.properties.get(head[0].term)
        if best is None or best.kind != "number" or head[0].score < 0.9:
            return False
        close = [self.schema.properties.get(c.term) for c in own if c.score > own[0].score - 0.02]
        if not any(o and o.kind == "number" and set(o.domains) & set(best.domains) for o in close):
            return False
        self.frame.read.update(range(item.start, item.end))
        return True

    def _kind_of_kind(self, cls: str, following: QuestionItem) -> bool:
        """Return whether a class only tells of what the things behind it are: "turbine models"."""
        assert following.mention is not None
        head, candidates = self.question.words[following.end - 1], following.mention.candidates
        heads = {c.term for c in candidates if c.kind == "class" and c.score >= candidates[0].score - 0.05}
        if not head.plural or self.question.words[following.start].before or cls in heads:
            return False
        return any({e.source, e.target} == {cls, other} for e in self.schema.edges for other in heads)

    def _owner_of_next(self, number: int) -> bool:
        """Take a class that stands right before one of its own properties for part of the property's name."""
        item, following = self.items[number], self.items[number + 1 : number + 2]
        if not following or following[0].mention is None or following[0].start != item.end:
            return False
        assert item.mention is not None
        own, behind = item.mention.candidates[0], following[0].mention.candidates
        word = self.question.words[item.end - 1]
        plural = word.plural and word.low != "sales"
        verb = self.question.words[item.end].low
        asked = {"does", "do", "did"} & {*self.question.low[: item.start]} and verb in VERBS
        compared = _MOST if verb not in ("cost", "costs") else _MOST | _COSTING
        costs = compared & {*self.question.low[item.end + 1 : item.end + 2]}
        if plural or asked or costs or verb == "born" or is_past(verb) or verb in PARTICIPLES:
            return False  # "products cost" and "product sold" are no compounds, "customer state" is
        if own.kind == "class" and self._kind_of_kind(own.term, following[0]):
            self.frame.read.update(range(item.start, item.end))
            return True
        if own.kind != "class" or self.question.words[item.end].before not in ("", "'", "’"):
            return False
        kept = [c for c in behind if c.kind == "property" and self._owns(own.term, c.term)]
        if not kept or kept[0].score < behind[0].score - 0.2:
            return False
        noun = Noun(item.start, item.end, item.mention.candidates, role="owner")
        self.frame.nouns.append(noun)
        self.owner, self.owner_start = own.term, item.start
        return True
