"""A reader without a language model: names, relation words and their order in a sentence.

A sentence is evidence where it states something, names what is known of the triple as a name of its own, has
a word that says the relation (`relation_words`), nearer to a candidate than any word of another
relation, and the candidate may stand in the unknown place. What it does not see: statements over several
sentences (beyond pronouns that stand for a name of the sentence before), figures of speech,
and relations that the corpus says in words which neither their names nor known facts teach.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from rdflib import RDF, URIRef

from mrag.completion.names import (
    End,
    EntityNames,
    PropertyEnds,
    Relations,
    Span,
    TextWord,
    all_names,
    find,
    key_of,
    text_of,
    words_of,
)
from mrag.completion.passages import Passage
from mrag.completion.reading import Extraction, Place, SoughtTriple
from mrag.completion.relation_words import RelationWords, around
from mrag.completion.sentences import (
    AND,
    COPULA,
    ELSE,
    LIGHT,
    OF,
    PARTICIPLES,
    ReadSentence,
    StandIn,
    acting,
    another,
    apart,
    asserts,
    beside,
    between_others,
    beyond,
    closed,
    governed,
    in_fiction,
    led_elsewhere,
    listed,
    qualifies,
    reaches,
    sentences,
    stative,
    subject_first,
    unreal,
)
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import LABELS
from mrag.language.tokens import normalised, words

_CROSSED: Final[tuple[tuple[End, Place], ...]] = (("object", "subject"), ("subject", "object"))


class Kinds:
    """Tells what may fill the unknown place of a triple, and which relations may hold of what is there."""

    def __init__(self, kg: KnowledgeGraph, sought: SoughtTriple, new_names: bool) -> None:
        self.sought = sought
        self.new_names = new_names
        self.names = EntityNames.of(kg)
        self.roles = PropertyEnds.of(kg)
        self._may: dict[tuple[str, str, str], bool] = {}

    def fits(self, end: End, predicate: str, text: str) -> tuple[URIRef | None, float]:
        """Return what a candidate means, and how well that goes with the unknown place; 0 if not at all."""
        meant = [URIRef(str(c.term)) for c in self.names.exact(text)]
        self.roles.learn(end, [predicate], map(str, meant))
        there = [e for e in meant if self.roles.has(end, predicate, str(e))]
        if there:
            return (there[0], 1.0) if len(there) == 1 else (None, 0.0)
        if not self.roles.shape(end, predicate).fits(text):
            return None, 0.0
        if meant:
            alike = len(meant) == 1 and self.roles.alike(end, predicate, str(meant[0]))
            return (meant[0], 0.85) if alike else (None, 0.0)
        return (None, 0.85) if self.new_names else (None, 0.0)

    def possible(self, text: str) -> Callable[[str], bool]:
        """Return what tells whether a relation may hold of what is known and a candidate, by their kinds."""
        place, triple = self.sought.place, self.sought.triple
        if place == "predicate":
            return lambda r: (
                self.may("subject", r, self.sought.names["subject"][0])
                and self.may("object", r, self.sought.names["object"][0])
            )
        known: End = "object" if place == "subject" else "subject"
        other: End = "subject" if place == "subject" else "object"
        term = triple.object if place == "subject" else triple.subject
        iri = isinstance(term, URIRef)
        name = str(term) if iri else self.sought.names[known][0]
        return lambda r: self.may(known, r, name, iri) and self.may(other, r, text)

    def may(self, end: End, relation: str, name: str, iri: bool = False) -> bool:
        """Return whether what has a name may stand at an end of a relation, by its kind."""
        key = end, relation, name
        if key not in self._may:
            # Years may be entities, called by their numbers.
            called = self.sought.names[end][0] if iri and end in self.sought.names else name
            numeric = end == "object" and self.roles.shape("object", relation).numbers > 0.9
            numeric = numeric and not (iri and called.isdigit())
            if name.isdigit() or numeric:
                fine = end == "object" and name.isdigit() and self.roles.shape(end, relation).fits(name)
            else:
                meant = [name] if iri else [str(c.term) for c in self.names.exact(name)]
                fine = not meant or any(not self.roles.strange(end, relation, one) for one in meant)
            self._may[key] = fine
        return self._may[key]

    def one_kind(self, predicate: str) -> bool:
        """Return whether what stands at one end of the relation may also stand at the other."""
        known = self.sought.triple.object if self.sought.place == "subject" else self.sought.triple.subject
        other: End = "subject" if self.sought.place == "subject" else "object"
        if self.sought.place == "predicate":
            names = self.sought.names
            return all(self.may(end, predicate, names[place][0]) for end, place in _CROSSED)
        if not isinstance(known, URIRef):
            return False
        # The known entity stands, somewhere in the graph, where the unknown one is to stand here, or is like
        # those that do.
        there = self.roles.has(other, predicate, str(known)) or self.roles.mixed(predicate)
        return there or self.roles.classed(other, predicate, str(known))


_FAR: Final = 25
_OPPOSITES: Final = {
    "first": words("last latest final again next"),
    "last": frozenset(("first", "earliest")),
}
"""What a sentence may not say in place of a word of a relation's name: "last held" for "first held"."""
_OVER: Final = {"lives": "lived", "works": "worked", "resides": "resided", "plays": "played"}
"""What is so no longer, where it is told in the past, though its relation says that it is."""
_GONE: Final = words(
    "away moved moves removed removes departed left driven banned expelled stolen missing transferred "
    "relocated evicted withdrawn"
)
"""Words with which a place is no longer where something is: "moved from", "away from"."""


@dataclass(frozen=True)
class Said:
    """A relation as a word of a sentence says it: how surely, by which key, and where."""

    sure: float
    key: str
    place: int


@dataclass(frozen=True)
class NamePair:
    """Two names in a sentence."""

    sentence: ReadSentence
    at: Span
    candidate: Span
    text: str
    possible: Callable[[str], bool]

    @property
    def behind(self) -> bool:
        """Return whether the candidate stands behind what is known."""
        return self.at.first < self.candidate.first

    @property
    def low(self) -> Span:
        """Return the first of the two."""
        return self.at if self.behind else self.candidate

    @property
    def high(self) -> Span:
        """Return the second of the two."""
        return self.candidate if self.behind else self.at

    @cached_property
    def taken(self) -> frozenset[int]:
        """Return the places of words of other names."""
        own = range(self.candidate.first, self.candidate.last)
        every = {i for span in self.sentence.names for i in range(span.first, span.last)}
        return frozenset(every - set(own))

    @cached_property
    def between(self) -> list[int]:
        """Return the places of the words between them that belong to no name."""
        return [i for i in range(self.low.last, self.high.first) if i not in self.taken]

    @cached_property
    def denials(self) -> tuple[int, ...]:
        """Return where the sentence denies something that the two may have no part in."""
        return beyond(self.sentence.text, self.sentence.names)

    @property
    def closed(self) -> bool:
        """Return whether what it denies comes behind a phrase that has both."""
        return closed(self.sentence, self.low, self.high, self.denials)

    @property
    def headed(self) -> bool:
        """Return whether the first only belongs to what is spoken of: "the words of Moss are by Ada"."""
        return self.low.first > 0 and self.sentence.words[self.low.first - 1].key in OF


class PairReading:
    """Reads what is said of two names."""

    def __init__(self, kinds: Kinds, words: RelationWords, names: Mapping[str, Sequence[str]]) -> None:
        self.kinds = kinds
        self.words = words
        self.names = names
        self.relations = tuple(sorted(names))
        known = kinds.sought.place != "predicate"
        self.predicate = str(kinds.sought.triple.predicate) if known else ""

    def asking(self, relation: str) -> PairReading:
        """Return what reads for one relation."""
        reading = PairReading(self.kinds, self.words, self.names)
        reading.predicate = relation
        return reading

    def says(self, pair: NamePair) -> dict[str, Said]:
        """Return which relations the words say that are nearest to a candidate, and how surely."""
        if pair.high.first - pair.low.last > _FAR or self._aside(pair):
            return {}
        if found := self._opening(pair) or self._dated(pair):
            return found
        if link := self._linked(pair):
            return link if not pair.denials else {}
        for i in reversed(pair.between) if pair.behind else pair.between:
            if found := self._telling(pair, i):
                return found if self._stated(pair, i) else {}
        return self._loosely(pair) if not pair.denials or pair.closed else {}

    def _aside(self, pair: NamePair) -> bool:
        """Return whether the names stand for something else there, or who is named for whom it was done."""
        if any(another(pair.sentence, s, lambda i: self._tells(pair, i)) for s in (pair.at, pair.candidate)):
            return True
        if between_others(pair.sentence, pair.low, pair.high) or qualifies(pair.sentence, pair.candidate):
            return True
        here = {word.key for word in pair.sentence.words}
        own = {word.key for name in self.names.get(self.predicate, ()) for word in words_of(name)}
        if in_fiction(pair.sentence):
            return True
        if self.predicate and led_elsewhere(pair.sentence, pair.high, frozenset(own)):
            return True
        told = {pair.sentence.words[i].key for i in pair.between}
        if any(present in own and past in told for present, past in _OVER.items()):
            return True
        if any(one in own and here & others and one not in here for one, others in _OPPOSITES.items()):
            return True
        words = pair.sentence.words
        before = words[pair.candidate.first - 1].key if pair.candidate.first else ""
        second = words[pair.high.first - 1].key
        if self._links("by") and {before, second} & {"for", "after", "before"}:
            return True
        if before in ("the", "a", "an") and pair.candidate.first > 1:
            before = pair.sentence.words[pair.candidate.first - 2].key
        gone = {pair.sentence.words[i].key for i in pair.between} & _GONE
        return before == "from" and bool(gone) and self._links("in")

    def _links(self, preposition: str) -> bool:
        """Return whether a preposition says what is asked for by itself."""
        return self.words.linking(preposition, lambda r: r == self.predicate) == self.predicate != ""

    def _tells(self, pair: NamePair, place: int) -> bool:
        """Return whether a word says what is asked for."""
        found = self.said(pair, place)
        return self.predicate in found if self.predicate else bool(found)

    def _loosely(self, pair: NamePair) -> dict[str, Said]:
        """Return what is said of two names without a word between them that says it."""
        sentence, between = pair.sentence, pair.between
        if pair.behind and stative(sentence.words, sentence.names, pair.at, pair.candidate, between):
            return self._being(pair)
        passing = pair.behind and not pair.headed and beside(sentence, pair.at, pair.candidate, between)
        if passing and (found := self._being(pair)):
            return found
        if apart(sentence.words, between, pair.behind, pair.candidate) and not self._placed(pair):
            return {}
        for i in around(sentence.words, pair.low, pair.high, pair.taken):
            denied = pair.denials and i > pair.low.first
            found = {} if denied else self.said(pair, i)
            if any(map(pair.possible, found)):
                return {} if unreal(sentence.words, i) else found
        if pair.behind and between and all(sentence.words[i].key in COPULA for i in between):
            return self._being(pair)
        return {}

    def _telling(self, pair: NamePair, place: int) -> dict[str, Said]:
        """Return what a word between two names says of them; empty if it only helps to say something."""
        words = pair.sentence.words
        if acting(pair.sentence, place, pair.high):
            return {}
        found = self.said(pair, place)
        # "Lies with Ada" says nothing of where.
        return {} if words[place].key in LIGHT and not any(map(pair.possible, found)) else found

    def _stated(self, pair: NamePair, place: int) -> bool:
        """Return whether a sentence states what a word between two names says."""
        sentence = pair.sentence
        if unreal(sentence.words, place) or not reaches(sentence, place, pair.candidate):
            return False
        if governed(sentence, pair.low, place, lambda i: self._tells(pair, i)):
            return False
        return not pair.denials or pair.closed

    def said(self, pair: NamePair, place: int) -> dict[str, Said]:
        """Return what the word at a place says, with what is listed beside it: "written and directed"."""
        found: dict[str, Said] = {}
        words = pair.sentence.words
        for i in listed(pair.sentence, place):
            for relation, (sure, key) in self.words.at(words, i, pair.possible).items():
                if i == place or self.words.at(words, place, pair.possible):
                    found.setdefault(relation, Said(sure, key, i))
        return found

    def _placed(self, pair: NamePair) -> bool:
        """Return whether a candidate stands where a verb takes it: "find Moss in Rome", "call Rome home"."""
        words = pair.sentence.words
        inside = [words[i].key for i in pair.between if words[i].key not in ("a", "an", "the")]
        if not pair.behind or not self.predicate:
            return False
        if inside == ["as"]:
            return self.kinds.roles.shape("object", self.predicate).whole and pair.low.first > 0
        if inside in (["call"], ["calls"], ["called"]):
            return True
        if inside == ["with"] and self.kinds.sought.place == "subject":
            return pair.low.first > 0  # "tagged Moss with robots"
        return inside in (["in"], ["at"], ["on"]) and pair.low.first > 0 and self._links("in")

    def _opening(self, pair: NamePair) -> dict[str, Said]:
        """Return what a participle says that a sentence begins with: "First shown in 1950, Moss was sold"."""
        sentence, low, high = pair.sentence, pair.low, pair.high
        comma = high.first > 0 and "," in sentence.between(high.first - 1, high.first)
        if not comma or not 0 < low.first < 5 or (pair.denials and min(pair.denials) < high.last):
            return {}
        if not all(word.text.islower() for word in sentence.words[1 : low.first]):
            return {}
        firsts = [i for i in (0, 1) if i < low.first and sentence.words[i].key.endswith(PARTICIPLES)]
        return next((found for i in firsts if (found := self.said(pair, i))), {})

    def _dated(self, pair: NamePair) -> dict[str, Said]:
        """Return what a number in brackets says behind a name, where only one relation may be meant."""
        sentence, low, high = pair.sentence, pair.low, pair.high
        if not sentence.words[high.first].text.isdigit() or low.last != high.first:
            return {}
        end = sentence.words[high.last - 1].end
        if sentence.between(low.last - 1, high.first) != " (" or sentence.text[end : end + 1] != ")":
            return {}
        told = [r for r in self.relations if pair.possible(r)]
        return {told[0]: Said(0.7, "", high.first)} if len(told) == 1 and not pair.denials else {}

    def _linked(self, pair: NamePair) -> dict[str, Said]:
        """Return what a preposition says by itself: "Moss is by Ada", "built for Ada"."""
        words, place = pair.sentence.words, pair.candidate.first - 1
        while place > 0 and words[place].key in ("the", "a", "client", "customer"):
            place -= 1
        if not pair.behind or pair.headed or place not in pair.between:
            return {}
        preposition = words[place].key
        bare = all(words[i].key in COPULA | AND | {"both", "all"} for i in pair.between if i != place)
        if preposition != "for" and not (preposition == "by" and bare):
            return {}
        relation = self.words.linking(preposition, pair.possible)
        return {relation: Said(0.7, "by", place)} if relation else {}

    def _being(self, pair: NamePair) -> dict[str, Said]:
        """Return what "X is a C" and "X focuses on C" say, where C is one of few values of one relation."""
        roles = self.kinds.roles
        meant = [str(c.term) for c in self.kinds.names.exact(pair.text)]
        if not self.predicate or not roles.shape("object", self.predicate).whole or len(meant) != 1:
            return {}
        if not roles.has("object", self.predicate, meant[0]):
            return {}
        roles.learn("object", self.relations, meant)
        others = [r for r in self.relations if r != self.predicate]
        if any(pair.possible(r) and roles.has("object", r, meant[0]) for r in others):
            return {}
        return {self.predicate: Said(0.7, "", pair.candidate.first)}


_FEW: Final = 20
"""Relations between two kinds of things up to which each is tried, where the relation is asked for."""


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
        self.names = EntityNames.of(kg)
        self.kinds = Kinds(kg, sought, new_names)
        self.said_as = {str(r.iri): r.names for r in Relations.of(kg).all}
        self.predicate = str(sought.triple.predicate)
        named = {r: n for r, n in self.said_as.items() if r not in LABELS and r != str(RDF.type)}
        self.pairs = PairReading(self.kinds, relation_words, named)
        place = sought.place
        # Values of which there are few, such as genres, are known in small letters too.
        self.few = frozenset() if place == "predicate" else self.kinds.roles.few(place, self.predicate)

    def passage(self, passage: Passage) -> Iterator[Extraction]:
        for sentence in sentences(passage, self._names):
            if not asserts(sentence.text, sentence.names) and not beyond(sentence.text, sentence.names):
                continue
            if self.sought.place == "predicate":
                yield from self._relations(passage, sentence)
            else:
                yield from self._values(passage, sentence)

    # -- one value unknown -------------------------------------------------------------------------

    def _values(self, passage: Passage, sentence: ReadSentence) -> Iterator[Extraction]:
        place = self.sought.place
        known: Place = "object" if place == "subject" else "subject"
        if place == "predicate":
            return
        for at, sure, since in self._known(sentence, self.sought.names[known]):
            for candidate, text, surely, from_ in self._candidates(sentence, at):
                pair = self._pair(sentence, at, candidate, text)
                best = self.pairs.says(pair).get(self.predicate)
                if best is None or not self._order(sentence, best, known == "subject", at, candidate):
                    continue
                term, fit = self.kinds.fits(place, self.predicate, text)
                if fit and (term is not None or self._new(sentence, at, candidate, text)):
                    certain = sure * surely
                    quote = sentence.quote(passage, since, from_)
                    yield Extraction(place, text, passage, quote, round(best.sure * certain * fit, 4), term)

    def _candidates(self, sentence: ReadSentence, at: Span) -> Iterator[tuple[Span, str, float, int]]:
        """Yield what may be the value beside what is known, as it is named, and how surely it is meant."""
        for span in sentence.names:
            if not span.overlaps(at):
                yield span, text_of(sentence.text, sentence.words, span), 1.0, sentence.start
        for one in sentence.stand_ins:
            if one.first and one.span != at:
                yield one.span, one.name, 0.9, one.before

    def _pair(self, sentence: ReadSentence, at: Span, candidate: Span, text: str) -> NamePair:
        """Return what is known and a candidate; whichever is the object is what prepositions are asked of."""
        possible = self.kinds.possible(text)
        if self.sought.place == "subject":
            return NamePair(sentence, candidate, at, self.sought.names["object"][0], possible)
        return NamePair(sentence, at, candidate, text, possible)

    def _new(self, sentence: ReadSentence, at: Span, candidate: Span, text: str) -> bool:
        """Return whether a name that the graph does not know is read as a subject or an object itself."""
        pair = NamePair(sentence, at, candidate, text, self.kinds.possible(text))
        return not self._beside(sentence, candidate) and self.predicate in self.pairs.says(pair)

    def _beside(self, sentence: ReadSentence, candidate: Span) -> bool:
        """Return whether a preposition makes a candidate something else: "translated into English"."""
        before = sentence.words[candidate.first - 1].key if candidate.first else ""
        own = {word.key for name in self.said_as.get(self.predicate, ()) for word in words_of(name)}
        return before in ELSE - own

    # -- the relation unknown ----------------------------------------------------------------------

    def _relations(self, passage: Passage, sentence: ReadSentence) -> Iterator[Extraction]:
        names = self.sought.names
        for s, sure, since in self._known(sentence, names["subject"]):
            for o, surer, from_ in self._known(sentence, names["object"]):
                if s.overlaps(o):
                    continue
                text = names["object"][0]
                pair = NamePair(sentence, s, o, text, self.kinds.possible(text))
                for relation, said in sorted(self._related(pair).items()):
                    self.predicate = relation
                    if self._order(sentence, said, True, s, o):
                        confidence = round(said.sure * min(sure, surer), 4)
                        quote = sentence.quote(passage, since, from_)
                        yield Extraction("predicate", relation, passage, quote, confidence, URIRef(relation))

    def _related(self, pair: NamePair) -> dict[str, Said]:
        """Return which relations are read between two names, each as if it were asked for."""
        tried = [r for r in self.pairs.relations if pair.possible(r)]
        if len(tried) > _FEW:
            tried = [r for r in sorted(self.pairs.says(pair)) if pair.possible(r)]
        found = {relation: self.pairs.asking(relation).says(pair) for relation in tried}
        return {relation: said[relation] for relation, said in found.items() if relation in said}

    def _order(
        self, sentence: ReadSentence, said: Said, known_is_subject: bool, at: Span, candidate: Span
    ) -> bool:
        """Return whether subject and object are in the order that a relation word asks for, if any."""
        learnt = self.relation_words.forward.get((said.key, self.predicate))
        first = (at.first < candidate.first) == known_is_subject
        if not self.kinds.one_kind(self.predicate):
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

    def _known(self, sentence: ReadSentence, names: Iterable[str]) -> list[tuple[Span, float, int]]:
        """Return where what is known stands in a sentence, how sure that is, and since where it is told."""
        found: dict[Span, tuple[float, int]] = {}
        for name in names:
            for span in find(sentence.text, sentence.words, name, self.names):
                found[span] = 1.0, sentence.start
        if not found:
            meant = [one for one in sentence.stand_ins if self._means(sentence, one, names)]
            found.update((one.span, (0.9, one.before)) for one in meant)
        return [(span, *found[span]) for span in sorted(found, key=lambda span: span.first)]

    def _means(self, sentence: ReadSentence, one: StandIn, names: Iterable[str]) -> bool:
        """Return whether a pronoun stands for what is known; if not by its place, then by its kind."""
        if not any(key_of(one.name) == key_of(name) for name in names):
            return False
        if one.first:
            return True
        if self.sought.place == "predicate":
            return False
        end: End = "object" if self.sought.place == "subject" else "subject"
        rivals = [other.name for other in sentence.stand_ins if other.name != one.name]
        if sentence.words[one.span.first].key not in ("it", "him", "them"):
            # "Ada wrote it" is not of Ada, but "Ada sold her books" may be.
            ahead = [span for span in sentence.names if span.first < one.span.first]
            rivals += [text_of(sentence.text, sentence.words, span) for span in ahead]
        return not any(self.kinds.may(end, self.predicate, rival) for rival in rivals)

    def _is_word(self, text: str, words: Sequence[TextWord], span: Span) -> bool:
        """Return whether what is written like a name is a word that says a relation, such as "CEO"."""
        if span.last - span.first > 1 or self.names.has(words[span.first].key):
            return False
        return bool(self.relation_words.at(words, span.first))

    def _unlabelled(self, text: str, words: tuple[TextWord, ...], span: Span) -> Span:
        """Return a name without the field that it stands in: "Director: Ada Hill"."""
        if self.names.has(normalised(text_of(text, words, span))):
            return span
        ahead = text[words[span.first - 1].end : words[span.first].start].strip() if span.first else "."
        for at in range(span.first + 1, span.last if ahead in (".", ";", "|") else 0):
            known = self.names.has(normalised(text_of(text, words, Span(at, span.last))))
            told = bool(self.relation_words.at(words, at - 1))
            field = text[words[at - 1].end : words[at].start] == ": " and (known or told)
            # "Maintenance of Moss": the first word has its capital from the sentence.
            noun = words[at - 1].key in ("of", "for") and known
            if field or (noun and self.relation_words.at(words, span.first)):
                return Span(at, span.last)
        return span

    def _names(self, text: str, words: tuple[TextWord, ...]) -> tuple[Span, ...]:
        spans = all_names(text, words, self.names, self.relation_words.names, self.few)
        spans = tuple(self._unlabelled(text, words, span) for span in spans)
        return tuple(span for span in spans if not self._is_word(text, words, span))
