"""Marks of code that models put around an answer in words."""

from __future__ import annotations

import re

_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[\w+-]*[ \t]*$\n?", re.MULTILINE)


def without_fences(text: str) -> str:
    r"""Return a text without the lines that open and close code; what stands between them stays.

    Example:
        >>> without_fences("```markdown\nOntotext.\n```")
        'Ontotext.'
    """
    return _FENCE.sub("", text).strip()
