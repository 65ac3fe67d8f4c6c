"""A sentence as a dependency parser gives it, apart from any one parser's classes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ParsedWord:
    """A word of a parsed sentence.

    Attributes:
        text: As written, in lower case.
        lemma: Its dictionary form, in lower case.
        tag: Part of speech, a tag of the Penn Treebank.
        dep: What it is to its head, a label of the ClearNLP scheme (`nsubj`, `dobj`, `prep`, …).
        head: Position of the head; its own for the root.
    """

    text: str
    lemma: str
    tag: str
    dep: str
    head: int

    @property
    def noun(self) -> bool:
        """Return whether it is a common or proper noun."""
        return self.tag.startswith("NN")

    @property
    def verb(self) -> bool:
        """Return whether it is a verb, auxiliaries included."""
        return self.tag.startswith("VB")


class ParsedSentence:
    """Words in order, with the children of each.

    Example:
        >>> words = [ParsedWord("two", "two", "CD", "nummod", 1), ParsedWord("dogs", "dog", "NNS", "ROOT", 1)]
        >>> ParsedSentence(words).children(1, "nummod")
        [0]
    """

    def __init__(self, words: Iterable[ParsedWord]) -> None:
        self.words = tuple(words)
        self._children: list[list[int]] = [[] for _ in self.words]
        for at, word in enumerate(self.words):
            if word.head != at:
                self._children[word.head].append(at)

    def __len__(self) -> int:
        return len(self.words)

    def __getitem__(self, at: int) -> ParsedWord:
        return self.words[at]

    def children(self, at: int, *deps: str) -> list[int]:
        """Return the positions of a word's children, in order; with labels, those of these labels."""
        found = self._children[at]
        return [child for child in found if self.words[child].dep in deps] if deps else list(found)
