"""Questions that walk from a named thing to what is asked for, in graphs whose things have no classes.

"Who starred in the films directed by the director of X": nothing tells what kinds of things there are, but
the words that name relations tell how to walk, outwards from the name, and the graph tells which relation may
follow which, and in which direction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from rdflib import URIRef

from mrag.graph.kg import KnowledgeGraph
from mrag.language.english import BEING, DIMENSIONS, positive, root, synonym_roots
from mrag.language.tokens import PREPOSITIONS, TextToken
from mrag.planning.lexical import Candidate
from mrag.planning.lexicon import Lexicon
from mrag.planning.plan import Aggregate, Block, Column, Comparison, Pattern, Plan, Unknown
from mrag.planning.reader.frames import RoleItem
from mrag.planning.reader.outcome import PlanDraft, QuestionDerivation
from mrag.planning.reader.units import Unit, is_free, meanings
from mrag.planning.reader.world import Way, WayStep
from mrag.planning.schema import Schema
from mrag.rdf import queries

_FEW: Final = 10
"""How many times as many things without a class as with one there are in a graph that has no kinds."""
_SAMPLE: Final = 60  # Things at an end of a relation that are looked at
_LEAST, _COMMON = 0.04, 0.3
"""Least share of them that a relation must follow from, and the share from which on it is no rare one."""
_MOST: Final = 150  # Relations that are looked at, the most used ones
_HUB: Final = 0.5
"""How much is told of the things that a graph is about, as a share of what is told of those with most."""
_LONGEST: Final = 4  # Steps of a walk at most
_BEAM, _KEPT = 200, 8
"""Walks that are looked at, and that are returned."""
_NEAR, _KIND = 0.3, 0.25
"""Least likeness in meaning of a word and a relation, and of a word and what a kind of thing is told by."""
_WORTH: Final[Mapping[str, float]] = {"exact": 1.0, "inflected": 1.0, "tokens": 0.95, "synonym": 0.8}
_CLEAR: Final = 0.6
"""How well a word names a relation that is matched so; by its meaning alone it does not even clearly."""
_FREE: Final = frozenset("show is and name count who when where same both distinct other year day".split())
"""Cues that a walk may do without."""
_WHO: Final = frozenset("who whom person people".split())
_ASKING: Final = frozenset("what which whose".split())


def has_no_classes(schema: Schema) -> bool:
    """Return whether nearly no things of a graph have a class."""
    typed = sum(c.count for iri, c in schema.classes.items() if iri)
    return "" in schema.classes and schema.classes[""].count > _FEW * typed


@dataclass(frozen=True)
class ChainSteps:
    """Which relations of a graph may follow which."""

    # For each step the steps that may come behind it, with the share of things that have it
    following: Mapping[WayStep, Mapping[WayStep, float]]
    hubs: frozenset[WayStep]  # Steps that come to a thing that much is told of


def _read(kg: KnowledgeGraph, schema: Schema) -> ChainSteps:
    known = sorted(schema.properties.values(), key=lambda i: (-i.triples, i.iri))[:_MOST]
    iris = {i.iri for i in known}
    following: dict[WayStep, dict[WayStep, float]] = {}
    for step in (WayStep(i.iri, inverse) for i in known if i.kind == "entity" for inverse in (False, True)):
        query = queries.get("completion/starts" if step.inverse else "completion/ends")
        ends = kg.select(query.bind(p=[step.property], limit=_SAMPLE)).column("end")
        seen = _steps_of(kg, map(str, ends)).values()
        counts = Counter(s for some in seen for s in some if s.property in iris)
        least = max(1.0, _LEAST * len(seen))
        following[step] = {s: n / len(seen) for s, n in sorted(counts.items()) if n >= least}
    told = {step: sum(n for s, n in after.items() if not s.inverse) for step, after in following.items()}
    much = max(2.0, _HUB * max(told.values(), default=0.0))
    return ChainSteps(following, frozenset(step for step, n in told.items() if n >= much))


def _steps_of(kg: KnowledgeGraph, things: Iterable[str]) -> dict[str, set[WayStep]]:
    """Return the steps that lead away from each of some things."""
    wanted = sorted(set(things))
    found: dict[str, set[WayStep]] = {thing: set() for thing in wanted}
    for name, inverse in (("completion/leaving", False), ("completion/arriving", True)):
        for text in queries.get(name).batches("entity", wanted):
            for thing, predicate in kg.select(text):
                found[str(thing)].add(WayStep(str(predicate), inverse))
    return found


def walkable(kg: KnowledgeGraph, plans: Iterable[Plan]) -> set[Plan]:
    """Return plans without those that go from a thing over a relation which it does not have."""
    ends: dict[Plan, set[tuple[str, WayStep]]] = {}
    for plan in plans:
        own = ends.setdefault(plan, set())
        for p in plan.where.patterns if plan.columns else ():
            for end, inverse in ((p.subject, False), (p.object, True)):
                if isinstance(end, URIRef):
                    own.add((str(end), WayStep(str(p.predicate), inverse)))
    had = _steps_of(kg, (thing for own in ends.values() for thing, _ in own))
    return {plan for plan, own in ends.items() if all(step in had[thing] for thing, step in own)}


# Words


@dataclass(frozen=True)
class LinkWord:
    """Words that name relations, or what the graph is about."""

    unit: Unit  # The words
    links: Mapping[str, float]  # How well each relation is named by them; none by a word like "films"
    beside: bool = False  # Whether the relation is walked there and back: "that share actors with"
    noun: bool = False  # Whether they name who or what is at the end of a relation: "director"
    apposed: bool = False  # Whether they only say what the name behind them is: "the director Ada"


def _means(word: str, meaning: str) -> bool:
    return meaning in meanings("words.tsv").get((word,), ())


def _anchors(units: Iterable[Unit], words: Sequence[TextToken]) -> list[Unit]:
    """Return the names that a walk may begin with: the longest that are spelt as in the graph."""
    named = [u for u in units if u.kind == "entity"]
    exact = [u for u in named if u.options[0].way in ("exact", "inflected")]

    def worth(u: Unit) -> tuple[float, int, int]:
        capitals = sum(words[at].raw[:1].isupper() for at in range(u.start, u.end))
        return -(u.score * (u.end - u.start) + 0.5 * capitals), -u.end, u.start

    kept: list[Unit] = []
    for u in sorted(exact or named, key=worth):
        if all(u.end <= k.start or k.end <= u.start for k in kept):
            some = [c for c in u.options if c.score >= u.score - 0.01]
            said = " ".join(t.raw for t in words[u.start : u.end]).casefold()
            spelt = [c for c in some if c.name.casefold() == said]  # "Reds" is none that is called "Red"
            kept.append(replace(u, options=tuple((spelt or some)[:3])))
    return kept[:3]


def _links(
    lexicon: Lexicon, units: Iterable[Unit], words: Sequence[TextToken]
) -> dict[int, dict[str, float]]:
    """Return the relations that each word names, with how well it does."""
    found: dict[int, dict[str, float]] = {}
    for u in (u for u in units if u.kind == "property" and u.end - u.start == 1):
        for c in (c for c in u.options if c.term in lexicon.schema.properties):
            own = found.setdefault(u.start, {})
            own[c.term] = max(own.get(c.term, 0.0), (0.9 + 0.1 * c.score) * _WORTH.get(c.way, 0.5))
    for at, word in enumerate(words):
        if at not in found or max(found[at].values()) < _CLEAR:
            found[at] = _unlisted(lexicon, word) or found.get(at, {})
    return {at: links for at, links in found.items() if links}


def _unlisted(lexicon: Lexicon, word: TextToken) -> dict[str, float]:
    """Return the relations that a word names though no name is like it: a "screenwriter" is a writer."""
    low, plain, own = word.raw.lower(), positive(word.raw.lower()), root(word.key)
    names = [n for n in lexicon.words.names if n.kind == "property" and n.term in lexicon.schema.properties]
    roots = {r for n in names for r in n.weighty if 3 < len(r) < len(own) - 1 and own.endswith(r)}
    worth = 0.85
    if low == "when":
        roots, worth = {*map(root, ("year", "date", "time"))}, 0.7
    elif low == "about":
        roots, worth = {root("topic"), *synonym_roots()[root("topic")]}, 0.7
    elif plain is not None:
        roots, worth = {root(noun) for noun in DIMENSIONS[plain][1].split()}, 0.6
    return {n.term: worth for n in names if not roots.isdisjoint(n.weighty)}


def _is_noun(word: TextToken) -> bool:
    low = word.raw.lower()
    return not low.endswith(("ed", "ing")) and (low.rstrip("s").endswith(("or", "er")) or low != word.key)


def _is_kind(lexicon: Lexicon, word: str) -> bool:
    """Return whether a word may be what the graph's things are called, by what is told of them."""
    infos = sorted(lexicon.schema.properties.values(), key=lambda i: (-i.triples, i.names[0]))
    return lexicon.likeness(word, ", ".join(i.names[0] for i in infos[:12])) >= _KIND


# Walks


@dataclass(frozen=True)
class _Asked:
    """A question, seen from the name that a walk begins with."""

    lexicon: Lexicon  # The names of the graph
    steps: ChainSteps  # Which relations may follow which
    weights: Mapping[str, float]  # What counts how much
    anchor: Unit  # The name
    # The words of the question beside it, by their places; `low` are the same in lower case
    words: Mapping[int, TextToken]
    links: Mapping[int, Mapping[str, float]]  # The relations that they name
    cues: Sequence[Unit]  # The cue words among them

    def worth(self, features: Mapping[str, float]) -> float:
        """Return what is measured, by its weights."""
        return sum(self.weights.get(name, 0.0) * value for name, value in features.items())

    @cached_property
    def low(self) -> dict[int, str]:
        """Return the words in lower case."""
        return {at: word.raw.lower() for at, word in self.words.items()}

    @cached_property
    def beside(self) -> frozenset[int]:
        """Return the places of words that ask for what has the same: "also", "together"."""
        return frozenset(at for at, word in self.low.items() if _means(word, "beside"))

    @cached_property
    def counts(self) -> bool:
        """Return whether it is asked how many there are."""
        return any(u.cue == "count" for u in self.cues)

    def is_kind(self, at: int) -> bool:
        """Return whether a word may be what the things that the graph is about are called."""
        clear = max(self.links.get(at, {}).values(), default=0.0) >= _CLEAR
        word = self.low.get(at, "")
        return not (clear or is_free(word)) and _is_kind(self.lexicon, word)

    def joins(self, beside: int, at: int, *, noun: bool) -> bool:
        """Return whether a relation is walked there and back for a word near it."""
        word, far = self.low[beside], beside - at
        if word == "co":
            return far == -1
        if word == "together" or self.is_kind(beside + 1):
            return -2 <= far <= 3  # "appeared in the same film"
        return noun and abs(far) <= 2

    @cached_property
    def said(self) -> tuple[LinkWord, ...]:
        """Return the words that name relations, or what the graph is about."""
        found = list[LinkWord]()
        for at, word in self.words.items():
            links, noun = self.links.get(at, {}), _is_noun(word)
            if at in self.beside or (self.low[at] == "when" and at > 1):
                continue
            if self.is_kind(at):
                found.append(LinkWord(Unit("class", at, at + 1), {}))
            elif links:
                apposed = noun and at == self.anchor.start - 1
                back = any(self.joins(s, at, noun=noun) for s in self.beside)
                found.append(LinkWord(Unit("property", at, at + 1), links, back, noun, apposed))
        return tuple(found)

    @cached_property
    def unread(self) -> frozenset[int]:
        """Return the places of words that carry meaning which no walk reads."""
        read = {at for u in self.cues for at in range(u.start, u.end)} | {s.unit.start for s in self.said}
        some = {at: word for at, word in self.low.items() if at not in read | self.beside}
        return frozenset(
            at for at, w in some.items() if not (is_free(w) or w in PREPOSITIONS or _means(w, "vague"))
        )

    @cached_property
    def left(self) -> list[str]:
        """Return what cue words say that no walk does; the "by" of "written by" groups nothing."""
        taken = self.beside.union(*((s.unit.start, s.unit.end) for s in self.said if s.links))
        return [u.cue for u in self.cues if u.cue not in _FREE and taken.isdisjoint(range(u.start, u.end))]

    @cached_property
    def target(self) -> Mapping[str, float] | None:
        """Return the relations that the word for what is asked for names, none if it is one like "films"."""
        said = {s.unit.start: s.links for s in self.said}
        if self.low.get(0) == "when":
            return said.get(0)
        asking = [at for at, word in self.low.items() if word in _ASKING]
        start = next(iter(asking or (at for at, word in self.low.items() if word == "also")), -1) + 1
        for at in range(start, start + 5):
            if at not in self.low or self.low[at].endswith("ed") or at in self.beside:
                return None
            if said.get(at) == {} and said.get(at + 1) and self.low.get(at + 2) in BEING:
                return said[at + 1]  # "what film genre is"
            if at in said and (not said[at] or _is_noun(self.words[at]) or at - 1 in asking):
                return said[at]
        return None

    @cached_property
    def order(self) -> list[LinkWord]:
        """Return words outwards from the name: "X's director", what stands before it, what stands behind.

        Two that name one relation together are one: "release date".
        """
        merged, kinds = list[LinkWord](), {s.unit.start for s in self.said if not s.links}
        for one in self.said:
            last = merged[-1] if merged and merged[-1].unit.end == one.unit.start else LinkWord(one.unit, {})
            both = {p: max(last.links[p], one.links[p]) for p in last.links if p in one.links}
            if both and not last.beside:
                one = replace(one, unit=replace(one.unit, start=last.unit.start), links=both)
                merged.pop()
            merged.append(one)
        before = [s for s in merged if s.unit.start < self.anchor.start]
        behind = [s for s in merged if s.unit.start >= self.anchor.end]
        nearest = [
            s for s in behind[:1] if s.unit.start == self.anchor.end and (s.noun or s.unit.end in kinds)
        ]
        return [*nearest, *reversed(before), *behind[len(nearest) :]]


@dataclass(frozen=True)
class _Walk:
    """A walk as far as it has come, with the words read, what is measured of it, and what that is worth."""

    steps: Way = ()
    items: tuple[RoleItem, ...] = ()
    features: Mapping[str, float] = field(default_factory=dict, compare=False)
    worth: float = 0.0


def chains(
    lexicon: Lexicon, words: Sequence[TextToken], units: Sequence[Unit], weights: Mapping[str, float]
) -> list[QuestionDerivation]:
    """Return the likeliest walks from the names of a question, likeliest first.

    Args:
        lexicon: The names of the graph.
        words: The words of the question.
        units: What its words may be.
        weights: What counts how much.
    """
    anchors, kg, best = _anchors(units, words), lexicon.kg, dict[Plan, QuestionDerivation]()
    if not anchors:
        return []
    steps = kg.cached("planning chains", lambda: _read(kg, lexicon.schema))
    own, links = _steps_of(kg, (c.term for a in anchors for c in a.options)), _links(lexicon, units, words)
    for anchor in anchors:
        cues = [u for u in units if u.kind == "cue" and (u.end <= anchor.start or anchor.end <= u.start)]
        beside = {at: word for at, word in enumerate(words) if not anchor.start <= at < anchor.end}
        asked = _Asked(lexicon, steps, weights, anchor, beside, links, cues)
        for thing in anchor.options:
            walks = [_Walk((), (RoleItem("is", anchor, thing),))]
            for one in asked.order:
                further = [new for walk in walks for new in _onward(asked, walk, one, own[thing.term])]
                walks = sorted(further, key=lambda w: (-w.worth, w.steps))[:_BEAM]
            for made in (_derived(asked, thing, walk) for walk in walks if walk.steps):
                if made.draft.plan not in best or best[made.draft.plan].score < made.score:
                    best[made.draft.plan] = made
    return sorted(best.values(), key=lambda d: (-d.score, repr(d.draft.plan)))[:_KEPT]


def _onward(asked: _Asked, walk: _Walk, one: LinkWord, own: Collection[WayStep]) -> Iterator[_Walk]:
    """Yield how a walk goes on with a word."""

    def more(iri: str, way: Way, **measured: float) -> _Walk:
        said = {f"walk {name.replace('_', ' ')}": value for name, value in measured.items() if value}
        features = {**walk.features, **{name: walk.features.get(name, 0.0) + v for name, v in said.items()}}
        read = [RoleItem("link", one.unit, Candidate("property", iri, one.links[iri], iri))] if iri else []
        return _Walk((*walk.steps, *way), (*walk.items, *read), features, walk.worth + asked.worth(said))

    last = walk.steps[-1] if walk.steps else WayStep("")
    back, hubs = WayStep(last.property, not last.inverse), asked.steps.hubs
    allowed = asked.steps.following.get(last, {}) if walk.steps else dict.fromkeys(own, 1.0)
    if not one.links:
        yield walk
        if back in hubs and last not in hubs:
            yield more("", (back,), silent=1)  # "films for the writer of X"
        return
    for iri, score in sorted(one.links.items()):
        match, again = score - 1, last.property == iri
        if again and back in allowed and one.beside and len(walk.steps) < _LONGEST:
            yield more(iri, (back,), match=match)  # "whose directors also directed X": to others of the same
            continue
        if again and not one.beside:
            yield more(iri, (), match=match, said_again=1)  # "the actors who starred"
        for step in (s for s in (WayStep(iri), WayStep(iri, True)) if s in allowed):
            way = (step, WayStep(iri, not step.inverse)) if one.beside else (step,)
            if len(walk.steps) + len(way) <= _LONGEST:
                rare = 1 - min(1.0, allowed[step] / _COMMON)
                yield more(iri, way, match=match, rare=rare, back=again)
    yield more("", (), past_apposed=1) if one.apposed else more("", (), past=1)


def _derived(asked: _Asked, thing: Candidate, walk: _Walk) -> QuestionDerivation:
    """Return a walk as a plan, with what is measured of it and the words that it leaves unread."""
    infos, read, end = asked.lexicon.schema.properties, {i.unit.start for i in walk.items}, walk.steps[-1]
    names = {n for s in walk.steps for n in infos[s.property].names}
    near = {at for at in asked.unread for n in names if asked.lexicon.likeness(asked.low[at], n) >= _NEAR}
    past = {s.unit.start for s in asked.order if s.links and not s.apposed} - read
    hub, target = end in asked.steps.hubs, asked.target
    astray = hub if _WHO & {*asked.low.values()} else False if target is None else hub == bool(target)
    cues = {f"left:{cue}": float(asked.left.count(cue)) for cue in asked.left}
    whole = {
        "walk": 1.0,
        "walk steps": float(len(walk.steps)),
        "walk astray": float(astray or bool(target and end.property not in target)),
        "walk near": float(len(near)),
        "walk left": float(len(asked.unread - near)),
        "match:entity": thing.score - 1,
    }
    features = {**walk.features, **cues, **{name: value for name, value in whole.items() if value}}
    plan, left = _plan(thing, walk.steps, counts=asked.counts), tuple(sorted(past | asked.unread - near))
    draft = PlanDraft(plan, tuple(c.name for c in plan.columns), features)
    return QuestionDerivation(draft, walk.items, left, features, asked.worth(features))


def _plan(thing: Candidate, way: Way, *, counts: bool) -> Plan:
    """Return the plan of a walk; who or what it comes back to is another one."""
    places: list[URIRef | Unknown] = [URIRef(thing.term)]
    patterns, apart, end = list[Pattern](), list[Comparison](), Unknown("thing")
    for number, step in enumerate(way, 1):
        places.append(end if number == len(way) else Unknown(f"thing_{number}"))
        subject, value = places[:-3:-1] if step.inverse else places[-2:]
        patterns.append(Pattern(subject, URIRef(step.property), value))
        if number > 1 and way[number - 2] == WayStep(step.property, not step.inverse):
            apart.append(Comparison(places[-1], "!=", places[-3]))
    column = Column(Aggregate("count", None, (end,)), "number") if counts else Column(end, end.name)
    return Plan(Block(tuple(patterns), tuple(apart)), (column,))
