"""Questions saved in a graph with their plans; later ones in the same words are read like them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

from rdflib import PROV, RDF, RDFS, XSD, Literal, URIRef

from mrag._patterns import compile_late
from mrag.errors import ConfigError, StoreError, TermError
from mrag.generation.result import Answer
from mrag.graph.books import books
from mrag.graph.kg import KnowledgeGraph
from mrag.language.tokens import tokens
from mrag.planning.accounting import account
from mrag.planning.following import LastAnswer, goes_on
from mrag.planning.interchange import plan_to_json
from mrag.planning.lexicon import Lexicon
from mrag.planning.reader.reader import RoleReader
from mrag.planning.reader.units import units_of
from mrag.planning.readings import Reading, reading_of
from mrag.planning.slots import Slot, SlotFitter, SlotOption, fill, slots_of
from mrag.rdf import queries
from mrag.rdf.terms import MRAG, Triple
from mrag.stores.base import Dataset

SAVED: Final = "urn:mrag:question:"  # Start of the IRIs of saved questions

_HIDDEN: Final = URIRef(MRAG + "verbatim")
_PART_OF: Final = URIRef("http://purl.org/dc/terms/isPartOf")
_NAME = compile_late(r"[^\W_][\w \-]*\Z")
_EVERY, _PATTERNS = "saved questions", "patterns of saved questions"


@dataclass(frozen=True)
class SavedQuestion:
    """A question that was saved with its plan."""

    name: str  # Its name
    question: str  # The question as it was asked
    reading: str  # How it was read, in words
    computed: LastAnswer  # Its plan, and the columns that are shown
    author: str  # Who saved it; may be empty
    saved: str  # When, as xsd:dateTime writes it

    @property
    def iri(self) -> str:
        """Return its IRI."""
        return SAVED + self.name

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values, without its plan."""
        return {name: getattr(self, name) for name in ("name", "question", "reading", "author", "saved")}


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
        ...     other = mrag.ask(kg, "Which products does Stardog Union develop?", model="none")
        >>> other.text.split()[0], other.why
        ('Stardog', 'read like the saved question “products-of-a-vendor”')
    """
    if answer.computed is None:
        raise ConfigError("Only the question of a computed answer can be saved.")
    kg.require_writable()
    computed = replace(LastAnswer.from_json(answer.computed.to_json()), before=None)
    words = re.sub(r"\W+", " ", answer.question.lower()).split()
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    called = _name(name or " ".join(words)[:80])
    saved = SavedQuestion(called, answer.question, answer.computed.reading, computed, author, now)
    before = [one for one in list_questions(kg) if one.name == called]
    if before and not replacing:
        raise ConfigError(
            "Another question is saved under this name.", term=called, hint="Choose another name."
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


def list_questions(kg: KnowledgeGraph) -> list[SavedQuestion]:
    """Return the saved questions of a graph, in order of name; those that cannot be read are left out.

    They are read once for each state of the graph, and again when one is saved or removed here.
    """
    return kg.cached(_EVERY, lambda: list(_read(kg)))


def _name(text: str) -> str:
    if not _NAME.match(text):
        raise ConfigError(f"{text!r} cannot name a question.", hint="Use letters, digits, spaces and -.")
    return "-".join(text.split())


def questions_graph(kg: KnowledgeGraph) -> str:
    """Return the IRI of the graph of saved questions; no question is answered from it."""
    return f"urn:mrag:questions:{kg.name}"


def _change(kg: KnowledgeGraph, out: Sequence[SavedQuestion], into: Sequence[SavedQuestion]) -> None:
    """Take questions out of their graph and put others in, in one transaction; forget what was read of it."""
    stay = [saved for saved in list_questions(kg) if saved not in out]
    old, new, kept = (
        [triple for saved in some for triple in _triples(kg, saved)] for some in (out, into, [*stay, *into])
    )
    graph = URIRef(questions_graph(kg))
    gone = [(graph, *triple) for triple in old if triple not in kept]
    with books(kg, writing=True) as store:
        store.update(kg.changes(gone, [(graph, *triple) for triple in new]))
    for name in (_EVERY, _PATTERNS):
        kg.cache.pop(name, None)


def _triples(kg: KnowledgeGraph, saved: SavedQuestion) -> Iterator[Triple]:
    node = URIRef(saved.iri)
    kept = {"plan": plan_to_json(saved.computed.plan), "columns": saved.computed.shown}
    yield Triple(node, RDF.type, URIRef(MRAG + "SavedQuestion"))
    yield Triple(node, RDF.type, PROV.Entity)
    yield Triple(node, RDFS.label, Literal(saved.name, datatype=_HIDDEN))
    yield Triple(node, URIRef(MRAG + "wording"), Literal(saved.question, datatype=_HIDDEN))
    yield Triple(node, URIRef(MRAG + "reading"), Literal(saved.reading, datatype=_HIDDEN))
    yield Triple(node, URIRef(MRAG + "plan"), Literal(json.dumps(kept, sort_keys=True), datatype=RDF.JSON))
    yield Triple(node, _PART_OF, URIRef(kg.iri))
    yield Triple(node, PROV.generatedAtTime, Literal(saved.saved, datatype=XSD.dateTime, normalize=False))
    if saved.author:
        agent = URIRef("urn:mrag:agent:" + hashlib.sha256(saved.author.encode()).hexdigest()[:32])
        yield Triple(node, PROV.wasAttributedTo, agent)
        yield Triple(agent, RDF.type, PROV.Agent)
        yield Triple(agent, PROV.value, Literal(saved.author, datatype=_HIDDEN))


def _read(kg: KnowledgeGraph) -> Iterator[SavedQuestion]:
    fields: dict[str, dict[str, str]] = {}
    text = queries.get("planning/saved-list").bind(kg=[kg.iri])
    try:
        with books(kg) as store:
            rows = store.select(text, Dataset((questions_graph(kg),))).rows
    except StoreError:
        return  # a store that cannot tell can still be asked
    for node, p, o, author in rows:
        values = fields.setdefault(str(node), {})
        values[str(p)] = str(o)
        values["author"] = "" if author is None else str(author)
    for name, values in sorted(fields.items()):
        try:
            yield _save(name.removeprefix(SAVED), values)
        except (ConfigError, TermError, KeyError, TypeError, ValueError, AttributeError):
            continue


def _save(name: str, values: Mapping[str, str]) -> SavedQuestion:
    computed = LastAnswer.from_json(json.loads(values[MRAG + "plan"]))
    reading, saved = values.get(MRAG + "reading", ""), values.get(str(PROV.generatedAtTime), "")
    return SavedQuestion(name, values[MRAG + "wording"], reading, computed, values["author"], saved)


_SURE: Final = 0.99
_LONGEST: Final = 10  # Words of one name
_WAYS: Final = 1_000  # Ways that are tried of finding the names of a question in its words

_FILLED: Final = ("name", "number", "unasked", "quotation")
"""What the words in the places of slots may leave out, or have too much."""

SavedPattern: TypeAlias = list[Slot | list[str]]
"""A saved question in parts: words, and slots that other words may fill."""


class SaidValues:
    """What words of a question may stand for in slots."""

    def __init__(self, lexicon: Lexicon, fitter: SlotFitter, text: str) -> None:
        self._text, self._words = text, tokens(text)
        self.keys = [word.key for word in self._words]
        self._fitter, self._units = fitter, units_of(lexicon, text, self._words)

    def options(self, slot: Slot, start: int, end: int) -> list[SlotOption]:
        """Return what some words, and none beside, may stand for in a slot, likeliest first."""
        units = [u for u in self._units if (u.start, u.end) == (start, end)]
        said = self._text[self._words[start].start : self._words[end - 1].end] if units else ""
        options = {o.filling: o for u in units for o in self._fitter.options(u, said, [slot])}
        return sorted(options.values(), key=lambda o: (-o.score, str(o.filling[0])))

    def places(self, slot: Slot) -> list[tuple[int, int]]:
        """Return which words say what stands in a slot: the longest names, the shortest values."""
        places = {(u.start, u.end) for u in self._units}
        same = [(i, j) for i, j in places if any(not o.changes for o in self.options(slot, i, j))]

        def inside(one: tuple[int, int], other: tuple[int, int]) -> bool:
            return one != other and other[0] <= one[0] and one[1] <= other[1]

        if slot.bounds:
            return [at for at in same if not any(inside(other, at) for other in same)]
        return [at for at in same if not any(inside(at, other) for other in same)]


def taught(kg: KnowledgeGraph, reader: RoleReader, text: str) -> list[Reading]:
    """Return the readings of a question that questions saved before teach, best first."""
    every = list_questions(kg)
    if not every:
        return []
    fitter, readings = SlotFitter(kg, reader.schema), []
    patterns = kg.cached(_PATTERNS, lambda: [_pattern(reader, fitter, saved) for saved in every])
    values = SaidValues(reader.lexicon, fitter, text)
    for saved, pattern in zip(every, patterns, strict=True):
        best = max(_fill(saved, pattern, values), key=lambda r: r.probability, default=None)
        if best is not None:
            # The words of the saved question count as said, and so does what its plan has.
            known = {word.raw.lower() for word in tokens(saved.question)}
            gaps = account(reader.lexicon, text, best.plan, best.shown, saved.computed.plan).gaps
            gaps = tuple(
                g for g in gaps if g.kind in _FILLED and not known.issuperset(g.words.lower().split())
            )
            best = replace(best, ignored=tuple(dict.fromkeys(g.words for g in gaps)))
            readings.append((-best.probability, len(pattern), saved.name, best))
    return [reading for *_, reading in sorted(readings, key=lambda f: f[:3])]


def _pattern(reader: RoleReader, fitter: SlotFitter, saved: SavedQuestion) -> SavedPattern:
    said = SaidValues(reader.lexicon, fitter, saved.question)
    spans: dict[tuple[int, int], Slot] = {}
    # What makes sense after another question only is known by all its words.
    for slot in slots_of(saved.computed.plan) if not goes_on(reader, saved.question) else ():
        places = said.places(slot) if slot.role not in ("class", "property") else []
        if len(places) == 1 and all(j <= a or b <= i for i, j in places for a, b in spans):
            spans[places[0]] = slot
    pattern: SavedPattern = []
    at = 0
    for (i, j), slot in sorted(spans.items(), key=lambda one: one[0]):
        pattern += [said.keys[at:i], slot]
        at = j
    return [*pattern, said.keys[at:]]


def _fill(saved: SavedQuestion, pattern: SavedPattern, values: SaidValues) -> Iterator[Reading]:
    slots = [part for part in pattern if isinstance(part, Slot)]
    for spans in _align(pattern, values.keys):
        options = [values.options(slot, *span) for slot, span in zip(slots, spans, strict=True)]
        if all(options):
            changes = [(slot, every[0].filling) for slot, every in zip(slots, options, strict=True)]
            plan = fill(saved.computed.plan, changes)
            shares = (every[0].score / sum(o.score == every[0].score for o in every) for every in options)
            note = f"read like the saved question “{saved.name}”"
            yield reading_of(plan, saved.computed.shown, _SURE * min(shares, default=1.0), note)


def _align(pattern: SavedPattern, said: Sequence[str]) -> list[tuple[tuple[int, int], ...]]:
    """Return the words that slots take if all others are the same, shortest first."""
    ways: list[tuple[tuple[tuple[int, int], ...], int]] = [((), 0)]
    for part in pattern:
        if isinstance(part, Slot):
            longer = ((spans, at, at + n) for spans, at in ways for n in range(1, _LONGEST + 1))
            ways = [((*spans, (at, end)), end) for spans, at, end in longer if end <= len(said)][:_WAYS]
        else:
            size = len(part)
            ways = [(spans, at + size) for spans, at in ways if said[at : at + size] == part]
    return [spans for spans, at in ways if at == len(said)]
