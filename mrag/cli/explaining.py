"""Proofs of inferred triples as text and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rdflib import Literal, URIRef

from mrag.context.display import Display
from mrag.context.neighbours import read
from mrag.errors import ConfigError, ReasoningError
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import SKOLEM, Triple, from_ox, iri
from mrag.reasoning.proofs import render
from mrag.reasoning.run import proof_of


def explained(kg: KnowledgeGraph, what: Sequence[str], most: int) -> list[tuple[str, Any]]:
    """Prove one triple, or the inferred triples of an entity.

    Args:
        kg: The knowledge graph.
        what: An entity, or subject, predicate and object, as IRIs or CURIEs; the object may be a literal
            in quotes.
        most: Most triples of an entity.

    Raises:
        ConfigError: If `what` is neither one term nor three.
        ReasoningError: If there is nothing to explain.
    """
    if len(what) not in (1, 3):
        raise ConfigError("Give an entity, or subject, predicate and object.", hint="mrag explain ex:GraphDB")
    display = Display(kg)

    def label(term: str) -> str:
        return display.predicate(term) if kg.profile().predicates.get(term) else display.entity(term)

    subject = iri(what[0], kg.prefixes)
    if len(what) == 3:
        o = what[2]
        literal = len(o) > 1 and o[0] == o[-1] and o[0] in "\"'"
        targets = [
            Triple(subject, iri(what[1], kg.prefixes), Literal(o[1:-1]) if literal else iri(o, kg.prefixes))
        ]
    else:
        targets = [
            Triple(subject, URIRef(p), from_ox(object_))
            for _, p, object_, graph in read(kg, subject, "out", scan=10_000, share=10_000).statements
            if kg.is_inferred(graph) and SKOLEM not in str(object_)
        ]
        targets.sort(key=lambda t: (t.p, t.o.n3()))
        if not targets:
            raise ReasoningError(
                f"Nothing about {display.entity(subject)} is inferred.",
                hint="Check the IRI, or run `mrag reason` first.",
            )
    found = []
    for target in targets[:most]:
        proof = proof_of(kg, target)
        if proof is None:
            raise ReasoningError(
                "The graph does not hold this triple.",
                hint="Nothing to explain: it is neither asserted nor inferred.",
            )
        found.append((render(proof, label), proof.to_json()))
    return found
