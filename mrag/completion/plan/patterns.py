"""The words of completion: unknowns, incomplete triples, plans, and what completing them gave.

A question becomes a plan: triples with unknowns in them, `(h, r, ?x)`, `(?x, r, t)`, `(h, ?r, t)`, that share
their unknowns, so that what one triple finds is where the next one starts. A slot begins as the text that a
planner wrote, is grounded to a term of the graph, and an unknown is bound to terms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal as OneOf
from typing import Protocol, TypeAlias, TypeGuard

from rdflib.term import Node

from mrag.errors import ConfigError
from mrag.generation.found import EvidenceRef
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import Status
from mrag.planning.plan import Block, Column, Comparison, Pattern, Plan, Unknown
from mrag.rdf.terms import Term

Role: TypeAlias = OneOf["entity", "relation"]
Found: TypeAlias = OneOf["exact", "fuzzy", "dense", "given"]


Slot: TypeAlias = str | Term | Unknown
"""A place of a triple: text as the planner wrote it, a term of the graph, or an unknown."""


def is_text(slot: Slot) -> TypeGuard[str]:
    """Return whether a slot is text that has not been grounded; rdflib's terms are strings too.

    Example:
        >>> from rdflib import URIRef
        >>> is_text("Crash"), is_text(URIRef("urn:crash")), is_text(Unknown("x"))
        (True, False, False)
    """
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
        question: The question as it was asked.
        sub_questions: Questions about one entity or relation each, in the order of answering.
        triples: The triples to complete; they share unknowns.
        answer: The unknown whose values answer the question.
        planner: Name of the planner.
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

    def query_plan(self) -> Plan:
        """Return the query plan that finds what the graph has of it: its values of the answer.

        Raises:
            ConfigError: If a text has not been grounded yet.

        Example:
            >>> from rdflib import URIRef
            >>> x = Unknown("x")
            >>> triple = IncompleteTriple(URIRef("urn:crash"), URIRef("urn:director"), x)
            >>> print(TriplePlan("Who?", (), (triple,), x, "hand").query_plan().where.patterns[0])
            (urn:crash, urn:director, ?x)
        """
        if self.texts():
            raise ConfigError("A plan with texts is no query yet.", hint="Ground it first.")
        patterns = tuple(Pattern(t.subject, t.predicate, t.object) for t in self.triples)  # type: ignore[arg-type]
        others = tuple(Comparison(self.answer, "!=", term) for term in self.excluded)  # type: ignore[arg-type]
        return Plan(Block(patterns, others), (Column(self.answer, self.answer.name),))

    def texts(self) -> dict[tuple[str, Role], None]:
        """Return the texts to ground with their roles, each once, in order of first use."""
        found: dict[tuple[str, Role], None] = {}
        for triple in self.triples:
            for slot, role in zip(triple.slots, ROLES, strict=True):
                if is_text(slot):
                    found[slot, role] = None
        found.update({(slot, "entity"): None for slot in self.excluded if is_text(slot)})
        return found


ROLES: tuple[Role, Role, Role] = ("entity", "relation", "entity")
"""What stands in the three places of a triple."""


@dataclass(frozen=True)
class TermCandidate:
    """A term of the graph that a text may mean.

    Attributes:
        term: The term; it occurs in the graph.
        score: Similarity of the text to its best label, from 0 to 1; 1 is equal to it letter by letter.
        label: That label.
        found: How it was found.
    """

    term: Term
    score: float
    label: str
    found: Found = "exact"


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
    """A triple that a plan asked for.

    Attributes:
        subject: A term of the graph, or a new IRI where it was read in evidence.
        predicate: A predicate of the graph.
        object: A term.
        status: `completed` was read in evidence, now or, where it stands in the graph, earlier; the others
            are of the graph.
        evidence: Where it was read; empty for triples of the graph.
        confidence: From 0 to 1; 1 for what stands in the graph.
    """

    subject: Term
    predicate: Term
    object: Term
    status: Status
    evidence: tuple[EvidenceRef, ...] = ()
    confidence: float = 1.0

    @property
    def terms(self) -> tuple[Term, Term, Term]:
        """Return subject, predicate and object."""
        return self.subject, self.predicate, self.object


@dataclass(frozen=True)
class Completion:
    """What completing a plan gave.

    Attributes:
        question: The question.
        plan: The grounded plan.
        bindings: Every solution of all the plan's triples, by name of unknown, in order.
        triples: The triples that solutions rest on, each once, in order of the plan and of terms.
        missing: Triples that nothing was found for, with their unknowns bound as far as known.
        asked: Triples as they were looked for, with what was known by then; the missing are among them.
        answers: The values of the plan's answer, each once, best supported first, ties in order of term.
        support: For each answer the triples that lead to it, a way at a time.
        ungrounded: Texts of the plan that the graph does not know, with their roles.
        truncated: Whether a bound on solutions cut something off.
    """

    question: str
    plan: TriplePlan
    bindings: list[dict[str, Term]]
    triples: list[CompletedTriple]
    missing: list[IncompleteTriple]
    answers: list[Term]
    asked: list[IncompleteTriple] = field(default_factory=list)
    support: Mapping[Term, tuple[CompletedTriple, ...]] = field(default_factory=dict)
    ungrounded: tuple[tuple[str, Role], ...] = ()
    truncated: bool = False

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
        """Return triples that match, each with what it was read in; an empty list means no evidence.

        Args:
            kg: The knowledge graph.
            triple: Its terms are of the graph; text is what could not be grounded.
            k: Most passages and regions to read.
        """


def with_terms(plan: TriplePlan, best: Mapping[tuple[str, Role], Term]) -> TriplePlan:
    """Return a plan with terms in place of texts.

    Args:
        plan: The plan.
        best: A term for each text and role; texts without stay.

    Example:
        >>> from rdflib import URIRef
        >>> x = Unknown("x")
        >>> plan = TriplePlan("Who?", (), (IncompleteTriple("Crash", "director", x),), x, "hand")
        >>> print(with_terms(plan, {("Crash", "entity"): URIRef("urn:crash")}).triples[0])
        (urn:crash, director, ?x)
    """
    return with_slots(plan, lambda slot, role: best.get((slot, role), slot) if is_text(slot) else slot)


def with_slots(plan: TriplePlan, put: Callable[[Slot, Role], Slot]) -> TriplePlan:
    """Return a plan with every place replaced by what a function makes of it and its role.

    Args:
        plan: The plan.
        put: The function.
    """
    triples = []
    for triple in plan.triples:
        s, p, o = (put(slot, role) for slot, role in zip(triple.slots, ROLES, strict=True))
        triples.append(IncompleteTriple(s, p, o))
    excluded = tuple(put(slot, "entity") for slot in plan.excluded)
    return replace(plan, triples=tuple(triples), excluded=excluded)
