"""From a frame to a plan."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rdflib import RDF, URIRef

from mrag.language.tokens import alike, content
from mrag.planning.asked.unread import PlanUnread
from mrag.planning.building import checks
from mrag.planning.building.assembly import QueryGraph
from mrag.planning.building.nodes import PlanNode
from mrag.planning.composing import shapes
from mrag.planning.composing.drafts import Draft, Unbuildable
from mrag.planning.lexical.candidates import Candidate
from mrag.planning.lexical.english import BEING, is_past
from mrag.planning.plan import (
    Aggregate,
    Block,
    Column,
    Comparison,
    Condition,
    Expression,
    Order,
    Pattern,
    Plan,
    Unknown,
    parts,
)
from mrag.planning.profile.usage import ways_to_say_where
from mrag.planning.reading.frame import FrameRestriction, Noun
from mrag.planning.scopes import aggregates

_SPANNING = re.compile(r"how many (years|months|days) (after|before|since|lie|passed|elapsed)\b")
"""Questions for the time between two others, which no value is."""


@dataclass
class Builder(PlanUnread):
    """Builds one plan of a frame."""

    def build(self) -> Draft:
        """Return the plan.

        Raises:
            Unbuildable: If there is none.
        """
        frame = self.frame
        spanning = _SPANNING.match(" ".join(self.question.low))
        if frame.unsupported or spanning or (frame.superlative and checks.says_when_last(self.question)):
            raise Unbuildable("unsupported")
        self.graph = QueryGraph(
            self.schema, self.joins, self._hints(), asks_relation=frame.yes_or_no, avoided=self.avoided
        )
        self.context = self._context()
        self.picked: dict[int, Candidate] = {}
        self.having: list[Condition] = []
        self.within = []
        self._classes()
        later: list[FrameRestriction] = []
        for restriction in frame.restrictions:
            if self._waits(restriction):
                later.append(restriction)  # what it is said of is known only with what is shown
            else:
                self._restrict(restriction)
        self._merge_alternatives()
        self._denied_of_things()
        self._how_extreme()
        columns, shown, order = self._columns()
        if self._shows_when_done():
            raise Unbuildable("when it was is not asked for")
        self.guesses += 2 * self._asks_for_its_subject()
        for restriction in later:
            self._restrict(restriction)
        self._merge_alternatives()
        self._verbs()
        self._named_ends()
        self._joinalike()
        for compared in frame.compared:
            self._compare(compared)
        for text in frame.texts:
            self._text(text)
        if not self.graph.nodes:
            raise Unbuildable("nothing is named")
        self._chained()
        self._membership()
        wanted = self._extreme_wanted()
        self.graph.connect()
        if self.graph.broken:
            raise Unbuildable("not connected")
        self._attached()
        for noun in frame.missing:
            self._missing(noun)
        self._wanted()
        self.guesses += 2 * frame.dangling
        if frame.asks == "where" and ways_to_say_where(self.graph.nodes[0].classes[0], self.schema) > 1:
            self.guesses += 1  # the city or the street
        self._extremes(columns, order, wanted)
        columns, shown = self._people_for(columns, shown)
        self._both_ways(columns)
        self._others(columns)
        self._apart(columns)
        where = self.graph.block()
        if where.empty:
            raise Unbuildable("nothing to look for")
        typed = [n.place for n in self.graph.unnamed if n.typed and isinstance(n.place, Unknown)]
        if len(self.graph.nodes) > 1 and shapes.loose(typed, where, columns):
            raise Unbuildable("not connected")
        plan = self._plan(where, columns, order)
        self.guesses += checks.heads_passed_over(self.segmentation, self.question, self._words_of_used())
        self.guesses += 2 * self._shows_others(plan, shown)
        beside = (columns and not shown) or self._not_asked_for(columns, shown)
        if beside or self._loses_a_relative(plan):
            raise Unbuildable("not what is asked for")
        return Draft(
            plan,
            tuple(shown),
            tuple(self.matches),
            self.graph.cost,
            self.guesses,
            self._ignored(),
            self.choices,
            tuple(sorted(self.graph.ties)),
        )

    def _attached(self) -> None:
        """Refuse a place that is joined to other things than those it is said of: "European vendors"."""
        nodes = {n.place: n for n in self.graph.nodes}
        for restriction in self.frame.restrictions:
            found = self.picked.get(restriction.mention.end)
            noun = next((n for n in self.frame.nouns if n.start == restriction.mention.end), None)
            if found is None or noun is None or found.way != "synonym" or found.kind != "entity":
                continue
            thing = self._thing_of(noun)
            reached: list[Unknown | URIRef] = [URIRef(found.term)]
            for place in reached:
                if place is not reached[0] and place in nodes and nodes[place].typed:
                    continue
                for pattern in self.graph.patterns:
                    ends = (pattern.subject, pattern.object)
                    far = ends[1] if ends[0] == place else ends[0] if ends[1] == place else None
                    if isinstance(far, Unknown | URIRef) and far not in reached:
                        reached.append(far)
            if thing is not None and reached[0] in nodes and thing.place not in reached:
                raise Unbuildable("of no such place")

    def _thing_of(self, noun: Noun) -> PlanNode | None:
        """Return the things of a class, or those that a property leads to, which a noun speaks of."""
        if self.noun(noun).kind == "class":
            return self._node_of(noun)
        ends = set(self.info(self.noun(noun)).ranges)
        return next((n for n in self.graph.unnamed if ends & set(n.classes)), None)

    def _apart(self, columns: list[Column]) -> None:
        """Leave a named thing out of what shares something with it: "countries that border Austria"."""
        shown = {u for c in columns for u in (c.value, *getattr(c.value, "of", ()))}
        for pattern in self.graph.patterns:
            for other in self.graph.patterns:
                hub = pattern.subject == other.subject and isinstance(pattern.subject, Unknown)
                alike = hub and pattern.predicate == other.predicate and other.object in shown
                if alike and isinstance(pattern.object, URIRef) and isinstance(other.object, Unknown):
                    apart = Comparison(other.object, "!=", pattern.object)
                    if apart not in self.graph.conditions:
                        self.graph.conditions.append(apart)

    def _chained(self) -> None:
        """Refuse a relation that is walked twice between things of one class: one unknown cannot say it."""
        for iri, info in self.schema.properties.items():
            if info.kind != "entity" or not set(info.domains) & set(info.ranges):
                continue
            kinds = [self.schema.classes[c] for c in info.ranges if c in self.schema.classes]
            things = {w for kind in kinds for name in kind.names for w in content(name)}
            names = {w for name in info.names for w in content(name)}
            names = names - things or names  # "papers" says no more of "cites paper"
            numbers = self._counts()
            said = [
                w for i, w in enumerate(self.question.words)
                if i not in numbers and any(alike(w.stem, n) for n in names)
            ]  # fmt: skip
            named = any(f.term == iri for n in self.frame.nouns for f in (self.noun(n),))
            if len(self.frame.restrictions) >= len(said):
                continue  # "border Texas and border Kansas" says one thing of two
            if named and len(said) > max(1, min(len(name.split()) for name in info.names)):
                raise Unbuildable("a relation said twice")

    def _membership(self) -> None:
        """Ask for the class of a thing where a question asks only that: "Is Virtuoso a database?"."""
        graph, low = self.graph, self.question.low
        if not self.frame.yes_or_no or low[0] not in BEING or graph.patterns or "there" in low:
            return
        named = graph.named
        typed = [n for n in graph.nodes if n.typed]
        if len(named) == len(typed) == 1 and len(graph.nodes) == 2 and not graph.wanted:
            graph.patterns.append(Pattern(named[0].place, RDF.type, URIRef(typed[0].classes[0])))
            graph.nodes.remove(typed[0])

    def _others(self, columns: Sequence[Column]) -> None:
        """Leave out the thing itself, where others that share something with it are asked for."""
        if not self.frame.same:
            return
        shown = [n for n in self.graph.nodes if n.place in {c.value for c in columns}]
        for node in shown[:1] or self.graph.nodes[:1]:
            for other in self.graph.named:
                if set(node.classes) & set(other.classes) and isinstance(node.place, Unknown):
                    self.graph.conditions.append(Comparison(node.place, "!=", other.place))

    def _plan(self, where: Block, columns: list[Column], order: list[Order]) -> Plan:
        top = self.frame.superlative
        limit, offset, ties = None, 0, False
        if top is not None and order:
            limit, offset, ties = top.n or 1, top.offset, top.n is None
            if all(aggregates(c.value) for c in columns):
                raise Unbuildable("a superlative of one number")
            numbers = [c.value for c in columns if c.name == order[0].column]
            self._not_its_own(columns, numbers)
            if any(isinstance(n, Unknown) and self._is_thing(n) for n in numbers):
                raise Unbuildable("things are neither great nor small")
            if self.frame.groups and not any(aggregates(n) for n in numbers):
                self.guesses += 2  # one of all is not one of each
        if self.having and columns and all(aggregates(c.value) for c in columns):
            return self._groups_counted(where, columns)
        if self.within and any(aggregates(c.value) for c in columns):
            raise Unbuildable("two numbers of other groups")
        return Plan(
            where, tuple(columns), tuple(self.within), tuple(self.having), tuple(order), limit, offset, ties
        )

    def _not_its_own(self, columns: Sequence[Column], numbers: Sequence[Expression]) -> None:
        """Refuse to count or sum what is itself told by a superlative: "how much is the cheapest lamp"."""
        values = {u for n in numbers if not aggregates(n) for u in parts(n)}
        owners = {p.subject for p in self.graph.patterns if p.object in values}
        folded = {u for c in columns for a in aggregates(c.value) for u in a.of}
        if owners & folded and not self.frame.groups:
            raise Unbuildable("a fold of one thing")

    def _both_ways(self, columns: Sequence[Column]) -> None:
        """Let what is shown be related to each of two names in a way of its own."""
        shown = {u for c in columns for u in (c.value, *getattr(c.value, "of", ())) if isinstance(u, Unknown)}
        if shown:
            kinds = {f.term for n in self.frame.nouns if (f := self._said_kind(n)) is not None}
            said = {n.place for n in self.graph.nodes if kinds & set(n.classes)}
            self.graph.split(shown, said, both="both" in self.question.low)

    def _said_kind(self, noun: Noun) -> Candidate | None:
        """Return the class that a noun names by its name; a "bought" may be two orders for two things."""
        found = self.noun(noun)
        named = found.kind == "class" and found.way in ("exact", "inflected")
        return found if named and not is_past(self.question.low[noun.end - 1]) else None

    def _groups_counted(self, where: Block, columns: Sequence[Column]) -> Plan:
        """Return the plan that counts those of which there are many: "how many owners have two pets"."""
        number = columns[0].value
        if len(columns) > 1 or not isinstance(number, Aggregate) or number.function != "count":
            raise Unbuildable("a fold of groups")
        if len(number.of) != 1 or number.value is not None or not number.where.empty:
            raise Unbuildable("a number of what?")
        thing = number.of[0]
        inner = Plan(where, (Column(thing, thing.name),), tuple(self.within), tuple(self.having))
        return Plan(Block(plans=(inner,)), tuple(columns))
