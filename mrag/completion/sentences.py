"""Sentences of a passage: words, names, what they assert, and how words stand to names."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Final

from mrag.completion.names import Span, Words, text_of
from mrag.completion.passages import Passage
from mrag.language.tokens import TextToken, is_stopword, sentence_spans, words, words_of

_DATA: Final = tomllib.loads(files(__package__).joinpath("words.toml").read_text("utf-8"))
VERBS: Final[dict[str, str]] = _DATA.pop("verbs")
WORDS: Final = {name: words(text) for name, text in _DATA.items()}
_CLAUSE = re.compile(r";\s+")
_FIELD = re.compile(r"[A-Z][\w ]{1,30}:\s+\S")


@dataclass(frozen=True)
class StandIn:
    """Words that stand for a name said before."""

    span: Span  # The words; empty at the beginning where a field of a list has none
    name: str  # The name
    before: int  # Where the sentence that has the name begins in the passage
    # Whether the name was the first of its sentence; of others it has to be told by what they are
    first: bool = True


@dataclass(frozen=True)
class ReadSentence:
    """A sentence, or a clause between semicolons, with its words and the names in it."""

    text: str  # The sentence
    words: tuple[TextToken, ...]  # Its words
    names: tuple[Span, ...]  # Spans of names of the graph, and of what is written like a name
    stand_ins: tuple[StandIn, ...]  # What its pronouns may stand for
    start: int  # Where the sentence begins in the passage
    end: int  # Where it ends

    def key(self, at: int) -> str:
        """Return the key of a word; empty beyond the ends."""
        return _key(self.words, at)

    def keys(self, first: int, last: int) -> list[str]:
        """Return the keys of some words in a row."""
        return [word.key for word in self.words[max(0, first) : last]]

    def comma(self, at: int) -> bool:
        """Return whether a comma stands behind a word."""
        return "," in self.words[at].after

    def commas(self, first: int, last: int) -> list[int]:
        """Return behind which of some words in a row a comma stands."""
        return [at for at in range(first, last) if self.comma(at)]

    def before_article(self, at: int) -> int:
        """Return the place of the word before a place, articles passed over; less than 0 if there is none."""
        at -= 1
        while at > 0 and self.words[at].key in ("the", "a", "an"):
            at -= 1
        return at


def _key(words: Words, at: int) -> str:
    return words[at].key if 0 <= at < len(words) else ""


def sentences(
    passage: Passage, names: Callable[[str, tuple[TextToken, ...]], tuple[Span, ...]]
) -> Iterator[ReadSentence]:
    """Yield the sentences of a passage, with the names that a function finds among the words of a text."""
    title = [(passage.title, 0)] if passage.title else []
    said, older = title, title[:0]
    last, listed = 0, False
    for start, end in _clauses(passage.text):
        text = passage.text[start:end]
        words = words_of(text)
        if not words:
            continue
        spans = names(text, words)
        if start and passage.text[last:start].count("\n") > 1:
            # A paragraph of its own.
            said, older, listed = [(name, start) for name, _ in title], [], False
        field = _FIELD.match(text) is not None
        stand_ins = tuple(_stand_ins(words, spans, said, older, field and listed))
        yield ReadSentence(text, words, spans, stand_ins, start, end)
        last, listed = end, field
        firm = stand_ins and stand_ins[0].first
        if not firm or (spans and spans[0].first < stand_ins[0].span.first):
            older = said[:1]
            said = [(text_of(words, span), start) for span in spans]


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
    words: Words,
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


def _pronouns(words: Words, names: Sequence[Span], listed: bool) -> Iterator[tuple[Span, bool]]:
    """Yield what stands for a name, and whether a name of the sentence comes before it."""
    common = len(words) > 2 and words[0].raw in ("The", "the") and words[1].raw.islower()
    if listed:
        yield Span(0, 0), False
        return
    # "The film was", but not "The cast of The Long Road was".
    if words[0].key in WORDS["pronouns"] or (common and words[2].key not in WORDS["prepositions"]):
        yield Span(0, 1), False
        return
    taken = {i for span in names for i in range(span.first, span.last)}
    places = [i for i, w in enumerate(words) if i not in taken and w.key in WORDS["later"]]
    places = [i for i in places if words[i].key != "it" or _key(words, i + 1) not in ("is", "was")]
    yield from ((Span(i, i + 1), any(span.first < i for span in names)) for i in places)
    if not places and common and words[0].raw == "The" and words[2].key in ("in", "at"):
        yield Span(0, 1), True  # "The house in Rome": if it can be told


def asserts(sentence: str, names: Sequence[Span] = ()) -> bool:
    """Return whether a sentence states something: no negation, no hedge, no order to whoever reads it.

    Words of the names in it do not count.
    """
    return _is_spoken(sentence) and not _denials(words_of(sentence), names)


@lru_cache(maxsize=10_000)
def beyond(sentence: str, names: tuple[Span, ...]) -> tuple[int, ...]:
    """Return where a sentence denies something, if only a part of it may be denied; empty if not so."""
    words = words_of(sentence)
    places = _denials(words, names) if _is_spoken(sentence) else []
    return () if any(words[at].key in WORDS["meta"] | WORDS["saying"] for at in places) else tuple(places)


def is_closed(sentence: ReadSentence, low: Span, high: Span, denials: Sequence[int]) -> bool:
    """Return whether two names stand in a phrase between commas, and what is denied comes behind it.

    "Moss, written by Ada, was never printed" and "Written by Ada, Moss was never printed" tell who wrote it.
    """
    if min(denials) < high.last:
        return False
    inner = sentence.commas(low.last - 1, high.first)
    after = sentence.commas(high.last - 1, min(denials))
    ahead = bool(inner) and inner[-1] == high.first - 1
    around_one = bool(after) and ahead and after[0] == high.last - 1
    if around_one or (inner and inner[0] == low.last - 1 and after):
        return sentence.words[after[0] + 1].key not in WORDS["turns"]
    return ahead and low.first > 0 and not after


def is_governed(sentence: ReadSentence, low: Span, place: int, says: Callable[[int], bool]) -> bool:
    """Return whether a noun is what another verb is about: "lost the contract for", "applied for a job"."""
    head = low.last
    while head < place and (sentence.key(head).endswith("ly") or sentence.key(head) in WORDS["auxiliaries"]):
        head += 1
    inside, key = set(sentence.keys(head + 1, place)), sentence.key(head)
    if (
        head >= place
        or not inside & WORDS["determiners"]
        or inside & WORDS["resets"]
        or sentence.commas(low.last - 1, place)
    ):
        return False
    verb = key.endswith(("ed", "s")) or key in WORDS["irregular_pasts"]
    return verb and key not in WORDS["carries"] and not says(head)


def _is_spoken(sentence: str) -> bool:
    words = words_of(sentence)
    # Braces and angle brackets are of code and queries, not of statements.
    return "?" not in (words[-1].after if words else sentence) and not set("{}<>") & set(sentence)


def _denials(words: Words, names: Sequence[Span]) -> list[int]:
    taken = {at for span in names for at in range(span.first, span.last)}
    return [at for at in range(len(words)) if at not in taken and _denies(words, at)]


def _denies(words: Words, at: int) -> bool:
    """Return whether a word keeps a sentence from stating something."""
    key, before, after = words[at].key, _key(words, at - 1), _key(words, at + 1)
    if words[at].raw.casefold().endswith(("n't", "n’t")) or key in WORDS["negations"]:
        return True
    if key in WORDS["hedges"]:
        return not _harmless(words, at)
    if key in ("down", "away") and before in ("turned", "turns", "stepped", "steps", "stood"):
        return True
    if key == "used" and after == "to" and before not in ("is", "was", "are", "were", "got", "be"):
        return True
    if key in WORDS["saying"]:
        # "Is said to be", "long thought to be".
        passive = {word.key for word in words[max(0, at - 3) : at]} & {"is", "was", "are", "were", "been"}
        return after in ("that", "on") or (after == "to" and bool(passive)) or _clause_follows(words, at)
    if key in WORDS["due"] and after == "to":
        return _verb_follows(words, at + 2)
    if at == 0 and key in ("let", "had", "were", "suppose", "imagine"):
        return True  # "Let Ada lead it.", "Had Ada led it, ..."
    if key == "to" and before in ("is", "was", "are", "were", "about", "going", "has", "had", "have"):
        return _verb_follows(words, at + 1)
    return key == "according" and after == "to"


def _clause_follows(words: Words, at: int) -> bool:
    """Return whether what is said follows without "that": "Ada says Moss is by Bob"."""
    if at == 0 or words[at].key in ("asked", "asks", "told", "tells") or at + 1 >= len(words):
        return False
    begins = (
        words[at + 1].raw[:1].isupper() or words[at + 1].key in WORDS["no_verbs"] | WORDS["opening_pronouns"]
    )
    return begins and not {word.key for word in words[at + 2 : at + 8]}.isdisjoint(WORDS["being"])


def _verb_follows(words: Words, at: int) -> bool:
    """Return whether a verb may stand behind "to": "is to open", but not "due to the weather"."""
    return at < len(words) and words[at].raw.islower() and words[at].key not in WORDS["no_verbs"]


def _harmless(words: Words, at: int) -> bool:
    """Return whether what may be a hedge is none here: "her will", "please note", "what you see", "May"."""
    key, after = words[at].key, [word.key for word in words[at + 1 : at + 3]]
    if key == "will":
        return _key(words, at - 1) in ("a", "his", "her", "their", "the", "last", "by", "you")
    if key == "you":
        # "There you see": it speaks to the reader of a place, and asks for nothing.
        return bool({"find", "see", "meet"} & set(after))
    if key == "please":
        return after[:1] in (["note"], ["find"]) or after == ["be", "informed"]
    return key == "may" and words[at].raw == "May" and at > 0


def unreal(sentence: ReadSentence, place: int) -> bool:
    """Return whether a verb stands behind "to" and what does not make it happen: "applied to lead"."""
    at = place - 1
    while sentence.key(at) in ("be", "have", "been", "also", "jointly", "personally"):
        at -= 1
    if at < 1 or sentence.key(at) != "to" or set(sentence.keys(0, at)) & {"took", "takes", "spent", "spends"}:
        return False  # "it took Ada nine years to write"
    return not set(sentence.keys(at - 2, at)) & WORDS["real"]


def instructs(sentence: str) -> bool:
    """Return whether a sentence speaks to whoever reads it."""
    return bool({w.key for w in words_of(sentence)} & WORDS["instructions"])


_INVERSE: Final = frozenset(("belong", "flow", "empt"))  # Verbs of which the subject is what is had
_OWNS: Final = ("'s", "’s")


def subject_first(
    sentence: ReadSentence, place: int, key: str, names: Sequence[str], left: Span, right: Span
) -> bool:
    """Return whether the first of two names is the subject of a relation, by the word that says it."""
    called = names[0].casefold().split() if names else []
    last = called[-1] if called else ""
    genitive = last in ("of", "to")
    if sentence.key(place + 1) == "of" and key.removesuffix("+by") not in _INVERSE:
        # "The mother of Bob": what comes behind has the mother.
        return (place < left.first) != genitive
    if left.last <= place and sentence.words[left.last - 1].after.startswith(_OWNS):
        return not genitive
    passive = key.endswith("+by") or key in _INVERSE
    agent_is_object = last == "by" or (not genitive and last.endswith(("er", "or", "ist", "ian")))
    if place < left.first or right.last <= place:
        # Beside both names, such as "Directed by Ada, Moss": as the relation is named.
        return not passive or not agent_is_object
    return passive == agent_is_object


def stative(sentence: ReadSentence, left: Span, right: Span, between: Sequence[int]) -> bool:
    """Return whether a sentence says, of two names alone, how the first is: "Elm focuses on cardiology".

    What happened once is no state: "Elm held a ball in Rome".
    """
    if len(sentence.names) != 2 or len(between) < 2 or left.first > 1:
        return False
    if left.first and sentence.key(0) not in ("the", "a"):
        return False
    low = [sentence.words[i].raw.casefold() for i in between]
    verb = low[0] == "is" or (low[0].endswith("s") and low[0] not in ("was", "has", "does", "as", "s"))
    return verb and not _moving(low) and sentence.key(right.first - 1) in WORDS["states"]


def _moving(words: Sequence[str]) -> bool:
    return any(word.endswith(("ing", "ed")) for word in words)


def beside(sentence: ReadSentence, left: Span, right: Span, between: Sequence[int]) -> bool:
    """Return whether a sentence says in passing how the first of two names is: "Elm, a clinic in Bonn, grew".

    "Elm, in Bonn, grew" and "Elm and Oak are in Bonn" are such, too.
    """
    low = [sentence.words[i].key for i in between]
    if not low or low[-1] not in ("in", "at", "on", "near"):
        return False
    framed = sentence.comma(left.last - 1) and sentence.words[right.last - 1].after[:1] in (",", "")
    if all(word in WORDS["bare"] for word in low[:-1]):
        return bool(set(low) & {"is", "are", "was", "were"}) or (framed and len(low) == 1)
    return framed and low[0] in ("a", "an") and not _moving(low) and len(low) < 6


_GOES: Final = {
    "with": words("lies lie lay rests rested is was are were remains"),
    "to": words("went goes go fell falls given"),
    "from": words("came comes come is was are were"),
}
"""Verbs that a preposition goes with, where both only lead from a noun to a name."""


def list_around(sentence: ReadSentence, place: int) -> list[int]:
    """Return a place and those that are listed with it: "written and directed", "writer-director"."""
    places = [place]
    for step in (-1, 1):
        at = place + step
        while sentence.key(at) in ("and", "co", "also", "both", "or"):
            at += step
        if 0 <= at < len(sentence.words):
            joined = sentence.words[min(place, at)].after in ("-", "/", ", ")
            places += [at] if joined or abs(at - place) > 1 else []
    return places


def another(sentence: ReadSentence, span: Span, says: Callable[[int], bool]) -> bool:
    """Return whether not what a name names is spoken of, but what belongs to it, or happens meanwhile."""
    place = sentence.before_article(span.first)
    key = sentence.key(place)
    if key in WORDS["besides"] | WORDS["while"]:
        return True
    if key in ("of", "to", "from", "for") and sentence.key(place - 1) in WORDS["another"]:
        return not says(place - 1)
    owner = sentence.words[span.last - 1].after.startswith((*_OWNS, "' ", "’ "))
    return owner and sentence.key(span.last) in WORDS["another"] and not says(span.last)


def between_others(sentence: ReadSentence, low: Span, high: Span) -> bool:
    """Return whether what is told of the second of two names is told of another, or of one of several.

    "Moss resembles Fern, which is by Ada" is not of Moss; "by Ada or Bob" leaves it open; "led by Ada until
    1990" is over.
    """
    ends = {span.last for span in sentence.names if span.first >= low.last}
    if any(sentence.key(i) in WORDS["relative"] and i in ends for i in range(low.last, high.first)):
        return True
    if {sentence.key(high.first - 1), sentence.key(high.last)} & {"or", "either"}:
        return True
    past = any(key in ("was", "were") or key.endswith("ed") for key in sentence.keys(low.last, high.first))
    return past and bool(set(sentence.keys(high.last, high.last + 3)) & {"until", "till"})


def leads_elsewhere(sentence: ReadSentence, high: Span, own: frozenset[str]) -> bool:
    """Return whether a preposition that the relation does not have leads to a name: "born near Lund"."""
    away = WORDS["away"] | {"to"} if own & {"in", "at"} else WORDS["away"]
    return sentence.key(sentence.before_article(high.first)) in away - own


def in_fiction(sentence: ReadSentence) -> bool:
    """Return whether a sentence tells what happens in a story: "In the novel Fern, Bob is born in Lund"."""
    story = sentence.key(0) == "in" and not WORDS["stories"].isdisjoint(sentence.keys(1, 4))
    return story and bool(sentence.commas(2, len(sentence.words) - 1))


def qualifies(sentence: ReadSentence, candidate: Span) -> bool:
    """Return whether a name only says where the place before it is: "in Austin, Texas"."""
    place = next((span for span in sentence.names if span.last == candidate.first), None)
    if place is None or not sentence.comma(place.last - 1) or sentence.key(candidate.last) in WORDS["and"]:
        return False
    goes_on = sentence.words[candidate.last - 1].after.lstrip().startswith(",")
    listed = goes_on and any(span.first == candidate.last for span in sentence.names)
    return sentence.key(place.first - 1) in ("in", "at", "near") and not listed


def are_apart(sentence: ReadSentence, between: Sequence[int], after: bool, candidate: Span) -> bool:
    """Return whether a candidate stands in a phrase of its own: "wrote Moss in a small flat in Lyon"."""
    words = sentence.words
    if not after or not between or words[candidate.first].raw[0].isdigit():
        return False
    keys = [words[i].key for i in between]
    if keys[-1] in _GOES and not set(keys) & _GOES[keys[-1]]:
        return True
    telling = (i for i in between if words[i].key not in WORDS["light"] | WORDS["copula"])
    return keys[0] in WORDS["places"] or any(not is_stopword(words[i].raw.casefold()) for i in telling)


def reaches(sentence: ReadSentence, place: int, candidate: Span) -> bool:
    """Return whether a relation word holds for a candidate behind other names: all are listed, or none."""
    ahead = place < candidate.first
    low, high = (place + 1, candidate.first) if ahead else (candidate.last, place)
    names = [span for span in sentence.names if low <= span.first and span.last <= high]
    commas = sentence.commas(low - 1, high)
    if not ahead and low - 1 in commas and len(commas) > 1:
        # "Moss, a film by Ada, was made by Bob": what stands between commas is passed over.
        names = [span for span in names if span.first > commas[-1]]
    if not names:
        return True
    before = sentence.key(candidate.first - 1)
    if ahead and before == "by" and sentence.key(place + 1) != "by":
        return True  # "rendered into English by Ada"
    if ahead and sentence.words[candidate.first].raw[0].isdigit():
        # "Built by Ada in 1950": when it was, behind who did it.
        return len(names) == 1 and before in ("in", "from") and not commas
    start, end = (names[0].last, high) if ahead else (low, names[-1].first)
    inside = {i for span in names for i in range(span.first, span.last)}
    return all(sentence.key(i) in WORDS["and"] for i in range(start, end) if i not in inside)
