"""Questions are saved in a graph, run again with other names, and removed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from rdflib import Literal, URIRef

from mrag.errors import ConfigError, TermError
from mrag.generation.result import Answer
from mrag.graph.kg import KnowledgeGraph
from mrag.language.possessive import compile_late
from mrag.planning.answering import answered, reader_of
from mrag.planning.following import (
    FollowText,
    LastAnswer,
    Slot,
    SlotFitter,
    filled,
    in_period,
    pointing,
    slots_of,
    term_of,
)
from mrag.planning.lexical import Candidate
from mrag.planning.precedents import (
    QuestionParameter,
    SavedQuestion,
    Value,
    forget_questions,
    item_at,
    list_questions,
    named,
    question_triples,
    questions_graph,
)
from mrag.planning.profiling import schema_of
from mrag.planning.question import QuestionItem, cut, identifier, number_literal
from mrag.planning.reader.reader import RoleReader
from mrag.rdf import queries
from mrag.rdf.terms import iri

_NAME = compile_late(r"[^\W_][\w \-]*\Z")
_LONGEST = 10


def save_question(
    kg: KnowledgeGraph, answer: Answer, name: str = "", *, author: str = "", replacing: bool = False
) -> SavedQuestion:
    """Save a computed answer's question with its plan, so that it can be run again and teaches how to read.

    A later question with the same words, or with other names in them, is read like it.

    Args:
        kg: The graph.
        answer: The answer.
        name: What to call it; by default after its words.
        author: Who saves it.
        replacing: Whether another question of this name may be replaced.

    Raises:
        ConfigError: If the answer was not computed, the name is in use, or nothing can be written.

    Example:
        >>> import mrag
        >>> with mrag.demo(model="none") as kg:
        ...     answer = mrag.ask(kg, "Which products does Ontotext develop?", model="none")
        ...     saved = save_question(kg, answer, "products of a vendor")
        ...     other = run_question(kg, "products of a vendor", {"company": "Stardog Union"})
        >>> saved.to_json()["template"], other.text.split()[0]
        ('Which products does {company} develop?', 'Stardog')
    """
    if answer.computed is None:
        raise ConfigError("Only the question of a computed answer can be saved.")
    kg.require_writable()
    computed = replace(LastAnswer.from_json(answer.computed.to_json()), before=None)
    parameters, template = _template(kg, computed, answer.question)
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    saved = SavedQuestion(
        "", answer.question, answer.computed.reading, computed, parameters, template, author, now
    )
    words = re.sub(r"\W+", " ", saved.asked({p.name: p.name for p in parameters}).lower()).split()
    saved = replace(saved, name=_name(name or " ".join(words)[:80]))
    before = [one for one in list_questions(kg) if one.name == saved.name]
    if before and not replacing:
        raise ConfigError(
            "Another question is saved under this name.", term=saved.name, hint="Choose another name."
        )
    _change(kg, before, [saved])
    return saved


def find_question(kg: KnowledgeGraph, name: str) -> SavedQuestion:
    """Return the saved question of a name.

    Raises:
        ConfigError: If there is none.
    """
    for saved in list_questions(kg):
        if saved.name == _name(name):
            return saved
    raise ConfigError("No question is saved under this name.", term=name)


def remove_question(kg: KnowledgeGraph, name: str) -> None:
    """Remove a saved question.

    Raises:
        ConfigError: If there is none of this name.
    """
    kg.require_writable()
    _change(kg, [find_question(kg, name)], [])


def run_question(kg: KnowledgeGraph, name: str, values: Mapping[str, str] | None = None) -> Answer:
    """Compute the answer to a saved question, with other names where they are given.

    Args:
        kg: The graph.
        name: The question's name.
        values: Names, numbers or times by name of the parameter; a thing may be given by its IRI.

    Raises:
        ConfigError: If there is no such question or parameter, or nothing of the right kind is called so.
    """
    saved = find_question(kg, name)
    values = values or {}
    for unknown in values.keys() - {p.name for p in saved.parameters}:
        names = ", ".join(p.name for p in saved.parameters) or "none"
        raise ConfigError("There is no such parameter.", term=unknown, hint=f"The parameters are: {names}.")
    reader = reader_of(kg)
    fitter = SlotFitter(kg, reader.schema)
    given = {
        p.name: _value(kg, reader, fitter, saved, n, values[p.name])
        for n, p in enumerate(saved.parameters)
        if values.get(p.name, p.label) != p.label
    }
    plan = filled(
        saved.computed.plan, [(p.slot, given[p.name][0]) for p in saved.parameters if p.name in given]
    )
    question = saved.asked({n: label for n, (_, label, _) in given.items()})
    return answered(kg, question, replace(saved.computed, plan=plan), f"saved as “{saved.name}”")


def _value(
    kg: KnowledgeGraph, reader: RoleReader, fitter: SlotFitter, saved: SavedQuestion, number: int, text: str
) -> Value:
    """Return what a text stands for in the place of a parameter."""
    parameter = saved.parameters[number]
    if parameter.slot.role == "text":
        return (Literal(text),), text, 1.0
    thing = _by_iri(kg, text) if parameter.slot.role == "entity" else None
    if thing is not None and fitter.fits(thing, parameter.slot):
        return (term_of(thing),), text, 1.0
    question = cut(text)
    mentions = reader.lexicon.match([word.token for word in question.words])
    item = item_at(question, mentions, 0, len(question.words))
    found = named(item, saved, number, fitter, question) if item is not None else []
    if not found or (len(found) > 1 and found[1][2] == found[0][2]):
        what = "Several things are" if found else "Nothing of the right kind is"
        raise ConfigError(f"{what} called so.", term=text, hint=f"It is given for {parameter.name}.")
    return found[0]


def _by_iri(kg: KnowledgeGraph, text: str) -> Candidate | None:
    try:
        thing = iri(text, kg.prefixes)
    except TermError:
        return None
    rows = kg.select(queries.get("planning/classes-of").bind(thing=[thing]))
    classes = schema_of(kg).with_superclasses(str(c) for _, c in rows)
    return Candidate("entity", str(thing), 1.0, text, classes=classes)


def _template(
    kg: KnowledgeGraph, computed: LastAnswer, text: str
) -> tuple[tuple[QuestionParameter, ...], tuple[str | int, ...]]:
    """Return the parameters of a question, and its parts: text, and numbers of parameters."""
    reader, question = reader_of(kg), cut(text)
    mentions = reader.lexicon.match([word.token for word in question.words])
    first = min((m.start for m in mentions if m.candidates[0].kind == "class"), default=len(question.words))
    said = FollowText.of(text)
    if said.leads or said.only or pointing(question, first)[0]:
        return (), (text,)  # it makes sense after another one only, so it teaches nothing
    spans: dict[tuple[int, int], Slot] = {}
    for slot in slots_of(computed.plan):
        places = [
            (i, j)
            for i in range(len(question.words))
            for j in range(i + 1, min(len(question.words), i + _LONGEST) + 1)
            if (item := item_at(question, mentions, i, j)) is not None and _says(item, slot)
        ]
        longest = [
            (i, j) for i, j in places if not any(a <= i and j <= b and (a, b) != (i, j) for a, b in places)
        ]
        free = all(j <= a or b <= i for i, j in longest for a, b in spans)
        if slot.role not in ("class", "property") and len(longest) == 1 and free:
            spans[longest[0]] = slot
    parameters: list[QuestionParameter] = []
    template: list[str | int] = []
    at = 0
    for (i, j), slot in sorted(spans.items()):
        start, end = question.words[i].token.start, question.words[j - 1].token.end
        label = question.text[start:end]
        parameters.append(
            QuestionParameter(_called(kg, reader, slot, {p.name for p in parameters}), label, slot)
        )
        template += [question.text[at:start], len(parameters) - 1]
        at = end
    return tuple(parameters), tuple(part for part in (*template, question.text[at:]) if part != "")


def _says(item: QuestionItem, slot: Slot) -> bool:
    """Return whether words of a question are what stands in a slot."""
    if item.mention is not None:
        return any(term_of(c) == slot.term for c in item.mention.candidates)
    if item.period is not None:
        return in_period(slot, item.period) == slot.terms
    return item.quantity is not None and number_literal(item.quantity.value) == slot.term


def _called(kg: KnowledgeGraph, reader: RoleReader, slot: Slot, taken: set[str]) -> str:
    """Return the name of a parameter: the class of a thing, the property of a value."""
    schema, names = reader.schema, list[str]()
    if slot.role == "entity":
        rows = kg.select(queries.get("planning/classes-of").bind(thing=[slot.term]))
        known = [schema.classes[str(c)] for _, c in rows if str(c) in schema.classes]
        names = [n for info in sorted(known, key=lambda i: (i.count, i.iri)) for n in info.names]
    elif slot.role != "time":
        names = [n for p in slot.object_of if p in schema.properties for n in schema.properties[p].names]
    base = name = identifier(names[0] if names else slot.role)
    number = 1
    while name in taken:
        number += 1
        name = f"{base}_{number}"
    return name


def _name(text: str) -> str:
    if not _NAME.match(text):
        raise ConfigError(f"{text!r} cannot name a question.", hint="Use letters, digits, spaces and -.")
    return "-".join(text.split())


def _change(kg: KnowledgeGraph, out: Sequence[SavedQuestion], into: Sequence[SavedQuestion]) -> None:
    """Take questions out of their graph and put others in, in one transaction."""
    graph = URIRef(questions_graph(kg))
    stay = [saved for saved in list_questions(kg) if saved not in out]
    old, new, kept = (
        [(graph, *triple) for saved in some for triple in question_triples(kg, saved)]
        for some in (out, into, [*stay, *into])
    )
    kg.store.update(kg.changes([quad for quad in old if quad not in kept], new))
    if kg.store.capabilities.reasoning:
        kg.recount()
    forget_questions(kg)
