"""Axioms as a graph states them, and rules: OWL 2 RL/RDF and a little more, each a SPARQL pattern.

Axioms are read by four fixed queries (OWL 2 Mapping to RDF Graphs, section 3.2); blank nodes are IRIs here.
Names of rules are those of OWL 2 Profiles, section 4.3, tables 4 to 9; names that are not there (`cls-min1`,
`dt-facet`, `cax-or`) go beyond OWL 2 RL. Values that cannot be compared (unknown datatypes) are neither in a
datatype nor out of it, so that nothing is inferred and nothing clashes.
"""

from __future__ import annotations

import dataclasses
import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeAlias

import pyoxigraph as ox

from mrag.rdf import patterns as pt
from mrag.rdf import queries
from mrag.rdf.patterns import AllOf, AnyOf, Call, Compare, In, Negation, Node, Operator, iri
from mrag.rdf.patterns import Expression as Condition
from mrag.rdf.terms import OWL, RDF, RDFS, SKOLEM, XSD, to_ox
from mrag.stores.base import Dataset, TripleStore

Label: TypeAlias = Callable[[str], str]  # Returns the name of an IRI as people say it

Plain: TypeAlias = ox.NamedNode | ox.Literal  # A term of a stored triple

TripleKey: TypeAlias = tuple[Plain, Plain, Plain]  # A stored triple of terms that can be hashed


@dataclass(frozen=True)
class PropertyExpression:
    """A property or the inverse of one."""

    iri: ox.NamedNode
    inverse: bool = False


@dataclass(frozen=True)
class ClassName:
    """A class or datatype with a name; a nameless one only where its structure cannot be read."""

    iri: ox.NamedNode


@dataclass(frozen=True)
class IntersectionOf:
    """Intersection."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True)
class UnionOf:
    """Union."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True)
class ComplementOf:
    """What the class does not hold."""

    of: Expression


@dataclass(frozen=True)
class Enumeration:
    """An enumeration of individuals or literals."""

    members: tuple[Plain, ...]


@dataclass(frozen=True)
class SomeValuesFrom:
    """Existential restriction."""

    property: PropertyExpression
    filler: Expression


@dataclass(frozen=True)
class AllValuesFrom:
    """Universal restriction."""

    property: PropertyExpression
    filler: Expression


@dataclass(frozen=True)
class HasValue:
    """Restriction to one value."""

    property: PropertyExpression
    value: Plain


@dataclass(frozen=True)
class HasSelf:
    """Those related to themselves."""

    property: PropertyExpression


@dataclass(frozen=True)
class MinCardinality:
    """Minimum cardinality."""

    n: int
    property: PropertyExpression
    filler: Expression


@dataclass(frozen=True)
class MaxCardinality:
    """Maximum cardinality."""

    n: int
    property: PropertyExpression
    filler: Expression


@dataclass(frozen=True)
class Facets:
    """A datatype with limits on its values: pairs of facet name and limit."""

    datatype: ox.NamedNode
    limits: tuple[tuple[str, ox.Literal], ...]


Restriction: TypeAlias = SomeValuesFrom | AllValuesFrom | HasValue | HasSelf | MinCardinality | MaxCardinality
Expression: TypeAlias = (
    ClassName | IntersectionOf | UnionOf | ComplementOf | Enumeration | Facets | Restriction
)
THING = ClassName(iri(OWL + "Thing"))
NOTHING = ClassName(iri(OWL + "Nothing"))
TYPE = iri(RDF + "type")
SAME = iri(OWL + "sameAs")
_WORDS = {
    "minInclusive": "≥", "maxInclusive": "≤", "minExclusive": ">", "maxExclusive": "<",
    "length": "length", "minLength": "length ≥", "maxLength": "length ≤", "pattern": "pattern",
}  # fmt: skip


@dataclass(frozen=True)
class Axiom:
    """An axiom that rules come from."""

    kind: str
    parts: tuple[Expression | PropertyExpression | Plain, ...]
    source: TripleKey

    def text(self, label: Label | None = None) -> str:
        """Return the axiom in Manchester-like words."""
        name = label or local_name
        words = [manchester(part, name) for part in self.parts]
        if self.kind == "PropertyChain":
            return f"{' o '.join(words[:-1])} SubPropertyOf: {words[-1]}"
        if len(words) == 1:
            return f"{self.kind}: {words[0]}"
        return f"{words[0]} {self.kind}: {', '.join(words[1:])}"


def local_name(value: str) -> str:
    """Return what stands behind the last `#`, `/` or `:` of an IRI."""
    return value.rstrip("#/:").replace("#", "/").replace(":", "/").rsplit("/", 1)[-1] or value


def manchester(part: Expression | PropertyExpression | Plain, name: Label) -> str:
    """Print an expression in Manchester-like syntax (OWL 2 Manchester Syntax, section 2)."""
    match part:
        case ox.NamedNode():
            return name(part.value)
        case ox.Literal():
            return f'"{part.value}"'
        case PropertyExpression(p, inverse):
            return f"inverse {name(p.value)}" if inverse else name(p.value)
        case ClassName(c):
            return "(nameless)" if c.value.startswith(SKOLEM) else name(c.value)
        case IntersectionOf(parts):
            return " and ".join(_bracket(p, name) for p in parts)
        case UnionOf(parts):
            return " or ".join(_bracket(p, name) for p in parts)
        case ComplementOf(of):
            return f"not {_bracket(of, name)}"
        case Enumeration(members):
            return "{" + ", ".join(manchester(m, name) for m in members) + "}"
        case Facets(datatype, limits):
            return f"{name(datatype.value)}[{', '.join(f'{_WORDS[f]} {v.value}' for f, v in limits)}]"
        case _:
            return f"{manchester(part.property, name)} {_restriction(part, name)}"


def _restriction(part: Restriction, name: Label) -> str:
    match part:
        case HasSelf():
            return "Self"
        case HasValue(_, value):
            return f"value {manchester(value, name)}"
        case MinCardinality(n) | MaxCardinality(n):
            word = f"{'min' if isinstance(part, MinCardinality) else 'max'} {n}"
        case _:
            word = "some" if isinstance(part, SomeValuesFrom) else "only"
    return f"{word} {_bracket(part.filler, name)}"


def _bracket(part: Expression, name: Label) -> str:
    text = manchester(part, name)
    return text if isinstance(part, ClassName | Enumeration | Facets) else f"({text})"


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


_DATATYPES = (RDFS + "Literal", RDF + "langString", RDF + "PlainLiteral", OWL + "real", OWL + "rational")


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

    def property(self, node: Plain) -> PropertyExpression | None:
        """Read a property or an inverse without a name."""
        if node in self._inverse:
            return PropertyExpression(self._inverse[node], inverse=True)
        return PropertyExpression(node) if isinstance(node, ox.NamedNode) else None

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
            node.value.startswith(XSD)
            or node.value in _DATATYPES
            or node in self.kinds.get(RDFS + "Datatype", ())
        )

    def named(self, node: Plain) -> bool:
        """Return whether a class has a name of its own."""
        return isinstance(node, ox.NamedNode) and not node.value.startswith(SKOLEM)

    def expression(self, node: Plain, *, inside: bool = False) -> Expression:
        """Read a class expression or data range."""
        if not isinstance(node, ox.NamedNode):
            return Enumeration((node,))
        if node not in self._read or inside:
            value = ClassName(node) if self.named(node) and not inside else self._structure(node)
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
        self._read[node] = ClassName(node)  # a circular description ends here
        cell = {p.removeprefix(OWL): v for p, v in self.structure.get(node, {}).items()}
        parts: list[Expression] = []
        for key, combine in (("intersectionOf", IntersectionOf), ("unionOf", UnionOf)):
            for o in cell.get(key, []):
                members = tuple(self.expression(m) for m in self.members(o))
                parts.append(members[0] if len(members) == 1 else combine(members))
        for key in ("complementOf", "datatypeComplementOf"):
            parts += [ComplementOf(self.expression(o)) for o in cell.get(key, [])]
        parts += [Enumeration(self.members(o)) for o in cell.get("oneOf", [])]
        for o in cell.get("onDatatype", []):
            items = (item for each in cell.get("withRestrictions", []) for item in self.members(each))
            facets = (facet for item in items for facet in self.structure.get(item, {}).items())
            limits = [(f.removeprefix(XSD), v) for f, vs in facets for v in vs if isinstance(v, ox.Literal)]
            parts.append(Facets(_node(o), tuple(sorted(limits, key=lambda x: (x[0], x[1].value)))))
        for o in cell.get("onProperty", []):
            if (prop := self.property(o)) is not None:
                parts += self._restrictions(prop, cell)
        return ClassName(node) if not parts else parts[0] if len(parts) == 1 else IntersectionOf(tuple(parts))

    def _restrictions(self, prop: PropertyExpression, cell: Mapping[str, list[Plain]]) -> list[Expression]:
        restrictions: list[Expression] = []
        restrictions += [SomeValuesFrom(prop, self.expression(o)) for o in cell.get("someValuesFrom", [])]
        restrictions += [AllValuesFrom(prop, self.expression(o)) for o in cell.get("allValuesFrom", [])]
        restrictions += [HasValue(prop, o) for o in cell.get("hasValue", [])]
        restrictions += [HasSelf(prop) for o in cell.get("hasSelf", []) if o.value in ("true", "1")]
        of = [*cell.get("onClass", []), *cell.get("onDataRange", [])]
        filler = self.expression(of[0]) if of else THING
        for key, low, high in (("inCardinality", True, False), ("axCardinality", False, True)):
            for name in ("m" + key, "m" + key.replace("Card", "QualifiedCard")):
                restrictions += [_count(o, prop, filler, low, high) for o in cell.get(name, [])]
        for name in ("cardinality", "qualifiedCardinality"):
            restrictions += [_count(o, prop, filler, True, True) for o in cell.get(name, [])]
        return restrictions


def _count(number: Plain, prop: PropertyExpression, filler: Expression, low: bool, high: bool) -> Expression:
    n = int(number.value) if number.value.isdecimal() else 0
    parts: list[Expression] = []
    if low:
        parts.append(MinCardinality(n, prop, filler))
    if high:
        parts.append(MaxCardinality(n, prop, filler) if number.value.isdecimal() else THING)
    return parts[0] if len(parts) == 1 else IntersectionOf(tuple(parts))


def _rows(store: TripleStore, name: str, dataset: Dataset) -> list[tuple[Plain, ...]]:
    rows = store.select(queries.get(f"reasoning/{name}").text, dataset)
    distinct = {tuple(to_ox(term) for term in row if term is not None) for row in rows}
    plain = [row for row in distinct if all(isinstance(t, ox.NamedNode | ox.Literal) for t in row)]
    return sorted(plain, key=lambda row: [str(t) for t in row])  # type: ignore[arg-type]


def _node(term: Plain) -> ox.NamedNode:
    return term if isinstance(term, ox.NamedNode) else iri(str(term.value))


_BOUNDS: dict[str, tuple[int | None, int | None]] = {
    "integer": (None, None), "nonNegativeInteger": (0, None), "positiveInteger": (1, None),
    "nonPositiveInteger": (None, 0), "negativeInteger": (None, -1),
    "long": (-(2**63), 2**63 - 1), "int": (-(2**31), 2**31 - 1),
    "short": (-(2**15), 2**15 - 1), "byte": (-128, 127), "unsignedLong": (0, 2**64 - 1),
    "unsignedInt": (0, 2**32 - 1), "unsignedShort": (0, 2**16 - 1), "unsignedByte": (0, 255),
}  # fmt: skip
_INTEGERS = tuple(XSD + name for name in sorted(_BOUNDS))
_TEXTS = tuple(
    XSD + n for n in ("string", "normalizedString", "token", "language", "Name", "NCName", "NMTOKEN")
)
_FAMILIES: tuple[tuple[str, ...], ...] = (
    (*_INTEGERS, XSD + "decimal"), (XSD + "double",), (XSD + "float",), (XSD + "boolean",),
    (*_TEXTS, RDF + "langString"), (XSD + "dateTime", XSD + "dateTimeStamp"), (XSD + "date",),
    (XSD + "time",), (XSD + "anyURI",), (XSD + "hexBinary",), (XSD + "base64Binary",), (XSD + "gYear",),
)  # fmt: skip
_ALL = tuple(name for family in _FAMILIES for name in family)
_COMPARISONS: dict[str, tuple[Operator, Operator]] = {
    "minInclusive": (">=", "<"), "maxInclusive": ("<=", ">"),
    "minExclusive": (">", "<="), "maxExclusive": ("<", ">="),
}  # fmt: skip
_LENGTHS: dict[str, tuple[Operator, Operator]] = {
    "length": ("=", "!="), "minLength": (">=", "<"), "maxLength": ("<=", ">")
}  # fmt: skip


def _members(datatype: str) -> tuple[str, ...] | None:
    """Return the datatypes all of whose values the datatype holds, or None for all there are."""
    if datatype == RDFS + "Literal":
        return None
    if datatype in (OWL + "real", OWL + "rational", XSD + "decimal"):
        return _FAMILIES[0]
    if datatype in _INTEGERS:
        return _INTEGERS
    if datatype == RDF + "PlainLiteral":
        return (*_TEXTS, RDF + "langString")
    return _TEXTS if datatype == XSD + "string" else (datatype,)


def inside(datatype: ox.NamedNode, value: Node) -> Condition:
    """Return the condition under which a value is certainly in a datatype."""
    members = _members(datatype.value)
    if members is None:
        return Call("isLiteral", (value,))
    membership = In(Call("datatype", (value,)), tuple(iri(m) for m in members))
    bounds = _bounds(datatype, value, clash=False)
    return AllOf((membership, *bounds)) if bounds else membership


def outside(datatype: ox.NamedNode, value: Node) -> Condition | None:
    """Return the condition under which a literal is certainly not in a datatype, or None if never."""
    members = _members(datatype.value)
    family = next((f for f in _FAMILIES if members and members[0] in f), None)
    if members is None or family is None:
        return None
    kept = set(family) if members[0] not in _TEXTS else set(members)
    others = In(Call("datatype", (value,)), tuple(iri(n) for n in _ALL if n not in kept))
    bounds = _bounds(datatype, value, clash=True)
    # Most literals have the datatype itself, and one comparison is cheaper than a list of forty.
    other = AllOf((Compare(Call("datatype", (value,)), "!=", datatype), others))
    return AllOf((Call("isLiteral", (value,)), AnyOf((other, *bounds)) if bounds else other))


def _bounds(datatype: ox.NamedNode, value: Node, *, clash: bool) -> tuple[Condition, ...]:
    low, high = _BOUNDS.get(datatype.value.removeprefix(XSD), (None, None))
    bounds: list[Condition] = []
    if low is not None:
        bounds.append(Compare(value, "<" if clash else ">=", _integer(low)))
    if high is not None:
        bounds.append(Compare(value, ">" if clash else "<=", _integer(high)))
    return tuple(bounds)


def _integer(number: int) -> ox.Literal:
    return ox.Literal(str(number), datatype=iri(XSD + "integer"))


def within(
    datatype: ox.NamedNode, limits: tuple[tuple[str, ox.Literal], ...], value: Node, *, clash: bool
) -> Condition | None:
    """Return the condition of a datatype with facets (OWL 2 Structural Specification, section 7.5)."""
    tests: list[Condition] = []
    for facet, limit in limits:
        if facet in _COMPARISONS:
            tests.append(Compare(value, _COMPARISONS[facet][clash], limit))
        elif facet in _LENGTHS:
            length = Call("strlen", (Call("str", (value,)),))
            tests.append(Compare(length, _LENGTHS[facet][clash], _integer(int(limit.value))))
        elif facet == "pattern" and _compiles(limit.value):
            match = Call("regex", (Call("str", (value,)), ox.Literal(f"^(?:{limit.value})$")))
            tests.append(Negation(match) if clash else match)
        else:
            return None
    if not clash:
        # A limit compares across the numeric datatypes, so the base has to hold as well.
        return AllOf((inside(datatype, value), *tests))
    base = outside(datatype, value)
    tests = [AllOf((Call("isLiteral", (value,)), t)) for t in tests] + ([base] if base else [])
    return AnyOf(tuple(tests)) if tests else None


def _compiles(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except re.error:
        return False
    return True
