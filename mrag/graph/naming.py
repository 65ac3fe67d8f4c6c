"""How things are named: their best labels, and the properties that name things in a graph without labels."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Final

import pyoxigraph as ox
from rdflib import Literal, URIRef

from mrag.graph.record import NAMES
from mrag.language.names import iri_words, name_parts
from mrag.rdf import queries
from mrag.rdf.terms import OWL, RDF
from mrag.stores.base import Dataset, TripleStore

if TYPE_CHECKING:
    from mrag.graph.kg import KnowledgeGraph
    from mrag.stores.base import Row

_NO_CLASSES: Final = tuple(NAMES["vocabularies"])
_CLASSES: Final = 100  # Classes that are looked at, those with the most members
_MEMBERS: Final = 300
_SAMPLE: Final = 200
_LOOKED_AT: Final = 20_000  # Members of a class among which those without a name are looked for
_MOST_HAVE: Final = 0.5
_ONE_EACH: Final = 0.8
_DISTINCT: Final = 0.5
_TELLING: Final = 0.8  # The same of a property that is not called a name
_WORDED: Final = 0.8
_LENGTH: Final = 60
_TYPED: Final = 20
"""A graph with fewer types than one to so many triples is searched for things without a class."""
_NAME: Final = frozenset(NAMES["names"].split())
"""Last words of properties that give names, in some languages."""
_UNITS: Final = frozenset(NAMES["units"].split())
"""Words of properties that tell what a number is counted in, which names nothing."""
_PARTS: Final = {part: tuple(names) for part, names in NAMES["parts"].items()}
"""What properties of the parts of a person's name are called at the end of their IRIs."""
_CODE: Final = re.compile(r"\A[a-z]\d+ ?i? ")
"""What stands before the words of properties of CIDOC CRM."""
_WORDS: Final = re.compile(r"[^\W\d_]{2}")
_ADDRESS: Final = re.compile(r"://|\A\S+@\S+\Z|\A(?:/|[A-Za-z]:\\)")
LabelText = tuple[int, str, str]  # The place of a property among those of labels, a language tag, and a text


def is_asked(c: str) -> bool:
    """Return whether people ask for members of a class, not only for its place in a vocabulary."""
    return not c.startswith(_NO_CLASSES)


def naming_properties(kg: KnowledgeGraph, counts: Mapping[str, int], named: Sequence[str]) -> tuple[str, ...]:
    """Return the properties that name things which have no label, those of the most things first.

    For each class whose members mostly have no label it is the most selective of their properties of short
    texts: one that most of them have, each once, and few share.
    """
    counts_of: Counter[str] = Counter()
    rows = kg.select(queries.get("explore/classes").text) if counts.get(RDF + "type") else ()
    named_classes = ((str(c), int(str(n))) for c, n in rows if isinstance(c, URIRef) and is_asked(c))
    sizes = sorted(named_classes, key=lambda x: (-x[1], x[0]))
    nameless = queries.get("planning/unnamed-sample")
    members = queries.get("label/unnamed-members")
    # A server is asked once for all classes that no sample is taken of.
    small = [c for c, size in sizes[:_CLASSES] if size <= _MEMBERS]
    grouped = queries.get("label/unnamed-counts").bind(**{"class": small}, property=named)
    counted = {str(c): int(str(n)) for c, n in kg.select(grouped)} if small else {}
    for c, size in sizes[:_CLASSES]:
        if size <= _MEMBERS:
            lacking = counted.get(c, 0)
        else:
            asked = nameless.bind(**{"class": [c]}, sample=_MEMBERS, property=named)
            lacking = int(str(kg.select(asked).rows[0][0]))
        if 2 * lacking < min(size, _MEMBERS):
            continue
        sample = members.bind(**{"class": [c]}, most=_LOOKED_AT, sample=_SAMPLE, property=named)
        texts = _texts_of(kg, sample)
        if best := most_selective(texts, min(lacking, _SAMPLE), iri_words(c) or ""):
            counts_of[best] += size
            if part := name_part(best):
                others = {str(p) for _, p, _ in texts if name_part(str(p)) not in ("", part)}
                counts_of.update(dict.fromkeys(others, size))
    if counts.get(RDF + "type", 0) * _TYPED < sum(counts.values()):
        sample = queries.get("label/untyped-members").bind(sample=_SAMPLE, property=named)
        untyped = _texts_of(kg, sample)
        if best := most_selective(untyped, len({member for member, *_ in untyped})):
            counts_of[best] += 1
    return tuple(sorted(counts_of, key=lambda p: (-counts_of[p], p)))


@lru_cache(maxsize=4096)
def name_part(p: str) -> str:
    """Return the part of a person's name that a property gives: "given", "family", or "" for others."""
    words = " ".join(("", *name_parts(iri_words(p) or ""))).casefold()
    return next((part for part, names in _PARTS.items() if words.endswith(names)), "")


def naming_ways(kg: KnowledgeGraph) -> list[tuple[str, str]]:
    """Return the pairs of properties by which things have names over a node, as titles of works are."""

    def find() -> list[tuple[str, str]]:
        counts = kg.profile().predicates
        first, last = (
            [p for p in sorted(counts) if _plain(p) in NAMES["over"][end]] for end in ("first", "last")
        )
        return list(product(first, last)) if first else []

    return kg.cached("naming ways", find)


def _plain(p: str) -> str:
    words = " ".join(name_parts(re.split(r"[/#:]", p)[-1])).lower()
    return _CODE.sub("", words)


def names_over(kg: KnowledgeGraph, things: Sequence[str] = ()) -> dict[str, list[tuple[str, str]]]:
    """Return the names that things, by default all, have over a node, each with its language, best first.

    What a node tells that is called an identifier comes last.
    """
    if not (ways := naming_ways(kg)):
        return {}
    texts = [queries.get("label/over").bind(first_last=ways)]
    if things:
        texts = [*queries.get("label/over-of").batches("thing", things, first_last=ways)]
    names: defaultdict[str, list[tuple[bool, str, str]]] = defaultdict(list)
    for thing, kind, name in (row for text in texts for row in kg.select(text)):
        if isinstance(thing, URIRef) and isinstance(name, Literal):
            names[str(thing)].append(("identifier" in str(kind).lower(), name.language or "", str(name)))
    return {thing: [(tag, name) for _, tag, name in sorted(some)] for thing, some in names.items()}


def whole_name(texts: Iterable[tuple[str, str]]) -> str | None:
    """Return the given and the family name of a person together; None where either is not known.

    Args:
        texts: Properties with the names that they give.

    Example:
        >>> whole_name([("urn:x:lastName", "Weber"), ("urn:x:firstName", "Anna")])
        'Anna Weber'
    """
    parts: dict[str, str] = {}
    for p, text in sorted(texts):
        parts.setdefault(name_part(p), " ".join(text.split()))
    given, family = parts.get("given"), parts.get("family")
    return f"{given} {family}" if given and family else None


def _texts_of(kg: KnowledgeGraph, sample: str) -> list[Row]:
    """Return the texts of the things that a query gives.

    In two steps, because Virtuoso joins every text with every thing where they are one query.
    """
    members = [str(member) for (member,) in kg.select(sample)]
    return [
        row for text in queries.get("label/texts-of").batches("member", members) for row in kg.select(text)
    ]


def most_selective(rows: Iterable[Row], members: int, kind: str = "") -> str | None:
    """Return the property that tells things of a kind apart best by a short text; None if none does."""
    texts: defaultdict[str, list[tuple[str, str, str]]] = defaultdict(list)
    for member, p, text in rows:
        if isinstance(text, Literal):
            texts[str(p)].append((str(member), text.language or "", " ".join(str(text).split())))
    scored = ((_score(p, values, members, kind), p) for p, values in texts.items())
    return min(((score, p) for score, p in scored if score is not None), default=(None, None))[1]


def _score(p: str, rows: Sequence[tuple[str, str, str]], members: int, kind: str) -> tuple[float, ...] | None:
    """Return how well a property names things, less for better; None if it does not."""
    having = len({member for member, _, _ in rows})
    slots = len({(member, language) for member, language, _ in rows})
    values = {text for _, _, text in rows}
    distinct = min(1.0, len(values) / having)
    length = sum(map(len, values)) / len(values)
    if having < _MOST_HAVE * members or slots < _ONE_EACH * len(rows) or length > _LENGTH:
        return None
    if sum(map(_is_worded, values)) < _WORDED * len(values):
        return None
    words = [word.casefold() for word in name_parts(iri_words(p) or "")]
    if not _UNITS.isdisjoint(words):
        return None
    # What is called as the things are names them, too: the institution of an institution.
    called = bool(words) and (words[-1] in _NAME or " ".join(words) == kind.casefold())
    if distinct < (_DISTINCT if called else _TELLING):
        return None
    coded = 2 * sum(text.isupper() and text.isalpha() for text in values) > len(values)
    return (not called, coded, -round(distinct * having / max(members, 1), 2), length)


def _is_worded(text: str) -> bool:
    """Return whether a text is made of words rather than being a code or an address."""
    letters, digits = (sum(map(kind, text)) for kind in (str.isalpha, str.isdigit))
    return bool(_WORDS.search(text)) and letters > digits and not _ADDRESS.search(text)


def language_rank(tag: str, languages: Sequence[str]) -> int:
    """Return how far down the preferred languages a language tag stands; 0 is best."""
    tag = tag.lower()
    for at, wanted in enumerate(languages):
        if tag == wanted or (wanted and tag.startswith(wanted + "-")):
            # en-GB is English, yet plain en comes before it.
            return 2 * at + (tag != wanted)
    return 2 * len(languages)


def fetch_labels(
    store: TripleStore,
    dataset: Dataset,
    entities: Sequence[str],
    naming: Sequence[Sequence[str]],
    languages: Sequence[str],
) -> dict[str, str | None]:
    """Read the best label of each entity, None where it has none.

    Language comes before property: an English `rdfs:label` beats a French `skos:prefLabel`. What a property
    of a later tier gives is taken only where the tiers before give nothing. Ties break by the text.
    """
    properties = list(dict.fromkeys(p for tier in naming for p in tier))
    return best_labels(entities, label_texts(store, dataset, entities, properties), naming, languages)


def label_texts(
    store: TripleStore, dataset: Dataset, entities: Sequence[str], properties: Sequence[str]
) -> dict[str, list[LabelText]]:
    """Read the labels of entities, none of those that have none."""
    texts: defaultdict[str, list[LabelText]] = defaultdict(list)
    if store.capabilities.edges:
        for at, name in enumerate(properties):
            for graph, entity in product(dataset.default, entities):
                for quad in store.edges(graph, s=entity, p=name):
                    if isinstance(text := quad.object, ox.Literal):
                        texts[entity].append((at, text.language or "", text.value))
        return texts
    pairs = list(product(entities, properties))
    for query in queries.get("label/labels").batches("entity_property", pairs):
        for named, by, label in store.select(query, dataset):
            if isinstance(label, Literal):
                at = properties.index(str(by))
                texts[str(named)].append((at, label.language or "", str(label)))
    return texts


def best_labels(
    entities: Iterable[str],
    texts_of: Mapping[str, Sequence[LabelText]],
    naming: Sequence[Sequence[str]],
    languages: Sequence[str],
) -> dict[str, str | None]:
    """Return the best label of each entity among those that it has, None where it has none.

    Args:
        entities: IRIs.
        texts_of: The labels of each entity.
        naming: Tiers of label properties, as for `fetch_labels`.
        languages: Preferred language tags, best first.

    Example:
        >>> best_labels(["urn:a", "urn:b"], {"urn:a": [(0, "fr", "un"), (1, "en", "one")]},
        ...     [["urn:p:label", "urn:p:name"]], ["en"])
        {'urn:a': 'one', 'urn:b': None}
    """
    tiers = {p: at for at, tier in reversed([*enumerate(naming)]) for p in tier}
    properties = list(dict.fromkeys(p for tier in naming for p in tier))

    def order(text: LabelText) -> tuple[int, int, int, str, str]:
        at, language, label = text
        return tiers[properties[at]], language_rank(language, languages), at, language, label

    split = {at for at, p in enumerate(properties) if name_part(p)}

    def label(texts: Sequence[LabelText]) -> str:
        best = min(texts, key=order)
        parts = [(properties[at], text) for at, _, text in texts if at in split] if best[0] in split else []
        return (whole_name(parts) if parts else None) or " ".join(best[2].split())

    labels: dict[str, str | None] = dict.fromkeys(entities)
    labels.update((e, label(texts)) for e, texts in texts_of.items() if texts)
    return labels


_MOST: Final = 1000  # Names of a thing that are looked at, at most


@dataclass(frozen=True)
class Twins:
    """What is known of the things of a graph that are `owl:sameAs` others."""

    home: str
    closed: bool


def home_of(store: TripleStore, asserted: Dataset) -> str:
    """Return the beginning of the IRIs of which a graph itself says most, among those with twins; "" if none.

    Args:
        store: The store.
        asserted: The asserted graphs.

    Example:
        >>> from mrag.stores.oxigraph import OxigraphStore
        >>> store = OxigraphStore()
        >>> store.update('''INSERT DATA { GRAPH <urn:g> { <http://my.org/a> <urn:p> 1 ;
        ...     <http://www.w3.org/2002/07/owl#sameAs> <http://its.org/a> } }''')
        >>> home_of(store, Dataset(("urn:g",)))
        'http://my.org/'
        >>> store.close()
    """
    rows = store.select(queries.get("reasoning/home").text, asserted)
    return next((str(space) for space, _ in rows), "")


def preference(iri: str, home: str) -> str:
    """Return the key by which a thing's name is chosen, the least first: those at home before others."""
    return f"{0 if iri.startswith(home) else 1}{iri}"


def twins_of(kg: KnowledgeGraph) -> Twins | None:
    """Return which names of things stand for others, None where nothing is `owl:sameAs` anything."""

    def made() -> Twins | None:
        if f"{OWL}sameAs" not in kg.profile().predicates:
            return None
        record = kg.record
        closed = bool(record.inferred) and not record.outdated
        if kg.store.capabilities.reasoning:
            closed = not kg.holds(queries.get("planning/twins-open").text)
        return Twins(home_of(kg.store, kg.dataset("asserted")), closed)

    return kg.cached("planning twins", made)


def names_beside(kg: KnowledgeGraph, things: Iterable[str]) -> dict[str, str]:
    """Return, of things that have several names, the one that stands for them; others are left out."""
    twins, wanted = twins_of(kg), sorted(set(things))
    if twins is None or not wanted:
        return {}
    named: dict[str, str] = {}
    sets: dict[str, set[str]] = {thing: {thing} for thing in wanted}
    level = {thing: {thing} for thing in wanted}
    while level:
        asked, level = level, {}
        for text in queries.get("reasoning/same-near").batches("thing", sorted(asked)):
            for name, other, _ in kg.select(text):
                for start in asked[str(name)]:
                    if str(other) not in sets[start] and len(sets[start]) < _MOST:
                        sets[start].add(str(other))
                        if not twins.closed:
                            level.setdefault(str(other), set()).add(start)
    for thing, names in sets.items():
        if len(names) > 1:
            named[thing] = min(names, key=lambda name: preference(name, twins.home))
    return named
