"""What a reader remembers of the words that it has read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from mrag.planning.lexical.candidates import Candidate, NameMention
from mrag.planning.plan import Fold, Position, Relation
from mrag.planning.reading.frame import Compared, Frame, Noun, Ordering, Superlative
from mrag.planning.reading.periods import Period
from mrag.planning.reading.question import Quantity, QuestionText
from mrag.planning.reading.segmentation import QuestionItem, meaningful
from mrag.planning.schema import Schema

Dimension = Callable[[str], Sequence[tuple[Candidate, str]]]

PARTICIPLES = frozenset("made sold bought taught held built won run led sent paid met set put read".split())
COMMON = frozenset("common frequent used prevalent usual".split())
"""Adjectives of what there is most often."""
_NOUNS_IN_EST = frozenset(
    "interest request forest harvest conquest invest suggest protest honest modest guest contest arrest "
    "priest northwest southwest everest budapest digest manifest".split()
)


_DESCRIBED = frozenset("of from at in who that which with whose".split())
VERBS_OF_ASKING = frozenset("is are was were does do did has have can".split())
"""Verbs that begin a question for yes or no, and stand between a noun and its subject in others."""


@dataclass
class Waiting:
    """What cues have said of the noun, number or name to come."""

    show: bool = False
    count: bool = False
    fold: Fold | None = None
    folds: list[Fold] = field(default_factory=list)
    most: str = ""
    top: Superlative | None = None
    each: bool = False
    negated: bool = False
    order: Ordering | None = None
    compare: Relation | None = None
    adjective: str = ""
    between: bool = False
    lower: float | Period | None = None
    text: Position | None = None
    by: bool = False


@dataclass
class ReaderState:
    """Reads items into a frame.

    Args:
        question: The question.
        items: One way of cutting it.
        schema: The schema, which tells a compound ("customer state") from a verb with its subject.
        dimension: The properties that an adjective may speak of, with the direction.
    """

    question: QuestionText
    items: Sequence[QuestionItem]
    schema: Schema
    dimension: Dimension = lambda adjective: ()
    frame: Frame = field(default_factory=Frame)
    waiting: Waiting = field(default_factory=Waiting)
    last: Noun | None = None
    last_at: int = -9
    listing: bool = False
    open: Compared | None = None
    bare: Quantity | None = None
    rows: int = 1
    either: int = 0
    or_at: int = -9
    text_at: int = -1
    owner: str = ""
    owner_start: int = 0
    skipped: set[int] = field(default_factory=set)
    boundary: int | None = None
    most_word: str = ""
    implicit: bool = False

    def _adjacent(self, at: int, gap: int) -> bool:
        """Return whether only function words stand between the last noun and a place."""
        unread = {i.start for i in self.items if i.unread}
        return 0 <= at - self.last_at <= gap and not any(
            i in unread and meaningful(self.question.words[i]) for i in range(self.last_at, at)
        )

    def _continues(self, before: int, at: int) -> bool:
        """Return whether a list goes on: only commas, articles and `and` stand between."""
        between = self.question.low[before:at]
        comma = "," in self.question.words[at].before or any(
            "," in w.before for w in self.question.words[before:at]
        )
        joined = "and" in between or comma or "&" in between
        return joined and all(
            w in ("and", "the", "their", "its", "a", "as", "well", "also", "his", "her", "or", "respective")
            for w in between
        )

    def _mention_at(self, at: int) -> NameMention | None:
        """Return the words that name something and begin at a place, if there are such."""
        return next((i.mention for i in self.items if i.start == at and i.mention is not None), None)

    def _passive(self, at: int) -> bool:
        """Return whether a "by" names who did something: "sold by"."""
        before = self.question.low[at - 1] if at else ""
        return before.endswith(("ed", "en", "wn")) or before in PARTICIPLES

    def _doers(self, at: int) -> bool:
        """Return whether a "by" names who did something: "papers by Ada", "papers by authors of …"."""
        noun = self._mention_at(at)
        if noun is None or noun.candidates[0].kind != "class":
            return noun is not None and noun.candidates[0].kind == "entity"
        behind = self.question.low[noun.end : noun.end + 1]
        return self.question.low[noun.end - 1].endswith("s") and bool(_DESCRIBED & set(behind))

    def _owns(self, cls: str, iri: str) -> bool:
        info = self.schema.properties.get(iri)
        return info is not None and info.kind != "entity" and cls in info.domains

    def _number_end(self) -> int:
        ends = [i.end for i in self.items if i.quantity is not None]
        return max((e for e in ends), default=-9)


def numeric(noun: Noun) -> bool:
    """Return whether a noun may be a property, which has values to compare."""
    return noun.candidates[0].kind == "property"


def may_be_class(candidates: Sequence[Candidate]) -> bool:
    """Return whether words may as well name a class as anything else."""
    return any(c.kind == "class" and c.score >= candidates[0].score - 0.02 for c in candidates)


def is_superlative(word: str) -> bool:
    """Return whether a word ends like a superlative and is none of the nouns that do.

    Example:
        >>> [is_superlative(word) for word in ("longest", "forest", "best")]
        [True, False, False]
    """
    return len(word) > 5 and word.endswith("est") and word not in _NOUNS_IN_EST
