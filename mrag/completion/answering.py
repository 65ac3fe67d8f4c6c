"""An answer from completed triples, with citations to triples, passages and regions of images.

Without a language model the answer is the values themselves; with one, the model writes it from the triples
alone. Either way citations are computed: each sentence is held against the triples.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from rdflib import BNode, Literal, URIRef

from mrag import untrusted
from mrag.completion.grounding import of_kind, of_sort
from mrag.completion.patterns import CompletedTriple, Completion, IncompleteTriple, Slot
from mrag.context.display import Display
from mrag.context.render import Context, Line
from mrag.generation.answering import answer as generate
from mrag.generation.found import Completed, EvidenceRef
from mrag.generation.result import Answer, Citation, Sentence
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import SKOLEM, Term, Triple, ntriples_terms

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

_MAX_LINES = 160
_MAX_ANSWERS = 50
_MAX_CITED = 6
_MAX_MISSING = 5


@dataclass(frozen=True)
class CompletedAnswer:
    """An answer and all that it rests on.

    Attributes:
        answer: The text with its citations, and where they were read.
        completion: The triples and solutions.
    """

    answer: Answer
    completion: Completion

    @property
    def text(self) -> str:
        """Return the answer in words, with the ids of what it rests on."""
        return self.answer.text

    @property
    def answers(self) -> tuple[str, ...]:
        """Return the values that answer the question, as a person reads them, best supported first."""
        return self._completed.answers

    @property
    def evidence(self) -> Mapping[str, tuple[EvidenceRef, ...]]:
        """Return for the id of each cited line that was read in evidence where."""
        return self._completed.evidence

    def to_json(self) -> dict[str, Any]:
        """Return the answer as JSON values."""
        return self.answer.to_json()

    def _repr_html_(self) -> str:
        return self.answer._repr_html_()

    def __str__(self) -> str:
        return str(self.answer)

    @property
    def _completed(self) -> Completed:
        return self.answer.completed or Completed()


def answer(
    kg: KnowledgeGraph,
    completion: Completion,
    model: BaseChatModel | None = None,
    *,
    names: Mapping[str, str] | None = None,
) -> CompletedAnswer:
    """Answer a question from its completed triples.

    Args:
        kg: The knowledge graph, for labels.
        completion: What completing the question's plan gave.
        model: A chat model that words the answer; without one the values are given as they are.
        names: Names of entities that the graph does not know yet, by IRI.

    Returns:
        The answer. Where triples are missing it says which, and no model is asked.

    Raises:
        ModelError: If the model cannot be reached or gives no text.

    Example:
        >>> import mrag
        >>> from mrag.completion.graph import complete_from_graph
        >>> from mrag.completion.grounding import ground
        >>> from mrag.completion.patterns import TriplePlan, Unknown
        >>> kg, x = mrag.demo(model="none"), Unknown("x")
        >>> triple = IncompleteTriple("GraphDB", "developed by", x)
        >>> plan = TriplePlan("Who makes it?", (), (triple,), x, "hand")
        >>> found = answer(kg, complete_from_graph(kg, ground(kg, plan)))
        >>> print(found.text, found.answer.citations[0].text)
        Ontotext [t1]. (GraphDB, developed by, Ontotext)
        >>> kg.close()
    """
    completion = of_sort(kg, of_kind(kg, completion))
    called = _Names(kg, names or {})
    doubts = (*completion.plan.unread, *completion.plan.unasked)
    if doubts:
        completion = replace(completion, answers=[], support={})
    answers = tuple(called.of(term) for term in completion.answers)
    lines, ids = _lines(completion, called)
    context = Context(tuple(lines), tuple(str(t) for t in completion.answers if isinstance(t, URIRef)))
    if not completion.answers:
        text = untrusted.without_ids((_unsound if doubts else _nothing)(completion, called))
        given = Answer.of(completion.question, [Sentence(text, (), True)], context)
    elif model is None:
        given = _listed(completion, answers, lines, ids, context)
    else:
        given = generate(completion.question, context, model)
    cited = {citation.line_id for citation in given.citations}
    evidence = {ids[t.terms]: t.evidence for t in completion.triples if t.evidence and t.terms in ids}
    kept = {line: refs for line, refs in evidence.items() if line in cited}
    completed = Completed(
        answers, kept, tuple(map(str, completion.missing)),
        tuple(text for text, _ in completion.ungrounded), completion.truncated,
        tuple(
            {
                "triple": ntriples_terms(t.terms),
                "confidence": t.confidence,
                "evidence": [asdict(e) for e in t.evidence],
            }
            for t in completion.read
        ),
        reading=_reading(completion, called),
    )  # fmt: skip
    return CompletedAnswer(replace(given, way="complete", completed=completed), completion)


class _Names:
    """What terms are called: by the graph, or where it does not know them, by themselves."""

    def __init__(self, kg: KnowledgeGraph, new: Mapping[str, str]) -> None:
        self._kg = kg
        self._new = new
        self._display = Display(kg)

    def of(self, term: Term) -> str:
        if isinstance(term, Literal):
            return str(term)
        if isinstance(term, BNode):
            return "something"
        return self._new.get(str(term)) or self._display.entity(str(term))

    def slot(self, slot: Slot, *, relation: bool) -> str:
        if isinstance(slot, URIRef | Literal | BNode):
            return self._display.predicate(str(slot)) if relation else self.of(slot)
        return str(slot)

    def triple(self, triple: CompletedTriple) -> tuple[str, str, str]:
        return self.of(triple.subject), self._display.predicate(str(triple.predicate)), self.of(triple.object)

    def prepare(self, terms: Iterable[Term]) -> None:
        self._kg.labels(sorted({str(t) for t in terms if isinstance(t, URIRef) and not t.startswith(SKOLEM)}))


def _lines(completion: Completion, names: _Names) -> tuple[list[Line], dict[tuple[Term, Term, Term], str]]:
    """Return the triples as lines of a context, those of the first answers first."""
    order: dict[tuple[Term, Term, Term], CompletedTriple] = {}
    for found in completion.answers:
        for triple in completion.support.get(found, ()):
            order.setdefault(triple.terms, triple)
    for triple in completion.triples:
        order.setdefault(triple.terms, triple)
    kept = list(order.values())[:_MAX_LINES]
    names.prepare(term for triple in kept for term in triple.terms)
    lines, ids = [], {}
    for number, triple in enumerate(kept, start=1):
        labels = names.triple(triple)
        # Citations say themselves what is inferred.
        said = f" {triple.status}" if triple.status not in ("asserted", "inferred") else ""
        text = untrusted.fact(labels) + said
        graph = triple.evidence[0].iri if triple.evidence else ""
        terms = Triple(cast(URIRef, triple.subject), cast(URIRef, triple.predicate), triple.object)
        inferred = triple.status == "inferred"
        lines.append(Line(f"t{number}", text, terms, graph, inferred, labels, str(triple.subject)))
        ids[triple.terms] = f"t{number}"
    return lines, ids


def _listed(
    completion: Completion,
    answers: tuple[str, ...],
    lines: list[Line],
    ids: Mapping[tuple[Term, Term, Term], str],
    context: Context,
) -> Answer:
    by_id = {line.id: line for line in lines}
    sentences: list[Sentence] = []
    for term, name in list(zip(completion.answers, answers, strict=True))[:_MAX_ANSWERS]:
        ways = [ids[t.terms] for t in completion.support.get(term, ()) if t.terms in ids][:_MAX_CITED]
        cited = tuple(Citation.of(by_id[one]) for one in ways)
        said = untrusted.without_ids(name.rstrip("."))
        sentences.append(Sentence(f"{said}.", cited, True, "\n" if sentences else ""))
    notice = None
    if len(answers) > _MAX_ANSWERS:
        notice = f"{len(answers) - _MAX_ANSWERS} more answers are not shown."
    if completion.truncated:
        notice = " ".join(part for part in (notice, "There are more solutions than were read.") if part)
    return Answer.of(completion.question, sentences, context, notice=notice)


def _reading(completion: Completion, names: _Names) -> dict[str, Any]:
    plan = completion.plan
    return {
        "plan": [_shown(triple, names) for triple in plan.triples],
        "asks": list(plan.sub_questions),
        "score": round(plan.score, 4),
        "planner": plan.planner,
        "unread": list(plan.unread),
        "unasked": list(plan.unasked),
    }


def _unsound(completion: Completion, names: _Names) -> str:
    """Return why what a plan finds is no answer."""
    plan = completion.plan
    said = []
    if plan.unread:
        left = ", ".join(f"“{word}”" for word in plan.unread)
        said.append(f"{left} {'is' if len(plan.unread) == 1 else 'are'} not read")
    if plan.unasked:
        said.append("the question does not ask for " + ", ".join(f"“{one}”" for one in plan.unasked))
    shown = ", ".join(_shown(triple, names) for triple in plan.triples)
    return f"No answer is known: the nearest plan is {shown}, but {' and '.join(said)}."


def _nothing(completion: Completion, names: _Names) -> str:
    """Return what is missing."""
    said = [f"The graph knows nothing called “{text}”." for text, _ in completion.ungrounded]
    shown = [_shown(triple, names) for triple in completion.missing[:_MAX_MISSING]]
    if shown:
        more = len(completion.missing) - len(shown)
        said.append("Nothing was found for " + ", ".join(shown) + (f" and {more} more." if more else "."))
    return " ".join(said) or "Nothing was found."


def _shown(triple: IncompleteTriple, names: _Names) -> str:
    s, p, o = triple.slots
    parts = names.slot(s, relation=False), names.slot(p, relation=True), names.slot(o, relation=False)
    return f"({', '.join(parts)})"
