"""The names of the things of a graph: gathered, tabled, edited with the graph, and matched with words."""

from __future__ import annotations

import json
from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property
from hashlib import blake2b
from math import log2
from typing import Any, Final, TypeAlias, TypeVar, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt
import pyoxigraph as ox

from mrag.graph.kg import KnowledgeGraph
from mrag.graph.naming import is_asked, name_part, whole_name
from mrag.graph.record import LABELS
from mrag.language.names import is_place
from mrag.language.tokens import TextToken, bare, fold, keys, tokens, words_in
from mrag.planning.lexical import Candidate, Way
from mrag.planning.lexical.english import (
    SpellingIndex,
    distance,
    edits_allowed,
    is_empty,
    is_everyday,
    is_title,
    other_names,
    root,
)
from mrag.planning.profiling import local_name
from mrag.planning.schema import Schema
from mrag.rdf import queries
from mrag.rdf.terms import OWL, RDF, RDFS
from mrag.storage.arrays import Arrays

Rows = npt.NDArray[np.int64]
_T = TypeVar("_T")

_LONGEST: Final = 24
_KNOWN: Final = 500_000
_NO_ROWS: Final = np.empty(0, np.int64)


def hashed(text: str) -> int:
    """Return a number for a text that is the same in every process."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


@dataclass(frozen=True)
class Blob:
    """Texts one behind the other.

    Attributes:
        data: The texts in UTF-8.
        ends: Where each ends.
    """

    data: npt.NDArray[np.uint8]
    ends: npt.NDArray[np.int64]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Blob:
        """Return the texts as a blob."""
        data, ends = bytearray(), array("q")
        for text in texts:
            data += text.encode("utf-8", "surrogatepass")
            ends.append(len(data))
        return cls(np.frombuffer(bytes(data), np.uint8), _array(ends, np.int64))

    def __len__(self) -> int:
        return len(self.ends)

    def __iter__(self) -> Iterator[str]:
        return (self[at] for at in range(len(self)))

    def __getitem__(self, at: int) -> str:
        start = int(self.ends[at - 1]) if at else 0
        return self.data[start : int(self.ends[at])].tobytes().decode("utf-8", "surrogatepass")


def _arrays_of(value: Any) -> dict[str, npt.NDArray[Any]]:
    """Return the fields of a dataclass, and of those within it, as arrays."""
    found = dict[str, npt.NDArray[Any]]()
    for name, own in ((f.name, getattr(value, f.name)) for f in fields(value)):
        if is_dataclass(own):
            found |= {f"{name}-{inner}": array for inner, array in _arrays_of(own).items()}
        elif isinstance(own, np.ndarray):
            found[name] = own
        else:
            found[name] = np.frombuffer(json.dumps(own).encode(), np.uint8)
    return found


def _of_arrays(cls: type[_T], arrays: Arrays, within: str = "") -> _T:
    """Return the dataclass whose fields are in arrays."""
    given = dict[str, Any]()
    for name, kind in get_type_hints(cls).items():
        if isinstance(kind, type) and is_dataclass(kind):
            given[name] = _of_arrays(kind, arrays, f"{within}{name}-")
        elif get_origin(kind) is np.ndarray:
            given[name] = arrays[within + name]
        else:
            given[name] = json.loads(arrays[within + name].tobytes())
    return cls(**given)


def _spelt(text: str) -> set[tuple[str, int]]:
    """Return the words of a name bare of case and accents, each with the hash of its stem."""
    return {(bare(word), hashed(root(word))) for word in words_in(text)[:_LONGEST] if fold(word)}


@dataclass(frozen=True)
class NameTable:
    """Names with what they name.

    Attributes:
        texts: The names.
        owners: What each names, as a number.
        whole: Hashes of folded names, ascending.
        whole_rows: The name of each.
        stemmed: Hashes of stemmed names, ascending.
        stemmed_rows: The name of each.
        short: Hashes of acronyms, ascending.
        short_rows: The name of each.
        words: Words as the names have them, bare of case and accents, in order; those with two stems twice.
        word_stems: The stem of each word, as a number.
        stems: Hashes of stems, ascending; a stem's number is its place.
        starts: Where the names of each stem begin in `postings`; one more than there are stems.
        postings: Names with a stem, ascending for each.
        spelling: The words by their deletions.
    """

    texts: Blob
    owners: npt.NDArray[np.uint32]
    whole: npt.NDArray[np.uint64]
    whole_rows: npt.NDArray[np.uint32]
    stemmed: npt.NDArray[np.uint64]
    stemmed_rows: npt.NDArray[np.uint32]
    short: npt.NDArray[np.uint64]
    short_rows: npt.NDArray[np.uint32]
    words: Blob
    word_stems: npt.NDArray[np.uint32]
    stems: npt.NDArray[np.uint64]
    starts: npt.NDArray[np.int64]
    postings: npt.NDArray[np.uint32]
    spelling: SpellingIndex

    @classmethod
    def of(cls, pairs: Iterable[tuple[int, str]]) -> NameTable:
        """Return the table of names."""
        building = _Building()
        for owner, text in pairs:
            building.add(owner, text)
        return building.table()

    def __len__(self) -> int:
        return len(self.owners)

    @cached_property
    def rarity(self) -> npt.NDArray[np.float32]:
        """Return the weight of each stem: the fewer names have it, the more."""
        counts = np.diff(self.starts)
        return np.log1p(len(self) / np.maximum(1, counts)).astype(np.float32)

    def named(self, wholes: Sequence[str]) -> list[Rows]:
        """Return the names that folded texts without spaces are, for each text."""
        return _found(self.whole, self.whole_rows, wholes)

    def named_by_stems(self, stems: Sequence[str]) -> list[Rows]:
        """Return the names that texts of stems are, for each text."""
        return _found(self.stemmed, self.stemmed_rows, stems)

    def abbreviated(self, initials: Sequence[str]) -> list[Rows]:
        """Return the names with some initials, for each of several."""
        return _found(self.short, self.short_rows, initials)

    def stem_number(self, word_stem: str) -> int | None:
        """Return the number of a stem, None if no name has it."""
        key = np.uint64(hashed(word_stem))
        at = int(np.searchsorted(self.stems, key))
        return at if at < len(self.stems) and self.stems[at] == key else None

    def words_of_size(self, places: Rows, size: int, most: int) -> list[int]:
        """Return those of some words that are as many bytes long as a size, or not many more or less."""
        ends = self.words.ends
        sizes = ends[places] - np.where(places > 0, ends[places - 1], 0)
        near: list[int] = places[np.abs(sizes - size) <= most].tolist()
        return near

    def with_stem(self, number: int) -> npt.NDArray[np.uint32]:
        """Return the names with a stem, ascending."""
        return self.postings[int(self.starts[number]) : int(self.starts[number + 1])]

    def weights(self, row: int) -> list[tuple[str, int, float]]:
        """Return the stems of a name with their numbers and weights; function words weigh a fifth."""
        found = []
        for s, word in {root(word): word for word in words_in(self.texts[row])[:_LONGEST]}.items():
            number = self.stem_number(s)
            if number is not None:
                weight = float(self.rarity[number])
                found.append((s, number, weight * 0.2 if is_empty(fold(word)) else weight))
        return found


class _Building:
    """Columns that grow name by name."""

    def __init__(self) -> None:
        self.texts, self.ends = bytearray(), array("q")
        self.owners, self.whole, self.stemmed = array("I"), array("Q"), array("Q")
        self.short, self.short_rows = array("Q"), array("I")
        self.numbers: dict[str, int] = {}
        self.used, self.sizes = array("I"), array("I")
        self.stem_of: dict[str, int] = {}
        self.others: set[tuple[str, int]] = set()
        self.known: dict[str, tuple[str, str, int, str]] = {}

    def add(self, owner: int, text: str) -> None:
        known = self.known
        found = [known.get(word) or self._learn(word) for word in words_in(text)[:_LONGEST]]
        found = [word for word in found if word[0]]
        if not found:
            return
        if initials := _acronym([word[3] for word in found]):
            self.short.append(hashed(initials))
            self.short_rows.append(len(self.owners))
        self.texts += text.encode("utf-8", "surrogatepass")
        self.ends.append(len(self.texts))
        self.owners.append(owner)
        self.whole.append(hashed("".join([word[0] for word in found])))
        self.stemmed.append(hashed(" ".join([word[1] for word in found])))
        ids = {word[2] for word in found}
        self.used.extend(ids)
        self.sizes.append(len(ids))

    def _learn(self, word: str) -> tuple[str, str, int, str]:
        """Return the key, the root, its number and the initial of a word; function words have no initial."""
        key, stem = fold(word), root(word)
        number = self.numbers.setdefault(stem, len(self.numbers)) if key else 0
        # Hardly any word has two stems, so these cost no memory.
        if key and self.stem_of.setdefault(spelt := bare(word), number) != number:
            self.others.add((spelt, number))
        entry = key, stem, number, "" if is_empty(key) else key[0]
        if len(self.known) < _KNOWN:
            self.known[word] = entry
        return entry

    def table(self) -> NameTable:
        stems = np.array([hashed(s) for s in self.numbers], dtype=np.uint64)
        order = np.argsort(stems, kind="stable")
        place = np.empty(len(order), np.uint32)
        place[order] = np.arange(len(order), dtype=np.uint32)
        rows = np.repeat(np.arange(len(self.sizes), dtype=np.uint32), _array(self.sizes, np.uint32))
        ids = place[_array(self.used, np.uint32)]
        words = sorted([*self.stem_of, *(word for word, _ in self.others)])
        stems_of = [place[self.stem_of[word]] for word in words]
        for word in {word for word, _ in self.others}:
            numbers = [self.stem_of[word], *(number for one, number in self.others if one == word)]
            at = bisect_left(words, word)
            stems_of[at : at + len(numbers)] = sorted(place[number] for number in numbers)
        return NameTable(
            Blob(np.frombuffer(bytes(self.texts), np.uint8), _array(self.ends, np.int64)),
            _array(self.owners, np.uint32),
            *_sorted(self.whole, None),
            *_sorted(self.stemmed, None),
            *_sorted(self.short, self.short_rows),
            Blob.of(words),
            np.array(stems_of, dtype=np.uint32),
            stems[order],
            _starts(ids, len(stems)),
            rows[np.argsort(ids, kind="stable")],
            SpellingIndex.of(words),
        )


def _acronym(initials: Sequence[str]) -> str:
    weighty = "".join(initials)
    return weighty if 2 <= len(weighty) <= 8 and weighty.isalpha() else ""


def _starts(of: npt.NDArray[Any], count: int) -> npt.NDArray[np.int64]:
    """Return where what belongs to each of so many begins, in ascending order of what it belongs to."""
    starts = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(of, minlength=count), out=starts[1:])
    return starts


def _array(
    values: array[int], kind: type[np.unsignedinteger[Any] | np.signedinteger[Any]]
) -> npt.NDArray[Any]:
    return np.frombuffer(values, kind).copy() if values else np.empty(0, kind)


def _sorted(
    hashes: array[int], rows: array[int] | None
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32]]:
    values = _array(hashes, np.uint64)
    order = np.argsort(values, kind="stable")
    return values[order], order.astype(np.uint32) if rows is None else _array(rows, np.uint32)[order]


def _found(hashes: npt.NDArray[np.uint64], rows: npt.NDArray[np.uint32], texts: Sequence[str]) -> list[Rows]:
    wanted = np.array([hashed(text) for text in texts], dtype=np.uint64)
    starts = np.searchsorted(hashes, wanted, "left")
    ends = np.searchsorted(hashes, wanted, "right")
    return [rows[a:b].astype(np.int64) if b > a else _NO_ROWS for a, b in zip(starts, ends, strict=True)]


_VALUES: Final = 500_000
_NAME: Final = 200
_VALUE: Final = 80
_SMALL: Final = 300_000
_SAMPLE: Final = 300


@dataclass(frozen=True)
class NamedThings:
    """Names with their entities and values.

    Attributes:
        table: The names.
        terms: IRIs of entities, then texts of values.
        entities: How many of the terms are entities.
        starts: Where the properties of each value begin.
        properties: Properties of values, as numbers, most frequent first.
        counts: How often each of these has its value.
        predicates: IRIs of these properties.
        unnamed: Classes of a large graph whose members are gone through for those that only IRIs name.
    """

    table: NameTable
    terms: Blob
    entities: int
    starts: npt.NDArray[np.int64]
    properties: npt.NDArray[np.uint32]
    counts: npt.NDArray[np.uint32]
    predicates: tuple[str, ...]
    unnamed: tuple[str, ...] = ()

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return all of it as arrays to keep."""
        return _arrays_of(self)

    @classmethod
    def of(cls, arrays: Arrays) -> NamedThings:
        """Return what `arrays` gave."""
        found = _of_arrays(cls, arrays)
        return replace(found, predicates=tuple(found.predicates), unnamed=tuple(found.unnamed))

    def candidate(self, owner: int, name: str, score: float, way: Way) -> Candidate:
        """Return what is named as a candidate."""
        if owner < self.entities:
            return Candidate("entity", self.terms[owner], score, name, way)
        at = owner - self.entities
        having = self.properties[int(self.starts[at]) : int(self.starts[at + 1])]
        properties = tuple(self.predicates[int(p)] for p in having)
        return Candidate("value", self.terms[owner], score, name, way, properties)


def named_things(kg: KnowledgeGraph, schema: Schema) -> NamedThings:
    """Return the names of a graph's entities and values, whatever the order in which they are stored."""
    skip = unnamed_terms(kg, schema)
    pairs = sorted(set(named(kg, schema, skip)))
    skip.update(thing for thing, _ in pairs)
    unnamed = unnamed_classes(kg, schema, schema.classes)
    pairs += ((thing, local_name(thing)) for thing in _nameless(kg, schema, skip, unnamed))
    pairs.sort()
    del skip
    return made_of(pairs, *_values(kg, schema), unnamed)


def unnamed_terms(kg: KnowledgeGraph, schema: Schema) -> set[str]:
    """Return the terms of a graph that name no things: its vocabulary, unless terms are its things."""
    text = queries.get("planning/vocabulary")
    if schema.tree is None:
        rows = kg.select(text.text) if schema.triples else ()
        return {*schema.classes, *schema.properties, *(str(term) for (term,) in rows)}
    kinds = [OWL + name for name in ("ObjectProperty", "DatatypeProperty", "AnnotationProperty", "Ontology")]
    rows = kg.select(text.bind(kind=[*kinds, RDF + "Property", RDFS + "Datatype"]))
    return {schema.tree.kind, *schema.properties, *(str(term) for (term,) in rows)}


def made_of(
    pairs: Sequence[tuple[str, str]],
    predicates: tuple[str, ...],
    having: Mapping[str, Counter[int]],
    unnamed: tuple[str, ...] = (),
) -> NamedThings:
    """Return the tables of names and values.

    Args:
        pairs: Entities with their names, in order.
        predicates: The properties of values.
        having: Values, with how often each of these properties, as a number, has them.
        unnamed: Classes some of whose members only their IRIs name.
    """
    terms: list[str] = []
    for thing, _ in pairs:
        if not terms or terms[-1] != thing:
            terms.append(thing)
    entities = len(terms)
    starts, properties, counts = [0], array("I"), array("I")
    for text in sorted(having):
        terms.append(text)
        for n, p in sorted((-n, p) for p, n in having[text].items()):
            properties.append(p)
            counts.append(-n)
        starts.append(len(properties))
    return NamedThings(
        NameTable.of(_rows(pairs, terms, entities)),
        Blob.of(terms),
        entities,
        np.array(starts, np.int64),
        np.array(properties, np.uint32),
        np.array(counts, np.uint32),
        predicates,
        unnamed,
    )


def _rows(pairs: Sequence[tuple[str, str]], terms: Sequence[str], entities: int) -> Iterator[tuple[int, str]]:
    owner = -1
    for thing, name in pairs:
        if owner < 0 or terms[owner] != thing:
            owner += 1
        yield owner, name
    for at in range(entities, len(terms)):
        yield at, terms[at]


def named(
    kg: KnowledgeGraph, schema: Schema, skip: Container[str], entity: str | None = None
) -> Iterator[tuple[str, str]]:
    """Yield the things of a graph, or one of them, with the names that they are given."""
    parts: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for thing, p, text in texts_of(kg, schema.label_properties, entity):
        if thing not in skip and is_name(text):
            yield thing, " ".join(text.split())
            if name_part(p):
                parts[thing].append((p, text))
    yield from ((thing, name) for thing, told in parts.items() if (name := whole_name(told)))


def texts_of(
    kg: KnowledgeGraph, properties: Iterable[str], entity: str | None = None
) -> Iterator[tuple[str, str, str]]:
    """Yield the texts of properties with their subjects, or of one subject, in no order."""
    named = list(properties)
    if not kg.store.capabilities.edges:
        for text in queries.get("planning/names").batches("property", named):
            yield from ((str(s), str(p), str(o)) for s, p, o in kg.select(text))
        return
    for graph in kg.dataset().default:
        for p in named:
            for quad in kg.store.edges(graph, s=entity, p=p):
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
    whole, linked = is_small(schema), links(schema)
    for graph in kg.dataset().default:
        if whole:
            for quad in kg.store.edges(graph):
                if quad.predicate.value in schema.properties or quad.predicate.value == RDF + "type":
                    yield from _ends(quad)
        for c in unnamed:
            for quad in kg.store.edges(graph, p=RDF + "type", o=c):
                yield from _ends(quad)
        for p in linked:
            for quad in kg.store.edges(graph, p=p):
                yield from _ends(quad)


def links(schema: Schema) -> list[str]:
    """Return the properties of a large graph whose ends are gone through for those that only IRIs name."""
    if is_small(schema) or "" not in schema.classes:
        return []
    return [p.iri for p in schema.properties.values() if p.kind == "entity"]


def unnamed_classes(kg: KnowledgeGraph, schema: Schema, among: Iterable[str]) -> tuple[str, ...]:
    """Return those of some classes of a large graph some of whose members have no name, in order of IRI."""
    if is_small(schema) or not kg.store.capabilities.edges:
        return ()
    return tuple(sorted(c for c in among if c and _lacks_names(kg, schema, c)))


def _ends(quad: ox.Quad) -> Iterator[str]:
    if isinstance(quad.subject, ox.NamedNode):
        yield quad.subject.value
    if isinstance(quad.object, ox.NamedNode) and quad.predicate.value != RDF + "type":
        yield quad.object.value


def _lacks_names(kg: KnowledgeGraph, schema: Schema, c: str) -> bool:
    query = queries.get("planning/unnamed-sample")
    text = query.bind(**{"class": [c]}, sample=_SAMPLE, property=schema.label_properties)
    return str(kg.select(text).rows[0][0]) != "0"


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


def is_name(text: str) -> bool:
    """Return whether a text names a thing that has it in a property of names."""
    return 0 < len(" ".join(text.split())) <= _NAME


def is_value(text: str) -> bool:
    """Return whether a text may be named as a value."""
    return len(text) <= _VALUE


def _values(kg: KnowledgeGraph, schema: Schema) -> tuple[tuple[str, ...], dict[str, Counter[int]]]:
    """Return properties, and the texts that they have with how often each property has it."""
    chosen = valued(schema)
    at = {p: i for i, p in enumerate(chosen)}
    having: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for _, p, text in texts_of(kg, chosen):
        if is_value(text):
            having[text][at[p]] += 1
    return tuple(chosen), having


Places = npt.NDArray[np.int64]
_ROW = np.uint64(32)


def place_in(blob: Blob, text: str, start: int = 0, end: int | None = None) -> tuple[int, bool]:
    """Return where a text stands among texts in order, or would stand, and whether it is there.

    Args:
        blob: The texts.
        text: The text.
        start: Where those that are in order begin.
        end: Where they end; behind the last by default.

    Example:
        >>> place_in(Blob.of(["a", "c"]), "b"), place_in(Blob.of(["a", "c"]), "c")
        ((1, False), (1, True))
    """
    low = start
    high = end = len(blob) if end is None else end
    while low < high:
        middle = (low + high) // 2
        if blob[middle] < text:
            low = middle + 1
        else:
            high = middle
    return low, low < end and blob[low] == text


def moved(count: int, gone: Collection[int], come: Sequence[int]) -> Places:
    """Return the new places of things of which some go and between which others come; -1 for those that go.

    Args:
        count: How many there were.
        gone: Those that go.
        come: Before which of those that stay others come, ascending.

    Example:
        >>> moved(4, [1], [0, 2]).tolist()
        [1, -1, 2, 4]
    """
    keep = np.ones(count, bool)
    keep[list(gone)] = False
    rank = np.cumsum(keep) - 1
    return np.where(keep, rank + np.searchsorted(np.array(come, np.int64), rank, "right"), -1)


def spliced(blob: Blob, gone: Collection[int], come: Sequence[tuple[int, str]]) -> Blob:
    """Return texts without some and with others."""
    ends = blob.ends
    sizes = np.diff(ends, prepend=0)
    keep = np.ones(len(ends), bool)
    keep[list(gone)] = False
    texts = [text.encode("utf-8", "surrogatepass") for _, text in come]
    stays = np.cumsum(sizes[keep])
    parts, start = list[bytes | memoryview](), 0
    data = np.delete(blob.data, _spans(ends, gone)) if gone else blob.data
    for (at, _), text in zip(come, texts, strict=True):
        here = int(stays[at - 1]) if at else 0
        parts += [data[start:here].data, text]
        start = here
    parts.append(data[start:].data)
    joined = b"".join(parts)
    added = np.insert(sizes[keep], [at for at, _ in come], [len(t) for t in texts]) if come else sizes[keep]
    return Blob(np.frombuffer(joined, np.uint8), np.cumsum(added, dtype=np.int64))


def _spans(ends: Places, gone: Iterable[int]) -> Places:
    """Return the places of the letters of texts."""
    return np.concatenate([np.arange(int(ends[at - 1]) if at else 0, int(ends[at])) for at in sorted(gone)])


def edited(
    table: NameTable, gone: Collection[int], come: Sequence[tuple[int, int, str]], owners: Places
) -> NameTable:
    """Return a table without some names and with others.

    Args:
        table: The names.
        gone: Rows that go.
        come: Names that come: before which of the rows that stay, what each names, and the name; ascending,
            and each with words.
        owners: The new number of what each number names.
    """
    fresh = NameTable.of((owner, text) for _, owner, text in come)
    places = [at for at, _, _ in come]
    rows = moved(len(table), gone, places)
    new = np.array(places, np.int64) + np.arange(len(places))
    kept = rows >= 0
    texts = spliced(table.texts, gone, [(at, text) for at, _, text in come])
    stems, numbers, starts, postings = _stems(table, rows, fresh, new)
    spelt = set(zip(fresh.words, fresh.stems[fresh.word_stems].tolist(), strict=True))
    lost = set[tuple[str, int]]().union(*(_spelt(table.texts[at]) for at in gone)) - spelt
    # What another name has as well stays.
    lost = {pair for pair in lost if not _is_spelt(pair, stems, starts, postings, texts)}
    words, word_stems, spelling = _words(table, numbers, stems, lost, spelt)
    return NameTable(
        texts,
        np.insert(owners[table.owners[kept]], places, fresh.owners).astype(np.uint32),
        *_found_by(table.whole, table.whole_rows, rows, fresh.whole, new[fresh.whole_rows]),
        *_found_by(table.stemmed, table.stemmed_rows, rows, fresh.stemmed, new[fresh.stemmed_rows]),
        *_found_by(table.short, table.short_rows, rows, fresh.short, new[fresh.short_rows]),
        words,
        word_stems,
        stems,
        starts,
        postings,
        spelling,
    )


def _found_by(
    hashes: npt.NDArray[np.uint64],
    rows: npt.NDArray[np.uint32],
    moved_: Places,
    come: npt.NDArray[np.uint64],
    new: Places,
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32]]:
    """Return sorted hashes with their rows, those that are equal in order of their rows."""
    now = moved_[rows]
    hashes, now = hashes[now >= 0], now[now >= 0]
    lows, highs = (np.searchsorted(hashes, come, side) for side in ("left", "right"))
    ends = zip(lows.tolist(), highs.tolist(), new.tolist(), strict=True)
    at = np.array([low + int(np.searchsorted(now[low:high], row)) for low, high, row in ends], np.int64)
    return np.insert(hashes, at, come), np.insert(now, at, new).astype(np.uint32)


def _stems(
    table: NameTable, rows: Places, fresh: NameTable, new: Places
) -> tuple[npt.NDArray[np.uint64], Places, Places, npt.NDArray[np.uint32]]:
    """Return the stems, the new number of each old one, and where each has its names."""
    ids = np.repeat(np.arange(len(table.stems)), np.diff(table.starts))
    now = rows[table.postings]
    ids, now = ids[now >= 0], now[now >= 0]
    used = (np.bincount(ids, minlength=len(table.stems)) > 0) | np.isin(table.stems, fresh.stems)
    added = fresh.stems[~np.isin(fresh.stems, table.stems)]
    stems = np.insert(table.stems[used], np.searchsorted(table.stems[used], added), added)
    numbers = np.where(used, np.searchsorted(stems, table.stems), -1)
    theirs = np.repeat(np.searchsorted(stems, fresh.stems), np.diff(fresh.starts)).astype(np.uint64)
    come = np.sort((theirs << _ROW) | new[fresh.postings].astype(np.uint64))
    every = (numbers[ids].astype(np.uint64) << _ROW) | now.astype(np.uint64)
    every = np.insert(every, np.searchsorted(every, come), come)
    return stems, numbers, _starts((every >> _ROW).astype(np.int64), len(stems)), every.astype(np.uint32)


def _number(stems: npt.NDArray[np.uint64], stem: int) -> int | None:
    at = int(np.searchsorted(stems, np.uint64(stem)))
    return at if at < len(stems) and int(stems[at]) == stem else None


def _is_spelt(
    pair: tuple[str, int],
    stems: npt.NDArray[np.uint64],
    starts: Places,
    postings: npt.NDArray[np.uint32],
    texts: Blob,
) -> bool:
    """Return whether some name has a word with a stem."""
    number = _number(stems, pair[1])
    if number is None:
        return False
    having = postings[int(starts[number]) : int(starts[number + 1])].tolist()
    return any(pair in _spelt(texts[row]) for row in having)


def _words(
    table: NameTable,
    numbers: Places,
    stems: npt.NDArray[np.uint64],
    lost: Collection[tuple[str, int]],
    spelt: Collection[tuple[str, int]],
) -> tuple[Blob, npt.NDArray[np.uint32], SpellingIndex]:
    """Return the words, their stems, and the words by their deletions."""

    def place(word: str, number: int, stem_numbers: Places) -> tuple[int, bool]:
        at, there = place_in(table.words, word)
        while there and at < len(table.words) and table.words[at] == word and stem_numbers[at] < number:
            at += 1
        return at, at < len(table.words) and table.words[at] == word and int(stem_numbers[at]) == number

    # By the new numbers; a stem that has gone has none, and neither has any word with it.
    now = numbers[table.word_stems]
    gone = {int(at) for at in np.flatnonzero(now < 0)}
    gone |= {
        at
        for word, stem in lost
        if (number := _number(stems, stem)) is not None
        for at, there in (place(word, number, now),)
        if there
    }
    come = list[tuple[int, str, int]]()
    for word, stem in spelt:
        number = _number(stems, stem)
        assert number is not None
        at, there = place(word, number, now)
        if not there:
            come.append((at - sum(one < at for one in gone), word, number))
    come.sort()
    at_ = [at for at, _, _ in come]
    words = spliced(table.words, gone, [(at, word) for at, word, _ in come])
    places = moved(len(table.words), gone, at_)
    kept = now[places >= 0]
    word_stems = np.insert(kept, at_, [number for _, _, number in come]).astype(np.uint32)
    fresh = [(at + number, word) for number, (at, word, _) in enumerate(come)]
    return words, word_stems, table.spelling.with_words(places, fresh)


_Named = Mapping[str, set[str]]
_Counts = Mapping[int, int]


def counts_of(things: NamedThings, text: str) -> dict[int, int]:
    """Return how often properties, as numbers, have a value."""
    at, there = place_in(things.terms, text, things.entities)
    if not there:
        return {}
    here = slice(*things.starts[at - things.entities : at - things.entities + 2].tolist())
    return dict(zip(things.properties[here].tolist(), things.counts[here].tolist(), strict=True))


def values_of(things: NamedThings, p: int) -> dict[str, int]:
    """Return the values of a property, by its number, with how often it has each."""
    having = np.flatnonzero(things.properties == p)
    places = np.searchsorted(things.starts, having, "right") - 1 + things.entities
    counts = things.counts[having].tolist()
    return {things.terms[at]: n for at, n in zip(places.tolist(), counts, strict=True)}


def changed_things(things: NamedThings, names: _Named, values: Mapping[str, _Counts]) -> NamedThings:
    """Return the names of things after a change, as if all of them had been read anew.

    Args:
        things: The names before.
        names: Entities, each with all the names that it has now; none for those that are named no more.
        values: Texts, each with how often properties, as numbers, have it now.
    """
    names = {entity: texts for entity, texts in names.items() if not _is_named(things, entity, texts)}
    if not names and not values:
        return things
    rows = _Rows(things)
    of_values = {text: {text} if counts else set[str]() for text, counts in values.items()}
    lost, found = rows.terms(names, 0, things.entities)
    lost_values, found_values = rows.terms(of_values, things.entities, len(things.terms))
    gone = [*lost, *lost_values]
    come = [(at - bisect_left(gone, at), term) for at, term in (*found, *found_values)]
    owners = moved(len(things.terms), gone, [at for at, _ in come])
    new = [at + number for number, (at, _) in enumerate(come)]
    rows.change(names, 0, things.entities, owners, new[: len(found)], found)
    rows.change(of_values, things.entities, len(things.terms), owners, new[len(found) :], found_values)
    starts, properties, counts = _changed_values(things, values, lost_values, found_values)
    return replace(
        things,
        table=edited(things.table, *rows.changes(), owners),
        terms=spliced(things.terms, gone, come),
        entities=things.entities + len(found) - len(lost),
        starts=starts,
        properties=properties,
        counts=counts,
    )


def _is_named(things: NamedThings, entity: str, texts: set[str]) -> bool:
    """Return whether an entity has some names already, and no other."""
    at, there = place_in(things.terms, entity, 0, things.entities)
    had = {things.table.texts[row] for row in _rows_of_term(things, at)} if there else set()
    return there == bool(texts) and had == {text for text in texts if _spelt(text)}


class _Rows:
    """Which rows of a table go and which come."""

    def __init__(self, things: NamedThings) -> None:
        self._things = things
        self._gone: list[int] = []
        self._come: list[tuple[int, int, str]] = []

    def terms(self, named: _Named, start: int, end: int) -> tuple[list[int], list[tuple[int, str]]]:
        """Return the terms that go, and those that come with their places before the change."""
        gone, come = list[int](), list[tuple[int, str]]()
        for term in sorted(named):
            at, there = place_in(self._things.terms, term, start, end)
            if there and not named[term]:
                gone.append(at)
            elif named[term] and not there:
                come.append((at, term))
        return gone, come

    def change(
        self,
        named: _Named,
        start: int,
        end: int,
        owners: Places,
        new: Sequence[int],
        come: Iterable[tuple[int, str]],
    ) -> None:
        """Note the rows of terms that have other names than before."""
        fresh = {term: owner for owner, (_, term) in zip(new, come, strict=True)}
        things = self._things
        for term, texts in named.items():
            at, there = place_in(things.terms, term, start, end)
            rows = _rows_of_term(things, at)
            old = [things.table.texts[row] for row in rows] if there else []
            self._gone += [row for row, text in zip(rows, old, strict=False) if text not in texts]
            owner = int(owners[at]) if there else fresh.get(term, -1)
            self._come += [
                (rows.start + bisect_left(old, text), owner, text)
                for text in texts.difference(old)
                if _spelt(text)
            ]

    def changes(self) -> tuple[list[int], list[tuple[int, int, str]]]:
        """Return the rows that go, and those that come before which of those that stay."""
        gone = sorted(self._gone)
        return gone, sorted((row - bisect_left(gone, row), owner, text) for row, owner, text in self._come)


def _rows_of_term(things: NamedThings, at: int) -> range:
    """Return the rows of a term, or where they would stand."""
    start, end = np.searchsorted(things.table.owners, [at, at + 1]).tolist()
    return range(start, end)


def _changed_values(
    things: NamedThings, values: Mapping[str, _Counts], lost: Sequence[int], found: Sequence[tuple[int, str]]
) -> tuple[Places, npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """Return where the properties of each value begin, these properties, and how often they have it."""
    first = things.entities
    sizes = np.diff(things.starts)
    which = np.repeat(np.arange(len(sizes)), sizes)
    known = {text: place_in(things.terms, text, first) for text in values}
    changed = [at - first for at, there in known.values() if there]
    kept = ~np.isin(which, changed)
    gone = [at - first for at in lost]
    come = [at - first - bisect_left(gone, at - first) for at, _ in found]
    places = moved(len(sizes), gone, come)
    fresh = {text: at + number for number, (at, (_, text)) in enumerate(zip(come, found, strict=True))}
    which, properties, counts = places[which[kept]], things.properties[kept], things.counts[kept]
    added = sorted(
        (fresh[text] if text in fresh else int(places[known[text][0] - first]), -n, p)
        for text, having in values.items()
        for p, n in having.items()
    )
    at = np.searchsorted(which, [place for place, _, _ in added])
    which = np.insert(which, at, [place for place, _, _ in added])
    return (
        _starts(which, len(sizes) - len(gone) + len(come)),
        np.insert(properties, at, [p for _, _, p in added]),
        np.insert(counts, at, [-n for _, n, _ in added]),
    )


Span: TypeAlias = tuple[int, int]
NameRows: TypeAlias = npt.NDArray[np.uint32]

SPAN: Final = 8
"""Most words of one mention."""

_PLACE: Final = 6
_CROWD: Final = 60
_ADJECTIVES: Final = ("ful", "al", "ive", "ic", "ous", "ly")
_HALF: Final = 0.5
_CORRECTIONS: Final = 8
_LEAST: Final = 3


class NameMatcher:
    """Finds names in questions."""

    def __init__(self, things: NamedThings) -> None:
        self.things = things
        self.table = things.table

    def candidates(
        self, words: Sequence[TextToken], spans: Sequence[Span]
    ) -> Iterator[tuple[Span, Candidate]]:
        """Yield what spans of a question may name, the same thing perhaps more than once.

        Args:
            words: The words of the question.
            spans: The spans whose whole may be a name; parts of names are sought everywhere.
        """
        if not len(self.table):
            return
        yield from self._wholes(words, spans)
        yield from self._places(words, spans)
        stems = [root(word.raw) for word in words]
        numbers = [
            None if _is_glue(word) else self.table.stem_number(s)
            for word, s in zip(words, stems, strict=True)
        ]
        for span, rows in self._parts(words, numbers):
            yield from self._partly(words, stems, span, rows, "tokens", 1.0)
        yield from self._adjectives(words, numbers)
        yield from self._misspelt(words, stems, numbers)

    def _wholes(self, words: Sequence[TextToken], spans: Sequence[Span]) -> Iterator[tuple[Span, Candidate]]:
        keys = ["".join(word.key for word in words[i:j]) for i, j in spans]
        stems = [" ".join(root(word.raw) for word in words[i:j]) for i, j in spans]
        for span, rows in zip(spans, self.table.named(keys), strict=True):
            size = span[1] - span[0]
            for row in rows[:_CROWD].tolist():
                equal = size == 1 or len(tokens(self.table.texts[row])) == size
                yield span, self._candidate(row, 1.0 if equal else 0.97, "exact")
        for span, rows in zip(spans, self.table.named_by_stems(stems), strict=True):
            for row in rows[:_CROWD].tolist():
                yield span, self._candidate(row, 0.95, "inflected")
        single = [(i, j) for i, j in spans if j - i == 1 and _is_acronym(words[i])]
        found = self.table.abbreviated([words[i].key for i, _ in single])
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
            for rank, rows in enumerate(self.table.named(["".join(keys(name)) for name in others])):
                for row in rows[:_CROWD].tolist():
                    # A code of two letters is one only in capitals: `IN` is not `in`.
                    if len(others[rank]) > 3 or self.table.texts[row] == others[rank]:
                        yield (i, j), self._candidate(row, max(0.6, 0.88 - 0.02 * rank), "synonym")

    def _parts(
        self, words: Sequence[TextToken], numbers: Sequence[int | None]
    ) -> Iterator[tuple[Span, NameRows]]:
        """Yield spans with the names that have all of their words, where these are few."""
        for i in range(len(words)):
            rows: NameRows | None = None
            for j in range(i, min(len(words), i + SPAN)):
                number = numbers[j]
                if number is None:
                    if i < j and _is_glue(words[j]):
                        continue
                    break
                having = self.table.with_stem(number)
                rows = having if rows is None else _common(rows, having)
                if not len(rows):
                    break
                if len(rows) <= _CROWD:
                    yield (_with_titles(words, i), j + 1), rows

    def _adjectives(
        self, words: Sequence[TextToken], numbers: Sequence[int | None]
    ) -> Iterator[tuple[Span, Candidate]]:
        """Yield the names that an adjective is made of: "successful" says that the status is "success"."""
        for at, word in enumerate(words):
            if numbers[at] is not None or _is_glue(word) or is_everyday(word.key):
                continue
            for ending in _ADJECTIVES:
                base = word.key.removesuffix(ending)
                if base == word.key or len(base) < 2 + _LEAST:
                    continue
                for rows in self.table.named([base, base + "e", base + "y"]):
                    for row in rows[:_CROWD].tolist():
                        yield (at, at + 1), self._candidate(row, 0.85, "inflected")

    def _misspelt(
        self, words: Sequence[TextToken], stems: Sequence[str], numbers: Sequence[int | None]
    ) -> Iterator[tuple[Span, Candidate]]:
        for i, word in enumerate(words):
            if _is_glue(word) or is_everyday(word.key):
                continue
            for number, away in self._corrections(word, numbers[i] is not None):
                rows = self.table.with_stem(number)
                spans = list(self._around(words, numbers, i, rows))
                if numbers[i] is None and len(word.key) > _LEAST and len(rows) <= _CROWD:
                    spans.append(((i, i + 1), rows))
                for span, some in spans:
                    said = {*stems[span[0] : i], *stems[i + 1 : span[1]]}
                    yield from self._partly(words, said, span, some, "spelling", 0.96 - 0.08 * away, number)

    def _around(
        self, words: Sequence[TextToken], numbers: Sequence[int | None], at: int, rows: NameRows
    ) -> Iterator[tuple[Span, NameRows]]:
        """Yield wider and wider spans around a corrected word, with the names that have all their words."""
        start, end = at, at + 1
        for step in (-1, 1):
            here = at + step
            while 0 <= here < len(words) and abs(here - at) < SPAN:
                number = numbers[here]
                if number is not None:
                    fewer = _common(rows, self.table.with_stem(number))
                    if not len(fewer):
                        break
                    rows, start, end = fewer, min(start, here), max(end, here + 1)
                    if len(rows) <= _CROWD:
                        yield (_with_titles(words, start), end), rows
                elif not _is_glue(words[here]):
                    break
                here += step

    def _corrections(self, word: TextToken, known: bool) -> list[tuple[int, int]]:
        """Return stems of words spelt nearly so, with the edits between, fewest first."""
        written = bare(word.raw)
        # A word of four letters may have lost one.
        edits = 1 if len(written) == _LEAST else edits_allowed(written)
        for most in range(1, 1 + (min(1, edits) if known else edits)):
            # Two edits and another first letter are seldom the same word.
            if found := self._within(written, most, "" if most == 1 else written[0]):
                return sorted(found.items(), key=lambda pair: (pair[1], pair[0]))[:_CORRECTIONS]
        return []

    def _within(self, written: str, most: int, first: str) -> dict[int, int]:
        size = len(written.encode())
        near = self.table.spelling.near(written, most)
        best: dict[int, int] = {}
        for at in self.table.words_of_size(near, size, most if written.isascii() else 3 * most):
            other = self.table.words[at]
            if (
                edits_allowed(other) >= most
                and other.startswith(first)
                and 0 < (away := distance(written, other, most)) <= most
            ):
                number = int(self.table.word_stems[at])
                best[number] = min(away, best.get(number, away))
        return best

    def _partly(
        self,
        words: Sequence[TextToken],
        stems: Sequence[str] | set[str],
        span: Span,
        rows: NameRows,
        way: Way,
        factor: float,
        corrected: int | None = None,
    ) -> Iterator[tuple[Span, Candidate]]:
        said = set(stems) if isinstance(stems, set) else set(stems[span[0] : span[1]])
        letters = {w.key for w in words[span[0] : span[1]] if len(w.key) == 1 and w.key.isalpha()}
        crowd = len({self.table.texts[row] for row in rows.tolist()})
        for row in rows.tolist():
            weights = self.table.weights(row)
            whole = sum(weight for _, _, weight in weights) or 1.0
            share = sum(weight for s, number, weight in weights if s in said or number == corrected) / whole
            if share < _HALF and int(self.table.owners[row]) >= self.things.entities:
                continue  # a few words of a text are not its value
            rest = [s for s, _, _ in weights if s not in said]
            # What few names have in common tells them apart, what many have does not.
            score = (0.55 if crowd == 1 or share > 0.99 else 0.5 / (1 + 0.35 * log2(crowd))) + 0.35 * share
            if letters:
                fits = all(
                    any(s.startswith(letter) for s in rest) or letter in said - letters for letter in letters
                )
                score = min(0.9, score + 0.1) if fits else score * 0.7
            yield span, self._candidate(row, round(score * factor, 4), way)

    def _candidate(self, row: int, score: float, way: Way) -> Candidate:
        return self.things.candidate(int(self.table.owners[row]), self.table.texts[row], score, way)


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
