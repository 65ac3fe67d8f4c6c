"""Foldings by which spellings of one text are equal."""

from __future__ import annotations

import re
import unicodedata

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


def normalised(text: str) -> str:
    """Reduce a name to what spellings of it share: no case, accents, punctuation or spare spaces.

    A name of punctuation alone stays as it is.

    Example:
        >>> normalised("  WebProtégé,  the Editor!"), normalised("$")
        ('webprotege the editor', '$')
    """
    plain = bare(text)
    return " ".join(_WORD.findall(plain)) or " ".join(plain.split())
