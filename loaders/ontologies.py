"""Ontologies in files that hold no triples, as N-Triples: OWL in XML and other syntaxes, and OBO."""

from __future__ import annotations

import gzip
import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import pyoxigraph as ox

from mrag.errors import ConfigError, LoadError

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
_BEGINNINGS: Final = {
    "ofn": re.compile(_BLANK + rb"(?:Prefix|Ontology)\s*\("),
    "omn": re.compile(_BLANK + rb"(?:Prefix|Ontology):\s"),
    "obo": re.compile(rb"(?:\xef\xbb\xbf)?\s*format-version:"),
    "owx": _ROOT,
}
_HEAD: Final = 1 << 14


def owl_syntax(head: bytes) -> str:
    """Return the notation that a file begins in: `owx`, `ofn`, `omn`, `obo`, or nothing for others."""
    return next((name for name, pattern in _BEGINNINGS.items() if pattern.match(head[:_HEAD])), "")


def convert_owl(text: str, syntax: str, file: str) -> bytes:
    """Return an ontology as N-Triples. Imported ontologies are named, and not read."""
    try:
        from pyhornedowl import open_ontology_from_string
    except ImportError as error:
        what = f"{NAMES[syntax]} is read by py-horned-owl, which is not installed."
        hint = "pip install mrag[owl], or save the ontology as RDF/XML or Turtle, in Protégé for example."
        raise LoadError(what, file=file, hint=hint) from error
    try:
        ontology = open_ontology_from_string(text, cast(Any, syntax))
        rest = _disjoint(ontology)
        document = ontology.save_to_string("owl")
    except ValueError as error:
        raise _refusal(str(error), text, syntax, file) from error
    triples = (quad.triple for quad in ox.parse(document.encode(), ox.RdfFormat.RDF_XML))
    return (ox.serialize(triples, format=ox.RdfFormat.N_TRIPLES) or b"") + rest


def functional(document: str) -> str:
    """Return an ontology of RDF/XML in OWL's functional syntax."""
    try:
        from pyhornedowl import open_ontology_from_string
    except ImportError as error:
        what = f"{NAMES['ofn']} is written by py-horned-owl, which is not installed."
        raise ConfigError(what, hint="pip install mrag[owl], or use the format rdfxml.") from error
    try:
        ontology = open_ontology_from_string(document, "owl")
        read, text = ontology.save_to_string("owl"), ontology.save_to_string("ofn")
    except ValueError as error:
        raise ConfigError(
            f"The ontology cannot be written in {NAMES['ofn']}.", hint="Use the format rdfxml."
        ) from error
    if lost := max(0, _triples(document) - _triples(read)):
        hint = "Use the format rdfxml."
        raise ConfigError(f"py-horned-owl has no axioms for {lost:,} triples of this ontology.", hint=hint)
    return text


def _triples(document: str) -> int:
    return len({quad.triple for quad in ox.parse(document.encode(), ox.RdfFormat.RDF_XML)})


def _disjoint(ontology: PyIndexedOntology) -> bytes:
    """Take axioms that several classes are disjoint out of an ontology, and return them as N-Triples.

    The library writes only the pairs of the first class. Axioms with annotations, or with classes that have
    no names, become one axiom for each pair.
    """
    from pyhornedowl.model import Class, DisjointClasses
    from rdflib import OWL, RDF, BNode, Graph, URIRef  # which each process for queries would import otherwise
    from rdflib.collection import Collection

    several: list[list[str]] = []
    for component in ontology.get_components():
        axiom = component.component
        if not isinstance(axiom, DisjointClasses) or len(axiom.first) < 3:
            continue
        ontology.remove_component(axiom)
        names = [str(c.first) for c in axiom.first if isinstance(c, Class)]
        if len(names) == len(axiom.first) and not component.ann:
            several.append(names)
            continue
        for pair in combinations(axiom.first, 2):
            ontology.add_component(DisjointClasses(list(pair)), component.ann)
    graph = Graph()
    for names in sorted(several):
        members, node = BNode(), BNode()
        Collection(graph, members, [URIRef(name) for name in names])
        graph.add((node, OWL.members, members))
        graph.add((node, RDF.type, OWL.AllDisjointClasses))
    return graph.serialize(format="nt", encoding="utf-8")


def _refusal(reason: str, text: str, syntax: str, file: str) -> LoadError:
    line = None
    if place := _PLACE.search(reason):
        line = int(place[1] or place[2])
    elif byte := _BYTE.search(reason):
        line = text.encode()[: int(byte[1])].count(b"\n") + 1
    expected = re.search(r"positives: \[([^\]]{0,500})\]", reason)
    words = f"expected {expected[1]}" if expected else re.sub("^Failed to open ontology: ", "", reason)[:200]
    hint = "Nothing of this load was stored. Mend it there, or save it as Turtle, in Protégé for example."
    return LoadError(f"Not valid {NAMES[syntax]}: {words}.", file=file, line=line, hint=hint)


SYNTAXES: Final[Mapping[str, str]] = {
    "ofn": "ofn", "fss": "ofn", "owx": "owx", "omn": "omn", "obo": "obo",
}  # fmt: skip
"""Notation by file ending."""

_AMBIGUOUS: Final = ("owl", "xml", "rdf")
"""Endings of RDF/XML that other notations of OWL have as well."""


def syntax_of(path: Path, ending: str, *, gzipped: bool = False) -> str:
    """Return the notation of an ontology that is not RDF, by its ending or how it begins; empty for RDF."""
    if ending not in _AMBIGUOUS:
        return SYNTAXES.get(ending, "")
    try:
        with gzip.open(path) if gzipped else path.open("rb") as stream:
            return owl_syntax(stream.read(1 << 14))
    except (OSError, EOFError):
        return ""


def convert(path: Path, syntax: str, *, gzipped: bool = False) -> bytes:
    """Return an ontology as N-Triples; the last one is kept, because loading reads a file several times."""
    try:
        status = path.stat()
        return _convert(path, syntax, gzipped, (status.st_mtime_ns, status.st_size))
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise LoadError(f"The file cannot be read: {error}.", file=str(path)) from error


@lru_cache(maxsize=1)
def _convert(path: Path, syntax: str, gzipped: bool, _: tuple[int, int]) -> bytes:
    content = gzip.decompress(path.read_bytes()) if gzipped else path.read_bytes()
    return convert_owl(content.decode("utf-8-sig"), syntax, str(path))
