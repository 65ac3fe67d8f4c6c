"""Names from code, such as `hasEyeColor` and `directed_by`, split into words."""

from __future__ import annotations

import re
from urllib.parse import unquote

_BETWEEN = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_\-\s]+")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_WORDY = re.compile(r"[A-Za-z][A-Za-z_\-]{2,}\Z")
_PREFIX = re.compile(r"\A[\w.-]*:(?!//)(?=\w)")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z][a-z]|[A-Z]\b)")
_UPPER = "A-ZÀ-ÖØ-Þ"
_PARTS = re.compile(rf"(?<=[^\W\d_{_UPPER}])(?=[{_UPPER}])|(?<=[{_UPPER}])(?=[{_UPPER}][a-zß-ÿ])|[\W_]+")
_LETTERS = re.compile(r"[^\W\d_]{3}|\A[^\W\d_]{2}\Z")
_HASH = re.compile(r"(?=.*\d)[0-9A-Fa-f\-]{8,}\Z")
_PLACE = re.compile(
    r"\A(?:https?|ftp)://[^/#?]*/?\Z|\A(?:mailto|tel|data):|\.(?:jpe?g|png|gif|svg|tiff?|webp|pdf|html?)\Z",
    re.IGNORECASE,
)


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


def is_place(iri: str) -> bool:
    """Return whether an IRI says where something is, not what it is called: a page, a picture, an address.

    Example:
        >>> is_place("http://example.org/"), is_place("http://example.org/Merlot")
        (True, False)
    """
    return _PLACE.search(iri) is not None


def iri_words(iri: str) -> str | None:
    """Return the local name of an entity in words, as they are written; None if it is a mere code.

    Example:
        >>> iri_words("http://example.org/vin#LongridgeMerlot"), iri_words("urn:x:S%C3%A3o_Paulo")
        ('Longridge Merlot', 'São Paulo')
        >>> iri_words("http://www.wikidata.org/entity/Q42"), iri_words("http://example.org/a.png")
        (None, None)
    """
    if is_place(iri):
        return None
    local = unquote(iri.rstrip("/#")).replace("#", "/").rsplit("/", 1)[-1].rsplit(":", 1)[-1]
    digits = sum(c.isdigit() for c in local)
    if _HASH.match(local) or not _LETTERS.search(local) or digits > sum(c.isalpha() for c in local):
        return None
    return " ".join(part for part in _PARTS.split(local) if part)
