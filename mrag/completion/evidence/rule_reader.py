"""A reader without a language model: names, relation words and their order in a sentence.

A sentence is evidence where it states something, names what is known of the triple as a name of its own, has
a word that says the relation (`relation_words`), nearer to a candidate than any word of another
relation, and the candidate may stand in the unknown place. What it does not see: statements over several
sentences (beyond a pronoun whose antecedent is the first name of the sentence before), figures of speech,
and relations that the corpus says in words which neither their names nor known facts teach.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rdflib import URIRef

from mrag.completion.evidence.asserting import asserts, beyond, closed, governed, unreal
from mrag.completion.evidence.direction import beside, stative, subject_first
from mrag.completion.evidence.passages import Passage
from mrag.completion.evidence.phrases import (
    AND,
    COPULA,
    ELSE,
    LIGHT,
    OF,
    PARTICIPLES,
    acting,
    apart,
    listed,
    reaches,
)
from mrag.completion.evidence.reading import Extraction, Place, SoughtTriple
from mrag.completion.evidence.relation_words import RelationWords, around
from mrag.completion.evidence.sentences import Sentence, StandIn, sentences
from mrag.completion.plan.names import EntityNames
from mrag.completion.plan.relations import Relations
from mrag.completion.plan.roles import End, PropertyEnds
from mrag.completion.plan.spans import Span, TextWord, all_names, find, key_of, text_of, words_of
from mrag.graph.kg import KnowledgeGraph
from mrag.text.folding import normalised

_FAR: Final = 25


@dataclass(frozen=True)
class _Said:
    """A relation as a word of a sentence says it: how surely, by which key, and where."""

    sure: float
    key: str
    place: int


class RuleReader:
    """Reads without a language model.

    Args:
        corpus: Passages that teach how relations are said; those of the evidence.
        new_names: Whether names that the graph does not know may fill a place.
    """

    name = "plain reader"

    def __init__(self, corpus: Sequence[Passage] = (), *, new_names: bool = True) -> None:
        self.corpus = tuple(corpus)
        self.new_names = new_names

    def read(self, kg: KnowledgeGraph, sought: SoughtTriple, passages: Sequence[Passage]) -> list[Extraction]:
        """Return what the passages say, in their order."""
        task = _Reading(kg, sought, RelationWords.of(kg, self.corpus), self.new_names)
        return [finding for passage in passages for finding in task.passage(passage)]


class _Reading:
    def __init__(
        self, kg: KnowledgeGraph, sought: SoughtTriple, relation_words: RelationWords, new_names: bool
    ) -> None:
        self.sought = sought
        self.relation_words = relation_words
        self.new_names = new_names
        self.names = EntityNames.of(kg)
        self.roles = PropertyEnds.of(kg)
        self.said_as = {str(r.iri): r.names for r in Relations.of(kg).all}
        self.predicate = str(sought.triple.predicate)
        self.may: dict[tuple[str, str, str], bool] = {}
        place = sought.place
        # Values of which there are few, such as genres, are known in small letters too.
        self.few = frozenset() if place == "predicate" else self.roles.few(place, self.predicate)

    def passage(self, passage: Passage) -> Iterator[Extraction]:
        for sentence in sentences(passage, self._names):
            if not asserts(sentence.text, sentence.names) and not beyond(sentence.text, sentence.names):
                continue
            if self.sought.place == "predicate":
                yield from self._relations(passage, sentence)
            else:
                yield from self._values(passage, sentence)

    # -- one value unknown -------------------------------------------------------------------------

    def _values(self, passage: Passage, sentence: Sentence) -> Iterator[Extraction]:
        place = self.sought.place
        known: Place = "object" if place == "subject" else "subject"
        for at, sure in self._known(sentence, self.sought.names[known]):
            for candidate, text, surely in self._candidates(sentence, at):
                best = self._says(sentence, at, candidate, text).get(self.predicate)
                if best is None or not self._order(sentence, best, known == "subject", at, candidate):
                    continue
                term, fit = self._fits("object" if place == "object" else "subject", text)
                if fit and (term is not None or not self._beside(sentence, candidate)):
                    certain = sure * surely
                    quote = sentence.quote(passage, certain < 1)
                    yield Extraction(place, text, passage, quote, round(best.sure * certain * fit, 4), term)

    def _candidates(self, sentence: Sentence, at: Span) -> Iterator[tuple[Span, str, float]]:
        """Yield what may be the value beside what is known, as it is named, and how surely it is meant."""
        for span in sentence.names:
            if not span.overlaps(at):
                yield span, text_of(sentence.text, sentence.words, span), 1.0
        for one in sentence.stand_ins:
            if one.first and one.span != at:
                yield one.span, one.name, 0.9

    def _beside(self, sentence: Sentence, candidate: Span) -> bool:
        """Return whether a preposition makes a candidate something else: "translated into English"."""
        before = sentence.words[candidate.first - 1].key if candidate.first else ""
        own = {word.key for name in self.said_as.get(self.predicate, ()) for word in words_of(name)}
        return before in ELSE - own

    def _fits(self, end: End, text: str) -> tuple[URIRef | None, float]:
        """Return what a candidate means, and how well that goes with the unknown place; 0 if not at all."""
        meant = [URIRef(str(c.term)) for c in self.names.exact(text)]
        self.roles.learn(end, [self.predicate], map(str, meant))
        there = [e for e in meant if self.roles.has(end, self.predicate, str(e))]
        if there:
            return (there[0], 1.0) if len(there) == 1 else (None, 0.0)
        if not self.roles.shape(end, self.predicate).fits(text):
            return None, 0.0
        if meant:
            alike = len(meant) == 1 and self.roles.alike(end, self.predicate, str(meant[0]))
            return (meant[0], 0.85) if alike else (None, 0.0)
        return (None, 0.85) if self.new_names else (None, 0.0)

    # -- the relation unknown ----------------------------------------------------------------------

    def _relations(self, passage: Passage, sentence: Sentence) -> Iterator[Extraction]:
        names = self.sought.names
        for s, sure in self._known(sentence, names["subject"]):
            for o, surer in self._known(sentence, names["object"]):
                if s.overlaps(o):
                    continue
                for relation, said in sorted(self._says(sentence, s, o, "").items()):
                    self.predicate = relation
                    if self._order(sentence, said, True, s, o):
                        confidence = round(said.sure * min(sure, surer), 4)
                        quote = sentence.quote(passage, min(sure, surer) < 1)
                        yield Extraction("predicate", relation, passage, quote, confidence, URIRef(relation))

    # -- what a sentence says ----------------------------------------------------------------------

    def _says(self, sentence: Sentence, at: Span, candidate: Span, text: str) -> dict[str, _Said]:
        """Return which relations the words say that are nearest to a candidate, and how surely."""
        words = sentence.words
        low, high = (at, candidate) if at.first < candidate.first else (candidate, at)
        if high.first - low.last > _FAR:
            return {}
        taken = {i for span in sentence.names for i in range(span.first, span.last)} - set(
            range(candidate.first, candidate.last)
        )
        possible = self._possible(text)
        between = [i for i in range(low.last, high.first) if i not in taken]
        if found := self._opening(sentence, low, high, possible) or self._dated(
            sentence, low, high, possible
        ):
            return found
        headed = low.first > 0 and words[low.first - 1].key in OF  # "the words of Moss are by Ada"
        behind = candidate is high and not headed
        if link := self._linked(sentence, behind, between, candidate, possible):
            return link if not beyond(sentence.text, sentence.names) else {}
        for i in reversed(between) if candidate is high else between:
            if acting(sentence, i, high):
                continue
            found = self._said(sentence, i, possible)
            if found and words[i].key in LIGHT and not any(possible(r) for r in found):
                continue  # "lies with Ada" says nothing of where
            if found:
                real = not unreal(words, i) and not governed(
                    sentence, low, i, self._light(sentence, possible)
                )
                return found if real and self._stated(sentence, low, high, i, candidate) else {}
        if beyond(sentence.text, sentence.names):
            return {}
        if candidate is high and stative(sentence.words, sentence.names, at, candidate, between):
            return self._being(sentence, candidate, text)
        if behind and beside(sentence, at, candidate, between):
            if found := self._being(sentence, candidate, text):
                return found
        far = apart(words, between, candidate is high, candidate)
        if far and not (candidate is high and self._placed(sentence, low, between)):
            return {}
        for i in around(words, low, high, taken):
            if found := self._said(sentence, i, possible):
                return {} if unreal(words, i) else found
        if candidate is high and between and all(words[i].key in COPULA for i in between):
            return self._being(sentence, candidate, text)
        return {}

    def _placed(self, sentence: Sentence, low: Span, between: Sequence[int]) -> bool:
        """Return whether a candidate stands where a verb takes it: "you find Moss in Rome", "call Rome home"."""
        words = sentence.words
        inside = [words[i].key for i in between if words[i].key not in ("a", "an", "the")]
        if inside == ["as"]:
            return self.roles.shape("object", self.predicate).whole and low.first > 0
        if inside in (["call"], ["calls"], ["called"]):
            return True
        fits = self.relation_words.linking("in", lambda r: r == self.predicate) == self.predicate
        return inside in (["in"], ["at"], ["on"]) and low.first > 0 and fits

    def _opening(
        self, sentence: Sentence, low: Span, high: Span, possible: Callable[[str], bool]
    ) -> dict[str, _Said]:
        """Return what a participle says that a sentence begins with: "First shown in 1950, Moss was sold"."""
        comma = high.first > 0 and "," in sentence.between(high.first - 1, high.first)
        denials = beyond(sentence.text, sentence.names)
        if not comma or not 0 < low.first < 5 or (denials and min(denials) < high.last):
            return {}
        if not all(word.text.islower() for word in sentence.words[1 : low.first]):
            return {}
        firsts = [i for i in (0, 1) if i < low.first and sentence.words[i].key.endswith(PARTICIPLES)]
        return next((found for i in firsts if (found := self._said(sentence, i, possible))), {})

    def _dated(
        self, sentence: Sentence, low: Span, high: Span, possible: Callable[[str], bool]
    ) -> dict[str, _Said]:
        """Return what a number in brackets says behind a name, where only one relation may be meant."""
        end = sentence.words[high.last - 1].end
        number = sentence.words[high.first].text.isdigit() and low.last == high.first
        if (
            not number
            or sentence.between(low.last - 1, high.first) != " ("
            or sentence.text[end : end + 1] != ")"
        ):
            return {}
        told = [r for r in sorted(self.said_as) if possible(r)]
        return {told[0]: _Said(0.7, "", high.first)} if told == [self.predicate] else {}

    def _linked(
        self,
        sentence: Sentence,
        behind: bool,
        between: Sequence[int],
        candidate: Span,
        possible: Callable[[str], bool],
    ) -> dict[str, _Said]:
        """Return what a preposition says by itself: "Moss is by Ada", "built for Ada"."""
        words, place = sentence.words, candidate.first - 1
        while place > 0 and words[place].key in ("the", "a", "client", "customer"):
            place -= 1
        if not behind or place not in between or words[place].key not in ("by", "for"):
            return {}
        bare = all(words[i].key in COPULA | AND | {"both", "all"} for i in between if i != place)
        if words[place].key == "by" and not bare:
            return {}
        relation = self.relation_words.linking(words[place].key, possible)
        return {relation: _Said(0.7, "by", place)} if relation else {}

    def _stated(self, sentence: Sentence, low: Span, high: Span, place: int, candidate: Span) -> bool:
        far = beyond(sentence.text, sentence.names)
        return reaches(sentence, place, candidate) and (not far or closed(sentence, low, high, far))

    def _light(self, sentence: Sentence, possible: Callable[[str], bool]) -> Callable[[int], bool]:
        """Return what tells whether a word says what is asked for itself: "plays the lead in Moss"."""
        return lambda i: self.predicate in self._said(sentence, i, possible)

    def _possible(self, text: str) -> Callable[[str], bool]:
        """Return what tells whether a relation may hold of what is known and a candidate, by their kinds."""
        place, triple = self.sought.place, self.sought.triple
        if place == "predicate":
            return lambda r: (
                self._may("subject", r, self.sought.names["subject"][0])
                and self._may("object", r, self.sought.names["object"][0])
            )
        known: End = "object" if place == "subject" else "subject"
        other: End = "subject" if place == "subject" else "object"
        term = triple.object if place == "subject" else triple.subject
        iri = isinstance(term, URIRef)
        name = str(term) if iri else self.sought.names[known][0]
        return lambda r: self._may(known, r, name, iri) and self._may(other, r, text)

    def _may(self, end: End, relation: str, name: str, iri: bool = False) -> bool:
        """Return whether what has a name may stand at an end of a relation, by its kind."""
        key = end, relation, name
        if key not in self.may:
            if name.isdigit() or (end == "object" and self.roles.shape("object", relation).numbers > 0.9):
                fine = end == "object" and name.isdigit() and self.roles.shape(end, relation).fits(name)
            else:
                meant = [name] if iri else [str(c.term) for c in self.names.exact(name)]
                fine = not meant or any(not self.roles.strange(end, relation, one) for one in meant)
            self.may[key] = fine
        return self.may[key]

    def _said(self, sentence: Sentence, place: int, possible: Callable[[str], bool]) -> dict[str, _Said]:
        """Return what the word at a place says, with what is listed beside it: "written and directed"."""
        found: dict[str, _Said] = {}
        for i in listed(sentence, place):
            for relation, (sure, key) in self.relation_words.at(sentence.words, i, possible).items():
                if i == place or self.relation_words.at(sentence.words, place, possible):
                    found.setdefault(relation, _Said(sure, key, i))
        return found

    def _being(self, sentence: Sentence, candidate: Span, text: str) -> dict[str, _Said]:
        """Return what "X is a C" and "X focuses on C" say, where C is one of few values of one relation."""
        text = text or text_of(sentence.text, sentence.words, candidate)
        meant = [str(c.term) for c in self.names.exact(text)]
        few = self.roles.shape("object", self.predicate).whole
        if not few or len(meant) != 1 or not self.roles.has("object", self.predicate, meant[0]):
            return {}
        every = (word for several in self.relation_words.words.values() for word in several)
        others = sorted({r for word in every for r, _ in word.relations})
        self.roles.learn("object", others, meant)
        possible = self._possible(text)
        alone = all(
            r == self.predicate or not (possible(r) and self.roles.has("object", r, meant[0])) for r in others
        )
        return {self.predicate: _Said(0.7, "", candidate.first)} if alone else {}

    def _order(
        self, sentence: Sentence, said: _Said, known_is_subject: bool, at: Span, candidate: Span
    ) -> bool:
        """Return whether subject and object are in the order that a relation word asks for, if any."""
        learnt = self.relation_words.forward.get((said.key, self.predicate))
        first = (at.first < candidate.first) == known_is_subject
        if not self._one_kind():
            return True
        if learnt is not None and not 0.2 < learnt < 0.8:
            return first == (learnt >= 0.8)
        if not said.key:
            return first
        left, right = sorted((at, candidate), key=lambda span: span.first)
        names = self.said_as.get(self.predicate, ())
        ahead = subject_first(sentence.text, sentence.words, said.place, said.key, names, left, right)
        back = {(said.key, self.predicate), (said.key.partition("+")[0], self.predicate)}
        return first == (ahead != bool(back & self.relation_words.inverse))

    def _one_kind(self) -> bool:
        """Return whether what stands at one end of the relation may also stand at the other."""
        known = self.sought.triple.object if self.sought.place == "subject" else self.sought.triple.subject
        other: End = "subject" if self.sought.place == "subject" else "object"
        if self.sought.place == "predicate" or not isinstance(known, URIRef):
            return self.sought.place == "predicate"
        # The known entity stands, somewhere in the graph, where the unknown one is to stand here, or is like
        # those that do.
        there = self.roles.has(other, self.predicate, str(known)) or self.roles.mixed(self.predicate)
        return there or self.roles.classed(other, self.predicate, str(known))

    def _known(self, sentence: Sentence, names: Iterable[str]) -> list[tuple[Span, float]]:
        """Return where what is known stands in a sentence, and how sure that is."""
        found: dict[Span, float] = {}
        for name in names:
            for span in find(sentence.text, sentence.words, name, self.names):
                found[span] = 1.0
        if not found:
            found.update((one.span, 0.9) for one in sentence.stand_ins if self._means(sentence, one, names))
        return sorted(found.items(), key=lambda item: item[0].first)

    def _means(self, sentence: Sentence, one: StandIn, names: Iterable[str]) -> bool:
        """Return whether a pronoun stands for what is known; if not by its place, then by its kind."""
        if not any(key_of(one.name) == key_of(name) for name in names):
            return False
        if one.first:
            return True
        if self.sought.place == "predicate":
            return False
        end: End = "object" if self.sought.place == "subject" else "subject"
        rivals = [other.name for other in sentence.stand_ins if other.name != one.name]
        rivals += [
            text_of(sentence.text, sentence.words, s) for s in sentence.names if s.first < one.span.first
        ]
        return not any(self._may(end, self.predicate, rival) for rival in rivals)

    def _is_word(self, text: str, words: Sequence[TextWord], span: Span) -> bool:
        """Return whether what is written like a name is a word that says a relation, such as "CEO"."""
        if span.last - span.first > 1 or self.names.has(words[span.first].key):
            return False
        return bool(self.relation_words.at(words, span.first))

    def _unlabelled(self, text: str, words: tuple[TextWord, ...], span: Span) -> Span:
        """Return a name without the field that it stands in: "Director: Ada Hill"."""
        if self.names.has(normalised(text_of(text, words, span))):
            return span
        for at in range(span.first + 1, span.last if span.first == 0 else 0):
            known = self.names.has(normalised(text_of(text, words, Span(at, span.last))))
            told = bool(self.relation_words.at(words, at - 1))
            field = text[words[at - 1].end : words[at].start] == ": " and (known or told)
            # "Maintenance of Moss": the first word has its capital from the sentence.
            noun = words[at - 1].key in ("of", "for") and known and bool(self.relation_words.at(words, 0))
            if field or noun:
                return Span(at, span.last)
        return span

    def _names(self, text: str, words: tuple[TextWord, ...]) -> tuple[Span, ...]:
        spans = all_names(text, words, self.names, self.relation_words.names, self.few)
        spans = tuple(self._unlabelled(text, words, span) for span in spans)
        return tuple(span for span in spans if not self._is_word(text, words, span))
