"""A reader without a language model: names, relation words and their order in a sentence.

A sentence is evidence where it states something, names what is known of the triple as a name of its own, has
a word that says the relation (`relation_words`), nearer to a candidate than any word of another
relation, and the candidate may stand in the unknown place. What it does not see: statements over several
sentences (beyond pronouns that stand for a name of the sentence before), figures of speech,
and relations that the corpus says in words which neither their names nor known facts teach.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rdflib import RDF, URIRef

from mrag.completion.evidence.asserting import asserts, beyond
from mrag.completion.evidence.direction import subject_first
from mrag.completion.evidence.kinds import Kinds
from mrag.completion.evidence.pairs import NamePair, PairReading, Said
from mrag.completion.evidence.passages import Passage
from mrag.completion.evidence.phrases import ELSE
from mrag.completion.evidence.reading import Extraction, Place, SoughtTriple
from mrag.completion.evidence.sentences import ReadSentence, StandIn, sentences
from mrag.completion.plan.names import EntityNames
from mrag.completion.plan.relations import Relations
from mrag.completion.plan.roles import End
from mrag.completion.plan.spans import Span, TextWord, all_names, find, key_of, text_of, words_of
from mrag.completion.relation_words import RelationWords
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import LABELS
from mrag.text.tokens import normalised

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
