"""Words of a text: tokens with their places, light folding for matching, heavier stems for ranking.

Matching of names must be strict, so `fold` only takes off case, accents, possessives and plurals.
Ranking by a question may be lenient, so `stem` also takes off verb and agent endings ("develops",
"developed", "developer"). Scripts that write without spaces are cut into single characters, so that
a name is found inside a longer run. Nothing here needs a model; the word lists are in `words.toml`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Final

from mrag._patterns import compile_late
from mrag._tables import tables


def words(text: str) -> frozenset[str]:
    """Make a set of the words of a text.

    Example:
        >>> sorted(words("to be or not to be"))
        ['be', 'not', 'or', 'to']
    """
    return frozenset(text.split())


_DATA: Final = tables("language/words.toml")
IRREGULAR: Final[Mapping[str, str]] = _DATA["irregular"]
"""Forms that no ending gives away, to the form they are ranked by."""
NEGATIONS: Final = words(_DATA["negations"])  # Words that turn a statement round
YES: Final = words(_DATA["yes"])
NO: Final = words(_DATA["no"])
PRONOUNS: Final = words(_DATA["pronouns"])
"""First words of a sentence that goes on about what the sentence before was about."""
LEGAL_FORMS: Final = words(_DATA["legal_forms"])  # Ends of firms' names that are often left out
PREPOSITIONS: Final = words(_DATA["prepositions"])
PARTICIPLES: Final[Mapping[str, str]] = dict(pair.split(":") for pair in _DATA["participles"].split())
"""Past participles that no rule makes, by their verbs."""
VERBS: Final = words(_DATA["verbs"])  # Verbs that name relations in knowledge graphs, in their plain form
PERSON_WORDS: Final = words(_DATA["persons"])  # Types whose members are not called "it"
AGENTS: Final = words(_DATA["agents"])
"""Types besides people whose members do things: one asks for them by "who"."""
LIGHT: Final = words(_DATA["light"])
"""Verbs that relate two things without saying how; beside a noun that does, they say nothing more."""
VAGUE: Final = words(_DATA["vague"])  # Words that a question may hold without wanting them covered
DEEDS: Final = words(_DATA["deeds"]) & VAGUE
"""Those of them that say, beside names alone, what is asked of these: "What do I need for X?"."""
STOP_WORDS: Final = words(_DATA["stop"])
"""English function words, which say nothing of what a question is about."""
FUNCTION_WORDS: dict[str, frozenset[str]] = {name: words(text) for name, text in _DATA["function"].items()}
FUNCTION_WORDS["en"] |= STOP_WORDS
"""Function words by language: they show what language a text is in, and have no weight in ranking."""

_VOWEL = re.compile("[aeiouy]")
_SIBILANT = ("sse", "she", "che", "xe", "zze")
_SILENT = (*_SIBILANT, "use", "oe")
_IRREGULAR: Final[Mapping[str, str]] = _DATA["singular"]
_PAIRS: Final = words(_DATA["always_plural"])
_ENDS_IN_S: Final = _PAIRS | words(_DATA["ends_in_s"])
_IES: Final = words(_DATA["ends_in_ie"])


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


_WORD = re.compile(r"\w+")


def bare(text: str) -> str:
    """Return a text decomposed (NFKD), in lower case and without combining marks.

    Example:
        >>> bare("WebProtégé")
        'webprotege'
    """
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in folded if not unicodedata.combining(c))


def normalise(text: str) -> str:
    """Reduce a name to what spellings of it share: no case, accents, punctuation or spare spaces.

    A name of punctuation alone stays as it is.

    Example:
        >>> normalise("  WebProtégé,  the Editor!"), normalise("$")
        ('webprotege the editor', '$')
    """
    plain = bare(text)
    return " ".join(_WORD.findall(plain)) or " ".join(plain.split())


_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_MARKS = "\u0300-\u036f\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0900-\u0dff"
_APOSTROPHES = "'’‘‛ʼʹ′´`＇"
_LETTER = rf"(?:(?![{_UNSPACED}])(?:[^\W_]|[{_MARKS}]))"
_TOKEN = re.compile(
    rf"(?<![^\W_])[-−]?\d+(?:[.,]\d+)*(?:[eE][+-]?\d+)?(?![^\W_])"
    rf"|[{_UNSPACED}]"
    rf"|{_LETTER}+(?:[{_APOSTROPHES}]{_LETTER}+)*"
)
_STRAY = re.compile(rf"[{_APOSTROPHES}]\s?\Z|\w\(\Z")
"""What stands before an "s" that belongs to the word before: "Acme Inc.'s", "Max 's", "parent(s)"."""
_STRAIGHT = str.maketrans(dict.fromkeys(_APOSTROPHES, "'"))
_POSSESSIVE = re.compile(r"['’](?:s)?\Z", re.IGNORECASE)
_ELISION = re.compile(r"\A(?:l|d|j|qu|c|n|s|t|m|un|dell|all|nell|dall|sull)['’](?=.)", re.IGNORECASE)
_GROUPED = re.compile(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?\Z")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\Z")
_ACCENT = re.compile("[\u0300-\u036f]")


@dataclass(frozen=True, slots=True)
class TextToken:
    """A word of a text: as written, folded, where it stands, and what stands between it and its neighbours.

    What is before it is kept of the first word alone; of others it is behind the word before.
    """

    raw: str
    key: str
    start: int
    end: int
    before: str = field(default="", compare=False)
    after: str = field(default="", compare=False)


def _number(text: str) -> str | None:
    plain = text.replace("−", "-")
    if _GROUPED.match(plain):
        plain = plain.replace(",", "")
    if not _NUMBER.match(plain):
        return None
    try:
        value = Decimal(plain)
    except InvalidOperation:
        return None
    if not value.is_finite() or abs(value.adjusted()) > 30:
        return None
    digits = plain.lstrip("-")
    if len(digits) > 1 and digits[0] == "0" and digits[1] not in ".eE":
        return None  # a code such as 007 is no number
    shown = format(value, "f")
    shown = shown.rstrip("0").rstrip(".") if "." in shown else shown
    return "0" if shown == "-0" else shown


@lru_cache(maxsize=65536)
def fold(word: str) -> str:
    """Reduce a word to what names are compared by: no case, accent, possessive or plural.

    Example:
        >>> fold("WebProtégé"), fold("Databases"), fold("Ontotext's"), fold("79.0"), fold("RDFS")
        ('webprotege', 'database', 'ontotext', '79', 'rdfs')
    """
    number = _number(word)
    if number is not None:
        return number
    # Some apostrophes are accents behind a space to NFKC.
    text = unicodedata.normalize("NFKC", word.translate(_STRAIGHT)).casefold()
    text = unicodedata.normalize("NFC", _ACCENT.sub("", unicodedata.normalize("NFD", text)))
    text = _ELISION.sub("", text, count=1)
    text = text.removesuffix("'s").removesuffix("'")
    return without_plural(text)


_BRITISH: Final = tuple(
    (compile_late(pattern), american)
    for pattern, american in (
        (r"(?<=[a-z]{3})is(?=(?:e|ed|er|or|ing|ion|ation|ational)$)", "iz"),
        (r"(?<=[a-z]{2}l)ys(?=(?:e|ed|er|ing)$)", "yz"),
        (r"(?<=[a-z]{2})ogue$", "og"),
        (r"(?<=[a-z][tb])re$", "er"),
        (r"(?<=gramm)e$", ""),
        (r"(?:(?<=defen)|(?<=offen))ce$", "se"),
        (r"(?<=fav|lab|hon|vap|hum|tum|rum|har)our", "or"),
        (r"(?:(?<=behavi)|(?<=neighb))our", "or"),
        (r"(?:(?<=[aeiou][a-z][aeiou]l)|(?<=[aeiou][a-z][a-z][aeiou]l))l(?=(?:ed|ing|er)$)", ""),
        (r"aem(?=i|o|a)", "em"),
        (r"^pae(?=d)", "pe"), (r"^oe(?=[ds])", "e"), (r"^foe(?=t)", "fe"),
        (r"(?<=ewel)lery$", "ry"), (r"^grey", "gray"), (r"^alumini(?=um$)", "alumin"), (r"^artef", "artif"),
        (r"^sulph", "sulf"), (r"^mould", "mold"), (r"^tyre$", "tire"),
        (r"^enquir", "inquir"), (r"(?<=jud|led)ge(?=ment$)", "g"), (r"^storey$", "story"),
    )
)  # fmt: skip


def american(word: str) -> str:
    """Return a word in American spelling, at least for comparing it with others so returned.

    Example:
        >>> american("catalogue"), american("organisation"), american("labelled"), american("spelling")
        ('catalog', 'organization', 'labeled', 'spelling')
    """
    for british, change in _BRITISH:
        word = british.sub(change, word)
    return word


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Reduce a word further, for ranking: verb, agent and noun endings of English go too.

    Example:
        >>> {stem(w) for w in ("develops", "developed", "developer", "developing", "development")}
        {'develop'}
        >>> stem("located") == stem("location") == stem("locate")
        True
    """
    text = fold(word)
    text = IRREGULAR.get(text, text)
    text = american(text) if len(text) > 3 else text
    if len(text) < 5 or not (text.isascii() and text.isalpha()):
        return text
    for suffix, least in (("ment", 8), ("ing", 6), ("ion", 7), ("ed", 5), ("er", 6), ("or", 5)):
        rest = text[: -len(suffix)]
        if not text.endswith(suffix) or len(text) < least or not _VOWEL.search(rest):
            continue
        if suffix == "ion" and rest[-1] not in "ts":
            continue
        text = rest
        break
    if len(text) > 3 and text[-1] == text[-2] and text[-1] not in "lsz":
        text = text[:-1]
    return text[:-1] if len(text) > 4 and text.endswith("e") else text


def stems(text: str) -> frozenset[str]:
    """Return the stems of words with blanks between them."""
    return frozenset(map(stem, text.split()))


def alike(one: str, other: str) -> bool:
    """Return whether two stems are of one word, as far as endings go.

    Example:
        >>> alike(stem("hired"), stem("hire")), alike("depart", "departur"), alike("car", "cargo")
        (True, True, False)
        >>> alike(stem("published"), stem("publication")), alike(stem("applied"), stem("application"))
        (True, True)
    """
    if one == other:
        return True
    shorter, longer = sorted((one, other), key=len)
    if longer.endswith("icat") and shorter in (longer[:-4] + "ish", longer[:-4] + "y", longer[:-4] + "i"):
        return True
    if longer == shorter + "e" and len(shorter) > 2:
        return True
    return len(shorter) > 3 and longer.startswith(shorter) and len(longer) - len(shorter) < 4


def tokens(text: str) -> list[TextToken]:
    """Cut a text into words and numbers with their places.

    Example:
        >>> [t.key for t in tokens("C-3PO is 1,024.50 cm; 東京")]
        ['c', '3po', 'is', '1024.5', 'cm', '東', '京']
        >>> [t.key for t in tokens("Acme Inc.'s founder, Max´s friend")]
        ['acme', 'inc', 'founder', 'max', 'friend']
    """
    result: list[TextToken] = []
    last: tuple[str, str, int, int] | None = None
    for match in _TOKEN.finditer(text):
        raw = match.group()
        key = fold(raw)
        if not key or (key == "s" and _is_stray(text, match)):
            continue
        start, end = match.span()
        if last is not None:
            result.append(TextToken(*last, "" if result else text[: last[2]], text[last[3] : start]))
        last = raw, key, start, end
    if last is not None:
        result.append(TextToken(*last, "" if result else text[: last[2]], text[last[3] :]))
    return result


def _is_stray(text: str, match: re.Match[str]) -> bool:
    """Return whether an "s" is no word but the ending of the one before, or a quoted letter."""
    after = text[match.end() : match.end() + 1]
    before = text[max(0, match.start() - 2) : match.start()]
    return bool(_STRAY.search(before)) and (after == ")" or not (after and after in _APOSTROPHES))


@lru_cache(maxsize=20_000)
def words_of(text: str) -> tuple[TextToken, ...]:
    """Cut a text into words as names have them: plurals stay, and a possessive ending is no part of a word.

    Example:
        >>> [word.key for word in words_of("Ada Hill's Cafés, 1901")]
        ['ada', 'hill', 'cafes', '1901']
    """
    words = []
    for token in tokens(text):
        owner = len(token.raw) > 2 and token.raw[-2] in _APOSTROPHES and token.raw[-1] == "s"
        end = token.end - 2 * owner
        raw = text[token.start : end]
        after = text[end : token.end] + token.after
        words.append(TextToken(raw, normalise(raw), token.start, end, token.before, after))
    return tuple(words)


def plain(word: str) -> str:
    """Return a word as it is written, without a possessive ending and an elided article.

    Example:
        >>> plain("Max's"), plain("l’âge"), plain("James'"), plain("O'Hara")
        ('Max', 'âge', 'James', "O'Hara")
    """
    return _ELISION.sub("", _POSSESSIVE.sub("", word.translate(_STRAIGHT)), count=1)


def words_in(text: str) -> list[str]:
    """Return the words and numbers of a text as they are written, without their places.

    Example:
        >>> words_in("C-3PO is 1,024.50 cm")
        ['C', '3PO', 'is', '1,024.50', 'cm']
    """
    return _TOKEN.findall(text)


def keys(text: str) -> tuple[str, ...]:
    """Return the folded words of a text, in order."""
    return tuple(token.key for token in tokens(text))


def is_stopword(key: str) -> bool:
    """Return whether a folded word is a function word of English."""
    return key in _FOLDED_STOP["en"]


def content(text: str, language: str = "en") -> list[str]:
    """Return the stems of a text's words that are no function words of a language, in order and once each.

    Example:
        >>> content("Which products are developed by Ontotext?")
        ['product', 'develop', 'ontotext']
    """
    stop = _FOLDED_STOP.get(language, frozenset())
    return list(dict.fromkeys(stem(t.raw) for t in tokens(text) if t.key not in stop))


def language_of(text: str) -> str:
    """Guess the language of a question by its function words: its tag, or `und` for another script.

    Example:
        >>> language_of("Welche Produkte werden von Ontotext entwickelt?"), language_of("GraphDB vendor")
        ('de', 'en')
    """
    words = {t.key for t in tokens(text)}
    counts = {name: len(words & telling) for name, telling in _FOLDED_TELLING.items()}
    best = max(counts, key=lambda name: (counts[name], name == "en"))
    letters = [c for c in text if c.isalpha()]
    if letters and sum(c < "\u0250" for c in letters) * 2 < len(letters):
        return "und"
    return best


_FOLDED_STOP = {name: frozenset(fold(w) for w in stop) for name, stop in FUNCTION_WORDS.items()}
_FOLDED_TELLING = {
    name: stop | frozenset(map(fold, _DATA["telling"].get(name, "").split()))
    for name, stop in _FOLDED_STOP.items()
}
"""Words that show what language a text is in; some may carry weight in another one."""

OTHERS: dict[str, frozenset[str]] = {}
"""Stem of a word that is asked with, to the stems of words that predicates are named with."""

for _asked, _said in _DATA["synonyms"]:
    for _word in stems(_asked):
        OTHERS[_word] = OTHERS.get(_word, frozenset()) | stems(_said)


_BREAK = re.compile(r"(?:\r\n|\r|\n)[ \t]*(?:(?:\r\n|\r|\n)[ \t]*)+")
_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’»)\]*_]*+(?=\s)|(?<![。！？])[。！？]++[」』）”]*+")
_ABBREVIATIONS = words(
    "mr mrs ms dr prof st inc ltd co corp no nr vs ca cf e.g i.e etc approx jr sr fig vol z.b d.h bzw u.s p "
    "pp"
)


def paragraph_spans(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """Yield where the paragraphs of a part of a text begin and end, which blank lines part."""
    whole = len(text) if end is None else end
    for match in [*_BREAK.finditer(text, start, whole), None]:
        first, last = trim(text, start, match.start() if match else whole)
        if first < last:
            yield first, last
        start = match.end() if match else whole


def sentence_spans(
    text: str, start: int = 0, end: int | None = None, names: Sequence[str] = ()
) -> list[tuple[int, int]]:
    """Return where the sentences of a part of a text begin and end; a blank line ends one, names are not cut.

    Example:
        >>> text = "Dr. Who met J. R. Smith. They talked."
        >>> [text[a:b] for a, b in sentence_spans(text)]
        ['Dr. Who met J. R. Smith.', 'They talked.']
    """
    spans: list[tuple[int, int]] = []
    for first, last in paragraph_spans(text, start, end):
        body = text[first:last]
        whole = _in_names(body, names)
        ends = (m for m in _END.finditer(body) if not (m.start() in whole or _is_abbreviation(body, m)))
        at = first
        for stop in [*(first + mark.end() for mark in ends), last]:
            span, at = trim(text, at, stop), stop
            if span[0] < span[1]:
                spans.append(span)
    return spans


def _in_names(body: str, names: Sequence[str]) -> set[int]:
    """Return the places within names that hold a stop."""
    inside: set[int] = set()
    for name in {name for name in names if len(name) > 1 and _END.search(name + " ")}:
        at = body.find(name)
        while at >= 0:
            last = at + len(name)
            # The last character may end both the name and the sentence: "… by Acme Inc. It …"
            inside.update(range(at, last - bool(re.match(r"\s+[A-Z]", body[last:]))))
            at = body.find(name, last)
    return inside


def _is_abbreviation(body: str, match: re.Match[str]) -> bool:
    if match.group() != ".":
        return False
    word = re.search(r"(?<![\w.])[\w.]*+\Z", body[: match.start()])
    text = word.group().casefold() if word else ""
    if text in _ABBREVIATIONS:
        # "Inc." before a capital may well end the sentence, but a firm's name is cut more often so.
        return not (
            text in ("inc", "ltd", "co", "corp", "etc") and re.match(r"\s+[A-Z]", body[match.end() :])
        )
    return len(text) == 1 and text.isalpha() and bool(re.match(r"\s+\w", body[match.end() :]))


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a part of a text without the white space at its ends."""
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), end - len(part) + len(part.rstrip())
