"""What a sentence says that the lines it is held against do not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rdflib import Literal

from mrag.context.render import Line
from mrag.generation.support.claims import Claim
from mrag.generation.support.mentions import ContextNames, TermMention
from mrag.generation.verbalise import describes
from mrag.text.english import words
from mrag.text.tokens import content, is_stopword, keys, stem, tokens

_ABOUT_ITSELF = words("context question answer fact graph line information")


class Coverage:
    """Looks for what is left uncovered in sentences that answer one question.

    Args:
        lines: All lines of the context.
        names: Their names.
        asked: The question, taken apart.
    """

    def __init__(self, lines: Sequence[Line], names: ContextNames, asked: Claim) -> None:
        self._names = names
        self._asked = asked
        self._asked_keys = {word.key for word in asked.words}
        self._keys = {
            x.id: keys(" | ".join([*x.labels, str(x.triple.o) if isinstance(x.triple.o, Literal) else ""]))
            for x in lines
        }
        self._prose = [
            (line, frozenset(content(str(line.triple.o))))
            for line in lines
            if describes(line) and isinstance(line.triple.o, Literal)
        ]

    def keys_of(self, line: Line) -> tuple[str, ...]:
        """Return the folded words of a line."""
        return self._keys[line.id]

    def from_question(self, mention: TermMention) -> bool:
        """Return whether the question names the same."""
        return bool(mention.terms & self._asked.here) or all(k in self._asked_keys for k in mention.keys)

    def is_common_noun(self, mention: TermMention) -> bool:
        """Return whether a class is named as in "the company Ontotext", without being the point."""
        one_word = len(mention.keys) == 1 or self.from_question(mention)
        return bool(mention.terms & self._names.classes) and one_word

    def open_mentions(self, claim: Claim, lines: Iterable[Line]) -> list[TermMention]:
        """Return the things that a sentence names and that none of the lines has."""
        lines = list(lines)
        covered = {term for line in lines for term in (line.triple.s, line.triple.o)}
        left = []
        for mention in claim.mentions:
            if mention.terms & covered or mention.terms <= self._names.properties:
                continue
            if self.is_common_noun(mention):
                continue
            if any(_within(mention.keys, self._keys[line.id]) for line in lines):
                continue
            left.append(mention)
        return left

    def is_open(self, claim: Claim, lines: Iterable[Line], *, lead: bool = False) -> bool:
        """Return whether the sentence names things, numbers or capitalised names that no line has."""
        lines = list(lines)
        if any(not (lead and self.from_question(m)) for m in self.open_mentions(claim, lines)):
            return True
        known = self._asked_keys.union(*(self._keys[line.id] for line in lines))
        for i in claim.rest:
            word = claim.words[i]
            if word.key in known or is_stopword(word.key) or word.key in _ABOUT_ITSELF:
                continue
            if any(c.isdigit() for c in word.key):
                if word.key == str(claim.counted):
                    continue  # it says how many things it names
                return True
            name = i > 0 and word.raw[0].isupper() and not claim.german and word.raw != "I"
            if name and not claim.starts_quote(word):
                return True
        return self._borrowed(claim, lines)

    def _borrowed(self, claim: Claim, lines: Sequence[Line]) -> bool:
        """Return whether the sentence uses the prose about one thing to describe another."""
        known = {stem(w.raw) for line in lines for w in tokens(f"{line.labels} {line.triple.o}")}
        loose = claim.wording - known - self._asked.wording
        if len(loose) < 3:
            return False
        return any(
            len(loose & prose) >= max(3, 0.6 * len(loose))
            for line, prose in self._prose
            if line not in lines and line.triple.s not in claim.here
        )


def _within(part: tuple[str, ...], whole: tuple[str, ...]) -> bool:
    size = len(part)
    return size > 0 and any(whole[i : i + size] == part for i in range(len(whole) - size + 1))
