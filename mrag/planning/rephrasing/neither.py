"""What is neither one thing nor another, put as two denials."""

from __future__ import annotations

import re
from typing import Final

from mrag.language.tokens import VERBS
from mrag.planning.lexical.english import BEING, root

_NEITHER: Final = re.compile(
    r"(?i)\b(?P<v>[a-z]+)(?P<p> (?:in|on|at|through|to|from|with|by|for|into|of))? neither "
    r"(?P<x>(?:(?!\b(?:or|and|but)\b)[^,;])+?),? nor (?P<y>(?:(?!\b(?:or|and|but)\b)[^,;])+?)(?=\W*$)"
)
_HAVING: Final = frozenset("has have had with".split())
_VERBS: Final = frozenset(map(root, VERBS)) | frozenset("made won got grown drawn written taken".split())
_BEFORE_NOUNS: Final = re.compile(r"(?i)(?:^|\b(?:which|what|all|the|any|list|show|many|every|each))\W*$")
_PLURALS: Final = re.compile(r"[a-z]+s(?: [a-z]+s)?")


def neither(text: str) -> str:
    """Return a question that denies two things as two denials; others as they are.

    Example:
        >>> neither("Which states border neither Kent nor Fife?")
        'Which states do not border Kent or Fife?'
        >>> neither("Which halls have neither a bar nor a stage?")
        'Which halls have no a bar and have no a stage?'
        >>> neither("Which states neither border Kent nor Fife?")
        'Which states do not border Kent and do not border Fife?'
    """
    return _NEITHER.sub(_denied, text)


def _denied(match: re.Match[str]) -> str:
    v, x, y = match["v"] + (match["p"] or ""), match["x"], match["y"]
    word = match["v"].lower()
    if word in BEING:
        return f"{v} not {x} and {v} not {y}"
    if word in _HAVING and not match["p"]:
        return f"{v} no {x} and {v} no {y}"
    if _is_verb(word) and not match["p"] and _PLURALS.fullmatch(x) and _PLURALS.fullmatch(y):
        return f"{v} no {x} and {v} no {y}"  # kinds of things
    is_first = _BEFORE_NOUNS.search(match.string[: match.start()])
    if match["p"] and not _is_verb(word) and is_first:
        return f"{match['v']} that are not{match['p']} {x} or{match['p']} {y}"
    if _is_verb(word) or match["p"]:
        return f"do not {v} {x} or {y}"
    first, _, rest = x.partition(" ")
    if not rest or not _is_verb(first.lower()):
        return match.group()
    again = y if _is_verb(y.split()[0].lower()) else f"{first} {y}"
    return f"{v} do not {x} and do not {again}"


def _is_verb(word: str) -> bool:
    return root(word) in _VERBS or word in _VERBS or (word.endswith("ed") and len(word) > 4)
