"""A reader without a language model: names, words that say relations, and their order in a sentence.

A sentence is evidence where it states something, names what is known of the triple as a name of its own, has
a word that says the relation, nearer to a candidate than any word of another relation, and the candidate may
stand in the unknown place. A relation is said by the words of its names, by what English says for those
(`senses.tsv`), and by words that the passages themselves teach: where two entities stand beside each other
that the graph has a triple of, the words between them are taken for ways of saying it (distant supervision:
Mintz, Bills, Snow and Jurafsky, 2009, Distant supervision for relation extraction without labeled data). A
word that goes with several relations says nothing.

What it does not see: statements over several sentences (beyond pronouns that stand for a name of the sentence
before), figures of speech, and relations that the corpus says in words which neither their names nor known
facts teach.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib.resources import files
from itertools import pairwise, takewhile
from typing import Final, NamedTuple

from rdflib import RDF, Literal, URIRef

from mrag.completion import sentences as grammar
from mrag.completion.checks import SCHEMA
from mrag.completion.names import (
    ENDS,
    End,
    EntityNames,
    PropertyEnds,
    Relations,
    Span,
    Words,
    all_names,
    find,
    is_number,
    key_of,
    text_of,
)
from mrag.completion.passages import Extraction, Passage, SoughtTriple
from mrag.completion.sentences import VERBS, WORDS
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import LABELS
from mrag.language.tokens import TextToken, is_stopword, normalise, sentence_spans, stem, words, words_of
from mrag.rdf import queries


@lru_cache(maxsize=1)
def _senses() -> list[list[frozenset[str]]]:
    """Return the lines of `senses.tsv`: keys of names, of words for them, of words the other way round."""
    lines = files(__package__).joinpath("senses.tsv").read_text("utf-8").splitlines()
    parts = (f"{line}\t".split("\t")[:3] for line in lines if not line.startswith("#"))
    return [[_forms(part) for part in several] for several in parts]


def _forms(text: str) -> frozenset[str]:
    """Return the stems of some words in all their forms, since a stem does not bring all of them together."""
    variants: set[str] = set()
    for entry in text.split():
        word, plus, particle = entry.partition("+")
        base = word.removesuffix("e")
        forms = [word, f"{word}s", f"{base}ed", f"{base}ing", f"{base}er", *VERBS.get(word, "").split()]
        if word.endswith("y"):
            forms += [f"{word[:-1]}ied", f"{word[:-1]}ies"]
        if len(word) > 2 and word[-1] in "bdgmnprt" and word[-2] in "aeiou" and word[-3] not in "aeiou":
            forms += [f"{word}{word[-1]}ed", f"{word}{word[-1]}ing"]
        variants.update(stem(form) + plus + particle for form in forms)
    return frozenset(variants)


_MAX_PASSAGES: Final = 4000
_MAX_WORDS: Final = 60
_MAX_SPANS: Final = 8
_BETWEEN: Final = 12
_WINDOW: Final = 5
"""How many words beside two names may say how they are related, where none between them does."""

_MIN_PLACES: Final = 4
_PURE: Final = 0.7

_VERBS: Final = frozenset(("find", "give", "show"))
"""Verbs that say nothing in a question, and something in a text."""

_COMMON: Final = frozenset(map(stem, ("year", "date", "place", "name", "number", "time")))
"""Words of names such as "release year" that say nothing where there are others."""

_AHEAD: Final = 0.12
_SAID: Final = 0.6  # How surely a word that is not a relation's own says it


class Meaning(NamedTuple):
    """A relation that a word may say, how sure that is, and whether the passages taught it or a name does."""

    relation: str
    sure: float
    learnt: bool = False


@dataclass
class RelationWords:
    """The words that say a graph's relations."""

    # Meanings by the stem of a word; one that stands before "by" has `+by` behind it
    words: dict[str, list[Meaning]] = field(default_factory=dict)
    names: frozenset[str] = frozenset()  # Normalised names of relations, which are no names of entities
    # Share of places, by word and relation, where the subject came first
    forward: dict[tuple[str, str], float] = field(default_factory=dict)
    # Relations that English says by the same word, by its stem
    shared: dict[str, tuple[str, ...]] = field(default_factory=dict)
    # Words and relations that they say the other way round
    inverse: set[tuple[str, str]] = field(default_factory=set)

    @classmethod
    def of(cls, kg: KnowledgeGraph, passages: Sequence[Passage] = ()) -> RelationWords:
        """Return the words of a graph's relations, and those that some passages teach; kept by the graph.

        Of very many passages only some are looked at, evenly spaced.
        """
        some = list(passages[:: max(1, len(passages) // _MAX_PASSAGES)])
        name = "completion words " + hashlib.sha256("\n".join(p.iri for p in some).encode()).hexdigest()
        return kg.cached(name, lambda: cls._build(kg, some))

    @classmethod
    def _build(cls, kg: KnowledgeGraph, passages: Sequence[Passage]) -> RelationWords:
        every = Relations.of(kg).all
        made = cls(names=frozenset(normalise(name) for r in every for name in r.names))
        own: defaultdict[str, set[str]] = defaultdict(set)
        for relation in every:
            iri = str(relation.iri)
            for name in relation.names if not iri.startswith(SCHEMA) and iri not in LABELS else ():
                said = words_of(name)
                stems = [key.partition("+")[0] for key in keys(said, range(len(said)))]
                own[iri].update([key for key in stems if key not in _COMMON] or stems)
        lexical = _invert(own)
        for key, said_by in lexical.items():
            made.words[key] = [Meaning(r, 0.6 + 0.2 / len(said_by)) for r in sorted(said_by)]
        ends = PropertyEnds.of(kg)
        made._say(own, lexical, {r for r in own if ends.shape("object", r).numbers > 0.5})
        made._learn(kg, passages)
        return made

    def _say(
        self, own: Mapping[str, set[str]], lexical: Mapping[str, set[str]], numeric: Collection[str]
    ) -> None:
        """Add what English says for the relations.

        Of a word that goes with several of them, what stands beside it has to tell which one is said.
        """
        further: dict[str, set[str]] = {}
        for relation, stems in own.items():
            senses = [(says, back) for heads, says, back in _senses() if heads & stems]
            forth = {key for says, _ in senses for key in says} - stems
            # Those that say it the other way round: of a teacher "the pupil of Ada".
            back = {key for _, says in senses for key in says} - stems
            self.inverse.update((key, relation) for key in back - forth)
            further[relation] = forth | back
        for key, relations in _invert(further).items():
            owners = {r in numeric for r in lexical.get(key, ())}
            others = tuple(r for r in sorted(relations) if (r in numeric) not in owners)
            if len(others) == 1:
                self.words.setdefault(key, []).append(Meaning(others[0], 0.6 + 0.2 * _SAID))
            elif others:
                self.shared[key] = others

    def at(
        self, words: Words, place: int, possible: Callable[[str], bool] = lambda relation: True
    ) -> dict[str, tuple[float, str]]:
        """Return what the word at a place says: for each relation how surely, and by which word.

        A word that is shared says the one relation that may hold between what is spoken of.
        """
        weights: dict[str, tuple[float, str]] = {}
        for key in keys(words, [place]):
            plain = key.partition("+")[0]
            phrases = [f"{plain}+{particle}" for particle in _behind(words, place)]
            phrase = next((one for one in phrases if one in self.words or one in self.shared), "")
            for name in (phrase,) if phrase else _readings(key, {*self.words, *self.shared}):
                for relation, sure, _ in self.words.get(name, ()):
                    if sure > weights.get(relation, (0.0, ""))[0]:
                        weights[relation] = sure, phrase or key
                shared = [r for r in self.shared.get(name, ()) if possible(r)]
                if len(shared) == 1 and not any(map(possible, weights)):
                    weights = {shared[0]: (0.6 + 0.2 * _SAID, phrase or key)}
        return weights

    def linking(self, preposition: str, possible: Callable[[str], bool]) -> str:
        """Return the relation that a preposition says by itself between two kinds; empty if not one alone."""
        alive = {r for r in (*self._own(preposition), *self.shared.get(preposition, ())) if possible(r)}
        return alive.pop() if len(alive) == 1 else ""

    def _own(self, name: str) -> set[str]:
        return {meaning.relation for meaning in self.words.get(name, ()) if not meaning.learnt}

    def _named(self, key: str) -> set[str]:
        """Return the relations that a word says by itself."""
        return {relation for name in _readings(key, self.words) for relation in self._own(name)}

    def _learn(self, kg: KnowledgeGraph, passages: Sequence[Passage]) -> None:
        total: Counter[str] = Counter()
        holds: defaultdict[str, Counter[str]] = defaultdict(Counter)
        ahead: Counter[tuple[str, str]] = Counter()
        trust: Counter[str] = Counter()
        pairs = list(_pairs(EntityNames.of(kg), passages, self.names))
        linked = _link(kg, {(a, b) for _, _, lefts, rights in pairs for a in lefts for b in rights})
        for between, every, lefts, rights in pairs:
            named = {relation for key in every for relation in self._named(key)}
            ends = [(a, b) for a in lefts for b in rights]
            forward = {r for a, b in ends for r in linked.get((a, b), ())}
            here = forward | {r for a, b in ends for r in linked.get((b, a), ())}
            if named:
                # A sentence that has words of a relation's own speaks of that one. Where the graph has only
                # others of the pair, what it knows of those does not tell what texts say.
                said = here & named
                trust.update(said)
                trust.subtract(here if not said else ())
                here = said
            for key in dict.fromkeys(between) if here else ():
                total[key] += 1
                holds[key].update(here)
                ahead.update((key, relation) for relation in here & forward)
        for key, seen in sorted(total.items()):
            best, *others = sorted(holds[key].items(), key=lambda item: (-item[1], item[0]))
            relation, count = best
            # Who directs a film has often written it too: what holds most often is what is said.
            clear = count / seen >= _PURE and (not others or others[0][1] / seen <= count / seen - _AHEAD)
            # A relation is read by its own words, whatever else holds of those whom it links.
            if seen < _MIN_PLACES or not clear or self._named(key) - {relation} or trust[relation] < 0:
                continue
            # What the corpus says of a word comes before what the relations' names suggest.
            kept = [one for one in self.words.get(key, ()) if not one.learnt] if seen < 10 else []
            self.words[key] = [Meaning(relation, min(0.9, 0.5 + 0.4 * count / seen), True), *kept]
            self.forward[key, relation] = ahead[key, relation] / count


def _invert(sets: Mapping[str, Iterable[str]]) -> dict[str, set[str]]:
    """Return for each member of some sets the names of those that have it."""
    sources: dict[str, set[str]] = {}
    for name, members in sets.items():
        for member in members:
            sources.setdefault(member, set()).add(name)
    return sources


def keys(words: Words, places: Iterable[int]) -> Iterator[str]:
    """Yield the keys of some words: "direct+by" for "directed by"; words without meaning have none."""
    for at in places:
        word, small = words[at], words[at].raw.casefold()
        if (is_stopword(small) and small not in _VERBS) or not word.key or word.key[0].isdigit():
            continue
        after = words[at + 1].key if at + 1 < len(words) else ""
        yield stem(word.key) + (f"+{after}" if after in WORDS["particles"] else "")


def _behind(words: Words, place: int) -> list[str]:
    """Return particles that go with a word: the next word, or that behind a name: "handed Moss over to"."""
    after = place + 1
    phrase = [words[after].key] if after < len(words) and words[after].key in WORDS["phrases"] else []
    while after < len(words) and words[after].raw[:1].isupper():
        after += 1
    if place + 1 < after < len(words) and words[after].key in ("over", "off"):
        phrase.append(words[after].key)
    return phrase


def _readings(key: str, known: Collection[str]) -> tuple[str, ...]:
    """Return what a key may be known as: with its particle, and without where that changes nothing."""
    plain, _, particle = key.partition("+")
    return (key,) if particle not in ("", "by") and key in known else (key, plain)


def around(words: Words, left: Span, right: Span, taken: Collection[int]) -> list[int]:
    """Return the places behind a pair of names and before it, nearest first, up to the next names."""
    after = range(right.last, min(len(words), right.last + _WINDOW))
    before = range(left.first - 1, max(-1, left.first - 1 - _WINDOW), -1)
    ends = {i for i in after if words[i].key in WORDS["clauses"]}
    ends = {i for i in ends if i + 1 == len(words) or words[i + 1].key not in ("is", "was", "are", "were")}
    free = (takewhile(lambda i: i not in taken and i not in ends, places) for places in (after, before))
    return [i for places in free for i in places]


def _pairs(
    names: EntityNames, passages: Iterable[Passage], skip: frozenset[str]
) -> Iterator[tuple[list[str], list[str], list[str], list[str]]]:
    """Yield the keys between entities beside each other, those of the sentence, and what both may be."""
    for passage in passages:
        for start, end in sentence_spans(passage.text):
            sentence = passage.text[start:end]
            words = words_of(sentence)
            if not 3 < len(words) <= _MAX_WORDS:
                continue
            spans = all_names(sentence, words, names, skip)
            if not 2 <= len(spans) <= _MAX_SPANS or not grammar.asserts(sentence, spans):
                continue
            taken = {i for span in spans for i in range(span.first, span.last)}
            every = list(keys(words, (i for i in range(len(words)) if i not in taken)))
            meant = [[str(c.term) for c in names.exact(text_of(words, span))[:3]] for span in spans]
            for (left, lefts), (right, rights) in pairwise(zip(spans, meant, strict=True)):
                if 0 <= right.first - left.last <= _BETWEEN:
                    between = list(keys(words, range(left.last, right.first)))
                    between = between or list(keys(words, around(words, left, right, taken)))
                    if between:
                        yield between, every, lefts, rights


def _link(kg: KnowledgeGraph, pairs: set[tuple[str, str]]) -> dict[tuple[str, str], set[str]]:
    """Return which relations the graph has between entities, in their direction."""
    both = sorted(pairs | {(b, a) for a, b in pairs})
    query = queries.get("completion/predicates")
    rows = [(Literal(n), URIRef(a), URIRef(b)) for n, (a, b) in enumerate(both)]
    links: dict[tuple[str, str], set[str]] = {}
    for text in query.batches(query.params[0], rows, limit=1_000_000):
        for _, s, p, o in kg.select(text):
            links.setdefault((str(s), str(o)), set()).add(str(p))
    return links


_FAR: Final = 25
_FEW: Final = 20
"""Relations between two kinds of things up to which each is tried, where the relation is asked for."""
_OPPOSITES: Final = {"first": words("last latest final again next"), "last": frozenset(("first", "earliest"))}
"""What a sentence may not say in place of a word of a relation's name: "last held" for "first held"."""
_OVER: Final = {"lives": "lived", "works": "worked", "resides": "resided", "plays": "played"}
"""What is so no longer, where it is told in the past, though its relation says that it is."""


def _opposite(end: End) -> End:
    return "object" if end == "subject" else "subject"


class Kinds:
    """Tells what may fill the unknown place of a triple, and which relations may hold of what is there."""

    def __init__(self, kg: KnowledgeGraph, sought: SoughtTriple, new_names: bool) -> None:
        self.sought = sought
        self.new_names = new_names
        self.names = EntityNames.of(kg)
        self.ends = PropertyEnds.of(kg)
        self._may: dict[tuple[str, str, str], bool] = {}

    def fits(self, end: End, predicate: str, text: str) -> tuple[URIRef | None, float]:
        """Return what a candidate means, and how well that goes with the unknown place; 0 if not at all."""
        meant, there = self.ends.named(end, predicate, text)
        if there:
            return (there[0], 1.0) if len(there) == 1 else (None, 0.0)
        if not self.ends.shape(end, predicate).fits(text):
            return None, 0.0
        if not meant:
            return None, 0.85 if self.new_names else 0.0
        alike = len(meant) == 1 and self.ends.alike(end, predicate, str(meant[0]))
        return (meant[0], 0.85) if alike else (None, 0.0)

    def possible(self, text: str) -> Callable[[str], bool]:
        """Return what tells whether a relation may hold of what is known and a candidate, by their kinds."""
        place, triple, names = self.sought.place, self.sought.triple, self.sought.names
        if place == "predicate":
            return lambda r: all(self.may(end, r, names[end][0]) for end in ENDS)
        known = _opposite(place)
        term = triple.object if place == "subject" else triple.subject
        iri = isinstance(term, URIRef)
        name = str(term) if iri else names[known][0]
        return lambda r: self.may(known, r, name, iri) and self.may(place, r, text)

    def may(self, end: End, relation: str, name: str, iri: bool = False) -> bool:
        """Return whether what has a name may stand at an end of a relation, by its kind."""
        key = end, relation, name
        if key not in self._may:
            # Years may be entities, called by their numbers.
            called = self.sought.names[end][0] if iri and end in self.sought.names else name
            numeric = end == "object" and self.ends.shape(end, relation).numbers > 0.9
            numeric = numeric and not (iri and is_number(called))
            if is_number(name) or numeric:
                fine = end == "object" and is_number(name) and self.ends.shape(end, relation).fits(name)
            else:
                meant = [name] if iri else [str(c.term) for c in self.names.exact(name)]
                fine = not meant or any(not self.ends.strange(end, relation, one) for one in meant)
            self._may[key] = fine
        return self._may[key]

    def one_kind(self, predicate: str) -> bool:
        """Return whether what stands at one end of the relation may also stand at the other."""
        place, triple = self.sought.place, self.sought.triple
        if place == "predicate":
            return all(self.may(_opposite(end), predicate, self.sought.names[end][0]) for end in ENDS)
        known = triple.object if place == "subject" else triple.subject
        if not isinstance(known, URIRef):
            return False
        # The known entity stands, somewhere in the graph, where the unknown one is to stand here, or is like
        # those that do.
        there = self.ends.has(place, predicate, str(known)) or self.ends.is_mixed(predicate)
        return there or self.ends.has_classes(place, predicate, str(known))


@dataclass(frozen=True)
class Said:
    """A relation as a word of a sentence says it: how surely, by which key, and where."""

    sure: float
    key: str
    place: int


@dataclass(frozen=True)
class NamePair:
    """Two names in a sentence: the known one or the subject, and a candidate with its text.

    `possible` tells whether a relation may hold of the two.
    """

    sentence: grammar.ReadSentence
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
        every = {i for span in self.sentence.names for i in range(span.first, span.last)}
        return frozenset(every.difference(range(self.candidate.first, self.candidate.last)))

    @cached_property
    def between(self) -> list[int]:
        """Return the places of the words between them that belong to no name."""
        return [i for i in range(self.low.last, self.high.first) if i not in self.taken]

    @cached_property
    def inside(self) -> list[str]:
        """Return the keys of these words."""
        return [self.sentence.key(i) for i in self.between]

    @cached_property
    def denials(self) -> tuple[int, ...]:
        """Return where the sentence denies something that the two may have no part in."""
        return grammar.beyond(self.sentence.text, self.sentence.names)

    @property
    def stated(self) -> bool:
        """Return whether nothing is denied, or only behind a phrase that has both."""
        return not self.denials or grammar.is_closed(self.sentence, self.low, self.high, self.denials)

    @property
    def headed(self) -> bool:
        """Return whether the first only belongs to what is spoken of: "the words of Moss are by Ada"."""
        return self.sentence.key(self.low.first - 1) in WORDS["belonging"]


@dataclass
class PairReading:
    """Reads what is said of two names, and of one relation where that is asked for."""

    kinds: Kinds
    words: RelationWords
    relations: Relations
    predicate: str

    @cached_property
    def own(self) -> frozenset[str]:
        """Return the words of the relation's names."""
        relation = self.relations.by_iri.get(URIRef(self.predicate))
        return frozenset(key for name in (relation.names if relation else ()) for key in key_of(name))

    @cached_property
    def others(self) -> list[str]:
        """Return the relations that a text may speak of."""
        every = (str(relation.iri) for relation in self.relations.all)
        return [iri for iri in every if iri not in LABELS and iri != str(RDF.type)]

    def says(self, pair: NamePair) -> dict[str, Said]:
        """Return which relations the words say that are nearest to a candidate, and how surely."""
        if pair.high.first - pair.low.last > _FAR or self._aside(pair):
            return {}
        if link := self._link(pair):
            return link if not pair.denials else {}
        for i in reversed(pair.between) if pair.behind else pair.between:
            if relations := self._telling(pair, i):
                return relations if self._states(pair, i) else {}
        return self._loosely(pair) if pair.stated else {}

    def _aside(self, pair: NamePair) -> bool:
        """Return whether the names stand for something else there, or who is named for whom it was done."""
        sentence, candidate = pair.sentence, pair.candidate
        if (
            any(grammar.another(sentence, s, lambda i: self._tells(pair, i)) for s in (pair.at, candidate))
            or grammar.between_others(sentence, pair.low, pair.high)
            or grammar.qualifies(sentence, candidate)
            or grammar.in_fiction(sentence)
            or (self.predicate and grammar.leads_elsewhere(sentence, pair.high, self.own))
            or any(now in self.own and past in pair.inside for now, past in _OVER.items())
        ):
            return True
        here = {word.key for word in sentence.words}
        if any(one in self.own - here and here & others for one, others in _OPPOSITES.items()):
            return True
        around_names = {sentence.key(candidate.first - 1), sentence.key(pair.high.first - 1)}
        if around_names & {"for", "after", "before"} and self._links("by"):
            return True
        before = sentence.key(sentence.before_article(candidate.first))
        return before == "from" and not WORDS["gone"].isdisjoint(pair.inside) and self._links("in")

    def _links(self, preposition: str) -> bool:
        """Return whether a preposition says what is asked for by itself."""
        return self.words.linking(preposition, lambda r: r == self.predicate) == self.predicate != ""

    def _tells(self, pair: NamePair, place: int) -> bool:
        """Return whether a word says what is asked for."""
        relations = self.said(pair, place)
        return self.predicate in relations if self.predicate else bool(relations)

    def _loosely(self, pair: NamePair) -> dict[str, Said]:
        """Return what is said of two names without a word between them that says it."""
        sentence, between = pair.sentence, pair.between
        if pair.behind and grammar.stative(sentence, pair.at, pair.candidate, between):
            return self._being(pair)
        passing = pair.behind and not pair.headed
        passing = passing and grammar.beside(sentence, pair.at, pair.candidate, between)
        if passing and (relations := self._being(pair)):
            return relations
        if grammar.are_apart(sentence, between, pair.behind, pair.candidate) and not self._is_placed(pair):
            return {}
        for i in around(sentence.words, pair.low, pair.high, pair.taken):
            relations = {} if pair.denials and i > pair.low.first else self.said(pair, i)
            if any(map(pair.possible, relations)):
                return {} if grammar.unreal(sentence, i) else relations
        if pair.behind and between and WORDS["copula"].issuperset(pair.inside):
            return self._being(pair)
        return {}

    def _telling(self, pair: NamePair, place: int) -> dict[str, Said]:
        """Return what a word between two names says of them; empty if it only helps to say something."""
        relations = self.said(pair, place)
        # "Lies with Ada" says nothing of where.
        light = pair.sentence.key(place) in WORDS["light"]
        return {} if light and not any(map(pair.possible, relations)) else relations

    def _states(self, pair: NamePair, place: int) -> bool:
        """Return whether a sentence states what a word between two names says."""
        sentence = pair.sentence
        return (
            not grammar.unreal(sentence, place)
            and grammar.reaches(sentence, place, pair.candidate)
            and not grammar.is_governed(sentence, pair.low, place, lambda i: self._tells(pair, i))
            and pair.stated
        )

    def said(self, pair: NamePair, place: int) -> dict[str, Said]:
        """Return what the word at a place says, with what is listed beside it: "written and directed"."""
        relations: dict[str, Said] = {}
        words = pair.sentence.words
        own = self.words.at(words, place, pair.possible)
        for i in grammar.list_around(pair.sentence, place) if own else ():
            for relation, (sure, key) in self.words.at(words, i, pair.possible).items():
                relations.setdefault(relation, Said(sure, key, i))
        return relations

    def _is_placed(self, pair: NamePair) -> bool:
        """Return whether a candidate stands where a verb takes it: "find Moss in Rome", "call Rome home"."""
        inside = [key for key in pair.inside if key not in ("a", "an", "the")]
        if not pair.behind or not self.predicate or len(inside) != 1:
            return False
        [key], later = inside, pair.low.first > 0
        if key == "as":
            return later and self.kinds.ends.shape("object", self.predicate).whole
        if key in ("call", "calls", "called"):
            return True
        if key == "with" and self.kinds.sought.place == "subject":
            return later  # "tagged Moss with robots"
        return key in ("in", "at", "on") and later and self._links("in")

    def _link(self, pair: NamePair) -> dict[str, Said]:
        """Return what a preposition says by itself: "Moss is by Ada", "built for Ada"."""
        sentence, place = pair.sentence, pair.candidate.first - 1
        while place > 0 and sentence.key(place) in ("the", "a", "client", "customer"):
            place -= 1
        if not pair.behind or pair.headed or place not in pair.between:
            return {}
        bare = all(
            sentence.key(i) in WORDS["copula"] | WORDS["and"] | {"both", "all"}
            for i in pair.between
            if i != place
        )
        if sentence.key(place) != "for" and not (sentence.key(place) == "by" and bare):
            return {}
        relation = self.words.linking(sentence.key(place), pair.possible)
        return {relation: Said(0.7, "by", place)} if relation else {}

    def _being(self, pair: NamePair) -> dict[str, Said]:
        """Return what "X is a C" and "X focuses on C" say, where C is one of few values of one relation."""
        ends = self.kinds.ends
        meant = [str(c.term) for c in self.kinds.names.exact(pair.text)]
        if not self.predicate or not ends.shape("object", self.predicate).whole or len(meant) != 1:
            return {}
        ends.learn("object", [*self.others, self.predicate], meant)
        if not ends.has("object", self.predicate, meant[0]):
            return {}
        others = [r for r in self.others if r != self.predicate]
        if any(pair.possible(r) and ends.has("object", r, meant[0]) for r in others):
            return {}
        return {self.predicate: Said(0.7, "", pair.candidate.first)}


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
        self.words = relation_words
        self.names = EntityNames.of(kg)
        self.kinds = Kinds(kg, sought, new_names)
        self.relations = Relations.of(kg)
        place = sought.place
        self.predicate = "" if place == "predicate" else str(sought.triple.predicate)
        self.pairs = self._asking(self.predicate)
        # Values of which there are few, such as genres, are known in small letters too.
        self.few = frozenset() if place == "predicate" else self.kinds.ends.few(place, self.predicate)

    def _asking(self, relation: str) -> PairReading:
        return PairReading(self.kinds, self.words, self.relations, relation)

    def passage(self, passage: Passage) -> Iterator[Extraction]:
        for sentence in grammar.sentences(passage, self._names):
            if grammar.asserts(sentence.text, sentence.names) or grammar.beyond(
                sentence.text, sentence.names
            ):
                read = self._relations if self.sought.place == "predicate" else self._values
                yield from read(passage, sentence)

    # -- one value unknown -------------------------------------------------------------------------

    def _values(self, passage: Passage, sentence: grammar.ReadSentence) -> Iterator[Extraction]:
        place = self.sought.place
        if place == "predicate":
            return
        for at, sure, since in self._known_names(sentence, self.sought.names[_opposite(place)]):
            for candidate, text, surely, from_ in self._candidates(sentence, at):
                possible = self.kinds.possible(text)
                ahead = NamePair(sentence, at, candidate, text, possible)
                # Whichever is the object is what prepositions are asked of.
                turned = NamePair(sentence, candidate, at, self.sought.names[_opposite(place)][0], possible)
                best = self.pairs.says(turned if place == "subject" else ahead).get(self.predicate)
                if best is None or not self._order(self.pairs, best, place == "object", ahead):
                    continue
                term, fit = self.kinds.fits(place, self.predicate, text)
                if fit and (term is not None or self._new(ahead)):
                    certain = round(best.sure * (sure * surely) * fit, 4)
                    quote = passage.text[min(since, from_, sentence.start) : sentence.end]
                    yield Extraction(place, text, passage, quote, certain, term)

    def _candidates(self, sentence: grammar.ReadSentence, at: Span) -> Iterator[tuple[Span, str, float, int]]:
        """Yield what may be the value beside what is known, as it is named, and how surely it is meant."""
        for span in sentence.names:
            if not span.overlaps(at):
                yield span, text_of(sentence.words, span), 1.0, sentence.start
        for one in sentence.stand_ins:
            if one.first and one.span != at:
                yield one.span, one.name, 0.9, one.before

    def _new(self, pair: NamePair) -> bool:
        """Return whether a name that the graph does not know is read as a subject or an object itself.

        A preposition may make it something else: "translated into English".
        """
        before = pair.sentence.key(pair.candidate.first - 1)
        elsewhere = before in WORDS["else"] - self.pairs.own
        return not elsewhere and self.predicate in self.pairs.says(pair)

    # -- the relation unknown ----------------------------------------------------------------------

    def _relations(self, passage: Passage, sentence: grammar.ReadSentence) -> Iterator[Extraction]:
        names = self.sought.names
        for s, sure, since in self._known_names(sentence, names["subject"]):
            for o, surer, from_ in self._known_names(sentence, names["object"]):
                if s.overlaps(o):
                    continue
                text = names["object"][0]
                pair = NamePair(sentence, s, o, text, self.kinds.possible(text))
                tried = [r for r in self.pairs.others if pair.possible(r)]
                if len(tried) > _FEW:
                    tried = [r for r in sorted(self.pairs.says(pair)) if pair.possible(r)]
                for relation in tried:
                    reading = self._asking(relation)
                    said = reading.says(pair).get(relation)
                    if said is not None and self._order(reading, said, True, pair):
                        confidence = round(said.sure * min(sure, surer), 4)
                        quote = passage.text[min(since, from_, sentence.start) : sentence.end]
                        yield Extraction("predicate", relation, passage, quote, confidence, URIRef(relation))

    def _order(self, reading: PairReading, said: Said, known_is_subject: bool, pair: NamePair) -> bool:
        """Return whether subject and object are in the order that a relation word asks for, if any."""
        relation = reading.predicate
        learnt = self.words.forward.get((said.key, relation))
        first = pair.behind == known_is_subject
        if not self.kinds.one_kind(relation):
            return True
        if learnt is not None and not 0.2 < learnt < 0.8:
            return first == (learnt >= 0.8)
        if not said.key:
            return first
        named = self.relations.by_iri.get(URIRef(relation))
        names = named.names if named else ()
        ahead = grammar.subject_first(pair.sentence, said.place, said.key, names, pair.low, pair.high)
        back = {(said.key, relation), (said.key.partition("+")[0], relation)}
        return first == (ahead != bool(back & self.words.inverse))

    def _known_names(
        self, sentence: grammar.ReadSentence, names: Iterable[str]
    ) -> list[tuple[Span, float, int]]:
        """Return where what is known stands in a sentence, how sure that is, and since where it is told."""
        spans = {span for name in names for span in find(sentence.words, name, self.names)}
        scores = dict.fromkeys(spans, (1.0, sentence.start))
        if not scores:
            meant = [one for one in sentence.stand_ins if self._means(sentence, one, names)]
            scores = {one.span: (0.9, one.before) for one in meant}
        return [(span, *scores[span]) for span in sorted(scores, key=lambda span: span.first)]

    def _means(self, sentence: grammar.ReadSentence, one: grammar.StandIn, names: Iterable[str]) -> bool:
        """Return whether a pronoun stands for what is known; if not by its place, then by its kind."""
        if not any(key_of(one.name) == key_of(name) for name in names):
            return False
        place = self.sought.place
        if one.first or place == "predicate":
            return one.first
        rivals = [other.name for other in sentence.stand_ins if other.name != one.name]
        if sentence.words[one.span.first].key not in ("it", "him", "them"):
            # "Ada wrote it" is not of Ada, but "Ada sold her books" may be.
            ahead = [span for span in sentence.names if span.first < one.span.first]
            rivals += [text_of(sentence.words, span) for span in ahead]
        return not any(self.kinds.may(_opposite(place), self.predicate, rival) for rival in rivals)

    def _names(self, text: str, words: tuple[TextToken, ...]) -> tuple[Span, ...]:
        """Return the names among the words of a text, but for words that say a relation, such as "CEO"."""
        spans = all_names(text, words, self.names, self.words.names, self.few)
        spans = tuple(self._without_labels(words, span) for span in spans)
        return tuple(
            span
            for span in spans
            if len(span) > 1 or self.names.has(words[span.first].key) or not self.words.at(words, span.first)
        )

    def _without_labels(self, words: tuple[TextToken, ...], span: Span) -> Span:
        """Return a name without the field that it stands in: "Director: Ada Hill"."""
        if self.names.has(normalise(text_of(words, span))):
            return span
        ahead = words[span.first - 1].after.strip() if span.first else "."
        for at in range(span.first + 1, span.last if ahead in (".", ";", "|") else 0):
            rest = Span(at, span.last)
            known = self.names.has(normalise(text_of(words, rest)))
            field = words[at - 1].after == ": " and (known or bool(self.words.at(words, at - 1)))
            # "Maintenance of Moss": the first word has its capital from the sentence.
            noun = known and words[at - 1].key in ("of", "for")
            if field or (noun and self.words.at(words, span.first)):
                return rest
        return span
