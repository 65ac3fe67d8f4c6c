"""Plans of incomplete triples: their parts, how they are written, and a planner by a language model."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeGuard, TypeVar
from typing import Literal as OneOf

from rdflib.term import Node

from mrag import untrusted
from mrag._tables import tables
from mrag.errors import ModelError
from mrag.generation.models import invoke_repaired, json_values
from mrag.generation.result import EvidenceRef
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import Status
from mrag.planning.plan import Unknown
from mrag.rdf.terms import Term

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


MAX_TRIPLES = 12
"""Triples of a plan after which it is refused: a model that repeats itself has no plan."""

_LONGEST = 300
_MAX_READ = 20_000
_UNKNOWN = re.compile(r"\A[?$]\s*([A-Za-z_]\w*)?\Z")
_PLACES = ("subject head s h", "predicate relation p r", "object tail o t")
"""What models call the places of a triple."""


def read_plan(question: str, text: str, value: Any = None) -> TriplePlan:
    """Read a plan that a model wrote as JSON, whatever stands around it.

    Args:
        question: The question.
        text: What the model wrote.
        value: The JSON value in it, where the model's server has read it.

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
        raise ModelError(
            "A triple does not have subject, relation and object.",
            term=str(triple)[:80],
            hint='Write each as ["subject", "relation", "object"].',
        )
    return row


def _plan(question: str, rows: Iterable[list[Any]], asked: tuple[str, ...], answer: str) -> TriplePlan:
    triples = tuple(dict.fromkeys(IncompleteTriple(*map(_slot, row)) for row in rows))
    if not triples:
        raise ModelError(
            "There is no triple in it.", hint='Write at least one ["subject", "relation", "?x"].'
        )
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
