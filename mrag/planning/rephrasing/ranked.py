"""Things that are to be ranked by a number of each: "rank the shops by the average price of their goods"."""

from __future__ import annotations

import re
from typing import Final

from mrag.text.plurals import singular

_RANKED: Final = re.compile(
    r"(?i)^\W*(?:please )?(?:rank|order|sort) (?:all )?(?:of )?(?:the )?(?P<x>[\w-]+(?: [\w-]+)?) by "
    r"(?:the |their )?(?P<n>(?:average|mean|total|median|sum of|number of|count of|minimum|maximum|highest"
    r"|lowest|combined) .+?)"
    r"(?P<first>,? (?:from (?:the )?)?(?:highest|lowest|largest|smallest|most|fewest|best|worst|greatest"
    r"|least|in (?:a|de)scending order|descending|ascending)\b.*?)?\W*$"
)
_THEIR: Final = re.compile(r"(?i)\btheir\b")


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
