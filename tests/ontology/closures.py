"""What the tests of both ontologies share: their closures, and what contradicts in them."""

from collections.abc import Iterable
from pathlib import Path

import owlrl
from rdflib import Graph, URIRef
from rdflib.term import Node

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
OWLRL_ERROR = URIRef("http://www.daml.org/2002/03/agents/agent-ont#error")


def close(*parts: Iterable[tuple[Node, Node, Node]]) -> Graph:
    """The OWL 2 RL closure of some triples, as a new graph."""
    closed = Graph()
    for triples in parts:
        for triple in triples:
            closed.add(triple)
    owlrl.DeductiveClosure(owlrl.OWLRL_Semantics).expand(closed)
    return closed


def errors(closed: Graph) -> list[str]:
    return [str(message) for message in closed.objects(None, OWLRL_ERROR)]
