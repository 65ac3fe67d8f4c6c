"""The English of names and questions: stems, synonyms, phrasal verbs, and how alike spellings are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import combinations
from typing import Final
from typing import Literal as OneOf

import numpy as np
import numpy.typing as npt

from mrag.language.tokens import IRREGULAR, PERSON_WORDS, STOP_WORDS, VERBS, fold, keys, stem, words

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
"""Past forms of verbs that no ending gives away, beside those of `mrag.language.tokens`."""
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
    "late": (_G, "date time year end arrival delay"),
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
    "clever": (_G, "iq intelligence gpa grade score"),
    "smart": (_G, "iq intelligence gpa grade score"),
    "intelligent": (_G, "iq intelligence gpa grade score"),
    "lengthy": (_G, "length duration pages runtime"),
    "brief": (_L, "length duration runtime"),
    "lucrative": (_G, "profit revenue income"),
    "generous": (_G, "amount donation budget"),
    "punctual": (_L, "delay"),
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


Hashes = npt.NDArray[np.uint64]
Places = npt.NDArray[np.int64]

_PREFIX: Final = 7
_SHORTEST: Final = 4
_LONG: Final = 8
_PRIME: Final = np.uint64(1099511628211)
_LOW: Final = np.uint64(0xFFFFFFFF)
_HIGH: Final = np.uint64(0xFFFFFFFF00000000)
_BASIS: Final = np.uint64(14695981039346656037)


def edits_allowed(word: str) -> int:
    """Return how many edits a word may be away: none below 4 letters, one to 7, two from 8 on."""
    return 0 if len(word) < _SHORTEST or not word.isalpha() else 1 if len(word) < _LONG else 2


class SpellingIndex:
    """Words by their deletions.

    Args:
        forms: In each the hash of a deletion and, in its lower half, the word that it comes from, ascending.

    Example:
        >>> index = SpellingIndex.of(["kurosawa", "lopez", "rome"])
        >>> [index.near(word, 1).tolist() for word in ("kurosvaw", "lpez", "roma")]
        [[0], [1], [2]]
    """

    def __init__(self, forms: Hashes) -> None:
        self.forms = forms

    @classmethod
    def of(cls, words: Sequence[str]) -> SpellingIndex:
        """Return the index of words, which go by their place."""
        forms: list[Hashes] = []
        by_size: dict[tuple[int, int], list[int]] = {}
        for at, word in enumerate(words):
            if edits := edits_allowed(word):
                by_size.setdefault((min(len(word), _PREFIX), edits), []).append(at)
        for (size, edits), group in sorted(by_size.items()):
            letters = np.array([list(map(ord, words[at][:size])) for at in group], dtype=np.uint64)
            places = np.array(group, dtype=np.uint64)
            forms.extend(_hashed(letters[:, kept]) | places for kept in _kept(size, edits))
        every = np.concatenate(forms) if forms else np.empty(0, np.uint64)
        forms.clear()
        every.sort()
        return cls(every)

    def with_words(self, places: Places, fresh: Sequence[tuple[int, str]]) -> SpellingIndex:
        """Return the index after some words have moved, gone or come.

        Args:
            places: The new place of each word; -1 for those that have gone.
            fresh: The words that have come, with their places.
        """
        now = places[(self.forms & _LOW).astype(np.int64)]
        kept = now >= 0
        forms = (self.forms[kept] & _HIGH) | now[kept].astype(np.uint64)
        new = SpellingIndex.of([word for _, word in fresh]).forms
        at = np.array([place for place, _ in fresh], np.uint64)
        come = np.sort((new & _HIGH) | at[(new & _LOW).astype(np.int64)]) if len(new) else new
        return SpellingIndex(np.insert(forms, np.searchsorted(forms, come), come))

    def near(self, word: str, edits: int) -> Places:
        """Return the places of words that may be within some edits of a word; some are further away."""
        if not len(self.forms):
            return np.empty(0, np.int64)
        kept = _kept(min(len(word), _PREFIX), edits)
        wanted = np.array(sorted({_hash([ord(word[at]) for at in one]) for one in kept}), dtype=np.uint64)
        starts = np.searchsorted(self.forms, wanted, "left")
        ends = np.searchsorted(self.forms, wanted | _LOW, "right")
        found = [self.forms[a:b] & _LOW for a, b in zip(starts, ends, strict=True) if b > a]
        every = np.sort(np.concatenate(found)).astype(np.int64) if found else np.empty(0, np.int64)
        # np.unique would import masked arrays, in some 30 ms.
        return every[np.diff(every, prepend=-1) > 0]


def distance(a: str, b: str, most: int) -> int:
    """Return how many letters are put in, left out, changed or swapped with the next between two words.

    Args:
        a: A word.
        b: Another.
        most: Above this the answer is `most + 1`.

    Example:
        >>> distance("lopez", "lpoez", 2), distance("rome", "roma", 2), distance("rome", "paris", 2)
        (1, 1, 3)
    """
    start, end = 0, min(len(a), len(b))
    while start < end and a[start] == b[start]:
        start += 1
    # Of a swap across the border one letter is the same on both sides, so one is left standing.
    start = max(0, start - 1)
    stop = 0
    while stop < end - start - 1 and a[-1 - stop] == b[-1 - stop]:
        stop += 1
    a, b = a[start : len(a) - stop], b[start : len(b) - stop]
    if abs(len(a) - len(b)) > most:
        return most + 1
    far = most + 1
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        now = [far] * (len(b) + 1)
        now[0] = i
        for j in range(max(1, i - most), min(len(b), i + most) + 1):
            y = b[j - 1]
            cost = min(row[j] + 1, now[j - 1] + 1, row[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, before[j - 2] + 1)
            now[j] = cost
        if min(now) > most:
            return far
        before, row = row, now
    return min(row[-1], far)


def _hash(letters: Iterable[int]) -> int:
    found = int(_BASIS)
    for letter in letters:
        found = (found ^ letter) * int(_PRIME) & 0xFFFFFFFFFFFFFFFF
    return found & int(_HIGH)


@lru_cache(maxsize=32)
def _kept(size: int, edits: int) -> list[list[int]]:
    return [
        list(kept)
        for gone in range(edits + 1)
        if size - gone > 1
        for kept in combinations(range(size), size - gone)
    ]


def _hashed(letters: Hashes) -> Hashes:
    found = np.full(len(letters), _BASIS, dtype=np.uint64)
    with np.errstate(over="ignore"):
        for column in range(letters.shape[1]):
            found = (found ^ letters[:, column]) * _PRIME
    return found & _HIGH


_COUNTRIES: Final = """
Afghanistan|AF|AFG|Afghan,Afghani
Albania|AL|ALB|Albanian
Algeria|DZ|DZA|Algerian
Andorra|AD|AND|Andorran
Angola|AO|AGO|Angolan
Argentina|AR|ARG|Argentine,Argentinian,Argentinean
Armenia|AM|ARM|Armenian
Australia|AU|AUS|Australian,Aussie
Austria|AT|AUT|Austrian
Azerbaijan|AZ|AZE|Azerbaijani,Azeri
Bahamas|BS|BHS|Bahamian|The Bahamas
Bahrain|BH|BHR|Bahraini
Bangladesh|BD|BGD|Bangladeshi
Barbados|BB|BRB|Barbadian
Belarus|BY|BLR|Belarusian,Belarusan
Belgium|BE|BEL|Belgian
Belize|BZ|BLZ|Belizean
Benin|BJ|BEN|Beninese
Bhutan|BT|BTN|Bhutanese
Bolivia|BO|BOL|Bolivian|Plurinational State of Bolivia
Bosnia and Herzegovina|BA|BIH|Bosnian,Herzegovinian|Bosnia,Bosnia-Herzegovina
Botswana|BW|BWA|Botswanan,Motswana
Brazil|BR|BRA|Brazilian|Brasil
Brunei|BN|BRN|Bruneian|Brunei Darussalam
Bulgaria|BG|BGR|Bulgarian
Burkina Faso|BF|BFA|Burkinabe
Burundi|BI|BDI|Burundian
Cambodia|KH|KHM|Cambodian
Cameroon|CM|CMR|Cameroonian
Canada|CA|CAN|Canadian
Cape Verde|CV|CPV|Cape Verdean|Cabo Verde
Central African Republic|CF|CAF|Central African
Chad|TD|TCD|Chadian
Chile|CL|CHL|Chilean
China|CN|CHN|Chinese|People's Republic of China,PRC
Colombia|CO|COL|Colombian
Comoros|KM|COM|Comorian
Congo|CG|COG|Congolese|Republic of the Congo,Congo-Brazzaville
Costa Rica|CR|CRI|Costa Rican
Croatia|HR|HRV|Croatian,Croat
Cuba|CU|CUB|Cuban
Cyprus|CY|CYP|Cypriot
Czech Republic|CZ|CZE|Czech|Czechia
Democratic Republic of the Congo|CD|COD|Congolese|DR Congo,DRC,Congo-Kinshasa,Zaire
Denmark|DK|DNK|Danish,Dane
Djibouti|DJ|DJI|Djiboutian
Dominica|DM|DMA|Dominican
Dominican Republic|DO|DOM|Dominican
East Timor|TL|TLS|Timorese,East Timorese|Timor-Leste
Ecuador|EC|ECU|Ecuadorian,Ecuadorean
Egypt|EG|EGY|Egyptian
El Salvador|SV|SLV|Salvadoran,Salvadorian
England||ENG|English,Englishman
Equatorial Guinea|GQ|GNQ|Equatorial Guinean,Equatoguinean
Eritrea|ER|ERI|Eritrean
Estonia|EE|EST|Estonian
Eswatini|SZ|SWZ|Swazi|Swaziland
Ethiopia|ET|ETH|Ethiopian
Fiji|FJ|FJI|Fijian
Finland|FI|FIN|Finnish,Finn
France|FR|FRA|French,Frenchman
Gabon|GA|GAB|Gabonese
Gambia|GM|GMB|Gambian|The Gambia
Georgia|GE|GEO|Georgian
Germany|DE|DEU|German|Federal Republic of Germany
Ghana|GH|GHA|Ghanaian
Greece|GR|GRC|Greek|Hellenic Republic
Greenland|GL|GRL|Greenlandic,Greenlander
Grenada|GD|GRD|Grenadian
Guatemala|GT|GTM|Guatemalan
Guinea|GN|GIN|Guinean
Guinea-Bissau|GW|GNB|Bissau-Guinean
Guyana|GY|GUY|Guyanese
Haiti|HT|HTI|Haitian
Honduras|HN|HND|Honduran
Hong Kong|HK|HKG|Hongkonger
Hungary|HU|HUN|Hungarian
Iceland|IS|ISL|Icelandic,Icelander
India|IN|IND|Indian
Indonesia|ID|IDN|Indonesian
Iran|IR|IRN|Iranian,Persian|Islamic Republic of Iran
Iraq|IQ|IRQ|Iraqi
Ireland|IE|IRL|Irish,Irishman|Republic of Ireland,Eire
Israel|IL|ISR|Israeli
Italy|IT|ITA|Italian|Italia
Ivory Coast|CI|CIV|Ivorian|Cote d'Ivoire
Jamaica|JM|JAM|Jamaican
Japan|JP|JPN|Japanese
Jordan|JO|JOR|Jordanian
Kazakhstan|KZ|KAZ|Kazakh,Kazakhstani
Kenya|KE|KEN|Kenyan
Kiribati|KI|KIR|I-Kiribati
Kosovo|XK|XKX|Kosovar,Kosovan
Kuwait|KW|KWT|Kuwaiti
Kyrgyzstan|KG|KGZ|Kyrgyz,Kyrgyzstani
Laos|LA|LAO|Laotian,Lao|Lao People's Democratic Republic
Latvia|LV|LVA|Latvian
Lebanon|LB|LBN|Lebanese
Lesotho|LS|LSO|Basotho
Liberia|LR|LBR|Liberian
Libya|LY|LBY|Libyan
Liechtenstein|LI|LIE|Liechtensteiner
Lithuania|LT|LTU|Lithuanian
Luxembourg|LU|LUX|Luxembourgish,Luxembourger
Macau|MO|MAC|Macanese|Macao
Madagascar|MG|MDG|Malagasy
Malawi|MW|MWI|Malawian
Malaysia|MY|MYS|Malaysian
Maldives|MV|MDV|Maldivian
Mali|ML|MLI|Malian
Malta|MT|MLT|Maltese
Marshall Islands|MH|MHL|Marshallese
Mauritania|MR|MRT|Mauritanian
Mauritius|MU|MUS|Mauritian
Mexico|MX|MEX|Mexican
Micronesia|FM|FSM|Micronesian|Federated States of Micronesia
Moldova|MD|MDA|Moldovan|Republic of Moldova
Monaco|MC|MCO|Monegasque,Monacan
Mongolia|MN|MNG|Mongolian
Montenegro|ME|MNE|Montenegrin
Morocco|MA|MAR|Moroccan
Mozambique|MZ|MOZ|Mozambican
Myanmar|MM|MMR|Burmese|Burma
Namibia|NA|NAM|Namibian
Nauru|NR|NRU|Nauruan
Nepal|NP|NPL|Nepalese,Nepali
Netherlands|NL|NLD|Dutch,Dutchman,Netherlander|The Netherlands,Holland
New Zealand|NZ|NZL|New Zealander,Kiwi
Nicaragua|NI|NIC|Nicaraguan
Niger|NE|NER|Nigerien
Nigeria|NG|NGA|Nigerian
North Korea|KP|PRK|North Korean|Democratic People's Republic of Korea,DPRK
North Macedonia|MK|MKD|Macedonian|Macedonia
Northern Ireland||NIR|Northern Irish
Norway|NO|NOR|Norwegian
Oman|OM|OMN|Omani
Pakistan|PK|PAK|Pakistani
Palau|PW|PLW|Palauan
Palestine|PS|PSE|Palestinian|State of Palestine
Panama|PA|PAN|Panamanian
Papua New Guinea|PG|PNG|Papua New Guinean,Papuan
Paraguay|PY|PRY|Paraguayan
Peru|PE|PER|Peruvian
Philippines|PH|PHL|Filipino,Philippine|The Philippines
Poland|PL|POL|Polish
Portugal|PT|PRT|Portuguese
Puerto Rico|PR|PRI|Puerto Rican
Qatar|QA|QAT|Qatari
Romania|RO|ROU|Romanian
Russia|RU|RUS|Russian|Russian Federation
Rwanda|RW|RWA|Rwandan
Saint Kitts and Nevis|KN|KNA|Kittitian,Nevisian|St Kitts and Nevis
Saint Lucia|LC|LCA|Saint Lucian|St Lucia
Saint Vincent and the Grenadines|VC|VCT|Vincentian|St Vincent and the Grenadines
Samoa|WS|WSM|Samoan
San Marino|SM|SMR|Sammarinese
Sao Tome and Principe|ST|STP|Sao Tomean
Saudi Arabia|SA|SAU|Saudi,Saudi Arabian|KSA
Scotland||SCO|Scottish,Scot,Scotsman
Senegal|SN|SEN|Senegalese
Serbia|RS|SRB|Serbian,Serb
Seychelles|SC|SYC|Seychellois
Sierra Leone|SL|SLE|Sierra Leonean
Singapore|SG|SGP|Singaporean
Slovakia|SK|SVK|Slovak,Slovakian|Slovak Republic
Slovenia|SI|SVN|Slovenian,Slovene
Solomon Islands|SB|SLB|Solomon Islander
Somalia|SO|SOM|Somali,Somalian
South Africa|ZA|ZAF|South African|RSA
South Korea|KR|KOR|South Korean,Korean|Republic of Korea,Korea
South Sudan|SS|SSD|South Sudanese
Spain|ES|ESP|Spanish,Spaniard|Espana
Sri Lanka|LK|LKA|Sri Lankan
Sudan|SD|SDN|Sudanese
Suriname|SR|SUR|Surinamese
Sweden|SE|SWE|Swedish,Swede
Switzerland|CH|CHE|Swiss
Syria|SY|SYR|Syrian|Syrian Arab Republic
Taiwan|TW|TWN|Taiwanese
Tajikistan|TJ|TJK|Tajik,Tajikistani
Tanzania|TZ|TZA|Tanzanian|United Republic of Tanzania
Thailand|TH|THA|Thai
Togo|TG|TGO|Togolese
Tonga|TO|TON|Tongan
Trinidad and Tobago|TT|TTO|Trinidadian,Tobagonian|Trinidad
Tunisia|TN|TUN|Tunisian
Turkey|TR|TUR|Turkish,Turk|Turkiye
Turkmenistan|TM|TKM|Turkmen
Tuvalu|TV|TUV|Tuvaluan
Uganda|UG|UGA|Ugandan
Ukraine|UA|UKR|Ukrainian
United Arab Emirates|AE|ARE|Emirati|UAE,The United Arab Emirates
United Kingdom|GB|GBR|British,Briton|UK,Great Britain,Britain,The United Kingdom
United States|US|USA|American|United States of America,The United States,America,The USA
Uruguay|UY|URY|Uruguayan
Uzbekistan|UZ|UZB|Uzbek,Uzbekistani
Vanuatu|VU|VUT|Vanuatuan
Vatican City|VA|VAT|Vatican|Holy See,Vatican
Venezuela|VE|VEN|Venezuelan|Bolivarian Republic of Venezuela
Vietnam|VN|VNM|Vietnamese|Viet Nam
Wales||WLS|Welsh,Welshman
Yemen|YE|YEM|Yemeni
Zambia|ZM|ZMB|Zambian
Zimbabwe|ZW|ZWE|Zimbabwean
Africa|||African
Antarctica|||Antarctic
Asia|||Asian
Europe|||European
North America|||North American
Oceania|||Oceanian
South America|||South American
"""

_STATES: Final = """
Alabama AL;Alaska AK;Arizona AZ;Arkansas AR;California CA;Colorado CO;Connecticut CT;Delaware DE;
District of Columbia DC;Florida FL;Georgia GA;Hawaii HI;Idaho ID;Illinois IL;Indiana IN;Iowa IA;Kansas KS;
Kentucky KY;Louisiana LA;Maine ME;Maryland MD;Massachusetts MA;Michigan MI;Minnesota MN;Mississippi MS;
Missouri MO;Montana MT;Nebraska NE;Nevada NV;New Hampshire NH;New Jersey NJ;New Mexico NM;New York NY;
North Carolina NC;North Dakota ND;Ohio OH;Oklahoma OK;Oregon OR;Pennsylvania PA;Rhode Island RI;
South Carolina SC;South Dakota SD;Tennessee TN;Texas TX;Utah UT;Vermont VT;Virginia VA;Washington WA;
West Virginia WV;Wisconsin WI;Wyoming WY
"""


@lru_cache(maxsize=1)
def _places() -> dict[str, tuple[tuple[str, ...], ...]]:
    """Return all that each place is called, by each folded form of it."""
    found: dict[str, dict[tuple[str, ...], None]] = {}
    for line in _COUNTRIES.split("\n"):
        name, two, three, people, others = (*line.split("|"), "", "", "", "")[:5]
        forms = (name, *others.split(","), *people.split(","), three, two)
        _add(found, tuple(form for form in forms if form))
    for entry in _STATES.replace("\n", "").split(";"):
        name, _, code = entry.rpartition(" ")
        _add(found, (name, code))
    return {key: tuple(forms) for key, forms in found.items()}


def other_names(words: str, *, capital: bool) -> list[str]:
    """Return what else a country or a state is called, likeliest first.

    Args:
        words: A name, a code, or what the people are called.
        capital: Whether it is written in capitals, as codes of two letters must be.

    Example:
        >>> other_names("Spanish", capital=False)
        ['Spain', 'Espana', 'Spaniard', 'ESP', 'ES']
        >>> other_names("TX", capital=True), other_names("in", capital=False)
        (['Texas'], [])
    """
    key = "".join(keys(words))
    if len(key) == 2 and not capital and key != "uk":
        return []
    return list(dict.fromkeys(f for forms in _places().get(key, ()) for f in forms if _folded(f) != key))


def _add(found: dict[str, dict[tuple[str, ...], None]], forms: tuple[str, ...]) -> None:
    for form in forms:
        found.setdefault(_folded(form), {})[forms] = None


def _folded(text: str) -> str:
    return "".join(keys(text))
