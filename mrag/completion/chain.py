"""The whole way: a question is planned, completed from the graph and evidence, answered, written back.

`Completer` is the one object that commands, notebooks and chains use. Nothing it reads enters the graph by
itself: what it found is proposed as a run, to be accepted (`mrag.completion.review`).
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, cast

from rdflib import BNode, URIRef
from rdflib import Literal as RdfLiteral

from mrag import untrusted
from mrag.completion.checks import CheckSettings, CompletionRun, SchemaFacts
from mrag.completion.grounding import Grounder, GroundingSettings, PathPlanner, of_kind, of_sort
from mrag.completion.names import End, PropertyEnds, Relations
from mrag.completion.passages import (
    Extraction,
    ModelReader,
    Passage,
    Passages,
    PassageSource,
    Reader,
    SoughtTriple,
    checked,
    sought,
)
from mrag.completion.patterns import (
    CompletedTriple,
    Completion,
    IncompleteTriple,
    ModelPlanner,
    Planner,
    Slot,
    complete,
    is_text,
)
from mrag.completion.review import accept, propose, resume
from mrag.completion.rule_reader import RuleReader
from mrag.completion.sentences import instructs
from mrag.context.display import Display
from mrag.context.render import Context, Line
from mrag.generation.answering import answer as generate
from mrag.generation.result import Answer, Citation, Completed, EvidenceRef, Sentence
from mrag.generation.support.grammar import is_turned_round
from mrag.graph.kg import KnowledgeGraph
from mrag.language.tokens import normalise
from mrag.planning.plan import Unknown
from mrag.rdf.terms import RDFS, SKOLEM, XSD, Term, Triple, ntriples_terms, to_ox

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.runnables import Runnable

NAMESPACE: Final = "urn:mrag:entity:"
_NOT_WORD = re.compile(r"[^a-z0-9]+")


class LinkedTerm(NamedTuple):
    """What some words mean, with the name where it is a new entity."""

    term: Term
    new: str = ""


def new_iri(name: str, namespace: str = NAMESPACE) -> str:
    """Return the IRI of a new entity."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().casefold()
    slug = _NOT_WORD.sub("-", plain).strip("-")[:60].strip("-")
    mark = hashlib.sha256(normalise(name).encode("utf-8", "surrogatepass")).hexdigest()[:8]
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


def _literal(text: str, datatypes: tuple[str, ...]) -> RdfLiteral | None:
    """Return a text as a literal of the first datatype that it is a value of."""
    for datatype in datatypes:
        if not datatype:
            return RdfLiteral(text)
        plain = text.replace(",", "") if datatype.startswith(XSD) else text
        value = RdfLiteral(plain, datatype=URIRef(datatype), normalize=False)
        if value.ill_typed is False:
            return value
    return None


_MIN_CONFIDENCE: Final = 0.5  # What is less sure is left out
_MAX_VALUES: Final = 50  # Values of one triple, the surest first, at most


class Evidence:
    """Texts and images that triples are completed from; an `EvidenceSource`.

    Args:
        source: Finds passages.
        reader: Reads them; one without a language model by default.
        namespace: Where the IRIs of new entities begin.
        new_names: Whether names that the graph does not know may become new entities.

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
        *,
        namespace: str = NAMESPACE,
        new_names: bool = True,
    ) -> None:
        self.source, self.namespace, self.new_names = source, namespace, new_names
        taught = getattr(source, "all", ())  # a source that knows all of its passages can teach from them
        self.reader: Reader = reader or RuleReader(taught, new_names=new_names)
        self.names: dict[str, str] = {}

    def complete(self, kg: KnowledgeGraph, triple: IncompleteTriple, k: int) -> list[CompletedTriple]:
        """Return triples that match one with an unknown place, each with what it was read in.

        At most `k` passages and regions are read, and nothing is written. A relation that is not of the graph
        gives nothing; an entity that is not may be made, where new names are allowed.

        Raises:
            ModelError: If a model cannot be reached.
        """
        if not isinstance(triple.predicate, Unknown) and not _is_relation(kg, triple.predicate):
            return []
        if not self.new_names and any(map(is_text, triple.slots)):
            return []
        asked = sought(kg, triple)
        if asked is None:
            return []
        passages = self.source.search(asked.words, asked.entities, k)
        return self._link(kg, asked, self.reader.read(kg, asked, passages)) if passages else []

    def _link(
        self, kg: KnowledgeGraph, asked: SoughtTriple, given: Iterable[Extraction]
    ) -> list[CompletedTriple]:
        """Return the triples that findings make which can be relied on, the surest first."""
        triples: dict[tuple[Term, Term, Term], CompletedTriple] = {}
        new: dict[str, str] = {}
        for finding in given:
            one = checked(finding, asked, lambda quote: not instructs(quote))
            if one is None or one.place != asked.place or _is_turned(one, asked):
                continue
            terms = self._terms(kg, asked, one, new)
            if terms is None:
                continue
            ref = EvidenceRef(one.passage.iri, one.quote, one.passage.kind, one.passage.source)
            known = triples.setdefault(terms, CompletedTriple(*terms, "completed", (ref,), one.confidence))
            if ref not in known.evidence:
                # Passages that say the same are taken as independent of each other.
                sure = min(0.99, 1 - (1 - known.confidence) * (1 - one.confidence))
                triples[terms] = replace(known, evidence=(*known.evidence, ref), confidence=round(sure, 4))
        sure_enough = [t for t in triples.values() if t.confidence >= _MIN_CONFIDENCE]
        ranked = sorted(sure_enough, key=lambda t: (-t.confidence, [term.n3() for term in t.terms]))
        ranked = ranked[:_MAX_VALUES]
        used = {str(term) for t in ranked for term in t.terms}
        self.names.update({iri: name for iri, name in new.items() if iri in used})
        return ranked

    def _terms(
        self, kg: KnowledgeGraph, asked: SoughtTriple, one: Extraction, new: dict[str, str]
    ) -> tuple[Term, Term, Term] | None:
        """Return the triple with a finding in its place; names of new entities are noted."""
        linked = LinkedTerm(one.term) if one.term is not None else None
        if one.place == "predicate":
            linked = linked if _is_relation(kg, one.term) else None
        elif linked is None:
            linked = self.link(kg, one.text, one.place, str(asked.triple.predicate))
        if linked is None:
            return None
        terms: list[Term] = []
        for slot in asked.triple.slots:
            if isinstance(slot, Unknown):
                terms.append(linked.term)
                if linked.new:
                    new[str(linked.term)] = linked.new
            elif is_text(slot):
                terms.append(URIRef(new_iri(slot, self.namespace)))
                new[str(terms[-1])] = " ".join(slot.split())
            else:
                terms.append(slot)  # type: ignore[arg-type]  # neither text nor unknown
        subject, predicate_, object_ = terms
        return None if subject == object_ else (subject, predicate_, object_)

    def link(self, kg: KnowledgeGraph, text: str, end: End, predicate: str) -> LinkedTerm | None:
        """Return what some words mean at an end of a property; None if that is unclear, or nothing may be."""
        roles = PropertyEnds.of(kg)
        text = " ".join(text.split())
        if end == "object" and (kinds := _literals(kg, predicate, roles)) is not None:
            value = _literal(text, kinds)
            return None if value is None else LinkedTerm(value)
        meant, there = roles.named(end, predicate, text)
        if len(there) == 1 or (not there and len(meant) == 1):
            return LinkedTerm((there or meant)[0])
        if meant or not self.new_names or not any(c.isalnum() for c in text):
            return None
        return LinkedTerm(URIRef(new_iri(text, self.namespace)), text)


def _is_turned(one: Extraction, asked: SoughtTriple) -> bool:
    """Return whether a quote says what was asked from the other end: who develops, and who is developed."""
    if one.place == "predicate" or "predicate" not in asked.names:
        return False
    ends = {**asked.names, one.place: (one.text,)}
    return is_turned_round(one.quote, ends["subject"], ends["predicate"], ends["object"])


def _is_relation(kg: KnowledgeGraph, term: object) -> bool:
    return isinstance(term, URIRef) and term in Relations.of(kg).by_iri


_MAX_LINES = 160
_MAX_ANSWERS = 50
_MAX_CITED = 6
_MAX_MISSING = 5


@dataclass(frozen=True)
class CompletedAnswer:
    """An answer that was completed."""

    answer: Answer  # The answer with its citations, as `mrag.ask` gives it
    completion: Completion  # The triples and solutions it rests on
    # What was read for it, as it was proposed or accepted; None where nothing new was read
    run: CompletionRun | None = None

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

    def _repr_html_(self) -> str:
        return self.answer._repr_html_()

    def __str__(self) -> str:
        return str(self.answer)

    @property
    def _completed(self) -> Completed:
        return self.answer.completed or Completed()

    def with_run(self, run: CompletionRun | None, entered: int = 0) -> CompletedAnswer:
        """Return it with what was read for it, and how many triples of that came into the graph."""
        completed = replace(self._completed, run=None if run is None else run.to_json(), entered=entered)
        return replace(self, answer=replace(self.answer, completed=completed), run=run)


def answer(
    kg: KnowledgeGraph,
    completion: Completion,
    model: BaseChatModel | None = None,
    *,
    names: Mapping[str, str] | None = None,
) -> CompletedAnswer:
    """Answer a question from its completed triples.

    Where triples are missing it says which, and no model is asked.

    Args:
        kg: The knowledge graph, for labels.
        completion: What completing the question's plan gave.
        model: A chat model that words the answer; without one the values are given as they are.
        names: Names of entities that the graph does not know yet, by IRI.

    Raises:
        ModelError: If the model cannot be reached or gives no text.

    Example:
        >>> import mrag
        >>> from mrag.completion.patterns import complete_from_graph
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
    answers = tuple(map(called.of, completion.answers))
    lines = _lines(completion, called)
    context = Context(
        tuple(lines.values()), tuple(str(t) for t in completion.answers if isinstance(t, URIRef))
    )
    if not completion.answers:
        text = untrusted.without_ids((_unsound if doubts else _nothing)(completion, called))
        given = Answer.of(completion.question, [Sentence(text, (), True)], context)
    elif model is None:
        given = _list(completion, answers, lines, context)
    else:
        given = generate(completion.question, context, model)
    cited = {citation.line_id for citation in given.citations}
    evidence = {lines[t.terms].id: t.evidence for t in completion.triples if t.evidence and t.terms in lines}
    completed = Completed(
        answers,
        {line: refs for line, refs in evidence.items() if line in cited},
        tuple(map(str, completion.missing)),
        tuple(text for text, _ in completion.ungrounded),
        completion.truncated,
        tuple(
            {
                "triple": ntriples_terms(t.terms),
                "confidence": t.confidence,
                "evidence": [asdict(e) for e in t.evidence],
            }
            for t in completion.read
        ),
        reading=_reading(completion, called),
    )
    return CompletedAnswer(replace(given, way="complete", completed=completed), completion)


Terms = tuple[Term, Term, Term]


class _Names:
    """What terms are called: by the graph, or where it does not know them, by themselves."""

    def __init__(self, kg: KnowledgeGraph, new: Mapping[str, str]) -> None:
        self._kg = kg
        self._new = new
        self._display = Display(kg)

    def of(self, term: Term) -> str:
        if isinstance(term, RdfLiteral):
            return str(term)
        if isinstance(term, BNode):
            return "something"
        return self._new.get(str(term)) or self._display.entity(str(term))

    def slot(self, slot: Slot, *, relation: bool) -> str:
        if isinstance(slot, URIRef | RdfLiteral | BNode):
            return self._display.predicate(str(slot)) if relation else self.of(slot)
        return str(slot)

    def shown(self, triple: IncompleteTriple) -> str:
        s, p, o = triple.slots
        parts = self.slot(s, relation=False), self.slot(p, relation=True), self.slot(o, relation=False)
        return f"({', '.join(parts)})"

    def labels(self, triples: Iterable[CompletedTriple]) -> list[tuple[str, str, str]]:
        triples = list(triples)
        terms = {str(t) for triple in triples for t in triple.terms if isinstance(t, URIRef)}
        self._kg.labels(sorted(t for t in terms if not t.startswith(SKOLEM)))  # all at once
        return [
            (self.of(t.subject), self._display.predicate(str(t.predicate)), self.of(t.object))
            for t in triples
        ]


def _lines(completion: Completion, names: _Names) -> dict[Terms, Line]:
    """Return the triples as lines of a context, those of the first answers first."""
    first = (triple for answer in completion.answers for triple in completion.support.get(answer, ()))
    order: dict[Terms, CompletedTriple] = {}
    for triple in (*first, *completion.triples):
        order.setdefault(triple.terms, triple)
    kept = list(order.values())[:_MAX_LINES]
    lines: dict[Terms, Line] = {}
    for number, (triple, labels) in enumerate(zip(kept, names.labels(kept), strict=True), start=1):
        # Citations say themselves what is inferred.
        said = f" {triple.status}" if triple.status not in ("asserted", "inferred") else ""
        graph = triple.evidence[0].iri if triple.evidence else ""
        terms = Triple(cast(URIRef, triple.subject), cast(URIRef, triple.predicate), triple.object)
        text, inferred = untrusted.fact(labels) + said, triple.status == "inferred"
        lines[triple.terms] = Line(f"t{number}", text, terms, graph, inferred, labels, str(triple.subject))
    return lines


def _list(
    completion: Completion, answers: Sequence[str], lines: Mapping[Terms, Line], context: Context
) -> Answer:
    sentences: list[Sentence] = []
    for term, name in list(zip(completion.answers, answers, strict=True))[:_MAX_ANSWERS]:
        ways = [lines[t.terms] for t in completion.support.get(term, ()) if t.terms in lines][:_MAX_CITED]
        said = untrusted.without_ids(name.rstrip("."))
        sentences.append(Sentence(f"{said}.", tuple(map(Citation.of, ways)), True, "\n" if sentences else ""))
    more = len(answers) - _MAX_ANSWERS
    notices = [f"{more} more answers are not shown."] if more > 0 else []
    notices += ["There are more solutions than were read."] if completion.truncated else []
    return Answer.of(completion.question, sentences, context, notice=" ".join(notices) or None)


def _reading(completion: Completion, names: _Names) -> dict[str, Any]:
    plan = completion.plan
    return {
        "plan": [names.shown(triple) for triple in plan.triples],
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
    shown = ", ".join(names.shown(triple) for triple in plan.triples)
    return f"No answer is known: the nearest plan is {shown}, but {' and '.join(said)}."


def _nothing(completion: Completion, names: _Names) -> str:
    """Return what is missing."""
    said = [f"The graph knows nothing called “{text}”." for text, _ in completion.ungrounded]
    shown = [names.shown(triple) for triple in completion.missing[:_MAX_MISSING]]
    if shown:
        more = len(completion.missing) - len(shown)
        said.append("Nothing was found for " + ", ".join(shown) + (f" and {more} more." if more else "."))
    return " ".join(said) or "Nothing was found."


@dataclass
class Completer:
    """Answers questions over a knowledge graph, completed from evidence.

    Args:
        evidence: Texts and images; the graph alone when None.
        planner: Makes plans; the planner without a language model by default.
        model: A chat model that words the answers; the values as they are when None.
        k: Most passages and regions to read for each triple.
        always: Whether evidence is read also where the graph has matches, which may not be all.
        write: `propose` keeps what was read for review, `accept` also puts it into the graph, `none` neither.
        update: Whether reasoning and indexes catch up after acceptance.
        checks: What is read is checked under these.
        grounding: How names of a plan are linked to the graph.

    Example:
        >>> import mrag
        >>> from mrag.completion.passages import Passage, Passages
        >>> kg = mrag.demo(model="none")
        >>> text = "Stardog was developed by Rainer Weiss."
        >>> evidence = Evidence(Passages([Passage("urn:x:p", text, "news.txt")]))
        >>> completer = Completer(kg, evidence, always=True)
        >>> found = completer.ask("Who is Stardog developed by?")
        >>> found.run.state, [s.verdict for s in found.run.statements]
        ('proposed', ['fits', 'fits'])
        >>> kg.close()
    """

    kg: KnowledgeGraph
    evidence: Evidence | None = None
    planner: Planner | None = None
    model: BaseChatModel | None = None
    k: int = 8
    always: bool = False
    write: Literal["propose", "accept", "none"] = "propose"
    update: bool = True
    checks: CheckSettings = field(default_factory=CheckSettings)
    grounding: GroundingSettings | None = None

    def ask(self, question: str) -> CompletedAnswer:
        """Answer a question, and propose or write what was read for it.

        Raises:
            ModelError: If a model that was asked for cannot be had or gives nothing that can be used.
            ConfigError: If the graph cannot be written, where that was asked for.
        """
        if self.planner is None:
            self.planner = PathPlanner(self.kg, lacking=self.evidence is not None)
        plan = self.planner.plan(question)
        grounded = Grounder(self.kg, self.grounding).ground(plan)
        completion = complete(self.kg, grounded, self.evidence, k=self.k, always=self.always)
        names = self.evidence.names if self.evidence is not None else {}
        said = answer(self.kg, completion, self.model, names=names)
        unsound = said.completion.plan.unread or said.completion.plan.unasked
        run = None
        if self.evidence is not None and self.write != "none" and completion.read and not unsound:
            reader = self.evidence.reader.name
            run = propose(self.kg, question, completion.read, model=reader, names=names, settings=self.checks)
        # What a person decided against is not brought in again without being asked for.
        if run is not None and self.write == "accept" and run.state not in ("rejected", "rolled back"):
            report = accept(self.kg, run, settings=self.checks, update=self.update)
            return said.with_run(report.run, len(report.entered))
        if self.write == "accept" and self.update:
            # What an interrupted run accepted is known by now, so that it is not accepted once more.
            resume(self.kg)
        return said.with_run(run)


def reading_completer(
    kg: KnowledgeGraph,
    texts: str | Path | Iterable[str | Path] = (),
    model: str | BaseChatModel | None = None,
    k: int = 8,
) -> Completer:
    """Return what answers from the graph and from texts that are only read: nothing of it enters the store.

    Args:
        kg: The knowledge graph.
        texts: Files and folders of texts; without any, the graph alone is completed from.
        model: A language model that plans, reads and answers; rules by default.
        k: Most passages to read for each triple.

    Raises:
        LoadError: If there is no such file.
        ModelError: If the model is not available.

    Example:
        >>> import mrag
        >>> with mrag.demo(model="none") as kg:
        ...     print(reading_completer(kg).ask("Who is GraphDB developed by?").text)
        Ontotext [t1].
    """
    from mrag.generation.models import resolve
    from mrag.loaders.snippets import Snippets

    paths = [texts] if isinstance(texts, str | Path) else list(texts)
    passages = [
        Passage(s.iri, s.text, s.document.source, s.document.title)
        for path in paths
        for s in Snippets(Path(path)).snippets()
    ]
    chat = resolve(model) if model is not None else None
    reader = ModelReader(chat) if chat is not None else None
    evidence = Evidence(Passages(passages), reader) if paths else None
    # Where the graph lacks what is asked for, the nearest thing that it has is no answer.
    planner = ModelPlanner(chat) if chat is not None else PathPlanner(kg, lacking=True)
    return Completer(kg, evidence, planner, chat, k=k, write="none")


def completion_chain(completer: Completer) -> Runnable[Any, dict[str, Any]]:
    """Return a chain of LangChain: a question, or a mapping with `question`, to the answer and its evidence.

    Example:
        >>> import mrag
        >>> kg = mrag.demo(model="none")
        >>> chain = completion_chain(Completer(kg, grounding=GroundingSettings(model=None)))
        >>> chain.invoke({"question": "Who is GraphDB developed by?"})["answers"]
        ['Ontotext']
        >>> kg.close()
    """
    from langchain_core.runnables import RunnableLambda

    def run(asked: Any) -> dict[str, Any]:
        question = asked["question"] if isinstance(asked, dict) else asked
        return completer.ask(str(question)).answer.to_json()

    return RunnableLambda(run).with_config(run_name="complete")
