"""What a question tells to show, and what of that only repeats something shown already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rdflib import RDF

from mrag.language.grammar import is_participle
from mrag.planning.asked.frequency import PlanFrequency
from mrag.planning.building import checks
from mrag.planning.building.nodes import PlanNode
from mrag.planning.composing.drafts import Unbuildable
from mrag.planning.derived.property import roots_of
from mrag.planning.lexical.candidates import Candidate
from mrag.planning.lexical.english import root
from mrag.planning.plan import Column, DatePart, Expression, Number, Plan, Unknown
from mrag.planning.reading.frame import IDENTIFYING, Noun, Ordering, Output
from mrag.planning.schema import PropertyInfo
from mrag.planning.scopes import mentioned

_WHO = frozenset("who that which".split())


@dataclass
class PlanTold(PlanFrequency):
    """What a question tells to show."""

    def _told_otherwise(self, columns: Sequence[Column], shown: list[str]) -> list[str]:
        """Leave out the thing of each row where what is shown of it is listed: "their id and total"."""
        groups, outputs = self.frame.groups, self.frame.outputs
        if len(groups) != 1 or not isinstance(groups[0], Noun) or self.noun(groups[0]).kind != "class":
            return shown
        place = self.expression(groups[0])
        told = [self.noun(o) for o in outputs if isinstance(o, Noun) and self.noun(o).kind == "property"]
        own = [self.info(f) for f in told if self.info(f).kind != "entity"]
        said = {str(p.predicate) for p in self.graph.patterns if p.subject == place}
        keys = [i for i in own if i.iri in said and IDENTIFYING & {*i.names[0].lower().split()}]
        called = bool(keys) and not any(map(self._plainly_a_name, keys))
        # "The name of the buyer and the brand of the car for each sale" says nothing of the sale itself.
        last = max((o.start for o in outputs if isinstance(o, Noun)), default=0)
        plain = len(own) == len(outputs) > 1 and groups[0].start > last
        apart = plain and not any(i.iri in said for i in own)
        left = [c.name for c in columns if c.value == place] if called or apart else []
        return [name for name in shown if name not in left] or shown

    def _repeats(self, output: Output, expression: Expression, columns: Sequence[Column]) -> bool:
        """Return whether an output is the name of a thing that is shown already."""
        if not isinstance(output, Noun) or not isinstance(expression, Unknown):
            return False
        owner = next((p.subject for p in self.graph.patterns if p.object == expression), None)
        found = self.noun(output)
        return (
            found.kind == "property"
            and self.info(found).kind == "text"
            and self._plainly_a_name(self.info(found))
            and any(c.value == owner for c in columns)
        )

    def _plainly_a_name(self, info: PropertyInfo) -> bool:
        """Return whether a property is called "name", "title" or "label", perhaps behind its class."""
        words = info.names[0].lower().split()
        classes = {
            w
            for c in info.domains
            if c in self.schema.classes
            for w in self.schema.classes[c].names[0].lower().split()
        }
        return len(words) < 4 and [w for w in words if w not in classes] in (["name"], ["title"], ["label"])

    def _shows_things(self, columns: Sequence[Column], shown: Sequence[str]) -> bool:
        """Return whether what is shown are things or groups, rather than properties of things."""
        places = {n.place for n in self.graph.nodes}
        return len(shown) == 1 and any(c.name == shown[0] and c.value in places for c in columns)

    def _node_shown(self, columns: Sequence[Column]) -> PlanNode | None:
        """Return the things that are shown first."""
        return self.graph.at(columns[0].value) if columns else None

    def _owner_of_shown(self, columns: Sequence[Column]) -> PlanNode | None:
        """Return the things that have what is shown first: the players of "name and age of all players"."""
        values = {u for c in columns[:1] for u in (c.value, getattr(c.value, "value", None))}
        owners = {p.subject for p in self.graph.patterns if p.object in values}
        return next((n for n in self.graph.nodes if n.place in owners), None)

    def _has(self, node: PlanNode, found: Candidate) -> bool:
        return any(self.graph.compatible(c, node.classes) for c in self._domains(found))

    def _of_shown(self, columns: Sequence[Column]) -> list[tuple[Candidate, str]]:
        """Return what an adjective may measure of the things that are shown: "the youngest drummer"."""
        top, node = self.frame.superlative, self._node_shown(columns)
        if top is None or node is None:
            return []
        person = self.frame.asks == "who" and self._people(node)
        person = person and top.of is not None and self.noun(top.of).kind == "property"
        if top.of is not None and top.of not in self.frame.outputs and not person:
            return []
        return [o for o in self.dimension(top.adjective) if self._has(node, o[0])]

    def _first_ones(self) -> list[tuple[Candidate, str]]:
        """Return the one time that things have, of which a question asks for the first or the last."""
        top = self.frame.superlative
        if top is None or top.of is None or top.adjective not in ("first", "last"):
            return []
        classes = self._classes_of(top.of)
        own = [i for i in self.schema.properties.values()
               if self._timely(i) and any(self.graph.compatible(c, classes) for c in i.domains)]  # fmt: skip
        way = "least" if top.adjective == "first" else "greatest"
        return [
            (Candidate("property", i.iri, 0.9, i.names[0], "meaning"), way) for i in own[:1] if len(own) == 1
        ]

    def _by_adjective(self, ordering: Ordering, columns: Sequence[Column]) -> tuple[Expression, bool]:
        """Return what an adjective orders by, and whether downwards: "newest first"."""
        node = self._node_shown(columns) or self._owner_of_shown(columns)
        options = [
            o for o in self.dimension(ordering.adjective) if node is not None and self._has(node, o[0])
        ]
        if not options:
            raise Unbuildable(ordering.adjective)
        best, way = max(options, key=lambda o: (o[0].score, o[0].term))
        self.matches.append(best.score)
        return self._property(best, None, node), (way == "greatest") != bool(ordering.descending)

    def _by_unnamed(self, ordering: Ordering, columns: Sequence[Column]) -> Expression | None:
        """Return the time or number that orders what is shown: "most recent first"; None if none does."""
        shown, patterns = [c.value for c in columns], self.graph.patterns
        if not ordering.by or ordering.measure is not None:
            return None
        if ordering.by == "number":
            return next((v for v in reversed(shown) if not isinstance(v, Unknown)), None)
        if parts := [v for v in shown if isinstance(v, DatePart)]:
            return parts[-1]
        node = self._node_shown(columns)
        said = {p.object: i for p in patterns if (i := self.schema.properties.get(str(p.predicate)))}
        values = [u for v in shown for u in (v, getattr(v, "value", None)) if isinstance(u, Unknown)]
        own = [p.object for p in patterns if node is not None and p.subject == node.place]
        for value in (*reversed(values), *own):
            if value in said and self._timely(said[value]) and isinstance(value, Unknown):
                return value if said[value].kind == "date" else Number(value)
        infos = self.schema.properties.values()
        dates = [i for i in infos if node is not None and {*i.domains} & {*node.classes} and self._timely(i)]
        if node is None or len(dates) != 1:
            raise Unbuildable("by which time?")
        return self.graph.number(node, dates[0])

    def _loses_a_relative(self, plan: Plan) -> bool:
        """Return whether nothing is said of those of whom a clause tells: "people whose father is a baker".

        Where fathers are people, too, it is easily said of the people that are asked for.
        """
        low, where = self.question.low, plan.where
        for iri in sorted({str(p.predicate) for p in where.patterns}):
            info = self.schema.properties.get(iri)
            if info is None or not any(self.graph.compatible(cls, [*info.ranges]) for cls in info.domains):
                continue
            steps = [p for p in where.patterns if str(p.predicate) == iri]
            rest = tuple(p for p in where.patterns if p not in steps and p.predicate != RDF.type)
            said = mentioned(replace(where, patterns=rest))
            named = roots_of(info)
            for at in (i for i, word in enumerate(low[:-1]) if root(word) in named):
                whose, behind = "whose" in low[max(0, at - 2) : at], low[at + 1]
                if not (whose or behind in _WHO or is_participle(behind)):
                    continue
                unsaid = any(isinstance(p.object, Unknown) and p.object not in said for p in steps)
                if unsaid or (whose and self._before_whose(at) in {p.object for p in steps}):
                    return True
        return False

    def _before_whose(self, at: int) -> Expression | None:
        """Return the things whose relative is spoken of: "people whose father is a baker"."""
        low = self.question.low
        kinds = {self.noun(n).term for n in self.frame.nouns if low[n.end : at] == ["whose"]}
        return next((n.place for n in self.graph.unnamed if n.typed and kinds & {*n.classes}), None)

    def _shows_others(self, plan: Plan, shown: Sequence[str]) -> bool:
        """Return whether other things are shown than a question begins with: "conductors without …"."""
        asked = checks.asked_class(self.segmentation, self.question)
        value = next((c.value for c in plan.columns if c.name in shown[:1]), None)
        if asked is None or not isinstance(value, Unknown):
            return False
        kinds = {str(p.object) for p in plan.where.patterns if p.subject == value and p.predicate == RDF.type}
        above = self.schema.above
        return bool(kinds) and not any(asked == k or asked in above(k) or k in above(asked) for k in kinds)
