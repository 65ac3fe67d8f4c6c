"""Kept concepts: learned hypotheses written back to the graph as named classes.

A kept concept is a class with a label, its definition, the text of its instance query, how good it was on
which counts, who learnt it and when. All of it stands in a named graph of its own among the asserted
triples, so that one call removes it. What OWL may say of it is decided in `mrag.cel.concepts.definition`.

The triples of one are in `mrag.cel.concepts.record`.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import UTC, datetime

from rdflib import RDF, URIRef

from mrag.cel.concepts.definition import definition, world_assumption
from mrag.cel.concepts.record import KeptConcept, concept_triples, read_concept
from mrag.cel.problem import Hypothesis
from mrag.cel.semantics.counting import instances
from mrag.cel.semantics.sparql import instances_query
from mrag.cel.syntax.expressions import Expression, Named, walk
from mrag.cel.syntax.normal_form import normal
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import GraphChange, TouchedEntities
from mrag.rdf import queries
from mrag.rdf.terms import Term, Triple, iri, to_ntriples

CONCEPTS = "urn:mrag:concept:"
"""Start of the IRIs of concepts that were given a plain name."""

_NAME = re.compile(r"[^\W_][\w \-]*\Z")


@dataclass(frozen=True)
class MemberDifference:
    """How the members of a kept concept differ from the instances of its query.

    Attributes:
        missing: Instances of the query that are no members.
        extra: Members that are no instances.
    """

    missing: tuple[str, ...]
    extra: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.missing or self.extra)


def keep_concept(
    kg: KnowledgeGraph,
    what: Hypothesis | Expression,
    name: str,
    *,
    label: str = "",
    comment: str = "",
    learner: str = "",
    seconds: float = 0.0,
    replacing: bool = False,
) -> KeptConcept:
    """Write a concept back to the graph as a named class.

    Keeping the same concept again changes nothing; where its members were asserted and no longer are the
    instances of its query, it is brought up to date. Reason before keeping a concept with negation, so
    that its instances are those of the whole graph; reason after keeping one without, so that they are
    found.

    Args:
        kg: The knowledge graph.
        what: A hypothesis, or an expression.
        name: A plain name, which makes an IRI below `urn:mrag:concept:`, or an IRI or CURIE.
        label: What to call it; by default the name.
        comment: The concept in words.
        learner: Name of the learner.
        seconds: How long it took to learn.
        replacing: Whether another concept of this name may be replaced.

    Returns:
        The concept as it is kept.

    Raises:
        ConfigError: If the name is in use for something else, or the store's data cannot be written.

    Example:
        >>> import mrag
        >>> kg = mrag.connect()
        >>> _ = kg.insert([Triple(URIRef("urn:x:tom"), RDF.type, URIRef("urn:x:Cat"))])
        >>> keep_concept(kg, Named("urn:x:Cat"), "pets").iri
        'urn:mrag:concept:pets'
        >>> _ = mrag.reason(kg)
        >>> kg.query("ASK { <urn:x:tom> a <urn:mrag:concept:pets> }")
        True
        >>> remove_concept(kg, "pets"), list_concepts(kg)
        (True, [])
        >>> kg.close()
    """
    hypothesis = what if isinstance(what, Hypothesis) else None
    expression = normal(what.expression if isinstance(what, Hypothesis) else what)
    concept = concept_iri(kg, name)
    before = find_concept(kg, concept)
    if before is None and kg.holds(queries.get("cel/keep-used").bind(name=[concept])):
        raise ConfigError("This name is in use for something else.", term=concept, hint="Choose another.")
    if Named(concept) in walk(expression):
        raise ConfigError("A concept cannot be defined by itself.", term=concept, hint="Choose another name.")
    same = before if before is not None and before.expression == expression else None
    if same is not None and not _stale(kg, same):
        return same
    if before is not None and same is None and not replacing:
        raise ConfigError(
            "Another concept is kept under this name.",
            term=concept,
            hint="Choose another name, or remove that concept first.",
        )
    members = instances(kg, expression) if world_assumption(expression) == "closed" else []
    if before is not None:
        _owned(kg, before)
    key = "concept-" + hashlib.blake2b(concept.encode(), digest_size=8).hexdigest()
    kg.require_writable()
    served = kg.store.capabilities.reasoning
    if not served:
        kg.collect()
    graph = kg.server_graph(key) if served else kg.new_graph()
    now = datetime.now(UTC).replace(microsecond=0)
    kept = KeptConcept(
        concept,
        label or (same.label if same else "") or name,
        comment or (same.comment if same else ""),
        expression,
        instances_query(expression),
        world_assumption(expression),
        graph,
        learner or (same.learner if same else ""),
        hypothesis or (same.hypothesis if same else None),
        now,
    )
    triples = [*concept_triples(kg.iri, kept, key, seconds), *definition(concept, expression, key)]
    triples += [Triple(URIRef(m), RDF.type, URIRef(concept)) for m in members]
    old = before.graph if before else ""
    if served and old:
        kg.store.clear(old)
    kg.store.insert(to_ntriples(triples), graph)
    if served:
        kg.recount()
    else:
        touched = None if old else TouchedEntities.of(triples)
        kg.exchange(GraphChange("concept", kept.label, touched), into=graph, out=old)
    return kept


def list_concepts(kg: KnowledgeGraph) -> list[KeptConcept]:
    """List the concepts that are kept in a graph, in order of IRI."""
    found: dict[str, dict[str, list[Term]]] = {}
    for concept, p, o in kg.select(queries.get("cel/keep-list").text, "asserted"):
        if o is not None:
            found.setdefault(str(concept), {}).setdefault(str(p), []).append(o)
    return [read_concept(concept, values) for concept, values in sorted(found.items())]


def find_concept(kg: KnowledgeGraph, name: str) -> KeptConcept | None:
    """Return the concept of a name or IRI, None if there is none."""
    concept = concept_iri(kg, name)
    return next((c for c in list_concepts(kg) if c.iri == concept), None)


def member_differences(kg: KnowledgeGraph, concept: KeptConcept) -> MemberDifference:
    """Compare the members of a kept concept with the instances of its query.

    They are the same after reasoning, until the data changes.
    """
    members = {*instances(kg, Named(concept.iri))}
    answers = {*instances(kg, concept.expression)}
    return MemberDifference(tuple(sorted(answers - members)), tuple(sorted(members - answers)))


def remove_concept(kg: KnowledgeGraph, name: str) -> bool:
    """Remove a kept concept with all that it brought, and return whether there was one.

    Inferences made since it was kept are dropped, to be inferred again.

    Raises:
        ConfigError: If the concept came with other data and has no graph of its own here.
    """
    concept = find_concept(kg, name)
    if concept is None:
        return False
    if kg.store.capabilities.reasoning:
        kg.store.clear(concept.graph)
        kg.recount()
    else:
        _owned(kg, concept)
        kg.exchange(GraphChange("concept", concept.label), out=concept.graph)
    return True


def concept_iri(kg: KnowledgeGraph, name: str) -> str:
    """Return the IRI that a name stands for.

    Raises:
        ConfigError: If it is neither a plain name nor an IRI.
    """
    if _NAME.match(name):
        return CONCEPTS + "-".join(name.split())
    if ":" not in name:
        raise ConfigError(
            f"{name!r} cannot name a concept.", hint="Use letters, digits, spaces and -, or an IRI."
        )
    return str(iri(name, kg.prefixes))


def _owned(kg: KnowledgeGraph, concept: KeptConcept) -> None:
    if not kg.store.capabilities.reasoning and concept.graph not in kg.record.asserted:
        raise ConfigError(
            "This concept came with other data and has no graph of its own here.",
            term=concept.iri,
            hint="Take it out of the file that it was loaded from.",
        )


def _stale(kg: KnowledgeGraph, concept: KeptConcept) -> bool:
    return concept.world == "closed" and bool(member_differences(kg, concept))
