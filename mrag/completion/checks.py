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
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
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
from mrag.reasoning.rounds import Clash, extend, materialise
from mrag.redaction import brief
from mrag.stores.base import Dataset, Row

State = typing.Literal["proposed", "accepted", "rejected", "rolled back"]
"""Where a run stands: only what was accepted, and not rolled back, is in the graph."""

Verdict = typing.Literal["fits", "known", "refused"]
"""What the checks say of a statement: it may be written, it is in the graph already, or it may not."""

Key = tuple[str, str, str]  # What statements are sorted by: their terms as N-Triples writes them


@dataclass(frozen=True)
class CheckSettings:
    """The settings of the checks.

    Attributes:
        functional: IRIs of properties that have one value at most, beside those that the ontology says so of.
        closed_types: Whether an entity whose classes are known must be of a property's domain or range, or of
            a class above it; without, only classes that are disjoint are refused.
        consistency: Whether to reason over the graph with the statements in it, in a scratch graph; what
            leads to a contradiction, or makes two entities the same, is refused.
        shapes: SHACL shapes, as `read_shapes` returns them, that must hold where the statements touch.
    """

    functional: tuple[str, ...] = ()
    closed_types: bool = True
    consistency: bool = True
    shapes: tuple[str, ...] = ()

    def with_those_of(self, other: CheckSettings) -> CheckSettings:
        """Return settings under which what either refuses is refused."""
        return CheckSettings(
            tuple(sorted({*self.functional, *other.functional})),
            self.closed_types or other.closed_types,
            self.consistency or other.consistency,
            tuple(dict.fromkeys((*self.shapes, *other.shapes))),
        )

    def to_text(self) -> str:
        """Return the settings as a run's description has them, in JSON."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def of_text(cls, text: str) -> CheckSettings:
        """Return the settings of a run's description; the default of a run that has none."""
        values: dict[str, Any] = json.loads(text) if text else {}
        values.update((name, tuple(v)) for name, v in values.items() if isinstance(v, list))
        return cls(**values)


@dataclass(frozen=True)
class Statement:
    """One triple of a run."""

    subject: Term
    predicate: Term
    object: Term
    confidence: float = 1.0  # From 0 to 1
    evidence: tuple[EvidenceRef, ...] = ()
    verdict: Verdict = "fits"
    objections: tuple[str, ...] = ()  # Why it is refused, in words
    # What the description of its run calls it; empty before it is kept
    iri: str = field(default="", compare=False)

    @property
    def triple(self) -> Triple:
        """Return the triple alone."""
        return Triple(cast(URIRef, self.subject), cast(URIRef, self.predicate), self.object)

    @property
    def key(self) -> Key:
        """Return what statements are sorted by."""
        s, p, o = ntriples_terms(self.triple)
        return s, p, o

    def refused(self, *why: str) -> Statement:
        """Return it as refused, for these reasons beside those it has."""
        return replace(self, verdict="refused", objections=tuple(dict.fromkeys((*self.objections, *why))))


@dataclass(frozen=True)
class CompletionRun:
    """What was read for one question.

    Attributes:
        iri: Follows from question, model and statements, so that the same comes once.
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
        shown = ("question", "state", "model", "started", "decided")
        return {
            "run": self.iri,
            "id": self.id,
            **{name: getattr(self, name) for name in shown},
            "checks": {**asdict(self.checks), "shapes": len(self.checks.shapes)},
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
    iri = "urn:mrag:run:" + digest(json.dumps(parts))
    return CompletionRun(iri, question, "proposed", model, now(), "", ordered, checks or CheckSettings())


def now() -> str:
    """Return the present time in UTC, as xsd:dateTime writes it, to two microseconds."""
    time = datetime.now(UTC)
    # Stores drop zeros at the end; an odd last digit keeps all times of one length, and so in order as text.
    return time.replace(microsecond=time.microsecond | 1).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def digest(*parts: str) -> str:
    """Return the SHA-256 of some texts, in hexadecimal."""
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


SCHEMA: Final = (RDF, RDFS, OWL, MRAG, "http://www.w3.org/ns/shacl#", "http://www.w3.org/ns/prov#")
"""Vocabularies whose properties speak of the schema, of shapes or of provenance, not of the world."""

_ANYTHING: Final = frozenset((OWL + "Thing", RDFS + "Resource", OWL + "NamedIndividual"))
"""Classes that say nothing of what is in them."""

_INHERITED: Final = frozenset(
    OWL + kind
    for kind in ("FunctionalProperty", "InverseFunctionalProperty", "ObjectProperty", "DatatypeProperty")
)
"""Kinds that hold for a property where they hold for one above it."""

_TYPE: Final = RDF + "type"
_LABEL: Final = RDFS + "label"
_SAME: Final = URIRef(OWL + "sameAs")
_TEXT: Final = frozenset((XSD + "string", RDFS + "Literal", RDF + "PlainLiteral", RDF + "langString"))
_WIDER: Final = {
    XSD + "integer": (XSD + "decimal",),
    XSD + "int": (XSD + "integer", XSD + "long", XSD + "decimal"),
    XSD + "nonNegativeInteger": (XSD + "integer", XSD + "decimal"),
    XSD + "positiveInteger": (XSD + "nonNegativeInteger", XSD + "integer", XSD + "decimal"),
}
_MAX_TRIPLES: Final = 20_000
_MIN_CONFIDENCE: Final = 0.5


_Sets = defaultdict[str, set[str]]


class SchemaFacts:
    """The part of a schema that bears on some statements.

    Attributes:
        kinds: The classes of each property, such as `owl:FunctionalProperty`; inherited where that holds.
        domains: The domains of each property, and of those above it.
        ranges: The same for ranges.
        types: The classes of each entity.
        higher: The classes above each class, itself among them.
        disjoint: The classes that each class is disjoint with.
        terms: Entities that are classes or properties themselves, with what they are.
    """

    def __init__(self, kg: KnowledgeGraph) -> None:
        self.kg = kg
        self.kinds, self.domains, self.ranges = _Sets(set), _Sets(set), _Sets(set)
        self.types, self.higher, self.disjoint = _Sets(set), _Sets(set), _Sets(set)
        self.terms: dict[str, str] = {}

    def read(self, statements: Sequence[Statement]) -> None:
        """Read what bears on some statements."""
        self.read_properties(sorted({str(one.predicate) for one in statements} - {_TYPE}))
        entities = _entities(statements)
        self.read_types(entities)
        for term, kind in self.rows("completion/check-schema", "term", entities):
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
        starts = new = list(dict.fromkeys(lower))
        direct, seen = _Sets(set), set(starts)
        while new:
            for low, high in self.rows("completion/check-above", "lower", sorted(new)):
                direct[str(low)].add(str(high))
            new = list({high for low in new for high in direct[low]} - seen)
            seen.update(new)
        above: dict[str, set[str]] = {}
        for start in starts:
            reached, left = {start}, {start}
            while left:
                left = {high for low in left for high in direct[low]} - reached
                reached |= left
            above[start] = reached
        return above

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
        return types - wider - _ANYTHING or types

    def foreign(self, entity: str, wanted: Iterable[str]) -> list[str]:
        """Return which of some classes an entity that has others is none of, in order.

        An entity of no known class may be of any, and one that is known by a wider class only may well be of
        the narrower one.
        """
        have = self.above(self.types[entity]) - _ANYTHING
        classes = {c for c in wanted if not c.startswith(SKOLEM)} - _ANYTHING - have
        return [c for c in sorted(classes) if have and not have & self.above({c})]

    def used(self, predicate: str, literal: bool) -> bool:
        """Return whether the graph has a triple of a property whose value is a literal, or an entity."""
        row = (URIRef(predicate), Literal(literal))
        query = queries.get("completion/check-predicate").bind(property_literal=[row])
        return self.kg.cached(f"completion used {literal} {predicate}", lambda: self.kg.holds(query))

    def rows(self, name: str, parameter: str, values: Sequence[object]) -> Iterable[Row]:
        """Yield the rows of a query of the catalogue for many values of its parameter, some at a time."""
        for text in queries.get(name).batches(parameter, values, 200):
            yield from self.kg.select(text)


def check(
    kg: KnowledgeGraph,
    statements: Iterable[Statement],
    settings: CheckSettings | None = None,
    *,
    new: Iterable[str] = (),
) -> list[Statement]:
    """Return statements, sorted, with their verdicts: to be written, known, or refused and why.

    What was said of them before is forgotten. `new` are IRIs that were made for entities of these statements;
    they alone may be given a label.

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
    best: dict[Key, Statement] = {}
    for one in statements:
        known = best.get(one.key, one)
        best[one.key] = replace(
            known,
            verdict="fits",
            objections=(),
            confidence=max(known.confidence, one.confidence),
            evidence=tuple(dict.fromkeys((*known.evidence, *one.evidence))),
        )
    done = _Checks(kg, settings, frozenset(new)).run([best[key] for key in sorted(best)])
    if settings.shapes:
        done = _without(done, lambda fit: _violations(kg, fit, settings.shapes))
    return _without(done, lambda fit: _contradictions(kg, fit)) if settings.consistency else done


def _without(
    statements: list[Statement], find_faults: Callable[[list[Statement]], dict[Key, str]]
) -> list[Statement]:
    """Refuse the fitting statements that a test finds fault with."""
    fit = [one for one in statements if one.verdict == "fits"]
    faults = find_faults(fit) if fit else {}
    fine = [one.verdict != "fits" or one.key not in faults for one in statements]
    return [one if ok else one.refused(faults[one.key]) for one, ok in zip(statements, fine, strict=True)]


def _entities(statements: Iterable[Statement]) -> list[str]:
    return sorted({str(t) for s in statements for t in (s.subject, s.object) if isinstance(t, URIRef)})


def _name(kg: KnowledgeGraph, *terms: Term | str) -> str:
    """Return what terms are called, in order."""
    named = kg.labels(str(t) for t in terms if not isinstance(t, Literal))
    return ", ".join(
        sorted(
            t.n3() if isinstance(t, Literal) else named[str(t)] or curie(str(t), kg.prefixes) for t in terms
        )
    )


class _Checks:
    def __init__(self, kg: KnowledgeGraph, settings: CheckSettings, new: frozenset[str]) -> None:
        self.kg, self.settings, self.new = kg, settings, new
        self.schema = SchemaFacts(kg)
        self._name = partial(_name, kg)

    def run(self, statements: Sequence[Statement]) -> list[Statement]:
        formed = [one.refused(why) if (why := self._malformation(one)) else one for one in statements]
        self.schema.read([one for one in formed if one.verdict == "fits"])
        holds = queries.get("context/holds")
        done: list[Statement] = []
        for one in formed:
            if one.verdict == "fits" and self.kg.holds(holds.bind(s_p_o=[tuple(one.triple)])):
                one = replace(one, verdict="known")
            elif one.verdict == "fits" and (objections := tuple(self._objections(one))):
                one = one.refused(*objections)
            done.append(one)
        for inverse in (False, True):
            self._refuse_further(done, inverse)
        return done

    # -- one by one --------------------------------------------------------------------------------

    def _malformation(self, one: Statement) -> str:
        """Return what RDF does not allow, that there is no evidence, or what speaks of the schema."""
        try:
            for term in (one.subject, one.predicate, one.object):
                to_ox(term)
        except TermError as error:
            return f"it is not well formed: {error.message}"
        if not isinstance(one.subject, URIRef) or isinstance(one.object, BNode):
            return "its subject is an IRI, and its object is an IRI or a literal"
        if isinstance(one.object, Literal) and one.object.ill_typed:
            return f"{one.object.n3()} is no value of its datatype"
        predicate = str(one.predicate)
        labels_new = predicate == _LABEL and str(one.subject) in self.new
        if predicate.startswith(SCHEMA) and predicate != _TYPE and not labels_new:
            return f"{self._name(predicate)} speaks of the schema, which no text may change"
        if predicate == _TYPE and str(one.object).startswith(SCHEMA):
            return f"to be {self._name(one.object)} is a matter of the schema, not of texts"
        if not one.evidence:
            return "there is no evidence for it"
        low = one.confidence < _MIN_CONFIDENCE
        return f"its confidence {one.confidence:.2f} is below {_MIN_CONFIDENCE:.2f}" if low else ""

    def _objections(self, one: Statement) -> Iterator[str]:
        s, p, o = str(one.subject), str(one.predicate), one.object
        schema, kinds = self.schema, self.schema.kinds[p]
        for term in (one.subject, o):
            if isinstance(term, URIRef) and (kind := schema.terms.get(str(term))) and p != _TYPE:
                yield f"{self._name(term)} is no individual but belongs to the schema ({kind})"
        if p == _LABEL and s in self.new:
            return
        if p == _TYPE:
            yield from self._clash_of_classes(s, {str(o)}, "it")
            return
        if not kinds and not schema.used(p, True) and not schema.used(p, False):
            yield f"{self._name(p)} is no property of this graph"
            return
        literal = isinstance(o, Literal)
        if OWL + "ObjectProperty" in kinds and literal:
            yield f"{self._name(p)} leads to entities, and {self._name(o)} is a literal"
        elif OWL + "DatatypeProperty" in kinds and not literal:
            yield f"{self._name(p)} has literals as values, and {self._name(o)} is an entity"
        elif schema.used(p, not literal) and not schema.used(p, literal):
            yield f"all values of {self._name(p)} in the graph are {'entities' if literal else 'literals'}"
        yield from self._fits(s, schema.domains[p], f"the domain of {self._name(p)}")
        if isinstance(o, Literal):
            yield from self._clash_of_types(o, p)
        else:
            yield from self._fits(str(o), schema.ranges[p], f"the range of {self._name(p)}")

    def _fits(self, entity: str, wanted: set[str], what: str) -> Iterator[str]:
        """Yield an objection where the classes of an entity do not go with those that are required."""
        apart = list(
            self._clash_of_classes(entity, {c for c in wanted if not c.startswith(SKOLEM)} - _ANYTHING, what)
        )
        yield from apart
        if apart or not self.settings.closed_types:
            return
        for wanted_class in self.schema.foreign(entity, wanted):
            kinds = self._name(*self.schema.narrowest(entity))
            yield f"{self._name(entity)} is {kinds}, and {what} is {self._name(wanted_class)}"

    def _clash_of_classes(self, entity: str, classes: set[str], what: str) -> Iterator[str]:
        wanted = self.schema.above(classes)
        for have in sorted(self.schema.above(self.schema.types[entity])):
            for other in sorted(self.schema.disjoint[have] & wanted):
                yield (
                    f"{self._name(entity)} is {self._name(have)}, {what} is {self._name(other)}, "
                    f"and the two are disjoint"
                )

    def _clash_of_types(self, value: Literal, predicate: str) -> Iterator[str]:
        """Yield an objection where a literal is not of the datatype that is a property's range."""
        have = RDF + "langString" if value.language else str(value.datatype or XSD + "string")
        for wanted in sorted(self.schema.ranges[predicate]):
            what = f"the range of {self._name(predicate)} is {self._name(wanted)}"
            if wanted == RDFS + "Literal" or not wanted.startswith((XSD, RDF)):
                if wanted in self.schema.higher:
                    yield f"{what}, not literals"
                continue
            texts = wanted in _TEXT and have in _TEXT and wanted != XSD + "string"
            if wanted != have and wanted not in _WIDER.get(have, ()) and not texts:
                yield f"{value.n3()} is {self._name(have)}, and {what}"

    # -- against each other and the graph ----------------------------------------------------------

    def _refuse_further(self, statements: list[Statement], inverse: bool) -> None:
        """Refuse second values of functional properties, or second subjects of inverse functional ones."""
        kind = OWL + ("InverseFunctionalProperty" if inverse else "FunctionalProperty")
        what = "is had by one thing only" if inverse else "has one value only"
        groups: defaultdict[tuple[Term, Term], list[int]] = defaultdict(list)
        for at, one in enumerate(statements):
            p = str(one.predicate)
            chosen = not inverse and p in self.settings.functional
            if one.verdict == "fits" and (kind in self.schema.kinds[p] or chosen):
                pair = (one.predicate, one.object) if inverse else (one.subject, one.predicate)
                groups[pair].append(at)
        name = "completion/check-subjects" if inverse else "completion/check-values"
        there: defaultdict[Row, list[Term]] = defaultdict(list)
        ends = "predicate_object" if inverse else "subject_predicate"
        for a, b, value in self.schema.rows(name, ends, list(groups)):
            if value is not None:
                there[a, b].append(value)
        for group, places in groups.items():
            predicate = self._name(statements[places[0]].predicate)
            why = f"{predicate} {what}, and it is {self._name(*there[group])}"
            if not there[group]:
                places = sorted(places, key=lambda at: (-statements[at].confidence, statements[at].key))
                why = f"{predicate} {what}, and the evidence names {len(places)}"
                first, *others = places
                tie = others and statements[first].confidence == statements[others[0]].confidence
                places = places if tie else others
            for at in places:
                statements[at] = statements[at].refused(why)


# -- by reasoning ------------------------------------------------------------------------------------


def _contradictions(kg: KnowledgeGraph, statements: Sequence[Statement]) -> dict[Key, str]:
    """Return why some statements cannot join the graph, by what they are sorted by.

    All are tried at once; where that leads to a contradiction they are tried one after the other, the most
    confident first, and those stay that go with the graph and with what was kept before them. A server that
    reasons itself keeps its own check.
    """
    if kg.store.capabilities.reasoning or kg.as_found or not statements:
        return {}
    clashes, same = _try(kg, statements)
    # What the graph contradicted before is no fault of what is new.
    before = set(_try(kg, ())[0]) if clashes else set()
    if not same and not set(clashes) - before:
        return {}
    kept: list[Statement] = []
    faults: dict[Key, str] = {}
    for one in sorted(statements, key=lambda s: (-s.confidence, s.key)):
        clashes, same = _try(kg, [*kept, one])
        fresh = [c for c in clashes if c not in before]
        if fresh:
            faults[one.key] = "it would contradict the ontology: " + fresh[0].axiom
        elif same:
            pair = f"{_name(kg, same[0].s)} and {_name(kg, same[0].o)}"
            faults[one.key] = f"it would make {pair} the same"
        else:
            kept.append(one)
    return faults


def consequences(
    kg: KnowledgeGraph, statements: Sequence[Statement], limit: int = 200
) -> tuple[list[Triple], int] | None:
    """Return some of what would follow from statements, and how many triples; nothing of it stays there.

    It is None where that is not known: nothing has been inferred in the graph as it is now, or the server
    infers by itself.
    """
    if kg.store.capabilities.reasoning or kg.as_found or not kg.reasoned:
        return None
    if not statements:
        return [], 0
    with _trial(kg, statements) as (_, fresh):
        rows = kg.store.select(queries.get("completion/following").bind(limit=limit), Dataset(tuple(fresh)))
        triples = [Triple(*row) for row in rows] if fresh else []  # type: ignore[arg-type]
        return triples, sum(map(kg.store.count, fresh))


def _try(kg: KnowledgeGraph, statements: Sequence[Statement]) -> tuple[tuple[Clash, ...], list[Triple]]:
    """Return the contradictions and new equalities of the graph with some statements in it."""
    with _trial(kg, statements) as (clashes, fresh):
        return clashes, _equalities(kg, fresh, statements)


@contextmanager
def _trial(
    kg: KnowledgeGraph, statements: Sequence[Statement]
) -> Iterator[tuple[tuple[Clash, ...], list[str]]]:
    """Reason over the graph with some statements in it; yield contradictions, and graphs of what is new."""
    store, record = kg.store, kg.record
    trial = f"{kg.iri}:trial:{record.revision + 1}"
    asserted, into = kg.dataset("asserted"), f"{trial}:from"
    try:
        if statements:
            store.insert(to_ntriples(one.triple for one in statements), trial)
        if kg.reasoned and statements:
            known = (*record.inferred, *record.apart)
            closure = extend(store, asserted, known, trial, into, on_inconsistency="report")
        else:
            whole = Dataset((*asserted.default, *((trial,) if statements else ())))
            closure = materialise(store, whole, into, on_inconsistency="report")
        yield closure.clashes, [g for g in closure.graphs if g not in record.inferred]
    finally:
        for graph in store.graphs():
            if graph.startswith(f"{kg.iri}:trial:"):
                store.clear(graph)


def _equalities(kg: KnowledgeGraph, graphs: Sequence[str], statements: Sequence[Statement]) -> list[Triple]:
    """Return the equalities of entities that some graphs of inferred triples hold and the graph does not."""
    entities = _entities(statements)
    if not graphs or not entities:
        return []
    text = queries.get("completion/check-values").bind(subject_predicate=[(e, _SAME) for e in entities])
    triples = [
        Triple(s, _SAME, o)
        for s, _, o in kg.store.select(text, Dataset(tuple(graphs)))
        if isinstance(s, URIRef) and isinstance(o, URIRef) and s != o
    ]
    holds = queries.get("context/holds")
    return [t for t in triples if not kg.holds(holds.bind(s_p_o=[tuple(t)]))]


# -- by shapes ---------------------------------------------------------------------------------------


def read_shapes(path: Path) -> str:
    """Read a file of shapes in a format that rdflib knows by its ending, and return them in Turtle.

    Raises:
        LoadError: If the file cannot be read, or is not well formed.
    """
    try:
        return Graph().parse(path).serialize(format="turtle")
    except Exception as error:  # each parser has its own errors
        what = brief(str(error), 200)
        raise LoadError(f"The shapes cannot be read: {what}.", file=str(path)) from error


def results(data: Graph, shapes: Graph) -> set[tuple[str, str]]:
    """Return the violations of some shapes in some data: focus node and message."""
    try:
        from pyshacl import validate
    except ImportError as error:
        hint = "Install it with: pip install 'mrag[completion]'"
        raise ConfigError("Shapes need pySHACL.", hint=hint) from error
    report: Any
    _, report, _ = validate(data, shacl_graph=shapes, inference="none", advanced=False)
    pairs = set()
    for result in report.subjects(rdflib.RDF.type, SH.ValidationResult):
        if report.value(result, SH.resultSeverity) == SH.Violation:
            messages = sorted(str(m) for m in report.objects(result, SH.resultMessage))
            focus = report.value(result, SH.focusNode)
            pairs.add((str(focus), "; ".join(messages) or "a constraint is violated"))
    return pairs


def _violations(kg: KnowledgeGraph, statements: Sequence[Statement], texts: Sequence[str]) -> dict[Key, str]:
    """Return which statements break a shape, and how, by what they are sorted by."""
    shapes = Graph()
    for text in texts:
        shapes += Graph().parse(data=text, format="turtle")  # blank nodes of two texts are not the same
    data = _around(kg, _entities(statements))
    before = results(data, shapes)
    faults: dict[Key, str] = {}
    for one in sorted(statements, key=lambda s: (-s.confidence, s.key)):
        data.add(one.triple)
        fresh = sorted(results(data, shapes) - before)
        if fresh:
            faults[one.key] = f"it breaks a shape: {fresh[0][1]}"
            data.remove(one.triple)
    return faults


def _around(kg: KnowledgeGraph, entities: Sequence[str]) -> Graph:
    data = Graph()
    for text in queries.get("completion/check-about").batches("entity", entities, 100, limit=_MAX_TRIPLES):
        for s, p, o in kg.select(text):
            if s is not None and p is not None and o is not None:
                data.add((s, p, o))
    classes = sorted({str(c) for c in data.objects(None, rdflib.RDF.type) if isinstance(c, URIRef)})
    for low, highs in SchemaFacts(kg).read_above(classes).items():
        for high in highs - {low}:
            data.add((URIRef(low), rdflib.RDFS.subClassOf, URIRef(high)))
    return data
