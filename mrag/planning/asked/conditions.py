"""What must hold and what must not: verbs, comparisons, times, text and what is missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from rdflib import RDF, Literal, URIRef

from mrag.planning.asked.happenings import PlanHappenings
from mrag.planning.building.literals import counted_in, number_literal, unit_stated
from mrag.planning.composing.drafts import Unbuildable
from mrag.planning.derived.property import spelt
from mrag.planning.lexical.candidates import Candidate, NameMention
from mrag.planning.plan import (
    Aggregate,
    Block,
    Column,
    Comparison,
    Contains,
    Expression,
    Pattern,
    Plan,
    Scalar,
    Unknown,
)
from mrag.planning.reading.frame import TIMES, Compared, FrameMeasure, Noun, TextCondition
from mrag.planning.reading.numbers import converted, unit_of
from mrag.planning.reading.periods import Period
from mrag.planning.reading.state import is_superlative
from mrag.planning.schema import PropertyInfo


@dataclass
class PlanConditions(PlanHappenings):
    """What must hold and what must not: verbs, comparisons, times, text and what is missing."""

    def _verbs(self) -> None:
        """Make the properties that merely stand in the question likelier, and yes-or-no ones true."""
        for noun in self.frame.nouns:
            if noun.role:
                continue
            found = self.noun(noun)
            if found.kind != "property":
                continue
            info = self.info(found)
            if info.kind == "entity":
                self.graph.wanted.add(info.iri)
                named = [self.picked.get(r.mention.end) for r in self.frame.restrictions if r.noun is noun]
                places = {URIRef(c.term) for c in named if c is not None and c.kind == "entity"}
                self.graph.claimed.setdefault(info.iri, set()).update(places)
            elif info.flag:
                self._flagged(noun, found, info)
            elif (
                info.kind == "number" and not self._beside(noun) and self._with(noun) and info.minimum == "0"
            ):
                value = self.graph.number(self.graph.owner(self._domains(found)), info)
                self.graph.conditions.append(Comparison(value, ">", Literal(0)))
            elif (
                info.kind in ("number", "date", "text")
                and not self._beside(noun)
                and (self._with(noun) or self._when_done(noun, found, info))
                and info.iri not in self.graph.used
                # "The highest elevation" orders even where a property is called so.
                and not is_superlative(self.question.low[noun.start])
            ):
                self.graph.value(self.graph.owner(self._domains(found)), info)

    def _flagged(self, noun: Noun, found: Candidate, info: PropertyInfo) -> None:
        """Ask for the things of which a flag holds, unless its value is named beside it."""
        picked = [self.picked.get(r.mention.end) for r in self.frame.restrictions if r.noun is noun]
        told = self._beside(noun) and (not picked or any(p and info.iri in p.properties for p in picked))
        if not told and info.iri not in self.graph.used:
            value = self.graph.value(self.graph.owner(self._domains(found)), info)
            self.graph.conditions.append(Comparison(value, "=", info.truth_value(True)))

    def _with(self, noun: Noun) -> bool:
        return bool(
            {"with", "have", "has", "having"} & set(self.question.low[max(0, noun.start - 2) : noun.start])
        )

    def _wanted(self) -> None:
        """Add the properties that stand in the question and are in no join yet."""
        graph = self.graph
        for noun in self.frame.nouns:
            if noun.role or self._beside(noun):
                continue
            found = self.noun(noun)
            if found.kind != "property" or found.term in graph.used or found.term in graph.read:
                continue
            info = self.info(found)
            if info.kind != "entity" or found.score <= 0.75:
                continue
            if (
                self._with(noun)
                and not found.inverse
                and self.question.low[noun.end : noun.end + 1] != ["of"]
            ):
                owner = graph.owner(self._domains(found), constants=False)  # "with a supplier": with any
                graph.add(owner.place, info.iri, graph.fresh(info.names[0]))
            elif not found.inverse and self._done(noun, info):
                owner = graph.owner(self._domains(found), constants=False)  # "were placed": by anybody
                graph.add(owner.place, info.iri, graph.fresh(info.names[0]))
            elif self._joins_named(info):
                self._property(found, noun)
                graph.connect()
                if graph.broken:
                    raise Unbuildable("verb")

    def _joins_named(self, info: PropertyInfo) -> bool:
        """Return whether a property joins things that the question names and that no property joins yet."""
        places = {p for pattern in self.graph.patterns for p in (pattern.subject, pattern.object)}
        named = [n for n in self.graph.nodes if n.place in places or n.typed or isinstance(n.place, URIRef)]
        sources = [n for n in named if set(n.classes) & set(info.domains)]
        targets = [n for n in named if set(n.classes) & set(info.ranges) and n not in sources[:1]]
        for iri in self.graph.used:
            other = self.schema.properties.get(iri)
            if other and set(other.domains) & set(info.domains) and set(other.ranges) & set(info.ranges):
                return False
        return bool(sources and targets)

    def _compare(self, compared: Compared) -> None:
        if isinstance(compared.value, Period):
            self._in_period(compared, compared.value)
            return
        if compared.unit == TIMES:
            self.having.append(
                Comparison(self._happenings(compared), compared.relation, self._right(compared, None))
            )
            if isinstance(compared.upper, float):
                self.having.append(
                    Comparison(self._happenings(compared), "<=", number_literal(compared.upper))
                )
            return
        noun = self._compared_noun(compared)
        if isinstance(compared.value, NameMention):
            self._compare_things(compared, compared.value, noun)
            return
        measured: Candidate | None = None
        if noun is None:
            measured = self._measured(compared)
            self._in_unit(compared, self._counting(self.info(measured)))
            left = self._property(measured, None, self._node_of(compared.left))
            self._direct(compared, measured)
        else:
            found = self.noun(noun, "number")
            if found.kind == "class" and compared.relation == "=" and noun is compared.left:
                self._numbered(compared, found)
                return
            if found.kind == "class" or self.info(found).kind in ("entity", "text"):
                if compared.unit and unit_of(found.name.split()) != compared.unit:
                    raise Unbuildable("a measure is no number of things")
                self._having(compared, noun)
                return
            self._in_unit(compared, self._counting(self.info(found)))
            left = self.expression(noun)
            if compared.fold is not None:
                left = self._measure(FrameMeasure(compared.fold, noun))
        right = self._right(compared, measured)
        target = self.having if isinstance(left, Aggregate) else self.graph.conditions
        if compared.either and target:
            one = target.pop()
            other = Comparison(left, compared.relation, right)
            self.graph.either.append((Block(conditions=(one,)), Block(conditions=(other,))))
            return
        target.append(Comparison(left, compared.relation, right))
        if isinstance(compared.upper, float):
            target.append(Comparison(left, "<=", number_literal(compared.upper)))

    def _counting(self, info: PropertyInfo) -> PropertyInfo:
        """Return a property of numbers; a date is neither more nor less than 40."""
        if info.kind == "date":
            raise Unbuildable("a number of a date")
        return info

    def _in_unit(self, compared: Compared, info: PropertyInfo) -> None:
        """Put a number in the unit of a property: "longer than 5 minutes" of a duration in seconds."""
        said, compared.unit = compared.unit, ""
        if not said:
            return
        own = unit_stated(info)
        if not own:
            # Ages and experience are counted in years where nothing else is said.
            self.guesses += 0.0 if said in ("year", "yr") else 0.5
            return
        bounds = [
            converted(b, said, own) for b in (compared.value, compared.upper) if isinstance(b, float | int)
        ]
        if None in bounds:
            raise Unbuildable(f"{said} of a number of {own}")
        compared.value = cast(float, bounds[0])
        compared.upper = bounds[1] if len(bounds) > 1 else compared.upper

    def _numbered(self, compared: Compared, found: Candidate) -> None:
        """Find a thing by its number: "semester 2"."""
        owned = [
            i
            for i in self.schema.properties.values()
            if found.term in i.domains
            and i.kind == "number"
            and {"id", "number", "no", "code", "nr"} & set(i.names[0].lower().split())
        ]
        if not owned or not isinstance(compared.value, float | int):
            raise Unbuildable("a number of what?")
        info = min(owned, key=lambda i: ("id" not in i.names[0].lower().split(), i.iri))
        value = self.graph.number(self.graph.node_of(found.term, typed=True), info)
        condition = Comparison(value, "=", number_literal(compared.value))
        if compared.either and self.graph.conditions:
            one = self.graph.conditions.pop()
            self.graph.either.append((Block(conditions=(one,)), Block(conditions=(condition,))))
        else:
            self.graph.conditions.append(condition)

    def _right(self, compared: Compared, measured: Candidate | None) -> Expression:
        value = compared.value
        if isinstance(value, float | int):
            return number_literal(value)
        if isinstance(value, FrameMeasure) and value.function is not None:
            found = self.noun(value.noun, "number") if value.noun is not None else measured
            if found is None or self.info(found).kind != "number":
                raise Unbuildable("compared with a fold of what?")
            info = self.info(found)
            owner = Unknown("other")
            patterns, number = self.graph.stated(owner, info, "its ")
            stated = {i.iri for i in spelt(info)}
            of = {p.subject for p in self.graph.patterns if str(p.predicate) in stated}
            kinds = [URIRef(n.classes[0]) for n in self.graph.nodes if n.typed and n.place in of]
            typed = [Pattern(owner, RDF.type, cls) for cls in kinds[:1]]
            where = Block((*patterns, *typed))
            return Scalar(Plan(where, (Column(Aggregate(value.function, number, (owner,)), "value"),)))
        raise Unbuildable("compared with a thing")

    def _measured(self, compared: Compared) -> Candidate:
        """Return the property that an adjective compares: "longer than"."""
        adjective = compared.adjective
        measures = self.dimension(adjective) if adjective else counted_in(compared.unit, self.schema)
        asked = next((o.noun if isinstance(o, FrameMeasure) else o for o in self.frame.outputs), None)
        of_asked = asked if adjective and isinstance(asked, Noun) else None
        options = self._said_of(measures, compared.left or of_asked)
        if not adjective and len(options) != 1:
            raise Unbuildable("compared with what?")
        if not options:
            raise Unbuildable(compared.adjective)
        self.matches.append(options[0][0].score)
        return options[0][0]

    def _direct(self, compared: Compared, measured: Candidate) -> None:
        """Turn a comparison the way of its adjective: who is older was born before."""
        ways = {c.term: way for c, way in self.dimension(compared.adjective)}
        plain = not compared.adjective.endswith("er")  # "less dense" has been turned already
        if compared.relation in ("<", ">") and measured.term in ways and not plain:
            compared.relation = ">" if ways[measured.term] == "greatest" else "<"

    def _compare_things(self, compared: Compared, mention: NameMention, noun: Noun | None) -> None:
        """Compare a property of things with that of the one named: "higher than Mont Blanc"."""
        entities = [c for c in mention.candidates if c.kind == "entity"]
        if not entities:
            raise Unbuildable("compared with a thing")
        left_classes = set(self._classes_of(compared.left)) if compared.left is not None else set()
        thing = next((c for c in entities if left_classes & set(c.classes)), entities[0])
        classes = set(thing.classes)
        if noun is not None:
            found = self.noun(noun, "number")
        else:
            options = [o[0] for o in self.dimension(compared.adjective) if classes & set(self._domains(o[0]))]
            if not compared.adjective and self.question.low[mention.start - 1] in (
                "before",
                "after",
                "since",
            ):
                options = self._dated(classes)
            if not options:
                raise Unbuildable(compared.adjective or "compared with a thing")
            found = options[0]
            self._direct(compared, found)
            self.matches.append(found.score)
        if found.kind != "property":
            raise Unbuildable("compared with a thing")
        info = self.info(found)
        owner = self._node_of(compared.left) if noun is None else None
        left = self._property(found, noun, owner)
        self.matches.append(thing.score)
        patterns, right = self.graph.stated(URIRef(thing.term), info, "other ")
        self.graph.patterns.extend(patterns)
        self.graph.conditions.append(Comparison(left, compared.relation, right))

    def _dated(self, classes: set[str]) -> list[Candidate]:
        """Return the one property that dates things: "films that came out before Tideland"."""
        own = [i for i in self.schema.properties.values() if self._timely(i) and classes & {*i.domains}]
        unread = [i for i in self.segmentation.ignored if i not in self.frame.read]
        if len(own) != 1 or len(unread) > 1:
            return []
        self.guesses += 0.5
        return [Candidate("property", own[0].iri, 0.9, own[0].names[0], "meaning")]

    def _compared_noun(self, compared: Compared) -> Noun | None:
        for noun in (compared.left, compared.right):
            if noun is not None:
                found = self.noun(noun, "number")
                kinds = ("number", "date") if isinstance(compared.value, NameMention) else ("number",)
                if found.kind == "property" and self.info(found).kind in kinds:
                    return noun
        if compared.relation == "=" and compared.left is not None and not compared.adjective:
            return compared.right or compared.left
        return compared.right

    def _having(self, compared: Compared, noun: Noun) -> None:
        if not isinstance(compared.value, float | int):
            raise Unbuildable("counted against a thing")
        named = compared.left if compared.relation == "=" else None
        if named is not None and named.end == compared.at and self.noun(named, "number").kind == "class":
            self.guesses += 3  # "customer 5" is sooner called so than said to have five of something
        count = self._measure(FrameMeasure("count", noun))
        self._counted_within(compared, noun)
        kind = self.schema.classes.get(self.noun(noun).term)
        if kind is not None and compared.value > kind.count:
            self.guesses += 2  # "more than 10000" of eighteen lots are none of these
        shown = [self._measure(m) for m in self.frame.measures if m.noun is not noun]
        if count in shown:
            raise Unbuildable("things counted against themselves")
        self.having.append(Comparison(count, compared.relation, number_literal(compared.value)))
        if isinstance(compared.upper, float):
            self.having.append(Comparison(count, "<=", number_literal(compared.upper)))

    def _text(self, text: TextCondition) -> None:
        graph = self.graph
        if text.noun is not None and (found := self.noun(text.noun)).kind == "property":
            value = self._property(found, text.noun)
        else:
            node = next(iter(graph.unnamed), None)
            if text.noun is not None and found.kind == "class":
                node = graph.node_of(found.term)
            if node is None or not self.schema.label_properties:
                raise Unbuildable("text of what?")
            value = graph.fresh("label")
            graph.add(node.place, self.schema.label_properties[0], value)
        condition = Contains(value, text.text, text.position)
        if text.negated:
            last = graph.patterns[-1]
            graph.without.append(Block((last,), (condition,)))
        elif text.either and graph.conditions:
            graph.either.append((Block(conditions=(graph.conditions.pop(),)), Block(conditions=(condition,))))
        else:
            graph.conditions.append(condition)
