"""Names of entities and values in a question: as they stand, inflected, in part, misspelt or abbreviated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log2
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from mrag.planning.lexical.candidates import Candidate, Way
from mrag.planning.lexical.gathering import NamedThings
from mrag.planning.lexical.places import other_names
from mrag.planning.lexical.spelling import distance, edits_allowed
from mrag.planning.lexical.synonyms import is_everyday
from mrag.planning.lexical.words import is_empty, is_title, root
from mrag.text.tokens import TextToken, bare, keys, tokens

Span: TypeAlias = tuple[int, int]
NameRows: TypeAlias = npt.NDArray[np.uint32]

SPAN: Final = 8
"""Most words of one mention."""

_PLACE: Final = 6
_CROWD: Final = 60
_ADJECTIVES: Final = ("ful", "al", "ive", "ic", "ous", "ly")
_HALF: Final = 0.5
_CORRECTIONS: Final = 8
_LEAST: Final = 3


class NameMatcher:
    """Finds names in questions.

    Args:
        things: The names.
    """

    def __init__(self, things: NamedThings) -> None:
        self.things = things
        self.table = things.table

    def candidates(
        self, words: Sequence[TextToken], spans: Sequence[Span]
    ) -> Iterator[tuple[Span, Candidate]]:
        """Yield what spans of a question may name, the same thing perhaps more than once.

        Args:
            words: The words of the question.
            spans: The spans whose whole may be a name; parts of names are sought everywhere.
        """
        if not len(self.table):
            return
        yield from self._wholes(words, spans)
        yield from self._places(words, spans)
        stems = [root(word.raw) for word in words]
        numbers = [
            None if _is_glue(word) else self.table.stem_number(s)
            for word, s in zip(words, stems, strict=True)
        ]
        for span, rows in self._parts(words, numbers):
            yield from self._partly(words, stems, span, rows, "tokens", 1.0)
        yield from self._adjectives(words, numbers)
        yield from self._misspelt(words, stems, numbers)

    def _wholes(self, words: Sequence[TextToken], spans: Sequence[Span]) -> Iterator[tuple[Span, Candidate]]:
        keys = ["".join(word.key for word in words[i:j]) for i, j in spans]
        stems = [" ".join(root(word.raw) for word in words[i:j]) for i, j in spans]
        for span, rows in zip(spans, self.table.named(keys), strict=True):
            size = span[1] - span[0]
            for row in rows[:_CROWD].tolist():
                equal = size == 1 or len(tokens(self.table.texts[row])) == size
                yield span, self._candidate(row, 1.0 if equal else 0.97, "exact")
        for span, rows in zip(spans, self.table.named_by_stems(stems), strict=True):
            for row in rows[:_CROWD].tolist():
                yield span, self._candidate(row, 0.95, "inflected")
        single = [(i, j) for i, j in spans if j - i == 1 and _is_acronym(words[i])]
        found = self.table.abbreviated([words[i].key for i, _ in single])
        for span, rows in zip(single, found, strict=True):
            if 0 < len(rows) <= _CROWD:
                score = 0.75 if words[span[0]].raw.isupper() else 0.6
                for row in rows.tolist():
                    yield span, self._candidate(row, round(score / (1 + 0.2 * log2(len(rows))), 4), "tokens")

    def _places(self, words: Sequence[TextToken], spans: Sequence[Span]) -> Iterator[tuple[Span, Candidate]]:
        """Yield the graph's own names of countries and states, however they are called."""
        for i, j in spans:
            said = [word.raw for word in words[i:j]]
            if j - i > _PLACE or not (others := other_names(" ".join(said), capital="".join(said).isupper())):
                continue
            for rank, rows in enumerate(self.table.named(["".join(keys(name)) for name in others])):
                for row in rows[:_CROWD].tolist():
                    # A code of two letters is one only in capitals: `IN` is not `in`.
                    if len(others[rank]) > 3 or self.table.texts[row] == others[rank]:
                        yield (i, j), self._candidate(row, max(0.6, 0.88 - 0.02 * rank), "synonym")

    def _parts(
        self, words: Sequence[TextToken], numbers: Sequence[int | None]
    ) -> Iterator[tuple[Span, NameRows]]:
        """Yield spans with the names that have all of their words, where these are few."""
        for i in range(len(words)):
            rows: NameRows | None = None
            for j in range(i, min(len(words), i + SPAN)):
                number = numbers[j]
                if number is None:
                    if i < j and _is_glue(words[j]):
                        continue
                    break
                having = self.table.with_stem(number)
                rows = having if rows is None else _common(rows, having)
                if not len(rows):
                    break
                if len(rows) <= _CROWD:
                    yield (_with_titles(words, i), j + 1), rows

    def _adjectives(
        self, words: Sequence[TextToken], numbers: Sequence[int | None]
    ) -> Iterator[tuple[Span, Candidate]]:
        """Yield the names that an adjective is made of: "successful" says that the status is "success"."""
        for at, word in enumerate(words):
            if numbers[at] is not None or _is_glue(word) or is_everyday(word.key):
                continue
            for ending in _ADJECTIVES:
                base = word.key.removesuffix(ending)
                if base == word.key or len(base) < 2 + _LEAST:
                    continue
                for rows in self.table.named([base, base + "e", base + "y"]):
                    for row in rows[:_CROWD].tolist():
                        yield (at, at + 1), self._candidate(row, 0.85, "inflected")

    def _misspelt(
        self, words: Sequence[TextToken], stems: Sequence[str], numbers: Sequence[int | None]
    ) -> Iterator[tuple[Span, Candidate]]:
        for i, word in enumerate(words):
            if _is_glue(word) or is_everyday(word.key):
                continue
            for number, away in self._corrections(word, numbers[i] is not None):
                rows = self.table.with_stem(number)
                spans = list(self._around(words, numbers, i, rows))
                if numbers[i] is None and len(word.key) > _LEAST and len(rows) <= _CROWD:
                    spans.append(((i, i + 1), rows))
                for span, some in spans:
                    said = {*stems[span[0] : i], *stems[i + 1 : span[1]]}
                    yield from self._partly(words, said, span, some, "spelling", 0.96 - 0.08 * away, number)

    def _around(
        self, words: Sequence[TextToken], numbers: Sequence[int | None], at: int, rows: NameRows
    ) -> Iterator[tuple[Span, NameRows]]:
        """Yield wider and wider spans around a corrected word, with the names that have all their words."""
        start, end = at, at + 1
        for step in (-1, 1):
            here = at + step
            while 0 <= here < len(words) and abs(here - at) < SPAN:
                number = numbers[here]
                if number is not None:
                    fewer = _common(rows, self.table.with_stem(number))
                    if not len(fewer):
                        break
                    rows, start, end = fewer, min(start, here), max(end, here + 1)
                    if len(rows) <= _CROWD:
                        yield (_with_titles(words, start), end), rows
                elif not _is_glue(words[here]):
                    break
                here += step

    def _corrections(self, word: TextToken, known: bool) -> list[tuple[int, int]]:
        """Return stems of words spelt nearly so, with the edits between, fewest first."""
        written = bare(word.raw)
        # A word of four letters may have lost one.
        edits = 1 if len(written) == _LEAST else edits_allowed(written)
        for most in range(1, 1 + (min(1, edits) if known else edits)):
            # Two edits and another first letter are seldom the same word.
            if found := self._within(written, most, "" if most == 1 else written[0]):
                return sorted(found.items(), key=lambda pair: (pair[1], pair[0]))[:_CORRECTIONS]
        return []

    def _within(self, written: str, most: int, first: str) -> dict[int, int]:
        size = len(written.encode())
        near = self.table.spelling.near(written, most)
        best: dict[int, int] = {}
        for at in self.table.words_of_size(near, size, most if written.isascii() else 3 * most):
            other = self.table.words[at]
            if (
                edits_allowed(other) >= most
                and other.startswith(first)
                and 0 < (away := distance(written, other, most)) <= most
            ):
                number = int(self.table.word_stems[at])
                best[number] = min(away, best.get(number, away))
        return best

    def _partly(
        self,
        words: Sequence[TextToken],
        stems: Sequence[str] | set[str],
        span: Span,
        rows: NameRows,
        way: Way,
        factor: float,
        corrected: int | None = None,
    ) -> Iterator[tuple[Span, Candidate]]:
        said = set(stems) if isinstance(stems, set) else set(stems[span[0] : span[1]])
        letters = {w.key for w in words[span[0] : span[1]] if len(w.key) == 1 and w.key.isalpha()}
        crowd = len({self.table.texts[row] for row in rows.tolist()})
        for row in rows.tolist():
            weights = self.table.weights(row)
            whole = sum(weight for _, _, weight in weights) or 1.0
            share = sum(weight for s, number, weight in weights if s in said or number == corrected) / whole
            if share < _HALF and int(self.table.owners[row]) >= self.things.entities:
                continue  # a few words of a text are not its value
            rest = [s for s, _, _ in weights if s not in said]
            # What few names have in common tells them apart, what many have does not.
            score = (0.55 if crowd == 1 or share > 0.99 else 0.5 / (1 + 0.35 * log2(crowd))) + 0.35 * share
            if letters:
                fits = all(
                    any(s.startswith(letter) for s in rest) or letter in said - letters for letter in letters
                )
                score = min(0.9, score + 0.1) if fits else score * 0.7
            yield span, self._candidate(row, round(score * factor, 4), way)

    def _candidate(self, row: int, score: float, way: Way) -> Candidate:
        return self.things.candidate(int(self.table.owners[row]), self.table.texts[row], score, way)


def _common(some: NameRows, others: NameRows) -> NameRows:
    """Return the numbers in both of two ascending arrays."""
    few, many = (some, others) if len(some) <= len(others) else (others, some)
    at = np.searchsorted(many, few)
    at[at == len(many)] = 0
    return few[many[at] == few] if len(many) else few[:0]


def _is_glue(word: TextToken) -> bool:
    """Return whether a word tells no names apart: a function word, a title, an initial."""
    return is_empty(word.key) or is_title(word.key) or (len(word.key) == 1 and word.key.isalpha())


def _is_acronym(word: TextToken) -> bool:
    letters = len(word.key)
    return 2 <= letters <= 8 and word.key.isalpha() and (word.raw.isupper() or letters > 2)


def _with_titles(words: Sequence[TextToken], start: int) -> int:
    """Return where the titles and initials before a name begin."""
    while start and (is_title(words[start - 1].key) or _is_initial(words, start - 1)):
        start -= 1
    return start


def _is_initial(words: Sequence[TextToken], at: int) -> bool:
    # A capital `A` that begins a question is an article.
    return len(words[at].raw) == 1 and words[at].raw.isupper() and (at > 0 or not is_empty(words[at].key))
