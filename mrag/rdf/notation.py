"""Class expressions as text: description logic and Manchester syntax.

Names are printed as CURIEs of known prefixes or as IRIs in angle brackets, so that what is printed can be
read again; a `name` function prints them another way, for people.

Source:
    OWL 2 Web Ontology Language Manchester Syntax, section 2.

Example:
    >>> from mrag.rdf.expressions import And, Named, Not, Property, Some, Top
    >>> names = {"ex": "http://example.org/"}
    >>> e = And((Not(Named("http://example.org/A")), Some(Property("http://example.org/p", True), Top())))
    >>> to_dl(e, names), to_manchester(e, names)
    ('¬ex:A ⊓ (∃ ex:p⁻.⊤)', 'not ex:A and (inverse ex:p some owl:Thing)')
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, TypeVar, get_args

import pyoxigraph as ox
from rdflib import BNode, Graph, Literal, URIRef
from rdflib import namespace as ns
from rdflib.collection import Collection
from rdflib.term import Node

from mrag._tables import tables
from mrag.errors import ConfigError
from mrag.rdf import expressions as ce
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
_NOTATIONS: Mapping[str, Mapping[str, str]] = tables("rdf/notation.toml")
_FACETS: Mapping[str, ce.Facet] = {
    sides[facet]: facet for facet in get_args(ce.Facet) for sides in _NOTATIONS.values()
}
_COUNTS: Mapping[str, Callable[[int, ce.Property, ce.Expression], ce.Expression]] = {
    "≥": ce.AtLeast, "≤": ce.AtMost, "=": ce.Exactly,
    "min": ce.AtLeast, "max": ce.AtMost, "exactly": ce.Exactly,
}  # fmt: skip
_UNDIVIDED = ce.Top | ce.Bottom | ce.Named | ce.OneOf | ce.DataRange
_RESTRICTIONS = ("some", "only", "value", "min", "max", "exactly")
_AFTER = ("", "and", "or", ")")
_DEEPEST = 100
_T = TypeVar("_T")


def from_dl(text: str, prefixes: Mapping[str, str] | None = None) -> ce.Expression:
    """Read an expression written as `to_dl` prints it.

    Names are CURIEs, of these prefixes or well-known ones, or IRIs in angle brackets.

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

    Names are CURIEs, of these prefixes or well-known ones, or IRIs in angle brackets.

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
            match = _TOKEN.match(text, at)
            if match is None:
                raise ConfigError(f"Cannot read {text[at]!r}, at character {at + 1}.")
            if match.lastgroup != "space":
                self.tokens.append((str(match.lastgroup), match.group(), at + 1))
            at = match.end()
        self.end = len(text) + 1
        self.at = 0
        self.deep = 0

    def whole(self) -> ce.Expression:
        expression = self.alternatives()
        if self.at < len(self.tokens):
            raise self.wrong("the end")
        return expression

    def alternatives(self) -> ce.Expression:
        parts = self.nest(lambda: self.series(self.either, self.conjunction))
        return parts[0] if len(parts) == 1 else ce.Or(tuple(parts))

    def conjunction(self) -> ce.Expression:
        parts = self.series(self.both, self.primary)
        return parts[0] if len(parts) == 1 else ce.And(tuple(parts))

    def series(self, sign: str, part: Callable[[], _T]) -> list[_T]:
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
            return ce.OneOf(self.members())
        return self.dl_primary() if self.dl else self.manchester_primary()

    def dl_primary(self) -> ce.Expression:
        sign = self.text()
        if self.accept("⊤"):
            return ce.Top()
        if self.accept("⊥"):
            return ce.Bottom()
        if self.accept("¬"):
            return ce.Not(self.nest(self.primary))
        if sign not in ("∃", "∀", *_COUNTS):
            return ce.class_named(self.name())
        self.at += 1
        n = self.count() if sign in _COUNTS else 0
        name = self.name()
        p = ce.Property(name, self.accept("⁻"))
        self.expect(".")
        if sign in _COUNTS:
            return _COUNTS[sign](n, p, self.nest(self.primary))
        return self.quantify(p, exists=sign == "∃")

    def nest(self, read: Callable[[], _T]) -> _T:
        self.deep += 1
        if self.deep > _DEEPEST:
            raise ConfigError(f"The expression is nested deeper than {_DEEPEST} levels.")
        inner = read()
        self.deep -= 1
        return inner

    def manchester_primary(self) -> ce.Expression:
        if self.accept("not"):
            return ce.Not(self.nest(self.primary))
        following = self.tokens[self.at + 1][1] if self.at + 1 < len(self.tokens) else ""
        if self.text() != "inverse" and following not in _RESTRICTIONS:
            return ce.class_named(self.name())
        inverse = self.accept("inverse")
        p = ce.Property(self.name(), inverse)
        word = self.text()
        if word not in _RESTRICTIONS:
            raise self.wrong("some, only, value, min, max or exactly")
        self.at += 1
        if word == "value":
            return ce.Value(p, self.value())
        if word in ("some", "only"):
            return self.quantify(p, exists=word == "some")
        n = self.count()
        return _COUNTS[word](n, p, ce.Top() if self.text() in _AFTER else self.nest(self.primary))

    def quantify(self, p: ce.Property, *, exists: bool) -> ce.Expression:
        kind, text, _ = self.token()
        if kind in ("iri", "curie") and ce.is_datatype(self.resolve(kind, text)):
            range = self.range()
            return ce.DataSome(p, range) if exists else ce.DataOnly(p, range)
        if exists and text == "{" and self.kind(1) in ("literal", "number", "word"):
            self.at += 1
            value = self.value()
            self.expect("}")
            return ce.Value(p, value)
        filler = self.nest(self.primary)
        if exists and isinstance(filler, ce.OneOf) and len(filler.members) == 1:
            return ce.Value(p, filler.members[0])
        return ce.Some(p, filler) if exists else ce.Only(p, filler)

    def range(self) -> ce.DataRange:
        datatype = self.name()
        facets: list[tuple[ce.Facet, Literal]] = []
        if self.accept("["):
            facets = self.series(",", self.facet)
            self.expect("]")
        return ce.DataRange(datatype, tuple(facets))

    def facet(self) -> tuple[ce.Facet, Literal]:
        sign = self.text()
        if sign not in _FACETS:
            raise self.wrong("a limit such as >= 5")
        self.at += 1
        limit = self.value()
        if not isinstance(limit, Literal):
            raise ConfigError("A limit is a literal, not an IRI.", term=limit)
        return _FACETS[sign], limit

    def members(self) -> tuple[str, ...]:
        names = self.series(",", self.name)
        self.expect("}")
        return tuple(names)

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


Name = Callable[[str], str]  # prints an IRI
_PLAIN = re.compile(r"(?:[A-Za-z][\w\-]*)?:\w(?:[\w\-]*\w)?\Z")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)\Z")


def to_dl(
    expression: ce.Expression, prefixes: Mapping[str, str] | None = None, *, name: Name | None = None
) -> str:
    """Print an expression in the notation of description logic.

    What another `name` than the default prints cannot be read again.

    Example:
        >>> from mrag.rdf.expressions import Property
        >>> from mrag.rdf.terms import RDFS
        >>> to_dl(ce.AtLeast(2, Property(RDFS + "seeAlso"), ce.Named(RDFS + "Class")))
        '≥ 2 rdfs:seeAlso.rdfs:Class'
    """
    return _print(expression, name or _namer(prefixes), _NOTATIONS["dl"])


def to_manchester(
    expression: ce.Expression, prefixes: Mapping[str, str] | None = None, *, name: Name | None = None
) -> str:
    """Print an expression in Manchester syntax.

    What another `name` than the default prints cannot be read again.
    """
    return _print(expression, name or _namer(prefixes), _NOTATIONS["manchester"])


def to_words(part: ce.Expression | ce.Property | str | Literal, name: Name) -> str:
    """Print an expression, or a part of one, in Manchester syntax for people: with names, and plain values.

    Example:
        >>> some = ce.Some(ce.Property("child"), ce.And((ce.Named("Girl"), ce.Not(ce.Named("Doctor")))))
        >>> to_words(some, str), to_words(ce.Value(ce.Property("age"), Literal(7)), str)
        ('child some (Girl and not Doctor)', 'age value 7')
    """
    if isinstance(part, ce.Property):
        return _role(part, name, _NOTATIONS["manchester"])
    if isinstance(part, str):  # a literal is one, too
        return _plain(part, name)
    return _print(part, name, _NOTATIONS["manchester"], _plain)


def _plain(value: str | Literal, name: Name) -> str:
    if not isinstance(value, Literal):
        return name(value)
    texts = (None, XSD + "string", XSD + "anyURI")
    return f'"{value}"' if value.language or value.datatype in texts else str(value)


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


def _print(
    e: ce.Expression,
    name: Name,
    notation: Mapping[str, str],
    term: Callable[[str | Literal, Name], str] = to_term,
) -> str:
    def operand(e: ce.Expression) -> str:
        text = _print(e, name, notation, term)
        plain = e.of if isinstance(e, ce.Not) and isinstance(e.of, ce.Named) else e
        return text if isinstance(plain, _UNDIVIDED) else f"({text})"

    sign, filler = notation.get(type(e).__name__, ""), ""
    match e:
        case ce.Top() | ce.Bottom():
            return sign if term is to_term else name(OWL + sign.partition(":")[2])
        case ce.Named(iri):
            return name(iri)
        case ce.Not(of):
            return sign + operand(of)
        case ce.Connective(parts):
            return sign.join(map(operand, parts))
        case ce.OneOf(members):
            return "{" + ", ".join(term(m, name) for m in members) + "}"
        case ce.DataRange(datatype, facets):
            limits = ", ".join(f"{notation.get(f, f)} {term(limit, name)}" for f, limit in facets)
            return name(datatype) + (f"[{limits}]" if limits else "")
        case ce.Value(_, value):
            filler = term(value, name)
        case ce.DataRestriction(_, range):
            filler = operand(range)
        case ce.Quantifier() | ce.Cardinality():
            filler = operand(e.filler)
    return sign.format(n=getattr(e, "n", ""), p=_role(e.property, name, notation), c=filler)


def _role(p: ce.Property, name: Name, notation: Mapping[str, str]) -> str:
    return notation["inverse"].format(name(p.iri)) if p.inverse else name(p.iri)


_Resource: TypeAlias = URIRef | BNode
_PREDICATES: Mapping[type[ce.Expression], URIRef] = {
    ce.Not: ns.OWL.complementOf, ce.And: ns.OWL.intersectionOf, ce.Or: ns.OWL.unionOf,
    ce.OneOf: ns.OWL.oneOf, ce.AtLeast: ns.OWL.minQualifiedCardinality,
    ce.AtMost: ns.OWL.maxQualifiedCardinality, ce.Exactly: ns.OWL.qualifiedCardinality,
    ce.Some: ns.OWL.someValuesFrom, ce.DataSome: ns.OWL.someValuesFrom,
    ce.Only: ns.OWL.allValuesFrom, ce.DataOnly: ns.OWL.allValuesFrom,
}  # fmt: skip


def to_turtle(
    expression: ce.Expression, iri: str | None = None, prefixes: Mapping[str, str] | None = None
) -> str:
    """Print an expression as Turtle.

    A class of the IRI is equivalent to it, if one is given.

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
    predicate = _PREDICATES.get(type(expression), ns.OWL.hasValue)
    match expression:
        case ce.Top():
            return ns.OWL.Thing
        case ce.Bottom():
            return ns.OWL.Nothing
        case ce.Named(iri):
            to_ox(iri)
            return URIRef(iri)
        case ce.Not(of):
            return _node(graph, ns.OWL.Class, {predicate: to_graph(of, graph)})
        case ce.Connective(parts):
            return _node(graph, ns.OWL.Class, {predicate: _list(graph, [to_graph(p, graph) for p in parts])})
        case ce.OneOf(members):
            return _node(graph, ns.OWL.Class, {predicate: _list(graph, [URIRef(m) for m in members])})
        case ce.Quantifier(_, filler):
            more: dict[URIRef, Node] = {predicate: to_graph(filler, graph)}
        case ce.Value(_, value):
            more = {predicate: value if isinstance(value, Literal) else URIRef(value)}
        case ce.HasSelf():
            more = {ns.OWL.hasSelf: Literal(True)}
        case ce.DataRange():
            return _range(graph, expression)
        case ce.DataRestriction(_, range):
            more = {predicate: _range(graph, range)}
        case ce.Cardinality(n, _, filler):
            count = Literal(n, datatype=ns.XSD.nonNegativeInteger)
            more = {predicate: count, ns.OWL.onClass: to_graph(filler, graph)}
    to_ox(expression.property.iri)
    on: _Resource = URIRef(expression.property.iri)
    if expression.property.inverse:
        on = _node(graph, None, {ns.OWL.inverseOf: on})
    return _node(graph, ns.OWL.Restriction, {ns.OWL.onProperty: on, **more})


def _range(graph: Graph, range: ce.DataRange) -> _Resource:
    base = URIRef(range.datatype)
    if not range.facets:
        return base
    limits = _list(graph, [_node(graph, None, {ns.XSD[facet]: limit}) for facet, limit in range.facets])
    return _node(graph, ns.RDFS.Datatype, {ns.OWL.onDatatype: base, ns.OWL.withRestrictions: limits})


def _node(graph: Graph, kind: URIRef | None, values: Mapping[URIRef, Node]) -> BNode:
    node = BNode()
    if kind is not None:
        graph.add((node, ns.RDF.type, kind))
    for predicate, value in values.items():
        graph.add((node, predicate, value))
    return node


def _list(graph: Graph, items: Sequence[Node]) -> _Resource:
    head = BNode() if items else ns.RDF.nil
    if items:
        Collection(graph, head, list(items))
    return head
