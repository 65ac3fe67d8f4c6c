"""RDF terms: rdflib's at the public edge, pyoxigraph's inside, and the ways between.

pyoxigraph's term classes validate on construction and serialise safely, so every term that becomes
part of a query passes through them (RDF 1.1 Concepts, section 3).
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias, cast, overload

import pyoxigraph as ox
from rdflib import BNode, Literal, URIRef
from rdflib.term import Node

from mrag.errors import TermError
from mrag.rdf.namespaces import DEFAULT_PREFIXES as DEFAULT_PREFIXES
from mrag.rdf.namespaces import MRAG as MRAG
from mrag.rdf.namespaces import OWL as OWL
from mrag.rdf.namespaces import RDF as RDF
from mrag.rdf.namespaces import RDFS as RDFS
from mrag.rdf.namespaces import SKOLEM as SKOLEM
from mrag.rdf.namespaces import XSD as XSD

NUMBERS = frozenset(
    URIRef(XSD + name)
    for name in (
        "integer decimal double float int long short byte nonNegativeInteger positiveInteger negativeInteger "
        "nonPositiveInteger unsignedInt unsignedLong unsignedShort unsignedByte"
    ).split()
)
"""Datatypes of numbers."""

Term: TypeAlias = URIRef | Literal | BNode
"""A subject, predicate or object as users see it."""

OxTerm: TypeAlias = ox.NamedNode | ox.Literal | ox.BlankNode  # The same, as the embedded store holds it

_STRING = XSD + "string"
_LOCAL = re.compile(r"[A-Za-z_0-9](?:[\w.\-]*[\w\-])?\Z")


class Triple(NamedTuple):
    """A statement: subject, predicate, object."""

    s: URIRef | BNode
    p: URIRef
    o: Term


Quad: TypeAlias = tuple[Term, Term, Term, Term]
"""A triple with its graph before it."""


class _Reading(threading.local):
    """Whether this thread turns what a store or a file said into literals."""

    now = False


_reading = _Reading()


def _is_wanted(_: logging.LogRecord) -> bool:
    return not _reading.now


# Of a value that is not of its datatype, such as a 30th of February, rdflib logs a warning with a traceback.
logging.getLogger("rdflib.term").addFilter(_is_wanted)


def typed_literal(text: str, datatype: str) -> Literal:
    """Return a literal as it is written in data, which may be no value of its datatype."""
    _reading.now = True
    try:
        return Literal(text, datatype=URIRef(datatype), normalize=False)
    finally:
        _reading.now = False


def literal(text: str, language: str | None, datatype: str | None) -> Literal:
    """Return a literal of its parts; strings of RDF 1.1 have no datatype in rdflib."""
    if language:
        return Literal(text, lang=language)
    if datatype is None or datatype == _STRING:
        return Literal(text)
    return typed_literal(text, datatype)


@overload
def to_ox(term: Literal) -> ox.Literal: ...
@overload
def to_ox(term: Node | str) -> OxTerm: ...
def to_ox(term: Node | str) -> OxTerm:
    r"""Turn a term of rdflib into one of pyoxigraph, validating it."""
    if isinstance(term, Literal):
        try:
            if term.language:
                return _tag(str(term), term.language)
            if term.datatype is not None:
                return ox.Literal(str(term), datatype=ox.NamedNode(str(term.datatype)))
            return ox.Literal(str(term))
        except ValueError as error:
            hint = "Language tags look like en or pt-BR; datatypes are IRIs."
            raise TermError(f"Not a well-formed literal: {error}.", term=repr(term), hint=hint) from error
    if isinstance(term, BNode):
        return ox.BlankNode(str(term))
    try:
        return ox.NamedNode(str(term))
    except ValueError as error:
        hint = "Write it whole, such as http://example.org/thing, without spaces, quotes or <>."
        raise TermError("Not a well-formed IRI.", term=str(term), hint=hint) from error


def is_allowed_tag(tag: str) -> bool:
    """Return whether BCP 47 allows a language tag; RDF allows more: zh-classical."""
    try:
        ox.Literal("", language=tag)
    except ValueError:
        return False
    return True


def _tag(text: str, tag: str) -> ox.Literal:
    """Return a text in a language, whose tag may be one that RDF alone allows."""
    if is_allowed_tag(tag):
        return ox.Literal(text, language=tag)
    line = f"<urn:s> <urn:p> {ox.Literal(text)}@{tag} .".encode()
    return cast(ox.Literal, next(ox.parse(line, format=ox.RdfFormat.N_TRIPLES, lenient=True)).object)


def from_ox(term: ox.NamedNode | ox.Literal | ox.BlankNode | ox.Triple) -> Term:
    """Turn a term of pyoxigraph into one of rdflib, keeping its lexical form."""
    if isinstance(term, ox.NamedNode):
        return URIRef(term.value)
    if isinstance(term, ox.Literal):
        return literal(term.value, term.language, term.datatype.value)
    if isinstance(term, ox.BlankNode):
        return BNode(term.value)
    raise TermError("Triple terms are not supported here.", term=str(term))


def term_to_json(term: Term) -> dict[str, str]:
    """Return a term as the SPARQL 1.1 JSON results format has it (section 3.2.2)."""
    if isinstance(term, Literal):
        fields = {"type": "literal", "value": str(term)}
        if term.language:
            fields["xml:lang"] = term.language
        elif term.datatype is not None:
            fields["datatype"] = str(term.datatype)
        return fields
    return {"type": "bnode" if isinstance(term, BNode) else "uri", "value": str(term)}


def term_from_json(value: Mapping[str, Any]) -> Term:
    """Read a term written by `term_to_json`, keeping its lexical form."""
    try:
        kind, text = value["type"], value["value"]
        if not isinstance(text, str):
            raise TypeError(text)
        if kind == "uri":
            return URIRef(text)
        if kind == "bnode":
            return BNode(text)
        if kind == "literal":
            language, datatype = value.get("xml:lang"), value.get("datatype")
            if datatype and not language:
                return typed_literal(text, datatype)
            return Literal(text, lang=language, datatype=datatype or None)
        raise KeyError(kind)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise TermError("Not an RDF term in SPARQL JSON form.", term=repr(value)) from error


def triple_to_json(triple: Triple) -> dict[str, dict[str, str]]:
    """Return the terms of a triple as `term_to_json` does, under `s`, `p` and `o`."""
    return {place: term_to_json(term) for place, term in zip("spo", triple, strict=True)}


def triple_from_json(value: Mapping[str, Any]) -> Triple:
    """Read a triple written by `triple_to_json`."""
    try:
        s, p, o = (term_from_json(value[place]) for place in "spo")
    except (KeyError, TypeError) as error:
        raise TermError("Not a triple in JSON form.", term=repr(value)[:200]) from error
    if isinstance(s, Literal) or not isinstance(p, URIRef):
        raise TermError("Literals are no subjects, and only IRIs are predicates.", term=repr(value)[:200])
    return Triple(s, p, o)


def ntriples_terms(terms: Iterable[Term]) -> list[str]:
    """Return terms as N-Triples writes them, whether they are well formed or not."""
    return [f"<{term}>" if isinstance(term, URIRef) else term.n3() for term in terms]


def to_ntriples(triples: Iterable[Triple]) -> bytes:
    """Print triples as N-Triples; every term passes through a class that validates it.

    Raises:
        TermError: If a term is not well formed, or is a blank node.

    Example:
        >>> to_ntriples([Triple(URIRef("urn:s"), URIRef("urn:p"), Literal("a"))])
        b'<urn:s> <urn:p> "a" .\\n'
    """
    return "".join(f"{' '.join(map(_print, triple))} .\n" for triple in triples).encode()


def _print(term: Node) -> str:
    if isinstance(term, BNode):
        raise TermError("A blank node cannot be stored; name it by an IRI.", term=str(term))
    return str(to_ox(term))


def iri(value: str | URIRef, prefixes: Mapping[str, str] | None = None) -> URIRef:
    """Read an IRI written whole, in angle brackets, or as a CURIE of a known prefix.

    Args:
        value: The text a person typed.
        prefixes: Prefix to namespace, beside the well-known ones.

    Raises:
        TermError: If it is none of these.

    Example:
        >>> iri("rdfs:label")
        rdflib.term.URIRef('http://www.w3.org/2000/01/rdf-schema#label')
    """
    text = str(value).strip()
    if text.startswith("<") and text.endswith(">"):
        text = text[1:-1]
    prefix, colon, local = text.partition(":")
    known = {**DEFAULT_PREFIXES, **(prefixes or {})}
    if colon and prefix in known and not local.startswith("//"):
        text = known[prefix] + local
    to_ox(text)
    return URIRef(text)


def curie(value: str, prefixes: Mapping[str, str] | None = None) -> str:
    """Shorten an IRI by the longest matching prefix, else return it in angle brackets.

    Example:
        >>> curie("http://www.w3.org/2002/07/owl#Class")
        'owl:Class'
        >>> curie("http://nowhere.example/x")
        '<http://nowhere.example/x>'
    """
    best = ""
    for prefix, namespace in {**DEFAULT_PREFIXES, **(prefixes or {})}.items():
        if value.startswith(namespace) and _LOCAL.match(value[len(namespace) :]):
            candidate = f"{prefix}:{value[len(namespace) :]}"
            if not best or len(candidate) < len(best):
                best = candidate
    return best or f"<{value}>"
