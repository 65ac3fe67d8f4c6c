"""Names of a graph's entities and relations: where texts mention them, and which ends relations have."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any, Final, Literal, cast

import numpy as np
from rdflib import Literal as RdfLiteral
from rdflib import URIRef

from mrag.completion.checks import SchemaFacts
from mrag.completion.patterns import TermCandidate
from mrag.context.display import Display
from mrag.generation.verbalise import DESCRIBING
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import ALTERNATIVE, LABELS
from mrag.index.embedding import Embedder
from mrag.language.names import split_identifier
from mrag.language.tokens import TextToken, is_stopword, normalise, words, words_of
from mrag.rdf import queries
from mrag.rdf.terms import SKOLEM, XSD

NEARLY = 0.98  # Score of a name that differs in case, accents or punctuation alone

_POOL = 50

Best = dict[str, TermCandidate]  # The best candidate of each term, by its IRI


def ranked(best: Mapping[str, TermCandidate]) -> list[TermCandidate]:
    """Return candidates best first, ties in order of IRI."""
    return sorted(best.values(), key=lambda c: (-c.score, str(c.term)))


def improve(best: Best, candidate: TermCandidate, key: str = "") -> None:
    """Keep a candidate where it is better than what is known of its term."""
    known = best.get(key or str(candidate.term))
    if known is None or candidate.score > known.score:
        best[key or str(candidate.term)] = candidate


class EntityNames:
    """Names and what they name, from pairs of IRI and name."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        self._names: defaultdict[str, dict[tuple[str, str], None]] = defaultdict(dict)
        for entity, name in pairs:
            if key := normalise(name):
                self._names[key][entity, name] = None
        self._keys: list[str] = []
        self._sizes: list[int] = []
        self._trigrams: dict[str, list[int]] = {}

    @classmethod
    def of(cls, kg: KnowledgeGraph) -> EntityNames:
        """Return the names of a knowledge graph, read once for each state of it."""
        return kg.cached("completion names", lambda: cls(_read(kg)))

    def has(self, key: str) -> bool:
        """Return whether a normalised text is a name."""
        return key in self._names

    def exact(self, text: str) -> list[TermCandidate]:
        """Return what a text names, as written first, then as normalised; ties in order of IRI."""
        best: Best = {}
        for entity, name in self._names.get(normalise(text), ()):
            score = 1.0 if name.strip() == text.strip() else NEARLY
            improve(best, TermCandidate(URIRef(entity), score, name, "exact"))
        return ranked(best)

    def fuzzy(self, text: str, k: int, min_score: float = 0.0) -> list[TermCandidate]:
        """Return what names similar to a text name, most similar first, ties in order of IRI.

        Similarity is twice the characters in matching blocks, in order, over those of both (Ratcliff and
        Obershelp, 1988); only names that share trigrams with the text are compared.
        """
        key = normalise(text)
        grams = _grams(key)
        if not self._trigrams:
            self._keys = sorted(self._names)
            for at, name in enumerate(self._keys):
                own = _grams(name)
                self._sizes.append(len(own))
                for gram in own:
                    self._trigrams.setdefault(gram, []).append(at)
        shared = Counter(at for gram in grams for at in self._trigrams.get(gram, ()))
        pool = sorted(shared, key=lambda at: (-shared[at] / (len(grams) + self._sizes[at]), at))[:_POOL]
        best: Best = {}
        for at in pool:
            score = SequenceMatcher(None, key, self._keys[at], autojunk=False).ratio()
            for entity, name in self._names[self._keys[at]] if score >= min_score else ():
                improve(best, TermCandidate(URIRef(entity), min(score, NEARLY), name, "fuzzy"))
        return ranked(best)[:k]


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

Words = Sequence[TextToken]


@dataclass(frozen=True, slots=True)
class Span:
    """Some words in a row, as `words[first:last]`."""

    first: int
    last: int

    def __len__(self) -> int:
        return self.last - self.first

    def overlaps(self, other: Span) -> bool:
        """Return whether two spans share a word."""
        return self.first < other.last and other.first < self.last


@lru_cache(maxsize=50_000)
def key_of(name: str) -> tuple[str, ...]:
    """Return the normalised words of a name."""
    return tuple(w.key for w in words_of(name))


def text_of(words: Words, span: Span) -> str:
    """Return the words of a span as they are written."""
    return "".join(w.raw + w.after for w in words[span.first : span.last - 1]) + words[span.last - 1].raw


def mentioned(text: str, names: Iterable[Sequence[str]]) -> bool:
    """Return whether a text has one of each group of names, word by word."""
    return all(any(places(words_of(text), name) for name in group) for group in names)


def places(words: Words, name: str) -> list[Span]:
    """Return where the words of a name stand among others, in a row."""
    key, keys = key_of(name), tuple(w.key for w in words)
    size = len(key)
    return [Span(at, at + size) for at in range(len(keys) - size + 1) if size and keys[at : at + size] == key]


def find(words: Words, name: str, known: EntityNames) -> list[Span]:
    """Return where a name stands in a text as a name of its own, not as a part of a longer one."""
    return [span for span in places(words, name) if _alone(words, span, known)]


def known_names(
    text: str, words: Words, known: EntityNames, skip: frozenset[str] = frozenset()
) -> Iterator[Span]:
    """Yield the longest names of the graph in a text, none within another, in order of place.

    What is written in small letters throughout is no name unless it stands in quotes: graphs name many
    common things.
    """
    at = 0
    quoted = [match.span(1) for match in _QUOTED.finditer(text)]
    while at < len(words):
        longest = range(min(_LONGEST, len(words) - at), 0, -1)
        spans = (Span(at, at + size) for size in longest)
        span = next((s for s in spans if _is_name(words, s, known, skip)), None)
        at += 1
        if span is not None:
            start, end = words[span.first].start, words[span.last - 1].end
            if not text[start:end].islower() or any(a <= start and end <= b for a, b in quoted):
                yield span
                at = span.last


def _is_name(words: Words, span: Span, known: EntityNames, skip: frozenset[str]) -> bool:
    key = normalise(text_of(words, span))
    if key in skip or not known.has(key):
        return False
    return (len(span) > 1 or not is_stopword(words[span.first].raw.casefold())) and _is_joined(words, span)


def names_by_spelling(text: str, words: Words) -> Iterator[Span]:
    """Yield what looks like a name by how it is written: capitals, quotes, numbers."""
    taken: list[Span] = []
    for match in _QUOTED.finditer(text):
        inside = [i for i, w in enumerate(words) if w.start >= match.start(1) and w.end <= match.end(1)]
        if inside:
            taken.append(Span(inside[0], inside[-1] + 1))
    yield from taken
    at = 0
    while at < len(words):
        last = _run(words, at)
        span = Span(at, max(last, at + 1))
        # One word that begins a sentence has its capital from there.
        alone = last == at + 1 and _starts(words, at) and not words[at].raw[0].isdigit()
        if last > at and not alone and not any(span.overlaps(other) for other in taken):
            yield span
        at = span.last


def all_names(
    text: str,
    words: Words,
    known: EntityNames,
    skip: frozenset[str] = frozenset(),
    few: frozenset[str] = frozenset(),
) -> tuple[Span, ...]:
    """Return what stands for a name in a text, known or not, without overlaps, in order of place.

    Longer ones come first, and known names of several words before what is only written like a name.
    Normalised names of `skip` are passed over; those of `few` count in small letters too.
    """
    there = list(known_names(text, words, known, skip))
    every = [Span(at, at + n) for n in (1, 2, 3) for at in range(len(words) - n + 1 if few else 0)]
    there += [span for span in every if normalise(text_of(words, span)) in few]
    firm = {span for span in there if len(span) > 1}
    kept: list[Span] = []
    for span in sorted(
        {*there, *names_by_spelling(text, words)}, key=lambda s: (s not in firm, -len(s), s.first)
    ):
        if not any(span.overlaps(other) for other in kept):
            kept.append(span)
    return tuple(sorted(kept, key=lambda s: s.first))


def _run(words: Words, at: int) -> int:
    """Return where a run of capitalised words ends; the same place where none begins."""
    first = words[at].raw
    if first[0].isdigit():
        return at + 1
    opens = is_stopword(first.casefold()) or first.casefold() in _OPENINGS
    if not first[0].isupper() or (opens and _starts(words, at)):
        return at
    last = here = at + 1
    while here < len(words) and _close(words[here - 1]):
        word = words[here].raw
        if word[0].isupper() or (word[0].isdigit() and here == last):
            last = here + 1
        elif word.casefold() not in _JOINS:
            break
        here += 1
    return last


def _starts(words: Words, at: int) -> bool:
    """Return whether a word begins a sentence, or what a colon leads to."""
    return at == 0 or words[at - 1].after.strip()[:1] in tuple(".!?:#")


def _close(word: TextToken) -> bool:
    """Return whether what stands behind a word does not end a name."""
    initial = word.after == ". " and len(word.raw) <= 2 and word.raw[0].isupper()
    return initial or word.after in (" ", "-", ": ", "’", "'", ".", "'s ", "’s ", ".: ")


def _is_joined(words: Words, span: Span) -> bool:
    """Return whether no sentence ends within some words, apart from behind initials."""
    inner = words[span.first : span.last - 1]
    return not any("\n\n" in w.after or (w.after.strip() == "." and len(w.raw) > 3) for w in inner)


def _alone(words: Words, span: Span, known: EntityNames) -> bool:
    for first in range(max(0, span.first - 5), span.first + 1):
        for last in range(span.last, min(len(words), span.last + 6) + 1):
            wider = Span(first, last)
            named = len(wider) > len(span) and known.has(normalise(text_of(words, wider)))
            if (
                named
                and _is_joined(words, wider)
                and _capitals(words[first:last], words[span.first : span.last])
            ):
                return False
    if span.last < len(words) and words[span.last - 1].after in (" ", "-"):
        after = words[span.last].raw
        if _ROMAN.match(after) or (after[0].isupper() and not is_stopword(after.casefold())):
            return False
    if not span.first or words[span.first - 1].after not in (" ", "-"):
        return True
    before = words[span.first - 1].raw
    return not before[0].isupper() or _starts(words, span.first - 1) or is_stopword(before.casefold())


def _capitals(wider: Words, inner: Words) -> bool:
    """Return whether a wider name is written as one: capitals, as far as the inner one has them."""
    if not any(w.raw[0].isupper() for w in inner):
        return True
    return wider[0].raw[0].isupper() and (wider[-1].raw[0].isupper() or wider[-1].raw[0].isdigit())


_DESCRIBING = tuple(sorted(DESCRIBING))


@dataclass(frozen=True)
class NamedRelation:
    """A predicate of the graph in words."""

    iri: URIRef  # The predicate
    label: str  # Its best label, or the words of its local name
    names: tuple[str, ...]  # Every label in every language, the best first, and the words of its local name
    descriptions: tuple[str, ...] = ()  # What is said of it


class Relations:
    """The predicates of a knowledge graph, in order of IRI."""

    def __init__(self, relations: Sequence[NamedRelation]) -> None:
        self.all = tuple(sorted(relations, key=lambda r: str(r.iri)))
        self.by_iri = {relation.iri: relation for relation in self.all}
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
        key = normalise(split_identifier(text))
        best: Best = {}
        for relation in self.all:
            for name in relation.names:
                candidate = _compare(relation, name, text, key)
                if candidate.score >= min_score:
                    improve(best, candidate)
        return ranked(best)

    def meaning(self, text: str, min_score: float, model: Embedder) -> list[TermCandidate]:
        """Return the relations with a name or description near a text in meaning, nearest first."""
        if not self.all:
            return []
        if model.name not in self._vectors:
            pairs = [(r, text) for r in self.all for text in (*r.names, *r.descriptions)]
            self._vectors[model.name] = pairs, model.embed_documents([text for _, text in pairs])
        pairs, vectors = self._vectors[model.name]
        cosines = vectors @ model.embed_query(split_identifier(text))
        best: Best = {}
        for at in np.flatnonzero(cosines >= min_score):
            relation, said = pairs[at]
            improve(best, TermCandidate(relation.iri, float(min(cosines[at], NEARLY)), said, "dense"))
        return ranked(best)

    def vectors(self, model: Embedder) -> np.ndarray:
        """Return one vector for each relation's label, in order of `all`; shape (relations, dim)."""
        key = "labels " + model.name
        if key not in self._vectors:
            self._vectors[key] = model.embed_documents([r.label for r in self.all])
        return cast(np.ndarray, self._vectors[key])


def _compare(relation: NamedRelation, name: str, text: str, key: str) -> TermCandidate:
    other = normalise(split_identifier(name))
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
    relations = []
    for iri in iris:
        label = display.predicate(iri)
        local = split_identifier(iri.rstrip("/#").replace("#", "/").rsplit("/", 1)[-1].rsplit(":", 1)[-1])
        names = [text for p, text in said[iri] if p not in _DESCRIBING]
        descriptions = tuple(text for p, text in said[iri] if p in _DESCRIBING)
        kept = tuple(dict.fromkeys([label, *names, local]))
        relations.append(NamedRelation(URIRef(iri), label, kept, descriptions))
    return relations


End = Literal["subject", "object"]
Act = tuple[End, str]  # To stand at an end of a property
ENDS: Final[tuple[End, End]] = ("subject", "object")
_SAMPLE: Final = 300
_KIND: Final = 100
_PROPERTIES: Final = 50
_TELLING: Final = 2  # Entities at an end of a property from which on their classes tell what stands there
_ALIKE: Final = 0.12


def is_number(text: str) -> bool:
    """Return whether a text is a number without sign."""
    return text.replace(",", "").replace(".", "", 1).isdigit()


@dataclass(frozen=True)
class NameShape:
    """How the names at one end of a property look, from a sample."""

    known: int  # How many were looked at
    numbers: float  # Share of those that are a number
    capitals: float  # Share of those that begin with a capital, numbers apart
    literals: float  # Share of values that are literals
    datatypes: tuple[str, ...] = ()  # Datatypes of the literals, most frequent first; "" is plain text
    whole: bool = False  # Whether that was all there are

    def fits(self, name: str) -> bool:
        """Return whether a name that the graph does not know may stand there."""
        text = name.strip()
        if not text or len(text.split()) > 10 or not any(c.isalnum() for c in text):
            return False
        if not self.known:
            return True
        if is_number(text):
            return self.numbers > 0.1
        return self.numbers < 0.9 and (self.capitals < 0.8 or text[0].isupper() or not text[0].isalpha())


class PropertyEnds:
    """The ends of a graph's properties, looked up when they are asked for and kept with the graph."""

    def __init__(self, kg: KnowledgeGraph) -> None:
        self.kg = kg
        self._ends: dict[tuple[End, str, str], bool] = {}

    @classmethod
    def of(cls, kg: KnowledgeGraph) -> PropertyEnds:
        """Return the ends of a knowledge graph's properties, kept for each state of it."""
        return kg.cached("completion ends", lambda: cls(kg))

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

    def named(self, end: End, property: str, text: str) -> tuple[list[URIRef], list[URIRef]]:
        """Return what a text names, and what of it stands at an end of a property."""
        meant = [URIRef(str(c.term)) for c in EntityNames.of(self.kg).exact(text)]
        self.learn(end, [property], map(str, meant))
        return meant, [entity for entity in meant if self._ends[end, property, str(entity)]]

    def alike(self, end: End, property: str, entity: str) -> bool:
        """Return whether an entity is of the kind of those at an end of a property, by what else they do.

        A kind is told by the other properties that its entities stand at an end of. What only ever is the
        subject of what the others are never the subject of is of another kind. Of an entity without any
        triple but labels nothing can be told.
        """
        mine = self._acts([entity])[entity]
        if not mine:
            return True
        if self.strange(end, property, entity):
            return False
        usual = self.kg.cached(f"completion usual {end} {property}", lambda: self._usual(end, property))
        return not usual or sum(usual.get(act, 0.0) for act in mine) / len(mine) >= _ALIKE

    def is_mixed(self, property: str) -> bool:
        """Return whether something stands at both ends of a property."""
        subjects = self._entities("subject", property, _KIND)
        self.learn("object", [property], subjects)
        return any(self._ends["object", property, one] for one in subjects)

    def has_classes(self, end: End, property: str, entity: str) -> bool:
        """Return whether an entity is of a class that those at an end of a property are mostly of."""
        mine, others = self._classes(end, property, entity)
        return bool(others) and 2 * sum(bool(mine & other) for other in others) > len(others)

    def strange(self, end: End, property: str, entity: str) -> bool:
        """Return whether an entity has classes, and none that any of those at an end of a property has.

        Where there are very few, checks say so of what is proposed.
        """
        mine, others = self._classes(end, property, entity)
        classes = [other for other in others if other]
        few = len(classes) < _TELLING or 2 * len(classes) <= len(others)
        if not mine or few or any(mine & other for other in classes):
            return False
        every = set().union(*classes)
        facts = SchemaFacts(self.kg)
        facts.higher.update(facts.read_above(sorted(mine | every)))
        return not facts.above(mine) & facts.above(every)

    def _classes(self, end: End, property: str, entity: str) -> tuple[set[str], list[set[str]]]:
        """Return the classes of an entity, and those of each of the entities at an end of a property."""

        def look() -> tuple[set[str], list[set[str]]]:
            others = self._entities(end, property, _KIND)
            facts = SchemaFacts(self.kg)
            facts.read_types(sorted({entity, *others}))
            return facts.types[entity], [facts.types[other] for other in others]

        return self.kg.cached(f"completion classes {end} {property} {entity}", look)

    def _usual(self, end: End, property: str) -> dict[Act, float]:
        """Return how often the entities at an end of a property stand at each end of the others."""
        entities = self._entities(end, property, _KIND)
        counts = Counter(act for acts in self._acts(entities).values() for act in acts)
        return {act: n / len(entities) for act, n in counts.items()}

    def _acts(self, entities: Sequence[str]) -> dict[str, set[Act]]:
        counts = self.kg.profile().predicates
        often = sorted((p for p in counts if p not in LABELS), key=lambda p: (-counts[p], p))[:_PROPERTIES]
        for end in ENDS:
            self.learn(end, often, entities)
        return {e: {(end, p) for end in ENDS for p in often if self._ends[end, p, e]} for e in entities}

    def _entities(self, end: End, property: str, limit: int) -> tuple[str, ...]:
        """Return some of the entities at an end of a property."""

        def look() -> tuple[str, ...]:
            query = queries.get("completion/ends" if end == "object" else "completion/starts")
            return tuple(str(e) for (e,) in self.kg.select(query.bind(p=[property], limit=limit)))

        return self.kg.cached(f"completion at {end} {property} {limit}", look)

    def few(self, end: End, property: str) -> frozenset[str]:
        """Return the normalised names of the entities at an end of a property, where there are only few."""
        if not self.shape(end, property).whole:
            return frozenset()
        entities = self._entities(end, property, _SAMPLE)
        return frozenset(normalise(label) for label in self.kg.labels(entities).values() if label)

    def shape(self, end: End, property: str) -> NameShape:
        """Return how the names at an end of a property look."""
        return self.kg.cached(f"completion shape {end} {property}", lambda: self._look(end, property))

    def _look(self, end: End, property: str) -> NameShape:
        values: list[RdfLiteral] = []
        if end == "object":
            name = queries.get("completion/evidence-literals").bind(property=[property], limit=_SAMPLE)
            values = [value for _, value in self.kg.select(name) if isinstance(value, RdfLiteral)]
        kinds = Counter(
            "" if v.language or v.datatype is None or str(v.datatype) == XSD + "string" else str(v.datatype)
            for v in values
        )
        entities = self._entities(end, property, _SAMPLE)
        texts = [*map(str, values), *(label for label in self.kg.labels(entities).values() if label)]
        wordy = [text for text in texts if text[:1].isalpha()]
        return NameShape(
            len(texts),
            sum(text.replace(".", "", 1).isdigit() for text in texts) / max(1, len(texts)),
            sum(text[0].isupper() for text in wordy) / max(1, len(wordy)),
            len(values) / max(1, len(values) + len(entities)),
            tuple(sorted(kinds, key=lambda k: (-kinds[k], k))),
            len(values) < _SAMPLE and len(entities) < _SAMPLE,
        )


def term_names(kg: KnowledgeGraph, term: object) -> list[str]:
    """Return the names of a term: of an entity its labels, best first; of a literal or a text itself."""
    if not isinstance(term, URIRef):
        return [str(term)]
    pairs = [(term, name) for name in (*LABELS, *ALTERNATIVE)]
    rows = kg.select(queries.get("label/labels").bind(entity_property=pairs))
    best = kg.labels([str(term)])[str(term)]
    return list(dict.fromkeys([*([best] if best else []), *(str(text) for _, _, text in rows)]))
