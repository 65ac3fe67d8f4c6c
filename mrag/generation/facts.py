"""The facts of a context that answer a question, chosen without a language model.

A question is a set of words to be covered. Every subject of the context covers some of them by what its
lines say, directly or over one thing between; words that are rare in the context count more, and names
count most. The subjects that cover best are the answer, each with the few lines that cover it. This is
keyword search over graphs: it reads no grammar, and says so when words stay without a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from rdflib import Literal

from mrag.context.render import Context, Line
from mrag.generation.needs import Reading
from mrag.generation.selection import Group, Selection
from mrag.generation.support.mentions import META, NAMING
from mrag.generation.verbalise import TYPE, describes
from mrag.rdf.terms import RDFS, Term
from mrag.text.tokens import content

_SCHEMA = (RDFS + "subClassOf", RDFS + "subPropertyOf")
_FILE = re.compile(r"://|%20|\.(?:jpe?g|png|svg|gif|pdf|html?)\b", re.IGNORECASE)


class Chooser:
    """Chooses facts of one context for one question.

    Args:
        question: What was asked.
        context: Where to choose from.
    """

    def __init__(self, question: str, context: Context) -> None:
        self._words = bool(question.strip())  # an image may be all that was asked with
        self.asked = Reading(question, context)
        self.classes = self.asked.names.classes
        self._of: dict[Term, list[Line]] = {}
        self._common: dict[Term, int] = {}
        for line in context.lines:
            p, o = str(line.triple.p), str(line.triple.o)
            if (p in _SCHEMA and line.inferred) or (p == TYPE and o in META):
                continue  # every class is a kind of its kind's kind, and is a class
            self._of.setdefault(line.triple.s, []).append(line)
            self._common[line.triple.o] = self._common.get(line.triple.o, 0) + 1
        self._rank = {iri: i for i, iri in enumerate(context.entities)}
        self._order = {line.id: i for i, line in enumerate(context.lines)}

    def choose(self, max_entities: int = 6, max_facts: int = 4) -> Selection:
        """Choose the subjects and lines that answer best.

        Args:
            max_entities: Subjects told in full; others go to `more`.
            max_facts: Predicates told of each.
        """
        defined = self._defined() if self._words else self._hits()[:3]
        if defined:
            most = max_facts + 1 if len(defined) == 1 else max_facts - 1
            filled = [self._filled(Group(s, (), frozenset(), 1.0), most) for s in defined]
            return Selection(tuple(self._without_repeats(filled)), len(filled) > 1)
        subjects = [s for s in self._of if s not in self.asked.names.properties]
        if self.asked.comparing:
            subjects = [s for s in subjects if any(s in w.terms for w in self.asked.wanted)]
        groups = [g for g in (self._group(s, max_facts) for s in subjects) if g.score > 0]
        groups.sort(key=lambda g: (-g.score, self._rank.get(str(g.subject), 10**6), str(g.subject)))
        total = sum(w.weight for w in self.asked.wanted)
        if not groups or not total:
            return Selection(missing=self.asked.missing())
        best = groups[0]
        strong = [w for i, w in enumerate(self.asked.wanted) if i in best.covered]
        named = any(w.terms & self.asked.named for w in strong)
        about = [g for g in groups if g.subject in self.asked.named]
        if not named and not about and sum(w.weight for w in strong) < 0.4 * total:
            return Selection(missing=self.asked.missing())
        partial = False
        if about and (
            about[0].score >= 0.9 * best.score or self.asked.yes_or_no or not self._names_all(best)
        ):
            kept = [g for g in about if g.score >= 0.9 * about[0].score]
            many = False
            partial = not self.asked.yes_or_no and all(self._only_named(g) for g in kept)
            partial = partial and any(not w.terms & self.asked.named for w in self.asked.wanted)
        else:
            need = frozenset(i for i in best.covered if self.asked.wanted[i].terms & self.asked.named)
            kept = [
                g
                for g in groups
                if self._beyond_kind(g) >= 0.92 * self._beyond_kind(best)
                and need <= g.covered
                and self._as_joint(g, best)
            ]
            kept = self._of_kind(kept)
            many = len(kept) > 1
        kept = self._without_repeats(kept)
        if kept and any(w.by_predicate and i not in kept[0].covered for i, w in enumerate(self.asked.wanted)):
            partial = True  # what was asked is where, or when, or how far
        if not many:
            most = max_facts - 1 if partial else max_facts + 1
            kept = [self._filled(g, most) if self._only_named(g) else g for g in kept]
        told, more = tuple(kept[:max_entities]), tuple(kept[max_entities:])
        chosen = [line for g in kept for line in g.lines]
        return Selection(told, many, self.asked.missing(), self._unlinked(chosen), more, partial)

    @staticmethod
    def _as_joint(group: Group, best: Group) -> bool:
        """Say whether a group, too, has in one line what the best has in one line."""
        return all(any(j <= own for own in group.joint) for j in best.joint)

    def _beyond_kind(self, group: Group) -> float:
        """Score a group without the class that "which" asks for, which contexts often leave out."""
        return group.score - group.kind

    def _of_kind(self, groups: list[Group]) -> list[Group]:
        """Leave out, where some are of the class that "which" asks for, those of other classes."""
        if not any(self._is_of_kind(g.subject) for g in groups):
            return groups
        typed = {g.subject for g in groups if any(str(x.triple.p) == TYPE for x in self._of[g.subject])}
        return [
            g
            for g in groups
            if self._is_of_kind(g.subject) or (g.subject not in typed and self._beyond_kind(g) > 0)
        ]

    def _is_of_kind(self, subject: Term) -> bool:
        kinds = self.asked.kinds
        types = [x for x in self._of[subject] if str(x.triple.p) == TYPE]
        above = [y for x in types for y in self._of.get(x.triple.o, ()) if str(y.triple.p) in _SCHEMA]
        # A graph database is a database; but what asks for graph databases does not ask for databases.
        heads = {self.asked.head_of(kind) for kind in kinds if self.asked.is_one_word(kind)}
        return any(x.triple.o in kinds or self.asked.head_of(x.triple.o) in heads for x in [*types, *above])

    def _names_all(self, group: Group) -> bool:
        """Say whether a group has every name of the question that the best answer could have."""
        return self.asked.listy or all(
            i in group.covered for i, w in enumerate(self.asked.wanted) if w.terms & self.asked.named
        )

    def _hits(self) -> list[Term]:
        return sorted((s for s in self._of if str(s) in self._rank), key=lambda s: self._rank[str(s)])

    def _defined(self) -> list[Term]:
        """Give what "What is a triple store?" is about, or both sides of a comparison."""
        asked = self.asked
        if not asked.defining or not asked.wanted:
            return []
        terms = list(dict.fromkeys(w.terms for w in asked.wanted))
        found: list[Term] = []
        for each in terms:
            known = sorted(
                (t for t in each if t in self._of),
                key=lambda t: (t in asked.names.properties, self._rank.get(str(t), 10**6), str(t)),
            )
            found.extend(known[:1])
        return found if len(found) == len(terms) and (len(terms) == 1 or asked.comparing) else []

    def _group(self, subject: Term, max_facts: int) -> Group:
        """Cover the wanted words with as few lines about a subject as will do."""
        near = {line.id: 1.0 for line in self._of[subject]}
        lines = list(self._of[subject])
        for line in self._of[subject]:
            for far in self._of.get(line.triple.o, ()):
                if far.id in near or str(far.triple.p) == TYPE or str(line.triple.p) in _SCHEMA:
                    continue
                if not (
                    self.asked.asked_for(line) or any(far.triple.o in w.terms for w in self.asked.wanted)
                ):
                    continue  # what something else is like, that merely has to do with it
                if str(line.triple.p) == TYPE and str(far.triple.p) not in _SCHEMA:
                    continue  # what holds of a class as such is not about its members
                near[far.id] = 0.6
                lines.append(far)
        got = [0.0] * len(self.asked.wanted)
        chosen: list[Line] = []
        done: set[str] = set()
        total = sum(w.weight for w in self.asked.wanted) or 1.0
        joint: set[frozenset[int]] = set()
        prose = False
        while len({x.triple.p for x in chosen}) < max_facts:
            best, gain = None, 0.0
            for line in (x for x in lines if x.id not in done and (prose or not describes(x))):
                new = self._gain(line, near[line.id], got)
                if best is None or abs(new - gain) > 1e-9:
                    better = new > gain + 1e-9
                else:
                    better = self._key(line) < self._key(best)
                best, gain = (line, new) if better else (best, gain)
            if best is None or gain <= 0.04 * total:
                if prose or any(joint) or not self._mostly_open(subject, got):
                    break
                prose = True  # only where plain facts leave most of the question open
                continue
            taken = [best]
            if near[best.id] < 1 and not any(x.triple.o == best.triple.s for x in chosen):
                bridges = [x for x in self._of[subject] if x.triple.o == best.triple.s]
                taken.insert(0, min(bridges, key=self._key))
            taken.extend(self._siblings(best, [*chosen, *taken]))
            # That a kind is of a further kind counts, but goes without saying.
            chosen.extend(x for x in taken if str(x.triple.p) not in _SCHEMA or x.triple.s == subject)
            done.update(x.id for x in taken)
            joint.add(self.asked.joined(best))
            for i in range(len(got)):
                got[i] = max(got[i], *(self._told(i, x, near[x.id]) for x in taken))
        score = sum(w.weight * g for w, g in zip(self.asked.wanted, got, strict=True))
        if subject in self.classes:
            score *= 0.7  # asked about things, one answers with things; the schema is for want of better
        covered = frozenset(i for i, g in enumerate(got) if g >= 0.5)
        kinds = self.asked.kinds
        kind = sum(w.weight * g for w, g in zip(self.asked.wanted, got, strict=True) if w.terms & kinds)
        pairs = frozenset(j for j in joint if len(j) > 1)
        score += 0.1 * sum(self.asked.wanted[i].weight for i in frozenset().union(*pairs))
        return Group(subject, tuple(chosen), covered, score, pairs, kind)

    def _mostly_open(self, subject: Term, got: Sequence[float]) -> bool:
        """Say whether most of what is asked, beside the name of the subject, is still not covered."""
        rest = [(w.weight, g) for w, g in zip(self.asked.wanted, got, strict=True) if subject not in w.terms]
        return sum(w * g for w, g in rest) < 0.5 * sum(w for w, _ in rest)

    def _gain(self, line: Line, near: float, got: Sequence[float]) -> float:
        return sum(
            wanted.weight * max(0.0, self._told(i, line, near) - got[i])
            for i, wanted in enumerate(self.asked.wanted)
        )

    def _told(self, i: int, line: Line, near: float) -> float:
        """Cover a word as part of an answer about the line's subject.

        "When was X released?" is not answered by the year of something that merely has to do with X.
        """
        wanted, cover = self.asked.wanted[i], self.asked.covers[line.id][i]
        named = line.triple.o in wanted.terms and line.triple.o in self.asked.named
        if cover and named and not self.asked.asked_for(line):
            return (0.6 if self.asked.listy else 0.3) * near
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
        """Give the other values of a predicate that was asked for as such: all films, not the first."""
        s, p, o = line.triple
        _, relation, value = self.asked.stems[line.id]
        others = [w for w in self.asked.wanted if s not in w.terms]
        by_object = any(o in w.terms or w.stem in value for w in others)
        by_predicate = any(w.stem in relation or w.others & relation for w in others)
        if by_object or not by_predicate:
            return []
        return [x for x in self._of[s] if x.triple.p == p and x not in chosen][:11]

    def _only_named(self, group: Group) -> bool:
        """Say whether a group covers no more than the name of its subject."""
        own = set(content(self._of[group.subject][0].labels[0])) | self.asked.aliases.get(
            group.subject, set()
        )
        return all(self.asked.wanted[i].stem in own for i in group.covered)

    def _filled(self, group: Group, max_facts: int) -> Group:
        """Tell what one would tell first of a thing."""
        predicates: dict[Term, list[Line]] = {}
        for line in sorted(self._of[group.subject], key=self._first_told):
            predicates.setdefault(line.triple.p, []).append(line)
        kept: list[Line] = []
        for p in list(predicates)[:max_facts]:
            lines = predicates[p]
            if str(p) == TYPE:
                asserted = [x for x in lines if not x.inferred]
                lines = asserted[:3] or lines[:2]
            kept.extend(lines[: 1 if describes(lines[0]) else 5])
        return replace(group, lines=tuple(kept))

    def _first_told(self, line: Line) -> tuple[int, bool, float, int]:
        p, o = str(line.triple.p), line.triple.o
        kind = 0 if p == TYPE else 1 if describes(line) else 5 if p in NAMING else 2
        if kind == 2 and isinstance(o, Literal):
            kind = 3
        if _FILE.search(line.labels[2]):
            kind = 4
        return (kind, line.inferred, -line.score, self._order[line.id])

    # --- What does not fit -------------------------------------------------------------------------

    def _without_repeats(self, groups: Iterable[Group]) -> list[Group]:
        """Leave out what only says the other way round what was said, and subjects with nothing else."""
        said: set[frozenset[Term]] = set()
        kept = []
        for group in groups:
            new = tuple(x for x in group.lines if frozenset([x.triple.s, x.triple.o]) not in said)
            if new:
                kept.append(replace(group, lines=new))
                said.update(frozenset([x.triple.s, x.triple.o]) for x in new)
        return kept

    def _unlinked(self, chosen: Sequence[Line]) -> tuple[str, ...]:
        names: dict[str, None] = {}
        for wanted in self.asked.wanted:
            if not wanted.terms & self.asked.named:
                continue
            if not any(wanted.terms & {x.triple.s, x.triple.o} for x in chosen):
                label = next(
                    (
                        x.labels[0] if x.triple.s in wanted.terms else x.labels[2]
                        for x in self.asked.lines
                        if wanted.terms & {x.triple.s, x.triple.o}
                    ),
                    wanted.word,
                )
                names[label] = None
        return tuple(names)
