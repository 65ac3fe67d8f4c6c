"""What is also to be shown, told in a clause of its own: "with the city in which they are located"."""

from __future__ import annotations

import re
from typing import Final

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
