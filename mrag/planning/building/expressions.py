"""What the nouns, measures and times of a question stand for in its plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rdflib import URIRef

from mrag.planning.building.assembly import PlanNode
from mrag.planning.building.choices import OF, PlanChoices, Unbuildable
from mrag.planning.lexical.candidates import Candidate
from mrag.planning.plan import (
    Aggregate,
    DatePart,
    Expression,
    Unknown,
)
from mrag.planning.profile.whereabouts import NOWHERE, place_rank
from mrag.planning.reading.frame import (
    FrameMeasure,
    Noun,
    Output,
    TimeUnit,
)
from mrag.planning.schema import PropertyInfo
from mrag.text.english import PERSON_WORDS
from mrag.text.tokens import alike, content


@dataclass
class PlanExpressions(PlanChoices):
    """What the nouns, measures and times of a question stand for in its plan."""

    def expression(self, output: Output) -> Expression:
        """Return what a noun, a measure or a unit of time stands for in the query."""
        if isinstance(output, TimeUnit):
            value, info = self._time(output.noun, output.start)
            part = "year-month" if output.part == "month" else output.part
            return value if info.kind == "number" else DatePart(part, value)
        if isinstance(output, FrameMeasure):
            return self._measure(output)
        found = self.noun(output)
        if found.kind == "class":
            return self.graph.node_of(found.term, typed=True).place
        return self._property(found, output)

    def _property(self, found: Candidate, noun: Noun | None, owner: PlanNode | None = None) -> Expression:
        info = self.info(found)
        if owner is None or not set(owner.classes) & set(info.domains):
            owner = self._whose(found, noun) if noun is not None else None
        owner = owner or self.graph.owner(self._domains(found))
        if info.kind != "entity":
            return self.graph.number(owner, info) if info.kind == "number" else self.graph.value(owner, info)
        ranges = sorted(info.ranges, key=lambda c: (-info.ranges[c], c))
        whole = self._whole(info) if noun is not None and noun.role in ("output", "measure") else None
        if whole is not None and not found.inverse and isinstance(owner.place, Unknown):
            self.graph.add(owner.place, info.iri, whole)
            return owner.place
        if found.inverse:
            target = next((n for n in self.graph.nodes if set(n.classes) & set(ranges)), None)
            target = target or self.graph.node_of(ranges[0] if ranges else "")
            self.graph.add(owner.place, info.iri, target.place)
            # What is named is known: the other end is asked for.
            return target.place if isinstance(owner.place, URIRef) else owner.place
        target = next(
            (
                n
                for n in self.graph.nodes
                if n is not owner and isinstance(n.place, Unknown) and set(n.classes) & set(ranges)
            ),
            None,
        ) or self.graph.node_of(ranges[0] if ranges else "", new=True)
        self.graph.add(owner.place, info.iri, target.place)
        return target.place

    def _whole(self, info: PropertyInfo) -> URIRef | None:
        """Return the named thing at the far end of a property: "members of NATO" asks for the near end."""
        named = [n for n in self.graph.nodes if isinstance(n.place, URIRef)]
        far = [
            n for n in named if set(n.classes) & set(info.ranges) and not set(n.classes) & set(info.domains)
        ]
        near = [n for n in named if set(n.classes) & set(info.domains)]
        place = far[0].place if len(far) == 1 and not near else None
        return place if isinstance(place, URIRef) else None

    def _whose(self, found: Candidate, noun: Noun) -> PlanNode | None:
        """Return what a property is asked of: "the population of the capital"."""
        low = self.question.low
        for other in self.frame.nouns:
            between = low[noun.end : other.start]
            if other.start >= noun.end and between and between[0] == "of" and set(between) <= OF:
                node = self._node_of(other)
                if node is not None and set(node.classes) & set(self._domains(found)):
                    return node
            if other.start >= noun.end and other.role == "" and self._named_behind(other):
                kind = self.noun(other)
                if kind.kind == "property" and set(self.info(kind).ranges) & set(self._domains(found)):
                    return self._node_of(other)
        return None

    def _named_behind(self, noun: Noun) -> bool:
        """Return whether a noun is said of a thing: "the capital of Texas"."""
        low = self.question.low
        return any(
            low[noun.end : r.mention.start] in (["of"], ["of", "the"]) for r in self.frame.restrictions
        )

    def _node_of(self, noun: Noun | None) -> PlanNode | None:
        """Return the node that a noun stands for, if it stands for things."""
        if noun is None:
            return None
        found = self.noun(noun)
        if found.kind == "class":
            return self.graph.node_of(found.term, typed=True)
        if self.info(found).kind != "entity":
            return None
        place = self._property(found, noun)
        return next((n for n in self.graph.nodes if n.place == place), None)

    def _measure(self, measure: FrameMeasure) -> Expression:
        if measure.noun is None:
            return Aggregate("count", None, (self._unknown(self._focus()),))
        function = measure.function
        found = self.noun(measure.noun)
        if found.kind == "class":
            if measure.money:
                return self._money(found.term)
            if (other := self._related(found.term, measure.noun)) is not None:
                return Aggregate("count", None, (self._unknown(other),))
            node = self.graph.node_of(found.term, typed=True)
            return Aggregate("count", None, (self._unknown(node),))
        info = self.info(found)
        value = self._property(found, measure.noun)
        if function is None:
            return value
        owner = self.graph.owner(self._domains(found))
        if info.kind == "entity":
            return Aggregate(
                "count", None, (value,) if isinstance(value, Unknown) else (self._unknown(owner),)
            )
        if function == "count":
            if info.kind != "number":
                return Aggregate("count", None, (value,) if isinstance(value, Unknown) else ())
            function = "sum"
        if owner.fixed:
            return value
        return Aggregate(function, value, (owner.place,) if isinstance(owner.place, Unknown) else ())

    def _related(self, cls: str, noun: Noun) -> PlanNode | None:
        """Return the other things of a class that a verb relates those shown to: "borders most states"."""
        shown = [o for o in self.frame.outputs if isinstance(o, Noun) and o is not noun]
        if not any(self.noun(o).term == cls for o in shown):
            return None
        for verb in self.frame.nouns:
            found = self.noun(verb)
            info = self.schema.properties.get(found.term)
            if (
                verb.role == ""
                and found.kind == "property"
                and info
                and cls in info.domains
                and cls in info.ranges
            ):
                node, other = (
                    self.graph.node_of(cls, typed=True),
                    self.graph.node_of(cls, typed=True, new=True),
                )
                self.graph.add(node.place, info.iri, other.place)
                return other
        return None

    def _money(self, cls: str) -> Expression:
        """Return the sum of the one property of a class that is an amount: "the total sales amount"."""
        words = {"price", "amount", "cost", "revenue", "value", "total", "worth"}
        found = [
            i for i in self.schema.properties.values()
            if cls in i.domains and i.kind == "number" and words & set(i.names[0].lower().split())
        ]  # fmt: skip
        if len(found) != 1:
            raise Unbuildable("which amount?")
        node = self.graph.node_of(cls, typed=True)
        return Aggregate("sum", self.graph.number(node, found[0]), (self._unknown(node),))

    @staticmethod
    def _unknown(node: PlanNode) -> Unknown:
        if not isinstance(node.place, Unknown):
            raise Unbuildable("an entity is not counted")
        return node.place

    def _other_end(self) -> PlanNode | None:
        """Return what a verb relates to the only thing that is named: "who develops GraphDB"."""
        named = [n for n in self.graph.nodes if isinstance(n.place, URIRef)]
        if len(named) != 1 or len(self.graph.nodes) != 1:
            return None
        for verb in self.frame.nouns:
            found = self.noun(verb)
            info = self.schema.properties.get(found.term) if found.kind == "property" else None
            if info is None or info.kind != "entity":
                continue
            classes, place = set(named[0].classes), named[0].place
            forward = bool(classes & set(info.domains))
            at = next((r.mention.start for r in self.frame.restrictions), 0)
            if forward and classes & set(info.ranges) and verb.start == 1 and verb.end <= at:
                forward = "by" in self.question.low[verb.end : at]  # "who reports to Ada" asks for no boss
            if not forward and not classes & set(info.ranges):
                continue
            ends = info.ranges if forward else info.domains
            best = max(ends, key=lambda c: (ends[c], c), default="")
            other = self.graph.node_of(best, new=True)
            self.graph.add(*((place, info.iri, other.place) if forward else (other.place, info.iri, place)))
            return other
        return None

    def _place_of(self, node: PlanNode) -> PlanNode | None:
        """Return where a thing is, by a property that leads to a place."""
        said = {word.stem for word in self.question.words}
        found = [
            (rank, info.iri)
            for info in self.schema.properties.values()
            if info.kind == "entity" and set(info.domains) & set(node.classes)
            and (rank := place_rank(info, self.schema, said)) < NOWHERE
        ]  # fmt: skip
        if not found:
            return None
        info = self.schema.properties[min(found)[1]]
        ranges = sorted(info.ranges, key=lambda c: (-info.ranges[c], c))
        target = self.graph.node_of(ranges[0] if ranges else "", new=True)
        self.graph.add(node.place, info.iri, target.place)
        return target

    def _person(self) -> PlanNode:
        """Return whom a "who" asks for: of the kinds of people in the graph, the nearest to what is named."""
        kinds = [
            c for c, info in sorted(self.schema.classes.items())
            if PERSON_WORDS & {w for name in info.names[:1] for w in name.lower().split()}
        ]  # fmt: skip
        named = [c for n in self.graph.nodes for c in n.classes]
        if not named:
            found = [self.noun(n) for n in self.frame.nouns]
            named = [c for f in found if f.kind == "property" for c in self._domains(f)]
        for node in self.graph.nodes:
            if isinstance(node.place, Unknown) and set(node.classes) & set(kinds):
                return node
        ways = [(w[0], c) for c in kinds if (w := self.joins.path(named, [c], max_cost=2.5)) is not None]
        if not ways:
            raise Unbuildable("nobody is in this graph")
        least = min(ways)[0]
        # Of kinds that are as near, the largest holds the others.
        near = [c for cost, c in ways if cost < least + 0.3]
        best = max(near, key=lambda c: (self.schema.classes[c].count, c))
        return self.graph.node_of(best, typed=True)

    def _focus(self) -> PlanNode:
        self.guesses += 1
        if (end := self._other_end()) is not None:
            return end
        if self.frame.asks == "who":
            return self._person()
        if self.frame.asks == "where" and len(self.frame.restrictions) == 1 and self.question.low[1] != "can":
            for node in self.graph.nodes:
                if (where := self._place_of(node)) is not None:
                    return where
        for node in self.graph.nodes:
            if isinstance(node.place, Unknown):
                return node
        for noun in self.frame.nouns:
            found = self.noun(noun)
            if found.kind == "property" and self.info(found).kind == "entity":
                place = self._property(found, noun)
                return next(n for n in self.graph.nodes if n.place == place)
        for noun in self.frame.nouns:
            found = self.noun(noun)
            if not noun.role and found.kind == "property" and self.info(found).kind == "date":
                # "What was opened in 2005" asks for things.
                owner = self.graph.owner(self._domains(found), constants=False)
                owner.typed |= len(self._domains(found)) == 1
                return owner
        raise Unbuildable("nothing is asked for")

    def _time(self, noun: Noun | None, at: int) -> tuple[Expression, PropertyInfo]:
        """Return the date that a time in the question speaks of: the property beside it, or the likeliest."""
        if noun is not None:
            found = self.noun(noun, "date")
            if found.kind == "property" and self._timely(self.info(found)):
                return self._property(found, noun), self.info(found)
            if found.kind == "property" and not noun.role and found.score < 0.75:
                self.matches.remove(found.score)  # "published in 2005" is said of the year
        options = [i for i in self.schema.properties.values() if self._timely(i)]
        if not options:
            raise Unbuildable("no dates")
        hints = self._hints()
        around = {w.stem for w in self.question.words[max(0, at - 5) : at + 2]}

        def like(info: PropertyInfo) -> float:
            words = {s for name in info.names for s in content(name)}
            near = {w for w in words if any(alike(w, other) for other in around)}
            told = 0.35 * len(near) + 0.1 * len(words & set(hints))
            open_ = [n for n in self.graph.nodes if isinstance(n.place, Unknown)]
            named = [n for n in self.graph.nodes if n not in open_ and set(n.classes) & set(info.domains)]
            if named and not any(set(n.classes) & set(info.domains) for n in open_):
                told -= 0.4  # what is named is seldom dated, what is asked for is
            return told - 0.3 * self._distance(sorted(info.domains), at)

        info = max(options, key=lambda i: (like(i), i.iri))
        self.guesses += 1
        owner = self.graph.owner(sorted(info.domains, key=lambda c: (-info.domains[c], c)))
        return self.graph.value(owner, info), info

    @staticmethod
    def _timely(info: PropertyInfo) -> bool:
        if info.kind == "date":
            return True
        return info.kind == "number" and any("year" in name.lower().split() for name in info.names)

    def _said_of(
        self, options: Sequence[tuple[Candidate, str]], noun: Noun | None, *, only: bool = False
    ) -> Sequence[tuple[Candidate, str]]:
        """Return those of an adjective's properties that the things it is said of have; else all, or none."""
        classes = self._classes_of(noun) if noun is not None else []
        own = [o for o in options if any(self.graph.compatible(c, classes) for c in self._domains(o[0]))]
        return own or ([] if only else options)

    def _classes_of(self, noun: Noun) -> list[str]:
        found = self.noun(noun)
        if found.kind == "class":
            return [found.term]
        info = self.info(found)
        return list(info.domains if found.inverse else info.ranges)
