"""The ontology mask: the documents of the instances of a class expression, or of a query's results.

A model that decodes under it can write clues of these documents alone. The instances are asked of the
store, closed world, as everywhere in `mrag.cel`.
"""

from __future__ import annotations

from rdflib import URIRef

from mrag.cel.concepts import concept_iri, find_concept
from mrag.cel.problem import instances
from mrag.cel.syntax.expressions import Expression, Named
from mrag.cel.syntax.notation import from_dl, from_manchester, to_dl
from mrag.errors import ConfigError, TermError
from mrag.generative.index.clue_index import ClueIndex
from mrag.generative.index.cursor import Restriction
from mrag.graph.kg import KnowledgeGraph
from mrag.stores.base import Limits, SelectResult

_LIMITS = Limits(seconds=300.0, rows=2_000_000, bytes=1 << 30)


def of_class(kg: KnowledgeGraph, index: ClueIndex, concept: Expression | str) -> Restriction:
    """Return the restriction to the documents of a class expression's instances.

    Args:
        kg: The knowledge graph.
        index: The index of its documents.
        concept: As for `read_concept`.

    Raises:
        ConfigError: If the expression cannot be read.
    """
    expression, _ = read_concept(kg, concept)
    return index.restriction(frozenset(instances(kg, expression)))


def of_query(kg: KnowledgeGraph, index: ClueIndex, query: str) -> Restriction:
    """Return the restriction to the documents of the entities that a SPARQL query gives.

    Args:
        kg: The knowledge graph.
        index: The index of its documents.
        query: A SELECT query, guarded and bounded; the entities are in its first variable.

    Raises:
        ConfigError: If it is no SELECT query.
        QueryRefused: If it may not be asked.
        QueryTimeout: If it takes longer than five minutes.
    """
    result = kg.query(query, limits=_LIMITS)
    if not isinstance(result, SelectResult):
        raise ConfigError("A mask is a SELECT query.", query=query, hint="Select the entities as ?x.")
    return index.restriction(frozenset(str(row[0]) for row in result if isinstance(row[0], URIRef)))


def read_concept(kg: KnowledgeGraph, concept: Expression | str) -> tuple[Expression, str]:
    """Return a class expression and how to show it.

    Args:
        kg: The knowledge graph.
        concept: An expression; the name of a kept concept; the IRI or CURIE of a class; or an expression
            written in DL or Manchester syntax.

    Raises:
        ConfigError: If it cannot be read.
    """
    if not isinstance(concept, str):
        return concept, to_dl(concept, kg.prefixes)
    try:
        kept = find_concept(kg, concept)
    except (ConfigError, TermError):
        kept = None  # no name at all
    if kept is not None:
        return kept.expression, kept.label
    if any(sign in concept for sign in " ()⊓⊔∃∀¬≥≤⊤⊥{"):
        try:
            read = from_dl(concept, kg.prefixes)
        except (ConfigError, TermError):
            read = from_manchester(concept, kg.prefixes)
        return read, to_dl(read, kg.prefixes)
    if ":" not in concept:
        raise ConfigError(
            f"There is no kept concept {concept!r}.",
            hint="Give a class as IRI or CURIE, or write an expression in DL or Manchester syntax.",
        )
    named = Named(concept_iri(kg, concept))
    return named, kg.labels([named.iri])[named.iri] or to_dl(named, kg.prefixes)
