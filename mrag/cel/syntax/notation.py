"""Class expressions as text: description logic and Manchester syntax.

Names are printed as CURIEs of known prefixes or as IRIs in angle brackets, so that what is printed can be
read again; a `name` function prints them another way, for people.

Source:
    OWL 2 Web Ontology Language Manchester Syntax, section 2.

Example:
    >>> from mrag.cel.syntax.expressions import And, Named, Not, Property, Some, Top
    >>> names = {"ex": "http://example.org/"}
    >>> e = And((Not(Named("http://example.org/A")), Some(Property("http://example.org/p", True), Top())))
    >>> to_dl(e, names), to_manchester(e, names)
    ('¬ex:A ⊓ (∃ ex:p⁻.⊤)', 'not ex:A and (inverse ex:p some owl:Thing)')
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pyoxigraph as ox
from rdflib import Literal

from mrag.cel.syntax import expressions as ce
from mrag.cel.syntax.expressions import (
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
        >>> from mrag.cel.syntax.expressions import Property
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
