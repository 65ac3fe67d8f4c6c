"""What classes and properties do in a question."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import cast

from mrag.language.tokens import PERSON_WORDS, is_stopword
from mrag.planning.lexical.candidates import Candidate
from mrag.planning.lexical.english import BEING, is_past
from mrag.planning.plan import Fold, Part
from mrag.planning.reading.folds import FoldReader, of_one
from mrag.planning.reading.frame import Compared, FrameMeasure, Noun, Superlative, TimeUnit
from mrag.planning.reading.segmentation import meaningful
from mrag.planning.reading.state import VERBS_OF_ASKING, may_be_class, numeric

OWNING = frozenset("of the a an each every all its their this that".split())
"""Words between a property and what it is said of."""
_THEIR = frozenset("their its his her".split())
_TIMES = frozenset("date day month year time".split())
_PARTS: dict[str, Part] = {"year": "year", "month": "month", "quarter": "quarter", "day": "date"}
_AMOUNTS = frozenset("amount amounts revenue revenues value worth".split())


@dataclass
class NounReader(FoldReader):
    """What classes and properties do in a question."""

    def _noun(self, noun: Noun) -> None:
        frame, waiting = self.frame, self.waiting
        noun.candidates = self._again(noun)
        frame.nouns.append(noun)
        self._first_of(noun)
        self._at_position(noun)
        if frame.superlative is not None and frame.superlative.adjective and frame.superlative.of is None:
            frame.superlative.of = noun
        before, self.last, self.last_at = self.last_at, noun, noun.end
        if self._tells_which(noun) or self._closes(noun):
            return
        waiting.show = waiting.show or self._with_several(noun)
        if waiting.order is not None:
            self._ordered(noun)
        elif waiting.negated and not self._name_follows(noun):
            noun.role, waiting.negated = "missing", False
            frame.missing.append(noun)
        elif waiting.each:
            self._grouped(noun)
        elif waiting.most or waiting.by:
            self._superlative(noun)
        elif waiting.top is not None and waiting.fold is None and not waiting.count:
            waiting.top = None
            noun.role = "focus"
            named = [o for o in frame.outputs if isinstance(o, Noun) and o.candidates[0].kind == "property"]
            if not named or noun.candidates[0].kind == "property":
                # "The names of the top three": the names are what is shown.
                frame.outputs.append(noun)
            self.listing, waiting.show = True, False
        elif waiting.compare is not None and waiting.fold is not None and numeric(noun):
            noun.role = "compared"
            self._level(FrameMeasure(waiting.fold, noun))
        elif waiting.count or waiting.fold is not None:
            self._measure(noun)
        elif waiting.compare is not None:
            left = frame.nouns[-2] if len(frame.nouns) > 1 else None
            measure = FrameMeasure(None, noun)
            self._compared(Compared(waiting.compare, measure, left=left, at=noun.start))
        elif waiting.show and (self._object_of_who(noun) or self._deed(noun)):
            waiting.show = False
        elif (
            waiting.show
            or self._told_too(noun)
            or (self._listed(noun) and self._continues(before, noun.start))
        ):
            noun.role = "output"
            frame.outputs.append(noun)
            self.listing, waiting.show = True, False
        elif (
            frame.groups
            and frame.groups[-1] is not noun
            and self._continues(before, noun.start)
            and (isinstance(frame.groups[-1], Noun) and frame.groups[-1].end == before)
        ):
            noun.role = "group"
            frame.groups.append(noun)
        else:
            self.listing = self.listing and self._owns_last(noun)

    def _grouped(self, noun: Noun) -> None:
        """Take a noun behind an "each" for what groups."""
        unit = self._unit_of_time(noun)
        if unit is None:
            noun.role = "group"
        else:
            self.frame.nouns.pop()
            self.frame.read.add(noun.start)
        self.frame.groups.append(unit or noun)
        self.waiting.each, self.listing = False, True

    def _unit_of_time(self, noun: Noun) -> TimeUnit | None:
        """Return the unit of time that a noun is, where things of another kind have a year of their own."""
        word, best = self.question.low[noun.start], noun.candidates[0]
        info = self.schema.properties.get(best.term)
        kinds = {n.candidates[0].term for n in self.frame.nouns[:-1] if n.candidates[0].kind == "class"}
        if (
            noun.end - noun.start > 1
            or word not in _PARTS
            or best.way != "tokens"
            or info is None
            or not kinds
        ):
            return None
        return None if kinds & {*info.domains} else TimeUnit(_PARTS[word], noun.start)

    def _listed(self, noun: Noun) -> bool:
        """Return whether a noun may go on a list; behind what owns a property only another property does."""
        before = self.frame.nouns[-2] if len(self.frame.nouns) > 1 else None
        owned = before is not None and before.role == "" and before.candidates[0].kind == "class"
        return self.listing and not (owned and self.frame.outputs and noun.candidates[0].kind == "class")

    def _with_several(self, noun: Noun) -> bool:
        """Return whether what is also shown is named: "the five largest with town and rent", "and also …"."""
        low, behind = self.question.low, [i for i in self.items if i.start >= noun.start]
        before = low[max(0, noun.start - 3) : noun.start]
        told = before[-2:-1] == ["and"] and before[-1] in _THEIR and noun.candidates[0].kind == "property"
        if (told or before == ["and", "also", "the"]) and self.frame.outputs and not self.waiting.between:
            return not noun.role
        if low[noun.start - 1 : noun.start] != ["with"] or not self.frame.outputs:
            return False
        ends = next((n for n, i in enumerate(behind) if i.cue_kind == "order"), len(behind))
        named = [i.mention for i in behind[:ends] if i.mention is not None]
        joined = [i for i in behind[:ends] if i.mention is None]
        plain = all(i.start + 1 == i.end and low[i.start] in ("and", "the") for i in joined)
        told = all(m.candidates[0].kind in ("property", "class") for m in named)
        comma = "," in self.question.words[noun.start - 1].before
        values = any(m.candidates[0].kind == "property" for m in named)
        return plain and told and values and (len(named) > 1 or comma)

    def _owns_last(self, noun: Noun) -> bool:
        """Return whether a class only tells whose property is shown: "the name of the boat and the price"."""
        shown = self.frame.outputs[-1] if self.frame.outputs else None
        if not isinstance(shown, Noun) or shown.candidates[0].kind != "property":
            return False
        between = self.question.low[shown.end : noun.start]
        return noun.candidates[0].kind == "class" and between[:1] == ["of"] and set(between) <= OWNING

    def _first_of(self, noun: Noun) -> None:
        """Take a "first" or "last" before a class for a superlative: "the first paper of Ada"."""
        frame, low = self.frame, self.question.low
        word = low[noun.start - 1] if noun.start else ""
        first = self.bare is not None and self.bare.ordinal and self.bare.end == noun.start
        if (
            frame.superlative is not None
            or noun.candidates[0].kind != "class"
            or not (first or word == "last")
        ):
            return
        rank, self.bare = int(self.bare.value) if first and self.bare is not None else 1, None
        frame.superlative = Superlative(
            "least" if first else "greatest",
            None if rank == 1 else 1,
            rank - 1,
            adjective="first" if first else "last",
            of=noun,
        )
        frame.read.add(noun.start - 1)

    def _closes(self, noun: Noun) -> bool:
        """Return whether a noun is what the comparison before it is of: "more than 5 pages"."""
        opened, self.open = self.open, None
        if opened is None or self.waiting.negated:
            return False  # "over 3000 m have not been climbed" denies what is behind the number
        if self._so_many_things(opened, noun):
            opened.left = None
        if opened.left is not None and numeric(opened.left):
            info = self.schema.properties.get(opened.left.candidates[0].term)
            if info is None or info.kind not in ("entity", "text"):
                return False
        opened.right, noun.role = noun, "compared"
        return True

    def _tells_which(self, noun: Noun) -> bool:
        """Return whether a flag only tells which things are meant: "electric vans", "the electric ones"."""
        info = self.schema.properties.get(noun.candidates[0].term)
        if info is None or not info.flag or self.waiting.negated or self.waiting.order is not None:
            return False
        behind = self._mention_at(noun.end)
        best = behind.candidates[0] if behind is not None else None
        value = self.schema.properties.get(best.term) if best is not None else None
        things = best is not None and best.kind == "class"
        # "Official languages", where whether a language is official is told beside it.
        things = things or (
            value is not None and value.kind == "text" and {*value.domains} == {*info.domains}
        )
        return things or self.question.low[noun.end : noun.end + 1] in (["one"], ["ones"])

    def _object_of_who(self, noun: Noun) -> bool:
        """Return whether a noun is the object of a "who": "who wrote tips" asks for no tips."""
        best = noun.candidates[0]
        if self.question.low[0] != "who" or self.frame.outputs:
            return False
        if best.kind == "property":
            info = self.schema.properties.get(best.term)
            low = self.question.low
            passive = low[1] in BEING and "by" in low[noun.start : noun.end + 1]
            first = noun.start == 1 or (
                noun.start == 2 and passive
            )  # "who was sent by Ada" asks for no sender
            alike = bool(info and set(info.domains) & set(info.ranges)) and first
            people = info is not None and self._people(info.domains) and not self._people(info.ranges)
            return info is not None and (info.kind in ("number", "date") or info.flag or alike or people)
        behind = [w for w in self.question.low[: noun.start] if w not in ("who", "has", "have", "had")]
        if not behind and best.way in ("inflected", "synonym") and not self._people([best.term]):
            return True  # "who reviewed it" asks for no review
        words = {w for c in noun.candidates[:1] for w in c.name.lower().split()}
        if not behind or is_stopword(behind[0]) or words & PERSON_WORDS:
            return False
        return behind[0] not in VERBS_OF_ASKING

    def _deed(self, noun: Noun) -> bool:
        """Return whether a verb says what things do: "which engineers earn", "what did Ada publish"."""
        return self._dated_deed(noun) or self._deed_of_value(noun)

    def _deed_of_value(self, noun: Noun) -> bool:
        """Return whether a verb is said of the things of a value: "which engineers earn"."""
        info = self.schema.properties.get(noun.candidates[0].term)
        before = [r.mention for r in self.frame.restrictions if r.mention.end == noun.start]
        verb = noun.end - noun.start == 1 and noun.candidates[0].way != "exact"
        things = self.question.low[noun.start - 1].endswith("s") and before
        value = bool(things) and before[0].candidates[0].kind == "value"
        return value and verb and info is not None and info.kind in ("number", "date")

    def _dated_deed(self, noun: Noun) -> bool:
        """Return whether a verb tells what happened to the things that are asked for: "what did Ada publish".

        A property that has the date of it is called so; the date is asked for by "when".
        """
        low, info = self.question.low, self.schema.properties.get(noun.candidates[0].term)
        asked = self.frame.asks == "" and low[0] in ("what", "which") and low[1] in VERBS_OF_ASKING
        verb = noun.end - noun.start == 1 and low[noun.start] not in _TIMES
        subject = low[noun.start - 1] not in ("the", "a", "an", "of", "its", "their")
        return asked and verb and subject and info is not None and info.kind == "date" and noun.start > 1

    def _people(self, classes: Iterable[str]) -> bool:
        """Return whether things of some of the classes are people."""
        known = (self.schema.classes[c] for c in classes if c in self.schema.classes)
        return any(PERSON_WORDS & set(name.lower().split()) for info in known for name in info.names[:1])

    def _again(self, noun: Noun) -> tuple[Candidate, ...]:
        """Return what a noun names; the last word of a longer name before it stands for all of that name."""
        if noun.end - noun.start > 1 or noun.role:
            return noun.candidates
        key = self.question.words[noun.start].token.key
        for earlier in reversed(self.frame.nouns):
            last = self.question.words[earlier.end - 1].token.key
            if earlier.end - earlier.start > 1 and last == key and earlier.candidates[0].kind == "property":
                return (replace(earlier.candidates[0], score=1.0), *noun.candidates)
        return noun.candidates

    def _name_follows(self, noun: Noun) -> bool:
        """Return whether a "not" is meant of what is named next: an entity, or the object of a verb."""
        at, info = noun.end, self.schema.properties.get(noun.candidates[0].term)
        happened = info is None or info.kind == "date"  # what was booked is told by a date, or a booking
        deed = happened and is_past(self.question.low[noun.end - 1])
        relates = deed or (info is not None and info.kind == "entity")
        meant = {"entity", "value"} | ({"class"} if relates else set())
        for item in self.items:
            if item.start < at:
                continue
            if item.mention is not None:
                kind = item.mention.candidates[0].kind
                noun.role = "denied" if deed and kind == "class" else ""  # "not enrolled in any course"
                return item.start - at <= 2 and kind in meant
            if not item.unread or meaningful(self.question.words[item.start]):
                return False
        return False

    def _ordered(self, noun: Noun) -> None:
        waiting = self.waiting
        assert waiting.order is not None
        waiting.order.measure = FrameMeasure("count" if waiting.count else waiting.fold, noun)
        noun.role = "order"
        waiting.order, waiting.count, waiting.fold = None, False, None

    def _superlative(self, noun: Noun) -> None:
        waiting, frame = self.waiting, self.frame
        top = frame.superlative
        assert top is not None
        if self._ordered_first(noun, top):
            return
        plain = (
            self.most_word in ("highest", "lowest", "greatest") and not waiting.count and waiting.fold is None
        )
        best = noun.candidates[0]
        info = self.schema.properties.get(best.term)
        things = best.kind == "class" or (info is not None and info.kind == "entity")
        if plain and things and not top.adjective:
            # "The highest mountain" is not the one with the most of anything.
            top.adjective, top.of, waiting.most = self.most_word, noun, ""
            self._shown(noun)
            return
        function: Fold | None = "count" if waiting.count else waiting.fold
        waiting.most, waiting.count, waiting.fold, waiting.by, waiting.top = "", False, None, False, None
        behind = set(self.question.low[noun.end : noun.end + 1])
        top.measure = FrameMeasure(function, noun, money=function == "sum" and bool(_AMOUNTS & behind))
        noun.role = "measure"
        following = self._mention_at(noun.end)
        judged = is_past(self.question.low[noun.end - 1])  # "the best rated comedy" asks for comedies
        if following is not None and (judged or may_be_class(following.candidates)):
            return  # "the most reliable product": the product is asked for
        if waiting.show:
            # "What is the highest price", "Which is ...": the measure itself is asked for.
            waiting.show = False
            frame.outputs.append(top.measure)
            self.listing = True

    def _shown(self, noun: Noun) -> None:
        if self.waiting.show or not self.frame.outputs:
            noun.role = "focus"
            self.frame.outputs.append(noun)
            self.listing, self.waiting.show = True, False

    def _measure(self, noun: Noun) -> None:
        waiting, frame = self.waiting, self.frame
        if waiting.fold == "average" and not waiting.count and self._number_behind(noun):
            return  # "the average engineer earns": the average is of what they earn
        if of_one(self.question.low) and waiting.fold == "sum" and not waiting.count:
            waiting.fold, waiting.show, noun.role = None, False, "output"
            frame.outputs.append(noun)
            return
        if self._bounded(noun) or (waiting.count and self._deed_of_value(noun)):
            noun.role = "compared"  # the bound takes the fold, or what a verb is said of is counted
            return
        info = self.schema.properties.get(noun.candidates[0].term)
        if waiting.count and waiting.fold is not None and info is not None and info.kind == "number":
            waiting.count = False  # "the average number of pages": the pages are numbers already
        function: Fold = "count" if waiting.count else cast(Fold, waiting.fold)
        if waiting.count and waiting.fold == "average":
            self.frame.unsupported = True  # "the average number of rooms per house" counts, then folds
        behind = set(self.question.low[noun.end : noun.end + 1])
        money = function in ("sum", "average") and bool(_AMOUNTS & behind)
        measure = FrameMeasure(function, noun, money=money)
        noun.role = "measure"
        frame.outputs.extend(FrameMeasure(f, noun, money=money) for f in waiting.folds)
        waiting.count, waiting.fold, waiting.folds, waiting.show = False, None, [], False
        frame.outputs.append(measure)
        waiting.top = None
        self.listing = True
