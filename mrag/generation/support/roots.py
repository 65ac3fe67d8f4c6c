"""Forms of English verbs, and of the nouns made of them, as far as sentences about facts need them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from mrag.text.tokens import PREPOSITIONS as _COMMON
from mrag.text.tokens import VERBS, stem, words

PREPOSITIONS: Final = _COMMON | words("since per among across around along onto underneath within despite")
"""Words that stand between a relation and its end."""
_VERBS: Final = VERBS | words(
    "accept act adjoin adopt attack attend author award base belong book border borrow brew cast cause "
    "challenge coach collect command compete complete compose consume cook cost cross date defeat deliver "
    "demand die edit educate elect employ end enrol establish explore export fly follow function grow guide "
    "headquarter hire hold house influence inhabit inspect inspire install insure intersect issue join judge "
    "label land last launch list load locate manage marry mentor name nest occupy overlook own paint park "
    "perform pilot plant play populate practise precede prescribe preside protect rank rate record register "
    "rent repair replace require ride sail scan schedule score sell serve ship sign situate speak sponsor "
    "star study succeed supervise supply tag teach tour trade train transfer translate illustrate travel "
    "treat tune type value visit wear weigh win release head back breed chair drain flow heat license mount "
    "owe power ship stock tow anchor grade host teach train staff patrol guard escort rescue deploy orbit "
    "moor "
    "dock curate donate exhibit loan restore acquire commission fund sign publish print bind review cite "
    "quote diagnose treat prescribe refer admit discharge insure underwrite claim settle audit regulate "
    "license approve reject bid auction"
)
_FORMS: Final[Mapping[str, str]] = {
    form: row.split()[0]
    for row in (
        "bear born bore borne;begin began begun;break broke broken;bring brought;build built;buy "
        "bought;catch caught;choose chose chosen;draw drew drawn;drive drove driven;eat ate eaten;fall fell "
        "fallen;feed fed;fight fought;fly flew flown;forget forgot forgotten;get got gotten;give gave "
        "given;go went gone;grow grew grown;hang hung;hide hid hidden;hold held;keep kept;know knew "
        "known;lay laid;lead led;leave left;lend lent;lose lost;make made making;meet met;pay paid;ride rode "
        "ridden;run ran;say said;see saw seen;sell sold;send sent;sing sang sung;speak spoke spoken;spend "
        "spent;stand stood;steal stole stolen;swim swam swum;take took taken;teach taught;tell told;think "
        "thought;throw threw thrown;understand understood;wear wore worn;win won;write wrote written;use "
        "used using;die died dying;lie lain;base based;own owned;star starred starring;marry married "
        "marries;found founded founds founding;bind bound;wind wound;sleep slept;shoot shot;swear swore sworn"
    ).split(";")
    for form in row.split()[1:]
}  # fmt: skip
_MULTIPLES: Final = {
    "": "",
    "kilo": "k",
    "centi": "c",
    "milli": "m",
    "mega": "M",
    "giga": "G",
    "tera": "T",
    "hecto": "h",
}
_BASES: Final = {
    "meter metre": "m", "gram gramme": "g", "watt": "W", "liter litre": "l", "byte": "B", "hertz": "Hz",
    "volt": "V", "joule": "J", "ton tonne": "t", "pascal": "Pa",
}  # fmt: skip
_OTHER_UNITS: Final = {
    "ft": "foot feet", "inch": "inches", "lb": "lbs pound pounds", "min": "minute minutes mins",
    "s": "sec second seconds", "h": "hour hours hr hrs", "day": "days", "year": "years yr yrs",
    "month": "months", "week": "weeks", "usd": "dollar dollars $", "eur": "euro euros €", "gbp": "£",
    "percent": "% percentage", "mph": "", "kmh": "", "km2": "km²", "c": "°c celsius", "hp": "horsepower",
    "people": "inhabitants residents", "parsec": "parsecs", "mile": "miles mi", "acre": "acres",
    "hectare": "hectares ha", "knot": "knots kn", "mg": "", "ppm": "", "kg": "kilo kilos", "km": "", "mm": "",
}  # fmt: skip
UNITS: Final[Mapping[str, str]] = {
    **{
        form: (short + unit).lower()
        for prefix, short in _MULTIPLES.items()
        for names, unit in _BASES.items()
        for name in names.split()
        for form in (prefix + name, f"{prefix}{name}s", (short + unit).lower())
    },
    **{word: unit for unit, several in _OTHER_UNITS.items() for word in (unit, *several.split())},
}
"""Words for units, to what they have in common."""
_PARTICIPLES: Final = words(
    "born built known led made held sold bought given taken found set run written drawn driven shown seen "
    "won worn sung spoken stolen chosen grown thrown flown begun hit cut put read lent sent spent meant kept "
    "left met paid said told taught thought brought caught fought beaten broken eaten fallen hidden ridden "
    "sworn torn bound wound laid fed bred hung shot lit split understood drunk done cast"
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
        >>> forms = ("use", "uses", "used", "using"), ("write", "wrote", "writer")
        >>> {root(w) for w in forms[0]}, {root(w) for w in forms[1]}
        ({'use'}, {'write'})
    """
    low = word.casefold()
    if low in _FORMS:
        return root(_FORMS[low])
    if low.endswith(("ers", "ors")):
        return root(low[:-1])
    for verb in {low.removesuffix(end).removesuffix("s") for end in ("", "ed", "ing", "er", "ers")}:
        if verb in _VERBS and verb.endswith(("er", "or")):
            return verb  # its ending is its own: "discover"
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
        >>> told = ("develops", "developer", "develop", "capital", "written", "wrote", "has")
        >>> [w for w in told if finite(w)]
        ['develops', 'develop', 'written', 'wrote']
    """
    if word in ("has", "have", "series", "species"):
        return False
    if {word, word.removesuffix("s"), word.removesuffix("es")} & (_PAST | _PARTICIPLES | _VERBS):
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
