"""Clues that a language model writes, where an index lets it write only what is in the documents; a ranker.

Beam search in groups (Vijayakumar et al., 2018) under the continuations of the clue index. A clue is
done as soon as it occurs in one document only and has the least length; the end of its document ends it
too. What is still ambiguous at the greatest length, or at the end of a document, is dropped. A mask leaves
only the documents of the instances of a class expression, or of a query's results.
"""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from mrag.cel.concepts import concept_of
from mrag.cel.problem import instances
from mrag.errors import ConfigError, IndexMismatch, MissingIndex
from mrag.generative.clue_index import ClueCursor, ClueIndex, Restriction, Start
from mrag.generative.models import (
    Beams,
    LanguageModel,
    LogProbabilities,
    Tokeniser,
    clue_text,
    document_tokens,
)
from mrag.generative.training import prompt
from mrag.graph.kg import KnowledgeGraph, home
from mrag.images.graph import of_query as selected
from mrag.index.documents import Definition, documents
from mrag.jobs.runners import Runner
from mrag.language.names import iri_words
from mrag.rdf.expressions import Expression
from mrag.retrieval.rankers import Hit, Question

_MOST = 64


@dataclass(frozen=True)
class DecodingSettings:
    """Every knob of decoding.

    Raises:
        ConfigError: If a number is out of its range.

    Example:
        >>> DecodingSettings(beams=4, groups=3)
        Traceback (most recent call last):
        mrag.errors.ConfigError: 4 beams cannot be divided into 3 groups. ...
    """

    beams: int = 8  # Clues that are written side by side, over all groups
    groups: int = 2  # Groups of beams that are kept apart by `diversity`; a divisor of `beams`
    # What a group's token costs for each beam of earlier groups that took it at this step, in natural
    # logarithms
    diversity: float = 0.5
    min_length: int = 2  # Fewest tokens of a clue; a document that is shorter is ended by its own end
    max_length: int = 24  # Most tokens of a clue
    # What each token costs beside its probability, in natural logarithms, so that of two clues the shorter
    # one is preferred
    length_penalty: float = 0.1
    # How much of the logarithm of a clue's probability after `prior` is taken away: 0 for the product of
    # probabilities alone, 1 for what the question adds to it
    prior_weight: float = 0.0
    prior: str = "A fact:"  # The prompt of no question
    # Whether clues begin at the beginning of documents, or anywhere in them, as a model writes them that was
    # trained to
    start: Start = "beginning"

    def __post_init__(self) -> None:
        if not 1 <= self.beams <= _MOST:
            raise ConfigError(f"{self.beams} beams are out of range.", hint=f"Use 1 to {_MOST}.")
        if self.groups < 1 or self.beams % self.groups:
            hint = "Use a number of groups that divides the number of beams."
            raise ConfigError(f"{self.beams} beams cannot be divided into {self.groups} groups.", hint=hint)
        if not 1 <= self.min_length <= self.max_length:
            hint = "The least length is 1 at least and no more than the greatest."
            raise ConfigError(f"Clues of {self.min_length} to {self.max_length} tokens cannot be.", hint=hint)
        if min(self.diversity, self.length_penalty, self.prior_weight) < 0:
            raise ConfigError("A penalty or weight is below zero.", hint="Use 0 for none.")
        if self.start not in ("anywhere", "beginning"):
            raise ConfigError(f"Clues cannot start {self.start!r}.", hint="Use 'anywhere' or 'beginning'.")


@dataclass(frozen=True)
class Clue:
    """A token sequence that occurs in exactly one document; equal documents count as one."""

    tokens: tuple[int, ...]
    text: str
    log_probability: float
    score: float
    documents: tuple[str, ...]
    number: int


@dataclass(slots=True, eq=False)
class _Beam:
    """A clue in the making; `row` is the model's row that it grew from, `number` its document once done."""

    tokens: tuple[int, ...]
    cursor: ClueCursor
    log_probability: float
    score: float
    row: int = 0
    number: int = -1


def decode(
    model: LanguageModel,
    index: ClueIndex,
    prompt: str | Sequence[int],
    settings: DecodingSettings | None = None,
    *,
    restriction: Restriction | None = None,
) -> list[Clue]:
    """Let a model write clues after a prompt: best first, each once, ties in order of the tokens.

    A clue leads to a document of the `restriction`, and is unique among all documents nevertheless.

    Raises:
        IndexMismatch: If another tokeniser made the index.
        ModelError: If the model cannot read the prompt.
    """
    knobs = settings or DecodingSettings()
    check_tokeniser(model, index)
    root = index.cursor(start=knobs.start, restriction=restriction)
    if not root:
        return []
    with ExitStack() as stack:
        tokens = model.tokeniser.encode(prompt) if isinstance(prompt, str) else list(prompt)
        beams = model.start(tokens)
        stack.callback(beams.close)
        prior = None
        if knobs.prior_weight:
            prior = model.start(model.tokeniser.encode(knobs.prior))
            stack.callback(prior.close)
        results = _search(root, beams, prior, knobs)
    clues = []
    for beam in results:
        text, ids = clue_text(model.tokeniser, beam.tokens), index.ids_of(beam.number)
        clues.append(Clue(beam.tokens, text, beam.log_probability, beam.score, ids, beam.number))
    return sorted(clues, key=lambda clue: (-clue.score, clue.tokens))


def check_tokeniser(model: LanguageModel, index: ClueIndex) -> None:
    """Make sure that a model and an index have the same tokens."""
    tokeniser = model.tokeniser
    made = index.extra.get("tokeniser", tokeniser.fingerprint)
    if made != tokeniser.fingerprint or index.vocabulary != tokeniser.vocabulary:
        what = f"The clue index was built with another tokeniser than that of {model.name}."
        hint = "Build it anew with this model, or decode with the model that it was built for."
        raise IndexMismatch(what, hint=hint)


def _search(root: ClueCursor, beams: Beams, prior: Beams | None, knobs: DecodingSettings) -> Iterable[_Beam]:
    width = knobs.beams // knobs.groups
    groups = [_Group(width, [_Beam((), root, 0.0, 0.0)], knobs) for _ in range(knobs.groups)]
    rows = beams.log_probabilities
    without = prior.log_probabilities if prior else None
    while True:
        taken: Counter[int] = Counter()
        for group in groups:
            group.grow(rows, without, taken)
        # Groups may hold the same text; the model reads it once.
        live = {beam.tokens: beam for group in groups for beam in group.live}
        if not live:
            break
        place = {tokens: row for row, tokens in enumerate(live)}
        parents = [beam.row for beam in live.values()]
        last = [beam.tokens[-1] for beam in live.values()]
        rows = beams.advance(parents, last)
        without = prior.advance(parents, last) if prior else None
        for beam in (beam for group in groups for beam in group.live):
            beam.row = place[beam.tokens]
    return {beam.tokens: beam for group in reversed(groups) for beam in reversed(group.done)}.values()


class _Group:
    """Beams that compete with each other alone."""

    def __init__(self, width: int, live: list[_Beam], knobs: DecodingSettings) -> None:
        self.width = width
        self.live = live
        self.done: list[_Beam] = []
        self.knobs = knobs

    def grow(self, rows: LogProbabilities, without: LogProbabilities | None, taken: Counter[int]) -> None:
        """Put the best continuations in the place of the beams; note which tokens they take."""
        candidates = [one for at in range(len(self.live)) for one in self._best(at, rows, without, taken)]
        candidates.sort(key=lambda c: (-c[0], self.live[c[1]].tokens, c[2]))
        live: list[_Beam] = []
        ended = 0
        for _, at, token, log_probability, score in candidates:
            beam = self._child(at, token, log_probability, score)
            if beam is None:
                continue
            taken[token] += 1
            if beam.number >= 0:
                self.done.append(beam)
                ended += 1
            else:
                live.append(beam)
            if len(live) == self.width or ended == 2 * self.width:
                break
        self.live = [] if self._is_settled(live) else live

    def _best(
        self, at: int, rows: LogProbabilities, without: LogProbabilities | None, taken: Counter[int]
    ) -> list[tuple[float, int, int, float, float]]:
        """Return the best continuations of a beam: what it is chosen by, beam, token, probability, score."""
        beam, knobs = self.live[at], self.knobs
        allowed = beam.cursor.next_tokens()
        row = rows[beam.row, allowed]
        scores: npt.NDArray[np.float64] = row.astype(np.float64) + (beam.score - knobs.length_penalty)
        if without is not None:
            scores -= knobs.prior_weight * without[beam.row, allowed]
        chosen_by = scores
        if taken and knobs.diversity:
            chosen_by = scores.copy()
            for token, times in taken.items():
                place = int(np.searchsorted(allowed, token))
                if place < len(allowed) and allowed[place] == token:
                    chosen_by[place] -= knobs.diversity * times
        best, surplus = np.arange(len(allowed)), len(allowed) - 4 * self.width
        if surplus > 0:
            best = np.flatnonzero(chosen_by >= np.partition(chosen_by, surplus)[surplus])
        # What a model finds impossible is not written.
        best = best[np.isfinite(chosen_by[best])]
        return [
            (float(chosen_by[i]), at, int(allowed[i]), beam.log_probability + float(row[i]), float(scores[i]))
            for i in best
        ]

    def _child(self, at: int, token: int, log_probability: float, score: float) -> _Beam | None:
        """Return a beam with one token more, done if it has a document's number; None if it leads nowhere."""
        knobs, parent = self.knobs, self.live[at]
        tokens = (*parent.tokens, token)
        cursor = parent.cursor.extend(token)
        number = cursor.document()
        if number is not None and (len(tokens) >= knobs.min_length or not len(cursor.next_tokens())):
            return _Beam(tokens, cursor, log_probability, score, parent.row, number)
        if len(tokens) >= knobs.max_length or not len(cursor.next_tokens()):
            return None
        return _Beam(tokens, cursor, log_probability, score, parent.row)

    def _is_settled(self, live: list[_Beam]) -> bool:
        """Return whether no beam can be better than the clues that are done."""
        if len(self.done) < self.width or not live:
            return False
        worst = sorted((beam.score for beam in self.done), reverse=True)[self.width - 1]
        return max(beam.score for beam in live) <= worst


def of_class(kg: KnowledgeGraph, index: ClueIndex, concept: Expression | str) -> Restriction:
    """Return the restriction to the documents of a class expression's instances."""
    return index.restriction(frozenset(instances(kg, concept_of(kg, concept)[0])))


def of_query(kg: KnowledgeGraph, index: ClueIndex, query: str) -> Restriction:
    """Return the restriction to the documents of the entities that a SPARQL query gives."""
    return index.restriction(frozenset(selected(kg, query)()))


Aggregation: TypeAlias = Literal["best", "sum"]
"""A document's score is that of its best clue, or the sum over its clues."""


@dataclass(frozen=True)
class Found:
    """A document that clues lead to."""

    number: int
    ids: tuple[str, ...]
    score: float
    clues: tuple[Clue, ...]


def aggregate(clues: Iterable[Clue], how: Aggregation = "best", *, overlap: float = 0.8) -> list[Found]:
    """Gather clues by document."""
    gathered: dict[int, list[Clue]] = {}
    for clue in sorted(clues, key=lambda c: (-c.score, c.tokens)):
        gathered.setdefault(clue.number, []).append(clue)
    results = []
    for number, own in gathered.items():
        score = own[0].score if how == "best" else _sum(own, overlap)
        results.append(Found(number, own[0].documents, score, tuple(own)))
    return sorted(results, key=lambda f: (-f.score, f.ids))


def _sum(clues: list[Clue], overlap: float) -> float:
    seen: set[int] = set()
    top = clues[0].score
    total = 0.0
    for clue in clues:
        tokens = set(clue.tokens)
        new = len(tokens - seen) / len(tokens)
        seen |= tokens
        total += (1 - overlap + overlap * new) * math.exp(clue.score - top)
    return top + math.log(total)


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
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> ClueIndex:
    """Build the clue index of a knowledge graph's documents.

    It is kept in the `folder`, by default beside the store; of a store in memory, in memory. `on_progress` is
    given how many documents are cut into tokens, and how many there are.

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
    texts = list(clue_texts(kg, definition))

    def cut() -> Iterator[tuple[str, Sequence[int]]]:
        for done, (iri, text) in enumerate(texts, 1):
            yield iri, document_tokens(tokeniser, text)
            on_progress(done, len(texts))

    return ClueIndex.build(
        cut(), tokeniser.vocabulary, end=tokeniser.end, folder=place, extra=extra, runner=runner
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
        hint = "Build one with build_clues, or use a store on disk."
        raise MissingIndex("A store in memory keeps no clue index.", hint=hint)
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
        index: The clue index of its documents; see `mrag.generative.decoding.build_clues`.
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
        """Return the clues that the model writes for a question, best first."""
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
            from mrag.images.enrichment import Work, description_prompt
            from mrag.images.files import open_picture

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
                expression, name = concept_of(self.kg, self.concept)
                restriction = of_class(self.kg, self.index, expression)
                self._mask = revision, restriction, f"is in {name}"
            else:
                restriction = of_query(self.kg, self.index, self.query or "")
                self._mask = revision, restriction, "is a result of the mask's query"
        return self._mask[1], self._mask[2]
