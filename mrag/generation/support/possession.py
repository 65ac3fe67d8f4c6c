"""Whether a text speaks of a thing or of what it has: "Ada's children" are not Ada.

A fact about a thing must not be cited for a statement about what is related to it: that Ada is a woman does
not show that "the gender of Ada's children is female".
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mrag.generation.support.mentions import TermMention
from mrag.text.tokens import VERBS, TextToken, is_stopword, stem, words

_OF = words("of von de del du des di d'")
_ARTICLES = words("the a an der die das dem den des le la les el los las il lo gli i")
_ENDS = re.compile(r"['’´`ʼ](?:s)?\Z", re.IGNORECASE)
_HAVING_VERBS = frozenset(stem(word) for word in VERBS)
_MOST = 3
_BREAK = re.compile(r"[.,;:()!?—]")


def owned(
    text: str, asked: Sequence[TextToken], mention: TermMention, things: Sequence[TermMention]
) -> frozenset[str]:
    """Return the stems of the nouns that a mention of a thing is only the owner of, none if it stands alone.

    Args:
        text: A sentence or a question.
        asked: Its words.
        mention: A place where it names a thing.
        things: All places where it names things.
    """
    if mention.first < 0 or mention.last <= mention.first:
        return frozenset()
    named = {i for other in things for i in range(max(other.first, 0), other.last)}
    behind = asked[mention.last - 1]
    gap = text[behind.end : asked[mention.last].start] if mention.last < len(asked) else ""
    if _ENDS.search(behind.raw) or (behind.end < len(text) and _ENDS.search(gap.split(" ")[0] or " ")):
        return _nouns(text, asked, range(mention.last, len(asked)), named)
    at = mention.first - 1
    while at >= 0 and asked[at].key in _ARTICLES:
        at -= 1
    if at >= 0 and asked[at].key in _OF:
        return _nouns(text, asked, range(at - 1, -1, -1), named)
    return frozenset()


def _nouns(text: str, asked: Sequence[TextToken], places: range, named: set[int]) -> frozenset[str]:
    found: list[str] = []
    before: int | None = None
    for i in places:
        first, second = sorted((i, before)) if before is not None else (i, i)
        if i in named or _BREAK.search(text[asked[first].end : asked[second].start]):
            break
        if is_stopword(asked[i].key) or len(found) == _MOST:
            break
        if found and places.step > 0 and stem(asked[i].raw) in _HAVING_VERBS:
            break  # "Ada's children live …", but "Ada's release year"
        found.append(stem(asked[i].raw))
        before = i
    return frozenset(found)
