"""The sentences of a passage: their words, the names in them, and the names that their pronouns stand for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from mrag.completion.evidence.passages import Passage
from mrag.completion.plan.spans import Span, TextWord, text_of, words_of
from mrag.loaders.snippets import sentence_spans

_PRONOUNS: Final = frozenset(("it", "he", "she", "they", "this", "its", "his", "her", "their"))
_LATER: Final = frozenset(("it", "he", "she", "they", "its", "his", "her", "their", "him", "them"))
_OF: Final = frozenset(("of", "for", "from", "by", "in", "on", "with", "to", "at"))
_CLAUSE = re.compile(r";\s+")
_FIELD = re.compile(r"[A-Z][\w ]{1,30}:\s+\S")


@dataclass(frozen=True)
class StandIn:
    """Words that stand for a name said before.

    Attributes:
        span: The words; empty at the beginning where a field of a list has none.
        name: The name.
        first: Whether the name was the first of its sentence; of others it has to be told by what they are.
    """

    span: Span
    name: str
    first: bool = True


@dataclass(frozen=True)
class ReadSentence:
    """A sentence, or a clause between semicolons, with its words and the names in it.

    Attributes:
        text: The sentence.
        words: Its words.
        names: Spans of names of the graph, and of what is written like a name.
        stand_ins: What its pronouns may stand for.
        before: Where the sentence of the antecedent begins in the passage.
        start: Where the sentence begins there.
        end: Where it ends.
    """

    text: str
    words: tuple[TextWord, ...]
    names: tuple[Span, ...]
    stand_ins: tuple[StandIn, ...]
    before: int
    start: int
    end: int

    def quote(self, passage: Passage, carried: bool) -> str:
        """Return the sentence as the passage has it, with that of the antecedent where it was needed."""
        return passage.text[self.before if carried else self.start : self.end]

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
    subject, others, begins, last, listed = passage.title, list[str](), 0, 0, False
    for start, end in _clauses(passage.text):
        text = passage.text[start:end]
        words = words_of(text)
        if not words:
            continue
        spans = names(text, words)
        if start and passage.text[last:start].count("\n") > 1:
            subject, others, begins, listed = passage.title, [], start, False  # a paragraph of its own
        field = _FIELD.match(text) is not None
        stand_ins = tuple(_stand_ins(text, words, spans, subject, others, field and listed))
        yield ReadSentence(text, words, spans, stand_ins, begins if stand_ins else start, start, end)
        last, listed = end, field
        if not stand_ins or (stand_ins[0].span.first and spans and spans[0].first < stand_ins[0].span.first):
            said = [text_of(text, words, span) for span in spans]
            if said:
                subject, others = said[0], said[1:]
            elif not stand_ins:
                subject, others = "", []
            begins = start if said or not stand_ins else begins


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
    subject: str,
    others: Sequence[str],
    listed: bool,
) -> Iterator[StandIn]:
    if not subject:
        return
    if listed:
        yield StandIn(Span(0, 0), subject)
        return
    if _refers(words):
        yield StandIn(Span(0, 1), subject)
        for name in others:
            yield StandIn(Span(0, 1), name, False)
        return
    taken = {i for span in names for i in range(span.first, span.last)}
    at = next((i for i, w in enumerate(words) if i not in taken and w.key in _LATER), -1)
    if at < 0 or (words[at].key == "it" and at + 1 < len(words) and words[at + 1].key in ("is", "was")):
        return
    ahead = any(span.first < at for span in names)
    for name in (subject, *others):
        yield StandIn(Span(at, at + 1), name, name == subject and not ahead)


def _refers(words: Sequence[TextWord]) -> bool:
    """Return whether a sentence begins with a pronoun, or with "the" and a common noun."""
    if words[0].key in _PRONOUNS:
        return True
    # "The film was", but not "The cast of The Long Road was".
    common = len(words) > 2 and words[0].text in ("The", "the") and words[1].text.islower()
    return common and words[2].key not in _OF
