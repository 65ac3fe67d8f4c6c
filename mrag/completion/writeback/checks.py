"""What a triple must pass before it may be written: the schema, the facts that stand, and the ontology.

A triple that contradicts what the graph says is refused with the reason, and nothing is changed to make room
for it. The schema itself is out of bounds: what is read in a text can never be an axiom.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final

from rdflib import BNode, Literal, URIRef

from mrag.completion.writeback.consistency import contradictions
from mrag.completion.writeback.kept_checks import CheckSettings
from mrag.completion.writeback.runs import Statement, Verdict
from mrag.completion.writeback.schema import ANYTHING, SCHEMA, SchemaFacts
from mrag.errors import TermError
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf import queries
from mrag.rdf.terms import OWL, RDF, RDFS, SKOLEM, XSD, Term, curie, to_ox

_TYPE: Final = RDF + "type"
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
        from mrag.completion.writeback.shapes import all_shapes, violations

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
    """Return a statement as refused, for these reasons beside those it has.

    Example:
        >>> refused(Statement(URIRef("urn:a"), URIRef("urn:b"), URIRef("urn:c")), "no").verdict
        'refused'
    """
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
