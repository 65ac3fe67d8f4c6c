"""Completion of triples from evidence: found in texts and images, read, checked, linked to terms."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from rdflib import Literal, URIRef

from mrag.completion.checks import SchemaFacts
from mrag.completion.names import End, PropertyEnds, Relations
from mrag.completion.passages import PassageSource
from mrag.completion.patterns import CompletedTriple, IncompleteTriple, is_text
from mrag.completion.reading import Extraction, Reader, SoughtTriple, checked, sought
from mrag.completion.rule_reader import RuleReader
from mrag.completion.sentences import instructs
from mrag.generation.result import EvidenceRef
from mrag.generation.support.grammar import is_turned_round
from mrag.graph.kg import KnowledgeGraph
from mrag.language.tokens import normalised
from mrag.planning.plan import Unknown
from mrag.rdf.terms import RDFS, XSD, Term, to_ox

NAMESPACE: Final = "urn:mrag:entity:"
_NOT_WORD = re.compile(r"[^a-z0-9]+")


class LinkedTerm(NamedTuple):
    """What some words mean, with the name where it is a new entity."""

    term: Term
    new: str = ""


def link(
    kg: KnowledgeGraph,
    text: str,
    end: End,
    predicate: str,
    *,
    namespace: str = NAMESPACE,
    new_names: bool = True,
) -> LinkedTerm | None:
    """Return what some words mean at an end of a property; None if that is unclear, or nothing may be."""
    roles = PropertyEnds.of(kg)
    text = " ".join(text.split())
    if end == "object" and (kinds := _literals(kg, predicate, roles)) is not None:
        value = _literal(text, kinds)
        return None if value is None else LinkedTerm(value)
    meant, there = roles.named(end, predicate, text)
    if len(there) == 1 or (not there and len(meant) == 1):
        return LinkedTerm((there or meant)[0])
    if meant or not new_names or not any(c.isalnum() for c in text):
        return None
    return LinkedTerm(URIRef(new_iri(text, namespace)), text)


def new_iri(name: str, namespace: str = NAMESPACE) -> str:
    """Return the IRI of a new entity."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().casefold()
    slug = _NOT_WORD.sub("-", plain).strip("-")[:60].strip("-")
    mark = hashlib.sha256(normalised(name).encode("utf-8", "surrogatepass")).hexdigest()[:8]
    made = f"{namespace}{slug}-{mark}" if slug else namespace + mark
    to_ox(made)
    return made


def _literals(kg: KnowledgeGraph, predicate: str, roles: PropertyEnds) -> tuple[str, ...] | None:
    """Return the datatypes of a property's values, None where its values are entities."""
    facts = SchemaFacts(kg)
    facts.read_properties([predicate])
    declared = sorted(r for r in facts.ranges[predicate] if r.startswith(XSD))
    if declared:
        return tuple("" if r == XSD + "string" else r for r in declared)
    shape = roles.shape("object", predicate)
    if shape.literals > 0.5:
        return shape.datatypes or ("",)
    return ("",) if RDFS + "Literal" in facts.ranges[predicate] else None


def _literal(text: str, datatypes: tuple[str, ...]) -> Literal | None:
    """Return a text as a literal of the first datatype that it is a value of."""
    for datatype in datatypes:
        if not datatype:
            return Literal(text)
        plain = text.replace(",", "") if datatype.startswith(XSD) else text
        value = Literal(plain, datatype=URIRef(datatype), normalize=False)
        if value.ill_typed is False:
            return value
    return None


@dataclass(frozen=True)
class EvidenceSettings:
    """The settings of completing from evidence.

    Attributes:
        namespace: Where the IRIs of new entities begin.
        new_names: Whether names that the graph does not know may become new entities.
        min_confidence: What is less sure is left out.
        max_values: Most values of one triple, the surest first.
    """

    namespace: str = NAMESPACE
    new_names: bool = True
    min_confidence: float = 0.5
    max_values: int = 50


class Evidence:
    """Texts and images that triples are completed from; an `EvidenceSource`.

    Args:
        source: Finds passages.
        reader: Reads them; one without a language model by default.
        on_read: Called with each triple in words and the number of passages read for it.

    Attributes:
        names: Names of the new entities that were made, by IRI.

    Example:
        >>> import mrag
        >>> from mrag.completion.passages import Passage, Passages
        >>> kg, e = mrag.demo(model="none"), "https://w3id.org/mrag/demo/products#"
        >>> text = "Last year Stardog was developed by Rainer Weiss and his friends."
        >>> evidence = Evidence(Passages([Passage("urn:x:p", text, "news.txt")]))
        >>> triple = IncompleteTriple(URIRef(e + "Stardog"), URIRef(e + "developedBy"), Unknown("who"))
        >>> [found] = evidence.complete(kg, triple, 5)
        >>> evidence.names[str(found.object)], found.evidence[0].quote == text
        ('Rainer Weiss', True)
        >>> kg.close()
    """

    def __init__(
        self,
        source: PassageSource,
        reader: Reader | None = None,
        settings: EvidenceSettings | None = None,
        *,
        on_read: Callable[[str, int], None] | None = None,
    ) -> None:
        self.source = source
        self.settings = settings or EvidenceSettings()
        taught = getattr(source, "all", ())  # a source that knows all of its passages can teach from them
        self.reader: Reader = reader or RuleReader(taught, new_names=self.settings.new_names)
        self.names: dict[str, str] = {}
        self._on_read = on_read or (lambda words, passages: None)

    def complete(self, kg: KnowledgeGraph, triple: IncompleteTriple, k: int) -> list[CompletedTriple]:
        """Return triples that match one with an unknown place, each with what it was read in.

        At most `k` passages and regions are read, and nothing is written. A relation that is not of the graph
        gives nothing; an entity that is not may be made, where new names are allowed.

        Raises:
            ModelError: If a model cannot be reached.
        """
        if not isinstance(triple.predicate, Unknown) and not _is_relation(kg, triple.predicate):
            return []
        if not self.settings.new_names and any(map(is_text, triple.slots)):
            return []
        asked = sought(kg, triple)
        if asked is None:
            return []
        passages = self.source.search(asked.words, asked.entities, k)
        self._on_read(asked.words, len(passages))
        if not passages:
            return []
        return self._linked(kg, asked, self.reader.read(kg, asked, passages))

    def _linked(
        self, kg: KnowledgeGraph, asked: SoughtTriple, given: Iterable[Extraction]
    ) -> list[CompletedTriple]:
        """Return the triples that findings make which can be relied on, the surest first."""
        found: dict[tuple[Term, Term, Term], CompletedTriple] = {}
        new: dict[str, str] = {}
        for finding in given:
            one = checked(finding, asked, lambda quote: not instructs(quote))
            if one is None or one.place != asked.place or _is_turned(one, asked):
                continue
            terms = self._terms(kg, asked, one, new)
            if terms is None:
                continue
            ref = EvidenceRef(one.passage.iri, one.quote, one.passage.kind, one.passage.source)
            known = found.setdefault(terms, CompletedTriple(*terms, "completed", (ref,), one.confidence))
            if ref not in known.evidence:
                # Passages that say the same are taken as independent of each other.
                sure = min(0.99, 1 - (1 - known.confidence) * (1 - one.confidence))
                found[terms] = replace(known, evidence=(*known.evidence, ref), confidence=round(sure, 4))
        sure_enough = [t for t in found.values() if t.confidence >= self.settings.min_confidence]
        ranked = sorted(sure_enough, key=lambda t: (-t.confidence, [term.n3() for term in t.terms]))
        ranked = ranked[: self.settings.max_values]
        used = {str(term) for t in ranked for term in t.terms}
        self.names.update({iri: name for iri, name in new.items() if iri in used})
        return ranked

    def _terms(
        self, kg: KnowledgeGraph, asked: SoughtTriple, one: Extraction, new: dict[str, str]
    ) -> tuple[Term, Term, Term] | None:
        """Return the triple with a finding in its place; names of new entities are noted."""
        s = self.settings
        linked = LinkedTerm(one.term) if one.term is not None else None
        if one.place == "predicate":
            linked = linked if _is_relation(kg, one.term) else None
        elif linked is None:
            predicate = str(asked.triple.predicate)
            linked = link(kg, one.text, one.place, predicate, namespace=s.namespace, new_names=s.new_names)
        if linked is None:
            return None
        terms: list[Term] = []
        for slot in asked.triple.slots:
            if isinstance(slot, Unknown):
                terms.append(linked.term)
                if linked.new:
                    new[str(linked.term)] = linked.new
            elif is_text(slot):
                terms.append(URIRef(new_iri(slot, s.namespace)))
                new[str(terms[-1])] = " ".join(slot.split())
            else:
                terms.append(slot)  # type: ignore[arg-type]  # neither text nor unknown
        subject, predicate_, object_ = terms
        return None if subject == object_ else (subject, predicate_, object_)


def _is_turned(one: Extraction, asked: SoughtTriple) -> bool:
    """Return whether a quote says what was asked from the other end: who develops, and who is developed."""
    if one.place == "predicate" or "predicate" not in asked.names:
        return False
    ends = {**asked.names, one.place: (one.text,)}
    return is_turned_round(one.quote, ends["subject"], ends["predicate"], ends["object"])


def _is_relation(kg: KnowledgeGraph, term: object) -> bool:
    return isinstance(term, URIRef) and term in Relations.of(kg).by_iri
