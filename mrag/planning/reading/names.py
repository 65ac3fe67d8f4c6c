"""What entities and values do in a question, and where names are compounds."""

from __future__ import annotations

from dataclasses import dataclass

from mrag.planning.lexical.candidates import NameMention
from mrag.planning.reading.frame import (
    Compared,
    FrameRestriction,
    Noun,
)
from mrag.planning.reading.segmentation import QuestionItem, meaningful
from mrag.planning.reading.words import WordReader


@dataclass
class NameReader(WordReader):
    """What entities and values do in a question, and where names are compounds."""

    def _mention(self, item: QuestionItem, mention: NameMention) -> None:
        kinds = {c.kind for c in mention.candidates[:1]}
        best = mention.candidates[0].score
        nouns = tuple(c for c in mention.candidates if c.kind in ("class", "property"))
        names = tuple(c for c in mention.candidates if c.kind in ("entity", "value"))
        if self.waiting.text == "anywhere" and kinds == {"class"}:
            self.waiting.text = None  # "states that contain mountains" is not about text
        if self.waiting.text is not None:
            self._text(self.question.text[self._chars(item)], item)
            return
        named = bool(names) and ("entity" in kinds or "value" in kinds)
        if nouns and names and nouns[0].score >= best - 0.05:
            # A class or a property that a value happens to be called by.
            named = False
        owner, self.owner = self.owner, ""
        if owner:
            nouns = tuple(c for c in nouns if self._owns(owner, c.term))
            named = False
        if named:
            self._name(item, NameMention(item.start, item.end, names))
        else:
            self._noun(Noun(self.owner_start if owner else item.start, item.end, nouns))

    def _name(self, item: QuestionItem, mention: NameMention) -> None:
        waiting = self.waiting
        if waiting.compare is not None and waiting.compare not in ("=",):
            left = self.last if self._adjacent(item.start, 4) else None
            self._compared(
                Compared(waiting.compare, mention, left=left, adjective=waiting.adjective, at=item.start)
            )
            return
        low = self.question.low
        noun = self.last if self.last is not None and self._adjacent(item.start, 3) else None
        negated, waiting.negated = waiting.negated, False
        behind = self._beside(item, mention)
        if behind is not None:
            noun = behind
        found = FrameRestriction(
            mention, noun, negated, before=tuple(low[max(0, item.start - 3) : item.start])
        )
        previous = self.frame.restrictions[-1] if self.frame.restrictions else None
        if (
            previous is not None
            and previous.mention.end == item.start
            and "(" in self.question.words[item.start].before
        ):
            # "Chicago (ORD)" names one thing twice; the name in brackets is the code.
            self.frame.restrictions.pop()
            found.noun, found.before = previous.noun, previous.before
            previous = None
        between = self.question.words[max(0, self.or_at) : item.start]
        if previous is not None and self.or_at >= previous.mention.end and not any(map(meaningful, between)):
            if previous.either < 0:
                previous.either, self.either = self.either, self.either + 1
            found.either, found.negated = previous.either, previous.negated or negated
            found.noun = found.noun or previous.noun
        self.frame.restrictions.append(found)
        self.listing = False
        self.last_at = item.end

    def _beside(self, item: QuestionItem, mention: NameMention) -> Noun | None:
        """Return the class or property right behind a name that it is a name of: "the Sociology domain"."""
        following = next((i for i in self.items if i.start == item.end), None)
        if following is None or following.mention is None:
            return None
        terms = {t for c in mention.candidates for t in (*c.classes, *c.properties)}
        kept = tuple(c for c in following.mention.candidates if c.term in terms and c.score > 0.45)
        if not kept:
            return None
        self.skipped.add(following.start)
        noun = Noun(following.start, following.end, kept, "beside")
        self.frame.nouns.append(noun)
        return noun

    def _owner_of_next(self, number: int) -> bool:
        """Take a class that stands right before one of its own properties for part of the property's name."""
        item, following = self.items[number], self.items[number + 1 : number + 2]
        if not following or following[0].mention is None or following[0].start != item.end:
            return False
        assert item.mention is not None
        own, behind = item.mention.candidates[0], following[0].mention.candidates
        word = self.question.words[item.end - 1]
        plural = word.low != word.token.key and word.low.endswith("s") and word.low != "sales"
        if plural:
            return False  # "products cost" is no compound, "customer state" is
        if own.kind != "class" or self.question.words[item.end].before not in ("", "'", "’"):
            return False
        kept = [c for c in behind if c.kind == "property" and self._owns(own.term, c.term)]
        if not kept or kept[0].score < behind[0].score - 0.2:
            return False
        noun = Noun(item.start, item.end, item.mention.candidates, role="owner")
        self.frame.nouns.append(noun)
        self.owner, self.owner_start = own.term, item.start
        return True
