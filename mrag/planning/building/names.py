"""The entities and values that a question names, as places and conditions of its plan."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rdflib import RDF, URIRef

from mrag.language.names import Likeness, likeness
from mrag.planning.asked.kinds import kinds_besides
from mrag.planning.building.expressions import PlanExpressions
from mrag.planning.building.literals import text_is
from mrag.planning.building.nodes import PlanNode
from mrag.planning.composing.drafts import Unbuildable
from mrag.planning.lexical.candidates import Candidate
from mrag.planning.plan import Block, Comparison, Pattern, Unknown
from mrag.planning.reading.frame import FrameRestriction, Noun
from mrag.planning.schema import by_number

_LEFT_OUT = re.compile(
    r"\b(?:other than|besides|apart from|except(?: for)?|excluding|not counting)(?: the)?\Z"
)
"""Words before a name that is left out of what is asked for."""


@dataclass
class PlanNames(PlanExpressions):
    """The entities and values that a question names, as places and conditions of its plan."""

    def _classes(self) -> None:
        beside = {id(r.noun) for r in self.frame.restrictions if r.noun is not None}
        for noun in self.frame.nouns:
            if noun.role in ("missing", "denied"):
                continue
            want = "number" if noun.role in ("compared", "order") else self._asked_for(noun)
            measures = [m for m in self._measures() if m.noun is noun]
            if measures and measures[0].function not in (None, "count"):
                want = "number"
            found = self.noun(noun, want)
            if self.frame.asks == "where" and id(noun) in beside and self._apposed(noun):
                # "Where is Lake Iliamna?" asks for one thing, by its kind and name.
                noun.role = "beside"
                self.frame.outputs = [o for o in self.frame.outputs if o is not noun]
            if found.kind == "class" and (self._within_denied(noun) or self._is_besides(noun, found)):
                noun.role = "beside"
            elif found.kind == "class" and not (
                id(noun) in beside and noun.role in ("", "beside") and self._apposed(noun)
            ):
                self.graph.node_of(found.term, typed=True)

    def _is_besides(self, noun: Noun, found: Candidate) -> bool:
        """Say of things that they are of a further kind, if a noun says so: "actors that are directors"."""
        for one, further in kinds_besides(self.frame.nouns, self.question.low):
            kind = self.noun(one)
            if further is noun and kind.kind == "class" and found.term != kind.term:
                place = self.graph.node_of(kind.term, typed=True).place
                self.graph.patterns.append(Pattern(place, RDF.type, URIRef(found.term)))
                return True
        return False

    def _within_denied(self, noun: Noun) -> bool:
        """Return whether a kind only tells in what a denied name is not: "without Ada in the cast"."""
        low = self.question.low
        return not noun.role and any(
            r.negated and low[r.mention.end : noun.start] in (["in", "the"], ["in", "their"], ["in", "its"])
            for r in self.frame.restrictions
        )

    def _asked_for(self, noun: Noun) -> str:
        """Return `who` or `where`, if a question asks for that by a verb: "where was it published"."""
        asks, way = self.frame.asks, noun.candidates[0].way
        verb = noun.role == "output" and self.question.low[noun.start - 1] not in ("the", "a", "an", "of")
        return asks if verb and asks in ("who", "where") and way != "exact" else ""

    def _apposed(self, noun: Noun) -> bool:
        cls = self.noun(noun).term
        return any(
            cls in c.classes
            for r in self.frame.restrictions
            if r.noun is noun
            for c in r.mention.candidates[:3]
        )

    def _restrict(self, restriction: FrameRestriction) -> None:
        mention = restriction.mention
        beside = self.noun(restriction.noun) if restriction.noun is not None else None

        def like(c: Candidate) -> float:
            bonus = 0.0
            if beside is not None and (beside.term in c.properties or beside.term in c.classes):
                bonus = 0.3
                if self._one_of_many(restriction, beside, c):
                    bonus = -0.1
            classes = list(c.classes) if c.kind == "entity" else self._value_domains(c, beside)
            return (
                c.score
                + bonus
                - 0.1 * self._distance(classes, mention.start)
                - (0.02 if c.kind == "value" else 0)
            )

        found = self.pick(mention.end, mention.candidates, like)
        if found.kind == "entity":
            self._entity(restriction, found)
        else:
            self._value(restriction, found, beside)

    def _one_of_many(self, restriction: FrameRestriction, beside: Candidate, c: Candidate) -> bool:
        """Return whether a name is of one thing where several are spoken of: "pizza restaurants"."""
        if c.kind != "entity" or beside.kind != "class" or restriction.noun is None:
            return False
        alike = [o for o in restriction.mention.candidates if o.kind == "entity" and o.name == c.name]
        plural = self.question.words[restriction.noun.end - 1].plural
        return len(alike) == 1 and plural and restriction.noun.start == restriction.mention.end

    def _value_domains(self, c: Candidate, beside: Candidate | None) -> list[str]:
        properties = [p for p in c.properties if beside is not None and p == beside.term] or list(
            c.properties
        )
        return [
            d for p in properties if p in self.schema.properties for d in self.schema.properties[p].domains
        ]

    def _entity(self, restriction: FrameRestriction, found: Candidate) -> None:
        graph, mention = self.graph, restriction.mention
        same = [
            c for c in mention.candidates
            if c.kind == "entity" and c.score == found.score
            and likeness(c.name, found.name) <= Likeness.SIGNS
            and set(c.classes) == set(found.classes)
        ]  # fmt: skip
        hints = self._near(mention.start)
        if restriction.listed:
            node = graph.node_of(found.classes[0] if found.classes else "")
            self._alternatives(
                restriction,
                tuple(Block(conditions=(Comparison(node.place, "=", URIRef(c.term)),)) for c in same),
            )
            return
        if restriction.negated and (itself := self._itself(restriction, found)) is not None:
            graph.conditions.append(Comparison(itself, "!=", URIRef(found.term)))
            return
        if restriction.negated:
            way = self._reach(found.classes, URIRef(found.term))
            graph.without.append(Block(self._of_another(way, found) or way))
            return
        if restriction.either >= 0:
            graph.near = hints
            if (own := self._owner_like(found)) is not None:
                alike = (Comparison(own.place, "=", URIRef(c.term)) for c in same)
                self._alternatives(restriction, tuple(Block(conditions=(c,)) for c in alike))
                return
            self._alternatives(
                restriction, tuple(Block(self._reach(c.classes, URIRef(c.term))) for c in same)
            )
            return
        if len(same) == 1:
            node = graph.constant(found.term, found.classes)
            if self._paired(restriction, found):
                graph.paired.add(node.place)
            node.hints = hints
            return
        node = next(
            (
                n
                for n in graph.nodes
                if isinstance(n.place, Unknown) and n.classes[:1] == found.classes[:1] and not n.typed
            ),
            None,
        ) or graph.node_of(found.classes[0] if found.classes else "", new=True)
        node.hints = hints
        blocks = tuple(Block(conditions=(Comparison(node.place, "=", URIRef(c.term)),)) for c in same)
        self._alternatives(restriction, blocks)

    def _itself(self, restriction: FrameRestriction, found: Candidate) -> Unknown | None:
        """Return the things of its own kind from which a name is left out: "besides Rome, which cities"."""
        before = " ".join(self.question.low[: restriction.mention.start])
        if not _LEFT_OUT.search(before):
            return None
        asked = self.frame.asks == "who" and not any(n.typed for n in self.graph.nodes)
        typed = [
            n
            for n in self.graph.nodes
            if (n.typed or asked) and self.graph.compatible(n.classes[0], found.classes)
        ]  # "apart from Ada, who has …" asks for no kind
        return next((n.place for n in typed if isinstance(n.place, Unknown)), None)

    def _of_another(self, way: tuple[Pattern, ...], found: Candidate) -> tuple[Pattern, ...]:
        """Return triples that deny a value to others with it: "causes seen in Kiel but not in Bonn".

        What has one place only and is in another anyway need not be denied the first.
        """
        info = self.schema.properties.get(str(way[0].predicate))
        owner, shown = way[0].subject, [p for p in self.graph.patterns if p.subject == way[0].subject]
        others = [r for r in self.frame.restrictions if not r.negated and r.mention.candidates[0] != found]
        alike = any(set(r.mention.candidates[0].classes) & set(found.classes) for r in others)
        values = [p for p in shown if isinstance(p.object, Unknown)]
        if len(way) > 1 or info is None or not info.functional or not alike or len(values) != 1:
            return ()
        if any(n.place == owner and n.typed for n in self.graph.nodes):
            return ()
        other = self.graph.fresh("another")
        return Pattern(other, values[0].predicate, values[0].object), replace(way[0], subject=other)

    def _paired(self, restriction: FrameRestriction, found: Candidate) -> bool:
        """Return whether a name is joined to the one before it: "with Ada and Ben"."""
        start, low = restriction.mention.start, self.question.low
        return any(
            set(low[r.mention.end : start]) <= {"and", "the", "a", "an", "with", "also", "as", "well", "in"}
            and {"and"} & set(low[r.mention.end : start])
            and set(r.mention.candidates[0].classes) & set(found.classes)
            for r in self.frame.restrictions
            if r.mention.end < start
        )

    def _reach(self, classes: Sequence[str], end: URIRef | None = None) -> tuple[Pattern, ...]:
        """Return triples with unknowns of their own that lead from what is named to things of some classes.

        Args:
            classes: Classes of the end.
            end: The end itself; None for any.
        """
        graph = self.graph
        classes = self.schema.narrowest(classes) if end is not None else classes
        open_ = graph.unnamed
        sources = sorted({c for n in open_ for c in n.classes})
        # What is reviewed by one but not by another is no matter of one review.
        verbs = {
            self.noun(n).term
            for n in self.frame.nouns
            if self.question.words[n.end - 1].low.endswith(("ed", "ing"))
        }
        named = sorted({c for n in open_ if n.typed for c in n.classes} - verbs)
        way = self.joins.path(named, classes, discount=graph.discount) if named else None
        if way is None or not way[1]:
            way = self.joins.path(sources, classes, discount=graph.discount)
        if way is None or not way[1]:
            way = min(
                (
                    w
                    for c in classes
                    if c in sources and (w := self.joins.walk_to_other(c, discount=graph.discount))
                ),
                default=None,
            )
        if way is None or not way[1]:
            raise Unbuildable("nothing leads there")
        at = next(n for n in graph.nodes if way[1][0].source in n.classes)
        graph.cost += max(0.0, way[0] - 1)
        patterns: list[Pattern] = []
        place = at.place
        for number, step in enumerate(way[1]):
            following = end if end is not None and number == len(way[1]) - 1 else graph.fresh("other")
            subject, object_ = (place, following) if step.forward else (following, place)
            patterns.append(Pattern(subject, URIRef(step.property), object_))
            place = following
            graph.read.append(step.property)
        return tuple(patterns)

    def _value(self, restriction: FrameRestriction, found: Candidate, beside: Candidate | None) -> None:
        graph = self.graph
        at = restriction.mention.start
        before = {w.stem for w in self.question.words[max(0, at - 3) : at]}
        end = restriction.mention.end
        behind = [n for n in self.frame.nouns if n.start == end and n.candidates[0].kind == "class"]
        kinds = {self.noun(n).term for n in behind}

        def like(iri: str) -> float:
            info = self.schema.properties[iri]
            named = 0.5 if beside is not None and beside.term == iri else 0.0
            words = {w for name in info.names for w in name.lower().split()}
            # "Taught by female teachers" is said of the teachers.
            named += 0.5 * bool(kinds & {*info.domains})
            return named + 0.1 * len(before & words) - 0.12 * self._distance(sorted(info.domains), at)

        known = [p for p in found.properties if p in self.schema.properties]
        if not known:
            raise Unbuildable("value")
        iri = max(known, key=lambda p: (like(p), p))
        if len(known) > 1 and restriction.either < 0 and not restriction.negated:
            # "Bands from Ghana that played in Togo" come from one place and played in another.
            free = [p for p in known if not self._has_other_value(p, found) and self._of_noun(p, restriction)]
            iri = iri if iri in free or not free else max(free, key=lambda p: (like(p), p))
        info = self.schema.properties[iri]
        domains = by_number(info.domains)
        owner = graph.owner(domains, constants=self.frame.yes_or_no)
        key = (str(owner.place), iri)
        if self._restricted.get(key) == found.term and not restriction.negated:
            return
        again = key in self._restricted and restriction.either < 0 and not restriction.negated
        if again and info.functional:
            # One thing cannot have both values: another thing is meant, such as the other end of a journey.
            owner = graph.node_of(domains[0] if domains else "", new=True)
        if again and not info.functional:
            value = graph.fresh(info.names[0])
            graph.add(owner.place, iri, value)
        else:
            value = graph.value(owner, info)
        if not owner.hints:
            owner.hints = self._near(at)
        self._restricted[str(owner.place), iri] = found.term
        condition = text_is(value, found.term)
        if restriction.negated:
            graph.without.append(Block((Pattern(owner.place, URIRef(iri), value),), (condition,)))
            return
        self._alternatives(restriction, (Block(conditions=(condition,)),))

    def _of_noun(self, iri: str, restriction: FrameRestriction) -> bool:
        """Return whether a property may be said of what stands beside a value: "female doctors"."""
        best = None if restriction.noun is None else restriction.noun.candidates[0]
        domains = self.schema.properties[iri].domains
        return (
            best is None
            or best.kind != "class"
            or any(self.graph.compatible(best.term, [d]) for d in domains)
        )

    def _has_other_value(self, iri: str, found: Candidate) -> bool:
        """Return whether a property that has one value only has another one of its things already."""
        others = (value for (_, known), value in self._restricted.items() if known == iri)
        return self.schema.properties[iri].functional and any(value != found.term for value in others)

    def _alternatives(self, restriction: FrameRestriction, blocks: tuple[Block, ...]) -> None:
        if restriction.either < 0:
            if len(blocks) == 1:
                self.graph.conditions.extend(blocks[0].conditions)
            else:
                self.graph.either.append(blocks)
            return
        self._pending.setdefault(restriction.either, []).extend(blocks)

    def _merge_alternatives(self) -> None:
        for number in sorted(self._pending):
            self.graph.either.append(tuple(self._pending.pop(number)))

    def _waits(self, restriction: FrameRestriction) -> bool:
        """Return whether it is known only with what is shown what a name is said of: "rooms of A or B"."""
        one_of = restriction.either >= 0 and not restriction.listed
        thing = restriction.mention.candidates[0].kind == "entity"
        alone = not self.graph.unnamed
        return (restriction.negated or (one_of and thing)) and alone

    def _owner_like(self, found: Candidate) -> PlanNode | None:
        """Return the thing of the class of a name whose properties are shown: the "salary of Ada or Ben"."""
        shown = {p.subject for p in self.graph.patterns}
        kinds = {n.term for noun in self.frame.nouns for n in noun.candidates[:1] if n.kind == "class"}
        nodes = [n for n in self.graph.unnamed if n.place in shown]
        return next((n for n in nodes if {*n.classes} & {*found.classes} and not {*n.classes} & kinds), None)
