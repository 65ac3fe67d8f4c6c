"""From text to index terms: normalisation, tokens, light stemming, character bigrams.

Both sides, documents and queries, walk through the same `Analyser`, so what matters is that two
spellings of one word meet, not that a term looks like a word.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.metadata import version
from typing import Final

from mrag._patterns import compile_late
from mrag._tables import tables
from mrag.errors import ConfigError, check_choice
from mrag.language.tokens import s_stem

AUTO: Final = "auto"  # Stands for the analyser of a graph's languages, see `by_languages`

DEFAULT: Final = "plural"
"""Of English: no other is better on all collections of `docs/evaluation.md`, and it tells names apart."""

WORDS: Final = "+words"  # Ends the name of an analyser that keeps words beside their stems

_PREFIX: Final = "snowball:"
_LANGUAGES: Final[Mapping[str, str]] = tables("language/snowball.toml")


def by_languages(languages: Sequence[str]) -> str:
    """Return the analyser for texts in some languages: that of the first which has one.

    Example:
        >>> by_languages(("de-AT", "en", "")), by_languages(("mul", "")) == DEFAULT
        ('snowball:german+words', True)
    """
    for tag in languages:
        known = _LANGUAGES.get(tag.partition("-")[0].lower())
        if known == "english":
            return DEFAULT
        if known is not None:
            return _PREFIX + known + WORDS
    return DEFAULT


def resolve_name(name: str) -> str:
    """Return the full name of an analyser that can be used here.

    Example:
        >>> resolve_name("snowball:de"), resolve_name("plural")
        ('snowball:german', 'plural')
        >>> resolve_name("porter")
        Traceback (most recent call last):
        mrag.errors.ConfigError: There is no analyser 'porter'. Known: auto, none, plural, snowball:LANG, ...
    """
    if name in ("none", "plural"):
        return name
    language = name.removesuffix(WORDS).removeprefix(_PREFIX)
    if not name.startswith(_PREFIX):
        hint = "Known: auto, none, plural, snowball:LANG, snowball:LANG+words."
        raise ConfigError(f"There is no analyser {name!r}.", hint=hint)
    import snowballstemmer

    language = _LANGUAGES.get(language, language)
    known = snowballstemmer.algorithms()
    check_choice("stemmer of Snowball", language, known)
    return _PREFIX + language + (WORDS if name.endswith(WORDS) else "")


@cache
def release_of(name: str) -> str:
    """Return what else the terms of an analyser depend on: the release of its package, or nothing.

    Example:
        >>> release_of("plural"), release_of("snowball:english").startswith("snowballstemmer 3.")
        ('', True)
    """
    if name in ("none", "plural"):
        return ""
    return "snowballstemmer " + ".".join(version("snowballstemmer").split(".")[:2])


@cache
def stemmer(name: str) -> Callable[[str], str]:
    """Return what reduces a normalised word to its term, fit for threads.

    Example:
        >>> [stemmer("snowball:english")(word) for word in ("locations", "located")]
        ['locat', 'locat']
    """
    name = resolve_name(name)
    if name == "none":
        return str
    if not name.startswith(_PREFIX):
        return s_stem
    import snowballstemmer

    language = name.removeprefix(_PREFIX).removesuffix(WORDS)
    made, lock = snowballstemmer.stemmer(language), threading.Lock()

    @lru_cache(maxsize=1 << 17)
    def stem(word: str) -> str:
        if any(character.isdigit() for character in word):
            return word
        with lock:  # a stemmer of Snowball works in place
            return str(made.stemWord(word))

    return stem


ANALYSIS_VERSION: Final = 2
"""Raised whenever the same text would give other terms: an index of another version is rebuilt."""

_ASCII_WORD = compile_late(r"[a-z0-9]+")
_ACCENT = compile_late("[\u0300-\u036f]+")
# Invisible inside words (soft hyphen, joiners, variation selectors): they would split or double words.
_IGNORABLE = compile_late("[\u00ad\u034f\u200c\u200d\u2060\ufe00-\ufe0f\ufeff]+")
# Letters that Unicode does not decompose, folded the way Lucene's ASCIIFoldingFilter does.
_STROKES = str.maketrans(
    {"æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "ħ": "h", "ı": "i", "ł": "l", "þ": "th", "ŧ": "t"}
)
_HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
# Scripts written without spaces between words, and Hangul, whose particles stick to the words.
_UNSPACED = (
    _HAN + "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uac00-\ud7a3"
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ede\u1000-\u1049\u1050-\u109f\u1780-\u17d3"
)
_IS_HAN = compile_late(f"[{_HAN}]")
_RUN = compile_late(f"[{_UNSPACED}]+|[^{_UNSPACED}]+")
_HAS_UNSPACED = compile_late(f"[{_UNSPACED}]")


@lru_cache(maxsize=1)
def _word() -> re.Pattern[str]:
    # `\w` leaves out combining marks, which would cut Hindi, Tamil or Thai words at every vowel sign.
    # Python's `re` has no \p{M}, and the range holds every such mark outside of musical notation.
    marks = [chr(c) for c in range(0x300, 0x1E000) if unicodedata.category(chr(c)) in ("Mn", "Mc")]
    return re.compile(rf"[\w{''.join(marks)}]+")


@dataclass(frozen=True)
class Analyser:
    """How text becomes terms.

    A text is brought to NFKC and case-folded (Unicode Standard, section 3.13), cut into runs of
    letters, digits and marks (underscores cut, one-character tokens stay), and each token becomes:

    - a run of an unspaced script (Han, kana, Hangul, Thai, Lao, Khmer, Burmese): its character
      bigrams, and for Han each character too, so that a query of one character finds something;
    - any other token: itself, stemmed.

    Stemming needs no look at the stream: `terms` is asked once per distinct token.

    Example:
        >>> analyser = Analyser(name="plural")
        >>> analyser.tokens("Crème brûlée, has_part 2 CHERRIES")
        ['creme', 'brulee', 'has', 'part', '2', 'cherries']
        >>> analyser.terms("cherries"), analyser.terms("glasses"), analyser.terms("glass")
        (('cherry',), ('glass',), ('glass',))
        >>> analyser.terms("東京都")
        ('東', '京', '都', '東京', '京都')
    """

    fold_accents: bool = True  # Take `é` for `e` and `ø` for `o`
    # The stemmer, see `mrag.language.analysis`. `plural` strips English plural endings, of ASCII words only:
    # the S-stemmer (Harman, 1991, How effective is suffixing?, JASIS 42(1)), with the `e` of `boxes`,
    # `potatoes` and `viruses` and the `ie` of `hoodies` brought to one form in singular and plural
    name: str = DEFAULT
    min_chars: int = 1  # Shortest token to keep, in characters

    @property
    def version(self) -> str:
        """What must be the same where terms are compared: an index of another version is rebuilt."""
        return f"{ANALYSIS_VERSION} {release_of(self.name)}".rstrip()

    @property
    def _folds_late(self) -> bool:
        # Endings with accents are endings to Snowball's stemmers.
        return self.fold_accents and self.name.startswith("snowball:")

    def normalise(self, text: str) -> str:
        """Return a text case-folded, composed and, if asked for, without accents.

        These stay until the words are stemmed where Snowball does that, because endings have them.

        Example:
            >>> Analyser(name="plural").normalise("Straße ÉCOLE ｆｕｌｌ")
            'strasse ecole full'
            >>> Analyser(fold_accents=False).normalise("ÉCOLE")
            'école'
        """
        if text.isascii():
            return text.lower()
        folded = unicodedata.normalize("NFKD", _IGNORABLE.sub("", text)).casefold()
        folded = unicodedata.normalize("NFKD", folded)
        if self.fold_accents and not self._folds_late:
            return _strip_accents(folded)
        return unicodedata.normalize("NFKC", folded)

    def tokens(self, text: str) -> list[str]:
        """Cut a text into normalised tokens, in their order, repeated ones too.

        Example:
            >>> Analyser().tokens("Don't panic: 42!")
            ['don', 't', 'panic', '42']
        """
        normal = self.normalise(text)
        plain = normal.isascii()
        words: list[str] = _ASCII_WORD.findall(normal) if plain else _word().findall(normal.replace("_", " "))
        return words if self.min_chars <= 1 else [token for token in words if len(token) >= self.min_chars]

    def terms(self, token: str) -> tuple[str, ...]:
        """Return the index terms of one token of `tokens`: several for a run of an unspaced script.

        Example:
            >>> Analyser(name="plural").terms("shoes"), Analyser(name="none").terms("shoes")
            (('shoe',), ('shoes',))
        """
        if token.isascii() or not _HAS_UNSPACED.search(token):
            return self._word(token)
        terms: list[str] = []
        for run in _RUN.findall(token):
            if not _HAS_UNSPACED.match(run):
                terms.extend(self._word(run))
            elif len(run) == 1:
                terms.append(run)
            else:
                terms.extend(c for c in run if _IS_HAN.match(c))
                terms.extend(run[i : i + 2] for i in range(len(run) - 1))
        return tuple(terms)

    def shown(self, token: str) -> list[tuple[str, str]]:
        """Return the terms of a token, each with the word that a person knows it by.

        Example:
            >>> Analyser(name="snowball:english+words").shown("shoes")
            [('shoe', 'shoes'), ('=shoes', 'shoes')]
        """
        terms = self.terms(token)
        if len(terms) == 1:
            return [(terms[0], token)]
        pairs = []
        for term, after in zip(terms, (*terms[1:], ""), strict=True):
            whole = next((t[1:] for t in (term, after) if t.startswith("=")), term)
            pairs.append((term, whole))
        return pairs

    def _word(self, word: str) -> tuple[str, ...]:
        stem = stemmer(self.name)(word)
        if self._folds_late and not word.isascii():
            stem, word = (_strip_accents(unicodedata.normalize("NFKD", text)) for text in (stem, word))
        # No token holds this mark.
        return (stem, "=" + word) if self.name.endswith(WORDS) else (stem,)


def _strip_accents(decomposed: str) -> str:
    return unicodedata.normalize("NFKC", _ACCENT.sub("", decomposed).translate(_STROKES))
