"""Class expressions as text: description logic and Manchester syntax.

Names are printed as CURIEs of known prefixes or as IRIs in angle brackets, so that what is printed can be
read again; a `name` function prints them another way, for people.

Source:
    OWL 2 Web Ontology Language Manchester Syntax, section 2.

Example:
    >>> from mrag.cel.expressions import And, Named, Not, Property, Some, Top
    >>> names = {"ex": "http://example.org/"}
    >>> e = And((Not(Named("http://example.org/A")), Some(Property("http://example.org/p", True), Top())))
    >>> to_dl(e, names), to_manchester(e, names)
    ('¬ex:A ⊓ (∃ ex:p⁻.⊤)', 'not ex:A and (inverse ex:p some owl:Thing)')
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from importlib import import_module
from typing import Any, TypeAlias

import pyoxigraph as ox
from rdflib import BNode, Graph, Literal, URIRef
from rdflib import namespace as ns
from rdflib.collection import Collection
from rdflib.term import Node

from mrag.cel import expressions as ce
from mrag.cel.expressions import (
    And,
    AtLeast,
    AtMost,
    Bottom,
    DataOnly,
    DataSome,
    Exactly,
    Expression,
    Facet,
    Named,
    Not,
    OneOf,
    Only,
    Or,
    Some,
    Top,
    Value,
)
from mrag.errors import ConfigError
from mrag.rdf.terms import DEFAULT_PREFIXES, OWL, XSD, curie, from_ox, to_ox

_TOKEN = re.compile(
    r"""(?P<space>\s+)
    |(?P<iri><[^<>"{}|^`\\\s]+>)
    |(?P<literal>"(?:[^"\\\n]|\\.)*"(?:@[A-Za-z]+(?:-[A-Za-z0-9]+)*|\^\^(?:<[^<>"{}|^`\\\s]+>|[\w\-]*:[\w\-]+))?)
    |(?P<curie>(?:[A-Za-z][\w\-]*)?:\w(?:[\w\-]*\w)?)
    |(?P<number>[+-]?[0-9]+(?:\.[0-9]+)?)
    |(?P<word>[A-Za-z]+)
    |(?P<sign>>=|<=|[⊤⊥¬⊓⊔∃∀≥≤=<>.,(){}\[\]⁻])""",
    re.VERBOSE,
)
_FACETS: Mapping[str, ce.Facet] = {
    "≥": "minInclusive", ">=": "minInclusive", "≤": "maxInclusive", "<=": "maxInclusive",
    ">": "minExclusive", "<": "maxExclusive",
}  # fmt: skip
_COUNTS: Mapping[str, Callable[[int, ce.Property, ce.Expression], ce.Expression]] = {
    "≥": ce.AtLeast, "≤": ce.AtMost, "=": ce.Exactly,
    "min": ce.AtLeast, "max": ce.AtMost, "exactly": ce.Exactly,
}  # fmt: skip
_RESTRICTIONS = ("some", "only", "value", "min", "max", "exactly")
_AFTER = ("", "and", "or", ")")
_DEEPEST = 100


def from_dl(text: str, prefixes: Mapping[str, str] | None = None) -> ce.Expression:
    """Read an expression written as `to_dl` prints it.

    Args:
        text: The expression, names as CURIEs or as IRIs in angle brackets.
        prefixes: Prefixes of the CURIEs, beside the well-known ones.

    Raises:
        ConfigError: If it is not well formed; the message says where.

    Example:
        >>> from_dl("≥ 2 ex:p.(¬ex:A)", {"ex": "urn:ex:"}).filler
        Not(of=Named(iri='urn:ex:A'))
        >>> from_dl("∃ ex:p", {"ex": "urn:ex:"})
        Traceback (most recent call last):
        mrag.errors.ConfigError: Expected . and found the end, at character 7.
    """
    return _Parser(text, prefixes, "⊓", "⊔").whole()


def from_manchester(text: str, prefixes: Mapping[str, str] | None = None) -> ce.Expression:
    """Read an expression written in Manchester syntax.

    Args:
        text: The expression, names as CURIEs or as IRIs in angle brackets.
        prefixes: Prefixes of the CURIEs, beside the well-known ones.

    Raises:
        ConfigError: If it is not well formed; the message says where.

    Example:
        >>> from_manchester("ex:age some xsd:integer[>= 18]", {"ex": "urn:ex:"}).range.facets
        (('minInclusive', rdflib.term.Literal('18', datatype=rdflib.term.URIRef('...#integer'))),)
    """
    return _Parser(text, prefixes, "and", "or").whole()


class _Parser:
    """Recursive descent over the tokens of one text; the two notations share all but their operators."""

    def __init__(self, text: str, prefixes: Mapping[str, str] | None, both: str, either: str) -> None:
        self.prefixes = {**DEFAULT_PREFIXES, **(prefixes or {})}
        self.both, self.either = both, either
        self.dl = both == "⊓"
        self.tokens: list[tuple[str, str, int]] = []
        at = 0
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None:
                raise ConfigError(f"Cannot read {text[at]!r}, at character {at + 1}.")
            if found.lastgroup != "space":
                self.tokens.append((str(found.lastgroup), found.group(), at + 1))
            at = found.end()
        self.end = len(text) + 1
        self.at = 0
        self.deep = 0

    def whole(self) -> ce.Expression:
        found = self.alternatives()
        if self.at < len(self.tokens):
            raise self.wrong("the end")
        return found

    def alternatives(self) -> ce.Expression:
        self.deep += 1
        if self.deep > _DEEPEST:
            raise ConfigError(f"The expression is nested deeper than {_DEEPEST} levels.")
        parts = self.series(self.either, lambda: self.conjunction())
        self.deep -= 1
        return parts[0] if len(parts) == 1 else ce.Or(tuple(parts))

    def conjunction(self) -> ce.Expression:
        parts = self.series(self.both, lambda: self.primary())
        return parts[0] if len(parts) == 1 else ce.And(tuple(parts))

    def series(self, sign: str, part: Callable[[], ce.Expression]) -> list[ce.Expression]:
        parts = [part()]
        while self.accept(sign):
            parts.append(part())
        return parts

    def primary(self) -> ce.Expression:
        if self.accept("("):
            inner = self.alternatives()
            self.expect(")")
            return inner
        if self.accept("{"):
            return ce.OneOf(tuple(self.members()))
        return self.dl_primary() if self.dl else self.manchester_primary()

    def dl_primary(self) -> ce.Expression:
        token = self.text()
        if self.accept("⊤"):
            return ce.Top()
        if self.accept("⊥"):
            return ce.Bottom()
        if self.accept("¬"):
            return ce.Not(self.nested())
        if self.accept("∃") or self.accept("∀"):
            p = self.dl_property()
            self.expect(".")
            return self.quantified(p, exists=token == "∃")  # noqa: S105 # a sign of logic
        if token in _COUNTS:
            self.at += 1
            n, p = self.count(), self.dl_property()
            self.expect(".")
            return _COUNTS[token](n, p, self.nested())
        return self.named()

    def nested(self) -> ce.Expression:
        self.deep += 1
        if self.deep > _DEEPEST:
            raise ConfigError(f"The expression is nested deeper than {_DEEPEST} levels.")
        found = self.primary()
        self.deep -= 1
        return found

    def dl_property(self) -> ce.Property:
        name = self.name()
        return ce.Property(name, self.accept("⁻"))

    def manchester_primary(self) -> ce.Expression:
        if self.accept("not"):
            return ce.Not(self.nested())
        following = self.tokens[self.at + 1][1] if self.at + 1 < len(self.tokens) else ""
        if self.text() != "inverse" and following not in _RESTRICTIONS:
            return self.named()
        inverse = self.accept("inverse")
        p = ce.Property(self.name(), inverse)
        word = self.text()
        if word not in _RESTRICTIONS:
            raise self.wrong("some, only, value, min, max or exactly")
        self.at += 1
        if word == "value":
            return ce.Value(p, self.value())
        if word in ("some", "only"):
            return self.quantified(p, exists=word == "some")
        n = self.count()
        return _COUNTS[word](n, p, ce.Top() if self.text() in _AFTER else self.nested())

    def quantified(self, p: ce.Property, *, exists: bool) -> ce.Expression:
        kind, text, _ = self.token()
        if kind in ("iri", "curie") and ce.is_datatype(self.resolve(kind, text)):
            range = self.range()
            return ce.DataSome(p, range) if exists else ce.DataOnly(p, range)
        if exists and text == "{" and self.kind(1) in ("literal", "number", "word"):
            self.at += 1
            value = self.value()
            self.expect("}")
            return ce.Value(p, value)
        filler = self.nested()
        if exists and isinstance(filler, ce.OneOf) and len(filler.members) == 1:
            return ce.Value(p, filler.members[0])
        return ce.Some(p, filler) if exists else ce.Only(p, filler)

    def range(self) -> ce.DataRange:
        datatype = self.name()
        facets: list[tuple[ce.Facet, Literal]] = []
        if self.accept("["):
            while True:
                sign = self.text()
                if sign not in _FACETS:
                    raise self.wrong("a limit such as >= 5")
                self.at += 1
                limit = self.value()
                if not isinstance(limit, Literal):
                    raise ConfigError("A limit is a literal, not an IRI.", term=limit)
                facets.append((_FACETS[sign], limit))
                if not self.accept(","):
                    break
            self.expect("]")
        return ce.DataRange(datatype, tuple(facets))

    def members(self) -> Sequence[str]:
        found = [self.name()]
        while self.accept(","):
            found.append(self.name())
        self.expect("}")
        return found

    def named(self) -> ce.Expression:
        name = self.name()
        return (
            ce.Top() if name == OWL + "Thing" else ce.Bottom() if name == OWL + "Nothing" else ce.Named(name)
        )

    def name(self) -> str:
        kind, text, _ = self.token()
        if kind not in ("iri", "curie"):
            raise self.wrong("a name")
        self.at += 1
        return self.resolve(kind, text)

    def resolve(self, kind: str, text: str) -> str:
        if kind == "iri":
            return str(from_ox(to_ox(text[1:-1])))
        prefix, _, local = text.partition(":")
        if prefix not in self.prefixes:
            raise ConfigError(f"The prefix {prefix!r} is not known.", hint="Write the IRI in <>.")
        return self.prefixes[prefix] + local

    def count(self) -> int:
        kind, text, _ = self.token()
        if kind != "number" or not text.isdecimal():
            raise self.wrong("a whole number")
        self.at += 1
        return int(text)

    def value(self) -> str | Literal:
        kind, text, _ = self.token()
        if kind in ("iri", "curie"):
            return self.name()
        self.at += 1
        if kind == "number":
            return Literal(text, datatype=XSD + ("decimal" if "." in text else "integer"), normalize=False)
        if text in ("true", "false"):
            return Literal(text, datatype=XSD + "boolean")
        if kind != "literal":
            self.at -= 1
            raise self.wrong("a value")
        body, mark, datatype = text.rpartition("^^")
        if mark and not datatype.startswith("<") and body.endswith('"'):
            text = f"{body}^^<{self.resolve('curie', datatype)}>"
        try:
            quad = next(iter(ox.parse(f"<urn:s> <urn:p> {text} .", ox.RdfFormat.N_TRIPLES)))
        except SyntaxError as error:
            raise ConfigError("Not a well-formed literal.", term=text) from error
        literal = from_ox(quad.object)
        assert isinstance(literal, Literal)
        return literal

    def token(self) -> tuple[str, str, int]:
        return self.tokens[self.at] if self.at < len(self.tokens) else ("end", "", self.end)

    def text(self) -> str:
        return self.token()[1]

    def kind(self, ahead: int) -> str:
        return self.tokens[self.at + ahead][0] if self.at + ahead < len(self.tokens) else "end"

    def accept(self, text: str) -> bool:
        if self.text() != text or self.token()[0] == "literal":
            return False
        self.at += 1
        return True

    def expect(self, text: str) -> None:
        if not self.accept(text):
            raise self.wrong(text)

    def wrong(self, wanted: str) -> ConfigError:
        _, text, at = self.token()
        return ConfigError(f"Expected {wanted} and found {text or 'the end'}, at character {at}.")


Name = Callable[[str], str]
"""Prints an IRI."""

_PLAIN = re.compile(r"(?:[A-Za-z][\w\-]*)?:\w(?:[\w\-]*\w)?\Z")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)\Z")


@dataclass(frozen=True)
class _Notation:
    """The signs of a notation."""

    signs: Mapping[type[Expression], str]
    inverse: str
    facets: Mapping[Facet, str]


_DL = _Notation(
    {
        Top: "⊤", Bottom: "⊥", Not: "¬", And: " ⊓ ", Or: " ⊔ ", Some: "∃ {p}.{c}", Only: "∀ {p}.{c}",
        Value: "∃ {p}.{{{c}}}", AtLeast: "≥ {n} {p}.{c}", AtMost: "≤ {n} {p}.{c}", Exactly: "= {n} {p}.{c}",
        DataSome: "∃ {p}.{c}", DataOnly: "∀ {p}.{c}",
    },
    "{}⁻",
    {"minInclusive": "≥", "maxInclusive": "≤", "minExclusive": ">", "maxExclusive": "<"},
)  # fmt: skip
_MANCHESTER = _Notation(
    {
        Top: "owl:Thing", Bottom: "owl:Nothing", Not: "not ", And: " and ", Or: " or ",
        Some: "{p} some {c}", Only: "{p} only {c}", Value: "{p} value {c}", AtLeast: "{p} min {n} {c}",
        AtMost: "{p} max {n} {c}", Exactly: "{p} exactly {n} {c}", DataSome: "{p} some {c}",
        DataOnly: "{p} only {c}",
    },
    "inverse {}",
    {"minInclusive": ">=", "maxInclusive": "<=", "minExclusive": ">", "maxExclusive": "<"},
)  # fmt: skip


def to_dl(
    expression: Expression, prefixes: Mapping[str, str] | None = None, *, name: Name | None = None
) -> str:
    """Print an expression in the notation of description logic.

    Args:
        expression: The expression.
        prefixes: Prefixes for CURIEs, beside the well-known ones.
        name: Prints an IRI; what another function than the default prints cannot be read again.

    Example:
        >>> from mrag.cel.expressions import Property
        >>> from mrag.rdf.terms import RDFS
        >>> to_dl(AtLeast(2, Property(RDFS + "seeAlso"), Named(RDFS + "Class")))
        '≥ 2 rdfs:seeAlso.rdfs:Class'
    """
    return _printed(expression, name or _namer(prefixes), _DL)


def to_manchester(
    expression: Expression, prefixes: Mapping[str, str] | None = None, *, name: Name | None = None
) -> str:
    """Print an expression in Manchester syntax.

    Args:
        expression: The expression.
        prefixes: Prefixes for CURIEs, beside the well-known ones.
        name: Prints an IRI; what another function than the default prints cannot be read again.
    """
    return _printed(expression, name or _namer(prefixes), _MANCHESTER)


def to_term(value: str | Literal, name: Name) -> str:
    """Print an IRI or a literal; whole numbers and booleans stand without quotes."""
    if not isinstance(value, Literal):
        return name(value)
    datatype = str(value.datatype or "")
    if datatype == XSD + "integer" and _NUMBER.match(str(value)):
        return str(value)
    if datatype == XSD + "boolean" and str(value) in ("true", "false"):
        return str(value)
    return str(to_ox(value))


def _namer(prefixes: Mapping[str, str] | None) -> Name:
    def name(iri: str) -> str:
        short = curie(iri, prefixes)
        return short if _PLAIN.match(short) else f"<{iri}>"

    return name


def _printed(e: Expression, name: Name, notation: _Notation) -> str:
    signs = notation.signs
    match e:
        case Top() | Bottom():
            return signs[type(e)]
        case Named(iri):
            return name(iri)
        case Not(of):
            return signs[Not] + _operand(of, name, notation)
        case And(parts) | Or(parts):
            return signs[type(e)].join(_operand(p, name, notation) for p in parts)
        case OneOf(members):
            return "{" + ", ".join(to_term(m, name) for m in members) + "}"
        case Value(p, value):
            filler = to_term(value, name)
        case DataSome(p, range) | DataOnly(p, range):
            limits = ", ".join(f"{notation.facets[f]} {to_term(limit, name)}" for f, limit in range.facets)
            filler = name(range.datatype) + (f"[{limits}]" if limits else "")
        case Some(p, of) | Only(p, of) | AtLeast(_, p, of) | AtMost(_, p, of) | Exactly(_, p, of):
            filler = _operand(of, name, notation)
    role = notation.inverse.format(name(p.iri)) if p.inverse else name(p.iri)
    return signs[type(e)].format(n=getattr(e, "n", ""), p=role, c=filler)


def _operand(e: Expression, name: Name, notation: _Notation) -> str:
    text = _printed(e, name, notation)
    simple = isinstance(e, Top | Bottom | Named | OneOf) or (isinstance(e, Not) and isinstance(e.of, Named))
    return text if simple else f"({text})"


_Resource: TypeAlias = URIRef | BNode

_FACETS_OWL: Mapping[str, ce.Facet] = {
    str(ns.XSD.minInclusive): "minInclusive", str(ns.XSD.maxInclusive): "maxInclusive",
    str(ns.XSD.minExclusive): "minExclusive", str(ns.XSD.maxExclusive): "maxExclusive",
}  # fmt: skip
_CARDINALITIES: Mapping[type[ce.Cardinality], str] = {
    ce.AtLeast: "min",
    ce.AtMost: "max",
    ce.Exactly: "",
}
_PREDICATES: Mapping[type[ce.Expression], URIRef] = {
    ce.And: ns.OWL.intersectionOf, ce.Or: ns.OWL.unionOf,
    ce.Some: ns.OWL.someValuesFrom, ce.DataSome: ns.OWL.someValuesFrom,
    ce.Only: ns.OWL.allValuesFrom, ce.DataOnly: ns.OWL.allValuesFrom,
}  # fmt: skip


def to_turtle(
    expression: ce.Expression, iri: str | None = None, prefixes: Mapping[str, str] | None = None
) -> str:
    """Print an expression as Turtle.

    Args:
        expression: The expression.
        iri: A class that is to be equivalent to it; without one the expression stands alone.
        prefixes: Prefixes to use.

    Source:
        OWL 2 Mapping to RDF Graphs, section 2.1.

    Example:
        >>> print(to_turtle(ce.Not(ce.Named("urn:a:A")), "urn:a:B", {"a": "urn:a:"}))
        @prefix a: <urn:a:> .
        @prefix owl: <http://www.w3.org/2002/07/owl#> .
        <BLANKLINE>
        a:B a owl:Class ;
            owl:equivalentClass [ a owl:Class ;
                    owl:complementOf a:A ] .
    """
    graph = Graph()
    for prefix, namespace in (prefixes or {}).items():
        graph.bind(prefix, namespace)
    node = to_graph(expression, graph)
    if iri is not None:
        to_ox(iri)
        graph.add((URIRef(iri), ns.RDF.type, ns.OWL.Class))
        graph.add((URIRef(iri), ns.OWL.equivalentClass, node))
    return graph.serialize(format="turtle").strip()


def to_graph(expression: ce.Expression, graph: Graph) -> _Resource:
    """Add an expression to a graph and return its node."""
    match expression:
        case ce.Top():
            return ns.OWL.Thing
        case ce.Bottom():
            return ns.OWL.Nothing
        case ce.Named(iri):
            to_ox(iri)
            return URIRef(iri)
        case ce.Not(of):
            return _class(graph, ns.OWL.complementOf, to_graph(of, graph))
        case ce.And(parts) | ce.Or(parts):
            items = _list(graph, [to_graph(p, graph) for p in parts])
            return _class(graph, _PREDICATES[type(expression)], items)
        case ce.OneOf(members):
            return _class(graph, ns.OWL.oneOf, _list(graph, [URIRef(m) for m in members]))
        case ce.Some(p, filler) | ce.Only(p, filler):
            return _restriction(graph, p, _PREDICATES[type(expression)], to_graph(filler, graph))
        case ce.Value(p, value):
            term = value if isinstance(value, Literal) else URIRef(value)
            return _restriction(graph, p, ns.OWL.hasValue, term)
        case ce.DataSome(p, range) | ce.DataOnly(p, range):
            return _restriction(graph, p, _PREDICATES[type(expression)], _range(graph, range))
        case ce.AtLeast(n, p, filler) | ce.AtMost(n, p, filler) | ce.Exactly(n, p, filler):
            count = Literal(n, datatype=ns.XSD.nonNegativeInteger)
            predicate = _cardinality(_CARDINALITIES[type(expression)] + "QualifiedCardinality")
            node = _restriction(graph, p, predicate, count)
            graph.add((node, ns.OWL.onClass, to_graph(filler, graph)))
            return node


def from_graph(graph: Graph, node: Node) -> ce.Expression:
    """Read the expression that a node of a graph stands for."""
    return _read(graph, node, 0)


def _read(graph: Graph, node: Node, deep: int) -> ce.Expression:
    if deep > 100:
        raise ConfigError("The triples of the class expression go round in a circle.", term=str(node))
    if node == ns.OWL.Thing:
        return ce.Top()
    if node == ns.OWL.Nothing:
        return ce.Bottom()
    on = graph.value(node, ns.OWL.onProperty)
    if on is not None:
        return _restricted(graph, node, _property(graph, on), deep)
    for predicate, kind in ((ns.OWL.intersectionOf, ce.And), (ns.OWL.unionOf, ce.Or)):
        parts = graph.value(node, predicate)
        if parts is not None and isinstance(node, BNode):
            return kind(tuple(_read(graph, p, deep + 1) for p in Collection(graph, parts)))
    if isinstance(node, URIRef):
        return ce.Named(str(node))
    negated = graph.value(node, ns.OWL.complementOf)
    if negated is not None:
        return ce.Not(_read(graph, negated, deep + 1))
    members = graph.value(node, ns.OWL.oneOf)
    if members is not None:
        return ce.OneOf(tuple(str(m) for m in Collection(graph, members)))
    raise ConfigError("These triples are no class expression.", term=str(node))


def _restricted(graph: Graph, node: Node, p: ce.Property, deep: int) -> ce.Expression:
    quantified: Sequence[
        tuple[
            URIRef,
            type[ce.Some] | type[ce.Only],
            type[ce.DataSome] | type[ce.DataOnly],
        ]
    ]
    quantified = (
        (ns.OWL.someValuesFrom, ce.Some, ce.DataSome),
        (ns.OWL.allValuesFrom, ce.Only, ce.DataOnly),
    )
    for predicate, of_class, of_data in quantified:
        filler = graph.value(node, predicate)
        if filler is not None:
            range = _data(graph, filler)
            return of_class(p, _read(graph, filler, deep + 1)) if range is None else of_data(p, range)
    value = graph.value(node, ns.OWL.hasValue)
    if value is not None:
        return ce.Value(p, value if isinstance(value, Literal) else str(value))
    for kind, word in _CARDINALITIES.items():
        for name in ("QualifiedCardinality", "Cardinality"):
            n = graph.value(node, _cardinality(word + name))
            if n is not None:
                on = graph.value(node, ns.OWL.onClass)
                return kind(int(str(n)), p, ce.Top() if on is None else _read(graph, on, deep + 1))
    raise ConfigError("This restriction is not of this language.", term=str(node))


def _cardinality(name: str) -> URIRef:
    return ns.OWL[name[0].lower() + name[1:]]


def _property(graph: Graph, node: Node) -> ce.Property:
    inverse = graph.value(node, ns.OWL.inverseOf) if isinstance(node, BNode) else None
    return ce.Property(str(node)) if inverse is None else ce.Property(str(inverse), True)


def _data(graph: Graph, node: Node) -> ce.DataRange | None:
    if isinstance(node, URIRef):
        named = ce.is_datatype(str(node)) or (node, ns.RDF.type, ns.RDFS.Datatype) in graph
        return ce.DataRange(str(node)) if named else None
    base = graph.value(node, ns.OWL.onDatatype)
    if base is None:
        return None
    facets: list[tuple[ce.Facet, Literal]] = []
    restrictions = graph.value(node, ns.OWL.withRestrictions)
    for item in Collection(graph, restrictions) if restrictions is not None else ():
        for _, predicate, limit in graph.triples((item, None, None)):
            if str(predicate) not in _FACETS_OWL or not isinstance(limit, Literal):
                raise ConfigError("This limit of values is not of this language.", term=str(predicate))
            facets.append((_FACETS_OWL[str(predicate)], limit))
    return ce.DataRange(str(base), tuple(facets))


def _range(graph: Graph, range: ce.DataRange) -> _Resource:
    if not range.facets:
        return URIRef(range.datatype)
    items: list[Node] = []
    for facet, limit in range.facets:
        item = BNode()
        graph.add((item, ns.XSD[facet], limit))
        items.append(item)
    node = BNode()
    graph.add((node, ns.RDF.type, ns.RDFS.Datatype))
    graph.add((node, ns.OWL.onDatatype, URIRef(range.datatype)))
    graph.add((node, ns.OWL.withRestrictions, _list(graph, items)))
    return node


def _class(graph: Graph, predicate: URIRef, value: Node) -> BNode:
    node = BNode()
    graph.add((node, ns.RDF.type, ns.OWL.Class))
    graph.add((node, predicate, value))
    return node


def _restriction(graph: Graph, p: ce.Property, predicate: URIRef, value: Node) -> BNode:
    to_ox(p.iri)
    on: Node = URIRef(p.iri)
    if p.inverse:
        on = BNode()
        graph.add((on, ns.OWL.inverseOf, URIRef(p.iri)))
    node = BNode()
    graph.add((node, ns.RDF.type, ns.OWL.Restriction))
    graph.add((node, ns.OWL.onProperty, on))
    graph.add((node, predicate, value))
    return node


def _list(graph: Graph, items: Sequence[Node]) -> _Resource:
    if not items:
        return ns.RDF.nil
    head = BNode()
    Collection(graph, head, list(items))
    return head


_TYPES: dict[str, type] = {
    XSD + "integer": int, XSD + "decimal": Decimal, XSD + "double": float, XSD + "boolean": bool,
    XSD + "string": str, XSD + "date": date, XSD + "dateTime": datetime,
}  # fmt: skip
_OWLREADY_FACETS: dict[ce.Facet, str] = {
    "minInclusive": "min_inclusive", "maxInclusive": "max_inclusive",
    "minExclusive": "min_exclusive", "maxExclusive": "max_exclusive",
}  # fmt: skip

_METHODS: dict[type[ce.Expression], str] = {
    ce.Some: "some", ce.DataSome: "some", ce.Only: "only", ce.DataOnly: "only", ce.Value: "value",
    ce.AtLeast: "min", ce.AtMost: "max", ce.Exactly: "exactly",
}  # fmt: skip


def to_owlready(expression: ce.Expression, ontology: Any) -> Any:
    """Turn an expression into constructs of owlready2.

    Args:
        expression: The expression.
        ontology: An ontology of owlready2 whose world has the classes, properties and individuals that the
            expression names.

    Raises:
        ConfigError: If owlready2 is not installed, a name is not in the world, or owlready2 has no Python
            type for a datatype.
    """
    return _Writer(ontology).written(expression)


def from_owlready(construct: Any) -> ce.Expression:
    """Read constructs of owlready2.

    Raises:
        ConfigError: If they are not of this language.
    """
    o = _library()
    match construct:
        case o.And():
            return ce.And(tuple(map(from_owlready, construct.Classes)))
        case o.Or():
            return ce.Or(tuple(map(from_owlready, construct.Classes)))
        case o.Not():
            return ce.Not(from_owlready(construct.Class))
        case o.OneOf():
            return ce.OneOf(tuple(x.iri for x in construct.instances))
        case o.Restriction():
            return _restriction_of(o, construct)
        case o.ThingClass():
            iri = str(construct.iri)
            return (
                ce.Top()
                if iri == str(ns.OWL.Thing)
                else ce.Bottom()
                if iri == str(ns.OWL.Nothing)
                else ce.Named(iri)
            )
    raise ConfigError("This construct of owlready2 is not of this language.", term=str(construct))


def _restriction_of(o: Any, r: Any) -> ce.Expression:
    inverse = isinstance(r.property, o.Inverse)
    p = ce.Property(str(r.property.property.iri if inverse else r.property.iri), inverse)
    if r.type == o.VALUE:
        return ce.Value(p, r.value.iri if isinstance(r.value, o.Thing) else _literal(r.value))
    if r.type in (o.SOME, o.ONLY) and (
        isinstance(r.value, o.ConstrainedDatatype) or r.value in _TYPES.values()
    ):
        range = _range_of(r.value, o)
        return ce.DataSome(p, range) if r.type == o.SOME else ce.DataOnly(p, range)
    filler = ce.Top() if r.value is None else from_owlready(r.value)
    if r.type in (o.SOME, o.ONLY):
        return ce.Some(p, filler) if r.type == o.SOME else ce.Only(p, filler)
    kinds: dict[int, Callable[[int, ce.Property, ce.Expression], ce.Expression]] = {
        o.MIN: ce.AtLeast,
        o.MAX: ce.AtMost,
        o.EXACTLY: ce.Exactly,
    }
    if r.type not in kinds:
        raise ConfigError("This restriction is not of this language.", term=str(r))
    return kinds[r.type](int(r.cardinality), p, filler)


def _range_of(value: Any, o: Any) -> ce.DataRange:
    names = {kind: name for name, kind in _TYPES.items()}
    if not isinstance(value, o.ConstrainedDatatype):
        return ce.DataRange(names[value])
    facets = tuple(
        (facet, _literal(getattr(value, name)))
        for facet, name in _OWLREADY_FACETS.items()
        if getattr(value, name, None) is not None
    )
    return ce.DataRange(names[value.base_datatype], facets)


def _literal(value: Any) -> Literal:
    lang = getattr(value, "lang", None)
    return Literal(str(value), lang=lang) if lang else Literal(value)


class _Writer:
    def __init__(self, ontology: Any) -> None:
        self.ontology, self.o = ontology, _library()

    def written(self, e: ce.Expression) -> Any:
        o = self.o
        match e:
            case ce.Top():
                return o.Thing
            case ce.Bottom():
                return o.Nothing
            case ce.Named(iri):
                return self.named(iri)
            case ce.Not(of):
                return o.Not(self.written(of))
            case ce.And(parts):
                return o.And([self.written(p) for p in parts])
            case ce.Or(parts):
                return o.Or([self.written(p) for p in parts])
            case ce.OneOf(members):
                return o.OneOf([self.named(m) for m in members])
        restriction = getattr(self.role(e.property), _METHODS[type(e)])
        match e:
            case ce.AtLeast(n, _, filler) | ce.AtMost(n, _, filler) | ce.Exactly(n, _, filler):
                return restriction(n, self.written(filler))
            case ce.Some(_, filler) | ce.Only(_, filler):
                return restriction(self.written(filler))
            case ce.Value(_, value):
                return restriction(self.value(value) if isinstance(value, Literal) else self.named(value))
            case ce.DataSome(_, range) | ce.DataOnly(_, range):
                return restriction(self.range(range))

    def named(self, iri: str) -> Any:
        found = self.ontology.world[iri]
        if found is None:
            raise ConfigError("The ontology of owlready2 has no such name.", term=iri)
        return found

    def role(self, p: ce.Property) -> Any:
        found = self.named(p.iri)
        # The library would otherwise give a named inverse where the ontology has one.
        return self.o.Inverse(found, simplify=False) if p.inverse else found

    def value(self, literal: Literal) -> Any:
        if literal.language:
            return self.o.locstr(str(literal), literal.language)
        return literal.toPython() if literal.datatype is not None else str(literal)

    def range(self, range: ce.DataRange) -> Any:
        kind = _TYPES.get(range.datatype)
        if kind is None:
            raise ConfigError("owlready2 has no Python type for this datatype.", term=range.datatype)
        if not range.facets:
            return kind
        return self.o.ConstrainedDatatype(
            kind, **{_OWLREADY_FACETS[f]: self.value(v) for f, v in range.facets}
        )


def _library() -> Any:
    try:
        return import_module("owlready2")
    except ImportError as error:
        raise ConfigError("owlready2 is not installed.", hint="pip install owlready2") from error
