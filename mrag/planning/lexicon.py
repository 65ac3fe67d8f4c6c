"""The names that a graph has for its things, what else people call them, and what they are near to."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
import pyoxigraph as ox

from mrag._patterns import compile_late
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.naming import is_asked, names_beside
from mrag.graph.record import ALTERNATIVE, mark
from mrag.index.embedding import Embedder, Vectors
from mrag.index.embedding import embedder as load_embedder
from mrag.language.english import (
    DIMENSIONS,
    Direction,
    is_empty,
    is_everyday,
    is_role,
    is_title,
    other_names,
    positive,
    root,
)
from mrag.language.names import Likeness, is_place, is_signed, likeness_at
from mrag.language.tokens import TextToken, fold, tokens
from mrag.planning.lexical import Candidate, Dimension, Named, NameMention
from mrag.planning.lexical.names import (
    SPAN,
    NamedThings,
    NameMatcher,
    Span,
    is_small,
    is_value,
    links,
    named,
    named_things,
    texts_of,
    unnamed_classes,
    unnamed_terms,
    valued,
)
from mrag.planning.lexical.schema_words import SchemaName, SchemaWords, counted_measures
from mrag.planning.profiling import (
    KNOWN,
    ChangedParts,
    KnownSchema,
    changed_since,
    classes_of,
    keep,
    kept,
    local_name,
    quads,
    remembered,
    schema_of,
    types_of,
)
from mrag.planning.schema import WORDS, Schema
from mrag.planning.ways import with_ways
from mrag.rdf import queries
from mrag.rdf.terms import RDF
from mrag.storage.fields import arrays_of, of_arrays

BEST: Final = 12  # Candidates of words at most
_ASKED: Final = 10_000
_EMBEDDED: Final = 1_000
_CLEAR: Final = 0.45
NEAR: Final = 0.5  # How near in meaning words are at least that may stand for each other
_KINDS: Final[tuple[Named, ...]] = ("class", "property")


def best(candidates: Iterable[Candidate], most: int = BEST) -> tuple[Candidate, ...]:
    """Return the best candidate of each thing, best first, ties in order of IRI."""
    found: dict[tuple[str, str, bool], Candidate] = {}
    for c in candidates:
        key = (c.kind, c.term, c.inverse)
        if key not in found or found[key].score < c.score:
            found[key] = c
    return tuple(sorted(found.values(), key=lambda c: (-c.score, c.kind, c.term, c.inverse))[:most])


_TYPE: Final = RDF + "type"
_WIDE: Final = "wide schema"
_LINKED: Final = "links"
Links: TypeAlias = Mapping[str, frozenset[tuple[str, bool]]]
"""Of each thing the properties that lead from it (true) and to it."""
_FEW: Final = 20_000  # Triples of a graph whose properties are asked for once for all things
_MOST_CHANGED: Final = 5_000  # Names and values that have changed from which on all are read anew


@dataclass(frozen=True)
class KnownNames:
    """The names of a state of a graph."""

    revision: int  # The revision of the graph
    predicates: Mapping[str, int]  # How many triples each of its predicates has
    schema: Schema  # Its schema
    things: NamedThings  # The names
    base: int  # The revision at which they were read as a whole


_latest: WeakKeyDictionary[KnowledgeGraph, KnownNames] = WeakKeyDictionary()


def names_followed(kg: KnowledgeGraph, schema: Schema) -> KnownNames | None:
    """Return the names of a graph by those that were last read of it and what has changed since.

    Returns:
        The names; None where they have to be read anew.
    """
    known, revision, counts = _latest.get(kg), kg.revision, kg.profile().predicates
    if known is None and (before := kept(kg)) is not None and before.base:
        found = of_arrays(KnownSchema, before.arrays, KNOWN)
        things = of_arrays(NamedThings, before.arrays)
        known = KnownNames(before.revision, found.predicates, found.schema, things, before.base)
    if known is None or known.things.changes > _MOST_CHANGED or not _alike(known, schema):
        return None
    changed = changed_since(kg, known.revision, known.predicates)
    if changed is None:
        return None
    unnamed = _unnamed(kg, known, schema, changed)
    if unnamed != known.things.unnamed:
        return None  # all members of a class would have to be gone through
    skip = unnamed_terms(kg, schema) if changed.entities else set[str]()
    now = {
        entity: set[str]() if entity in skip else _present_names(kg, schema, entity, unnamed)
        for entity in sorted(changed.entities)
    }
    things = known.things.changed(now, _values(kg, known, changed))
    return KnownNames(revision, counts, schema, things, known.base)


def _alike(known: KnownNames, schema: Schema) -> bool:
    old = known.schema
    return (
        old.label_properties == schema.label_properties
        and old.tree == schema.tree
        and old.classes.keys() == schema.classes.keys()
        and old.properties.keys() == schema.properties.keys()
        and is_small(old) == is_small(schema)
        and links(old) == links(schema)
        and known.things.predicates == tuple(valued(schema))
    )


def _unnamed(kg: KnowledgeGraph, known: KnownNames, schema: Schema, changed: ChangedParts) -> tuple[str, ...]:
    """Return the classes some of whose members have no name; the members of the others are as they were."""
    if is_small(schema):
        return ()
    old = known.schema.classes
    again = {c for c, info in schema.classes.items() if info.count != old[c].count}
    for entity in changed.entities:
        again.update(types_of(kg, entity))
    again &= schema.classes.keys()
    kept = (c for c in known.things.unnamed if c not in again)
    return tuple(sorted((*kept, *unnamed_classes(kg, schema, sorted(again)))))


def _present_names(kg: KnowledgeGraph, schema: Schema, entity: str, unnamed: Collection[str]) -> set[str]:
    """Return the names of a term that is no vocabulary."""
    if names := {name for _, name in named(kg, schema, (), entity)}:
        return names
    if not is_asked(entity) or is_place(entity):
        return set()
    if not is_small(schema):
        ends = ((p, place) for p in links(schema) for place in ("s", "o"))
        led = any(any(quads(kg, p=p, **{place: entity})) for p, place in ends)
        is_thing = led or not types_of(kg, entity).isdisjoint(unnamed)
    else:
        is_thing = any(
            p in schema.properties or (place == "s" and p == _TYPE)
            for place in ("s", "o")
            for p in (quad.predicate.value for quad in quads(kg, **{place: entity}))
        )
    return {local_name(entity)} if is_thing else set()


def _values(kg: KnowledgeGraph, known: KnownNames, changed: ChangedParts) -> dict[str, dict[int, int]]:
    """Return the values that a property has more or less often than before, with how often each has them."""
    things, counts = known.things, kg.profile().predicates
    now = dict[str, dict[int, int]]()
    for at, p in enumerate(things.predicates):
        said = [quad for entity in changed.texts for quad in quads(kg, s=entity, p=p)]
        more = counts.get(p, 0) - known.predicates.get(p, 0)
        if not said and not more:
            continue
        came = [q for q in said if mark(q.subject, q.predicate, q.object) in changed.came]
        if len(came) == more:
            # Nothing went, so what came is all that is other.
            texts = Counter(q.object.value for q in came if isinstance(q.object, ox.Literal))
            differ = {t: things.counts_of(t).get(at, 0) + n for t, n in texts.items() if is_value(t)}
        else:
            # Who has lost a value is not kept, so all values of the property are counted.
            before = things.values_of(at)
            texts = Counter(text for _, _, text in texts_of(kg, [p]) if is_value(text))
            differ = {t: texts[t] for t in {*texts, *before} if texts[t] != before.get(t, 0)}
        for text, n in differ.items():
            having = now.setdefault(text, dict(things.counts_of(text)))
            having.pop(at, None)
            having.update({at: n} if n else {})
    return now


__all__ = ["Candidate", "Dimension", "Lexicon", "NameMention", "lexicon_of"]

_QUOTES: Final = compile_late(
    r"[\"\u201c\u201e\u00ab][^\"\u201c\u201d\u201e\u00ab\u00bb]+[\"\u201d\u201c\u00bb]"
)


def lexicon_of(kg: KnowledgeGraph, embedder: str | Embedder | None = "minilm") -> Lexicon:
    """Return the lexicon of a graph, built once for each state of it.

    Args:
        kg: The knowledge graph.
        embedder: The model by which words are near in meaning; None for none.

    Example:
        >>> import mrag
        >>> from mrag.language.tokens import tokens
        >>> kg = mrag.demo(model="none")
        >>> mention = lexicon_of(kg, None).match(tokens("Who develops GraphDB?"))[-1]
        >>> mention.candidates[0].name, mention.candidates[0].kind
        ('GraphDB', 'entity')
        >>> kg.close()
    """
    name = embedder if isinstance(embedder, str | None) else embedder.name

    def make() -> Lexicon:
        return Lexicon(kg, wide_schema(kg), names_of(kg), embedder)

    return kg.cached(f"planning lexicon {name}", make)


def wide_schema(kg: KnowledgeGraph) -> Schema:
    """Return the schema of a graph with what is said over others, kept with its names."""

    def make() -> Schema:
        before = kept(kg)
        if before is not None and before.revision == kg.revision and f"{_WIDE}-edges" in before.arrays:
            return of_arrays(Schema, before.arrays, f"{_WIDE}-")
        return with_ways(kg, schema_of(kg))

    return kg.cached("planning wide schema", make)


def _links(kg: KnowledgeGraph) -> Links:
    """Return the links of all things of a small graph on a server, kept with its names; else none."""

    def make() -> Links:
        if kg.store.capabilities.edges or schema_of(kg).triples > _FEW:
            return {}
        before = kept(kg)
        if before is not None and before.revision == kg.revision and _LINKED in before.arrays:
            told = json.loads(before.arrays[_LINKED].tobytes())
            return {thing: frozenset((p, ahead) for p, ahead in some) for thing, some in told.items()}
        return _read_links(kg, queries.get("explore/links").text)

    return kg.cached("planning links", make)


def _read_links(kg: KnowledgeGraph, text: str) -> Links:
    found: dict[str, set[tuple[str, bool]]] = {}
    for thing, from_, to in kg.select(text):
        found.setdefault(str(thing), set()).add((str(to), False) if from_ is None else (str(from_), True))
    return {thing: frozenset(some) for thing, some in found.items()}


def names_of(kg: KnowledgeGraph) -> NamedThings:
    """Return the names of a graph, read once for each state of it and kept with it where it is on disk."""
    return kg.cached("planning names", lambda: _names(kg))


def things_called(kg: KnowledgeGraph, text: str, most: int = 10) -> list[Candidate]:
    """Return the things that a text names, the likest first: as a whole, in part, broken off or misspelt.

    Example:
        >>> import mrag
        >>> kg = mrag.demo(model="none")
        >>> [[one.name for one in things_called(kg, text, 1)] for text in ("graphd", "graphbd")]
        [['GraphDB'], ['GraphDB']]
        >>> kg.close()
    """
    matcher = kg.cached("planning matcher", lambda: NameMatcher(names_of(kg)))
    found = matcher.begun(text, most)
    if len(found) < most:
        said = tokens(text)
        spans = [(i, j) for i in range(len(said)) for j in range(i + 1, min(len(said), i + SPAN) + 1)]
        more = best((c for _, c in matcher.candidates(said, spans) if c.kind == "entity"), most)
        known = {c.term for c in found}
        found += [c for c in more if c.term not in known]
    return found[:most]


_BEHIND: Final = 0.03
"""How much less likely a name is that differs in case from what was said, where another does not."""

_REMEMBERED: Final = 32  # Questions whose names are kept


class Lexicon:
    """The names of a graph; see `lexicon_of`.

    Args:
        kg: The knowledge graph.
        schema: Its schema.
        names: The names of its entities and its frequent values.
        embedder: The model by which words are near in meaning; None for none.
    """

    def __init__(
        self, kg: KnowledgeGraph, schema: Schema, names: NamedThings, embedder: str | Embedder | None = None
    ) -> None:
        self.schema = schema
        self.words = SchemaWords(schema)
        self._embedder = embedder
        self._vectors: dict[Named, tuple[list[SchemaName], Vectors]] = {}
        self._asked: dict[str, Vectors] = {}
        self.kg = kg
        self._links = dict(_links(kg))
        self.matcher = NameMatcher(names)
        self._matched: dict[tuple[str, tuple[tuple[str, str, str], ...], bool], tuple[NameMention, ...]] = {}

    @cached_property
    def broad(self) -> frozenset[str]:
        """Return the terms that have others below them, where terms are the things of the graph."""
        tree = self.schema.tree
        if tree is None or not tree.above:
            return frozenset()
        text = queries.get("planning/children" if tree.inverse else "planning/parents")
        return frozenset(str(term) for (term,) in self.kg.select(text.bind(property=[tree.above])))

    def is_linked(self, thing: str, iri: str, ahead: bool) -> bool:
        """Return whether a property leads to a thing, or from it if `ahead`."""
        if self.kg.store.capabilities.edges:
            return any(True for _ in quads(self.kg, p=iri, **{"s" if ahead else "o": thing}))
        if thing not in self._links and self.schema.triples > _FEW:
            # A server is asked once for all that was named last.
            last = next(reversed(self._matched.values()), ())
            named = {c.term for m in last for c in m.candidates if c.kind == "entity" and c.score >= _CLEAR}
            self._links = dict.fromkeys(sorted({thing, *named}), frozenset())
            self._links |= _read_links(self.kg, queries.get("planning/links").bind(thing=[*self._links]))
        return (iri, ahead) in self._links.get(thing, ())

    def likeness(self, one: str, other: str) -> float:
        """Return how near two phrases are in meaning, as a cosine; 0 without an embedding model."""
        first, second = self._vector(one), self._vector(other)
        return 0.0 if first is None or second is None else float(first @ second)

    def _add_meanings(self, found: dict[Span, list[Candidate]], tokens: Sequence[TextToken]) -> None:
        """Add what words are near to in meaning that nothing else explains."""
        if self._embedder is None:
            return
        clear: set[tuple[int, str]] = set()
        for (i, j), some in found.items():
            for c in (c for c in some if c.score >= _CLEAR):
                # Some words of the name of a property do not tell which kind of things is meant.
                part = c.way == "tokens" and c.kind in _KINDS
                clear |= {(at, kind) for at in range(i, j) for kind in _KINDS if kind == c.kind or not part}
        shouted = not any(t.raw.islower() for t in tokens)
        for at, token in enumerate(tokens):
            if at and not shouted and token.raw.istitle():
                continue  # a name that the graph does not have is nothing else
            if is_empty(token.key) or is_everyday(token.key) or not token.key.isalpha():
                continue
            if other_names(token.raw, capital=token.raw.isupper()):
                continue  # a country that the graph does not have is nothing else
            for kind in (kind for kind in _KINDS if (at, kind) not in clear):
                near = (c for c in self.similar(token.raw, kind, 3) if c.score >= NEAR)
                if is_role(token.raw):
                    # Roles are near to each other in meaning: an editor is no author.
                    near = (c for c in near if not is_role(c.name.split()[-1]))
                found.setdefault((at, at + 1), []).extend(
                    replace(c, score=round(c.score * 0.7, 4)) for c in near
                )

    def similar(self, words: str, kind: Named, most: int = 5) -> tuple[Candidate, ...]:
        """Return the properties or classes nearest in meaning to some words, by their cosines."""
        model = load_embedder(self._embedder)
        if model is None:
            return ()
        if kind not in self._vectors:
            mine = [n for n in self._most_used() if n.kind == kind]
            self._vectors[kind] = mine, model.embed_documents([n.name for n in mine])
        known, vectors = self._vectors[kind]
        vector = self._vector(words)
        assert vector is not None
        cosines = (vectors @ vector).tolist() if known else ()
        return best(
            (
                Candidate(kind, n.term, round(max(0.0, min(1.0, s)), 4), n.name, "meaning", inverse=n.inverse)
                for n, s in zip(known, cosines, strict=True)
            ),
            most,
        )

    def _vector(self, words: str) -> Vectors | None:
        model = load_embedder(self._embedder)
        if model is None:
            return None
        if words not in self._asked:
            if len(self._asked) >= _ASKED:
                self._asked = {}
            self._asked[words] = model.embed_query(words)
        return self._asked[words]

    def _most_used(self) -> list[SchemaName]:
        """Return the names of the classes and properties with the most members and triples."""
        sizes = {c: info.count for c, info in self.schema.classes.items()}
        sizes |= {p: info.triples for p, info in self.schema.properties.items()}
        return sorted(self.words.names, key=lambda n: (-sizes[n.term], n.term, n.name))[:_EMBEDDED]

    def match(
        self, tokens: Sequence[TextToken], question: str = "", *, meanings: bool = True
    ) -> list[NameMention]:
        """Return the spans of a question that may name something, in order of place.

        Args:
            tokens: The words of the question.
            question: The question, in which what stands in quotes is matched as a whole.
            meanings: Whether words may also name what they are near to in meaning.

        Example:
            >>> import mrag
            >>> from mrag.language.tokens import tokens
            >>> kg = mrag.demo(model="none")
            >>> lexicon = lexicon_of(kg, None)
            >>> [m.candidates[0].name for m in lexicon.match(tokens("graphbd"))]
            ['GraphDB']
            >>> kg.close()
        """
        key = (question, tuple((t.before, t.raw, t.after) for t in tokens), meanings)
        found = self._matched.get(key)
        if found is None:
            if len(self._matched) >= _REMEMBERED:
                self._matched = {}
            # The reader and what checks it look for the same names, one right after the other.
            found = self._matched[key] = tuple(self._match(tokens, question, meanings))
        return list(found)

    def _match(self, tokens: Sequence[TextToken], question: str, meanings: bool) -> list[NameMention]:
        shouted = not any(t.raw.islower() for t in tokens)
        # `US` and `IT` are names where the other words are in small letters.
        dumb = [
            _is_title(tokens, at)
            or (
                is_empty(t.key)
                and (shouted or not t.raw.isupper() or not _names_alone(tokens, at))
                and not is_signed(tokens, at)
            )
            for at, t in enumerate(tokens)
        ]
        # `Being There` may be a title, `being there` not.
        capital = [at > 0 and t.raw[0].isupper() for at, t in enumerate(tokens)]
        quoted = _quoted(tokens, question)
        spans = [
            (i, j)
            for i in range(len(tokens))
            for j in range(i + 1, min(len(tokens), i + SPAN) + 1)
            if not all(dumb[i:j]) or (i, j) in quoted or (j - i > 1 and not shouted and all(capital[i:j]))
        ]
        found: defaultdict[Span, list[Candidate]] = defaultdict(list)
        for i, j in spans:
            found[i, j].extend(self.words.candidates(tokens[i:j]))
        for span, candidate in self.matcher.candidates(tokens, spans):
            found[span].append(candidate)
        if meanings:
            self._add_meanings(found, tokens)
        chosen = {span: best(_likest(tokens, span, some)) for span, some in found.items() if some}
        classed = self._with_classes(_uncut(chosen, quoted))
        return [NameMention(*span, classed[span]) for span in sorted(classed)]

    def dimension(self, adjective: str) -> list[Dimension]:
        """Return the properties of numbers and dates that an adjective or a superlative is a measure of.

        Args:
            adjective: Such as "cheap", "longest" or "more recent".
        """
        plain = next((p for p in map(positive, reversed(adjective.split())) if p), None)
        if plain is None:
            return []
        direction, nouns = DIMENSIONS[plain]
        measures = {p for p, info in self.schema.properties.items() if info.kind in ("number", "date")}
        found: list[Dimension] = []
        for rank, noun in enumerate(nouns.split()):
            wanted = {root(noun), *(map(root, WORDS["birth"]) if noun == "birth" else ())}
            for name in self.words.names:
                if name.term in measures and not wanted.isdisjoint(name.roots):
                    score = (0.95 - 0.06 * rank) * (0.7 + 0.3 / len(name.weighty))
                    found.append(Dimension(name.term, round(score, 4), direction, name.name))
        if plain in ("old", "young"):
            # What is old was born early, and has a great age.
            other: Direction = "greatest" if direction == "least" else "least"
            ages = (n for n in self.words.names if n.term in measures and root("age") in n.roots)
            found += [Dimension(n.term, 0.95, other, n.name) for n in ages]
        if "date" in nouns.split():
            # Whatever happens to a thing tells how old or how new it is.
            dates = (info for info in self.schema.properties.values() if info.kind == "date")
            found += [Dimension(info.iri, 0.4, direction, info.names[0]) for info in dates]
        # What has a length needs no number of parts to tell how long it is.
        owned = {c for d in found for c in self.schema.properties[d.property].domains}
        found += [
            d
            for d in counted_measures(plain, self.words.names, self.schema)
            if not owned & set(self.schema.properties[d.property].domains)
        ]
        if not found:
            near = (c for c in self.similar(nouns.split()[0], "property", 5) if c.score >= NEAR)
            found += [
                Dimension(c.term, round(c.score * 0.8, 4), direction, c.name)
                for c in near
                if c.term in measures
            ]
        found.sort(key=lambda d: (-d.score, d.property, d.name))
        return list({d.property: d for d in reversed(found)}.values())[::-1]

    def _with_classes(
        self, chosen: Mapping[Span, tuple[Candidate, ...]]
    ) -> dict[Span, tuple[Candidate, ...]]:
        entities = sorted({c.term for some in chosen.values() for c in some if c.kind == "entity"})
        if beside := names_beside(self.kg, entities):
            chosen = {span: _once(some, beside) for span, some in chosen.items()}
            entities = sorted({beside.get(iri, iri) for iri in entities})
        types = {
            thing: own
            for thing, classes in classes_of(self.kg, entities).items()
            if (own := [c for c in classes if c in self.schema.classes])
        }
        if any(self.schema.classes):
            # What is of no kind, such as a web page, goes by no other form of its name: "listed" is no list.
            known = {
                span: tuple(c for c in some if c.kind != "entity" or c.way != "inflected" or c.term in types)
                for span, some in chosen.items()
            }
            chosen = {span: some for span, some in known.items() if some}
        return {
            span: self._without_own_names(
                [
                    replace(c, classes=self.schema.with_superclasses(types.get(c.term, ())))
                    if c.kind == "entity"
                    else c
                    for c in some
                ]
            )
            for span, some in chosen.items()
        }

    def _without_own_names(self, some: Sequence[Candidate]) -> tuple[Candidate, ...]:
        """Return candidates without the values that are only names of the things among them."""
        own = {(fold(c.name), cls) for c in some if c.kind == "entity" for cls in c.classes}

        def names(c: Candidate, iri: str) -> bool:
            info = self.schema.properties.get(iri)
            if (
                info is None
                or iri in ALTERNATIVE
                or not any(n.split()[-1].lower() in WORDS["naming"] for n in info.names if n)
            ):
                return False
            return any((fold(c.term), cls) in own for cls in info.domains)

        return tuple(c for c in some if c.kind != "value" or not all(names(c, p) for p in c.properties))


def _likest(words: Sequence[TextToken], span: Span, some: Sequence[Candidate]) -> list[Candidate]:
    """Return candidates without those whose names differ in a sign from what was said, where others do not.

    What differs in case or in diacritics only comes behind what does not.
    """
    exact = [c for c in some if c.way == "exact" and c.kind in ("entity", "value")]
    if len(exact) < 2 or len({c.name for c in exact}) < 2:
        return list(some)
    told = {c.name: likeness_at(words, *span, c.name) for c in exact}
    least = {kind: min(told[c.name] for c in exact if c.kind == kind) for kind in {c.kind for c in exact}}
    # A thing of several names is known by the likest.
    likest: dict[tuple[str, str], tuple[Likeness, int]] = {}
    for c in exact:
        likest[c.kind, c.term] = min(told[c.name], likest.get((c.kind, c.term), told[c.name]))
    tied = max(c.score for c in exact)
    found = []
    for c in some:
        if (mine := likest.get((c.kind, c.term))) is None:
            found.append(c)
            continue
        first = least[c.kind]
        if mine[0] > max(Likeness.DIACRITICS, first[0]):
            continue
        behind = mine[0] - first[0] + (mine[0] == first[0] and mine[1] > first[1])
        whole = tied if first[0] == Likeness.SIGNS and c.way == "exact" else c.score
        found.append(replace(c, score=round(whole - _BEHIND * behind, 4)))
    return found


def _once(some: Iterable[Candidate], beside: Mapping[str, str]) -> tuple[Candidate, ...]:
    """Return candidates, things of several names by that which stands for them, and once."""
    found: dict[tuple[str, str], Candidate] = {}
    for c in some:
        c = replace(c, term=beside.get(c.term, c.term)) if c.kind == "entity" else c
        found.setdefault((c.kind, c.term + " inverse" * c.inverse), c)
    return tuple(found.values())


def _names(kg: KnowledgeGraph) -> NamedThings:
    revision, schema, counts = kg.revision, schema_of(kg), kg.profile().predicates
    found = kept(kg)
    if found is not None and found.revision == revision and found.base:
        now = KnownNames(revision, counts, schema, of_arrays(NamedThings, found.arrays), found.base)
    else:
        now = names_followed(kg, schema) or KnownNames(
            revision, counts, schema, named_things(kg, schema), revision
        )
        known = remembered(kg)
        if known is not None and known.revision == revision:
            read, changed = now.things.arrays()
            wide = arrays_of(wide_schema(kg), f"{_WIDE}-")
            if links := _links(kg):
                told = {thing: sorted(some) for thing, some in sorted(links.items())}
                wide[_LINKED] = np.frombuffer(json.dumps(told).encode(), np.uint8)
            keep(kg, revision, {**arrays_of(known, KNOWN), **changed, **wide}, now.base, read)
    if kg.record.kept and revision == kg.revision:
        _latest[kg] = now
    return now.things


def _names_alone(words: Sequence[TextToken], at: int) -> bool:
    """Return whether a capital names something: not the "A" that begins a question or is an article."""
    behind = words[at + 1 : at + 2]
    return len(words[at].raw) > 1 or (at > 0 and all(is_empty(w.key) and w.raw.islower() for w in behind))


def _is_title(words: Sequence[TextToken], at: int) -> bool:
    """Return whether a word is only the title of the name behind it; there may be a class of professors."""
    if not is_title(words[at].key):
        return False
    return len(words[at].key) < 7 or any(word.raw[0].isupper() for word in words[at + 1 : at + 2])


def _quoted(tokens: Sequence[TextToken], question: str) -> set[Span]:
    """Return the spans that stand in quotes."""
    found = set()
    for match in _QUOTES.finditer(question):
        inside = [at for at, t in enumerate(tokens) if match.start() < t.start and t.end < match.end()]
        if inside:
            found.add((inside[0], inside[-1] + 1))
    return found


def _uncut(
    found: Mapping[Span, tuple[Candidate, ...]], quoted: Iterable[Span]
) -> dict[Span, tuple[Candidate, ...]]:
    """Return mentions without those that cut what stands in quotes and is a name as a whole."""
    whole = [span for span in quoted if any(c.way in ("exact", "inflected") for c in found.get(span, ()))]
    return {
        (i, j): candidates
        for (i, j), candidates in found.items()
        if (i, j) in whole or not any(i < b and a < j for a, b in whole)
    }
