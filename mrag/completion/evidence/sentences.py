"""The sentences of a passage: their words, the names in them, and the names that their pronouns stand for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from mrag.completion.names import Span, TextWord, text_of, words_of
from mrag.completion.passages import Passage
from mrag.loaders.snippets import sentence_spans

_PRONOUNS: Final = frozenset(("it", "he", "she", "they", "this", "its", "his", "her", "their"))
_LATER: Final = frozenset(("it", "he", "she", "they", "its", "his", "her", "their", "him", "them"))
_IS: Final = frozenset(("is", "was"))
_OF: Final = frozenset(("of", "for", "from", "by", "in", "on", "with", "to", "at"))
_CLAUSE = re.compile(r";\s+")
_FIELD = re.compile(r"[A-Z][\w ]{1,30}:\s+\S")


@dataclass(frozen=True)
class StandIn:
    """Words that stand for a name said before.

    Attributes:
        span: The words; empty at the beginning where a field of a list has none.
        name: The name.
        before: Where the sentence that has the name begins in the passage.
        first: Whether the name was the first of its sentence; of others it has to be told by what they are.
    """

    span: Span
    name: str
    before: int
    first: bool = True


@dataclass(frozen=True)
class ReadSentence:
    """A sentence, or a clause between semicolons, with its words and the names in it.

    Attributes:
        text: The sentence.
        words: Its words.
        names: Spans of names of the graph, and of what is written like a name.
        stand_ins: What its pronouns may stand for.
        start: Where the sentence begins in the passage.
        end: Where it ends.
    """

    text: str
    words: tuple[TextWord, ...]
    names: tuple[Span, ...]
    stand_ins: tuple[StandIn, ...]
    start: int
    end: int

    def quote(self, passage: Passage, *since: int) -> str:
        """Return the sentence as the passage has it, from where its pronouns have what they stand for."""
        return passage.text[min(self.start, *since) : self.end]

    def between(self, low: int, high: int) -> str:
        """Return what stands between two words: spaces and marks."""
        return self.text[self.words[low].end : self.words[high].start]


def sentences(
    passage: Passage, names: Callable[[str, tuple[TextWord, ...]], tuple[Span, ...]]
) -> Iterator[ReadSentence]:
    """Yield the sentences of a passage.

    Args:
        passage: The passage.
        names: Returns the names among the words of a text.
    """
    said: list[tuple[str, int]] = [(passage.title, 0)] if passage.title else []
    older: list[tuple[str, int]] = []
    last, listed = 0, False
    for start, end in _clauses(passage.text):
        text = passage.text[start:end]
        words = words_of(text)
        if not words:
            continue
        spans = names(text, words)
        if start and passage.text[last:start].count("\n") > 1:
            # A paragraph of its own.
            said, older, listed = ([(passage.title, start)] if passage.title else []), [], False
        field = _FIELD.match(text) is not None
        stand_ins = tuple(_stand_ins(text, words, spans, said, older, field and listed))
        yield ReadSentence(text, words, spans, stand_ins, start, end)
        last, listed = end, field
        firm = stand_ins and stand_ins[0].first
        if not firm or (spans and spans[0].first < stand_ins[0].span.first):
            older = said[:1]
            said = [(text_of(text, words, span), start) for span in spans]


def _clauses(text: str) -> Iterator[tuple[int, int]]:
    """Yield where sentences begin and end, and the clauses between semicolons."""
    for start, end in sentence_spans(text):
        first = start
        for mark in _CLAUSE.finditer(text, start, end):
            if len(words_of(text[first : mark.start()])) > 2 and len(words_of(text[mark.end() : end])) > 2:
                yield first, mark.start()
                first = mark.end()
        yield first, end


def _stand_ins(
    text: str,
    words: Sequence[TextWord],
    names: Sequence[Span],
    said: Sequence[tuple[str, int]],
    older: Sequence[tuple[str, int]],
    listed: bool,
) -> Iterator[StandIn]:
    """Yield what may stand for names of the sentence before, and for the first of the one before that."""
    if not said and not older:
        return
    for number, (span, ahead) in enumerate(_pronouns(words, names, listed)):
        for place, (name, before) in enumerate((*said, *older)):
            yield StandIn(span, name, before, place == number == 0 and bool(said) and not ahead)
            if listed:
                return


def _pronouns(words: Sequence[TextWord], names: Sequence[Span], listed: bool) -> Iterator[tuple[Span, bool]]:
    """Yield what stands for a name, and whether a name of the sentence comes before it."""
    if listed:
        yield Span(0, 0), False
        return
    if _refers(words):
        yield Span(0, 1), False
        return
    taken = {i for span in names for i in range(span.first, span.last)}
    found = [i for i, w in enumerate(words) if i not in taken and w.key in _LATER]
    found = [i for i in found if words[i].key != "it" or i + 1 == len(words) or words[i + 1].key not in _IS]
    if found:
        yield from ((Span(i, i + 1), any(span.first < i for span in names)) for i in found)
    elif (
        len(words) > 2 and words[0].text == "The" and words[1].text.islower() and words[2].key in ("in", "at")
    ):
        yield Span(0, 1), True  # "The house in Rome": if it can be told


def _refers(words: Sequence[TextWord]) -> bool:
    """Return whether a sentence begins with a pronoun, or with "the" and a common noun."""
    if words[0].key in _PRONOUNS:
        return True
    # "The film was", but not "The cast of The Long Road was".
    common = len(words) > 2 and words[0].text in ("The", "the") and words[1].text.islower()
    return common and words[2].key not in _OF
