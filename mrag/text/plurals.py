"""English plurals taken for singulars, in the three ways in which texts are compared.

| function | for | what it returns |
|---|---|---|
| `s_stem` | ranking | a term in which singular and plural meet; it need not be a word |
| `without_plural` | matching of names | a word, where an ending says that it is a plural |
| `singular` | graph codes | the noun of a dictionary, by rules and lists of exceptions |
"""

from __future__ import annotations

import re
from typing import Final

_VOWEL = re.compile("[aeiouy]")
_SIBILANT = ("sse", "she", "che", "xe", "zze")
_SILENT = (*_SIBILANT, "use", "oe")
_IRREGULAR: Final = {
    "men": "man", "women": "woman", "people": "person", "persons": "person", "children": "child",
    "feet": "foot", "teeth": "tooth", "geese": "goose", "mice": "mouse", "leaves": "leaf",
    "knives": "knife", "loaves": "loaf", "shelves": "shelf", "scarves": "scarf", "wolves": "wolf",
    "calves": "calf", "halves": "half", "lives": "life", "wives": "wife", "hooves": "hoof", "oxen": "ox",
    "buses": "bus", "tomatoes": "tomato", "potatoes": "potato", "heroes": "hero", "axes": "ax", "dice": "die",
}  # fmt: skip
_ENDS_IN_S: Final = frozenset(
    "tennis canvas gas christmas glasses sunglasses eyeglasses jeans pants scissors shorts series goggles "
    "lens tongs news swiss chaos its this is was has as yes clothes overalls khakis trousers tights "
    "leggings binoculars pajamas bus atlas alias bias".split()
)
_PAIRS: Final = frozenset(
    "glasses sunglasses eyeglasses jeans pants scissors shorts goggles tongs clothes overalls khakis "
    "trousers tights leggings binoculars pajamas".split()
)
_IES: Final = frozenset("cookies pies ties movies zombies hoodies selfies brownies smoothies magpies".split())


def s_stem(word: str) -> str:
    """Return an ASCII word without its plural ending, as the S-stemmer does; see `Analyser`.

    Example:
        >>> [s_stem(word) for word in ("cherries", "boxes", "viruses", "glass")]
        ['cherry', 'box', 'virus', 'glass']
    """
    if len(word) < 4 or not (word.isascii() and word.isalpha()):
        return word
    if word[-1] == "s" and word[-2] not in "us":
        word = word[:-1]
    if word[-1] == "e":
        if len(word) > 4 and word[-2] == "i":
            return word[:-2] + "y"
        if word.endswith(_SILENT if len(word) > 4 else _SIBILANT):
            return word[:-1]
    return word


def without_plural(text: str) -> str:
    """Return a folded ASCII word without its plural ending.

    Example:
        >>> [without_plural(word) for word in ("databases", "cities", "boxes", "rdfs")]
        ['database', 'city', 'box', 'rdfs']
    """
    if len(text) < 4 or not text.isascii() or not text.endswith("s") or text.endswith(("ss", "us", "is")):
        return text
    if text in ("buses", "gases"):
        return text[:-2]
    if text.endswith("ies") and len(text) > 4:
        return text[:-3] + "y"
    cut = text[:-2] if text.endswith(("xes", "ches", "shes", "sses", "zzes")) else text[:-1]
    return cut if _VOWEL.search(cut) else text  # RDFS is no plural of RDF


def singular(word: str) -> str:
    """Return an English noun in the singular, by rules and a list of exceptions.

    Example:
        >>> [singular(w) for w in ("buses", "women", "grass", "cherries", "benches", "jeans", "skis")]
        ['bus', 'woman', 'grass', 'cherry', 'bench', 'jeans', 'ski']
    """
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) < 4 or not word.endswith("s") or word in _ENDS_IN_S or word.endswith(("ss", "us", "is")):
        return word if word != "skis" else "ski"
    if word.endswith("ies") and len(word) > 4:
        return word[:-1] if word in _IES else word[:-3] + "y"
    if word.endswith(("ches", "shes", "xes", "sses", "zzes")):
        return word[:-2]
    return word[:-1]


def is_plural(noun: str) -> bool:
    """Return whether the last word of an English noun is a plural, so that it takes no article.

    Example:
        >>> [is_plural(noun) for noun in ("blue jeans", "Shoes", "Bus", "dress", "women")]
        [True, True, False, False, True]
    """
    last = noun.rpartition(" ")[2].lower()
    return last in _PAIRS or singular(last) != last
