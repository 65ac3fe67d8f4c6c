"""A planner without a language model: the entity that a question names, and the relation path it asks for.

Every name in the question and every path that the graph's relations allow make a plan; the plans are ranked
by how similar path and question are, in words and in meaning, and by weights that can be learnt from solved
questions (`calibrate`). It plans chains from one entity; questions for what two chains have in common, for
numbers or for comparisons are beyond it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from rdflib import URIRef

from mrag.completion.graph import CompletionSettings, complete_from_graph
from mrag.completion.plan.calibration import Weights, learn, softmax, unseen, words_of
from mrag.completion.plan.choices import Choice, Numbers, Vector
from mrag.completion.plan.mentions import HOLE, Mention, find_mentions
from mrag.completion.plan.names import EntityNames
from mrag.completion.plan.paths import PathSettings, PathTable, RelationPath, steps_from
from mrag.completion.plan.patterns import GroundedPlan, IncompleteTriple, Slot, TriplePlan
from mrag.completion.plan.relations import Relations
from mrag.completion.plan.understood import of_sort, unread
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.index.embedding import Embedder, embedder
from mrag.planning.plan import Unknown
from mrag.text.tokens import content

_CHOICES = 6
_MANY = 60
"""Plans among which one that reads all of the question is looked for."""
_LONGEST = 2000
"""Characters of a question that are looked at."""
_BY_HAND = Weights()
_GLANCE = CompletionSettings(limit=1000)
"""Enough to see whether a plan has an answer."""


@dataclass(frozen=True)
class Example:
    """A solved question, to calibrate on.

    Attributes:
        question: The question.
        entity: IRI of the entity that it names.
        path: The relation path from the entity to the answers.
    """

    question: str
    entity: URIRef
    path: RelationPath


@dataclass
class PathPlanner:
    """Plans chains of relations from the entity that a question names, without a language model.

    Args:
        kg: The knowledge graph.
        weights: What `calibrate` gave; weights set by hand when None.
        settings: Which paths are considered.
        model: Embedding model for likeness of meaning: a name, an object, or None for words alone.
        slack: How much less likely than the first, as a difference of logarithms, a plan may be and still
            take its place, where the graph has an answer to it and none to the first.

    Example:
        >>> import mrag
        >>> kg = mrag.demo(model="none")
        >>> plan = PathPlanner(kg, model=None).plan("Which vendor is GraphDB developed by?")
        >>> print(*plan.sub_questions)
        What is “developed by” of GraphDB?
        >>> kg.close()
    """

    kg: KnowledgeGraph
    weights: Weights | None = None
    settings: PathSettings | None = None
    model: str | Embedder | None = "minilm"
    slack: float = 1.0
    _kept: tuple[Weights, PathTable, Numbers, Vector] | None = field(default=None, init=False, repr=False)

    def plan(self, question: str) -> TriplePlan:
        """Return the best plan.

        Raises:
            ConfigError: If the question has no words, or the graph no relations.
        """
        learnt = bool((self.weights or _BY_HAND).examples)
        plans = self.plans(question, 5 if learnt else _MANY)
        if not plans:
            raise ConfigError(
                "The question names nothing that a plan could begin with.",
                hint="Write names as the graph does, or use a planner with a language model.",
            )
        if not learnt:
            # Nothing but the words of the question speaks for a path then, so those that read it come first.
            plans = [plan for plan in plans if not (plan.unread or plan.unasked)] or plans[:5]
        first = plans[0]
        for plan in plans:
            if np.log(plan.score) < np.log(first.score) - self.slack:
                break
            glance = complete_from_graph(self.kg, GroundedPlan(plan), settings=_GLANCE)
            if glance.answers and of_sort(self.kg, glance).plan == plan:
                return plan
        return first

    def plans(self, question: str, k: int) -> list[TriplePlan]:
        """Return the best plans, each with its probability as score; ties in order of IRI and path."""
        table, weights = self._table(), self.weights or _BY_HAND
        asked, question = question, question[:_LONGEST]
        found = self._mentions(question, table, weights)
        if not found or not len(table.paths):
            return []
        parts, novel = self._numbered(weights, table)
        scores = []
        for choice in self._choices(question, found, table):
            learnt = weights.learnt(weights.columns(choice.rest), parts)
            scores.append(choice.features(table, novel) @ weights.base + learnt)
        shares = np.stack(softmax(scores))
        order = np.argsort(-shares, axis=None, kind="stable")[:k]
        rows, columns = np.unravel_index(order, shares.shape)
        return [
            self._plan(asked, found[m], table.path(p), float(shares[m, p]), bool(novel[p]), weights)
            for m, p in zip(rows.tolist(), columns.tolist(), strict=True)
        ]

    def choices(self, example: Example, known: frozenset[str] = frozenset()) -> list[Choice]:
        """Return what there is to choose from for a solved question, the right choice marked.

        Args:
            example: The solved question.
            known: Words of solved questions, what they name left out.
        """
        table = self._table()
        found = self._mentions(example.question, table, Weights(known=known))
        right = table.numbers.get(example.path, -1)
        named = [m.entity is not None and m.entity.term == example.entity for m in found]
        choices = self._choices(example.question, found, table)
        return [
            replace(choice, right=right) if is_right else choice
            for choice, is_right in zip(choices, named, strict=True)
        ]

    def words(self, example: Example) -> set[str]:
        """Return the words of a solved question, what it names left out."""
        for mention in self._mentions(example.question, self._table(), Weights()):
            if mention.entity is not None and mention.entity.term == example.entity:
                return words_of(mention.rest(example.question))
        return set()

    def _numbered(self, weights: Weights, table: PathTable) -> tuple[Numbers, Vector]:
        """Return the parts of all paths as numbers, and which paths have parts that were never learnt."""
        kept = self._kept
        if kept is None or kept[0] is not weights or kept[1] is not table:
            parts = weights.table(table.parts())
            kept = self._kept = (weights, table, parts, unseen(parts, table.parts()))
        return kept[2], kept[3]

    def _table(self) -> PathTable:
        return PathTable.of(self.kg, self.settings)

    def _mentions(self, question: str, table: PathTable, weights: Weights) -> list[Mention]:
        common = frozenset(stem for stems in table.stems for stem in stems)
        found = find_mentions(question, EntityNames.of(self.kg), common, weights.known)
        if not found:
            return []
        worth = [float(np.dot(m.features, weights.base[: len(m.features)])) for m in found]
        order = sorted(range(len(found)), key=lambda at: (-worth[at], _name(found[at]), found[at].start))
        return [found[at] for at in order[:_CHOICES]]

    def _choices(self, question: str, found: Sequence[Mention], table: PathTable) -> list[Choice]:
        entities = [str(m.entity.term) for m in found if m.entity is not None]
        steps = steps_from(self.kg, entities, table.number)
        meaning = self._meaning(found[0].rest(question), table) if found else np.zeros(0)
        choices = []
        for mention in found:
            rest = mention.rest(question)
            stems = content(rest)
            away = None if mention.entity is None else frozenset(steps[str(mention.entity.term)])
            covering = table.covering(stems)
            choices.append(Choice(mention.features, rest, len(stems), covering, meaning, away))
        return choices

    def _meaning(self, rest: str, table: PathTable) -> Vector:
        """Return the cosine of each step's relation with the question."""
        if isinstance(self.model, str):
            self.model = embedder(self.model)
        if self.model is None or not table.steps:
            return np.zeros(len(table.steps))
        relations = Relations.of(self.kg)
        at = {relation.iri: n for n, relation in enumerate(relations.all)}
        cosines = relations.vectors(self.model) @ self.model.embed_query(rest.replace(HOLE, "it"))
        return np.array([cosines[at[step.predicate]] for step in table.steps], np.float64)

    def _plan(
        self, question: str, mention: Mention, path: RelationPath, score: float, novel: bool, weights: Weights
    ) -> TriplePlan:
        start: Slot = mention.entity.term if mention.entity is not None else mention.text
        unknowns = [Unknown(f"x{n}") for n in range(1, len(path) + 1)]
        triples = [
            IncompleteTriple(a, step.predicate, b) if step.forward else IncompleteTriple(b, step.predicate, a)
            for step, a, b in zip(path, [start, *unknowns], unknowns, strict=False)
        ]
        named = {relation.iri: relation for relation in Relations.of(self.kg).all}
        steps = [named[step.predicate] for step in path]
        left, unasked = unread(mention.rest(question), path, steps, weights.known)
        # "Films by the same director" are the others: what the question names is no answer to it.
        return TriplePlan(
            question,
            self._sub_questions(mention, path),
            tuple(triples),
            unknowns[-1],
            "paths",
            (start,),
            score,
            left,
            unasked if novel or not weights.examples else (),
        )

    def _sub_questions(self, mention: Mention, path: RelationPath) -> tuple[str, ...]:
        words = {relation.iri: relation.label for relation in Relations.of(self.kg).all}
        what = mention.entity.label if mention.entity is not None else mention.text
        asked = []
        for at, step in enumerate(path, start=1):
            name = words[step.predicate]
            asked.append(f"What is “{name}” of {what}?" if step.forward else f"What has {what} as “{name}”?")
            what = f"?x{at}"
        return tuple(asked)


def calibrate(
    kg: KnowledgeGraph,
    examples: Iterable[Example],
    *,
    settings: PathSettings | None = None,
    model: str | Embedder | None = "minilm",
    rounds: int = 6,
) -> Weights:
    """Learn the planner's weights from solved questions.

    Args:
        kg: The knowledge graph.
        examples: Solved questions; those whose entity or path the planner cannot find teach nothing.
        settings: Which paths are considered, as for the planner.
        model: Embedding model, as for the planner.
        rounds: How often the examples are gone through, in the order given.

    Returns:
        The weights, the same for the same examples.

    Raises:
        ConfigError: If there is no example.
    """
    solved = list(examples)
    if not solved:
        raise ConfigError("There are no solved questions to calibrate on.", hint="Give some examples.")
    planner = PathPlanner(kg, settings=settings, model=model)
    counts = Counter(word for example in solved for word in planner.words(example))
    # A word of a single question may be part of a name alone.
    known = frozenset(word for word, count in counts.items() if count > 1)
    questions = [planner.choices(example, known) for example in solved]
    return learn(questions, PathTable.of(kg, settings), known=known, rounds=rounds)


def _name(mention: Mention) -> str:
    return str(mention.entity.term) if mention.entity is not None else "~" + mention.text
