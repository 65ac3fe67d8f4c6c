"""Plans of incomplete triples: their parts, a planner by a language model, and their completion.

Every pattern of a plan is looked up in the graph, and all are joined over shared unknowns.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeGuard, TypeVar
from typing import Literal as OneOf

from rdflib import BNode, Literal, URIRef
from rdflib.term import Node

from mrag import untrusted
from mrag._tables import tables
from mrag.completion.checks import SchemaFacts
from mrag.errors import ModelError
from mrag.generation.models import invoke_repaired, json_values
from mrag.generation.result import EvidenceRef
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import Status, status_of
from mrag.planning.plan import Unknown
from mrag.rdf import queries
from mrag.rdf.terms import Term
from mrag.stores.base import Dataset

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage

T = TypeVar("T")
Role: TypeAlias = OneOf["entity", "relation"]
Found: TypeAlias = OneOf["exact", "fuzzy", "dense", "given"]


Slot: TypeAlias = str | Term | Unknown
"""A place of a triple: text as the planner wrote it, a term of the graph, or an unknown."""


def is_text(slot: Slot) -> TypeGuard[str]:
    """Return whether a slot is text that has not been grounded; rdflib's terms are strings too."""
    return isinstance(slot, str) and not isinstance(slot, Node)


@dataclass(frozen=True)
class IncompleteTriple:
    """A triple in which any of the three places may be unknown.

    Example:
        >>> triple = IncompleteTriple("Crash", "directed by", Unknown("who"))
        >>> print(triple, [str(u) for u in triple.unknowns()])
        (Crash, directed by, ?who) ['?who']
    """

    subject: Slot
    predicate: Slot
    object: Slot

    @property
    def slots(self) -> tuple[Slot, Slot, Slot]:
        """Return the three places in order."""
        return self.subject, self.predicate, self.object

    def unknowns(self) -> Iterator[Unknown]:
        """Yield the unknowns in order of place, each once."""
        yield from dict.fromkeys(slot for slot in self.slots if isinstance(slot, Unknown))

    def bind(self, binding: Mapping[str, Term]) -> IncompleteTriple:
        """Return it with the unknowns that a binding names replaced by their terms."""
        s, p, o = (binding.get(x.name, x) if isinstance(x, Unknown) else x for x in self.slots)
        return IncompleteTriple(s, p, o)

    def __str__(self) -> str:
        return f"({self.subject}, {self.predicate}, {self.object})"


@dataclass(frozen=True)
class TriplePlan:
    """How a question is to be answered from triples.

    Attributes:
        sub_questions: Questions about one entity or relation each, in the order of answering.
        triples: The triples to complete; they share unknowns.
        answer: The unknown whose values answer the question.
        excluded: What no unknown may stand for. A question for *other* films of a director asks for films
            that are not the one it names.
        score: How sure the planner is, if it can say; comparable between plans of one planner.
        unread: Words of the question that carry meaning and that the plan leaves out, where the planner can
            say; what the plan finds is then no answer.
        unasked: Relations of the plan that no word of the question asks for, in words; likewise.
    """

    question: str
    sub_questions: tuple[str, ...]
    triples: tuple[IncompleteTriple, ...]
    answer: Unknown
    planner: str
    excluded: tuple[Slot, ...] = ()
    score: float = 1.0
    unread: tuple[str, ...] = ()
    unasked: tuple[str, ...] = ()

    def texts(self) -> dict[tuple[str, Role], None]:
        """Return the texts to ground with their roles, each once, in order of first use."""
        texts: dict[tuple[str, Role], None] = {}
        for triple in self.triples:
            for slot, role in zip(triple.slots, ROLES, strict=True):
                if is_text(slot):
                    texts[slot, role] = None
        texts.update({(slot, "entity"): None for slot in self.excluded if is_text(slot)})
        return texts


ROLES: tuple[Role, Role, Role] = ("entity", "relation", "entity")
"""What stands in the three places of a triple."""


@dataclass(frozen=True)
class TermCandidate:
    """A term of the graph that a text may mean."""

    term: Term  # The term; it occurs in the graph
    score: float  # Similarity of the text to its best label, from 0 to 1; 1 is equal to it letter by letter
    label: str  # That label
    found: Found = "exact"  # How it was found


@dataclass(frozen=True)
class GroundedPlan:
    """A plan whose texts have been linked to terms of the graph.

    Attributes:
        plan: The plan with the best candidate in place of each text; a text that could not be grounded stays.
        candidates: For each text and role the candidates that are kept, best first.
        ungrounded: Texts, with their roles, for which the graph has nothing.
        source: The plan as the planner wrote it; `plan` itself when it needed no grounding.
    """

    plan: TriplePlan
    candidates: Mapping[tuple[str, Role], tuple[TermCandidate, ...]] = field(default_factory=dict)
    ungrounded: tuple[tuple[str, Role], ...] = ()
    source: TriplePlan | None = None

    @property
    def planned(self) -> TriplePlan:
        """Return the plan as the planner wrote it."""
        return self.source or self.plan

    def terms(self, slot: Slot, role: Role) -> tuple[Term, ...]:
        """Return what a slot of the source plan may stand for: its kept candidates, or itself if a term."""
        if isinstance(slot, Unknown):
            return ()
        if is_text(slot):
            return tuple(c.term for c in self.candidates.get((slot, role), ()))
        return (slot,)  # type: ignore[return-value]  # neither text nor unknown


@dataclass(frozen=True)
class CompletedTriple:
    """A triple that a plan asked for."""

    subject: Term  # A term of the graph, or a new IRI where it was read in evidence
    predicate: Term
    object: Term
    # `completed` was read in evidence, now or, where it stands in the graph, earlier; the others are of
    # the graph
    status: Status
    evidence: tuple[EvidenceRef, ...] = ()  # Where it was read; empty for triples of the graph
    confidence: float = 1.0  # From 0 to 1; 1 for what stands in the graph

    @property
    def terms(self) -> tuple[Term, Term, Term]:
        """Return subject, predicate and object."""
        return self.subject, self.predicate, self.object


@dataclass(frozen=True)
class Completion:
    """What completing a plan gave."""

    question: str
    plan: TriplePlan
    bindings: list[dict[str, Term]]  # Every solution of all the plan's triples, by name of unknown, in order
    # The triples that solutions rest on, each once, in order of the plan and of terms
    triples: list[CompletedTriple]
    # Triples that nothing was found for, with their unknowns bound as far as known
    missing: list[IncompleteTriple]
    # The values of the plan's answer, each once, best supported first, ties in order of term
    answers: list[Term]
    # Triples as they were looked for, with what was known by then; the missing are among them
    asked: list[IncompleteTriple] = field(default_factory=list)
    # For each answer the triples that lead to it, a way at a time
    support: Mapping[Term, tuple[CompletedTriple, ...]] = field(default_factory=dict)
    # Texts of the plan that the graph does not know, with their roles
    ungrounded: tuple[tuple[str, Role], ...] = ()
    truncated: bool = False  # Whether a bound on solutions cut something off

    @property
    def read(self) -> list[CompletedTriple]:
        """Return the triples that were read in evidence."""
        return [t for t in self.triples if t.status == "completed" and t.evidence]


class Planner(Protocol):
    """Turns a question into a plan."""

    def plan(self, question: str) -> TriplePlan:
        """Return a plan.

        Raises:
            ModelError: If a model gave nothing that can be used, also after one repair.
        """


class EvidenceSource(Protocol):
    """Completes a triple from texts and images, where the graph has nothing."""

    def complete(self, kg: KnowledgeGraph, triple: IncompleteTriple, k: int) -> list[CompletedTriple]:
        """Return triples that match, each with what it was read in, at most `k` passages and regions.

        Terms of the triple are of the graph; text is what could not be grounded.
        """


def with_terms(plan: TriplePlan, best: Mapping[tuple[str, Role], Term]) -> TriplePlan:
    """Return a plan with terms in place of texts."""
    return with_slots(plan, lambda slot, role: best.get((slot, role), slot) if is_text(slot) else slot)


def with_slots(plan: TriplePlan, put: Callable[[Slot, Role], Slot]) -> TriplePlan:
    """Return a plan with every place replaced by what a function makes of it and its role."""
    triples = []
    for triple in plan.triples:
        s, p, o = (put(slot, role) for slot, role in zip(triple.slots, ROLES, strict=True))
        triples.append(IncompleteTriple(s, p, o))
    excluded = tuple(put(slot, "entity") for slot in plan.excluded)
    return replace(plan, triples=tuple(triples), excluded=excluded)


MAX_TRIPLES = 12  # Triples of a plan after which it is refused: a model that repeats itself has no plan

_LONGEST = 300
_MAX_READ = 20_000
_UNKNOWN = re.compile(r"\A[?$]\s*([A-Za-z_]\w*)?\Z")
_PLACES = ("subject head s h", "predicate relation p r", "object tail o t")
"""What models call the places of a triple."""


def read_plan(question: str, text: str, value: Any = None) -> TriplePlan:
    """Read a plan that a model wrote as JSON, whatever stands around it, or that its server read as a value.

    Raises:
        ModelError: If it is no plan.
    """
    values = [value] if value is not None else list(json_values(text[:_MAX_READ]))
    written = next((one for one in values if _holds_triples(one)), None)
    if written is None:
        written = [one for one in values if _is_triple(one)]  # what is left of JSON that was cut off
    if isinstance(written, list):
        written = {"triples": written}
    kept = {str(key).casefold().replace(" ", "_").replace("-", "_"): given for key, given in written.items()}
    triples = kept.get("triples", kept.get("triple", []))
    triples = [triples] if _is_triple(triples) else triples
    if not isinstance(triples, list):
        raise ModelError("`triples` is not a list.", hint='Write "triples": [["subject", "relation", "?x"]].')
    asked = kept.get("sub_questions", kept.get("subquestions", []))
    asked = [asked] if isinstance(asked, str) else asked if isinstance(asked, list) else []
    sub_questions = tuple(str(q) for q in asked if str(q).strip())
    return _plan(question, map(_row, triples), sub_questions, str(kept.get("answer", "")))


def _holds_triples(value: Any) -> bool:
    if isinstance(value, dict):
        return any("triple" in str(key).casefold() for key in value)
    return isinstance(value, list) and bool(value) and all(isinstance(x, list | dict) for x in value)


def _is_triple(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 3 and all(isinstance(x, str) for x in value)


def _row(triple: Any) -> list[Any]:
    """Return the three places of a triple as a model wrote them."""
    if isinstance(triple, Mapping):
        kept = {str(key).casefold(): given for key, given in triple.items()}
        triple = [next((kept[n] for n in names.split() if n in kept), None) for names in _PLACES]
    row = triple if isinstance(triple, list) else []
    if len(row) != 3 or not all(isinstance(x, str | int | float) and str(x).strip() for x in row):
        what = "A triple does not have subject, relation and object."
        raise ModelError(what, term=str(triple)[:80], hint='Write each as ["subject", "relation", "object"].')
    return row


def _plan(question: str, rows: Iterable[list[Any]], asked: tuple[str, ...], answer: str) -> TriplePlan:
    triples = tuple(dict.fromkeys(IncompleteTriple(*map(_slot, row)) for row in rows))
    if not triples:
        what = "There is no triple in it."
        raise ModelError(what, hint='Write at least one ["subject", "relation", "?x"].')
    if len(triples) > MAX_TRIPLES:
        raise ModelError(f"There are {len(triples)} triples.", hint=f"Write at most {MAX_TRIPLES}.")
    unknowns = list(dict.fromkeys(u for triple in triples for u in triple.unknowns()))
    if not unknowns:
        raise ModelError("No triple has an unknown.", hint="Write ?x in the place of what is asked for.")
    wanted = unknowns[-1]
    if (given := answer.strip()) and len(unknowns) > 1:
        match = _UNKNOWN.match(given)
        wanted = Unknown((match[1] or "x") if match else given)
        if wanted not in unknowns:
            hint = f"It is one of {', '.join(map(str, unknowns))}."
            raise ModelError(f"The answer {given[:40]} is in no triple.", hint=hint)
    # What a question names is no answer to it: "other films of the director of Alien" are the others.
    named = dict.fromkeys(slot for t in triples for slot in (t.subject, t.object) if is_text(slot))
    return TriplePlan(question, asked, triples, wanted, "model", tuple(named))


def _slot(given: object) -> Slot:
    text = " ".join(str(given).split())[:_LONGEST]
    match = _UNKNOWN.match(text)
    return Unknown(match[1] or "x") if match else text


_PROMPT: Mapping[str, Any] = tables("completion/prompts.toml")["plan"]


@dataclass
class ModelPlanner:
    """Plans by a chat model, whose server is held to the form of a plan where it can be.

    Example:
        >>> from langchain_core.language_models import FakeListChatModel
        >>> plan = '{"triples": [["Up", "directed by", "?who"]]}'
        >>> model = FakeListChatModel(responses=["I cannot.", plan])
        >>> print(ModelPlanner(model).plan("Who directed Up?").triples[0])
        (Up, directed by, ?who)
    """

    model: BaseChatModel

    def plan(self, question: str) -> TriplePlan:
        """Return a plan.

        Raises:
            ModelError: If the model cannot be reached, or gave no plan twice.
        """
        from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

        messages: list[BaseMessage] = [SystemMessage(_PROMPT["system"])]
        for one in _PROMPT["examples"]:
            messages += [HumanMessage(f"Question: {one['question']}"), AIMessage(one["plan"])]
        messages.append(HumanMessage(f"Question: {untrusted.one_line(question)}"))

        def read(text: str, value: Any) -> tuple[TriplePlan | None, str]:
            try:
                return read_plan(question, text, value), ""
            except ModelError as error:
                return None, " ".join(filter(None, (error.message, error.term, error.hint)))

        plan, problem = invoke_repaired(self.model, messages, _PROMPT["schema"], read)
        if plan is None:
            hint = "Try another model, or the planner without one."
            raise ModelError(f"The language model gave no plan: {problem}", hint=hint)
        return plan


Known = tuple[Term | None, Term | None, Term | None]  # What is known of a triple; None is unknown

KnownPlaces = tuple[bool, ...]  # Which of the three places are known

_BATCH = 500
_MAX_ROWS = 10_000  # Sorted rows that any server gives at once; Virtuoso refuses more
_FILES: dict[KnownPlaces, str] = {
    (True, True, True): "completion/holds",
    (True, True, False): "completion/objects",
    (False, True, True): "completion/subjects",
    (True, False, True): "completion/predicates",
    (True, False, False): "completion/from-subjects",
    (False, False, True): "completion/from-objects",
    (False, True, False): "completion/from-predicates",
}


class TripleLookup:
    """Looks triples up in a graph and in facts that are not in it yet."""

    def __init__(
        self, kg: KnowledgeGraph, facts: Sequence[CompletedTriple] = (), *, limit: int = _MAX_ROWS
    ) -> None:
        self._kg = kg
        self._facts = facts
        self._limit = min(limit, _MAX_ROWS)
        self._layers = _layers(kg)
        self.truncated = False

    def find(self, keys: Iterable[Known]) -> dict[Known, list[CompletedTriple]]:
        """Return the triples for each key, in order of term; all keys have one shape.

        What stands in the graph comes once, asserted before inferred, and before the same read in evidence.
        """
        wanted = list(dict.fromkeys(keys))
        triples: dict[Known, dict[tuple[Term, Term, Term], CompletedTriple]] = {key: {} for key in wanted}
        if not wanted:
            return {}
        shape = tuple(term is not None for term in wanted[0])
        asked = [key for key in wanted if _possible(key)]
        for status, dataset in self._layers if shape in _FILES else ():
            for start in range(0, len(asked), _BATCH):
                for s, p, o in self._select(shape, asked[start : start + _BATCH], dataset):
                    triple = CompletedTriple(s, p, o, status)
                    triples[_key(triple, shape)].setdefault(triple.terms, triple)
        for fact in self._facts:
            if (at := _key(fact, shape)) in triples:
                triples[at].setdefault(fact.terms, fact)
        return {
            key: [triples[t] for t in sorted(triples, key=_triple_order)] for key, triples in triples.items()
        }

    def _select(
        self, shape: KnownPlaces, keys: Sequence[Known], dataset: Dataset
    ) -> Iterator[tuple[Term, Term, Term]]:
        query = queries.get(_FILES[shape])
        rows = [(Literal(n), *(term for term in key if term is not None)) for n, key in enumerate(keys)]
        text = query.bind(**{query.params[0]: rows}, limit=self._limit)
        stream = self._kg.store.select(text, dataset).rows
        if len(stream) >= self._limit and len(keys) > 1:
            half = len(keys) // 2
            yield from self._select(shape, keys[:half], dataset)
            yield from self._select(shape, keys[half:], dataset)
            return
        self.truncated = self.truncated or len(stream) >= self._limit
        for n, *terms in stream:
            # Virtuoso gives some numbers that were asked for in another datatype.
            s, p, o = (
                given if asked is None else asked
                for asked, given in zip(keys[int(str(n))], terms, strict=True)
            )
            if s is not None and p is not None and o is not None:
                yield s, p, o


def _layers(kg: KnowledgeGraph) -> list[tuple[Status, Dataset]]:
    """Return the graphs of each status; asserted first, so that it wins where servers give both."""
    groups: dict[Status, list[str]] = {}
    for graph in kg.dataset("asserted").default:
        groups.setdefault(status_of(graph), []).append(graph)
    if inferred := kg.dataset("inferred").default:
        groups["inferred"] = list(inferred)
    named = kg.dataset().named
    order: tuple[Status, ...] = ("asserted", "completed", "enriched", "inferred")
    return [(status, Dataset(tuple(groups[status]), named)) for status in order if status in groups]


def _possible(key: Known) -> bool:
    """Return whether RDF allows such a triple, and SPARQL such a value."""
    s, p, o = key
    if isinstance(s, Literal | BNode) or isinstance(o, BNode):
        return False
    return p is None or isinstance(p, URIRef)


def _key(triple: CompletedTriple, shape: KnownPlaces) -> Known:
    s, p, o = (term if known else None for term, known in zip(triple.terms, shape, strict=True))
    return s, p, o


def _triple_order(terms: tuple[Term, Term, Term]) -> tuple[str, ...]:
    return tuple(term.n3() for term in terms)


_MAX_SOLUTIONS = 20_000
_MAX_FORMS = 20  # Forms of one triple that are reported as missing or asked, at most


def complete_from_graph(
    kg: KnowledgeGraph,
    grounded: GroundedPlan,
    *,
    facts: Sequence[CompletedTriple] = (),
    limit: int = _MAX_SOLUTIONS,
) -> Completion:
    """Complete a plan from the graph.

    Inferred triples count as asserted ones do, and are marked. The closest candidates of each text are tried
    first, and the others where those give nothing. A triple that was planned in words is also looked for with
    subject and object swapped, since planners often have a relation the other way. Two
    places of a pattern, one of them a predicate, may be unknown as well as one; of a pattern with nothing
    known nothing is looked up.

    Args:
        kg: The knowledge graph.
        grounded: The plan; `GroundedPlan(plan)` for one that was written in terms of the graph.
        facts: Triples read in evidence, which count as if they stood in the graph.
        limit: Most solutions of the join; also most triples of one lookup, up to 10,000.

    Example:
        >>> from rdflib import URIRef
        >>> from mrag.stores.oxigraph import OxigraphStore
        >>> from mrag.completion.patterns import TriplePlan
        >>> from mrag.rdf.terms import Triple
        >>> kg = KnowledgeGraph(OxigraphStore())
        >>> film, by, who, born, rome = (URIRef("urn:x:" + n) for n in ("film", "by", "who", "born", "rome"))
        >>> _ = kg.insert([Triple(film, by, who), Triple(who, born, rome)])
        >>> x, y = Unknown("x"), Unknown("y")
        >>> triples = (IncompleteTriple(film, by, x), IncompleteTriple(x, born, y))
        >>> complete_from_graph(kg, GroundedPlan(TriplePlan("Where?", (), triples, y, "hand"))).answers
        [rdflib.term.URIRef('urn:x:rome')]
        >>> kg.close()
    """
    lookup = TripleLookup(kg, facts, limit=limit)
    closest = _Join(grounded, lookup, limit, closest=True).run()
    if closest.bindings or all(len(kept) < 2 for kept in grounded.candidates.values()):
        return closest
    wider = _Join(grounded, lookup, limit, closest=False).run()
    return wider if wider.bindings else closest


def complete(
    kg: KnowledgeGraph,
    grounded: GroundedPlan,
    evidence: EvidenceSource | None = None,
    *,
    k: int = 5,
    always: bool = False,
) -> Completion:
    """Complete a plan from the graph, and from evidence where the graph has nothing.

    What the evidence gives binds the unknowns of the triples after it, which are then looked up in the graph
    and, where it has nothing, in the evidence again.

    Args:
        kg: The knowledge graph.
        grounded: The plan.
        evidence: Where to read; the graph alone when None.
        k: Most passages and regions for each triple.
        always: Read for every triple, also for those that the graph has matches for, since a graph may hold
            some of the answers only.
    """
    facts: dict[tuple[Term, Term, Term], CompletedTriple] = {}
    done: set[IncompleteTriple] = set()
    # Evidence for one triple brings the next one in reach, so a chain takes as many rounds as it has triples.
    for left in range(2 * len(grounded.planned.triples), -1, -1):
        completion = complete_from_graph(kg, grounded, facts=list(facts.values()))
        todo = completion.asked if always else completion.missing
        todo = _fitting(kg, [triple for triple in todo if triple not in done])
        if evidence is None or not todo or not left:
            break
        for triple in todo:
            done.add(triple)
            for fact in evidence.complete(kg, triple, k):
                facts.setdefault(fact.terms, fact)
                grounded = _give(grounded, triple, fact)
    return completion


def _fitting(kg: KnowledgeGraph, triples: Sequence[IncompleteTriple]) -> list[IncompleteTriple]:
    """Return the triples whose known ends can have their predicate, by its domain and range.

    What evidence says of an end that cannot is said of another relation, whatever the words are.
    """
    ends = [triple.slots for triple in triples]
    facts = SchemaFacts(kg)
    facts.read_properties(sorted({str(p) for _, p, _ in ends if isinstance(p, URIRef)}))
    facts.read_types(sorted({str(e) for s, _, o in ends for e in (s, o) if isinstance(e, URIRef)}))
    facts.read_classes()

    def fits(end: Slot, wanted: set[str]) -> bool:
        return not (isinstance(end, URIRef) and facts.foreign(str(end), wanted))

    return [
        triple
        for triple, (s, p, o) in zip(triples, ends, strict=True)
        if fits(s, facts.domains[str(p)]) and fits(o, facts.ranges[str(p)])
    ]


def _give(grounded: GroundedPlan, triple: IncompleteTriple, fact: CompletedTriple) -> GroundedPlan:
    """Return a plan in which a text means what evidence put in its place."""
    kept = dict(grounded.candidates)
    for slot, role, term in zip(triple.slots, ROLES, fact.terms, strict=True):
        if is_text(slot) and all(c.term != term for c in kept.get((slot, role), ())):
            kept[slot, role] = (
                *kept.get((slot, role), ()),
                TermCandidate(term, fact.confidence, slot, "given"),
            )
    best = {key: candidates[0].term for key, candidates in kept.items() if candidates}
    return replace(
        grounded, plan=with_terms(grounded.planned, best), candidates=kept, source=grounded.planned
    )


@dataclass(frozen=True)
class _Row:
    """A solution of the patterns joined so far."""

    binding: Mapping[str, Term]
    triples: tuple[CompletedTriple, ...] = ()


class _Join:
    """The patterns of a plan joined one after the other, each over all rows so far."""

    def __init__(self, grounded: GroundedPlan, lookup: TripleLookup, limit: int, closest: bool) -> None:
        self.grounded, self.lookup, self.limit = grounded, lookup, limit
        self.patterns = grounded.planned.triples
        self.rows = [_Row({})]
        self.asked: dict[int, list[IncompleteTriple]] = {}
        self.truncated = False
        self.domains: dict[str, tuple[Term, ...]] = {}
        self.scores: dict[tuple[str, Term], float] = {}
        for slot, role in (pair for t in self.patterns for pair in zip(t.slots, ROLES, strict=True)):
            if isinstance(slot, Unknown):
                continue
            name = _name(slot, role)
            kept = grounded.candidates.get((slot, role), ()) if is_text(slot) else ()
            if closest:
                kept = tuple(c for c in kept if c.score == kept[0].score)
            self.domains[name] = tuple(c.term for c in kept) if is_text(slot) else grounded.terms(slot, role)
            self.scores.update({(name, c.term): c.score for c in kept})
        excluded = grounded.planned.excluded
        self.excluded = {term for slot in excluded for term in grounded.terms(slot, "entity")}
        self.unknowns = {u.name for triple in self.patterns for u in triple.unknowns()}

    def run(self) -> Completion:
        """Join the patterns, those with most known places first, then in order of the plan."""
        places = range(len(self.patterns))
        absent = [at for at in places if self._nameless(at)]
        left = [at for at in places if at not in absent]
        while left:
            at = max(left, key=lambda i: (self._count_known(i), -i))
            left.remove(at)
            if absent and not self._count_known(at)[0]:
                continue  # nothing leads there yet, and any triple of its predicate would do
            if not self._step(at):
                absent.append(at)
        return self._completion(absent)

    def _count_known(self, at: int) -> tuple[int, int]:
        bound = self.rows[0].binding
        known = [bool(bound.get(n) or self.domains.get(n)) for n in self._names(at)]
        # A predicate alone narrows little down: any end comes before it.
        return int(known[0] or known[2]), sum(known)

    def _nameless(self, at: int) -> bool:
        """Return whether a pattern has a text that was not grounded."""
        pairs = zip(self.patterns[at].slots, self._names(at), strict=True)
        return any(is_text(slot) and not self.domains[name] for slot, name in pairs)

    def _names(self, at: int) -> tuple[str, str, str]:
        s, p, o = (_name(x, role) for x, role in zip(self.patterns[at].slots, ROLES, strict=True))
        return s, p, o

    def _step(self, at: int) -> bool:
        """Join one pattern; the rows stay as they are where nothing matches."""
        self.asked[at] = self._bound(at)
        s, p, o = self._names(at)
        rows = self._join((s, p, o))
        if not rows and is_text(self.patterns[at].predicate):
            rows = self._join((o, p, s))
        self.rows = rows or self.rows
        return bool(rows)

    def _join(self, names: tuple[str, str, str]) -> list[_Row]:
        keys = [list(self._keys(row, names)) for row in self.rows]
        matches = self.lookup.find(key for several in keys for key in several)
        rows: list[_Row] = []
        for row, several in zip(self.rows, keys, strict=True):
            for triple in (triple for key in several for triple in matches[key]):
                binding = self._agree(row, names, triple)
                if binding is None:
                    continue
                if len(rows) >= self.limit:
                    self.truncated = True
                    return rows
                rows.append(_Row(binding, (*row.triples, triple)))
        return rows

    def _keys(self, row: _Row, names: tuple[str, str, str]) -> Iterator[Known]:
        bound = ((name, row.binding.get(name)) for name in names)
        choices = [(term,) if term is not None else self.domains.get(name) or (None,) for name, term in bound]
        for s, p, o in product(*choices):
            if s is not None or p is not None or o is not None:
                yield s, p, o

    def _agree(
        self, row: _Row, names: tuple[str, str, str], triple: CompletedTriple
    ) -> dict[str, Term] | None:
        """Return what a row and a triple bind together, None where they do not agree."""
        binding = dict(row.binding)
        for name, term in zip(names, triple.terms, strict=True):
            if binding.setdefault(name, term) != term or (name in self.unknowns and term in self.excluded):
                return None
        return binding

    def _bound(self, at: int) -> list[IncompleteTriple]:
        """Return a pattern as it is looked for, for each row, the closest candidates in place of texts."""
        triple = self.grounded.plan.triples[at]
        bound = ({n: t for n, t in row.binding.items() if n in self.unknowns} for row in self.rows)
        return sorted(dict.fromkeys(map(triple.bind, bound)), key=str)[:_MAX_FORMS]

    def _completion(self, absent: list[int]) -> Completion:
        plan = self.grounded.plan
        triples = {triple.terms: triple for row in reversed(self.rows) for triple in reversed(row.triples)}
        missing = {at: self._bound(at) for at in sorted(absent)}
        self.asked.update(missing)
        solutions = self.rows if not missing and self.patterns else []
        bindings: dict[tuple[str, ...], dict[str, Term]] = {}
        worth: dict[Term, tuple[float, int]] = {}
        support: dict[Term, dict[CompletedTriple, None]] = {}
        for row in solutions:
            shown = {name: row.binding[name] for name in sorted(self.unknowns)}
            bindings.setdefault(tuple(term.n3() for term in shown.values()), shown)
            if (answer := row.binding.get(plan.answer.name)) is not None:
                best, count = worth.get(answer, (0.0, 0))
                worth[answer] = (max(best, self._score(row)), count + 1)
                support.setdefault(answer, {}).update(dict.fromkeys(row.triples))
        answers = sorted(worth, key=lambda t: (-worth[t][0], -worth[t][1], t.n3()))
        return Completion(
            question=plan.question,
            plan=plan,
            bindings=[bindings[key] for key in sorted(bindings)],
            triples=[triples[terms] for terms in sorted(triples, key=_triple_order)],
            missing=[form for forms in missing.values() for form in forms],
            answers=answers,
            asked=list(dict.fromkeys(form for at in sorted(self.asked) for form in self.asked[at])),
            support={answer: tuple(support[answer]) for answer in answers},
            ungrounded=self.grounded.ungrounded,
            truncated=self.truncated or self.lookup.truncated,
        )

    def _score(self, row: _Row) -> float:
        sure = (self.scores.get(pair, 1.0) for pair in row.binding.items())
        return prod((*sure, *(triple.confidence for triple in row.triples)))


def _name(slot: Slot, role: Role) -> str:
    """Name a place for the join: unknowns by their name, texts and terms by what cannot be one."""
    if isinstance(slot, Unknown):
        return slot.name
    return f"{role} {slot}" if not isinstance(slot, Node) else f"term {slot.n3()}"
