"""What entities and values do in a question."""

from __future__ import annotations

from dataclasses import dataclass

from mrag.language.tokens import VERBS
from mrag.planning.lexical.candidates import Candidate, NameMention
from mrag.planning.reading.compounds import CompoundReader
from mrag.planning.reading.frame import DESCRIBED, Compared, FrameMeasure, FrameRestriction, Noun
from mrag.planning.reading.segmentation import QuestionItem, meaningful
from mrag.planning.reading.state import PARTICIPLES, VERBS_OF_ASKING, numeric
from mrag.planning.schema import most_of

_NAMED = frozenset("named called".split())
_APART = VERBS_OF_ASKING | frozenset("in from at near with for through to on".split())
"""Words between a class and a name that is not the name of one of its things."""
_ONE_OF = frozenset("which what a an each every any another".split())
_SAID_OF = (["of"], ["than"], ["does"], ["is"])
"""Words before a name of which something is said itself."""
_WHERE = frozenset("in on at from to during since before after by".split())


def third_person(word: str) -> bool:
    """Return whether a word is what a verb is behind one who does it: "teaches", "wins"."""
    return word.endswith("s") and bool({word[:-1], word.removesuffix("es")} & VERBS)


@dataclass
class NameReader(CompoundReader):
    """What entities and values do in a question."""

    def _mention(self, item: QuestionItem, mention: NameMention) -> None:
        kinds = {c.kind for c in mention.candidates[:1]}
        best = mention.candidates[0].score
        nouns = tuple(c for c in mention.candidates if c.kind in ("class", "property"))
        names = tuple(c for c in mention.candidates if c.kind in ("entity", "value"))
        if self.waiting.text == "anywhere" and kinds == {"class"}:
            self.waiting.text = None  # "states that contain mountains" is not about text
        of_things = self.last is not None and self.last.candidates[0].kind == "class"
        if (
            self.waiting.text == "anywhere"
            and kinds == {"entity"}
            and of_things
            and mention.candidates[0].way == "exact"
        ):
            self.waiting.text = None  # "orders that contain the Red Lamp"
        texts = self.frame.texts
        if texts and self.or_at == item.start == self.text_at + 1 and texts[-1].position == "whole" and names:
            self.waiting.text = "whole"  # "a grade of A or C"
        if self.waiting.text is not None:
            self._text(self.question.said(item.start, item.end), item)
            return
        named = bool(names) and ("entity" in kinds or "value" in kinds)
        if nouns and names and nouns[0].score >= best - 0.05:
            # A class or a property that a value happens to be called by.
            named = self._kind_of_next(item, names)
        owner, self.owner = self.owner, ""
        if owner:
            nouns = tuple(c for c in nouns if self._owns(owner, c.term))
            named = False
        if named:
            mention = NameMention(item.start, item.end, names)
            if (noun := self._of_a_kind(item, names)) is not None:
                found = FrameRestriction(mention, noun)
                previous = self.frame.restrictions[-1] if self.frame.restrictions else None
                if previous is not None and self._exclude_each_other(previous, found):
                    self._alternatives(previous, found)
                    found.noun = previous.noun
                else:
                    self._noun(noun)
                self.frame.restrictions.append(found)
            else:
                self._name(item, mention)
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
        verb = VERBS_OF_ASKING & {*low[item.end : item.end + 1]}
        if waiting.show and low[item.start - 1 : item.start] == ["which"] and verb:
            waiting.show = self.implicit = False  # "which thriller has …" asks for things of a kind
        noun = self.last if self.last is not None and self._adjacent(item.start, 3) else None
        if noun is not None and not numeric(noun):
            joining = set(low[noun.end : item.start])
            if joining and joining <= _NAMED:
                waiting.text = "whole"
                self._text(self.question.said(item.start, item.end), item)
                return
            if joining & _APART and any(noun.candidates[0].term in c.classes for c in mention.candidates):
                noun = None  # "how many rivers does Colorado have" names no river
        if waiting.count and _APART & {*low[item.end : item.end + 1]} and low[item.start - 1] == "many":
            # "How many Dairy Belle are there in Alameda county" counts what is named, not counties.
            self.frame.outputs.append(FrameMeasure("count", None))
            waiting.count = waiting.show = False
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
            self._alternatives(previous, found)
            found.negated, found.noun = previous.negated or negated, found.noun or previous.noun
        if previous is not None and found.either < 0 and self._exclude_each_other(previous, found):
            self._alternatives(previous, found)
            found.noun = found.noun or previous.noun
        if previous is not None and self._listed_with(previous, found):
            self._alternatives(previous, found)
            previous.listed = found.listed = True
        self.frame.restrictions.append(found)
        self.listing = False
        self.last_at = item.end

    def _alternatives(self, previous: FrameRestriction, found: FrameRestriction) -> None:
        """Take a name for an alternative to the one before it."""
        if previous.either < 0:
            previous.either, self.either = self.either, self.either + 1
        found.either = previous.either

    def _kind_of_next(self, item: QuestionItem, names: tuple[Candidate, ...]) -> bool:
        """Return whether a value says of which kind are the things right behind it: "engine repairs"."""
        following = self._mention_at(item.end)
        if following is None or following.candidates[0].kind != "class":
            return False
        cls = following.candidates[0].term
        head = self.question.words[following.end - 1]
        return head.low != head.token.key and any(
            cls in info.domains and info.kind == "text"
            for c in names[:2] if c.kind == "value" and c.way == "exact" for p in c.properties
            if (info := self.schema.properties.get(p)) is not None
        )  # fmt: skip

    def _exclude_each_other(self, previous: FrameRestriction, found: FrameRestriction) -> bool:
        """Return whether no thing has both of two values: "on Mondays and Wednesdays"."""
        low, start = self.question.low, previous.mention.start
        between = low[previous.mention.end : found.mention.start]
        comma = "," in self.question.words[found.mention.start].before
        if not ("and" in between or comma) or not {*between} <= {"and", "the", "on", "in", "a", "an"}:
            return False
        if (
            self.frame.yes_or_no
            or "both" in low[max(0, start - 5) : start]
            or previous.negated
            or found.negated
        ):
            return False
        values = [[c for c in r.mention.candidates[:2] if c.kind == "value"] for r in (previous, found)]
        return any(
            info.functional
            for one in values[0][:1] for other in values[1][:1]
            for p in {*one.properties} & {*other.properties}
            if (info := self.schema.properties.get(p)) is not None and one.term != other.term
        )  # fmt: skip

    def _of_a_kind(self, item: QuestionItem, names: tuple[Candidate, ...]) -> Noun | None:
        """Return what stands for the things of a kind that is said like a class: "all comedies"."""
        low, last = self.question.low, self.question.words[item.end - 1]
        before = low[item.start - 1] if item.start else ""
        plural = last.plural and before not in _WHERE
        if self.waiting.negated or self.waiting.compare or self.or_at >= self.last_at > 0:
            return None
        said_of = low[max(0, item.start - 2) : item.start - 1]
        capital = self.question.said(item.start, item.end)[:1].isupper() and names[0].kind == "entity"
        if (
            before in ("a", "an")
            and capital
            and not plural
            and (said_of in _SAID_OF or self._has_last(names))
        ):
            return None  # "the price of a Boeing 747" is its own
        judged = self.waiting.show and self.last_at == item.start and before.endswith("ed")
        said = plural or judged or before in _ONE_OF
        if not said:
            return None
        if (following := self._mention_at(item.end)) is not None:
            verb = low[following.start]
            asked = bool({"do", "did"} & {*low[: item.start]})  # "what do comedies earn"
            thing = following.candidates[0].kind == "class"
            does = verb in VERBS or (asked and not thing) if plural else third_person(verb) and not thing
            if not (verb.endswith("ed") or verb in PARTICIPLES or does):
                return None  # a "comedy actor" is no comedy, but "comedies directed by" somebody are
        found: list[tuple[int, str]] = []
        for name in names[:3]:
            if name.term.startswith(DESCRIBED):
                return None
            if plural and name.name.casefold().split()[-1:] == [last.low]:
                return None  # the name is a plural itself: "Eagles"
            for info in self.schema.properties.values():
                of_it = info.iri in name.properties if name.kind == "value" else (
                    info.kind == "entity" and bool(set(info.ranges) & set(name.classes))
                )  # fmt: skip
                alike = set(info.domains) & set(info.ranges)
                if of_it and info.domains and not alike and info.triples > info.objects:
                    found.append((info.triples, most_of(info.domains)))
            if found:
                break
        if not found:
            return None
        cls = max(found)[1]
        called = (
            next(iter(self.schema.classes[cls].names), "thing") if cls in self.schema.classes else "thing"
        )
        return Noun(item.start, item.end, (Candidate("class", cls, 0.95, called),), implied=True)

    def _has_last(self, names: tuple[Candidate, ...]) -> bool:
        """Return whether what was last spoken of is said of a thing itself: "seats in an Airbus A320"."""
        found = self.last.candidates[0].term if self.last is not None else ""
        info = self.schema.properties.get(found)
        return info is not None and info.kind != "entity" and bool({*info.domains} & {*names[0].classes})

    def _listed_with(self, previous: FrameRestriction, found: FrameRestriction) -> bool:
        """Return whether two names are of things whose properties are asked for: "of Texas and Oklahoma"."""
        low = self.question.low
        if low[previous.mention.end : found.mention.start] != ["and"] or self.frame.yes_or_no:
            return False
        before = low[max(0, previous.mention.start - 5) : previous.mention.start]
        if "both" in before and before[max(0, before.index("both") - 1)] not in ("of", "for"):
            return False  # "the capacity of both halls" is that of each
        classes = [set(r.mention.candidates[0].classes) for r in (previous, found)]
        last = self.frame.outputs[-1] if self.frame.outputs else None
        noun = last.noun if isinstance(last, FrameMeasure) else last
        return isinstance(noun, Noun) and any(
            set(info.domains) & classes[0] & classes[1]
            for c in noun.candidates
            if (info := self.schema.properties.get(c.term)) is not None and info.kind == "number"
        )

    def _beside(self, item: QuestionItem, mention: NameMention) -> Noun | None:
        """Return the class or property right behind a name that it is a name of: "the Sociology domain"."""
        following = self._mention_at(item.end)
        if following is None:
            return None
        least = mention.candidates[0].score - 0.3  # what only has one of its words is no name of it
        terms = {t for c in mention.candidates if c.score > least for t in (*c.classes, *c.properties)}
        kept = tuple(c for c in following.candidates if c.term in terms and c.score > 0.45)
        if not kept:
            return None
        head, best = self.question.words[following.end - 1], following.candidates[0]
        if (
            best.kind == "class"
            and best.way == "exact"
            and kept[0].kind == "property"
            and kept[0].score < 0.7
        ):
            return None  # a "failed transaction" is none of the words "transaction status"
        if self.waiting.count and kept[0].kind == "class" and head.plural:
            return None  # "how many pizza restaurants" counts restaurants, whatever one of them is called
        self.skipped.add(following.start)
        noun = Noun(following.start, following.end, kept, "beside")
        self.frame.nouns.append(noun)
        return noun
