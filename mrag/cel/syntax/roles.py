"""How the names of properties are spoken of in English: as verbs, backwards as passives, or as nouns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from mrag.cel.syntax.clauses import escaped
from mrag.cel.syntax.inflections import (
    is_adjective,
    lowered,
    participle,
    several,
    single,
    some,
    third_person,
    without_unit,
)
from mrag.cel.syntax.wordlists import (
    ADVERBS,
    ALL_VERBS,
    CAPABLE,
    IN_ROLES,
    MEASURES,
    RELATED,
    RESERVED,
    SINGULARS,
    THIRD_ONLY,
)
from mrag.text.grammar import is_participle, relation
from mrag.text.tokens import PREPOSITIONS, VERBS, is_plural

PLAIN = re.compile(r"[^\W\d_][\w\-]*(?: [\w\-]+)*\Z")
"""A name that can stand without quotation marks."""
_SCORES = frozenset(("points", "ranks", "marks", "scores", "grades"))
"""Plurals that are what a number is, not what it counts."""
_WAS = {"is": "are", "was": "were", "has": "have", "does": "do"}


@dataclass(frozen=True)
class Role:
    """How a property is spoken of.

    Attributes:
        verb: The verb that its values follow, such as `shows` or `is worn by`; empty where it is a noun.
        denied: The same, denied.
        noun: What a value is, such as `child`; empty where it is a verb.
        nouns: The plural of that.
        carrier: The verb that the noun follows.
        what: The verb that follows those that have the value, as in `is what a cat sits on`; then there is
            neither a verb nor a noun.
        unit: The unit of its numbers.
    """

    verb: str = ""
    denied: str = ""
    noun: str = ""
    nouns: str = ""
    carrier: str = "has"
    what: str = ""
    unit: str = ""

    @property
    def lacks(self) -> str:
        """Return the carrier, denied."""
        return _denied(self.carrier)

    @property
    def whats(self) -> str:
        """Return the verb that follows several."""
        first, _, rest = self.what.partition(" ")
        return f"{_WAS.get(first) or _forms().get(first, first)} {rest}".strip()


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
        >>> role("sits on", inverse=True).what, role("uses filter").carrier
        ('sits on', 'uses')
    """
    if not PLAIN.match(label) or RESERVED - IN_ROLES & {*label.lower().split()} - IN_ROLES:
        return quoted(label, inverse)
    parts = label.split()
    low = [part.lower() for part in parts]
    if low[0] in ("has", "have") and len(parts) > 1 and low[-1] not in PREPOSITIONS:
        return _noun(lowered(parts[1:]), inverse)
    if low == ["has"] or low == ["have"]:
        return _verb("has", inverse)
    if len(parts) == 1 and low[0] in RELATED:
        return _verb(f"is {label} to", inverse)
    if led := _led(parts):
        return _carried(*led, inverse)
    third = _third_person(low)
    kind, text = relation(label, False)
    if third:
        return _verb(" ".join([third, *parts[1:]]), inverse)
    if kind == "foreign":
        return quoted(label, inverse)
    if " ".join(low[:2]) == "number of":
        return _noun(lowered(parts), inverse)
    if kind != "phrase" or _ing(parts):
        return _noun(lowered(parts if kind == "phrase" else text.split()), inverse)
    first, *rest = text.split()
    phrase = first.lower() not in _forms() or low[-1] == "by"
    return _phrase(first, rest, inverse) if phrase else _verb(text, inverse)


def _third_person(low: list[str]) -> str:
    """Return the form that follows `it` where a name begins with a verb, `observes` or `observe`."""
    if low[0] != "has" and low[0] in _forms() and (len(low) > 1 or _forms()[low[0]] not in VERBS):
        return low[0]
    return third_person(low[0]) if len(low) == 1 and low[0] in ALL_VERBS - VERBS else ""


def _led(parts: list[str]) -> tuple[str, list[str]] | None:
    """Return a verb and the noun behind it: `uses` and `filter`, `is located in` and `city`."""
    low = [part.lower() for part in parts]
    places = [at for at, word in enumerate(low) if word in PREPOSITIONS and word != "of"]
    verbal = low[0] in _forms() and low[0] != "has"
    passive = is_participle(low[0]) or low[0] in ("is", "was")
    if places and places[-1] + 1 < len(parts) and (verbal or (passive and places[0] > 0)):
        lead = " ".join(parts[: places[-1] + 1])
        return (lead if verbal or not is_participle(low[0]) else f"is {lead}"), parts[places[-1] + 1 :]
    if verbal and not places and len(parts) > 1 and low[-1] not in ADVERBS and not low[-1].endswith("ly"):
        return (parts[0], parts[1:]) if "of" not in low else None
    return None


def _ing(parts: list[str]) -> bool:
    """Return whether a name ends like `wearing`, but is a noun as `sibling` is."""
    return len(parts) == 1 and parts[0].lower().endswith("ing") and not _base_of_ing(parts[0].lower())


def _base_of_ing(word: str) -> str:
    stem = word.removesuffix("ing")
    return min({stem, stem + "e", stem[:-1]} & ALL_VERBS, key=len, default="") if stem != word else ""


def as_noun(r: Role, label: str, *, whole: bool = False) -> Role:
    """Return the role of a property with literals, whose name in `s` is a plural: `points`, `ranks`.

    Args:
        r: Its role, were its values things.
        label: Its name.
        whole: Whether its values are whole numbers, so that a plural is what they count.

    Example:
        >>> as_noun(role("has legs"), "has legs", whole=True).noun
        'number of legs'
    """
    name, unit = without_unit(label)
    if unit:
        r, called = role(name), name.lower() if name.istitle() else name
        plain = r.verb or r.carrier != "has" or "“" in r.noun
        return Role(noun=called, nouns=called, unit=unit) if plain else replace(r, unit=unit)
    low = label.lower()
    if r.verb == low and low in _forms() and low not in MEASURES:
        r = Role(noun=low, nouns=low)
    name = low.removeprefix("has ")
    if r.noun and r.carrier == "has" and name in SINGULARS.keys() | {r.nouns.lower()}:
        r = replace(r, noun=name, nouns=name)
        if whole and is_plural(name) and not name.startswith("number") and name not in _SCORES:
            return replace(r, noun=f"number of {name}", nouns=f"numbers of {name}")
    return r


def truth(label: str, true: bool) -> str:
    """Return what a truth value says, as in `is open` and `has no dome`; empty if its name does not tell.

    Example:
        >>> truth("is open", False), truth("has dome", False), truth("robotic", True), truth("member", True)
        ('is not open', 'has no dome', 'is robotic', '')
    """
    first, _, rest = label.partition(" ")
    low = first.lower()
    if not PLAIN.match(label) or RESERVED - IN_ROLES & {*label.lower().split()} - IN_ROLES:
        return f"is {'not ' * (not true)}“{escaped(label)}”" if is_adjective(low) else ""
    if low in ("is", "was") and rest:
        return label if true else f"{first} not {rest}"
    if low in ("can", "must", "may", "will") and rest:
        return label if true else f"{'cannot' if low == 'can' else f'{first} not'} {rest}"
    if low in ("has", "have") and rest:
        noun = " ".join(lowered(rest.split()))
        return f"has {some(noun)}" if true else f"has no {noun}"
    if low in PREPOSITIONS or is_participle(low) or is_adjective(low):
        return f"is {label.lower() if label.istitle() else label}" if true else f"is not {label}"
    base = _forms().get(low)
    return "" if base is None else label if true else f"does not {base} {rest}".strip()


def _phrase(first: str, rest: list[str], inverse: bool) -> Role:
    """Return the role of `is part of`, `is developed by` and the like."""
    low = [word.lower() for word in rest]
    of = len(rest) > 1 and low[-1] == "of" and low[0] not in PREPOSITIONS | CAPABLE
    of = of and not is_participle(low[0]) and not is_adjective(low[0])
    if of and first.lower() == "is":
        noun = lowered([w for w in rest[:-1] if w.lower() not in ("a", "an", "the")])
        if inverse:
            return _noun(noun, False)
        said = " ".join(noun)
        said = said if said == "part" else some(said)
        return Role(f"is {said} of", f"is not {said} of")
    if inverse and low[-1:] == ["by"]:
        found = low[-2] if len(rest) > 1 else ""
        if len(rest) == 2 or (len(rest) == 3 and low[0] == "been"):
            for base in sorted(ALL_VERBS):
                if participle(base) == found:
                    return Role(third_person(base), f"does not {base}")
    if inverse and first.lower() == "is" and len(rest) == 1 and (base := _base_of_ing(low[0])):
        return Role(f"is {participle(base)} by", f"is not {participle(base)} by")
    return _verb(" ".join([first, *rest]), inverse)


def _verb(text: str, inverse: bool) -> Role:
    """Return the role of a verb with what follows it, backwards if wanted."""
    first, *rest = text.split()
    if not inverse:
        return Role(text, _denied(text))
    base = _forms().get(first.lower())
    if base and not rest and base != "have":
        return Role(f"is {participle(base)} by", f"is not {participle(base)} by")
    return Role(what=text)


def _denied(text: str) -> str:
    first, *rest = text.split()
    if first.lower() in ("is", "was", "must", "may", "will") or (first.lower() == "has" and "been" in rest):
        return " ".join([first, "not", *rest])
    if first.lower() == "can":
        return " ".join(["cannot", *rest])
    base = _forms().get(first.lower())
    return " ".join(["does not", base, *rest]) if base else ""


def _carried(carrier: str, noun: list[str], inverse: bool) -> Role:
    called = single(" ".join(lowered(noun)))
    if inverse:
        return Role(what=f"{carrier} as {called}")
    return Role(noun=called, nouns=several(called), carrier=carrier)


def quoted(label: str, inverse: bool) -> Role:
    """Return a role that keeps the name of a property in quotation marks."""
    name = f"“{escaped(label)}”"
    return Role(f"is a {name} of", f"is not a {name} of") if inverse else Role(noun=name, nouns=name)


def _noun(parts: list[str], inverse: bool) -> Role:
    noun = single(" ".join(parts))
    if inverse:
        return Role(f"is {some(noun)} of", f"is not {some(noun)} of")
    return Role(noun=noun, nouns=several(noun))


def _forms() -> Mapping[str, str]:
    """Return the verbs by the form that follows `it`."""
    if not _THIRD:
        _THIRD.update((third_person(verb), verb) for verb in sorted(ALL_VERBS | THIRD_ONLY))
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
        found |= {r.verb, r.denied, r.noun, r.nouns, r.what, r.whats if r.what else ""}
        found |= {truth(label, inverse)}
        found |= {r.carrier, r.lacks} if r.carrier != "has" else set()
    return {text for text in found if text and "“" not in text}
