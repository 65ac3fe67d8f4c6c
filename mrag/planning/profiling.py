"""The schema of a graph as its triples show it, whether or not one is declared.

Everything is counted by queries of `sparql/planning/`. Properties are asked for several at a time; of those
with very many triples only some are looked at where exact figures decide nothing.
"""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import unquote

from rdflib import URIRef

from mrag.graph.kg import KnowledgeGraph
from mrag.graph.naming import is_asked
from mrag.graph.record import LABELS
from mrag.language.names import split_identifier
from mrag.planning.profile.names import plain_names, spelt_out
from mrag.planning.profile.usage import (
    Ancestors,
    Edges,
    KnownSchema,
    PropertyUsage,
    ancestors,
    changed_since,
    find_what_holds,
    follows_changes,
    kept,
    members,
    raised,
    remember,
    remembered,
    schema_of_array,
    unchanged,
    unstated,
    usage_of,
)
from mrag.planning.schema import ClassEdge, ClassInfo, PropertyInfo, Schema
from mrag.rdf import queries
from mrag.rdf.terms import OWL, RDF, RDFS

ALTERNATIVE: Final[tuple[str, ...]] = (
    "http://www.w3.org/2004/02/skos/core#altLabel",
    "http://www.w3.org/2004/02/skos/core#hiddenLabel",
    "http://schema.org/alternateName",
    "https://schema.org/alternateName",
    "http://purl.org/dc/terms/alternative",
    "http://xmlns.com/foaf/0.1/nick",
)
"""Properties of other names, beside those of `mrag.graph.record.LABELS`."""

VOCABULARIES: Final[tuple[str, ...]] = (
    RDF,
    RDFS,
    OWL,
    "http://www.w3.org/ns/prov#",
    "http://www.w3.org/ns/shacl#",
    "http://purl.org/vocab/vann/",
    "http://rdfs.org/ns/void#",
    "https://w3id.org/mrag#",
)
"""Vocabularies whose properties nobody asks for."""

_DESCRIBED: Final = 2000
_ONLY_NAMES: Final = frozenset((*LABELS, *ALTERNATIVE))
"""Properties that nobody asks for but by the things they name; others that name things say something, too."""


def schema_of(kg: KnowledgeGraph) -> Schema:
    """Return the classes, properties and edges of a graph, read once for each state of it.

    Args:
        kg: The knowledge graph.

    Example:
        >>> import mrag
        >>> kg = mrag.demo(model="none")
        >>> len(schema_of(kg).classes) > 5
        True
        >>> kg.close()
    """

    def make() -> Schema:
        arrays = kept(kg)
        return _Reader(kg).schema() if arrays is None else schema_of_array(arrays["schema"])

    return kg.cached("planning schema", make)


class _Reader:
    def __init__(self, kg: KnowledgeGraph) -> None:
        self.kg = kg
        self.revision = kg.revision
        self.profile = kg.profile()
        self.labels = tuple(p for p in (*self.profile.labels, *ALTERNATIVE) if p in self.profile.predicates)

    def schema(self) -> Schema:
        counts = [
            (p, n)
            for p, n in self.profile.predicates.items()
            if n and p not in _ONLY_NAMES and not p.startswith(VOCABULARIES)
        ]
        # A graph with more properties than that has a long tail that no schema can show.
        most = dict(sorted(counts, key=lambda pair: (-pair[1], pair[0]))[:_DESCRIBED])
        rows = self.kg.select(queries.get("explore/classes").text) if self.profile.predicates else ()
        classes = {str(c): int(str(n)) for c, n in rows if isinstance(c, URIRef) and is_asked(str(c))}
        uses, edges = self._usage(most, classes)
        known = copy.deepcopy(uses), dict(edges), dict(classes)
        above = self._superclasses(classes)
        unsaid = unstated(self.kg, classes, above)
        edges = raised(uses, edges, unsaid)
        classes |= members(self.kg, unsaid)
        if any("" in use.domains or "" in use.ranges for use in uses.values()):
            classes[""] = self._untyped(uses)
        schema = self._assembled(uses, edges, dict(sorted(classes.items())), above, unsaid)
        predicates = self.profile.predicates
        remember(self.kg, KnownSchema(self.revision, predicates, self.labels, known[2], *known[:2], schema))
        return schema

    def _usage(
        self, counts: Mapping[str, int], classes: Mapping[str, int]
    ) -> tuple[dict[str, PropertyUsage], Edges]:
        """Return how properties are used; those that no change has touched are not counted again."""
        uses: dict[str, PropertyUsage] = {}
        edges: Edges = {}
        before = remembered(self.kg)
        changed = before and changed_since(self.kg, before.revision, before.predicates)
        if before and changed:
            uses, edges = unchanged(self.kg, before, changed, counts, classes)
        more, links = usage_of(self.kg, counts, classes, [p for p in counts if p not in uses])
        if follows_changes(self.kg):
            find_what_holds(self.kg, more.values())
        return dict(sorted({**uses, **more}.items())), {**edges, **links}

    def _untyped(self, uses: Mapping[str, PropertyUsage]) -> int:
        """Return about how many things have no class: at least as many as one property shows."""
        return max(max(use.domains.get("", 0), use.ranges.get("", 0)) for use in uses.values())

    def _assembled(
        self,
        uses: Mapping[str, PropertyUsage],
        edges: Edges,
        counts: Mapping[str, int],
        above: Ancestors,
        unsaid: Ancestors,
    ) -> Schema:
        terms = sorted({*uses, *(c for c in counts if c)})
        names, comments = self._texts(terms)
        names[""] = ("thing",)
        inverses = self._inverses(uses)
        self._declared(uses)
        parents = _parents(counts, above)
        classes = {
            c: ClassInfo(
                c, names.get(c, ()), comments.get(c, ""), n, parents.get(c, ()),
                tuple(sub for sub, over in unsaid.items() if c in over),
            )
            for c, n in counts.items()
        }  # fmt: skip
        properties = {
            p: PropertyInfo(
                iri=p,
                names=_named(p, use, names),
                comment=comments.get(p, ""),
                kind=use.kind,
                datatype=use.datatype,
                triples=use.triples,
                subjects=use.subjects,
                objects=use.objects,
                domains=_ordered(use.domains),
                ranges=_ordered(use.ranges) if use.kind == "entity" else {},
                minimum=use.least,
                maximum=use.greatest,
                text_numbers=use.text_numbers,
                truth=tuple(use.truth),
                units=tuple(use.units),
                inverse_names=tuple(
                    dict.fromkeys(n for q in inverses.get(p, ()) for n in names.get(q, ()) or self._names(q))
                ),
                datatypes=tuple(sorted(use.datatypes)) if use.every_datatype else (),
                plain_dates=use.plain_dates,
                subjects_in=tuple(map(tuple, use.subjects_in)),
                objects_in=tuple(map(tuple, use.objects_in)),
            )
            for p, use in uses.items()
        }
        links = tuple(ClassEdge(*edge, n) for edge, n in sorted(edges.items()))
        exact = follows_changes(self.kg) and len(self.kg.dataset().default) == 1
        return Schema(classes, properties, links, self.labels, self.profile.triples, exact)

    def _names(self, term: str) -> tuple[str, ...]:
        return self._texts([term])[0].get(term, ())

    def _texts(self, terms: Sequence[str]) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
        order = {p: at for at, p in enumerate((*self.profile.labels, *ALTERNATIVE))}
        named: defaultdict[str, list[tuple[int, int, str]]] = defaultdict(list)
        said: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
        for text in queries.get("planning/texts").batches("term", list(terms)):
            for term_, p, value in self.kg.select(text):
                language = getattr(value, "language", None) or ""
                rank = self.kg.language_rank(language)
                words = " ".join(str(value).split())
                if str(p) in order:
                    named[str(term_)].append((order[str(p)], rank, words))
                else:
                    said[str(term_)].append((rank, words))
        names: dict[str, tuple[str, ...]] = {}
        comments = {term: min(texts)[1] for term, texts in said.items()}
        for term in terms:
            # The best language of each property of names; others are names in another tongue, kept behind.
            found = [
                _in_words(text)
                for _, _, text in sorted(named[term], key=lambda n: (n[0], n[1], n[2]))
                if text
            ]
            more = spelt_out(found[0] if found else local_name(term), comments.get(term, ""))
            names[term] = tuple(dict.fromkeys((*found, *more, local_name(term))))
        return names, comments

    def _inverses(self, uses: Mapping[str, PropertyUsage]) -> dict[str, list[str]]:
        found: defaultdict[str, list[str]] = defaultdict(list)
        if OWL + "inverseOf" in self.profile.predicates:
            for p, inverse in self.kg.select(queries.get("context/inverses").text):
                if str(p) in uses and p != inverse:
                    found[str(p)].append(str(inverse))
        return found

    def _declared(self, uses: Mapping[str, PropertyUsage]) -> None:
        """Take the declared classes of properties whose data show none."""
        bare = [p for p, use in uses.items() if not set(use.domains) - {""} or not set(use.ranges) - {""}]
        for text in queries.get("planning/declared").batches("property", bare):
            for p, place, c in self.kg.select(text):
                use = uses[str(p)]
                at, size = (
                    (use.domains, use.subjects)
                    if str(place) == RDFS + "domain"
                    else (use.ranges, use.objects)
                )
                if not at and is_asked(str(c)):
                    at[str(c)] = size

    def _superclasses(self, counts: Mapping[str, int]) -> dict[str, frozenset[str]]:
        """Return the superclasses of the classes with members, and of these."""
        direct: defaultdict[str, set[str]] = defaultdict(set)
        if RDFS + "subClassOf" in self.profile.predicates:
            for lower, parent in self.kg.select(queries.get("planning/hierarchy").text):
                direct[str(lower)].add(str(parent))
        found = {c: frozenset(ancestors(c, direct)) for c in counts}
        further = set().union(*found.values()) - found.keys()
        return found | {c: frozenset(ancestors(c, direct)) for c in sorted(further)}


def _parents(counts: Mapping[str, int], above: Ancestors) -> dict[str, tuple[str, ...]]:
    """Return the direct superclasses of classes, among those with members."""
    direct = {}
    for c in counts:
        mine = {a for a in above.get(c, ()) if a in counts and c not in above[a]}
        direct[c] = tuple(sorted(a for a in mine if not any(a in above[b] for b in mine if b != a)))
    return direct


def local_name(iri: str) -> str:
    """Return the last part of an IRI in words.

    Example:
        >>> local_name("http://example.org/o#hasEyeColor"), local_name("http://example.org/part_of/")
        ('has eye color', 'part of')
    """
    last = unquote(iri.rstrip("/#").replace("#", "/").rsplit("/", 1)[-1].rsplit(":", 1)[-1])
    return split_identifier(last) or iri


def _in_words(label: str) -> str:
    words = split_identifier(label)
    return label if words.casefold() == label.casefold() else words


def _named(p: str, use: PropertyUsage, names: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return the names of a property, with plainer ones where all that have it are of one class."""
    own, owner = names.get(p, ()), next(iter(use.domains), "")
    if use.kind != "number" or len(use.domains) != 1:
        return own
    return tuple(dict.fromkeys((*own, *plain_names(own, names.get(owner, ())))))


def _ordered(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))
