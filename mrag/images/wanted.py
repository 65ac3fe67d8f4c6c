"""Whether a question asks for images, and of what."""

from __future__ import annotations

import re
from typing import Final

from mrag.text.possessive import compiled

_IMAGE: Final = r"(?:picture|image|photo|photograph)s?"
_SOME: Final = (
    r"(?:(?:a|an|the|some|all|any|more|few|several|every|other|of|\d+|one|two|three|four|five|ten)\s+)*+"
)
_SHOWING: Final = (
    r"(?:of|with|where|in\s+which|showing|depicting|containing|featuring|including|displaying|having|"
    r"(?:(?:that|which)\s+)?(?:shows?|depicts?|contains?|displays?|features?|includes?|has|have|is|are|looks?)"
    r"(?:\s+(?:of|with|like))?)"
)
_ASKED: Final = compiled(
    r"(?:please\s+)?(?:(?:can|could|would)\s+(?:you|i|we)\s+)?(?:please\s+)?(?:i\s+(?:want|would\s+like)\s+)?"
    r"(?:to\s+)?(?:show|find|give|get|see|display|list|search|look)\s+(?:(?:me|us|for|at)\s+)*"
    rf"{_SOME}{_IMAGE}\b(?:\s+{_SHOWING}\b)?"
    rf"|(?:which|what|{_SOME})\s*{_SOME}{_IMAGE}\s+{_SHOWING}\b",
    re.IGNORECASE,
)


def wanted(question: str) -> str | None:
    """Return what the images that a question asks for are to show, None if it does not ask for images.

    Args:
        question: The question.

    Example:
        >>> wanted("Show me some pictures of a red dress"), wanted("Which image shows a hat?")
        ('a red dress', 'a hat')
        >>> wanted("Show me the photos"), wanted("How many images are there?")
        ('', None)
    """
    found = _ASKED.match(question.strip())
    return None if found is None else question.strip()[found.end() :].strip(" ?.!")
