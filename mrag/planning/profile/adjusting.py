"""Large properties after small changes: what came is added to what was counted, and nothing is counted again.

That is done only where a property has lost no triple, as the marks of what came tell, and where what came
is like what was there. All else is counted anew.
"""

from __future__ import annotations

import copy
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

import pyoxigraph as ox

from mrag.graph.kg import KnowledgeGraph
from mrag.graph.naming import is_asked
from mrag.graph.record import mark
from mrag.planning.profile.kinds import number_in, units_of_texts
from mrag.planning.profile.usage import TYPED_KINDS, Edges, PropertyUsage, exactly_counted, widen
from mrag.rdf.terms import RDF, XSD
from mrag.stores.oxigraph import OxigraphStore

_GROWN: Final = 0.05
"""How much a property or a class may have grown, as a share, since it was counted."""
_FEW: Final = 100
"""Members by which a class may differ in any case."""
_PLAIN: Final = {
    XSD + "date": re.compile(r"(?!0000)\d{4}-\d\d-\d\d"),
    XSD + "dateTime": re.compile(r"(?!0000)\d{4}-\d\d-\d\dT(?!24)\d\d:\d\d:\d\d"),
}
_TYPE: Final = RDF + "type"
_Node: TypeAlias = ox.NamedNode | ox.BlankNode | ox.Triple
_Value: TypeAlias = _Node | ox.Literal


def alike_sized(before: Mapping[str, int], now: Mapping[str, int]) -> bool:
    """Return whether classes are the same and have hardly more or fewer members.

    Example:
        >>> alike_sized({"urn:c": 1000}, {"urn:c": 1001}), alike_sized({"urn:c": 2}, {"urn:d": 2})
        (True, False)
    """
    return before.keys() == now.keys() and all(
        abs(now[c] - n) <= max(_FEW, _GROWN * n) for c, n in before.items()
    )


def adjusted(
    kg: KnowledgeGraph,
    uses: Mapping[str, PropertyUsage],
    edges: Edges,
    counts: Mapping[str, int],
    wanted: Collection[str],
    entities: Collection[str],
    came: Collection[str],
    typed: int,
) -> tuple[dict[str, PropertyUsage], Edges]:
    """Return how large properties are used to which triples came, and the edges that these make.

    Args:
        kg: The knowledge graph, in an embedded store.
        uses: How properties were used.
        edges: Which classes they linked.
        counts: How many triples each property has now.
        wanted: The properties that may have changed.
        entities: The entities that changes touched.
        came: Marks of the triples that came.
        typed: How many more triples than before say of which class something is.
    """
    if not isinstance(kg.store, OxigraphStore):
        return {}, {}
    few = exactly_counted(counts) | exactly_counted({p: use.triples for p, use in uses.items()})
    found: dict[str, PropertyUsage] = {}
    links: Edges = {}
    touched = _Touched(kg, kg.store, frozenset(entities), frozenset(came))
    of = touched.quads()
    retyped = touched.retyped(of.get(_TYPE, []), typed)
    for p, n in counts.items():
        use, mine = uses.get(p), of.get(p, [])
        if use is None or p not in wanted or len(mine) != n - use.triples:
            continue
        if p in few:
            if mine or touched.have(p, retyped):
                continue
        elif abs(n - use.counted) > _GROWN * use.counted or not all(_like(use, q.object) for q in mine):
            continue
        found[p] = touched.added(use, mine)
        links.update({edge: m for edge, m in edges.items() if edge[1] == p})
        for edge in touched.links(mine):
            links[edge] = links.get(edge, 0) + 1
    return found, links


def _like(use: PropertyUsage, value: _Value) -> bool:
    """Return whether a value is of a kind that the property has."""
    if not isinstance(value, ox.Literal):
        return "" in use.datatypes
    datatype, text = value.datatype.value, value.value
    if datatype not in use.datatypes or (use.truth and text not in use.truth):
        return False
    if use.kind == "number" or datatype in TYPED_KINDS:
        if use.kind == "number":
            return number_in(text) is not None and {*units_of_texts([text])} <= {*use.units}
        return use.kind == "date"
    return use.kind != "date"


@dataclass(frozen=True)
class _Touched:
    kg: KnowledgeGraph
    store: OxigraphStore
    entities: frozenset[str]
    came: frozenset[str]

    def quads(self) -> dict[str, list[ox.Quad]]:
        """Return the triples that came, by their predicates."""
        found: dict[str, dict[str, ox.Quad]] = defaultdict(dict)
        for graph in self.kg.dataset().default:
            for entity in sorted(self.entities):
                for quad in self.store.edges(graph, s=entity):
                    key = mark(quad.subject, quad.predicate, quad.object)
                    if key in self.came:
                        found[quad.predicate.value][f"{key} {quad.object}"] = quad
        return {p: list(quads.values()) for p, quads in found.items()}

    def retyped(self, came: Collection[ox.Quad], more: int) -> frozenset[str]:
        """Return the entities that may be in other classes than before."""
        if len(came) != more:
            return self.entities
        return frozenset(str(getattr(quad.subject, "value", "")) for quad in came)

    def have(self, predicate: str, entities: Iterable[str]) -> bool:
        """Return whether one of some entities has a property, in either direction."""
        found = (
            quad
            for graph in self.kg.dataset().default
            for entity in entities
            for place in ("s", "o")
            for quad in self.store.edges(graph, p=predicate, **{place: entity})
        )
        return next(found, None) is not None

    def added(self, use: PropertyUsage, quads: Iterable[ox.Quad]) -> PropertyUsage:
        """Return how a property is used with some triples more."""
        new, quads = copy.deepcopy(use), list(quads)
        for subject, n in Counter(quad.subject for quad in quads).items():
            if self._are(n, use.iri, subject, None):
                new.subjects += 1
                for c in self._asked_types(subject):
                    new.domains[c] = new.domains.get(c, 0) + 1
        for value, n in Counter(quad.object for quad in quads).items():
            if self._are(n, use.iri, None, value):
                new.objects += 1
                for c in () if isinstance(value, ox.Literal) else self._asked_types(value):
                    new.ranges[c] = new.ranges.get(c, 0) + 1
            datatype = value.datatype.value if isinstance(value, ox.Literal) else ""
            new.datatypes[datatype] = new.datatypes.get(datatype, 0) + n
            if isinstance(value, ox.Literal) and use.kind in ("number", "date"):
                widen(new, value.value)
                plain = _PLAIN.get(datatype)
                new.plain_dates &= plain is not None and plain.fullmatch(value.value) is not None
        new.triples += len(quads)
        new.subjects_in = [some for some in use.subjects_in if self._all_in(use.iri, "s", some)]
        new.objects_in = [some for some in use.objects_in if self._all_in(use.iri, "o", some)]
        return new

    def links(self, quads: Iterable[ox.Quad]) -> Iterator[tuple[str, str, str]]:
        """Yield the classes that triples link."""
        for quad in quads:
            for source in () if isinstance(quad.object, ox.Literal) else self._asked_types(quad.subject):
                for target in self._asked_types(quad.object):
                    yield source, quad.predicate.value, target

    def _are(self, n: int, predicate: str, subject: _Node | None, value: _Value | None) -> bool:
        """Return whether there are no more than so many triples of a subject or a value."""
        seen = set[str]()
        for graph in self.kg.dataset().default:
            quads = self.store.engine.quads_for_pattern(
                subject, ox.NamedNode(predicate), value, ox.NamedNode(graph)
            )
            for quad in quads:
                seen.add(f"{quad.subject} {quad.object}")
                if len(seen) > n:
                    return False
        return True

    def _types(self, thing: object) -> set[str]:
        name = getattr(thing, "value", "")
        return {
            quad.object.value
            for graph in self.kg.dataset().default
            for quad in self.store.edges(graph, s=name, p=_TYPE)
            if isinstance(quad.object, ox.NamedNode)
        }

    def _asked_types(self, thing: object) -> list[str]:
        return sorted(c for c in self._types(thing) if is_asked(c)) or [""]

    def _all_in(self, predicate: str, place: str, classes: Collection[str]) -> bool:
        """Return whether the touched entities that have a property are in one of some classes."""
        for entity in self.entities:
            having = (
                quad
                for graph in self.kg.dataset().default
                for quad in self.store.edges(graph, p=predicate, **{place: entity})
            )
            if next(having, None) is not None and self._types(ox.NamedNode(entity)).isdisjoint(classes):
                return False
        return True
