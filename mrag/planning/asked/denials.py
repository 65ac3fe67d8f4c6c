"""What must not be: kinds, properties and names that a question denies."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rdflib import RDF, Literal, URIRef

from mrag.planning.asked.conditions import PlanConditions
from mrag.planning.composing.drafts import Unbuildable
from mrag.planning.plan import Block, Comparison, Pattern, Unknown
from mrag.planning.reading.frame import Noun

_DENIED = re.compile(
    r"\b(?:(?:is|are|was|were|but) not|(?:is|are|was|were)n't|except|excluding|besides|other than)"
    r"(?: an?| the| any)?\Z"
)
"""Words before a kind that a thing is not of."""

_LIKE_A_VERB = 0.6
"""How like the name of a property a verb is that says it of things of its classes."""


@dataclass
class PlanDenials(PlanConditions):
    """What must not be."""

    def _missing(self, noun: Noun) -> None:
        graph = self.graph
        found = self.noun(noun)
        graph.near = ()
        if {"all", "every", "each"} & {*self.question.low[max(0, noun.start - 3) : noun.start]}:
            raise Unbuildable("not all is not none")
        if found.kind == "property":
            info = self.info(found)
            ends = [n for n in graph.unnamed if n.typed]
            done = {*info.ranges} if self._done_to(noun, info) else {*info.ranges} - {*info.domains}
            if info.kind == "entity" and ends and set(ends[0].classes) & done:
                # "Cities that are not the capital": it is they that would be the value.
                other = graph.fresh("other")
                graph.without.append(Block((Pattern(other, URIRef(info.iri), ends[0].place),)))
                return
            if not info.flag and not any(set(n.classes) & set(info.domains) for n in graph.nodes):
                # "Authors who never published in a journal": it is their papers that are published there.
                patterns = self._reach(self._domains(found))
                last = self._last_of(patterns)
                missing = Pattern(last, URIRef(info.iri), graph.fresh("missing"))
                graph.without.append(Block((*patterns, missing)))
                return
            owner = graph.owner(self._domains(found))
            if info.flag:
                said = info.truth_value(False)
                graph.conditions.append(Comparison(graph.value(owner, info), "=", said))
                return
            if info.kind == "number" and info.minimum == "0":
                graph.conditions.append(Comparison(graph.number(owner, info), "=", Literal(0)))
                return
            graph.without.append(Block((Pattern(owner.place, URIRef(info.iri), graph.fresh("missing")),)))
            return
        for node in graph.nodes if _DENIED.search(" ".join(self.question.low[: noun.start])) else ():
            if isinstance(node.place, Unknown) and self.schema.above(found.term) & set(node.classes):
                # "Ships that are not tankers": tankers are ships.
                graph.without.append(Block((Pattern(node.place, RDF.type, URIRef(found.term)),)))
                return
        patterns = self._by_a_verb(noun, found.term) or self._reach([found.term])
        deeds = self._deeds(patterns)
        typed = Pattern(self._last_of(patterns), RDF.type, URIRef(found.term))
        graph.without.append(Block((*patterns, typed, *deeds)))

    def _by_a_verb(self, noun: Noun, cls: str) -> tuple[Pattern, ...]:
        """Return the triple by which a verb leads to things of a class: "tasks that need no task"."""
        nodes = [n for n in self.graph.unnamed if n.typed]
        verbs = [n for n in self.frame.nouns if n.end <= noun.start and not n.role and nodes]
        for verb, found in ((v, c) for v in verbs for c in v.candidates if c.score > _LIKE_A_VERB):
            info = self.schema.properties.get(found.term)
            if info is None or info.kind != "entity":
                continue
            kinds = {*nodes[0].classes}
            ways = [
                kinds & {*info.domains} and cls in info.ranges,
                kinds & {*info.ranges} and cls in info.domains,
            ]
            if not any(ways):
                continue
            self.picked[verb.end] = found
            self.graph.read.append(info.iri)
            one, other = nodes[0].place, self.graph.fresh("other")
            turned = self._is_done_to(verb) if all(ways) else not ways[0]
            return (
                Pattern(other, URIRef(info.iri), one) if turned else Pattern(one, URIRef(info.iri), other),
            )
        return ()

    def _deeds(self, patterns: Sequence[Pattern]) -> list[Pattern]:
        """Return what was not done to what leads to a kind: who is "not enrolled in any course".

        Raises:
            Unbuildable: If it is done to nothing on the way there.
        """
        found = list[Pattern]()
        for noun in [n for n in self.frame.nouns if n.role == "denied"]:
            deed = self.noun(noun)
            domains = {deed.term} if deed.kind == "class" else {*self.info(deed).domains}
            ends = {
                end: {*(way.domains if end == p.subject else way.ranges)}
                for p in patterns
                if (way := self.schema.properties.get(str(p.predicate))) is not None
                for end in (p.subject, p.object)
                if isinstance(end, Unknown) and end not in self._places()
            }
            owner = next((e for e, classes in ends.items() if classes & domains), None)
            if owner is None:
                raise Unbuildable("denied of something else")
            if deed.kind == "property":
                found.append(Pattern(owner, URIRef(deed.term), self.graph.fresh("missing")))
        return found

    def _last_of(self, patterns: Sequence[Pattern]) -> Unknown:
        """Return the end of a walk that leads from what the plan looks for."""
        last = patterns[-1]
        before = self._places() | {e for p in patterns[:-1] for e in (p.subject, p.object)}
        return next(e for e in (last.object, last.subject) if isinstance(e, Unknown) and e not in before)

    def _places(self) -> set[Unknown | URIRef]:
        return {node.place for node in self.graph.nodes}

    def _denied_of_things(self) -> None:
        """Refuse to deny of what leads to things what is denied of the things: "films without Ada"."""
        if not self.frame.missing and not any(r.negated for r in self.frame.restrictions):
            return
        measured = [m.noun for m in self.frame.measures if m.function == "count"]
        for noun in (*self.frame.outputs, *measured):
            info = self.schema.properties.get(self.noun(noun).term) if isinstance(noun, Noun) else None
            if info is None or info.kind != "entity" or not isinstance(noun, Noun):
                continue
            kinds = {
                c.term
                for c in noun.candidates
                if c.kind == "class" and c.score > noun.candidates[0].score - 0.05
            }
            if kinds & set(info.ranges):
                raise Unbuildable("denied of what leads there")
