"""A place in the tokens of a text, and the terms that stand there."""

from __future__ import annotations

import re
from collections.abc import Mapping

from rdflib import BNode, Literal, URIRef
from rdflib.term import Variable

from mrag.errors import QueryRefused
from mrag.rdf.lexer import CHECKED, NUMBERS, SparqlToken, Tokens
from mrag.rdf.queries import term
from mrag.rdf.terms import XSD

_DEEPEST = 100
_LONGEST = 2_000
"""Engines work through long rows by recursion, and overflow their stacks."""
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_LOCAL_ESCAPE = re.compile(r"\\(.)")
_NUMBERS = {name: URIRef(XSD + name) for name in NUMBERS}
_TRUTH = {
    "TRUE": Literal("true", datatype=URIRef(XSD + "boolean")),
    "FALSE": Literal("false", datatype=URIRef(XSD + "boolean")),
}
_NAMES = {"end": "the end", "iri": "an IRI", "var": "a variable", "string": "a string", "pname": "a name"}
TERM_KEYS = frozenset(("iri", "pname", "string", "blank", "TRUE", "FALSE", "+", "-", *NUMBERS))
"""How a term begins that is neither a variable nor in brackets."""


class TokenCursor:
    """Goes through tokens one by one.

    Args:
        tokens: The tokens.
        prefixes: Namespaces that need no declaration.
        base: What relative IRIs are relative to, until the text says otherwise.

    Attributes:
        at: Number of the token that comes next.
        key: What it is.
        undeclared: Prefixes that the text uses without declaring them.
    """

    def __init__(self, tokens: Tokens, prefixes: Mapping[str, str], base: str | None = None) -> None:
        self.tokens = tokens
        self.at = 0
        self.key = tokens.tokens[0].key
        self.undeclared: dict[str, None] = {}
        self._known = prefixes
        self._declared: dict[str, str] = {}
        self._base = base
        self._depth = 0
        self._blank = 0
        self._names: dict[str, URIRef] = {}

    @property
    def token(self) -> SparqlToken:
        """Return the token that comes next."""
        return self.tokens.tokens[self.at]

    def following(self) -> str:
        """Return what the token behind the next one is."""
        found = self.tokens.tokens
        return found[min(self.at + 1, len(found) - 1)].key

    def advance(self) -> SparqlToken:
        """Go on, and return the token that was next."""
        token = self.tokens.tokens[self.at]
        if token.key != "end":
            self.at += 1
            if not self.at % CHECKED:
                self.tokens.check_time()
            self.key = self.tokens.tokens[self.at].key
        return token

    def accept(self, key: str) -> bool:
        """Go on if the next token is of this kind, and tell whether it was."""
        if self.key != key:
            return False
        self.advance()
        return True

    def expect(self, *keys: str) -> SparqlToken:
        """Go over tokens that must be there, and return the last."""
        for key in keys:
            if self.key != key:
                raise self.refused(_NAMES.get(key, key))
            token = self.advance()
        return token

    def refused(self, expected: str, hint: str | None = None) -> QueryRefused:
        """Return the error that says what should stand here."""
        found = f"{self.token.text!r}" if self.key != "end" else "the end"
        where = self.tokens.place(self.token)
        return QueryRefused(
            f"Not a SPARQL {self.tokens.kind}: expected {expected} but found {found} at {where}.",
            query=self.tokens.given,
            hint=hint,
        )

    def deeper(self) -> None:
        """Note that something opens here.

        Raises:
            QueryRefused: If too much is open already.
        """
        self._depth += 1
        if self._depth > _DEEPEST:
            raise QueryRefused(
                f"The text is nested too deeply, at {self.tokens.place(self.token)}.",
                query=self.tokens.given,
                hint=f"At most {_DEEPEST} brackets may be open at once.",
            )

    def limit(self, count: int, what: str) -> None:
        """Refuse more of something in a row than an engine can take.

        Args:
            count: How many there are.
            what: Their name, in the plural.
        """
        if count > _LONGEST:
            raise QueryRefused(
                f"More than {_LONGEST} {what} in a row, at {self.tokens.place(self.token)}.",
                query=self.tokens.given,
                hint="Put the terms into VALUES or IN.",
            )

    def shallower(self) -> None:
        """Note that what opened last is closed."""
        self._depth -= 1

    # -- prologue ----------------------------------------------------------------------------------

    def prologue(self) -> None:
        """Read declarations of prefixes and bases (section 4.1)."""
        while self.key in ("BASE", "PREFIX"):
            if self.advance().key == "BASE":
                self._base = str(self._resolved(self.expect("iri").value))
                continue
            name = self.expect("pname")
            prefix, _, local = name.value.partition(":")
            if local:
                raise self.refused(f"{prefix}: alone")
            self._declared[prefix] = str(self._resolved(self.expect("iri").value))
            self._names.clear()

    # -- terms -------------------------------------------------------------------------------------

    def variable(self) -> Variable:
        """Read a variable."""
        return Variable(self.expect("var").value)

    def iri(self) -> URIRef:
        """Read an IRI or a prefixed name."""
        if self.key == "iri":
            return self._resolved(self.advance().value)
        if self.key != "pname":
            raise self.refused("an IRI")
        token = self.advance()
        known = self._names.get(token.value)
        if known is None:
            known = self._names[token.value] = self._expanded(token)
        return known

    def declarations(self) -> str:
        """Print declarations of the prefixes that the text has used so far without declaring them."""
        return "".join(
            f"PREFIX {prefix}: {term(self._known[prefix])}\n" for prefix in sorted(self.undeclared)
        )

    def variable_or_iri(self) -> Variable | URIRef:
        """Read a variable or an IRI."""
        return self.variable() if self.key == "var" else self.iri()

    def term(self) -> URIRef | Literal | BNode:
        """Read an IRI, a literal or a labelled blank node."""
        if self.key in ("iri", "pname"):
            return self.iri()
        if self.key == "blank":
            return BNode(self.advance().value[2:])
        return self.literal()

    def literal(self) -> Literal:
        """Read a string, a number or a truth value."""
        if self.key in _TRUTH:
            return _TRUTH[self.advance().key]
        if self.key in ("+", "-"):
            sign = self.advance()
            if self.key not in NUMBERS or self.token.start != sign.end:
                raise self.refused("a number right behind the sign")
            return self._number(sign.key)
        if self.key in NUMBERS:
            return self._number()
        if self.key != "string":
            raise self.refused("a term")
        text = self.advance().value
        if self.key == "lang":
            return self._checked(text, language=self.advance().value)
        if self.accept("^^"):
            return self._checked(text, datatype=self.iri())
        return Literal(text)

    def fresh(self) -> BNode:
        """Return a blank node without a label."""
        self._blank += 1
        # No label of a text begins with a dot.
        return BNode(f".{self._blank}")

    def _number(self, sign: str = "") -> Literal:
        token = self.advance()
        return Literal(sign + token.text, datatype=_NUMBERS[token.key], normalize=False)

    def _checked(self, text: str, language: str | None = None, datatype: URIRef | None = None) -> Literal:
        try:
            return Literal(text, lang=language, datatype=datatype, normalize=False)
        except ValueError as error:
            raise QueryRefused(f"Not a literal: {error}.", query=self.tokens.given) from error

    def _expanded(self, token: SparqlToken) -> URIRef:
        prefix, _, local = token.value.partition(":")
        namespace = self._declared.get(prefix)
        if namespace is None:
            namespace = self._known.get(prefix)
            if namespace is None:
                raise QueryRefused(
                    f"The prefix {prefix}: is not declared, at {self.tokens.place(token)}.",
                    query=self.tokens.given,
                    hint=f"Put `PREFIX {prefix}: <…>` before the query.",
                )
            self.undeclared[prefix] = None
        return URIRef(namespace + (_LOCAL_ESCAPE.sub(r"\1", local) if "\\" in local else local))

    def _resolved(self, value: str) -> URIRef:
        if self._base is None or _SCHEME.match(value):
            return URIRef(value)
        return URIRef(value, base=self._base)
