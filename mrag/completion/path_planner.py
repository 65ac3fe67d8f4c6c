"""A planner without a language model: the entity that a question names, and the relation path it asks for.

Every name in the question and every path that the graph's relations allow make a plan; the plans are ranked
by how similar path and question are, in words and in meaning, and by weights that can be learnt from solved
questions (`calibrate`). It plans chains from one entity; questions for what two chains have in common, for
numbers or for comparisons are beyond it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from rdflib import URIRef

from mrag.completion.graph import complete_from_graph
from mrag.completion.grounding import Part, PathTable, RelationPath, of_sort, steps_from, unread
from mrag.completion.names import EntityNames, Relations
from mrag.completion.patterns import GroundedPlan, IncompleteTriple, Slot, TermCandidate, TriplePlan
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.index.embedding import Embedder, embedder
from mrag.language.tokens import content, is_stopword, keys, normalise, stem
from mrag.planning.plan import Unknown
from mrag.storage.arrays import load_arrays, save_arrays

Vector = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]

_WORD = re.compile(r"\w+")
_LONGEST_MENTION = 16
_ENTITIES = 3
_HOLE = "@"
"""What stands in a question in the place of what it names."""

_SPAN_WEIGHTS = {
    "exact": 1.0, "cased": 2.0, "words": 1.0, "inner": -2.0, "common": -4.0, "known": 0.0, "unlinked": -3.0,
}  # fmt: skip
"""What is measured of a span of a question, with its weight where nothing was learnt."""

_PATH_WEIGHTS = {
    "covered": 4.0, "supported": 3.0, "meaning": 4.0, "two steps": -0.5, "three steps": -1.0,
    "no such step": -4.0, "unseen": 0.0,
}  # fmt: skip
"""The same of a path: the share of the question's words that it has, the share of its steps that have a word
of the question, their mean cosine with the question, its length, whether the entity has no such first step,
and whether a part of it was never learnt."""

FEATURES = (*_SPAN_WEIGHTS, *_PATH_WEIGHTS)


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


def find_mentions(
    question: str, names: EntityNames, common: frozenset[str], known: frozenset[str] = frozenset()
) -> list[Mention]:
    """Return the spans of a question that may name an entity, in order of place.

    Args:
        question: The question.
        names: The names of the graph.
        common: Stems of words that the graph's relations have, which are seldom meant as names.
        known: Words of questions that were seen before, with what they named left out.
    """
    words = list(_WORD.finditer(question))
    runs = ((first, last) for at, first in enumerate(words) for last in words[at : at + _LONGEST_MENTION])
    every = ((first.start(), last.end()) for first, last in runs)
    spans = [(start, end) for start, end in every if names.has(normalise(question[start:end]))]

    def measured(start: int, text: str, entity: TermCandidate | None, inner: bool) -> Mention:
        own = keys(text) or (text,)
        dull = sum(is_stopword(w) or stem(w) in common for w in own) / len(own)
        old = sum(w.group().casefold() in known for w in _WORD.finditer(text)) / len(own)
        cased = any(c.isupper() or c.isdigit() for c in (text[1:] if start == 0 else text))
        exact = entity is not None and entity.score == 1.0
        size, unlinked = min(len(own), 6) / 2, float(entity is None)
        return Mention(start, text, entity, (exact, cased, size, inner, dull, min(old, 1.0), unlinked))

    found = []
    for start, end in spans:
        at, text = _as_written(question, start, end, names)
        inner = any((a, b) != (start, end) and a <= start and end <= b for a, b in spans)
        found += [measured(at, text, candidate, inner) for candidate in names.exact(text)[:_ENTITIES]]
    for start, end in _nameless(question, words, common | known):
        if (start, end) not in spans:
            inner = any(a <= start and end <= b for a, b in spans)
            found.append(measured(start, question[start:end], None, inner))
    return found


def _as_written(question: str, start: int, end: int, names: EntityNames) -> tuple[int, str]:
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
        rest: The question with a hole in the place of the mention.
        words: How many words of the rest carry meaning.
        covering: For each step of the table the words of the rest that it has, as bits.
        meaning: For each step its cosine with the question.
        steps: Numbers of the steps that lead away from the entity; None where the graph does not know it.
    """

    span: tuple[float, ...]
    rest: str
    words: int
    covering: Numbers
    meaning: Vector
    steps: frozenset[int] | None

    def features(self, table: PathTable, novel: Vector) -> Vector:
        """Return the values of `FEATURES` for every path, some of them novel; shape (paths, features)."""
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
            novel,
        )
        span = np.tile(np.array(self.span, np.float64), (len(table.paths), 1))
        return np.column_stack([span, *own]).astype(np.float64)


_FILE = "planner weights 1"
_TOKEN = re.compile(rf"{_HOLE}|\w+")


def _by_hand() -> Vector:
    return np.array([*_SPAN_WEIGHTS.values(), *_PATH_WEIGHTS.values()])


@dataclass
class Weights:
    """What the planner without a language model goes by; that of one that has learnt nothing by default.

    Attributes:
        base: A weight for each of `mrag.completion.path_planner.FEATURES`.
        grams: Number of each run of words that has weights.
        parts: Number of each feature of a path that has weights.
        matrix: A weight for each part and run of words; shape (parts, grams).
        known: Words of the questions learnt from, what they named left out.
        examples: How many questions were learnt from.

    Example:
        >>> Weights().base[:3].tolist(), Weights().examples
        ([1.0, 2.0, 1.0], 0)
    """

    base: Vector = field(default_factory=_by_hand)
    grams: dict[str, int] = field(default_factory=dict)
    parts: dict[Part, int] = field(default_factory=dict)
    matrix: Vector = field(default_factory=lambda: np.zeros((0, 0)))
    known: frozenset[str] = frozenset()
    examples: int = 0

    def save(self, path: str | Path) -> None:
        """Write the weights to a file."""
        arrays = {
            "features": np.array(FEATURES),
            "base": self.base,
            "grams": np.array(list(self.grams), dtype=np.str_),
            "parts": np.array(["\n".join(part) for part in self.parts], dtype=np.str_),
            "matrix": self.matrix.astype(np.float32),
            "known": np.array(sorted(self.known), dtype=np.str_),
            "examples": np.array(self.examples),
        }
        save_arrays(Path(path), _FILE, arrays)

    @classmethod
    def load(cls, path: str | Path) -> Weights:
        """Read weights that `save` wrote; nothing in the file is run.

        Raises:
            ConfigError: If it is no such file.
        """
        try:
            kept: dict[str, Any] = load_arrays(Path(path), _FILE)
            if kept["features"].tolist() != list(FEATURES):
                raise ValueError("other features")
            parts = {tuple(str(part).split("\n")): at for at, part in enumerate(kept["parts"])}
            grams = {str(gram): at for at, gram in enumerate(kept["grams"])}
            matrix = kept["matrix"].astype(np.float64)
            if matrix.shape != (len(parts), len(grams)) or kept["base"].shape != (len(FEATURES),):
                raise ValueError("another shape")
            known = frozenset(str(word) for word in kept["known"])
            return cls(kept["base"], grams, parts, matrix, known, int(kept["examples"]))
        except (OSError, ValueError, KeyError, EOFError) as error:
            raise ConfigError(
                f"Not a file of the planner's weights: {error}.",
                file=str(path),
                hint="Make one with `calibrate` and `Weights.save`.",
            ) from error

    def columns(self, rest: str) -> Numbers:
        """Return the numbers of a question's runs of words that have weights."""
        return np.array(sorted({self.grams[gram] for gram in _grams(rest) if gram in self.grams}), np.int64)

    def numbered(self, parts: Sequence[tuple[Part, ...]]) -> tuple[Numbers, Vector]:
        """Return the numbers of the parts of paths, -1 for none, and 1 for each path that has a part without.

        The first has the shape (paths, most parts).
        """
        table = np.full((len(parts), max(map(len, parts), default=1)), -1, np.int64)
        for at, own in enumerate(parts):
            table[at, : len(own)] = [self.parts.get(part, -1) for part in own]
        novel = (table >= 0).sum(axis=1) < np.array([len(own) for own in parts])
        return table, novel.astype(np.float64)

    def learnt(self, columns: Numbers, table: Numbers) -> Vector:
        """Return what words add to the score of each path."""
        if not len(self.matrix):
            return np.zeros(len(table))
        of_parts = np.append(self.matrix[:, columns].sum(axis=1), 0.0)
        added: Vector = of_parts[table].sum(axis=1)
        return added


def _grams(rest: str) -> list[str]:
    """Return the words of a question with a hole, and their runs of two and three: "^ who", "who wrote @"."""
    words = [word.casefold() for word in _TOKEN.findall(rest)]
    framed = ["^", *words, "$"]
    return [*words, *(" ".join(framed[at : at + n]) for n in (2, 3) for at in range(len(framed) - n + 1))]


def _softmax(scores: Sequence[Vector]) -> list[Vector]:
    """Return probabilities over all the values of several arrays."""
    top = max(float(s.max()) for s in scores)
    powers = [np.exp(s - top) for s in scores]
    total = sum(float(p.sum()) for p in powers)
    return [p / total for p in powers]


Question = tuple[list[Choice], dict[int, int]]
"""What there is to choose from for a solved question, and by place of the right choices their right paths."""


def _learn(questions: Sequence[Question], table: PathTable, known: frozenset[str], rounds: int) -> Weights:
    """Fit weights to questions of which the right choice is known; those without one are left out.

    Each step of AdaGrad goes towards the right choice of a question, unless it is likely enough.
    """
    usable = [(choices, right) for choices, right in questions if right]
    solved = [(choices[at], path) for choices, right in usable for at, path in right.items()]
    counts = Counter(gram for choice, _ in solved for gram in set(_grams(choice.rest)))
    grams = {g: at for at, g in enumerate(sorted(g for g, n in counts.items() if n >= _MIN_COUNT))}
    every = table.parts
    parts = {part: at for at, part in enumerate(sorted({p for _, path in solved for p in every[path]}))}
    weights = Weights(_by_hand(), grams, parts, np.zeros((len(parts), len(grams))), known, len(usable))
    numbers, novel = weights.numbered(every)
    squares = np.full(weights.matrix.shape, 1e-6)
    base_squares = np.full(len(weights.base), 1e-6)
    for choices, right in usable * rounds:
        features = [choice.features(table, novel) for choice in choices]
        columns = [weights.columns(choice.rest) for choice in choices]
        pairs = zip(features, columns, strict=True)
        wrong = _softmax([f @ weights.base + weights.learnt(c, numbers) for f, c in pairs])
        if sum(float(wrong[at][path]) for at, path in right.items()) >= _CONFIDENT:
            continue
        for at, path in right.items():
            wrong[at][path] -= 1.0 / len(right)
        gradient = np.zeros(len(weights.base))
        for f, c, w in zip(features, columns, wrong, strict=True):
            gradient += w @ f
            spread = np.repeat(w, numbers.shape[1])
            of_parts = np.bincount(numbers.ravel() + 1, weights=spread, minlength=len(parts) + 1)[1:]
            rows = np.flatnonzero(of_parts)
            if len(rows) and len(c):
                block, step = np.ix_(rows, c), of_parts[rows, None]
                squares[block] += step**2
                weights.matrix[block] -= _RATE * step / np.sqrt(squares[block])
        base_squares += gradient**2
        weights.base -= 0.5 * _RATE * gradient / np.sqrt(base_squares)
    return weights


_RATE = 0.3
_MIN_COUNT = 2
"""In how many questions a run of words must occur to have weights."""
_CONFIDENT = 0.99
"""Probability of the right choice from which a question is passed over."""
_CHOICES = 6
_MANY = 60
"""Plans among which one that reads all of the question is looked for."""
_LONGEST = 2000
"""Characters of a question that are looked at."""
_HAND_WEIGHTS = Weights()
_GLANCE = 1000
"""Solutions that are enough to see whether a plan has an answer."""


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
    model: str | Embedder | None = "minilm"
    slack: float = 1.0
    _kept: tuple[Weights, PathTable, Numbers, Vector] | None = field(default=None, init=False, repr=False)

    def plan(self, question: str) -> TriplePlan:
        """Return the best plan.

        Raises:
            ConfigError: If the question has no words, or the graph no relations.
        """
        learnt = bool((self.weights or _HAND_WEIGHTS).examples)
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
            glance = complete_from_graph(self.kg, GroundedPlan(plan), limit=_GLANCE)
            if glance.answers and of_sort(self.kg, glance).plan == plan:
                return plan
        return first

    def plans(self, question: str, k: int) -> list[TriplePlan]:
        """Return the best plans, each with its probability as score; ties in order of IRI and path."""
        table, weights = self.table(), self.weights or _HAND_WEIGHTS
        asked, question = question, question[:_LONGEST]
        found = self.mentions(question, weights)
        if not found or not len(table.paths):
            return []
        if self._kept is None or self._kept[0] is not weights or self._kept[1] is not table:
            self._kept = (weights, table, *weights.numbered(table.parts))
        _, _, parts, novel = self._kept
        scores = [
            choice.features(table, novel) @ weights.base + weights.learnt(weights.columns(choice.rest), parts)
            for choice in self.choices(question, found)
        ]
        shares = np.stack(_softmax(scores))
        order = np.argsort(-shares, axis=None, kind="stable")[:k]
        rows, columns = np.unravel_index(order, shares.shape)
        return [
            self._plan(asked, found[m], table.path(p), float(shares[m, p]), bool(novel[p]), weights)
            for m, p in zip(rows.tolist(), columns.tolist(), strict=True)
        ]

    def table(self) -> PathTable:
        """Return the paths that are considered."""
        return PathTable.of(self.kg)

    def mentions(self, question: str, weights: Weights) -> list[Mention]:
        """Return what a question may name, the likeliest first."""
        common = frozenset(stem for stems in self.table().stems for stem in stems)
        found = find_mentions(question, EntityNames.of(self.kg), common, weights.known)
        worth = weights.base[: len(_SPAN_WEIGHTS)]
        return sorted(found, key=lambda m: (-float(np.dot(m.features, worth)), m.name, m.start))[:_CHOICES]

    def choices(self, question: str, found: Sequence[Mention]) -> list[Choice]:
        """Return what there is to choose from for a question of some mentions."""
        table = self.table()
        entities = [str(m.entity.term) for m in found if m.entity is not None]
        steps = steps_from(self.kg, entities, table.number)
        meaning = self._meaning(found[0].rest(question), table) if found else np.zeros(0)
        choices = []
        for mention in found:
            rest = mention.rest(question)
            stems = content(rest)
            away = None if mention.entity is None else frozenset(steps[str(mention.entity.term)])
            choices.append(Choice(mention.features, rest, len(stems), table.covering(stems), meaning, away))
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

    def _plan(
        self, question: str, mention: Mention, path: RelationPath, score: float, novel: bool, weights: Weights
    ) -> TriplePlan:
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
        left, unasked = unread(mention.rest(question), path, relations, weights.known)
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
            unasked if novel or not weights.examples else (),
        )


def calibrate(
    kg: KnowledgeGraph,
    examples: Iterable[Example],
    *,
    model: str | Embedder | None = "minilm",
    rounds: int = 6,
) -> Weights:
    """Learn the planner's weights from solved questions, the same from the same examples.

    Args:
        kg: The knowledge graph.
        examples: Solved questions; those whose entity or path the planner cannot find teach nothing.
        model: Embedding model, as for the planner.
        rounds: How often the examples are gone through, in the order given.

    Raises:
        ConfigError: If there is no example.
    """
    solved = list(examples)
    if not solved:
        raise ConfigError("There are no solved questions to calibrate on.", hint="Give some examples.")
    planner = PathPlanner(kg, model=model)
    counts: Counter[str] = Counter()
    for example in solved:
        mentions = planner.mentions(example.question, _HAND_WEIGHTS)
        rest = next((m.rest(example.question) for m in mentions if _is_named(m, example)), "")
        counts.update({word.casefold() for word in _TOKEN.findall(rest)} - {_HOLE})
    # A word of a single question may be part of a name alone.
    known = frozenset(word for word, count in counts.items() if count > 1)
    table, questions = planner.table(), []
    for example in solved:
        mentions = planner.mentions(example.question, Weights(known=known))
        path = table.numbers.get(example.path, -1)
        right = {at: path for at, m in enumerate(mentions) if path >= 0 and _is_named(m, example)}
        questions.append((planner.choices(example.question, mentions), right))
    return _learn(questions, table, known, rounds)


def _is_named(mention: Mention, example: Example) -> bool:
    return mention.entity is not None and mention.entity.term == example.entity
