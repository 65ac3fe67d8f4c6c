"""What a question names: spans of its words that are names of entities, and spans that look like names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from mrag.completion.names import EntityNames
from mrag.completion.patterns import TermCandidate
from mrag.text.tokens import is_stopword, keys, normalised, stem

_WORD = re.compile(r"\w+")
_LONGEST_MENTION = 16
_ENTITIES = 3
HOLE = "@"
"""What stands in a question in the place of what it names."""

SPAN_FEATURES = ("exact", "cased", "words", "inner", "common", "known", "unlinked")
"""What is measured of a span, in this order."""


@dataclass(frozen=True)
class Mention:
    """A span of a question that may name an entity.

    Attributes:
        start: Where it begins in the question.
        end: Where it ends.
        text: Its words as written.
        entity: What it may name; None where the graph knows no such name.
        features: A number for each of `SPAN_FEATURES`.
    """

    start: int
    end: int
    text: str
    entity: TermCandidate | None
    features: tuple[float, ...]

    def rest(self, question: str) -> str:
        """Return the question with a hole in the place of the span."""
        return f"{question[: self.start]}{HOLE}{question[self.end :]}"


def find_mentions(
    question: str, names: EntityNames, common: frozenset[str], known: frozenset[str] = frozenset()
) -> list[Mention]:
    """Return the spans of a question that may name an entity, in order of place.

    Args:
        question: The question.
        names: The names of the graph.
        common: Stems of words that the graph's relations have, which are seldom meant as names.
        known: Words of questions that were seen before, with what they named left out.

    Example:
        >>> names = EntityNames([("urn:x", "Beau Geste"), ("urn:y", "Genre")])
        >>> found = find_mentions("what genre is Beau Geste in", names, frozenset())
        >>> [(m.text, str(m.entity.term)) for m in found if m.entity]
        [('genre', 'urn:y'), ('Beau Geste', 'urn:x')]
    """
    words = list(_WORD.finditer(question))
    spans = [span for span in _spans(words) if names.has(_key(question, *span))]
    found = []
    for start, end in spans:
        at, text = _as_written(question, start, end, names)
        inner = any((a, b) != (start, end) and a <= start and end <= b for a, b in spans)
        for candidate in names.exact(text)[:_ENTITIES]:
            features = _features(text, at, candidate.score == 1.0, inner, common, known)
            found.append(Mention(at, at + len(text), text, candidate, (*features, 0.0)))
    for start, end in _nameless(question, words, common | known):
        if (start, end) not in spans:
            text = question[start:end]
            inner = any(a <= start and end <= b for a, b in spans)
            features = _features(text, start, False, inner, common, known)
            found.append(Mention(start, end, text, None, (*features, 1.0)))
    return found


def _spans(words: list[re.Match[str]]) -> Iterator[tuple[int, int]]:
    for at in range(len(words)):
        for last in range(at, min(len(words), at + _LONGEST_MENTION)):
            yield words[at].start(), words[last].end()


def _key(question: str, start: int, end: int) -> str:
    return normalised(question[start:end])


def _as_written(question: str, start: int, end: int, names: EntityNames) -> tuple[int, str]:
    """Return a span with the signs around it that belong to a name, as in `Hush!` or `$9.99`."""
    best = start, question[start:end]
    for candidate in names.exact(question[start:end]):
        label = candidate.label
        for at in range(max(0, start - 3), start + 1):
            if question.startswith(label, at) and at + len(label) >= end and len(label) > len(best[1]):
                best = at, label
    return best


def _features(
    text: str, start: int, exact: bool, inner: bool, common: frozenset[str], known: frozenset[str]
) -> tuple[float, ...]:
    words = keys(text) or (text,)
    dull = sum(is_stopword(w) or stem(w) in common for w in words) / len(words)
    old = sum(w.group().casefold() in known for w in _WORD.finditer(text)) / len(words)
    capital = any(c.isupper() or c.isdigit() for c in (text[1:] if start == 0 else text))
    return float(exact), float(capital), min(len(words), 6) / 2, float(inner), dull, min(old, 1.0)


def _nameless(question: str, words: list[re.Match[str]], known: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Yield runs of words that look like a name: capitalised ones, or ones that no question had before."""
    new = [_is_new(word.group(), known) for word in words]
    capital = [_is_capital(word.group(), at) for at, word in enumerate(words)]
    small = [is_stopword(word.group().casefold()) or word.group() == "s" for word in words]
    for begins, joins in ((capital, small), (new, [False] * len(words))):
        at = 0
        while at < len(words):
            last = at
            for here in range(at, len(words) if begins[at] else at):
                if begins[here]:
                    last = here
                elif not joins[here]:
                    break
            if begins[at]:
                yield words[at].start(), words[last].end()
            at = last + 1


def _is_capital(word: str, at: int) -> bool:
    return (word[0].isupper() or word[0].isdigit()) and (at > 0 or not is_stopword(word.casefold()))


def _is_new(word: str, known: frozenset[str]) -> bool:
    return not is_stopword(word.casefold()) and word.casefold() not in known and stem(word) not in known
