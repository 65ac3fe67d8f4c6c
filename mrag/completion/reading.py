"""What a passage says of an incomplete triple, checked by code; and a reader with a language model.

The model sees passages as data and can only fill the unknown place of a triple that was planned before; what
it quotes is looked up in the passage by code, and its answer in the quote, so that a passage which gives
orders can at most make it quote itself.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, cast

from rdflib import URIRef

from mrag import untrusted
from mrag._tables import tables
from mrag.completion.checks import SCHEMA
from mrag.completion.names import NamedRelation, Relations, mentioned, places, term_names
from mrag.completion.passages import Passage
from mrag.completion.patterns import ROLES, IncompleteTriple
from mrag.generation.models import invoke_repaired, json_values, model_name
from mrag.graph.kg import KnowledgeGraph
from mrag.language.names import split_identifier
from mrag.language.tokens import normalise, words_of
from mrag.planning.plan import Unknown
from mrag.rdf.terms import Term

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage

Place = Literal["subject", "predicate", "object"]
PLACES: tuple[Place, Place, Place] = ("subject", "predicate", "object")


@dataclass(frozen=True)
class Extraction:
    """What a reader found in a passage.

    Attributes:
        place: The place that it fills.
        text: The words that fill it, as the passage has them; of a predicate its IRI.
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
    """Return a triple in words; None where not exactly one place is unknown."""
    unknown = [place for place, slot in zip(PLACES, triple.slots, strict=True) if isinstance(slot, Unknown)]
    if len(unknown) != 1:
        return None
    names: dict[Place, tuple[str, ...]] = {}
    for place, slot, role in zip(PLACES, triple.slots, ROLES, strict=True):
        if isinstance(slot, Unknown):
            continue
        if role == "relation":
            known = Relations.of(kg).by_iri.get(URIRef(str(slot)))
            names[place] = known.names if known else (split_identifier(str(slot)),)
        else:
            names[place] = tuple(term_names(kg, slot))
    if any(not several for several in names.values()):
        return None
    words = " ".join(names[place][0] if place in names else "?" for place in PLACES)
    return SoughtTriple(triple, unknown[0], names, words)


def checked(extraction: Extraction, sought: SoughtTriple, states: Callable[[str], bool]) -> Extraction | None:
    """Return a finding whose quote stands in its passage and holds what was found; else None.

    White space and typographic quotes may differ; the quote becomes what the passage has.
    """
    passage = extraction.passage
    quote = extraction.quote.strip()
    if quote not in passage.text:
        span = locate(passage.text, quote)
        quote = passage.text[span[0] : span[1]] if span else ""
    if not quote or not 0 < extraction.confidence <= 1:
        return None
    if not states(quote) or not mentioned(f"{passage.title}\n{passage.text}", sought.entities):
        return None
    if extraction.place != "predicate" and not mentioned(quote, [[extraction.text]]):
        return None
    return replace(extraction, quote=quote)


def locate(text: str, quote: str) -> tuple[int, int] | None:
    """Return where a quote stands in a text, word for word; None if it does not.

    Case, punctuation, white space and accents may differ, words may not.
    """
    words = words_of(text)
    span = next(iter(places(words, quote)), None)
    return None if span is None else (words[span.first].start, words[span.last - 1].end)


logger = logging.getLogger(__name__)

_PROMPT: Final[Mapping[str, Any]] = tables("completion/prompts.toml")["read"]
CONFIDENCE: Final = 0.8
"""How sure what a model found is, once its quote has been found."""
_MAX_CHARACTERS: Final = 6000
_HOLE: Final = re.compile(r"\{(passages|subject|predicate|object)\}")
_NOTHING: Final = re.compile(
    r"\b(?:no evidence|none of the passages|not (?:stated|mentioned))\b", re.IGNORECASE
)


@dataclass
class ModelReader:
    """Reads with a chat model.

    Example:
        >>> from langchain_core.language_models import FakeListChatModel
        >>> ModelReader(FakeListChatModel(responses=['{"answers": []}'])).name
        'FakeListChatModel'
    """

    model: BaseChatModel

    @property
    def name(self) -> str:
        """Return the name of the model, for provenance."""
        return model_name(self.model) or "model"

    def read(self, kg: KnowledgeGraph, sought: SoughtTriple, passages: Sequence[Passage]) -> list[Extraction]:
        """Return what the model finds in the passages, each with its quote.

        An answer that cannot be used is asked for once more, with what was wrong; what is wrong then is left
        out, and an answer without any form counts as no evidence.

        Raises:
            ModelError: If the model cannot be reached.
        """
        # As many as a prompt holds, at least one.
        sizes = zip(passages, accumulate(len(p.text) for p in passages), strict=True)
        some = [p for at, (p, size) in enumerate(sizes) if not at or size <= _MAX_CHARACTERS]
        if not some:
            return []
        relations = {normalise(n): r.iri for r in Relations.of(kg).all for n in r.names}
        messages = self._messages(kg, sought, some)
        extractions, problem = invoke_repaired(
            self.model,
            messages,
            _PROMPT["schema"],
            lambda text, value: _read(sought, some, relations, text, value),
        )
        if problem:
            logger.info("after one repair the model's answer is still wrong: %s", problem)
        return extractions or []

    def _messages(
        self, kg: KnowledgeGraph, sought: SoughtTriple, passages: Sequence[Passage]
    ) -> list[BaseMessage]:
        from langchain_core.messages import HumanMessage, SystemMessage

        shown = "\n".join(
            untrusted.line(str(number), f"{f'{p.title}: ' if p.title else ''}{p.text}")
            for number, p in enumerate(passages, start=1)
        )
        parts = {"passages": shown}
        for place in PLACES:
            parts[place] = untrusted.one_line(sought.names[place][0]) if place in sought.names else "?"
        text = _HOLE.sub(lambda hole: parts[hole[1]], _PROMPT["human"])
        if sought.place == "predicate":
            labels = dict.fromkeys(untrusted.one_line(r.label) for r in _frequent(kg))
            text += _PROMPT["relations"].replace("{names}", ", ".join(labels))
        return [SystemMessage(_PROMPT["system"]), HumanMessage(text)]


def _frequent(kg: KnowledgeGraph) -> list[NamedRelation]:
    """Return the relations that a model may choose from, the most frequent ones first."""
    counts = kg.profile().predicates
    every = [r for r in Relations.of(kg).all if not str(r.iri).startswith(SCHEMA)]
    return sorted(every, key=lambda r: (-counts.get(str(r.iri), 0), str(r.iri)))[:60]


def _read(
    sought: SoughtTriple, passages: Sequence[Passage], relations: Mapping[str, URIRef], text: str, value: Any
) -> tuple[list[Extraction], str]:
    """Return what of an answer can be used, and what is wrong with the rest."""
    given = [value] if value is not None and _rows(value) is not None else json_values(text, quotes=True)
    rows = next((listing for one in given if (listing := _rows(one)) is not None), None)
    if rows is None:
        return [], "" if _NOTHING.search(text) else "it is not JSON of the form asked for."
    findings: list[Extraction] = []
    predicate = sought.place == "predicate"
    problems: list[str] = []
    for row in rows:
        said, quote = str(row.get("value") or "").strip(" \"'“”[]()"), str(row.get("quote") or "").strip()
        if not said or normalise(said) in ("unknown", "none", "n a"):
            continue
        digits = re.findall(r"\d+", str(row.get("passage")))
        number = int(digits[0]) if digits and len(digits[0]) < 6 else 0
        named = [passages[number - 1]] if 1 <= number <= len(passages) else []
        # A wrong number is forgiven where the quote tells which passage is meant.
        passage = next((p for p in [*named, *passages] if quote and locate(p.text, quote)), None)
        relation = relations.get(normalise(said)) if predicate else None
        if passage is None:
            problems.append(f"the quote {quote[:80]!r} does not stand in passage {number or '?'}.")
        elif predicate and relation is None:
            problems.append(f"{said!r} is none of the relations.")
        elif not predicate and not mentioned(quote, [[said]]):
            problems.append(f"the value {said!r} does not stand in its quote.")
        else:
            meant = str(relation or said)
            findings.append(Extraction(sought.place, meant, passage, quote, CONFIDENCE, relation))
    return findings, next(iter(problems), "")


def _rows(value: Any) -> list[dict[str, Any]] | None:
    """Return the answers in a value, None if it is of another form."""
    if isinstance(value, dict):
        inner = next((value[k] for k in ("answers", "answer", "results", "values") if k in value), None)
        if inner is None:
            return [value] if "value" in value else None
        value = inner
        if isinstance(value, dict):
            value = [value]
        if value is None:
            return []
    if not isinstance(value, list):
        return None
    rows = [cast(dict[str, Any], row) for row in value if isinstance(row, dict) and "value" in row]
    return rows if rows or not value else None
