"""Stemmers and segmenters by name: how one word becomes the terms that an index finds it by.

| name | what it does to a word |
|---|---|
| `none` | nothing |
| `plural` | takes off English plural endings, as the S-stemmer does |
| `snowball:LANG` | stems it by the Snowball stemmer of a language: `snowball:german`, or `snowball:de` |
| `snowball:LANG+words` | the same, with the word as it stands as a second term, which so counts more |
| `icu` | as `plural`; text of scripts without spaces is cut into words, not into bigrams (extra `icu`) |
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from importlib.metadata import version
from importlib.util import find_spec
from itertools import pairwise
from typing import Any, Final

from mrag.errors import ConfigError
from mrag.text.tokens import s_stem

AUTO: Final = "auto"
"""Stands for the analyser of a graph's languages, see `by_languages`."""

DEFAULT: Final = "plural"
"""Of English: no other is better on all collections of `docs/evaluation.md`, and it tells names apart."""

WORDS: Final = "+words"
"""Ends the name of an analyser that keeps words beside their stems."""

_PREFIX: Final = "snowball:"
_LANGUAGES: Final = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek",
    "en": "english", "eo": "esperanto", "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian",
    "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian",
    "id": "indonesian", "it": "italian", "lt": "lithuanian", "nb": "norwegian", "ne": "nepali", "nl": "dutch",
    "nn": "norwegian", "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian",
    "ru": "russian", "sr": "serbian", "st": "sesotho", "sv": "swedish", "ta": "tamil", "tr": "turkish",
    "yi": "yiddish",
}  # fmt: skip


def by_languages(languages: Sequence[str]) -> str:
    """Return the analyser for texts in some languages: that of the first which has one.

    Args:
        languages: Language tags, best first; `mul` and the empty tag say nothing.

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


def checked(name: str) -> str:
    """Return the full name of an analyser that can be used here.

    Raises:
        ConfigError: If there is none of that name, or its package is not installed.

    Example:
        >>> checked("snowball:de"), checked("plural")
        ('snowball:german', 'plural')
        >>> checked("porter")
        Traceback (most recent call last):
        mrag.errors.ConfigError: There is no analyser 'porter'. Known: auto, none, plural, snowball:LANG, ...
    """
    if name in ("none", "plural"):
        return name
    if name == "icu":
        if find_spec("icu") is None:
            raise ConfigError("PyICU is not installed.", hint="pip install 'mrag[icu]'")
        return name
    language = name.removesuffix(WORDS).removeprefix(_PREFIX)
    if not name.startswith(_PREFIX):
        hint = "Known: auto, none, plural, snowball:LANG, snowball:LANG+words, icu."
        raise ConfigError(f"There is no analyser {name!r}.", hint=hint)
    import snowballstemmer

    language = _LANGUAGES.get(language, language)
    known = snowballstemmer.algorithms()
    if language not in known:
        raise ConfigError(f"Snowball has no stemmer {language!r}.", hint=f"It has: {', '.join(known)}.")
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
    if name == "icu":
        import icu

        return f"ICU {icu.ICU_VERSION}"
    return "snowballstemmer " + ".".join(version("snowballstemmer").split(".")[:2])


@cache
def stemmer(name: str) -> Callable[[str], str]:
    """Return what reduces a normalised word to its term, fit for threads.

    Raises:
        ConfigError: As `checked` does.

    Example:
        >>> [stemmer("snowball:english")(word) for word in ("locations", "located")]
        ['locat', 'locat']
    """
    name = checked(name)
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


@cache
def segmenter(name: str) -> Callable[[str], list[str]] | None:
    """Return what cuts a run of letters of a script without spaces into words; None for bigrams.

    Raises:
        ConfigError: As `checked` does.
    """
    if checked(name) != "icu":
        return None
    import icu

    breaks, lock = icu.BreakIterator.createWordInstance(icu.Locale.getRoot()), threading.Lock()

    def cut(run: str) -> list[str]:
        with lock:  # an iterator holds its text
            text: Any = icu.UnicodeString(run)
            breaks.setText(text)
            ends = [0, *breaks]
        return [str(text[a:b]) for a, b in pairwise(ends)]

    return cut
