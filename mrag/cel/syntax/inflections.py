"""Nouns, adjectives and verbs in the forms that English sentences about class expressions need."""

from __future__ import annotations

import re

from mrag.cel.syntax.wordlists import (
    ADJECTIVE_ENDINGS,
    ADJECTIVES,
    IRREGULAR,
    MASS,
    PLURALS,
    SINGULARS,
    UNITS,
)
from mrag.text.grammar import article, plural
from mrag.text.tokens import PREPOSITIONS, is_plural, singular

_IN_BRACKETS = re.compile(r"(.*\S) [(\[]([^\s()\[\]]{1,8})[)\]]\Z")


def without_unit(label: str) -> tuple[str, str]:
    """Return a name without the unit at its end, and the unit.

    Example:
        >>> without_unit("weight kg"), without_unit("price_eur"), without_unit("area (sqm)")
        (('weight', 'kg'), ('price', 'euros'), ('area', 'm²'))
    """
    if found := _IN_BRACKETS.match(label):
        return found[1], UNITS.get(found[2].lower(), found[2])
    parts = label.replace("_", " ").split()
    if len(parts) > 1 and parts[-1].lower() in UNITS and parts[-2].lower() not in {"of", "in"} | PREPOSITIONS:
        return " ".join(parts[:-1]), UNITS[parts[-1].lower()]
    return label, ""


def some(noun: str) -> str:
    """Return a noun with its article, if it takes one.

    Example:
        >>> some("shirt"), some("jeans"), some("RDF store"), some("steel")
        ('a shirt', 'jeans', 'an RDF store', 'steel')
    """
    head = noun.partition(" of ")[0]
    return noun if is_plural(head) or head.rpartition(" ")[2].lower() in MASS else article(noun)


def several(noun: str) -> str:
    """Return the plural of a noun; one that is plural already stays as it is.

    Example:
        >>> several("only child"), several("car"), several("jeans")
        ('only children', 'cars', 'jeans')
    """
    head, gap, last = noun.rpartition(" ")
    if last.lower() in PLURALS:
        made = PLURALS[last.lower()]
        return head + gap + (made.capitalize() if last.istitle() else made)
    return noun if is_plural(noun) or last.lower() in MASS else plural(noun)


def is_adjective(word: str) -> bool:
    """Return whether the name of a class is an adjective by its ending, or a common one.

    Example:
        >>> [is_adjective(word) for word in ("striped", "Yellow", "Bed", "shirt")]
        [True, True, False, False]
    """
    low = word.lower()
    if low in ADJECTIVES:
        return True
    ending = low.endswith(ADJECTIVE_ENDINGS) or (low.endswith("ed") and not low.endswith("eed"))
    return ending and len(low) > 5 and low.isalpha()


def single(noun: str) -> str:
    """Return a noun in the singular, but `number of seats` as it is."""
    head, gap, last = noun.rpartition(" ")
    low = last.lower()
    if " of " in noun or not low.isalpha() or not low.islower() or last != low:
        return noun
    return head + gap + SINGULARS.get(low, singular(low) if is_plural(low) else low)


def lowered(parts: list[str]) -> list[str]:
    """Return words without the capitals of a title; `RDF` keeps its own."""
    return [w.lower() if w.istitle() else w for w in parts]


def participle(verb: str) -> str:
    """Return the past participle of a verb in its plain form.

    Example:
        >>> [participle(verb) for verb in ("wear", "carry", "develop", "use")]
        ['worn', 'carried', 'developed', 'used']
    """
    if verb in IRREGULAR:
        return IRREGULAR[verb]
    if verb.endswith("y") and verb[-2:-1] not in tuple("aeiou"):
        return verb[:-1] + "ied"
    return verb + ("d" if verb.endswith("e") else "ed")


def third_person(verb: str) -> str:
    """Return the form of a verb that follows `it`."""
    if verb.endswith("y") and verb[-2:-1] not in tuple("aeiou"):
        return verb[:-1] + "ies"
    return verb + ("es" if verb.endswith(("s", "x", "ch", "sh")) else "s") if verb != "have" else "has"
