"""How the names of properties are spoken of in English: as verbs, backwards as passives, or as nouns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from mrag.cel.syntax.clauses import escaped
from mrag.text.english import PREPOSITIONS, VERBS, words
from mrag.text.grammar import article, plural, relation
from mrag.text.plurals import is_plural

PLAIN = re.compile(r"[^\W\d_][\w\-]*(?: [\w\-]+)*\Z")
"""A name that can stand without quotation marks."""
RESERVED = words(
    "a an and anything as at but each exactly has have is its least most no not nothing of one only or other "
    "some something than that the thing things value whatever which"
)
"""Words of sentences that a name may not have without quotation marks."""
_IN_ROLES = words("as at has have is of")
"""Words that the name of a property may have although sentences have them."""
_IRREGULAR: Final = {
    "bear": "borne", "begin": "begun", "bite": "bitten", "bring": "brought", "build": "built",
    "buy": "bought", "catch": "caught", "choose": "chosen", "draw": "drawn", "drive": "driven",
    "eat": "eaten", "feed": "fed", "fight": "fought", "find": "found", "fly": "flown", "give": "given",
    "grow": "grown", "hang": "hung", "have": "had", "hold": "held", "keep": "kept", "know": "known",
    "lead": "led", "make": "made", "mean": "meant", "meet": "met", "read": "read", "ride": "ridden",
    "run": "run", "say": "said", "see": "seen", "sell": "sold", "send": "sent", "set": "set",
    "show": "shown", "sing": "sung", "sit": "sat", "speak": "spoken", "stand": "stood", "swim": "swum",
    "take": "taken", "teach": "taught", "tell": "told", "throw": "thrown", "wear": "worn",
    "win": "won", "write": "written", "stop": "stopped", "refer": "referred",
}  # fmt: skip

_TO = words("married related connected linked similar")
_PLURALS: Final = {
    "child": "children", "grandchild": "grandchildren", "man": "men", "woman": "women", "person": "people",
    "foot": "feet", "tooth": "teeth", "mouse": "mice", "leaf": "leaves", "wife": "wives", "life": "lives",
    "analysis": "analyses", "axis": "axes", "basis": "bases", "hypothesis": "hypotheses",
}  # fmt: skip
_ADJECTIVES = words(
    "red blue green yellow black white grey gray brown pink purple tan beige dark light bright long short "
    "open closed big small large little tall wide narrow thick thin old new young happy sad wet dry hot cold "
    "warm plain empty full round square flat bald bent"
)


@dataclass(frozen=True)
class Role:
    """How a property is spoken of.

    Attributes:
        verb: The verb that its values follow, such as `shows` or `is worn by`; empty where it is a noun.
        denied: The same, denied.
        noun: What a value is, such as `child`; empty where it is a verb.
        nouns: The plural of that.
    """

    verb: str = ""
    denied: str = ""
    noun: str = ""
    nouns: str = ""


def role(label: str, *, inverse: bool = False) -> Role:
    """Return how a property of this name is spoken of.

    Args:
        label: Its name.
        inverse: Whether it is taken backwards.

    Example:
        >>> role("shows").verb, role("wear", inverse=True).verb, role("has child").noun
        ('shows', 'is worn by', 'child')
        >>> role("has child", inverse=True).verb, role("developed by", inverse=True).verb
        ('is a child of', 'develops')
    """
    if not PLAIN.match(label) or RESERVED - _IN_ROLES & {*label.lower().split()} - _IN_ROLES:
        return quoted(label, inverse)
    parts = label.split()
    if parts[0].lower() in ("has", "have") and len(parts) > 1 and parts[-1].lower() not in PREPOSITIONS:
        return _noun(_lower(parts[1:]), inverse)
    if len(parts) == 1 and parts[0].lower() in _TO:
        return quoted(label, True) if inverse else Role(f"is {label} to", f"is not {label} to")
    kind, text = relation(label, False)
    if kind != "phrase" or _ing(parts):
        return _noun(_lower(parts if kind == "phrase" else text.split()), inverse)
    first, *rest = text.split()
    if first.lower() == "is" or first.lower() not in _forms():
        return _phrase(label, first, rest, inverse)
    base = _forms()[first.lower()]
    if not inverse:
        return Role(text, " ".join(["does not", base, *rest]))
    passive = " ".join([participle(base), *rest, "by"])
    return Role(f"is {passive}", f"is not {passive}")


def _ing(parts: list[str]) -> bool:
    """Return whether a name ends like `wearing`, but is a noun as `sibling` is."""
    stem = parts[0].lower().removesuffix("ing")
    return len(parts) == 1 and stem != parts[0].lower() and not {stem, stem + "e"} & VERBS


def as_noun(r: Role, label: str) -> Role:
    """Return the role of a property with literals, whose name in `s` is a plural: `points`, `ranks`."""
    if r.verb == label.lower() and r.verb in _forms():
        return Role(noun=label.lower(), nouns=label.lower())
    return r


def some(noun: str) -> str:
    """Return a noun with its article, if it takes one.

    Example:
        >>> some("shirt"), some("jeans"), some("RDF store")
        ('a shirt', 'jeans', 'an RDF store')
    """
    return noun if is_plural(noun) else article(noun)


def several(noun: str) -> str:
    """Return the plural of a noun; one that is plural already stays as it is.

    Example:
        >>> several("only child"), several("car"), several("jeans")
        ('only children', 'cars', 'jeans')
    """
    head, gap, last = noun.rpartition(" ")
    if last.lower() in _PLURALS:
        made = _PLURALS[last.lower()]
        return head + gap + (made.capitalize() if last.istitle() else made)
    return noun if is_plural(noun) else plural(noun)


def is_adjective(word: str) -> bool:
    """Return whether the name of a class is an adjective by its ending, or a common one.

    Example:
        >>> [is_adjective(word) for word in ("striped", "Yellow", "Bed", "shirt")]
        [True, True, False, False]
    """
    low = word.lower()
    if low in _ADJECTIVES:
        return True
    ending = low.endswith(("ous", "ful", "less")) or (low.endswith("ed") and not low.endswith("eed"))
    return ending and len(low) > 5 and low.isalpha()


def _phrase(label: str, first: str, rest: list[str], inverse: bool) -> Role:
    """Return the role of `is part of`, `is developed by` and the like."""
    text = " ".join([first, *rest])
    if not inverse:
        return Role(text, " ".join([first, "not", *rest]) if first.lower() == "is" else "")
    if len(rest) == 2 and rest[1] == "by":
        for base in sorted(VERBS):
            if participle(base) == rest[0].lower():
                return Role(_third(base), f"does not {base}")
    if len(rest) > 1 and rest[-1] == "of":
        return _noun([w for w in rest[:-1] if w not in ("a", "an", "the")], False)
    return quoted(label, inverse)


def quoted(label: str, inverse: bool) -> Role:
    """Return a role that keeps the name of a property in quotation marks."""
    name = f"“{escaped(label)}”"
    return Role(f"is a {name} of", f"is not a {name} of") if inverse else Role(noun=name, nouns=name)


def _noun(parts: list[str], inverse: bool) -> Role:
    noun = " ".join(parts)
    if inverse:
        return Role(f"is {some(noun)} of", f"is not {some(noun)} of")
    return Role(noun=noun, nouns=several(noun))


def _lower(parts: list[str]) -> list[str]:
    """Return words without the capitals of a title; `RDF` keeps its own."""
    return [w.lower() if w.istitle() else w for w in parts]


def participle(verb: str) -> str:
    """Return the past participle of a verb in its plain form.

    Example:
        >>> [participle(verb) for verb in ("wear", "carry", "develop", "use")]
        ['worn', 'carried', 'developed', 'used']
    """
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if verb.endswith("y") and verb[-2:-1] not in tuple("aeiou"):
        return verb[:-1] + "ied"
    return verb + ("d" if verb.endswith("e") else "ed")


def _third(verb: str) -> str:
    if verb.endswith("y") and verb[-2:-1] not in tuple("aeiou"):
        return verb[:-1] + "ies"
    return verb + ("es" if verb.endswith(("s", "x", "ch", "sh")) else "s") if verb != "have" else "has"


def _forms() -> Mapping[str, str]:
    """Return the verbs by the form that follows `it`."""
    if not _THIRD:
        _THIRD.update((_third(verb), verb) for verb in sorted(VERBS))
    return _THIRD


_THIRD: dict[str, str] = {}


def surfaces(label: str) -> set[str]:
    """Return the forms that the name of a class or a property takes in a clause.

    Example:
        >>> sorted(surfaces("wear"))
        ['does not wear', 'is not worn by', 'is worn by', 'wear', 'wears']
    """
    found = {label, several(label)}
    for inverse in (False, True):
        r = role(label, inverse=inverse)
        found |= {r.verb, r.denied, r.noun, r.nouns}
    return {text for text in found if text and "“" not in text}
