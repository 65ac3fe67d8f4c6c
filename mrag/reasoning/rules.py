"""Axioms as a graph states them, and rules: OWL 2 RL/RDF and a little more, each a SPARQL pattern.

Axioms are read by four fixed queries (OWL 2 Mapping to RDF Graphs, section 3.2); blank nodes are IRIs here.
Names of rules are those of OWL 2 Profiles, section 4.3, tables 4 to 9; names that are not there (`cls-min1`,
`dt-facet`, `cax-or`) go beyond OWL 2 RL. Values that cannot be compared (unknown datatypes) are neither in a
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeAlias

import pyoxigraph as ox
from rdflib import Literal

from mrag.rdf import patterns as pt
from mrag.rdf import queries
from mrag.rdf.expressions import (
    And,
    AtLeast,
    AtMost,
    DataRange,
    Expression,
    HasSelf,
    Not,
    OneOf,
    Only,
    Or,
    Property,
    Some,
    Top,
    Value,
    class_named,
    is_datatype,
)
from mrag.rdf.notation import to_words
from mrag.rdf.patterns import iri
from mrag.rdf.terms import OWL, RDF, RDFS, SKOLEM, XSD, from_ox, literal, to_ox
from mrag.stores.base import Dataset, TripleStore

Label: TypeAlias = Callable[[str], str]  # Returns the name of an IRI as people say it

Plain: TypeAlias = ox.NamedNode | ox.Literal  # A term of a stored triple

TripleKey: TypeAlias = tuple[Plain, Plain, Plain]  # A stored triple of terms that can be hashed


THING = iri(OWL + "Thing")
NOTHING = iri(OWL + "Nothing")
TYPE = iri(RDF + "type")
SAME = iri(OWL + "sameAs")


@dataclass(frozen=True)
class Axiom:
    """An axiom that rules come from."""

    kind: str
    parts: tuple[Expression | Property | str | Literal, ...]
    source: TripleKey

    def text(self, label: Label | None = None) -> str:
        """Return the axiom in words of Manchester syntax."""
        words = [in_words(part, label) for part in self.parts]
        if self.kind == "PropertyChain":
            return f"{' o '.join(words[:-1])} SubPropertyOf: {words[-1]}"
        if len(words) == 1:
            return f"{self.kind}: {words[0]}"
        return f"{words[0]} {self.kind}: {', '.join(words[1:])}"


def local_name(value: str) -> str:
    """Return what stands behind the last `#`, `/` or `:` of an IRI."""
    return value.rstrip("#/:").replace("#", "/").replace(":", "/").rsplit("/", 1)[-1] or value


def in_words(part: Expression | Property | str | Literal, label: Label | None = None) -> str:
    """Return a part of an axiom in words of Manchester syntax, by the names that people know."""
    named = label or local_name
    return to_words(part, lambda iri: "(nameless)" if iri.startswith(SKOLEM) else named(iri))


@dataclass(frozen=True)
class ConsistencyCheck:
    """A pattern that must not match."""

    name: str
    axiom: Axiom | None
    body: tuple[pt.TriplePattern, ...]
    filters: tuple[pt.Expression, ...] = ()
    values: tuple[pt.Values, ...] = ()

    def variables(self) -> tuple[ox.Variable, ...]:
        """Return the variables of the body in order of appearance."""
        return tuple(dict.fromkeys(v for atom in self.body for v in atom.variables()))


@dataclass(frozen=True)
class Rule(ConsistencyCheck):
    """A pattern and the triple that follows from it."""

    head: pt.TriplePattern = field(default=pt.TriplePattern(pt.var("s"), TYPE, pt.var("o")))
    path: pt.Path | None = None


@dataclass(frozen=True)
class Ruleset:
    """Everything compiled from a TBox."""

    rules: tuple[Rule, ...]
    checks: tuple[ConsistencyCheck, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Branch:
    """One way to be an instance of a class expression."""

    body: tuple[pt.TriplePattern, ...] = ()
    filters: tuple[pt.Expression, ...] = ()
    binding: tuple[tuple[ox.Variable, Plain], ...] = ()

    def with_(self, other: Branch) -> Branch:
        """Return both together."""
        return Branch(
            tuple(dict.fromkeys((*self.body, *other.body))),
            (*self.filters, *other.filters),
            (*self.binding, *other.binding),
        )


def resolve(
    branch: Branch, head: pt.TriplePattern | None
) -> tuple[tuple[pt.TriplePattern, ...], tuple[pt.Expression, ...], pt.TriplePattern] | None:
    """Put the values of nominals in place; None if two of them contradict or a subject is a literal."""
    binding: dict[ox.Variable, pt.Node] = {}
    for variable, value in branch.binding:
        if binding.setdefault(variable, value) != value:
            return None
    body = tuple(dict.fromkeys(atom.substitute(binding) for atom in branch.body))
    head = (head or pt.TriplePattern(TYPE, TYPE, TYPE)).substitute(binding)
    if any(isinstance(atom.s, ox.Literal) for atom in (*body, head)):
        return None
    filters = tuple(replace(f, binding) for f in branch.filters)
    return body, filters, head


def replace(expression: pt.Expression, binding: Mapping[ox.Variable, pt.Node]) -> pt.Expression:
    """Return a condition with variables replaced."""

    def put(part: Any) -> Any:
        if isinstance(part, tuple):
            return tuple(map(put, part))
        if isinstance(part, pt.Compare | pt.In | pt.Call | pt.AllOf | pt.AnyOf | pt.Negation):
            return dataclasses.replace(part, **{f.name: put(getattr(part, f.name)) for f in fields(part)})
        return binding.get(part, part) if isinstance(part, ox.Variable) else part

    result: pt.Expression = put(expression) if binding else expression
    return result


@dataclass
class TBox:
    """What the four queries gave, and the expressions read from it."""

    triples: dict[str, list[tuple[ox.NamedNode, Plain]]] = field(default_factory=lambda: defaultdict(list))
    structure: dict[Plain, dict[str, list[Plain]]] = field(default_factory=dict)
    kinds: dict[str, list[ox.NamedNode]] = field(default_factory=lambda: defaultdict(list))
    typed: list[ox.NamedNode] = field(default_factory=list)
    _inverse: dict[Plain, ox.NamedNode] = field(default_factory=dict)
    _read: dict[Plain, Expression] = field(default_factory=dict)

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

    def property(self, node: Plain) -> Property | None:
        """Read a property or an inverse without a name."""
        if node in self._inverse:
            return Property(self._inverse[node].value, inverse=True)
        return Property(node.value) if isinstance(node, ox.NamedNode) else None

    def members(self, node: Plain) -> tuple[Plain, ...]:
        """Read an RDF list; a broken or circular one ends where it breaks."""
        items: list[Plain] = []
        seen: set[Plain] = set()
        while node in self.structure and node not in seen:
            seen.add(node)
            cell = self.structure[node]
            items += cell.get(RDF + "first", [])[:1]
            node = next(iter(cell.get(RDF + "rest", [])), iri(RDF + "nil"))
        return tuple(items)

    def is_datatype(self, node: Plain) -> bool:
        """Return whether an IRI names a datatype."""
        return isinstance(node, ox.NamedNode) and (
            is_datatype(node.value) or node in self.kinds.get(RDFS + "Datatype", ())
        )

    def named(self, node: Plain) -> bool:
        """Return whether a class has a name of its own."""
        return isinstance(node, ox.NamedNode) and not node.value.startswith(SKOLEM)

    def expression(self, node: Plain, *, inside: bool = False) -> Expression:
        """Read a class expression or data range."""
        if not isinstance(node, ox.NamedNode):
            return OneOf((value_of(node),))
        if node not in self._read or inside:
            value = class_named(node.value) if self.named(node) and not inside else self._structure(node)
            if inside:
                return value
            self._read[node] = value
        return self._read[node]

    def has_structure(self, node: Plain) -> bool:
        """Return whether the node is written out as a class expression."""
        cell = self.structure.get(node, {})
        return any(
            OWL + k in cell
            for k in ("onProperty", "intersectionOf", "unionOf", "complementOf", "oneOf", "onDatatype",
                      "datatypeComplementOf")
        )  # fmt: skip

    def _structure(self, node: ox.NamedNode) -> Expression:
        self._read[node] = class_named(node.value)  # a circular description ends here
        cell = {p.removeprefix(OWL): v for p, v in self.structure.get(node, {}).items()}
        parts: list[Expression] = []
        for key, combine in (("intersectionOf", And), ("unionOf", Or)):
            for o in cell.get(key, []):
                members = tuple(self.expression(m) for m in self.members(o))
                parts.append(members[0] if len(members) == 1 else combine(members))
        for key in ("complementOf", "datatypeComplementOf"):
            parts += [Not(self.expression(o)) for o in cell.get(key, [])]
        parts += [OneOf(tuple(map(value_of, self.members(o)))) for o in cell.get("oneOf", [])]
        for o in cell.get("onDatatype", []):
            items = (item for each in cell.get("withRestrictions", []) for item in self.members(each))
            facets = (facet for item in items for facet in self.structure.get(item, {}).items())
            limits = [(f.removeprefix(XSD), v) for f, vs in facets for v in vs if isinstance(v, ox.Literal)]
            limits.sort(key=lambda x: (x[0], x[1].value))
            parts.append(
                DataRange(
                    _node(o).value,
                    tuple((f, literal(v.value, v.language, v.datatype.value)) for f, v in limits),
                )
            )
        for o in cell.get("onProperty", []):
            if (prop := self.property(o)) is not None:
                parts += self._restrictions(prop, cell)
        return class_named(node.value) if not parts else parts[0] if len(parts) == 1 else And(tuple(parts))

    def _restrictions(self, prop: Property, cell: Mapping[str, list[Plain]]) -> list[Expression]:
        restrictions: list[Expression] = []
        restrictions += [Some(prop, self.expression(o)) for o in cell.get("someValuesFrom", [])]
        restrictions += [Only(prop, self.expression(o)) for o in cell.get("allValuesFrom", [])]
        restrictions += [Value(prop, value_of(o)) for o in cell.get("hasValue", [])]
        restrictions += [HasSelf(prop) for o in cell.get("hasSelf", []) if o.value in ("true", "1")]
        of = [*cell.get("onClass", []), *cell.get("onDataRange", [])]
        filler = self.expression(of[0]) if of else Top()
        for key, low, high in (("inCardinality", True, False), ("axCardinality", False, True)):
            for name in ("m" + key, "m" + key.replace("Card", "QualifiedCard")):
                restrictions += [_count(o, prop, filler, low, high) for o in cell.get(name, [])]
        for name in ("cardinality", "qualifiedCardinality"):
            restrictions += [_count(o, prop, filler, True, True) for o in cell.get(name, [])]
        return restrictions


def _count(number: Plain, prop: Property, filler: Expression, low: bool, high: bool) -> Expression:
    n = int(number.value) if number.value.isdecimal() else 0
    parts: list[Expression] = []
    if low:
        parts.append(AtLeast(n, prop, filler))
    if high:
        parts.append(AtMost(n, prop, filler) if number.value.isdecimal() else Top())
    return parts[0] if len(parts) == 1 else And(tuple(parts))


def _rows(store: TripleStore, name: str, dataset: Dataset) -> list[tuple[Plain, ...]]:
    rows = store.select(queries.get(f"reasoning/{name}").text, dataset)
    distinct = {tuple(to_ox(term) for term in row if term is not None) for row in rows}
    plain = [row for row in distinct if all(isinstance(t, ox.NamedNode | ox.Literal) for t in row)]
    return sorted(plain, key=lambda row: [str(t) for t in row])  # type: ignore[arg-type]


def value_of(term: Plain) -> str | Literal:
    """Return a term of a stored triple as expressions have it."""
    value = from_ox(term)
    return value if isinstance(value, Literal) else str(value)


def _node(term: Plain) -> ox.NamedNode:
    return term if isinstance(term, ox.NamedNode) else iri(str(term.value))
