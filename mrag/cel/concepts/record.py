"""The description of a kept concept as triples.

Provenance is given for the class itself and of an activity without a class: whatever has a class is an
individual, and a concept must not add individuals to the graph that it describes. For the same reason the
examples are counted and not linked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import cast

from rdflib import OWL, PROV, RDF, RDFS, XSD, Literal, URIRef

from mrag.cel.concepts.definition import WorldAssumption
from mrag.cel.problem import ExampleCounts, Hypothesis, Measure
from mrag.cel.semantics.sparql import instances_query
from mrag.cel.syntax.expressions import Expression
from mrag.cel.syntax.normal_form import normal
from mrag.cel.syntax.parsing import from_manchester
from mrag.cel.syntax.printing import to_manchester
from mrag.rdf.terms import MRAG, SKOLEM, Term, Triple

_EXPRESSION = URIRef(MRAG + "classExpression")
_QUERY = URIRef(MRAG + "instanceQuery")
_WORLD = URIRef(MRAG + "worldAssumption")
_LEARNER = URIRef(MRAG + "learner")
_QUALITY = URIRef(MRAG + "quality")
_MEASURE = URIRef(MRAG + "qualityMeasure")
_COUNTS = tuple(
    URIRef(MRAG + name) for name in ("positivesHeld", "negativesHeld", "positiveExamples", "negativeExamples")
)

_DATATYPES = {
    _QUERY: URIRef(MRAG + "sparql"), _WORLD: XSD.token, _LEARNER: XSD.token, _MEASURE: XSD.token,
}  # fmt: skip
"""Datatypes of their own keep these texts out of similarity indexes."""


@dataclass(frozen=True)
class KeptConcept:
    """A concept that was kept.

    Attributes:
        iri: IRI of the class.
        label: Its name.
        comment: The concept in words; may be empty.
        expression: Its expression, in normal form.
        query: Its instance query.
        world: `open` if reasoning finds its instances by its definition; `closed` if the instances of
            its query were asserted as its members.
        graph: IRI of the named graph that holds it.
        learner: Name of the learner; empty if it was written by hand.
        hypothesis: Quality and counts on the examples that it was learnt from, None if there were none.
        kept: When it was kept.
    """

    iri: str
    label: str
    comment: str
    expression: Expression
    query: str
    world: WorldAssumption
    graph: str
    learner: str
    hypothesis: Hypothesis | None
    kept: datetime


def concept_triples(source: str, concept: KeptConcept, key: str, seconds: float) -> Iterator[Triple]:
    """Yield the triples of a concept beside its definition.

    Args:
        source: IRI of the knowledge graph that it was learnt from.
        concept: The concept.
        key: Goes into the name of the activity.
        seconds: How long it took to learn.
    """
    c, activity = URIRef(concept.iri), URIRef(f"{SKOLEM}{key}:activity")
    full = to_manchester(concept.expression, name=lambda name: f"<{name}>")
    yield Triple(c, RDF.type, OWL.Class)
    yield Triple(c, RDFS.label, Literal(concept.label))
    if concept.comment:
        yield Triple(c, RDFS.comment, Literal(concept.comment))
    yield Triple(c, RDFS.isDefinedBy, URIRef(concept.graph))
    yield Triple(c, _EXPRESSION, Literal(full, datatype=URIRef(MRAG + "manchester")))
    for p, value in concept_annotations(concept):
        datatype = _DATATYPES.get(p)
        yield Triple(c, p, value if datatype is None else Literal(str(value), datatype=datatype))
    yield Triple(c, PROV.wasGeneratedBy, activity)
    yield Triple(activity, PROV.used, URIRef(source))
    yield Triple(activity, PROV.startedAtTime, Literal(concept.kept - timedelta(seconds=round(seconds))))
    yield Triple(activity, PROV.endedAtTime, Literal(concept.kept))


def concept_annotations(concept: KeptConcept) -> Iterator[tuple[URIRef, Literal]]:
    """Yield what is recorded of a concept beside its names, as properties and plain values."""
    yield _QUERY, Literal(concept.query)
    yield _WORLD, Literal(concept.world)
    yield PROV.generatedAtTime, Literal(concept.kept)
    if concept.learner:
        yield _LEARNER, Literal(concept.learner)
    if concept.hypothesis is not None:
        h = concept.hypothesis
        yield _QUALITY, Literal(float(h.quality))
        yield _MEASURE, Literal(h.measure)
        numbers = (h.counts.tp, h.counts.fp, h.counts.positives, h.counts.negatives)
        yield from zip(_COUNTS, map(Literal, numbers), strict=True)


def read_concept(concept: str, values: Mapping[str, Sequence[Term]]) -> KeptConcept:
    """Return the concept that these properties and values describe.

    Raises:
        ConfigError: If its expression cannot be read.
    """

    def one(p: URIRef, default: str = "") -> str:
        return str(values.get(str(p), [default])[0])

    expression = normal(from_manchester(one(_EXPRESSION)))
    hypothesis = None
    if str(_QUALITY) in values:
        tp, fp, positives, negatives = (int(float(one(p, "0"))) for p in _COUNTS)
        hypothesis = Hypothesis(
            expression,
            float(one(_QUALITY)),
            ExampleCounts(tp, fp, positives, negatives),
            cast(Measure, one(_MEASURE, "f1")),
        )
    return KeptConcept(
        concept,
        one(RDFS.label, concept),
        one(RDFS.comment),
        expression,
        instances_query(expression),
        "closed" if one(_WORLD) == "closed" else "open",
        one(RDFS.isDefinedBy),
        one(_LEARNER),
        hypothesis,
        datetime.fromisoformat(one(PROV.generatedAtTime, "1970-01-01T00:00:00+00:00")),
    )
