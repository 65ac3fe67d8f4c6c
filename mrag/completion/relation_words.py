"""Words by which a text says that a relation holds: those of its names, and those a corpus uses for it.

The second kind is learnt from the passages themselves, without a model: where two entities stand beside each
other that the graph has a triple of, the words between them are taken for ways of saying it (distant
supervision: Mintz, Bills, Snow and Jurafsky, 2009, Distant supervision for relation extraction without
labeled data). A word that goes with several relations says nothing. What English says for the words of a
relation's name is in `senses.tsv`.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from itertools import pairwise, takewhile
from typing import Final, NamedTuple

from rdflib import Literal, URIRef

from mrag.completion.checks import SCHEMA
from mrag.completion.names import EntityNames, PropertyEnds, Relations, Span, Words, all_names, text_of
from mrag.completion.passages import Passage
from mrag.completion.sentences import asserts
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import LABELS
from mrag.language.sentences import sentence_spans
from mrag.language.tokens import is_stopword, normalised, stem, words, words_of
from mrag.rdf import queries

_IRREGULAR: Final = {
    forms[0]: forms[1:]
    for forms in map(
        str.split,
        (
            "write wrote written, sing sang sung, win won, lead led, die dead, teach taught, build built, "
            "make made, speak spoke spoken, buy bought, run ran, stand stood, sit sat, lie lying lay, "
            "come came, bring brought, take took taken, begin began begun, dwell dwelt, find found, "
            "fly flew flown, drive drove driven, ride rode ridden, lay laid, hold held, grow grew grown, "
            "pay paid, sell sold, draw drew drawn, give gave given, leave left, hang hung, show shown, "
            "keep kept, feed fed, eat ate eaten, rise rose, choose chose chosen, do does did done doing, "
            "learn learnt, lend lent, breed bred, go went gone goes, let letting, shoot shot, know known, "
            "sow sown, see seen"
        ).split(", "),
    )
}


@lru_cache(maxsize=1)
def _senses() -> list[list[frozenset[str]]]:
    """Return the lines of `senses.tsv`: keys of names, of words for them, of words the other way round."""
    lines = files(__package__).joinpath("senses.tsv").read_text("utf-8").splitlines()
    parts = (f"{line}\t".split("\t")[:3] for line in lines if not line.startswith("#"))
    return [[_forms(part) for part in several] for several in parts]


def _forms(text: str) -> frozenset[str]:
    """Return the stems of some words in all their forms, since a stem does not bring all of them together."""
    found: set[str] = set()
    for entry in text.split():
        word, plus, particle = entry.partition("+")
        base = word.removesuffix("e")
        forms = [word, f"{word}s", f"{base}ed", f"{base}ing", f"{base}er", *_IRREGULAR.get(word, ())]
        if word.endswith("y"):
            forms += [f"{word[:-1]}ied", f"{word[:-1]}ies"]
        if len(word) > 2 and word[-1] in "bdgmnprt" and word[-2] in "aeiou" and word[-3] not in "aeiou":
            forms += [f"{word}{word[-1]}ed", f"{word}{word[-1]}ing"]
        found.update(stem(form) + plus + particle for form in forms)
    return frozenset(found)


_MAX_PASSAGES: Final = 4000
_MAX_WORDS: Final = 60
_MAX_SPANS: Final = 8
_BETWEEN: Final = 12
_WINDOW: Final = 5
"""How many words beside two names may say how they are related, where none between them does."""

_MIN_PLACES: Final = 4
_PURE: Final = 0.7
_PARTICLES: Final = words("by out away up place under down back after")
_PHRASES: Final = words("from over off for of with at on to since under")
"""Particles that make a word say something else, and that passages do not teach."""

_VERBS: Final = frozenset(("find", "give", "show"))
"""Verbs that say nothing in a question, and something in a text."""

_CLAUSES: Final = words("which who whom whose while because but")
_COMMON: Final = frozenset(map(stem, ("year", "date", "place", "name", "number", "time")))
"""Words of names such as "release year" that say nothing where there are others."""

_AHEAD: Final = 0.12
_SAID: Final = 0.6
"""How surely a word that is not a relation's own says it."""


class Meaning(NamedTuple):
    """A relation that a word may say, how sure that is, and whether the passages taught it or a name does."""

    relation: str
    sure: float
    learnt: bool = False


@dataclass
class RelationWords:
    """The words that say a graph's relations.

    Attributes:
        words: Meanings by the stem of a word; one that stands before "by" has `+by` behind it.
        names: Normalised names of relations, which are no names of entities.
        forward: Share of places, by word and relation, where the subject came first.
        shared: Relations that English says by the same word, by its stem.
        inverse: Words and relations that they say the other way round.
    """

    words: dict[str, list[Meaning]] = field(default_factory=dict)
    names: frozenset[str] = frozenset()
    forward: dict[tuple[str, str], float] = field(default_factory=dict)
    shared: dict[str, tuple[str, ...]] = field(default_factory=dict)
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
        made = cls(names=frozenset(normalised(name) for r in every for name in r.names))
        own: defaultdict[str, set[str]] = defaultdict(set)
        for relation in every:
            iri = str(relation.iri)
            for name in relation.names if not iri.startswith(SCHEMA) and iri not in LABELS else ():
                said = words_of(name)
                stems = [key.partition("+")[0] for key in keys(said, range(len(said)))]
                own[iri].update([key for key in stems if key not in _COMMON] or stems)
        lexical = _inverted(own)
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
        for key, relations in _inverted(further).items():
            owners = {r in numeric for r in lexical.get(key, ())}
            told = tuple(r for r in sorted(relations) if (r in numeric) not in owners)
            if len(told) == 1:
                self.words.setdefault(key, []).append(Meaning(told[0], 0.6 + 0.2 * _SAID))
            elif told:
                self.shared[key] = told

    def at(
        self, words: Words, place: int, possible: Callable[[str], bool] = lambda relation: True
    ) -> dict[str, tuple[float, str]]:
        """Return what the word at a place says: for each relation how surely, and by which word.

        A word that is shared says the one relation that may hold between what is spoken of.
        """
        found: dict[str, tuple[float, str]] = {}
        for key in keys(words, [place]):
            plain = key.partition("+")[0]
            phrases = [f"{plain}+{particle}" for particle in _behind(words, place)]
            phrase = next((one for one in phrases if one in self.words or one in self.shared), "")
            for name in (phrase,) if phrase else _readings(key, {*self.words, *self.shared}):
                for relation, sure, _ in self.words.get(name, ()):
                    if sure > found.get(relation, (0.0, ""))[0]:
                        found[relation] = sure, phrase or key
                shared = [r for r in self.shared.get(name, ()) if possible(r)]
                if len(shared) == 1 and not any(map(possible, found)):
                    found = {shared[0]: (0.6 + 0.2 * _SAID, phrase or key)}
        return found

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
        linked = _linked(kg, {(a, b) for _, _, lefts, rights in pairs for a in lefts for b in rights})
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


def _inverted(sets: Mapping[str, Iterable[str]]) -> dict[str, set[str]]:
    """Return for each member of some sets the names of those that have it."""
    found: dict[str, set[str]] = {}
    for name, members in sets.items():
        for member in members:
            found.setdefault(member, set()).add(name)
    return found


def keys(words: Words, places: Iterable[int]) -> Iterator[str]:
    """Yield the keys of some words: "direct+by" for "directed by"; words without meaning have none."""
    for at in places:
        word, small = words[at], words[at].raw.casefold()
        if (is_stopword(small) and small not in _VERBS) or not word.key or word.key[0].isdigit():
            continue
        after = words[at + 1].key if at + 1 < len(words) else ""
        yield stem(word.key) + (f"+{after}" if after in _PARTICLES else "")


def _behind(words: Words, place: int) -> list[str]:
    """Return particles that go with a word: the next word, or that behind a name: "handed Moss over to"."""
    after = place + 1
    found = [words[after].key] if after < len(words) and words[after].key in _PHRASES else []
    while after < len(words) and words[after].raw[:1].isupper():
        after += 1
    if place + 1 < after < len(words) and words[after].key in ("over", "off"):
        found.append(words[after].key)
    return found


def _readings(key: str, known: Collection[str]) -> tuple[str, ...]:
    """Return what a key may be known as: with its particle, and without where that changes nothing."""
    plain, _, particle = key.partition("+")
    return (key,) if particle not in ("", "by") and key in known else (key, plain)


def around(words: Words, left: Span, right: Span, taken: Collection[int]) -> list[int]:
    """Return the places behind a pair of names and before it, nearest first, up to the next names."""
    after = range(right.last, min(len(words), right.last + _WINDOW))
    before = range(left.first - 1, max(-1, left.first - 1 - _WINDOW), -1)
    ends = {i for i in after if words[i].key in _CLAUSES}
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
            if not 2 <= len(spans) <= _MAX_SPANS or not asserts(sentence, spans):
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


def _linked(kg: KnowledgeGraph, pairs: set[tuple[str, str]]) -> dict[tuple[str, str], set[str]]:
    """Return which relations the graph has between entities, in their direction."""
    both = sorted(pairs | {(b, a) for a, b in pairs})
    query = queries.get("completion/predicates")
    rows = [(Literal(n), URIRef(a), URIRef(b)) for n, (a, b) in enumerate(both)]
    found: dict[tuple[str, str], set[str]] = {}
    for text in query.batches(query.params[0], rows, limit=1_000_000):
        for _, s, p, o in kg.select(text):
            found.setdefault((str(s), str(o)), set()).add(str(p))
    return found
