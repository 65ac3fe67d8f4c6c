"""English ways of saying common relations: what a text may say instead of a relation's own words.

Each line is one sense: words that relations are named with, and further words that say as much. They are
general English, no one's data. A word with a particle counts with it alone: "a novel by" tells who wrote it,
"a novel" does not, and "came out" tells of a release.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from mrag.text.tokens import stem

_SENSES: Final[tuple[tuple[str, str], ...]] = (
    ("direct director filmmaker", "helm helmer directorial filmmaker film+by movie+by documentary+by"),
    ("write author writer wrote screenwriter script screenplay novelist",
     "pen author script screenplay screenwriter novelist playwright scribe writer novel+by book+by poem+by "
     "play+by story+by memoir+by essay+by words+by prose+by"),
    ("star actor cast actress",
     "star feature cast act actor actress play portray lead role appear performance"),
    ("perform performer artist singer band",
     "sing singer perform performer record song+by album+by single+by"),
    ("release year premiere",
     "premiere debut release open show screen launch appear come+out put+out bring+out"),
    ("maintainer maintained maintains", "maintain maintainer maintenance upkeep look+after care responsible"),
    ("platform", "platform run work install available compatible support"),
    ("programming", "program programming code source implement write"),
    ("publish publisher publication",
     "publish publisher issue print publication imprint appear press+by bring+out come+out "
     "put+out"),
    ("compose composer music", "compose composer score music soundtrack symphony+by opera+by melody"),
    ("produce producer", "produce producer production"),
    ("genre kind type category", "genre classify categorise categorize"),
    ("language", "language speak tongue"),
    ("born birth birthplace", "born birth birthplace native hail"),
    ("die death died", "die death decease perish pass+away"),
    ("buried burial grave", "bury burial grave tomb inter"),
    ("spouse marry married wife husband partner", "marry spouse wed wife husband bride groom widow widower"),
    ("found founder founded established inception",
     "found founder cofounder establish start create launch inception origin set+up foundation exist "
     "existence institute date+back go+back"),
    ("develop developer made maker creator create",
     "develop developer make maker build create creator design engineer program"),
    ("manufacturer manufacture", "manufacture manufacturer make maker build produce assemble"),
    ("invent inventor", "invent inventor devise patent invention+by"),
    ("discover discoverer", "discover discoverer discovery identify"),
    ("paint painter", "paint painter painting+by canvas+by portrait+by"),
    ("sculptor sculpt", "sculpt sculptor carve statue+by"),
    ("architect architecture", "design architect building+by plan"),
    ("capital", "capital seat"),
    ("located location situated place country region",
     "locate lie situate stand sit base site"),
    ("headquarters headquartered based seat", "headquarters headquarter base office seat"),
    ("live lives residence resides home", "live reside residence home dwell settle inhabit"),
    ("employer employ works employee", "work employ employer employee hire job staff"),
    ("studied educated education alma student university school",
     "study educate graduate attend enrol enroll alumnus degree education"),
    ("taught teacher teach", "teach teacher instruct mentor tutor"),
    ("owner own owned", "own owner belong acquire buy possess proprietor purchase property fleet"),
    ("captain commander skipper", "captain command commander skipper master helm sail+under serve+under"),
    ("pilot driver rider drives", "pilot drive driver fly ride rider steer"),
    ("build builder built constructed construction",
     "build builder construct constructor construction erect hull lay+down product"),
    ("launch launched", "launch slipway afloat christen"),
    ("port harbour home", "port harbour base home register registry moor operate sail+out"),
    ("commissioned patron", "commission patron"),
    ("conductor conducted", "conduct conductor baton"),
    ("designer designed", "design designer draft plan"),
    ("cook chef", "cook chef kitchen prepare"),
    ("sponsor funded funder", "sponsor fund finance funding grant"),
    ("host organiser organizer venue", "host organise organize hold stage venue"),
    ("opened opening inaugurated", "open opening inaugurate unveil"),
    ("closed dissolved closure abolished", "close closure dissolve disband"),
    ("price cost", "price cost"),
    ("population inhabitants", "population inhabitant resident"),
    ("height tall elevation", "height tall tower"),
    ("length long", "length stretch"),
    ("weight weighs", "weight weigh heavy"),
    ("treats treatment cure drug", "treat treatment cure relieve heal prescribe remedy therapy"),
    ("causes caused", "cause trigger provoke"),
    ("symptom", "symptom sign"),
    ("subsidiary parent", "subsidiary parent"),
    ("grown cultivated", "grow cultivate farm harvest"),
    ("curator keeper", "curator curate keeper"),
    ("referee judge", "referee umpire judge whistle"),
    ("neighbouring twin twinned", "twin partner"),
    ("ceo chief executive leader head chair president led",
     "lead leader leadership head chair president ceo chief run boss helm manage charge"),
    ("specialty speciality specialisation specialization specialises focus field",
     "specialise specialize specialty speciality specialist focus concentrate devote expert expertise"),
    ("affiliated affiliation affiliate",
     "affiliate affiliation attach associate association cooperate cooperation collaborate collaboration "
     "partner partnership link connect connection belong"),
    ("mayor", "mayor"),
    ("member", "member belong join membership"),
    ("team club plays", "play club team sign join"),
    ("coach", "coach train trainer manage"),
    ("award won prize win", "win award receive prize honour honor medal laureate"),
    ("nationality citizen citizenship", "nationality citizen citizenship national"),
    ("occupation profession job", "occupation profession job work career trade"),
    ("flows mouth river empties", "flow empty drain mouth discharge"),
    ("crosses spans bridge", "cross span bridge"),
    ("borders border neighbour", "border adjoin neighbour abut"),
    ("influenced influence", "influence inspire inspiration"),
    ("successor succeeded", "succeed successor follow"),
    ("predecessor preceded", "precede predecessor"),
    ("setting set", "set setting unfold play take+place happen"),
    ("mother", "mother"), ("father", "father"), ("child children", "child son daughter"),
    ("label", "label sign"),
    ("character", "character protagonist hero heroine"),
    ("ingredient contains", "contain ingredient include"),
    ("adapted based adaptation", "adapt adaptation base inspire"),
    ("editor edited", "edit editor"),
    ("translator translated", "translate translator translation render"),
    ("illustrator illustrated", "illustrate illustrator illustration drawing picture woodcut"),
    ("narrator narrated", "narrate narrator voice read"),
    ("dedicated dedicatee", "dedicate dedication"),
)  # fmt: skip


_IRREGULAR: Final = {
    "write": ("wrote", "written"), "sing": ("sang", "sung"), "win": ("won",), "lead": ("led",),
    "die": ("dead",), "teach": ("taught",), "build": ("built",), "make": ("made",),
    "speak": ("spoke", "spoken"),
    "buy": ("bought",), "run": ("ran",), "stand": ("stood",), "sit": ("sat",), "lie": ("lying", "lay"),
    "come": ("came",),
    "bring": ("brought",), "take": ("took", "taken"), "begin": ("began", "begun"),
    "dwell": ("dwelt",), "find": ("found",), "fly": ("flew", "flown"), "drive": ("drove", "driven"),
    "ride": ("rode", "ridden"),
    "lay": ("laid",), "hold": ("held",), "grow": ("grew", "grown"), "pay": ("paid",), "sell": ("sold",),
    "draw": ("drew", "drawn"),
}  # fmt: skip


def further(own: frozenset[str]) -> frozenset[str]:
    """Return the keys of further words that say a relation, from the stems of the words of its names.

    Example:
        >>> sorted(further(frozenset(["helm"]))), "pen" in further(frozenset([stem("written")]))
        ([], True)
    """
    return frozenset(key for heads, says in _senses() if heads & own for key in says) - own


@lru_cache(maxsize=1)
def _senses() -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    return tuple((_keys(heads), _keys(says)) for heads, says in _SENSES)


def _keys(text: str) -> frozenset[str]:
    """Return the stems of some words in all their forms, since a stem does not bring all of them together."""
    found: set[str] = set()
    for word in text.split():
        plain, plus, particle = word.partition("+")
        found.update(stem(form) + plus + particle for form in _forms(plain))
    return frozenset(found)


def _forms(word: str) -> list[str]:
    base = word[:-1] if word.endswith("e") else word
    forms = [word, f"{word}s", f"{base}ed", f"{base}ing", f"{base}er", *_IRREGULAR.get(word, ())]
    if word.endswith("y"):
        forms += [f"{word[:-1]}ied", f"{word[:-1]}ies"]
    if len(word) > 2 and word[-1] in "bdgmnprt" and word[-2] in "aeiou" and word[-3] not in "aeiou":
        forms += [f"{word}{word[-1]}ed", f"{word}{word[-1]}ing"]
    return forms
