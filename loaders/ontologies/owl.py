"""Notations of OWL that are not RDF, and OBO, to triples and back, by py-horned-owl (extra `owl`)."""

from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, cast

import pyoxigraph as ox

from mrag.errors import ConfigError, LoadError
from mrag.loaders.ontologies.graph import AxiomGraph, named
from mrag.rdf.namespaces import OWL

if TYPE_CHECKING:
    from pyhornedowl import PyIndexedOntology

NAMES: Final = {
    "ofn": "OWL functional syntax", "owx": "OWL/XML", "omn": "Manchester syntax", "obo": "OBO",
}  # fmt: skip
"""What the notations are called."""

_PLACE: Final = re.compile(r"line_col: (?:Pos\(|Span\(\()\((\d+)|line_col: \w+\(\(?(\d+)")
_BYTE: Final = re.compile(r"Byte(?:Span|Position)\((\d+)")
_ROOT: Final = re.compile(
    rb"""(?:\xef\xbb\xbf)?(?>\s|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>)*+
    <(?:\w+:)?Ontology(?![^>]*\brdf:(?:about|ID)\b)[\s>]""",
    re.DOTALL | re.VERBOSE,
)
_BLANK: Final = rb"(?:\xef\xbb\xbf)?(?>\s|#[^\n]*\n)*+"
_FUNCTIONAL: Final = re.compile(_BLANK + rb"(?:Prefix|Ontology)\s*\(")
_MANCHESTER: Final = re.compile(_BLANK + rb"(?:Prefix|Ontology):\s")
_OBO: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*format-version:")
_HEAD: Final = 1 << 14


def owl_syntax(head: bytes) -> str:
    """Return the notation that a file begins in: `owx`, `ofn`, `omn`, `obo`, or nothing for RDF and others.

    Example:
        >>> owl_syntax(b"Prefix(:=<urn:a:>)"), owl_syntax(b'<?xml version="1.0"?><Ontology xmlns="">')
        ('ofn', 'owx')
    """
    patterns = {"ofn": _FUNCTIONAL, "omn": _MANCHESTER, "obo": _OBO, "owx": _ROOT}
    return next((name for name, pattern in patterns.items() if pattern.match(head[:_HEAD])), "")


def convert_owl(text: str, syntax: str, file: str) -> bytes:
    """Return an ontology as N-Triples. Imported ontologies are named, and not read.

    Args:
        text: The ontology.
        syntax: `ofn`, `owx`, `omn` or `obo`.
        file: Where it is from, for errors.

    Raises:
        LoadError: If the ontology is not well formed, or py-horned-owl is not installed.
    """
    try:
        from pyhornedowl import open_ontology_from_string
    except ImportError as error:
        raise LoadError(
            f"{NAMES[syntax]} is read by py-horned-owl, which is not installed.",
            file=file,
            hint="pip install mrag[owl], or save the ontology as RDF/XML or Turtle, in Protégé for example.",
        ) from error
    try:
        ontology = open_ontology_from_string(text, cast(Any, syntax))
        rest = _disjoint(ontology)
        document = ontology.save_to_string("owl")
    except ValueError as error:
        raise _refused(str(error), text, syntax, file) from error
    triples = (quad.triple for quad in ox.parse(document.encode(), ox.RdfFormat.RDF_XML))
    return (ox.serialize(triples, format=ox.RdfFormat.N_TRIPLES) or b"") + rest


def functional(document: str) -> str:
    """Return an ontology of RDF/XML in OWL's functional syntax.

    Raises:
        ConfigError: If py-horned-owl is not installed, or the ontology says what OWL has no axioms for.

    Example:
        >>> rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
        >>> empty = f'<rdf:RDF xmlns:rdf="{rdf}"/>'
        >>> "Ontology(" in functional(empty)
        True
    """
    try:
        from pyhornedowl import open_ontology_from_string
    except ImportError as error:
        raise ConfigError(
            f"{NAMES['ofn']} is written by py-horned-owl, which is not installed.",
            hint="pip install mrag[owl], or use the format rdfxml.",
        ) from error
    try:
        ontology = open_ontology_from_string(document, "owl")
        read, text = ontology.save_to_string("owl"), ontology.save_to_string("ofn")
    except ValueError as error:
        raise ConfigError(
            f"The ontology cannot be written in {NAMES['ofn']}.", hint="Use the format rdfxml."
        ) from error
    if lost := max(0, _triples(document) - _triples(read)):
        raise ConfigError(
            f"py-horned-owl has no axioms for {lost:,} triples of this ontology.",
            hint="Use the format rdfxml.",
        )
    return text


def _triples(document: str) -> int:
    return len({quad.triple for quad in ox.parse(document.encode(), ox.RdfFormat.RDF_XML)})


def _disjoint(ontology: PyIndexedOntology) -> bytes:
    """Take axioms that several classes are disjoint out of an ontology, and return them as N-Triples.

    The library writes only the pairs of the first class. Axioms with annotations, or with classes that have
    no names, become one axiom for each pair.
    """
    from pyhornedowl.model import Class, DisjointClasses

    several: list[list[str]] = []
    for found in ontology.get_components():
        axiom = found.component
        if not isinstance(axiom, DisjointClasses) or len(axiom.first) < 3:
            continue
        ontology.remove_component(axiom)
        names = [str(c.first) for c in axiom.first if isinstance(c, Class)]
        if len(names) == len(axiom.first) and not found.ann:
            several.append(names)
            continue
        for pair in combinations(axiom.first, 2):
            ontology.add_component(DisjointClasses(list(pair)), found.ann)
    graph = AxiomGraph()
    for names in sorted(several):
        node = graph.new(OWL + "AllDisjointClasses")
        graph.add(node, OWL + "members", graph.list_of([named(name) for name in names]))
    return graph.ntriples()


def _refused(reason: str, text: str, syntax: str, file: str) -> LoadError:
    line = None
    if place := _PLACE.search(reason):
        line = int(place[1] or place[2])
    elif byte := _BYTE.search(reason):
        line = text.encode()[: int(byte[1])].count(b"\n") + 1
    expected = re.search(r"positives: \[([^\]]{0,500})\]", reason)
    words = f"expected {expected[1]}" if expected else re.sub("^Failed to open ontology: ", "", reason)[:200]
    return LoadError(
        f"Not valid {NAMES[syntax]}: {words}.",
        file=file,
        line=line,
        hint="Nothing of this load was stored. Mend it there, or save it as Turtle, in Protégé for example.",
    )
