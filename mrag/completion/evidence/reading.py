"""Reading: what a passage says of an incomplete triple, by whatever reader, checked by code.

A reader gives findings: which words fill which place, and the sentence they stand in. What it quotes must
stand in the passage, and what it found must stand in the quote; the rest is thrown away.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from mrag.completion.evidence.passages import Passage
from mrag.completion.patterns import ROLES, IncompleteTriple
from mrag.completion.plan.relations import Relations
from mrag.completion.plan.roles import term_names
from mrag.completion.plan.spans import key_of, mentioned, words_of
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.plan import Unknown
from mrag.rdf.terms import Term
from mrag.text.names import split_identifier

Place = Literal["subject", "predicate", "object"]
PLACES: tuple[Place, Place, Place] = ("subject", "predicate", "object")


@dataclass(frozen=True)
class Extraction:
    """What a reader found in a passage.

    Attributes:
        place: The place that it fills.
        text: The words that fill it, as the passage has them; of a predicate its IRI.
        passage: The passage.
        quote: The words relied on, as they stand there.
        confidence: From 0 to 1.
        term: What the words mean, where the reader knows; else they are linked to the graph afterwards.
    """

    place: Place
    text: str
    passage: Passage
    quote: str
    confidence: float
    term: Term | None = None


@dataclass(frozen=True)
class SoughtTriple:
    """An incomplete triple as a reader gets it.

    Attributes:
        triple: The triple, one of its places unknown.
        place: The unknown place.
        names: Names of what is known, by place; of a predicate the ways to say it.
        words: The triple in words.
    """

    triple: IncompleteTriple
    place: Place
    names: dict[Place, tuple[str, ...]]
    words: str

    @property
    def entities(self) -> list[tuple[str, ...]]:
        """Return the names of each known entity or value."""
        return [names for place, names in self.names.items() if place != "predicate"]


class Reader(Protocol):
    """Completes a triple from passages."""

    @property
    def name(self) -> str:
        """Return what it is called in provenance."""

    def read(self, kg: KnowledgeGraph, sought: SoughtTriple, passages: Sequence[Passage]) -> list[Extraction]:
        """Return what the passages say; an empty list means that there is no evidence.

        Raises:
            ModelError: If a model cannot be reached.
        """


def sought(kg: KnowledgeGraph, triple: IncompleteTriple) -> SoughtTriple | None:
    """Return a triple in words; None where not exactly one place is unknown.

    Example:
        >>> import mrag
        >>> from rdflib import URIRef
        >>> kg, e = mrag.demo(model="none"), "https://w3id.org/mrag/demo/products#"
        >>> triple = IncompleteTriple(URIRef(e + "GraphDB"), URIRef(e + "developedBy"), Unknown("x"))
        >>> sought(kg, triple).words
        'GraphDB developed by ?'
        >>> kg.close()
    """
    unknown = [place for place, slot in zip(PLACES, triple.slots, strict=True) if isinstance(slot, Unknown)]
    if len(unknown) != 1:
        return None
    names: dict[Place, tuple[str, ...]] = {}
    for place, slot, role in zip(PLACES, triple.slots, ROLES, strict=True):
        if isinstance(slot, Unknown):
            continue
        if role == "relation":
            known = next((r for r in Relations.of(kg).all if r.iri == slot), None)
            names[place] = known.names if known else (split_identifier(str(slot)),)
        else:
            names[place] = tuple(term_names(kg, slot))
    if any(not several for several in names.values()):
        return None
    words = " ".join(names[place][0] if place in names else "?" for place in PLACES)
    return SoughtTriple(triple, unknown[0], names, words)


def checked(found: Extraction, sought: SoughtTriple, states: Callable[[str], bool]) -> Extraction | None:
    """Return a finding whose quote stands in its passage and holds what was found; else None.

    White space and typographic quotes may differ; the quote becomes what the passage has.

    Args:
        found: What a reader found.
        sought: What it was to find.
        states: Returns whether a quote is a statement that may be relied on.
    """
    passage = found.passage
    quote = found.quote.strip()
    if quote not in passage.text:
        span = locate(passage.text, quote)
        quote = passage.text[span[0] : span[1]] if span else ""
    if not quote or not 0 < found.confidence <= 1:
        return None
    if not states(quote) or not mentioned(f"{passage.title}\n{passage.text}", sought.entities):
        return None
    if found.place != "predicate" and not mentioned(quote, [[found.text]]):
        return None
    return Extraction(found.place, found.text, passage, quote, found.confidence, found.term)


def locate(text: str, quote: str) -> tuple[int, int] | None:
    """Return where a quote stands in a text, word for word; None if it does not.

    Case, punctuation, white space and accents may differ, words may not.

    Example:
        >>> locate("Moss is\\na “novel” by Ada Hill.", 'a "novel" by  Ada Hill')
        (8, 29)
        >>> locate("Moss is a novel by Ada Hill.", "a novel by Bob") is None
        True
    """
    words, wanted = words_of(text), key_of(quote)
    if not wanted:
        return None
    keys = [w.key for w in words]
    for at in range(len(keys) - len(wanted) + 1):
        if tuple(keys[at : at + len(wanted)]) == wanted:
            return words[at].start, words[at + len(wanted) - 1].end
    return None
