"""General English words that mean much the same of everyday graphs, and what adjectives measure."""

from __future__ import annotations

from functools import lru_cache
from typing import Final
from typing import Literal as OneOf

from mrag.planning.lexical.words import root
from mrag.text.tokens import VERBS, fold, words

Direction = OneOf["greatest", "least"]

GROUPS: Final[tuple[frozenset[str], ...]] = (
    words("employee staff worker personnel"),
    words("buy purchase acquire"),
    words("customer client buyer purchaser shopper"),
    words("cost price fee charge rate tariff fare"),
    words("salary wage pay earning compensation income"),
    words("vendor supplier provider"),
    words("supply provide deliver"),
    words("support offer feature capability function"),
    words("integrate interoperate connect link work"),
    words("manufacturer maker producer developer brand"),
    words("make produce manufacture build develop create"),
    words("company firm business organization organisation corporation enterprise"),
    words("boss manager supervisor head leader"),
    words("manage lead supervise run direct head chair"),
    words("live reside residence home"),
    words("located location situated place site based"),
    words("city town municipality"),
    words("country nation"),
    words("doctor physician"),
    words("illness disease disorder condition"),
    words("drug medicine medication"),
    words("teacher instructor professor lecturer"),
    words("teach instruct lecture"),
    words("student pupil learner"),
    words("course class lecture"),
    words("paper publication article"),
    words("author writer writer"),
    words("write author pen"),
    words("movie film picture"),
    words("actor actress star performer cast"),
    words("star act appear play feature perform cast"),
    words("car automobile vehicle auto"),
    words("airplane aircraft plane"),
    words("begin start commence commission"),
    words("end finish close conclude decommission"),
    words("job occupation profession position role title"),
    words("phone telephone"),
    words("email mail"),
    words("kind type category sort class genre"),
    words("topic subject theme keyword tag"),
    words("part component piece"),
    words("contain include comprise"),
    words("weight mass"),
    words("height elevation altitude"),
    words("spouse husband wife married marry partner"),
    words("child son daughter kid offspring"),
    words("parent mother father"),
    words("birth born birthday birthdate dob"),
    words("death die died dead"),
    words("found founded established create created inception"),
    words("own possess have"),
    words("owner proprietor holder"),
    words("sell sale sold"),
    words("revenue turnover sales"),
    words("profit earnings gain"),
    words("amount quantity number count volume"),
    words("population inhabitants resident people citizen"),
    words("language tongue"),
    words("colour color"),
    words("picture image photo"),
    words("order purchase"),
    words("project undertaking"),
    words("department division unit"),
    words("member participant"),
    words("rating rate score stars"),
    words("review critique feedback"),
    words("song track"),
    words("date day"),
    words("area surface size"),
    words("domain field area discipline"),
    words("restaurant diner eatery"),
    words("food cuisine dish meal"),
    words("recipe dish"),
    words("publish issue release"),
    words("street road avenue"),
    words("flight route connection"),
    words("airline carrier"),
    words("match game fixture"),
    words("club team side squad"),
    words("stadium ground arena venue"),
    words("forward striker attacker"),
    words("goalkeeper keeper goalie"),
    words("coach trainer"),
    words("value worth"),
    words("passenger traveller traveler rider"),
    words("luggage baggage bag suitcase"),
    words("expertise skill competence"),
    words("successor replacement"),
    words("prerequisite requirement require need precondition dependency depend presuppose"),
    words("border bordering adjacent adjoining neighbour neighbor neighbouring neighboring touch"),
    words("traverse cross flow pass"),
    words("qty quantity"),
    words("attendance visitor spectator audience attendee crowd"),
)
"""Words that a question may have in the place of each other."""

ALSO: Final = {
    "measure": ("observe",),
    "speak": ("language",),
    "study": ("alma", "university"),
    "graduate": ("alma", "university"),
    "design": ("architect",),
    "win": ("award", "prize"),
    "cause": ("effect",),
    "built": ("construction", "completion"),
    "work": ("employee", "employer"),
    "detect": ("observe",),
    "people": ("person", "human", "user", "customer", "employee", "player"),
    "person": ("human",),
    "report": ("supervise", "manager", "boss"),
    "boss": ("report",),
    "supervisor": ("report",),
    "buy": ("order", "sale", "transaction"),
    "bought": ("order", "sale", "transaction", "purchase"),
    "purchase": ("order", "sale", "transaction"),
    "sell": ("order", "transaction"),
    "sold": ("order", "transaction"),
    "sale": ("amount", "revenue"),
    "revenue": ("amount", "total"),
    "spend": ("amount", "payment", "total"),
    "spent": ("amount", "payment", "total"),
    "pay": ("amount", "payment", "fee", "total"),
    "paid": ("amount", "payment", "fee", "total"),
    "unit": ("quantity",),
    "describe": ("tag", "keyword", "description"),
    "country": ("nationality", "citizenship"),
    "review": ("rating",),
    "run": ("operate", "head"),
    "operate": ("run",),
    "appear": ("publish", "release", "issue"),
    "depart": ("origin", "source"),
    "arrive": ("destination", "target"),
    "arrival": ("destination",),
    "departure": ("origin",),
    "reach": ("destination", "target"),
    "land": ("destination", "arrive", "arrival"),
}
"""What words may mean besides, though not the other way round: a user may not be called a customer."""

_CONVERSE: Final = (
    "student teacher|pupil teacher|disciple master|apprentice master|protege mentor|mentee mentor|"
    "child parent|son parent|daughter parent|descendant ancestor|employee employer|subordinate superior|"
    "follower leader|tenant landlord|predecessor successor|narrower broader|subclass superclass|guest host|"
    "patient doctor|advisee advisor|supervisee supervisor|sender recipient|seller buyer|"
    "lender borrower|debtor creditor"
)
CONVERSES: Final = {
    one: tuple(o for pair in _CONVERSE.split("|") if one in pair.split() for o in pair.split() if o != one)
    for one in _CONVERSE.replace("|", " ").split()
}
"""What a word for one end of a relation is called at the other end: whose student I am is my teacher."""

SPENT: Final = dict.fromkeys(("spend", "pay"), ("amount", "payment", "total", "fee", "price", "cost", "fare"))
"""What verbs of paying may be called as a whole, the likeliest first."""

_G: Final = "greatest"
_L: Final = "least"
DIMENSIONS: Final[dict[str, tuple[Direction, str]]] = {
    "long": (_G, "length duration distance runtime time"),
    "short": (_L, "length duration distance height runtime"),
    "large": (_G, "area size population capacity volume revenue length height"),
    "big": (_G, "size area population volume capacity revenue length height"),
    "small": (_L, "size area population volume capacity length height"),
    "great": (_G, "size area amount"),
    "tall": (_G, "height elevation"),
    "high": (_G, "height elevation altitude"),
    "low": (_L, "height elevation altitude depth"),
    "deep": (_G, "depth"),
    "shallow": (_L, "depth"),
    "wide": (_G, "width breadth"),
    "narrow": (_L, "width breadth"),
    "broad": (_G, "width breadth"),
    "thick": (_G, "thickness width"),
    "thin": (_L, "thickness width"),
    "heavy": (_G, "weight mass"),
    "light": (_L, "weight mass"),
    "old": (_L, "birth founded established date year built inception start opened created formed launched"),
    "young": (_G, "birth born date year"),
    "new": (_G, "date year released founded created built start introduced"),
    "recent": (_G, "date year time released published created updated"),
    "late": (_G, "date time year end arrival"),
    "early": (_L, "date time year start departure"),
    "first": (_L, "date year time start"),
    "last": (_G, "date year time end"),
    "fast": (_G, "speed velocity"),
    "quick": (_G, "speed velocity"),
    "slow": (_L, "speed velocity"),
    "expensive": (_G, "price cost fare fee charge rent rate budget funding"),
    "dear": (_G, "price cost"),
    "costly": (_G, "price cost fee charge budget"),
    "pricy": (_G, "price cost fee charge"),
    "pricey": (_G, "price cost"),
    "cheap": (_L, "price cost fare fee charge rent rate budget"),
    "affordable": (_L, "price cost fee"),
    "inexpensive": (_L, "price cost fee"),
    "rich": (_G, "wealth income revenue worth gdp salary assets"),
    "poor": (_L, "wealth income revenue worth gdp salary"),
    "wealthy": (_G, "wealth income worth assets"),
    "populous": (_G, "population inhabitants"),
    "populated": (_G, "population inhabitants"),
    "crowded": (_G, "population density"),
    "dense": (_G, "density"),
    "hot": (_G, "temperature heat"),
    "warm": (_G, "temperature"),
    "cold": (_L, "temperature"),
    "cool": (_L, "temperature"),
    "good": (_G, "rating score rank grade quality"),
    "bad": (_L, "rating score grade quality"),
    "popular": (_G, "popularity views ratings votes rating count likes attendance"),
    "profitable": (_G, "profit margin earnings"),
    "powerful": (_G, "power strength"),
    "strong": (_G, "strength power"),
    "weak": (_L, "strength power"),
    "bright": (_G, "brightness luminosity magnitude"),
    "attended": (_G, "attendance visitors"),
    "busy": (_G, "attendance passengers traffic visitors"),
    "valuable": (_G, "value worth price"),
    "experienced": (_G, "experience years"),
    "paid": (_G, "salary pay wage income"),
    "spacious": (_G, "area size volume"),
    "close": (_L, "distance"),
    "near": (_L, "distance"),
    "far": (_G, "distance"),
    "distant": (_G, "distance"),
    "difficult": (_G, "difficulty level"),
    "hard": (_G, "difficulty hardness level"),
    "easy": (_L, "difficulty level"),
    "frequent": (_G, "frequency count"),
    "rare": (_L, "frequency count"),
    "loud": (_G, "volume loudness"),
    "steep": (_G, "slope gradient"),
    "senior": (_L, "hired start joined"),
}
"""The adjectives of a measure, with the nouns it may go by, the likeliest first."""

_IRREGULAR: Final = {
    "best": "good", "better": "good", "worst": "bad", "worse": "bad", "farthest": "far", "furthest": "far",
    "farther": "far", "further": "far", "elder": "old", "eldest": "old", "latest": "late", "later": "late",
    "biggest": "big", "bigger": "big", "hottest": "hot", "hotter": "hot", "thinnest": "thin",
    "thinner": "thin", "least": "few", "youngest": "young",
}  # fmt: skip


@lru_cache(maxsize=1)
def _everyday() -> frozenset[str]:
    asked = words(
        "number total average mean sum count list show give find tell return display name kind least "
        "less fewer greater higher lower above below over under between percentage percent share ratio "
        "difference highest lowest maximum minimum median another together without within during before "
        "after since until today year month week quarter day hour there other others everything "
        "something anything nothing nobody everybody first second third fourth fifth sixth seventh "
        "eighth ninth tenth last next previous same different common alphabetical order sorted "
        "descending ascending respectively overall entire whole"
    )
    forms = {
        fold(form) for w in DIMENSIONS for form in (w, w + "er", w + "est", w[:-1] + "ier", w[:-1] + "iest")
    }
    return frozenset(fold(w) for w in asked | VERBS | frozenset().union(*GROUPS)) | forms | set(_IRREGULAR)


def is_everyday(key: str) -> bool:
    """Return whether a folded word is a common one of questions, which is not taken for a misspelt name."""
    return key in _everyday() or root(key) in synonym_roots()


@lru_cache(maxsize=1)
def synonym_roots() -> dict[str, tuple[str, ...]]:
    """Return the roots that may stand for each root."""
    found: dict[str, dict[str, None]] = {}
    for group in GROUPS:
        stems = sorted({root(w) for w in group})
        for one in stems:
            found.setdefault(one, {}).update(dict.fromkeys(s for s in stems if s != one))
    for one, also in ALSO.items():
        found.setdefault(root(one), {}).update(dict.fromkeys(map(root, also)))
    return {one: tuple(others) for one, others in found.items()}


def positive(adjective: str) -> str | None:
    """Return the plain form of an adjective of a measure, None for other words.

    Example:
        >>> [positive(word) for word in ("heaviest", "larger", "best", "cheap", "river")]
        ['heavy', 'large', 'good', 'cheap', None]
    """
    word = adjective.casefold()
    if word in DIMENSIONS:
        return word
    if word in _IRREGULAR:
        return _IRREGULAR[word] if _IRREGULAR[word] in DIMENSIONS else None
    for ending in ("est", "er"):
        if word.endswith(ending):
            cut = word[: -len(ending)]
            for form in (cut, cut + "e", cut[:-1] + "y" if cut.endswith("i") else cut, cut[:-1]):
                if form in DIMENSIONS:
                    return form
    return None
