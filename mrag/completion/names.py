"""Names of a graph's entities and relations: where texts mention them, and which ends relations have."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any, Final, Literal, cast

import numpy as np
from rdflib import Literal as RdfLiteral
from rdflib import URIRef

from mrag.completion.patterns import TermCandidate
from mrag.context.display import Display
from mrag.generation.verbalise import DESCRIBING
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import LABELS
from mrag.index.embedding import Embedder
from mrag.language.names import split_identifier
from mrag.language.tokens import is_stopword, normalised, words
from mrag.rdf import queries
from mrag.rdf.terms import SKOLEM, XSD

ALTERNATIVE: tuple[str, ...] = (
    "http://www.w3.org/2004/02/skos/core#altLabel",
    "http://www.w3.org/2004/02/skos/core#hiddenLabel",
    "http://schema.org/alternateName",
    "https://schema.org/alternateName",
    "http://purl.org/dc/terms/alternative",
    "http://xmlns.com/foaf/0.1/nick",
)
"""Properties of other names, beside those of `mrag.graph.record.LABELS`."""

NEARLY = 0.98
"""Score of a name that differs in case, accents or punctuation alone."""

_POOL = 50


class EntityNames:
    """Names and what they name."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        self._names: defaultdict[str, dict[tuple[str, str], None]] = defaultdict(dict)
        for entity, name in pairs:
            if key := normalised(name):
                self._names[key][entity, name] = None
        self.longest = max((len(key.split()) for key in self._names), default=0)
        self._trigrams: dict[str, list[int]] | None = None
        self._keys: list[str] = []
        self._sizes: list[int] = []

    @classmethod
    def of(cls, kg: KnowledgeGraph) -> EntityNames:
        """Return the names of a knowledge graph, read once for each state of it."""
        return kg.cached("completion names", lambda: cls(_read(kg)))

    def __len__(self) -> int:
        return len(self._names)

    def has(self, key: str) -> bool:
        """Return whether a normalised text is a name."""
        return key in self._names

    def exact(self, text: str) -> list[TermCandidate]:
        """Return what a text names, as written first, then as normalised; ties in order of IRI."""
        best: dict[str, TermCandidate] = {}
        for entity, name in self._names.get(normalised(text), ()):
            score = 1.0 if name.strip() == text.strip() else NEARLY
            if entity not in best or score > best[entity].score:
                best[entity] = TermCandidate(URIRef(entity), score, name, "exact")
        return ranked(best)

    def fuzzy(self, text: str, k: int, min_score: float = 0.0) -> list[TermCandidate]:
        """Return what names similar to a text name, most similar first, ties in order of IRI."""
        key = normalised(text)
        grams = _grams(key)
        if not grams:
            return []
        postings = self._postings()
        shared = Counter(at for gram in grams for at in postings.get(gram, ()))
        pool = sorted(shared, key=lambda at: (-shared[at] / (len(grams) + self._sizes[at]), at))[:_POOL]
        best: dict[str, TermCandidate] = {}
        for at in pool:
            score = SequenceMatcher(None, key, self._keys[at], autojunk=False).ratio()
            if score < min_score:
                continue
            for entity, name in self._names[self._keys[at]]:
                if entity not in best or score > best[entity].score:
                    best[entity] = TermCandidate(URIRef(entity), min(score, NEARLY), name, "fuzzy")
        return ranked(best)[:k]

    def _postings(self) -> Mapping[str, list[int]]:
        if self._trigrams is None:
            self._keys = sorted(self._names)
            postings: defaultdict[str, list[int]] = defaultdict(list)
            for at, key in enumerate(self._keys):
                grams = _grams(key)
                self._sizes.append(len(grams))
                for gram in grams:
                    postings[gram].append(at)
            self._trigrams = postings
        return self._trigrams


def ranked(best: Mapping[str, TermCandidate]) -> list[TermCandidate]:
    """Return candidates best first, ties in order of IRI."""
    return sorted(best.values(), key=lambda c: (-c.score, str(c.term)))


def _read(kg: KnowledgeGraph) -> Iterable[tuple[str, str]]:
    properties = [p for p in (*kg.profile().labels, *ALTERNATIVE) if p in kg.profile().predicates]
    if not properties:
        return
    for entity, name in kg.select(queries.get("completion/names").bind(property=properties)):
        if not str(entity).startswith(SKOLEM):
            yield str(entity), str(name)


def _grams(key: str) -> set[str]:
    padded = f"  {key} "
    return {padded[at : at + 3] for at in range(len(padded) - 2)} if key else set()


_WORD = re.compile(r"\w+(?:['’]\w+)*")
_QUOTED = re.compile(r"[\"“„«]([^\"“”„«»\n]{1,80})[\"”“»]")
_LONGEST: Final = 12
_JOINS: Final = words("of the de da di del della der den du la le van von y el al bin ten ter")
_OPENINGS: Final = words(
    "since until after before during around between among within under near through throughout despite "
    "although though because every each another once only even both many several today now later then here "
    "there"
)
"""Words that begin a sentence and no name, with those of no meaning."""
_ROMAN = re.compile(r"(?:\d+|[IVX]+)\Z")


@dataclass(frozen=True, slots=True)
class TextWord:
    """A word of a text: as written, normalised, and where it stands."""

    text: str
    key: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Span:
    """Some words in a row, as `words[first:last]`."""

    first: int
    last: int

    def overlaps(self, other: Span) -> bool:
        """Return whether two spans share a word."""
        return self.first < other.last and other.first < self.last


@lru_cache(maxsize=20_000)
def words_of(text: str) -> tuple[TextWord, ...]:
    """Return the words of a text; a possessive ending is no part of a word."""
    found = []
    for match in _WORD.finditer(text):
        word, end = match.group(), match.end()
        if word[-2:] in ("'s", "’s") and len(word) > 2:
            word, end = word[:-2], end - 2
        found.append(TextWord(word, normalised(word), match.start(), end))
    return tuple(found)


@lru_cache(maxsize=50_000)
def key_of(name: str) -> tuple[str, ...]:
    """Return the normalised words of a name."""
    return tuple(w.key for w in words_of(name))


def mentioned(text: str, names: Iterable[Sequence[str]]) -> bool:
    """Return whether a text has one of each group of names, word by word."""
    keys = [w.key for w in words_of(text)]
    return all(any(_places(keys, key_of(name)) for name in group) for group in names)


def find(text: str, words: Sequence[TextWord], name: str, known: EntityNames | None = None) -> list[Span]:
    """Return where a name stands in a text as a name of its own, not as a part of a longer one."""
    key = key_of(name)
    spans = (Span(at, at + len(key)) for at in _places([w.key for w in words], key))
    return [span for span in spans if _alone(text, words, span, known)]


def known_names(
    text: str, words: Sequence[TextWord], known: EntityNames, skip: frozenset[str] = frozenset()
) -> list[Span]:
    """Return the longest names of the graph in a text, none within another, in order of place.

    What is written in small letters throughout is no name unless it stands in quotes: graphs name many
    common things.
    """
    found: list[Span] = []
    at = 0
    quoted = [match.span(1) for match in _QUOTED.finditer(text)]
    while at < len(words):
        length = next(
            (
                n
                for n in range(min(_LONGEST, len(words) - at), 0, -1)
                if _is_name(text, words, at, n, known, skip)
            ),
            0,
        )
        if length:
            start, end = words[at].start, words[at + length - 1].end
            if not text[start:end].islower() or any(a <= start and end <= b for a, b in quoted):
                found.append(Span(at, at + length))
            else:
                length = 1
        at += length or 1
    return found


def _is_name(
    text: str, words: Sequence[TextWord], at: int, length: int, known: EntityNames, skip: frozenset[str]
) -> bool:
    key = normalised(text[words[at].start : words[at + length - 1].end])
    if key in skip or not known.has(key):
        return False
    if length == 1 and is_stopword(words[at].text.casefold()):
        return False
    return _joined(text, words, at, length)


def names_by_spelling(text: str, words: Sequence[TextWord]) -> Iterator[Span]:
    """Yield what looks like a name by how it is written: capitals, quotes, numbers."""
    taken: list[Span] = []
    for match in _QUOTED.finditer(text):
        inside = [i for i, w in enumerate(words) if w.start >= match.start(1) and w.end <= match.end(1)]
        if inside:
            span = Span(inside[0], inside[-1] + 1)
            taken.append(span)
            yield span
    at = 0
    while at < len(words):
        last = _run(text, words, at)
        span = Span(at, max(last, at + 1))
        # One word that begins a sentence has its capital from there.
        alone = last == at + 1 and _starts(text, words, at) and not words[at].text[0].isdigit()
        if last > at and not alone and not any(span.overlaps(other) for other in taken):
            yield span
        at = span.last


def all_names(
    text: str,
    words: Sequence[TextWord],
    known: EntityNames,
    skip: frozenset[str] = frozenset(),
    few: frozenset[str] = frozenset(),
) -> tuple[Span, ...]:
    """Return what stands for a name in a text, known or not, without overlaps, in order of place.

    Longer ones come first, and known names of several words before what is only written like a name.
    """
    there = known_names(text, words, known, skip)
    small = [
        Span(at, at + n)
        for n in (1, 2, 3)
        for at in range(len(words) - n + 1 if few else 0)
        if normalised(text[words[at].start : words[at + n - 1].end]) in few
    ]
    firm = {span for span in (*there, *small) if span.last - span.first > 1}
    every = {*there, *small, *names_by_spelling(text, words)}
    kept: list[Span] = []
    for span in sorted(every, key=lambda s: (s not in firm, s.first - s.last, s.first)):
        if not any(span.overlaps(other) for other in kept):
            kept.append(span)
    return tuple(sorted(kept, key=lambda s: s.first))


def text_of(text: str, words: Sequence[TextWord], span: Span) -> str:
    """Return the words of a span as they are written; initials keep their full stop."""
    start, end = words[span.first].start, words[span.last - 1].end
    return text[start:end]


def _run(text: str, words: Sequence[TextWord], at: int) -> int:
    """Return where a run of capitalised words ends; the same place where none begins."""
    first = words[at].text
    if first[0].isdigit():
        return at + 1
    opens = is_stopword(first.casefold()) or first.casefold() in _OPENINGS
    if not first[0].isupper() or (opens and _starts(text, words, at)):
        return at
    last = at + 1
    here = last
    while here < len(words) and _close(text, words, here):
        word = words[here].text
        if word[0].isupper() or (word[0].isdigit() and here == last):
            last = here + 1
        elif word.casefold() not in _JOINS:
            break
        here += 1
    return last


def _starts(text: str, words: Sequence[TextWord], at: int) -> bool:
    """Return whether a word begins a sentence, or what a colon leads to."""
    return at == 0 or text[words[at - 1].end : words[at].start].strip()[:1] in tuple(".!?:#")


def _close(text: str, words: Sequence[TextWord], at: int) -> bool:
    between = text[words[at - 1].end : words[at].start]
    initial = between == ". " and len(words[at - 1].text) <= 2 and words[at - 1].text[0].isupper()
    return between in (" ", "-", ": ", "’", "'", ".", "'s ", "’s ", ".: ") or initial


def _joined(text: str, words: Sequence[TextWord], at: int, length: int) -> bool:
    """Return whether no sentence ends within some words, apart from behind initials."""
    for here in range(at + 1, at + length):
        between = text[words[here - 1].end : words[here].start]
        if "\n\n" in between or (between.strip() == "." and len(words[here - 1].text) > 3):
            return False
    return True


def _alone(text: str, words: Sequence[TextWord], span: Span, known: EntityNames | None) -> bool:
    if known is not None:
        for first in range(max(0, span.first - 5), span.first + 1):
            for last in range(span.last, min(len(words), span.last + 6) + 1):
                wider = last - first > span.last - span.first
                key = normalised(text[words[first].start : words[last - 1].end]) if wider else ""
                whole = wider and known.has(key) and _joined(text, words, first, last - first)
                if whole and _capitals(words[first:last], words[span.first : span.last]):
                    return False
    if span.last < len(words) and text[words[span.last - 1].end : words[span.last].start] in (" ", "-"):
        after = words[span.last].text
        if _ROMAN.match(after) or (after[0].isupper() and not is_stopword(after.casefold())):
            return False
    if span.first and text[words[span.first - 1].end : words[span.first].start] in (" ", "-"):
        before, at = words[span.first - 1].text, span.first - 1
        if before[0].isupper() and not _starts(text, words, at) and not is_stopword(before.casefold()):
            return False
    return True


def _capitals(wider: Sequence[TextWord], inner: Sequence[TextWord]) -> bool:
    """Return whether a wider name is written as one: capitals, as far as the inner one has them."""
    if not any(w.text[0].isupper() for w in inner):
        return True
    return wider[0].text[0].isupper() and (wider[-1].text[0].isupper() or wider[-1].text[0].isdigit())


def _places(keys: Sequence[str], name: tuple[str, ...]) -> list[int]:
    size = len(name)
    if not size:
        return []
    return [at for at in range(len(keys) - size + 1) if tuple(keys[at : at + size]) == name]


_DESCRIBING = tuple(sorted(DESCRIBING))


@dataclass(frozen=True)
class NamedRelation:
    """A predicate of the graph in words."""

    iri: URIRef
    label: str
    names: tuple[str, ...]
    descriptions: tuple[str, ...] = ()


class Relations:
    """The predicates of a knowledge graph, in order of IRI."""

    def __init__(self, relations: Sequence[NamedRelation]) -> None:
        self.all = tuple(sorted(relations, key=lambda r: str(r.iri)))
        self._vectors: dict[str, Any] = {}

    @classmethod
    def of(cls, kg: KnowledgeGraph) -> Relations:
        """Return the relations of a knowledge graph, read once for each state of it."""
        return kg.cached("completion relations", lambda: cls(_relation_names(kg)))

    def named(self, text: str) -> list[TermCandidate]:
        """Return the relations that a text names, as written or as normalised."""
        return [c for c in self.similar(text, NEARLY) if c.found == "exact"]

    def similar(self, text: str, min_score: float) -> list[TermCandidate]:
        """Return the relations with a name similar to a text in writing, most similar first."""
        key = normalised(split_identifier(text))
        best: dict[str, TermCandidate] = {}
        for relation in self.all:
            for name in relation.names:
                candidate = _compared(relation, name, text, key)
                known = best.get(relation.iri)
                if candidate.score >= min_score and (known is None or candidate.score > known.score):
                    best[relation.iri] = candidate
        return ranked(best)

    def meaning(self, text: str, min_score: float, model: Embedder) -> list[TermCandidate]:
        """Return the relations with a name or description near a text in meaning, nearest first."""
        if not self.all:
            return []
        owners, texts, vectors = self._embedded(model)
        cosines = vectors @ model.embed_query(split_identifier(text))
        best: dict[str, TermCandidate] = {}
        for at in np.flatnonzero(cosines >= min_score):
            relation, score = self.all[owners[at]], float(min(cosines[at], NEARLY))
            if relation.iri not in best or score > best[relation.iri].score:
                best[relation.iri] = TermCandidate(relation.iri, score, texts[at], "dense")
        return ranked(best)

    def vectors(self, model: Embedder) -> np.ndarray:
        """Return one vector for each relation's label, in order of `all`; shape (relations, dim)."""
        if ("labels " + model.name) not in self._vectors:
            self._vectors["labels " + model.name] = model.embed_documents([r.label for r in self.all])
        return cast(np.ndarray, self._vectors["labels " + model.name])

    def _embedded(self, model: Embedder) -> tuple[list[int], list[str], np.ndarray]:
        if model.name not in self._vectors:
            pairs = [(at, text) for at, r in enumerate(self.all) for text in (*r.names, *r.descriptions)]
            texts = [text for _, text in pairs]
            self._vectors[model.name] = ([at for at, _ in pairs], texts, model.embed_documents(texts))
        return cast("tuple[list[int], list[str], np.ndarray]", self._vectors[model.name])


def _compared(relation: NamedRelation, name: str, text: str, key: str) -> TermCandidate:
    other = normalised(split_identifier(name))
    if name.strip() == text.strip() or key == other:
        return TermCandidate(relation.iri, 1.0 if name.strip() == text.strip() else NEARLY, name, "exact")
    score = SequenceMatcher(None, key, other, autojunk=False).ratio()
    return TermCandidate(relation.iri, min(score, NEARLY), name, "fuzzy")


def _relation_names(kg: KnowledgeGraph) -> list[NamedRelation]:
    iris = sorted(kg.profile().predicates)
    said: dict[str, list[tuple[str, str]]] = {iri: [] for iri in iris}
    pairs = [(iri, p) for iri in iris for p in (*LABELS, *ALTERNATIVE, *_DESCRIBING)]
    for query in queries.get("label/labels").batches("entity_property", pairs):
        for entity, p, text in kg.select(query):
            said[str(entity)].append((str(p), str(text)))
    kg.labels(iris)  # all at once
    display = Display(kg)
    found = []
    for iri in iris:
        label = display.predicate(iri)
        local = split_identifier(iri.rstrip("/#").replace("#", "/").rsplit("/", 1)[-1].rsplit(":", 1)[-1])
        names = [text for p, text in said[iri] if p not in _DESCRIBING]
        descriptions = [text for p, text in said[iri] if p in _DESCRIBING]
        kept = tuple(dict.fromkeys([label, *names, local]))
        found.append(NamedRelation(URIRef(iri), label, kept, tuple(descriptions)))
    return found


End = Literal["subject", "object"]
_SAMPLE: Final = 300
_KIND: Final = 100
_PROPERTIES: Final = 50
_TELLING: Final = 2
"""Entities at an end of a property from which on their classes tell what stands there."""
_ALIKE: Final = 0.12


@dataclass(frozen=True)
class NameShape:
    """How the names at one end of a property look, from a sample."""

    known: int
    numbers: float
    capitals: float
    literals: float
    datatypes: tuple[str, ...] = ()
    whole: bool = False

    def fits(self, name: str) -> bool:
        """Return whether a name that the graph does not know may stand there."""
        text = name.strip()
        if not text or len(text.split()) > 10 or not any(c.isalnum() for c in text):
            return False
        number = text.replace(".", "", 1).isdigit()
        if not self.known:
            return True
        if number:
            return self.numbers > 0.1
        return self.numbers < 0.9 and (self.capitals < 0.8 or text[0].isupper() or not text[0].isalpha())


class PropertyEnds:
    """The ends of a graph's properties, looked up when they are asked for and kept."""

    def __init__(self, kg: KnowledgeGraph) -> None:
        self.kg = kg
        self._ends: dict[tuple[End, str, str], bool] = {}
        self._shapes: dict[tuple[End, str], NameShape] = {}
        self._kinds: dict[tuple[End, str], dict[tuple[End, str], float]] = {}
        self._some: dict[tuple[End, str, int], tuple[str, ...]] = {}
        self._classed: dict[tuple[End, str, str], tuple[set[str], list[set[str]]]] = {}

    @classmethod
    def of(cls, kg: KnowledgeGraph) -> PropertyEnds:
        """Return the roles of a knowledge graph, kept for each state of it."""
        return kg.cached("completion roles", lambda: cls(kg))

    def learn(self, end: End, properties: Iterable[str], entities: Iterable[str]) -> None:
        """Look up at once which entities stand at an end of which properties."""
        names = sorted(set(entities))
        pairs = [(p, e) for p in sorted(set(properties)) for e in names if (end, p, e) not in self._ends]
        self._ends.update(((end, p, e), False) for p, e in pairs)
        for text in queries.get(f"completion/evidence-as-{end}").batches("property_entity", pairs):
            self._ends.update(((end, str(p), str(e)), True) for p, e in self.kg.select(text))

    def has(self, end: End, property: str, entity: str) -> bool:
        """Return whether an entity stands at an end of a property."""
        self.learn(end, [property], [entity])
        return self._ends[end, property, entity]

    def alike(self, end: End, property: str, entity: str) -> bool:
        """Return whether an entity is of the kind of those at an end of a property, by what else they do.

        A kind is told by the other properties that its entities stand at an end of. What only ever is the
        subject of what the others are never the subject of is of another kind. Of an entity without any
        triple but labels nothing can be told.
        """
        mine = self._acts([entity]).get(entity, set())
        if not mine:
            return True
        if self.strange(end, property, entity):
            return False
        usual = self._usual(end, property)
        return not usual or sum(usual.get(act, 0.0) for act in mine) / len(mine) >= _ALIKE

    def mixed(self, property: str) -> bool:
        """Return whether something stands at both ends of a property."""
        subjects = self._entities("subject", property, _KIND)
        self.learn("object", [property], subjects)
        return any(self._ends["object", property, one] for one in subjects)

    def classed(self, end: End, property: str, entity: str) -> bool:
        """Return whether an entity is of a class that those at an end of a property are mostly of."""
        mine, others = self._classes(end, property, entity)
        return bool(others) and 2 * sum(bool(mine & other) for other in others) > len(others)

    def strange(self, end: End, property: str, entity: str) -> bool:
        """Return whether an entity has classes, and none that any of those at an end of a property has.

        Where there are very few, checks say so of what is proposed.
        """
        mine, others = self._classes(end, property, entity)
        told = [other for other in others if other]
        if (
            not mine
            or len(told) < _TELLING
            or 2 * len(told) <= len(others)
            or any(mine & other for other in told)
        ):
            return False
        return not self._above(mine) & self._above(frozenset().union(*told))

    def _above(self, classes: Collection[str]) -> set[str]:
        """Return classes with those above them, as far as they are said to be."""
        seen, new = set(classes), sorted(classes)
        while new:
            query = queries.get("completion/check-above")
            found = {str(c) for text in query.batches("lower", new, 200) for _, c in self.kg.select(text)}
            new = sorted(found - seen)
            seen.update(new)
        return seen

    def _classes(self, end: End, property: str, entity: str) -> tuple[set[str], list[set[str]]]:
        """Return the classes of an entity, and those of each of the entities at an end of a property."""
        known = self._classed.get((end, property, entity))
        if known is None:
            others = self._entities(end, property, _KIND)
            classes: dict[str, set[str]] = {}
            query = queries.get("completion/check-types")
            for text in query.batches("entity", sorted({entity, *others}), 200):
                for one, kind in self.kg.select(text):
                    classes.setdefault(str(one), set()).add(str(kind))
            known = classes.get(entity, set()), [classes.get(other, set()) for other in others]
            self._classed[end, property, entity] = known
        return known

    def _usual(self, end: End, property: str) -> dict[tuple[End, str], float]:
        """Return how often the entities at an end of a property stand at each end of the others."""
        known = self._kinds.get((end, property))
        if known is None:
            entities = self._entities(end, property, _KIND)
            counts: dict[tuple[End, str], int] = {}
            for acts in self._acts(entities).values():
                for act in acts:
                    counts[act] = counts.get(act, 0) + 1
            known = {act: n / len(entities) for act, n in counts.items()} if entities else {}
            self._kinds[end, property] = known
        return known

    def _acts(self, entities: Sequence[str]) -> dict[str, set[tuple[End, str]]]:
        counts = self.kg.profile().predicates
        often = sorted((p for p in counts if p not in LABELS), key=lambda p: (-counts[p], p))[:_PROPERTIES]
        found: dict[str, set[tuple[End, str]]] = {e: set() for e in entities}
        ends: tuple[End, End] = ("subject", "object")
        for end in ends:
            self.learn(end, often, entities)
            for p in often:
                for e in entities:
                    if self._ends[end, p, e]:
                        found[e].add((end, p))
        return found

    def _entities(self, end: End, property: str, limit: int) -> tuple[str, ...]:
        """Return some of the entities at an end of a property."""
        known = self._some.get((end, property, limit))
        if known is None:
            query = queries.get("completion/ends" if end == "object" else "completion/starts")
            known = tuple(str(e) for (e,) in self.kg.select(query.bind(p=[property], limit=limit)))
            self._some[end, property, limit] = known
        return known

    def few(self, end: End, property: str) -> frozenset[str]:
        """Return the normalised names of the entities at an end of a property, where there are only few."""
        if not self.shape(end, property).whole:
            return frozenset()
        entities = self._entities(end, property, _SAMPLE)
        return frozenset(normalised(label) for label in self.kg.labels(entities).values() if label)

    def shape(self, end: End, property: str) -> NameShape:
        """Return how the names at an end of a property look."""
        known = self._shapes.get((end, property))
        if known is None:
            known = self._shapes[end, property] = self._look(end, property)
        return known

    def _look(self, end: End, property: str) -> NameShape:
        texts: list[str] = []
        kinds: dict[str, int] = {}
        literals = 0
        if end == "object":
            name = queries.get("completion/evidence-literals").bind(property=[property], limit=_SAMPLE)
            for _, value in self.kg.select(name):
                if isinstance(value, RdfLiteral):
                    literals += 1
                    texts.append(str(value))
                    kind = "" if value.language or value.datatype is None else str(value.datatype)
                    kind = "" if kind == XSD + "string" else kind
                    kinds[kind] = kinds.get(kind, 0) + 1
        entities = self._entities(end, property, _SAMPLE)
        texts += [label for label in self.kg.labels(entities).values() if label]
        numbers = sum(text.replace(".", "", 1).isdigit() for text in texts)
        words = [text for text in texts if text[:1].isalpha()]
        capitals = sum(text[0].isupper() for text in words)
        return NameShape(
            len(texts),
            numbers / len(texts) if texts else 0.0,
            capitals / len(words) if words else 0.0,
            literals / (literals + len(entities)) if literals or entities else 0.0,
            tuple(sorted(kinds, key=lambda k: (-kinds[k], k))),
            literals < _SAMPLE and len(entities) < _SAMPLE,
        )


def names_of(kg: KnowledgeGraph, entity: str) -> list[str]:
    """Return every name of an entity, its best label first."""
    pairs = [(entity, name) for name in (*LABELS, *ALTERNATIVE)]
    rows = kg.select(queries.get("label/labels").bind(entity_property=pairs))
    best = kg.labels([entity])[entity]
    found = [str(text) for _, _, text in rows]
    return list(dict.fromkeys([*([best] if best else []), *found]))


def term_names(kg: KnowledgeGraph, term: object) -> list[str]:
    """Return the names of a term: of an entity its labels, of a literal its text, of a text itself."""
    if isinstance(term, URIRef):
        return names_of(kg, str(term))
    return [str(term)]
