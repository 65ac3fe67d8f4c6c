"""Names in a text: where a known one stands as a name of its own, and what else looks like one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from mrag.completion.plan.names import EntityNames
from mrag.text.tokens import is_stopword, normalised

_WORD = re.compile(r"\w+(?:['’]\w+)*")
_QUOTED = re.compile(r"[\"“„«]([^\"“”„«»\n]{1,80})[\"”“»]")
_LONGEST: Final = 12
_JOINS: Final = frozenset(
    ("of", "the", "de", "da", "di", "del", "della", "der", "den", "du", "la", "le", "van", "von", "y", "el",
     "al", "bin", "ten", "ter")
)  # fmt: skip
_OPENINGS: Final = frozenset(
    ("since", "until", "after", "before", "during", "around", "between", "among", "within", "under", "near",
     "through", "throughout", "despite", "although", "though", "because", "every", "each", "another", "once",
     "only", "even", "both", "many", "several", "today", "now", "later", "then", "here", "there")
)  # fmt: skip
"""Words that begin a sentence and no name, with those of no meaning."""
_ROMAN = re.compile(r"(?:\d+|[IVX]+)\Z")


@dataclass(frozen=True, slots=True)
class TextWord:
    """A word of a text: as written, normalised, and where it stands."""

    text: str
    key: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Span:
    """Some words in a row, as `words[first:last]`."""

    first: int
    last: int

    def overlaps(self, other: Span) -> bool:
        """Return whether two spans share a word."""
        return self.first < other.last and other.first < self.last


@lru_cache(maxsize=20_000)
def words_of(text: str) -> tuple[TextWord, ...]:
    """Return the words of a text; a possessive ending is no part of a word.

    Example:
        >>> [w.key for w in words_of("Ada Hill's Café, 1901")]
        ['ada', 'hill', 'cafe', '1901']
    """
    found = []
    for match in _WORD.finditer(text):
        word, end = match.group(), match.end()
        if word[-2:] in ("'s", "’s") and len(word) > 2:
            word, end = word[:-2], end - 2
        found.append(TextWord(word, normalised(word), match.start(), end))
    return tuple(found)


@lru_cache(maxsize=50_000)
def key_of(name: str) -> tuple[str, ...]:
    """Return the normalised words of a name."""
    return tuple(w.key for w in words_of(name))


def mentioned(text: str, names: Iterable[Sequence[str]]) -> bool:
    """Return whether a text has one of each group of names, word by word.

    Example:
        >>> mentioned("Ada Hill was born in Lund.", [["A. Hill", "ada hill"], ["Lund"]])
        True
        >>> mentioned("Adam Hill was born in Lund.", [["Ada Hill"]])
        False
    """
    keys = [w.key for w in words_of(text)]
    return all(any(_places(keys, key_of(name)) for name in group) for group in names)


def find(text: str, words: Sequence[TextWord], name: str, known: EntityNames | None = None) -> list[Span]:
    """Return where a name stands in a text as a name of its own, not as a part of a longer one.

    Args:
        text: The text.
        words: Its words.
        name: The name.
        known: Names of the graph, longer ones of which a name may be a part.

    Example:
        >>> text = "The Hunt 2 is not The Hunt, nor is it “The Hunt”."
        >>> [text[words_of(text)[s.first].start :][:10] for s in find(text, words_of(text), "The Hunt")]
        ['The Hunt, ', 'The Hunt”.']
    """
    key = key_of(name)
    spans = (Span(at, at + len(key)) for at in _places([w.key for w in words], key))
    return [span for span in spans if _alone(text, words, span, known)]


def known_names(
    text: str, words: Sequence[TextWord], known: EntityNames, skip: frozenset[str] = frozenset()
) -> list[Span]:
    """Return the longest names of the graph in a text, none within another, in order of place.

    What is written in small letters throughout is no name unless it stands in quotes: graphs name many
    common things.

    Args:
        text: The text.
        words: Its words.
        known: The names.
        skip: Normalised names that are passed over, such as those of relations.
    """
    found: list[Span] = []
    at = 0
    quoted = [match.span(1) for match in _QUOTED.finditer(text)]
    while at < len(words):
        length = next(
            (
                n
                for n in range(min(_LONGEST, len(words) - at), 0, -1)
                if _is_name(text, words, at, n, known, skip)
            ),
            0,
        )
        if length:
            start, end = words[at].start, words[at + length - 1].end
            if not text[start:end].islower() or any(a <= start and end <= b for a, b in quoted):
                found.append(Span(at, at + length))
            else:
                length = 1
        at += length or 1
    return found


def _is_name(
    text: str, words: Sequence[TextWord], at: int, length: int, known: EntityNames, skip: frozenset[str]
) -> bool:
    key = normalised(text[words[at].start : words[at + length - 1].end])
    if key in skip or not known.has(key):
        return False
    if length == 1 and is_stopword(words[at].text.casefold()):
        return False
    return _joined(text, words, at, length)


def names_by_spelling(text: str, words: Sequence[TextWord]) -> Iterator[Span]:
    """Yield what looks like a name by how it is written: capitals, quotes, numbers.

    Example:
        >>> text = 'In 1994 Rolf de Heer made "bad boys" there.'
        >>> words = words_of(text)
        >>> [" ".join(w.text for w in words[s.first : s.last]) for s in names_by_spelling(text, words)]
        ['bad boys', '1994', 'Rolf de Heer']
    """
    taken: list[Span] = []
    for match in _QUOTED.finditer(text):
        inside = [i for i, w in enumerate(words) if w.start >= match.start(1) and w.end <= match.end(1)]
        if inside:
            span = Span(inside[0], inside[-1] + 1)
            taken.append(span)
            yield span
    at = 0
    while at < len(words):
        last = _run(text, words, at)
        span = Span(at, max(last, at + 1))
        # One word that begins a sentence has its capital from there.
        alone = last == at + 1 and _starts(text, words, at) and not words[at].text[0].isdigit()
        if last > at and not alone and not any(span.overlaps(other) for other in taken):
            yield span
        at = span.last


def all_names(
    text: str,
    words: Sequence[TextWord],
    known: EntityNames,
    skip: frozenset[str] = frozenset(),
    few: frozenset[str] = frozenset(),
) -> tuple[Span, ...]:
    """Return what stands for a name in a text, known or not, without overlaps, in order of place.

    Longer ones come first, and known names of several words before what is only written like a name.

    Args:
        text: The text.
        words: Its words.
        known: The names.
        skip: Normalised names that are passed over.
        few: Normalised names that count in small letters too.
    """
    there = known_names(text, words, known, skip)
    small = [
        Span(at, at + n)
        for n in (1, 2, 3)
        for at in range(len(words) - n + 1 if few else 0)
        if normalised(text[words[at].start : words[at + n - 1].end]) in few
    ]
    firm = {span for span in (*there, *small) if span.last - span.first > 1}
    every = {*there, *small, *names_by_spelling(text, words)}
    kept: list[Span] = []
    for span in sorted(every, key=lambda s: (s not in firm, s.first - s.last, s.first)):
        if not any(span.overlaps(other) for other in kept):
            kept.append(span)
    return tuple(sorted(kept, key=lambda s: s.first))


def text_of(text: str, words: Sequence[TextWord], span: Span) -> str:
    """Return the words of a span as they are written; initials keep their full stop."""
    start, end = words[span.first].start, words[span.last - 1].end
    return text[start:end]


def _run(text: str, words: Sequence[TextWord], at: int) -> int:
    """Return where a run of capitalised words ends; the same place where none begins."""
    first = words[at].text
    if first[0].isdigit():
        return at + 1
    opens = is_stopword(first.casefold()) or first.casefold() in _OPENINGS
    if not first[0].isupper() or (opens and _starts(text, words, at)):
        return at
    last = at + 1
    here = last
    while here < len(words) and _close(text, words, here):
        word = words[here].text
        if word[0].isupper() or (word[0].isdigit() and here == last):
            last = here + 1
        elif word.casefold() not in _JOINS:
            break
        here += 1
    return last


def _starts(text: str, words: Sequence[TextWord], at: int) -> bool:
    """Return whether a word begins a sentence, or what a colon leads to."""
    return at == 0 or text[words[at - 1].end : words[at].start].strip()[:1] in tuple(".!?:#")


def _close(text: str, words: Sequence[TextWord], at: int) -> bool:
    between = text[words[at - 1].end : words[at].start]
    initial = between == ". " and len(words[at - 1].text) <= 2 and words[at - 1].text[0].isupper()
    return between in (" ", "-", ": ", "’", "'", ".", "'s ", "’s ", ".: ") or initial


def _joined(text: str, words: Sequence[TextWord], at: int, length: int) -> bool:
    """Return whether no sentence ends within some words, apart from behind initials."""
    for here in range(at + 1, at + length):
        between = text[words[here - 1].end : words[here].start]
        if "\n\n" in between or (between.strip() == "." and len(words[here - 1].text) > 3):
            return False
    return True


def _alone(text: str, words: Sequence[TextWord], span: Span, known: EntityNames | None) -> bool:
    if known is not None:
        for first in range(max(0, span.first - 5), span.first + 1):
            for last in range(span.last, min(len(words), span.last + 6) + 1):
                wider = last - first > span.last - span.first
                key = normalised(text[words[first].start : words[last - 1].end]) if wider else ""
                whole = wider and known.has(key) and _joined(text, words, first, last - first)
                if whole and _capitals(words[first:last], words[span.first : span.last]):
                    return False
    if span.last < len(words) and text[words[span.last - 1].end : words[span.last].start] in (" ", "-"):
        after = words[span.last].text
        if _ROMAN.match(after) or (after[0].isupper() and not is_stopword(after.casefold())):
            return False
    if span.first and text[words[span.first - 1].end : words[span.first].start] in (" ", "-"):
        before, at = words[span.first - 1].text, span.first - 1
        if before[0].isupper() and not _starts(text, words, at) and not is_stopword(before.casefold()):
            return False
    return True


def _capitals(wider: Sequence[TextWord], inner: Sequence[TextWord]) -> bool:
    """Return whether a wider name is written as one: capitals, as far as the inner one has them."""
    if not any(w.text[0].isupper() for w in inner):
        return True
    return wider[0].text[0].isupper() and (wider[-1].text[0].isupper() or wider[-1].text[0].isdigit())


def _places(keys: Sequence[str], name: tuple[str, ...]) -> list[int]:
    size = len(name)
    if not size:
        return []
    return [at for at in range(len(keys) - size + 1) if tuple(keys[at : at + size]) == name]
