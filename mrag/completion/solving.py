"""Questions with known answers as examples to calibrate on: which path leads from what they name to those."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from rdflib import BNode, Literal, URIRef

from mrag.completion.graph import Known, TripleLookup, complete_from_graph
from mrag.completion.grounding import PathTable, RelationPath, Step, unread
from mrag.completion.names import EntityNames, Relations
from mrag.completion.path_planner import Example, PathPlanner, Weights, calibrate, find_mentions
from mrag.completion.patterns import GroundedPlan
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.language import tokens
from mrag.rdf.terms import Term

_ENOUGH = 0.5
_WIDE = 2000
"""Things at the end of a path beyond which it is not followed further."""


@dataclass(frozen=True)
class KnownAnswers:
    """A question and its answers: names, values or IRIs."""

    question: str
    answers: tuple[str, ...]


@dataclass(frozen=True)
class Solution:
    """What of a question with known answers can be learnt from."""

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
    solver = _Solver(kg)
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


class _Solver:
    """Finds the paths that lead to known answers in one knowledge graph."""

    def __init__(self, kg: KnowledgeGraph) -> None:
        self.kg = kg
        self.names = EntityNames.of(kg)
        self.table = PathTable.of(kg)
        self._away: dict[Term, dict[int, dict[Term, None]]] = {}

    def solve(self, known: KnownAnswers) -> Solution:
        """Return the entity that a question names and the path from it that gives its answers best.

        Of paths that give the same the one is taken whose relations the question names, then the shorter.
        """
        relations = Relations.of(self.kg).by_iri
        gold = self._gold(known.answers)
        best: tuple[tuple[float, int, int, int], Example] | None = None
        for mention in find_mentions(known.question, self.names, frozenset()):
            if mention.entity is None or not isinstance(mention.entity.term, URIRef):
                continue
            start, rest = mention.entity.term, mention.rest(known.question)
            for path, ends in self._paths(start):
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
        return [
            frozenset((answer, tokens.normalised(answer), *(str(c.term) for c in self.names.exact(answer))))
            for answer in dict.fromkeys(answers)
        ]

    def _paths(self, start: URIRef) -> Iterable[tuple[RelationPath, frozenset[Term]]]:
        """Yield the paths from an entity that lead somewhere, shorter ones first, with where they lead."""
        level: list[tuple[RelationPath, frozenset[Term]]] = [((), frozenset((start,)))]
        for _ in range(self.table.paths.shape[1]):
            narrow = [(path, ends) for path, ends in level if len(ends) <= _WIDE]
            self._look({end for _, ends in narrow for end in ends})
            level = []
            for path, ends in narrow:
                after: dict[int, set[Term]] = {}
                for end in ends:
                    for step, others in self._away[end].items():
                        after.setdefault(step, set()).update(others)
                for step in sorted(after):
                    longer, found = (*path, self.table.steps[step]), frozenset(after[step] - {start})
                    if longer in self.table.numbers and found:
                        level.append((longer, found))
                        yield longer, found

    def _look(self, nodes: set[Term]) -> None:
        """Fetch what leads away from some nodes."""
        if len(self._away) > 200_000:
            self._away.clear()
        new = sorted(nodes - self._away.keys(), key=lambda t: t.n3())
        self._away.update((node, {}) for node in new)
        lookup = TripleLookup(self.kg)
        leaving: list[Known] = [(n, None, None) for n in new if not isinstance(n, Literal | BNode)]
        for keys, forward in (leaving, True), ([(None, None, n) for n in new], False):
            for (s, _, o), triples in lookup.find(keys).items():
                for t in triples:
                    number = self.table.number.get(Step(URIRef(str(t.predicate)), forward))
                    node, end = (s, t.object) if forward else (o, t.subject)
                    if node is not None and number is not None:
                        self._away[node].setdefault(number, {})[end] = None


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


_SIGN = re.compile(r"[^\w\s]|_")
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")


def normalised(answer: str) -> str:
    """Reduce an answer to what is compared: no case, accents, punctuation, English articles or spare spaces.

    The order is: compatibility decomposition (NFKD) and removal of combining marks, casefold, punctuation and
    underscores to spaces, articles out, spaces joined. An answer of which nothing is left, such as `$` or
    `The The`, is only decomposed, casefolded and its spaces joined.

    Example:
        >>> normalised(" The  Café-Owner's "), normalised("The The"), normalised("$")
        ('cafe owner s', 'the the', '$')
    """
    folded = _fold(answer)
    return _bare(folded) or folded


def exact_match(found: Iterable[str], gold: Iterable[str]) -> float:
    """Return 1 if both sets are equal, else 0; two empty sets are equal.

    Example:
        >>> exact_match(["The Matrix", "Up"], ["up", "matrix"]), exact_match([], ["up"])
        (1.0, 0.0)
    """
    return float(_set(found) == _set(gold))


def set_f1(found: Iterable[str], gold: Iterable[str]) -> float:
    """Return the harmonic mean of precision and recall of a set; 1 if both are empty, 0 if one is.

    Example:
        >>> set_f1(["up", "matrix"], ["up"])
        0.6666666666666666
    """
    a, b = _set(found), _set(gold)
    if not a or not b:
        return float(a == b)
    return 2 * len(a & b) / (len(a) + len(b))


def contained(text: str, gold: Iterable[str]) -> float:
    """Return 1 if the text of an answer holds one of the gold answers, else 0: CoMuS-KG's accuracy.

    An answer is held if its words occur in the text one after another; the paper's bare substrings would find
    `man` in `command`. One that has signs or articles alone is held if it stands there as it is. Without gold
    answers it is 1 for a text without words.

    Example:
        >>> contained("It was directed by John McTiernan.", ["john mctiernan"]), contained("command", ["man"])
        (1.0, 0.0)
    """
    words = f" {normalised(text)} "
    wanted = _set(gold)
    if not wanted:
        return float(not words.strip())
    plain = _fold(text)
    return float(any(f" {a} " in words if _bare(a) else a in plain for a in wanted))


def hits_at_1(found: Sequence[str], gold: Iterable[str]) -> float:
    """Return 1 if the first answer is one of the gold answers, else 0; 1 if both are empty.

    Example:
        >>> hits_at_1(["Up", "Heat"], ["up"]), hits_at_1(["Heat", "Up"], ["up"]), hits_at_1([], ["up"])
        (1.0, 0.0, 0.0)
    """
    wanted = _set(gold)
    if not found or not wanted:
        return float(not found and not wanted)
    return float(normalised(found[0]) in wanted)


@dataclass(frozen=True)
class CompletionScores:
    """Means over questions of `hits_at_1`, `exact_match`, `set_f1` and, as accuracy, `contained`."""

    questions: int = 0
    hits_at_1: float = 0.0
    exact_match: float = 0.0
    f1: float = 0.0
    accuracy: float = 0.0

    def __str__(self) -> str:
        return (
            f"hits@1 {self.hits_at_1:.3f}  exact {self.exact_match:.3f}  F1 {self.f1:.3f}  "
            f"containment {self.accuracy:.3f}  n={self.questions}"
        )


def score(
    found: Mapping[str, Sequence[str]],
    gold: Mapping[str, Iterable[str]],
    texts: Mapping[str, str] | None = None,
) -> CompletionScores:
    """Score the answers to many questions.

    Args:
        found: Answers by question, best first; a question without counts as answered by nothing.
        gold: Gold answers by question; these questions count.
        texts: Answers in words by question, for the containment; the answers joined by commas otherwise.

    Example:
        >>> print(score({"q": ["Up"]}, {"q": ["up"], "r": ["heat"]}))
        hits@1 0.500  exact 0.500  F1 0.500  containment 0.500  n=2
    """
    rows = []
    for question, wanted in gold.items():
        right, given = list(wanted), list(found.get(question, ()))
        text = (texts or {}).get(question, ", ".join(given))
        sets = exact_match(given, right), set_f1(given, right)
        rows.append((hits_at_1(given, right), *sets, contained(text, right)))
    return CompletionScores(len(rows), *map(fmean, zip(*rows, strict=True))) if rows else CompletionScores()


def _fold(text: str) -> str:
    return " ".join(tokens.bare(text).split())


def _bare(folded: str) -> str:
    return " ".join(_ARTICLE.sub(" ", _SIGN.sub(" ", folded)).split())


def _set(answers: Iterable[str]) -> set[str]:
    return {key for answer in answers if (key := normalised(answer))}
