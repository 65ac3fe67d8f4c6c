"""Names that identifiers spell out: abbreviations, and what is called by plain words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import takewhile
from typing import Final

from mrag.language.names import name_parts
from mrag.planning.lexical.candidates import NameMention
from mrag.planning.lexical.english import root
from mrag.planning.schema import PropertyInfo

__all__ = [
    "is_count",
    "is_value",
    "plain_names",
    "without_likened",
]

_SHORT_WORDS: Final = frozenset(
    "age day sex tax fee pay job art law zip map tag key row end sum max min id name of in on by at to for "
    "no and or the set bid bed bar sea air gas oil ore cat dog car bus war way aid ad url".split()
)
"""Words of three letters or fewer that are no abbreviations."""
_OF_WHAT: Final = frozenset("on in during for by at from when that which".split())
"""Words behind which a comment says what a number is of, which is no part of its name."""
_USUAL: Final = dict(
    pair.split(":")
    for pair in (
        "acct:account addr:address amt:amount avg:average bal:balance bldg:building "
        "cnt:count cust:customer ctry:country curr:currency dep:departure dept:department "
        "desc:description dest:destination dist:distance dob:birth-date dt:date dur:duration emp:employee "
        "eval:evaluation exp:experience freq:frequency fname:first-name grp:group hgt:height hrs:hours "
        "inv:invoice lang:language len:length lname:last-name loc:location lvl:level max:maximum "
        "meth:method mfr:manufacturer mgr:manager min:minimum nat:nationality nbr:number num:number "
        "org:organisation pct:percentage ph:phone pos:position prc:price prod:product "
        "pwr:power qty:quantity rcpt:receipt ref:reference reg:region ret:return "
        "sal:salary sched:schedule sem:semester sess:session spd:speed src:source stat:status "
        "std:standard tel:telephone temp:temperature tot:total trx:transaction txn:transaction vol:volume "
        "wgt:weight wt:weight yr:year yrs:years"
    ).split()
)
"""Abbreviations of names of columns and tables; none is a word that a kind of things may be called by."""
_UNITS: Final = frozenset(
    "euro euros dollar dollars pounds usd eur gbp minutes hours days years seconds metres meters feet "
    "percent kilometres kilometers kilograms grams tonnes litres".split()
)
_WHOLE: Final = 3
"""Words of the longest comment that is nothing but another name."""
_LONGEST: Final = 7
"""Words of the longest phrase that is taken for a name."""
_VOWELS: Final = frozenset("aeiouy")


def spelt_out(name: str, comment: str) -> tuple[str, ...]:
    """Return further names of something whose own name is an abbreviation, by its comment and as is usual.

    Args:
        name: How it is called.
        comment: What is said of it.

    Example:
        >>> spelt_out("att", "Attendance: number of spectators.")
        ('attendance',)
        >>> spelt_out("dep_ts", "Scheduled departure (local time).")
        ('departure ts', 'scheduled departure')
        >>> spelt_out("rental_amt", ""), spelt_out("cat", "genre")
        (('rental amount',), ('genre',))
        >>> spelt_out("height", "Height in cm.")
        ()
    """
    words = [part.lower() for word in re.split(r"[\W_]+", name) for part in name_parts(word)]
    usual = " ".join(_USUAL.get(word, word).replace("-", " ") for word in words)
    found = (usual,) * (usual != " ".join(words))
    return tuple(dict.fromkeys((*found, *_told(words, comment))))


def _told(words: list[str], comment: str) -> tuple[str, ...]:
    """Return the name that a comment begins with, of something whose own name is an abbreviation."""
    head = re.split(r"[.,;:(=\n]", comment, maxsplit=1)[0].strip()
    said = [w for w in head.lower().split() if w not in ("the", "a", "an")]
    said = list(takewhile(lambda w: w not in _OF_WHAT, said))
    if (
        not 0 < len(said) <= _LONGEST
        or len("".join(said)) < 4
        or said[0] in ("whether", "true", "if", "is", "are")
    ):
        return ()
    clause = {"what", "is", "are", "was", "were", "has", "have", "of"} | _UNITS
    whole = len(comment.split()) <= _WHOLE and not clause & {*said} and said != words
    if not whole and not any(_abbreviates(word, said) for word in words):
        return ()
    return (" ".join(said),)


def _abbreviates(word: str, said: list[str]) -> bool:
    if not word.isascii() or not word.isalpha() or word in _SHORT_WORDS or word in said:
        return False
    if not _VOWELS & {*word} or len(word) <= 3:
        return True
    return len(word) <= 5 and any(len(w) > len(word) + 1 and w.startswith(word) for w in said)


_VALUE: Final = root("value")
_MANY: Final = frozenset("many most more fewest fewer least".split())
_COUNTED: Final = frozenset("count number num".split())


def plain_names(names: Iterable[str], holders: Iterable[str]) -> tuple[str, ...]:
    """Return more names of a number which is called the value of what has it.

    Args:
        names: The names of its property.
        holders: Names of the class of things that have it.

    Example:
        >>> plain_names(["rating value", "best rating"], ["aggregate rating"])
        ('rating',)
        >>> plain_names(["market value"], ["house"])
        ()
    """
    held = [frozenset(map(root, name.lower().split())) for name in holders]
    found = dict[str, None]()
    for name in names:
        *first, last = name.split() or [""]
        words = frozenset(root(word.lower()) for word in first)
        if words and root(last.lower()) == _VALUE and any(words <= holder for holder in held):
            found[" ".join(first)] = None
    return tuple(found)


def is_value(names: Iterable[str]) -> bool:
    """Return whether a number is called the value of something, so that it is no number of things.

    Example:
        >>> is_value(["rating value"]), is_value(["review count"])
        (True, False)
    """
    return any(root(name.lower().split()[-1]) == _VALUE for name in names if name.strip())


def is_count(names: Iterable[str]) -> bool:
    """Return whether a number is called a count of something.

    Example:
        >>> is_count(["review count"]), is_count(["num employees"]), is_count(["flight number"])
        (True, True, False)
    """
    words = [name.lower().split() for name in names if " " in name]
    return any(w[0] in _COUNTED or w[-1] == "count" for w in words)


def without_likened(mention: NameMention, before: str, properties: Mapping[str, PropertyInfo]) -> NameMention:
    """Return a mention without what only means the like, where it is asked how many and a number tells that.

    "The most reviews" are told by a "review count", neither by a "rating value" nor by how many ratings there
    are.

    Args:
        mention: What words may name.
        before: The word before them.
        properties: The properties of the graph.
    """
    if before not in _MANY:
        return mention
    own = [c for c in mention.candidates if c.way != "synonym"]
    infos = (properties[c.term] for c in own if c.kind == "property")
    if not any(info.kind == "number" and is_count(info.names) for info in infos):
        return mention
    return replace(mention, candidates=tuple(own))
