"""What a question wants of a context: words to be covered, how much each weighs, and what covers them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from rdflib import Literal

from mrag.context.render import Context, Line
from mrag.generation.support.mentions import NAMING, ContextNames, TermMention, is_person
from mrag.generation.support.possession import owned
from mrag.generation.verbalise import TYPE, describes
from mrag.rdf.terms import RDFS, Term
from mrag.text.names import split_identifier
from mrag.text.tokens import (
    AGENTS,
    DEEDS,
    LIGHT,
    OTHERS,
    PREPOSITIONS,
    VAGUE,
    TextToken,
    alike,
    content,
    keys,
    language_of,
    plain,
    stem,
    tokens,
    words,
)

_VAGUE = frozenset(stem(word) for word in VAGUE)
_LIGHT = frozenset(stem(word) for word in LIGHT)
_AGENTS = frozenset(stem(word) for word in AGENTS)
_PLACES, _TIMES = (
    frozenset(map(stem, words(said)))
    for said in ("place city country region address location", "year date time age")
)
_OTHERWISE = {"where": _TIMES, "when": _PLACES, "who": _TIMES | _PLACES, "how": _PLACES}
"""Words of relations that tell of another kind than an asking word wants: a birth year is nowhere."""
_PLACED = frozenset(map(stem, words("based located situated headquartered")))
_PARTS = frozenset(map(stem, words("contains consists ingredient material component part")))
_DOING = words("what which who where when why how whom whose")
_DEEDS = DEEDS | {f"{verb}s" for verb in DEEDS}
_HOW = {
    "tall": "height", "high": "height", "heavy": "mass", "old": "birth", "big": "size", "large": "size",
    "long": "length", "fast": "speed", "far": "distance", "expensive": "price",
}  # fmt: skip
_ASKING = {"where": "where", "when": "when", "wo": "where", "wann": "when", "dove": "where", "quando": "when"}
_IMPLIED = {"who": ("by",), "whom": ("by",), "where": ("in", "at"), "when": ("in", "on", "at")}
_AT_PLACES = frozenset(("in", "at", "near"))
"""Prepositions that end relations to where something is."""
_FURTHER_NAMES = words("synonym synonyms alias aliases nickname nicknames")
_NAMES = words("name names called known term terms")
_FURTHER = words("another other else also alternative alternate")
_WHICH = words("which what list many welche welcher quali quels quelles")
_LISTY = re.compile(
    r"\b(?:which|list|all|every|any|how many|welche\w*|quali|quels|quelles|cuáles"
    r"|what (?!is\b|are\b|was\b|were\b|does\b|do\b|did\b|can\b|has\b|have\b))\b",
    re.I,
)
_CONTRACTED = re.compile(r"\w+(?:n't|'(?:d|ll|re|ve|m))\Z")
_COUNTING = re.compile(r"\b(?:how many|number of|count|wie ?viele|quanti|quante|combien)\b", re.I)
_YES_OR_NO = re.compile(
    r"\s*(?:is|are|was|were|does|do|did|has|have|had|can|could|ist|sind|hat|haben|kann|è|sono|est)\b", re.I
)
_COMPARING = re.compile(r"\b(?:differen(?:ce|t)|differs?|compared?|comparison|versus|vs)\b", re.I)
_DEFINING = re.compile(
    r"\s*(?:(?:what|who|wer|was|chi|qui|quién)(?:['’]s| is| are| ist| sind| was| è| est| es)\b"
    r"|(?:please )?(?:tell|describe|explain|define|what does)\b|(?:cos['’]è|qu['’]est)|\w+ (?:me )?about\b)",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Need:
    """One thing that a question wants covered.

    Attributes:
        word: The word as written.
        stem: Its stem.
        others: Stems of predicates that will do as well.
        terms: What the word names, alone or with its neighbours, in the context.
        weight: How much covering it counts.
        by_predicate: Whether only a predicate can cover it: "where", "how tall".
        kind: Whether it says only of which kind something else is: "the film Alien", "which films".
        asking: `where`, `when` or `how`, if that is the word or what the word is of.
        naming: Whether further names are what it asks for.
    """

    word: str
    stem: str
    others: frozenset[str]
    terms: frozenset[Term]
    weight: float = 1.0
    by_predicate: bool = False
    kind: bool = False
    asking: str = ""
    naming: bool = False


def asks_for_count(question: str) -> bool:
    """Return whether a question asks for a number of things.

    Example:
        >>> asks_for_count("How many databases are there?"), asks_for_count("How tall is it?")
        (True, False)
    """
    return bool(_COUNTING.search(question))


class QuestionNeeds:
    """A question, read against one context.

    Args:
        question: What was asked.
        context: Where the answer is to be found.

    Attributes:
        needs: What is to be covered, in the order of the question.
        named: Things that the question names; no classes, relations or values.
        kinds: Classes that "which …" asks for.
        listy: Whether several things may be asked for.
        yes_or_no: Whether the question is one of whether.
        defining: Whether it asks what something is.
        comparing: Whether it asks in what things differ.
        for_people: Whether it asks who.
        keywords: Whether it is no sentence, so that whatever has all its words answers it.
        deeds: Vague verbs that say what is asked of what it names, where no other word does.
        english: Whether it is in English, whose words are compared with those of relations.
    """

    def __init__(self, question: str, context: Context) -> None:
        self.lines = context.lines
        self.names = ContextNames(context.lines)
        self.aliases: dict[Term, set[str]] = {}
        for line in context.lines:
            if str(line.triple.p) in NAMING:
                self.aliases.setdefault(line.triple.s, set()).update(content(str(line.triple.o)))
        self._above: dict[Term, set[str]] = {}
        for line in context.lines:
            if str(line.triple.p) == RDFS + "subPropertyOf":
                self._above.setdefault(line.triple.s, set()).update(content(line.labels[2]))
        self._labels = {x.triple.o: keys(x.labels[2]) for x in context.lines}
        self._labels |= {x.triple.s: keys(x.labels[0]) for x in context.lines}
        self.stems = {line.id: self._stems(line) for line in context.lines}
        self.listy = bool(_LISTY.search(question))
        self.yes_or_no = bool(_YES_OR_NO.match(question))
        self.comparing = bool(_COMPARING.search(question))
        self.defining = self.comparing or bool(_DEFINING.match(question))
        self.english = language_of(question) == "en"
        asked = tokens(question)
        self.for_people = self.english and any(word.key in ("who", "whom") for word in asked)
        does = self.english and bool(asked) and (asked[0].key in _DOING or bool(_YES_OR_NO.match(question)))
        self.keywords = self.english and not does and {word.key for word in asked}.isdisjoint(_DOING)
        self.deeds = tuple(word.raw for word in asked[1:] if does and word.key in _DEEDS)
        self.small = {word.key for word in asked if word.key in PREPOSITIONS}
        self.small |= {implied for word in asked for implied in _IMPLIED.get(word.key, ())}
        mentions = [m for m in self.names.find(question, asked) if m.first >= 0]
        self.kinds = self._kinds(asked, mentions)
        common = self.names.classes | self.names.properties
        things = [m for m in mentions if not m.terms <= common]
        self._owned = {t: owned(question, asked, m, things) for m in things for t in m.terms}
        found = self._want(question, asked, mentions)
        self.named = frozenset(t for w in found for t in w.terms if self._is_name(t))
        self.covers = {line.id: [_cover(w, line, self.stems[line.id]) for w in found] for line in self.lines}
        self.needs = self._with_weights(found)

    def _is_name(self, term: Term) -> bool:
        common = self.names.classes | self.names.properties
        return not (term in common or isinstance(term, Literal))

    def _names_thing(self, mention: TermMention) -> bool:
        return any(map(self._is_name, mention.terms))

    def unmet(self, lines: Sequence[Line]) -> list[Need]:
        """Return what the question wants said that none of some lines says, in its relation or by its ends.

        Args:
            lines: What would be told.
        """
        met = [any(self.covers[x.id][i] > 0 for x in lines) for i in range(len(self.needs))]
        related = any(
            (w.by_predicate and not w.kind) or any(self._in_relation(w, x) for x in lines)
            for w, ok in zip(self.needs, met, strict=True)
            if ok
        )
        typed = any(ok and w.terms & self.kinds for w, ok in zip(self.needs, met, strict=True))
        return [
            w
            for w, ok in zip(self.needs, met, strict=True)
            if not ok
            and not ((related or typed) and w.stem in _LIGHT)
            and not (related and w.kind and not any(self._in_relation(w, x) for x in self.lines))
        ]

    def _in_relation(self, need: Need, line: Line) -> bool:
        relation = self.stems[line.id][1]
        return need.stem in relation or _by_synonym(need, relation)

    def may_act(self, line: Line, term: Term, about: Sequence[Line]) -> bool:
        """Return whether an end of a line may be what "who" asks for: people, or what acts as they do.

        Args:
            line: The line.
            term: Its subject or object.
            about: What else is said of the term; what nothing is said of may be anybody.
        """
        if isinstance(term, Literal):
            return term.datatype is None or str(term.datatype).endswith("string")
        relation = self.stems[line.id][1]
        last = keys(split_identifier(line.labels[1]))[-1:]
        if term == line.triple.o and (relation & _OTHERWISE["who"] or set(last) & _AT_PLACES):
            return False  # where something is, is nobody
        types = [x for x in about if str(x.triple.p) == TYPE]
        by = last == ("by",) and term == line.triple.o
        kinds = {one for x in types for one in content(x.labels[2])}
        return by or not types or is_person(about) or bool(kinds & _AGENTS)

    def _stems(self, line: Line) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
        s, p, o = line.triple
        relation = content(split_identifier(line.labels[1]))
        # "home world" may be asked for as "homeworld"
        compounds = [a + b for a, b in pairwise(relation)]
        return (
            frozenset(content(line.labels[0])).union(self.aliases.get(s, ())),
            # What has a feature is linked to it, where the ontology says so.
            frozenset([*relation, *compounds]).union(self._above.get(p, ())),
            frozenset(content(line.labels[2])).union(self.aliases.get(o, ())),
        )

    def _kinds(self, asked: Sequence[TextToken], mentions: Sequence[TermMention]) -> frozenset[Term]:
        which = next((i for i, word in enumerate(asked) if word.key in _WHICH), None)
        if which is None:
            return frozenset()
        near = (m for m in mentions if m.terms & self.names.classes and 0 < m.first - which <= 4)
        first = next(near, None)
        return first.terms & self.names.classes if first else frozenset()

    def _want(self, question: str, asked: Sequence[TextToken], mentions: Sequence[TermMention]) -> list[Need]:
        language = language_of(question)
        useful = set(content(question, language))
        place = {i: m for m in mentions for i in range(m.first, m.last)}
        pairs = [(a, b, stem(a.raw) + stem(b.raw)) for a, b in pairwise(asked)]
        found: dict[str, Need] = {}
        for i, word in enumerate(asked):
            how = _HOW.get(word.key) if i and asked[i - 1].key == "how" else None
            asking = _ASKING.get(word.key, "how" if how else "")
            if self.english and _asks_for_names(asked, i):
                same = Need(word.raw, "", frozenset([stem(word.raw)]), frozenset(), 1.0, True, naming=True)
                found.setdefault("?names", same)
                continue
            if asking or how:
                others = OTHERS.get(stem(how or asking), frozenset()) | ({stem(how)} if how else set())
                need = Need(word.raw, "", others, frozenset(), by_predicate=True, asking=asking)
                found.setdefault(f"?{word.key}", need)
                continue
            key = stem(word.raw)
            mention = place.get(i)
            vague = mention is None and language == "en" and key in _VAGUE
            if vague or key not in useful or _CONTRACTED.match(word.key):
                continue
            others = OTHERS.get(key, frozenset()) - {key}
            if word.key == "made" and asked[i + 1 : i + 2] and asked[i + 1].key in ("of", "from"):
                others = _PARTS
            others |= {joined for a, b, joined in pairs if word in (a, b)}
            terms = mention.terms if mention else frozenset()
            # "the film Alien" and "which films" say what kind of thing is named, or asked for.
            of_kind = (
                i + 1 in place and self._names_thing(place[i + 1]) and place.get(i) != place[i + 1]
            ) or (i > 0 and asked[i - 1].key in _WHICH and key not in _TIMES)
            placed = "where" if key in _PLACED and "on" not in self.small else ""
            found.setdefault(key, Need(plain(word.raw), key, others, terms, kind=of_kind, asking=placed))
        return list(found.values())

    def _with_weights(self, found: Sequence[Need]) -> list[Need]:
        """Set the weights of words by their rarity in the context, and names above all others.

        A context is about what was asked, so a name asked for is common in it, and rarity alone would
        make it weigh least. The words of one name share its weight.
        """
        total = len(self.lines)
        counts = [sum(1 for covers in self.covers.values() if covers[i] > 0) for i in range(len(found))]
        rarity = [math.log(1 + (1 + total) / (1 + count)) for count in counts]
        naming = [bool(w.terms & self.named) for w in found]
        most = max((r for r, n, c in zip(rarity, naming, counts, strict=True) if c and not n), default=0.0)
        weighed = []
        for w, r, name in zip(found, rarity, naming, strict=True):
            same = sum(1 for x in found if x.terms == w.terms)
            weighed.append(replace(w, weight=max(1.5 * r, most) / same if name else r))
        return weighed

    def asked_for(self, line: Line) -> bool:
        """Return whether the question names a line's predicate, or the line tells a class."""
        relation = self.stems[line.id][1]
        return str(line.triple.p) == TYPE or any(
            w.stem in relation or w.others & relation for w in self.needs
        )

    def is_of_owner(self, line: Line, need: Need) -> bool:
        """Return whether a line tells of the owner of what is asked about: "the gender of Ada's children"."""
        nouns = self._owned.get(line.triple.s, frozenset())
        relation = self.stems[line.id][1]
        meant = nouns.union(*(OTHERS.get(one, frozenset()) for one in nouns))
        return bool(nouns) and need.stem not in nouns and not meant & relation and need.stem in relation

    def strangeness(self, line: Line) -> int:
        """Count the small words of a predicate that the question does not have: "who" asks for "by"."""
        small = {key for key in keys(split_identifier(line.labels[1])) if key in PREPOSITIONS}
        return len(small - self.small)

    def head_of(self, term: Term) -> str:
        """Return the stem of the last word of a term's label."""
        label = self._labels.get(term, ())
        return stem(label[-1]) if label else ""

    def is_one_word(self, term: Term) -> bool:
        """Return whether a term's label is one word."""
        return len(self._labels.get(term, ())) == 1

    def joined(self, line: Line) -> frozenset[int]:
        """Return what a line covers by its predicate and its ends together: "blue" said of eyes."""
        _, relation, value = self.stems[line.id]
        s, _, o = line.triple
        by_relation, by_ends, own = set(), set(), set()
        for i, w in enumerate(self.needs):
            if w.stem in relation or w.others & relation:
                by_relation.add(i)
            elif s in w.terms:
                own.add(i)
            elif w.stem in value or o in w.terms:
                by_ends.add(i)
        if not by_relation or not (by_ends or own):
            return frozenset()
        return frozenset(by_relation | by_ends | own)

    def sought(self) -> tuple[str, ...]:
        """Return what was looked for, in the order of the question, the words of a name together."""
        found: list[tuple[frozenset[Term], str]] = []
        for w in self.needs:
            if w.terms and found and found[-1][0] == w.terms:
                found[-1] = (w.terms, f"{found[-1][1]} {w.word}")
            else:
                found.append((w.terms, w.word))
        return tuple(dict.fromkeys([*(word for _, word in found), *self.deeds]))

    def missing(self) -> tuple[str, ...]:
        """Return the words of the question that no line has."""
        return tuple(
            w.word
            for i, w in enumerate(self.needs)
            if not w.by_predicate and not any(covers[i] for covers in self.covers.values())
        )


def _cover(wanted: Need, line: Line, stems: tuple[frozenset[str], frozenset[str], frozenset[str]]) -> float:
    """Return how far a line covers a wanted word: 1 wholly, less by a synonym or a part of a name."""
    subject, relation, value = stems
    if wanted.by_predicate:
        told = wanted.others & relation or (wanted.naming and str(line.triple.p) in NAMING)
        return 0.9 if told and _is_told(wanted.asking, line, relation) else 0.0
    if wanted.asking and (relation & {wanted.stem} or wanted.others & relation):
        return 1.0 if _is_told(wanted.asking, line, relation) else 0.0
    if wanted.stem in relation or wanted.terms & {line.triple.s, line.triple.o}:
        return 1.0
    if wanted.stem in subject or wanted.stem in value:
        if describes(line) and wanted.stem not in subject:
            return 0.5
        if str(line.triple.p) == TYPE and _head(line.labels[2]) == wanted.stem:
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
    value_is = line.triple.o.datatype if isinstance(line.triple.o, Literal) else None
    said = {key for key in keys(split_identifier(line.labels[1])) if key in PREPOSITIONS}
    misplaced = "on" in said and bool(relation & _PLACED)
    return not misplaced and (value_is is None or str(value_is).endswith("string"))


def _by_synonym(wanted: Need, relation: frozenset[str]) -> bool:
    """Return whether a relation has a synonym of a word, or another form of it: "hired" in "hire date"."""
    return bool(wanted.others & relation) or any(alike(wanted.stem, word) for word in relation if wanted.stem)


def _head(label: str) -> str:
    found = tokens(label)
    return stem(found[-1].raw) if found else ""
