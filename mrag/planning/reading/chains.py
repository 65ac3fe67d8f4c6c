"""Questions that walk from thing to thing: "the capital of the country of the vendor of X"."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from rdflib import URIRef

from mrag.graph.kg import KnowledgeGraph
from mrag.planning.lexical import Candidate, NameMention
from mrag.planning.lexical.english import DIMENSIONS, is_empty, positive, root, synonym_roots
from mrag.planning.lexicon import Lexicon
from mrag.planning.plan import Aggregate, Block, Column, Comparison, Pattern, Plan, Unknown
from mrag.planning.reading.drafts import Draft
from mrag.planning.reading.question import QuestionText, Word, cues, meaningful
from mrag.planning.schema import Schema
from mrag.rdf import queries

_SAMPLE = 60
"""Things at an end of a relation that are looked at."""
_LEAST = 0.04
"""Least share of them that a relation must follow from: below it is an accident."""
_MOST = 150
"""Relations that are looked at, the most used ones."""
_HUB = 0.5
"""Share of the relations that lead away from the things that a graph is mostly about."""


class ChainStep(NamedTuple):
    """A relation walked from subject to object, or back."""

    property: str
    forward: bool


@dataclass(frozen=True)
class ChainSteps:
    """The relations of a graph, and which may follow which.

    Attributes:
        following: For each step the steps that may come behind it, with the share of things that have it.
        hubs: Steps that come to a thing that most relations lead away from.
        used: How many triples each relation has.
    """

    following: Mapping[ChainStep, Mapping[ChainStep, float]]
    hubs: frozenset[ChainStep]
    used: Mapping[str, int]

    @classmethod
    def of(cls, kg: KnowledgeGraph, schema: Schema) -> ChainSteps:
        """Return the steps of a graph, read once for each state of it."""
        return kg.cached("planning chains", lambda: _read(kg, schema))


def steps_of(kg: KnowledgeGraph, things: Iterable[str]) -> dict[str, set[ChainStep]]:
    """Return the steps that lead away from each of some things."""
    wanted = sorted(set(things))
    found: dict[str, set[ChainStep]] = {thing: set() for thing in wanted}
    for name, forward in (("completion/leaving", True), ("completion/arriving", False)):
        for text in queries.get(name).batches("entity", wanted):
            for thing, predicate in kg.select(text):
                found[str(thing)].add(ChainStep(str(predicate), forward))
    return found


def _read(kg: KnowledgeGraph, schema: Schema) -> ChainSteps:
    relations = sorted(
        (i for i in schema.properties.values() if i.kind == "entity"), key=lambda i: (-i.triples, i.iri)
    )[:_MOST]
    known = {i.iri for i in relations}
    following: dict[ChainStep, dict[ChainStep, float]] = {}
    for step in (ChainStep(i.iri, forward) for i in relations for forward in (True, False)):
        query = queries.get("completion/ends" if step.forward else "completion/starts")
        ends = [str(e) for e in kg.select(query.bind(p=[step.property], limit=_SAMPLE)).column("end")]
        following[step] = _shares(list(steps_of(kg, ends).values()), known)
    away = max(1, len({i.iri for i in relations}))
    hubs = {step for step, after in following.items() if sum(s.forward for s in after) >= max(2, _HUB * away)}
    return ChainSteps(following, frozenset(hubs), {i.iri: i.triples for i in relations})


def _shares(seen: Sequence[set[ChainStep]], known: set[str]) -> dict[ChainStep, float]:
    counts: dict[ChainStep, int] = {}
    for step in (s for some in seen for s in some if s.property in known):
        counts[step] = counts.get(step, 0) + 1
    least = max(1.0, _LEAST * len(seen))
    return {step: n / len(seen) for step, n in sorted(counts.items()) if n >= least}


_SHARED = frozenset("same share shares shared sharing common together also co both".split())
"""Words that ask for what is beside the thing that is named, over a relation that both have."""
_ASKING = frozenset("what which whose".split())
_TIMES = frozenset(map(root, ("year", "date", "time")))
_NEAR, _KIND = 0.4, 0.25
"""Least likeness in meaning of a word and a relation, and of a word and what a kind of thing is told by."""
_NO_MEANING = frozenset("fall falls person people whose word words".split())
_COMPUTED = frozenset(("most", "top", "group", "ratio", "percentage", "difference", "fold", "unsupported"))
_BOUNDED = frozenset(("compare", "between"))
_KINDS = frozenset("kind kinds sort sorts type types".split())
"""Words that say nothing in other graphs, and may name a relation in these."""


@dataclass(frozen=True)
class SaidRelation:
    """A word that names relations.

    Attributes:
        at: Its place in the question.
        scores: How well each relation is named by it.
        shared: Whether it is walked there and back: "that share actors with".
        noun: Whether it names who or what is at the end of a relation: "director".
        apposed: Whether it stands right before the name: "the director Ada".
    """

    at: int
    scores: Mapping[str, float]
    shared: bool = False
    noun: bool = False
    apposed: bool = False


def anchors_of(question: QuestionText, mentions: Sequence[NameMention]) -> list[NameMention]:
    """Return the names that a chain may begin with: the longest that are spelt as in the graph."""
    found = [named for m in mentions if (named := _with_things(question, m)) is not None]
    exact = [m for m in found if m.candidates[0].way in ("exact", "inflected")]

    def worth(m: NameMention) -> tuple[float, int, int]:
        capital = sum(question.words[i].token.raw[:1].isupper() for i in range(m.start, m.end))
        return -(m.candidates[0].score * (m.end - m.start) + 0.5 * capital), -m.end, m.start

    kept: list[NameMention] = []
    for m in sorted(exact or found, key=worth):
        if all(m.end <= k.start or k.end <= m.start for k in kept):
            kept.append(m)
    return kept[:3]


def _with_things(question: QuestionText, mention: NameMention) -> NameMention | None:
    """Return a mention with the things that it most likely names; "Reds" is none that is called "Red"."""
    best = mention.candidates[0].score
    found = [c for c in mention.candidates if c.kind == "entity" and c.score >= best - 0.01 and not c.classes]
    words = question.words[mention.start : mention.end]
    said = question.text[words[0].token.start : words[-1].token.end].casefold()
    spelt = [c for c in found if c.name.casefold() == said]
    return replace(mention, candidates=tuple((spelt or found)[:3])) if found else None


def _compound(word: str, part: str) -> bool:
    return len(word) > len(part) + 2 and root(word).endswith(part)


def _merged(said: Sequence[SaidRelation]) -> list[SaidRelation]:
    """Return words that name relations, two that name one together as one: "release date"."""
    found: list[SaidRelation] = []
    for one in said:
        last = found[-1] if found else None
        both = set(last.scores) & set(one.scores) if last is not None and last.at == one.at - 1 else set()
        if last is not None and both and not last.shared:
            scores = {p: max(last.scores[p], one.scores[p]) for p in both}
            found[-1] = replace(one, scores=scores, shared=one.shared)
        else:
            found.append(one)
    return found


def computes(question: QuestionText, mentions: Sequence[NameMention]) -> bool:
    """Return whether a question asks for more than a chain gives: an extreme, a share, a comparison."""
    named = {at for a in anchors_of(question, mentions) for at in range(a.start, a.end)}
    starts = [*(q.start for q in question.quantities), *(p.start for p in question.periods)]
    bounded = any(start not in named for start in starts)
    wanted = _COMPUTED | (_BOUNDED if bounded else frozenset())
    # A "by" tells who did something.
    return any(c.kind in wanted and c.value != "by" and c.start not in named for c in cues(question.low))


_FEW = 10
"""How many times as many things without a class as with one there are in a graph that has no kinds."""
_LONGEST = 4
_KEPT = 400
_SAID_AGAIN, _AGAIN = 0.05, 0.3
"""What it costs to take a word that is said again for nothing new, and for a step of its own."""
_DROPPED = 1.0


@dataclass(frozen=True)
class _Walk:
    """A walk as far as it has come."""

    steps: tuple[ChainStep, ...] = ()
    scores: tuple[float, ...] = ()
    cost: float = 0.0
    dropped: tuple[int, ...] = ()


@dataclass
class ChainReader:
    """Reads questions as chains.

    Args:
        schema: The schema.
        lexicon: The names of the graph.
    """

    schema: Schema
    lexicon: Lexicon
    _kinds: dict[str, float] = field(default_factory=dict, init=False)

    def said(self, question: QuestionText, anchor: NameMention) -> tuple[list[SaidRelation], list[int]]:
        """Return the words that name relations, and the places of those that mean something else."""
        said, unread = list[SaidRelation](), list[int]()
        words, low = question.words, question.low
        shared_at = [i for i, w in enumerate(low) if w in _SHARED]
        for at, word in enumerate(words):
            if anchor.start <= at < anchor.end or at in shared_at:
                continue
            scores = self.relations_of(word, first=at < 2)
            if scores:
                noun = not word.low.endswith(("ed", "ing")) and self._is_noun(word)
                shared = noun and any(0 < abs(at - s) <= 2 for s in shared_at)
                shared = shared or any(
                    s in (at - 1, at + 1, at + 2) and low[s] in ("co", "together") for s in shared_at
                )
                apposed = at == anchor.start - 1 and noun
                said.append(SaidRelation(at, scores, shared, noun, apposed))
            elif meaningful(word) and word.low not in _NO_MEANING:
                unread.append(at)
        return _merged(said), unread

    @staticmethod
    def _is_noun(word: Word) -> bool:
        return word.low.rstrip("s").endswith(("or", "er")) or word.low != word.token.key

    def relations_of(self, word: Word, *, first: bool) -> dict[str, float]:
        """Return how well a word names each relation, none if it names none.

        Args:
            word: The word.
            first: Whether it begins the question.
        """
        if word.low == "when" and first:
            return self._named(_TIMES, 0.7)
        if word.low == "about":
            return self._named({root("topic"), *synonym_roots()[root("topic")]}, 0.7)
        if (
            is_empty(word.token.key)
            or not word.token.key.isalpha()
            or (not meaningful(word) and word.low not in _KINDS)
        ):
            return {}
        own = root(word.token.raw)
        found = self._named({own}, 1.0)
        if not found:
            found = self._named(set(synonym_roots().get(own, ())), 0.8)
        if not found:
            # A "screenwriter" is a writer.
            found = self._named({r for r in self._roots if len(r) > 3 and _compound(word.token.key, r)}, 0.85)
        plain = positive(word.low)
        if not found and plain is not None:
            found = self._named({root(n) for n in DIMENSIONS[plain][1].split()}, 0.6)
        if not found and not self.is_kind(word):
            near = [c for c in self.lexicon.similar(word.token.raw, "property", 3) if c.score >= _NEAR]
            found = {c.term: 0.8 * c.score for c in near if c.term in self._entity_relations}
        return found

    @cached_property
    def _roots(self) -> set[str]:
        return {r for n in self.lexicon.words.names if n.kind == "property" for r in n.weighty}

    @property
    def _entity_relations(self) -> set[str]:
        return {i.iri for i in self.schema.properties.values() if i.kind == "entity"}

    def _named(self, roots: set[str] | frozenset[str], score: float) -> dict[str, float]:
        relations = self._entity_relations
        found: dict[str, float] = {}
        for name in self.lexicon.words.names:
            shared = roots & {*name.weighty}
            if name.kind == "property" and name.term in relations and shared:
                share = len(shared) / len(name.weighty)
                found[name.term] = max(found.get(name.term, 0.0), score * (0.9 + 0.1 * share))
        return found

    def is_kind(self, word: Word) -> bool:
        """Return whether a word may be what the graph's things are called, by what is told of them."""
        key = word.low
        if key not in self._kinds:
            names = sorted(
                {
                    i.names[0]: i.triples for i in self.schema.properties.values() if i.kind == "entity"
                }.items(),
                key=lambda n: (-n[1], n[0]),
            )
            self._kinds[key] = self.lexicon.likeness(key, ", ".join(name for name, _ in names[:12]))
        return self._kinds[key] >= _KIND

    def asked_for(self, question: QuestionText, anchor: NameMention) -> int:
        """Return the place of the word for what is asked: behind "which", or the first noun; -1 if none."""
        low = question.low
        if low[0] == "when":
            return 0
        start = next((i + 1 for i, w in enumerate(low) if w in _ASKING), 0)
        for at in range(start, min(len(low), start + 5)):
            word = question.words[at]
            inside = anchor.start <= at < anchor.end
            if inside or low[at].endswith("ed") or low[at] in _SHARED:
                return -1
            if low[at] in _KINDS:
                return at
            if meaningful(word) and (self._is_noun(word) or self.is_kind(word) or low[at - 1] in _ASKING):
                return at
        return -1

    @property
    def applies(self) -> bool:
        """Return whether nearly no things of the graph have a class."""
        classes = self.schema.classes
        typed = sum(c.count for iri, c in classes.items() if iri)
        return "" in classes and classes[""].count > _FEW * typed

    def drafts(self, question: QuestionText, mentions: Sequence[NameMention]) -> list[Draft]:
        """Return plans of chains from the names of a question, best first."""
        anchors = anchors_of(question, mentions)
        if not anchors:
            return []
        steps = ChainSteps.of(self.lexicon.kg, self.schema)
        own = steps_of(self.lexicon.kg, (c.term for a in anchors for c in a.candidates))
        found: list[tuple[float, Draft]] = []
        for anchor in anchors:
            said, unread = self.said(question, anchor)
            for thing in anchor.candidates:
                found += self._from(question, anchor, thing, said, unread, steps, own[thing.term])
        found.sort(key=lambda f: (f[0], repr(f[1].plan)))
        return [draft for _, draft in found[: _LONGEST * 2]]

    def _from(
        self,
        question: QuestionText,
        anchor: NameMention,
        thing: Candidate,
        said: Sequence[SaidRelation],
        unread: Sequence[int],
        steps: ChainSteps,
        own: set[ChainStep],
    ) -> Iterator[tuple[float, Draft]]:
        walks = [_Walk()]
        kinds = [at for at in unread if self.is_kind(question.words[at])]
        for one in _in_order(said, anchor, kinds):
            following = [w for walk in walks for w in _walked(walk, one, steps, own)]
            walks = sorted(following, key=lambda w: (w.cost - sum(w.scores), w.steps))[:_KEPT]
        best: dict[tuple[ChainStep, ...], tuple[float, Draft]] = {}
        for walk in walks:
            if not walk.steps:
                continue
            cost, ignored = self._left(question, anchor, walk, unread, steps)
            draft = self._draft(question, thing, walk, cost, ignored)
            # What is asked for decides between walks that read the same words.
            total = cost + len(ignored) + 0.02 * len(walk.steps) - sum(walk.scores) / max(1, len(walk.scores))
            if walk.steps not in best or total < best[walk.steps][0]:
                best[walk.steps] = total, draft
        yield from best.values()

    def _left(
        self,
        question: QuestionText,
        anchor: NameMention,
        walk: _Walk,
        unread: Sequence[int],
        steps: ChainSteps,
    ) -> tuple[float, tuple[str, ...]]:
        """Return what is against a walk, and the words that it leaves unread."""
        low, words = question.low, question.words
        cost, ignored = walk.cost, [low[i] for i in walk.dropped]
        ends_in_hub = walk.steps[-1] in steps.hubs
        asked = self.asked_for(question, anchor)
        names = {n for s in walk.steps for n in self.schema.properties[s.property].names}
        for at in unread:
            if self.is_kind(words[at]):
                # A word for the kind of thing that the graph is about.
                cost += 0.6 if at == asked and not ends_in_hub else 0.0
            elif any(self.lexicon.likeness(words[at].low, n) >= 0.3 for n in names):
                cost += 0.2
            else:
                ignored.append(low[at])
        if {"who", "whom"} & {*low}:
            cost += 0.8 if ends_in_hub else 0.0
        elif asked >= 0 and asked not in unread:
            named = self.relations_of(words[asked], first=asked == 0)
            last = walk.steps[-1].property
            cost += 0.6 if named and (ends_in_hub or last not in named) else 0.0
        return cost, tuple(ignored)

    # -- plans ------------------------------------------------------------------------------------------

    def _draft(
        self, question: QuestionText, thing: Candidate, walk: _Walk, cost: float, ignored: tuple[str, ...]
    ) -> Draft:
        places: list[URIRef | Unknown] = [URIRef(thing.term)]
        patterns, apart = list[Pattern](), list[Comparison]()
        for number, step in enumerate(walk.steps, 1):
            last = number == len(walk.steps)
            places.append(Unknown("thing" if last else f"thing_{number}"))
            subject, object_ = places[-2:] if step.forward else places[:-3:-1]
            patterns.append(Pattern(subject, URIRef(step.property), object_))
            before = walk.steps[number - 2] if number > 1 else None
            if before == ChainStep(step.property, not step.forward):
                # "Films by the director of X" are the others.
                apart.append(Comparison(places[-1], "!=", places[-3]))
        where = Block(tuple(patterns), tuple(apart))
        unknown = places[-1]
        assert isinstance(unknown, Unknown)
        counts = question.low[:2] == ["how", "many"] or question.low[:3] == ["the", "number", "of"]
        value = Aggregate("count", None, (unknown,)) if counts else unknown
        plan = Plan(where, (Column(value, "number" if counts else unknown.name),))
        matches = (thing.score, *walk.scores)
        return Draft(plan, (plan.columns[0].name,), matches, 0.0, cost, ignored, {})


def _in_order(
    said: Sequence[SaidRelation], anchor: NameMention, kinds: Collection[int]
) -> list[SaidRelation]:
    """Return the words outwards from the name: "X's director", what stands before it, what stands behind."""
    before = [s for s in said if s.at < anchor.start]
    behind = [s for s in said if s.at >= anchor.end]
    nearest = [s for s in behind if s.at == anchor.end and (s.noun or s.at + 1 in kinds)]
    return [*nearest, *reversed(before), *(s for s in behind if s not in nearest)]


def _walked(walk: _Walk, one: SaidRelation, steps: ChainSteps, own: set[ChainStep]) -> Iterator[_Walk]:
    """Yield how a walk goes on with a word."""
    allowed: Mapping[ChainStep, float] = (
        steps.following.get(walk.steps[-1], {}) if walk.steps else dict.fromkeys(own, 1.0)
    )
    for iri, score in sorted(one.scores.items()):
        last = walk.steps[-1] if walk.steps else None
        again = last is not None and last.property == iri
        if last is not None and again and not one.shared:
            # "The actors who starred": what is said twice.
            yield replace(walk, scores=(*walk.scores, score), cost=walk.cost + _SAID_AGAIN)
        if last is not None and again and one.shared and len(walk.steps) < _LONGEST:
            # "Whose directors also directed X": back to others from where the walk has come to.
            returned = (*walk.steps, ChainStep(iri, not last.forward))
            yield replace(walk, steps=returned, scores=(*walk.scores, score))
            continue
        if one.apposed and not walk.steps and ChainStep(iri, False) in allowed:
            yield replace(walk, scores=(*walk.scores, score))
        if len(walk.steps) >= _LONGEST:
            continue
        for forward in (True, False):
            step, back = ChainStep(iri, forward), ChainStep(iri, not forward)
            if step not in allowed:
                continue
            # Most things come by a relation: one that few of them have is less likely meant.
            rare = 0.1 * (1 - min(1.0, allowed[step] / 0.3)) + (_AGAIN if again else 0.0)
            onward = replace(
                walk, steps=(*walk.steps, step), scores=(*walk.scores, score), cost=walk.cost + rare
            )
            if not one.shared:
                yield onward
            else:
                yield replace(onward, steps=(*onward.steps, back))
    yield replace(walk, cost=walk.cost + (0.1 if one.apposed else _DROPPED), dropped=(*walk.dropped, one.at))


def chain_reader(schema: Schema, lexicon: Lexicon) -> ChainReader | None:
    """Return the reader of chains for a graph whose things have no classes; None for others."""
    found = ChainReader(schema, lexicon)
    return found if found.applies else None
