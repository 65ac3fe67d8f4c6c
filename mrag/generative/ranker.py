"""A ranker that looks documents up by the clues that a language model writes."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from mrag.cel.expressions import Expression
from mrag.errors import ConfigError, MissingIndex
from mrag.generative import decoding
from mrag.generative.clue_index import ClueIndex, Restriction
from mrag.generative.decoding import Aggregation, Clue, DecodingSettings, aggregate, check_tokeniser, decode
from mrag.generative.models import LanguageModel, Tokeniser, clue_text, document_tokens
from mrag.generative.training import prompt
from mrag.graph.kg import KnowledgeGraph, home
from mrag.index.documents import Definition, documents
from mrag.jobs.runners import Runner
from mrag.language.names import iri_words
from mrag.retrieval.rankers import Hit, Question

logger = logging.getLogger(__name__)


def clue_texts(kg: KnowledgeGraph, definition: Definition | None = None) -> Iterator[tuple[str, str]]:
    """Yield IRI and text of each document, in order of IRI: its name once, then what is said of it."""
    texts = dict(documents(kg, definition or Definition(languages=kg.languages)))
    labels = kg.labels(texts)
    for iri, text in texts.items():
        label = (labels[iri] or iri_words(iri) or "").rstrip(".")
        again = f"{label}. {label}"
        while label and text.startswith(again) and text[len(again) : len(again) + 1] in ("", "."):
            text = text[len(label) + 2 :]
        yield iri, text


def build_clues(
    kg: KnowledgeGraph,
    tokeniser: Tokeniser,
    *,
    definition: Definition | None = None,
    folder: Path | None = None,
    runner: Runner | None = None,
) -> ClueIndex:
    """Build the clue index of a knowledge graph's documents.

    It is kept in the `folder`, by default beside the store; of a store in memory, in memory.

    Raises:
        ConfigError: If a query does not return `?documentID ?documentText`.
        IndexError_: If the folder cannot be written, or another writer is at it.
    """
    definition = definition or Definition(languages=kg.languages)
    place = folder or clue_folder(kg)
    extra: dict[str, Any] = {
        "kg": kg.iri,
        "revision": kg.revision,
        "digest": definition.digest(),
        "definition": asdict(definition),
        "tokeniser": tokeniser.fingerprint,
        "model": tokeniser.name,
    }
    texts = ((iri, document_tokens(tokeniser, text)) for iri, text in clue_texts(kg, definition))
    return ClueIndex.build(
        texts, tokeniser.vocabulary, end=tokeniser.end, folder=place, extra=extra, runner=runner
    )


def clue_folder(kg: KnowledgeGraph) -> Path | None:
    """Return where a knowledge graph's clue index lies; None for a store in memory."""
    beside = home(kg)
    return None if beside is None else beside.with_name("clues") / "main"


def open_clues(kg: KnowledgeGraph, *, folder: Path | None = None) -> ClueIndex:
    """Open the clue index of a knowledge graph.

    Of one that is older than the graph a warning is logged.

    Raises:
        MissingIndex: If there is none.
        IndexError_: If it is damaged.
    """
    place = folder or clue_folder(kg)
    if place is None:
        raise MissingIndex(
            "A store in memory keeps no clue index.",
            hint="Build one with build_clues, or use a store on disk.",
        )
    index = ClueIndex.open(place)
    if is_stale(kg, index):
        logger.warning("The clue index is older than the graph. Build it anew with `mrag clues build`.")
    return index


def is_stale(kg: KnowledgeGraph, index: ClueIndex) -> bool:
    """Return whether the graph, or the queries of the documents, have changed since an index was built."""
    extra = index.extra
    if extra.get("revision") != kg.revision or extra.get("kg") != kg.iri:
        return True
    try:
        kept = Definition.from_json(extra["definition"])
        return bool(kept.digest() != extra["digest"])
    except (KeyError, TypeError, ConfigError):
        return True


@dataclass
class GenerativeRanker:
    """Ranks entities by the clues that a language model writes for a question.

    Every hit rests on a clue that occurs in its document and in no other; where the model writes none,
    there is no hit. There are at most about twice as many hits as beams, however large `k` is.

    Args:
        index: The clue index of its documents; see `mrag.generative.ranker.build_clues`.
        model: The language model whose tokeniser made the index.
        aggregation: How the clues of one document make its score.
        concept: Only instances of this class expression may be hits: an expression, the name of a kept
            concept, an IRI or CURIE, or DL or Manchester syntax.
        query: Only what this SPARQL query selects may be hits; not together with `concept`.
        describe: What says in words what a picture shows: a function of the
            file, a chat model of LangChain, or a model's name as for `mrag describe`, such as `labels`.
        prompt: Turns a question's words into what the model reads.

    Raises:
        ConfigError: If both `concept` and `query` are given.
        IndexMismatch: If another tokeniser made the index.
    """

    kg: KnowledgeGraph
    index: ClueIndex
    model: LanguageModel
    settings: DecodingSettings = field(default_factory=DecodingSettings)
    aggregation: Aggregation = "best"
    concept: Expression | str | None = None
    query: str | None = None
    describe: Callable[[Path], str] | Any | str = "labels"
    prompt: Callable[[str], str] = prompt
    _mask: tuple[int, Restriction, str] | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.concept is not None and self.query is not None:
            raise ConfigError("A mask is a class or a query, not both.", hint="Give one of them.")
        check_tokeniser(self.model, self.index)

    def rank(self, question: Question, k: int) -> list[Hit]:
        """Return at most `k` hits, best first, each with its clue among the reasons.

        Raises:
            ModelError: If the picture cannot be described, or the question is too long for the model.
            LoadError: If the picture cannot be read.
        """
        restriction, shown = self._restriction()
        clues, note = self._decode(question, restriction)
        allowed = None if restriction is None else restriction.ids
        hits: list[Hit] = []
        seen: set[str] = set()
        for result in aggregate(clues, self.aggregation):
            reasons = [
                f'clue "{clue.text}" (probability {math.exp(clue.log_probability):.1e}) '
                f"occurs {self._where(clue)}"
                for clue in result.clues[: 3 if self.aggregation == "sum" else 1]
            ]
            said = (*reasons, *filter(None, (shown, note)))
            for doc_id in result.ids:
                if doc_id not in seen and (allowed is None or doc_id in allowed):
                    seen.add(doc_id)
                    hits.append(Hit(doc_id, result.score, len(hits) + 1, said))
        return hits[:k]

    def clues(self, question: Question) -> list[Clue]:
        """Return the clues that the model writes for a question, best first.

        Raises:
            ModelError: As `rank` does.
        """
        return self._decode(question, self._restriction()[0])[0]

    def _decode(self, question: Question, mask: Restriction | None) -> tuple[list[Clue], str]:
        """Return the clues for a question, best first, and what to say of its picture."""
        words, note = self._words(question)
        return decode(self.model, self.index, self.prompt(words), self.settings, restriction=mask), note

    def _where(self, clue: Clue) -> str:
        """Return in which documents a clue occurs, of all that there are."""
        # What makes it unique may be a blank or the end behind it, or that a mask leaves others out.
        shown = clue.tokens
        while len(shown) > 1 and clue_text(self.model.tokeniser, shown[:-1]) == clue.text:
            shown = shown[:-1]
        every = len(self.index.documents(shown))
        if every > len(clue.documents):
            return f"in {every} documents, and tells this one from all others that it could be"
        # As text it may stand in others, cut into other tokens.
        alone = "token by token in this document alone"
        return alone if every == 1 else f"in {every} documents that read the same"

    def _words(self, question: Question) -> tuple[str, str]:
        """Return the words, with the description of a picture, and what to say of it."""
        if question.image is None:
            return question.text, ""
        if callable(self.describe) and not hasattr(self.describe, "invoke"):
            said = str(self.describe(question.image))
        else:
            from mrag.images.enrichment import Work
            from mrag.images.files import open_picture
            from mrag.images.prompts import description_prompt

            model: Any = self.describe
            said = Work(model, description_prompt("general")).say(open_picture(question.image))
        return f"{question.text} {said}".strip(), f'the picture\'s description stood in: "{said}"'

    def _restriction(self) -> tuple[Restriction | None, str]:
        """Return the mask and how to name it; it is asked again when the graph has changed."""
        if self.concept is None and self.query is None:
            return None, ""
        revision = self.kg.revision
        if self._mask is None or self._mask[0] != revision:
            if self.concept is not None:
                expression, name = decoding.read_concept(self.kg, self.concept)
                restriction = decoding.of_class(self.kg, self.index, expression)
                self._mask = revision, restriction, f"is in {name}"
            else:
                restriction = decoding.of_query(self.kg, self.index, self.query or "")
                self._mask = revision, restriction, "is a result of the mask's query"
        return self._mask[1], self._mask[2]
