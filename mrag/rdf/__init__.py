"""RDF and SPARQL: reading what people and models write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mrag._lazy import lazy

if TYPE_CHECKING:
    from mrag.rdf import parser, queries, terms  # noqa: F401 - for `mrag.rdf.…`
    from mrag.rdf.guard import ReadQuery, read_gate
    from mrag.rdf.patterns import to_sparql
    from mrag.rdf.terms import MRAG, OWL, RDF, RDFS, XSD, Quad, Term, Triple, curie, iri, to_ntriples

__all__ = [
    "MRAG", "OWL", "RDF", "RDFS", "XSD", "Quad", "ReadQuery", "Term", "Triple", "curie", "iri", "read_gate",
    "to_ntriples", "to_sparql",
]  # fmt: skip

__getattr__, __dir__ = lazy(__name__)
