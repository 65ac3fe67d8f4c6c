"""The roles of a question's words, found in one walk from left to right.

Each cue waits for the noun, number or name that it speaks of; each of these looks at what waits and at what
stood just before it. English alone is known here; names come from the lexicon.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from mrag.planning.plan import Position, Relation
from mrag.planning.reading.cues import Cue
from mrag.planning.reading.folds import with_lists_of_folds
from mrag.planning.reading.frame import IDENTIFYING, Frame, FrameMeasure, Noun, Ordering, Superlative
from mrag.planning.reading.names import NameReader
from mrag.planning.reading.state import VERBS_OF_ASKING, numeric

_JUDGED = ("best", "worst")
_OF_TIME = frozenset("recent latest newest oldest earliest chronologically chronological".split())
_OF_NUMBER = frozenset("highest lowest high low largest smallest most least best worst top".split())
_TIMES: tuple[list[str], ...] = (["year"], ["month"], ["quarter"], ["day"], ["weekday"], ["date"])
_EACH: tuple[list[str], ...] = (
    ["one"],
    ["of", "them"],
    ["of", "these"],
    ["of", "those"],
    ["too"],
    ["as", "well"],
    [],
)
"""What may follow an "each" that stands for the things of the sentence before."""


def frame_is_plain(frame: Frame) -> bool:
    """Return whether nothing is extreme in a frame."""
    return frame.superlative is None


@dataclass
class FrameReader(NameReader):
    """Reads items into a frame."""

    def read(self) -> Frame:
        """Return the frame."""
        low = self.question.low
        self.frame.yes_or_no = bool(low) and low[0] in VERBS_OF_ASKING
        if not self.frame.yes_or_no:
            self.waiting.show = self.implicit = True
        self.items = with_lists_of_folds(self.items, self.question)
        for number, item in enumerate(self.items):
            if item.cue is not None:
                self._cue(item.cue, number)
            elif item.mention is not None:
                part = self._owner_of_next(number) or self._modifies_next(number)
                if item.start not in self.skipped and not part:
                    self._mention(item, item.mention)
            elif item.quantity is not None:
                self._quantity(item.quantity, number)
            elif item.period is not None:
                self._period(item.period)
            elif item.text:
                self._quotation(item)
            else:
                self._word(item)
        waiting = self.waiting
        last = self.frame.outputs[-1] if self.frame.outputs else None
        if waiting.fold == "sum" and isinstance(last, Noun) and numeric(last):
            # "The area of all states combined"
            self.frame.outputs[-1], waiting.fold = FrameMeasure("sum", last), None
            last.role = "measure"
        self._done_by_things()
        self._last_fold()
        self._first_or_last()
        if self.bare is not None and self.bare.ordinal and frame_is_plain(self.frame):
            self.frame.unsupported = True  # the first of what?
        self.frame.dangling = waiting.count and bool(self.frame.measures)
        if waiting.negated or waiting.compare or waiting.between or waiting.each:
            self.frame.unsupported = True
        if self.waiting.count and not self.frame.outputs:
            self.frame.outputs.append(FrameMeasure("count"))
        if self.boundary is not None and len(self.frame.outputs) - self.boundary > 1:
            # "Who are the best? Return their name and age.": the second sentence says what is shown.
            self.frame.outputs = [*self._answered(self.boundary), *self.frame.outputs[self.boundary :]]
        return self.frame

    def _answered(self, boundary: int) -> list[Noun]:
        """Return the things asked for before a second sentence, unless that says how to name them."""
        first = [o for o in self.frame.outputs[:boundary] if isinstance(o, Noun)]
        things = [o for o in first if o.candidates[0].kind == "class"]
        told = [o for o in self.frame.outputs[boundary:] if isinstance(o, Noun)]
        said = {w for o in told for w in o.candidates[0].name.lower().split()}
        named = bool(IDENTIFYING & said) or {o.candidates[0].term for o in (*things, *told)} == {
            o.candidates[0].term for o in told
        }
        return [] if not told or named or self.frame.named or len(things) != 1 else things

    def _first_or_last(self) -> None:
        """Order by the time of the verb before a "first" at the end: "which band was formed first"."""
        frame, low = self.frame, self.question.low
        ranked = self.bare is not None and self.bare.ordinal and self.bare.end == len(low)
        if frame.superlative is not None or not (ranked or low[-1:] == ["last"]):
            return
        times = () if self.last is None else tuple(c for c in self.last.candidates if self._timely(c.term))
        if self.last is None or not times or (self.bare is not None and self.bare.value != 1):
            frame.unsupported = True
            return
        self.last.candidates, self.last.role = times, "measure"
        frame.superlative = Superlative(
            "least" if ranked else "greatest", measure=FrameMeasure(None, self.last)
        )
        frame.read.add(len(low) - 1)

    def _timely(self, iri: str) -> bool:
        info = self.schema.properties.get(iri)
        return info is not None and (info.kind == "date" or "year" in info.names[0].lower().split())

    def _cue(self, cue: Cue, number: int) -> None:
        waiting, frame = self.waiting, self.frame
        kind, value = cue.kind, cue.value
        asks = kind in ("show", "who", "where", "when", "count") and not self._begins_a_clause(cue)
        if asks and self.implicit:
            # "For customers in Spain, what is …": what came before was no list of what to show.
            self.implicit = False
            for noun in frame.nouns:
                if noun.role == "output":
                    noun.role = ""
            frame.outputs.clear()
            self.listing = False
        if self._begins_a_clause(cue):
            pass
        elif kind == "show":
            self._show(cue)
        elif kind == "count":
            self._count(cue)
        elif kind == "fold":
            self._fold(cue)
        elif kind == "most":
            self._most(cue)
        elif kind == "top":
            # "The top five best": the number is said already.
            if waiting.top is None or waiting.top.n is None:
                word = self.question.low[cue.end - 1]
                waiting.top = frame.superlative = Superlative(
                    value, adjective=word if word in _JUDGED else ""
                )
        elif kind == "compare":
            self._compare(cue)
        elif kind == "between":
            waiting.between = True
        elif kind == "group":
            self._group(cue)
        elif kind in ("order", "direction"):
            self._order(cue)
        else:
            self._other(cue)

    def _begins_a_clause(self, cue: Cue) -> bool:
        """Return whether a "where" or "in which" says more of the things before it: "towns where …"."""
        low, start = self.question.low, cue.start
        if cue.end - start > 1 or low[start] not in ("where", "which") or self.last is None:
            return False
        before = start - (low[start] == "which")
        if self.last_at != before or self.last.candidates[0].kind != "class":
            return False
        placed = before == start or low[before] in ("in", "for", "at", "on")
        apart = any(w.before for w in self.question.words[before : start + 1])
        return placed and not apart and not VERBS_OF_ASKING & {*low[cue.end : cue.end + 1]}

    def _show(self, cue: Cue) -> None:
        waiting, frame = self.waiting, self.frame
        frame.unsupported |= waiting.each  # what was to come behind "each" has not come
        if self._plain_name(cue):
            frame.named, waiting.show, self.listing, self.last_at = True, False, True, cue.end
            return
        if self._head_of_last(cue):
            self.last_at = cue.end
            return
        following = self.question.low[cue.end : cue.end + 1]
        earlier = [n for n in frame.nouns if n.candidates[0].kind == "class" and not n.role]
        if self.question.low[cue.start] == "which" and VERBS_OF_ASKING & set(following) and earlier:
            # "Of the states in the south, which has …": the states are asked for.
            earlier[0].role, waiting.show, self.implicit = "output", False, False
            frame.outputs.append(earlier[0])
            return
        waiting.show, self.listing = True, False
        if (
            self.boundary is None
            and frame.outputs
            and set(self.question.words[cue.start].before) & set("?.!;")
        ):
            self.boundary = len(frame.outputs)

    def _head_of_last(self, cue: Cue) -> bool:
        """Return whether a "name" belongs to the property before it: "the model name"."""
        last, words = self.last, self.question.words[cue.start : cue.end]
        if [w.low for w in words] != ["name"] or words[0].before or self.last_at != cue.start:
            return False
        return last is not None and numeric(last)

    def _plain_name(self, cue: Cue) -> bool:
        """Return whether a "name" is what is shown rather than a request: "show me name and price"."""
        asked = self.waiting.show and not self.implicit
        return self.question.low[cue.start : cue.end] == ["name"] and (asked or self.listing)

    def _other(self, cue: Cue) -> None:
        if cue.kind == "not":
            self.waiting.negated = True
        elif cue.kind == "or":
            self.or_at = cue.end
        elif cue.kind == "text":
            self.waiting.text = cast(Position, cue.value)
        elif cue.kind == "unsupported":
            self.frame.unsupported = True
        else:
            self._asking(cue)

    def _count(self, cue: Cue) -> None:
        first = self.question.low[cue.start]
        apart = self.question.words[cue.start].before
        if (
            first in ("number", "numbers")
            and not apart
            and self.last is not None
            and self.last_at == cue.start
        ):
            return  # "the phone numbers of"
        self.waiting.count = True
        self.frame.yes_or_no = False

    def _asking(self, cue: Cue) -> None:
        if (
            cue.kind in ("who", "where", "when")
            and not (self.frame.asks or self.frame.nouns)
            and cue.start < 3
        ):
            self.frame.asks = cue.kind
            self.waiting.show = True
        if cue.kind in ("ratio", "percentage", "difference"):
            self.frame.unsupported = True
        elif cue.kind == "same":
            self.frame.same = True

    def _most(self, cue: Cue) -> None:
        waiting, low = self.waiting, self.question.low
        if (fold := self._extreme_of_each(cue)) is not None:
            waiting.fold = fold
            return
        waiting.most, self.most_word = cue.value, low[cue.end - 1]
        if self.last is not None and low[cue.end : cue.end + 1] == ["to"] and self._costs(cue):
            # "Which boat cost the most to repair"
            self.last.role, waiting.most = "measure", ""
            self.frame.superlative = Superlative(cue.value, measure=FrameMeasure(None, self.last))
            return
        if self.frame.superlative is not None and low[cue.end + 1 : cue.end + 2] == ["first"]:
            return  # "the five dearest, most expensive first"
        if self.frame.superlative is not None and self.frame.superlative.adjective:
            self.frame.unsupported = self.frame.superlative.adjective not in _JUDGED
        if "number of" in " ".join(self.question.low[cue.start : cue.end]):
            waiting.count = True
        if self.frame.superlative is None or waiting.top is None:
            self.frame.superlative = self.frame.superlative or Superlative(cue.value)
            self.frame.superlative.direction = cue.value
        if self.bare is not None:
            rank = int(self.bare.value)
            if self.bare.ordinal and self.last is not None and self.last.start >= self.bare.end:
                self.frame.unsupported = True  # "first author the most often": it is no rank
            if self.bare.ordinal:
                self.frame.superlative.offset, self.frame.superlative.n = rank - 1, self.rows
            else:
                self.frame.superlative.n = rank
            self.bare = None

    def _costs(self, cue: Cue) -> bool:
        """Return whether the last noun is a verb for a number, right before a "the most"."""
        if self.last is None or not set(self.question.low[self.last.end : cue.start]) <= {"the"}:
            return False
        kinds = (self.schema.properties.get(c.term) for c in self.last.candidates)
        return not self.last.role and any(i is not None and i.kind == "number" for i in kinds)

    def _compare(self, cue: Cue) -> None:
        relation = cast(Relation, cue.value)
        words = self.question.low[cue.start : cue.end]
        if words[0] == "or" and self.frame.compared and self._adjacent(cue.start, 3):
            self.frame.compared[-1].relation = relation
            return
        self.waiting.compare = relation
        self.waiting.adjective = words[0] if words[0].endswith("er") and words[-1] == "than" else ""
        if words[0] in ("more", "less") and len(words) == 3:
            self.waiting.adjective = words[1]
        if self.waiting.adjective in ("greater", "later", "earlier", "fewer"):
            self.waiting.adjective = ""

    def _group(self, cue: Cue) -> None:
        top = self.frame.superlative
        before = next((i.cue for i in self.items if i.end == cue.start and i.cue is not None), None)
        if before is not None and before.kind in ("order", "direction") and self.frame.orders:
            self.waiting.order = self.frame.orders[-1]
        elif cue.value == "each" and self.boundary is not None and self.question.low[cue.end :] in _EACH:
            self.listing = False
        elif cue.value == "each":
            self.waiting.each = True
            self.waiting.show = False
        elif top is not None and top.measure is None and not top.adjective:
            self.waiting.by = True
        elif (
            self.question.low[cue.start] == "by"
            and (self.frame.measures or self.waiting.count)
            and (not self._passive(cue.start) or self.question.low[cue.end : cue.end + 1] in _TIMES)
            and not self._doers(cue.end)
        ):
            self.waiting.each = True

    def _order(self, cue: Cue) -> None:
        if cue.kind == "order":
            self.waiting.order = Ordering()
            self.frame.orders.append(self.waiting.order)
            return
        descending = cue.value == "descending"
        if self.frame.orders:
            self.frame.orders[-1].descending = descending
        else:
            self.frame.orders.append(Ordering(descending=descending))
        said = {*self.question.low[cue.start : cue.end]}
        self.frame.orders[-1].by = "time" if said & _OF_TIME else "number" if said & _OF_NUMBER else ""
        alphabetical = "alphabetical" in " ".join(self.question.low[cue.start : cue.end])
        if self.waiting.order is None and not alphabetical and self.question.low[cue.end - 1] == "of":
            self.waiting.order = self.frame.orders[-1]
