"""Decoding: a language model writes clues, and the index lets it write only what is in the documents.

Beam search in groups (Vijayakumar et al., 2018) under the continuations of the clue index. A clue is
done as soon as it occurs in one document only and has the least length; the end of its document ends it
too. What is still ambiguous at the greatest length, or at the end of a document, is dropped. A mask leaves
only the documents of the instances of a class expression, or of a query's results.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from rdflib import URIRef

from mrag.cel.concepts import concept_iri, find_concept
from mrag.cel.expressions import Expression, Named
from mrag.cel.notation import from_dl, from_manchester, to_dl
from mrag.cel.problem import instances
from mrag.errors import ConfigError, IndexMismatch, TermError
from mrag.generative.clue_index import ClueCursor, ClueIndex, Restriction, Start
from mrag.generative.models import Beams, LanguageModel, LogProbabilities, clue_text
from mrag.graph.kg import KnowledgeGraph
from mrag.stores.base import Limits, SelectResult

_MOST = 64


@dataclass(frozen=True)
class DecodingSettings:
    """Every knob of decoding.

    Attributes:
        beams: Clues that are written side by side, over all groups.
        groups: Groups of beams that are kept apart by `diversity`; a divisor of `beams`.
        diversity: What a group's token costs for each beam of earlier groups that took it at this step,
            in natural logarithms.
        min_length: Fewest tokens of a clue; a document that is shorter is ended by its own end.
        max_length: Most tokens of a clue.
        length_penalty: What each token costs beside its probability, in natural logarithms, so that of
            two clues the shorter one is preferred.
        prior_weight: How much of the logarithm of a clue's probability after `prior` is taken away: 0
            for the product of probabilities alone, 1 for what the question adds to it.
        prior: The prompt of no question.
        start: Whether clues begin at the beginning of documents, or anywhere in them, as a model writes them
            that was trained to.

    Raises:
        ConfigError: If a number is out of its range.

    Example:
        >>> DecodingSettings(beams=4, groups=3)
        Traceback (most recent call last):
        mrag.errors.ConfigError: 4 beams cannot be divided into 3 groups. ...
    """

    beams: int = 8
    groups: int = 2
    diversity: float = 0.5
    min_length: int = 2
    max_length: int = 24
    length_penalty: float = 0.1
    prior_weight: float = 0.0
    prior: str = "A fact:"
    start: Start = "beginning"

    def __post_init__(self) -> None:
        if not 1 <= self.beams <= _MOST:
            raise ConfigError(f"{self.beams} beams are out of range.", hint=f"Use 1 to {_MOST}.")
        if self.groups < 1 or self.beams % self.groups:
            raise ConfigError(
                f"{self.beams} beams cannot be divided into {self.groups} groups.",
                hint="Use a number of groups that divides the number of beams.",
            )
        if not 1 <= self.min_length <= self.max_length:
            raise ConfigError(
                f"Clues of {self.min_length} to {self.max_length} tokens cannot be.",
                hint="The least length is 1 at least and no more than the greatest.",
            )
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
        raise IndexMismatch(
            f"The clue index was built with another tokeniser than that of {model.name}.",
            hint="Build it anew with this model, or decode with the model that it was built for.",
        )


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


_LIMITS = Limits(seconds=300.0, rows=2_000_000, bytes=1 << 30)


def of_class(kg: KnowledgeGraph, index: ClueIndex, concept: Expression | str) -> Restriction:
    """Return the restriction to the documents of a class expression's instances."""
    expression, _ = read_concept(kg, concept)
    return index.restriction(frozenset(instances(kg, expression)))


def of_query(kg: KnowledgeGraph, index: ClueIndex, query: str) -> Restriction:
    """Return the restriction to the documents of the entities that a SPARQL query gives."""
    result = kg.query(query, limits=_LIMITS)
    if not isinstance(result, SelectResult):
        raise ConfigError("A mask is a SELECT query.", query=query, hint="Select the entities as ?x.")
    return index.restriction(frozenset(str(row[0]) for row in result if isinstance(row[0], URIRef)))


def read_concept(kg: KnowledgeGraph, concept: Expression | str) -> tuple[Expression, str]:
    """Return a class expression and how to show it."""
    if not isinstance(concept, str):
        return concept, to_dl(concept, kg.prefixes)
    try:
        kept = find_concept(kg, concept)
    except (ConfigError, TermError):
        kept = None  # no name at all
    if kept is not None:
        return kept.expression, kept.label
    if any(sign in concept for sign in " ()⊓⊔∃∀¬≥≤⊤⊥{"):
        try:
            read = from_dl(concept, kg.prefixes)
        except (ConfigError, TermError):
            read = from_manchester(concept, kg.prefixes)
        return read, to_dl(read, kg.prefixes)
    if ":" not in concept:
        raise ConfigError(
            f"There is no kept concept {concept!r}.",
            hint="Give a class as IRI or CURIE, or write an expression in DL or Manchester syntax.",
        )
    named = Named(concept_iri(kg, concept))
    return named, kg.labels([named.iri])[named.iri] or to_dl(named, kg.prefixes)


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
