"""What the words of a question do in it: what is shown, counted, compared, grouped and left out.

A frame is between words and plan: it knows roles, not yet joins.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as OneOf
from typing import TypeAlias

from mrag.planning.lexical.candidates import Candidate, NameMention
from mrag.planning.plan import Fold, Part, Position, Relation
from mrag.planning.reading.periods import Period

DESCRIBED = "urn:x-described:"
"""Beginning of names that stand for things which a question describes."""

TIMES = "times"
"""The unit of a number that says how often something happened."""

IDENTIFYING = frozenset("id ids name names title titles label code codes symbol symbols key".split())
"""Words of properties that tell which thing is meant."""


@dataclass(eq=False)
class Noun:
    """A class or property that is named.

    Attributes:
        start: Index of its first word.
        end: Index behind its last word.
        candidates: What it may be, best first.
        role: What it does; "" for what merely has to be there.
        implied: Whether its words name a kind, for whose things it stands: "all comedies".
    """

    start: int
    end: int
    candidates: tuple[Candidate, ...]
    role: str = ""
    implied: bool = False


@dataclass(eq=False)
class TimeUnit:
    """A unit of time that groups or is shown: "per month"."""

    part: Part
    start: int


@dataclass(eq=False)
class FrameMeasure:
    """A number that is computed: a fold of a property or a count of things.

    Attributes:
        function: The fold; None for the value itself.
        noun: What is folded or counted; None where the question leaves it open.
        money: Whether an amount of things is summed rather than their number: "the total sales amount".
    """

    function: Fold | None
    noun: Noun | None = None
    money: bool = False


@dataclass(eq=False)
class Compared:
    """A condition on a number or a time.

    Attributes:
        relation: The relation; between two values it is `>=` with `upper` given.
        value: A number, a period, or the measure that it is compared with.
        upper: The greater of two bounds.
        left: The property or thing before it.
        right: The property or thing behind it.
        adjective: The adjective that says what is compared: "longer".
        fold: A fold of what is compared: "an average rating above 4".
        negated: Whether the question denies it, so that the relation is turned.
        at: Index of the word where it stands.
        either: Whether it is an alternative to the one before it: "semester 1 or 2".
        unit: The unit that was said with the number.
    """

    relation: Relation
    value: float | Period | FrameMeasure | NameMention
    upper: float | Period | None = None
    left: Noun | None = None
    right: Noun | None = None
    adjective: str = ""
    fold: Fold | None = None
    negated: bool = False
    at: int = 0
    either: bool = False
    unit: str = ""


@dataclass(eq=False)
class FrameRestriction:
    """An entity or a value that is named.

    Attributes:
        mention: The words and what they may name.
        noun: The class or property beside it: "the city of New York".
        negated: Whether it must not hold.
        either: Number of the group of alternatives that it belongs to; -1 if none.
        before: The words just before it, which tell one property from another.
        listed: Whether it is one of several things that are asked about alike: "of Texas and Oklahoma".
    """

    mention: NameMention
    noun: Noun | None = None
    negated: bool = False
    either: int = -1
    before: tuple[str, ...] = ()
    listed: bool = False


@dataclass(eq=False)
class TextCondition:
    """A condition on the text of a property or a name; `either` is an alternative to the one before it."""

    position: Position
    text: str
    noun: Noun | None = None
    negated: bool = False
    either: bool = False


@dataclass(eq=False)
class Superlative:
    """What is extreme.

    Attributes:
        direction: `greatest` or `least`.
        n: How many; None for the one, with those that tie.
        offset: How many before them are left out: 2 for "the third longest".
        measure: What orders them.
        adjective: The adjective, where it is that which says what orders them.
        turned: Whether the adjective holds least of them: "the least expensive".
        of: The things that the adjective is said of: "the largest city".
        fold: A fold of what orders them: "the most expensive on average".
    """

    direction: str
    n: int | None = None
    offset: int = 0
    measure: FrameMeasure | None = None
    adjective: str = ""
    turned: bool = False
    of: Noun | None = None
    fold: Fold | None = None


@dataclass(eq=False)
class Ordering:
    """How rows are ordered; without a measure by the last of the measures, or by what is shown first.

    Attributes:
        measure: What orders them.
        descending: Whether the greatest is first.
        adjective: The adjective that says what orders them: "newest first".
        by: Whether it is by a "time" or a "number" that is not named: "most recent first", "highest first".
    """

    measure: FrameMeasure | None = None
    descending: bool | None = None
    adjective: str = ""
    by: OneOf["", "time", "number"] = ""


Output: TypeAlias = Noun | FrameMeasure | TimeUnit


@dataclass(eq=False)
class Frame:
    """What a question's words do in it."""

    nouns: list[Noun] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)
    groups: list[Noun | TimeUnit] = field(default_factory=list)
    compared: list[Compared] = field(default_factory=list)
    restrictions: list[FrameRestriction] = field(default_factory=list)
    texts: list[TextCondition] = field(default_factory=list)
    missing: list[Noun] = field(default_factory=list)
    superlative: Superlative | None = None
    orders: list[Ordering] = field(default_factory=list)
    same: bool = False
    yes_or_no: bool = False
    asks: str = ""
    unsupported: bool = False
    dangling: bool = False
    named: bool = False
    read: set[int] = field(default_factory=set)

    @property
    def measures(self) -> list[FrameMeasure]:
        """Return the measures that are shown."""
        return [output for output in self.outputs if isinstance(output, FrameMeasure)]
