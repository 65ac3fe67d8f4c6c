"""The facts of a context that answer a question, chosen without a language model.

A question is a set of words to be covered. Every subject of the context covers some of them by what its
lines say, directly or over one thing between; words that are rare in the context count more, and names
count most. The subjects that cover best are the answer, each with the few lines that cover it. This is
keyword search over graphs: it reads no grammar, and says so when words stay without a line.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import Final

from rdflib import Literal

from mrag._tables import patterns, tables
from mrag.context.render import Context, Line
from mrag.generation.support.mentions import META, NAMING, ContextNames, TermMention, owners
from mrag.generation.verbalise import TYPE, describes, is_empty
from mrag.language.names import split_identifier
from mrag.language.tokens import (
    DEEDS,
    LIGHT,
    OTHERS,
    VAGUE,
    TextToken,
    alike,
    content,
    keys,
    language_of,
    plain,
    stem,
    stems,
    tokens,
    words,
)
from mrag.rdf.terms import RDFS, Term

_WORDS: Final = tables("generation/asking.toml")
_VAGUE, _LIGHT = (frozenset(map(stem, some)) for some in (VAGUE, LIGHT))
_PLACES, _TIMES, _PLACED, _PARTS = (stems(_WORDS[n]) for n in ("places", "times", "placed", "parts"))
_OTHERWISE = {"where": _TIMES, "when": _PLACES, "who": _TIMES | _PLACES, "how": _PLACES}
"""Words of relations that tell of another kind than an asking word wants: a birth year is nowhere."""
_DEEDS = DEEDS | {f"{verb}s" for verb in DEEDS}
_DOING, _WHICH, _NAMES, _FURTHER, _FURTHER_NAMES = (
    words(_WORDS[name]) for name in ("doing", "which", "names", "further", "further_names")
)
_HOW, _ASKING = _WORDS["how"], _WORDS["asking"]
_PATTERNS: Final = patterns("generation/patterns.toml")
SCHEMA = (RDFS + "subClassOf", RDFS + "subPropertyOf")
_ENTITIES: Final = 6  # Subjects that are told in full
_FACTS: Final = 4  # Predicates that are told of each, more or less

Stems = tuple[frozenset[str], frozenset[str], frozenset[str]]
"""Stems of the words of a line's subject, relation and value."""


@dataclass(frozen=True, slots=True)
class Need:
    """One thing that a question wants covered."""

    word: str  # The word as written
    stem: str  # Its stem
    others: frozenset[str]  # Stems of predicates that will do as well
    terms: frozenset[Term]  # What the word names, alone or with its neighbours, in the context
    weight: float = 1.0  # How much covering it counts
    by_predicate: bool = False  # Whether only a predicate can cover it: "where", "how tall"
    kind: bool = False  # Whether it says only of which kind something else is
    asking: str = ""  # `where`, `when` or `how`, if that is the word or what the word is of
    naming: bool = False  # Whether further names are what it asks for


class QuestionNeeds:
    """A question, read against one context: what it wants covered, and how far each line covers it."""

    def __init__(self, question: str, context: Context) -> None:
        self.lines = context.lines
        self.names = ContextNames(context.lines)
        self._common = self.names.classes | self.names.properties
        self.aliases: dict[Term, set[str]] = {}
        above: dict[Term, set[str]] = {}
        for line in context.lines:
            s, p, o = line.triple
            if str(p) in NAMING:
                self.aliases.setdefault(s, set()).update(content(str(o)))
            elif str(p) == RDFS + "subPropertyOf":
                above.setdefault(s, set()).update(content(line.labels[2]))
        self._labels = {x.triple.o: keys(x.labels[2]) for x in context.lines}
        self._labels |= {x.triple.s: keys(x.labels[0]) for x in context.lines}
        self.stems = {line.id: self._stems(line, above) for line in context.lines}
        self.listy = bool(_PATTERNS["listing"].search(question))
        self.yes_or_no = bool(_PATTERNS["yes_or_no"].match(question))
        self.comparing = bool(_PATTERNS["comparing"].search(question))
        self.defining = self.comparing or bool(_PATTERNS["defining"].match(question))
        # The words of an English question are compared with those of relations.
        self.english = language_of(question) == "en"
        asked = tokens(question)
        said = {word.key for word in asked}
        does = self.english and bool(asked) and (asked[0].key in _DOING or self.yes_or_no)
        # Vague verbs say what is asked of what is named, where no other word does.
        self.deeds = tuple(word.raw for word in asked[1:] if does and word.key in _DEEDS)
        self.for_people = self.english and not said.isdisjoint(("who", "whom"))
        self.dated = not said.isdisjoint(("on", "when"))
        mentions = [m for m in self.names.find(question, asked) if m.first >= 0]
        self.kinds = self._kinds(asked, mentions)
        things = [m for m in mentions if not m.terms <= self._common]
        self._owned = {t: owners(question, asked, m, things) for m in things for t in m.terms}
        needs = self._want(question, asked, mentions)
        self.named = frozenset(filter(self._is_name, (t for w in needs for t in w.terms)))
        self.covers = {line.id: [_cover(w, line, self.stems[line.id]) for w in needs] for line in self.lines}
        self.needs = self._with_weights(needs)

    def _is_name(self, term: Term) -> bool:
        return not (term in self._common or isinstance(term, Literal))

    def unmet(self, lines: Sequence[Line]) -> list[Need]:
        """Return what the question wants said that none of some lines says."""
        met, left = list[Need](), list[Need]()
        for i, need in enumerate(self.needs):
            (met if any(self.covers[x.id][i] > 0 for x in lines) else left).append(need)
        related = any((w.by_predicate and not w.kind) or self._in_relations(w, lines) for w in met)
        typed = any(w.terms & self.kinds for w in met)
        return [
            w
            for w in left
            if not ((related or typed) and w.stem in _LIGHT)
            and not (related and w.kind and not self._in_relations(w, self.lines))
        ]

    def _in_relations(self, need: Need, lines: Sequence[Line]) -> bool:
        relations = (self.stems[line.id][1] for line in lines)
        return any(need.stem in relation or _by_synonym(need, relation) for relation in relations)

    def _stems(self, line: Line, above: Mapping[Term, set[str]]) -> Stems:
        s, p, o = line.triple
        relation = content(split_identifier(line.labels[1]))
        # "home world" may be asked for as "homeworld"
        compounds = [a + b for a, b in pairwise(relation)]
        return (
            frozenset(content(line.labels[0])).union(self.aliases.get(s, ())),
            # What has a feature is linked to it, where the ontology says so.
            frozenset([*relation, *compounds]).union(above.get(p, ())),
            frozenset(content(line.labels[2])).union(self.aliases.get(o, ())),
        )

    def _kinds(self, asked: Sequence[TextToken], mentions: Sequence[TermMention]) -> frozenset[Term]:
        """Return the classes that "which …" asks for."""
        which = next((i for i, word in enumerate(asked) if word.key in _WHICH), len(asked))
        near = (m.terms & self.names.classes for m in mentions if 0 < m.first - which <= 4)
        return next(filter(None, near), frozenset())

    def _want(self, question: str, asked: Sequence[TextToken], mentions: Sequence[TermMention]) -> list[Need]:
        useful = set(content(question, language_of(question)))
        place = {i: m for m in mentions for i in range(m.first, m.last)}
        pairs = [(a, b, stem(a.raw) + stem(b.raw)) for a, b in pairwise(asked)]
        needs: dict[str, Need] = {}
        for i, word in enumerate(asked):
            before = asked[i - 1].key if i else ""
            how = _HOW.get(word.key) if before == "how" else None
            asking = _ASKING.get(word.key, "how" if how else "")
            key = stem(word.raw)
            if self.english and _asks_for_names(asked, i):
                same = Need(word.raw, "", frozenset([key]), frozenset(), by_predicate=True, naming=True)
                needs.setdefault("?names", same)
                continue
            if asking:
                others = OTHERS.get(stem(how or asking), frozenset()) | ({stem(how)} if how else set())
                need = Need(word.raw, "", others, frozenset(), by_predicate=True, asking=asking)
                needs.setdefault(f"?{word.key}", need)
                continue
            mention, behind = place.get(i), place.get(i + 1)
            vague = mention is None and self.english and key in _VAGUE
            if vague or key not in useful or _PATTERNS["contracted"].match(word.key):
                continue
            others = OTHERS.get(key, frozenset()) - {key}
            if word.key == "made" and any(after.key in ("of", "from") for after in asked[i + 1 : i + 2]):
                others = _PARTS
            others |= {joined for a, b, joined in pairs if word in (a, b)}
            terms = mention.terms if mention else frozenset()
            # "the film Alien" and "which films" say what kind of thing is named, or asked for.
            names_it = behind is not None and behind != mention and any(map(self._is_name, behind.terms))
            of_kind = names_it or (before in _WHICH and key not in _TIMES)
            placed = "where" if key in _PLACED and not self.dated else ""
            needs.setdefault(key, Need(plain(word.raw), key, others, terms, kind=of_kind, asking=placed))
        return list(needs.values())

    def _with_weights(self, needs: Sequence[Need]) -> list[Need]:
        """Set the weights of words by their rarity in the context, and names above all others.

        A context is about what was asked, so a name asked for is common in it, and rarity alone would
        make it weigh least. The words of one name share its weight.
        """
        counts = [sum(covers[i] > 0 for covers in self.covers.values()) for i in range(len(needs))]
        rarity = [math.log(1 + (1 + len(self.lines)) / (1 + count)) for count in counts]
        others = (r for w, r, n in zip(needs, rarity, counts, strict=True) if n and not w.terms & self.named)
        most = max(others, default=0.0)
        sharing = Counter(w.terms for w in needs)
        return [
            replace(w, weight=max(1.5 * r, most) / sharing[w.terms] if w.terms & self.named else r)
            for w, r in zip(needs, rarity, strict=True)
        ]

    def is_asked_for(self, line: Line) -> bool:
        """Return whether the question names a line's predicate, or the line tells a class."""
        return str(line.triple.p) == TYPE or any(self._is_relation(w, line) for w in self.needs)

    def _is_relation(self, need: Need, line: Line) -> bool:
        relation = self.stems[line.id][1]
        return need.stem in relation or bool(need.others & relation)

    def is_of_owner(self, line: Line, need: Need) -> bool:
        """Return whether a line tells of the owner of what is asked about: "the gender of Ada's children"."""
        nouns = self._owned.get(line.triple.s, frozenset())
        relation = self.stems[line.id][1]
        meant = nouns.union(*(OTHERS.get(one, frozenset()) for one in nouns))
        return bool(nouns) and need.stem not in nouns and not meant & relation and need.stem in relation

    def head_of(self, term: Term, *, alone: bool = False) -> str:
        """Return the stem of the last word of a label; nothing where it is to be `alone` and is not."""
        label = self._labels.get(term, ())
        return stem(label[-1]) if label and not (alone and len(label) > 1) else ""

    def joined(self, line: Line) -> frozenset[int]:
        """Return what a line covers by its predicate and its ends together: "blue" said of eyes."""
        value, (s, _, o) = self.stems[line.id][2], line.triple
        by_relation = {i for i, w in enumerate(self.needs) if self._is_relation(w, line)}
        ends = {i for i, w in enumerate(self.needs) if w.terms & {s, o} or w.stem in value}
        return frozenset(by_relation | ends) if by_relation and ends - by_relation else frozenset()

    def sought(self) -> tuple[str, ...]:
        """Return what was looked for, in the order of the question, the words of a name together."""
        texts: list[str] = []
        for same, some in groupby(self.needs, key=lambda w: w.terms):
            words = [w.word for w in some]
            texts += [" ".join(words)] if same else words
        return tuple(dict.fromkeys([*texts, *self.deeds]))

    def missing(self) -> tuple[str, ...]:
        """Return the words of the question that no line has."""
        covered = [any(covers[i] for covers in self.covers.values()) for i in range(len(self.needs))]
        return tuple(w.word for w, ok in zip(self.needs, covered, strict=True) if not (ok or w.by_predicate))


def _cover(wanted: Need, line: Line, stems: Stems) -> float:
    """Return how far a line covers a wanted word: 1 wholly, less by a synonym or a part of a name."""
    subject, relation, value = stems
    if wanted.by_predicate:
        relevant = wanted.others & relation or (wanted.naming and str(line.triple.p) in NAMING)
        return 0.9 if relevant and _is_told(wanted.asking, line, relation) else 0.0
    if wanted.asking and (wanted.stem in relation or wanted.others & relation):
        return 1.0 if _is_told(wanted.asking, line, relation) else 0.0
    if wanted.stem in relation or wanted.terms & {line.triple.s, line.triple.o}:
        return 1.0
    if wanted.stem in subject or wanted.stem in value:
        if describes(line) and wanted.stem not in subject:
            return 0.5
        if str(line.triple.p) == TYPE and wanted.stem in [stem(x.raw) for x in tokens(line.labels[2])[-1:]]:
            return 0.9  # a graph database is a database
        return 0.5 if wanted.terms else 1.0
    return 0.7 if _by_synonym(wanted, relation) else 0.0


def _asks_for_names(asked: Sequence[TextToken], i: int) -> bool:
    """Return whether a word asks what else something is called."""
    before = {word.key for word in asked[max(0, i - 3) : i]}
    return asked[i].key in _FURTHER_NAMES or (asked[i].key in _NAMES and bool(before & _FURTHER))


def _is_told(asking: str, line: Line, relation: frozenset[str]) -> bool:
    """Return whether the value of a line is of the kind that a word asks for: a place, a time, a number."""
    if _OTHERWISE.get(asking, frozenset()) & relation:
        return False
    if asking in ("when", "how"):
        return any(char.isdigit() for char in line.labels[2]) or bool(relation & _TIMES and asking == "when")
    if asking != "where":
        return True
    misplaced = "on" in keys(split_identifier(line.labels[1])) and bool(relation & _PLACED)
    datatype = getattr(line.triple.o, "datatype", None)
    return not misplaced and (datatype is None or str(datatype).endswith("string"))


def _by_synonym(wanted: Need, relation: frozenset[str]) -> bool:
    """Return whether a relation has a synonym of a word, or another form of it: "hired" in "hire date"."""
    return bool(wanted.others & relation) or any(alike(wanted.stem, word) for word in relation if wanted.stem)


@dataclass(frozen=True, slots=True)
class FactGroup:
    """What the context says of one subject in answer to the question."""

    subject: Term  # What it is about
    lines: tuple[Line, ...]  # The lines that cover most, in the order found
    covered: frozenset[int]  # Positions of the wanted words that they cover
    score: float  # Weight of what they cover
    joint: frozenset[frozenset[int]] = frozenset()  # What single lines cover by predicate and end together
    kind: float = 0.0  # Part of the score that is for being of the class asked for


@dataclass(frozen=True, slots=True)
class Selection:
    """The facts chosen for a question."""

    groups: tuple[FactGroup, ...] = ()  # Subjects with their lines, the best first; none if nothing matches
    many: bool = False  # Whether the question asks for a list
    missing: tuple[str, ...] = ()  # Words of the question that no line has
    unlinked: tuple[str, ...] = ()  # Names of the question that the context has, but no chosen line
    more: tuple[FactGroup, ...] = ()  # Further groups, for which there is no room
    partial: bool = False  # Whether they tell of what was named, but not what was asked of it
    sought: tuple[str, ...] = ()  # Words of the question that were looked for
    nearest: tuple[Line, ...] = ()  # The lines nearest to the question, where none answers it


class FactSelector:
    """Chooses facts of one context for one question."""

    def __init__(self, question: str, context: Context) -> None:
        self.question = question
        self.asked = QuestionNeeds(question, context)
        self.classes = self.asked.names.classes
        self.cut = bool(context.cut)
        self._of: dict[Term, list[Line]] = {}
        for line in context.lines:
            p, o = str(line.triple.p), str(line.triple.o)
            # Every class is a kind of its kind's kind, and is a class.
            if not ((p in SCHEMA and line.inferred) or (p == TYPE and o in META) or is_empty(line)):
                self._of.setdefault(line.triple.s, []).append(line)
        self._common = Counter(line.triple.o for lines in self._of.values() for line in lines)
        self._rank = {iri: i for i, iri in enumerate(context.entities)}
        self._order = {line.id: i for i, line in enumerate(context.lines)}

    def select(self) -> Selection:
        """Choose the subjects and lines that answer best."""
        # An image may be all that was asked with.
        by_rank = sorted((s for s in self._of if str(s) in self._rank), key=lambda s: self._rank[str(s)])
        defined = self._define() if self.question.strip() else by_rank[:3]
        if defined:
            count = _FACTS + 1 if len(defined) == 1 else _FACTS - 1
            filled = [self._fill(FactGroup(s, (), frozenset(), 1.0), count) for s in defined]
            best = tuple(self._without_repeats(filled))
            nearest = self._nearest([line for g in best for line in g.lines])
            partial, sought = bool(self.asked.deeds), self.asked.sought()
            return Selection(best, len(filled) > 1, partial=partial, sought=sought, nearest=nearest)
        groups = self._rank_groups()
        about = [g for g in groups if g.subject in self.asked.named]
        # The best group covers a name of the question, or much of its other words.
        strong = [self.asked.needs[i] for i in groups[0].covered] if groups else []
        much = 0.4 * sum(w.weight for w in self.asked.needs)
        enough = any(w.terms & self.asked.named for w in strong) or sum(w.weight for w in strong) >= much
        if not groups or not (about or enough):
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
            kept, met = self._meeting(kept)
            partial |= not met
        if not many:
            count = _FACTS - 1 if partial else _FACTS + 1
            kept = [self._fill(g, count) if self._is_only_named(g) else g for g in kept]
        chosen = [line for g in kept for line in g.lines]
        return Selection(
            tuple(kept[:_ENTITIES]), many, self.asked.missing(), self._unlink(chosen),
            tuple(kept[_ENTITIES:]), partial, self.asked.sought(), self._nearest(chosen),
        )  # fmt: skip

    # --- Groups ------------------------------------------------------------------------------------

    def _rank_groups(self) -> list[FactGroup]:
        """Return the groups that cover something, the best first."""
        subjects = [s for s in self._of if s not in self.asked.names.properties]
        if self.asked.comparing:
            subjects = [s for s in subjects if any(s in w.terms for w in self.asked.needs)]
        groups = [g for g in map(self._group, subjects) if g.score > 0]
        groups.sort(key=lambda g: (-g.score, self._rank.get(str(g.subject), 10**6), str(g.subject)))
        return groups

    def _group(self, subject: Term) -> FactGroup:
        """Cover the words of the question with as few lines about a subject as will do."""
        lines, near = self._within_reach(subject)
        got = [0.0] * len(self.asked.needs)
        chosen: list[Line] = []
        done: set[str] = set()
        total = sum(w.weight for w in self.asked.needs) or 1.0
        joint: set[frozenset[int]] = set()
        prose = False
        while len({x.triple.p for x in chosen}) < _FACTS:
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
                got[i] = max(got[i], *(self._coverage(i, x, near[x.id]) for x in taken))
        return self._score(subject, chosen, got, frozenset(j for j in joint if len(j) > 1))

    def _within_reach(self, subject: Term) -> tuple[list[Line], dict[str, float]]:
        """Return the lines about a subject and one step further, and how near each is, by its id."""
        lines = list(self._of[subject])
        near = {line.id: 1.0 for line in lines}
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
        if not self.asked.is_asked_for(line) and not any(far.triple.o in w.terms for w in self.asked.needs):
            return False  # what something else is like, that merely has to do with it
        # What holds of a class as such is not about its members.
        return first != TYPE or second in SCHEMA

    def _best(
        self, lines: Sequence[Line], near: dict[str, float], got: Sequence[float]
    ) -> tuple[Line | None, float]:
        """Return the line that adds most to what is covered, and how much it adds."""
        best, gain = None, 0.0
        for line in lines:
            covers = (self._coverage(i, line, near[line.id]) for i in range(len(got)))
            parts = zip(self.asked.needs, covers, got, strict=True)
            new = sum(w.weight * max(0.0, cover - before) for w, cover, before in parts)
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

    def _score(
        self, subject: Term, lines: Sequence[Line], got: Sequence[float], joint: frozenset[frozenset[int]]
    ) -> FactGroup:
        needs = self.asked.needs
        parts = [w.weight * g for w, g in zip(needs, got, strict=True)]
        # Asked about things, one answers with things; the schema is for want of better.
        score = sum(parts) * (0.7 if subject in self.classes else 1)
        score += 0.1 * sum(needs[i].weight for i in frozenset().union(*joint))
        covered = frozenset(i for i, g in enumerate(got) if g >= 0.5)
        kind = sum(part for w, part in zip(needs, parts, strict=True) if w.terms & self.asked.kinds)
        return FactGroup(subject, tuple(lines), covered, score, joint, kind)

    def _mostly_open(self, subject: Term, got: Sequence[float]) -> bool:
        """Return whether most of what is asked, beside the name of the subject, is still not covered."""
        rest = [(w.weight, g) for w, g in zip(self.asked.needs, got, strict=True) if subject not in w.terms]
        return sum(w * g for w, g in rest) < 0.5 * sum(w for w, _ in rest)

    def _coverage(self, i: int, line: Line, near: float) -> float:
        """Cover a word as part of an answer about the line's subject.

        "When was X released?" is not answered by the year of something that merely has to do with X.
        """
        wanted, cover = self.asked.needs[i], self.asked.covers[line.id][i]
        named = line.triple.o in wanted.terms and line.triple.o in self.asked.named
        if cover and named and not self.asked.is_asked_for(line):
            return (0.6 if self.asked.listy else 0.3) * near
        if self.asked.is_of_owner(line, wanted):
            return 0.0
        if near < 1 and wanted.terms & self.asked.named:
            return near * cover / 2  # a name one step away is hardly what was asked for
        return near * cover

    def _key(self, line: Line) -> tuple[bool, bool, int, float, int]:
        secondary = describes(line) or str(line.triple.p) in NAMING
        return secondary, line.inferred, -self._common[line.triple.o], -line.score, self._order[line.id]

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

    # --- Which of them answer ----------------------------------------------------------------------

    def _meeting(self, groups: list[FactGroup]) -> tuple[list[FactGroup], bool]:
        """Return the groups that tell of somebody, where that is asked for, and whether all of it is said."""
        asked = self.asked
        if asked.for_people and not asked.yes_or_no:
            # Somebody is told of who is not in the question.
            known, kinds = asked.named | self.classes, (TYPE, *SCHEMA)
            acting = [
                g for g in groups if any(_ends(x) - known for x in g.lines if str(x.triple.p) not in kinds)
            ]
            groups, complete = acting or groups, bool(acting)
        else:
            complete = True
        return groups, complete and not asked.unmet([line for g in groups for line in g.lines])

    def _nearest(self, lines: Sequence[Line]) -> tuple[Line, ...]:
        """Return the three lines that cover most of the question, short facts before descriptions."""
        needs = self.asked.needs

        def key(line: Line) -> tuple[bool, float, int]:
            covers = zip(needs, self.asked.covers[line.id], strict=True)
            return (describes(line), -sum(w.weight * c for w, c in covers), self._order[line.id])

        return tuple(sorted(dict.fromkeys(lines), key=key)[:3])

    def _may_count(self, groups: Sequence[FactGroup]) -> bool:
        """Return whether what was asked to be counted is told: a number, or all values of one thing.

        A context is bounded, so the things in it that are alike are never known to be all that there are.
        """
        if not _PATTERNS["counting"].search(self.question):
            return True
        numbers = (x.triple.o for g in groups for x in g.lines if isinstance(x.triple.o, Literal))
        all_of_one = groups[0].subject in self.asked.named and not self.cut
        return len(groups) == 1 and (all_of_one or any(str(x).replace(".", "").isdigit() for x in numbers))

    def _answers(self, named: FactGroup, best: FactGroup) -> bool:
        """Return whether a group about what the question names answers it, rather than the best one."""
        if named.score >= 0.9 * best.score or self.asked.yes_or_no:
            return True
        # The best one has every name of the question that the best answer could have.
        return not (self.asked.listy or self._names_covered(range(len(self.asked.needs))) <= best.covered)

    def _names_covered(self, places: Iterable[int]) -> frozenset[int]:
        """Return which of some wanted words are of names."""
        return frozenset(i for i in places if self.asked.needs[i].terms & self.asked.named)

    def _only_names(self, groups: Sequence[FactGroup]) -> bool:
        """Return whether groups tell of what was named, but not what was asked of it."""
        if self.asked.yes_or_no or not all(self._is_only_named(g) for g in groups):
            return False
        return bool(self.asked.deeds) or any(not w.terms & self.asked.named for w in self.asked.needs)

    def _as_good(self, groups: Sequence[FactGroup]) -> list[FactGroup]:
        """Return the best group and those as good: of its score, and with the same names of the question."""
        best = groups[0]
        names = self._names_covered(best.covered)
        like = [
            g
            for g in groups
            if _beyond_kind(g) >= 0.92 * _beyond_kind(best)
            and names <= g.covered
            # It, too, has in one line what the best has in one line.
            and all(any(j <= own for own in g.joint) for j in best.joint)
        ]
        # Of the class that "which" asks for, where there are some.
        # A graph database is a database; but what asks for graph databases does not ask for databases.
        kinds = self.asked.kinds
        heads = {self.asked.head_of(kind, alone=True) for kind in kinds} - {""}
        types = {g.subject: [x for x in self._of[g.subject] if str(x.triple.p) == TYPE] for g in like}
        of_kind = set()
        for subject, own in types.items():
            above = [y for x in own for y in self._of.get(x.triple.o, ()) if str(y.triple.p) in SCHEMA]
            ends = [x.triple.o for x in (*own, *above)]
            if any(end in kinds or self.asked.head_of(end) in heads for end in ends):
                of_kind.add(subject)
        if not of_kind:
            return like
        return [g for g in like if g.subject in of_kind or (not types[g.subject] and _beyond_kind(g) > 0)]

    def _define(self) -> list[Term]:
        """Return what "What is a triple store?" is about, or both sides of a comparison."""
        asked = self.asked
        terms = list(dict.fromkeys(w.terms for w in asked.needs))
        # A name alone asks what is said of it, too, and that may be what is said of others.
        if not terms or not (
            asked.defining or all(self._is_only_pointed_at(t) for each in terms for t in each)
        ):
            return []

        def key(term: Term) -> tuple[bool, int, str]:
            return term in asked.names.properties, self._rank.get(str(term), 10**6), str(term)

        known = [[t for t in each if t in self._of or self._is_only_pointed_at(t)] for each in terms]
        one = len(terms) == 1 or asked.comparing
        return [min(each, key=key) for each in known] if one and all(known) else []

    def _is_only_named(self, group: FactGroup) -> bool:
        """Return whether a group covers no more than the name of its subject."""
        own = {*content(self._of[group.subject][0].labels[0]), *self.asked.aliases.get(group.subject, ())}
        return all(self.asked.needs[i].stem in own for i in group.covered)

    # --- Their lines -------------------------------------------------------------------------------

    def _fill(self, group: FactGroup, max_facts: int) -> FactGroup:
        """Return a group with the lines that describe its subject best."""
        predicates: dict[Term, list[Line]] = {}
        for line in sorted(self._of.get(group.subject, ()), key=self._telling_order):
            predicates.setdefault(line.triple.p, []).append(line)
        kept: list[Line] = []
        for lines in list(predicates.values())[:max_facts]:
            if str(lines[0].triple.p) == TYPE:
                lines = [x for x in lines if not x.inferred][:3] or lines[:2]
            kept.extend(lines[: 1 if describes(lines[0]) else 5])
        if all(str(line.triple.p) == TYPE for line in kept):
            kept += sorted(self._pointing_at(group.subject), key=self._telling_order)[:max_facts]
        return replace(group, lines=tuple(kept))

    def _pointing_at(self, thing: Term) -> list[Line]:
        """Return the lines that tell of other things by naming this one; what is in a class does not."""
        if thing in self.asked.names.classes or thing in self.asked.names.properties:
            return []
        silent = (TYPE, *SCHEMA, *NAMING)
        return [x for x in self.asked.lines if x.triple.o == thing and str(x.triple.p) not in silent]

    def _is_only_pointed_at(self, thing: Term) -> bool:
        return thing not in self._of and not isinstance(thing, Literal) and bool(self._pointing_at(thing))

    def _telling_order(self, line: Line) -> tuple[int, bool, float, int]:
        p, o = str(line.triple.p), line.triple.o
        kind = 0 if p == TYPE else 1 if describes(line) else 5 if p in NAMING else 2
        if kind == 2 and isinstance(o, Literal):
            kind = 3
        if _PATTERNS["file"].search(line.labels[2]):
            kind = 4
        return (kind, line.inferred, -line.score, self._order[line.id])

    def _without_repeats(self, groups: Iterable[FactGroup]) -> list[FactGroup]:
        """Return groups without lines that repeat others the other way round, and without empty groups."""
        said: set[frozenset[Term]] = set()
        kept = []
        for group in groups:
            new = tuple(x for x in group.lines if _ends(x) not in said)
            said.update(map(_ends, new))
            kept += [replace(group, lines=new)] if new else []
        return kept

    def _unlink(self, chosen: Sequence[Line]) -> tuple[str, ...]:
        names: dict[str, None] = {}
        ends = frozenset[Term]().union(*map(_ends, chosen)) - self.classes
        near = ends.union(*(_ends(x) for x in self.asked.lines if _ends(x) & ends))
        for wanted in self.asked.needs:
            if wanted.terms & self.asked.named and not wanted.terms & near:
                of_it = (x for x in self.asked.lines if wanted.terms & _ends(x))
                labels = (x.labels[0 if x.triple.s in wanted.terms else 2] for x in of_it)
                names[next(labels, wanted.word)] = None
        return tuple(names)


def _ends(line: Line) -> frozenset[Term]:
    return frozenset([line.triple.s, line.triple.o])


def _beyond_kind(group: FactGroup) -> float:
    """Score a group without the class that "which" asks for, which contexts often leave out."""
    return group.score - group.kind
