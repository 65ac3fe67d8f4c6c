"""Names from code, such as `hasEyeColor` and `directed_by`, split into words."""

from __future__ import annotations

import re

__all__ = ["local_words", "name_parts", "split_identifier"]

_BETWEEN = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_\-\s]+")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_WORDY = re.compile(r"[A-Za-z][A-Za-z_\-]{2,}\Z")
_PREFIX = re.compile(r"\A[\w.-]*:(?!//)(?=\w)")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z][a-z]|[A-Z]\b)")


def name_parts(name: str) -> list[str]:
    """Return the words of a name, as they are written.

    Example:
        >>> name_parts("hasEyeColor"), name_parts("part_of-speech")
        (['has', 'Eye', 'Color'], ['part', 'of', 'speech'])
    """
    return [part for part in _BETWEEN.split(name) if part]


def local_words(name: str) -> str | None:
    """Return the local name of a predicate in words, abbreviations as they are; None if it is a mere code.

    Example:
        >>> local_words("hasRDFType"), local_words("P31")
        ('has RDF type', None)
    """
    if not _WORDY.match(name):
        return None
    return " ".join(w if w.isupper() and len(w) > 1 else w.lower() for w in _WORDS.findall(name))


def split_identifier(label: str) -> str:
    """Return a label in words that is really a name from code: `voc:skinColor`, `directed_by`.

    Example:
        >>> split_identifier("voc:skinColor"), split_identifier("directed_by")
        ('skin color', 'directed by')
    """
    if any(c.isspace() for c in label) or not label:
        return label
    local = _HUMP.sub(" ", _PREFIX.sub("", label).replace("_", " "))
    words = local.split()
    return " ".join(w if w.isupper() and len(w) > 1 else w[:1].lower() + w[1:] for w in words) or label
