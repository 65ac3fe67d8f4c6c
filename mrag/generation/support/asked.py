"""A question as the statements that an answer to it makes.

To "Who develops GraphDB?", "Ontotext" says that Ontotext develops GraphDB.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from mrag.generation.support.roots import PREPOSITIONS
from mrag.generation.support.symbols import Symbol
from mrag.text.tokens import words

_WH: Final = words("who whom what which where when how whose")
_DO: Final = words("do does did")
_BE: Final = words("is are was were")
_HAVE: Final = words("has have had")
_LIST_WORDS: Final = words("list name give show tell find me all the us every")
_PLACES: Final = ("in", "on", "at", "by", "from")
COUNTS: Final = words("one two three four five six seven eight nine ten eleven twelve")
"""Numbers in words."""
_GENERAL: Final = (
    _WH
    | _DO
    | _BE
    | _HAVE
    | _LIST_WORDS
    | words(
        "tell me about describe explain can you i a an know known say said of it anything something "
        "information facts more in to please compare between and difference summarise summarize"
    )
)
_LONGEST_QUESTION: Final = 4
"""Words of what is asked for, behind "which"."""


def word(low: str) -> Symbol:
    """Return a function word as a symbol.

    Example:
        >>> word("is").low
        'is'
    """
    return Symbol(low, low, low, 0, 0)


def is_yes_no(question: Sequence[Symbol]) -> bool:
    """Return whether a question asks whether something is so."""
    return bool(question) and question[0].low in _BE | _DO | _HAVE


def asserted(question: Sequence[Symbol]) -> Iterator[list[Symbol]]:
    """Yield the statements that "yes" makes of a question.

    Example:
        >>> [" ".join(s.low for s in said) for said in asserted([word(w) for w in "is a b".split()])][:2]
        ['is a b', 'a is b']
    """
    if not is_yes_no(question):
        return
    first, rest = question[0], list(question[1:])
    if first.low in _DO:
        yield rest
        return
    for at in range(len(rest) + 1):
        yield [*rest[:at], first, *rest[at:]]


def denied(question: Sequence[Symbol]) -> Iterator[list[Symbol]]:
    """Yield the statements that "no" makes of a question.

    Example:
        >>> [" ".join(s.low for s in said) for said in denied([word(w) for w in "is a static".split()])][1]
        'a is not static'
    """
    if question and question[0].low in _BE | _HAVE:
        for said in asserted(question):
            at = next(i for i, s in enumerate(said) if s is question[0])
            yield [*said[: at + 1], word("not"), *said[at + 1 :]]


def is_open(question: Sequence[Symbol], named: Sequence[bool]) -> bool:
    """Return whether a question asks about what it names in general: "What is GraphDB?", "Tell me about it".

    Args:
        question: The question.
        named: Whether each of its symbols is in a name.

    Example:
        >>> is_open([word(w) for w in "what is a".split()], [False, False, True])
        True
    """
    return all(s.low in _GENERAL or s.is_mark or there for s, there in zip(question, named, strict=True))


def declared(
    question: Sequence[Symbol], fragment: Sequence[Symbol]
) -> Iterator[tuple[list[Symbol], list[Symbol]]]:
    """Yield the statements that a fragment makes as the answer to a question.

    Args:
        question: The question.
        fragment: What stands for what was asked for.

    Yields:
        A statement, and the words that name the class of what was asked for, if any.

    Example:
        >>> made = declared([word(w) for w in "who makes x".split()], [word("y")])
        >>> " ".join(s.low for s in next(made)[0])
        'y makes x'
    """
    asked = list(question)
    fragment = list(fragment)
    at = next((i for i, s in enumerate(asked[:4]) if s.low in _WH), None)
    if at is None:
        start = 0
        while start < len(asked) and asked[start].low in _LIST_WORDS:
            start += 1
        if 0 < start < len(asked):
            yield [*fragment, word("is"), *asked[start:]], []
        return
    before = [s for s in asked[:at] if s.low in PREPOSITIONS][-1:]
    most = _LONGEST_QUESTION if asked[at].low in ("which", "what", "how") else 0
    for size in range(min(most, len(asked) - at - 2) + 1):
        kind, rest = asked[at + 1 : at + 1 + size], asked[at + 1 + size :]
        if any(s.low in _DO | _BE | _HAVE for s in kind) or not rest:
            break
        if asked[at].low == "how":
            kind = [s for s in kind if s.low not in ("many", "much")]
        for said in _statements(
            rest, fragment, before, loose=asked[at].low in ("where", "when", "which", "what")
        ):
            yield said, kind
        if asked[at].low == "how" and kind and rest[0].low in _DO | _HAVE | _BE:
            # "How many moons does X have?": X has 3 moons
            yield [*rest[1:], *(() if rest[-1].low in ("have", "has") else (rest[0],)), *fragment, *kind], []


def _statements(
    rest: list[Symbol], fragment: list[Symbol], before: list[Symbol], *, loose: bool
) -> Iterator[list[Symbol]]:
    first, behind = rest[0], rest[1:]
    leads = [before] if before else [[], *([[word(p)] for p in _PLACES] if loose else [])]
    if fragment and fragment[0].low in PREPOSITIONS:
        leads = [[], *leads]
        bare = fragment[1:]
    else:
        bare = fragment
    if first.low in _DO:
        for lead in leads:
            yield [*behind, *lead, *fragment]
        yield [*behind, *bare]
        return
    if first.low in _BE and behind:
        yield [*bare, first, *behind]
        for lead in leads:
            for at in range(len(behind), 0, -1):
                yield [*behind[:at], first, *behind[at:], *lead, *fragment]
        return
    if first.low in _HAVE and behind:
        yield [*behind, first, *bare]
    yield [*bare, *rest]
