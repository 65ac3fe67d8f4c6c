"""What is to be shown of things beside themselves, and the number by which they are to be ranked."""

from __future__ import annotations

import re
from typing import Final

from mrag.language.tokens import singular

_THEM: Final = r"(?:it|they|each(?: of them| one)?|every one|he or she|she or he|he|she)"
_TIME: Final = re.compile(
    r"(?i)(?:,? (?:and|with|together with|along with|as well as)|,) "
    r"the (?:year|date|day|month|time|moment) (?:(?:in|on|at|of|since) which|when|that) "
    rf"(?P<clause>{_THEM} (?:was|were|is|are) \w+)(?=\W*$|[,.;?!]| and\b)"
)
_PLACE: Final = re.compile(
    r"(?i)\b(?P<joins>and|with|together with|along with|as well as) the (?P<n>[\w-]+(?: [\w-]+)?) "
    rf"(?:(?:in|at|on|to|for|from|by|under|with) which|where|that|who|whom) {_THEM} "
    r"(?:(?:is|are|was|were|has been|have been|has|have|had|do|does) )?\w+(?: (?:to|in|at|for|with|from|on))?"
    r"(?=\W*$|[,.;?!]| and\b)"
)
_RANKED: Final = re.compile(
    r"(?i)^\W*(?:please )?(?:rank|order|sort) (?:all )?(?:of )?(?:the )?(?P<x>[\w-]+(?: [\w-]+)?) by "
    r"(?:the |their )?(?P<n>(?:average|mean|total|median|sum of|number of|count of|minimum|maximum|highest"
    r"|lowest|combined) .+?)"
    r"(?P<first>,? (?:from (?:the )?)?(?:highest|lowest|largest|smallest|most|fewest|best|worst|greatest"
    r"|least|in (?:a|de)scending order|descending|ascending)\b.*?)?\W*$"
)
_THEIR: Final = re.compile(r"(?i)\btheir\b")


def with_their_own(text: str) -> str:
    """Return a question with what clauses say to show in fewer words; the same text where there are none.

    Example:
        >>> with_their_own("List the shops together with the city in which they are located.")
        'List the shops together with their city.'
        >>> with_their_own("List the shops, with the year in which each was opened.")
        'List the shops and when each was opened.'
    """
    text = _TIME.sub(r" and when \g<clause>", text)
    return _PLACE.sub(r"\g<joins> their \g<n>", text)


def ranked(text: str) -> str:
    """Return a request to rank things by a number of each as one for that number; others as they are.

    Example:
        >>> ranked("Rank the shops by the average price of their goods.")
        'For each shop, show the average price of its goods, highest first.'
    """
    match = _RANKED.match(text)
    if match is None:
        return text
    *before, last = match["x"].split()
    thing = " ".join([*before, singular(last)])
    number = _THEIR.sub("its", match["n"])
    return f"For each {thing}, show the {number}{match['first'] or ', highest first'}."
