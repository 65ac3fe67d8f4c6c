"""The facts of a context that answer a question, chosen without a language model.

A question is a set of words to be covered. Every subject of the context covers some of them by what its
lines say, directly or over one thing between; words that are rare in the context count more, and names
count most. The subjects that cover best are the answer, each with the few lines that cover it. This is
keyword search over graphs: it reads no grammar, and says so when words stay without a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rdflib import Literal

from mrag.context.render import Line
from mrag.generation.grouping import SCHEMA, FactGroup, FactGrouper
from mrag.generation.needs import asks_for_count
from mrag.generation.support.mentions import NAMING
from mrag.generation.verbalise import TYPE, describes
from mrag.rdf.terms import Term
from mrag.text.tokens import content

_FILE = re.compile(r"://|%20|\.(?:jpe?g|png|svg|gif|pdf|html?)\b", re.IGNORECASE)


_FEW: Final = 4
"""Facts of a thing that only relates others."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The facts chosen for a question.

    Attributes:
        groups: Subjects with their lines, the best first; empty when nothing matches.
        many: Whether the question asks for a list.
        missing: Words of the question that no line has.
        more: Further groups, for which there is no room.
        partial: Whether the groups tell of what was named, but not what was asked of it.
        sought: Words of the question that were looked for.
        nearest: The lines nearest to the question, where none answers it.
        unlinked: Names of the question that the context has, but that no chosen line has.
    """

    groups: tuple[FactGroup, ...] = ()
    many: bool = False
    missing: tuple[str, ...] = ()
    unlinked: tuple[str, ...] = ()
    more: tuple[FactGroup, ...] = ()
    partial: bool = False
    sought: tuple[str, ...] = ()
    nearest: tuple[Line, ...] = ()


class FactSelector(FactGrouper):
    """Chooses facts of one context for one question."""

    def select(self, max_entities: int = 6, max_facts: int = 4) -> Selection:
        """Choose the subjects and lines that answer best.

        Args:
            max_entities: Subjects told in full; others go to `more`.
            max_facts: Predicates told of each.
        """
        # An image may be all that was asked with.
        defined = self._defined() if self.question.strip() else self._hits()[:3]
        if defined:
            count = max_facts + 1 if len(defined) == 1 else max_facts - 1
            filled = [self._filled(FactGroup(s, (), frozenset(), 1.0), count) for s in defined]
            told = tuple(self._without_repeats(filled))
            lines = [line for g in told for line in g.lines]
            partial = bool(self.asked.deeds)
            sought = self.asked.sought()
            return Selection(told, len(filled) > 1, (), (), (), partial, sought, self._nearest(lines))
        groups = self._ranked(max_facts)
        about = [g for g in groups if g.subject in self.asked.named]
        if not groups or not (about or self._covers_enough(groups[0])):
            return Selection(missing=self.asked.missing(), sought=self.asked.sought())
        many = partial = False
        if about and self._answers(about[0], groups[0]):
            kept = [g for g in about if g.score >= 0.9 * about[0].score]
            partial = self._only_names(kept)
        else:
            kept = self._as_good(groups)
            many = len(kept) > 1
        kept = self._without_repeats(kept)
        if kept and any(w.by_predicate and i not in kept[0].covered for i, w in enumerate(self.asked.needs)):
            partial = True  # what was asked is where, or when, or how far
        partial |= bool(kept) and not self._may_count(kept)
        if self.asked.english and kept:
            kept = [self._completed(g) for g in kept]
            if self.asked.keywords:
                least = min(len(self.asked.unmet(g.lines)) for g in kept)
                named = self.asked.named
                kept = [g for g in kept if g.subject in named or len(self.asked.unmet(g.lines)) == least]
            kept, acting = self._acting(kept)
            said = [line for g in kept for line in g.lines]
            partial |= not acting or bool(self.asked.unmet(said))
        if not many:
            count = max_facts - 1 if partial else max_facts + 1
            kept = [self._filled(g, count) if self._only_named(g) else g for g in kept]
        told, more = tuple(kept[:max_entities]), tuple(kept[max_entities:])
        chosen = [line for g in kept for line in g.lines]
        return Selection(
            told, many, self.asked.missing(), self._unlinked(chosen), more, partial, self.asked.sought(),
            self._nearest(chosen),
        )  # fmt: skip

    def _completed(self, group: FactGroup) -> FactGroup:
        """Return a group about what only relates others with the facts of it that say what was asked, too.

        "The Empire Strikes Back, Irvin Kershner, director" says in three facts of one node who directed.
        """
        if group.subject in self.asked.named:
            return group
        unmet = self.asked.unmet(group.lines)
        rest = [x for x in self._of.get(group.subject, ()) if x not in group.lines]
        if not self.asked.keywords:
            rest = [x for x in rest if not describes(x)]
        more = [x for x in rest if len(self.asked.unmet([*group.lines, x])) < len(unmet)]
        if not more and len(rest) <= _FEW and {str(x.triple.p) for x in group.lines} == {TYPE}:
            more = rest  # its name says it all, made of what it relates
        return replace(group, lines=(*group.lines, *more))

    def _nearest(self, lines: Sequence[Line]) -> tuple[Line, ...]:
        """Return the three lines that cover most of the question, short facts before descriptions."""
        needs = self.asked.needs

        def key(line: Line) -> tuple[bool, float, int]:
            covers = zip(needs, self.asked.covers[line.id], strict=True)
            return (describes(line), -sum(w.weight * c for w, c in covers), self._order[line.id])

        return tuple(sorted(dict.fromkeys(lines), key=key)[:3])

    def _acting(self, groups: list[FactGroup]) -> tuple[list[FactGroup], bool]:
        """Return the groups that tell of somebody, where "who" asks for that, and whether there are some."""
        if not self.asked.for_people or self.asked.yes_or_no:
            return groups, True
        known = self.asked.named | self.classes
        kept = [
            g
            for g in groups
            if any(
                end not in known and self.asked.may_act(line, end, self._of.get(end, ()))
                for line in g.lines
                if str(line.triple.p) not in (TYPE, *SCHEMA)
                for end in (line.triple.s, line.triple.o)
            )
        ]
        return (kept, True) if kept else (groups, False)

    def _may_count(self, groups: Sequence[FactGroup]) -> bool:
        """Return whether what was asked to be counted is told: a number, or all values of one thing.

        A context is bounded, so the things in it that are alike are never known to be all that there are.
        """
        if not asks_for_count(self.question):
            return True
        numbers = (x.triple.o for g in groups for x in g.lines if isinstance(x.triple.o, Literal))
        all_of_one = groups[0].subject in self.asked.named and not self.cut
        return len(groups) == 1 and (all_of_one or any(str(x).replace(".", "").isdigit() for x in numbers))

    def _ranked(self, max_facts: int) -> list[FactGroup]:
        """Return the groups that cover something, the best first."""
        subjects = [s for s in self._of if s not in self.asked.names.properties]
        if self.asked.comparing:
            subjects = [s for s in subjects if any(s in w.terms for w in self.asked.needs)]
        groups = [g for g in (self.group(s, max_facts) for s in subjects) if g.score > 0]
        groups.sort(key=lambda g: (-g.score, self._rank.get(str(g.subject), 10**6), str(g.subject)))
        return groups

    def _covers_enough(self, best: FactGroup) -> bool:
        """Return whether the best group covers a name of the question, or much of its other words."""
        needs = self.asked.needs
        strong = [needs[i] for i in best.covered]
        if any(w.terms & self.asked.named for w in strong):
            return True
        return sum(w.weight for w in strong) >= 0.4 * sum(w.weight for w in needs)

    def _answers(self, named: FactGroup, best: FactGroup) -> bool:
        """Return whether a group about what the question names answers it, rather than the best one."""
        return named.score >= 0.9 * best.score or self.asked.yes_or_no or not self._names_all(best)

    def _only_names(self, groups: Sequence[FactGroup]) -> bool:
        """Return whether groups tell of what was named, but not what was asked of it."""
        if self.asked.yes_or_no or not all(self._only_named(g) for g in groups):
            return False
        return bool(self.asked.deeds) or any(not w.terms & self.asked.named for w in self.asked.needs)

    def _as_good(self, groups: Sequence[FactGroup]) -> list[FactGroup]:
        """Return the best group and those as good: of its score, and with the same names of the question."""
        best = groups[0]
        names = frozenset(i for i in best.covered if self.asked.needs[i].terms & self.asked.named)
        like = [
            g
            for g in groups
            if self._beyond_kind(g) >= 0.92 * self._beyond_kind(best)
            and names <= g.covered
            and self._as_joint(g, best)
        ]
        return self._of_kind(like)

    @staticmethod
    def _as_joint(group: FactGroup, best: FactGroup) -> bool:
        """Return whether a group, too, has in one line what the best has in one line."""
        return all(any(j <= own for own in group.joint) for j in best.joint)

    def _beyond_kind(self, group: FactGroup) -> float:
        """Score a group without the class that "which" asks for, which contexts often leave out."""
        return group.score - group.kind

    def _of_kind(self, groups: list[FactGroup]) -> list[FactGroup]:
        """Return the groups of the class that "which" asks for, where there are some; else all."""
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
        above = [y for x in types for y in self._of.get(x.triple.o, ()) if str(y.triple.p) in SCHEMA]
        # A graph database is a database; but what asks for graph databases does not ask for databases.
        heads = {self.asked.head_of(kind) for kind in kinds if self.asked.is_one_word(kind)}
        return any(x.triple.o in kinds or self.asked.head_of(x.triple.o) in heads for x in [*types, *above])

    def _names_all(self, group: FactGroup) -> bool:
        """Return whether a group has every name of the question that the best answer could have."""
        return self.asked.listy or all(
            i in group.covered for i, w in enumerate(self.asked.needs) if w.terms & self.asked.named
        )

    def _hits(self) -> list[Term]:
        return sorted((s for s in self._of if str(s) in self._rank), key=lambda s: self._rank[str(s)])

    def _defined(self) -> list[Term]:
        """Return what "What is a triple store?" is about, or both sides of a comparison."""
        asked = self.asked
        terms = list(dict.fromkeys(w.terms for w in asked.needs))
        # A name alone asks what is said of it, too, and that may be what is said of others.
        if not terms or not (
            asked.defining or all(self._is_only_pointed_at(t) for each in terms for t in each)
        ):
            return []
        found: list[Term] = []
        for each in terms:
            known = sorted(
                (t for t in each if t in self._of or self._is_only_pointed_at(t)),
                key=lambda t: (t in asked.names.properties, self._rank.get(str(t), 10**6), str(t)),
            )
            found.extend(known[:1])
        return found if len(found) == len(terms) and (len(terms) == 1 or asked.comparing) else []

    def _only_named(self, group: FactGroup) -> bool:
        """Return whether a group covers no more than the name of its subject."""
        own = set(content(self._of[group.subject][0].labels[0])) | self.asked.aliases.get(
            group.subject, set()
        )
        return all(self.asked.needs[i].stem in own for i in group.covered)

    def _filled(self, group: FactGroup, max_facts: int) -> FactGroup:
        """Return a group with the lines that describe its subject best."""
        predicates: dict[Term, list[Line]] = {}
        for line in sorted(self._of.get(group.subject, ()), key=self._first_told):
            predicates.setdefault(line.triple.p, []).append(line)
        kept: list[Line] = []
        for p in list(predicates)[:max_facts]:
            lines = predicates[p]
            if str(p) == TYPE:
                asserted = [x for x in lines if not x.inferred]
                lines = asserted[:3] or lines[:2]
            kept.extend(lines[: 1 if describes(lines[0]) else 5])
        if all(str(line.triple.p) == TYPE for line in kept):
            kept += sorted(self._pointing_at(group.subject), key=self._first_told)[:max_facts]
        return replace(group, lines=tuple(kept))

    def _pointing_at(self, thing: Term) -> list[Line]:
        """Return the lines that tell of other things by naming this one; what is in a class does not."""
        if thing in self.asked.names.classes or thing in self.asked.names.properties:
            return []
        silent = (TYPE, *SCHEMA, *NAMING)
        return [x for x in self.asked.lines if x.triple.o == thing and str(x.triple.p) not in silent]

    def _is_only_pointed_at(self, thing: Term) -> bool:
        return thing not in self._of and not isinstance(thing, Literal) and bool(self._pointing_at(thing))

    def _first_told(self, line: Line) -> tuple[int, bool, float, int]:
        p, o = str(line.triple.p), line.triple.o
        kind = 0 if p == TYPE else 1 if describes(line) else 5 if p in NAMING else 2
        if kind == 2 and isinstance(o, Literal):
            kind = 3
        if _FILE.search(line.labels[2]):
            kind = 4
        return (kind, line.inferred, -line.score, self._order[line.id])

    # --- What does not fit -------------------------------------------------------------------------

    def _without_repeats(self, groups: Iterable[FactGroup]) -> list[FactGroup]:
        """Return groups without lines that repeat others the other way round, and without empty groups."""
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
        ends: set[Term] = {end for x in chosen for end in (x.triple.s, x.triple.o)} - self.classes
        near: set[Term] = {x.triple.s for x in self.asked.lines if x.triple.o in ends}
        near |= {x.triple.o for x in self.asked.lines if x.triple.s in ends}
        for wanted in self.asked.needs:
            if not wanted.terms & self.asked.named:
                continue
            if not wanted.terms & (ends | near):
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
