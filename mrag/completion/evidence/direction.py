"""How two names of a sentence belong together: which is the subject, and whether one tells of the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mrag.completion.evidence.sentences import ReadSentence
from mrag.completion.names import Span, TextWord

_INVERSE: Final = frozenset(("belong", "flow", "empt"))
"""Verbs of which the subject is what is had."""
_STATES: Final = frozenset(("in", "at", "on", "for", "of", "near"))


_BARE: Final = frozenset(("and", "is", "are", "was", "were", "both", "all", "the"))


def subject_first(
    text: str, words: Sequence[TextWord], place: int, key: str, names: Sequence[str], left: Span, right: Span
) -> bool:
    """Return whether the first of two names is the subject of a relation, by the word that says it.

    Args:
        text: The sentence.
        words: Its words.
        place: Where the word is that says the relation.
        key: Its key.
        names: Names of the relation.
        left: The first name.
        right: The second name.

    Example:
        >>> from mrag.completion.names import words_of
        >>> text, ends = "Lumo was acquired by Ada", (Span(0, 1), Span(4, 5))
        >>> subject_first(text, words_of(text), 2, "acquir+by", ["owner"], *ends)
        True
        >>> text = "Ada is the mother of Bob"
        >>> subject_first(text, words_of(text), 3, "mother", ["mother"], Span(0, 1), Span(5, 6))
        False
    """
    called = names[0].casefold().split() if names else []
    last = called[-1] if called else ""
    told = last in ("of", "to")
    follows = words[place + 1].key if place + 1 < len(words) else ""
    if follows == "of" and key.removesuffix("+by") not in _INVERSE:
        # "The mother of Bob": what comes behind has the mother.
        return (place < left.first) != told
    if left.last <= place and text[words[left.last - 1].end :][:2] in ("'s", "’s"):
        return not told
    passive = key.endswith("+by") or key in _INVERSE
    agent_is_object = last == "by" or (not told and last.endswith(("er", "or", "ist", "ian")))
    if place < left.first or right.last <= place:
        # Beside both names, such as "Directed by Ada, Moss": as the relation is named.
        return not passive if agent_is_object else True
    return passive if agent_is_object else not passive


def stative(
    words: Sequence[TextWord], names: Sequence[Span], left: Span, right: Span, between: Sequence[int]
) -> bool:
    """Return whether a sentence says, of two names alone, how the first is: "Elm focuses on cardiology".

    What happened once is no state: "Elm held a ball in Rome".

    Args:
        words: The words of the sentence.
        names: All names in it.
        left: The first of the two.
        right: The second.
        between: The places of the words between them.

    Example:
        >>> from mrag.completion.names import words_of
        >>> def told(text):
        ...     words = words_of(text)
        ...     ends = Span(0, 1), Span(len(words) - 1, len(words))
        ...     return stative(words, ends, *ends, range(1, len(words) - 1))
        >>> told("Elm focuses on cardiology"), told("Elm held a ball in Rome"), told("Elm is far from Rome")
        (True, False, False)
    """
    if len(names) != 2 or len(between) < 2 or left.first > 1:
        return False
    if left.first and words[0].key not in ("the", "a"):
        return False
    low = [words[i].text.casefold() for i in between]
    verb = low[0] == "is" or (low[0].endswith("s") and low[0] not in ("was", "has", "does", "as", "s"))
    moving = any(word.endswith(("ing", "ed")) for word in low)
    return verb and not moving and words[right.first - 1].key in _STATES


def beside(sentence: ReadSentence, left: Span, right: Span, between: Sequence[int]) -> bool:
    """Return whether a sentence says in passing how the first of two names is: "Elm, a clinic in Bonn, grew".

    "Elm, in Bonn, grew" and "Elm and Oak are in Bonn" are such, too.
    """
    low = [sentence.words[i].key for i in between]
    if not low or low[-1] not in ("in", "at", "on", "near"):
        return False
    first = "," in sentence.between(left.last - 1, left.last)
    end = sentence.words[right.last - 1].end
    closed = sentence.text[end : end + 1] in (",", "")
    if all(word in _BARE for word in low[:-1]):
        copula = any(word in ("is", "are", "was", "were") for word in low)
        return copula or (first and closed and len(low) == 1)
    steady = not any(word.endswith(("ing", "ed")) for word in low)
    return first and closed and low[0] in ("a", "an") and steady and len(low) < 6
