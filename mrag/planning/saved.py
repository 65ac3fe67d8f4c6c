"""Questions are saved in a graph, run again with other names, and removed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain, count

from rdflib import Literal

from mrag.errors import ConfigError, TermError
from mrag.generation.result import Answer
from mrag.graph.kg import KnowledgeGraph
from mrag.language.possessive import compile_late
from mrag.planning.answering import answered, reader_of
from mrag.planning.following import LastAnswer, goes_on
from mrag.planning.lexical import Candidate
from mrag.planning.precedents import (
    QuestionParameter,
    SaidValues,
    SavedQuestion,
    change_kept,
    list_questions,
    question_triples,
)
from mrag.planning.profiling import schema_of
from mrag.planning.reader.frames import stem_of
from mrag.planning.reader.reader import RoleReader
from mrag.planning.slots import Filling, Slot, SlotFitter, filled, slots_of, term_of
from mrag.rdf import queries
from mrag.rdf.terms import iri

_NAME = compile_late(r"[^\W_][\w \-]*\Z")


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
    question = saved.asked({n: label for n, (_, label) in given.items()})
    return answered(kg, question, replace(saved.computed, plan=plan), f"saved as “{saved.name}”")


def _value(
    kg: KnowledgeGraph, reader: RoleReader, fitter: SlotFitter, saved: SavedQuestion, number: int, text: str
) -> tuple[Filling, str]:
    """Return what a text stands for, and what that is called, in the place of a parameter."""
    parameter = saved.parameters[number]
    if parameter.slot.role == "text":
        return (Literal(text),), text
    thing = _by_iri(kg, text) if parameter.slot.role == "entity" else None
    if thing is not None and fitter.fits(thing, parameter.slot):
        return (term_of(thing),), text
    values = SaidValues(reader.lexicon, fitter, text)
    found = values.options(parameter.slot, 0, len(values.words))
    if not found or (len(found) > 1 and found[1].score == found[0].score):
        what = "Several things are" if found else "Nothing of the right kind is"
        raise ConfigError(f"{what} called so.", term=text, hint=f"It is given for {parameter.name}.")
    return found[0].filling, found[0].name


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
    reader = reader_of(kg)
    if goes_on(reader, text):
        return (), (text,)  # it makes sense after another one only, so it teaches nothing
    said = SaidValues(reader.lexicon, SlotFitter(kg, reader.schema), text)
    spans: dict[tuple[int, int], Slot] = {}
    for slot in slots_of(computed.plan):
        places = said.places(slot) if slot.role not in ("class", "property") else []
        if len(places) == 1 and all(j <= a or b <= i for i, j in places for a, b in spans):
            spans[places[0]] = slot
    parameters: list[QuestionParameter] = []
    template: list[str | int] = []
    at = 0
    for (i, j), slot in sorted(spans.items()):
        start, end = said.words[i].start, said.words[j - 1].end
        name = _called(kg, reader, slot, {p.name for p in parameters})
        parameters.append(QuestionParameter(name, text[start:end], slot))
        template += [text[at:start], len(parameters) - 1]
        at = end
    return tuple(parameters), tuple(part for part in (*template, text[at:]) if part != "")


def _called(kg: KnowledgeGraph, reader: RoleReader, slot: Slot, taken: set[str]) -> str:
    """Return the name of a parameter: the class of a thing, the property of a value."""
    schema, names = reader.schema, list[str]()
    if slot.role == "entity":
        rows = kg.select(queries.get("planning/classes-of").bind(thing=[slot.term]))
        known = [schema.classes[str(c)] for _, c in rows if str(c) in schema.classes]
        names = [n for info in sorted(known, key=lambda i: (i.count, i.iri)) for n in info.names]
    elif slot.role != "time":
        names = [n for p in slot.object_of if p in schema.properties for n in schema.properties[p].names]
    base = stem_of(names[0] if names else slot.role)
    options = chain((base,), (f"{base}_{number}" for number in count(2)))
    return next(name for name in options if name not in taken)


def _name(text: str) -> str:
    if not _NAME.match(text):
        raise ConfigError(f"{text!r} cannot name a question.", hint="Use letters, digits, spaces and -.")
    return "-".join(text.split())


def _change(kg: KnowledgeGraph, out: Sequence[SavedQuestion], into: Sequence[SavedQuestion]) -> None:
    """Take questions out of their graph and put others in, in one transaction."""
    stay = [saved for saved in list_questions(kg) if saved not in out]
    old, new, kept = (
        [triple for saved in some for triple in question_triples(kg, saved)]
        for some in (out, into, [*stay, *into])
    )
    change_kept(kg, [triple for triple in old if triple not in kept], new)
