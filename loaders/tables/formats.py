"""Regular expressions that others wrote, matched in time that grows with the text alone."""

from __future__ import annotations

import math
import re
import re._constants as codes  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
from functools import lru_cache
from typing import Any, Final

import pyoxigraph as ox

_TRIES: Final = 1_000
"""So many ways to match a text of one character, at most, need no other engine."""
_LONG: Final = 1_000
_REPEATS: Final = (codes.MAX_REPEAT, codes.MIN_REPEAT)


@lru_cache(maxsize=256)
def simple(pattern: str) -> re.Pattern[str] | None:
    """Return an expression that Python's own engine matches fast, whatever the text; None if it may not.

    That engine tries one way after the other, so it may for those that have few ways: the ranges of all
    repeats multiplied, and no repeat inside of another.

    Example:
        >>> simple("[A-Z]{2}[0-9]+") is not None, simple("(a+)+") is not None
        (True, False)
    """
    try:
        compiled, tree = re.compile(pattern), parser.parse(pattern)
    except (re.error, RecursionError, OverflowError):
        return None
    return compiled if _ways(tree, False) <= _TRIES else None


def _ways(items: Any, repeated: bool) -> float:
    ways = 1.0
    for op, value in items:
        if op in _REPEATS:
            low, high, body = value
            if repeated or (high - low > 100 and high is not codes.MAXREPEAT):
                return math.inf
            # Of repeats without an end there may be one: the rest is tried at each of its ends.
            ways *= (40 if high is codes.MAXREPEAT else high - low + 1) * _ways(body, True)
        elif op is codes.BRANCH:
            ways *= sum(_ways(branch, repeated) for branch in value[1]) if not repeated else math.inf
        elif op is codes.SUBPATTERN:
            ways *= _ways(value[3], repeated)
        elif op not in (codes.LITERAL, codes.NOT_LITERAL, codes.ANY, codes.IN, codes.AT):
            return math.inf
    return ways


def is_known(pattern: str) -> bool:
    """Return whether an expression can be matched: it is one, of moderate size and without lookarounds.

    Example:
        >>> is_known("(a+)+"), is_known("(a"), is_known("(?=a)")
        (True, False, False)
    """
    if simple(pattern) is not None:
        return True
    return _ask("tables/pattern", pattern)


@lru_cache(maxsize=4_096)
def matches(pattern: str, text: str) -> bool:
    """Return whether an expression matches the whole of a text.

    Example:
        >>> matches("[A-Z]{2}[0-9]+", "AB12"), matches("(a+)+", "a" * 1_000 + "!")
        (True, False)
    """
    if len(text) < _LONG and (compiled := simple(pattern)) is not None:
        return compiled.fullmatch(text) is not None
    # The engine of the store does not try one way after the other.
    return _ask("tables/matches", text, pattern)


def _ask(name: str, *texts: str) -> bool:
    # Processes that parse are started often, and few of them come here.
    from rdflib import Literal

    from mrag.rdf import queries

    terms = [Literal(text) for text in texts]
    values = {"pattern": terms} if len(terms) == 1 else {"text_pattern": [tuple(terms)]}
    return bool(list(ox.Store().query(queries.get(name).bind(**values))))  # type: ignore[arg-type]
