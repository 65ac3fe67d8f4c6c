"""Plans made without a language model, and plans linked to a graph: texts to terms, relations to paths.

A path through a graph always leads somewhere. What it finds answers a question only where the question asks
for each of its steps, and says nothing besides. Every name in a question and every path that the graph's
relations allow make a plan; the plans are ranked by how similar path and question are, in words and in
meaning. Questions for what two chains have in common, for numbers or for comparisons are beyond that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from rdflib import BNode, Literal, URIRef

from mrag._tables import patterns as expressions
from mrag.completion import patterns
from mrag.completion.checks import SchemaFacts
from mrag.completion.names import NEARLY, Best, EntityNames, NamedRelation, Relations, improve, ranked
from mrag.completion.patterns import (
    Completion,
    GroundedPlan,
    IncompleteTriple,
    Slot,
    TermCandidate,
    TriplePlan,
    complete_from_graph,
)
from mrag.context.display import Display
from mrag.errors import ConfigError, MissingIndex, TermError
from mrag.generation.verbalise import DESCRIBING
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import ALTERNATIVE, LABELS
from mrag.index.embedding import Embedder, embedder
from mrag.index.similarity import SimilarityIndex, SimilarityIndexes
from mrag.language.english import root, synonym_roots
from mrag.language.tokens import (
    FUNCTION_WORDS,
    content,
    fold,
    is_stopword,
    keys,
    language_of,
    normalise,
    stem,
    tokens,
    words,
)
from mrag.planning.plan import Unknown
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

_SAMPLE: Final = 50  # Entities at each end of a relation that are looked at to see which steps may follow
_MIN_SHARE: Final = 0.02  # Least share of these that a step must follow from; below it is taken for noise


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
_MARGIN: Final = 0.05  # How far behind the best a candidate may be and still be kept
_MAX_CANDIDATES: Final = 5
_POOL: Final = 10  # Hits of the index whose names are compared


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


Vector = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]

_WORD = re.compile(r"\w+")
_LONGEST_MENTION = 16
_ENTITIES = 3
_HOLE = "@"  # What stands in a question in the place of what it names

_SPAN_WEIGHTS = {
    "exact": 1.0, "cased": 2.0, "words": 1.0, "inner": -2.0, "common": -4.0, "unlinked": -3.0,
}  # fmt: skip
"""What is measured of a span of a question, with its weight."""

_PATH_WEIGHTS = {
    "covered": 4.0, "supported": 3.0, "meaning": 4.0, "two steps": -0.5, "three steps": -1.0,
    "no such step": -4.0,
}  # fmt: skip
"""The same of a path: the share of the question's words that it has, the share of its steps that have a word
of the question, their mean cosine with the question, its length, and whether the entity has no such first
step."""


@dataclass(frozen=True)
class Mention:
    """A span of a question that may name an entity, with what is measured of it.

    The entity is None where the graph knows no such name.
    """

    start: int
    text: str
    entity: TermCandidate | None
    features: tuple[float, ...]

    def rest(self, question: str) -> str:
        """Return the question with a hole in the place of the span."""
        return f"{question[: self.start]}{_HOLE}{question[self.start + len(self.text) :]}"

    @property
    def name(self) -> str:
        """Return what the span names: an IRI, or a text that the graph does not know."""
        return str(self.entity.term) if self.entity is not None else "~" + self.text


def find_mentions(question: str, names: EntityNames, common: frozenset[str]) -> list[Mention]:
    """Return the spans of a question that may name an entity, in order of place.

    `common` are stems of words that the graph's relations have, which are seldom meant as names.
    """
    words = list(_WORD.finditer(question))
    runs = ((first, last) for at, first in enumerate(words) for last in words[at : at + _LONGEST_MENTION])
    every = ((first.start(), last.end()) for first, last in runs)
    spans = [(start, end) for start, end in every if names.has(normalise(question[start:end]))]

    def measured(start: int, text: str, entity: TermCandidate | None, inner: bool) -> Mention:
        own = keys(text) or (text,)
        dull = sum(is_stopword(w) or stem(w) in common for w in own) / len(own)
        cased = any(c.isupper() or c.isdigit() for c in (text[1:] if start == 0 else text))
        exact = entity is not None and entity.score == 1.0
        size, unlinked = min(len(own), 6) / 2, float(entity is None)
        return Mention(start, text, entity, (exact, cased, size, inner, dull, unlinked))

    mentions = []
    for start, end in spans:
        at, text = _place_of(question, start, end, names)
        inner = any((a, b) != (start, end) and a <= start and end <= b for a, b in spans)
        mentions += [measured(at, text, candidate, inner) for candidate in names.exact(text)[:_ENTITIES]]
    for start, end in _nameless(question, words, common):
        if (start, end) not in spans:
            inner = any(a <= start and end <= b for a, b in spans)
            mentions.append(measured(start, question[start:end], None, inner))
    return mentions


def _place_of(question: str, start: int, end: int, names: EntityNames) -> tuple[int, str]:
    """Return a span with the signs around it that belong to a name, as in `Hush!` or `$9.99`."""
    best = start, question[start:end]
    for label in [candidate.label for candidate in names.exact(question[start:end])]:
        for at in range(max(0, start - 3), start + 1):
            if question.startswith(label, at) and at + len(label) >= end and len(label) > len(best[1]):
                best = at, label
    return best


def _nameless(question: str, words: list[re.Match[str]], known: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Yield runs of words that look like a name: capitalised ones, or ones that no question had before."""
    plain = [word.group() for word in words]
    stop = [is_stopword(word.casefold()) for word in plain]
    new = [
        not small and word.casefold() not in known and stem(word) not in known
        for word, small in zip(plain, stop, strict=True)
    ]
    capital = [
        (word[0].isupper() or word[0].isdigit()) and (at > 0 or not stop[at]) for at, word in enumerate(plain)
    ]
    joins = [small or word == "s" for word, small in zip(plain, stop, strict=True)]
    for begins, joining in ((capital, joins), (new, [False] * len(words))):
        at = 0
        while at < len(words):
            last = at
            for here in range(at, len(words) if begins[at] else at):
                if begins[here]:
                    last = here
                elif not joining[here]:
                    break
            if begins[at]:
                yield words[at].start(), words[last].end()
            at = last + 1


@dataclass(frozen=True)
class Choice:
    """One mention of a question, with what is needed to measure every path from it."""

    span: tuple[float, ...]  # What is measured of the mention
    words: int  # How many words of the rest of the question carry meaning
    covering: Numbers  # For each step of the table the words of the rest that it has, as bits
    meaning: Vector  # For each step its cosine with the question
    # Numbers of the steps that lead away from the entity; None where the graph does not know it
    steps: frozenset[int] | None

    def features(self, table: PathTable) -> Vector:
        """Return what is measured of the span and of every path; shape (paths, features)."""
        # A path that has ended has -1 for further steps, which is the zero at the end.
        bits = np.append(self.covering, 0)[table.paths]
        # Where the graph does not know the entity, nothing speaks against a first step.
        steps = range(len(table.steps)) if self.steps is None else sorted(self.steps)
        own = (
            np.bitwise_count(np.bitwise_or.reduce(bits, axis=1)) / max(1, min(self.words, 63)),
            (bits != 0).sum(axis=1) / table.lengths,
            np.append(self.meaning, 0.0)[table.paths].sum(axis=1) / table.lengths,
            table.lengths == 2,
            table.lengths >= 3,
            ~np.isin(table.paths[:, 0], steps),
        )
        span = np.tile(np.array(self.span, np.float64), (len(table.paths), 1))
        return np.column_stack([span, *own]).astype(np.float64)


_CHOICES = 6
_MANY = 60  # Plans among which one that reads all of the question is looked for
_LONGEST = 2000  # Characters of a question that are looked at
_SLACK = 1.0
"""How much less likely than the first, as a difference of logarithms, a plan with an answer may be."""
_GLANCE = 1000  # Solutions that are enough to see whether a plan has an answer


@dataclass
class PathPlanner:
    """Plans chains of relations from the entity that a question names, without a language model.

    Args:
        kg: The knowledge graph.
        model: Embedding model for likeness of meaning: a name, an object, or None for words alone.
        lacking: Whether the graph may lack what a question asks for. If not, relations count that it has of
            an entity, and a plan about as likely takes the place of the first where only it has an answer.

    Example:
        >>> import mrag
        >>> kg = mrag.demo(model="none")
        >>> plan = PathPlanner(kg, model=None).plan("Which vendor is GraphDB developed by?")
        >>> print(*plan.sub_questions)
        What is “developed by” of GraphDB?
        >>> kg.close()
    """

    kg: KnowledgeGraph
    model: str | Embedder | None = "minilm"
    lacking: bool = False

    def plan(self, question: str) -> TriplePlan:
        """Return the best plan.

        Raises:
            ConfigError: If the question has no words, or the graph no relations.
        """
        plans = self.plans(question, _MANY)
        if not plans:
            hint = "Write names as the graph does, or use a planner with a language model."
            raise ConfigError("The question names nothing that a plan could begin with.", hint=hint)
        # Nothing but the words of the question speaks for a path, so those that read it come first.
        plans = [plan for plan in plans if not (plan.unread or plan.unasked)] or plans[:5]
        first = plans[0]
        for plan in plans:
            if np.log(plan.score) < np.log(first.score) - (0.0 if self.lacking else _SLACK):
                break
            glance = complete_from_graph(self.kg, GroundedPlan(plan), limit=_GLANCE)
            if glance.answers and of_sort(self.kg, glance).plan == plan:
                return plan
        return first

    def plans(self, question: str, k: int) -> list[TriplePlan]:
        """Return the best plans, each with its probability as score; ties in order of IRI and path."""
        table = self.table()
        asked, question = question, question[:_LONGEST]
        mentions = self.mentions(question)
        if not mentions or not len(table.paths):
            return []
        weights = {**_SPAN_WEIGHTS, **_PATH_WEIGHTS, **({"no such step": 0.0} if self.lacking else {})}
        base = np.array([*weights.values()])
        scores = np.stack([choice.features(table) @ base for choice in self.choices(question, mentions)])
        shares = np.exp(scores - scores.max())
        shares /= shares.sum()
        order = np.argsort(-shares, axis=None, kind="stable")[:k]
        rows, columns = np.unravel_index(order, shares.shape)
        return [
            self._plan(asked, mentions[m], table.path(p), float(shares[m, p]))
            for m, p in zip(rows.tolist(), columns.tolist(), strict=True)
        ]

    def table(self) -> PathTable:
        """Return the paths that are considered."""
        return PathTable.of(self.kg)

    def mentions(self, question: str) -> list[Mention]:
        """Return what a question may name, the likeliest first."""
        common = frozenset(stem for stems in self.table().stems for stem in stems)
        mentions = find_mentions(question, EntityNames.of(self.kg), common)
        worth = [*_SPAN_WEIGHTS.values()]
        return sorted(mentions, key=lambda m: (-float(np.dot(m.features, worth)), m.name, m.start))[:_CHOICES]

    def choices(self, question: str, mentions: Sequence[Mention]) -> list[Choice]:
        """Return what there is to choose from for a question of some mentions."""
        table = self.table()
        entities = [str(m.entity.term) for m in mentions if m.entity is not None]
        steps = steps_from(self.kg, entities, table.number)
        meaning = self._meaning(mentions[0].rest(question), table) if mentions else np.zeros(0)
        choices = []
        for mention in mentions:
            stems = content(mention.rest(question))
            away = None if mention.entity is None else frozenset(steps[str(mention.entity.term)])
            choices.append(Choice(mention.features, len(stems), table.covering(stems), meaning, away))
        return choices

    def _meaning(self, rest: str, table: PathTable) -> Vector:
        """Return the cosine of each step's relation with the question."""
        if isinstance(self.model, str):
            self.model = embedder(self.model)
        if self.model is None or not table.steps:
            return np.zeros(len(table.steps))
        relations = Relations.of(self.kg)
        cosines = relations.vectors(self.model) @ self.model.embed_query(rest.replace(_HOLE, "it"))
        by_iri = {relation.iri: cosine for relation, cosine in zip(relations.all, cosines, strict=True)}
        return np.array([by_iri[step.predicate] for step in table.steps], np.float64)

    def _plan(self, question: str, mention: Mention, path: RelationPath, score: float) -> TriplePlan:
        start: Slot = mention.entity.term if mention.entity is not None else mention.text
        unknowns = [Unknown(f"x{n}") for n in range(1, len(path) + 1)]
        triples = [
            IncompleteTriple(a, step.predicate, b) if step.forward else IncompleteTriple(b, step.predicate, a)
            for step, a, b in zip(path, [start, *unknowns], unknowns, strict=False)
        ]
        relations = [Relations.of(self.kg).by_iri[step.predicate] for step in path]
        what = mention.entity.label if mention.entity is not None else mention.text
        asked = [
            f"What is “{r.label}” of {of}?" if step.forward else f"What has {of} as “{r.label}”?"
            for r, step, of in zip(relations, path, [what, *map(str, unknowns)], strict=False)
        ]
        left, unasked = unread(mention.rest(question), path, relations)
        # "Films by the same director" are the others: what the question names is no answer to it.
        return TriplePlan(
            question, tuple(asked), tuple(triples), unknowns[-1], "paths", (start,), score, left, unasked
        )
