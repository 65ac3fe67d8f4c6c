"""Words of a text: tokens with their places, light folding for matching, heavier stems for ranking.

Matching of names must be strict, so `fold` only takes off case, accents, possessives and plurals.
Ranking by a question may be lenient, so `stem` also takes off verb and agent endings ("develops",
"developed", "developer"). Scripts that write without spaces are cut into single characters, so that
a name is found inside a longer run. Nothing here needs a model or a word list from outside.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from functools import lru_cache

from mrag.text.english import IRREGULAR
from mrag.text.plurals import without_plural
from mrag.text.stopwords import FUNCTION_WORDS

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
_VOWEL = re.compile("[aeiouy]")


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
    found: list[TextToken] = []
    last: tuple[str, str, int, int] | None = None
    for match in _TOKEN.finditer(text):
        raw = match.group()
        key = fold(raw)
        if not key or (key == "s" and _is_stray(text, match)):
            continue
        start, end = match.span()
        if last is not None:
            found.append(TextToken(*last, "" if found else text[: last[2]], text[last[3] : start]))
        last = raw, key, start, end
    if last is not None:
        found.append(TextToken(*last, "" if found else text[: last[2]], text[last[3] :]))
    return found


def _is_stray(text: str, match: re.Match[str]) -> bool:
    """Return whether an "s" is no word but the ending of the one before, or a quoted letter."""
    after = text[match.end() : match.end() + 1]
    before = text[max(0, match.start() - 2) : match.start()]
    return bool(_STRAY.search(before)) and (after == ")" or not (after and after in _APOSTROPHES))


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
    """Return the stems of a text's words that carry meaning, in order and once each.

    Args:
        text: A question, a label or a sentence.
        language: Whose function words to leave out; unknown languages leave out none.

    Example:
        >>> content("Which products are developed by Ontotext?")
        ['product', 'develop', 'ontotext']
    """
    stop = _FOLDED_STOP.get(language, frozenset())
    return list(dict.fromkeys(stem(t.raw) for t in tokens(text) if t.key not in stop))


def language_of(text: str) -> str:
    """Guess the language of a question by its function words; English when nothing speaks against it.

    Returns:
        A language tag, or `und` for a text in another script.

    Example:
        >>> language_of("Welche Produkte werden von Ontotext entwickelt?"), language_of("GraphDB vendor")
        ('de', 'en')
    """
    words = {t.key for t in tokens(text)}
    counts = {name: len(words & stop) for name, stop in _FOLDED_STOP.items()}
    best = max(counts, key=lambda name: (counts[name], name == "en"))
    letters = [c for c in text if c.isalpha()]
    if letters and sum(c < "\u0250" for c in letters) * 2 < len(letters):
        return "und"
    return best


_FOLDED_STOP = {name: frozenset(fold(w) for w in stop) for name, stop in FUNCTION_WORDS.items()}
