"""Questions with known answers as examples to calibrate on: which path leads from what they name to those."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from rdflib import BNode, Literal, URIRef

from mrag.completion.graph import TripleLookup, complete_from_graph
from mrag.completion.grounding import PathTable, RelationPath, Step, unread
from mrag.completion.names import EntityNames, Relations
from mrag.completion.path_planner import Example, PathPlanner, Weights, calibrate, find_mentions
from mrag.completion.patterns import GroundedPlan
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import Term
from mrag.text import tokens

_ENOUGH = 0.5
_WIDE = 2000
"""Things at the end of a path beyond which it is not followed further."""


@dataclass(frozen=True)
class KnownAnswers:
    """A question and its answers.

    Attributes:
        question: The question.
        answers: What answers it: names, values or IRIs.
    """

    question: str
    answers: tuple[str, ...]


@dataclass(frozen=True)
class Solution:
    """What of a question with known answers can be learnt from.

    Attributes:
        known: The question.
        example: It with the entity and the path that lead to the answers; None where no path does.
        f1: How well what the path leads to agrees with the answers, from 0 to 1.
    """

    known: KnownAnswers
    example: Example | None = None
    f1: float = 0.0


@dataclass(frozen=True)
class Calibration:
    """What was learnt from questions with known answers.

    Attributes:
        weights: The weights, learnt from all that could be solved.
        solutions: Each question with what could be learnt from it.
        held_out: Number of solved questions that were kept apart to measure on; 0 where there are too few.
        before: How many of these were answered exactly as it comes.
        after: How many by weights that were learnt from the others.
    """

    weights: Weights
    solutions: tuple[Solution, ...]
    held_out: int = 0
    before: int = 0
    after: int = 0

    @property
    def solved(self) -> tuple[Solution, ...]:
        """Return the questions that were learnt from."""
        return tuple(one for one in self.solutions if one.example is not None)


def calibrate_on_answers(
    kg: KnowledgeGraph,
    questions: Iterable[KnownAnswers],
    *,
    model: str | None = "minilm",
    rounds: int = 6,
    on_progress: Callable[[int, int], None] | None = None,
) -> Calibration:
    """Learn the planner's weights from questions and their answers.

    A fifth of the questions, where there are ten or more, is first kept apart to measure what was learnt.

    Args:
        kg: The knowledge graph.
        questions: Questions and answers.
        model: Embedding model of the planner; None for words alone.
        rounds: How often the questions are gone through.
        on_progress: Called with questions solved, or tried to, and questions in all.

    Raises:
        ConfigError: If to none of the questions a path leads to the answers.

    Example:
        >>> import mrag
        >>> with mrag.demo(model="none") as kg:
        ...     asked = [KnownAnswers("Who makes GraphDB?", ("Ontotext",))]
        ...     found = calibrate_on_answers(kg, asked, model=None)
        ...     [str(step).rsplit("#")[-1] for step in found.solved[0].example.path]
        ['developedBy']
    """
    every = list(questions)
    solver = Solver(kg)
    solutions: list[Solution] = []
    for one in every:
        solutions.append(solver.solve(one))
        if on_progress is not None:
            on_progress(len(solutions), len(every))
    solved = [s for s in solutions if s.example is not None]
    examples = [s.example for s in solved if s.example is not None]
    if not examples:
        raise ConfigError(
            "To none of the questions a path of the graph leads to the answers.",
            hint="Questions name an entity as the graph does; answers are its names, values or IRIs.",
        )
    apart = range(0, len(solved), 5) if len(solved) >= 10 else range(0)
    before = after = 0
    if apart:
        rest = [example for at, example in enumerate(examples) if at not in apart]
        learnt = PathPlanner(kg, calibrate(kg, rest, model=model, rounds=rounds), model=model)
        plain = PathPlanner(kg, model=model)
        before = sum(solver.answered(plain, solved[at].known) for at in apart)
        after = sum(solver.answered(learnt, solved[at].known) for at in apart)
    weights = calibrate(kg, examples, model=model, rounds=rounds)
    return Calibration(weights, tuple(solutions), len(apart), before, after)


@dataclass
class Solver:
    """Finds the paths that lead to known answers in one knowledge graph.

    Args:
        kg: The knowledge graph.
    """

    kg: KnowledgeGraph
    _away: dict[Term, dict[int, tuple[Term, ...]]] = field(default_factory=dict, init=False, repr=False)

    def solve(self, known: KnownAnswers) -> Solution:
        """Return the entity that a question names and the path from it that gives its answers best.

        Of paths that give the same the one is taken whose relations the question names, then the shorter.
        """
        table = PathTable.of(self.kg)
        names = EntityNames.of(self.kg)
        relations = {r.iri: r for r in Relations.of(self.kg).all}
        gold = self._gold(known.answers)
        best: tuple[tuple[float, int, int, int], Example] | None = None
        for mention in find_mentions(known.question, names, frozenset()):
            if mention.entity is None or not isinstance(mention.entity.term, URIRef):
                continue
            start, rest = mention.entity.term, mention.rest(known.question)
            for path, ends in self._paths(start, table):
                f1 = _f1(ends, gold)
                if f1 < _ENOUGH:
                    continue
                left, missed = unread(rest, path, [relations[step.predicate] for step in path])
                rank = (f1, -len(left) - len(missed), -len(path), len(mention.text))
                if best is None or rank > best[0]:
                    best = rank, Example(known.question, start, path)
        return Solution(known) if best is None else Solution(known, best[1], best[0][0])

    def answered(self, planner: PathPlanner, known: KnownAnswers) -> bool:
        """Return whether a planner's plan gives exactly the known answers."""
        try:
            plan = planner.plan(known.question)
        except ConfigError:
            return False
        found = complete_from_graph(self.kg, GroundedPlan(plan)).answers
        return _f1(frozenset(found), self._gold(known.answers)) == 1.0

    def _gold(self, answers: Sequence[str]) -> list[frozenset[str]]:
        """Return for each answer what counts as it: IRIs of that name, and the text itself."""
        names = EntityNames.of(self.kg)
        return [
            frozenset((answer, tokens.normalised(answer), *(str(c.term) for c in names.exact(answer))))
            for answer in dict.fromkeys(answers)
        ]

    def _paths(self, start: URIRef, table: PathTable) -> Iterable[tuple[RelationPath, frozenset[Term]]]:
        """Yield the paths from an entity that lead somewhere, shorter ones first, with where they lead."""
        level: list[tuple[tuple[int, ...], frozenset[Term]]] = [((), frozenset((start,)))]
        for _ in range(table.paths.shape[1]):
            narrow = [(path, ends) for path, ends in level if len(ends) <= _WIDE]
            self._look({end for _, ends in narrow for end in ends}, table)
            level = []
            for path, ends in narrow:
                after: dict[int, set[Term]] = {}
                for end in ends:
                    for step, others in self._away.get(end, {}).items():
                        after.setdefault(step, set()).update(others)
                for step in sorted(after):
                    steps = tuple(table.steps[at] for at in (*path, step))
                    if steps in table.numbers and (found := frozenset(after[step] - {start})):
                        level.append(((*path, step), found))
                        yield steps, found

    def _look(self, nodes: set[Term], table: PathTable) -> None:
        """Fetch what leads away from some nodes."""
        new = sorted(nodes - self._away.keys(), key=lambda t: t.n3())
        if len(self._away) > 200_000:
            self._away.clear()
        self._away.update((node, {}) for node in new)
        lookup = TripleLookup(self.kg)
        around: dict[Term, dict[int, dict[Term, None]]] = {node: {} for node in new}
        subjects = [n for n in new if not isinstance(n, Literal | BNode)]
        for (s, _, _), triples in lookup.find((n, None, None) for n in subjects).items():
            for t in triples:
                self._add(around, s, Step(URIRef(str(t.predicate)), True), t.object, table)
        for (_, _, o), triples in lookup.find((None, None, n) for n in new).items():
            for t in triples:
                self._add(around, o, Step(URIRef(str(t.predicate)), False), t.subject, table)
        for node, steps in around.items():
            self._away[node] = {step: tuple(ends) for step, ends in steps.items()}

    @staticmethod
    def _add(
        around: dict[Term, dict[int, dict[Term, None]]],
        node: Term | None,
        step: Step,
        end: Term,
        table: PathTable,
    ) -> None:
        number = table.number.get(step)
        if node is not None and number is not None:
            around[node].setdefault(number, {})[end] = None


def _f1(found: frozenset[Term], gold: Sequence[frozenset[str]]) -> float:
    """Return the harmonic mean of precision and recall of what was found."""
    if not found or len(found) > 50 * len(gold):
        return 0.0
    forms = [{str(t)} if isinstance(t, URIRef) else {str(t), tokens.normalised(str(t))} for t in found]
    right = sum(any(form & one for one in gold) for form in forms)
    hit = sum(any(form & one for form in forms) for one in gold)
    if not right or not hit:
        return 0.0
    precision, recall = right / len(found), hit / len(gold)
    return 2 * precision * recall / (precision + recall)
