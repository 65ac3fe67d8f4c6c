"""Whether a plan says all that its question says, and nothing else, however the plan was made.

Each word of a question is a function word, a number or a time, a word that says how to compute, a name, a
verb or another word that carries meaning. Each but the first has its counterpart in the plan: a name of a
property, of a class, of a thing, a value, a number, an operation, a column. A word is what an element of the
plan goes by if it is a form of a word of its names, a synonym, or is matched by the lexicon. What is left
over is named, and nothing is given as computed then. What may well be said otherwise is told apart: verbs,
where the relations of the plan are named by other words or by what is at both ends; the end of a name that
is read; and what is near in meaning to a name. What is told of, and its kind, is held against what is asked
for, by the plan and then by the rows.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, pairwise, permutations
from pathlib import Path
from typing import Final

from rdflib import RDF, RDFS, SKOS, Literal, URIRef

from mrag._patterns import compile_late
from mrag.context.display import Display
from mrag.graph.kg import KnowledgeGraph
from mrag.language.english import (
    AUXILIARIES,
    CONVERSES,
    DIMENSIONS,
    is_done,
    is_role,
    positive,
    root,
    synonym_roots,
)
from mrag.language.tokens import (
    AGENTS,
    LIGHT,
    PERSON_WORDS,
    PREPOSITIONS,
    VERBS,
    alike,
    is_stopword,
    stem,
    tokens,
    words,
    words_in,
)
from mrag.planning.lexical import Candidate
from mrag.planning.lexical.names import lacks_names
from mrag.planning.lexicon import Lexicon
from mrag.planning.plan import (
    Aggregate,
    Arithmetic,
    Block,
    Column,
    Comparison,
    Contains,
    DatePart,
    Days,
    Expression,
    Number,
    Pattern,
    Plan,
    Scalar,
    Unknown,
)
from mrag.planning.profiling import classes_of, kind_property, schema_of
from mrag.planning.reader.quantities import MeasureUnit, amounts_in, converted, is_measured_in, unit_called
from mrag.planning.reader.units import Unit, meanings, units_of
from mrag.planning.readings import FoundReading, Reading
from mrag.planning.run import PlanResult, run
from mrag.planning.schema import PropertyInfo, Schema, ancestors, most_of
from mrag.planning.scopes import walk, with_classes, with_subclasses
from mrag.rdf import queries

_NUMBER: Final = compile_late(r"\d+(?:\.\d+)?")


@dataclass
class PlanUse:
    """What a plan uses, wherever in it that stands."""

    plan: Plan  # The plan
    schema: Schema  # The schema of the graph
    shown: tuple[Expression, ...]  # Values of the columns that are told
    properties: set[str] = field(default_factory=set)  # IRIs of the properties
    classes: set[str] = field(default_factory=set)  # IRIs of the classes
    things: set[str] = field(default_factory=set)  # IRIs of the things that are named
    texts: set[str] = field(default_factory=set)  # Texts of the values that are named, and sought in others
    # Numbers and parts of dates that are named, and how many rows there are to be
    numbers: set[float] = field(default_factory=set)
    # What is computed: folds, "order", operations of arithmetic, parts of dates, "days", relations of
    # comparisons, "without" and "either"
    done: set[str] = field(default_factory=set)
    # All triples; `plans`, `comparisons` are all plans and comparisons, and `bounds` what of them, and of
    # what texts are sought in, is held against a constant
    patterns: list[Pattern] = field(default_factory=list)
    plans: list[Plan] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)
    bounds: list[tuple[Set[Unknown], Literal]] = field(default_factory=list)

    @classmethod
    def of(cls, plan: Plan, shown: Sequence[str], schema: Schema) -> PlanUse:
        """Return what a plan uses of a graph of which some columns are told."""
        plan = with_classes(plan, schema.said_by)
        told = tuple(c.value for c in plan.columns if c.name in shown)
        use = cls(plan, schema, told or tuple(c.value for c in plan.columns))
        for part in walk(plan):
            use._take(part)
        # What stands for a way over properties is used where the plan goes all of it.
        use.properties |= {p.iri for p in schema.properties.values() if p.way and use.goes(p.way)}
        use.classes |= {c.iri for c in schema.classes.values() if c.way and use.goes(c.way)}
        sorts = [c.value for p in use.plans for o in p.order for c in p.columns if c.name == o.column]
        dated = {p for p in use.properties if p in schema.properties and schema.properties[p].kind == "date"}
        if any(isinstance(s, Unknown) and not use.is_number(s) and not use.told_by(s) & dated for s in sorts):
            use.done.add("alphabet")
        return use

    def _take(self, part: object) -> None:
        match part:
            case Pattern(subject, predicate, value):
                self.patterns.append(part)
                self._constant(subject)
                if predicate == RDF.type:
                    self.classes.add(str(value))
                else:
                    self.properties.add(str(predicate))
                    self._constant(value)
            case Comparison(left, relation, right):
                self.comparisons.append(part)
                self.done.add(relation)
                self._constant(left)
                self._constant(right)
                if isinstance(right, Literal):
                    self.bounds.append((self.unknowns(left), right))
            case Contains(text=tag, position="language"):
                self.done.add(f"lang:{tag}")
            case Contains(value=value, text=text):
                self.done.add("contains")
                self._constant(Literal(text))
                self.bounds.append((self.unknowns(value), Literal(text)))
            case Aggregate(function=function):
                self.done.add(function)
            case Arithmetic(left, operation, right):
                # To scale a unit is no quotient.
                scaled = operation == "/" and isinstance(right, Literal)
                self.done.add("scaled" if scaled else operation)
                self._constant(left)
                self._constant(right)
            case Days():
                self.done.add("days")
            case DatePart(part=name):
                self.done.add(name)
            case Block(without=without, either=either):
                self.done |= {"without"} if without else set()
                self.done |= {"either"} if either else set()
            case Plan(order=order, limit=limit, offset=offset):
                self.plans.append(part)
                self.done |= {"order"} if order else set()
                if limit is not None:
                    self.numbers |= {float(limit), float(offset + 1), float(offset + limit)}

    def goes(self, way: Sequence[str]) -> bool:
        """Return whether triples of the plan follow a way, as `PropertyInfo.way` tells it."""
        places: set[object] = {end for p in self.patterns for end in (p.subject, p.object)}
        for step in way:
            iri, _, term = step.removeprefix("!").removeprefix("^").partition("\t")
            back = step.removeprefix("!")[0] == "^"
            some = [p for p in self.patterns if str(p.predicate) == iri]
            if term:
                places &= {p.subject for p in some if str(p.object) == term}
            else:
                ends = ((p.object, p.subject) if back else (p.subject, p.object) for p in some)
                places = {end for start, end in ends if start in places}
        return bool(places)

    def _constant(self, value: object) -> None:
        if isinstance(value, URIRef):
            self.things.add(str(value))
        elif isinstance(value, Literal):
            text = str(value)
            self.numbers |= {float(n) for n in _NUMBER.findall(text.replace(",", ""))[:12]}
            if not isinstance(value.value, int | float):
                self.texts.add(text)

    def infos(self, iris: Iterable[str]) -> Iterator[PropertyInfo]:
        """Yield what is known of those of some IRIs that are properties."""
        return (self.schema.properties[p] for p in sorted(iris) if p in self.schema.properties)

    def kinds(self, place: object) -> set[str]:
        """Return the classes that the values of an unknown are in, as far as the plan tells."""
        said = {str(p.object) for p in self.patterns if p.subject == place and p.predicate == RDF.type}
        if said:
            return said
        found: list[set[str]] = []
        for p in self.patterns:
            info = self.schema.properties.get(str(p.predicate))
            if info is not None and place in (p.subject, p.object):
                some = info.domains if p.subject == place else info.ranges
                found.append({cls for cls in some if cls})
        both = set.intersection(*found) if found else set()
        return both or set().union(*found)

    def unknowns(self, value: Expression) -> set[Unknown]:
        """Return the unknowns that a value is made of."""
        return {part for part in walk(value) if isinstance(part, Unknown)}

    def told_by(self, *unknowns: object) -> set[str]:
        """Return the properties whose values unknowns stand for."""
        return {str(p.predicate) for p in self.patterns if p.object in unknowns and p.predicate != RDF.type}

    def inner(self, unknown: Unknown) -> list[Expression]:
        """Return what the columns of plans within are that an unknown is called like."""
        found = [c.value for plan in self.plans for c in plan.columns if c.name == unknown.name]
        return [value for value in found if unknown not in self.unknowns(value)]

    def is_number(self, value: Expression) -> bool:
        """Return whether a value is a number, as far as the plan tells."""
        match value:
            case Aggregate(function="minimum" | "maximum", value=inner) if inner is not None:
                return self.is_number(inner)
            case Aggregate() | Arithmetic() | Days() | Number():
                return True
            case Scalar(plan):
                return self.is_number(plan.columns[0].value)
            case DatePart(part=part):
                return part in ("year", "quarter", "month", "day", "hour")
            case Literal():
                return isinstance(value.value, int | float)
            case Unknown():
                told = self.infos(self.told_by(value))
                return any(i.kind == "number" or i.text_numbers for i in told) or any(
                    self.is_number(v) for v in self.inner(value)
                )
        return False

    def class_of(self, value: Expression) -> str:
        """Return the class of the things that a value is, "" where it is a literal or nothing tells."""
        kinds = self.kinds(value) if isinstance(value, Unknown) else set()
        classes = self.schema.classes
        return most_of({c: classes[c].count for c in kinds if c in classes})


def folds(value: Expression) -> bool:
    """Return whether a value is folded of several."""
    return any(isinstance(part, Aggregate) for part in walk(value))


_NEAR: Final = 0.45  # How near in meaning a word is to a name that may stand for it, as a cosine
_VERY_NEAR: Final = 0.67  # The same of what is asked for
_AKIN: Final = 0.3  # The same of a noun that tells no thing from another to a name that the graph has
_ALIKE: Final = 0.55  # The same of what a name of the plan is to words of the question
_RARE: Final = 1000  # Triples of a relation to one with a value that is no restriction
_LONG: Final = 12  # Words of a name that are looked at; what is longer is a text
_SURE: Final = 0.9
_CLEAR: Final = 0.6
_ROWS: Final = 20  # Rows whose kinds are looked at
_DESCRIBED: Final = 100  # Things whose texts are looked at for what they say that these are
_TRIPLES: Final = 5_000  # Triples of these
_STOREYS: Final = 4  # How far above them names are looked for
_FACTORS: Final = (1.0, 7.0, 12.0, 24.0, 60.0, 100.0, 365.0, 1e3, 3_600.0, 86_400.0, 604_800.0, 1e6)
"""What numbers differ by in other units."""
_YEARS: Final = range(1000, 2200)

_TABLE: Final[Mapping[str, frozenset[str]]] = {
    role: words(some)
    for role, some in (
        line.split("\t")
        for line in Path(__file__).with_name("accounting.tsv").read_text(encoding="utf-8").splitlines()
        if line[0] != "#"
    )
}
"""Words by what they do where a question is held against a plan."""
_DONE: Final = {role.removeprefix("done: "): some for role, some in _TABLE.items() if role[:6] == "done: "}
"""Words that an operation goes by, beside those that ask for it."""
_LIGHT: Final = frozenset(map(root, LIGHT | _TABLE["light"]))
_VERB_ROOTS: Final = frozenset(map(root, VERBS))
_FUNCTION: Final = PREPOSITIONS | _TABLE["function"]
_GENERAL: Final = _TABLE["general"]  # Heads of nouns that may be asked for of any thing
_QUESTION_WORDS: Final = _TABLE["question"]
_IMPERATIVES: Final = _TABLE["imperative"]
_BEFORE_VERBS: Final = words(
    "to not never who that do does did has have had being can could will would they i"
)
_BEFORE_NOUNS: Final = words("the a an each every any all some no their its his her what of")
_ENDS: Final = PREPOSITIONS | AUXILIARIES | (_QUESTION_WORDS - {"what"}) | words(
    "that than both each per as can could will would if among not be been having named called or"
)  # fmt: skip
"""Words that end the noun that is asked for."""
_NOT: Final = words("not no never without none")
_MORE: Final = words("more less fewer")
_HAVING: Final = words("with has have having had")
_DEGREES: Final = words("more most less least")
_PLACES: Final = frozenset(map(root, _TABLE["place"]))
_TIMES: Final = frozenset(map(root, _TABLE["time"]))
_PERSONAL: Final = frozenset(map(root, _TABLE["personal"]))
_SPANS: Final = words("days year month day weekday hour clock / -")
"""Operations on times, and by which two numbers are one."""


_HOW: Final = compile_late(
    r"(?i),? (?:rounded|based on joining|by doing|by joining)\b[^.?]{0,200}"
    r"\b(?:decimals?|digits?|places|joins?|tables?)\b"
)
"""What says how to compute, and not what."""


_CODED: Final = compile_late(r"[\d=:(;,]")  # What stands in a comment before what codes stand for


@dataclass(frozen=True)
class Gap:
    """What a question has and its plan has not, or the other way round."""

    words: str  # Words of the question, or what the plan names
    kind: str  # What is missing, or what is there and not asked for
    loose: bool = False  # Whether it may well be said otherwise
    # What may be called so by the graph: a thing, or "" what is told; None where nothing may
    kindred: str | None = None


@dataclass(frozen=True)
class Verdict:
    """What a plan leaves out of its question, and what it adds to it."""

    gaps: tuple[Gap, ...] = ()  # Each with the words that it is about
    loose: tuple[Gap, ...] = ()  # Those that may well be said otherwise

    @property
    def words(self) -> tuple[str, ...]:
        """Return the words that the gaps are about, each once."""
        return tuple(dict.fromkeys(gap.words for gap in self.gaps))

    @property
    def missing(self) -> tuple[str, ...]:
        """Return those words without whose counterpart a plan cannot be what was asked for."""
        return tuple(dict.fromkeys(gap.words for gap in self.gaps if gap.kindred is None))

    @property
    def described(self) -> dict[str, str]:
        """Return the other words, with the thing that the graph has to describe so, "" for what is told."""
        return {gap.words: gap.kindred for gap in self.gaps if gap.kindred is not None}


class _Sides:
    """A question and a plan side by side."""

    def __init__(self, question: str, use: PlanUse, lexicon: Lexicon, before: PlanUse | None) -> None:
        self.use, self.lexicon, self.schema, self.before = use, lexicon, lexicon.schema, before
        self._said: dict[str, Set[int]] = {}
        self.words = tokens(question)
        low = [t.raw.lower().replace("\u2019", "'").removesuffix("'s") for t in self.words]
        self.low = ["id" if w == "ids" else w for w in low]
        self.roots = [root(w) for w in self.low]
        # The very call of what reads the question: its names are looked for once.
        self.mentions = lexicon.match(self.words, question)
        units = units_of(lexicon, question, self.words, self.mentions)
        every = [u for u in units if u.kind == "cue" and u.cue in _TABLE["cues"]]
        self.cues = [c for c in every if not any(_is_within(c, o) for o in every)]
        done = (u for u in units if u.kind == "cue" and u.cue[:5] == "lang:" and u.cue in use.done)
        self.spoken = {at for u in done for at in range(u.start, u.end)}
        """The places of words for the language that a plan asks for."""
        self.bounds = [u for u in units if u.kind == "quantity" and u.op != "="]
        self.ranks = [u for u in units if u.part == "rank" and len(u.values) == 1]
        times = [u for u in units if u.kind == "time" and not self._is_noun(u)]
        self.times = [u for u in times if not any(_is_within(u, o) for o in times)]
        less = [u for u in units if u.op[0] == "<" or u.cue == "cmp-"]
        self.less = any(u.kind in ("quantity", "time", "cue") or u.cue == "comparative" for u in less)
        # A year may be any number.
        self.dates = [u for u in self.times if u.part != "year" or len(u.values) > 1]
        dated = {at for u in self.dates for at in range(u.start, u.end)}
        self.amounts = [a for a in amounts_in(self.words, self.low) if a.start not in dated]
        spans = [(u.start, u.end) for u in (*self.ranks, *self.times, *self.bounds)]
        spans += [(a.start, a.end) for a in self.amounts]
        places = {at for start, end in spans for at in range(start, end)}
        self.numbered = {at for at in places if not _is_counted(self.low[at])}
        """The places of numbers, times, and what says how they compare."""

    def _is_noun(self, time: Unit) -> bool:
        """Return whether what may be a season is a noun: "ended with a fall"."""
        return time.part == "month" and "a" in self.low[max(0, time.start - 1) : time.start + 1]

    def mark(self, at: int) -> str:
        """Return what stands between a word and the one before."""
        return self.words[at - 1].after.strip() if at else self.words[0].before.strip() if self.words else ""

    def said(self, start: int, end: int) -> str:
        """Return words as they are written."""
        return " ".join(t.raw for t in self.words[start:end])

    def is_full(self, at: int) -> bool:
        """Return whether a word carries meaning."""
        word, raw = self.low[at], self.words[at].raw
        if raw.isupper() and len(raw) > 1 and raw.isalpha():
            return True  # "US" is no pronoun
        key = self.words[at].key
        return not (word in _TABLE["empty"] or key in _TABLE["empty"] or is_stopword(key))

    def names(self, iris: Iterable[str]) -> set[str]:
        """Return the roots of the words by which classes, properties and things go."""
        return roots_in(name for iri in iris for name in self.named(iri))

    def named(self, iri: str) -> Sequence[str]:
        """Return the names of a class, a property or a thing."""
        if (info := self.schema.properties.get(iri)) is not None:
            return [*info.names, *info.inverse_names]
        cls = self.schema.classes.get(iri)
        return cls.names if cls is not None else [Display(self.lexicon.kg).name(iri)]

    @cached_property
    def labels(self) -> list[str]:
        """Return the names of the things, and the texts, that the plan names."""
        show = Display(self.lexicon.kg)
        return [show.entity(thing) for thing in sorted(self.use.things)] + sorted(self.use.texts)

    @cached_property
    def kin(self) -> set[str]:
        """Return the classes of the plan, those that its relations tell, and those above them."""
        places = {x for p in self.use.patterns for x in (p.subject, p.object) if not isinstance(x, Literal)}
        found = self.use.classes.union(*map(self.use.kinds, places))
        return found.union(*map(self.schema.above, found))

    @cached_property
    def own(self) -> set[str]:
        """Return the roots of the names of the properties, the classes and the constants of the plan."""
        return self.names({*self.use.properties, *self.use.classes}) | roots_in(self.labels)

    @cached_property
    def vocabulary(self) -> set[str]:
        """Return the roots of all words that the plan may be told in."""
        return self.own | self.names(self.kin) | self.done

    @cached_property
    def done(self) -> set[str]:
        """Return the roots of the words by which what is computed of times goes."""
        return {root(w) for name in self.use.done for w in _DONE.get(name, ())}

    def is_own(self, at: int) -> bool:
        """Return whether a word that may say how to compute is part of a name that the plan has."""
        return self.roots[at] in self.own

    def is_in(self, at: int, vocabulary: Set[str]) -> bool:
        """Return whether a word is one of some roots, is a form of one, or means the same."""
        word, plain = self.low[at], positive(self.low[at])
        others = {
            *synonym_roots().get(self.roots[at], ()),
            *map(root, CONVERSES.get(word, ())),
            *map(root, DIMENSIONS[plain][1].split() if plain else ()),
        }
        if self.roots[at] in vocabulary or not vocabulary.isdisjoint(others):
            return True
        if not vocabulary.isdisjoint(self.heads(at)):
            return True
        short = stem(word)
        return len(short) > 3 and any(alike(short, other) for other in vocabulary if other[:3] == short[:3])

    def heads(self, at: int) -> set[str]:
        """Return the roots of what a noun for somebody may be made with: "screenwriter" tells a writer."""
        word = self.low[at] if is_role(self.low[at]) else ""
        return {root(word[start:]) for start in range(3, len(word) - 4) if is_role(word[start:])}

    def read_as(self, used: Set[str]) -> set[int]:
        """Return the places of words that name something of what is used."""
        lower = {text.lower() for text in self.use.texts & used}
        return {
            at
            for m in self.mentions
            for c in m.candidates
            if (c.term in used or c.term.lower() in lower)
            and (c.way != "meaning" or c.score >= 0.7 * _VERY_NEAR)
            and not self._is_comment(m.start, c)
            # Of "triple stores" a document store says but the last word.
            for at in range(m.start, m.end)
            if c.way != "tokens" or c.kind != "class" or self.roots[at] in roots_in([c.name])
        }

    def _is_comment(self, at: int, candidate: Candidate) -> bool:
        """Return whether a word is what a code of a property stands for, and the plan has no code."""
        info = self.schema.properties.get(candidate.term)
        if info is None or candidate.way != "synonym" or self.use.texts or self.use.numbers:
            return False
        # "Customer satisfaction rating from 1 (worst)" and "name of the head coach" begin with what is told.
        gist = _CODED.split(info.comment)[0]
        gist = gist if not info.flag and (info.kind == "number" or " of " in gist) else ""
        return self.roots[at] in roots_in([info.comment], 200) - roots_in([gist], 200)

    @cached_property
    def read(self) -> set[int]:
        """Return the places of words that name something that the plan uses."""
        use = self.use
        return self.read_as(use.properties | use.classes | self.kin | use.things | use.texts)

    def covers(self, at: int) -> bool:
        """Return whether the plan has a counterpart of a word by name."""
        return 0 <= at < len(self.low) and (at in self.read or self.is_in(at, self.vocabulary))

    def covering(self, at: int, alone: bool = False) -> Iterator[Candidate]:
        """Yield what a word may name, by itself or together with those beside it."""
        spans = (m for m in self.mentions if m.start <= at < m.end)
        return (c for m in spans if not alone or m.end - m.start == 1 for c in m.candidates)

    def is_called(self, at: int) -> bool:
        """Return whether the graph itself calls something of its schema by a word."""
        return any(
            c.kind in ("class", "property") and c.way in ("exact", "inflected") and c.score > _SURE
            for c in self.covering(at, alone=True)
        )

    def named_behind(self, at: int) -> str | None:
        """Return the thing of the plan whose name a noun stands before: "the country Japan"."""
        some = (c for m in self.mentions if m.start == at + 1 for c in m.candidates if c.way == "exact")
        return next((c.term for c in some if c.term in self.use.things), None)

    def nearness(self, at: int) -> float:
        """Return how near in meaning a word is to a name of the plan that no other word says.

        A verb may be near to what it does something with, "score" to "points", but no other word is one of
        two for the same. It is 0 if the word tells something else.
        """
        if (heads := self.heads(at)) and not heads.isdisjoint(self.names(self.schema.properties) - self.own):
            return 0.0
        used = self.use.properties | self.use.classes | self.kin
        used = used if self.is_verb(at) else {iri for iri in used if self._said_at(iri) <= {at}}
        names = {n for iri in used - (self.kin - self.use.classes) for n in list(self.named(iri))[:2]}
        known = [c.score / 0.7 for c in self.covering(at) if c.way == "meaning" and c.term in used]
        return max([*known, *(self.lexicon.likeness(self.low[at], n) for n in sorted(names))], default=0.0)

    def _said_at(self, iri: str) -> Set[int]:
        """Return the places of the words that name a class or a property as it is called."""
        if iri not in self._said:
            own, also = self.names([iri]), synonym_roots()
            said = (at for at, one in enumerate(self.roots) if not own.isdisjoint({one, *also.get(one, ())}))
            self._said[iri] = {at for at in said if self.is_full(at)}
        return self._said[iri]

    def kinship(self, at: int, properties: Iterable[str] = ()) -> float:
        """Return how near in meaning a word is to the classes of the graph, or to properties.

        Those are the ones of the plan where none are told.
        """
        some = {*self.schema.classes, *(properties or self.use.properties)}
        names = {n for i in some for n in list(self.named(i))[:2]}
        return max((self.lexicon.likeness(self.low[at], n) for n in sorted(names)), default=0.0)

    @cached_property
    def titled(self) -> set[int]:
        """Return the places of words of longer names that the plan has: "Rebel Without a Cause"."""
        used = self.use.things | self.use.texts
        return {
            at
            for m in self.mentions
            if m.end - m.start > 1 and any(c.way == "exact" and c.term in used for c in m.candidates)
            for at in range(m.start, m.end)
        }

    def is_kind(self, at: int) -> bool:
        """Return whether a word says what everything is about, and tells no thing from another.

        On a graph without classes that is a noun near in meaning to several of its relations. A value is near
        to the one that has it; what is rarely one, as a tag "film" of few of many films, is none in earnest.
        """
        word, properties = self.low[at], self.schema.properties
        end = at + 3 if at + 2 < len(self.low) and self.mark(at + 2) == "-" else at + 2
        # "Film co-writers" are no films, and a role tells one from another.
        beside = [t.raw for t in self.words[at:end] if t.raw.islower()]
        roles = any(is_role(w) and w not in _FUNCTION for w in beside)
        if not self.words[at].raw.islower() or roles or any(self.schema.classes) or self.is_called(at):
            return False
        exact = [c for c in self.covering(at) if c.kind != "property" and c.way in ("exact", "inflected")]
        things = sorted({c.term for c in exact if c.kind == "entity" and root(c.name) == self.roots[at]})
        forms = {word, word.removesuffix("s")}
        near = {
            iri
            for iri, info in properties.items()
            if any(self.lexicon.likeness(w, n) >= _NEAR for n in info.names[:2] for w in sorted(forms))
        }
        if len(things) < len(exact) or not self.classless or len(near) < 2:
            return False
        for text in queries.get("context/in-degree").batches("entity", list(map(URIRef, things))):
            for _, iri, uses in self.lexicon.kg.select(text):
                info = properties.get(str(iri))
                if info is None or _RARE * int(str(uses)) > info.triples:
                    return False
                near.discard(str(iri))
        return len(near) > 1

    def is_like(self, name: str) -> bool:
        """Return whether a word of the question, or two of them, are near in meaning to a name."""
        pairs = [" ".join(self.low[at : at + 2]) for at in range(len(self.low) - 1)]
        return any(self.lexicon.likeness(said, name) >= _ALIKE for said in (*self.low, *pairs))

    @cached_property
    def unsaid_kind(self) -> bool:
        """Return whether no word of the question names the kind of what is told."""
        shown = {unknown for value in self.use.shown for unknown in self.use.unknowns(value)}
        kinds = set[str]().union(*map(self.use.kinds, shown))
        return not (kinds and (self.names(kinds) & set(self.roots) or self.read_as(kinds)))

    @cached_property
    def reasoned(self) -> bool:
        """Return whether the question names each relation of the plan, or what is at both of its ends."""
        said = set(self.roots) | {other for own in self.roots for other in synonym_roots().get(own, ())}
        known = self.before.properties if self.before is not None else set()
        timed = bool(self.times) or "when" in self.low or not _SPANS.isdisjoint(self.use.done)
        for p in self.use.patterns:
            iri = str(p.predicate)
            info = self.schema.properties.get(iri)
            if info is None or iri in known or self.names([iri]) & said or self.read_as({iri}):
                continue
            if timed and (info.kind == "date" or roots_in(info.names) & _TIMES):
                continue
            if not all(self._is_said(end, said) for end in (p.subject, p.object)):
                return False
        return True

    def _is_said(self, end: object, said: Set[str]) -> bool:
        """Return whether the question names a thing or its kind, or it only stands between two others."""
        if isinstance(end, Literal):
            return bool(self.read_as({str(end)})) or roots_in([str(end)]) <= said
        if self.names(self.use.kinds(end)) & said or not isinstance(end, Unknown):
            return True
        if any(end in some and self._is_said(value, said) for some, value in self.use.bounds):
            return True
        links = [p for p in self.use.patterns if end in (p.subject, p.object) and p.predicate != RDF.type]
        return len(links) > 1 and end not in self.use.shown

    @cached_property
    def classless(self) -> bool:
        """Return whether the plan is about things of no known class."""
        known = self.schema.properties
        nodes = {
            p.object for p in self.use.patterns if (i := known.get(str(p.predicate))) and i.kind == "entity"
        }
        nodes |= {p.subject for p in self.use.patterns}
        return any(isinstance(u, Unknown) and not self.use.kinds(u) for u in nodes)

    def is_verb(self, at: int) -> bool:
        """Return whether a word is rather a verb than a noun, by its form and its place."""
        word, before = self.low[at], self.low[at - 1] if at else ""
        if at and not self.words[at].raw.islower():
            return False
        if before in _BEFORE_VERBS or is_done(word) or (word.endswith("ing") and len(word) > 5):
            return True
        if is_role(word):
            return False
        noun = before in _BEFORE_NOUNS or (before == "which" and at == 1)
        roots = _LIGHT if noun else _LIGHT | _VERB_ROOTS
        return self.roots[at] in roots

    def is_of_another(self, at: int) -> bool:
        """Return whether a word ends the name of a property of the plan's classes that the plan has not."""
        own = self.use.classes
        others = (p for p in self.schema.properties.values() if p.iri not in self.use.properties)
        ends = (name.split()[-1] for p in others if own & p.domains.keys() for name in p.names if name)
        return any(root(end.lower()) == self.roots[at] for end in ends)

    def is_asked(self, at: int) -> bool:
        """Return whether a noun is what is asked for: behind "which" or "list", first, or "of" something."""
        asking = _IMPERATIVES | {"which", "what", "whose", "many", "much"}
        if self.low[at + 1 : at + 2] == ["of"]:
            return True
        while at and self.is_full(at - 1) and not self.is_verb(at - 1):
            at -= 1
            if self.low[at] in asking:
                return True
        return not at or self.low[at - 1] in asking


# -- words, names and numbers that the plan has not ---------------------------------------------------------


def _words(sides: _Sides) -> Iterator[Gap]:
    """Yield words that carry meaning and have no counterpart in the plan."""
    said = sides.numbered.union(sides.spoken, *(range(c.start, c.end) for c in sides.cues))
    open_ = [at for at in range(len(sides.low)) if at not in said and _carries(sides, at)]
    open_ = [at for at in open_ if not sides.covers(at) and not _is_code(sides, at)]
    if open_ and (sides.use.texts or sides.use.numbers):
        # What codes stand for is only said in comments.
        comments = roots_in((i.comment for i in sides.use.infos(sides.use.properties)), 200)
        open_ = [at for at in open_ if sides.roots[at] not in comments]
    passed = set[int]()
    for at in open_:
        if _is_passed(sides, at, at - 1 in passed):
            passed.add(at)
            continue
        noun, near = not sides.is_verb(at), sides.nearness(at)
        asked = noun and sides.is_asked(at) and not _describes(sides, at)
        loose = _is_loose(sides, at, noun, asked, near)
        if loose:
            passed.add(at)
        named = any(c.way == "exact" and c.kind in ("entity", "value") for c in sides.covering(at))
        proper = named and not sides.words[at].raw.islower()
        kind = "name" if proper else "asked" if asked and near < _NEAR else "word"
        plain = sides.words[at].raw.islower() and not sides.is_called(at)
        kindred = "" if asked and plain and sides.unsaid_kind else None
        if plain and noun and kindred is None:
            kindred = sides.named_behind(at)
        yield Gap(sides.words[at].raw, kind, loose, kindred)


def _is_loose(sides: _Sides, at: int, noun: bool, asked: bool, near: float) -> bool:
    """Return whether a word that nothing in the plan goes by may well be said otherwise there."""
    if near >= (_VERY_NEAR if asked else _ALIKE):
        # What is called so, and is not what the plan uses, is hardly meant by what it uses.
        return not sides.is_of_another(at)
    named = any(c.way == "exact" and c.kind in ("entity", "value") for c in sides.covering(at))
    if (
        named
        or not sides.words[at].raw.islower()
        or (sides.low[at].endswith("ly") and len(sides.low[at]) > 6)
    ):
        return False
    if not noun:
        return sides.roots[at] in _LIGHT
    known = any(c.way in ("exact", "inflected", "synonym") and c.score > _CLEAR for c in sides.covering(at))
    beside = at > 0 and not sides.mark(at) and sides.covers(at - 1)
    person = sides.low[at] in _TABLE["persons"]
    if person and beside and _is_first(sides, at - 1) and not sides.is_called(at):
        return True  # whose "contact person" is told by a contact name
    if known or sides.is_called(at):
        return False
    if sides.low[at].removesuffix("s") in _TABLE["portion"] and sides.low[at + 1 : at + 2] == ["of"]:
        return True  # "a bottle of Chang" costs what it does
    two, alike_ = sides.low[max(0, at - 2) : at], sides.kinship(at)
    everything = two[1:] in (["the"], ["our"], ["this"]) and two[0] in PREPOSITIONS
    if everything and at + 1 == len(sides.low) and alike_ >= _AKIN and not sides.low[at].endswith("s"):
        return True  # "in the league" is all that a graph is about
    valued = at > 2 and sides.low[at - 3] in _HAVING and sides.low[at - 2] in ("a", "an", "the")
    if beside and alike_ >= _AKIN and _is_first(sides, at - 1) and _carries(sides, at - 1) and not valued:
        return True  # "faculty members" are the faculty, but what is "with the keyword law" has one of many
    if person:
        return True
    # On a graph without classes nothing is called a song; but what is asked for "of" something is a relation.
    if not sides.classless or sides.low[at + 1 : at + 2] == ["of"]:
        return False
    # What is told of is asked for or stands before what it does; behind it come "with wings", "for children".
    behind = at + 1 == len(sides.low) or sides.mark(at + 1) or sides.low[at + 1] in ("and", "or")
    akin = sides.kinship(at, sides.schema.properties)
    return akin >= (_NEAR if behind and not asked else _AKIN) and sides.reasoned


def _carries(sides: _Sides, at: int) -> bool:
    """Return whether a word needs a counterpart: one that is no function word, and asks nothing."""
    raw = sides.words[at].raw
    if len(raw) < 2 or (unit_called(sides.low[at]) is not None and not _is_counted(sides.low[at])):
        return False
    if unit_called(" ".join(sides.low[at : at + 2])) is not None:
        return False  # "square kilometres"
    if at and raw[0].isupper() and sides.mark(at)[-1:] not in tuple(".?!"):
        return not raw[1:].islower() or sides.is_full(at)
    if sides.low[at] == "us" and sides.low[at - 1 : at] == ["the"]:
        return True
    low, before = sides.low[at], sides.low[at - 1 : at]
    if [*before, low] in (["so", "far"], ["as", "well"]) and sides.low[at + 1 : at + 2] != ["as"]:
        return False
    plain = low.removesuffix("ly") if before and before[0] in _DEGREES else low  # "most recently issued"
    if (
        positive(plain) == plain
        and (
            low in _TABLE["any measure"]
            or (before and before[0] in ("how", "more", "most", "less", "least", "as"))
        )
    ) or (positive(low) not in (None, low)):
        return False  # what is measured is held against the plan by itself
    return (
        sides.is_full(at)
        and low not in _FUNCTION
        and low not in _IMPERATIVES | ({"state"} if not at else set())
    )


def _is_code(sides: _Sides, at: int) -> bool:
    """Return whether the plan has a short code that a word begins with: "M" for men."""
    word, codes = sides.low[at], [text.lower() for text in sides.use.texts if 0 < len(text) < 4]
    return any(word.startswith(code) or word in _TABLE.get(f"code: {code}", ()) for code in codes)


def _describes(sides: _Sides, at: int) -> bool:
    """Return whether a word stands before a noun that is accounted for."""
    full = at + 1 < len(sides.low) and sides.is_full(at + 1) and not sides.mark(at + 1)
    return full and sides.covers(at + 1) and not sides.is_verb(at + 1)


def _is_passed(sides: _Sides, at: int, follows: bool) -> bool:
    """Return whether a word needs no counterpart beside what the plan does and the words before it say."""
    low, called = sides.low, sides.is_called(at)
    word = low[at].removesuffix("s")
    if not called and any(low[at].removesuffix("ly") in _DONE.get(name, ()) for name in sides.use.done):
        return True  # "in alphabetical order", "contains the letter a"
    kind = any(c.kind == "class" and c.way in ("exact", "inflected") for c in sides.covering(at))
    measured = (
        at and not sides.mark(at).strip("- ") and at - 1 in sides.numbered and not _describes(sides, at)
    )
    measured = measured and sides.kinship(at) >= _AKIN and not sides.is_of_another(at)
    if not (called or kind) and (measured or (at and low[at - 1] == "per")):
        return True  # a unit, or what one costs
    goes_on = follows or sides.covers(at - 1)
    measures = word in _TABLE["measured"] and _is_first(sides, at - 1)
    if goes_on and (measures or sides.mark(at) == "-"):
        return True  # the "snatch score" of a "snatch", "check-ins"
    return sides.is_kind(at) or _is_apposed(sides, at)


def _is_first(sides: _Sides, at: int) -> bool:
    """Return whether a word may begin a compound; behind a name or a plural stands a verb: "vendors sued"."""
    return sides.words[at].raw.islower() and not sides.low[at].endswith("s")


def _is_apposed(sides: _Sides, at: int) -> bool:
    """Return whether a name is told again by what stands in brackets behind it: "Chicago (ORD)"."""
    end = at + 1
    while end < len(sides.words) and sides.words[end].raw[0].isupper() and "(" not in sides.mark(end):
        end += 1
    return end < len(sides.words) and "(" in sides.mark(end) and sides.covers(end)


def _numbers(sides: _Sides) -> Iterator[Gap]:
    use, low = sides.use, sides.low
    digits, coded = (set(re.findall(r"\d+", " ".join(some))) for some in (sides.labels, use.things))
    for time in sides.dates:
        told = sides.read.issuperset(range(time.start, time.end))
        recurs = _RECURRING.get(time.part)
        polite = low[time.start - 1 : time.start] == ["good"]  # "good morning"
        missed = any(_is_missed(value, use.numbers) for value in time.values)
        if not told and (missed or (recurs is not None and not polite and recurs.isdisjoint(use.done))):
            yield Gap(sides.said(time.start, time.end), "number")
    for at in range(2, len(low)):
        # Before or after Christ is told by no number alone; "how many grams" is no number of things.
        era = low[at] in _ERAS and any(c.isdigit() for c in low[at - 1])
        dated = any(f" {low[at]}" in text.lower() for text in use.texts)
        if (era and not dated) or (_is_unit_asked(sides, at) and not sides.covers(at)):
            yield Gap(sides.words[at].raw, "unit")
    for rank in sides.ranks:
        if "order" not in use.done and not (float(rank.values[0]) in use.numbers or sides.is_own(rank.start)):
            yield Gap(sides.said(rank.start, rank.end), "number")
    for a in sides.amounts:
        said, value = sides.said(a.start, a.end), float(a.value)
        bounded = any(u.start < a.start < u.end for u in sides.bounds)
        named = said in digits or (said in coded and not bounded)
        if named or any(sides.is_own(at) for at in range(a.start, a.end)):
            continue
        cut = any(p.limit is not None for p in use.plans) and low[a.start - 3 : a.start - 2] != ["which"]
        of_the = low[max(0, a.start - 2) : a.start] == ["of", "the"] and not cut
        if low[a.start] in ("one", "zero", "a", "an") or of_the:
            continue
        same = {value * f for f in _FACTORS} | {value / f for f in _FACTORS}
        # After 2020 is from 2021 on, as is behind a day or an hour.
        dated = any(time.values[0] == said for time in sides.times)
        same |= {value + 1, value if dated else value - 1} if value in _YEARS or sides.times else set()
        if (unit := unit_called(a.unit)) is not None:
            same |= {float(a.value * unit.factor)}
            same |= {float(converted(info, a.value, a.unit)) for info in use.infos(use.properties)}
        if not any(map(_among(same), use.numbers)):
            yield Gap(said, "number")
        elif "times" in low[a.end - 1 : a.end + 1] and not _tells_how_often(sides):
            yield Gap("times", "unit")
        elif unit is not None and not unit.counts and not _is_of_sort(use, unit, same):
            yield Gap(a.unit, "unit")


_ERAS: Final = frozenset(("bc", "bce", "b.c", "ad", "ce"))


def _is_unit_asked(sides: _Sides, at: int) -> bool:
    """Return whether a word is the unit of a number that is asked for, and things are counted instead."""
    unit = unit_called(sides.low[at]) or unit_called(" ".join(sides.low[at - 1 : at + 1]))
    asked = sides.low[at - 2 : at] == ["how", "many"] or sides.low[max(0, at - 3) : at - 1] == ["how", "many"]
    counts = {"count"} & sides.use.done and not sides.use.done & {"days", "+", "-", "*", "/"}
    return bool(unit is not None and not unit.counts and unit.sort != "span" and asked and counts)


_RECURRING: Final[Mapping[str, frozenset[str]]] = {
    "month": frozenset(("month",)), "day": frozenset(("day",)), "weekday": frozenset(("weekday",)),
    "month-day": frozenset(("month", "day")), "clock": frozenset(("clock", "hour", "contains")),
}  # fmt: skip
"""Times that come again, with the parts of dates by one of which a plan bounds them."""


def _tells_how_often(sides: _Sides) -> bool:
    """Return whether a plan counts, or compares a number that the question names."""
    use = sides.use
    numbers = (info for info in use.infos(use.properties) if info.kind == "number")
    named = (info for info in numbers if not roots_in(info.names) & _TIMES)  # a year says when
    counts = {"count", "/", "*"} & use.done
    return bool(counts) or any(not roots_in(info.names).isdisjoint(sides.roots) for info in named)


def _among(some: Set[float]) -> Callable[[float | None], bool]:
    """Return what tells whether a number is one of some."""
    return lambda n: n is not None and any(abs(one - n) < 1e-6 * max(1.0, abs(one)) for one in some)


def _is_of_sort(use: PlanUse, unit: MeasureUnit, amounts: Set[float]) -> bool:
    """Return whether what is compared with an amount may be measured in a unit; what is in days may."""
    held = [c for c in use.comparisons if _among(amounts)(_number(c.right))]
    infos = [list(use.infos(use.told_by(*use.unknowns(c.left)))) for c in held]
    if unit.sort in ("span", "share") or not held:
        return True
    return any(is_measured_in(info, unit) for some in infos for info in some)


def _is_missed(value: str, numbers: Set[float]) -> bool:
    """Return whether numbers have not the year, or not the day, of a time or of the day behind it."""
    year, _, rest = value.partition("-")
    if len(year) < 4 or not year.isdigit():
        return False
    day = int(rest[3:5] or 0)
    return not {float(year), float(year) + 1} & numbers or not (not day or {day, day + 1, 1} & numbers)


def _years(sides: _Sides) -> set[float]:
    years = (v[:4] for time in sides.times for v in time.values if len(v) > 3)
    return {float(year) for year in years if year.isdigit()}


def _number(value: Expression) -> float | None:
    return float(value.value) if isinstance(value, Literal) and isinstance(value.value, int | float) else None


def _is_said_kind(sides: _Sides, cls: str) -> bool:
    """Return whether a question says which kind of things it asks for; the highest kinds need no mention."""
    above = sides.schema.above(cls) - {cls}
    if sides.read_as({cls}) or not above or cls not in sides.schema.classes:
        return True
    own = sides.names([cls]) - sides.names(above)
    return bool(own & set(sides.roots)) or any(map(sides.is_like, sides.schema.classes[cls].names[:1]))


def _unasked(sides: _Sides) -> Iterator[Gap]:
    """Yield names of things and values in the plan that the question does not say, or says only in part."""
    use, show = sides.use, Display(sides.lexicon.kg)
    said = set(sides.roots) | set(map(stem, sides.low))
    before = sides.before.things | sides.before.texts if sides.before is not None else set()
    yield from (
        Gap(cls, "unasked", loose=True) for cls in sorted(use.classes) if not _is_said_kind(sides, cls)
    )
    numbers = {n for c in use.comparisons for n in (_number(c.left), _number(c.right)) if n is not None}
    have = {float(v) for u in sides.ranks for v in u.values} | {float(a.value) for a in sides.amounts}
    have |= _years(sides) | {0.0, 1.0, 2.0, 100.0}
    near = {h * f for h in have for f in _FACTORS} | {h / f for h in have for f in _FACTORS}
    yield from (Gap(f"{n:g}", "unasked", loose=True) for n in sorted(numbers - near))
    schema_words = {own for name in sides.lexicon.words.names for own in name.roots}
    for term in sorted((use.things | use.texts) - before - sides.schema.properties.keys()):
        found = [(m, c) for m in sides.mentions for c in m.candidates if c.term == term]
        if not found and sides.before is None:  # what was found before may stand for "them"
            name = show.entity(term) if term in use.things else term
            if name and not roots_in([name]) & said and not (name[:4].isdigit() or sides.is_like(name)):
                yield Gap(name, "unasked", loose=term in use.texts)
        if not found or any(c.way not in ("tokens", "spelling") for _, c in found):
            continue
        mention, best = max(found, key=lambda f: f[1].score)
        mine = [w.raw for w in sides.words[mention.start : mention.end]]
        own = {root(w) for w in mine}
        left = {root(w) for w in words_in(best.name) if len(w) > 2} - own
        exact = sides.before is None and any(c.way == "exact" for c in mention.candidates)
        # A common word of the graph calls nobody by name: "health insurance" is not Unita Health.
        common = all(w.islower() for w in mine) and not own.isdisjoint(schema_words)
        if len(left) > 3 * len(mine) or (len(left) >= len(mine) and (exact or common)):
            yield Gap(best.name, "unasked")


# -- words that say how to compute -----------------------------------------------------------------------


def _operations(sides: _Sides) -> Iterator[Gap]:
    """Yield the words that say how to compute and that the plan leaves out, and what it computes unasked."""
    for cue in sides.cues:
        holds = _CHECKS.get(cue.cue)
        own = any(sides.is_own(at) for at in range(cue.start, cue.end)) and cue.cue != "not"
        titled = sides.titled.issuperset(range(cue.start, cue.end))
        if holds is not None and not own and not titled and not holds(sides, cue):
            said = sides.low[cue.start : cue.end]
            said = [w for w in said if cue.cue == "not" and w in _NOT][:1] or said
            yield Gap(" ".join(said), cue.cue)
    missed = (at for at, w in enumerate(sides.low) if w in _TABLE["not computed"] and not sides.is_own(at))
    yield from (Gap(sides.low[at], "unsupported") for at in missed)
    yield from _superlatives(sides)
    yield from _idle(sides)
    yield from _back(sides)
    yield from _compared(sides)
    yield from _not_said(sides)


def _averages(sides: _Sides, cue: Unit) -> bool:
    return not {"average", "/"}.isdisjoint(sides.use.done)


def _shares(sides: _Sides, cue: Unit) -> bool:
    # To share something with somebody is no share, nor is a rate.
    near = sides.low[cue.start - 1 : cue.start] in (["the"], ["what"])
    return "/" in sides.use.done or not (near or "of" in sides.low[cue.start : cue.end + 1])


def _totals(sides: _Sides, cue: Unit) -> bool:
    return "total" not in sides.low[cue.start : cue.end] or bool({"sum", "count", "/"} & sides.use.done)


def _differs(sides: _Sides, cue: Unit) -> bool:
    return bool({"-", "days"} & sides.use.done)


def _denies(sides: _Sides, cue: Unit) -> bool:
    use, low = sides.use, sides.low
    said, behind = low[cue.start : cue.end], low[cue.end : cue.end + 1]
    if {"without", "!="} & use.done or 0.0 in use.numbers or "longer" in said:
        return True  # "no longer alive" is said by a date
    if {"<", "<="} & use.done and not sides.less:
        return True  # what is not more is less
    if behind in (["only"], ["of"], ["exceeding"]) or low[cue.start - 1 : cue.start] == ["or"]:
        return True
    if any(u.start <= cue.end < u.end for u in sides.bounds) or said == ["out", "of"]:
        return True
    off = [p for p in use.patterns if (i := sides.schema.properties.get(str(p.predicate))) and i.flag
           and p.object == i.truth_value(False)]  # fmt: skip
    no = any(str(value).lower() in ("false", "n", "no", "f") for _, value in use.bounds)
    # Who does not have any discontinued products may have no other ones either.
    having = said[-1:] in (["any"], ["no"]) or behind == ["any"]
    kinds = sides.names(use.classes) & set(sides.roots[cue.end : cue.end + 4])
    return bool(off or no) and not (having and kinds)


def _groups(sides: _Sides, cue: Unit) -> bool:
    use, top = sides.use, sides.use.plan
    keys = any(not folds(c.value) for c in top.columns) or bool(top.group_by)
    done = (
        sides.low[cue.end - 1] in _TABLE["loose group"]
        or keys
        or len(use.plans) > 1
        or "/" in use.done
        or (
            "average" in use.done
            and sides.low[cue.start : cue.start + 2] not in (["for", "each"], ["for", "every"])
        )
    )
    return done or not any(map(folds, use.shown))


def _alphabetic(sides: _Sides, cue: Unit) -> bool:
    return "alphabet" in sides.use.done


def _chooses(sides: _Sides, cue: Unit) -> bool:
    use = sides.use
    named, behind = sides.read_as(use.things | use.texts | use.properties), sides.low[cue.end : cue.end + 1]
    between = {cue.start - 1, cue.end} <= named or not _ENDS.isdisjoint(behind)
    compares = positive(behind[0]) is not None if behind else True  # "three or more"
    done = use.done & {"either", "without", "!="} or any(p.narrower for p in use.patterns)
    return bool(done) or use.plan.yes_or_no or not between or compares


def _quantifies(sides: _Sides, cue: Unit) -> bool:
    """Return whether a plan that tells yes or no compares how many there are of which something holds."""
    use = sides.use
    superlative = cue.word == "most" and (sides.low[cue.start - 1 : cue.start] == ["the"])
    return not use.plan.yes_or_no or superlative or len(use.plans) > 1 or "without" in use.done


def _joins(sides: _Sides, cue: Unit) -> bool:
    """Return whether a plan relates two things or values by what both have: "in the same town"."""
    use = sides.use
    ends = [(p.predicate, p.object) for p in use.patterns if isinstance(p.object, Unknown)]
    forks = [(p.predicate, p.subject) for p in use.patterns if isinstance(p.object, Unknown)]
    shared = len({o for _, o in ends}) < len(ends) or len({*forks}) < len(forks)
    compares = any(not {type(c.left), type(c.right)} & {Literal} for c in use.comparisons)
    return cue.word not in ("same", "the same", "identical") or shared or compares or len(use.plans) > 1


_CHECKS: Final[Mapping[str, Callable[[_Sides, Unit], bool]]] = {
    "avg": _averages,
    "sum": _totals,
    "share": _shares,
    "part": _shares,
    "ratio": _shares,
    **dict.fromkeys(("over", "under", "overis", "underis"), _averages),
    "difference": _differs,
    "not": _denies,
    "group": _groups,
    "alpha": _alphabetic,
    "or": _chooses,
    "every": _quantifies,
    "half": _quantifies,
    "same": _joins,
}
"""Whether a plan does what the words of a cue say."""


def _superlatives(sides: _Sides) -> Iterator[Gap]:
    use, low, top = sides.use, sides.low, sides.use.plan
    ends = {o.descending for p in use.plans for o in p.order if p.limit is not None}
    great, small = "maximum" in use.done or True in ends, "minimum" in use.done or False in ends
    keyed = top.grouped and (bool(top.group_by) or any(not folds(c.value) for c in top.columns))
    # The least of each group is not that of all.
    whole = not keyed or bool(top.having) or len(use.plans) > 1 or any(c.cue == "group" for c in sides.cues)
    extreme = bool(ends) or ((great or small) and whole) or "without" in use.done
    found = [at for at in range(len(low)) if is_superlative(low[at]) and low[at - 1 : at] != ["at"]]
    found = [at for at in found if not sides.is_own(at)]
    mine = {low[at] for at in found}
    if {"maximum", "minimum"} <= mine and "from" not in low and not (great and small):
        yield Gap("maximum and minimum", "superlative")
    if found and top.limit == 1 and "from" in low and "to" in low[low.index("from") :]:
        yield Gap("from", "order")  # "from the highest to the lowest" are all of them
    for at in found:
        near = {*low[max(0, at - 2) : at], *low[at + 1 : at + 4]}
        if low[at] == "most" and ({"*", "/"} & use.done or low[at + 1 : at + 2] == ["of"]):
            continue  # more than half
        if not (("order" in use.done) if {"first", "from", "to"} & near else extreme):
            yield Gap(low[at], "superlative")
        elif not _is_measured(sides, at):
            yield Gap(low[at], "measure")


def _idle(sides: _Sides) -> Iterator[Gap]:
    """Yield relations of named things whose other end nothing in the plan goes on from.

    They choose no row: the names of "Linda Smith's advisor" are not those of Linda Smith. What is done to a
    thing, "when was it published", is no other thing.
    """
    done = {root(word) for word in sides.low if is_done(word)}
    use, uses = sides.use, Counter(part for part in walk(sides.use.plan) if isinstance(part, Unknown))
    for p in (p for p in use.patterns if p.predicate != RDF.type and not use.plan.yes_or_no):
        ends = [end for end in (p.subject, p.object) if isinstance(end, Unknown)]
        verb = done & {root(w) for name in sides.named(str(p.predicate)) for w in words_in(name)}
        if len(ends) < 2 and not verb and not any(uses[end] > 1 for end in ends):
            yield Gap(sides.named(str(p.predicate))[0], "idle")


def _back(sides: _Sides) -> Iterator[Gap]:
    """Yield relations that lead from a named thing and back to others, where no word says it.

    Whoever is employed where Ann is does not employ her. Records without a name only relate things.
    """
    use, said = sides.use, {*sides.low, *(w.removesuffix("s") for w in sides.low)}
    shown = {u for value in use.shown for u in use.unknowns(value)}
    for p, q in permutations(use.patterns, 2):
        if p.predicate != q.predicate or p.predicate == RDF.type or not said.isdisjoint(_TABLE["alike"]):
            continue
        for middle, there, back in ((p.object, p.subject, q.subject), (p.subject, p.object, q.object)):
            if middle in (q.object, q.subject) and isinstance(there, URIRef) and back in shown - {middle}:
                nouns = {w.lower() for c in use.kinds(middle) for n in sides.named(c) for w in words_in(n)}
                record = any(lacks_names(sides.lexicon.kg, use.schema, c) for c in use.kinds(middle))
                if nouns and nouns.isdisjoint(said) and not record:
                    yield Gap(sides.named(str(p.predicate))[0], "there and back")


def _is_measured(sides: _Sides, at: int) -> bool:
    """Return whether a plan has what an adjective is a measure of, where not any number will do."""
    if sides.low[at] in ("most", "least") and positive(next(iter(sides.low[at + 1 :]), "")) is not None:
        at += 1
    recent = sides.low[at + 1 : at + 2] == ["recently"]
    use, plain = sides.use, "recent" if recent else positive(sides.low[at])
    if plain is None or plain in _TABLE["any measure"] or {"days", "/"} & use.done:
        return True
    if "count" in use.done and plain in _TABLE["measure of numbers"]:
        return True
    if (
        sides.covers(at)
        or sides.nearness(at) >= _NEAR
        or any(i.kind == "date" for i in use.infos(use.properties))
    ):
        return True
    if sides.low[at + 1 : at + 2] == ["to"] and sides.covers(at + 2):
        return True  # "quickest to pack"
    return any(d.property in use.properties for d in sides.lexicon.dimension(plain))


def _compared(sides: _Sides) -> Iterator[Gap]:
    """Yield comparisons that the plan does not make, and numbers of things that it does not count."""
    use, low = sides.use, sides.low
    measures = [c for c in use.comparisons if c.relation not in ("=", "!=")]
    both = any(not isinstance(c.left, Literal) and not isinstance(c.right, Literal) for c in measures)
    ordered = {"order", "maximum", "minimum", "without", "!=", "-", "/"} & use.done
    than = low.index("than") if "than" in low else 0
    relations = sides.names(use.properties)
    if than and not (measures or ordered or sides.roots[than - 1] in relations):
        yield Gap("than", "comparison")
    for at in (at for at, word in enumerate(low) if word == "than"):
        more = [w for w in low[max(0, at - 3) : at] if w in _MORE or positive(w) not in (None, w)][-1:]
        number = any(near in sides.numbered for near in range(at, at + 4))
        own = {r for w in more for r in (root(w), *map(root, CONVERSES.get(w, ())))} & sides.own
        if not more or own or use.done & {"without", "!=", "-"}:
            continue
        if not measures or not (number or both):
            yield Gap(f"{more[0]} than", "comparison")
    for u in sides.bounds:
        if low[u.start : u.start + 2] == ["at", "least"] and not measures and float(u.values[0]) >= 2:
            yield Gap("at least", "comparison")
        if not _is_bounded(sides, u):
            yield Gap(sides.said(u.start, u.end), "comparison")


def _is_bounded(sides: _Sides, bound: Unit) -> bool:
    """Return whether a number that is compared with is so in the direction that is said."""
    use, first = sides.use, sides.low[bound.start]
    turned = {"without", "!=", "-", "days"} & use.done or any(c.cue == "not" for c in sides.cues)
    if turned or sides.low[bound.start - 1 : bound.start] == ["or"] or first == "than":
        return True
    value = float(bound.values[0])
    known = {c.relation[0] for c in use.comparisons if _number(c.right) == value} & {"<", ">"}
    sized = positive(first) in (None, "great", "large", "high", "low", "small", "few")
    return not known or bound.op[0] in known or not sized


def _not_said(sides: _Sides) -> Iterator[Gap]:
    """Yield operations of the plan for which no word of the question is a reason."""
    use, low = sides.use, sides.low
    for part in walk(use.plan):
        if isinstance(part, Aggregate) and part.function in ("sum", "average"):
            value = part.value.value if isinstance(part.value, Number) else part.value
            told = [info.kind for info in use.infos(use.told_by(value))]
            if isinstance(value, Unknown) and not use.is_number(value) and {*told} & {"date", "entity"}:
                yield Gap(f"the {part.function} of {told[0]} values", "operation")
            names = [words_in(info.names[-1].lower()) for info in use.infos(use.told_by(value))]
            if part.function == "sum" and any("year" in some for some in names):
                yield Gap("the sum of years", "operation")  # nobody adds when things were
    averages = any(c.cue == "avg" or _CHECKS.get(c.cue) is _averages for c in sides.cues)
    averages |= sides.before is not None and "average" in sides.before.done
    shown = {p.function for v in use.shown for p in walk(v) if isinstance(p, Aggregate)}
    if "average" in shown and not averages:
        yield Gap("average", "operation")
    at = low.index("than") if "than" in low else 0
    # "Broader than" may be a relation.
    other = at and (low[at - 1] in ("other", "rather") or sides.roots[at - 1] in sides.names(use.properties))
    if at and not other and use.done.isdisjoint(_COMPARING):
        yield Gap(" ".join(low[at - 1 : at + 1]), "comparison")
    asks = not _QUESTION_WORDS.isdisjoint(low[1:])
    if low and low[0] in AUXILIARIES and not use.plan.yes_or_no and not asks and sides.before is None:
        yield Gap(low[0], "yes or no")
    if use.plan.yes_or_no and low and low[0] in _QUESTION_WORDS:
        yield Gap(low[0], "more than yes or no")
    # "Who sold the vases?" is not answered by vases.
    doing = low[:1] == ["who"] and low[1:2] and low[1] not in AUXILIARIES
    unknowns = {unknown for value in use.shown for unknown in use.unknowns(value)}
    kinds = set[str]().union(*map(use.kinds, unknowns)) if doing else set()
    if kinds and not sides.names(kinds).isdisjoint(sides.roots[2:]):
        yield Gap(low[0], "asked")
    # "Is it a paperback or an ebook?" wants to know which; whether there are any in Oslo or Bergen does not.
    either = any(pair in (("or", "a"), ("or", "an")) for pair in pairwise(low))
    which = either and low[0] in ("is", "was", "are", "were")
    if use.plan.yes_or_no and which and low[1] not in ("there", "any", "all", "some", "every", "each"):
        yield Gap("or", "more than yes or no")


_COMPARING: Final = frozenset(("<", ">", "<=", ">=", "-", "order", "without"))
"""What is computed where one thing is compared with another."""


# -- what is told -----------------------------------------------------------------------------------------


def _told(sides: _Sides) -> Iterator[Gap]:
    """Yield what is asked for and not told, and what is told that is not of the kind that is asked for."""
    if sides.use.plan.yes_or_no or not sides.low:
        return
    yield from _kinds(sides)
    yield from _invented(sides)
    wanted = list(_wanted(sides))
    yield from _untold(sides, wanted)


def _invented(sides: _Sides) -> Iterator[Gap]:
    """Yield the relation to what is told, where a question only names things: "tell me about Ann"."""
    use, low = sides.use, sides.low
    asks = _QUESTION_WORDS - {"what"}
    cued = any(cue.cue != "show" for cue in sides.cues)
    if sides.before is not None or not use.things or not asks.isdisjoint(low) or cued:
        return
    full = [at for at in range(len(low)) if _carries(sides, at)]
    measured = any(positive(word) is not None for word in low)
    if full and not measured and sides.read_as(use.things).issuperset(full):
        for value in use.shown if not any(map(folds, use.shown)) else ():
            told = sides.use.told_by(*use.unknowns(value))
            told -= sides.schema.ladders | {str(RDFS.subClassOf)}  # "a kind of" asks for what is above
            if low[0] in ("what", "define", "describe", "explain"):
                told -= {p.iri for p in use.infos(told) if p.kind == "text" and _says_what(p)}
            yield from (Gap(sides.named(iri)[0], "unasked") for iri in sorted(told))


def _says_what(info: PropertyInfo) -> bool:
    """Return whether a property tells what a thing is: its definition."""
    return any(
        "what" in meanings("words.tsv").get((word,), ()) for n in info.names for word in n.lower().split()
    )


def _kinds(sides: _Sides) -> Iterator[Gap]:
    use, low = sides.use, sides.low
    numbers = [use.is_number(v) for v in use.shown]
    for at, word in enumerate(low):
        if word == "how" and low[at + 1 : at + 2] in (["many"], ["much"]) and not any(numbers):
            yield Gap(" ".join(low[at : at + 2]), "number told")
        measured = word == "how" and at + 1 < len(low) and positive(low[at + 1]) == low[at + 1]
        if measured and not (any(numbers) or _tells_time(sides)):
            yield Gap(" ".join(low[at : at + 2]), "number told")
        if at and (low[at - 1] not in ("and", "about") or (word == "who" and _goes_on(sides, at))):
            continue
        if word == "who" and all(numbers):
            yield Gap(word, "people")
        if word == "where" and not _tells_place(sides):
            yield Gap(word, "place")
        if word == "when" and not _tells_time(sides):
            yield Gap(word, "time")
    asks = [at for at, w in enumerate(low) if w in _QUESTION_WORDS and _begins(sides, at)]
    # "The three singers with the most songs and how many they sing" asks for two things as well.
    second = len(asks) > 1 or (asks and asks[0] > 1 and low[asks[0] - 1] == "and")
    if second and len(use.shown) < 2 and "if" not in low and not _goes_on(sides, asks[-1]):
        yield Gap(low[asks[-1]], "second question")


def _goes_on(sides: _Sides, at: int) -> bool:
    """Return whether a word goes on about the same: "… who are professors and who live there"."""
    relative = {"who", "which", "whose"}
    return sides.low[at] in relative and not (relative | {"that"}).isdisjoint(sides.low[1:at])


def _begins(sides: _Sides, at: int) -> bool:
    """Return whether a question begins at a word."""
    before = sides.mark(at)[-1:]
    return not at or sides.low[at - 1] in ("and", "about", "or") or before in tuple(",-;–—")


def _tells_place(sides: _Sides) -> bool:
    """Return whether something else is told than the very thing of which the place is asked for."""
    use = sides.use
    for value in use.shown:
        if use.is_number(value):
            continue
        cls, told_by = use.class_of(value), use.told_by(*use.unknowns(value))
        kinds = {cls, *sides.schema.above(cls)} if cls else set()
        said = bool(sides.names(kinds) & set(sides.roots)) or is_of_people(sides.lexicon, cls)
        if sides.names(told_by | kinds) & _PLACES or not (cls or told_by) or (told_by and not said):
            return True
    return False


def _tells_time(sides: _Sides) -> bool:
    use = sides.use
    for value in use.shown:
        told_by = use.told_by(*use.unknowns(value))
        if any(isinstance(part, DatePart) for part in walk(value)) or sides.names(told_by) & _TIMES:
            return True
        if (
            any(info.kind == "date" for info in use.infos(told_by))
            or sides.names({use.class_of(value)} - {""}) & _TIMES
        ):
            return True
    return False


@dataclass(frozen=True)
class _Asked:
    """A noun that is asked for: where it stands, whether it is counted, whether a later sentence asks."""

    places: tuple[int, ...]
    counted: bool
    later: bool


def _wanted(sides: _Sides) -> Iterator[_Asked]:
    """Yield the nouns that are asked for, "name" and "age" of "list the name and age of all players"."""
    low, at = sides.low, 0
    while at < len(low):
        word, counted = low[at], low[at : at + 2] in (["how", "many"], ["how", "much"])
        begins = (
            not at or low[at - 1] in ("and", "also", "then", "please") or sides.mark(at)[:1] in tuple(".?!;,")
        )
        begins |= at == 1 and low[0] in PREPOSITIONS and word in ("which", "what")  # "in which country"
        several = word in _IMPERATIVES or low[at + 1 : at + 2] in (["is"], ["are"], ["was"], ["were"])
        first = at - (low[at - 1] == "please")
        later = at > 1 and sides.mark(first)[:1] in tuple(".?!;") and word in (_IMPERATIVES | {"what"})
        at += 1 + counted
        if not (
            counted
            or (
                begins
                and (word in ("what", "which") or word in _IMPERATIVES or (word == "state" and at == 1))
            )
        ):
            continue
        places: list[int] = []
        while at < len(low):
            joint, ends = (
                "," in sides.mark(at) or low[at] == "and",
                low[at] in _ENDS or sides.mark(at)[:1] in tuple(".?!;:(") or _acts(sides, at),
            )
            if (joint or ends) and places:
                yield _Asked(tuple(places), counted, later)
                places = []
                if ends or counted or not several:
                    break
            elif (
                ends
                and low[at] not in ("of", "each")
                and not (low[at] in AUXILIARIES and low[at - 1] == word)
            ):
                break
            if (
                joint
                and low[at + (low[at] == "and") : at + 3][:1]
                and low[at + (low[at] == "and")] in _QUESTION_WORDS
            ):
                break
            if low[at] != "and" and _is_noun(sides, at):
                places.append(at)
            at += 1
        if places:
            yield _Asked(tuple(places), counted, later)


def _acts(sides: _Sides, at: int) -> bool:
    """Return whether a word is a verb by what stands behind: "develops the most", "climbed by climbers"."""
    return sides.low[at + 1 : at + 2] in (["the"], ["a"], ["an"], ["by"]) and sides.is_verb(at)


def _is_noun(sides: _Sides, at: int) -> bool:
    word = sides.low[at]
    if word.removesuffix("s") in _GENERAL:
        return True
    if word in PREPOSITIONS:
        return False  # though a property may be called "of"
    cued = any(c.start <= at < c.end for c in sides.cues) and not sides.is_own(at)
    told = (sides.is_full(at) and word not in _FUNCTION) or sides.is_own(at)
    return told and positive(word) is None and not cued and at not in sides.numbered


def _shown_as(sides: _Sides, value: Expression, depth: int = 3) -> set[str]:
    """Return the classes and properties by which what a column tells is called."""
    use, found, said = sides.use, set[str](), set(sides.roots)
    for u in use.unknowns(value):
        kinds, told_by = use.kinds(u), use.told_by(u)
        found |= told_by | kinds.union(*map(sides.schema.above, kinds))
        found |= set() if kinds else {str(p.predicate) for p in use.patterns if p.subject == u}
        for p in (p for p in use.patterns if p.object == u):
            if sides.names(told_by) & roots_in(_GENERAL):
                found |= use.kinds(p.subject)  # "airport names" are names of airports
            if isinstance(p.subject, Unknown) and not sides.names(use.kinds(p.subject)) & said:
                # A number may stand in a thing of its own, which is called like the number.
                found |= use.told_by(p.subject)
        for inner in use.inner(u) if depth else ():
            found |= _shown_as(sides, inner, depth - 1)
    return found


def _untold(sides: _Sides, wanted: Sequence[_Asked]) -> Iterator[Gap]:
    use, values = sides.use, roots_in(sides.labels)
    if any(isinstance(part, Days | DatePart) for value in use.shown for part in walk(value)):
        return
    shown = set[str]().union(*(_shown_as(sides, value) for value in use.shown))
    # What is the subject of a relation may be called by it: those that flow into a river are tributaries.
    subjects = {u for value in use.shown for u in use.unknowns(value)}
    relations = {str(p.predicate) for p in use.patterns if p.subject in subjects and p.predicate != RDF.type}
    inverse = [n for i in use.infos(relations) for n in i.inverse_names]
    names, kinds = (
        sides.names(shown) | roots_in(inverse) | sides.done,
        set[str]().union(*map(use.kinds, subjects)),
    )
    owners = {p.subject for p in use.patterns if p.object in subjects}
    own = sides.names(set[str]().union(*map(use.kinds, owners)))
    told = sides.read_as(shown) | {
        at for m in sides.mentions for c in m.candidates if c.term in relations and c.way != "tokens"
        for at in range(m.start, m.end)
    }  # fmt: skip
    later = any(one.later for one in wanted)
    wanted = [one for one in wanted if one.later == later]
    for one in wanted:
        head = one.places[-1]
        number = sides.low[head : head + 2] == ["number", "of"] and len(one.places) == 1
        if number and not (sides.is_own(head) or any(map(use.is_number, use.shown))):
            yield Gap("number of", "number told")
        general = sides.low[head].removesuffix("s") in _GENERAL
        if general and (len(one.places) > 1 or sides.low[head].removesuffix("s") in _TABLE["of things"]):
            noun = sides.roots[head]
            has = any(
                noun in roots_in(i.names)
                for i in sides.schema.properties.values()
                if kinds & i.domains.keys()
            )
            telling = sides.low[head].removesuffix("s") in _TABLE["telling"]
            # The type of a card is not the card, whatever the graph calls it.
            behind = len(one.places) > 1
            apart = telling or not any(sides.is_in(at, names) for at in one.places[:-1])
            if noun not in names and apart and (has or (telling and behind)):
                yield Gap(sides.words[head].raw, "told")
                continue
        places = [at for at in one.places if sides.low[at].removesuffix("s") not in _GENERAL]
        covered = [at for at in places if sides.covers(at)]
        if not covered or covered[0] != places[0] or all(sides.roots[at] in values for at in covered):
            continue
        room = one.counted and sides.low[places[-1] + 1 : places[-1] + 2] in (["can"], ["could"])
        of = names | own if general else names  # "student ids" are told of students
        if not (room or any(sides.is_in(at, of) for at in places) or set(places) & told):
            yield Gap(sides.said(covered[0], covered[-1] + 1), "told")
    several = [o for o in wanted if not o.counted and not all(sides.roots[at] in values for at in o.places)]
    if 1 < len(several) > len(use.shown):
        yield Gap(sides.words[several[-1].places[-1]].raw, "told")


# -- what people are --------------------------------------------------------------------------------------


def is_of_people(lexicon: Lexicon, cls: str) -> bool:
    """Return whether the members of a class do what people do: by its name, or by what most of them have.

    Args:
        lexicon: The names of the graph.
        cls: IRI of the class; no other than a class of the schema is of people.
    """
    info = lexicon.schema.classes.get(cls)
    if info is None:
        return False
    heads = {word.lower() for name in info.names for word in words_in(name)[-1:]}
    if any(not {w, w.removesuffix("s")}.isdisjoint(PERSON_WORDS | AGENTS) or _does(w) for w in heads):
        return True
    # A class that things of many kinds are in has what people have for few of its members only.
    has = (p for p in lexicon.schema.properties.values() if 2 * p.domains.get(cls, 0) >= max(info.count, 1))
    return not _PERSONAL.isdisjoint(roots_in(name for p in has for name in p.names))


def _does(word: str) -> bool:
    """Return whether a noun is for who does something: a "sorter", and no "order"."""
    return is_role(word) and (root(word) in _VERB_ROOTS or word.endswith(("ist", "ian", "ee", "eur")))


_DOING: Final = frozenset(("did", "do", "does"))
"""Words behind "what" by which it asks for what somebody does something to."""


def of_the_kind(lexicon: Lexicon, question: str, found: Sequence[FoundReading]) -> list[FoundReading]:
    """Return readings with what they found, those behind that tell of another kind than one asks for.

    "Who" asks for people, and "what did they buy" for no people. What tells of others names the word as
    ignored; the classes of the very things that are told decide.

    Args:
        lexicon: The names of the graph.
        question: The question.
        found: Its readings, likeliest first, with what they found.

    Raises:
        StoreError: If the store fails.
    """
    low = [t.raw.lower() for t in tokens(question)]
    who = "who" in low[:1]
    if not found or not (who or (low[:1] == ["what"] and low[1:2] and low[1] in _DOING)):
        return list(found)
    schema = lexicon.schema
    people = {c for c in schema.classes if is_of_people(lexicon, c)}
    kept, short = list[FoundReading](), list[FoundReading]()
    things = [_things_shown(reading, result) if people else [] for reading, result in found]
    kinds = classes_of(lexicon.kg, chain.from_iterable(things))
    for (reading, result), shown in zip(found, things, strict=True):
        known = set(schema.with_superclasses({cls for thing in shown for cls in kinds[thing]}))
        ignored = tuple(dict.fromkeys((*reading.ignored, low[0])))
        told = known & people
        others = known - people - {above for cls in told for above in schema.above(cls)}
        if known and not (told if who else others):
            short.append((replace(reading, ignored=ignored), result))
        else:
            kept.append((reading, result))
    return kept + short


def described_so(kg: KnowledgeGraph, found: Sequence[FoundReading]) -> list[FoundReading]:
    """Return readings that leave a noun unread; what it is asked for has to be described by it.

    That terms are activities, and things structures, is often said in their definitions alone. Where not
    all that is found says so of itself, the noun may choose some of it, and is ignored.

    Raises:
        StoreError: If the store fails.
    """
    shown = dict[int, list[str]]()
    for at, (reading, result) in enumerate(found):
        if reading.unread:
            told_at = [n for n, name in enumerate(result.columns) if name in reading.shown]
            cells = (row[n] for row in result.rows for n in told_at)
            shown[at] = [str(cell) for cell in cells if isinstance(cell, URIRef)]
    if not shown:
        return list(found)
    named = {thing for reading, _ in found for thing in reading.unread.values() if thing}
    things = sorted({thing for some in shown.values() for thing in some})[:_DESCRIBED] + sorted(named)
    said = _said_of(kg, schema_of(kg), things, {root(w.lower()) for one, _ in found for w in one.unread})
    told = list(found)
    for at, things in shown.items():
        reading, result = found[at]
        pairs = ((root(word.lower()), [thing] if thing else things) for word, thing in reading.unread.items())
        if not all(some and all(word in said.get(thing, ()) for thing in some) for word, some in pairs):
            told[at] = replace(reading, ignored=(*reading.ignored, *reading.unread), unread={}), result
    return told


def _values_of(kg: KnowledgeGraph, schema: Schema, iri: str) -> set[str]:
    """Return the things that a property leads to."""
    value = Unknown("value")
    plan = Plan(Block((Pattern(Unknown("of"), URIRef(iri), value),)), (Column(value, "value"),), (value,))
    return {str(row[0]) for row in run(kg, with_subclasses(plan, schema), schema=schema).rows}


def _said_of(
    kg: KnowledgeGraph, schema: Schema, things: Sequence[str], words: Set[str]
) -> dict[str, set[str]]:
    """Return the roots of words by which things are described.

    Those are the words of their texts, of the names of what is above them, and, among those that are asked
    for, what properties are called that lead to them.
    """
    texts, above = defaultdict[str, list[str]](list), defaultdict[str, set[str]](set)
    for p in schema.properties.values():
        heads = [name.partition(" of ")[0].split()[-1] for name in p.names if name]
        if p.kind == "entity" and p.triples <= _TRIPLES and not words.isdisjoint(map(root, heads)):
            # What a property leads to is what it is called: a country of origin.
            values = _values_of(kg, schema, p.iri)
            for thing in values.intersection(things):
                texts[thing] += heads
    ways = {str(RDF.type), str(RDFS.subClassOf), str(SKOS.broader), kind_property(kg)}
    ahead = set(things)
    for storey in range(_STOREYS):
        query = queries.get("context/out").bind(entity=sorted(ahead), limit=_TRIPLES)
        upper = set[str]()
        for one, by, value in kg.select(query) if ahead else ():
            if isinstance(value, Literal) and not storey:
                texts[str(one)].append(str(value))
            elif isinstance(value, URIRef) and str(by) in ways:
                upper.add(str(value))
                above[str(one)].add(str(value))
        ahead = upper - above.keys() - {*things}
    names = kg.labels({c for some in above.values() for c in some})
    return {
        thing: roots_in((*texts[thing], *(names.get(c) or "" for c in ancestors([thing], above))), 200)
        for thing in things
    }


def _things_shown(reading: Reading, result: PlanResult) -> list[str]:
    """Return the things that the first rows show; none where they show texts as well."""
    at = [i for i, name in enumerate(result.columns) if name in reading.shown]
    cells = [row[i] for row in result.rows[:_ROWS] for i in at]
    texts = any(isinstance(c, Literal) and not isinstance(c.value, int | float) for c in cells)
    return [] if texts else sorted({str(cell) for cell in cells if isinstance(cell, URIRef)})


# -- the verdict ------------------------------------------------------------------------------------------


def account(
    lexicon: Lexicon,
    question: str,
    plan: Plan,
    shown: Sequence[str],
    before: Plan | None = None,
) -> Verdict:
    """Return what of a question a plan leaves out, and what it adds.

    Args:
        lexicon: The names of the graph.
        question: The question.
        plan: A plan of it.
        shown: Names of the plan's columns that are told.
        before: The plan that the question goes on from; what it has counts as said.

    Example:
        >>> import mrag
        >>> from rdflib import RDF, URIRef
        >>> from mrag.planning.lexicon import lexicon_of
        >>> from mrag.planning.plan import Aggregate, Block, Column, Pattern, Unknown
        >>> x, store = Unknown("x"), URIRef("https://w3id.org/mrag/demo/products#TripleStore")
        >>> many = Column(Aggregate("count", of=(x,)), "n")
        >>> plan = Plan(Block((Pattern(x, RDF.type, store),)), (many,))
        >>> with mrag.demo(model="none") as kg:
        ...     lexicon = lexicon_of(kg, None)
        ...     for question in ("How many triple stores are there?", "How many stores did Ontotext sell?"):
        ...         print(account(lexicon, question, plan, ["n"]).words)
        ()
        ('Ontotext', 'sell')
    """
    use = PlanUse.of(plan, shown, lexicon.schema)
    carried = None if before is None else PlanUse.of(before, (), lexicon.schema)
    sides = _Sides(_HOW.sub("", question), use, lexicon, carried)
    parts = (_words, _numbers, _operations, _told, _unasked)
    found = dict.fromkeys(gap for part in parts for gap in part(sides))
    return Verdict(tuple(g for g in found if not g.loose), tuple(g for g in found if g.loose))


def roots_in(names: Iterable[str], most: int = _LONG) -> set[str]:
    """Return the roots of the first words of names; of short ones as one word too: "check in", "checkin"."""
    found = set[str]()
    for name in names:
        parts = [part.lower() for part in words_in(name)[:most]]
        found.update(map(root, parts))
        if 1 < len(parts) < 4:
            found.add(root("".join(parts)))
    return found


def is_superlative(word: str) -> bool:
    """Return whether a word asks for what is first or last in some measure.

    Example:
        >>> [w for w in ("highest", "cheap", "cheapest", "fewest", "most") if is_superlative(w)]
        ['highest', 'cheapest', 'fewest', 'most']
    """
    if word in _TABLE["superlative"]:
        return True
    plain = positive(word)
    return plain not in (None, word) and word.endswith("est")


def _is_counted(word: str) -> bool:
    """Return whether a unit is a name of things that are counted: people, points."""
    unit = unit_called(word)
    return unit is not None and unit.counts


def _is_within(one: Unit, other: Unit) -> bool:
    """Return whether words are part of longer ones that say something else: "no more than"."""
    longer = other.end - other.start > one.end - one.start
    return longer and other.start <= one.start and one.end <= other.end
