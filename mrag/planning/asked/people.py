"""Whom a question asks for: "who wrote it", "the owners of …"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mrag.language.tokens import AGENTS
from mrag.planning.asked.deeds import doers, kinds_of_people, told_by_verb
from mrag.planning.asked.ends import PlanEnds
from mrag.planning.building.nodes import PlanNode
from mrag.planning.composing.drafts import Unbuildable
from mrag.planning.lexical.english import is_past, is_role
from mrag.planning.plan import Column, Number, Unknown
from mrag.planning.profile.usage import NOWHERE, place_rank
from mrag.planning.reading.frame import Noun

_DIRECT = 1.4
"""What a way costs at most that leads through nothing else."""
_CODES = frozenset("no nr number id code".split())
"""Last words of properties that tell one thing from another and name nobody."""


@dataclass
class PlanPeople(PlanEnds):
    """Whom a question asks for."""

    def _person(self) -> PlanNode:
        """Return whom a "who" asks for: of the kinds of people in the graph, the nearest to what is named."""
        kinds = kinds_of_people(self.schema)
        named = [c for n in self.graph.nodes for c in n.classes]
        verbs = [w for w in self.question.low[1:] if is_past(w)]
        did = doers(verbs, self.schema)
        if len(did) == 1 and did[0] not in named and self.joins.path(named, did, max_cost=3.5) is not None:
            return self.graph.node_of(did[0], typed=True)  # "who drove it" asks for drivers
        if not named:
            found = [self.noun(n) for n in self.frame.nouns]
            named = [c for f in found for c in (self._domains(f) if f.kind == "property" else [f.term])]
        for node in self.graph.unnamed:
            if set(node.classes) & set(kinds):
                return node
        # Where there is one kind of people, nobody else can be meant, though records lie between.
        widest, wide = (4.5, 2.5) if len(kinds) > 1 else (6.0, 6.0)
        far = [(w[0], c) for c in kinds if (w := self.joins.path(named, [c], max_cost=widest)) is not None]
        ways = [(cost, c) for cost, c in far if cost <= wide]
        if not ways:
            raise Unbuildable("nobody is in this graph")
        least = min(ways)[0]
        # Of kinds that are as near, the largest holds the others; by records, the nearest need not be meant.
        near = [c for cost, c in far if cost < least + (1.5 if least > _DIRECT else 0.3)]
        taken = {i for r in self.frame.restrictions for i in range(r.mention.start, r.mention.end)}
        said = [w for i, w in enumerate(self.question.words) if i not in taken]
        told = [c for c in near if told_by_verb(said, c, self.schema)]
        nearest = [c for cost, c in ways if cost < least + 0.3]
        best = max(told or nearest, key=lambda c: (self.schema.classes[c].count, c))
        above = self.schema.above
        if not told and any(best not in above(c) and c not in above(best) for c in near if c != best):
            self.guesses += 2  # patients and physicians are both people
        return self.graph.node_of(best, typed=True)

    def _people(self, node: PlanNode) -> bool:
        """Return whether the things of a node are people."""
        return not set(node.classes).isdisjoint(kinds_of_people(self.schema))

    def _person_of(self, deed: PlanNode) -> PlanNode | None:
        """Return who has done what a node stands for: "who reviewed it" asks for the author of a review."""
        ends = {
            (info.iri, cls)
            for info in self.schema.properties.values()
            if info.kind == "entity" and info.functional and set(info.domains) & set(deed.classes)
            for cls in info.ranges
            if self._people(PlanNode(Unknown("x"), (cls,)))
        }
        if len(ends) > 1:
            ends = self._doing(ends)
        if len(ends) != 1:
            return None
        ((iri, cls),) = ends
        found = self.graph.node_of(cls, new=True)
        self.graph.add(deed.place, iri, found.place)
        return found

    def _person_recorded(self) -> PlanNode | None:
        """Return whose record a question tells of by its first verb: "who joined a club after 2015"."""
        verb = next((n for n in self.frame.nouns if n.start <= 2), None)
        found = self.noun(verb) if verb is not None else None
        if found is None or found.kind != "property":
            return None
        domains = self._domains(found)
        if len(domains) != 1 or {*domains} & {*kinds_of_people(self.schema)}:
            return None
        deed = self.graph.owner(domains, constants=False)
        return self._person_of(deed) if not deed.typed else None

    def _doing(self, ends: set[tuple[str, str]]) -> set[tuple[str, str]]:
        """Return those of several people that did something: those it was done by, or who are called so."""
        did = doers([w for w in self.question.low[1:] if is_past(w)], self.schema)
        called = {(iri, cls) for iri, cls in ends if cls in did}
        return called or {
            (iri, cls) for iri, cls in ends
            if any(name.lower().split()[-1] == "by" for name in self.schema.properties[iri].names)
        }  # fmt: skip

    def _focus(self) -> PlanNode:
        self.guesses += 1
        if (end := self._other_end()) is not None:
            if (
                self.frame.asks == "who"
                and not self._people(end)
                and (doer := self._person_of(end)) is not None
            ):
                return doer
            return self._somebody_near(end)
        if self.frame.asks == "who":
            return self._person_recorded() or self._person()
        if self.frame.asks == "where" and len(self.frame.restrictions) == 1 and self.question.low[1] != "can":
            for node in self.graph.nodes:
                if (where := self._place_of(node) or self._place_told(node)) is not None:
                    return where
        if self.graph.unnamed:
            return self.graph.unnamed[0]
        for noun in self.frame.nouns:
            found = self.noun(noun)
            if found.kind == "property" and self.info(found).kind == "entity":
                related = self.graph.at(self._property(found, noun))
                assert related is not None
                return related
        for noun in self.frame.nouns:
            found = self.noun(noun)
            if not noun.role and found.kind == "property" and self.info(found).kind == "date":
                # "What was opened in 2005" asks for things.
                owner = self.graph.owner(self._domains(found), constants=False)
                owner.typed |= len(self._domains(found)) == 1
                return owner
        raise Unbuildable("nothing is asked for")

    def _somebody_near(self, end: PlanNode) -> PlanNode:
        """Return the people that are related to the thing named, where a "who" was led to other things."""
        if self.frame.asks != "who" or self._people(end):
            return end
        named = [c for n in self.graph.nodes if n is not end for c in n.classes]
        near = [
            c for c in kinds_of_people(self.schema)
            if (way := self.joins.path([c], named, max_cost=1.6)) is not None and len(way[1]) == 1
        ]  # fmt: skip
        if len(near) != 1:
            return end
        self.graph.nodes.remove(end)
        gone = [p for p in self.graph.patterns if end.place in (p.subject, p.object)]
        self.graph.patterns = [p for p in self.graph.patterns if p not in gone]
        for pattern in gone:
            self.graph.used.remove(str(pattern.predicate))
        self.guesses += 1
        return self.graph.node_of(near[0], typed=True)

    def _somebody(self, columns: Sequence[Column], shown: Sequence[str]) -> bool:
        """Return whether what is shown may be asked for by "who": people, firms, or no things at all."""
        values = {c.value for c in columns if c.name in shown}
        coded = {
            p.subject for p in self.graph.patterns
            if p.object in values and (info := self.schema.properties.get(str(p.predicate)))
            and _CODES & {name.lower().split()[-1] for name in info.names}
        }  # fmt: skip
        nodes = [n for n in self.graph.nodes if n.place in values | coded]
        kinds = {w for n in nodes for c in n.classes if c in self.schema.classes
                 for name in self.schema.classes[c].names[:1] for w in name.lower().split()}  # fmt: skip
        people = kinds_of_people(self.schema)
        return not kinds or not people or any(map(self._people, nodes)) or bool(kinds & AGENTS)

    def _not_asked_for(self, columns: Sequence[Column], shown: Sequence[str]) -> bool:
        """Return whether a question for when or where something was has no time or no place for an answer."""
        asks = self.frame.asks
        if asks not in ("when", "where") or self.question.low[0] != asks or len(shown) != 1:
            return False
        value = next(c.value for c in columns if c.name == shown[0])
        said = [p for p in self.graph.patterns if p.object == value]
        infos = [self.schema.properties.get(str(p.predicate)) for p in said]
        wrong = ("text", "entity") if asks == "when" else ("date",)
        return bool(infos) and all(i is not None and i.kind in wrong for i in infos)

    def _people_for(self, columns: list[Column], shown: list[str]) -> tuple[list[Column], list[str]]:
        """Return what a "who" shows: people, in the place of what they have or did; of a "where" a place."""
        if self.frame.asks == "where" and self.question.low[0] == "where" and len(columns) == len(shown) == 1:
            return self._place_beyond(columns, shown)
        if self.frame.asks != "who":
            return self._doers_of(columns, shown) if self._asks_for_role(columns) else (columns, shown)
        columns, shown = self._whoever_has(columns, shown)
        return (columns, shown) if self._somebody(columns, shown) else self._doers_of(columns, shown)

    def _place_beyond(self, columns: list[Column], shown: list[str]) -> tuple[list[Column], list[str]]:
        """Return where an event took place, in the place of the event: "where was it produced"."""
        node = self.graph.at(columns[0].value)
        said = [p for p in self.graph.patterns if node is not None and p.object == node.place]
        infos = [i for p in said if (i := self.schema.properties.get(str(p.predicate))) is not None]
        if node is None or not infos or any(place_rank(i, self.schema, ()) < NOWHERE for i in infos):
            return columns, shown
        place = self._place_of(node)
        if place is None or not isinstance(place.place, Unknown):
            return columns, shown
        return [Column(place.place, place.place.name)], [place.place.name]

    def _asks_for_role(self, columns: Sequence[Column]) -> bool:
        """Return whether people are asked for by a role that records give them: "the owners of …"."""
        low = self.question.low
        asked = [o for o in self.frame.outputs if isinstance(o, Noun) and o.implied]
        words = {low[o.end - 1] for o in asked[:1]}
        alone = bool(words) and len(columns) == 1
        node = self.graph.at(columns[0].value) if alone else None
        role = any(is_role(word.removesuffix("s")) for word in words)
        return role and node is not None and not self._people(node) and bool(kinds_of_people(self.schema))

    def _whoever_has(self, columns: list[Column], shown: list[str]) -> tuple[list[Column], list[str]]:
        """Return whoever has the number or the date that is shown: "who" asks for no number."""
        asked = next((c.value for c in columns if [c.name] == shown), None)
        value = asked.value if isinstance(asked, Number) else asked
        said = self.graph.stating(value) if isinstance(value, Unknown) else None
        info = self.schema.properties.get(str(said.predicate)) if said is not None else None
        if said is None or info is None or info.kind not in ("number", "date"):
            return columns, shown
        node = self.graph.at(said.subject)
        if node is None or not isinstance(node.place, Unknown) or not kinds_of_people(self.schema):
            return columns, shown
        person = node if self._people(node) else self._person_of(node)
        if person is None or not isinstance(person.place, Unknown):
            raise Unbuildable("nobody has it")
        return [Column(person.place, person.place.name), *columns], [person.place.name]

    def _doers_of(self, columns: list[Column], shown: list[str]) -> tuple[list[Column], list[str]]:
        """Return the people who have done what is shown: "who reviewed it" asks for no reviews."""
        node = self.graph.at(columns[0].value) if len(columns) == 1 else None
        found = self._person_of(node) if node is not None else None
        if found is None:
            self.guesses += 4
            return columns, shown
        self.guesses += 0.5
        assert isinstance(found.place, Unknown)
        return [Column(found.place, found.place.name)], [found.place.name]
