"""A planner without a language model: the entity that a question names, and the relation path it asks for.

Every name in the question and every path that the graph's relations allow make a plan; the plans are ranked
by how similar path and question are, in words and in meaning, and by weights that can be learnt from solved
questions (`calibrate`). It plans chains from one entity; questions for what two chains have in common, for
numbers or for comparisons are beyond it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from rdflib import URIRef

from mrag.completion.graph import CompletionSettings, complete_from_graph
from mrag.completion.grounding import Part, PathSettings, PathTable, RelationPath, of_sort, steps_from, unread
from mrag.completion.names import EntityNames, Relations
from mrag.completion.patterns import GroundedPlan, IncompleteTriple, Slot, TermCandidate, TriplePlan
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.index.embedding import Embedder, embedder
from mrag.language.tokens import content, is_stopword, keys, normalised, stem
from mrag.planning.plan import Unknown
from mrag.storage.arrays import load_arrays, save_arrays

_WORD = re.compile(r"\w+")
_LONGEST_MENTION = 16
_ENTITIES = 3
HOLE = "@"
"""What stands in a question in the place of what it names."""

SPAN_FEATURES = ("exact", "cased", "words", "inner", "common", "known", "unlinked")
"""What is measured of a span, in this order."""


@dataclass(frozen=True)
class Mention:
    """A span of a question that may name an entity."""

    start: int
    end: int
    text: str
    entity: TermCandidate | None
    features: tuple[float, ...]

    def rest(self, question: str) -> str:
        """Return the question with a hole in the place of the span."""
        return f"{question[: self.start]}{HOLE}{question[self.end :]}"


def find_mentions(
    question: str, names: EntityNames, common: frozenset[str], known: frozenset[str] = frozenset()
) -> list[Mention]:
    """Return the spans of a question that may name an entity, in order of place."""
    words = list(_WORD.finditer(question))
    spans = [span for span in _spans(words) if names.has(_key(question, *span))]
    found = []
    for start, end in spans:
        at, text = _as_written(question, start, end, names)
        inner = any((a, b) != (start, end) and a <= start and end <= b for a, b in spans)
        for candidate in names.exact(text)[:_ENTITIES]:
            features = _features(text, at, candidate.score == 1.0, inner, common, known)
            found.append(Mention(at, at + len(text), text, candidate, (*features, 0.0)))
    for start, end in _nameless(question, words, common | known):
        if (start, end) not in spans:
            text = question[start:end]
            inner = any(a <= start and end <= b for a, b in spans)
            features = _features(text, start, False, inner, common, known)
            found.append(Mention(start, end, text, None, (*features, 1.0)))
    return found


def _spans(words: list[re.Match[str]]) -> Iterator[tuple[int, int]]:
    for at in range(len(words)):
        for last in range(at, min(len(words), at + _LONGEST_MENTION)):
            yield words[at].start(), words[last].end()


def _key(question: str, start: int, end: int) -> str:
    return normalised(question[start:end])


def _as_written(question: str, start: int, end: int, names: EntityNames) -> tuple[int, str]:
    """Return a span with the signs around it that belong to a name, as in `Hush!` or `$9.99`."""
    best = start, question[start:end]
    for candidate in names.exact(question[start:end]):
        label = candidate.label
        for at in range(max(0, start - 3), start + 1):
            if question.startswith(label, at) and at + len(label) >= end and len(label) > len(best[1]):
                best = at, label
    return best


def _features(
    text: str, start: int, exact: bool, inner: bool, common: frozenset[str], known: frozenset[str]
) -> tuple[float, ...]:
    words = keys(text) or (text,)
    dull = sum(is_stopword(w) or stem(w) in common for w in words) / len(words)
    old = sum(w.group().casefold() in known for w in _WORD.finditer(text)) / len(words)
    capital = any(c.isupper() or c.isdigit() for c in (text[1:] if start == 0 else text))
    return float(exact), float(capital), min(len(words), 6) / 2, float(inner), dull, min(old, 1.0)


def _nameless(question: str, words: list[re.Match[str]], known: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Yield runs of words that look like a name: capitalised ones, or ones that no question had before."""
    new = [_is_new(word.group(), known) for word in words]
    capital = [_is_capital(word.group(), at) for at, word in enumerate(words)]
    small = [is_stopword(word.group().casefold()) or word.group() == "s" for word in words]
    for begins, joins in ((capital, small), (new, [False] * len(words))):
        at = 0
        while at < len(words):
            last = at
            for here in range(at, len(words) if begins[at] else at):
                if begins[here]:
                    last = here
                elif not joins[here]:
                    break
            if begins[at]:
                yield words[at].start(), words[last].end()
            at = last + 1


def _is_capital(word: str, at: int) -> bool:
    return (word[0].isupper() or word[0].isdigit()) and (at > 0 or not is_stopword(word.casefold()))


def _is_new(word: str, known: frozenset[str]) -> bool:
    return not is_stopword(word.casefold()) and word.casefold() not in known and stem(word) not in known


Vector = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]

PATH_FEATURES = ("covered", "supported", "meaning", "two steps", "three steps", "no such step", "unseen")
"""What is measured of a path, beside the span's features, in this order: the share of the question's words
that it has, the share of its steps that have a word of the question, their mean cosine with the question, its
length, whether the entity has no such first step, and whether a part of it was never learnt."""

FEATURES = (*SPAN_FEATURES, *PATH_FEATURES)


@dataclass(frozen=True)
class Choice:
    """One mention of a question, with what is needed to measure every path from it."""

    span: tuple[float, ...]
    rest: str
    words: int
    covering: Numbers
    meaning: Vector
    steps: frozenset[int] | None
    right: int = -1

    def features(self, table: PathTable, novel: Vector) -> Vector:
        """Return the values of `FEATURES` for every path; shape (paths, features)."""
        features = np.empty((len(table.paths), len(FEATURES)))
        features[:, : len(self.span)] = self.span
        # A path that has ended has -1 for further steps, which is the zero at the end.
        bits = np.append(self.covering, 0)[table.paths]
        covered = np.bitwise_count(np.bitwise_or.reduce(bits, axis=1)) / max(1, min(self.words, 63))
        meaning = np.append(self.meaning, 0.0)[table.paths].sum(axis=1) / table.lengths
        # Where the graph does not know the entity, nothing speaks against a first step.
        steps = range(len(table.steps)) if self.steps is None else sorted(self.steps)
        absent = ~np.isin(table.paths[:, 0], steps)
        own = (
            covered,
            (bits != 0).sum(axis=1) / table.lengths,
            meaning,
            table.lengths == 2,
            table.lengths >= 3,
            absent,
            novel,
        )
        for at, values in enumerate(own, start=len(self.span)):
            features[:, at] = values
        return features


_BY_HAND: Mapping[str, float] = {
    "exact": 1.0,
    "cased": 2.0,
    "words": 1.0,
    "inner": -2.0,
    "common": -4.0,
    "known": 0.0,
    "unlinked": -3.0,
    "covered": 4.0,
    "supported": 3.0,
    "meaning": 4.0,
    "two steps": -0.5,
    "three steps": -1.0,
    "no such step": -4.0,
    "unseen": 0.0,
}
_FORMAT = 1
_FILE = "planner weights 1"
_TOKEN = re.compile(rf"{HOLE}|\w+")


@dataclass
class Weights:
    """What the planner without a language model goes by.

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

    base: Vector = field(default_factory=lambda: by_hand())
    grams: dict[str, int] = field(default_factory=dict)
    parts: dict[Part, int] = field(default_factory=dict)
    matrix: Vector = field(default_factory=lambda: np.zeros((0, 0)))
    known: frozenset[str] = frozenset()
    examples: int = 0

    def save(self, path: str | Path) -> None:
        """Write the weights to a file."""
        arrays = {
            "format": np.array(_FORMAT),
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
            if int(kept["format"]) != _FORMAT:
                raise ValueError(f"format {kept['format']}")
            if kept["features"].tolist() != list(FEATURES):
                raise ValueError("other features")
            parts = [tuple(str(part).split("\n")) for part in kept["parts"]]
            grams = [str(gram) for gram in kept["grams"]]
            matrix = kept["matrix"].astype(np.float64)
            if matrix.shape != (len(parts), len(grams)) or kept["base"].shape != (len(FEATURES),):
                raise ValueError("another shape")
        except (OSError, ValueError, KeyError, EOFError) as error:
            raise ConfigError(
                f"Not a file of the planner's weights: {error}.",
                file=str(path),
                hint="Make one with `calibrate` and `Weights.save`.",
            ) from error
        known = frozenset(str(word) for word in kept["known"])
        numbers = {part: at for at, part in enumerate(parts)}
        return cls(
            kept["base"],
            {gram: at for at, gram in enumerate(grams)},
            numbers,
            matrix,
            known,
            int(kept["examples"]),
        )

    def columns(self, rest: str) -> Numbers:
        """Return the numbers of a question's runs of words that have weights."""
        found = {self.grams[gram] for gram in grams_of(rest) if gram in self.grams}
        return np.array(sorted(found), np.int64)

    def table(self, parts: Sequence[tuple[Part, ...]]) -> Numbers:
        """Return the numbers of the parts of paths; shape (paths, most parts), -1 for none."""
        width = max((len(own) for own in parts), default=1)
        table = np.full((len(parts), width), -1, np.int64)
        for at, own in enumerate(parts):
            for place, part in enumerate(own):
                table[at, place] = self.parts.get(part, -1)
        return table

    def learnt(self, columns: Numbers, table: Numbers) -> Vector:
        """Return what words add to the score of each path."""
        if not len(self.matrix):
            return np.zeros(len(table))
        of_parts = np.append(self.matrix[:, columns].sum(axis=1), 0.0)
        added: Vector = of_parts[table].sum(axis=1)
        return added


def by_hand() -> Vector:
    """Return the weights of a planner that has learnt nothing."""
    return np.array([_BY_HAND[name] for name in FEATURES])


def grams_of(rest: str) -> list[str]:
    """Return the words of a question with a hole, and their runs of two and three."""
    words = [word.casefold() for word in _TOKEN.findall(rest)]
    framed = ["^", *words, "$"]
    runs = [" ".join(framed[at : at + n]) for n in (2, 3) for at in range(len(framed) - n + 1)]
    return [*words, *runs]


def words_of(rest: str) -> set[str]:
    """Return the words of a question with a hole."""
    return {word.casefold() for word in _TOKEN.findall(rest)} - {HOLE}


def learn(
    questions: Sequence[Sequence[Choice]],
    table: PathTable,
    *,
    known: Iterable[str],
    rounds: int = 6,
    rate: float = 0.3,
    min_count: int = 2,
    confident: float = 0.99,
) -> Weights:
    """Fit weights to questions of which the right choice is known."""
    usable = [choices for choices in questions if any(c.right >= 0 for c in choices)]
    right = [c for choices in usable for c in choices if c.right >= 0]
    counts = Counter(gram for c in right for gram in set(grams_of(c.rest)))
    grams = {g: at for at, g in enumerate(sorted(g for g, n in counts.items() if n >= min_count))}
    parts = table.parts()
    numbers = {part: at for at, part in enumerate(sorted({p for c in right for p in parts[c.right]}))}
    matrix = np.zeros((len(numbers), len(grams)))
    weights = Weights(by_hand(), grams, numbers, matrix, frozenset(known), len(usable))
    learner = _Learner(weights, table, rate)
    for _ in range(rounds):
        for choices in usable:
            learner.see(choices, confident)
    return weights


class _Learner:
    def __init__(self, weights: Weights, table: PathTable, rate: float) -> None:
        self.weights, self.table, self.rate = weights, table, rate
        self.parts = weights.table(table.parts())
        self.novel = unseen(self.parts, table.parts())
        self.squares = np.full(weights.matrix.shape, 1e-6)
        self.base_squares = np.full(len(weights.base), 1e-6)

    def see(self, choices: Sequence[Choice], confident: float) -> None:
        """Take one step towards the right choice, unless it is likely enough."""
        weights = self.weights
        features = [choice.features(self.table, self.novel) for choice in choices]
        columns = [weights.columns(choice.rest) for choice in choices]
        pairs = zip(features, columns, strict=True)
        wrong = softmax([f @ weights.base + weights.learnt(c, self.parts) for f, c in pairs])
        right = [(at, choice.right) for at, choice in enumerate(choices) if choice.right >= 0]
        likely = sum(float(wrong[at][path]) for at, path in right)
        if likely >= confident:
            return
        for at, path in right:
            wrong[at][path] -= 1.0 / len(right)
        gradient = np.zeros(len(weights.base))
        for f, c, w in zip(features, columns, wrong, strict=True):
            gradient += w @ f
            self._step(c, w)
        self.base_squares += gradient**2
        weights.base -= 0.5 * self.rate * gradient / np.sqrt(self.base_squares)

    def _step(self, columns: Numbers, wrong: Vector) -> None:
        spread = np.repeat(wrong, self.parts.shape[1])
        size = len(self.weights.parts) + 1
        of_parts = np.bincount(self.parts.ravel() + 1, weights=spread, minlength=size)[1:]
        rows = np.flatnonzero(of_parts)
        if not len(rows) or not len(columns):
            return
        block, step = np.ix_(rows, columns), of_parts[rows, None]
        self.squares[block] += step**2
        self.weights.matrix[block] -= self.rate * step / np.sqrt(self.squares[block])


def softmax(scores: Sequence[Vector]) -> list[Vector]:
    """Return probabilities over all the values of several arrays."""
    top = max(float(s.max()) for s in scores)
    powers = [np.exp(s - top) for s in scores]
    total = sum(float(p.sum()) for p in powers)
    return [p / total for p in powers]


def unseen(table: Numbers, parts: Sequence[tuple[Part, ...]]) -> Vector:
    """Return for each path 1 if one of its parts has no weights, else 0."""
    sizes = np.array([len(own) for own in parts])
    novel: Vector = ((table >= 0).sum(axis=1) < sizes).astype(np.float64)
    return novel


_CHOICES = 6
_MANY = 60
"""Plans among which one that reads all of the question is looked for."""
_LONGEST = 2000
"""Characters of a question that are looked at."""
_HAND_WEIGHTS = Weights()
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
            glance = complete_from_graph(self.kg, GroundedPlan(plan), settings=_GLANCE)
            if glance.answers and of_sort(self.kg, glance).plan == plan:
                return plan
        return first

    def plans(self, question: str, k: int) -> list[TriplePlan]:
        """Return the best plans, each with its probability as score; ties in order of IRI and path."""
        table, weights = self._table(), self.weights or _HAND_WEIGHTS
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
