"""Runs of statements to be written back, and what each must pass: the schema, the facts, ontology and shapes.

SHACL shapes need pySHACL (extra `completion`). Of a large graph they check only the part that the statements
touch: the entities that they speak of with their triples, and the classes above those. What the shapes find
fault with there before is no fault of theirs.
"""

from __future__ import annotations

import hashlib
import json
import typing
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, cast

import rdflib
from rdflib import SH, BNode, Graph, Literal, URIRef

from mrag.errors import ConfigError, LoadError, TermError
from mrag.generation.result import EvidenceRef
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf import queries
from mrag.rdf.terms import (
    MRAG,
    OWL,
    RDF,
    RDFS,
    SKOLEM,
    XSD,
    Term,
    Triple,
    curie,
    ntriples_terms,
    to_ntriples,
    to_ox,
)
from mrag.reasoning.rounds import Clash, Closure, extend, materialise
from mrag.redaction import brief
from mrag.stores.base import Dataset, Row


@dataclass(frozen=True)
class CheckSettings:
    """The settings of the checks.

    Attributes:
        min_confidence: Below it a statement is refused.
        functional: IRIs of properties that have one value at most, beside those that the ontology says so of.
        closed_types: Whether an entity whose classes are known must be of a property's domain or range, or of
            a class above it; without, only classes that are disjoint are refused.
        consistency: Whether to reason over the graph with the statements in it, in a scratch graph; what
            leads to a contradiction, or makes two entities the same, is refused.
        shapes: A file of SHACL shapes that must hold where the statements touch (extra `completion`).
        shape_texts: Further shapes, in Turtle; a run keeps its shapes so, since a file may change or go.
    """

    min_confidence: float = 0.5
    functional: tuple[str, ...] = ()
    closed_types: bool = True
    consistency: bool = True
    shapes: Path | None = None
    shape_texts: tuple[str, ...] = ()

    def frozen(self) -> CheckSettings:
        """Return the settings with the shapes of the file as a text.

        Raises:
            ConfigError: If pySHACL is not installed.
            LoadError: If the shapes cannot be read.
        """
        if self.shapes is None:
            return self

        text = read_shapes(self.shapes).serialize(format="turtle")
        return replace(self, shapes=None, shape_texts=tuple(dict.fromkeys((*self.shape_texts, text))))

    def with_those_of(self, other: CheckSettings | None) -> CheckSettings:
        """Return settings under which what either refuses is refused.

        Example:
            >>> both = CheckSettings(0.7, ("urn:p",)).with_those_of(CheckSettings(0.5, ("urn:q",)))
            >>> both.min_confidence, both.functional
            (0.7, ('urn:p', 'urn:q'))
        """
        if other is None:
            return self
        further = other.frozen()
        return CheckSettings(
            max(self.min_confidence, further.min_confidence),
            tuple(sorted({*self.functional, *further.functional})),
            self.closed_types or further.closed_types,
            self.consistency or further.consistency,
            self.shapes,
            tuple(dict.fromkeys((*self.shape_texts, *further.shape_texts))),
        )


def written(checks: CheckSettings) -> str:
    """Return settings as a run's description has them, in JSON."""
    values = {f.name: getattr(checks, f.name) for f in fields(checks) if f.name != "shapes"}
    return json.dumps(values, sort_keys=True)


def read(text: str) -> CheckSettings:
    """Return the settings of a run's description; the default of a run that has none."""
    values: dict[str, Any] = json.loads(text) if text else {}
    for name in ("functional", "shape_texts"):
        values[name] = tuple(values.get(name, ()))
    return CheckSettings(**values)


State = typing.Literal["proposed", "accepted", "rejected", "rolled back"]
"""Where a run stands: only what was accepted, and not rolled back, is in the graph."""

Verdict = typing.Literal["fits", "known", "refused"]
"""What the checks say of a statement: it may be written, it is in the graph already, or it may not."""


@dataclass(frozen=True)
class Statement:
    """One triple of a run.

    Attributes:
        subject: Its subject.
        predicate: Its predicate, a property of the graph.
        object: Its object.
        confidence: From 0 to 1.
        evidence: What it was read in.
        verdict: What the checks say.
        objections: Why it is refused, in words.
        iri: What the description of its run calls it; empty before it is kept.
    """

    subject: Term
    predicate: Term
    object: Term
    confidence: float = 1.0
    evidence: tuple[EvidenceRef, ...] = ()
    verdict: Verdict = "fits"
    objections: tuple[str, ...] = ()
    iri: str = field(default="", compare=False)

    @property
    def triple(self) -> Triple:
        """Return the triple alone."""
        return Triple(cast(URIRef, self.subject), cast(URIRef, self.predicate), self.object)

    @property
    def key(self) -> tuple[str, str, str]:
        """Return what statements are sorted by."""
        s, p, o = ntriples_terms(self.triple)
        return s, p, o


@dataclass(frozen=True)
class CompletionRun:
    """What was read for one question.

    Attributes:
        iri: IRI of the run; it follows from question, model and statements, so that the same comes once.
        question: The question.
        state: Where the run stands.
        model: Name of what read the evidence.
        started: When it was proposed, in UTC, as xsd:dateTime writes it.
        decided: When it was accepted, rejected or rolled back; empty before.
        statements: Its statements, sorted. What was written when the run was accepted are those that fit.
        checks: What its statements were checked under, and will be when it is accepted.
        graph: Where its triples go, on a server to which acceptance takes several requests; else empty.
    """

    iri: str
    question: str
    state: State
    model: str
    started: str
    decided: str = ""
    statements: tuple[Statement, ...] = field(default=())
    checks: CheckSettings = field(default_factory=CheckSettings)
    graph: str = field(default="", compare=False)

    @property
    def id(self) -> str:
        """Return the short name by which a person calls the run."""
        return self.iri.removeprefix("urn:mrag:run:")[:12]

    @property
    def fitting(self) -> tuple[Statement, ...]:
        """Return the statements that may be written."""
        return tuple(s for s in self.statements if s.verdict == "fits")

    @property
    def refused(self) -> tuple[Statement, ...]:
        """Return the statements that may not be written."""
        return tuple(s for s in self.statements if s.verdict == "refused")

    def to_json(self) -> dict[str, Any]:
        """Return the run as JSON values; terms as N-Triples writes them."""
        return {
            "run": self.iri,
            "id": self.id,
            "question": self.question,
            "state": self.state,
            "model": self.model,
            "started": self.started,
            "decided": self.decided,
            "checks": {
                "min_confidence": self.checks.min_confidence,
                "functional": list(self.checks.functional),
                "closed_types": self.checks.closed_types,
                "consistency": self.checks.consistency,
                "shapes": len(self.checks.shape_texts),
            },
            "statements": [
                {
                    **dict(zip(("subject", "predicate", "object"), s.key, strict=True)),
                    "confidence": s.confidence,
                    "verdict": s.verdict,
                    "objections": list(s.objections),
                    "evidence": [asdict(e) for e in s.evidence],
                }
                for s in self.statements
            ],
        }


def new_run(
    question: str, model: str, statements: Iterable[Statement], checks: CheckSettings | None = None
) -> CompletionRun:
    """Return a proposed run; its IRI follows from what it says, its time and its checks apart."""
    ordered = tuple(sorted(dict.fromkeys(statements), key=lambda s: s.key))
    parts = [question, model]
    for one in ordered:
        parts += [*one.key, *(f"{e.iri} {e.quote}" for e in one.evidence)]
    if any("\n" in part for part in parts):
        # Joined by line feeds alone, a quote with line feeds could pass for the statements of another run.
        parts = ["", json.dumps(parts)]
    return CompletionRun(
        "urn:mrag:run:" + digest(*parts), question, "proposed", model, now(), "", ordered,
        checks or CheckSettings(),
    )  # fmt: skip


def now() -> str:
    """Return the present time in UTC, as xsd:dateTime writes it, to two microseconds."""
    time = datetime.now(UTC)
    # Stores drop zeros at the end; an odd last digit keeps all times of one length, and so in order as text.
    return time.replace(microsecond=time.microsecond | 1).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def digest(*parts: str) -> str:
    """Return the SHA-256 of some texts, in hexadecimal."""
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


_SAME: Final = URIRef(OWL + "sameAs")
Key = tuple[str, str, str]


def contradictions(kg: KnowledgeGraph, statements: Sequence[Statement]) -> dict[Key, str]:
    """Return why some statements cannot join the graph, by what they are sorted by.

    All are tried at once; where that leads to a contradiction they are tried one after the other, the most
    confident first, and those stay that go with the graph and with what was kept before them.
    """
    if kg.store.capabilities.reasoning or kg.as_found or not statements:
        return {}
    before: set[Clash] | None = None
    _, clashes, same = _tried(kg, statements)
    if not clashes and not same:
        return {}
    if clashes:
        # What the graph contradicted before is no fault of what is new.
        _, old, _ = _tried(kg, ())
        before = set(old)
        if not same and not set(clashes) - before:
            return {}
    kept: list[Statement] = []
    faults: dict[Key, str] = {}
    for one in sorted(statements, key=lambda s: (-s.confidence, s.key)):
        _, clashes, same = _tried(kg, [*kept, one])
        fresh = [c for c in clashes if c not in (before or ())]
        if fresh:
            faults[one.key] = "it would contradict the ontology: " + fresh[0].axiom
        elif same:
            pair = " and ".join(_name(kg, term) for term in (same[0].s, same[0].o))
            faults[one.key] = f"it would make {pair} the same"
        else:
            kept.append(one)
    return faults


@dataclass(frozen=True)
class Consequences:
    """What would be inferred with some statements in the graph, and is not inferred without them."""

    triples: tuple[Triple, ...]
    number: int


def consequences(
    kg: KnowledgeGraph, statements: Sequence[Statement], limit: int = 200
) -> Consequences | None:
    """Return what would follow if some statements came into the graph; nothing of it stays there."""
    if kg.store.capabilities.reasoning or kg.as_found or not kg.reasoned:
        return None
    found = [Consequences((), 0)]

    def look(graphs: Sequence[str]) -> None:
        number = sum(kg.store.count(graph) for graph in graphs)
        rows = kg.store.select(queries.get("completion/following").bind(limit=limit), Dataset(tuple(graphs)))
        found.append(Consequences(tuple(Triple(*row) for row in rows), number))  # type: ignore[arg-type]

    if statements:
        _tried(kg, statements, look)
    return found[-1]


def _tried(
    kg: KnowledgeGraph,
    statements: Sequence[Statement],
    look: Callable[[Sequence[str]], None] = lambda graphs: None,
) -> tuple[Closure, tuple[Clash, ...], list[Triple]]:
    """Reason over the graph with some statements in it; return the contradictions and new equalities."""
    store, record = kg.store, kg.record
    trial = f"{kg.iri}:trial:{record.revision + 1}"
    try:
        if statements:
            store.insert(to_ntriples(one.triple for one in statements), trial)
        asserted = kg.dataset("asserted")
        if kg.reasoned and statements:
            closure = extend(
                store,
                asserted,
                (*record.inferred, *record.apart),
                trial,
                f"{trial}:from",
                on_inconsistency="report",
            )
        else:
            whole = Dataset((*asserted.default, *((trial,) if statements else ())))
            closure = materialise(store, whole, f"{trial}:from", on_inconsistency="report")
        fresh = [g for g in closure.graphs if g not in record.inferred]
        same = _equalities(kg, fresh, statements)
        if fresh:
            look(fresh)
        return closure, closure.clashes, same
    finally:
        for graph in store.graphs():
            if graph.startswith(f"{kg.iri}:trial:"):
                store.clear(graph)


def _equalities(kg: KnowledgeGraph, graphs: Sequence[str], statements: Sequence[Statement]) -> list[Triple]:
    """Return the equalities of entities that some graphs of inferred triples hold and the graph does not."""
    entities = sorted({t for one in statements for t in (one.subject, one.object) if isinstance(t, URIRef)})
    if not graphs or not entities:
        return []
    text = queries.get("completion/check-values").bind(subject_predicate=[(e, _SAME) for e in entities])
    found = [
        Triple(s, _SAME, o)
        for s, _, o in kg.store.select(text, Dataset(tuple(graphs)))
        if isinstance(s, URIRef) and isinstance(o, URIRef) and s != o
    ]
    ask = queries.get("context/holds")
    return [t for t in found if not kg.holds(ask.bind(s_p_o=[tuple(t)]))]


def _name(kg: KnowledgeGraph, term: object) -> str:
    iri = str(term)
    return kg.labels([iri])[iri] or iri


SCHEMA: Final = (RDF, RDFS, OWL, MRAG, "http://www.w3.org/ns/shacl#", "http://www.w3.org/ns/prov#")
"""Vocabularies whose properties speak of the schema, of shapes or of provenance, not of the world."""

_TYPE: Final = RDF + "type"
ANYTHING: Final = frozenset((OWL + "Thing", RDFS + "Resource", OWL + "NamedIndividual"))
"""Classes that say nothing of what is in them."""

_INHERITED: Final = frozenset(
    OWL + kind
    for kind in ("FunctionalProperty", "InverseFunctionalProperty", "ObjectProperty", "DatatypeProperty")
)
"""Kinds that hold for a property where they hold for one above it."""


class SchemaFacts:
    """The part of a schema that bears on some statements."""

    def __init__(self, kg: KnowledgeGraph) -> None:
        self.kg = kg
        self.kinds: defaultdict[str, set[str]] = defaultdict(set)
        self.domains: defaultdict[str, set[str]] = defaultdict(set)
        self.ranges: defaultdict[str, set[str]] = defaultdict(set)
        self.types: defaultdict[str, set[str]] = defaultdict(set)
        self.higher: defaultdict[str, set[str]] = defaultdict(set)
        self.disjoint: defaultdict[str, set[str]] = defaultdict(set)
        self.terms: dict[str, str] = {}

    def read(self, statements: Sequence[Statement]) -> None:
        """Read what bears on some statements."""
        self.read_properties(sorted({str(one.predicate) for one in statements} - {_TYPE}))
        entities = {str(t) for one in statements for t in (one.subject, one.object) if isinstance(t, URIRef)}
        self.read_types(sorted(entities))
        for term, kind in self.rows("completion/check-schema", "term", sorted(entities)):
            self.terms.setdefault(str(term), curie(str(kind)))
        self.read_classes(str(one.object) for one in statements if str(one.predicate) == _TYPE)

    def read_properties(self, properties: Sequence[str]) -> None:
        """Read kinds, domains and ranges of properties, and what they inherit from those above them."""
        into = {_TYPE: self.kinds, RDFS + "domain": self.domains, RDFS + "range": self.ranges}
        over = self.read_above(properties)
        every = sorted({high for highs in over.values() for high in highs})
        for p, about, value in self.rows("completion/check-properties", "property", every):
            for low in properties:
                inherited = str(about) != _TYPE or str(value) in _INHERITED
                if str(p) == low or (inherited and str(p) in over[low]):
                    into[str(about)][low].add(str(value))

    def read_above(self, lower: Iterable[str]) -> dict[str, set[str]]:
        """Return what stands above some classes or properties, however far, themselves included."""
        starts = list(dict.fromkeys(lower))
        direct: defaultdict[str, set[str]] = defaultdict(set)
        new, seen = starts, set(starts)
        while new:
            for low, high in self.rows("completion/check-above", "lower", sorted(new)):
                direct[str(low)].add(str(high))
            new = [high for low in new for high in sorted(direct[low]) if high not in seen]
            new = list(dict.fromkeys(new))
            seen.update(new)
        found: dict[str, set[str]] = {}
        for start in starts:
            reached, left = {start}, [start]
            while left:
                left = [h for low in left for h in sorted(direct[low]) if h not in reached]
                reached.update(left)
            found[start] = reached
        return found

    def read_types(self, entities: Sequence[str]) -> None:
        """Read the classes of entities."""
        for entity, kind in self.rows("completion/check-types", "entity", entities):
            self.types[str(entity)].add(str(kind))

    def read_classes(self, more: Iterable[str] = ()) -> None:
        """Read what stands above the classes found so far and some more, and what is disjoint with them."""
        groups = (self.types, self.domains, self.ranges)
        classes = {c for group in groups for names in group.values() for c in names} | set(more)
        named = sorted(c for c in classes if not c.startswith((XSD, RDF)) and c not in self.higher)
        self.higher.update(self.read_above(named))
        every = {c for names in self.higher.values() for c in names} | set(named)
        for one, other in self.rows("completion/check-disjoint", "class", sorted(every)):
            self.disjoint[str(one)].add(str(other))

    def above(self, classes: Iterable[str]) -> set[str]:
        """Return some classes with all those above them."""
        return {high for low in classes for high in (low, *self.higher.get(low, ()))}

    def narrowest(self, entity: str) -> set[str]:
        """Return the classes of an entity that are above none of its others."""
        types = {c for c in self.types[entity] if not c.startswith(SKOLEM)}
        wider = {high for low in types for high in self.higher.get(low, ()) if high != low}
        return types - wider - {OWL + "Thing", OWL + "NamedIndividual", RDFS + "Resource"} or types

    def foreign(self, entity: str, wanted: Iterable[str]) -> list[str]:
        """Return which of some classes an entity that has others is none of, in order.

        An entity of no known class may be of any, and one that is known by a wider class only may well be of
        the narrower one.
        """
        have = self.above(self.types[entity]) - ANYTHING
        classes = {c for c in wanted if not c.startswith(SKOLEM)} - ANYTHING - have
        return [c for c in sorted(classes) if have and not have & self.above({c})]

    def used(self, predicate: str, literal: bool | None) -> bool:
        """Return whether the graph has a triple of a property whose value is a literal, or an entity."""
        kept = cast(dict[tuple[str, bool], bool], self.kg.cache.setdefault("completion used", {}))
        query = queries.get("completion/check-predicate")
        for kind in (True, False) if literal is None else (literal,):
            if (predicate, kind) not in kept:
                row = (URIRef(predicate), Literal(kind))
                kept[predicate, kind] = self.kg.holds(query.bind(property_literal=[row]))
            if kept[predicate, kind]:
                return True
        return False

    def rows(self, name: str, parameter: str, values: Sequence[object]) -> Iterable[Row]:
        """Yield the rows of a query of the catalogue for many values of its parameter, some at a time."""
        for text in queries.get(name).batches(parameter, values, 200):
            yield from self.kg.select(text)


_LABEL: Final = RDFS + "label"
_TEXT: Final = frozenset((XSD + "string", RDFS + "Literal", RDF + "PlainLiteral", RDF + "langString"))
_WIDER: Final = {
    XSD + "integer": (XSD + "decimal",),
    XSD + "int": (XSD + "integer", XSD + "long", XSD + "decimal"),
    XSD + "nonNegativeInteger": (XSD + "integer", XSD + "decimal"),
    XSD + "positiveInteger": (XSD + "nonNegativeInteger", XSD + "integer", XSD + "decimal"),
}
_BATCH: Final = 200


def check(
    kg: KnowledgeGraph,
    statements: Iterable[Statement],
    settings: CheckSettings | None = None,
    *,
    new: Iterable[str] = (),
) -> list[Statement]:
    """Return statements with their verdicts: to be written, known, or refused and why.

    Args:
        kg: The knowledge graph.
        statements: The statements; what was said of them before is forgotten.
        settings: The settings.
        new: IRIs that were made for entities of these statements; they alone may be given a label.

    Returns:
        The statements with their verdicts, sorted.

    Raises:
        ConfigError: If shapes are to be checked and cannot be.

    Example:
        >>> import mrag
        >>> from mrag.generation.result import EvidenceRef
        >>> from mrag.rdf.terms import Triple
        >>> kg = mrag.connect()
        >>> e = "http://example.org/"
        >>> _ = kg.insert([Triple(URIRef(e + "bornIn"), URIRef(_TYPE), URIRef(OWL + "FunctionalProperty")),
        ...                Triple(URIRef(e + "ada"), URIRef(e + "bornIn"), URIRef(e + "london"))])
        >>> read = EvidenceRef("urn:x:page", "Ada was born in Paris.", "passage", "a.txt")
        >>> paris = Statement(URIRef(e + "ada"), URIRef(e + "bornIn"), URIRef(e + "paris"), 0.9, (read,))
        >>> [one] = check(kg, [paris])
        >>> one.verdict, one.objections
        ('refused', ('<http://example.org/bornIn> has one value only, and it is <http://example.org/london>',))
        >>> kg.close()
    """
    settings = settings or CheckSettings()
    known_new = frozenset(new)
    best: dict[tuple[str, str, str], Statement] = {}
    for one in statements:
        bare = replace(one, verdict="fits", objections=())
        known = best.get(one.key)
        if known is None:
            best[one.key] = bare
        else:
            refs = tuple(dict.fromkeys((*known.evidence, *bare.evidence)))
            best[one.key] = replace(known, confidence=max(known.confidence, bare.confidence), evidence=refs)
    found = _Checks(kg, settings, known_new)
    done = found.run([best[key] for key in sorted(best)])
    if settings.shapes is not None or settings.shape_texts:
        shapes = all_shapes(settings.shapes, settings.shape_texts)
        done = _without(done, lambda fit: violations(kg, fit, shapes))
    if settings.consistency:
        done = _without(done, lambda fit: contradictions(kg, fit))
    return done


class _Checks:
    def __init__(self, kg: KnowledgeGraph, settings: CheckSettings, new: frozenset[str]) -> None:
        self.kg = kg
        self.settings = settings
        self.new = new
        self.schema = SchemaFacts(kg)

    def run(self, statements: Sequence[Statement]) -> list[Statement]:
        formed = [self._formed(one) for one in statements]
        usable = [one for one in formed if one.verdict == "fits"]
        self.schema.read(usable)
        known = self._known(usable)
        done: list[Statement] = []
        for one in formed:
            if one.verdict == "fits" and one.key in known:
                one = replace(one, verdict="known")
            elif one.verdict == "fits" and (why := tuple(self._objections(one))):
                one = refused(one, *why)
            done.append(one)
        return self._single(done)

    # -- one by one --------------------------------------------------------------------------------

    def _formed(self, one: Statement) -> Statement:
        """Refuse what RDF does not allow, what has no evidence, and what speaks of the schema."""
        try:
            for term in (one.subject, one.predicate, one.object):
                to_ox(term)
        except TermError as error:
            return refused(one, f"it is not well formed: {error.message}")
        if not isinstance(one.subject, URIRef) or isinstance(one.object, BNode):
            return refused(one, "its subject is an IRI, and its object is an IRI or a literal")
        if isinstance(one.object, Literal) and one.object.ill_typed:
            return refused(one, f"{one.object.n3()} is no value of its datatype")
        predicate = str(one.predicate)
        labels_new = predicate == _LABEL and str(one.subject) in self.new
        if predicate.startswith(SCHEMA) and predicate != _TYPE and not labels_new:
            return refused(one, f"{self._name(predicate)} speaks of the schema, which no text may change")
        if predicate == _TYPE and str(one.object).startswith(SCHEMA):
            return refused(one, f"to be {self._name(one.object)} is a matter of the schema, not of texts")
        if not one.evidence:
            return refused(one, "there is no evidence for it")
        if one.confidence < self.settings.min_confidence:
            least = self.settings.min_confidence
            return refused(one, f"its confidence {one.confidence:.2f} is below {least:.2f}")
        return one

    def _objections(self, one: Statement) -> Iterable[str]:
        s, p, o = str(one.subject), str(one.predicate), one.object
        schema, kinds = self.schema, self.schema.kinds[p]
        for term in (one.subject, o):
            if isinstance(term, URIRef) and (kind := schema.terms.get(str(term))) and p != _TYPE:
                yield f"{self._name(term)} is no individual but belongs to the schema ({kind})"
        if p == _LABEL and s in self.new:
            return
        if p != _TYPE and not kinds and not self.schema.used(p, None):
            yield f"{self._name(p)} is no property of this graph"
            return
        literal = isinstance(o, Literal)
        if OWL + "ObjectProperty" in kinds and literal:
            yield f"{self._name(p)} leads to entities, and {o.n3()} is a literal"
        elif OWL + "DatatypeProperty" in kinds and not literal:
            yield f"{self._name(p)} has literals as values, and {self._name(o)} is an entity"
        elif p != _TYPE and self.schema.used(p, not literal) and not self.schema.used(p, literal):
            kind = "entities" if literal else "literals"
            yield f"all values of {self._name(p)} in the graph are {kind}"
        if p == _TYPE:
            yield from self._apart(s, {str(o)}, "it")
            return
        yield from self._fits(s, schema.domains[p], f"the domain of {self._name(p)}")
        if isinstance(o, Literal):
            yield from self._typed(o, p)
        else:
            yield from self._fits(str(o), schema.ranges[p], f"the range of {self._name(p)}")

    def _fits(self, entity: str, wanted: set[str], what: str) -> Iterable[str]:
        """Yield an objection where the classes of an entity do not go with those that are required."""
        apart = list(self._apart(entity, {c for c in wanted if not c.startswith(SKOLEM)} - ANYTHING, what))
        yield from apart
        if apart or not self.settings.closed_types:
            return
        for wanted_class in self.schema.foreign(entity, wanted):
            kinds = self._names(self.schema.narrowest(entity))
            yield f"{self._name(entity)} is {kinds}, and {what} is {self._name(wanted_class)}"

    def _apart(self, entity: str, classes: set[str], what: str) -> Iterable[str]:
        wanted = self.schema.above(classes)
        for have in sorted(self.schema.above(self.schema.types[entity])):
            for other in sorted(self.schema.disjoint[have] & wanted):
                yield (
                    f"{self._name(entity)} is {self._name(have)}, {what} is {self._name(other)}, "
                    f"and the two are disjoint"
                )

    def _typed(self, value: Literal, predicate: str) -> Iterable[str]:
        """Yield an objection where a literal is not of the datatype that is a property's range."""
        have = RDF + "langString" if value.language else str(value.datatype or XSD + "string")
        for wanted in sorted(self.schema.ranges[predicate]):
            if wanted == RDFS + "Literal" or not wanted.startswith((XSD, RDF)):
                if wanted in self.schema.higher:
                    yield f"the range of {self._name(predicate)} is {self._name(wanted)}, not literals"
                continue
            fine = wanted == have or wanted in _WIDER.get(have, ())
            if not fine and not (wanted in _TEXT and have in _TEXT and wanted != XSD + "string"):
                yield (
                    f"{value.n3()} is {self._name(have)}, and the range of {self._name(predicate)} "
                    f"is {self._name(wanted)}"
                )

    # -- against each other and the graph ----------------------------------------------------------

    def _single(self, statements: list[Statement]) -> list[Statement]:
        """Refuse second values of functional properties, and second subjects of inverse functional ones."""
        for inverse in (False, True):
            kind = OWL + ("InverseFunctionalProperty" if inverse else "FunctionalProperty")
            groups: defaultdict[tuple[Term, Term], list[int]] = defaultdict(list)
            for at, one in enumerate(statements):
                p = str(one.predicate)
                chosen = not inverse and p in self.settings.functional
                if one.verdict == "fits" and (kind in self.schema.kinds[p] or chosen):
                    groups[one.predicate, one.object if inverse else one.subject].append(at)
            there = self._there(list(groups), inverse)
            for (predicate, end), places in groups.items():
                self._refuse_further(statements, places, there[predicate, end], inverse)
        return statements

    def _refuse_further(
        self, statements: list[Statement], places: Sequence[int], there: Sequence[Term], inverse: bool
    ) -> None:
        one = statements[places[0]]
        what = "is had by one thing only" if inverse else "has one value only"
        if there:
            why = f"{self._name(one.predicate)} {what}, and it is {self._names(there)}"
            for at in places:
                statements[at] = refused(statements[at], why)
            return
        ranked = sorted(places, key=lambda at: (-statements[at].confidence, statements[at].key))
        if len(ranked) < 2:
            return
        tie = statements[ranked[0]].confidence == statements[ranked[1]].confidence
        for at in ranked if tie else ranked[1:]:
            why = f"{self._name(one.predicate)} {what}, and the evidence names {len(ranked)}"
            statements[at] = refused(statements[at], why)

    def _there(
        self, ends: list[tuple[Term, Term]], inverse: bool
    ) -> defaultdict[tuple[Term, Term], list[Term]]:
        found: defaultdict[tuple[Term, Term], list[Term]] = defaultdict(list)
        if inverse:
            for p, o, s in self.schema.rows("completion/check-subjects", "predicate_object", ends):
                if p is not None and o is not None and s is not None:
                    found[p, o].append(s)
        else:
            for s, p, o in self.schema.rows(
                "completion/check-values", "subject_predicate", [(s, p) for p, s in ends]
            ):
                if p is not None and o is not None and s is not None:
                    found[p, s].append(o)
        return found

    def _known(self, statements: Sequence[Statement]) -> set[tuple[str, str, str]]:
        ask = queries.get("context/holds")
        return {
            one.key
            for one in statements
            if self.kg.holds(ask.bind(s_p_o=[(one.subject, one.predicate, one.object)]))
        }

    def _name(self, term: Term | str) -> str:
        if isinstance(term, Literal):
            return term.n3()
        iri = str(term)
        return self.kg.labels([iri])[iri] or curie(iri, self.kg.prefixes)

    def _names(self, terms: Iterable[Term | str]) -> str:
        return ", ".join(sorted(self._name(term) for term in terms))


def refused(one: Statement, *why: str) -> Statement:
    """Return a statement as refused, for these reasons beside those it has."""
    verdict: Verdict = "refused"
    return replace(one, verdict=verdict, objections=tuple(dict.fromkeys((*one.objections, *why))))


def _without(
    statements: list[Statement], bad: Callable[[list[Statement]], dict[tuple[str, str, str], str]]
) -> list[Statement]:
    """Refuse the fitting statements that a test finds fault with."""
    fit = [one for one in statements if one.verdict == "fits"]
    faults = bad(fit) if fit else {}
    return [
        refused(one, faults[one.key]) if one.verdict == "fits" and one.key in faults else one
        for one in statements
    ]


_MAX_TRIPLES: Final = 20_000


def read_shapes(path: Path) -> Graph:
    """Read a file of shapes in Turtle or another format that rdflib knows by its ending."""
    if find_spec("pyshacl") is None:
        raise ConfigError("Shapes need pySHACL.", hint="Install it with: pip install 'mrag[completion]'")
    try:
        return Graph().parse(path)
    except Exception as error:  # each parser has its own errors
        what = brief(str(error), 200)
        raise LoadError(f"The shapes cannot be read: {what}.", file=str(path)) from error


def all_shapes(path: Path | None, texts: Sequence[str] = ()) -> Graph:
    """Return the shapes of a file and of some texts in Turtle together."""
    if find_spec("pyshacl") is None:
        raise ConfigError("Shapes need pySHACL.", hint="Install it with: pip install 'mrag[completion]'")
    shapes = read_shapes(path) if path is not None else Graph()
    for text in texts:
        # Parsed apart: blank nodes of two texts are not the same.
        shapes += Graph().parse(data=text, format="turtle")
    return shapes


def violations(kg: KnowledgeGraph, statements: Sequence[Statement], shapes: Graph) -> dict[Key, str]:
    """Return which statements break a shape, and how, by what they are sorted by."""
    entities = sorted({t for one in statements for t in (one.subject, one.object) if isinstance(t, URIRef)})
    data = _around(kg, entities)
    before = results(data, shapes)
    faults: dict[Key, str] = {}
    for one in sorted(statements, key=lambda s: (-s.confidence, s.key)):
        data.add(one.triple)
        fresh = sorted(results(data, shapes) - before)
        if fresh:
            faults[one.key] = f"it breaks a shape: {fresh[0][1]}"
            data.remove(one.triple)
    return faults


def results(data: Graph, shapes: Graph) -> set[tuple[str, str]]:
    """Return the violations of some shapes in some data: focus node and message."""
    if find_spec("pyshacl") is None:
        raise ConfigError("Shapes need pySHACL.", hint="Install it with: pip install 'mrag[completion]'")
    from pyshacl import validate

    report: Any
    _, report, _ = validate(data, shacl_graph=shapes, inference="none", advanced=False)
    found = set()
    for result in report.subjects(rdflib.RDF.type, SH.ValidationResult):
        if report.value(result, SH.resultSeverity) == SH.Violation:
            messages = sorted(str(m) for m in report.objects(result, SH.resultMessage))
            focus = report.value(result, SH.focusNode)
            found.add((str(focus), f"{'; '.join(messages) or 'a constraint is violated'}"))
    return found


def _around(kg: KnowledgeGraph, entities: Sequence[str]) -> Graph:
    data = Graph()
    for text in queries.get("completion/check-about").batches("entity", entities, 100, limit=_MAX_TRIPLES):
        for s, p, o in kg.select(text):
            if s is not None and p is not None and o is not None:
                data.add((s, p, o))
    classes = sorted({str(c) for c in data.objects(None, rdflib.RDF.type) if isinstance(c, URIRef)})
    for low, highs in SchemaFacts(kg).read_above(classes).items():
        for high in sorted(highs - {low}):
            data.add((URIRef(low), rdflib.RDFS.subClassOf, URIRef(high)))
    return data
