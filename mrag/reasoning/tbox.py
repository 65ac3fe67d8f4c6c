"""The axioms of a graph, read by four fixed queries.

The mapping from triples is that of OWL 2 Mapping to RDF Graphs, section 3.2. Blank nodes are IRIs here,
because they are skolemised when a graph is loaded.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

import pyoxigraph as ox

from mrag.rdf.patterns import iri
from mrag.rdf.terms import OWL, RDF, RDFS, SKOLEM, XSD, to_ox
from mrag.reasoning import axioms as ax
from mrag.stores.base import Dataset, TripleStore

_QUERIES = ("axioms", "expressions", "kinds", "typed-expressions")


_DATATYPES = (RDFS + "Literal", RDF + "langString", RDF + "PlainLiteral", OWL + "real", OWL + "rational")


@cache
def query(name: str) -> str:
    """Return the text of a query of `sparql/reasoning/`."""
    return (files("mrag") / "sparql" / "reasoning" / f"{name}.rq").read_text(encoding="utf-8")


@dataclass
class TBox:
    """What the four queries gave, and the expressions read from it.

    Attributes:
        triples: Axiom triples by predicate, each in order.
        structure: Triples of expressions: subject to predicate to objects.
        kinds: Nodes by kind, in order.
        typed: Class expressions that have asserted instances.
    """

    triples: dict[str, list[tuple[ox.NamedNode, ax.Plain]]] = field(default_factory=lambda: defaultdict(list))
    structure: dict[ax.Plain, dict[str, list[ax.Plain]]] = field(default_factory=dict)
    kinds: dict[str, list[ox.NamedNode]] = field(default_factory=lambda: defaultdict(list))
    typed: list[ox.NamedNode] = field(default_factory=list)
    _inverse: dict[ax.Plain, ox.NamedNode] = field(default_factory=dict)
    _read: dict[ax.Plain, ax.Expression] = field(default_factory=dict)

    @classmethod
    def read(cls, store: TripleStore, dataset: Dataset) -> TBox:
        """Read the axioms of a dataset."""
        box = cls()
        for s, p, o in _rows(store, "axioms", dataset):
            box.triples[str(p.value)].append((_node(s), o))
        for s, p, o in _rows(store, "expressions", dataset):
            box.structure.setdefault(s, {}).setdefault(str(p.value), []).append(o)
        for s, kind in _rows(store, "kinds", dataset):
            box.kinds[str(kind.value)].append(_node(s))
        box.typed = [_node(row[0]) for row in _rows(store, "typed-expressions", dataset)]
        for s, o in box.triples.get(OWL + "inverseOf", []):
            if s.value.startswith(SKOLEM) and isinstance(o, ox.NamedNode):
                box._inverse[s] = o
        return box

    def is_kind(self, node: ox.NamedNode, kind: str) -> bool:
        """Return whether a node is declared to be of an OWL kind."""
        return node in self.kinds.get(OWL + kind, ())

    def property(self, node: ax.Plain) -> ax.PropertyExpression | None:
        """Read a property or an inverse without a name."""
        if node in self._inverse:
            return ax.PropertyExpression(self._inverse[node], inverse=True)
        return ax.PropertyExpression(node) if isinstance(node, ox.NamedNode) else None

    def members(self, node: ax.Plain) -> tuple[ax.Plain, ...]:
        """Read an RDF list; a broken or circular one ends where it breaks."""
        items: list[ax.Plain] = []
        seen: set[ax.Plain] = set()
        while node in self.structure and node not in seen:
            seen.add(node)
            cell = self.structure[node]
            items += cell.get(RDF + "first", [])[:1]
            node = next(iter(cell.get(RDF + "rest", [])), iri(RDF + "nil"))
        return tuple(items)

    def is_datatype(self, node: ax.Plain) -> bool:
        """Return whether an IRI names a datatype."""
        return isinstance(node, ox.NamedNode) and (
            node.value.startswith(XSD)
            or node.value in _DATATYPES
            or node in self.kinds.get(RDFS + "Datatype", ())
        )

    def named(self, node: ax.Plain) -> bool:
        """Return whether a class has a name of its own."""
        return isinstance(node, ox.NamedNode) and not node.value.startswith(SKOLEM)

    def expression(self, node: ax.Plain, *, inside: bool = False) -> ax.Expression:
        """Read a class expression or data range.

        Args:
            node: Its node.
            inside: Read the structure even if the node has a name of its own.
        """
        if not isinstance(node, ox.NamedNode):
            return ax.Enumeration((node,))
        if node not in self._read or inside:
            value = ax.ClassName(node) if self.named(node) and not inside else self._structure(node)
            if inside:
                return value
            self._read[node] = value
        return self._read[node]

    def has_structure(self, node: ax.Plain) -> bool:
        """Return whether the node is written out as a class expression."""
        cell = self.structure.get(node, {})
        return any(
            OWL + k in cell
            for k in ("onProperty", "intersectionOf", "unionOf", "complementOf", "oneOf", "onDatatype",
                      "datatypeComplementOf")
        )  # fmt: skip

    def _structure(self, node: ox.NamedNode) -> ax.Expression:
        self._read[node] = ax.ClassName(node)  # a circular description ends here
        cell = {p.removeprefix(OWL): v for p, v in self.structure.get(node, {}).items()}
        parts: list[ax.Expression] = []
        for key, combine in (("intersectionOf", ax.IntersectionOf), ("unionOf", ax.UnionOf)):
            for o in cell.get(key, []):
                members = tuple(self.expression(m) for m in self.members(o))
                parts.append(members[0] if len(members) == 1 else combine(members))
        for key in ("complementOf", "datatypeComplementOf"):
            parts += [ax.ComplementOf(self.expression(o)) for o in cell.get(key, [])]
        parts += [ax.Enumeration(self.members(o)) for o in cell.get("oneOf", [])]
        for o in cell.get("onDatatype", []):
            parts.append(self._facets(o, cell))
        if "onProperty" in cell:
            for o in cell["onProperty"]:
                prop = self.property(o)
                if prop is not None:
                    parts += self._restrictions(prop, cell)
        return (
            ax.ClassName(node)
            if not parts
            else parts[0]
            if len(parts) == 1
            else ax.IntersectionOf(tuple(parts))
        )

    def _facets(self, datatype: ax.Plain, cell: Mapping[str, list[ax.Plain]]) -> ax.Expression:
        limits: list[tuple[str, ox.Literal]] = []
        for items in cell.get("withRestrictions", []):
            for item in self.members(items):
                for facet, values in self.structure.get(item, {}).items():
                    limits += [(facet.removeprefix(XSD), v) for v in values if isinstance(v, ox.Literal)]
        return ax.Facets(_node(datatype), tuple(sorted(limits, key=lambda x: (x[0], x[1].value))))

    def _restrictions(
        self, prop: ax.PropertyExpression, cell: Mapping[str, list[ax.Plain]]
    ) -> list[ax.Expression]:
        found: list[ax.Expression] = []
        found += [ax.SomeValuesFrom(prop, self.expression(o)) for o in cell.get("someValuesFrom", [])]
        found += [ax.AllValuesFrom(prop, self.expression(o)) for o in cell.get("allValuesFrom", [])]
        found += [ax.HasValue(prop, o) for o in cell.get("hasValue", [])]
        found += [ax.HasSelf(prop) for o in cell.get("hasSelf", []) if o.value in ("true", "1")]
        of = [*cell.get("onClass", []), *cell.get("onDataRange", [])]
        filler = self.expression(of[0]) if of else ax.THING
        for key, low, high in (("inCardinality", True, False), ("axCardinality", False, True)):
            for name in ("m" + key, "m" + key.replace("Card", "QualifiedCard")):
                found += [_count(o, prop, filler, low, high) for o in cell.get(name, [])]
        for name in ("cardinality", "qualifiedCardinality"):
            found += [_count(o, prop, filler, True, True) for o in cell.get(name, [])]
        return found


def _count(
    number: ax.Plain, prop: ax.PropertyExpression, filler: ax.Expression, low: bool, high: bool
) -> ax.Expression:
    n = int(number.value) if number.value.isdecimal() else 0
    parts: list[ax.Expression] = []
    if low:
        parts.append(ax.MinCardinality(n, prop, filler))
    if high:
        parts.append(ax.MaxCardinality(n, prop, filler) if number.value.isdecimal() else ax.THING)
    return parts[0] if len(parts) == 1 else ax.IntersectionOf(tuple(parts))


def _rows(store: TripleStore, name: str, dataset: Dataset) -> list[tuple[ax.Plain, ...]]:
    rows = store.select(query(name), dataset)
    found = {tuple(to_ox(term) for term in row if term is not None) for row in rows}
    plain = [row for row in found if all(isinstance(t, ox.NamedNode | ox.Literal) for t in row)]
    return sorted(plain, key=lambda row: [str(t) for t in row])  # type: ignore[arg-type]


def _node(term: ax.Plain) -> ox.NamedNode:
    return term if isinstance(term, ox.NamedNode) else iri(str(term.value))
