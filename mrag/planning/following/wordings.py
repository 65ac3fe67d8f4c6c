"""What the words of a follow-up tell beside names: that it goes on, what it points back to, what it asks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mrag.planning.reading.question import QuestionText, cut
from mrag.planning.reading.state import VERBS_OF_ASKING
from mrag.text.tokens import words

_LEAD: Final = re.compile(
    r"(?:(?:and|but|or|also|then|now|so|ok|okay)\b[\s,]*)*"
    r"(?:(?:what|how)\s+about\b|what\s+of\b|(?:the\s+)?same\s+(?:question\s+)?(?:for|with)\b)?\s*",
    re.IGNORECASE,
)
_TAIL: Final = re.compile(r"[\s,]+(?:instead|then|though)?[\s?.!]*\Z", re.IGNORECASE)
_ONLY: Final = re.compile(r"(?:only|just)\b\s*", re.IGNORECASE)
_SEVERAL: Final = words("them they their those these ones")
_ONE: Final = words("it its")
_OWNING: Final = words("they their its")
_JOINING: Final = words("and or but")
_OPEN: Final = words(
    "of in on at by from for to with without per over under above below before after since until between "
    "more less fewer sorted ordered ranked grouped except excluding not no that which whose"
)
_ASKING: Final = words(
    "which what who whom whose where when how why list show name give tell find count return display get "
    "sort order is are was were does do did has have can"
)
_PERSON: Final = words("who whom where when")
_OWNERS: Final = {"their": "them", "its": "it"}


@dataclass(frozen=True)
class FollowText:
    """A follow-up without the words that only say that it is one.

    Attributes:
        text: What is left.
        leads: Whether it began like a follow-up: "and", "what about".
        adds: Whether it began with "and" alone.
        only: Whether it narrows what was found: "only".
    """

    text: str
    leads: bool
    adds: bool
    only: bool

    @classmethod
    def of(cls, text: str) -> FollowText:
        """Return a follow-up without the words that only say that it is one.

        Example:
            >>> FollowText.of("And what about Texas?")
            FollowText(text='Texas?', leads=True, adds=False, only=False)
        """
        plain = " ".join(text.split())
        rest = plain[_LEAD.match(plain).end() :]  # type: ignore[union-attr]  # it matches nothing too
        narrowed = _ONLY.sub("", rest, count=1) if _ONLY.match(rest) else rest
        adds = plain[: len(plain) - len(rest)].strip(" ,").lower() in ("and", "but", "and also", "also")
        return cls(_TAIL.sub("", narrowed + " "), rest != plain, adds, narrowed != rest)

    @property
    def question(self) -> QuestionText:
        """Return it cut into words."""
        return cut(self.text)

    @property
    def asks(self) -> bool:
        """Return whether it asks for something, rather than saying more of what was asked for."""
        low = self.question.low
        return bool(low) and low[0] in _ASKING

    @property
    def whole(self) -> bool:
        """Return whether it may be a question by itself: "how many in Texas" lacks what is counted."""
        low = self.question.low
        if self.asks:
            return low[:2] != ["how", "many"] or not (low[2:3] == [] or low[2] in _OPEN | VERBS_OF_ASKING)
        return bool(low) and low[0] not in _OPEN and not self.leads

    @property
    def asks_other(self) -> bool:
        """Return whether it asks for others than those it points to: "who supplies them", "their names"."""
        low = self.question.low
        return bool(low) and (low[0] in _PERSON or not _OWNERS.keys().isdisjoint(low))

    def forms(self, *, points: bool, counts: bool, bare: bool, values: bool) -> Iterator[tuple[str, bool]]:
        """Yield wordings of it in which a word points to what was found, and whether they ask for something.

        Args:
            points: Whether a word of it does.
            counts: Whether the last question was how many there are.
            bare: Whether it begins with a name, so that no word says how that is related.
            values: Whether it names a property, and begins with no name of something else.
        """
        low, raw = self.question.low, self.text.split()
        if not low:
            return
        if points:
            yield self.text, self.asks
            for owner, thing in _OWNERS.items():
                if owner in low:
                    yield " ".join("the" if w.lower() == owner else w for w in raw) + f" of {thing}", True
        elif not self.asks:
            if not bare or self.only:
                yield f"{'how many' if counts else 'which'} of them {self.text}", counts
                yield f"{'how many' if counts else 'which'} of them are {self.text}", counts
            if values:
                yield f"what is the {self.text} of them", True
        elif low[0] == "what" and values:
            yield self.text + " of them", True
        elif low[0] == "which" or low[:2] == ["how", "many"]:
            # "How many are in Texas" is short for "how many of them are in Texas".
            first = 1 if low[0] == "which" else 2
            if not low[first:] or low[first] in _OPEN | VERBS_OF_ASKING:
                yield " ".join([*raw[:first], "of them", *raw[first:]]), True


def pointing(question: QuestionText, named: int) -> tuple[list[int], bool]:
    """Return which words point back, and whether to one thing.

    Args:
        question: The follow-up.
        named: Index of the first word that names a class; behind it and an "and", "they" points to that.
    """
    low = question.low
    found = [
        at
        for at, word in enumerate(low)
        if (word in _SEVERAL or word in _ONE or (word == "one" and low[at - 1 : at] == ["which"]))
        and not (word in _OWNING and not _JOINING.isdisjoint(low[named:at]))
    ]
    return found, bool(found) and all(low[at] in _ONE for at in found)
