"""From a knowledge graph to the documents of a similarity index, by queries anyone can paste.

A definition is a list of queries of `sparql/index/` that return `?documentID ?documentText`, GraphDB's
own contract. Their rows are put together to one text for each entity, its label first.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from itertools import groupby, islice
from operator import attrgetter
from typing import Any, Final, NamedTuple

import pyoxigraph as ox
from rdflib import Literal, URIRef

from mrag.errors import ConfigError, TermError
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.naming import LabelText, best_labels, is_asked, label_texts
from mrag.graph.record import Profile, TouchedEntities, list_touched
from mrag.index.bm25 import Bm25Params
from mrag.index.document_index import StoredIndex
from mrag.index.fusion import FusionWeight
from mrag.index.segments import SyncReport, as_json
from mrag.language.analysis import AUTO, by_languages
from mrag.language.names import iri_words
from mrag.rdf import queries
from mrag.rdf.terms import OWL, RDF, RDFS, SKOLEM, XSD, Triple
from mrag.storage.sorting import SortedRows
from mrag.stores.base import Limits, SelectResult, SelectStream
from mrag.stores.oxigraph import OxigraphStore

NAME_WEIGHT: Final = 4
"""How often a document repeats its entity's name, so that it is found before what mentions it.

On the demo graph 236 of 264 names find their own entity first, 220 when the name comes twice.
"""

TEXTS: Final = "index/texts"  # The query of a definition that is of all the texts of a graph
LINKED: Final = "index/linked-labels"


@dataclass(frozen=True)
class Definition:
    """What a similarity index is made of."""

    # Names of catalogue queries, in the order in which their texts are put together
    queries: tuple[str, ...] = (TEXTS, LINKED)
    languages: tuple[str, ...] = ("en", "mul", "")  # Language tags of the texts, "" for texts without
    # Whether entities with no text in these languages are indexed by what they have: texts in others, or the
    # words of which their IRIs are made
    fallback: bool = True
    length: int = 4000  # Characters of a document after which it is cut
    select: str = ""  # A SELECT query of a person's own, guarded and bounded, that gives texts too
    analyser: str = AUTO  # How words are stemmed, see `mrag.language.analysis`; `auto` goes by the languages

    @property
    def bm25(self) -> Bm25Params:
        """The knobs of BM25 for such an index."""
        auto = self.analyser == AUTO
        return Bm25Params(analyser=by_languages(self.languages) if auto else self.analyser)

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Definition:
        """Read a definition that was kept as JSON."""
        fields: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in kept.items()}
        return cls(**fields)

    def digest(self) -> str:
        """Return a fingerprint of the definition and of the queries' texts."""
        parts = [*self.languages, str(self.fallback), str(self.length), str(NAME_WEIGHT)]
        parts += [queries.get(name).text for name in self.queries]
        parts += [self.select] if self.select else []
        return hashlib.blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()


OTHERS: Final = "index/other-languages"
BLANK: Final = " _:"
"""How the names of blank nodes begin; with a space, which no IRI has, they come before all others."""

_UNTOLD: Final = (SKOLEM, RDF, RDFS, OWL, XSD, "http://proton.semanticweb.org/protonsys#")
_NO_LINKS: Final = frozenset({RDFS + "domain", RDFS + "range", OWL + "disjointWith", OWL + "members"})
"""Properties that `index/linked-labels` leaves out."""
_OWN: Final = Limits(seconds=300.0, rows=2_000_000, bytes=1 << 30)
"""Caps of a query of a person's own, which reads a whole graph."""
_LATELY: Final = 100_000  # Things that are remembered to have been told of


class EntityStatement(NamedTuple):
    """Some of what is stated of an entity."""

    entity: str
    named: bool = False
    thing: bool = False
    texts: tuple[tuple[int, str], ...] = ()
    links: tuple[str, ...] = ()
    labels: tuple[LabelText, ...] = ()


def are_edges(kg: KnowledgeGraph, definition: Definition) -> bool:
    """Return whether the statements of a definition are read edge by edge."""
    usual = TEXTS in definition.queries and set(definition.queries) <= {TEXTS, LINKED}
    return usual and kg.store.capabilities.edges


def statements(kg: KnowledgeGraph, definition: Definition) -> Iterator[EntityStatement]:
    """Yield what a definition's queries tell, and of things without a name what they are linked to."""
    if are_edges(kg, definition):
        yield from _scan(kg, definition)
    else:
        yield from _query(kg, definition)
    if definition.select:
        result = kg.query(definition.select, limits=_OWN)
        if not isinstance(result, SelectResult):
            raise ConfigError("An index query is a SELECT query.", query=definition.select)
        place = len(definition.queries) + 1
        yield from _texts(result, definition.select, place)


# -- by queries ----------------------------------------------------------------------------------------


def _query(kg: KnowledgeGraph, definition: Definition) -> Iterator[EntityStatement]:
    profile = kg.profile()
    labels = list(profile.labels)
    for place, name in enumerate([*definition.queries, *((OTHERS,) if definition.fallback else ())]):
        query = queries.get(name)
        if name == LINKED and not labels:
            # There is nothing to find, and Virtuoso estimates that looking for it takes minutes.
            continue
        bound = query.bind(**query_values(kg, definition, query))
        yield from _texts(kg.store.stream(bound, kg.dataset()), name, place)
    if not (definition.fallback and TEXTS in definition.queries and profile.triples):
        return
    for (thing,) in kg.store.stream(queries.get("planning/unnamed").bind(property=labels), kg.dataset()):
        yield EntityStatement(str(thing), thing=True)
    for thing, linked in kg.store.stream(
        queries.get("index/unnamed-links").bind(property=labels), kg.dataset()
    ):
        yield EntityStatement(str(thing), links=(str(linked),))


def query_values(
    kg: KnowledgeGraph, definition: Definition, query: queries.Query
) -> dict[str, list[Literal] | list[str]]:
    """Return the values of those parameters that a query of a definition has."""
    values: dict[str, list[Literal] | list[str]] = {"property": list(kg.profile().labels)}
    values["language"] = [Literal(tag) for tag in definition.languages]
    return {name: value for name, value in values.items() if name in query.params}


def _texts(result: SelectResult | SelectStream, query: str, place: int) -> Iterator[EntityStatement]:
    if result.variables != ("documentID", "documentText"):
        hint = f"It returns {' '.join('?' + v for v in result.variables)}."
        raise ConfigError("An index query returns ?documentID ?documentText.", query=query, hint=hint)
    for entity, text in result:
        if entity is not None and text is not None:
            # A thing with a text needs no name to become a document.
            yield EntityStatement(str(entity), texts=((place, " ".join(str(text).split())),))


# -- by edges ------------------------------------------------------------------------------------------


def _scan(kg: KnowledgeGraph, definition: Definition) -> Iterator[EntityStatement]:
    """Yield what the queries of a definition would tell, from the edges of each graph."""
    languages, naming = frozenset(definition.languages), {p: at for at, p in enumerate(kg.profile().labels)}
    place, others = definition.queries.index(TEXTS), len(definition.queries)
    following = definition.fallback or LINKED in definition.queries
    lately: set[str] = set()
    for graph in kg.dataset().default:
        for subject, quads in groupby(kg.store.edges(graph), _subject):
            texts: dict[tuple[int, str], None] = {}
            links: dict[str, None] = {}
            labels: list[LabelText] = []
            named = False
            for quad in quads:
                predicate, o = quad.predicate.value, quad.object
                name = naming.get(predicate)
                named = named or name is not None
                if isinstance(o, ox.Literal):
                    language = o.language or ""
                    if name is not None:
                        labels.append((name, language, o.value))
                    if language in languages and (language or o.datatype.value == XSD + "string"):
                        texts[place, " ".join(o.value.split())] = None
                    elif language and language not in languages and definition.fallback:
                        texts[others, " ".join(o.value.split())] = None
                elif isinstance(o, ox.NamedNode | ox.BlankNode):
                    linked = o.value if isinstance(o, ox.NamedNode) else BLANK + o.value
                    if following and linked != subject and predicate not in _NO_LINKS:
                        links[linked] = None
                    if isinstance(o, ox.NamedNode) and predicate != RDF + "type" and linked not in lately:
                        if len(lately) >= _LATELY:
                            lately.clear()
                        lately.add(linked)
                        yield EntityStatement(linked, thing=True)
            yield EntityStatement(subject, named, True, tuple(texts), tuple(links), tuple(labels))


def _subject(quad: ox.Quad) -> str:
    """Return the name of a subject; blank nodes are no documents, but are read for their labels and links."""
    s = quad.subject
    return s.value if isinstance(s, ox.NamedNode) else f"{BLANK}{s.value}"  # type: ignore[union-attr]


_BATCH: Final = 2000  # Entities whose labels are looked up at once
_KEPT: Final = 100_000  # Labels of linked things that are kept


def namespace(iri: str) -> str:
    """Return the part of an IRI that it shares with others of its source."""
    return iri[: max(iri.rfind("#"), iri.rfind("/"), iri.rfind(":")) + 1]


class _Composer:
    def __init__(self, kg: KnowledgeGraph, definition: Definition) -> None:
        self._kg = kg
        self._definition = definition
        self._edges = are_edges(kg, definition)
        profile = kg.profile()
        names = [*definition.queries, OTHERS]
        self._place, self._linked = (names.index(n) if n in names else -1 for n in (TEXTS, LINKED))
        self._others = len(definition.queries)
        self._unnamed = bool(definition.fallback and TEXTS in definition.queries and profile.triples)
        self._predicates = frozenset(profile.predicates)
        self._naming, self._properties = profile.naming, list(profile.labels)
        self._spaces: set[str] = set()
        self._known: dict[str, tuple[LabelText, ...]] = {}
        self._blank: dict[str, tuple[LabelText, ...]] = {}

    def documents(self, rows: Callable[[], Iterable[EntityStatement]]) -> Iterator[tuple[str, str]]:
        """Yield the documents of sorted statements, which may be read more than once."""
        if self._unnamed:
            self._look_around(rows())
        entities = self._entities(rows())
        while batch := list(islice(entities, _BATCH)):
            self._look_up(linked for one in batch for linked in one.links)
            made = [(one, texts) for one in batch if (texts := self._texts(one)) is not None]
            own = self._own_labels([one for one, _ in made])
            for one, texts in made:
                if one.entity.startswith(_UNTOLD) and not own[one.entity]:
                    continue  # a part of an expression or of a list, or a term that a server's axioms name
                label = own[one.entity] or iri_words(one.entity)
                parts = [label] * NAME_WEIGHT if label else []
                parts += [t for t in texts if t != label]
                yield one.entity, ". ".join(p.rstrip(".") for p in parts)[: self._definition.length]

    def _entities(self, rows: Iterable[EntityStatement]) -> Iterator[EntityStatement]:
        for iri, group in groupby(rows, attrgetter("entity")):
            statements = list(group)
            if iri.startswith(BLANK):
                self._blank[iri] = tuple(label for one in statements for label in one.labels)
                continue
            texts = {text for one in statements for text in one.texts}
            if self._edges and any(place == self._place for place, _ in texts):
                texts = {text for text in texts if text[0] != self._others}
            links = tuple(sorted({linked for one in statements for linked in one.links}))
            labels = tuple(label for one in statements for label in one.labels)
            named, thing = any(one.named for one in statements), any(one.thing for one in statements)
            yield EntityStatement(iri, named, thing, tuple(sorted(texts)), links, labels)

    def _look_around(self, rows: Iterable[EntityStatement]) -> None:
        """Collect the namespaces of things that have a text, or of which something is stated."""
        for one in self._entities(rows):
            space = namespace(one.entity)
            if space in self._spaces:
                continue
            if one.texts or (one.links and not one.named and _iris(one.links)):
                self._spaces.add(space)
            elif one.links and self._edges:
                self._look_up(one.links)
                if any(True for _ in self._linked_texts(one)):
                    self._spaces.add(space)

    def _is_own(self, one: EntityStatement) -> bool:
        """Return whether a thing without a name becomes a document even if it has no text."""
        if not self._unnamed or one.named or not one.thing or one.entity in self._predicates:
            return False
        own = bool(_iris(one.links)) or namespace(one.entity) in self._spaces
        return own and is_asked(one.entity) and bool(iri_words(one.entity))

    def _texts(self, one: EntityStatement) -> list[str] | None:
        """Return the texts of an entity in their order; None if it is no document."""
        lines = sorted([*one.texts, *self._linked_texts(one)])
        if not lines and not self._is_own(one):
            return None
        texts = dict.fromkeys(text for _, text in lines)
        if self._unnamed and not one.named:
            for linked in _iris(one.links):
                words = self._best(linked) or iri_words(linked) if is_asked(linked) else None
                if words:
                    texts[words] = None
        return list(texts)

    def _linked_texts(self, one: EntityStatement) -> Iterator[tuple[int, str]]:
        """Yield what `index/linked-labels` gives, where edges are read."""
        if self._edges and self._linked >= 0:
            for linked in one.links:
                for _, language, text in self._labels_of(linked):
                    if language in self._definition.languages:
                        yield self._linked, " ".join(text.split())

    def _own_labels(self, made: list[EntityStatement]) -> dict[str, str | None]:
        iris = [one.entity for one in made]
        labels = {one.entity: one.labels for one in made} if self._edges else self._read(iris)
        return best_labels(iris, labels, self._naming, self._kg.languages)

    def _best(self, linked: str) -> str | None:
        labels = {linked: self._labels_of(linked)}
        return best_labels([linked], labels, self._naming, self._kg.languages)[linked]

    def _labels_of(self, linked: str) -> tuple[LabelText, ...]:
        return self._known.get(linked) or self._blank.get(linked, ())

    def _look_up(self, links: Iterable[str]) -> None:
        wanted = set(_iris(links))
        if len(self._known) + len(wanted) > _KEPT:
            self._known = {linked: self._known[linked] for linked in wanted if linked in self._known}
        missing = sorted(wanted - self._known.keys())
        texts = self._read(missing)
        self._known.update((linked, tuple(texts.get(linked, ()))) for linked in missing)

    def _read(self, entities: list[str]) -> dict[str, list[LabelText]]:
        if not entities:
            return {}
        return label_texts(self._kg.store, self._kg.dataset(), entities, self._properties)


def _iris(links: Iterable[str]) -> list[str]:
    return [linked for linked in links if not linked.startswith(BLANK)]


@dataclass(frozen=True)
class IndexInfo:
    """What is known of an index without searching it."""

    name: str
    documents: int | None
    embedder: str | None
    revision: int | None
    stale: bool
    definition: Definition | None
    analyser: str = ""
    fusion: FusionWeight | None = None
    later: str = ""  # The model by which a later build adds the meaning


def documents(kg: KnowledgeGraph, definition: Definition) -> Iterator[tuple[str, str]]:
    """Return IRI and text of each document, in order of IRI, made as they are asked for."""
    with SortedRows(map(tuple, statements(kg, definition))) as rows:
        yield from _Composer(kg, definition).documents(lambda: map(EntityStatement._make, rows))


def why_empty(kg: KnowledgeGraph, definition: Definition) -> str:
    """Return that a definition gives no documents, and why."""
    why = "Its entities have no texts, and their IRIs are codes rather than words."
    if not kg.profile().triples:
        why = "The graph holds no triples."
    elif TEXTS not in definition.queries or not definition.fallback:
        why = "The queries it is made of give no texts."
    return f"There is nothing to index. {why}"


_MOST = 20_000  # Documents from which on all are read, which is then hardly slower
_SAMPLE = 3
_OURS = "urn:mrag:"
"""What is written here names its things, so a namespace below it brings no document but those."""
_QUERIES = (TEXTS, LINKED)


@dataclass(frozen=True)
class ChangedDocuments:
    """What an index lacks."""

    texts: Mapping[str, str]
    gone: frozenset[str]


def changed_documents(
    kg: KnowledgeGraph, definition: Definition, extra: Mapping[str, Any], ids: Collection[str]
) -> ChangedDocuments | None:
    """Return what has changed since an index was built; None where all documents have to be read."""
    if not (isinstance(kg.store, OxigraphStore) and kg.record.kept):
        return None  # others may have changed the triples, which no record says
    now = state_of(kg, definition)
    if definition.select or not set(definition.queries) <= {*_QUERIES} or "naming" not in extra:
        return None
    if any(extra[key] != now[key] for key in ("kg", "digest", "naming")):
        return None
    since = int(extra["revision"])
    touched = list_touched(kg.store, kg.iri, since, kg.revision) if since <= kg.revision else None
    entities = None if touched is None else _affect(kg, touched)
    if entities is None:
        return None
    try:
        # A thing without a text of its own is a document only in a namespace of others that have one.
        spaces = _sample(ids, entities)
        copied = [*entities, *(iri for some in spaces.values() for iri in some)]
        with closing(_Surroundings(kg, copied)) as part:
            read = dict(documents(part, definition))
            stated = {
                namespace(iri) for iri in part.subjects if iri in entities and not iri.startswith(_OURS)
            }
    except TermError:
        return None  # a language tag, for example, that only a load takes
    if not stated <= {*spaces} <= {namespace(iri) for iri in read}:
        return None
    texts = {iri: text for iri, text in read.items() if iri in entities}
    return ChangedDocuments(texts, frozenset(iri for iri in entities if iri in ids and iri not in texts))


def _sample(ids: Iterable[str], without: Collection[str]) -> dict[str, list[str]]:
    """Return the namespaces of documents, each with some of them."""
    sample: dict[str, list[str]] = {}
    for iri in sorted(ids):
        some = sample.setdefault(namespace(iri), [])
        if len(some) < _SAMPLE and iri not in without:
            some.append(iri)
    return sample


def state_of(kg: KnowledgeGraph, definition: Definition) -> dict[str, Any]:
    """Return what an index keeps of the graph that it was built from, as JSON."""
    return {
        "kg": kg.iri,
        "revision": kg.revision,
        "digest": definition.digest(),
        "definition": as_json(asdict(definition)),
        "naming": list(kg.profile().labels),
    }


def follow_changes(
    kg: KnowledgeGraph,
    definition: Definition,
    files: StoredIndex,
    extra: Mapping[str, Any],
    **how: Any,
) -> SyncReport | None:
    """Bring an index up to date by what has changed alone, `how` as for `add`; None to read all documents."""
    ids = {*files.doc_ids}
    changes = changed_documents(kg, definition, files.extra, ids) if ids else None
    if changes is None or not ({*ids, *changes.texts} - changes.gone):
        return None
    # What is cut off here is done again, for the revision is kept last.
    deleted = files.delete(changes.gone)
    report = files.add(sorted(changes.texts.items()), extra=extra, **how)
    unchanged = len(files) - report.added - report.changed
    return replace(report, deleted=deleted, unchanged=unchanged)


def _affect(kg: KnowledgeGraph, touched: TouchedEntities) -> set[str] | None:
    """Return the entities whose documents may have changed; None for too many."""
    entities = set(touched.entities)
    for query in queries.get("index/linking").batches("entity", sorted(touched.texts), limit=_MOST + 1):
        entities.update(map(str, kg.select(query).column("documentID")))
        if len(entities) > _MOST:
            return None
    return entities


class _Surroundings(KnowledgeGraph):
    """A copy of what is stated of some entities, with the profile of the whole."""

    def __init__(self, kg: KnowledgeGraph, entities: Collection[str]) -> None:
        super().__init__(OxigraphStore(), languages=kg.languages)
        self._whole = kg.profile()
        stated = [*_statements(kg, sorted(entities))]
        linked = {str(o) for _, _, o in stated if isinstance(o, URIRef)} - set(entities)
        texts = (t for t in _statements(kg, sorted(linked)) if isinstance(t.o, Literal))
        # What nothing is stated of is a document only if something is linked to it.
        self.subjects = {str(s) for s, _, _ in stated}
        bare = sorted(set(entities) - self.subjects)
        self.insert([*stated, *texts, *_links(kg, bare)])

    def profile(self) -> Profile:
        """Return the profile of the whole."""
        return self._whole


def _statements(kg: KnowledgeGraph, entities: list[str]) -> Iterator[Triple]:
    for query in queries.get("cel/statements-of").batches("entity", entities):
        yield from (Triple(s, p, o) for s, p, o in kg.select(query))  # type: ignore[arg-type]


def _links(kg: KnowledgeGraph, entities: list[str]) -> Iterable[Triple]:
    for query in queries.get("context/in-degree").batches("entity", entities):
        for entity, p, _ in kg.select(query):
            yield Triple(URIRef("urn:mrag:linking:something"), p, entity)  # type: ignore[arg-type]
