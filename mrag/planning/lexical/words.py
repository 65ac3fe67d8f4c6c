"""Words of questions and of names as the lexicon compares them."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from mrag.text.tokens import IRREGULAR, PERSON_WORDS, STOP_WORDS, VERBS, fold, stem, words

_EMPTY: Final = frozenset(
    fold(w)
    for w in STOP_WORDS
    | words(
        "am being both each every if him hers itself many more most much only other please same such then"
    )
    | words("too very")
)
_TITLES: Final = words("mr mrs ms miss dr prof professor sir madam mister")


BEING: Final = words("is are was were")
AUXILIARIES: Final = BEING | words("has have had do does did")
"""Verbs that ask whether something is so, or that stand before another verb."""

_PAST: Final = {
    past: verb
    for verb, forms in (
        pair.split(":")
        for pair in "leave:left|drive:drove,driven|"
        "fly:flew,flown|sing:sang,sung|swim:swam,swum|win:won|spend:spent|"
        "pay:paid|send:sent|lend:lent|teach:taught|catch:caught|bring:brought|come:came|go:went,gone|eat:ate,eaten|"
        "drink:drank,drunk|choose:chose,chosen|break:broke,broken|wear:wore,worn|lose:lost|throw:threw,thrown|"
        "grow:grew,grown|draw:drew,drawn|ride:rode,ridden|beat:beaten|sleep:slept|keep:kept|steal:stole,stolen|"
        "see:saw,seen|begin:began,begun|blow:blew,blown|bite:bit,bitten|"
        "hear:heard|hide:hid,hidden|hang:hung|rise:risen|ring:rang,rung|seek:sought|shake:shook,shaken|"
        "show:shown|strike:struck|swear:swore,sworn|tear:tore,torn|tell:told|think:thought|"
        "understand:understood|wake:woke,woken|stick:stuck|forget:forgot,forgotten|freeze:froze,frozen|"
        "forbid:forbade,forbidden|deal:dealt|lay:laid|speak:spoke,spoken|meet:met|fight:fought|dig:dug|feed:fed|breed:bred|shoot:shot|sink:sank,sunk".split(
            "|"
        )
    )
    for past in forms.split(",")
}
"""Past forms of verbs that no ending gives away, beside those of `mrag.text.tokens`."""
_EVENTS: Final = {form: noun for noun, forms in (("death", "die dies died dying"),) for form in forms.split()}
"""Forms of verbs whose noun no ending gives away, to that noun."""

_OTHERS: Final = frozenset("layer liver lier user".split())
"""What is no doer, or, as a user, in too many questions that say "used" of something else."""
_DOERS: Final = {
    doer: verb
    for verb in sorted({*VERBS, *_PAST.values()})
    if len(verb) < 5 and (doer := verb.removesuffix("e") + "er") not in _OTHERS
}
"""Those who do what short verbs say, "owner": `stem` cuts no "er" off words as short as that."""


def is_past(word: str) -> bool:
    """Return whether a word is the past form of a verb.

    Example:
        >>> [w for w in ("drove", "sailed", "river") if is_past(w)]
        ['drove', 'sailed']
    """
    return word in _PAST or word == "died" or (word.endswith("ed") and len(word) > 4)


def is_done(word: str) -> bool:
    """Return whether a word is a verb in the past, or a participle.

    Example:
        >>> [w for w in ("written", "sailed", "people", "river") if is_done(w)]
        ['written', 'sailed']
    """
    return is_past(word) or IRREGULAR.get(word) in VERBS


def is_whoever(noun: str, done: str) -> bool:
    """Return whether a noun is for whoever does what a participle says.

    Example:
        >>> is_whoever("director", "directed"), is_whoever("order", "ordered")
        (True, False)
    """
    return is_role(noun) and noun not in (done.removesuffix("ed"), done.removesuffix("d"))


def is_doer(noun: str, verb: str) -> bool:
    """Return whether a noun is who does what a verb says.

    Example:
        >>> is_doer("driver", "drove"), is_doer("skipper", "skippered"), is_doer("river", "rode")
        (True, True, False)
    """
    plain = _PAST.get(verb, verb)
    stems = {plain, plain.removesuffix("ed"), plain.removesuffix("d"), plain.removesuffix("s")}
    stems |= {s[:-1] for s in stems if len(s) > 3 and s[-1:] == s[-2:-1]}
    return len(noun) > 3 and any(
        noun in (s, s + "er", s + "r", s + "or", s + s[-1:] + "er") and noun != verb
        for s in stems
        if len(s) > 2
    )


def is_empty(key: str) -> bool:
    """Return whether a folded word names nothing by itself."""
    return key in _EMPTY


def is_title(key: str) -> bool:
    """Return whether a folded word stands before the names of people."""
    return key in _TITLES


def is_role(word: str) -> bool:
    """Return whether a noun may name somebody by what they do.

    Example:
        >>> [w for w in ("publisher", "editors", "artist", "published", "book") if is_role(w)]
        ['publisher', 'editors', 'artist']
    """
    key = fold(word)
    return key in PERSON_WORDS or (len(key) > 4 and key.endswith(("er", "or", "ist", "ian", "ee", "eur")))


@lru_cache(maxsize=65536)
def root(word: str) -> str:
    """Return what forms of a word share.

    Example:
        >>> {root(w) for w in ("supplies", "supplied", "supplier", "supply")}
        {'supply'}
        >>> root("located") == root("locations"), root("rivers"), root("owners"), root("died")
        (True, 'river', 'own', 'death')
    """
    low = word.lower()
    plain = _EVENTS.get(low, _PAST.get(low, word))
    text = stem(_DOERS.get(low, _DOERS.get(low.removesuffix("s"), plain)))
    return text[:-1] + "y" if len(text) > 3 and text.endswith("i") and text.isascii() else text
