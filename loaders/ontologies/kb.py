"""DL-Learner's knowledge bases (`.kb`) to triples.

Source:
    The grammar `kb.jj` of DL-Learner 1.5, and its manual. Beyond the grammar, conjunctions and disjunctions
    need no brackets where they are not mixed, names may begin with any letter, a number or truth value may be
    the second argument of a property, and a negated property is a negative assertion.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import pyoxigraph as ox

from mrag.errors import LoadError
from mrag.loaders.ontologies.graph import AxiomGraph, Node, named
from mrag.loaders.ontologies.tokens import SourceTokens, Token
from mrag.rdf.namespaces import OWL, RDF, RDFS, XSD

NAMESPACE: Final = "http://localhost/foo#"
"""Where DL-Learner puts names that are no IRIs."""

_SUBCLASS: Final = ("SUB", "SUBCLASSOF", "SUBCONCEPTOF")
_SOME: Final = ("EXISTS", "SOME")
_ALL: Final = ("ALL", "FORALL")
_NOT: Final = ("NOT", "NEG")
_RESERVED: Final = frozenset(("TOP", "BOTTOM", "AND", "OR", *_SOME, *_ALL, *_NOT, *_SUBCLASS))
_CHARACTERISTICS: Final = {
    "Transitive": "TransitiveProperty", "Functional": "FunctionalProperty", "Symmetric": "SymmetricProperty",
}  # fmt: skip
_PAIRS: Final = {"Inverse": OWL + "inverseOf", "Subrole": RDFS + "subPropertyOf"}
_ENDS: Final = {
    **dict.fromkeys(("DOMAIN", "OPDOMAIN", "OBJECTPROPERTYDOMAIN"), ("domain", False)),
    **dict.fromkeys(("DPDOMAIN", "DATATYPEPROPERTYDOMAIN"), ("domain", True)),
    **dict.fromkeys(("RANGE", "OPRANGE", "OBJECTPROPERTYRANGE"), ("range", False)),
    **dict.fromkeys(("DPRANGE", "DATATYPEPROPERTYRANGE"), ("range", True)),
}
_DATATYPES: Final = {"DOUBLE": "double", "BOOLEAN": "boolean", "INTEGER": "int", "STRING": "string"}
_DEEPEST: Final = 200
"""Concepts nested deeper than this are refused, before Python's stack ends."""


def convert_kb(text: str, file: str) -> bytes:
    """Return a knowledge base of DL-Learner as N-Triples.

    Args:
        text: The statements.
        file: Where they are from, for errors.

    Raises:
        LoadError: At the first statement that is not of the grammar, with its line.

    Example:
        >>> b"owl#someValuesFrom" in convert_kb("father SUB male AND EXISTS hasChild.TOP.", "family.kb")
        True
    """
    tokens = SourceTokens(text, file)
    base = KnowledgeBase(tokens)
    while tokens.peek().kind != "end":
        base.statement()
    return base.ntriples()


class KnowledgeBase(AxiomGraph):
    """Statements of a knowledge base, read one after the other.

    Args:
        tokens: Where they are read from.
        names: Turns a name into an IRI; by default as DL-Learner does (`internal_iri`).
    """

    def __init__(self, tokens: SourceTokens, names: Callable[[str], str] | None = None) -> None:
        super().__init__()
        self._tokens = tokens
        self._iri = names or internal_iri

    def statement(self) -> None:
        """Read a statement up to its dot.

        Raises:
            LoadError: If it is not of the grammar.
        """
        tokens, first = self._tokens, self._tokens.peek()
        called = first.kind == "name" and tokens.sees("(", ahead=1)
        if called and first.text in _CHARACTERISTICS:
            tokens.at += 2
            self.add(self._property(), RDF + "type", named(OWL + _CHARACTERISTICS[first.text]))
            tokens.expect(")")
        elif called and first.text in _PAIRS:
            tokens.at += 2
            one = self._property()
            tokens.expect(",")
            self.add(one, _PAIRS[first.text], self._property())
            tokens.expect(")")
        elif called and first.text in _ENDS:
            self._end(*_ENDS[first.text])
        elif self._bracketed():
            tokens.take()
            self._axiom()
            tokens.expect(")")
        elif not self._assertion():
            self._axiom()
        tokens.expect(".")

    def _end(self, end: str, data: bool) -> None:
        tokens = self._tokens
        tokens.at += 2
        of = self._property(data=data)
        tokens.expect(")")
        tokens.expect("=")
        if data and end == "range":
            token = tokens.expect_kind("name", words=f"one of {', '.join(_DATATYPES)}")
            if token.text not in _DATATYPES:
                tokens.at -= 1
                raise tokens.error(f"one of {', '.join(_DATATYPES)}")
            self.add(of, RDFS + end, named(XSD + _DATATYPES[token.text]))
        else:
            self.add(of, RDFS + end, self._concept())

    def _bracketed(self) -> bool:
        """Return whether what comes is an axiom in brackets, and not a concept."""
        tokens, depth, ahead = self._tokens, 0, 0
        if not tokens.sees("("):
            return False
        found = False
        while tokens.peek(ahead).kind != "end":
            depth += tokens.sees("(", ahead=ahead) - tokens.sees(")", ahead=ahead)
            if depth == 1:
                found = found or tokens.sees("=", *_SUBCLASS, ahead=ahead)
            elif depth == 0:
                return found and tokens.sees(".", ahead=ahead + 1)
            ahead += 1
        return False

    def _assertion(self) -> bool:
        """Read an assertion about a property, if that is what comes, and return whether it was."""
        tokens = self._tokens
        skip = int(tokens.sees(*_NOT))
        name = tokens.peek(skip)
        if name.kind not in ("name", "string") or not tokens.sees("(", ahead=skip + 1):
            return False
        if not tokens.sees(",", ahead=skip + 3):
            return False
        tokens.at += skip
        data = tokens.peek(4).kind == "number" or tokens.sees("true", "false", "TRUE", "FALSE", ahead=4)
        of = self._property(data=data)
        tokens.expect("(")
        subject = self._individual()
        tokens.expect(",")
        value = self._literal() if data else self._individual()
        tokens.expect(")")
        if not skip:
            self.add(subject, of.value, value)
            return True
        node = self.new(OWL + "NegativePropertyAssertion")
        self.add(node, OWL + "sourceIndividual", subject)
        self.add(node, OWL + "assertionProperty", of)
        self.add(node, OWL + ("targetValue" if data else "targetIndividual"), value)
        return True

    def _axiom(self) -> None:
        """Read a subsumption, an equivalence, or the assertion of a concept."""
        tokens = self._tokens
        left = self._concept()
        if tokens.accepts("("):
            self.add(self._individual(), RDF + "type", left)
            tokens.expect(")")
        elif tokens.accepts("="):
            self.add(left, OWL + "equivalentClass", self._concept())
        elif tokens.accepts(*_SUBCLASS):
            self.add(left, RDFS + "subClassOf", self._concept())
        else:
            raise tokens.error('"=", "SUB" or an individual in brackets')

    def _concept(self, depth: int = 0) -> Node:
        """Read a concept; conjunctions and disjunctions are not mixed without brackets."""
        tokens = self._tokens
        parts = [self._part(depth)]
        sign = tokens.peek()
        while tokens.sees("AND", "OR"):
            if not tokens.accepts(sign.text):
                raise LoadError(
                    "AND and OR stand side by side.",
                    file=tokens.file,
                    line=tokens.peek().line,
                    hint="Put one of them in brackets.",
                )
            parts.append(self._part(depth))
        if len(parts) == 1:
            return parts[0]
        joined = "intersectionOf" if sign.text == "AND" else "unionOf"
        return self.class_of(OWL + joined, self.list_of(parts))

    def _part(self, depth: int) -> Node:
        tokens, first = self._tokens, self._tokens.peek()
        if depth > _DEEPEST:
            raise LoadError("Concepts are nested too deep.", file=tokens.file, line=first.line)
        if tokens.accepts("TOP"):
            return named(OWL + "Thing")
        if tokens.accepts("BOTTOM"):
            return named(OWL + "Nothing")
        if tokens.accepts(*_NOT):
            return self.class_of(OWL + "complementOf", self._part(depth + 1))
        if tokens.accepts(*_SOME):
            return self._quantified(OWL + "someValuesFrom", depth)
        if tokens.accepts(*_ALL):
            return self._quantified(OWL + "allValuesFrom", depth)
        if tokens.sees(">=", "<="):
            return self._counted(depth)
        if not tokens.sees("("):
            return self.declared(self._name("a concept"), OWL + "Class")
        if (test := self._value()) is not None:
            return test
        tokens.take()
        inner = self._concept(depth + 1)
        tokens.expect(")")
        return inner

    def _quantified(self, predicate: str, depth: int) -> Node:
        of = self._property()
        self._tokens.expect(".")
        return self.restriction(of, predicate, self._part(depth + 1))

    def _counted(self, depth: int) -> Node:
        tokens = self._tokens
        kind = "min" if tokens.take().text == ">=" else "max"
        number = tokens.expect_kind("number", words="a whole number")
        if not number.text.isdigit():
            tokens.at -= 1
            raise tokens.error("a whole number")
        of = self._property()
        tokens.expect(".")
        filler = self._part(depth + 1)
        count = ox.Literal(number.text, datatype=named(XSD + "nonNegativeInteger"))
        node = self.restriction(of, f"{OWL}{kind}QualifiedCardinality", count)
        self.add(node, OWL + "onClass", filler)
        return node

    def _value(self) -> Node | None:
        """Read a test of a value in brackets, if that is what comes."""
        tokens = self._tokens
        if not tokens.sees("IS", "HASVALUE", "STRINGVALUE", ahead=2):
            return None
        tokens.take()
        test = tokens.peek(1)
        of = self._property(data=test.text != "HASVALUE")
        tokens.take()
        value: ox.NamedNode | ox.Literal
        if test.text == "HASVALUE":
            value = self._individual()
        elif test.text == "STRINGVALUE":
            value = ox.Literal(tokens.expect_kind("string", words="a text in quotation marks").text)
        elif tokens.sees("TRUE", "FALSE"):
            value = self._literal()
        else:
            raise tokens.error('"TRUE" or "FALSE"')
        tokens.expect(")")
        return self.restriction(of, OWL + "hasValue", value)

    def _individual(self) -> ox.NamedNode:
        return self.declared(self._name("an individual"), OWL + "NamedIndividual")

    def _property(self, *, data: bool = False) -> ox.NamedNode:
        return self.declared(
            self._name("a property"), OWL + ("DatatypeProperty" if data else "ObjectProperty")
        )

    def _literal(self) -> ox.Literal:
        token = self._tokens.take()
        if token.kind == "number":
            return ox.Literal(token.text, datatype=named(XSD + _numeric(token.text)))
        return ox.Literal(token.text.lower(), datatype=named(XSD + "boolean"))

    def _name(self, words: str) -> ox.NamedNode:
        token = self._tokens.expect_kind("name", "string", words=words, reserved=_RESERVED)
        return self.iri(token)

    def iri(self, token: Token) -> ox.NamedNode:
        """Return the IRI of a name.

        Raises:
            LoadError: If it makes none.
        """
        try:
            return named(self._iri(token.text))
        except ValueError as error:
            raise LoadError(f"{token} makes no IRI.", file=self._tokens.file, line=token.line) from error


def internal_iri(name: str, prefixes: Mapping[str, str] | None = None, base: str = NAMESPACE) -> str:
    """Return the IRI that DL-Learner gives a name.

    Args:
        name: An IRI, a name with a prefix, or a bare name.
        prefixes: Namespaces by prefix.
        base: Namespace of bare names.

    Example:
        >>> internal_iri("stefan"), internal_iri("ex:stefan", {"ex": "urn:a:"}), internal_iri("urn:a:b")
        ('http://localhost/foo#stefan', 'urn:a:stefan', 'urn:a:b')
    """
    prefix, colon, local = name.partition(":")
    if not colon:
        return base + name
    return (prefixes or {}).get(prefix, prefix + ":") + local


def _numeric(text: str) -> str:
    return "integer" if text.isdigit() else "double"
