"""Which of two names in a sentence is the subject, where the relation may hold either way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mrag.completion.plan.spans import Span, TextWord

_INVERSE: Final = frozenset(("belong", "flow", "empt"))
"""Verbs of which the subject is what is had."""


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
        >>> from mrag.completion.plan.spans import words_of
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
