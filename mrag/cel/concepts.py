"""Kept concepts: learnt hypotheses written back to the graph as named classes, exported, and used as filters.

All of a concept stands in a named graph of its own among the asserted triples, so that one call removes it.
The query of an expression takes what is not stated for false; OWL does not. Where both give the same, the
concept is defined to be equivalent to the expression. Elsewhere (negation, `∀`, `≤`, `=`, `≥ 2`, numbers by
value) it is a subclass of what OWL can say safely, and the query's instances are asserted as its members.
Provenance is of an activity without a class, since whatever has a class is an individual.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Literal as Literals
from typing import Literal as OneOfText
from typing import TypeAlias, cast

from rdflib import PROV, RDF, XSD, BNode, Graph, Literal, URIRef
from rdflib.namespace import OWL, RDFS
from rdflib.term import Node

from mrag.cel.problem import ExampleCounts, Hypothesis, Measure, instances, instances_among
from mrag.cel.sparql import by_value, condition, instances_query
from mrag.errors import ConfigError, TermError
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import GraphChange, TouchedEntities
from mrag.loaders.rdf import functional
from mrag.rdf import expressions as ce
from mrag.rdf import queries
from mrag.rdf.expressions import Expression, Named, normal, walk
from mrag.rdf.notation import from_dl, from_manchester, to_dl, to_graph, to_manchester
from mrag.rdf.patterns import var
from mrag.rdf.terms import MRAG, SKOLEM, Term, Triple, iri, to_ntriples
from mrag.retrieval.rankers import Hit, Question, Ranker

WorldAssumption: TypeAlias = OneOfText["open", "closed"]
"""`open` if reasoning finds the instances by the definition, `closed` if they are asserted."""


def world_assumption(expression: ce.Expression) -> WorldAssumption:
    """Return whether reasoning under the open world finds just the instances of the query."""
    e = normal(expression)
    return "open" if not isinstance(e, ce.Top) and all(map(_is_found_by_rules, ce.walk(e))) else "closed"


def safe_part(expression: ce.Expression) -> ce.Expression:
    """Return what OWL can say of the instances of an expression without stating what is only not stated.

    It holds at least what the expression holds.
    """
    return normal(_safe(normal(expression)))


def definition(iri: str, expression: ce.Expression, key: str) -> list[Triple]:
    """Return the triples that define a concept, in an order that depends on the expression only."""
    graph = Graph()
    is_open = world_assumption(expression) == "open"
    defining = normal(expression) if is_open else safe_part(expression)
    if isinstance(defining, ce.Top):
        return []
    root = to_graph(defining, graph)
    numbered = enumerate(_nodes(graph, root), start=1)
    names: dict[Node, URIRef] = {node: URIRef(f"{SKOLEM}{key}:{number}") for number, node in numbered}
    predicate = OWL.equivalentClass if is_open else RDFS.subClassOf
    triples = [Triple(URIRef(iri), predicate, names.get(root, root))]
    triples += [Triple(names.get(s, s), p, names.get(o, o)) for s, p, o in graph]  # type: ignore[arg-type]
    return sorted(triples)


def _is_found_by_rules(e: ce.Expression) -> bool:
    match e:
        case ce.Top() | ce.Named() | ce.Connective() | ce.Some() | ce.OneOf():
            return True
        case ce.Value(_, value):
            # A rule matches the literal as it is written, the query by its value.
            return not (isinstance(value, Literal) and by_value(value))
        case ce.DataSome(_, range):
            try:
                condition(range, var("v"))
            except ConfigError:
                return False
            return True
        case _:
            return False


def _safe(e: ce.Expression) -> ce.Expression:
    match e:
        case ce.Connective() | ce.Some():
            return ce.with_operands(e, [_safe(part) for part in ce.operands(e)])
        case ce.AtLeast(n, p, filler) | ce.Exactly(n, p, filler):
            return ce.AtLeast(n, p, _safe(filler))
        case ce.Named() | ce.OneOf() | ce.DataSome() | ce.Bottom():
            return e
        case ce.Value(_, value) if not (isinstance(value, Literal) and by_value(value)):
            return e
        case _:
            return ce.Top()


def _nodes(graph: Graph, node: Node) -> Iterator[BNode]:
    """Yield the blank nodes of a definition from its root, in an order that its shape gives."""
    if isinstance(node, BNode):
        yield node
        for _, o in sorted(graph.predicate_objects(node), key=lambda po: (str(po[0]), str(po[1]))):
            yield from _nodes(graph, o)


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
        world: `open` if reasoning finds its instances by its definition; `closed` if the instances of
            its query were asserted as its members.
        graph: IRI of the named graph that holds it.
        learner: Name of the learner; empty if it was written by hand.
        hypothesis: Quality and counts on the examples that it was learnt from, None if there were none.
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
    """Yield the triples of a concept beside its definition."""
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
    """Return the concept that these properties and values describe."""

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


_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_ontology(
    kg: KnowledgeGraph,
    concepts: Iterable[KeptConcept],
    format: Literals["turtle", "rdfxml", "functional"] = "turtle",
) -> str:
    """Write kept concepts as an ontology, with what OWL 2 DL wants declared.

    The classes, properties and individuals that they speak of are declared, their data is not repeated.
    Asserted members of concepts whose world is closed are in it. RDF/XML is for readers without Turtle;
    OWL's functional syntax needs the extra `owl`.

    Raises:
        ConfigError: If a text has a character that XML 1.0 has not, or py-horned-owl is not installed.

    Source:
        OWL 2 Structural Specification, section 5.8 (declarations).

    Example:
        >>> import mrag
        >>> kg = mrag.connect()
        >>> _ = kg.insert([Triple(URIRef("urn:x:tom"), RDF.type, URIRef("urn:x:Cat"))])
        >>> text = to_ontology(kg, [keep_concept(kg, ce.Named("urn:x:Cat"), "pets")])
        >>> "owl:equivalentClass <urn:x:Cat>" in text, "a owl:Ontology" in text
        (True, True)
        >>> kg.close()
    """
    graph = Graph()
    for prefix in ("mrag", "prov"):
        graph.bind(prefix, kg.prefixes[prefix])
    graph.add((URIRef(f"{kg.iri}:concepts"), RDF.type, OWL.Ontology))
    for concept in concepts:
        c = URIRef(concept.iri)
        graph.add((c, RDF.type, OWL.Class))
        defining = concept.expression if concept.world == "open" else safe_part(concept.expression)
        if not isinstance(defining, ce.Top):
            predicate = OWL.equivalentClass if concept.world == "open" else RDFS.subClassOf
            graph.add((c, predicate, to_graph(defining, graph)))
            _declare(graph, defining)
        if concept.world == "closed":
            for member in instances(kg, ce.Named(concept.iri)):
                graph.add((URIRef(member), RDF.type, OWL.NamedIndividual))
                graph.add((URIRef(member), RDF.type, c))
        for p, value in concept_annotations(concept):
            graph.add((p, RDF.type, OWL.AnnotationProperty))
            graph.add((c, p, value))
        graph.add((c, RDFS.label, Literal(concept.label)))
        if concept.comment:
            graph.add((c, RDFS.comment, Literal(concept.comment)))
    if format != "turtle" and (bad := [str(o) for o in graph.objects() if _NOT_XML.search(str(o))]):
        hint = "Use the format turtle."
        raise ConfigError("Only Turtle can hold a control character.", term=min(bad), hint=hint)
    text = graph.serialize(format="turtle" if format == "turtle" else "xml").strip() + "\n"
    return functional(text).strip() + "\n" if format == "functional" else text


def _declare(graph: Graph, expression: ce.Expression) -> None:
    def declare(name: str, kind: URIRef) -> None:
        graph.add((URIRef(name), RDF.type, kind))

    def role(p: ce.Property, data: bool) -> None:
        declare(p.iri, OWL.DatatypeProperty if data else OWL.ObjectProperty)

    for e in ce.walk(expression):
        match e:
            case ce.Named(name) if name != str(OWL.NamedIndividual):
                declare(name, OWL.Class)
            case ce.OneOf(members):
                for member in members:
                    declare(member, OWL.NamedIndividual)
            case ce.Value(p, value):
                role(p, isinstance(value, Literal))
                if not isinstance(value, Literal):
                    declare(value, OWL.NamedIndividual)
            case ce.DataRestriction(p, range):
                role(p, True)
                if not range.datatype.startswith(str(XSD)):
                    declare(range.datatype, RDFS.Datatype)
            case ce.Quantifier() | ce.Cardinality():
                role(e.property, False)
            case _:
                pass


CONCEPTS = "urn:mrag:concept:"  # start of the IRIs of concepts that were given a plain name
_NAME = re.compile(r"[^\W_][\w \-]*\Z")


@dataclass(frozen=True)
class MemberDifference:
    """How the members of a kept concept differ from the instances of its query."""

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
    instances of its query, it is brought up to date. Reason before keeping a concept with negation, so that
    its instances are those of the whole graph; reason after keeping one without, so that they are found. A
    plain name makes an IRI below `urn:mrag:concept:`, and is the label as well if none is given; an IRI or
    CURIE is taken as it is.

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
    if same is not None and not (same.world == "closed" and member_differences(kg, same)):
        return same
    if before is not None and same is None and not replacing:
        hint = "Choose another name, or remove that concept first."
        raise ConfigError("Another concept is kept under this name.", term=concept, hint=hint)
    members = instances(kg, expression) if world_assumption(expression) == "closed" else []
    if before is not None:
        _own(kg, before)
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
    rows: dict[str, dict[str, list[Term]]] = {}
    for concept, p, o in kg.select(queries.get("cel/keep-list").text, "asserted"):
        if o is not None:
            rows.setdefault(str(concept), {}).setdefault(str(p), []).append(o)
    return [read_concept(concept, values) for concept, values in sorted(rows.items())]


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
        _own(kg, concept)
        kg.exchange(GraphChange("concept", concept.label), out=concept.graph)
    return True


def concept_iri(kg: KnowledgeGraph, name: str) -> str:
    """Return the IRI that a name stands for."""
    if _NAME.match(name):
        return CONCEPTS + "-".join(name.split())
    if ":" not in name:
        hint = "Use letters, digits, spaces and -, or an IRI."
        raise ConfigError(f"{name!r} cannot name a concept.", hint=hint)
    return str(iri(name, kg.prefixes))


def _own(kg: KnowledgeGraph, concept: KeptConcept) -> None:
    if not kg.store.capabilities.reasoning and concept.graph not in kg.record.asserted:
        what = "This concept came with other data and has no graph of its own here."
        raise ConfigError(what, term=concept.iri, hint="Take it out of the file that it was loaded from.")


@dataclass
class ClassFilter:
    """Keeps the hits of a ranker that are in a class, in their order.

    Args:
        ranker: Whose hits are filtered.
        kg: The knowledge graph.
        concept: A class expression, one in DL or Manchester syntax, or the name, IRI or CURIE of a kept
            concept or of any class. A kept concept is asked by its query, so that it is up to date without
            reasoning.
        depth: How deep the ranking is read at first; it is read deeper until there are enough hits.

    Raises:
        ConfigError: If `depth` is not positive.
    """

    ranker: Ranker
    kg: KnowledgeGraph
    concept: Expression | str
    depth: int = 100

    def __post_init__(self) -> None:
        if self.depth < 1:
            raise ConfigError("depth is positive.")

    def rank(self, question: Question, k: int) -> list[Hit]:
        """Return at most `k` hits, best first, each with the class among its reasons."""
        expression, name = concept_of(self.kg, self.concept)
        depth = max(k, self.depth)
        while True:
            hits = self.ranker.rank(question, depth)
            inside = instances_among(self.kg, expression, [h.iri for h in hits])
            members = [h for h in hits if h.iri in inside][:k]
            if len(members) == k or len(hits) < depth:
                reason = f"Is in {name}"
                return [
                    replace(h, rank=rank, reasons=(*h.reasons, reason))
                    for rank, h in enumerate(members, start=1)
                ]
            depth *= 4


def concept_of(kg: KnowledgeGraph, concept: Expression | str) -> tuple[Expression, str]:
    """Return a class expression and how to show it."""
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
        hint = "Give a class as IRI or CURIE, or write an expression in DL or Manchester syntax."
        raise ConfigError(f"There is no kept concept {concept!r}.", hint=hint)
    named = Named(concept_iri(kg, concept))
    return named, kg.labels([named.iri])[named.iri] or to_dl(named, kg.prefixes)
