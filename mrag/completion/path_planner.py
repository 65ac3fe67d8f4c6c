"""A planner without a language model: the entity that a question names, and the relation path it asks for.

Every name in the question and every path that the graph's relations allow make a plan; the plans are ranked
by how similar path and question are, in words and in meaning. It plans chains from one entity; questions for
what two chains have in common, for numbers or for comparisons are beyond it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mrag.completion.graph import complete_from_graph
from mrag.completion.grounding import PathTable, RelationPath, of_sort, steps_from, unread
from mrag.completion.names import EntityNames, Relations
from mrag.completion.patterns import GroundedPlan, IncompleteTriple, Slot, TermCandidate, TriplePlan
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.index.embedding import Embedder, embedder
from mrag.language.tokens import content, is_stopword, keys, normalise, stem
from mrag.planning.plan import Unknown

Vector = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]

_WORD = re.compile(r"\w+")
_LONGEST_MENTION = 16
_ENTITIES = 3
_HOLE = "@"
"""What stands in a question in the place of what it names."""

_SPAN_WEIGHTS = {
    "exact": 1.0, "cased": 2.0, "words": 1.0, "inner": -2.0, "common": -4.0, "unlinked": -3.0,
}  # fmt: skip
"""What is measured of a span of a question, with its weight."""

_PATH_WEIGHTS = {
    "covered": 4.0, "supported": 3.0, "meaning": 4.0, "two steps": -0.5, "three steps": -1.0,
    "no such step": -4.0,
}  # fmt: skip
"""The same of a path: the share of the question's words that it has, the share of its steps that have a word
of the question, their mean cosine with the question, its length, and whether the entity has no such first
step."""


@dataclass(frozen=True)
class Mention:
    """A span of a question that may name an entity, with what is measured of it.

    The entity is None where the graph knows no such name.
    """

    start: int
    text: str
    entity: TermCandidate | None
    features: tuple[float, ...]

    def rest(self, question: str) -> str:
        """Return the question with a hole in the place of the span."""
        return f"{question[: self.start]}{_HOLE}{question[self.start + len(self.text) :]}"

    @property
    def name(self) -> str:
        """Return what the span names: an IRI, or a text that the graph does not know."""
        return str(self.entity.term) if self.entity is not None else "~" + self.text


def find_mentions(question: str, names: EntityNames, common: frozenset[str]) -> list[Mention]:
    """Return the spans of a question that may name an entity, in order of place.

    Args:
        question: The question.
        names: The names of the graph.
        common: Stems of words that the graph's relations have, which are seldom meant as names.
    """
    words = list(_WORD.finditer(question))
    runs = ((first, last) for at, first in enumerate(words) for last in words[at : at + _LONGEST_MENTION])
    every = ((first.start(), last.end()) for first, last in runs)
    spans = [(start, end) for start, end in every if names.has(normalise(question[start:end]))]

    def measured(start: int, text: str, entity: TermCandidate | None, inner: bool) -> Mention:
        own = keys(text) or (text,)
        dull = sum(is_stopword(w) or stem(w) in common for w in own) / len(own)
        cased = any(c.isupper() or c.isdigit() for c in (text[1:] if start == 0 else text))
        exact = entity is not None and entity.score == 1.0
        size, unlinked = min(len(own), 6) / 2, float(entity is None)
        return Mention(start, text, entity, (exact, cased, size, inner, dull, unlinked))

    mentions = []
    for start, end in spans:
        at, text = _place_of(question, start, end, names)
        inner = any((a, b) != (start, end) and a <= start and end <= b for a, b in spans)
        mentions += [measured(at, text, candidate, inner) for candidate in names.exact(text)[:_ENTITIES]]
    for start, end in _nameless(question, words, common):
        if (start, end) not in spans:
            inner = any(a <= start and end <= b for a, b in spans)
            mentions.append(measured(start, question[start:end], None, inner))
    return mentions


def _place_of(question: str, start: int, end: int, names: EntityNames) -> tuple[int, str]:
    """Return a span with the signs around it that belong to a name, as in `Hush!` or `$9.99`."""
    best = start, question[start:end]
    for label in [candidate.label for candidate in names.exact(question[start:end])]:
        for at in range(max(0, start - 3), start + 1):
            if question.startswith(label, at) and at + len(label) >= end and len(label) > len(best[1]):
                best = at, label
    return best


def _nameless(question: str, words: list[re.Match[str]], known: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Yield runs of words that look like a name: capitalised ones, or ones that no question had before."""
    plain = [word.group() for word in words]
    stop = [is_stopword(word.casefold()) for word in plain]
    new = [
        not small and word.casefold() not in known and stem(word) not in known
        for word, small in zip(plain, stop, strict=True)
    ]
    capital = [
        (word[0].isupper() or word[0].isdigit()) and (at > 0 or not stop[at]) for at, word in enumerate(plain)
    ]
    joins = [small or word == "s" for word, small in zip(plain, stop, strict=True)]
    for begins, joining in ((capital, joins), (new, [False] * len(words))):
        at = 0
        while at < len(words):
            last = at
            for here in range(at, len(words) if begins[at] else at):
                if begins[here]:
                    last = here
                elif not joining[here]:
                    break
            if begins[at]:
                yield words[at].start(), words[last].end()
            at = last + 1


@dataclass(frozen=True)
class Choice:
    """One mention of a question, with what is needed to measure every path from it.

    Attributes:
        span: What is measured of the mention.
        words: How many words of the rest of the question carry meaning.
        covering: For each step of the table the words of the rest that it has, as bits.
        meaning: For each step its cosine with the question.
        steps: Numbers of the steps that lead away from the entity; None where the graph does not know it.
    """

    span: tuple[float, ...]
    words: int
    covering: Numbers
    meaning: Vector
    steps: frozenset[int] | None

    def features(self, table: PathTable) -> Vector:
        """Return what is measured of the span and of every path; shape (paths, features)."""
        # A path that has ended has -1 for further steps, which is the zero at the end.
        bits = np.append(self.covering, 0)[table.paths]
        # Where the graph does not know the entity, nothing speaks against a first step.
        steps = range(len(table.steps)) if self.steps is None else sorted(self.steps)
        own = (
            np.bitwise_count(np.bitwise_or.reduce(bits, axis=1)) / max(1, min(self.words, 63)),
            (bits != 0).sum(axis=1) / table.lengths,
            np.append(self.meaning, 0.0)[table.paths].sum(axis=1) / table.lengths,
            table.lengths == 2,
            table.lengths >= 3,
            ~np.isin(table.paths[:, 0], steps),
        )
        span = np.tile(np.array(self.span, np.float64), (len(table.paths), 1))
        return np.column_stack([span, *own]).astype(np.float64)


_CHOICES = 6
_MANY = 60
"""Plans among which one that reads all of the question is looked for."""
_LONGEST = 2000
"""Characters of a question that are looked at."""
_SLACK = 1.0
"""How much less likely than the first, as a difference of logarithms, a plan with an answer may be."""
_GLANCE = 1000
"""Solutions that are enough to see whether a plan has an answer."""


@dataclass
class PathPlanner:
    """Plans chains of relations from the entity that a question names, without a language model.

    Args:
        kg: The knowledge graph.
        model: Embedding model for likeness of meaning: a name, an object, or None for words alone.
        lacking: Whether the graph may lack what a question asks for. If not, relations count that it has of
            an entity, and a plan about as likely takes the place of the first where only it has an answer.

    Example:
        >>> import mrag
        >>> kg = mrag.demo(model="none")
        >>> plan = PathPlanner(kg, model=None).plan("Which vendor is GraphDB developed by?")
        >>> print(*plan.sub_questions)
        What is “developed by” of GraphDB?
        >>> kg.close()
    """

    kg: KnowledgeGraph
    model: str | Embedder | None = "minilm"
    lacking: bool = False

    def plan(self, question: str) -> TriplePlan:
        """Return the best plan.

        Raises:
            ConfigError: If the question has no words, or the graph no relations.
        """
        plans = self.plans(question, _MANY)
        if not plans:
            raise ConfigError(
                "The question names nothing that a plan could begin with.",
                hint="Write names as the graph does, or use a planner with a language model.",
            )
        # Nothing but the words of the question speaks for a path, so those that read it come first.
        plans = [plan for plan in plans if not (plan.unread or plan.unasked)] or plans[:5]
        first = plans[0]
        for plan in plans:
            if np.log(plan.score) < np.log(first.score) - (0.0 if self.lacking else _SLACK):
                break
            glance = complete_from_graph(self.kg, GroundedPlan(plan), limit=_GLANCE)
            if glance.answers and of_sort(self.kg, glance).plan == plan:
                return plan
        return first

    def plans(self, question: str, k: int) -> list[TriplePlan]:
        """Return the best plans, each with its probability as score; ties in order of IRI and path."""
        table = self.table()
        asked, question = question, question[:_LONGEST]
        mentions = self.mentions(question)
        if not mentions or not len(table.paths):
            return []
        weights = {**_SPAN_WEIGHTS, **_PATH_WEIGHTS, **({"no such step": 0.0} if self.lacking else {})}
        base = np.array([*weights.values()])
        scores = np.stack([choice.features(table) @ base for choice in self.choices(question, mentions)])
        shares = np.exp(scores - scores.max())
        shares /= shares.sum()
        order = np.argsort(-shares, axis=None, kind="stable")[:k]
        rows, columns = np.unravel_index(order, shares.shape)
        return [
            self._plan(asked, mentions[m], table.path(p), float(shares[m, p]))
            for m, p in zip(rows.tolist(), columns.tolist(), strict=True)
        ]

    def table(self) -> PathTable:
        """Return the paths that are considered."""
        return PathTable.of(self.kg)

    def mentions(self, question: str) -> list[Mention]:
        """Return what a question may name, the likeliest first."""
        common = frozenset(stem for stems in self.table().stems for stem in stems)
        mentions = find_mentions(question, EntityNames.of(self.kg), common)
        worth = [*_SPAN_WEIGHTS.values()]
        return sorted(mentions, key=lambda m: (-float(np.dot(m.features, worth)), m.name, m.start))[:_CHOICES]

    def choices(self, question: str, mentions: Sequence[Mention]) -> list[Choice]:
        """Return what there is to choose from for a question of some mentions."""
        table = self.table()
        entities = [str(m.entity.term) for m in mentions if m.entity is not None]
        steps = steps_from(self.kg, entities, table.number)
        meaning = self._meaning(mentions[0].rest(question), table) if mentions else np.zeros(0)
        choices = []
        for mention in mentions:
            stems = content(mention.rest(question))
            away = None if mention.entity is None else frozenset(steps[str(mention.entity.term)])
            choices.append(Choice(mention.features, len(stems), table.covering(stems), meaning, away))
        return choices

    def _meaning(self, rest: str, table: PathTable) -> Vector:
        """Return the cosine of each step's relation with the question."""
        if isinstance(self.model, str):
            self.model = embedder(self.model)
        if self.model is None or not table.steps:
            return np.zeros(len(table.steps))
        relations = Relations.of(self.kg)
        cosines = relations.vectors(self.model) @ self.model.embed_query(rest.replace(_HOLE, "it"))
        by_iri = {relation.iri: cosine for relation, cosine in zip(relations.all, cosines, strict=True)}
        return np.array([by_iri[step.predicate] for step in table.steps], np.float64)

    def _plan(self, question: str, mention: Mention, path: RelationPath, score: float) -> TriplePlan:
        start: Slot = mention.entity.term if mention.entity is not None else mention.text
        unknowns = [Unknown(f"x{n}") for n in range(1, len(path) + 1)]
        triples = [
            IncompleteTriple(a, step.predicate, b) if step.forward else IncompleteTriple(b, step.predicate, a)
            for step, a, b in zip(path, [start, *unknowns], unknowns, strict=False)
        ]
        relations = [Relations.of(self.kg).by_iri[step.predicate] for step in path]
        what = mention.entity.label if mention.entity is not None else mention.text
        asked = [
            f"What is “{r.label}” of {of}?" if step.forward else f"What has {of} as “{r.label}”?"
            for r, step, of in zip(relations, path, [what, *map(str, unknowns)], strict=False)
        ]
        left, unasked = unread(mention.rest(question), path, relations)
        # "Films by the same director" are the others: what the question names is no answer to it.
        return TriplePlan(
            question,
            tuple(asked),
            tuple(triples),
            unknowns[-1],
            "paths",
            (start,),
            score,
            left,
            unasked,
        )
