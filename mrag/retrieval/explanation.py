"""Why triples of an entity hold: proofs of what reasoning inferred, in words and as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rdflib import URIRef

from mrag import html
from mrag.context.display import Display
from mrag.context.neighbours import read
from mrag.errors import ReasoningError
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import SKOLEM, Term, Triple, from_ox
from mrag.reasoning.proofs import Proof, render
from mrag.reasoning.run import proof_of


@dataclass(frozen=True)
class TripleProofs:
    """Proofs of triples.

    Attributes:
        proofs: One for each triple that is explained.
        texts: The proofs in words.
        inferred: How many triples could be explained.
    """

    proofs: tuple[Proof, ...]
    texts: tuple[str, ...]
    inferred: int

    def __str__(self) -> str:
        return "\n\n".join(self.texts)

    def _repr_html_(self) -> str:
        """Return the proofs as HTML for a notebook."""
        return html.join(html.Html(proof._repr_html_()) for proof in self.proofs)

    def to_json(self) -> list[dict[str, Any]]:
        """Return the proofs as values of JSON."""
        return [proof.to_json() for proof in self.proofs]


def explain(
    kg: KnowledgeGraph,
    subject: URIRef,
    predicate: URIRef | None = None,
    object: Term | None = None,
    *,
    max_triples: int = 20,
) -> TripleProofs:
    """Prove a triple, or the inferred triples of an entity, down to asserted triples.

    Args:
        kg: The knowledge graph, reasoned over.
        subject: The entity.
        predicate: Together with `object`, the triple; without them, all inferred triples of the entity.
        object: The object of the triple.
        max_triples: Maximum number of triples that are explained.

    Raises:
        ReasoningError: If there is nothing to explain.
    """
    display = Display(kg)
    if predicate is not None and object is not None:
        triples = [Triple(subject, predicate, object)]
    else:
        triples = [
            Triple(subject, URIRef(p), from_ox(o))
            for _, p, o, graph in read(kg, subject, "out", scan=10_000, share=10_000).statements
            if kg.is_inferred(graph) and SKOLEM not in str(o)
        ]
        triples.sort(key=lambda t: (t.p, t.o.n3()))
        if not triples:
            raise ReasoningError(
                f"Nothing about {display.entity(subject)} is inferred.",
                hint="Check the IRI, or run `mrag reason` first.",
            )
    proofs = []
    for triple in triples[:max_triples]:
        proof = proof_of(kg, triple)
        if proof is None:
            raise ReasoningError(
                "The graph does not hold this triple.",
                hint="There is nothing to explain: it is neither asserted nor inferred.",
            )
        proofs.append(proof)
    return TripleProofs(tuple(proofs), tuple(render(proof, display.name) for proof in proofs), len(triples))
