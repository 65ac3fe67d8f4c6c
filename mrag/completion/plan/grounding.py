"""Texts of a plan linked to terms of the graph: by writing first, then by similarity, then by meaning.

Nothing enters a grounded plan that is not in the graph: candidates come from the graph's own names and
predicates, and a term that a planner wrote is looked up before it is used.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rdflib import BNode, Literal, URIRef

from mrag.completion.plan import patterns
from mrag.completion.plan.names import NEARLY, EntityNames, ranked
from mrag.completion.plan.paths import NO_STEPS
from mrag.completion.plan.relations import Relations
from mrag.errors import ConfigError, MissingIndex, TermError
from mrag.graph.kg import KnowledgeGraph
from mrag.index.embedding import Embedder, embedder
from mrag.index.similarity import SimilarityIndex, SimilarityIndexes
from mrag.rdf import queries
from mrag.rdf.terms import XSD, Term
from mrag.rdf.terms import iri as read_iri

_DATATYPES = {
    "boolean": re.compile(r"true|false"),
    "date": re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"),
    "dateTime": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?"),
    "decimal": re.compile(r"[+-]?(?:\d+(?:\.\d+)?|\.\d+)"),
    "double": re.compile(r"[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?"),
    "gYear": re.compile(r"\d{4}"),
    "gYearMonth": re.compile(r"\d{4}-\d\d"),
    "integer": re.compile(r"[+-]?\d+"),
}
"""Datatypes whose literals a text may be, by what they look like."""


@dataclass(frozen=True)
class GroundingSettings:
    """All settings of grounding.

    Attributes:
        entity: Least similarity of an entity's name, from 0 to 1; .9 as in CoMuS-KG.
        relation: The same for a relation; .8 as there.
        margin: How far behind the best a candidate may be and still be kept.
        max_candidates: Most candidates of one text.
        model: Embedding model for likeness of meaning: a name, an object, or None for writing alone.
        index: Similarity index that entities of like meaning are sought in; without one of that name
            entities are found by their writing alone.
        pool: Hits of the index whose names are compared.

    Raises:
        ConfigError: If a similarity or the margin is not from 0 to 1.
    """

    entity: float = 0.9
    relation: float = 0.8
    margin: float = 0.05
    max_candidates: int = 5
    model: str | Embedder | None = "minilm"
    index: str = "main"
    pool: int = 10

    def __post_init__(self) -> None:
        for name in ("entity", "relation", "margin"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"{name} is from 0 to 1, not {getattr(self, name)}.")


def ground(
    kg: KnowledgeGraph, plan: patterns.TriplePlan, settings: GroundingSettings | None = None
) -> patterns.GroundedPlan:
    """Link the texts of a plan to terms of the graph.

    Args:
        kg: The knowledge graph.
        plan: The plan; its terms are kept if they are in the graph.
        settings: The settings.

    Returns:
        The plan with its candidates, and what could not be grounded.

    Example:
        >>> import mrag
        >>> from mrag.completion.plan.patterns import IncompleteTriple, TriplePlan, Unknown
        >>> kg, x = mrag.demo(model="none"), Unknown("x")
        >>> triple = IncompleteTriple("graphdb", "developed by", x)
        >>> plan = TriplePlan("Who makes it?", (), (triple,), x, "hand")
        >>> print(ground(kg, plan).plan.triples[0].subject)
        https://w3id.org/mrag/demo/products#GraphDB
        >>> kg.close()
    """
    return Grounder(kg, settings).ground(plan)


class Grounder:
    """Links texts to terms of one knowledge graph; see `ground`."""

    def __init__(self, kg: KnowledgeGraph, settings: GroundingSettings | None = None) -> None:
        self.kg = kg
        self.settings = settings or GroundingSettings()
        self._model: Embedder | None = None

    def ground(self, plan: patterns.TriplePlan) -> patterns.GroundedPlan:
        """Link the texts of a plan."""
        plan = self._checked(plan)
        candidates: dict[tuple[str, patterns.Role], tuple[patterns.TermCandidate, ...]] = {}
        for text, role in plan.texts():
            candidates[text, role] = tuple(self.entities(text) if role == "entity" else self.relations(text))
        best = {key: kept[0].term for key, kept in candidates.items() if kept}
        ungrounded = tuple(key for key, kept in candidates.items() if not kept)
        return patterns.GroundedPlan(patterns.with_terms(plan, best), candidates, ungrounded, plan)

    def entities(self, text: str) -> list[patterns.TermCandidate]:
        """Return the entities and literals that a text may mean, best first."""
        if not text.strip():
            return []
        if given := self._written(text, "entity"):
            return [given]
        names, settings = EntityNames.of(self.kg), self.settings
        found = [*names.exact(text), *self._literals(text)]
        if not found:
            found = names.fuzzy(text, settings.pool, settings.entity)
            found += self._meaning(text, names) if not found else []
        return self._kept(found)

    def relations(self, text: str) -> list[patterns.TermCandidate]:
        """Return the relations that a text may mean, best first."""
        if not text.strip():
            return []
        if given := self._written(text, "relation"):
            return [given]
        relations, settings = Relations.of(self.kg), self.settings
        found = relations.named(text) or relations.similar(text, settings.relation)
        if not found and (model := self._embedder()) is not None:
            found = relations.meaning(text, settings.relation, model)
        return self._kept(found)

    def present(self, terms: Iterable[Term]) -> set[Term]:
        """Return those of some terms that are subject or object of a triple of the graph."""
        wanted = [t for t in dict.fromkeys(terms) if not isinstance(t, BNode)]
        if not wanted:
            return set()
        rows = self.kg.select(queries.get("completion/present").bind(term=wanted))
        return {term for term in rows.column("term") if term is not None}

    def _kept(self, found: Sequence[patterns.TermCandidate]) -> list[patterns.TermCandidate]:
        best: dict[str, patterns.TermCandidate] = {}
        for candidate in found:
            key = candidate.term.n3()
            if key not in best or candidate.score > best[key].score:
                best[key] = candidate
        order = ranked(best)
        least = order[0].score - self.settings.margin if order else 0.0
        return [c for c in order if c.score >= least][: self.settings.max_candidates]

    def _checked(self, plan: patterns.TriplePlan) -> patterns.TriplePlan:
        """Return the plan with words in place of terms that the graph does not have."""
        slots = {x for t in plan.triples for x in (t.subject, t.object)} | set(plan.excluded)
        terms = {x for x in slots if isinstance(x, URIRef | Literal)}
        absent = terms - self.present(terms)
        predicates = self.kg.profile().predicates
        used = {t.predicate for t in plan.triples if isinstance(t.predicate, URIRef | Literal)}
        absent |= {p for p in used if not isinstance(p, URIRef) or str(p) not in predicates}
        if not absent:
            return plan
        # A term that is absent is words again, which may name something or nothing.
        return patterns.with_slots(plan, lambda slot, _: str(slot) if slot in absent else slot)

    def _written(self, text: str, role: patterns.Role) -> patterns.TermCandidate | None:
        """Return what a text means that is an IRI, or a CURIE of a known prefix, of the graph."""
        if ":" not in text or any(c.isspace() for c in text.strip()):
            return None
        try:
            term = read_iri(text, self.kg.prefixes)
        except TermError:
            return None
        if role == "relation":
            there = str(term) in self.kg.profile().predicates
        else:
            there = term in self.present([term])
        return patterns.TermCandidate(term, 1.0, text, "given") if there else None

    def _literals(self, text: str) -> list[patterns.TermCandidate]:
        """Return the literals of the graph that are written so, of whatever datatype or language."""
        bare = text.strip()
        forms = [Literal(bare), *(Literal(bare, lang=tag) for tag in self.kg.languages if tag)]
        typed = [name for name, form in _DATATYPES.items() if form.fullmatch(bare)]
        forms += [Literal(bare, datatype=URIRef(XSD + name), normalize=False) for name in typed]
        rows = self.kg.select(queries.get("completion/values").bind(value=forms))
        # A name is not a value: whoever says it means what it names.
        there = {value.n3() for value, p in rows if value is not None and str(p) not in NO_STEPS}
        return [patterns.TermCandidate(form, NEARLY, bare, "exact") for form in forms if form.n3() in there]

    def _meaning(self, text: str, names: EntityNames) -> list[patterns.TermCandidate]:
        """Return entities that the similarity index finds and whose names are near enough in meaning."""
        model = self._embedder()
        try:
            index = SimilarityIndexes.of(self.kg).get(self.settings.index)
        except MissingIndex:
            return []
        if model is None or not isinstance(index, SimilarityIndex):
            return []
        matches = index.search(text, self.settings.pool)
        labels = self.kg.labels(m.doc_id for m in matches)
        named = [(m.doc_id, label) for m in matches if (label := labels[m.doc_id])]
        if not named:
            return []
        cosines = model.embed_documents([label for _, label in named]) @ model.embed_query(text)
        pairs = zip(named, cosines.tolist(), strict=True)
        best = {
            iri: patterns.TermCandidate(URIRef(iri), min(score, NEARLY), label, "dense")
            for (iri, label), score in pairs
            if score >= self.settings.entity
        }
        for m in matches:
            # A description that means the same names its entity as well as a label does.
            score = m.dense_score or 0.0
            if score >= self.settings.entity and index.files.embedder_name == model.name:
                best.setdefault(
                    m.doc_id, patterns.TermCandidate(URIRef(m.doc_id), score, labels[m.doc_id] or "", "dense")
                )
        return ranked(best)

    def _embedder(self) -> Embedder | None:
        if self._model is None:
            self._model = embedder(self.settings.model)
        return self._model
