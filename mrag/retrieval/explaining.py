"""Why the graph holds a triple: the things that are meant, and the proofs of what is said of them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from rdflib import Literal, URIRef

from mrag import html
from mrag.context.display import Display
from mrag.context.neighbourhood import read
from mrag.errors import ConfigError, ReasoningError, TermError
from mrag.graph.kg import KnowledgeGraph
from mrag.language.names import iri_words
from mrag.rdf import queries
from mrag.rdf.patterns import Ask, TriplePattern, to_sparql
from mrag.rdf.terms import SKOLEM, Term, Triple, curie, from_ox, iri, to_ox
from mrag.reasoning.proofs import Proof, render
from mrag.reasoning.run import proof_of

_LISTED: Final = 5  # Things of one name that an error lists


@dataclass(frozen=True)
class TripleProofs:
    """Proofs of triples, one for each that is explained."""

    proofs: tuple[Proof, ...]
    texts: tuple[str, ...]  # The proofs in words
    inferred: int  # How many triples could be explained

    def __str__(self) -> str:
        return "\n\n".join(self.texts)

    def _repr_html_(self) -> str:
        """Return the proofs as HTML for a notebook."""
        return html.join(html.Html(proof._repr_html_()) for proof in self.proofs)

    def to_json(self) -> list[dict[str, Any]]:
        """Return the proofs as values of JSON."""
        return [proof.to_json() for proof in self.proofs]


def named_term(kg: KnowledgeGraph, text: str) -> URIRef:
    """Return what a person named: by an IRI, a CURIE, or its label in whatever case."""
    with suppress(TermError):
        return iri(text, kg.prefixes)
    name = " ".join(text.split()).lower()
    asked = queries.get("label/named").bind(name=[Literal(name)], property=list(kg.profile().labels))
    things = [str(thing) for (thing,) in kg.select(asked)]
    if not things:
        rows = kg.select(queries.get("planning/unnamed").bind(property=list(kg.profile().labels)))
        names = {name, (iri_words(f"urn:local:{text.strip()}") or name).lower()}
        known = [*(str(t) for (t,) in rows), *sorted(kg.profile().predicates)]
        things = [each for each in dict.fromkeys(known) if (iri_words(each) or "").lower() in names]
    if not things:
        raise ConfigError(f"Nothing in the graph is called “{text}”.", hint="Check it, or give its IRI.")
    if len(things) > 1:
        listed = ", ".join(curie(each, kg.prefixes) for each in things[:_LISTED])
        raise ConfigError(
            f"{len(things)} things are called “{text}”: {listed}.", hint="Give the IRI of one of them."
        )
    return URIRef(things[0])


def _nothing_about(kg: KnowledgeGraph, subject: URIRef, name: str) -> ReasoningError:
    """Return why nothing can be explained of an entity."""
    out = read(kg, subject, "out", scan=1, share=1).statements
    if not out and not read(kg, subject, "in", scan=1, share=1).statements:
        if kg.profile().predicates.get(str(subject)):
            return ReasoningError(f"Nothing about {name} is inferred.", hint="It is used as a property only.")
        return ReasoningError(
            "There is no such thing in the graph.",
            term=f"<{subject}>",
            hint="Check the IRI, its prefix, and its spelling.",
        )
    hint = "What the graph says of it is asserted." if kg.reasoned else "Run `mrag reason` first."
    return ReasoningError(f"Nothing about {name} is inferred.", hint=hint)


def _holds(kg: KnowledgeGraph, triple: Triple) -> bool:
    s, p, o = map(to_ox, triple)
    return kg.holds(to_sparql(Ask(TriplePattern(s, p, o))))  # type: ignore[arg-type]  # no blank nodes


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
            raise _nothing_about(kg, subject, display.entity(subject))
    proofs = []
    for triple in triples[:max_triples]:
        proof = proof_of(kg, triple)
        if proof is None and kg.store.capabilities.reasoning and _holds(kg, triple):
            proof = Proof(triple, "server", "the server infers it by a rule of its own")
        if proof is None:
            raise ReasoningError(
                "The graph does not hold this triple.",
                hint="There is nothing to explain: it is neither asserted nor inferred.",
            )
        proofs.append(proof)
    return TripleProofs(tuple(proofs), tuple(render(proof, display.name) for proof in proofs), len(triples))
