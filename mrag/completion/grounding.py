"""Plans linked to a graph: texts to terms, relations to paths, and whether a plan reads its whole question.

A path through a graph always leads somewhere. What it finds answers a question only where the question asks
for each of its steps, and says nothing besides.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from rdflib import BNode, Literal, URIRef

from mrag._tables import patterns as expressions
from mrag.completion import patterns
from mrag.completion.checks import SchemaFacts
from mrag.completion.names import (
    NEARLY,
    Best,
    EntityNames,
    NamedRelation,
    Relations,
    improve,
    ranked,
)
from mrag.completion.patterns import Completion
from mrag.context.display import Display
from mrag.errors import ConfigError, MissingIndex, TermError
from mrag.generation.verbalise import DESCRIBING
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import ALTERNATIVE, LABELS
from mrag.index.embedding import Embedder, embedder
from mrag.index.similarity import SimilarityIndex, SimilarityIndexes
from mrag.language.english import root, synonym_roots
from mrag.language.tokens import FUNCTION_WORDS, content, fold, language_of, tokens, words
from mrag.rdf import queries
from mrag.rdf.terms import OWL, RDF, RDFS, XSD, Term
from mrag.rdf.terms import iri as read_iri

NO_STEPS = frozenset([*LABELS, *ALTERNATIVE, *DESCRIBING])
"""Predicates that name or describe, and lead nowhere."""


class Step(NamedTuple):
    """One relation followed: forward from subject to object, else from object to subject."""

    predicate: URIRef
    forward: bool

    def __str__(self) -> str:
        return f"{'' if self.forward else '^'}{self.predicate}"


_TO_CLASS = Step(URIRef(RDF + "type"), True)
_FROM_CLASS = Step(URIRef(RDF + "type"), False)
"""Nothing is said of a thing by what others of its class are or do: such steps end and begin paths only."""

RelationPath = tuple[Step, ...]

_SAMPLE: Final = 50
"""Entities at each end of a relation that are looked at to see which steps may follow."""
_MIN_SHARE: Final = 0.02
"""Least share of these that a step must follow from; below it is taken for noise."""


class PathTable:
    """The paths of a graph's relations.

    Args:
        kg: The knowledge graph.
        hops: Most steps of a path.
        max_paths: Most paths of one length; those over rare relations give way.

    Attributes:
        steps: Every step, in order.
        relations: Relation of each step, for its words.
        paths: The paths, shorter first, as numbers of steps; shape (paths, hops), -1 beyond the end.
    """

    def __init__(self, kg: KnowledgeGraph, hops: int = 3, max_paths: int = 4096) -> None:
        own = [r for r in Relations.of(kg).all if _is_step(str(r.iri))]
        self.relations = tuple(relation for relation in own for _ in (True, False))
        self.steps = tuple(Step(r.iri, forward) for r in own for forward in (True, False))
        self.number = {step: at for at, step in enumerate(self.steps)}
        self.stems = [frozenset(s for name in r.names for s in content(name)) for r in self.relations]
        counts = [kg.profile().predicates[str(step.predicate)] for step in self.steps]
        following = [self._following(kg, step) if hops > 1 else [] for step in self.steps]
        level: list[tuple[int, ...]] = [(at,) for at in range(len(self.steps))]
        rows = list(level)
        for _ in range(1, hops):
            level = [(*path, after) for path in level for after in following[path[-1]]]
            if len(level) > max_paths:
                level.sort(key=lambda path: (-min(counts[at] for at in path), path))
                level = sorted(level[:max_paths])
            rows += level
        self.lengths = np.array([len(row) for row in rows], np.int64)
        self.paths = np.full((len(rows), hops), -1, np.int64)
        for at, row in enumerate(rows):
            self.paths[at, : len(row)] = row

    def _following(self, kg: KnowledgeGraph, step: Step) -> list[int]:
        """Return the steps that may follow a step, by number, from a sample of where it leads."""
        if step == _TO_CLASS:
            return []
        query = queries.get("completion/ends" if step.forward else "completion/starts")
        ends = kg.select(query.bind(p=[step.predicate], limit=_SAMPLE)).column("end")
        seen = steps_from(kg, map(str, ends), self.number)
        followed = np.bincount([n for after in seen.values() for n in after], minlength=len(self.steps))
        may = np.flatnonzero(followed >= max(1, _MIN_SHARE * len(seen))).tolist()
        return [n for n in may if self.steps[n] != _FROM_CLASS]

    @classmethod
    def of(cls, kg: KnowledgeGraph) -> PathTable:
        """Return the table of a knowledge graph, made once for each state of it."""
        return kg.cached("completion paths", lambda: cls(kg))

    def path(self, at: int) -> RelationPath:
        """Return a path."""
        return tuple(self.steps[step] for step in self.paths[at, : self.lengths[at]])

    def covering(self, stems: Sequence[str]) -> npt.NDArray[np.int64]:
        """Return for each step which of a question's words it has, as bits."""
        bits = np.zeros(len(self.steps), np.int64)
        for at, own in enumerate(self.stems):
            for bit, word in enumerate(stems[:63]):
                if word in own:
                    bits[at] |= 1 << bit
        return bits


def steps_from(kg: KnowledgeGraph, entities: Iterable[str], steps: Mapping[Step, int]) -> dict[str, set[int]]:
    """Return the steps that lead away from each entity, by number."""
    wanted = list(dict.fromkeys(map(str, entities)))
    distances: dict[str, set[int]] = {entity: set() for entity in wanted}
    for name, forward in (("completion/leaving", True), ("completion/arriving", False)):
        for text in queries.get(name).batches("entity", wanted):
            for entity, p in kg.select(text):
                at = steps.get(Step(URIRef(str(p)), forward))
                if at is not None:
                    distances[str(entity)].add(at)
    return distances


def _is_step(iri: str) -> bool:
    schema = iri.startswith((OWL, RDFS)) or (iri.startswith(RDF) and iri != RDF + "type")
    return iri not in NO_STEPS and not schema


_DATATYPES: Final = expressions("completion/values.toml")
_MARGIN: Final = 0.05
"""How far behind the best a candidate may be and still be kept."""
_MAX_CANDIDATES: Final = 5
_POOL: Final = 10
"""Hits of the index whose names are compared."""


@dataclass(frozen=True)
class GroundingSettings:
    """All settings of grounding.

    Attributes:
        entity: Least similarity of an entity's name, from 0 to 1; .9 as in CoMuS-KG.
        relation: The same for a relation; .8 as there.
        model: Embedding model for likeness of meaning: a name, an object, or None for writing alone. Entities
            of like meaning are sought in the similarity index `main`, if there is one.

    Raises:
        ConfigError: If a similarity is not from 0 to 1.
    """

    entity: float = 0.9
    relation: float = 0.8
    model: str | Embedder | None = "minilm"

    def __post_init__(self) -> None:
        for name in ("entity", "relation"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"{name} is from 0 to 1, not {getattr(self, name)}.")


def ground(
    kg: KnowledgeGraph, plan: patterns.TriplePlan, settings: GroundingSettings | None = None
) -> patterns.GroundedPlan:
    """Link the texts of a plan to terms of the graph; its terms are kept if they are in the graph.

    Example:
        >>> import mrag
        >>> from mrag.completion.patterns import IncompleteTriple, TriplePlan, Unknown
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
        plan = self._check(plan)
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
        if given := self._literal(text, "entity"):
            return [given]
        names, settings = EntityNames.of(self.kg), self.settings
        candidates = [*names.exact(text), *self._literals(text)]
        if not candidates:
            candidates = names.fuzzy(text, _POOL, settings.entity)
            candidates += self._meaning(text) if not candidates else []
        return self._keep(candidates)

    def relations(self, text: str) -> list[patterns.TermCandidate]:
        """Return the relations that a text may mean, best first."""
        if not text.strip():
            return []
        if given := self._literal(text, "relation"):
            return [given]
        relations, settings = Relations.of(self.kg), self.settings
        candidates = relations.named(text) or relations.similar(text, settings.relation)
        if not candidates and (model := self._embedder()) is not None:
            candidates = relations.meaning(text, settings.relation, model)
        return self._keep(candidates)

    def present(self, terms: Iterable[Term]) -> set[Term]:
        """Return those of some terms that are subject or object of a triple of the graph."""
        wanted = [t for t in dict.fromkeys(terms) if not isinstance(t, BNode)]
        if not wanted:
            return set()
        rows = self.kg.select(queries.get("completion/present").bind(term=wanted))
        return {term for term in rows.column("term") if term is not None}

    def _keep(self, candidates: Sequence[patterns.TermCandidate]) -> list[patterns.TermCandidate]:
        best: Best = {}
        for candidate in candidates:
            improve(best, candidate, candidate.term.n3())
        order = ranked(best)
        least = order[0].score - _MARGIN if order else 0.0
        return [c for c in order if c.score >= least][:_MAX_CANDIDATES]

    def _check(self, plan: patterns.TriplePlan) -> patterns.TriplePlan:
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

    def _literal(self, text: str, role: patterns.Role) -> patterns.TermCandidate | None:
        """Return what a text means that is an IRI, or a CURIE of a known prefix, of the graph."""
        if ":" not in text or any(c.isspace() for c in text.strip()):
            return None
        try:
            term = read_iri(text, self.kg.prefixes)
        except TermError:
            return None
        known = role == "relation" and str(term) in self.kg.profile().predicates
        there = known or (role == "entity" and term in self.present([term]))
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

    def _meaning(self, text: str) -> list[patterns.TermCandidate]:
        """Return entities that the similarity index finds and whose names are near enough in meaning."""
        model = self._embedder()
        try:
            index = SimilarityIndexes.of(self.kg).get()
        except MissingIndex:
            return []
        if model is None or not isinstance(index, SimilarityIndex):
            return []
        matches = index.search(text, _POOL)
        labels = self.kg.labels(m.doc_id for m in matches)
        named = [(m.doc_id, label) for m in matches if (label := labels[m.doc_id])]
        if not named:
            return []
        cosines = model.embed_documents([label for _, label in named]) @ model.embed_query(text)
        best: Best = {}
        for (iri, label), score in zip(named, cosines.tolist(), strict=True):
            if score >= self.settings.entity:
                best[iri] = patterns.TermCandidate(URIRef(iri), min(score, NEARLY), label, "dense")
        for m in matches:
            # A description that means the same names its entity as well as a label does.
            near = (m.dense_score or 0.0) >= self.settings.entity
            if near and index.files.embedder_name == model.name:
                said, score = labels[m.doc_id] or "", m.dense_score or 0.0
                best.setdefault(m.doc_id, patterns.TermCandidate(URIRef(m.doc_id), score, said, "dense"))
        return ranked(best)

    def _embedder(self) -> Embedder | None:
        if self._model is None:
            self._model = embedder(self.settings.model)
        return self._model


_SHARED: Final = words("same share shared shares sharing common")
_SAME: Final = _SHARED | words("both also too other others another else similar alike")
"""Words that ask for what is beside the thing that is named, over a relation that both have."""

_COUNTING: Final = words("many much more most few than each every least")
"""Function words that ask for more than a path gives."""

_EMPTY: Final = words(
    "person people someone somebody anyone anybody thing something one place called named find"
) | _SAME  # fmt: skip
"""Words that say no more than "who", "what" and "where"."""

_NARROW: Final = {
    "mother": (), "father": (), "son": (), "daughter": (), "brother": (), "sister": (),
    "husband": ("spouse", "marry"), "wife": ("spouse", "marry"),
}  # fmt: skip
"""Words that others of their group do not say as much as."""


_WHEN: Final = words("when wann")
_NO_VALUE: Final = words("who whom whose where wer wen wem wessen wo")
_VALUES: Final = frozenset(
    XSD + kind for kind in ("integer", "decimal", "double", "float", "boolean", "date", "dateTime", "gYear")
)
"""Datatypes of values that are neither somebody nor a place."""
_TO_CLASSES: Final = frozenset((RDF + "type", RDFS + "subClassOf", RDFS + "domain", RDFS + "range"))


def unread(
    rest: str, path: RelationPath, relations: Sequence[NamedRelation]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words of a question that a path leaves unread, and the relations that no word asks for."""
    stop = FUNCTION_WORDS["en"] | FUNCTION_WORDS.get(language_of(rest), frozenset())
    spellings = [(t.raw, t.raw.casefold()) for t in tokens(rest)]
    said = [_meanings(raw) for raw, _ in spellings]
    called = [_roots(relation) for relation in relations]
    reads = [[at for at, own in enumerate(said) if own & names] for names in called]
    read = {at for places in reads for at in places}
    turns = any(_back(path, at) for at in range(1, len(path)))
    left = tuple(
        raw
        for at, (raw, word) in enumerate(spellings)
        if at not in read
        and (word in _COUNTING or (word in _SHARED and not turns) or not (word in stop or word in _EMPTY))
    )
    shared = any(word in _SAME for _, word in spellings)
    needed = [at for at in range(len(path)) if not (shared and at and _back(path, at))]
    matched = _match([reads[at] for at in needed])
    missed = [relations[step].label for at, step in enumerate(needed) if at not in matched]
    return left, tuple(dict.fromkeys(missed))


def of_kind(kg: KnowledgeGraph, completion: Completion) -> Completion:
    """Return a completion with the answers that are of the kind that the words left unread name.

    "Which products are developed in Sofia?" asks for products: the word is read where an answer is one. A
    value of which no class is known may be of any that the graph has.
    """
    left = completion.plan.unread
    if not left or not completion.answers:
        return completion
    entities = [str(t) for t in (*completion.answers, *completion.plan.excluded) if isinstance(t, URIRef)]
    facts = SchemaFacts(kg)
    facts.read_types(sorted(set(entities)))
    facts.read_classes()
    classes = sorted({c for e in entities for c in facts.above(facts.types[e])})
    display = Display(kg)
    kg.labels(classes)
    kinds = {c: frozenset(root(t.raw) for t in tokens(display.entity(c))) for c in classes}

    def of(term: Term) -> set[str]:
        return {r for c in facts.above(facts.types[str(term)]) for r in kinds[c]}

    start = {r for t in completion.plan.excluded if isinstance(t, URIRef) for r in of(t)}
    left = tuple(word for word in left if not _meanings(word) & start)
    kept = [
        t
        for t in completion.answers
        if all(_meanings(word) & of(t) if facts.types[str(t)] else _is_class(kg, word) for word in left)
    ]
    plan = replace(completion.plan, unread=() if kept else left)
    return replace(completion, plan=plan, answers=kept or completion.answers)


def of_sort(kg: KnowledgeGraph, completion: Completion) -> Completion:
    """Return a completion with the answers that the question word asks for, if any is.

    *When* asks for a time, which is a literal or has a digit in its name; *who* and *where* ask for none. If
    no answer is of the sort, the question word counts as unread.
    """
    asked = next((t.raw.casefold() for t in tokens(completion.question)), "")
    if not completion.answers or asked not in _WHEN | _NO_VALUE:
        return completion
    display = Display(kg)
    kg.labels([str(t) for t in completion.answers if isinstance(t, URIRef)])

    def fits(term: Term) -> bool:
        if asked in _WHEN:
            return isinstance(term, Literal) or any(c.isdigit() for c in display.entity(str(term)))
        return not isinstance(term, Literal) or str(term.datatype or "") not in _VALUES

    kept = [term for term in completion.answers if fits(term)]
    if kept:
        return replace(completion, answers=kept)
    plan = replace(completion.plan, unread=(*completion.plan.unread, asked))
    return replace(completion, plan=plan)


def _is_class(kg: KnowledgeGraph, word: str) -> bool:
    """Return whether a word names a class of the graph."""
    forms = (word, fold(word))
    named = sorted({str(c.term) for form in forms for c in EntityNames.of(kg).exact(form)})
    rows = SchemaFacts(kg).rows("completion/arriving", "entity", named)
    return any(str(p) in _TO_CLASSES for _, p in rows)


def _meanings(word: str) -> frozenset[str]:
    """Return the root of a word, and those of words that say as much."""
    own = root(word)
    narrow = next((also for narrow, also in _NARROW.items() if own == root(narrow)), None)
    if narrow is not None:
        return frozenset((own, *map(root, narrow)))
    return frozenset((own, *synonym_roots().get(own, ())))


def _roots(relation: NamedRelation) -> frozenset[str]:
    """Return the roots of the words of a relation that carry meaning; of all where none does."""
    every = [t.raw for name in relation.names for t in tokens(name)]
    telling = [word for word in every if word.casefold() not in FUNCTION_WORDS["en"]]
    return frozenset(map(root, telling or every))


def _back(path: RelationPath, at: int) -> bool:
    """Return whether a step goes back over the relation that the one before it came by."""
    before, step = path[at - 1], path[at]
    return before.predicate == step.predicate and before.forward != step.forward


def _match(wanted: Sequence[Sequence[int]]) -> set[int]:
    """Return which of some steps can have a word of their own each."""
    owner: dict[int, int] = {}

    def place(step: int, tried: set[int]) -> bool:
        for at in wanted[step]:
            if at in tried:
                continue
            tried.add(at)
            if at not in owner or place(owner[at], tried):
                owner[at] = step
                return True
        return False

    for step in range(len(wanted)):
        place(step, set())
    return set(owner.values())
