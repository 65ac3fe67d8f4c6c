"""Saved questions as precedents: kept in the graph with their plans, and matched with later questions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from rdflib import PROV, RDF, RDFS, XSD, Literal, URIRef

from mrag.errors import ConfigError, StoreError, TermError
from mrag.graph.kg import KnowledgeGraph
from mrag.language.tokens import tokens
from mrag.planning.accounting import account
from mrag.planning.following import LastAnswer
from mrag.planning.interchange import plan_to_json
from mrag.planning.lexicon import Lexicon
from mrag.planning.reader.reader import RoleReader
from mrag.planning.reader.units import units_of
from mrag.planning.readings import Reading, reading_of
from mrag.planning.slots import Slot, SlotFitter, SlotOption, filled, slots_of
from mrag.rdf import queries
from mrag.rdf.terms import MRAG, Triple, term_from_json, term_to_json
from mrag.stores.base import Dataset

SAVED: Final = "urn:mrag:question:"
"""Start of the IRIs of saved questions."""

_HIDDEN: Final = URIRef(MRAG + "verbatim")
_PART_OF: Final = URIRef("http://purl.org/dc/terms/isPartOf")
_WAYS: Final = 1_000
"""Ways that are tried of finding the parameters of a question in its text."""


@dataclass(frozen=True)
class QuestionParameter:
    """A name or a value of a saved question, in whose place another one can be given.

    Attributes:
        name: What the parameter is called.
        label: What stands in its place in the question.
        slot: Its place in the plan.
    """

    name: str
    label: str
    slot: Slot


@dataclass(frozen=True)
class SavedQuestion:
    """A question that was saved with its plan.

    Attributes:
        name: Its name.
        question: The question as it was asked.
        reading: How it was read, in words.
        computed: Its plan, and the columns that are shown.
        parameters: What can be given otherwise.
        template: The question in parts: text, and numbers of parameters.
        author: Who saved it; may be empty.
        saved: When, as xsd:dateTime writes it.
    """

    name: str
    question: str
    reading: str
    computed: LastAnswer
    parameters: tuple[QuestionParameter, ...]
    template: tuple[str | int, ...]
    author: str
    saved: str

    @property
    def iri(self) -> str:
        """Return its IRI."""
        return SAVED + self.name

    def asked(self, labels: Mapping[str, str]) -> str:
        """Return the question with other labels for some of its parameters."""
        named = [labels.get(p.name, p.label) for p in self.parameters]
        return "".join(part if isinstance(part, str) else named[part] for part in self.template)

    def values_in(self, question: str) -> Iterator[dict[str, str]]:
        """Yield what may stand in the place of each parameter in a question that `asked` gave."""
        for spans in _aligned(self.template, question, 0, len(question)):
            yield {self.parameters[n].name: question[i:j] for n, (i, j) in spans.items()}

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "name": self.name,
            "question": self.question,
            "reading": self.reading,
            "template": self.asked({p.name: f"{{{p.name}}}" for p in self.parameters}),
            "parameters": {p.name: p.label for p in self.parameters},
            "author": self.author,
            "saved": self.saved,
        }


def questions_graph(kg: KnowledgeGraph) -> str:
    """Return the IRI of the graph of saved questions; no question is answered from it.

    A server that reasons itself has all its graphs in sight; there a datatype of their own keeps the texts
    out of indexes.
    """
    return (
        kg.server_graph("questions") if kg.store.capabilities.reasoning else f"urn:mrag:questions:{kg.name}"
    )


def question_triples(kg: KnowledgeGraph, saved: SavedQuestion) -> Iterator[Triple]:
    """Yield the triples of a saved question."""
    node = URIRef(saved.iri)
    kept = {
        "plan": plan_to_json(saved.computed.plan),
        "columns": saved.computed.shown,
        "parameters": [
            {
                "name": p.name,
                "label": p.label,
                "role": p.slot.role,
                "terms": [term_to_json(t) for t in p.slot.terms],
            }
            for p in saved.parameters
        ],
        "template": saved.template,
    }
    yield Triple(node, RDF.type, URIRef(MRAG + "SavedQuestion"))
    yield Triple(node, RDF.type, PROV.Entity)
    yield Triple(node, RDFS.label, Literal(saved.name, datatype=_HIDDEN))
    yield Triple(node, URIRef(MRAG + "wording"), Literal(saved.question, datatype=_HIDDEN))
    yield Triple(node, URIRef(MRAG + "reading"), Literal(saved.reading, datatype=_HIDDEN))
    for p in saved.parameters:
        yield Triple(node, URIRef(MRAG + "parameter"), Literal(f"{p.name} = {p.label}", datatype=_HIDDEN))
    yield Triple(node, URIRef(MRAG + "plan"), Literal(json.dumps(kept, sort_keys=True), datatype=RDF.JSON))
    yield Triple(node, _PART_OF, URIRef(kg.iri))
    yield Triple(node, PROV.generatedAtTime, Literal(saved.saved, datatype=XSD.dateTime, normalize=False))
    if saved.author:
        agent = URIRef("urn:mrag:agent:" + hashlib.sha256(saved.author.encode()).hexdigest()[:32])
        yield Triple(node, PROV.wasAttributedTo, agent)
        yield Triple(agent, RDF.type, PROV.Agent)
        yield Triple(agent, PROV.value, Literal(saved.author, datatype=_HIDDEN))


def list_questions(kg: KnowledgeGraph) -> list[SavedQuestion]:
    """Return the saved questions of a graph, in order of name; those that cannot be read are left out.

    They are read once for each state of the graph, and again when one is saved or removed here.
    """
    return kg.cached("saved questions", lambda: list(_read(kg)))


def change_kept(kg: KnowledgeGraph, old: Sequence[Triple], new: Sequence[Triple]) -> None:
    """Replace triples in the graph of saved questions at once, and forget what was read of it."""
    graph = URIRef(questions_graph(kg))
    kg.store.update(kg.changes([(graph, *triple) for triple in old], [(graph, *triple) for triple in new]))
    if kg.store.capabilities.reasoning:
        kg.recount()
    for name in ("saved questions", "certainty"):
        kg.cache.pop(name, None)


def _read(kg: KnowledgeGraph) -> Iterator[SavedQuestion]:
    found: dict[str, dict[str, str]] = {}
    text = queries.get("planning/saved-list").bind(kg=[kg.iri])
    try:
        rows = list(kg.store.select(text, Dataset((questions_graph(kg),))))
    except StoreError:
        return  # a store that cannot tell can still be asked
    for node, p, o, author in rows:
        values = found.setdefault(str(node), {})
        values[str(p)] = str(o)
        values["author"] = "" if author is None else str(author)
    for name, values in sorted(found.items()):
        try:
            yield _saved(name.removeprefix(SAVED), values)
        except (ConfigError, TermError, KeyError, TypeError, ValueError, AttributeError, IndexError):
            continue


def _saved(name: str, values: Mapping[str, str]) -> SavedQuestion:
    kept = json.loads(values[MRAG + "plan"])
    computed = LastAnswer.from_json(kept)
    slots = {(s.role, s.terms): s for s in slots_of(computed.plan)}
    parameters = tuple(
        QuestionParameter(
            str(p["name"]), str(p["label"]), slots[p["role"], tuple(term_from_json(t) for t in p["terms"])]
        )
        for p in kept["parameters"]
    )
    template = tuple(
        part if isinstance(part, str) else parameters.index(parameters[part]) for part in kept["template"]
    )
    return SavedQuestion(
        name,
        values[MRAG + "wording"],
        values.get(MRAG + "reading", ""),
        computed,
        parameters,
        template,
        values["author"],
        values.get(str(PROV.generatedAtTime), ""),
    )


_SURE: Final = 0.99
_LONGEST: Final = 10
"""Words of one name."""

_FILLED: Final = ("name", "number", "unasked", "quotation")
"""What the words in the places of parameters may leave out, or have too much."""


class SaidValues:
    """What words of a question may stand for in the places of parameters.

    Args:
        lexicon: The names of the graph.
        fitter: Tells what fits where.
        text: The question.
    """

    def __init__(self, lexicon: Lexicon, fitter: SlotFitter, text: str) -> None:
        self.text, self.words = text, tokens(text)
        self._fitter, self._units = fitter, units_of(lexicon, text, self.words)

    def said(self, start: int, end: int) -> str:
        """Return the text of some words."""
        return self.text[self.words[start].start : self.words[end - 1].end]

    def options(self, slot: Slot, start: int, end: int) -> list[SlotOption]:
        """Return what some words, and none beside, may stand for in a slot, likeliest first."""
        units = [u for u in self._units if (u.start, u.end) == (start, end)]
        said = self.said(start, end) if units else ""
        found = {o.filling: o for u in units for o in self._fitter.options(u, said, [slot])}
        return sorted(found.values(), key=lambda o: (-o.score, str(o.filling[0])))

    def places(self, slot: Slot) -> list[tuple[int, int]]:
        """Return which words say what stands in a slot: the longest names, the shortest values."""
        found = {(u.start, u.end) for u in self._units}
        same = [(i, j) for i, j in found if any(not o.changes for o in self.options(slot, i, j))]

        def inside(one: tuple[int, int], other: tuple[int, int]) -> bool:
            return one != other and other[0] <= one[0] and one[1] <= other[1]

        if slot.bounds:
            return [at for at in same if not any(inside(other, at) for other in same)]
        return [at for at in same if not any(inside(at, other) for other in same)]


def taught(kg: KnowledgeGraph, reader: RoleReader, text: str) -> list[Reading]:
    """Return the readings of a question that questions saved before teach, best first.

    Args:
        kg: The graph.
        reader: Its reader.
        text: The question.
    """
    every = list_questions(kg)
    if not every:
        return []
    values = SaidValues(reader.lexicon, SlotFitter(kg, reader.schema), text)
    found = []
    for saved in every:
        best = max(_filled(saved, values), key=lambda r: r.probability, default=None)
        if best is not None:
            # The words of the saved question count as said, and so does what its plan has.
            known = {word.raw.lower() for word in tokens(saved.question)}
            gaps = account(reader.lexicon, text, best.plan, best.shown, saved.computed.plan).gaps
            gaps = tuple(
                g for g in gaps if g.kind in _FILLED and not known.issuperset(g.words.lower().split())
            )
            best = replace(best, ignored=tuple(dict.fromkeys(g.words for g in gaps)))
            found.append((-best.probability, len(saved.parameters), saved.name, best))
    return [reading for *_, reading in sorted(found, key=lambda f: f[:3])]


def _filled(saved: SavedQuestion, values: SaidValues) -> Iterator[Reading]:
    pattern = [p if isinstance(p, int) else [word.key for word in tokens(p)] for p in saved.template]
    for spans in _aligned(pattern, [word.key for word in values.words], 1, _LONGEST):
        changes, score = [], 1.0
        for number, span in spans.items():
            slot = saved.parameters[number].slot
            found = values.options(slot, *span)
            if not found:
                break
            changes.append((slot, found[0].filling))
            score = min(score, found[0].score / sum(o.score == found[0].score for o in found))
        else:
            plan = filled(saved.computed.plan, changes)
            note = f"read like the saved question “{saved.name}”"
            yield reading_of(plan, saved.computed.shown, _SURE * score, note)


def _aligned(
    pattern: Sequence[Sequence[str] | int], said: Sequence[str], least: int, most: int
) -> Iterator[Mapping[int, tuple[int, int]]]:
    """Yield the spans of letters or words that parameters take if all others are the same, shortest first."""
    ways: list[tuple[int, int, dict[int, tuple[int, int]]]] = [(0, 0, {})]
    for _ in range(_WAYS):
        if not ways:
            return
        part, at, spans = ways.pop()
        if part == len(pattern):
            if at == len(said):
                yield spans
            continue
        here, behind = pattern[part], pattern[part + 1] if part + 1 < len(pattern) else None
        if not isinstance(here, int):
            end = at + len(here)
            ways += [(part + 1, end, spans)] if said[at:end] == here else []
            continue
        for end in range(min(len(said), at + most), at + least - 1, -1):
            if behind is None:
                fits = end == len(said)
            else:
                fits = isinstance(behind, int) or said[end : end + len(behind)] == behind
            if fits:
                ways.append((part + 1, end, {**spans, here: (at, end)}))
