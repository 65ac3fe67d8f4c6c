"""Regular expressions: compiled when they are first used, and with groups that repeat possessively."""

from __future__ import annotations

import re
import sys
from typing import Any, AnyStr, Final, cast

_RIGHT = sys.version_info >= (3, 11, 5)
_METHODS: Final = ("findall", "finditer", "fullmatch", "match", "search", "split", "sub")


class LatePattern:
    """Stands for a regular expression, which is compiled when it is first used.

    Attributes:
        pattern: Its text.
    """

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern = pattern
        self._given = flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        made: re.Pattern[Any] = re.compile(self.pattern, self._given)
        for method in _METHODS:
            setattr(self, method, getattr(made, method))  # from now on this is not asked
        return getattr(made, name)


def compile_late(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a regular expression that is compiled when it is first used.

    A command needs few of the hundreds that its modules define, and compiling one may take a millisecond.

    Example:
        >>> compile_late("(?i)who(?= )").sub("Which", "who developed GraphDB?")
        'Which developed GraphDB?'
    """
    return cast("re.Pattern[AnyStr]", LatePattern(pattern, flags))


def compile_pattern(pattern: AnyStr, flags: int = 0, *, possessive: bool = _RIGHT) -> re.Pattern[AnyStr]:
    """Compile a pattern, with groups that repeat greedily where Python gets possessive ones wrong.

    Before Python 3.11.5 the search went on from the wrong place after the last attempt of a possessive group
    had failed half-way (https://github.com/python/cpython/issues/106052). The pattern must match the same in
    both ways; greedy groups only take more memory.

    Example:
        >>> compile_pattern(r"a(?:bc)*+b?+", possessive=False).pattern
        'a(?:bc)*b?+'
    """
    if possessive:
        return compile_late(pattern, flags)
    if isinstance(pattern, bytes):
        return cast("re.Pattern[AnyStr]", compile_late(re.sub(rb"\)([*?])\+", rb")\1", pattern), flags))
    return cast("re.Pattern[AnyStr]", compile_late(re.sub(r"\)([*?])\+", r")\1", str(pattern)), flags))
