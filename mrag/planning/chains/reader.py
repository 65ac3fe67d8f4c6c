"""Questions over things without classes, read as chains of relations from the one thing that is named.

"Who starred in the films directed by the director of X" names three relations. Read from X outwards they
are a walk, and which way each is walked follows from where the walk stands: what is neither subject nor
object of a relation in the graph cannot go on by it. Every word is a relation's, says again what the walk has
come to, or is left unread.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rdflib import URIRef

from mrag.planning.chains.steps import ChainStep, ChainSteps, steps_of
from mrag.planning.chains.words import ChainWords, SaidRelation, anchors_of
from mrag.planning.composing.drafts import Draft
from mrag.planning.lexical.candidates import Candidate, NameMention
from mrag.planning.lexicon import Lexicon
from mrag.planning.plan import Aggregate, Block, Column, Comparison, Pattern, Plan, Unknown
from mrag.planning.reading.question import QuestionText
from mrag.planning.schema import Schema

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
class ChainReader(ChainWords):
    """Reads questions as chains.

    Args:
        schema: The schema.
        lexicon: The names of the graph.
    """

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
