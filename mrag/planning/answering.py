"""From a question to a computed, cited answer, or to the reason why there is none."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from rdflib import Literal, URIRef

from mrag import untrusted
from mrag.context.display import Display
from mrag.context.render import Context, Line
from mrag.errors import ConfigError, MragError, QueryTimeout, StoreError
from mrag.generation.result import (
    Answer,
    AnswerCell,
    Citation,
    Computed,
    OtherReading,
    Sentence,
    WordUse,
    recorded,
)
from mrag.graph.kg import KnowledgeGraph
from mrag.language.grammar import join, plural
from mrag.planning.accounting import account, described_so, of_the_kind
from mrag.planning.certainty import (
    excludes_by_reading,
    in_units,
    is_nothing,
    unconverted,
    weighed,
    why_unread,
)
from mrag.planning.following import LastAnswer, asked_after
from mrag.planning.interchange import plan_to_json
from mrag.planning.lexicon import lexicon_of
from mrag.planning.loosening import Nearest, Nothing, has_bounds, may_be_meant, values_compared, why_nothing
from mrag.planning.plan import Aggregate, Block, Comparison, Pattern, Plan, Scalar, Unknown
from mrag.planning.profiling import local_name, schema_of
from mrag.planning.proof import proofs
from mrag.planning.reader.reader import RoleReader
from mrag.planning.reader.uses import phrases
from mrag.planning.readings import FoundReading, Reading, alike_named
from mrag.planning.rephrasing import left_out, rephrased
from mrag.planning.results import (
    CERTAIN,
    EVEN,
    ROWS,
    Planner,
    TermNamer,
    next_rows,
    of_none,
    offered,
    others_of,
    rows_of,
    run_readings,
)
from mrag.planning.run import PlanResult, run
from mrag.planning.saved import find_question, taught
from mrag.planning.schema import Schema
from mrag.planning.scopes import aggregates, unit_of_days, with_subclasses
from mrag.planning.units import asked_units, in_several_units
from mrag.planning.values import Cells
from mrag.planning.wording import Name, part_to_words, to_words, value_to_words
from mrag.rdf.terms import Term, Triple
from mrag.stores.base import Limits
from mrag.stores.oxigraph import OxigraphStore

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

SHOWN = 20  # Rows that the words of an answer hold; `rows` holds all


def sentences(
    reading: Reading,
    rows: Sequence[tuple[AnswerCell, ...]],
    support: Sequence[tuple[Citation, ...]],
    compared: str = "",
) -> list[Sentence]:
    """Return the sentences of an answer that has rows, or is yes.

    Each of the first rows has its support; of a yes, `compared` is what the two values are.
    """
    if reading.plan.yes_or_no:
        return [Sentence(f"Yes: {compared}." if compared else "Yes.", support[0] if support else (), True)]
    if len(rows) == 1:
        return [Sentence(_single(reading, rows[0]), support[0] if support else (), True)]
    found = []
    for number, row in enumerate(rows[:SHOWN]):
        before = "- " if not number else "\n- "
        found.append(Sentence(_row(row), support[number] if number < len(support) else (), True, before))
    if len(rows) > SHOWN:
        found.append(Sentence(f"… {len(rows)} rows in all", (), True, "\n"))
    return found


def looked_for(plan: Plan, name: Name) -> str:
    """Return that there is nothing of what a plan looks for, as a clause.

    Example:
        >>> from mrag.planning.plan import Column
        >>> x = Unknown("x")
        >>> plan = Plan(Block((Pattern(x, URIRef("urn:colour"), Literal("red")),)), (Column(x, "x"),))
        >>> looked_for(plan, lambda term: str(term).rpartition(":")[2])
        'there is no thing whose colour is red'
    """
    if plan.yes_or_no:
        words = to_words(plan, name).removeprefix("whether ")
        kind = words.removeprefix("there is an ").removeprefix("there is a ")
        return f"there is no {kind}" if kind != words else f"nothing in the graph says that {words}"
    words = to_words(Plan(plan.where, plan.columns[:1], plan.group_by, plan.having), name)
    kind = words.removeprefix("each ")
    return f"there is no {kind}" if kind != words else f"nothing was found for {words}"


def nothing_found(plan: Plan, nothing: Nothing, name: Name) -> tuple[str, str]:
    """Return the sentence of an answer without rows, or of a no, and one that says more of it or is ""."""
    first = f"{'No' if plan.yes_or_no else 'None'}: {looked_for(plan, name)}."
    if nothing.compared is not None:
        return f"No: {values_in_words(*nothing.compared, name)}.", ""
    if nothing.nearest is not None:
        near = _nearest(nothing.nearest, name)
        only = plan.yes_or_no and bool(plan.having) and len(nothing.nearest.plan.columns) == 1
        return (f"No: {near[0].lower()}{near[1:]}", "") if only else (first, near)
    if isinstance(nothing.part, Comparison) and nothing.instead:
        names = [name(term) for term in nothing.instead]
        told = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
        return f"No: {'those are' if len(names) > 1 else 'that is'} {told}.", ""
    if isinstance(nothing.part, Pattern) and nothing.instead:
        found = Pattern(nothing.part.subject, nothing.part.predicate, nothing.instead[0])
        return first, f"It says that {to_words(Plan(Block((found,))), name).removeprefix('whether ')}."
    several = len(plan.where.conditions) + len(plan.having) + len(plan.where.without)
    several += sum(isinstance(p.object, URIRef | Literal) for p in plan.where.patterns)
    if nothing.part is None or several < 3:
        return first, ""
    return first, f"Without “{part_to_words(plan, nothing.part, name)}” something is found."


def values_in_words(plan: Plan, found: PlanResult, name: Name) -> str:
    """Return what two values are: "the height of Rhone is 5, and that of Rhine is 7"."""
    called, subjects = list[str](), list[str]()
    for column in plan.columns:
        own = tuple(p for p in plan.where.patterns if p.object == column.value)
        inner = next((p for p in plan.where.plans if p.columns[0].name == column.name), None)
        if inner is not None:
            called.append(f"the {value_to_words(plan, Scalar(inner), name)[0]}")
            continue
        called.append(to_words(Plan(Block(own) if own else plan.where, (column,)), name))
        subjects += [name(p.subject) for p in own if isinstance(p.subject, URIRef)]
    again = called[1]
    if len(subjects) == 2 and called[0].removesuffix(subjects[0]) == again.removesuffix(subjects[1]):
        again = f"that of {subjects[1]}"
    first, second = (name(term) for term in found.rows[0] if term is not None)
    return f"{called[0]} is {first}, and {again} is {second}"


def _nearest(nearest: Nearest, name: Name) -> str:
    row, plan = nearest.result.rows[0], nearest.plan
    called, time = value_to_words(plan, nearest.value, name)
    shown = [name(term) if isinstance(term, URIRef) else str(term) for term in row if term is not None]
    if len(plan.columns) == 1 or len(shown) == 1:
        return f"The {called} is {shown[-1]}."
    most, least = ("latest", "earliest") if time else ("greatest", "least")
    return f"The {most if nearest.greatest else least} {called} is {shown[-1]} ({shown[0]})."


def _single(reading: Reading, row: tuple[AnswerCell, ...]) -> str:
    value = next(c.value for c in reading.plan.columns if c.name == reading.shown[0])
    if len(row) > 1 and all(isinstance(c.value, Aggregate) for c in reading.plan.columns):
        told = zip(reading.shown, row, strict=True)
        return "; ".join(f"{name.replace('_', ' ')}: {cell.label or 'none'}" for name, cell in told)
    if len(row) == 1 and isinstance(value, Aggregate) and value.function == "count" and value.of:
        noun = value.of[0].name.replace("_", " ").rstrip("0123456789 ")
        return f"{row[0].label} {noun if row[0].label == '1' else plural(noun)}"
    if len(row) == 1 and not isinstance(value, Unknown):
        noun = reading.shown[0].replace("_", " ").rstrip("0123456789 ")
        if reading.plan.order and reading.plan.limit is not None and not aggregates(value):
            return row[0].label  # what is first by something else needs no name
        unit = "%" if noun == "percentage" else f" {unit_of_days(value)}".rstrip()
        return f"The {noun} is {_rounded(row[0].label) if unit == ' years' else row[0].label}{unit}."
    return _row(row)


def _rounded(label: str) -> str:
    """Return years to a tenth: what is counted in days is a little off, since years differ in length."""
    return f"{round(float(label), 1):g}" if label.replace(".", "", 1).isdecimal() else label


def _row(row: tuple[AnswerCell, ...]) -> str:
    if len(row) == 1:
        return row[0].label
    return f"{row[0].label}: {', '.join(cell.label or 'none' for cell in row[1:])}"


UNCERTAIN = "This reading of the question is likely, not certain: check what it was read as."

_CITED, _CITED_OF_ONE, _CITED_OF_ROW = 60, 15, 5
"""Lines that an answer cites at most: in all, for its only row, and for one row of several."""


def answer_of(
    kg: KnowledgeGraph,
    question: str,
    reading: Reading,
    result: PlanResult,
    others: Sequence[tuple[int, Reading, PlanResult]],
    ends: float,
    nothing: Nothing | None = None,
) -> Answer:
    """Return the answer that a reading gives, with what it rests on.

    The other readings are told by their numbers; why there is nothing may be known already.
    """
    display = Display(kg)
    name, rows = TermNamer(kg, display), rows_of(display, reading, result)
    if not result.holds:
        why = nothing or why_nothing(kg, reading.plan, schema_of(kg), ends)
        context, said = _denied(kg, reading, why, name, ends)
    else:
        context, support = _proved(kg, reading.plan, result.rows, ends)
        both = values_compared(kg, reading.plan, schema_of(kg), ends)
        if both is not None and not context.lines:
            context, support = _proved(kg, both[0], both[1].rows, ends)
        told = untrusted.one_line(values_in_words(*both, name)) if both is not None else ""
        said = sentences(reading, rows, support, told)
    runners_up, last = next_rows(display, reading, result)
    computed = Computed(
        untrusted.one_line(to_words(reading.plan, name)), plan_to_json(reading.plan), result.query,
        reading.shown, tuple(rows), reading.confidence, (*reading.ignored, *reading.unread),
        tuple(others_of(display, rows, others, name)), result.truncated, runners_up, last,
        words=tuple(_shown(use, name) for use in reading.words),
    )  # fmt: skip
    given = Answer.of(question, said, context, None, None)
    notes = (UNCERTAIN if reading.confidence < CERTAIN else "", spelt_otherwise(computed.words))
    return replace(given, way="plan", computed=computed, notice=" ".join(filter(None, notes)) or None)


def spelt_otherwise(words: Sequence[WordUse]) -> str:
    """Return which words of a question were read as others that are spelt nearly so, "" if none were."""
    said, found = phrases(), list[str]()
    for use in words:
        mended = use.how.partition(f" {said['mended']}")
        meant = mended[0].strip("“”") if mended[1] else use.name if said["way:spelling"] in use.how else ""
        found += [f"“{use.words.text}” as “{meant}”"] if use.words is not None and meant else []
    return f"Read {join(found)}." if found else ""


def _shown(use: WordUse, name: Name) -> WordUse:
    """Return what words became as it is shown: by the name that the graph has for it."""
    told = name(URIRef(use.iri)) if use.iri else use.name
    return replace(use, name=untrusted.one_line(told), value=untrusted.one_line(use.value))


def _denied(
    kg: KnowledgeGraph, reading: Reading, nothing: Nothing, name: Callable[[Term], str], ends: float
) -> tuple[Context, list[Sentence]]:
    """Return the sentences of a no, or of an answer without rows, and the lines that they rest on."""
    first, more = (untrusted.one_line(s) for s in nothing_found(reading.plan, nothing, name))
    shown: tuple[Plan, Sequence[Cells]] | None = None
    if nothing.nearest is not None:
        shown = nothing.nearest.plan, nothing.nearest.result.rows[:1]
    elif nothing.compared is not None:
        shown = nothing.compared[0], nothing.compared[1].rows
    elif nothing.instead and isinstance(nothing.part, Pattern):
        shown = Plan(Block((replace(nothing.part, object=nothing.instead[0]),))), [()]
    context, support = _proved(kg, *shown, ends) if shown is not None else (Context((), ()), [])
    cited = support[0] if support else ()
    if not more:
        return context, [Sentence(first, cited, True)]
    return context, [Sentence(first, (), True), Sentence(more, cited, True, " ")]


def _proved(
    kg: KnowledgeGraph, plan: Plan, found: Sequence[Cells], ends: float
) -> tuple[Context, list[tuple[Citation, ...]]]:
    """Return the lines that the first rows rest on, each once, and for each row its own citations."""
    rows: list[Cells] = [()] if plan.yes_or_no else list(found[:SHOWN])
    most = _CITED_OF_ONE if len(rows) == 1 else _CITED_OF_ROW
    lines: dict[Triple, Line] = {}
    own: list[list[str]] = []
    with suppress(MragError):
        for proof in proofs(kg, plan, rows, most=most, ends=ends, enough=_CITED):
            ids = []
            for line in proof.context.lines:
                kept = lines.setdefault(line.triple, replace(line, id=f"t{len(lines) + 1}"))
                ids.append(kept.id)
            own.append(ids)
            if len(lines) >= _CITED:
                break
    context = recorded(Context(tuple(lines.values()), ()))
    cited = {line.id: Citation.of(line) for line in context.lines}
    return context, [tuple(cited[one] for one in ids) for ids in own]


_SECONDS = 10.0
_EXPLAINING = 0.03  # Which share of the time that is left may go into finding out why there is nothing


READ: Final = "every word was read, and the graph can compute it"
ALMOST: Final = "the graph can compute what is likely meant, but not every word was read"
"""Why a question is computed."""
HELPED: Final = "; a language model helped to read it"  # What is added where it did
_HELPED_MOST: Final = 0.89  # How certain a reading of what a model wrote is at most
_HELPED_DOUBT: Final = 0.85
"""How likely it still is for each word of the question that nothing in its plan stands for."""


@dataclass(frozen=True)
class Attempt:
    """What came of computing an answer."""

    answer: Answer | None  # The answer; None where there is none
    sure: bool  # Whether the reading is likely enough, and nothing that matters was left unread
    why: str  # Why it was taken or not, in words
    alone: bool = True  # Whether the question can be understood without the one before it
    reading: Reading | None = None  # The reading that the answer is of
    offered: tuple[OtherReading, ...] = ()  # Readings that can be chosen, where none is certain enough
    helped: bool = False  # Whether a language model helped to read it
    # Readings that find something, the most certain first
    found: tuple[FoundReading, ...] = field(default=(), compare=False, repr=False)


def reader_of(kg: KnowledgeGraph) -> RoleReader:
    """Return the reader of a graph, made once for its present state.

    What the first question would wait for is made ready beside it: a process that runs queries, and the
    embedding model.
    """

    def make() -> RoleReader:
        kg.profile()  # it may be stored first, and what runs queries sees the store as it was copied
        ready = kg.store.workers.ahead if isinstance(kg.store, OxigraphStore) else nullcontext
        with ready():
            return RoleReader(lexicon_of(kg))

    return kg.cached("planning reader", make)


def compute(
    kg: KnowledgeGraph,
    question: str,
    *,
    reading: int | None = None,
    seconds: float = _SECONDS,
    follows: LastAnswer | None = None,
    learnt: bool = True,
    model: str | BaseChatModel | None = "none",
    planner: Planner = "parser",
    least: float = EVEN,
    tried: int | None = None,
) -> Attempt:
    """Compute the answer to a question.

    Args:
        kg: The graph.
        question: The question.
        reading: Which of its readings to take, counted from 1; by default the first, if it is likely enough.
        seconds: Deadline of all queries together; the time of a model is not counted.
        follows: What was computed before, which the question may go on from.
        learnt: Whether saved questions tell how to read it.
        model: The chat model that helps where the parser is not certain, or its name, as for `mrag.ask`; it
            does not help with what goes on from another question.
        planner: How it helps: `writer` puts the question in the graph's words, `parser` does without.
        least: Certainty below which an answer is not sure.
        tried: How many readings are run, however long that takes; by default as many as there is time for.

    Raises:
        ConfigError: If there is no such reading.
        ModelError: If a model that was named cannot be had, or fails.

    Example:
        >>> import mrag
        >>> with mrag.demo(model="none") as kg:
        ...     print(compute(kg, "How many triple stores are there?").answer.sentences[0].text)
        11 triple stores
    """
    # The names of the graph are read once, however long that takes.
    reader = reader_of(kg)
    ends = time.monotonic() + seconds
    saved = taught(kg, reader, question) if learnt else []
    readings = [*saved, *reader.readings(question)]
    if follows is not None:
        readings, why = asked_after(kg, reader, question, follows, readings)
        if why:
            attempt = _computed(
                kg, question, readings, reading, ends, least, tried=tried, before=follows.plan
            )
            given = attempt.answer
            if given is not None and given.computed is not None:
                given = replace(given, computed=replace(given.computed, follows=follows.to_json()))
            return replace(attempt, answer=given, alone=False, why=attempt.why if readings else why)
    return _computed(
        kg, question, readings, reading, ends, least,
        "none" if planner == "parser" else model, tried=tried,
    )  # fmt: skip


def _ranked(
    kg: KnowledgeGraph, question: str, found: Sequence[FoundReading], before: Plan | None = None
) -> list[FoundReading]:
    """Return readings with their certainty, and the words that they leave out; the most certain first."""
    told = [(_accounted(kg, question, reading, before), result) for reading, result in found]
    told = described_so(kg, told)
    return sorted(
        of_the_kind(lexicon_of(kg), question, weighed(kg, told)),
        key=lambda one: (len(one[0].ignored), -one[0].confidence),
    )


def _accounted(kg: KnowledgeGraph, question: str, reading: Reading, before: Plan | None = None) -> Reading:
    """Return a reading with the words of its question that it leaves out; what was saved knows them."""
    if "score" not in reading.features and before is None:
        return reading
    said = reader_of(kg).glosses.of(question).text  # in English, whatever it is asked in
    left = account(lexicon_of(kg), said, reading.plan, reading.shown, before)
    ignored = tuple(dict.fromkeys((*reading.ignored, *left.missing)))
    unread = {word: thing for word, thing in left.described.items() if word not in ignored}
    return replace(reading, ignored=ignored, unread=unread)


def _rephrased(
    kg: KnowledgeGraph, question: str, text: str, kept: Sequence[FoundReading], ends: float
) -> list[FoundReading]:
    """Return readings with the likeliest of what a model made of the question, held against the question.

    What is given without it stays in front; where both are read alike there is one of them.
    """
    lexicon, schema = lexicon_of(kg), schema_of(kg)
    readings = [r for r in reader_of(kg).readings(text) if in_several_units(r.plan, schema) is None]
    readings = [replace(r, plan=with_subclasses(r.plan, schema)) for r in readings]
    found = _ranked(kg, text, run_readings(kg, readings, 1, ends)[0])
    if not found:
        return [*kept]
    own, result = found[0]
    missing, doubts = left_out(lexicon, reader_of(kg).glosses.of(question).text, own.plan)
    ignored = tuple(dict.fromkeys((*own.ignored, *missing)))
    certainty = min(_HELPED_MOST, own.confidence * _HELPED_DOUBT**doubts)
    own = replace(own, ignored=ignored, certainty=certainty, note=f"read as “{untrusted.one_line(text)}”")
    others = [one for one in kept if one[0].plan != own.plan]
    if len(others) < len(kept):
        # What neither way reads is unread.
        alike, result = next(one for one in kept if one not in others)
        unread, likelier = missing if alike.ignored else (), max(certainty, alike.confidence)
        own = replace(alike, ignored=unread, certainty=likelier)
    if others and not others[0][0].ignored and others[0][0].confidence >= EVEN:
        return [others[0], (own, result), *others[1:]]
    return sorted([(own, result), *others], key=lambda one: (len(one[0].ignored), -one[0].confidence))


def _computed(
    kg: KnowledgeGraph,
    question: str,
    readings: Sequence[Reading],
    wanted: int | None,
    ends: float,
    least: float,
    model: str | BaseChatModel | None = "none",
    *,
    tried: int | None = None,
    before: Plan | None = None,
) -> Attempt:
    schema, reading = schema_of(kg), wanted or 1
    mixed = [in_several_units(r.plan, schema) for r in readings]
    if mixed and mixed[0] is not None:
        return Attempt(None, False, why_unread(kg, question, mixed))
    readings = [
        replace(r, plan=with_subclasses(r.plan, schema))
        for r, info in zip(readings, mixed, strict=True) if info is None
    ]  # fmt: skip
    helped, name = "", TermNamer(kg)
    found, first = run_readings(kg, readings, reading, ends, tried)
    if of_none(readings, first) and isinstance(first, PlanResult):
        # That nothing is of both is the answer; what is of either is another reading.
        found.insert(0, (readings[0], first))
    every = kept = _ranked(kg, question, found, before)
    certain = bool(kept) and kept[0][0].confidence >= CERTAIN and not kept[0][0].ignored
    if not certain and model != "none":
        began = time.monotonic()
        text = rephrased(model, lexicon_of(kg), question)
        ends += time.monotonic() - began
        helped = HELPED if text is not None else ""
        kept = _rephrased(kg, question, text, kept, ends) if text else kept
    explained = ends
    if tried is None:
        now = time.monotonic()
        explained = now + _EXPLAINING * (ends - now)
    if not kept:
        if not readings:
            return Attempt(None, False, why_unread(kg, question, mixed))
        best = _accounted(kg, question, readings[0], before)
        return _nothing(kg, question, best, first, ends, explained, least)
    if reading > len(kept):
        raise ConfigError(f"There are {len(kept)} readings.", hint=f"Choose one from 1 to {len(kept)}.")
    taken, result = kept[reading - 1]
    if result.truncated and any(result is one for _, one in found[reading:]):
        # It was only offered, for which some of its rows are enough.
        with suppress(QueryTimeout, StoreError):
            limits = Limits(max(0.1, ends - time.monotonic()), ROWS, 8 << 20)
            result = run(kg, taken.plan, schema=schema, limits=limits, named=True)
    if units := _several_units(kg, taken.plan, schema):
        return Attempt(None, False, units)
    others = [(n, r, p) for n, (r, p) in enumerate(kept, 1) if n != reading]
    nothing = None if result.holds else why_nothing(kg, taken.plan, schema_of(kg), explained)
    if nothing is not None and nothing.undecided is not None:
        # Whether it is the oldest, or older than another, cannot be told where no age is known.
        said = looked_for(nothing.undecided, name)
        return Attempt(None, False, untrusted.one_line(said))
    other = None if nothing is None else nothing.part
    if wanted is None and isinstance(other, Pattern) and may_be_meant(taken.plan, other, schema):
        told = to_words(Plan(Block((other,))), name).removeprefix("whether ")
        return Attempt(None, False, untrusted.one_line(f"{looked_for(taken.plan, name)}, but {told}"))
    given = answer_of(kg, question, taken, result, others, ends, nothing)
    doubt = _doubt(taken, result, [one for _, *one in others], least)
    if doubt and (units := unconverted(kg, question)):
        return Attempt(None, False, units)
    if doubt:
        instead = () if given.computed is None or taken.ignored else offered(given.computed, reading)
        given = replace(given, why=helped)
        return Attempt(given, False, doubt, True, taken, instead, bool(helped), tuple(every))
    why = (ALMOST if taken.unread else taken.note or READ) + helped
    return Attempt(replace(given, why=why), True, why, True, taken, (), bool(helped), tuple(every))


def _several_units(kg: KnowledgeGraph, plan: Plan, schema: Schema) -> str:
    """Return that numbers which a plan compares or adds are in several units; "" if they are not."""
    asked = asked_units(plan, schema)
    if asked is None:
        return ""
    units = [row[0] for row in run(kg, asked[0], schema=schema).rows if row[0] is not None]
    if len(units) < 2:
        return ""
    labels = kg.labels(str(u) for u in units if isinstance(u, URIRef))
    return in_units(asked[1].names[0], [labels.get(str(u)) or local_name(str(u)) for u in units])


def _doubt(taken: Reading, result: PlanResult, others: Sequence[Sequence[Any]], least: float = EVEN) -> str:
    """Return why a reading is not given unasked, "" if it is."""
    none = is_nothing((taken, result))
    # That there is nothing of what was not understood tells nothing.
    if missing := (*taken.ignored, *(taken.unread if none else ())):
        words = ", ".join(f"“{word}”" for word in dict.fromkeys(missing))
        return f"not understood: {words}"
    if taken.measured is not None and taken.measured["unnamed"]:
        return "what it finds has no name"
    if taken.confidence < least:
        return f"the reading is not certain enough ({taken.confidence:.2f})"
    none = none and not alike_named(taken.plan)
    # A plain no stands against what is half as likely meant, all else against whatever finds something.
    plain = taken.plan.yes_or_no and len(taken.plan.where.patterns) < 4
    likely = taken.probability / 2 if plain else 0.0
    others = [one for one in others if one[0].probability >= likely]
    if none and any(not (r.ignored or is_nothing((r, found))) for r, found in others):
        return "this reading finds nothing, but another one does"
    return ""


def _nothing(
    kg: KnowledgeGraph,
    question: str,
    best: Reading,
    found: PlanResult | str,
    ends: float,
    explained: float,
    least: float,
) -> Attempt:
    """Return what is said where no reading finds anything: why, and what comes nearest to a bound."""
    plan = best.plan
    if isinstance(found, str):
        return Attempt(None, False, found)
    counts = all(aggregates(c.value) for c in plan.columns)
    if found.rows or best.ignored or best.unread or counts:
        return Attempt(None, False, "nothing in this graph fits the question")
    said = untrusted.one_line(looked_for(plan, TermNamer(kg)))
    ((best, _),) = weighed(kg, [(best, found)])
    if best.confidence < least or not has_bounds(plan):
        return Attempt(None, False, said)
    nothing = why_nothing(kg, plan, schema_of(kg), explained)
    if nothing.nearest is None or excludes_by_reading(plan, nothing):
        return Attempt(None, False, said)
    # That a bound is what excludes everything shows that the rest was read as it was meant.
    given = answer_of(kg, question, best, found, (), ends, nothing)
    return Attempt(given, True, f"every word was read, and {said}", reading=best)


def abstained(question: str, why: str, offered: tuple[OtherReading, ...] = ()) -> Answer:
    """Return the answer to a question that cannot be computed: that it is not in this graph, and why.

    Where readings are offered it is open whether it is.
    """
    text = f"{'Not answered' if offered else 'Not in this graph'}: {untrusted.one_line(why)}."
    given = Answer.of(question, [Sentence(text, (), True)], Context((), ()), None, None)
    return replace(given, way="plan", why=why, offered=offered)


def replay(kg: KnowledgeGraph, value: Mapping[str, Any]) -> Answer:
    """Compute a recorded answer again.

    Args:
        kg: The graph.
        value: The JSON form of a computed answer.

    Raises:
        ConfigError: If its plan is malformed.
        StoreError: If it cannot be run.
    """
    return answered(kg, str(value["question"]), LastAnswer.from_json(value))


def answered(kg: KnowledgeGraph, question: str, known: LastAnswer, why: str = "") -> Answer:
    """Compute the answer to a question whose plan is known, and why it is."""
    ends = time.monotonic() + _SECONDS
    schema = schema_of(kg)
    plan = with_subclasses(known.plan, schema)
    result = run(kg, plan, schema=schema, named=True)
    given = answer_of(kg, question, Reading(plan, known.shown, 1.0, (), {}), result, (), ends)
    return replace(given, why=why)


def run_question(kg: KnowledgeGraph, name: str) -> Answer:
    """Compute the answer to a saved question.

    Args:
        kg: The graph.
        name: The question's name.

    Raises:
        ConfigError: If there is no such question.
    """
    saved = find_question(kg, name)
    return answered(kg, saved.question, saved.computed, f"saved as “{saved.name}”")
