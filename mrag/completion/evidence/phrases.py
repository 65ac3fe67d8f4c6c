"""How a word of a sentence stands to the names beside it: whether it reaches them, and what is light."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from mrag.completion.evidence.sentences import ReadSentence
from mrag.completion.names import Span, TextWord
from mrag.text.tokens import is_stopword

_GOES: Final = {
    "with": frozenset(("lies", "lie", "lay", "rests", "rested", "is", "was", "are", "were", "remains")),
    "to": frozenset(("went", "goes", "go", "fell", "falls", "given")),
    "from": frozenset(("came", "comes", "come", "is", "was", "are", "were")),
}
"""Verbs that a preposition goes with, where both only lead from a noun to a name."""
_ANOTHER: Final = frozenset(
    "wife husband widow widower spouse partner fiancee son daughter child children brother sister "
    "sibling mother father parent parents uncle aunt cousin nephew niece grandson granddaughter family "
    "heir heirs descendant friend friends rival rivals competitor competitors enemy enemies opponent "
    "neighbour neighbor pupil pupils student students disciple assistant assistants colleague "
    "colleagues deputy successor predecessor follower followers fan fans admirer admirers critic "
    "critics biographer namesake guest guests style manner spirit wake presence absence memory honour "
    "honor death lifetime reign birth birthday marriage wish wishes will objection objections protest "
    "protests example influence portrait bust statue copy copies imitation replica forgery sequel "
    "remake parody frame theft sale review translation works writings ideas model neighbourhood "
    "supporter supporters subsidiary advice logo website slogan customer customers user users partner "
    "partners employee employees clone clones plugin plugins extension extensions book books dog cat horse "
    "house car".split()
)
"""Nouns that make of a name somebody or something else: "the wife of Ada", "in the style of Ada"."""
_BESIDES: Final = frozenset(
    ("alongside", "beside", "besides", "against", "unlike", "like", "than", "despite")
)
_STORIES: Final = frozenset("novel novels film films movie story tale book play series game comic".split())
_AWAY: Final = frozenset(
    "near outside about beyond past towards toward before after without around opposite behind".split()
)
_RELATIVE: Final = frozenset(("which", "who", "that", "whose"))
_WHILE: Final = frozenset(("while", "when", "because", "although", "though", "until", "unless", "whereas"))
PARTICIPLES: Final = ("ed", "en", "un", "wn", "lt", "de", "ought", "held", "led", "won", "made", "born")
OF: Final = frozenset(("of", "for", "to", "in", "on"))
AND: Final = frozenset(("and", "or", "with", "as", "well", "plus", "und", "et", "y"))
COPULA: Final = frozenset(
    ("is", "was", "are", "were", "a", "an", "the", "be", "been", "best", "described", "as", "kind", "sort")
)
_PLACES: Final = frozenset(
    ("in", "at", "near", "on", "from", "to", "during", "under", "through", "into", "onto", "for", "with",
     "as", "against", "after", "before")
)  # fmt: skip
ELSE: Final = frozenset(("into", "for", "with", "as", "against", "after", "before", "during", "alongside"))
LIGHT: Final = frozenset(
    ("came", "comes", "come", "went", "goes", "go", "held", "took", "place", "falls", "fell", "given",
     "began", "lies", "lie", "lay", "rests", "rested", "hands", "done", "made", "work", "remains", "still",
     "stood", "stands", "sits", "sat")
)  # fmt: skip
"""Words that say nothing themselves: "the script came from Ada", "the management lies with Ada"."""


def acting(sentence: ReadSentence, place: int, high: Span) -> bool:
    """Return whether a word is who does what the next word says: "in 1950 the painter finished Moss"."""
    words = sentence.words
    after = words[place + 1].key if place + 1 < high.first else ""
    return place > 0 and words[place - 1].key in ("the", "our") and after.endswith("ed")


def listed(sentence: ReadSentence, place: int) -> list[int]:
    """Return a place and those that are listed with it: "written and directed", "writer-director"."""
    words, found = sentence.words, [place]
    for step in (-1, 1):
        at = place + step
        while 0 <= at < len(words) and words[at].key in ("and", "co", "also", "both", "or"):
            at += step
        joined = (
            sentence.text[words[min(place, at)].end : words[max(place, at)].start]
            if 0 <= at < len(words)
            else ""
        )
        if 0 <= at < len(words) and (abs(at - place) > 1 or joined in ("-", "/", ", ")):
            found.append(at)
    return found


def another(sentence: ReadSentence, span: Span, says: Callable[[int], bool]) -> bool:
    """Return whether not what a name names is spoken of, but what belongs to it, or happens meanwhile.

    Args:
        sentence: The sentence.
        span: The name.
        says: Whether a word says the relation that is asked for: "the pupil of Ada".
    """
    words = sentence.words
    place = span.first - 1
    while place > 0 and words[place].key in ("the", "a", "an"):
        place -= 1
    if place >= 0 and words[place].key in _BESIDES | _WHILE:
        return True
    if place > 0 and words[place].key in ("of", "to", "from", "for") and words[place - 1].key in _ANOTHER:
        return not says(place - 1)
    behind = sentence.text[words[span.last - 1].end :][:2]
    owner = behind in ("'s", "’s", "' ", "’ ") and span.last < len(words)
    return owner and words[span.last].key in _ANOTHER and not says(span.last)


def between_others(sentence: ReadSentence, low: Span, high: Span) -> bool:
    """Return whether what is told of the second of two names is told of another, or of one of several.

    "Moss resembles Fern, which is by Ada" is not of Moss; "by Ada or Bob" leaves it open; "led by Ada until
    1990" is over.
    """
    words = sentence.words
    ends = {span.last for span in sentence.names if span.first >= low.last}
    if any(words[i].key in _RELATIVE and i in ends for i in range(low.last, high.first)):
        return True
    around = [*words[high.first - 1 : high.first], *words[high.last : high.last + 1]]
    past = any(
        word.key in ("was", "were") or word.key.endswith("ed") for word in words[low.last : high.first]
    )
    return bool({word.key for word in around} & {"or", "either"}) or (
        past and any(word.key in ("until", "till") for word in words[high.last : high.last + 3])
    )


def led_elsewhere(sentence: ReadSentence, high: Span, own: frozenset[str]) -> bool:
    """Return whether a preposition that the relation does not have leads to a name: "born near Lund".

    Args:
        sentence: The sentence.
        high: The second of two names.
        own: The words of the relation's names.
    """
    words, at = sentence.words, high.first - 1
    while at > 0 and words[at].key in ("the", "a", "an"):
        at -= 1
    away = _AWAY | (frozenset(("to",)) if own & {"in", "at"} else frozenset())
    return at >= 0 and words[at].key in away - own


def in_fiction(sentence: ReadSentence) -> bool:
    """Return whether a sentence tells what happens in a story: "In the novel Fern, Bob is born in Lund"."""
    words = sentence.words
    if len(words) < 4 or words[0].key != "in" or {word.key for word in words[1:4]}.isdisjoint(_STORIES):
        return False
    return any("," in sentence.between(i, i + 1) for i in range(2, len(words) - 1))


def qualifies(sentence: ReadSentence, candidate: Span) -> bool:
    """Return whether a name only says where the place before it is: "in Austin, Texas"."""
    words = sentence.words
    place = next((span for span in sentence.names if span.last == candidate.first), None)
    if place is None or not place.first or "," not in sentence.between(place.last - 1, candidate.first):
        return False
    rest = sentence.text[words[candidate.last - 1].end :].lstrip()
    after = words[candidate.last].key if candidate.last < len(words) else ""
    return (
        words[place.first - 1].key in ("in", "at", "near")
        and after not in AND
        and not (rest.startswith(",") and any(span.first == candidate.last for span in sentence.names))
    )


def apart(words: Sequence[TextWord], between: Sequence[int], after: bool, candidate: Span) -> bool:
    """Return whether a candidate stands in a phrase of its own: "wrote Moss in a small flat in Lyon"."""
    if not after or not between or words[candidate.first].text[0].isdigit():
        return False
    keys = [words[i].key for i in between]
    telling = [
        key
        for i, key in zip(between, keys, strict=True)
        if not is_stopword(words[i].text.casefold()) and key not in LIGHT | COPULA
    ]
    if keys[-1] in _GOES and not set(keys) & _GOES[keys[-1]]:
        return True
    return bool(telling) or keys[0] in _PLACES


def reaches(sentence: ReadSentence, place: int, candidate: Span) -> bool:
    """Return whether a relation word holds for a candidate behind other names: all are listed, or none."""
    words = sentence.words
    low, high = (place + 1, candidate.first) if place < candidate.first else (candidate.last, place)
    names = [span for span in sentence.names if low <= span.first and span.last <= high]
    if place > candidate.first:
        # "Moss, a film by Ada, was made by Bob": what stands between commas is passed over.
        closing = max((i for i in range(low, high) if "," in sentence.between(i, i + 1)), default=-1)
        if "," in sentence.between(low - 1, low) and closing >= 0:
            names = [span for span in names if span.first > closing]
    if not names:
        return True
    by = place < candidate.first and words[candidate.first - 1].key == "by"
    if by and words[place + 1].key != "by":
        return True  # "rendered into English by Ada"
    start, end = (names[0].last, high) if place < candidate.first else (low, names[-1].first)
    if words[candidate.first].text[0].isdigit() and place < candidate.first:
        # "Built by Ada in 1950": when it was, behind who did it.
        commas = any("," in sentence.between(i, i + 1) for i in range(place, candidate.first))
        return len(names) == 1 and words[candidate.first - 1].key in ("in", "from") and not commas
    inside = {i for span in names for i in range(span.first, span.last)}
    return all(words[i].key in AND for i in range(start, end) if i not in inside)
