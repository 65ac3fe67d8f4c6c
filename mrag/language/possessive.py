"""Regular expressions with groups that repeat possessively."""

from __future__ import annotations

import re
import sys
from typing import AnyStr, cast

_RIGHT = sys.version_info >= (3, 11, 5)


def compiled(pattern: AnyStr, flags: int = 0, *, possessive: bool = _RIGHT) -> re.Pattern[AnyStr]:
    """Compile a pattern, with groups that repeat greedily where Python gets possessive ones wrong.

    Before Python 3.11.5 the search went on from the wrong place after the last attempt of a possessive group
    had failed half-way (https://github.com/python/cpython/issues/106052). The pattern must match the same in
    both ways; greedy groups only take more memory.

    Example:
        >>> compiled(r"a(?:bc)*+b?+", possessive=False).pattern
        'a(?:bc)*b?+'
    """
    if possessive:
        return re.compile(pattern, flags)
    if isinstance(pattern, bytes):
        return cast("re.Pattern[AnyStr]", re.compile(re.sub(rb"\)([*?])\+", rb")\1", pattern), flags))
    return cast("re.Pattern[AnyStr]", re.compile(re.sub(r"\)([*?])\+", r")\1", str(pattern)), flags))
