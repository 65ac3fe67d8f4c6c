"""Forms of English verbs, and of the nouns that are made of them, as far as sentences about facts need them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from mrag.text.english import PREPOSITIONS as _COMMON
from mrag.text.english import VERBS, words
from mrag.text.tokens import stem

PREPOSITIONS: Final = _COMMON | words("since per among across around along onto underneath within despite")
"""Words that stand between a relation and its end."""
_VERBS: Final = VERBS | words(
    "accept act adjoin adopt attack attend author award base belong book border borrow brew cast cause challenge coach "
    "collect command compete complete compose consume cook cost cross date defeat deliver demand die edit educate elect "
    "employ end enrol establish explore export fly follow function grow guide headquarter hire hold house influence "
    "inhabit inspect inspire install insure intersect issue join judge label land last launch list load locate manage "
    "marry mentor name nest occupy overlook own paint park perform pilot plant populate practise precede prescribe "
    "preside protect rank rate record register rent repair replace require ride sail scan schedule score sell serve "
    "ship sign situate speak sponsor star study succeed supervise supply tag teach tour trade train transfer translate "
    "illustrate travel treat tune type value visit wear weigh win release"
)
_FORMS: Final[Mapping[str, str]] = {
    form: row.split()[0]
    for row in (
        "bear born bore borne;begin began begun;break broke broken;bring brought;build built;buy bought;catch caught;"
        "choose chose chosen;draw drew drawn;drive drove driven;eat ate eaten;fall fell fallen;feed fed;fight fought;"
        "fly flew flown;forget forgot forgotten;get got gotten;give gave given;go went gone;grow grew grown;hang hung;"
        "hide hid hidden;hold held;keep kept;know knew known;lay laid;lead led;leave left;lend lent;lose lost;make made "
        "making;meet met;pay paid;ride rode ridden;run ran;say said;see saw seen;sell sold;send sent;sing sang sung;"
        "speak spoke spoken;spend spent;stand stood;steal stole stolen;swim swam swum;take took taken;teach taught;"
        "tell told;think thought;throw threw thrown;understand understood;wear wore worn;win won;write wrote written;"
        "use used using;die died dying;lie lain;base based;own owned;star starred starring;marry married marries;"
        "found founded founds founding;bind bound;wind wound;sleep slept;shoot shot;swear swore sworn"
    ).split(";")
    for form in row.split()[1:]
}  # fmt: skip
_UNITS: Final = {
    "cm": "cm centimeter centimetre centimeters centimetres", "m": "m meter metre meters metres",
    "km": "km kilometer kilometre kilometers kilometres", "kg": "kg kilogram kilograms kilo kilos", "g": "g gram grams",
    "mm": "mm millimeter millimetre millimeters", "ft": "ft foot feet", "in": "inch inches", "lb": "lb lbs pound pounds",
    "min": "min minute minutes mins", "s": "s sec second seconds", "h": "h hour hours hr hrs", "day": "day days",
    "year": "year years yr yrs", "month": "month months", "week": "week weeks", "usd": "usd dollar dollars $",
    "eur": "eur euro euros €", "gbp": "gbp £", "percent": "percent % percentage", "mph": "mph", "kmh": "kmh",
    "km2": "km² km2", "c": "°c celsius", "mw": "mw megawatt megawatts", "kw": "kw kilowatt kilowatts",
    "t": "t tonne tonnes ton tons", "l": "l litre litres liter liters", "hp": "hp horsepower",
    "people": "people inhabitants residents", "gb": "gb gigabyte gigabytes", "mb": "mb megabyte megabytes",
    "parsec": "parsec parsecs",
}  # fmt: skip
UNITS: Final[Mapping[str, str]] = {word: unit for unit, several in _UNITS.items() for word in several.split()}
"""Words for units, to what they have in common."""
_PARTICIPLES: Final = words(
    "born built known led made held sold bought given taken found set run written drawn driven shown seen won worn sung "
    "spoken stolen chosen grown thrown flown begun hit cut put read lent sent spent meant kept left met paid said told "
    "taught thought brought caught fought beaten broken eaten fallen hidden ridden sworn torn bound wound laid fed bred "
    "hung shot lit split understood drunk done cast"
)
_PAST: Final = words(
    "wrote drew drove saw wore sang spoke stole chose grew threw flew began rode broke ate took gave bore"
)
_NOUNS: Final = ("er", "or", "ers", "ors", "ment", "ments", "ion", "ions", "ance", "ence")
_STEMS: Final = frozenset(map(stem, _VERBS))


@lru_cache(maxsize=16384)
def root(word: str) -> str:
    """Reduce a word to what the forms of one verb, and the nouns made of it, have in common.

    Example:
        >>> {root(w) for w in ("use", "uses", "used", "using")}, {root(w) for w in ("write", "wrote", "writer")}
        ({'use'}, {'write'})
    """
    low = word.casefold()
    if low in _FORMS:
        return root(_FORMS[low])
    for plural in ("s", "es"):
        if low.endswith(plural) and low.removesuffix(plural) in _VERBS:
            return root(low.removesuffix(plural))
    for ending in ("ed", "er", "or", "ing"):
        if low.endswith(ending) and low.removesuffix(ending) + "e" in _VERBS:
            return root(low.removesuffix(ending) + "e")
        if ending in ("er", "or") and low.endswith(ending) and low.removesuffix(ending) in _VERBS:
            return root(low.removesuffix(ending))
    return low if low in _VERBS and len(low) < 6 else stem(low)


def is_verb(word: str) -> bool:
    """Return whether a word is a form of a verb that names relations, or a noun made of one.

    Example:
        >>> [w for w in ("developer", "directs", "height") if is_verb(w)]
        ['developer', 'directs']
    """
    return stem(word) in _STEMS or root(word) in _VERBS


def finite(word: str) -> bool:
    """Return whether a word can be a verb that says a relation, in the present or past tense.

    Example:
        >>> [w for w in ("develops", "developer", "develop", "capital", "written", "wrote", "has") if finite(w)]
        ['develops', 'develop', 'written', 'wrote']
    """
    if word in ("has", "have", "series", "species"):
        return False
    if word in _PAST or word in _PARTICIPLES or word in _VERBS:
        return True
    return is_verb(word) and not word.endswith(_NOUNS)


def participle(word: str) -> bool:
    """Return whether a word can be a past participle.

    Example:
        >>> [w for w in ("developed", "written", "develops", "wrote", "speed") if participle(w)]
        ['developed', 'written']
    """
    return word in _PARTICIPLES or (word.endswith("ed") and len(word) > 3 and word[-3] != "e")


def agentive(word: str) -> bool:
    """Return whether a word is a noun for who does something.

    Example:
        >>> [w for w in ("developer", "developers", "vendor", "develops", "development") if agentive(w)]
        ['developer', 'developers', 'vendor']
    """
    return word.endswith(("er", "or", "ers", "ors", "ist", "ists"))
