"""What a context says of one subject in answer to a question: as few lines as cover its words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mrag.context.render import Context, Line
from mrag.generation.needs import QuestionNeeds
from mrag.generation.support.mentions import META, NAMING
from mrag.generation.verbalise import TYPE, describes
from mrag.generation.wording.expressions import is_empty
from mrag.rdf.terms import RDFS, Term

SCHEMA = (RDFS + "subClassOf", RDFS + "subPropertyOf")


@dataclass(frozen=True, slots=True)
class FactGroup:
    """What the context says of one subject in answer to the question.

    Attributes:
        subject: What it is about.
        lines: The lines that cover most, in the order found.
        covered: Positions of the wanted words that they cover.
        score: Weight of what they cover.
        kind: Part of the score that is for being of the class asked for.
        joint: Wanted words that single lines cover by predicate and object together.
    """

    subject: Term
    lines: tuple[Line, ...]
    covered: frozenset[int]
    score: float
    joint: frozenset[frozenset[int]] = frozenset()
    kind: float = 0.0


class FactGrouper:
    """Groups the lines of one context by subject, for one question.

    Args:
        question: What was asked.
        context: Where to choose from.
    """

    def __init__(self, question: str, context: Context) -> None:
        self.question = question
        self.asked = QuestionNeeds(question, context)
        self.classes = self.asked.names.classes
        self.cut = bool(context.cut)
        self._of: dict[Term, list[Line]] = {}
        self._common: dict[Term, int] = {}
        for line in context.lines:
            p, o = str(line.triple.p), str(line.triple.o)
            if (p in SCHEMA and line.inferred) or (p == TYPE and o in META) or is_empty(line):
                continue  # every class is a kind of its kind's kind, and is a class
            self._of.setdefault(line.triple.s, []).append(line)
            self._common[line.triple.o] = self._common.get(line.triple.o, 0) + 1
        self._rank = {iri: i for i, iri in enumerate(context.entities)}
        self._order = {line.id: i for i, line in enumerate(context.lines)}

    def group(self, subject: Term, max_facts: int) -> FactGroup:
        """Cover the words of the question with as few lines about a subject as will do.

        Args:
            subject: A subject of the context.
            max_facts: Most predicates.
        """
        lines, near = self._within_reach(subject)
        got = [0.0] * len(self.asked.needs)
        chosen: list[Line] = []
        done: set[str] = set()
        total = sum(w.weight for w in self.asked.needs) or 1.0
        joint: set[frozenset[int]] = set()
        prose = False
        while len({x.triple.p for x in chosen}) < max_facts:
            left = [x for x in lines if x.id not in done and (prose or not describes(x))]
            best, gain = self._best(left, near, got)
            if best is None or gain <= 0.04 * total:
                if prose or any(joint) or not self._mostly_open(subject, got):
                    break
                prose = True  # only where plain facts leave most of the question open
                continue
            taken = self._with_its_like(subject, best, near, chosen)
            # That a kind is of a further kind counts, but goes without saying.
            chosen.extend(x for x in taken if str(x.triple.p) not in SCHEMA or x.triple.s == subject)
            done.update(x.id for x in taken)
            joint.add(self.asked.joined(best))
            for i in range(len(got)):
                got[i] = max(got[i], *(self._covered(i, x, near[x.id]) for x in taken))
        return self._scored(subject, chosen, got, joint)

    def _within_reach(self, subject: Term) -> tuple[list[Line], dict[str, float]]:
        """Return the lines about a subject and one step further, and how near each is, by its id."""
        near = {line.id: 1.0 for line in self._of[subject]}
        lines = list(self._of[subject])
        for line in self._of[subject]:
            for far in self._of.get(line.triple.o, ()):
                if far.id not in near and self._leads_on(line, far):
                    near[far.id] = 0.6
                    lines.append(far)
        return lines, near

    def _leads_on(self, line: Line, far: Line) -> bool:
        """Return whether a line about the object of another may tell of its subject too."""
        first, second = str(line.triple.p), str(far.triple.p)
        if second == TYPE or first in SCHEMA:
            return False
        if not self.asked.asked_for(line) and not any(far.triple.o in w.terms for w in self.asked.needs):
            return False  # what something else is like, that merely has to do with it
        # What holds of a class as such is not about its members.
        return first != TYPE or second in SCHEMA

    def _best(
        self, lines: Sequence[Line], near: dict[str, float], got: Sequence[float]
    ) -> tuple[Line | None, float]:
        """Return the line that adds most to what is covered, and how much it adds."""
        best, gain = None, 0.0
        for line in lines:
            new = self._gain(line, near[line.id], got)
            if best is None or abs(new - gain) > 1e-9:
                better = new > gain + 1e-9
            else:
                better = self._key(line) < self._key(best)
            best, gain = (line, new) if better else (best, gain)
        return best, gain

    def _with_its_like(
        self, subject: Term, line: Line, near: dict[str, float], chosen: Sequence[Line]
    ) -> list[Line]:
        """Return a line with the one that leads to it, and the other values of a list that was asked for."""
        taken = [line]
        if near[line.id] < 1 and not any(x.triple.o == line.triple.s for x in chosen):
            bridges = [x for x in self._of[subject] if x.triple.o == line.triple.s]
            taken.insert(0, min(bridges, key=self._key))
        taken.extend(self._siblings(line, [*chosen, *taken]))
        return taken

    def _scored(
        self, subject: Term, lines: Sequence[Line], got: Sequence[float], joint: set[frozenset[int]]
    ) -> FactGroup:
        needs = self.asked.needs
        score = sum(w.weight * g for w, g in zip(needs, got, strict=True))
        if subject in self.classes:
            score *= 0.7  # asked about things, one answers with things; the schema is for want of better
        covered = frozenset(i for i, g in enumerate(got) if g >= 0.5)
        kind = sum(w.weight * g for w, g in zip(needs, got, strict=True) if w.terms & self.asked.kinds)
        pairs = frozenset(j for j in joint if len(j) > 1)
        score += 0.1 * sum(needs[i].weight for i in frozenset().union(*pairs))
        return FactGroup(subject, tuple(lines), covered, score, pairs, kind)

    def _mostly_open(self, subject: Term, got: Sequence[float]) -> bool:
        """Return whether most of what is asked, beside the name of the subject, is still not covered."""
        rest = [(w.weight, g) for w, g in zip(self.asked.needs, got, strict=True) if subject not in w.terms]
        return sum(w * g for w, g in rest) < 0.5 * sum(w for w, _ in rest)

    def _gain(self, line: Line, near: float, got: Sequence[float]) -> float:
        return sum(
            wanted.weight * max(0.0, self._covered(i, line, near) - got[i])
            for i, wanted in enumerate(self.asked.needs)
        )

    def _covered(self, i: int, line: Line, near: float) -> float:
        """Cover a word as part of an answer about the line's subject.

        "When was X released?" is not answered by the year of something that merely has to do with X.
        """
        wanted, cover = self.asked.needs[i], self.asked.covers[line.id][i]
        named = line.triple.o in wanted.terms and line.triple.o in self.asked.named
        if cover and named and not self.asked.asked_for(line):
            return (0.6 if self.asked.listy else 0.3) * near
        if self.asked.is_of_owner(line, wanted):
            return 0.0
        if near < 1 and wanted.terms & self.asked.named:
            return near * cover / 2  # a name one step away is hardly what was asked for
        return near * cover

    def _key(self, line: Line) -> tuple[bool, int, bool, int, float, int]:
        p = str(line.triple.p)
        common = -self._common.get(line.triple.o, 0)
        strange = self.asked.strangeness(line)
        return (
            describes(line) or p in NAMING,
            strange,
            line.inferred,
            common,
            -line.score,
            self._order[line.id],
        )

    def _siblings(self, line: Line, chosen: Sequence[Line]) -> list[Line]:
        """Return the other values of a predicate that was asked for as such: all films, not the first."""
        s, p, o = line.triple
        _, relation, value = self.asked.stems[line.id]
        others = [w for w in self.asked.needs if s not in w.terms]
        by_object = any(o in w.terms or w.stem in value for w in others)
        by_predicate = any(w.stem in relation or w.others & relation for w in others)
        if by_object or not by_predicate:
            return []
        return [x for x in self._of[s] if x.triple.p == p and x not in chosen][:11]
