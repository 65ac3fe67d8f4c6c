"""The names of the things of a graph: gathered, tabled, edited with the graph, and matched with words."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from hashlib import blake2b
from itertools import chain
from math import log1p, log2
from typing import Final, TypeAlias
from typing import Literal as OneOf

import numpy as np
import numpy.typing as npt
import pyoxigraph as ox

from mrag.graph.kg import KnowledgeGraph
from mrag.graph.naming import is_asked, name_part, names_over, naming_ways, whole_name
from mrag.graph.record import LABELS
from mrag.language.english import (
    SpellingIndex,
    distance,
    edits_allowed,
    is_empty,
    is_everyday,
    is_frequent,
    is_title,
    other_names,
    root,
)
from mrag.language.names import iri_words, is_place
from mrag.language.tokens import TextToken, bare, fold, keys, tokens, words_in
from mrag.planning.lexical import Candidate, Way
from mrag.planning.profiling import local_name, quads
from mrag.planning.schema import Schema
from mrag.rdf import queries
from mrag.rdf.terms import OWL, RDF, RDFS
from mrag.storage.arrays import Arrays
from mrag.storage.fields import arrays_of

NameRows: TypeAlias = npt.NDArray[np.uint32]

_LONGEST: Final = 24
_KNOWN: Final = 500_000


def hashed(text: str) -> int:
    """Return a number for a text that is the same in every process."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


@dataclass(frozen=True)
class Blob:
    """Texts one behind the other."""

    data: npt.NDArray[np.uint8]  # The texts in UTF-8
    ends: npt.NDArray[np.int64]  # Where each ends

    @classmethod
    def of(cls, texts: Iterable[str]) -> Blob:
        """Return the texts as a blob."""
        data, ends = bytearray(), array("q")
        for text in texts:
            data += text.encode("utf-8", "surrogatepass")
            ends.append(len(data))
        return cls(np.frombuffer(bytes(data), np.uint8), np.array(ends, np.int64))

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, at: int) -> str:
        start = int(self.ends[at - 1]) if at else 0
        return self.data[start : int(self.ends[at])].tobytes().decode("utf-8", "surrogatepass")


def _words_of(text: str) -> list[str]:
    """Return the words of a name by which it is found."""
    return [word for word in words_in(text)[:_LONGEST] if fold(word)]


@dataclass(frozen=True)
class HashIndex:
    """Rows by the hashes of texts."""

    hashes: npt.NDArray[np.uint64]  # The hashes, ascending
    rows: npt.NDArray[np.uint32]  # The row of each

    @classmethod
    def of(cls, hashes: array[int], rows: array[int] | range) -> HashIndex:
        """Return the index of hashes with a row for each."""
        values = np.array(hashes, np.uint64)
        order = np.argsort(values, kind="stable")
        return cls(values[order], np.array(rows, np.uint32)[order])

    def find(self, texts: Sequence[str]) -> list[NameRows]:
        """Return the rows of texts, for each."""
        wanted = np.array([hashed(text) for text in texts], dtype=np.uint64)
        starts = np.searchsorted(self.hashes, wanted, "left").tolist()
        ends = np.searchsorted(self.hashes, wanted, "right").tolist()
        return [self.rows[a:b] for a, b in zip(starts, ends, strict=True)]


@dataclass(frozen=True)
class NameTable:
    """Names with what they name."""

    texts: Blob  # The names
    owners: npt.NDArray[np.uint32]  # What each names, as a number, ascending
    whole: HashIndex  # The names folded, without spaces
    stemmed: HashIndex  # The roots of their words
    short: HashIndex  # Their acronyms
    # Words as the names have them, bare of case and accents, in order; those with two roots twice
    words: Blob
    word_stems: npt.NDArray[np.uint32]  # The root of each word, as its place in `stems`
    stems: npt.NDArray[np.uint64]  # Hashes of roots, ascending
    # Where the names of each root begin in `postings`; one more than there are roots
    starts: npt.NDArray[np.int64]
    postings: npt.NDArray[np.uint32]  # Names with a root, ascending for each
    spelling: SpellingIndex  # The words by their letters

    @classmethod
    def of(cls, pairs: Iterable[tuple[int, str]]) -> NameTable:
        """Return the table of names; those without words are left out."""
        data, ends, owners = bytearray(), array("q"), array("I")
        whole, stemmed, short, short_rows = array("Q"), array("Q"), array("Q"), array("I")
        used, sizes = array("I"), array("I")
        numbers: dict[str, int] = {}
        spelt: set[tuple[str, int]] = set()

        @lru_cache(maxsize=_KNOWN)
        def learn(word: str) -> tuple[str, str, int]:
            if not (key := fold(word)):
                return "", "", 0
            stem = root(word)
            number = numbers.setdefault(stem, len(numbers))
            spelt.add((bare(word), number))
            return key, stem, number

        for owner, text in pairs:
            found = [entry for entry in map(learn, words_in(text)[:_LONGEST]) if entry[0]]
            if not found:
                continue
            initials = "".join(key[0] for key, _, _ in found if not is_empty(key))
            if 2 <= len(initials) <= 8 and initials.isalpha():
                short.append(hashed(initials))
                short_rows.append(len(owners))
            data += text.encode("utf-8", "surrogatepass")
            ends.append(len(data))
            owners.append(owner)
            whole.append(hashed("".join([key for key, _, _ in found])))
            stemmed.append(hashed(" ".join([stem for _, stem, _ in found])))
            ids = {number for _, _, number in found}
            used.extend(ids)
            sizes.append(len(ids))
        stems = np.array([hashed(s) for s in numbers], dtype=np.uint64)
        order = np.argsort(stems, kind="stable")
        place = np.empty(len(order), np.uint32)
        place[order] = np.arange(len(order), dtype=np.uint32)
        ids_ = place[np.array(used, np.uint32)]
        starts = np.zeros(len(stems) + 1, np.int64)
        np.cumsum(np.bincount(ids_, minlength=len(stems)), out=starts[1:])
        rows = np.repeat(np.arange(len(sizes), dtype=np.uint32), np.array(sizes, np.uint32))
        words = sorted((word, int(place[number])) for word, number in spelt)
        return cls(
            Blob(np.frombuffer(bytes(data), np.uint8), np.array(ends, np.int64)),
            np.array(owners, np.uint32), HashIndex.of(whole, range(len(whole))),
            HashIndex.of(stemmed, range(len(stemmed))), HashIndex.of(short, short_rows),
            Blob.of(word for word, _ in words), np.array([number for _, number in words], dtype=np.uint32),
            stems[order], starts, rows[np.argsort(ids_, kind="stable")],
            SpellingIndex.of(word for word, _ in words),
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.owners)

    def with_stem(self, stem: int) -> NameRows:
        """Return the names with a root, by its hash, ascending."""
        key = np.uint64(stem)
        at = int(np.searchsorted(self.stems, key))
        if at == len(self.stems) or self.stems[at] != key:
            return self.postings[:0]
        return self.postings[int(self.starts[at]) : int(self.starts[at + 1])]

    def with_beginning(self, written: str) -> NameRows:
        """Return the names with a word that begins so, written bare, ascending; of very many words some."""
        first = bisect_left(self.words, written)
        last = bisect_left(self.words, written + "\U0010ffff", first)
        begun = np.unique(self.word_stems[first : min(last, first + _BEGUN)]).tolist()
        rows = [self.postings[int(self.starts[at]) : int(self.starts[at + 1])] for at in begun]
        return np.unique(np.concatenate(rows)) if rows else self.postings[:0]

    def spelt_nearly(self, written: str, most: int) -> Iterator[tuple[str, int, int]]:
        """Yield words at most some edits away, with the hashes of their roots and the edits between."""
        places, ends = self.spelling.near(written, most), self.words.ends
        sizes = ends[places] - np.where(places > 0, ends[places - 1], 0)
        # A letter may be of three bytes.
        near = np.abs(sizes - len(written.encode())) <= (most if written.isascii() else 3 * most)
        for at in places[near].tolist():
            word = self.words[at]
            if edits_allowed(word) >= most and 0 < (away := distance(written, word, most)) <= most:
                yield word, int(self.stems[self.word_stems[at]]), away


_BEGUN: Final = 1_000  # Words with the same beginning that are looked at
_VALUES: Final = 500_000
_NAME: Final = 200
_VALUE: Final = 80
_SMALL: Final = 300_000
_SAMPLE: Final = 300


@dataclass(frozen=True)
class ReadNames:
    """Names with their entities and values, as they were read."""

    table: NameTable  # The names
    terms: Blob  # IRIs of entities, then texts of values, each in order
    entities: int  # How many of the terms are entities
    starts: npt.NDArray[np.int64]  # Where the properties of each value begin
    properties: npt.NDArray[np.uint32]  # Properties of values, as numbers, most frequent first
    counts: npt.NDArray[np.uint32]  # How often each of these has its value

    @classmethod
    def of(cls, pairs: Sequence[tuple[str, str]], values: Mapping[str, Mapping[int, int]]) -> ReadNames:
        """Return the tables of entities with their names, in order, and of values."""
        terms: list[str] = []
        for thing, _ in pairs:
            if not terms or terms[-1] != thing:
                terms.append(thing)
        entities = len(terms)
        starts, properties, counts = [0], array("I"), array("I")
        for text in sorted(values):
            terms.append(text)
            for p, n in sorted(values[text].items(), key=lambda pair: (-pair[1], pair[0])):
                properties.append(p)
                counts.append(n)
            starts.append(len(properties))
        return cls(
            NameTable.of(_rows(pairs, terms, entities)), Blob.of(terms), entities,
            np.array(starts, np.int64), np.array(properties, np.uint32), np.array(counts, np.uint32),
        )  # fmt: skip

    def place(self, text: str, *, value: bool) -> int | None:
        """Return where an entity or a value stands among the terms, None where it does not."""
        start, end = (self.entities, len(self.terms)) if value else (0, self.entities)
        at = bisect_left(self.terms, text, start, end)
        return at if at < end and self.terms[at] == text else None

    def rows(self, at: int) -> range:
        """Return the names of a term."""
        return range(*np.searchsorted(self.table.owners, [at, at + 1]).tolist())

    def having(self, at: int) -> dict[int, int]:
        """Return how often properties, as numbers, have a value; most frequent first."""
        here = slice(*self.starts[at - self.entities : at - self.entities + 2].tolist())
        return dict(zip(self.properties[here].tolist(), self.counts[here].tolist(), strict=True))


def _rows(pairs: Sequence[tuple[str, str]], terms: Sequence[str], entities: int) -> Iterator[tuple[int, str]]:
    owner = -1
    for thing, name in pairs:
        if owner < 0 or terms[owner] != thing:
            owner += 1
        yield owner, name
    for at in range(entities, len(terms)):
        yield at, terms[at]


@dataclass(frozen=True)
class NamedThings:
    """Names with their entities and values, as they were read, and what has changed since."""

    read: ReadNames  # What was read
    predicates: tuple[str, ...]  # IRIs of the properties of values
    # Classes of a large graph whose members are gone through for those that only IRIs name
    unnamed: tuple[str, ...] = ()
    # Entities that have other names than were read, with those that they have, in order
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # Values that properties have more or less often than was read, with how often they do
    values: Mapping[str, Mapping[int, int]] = field(default_factory=dict)

    def arrays(self) -> tuple[Arrays, Arrays]:
        """Return what was read, and the rest, as arrays to keep."""
        every = arrays_of(self)
        read = {name: every.pop(name) for name in list(every) if name.startswith("read-")}
        return read, every

    @cached_property
    def fresh(self) -> ReadNames:
        """Return the tables of what has changed."""
        pairs = [(thing, name) for thing in sorted(self.names) for name in self.names[thing]]
        return ReadNames.of(pairs, {text: counts for text, counts in self.values.items() if counts})

    @cached_property
    def hidden(self) -> npt.NDArray[np.bool_] | None:
        """Return for each name that was read whether what it names has changed; None where none has."""
        places = [self.read.place(entity, value=False) for entity in self.names]
        places += [self.read.place(text, value=True) for text in self.values]
        found = np.zeros(len(self.read.table), bool)
        for at in places:
            if at is not None:
                rows = self.read.rows(at)
                found[rows.start : rows.stop] = True
        return found if found.any() else None

    @property
    def changes(self) -> int:
        """Return how many entities and values have changed since they were read."""
        return len(self.names) + len(self.values)

    def names_of(self, entity: str) -> tuple[str, ...]:
        """Return the names of an entity that have words, in order."""
        if entity in self.names:
            return self.names[entity]
        at = self.read.place(entity, value=False)
        return () if at is None else tuple(self.read.table.texts[row] for row in self.read.rows(at))

    def counts_of(self, text: str) -> Mapping[int, int]:
        """Return how often properties, as numbers, have a value."""
        if text in self.values:
            return self.values[text]
        at = self.read.place(text, value=True)
        return {} if at is None else self.read.having(at)

    def values_of(self, p: int) -> dict[str, int]:
        """Return the values of a property, by its number, with how often it has each."""
        having = np.flatnonzero(self.read.properties == p)
        places = np.searchsorted(self.read.starts, having, "right") - 1 + self.read.entities
        counts = self.read.counts[having].tolist()
        found = {self.read.terms[at]: n for at, n in zip(places.tolist(), counts, strict=True)}
        found |= {text: counts.get(p, 0) for text, counts in self.values.items()}
        return {text: n for text, n in sorted(found.items()) if n}

    def changed(
        self, names: Mapping[str, Collection[str]], values: Mapping[str, Mapping[int, int]]
    ) -> NamedThings:
        """Return the names after a change.

        Entities come with all the names that they have now, texts with how often properties have them now.
        """
        worded = {entity: tuple(sorted(filter(_words_of, texts))) for entity, texts in names.items()}
        others = {entity: texts for entity, texts in worded.items() if texts != self.names_of(entity)}
        values = {text: counts for text, counts in values.items() if counts != self.counts_of(text)}
        if not others and not values:
            return self
        return replace(self, names={**self.names, **others}, values={**self.values, **values})


def named_things(kg: KnowledgeGraph, schema: Schema) -> NamedThings:
    """Return the names of a graph's entities and values, whatever the order in which they are stored."""
    skip = unnamed_terms(kg, schema)
    pairs = sorted(set(named(kg, schema, skip)))
    skip.update(thing for thing, _ in pairs)
    unnamed = unnamed_classes(kg, schema, schema.classes)
    pairs += ((thing, local_name(thing)) for thing in _nameless(kg, schema, skip, unnamed))
    pairs.sort()
    del skip
    chosen = valued(schema)
    numbers = {p: at for at, p in enumerate(chosen)}
    having: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for _, p, text in texts_of(kg, chosen):
        if is_value(text):
            having[text][numbers[p]] += 1
    return NamedThings(ReadNames.of(pairs, having), tuple(chosen), unnamed)


def unnamed_terms(kg: KnowledgeGraph, schema: Schema) -> set[str]:
    """Return the terms of a graph that name no things: its vocabulary, unless terms are its things."""
    text = queries.get("planning/vocabulary")
    if schema.tree is None:
        rows = kg.select(text.text) if schema.triples else ()
        own = kg.claims()
        return {*schema.classes, *schema.properties, *own, *own.values(), *(str(term) for (term,) in rows)}
    kinds = [OWL + name for name in ("ObjectProperty", "DatatypeProperty", "AnnotationProperty", "Ontology")]
    rows = kg.select(text.bind(kind=[*kinds, RDF + "Property", RDFS + "Datatype"]))
    return {schema.tree.kind, *schema.properties, *(str(term) for (term,) in rows)}


def named(
    kg: KnowledgeGraph, schema: Schema, skip: Container[str], entity: str | None = None
) -> Iterator[tuple[str, str]]:
    """Yield the things of a graph, or one of them, with the names that they are given."""
    parts, things = defaultdict[str, list[tuple[str, str]]](list), defaultdict[str, set[str]](set)
    for thing, p, text in texts_of(kg, schema.label_properties, entity):
        if thing not in skip and 0 < len(" ".join(text.split())) <= _NAME:
            things[thing].add("".join(map(fold, words_in(text))))
            yield thing, " ".join(text.split())
            if name_part(p):
                parts[thing].append((p, text))
    yield from ((thing, name) for thing, told in parts.items() if (name := whole_name(told)))
    for thing, told in names_over(kg, [entity] if entity else []).items():
        if thing not in skip and thing not in things:
            some = (" ".join(name.split()) for _, name in told)
            yield from ((thing, name) for name in some if 0 < len(name) <= _NAME)
            things[thing].update("".join(map(fold, words_in(name))) for _, name in told)
    # What has a name may be asked for by that in its IRI: "Room 220" of one that is called the open office.
    for thing in sorted(things):
        if (name := iri_words(thing)) and "".join(map(fold, words_in(name))) not in things[thing]:
            yield thing, name


def texts_of(
    kg: KnowledgeGraph, properties: Iterable[str], entity: str | None = None
) -> Iterator[tuple[str, str, str]]:
    """Yield the texts of properties with their subjects, or of one subject, in no order."""
    named = list(properties)
    if not kg.store.capabilities.edges:
        for text in queries.get("planning/names").batches("property", named):
            yield from ((str(s), str(p), str(o)) for s, p, o in kg.select(text))
        return
    for p in named:
        for quad in quads(kg, p=p, **({"s": entity} if entity else {})):
            if isinstance(quad.object, ox.Literal) and isinstance(quad.subject, ox.NamedNode):
                yield quad.subject.value, p, quad.object.value


def _nameless(kg: KnowledgeGraph, schema: Schema, skip: Container[str], unnamed: Iterable[str]) -> set[str]:
    """Return the things that only their IRIs name."""
    if not kg.store.capabilities.edges:
        rows = kg.select(queries.get("planning/unnamed").bind(property=schema.label_properties))
        things: Iterable[str] = (str(thing) for (thing,) in rows)
    else:
        things = _things(kg, schema, unnamed)
    return {t for t in things if t not in skip and is_asked(t) and not is_place(t)}


def _things(kg: KnowledgeGraph, schema: Schema, unnamed: Iterable[str]) -> Iterator[str]:
    """Yield subjects, and what properties lead to; of a large graph only where names are missing."""
    if is_small(schema):
        for quad in quads(kg):
            if quad.predicate.value in schema.properties or quad.predicate.value == RDF + "type":
                yield from _ends(quad)
    for c in unnamed:
        yield from chain.from_iterable(map(_ends, quads(kg, p=RDF + "type", o=c)))
    for p in links(schema):
        yield from chain.from_iterable(map(_ends, quads(kg, p=p)))


def links(schema: Schema) -> list[str]:
    """Return the properties of a large graph whose ends are gone through for those that only IRIs name."""
    if is_small(schema) or "" not in schema.classes:
        return []
    return [p.iri for p in schema.properties.values() if p.kind == "entity"]


def unnamed_classes(kg: KnowledgeGraph, schema: Schema, among: Iterable[str]) -> tuple[str, ...]:
    """Return those of some classes of a large graph some of whose members have no name, in order of IRI."""
    if is_small(schema) or not kg.store.capabilities.edges:
        return ()
    return tuple(sorted(c for c in among if c and lacks_names(kg, schema, c)))


def _ends(quad: ox.Quad) -> Iterator[str]:
    if isinstance(quad.subject, ox.NamedNode):
        yield quad.subject.value
    if isinstance(quad.object, ox.NamedNode) and quad.predicate.value != RDF + "type":
        yield quad.object.value


def lacks_names(kg: KnowledgeGraph, schema: Schema, c: str) -> bool:
    """Return whether a thing of a class, of those that are looked at, has no name."""
    over = {first for first, _ in naming_ways(kg)}
    if over and any(edge.source == c and edge.property in over for edge in schema.edges):
        return False
    query = queries.get("planning/unnamed-sample")
    text = query.bind(**{"class": [c]}, sample=_SAMPLE, property=schema.label_properties)
    known: dict[str, bool] = kg.cached("classes without names", dict)
    if c not in known:
        known[c] = not schema.label_properties or str(kg.select(text).rows[0][0]) != "0"
    return known[c]


def valued(schema: Schema) -> list[str]:
    """Return the properties whose values are known by their texts: those of the fewest, in order of IRI."""
    # What labels a term names it.
    texts = [p for p in schema.properties.values() if p.kind == "text" and p.objects and p.iri not in LABELS]
    chosen, total = [], 0
    for info in sorted(texts, key=lambda p: (p.objects, p.iri)):
        total += info.objects
        if total > _VALUES:
            break
        chosen.append(info.iri)
    return sorted(chosen)


def is_small(schema: Schema) -> bool:
    """Return whether all things of a graph are gone through for those that only their IRIs name."""
    return schema.triples <= _SMALL


def is_value(text: str) -> bool:
    """Return whether a text may be named as a value."""
    return len(text) <= _VALUE


Span: TypeAlias = tuple[int, int]

SPAN: Final = 8  # Most words of one mention

_MOST_BEGUN: Final = 10_000  # Names that are compared with what was typed of them
_PLACE: Final = 6
_CROWD: Final = 60
_ADJECTIVES: Final = ("ful", "al", "ive", "ic", "ous", "ly")
_HALF: Final = 0.5
_FEW: Final = 0.15
_CORRECTIONS: Final = 8
_NO_ROWS: Final = np.empty(0, np.uint32)
_LEAST: Final = 3


class NameMatcher:
    """Finds names in questions: those that were read, and behind them those that have changed since."""

    def __init__(self, things: NamedThings) -> None:
        self.things = things
        self._read, self._fresh = things.read.table, things.fresh.table
        self._of_stems: dict[str, tuple[int, float]] = {}

    def candidates(
        self, words: Sequence[TextToken], spans: Sequence[Span]
    ) -> Iterator[tuple[Span, Candidate]]:
        """Yield what spans of a question may name, the same thing perhaps more than once.

        Spans are those whose whole may be a name; parts of names are sought everywhere.
        """
        if not len(self._read) + len(self._fresh):
            return
        yield from self._wholes(words, spans)
        yield from self._places(words, spans)
        stems = [root(word.raw) for word in words]
        having = [
            _NO_ROWS if _is_glue(word) else self._with_stem(hashed(s))
            for word, s in zip(words, stems, strict=True)
        ]
        for span, rows in self._parts(words, having):
            yield from self._partly(words, {*stems[slice(*span)]}, span, rows, "tokens", 1.0)
        yield from self._adjectives(words, having)
        yield from self._misspelt(words, stems, having)

    def begun(self, text: str, most: int) -> list[Candidate]:
        """Return the things with all words of a text in their names, of which the last may be broken off.

        Names that begin as the text does come first, and shorter ones before longer ones.

        Example:
            >>> pairs = [("urn:a", "Red Ant"), ("urn:b", "Ant"), ("urn:c", "Antler of a red deer")]
            >>> found = NameMatcher(NamedThings(ReadNames.of(pairs, {}), ())).begun("ant", 2)
            >>> [one.name for one in found]
            ['Ant', 'Antler of a red deer']
        """
        *whole, last = words_in(text)[:_LONGEST] or [""]
        rows = self._both(*(table.with_beginning(bare(last)) for table in (self._read, self._fresh)))
        for word in whole:
            rows = _common(rows, self._with_stem(hashed(root(word))))
        said, found = bare(text.strip()), dict[str, Candidate]()
        named = ((row, bare(self._text(row))) for row in rows[:_MOST_BEGUN].tolist())
        for row, name in sorted(named, key=lambda one: (not one[1].startswith(said), len(one[1]), one[1])):
            score = 1.0 if name == said else 0.9 if name.startswith(said) else 0.6
            one = self._candidate(row, score, "exact" if name == said else "tokens")
            if one.kind == "entity":
                found.setdefault(one.term, one)
            if len(found) == most:
                break
        return list(found.values())

    def _both(self, read: NameRows, fresh: NameRows) -> NameRows:
        """Return rows of either table as one."""
        if (hidden := self.things.hidden) is not None:
            read = read[~hidden[read]]
        return np.concatenate((read, fresh + len(self._read))) if len(fresh) else read

    def _found(self, index: OneOf["whole", "stemmed", "short"], texts: Sequence[str]) -> Iterator[NameRows]:
        """Yield the names that texts are, for each."""
        read, fresh = (getattr(table, index).find(texts) for table in (self._read, self._fresh))
        return map(self._both, read, fresh)

    def _with_stem(self, stem: int) -> NameRows:
        """Return the names with a root, by its hash, ascending."""
        return self._both(self._read.with_stem(stem), self._fresh.with_stem(stem))

    def _text(self, row: int) -> str:
        size = len(self._read)
        return self._read.texts[row] if row < size else self._fresh.texts[row - size]

    def _weights(self, row: int) -> list[tuple[str, int, float]]:
        """Return the roots of a name with their hashes and weights.

        Function words weigh a fifth, and so do those of a qualifier: nobody says "Georgia (country)".
        """
        every = len(self._read) + len(self._fresh)
        if self.things.hidden is not None:
            every -= int(np.count_nonzero(self.things.hidden))
        found, text = [], self._text(row)
        head, sign, _ = text.partition(" (")
        called = {root(word) for word in _words_of(head)} if sign else None
        for s, word in {root(word): word for word in _words_of(text)}.items():
            if s not in self._of_stems:
                # The fewer names have it, the more it weighs.
                stem = hashed(s)
                self._of_stems[s] = stem, log1p(every / max(1, len(self._with_stem(stem))))
            stem, weight = self._of_stems[s]
            light = is_empty(fold(word)) or (called and s not in called)
            found.append((s, stem, weight * 0.2 if light else weight))
        return found

    def _wholes(self, words: Sequence[TextToken], spans: Sequence[Span]) -> Iterator[tuple[Span, Candidate]]:
        keys = ["".join(word.key for word in words[i:j]) for i, j in spans]
        stems = [" ".join(root(word.raw) for word in words[i:j]) for i, j in spans]
        for span, rows in zip(spans, self._found("whole", keys), strict=True):
            size = span[1] - span[0]
            for row in rows[:_CROWD].tolist():
                equal = size == 1 or len(tokens(self._text(row))) == size
                yield span, self._candidate(row, 1.0 if equal else 0.97, "exact")
        for span, rows in zip(spans, self._found("stemmed", stems), strict=True):
            for row in rows[:_CROWD].tolist():
                yield span, self._candidate(row, 0.95, "inflected")
        single = [(i, j) for i, j in spans if j - i == 1 and _is_acronym(words[i])]
        found = self._found("short", [words[i].key for i, _ in single])
        for span, rows in zip(single, found, strict=True):
            if 0 < len(rows) <= _CROWD:
                score = 0.75 if words[span[0]].raw.isupper() else 0.6
                for row in rows.tolist():
                    yield span, self._candidate(row, round(score / (1 + 0.2 * log2(len(rows))), 4), "tokens")

    def _places(self, words: Sequence[TextToken], spans: Sequence[Span]) -> Iterator[tuple[Span, Candidate]]:
        """Yield the graph's own names of countries and states, however they are called."""
        for i, j in spans:
            said = [word.raw for word in words[i:j]]
            if j - i > _PLACE or not (others := other_names(" ".join(said), capital="".join(said).isupper())):
                continue
            for rank, rows in enumerate(self._found("whole", ["".join(keys(n)) for n in others])):
                for row in rows[:_CROWD].tolist():
                    # A code of two letters is one only in capitals: `IN` is not `in`.
                    if len(others[rank]) > 3 or self._text(row) == others[rank]:
                        yield (i, j), self._candidate(row, max(0.6, 0.88 - 0.02 * rank), "synonym")

    def _parts(
        self, words: Sequence[TextToken], having: Sequence[NameRows]
    ) -> Iterator[tuple[Span, NameRows]]:
        """Yield spans with the names that have all of their words, where these are few."""
        for i in range(len(words)):
            rows: NameRows | None = None
            for j in range(i, min(len(words), i + SPAN)):
                if i < j and _is_glue(words[j]):
                    continue
                rows = having[j] if rows is None else _common(rows, having[j])
                if not len(rows):
                    break
                if len(rows) <= _CROWD:
                    yield (_with_titles(words, i), j + 1), rows

    def _adjectives(
        self, words: Sequence[TextToken], having: Sequence[NameRows]
    ) -> Iterator[tuple[Span, Candidate]]:
        """Yield the names that an adjective is made of: "successful" says that the status is "success"."""
        for at, word in enumerate(words):
            if len(having[at]) or _is_glue(word) or is_everyday(word.key):
                continue
            for ending in _ADJECTIVES:
                base = word.key.removesuffix(ending)
                if base == word.key or len(base) < 2 + _LEAST:
                    continue
                for rows in self._found("whole", [base, base + "e", base + "y"]):
                    for row in rows[:_CROWD].tolist():
                        yield (at, at + 1), self._candidate(row, 0.85, "inflected")

    def _misspelt(
        self, words: Sequence[TextToken], stems: Sequence[str], having: Sequence[NameRows]
    ) -> Iterator[tuple[Span, Candidate]]:
        for i, word in enumerate(words):
            if _is_glue(word) or is_everyday(word.key) or is_frequent(word.raw):
                continue
            known = len(having[i]) > 0
            for stem, away in self._corrections(word, known):
                rows = self._with_stem(stem)
                spans = list(self._around(words, having, i, rows))
                if not known and len(word.key) > _LEAST and len(rows) <= _CROWD:
                    spans.append(((i, i + 1), rows))
                for span, some in spans:
                    said = {*stems[span[0] : i], *stems[i + 1 : span[1]]}
                    yield from self._partly(words, said, span, some, "spelling", 0.96 - 0.08 * away, stem)

    def _around(
        self, words: Sequence[TextToken], having: Sequence[NameRows], at: int, rows: NameRows
    ) -> Iterator[tuple[Span, NameRows]]:
        """Yield wider and wider spans around a corrected word, with the names that have all their words."""
        start, end = at, at + 1
        for step in (-1, 1):
            here = at + step
            while 0 <= here < len(words) and abs(here - at) < SPAN:
                if len(having[here]):
                    fewer = _common(rows, having[here])
                    if not len(fewer):
                        break
                    rows, start, end = fewer, min(start, here), max(end, here + 1)
                    if len(rows) <= _CROWD:
                        yield (_with_titles(words, start), end), rows
                elif not _is_glue(words[here]):
                    break
                here += step

    def _corrections(self, word: TextToken, known: bool) -> list[tuple[int, int]]:
        """Return hashes of roots of words spelt nearly so, with the edits between, fewest first."""
        written = bare(word.raw)
        # A word of four letters may have lost one.
        edits = 1 if len(written) == _LEAST else edits_allowed(written)
        for most in range(1, 1 + (min(1, edits) if known else edits)):
            best: dict[int, int] = {}
            for table in (self._read, self._fresh):
                for other, stem, away in table.spelt_nearly(written, most):
                    # Two edits and another first letter are seldom the same word.
                    if (most == 1 or other[0] == written[0]) and self._is_spelt(other, stem, table):
                        best[stem] = min(away, best.get(stem, away))
            if best:
                return sorted(best.items(), key=lambda pair: (pair[1], pair[0]))[:_CORRECTIONS]
        return []

    def _is_spelt(self, word: str, stem: int, table: NameTable) -> bool:
        """Return whether a name still has a word of a table."""
        return (
            table is self._fresh
            or self.things.hidden is None
            or any(word in map(bare, _words_of(self._text(row))) for row in self._with_stem(stem).tolist())
        )

    def _partly(
        self,
        words: Sequence[TextToken],
        said: set[str],
        span: Span,
        rows: NameRows,
        way: Way,
        factor: float,
        corrected: int | None = None,
    ) -> Iterator[tuple[Span, Candidate]]:
        letters = {w.key for w in words[span[0] : span[1]] if len(w.key) == 1 and w.key.isalpha()}
        crowd = len({self._text(row) for row in rows.tolist()})
        for row in rows.tolist():
            weights = self._weights(row)
            whole = sum(weight for _, _, weight in weights) or 1.0
            share = sum(weight for s, stem, weight in weights if s in said or stem == corrected) / whole
            rest = [s for s, _, _ in weights if s not in said]
            # What few names have in common tells them apart, what many have does not.
            score = (0.55 if crowd == 1 or share > 0.99 else 0.5 / (1 + 0.35 * log2(crowd))) + 0.35 * share
            if letters:
                fits = all(
                    any(s.startswith(letter) for s in rest) or letter in said - letters for letter in letters
                )
                score = min(0.9, score + 0.1) if fits else score * 0.7
            found = self._candidate(row, round(score * factor, 4), way)
            if share >= (_FEW if found.kind == "entity" else _HALF):
                yield span, found  # a few words of a text are not its value, one of a sentence not its name

    def _candidate(self, row: int, score: float, way: Way) -> Candidate:
        size, things = len(self._read), self.things
        of, row = (things.read, row) if row < size else (things.fresh, row - size)
        owner, name = int(of.table.owners[row]), of.table.texts[row]
        if owner < of.entities:
            return Candidate("entity", of.terms[owner], score, name, way)
        properties = tuple(things.predicates[p] for p in of.having(owner))
        return Candidate("value", of.terms[owner], score, name, way, properties)


def _common(some: NameRows, others: NameRows) -> NameRows:
    """Return the numbers in both of two ascending arrays."""
    few, many = (some, others) if len(some) <= len(others) else (others, some)
    at = np.searchsorted(many, few)
    at[at == len(many)] = 0
    return few[many[at] == few] if len(many) else few[:0]


def _is_glue(word: TextToken) -> bool:
    """Return whether a word tells no names apart: a function word, a title, an initial."""
    return is_empty(word.key) or is_title(word.key) or (len(word.key) == 1 and word.key.isalpha())


def _is_acronym(word: TextToken) -> bool:
    letters = len(word.key)
    return 2 <= letters <= 8 and word.key.isalpha() and (word.raw.isupper() or letters > 2)


def _with_titles(words: Sequence[TextToken], start: int) -> int:
    """Return where the titles and initials before a name begin."""
    while start and (is_title(words[start - 1].key) or _is_initial(words, start - 1)):
        start -= 1
    return start


def _is_initial(words: Sequence[TextToken], at: int) -> bool:
    # A capital `A` that begins a question is an article.
    return len(words[at].raw) == 1 and words[at].raw.isupper() and (at > 0 or not is_empty(words[at].key))
