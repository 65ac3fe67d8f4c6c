"""Names from code, such as `hasEyeColor` and `directed_by`, split into words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from enum import IntEnum
from typing import Final
from urllib.parse import unquote

from mrag._patterns import compile_late
from mrag.language.tokens import TextToken, bare, plain, tokens

_BETWEEN = compile_late(r"(?<=[a-z0-9])(?=[A-Z])|[_\-\s]+")
_WORDS = compile_late(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_WORDY = compile_late(r"[A-Za-z][A-Za-z_\-]{2,}\Z")
_PREFIX = compile_late(r"\A[\w.-]*:(?!//)(?=\w)")
_HUMP = compile_late(r"(?<=[a-z0-9])(?=[A-Z][a-z]|[A-Z]\b)")
_UPPER = "A-ZÀ-ÖØ-Þ"
_PARTS = compile_late(rf"(?<=[^\W\d_{_UPPER}])(?=[{_UPPER}])|(?<=[{_UPPER}])(?=[{_UPPER}][a-zß-ÿ])|[\W_]+")
_LETTERS = compile_late(r"[^\W\d_]{3}|\A[^\W\d_]{2}\Z")
_HASH = compile_late(r"(?=.*\d)[0-9A-Fa-f\-]{8,}\Z")
_PLACE = compile_late(
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


_ENDS: Final = r".,;:!?…)\]}>\"'’”»"
_BEGINNINGS: Final = r"¿¡(\[{<\"'‘’“„«"
_BEHIND: Final = compile_late(rf"(?:['’]s?)?[{_ENDS}]*")
_BEFORE: Final = compile_late(rf"(?<![{_BEGINNINGS}])[{_BEGINNINGS}]*+\Z")
_SIGN: Final = compile_late(rf"[^\w\s{_ENDS}]+(?![^\W_])")


class Likeness(IntEnum):
    """By what a name differs from what was said, the least first."""

    NOTHING = 0
    CASE = 1
    DIACRITICS = 2
    SIGNS = 3
    LETTERS = 4


def likeness(said: str, name: str) -> Likeness:
    """Return by what a name differs from a text.

    Example:
        >>> [likeness("C#", name).name for name in ("C#", "c#", "C++", "D")]
        ['NOTHING', 'CASE', 'SIGNS', 'LETTERS']
        >>> likeness("Prote\u0301ge\u0301", "Protégé").name, likeness("protege", "Protégé").name
        ('NOTHING', 'DIACRITICS')
    """
    one, other = (" ".join(unicodedata.normalize("NFC", text).split()) for text in (said, name))
    if one == other:
        return Likeness.NOTHING
    if one.casefold() == other.casefold():
        return Likeness.CASE
    one, other = bare(one), bare(other)
    if one == other:
        return Likeness.DIACRITICS
    one, other = ("".join(c for c in text if c.isalnum()) for text in (one, other))
    return Likeness.SIGNS if one == other else Likeness.LETTERS


def likeness_at(words: Sequence[TextToken], start: int, end: int, name: str) -> tuple[Likeness, int]:
    """Return by what a name differs from words of a text, and how many signs it has around them, negated.

    Signs that stand at the words and are not in the name are a difference, unless they end a sentence or
    a quotation.

    Example:
        >>> words = tokens("Is the share of A- lower?")
        >>> [likeness_at(words, 4, 5, name)[0].name for name in ("A-", "A", "A+", "a-")]
        ['NOTHING', 'SIGNS', 'SIGNS', 'CASE']
    """
    own = tokens(name)
    if not own:
        return Likeness.LETTERS, 0
    ahead, behind = name[: own[0].start], name[own[-1].end :]
    left = words[start - 1].after if start else words[start].before
    right = words[end - 1].after
    inside = "".join(w.raw + w.after for w in words[start : end - 1]) + words[end - 1].raw
    if not left.endswith(ahead):
        ahead = ""
    if not right.startswith(behind):
        behind = ""
    degree = likeness(ahead + inside + behind, name)
    if degree == Likeness.LETTERS:
        cut = inside.removesuffix(words[end - 1].raw) + plain(words[end - 1].raw)
        degree = likeness(ahead + cut + behind, name)
    left, right = left[: len(left) - len(ahead)], right[len(behind) :]
    if _stands_at(left, right):
        degree = max(degree, Likeness.SIGNS)
    return degree, -len(ahead + behind)


def is_signed(words: Sequence[TextToken], at: int) -> bool:
    """Return whether a sign that ends no sentence stands right behind a word, as in `A-`.

    Example:
        >>> words = tokens("A-, a well-known A+ or A?")
        >>> [is_signed(words, at) for at in range(len(words))]
        [True, False, False, False, True, False, False]
    """
    behind = words[at].after
    open_ended = at == len(words) - 1 or any(c.isspace() for c in behind)
    return open_ended and bool(_SIGN.match(behind))


def _stands_at(left: str, right: str) -> bool:
    """Return whether signs stand at a name that belong to it, not to a sentence or to a quotation."""
    behind = _BEHIND.match(right)
    rest = right[behind.end() :] if behind else right
    before = _BEFORE.search(left)
    rest_left = left[: before.start()] if before else left
    return bool((rest and not rest[0].isspace()) or (rest_left and not rest_left[-1].isspace()))
