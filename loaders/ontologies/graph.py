"""Triples of axioms and class expressions, by the mapping of OWL 2 to RDF graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import pyoxigraph as ox

from mrag.rdf.namespaces import OWL, RDF

Node: TypeAlias = ox.NamedNode | ox.BlankNode


def named(iri: str) -> ox.NamedNode:
    """Return an IRI as the engine has it.

    Raises:
        ValueError: If it is none.
    """
    return ox.NamedNode(iri)


class AxiomGraph:
    """Triples in the order they were added, each once, with blank nodes numbered from 1."""

    def __init__(self) -> None:
        self._triples: dict[ox.Triple, None] = {}
        self._blank = 0

    def ntriples(self) -> bytes:
        """Return all triples as N-Triples."""
        return ox.serialize(self._triples, format=ox.RdfFormat.N_TRIPLES) or b""

    def add(self, subject: Node, predicate: str, value: Node | ox.Literal) -> None:
        """Add a triple."""
        self._triples[ox.Triple(subject, named(predicate), value)] = None

    def new(self, kind: str | None = None) -> ox.BlankNode:
        """Return a blank node, of a class if one is given."""
        self._blank += 1
        node = ox.BlankNode(f"b{self._blank}")
        if kind is not None:
            self.add(node, RDF + "type", named(kind))
        return node

    def declared(self, name: ox.NamedNode, kind: str) -> ox.NamedNode:
        """Declare a name, and return it."""
        self.add(name, RDF + "type", named(kind))
        return name

    def class_of(self, predicate: str, value: Node) -> Node:
        """Return an anonymous class, such as a complement."""
        node = self.new(OWL + "Class")
        self.add(node, predicate, value)
        return node

    def restriction(self, of: Node, predicate: str, value: Node | ox.Literal) -> Node:
        """Return a restriction on a property."""
        node = self.new(OWL + "Restriction")
        self.add(node, OWL + "onProperty", of)
        self.add(node, predicate, value)
        return node

    def list_of(self, parts: Sequence[Node]) -> Node:
        """Return the list of some nodes."""
        rest: Node = named(RDF + "nil")
        for part in reversed(parts):
            node = self.new()
            self.add(node, RDF + "first", part)
            self.add(node, RDF + "rest", rest)
            rest = node
        return rest
